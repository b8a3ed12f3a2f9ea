"""Object storage: bytes under keys with conditional writes, in a directory or an S3 bucket."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import uuid
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from docstow.core.errors import ConfigurationError, StoreError
from docstow.store.objects.directory import DirectoryStore
from docstow.store.objects.protocol import (
    AlreadyThere,
    Conflict,
    Entry,
    LocalFiles,
    ObjectStore,
    ReadOnlyStore,
    Stored,
    Unchanged,
    check_key,
    escape,
    tolerate_read_only,
)
from docstow.store.objects.s3 import S3Store, connect
from docstow.store.objects.s3_reads import S3Reads, open_reads

__all__ = [
    "AlreadyThere",
    "Conflict",
    "DirectoryStore",
    "Entry",
    "LocalFiles",
    "ObjectStore",
    "ReadOnlyStore",
    "S3Reads",
    "S3Store",
    "Stored",
    "Unchanged",
    "check_key",
    "connect",
    "escape",
    "may_ignore_conditions",
    "open_store",
    "probe",
    "tolerate_read_only",
]

_ADVICE = (
    "Use AWS S3, another S3 server that honours conditional PutObject requests (a current"
    " release of Ceph or MinIO does), or a plain directory."
)


def open_store(url: str, *, endpoint: str = "", region: str = "us-east-1") -> ObjectStore:
    """Open the store that ``url`` names.

    Args:
        url: a directory (``~`` is expanded) or ``s3://bucket/prefix``.
        endpoint: address of an S3 server other than AWS.
        region: the bucket's region; empty leaves it to the AWS configuration.

    Raises:
        ConfigurationError: ``url`` is neither.
        StoreError: the directory cannot be made.
    """
    if "://" not in url:
        if not url:
            raise ConfigurationError("The store is not named; set it to a directory or s3://bucket")
        return DirectoryStore(Path(url).expanduser())
    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{url!r} is not a store; use a directory, s3://bucket or s3://bucket/prefix"
        )
    if importlib.util.find_spec("botocore") is None:
        raise ConfigurationError(
            "store: an S3 bucket needs the extra aws: pip install 'docstow[aws]'"
        )
    return S3Store(
        partial(connect, endpoint=endpoint, region=region),
        parts.netloc,
        parts.path,
        reads=open_reads(parts.netloc, endpoint=endpoint, region=region),
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


def may_ignore_conditions(url: str, endpoint: str = "") -> bool:
    """Return whether a store may ignore the conditions of writes: AWS itself honours them.

    The AWS variables can name another server, as ``endpoint`` does.
    """
    variables = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    elsewhere = endpoint or any(os.environ.get(name) for name in variables)
    return url.startswith("s3://") and bool(elsewhere)


def _ignored(condition: str) -> StoreError:
    return StoreError(
        f"The store accepts conditional writes and ignores the condition ({condition}): two"
        f" writers would overwrite each other's work unnoticed. {_ADVICE}"
    )
