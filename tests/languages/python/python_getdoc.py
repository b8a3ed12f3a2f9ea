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
            return text if isinstance(text, str) and not _is_of_python(found) else ""
    return None


def _is_of_python(found: object) -> bool:
    """Return whether what is said of a class is said of one of Python's own that it inherits."""
    if not isinstance(found, type):
        return False
    said = next((each for each in found.__mro__ if each.__dict__.get("__doc__") is not None), found)
    return said is not found and said.__module__.partition(".")[0] in sys.stdlib_module_names


warnings.simplefilter("ignore")
print(json.dumps({path: _documented(path) for path in json.load(sys.stdin)}), file=sys.__stdout__)
