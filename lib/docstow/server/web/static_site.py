"""The pages of one crate, package or source as files, which need no server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

from docstow import languages
from docstow.index.profiles import ITEMS
from docstow.server.sessions import ROOT
from docstow.server.web import addresses, reading
from docstow.server.web.visit import Services, Visit

if TYPE_CHECKING:
    from docstow.index.loaded import Index

_STATIC = Path(__file__).parent / "static"
_ADDRESS = re.compile(r' (href|src)="(/[^"]*)"')
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
    for address, file in files.items():
        if not file.startswith("static/"):
            yield file, _relative(_render(services, address, title), file, files)


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


def _relative(text: str, file: str, files: dict[str, str]) -> str:
    """Return a page with its links leading to files."""

    def lead(match: re.Match[str]) -> str:
        address, hash_, fragment = unescape(match[2]).partition("#")
        target = files.get(address.partition("?")[0])
        if target is None:
            return ""
        return f' {match[1]}="{relpath(target, Path(file).parent)}{hash_}{fragment}"'

    return _ADDRESS.sub(lead, text)
