"""A citizen of the server: the nine ways to persist and copy, clusters, crashes."""

import threading
import time

import pytest
import redis
from conftest import free_port, raw
from values import ITEMS, answers, make


@pytest.fixture
def filled(start):
    server = start()
    client = server.client()
    names = make(client)
    assert len(names) == 15
    return server, client, names, answers(client, names)


def test_save_and_restart(filled):
    server, client, names, before = filled
    client.save()
    server.kill()
    server.start()
    assert answers(server.client(), names) == before


def test_reload(filled):
    _, client, names, before = filled
    client.execute_command("DEBUG", "RELOAD")
    assert answers(client, names) == before


def test_dump_and_restore(filled):
    _, client, names, before = filled
    payloads = {name: client.dump(name) for name in names}
    client.flushall()
    for name, payload in payloads.items():
        client.restore(name, 0, payload)
    assert answers(client, names) == before


def test_copy(filled):
    _, client, names, before = filled
    for name in names:
        assert client.copy(name, "copy")
        client.delete(name)
        client.rename("copy", name)
    assert answers(client, names) == before


@pytest.mark.parametrize("rewrite", ["none", "preamble", "commands"])
def test_append_only_file(start, rewrite):
    preamble = "no" if rewrite == "commands" else "yes"
    options = ["--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble]
    server = start(*options)
    client = server.client()
    names = make(client)
    before = answers(client, names)
    if rewrite != "none":
        client.bgrewriteaof()
        while client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.02)
        assert client.info("persistence")["aof_last_bgrewrite_status"] == "ok"
    server.kill()
    server.start()
    client = server.client()
    assert answers(client, names) == before
    # What was still arriving can go on.
    _, stream = raw(client, "BF.SCANDUMP", "bf:fixed", 1)
    assert raw(client, "BF.LOADCHUNK", "bf:arriving", 1 + len(stream), stream[100:]) == b"OK"
    assert raw(client, "BF.INFO", "bf:arriving") == raw(client, "BF.INFO", "bf:fixed")


def wait_for_replica(master, replica):
    deadline = time.time() + 30
    while time.time() < deadline:
        info = replica.info("replication")
        if info["master_link_status"] == "up" and info["slave_repl_offset"] == master.info("replication")["master_repl_offset"]:
            return
        time.sleep(0.05)
    raise AssertionError("the replica did not follow")


@pytest.mark.parametrize("when", ["before", "after"])
def test_replica(start, when):
    """A replica with other defaults and smaller limits answers the same, whether it gets the
    commands or the whole file."""
    master, replica = start(), start()
    theirs = replica.client()
    for name, value in [("capacity", 7), ("error-rate", 0.2), ("expansion", 5), ("layout", "split"),
                        ("max-filter-bytes", 1024), ("cuckoo-capacity", 9)]:
        theirs.config_set("tamis." + name, value)
    ours = master.client()
    follow = lambda: theirs.execute_command("REPLICAOF", "127.0.0.1", master.port)
    if when == "before":
        follow()
        wait_for_replica(ours, theirs)
    names = make(ours)
    ours.config_set("tamis.max-filter-bytes", 2000)
    ours.execute_command("BF.RESERVE", "bf:limited", 0.01, 100)
    done = raw(ours, "BF.MADD", "bf:limited", *range(3000))
    assert len(done) < 3000 and "max" not in str(done[0])
    names.append("bf:limited")
    if when == "after":
        follow()
    wait_for_replica(ours, theirs)
    assert answers(theirs, names) == answers(ours, names)
    # What adds nothing is not sent.
    before = ours.info("replication")["master_repl_offset"]
    for _ in range(100):
        raw(ours, "BF.ADD", "bf:default", ITEMS[0])
    assert ours.info("replication")["master_repl_offset"] - before < 100


def test_kill_in_the_middle_of_writes(start):
    server = start("--appendonly", "yes", "--appendfsync", "always")
    acknowledged = []

    def write():
        client = server.client()
        try:
            for number in range(10**6):
                client.execute_command("BF.ADD", "k", f"item {number}")
                client.execute_command("CF.ADD", "c", f"item {number}")
                acknowledged.append(number)
        except redis.ConnectionError:
            pass

    writer = threading.Thread(target=write)
    writer.start()
    while len(acknowledged) < 300:
        time.sleep(0.01)
    server.kill()
    writer.join()
    server.start()
    client = server.client()
    items = [f"item {number}" for number in acknowledged]
    assert all(raw(client, "BF.MEXISTS", "k", *items))
    assert all(raw(client, "CF.MEXISTS", "c", *items))


def test_cluster_with_a_slot_moved(start):
    ports = [free_port() for _ in range(3)]
    nodes = [start("--cluster-enabled", "yes", "--cluster-node-timeout", "5000", port=port) for port in ports]
    clients = [node.client() for node in nodes]
    for index, client in enumerate(clients):
        first, last = index * 5461, min(16383, index * 5461 + 5460) if index < 2 else 16383
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
    for client in clients[1:]:
        client.execute_command("CLUSTER", "MEET", "127.0.0.1", ports[0])
    deadline = time.time() + 60
    known = lambda client: raw(client, "CLUSTER", "INFO")
    ready = lambda client: b"cluster_state:ok" in known(client) and b"cluster_known_nodes:3" in known(client)
    while not all(ready(client) for client in clients):
        assert time.time() < deadline, known(clients[0])
        time.sleep(0.1)
    identities = [raw(client, "CLUSTER", "MYID") for client in clients]
    keys = ["{tag}:bf", "{tag}:large", "{tag}:cf"]
    slot = raw(clients[0], "CLUSTER", "KEYSLOT", keys[0])
    owner = min(slot // 5461, 2)
    target = (owner + 1) % 3
    source, other = clients[owner], clients[target]
    source.execute_command("BF.MADD", keys[0], *ITEMS)
    source.execute_command("BF.RESERVE", keys[1], 0.01, 1_000_000)
    source.execute_command("BF.MADD", keys[1], *ITEMS)
    source.execute_command("CF.INSERT", keys[2], "ITEMS", *ITEMS)
    before = [raw(source, "BF.INFO", keys[0]), raw(source, "BF.INFO", keys[1]), raw(source, "CF.INFO", keys[2])]
    other.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", identities[owner])
    source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", identities[target])
    found = raw(source, "CLUSTER", "GETKEYSINSLOT", slot, 10)
    assert sorted(found) == sorted(key.encode() for key in keys)
    assert raw(source, "MIGRATE", "127.0.0.1", ports[target], "", 0, 10_000, "KEYS", *found) == b"OK"
    for client in clients:
        client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", identities[target])
    after = [raw(other, "BF.INFO", keys[0]), raw(other, "BF.INFO", keys[1]), raw(other, "CF.INFO", keys[2])]
    assert after == before
    for key in keys[:2]:
        assert all(raw(other, "BF.MEXISTS", key, *ITEMS))
    assert isinstance(raw(source, "BF.EXISTS", keys[0], "a"), redis.exceptions.MovedError)


def test_memory_is_the_server_s(r):
    before = r.info("memory")["used_memory"]
    r.execute_command("BF.RESERVE", "k", 0.01, 50_000_000)
    size = raw(r, "BF.INFO", "k", "SIZE")[0]
    assert 0 <= r.memory_usage("k") - size < 2000
    # The server frees other things meanwhile, some kilobytes.
    assert r.info("memory")["used_memory"] - before >= size - 1_000_000
    r.execute_command("UNLINK", "k")
    deadline = time.time() + 10
    while r.info("memory")["used_memory"] - before > size / 2:
        assert time.time() < deadline
        time.sleep(0.02)


def test_active_defragmentation(r):
    try:
        r.config_set("activedefrag", "yes")
    except redis.ResponseError:
        pytest.skip("this server was built without defragmentation")
    try:
        for name, value in [("active-defrag-ignore-bytes", 1), ("active-defrag-threshold-lower", 0),
                            ("active-defrag-cycle-min", 50), ("active-defrag-cycle-max", 90)]:
            r.config_set(name, value)
        for number in range(20_000):
            r.execute_command("BF.MADD", f"k{number}", *ITEMS[:20])
        r.delete(*(f"k{number}" for number in range(20_000) if number % 8))
        deadline = time.time() + 5
        while time.time() < deadline and not r.info("stats")["active_defrag_key_hits"]:
            time.sleep(0.05)
        for number in range(0, 20_000, 8):
            assert all(raw(r, "BF.MEXISTS", f"k{number}", *ITEMS[:20]))
            assert raw(r, "BF.ADD", f"k{number}", "one more") == 1
    finally:
        r.config_set("activedefrag", "no")
