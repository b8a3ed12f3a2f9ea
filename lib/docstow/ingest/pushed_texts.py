"""Collections: texts that clients push, stored object by object and then synced as sources are."""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from docstow.core import auth
from docstow.core.errors import (
    DocumentNotFound,
    InvalidParameter,
    SourceNotFound,
    TooLarge,
    UnreadableInput,
)
from docstow.core.model import (
    NO_ATTRIBUTES,
    Document,
    Registration,
    document_id,
    source_id,
)
from docstow.ingest.changes import make_document
from docstow.ingest.reading import read_page
from docstow.sources.collection import KIND, Text, encode, file_of, key, prefix
from docstow.store.update import RAW, update

if TYPE_CHECKING:
    from docstow.ingest.jobs import Job
    from docstow.sources.registry import Registry
    from docstow.store.objects import ObjectStore

#: The collection that pushes go to which name none.
DEFAULT = "default"
LONGEST_TITLE = 200
LONGEST_URI = 2000
MOST_METADATA = 50
LONGEST_NAME = 100
LONGEST_VALUE = 1000


@dataclass(frozen=True, slots=True)
class Pushed:
    """A change of a collection that is stored for good.

    Attributes:
        document_id: names the document for ever.
        collection: the id of its collection.
        replaced: whether there was a document of that key before.
        snapshot_id: the snapshot in which searches see the change; empty while none does, and
            where the collection has become empty.
        job_id: the job that brings it there; empty where none was needed.
    """

    document_id: str
    collection: str
    replaced: bool
    snapshot_id: str
    job_id: str


class SyncRequests(Protocol):
    """What has sources synced."""

    def start(self, ref: str, *, join_running: bool = True) -> Job:
        """Have a source synced; return the job that does it."""

    def wait(self, job_id: str, seconds: float) -> Job:
        """Return a job when it has ended, or as it is after so many seconds."""


class Collections:
    """The collections of a store and the texts in them. Safe to share between threads.

    Args:
        store: where the texts are.
        registry: where the collections are registered.
        sync: brings what was pushed into snapshots.
        answering: the document of a path in what answers for a collection now, and the
            snapshot's id; None where there is none.
        wait_s: how long a push waits until searches find it.
        max_bytes: how long a text may be.
    """

    def __init__(
        self,
        store: ObjectStore,
        registry: Registry,
        sync: SyncRequests,
        answering: Callable[[Registration, str], tuple[Document, str] | None],
        *,
        wait_s: float,
        max_bytes: int,
    ) -> None:
        self._store = store
        self._registry = registry
        self._sync = sync
        self._answering = answering
        self._wait_s = wait_s
        self._max_bytes = max_bytes

    def create(self, name: str, title: str = "") -> tuple[Registration, bool]:
        """Add a collection; return it, and whether it is new.

        Raises:
            InvalidParameter: the name cannot be one.
        """
        return self._registry.create(KIND.name, name, title=title)

    def all(self) -> list[Registration]:
        """Return every collection, by title."""
        return [each for each in self._registry.all() if each.kind == KIND.name]

    def push(
        self,
        collection: str,
        text: str,
        *,
        title: str = "",
        uri: str = "",
        metadata: Mapping[str, Any] = NO_ATTRIBUTES,
    ) -> Pushed:
        """Store a text for good; it replaces the one of the same URI.

        Searches find it when this returns, if that takes no longer than ``wait_s``; else the job
        that is named goes on.

        Args:
            collection: name, title or id; empty for :data:`DEFAULT`, which is made if need be.
            text: Markdown or plain text.
            title: else the text's own first heading.
            uri: names the document; without one its title and text do.
            metadata: facts for filters: text, numbers and booleans.

        Raises:
            SourceNotFound: there is no such collection.
            InvalidParameter: something given is not what it should be.
            TooLarge: the text is too long.
            QuotaExceeded: the collection's account, or the caller's where it has none, is full.
        """
        given = self._check(text, title, uri, metadata)
        registration = self._find(collection)
        document = _make_document(given)
        body, account = encode(given), self._account(registration)
        quotas = self._registry.quotas
        quotas.add_bytes(account, registration.id, len(body))
        done = update(self._store, key(registration.id, given.path), RAW, lambda _: body)
        replaced = done.before is not None
        if done.before is not None:
            quotas.add_bytes(account, registration.id, -len(done.before))
        identity = document_id(registration.id, given.path)
        if not done.written and (there := self._answering(registration, given.path)):
            found, snapshot_id = there
            if found.digest() == document.digest():
                return Pushed(identity, registration.id, replaced, snapshot_id, "")
        return self._sync_push(registration, identity, replaced=replaced)

    def delete(self, collection: str, ref: str) -> Pushed:
        """Remove the document of that URI, key or id; searches find it no more, as with a push.

        Raises:
            SourceNotFound: there is no such collection.
            DocumentNotFound: there is no such document in it.
        """
        registration = self._find(collection)
        for entry in self._store.list(prefix(registration.id)):
            # An id ends with the very digits that the object is called by.
            digits = entry.key.rpartition("/")[2].removesuffix(".json")
            identity = f"{registration.id[:12]}.{digits}"
            if ref == identity or entry.key == key(registration.id, ref):
                self._store.delete(entry.key)
                account = self._account(registration)
                self._registry.quotas.add_bytes(account, registration.id, -entry.size)
                return self._sync_push(registration, identity, replaced=True)
        raise DocumentNotFound(
            f"The collection {registration.title} has no document {ref[:200]!r}; give its URI as it"
            " was pushed, or its document id."
        )

    def _account(self, registration: Registration) -> str:
        """Return whose quotas a text counts for: whoever made the collection, else the caller."""
        if not (caller := auth.caller().account):
            return ""
        return self._registry.account_of(registration.id) or caller

    def _find(self, name: str) -> Registration:
        wanted = name.strip() or DEFAULT
        with contextlib.suppress(SourceNotFound):
            return self._registry.get(source_id(KIND.name, wanted))
        try:
            registration = self._registry.get(wanted)
        except SourceNotFound as error:
            if wanted == DEFAULT:
                return self.create(DEFAULT)[0]
            raise SourceNotFound(
                f"There is no collection {wanted[:200]!r}; create_collection makes it, and"
                " list_collections shows what there is.",
                suggestions=error.suggestions,
            ) from None
        if registration.kind != KIND.name:
            raise InvalidParameter(
                "collection", f"{registration.title} is a {registration.kind}; name a collection"
            )
        return registration

    def _check(self, text: str, title: str, uri: str, metadata: Mapping[str, Any]) -> Text:
        """Return what is pushed, checked."""
        if not text.strip():
            raise InvalidParameter("text", "must not be empty")
        try:
            body = text.encode()
        except UnicodeEncodeError:
            raise InvalidParameter("text", "has half of a character; send UTF-8") from None
        if len(body) > self._max_bytes:
            raise TooLarge(
                f"The text has {len(body)} bytes, {self._max_bytes} are allowed; push it in parts.",
                limit=self._max_bytes,
            )
        title, uri = " ".join(title.split()), uri.strip()
        if len(title) > LONGEST_TITLE:
            raise InvalidParameter("title", f"must have at most {LONGEST_TITLE} characters")
        if len(uri) > LONGEST_URI or not uri.isprintable():
            raise InvalidParameter("uri", f"must be one line of at most {LONGEST_URI} characters")
        path = uri or hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()
        return Text(path, text, title, uri, _check_metadata(metadata))

    def _sync_push(self, registration: Registration, identity: str, *, replaced: bool) -> Pushed:
        """Sync the collection, and wait for that.

        A job that runs already may have read past the text, so that the next one is requested; all
        that is stored before that one begins shares it.
        """
        until = time.monotonic() + self._wait_s
        job = self._sync.start(registration.id, join_running=False)
        job = self._sync.wait(job.id, max(until - time.monotonic(), 0))
        return Pushed(identity, registration.id, replaced, job.snapshot_id, job.id)


def _make_document(text: Text) -> Document:
    """Return the document that a text will be; refuse a text that no sync could read."""
    file = file_of(text)
    try:
        page = read_page(file)
    except UnreadableInput as error:
        raise InvalidParameter("text", error.message) from error
    if not page.text.strip():
        raise InvalidParameter("text", "has nothing that could be found")
    return make_document(file, page)


def _check_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    if len(metadata) > MOST_METADATA:
        raise InvalidParameter("metadata", f"must have at most {MOST_METADATA} values")
    for name, value in metadata.items():
        if not 0 < len(name) <= LONGEST_NAME:
            reason = f"names must have 1 to {LONGEST_NAME} characters"
            raise InvalidParameter("metadata", reason)
        if not isinstance(value, str | int | float | bool):
            raise InvalidParameter("metadata", f"{name} must be text, a number, true or false")
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidParameter("metadata", f"{name} must be a finite number")
        if isinstance(value, str) and len(value) > LONGEST_VALUE:
            reason = f"{name} must have at most {LONGEST_VALUE} characters"
            raise InvalidParameter("metadata", reason)
    return dict(metadata)
