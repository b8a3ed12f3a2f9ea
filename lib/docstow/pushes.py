"""Collections: texts that clients push, stowed object by object and then synced like any source.

This room knows what may be pushed and when a push is done. It does not know how a collection
becomes a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docstow.model import NO_ATTRIBUTES, Registration

if TYPE_CHECKING:
    from docstow.objects import ObjectStore
    from docstow.registry import Registry
    from docstow.sync import Sync

#: The collection that pushes go to which name none.
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Pushed:
    """A push that is stored for good.

    Attributes:
        document_id: names the document for ever.
        collection: the id of its collection.
        replaced: whether there was a document of that key before.
        snapshot_id: the snapshot that searches find it in; empty while it is not there yet.
        job_id: the job that brings it there; empty where none was needed.
    """

    document_id: str
    collection: str
    replaced: bool
    snapshot_id: str
    job_id: str


class Collections:
    """The collections of a store and the texts in them.

    Args:
        store: where the texts are.
        registry: where the collections are registered.
        sync: brings what was pushed into snapshots.
        published: whether what answers for a collection has exactly that document; the
            snapshot's id, or nothing.
        wait_s: how long a push waits until searches find it.
        max_bytes: how long a text may be.
    """

    def create(self, name: str, title: str = "") -> tuple[Registration, bool]:
        """Add a collection; it and whether it is new.

        Raises:
            InvalidParameter: the name cannot be one.
        """
        raise NotImplementedError

    def all(self) -> list[Registration]:
        """Every collection."""
        raise NotImplementedError

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

        Args:
            collection: name, title or id; empty for :data:`DEFAULT`.
            text: Markdown or plain text.
            title: else the text's own first heading.
            uri: names the document; without one its title and text do.
            metadata: facts for filters: text, numbers and booleans.

        Raises:
            SourceNotFound: there is no such collection.
            InvalidParameter: something given is not what it should be.
            TooLarge: the text is too long.
        """
        raise NotImplementedError

    def delete(self, collection: str, ref: str) -> Pushed:
        """Remove the document of that URI or id.

        Raises:
            SourceNotFound: there is no such collection.
            DocumentNotFound: there is no such document in it.
        """
        raise NotImplementedError
