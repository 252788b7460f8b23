"""CF.*: every command, option and error."""

from conftest import error_of, raw

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


def test_add_count_delete(r):
    assert raw(r, "CF.ADD", "k", "a") == 1
    assert raw(r, "CF.ADD", "k", "a") == 1
    assert raw(r, "CF.ADDNX", "k", "a") == 0
    assert raw(r, "CF.ADDNX", "k", "b") == 1
    assert raw(r, "CF.COUNT", "k", "a") == 2
    assert raw(r, "CF.DEL", "k", "a") == 1
    assert raw(r, "CF.DEL", "k", "a") == 1
    assert raw(r, "CF.DEL", "k", "a") == 0
    assert raw(r, "CF.EXISTS", "k", "a") == 0
    assert raw(r, "CF.MEXISTS", "k", "a", "b") == [0, 1]
    assert r.type("k") == b"MBbloomCF"
    info = raw(r, "CF.INFO", "k")
    assert info[0::2] == [
        b"Size", b"Number of buckets", b"Number of filters", b"Number of items inserted",
        b"Number of items deleted", b"Bucket size", b"Expansion rate", b"Max iterations",
    ]
    assert info[5::2] == [1, 1, 2, 2, 1, 20]


def test_insert(r):
    assert raw(r, "CF.INSERT", "k", "CAPACITY", 500, "ITEMS", "a", "b", "a") == [1, 1, 1]
    assert raw(r, "CF.INSERTNX", "k", "ITEMS", "a", "c") == [0, 1]
    assert error_of(r, "CF.INSERT", "none", "NOCREATE", "ITEMS", "a") == "ERR not found"
    assert raw(r, "CF.INSERT", "k", "NOCREATE", "ITEMS", "ITEMS") == [1]
    for words in [["CAPACITY", 0], ["CAPACITY", "x"], ["COLOUR", 1], ["NOCREATE", "ITEMS"]]:
        assert error_of(r, "CF.INSERT", "x", *words, "ITEMS").startswith("ERR"), words


def test_never_refuses_for_bad_luck(r):
    r.execute_command("CF.RESERVE", "k", 1000, "EXPANSION", 0)
    answers = raw(r, "CF.INSERT", "k", "ITEMS", *range(1200))
    assert answers == [1] * 1000 + [-1] * 200
    assert error_of(r, "CF.ADD", "k", "more") == "ERR Filter is full"
    assert raw(r, "CF.DEL", "k", 7) == 1
    assert raw(r, "CF.ADD", "k", "more") == 1
    # One item a hundred times takes room like a hundred items, and no more.
    r.execute_command("CF.RESERVE", "same", 100, "EXPANSION", 0)
    assert raw(r, "CF.INSERT", "same", "ITEMS", *["x"] * 100) == [1] * 100
    assert raw(r, "CF.COUNT", "same", "x") == 100


def test_growth_and_size(r):
    r.execute_command("CF.RESERVE", "k", 1_000_000)
    # RedisBloom takes 2^20 bytes for these.
    assert raw(r, "CF.INFO", "k")[1] < 1 << 20 | 1 << 15
    r.execute_command("CF.RESERVE", "g", 1000, "EXPANSION", 2)
    for start in range(0, 30_000, 1000):
        raw(r, "CF.INSERT", "g", "ITEMS", *range(start, start + 1000))
    assert all(raw(r, "CF.MEXISTS", "g", *range(30_000)))
    strangers = sum(raw(r, "CF.MEXISTS", "g", *(f"x{i}" for i in range(20_000))))
    # Twice 4/255 of 20,000, and five sigma.
    assert strangers < 628 + 5 * 25
    for start in range(0, 30_000, 3):
        assert raw(r, "CF.DEL", "g", start) == 1
    assert raw(r, "CF.INFO", "g")[7] == 20_000
    assert all(raw(r, "CF.MEXISTS", "g", *(i for i in range(30_000) if i % 3)))


def test_errors(r):
    r.set("text", "x")
    for words, text in [
        (["CF.ADD", "text", "a"], WRONG_TYPE),
        (["CF.EXISTS", "text", "a"], WRONG_TYPE),
        (["CF.RESERVE", "text", 100], WRONG_TYPE),
        (["CF.INFO", "none"], "ERR not found"),
        (["CF.DEL", "none", "a"], "ERR Not found"),
        (["CF.RESERVE", "x", "y"], "ERR Bad capacity"),
        (["CF.RESERVE", "x", 0], "ERR (capacity should be larger than 0)"),
        (["CF.RESERVE", "x", 10, "BUCKETSIZE", 0], "ERR BUCKETSIZE: value must be in the range [1, 255]"),
        (["CF.RESERVE", "x", 10, "BUCKETSIZE", "y"], "ERR Couldn't parse BUCKETSIZE"),
        (["CF.RESERVE", "x", 10, "MAXITERATIONS", 0], "ERR MAXITERATIONS: value must be in the range [1, 65535]"),
        (["CF.RESERVE", "x", 10, "EXPANSION", 99999], "ERR EXPANSION: value must be in the range [0, 32768]"),
        (["CF.RESERVE", "x", 10, "COLOUR"], "ERR Unknown argument received"),
    ]:
        assert error_of(r, *words) == text, words
    assert raw(r, "CF.EXISTS", "none", "a") == 0
    assert raw(r, "CF.COUNT", "none", "a") == 0
    r.execute_command("CF.ADD", "k", "a")
    assert error_of(r, "CF.RESERVE", "k", 10) == "ERR item exists"


def test_client_library(r):
    cf = r.cf()
    assert cf.create("k", 1000) and cf.add("k", "a") and cf.addnx("k", "a") == 0
    assert cf.insert("other", ["x", "y"], capacity=100) == [1, 1]
    assert cf.exists("k", "a") and cf.mexists("k", "a", "b") == [1, 0]
    assert cf.count("k", "a") == 1 and cf.delete("k", "a")
    assert cf.info("other").get("insertedNum") == 2
    iterator, chunk = cf.scandump("other", 0)
    while iterator:
        cf.loadchunk("twin", iterator, chunk)
        iterator, chunk = cf.scandump("other", iterator)
    assert cf.mexists("twin", "x", "y", "z") == [1, 1, 0]
