"""Readers of documentation formats: pure functions from the bytes of a file to a page."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from importlib import import_module
from posixpath import basename, dirname, splitext
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.errors import UnreadableInput
from docstow.core.model import NO_ATTRIBUTES, File
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.formats.trees import Trees
from docstow.text.decoding import decode

PROSE_READER = "prose/6"
_WORD = lazy_pattern(r"[^\W_]+")
_BY_SUFFIX = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".mdx": "mdx",
    ".rst": "rst",
    ".rest": "rst",
    ".ipynb": "notebook",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".txt": "plain",
    ".text": "plain",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
}
_BY_MEDIA_TYPE = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/mdx": "mdx",
    "text/x-rst": "rst",
    "text/prs.fallenstein.rst": "rst",
    "text/asciidoc": "asciidoc",
    "text/x-asciidoc": "asciidoc",
    "application/x-ipynb+json": "notebook",
    "application/pdf": "pdf",
}
#: Readers of formats that share another's module.
_READERS = {"mdx": "markdown:read_mdx", "plain": "markdown:read_plain"}
#: Media types that do not determine the format; the suffix does.
_VAGUE = {"", "text/plain", "application/octet-stream", "binary/octet-stream"}
#: Names of text files without a suffix.
_BARE_NAMES = {
    "readme",
    "changelog",
    "changes",
    "contributing",
    "history",
    "install",
    "news",
    "upgrading",
}
#: The names of admonitions in documentation tools.
ADMONITIONS = frozenset({
    "note", "tip", "info", "important", "warning", "caution", "danger", "error", "hint",
    "attention", "seealso", "abstract", "summary", "success", "question", "failure", "bug",
    "example", "quote", "deprecated", "versionadded", "versionchanged", "versionremoved", "todo",
    "admonition", "details", "secondary",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Image:
    """An image on a page; its pixels are not looked at.

    Attributes:
        url: absolute.
        alt: what stands for it where it is not shown.
        caption: the words below it.
        heading: the heading that it stands below.
    """

    url: str
    alt: str
    caption: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what a reader returns for a file.

    Attributes:
        title: the title heading, the title in the metadata, or the file's name; never empty.
        text: normalised Markdown; it begins with ``# Title`` where the file has a title heading.
        canonical: the canonical URL that the page states; absolute, or empty.
        links: absolute http(s) URLs of the whole page, navigation included, in order and
            without fragments.
        indexable: False where the page forbids indexing.
        attributes: ``language`` (a natural one), ``description`` and ``tags`` where known;
            ``anchors`` and ``terms``, the fragments of headings and of terms of lists, as
            :mod:`docstow.text.headings` says.
        images: those of a format whose text names none: HTML.
        words: number of words that the file shows, without navigation and what its site repeats.
        kept: number of those that the text has.
    """

    title: str
    text: str
    canonical: str = ""
    links: tuple[str, ...] = ()
    indexable: bool = True
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    words: int = 0
    kept: int = 0
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Skimmed:
    """What a crawl has to know of a page before the other pages of its site are there.

    Attributes:
        title: as of a :class:`Page`.
        digest: of the title and of the main part's text, links and images, so that pages that
            differ around it have the same; empty of a page without text.
        canonical: as of a :class:`Page`.
        links: as of a :class:`Page`.
        indexable: as of a :class:`Page`.
    """

    title: str
    digest: str
    canonical: str = ""
    links: tuple[str, ...] = ()
    indexable: bool = True


def readable(path: str, media_type: str) -> bool:
    """Return whether :func:`read` can read a file.

    Args:
        path: its path or URL.
        media_type: with parameters; may be empty.
    """
    return bool(_format(path, media_type))


def survey(
    files: Iterable[File],
    known: Mapping[str, Any] = NO_ATTRIBUTES,
    trees: Trees | None = None,
) -> dict[str, Any]:
    """Return what the pages of one site share, as JSON that :func:`read` takes.

    Args:
        files: of the site; a few hundred are enough, and only HTML counts.
        known: what earlier pages of the site shared; it is included.
        trees: keeps the pages as they were parsed, for :func:`read`.
    """
    html: Any = import_module("docstow.formats.html")
    pages = ((file.body, _charset(file.media_type)) for file in files if is_html(file))
    shared = html.survey(pages, trees)
    found: dict[str, Any] = (shared | html.Shared.from_json(known)).to_json()
    return found


def is_html(file: File) -> bool:
    """Return whether a file is an HTML page."""
    return _format(file.path, file.media_type) == "html"


def read(file: File, shared: Mapping[str, Any] = NO_ATTRIBUTES, trees: Trees | None = None) -> Page:
    """Read a file by its media type, or by its suffix where that is vague.

    Args:
        file: with its body.
        shared: what :func:`survey` found of its site.
        trees: what that kept of its pages.

    Raises:
        UnreadableInput: there is no reader for it, or it is damaged.
        ConfigurationError: its reader needs an extra that is not installed.
    """
    name = _format(file.path, file.media_type)
    if not name:
        raise UnreadableInput(
            f"{file.path} is no page that docstow reads ({file.media_type or 'no media type'});"
            " it reads HTML, Markdown, MDX, reStructuredText, AsciiDoc, notebooks, plain text"
            " and PDF."
        )
    charset = _charset(file.media_type)
    # The module of a format is imported with its first file.
    module, _, function = _READERS.get(name, f"{name}:read").partition(":")
    reader: Any = import_module(f"docstow.formats.{module}")
    read_page = getattr(reader, function)
    if name == "html":
        page: Page = read_page(file.body, file.url, charset, reader.Shared.from_json(shared), trees)
        return page
    if name == "pdf":
        page = read_page(file)
    else:
        page = read_page(decode(file.body, charset, name=file.path), file)
    words = len(_WORD.findall(page.text))
    return replace(page, words=words, kept=words)


def skim(file: File) -> Skimmed:
    """Return what a crawl has to know of a page; of HTML without converting it.

    Args:
        file: with its body.

    Raises:
        UnreadableInput: as :func:`read`.
    """
    if is_html(file):
        html: Any = import_module("docstow.formats.html")
        skimmed: Skimmed = html.skim(file.body, file.url, _charset(file.media_type))
        return skimmed
    page = read(file)
    return Skimmed(
        page.title,
        content_digest(page.title, page.text) if page.text.strip() else "",
        page.canonical,
        page.links,
        page.indexable,
    )


def content_digest(*parts: str) -> str:
    """Return the SHA-256, in hex, of the parts of a page that make it what it is."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


def default_title(file: File) -> str:
    """Return a file's name as a title, or its folder's for README and index."""
    path = _path(file.path or file.url).rstrip("/")
    stem, suffix = splitext(basename(path))
    if suffix.lower() not in _BY_SUFFIX:
        stem += suffix
    if stem.lower() in {"readme", "index"}:
        stem = basename(dirname(path)) or stem
    return stem.replace("-", " ").replace("_", " ").strip() or file.url or "Untitled"


def _format(path: str, media_type: str) -> str:
    """Return the name of the format; empty if there is no reader."""
    essence = media_type.partition(";")[0].strip().lower()
    if essence not in _VAGUE:
        return _BY_MEDIA_TYPE.get(essence, "")
    stem, suffix = splitext(basename(_path(path)))
    by_suffix = _BY_SUFFIX.get(suffix.lower(), "")
    if by_suffix:
        return by_suffix
    bare = not suffix and stem.lower() in _BARE_NAMES
    return "plain" if bare or essence == "text/plain" else ""


def _path(path: str) -> str:
    """Return the path of a path or URL."""
    if "://" not in path:
        return path
    try:
        return unquote(urlsplit(path).path)
    except ValueError:
        return ""


def _charset(media_type: str) -> str:
    for parameter in media_type.split(";")[1:]:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""
