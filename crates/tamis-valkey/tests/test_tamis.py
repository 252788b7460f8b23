"""TAMIS.*: what the existing modules lack."""

import os

import pytest
from conftest import error_of, raw

GOLDEN = os.path.join(os.path.dirname(__file__), "../../tamis/tests/golden")


def facts(client, *words):
    reply = raw(client, *words)
    return dict(zip(reply[::2], reply[1::2]))


def test_plan_is_what_reserve_takes(r):
    for rate, capacity, *options in [
        (0.01, 100), (0.01, 1_000_000), (0.001, 70_000, "LAYOUT", "bloom"), (0.01, 500, "NONSCALING"),
        (1e-6, 100_000), (0.3, 100_000, "LAYOUT", "split"),
    ]:
        plan = facts(r, "TAMIS.PLAN", rate, capacity, *options)
        r.delete("k")
        r.execute_command("BF.RESERVE", "k", rate, capacity, *options)
        info = facts(r, "TAMIS.INFO", "k")
        assert plan[b"bytes"] == raw(r, "BF.INFO", "k", "SIZE")[0] == info[b"bytes"]
        assert plan[b"layout"] == info[b"kind"]
        assert float(plan[b"expected_rate"]) <= rate
    assert 8 * facts(r, "TAMIS.PLAN", 0.01, 10**6, "LAYOUT", "bloom")[b"bytes"] / 1e6 < 9.7
    assert 8 * facts(r, "TAMIS.PLAN", 0.01, 10**6)[b"bytes"] / 1e6 < 10.2
    assert error_of(r, "TAMIS.PLAN", 2, 100).startswith("ERR the false-positive rate")
    assert error_of(r, "TAMIS.PLAN", 0.01, 0).startswith("ERR")
    assert error_of(r, "TAMIS.PLAN", "x", 10).startswith("ERR bad error rate")


def test_info(r):
    r.execute_command("BF.RESERVE", "k", 0.01, 70_000)
    r.execute_command("BF.MADD", "k", *range(70_000))
    info = facts(r, "TAMIS.INFO", "k")
    assert info[b"health"] == b"within" and 0.005 < float(info[b"expected_rate"]) <= 0.01
    assert 0.3 < float(info[b"fill"]) < 0.6
    assert error_of(r, "TAMIS.INFO", "none") == "ERR not found"
    r.execute_command("CF.ADD", "c", "a")
    assert facts(r, "TAMIS.INFO", "c")[b"kind"] == b"quotient"


def test_resp3(r3):
    assert raw(r3, "CF.ADD", "c", "a") is True
    assert raw(r3, "CF.INSERT", "c", "ITEMS", "a", "b") == [True, True]
    assert raw(r3, "CF.DEL", "c", "x") is False
    assert raw(r3, "CF.INFO", "c")[b"Number of items inserted"] == 3
    r3.execute_command("BF.ADD", "k", "a")
    info = raw(r3, "TAMIS.INFO", "k")
    assert info[b"rate"] == 0.01 and info[b"items"] == 1 and info[b"promise"] == b"rate"
    assert raw(r3, "TAMIS.EXISTS", "k", "a", "b") == [True, False]
    assert 9 < raw(r3, "TAMIS.PLAN", 0.01, 100_000)[b"bits_per_item"] < 11
    assert raw(r3, "TAMIS.LEDGER", "l", "BUDGET", 3)[b"left"] == b"3"


def test_a_missing_key_is_not_a_missing_item(r):
    r.execute_command("BF.ADD", "k", "a")
    assert raw(r, "TAMIS.EXISTS", "k", "a", "b") == [1, 0]
    assert error_of(r, "TAMIS.EXISTS", "none", "a") == "ERR not found"


def test_counting(r):
    assert raw(r, "TAMIS.RESERVE", "k", "COUNTING", 0.01, 1000) == b"OK"
    assert raw(r, "TAMIS.ADD", "k", "a", "b", "a") == [1, 1, 0]
    assert raw(r, "TAMIS.REMOVE", "k", "a", "x") == [1, 0]
    assert raw(r, "TAMIS.EXISTS", "k", "a", "b", "x") == [1, 1, 0]
    assert raw(r, "TAMIS.REMOVE", "k", "a") == [1]
    assert raw(r, "TAMIS.EXISTS", "k", "a") == [0]
    assert error_of(r, "TAMIS.RESERVE", "k", "COUNTING", 0.01, 10).startswith("BUSYKEY")
    assert error_of(r, "TAMIS.RESERVE", "x", "ROUND", 0.01, 10).startswith("ERR unknown kind")
    r.execute_command("BF.ADD", "bloom", "a")
    assert error_of(r, "TAMIS.REMOVE", "bloom", "a").startswith("WRONGTYPE")


def test_rolling(r):
    assert raw(r, "TAMIS.RESERVE", "k", "ROLLING", 0.001, 1000) == b"OK"
    assert raw(r, "TAMIS.ADD", "k", *range(1000)) == [1] * 1000
    assert raw(r, "TAMIS.EXISTS", "k", *range(1000)) == [1] * 1000
    raw(r, "TAMIS.ADD", "k", *range(10_000, 14_000))
    assert raw(r, "TAMIS.EXISTS", "k", *range(13_000, 14_000)) == [1] * 1000
    assert sum(raw(r, "TAMIS.EXISTS", "k", *range(1000))) < 10
    # A day, by the time that the command says.
    now = 1_000 * r.time()[0]
    hour = 3_600_000
    assert raw(r, "TAMIS.RESERVE", "day", "ROLLING", 0.001, 1000, "SECONDS", 86_400) == b"OK"
    assert raw(r, "TAMIS.ADDAT", "day", now - 23 * hour, "a") == [1]
    assert raw(r, "TAMIS.EXISTS", "day", "a", "b") == [1, 0]
    assert raw(r, "TAMIS.ADD", "day", "a", "b") == [0, 1]
    assert raw(r, "TAMIS.ADDAT", "day", now + 23 * hour, "c") == [1]
    assert raw(r, "TAMIS.EXISTS", "day", "a", "b", "c") == [1, 1, 1]
    assert raw(r, "TAMIS.ADDAT", "day", now + 60 * hour, "d") == [1]
    assert raw(r, "TAMIS.EXISTS", "day", "a", "b", "d") == [0, 0, 1]
    assert facts(r, "TAMIS.INFO", "day")[b"kind"] == b"rolling"
    for words in [["ROLLING", 0.01, 0], ["ROLLING", 2, 10], ["ROLLING", 0.01, 10, "SECONDS", 0],
                  ["ROLLING", 0.01, 10, "SECONDS", -1], ["ROLLING", 0.01, 10, "SECONDS", "1e300"],
                  ["COUNTING", 0.01, 10, "SECONDS", 5], ["ROLLING", 0.01, 2**62]]:
        assert error_of(r, "TAMIS.RESERVE", "x", *words).startswith("ERR"), words


@pytest.mark.parametrize("capacity", [200, 70_000])
def test_union_and_intersection(r, capacity):
    for name, first in [("a", 0), ("b", 500)]:
        r.execute_command("BF.RESERVE", name, 0.01, capacity)
        r.execute_command("BF.MADD", name, *range(first, first + 1000))
    assert raw(r, "TAMIS.UNION", "u", "a", "b") == b"OK"
    assert all(raw(r, "BF.MEXISTS", "u", *range(1500)))
    if capacity > 1000:
        assert raw(r, "TAMIS.INTERSECT", "i", "a", "b") == b"OK"
        assert all(raw(r, "BF.MEXISTS", "i", *range(500, 1000)))
        assert sum(raw(r, "BF.MEXISTS", "i", *range(500))) < 50
    assert raw(r, "TAMIS.UNION", "a", "a", "b") == b"OK"
    assert all(raw(r, "BF.MEXISTS", "a", *range(1500)))
    r.execute_command("BF.RESERVE", "seeded", 0.01, capacity, "SEED", 5)
    assert error_of(r, "TAMIS.UNION", "x", "a", "seeded").startswith("ERR")
    assert error_of(r, "TAMIS.UNION", "x", "a", "none") == "ERR not found"
    r.set("text", "x")
    assert error_of(r, "TAMIS.UNION", "text", "a").startswith("WRONGTYPE")


def test_zone(r):
    assert raw(r, "TAMIS.ZONE.RESERVE", "k", "UNIVERSE", 100_000, "ITEMS", 20) == b"OK"
    assert raw(r, "TAMIS.ZONE.ADD", "k", 5, 77, 99_999) == [1, 1, 1]
    assert raw(r, "TAMIS.ZONE.EXISTS", "k", 5, 6) == [1, 0]
    assert raw(r, "TAMIS.ZONE.LIST", "k") == [b"5", b"77", b"99999"]
    assert "100000" in str(raw(r, "TAMIS.ZONE.ADD", "k", 100_000)[0])
    refused = raw(r, "TAMIS.ZONE.ADD", "k", *range(1000, 1100))
    assert refused[:17] == [1] * 17 and "zone" in str(refused[17])
    # Nobody is answered wrongly within the zone.
    inside = [5, 77, 99_999, *range(1000, 1017)]
    passed = [i for start in range(0, 100_000, 5000) for i, answer in
              zip(range(start, start + 5000), raw(r, "TAMIS.ZONE.EXISTS", "k", *range(start, start + 5000))) if answer]
    assert sorted(passed) == sorted(inside)
    assert error_of(r, "TAMIS.ZONE.REM", "none", 5) == "ERR not found"
    r.execute_command("TAMIS.ZONE.RESERVE", "c", "UNIVERSE", "10.0.0.0..10.0.255.255", "ITEMS", 5, "COUNTING")
    assert raw(r, "TAMIS.ZONE.ADD", "c", "10.0.3.4", "10.0.9.9") == [1, 1]
    assert raw(r, "TAMIS.ZONE.REM", "c", "10.0.3.4") == [1]
    assert raw(r, "TAMIS.ZONE.LIST", "c") == [b"10.0.9.9"]
    for name, item in [("z1", 3), ("z2", 4)]:
        r.execute_command("TAMIS.ZONE.RESERVE", name, "UNIVERSE", 1000, "ITEMS", 5)
        r.execute_command("TAMIS.ZONE.ADD", name, item)
    assert raw(r, "TAMIS.ZONE.UNION", "z", "z1", "z2") == b"OK"
    assert raw(r, "TAMIS.ZONE.LIST", "z") == [b"3", b"4"]
    for words in [["UNIVERSE", 0, "ITEMS", 5], ["UNIVERSE", "x", "ITEMS", 5], ["UNIVERSE", 10, "ITEMS", 0],
                  ["UNIVERSE", "9..3", "ITEMS", 1], ["UNIVERSE", 10, "COLOUR", 5]]:
        assert error_of(r, "TAMIS.ZONE.RESERVE", "x", *words).startswith("ERR"), words


def test_publish(r):
    r.sadd("set", *range(1000))
    assert raw(r, "TAMIS.LEDGER", "l", "BUDGET", 3)[1] == b"3"
    assert raw(r, "TAMIS.PUBLISH", "p", "FROM", "set", "ITEMS", 1000, "EPSILON", 2, "LEDGER", "l") == b"OK"
    info = facts(r, "TAMIS.INFO", "p")
    assert info[b"promise"] == b"privacy" and 1.9 < float(info[b"epsilon"]) <= 2
    ledger = facts(r, "TAMIS.LEDGER", "l")
    assert ledger[b"spent"] == info[b"epsilon"] and ledger[b"charges"] == 1
    left = ledger[b"left"]
    assert abs(float(ledger[b"spent"]) + float(left) - 3) < 1e-9
    members = sum(raw(r, "TAMIS.EXISTS", "p", *range(1000)))
    assert 700 < members < 1000
    assert "left" in error_of(r, "TAMIS.PUBLISH", "q", "FROM", "set", "ITEMS", 1000, "EPSILON", 2, "LEDGER", "l")
    assert r.exists("q") == 0
    # A release takes nothing in and cannot be merged.
    assert "published" in str(raw(r, "TAMIS.ADD", "p", "x")[0])
    assert error_of(r, "TAMIS.UNION", "x", "p", "p").startswith("ERR")
    assert error_of(r, "TAMIS.PUBLISH", "p", "FROM", "set", "ITEMS", 10, "EPSILON", 1).startswith("BUSYKEY")
    assert error_of(r, "TAMIS.PUBLISH", "q", "FROM", "none", "ITEMS", 10, "EPSILON", 1) == "ERR not found"
    assert error_of(r, "TAMIS.PUBLISH", "q", "FROM", "set", "ITEMS", 10, "EPSILON", 0).startswith("ERR")
    r.execute_command("BF.RESERVE", "b", 0.01, 1000, "NONSCALING", "LAYOUT", "bloom")
    r.execute_command("BF.MADD", "b", *range(1000))
    assert raw(r, "TAMIS.PUBLISH", "pb", "FROM", "b", "ITEMS", 1000, "EPSILON", 8) == b"OK"
    assert "ITEMS 1000" in error_of(r, "TAMIS.PUBLISH", "pc", "FROM", "b", "ITEMS", 7, "EPSILON", 8)
    assert facts(r, "TAMIS.LEDGER", "l", "CHARGE", left, "by hand")[b"left"] == b"0"
    assert "left" in error_of(r, "TAMIS.LEDGER", "l", "CHARGE", 1, "too much")
    assert error_of(r, "TAMIS.LEDGER", "m", "BUDGET", 0).startswith("ERR")


def test_files_of_the_library(r):
    loaded = 0
    for name in sorted(os.listdir(GOLDEN)):
        if not name.endswith(".tamis"):
            continue
        data = open(os.path.join(GOLDEN, name), "rb").read()
        reply = raw(r, "TAMIS.LOAD", name, data)
        if reply == b"OK":
            loaded += 1
            assert raw(r, "TAMIS.DUMP", name) == data, name
            assert facts(r, "TAMIS.INFO", name)[b"health"] in (b"within", b"beyond")
        else:
            # A secret key or a dictionary is not in the file; the server has none.
            assert "key" in str(reply) or "dictionary" in str(reply) or "hash" in str(reply), (name, reply)
    assert loaded >= 8


def test_kinds_of_keys(r):
    r.execute_command("BF.RESERVE", "k", 0.01, 1000, "NONSCALING")
    r.execute_command("BF.MADD", "k", *range(100))
    data = raw(r, "TAMIS.DUMP", "k")
    assert raw(r, "TAMIS.LOAD", "text", data) == b"OK"
    assert sum(raw(r, "BF.MEXISTS", "text", *range(100))) == 100
    assert raw(r, "TAMIS.LOAD", "integers", data, "KEYS", "INTEGERS") == b"OK"
    assert sum(raw(r, "BF.MEXISTS", "integers", *range(100))) < 20
    r.execute_command("BF.MADD", "integers", *range(100, 200))
    integers = raw(r, "TAMIS.DUMP", "integers")
    assert raw(r, "TAMIS.LOAD", "both", integers, "KEYS", "INTEGERS") == b"OK"
    assert sum(raw(r, "BF.MEXISTS", "both", *range(100, 200))) == 100
    assert error_of(r, "TAMIS.LOAD", "text", data).startswith("BUSYKEY")
    assert raw(r, "TAMIS.LOAD", "text", data, "REPLACE") == b"OK"
    assert error_of(r, "TAMIS.LOAD", "x", data, "KEYS", "NONE").startswith("ERR bad keys")
    assert error_of(r, "TAMIS.LOAD", "x", data[:-1]).startswith("ERR")
    assert error_of(r, "TAMIS.LOAD", "x", b"junk").startswith("ERR")


def test_large_work_is_done_elsewhere(r, shared):
    r.execute_command("BF.RESERVE", "k", 0.01, 3_000_000, "NONSCALING")
    data = raw(r, "TAMIS.DUMP", "k")
    assert len(data) > 1 << 20
    assert raw(r, "TAMIS.LOAD", "copy", data) == b"OK"
    assert raw(r, "BF.INFO", "copy", "SIZE") == raw(r, "BF.INFO", "k", "SIZE")
    assert raw(r, "BF.RESERVE", "large", 0.01, 100_000_000) == b"OK"
    assert error_of(r, "BF.RESERVE", "large", 0.01, 100_000_000) == "ERR item exists"
    assert raw(r, "BF.ADD", "large", "a") == 1
    # Many at once, and clients that go away.
    clients = [shared.client() for _ in range(8)]
    for number, client in enumerate(clients):
        connection = client.connection_pool.get_connection()
        connection.send_command("TAMIS.LOAD", f"gone {number}", data)
        if number % 2:
            connection.disconnect()
    assert raw(r, "PING") == b"PONG"


def test_large_chunks_are_checked_elsewhere(r):
    r.execute_command("BF.RESERVE", "k", 0.01, 20_000_000, "LAYOUT", "bloom")
    r.execute_command("BF.MADD", "k", *range(1000))
    iterator, chunks = 0, []
    while True:
        iterator, chunk = raw(r, "BF.SCANDUMP", "k", iterator)
        if iterator == 0:
            break
        chunks.append((iterator, chunk))
    assert len(chunks) == 3
    for iterator, chunk in chunks:
        assert raw(r, "BF.LOADCHUNK", "copy", iterator, chunk) == b"OK"
    assert raw(r, "BF.INFO", "copy") == raw(r, "BF.INFO", "k")
    assert all(raw(r, "BF.MEXISTS", "copy", *range(1000)))
    # Damaged at the end: found when all has come, and the key is gone.
    for iterator, chunk in chunks[:2]:
        assert raw(r, "BF.LOADCHUNK", "bad", iterator, chunk) == b"OK"
    iterator, chunk = chunks[2]
    assert error_of(r, "BF.LOADCHUNK", "bad", iterator, chunk[:-1] + b"x") == "ERR received bad data"
    assert r.exists("bad") == 0


def test_largest_filter_of_an_ordinary_machine(r):
    """More than 2^32 bits; pages that nobody touches take no memory."""
    r.execute_command("BF.RESERVE", "k", 0.01, 500_000_000, "LAYOUT", "bloom")
    size = raw(r, "BF.INFO", "k", "SIZE")[0]
    assert 8 * size > 1 << 32
    assert raw(r, "BF.MADD", "k", *range(2000)) == [1] * 2000
    assert raw(r, "BF.MADD", "k", *range(2000)) == [0] * 2000
    assert sum(raw(r, "BF.MEXISTS", "k", *(f"x{i}" for i in range(2000)))) == 0
    r.execute_command("UNLINK", "k")
