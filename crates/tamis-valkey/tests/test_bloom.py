"""BF.*: every command, option and error, in both dialects and both protocols."""

import pytest
import redis
from conftest import error_of, raw

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


def test_add_and_ask(r):
    assert raw(r, "BF.ADD", "k", "a") == 1
    assert raw(r, "BF.ADD", "k", "a") == 0
    assert raw(r, "BF.EXISTS", "k", "a") == 1
    assert raw(r, "BF.EXISTS", "k", "b") == 0
    assert raw(r, "BF.MADD", "k", "a", "b", "b", "c") == [0, 1, 0, 1]
    assert raw(r, "BF.MEXISTS", "k", "a", "x", "c") == [1, 0, 1]
    assert raw(r, "BF.CARD", "k") == 3
    assert r.type("k") == b"MBbloom--"
    assert r.object("encoding", "k") == b"raw"


def test_missing_keys(r):
    assert raw(r, "BF.EXISTS", "none", "a") == 0
    assert raw(r, "BF.MEXISTS", "none", "a", "b") == [0, 0]
    assert raw(r, "BF.CARD", "none") == 0
    assert error_of(r, "BF.INFO", "none") == "ERR not found"
    assert error_of(r, "BF.SCANDUMP", "none", 0) == "ERR not found"
    assert error_of(r, "BF.DEBUG", "none") == "ERR not found"
    assert error_of(r, "BF.INSERT", "none", "NOCREATE", "ITEMS", "a") == "ERR not found"
    assert r.exists("none") == 0


def test_resp3(r3):
    assert raw(r3, "BF.ADD", "k", "a") is True
    assert raw(r3, "BF.MADD", "k", "a", "b") == [False, True]
    assert raw(r3, "BF.EXISTS", "k", "a") is True
    assert raw(r3, "BF.MEXISTS", "k", "a", "z") == [True, False]
    info = raw(r3, "BF.INFO", "k")
    assert list(info) == [
        b"Capacity", b"Size", b"Number of filters", b"Number of items inserted", b"Expansion rate",
    ]
    assert raw(r3, "BF.INFO", "k", "ITEMS") == {b"Number of items inserted": 2}


def test_info(r):
    r.execute_command("BF.RESERVE", "k", 0.001, 100)
    info = raw(r, "BF.INFO", "k")
    assert info[0::2] == [
        b"Capacity", b"Size", b"Number of filters", b"Number of items inserted", b"Expansion rate",
    ]
    assert info[1] == 100 and info[5] == 1 and info[7] == 0 and info[9] == 2
    assert 100 < info[3] < 400
    assert raw(r, "BF.INFO", "k", "capacity") == [100]
    assert raw(r, "BF.INFO", "k", "SIZE") == [info[3]]
    assert raw(r, "BF.INFO", "k", "FILTERS") == [1]
    assert raw(r, "BF.INFO", "k", "EXPANSION") == [2]
    assert error_of(r, "BF.INFO", "k", "COLOUR") == "Invalid information value"
    r.execute_command("BF.RESERVE", "fixed", 0.01, 10, "NONSCALING")
    assert raw(r, "BF.INFO", "fixed", "EXPANSION") == [None]
    assert info[3] < r.memory_usage("k")


def test_reserve_options(r):
    assert raw(r, "BF.RESERVE", "a", "0.01", "1000", "EXPANSION", "4") == b"OK"
    assert raw(r, "BF.INFO", "a", "EXPANSION") == [4]
    assert raw(r, "BF.RESERVE", "b", "0.01", "1000", "NONSCALING") == b"OK"
    assert raw(r, "BF.RESERVE", "c", "0.01", "1000", "EXPANSION", "0") == b"OK"
    assert raw(r, "BF.INFO", "c", "EXPANSION") == [None]
    for layout in ["bloom", "blocked", "split", "auto", "BLOCKED"]:
        assert raw(r, "BF.RESERVE", "l" + layout, "0.01", "1000", "LAYOUT", layout) == b"OK"
        r.execute_command("BF.MADD", "l" + layout, *range(1000))
        assert all(raw(r, "BF.MEXISTS", "l" + layout, *range(1000)))
    assert error_of(r, "BF.RESERVE", "x", 0.01, 10, "LAYOUT", "round").startswith("ERR bad layout")
    assert raw(r, "BF.RESERVE", "s", "0.01", "1000", "SEED", "7") == b"OK"


def test_reserve_errors(r):
    r.execute_command("BF.ADD", "k", "a")
    r.set("text", "x")
    rate = "ERR error rate must be in the range (0.000000, 1.000000)"
    capacity = "ERR capacity must be in the range [1, 1073741824]"
    expansion = "ERR expansion must be in the range [0, 32768]"
    for words, text in [
        (["k", 0.01, 100], "ERR item exists"),
        (["text", 0.01, 100], WRONG_TYPE),
        (["x"], "ERR wrong number of arguments for 'bf.reserve' command"),
        (["x", "y", 100], "ERR bad error rate"),
        (["x", "nan", 100], "ERR bad error rate"),
        (["x", "inf", 100], "ERR bad error rate"),
        (["x", 0, 100], rate),
        (["x", 1, 100], rate),
        (["x", -0.5, 100], rate),
        (["x", 1e300, 100], rate),
        (["x", 0.01, "y"], "ERR bad capacity"),
        (["x", 0.01, 2**63], "ERR bad capacity"),
        (["x", 0.01, 0], capacity),
        (["x", 0.01, -1], capacity),
        (["x", 0.01, 2**62], capacity),
        (["x", 0.01, 100, "EXPANSION"], "ERR no expansion"),
        (["x", 0.01, 100, "EXPANSION", "y"], "ERR bad expansion"),
        (["x", 0.01, 100, "EXPANSION", -1], expansion),
        (["x", 0.01, 100, "EXPANSION", 32769], expansion),
        (["x", 0.01, 100, "NONSCALING", "EXPANSION", 2], "Nonscaling filters cannot expand"),
        (["x", 0.01, 100, "COLOUR"], "Unknown argument received"),
    ]:
        assert error_of(r, "BF.RESERVE", *words) == text, words
    assert r.exists("x") == 0


def test_insert(r):
    insert = ["BF.INSERT", "k", "CAPACITY", 300, "ERROR", "0.001", "EXPANSION", 3, "ITEMS", "a", "b", "a"]
    assert raw(r, *insert) == [1, 1, 0]
    assert raw(r, "BF.INFO", "k", "CAPACITY") == [300]
    assert raw(r, "BF.INFO", "k", "EXPANSION") == [3]
    # An existing filter keeps its properties, and options after ITEMS are items.
    assert raw(r, "BF.INSERT", "k", "CAPACITY", 5, "ITEMS", "a", "NONSCALING") == [0, 1]
    assert raw(r, "BF.INFO", "k", "CAPACITY") == [300]
    assert raw(r, "BF.INSERT", "k", "NOCREATE", "ITEMS", "a") == [0]
    for words, text in [
        (["ITEMS"], "ERR wrong number of arguments for 'bf.insert' command"),
        (["CAPACITY", 5], "ERR wrong number of arguments for 'bf.insert' command"),
        (["CAPACITY", "y", "ITEMS", "a"], "Bad capacity"),
        (["CAPACITY", 0, "ITEMS", "a"], "Bad capacity"),
        (["ERROR", "y", "ITEMS", "a"], "Bad error rate"),
        (["ERROR", 1, "ITEMS", "a"], "Bad error rate"),
        (["EXPANSION", "y", "ITEMS", "a"], "Bad expansion"),
        (["EXPANSION", 40000, "ITEMS", "a"], "Bad expansion"),
        (["COLOUR", "ITEMS", "a"], "Unknown argument received"),
        (["NONSCALING", "EXPANSION", 2, "ITEMS", "a"], "Nonscaling filters cannot expand"),
    ]:
        assert error_of(r, "BF.INSERT", "x", *words) == text, words
    assert r.exists("x") == 0


def test_full_filters_say_so(r):
    r.execute_command("BF.RESERVE", "k", 0.01, 5, "NONSCALING")
    answers = raw(r, "BF.MADD", "k", *range(10))
    assert answers[:5] == [1] * 5 and len(answers) == 6
    assert str(answers[5]) == "non scaling filter is full"
    assert error_of(r, "BF.ADD", "k", "new") == "ERR non scaling filter is full"
    assert raw(r, "BF.ADD", "k", "3") == 0
    assert raw(r, "BF.CARD", "k") == 5


def test_growth_keeps_the_rate(r):
    r.execute_command("BF.RESERVE", "k", 0.01, 1000)
    for start in range(0, 100_000, 1000):
        r.execute_command("BF.MADD", "k", *range(start, start + 1000))
    assert raw(r, "BF.INFO", "k", "FILTERS")[0] > 5
    for start in range(0, 100_000, 5000):
        assert all(raw(r, "BF.MEXISTS", "k", *range(start, start + 5000)))
    strangers = sum(
        sum(raw(r, "BF.MEXISTS", "k", *(f"stranger {i}" for i in range(start, start + 5000))))
        for start in range(0, 100_000, 5000)
    )
    # 1% of 100,000, and five sigma.
    assert strangers < 1000 + 5 * 32
    size = raw(r, "BF.INFO", "k", "SIZE")[0]
    assert 8 * size / 100_000 < 20


def test_past_a_large_reserve(r):
    r.execute_command("BF.RESERVE", "k", 0.01, 70_000)
    assert 8 * raw(r, "BF.INFO", "k", "SIZE")[0] / 70_000 < 10.3
    for start in range(0, 100_000, 5000):
        r.execute_command("BF.MADD", "k", *range(start, start + 5000))
    assert raw(r, "BF.INFO", "k", "FILTERS") == [2]
    assert sum(raw(r, "BF.MEXISTS", "k", *range(100_000))) == 100_000
    strangers = sum(raw(r, "BF.MEXISTS", "k", *(f"stranger {i}" for i in range(100_000))))
    assert strangers < 1000 + 5 * 32
    assert error_of(r, "TAMIS.DUMP", "k").startswith("ERR the filter has grown")


def test_wrong_types(r):
    r.set("text", "x")
    assert raw(r, "BF.EXISTS", "text", "a") == 0
    assert raw(r, "BF.MEXISTS", "text", "a", "b") == [0, 0]
    for words in [
        ["BF.ADD", "text", "a"], ["BF.MADD", "text", "a"], ["BF.CARD", "text"], ["BF.INFO", "text"],
        ["BF.INSERT", "text", "ITEMS", "a"], ["BF.SCANDUMP", "text", 0],
        ["BF.LOADCHUNK", "text", 1, "x"], ["BF.DEBUG", "text"],
    ]:
        assert error_of(r, *words) == WRONG_TYPE, words
    r.execute_command("CF.ADD", "cuckoo", "a")
    assert error_of(r, "BF.ADD", "cuckoo", "a") == WRONG_TYPE


def test_arity(r):
    for name, words in [
        ("bf.add", ["k"]), ("bf.add", ["k", "a", "b"]), ("bf.madd", ["k"]), ("bf.exists", ["k"]),
        ("bf.mexists", ["k"]), ("bf.card", []), ("bf.info", []), ("bf.scandump", ["k"]),
        ("bf.loadchunk", ["k", 1]), ("bf.debug", []), ("bf.load", ["k"]),
    ]:
        assert error_of(r, name, *words) == f"ERR wrong number of arguments for '{name}' command"


def test_debug(r):
    r.execute_command("BF.MADD", "k", *range(250))
    lines = raw(r, "BF.DEBUG", "k")
    assert lines[0] == b"size:%d" % raw(r, "BF.CARD", "k")
    assert len(lines) == 1 + raw(r, "BF.INFO", "k", "FILTERS")[0]
    assert all(b"hashwidth:64" in line for line in lines[1:])


@pytest.mark.parametrize("items", [10, 1000, 100_000])
def test_chunks(r, items):
    r.execute_command("BF.RESERVE", "k", 0.01, 100)
    for start in range(0, items, 1000):
        r.execute_command("BF.MADD", "k", *range(start, min(items, start + 1000)))
    iterator, chunks = 0, []
    while True:
        iterator, chunk = raw(r, "BF.SCANDUMP", "k", iterator)
        if iterator == 0:
            break
        chunks.append((iterator, chunk))
    assert chunks[0][0] == 1
    # Cut the chunks smaller, so that a file arrives in pieces.
    whole = b"".join(chunk for _, chunk in chunks[1:])
    r.execute_command("BF.LOADCHUNK", "copy", 1, chunks[0][1])
    for start in range(0, len(whole), 999):
        piece = whole[start:start + 999]
        if start:
            assert error_of(r, "BF.ADD", "copy", "a").startswith("ERR the filter is still being loaded")
        assert raw(r, "BF.LOADCHUNK", "copy", 1 + start + len(piece), piece) == b"OK"
    assert raw(r, "BF.INFO", "copy") == raw(r, "BF.INFO", "k")
    assert r.execute_command("DEBUG", "DIGEST-VALUE", "k", "copy")[0] == r.execute_command("DEBUG", "DIGEST-VALUE", "copy")[0]
    assert error_of(r, "BF.LOADCHUNK", "copy", 1, chunks[0][1]) == "ERR received bad data"
    assert error_of(r, "BF.SCANDUMP", "k", "x") == "ERR Second argument must be numeric"
    assert error_of(r, "BF.LOADCHUNK", "new", "x", "") == "ERR Second argument must be numeric"
    assert error_of(r, "BF.LOADCHUNK", "new", 1, "junk") == "ERR received bad data"
    assert error_of(r, "BF.LOADCHUNK", "new", 77, "junk") == "ERR not found"
    r.execute_command("BF.LOADCHUNK", "new", 1, chunks[0][1])
    assert error_of(r, "BF.LOADCHUNK", "new", 999, "junk") == "ERR invalid offset - no link found"
    too_big = whole + b"x"
    text = "ERR invalid chunk - Too big for current filter"
    assert error_of(r, "BF.LOADCHUNK", "new", 1 + len(too_big), too_big) == text


def test_client_library(r, r3):
    for client in (r, r3):
        client.flushall()
        bf = client.bf()
        assert bf.create("k", 0.01, 1000)
        with pytest.raises(redis.ResponseError, match="item exists"):
            bf.create("k", 0.01, 1000)
        assert bf.add("k", "a") == 1 and bf.exists("k", "a") == 1
        assert bf.madd("k", "a", "b") == [0, 1] and bf.mexists("k", "a", "c") == [1, 0]
        assert bf.insert("other", ["x", "y"], capacity=50, error=0.02, expansion=4) == [1, 1]
        assert bf.card("k") == 2
        # With RESP3 the library hands the map on as it came.
        info, other = bf.info("k"), bf.info("other")
        if client is r3:
            assert info[b"Number of items inserted"] == 2 and other[b"Expansion rate"] == 4
        else:
            assert info.get("insertedNum") == 2 and other.get("expansionRate") == 4
        assert bf.create("big", 0.01, 1000, noScale=True)
        iterator, chunk = bf.scandump("k", 0)
        while iterator:
            bf.loadchunk("twin", iterator, chunk)
            iterator, chunk = bf.scandump("k", iterator)
        assert bf.mexists("twin", "a", "b", "c") == [1, 1, 0]


def test_command_docs(r):
    names = {
        "add": "key item", "exists": "key item", "madd": "key item", "mexists": "key item",
        "card": "key", "info": "key single_value",
        "insert": "key capacity error expansion nocreate nonscaling items item",
        "reserve": "key error_rate capacity expansion nonscaling",
        "scandump": "key iterator", "loadchunk": "key iterator data",
    }
    for command, expected in names.items():
        docs = raw(r, "COMMAND", "DOCS", "bf." + command)[1]
        docs = dict(zip(docs[::2], docs[1::2]))
        found = [dict(zip(one[::2], one[1::2]))[b"name"].decode() for one in docs[b"arguments"]]
        assert found == expected.split(), command
        assert docs[b"summary"] and docs[b"complexity"] and docs[b"since"]
    arity = {"add": 3, "madd": -3, "insert": -3, "reserve": -4, "card": 2, "info": -2, "scandump": 3}
    for command, expected in arity.items():
        assert raw(r, "COMMAND", "INFO", "bf." + command)[0][1] == expected
    assert raw(r, "COMMAND", "GETKEYS", "BF.ADD", "k", "a") == [b"k"]
    assert raw(r, "COMMAND", "GETKEYS", "TAMIS.UNION", "d", "a", "b") == [b"d", b"a", b"b"]
    publish = "TAMIS.PUBLISH d FROM s ITEMS 5 EPSILON 1 LEDGER l".split()
    assert raw(r, "COMMAND", "GETKEYS", *publish) == [b"d", b"s", b"l"]


def test_permissions(r, shared):
    if not any(b"bloom" == name for name in raw(r, "ACL", "CAT")):
        pytest.skip("this server has no categories for modules")
    r.execute_command("ACL", "SETUSER", "reader", "on", ">x", "~*", "+@bloom", "-@write")
    reader = shared.client(username="reader", password="x")
    r.execute_command("BF.ADD", "k", "a")
    assert raw(reader, "BF.EXISTS", "k", "a") == 1
    assert "no permissions" in str(raw(reader, "BF.ADD", "k", "a"))
    assert "no permissions" in str(raw(reader, "GET", "k"))
    r.execute_command("ACL", "DELUSER", "reader")


def test_events(r):
    r.config_set("notify-keyspace-events", "KEA")
    listener = r.pubsub()
    listener.psubscribe("__keyevent@0__:*")
    listener.get_message(timeout=1)
    r.execute_command("BF.RESERVE", "k", 0.01, 100)
    r.execute_command("BF.ADD", "k", "a")
    r.execute_command("BF.ADD", "k", "a")
    r.execute_command("BF.ADD", "other", "a")
    heard = []
    while message := listener.get_message(timeout=0.2):
        heard.append((message["channel"].decode().split(":")[1], message["data"]))
    expected = [
        ("bloom.reserve", b"k"), ("bloom.add", b"k"), ("bloom.reserve", b"other"), ("bloom.add", b"other"),
    ]
    assert [one for one in heard if one[0] != "new"] == expected
    r.config_set("notify-keyspace-events", "")


def test_watch_sees_changes_only(r):
    r.execute_command("BF.ADD", "k", "a")
    with r.pipeline() as pipe:
        pipe.watch("k")
        r.execute_command("BF.ADD", "k", "a")
        pipe.multi()
        pipe.ping()
        assert pipe.execute() == [True]
        pipe.watch("k")
        r.execute_command("BF.ADD", "k", "b")
        pipe.multi()
        pipe.ping()
        with pytest.raises(redis.WatchError):
            pipe.execute()


def test_transactions_and_scripts(r):
    with r.pipeline() as pipe:
        pipe.execute_command("BF.RESERVE", "k", 0.01, 20_000_000)
        pipe.execute_command("BF.ADD", "k", "a")
        assert pipe.execute() == [b"OK", 1]
    script = "redis.call('BF.RESERVE', 'l', 0.01, 20000000) return redis.call('BF.ADD', 'l', 'a')"
    assert r.eval(script, 0) == 1


def test_valkey_dialect(vb):
    assert raw(vb, "BF.ADD", "k", "a") == 1
    assert vb.type("k") == b"bloomfltr"
    info = raw(vb, "BF.INFO", "k")
    assert info[0::2] == [
        b"Capacity", b"Size", b"Number of filters", b"Number of items inserted", b"Expansion rate",
    ]
    assert raw(vb, "BF.INFO", "k", "CAPACITY") == info[1]
    assert 0 < info[3] < vb.memory_usage("k")
    assert raw(vb, "BF.MADD", "k", "a", "b") == [0, 1]
    vb.set("text", "x")
    for words, text in [
        (["BF.EXISTS", "text", "a"], WRONG_TYPE),
        (["BF.ADD", "text", "a"], WRONG_TYPE),
        (["BF.ADD", "k"], "ERR wrong number of arguments for 'BF.ADD' command"),
        (["BF.RESERVE", "k", 0.01, 10], "ERR item exists"),
        (["BF.RESERVE", "x", "y", 10], "ERR bad error rate"),
        (["BF.RESERVE", "x", 1, 10], "ERR (0 < error rate range < 1)"),
        (["BF.RESERVE", "x", 0.01, "y"], "ERR bad capacity"),
        (["BF.RESERVE", "x", 0.01, 0], "ERR (capacity should be larger than 0)"),
        (["BF.RESERVE", "x", 0.01, 10, "EXPANSION", 0], "ERR bad expansion"),
        (["BF.RESERVE", "x", 0.01, 10, "COLOUR"], "ERR unknown argument received"),
        (["BF.INSERT", "x", "COLOUR", "ITEMS", "a"], "ERR unknown argument received"),
        (["BF.INFO", "k", "COLOUR"], "ERR invalid information value"),
        (["BF.INFO", "none"], "ERR not found"),
        (["BF.LOAD", "k", "x"], "BUSYKEY Target key name already exists."),
        (["BF.LOAD", "x", "x"], "ERR bloom object decoding failed"),
    ]:
        assert error_of(vb, *words) == text, words
    assert raw(vb, "COMMAND", "INFO", "BF.ADD")[0][1] == -1
    assert b"fast" in raw(vb, "COMMAND", "INFO", "BF.ADD")[0][2]
    assert raw(vb, "BF.INSERT", "empty", "CAPACITY", 50) == []
    assert raw(vb, "BF.INFO", "empty", "CAPACITY") == 50
    assert raw(vb, "BF.INSERT", "to", "CAPACITY", 100, "VALIDATESCALETO", 10**6, "ITEMS", "a") == [1]
    for words, text in [
        (["VALIDATESCALETO", "x", "ITEMS", "a"], "ERR bad validate scale to value"),
        (["NONSCALING", "VALIDATESCALETO", 10**6, "ITEMS", "a"],
         "ERR cannot use NONSCALING and VALIDATESCALETO options together"),
    ]:
        assert error_of(vb, "BF.INSERT", "x", *words) == text
    text = error_of(vb, "BF.INSERT", "x", "VALIDATESCALETO", 10**11, "ITEMS", "a")
    assert "tamis.max-filter-bytes allows" in text
    vb3 = redis.Redis(port=vb.connection_pool.connection_kwargs["port"], protocol=3)
    assert raw(vb3, "BF.EXISTS", "k", "a") == 1 and raw(vb3, "BF.EXISTS", "k", "a") is not True
    assert isinstance(raw(vb3, "BF.INFO", "k"), list)


def test_load_arguments(start):
    with pytest.raises(RuntimeError, match="did not start"):
        start(dialect="klingon")


def test_settings(r):
    before = {name: value for name, value in r.config_get("tamis.*").items()}
    assert before["tamis.error-rate"] == "0.01" and before["tamis.capacity"] == "100"
    try:
        r.config_set("tamis.capacity", 500)
        r.config_set("tamis.error-rate", "0.001")
        r.config_set("tamis.expansion", 8)
        r.config_set("tamis.layout", "bloom")
        r.execute_command("BF.ADD", "k", "a")
        assert raw(r, "BF.INFO", "k")[1::8] == [500, 8]
        info = raw(r, "TAMIS.INFO", "k")
        info = dict(zip(info[::2], info[1::2]))
        assert info[b"kind"] == b"bloom" and info[b"rate"] == b"0.001"
        r.config_set("tamis.expansion", 0)
        r.execute_command("BF.ADD", "fixed", "a")
        assert raw(r, "BF.INFO", "fixed", "EXPANSION") == [None]
        r.config_set("tamis.max-filter-bytes", "1mb")
        text = error_of(r, "BF.RESERVE", "x", 0.01, 10_000_000)
        assert "tamis.max-filter-bytes allows 1048576" in text
        for name, value in [("error-rate", 0), ("error-rate", 1), ("error-rate", "x"), ("capacity", 0),
                            ("expansion", -1), ("expansion", 32769), ("layout", "round")]:
            with pytest.raises(redis.ResponseError):
                r.config_set("tamis." + name, value)
    finally:
        for name, value in before.items():
            r.config_set(name, value)
    assert r.config_get("tamis.*") == before
    report = r.info("tamis")
    assert report["tamis_dialect"] == "redisbloom" and report["tamis_values"] >= 2
