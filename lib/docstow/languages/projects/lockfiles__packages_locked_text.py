"""Which lock file a text is, where nobody says its name.

This room knows what each form begins with or must have. It opens no files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from docstow.core.errors import InvalidParameter
from docstow.languages.python import lockfiles as locked_python
from docstow.languages.python.lockfiles import Locked
from docstow.languages.typescript import lockfiles as locked_node

_YARN = re.compile(r"^# yarn lockfile|^__metadata:", re.MULTILINE)
_PNPM = re.compile(r"^lockfileVersion:", re.MULTILINE)
_ADVICE = (
    "is no lock file that is known; send the whole text of uv.lock, poetry.lock, pdm.lock, "
    "pylock.toml, Pipfile.lock, requirements.txt, package-lock.json, pnpm-lock.yaml, yarn.lock or "
    "bun.lock"
)


def read(text: str, ecosystem: str) -> list[Locked]:
    """The packages of a lock file.

    Args:
        text: the whole file.
        ecosystem: ``python`` or ``node``.

    Raises:
        InvalidParameter: it is none of that ecosystem's.
    """
    for form in _python(text) if ecosystem == "python" else _node(text):
        try:
            found = form(text)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if found:
            return found
    raise InvalidParameter("lockfile", _ADVICE)


def _python(text: str) -> Iterator[Callable[[str], list[Any]]]:
    if text.lstrip().startswith("{"):
        yield locked_python.pipenv
    elif re.search(r"^\[\[packages\]\]", text, re.MULTILINE):
        yield locked_python.pylock
    elif re.search(r"^\[\[package\]\]", text, re.MULTILINE):
        # What uv writes names each package's source in a table; the others do not.
        marked = re.search(r"^source = \{", text, re.MULTILINE)
        yield locked_python.uv if marked else locked_python.poetry
    else:
        yield locked_python.requirements


def _node(text: str) -> Iterator[Callable[[str], list[Any]]]:
    if text.lstrip().startswith("{"):
        yield locked_node.npm
        yield locked_node.bun
    elif _YARN.search(text):
        yield locked_node.yarn
    elif _PNPM.search(text):
        yield locked_node.pnpm
