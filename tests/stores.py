"""The two kinds of store, for tests that must hold on both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from docstow.objects.s3 import connect
from servers import s3


@contextlib.contextmanager
def bucket() -> Iterator[str]:
    """The address of moto's server, with an empty bucket called ``docstow``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        with s3.moto() as endpoint:
            connect(endpoint=endpoint).create_bucket(Bucket="docstow")
            yield endpoint
