"""The two stores, which all tests of this folder ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docstow.runtime import Runtime
from tenants import Known, learn, two_stores


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runtime, Runtime]]:
    """A store with the secret sources, and one in which they never were."""
    with two_stores(tmp_path_factory.mktemp) as made:
        yield made


@pytest.fixture(scope="session")
def known(stores: tuple[Runtime, Runtime]) -> Known:
    """All that the owner of the secret sources can tell the tenant."""
    return learn(stores[0])
