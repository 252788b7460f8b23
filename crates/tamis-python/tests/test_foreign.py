"""Files of other programs, as they were written by them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

import tamis

FIXTURES = Path(__file__).parent / "../../tamis-foreign/tests/fixtures"


def keys(said: dict) -> list:
    found = list(said.get("list", []))
    for part in said.get("ranges", []):
        numbers = range(part["from"], part["to"] + 1, part.get("step", 1))
        pattern = part.get("format") or part.get("pattern")
        found += [number if pattern is None else pattern % number for number in numbers]
    return found


@pytest.mark.parametrize("name", ["guava_m64_i64", "spark_v1_i64"])
def test_integers(name) -> None:
    said = json.loads((FIXTURES / f"{name}.json").read_text())
    members, strangers = keys(said["inserted"]), keys(said["strangers"])
    with tamis.open(FIXTURES / said["file"], format=said["format"]) as opened:
        assert isinstance(opened, tamis.ForeignFilter) and opened.format == said["format"]
        assert all(opened.contains_many(members))
        passed = [key for key in strangers if key in opened]
        assert sorted(passed) == sorted(said["stranger_yes"])
        assert opened.save_bytes() == (FIXTURES / said["file"]).read_bytes()
        assert 0 < opened.fill < 1 and 0 < opened.expected_fpr < 1 and opened.size_in_bits > 0
        assert opened.approx_items == pytest.approx(len(set(members)), rel=0.1)
        with pytest.raises(TypeError):
            object() in opened
    assert "closed" in repr(opened)
    with pytest.raises(tamis.ClosedError):
        1 in opened


def test_guava_is_known_by_its_shape() -> None:
    with tamis.open(FIXTURES / "guava_m64_i64.bin") as opened:
        assert opened.format == "guava" and 7 in opened


def test_rbloom(tmp_path) -> None:
    rbloom = pytest.importorskip("rbloom")

    def own(obj: object) -> int:
        return int.from_bytes(sha256(repr(obj).encode()).digest()[:16], "big", signed=True)

    made = rbloom.Bloom(1000, 0.001, own)
    made.update(range(1000))
    made.save(str(tmp_path / "file"))
    with tamis.open(tmp_path / "file", own, format="rbloom") as opened:
        assert all(opened.contains_many(range(1000)))
        strangers = range(1000, 20_000)
        assert opened.contains_many(strangers) == [key in made for key in strangers]
    with tamis.open(tmp_path / "file", format="rbloom") as opened:
        with pytest.raises(TypeError, match="hash function"):
            7 in opened


def test_wrong_formats() -> None:
    with pytest.raises(ValueError, match="there are"):
        tamis.open(FIXTURES / "guava_m64_i64.bin", format="none")
    with pytest.raises(tamis.FileError):
        tamis.open(FIXTURES / "guava_m64_i64.bin", format="spark")
    with pytest.raises(FileNotFoundError):
        tamis.open(FIXTURES / "none.bin", format="guava")
    with pytest.raises(tamis.OutOfMemoryError):
        tamis.open(FIXTURES / "guava_m64_i64.bin", format="guava", max_memory=10)
