"""Fixtures that several rooms' tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paths import SHARED
from servers import s3


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with real rustdoc JSON, one ``<crate>/<version>/rustdoc.json.zst`` each."""
    folder = SHARED / "corpus"
    if not (folder / "index.json").is_file():
        pytest.skip("the corpus of real rustdoc JSON is not beside this checkout")
    return folder


@pytest.fixture(scope="module")
def bucket() -> Iterator[s3.Bucket]:
    """An empty bucket for a module's tests, each of which keeps to a prefix of its own."""
    with s3.bucket() as made:
        yield made
