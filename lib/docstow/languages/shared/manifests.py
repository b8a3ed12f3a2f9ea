"""Which packages a project itself asks for, as its manifests say."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError, Forbidden
from docstow.languages.shared.places import shown
from docstow.languages.shared.project import Problem
from docstow.languages.shared.sandbox import Boundary, is_binary
from docstow.languages.shared.scan_cache import ScanCache
from docstow.languages.shared.scanning import ReadNames, Scanning

_LARGEST = 16 * 1024 * 1024
#: What readers of texts raise where a text is not what its name says.
UNREADABLE = (ValueError, TypeError, AttributeError, KeyError, RecursionError)


def read(
    manifests: Sequence[Path],
    languages: Mapping[str, Scanning],
    boundary: Boundary,
    memory: ScanCache,
) -> tuple[dict[str, frozenset[str]], list[Problem]]:
    """Read what manifests ask for, each manifest once as long as it is the same.

    Args:
        manifests: of any language; those that no language reads are passed over.
        languages: by ecosystem.
        boundary: what may be opened.
        memory: what is known of them.

    Returns:
        Names by ecosystem, spelled as the language's reader gives them; and what is passed over.
    """
    found: dict[str, set[str]] = {each: set() for each in languages}
    problems: list[Problem] = []
    project = _project_name(manifests, languages, boundary)
    for manifest in manifests:
        readers = (
            (name, each.read_manifest(manifest, project)) for name, each in languages.items()
        )
        ecosystem, reader = next((each for each in readers if each[1] is not None), ("", None))
        if reader is None:
            continue
        fact = recalled(manifest, f"asked {project}", boundary, memory, partial(_sorted, reader))
        if isinstance(fact, str):
            problems.append(Problem(shown(manifest, boundary), fact))
        else:
            found[ecosystem] |= set(fact)
    return {name: frozenset(each) for name, each in found.items()}, problems


def recalled(
    path: Path, use: str, boundary: Boundary, memory: ScanCache, make: Callable[[str], list[Any]]
) -> list[Any] | str:
    """Return what a file comes to, or why it comes to nothing.

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
    """Decode a manifest or lock file; some shells of Windows write it in UTF-16."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    if is_binary(body):
        raise ValueError("it is not text")
    return body.decode("utf-8-sig", "replace")


def _sorted(reader: ReadNames, text: str) -> list[str]:
    return sorted(reader(text))


def _project_name(
    manifests: Sequence[Path], languages: Mapping[str, Scanning], boundary: Boundary
) -> str:
    """Return the project's own name, which tools write beside what it asks for."""
    for file_name, read_name in filter(None, (each.project_name for each in languages.values())):
        own = next((each for each in manifests if each.name == file_name), None)
        if own is not None:
            try:
                return read_name(boundary.read(own).decode("utf-8", "replace"))
            except DocstowError:
                return ""
    return ""


def table_at(value: Any, *keys: str) -> dict[str, Any]:
    """Return the table below keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def tables_at(value: Any, *keys: str) -> Iterable[dict[str, Any]]:
    """Return the tables in the table below keys."""
    return (each for each in table_at(value, *keys).values() if isinstance(each, dict))
