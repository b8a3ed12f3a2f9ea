"""Object storage: bytes under keys with conditional writes, in a directory or an S3 bucket."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from docstow.core.errors import ConfigurationError
from docstow.store.objects.directory import DirectoryStore
from docstow.store.objects.probe import may_ignore_conditions, probe
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
)
from docstow.store.objects.s3 import S3Store, connect

__all__ = [
    "AlreadyThere",
    "Conflict",
    "DirectoryStore",
    "Entry",
    "LocalFiles",
    "ObjectStore",
    "ReadOnlyStore",
    "S3Store",
    "Stored",
    "Unchanged",
    "check_key",
    "connect",
    "escape",
    "may_ignore_conditions",
    "open_store",
    "probe",
]


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
    return S3Store(connect(endpoint=endpoint, region=region), parts.netloc, parts.path)
