"""The public surface of a Python package → documents, as a source that is searched.

This room knows which names are worth a document: each definition once, under its shortest public
path, which may be that of a class that inherits it. It does not know how names are found.
"""

from __future__ import annotations

import email
import email.message
import heapq
from collections.abc import Iterator
from dataclasses import replace

from docstow.core.errors import DocstowError
from docstow.core.model import Document
from docstow.formats.docstrings import markdown
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared import stored_surface
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import Home, Symbol

_MOST_DOCUMENTS = 30_000
_LARGEST_METADATA = 2_000_000
_ADDRESSES = ("documentation", "docs", "homepage", "home", "repository", "source", "source code")
#: Kinds of what has names.
_OWNERS = frozenset({"module", "class", "enum"})
#: Modules by which a package checks itself.
_TESTS = frozenset({"tests", "conftest"})


def documents(surface: PythonSurface) -> Iterator[Document]:
    """The package's README, its public modules, what they mean for others, and those's members.

    Modules and classes know all their names, so that code can be checked by the documents alone.

    Args:
        surface: of an installed package.
    """
    made = list(_told(surface))
    homes: dict[Home, str] = {}
    for each in made:
        if each.attributes.get("line"):
            home = (str(each.attributes["file"]), int(each.attributes["line"]), each.title)
            homes.setdefault(home, each.path)
    owners = (each.path for each in made if each.kind in _OWNERS)
    everything = {path: surface.everything(path) for path in owners}
    for each in stored_surface.add_names(made, homes, everything):
        symbol = surface.symbol(each.path) if each.kind not in ("page", "module") else None
        facts = {} if symbol is None else {"through": list(surface.through(symbol))}
        if symbol is not None and each.kind == "class":
            facts["heirs"] = surface.heirs(symbol)
        # What its names come from says more than where it is written.
        new = {name: told for name, told in facts.items() if told}
        yield replace(each, attributes={**new, **each.attributes})


def _told(surface: PythonSurface) -> Iterator[Document]:
    url = ""
    if (readme := _readme(surface)) is not None:
        url = readme.url
        yield readme
    modules = [each for each in surface.modules() if _is_offered(each)]
    modules.sort(key=lambda each: (each.count("."), each))
    made = _Made(surface, url)
    for module in modules:
        symbol = surface.symbol(module)
        if symbol is not None and symbol.kind == "module":
            yield _document(symbol, module.rpartition(".")[0], url)
            yield from made.below(symbol)
    yield from made.of_classes()


def _is_offered(module: str) -> bool:
    """Whether a module is for those who use the package: neither private nor its own tests."""
    _, *below = module.split(".")
    return "._" not in f".{module}" and _TESTS.isdisjoint(below)


class _Made:
    """What has a document already: each definition once.

    Args:
        surface: of the package.
        url: where a person reads of it.
    """

    def __init__(self, surface: PythonSurface, url: str) -> None:
        #: Classes whose members are still to be told: how deep, whether what they inherit is
        #: meant, and which came first.
        self._classes: list[tuple[int, bool, int, Symbol]] = []
        self._met = 0
        self._surface = surface
        self._url = url
        self._seen: set[tuple[str, int, str]] = set()
        self._left = _MOST_DOCUMENTS

    def below(self, owner: Symbol, *, own: bool = False) -> Iterator[Document]:
        """The public names of a module or class that have none; of a class perhaps its own only."""
        for name, symbol in (self._surface.members(owner.path) or {}).items():
            home = (symbol.file, symbol.line, name)
            if symbol.kind in {"module", "re-export"} or home in self._seen or name.startswith("_"):
                continue
            if self._left <= 0 or (own and _home(symbol).rpartition(".")[0] != _home(owner)):
                continue
            self._seen.add(home)
            self._left -= 1
            made = self._constructor(symbol) if symbol.kind == "class" else ""
            yield _document(symbol, owner.path, self._url, made)
            if symbol.kind in {"class", "enum"}:
                self._met += 1
                depth = symbol.path.count(".")
                for inherited in (False, True):
                    heapq.heappush(self._classes, (depth, inherited, self._met, symbol))

    def of_classes(self) -> Iterator[Document]:
        """The members of the classes, under those with the shortest paths.

        Of classes that are as near, the one that defines a member comes before those that inherit.
        """
        while self._classes:
            _, inherited, _, owner = heapq.heappop(self._classes)
            yield from self.below(owner, own=not inherited)

    def _constructor(self, symbol: Symbol) -> str:
        made = self._surface.symbol(f"{symbol.path}.__init__")
        return made.signature if made is not None else ""


def _home(symbol: Symbol) -> str:
    """The path under which it is written."""
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
        attributes["parameters"] = stored_surface.pack_parameters(symbol.parameters)
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
    """The package's own page: what its metadata says of it at length."""
    info = surface.package.info_root
    if info is None:
        return None
    try:
        body = Boundary(info).read("METADATA", most=_LARGEST_METADATA)
    except DocstowError:
        return None
    told = email.message_from_string(body.decode(errors="replace"))
    text = told.get_payload()
    if not isinstance(text, str) or not text.strip():
        return None
    # Without a word on it, it is reStructuredText.
    if "markdown" not in told.get("Description-Content-Type", "text/x-rst").lower():
        text = markdown(text)
    name = surface.package.name
    attributes = {"language": "python", "media_type": "text/markdown"}
    return Document(f"{name}/README", "page", name, "", text, _address(told), "", attributes)


def _address(told: email.message.Message) -> str:
    """Where a person reads of a package: its documentation, or else its home."""
    pairs = [str(each).partition(",") for each in told.get_all("Project-URL", [])]
    by_label = {label.strip().lower(): url.strip() for label, _, url in pairs}
    known = (by_label[each] for each in _ADDRESSES if each in by_label)
    return next(known, "") or told.get("Home-page", "") or next(iter(by_label.values()), "")
