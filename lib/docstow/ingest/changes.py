"""From the events of an origin to the documents of the next snapshot."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from os import SEEK_END
from tempfile import SpooledTemporaryFile
from typing import Any
from urllib.parse import quote

from docstow import formats
from docstow.core.model import Document, File, Known, Relation
from docstow.core.urls import canonical_url
from docstow.formats import openapi
from docstow.formats.trees import Trees
from docstow.ingest import assets, reading
from docstow.ingest.jobs import COMPLETE, ERRORS_KEPT, PAGES_KEPT, Coverage, JobError
from docstow.sources import LIMITS, Event, Failed, Found, Preview, Same, Skipped
from docstow.text.invisible import drop_from_document

LINKS_TO = "links-to"
#: The attribute of a document with the path of the file that it is a part of.
PART_OF = "part_of"

#: So many pages show what all pages of a site share.
_SURVEYED = 200
#: Bodies of files beyond so many bytes, compressed, are kept on disk until they are read.
_IN_MEMORY = 32 << 20


@dataclass(frozen=True, slots=True)
class Former:
    """What the snapshot that answers now was made from.

    Attributes:
        documents: by path.
        visits: by path.
        shared: what the pages of its site share, see :func:`docstow.formats.survey`.
    """

    documents: Mapping[str, Document] = field(default_factory=dict)
    visits: Mapping[str, Known] = field(default_factory=dict)
    shared: Mapping[str, Any] = field(default_factory=dict)


class _Spool:
    """Files whose bodies are kept on disk, compressed, until they are read."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed with the spool
        self._places: dict[int, tuple[int, int]] = {}

    def put(self, number: int, body: bytes) -> None:
        """Keep a body under a number."""
        packed = zlib.compress(body, 1)
        start = self._file.seek(0, SEEK_END)
        self._file.write(packed)
        self._places[number] = start, len(packed)

    def get(self, number: int) -> bytes:
        """Return the body of a number."""
        start, length = self._places[number]
        self._file.seek(start)
        return zlib.decompress(self._file.read(length))

    def close(self) -> None:
        """Remove the bodies."""
        self._file.close()


class Changes:
    """The documents of the next snapshot: events are added first, and then read.

    A page can only be read when the other pages of its site are there, because what they share is
    not its text.

    A former document whose path has no event is gone. But nothing is lost by accident: a file that
    failed, or that a limit kept from being fetched, keeps its former document, and so do former
    pages to which only such pages link. A full sync begins anew: there limits do cut off.

    Args:
        former: what answers now.
        paths_are_urls: whether paths are canonical URLs; else they are paths in a tree.
        full: whether the sync is a full one, in which no file is taken for unchanged.
        fetch_assets: whether images and downloads of the pages become documents too.
        processes: how many read files at the same time where there are many; 1 for this one alone.

    Attributes:
        documents: by path.
        visits: what to ask the upstream with next time, by path.
        skipped: number of files that were left out, by reason.
        errors: the first errors, at most :data:`ERRORS_KEPT`.
        shared: what the pages of the site share.
        fetched: number of files that were fetched.
        failed: number of errors.
        current: path or address of the last event.
    """

    def __init__(
        self,
        former: Former,
        *,
        paths_are_urls: bool,
        full: bool,
        fetch_assets: bool = False,
        processes: int = 1,
    ) -> None:
        self._processes = processes
        self._fetch_assets = fetch_assets
        self._former = former
        self._parts: defaultdict[str, list[Document]] = defaultdict(list)
        for document in former.documents.values():
            if whole := document.attributes.get(PART_OF):
                self._parts[whole].append(document)
        self._paths_are_urls = paths_are_urls
        self._full = full
        self._paths = {known.url: path for path, known in former.visits.items()}
        self._missed: set[str] = set()
        self._omitted: set[str] = set()
        self._kept: set[str] = set()
        self._events: list[Found | Same] = []
        self._empty: set[int] = set()
        self._size = 0
        self._spool = _Spool()
        self.shared: Mapping[str, Any] = {}
        self.documents: dict[str, Document] = {}
        self.visits: dict[str, Known] = {}
        self.skipped: Counter[str] = Counter()
        self.errors: list[JobError] = []
        self.fetched = 0
        self.failed = 0
        self.current = ""

    def add(self, event: Event) -> None:
        """Add an event; the body of a file is kept aside until :meth:`read`."""
        match event:
            case Found(file):
                self.fetched += 1
                self.current = file.path
                self._size += len(file.body)
                if not file.body.strip():
                    self._empty.add(len(self._events))
                self._spool.put(len(self._events), file.body)
                self._events.append(replace(event, file=replace(file, body=b"")))
            case Same(path):
                self.current = path
                self._events.append(event)
            case Skipped(ref, reason):
                self.current = ref
                self._skip(ref, reason)
            case Failed(ref, kind, message):
                self.current = ref
                self._fail(ref, kind, message)
            case Preview():
                pass

    @property
    def pending(self) -> int:
        """The number of files that :meth:`read` goes through."""
        return len(self._events)

    def read(self) -> Iterator[int]:
        """Read the files that were added; yield how many are done, one by one.

        A file that cannot be read is an error of its own.
        """
        pages = [
            number
            for number, event in enumerate(self._events)
            if isinstance(event, Found) and formats.is_html(event.file)
        ]
        step = max(1, -(-len(pages) // _SURVEYED))
        apart = reading.is_worth(self._processes, self._size)
        trees = None if apart else Trees()
        if pages:
            sample = (self._file(number) for number in pages[::step])
            known = {} if self._full else self._former.shared
            self.shared = formats.survey(sample, known, trees)
        elif not self._full:
            self.shared = self._former.shared
        files = (self._file(number) for number in range(self.pending) if self._has_page(number))
        with closing(
            reading.read_apart(files, self.shared, self._processes)
            if apart
            else reading.read_here(files, self.shared, trees)
        ) as outcomes:
            for number, event in enumerate(self._events):
                if isinstance(event, Found):
                    self.current = event.file.path
                    self._read(number, event, outcomes)
                elif event.path in self._former.documents and event.path in self._former.visits:
                    self.current = event.path
                    self._keep(self._former.documents[event.path], self._former.visits[event.path])
                    self._keep_parts(self._parts[event.path])
                yield number + 1
        self._keep_unseen()
        if self._fetch_assets:
            self._describe_assets()

    def _has_page(self, number: int) -> bool:
        """Return whether an event has a file that one page is read from."""
        event = self._events[number]
        if not isinstance(event, Found) or number in self._empty:
            return False
        return event.file.media_type != openapi.MEDIA_TYPE

    def _file(self, number: int) -> File:
        event = self._events[number]
        assert isinstance(event, Found)
        return replace(event.file, body=self._spool.get(number))

    def close(self) -> None:
        """Remove the files that were kept aside."""
        self._spool.close()

    def _keep_unseen(self) -> None:
        """Keep the former documents that this sync had no chance to see."""
        former = self._former.documents
        queue = sorted(self._missed - self.documents.keys())
        for path in queue:  # grows as links are followed
            if path in self.documents or path in self._omitted:
                continue
            self.documents[path] = former[path]
            self._kept.add(path)
            parts = self._parts[path]
            self._keep_parts(parts)
            self._kept.update(part.path for part in parts)
            known = self._former.visits.get(path)
            if known is not None:
                self.visits[path] = known
                targets = (self._paths.get(link, link) for link in known.links)
                queue += (target for target in targets if target in former)

    def counts(self) -> dict[str, int]:
        """Count how the documents differ from the former ones, apart from those kept unseen."""
        former = self._former.documents
        seen = self.documents.keys() - self._kept
        met = seen & former.keys()
        pairs = ((self.documents[path], former[path]) for path in met)
        unchanged = sum(now is then or now.digest() == then.digest() for now, then in pairs)
        return {
            **self.progress(),
            "unchanged": unchanged,
            "new": len(seen - former.keys()),
            "changed": len(met) - unchanged,
            "gone": len(former.keys() - self.documents.keys()),
        }

    def progress(self) -> dict[str, int]:
        """Return the counts that are known while the sync goes on."""
        return {
            "fetched": self.fetched,
            "skipped": self.skipped.total(),
            "failed": self.failed,
            "documents": len(self.documents),
        }

    def coverage(self) -> Coverage:
        """Count the words of all documents, seen and kept, and name the pages that lack some."""
        words = kept = 0
        incomplete: list[tuple[str, float]] = []
        for path, document in sorted(self.documents.items()):
            share = float(document.attributes.get("kept", 1.0))
            number = int(document.attributes.get("words", 0))
            words += number
            kept += round(share * number)
            if share < COMPLETE:
                incomplete.append((path, share))
        incomplete.sort(key=lambda each: each[1])
        return Coverage(words, kept, len(incomplete), dict(incomplete[:PAGES_KEPT]))

    def relations(self) -> list[Relation]:
        """Return which of the documents link to which."""
        paths = {known.url: path for path, known in self.visits.items()}
        paths |= {document.url: path for path, document in self.documents.items() if document.url}
        edges = (
            (path, paths.get(link, link))
            for path, known in sorted(self.visits.items())
            for link in known.links
        )
        return [
            Relation(subject, LINKS_TO, target)
            for subject, target in dict.fromkeys(edges)
            if target in self.documents and target != subject
        ]

    def _read(self, number: int, event: Found, outcomes: Iterator[reading.Outcome]) -> None:
        file = event.file
        if number in self._empty:
            self._skip(file.path, "empty")
            return
        if not self._has_page(number):
            self._read_description(event, self._file(number))
            return
        page = next(outcomes)
        if isinstance(page, tuple):
            self._fail(file.path, *page)
            return
        if not page.indexable:
            self._skip(file.path, "noindex")
        elif not page.text.strip():
            self._skip(file.path, "empty")
        else:
            document = make_document(file, page)
            if self._fetch_assets:
                about = {**document.attributes, **assets.images_of(page)}
                document = replace(document, attributes=about)
            if self._paths_are_urls:
                document = replace(document, url=file.path)
            links = event.links or page.links
            self._keep(document, Known(file.path, file.url, event.validator, links))

    def _read_description(self, event: Found, file: File) -> None:
        """Add a document for each page of a description of an API."""
        pages = reading.attempt(partial(openapi.read, file), file)
        if isinstance(pages, tuple):
            self._fail(file.path, *pages)
            return
        whole = pages.pop("")
        document = make_document(file, whole)
        self._keep(document, Known(file.path, file.url, event.validator, whole.links))
        if self.visits.get(file.path, Known("", "")).url != file.url:
            return
        self._keep_parts(
            replace(
                made,
                path=f"{file.path}{fragment}",
                url=f"{file.url}{quote(fragment, safe='#/~{}')}",
                attributes={**made.attributes, PART_OF: file.path},
            )
            for fragment, made in (
                (name, make_document(file, page)) for name, page in pages.items()
            )
        )

    def _keep_parts(self, parts: Iterable[Document]) -> None:
        for part in parts:
            self.documents[part.path] = part

    def _describe_assets(self) -> None:
        """Add what the pages show and offer beside their text."""
        found = assets.describe(self.documents, paths_are_urls=self._paths_are_urls)
        self.skipped[assets.MORE_ASSETS] += max(0, len(found) - assets.MOST_ASSETS)
        self.skipped += Counter()
        for path, document in islice(found.items(), assets.MOST_ASSETS):
            self.documents[path] = drop_from_document(document)

    def _keep(self, document: Document, known: Known) -> None:
        """Add a document unless its path has one; a page at its own address replaces others."""
        if document.path in self.documents:
            self.skipped["duplicate"] += 1
            if not self._is_own(known) or self._is_own(self.visits[known.path]):
                return
        self.documents[document.path] = document
        self.visits[document.path] = known

    def _is_own(self, known: Known) -> bool:
        return self._paths_are_urls and canonical_url(known.url) == known.path

    def _skip(self, ref: str, reason: str) -> None:
        self.skipped[reason] += 1
        path = self._paths.get(ref, ref)
        if reason not in LIMITS:
            self._omitted.add(path)
        elif path in self._former.documents and not self._full:
            self._missed.add(path)

    def _fail(self, ref: str, kind: str, message: str) -> None:
        self.failed += 1
        if len(self.errors) < ERRORS_KEPT:
            self.errors.append(JobError(kind, ref, message))
        path = self._paths.get(ref, ref)
        if path in self._former.documents:
            self._missed.add(path)
        elif not self._paths_are_urls:  # a directory, so that nothing below it was seen
            below = "" if path == "." else f"{path}/"
            self._missed |= {each for each in self._former.documents if each.startswith(below)}


def make_document(file: File, page: formats.Page) -> Document:
    """Return the document that a page is stored as."""
    media_type = file.media_type.partition(";")[0].strip().lower()
    attributes = {**({"media_type": media_type} if media_type else {}), **page.attributes}
    attributes |= {"words": page.words}
    if page.canonical and page.canonical != file.url:
        attributes |= {"canonical": page.canonical}
    if page.kept < page.words:
        attributes |= {"kept": int(1000 * page.kept / page.words) / 1000}
    return drop_from_document(
        Document(
            path=file.path,
            kind="page",
            title=page.title,
            text=page.text,
            url=file.url,
            attributes=attributes,
        )
    )
