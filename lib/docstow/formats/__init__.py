"""Readers know what bytes are: pure functions from a body to documents, without any I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from posixpath import basename, dirname, splitext
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.errors import UnreadableInput
from docstow.core.model import NO_ATTRIBUTES, File
from docstow.text.decoding import decode

# Pages


PROSE_READER = "prose/1"


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


#: Media types that say nothing of the format: the suffix decides.
_VAGUE = {"", "text/plain", "application/octet-stream", "binary/octet-stream"}


#: Files that are prose though they have no suffix.
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


@dataclass(frozen=True, slots=True)
class Page:
    """What a reader makes of one file.

    Attributes:
        title: never empty: the title heading, what the file says of itself, or its name.
        text: normalised Markdown; it begins with ``# Title`` where the file has a title heading.
        canonical: the address that the page says is its own; absolute, or empty.
        links: absolute http(s) addresses in their order, without fragments; the whole page's,
            its navigation included.
        indexable: False where the page asks not to be indexed.
        attributes: ``language`` (a natural one), ``description``, ``tags`` where known.
    """

    title: str
    text: str
    canonical: str = ""
    links: tuple[str, ...] = ()
    indexable: bool = True
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)


def readable(path: str, media_type: str) -> bool:
    """Whether :func:`read` has a reader for such a file.

    Args:
        path: its path or URL.
        media_type: as it was sent, parameters included; may be empty.
    """
    return bool(_format(path, media_type))


def read(file: File) -> Page:
    """Read one file of prose: its media type says how, or its suffix where that says nothing.

    Raises:
        UnreadableInput: there is no reader for it, or it is not what it claims to be.
        ConfigurationError: it needs an extra that is not installed.
    """
    name = _format(file.path, file.media_type)
    if not name:
        raise UnreadableInput(
            f"{file.path} is no page that docstow reads ({file.media_type or 'no media type'});"
            " it reads HTML, Markdown, MDX, reStructuredText, AsciiDoc, notebooks, plain text"
            " and PDF."
        )
    # Each format's module is loaded when its first file comes.
    reader: Any = import_module(f"docstow.formats.{'markdown' if name == 'mdx' else name}")
    charset = _charset(file.media_type)
    if name == "html":
        page: Page = reader.read(file.body, file.url, charset)
    elif name == "pdf":
        page = reader.read(file)
    else:
        read_text = reader.read_mdx if name == "mdx" else reader.read
        page = read_text(decode(file.body, charset, name=file.path), file)
    return page


def name_of(file: File) -> str:
    """A title for a file that has none: its name, or its folder's if it is the folder's index."""
    path = _path(file.path or file.url).rstrip("/")
    stem, suffix = splitext(basename(path))
    if suffix.lower() not in _BY_SUFFIX:
        stem += suffix
    if stem.lower() in {"readme", "index"}:
        stem = basename(dirname(path)) or stem
    return stem.replace("-", " ").replace("_", " ").strip() or file.url or "Untitled"


def _format(path: str, media_type: str) -> str:
    """The format's name; empty where there is no reader for it."""
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
    """The path's part of what may be a URL."""
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
