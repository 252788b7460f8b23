#!/usr/bin/env python3
"""Measures the server module beside sets of the same server, and beside other modules.

    bench/valkey/measure.py [--server PROGRAM] [--module NAME=PATH]... [--items N] [--rounds N] [--latency]

Without --module it measures target/release/libtamis_valkey.so (cargo build --release -p tamis-valkey). Each module gets
a server of its own, all of one program. A command's cost is the processor time of the server's main thread, over that
of SISMEMBER or SADD in the same server and round: requests a second are mostly network and noise. Tasks take turns,
and the median of the rounds counts. It needs no package, only Python.
"""

import argparse
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PIPELINE = 64
BATCH = 100
TOGETHER = 8


def encode(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Client:
    """A connection that reads replies only as far as it must."""

    def __init__(self, port):
        self.wire = socket.create_connection(("127.0.0.1", port))
        self.wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.wire.makefile("rb", 1 << 20)

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest

    def __call__(self, *words):
        self.wire.sendall(encode(*words))
        return self.read()

    def run(self, batches, lines):
        """Sends batches of requests; each gives so many lines of replies."""
        for batch in batches:
            self.wire.sendall(batch)
            for _ in range(lines):
                self.file.readline()


class Server:
    def __init__(self, program, module):
        self.folder = tempfile.mkdtemp(prefix="tamis-bench-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [program, "--port", str(self.port), "--dir", self.folder, "--save", "", "--logfile", "log"]
        self.process = subprocess.Popen(command + ["--loadmodule", module], stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.client = Client(self.port)
                self.client("PING")
                break
            except (ConnectionError, RuntimeError):
                time.sleep(0.02)
        else:
            raise SystemExit(f"{program} does not start with {module}:\n" + open(self.folder + "/log").read())

    def cpu(self):
        """Seconds of the main thread."""
        text = self.client("INFO", "cpu").decode()
        fields = dict(line.split(":") for line in text.split("\r\n") if ":" in line)
        return float(fields["used_cpu_user_main_thread"]) + float(fields["used_cpu_sys_main_thread"])

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def member(number):
    return b"member:%010d" % number


def stranger(number):
    return b"stranger:%010d" % number


def pipelined(command, key, items):
    requests = [encode(command, key, item) for item in items]
    return [b"".join(requests[at:at + PIPELINE]) for at in range(0, len(requests), PIPELINE)]


def batched(command, key, items):
    """Commands of 100 items, sent by 8; a reply is a line for each item and one for the array."""
    requests = [encode(command, key, *items[at:at + BATCH]) for at in range(0, len(items), BATCH)]
    return [b"".join(requests[at:at + TOGETHER]) for at in range(0, len(requests), TOGETHER)]


def fill(client, command, key, items, first=0):
    for at in range(first, items, 1000):
        client(command, key, *(member(number) for number in range(at, min(items, at + 1000))))


def rate(client, key, asked=200_000):
    passed = 0
    for at in range(0, asked, 1000):
        passed += sum(client("BF.MEXISTS", key, *(stranger(number) for number in range(at, at + 1000))))
    return passed / asked


def info(client, key):
    flat = client("BF.INFO", key)
    return dict(zip(flat[::2], flat[1::2]))


def sizes(server, items):
    """Bits an item and the measured rate, reserved and grown."""
    client, rows = server.client, []
    for name, reserve in [
        ("reserved", [0.01, items]),
        ("reserved, LAYOUT bloom", [0.01, items, "LAYOUT", "bloom"]),
        ("grown from 1,000", [0.01, 1000]),
    ]:
        try:
            client("BF.RESERVE", "size", *reserve)
        except RuntimeError:
            continue  # other modules have no LAYOUT
        fill(client, "BF.MADD", "size", items)
        bits = 8 * info(client, "size")[b"Size"] / items
        rows.append((name, f"{bits:.2f} bits an item, {100 * rate(client, 'size'):.2f}% pass"))
        client("DEL", "size")
    return rows


def costs(server, items, rounds, random):
    """Processor time of commands, over that of sets."""
    client = server.client
    count = 64 * 500  # which is also 40 times 8 commands of 100
    # Room for what the rounds add: both hold the same items at any time.
    room = items + 2 * count * rounds
    fill(client, "SADD", "set", items)
    client("BF.RESERVE", "filter", 0.01, room)
    fill(client, "BF.MADD", "filter", items)
    ratios, absolute = {}, {}
    for number in range(rounds):
        present = [member(random.randrange(items)) for _ in range(count)]
        absent = [stranger(random.getrandbits(33)) for _ in range(count)]
        new = [b"new:%d:%010d" % (number, one) for one in range(count)]
        more = [b"more:%d:%010d" % (number, one) for one in range(count)]
        tasks = {
            "SISMEMBER hit": (pipelined("SISMEMBER", "set", present), PIPELINE),
            "BF.EXISTS hit": (pipelined("BF.EXISTS", "filter", present), PIPELINE),
            "BF.EXISTS miss": (pipelined("BF.EXISTS", "filter", absent), PIPELINE),
            "SADD": (pipelined("SADD", "set", new), PIPELINE),
            "BF.ADD": (pipelined("BF.ADD", "filter", new), PIPELINE),
            "SADD of 100": (batched("SADD", "set", more), TOGETHER),
            "BF.MADD of 100": (batched("BF.MADD", "filter", more), TOGETHER * (1 + BATCH)),
            "BF.MEXISTS of 100": (batched("BF.MEXISTS", "filter", present), TOGETHER * (1 + BATCH)),
        }
        seconds = {}
        order = list(tasks)
        random.shuffle(order)
        for name in order:
            before = server.cpu()
            client.run(*tasks[name])
            seconds[name] = server.cpu() - before
            per = seconds[name] / count * 1e9
            absolute.setdefault(name, []).append(per)
        for name, base in [
            ("BF.EXISTS hit", "SISMEMBER hit"), ("BF.EXISTS miss", "SISMEMBER hit"), ("BF.ADD", "SADD"),
            ("BF.MADD of 100", "SADD of 100"), ("BF.MEXISTS of 100", "SADD of 100"),
        ]:
            ratios.setdefault(f"{name} / {base}", []).append(seconds[name] / seconds[base])
    client("DEL", "set", "filter")
    rows = [(name, f"{statistics.median(found):.0f} ns an item") for name, found in absolute.items()]
    return sorted(rows) + [(name, f"{statistics.median(found):.2f}") for name, found in ratios.items()]


def percentile(server, seconds, meanwhile=None):
    """The 99.9th percentile of PING while something else goes on, in milliseconds."""
    client, delays = Client(server.port), []
    helper = threading.Thread(target=meanwhile) if meanwhile else None
    if helper:
        helper.start()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or (helper and helper.is_alive()):
        before = time.perf_counter()
        client("PING")
        delays.append(time.perf_counter() - before)
    if helper:
        helper.join()
    return 1000 * sorted(delays)[int(0.999 * len(delays))]


def latency(server, items):
    rows = [("idle", f"{percentile(server, 3):.2f} ms")]
    other = Client(server.port)
    rows.append((f"BF.RESERVE for {items:,}", f"{percentile(server, 3, lambda: other('BF.RESERVE', 'big', 0.01, items)):.2f} ms"))
    # Touch its pages, so that there is something to copy.
    for at in range(0, 2_000_000, 1000):
        other("BF.MADD", "big", *(member(number) for number in range(at, at + 1000)))

    def save():
        other("BGSAVE")
        while b"rdb_bgsave_in_progress:1" in other("INFO", "persistence"):
            time.sleep(0.05)

    rows.append((f"BGSAVE of {items:,}", f"{percentile(server, 3, save):.2f} ms"))
    rows.append((f"UNLINK of {items:,}", f"{percentile(server, 3, lambda: other('UNLINK', 'big')):.2f} ms"))
    return rows


def processor():
    try:
        lines = open("/proc/cpuinfo").read().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=shutil.which("valkey-server") or shutil.which("redis-server"))
    parser.add_argument("--module", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--latency", action="store_true", help="measure delays of others, at 100 times the items")
    options = parser.parse_args()
    if not options.server:
        raise SystemExit("no valkey-server or redis-server: give one with --server")
    modules = dict(one.split("=", 1) for one in options.module)
    modules.setdefault("tamis", os.path.join(ROOT, "target/release/libtamis_valkey.so"))
    version = subprocess.run([options.server, "--version"], capture_output=True, text=True).stdout
    print(f"{processor()}; {' '.join(version.split()[:3])}; {options.items:,} items at 1%")
    for name, path in modules.items():
        if not os.path.exists(path):
            raise SystemExit(f"{path} is missing: cargo build --release -p tamis-valkey")
        server = Server(options.server, os.path.abspath(path))
        try:
            rows = sizes(server, options.items)
            rows += costs(server, options.items, options.rounds, random.Random(1))
            if options.latency:
                rows += latency(server, 100 * options.items)
        finally:
            server.stop()
        print(f"\n{name}")
        for what, found in rows:
            print(f"  {what:32} {found}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
