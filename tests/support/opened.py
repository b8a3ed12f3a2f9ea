"""Which files a piece of work opens: a count of its cost that no machine changes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

_listening: list[list[str]] = []
_hooks: list[object] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _listening and event == "open" and isinstance(arguments[0], str):
        for opened in _listening:
            opened.append(arguments[0])


@contextlib.contextmanager
def opened_below(folder: Path) -> Iterator[list[Path]]:
    """Collect the files below a folder that this process opens, once for each time.

    The list is whole when the context ends.
    """
    heard: list[str] = []
    found: list[Path] = []
    if _hear not in _hooks:
        # A hook stays until the process ends.
        _hooks.append(_hear)
        sys.addaudithook(_hear)
    _listening.append(heard)
    try:
        yield found
    finally:
        _listening.remove(heard)
        found += [Path(each) for each in heard if Path(each).is_relative_to(folder)]
