"""What a sync brings in: from the events of an origin to the documents of the next snapshot.

This room knows which document a file becomes and what stays of the former snapshot. It does not
know how files are fetched, nor how documents are stowed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from docstow import formats as page
from docstow.core.errors import DocstowError, InternalError
from docstow.core.model import Document, File, Known, Relation
from docstow.core.urls import canonical_url
from docstow.ingest.jobs.model import ERRORS_KEPT, JobError
from docstow.sources import collection as pushed
from docstow.sources.protocol import LIMITS, Event, Failed, Found, Same, Skipped

log = logging.getLogger(__name__)

LINKS_TO = "links-to"


@dataclass(frozen=True, slots=True)
class Former:
    """What the snapshot that answers now was made from, by path."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    visits: Mapping[str, Known] = field(default_factory=dict)


class Changes:
    """The documents of the next snapshot, as event after event brings them.

    What did not occur is gone. But nothing is lost by accident: what failed this time, and what
    the origin named but did not fetch because of a limit, keeps its former document. So do the
    former pages to which only such pages lead, as they could not be met for that reason. A full
    sync begins anew: there a limit cuts off what it cuts off.

    Args:
        former: what answers now.
        paths_are_urls: whether paths are canonical URLs; else they are paths in a tree.
        full: nothing is taken over for its being unchanged.

    Attributes:
        documents: by path.
        visits: what to ask the upstream with next time, by path.
        skipped: how many things were left out, by reason.
        errors: the first that went wrong.
        fetched: how many files were read.
        failed: how many things went wrong.
        current: what the last event was about.
    """

    def __init__(self, former: Former, *, paths_are_urls: bool, full: bool) -> None:
        self._former = former
        self._paths_are_urls = paths_are_urls
        self._full = full
        self._paths = {known.url: path for path, known in former.visits.items()}
        self._missed: set[str] = set()
        self._omitted: set[str] = set()
        self._kept: set[str] = set()
        self.documents: dict[str, Document] = {}
        self.visits: dict[str, Known] = {}
        self.skipped: Counter[str] = Counter()
        self.errors: list[JobError] = []
        self.fetched = 0
        self.failed = 0
        self.current = ""

    def add(self, event: Event) -> None:
        """Take one event in; a file that cannot be read is an error of its own."""
        match event:
            case Found():
                self.fetched += 1
                self.current = event.file.path
                self._read(event)
            case Same(path):
                self.current = path
                if path in self._former.documents and path in self._former.visits:
                    self._keep(self._former.documents[path], self._former.visits[path])
            case Skipped(ref, reason):
                self.current = ref
                self._skip(ref, reason)
            case Failed(ref, kind, message):
                self.current = ref
                self._fail(ref, kind, message)

    def close(self) -> None:
        """Take over from the former snapshot what could not be met."""
        former = self._former.documents
        queue = sorted(self._missed - self.documents.keys())
        for path in queue:  # grows as links are followed
            if path in self.documents or path in self._omitted:
                continue
            self.documents[path] = former[path]
            self._kept.add(path)
            known = self._former.visits.get(path)
            if known is not None:
                self.visits[path] = known
                targets = (self._paths.get(link, link) for link in known.links)
                queue += (target for target in targets if target in former)

    def counts(self) -> dict[str, int]:
        """How the documents differ from the former ones; one that stayed unseen is in none."""
        former = self._former.documents
        seen = self.documents.keys() - self._kept
        met = seen & former.keys()
        unchanged = sum(self.documents[path].digest() == former[path].digest() for path in met)
        return {
            "fetched": self.fetched,
            "unchanged": unchanged,
            "new": len(seen - former.keys()),
            "changed": len(met) - unchanged,
            "gone": len(former.keys() - self.documents.keys()),
            "skipped": self.skipped.total(),
            "failed": self.failed,
            "documents": len(self.documents),
        }

    def seen(self) -> dict[str, int]:
        """What can be counted while the visit goes on."""
        return {
            "fetched": self.fetched,
            "skipped": self.skipped.total(),
            "failed": self.failed,
            "documents": len(self.documents),
        }

    def relations(self) -> list[Relation]:
        """Which of the documents link to which."""
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

    def _read(self, event: Found) -> None:
        file = event.file
        if not file.body.strip():
            self._skip(file.path, "empty")
            return
        try:
            found = page_of(file)
        except DocstowError as error:
            self._fail(file.path, error.code, error.message)
            return
        except Exception:
            log.exception("%s could not be read", file.path)
            self._fail(file.path, InternalError.code, "the page could not be read")
            return
        if not found.indexable:
            self._skip(file.path, "noindex")
        elif not found.text.strip():
            self._skip(file.path, "empty")
        else:
            document = document_of(file, found)
            if self._paths_are_urls:
                document = replace(document, url=file.path)
            links = event.links or found.links
            self._keep(document, Known(file.path, file.url, event.validator, links))

    def _keep(self, document: Document, known: Known) -> None:
        """Take a document, the first of its path; a page at its own address goes before others."""
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
        elif not self._paths_are_urls:  # a directory: what is below it could not be met
            below = "" if path == "." else f"{path}/"
            self._missed |= {each for each in self._former.documents if each.startswith(below)}


def page_of(file: File) -> page.Page:
    """Read a file by the reader that it is for.

    Raises:
        UnreadableInput: it is not what it claims to be.
    """
    return pushed.read(file) if file.media_type == pushed.MEDIA_TYPE else page.read(file)


def document_of(file: File, found: page.Page) -> Document:
    """The document that a page is stowed as."""
    media_type = file.media_type.partition(";")[0].strip().lower()
    attributes = {**({"media_type": media_type} if media_type else {}), **found.attributes}
    return Document(
        path=file.path,
        kind="page",
        title=found.title,
        text=found.text,
        url=file.url,
        attributes=attributes,
    )
