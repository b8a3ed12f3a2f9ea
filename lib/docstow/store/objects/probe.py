"""The test that a store must pass before it is used: does it honour conditional writes?"""

from __future__ import annotations

import os
import uuid

from docstow.core.errors import StoreError
from docstow.store.objects.protocol import AlreadyThere, Conflict, ObjectStore


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
        try:
            store.create(key, b"second")
        except AlreadyThere:
            pass
        else:
            raise _ignored("If-None-Match")
        try:
            store.swap(key, b"third", first)
        except Conflict as fault:
            raise StoreError(
                "The store refuses a conditional write (If-Match) whose condition holds, so no"
                f" head could ever be changed. {_ADVICE}"
            ) from fault
        try:
            store.swap(key, b"fourth", first)
        except Conflict:
            pass
        else:
            raise _ignored("If-Match")
    finally:
        store.delete(key)


def may_ignore_conditions(url: str, endpoint: str = "") -> bool:
    """Return whether a store may ignore the conditions of writes: AWS itself honours them.

    The AWS variables can name another server, as ``endpoint`` does.
    """
    variables = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    elsewhere = endpoint or any(os.environ.get(name) for name in variables)
    return url.startswith("s3://") and bool(elsewhere)


_ADVICE = (
    "Use AWS S3, another S3 server that honours conditional PutObject requests (a current"
    " release of Ceph or MinIO does), or a plain directory."
)


def _ignored(condition: str) -> StoreError:
    return StoreError(
        f"The store accepts conditional writes and ignores the condition ({condition}): two"
        f" writers would overwrite each other's work unnoticed. {_ADVICE}"
    )
