"""One value of each kind, and what it must answer wherever it goes."""

from conftest import raw

ITEMS = [f"item {i}" for i in range(300)]
STRANGERS = [f"stranger {i}" for i in range(2000)]


def make(client):
    """Makes one key of each kind, and returns their names."""
    run = client.execute_command
    run("BF.ADD", "bf:default", "a")
    run("BF.MADD", "bf:default", *ITEMS)
    run("BF.RESERVE", "bf:small", 0.001, 1000, "EXPANSION", 3, "SEED", 99)
    run("BF.MADD", "bf:small", *ITEMS)
    run("BF.RESERVE", "bf:fixed", 0.01, 400, "NONSCALING", "LAYOUT", "bloom")
    run("BF.MADD", "bf:fixed", *ITEMS)
    run("BF.RESERVE", "bf:outgrown", 0.01, 100, "LAYOUT", "split")
    run("BF.MADD", "bf:outgrown", *ITEMS)
    run("BF.RESERVE", "bf:large", 0.01, 100_000)
    run("BF.MADD", "bf:large", *ITEMS)
    run("CF.INSERT", "cf:default", "CAPACITY", 100, "ITEMS", *ITEMS, *ITEMS[:50])
    run("CF.DEL", "cf:default", ITEMS[0])
    run("CF.RESERVE", "cf:shaped", 1000, "BUCKETSIZE", 4, "MAXITERATIONS", 30, "EXPANSION", 2)
    run("CF.ADD", "cf:shaped", "a")
    run("TAMIS.RESERVE", "tamis:counting", "COUNTING", 0.01, 1000)
    run("TAMIS.ADD", "tamis:counting", *ITEMS)
    run("TAMIS.ZONE.RESERVE", "tamis:zone", "UNIVERSE", 10_000, "ITEMS", 20, "COUNTING")
    run("TAMIS.ZONE.ADD", "tamis:zone", 5, 77, 4242)
    run("TAMIS.RESERVE", "tamis:rolling", "ROLLING", 0.01, 100)
    run("TAMIS.ADD", "tamis:rolling", *ITEMS)
    run("TAMIS.RESERVE", "tamis:daily", "ROLLING", 0.01, 1000, "SECONDS", 86_400)
    run("TAMIS.ADD", "tamis:daily", *ITEMS[:99])
    run("SADD", "plain:set", *ITEMS)
    run("TAMIS.LEDGER", "tamis:ledger", "BUDGET", 5)
    run("TAMIS.PUBLISH", "tamis:release", "FROM", "plain:set", "ITEMS", 300, "EPSILON", 2, "LEDGER", "tamis:ledger")
    # One that has not arrived yet.
    _, preamble = raw(client, "BF.SCANDUMP", "bf:fixed", 0)
    end, stream = raw(client, "BF.SCANDUMP", "bf:fixed", 1)
    run("BF.LOADCHUNK", "bf:arriving", 1, preamble)
    run("BF.LOADCHUNK", "bf:arriving", 101, stream[:100])
    return [name.decode() for name in sorted(client.keys("*:*"))]


def answers(client, names):
    """Everything that the keys answer."""
    everything = {}
    for name in names:
        found = [client.type(name), client.execute_command("DEBUG", "DIGEST-VALUE", name)]
        if name == "bf:arriving":
            found.append(str(raw(client, "BF.EXISTS", name, "a")))
        elif name.startswith("bf:"):
            found += [raw(client, "BF.INFO", name), raw(client, "BF.CARD", name)]
            found.append(raw(client, "BF.MEXISTS", name, *ITEMS, *STRANGERS))
        elif name.startswith("cf:"):
            found.append(raw(client, "CF.INFO", name))
            found.append(raw(client, "CF.MEXISTS", name, *ITEMS, *STRANGERS))
            found.append([raw(client, "CF.COUNT", name, item) for item in ITEMS[:60]])
        elif name == "tamis:zone":
            found += [raw(client, "TAMIS.INFO", name), raw(client, "TAMIS.ZONE.LIST", name)]
        elif name == "tamis:ledger":
            found.append(raw(client, "TAMIS.INFO", name))
        elif name.startswith("tamis:"):
            found.append(raw(client, "TAMIS.INFO", name))
            found.append(raw(client, "TAMIS.EXISTS", name, *ITEMS, *STRANGERS))
        # The server's own share of it differs.
        assert client.memory_usage(name) > 0
        everything[name] = found
    return everything
