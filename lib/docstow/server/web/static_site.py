"""The pages of one crate, package or source as files, which need no server."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Set
from html import unescape
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from docstow import languages
from docstow.index.profiles import ITEMS
from docstow.server.sessions import ROOT
from docstow.server.web import addresses, reading
from docstow.server.web.visit import Services, Visit

if TYPE_CHECKING:
    from docstow.index.loaded import Index

_STATIC = Path(__file__).parent / "static"
#: Of elements alone: what code says of addresses stays.
_ADDRESS = re.compile(r'(<[a-z][^<>]*?) (href|src)="([/#][^"]*)"')
_ID = re.compile(r'<[a-z][^<>]*? id="([^"]+)"')
_UNSAFE = re.compile(r"[^\w.-]+")
_LONGEST = 120


def write_pages(services: Services, index: Index, title: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a site, each with its text; ``index.html`` is where it begins.

    Links to what the site does not have are text in it.

    Args:
        services: what the pages show.
        index: the snapshot that is written.
        title: what people call it.
    """
    source = index.snapshot.revision.source
    if index.profile is ITEMS:
        language = (languages.of_kind(source.kind) or languages.RUST).name
        start = addresses.package(language, source.name, source.version)
        paths = dict.fromkeys(map(str, index.columns["path"]))
        pages = {addresses.item(language, source.name, source.version, p): p for p in paths}
    else:
        start = addresses.page(str(index.columns["id"][0]))
        rows = zip(index.columns["id"].tolist(), index.columns["path"].tolist(), strict=True)
        pages = {addresses.page(identity): path for identity, path in rows}
        pages.pop(start, None)
    files = {start: "index.html", **dict(zip(pages, _name_files(pages.values()), strict=True))}
    for name in ("style.css", "theme.js", "page.js", "icon.svg"):
        files[f"{ROOT}/static/{name}"] = f"static/{name}"
        yield f"static/{name}", (_STATIC / name).read_text("utf-8")
    # Whether a page has what a link leads to is known once all are rendered.
    rendered: dict[str, bytes] = {}
    anchors: dict[str, set[str]] = {}
    for address in (start, *pages):
        text = _render(services, address, title)
        anchors[address] = set(map(unescape, _ID.findall(text)))
        rendered[address] = zlib.compress(text.encode(), 1)
    for address, packed in rendered.items():
        text = zlib.decompress(packed).decode()
        yield files[address], _relative(text, address, files, anchors)


def _name_files(paths: Iterable[str]) -> Iterator[str]:
    """Yield a file for each page; no two differ in case alone."""
    taken: set[str] = set()
    for path in paths:
        stem = _UNSAFE.sub("-", path.replace("::", ".")).strip(".-")[:_LONGEST] or "page"
        chosen, number = stem, 1
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{stem}-{number}"
        taken.add(chosen.casefold())
        yield f"pages/{chosen}.html"


def _render(services: Services, address: str, title: str) -> str:
    """Return a page as the server answers it, without what needs a server."""
    page, parameters = reading.find(address)
    visit = Visit(services, path=address, parameters=parameters, of_site=title)
    return bytes(page(visit).body).decode()


def _relative(
    text: str, address: str, files: Mapping[str, str], anchors: Mapping[str, Set[str]]
) -> str:
    """Return a page with its links leading to files, and to what these have.

    Args:
        text: of the page.
        address: of the page, at a server.
        files: where the site has what, by address.
        anchors: what fragments may lead to in each page.
    """
    folder = Path(files[address]).parent

    def lead(match: re.Match[str]) -> str:
        place, _, fragment = unescape(match[3]).partition("#")
        target = place.partition("?")[0] or address
        if target not in files:
            return match[1]
        known = {fragment, unquote(fragment)} & anchors.get(target, set())
        rest = f"#{quote(known.pop())}" if known else ""
        link = f"{relpath(files[target], folder) if place else ''}{rest}"
        return f'{match[1]} {match[2]}="{link}"' if link else match[1]

    return _ADDRESS.sub(lead, text)
