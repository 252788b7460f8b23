"""Examples, types, exceptions, notebooks."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

import tamis

FOLDER = Path(__file__).parent


def documented() -> list[tuple[str, str]]:
    """Everything with an example, by name."""
    found = [("tamis", tamis.__doc__ or "")]
    for name in tamis.__all__:
        thing = getattr(tamis, name)
        found.append((name, inspect.getdoc(thing) or ""))
        if inspect.isclass(thing):
            for member in vars(thing).values():
                title = f"{name}.{getattr(member, '__name__', '')}"
                found.append((title, getattr(member, "__doc__", None) or ""))
    return [(name, text) for name, text in found if ">>>" in text]


@pytest.mark.parametrize(("name", "text"), documented(), ids=lambda value: value[:20])
def test_examples_in_docstrings(name, text) -> None:
    run_examples(name, text)


def run_examples(name: str, text: str) -> None:
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {}, name, None, None)
    assert test.examples
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.failed == 0


def test_there_are_examples() -> None:
    assert len(documented()) >= 15


@pytest.mark.parametrize("library", ["polars", "pandas", "duckdb"])
def test_examples_with_other_libraries(library) -> None:
    pytest.importorskip(library)
    pytest.importorskip("pyarrow")
    module = importlib.import_module(f"tamis.{library}")
    run_examples(library, module.__doc__ or "")


def test_everything_public_is_documented() -> None:
    for name in tamis.__all__:
        thing = getattr(tamis, name)
        if inspect.isclass(thing):
            assert thing.__doc__, name
            assert thing.__module__ == "tamis", name
            for title, member in vars(thing).items():
                if not title.startswith("_"):
                    assert getattr(member, "__doc__", None), f"{name}.{title}"
        elif callable(thing):
            assert thing.__doc__, name


def test_signatures() -> None:
    assert str(inspect.signature(tamis.Bloom)) == (
        "(expected_items, false_positive_rate, hash_func=None, *, seed=None, key=None)"
    )
    assert str(inspect.signature(tamis.Bloom.add)) == "(self, obj, /)"
    assert tamis.__version__.count(".") == 2


def test_the_stubs_name_what_there_is() -> None:
    stubs = (Path(tamis.__file__).parent / "_tamis.pyi").read_text()
    for name in tamis.__all__:
        if name.endswith("Error"):
            continue
        assert f"class {name}" in stubs or f"def {name}(" in stubs or f"{name}: " in stubs, name
        thing = getattr(tamis, name)
        if inspect.isclass(thing):
            for title in vars(thing):
                if not title.startswith("_"):
                    assert f"def {title}(" in stubs, f"{name}.{title}"
    assert (Path(tamis.__file__).parent / "py.typed").exists()


def test_types(tmp_path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path)]
    checked = subprocess.run([*command, str(FOLDER / "example.py")], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import tamis\ntamis.Bloom('7', 0.1)\ntamis.Bloom(7, 0.1).add()\n")
    checked = subprocess.run([*command, str(wrong)], capture_output=True, text=True)
    assert checked.stdout.count("error:") == 2, checked.stdout
    subprocess.run([sys.executable, str(FOLDER / "example.py")], check=True)


def test_errors_are_one_family() -> None:
    errors = [getattr(tamis, name) for name in tamis.__all__ if name.endswith("Error")]
    assert len(errors) > 10
    for error in errors:
        assert issubclass(error, tamis.Error) and error.__module__ == "tamis"
    assert issubclass(tamis.PlanError, ValueError) and issubclass(tamis.AbsentError, KeyError)
    assert issubclass(tamis.OutOfMemoryError, MemoryError)
    with pytest.raises(tamis.Error, match="nearest feasible rate is 1e-15"):
        tamis.Bloom(10, 0)


@pytest.mark.parametrize("name", ["Bloom", "BlockedBloom", "CountingBloom", "QuotientFilter", "ScalableBloom"])
def test_notebooks(name) -> None:
    made = getattr(tamis, name)(1000, 0.01)
    made.update(range(500))
    page = made._repr_html_()
    assert f"tamis.{name}" in page and "members pass" in page and "within" in page
    xml.etree.ElementTree.fromstring(page)


def test_notebooks_of_other_promises() -> None:
    zone = tamis.ZoneFilter(range(1, 49), 3)
    zone.update([3, 11])
    for made in (zone, tamis.publish(["ant"], tamis.plan_privacy(100, 4)), tamis.StaticFilter(["a"], 0.01)):
        page = made._repr_html_()
        assert "<svg" in page and "<script" not in page
        xml.etree.ElementTree.fromstring(page)


def test_the_page_of_the_book() -> None:
    for library in ("pyarrow", "polars", "duckdb", "pandas"):
        pytest.importorskip(library)
    page = (FOLDER / "../../../docs/src/python.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) >= 5
    run_examples("python.md", "\n".join(blocks))
