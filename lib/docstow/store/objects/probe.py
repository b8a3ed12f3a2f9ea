"""Finds out whether a store honours the conditions of writes, on which everything here rests."""

from __future__ import annotations

import contextlib
import uuid

from docstow.core.errors import StoreError
from docstow.store.objects.protocol import AlreadyThere, Conflict, ObjectStore

_ADVICE = (
    "Use AWS S3, another S3 server that honours conditional PutObject requests (a current"
    " release of Ceph or MinIO does), or a plain directory."
)


def probe(store: ObjectStore) -> None:
    """Refuse a store that accepts conditional writes and ignores the condition.

    Six small requests under ``probes/``, which are cleaned up.

    Raises:
        ReadOnlyStore: it cannot be written at all.
        StoreError: a condition was ignored, or the store cannot be used at all.
    """
    key = f"probes/{uuid.uuid4().hex}"
    first = store.create(key, b"first")
    try:
        with contextlib.suppress(AlreadyThere):
            store.create(key, b"second")
            raise _ignored("If-None-Match")
        try:
            store.swap(key, b"third", first)
        except Conflict as fault:
            raise StoreError(
                "The store refuses a conditional write (If-Match) whose condition holds, so no"
                f" head could ever be changed. {_ADVICE}"
            ) from fault
        with contextlib.suppress(Conflict):
            store.swap(key, b"fourth", first)
            raise _ignored("If-Match")
    finally:
        store.delete(key)


def _ignored(condition: str) -> StoreError:
    return StoreError(
        f"The store accepts conditional writes and ignores the condition ({condition}): two"
        f" writers would overwrite each other's work unnoticed. {_ADVICE}"
    )
