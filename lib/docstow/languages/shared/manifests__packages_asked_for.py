"""What all manifests of a project ask for together.

This room reads manifests. It does not know their texts (:mod:`docstow.languages.shared.manifests`).
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError, Forbidden
from docstow.languages.shared import manifests as wanted
from docstow.languages.shared.places import is_requirements, shown
from docstow.languages.shared.project import Problem
from docstow.languages.shared.sandbox import Boundary, is_binary
from docstow.languages.shared.scan_cache import Memory

_LARGEST = 16 * 1024 * 1024
#: What readers of texts raise where a text is not what its name says.
UNREADABLE = (ValueError, TypeError, AttributeError, KeyError, RecursionError)


@dataclass(frozen=True, slots=True)
class Asked:
    """Names that the project asks for: of Python folded, of Node as written."""

    python: frozenset[str]
    node: frozenset[str]


def read(
    manifests: Sequence[Path], boundary: Boundary, memory: Memory
) -> tuple[Asked, list[Problem]]:
    """Read manifests, each as long as it is the same once.

    Args:
        manifests: of any kind; those of no known one are passed over.
        boundary: what may be opened.
        memory: what is known of them.
    """
    python: set[str] = set()
    node: set[str] = set()
    problems: list[Problem] = []
    own = next((each for each in manifests if each.name == "pyproject.toml"), None)
    project = _project_name(own, boundary) if own else ""
    for manifest in manifests:
        reader = _reader(manifest, project)
        if reader is None:
            continue
        make = partial(_sorted, reader)
        fact = recalled(manifest, f"asked {project}", boundary, memory, make)
        if isinstance(fact, str):
            problems.append(Problem(shown(manifest, boundary), fact))
        elif manifest.name == "package.json":
            node |= set(fact)
        else:
            python |= set(fact)
    return Asked(frozenset(python), frozenset(node)), problems


def recalled(
    path: Path, use: str, boundary: Boundary, memory: Memory, make: Callable[[str], list[Any]]
) -> list[Any] | str:
    """What a file comes to, or why it comes to nothing.

    Args:
        path: inside the boundary.
        use: what is made of it; one file may have several.
        boundary: what may be opened.
        memory: what is known of it.
        make: raises ValueError where a text is not what it should be.
    """

    def fact() -> list[Any] | str:
        try:
            return make(_decoded(boundary.read(path, most=_LARGEST, text=False)))
        except Forbidden:
            return "it leads out of the root; give a --root that holds both"
        except DocstowError as error:
            return error.message.rstrip(".")
        except UNREADABLE as error:
            return f"it cannot be read: {str(error)[:200]}"

    try:
        found: list[Any] | str = memory.recall(f"{use}:{shown(path, boundary)}", (path,), fact)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return found


def _decoded(body: bytes) -> str:
    """The text of a manifest or lock file; some shells of Windows write it in UTF-16."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    if is_binary(body):
        raise ValueError("it is not text")
    return body.decode("utf-8-sig", "replace")


def _sorted(reader: Callable[[str], set[str]], text: str) -> list[str]:
    return sorted(reader(text))


def _reader(manifest: Path, project: str) -> Callable[[str], set[str]] | None:
    if manifest.name == "package.json":
        return wanted.package_json
    if manifest.name in wanted.PYTHON:
        return wanted.PYTHON[manifest.name]
    if is_requirements(manifest):
        return lambda text: wanted.requirements(text, project)
    return None


def _project_name(manifest: Path, boundary: Boundary) -> str:
    """The name of the project itself, which tools write beside what it asks for."""
    try:
        return wanted.project_name(boundary.read(manifest).decode("utf-8", "replace"))
    except DocstowError:
        return ""
