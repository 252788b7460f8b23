"""Data that somebody has damaged on purpose, and requests that are absurd: an error, and the server
goes on."""

import random
import struct

import pytest
from conftest import ALL, SERVERS, raw
from values import ITEMS


def mutations(server):
    """All of them for one server: what the others differ in is not in the module."""
    return 10_000 if ALL and server.program == SERVERS[0] else 1000



@pytest.fixture(autouse=True)
def limit(r):
    """A damaged file may still be one of a filter that grows by gigabytes, as a reserve may ask for
    them. The limit is the owner's remedy for both."""
    r.config_set("tamis.max-filter-bytes", "16mb")
    yield
    r.config_set("tamis.max-filter-bytes", "4gb")


def table(polynomial):
    """Of a reflected checksum."""
    entries = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (polynomial if byte & 1 else 0)
        entries.append(byte)
    return entries


CRC64 = table(0x95AC9329AC4BC9B5)
CRC32C = table(0x82F63B78)


def crc64(data):
    crc = 0
    for byte in data:
        crc = CRC64[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def sealed(payload):
    """With a checksum that the server accepts."""
    return payload[:-8] + struct.pack("<Q", crc64(payload[:-8]))


def repaired(data):
    """With good checksums in the files of the library that it holds, so that deeper checks are
    reached."""
    data = bytearray(data)
    at = data.find(b"\x89TAMIS\r\n")
    while at >= 0:
        header, body = struct.unpack_from("<IQ", data, at + 12)
        if 64 <= header <= 4096 and body < 1 << 20 and at + header + body <= len(data):
            struct.pack_into("<I", data, at + 24, crc32c(data[at + header:at + header + body]))
            struct.pack_into("<I", data, at + header - 4, crc32c(data[at:at + header - 4]))
        at = data.find(b"\x89TAMIS\r\n", at + 8)
    return bytes(data)


def mutated(data, chance, random):
    """Some bytes changed, cut, doubled or put in."""
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        place = random.randrange(len(data))
        # Lengths and settings are at the beginning.
        if random.random() < 0.6:
            place = random.randrange(min(len(data), 220))
        what = random.random()
        if what < 0.5:
            data[place] = random.choice([0, 1, 127, 128, 255, random.randrange(256), data[place] ^ 1 << random.randrange(8)])
        elif what < 0.7:
            value = random.choice([0, 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, random.getrandbits(64)])
            data[place:place + 8] = struct.pack("<Q", value)
        elif what < 0.8:
            del data[place:place + random.randrange(1, 20)]
        elif what < 0.9:
            data[place:place] = data[place:place + random.randrange(1, 20)]
        else:
            data[place:place] = random.randbytes(random.randrange(1, 9))
    data = bytes(data)
    return repaired(data) if random.random() < chance else data


def use(client, name):
    """Every kind of command on a key that came from a damaged payload. Answers may be wrong, since
    anybody may write a filter; the server must go on."""
    for words in [
        ("BF.ADD", name, "x"), ("BF.MADD", name, *ITEMS[:20]), ("BF.MEXISTS", name, *ITEMS[:20]), ("BF.INFO", name),
        ("BF.CARD", name), ("BF.DEBUG", name), ("BF.SCANDUMP", name, 0), ("BF.SCANDUMP", name, 1),
        ("CF.ADD", name, "x"), ("CF.DEL", name, ITEMS[0]), ("CF.COUNT", name, ITEMS[1]), ("CF.INFO", name),
        ("TAMIS.INFO", name), ("TAMIS.EXISTS", name, "5", "x"), ("TAMIS.ADD", name, "7"), ("TAMIS.REMOVE", name, "5"),
        ("TAMIS.DUMP", name), ("TAMIS.ADDAT", name, 2**62, "x"), ("TAMIS.ZONE.LIST", name), ("TAMIS.LEDGER", name), ("TAMIS.UNION", "united", name, name),
        ("TAMIS.INTERSECT", "united", name, name), ("MEMORY", "USAGE", name), ("COPY", name, "copied"),
        ("DEBUG", "DIGEST-VALUE", name), ("DUMP", name),
    ]:
        raw(client, *words)
    client.delete("united", "copied")


def small_values(client):
    run = client.execute_command
    run("BF.RESERVE", "bf:chain", 0.01, 20)
    run("BF.MADD", "bf:chain", *ITEMS[:60])
    run("BF.RESERVE", "bf:fixed", 0.01, 40, "NONSCALING", "LAYOUT", "bloom")
    run("BF.MADD", "bf:fixed", *ITEMS[:30])
    run("BF.RESERVE", "bf:outgrown", 0.01, 20, "LAYOUT", "split")
    run("BF.MADD", "bf:outgrown", *ITEMS[:50])
    run("CF.RESERVE", "cf", 60)
    run("CF.INSERT", "cf", "ITEMS", *ITEMS[:100])
    run("TAMIS.RESERVE", "tamis:counting", "COUNTING", 0.1, 20)
    run("TAMIS.ADD", "tamis:counting", *ITEMS[:20])
    run("TAMIS.RESERVE", "tamis:rolling", "ROLLING", 0.1, 20, "SECONDS", 60)
    run("TAMIS.ADD", "tamis:rolling", *ITEMS[:20])
    run("TAMIS.ZONE.RESERVE", "tamis:zone", "UNIVERSE", 1000, "ITEMS", 5, "COUNTING")
    run("TAMIS.ZONE.ADD", "tamis:zone", 5, 77)
    run("TAMIS.LEDGER", "tamis:ledger", "BUDGET", 5)
    run("SADD", "plain", *range(50))
    run("TAMIS.PUBLISH", "tamis:release", "FROM", "plain", "ITEMS", 50, "EPSILON", 2, "LEDGER", "tamis:ledger")
    run("DEL", "plain")
    return [name for name in client.keys("*")]


def test_the_checksum_is_the_server_s(r):
    r.execute_command("BF.ADD", "k", "a")
    payload = r.dump("k")
    assert sealed(payload) == payload
    data = raw(r, "TAMIS.DUMP", "k")
    assert repaired(data) == data


def test_restore(r, shared):
    chance = random.Random(1)
    names = small_values(r)
    payloads = {name: r.dump(name) for name in names}
    accepted = 0
    for number in range(mutations(shared)):
        name = chance.choice(names)
        payload = sealed(mutated(payloads[name][:-10], 0.7, chance) + payloads[name][-10:])
        reply = raw(r, "RESTORE", "damaged", 0, payload)
        if reply == b"OK":
            accepted += 1
            use(r, "damaged")
            r.delete("damaged")
        if number % 100 == 0:
            assert r.ping(), shared.log()
    assert shared.is_alive() and r.ping()
    # Some changes are harmless, such as a seed: a check that refuses everything would not reach far.
    assert 0 < accepted < mutations(shared)
    for name in names:
        assert r.dump(name) == payloads[name]


def test_chunks(r, shared):
    chance = random.Random(2)
    names = small_values(r)
    for number in range(mutations(shared) // 2):
        name = chance.choice(names)
        prefix = {b"b": "BF", b"c": "CF"}.get(name[:1], "TAMIS")
        preamble = raw(r, prefix + ".SCANDUMP", name, 0)[1]
        stream = raw(r, prefix + ".SCANDUMP", name, 1)[1]
        if chance.random() < 0.5:
            preamble = mutated(preamble, 0, chance)
        else:
            stream = mutated(stream, 0.8, chance)
        raw(r, prefix + ".LOADCHUNK", "damaged", 1, preamble)
        half = chance.randrange(len(stream) + 1)
        raw(r, prefix + ".LOADCHUNK", "damaged", 1 + half, stream[:half])
        if chance.random() < 0.1:
            raw(r, "DEBUG", "RELOAD")
        raw(r, prefix + ".LOADCHUNK", "damaged", 1 + len(stream), stream[half:])
        raw(r, prefix + ".LOADCHUNK", "damaged", chance.choice([0, -1, 2**63 - 1, -2**63, 2**64]), stream)
        if r.exists("damaged"):
            use(r, "damaged")
            r.delete("damaged")
    assert shared.is_alive() and r.ping()


def test_files(r, shared):
    chance = random.Random(3)
    names = [name for name in small_values(r) if b"ledger" not in name]
    files = {name: raw(r, "TAMIS.DUMP", name) for name in names}
    files = [data for data in files.values() if isinstance(data, bytes)]
    assert len(files) >= 4
    for number in range(mutations(shared) // 2):
        if raw(r, "TAMIS.LOAD", "damaged", mutated(chance.choice(files), 0.9, chance)) == b"OK":
            use(r, "damaged")
            r.delete("damaged")
    assert shared.is_alive() and r.ping()


@pytest.mark.parametrize("command", ["BF.RESERVE", "BF.INSERT", "TAMIS.PLAN", "TAMIS.RESERVE"])
def test_absurd_reserves(r, shared, command):
    rates = ["0", "1", "-1", "nan", "inf", "-inf", "1e-300", "1e-16", "1e300"]
    capacities = ["0", "-1", "9223372036854775807", "9223372036854775808", "18446744073709551616",
                  "1e9", "4611686018427387904", "1073741824000"]
    tried = 0
    for rate in rates + ["0.01"]:
        for capacity in capacities + ["100"]:
            if (rate, capacity) == ("0.01", "100"):
                continue
            words = {
                "BF.RESERVE": ["x", rate, capacity],
                "BF.INSERT": ["x", "ERROR", rate, "CAPACITY", capacity, "ITEMS", "a"],
                "TAMIS.PLAN": [rate, capacity],
                "TAMIS.RESERVE": ["x", "COUNTING", rate, capacity],
            }[command]
            reply = raw(r, command, *words)
            # A plan takes no memory: it may be for more than a reserve.
            if command == "TAMIS.PLAN" and rate == "0.01" and isinstance(reply, list):
                continue
            assert isinstance(reply, Exception), (words, reply)
            tried += 1
    assert tried >= 72 and r.exists("x") == 0 and shared.is_alive()


def test_other_absurd_requests(r, shared):
    for words in [
        ["CF.RESERVE", "x", 2**63], ["CF.RESERVE", "x", 2**62], ["CF.RESERVE", "x", 2**50],
        ["CF.INSERT", "x", "CAPACITY", 2**62, "ITEMS", "a"],
        ["TAMIS.ZONE.RESERVE", "x", "UNIVERSE", 2**64 - 1, "ITEMS", 2**40],
        ["TAMIS.ZONE.RESERVE", "x", "UNIVERSE", 2**128 + 1, "ITEMS", 5],
        ["TAMIS.ZONE.RESERVE", "x", "UNIVERSE", "0..", "ITEMS", 5],
        ["BF.RESERVE", "x", 0.01, 100, "EXPANSION", 2**63],
        ["BF.RESERVE", "x", 0.01, 100, "SEED", 2**64],
        ["TAMIS.LEDGER", "x", "BUDGET", "1e300"], ["TAMIS.LEDGER", "x", "BUDGET", -1],
    ]:
        reply = raw(r, *words)
        assert isinstance(reply, Exception), (words, reply)
    r.sadd("s", "a")
    for items, epsilon in [(2**63, 1), (2**62, 1), (10**12, 0.001), (0, 1), (10, "1e-300"), (10, "nan")]:
        reply = raw(r, "TAMIS.PUBLISH", "x", "FROM", "s", "ITEMS", items, "EPSILON", epsilon)
        assert isinstance(reply, Exception), (items, epsilon, reply)
    assert r.exists("x") == 0 and shared.is_alive()


def test_growth_stops_at_the_limit(r):
    r.config_set("tamis.max-filter-bytes", 10_000)
    try:
        r.execute_command("BF.RESERVE", "k", 0.01, 100, "EXPANSION", 32768)
        done = raw(r, "BF.MADD", "k", *range(1000))
        assert "problem inserting" in str(done[-1])
        assert all(raw(r, "BF.MEXISTS", "k", *range(len(done) - 1)))
        r.execute_command("BF.RESERVE", "l", 0.01, 100, "EXPANSION", 32768, "LAYOUT", "bloom")
        assert "problem inserting" in str(raw(r, "BF.MADD", "l", *range(1000))[-1])
        r.execute_command("CF.RESERVE", "c", 1000, "EXPANSION", 32768)
        done = raw(r, "CF.INSERT", "c", "ITEMS", *range(1100))
        assert done[999] == 1 and "max-filter-bytes" in str(done[1000])
    finally:
        r.config_set("tamis.max-filter-bytes", "16mb")
