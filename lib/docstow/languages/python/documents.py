"""How installed Python packages are read: documents of their public surface, and their imports.

Each definition has one document, under its shortest public path, which may be that of a class that
inherits it.
"""

from __future__ import annotations

import email
import email.message
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.core.model import Document
from docstow.formats.docstrings import markdown
from docstow.languages.python.metadata import about_package
from docstow.languages.python.successors import read_successors
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.guides import GUIDES, read_folder, with_left_out
from docstow.languages.shared.language import ModuleGraph, Reading
from docstow.languages.shared.project import Package, Scan
from docstow.languages.shared.stored_surface import add_names, pack_parameters
from docstow.languages.shared.surface import Home, Symbol

_MOST_DOCUMENTS = 30_000
#: Bytes of the files of which surfaces keep what they say, for the next question.
_MOST_BYTES = 16 * 1024 * 1024
_LARGEST_METADATA = 2_000_000
_ADDRESSES = ("documentation", "docs", "homepage", "home", "repository", "source", "source code")
_CHANGELOGS = ("changelog", "changes", "release notes", "history", "what's new")
#: Kinds of symbols that have members.
_OWNERS = frozenset({"module", "class", "enum"})
#: Modules of a package's own tests.
_TESTS = frozenset({"tests", "conftest"})
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<of>\.*[\w.]*)[ \t]+import[ \t]*"
    r"(?:\((?P<many>[^)]*)\)|(?P<some>[^#\n\\]*))"
    r"|import[ \t]+(?P<plain>[\w., \t]+))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")


def documents(surface: PythonSurface) -> Iterator[Document]:
    """Yield a package's README, its public modules, their public names and the members of those.

    Modules and classes have all their names, so that code can be checked by the documents alone.

    Args:
        surface: of an installed package.
    """
    found = list(_documents(surface))
    homes: dict[Home, str] = {}
    for each in found:
        if each.attributes.get("line"):
            home = (str(each.attributes["file"]), int(each.attributes["line"]), each.title)
            homes.setdefault(home, each.path)
    owners = (each.path for each in found if each.kind in _OWNERS)
    everything = {path: surface.everything(path) for path in owners}
    for each in add_names(found, homes, everything):
        symbol = surface.symbol(each.path) if each.kind not in ("page", "module") else None
        facts = {} if symbol is None else {"through": list(surface.through(symbol))}
        if symbol is not None and each.kind == "class":
            facts["heirs"] = surface.subclass_signatures(symbol)
        # The packages of an owner's names say more than the package that defines it.
        new = {name: fact for name, fact in facts.items() if fact}
        yield replace(each, attributes={**new, **each.attributes})


def _documents(surface: PythonSurface) -> Iterator[Document]:
    url = ""
    changelog = ""
    if (readme := _readme(surface)) is not None:
        url = readme.url
        links = readme.attributes["links"]
        changelog = next((links[each] for each in _CHANGELOGS if each in links), "")
        yield readme
    yield from _guides(surface, url, changelog)
    modules = [each for each in surface.modules() if _is_offered(each)]
    modules.sort(key=lambda each: (each.count("."), each))
    builder = _Builder(surface, url)
    root = surface.package.files_root
    moved = read_successors(surface, Boundary(root)) if root is not None else {}
    for module in modules:
        symbol = surface.symbol(module)
        if symbol is not None and symbol.kind == "module":
            made = _document(symbol, module.rpartition(".")[0], url)
            if "." not in module and moved:
                here = {path: said for path, said in moved.items() if _root(path) == module}
                made = replace(made, attributes={**made.attributes, "moved": here})
            yield made
            yield from builder.members_of(symbol)
    yield from builder.class_members()


def _is_offered(module: str) -> bool:
    """Return whether a module is for users of the package: neither private nor its own tests."""
    return "._" not in f".{module}" and _TESTS.isdisjoint(module.split(".")[1:])


class _Builder:
    """Builder of documents, one for each definition.

    Args:
        surface: of the package.
        url: of its documentation.
    """

    def __init__(self, surface: PythonSurface, url: str) -> None:
        #: Classes without documents of their members: depth, whether inherited members are next,
        #: order, class.
        self._classes: list[tuple[int, bool, int, Symbol]] = []
        self._order = 0
        self._surface = surface
        self._url = url
        self._seen: set[tuple[str, int, str]] = set()
        self._left = _MOST_DOCUMENTS

    def members_of(self, owner: Symbol, *, own: bool = False) -> Iterator[Document]:
        """Yield documents of public names of a module or class that have none.

        Args:
            owner: the module or class.
            own: whether inherited names are left out.
        """
        for name, symbol in (self._surface.members(owner.path) or {}).items():
            home = (symbol.file, symbol.line, name)
            if symbol.kind in {"module", "re-export"} or home in self._seen or name.startswith("_"):
                continue
            if self._left <= 0 or (own and _home(symbol).rpartition(".")[0] != _home(owner)):
                continue
            self._seen.add(home)
            self._left -= 1
            constructor = self._constructor(symbol) if symbol.kind == "class" else ""
            yield _document(symbol, owner.path, self._url, constructor)
            if symbol.kind in {"class", "enum"}:
                self._order += 1
                depth = symbol.path.count(".")
                for inherited in (False, True):
                    heapq.heappush(self._classes, (depth, inherited, self._order, symbol))

    def class_members(self) -> Iterator[Document]:
        """Yield documents of the members of classes, those with the shortest paths first.

        Of classes at the same depth, the one that defines a member comes before its subclasses.
        """
        while self._classes:
            _, inherited, _, owner = heapq.heappop(self._classes)
            yield from self.members_of(owner, own=not inherited)

    def _constructor(self, symbol: Symbol) -> str:
        found = self._surface.symbol(f"{symbol.path}.__init__")
        return found.signature if found is not None else ""


def _root(path: str) -> str:
    return path.partition(".")[0]


def _home(symbol: Symbol) -> str:
    """Return the path where a symbol is defined."""
    return symbol.target or symbol.path


def _document(symbol: Symbol, parent: str, url: str, constructor: str = "") -> Document:
    attributes: dict[str, object] = {"language": "python"}
    if symbol.file:
        attributes |= {"file": symbol.file, "line": symbol.line}
    if constructor:
        attributes["constructor"] = constructor
    if symbol.deprecated:
        attributes["deprecated"] = symbol.deprecated
    if symbol.target:
        attributes["target"] = symbol.target
    if symbol.parameters is not None:
        attributes["parameters"] = pack_parameters(symbol.parameters)
    title = symbol.path.rpartition(".")[2]
    return Document(
        symbol.path,
        symbol.kind,
        title,
        symbol.signature,
        markdown(symbol.docstring),
        url,
        parent,
        attributes,
    )


def _readme(surface: PythonSurface) -> Document | None:
    """Return the description in the package's metadata."""
    info = surface.package.info_root
    if info is None:
        return None
    try:
        body = Boundary(info).read("METADATA", most=_LARGEST_METADATA)
    except DocstowError:
        return None
    metadata = email.message_from_string(body.decode(errors="replace"))
    text = metadata.get_payload()
    if not isinstance(text, str) or not text.strip():
        return None
    # The default is reStructuredText.
    if "markdown" not in metadata.get("Description-Content-Type", "text/x-rst").lower():
        text = markdown(text)
    name = surface.package.name
    links = _links(metadata)
    attributes = {"language": "python", "media_type": "text/markdown", "links": links}
    url = next((links[each] for each in (*_ADDRESSES, *links) if each in links), "")
    return Document(f"{name}/README", "page", name, "", text, url, "", attributes)


def _guides(surface: PythonSurface, url: str, changelog: str) -> Iterator[Document]:
    """Yield the guides of a source distribution, where that is what was unpacked."""
    info = surface.package.info_root
    if info is None or not (info / GUIDES).is_dir():
        return
    read = read_folder(
        surface.package.name,
        Boundary(info),
        info / GUIDES,
        language="python",
        url=url,
        changelog=changelog,
    )
    yield from with_left_out(read)


def _links(metadata: email.message.Message) -> dict[str, str]:
    """Return the addresses in a package's metadata by their labels in lower case."""
    pairs = [str(each).partition(",") for each in metadata.get_all("Project-URL", [])]
    links = {label.strip().lower(): url.strip() for label, _, url in pairs}
    home = str(metadata.get("Home-page") or "").strip()
    return ({"homepage": home} if home not in ("", "UNKNOWN") else {}) | links


class PythonSurfaces:
    """Opens the surfaces of a project's packages, each once.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._opened: dict[str, PythonSurface] = {}

    def __call__(self, package: Package) -> PythonSurface:
        """Open the surface of a package."""
        key = f"{package.files_root} {package.name}"
        if key not in self._opened:
            self._opened[key] = PythonSurface(package, self._scan.boundary, self._sibling)
        return self._opened[key]

    def _sibling(self, name: str) -> PythonSurface | None:
        package = self._scan.importing(name, "python")
        if package is None or not package.installed or package.files_root is None:
            return None
        return self(package)

    def again(self) -> bool:
        """Make ready for another question; whether what was read is still so, and not much."""
        opened = self._opened.values()
        return sum(each.size for each in opened) <= _MOST_BYTES and all(
            each.is_unchanged() for each in opened
        )


def _imported_names(text: str, module: str, *, package: bool) -> Iterator[str]:
    """Yield dotted names of what is imported, and of names that may be modules, absolute."""
    base = module.split(".") if package else module.split(".")[:-1]
    for found in _IMPORTS.finditer(text):
        if found["plain"]:
            yield from (part.split()[0] for part in found["plain"].split(",") if part.split())
            continue
        name = found["of"]
        level = len(name) - len(name.lstrip("."))
        above = base[: len(base) - level + 1] if level else []
        source = ".".join([*above, *([name[level:]] if name[level:] else [])])
        if source:
            yield source
        inner = _COMMENT.sub("", found["many"] or found["some"] or "")
        for part in inner.split(","):
            if part.split() and part.split()[0].isidentifier():
                yield f"{source}.{part.split()[0]}"


def _modules(files: Iterable[str]) -> dict[str, str]:
    modules: dict[str, str] = {}
    for each in files:
        stem, _, suffix = each.rpartition(".")
        if suffix in {"py", "pyi"}:
            name = stem.removesuffix("/__init__").replace("-stubs", "").replace("/", ".")
            if suffix == "py" or name not in modules:
                modules[name] = each
    return modules


def _imports(text: str, module: str, path: str, modules: Mapping[str, str]) -> Iterator[str]:
    del modules
    return _imported_names(text, module, package="/__init__.py" in path)


def _module_of(target: str, modules: Mapping[str, str]) -> str:
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target


def _starts(package: Package, root: Path) -> list[Path]:
    """Return where a package's files begin; ``site-packages`` is others' too."""
    found = []
    for name in package.import_names:
        place = root.joinpath(*name.split("."))
        stubs = root / f"{name}-stubs"
        modules = [place.with_name(f"{place.name}{suffix}") for suffix in (".pyi", ".py")]
        found += [each for each in (place, stubs) if each.is_dir()]
        found += [each for each in modules if each.is_file()]
    return found


def _owns(package: Package, path: str) -> bool:
    for name in package.import_names:
        place = name.replace(".", "/")
        beside = (f"{place}.py", f"{place}.pyi")
        if path in beside or path == place or path.startswith((f"{place}/", f"{name}-stubs/")):
            return True
    return False


READING = Reading(
    reader="python/6",
    surfaces=PythonSurfaces,
    documents=documents,
    graph=ModuleGraph(
        separator=".",
        modules=_modules,
        imports=_imports,
        module_of=_module_of,
        outside=lambda target: target.split(".")[0],
        own=lambda package: {each.split(".")[0] for each in package.import_names},
    ),
    starts=_starts,
    owns=_owns,
    by_definition=True,
    about=about_package,
)
