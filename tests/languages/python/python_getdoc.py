"""Print ``inspect.getdoc`` of the paths on standard input; run by the environment that has them."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from contextlib import suppress


def _documented(path: str) -> str | None:
    """Return what is said of a path at run time; None where it cannot be reached."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        # Importing a package may raise anything; so may its properties.
        with suppress(Exception):
            found = importlib.import_module(".".join(parts[:end]))
            for name in parts[end:]:
                found = getattr(found, name)
            text = inspect.getdoc(found)
            return text if isinstance(text, str) else ""
    return None


warnings.simplefilter("ignore")
print(json.dumps({path: _documented(path) for path in json.load(sys.stdin)}), file=sys.__stdout__)
