"""The kind of collections: texts that clients push, one object of the store each."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, field, replace
from typing import Any

from docstow import formats
from docstow.core.errors import InvalidParameter, StoreError, UnreadableInput
from docstow.core.model import NO_ATTRIBUTES, File, Known, Registration, Revision
from docstow.core.records import dataclass
from docstow.sources import Event, Found, Origin, Same, SourceKind, Upstreams
from docstow.store.objects import ObjectStore, Unchanged

PREFIX = "pushed/"
SCHEMA = 1
PARALLEL = 8
#: The media type of a pushed text's file, which holds title, URI and metadata too.
MEDIA_TYPE = "application/vnd.docstow.pushed+json"


@dataclass(frozen=True, slots=True)
class Text:
    """A pushed text.

    Attributes:
        path: its URI, or the digest of title and text.
        text: Markdown.
        title: as the client gave it; may be empty.
        uri: as the client gave it; may be empty.
        metadata: facts for filters.
    """

    path: str
    text: str
    title: str = ""
    uri: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)


def prefix(source_id: str) -> str:
    """Return the prefix of the keys of a collection's texts."""
    return f"{PREFIX}{source_id}/"


def key(source_id: str, path: str) -> str:
    """Return the key of a text."""
    return f"{prefix(source_id)}{hashlib.sha256(path.encode()).hexdigest()[:16]}.json"


def encode(text: Text) -> bytes:
    """Return the stored form; equal texts give equal bytes."""
    fields = {"schema": SCHEMA, **asdict(replace(text, metadata=dict(text.metadata)))}
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()


def decode(body: bytes) -> Text:
    """Parse the stored form.

    Raises:
        UnreadableInput: it is damaged.
    """
    try:
        fields = json.loads(body)
        if fields.pop("schema") != SCHEMA:
            raise UnreadableInput("The pushed text was stored by another release; use that one.")
        return Text(**fields)
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        if isinstance(fault, UnreadableInput):
            raise
        raise UnreadableInput("The pushed text is damaged in the store; push it again.") from fault


def file_of(text: Text) -> File:
    """Return a text as a file for :func:`read`."""
    url = text.uri if text.uri.startswith(("http://", "https://")) else ""
    return File(text.path, url, MEDIA_TYPE, encode(text))


def read(file: File) -> formats.Page:
    """Return the page of a pushed text; its title and metadata take precedence over the text's own.

    Raises:
        UnreadableInput: it is damaged or not text.
    """
    text = decode(file.body)
    inner = File(text.path, file.url, "text/markdown", text.text.encode())
    found = formats.read(inner)
    attributes = dict(found.attributes)
    if text.metadata:
        attributes["metadata"] = dict(text.metadata)
    return replace(found, title=text.title or found.title, attributes=attributes, indexable=True)


class CollectionOrigin:
    """The texts of one collection; a text whose ETag is unchanged is not fetched again."""

    def __init__(self, store: ObjectStore, registration: Registration) -> None:
        self._store = store
        self._registration = registration
        self._source_id = registration.id

    def resolve(self) -> Revision:
        """Return the revision without a version: a collection has none."""
        return self._registration.revision()

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield every stored text.

        Raises:
            StoreError: the store cannot be used, or a text in it is damaged.
        """
        by_key = {key(self._source_id, path): each for path, each in known.items()}
        keys = [entry.key for entry in self._store.list(prefix(self._source_id))]
        with ThreadPoolExecutor(PARALLEL) as pool:
            events = pool.map(lambda each: self._event(each, by_key.get(each)), keys)
            yield from (event for event in events if event is not None)

    def _event(self, key: str, known: Known | None) -> Event | None:
        if known is None:
            stored = self._store.get(key)
        else:
            changed = self._store.get_changed(key, known.validator)
            if isinstance(changed, Unchanged):
                return Same(known.path)
            stored = changed
        if stored is None:
            return None  # deleted meanwhile
        try:
            return Found(file_of(decode(stored.body)), stored.etag)
        except UnreadableInput as error:
            raise StoreError(f"{key}: {error.message}") from error


def canonical(uri: str) -> str:
    """Return the name of a collection as it is.

    Raises:
        InvalidParameter: it is too long or not printable.
    """
    if len(uri) > 100 or not uri.isprintable():
        raise InvalidParameter("name", "must be one line of at most 100 characters")
    return uri


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    yield CollectionOrigin(upstreams.store, registration)


KIND = SourceKind("collection", canonical=canonical, open=_open, pushed=True)
