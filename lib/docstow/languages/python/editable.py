"""The checkouts of editable distributions, from path files, finders and ``direct_url.json``.

All of these are read as text; a finder is parsed, never run.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docstow.core.errors import DocstowError
from docstow.core.language_names import folded
from docstow.languages.python.import_names import MODULE_SUFFIXES, STRAY
from docstow.languages.shared.sandbox import Boundary
from docstow.text.python_ast import try_parse_module

#: Folders and files of a checkout that are no part of what it offers.
#: Names in a checkout that are no part of what it offers.
_NOT_OFFERED = STRAY | {
    "setup",
    "conftest",
    "noxfile",
    "tasks",
    "fabfile",
    "manage",
    "build",
    "dist",
}
_DEEPEST_NAMESPACE = 3
_MOST_NAMESPACES = 40


def find_checkout(
    site: Path, files: Sequence[str], info: Path | None, boundary: Boundary
) -> tuple[str, list[str]] | None:
    """Return the folder of an editable distribution's import names, and those names.

    Args:
        site: ``site-packages``.
        files: names of its ``.pth`` files and finders.
        info: its ``.dist-info``.
        boundary: what may be opened.

    Returns:
        The folder, absolute but not yet known to be inside the boundary. No names stand for all
        of the folder's. The folder is empty where names are mapped to folders with other names.
        None if the distribution is not editable.
    """
    for name in files:
        text = _read_text(site / name, boundary)
        mapped = _literal_mapping(text) if name.endswith(".py") else {}
        if mapped:
            return _common_root(mapped) or ("", list(mapped))
        if name.endswith(".pth"):
            for line in text.splitlines():
                place = line.strip()
                if place and not place.startswith(("#", "import ", "import\t")):
                    return os.path.normpath(site / place), []
    url = _direct_url(info, boundary) if info is not None else ""
    return (_source_folder(Path(url), boundary), []) if url else None


def offered_names(
    folder: Path, distribution: str, watch: Callable[[Path], None] = lambda _: None
) -> tuple[str, ...]:
    """Return the import names of a checkout's folder, the distribution's own first.

    Without modules of its own, these are the modules in its namespaces.

    Args:
        folder: of the checkout.
        distribution: its name.
        watch: is called with each folder that the result depends on.
    """
    found, others = _list_folder(folder, _NOT_OFFERED, watch)
    for _ in range(_DEEPEST_NAMESPACE):
        if found:
            break
        below = {
            name: _list_folder(folder.joinpath(*name.split(".")), (), watch)
            for name in others[:_MOST_NAMESPACES]
        }
        found = [f"{name}.{each}" for name, (some, _) in below.items() for each in some]
        others = [f"{name}.{each}" for name, (_, more) in below.items() for each in more]
    return tuple(sorted(found, key=lambda each: (folded(each) != folded(distribution), each)))


def _list_folder(
    folder: Path, skipped: Collection[str], watch: Callable[[Path], None]
) -> tuple[list[str], list[str]]:
    """Return the modules and packages of a folder, and its folders that are no packages."""
    found: list[str] = []
    others: list[str] = []
    watch(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        for entry in listed:
            stem = (
                entry.name.partition(".")[0] if entry.name.endswith(MODULE_SUFFIXES) else entry.name
            )
            if stem in skipped or not stem.isidentifier():
                continue
            if stem != entry.name:
                found.append(stem)
            elif entry.is_dir(follow_symlinks=False):
                watch(Path(entry.path))
                (found if _is_package(Path(entry.path)) else others).append(stem)
    return sorted(set(found)), sorted(others)


def _source_folder(folder: Path, boundary: Boundary) -> str:
    """Return the folder of a checkout's packages: itself, or its ``src``."""
    with contextlib.suppress(DocstowError, OSError):
        if boundary.inside(folder / "src").is_dir():
            return str(folder / "src")
    return str(folder)


def _is_package(folder: Path) -> bool:
    return any((folder / f"__init__{end}").is_file() for end in (".py", ".pyi"))


def _common_root(mapped: dict[str, str]) -> tuple[str, list[str]] | None:
    """Return the folder in which the first mapped name lies, and all names that lie there."""
    roots: dict[str, list[str]] = {}
    for name, place in mapped.items():
        parts = name.split(".")
        path = Path(re.sub(r"([/\\]__init__)?\.pyi?$", "", place))
        if path.parts[-len(parts) :] == tuple(parts):
            roots.setdefault(str(path.parents[len(parts) - 1]), []).append(name)
    return next(iter(roots.items()), None)


def _literal_mapping(text: str) -> dict[str, str]:
    """Return the names and paths that a finder has as a literal."""
    tree = try_parse_module(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Dict) and node.keys:
            try:
                value = ast.literal_eval(node)
            except (ValueError, TypeError, RecursionError):
                continue
            if all(isinstance(each, str) for pair in value.items() for each in pair) and all(
                Path(at).is_absolute() for at in value.values()
            ):
                return dict(value)
    return {}


def _direct_url(info: Path, boundary: Boundary) -> str:
    try:
        read = json.loads(_read_text(info / "direct_url.json", boundary) or "{}")
        if not read.get("dir_info", {}).get("editable"):
            return ""
        parts = urlsplit(read["url"])
    except (ValueError, AttributeError, KeyError, TypeError):
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _read_text(path: Path, boundary: Boundary) -> str:
    try:
        return boundary.read(path, most=1024 * 1024).decode("utf-8", "replace")
    except DocstowError:
        return ""
