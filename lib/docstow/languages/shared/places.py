"""Where files of a project are, as messages and answers say it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from docstow.languages.shared.sandbox import Boundary


def shown(place: Path, boundary: Boundary) -> str:
    """Return a place relative to the root; absolute where it is elsewhere."""
    try:
        return place.relative_to(boundary.root).as_posix()
    except ValueError:
        return place.as_posix()


def first_folder(places: Iterable[Path]) -> Path | None:
    """Return the first place that is a folder; None where there is none."""
    with contextlib.suppress(OSError):
        return next((each for each in places if each.is_dir()), None)
    return None
