#!/usr/bin/env python3
"""A second implementation of FORMAT.md version 1, straight from its text, with nothing but the standard library.

It wrote the golden files of this folder and the test vectors of FORMAT.md; the tests require that the Rust library
writes the same bytes and reads the same answers. Run it to write them again; they never change within a version.
Published filters are drawn here with coins that anybody can predict: they are examples, and protect nobody.
"""
import hashlib, ipaddress, math, os, random, struct, uuid

M64 = (1 << 64) - 1
PI = [0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89, 0x452821E638D01377,
      0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917, 0x9216D5D98979FB1B, 0xD1310BA698DFB5AC]


def crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def fold(x, y):
    product = x * y
    return product & M64 ^ product >> 64


def finish(a, b):
    return fold(a ^ PI[8], b ^ PI[9]), fold(a ^ PI[3], b ^ PI[2])


def le(data):
    return int.from_bytes(data, "little")


def fast(seed, key):
    s0, s1 = fold(seed ^ PI[0], PI[1]), fold(seed ^ PI[2], PI[3])
    if isinstance(key, int):
        product = ((key & M64) ^ s0 ^ (PI[4] if key < 0 else 0)) * (PI[5] | 1)
        high, low = product >> 64, product & M64
        return (low ^ high) * PI[8] & M64, fold(low ^ s1 ^ PI[3], high ^ PI[2])
    n = len(key)
    if n >= 16:
        pairs = [(le(key[i:i + 8]), le(key[i + 8:i + 16])) for i in range(0, (n - 1) // 16 * 16, 16)]
        pairs.append((le(key[n - 16:n - 8]), le(key[n - 8:])))
    elif n >= 8:
        pairs = [(le(key[:8]), le(key[n - 8:]))]
    elif n >= 4:
        pairs = [(le(key[:4]), le(key[n - 4:]))]
    elif n >= 1:
        pairs = [(key[0] | key[n // 2] << 8 | key[n - 1] << 16, 0)]
    else:
        pairs = [(0, 0)]
    a, b = s0 ^ n, s1
    for x, y in pairs:
        a, b = fold(a ^ x, y ^ PI[6]), fold(b ^ y, x ^ PI[7])
    return finish(a, b)


def siphash128(key, data):
    """SipHash-2-4 with a 128-bit result, as its authors' reference code has it."""
    k0, k1 = le(key[:8]), le(key[8:])
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    rotl = lambda x, b: (x << b | x >> 64 - b) & M64

    def rounds(count):
        for _ in range(count):
            v[0] = v[0] + v[1] & M64; v[1] = rotl(v[1], 13) ^ v[0]; v[0] = rotl(v[0], 32)
            v[2] = v[2] + v[3] & M64; v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & M64; v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & M64; v[1] = rotl(v[1], 17) ^ v[2]; v[2] = rotl(v[2], 32)

    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 255])
    for i in range(0, len(padded), 8):
        m = le(padded[i:i + 8])
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]


def plain(key):
    """The key as bytes or as an integer of 64 bits: wide integers and tuples are bytes."""
    if isinstance(key, tuple):
        return b"".join(part[-1:] + struct.pack("<Q", len(part) - 1) + part[:-1] for part in map(tagged, key))
    if isinstance(key, int) and not -(1 << 63) <= key < 1 << 64:
        return (key & (1 << 128) - 1).to_bytes(16, "little") + (b"\2" if key < 0 else b"\1")
    return key


def tagged(key):
    key = plain(key)
    if isinstance(key, int):
        return (key & M64).to_bytes(8, "little") + (b"\2" if key < 0 else b"\1")
    return key + b"\0"


def untagged(key):
    key = plain(key)
    return tagged(key) if isinstance(key, int) else key


SECRET = b"an example secret of 32 bytes..."
SIP_KEY = hashlib.sha256(SECRET).digest()[:16]


def digest(hash, key):
    family, seed = hash
    return fast(seed, plain(key)) if family == 1 else siphash128(SIP_KEY, tagged(key))


def positions(hash, key, cells, hashes):
    if hash[0] <= 2:
        x, h2 = digest(hash, key)
        for _ in range(hashes):
            yield x * cells >> 64
            x = x * 6364136223846793005 + h2 & M64
    elif hash[0] == 3:
        h1 = int.from_bytes(hashlib.sha256(untagged(key)).digest(), "big")
        h2 = int.from_bytes(hashlib.md5(untagged(key)).digest(), "big") or 1
        yield from ((h1 + i * h2) % cells for i in range(hashes))
    else:
        for i in range(1, hashes + 1):
            yield int.from_bytes(hashlib.sha256(struct.pack(">I", i) + untagged(key)).digest(), "big") % cells


SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]


def body(kind, hash, keys, cells, hashes, width):
    bits = 0
    for key in keys:
        if kind == 2:
            h1, h2 = digest(hash, key)
            block = h1 * (cells // 512) >> 64
            for word in [h1 * 0x9E3779B97F4A7C15 & M64, h2][:hashes // 8]:
                for lane in range(8):
                    bits |= 1 << block * 512 + lane * 64 + 63 - (word >> 16 + 6 * lane & 63)
            continue
        if kind == 8:
            h1, _ = digest(hash, key)
            product = h1 * (cells // 256)
            block, word = product >> 64, product >> 32 & 0xFFFFFFFF
            for lane, salt in enumerate(SALTS):
                bits |= 1 << block * 256 + lane * 32 + (word * salt >> 27 & 31)
            continue
        for place in set(positions(hash, key, cells, hashes)):
            if kind == 1:
                bits |= 1 << place
            else:
                top = (1 << width) - 1
                count = bits >> place * width & top
                bits += (1 << place * width) if count < top else 0
    return bits.to_bytes((cells * width + 7) // 8, "little")


def quotient_fingerprint(hash, key, slots, width):
    h1, _ = digest(hash, key)
    return (h1 ^ h1 >> 32) * (slots << width) >> 64


def quotient_body(hash, keys, slots, width):
    """Runs are laid on the ring in order, the second time round from where the first one ended."""
    fingerprints = sorted(quotient_fingerprint(hash, key, slots, width) for key in keys)
    start = 0
    for _ in range(2):
        position, runs = start, {}
        for fingerprint in fingerprints:
            home = fingerprint >> width
            position = max(position, home)
            runs.setdefault(home, []).append((position, fingerprint & (1 << width) - 1))
            position += 1
        start = max(0, position - slots)
    remainders, ends = [0] * slots, [0] * slots
    for run in runs.values():
        for position, remainder in run:
            remainders[position % slots] = remainder
        ends[run[-1][0] % slots] = 1
    data = b""
    for first in range(0, slots, 64):
        taken = sum(position >= first for home, run in runs.items() if home < first for position, _ in run)
        taken += sum(position >= slots + first for run in runs.values() for position, _ in run)
        word = lambda bits, step: sum(bit << i * step for i, bit in enumerate(bits))
        data += word(remainders[first:first + 64], width).to_bytes(8 * width, "little")
        data += word([home in runs for home in range(first, first + 64)], 1).to_bytes(8, "little")
        data += word(ends[first:first + 64], 1).to_bytes(8, "little") + bytes([min(taken, 255)])
    return data, struct.pack("<IQQ", 0, len(fingerprints), len(set(fingerprints)))


def file(kind, hash, keys, items, fpr, cells, hashes, width=1, counted=False):
    if kind == 10:
        data, more = quotient_body(hash, keys, cells, width)
    else:
        data, more = body(kind, hash, keys, cells, hashes, width), b""
    kinds = 0
    for key in keys:
        kinds |= 2 if isinstance(key, int) else 1
    seed = {1: hash[1], 2: siphash128(SIP_KEY, b"tamis key check\3")[0]}.get(hash[0], 0)
    head = b"\x89TAMIS\r\n" + struct.pack("<HHIQII", 1, kind, 128, len(data), crc32c(data), 0)
    head += struct.pack("<BBBBIQQdQI", hash[0], kinds, counted, 0, hashes, seed, items, fpr, cells, width) + more
    head += bytes(124 - len(head))
    return head + struct.pack("<I", crc32c(head)) + data


class Link:
    """A link of a chain: the keys that are in it, and their fingerprints."""

    def __init__(self, hash, shape, number=0):
        self.slots, self.width, self.items, self.fpr = shape
        self.hash, self.number, self.keys, self.held = hash, number, [], set()

    def fingerprint(self, key):
        return quotient_fingerprint(self.hash, key, self.slots, self.width)

    def holds(self, key):
        return self.fingerprint(key) in self.held

    def add(self, key):
        self.keys.append(key)
        self.held.add(self.fingerprint(key))


def chain_file(kind, hash, keys, links, items, fpr, number, window=(0, 0, 0)):
    """`number` and `window` are the fields from offset 64 on."""
    data = b"".join(quotient_body(hash, link.keys, link.slots, link.width)[0] for link in links)
    kinds = 0
    for key in keys:
        kinds |= 2 if isinstance(key, int) else 1
    seed = hash[1] if hash[0] == 1 else siphash128(SIP_KEY, b"tamis key check\3")[0]
    length = max(128, (96 + 48 * len(links) + 4 + 63) // 64 * 64)
    head = b"\x89TAMIS\r\n" + struct.pack("<HHIQII", 1, kind, length, len(data), crc32c(data), 0)
    head += struct.pack("<BBHIQQdIIQQQ", hash[0], kinds, 0, len(links), seed, items, fpr, number, *window, 0)
    for link in links:
        head += struct.pack("<QQdQIIQ", link.slots, link.items, link.fpr, len(link.keys), link.width, 0, link.number)
    head += bytes(length - 4 - len(head))
    return head + struct.pack("<I", crc32c(head)) + data


def scalable_file(hash, keys, fpr, growth, shapes):
    """The shapes of all links that the keys need, when they are new: slots, bits of a remainder, planned items and rate. A link
    that is full doubles its slots as long as it keeps its rate."""
    links = [Link(hash, shapes[0])]
    for key in keys:
        if any(link.holds(key) for link in links):
            continue
        last = links[-1]
        if len(last.keys) == last.items:
            if 2 * last.items / (last.slots << last.width) <= last.fpr:
                last.slots, last.width, last.items = 2 * last.slots, last.width - 1, 2 * last.items
            else:
                links.append(Link(hash, shapes[len(links)]))
        links[-1].add(key)
    assert len(links) == len(shapes)
    return chain_file(11, hash, keys, links, shapes[0][2], fpr, growth)


def rolling_file(hash, moments, fpr, generations, counts_time, window, items, shape, clock=0):
    """`moments` are keys with the time of each, which is ignored where the window counts insertions."""
    span = -(-window // (generations - 1))
    links = []
    for key, time in moments:
        clock, at = (max(clock, time),) * 2 if counts_time else (clock + 1, clock)
        number = at // span
        links = [link for link in links if link.number > number - generations]
        if not links or links[-1].number != number:
            links.append(Link(hash, shape, number))
        if not links[-1].holds(key):
            links[-1].add(key)
    keys = [key for key, _ in moments]
    return chain_file(12, hash, keys, links, items, fpr, generations, (1 + counts_time, window, clock))


def first_primes(count):
    primes, n = [], 2
    while len(primes) < count:
        if all(n % p for p in primes):
            primes.append(n)
        n += 1
    return primes


def field(q):
    """Addition and multiplication of GF(q): base-p digits as polynomials, modulo the smallest irreducible one."""
    p = next(p for p in range(2, q + 1) if q % p == 0)
    e = next(e for e in range(1, 20) if p ** e == q)
    digits = lambda x, n: [x // p ** i % p for i in range(n)]
    number = lambda ds: sum(d * p ** i for i, d in enumerate(ds))

    def times(a, b):
        out = [0] * (len(a) + len(b) - 1)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                out[i + j] = (out[i + j] + x * y) % p
        return out

    def rest(a, m):  # m is monic
        a = a[:]
        for i in range(len(a) - len(m), -1, -1):
            c = a[i + len(m) - 1]
            for j, y in enumerate(m):
                a[i + j] = (a[i + j] - c * y) % p
        return a[:len(m) - 1]

    def irreducible(m):
        return all(any(rest(m, digits(low, n) + [1])) for n in range(1, e // 2 + 1) for low in range(p ** n))

    modulus = next(m for m in (digits(low, e) + [1] for low in range(q)) if irreducible(m))
    add = lambda a, b: number([(x + y) % p for x, y in zip(digits(a, e), digits(b, e))])
    mul = lambda a, b: number(rest(times(digits(a, e), digits(b, e)), modulus))
    return add, mul


def zone_positions(code, first, element):
    """The cell of an element in each block, counted from the start of the body."""
    start = 0
    if code[0] in (1, 2):
        for q in code[1]:
            yield start + element % q
            start += q
        return
    _, q, degree, blocks = code
    add, mul = field(q)
    digits = [(element - first) // q ** i % q for i in range(degree + 1)]
    for point in range(blocks):
        value = 0
        if point == q:
            value = digits[degree]
        else:
            for digit in reversed(digits):
                value = add(mul(value, point), digit)
        yield start + value
        start += q


def zone_file(code, names, first, last, fingerprint, items, elements, counting, beyond=False):
    width = items.bit_length() if counting else 1
    cells, top = {}, (1 << width) - 1
    for element in elements:
        for cell in zone_positions(code, first, element):
            cells[cell] = min(cells.get(cell, 0) + 1, top)
    size = sum(code[1]) if code[0] in (1, 2) else code[1] * code[3]
    data = sum(count << cell * width for cell, count in cells.items()).to_bytes((size * width + 7) // 8, "little")
    blocks = len(code[1]) if code[0] in (1, 2) else code[3]
    listed = code[1] if code[0] == 2 else []
    q, degree = (code[1], code[2]) if code[0] == 3 else (0, 0)
    high = struct.pack("<QQ", first >> 64, last >> 64) if names > 3 else b""
    length = max(128, (96 + len(high) + 4 * len(listed) + 4 + 63) // 64 * 64)
    head = b"\x89TAMIS\r\n" + struct.pack("<HHIQII", 1, 5 if counting else 4, length, len(data), crc32c(data), 0)
    head += struct.pack("<BBBBIQQQQQIIII", code[0], names, beyond, 0, blocks, first & M64, last & M64, fingerprint, items, len(elements), width, q, degree, 0)
    head += high + b"".join(struct.pack("<I", modulus) for modulus in listed)
    head += bytes(length - 4 - len(head))
    return head + struct.pack("<I", crc32c(head)) + data


def prefix(text):
    """The number of a prefix: all shorter ones come before it."""
    network = ipaddress.ip_network(text)
    return 2 ** network.prefixlen - 1 + (int(network.network_address) >> network.max_prefixlen - network.prefixlen)


SIX = ["::1", "2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]
UUIDS = ["00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]
HEX_MODULI = [11, 13, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 113]


def publish_header(kind, hash, number, items, billionths, rest, data):
    """The header of kinds 6 and 7; `rest` are the fields from offset 64 on."""
    seed = hash[1] if hash[0] == 1 else siphash128(SIP_KEY, b"tamis key check\3")[0]
    head = b"\x89TAMIS\r\n" + struct.pack("<HHIQII", 1, kind, 128, len(data), crc32c(data), 0)
    head += struct.pack("<BBHIQQQ", hash[0], 0, 0, number, seed, items, billionths) + rest
    head += bytes(124 - len(head))
    return head + struct.pack("<I", crc32c(head)) + data


class PublicBloom:
    """Kind 6."""

    def __init__(self, hash, keys, items, billionths, bits, hashes, threshold, seed):
        self.hash, self.bits, self.hashes, self.threshold = hash, bits, hashes, threshold
        coins = random.Random(seed)
        flip = 1 / (math.exp(billionths / 1e9 / hashes) + 1)
        clear = {place for key in keys for place in positions(hash, key, bits, hashes)}
        self.ones = {place for place in range(bits) if (place in clear) != (coins.random() < flip)}
        data = sum(1 << place for place in self.ones).to_bytes((bits + 7) // 8, "little")
        self.file = publish_header(6, hash, hashes, items, billionths, struct.pack("<QI", bits, threshold), data)
        self.kept = []

    def contains(self, key):
        places = positions(self.hash, key, self.bits, self.hashes)
        return sum(place in self.ones for place in places) >= self.threshold


def linear_row(hash, key, columns, shards):
    """The shard, the first column, and the columns whose coefficient is 1."""
    h1, h2 = digest(hash, key)
    product = h1 * shards
    start = (product & M64) * (columns - 128) >> 64
    x = h2 + (h1 << 32 | h1 >> 32) & M64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    coefficients = h2 | 1 | (x ^ x >> 31) << 64
    return product >> 64, start, coefficients


class Linear:
    """Kind 7."""

    def __init__(self, hash, keys, items, billionths, q, columns, shards, seed):
        self.hash, self.q, self.columns, self.shards = hash, q, columns, shards
        self.binary = q & q - 1 == 0
        width = (q - 1).bit_length()
        coins = random.Random(seed)
        e = math.exp(billionths / 1e9)
        drop = max(1 / e, (q - e) / (q - 1))
        self.kept = [key for key in keys if coins.random() >= drop]
        # Dense equations, shard by shard: nothing here knows of bands.
        self.values = []
        for shard in range(shards):
            rows = [linear_row(hash, key, columns, shards) for key in self.kept]
            rows = [[(coefficients << start) >> x & 1 for x in range(columns)] for s, start, coefficients in rows if s == shard]
            if self.binary:
                planes = solve(rows, columns, 2, [coins] * width)
                self.values.append([sum(plane[x] << j for j, plane in enumerate(planes)) for x in range(columns)])
            else:
                self.values += solve(rows, columns, q, [coins])
        bits = 0
        for y, values in enumerate(self.values):
            for x, value in enumerate(values):
                for j in range(width):
                    bits |= (value >> j & 1) << y * columns * width + 64 * (width * (x // 64) + j) + x % 64
        data = bits.to_bytes(columns * shards * width // 8, "little")
        self.file = publish_header(7, hash, q, items, billionths, struct.pack("<QQ", columns, shards), data)

    def contains(self, key):
        shard, start, coefficients = linear_row(self.hash, key, self.columns, self.shards)
        product = 0
        for i in range(128):
            if coefficients >> i & 1:
                value = self.values[shard][start + i]
                product = product ^ value if self.binary else (product + value) % self.q
        return product == 0


def solve(rows, columns, p, draws):
    """For each source of coins a random x with row . x = 0 modulo the prime p for every row: reduced row echelon form, free
    columns drawn, the others from them."""
    pivots = {}
    for row in rows:
        for column, pivot in pivots.items():
            row = [(a - row[column] * b) % p for a, b in zip(row, pivot)] if row[column] else row
        first = next((x for x in range(columns) if row[x]), None)
        if first is None:
            continue
        inverse = pow(row[first], -1, p)
        row = [a * inverse % p for a in row]
        for column, pivot in pivots.items():
            if pivot[first]:
                pivots[column] = [(a - pivot[first] * b) % p for a, b in zip(pivot, row)]
        pivots[first] = row
    solutions = []
    for coins in draws:
        x = [0 if column in pivots else int(coins.random() * p) for column in range(columns)]
        free = x[:]
        for column, pivot in pivots.items():
            x[column] = -sum(a * b for a, b in zip(pivot, free)) % p
        assert all(sum(a * b for a, b in zip(row, x)) % p == 0 for row in rows)
        solutions.append(x)
    return solutions


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


GOLDEN = 0x9E3779B97F4A7C15


def static_fingerprint(h2):
    g = PI[6] * h2 & M64
    f = g ^ g >> 32
    return sum((f >> 63 - 16 * (j // 8 % 4) - 2 * (7 - j % 8) - (j >= 32) & 1) << j for j in range(64))


class Equations:
    """Rows as integers, bit x for column x, and the value of each; one row for each pivot."""

    def __init__(self):
        self.rows = {}

    def add(self, group):
        """Adds all rows of a group, or none."""
        before = dict(self.rows)
        for row, value in group:
            while row:
                first = (row & -row).bit_length() - 1
                if first not in self.rows:
                    self.rows[first] = row, value
                    break
                row, value = row ^ self.rows[first][0], value ^ self.rows[first][1]
            else:
                if value:
                    self.rows = before
                    return False
        return True

    def solve(self, columns, free):
        x = [0] * columns
        for column in reversed(range(columns)):
            if column not in self.rows:
                x[column] = free(column)
                continue
            row, x[column] = self.rows[column]
            for other in range(column + 1, min(column + 64, columns)):
                x[column] ^= x[other] if row >> other & 1 else 0
        return x


def static_planes(values, planes):
    out = b""
    for block in range(0, len(values), 16):
        for j in range(planes):
            out += struct.pack("<H", sum((values[block + i] >> j & 1) << i for i in range(16)))
    return out


def static_layer(keys, place, shards, blocks, width, share):
    """The bytes of layer 1 or 2, and the keys that go on."""
    total = shards * blocks
    low = (share * total >> 64) // 8 * 8
    ends = sorted(({low, total} | {shard * blocks for shard in range(1, shards)}) - {0})
    data, codes, left, first = b"", [0] * -(-total // 8), [], 0
    for end in ends:
        planes = width - 1 if first < low else width
        padded = end in (low, total)
        system = Equations()
        rows = {}
        for key in keys:
            if first <= place(key) < end:
                rows.setdefault(place(key), []).append(key)
        row = lambda key: ((key[1] | 1) << 16 * (place(key) - first), static_fingerprint(key[1]) & (1 << planes) - 1)
        for bucket in range(first, end, 8) if planes else []:
            blocks_of = [range(min(bucket + 2, end), min(bucket + 8, end)), [bucket + 1], [bucket]]
            for code, group in zip((3, 2, 1), blocks_of):
                group = [key for block in group for key in rows.get(block, [])]
                if bucket + 8 >= end and not padded or not system.add(map(row, group)):
                    codes[bucket // 8] = code
                    cut = {1: 1, 2: 2, 3: 8}[code]
                    left += [key for block in range(bucket, bucket + cut) for key in rows.get(block, [])]
                    break
        columns = 16 * (end - first + (3 if padded else 0))
        data += static_planes(system.solve(columns, lambda column: 0), planes)
        first = end
    for shard in range(shards):
        own = codes[shard * -(-blocks // 8):][:-(-blocks // 8)]
        data += sum(code << 2 * i for i, code in enumerate(own)).to_bytes(-(-len(own) // 4), "little")
    return data, left


def static_file(hash, keys, items, fpr, width, share, shards, blocks):
    held = left = sorted({digest(hash, key) for key in keys})
    data = b""
    if blocks[0]:
        part, left = static_layer(left, lambda d: d[0] * shards * blocks[0] >> 64, shards, blocks[0], width, share)
        data += part
    if blocks[1]:
        place = lambda d: (d[0] * shards >> 64) * blocks[1] + (mix(d[0] + 2 * GOLDEN & M64) * blocks[1] >> 64)
        part, left = static_layer(left, place, shards, blocks[1], width, share)
        data += part
    last = Equations()
    assert last.add(((d[1] | 1) << 16 * (mix(d[0] + 3 * GOLDEN & M64) * blocks[2] >> 64), 0) for d in left)
    values = last.solve(16 * (blocks[2] + 3), lambda column: mix(column * GOLDEN & M64) & (1 << width) - 1)
    data += static_planes(values, width) + bytes(-(-width // 8) * 16 - 2 * width)
    kinds = 0
    for key in keys:
        kinds |= 2 if isinstance(key, int) else 1
    seed = hash[1] if hash[0] == 1 else siphash128(SIP_KEY, b"tamis key check\3")[0]
    head = b"\x89TAMIS\r\n" + struct.pack("<HHIQII", 1, 9, 128, len(data), crc32c(data), 0)
    head += struct.pack("<BBHIQQd", hash[0], kinds, 0, width, seed, items, fpr)
    head += struct.pack("<QQQQQQQ", shards, *blocks, share, len(held), len(left))
    head += bytes(124 - len(head))
    return head + struct.pack("<I", crc32c(head)) + data


COLOURS = [b"colour %d" % i for i in range(200)]
FINGERPRINT = le(hashlib.sha256(b"".join(struct.pack("<Q", len(key)) + key for key in COLOURS)).digest()[:8])
ADDRESS = lambda *bytes4: int.from_bytes(bytes(bytes4), "big")

TEXT = [b"key %d" % i for i in range(100)] + ["naïve 雪".encode(), b"", b"x" * 200]
# Wide integers, the octets of addresses (10.0.0.1 and 2001:db8::7), and tuples.
WIDE = [1 << 64, (1 << 128) - 1, -(1 << 63) - 1, -(1 << 127), bytes([10, 0, 0, 1]), bytes.fromhex("20010db8" + "00" * 11 + "07"),
        (b"ab", b"c"), (b"a", b"bc"), (b"", 7, -1), ((b"ab", b"c"), 1 << 64), (b"x" * 100, 0, b"", 1, 2, -(1 << 127))]
MIXED = TEXT + list(range(50)) + [-1, -(1 << 63), (1 << 64) - 1]

FILES = {
    "bloom-fast": file(1, (1, 42), MIXED, 200, 0.01, 1918, 7),
    "bloom-keyed": file(1, (2, 0), MIXED, 200, 0.01, 1918, 7),
    "bloom-sha256-md5": file(1, (3, 0), MIXED, 200, 0.01, 1918, 7),
    "bloom-counted": file(1, (1, 42), MIXED, len(MIXED), 0.01, 1496, 7, counted=True),
    "bloom-keys": file(1, (2, 0), WIDE, 200, 0.01, 1918, 7),
    "bloom-prefixed": file(1, (4, 0), TEXT, 200, 0.01, 1918, 7),
    "blocked-fast-8": file(2, (1, 0), MIXED, 200, 0.01, 512 * 4, 8),
    "blocked-keyed-16": file(2, (2, 0), MIXED, 200, 1e-6, 512 * 15, 16),
    "split-fast": file(8, (1, 0), MIXED, 200, 0.01, 256 * 9, 8),
    "split-keyed": file(8, (2, 0), MIXED, 200, 0.001, 256 * 14, 8),
    "counting-fast-4": file(3, (1, 7), MIXED + TEXT * 7 + TEXT[:5] * 20, 200, 0.01, 1918, 7, 4),
    "counting-keyed-3": file(3, (2, 0), MIXED, 200, 0.01, 1918, 7, 3),
    "quotient-fast": file(10, (1, 42), MIXED + TEXT[:40], 200, 0.01, 256, 1, 7),
    "quotient-keyed-grown": file(10, (2, 0), TEXT + TEXT[1:2] * 25, 200, 0.001, 256, 1, 9),
    "quotient-crowded": file(10, (1, 7), TEXT + TEXT[3:4] * 330, 400, 0.05, 448, 1, 5),
    "scalable-fast": scalable_file((1, 42), MIXED + TEXT, 0.01, 8, [(64, 8, 20, 0.002), (128, 10, 80, 0.001755859375)]),
    "scalable-keyed-fixed": scalable_file((2, 0), TEXT, 0.05, 0, [(256, 4, 200, 0.05)]),
    "rolling-insertions": rolling_file((1, 7), [(key, 0) for key in MIXED + TEXT], 0.02, 5, False, 60, 60, (64, 6, 15, 0.004)),
    # Time stands still, goes back, goes on, and leaps over a generation.
    "rolling-time": rolling_file((2, 0), [(key, 5000 + max(0, 10 * i - 200) + 400 * (i > 80) - 90 * (i % 9 == 4)) for i, key in enumerate(TEXT)],
                                 0.001, 4, True, 1000, 100, (64, 12, 34, 0.00025)),
    "rolling-empty": rolling_file((1, 0), [], 0.01, 2, True, 86400 * 10 ** 9, 1000, None, 1_700_000_000 * 10 ** 9),
    "zone-egh": zone_file((1, first_primes(5)), 1, 1, 48, 0, 2, [1, 48], False),
    "zone-coprime": zone_file((2, [3, 4, 5, 7, 11, 13, 17]), 1, 1000, 1999, 0, 2, [1000, 1999], False),
    "zone-rs": zone_file((3, 25, 6, 25), 1, 0, (1 << 32) - 1, 0, 4, [0, 1 << 20, (1 << 32) - 1], False),
    "zone-counting-egh": zone_file((1, first_primes(27)), 2, 0, (1 << 32) - 1, 0, 4,
                                   [ADDRESS(10, 0, 0, 1), ADDRESS(10, 0, 0, 2), (1 << 32) - 1], True),
    "zone-counting-rs-beyond": zone_file((3, 7, 2, 5), 3, 0, 199, FINGERPRINT, 2, [3, 199, 0], True, beyond=True),
    "zone-wide-integers": zone_file((2, [7, 8, 9, 11, 13]), 4, 2 ** 64 - 16, 2 ** 64 + 384, 0, 2, [2 ** 64 - 16, 2 ** 64 + 384], False),
    "zone-ipv6": zone_file((3, 81, 20, 81), 5, 0, 2 ** 128 - 1, 0, 4, [int(ipaddress.ip_address(text)) for text in SIX], False),
    "zone-uuid": zone_file((1, first_primes(44)), 6, 0, 2 ** 128 - 1, 0, 2, [uuid.UUID(text).int for text in UUIDS], False),
    "zone-counting-mac": zone_file((3, 29, 9, 28), 7, 0, 2 ** 48 - 1, 0, 3, [0, 0xAABBCC000102, 2 ** 48 - 1], True),
    "zone-hex": zone_file((2, HEX_MODULI), 8, 0, 16 ** 20 - 1, 0, 2, [0xABC, 16 ** 20 - 1], False),
    "zone-ipv4-prefixes": zone_file((3, 23, 7, 22), 9, 0, 2 ** 33 - 2, 0, 3, [prefix("0.0.0.0/0"), prefix("10.0.0.0/8"), prefix("10.1.2.3/32")], False),
    "zone-ipv6-prefixes": zone_file((1, first_primes(22)), 10, 0, 2 ** 49 - 2, 0, 2, [prefix("2001:db8::/32"), prefix("ffff:ffff:ffff::/48")], False),
    # The first two as plans are; the others small, with all layers, widths and shards.
    "static-fast": static_file((1, 42), MIXED, len(MIXED), 0.01, 7, int((0.01 * 128 - 1) * 2 ** 64), 1, [0, 0, 12]),
    "static-planned": static_file((1, 0), TEXT + list(range(2400)), 2503, 0.01, 7, int((0.01 * 128 - 1) * 2 ** 64), 1, [153, 0, 6]),
    "static-shards": static_file((2, 0), TEXT + list(range(1500)), 1800, 0.001, 10, 3 << 61, 3, [32, 32, 6]),
    "static-wide": static_file((1, 7), TEXT + list(range(180)), 283, 1e-11, 37, 1 << 63, 1, [16, 2, 2]),
    "static-coarse": static_file((1, 7), TEXT + list(range(400)), 503, 0.75, 1, 1 << 63, 1, [30, 0, 2]),
    "empty": file(1, (1, 0), [], 1, 0.01, 10, 7),
}

NAMES = [name.encode() for name in ["Zoë", "Zoe\u0308", "李雷", "Ωμέγα", "Nguyễn", "👩‍🚀", "ß", "İ"]]
STRANGERS = [b"stranger %d" % i for i in range(60)] + [name + b"?" for name in NAMES] + list(range(1000, 1060)) + [-2, (1 << 64) - 2]

PUBLISHED = {
    "public-bloom-fast": PublicBloom((1, 42), MIXED + NAMES, 200, 5_000_000_000, 3205, 3, 2, 2),
    "public-bloom-keyed": PublicBloom((2, 0), MIXED + NAMES, 200, 2_500_000_001, 1603, 1, 1, 1),
    "linear-fast-16": Linear((1, 42), MIXED + NAMES, 200, 2_708_050_202, 16, 256, 1, 3),
    "linear-keyed-53": Linear((2, 0), MIXED + NAMES, 200, 3_951_243_719, 53, 256, 1, 4),
    "linear-shards-512": Linear((1, 7), MIXED + NAMES, 200, 7_000_000_000, 512, 192, 3, 5),
    "linear-shards-5": Linear((2, 0), MIXED + NAMES, 200, 1_000_000_000, 5, 192, 2, 6),
}
FILES.update((name, filter.file) for name, filter in PUBLISHED.items())


def answers():
    """What each published filter says of members and strangers: `kept` is a member that must pass."""
    for name, filter in PUBLISHED.items():
        for key in MIXED + NAMES + STRANGERS:
            passes = filter.contains(key)
            assert passes or key not in filter.kept
            said = "kept" if key in filter.kept else "passes" if passes else "fails"
            kind, text = ("integer", str(key)) if isinstance(key, int) else ("text", key.decode())
            yield " ".join([name, said, kind, text]) + "\n"


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for name, data in FILES.items():
        with open(os.path.join(here, "v1-" + name + ".tamis"), "wb") as out:
            out.write(data)
    with open(os.path.join(here, "v1-published.answers"), "w", encoding="utf-8") as out:
        out.writelines(answers())
    assert siphash128(bytes(range(16)), b"") == (0xE6A825BA047F81A3, 0x930255C71472F66D)  # the reference vector
    print("vectors for FORMAT.md:")
    for key in [b"", b"a", b"abc", b"ant", b"hello", b"exactly16bytes!!", b"seventeen bytes!!", bytes(range(100)), 0, 7, -1]:
        name = "bytes 00..63" if key == bytes(range(100)) else repr(key.decode()) if isinstance(key, bytes) else key
        for label, hash in [("fast 0", (1, 0)), ("fast 42", (1, 42)), ("keyed", (2, 0))]:
            print("| `%s` | %s | `%016x` | `%016x` |" % ((name, label) + digest(hash, key)))
    for key in WIDE:
        print("| %r | keyed | `%016x` | `%016x` |" % ((key,) + digest((2, 0), key)))
    for hash in [(1, 0), (3, 0), (4, 0)]:
        print(hash, list(positions(hash, b"ant", 95851, 7)))
    for key in [b"ant", "Zoë".encode(), 7]:
        print("row of", key, "%d %d %032x" % linear_row((1, 0), key, 1024, 3))
    for word in [0, 0x12345678, 0xDEADBEEF]:
        print("split bits of %08x:" % word, [word * salt >> 27 & 31 for salt in SALTS])
    print("check %016x" % siphash128(SIP_KEY, b"tamis key check\3")[0])
