"""The modules of a Node package that can be imported: those that it names, or else all its files.

This room knows ``exports`` with its patterns. It does not know what is in a module.
"""

from __future__ import annotations

from collections.abc import Iterator

from docstow.languages.typescript import package_json as node_manifest
from docstow.languages.typescript.files import Folder, NodeFiles

_ENDS = (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs")


def subpaths(folder: Folder, files: NodeFiles) -> Iterator[str]:
    """The modules of a package that can be imported: ``.``, ``./fp``."""
    listed = node_manifest.subpaths(folder.manifest)
    for each in listed or ():
        if "*" not in each and not each.endswith((".json", ".css", "/")):
            yield each
    patterns = [each for each in listed or () if "*" in each]
    if listed is not None and not patterns:
        return
    for file in files.boundary.walk(folder.root, {"node_modules"}):
        relative = "./" + file.relative_to(folder.root).as_posix()
        stem = next((relative.removesuffix(end) for end in _ENDS if relative.endswith(end)), "")
        if not stem:
            continue
        if listed is None:
            yield "." if stem == "./index" else stem.removesuffix("/index")
        else:
            yield from _by_pattern(stem, patterns)


def _by_pattern(stem: str, patterns: list[str]) -> Iterator[str]:
    """Names of a file by the patterns of ``exports``, where they name files as they are."""
    for pattern in patterns:
        before, _, after = pattern.partition("*")
        end = next((end for end in _ENDS if after.endswith(end)), "")
        if stem.startswith(before):
            yield stem + (end if after == end else after)
