"""What pages show and offer beside their text, as documents: images and files to download.

No image and no such file is read. What is known of them stands on the pages: an image's words, its
caption and the headings it stands below; the words that link to a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import basename, splitext
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from docstow.core.errors import InvalidParameter
from docstow.core.model import Document
from docstow.core.urls import canonical_url
from docstow.formats import Image, Page

#: The attribute of a page with the images that its text does not name.
IMAGES = "images"
#: The most documents of this kind in a source, and places that one names.
MOST_ASSETS, _MOST_PLACES = 5000, 20
MORE_ASSETS = "more than 5000 images and downloads"

_MARK = re.compile(
    r"(?P<fence>^[ \t]*(?:```|~~~))|^#{1,6}[ \t]+(?P<heading>[^\n]{1,300})"
    r"|(?P<image>!)?\[(?P<words>(?:[^\[\]\n]|!\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}\)){0,500})\]"
    r"\(<?(?P<url>(?:https?|file)://[^()\s<>]{1,2000})>?\)",
    re.MULTILINE,
)
#: A line of its own below an image, as readers write captions.
_CAPTION = re.compile(r"\n\n\*{1,2}([^*\n]{1,500})\*{1,2}(?=\n|$)")
_DOWNLOADS = frozenset({
    ".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".jar", ".war", ".whl",
    ".egg", ".deb", ".rpm", ".apk", ".dmg", ".pkg", ".exe", ".msi", ".iso", ".csv", ".tsv",
    ".parquet", ".sqlite", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods",
    ".odp", ".epub", ".json", ".yaml", ".yml", ".proto", ".xsd", ".wsdl", ".pdf", ".ipynb",
    ".mp4", ".mp3", ".webm",
})  # fmt: skip
_IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp"})
_BRACKETS = str.maketrans("[]", "()")
#: Links to these names on forges lead to pages that show the file.
_SHOWN = re.compile(r"https?://[^/]+/[^/]+/[^/]+/(?:-/)?(?:blob|tree|blame|commit)/")


@dataclass(slots=True)
class _Asset:
    """An image or a download, with what the pages say of it."""

    url: str
    is_image: bool
    words: dict[str, None] = field(default_factory=dict)
    captions: dict[str, None] = field(default_factory=dict)
    places: dict[str, None] = field(default_factory=dict)


def images_of(page: Page) -> dict[str, Any]:
    """Return the attribute in which a document keeps the images that its text does not name."""
    found = [[each.url, each.alt, each.caption, each.heading] for each in page.images]
    return {IMAGES: found} if found else {}


def describe(documents: Mapping[str, Document], *, paths_are_urls: bool) -> dict[str, Document]:
    """Return the images and downloads of all pages as documents by path.

    They are made anew from all pages at every sync, so that they are gone with the last page that
    has them.

    Args:
        documents: the pages by path, read with :func:`images_of`.
        paths_are_urls: whether paths are canonical URLs; else they are paths in a tree.
    """
    assets: dict[str, _Asset] = {}
    pages = {path: each for path, each in documents.items() if "asset" not in each.attributes}
    for _, document in sorted(pages.items()):
        for image, is_image, is_linked in _found(document):
            url = image.url
            path = canonical(url) if paths_are_urls else _path_in_tree(url, document)
            if not path or path in pages or (is_linked and _SHOWN.match(path)):
                continue
            asset = assets.setdefault(path, _Asset(url, is_image))
            asset.words |= {image.alt: None} if image.alt else {}
            asset.captions |= {image.caption: None} if image.caption else {}
            asset.places[_place(document, image.heading)] = None
    return {
        path: _document(path, asset)
        for path, asset in sorted(assets.items())
        if asset.words or asset.captions
    }


def canonical(url: str) -> str:
    """Return the canonical form of a URL; empty where it has none."""
    try:
        return canonical_url(url)
    except InvalidParameter:
        return ""


def _found(document: Document) -> Iterator[tuple[Image, bool, bool]]:
    """Yield each image and download, whether it is an image, and whether a link leads to it."""
    for each in document.attributes.get(IMAGES, ()):
        yield Image(*each), True, False
    heading, fenced = "", False
    own = urlsplit(document.url)
    for match in _MARK.finditer(document.text):
        if match["fence"]:
            fenced = not fenced
        elif fenced:
            continue
        elif match["heading"]:
            heading = match["heading"].strip()
        elif match["url"]:
            parts = urlsplit(match["url"])
            suffix = splitext(parts.path.lower())[1]
            words = " ".join(match["words"].split())
            below = _CAPTION.match(document.text, match.end())
            image = Image(match["url"], words, below[1] if below else "", heading)
            # Data on other hosts is mostly what a page writes about, not what it offers.
            data = suffix in (".json", ".yaml", ".yml") and parts.netloc != own.netloc
            if match["image"] or suffix in _IMAGES:
                yield image, True, not match["image"]
            elif suffix in _DOWNLOADS and not data:
                yield image, False, True


def _path_in_tree(url: str, document: Document) -> str:
    """Return the path of a file in the tree of a page; the URL where it is elsewhere."""
    own = unquote(document.url)
    if own.endswith(f"/{document.path}"):
        root = own[: -len(document.path)]
        # Forges have the page of a file and its bytes at different addresses.
        for each in (root, re.sub(r"/(?:-/)?blob/", lambda m: m[0].replace("blob", "raw"), root)):
            if unquote(url).startswith(each):
                return unquote(urlsplit(unquote(url)[len(each) :]).path)
    return canonical(url)


def _place(document: Document, heading: str) -> str:
    below = f", below “{heading}”" if heading and heading != document.title else ""
    title = document.title.translate(_BRACKETS)
    link = document.url if document.url.startswith("http") else document.path
    return f"[{title}]({quote(link, safe='/:?#@!$&*+,;=%~.-_')}){below}"


def _document(path: str, asset: _Asset) -> Document:
    name = basename(unquote(urlsplit(asset.url).path)) or asset.url
    words, captions = list(asset.words), list(asset.captions)
    first = (words or captions)[0]
    title = first[:200] if asset.is_image else name
    kind = "An image" if asset.is_image else "A file to download"
    lines = [f"# {title}", f"{kind}, `{name}`, which is not read: this is what pages say of it."]
    lines += [f"*{each}*" for each in captions if each != title]
    if others := [each for each in words if each != title]:
        said = "\n".join(f"- {each}" for each in others[:_MOST_PLACES])
        lines.append(f"Called:\n\n{said}")
    places = list(asset.places)
    more = [f"- and {len(places) - _MOST_PLACES} more"] if len(places) > _MOST_PLACES else []
    lines.append("Stands on:\n\n" + "\n".join([f"- {e}" for e in places[:_MOST_PLACES]] + more))
    text = "\n\n".join(lines)
    attributes = {"asset": "image" if asset.is_image else "download", "words": len(text.split())}
    return Document(path, "page", title, text=text, url=asset.url, attributes=attributes)
