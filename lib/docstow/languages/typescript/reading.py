"""How installed Node packages are read: surfaces, documents, and the graph of imports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from docstow.core.errors import DocstowError
from docstow.core.model import Document
from docstow.languages.shared.language import ModuleGraph, Reading
from docstow.languages.shared.project import Package, Scan
from docstow.languages.shared.stored_surface import add_names, pack_parameters
from docstow.languages.shared.surface import Home, Symbol
from docstow.languages.typescript import package_json
from docstow.languages.typescript.surface import Definition, NodeProject, NodeSurface

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
_MAX_MODULES = 100
_MAX_MEMBERS = 20_000
_READMES = ("README.md", "readme.md", "Readme.md", "README.markdown", "README")
_MAX_README = 1_000_000
#: Kinds of symbols whose members have documents of their own.
_OWNERS = ("class", "interface", "enum", "module", "constant", "type")


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


def documents(surface: NodeSurface) -> Iterator[Document]:
    """Iterate over a package's own page, its modules, their exports and the members of those.

    Modules and classes list all their names, so that code can be checked by the documents alone.

    Args:
        surface: of an installed package.
    """
    found = list(_describe(surface))
    homes: dict[Home, str] = {}
    for each in found:
        if each.kind not in ("page", "module") and (home := surface.home(each.path)):
            homes.setdefault(home, each.path)
    # Members of members have no names listed.
    modules = {each.path for each in found if each.kind == "module"}
    owners = [
        each.path
        for each in found
        if each.kind == "module" or (each.kind in _OWNERS and each.parent in modules)
    ]
    everything = {path: surface.everything(path) for path in owners}
    for each in add_names(found, homes, everything):
        whole = each.path == surface.name and each.kind != "page"
        facts = {"beside": surface.beside()} if whole else {}
        if "parameters" in each.attributes and (through := surface.through(each.path)):
            facts["through"] = list(through)
        # Facts about names take precedence over those about this document.
        yield replace(each, attributes={**facts, **each.attributes})


def _describe(surface: NodeSurface) -> Iterator[Document]:
    readme = _readme(surface)
    if readme is not None:
        yield readme
    seen: set[Home] = set()
    owners: list[Symbol] = []
    for module in _document_modules(surface):
        found = sorted(surface.definitions(module), key=_default_last)
        new = [each.describe() for each in found if _is_new(each, seen)]
        whole = surface.symbol(module)
        if whole is None or not (new or module == surface.name):
            continue
        yield _document(whole, "", _summary(surface) if module == surface.name else "")
        yield from (_document(symbol, module) for symbol in new)
        owners += [symbol for symbol in new if symbol.kind in _OWNERS]
    left = _MAX_MEMBERS
    for own in (True, False):
        for owner in owners:
            for each in surface.definitions(owner.path):
                if each.own == own and left > 0 and _is_new(each, seen):
                    left -= 1
                    yield _document(each.describe(), owner.path)


def _document_modules(surface: NodeSurface) -> Iterator[str]:
    """List the entry and the modules that the package names; of a typed package those alone."""
    manifest = surface.folder.manifest if surface.folder else {}
    named = package_json.subpaths(manifest)
    typed = None
    # Modules with short names are those that users import.
    modules = sorted(surface.modules(), key=lambda each: (each != surface.name, each.count("/")))
    for module in modules[:_MAX_MODULES]:
        place = surface.place(module)
        if place is None or (module != surface.name and named is None):
            continue
        if typed is None:
            typed = package_json.is_typescript(place.name)
        if package_json.is_typescript(place.name) == typed:
            yield module


def _is_new(definition: Definition, seen: set[Home]) -> bool:
    """Whether a definition has no document yet."""
    name = definition.name
    if name.startswith("_"):
        return False
    # A default export that has a name as well is known by the name.
    home = (definition.file, definition.line, "")
    named = (definition.file, definition.line, name)
    if named in seen or (name == "default" and home in seen):
        return False
    seen |= {home, named}
    return True


def _default_last(definition: Definition) -> tuple[bool, str]:
    return definition.name == "default", definition.name


def _document(symbol: Symbol, parent: str, text: str = "") -> Document:
    attributes: dict[str, object] = {"language": "typescript"}
    if symbol.file.endswith((".js", ".mjs", ".cjs")):
        attributes["language"] = "javascript"
    if symbol.file:
        attributes |= {"file": symbol.file, "line": symbol.line}
    if symbol.deprecated:
        attributes["deprecated"] = symbol.deprecated
    if symbol.target:
        attributes["target"] = symbol.target
    if symbol.parameters is not None:
        attributes["parameters"] = pack_parameters(symbol.parameters)
    title = symbol.path.removeprefix(parent).lstrip(".") if parent else symbol.path
    return Document(
        symbol.path,
        symbol.kind,
        title,
        symbol.signature,
        symbol.docstring or text,
        "",
        parent,
        attributes,
    )


def _summary(surface: NodeSurface) -> str:
    described = surface.folder.manifest.get("description") if surface.folder else ""
    return described if isinstance(described, str) else ""


def _readme(surface: NodeSurface) -> Document | None:
    if surface.folder is None:
        return None
    for name in _READMES:
        path = surface.folder.root / name
        if not path.is_file():
            continue
        try:
            body = surface.project.files.boundary.read(path, most=_MAX_README)
        except DocstowError:
            return None
        text = body.decode(errors="replace")
        attributes = {"language": "typescript", "file": name, "media_type": "text/markdown"}
        url = _homepage(surface.folder.manifest)
        return Document(
            f"{surface.name}/{name}", "page", surface.name, "", text, url, "", attributes
        )
    return None


def _homepage(manifest: Mapping[str, object]) -> str:
    """Return the home page of a package, or else the address of its source."""
    repository = manifest.get("repository")
    place = repository.get("url") if isinstance(repository, dict) else repository
    for each in (manifest.get("homepage"), place):
        if isinstance(each, str) and "://" in each:
            return each.removeprefix("git+").removesuffix(".git")
    return ""


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
