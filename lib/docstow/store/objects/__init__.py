"""Object storage: bytes under keys with conditional writes, in a directory or an S3 bucket."""

from __future__ import annotations

import importlib.util
import os
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from docstow.core.errors import ConfigurationError
from docstow.store.objects.directory import DirectoryStore
from docstow.store.objects.probe import probe
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
from docstow.store.objects.quick_s3 import QuickS3, open_quick
from docstow.store.objects.s3 import S3Store, connect

__all__ = [
    "AlreadyThere",
    "Conflict",
    "DirectoryStore",
    "Entry",
    "LocalFiles",
    "ObjectStore",
    "QuickS3",
    "ReadOnlyStore",
    "S3Store",
    "Stored",
    "Unchanged",
    "check_key",
    "connect",
    "escape",
    "open_store",
    "probe",
    "tolerate_read_only",
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
    if importlib.util.find_spec("botocore") is None:
        raise ConfigurationError(
            "store: an S3 bucket needs the extra aws: pip install 'docstow[aws]'"
        )
    return S3Store(
        partial(connect, endpoint=endpoint, region=region),
        parts.netloc,
        parts.path,
        quick=open_quick(parts.netloc, endpoint=endpoint, region=region),
        doubted=_may_ignore_conditions(endpoint),
    )


def _may_ignore_conditions(endpoint: str) -> bool:
    """Return whether a bucket may ignore the conditions of writes: AWS itself honours them.

    The AWS variables can name another server, as ``endpoint`` does.
    """
    variables = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    return bool(endpoint or any(os.environ.get(name) for name in variables))
