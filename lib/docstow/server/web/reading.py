"""The pages that are read: search, packages, items and pages of prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path

from docstow import languages
from docstow.core.errors import DocstowError
from docstow.core.model import LOCAL
from docstow.index.render import HEADINGS
from docstow.library import PAGE
from docstow.server.sessions import ROOT
from docstow.server.web import addresses
from docstow.server.web.markdown import Heading, Rendered
from docstow.server.web.markdown import render as render_text
from docstow.server.web.templates import render
from docstow.text.chunking import first_sentence, plain
from docstow.tools import caveats
from docstow.tools.parameters import find_stowed

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.index.render import ItemPage
    from docstow.library import ResolvedVersion
    from docstow.server.web.visit import Visit

#: Where packages, items and pages of prose are shown; the more exact ones first.
PATHS = (
    f"{ROOT}/page/{{doc:path}}",
    f"{ROOT}/{{language}}/@{{scope}}/{{name}}/{{version}}/{{path:path}}",
    f"{ROOT}/{{language}}/@{{scope}}/{{name}}/{{version}}",
    f"{ROOT}/{{language}}/{{name}}/{{version}}/{{path:path}}",
    f"{ROOT}/{{language}}/{{name}}/{{version}}",
)

#: What the answer to a search may have, in tokens, and results of one kind alone.
_TOKENS, _MOST_RESULTS = 4000, 20
_LONGEST_QUERY = 500
#: Characters of a result's text, and lines of its signature.
_LONGEST_TEXT, _MOST_LINES = 260, 3
#: Packages whose names are offered, items beside one, implementations and examples of it.
_MOST_NAMES, _MOST_BESIDE, _MOST_IMPLEMENTATIONS, _MOST_EXAMPLES = 5, 400, 100, 3
#: Pages of a source that are listed beside one of it.
_MOST_PAGES = 500
_FENCE = re.compile(r"```(\w*)[^\n]*\n(.*?)\n```\s*", re.DOTALL)
#: What stands before the docs of a result: headings, and facts that its page has.
_LEADING = re.compile(r"\A\s*(?:(?:#+|Available|Defined in|Also at:|Needs Rust) [^\n]*\n+)+")
_TYPES = frozenset({"struct", "enum", "union", "primitive", "type_alias", "trait_alias"})
_NAMED_TYPES = _TYPES | {"trait", "class", "interface", "type"}


# Search


def home(visit: Visit) -> Response:
    """Return what a search finds, or what there is where nothing is asked."""
    query = visit.query.get("q", "").strip()[:_LONGEST_QUERY]
    kind = visit.query.get("in", "")
    if not query:
        return render(
            "results.html" if visit.partial else "home.html",
            visit,
            query="",
            kind=kind,
            stowed=_list_stowed(visit),
            sources=_list_sources(visit),
        )
    results, notice = _search(visit, query, kind)
    template = "results.html" if visit.partial else "home.html"
    names = [each for each in _list_stowed(visit) if _begins(each["name"], query)]
    return render(
        template,
        visit,
        query=query,
        kind=kind,
        results=results,
        names=names[:_MOST_NAMES] if not kind else [],
        notice=notice,
    )


def _begins(name: str, query: str) -> bool:
    folded, wanted = (each.lower().replace("_", "-") for each in (name, query))
    return folded.startswith(wanted)


def _search(visit: Visit, query: str, kind: str) -> tuple[list[dict[str, Any]], str]:
    if kind == "pages":
        found = visit.read("search_docs", query=query, top_k=_MOST_RESULTS, max_tokens=0)
        return [_page_result(each) for each in found["results"]], found.get("notice", "")
    from docstow.tools.ask import search_stowed

    services = visit.services
    found = search_stowed(services.library, services.open_prose(), query, _TOKENS)
    rows = [each for each in found["results"] if kind in ("", f"{each['kind']}s")]
    return [_result(each) for each in rows], "" if rows else found.get("notice", "")


def _page_result(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "page",
        "title": row["heading_path"] or row["title"],
        "source": row["source"],
        "version": "",
        "href": addresses.page(row["doc_id"], row["url"].partition("#")[2]),
        "signature": "",
        "language": "",
        "text": _shorten(row["snippet"]),
    }


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of the tool ``ask`` as a list shows it."""
    text, call = str(row["text"]), row["next"]
    signature, language = "", ""
    title, kind = str(row["title"]), str(row["kind"])
    if kind == "passage":
        kind = "page"
        href = addresses.page(call["arguments"]["doc"], row["url"].partition("#")[2])
    else:
        href = addresses.of_call(call)
        path = call["arguments"]["item_path"]
        kind = title.removesuffix(path).strip() or kind
        title = path
        if match := _FENCE.search(text):
            language, signature = match[1], match[2]
            signature = "\n".join(signature.splitlines()[: _MOST_LINES if kind != "example" else 8])
            text = text[: match.start()] + text[match.end() :]
    return {
        "kind": kind.replace("_", " "),
        "title": title,
        "source": str(row["source"]),
        "version": row["version"],
        "href": href,
        "signature": signature,
        "language": language,
        "text": _shorten(text),
    }


def _shorten(markdown: str) -> str:
    """Return the beginning of a text, without the headings and facts before it."""
    own = _LEADING.sub("", markdown).partition("\n## ")[0]
    text = " ".join(plain(own or markdown).replace("`", "").split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT].rsplit(' ', 1)[0]} …"


def _list_stowed(visit: Visit) -> list[dict[str, str]]:
    """Return all crates and packages that are stowed, each in its newest version."""
    cards = visit.services.open_catalog().card_set()
    found: dict[tuple[str, str], dict[str, str]] = {}
    for language in languages.documented():
        kinds = (language.kind,) if language.packaged else (LOCAL, "crate")
        for kind in kinds:
            for entry in cards.listed(kind):
                key = language.name, entry.source.name
                rival = found.get(key)
                order = language.versions().order
                if rival and order(rival["version"]) >= order(entry.source.version):
                    continue
                found[key] = {
                    "language": language.name,
                    "name": entry.source.name,
                    "version": entry.source.version,
                    "about": first_sentence(entry.about).replace("`", ""),
                    "href": addresses.package(*key),
                }
    return [found[key] for key in sorted(found)]


def _list_sources(visit: Visit) -> list[dict[str, Any]]:
    found = visit.read("list_sources")["results"]
    return [each for each in found if each.get("documents")]


def link_suggestions(
    visit: Visit, suggestions: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Return suggestions of an error as links, as far as they are items or pages."""
    given = visit.parameters
    found = []
    for each in suggestions:
        if path := each.get("item_path"):
            version = given.get("version", "")
            href = addresses.item(given.get("language", "rust"), _name(visit), version, path)
            found.append({"title": path, "href": href})
        elif doc := each.get("document_id"):
            found.append({"title": each.get("title") or doc, "href": addresses.page(doc)})
    return found


# Packages and items


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

    def link_type(self, name: str) -> str:
        """Return where a type of that name is shown, if the package has one alone."""
        from docstow.index.loaded import fold_title

        columns = self.index.columns
        rows = [
            row
            for row in self.index.rows_by_title.get(fold_title(name), ())
            if columns["kind"][row] in _NAMED_TYPES and columns["title"][row] == name
        ]
        return self.at(str(columns["path"][rows[0]])) if len(rows) == 1 else ""


def _name(visit: Visit) -> str:
    given = visit.parameters
    scope = f"@{given['scope']}/" if "scope" in given else ""
    return unquote(scope + given.get("name", ""))


def _open(visit: Visit, tables: Sequence[str]) -> _Opened:
    given = visit.parameters
    version = given["version"] if given["version"] != addresses.LATEST else ""
    language = languages.of_name(given["language"]) or languages.RUST
    library = visit.services.library
    asked = {"version": version, "lockfile": "", "language": given["language"]}
    stowed = find_stowed(library, _name(visit), asked)
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
    contents = [*docs.headings, *_groups(read)] if docs and read else []
    return render(
        "package.html",
        visit,
        contents=contents,
        opened=opened,
        summary=summary,
        docs=docs,
        read=read,
        tree=_tree(visit, asked),
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
    items = [(_read(index, row), _docs(opened, row)) for row in rows]
    kinds = {read.document.kind for read, _ in items}
    implementations = _implementations(visit, opened, path, kinds)
    examples = _examples(visit, opened, items[0][0])
    contents = [each for read, docs in items for each in (*docs.headings, *_groups(read))]
    if implementations and implementations["rows"]:
        title = "Implementors" if implementations["by"] == "trait" else "Implements"
        contents.append(Heading(1, title, "ui-implementations"))
    if examples:
        contents.append(Heading(1, "Used in examples", "ui-examples"))
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
        implementations=implementations,
        examples=examples,
    )


def _groups(read: ItemPage) -> Iterator[Heading]:
    """Yield the headings of an item's members."""
    for kind, _ in read.grouped:
        yield Heading(1, HEADINGS[kind], f"ui-{kind}")


def _read(index: Index, row: int) -> ItemPage:
    from docstow.index.render import read_item

    return read_item(index, row)


def _docs(opened: _Opened, row: int) -> Rendered:
    document = opened.index.document(row)
    language = str(document.attributes.get("language", opened.language.name))
    return render_text(document.text, language=language, link=opened.link(document.url))


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


def _beside(opened: _Opened, row: int) -> Iterator[dict[str, str]]:
    """Yield the items that stand beside an item."""
    columns = opened.index.columns
    parent = str(columns["parent"][row])
    for each in opened.index.rows_by_parent.get(parent, ())[:_MOST_BESIDE] if parent else ():
        path = str(columns["path"][each])
        yield {
            "name": str(columns["title"][each]) or path,
            "kind": str(columns["kind"][each]).replace("_", " "),
            "href": opened.at(path),
            "here": "page" if each == row else "",
        }


def _implementations(
    visit: Visit, opened: _Opened, path: str, kinds: set[str]
) -> dict[str, Any] | None:
    """Return who implements a trait, or what a type implements; None of anything else."""
    if opened.language.packaged or not kinds & (_TYPES | {"trait"}):
        return None
    by = "trait" if "trait" in kinds else "type"
    asked = {"package": opened.name, "version": opened.stowed.version, by: path}
    try:
        found = visit.read("find_implementations", **asked)
    except DocstowError:
        return None
    rows = found["results"]
    return {"by": by, "total": found["total"], "rows": rows[:_MOST_IMPLEMENTATIONS]}


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


# Prose


def prose_page(visit: Visit) -> Response:
    """Return a page of a source, with its contents and the pages beside it."""
    prose = visit.services.open_prose()
    opened = prose.document(visit.parameters["doc"])
    index = prose.index(opened.snapshot)
    document = opened.document

    def leads(url: str) -> str:
        if url.startswith("#"):
            return url.lower()
        bare, _, fragment = urljoin(document.url or document.path, url).partition("#")
        row = index.page_row(bare)
        if row is None:
            return url if "://" in url or url.startswith("mailto:") else ""
        return addresses.page(str(index.columns["id"][row]), fragment.lower())

    columns = index.columns
    headed = document.text.lstrip().startswith("# ")
    pages = [
        {
            "title": str(title) or str(path),
            "href": addresses.page(str(identity)),
            "here": "page" if path == document.path else "",
        }
        for identity, title, path in zip(
            columns["id"].tolist()[:_MOST_PAGES],
            columns["title"].tolist(),
            columns["path"].tolist(),
            strict=False,
        )
    ]
    place = next((number for number, each in enumerate(pages) if each["here"]), None)
    return render(
        "page.html",
        visit,
        registration=opened.registration,
        snapshot=opened.snapshot,
        document=document,
        docs=render_text(document.text, link=leads, below=0 if headed else 1),
        headed=headed,
        pages=pages,
        before=pages[place - 1] if place else None,
        after=pages[place + 1] if place is not None and place + 1 < len(pages) else None,
    )


_PAGES = dict(zip(PATHS, (prose_page, item, package, item, package), strict=True))


def find(address: str) -> tuple[Callable[[Visit], Response], dict[str, str]]:
    """Return what makes the page of an address, and the parts of its path.

    Raises:
        ValueError: there is no such page.
    """
    for path, page in _PAGES.items():
        if match := compile_path(path)[0].match(unquote(address)):
            return page, match.groupdict()
    raise ValueError(f"{address} is no page")


def routes() -> Iterator[tuple[str, Callable[[Visit], Response], int]]:
    """Yield the paths of these pages, what makes each, and how many slow calls that makes."""
    yield "/", home, 0
    for path, page in _PAGES.items():
        yield path, page, 0
