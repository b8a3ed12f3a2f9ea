"""A whole snapshot as text, piece by piece: JSON Lines, Markdown, ``llms.txt``, Open WebUI."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.model import Document, document_id
from docstow.index.loaded import Index
from docstow.index.profiles import ITEMS
from docstow.ops.export.items import ITEM_FORMATS, ItemWriter
from docstow.ops.export.pieces import OneFile, Piece, document_line, json_line

__all__ = ["ITEM_FORMATS", "PAGE_FORMATS", "Export"]

PAGE_FORMATS = ("jsonl", "markdown", "llms", "llms-full", "openwebui", "openwebui-markdown")

_UNSAFE = re.compile(r"[^\w.-]+")
_HEADING = re.compile(r"# \S")
LONGEST_NAME = 120


class Export:
    """The export of a snapshot.

    In every format each document is exactly once, in an order that only the snapshot decides.

    Args:
        index: the snapshot's tables.
        title: what people call the source; name and version if it is left out.
    """

    def __init__(self, index: Index, title: str | None = None) -> None:
        revision = index.snapshot.revision
        self.title = f"{revision.source.name} {revision.version}" if title is None else title
        writer = ItemWriter if index.profile is ITEMS else PageWriter
        #: What it is an export of, whatever the version.
        self.source = f"{revision.source.kind}/{revision.source.name}"
        self._writer: ItemWriter | PageWriter = writer(index, self.title)

    def pieces(self, form: str, begin: int = 0) -> Iterator[Piece]:
        """Yield the pieces of a format in order, without the first ``begin`` ones."""
        return self._writer.pieces(form, begin)

    def files(self) -> Iterator[OneFile]:
        """Yield the export as Markdown files that change only with what they show."""
        yield from self._writer.files()

    def texts(self, form: str, begin: int = 0) -> Iterator[str]:
        """Yield the same as texts; before each file of a folder stands a comment with its name."""
        for piece in self.pieces(form, begin):
            name = f"<!-- file: {piece.file} -->\n\n" if piece.opens else ""
            yield name + piece.text


class PageWriter:
    """Writes a snapshot of pages, in the order of paths.

    Args:
        index: the snapshot's tables.
        title: what people call the source.
    """

    def __init__(self, index: Index, title: str) -> None:
        self._index = index
        self._snapshot = index.snapshot
        self._title = title

    @cached_property
    def _documents(self) -> list[Document]:
        return self._index.documents()

    def pieces(self, form: str, begin: int) -> Iterator[Piece]:
        """Yield the pieces of a format in order, without the first ``begin`` ones."""
        return islice(self._pieces(form), begin, None)

    def files(self) -> Iterator[OneFile]:
        """Yield each page with its front matter, apart from the snapshot that it is of."""
        names = _name_files([document.path for document in self._documents], flat=True)
        for document, name in zip(self._documents, names, strict=True):
            head = self._front_matter(document, apart_from="snapshot")
            yield OneFile(document.path, name, f"{head}{_with_heading(document)}\n")

    def _pieces(self, form: str) -> Iterator[Piece]:
        match form:
            case "jsonl":
                yield Piece("", json_line(self._front))
                for document in self._documents:
                    yield Piece("", document_line(document, self._record(document)))
            case "openwebui":
                for document in self._documents:
                    members = {"content": document.text, "metadata": self._metadata(document)}
                    yield Piece("", document_line(document, members))
            case "llms" | "llms-full":
                yield from self._llms(f"{form}.txt", whole=form == "llms-full")
            case _:
                flat = form == "openwebui-markdown"
                files = _name_files([document.path for document in self._documents], flat=flat)
                for document, file in zip(self._documents, files, strict=True):
                    head = self._front_matter(document) if flat else self._provenance(document)
                    yield Piece(file, f"{head}{_with_heading(document)}\n", opens=True)

    @property
    def _front(self) -> dict[str, Any]:
        snapshot = self._snapshot
        return {
            "record": "snapshot",
            "kind": snapshot.revision.source.kind,
            "source_id": snapshot.revision.source.name,
            "uri": snapshot.revision.url,
            "title": self._title,
            "version": snapshot.revision.validator,
            "snapshot": snapshot.id,
            "created_at": snapshot.created_at.isoformat(),
            "recipe": asdict(snapshot.recipe),
            "counts": dict(snapshot.counts),
        }

    def _record(self, document: Document) -> dict[str, Any]:
        names = ("path", "kind", "title", "text", "url")
        return {
            "record": "document",
            "id": self._id(document),
            **{name: getattr(document, name) for name in names},
            "attributes": dict(document.attributes),
        }

    def _metadata(self, document: Document) -> dict[str, Any]:
        """Return what Open WebUI shows of a file: ``name`` and ``source`` above all."""
        return {
            "name": document.title or document.path,
            "source": document.url or document.path,
            "title": document.title,
            "url": document.url,
            "path": document.path,
            "doc_id": self._id(document),
            "source_id": self._snapshot.revision.source.name,
            "source_title": self._title,
            "snapshot": self._snapshot.id,
        }

    def _id(self, document: Document) -> str:
        return document_id(self._snapshot.revision.source.name, document.path)

    def _llms(self, file: str, *, whole: bool) -> Iterator[Piece]:
        snapshot = self._snapshot
        origin = f"Documentation from {snapshot.revision.url}, snapshot {snapshot.id[:12]}."
        section = "" if whole else "## Pages\n\n"
        yield Piece(file, f"# {self._title}\n\n> {origin} Third-party text.\n\n{section}")
        for document in self._documents:
            if whole:
                yield Piece(file, f"{self._provenance(document)}{_with_heading(document)}\n\n")
                continue
            url = document.url or document.path
            url = f"<{url}>" if any(each in url for each in " ()") else url
            about = " ".join(str(document.attributes.get("description") or "").split())
            entry = f"- [{document.title or document.path}]({url})"
            yield Piece(file, f"{entry}: {about}\n" if about else f"{entry}\n")

    def _provenance(self, document: Document) -> str:
        parts = [self._title, f"<{document.url}>" if document.url else document.path]
        return f"*{' · '.join([*parts, 'third-party text'])}*\n\n"

    def _front_matter(self, document: Document, apart_from: str = "") -> str:
        """Return YAML front matter; JSON strings are YAML strings."""
        told = self._metadata(document).items()
        lines = [f"{name}: {json.dumps(v)}" for name, v in told if v and name != apart_from]
        return "\n".join(["---", *lines, "---", "", ""])


def _name_files(paths: Sequence[str], *, flat: bool) -> list[str]:
    """Return a file for each page: in folders as its path has them, or all in one folder."""
    names = [_safe_path(path) for path in paths]
    if flat:
        names = [name.replace("/", "--")[-LONGEST_NAME:] for name in names]
    return _number_clashes(names)


def _safe_path(path: str) -> str:
    parts = urlsplit(path)
    if parts.scheme in ("http", "https"):
        query = f"-{parts.query}" if parts.query else ""
        path = f"{parts.netloc}/{parts.path.strip('/') or 'index'}{query}"
    names = [_UNSAFE.sub("-", unquote(each)).strip(".-") for each in path.split("/")]
    safe = "/".join(each[:LONGEST_NAME] for each in names if each) or "page"
    return safe if safe.endswith(".md") else f"{safe}.md"


def _number_clashes(names: Iterable[str]) -> list[str]:
    """Return the same names, numbered where two differ in case alone or not at all."""
    taken: set[str] = set()
    unique = []
    for name in names:
        stem, number, chosen = name.removesuffix(".md"), 1, name
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{stem}-{number}.md"
        taken.add(chosen.casefold())
        unique.append(chosen)
    return unique


def _with_heading(document: Document) -> str:
    text = document.text.strip()
    return text if _HEADING.match(text) else f"# {document.title}\n\n{text}"
