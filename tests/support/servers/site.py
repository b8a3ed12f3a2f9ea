"""A documentation website on loopback that serves a folder and misbehaves where it is told to.

``with Site(folder) as site:`` gives ``site.url`` and ``site.visits``. By hand:
``python -m servers.site FOLDER --port 8080``; below ``/bad/`` there is one page for each way to
misbehave, and ``/bad/`` itself links to them all.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import mimetypes
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from servers.loopback import Fault, Handler, Loopback, content, redirect, status

#: What stands for the server's own address in the files of a folder.
PLACEHOLDER = b"http://docs.example"
_TYPES = {".html": "text/html; charset=utf-8", ".md": "text/markdown", ".xml": "application/xml"}


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: its path with query, its headers by lower-case name, and when it began."""

    path: str
    headers: Mapping[str, str]
    time: float


class Site:
    """A website on a free port of 127.0.0.1; a context manager.

    Args:
        folder: its files; ``docs.example`` in them becomes the server's own address.
        port: 0 for any.

    Attributes:
        url: its root, without a trailing slash.
        visits: every request so far, in order.
        plan, always: make requests meet faults, see :class:`servers.loopback.Loopback`.
    """

    def __init__(self, folder: Path | None = None, *, port: int = 0) -> None:
        self.folder = folder
        self.visits: list[Visit] = []
        self._files: dict[str, Fault] = {}
        self._lock = threading.Lock()
        self._loopback = Loopback(self.answer, port=port)
        self.url = self._loopback.url
        self.plan = self._loopback.plan
        self.always = self._loopback.always

    def __enter__(self) -> Self:
        self._loopback.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loopback.__exit__(kind, error, trace)

    def put(
        self,
        path: str,
        body: str | bytes,
        media_type: str = "text/html; charset=utf-8",
        **headers: str,
    ) -> None:
        """Have a file at that path; ``x_robots_tag="noindex"`` becomes a header.

        It has an ETag unless ``etag=""`` is given.
        """
        data = body.encode() if isinstance(body, str) else body
        etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        named = {"Content-Type": media_type, "ETag": etag}
        named |= {name.replace("_", "-").title(): value for name, value in headers.items()}
        if not headers.get("etag", etag):
            named = {name: value for name, value in named.items() if name.lower() != "etag"}
        self.at(path, lambda handler: handler.reply(200, data, named))

    def page(self, path: str, title: str, text: str = "", *links: str, head: str = "") -> None:
        """Have a page of HTML with a title, a paragraph and links."""
        items = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
        self.put(
            path,
            f"<!doctype html><html><head><title>{title}</title>{head}</head><body><main>"
            f"<h1>{title}</h1><p>{text or f'All about {title}.'}</p><ul>{items}</ul>"
            "</main></body></html>",
        )

    def at(self, path: str, answer: Fault) -> None:
        """Let an answer of its own stand at exactly that path."""
        self._files[path] = answer

    def paths(self, part: str = "") -> list[str]:
        """The paths asked for so far that contain ``part``, queries included."""
        with self._lock:
            return [visit.path for visit in self.visits if part in visit.path]

    def forget(self) -> None:
        """Begin the list of visits anew."""
        with self._lock:
            self.visits.clear()

    def answer(self, handler: Handler) -> None:
        """Answer as the folder and the pages put by hand say."""
        headers = dict(handler.asked.headers)
        with self._lock:
            self.visits.append(Visit(handler.path, headers, time.monotonic()))
        fault = self._files.get(handler.path) or self._files.get(handler.place)
        if fault is not None:
            fault(handler)
        elif self.folder is not None:
            self._answer_file(handler, self.folder)
        else:
            handler.reply(404, b"<h1>Not found</h1>", {"Content-Type": "text/html"})

    def _answer_file(self, handler: Handler, folder: Path) -> None:
        file = (folder / handler.place.lstrip("/")).resolve()
        if folder.resolve() not in [file, *file.parents]:
            handler.reply(404)
        elif file.is_dir() and not handler.place.endswith("/"):
            handler.reply(301, b"", {"Location": f"{handler.place}/"})
        else:
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file():
                handler.reply(404, b"<h1>Not found</h1>", {"Content-Type": "text/html"})
                return
            body = file.read_bytes().replace(PLACEHOLDER, self.url.encode())
            guessed = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0]
            etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            headers = {"Content-Type": guessed or "application/octet-stream", "ETag": etag}
            handler.reply(200, body, headers)


def slow(release: threading.Event, seconds: float = 60) -> Fault:
    """Say nothing until the event is set, or for so long."""

    def answer(handler: Handler) -> None:
        release.wait(seconds)
        handler.close_connection = True

    return answer


def endless(handler: Handler) -> None:
    """A calendar: every page links to the next two."""
    number = int(parse_qs(urlsplit(handler.path).query).get("page", ["0"])[0])
    links = "".join(f'<a href="?page={each}">on</a>' for each in (number + 1, number + 2))
    page = f"<title>Day {number}</title><main><p>Day {number} of many.</p>{links}</main>"
    handler.reply(200, page.encode(), {"Content-Type": "text/html"})


def deeper(handler: Handler) -> None:
    """A path that grows with every link."""
    body = (
        f'<title>{handler.place}</title><p>{handler.place}</p><a href="{handler.place}/on">on</a>'
    )
    handler.reply(200, body.encode(), {"Content-Type": "text/html"})


def sitemap(*urls: str) -> bytes:
    """A sitemap of pages."""
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return _XML + f'<urlset xmlns="{_NAMESPACE}">{entries}</urlset>'.encode()


def sitemap_index(*urls: str) -> bytes:
    """A sitemap of sitemaps."""
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return _XML + f'<sitemapindex xmlns="{_NAMESPACE}">{entries}</sitemapindex>'.encode()


_XML = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def misbehave(site: Site) -> None:
    """Have one page below ``/bad/`` for each way to misbehave."""
    latin = "<meta charset=utf-8><title>Grün</title><p>Grüße</p>".encode("latin-1")
    script = (
        b"<title>App</title><div id=app></div><script>app.textContent='Made by a script'</script>"
    )
    ways: dict[str, Fault] = {
        "slow": slow(threading.Event()),
        "later": status(429, retry_after="2"),
        "broken": status(500),
        "circle": redirect("/bad/circle-2"),
        "circle-2": redirect("/bad/circle"),
        "away": redirect("http://example.invalid/"),
        "large": content(b"<p>" + b"x" * 11_000_000, "text/html"),
        "charset": content(latin, "text/html; charset=utf-8"),
        "calendar": endless,
        "script": content(script, "text/html"),
        "sitemap.xml.gz": content(gzip.compress(sitemap(f"{site.url}/bad/script"))),
    }
    for name, answer in ways.items():
        site.at(f"/bad/{name}", answer)
    site.plan("/bad/once", status(500))
    site.page("/bad/once", "Once", "Failed before, is fine now.")
    tracked = [f"/bad/once?utm_source={each}" for each in ("mail", "feed")]
    site.page("/bad/", "Bad", "", *(f"/bad/{name}" for name in ways), *tracked)


def main() -> None:
    """Serve a folder until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8080)
    given = parser.parse_args()
    with Site(given.folder, port=given.port) as site:
        misbehave(site)
        print(site.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
