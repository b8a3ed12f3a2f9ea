"""A snapshot of pages as text: JSON Lines, Markdown files, ``llms.txt``, Open WebUI's knowledge.

This room knows the forms and their order. It does not know where text goes; secrets never reach
it, since a snapshot has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.model import Document, Snapshot, document_id
from docstow.ops.export import Piece

FORMS = ("jsonl", "markdown", "llms", "llms-full", "openwebui", "openwebui-markdown")

#: Forms that are a folder of files.
FOLDERS = ("markdown", "openwebui-markdown")

_UNSAFE = re.compile(r"[^\w.-]+")
_HEADING = re.compile(r"# \S")
LONGEST_NAME = 120


class PageExport:
    """A snapshot of pages on its way out: in every form each page once, in the order of paths.

    Args:
        snapshot: what is exported.
        documents: its pages, sorted by path.
        title: what people call the source.
    """

    def __init__(self, snapshot: Snapshot, documents: Sequence[Document], title: str) -> None:
        self._snapshot = snapshot
        self._documents = documents
        self.title = title

    def pieces(self, form: str, begin: int = 0) -> Iterator[Piece]:
        """The pieces of a form in order, without the first ``begin`` ones."""
        return islice(self._pieces(form), begin, None)

    def texts(self, form: str, begin: int = 0) -> Iterator[str]:
        """The same as one text: before each file of a folder stands a comment with its name."""
        for piece in self.pieces(form, begin):
            name = f"<!-- file: {piece.file} -->\n\n" if piece.opens else ""
            yield name + piece.text

    def _pieces(self, form: str) -> Iterator[Piece]:
        match form:
            case "jsonl":
                yield Piece("", _line(self._front))
                for document in self._documents:
                    yield Piece("", _line(self._record(document)))
            case "openwebui":
                for document in self._documents:
                    members = {"content": document.text, "metadata": self._metadata(document)}
                    yield Piece("", _line(members))
            case "llms" | "llms-full":
                yield from self._llms(f"{form}.txt", whole=form == "llms-full")
            case _:
                matter = form == "openwebui-markdown"
                files = flat(self._documents) if matter else tree(self._documents)
                for document, file in zip(self._documents, files, strict=True):
                    head = self._matter(document) if matter else self._way(document)
                    yield Piece(file, f"{head}{_headed(document)}\n", opens=True)

    @property
    def _front(self) -> dict[str, Any]:
        snapshot = self._snapshot
        return {
            "record": "snapshot",
            "kind": snapshot.revision.source.kind,
            "source_id": snapshot.revision.source.name,
            "uri": snapshot.revision.url,
            "title": self.title,
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
        """What Open WebUI shows of a file of its knowledge: ``name`` and ``source`` above all."""
        return {
            "name": document.title or document.path,
            "source": document.url or document.path,
            "title": document.title,
            "url": document.url,
            "path": document.path,
            "doc_id": self._id(document),
            "source_id": self._snapshot.revision.source.name,
            "source_title": self.title,
            "snapshot": self._snapshot.id,
        }

    def _id(self, document: Document) -> str:
        return document_id(self._snapshot.revision.source.name, document.path)

    def _llms(self, file: str, *, whole: bool) -> Iterator[Piece]:
        snapshot = self._snapshot
        origin = f"Documentation from {snapshot.revision.url}, snapshot {snapshot.id[:12]}."
        section = "" if whole else "## Pages\n\n"
        yield Piece(file, f"# {self.title}\n\n> {origin} Third-party text.\n\n{section}")
        for document in self._documents:
            if whole:
                yield Piece(file, f"{self._way(document)}{_headed(document)}\n\n")
                continue
            url = document.url or document.path
            url = f"<{url}>" if any(each in url for each in " ()") else url
            about = " ".join(str(document.attributes.get("description") or "").split())
            entry = f"- [{document.title or document.path}]({url})"
            yield Piece(file, f"{entry}: {about}\n" if about else f"{entry}\n")

    def _way(self, document: Document) -> str:
        parts = [self.title, f"<{document.url}>" if document.url else document.path]
        return f"*{' · '.join([*parts, 'third-party text'])}*\n\n"

    def _matter(self, document: Document) -> str:
        """YAML front matter; JSON strings are YAML strings."""
        lines = [f"{name}: {json.dumps(v)}" for name, v in self._metadata(document).items() if v]
        return "\n".join(["---", *lines, "---", "", ""])


def tree(documents: Sequence[Document]) -> list[str]:
    """A file for each page, in folders as its path has them."""
    return _unique([_place(each.path) for each in documents])


def flat(documents: Sequence[Document]) -> list[str]:
    """A file for each page in one folder, named by its whole path."""
    return _unique([_place(each.path).replace("/", "--")[-LONGEST_NAME:] for each in documents])


def _place(path: str) -> str:
    parts = urlsplit(path)
    if parts.scheme in ("http", "https"):
        query = f"-{parts.query}" if parts.query else ""
        path = f"{parts.netloc}/{parts.path.strip('/') or 'index'}{query}"
    names = [_UNSAFE.sub("-", unquote(each)).strip(".-") for each in path.split("/")]
    safe = "/".join(each[:LONGEST_NAME] for each in names if each) or "page"
    return safe if safe.endswith(".md") else f"{safe}.md"


def _unique(places: list[str]) -> list[str]:
    """The same places, numbered where two differ in case alone or not at all, or name a folder."""
    taken: set[str] = set()
    unique = []
    for place in places:
        stem, number, chosen = place.removesuffix(".md"), 1, place
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{stem}-{number}.md"
        taken.add(chosen.casefold())
        unique.append(chosen)
    return unique


def _headed(document: Document) -> str:
    text = document.text.strip()
    return text if _HEADING.match(text) else f"# {document.title}\n\n{text}"


def _line(members: dict[str, Any]) -> str:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
