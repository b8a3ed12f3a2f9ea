"""The pages of packages and their items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from starlette.responses import RedirectResponse, Response

from docstow import languages
from docstow.core.errors import DocstowError
from docstow.core.model import MENTIONS
from docstow.index.item_page import HEADINGS
from docstow.library import PAGE
from docstow.server.web import addresses, implementations, members, std_links
from docstow.server.web.markdown import Heading, Rendered
from docstow.server.web.markdown import render as render_text
from docstow.server.web.templates import render
from docstow.tools import caveats
from docstow.tools.parameters import find_stowed

if TYPE_CHECKING:
    from docstow.index.item_page import ItemPage
    from docstow.index.loaded import Index
    from docstow.library import ResolvedVersion
    from docstow.server.web.visit import Visit

#: Items beside one, and examples of it.
_MOST_BESIDE, _MOST_EXAMPLES = 400, 3
_TYPES = frozenset({"struct", "enum", "union", "primitive", "type_alias", "trait_alias"})
_NAMED_TYPES = _TYPES | {"trait", "class", "interface", "type"}


@dataclass(frozen=True, slots=True)
class _Opened:
    """A package's snapshot, opened for its pages."""

    language: languages.Language
    stowed: ResolvedVersion
    index: Index
    version: str

    @property
    def name(self) -> str:
        return self.stowed.name

    def at(self, path: str) -> str:
        """Return where an item of it is shown."""
        return addresses.item(self.language.name, self.name, self.version, path)

    def link(self, base: str = "") -> Callable[[str], str]:
        """Return what finds where an address of its docs leads to: an item of it is shown here."""
        columns = self.index.columns
        paths = dict(zip(columns["url"].tolist(), columns["path"].tolist(), strict=True))
        paths.pop("", None)

        def leads(url: str) -> str:
            bare, _, fragment = url.partition("#")
            path = paths.get(url) or paths.get(urljoin(base, url) if base else url)
            if path is None and (owner := paths.get(bare)):
                path = owner
                member = f"{owner}{self.language.spelling.separator}{fragment.partition('.')[2]}"
                if member in self.index.rows_by_path:
                    path = member
            if path is None:
                return url
            return self.at(path)

        return leads

    def names(self, path: str) -> Callable[[str], str]:
        """Return what finds where the docs of a type are that an item's declaration names.

        Args:
            path: the item's.
        """
        table, chosen = self.index.relations, self.index.relation_rows.get(path, [])
        pairs = zip(table["predicate"][chosen], table["object"][chosen], strict=True)
        meant = {
            re.split(r"::|\.", each)[-1]: str(each)
            for predicate, each in pairs
            if predicate == MENTIONS
        }

        def leads(name: str) -> str:
            found = meant.get(name) or self._find_type(name, path)
            if found in self.index.rows_by_path:
                return self.at(found) if found != path else ""
            return "" if self.language.packaged else std_links.find(name)

        return leads

    def _find_type(self, name: str, near: str) -> str:
        """Return the path of the type of that name; of several, the one nearest to an item."""
        from docstow.index.loaded import fold_title

        columns = self.index.columns
        paths = {
            str(columns["path"][row])
            for row in self.index.rows_by_title.get(fold_title(name), ())
            if columns["kind"][row] in _NAMED_TYPES and columns["title"][row] == name
        }
        place = re.split(r"::|\.", near)
        shared = {path: _count_shared(re.split(r"::|\.", path), place) for path in paths}
        nearest = [path for path in paths if shared[path] == max(shared.values())]
        return nearest[0] if len(nearest) == 1 else ""


def _count_shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many equal names two paths begin."""
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(other))


def asked_name(visit: Visit) -> str:
    """Return the name of the package that a page is asked for."""
    given = visit.parameters
    scope = f"@{given['scope']}/" if "scope" in given else ""
    return unquote(scope + given.get("name", ""))


def _open(visit: Visit, tables: Sequence[str]) -> _Opened:
    given = visit.parameters
    version = given["version"] if given["version"] != addresses.LATEST else ""
    language = languages.of_name(given["language"]) or languages.RUST
    library = visit.services.library
    asked = {"version": version, "lockfile": "", "language": given["language"]}
    stowed = find_stowed(library, asked_name(visit), asked)
    index = library.index(stowed.snapshot, tables)
    return _Opened(language, stowed, index, given["version"])


def package(visit: Visit) -> Response:
    """Return the page of a package: what it is for, and what it has at its root."""
    opened = _open(visit, PAGE)
    language, stowed, index = opened.language, opened.stowed, opened.index
    asked = {"package": stowed.name, "version": stowed.version}
    if language.packaged:
        asked["language"] = language.name
    summary = visit.read("get_package_summary", **asked)
    rows = _roots(index, summary)
    docs = _docs(opened, rows[0]) if rows else None
    read = _read(index, rows[0]) if rows else None
    groups = members.group_members(index, read, set()) if read else []
    contents = [*docs.headings, *members.contents(groups)] if docs else []
    tree = _tree(visit, asked)
    # A crate's root lists its modules; of other packages they stand below what it says of itself.
    listed = tree if read is None or read.document.kind == "page" else []
    if listed:
        contents.append(Heading(1, "Modules", "ui-modules"))
    return render(
        "package.html",
        visit,
        contents=contents,
        opened=opened,
        summary=summary,
        docs=docs,
        groups=groups,
        base=read.document.url if read else "",
        tree=tree,
        listed=listed,
    )


def _roots(index: Index, summary: Mapping[str, Any]) -> list[int]:
    """Return the rows of what a package says of itself: the root of a crate, or a README."""
    if readme := summary.get("readme"):
        return list(index.rows_by_path.get(readme, ()))
    return index.rows_by_parent.get("", [])[:1]


def _tree(visit: Visit, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    try:
        return list(visit.read("get_module_tree", **asked, depth=20)["results"])
    except DocstowError:
        return []  # a package that is one page has no modules


def item(visit: Visit) -> Response:
    """Return the page of an item: signature, facts, docs, members, who implements it, examples."""
    from docstow.index.lookup import find_items

    opened = _open(visit, PAGE)
    index = opened.index
    rows = find_items(index, visit.parameters["path"])
    path = str(index.columns["path"][rows[0]])
    if len(rows) == 1 and path != visit.parameters["path"] and "@" not in visit.parameters["path"]:
        return RedirectResponse(opened.at(path), 307)
    items = []
    contents = []
    taken: set[str] = set()
    for row in rows:
        read, docs = _read(index, row), _docs(opened, row, taken)
        groups = members.group_members(index, read, taken)
        contents += [*docs.headings, *members.contents(groups)]
        items.append((read, docs, groups))
    kinds = {read.document.kind for read, _, _ in items}
    sections = []
    if not opened.language.packaged and kinds & (_TYPES | {"trait"}):
        sections = implementations.find_sections(index, path, of_trait="trait" in kinds)
    contents += implementations.contents(sections)
    examples = _examples(visit, opened, items[0][0])
    if examples:
        contents.append(Heading(1, "Used in examples", "ui-examples"))
    if items[0][0].neighbours:
        contents.append(Heading(1, "See also", "ui-also"))
    return render(
        "item.html",
        visit,
        contents=contents,
        notices=caveats(opened.stowed),
        opened=opened,
        path=path,
        crumbs=list(_crumbs(opened, path)),
        items=items,
        beside=list(_beside(opened, rows[0])),
        sections=sections,
        examples=examples,
    )


def _read(index: Index, row: int) -> ItemPage:
    from docstow.index.item_page import read_item

    return read_item(index, row)


def _docs(opened: _Opened, row: int, taken: set[str] | None = None) -> Rendered:
    document = opened.index.document(row)
    language = str(document.attributes.get("language", opened.language.name))
    return render_text(
        document.text, language=language, link=opened.link(document.url), taken=taken
    )


def _crumbs(opened: _Opened, path: str) -> Iterator[tuple[str, str]]:
    """Yield the names of an item's owners with where they are shown, the outermost first."""
    parents = []
    index, owner = opened.index, path
    while rows := index.rows_by_path.get(owner):
        owner = str(index.columns["parent"][rows[0]])
        if not owner or owner in parents:
            break
        parents.append(owner)
    for each in reversed(parents):
        yield re.split(r"::|\.(?!\w*/)", each)[-1] if each != parents[-1] else each, opened.at(each)


def _beside(opened: _Opened, row: int) -> list[tuple[str, list[dict[str, str]]]]:
    """Return the items that stand beside an item, by kind."""
    columns = opened.index.columns
    parent = str(columns["parent"][row])
    rows = opened.index.rows_by_parent.get(parent, ())[:_MOST_BESIDE] if parent else ()
    groups: dict[str, list[dict[str, str]]] = {}
    for each in rows:
        path, kind = str(columns["path"][each]), str(columns["kind"][each])
        shown = {
            "name": str(columns["title"][each]) or path,
            "href": opened.at(path),
            "here": "page" if each == row else "",
        }
        groups.setdefault(kind, []).append(shown)
    return [(HEADINGS[kind], groups[kind]) for kind in HEADINGS if kind in groups]


def _examples(visit: Visit, opened: _Opened, read: ItemPage) -> list[dict[str, Any]]:
    """Return examples of other items that use an item."""
    document = read.document
    if document.kind in ("module", "page"):
        return []
    asked = {"package": opened.name, "version": opened.stowed.version}
    if opened.language.packaged:
        asked["language"] = opened.language.name
    name = document.title
    found = visit.read("search_examples", **asked, query=name, k=20)["results"]
    uses = re.compile(rf"\b{re.escape(name)}\b")
    return [
        {**each, "href": opened.at(each["item_path"])}
        for each in found
        if each["item_path"] != document.path and uses.search(each["code"])
    ][:_MOST_EXAMPLES]
