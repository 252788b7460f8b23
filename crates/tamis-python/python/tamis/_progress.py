"""How a long call tells how far it has come."""

from __future__ import annotations

from typing import Any, Callable


class _Call:
    """Calls a function with the keys done and their number, if that is known."""

    def __init__(self, function: Callable[[int, int | None], object], total: int | None) -> None:
        self._function = function
        self._total = total

    def __call__(self, done: int) -> None:
        self._function(done, self._total)

    def close(self) -> None:
        pass


class _Bar:
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, done: int) -> None:
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def meter(progress: Any, total: int | None) -> Any:
    """What `progress=` stands for: nothing, a function, or True for a bar if tqdm is there."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return _Call(progress, total)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bar(tqdm(total=total, unit="keys", unit_scale=True))
