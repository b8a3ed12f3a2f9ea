"""How installed Node packages are read: surfaces, files, and the graph of imports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from docstow.languages.shared.language import ModuleGraph, Reading
from docstow.languages.shared.project import Package, Scan
from docstow.languages.typescript.documents import documents
from docstow.languages.typescript.surface import NodeProject, NodeSurface

# Each form begins with a plain word, which is much faster to look for than what may be before it.
_IMPORTS = re.compile(
    r"""(?:from(?<![\w$.]from)[ \t]*|import(?<![\w$.]import)[ \t]*(?:\([ \t]*)?"""
    r"""|require(?<![\w$.]require)[ \t]*\([ \t]*)(['"])([^'"\n]+)\1"""
)
_SCRIPT = re.compile(r"(\.d)?\.[mc]?[jt]sx?$")
#: What every object and function of JavaScript has of itself.
_INHERENT = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toString"),
        *("toLocaleString", "valueOf", "apply", "bind", "call", "length", "name", "prototype"),
        *("caller", "arguments"),
    }
)


def open_surfaces(scan: Scan) -> Callable[[Package], NodeSurface]:
    """Return what opens the surfaces of a project's packages, each once."""
    opened: dict[str, NodeSurface] = {}

    def open_surface(package: Package) -> NodeSurface:
        key = str(package.files_root)
        if key not in opened:
            opened[key] = NodeSurface(package, project)
        return opened[key]

    def open_sibling(name: str) -> NodeSurface | None:
        found = [each for each in scan.named(name, "node") if each.installed]
        return open_surface(found[0]) if found else None

    project = NodeProject(scan.boundary, open_sibling, lambda: scan.packages)
    return open_surface


def imported_specifiers(text: str) -> Iterator[str]:
    """Yield the specifiers that a module imports, as written."""
    for found in _IMPORTS.finditer(text):
        yield found[2]


def _modules(files: Iterable[str]) -> dict[str, str]:
    modules: dict[str, str] = {}
    for each in files:
        if _SCRIPT.search(each):
            name = _SCRIPT.sub("", each)
            if name not in modules or ".d." in modules[name]:
                modules[name] = each
    return modules


def _imports(text: str, module: str, path: str, modules: Mapping[str, str]) -> Iterator[str]:
    del path
    for each in imported_specifiers(text):
        if not each.startswith("."):
            yield each
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(module), each))
        stem = _SCRIPT.sub("", target)
        yield next((known for known in (stem, f"{stem}/index") if known in modules), "")


def _outside(target: str) -> str:
    parts = target.split("/")
    return "/".join(parts[: 2 if target.startswith("@") else 1])


READING = Reading(
    reader="node/3",
    surfaces=open_surfaces,
    documents=documents,
    graph=ModuleGraph(separator="/", modules=_modules, imports=_imports, outside=_outside),
    owns=lambda _, path: "node_modules" not in PurePosixPath(path).parts,
    shows_entries=True,
    declares=True,
    inherent=_INHERENT,
    augmented=True,
)
