"""The pages that are read: search, and pages of prose; and which page an address is of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from starlette.responses import Response
from starlette.routing import compile_path

from docstow import languages
from docstow.core.errors import InvalidParameter
from docstow.core.model import LOCAL
from docstow.server.sessions import ROOT
from docstow.server.web import addresses, items
from docstow.server.web.markdown import render as render_text
from docstow.server.web.templates import render
from docstow.text.chunking import first_sentence, plain

if TYPE_CHECKING:
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
#: Packages whose names are offered.
_MOST_NAMES = 5
#: Pages of a source that are listed beside one of it.
_MOST_PAGES = 500
_FENCE = re.compile(r"```(\w*)[^\n]*\n(.*?)\n```\s*", re.DOTALL)
#: What stands before the docs of a result: headings, and facts that its page has.
_HEADING = re.compile(r"\n#+ ")
_LEADING = re.compile(r"\A\s*(?:(?:#+|Available|Defined in|Also at:|Needs Rust) [^\n]*\n+)+")


# Search


def home(visit: Visit) -> Response:
    """Return what a search finds, or what there is where nothing is asked."""
    query = visit.query.get("q", "").strip()[:_LONGEST_QUERY]
    kind = visit.query.get("in", "")
    of = visit.query.get("of", "")
    found: dict[str, Any]
    if not query:
        found = {"stowed": _list_stowed(visit), "sources": _list_sources(visit)}
    elif of:
        results, notice = _search_package(visit, query, of)
        found = {"results": results, "names": [], "notice": notice}
    else:
        results, notice = _search(visit, query, kind)
        names = [] if kind else _list_stowed(visit, query)[:_MOST_NAMES]
        found = {"results": results, "names": names, "notice": notice}
    template = "results.html" if visit.partial else "home.html"
    response = render(template, visit, query=query, kind=kind, of=of, **found)
    if visit.partial:
        # A search is one step back, however many letters it has.
        step = "Replace" if urlsplit(visit.current).path == "/" else "Push"
        members = {"q": query, "in": kind, "of": of}
        response.headers[f"HX-{step}-Url"] = addresses.query("/", **members)
    return response


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


def _search_package(visit: Visit, query: str, of: str) -> tuple[list[dict[str, Any]], str]:
    """Return the items that a search of one package finds: ``rust/tokio@latest``."""
    language, _, named = of.partition("/")
    name, _, version = named.rpartition("@")
    if not name or languages.of_name(language) is None:
        raise InvalidParameter("of", "must be LANGUAGE/PACKAGE@VERSION, such as rust/tokio@latest")
    asked = {"package": name, "version": "" if version == addresses.LATEST else version}
    found = visit.read("search_items", **asked, language=language, query=query, k=_MOST_RESULTS)
    return [
        {
            "kind": each["item_type"].replace("_", " "),
            "title": each["item_path"],
            "source": name,
            "version": found["answered"],
            "href": addresses.item(language, name, version, each["item_path"]),
            "signature": _first_lines(each.get("header", "")),
            "language": language,
            "text": _shorten(each.get("text", "")),
        }
        for each in found["results"]
    ], found.get("notice", "")


def _page_result(row: Mapping[str, Any]) -> dict[str, Any]:
    title, source = _place(str(row["heading_path"] or row["title"]), row["source"])
    return {
        "kind": "page",
        "title": title,
        "source": source,
        "version": "",
        "href": addresses.page(row["doc_id"], row["url"].partition("#")[2]),
        "signature": "",
        "language": "",
        "text": _shorten(row["snippet"]).removeprefix(title).lstrip(),
    }


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of the tool ``ask`` as a list shows it."""
    text, call = str(row["text"]), row["next"]
    signature, language = "", ""
    title, kind, source = str(row["title"]), str(row["kind"]), str(row["source"])
    if kind == "passage":
        kind = "page"
        title, source = _place(title, source)
        href = addresses.page(call["arguments"]["doc"], row["url"].partition("#")[2])
    else:
        href = addresses.of_call(call)
        path = call["arguments"]["item_path"]
        kind = title.removesuffix(path).strip() or kind
        title = path
        if match := _FENCE.search(text):
            language, signature = match[1], match[2]
            signature = _first_lines(signature, 8 if kind == "example" else _MOST_LINES)
            text = text[: match.start()] + text[match.end() :]
    return {
        "kind": kind.replace("_", " "),
        "title": title,
        "source": source,
        "version": row["version"],
        "href": href,
        "signature": signature,
        "language": language,
        "text": _shorten(text),
    }


def _place(path: str, source: str) -> tuple[str, str]:
    """Return the last of a passage's headings, and its source with those above."""
    *above, title = path.split(" > ")
    return title, " / ".join([source, *above])


def _first_lines(signature: str, most: int = _MOST_LINES) -> str:
    lines = signature.splitlines()
    return "\n".join([*lines[:most], "…"] if len(lines) > most else lines)


def _shorten(markdown: str) -> str:
    """Return the beginning of a text, without the headings and facts before it."""
    own = _HEADING.split(_LEADING.sub("", markdown), maxsplit=1)[0]
    text = " ".join(plain(own).replace("`", "").split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT].rsplit(' ', 1)[0]} …"


def _list_stowed(visit: Visit, query: str = "") -> list[dict[str, str]]:
    """Return the crates and packages that are stowed, each in its newest version.

    Args:
        visit: whose.
        query: what their names begin with.
    """
    cards = visit.services.open_catalog().card_set()
    found: dict[tuple[str, str], dict[str, str]] = {}
    for language in languages.documented():
        kinds = (language.kind,) if language.packaged else (LOCAL, "crate")
        for kind in kinds:
            for entry in cards.listed(kind):
                if not _begins(entry.source.name, query):
                    continue
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
    return [found[key] for key in sorted(found, key=lambda key: (key[1].lower(), key[0]))]


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
            href = addresses.item(
                given.get("language", "rust"), items.asked_name(visit), version, path
            )
            found.append({"title": path, "href": href})
        elif doc := each.get("document_id"):
            found.append({"title": each.get("title") or doc, "href": addresses.page(doc)})
    return found


# Prose


def prose_page(visit: Visit) -> Response:
    """Return a page of a source, with its contents and the pages beside it."""
    prose = visit.services.open_prose()
    opened = prose.document(visit.parameters["doc"])
    index = prose.index(opened.snapshot)
    document = opened.document

    def leads(url: str) -> str:
        if url.startswith("#"):
            return url
        bare, _, fragment = urljoin(document.url or document.path, url).partition("#")
        row = index.page_row(bare)
        if row is None:
            return url if "://" in url or url.startswith("mailto:") else ""
        return addresses.page(str(index.columns["id"][row]), fragment)

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
        docs=render_text(
            document.text,
            link=leads,
            below=0 if headed else 1,
            anchors=document.attributes.get("anchors", ()),
        ),
        headed=headed,
        pages=pages,
        before=pages[place - 1] if place else None,
        after=pages[place + 1] if place is not None and place + 1 < len(pages) else None,
    )


_PAGES = dict(
    zip(PATHS, (prose_page, items.item, items.package, items.item, items.package), strict=True)
)


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
