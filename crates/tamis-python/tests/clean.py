"""What a user does first, with nothing else installed. Run by scripts/test-python."""

import os
import pickle
import sys
import tempfile
import threading

import tamis

for library in ("numpy", "pyarrow", "pandas", "polars", "duckdb", "tqdm"):
    assert library not in sys.modules, f"import tamis imported {library}"

seen = tamis.Bloom(10_000, 0.01)
seen.update(["ant", "bee", 7])
assert "ant" in seen and 7.0 in seen and "cat" not in seen
assert seen.contains_many(["ant", "cat"]) == [True, False]
assert pickle.loads(pickle.dumps(seen)) == seen

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "seen.tamis")
    seen.save(path)
    with tamis.open(path) as opened:
        assert "bee" in opened and opened == seen

zone = tamis.ZoneFilter("ipv4", 4)
zone.add("10.0.0.1")
assert zone.list() == ["10.0.0.1"]
assert tamis.publish(["ant"], tamis.plan_privacy(100, 4)).promise == "privacy"

# Without a global lock the interpreter runs these at the same time.
shared = tamis.Bloom(100_000, 0.001)


def work(part: int) -> None:
    for key in range(part, 20_000, 4):
        shared.add(key)
        assert key in shared
    shared.insert_many(list(range(20_000 + part, 40_000, 4)))
    assert all(shared.contains_many(list(range(20_000 + part, 40_000, 4))))


threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(shared.contains_many(list(range(40_000))))
unlocked = not getattr(sys, "_is_gil_enabled", lambda: True)()
print(f"tamis {tamis.__version__} works in Python {sys.version.split()[0]}, without a global lock: {unlocked}")
