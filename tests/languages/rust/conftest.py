"""The project's own crates, read; see ``tests/fixtures/crates``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import zstandard

from docstow.languages.rust.rustdoc import CrateDocs, read
from paths import CRATES


@cache
def body_of(name: str) -> bytes:
    packed = (CRATES / name / "rustdoc.json.zst").read_bytes()
    return zstandard.ZstdDecompressor().stream_reader(packed).read()


@cache
def _read(name: str) -> CrateDocs:
    return read(body_of(name))


@pytest.fixture(scope="session")
def crate_body() -> Callable[[str], bytes]:
    """The rustdoc JSON of a fixture crate by its folder's name."""
    return body_of


@pytest.fixture(scope="session")
def crate() -> Callable[[str], CrateDocs]:
    """A fixture crate by its folder's name, read with its own name and version."""
    return _read
