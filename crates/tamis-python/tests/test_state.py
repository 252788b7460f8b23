"""Copies, pickles, files, threads, signals."""

from __future__ import annotations

import copy
import gc
import itertools
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import tamis
from tamis import Bloom


def samples() -> list[tamis.Filter]:
    words = ["ant", "bee", "cat"]
    zone = tamis.ZoneFilter(["ant", "bee", "cat", "dog"], 3)
    counting = tamis.CountingZoneFilter("ipv4", 4)
    counting.add("10.0.0.1")
    rate = [
        tamis.Bloom(100, 0.001),
        tamis.BlockedBloom(100, 0.001),
        tamis.SplitBloom(100, 0.001),
        tamis.CountingBloom(100, 0.001),
        tamis.QuotientFilter(100, 0.001),
        tamis.ScalableBloom(100, 0.001),
        zone,
    ]
    for one in rate:
        one.update(words)
    published = [
        tamis.publish(words, tamis.plan_privacy(100, 4, method=method)) for method in ("linear", "bloom")
    ]
    return [*rate, counting, tamis.StaticFilter(words, 0.001), *published]


@pytest.fixture(params=samples(), ids=lambda made: type(made).__name__)
def sample(request: pytest.FixtureRequest) -> tamis.Filter:
    found: tamis.Filter = request.param
    return found


def test_copies_and_pickles(sample) -> None:
    for twin in (
        sample.copy(),
        copy.copy(sample),
        copy.deepcopy(sample),
        *(pickle.loads(pickle.dumps(sample, protocol)) for protocol in range(2, 6)),
    ):
        assert type(twin) is type(sample) and twin == sample and twin is not sample
        assert twin.save_bytes() == sample.save_bytes()


def test_pickles_keep_the_hash_function() -> None:
    bf = Bloom(100, 0.001, len)
    bf.add("abc")
    again = pickle.loads(pickle.dumps(bf))
    assert again.hash_func is len and "xyz" in again and "four" not in again


def test_sizes(sample) -> None:
    assert sys.getsizeof(sample) > sample.size_in_bits // 8
    assert sys.getsizeof(Bloom(10**6, 0.01)) > 10**6


def test_weak_references(sample) -> None:
    twin = sample.copy()
    gone = weakref.ref(twin)
    assert gone() is twin
    del twin
    gc.collect()
    assert gone() is None


def test_files(sample, tmp_path) -> None:
    dictionary = ["ant", "bee", "cat", "dog"] if isinstance(sample, tamis.ZoneFilter) else None
    path = tmp_path / "filter.tamis"
    sample.save(path)
    assert path.stat().st_size == sample.file_bytes
    for options in ({}, {"verify": True}, {"mmap": False}):
        with tamis.open(path, dictionary=dictionary, **options) as opened:
            assert type(opened) is type(sample) and opened == sample
            assert not opened.closed
        assert opened.closed and "closed" in repr(opened)
        with pytest.raises(tamis.ClosedError, match="closed"):
            "ant" in opened
        with pytest.raises(ValueError):
            opened.save_bytes()
        with pytest.raises(ValueError):
            opened.contains_many(["ant"])
        with pytest.raises(ValueError):
            opened == sample
        opened.close()
    with pytest.raises(tamis.OutOfMemoryError):
        tamis.open(path, dictionary=dictionary, max_memory=0)
    twin = type(sample).load(path, dictionary=dictionary)
    assert twin == sample
    other = tamis.Bloom if not isinstance(sample, tamis.Bloom) else tamis.BlockedBloom
    with pytest.raises(tamis.FileError, match="tamis.open"):
        other.load(path, dictionary=dictionary)


def test_files_that_are_none(tmp_path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        tamis.open(tmp_path / "none")
    assert error.value.filename == tmp_path / "none"
    (tmp_path / "text").write_text("nothing of the kind")
    with pytest.raises(tamis.FileError, match="text: "):
        tamis.open(tmp_path / "text")
    with pytest.raises(OSError):
        tamis.open(tmp_path)
    with pytest.raises(OSError):
        Bloom(10, 0.1).save(tmp_path / "no folder" / "file")
    for wrong in (7, None, 1.5):
        with pytest.raises(TypeError):
            tamis.open(wrong)


def test_a_mapped_filter_can_be_changed_and_saved_over_its_file(tmp_path) -> None:
    path = tmp_path / "filter.tamis"
    first = Bloom(1000, 0.001)
    first.add("first")
    first.save(path)
    with tamis.open(path) as opened:
        opened.add("second")
        assert "second" not in Bloom.load(path)
        opened.save(path)
        assert "second" in opened
    assert "second" in Bloom.load(path)


def test_saving_is_whole_or_not_at_all(tmp_path) -> None:
    path = tmp_path / "filter.tamis"
    Bloom(1000, 0.001).save(path)
    before = path.read_bytes()
    bad = Bloom(1000, 0.001)
    bad.add(object())
    with pytest.raises(tamis.HashedKeysError):
        bad.save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["filter.tamis"]


def test_digests_without_their_function_are_warned_of() -> None:
    bf = Bloom(100, 0.001, len)
    bf.add("abc")
    with pytest.warns(UserWarning, match="hash_func"):
        Bloom.load_bytes(bf.save_bytes())


def ask(arguments: tuple[tamis.Filter, str]) -> bool:
    return arguments[1] in arguments[0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(method) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    bf = Bloom(1000, 1e-6)
    bf.update(["ant", "bee"])
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(ask, [(bf, "ant"), (bf, "cat"), (bf, "bee")]) == [True, False, True]


def in_threads(count, work) -> None:
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, number) for number in range(count)]:
            done.result(timeout=120)


def test_threads_insert_and_ask(empty) -> None:
    made = type(empty)
    shared = made(50_000, 1e-4)

    def work(number: int) -> None:
        mine = list(range(number, 40_000, 4))
        for key in mine[:2000]:
            shared.add(key)
            assert key in shared
        shared.update(iter(mine[2000:4000]))
        shared.insert_many(mine[4000:])
        assert all(shared.contains_many(mine))

    in_threads(4, work)
    assert all(shared.contains_many(range(40_000)))
    if made in (tamis.Bloom, tamis.BlockedBloom, tamis.SplitBloom):
        alone = made(50_000, 1e-4)
        alone.insert_many(range(40_000))
        assert alone == shared


def test_threads_with_columns() -> None:
    np = pytest.importorskip("numpy")
    shared, alone = Bloom(2_000_000, 0.01), Bloom(2_000_000, 0.01)
    numbers = np.arange(2_000_000)

    def work(number: int) -> None:
        shared.insert_many(numbers[number::4])
        for key in range(number, 4000, 4):
            assert key in shared
        assert shared.contains_many(numbers[number::4]).all()

    in_threads(4, work)
    alone.insert_many(numbers)
    assert shared == alone


@pytest.mark.parametrize("layout", ["bloom", "blocked", "split"])
def test_threads_fill_a_concurrent_filter(layout) -> None:
    shared = tamis.ConcurrentBloom(200_000, 0.001, filter=layout)

    def work(number: int) -> None:
        mine = range(number, 200_000, 4)
        shared.insert_many(mine)
        assert all(shared.contains_many(mine))
        shared.add(number)
        assert number in shared

    in_threads(4, work)
    alone = tamis.plan_rate(200_000, 0.001, filter=layout).build()
    alone.insert_many(range(200_000))
    assert shared.snapshot() == alone
    assert 0.3 < shared.fill < 0.6 and sys.getsizeof(shared) > shared.size_in_bits // 8
    with pytest.raises(tamis.UnsupportedError):
        pickle.dumps(shared)
    with pytest.raises(ValueError):
        tamis.ConcurrentBloom(10, 0.1, filter="counting")


def test_merging_in_two_directions_does_not_lock_up() -> None:
    left, right = Bloom(10_000, 0.01), Bloom(10_000, 0.01)
    left.update(range(1000))
    right.update(range(1000, 2000))

    def work(number: int) -> None:
        a, b = (left, right) if number % 2 else (right, left)
        for _ in range(300):
            a |= b
            assert a >= a.copy() and (a == b or True)
            a.update([random.random()])

    in_threads(4, work)
    left |= right
    assert all(left.contains_many(range(2000)))


def test_closing_while_others_ask() -> None:
    for _ in range(20):
        bf = Bloom(1000, 0.01)
        bf.update(range(1000))

        def work(number: int, bf: Bloom = bf) -> None:
            if number == 0:
                time.sleep(0.001)
                bf.close()
                return
            try:
                for _ in range(200):
                    assert all(bf.contains_many(range(100)))
            except tamis.ClosedError:
                pass

        in_threads(3, work)


def test_a_generator_in_two_threads() -> None:
    bf = Bloom(10_000, 0.001)

    def slowly(start: int):
        for key in range(start, start + 500):
            time.sleep(0)
            yield key

    in_threads(2, lambda number: bf.update(slowly(1000 * number)))
    assert all(bf.contains_many([*range(500), *range(1000, 1500)]))


def interrupted(work) -> float:
    """Sends a signal after 0.2 seconds of the processor, which raises KeyboardInterrupt as Ctrl-C
    does; says how long it took to be heard. Other programs do not count in this time."""
    before = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - start - 0.2


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_is_heard() -> None:
    bf = Bloom(10**6, 0.01)
    assert interrupted(lambda: bf.update(itertools.count())) < 1
    assert interrupted(lambda: bf.contains_many(itertools.count())) < 1
    assert interrupted(lambda: tamis.StaticFilter(itertools.count(), 0.01)) < 1
    assert 0 in bf


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_is_heard_in_columns() -> None:
    np = pytest.importorskip("numpy")
    numbers = np.arange(20_000_000)
    bf = Bloom(10**6, 0.01)

    def work() -> None:
        while True:
            bf.insert_many(numbers)

    assert interrupted(work) < 1


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_other_threads_get_their_turn() -> None:
    """An iterator without Python code does not keep other threads from running."""

    def late(*_: object) -> None:
        raise TimeoutError("the other thread did not run within a minute")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 60)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            Bloom(10**6, 0.01).update(itertools.count())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_progress() -> None:
    told: list[tuple[int, int | None]] = []
    bf = Bloom(10_000, 0.01)
    bf.insert_many(range(5000), progress=lambda done, total: told.append((done, total)))
    assert told and told[-1][1] == 5000 and [done for done, _ in told] == sorted(done for done, _ in told)
    told.clear()
    bf.contains_many(iter(range(5000)), progress=lambda done, total: told.append((done, total)))
    assert told and told[0][1] is None
    bf.insert_many(range(10), progress=True)

    def stop(done: int, total: int | None) -> None:
        raise LookupError("own")

    with pytest.raises(LookupError, match="own"):
        bf.insert_many(range(5000), progress=stop)


def test_import_is_quick_and_alone() -> None:
    program = "import sys, tamis; print([name for name in ('numpy', 'pyarrow', 'pandas', 'polars', 'duckdb', 'tqdm', 'decimal', 'uuid') if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert printed.stdout.strip() == "[]"
