"""How installed Node packages are read: surfaces, documents, and the graph of imports."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from docstow.core.errors import DocstowError
from docstow.core.model import Document
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.guides import read_folder, with_left_out
from docstow.languages.shared.language import ModuleGraph, Reading
from docstow.languages.shared.project import About, Package, Scan
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
_MAX_MODULES = 1000
#: Members of all types that have documents, and of one.
_MAX_MEMBERS = 20_000
_MAX_OF_TYPE = 1000
#: Namespaces and types within each other whose members have documents.
_MAX_DEPTH = 8
_READMES = ("README.md", "readme.md", "Readme.md", "README.markdown", "README")
_MAX_README = 1_000_000
#: Kinds of symbols whose members have documents of their own.
_OWNERS = ("class", "interface", "enum", "module", "constant", "type")
#: The same, and functions, which may have a namespace.
_NESTING = (*_OWNERS, "function")


class NodeSurfaces:
    """Opens the surfaces of a project's packages, each once.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._opened: dict[str, NodeSurface] = {}
        self._project = NodeProject(scan.boundary, self._sibling, lambda: scan.packages)

    def __call__(self, package: Package) -> NodeSurface:
        """Open the surface of a package."""
        key = str(package.files_root)
        if key not in self._opened:
            self._opened[key] = NodeSurface(package, self._project)
        return self._opened[key]

    def _sibling(self, name: str) -> NodeSurface | None:
        found = [each for each in self._scan.named(name, "node") if each.installed]
        return self(found[0]) if found else None

    def again(self) -> bool:
        """Make ready for another question; whether what was read is still so, and not much.

        Files stay. Surfaces do not: what one shows is more once other packages have added to it,
        so that answers would depend on what was asked before.
        """
        self._opened.clear()
        return self._project.again()


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
    notices: list[str] = []
    readme = _readme(surface, notices)
    if readme is not None:
        yield readme
    yield from _guides(surface)
    seen: set[Home] = set()
    made: dict[str, Document] = {}
    owners: list[str] = []
    for module in _document_modules(surface, notices):
        found = sorted(surface.definitions(module), key=_default_last)
        new = [each for each in found if _is_new(each, seen)]
        whole = surface.symbol(module)
        if whole is None or not (new or module == surface.name):
            continue
        summary = _summary(surface) if module == surface.name else ""
        made[module] = _document(whole, "", summary)
        for each in new:
            described = list(_nested(each, module, seen))
            made.update((document.path, document) for document in described)
            if described[0].kind in _NESTING:
                owners.append(described[0].path)
    notices += _add_members(surface, owners, made, seen)
    notices += surface.limits()
    first = surface.name if surface.name in made else next(iter(made), None)
    if first is not None and notices:
        made[first] = _with_notice(made[first], "\n\n".join(notices))
    yield from made.values()


def _add_members(
    surface: NodeSurface, owners: list[str], made: dict[str, Document], seen: set[Home]
) -> Iterator[str]:
    """Add the documents of members, level by level, what is written within a type first.

    Yields what is said of those that are left out.
    """
    cut = 0
    for _ in range(_MAX_DEPTH):
        found = {owner: list(surface.definitions(owner)) for owner in owners}
        deeper: list[str] = []
        counts: Counter[str] = Counter()
        for own in (True, False):
            for owner, members in found.items():
                for each in members:
                    if each.own != own or not _is_new(each, seen):
                        continue
                    counts[owner] += 1
                    if len(made) >= _MAX_MEMBERS:
                        cut += 1
                    elif counts[owner] <= _MAX_OF_TYPE or made[owner].kind == "module":
                        described = list(_nested(each, owner, seen))
                        made.update((document.path, document) for document in described)
                        if described[0].kind in _NESTING:
                            deeper.append(described[0].path)
        for owner, count in counts.items():
            if count > _MAX_OF_TYPE and made[owner].kind != "module":
                notice = f"Of {count} members, {_MAX_OF_TYPE} are described one by one."
                made[owner] = _with_notice(made[owner], notice)
        owners = deeper
    yield from _cuts(surface, owners, cut)


def _cuts(surface: NodeSurface, owners: list[str], cut: int) -> Iterator[str]:
    """Say how many members are left out, and of how many types."""
    if cut:
        notice = f"{cut} members of the package's types are beyond the {_MAX_MEMBERS} that are read"
        yield f"{notice}; their types show them."
    deep = sum(any(True for _ in surface.definitions(owner)) for owner in owners)
    if deep:
        yield f"The members of {deep} types are left out, which stand {_MAX_DEPTH} deep in others."


def _with_notice(document: Document, notice: str) -> Document:
    return replace(document, text=f"{document.text}\n\n{notice}".strip())


def _nested(
    definition: Definition, parent: str, seen: set[Home], depth: int = 0
) -> Iterator[Document]:
    """Yield the document of a definition, and those of object types written within it."""
    symbol = definition.describe()
    yield _document(symbol, parent)
    for each in definition.inline() if depth < _MAX_DEPTH else ():
        if _is_new(each, seen):
            yield from _nested(each, symbol.path, seen, depth + 1)


def _document_modules(surface: NodeSurface, notices: list[str]) -> Iterator[str]:
    """List the entry and the modules that the package names; of a typed package those alone."""
    manifest = surface.folder.manifest if surface.folder else {}
    named = package_json.subpaths(manifest)
    typed = None
    # Modules with short names are those that users import.
    modules = sorted(surface.modules(), key=lambda each: (each != surface.name, each.count("/")))
    if len(modules) > _MAX_MODULES:
        notices.append(
            f"Of {len(modules)} modules, the {_MAX_MODULES} with the shortest names are read."
        )
    for module in modules[:_MAX_MODULES]:
        place = surface.place(module)
        ambient = not module.startswith(surface.name)
        if place is None or (module != surface.name and named is None and not ambient):
            continue
        if typed is None:
            typed = package_json.is_typescript(place.name)
        if package_json.is_typescript(place.name) == typed:
            yield module


def _is_new(definition: Definition, seen: set[Home]) -> bool:
    """Whether a definition has no document yet."""
    name = definition.name
    # What is written within a type has a path below it, whose parameters may have any name.
    if name.rpartition(".")[2].startswith("_"):
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


def _about(package: Package) -> About:
    """Return what an installed package says of itself; nothing where it cannot be read."""
    if package.files_root is None:
        return About()
    try:
        body = Boundary(package.files_root).read("package.json")
        manifest = json.loads(body.decode("utf-8-sig", "replace"))
    except (DocstowError, ValueError, RecursionError):
        return About()
    return package_json.describe_manifest(manifest) if isinstance(manifest, dict) else About()


def _summary(surface: NodeSurface) -> str:
    described = surface.folder.manifest.get("description") if surface.folder else ""
    return described if isinstance(described, str) else ""


def _readme(surface: NodeSurface, notices: list[str]) -> Document | None:
    if surface.folder is None:
        return None
    for name in _READMES:
        path = surface.folder.root / name
        if not path.is_file():
            continue
        try:
            body = surface.project.files.boundary.read(path, most=_MAX_README)
        except DocstowError as error:
            notices.append(f"{name} is left out: {error}")
            return None
        text = body.decode(errors="replace")
        attributes = {"language": "typescript", "file": name, "media_type": "text/markdown"}
        links = _links(surface.folder.manifest)
        url = next(iter(links.values()), "")
        return Document(
            f"{surface.name}/{name}",
            "page",
            surface.name,
            "",
            text,
            url,
            "",
            attributes | ({"links": links} if links else {}),
        )
    return None


def _guides(surface: NodeSurface) -> Iterator[Document]:
    """Yield the pages of a package beside its README."""
    if surface.folder is None:
        return
    url = _links(surface.folder.manifest).get("homepage", "")
    boundary = surface.project.files.boundary
    read = read_folder(surface.name, boundary, surface.folder.root, language="typescript", url=url)
    yield from with_left_out(read)


def _links(manifest: Mapping[str, object]) -> dict[str, str]:
    """Return the address of a package's home page and of its source, those that it names."""
    repository = manifest.get("repository")
    place = repository.get("url") if isinstance(repository, dict) else repository
    if isinstance(place, str) and _SHORT.fullmatch(place):
        place = f"https://github.com/{place.removeprefix('github:')}"
    named = {"homepage": manifest.get("homepage"), "repository": place}
    return {
        label: _CLONED.sub("https://", url).removesuffix(".git")
        for label, url in named.items()
        if isinstance(url, str) and "://" in url
    }


#: What addresses begin with that are for cloning.
_CLONED = re.compile(r"^(?:git\+)?(?:git|ssh|https)://(?:git@)?")
#: ``owner/name``, which npm takes for a repository at GitHub.
_SHORT = re.compile(r"(?:github:)?[\w.-]+/[\w.-]+")


READING = Reading(
    reader="node/6",
    surfaces=NodeSurfaces,
    documents=documents,
    graph=ModuleGraph(separator="/", modules=_modules, imports=_imports, outside=_outside),
    owns=lambda _, path: "node_modules" not in PurePosixPath(path).parts,
    shows_entries=True,
    declares=True,
    inherent=_INHERENT,
    augmented=True,
    about=_about,
)
