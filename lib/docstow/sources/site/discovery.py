"""Pages that a site lists itself: sitemaps (sitemaps.org), ``llms.txt`` and ``llms-full.txt``.

Sitemaps with a document type are refused, as it could define entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urljoin
from xml.parsers import expat

from docstow.core.errors import UnreadableInput
from docstow.net.decompress import GZIP, Limits, decompress

# Possessive, and no part matches beyond a "[", so that hostile texts take linear time.
_LINK = re.compile(r"\[[^\[\]\n]*+\]\(\s*+<?([^\[)\s>]++)>?[^\[)\n]*+\)")
#: The line with a page's URL after its title, as common generators write it.
_NAMED = re.compile(
    r"^(?:[-*>]\s+)?\**(?:source|url|permalink)(?: url)?\**:\**\s*<?(https?://[^\s>]+)>?\s*$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^#{1,2}\s+\S")
_FENCE = re.compile(r"^\s*(```|~~~)")
#: The largest distance in lines of a page's title and its URL.
_NEAR = 4
#: The largest sitemap in bytes, and in pages, by sitemaps.org.
MOST_BYTES = 50 * 1024 * 1024
MOST_PAGES = 50_000


def is_text(body: bytes, media_type: str) -> bool:
    """Return whether an answer is plain text; many sites answer any request with HTML."""
    return "html" not in media_type.lower() and body.lstrip()[:1] != b"<"


def links(text: str, url: str) -> list[str]:
    """Return the absolute URLs that an ``llms.txt`` links to, in its order."""
    found = (urljoin(url, match[1]) for match in _LINK.finditer(text))
    return [each for each in dict.fromkeys(found) if each.startswith(("http://", "https://"))]


def sections(text: str) -> dict[str, str]:
    """Return the pages of an ``llms-full.txt`` as Markdown by URL; empty if it names no URLs.

    A page begins with its title, followed by a line such as ``Source: https://…``.
    """
    lines = text.splitlines()
    marks = _marks(lines)
    pages: dict[str, str] = {}
    for number, (title, named, url) in enumerate(marks):
        end = marks[number + 1][0] if number + 1 < len(marks) else len(lines)
        body = [*lines[title:named], *lines[named + 1 : end]]
        pages.setdefault(url, "\n".join(body).strip() + "\n")
    return pages


def _marks(lines: list[str]) -> list[tuple[int, int, str]]:
    """Return the lines of titles and of URLs, and the URLs."""
    marks: list[tuple[int, int, str]] = []
    title, fence = -_NEAR - 1, ""
    for number, line in enumerate(lines):
        if match := _FENCE.match(line):
            fence = "" if fence == match[1] else fence or match[1]
        elif fence:
            continue
        elif _TITLE.match(line):
            title = number
        elif (match := _NAMED.match(line)) and number - title <= _NEAR:
            marks.append((title, number, match[1]))
            title = -_NEAR - 1
    return marks


@dataclass(slots=True)
class Sitemap:
    """The URLs of a sitemap, in its order."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Parse a sitemap, an index of sitemaps, or a list of URLs, one per line.

    Args:
        body: the bytes, which may be gzipped.
        url: of the sitemap, for messages.

    Raises:
        UnreadableInput: it is none of these, or declares a document type.
        TooLarge: it is larger than :data:`MOST_BYTES` when decompressed.
    """
    if body.startswith(GZIP):
        body = decompress([body], Limits(MOST_BYTES, MOST_BYTES), name=url)
    start = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"http://", b"https://")):
        return Sitemap(pages=_lines(body.decode("utf-8", "replace").splitlines()))
    return _Parser(url).parse(body)


def _lines(lines: Iterable[str]) -> list[str]:
    found = (line.lstrip("\ufeff").strip() for line in lines)
    return [line for line in found if line.startswith(("http://", "https://"))][:MOST_PAGES]


class _Full(Exception):
    """The largest number of pages is reached."""


class _Parser:
    """A pass over the XML that keeps the text of ``<loc>``."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._found = Sitemap()
        self._open: list[str] = []
        self._loc: list[str] = []

    def parse(self, body: bytes) -> Sitemap:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._begin
        parser.CharacterDataHandler = self._text
        parser.EndElementHandler = self._end
        try:
            parser.Parse(body, True)  # noqa: FBT003 - expat's own parameter has no name
        except _Full:
            pass
        except expat.ExpatError as error:
            raise UnreadableInput(f"{self._url} is no sitemap: {error}.") from None
        return self._found

    def _refuse(self, *_: object) -> None:
        raise UnreadableInput(
            f"{self._url} is no sitemap: it declares a document type, which sitemaps do not have."
        )

    def _begin(self, name: str, _: dict[str, str]) -> None:
        self._open.append(name.rpartition(" ")[2])
        self._loc = []
        if len(self._open) == 1 and self._open[0] not in {"urlset", "sitemapindex"}:
            raise UnreadableInput(f"{self._url} is no sitemap but <{self._open[0]}>.")

    def _text(self, text: str) -> None:
        if self._open[-1] == "loc":
            self._loc.append(text)

    def _end(self, _: str) -> None:
        # <image:loc> is deeper, in <image:image>.
        if self._open[1:] in (["url", "loc"], ["sitemap", "loc"]):
            kept = self._found.pages if self._open[1] == "url" else self._found.sitemaps
            kept.append("".join(self._loc).strip())
            if len(kept) >= MOST_PAGES:
                raise _Full
        self._open.pop()
        self._loc = []
