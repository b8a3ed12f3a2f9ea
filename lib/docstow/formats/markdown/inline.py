"""Inline Markdown: make links absolute, resolve references, convert HTML tags.

All patterns are bounded or possessive, so that the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin, urlsplit

_BLOB = re.compile(r"(https?://[^/]+/[^/]+/[^/]+)/(?:-/)?(blob|raw|tree)/([^/]+)/")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
#: What an address in Markdown has angle brackets around it for.
_ANGLED = re.compile(r"[\s()]")
#: An address with a host and without a fragment, as nearly all are.
_PLAIN = re.compile(r"https?://[a-z0-9.-]+(?:/[^#]*)?")
_LONGEST = 4000


def absolute(target: str, base: str, *, image: bool = False) -> str:
    """Return the absolute URL of a link; the target itself where it cannot be resolved.

    Args:
        target: as written.
        base: the page's URL; may be empty.
        image: whether it is an image; on a forge the URL is then that of the raw file.
    """
    if not base or _SCHEME.match(target) or len(target) > _LONGEST:
        return target
    shown = _BLOB.match(base)
    if shown is not None and target.startswith("/") and not target.startswith("//"):
        target = shown[0] + target[1:]
    try:
        url = urljoin(base, target)
    except ValueError:
        return target
    if image and shown is not None and shown[2] == "blob":
        return url.replace("/blob/", "/raw/", 1)
    return url


def page_address(url: str) -> str:
    """Return an http(s) URL without its fragment; empty for anything else."""
    if not url.startswith(("http://", "https://")) or len(url) > _LONGEST:
        return ""
    if _PLAIN.fullmatch(url):
        return url
    try:
        return urldefrag(url).url if urlsplit(url).hostname else ""
    except ValueError:
        return ""


_DESTINATION = (
    r"\(\s{0,9}(?:<(?P<%s_angled>[^<>\n]{0,2000})>|(?P<%s_plain>(?:[^\s()<>]|\([^\s()]{0,500}\)){0,2000}+))"
    r"(?:\s{1,9}(?:\"[^\"]{0,500}\"|'[^']{0,500}'))?\s{0,9}\)"
)
_INLINE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\0]{1,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escape>\\[^\n])"
    r"|(?P<comment><!--[^\0]{0,2000}?-->)"
    r"|<(?P<auto>https?://[^\s<>]{1,2000})>"
    r"|(?P<tag><(?P<close>/?)(?P<name>[A-Za-z][\w.-]{0,40})(?P<attributes>\s[^<>]{0,1500})?/?>)"
    r"|(?P<image>!\[(?P<alt>[^\[\]]{0,500})\](?:"
    + _DESTINATION.replace("%s", "image")
    + r"|\[(?P<image_reference>[^\[\]]{0,200})\]))"
    r"|(?P<link>\[(?P<label>(?:[^\[\]`]|`[^`\n]{0,200}`"
    r"|!?\[[^\[\]]{0,300}\](?:\([^()\s]{0,1000}\)|\[[^\[\]]{0,100}\])?){1,500}+)\](?:"
    + _DESTINATION.replace("%s", "link")
    + r"|\[(?P<reference>[^\[\]]{0,200})\])?)"
    r"|(?P<bare>https?://[^\s<>\[\]()\"'`]{1,2000})"
)
_ATTRIBUTE = re.compile(r"([A-Za-z-]{1,30})\s{0,5}=\s{0,5}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_BADGE = re.compile(r"shields\.io|badge|travis-ci|codecov\.io|coveralls\.io", re.IGNORECASE)
_MOST_EXPANDED = 1024 * 1024
_MARKS = {
    "b": "**", "strong": "**", "summary": "**", "i": "*", "em": "*", "code": "`", "kbd": "`",
    "samp": "`", "tt": "`",
}  # fmt: skip
#: Tags without an equivalent in Markdown; other names, such as ``<T>``, stay as they are.
_DROPPED = {
    "a", "abbr", "article", "aside", "br", "center", "cite", "dd", "del", "details",
    "dfn", "div", "dl", "dt", "figcaption", "figure", "font", "footer", "header", "hr",
    "iframe", "img", "input", "ins", "li", "main", "mark", "nav", "ol", "p", "picture",
    "pre", "s", "section", "small", "source", "span", "strike", "sub", "sup", "svg",
    "path", "table", "tbody", "td", "th", "thead", "tr", "u", "ul", "video", "wbr", "h1",
    "h2", "h3", "h4", "h5", "h6", "blockquote", "caption", "col", "colgroup", "button",
    "script", "style",
}  # fmt: skip


@dataclass(slots=True)
class Inline:
    """Rewrites the paragraphs of a document.

    Attributes:
        base: the page's URL; may be empty.
        references: the targets of reference definitions by normalised label.
        links: the URLs in order, as keys.
    """

    base: str
    references: Mapping[str, str]
    links: dict[str, None] = field(default_factory=dict)
    _expanded: int = 0

    def rewrite(self, text: str) -> str:
        """Return a paragraph rewritten."""
        if not ("[" in text or "<" in text or "://" in text):
            return text
        opened: list[str] = []

        def replace(match: re.Match[str]) -> str:
            kind = match.lastgroup
            if match["tag"]:
                return self._tag(match, opened, cell=text.startswith("|"))
            if match["image"]:
                return self._image(match)
            if match["link"]:
                return self._link(match)
            if kind == "comment":
                return ""
            if kind in {"auto", "bare"}:
                self._add_link((match["auto"] or match["bare"]).rstrip(".,;:!?"))
            return match[0]

        rewritten = _INLINE.sub(replace, text)
        rewritten += "".join(f"]({url})" for url in reversed(opened) if url)
        return rewritten if text[:1].isspace() else rewritten.lstrip()

    def _add_link(self, url: str) -> None:
        address = page_address(url)
        if address:
            self.links[address] = None

    def _target(self, match: re.Match[str], kind: str, label: str, reference: str | None) -> str:
        direct = match[f"{kind}_angled"] or match[f"{kind}_plain"]
        if direct is not None:
            return direct
        if reference is None and match[0].endswith(")"):
            return ""
        target = self.references.get(normalize_label(reference or label), "")
        # A short label may be replaced by a long URL many times; the total is bounded.
        self._expanded += len(target)
        return target if self._expanded < _MOST_EXPANDED else ""

    def _image(self, match: re.Match[str]) -> str:
        target = self._target(match, "image", match["alt"], match["image_reference"])
        return self._picture(match["alt"], target) if target else match[0]

    def _picture(self, alt: str, target: str) -> str:
        if _BADGE.search(target) or target.startswith("data:"):
            return ""
        return f"![{alt}]({absolute(target, self.base, image=True)})"

    def _link(self, match: re.Match[str]) -> str:
        label = match["label"]
        target = self._target(match, "link", label, match["reference"])
        if not target:
            return match[0]
        if "[" in label or "<" in label:
            nested = self.rewrite(label)
            if not nested.strip():
                return ""
            label = nested
        return self._linked(label, target)

    def _linked(self, label: str, target: str) -> str:
        if target.lower().startswith(("javascript:", "data:")):
            return label
        url = absolute(target, self.base)
        self._add_link(url)
        return f"[{label}]({url})" if not _ANGLED.search(url) else f"[{label}](<{url}>)"

    def _tag(self, match: re.Match[str], opened: list[str], *, cell: bool) -> str:
        name = match["name"].lower()
        closing = bool(match["close"])
        attributes = {
            key.lower(): quoted or single or bare
            for key, quoted, single, bare in _ATTRIBUTE.findall(match["attributes"] or "")
        }
        if name == "a":
            return self._anchor(attributes.get("href", ""), opened, closing=closing)
        if name == "img" and attributes.get("src"):
            return self._picture(attributes.get("alt", ""), attributes["src"])
        if name in _MARKS:
            return _MARKS[name]
        if name == "br":
            return " " if cell else "\n"
        if name == "li":
            return "" if closing else "- "
        return "" if name in _DROPPED else match[0]

    def _anchor(self, target: str, opened: list[str], *, closing: bool) -> str:
        if not closing:
            url = absolute(target, self.base) if target else ""
            opened.append("" if url.lower().startswith("javascript:") else url)
            self._add_link(url)
            return "[" if opened[-1] else ""
        url = opened.pop() if opened else ""
        return f"]({url})" if url else ""


def normalize_label(text: str) -> str:
    """Return the label of a reference as it is compared."""
    return " ".join(text.lower().split())
