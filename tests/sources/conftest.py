"""A folder of small crates served as docs.rs would, an origin that asks there, and a runtime."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from docstow.core.settings import load
from docstow.net import Fetcher
from docstow.runtime import Runtime
from docstow.sources.crates.origin import CrateOrigin
from servers.clock import Clock
from servers.docs_rs import DocsRs


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def crates(tmp_path: Path) -> Path:
    """JSON of every version but ``oak-tree`` 1.0.0, which lists as built before there was any."""
    versions = ["1.0.0", "1.2.0", "1.2.4", "1.3.0", "2.0.0-rc.1"]
    kept = [("oak-tree", version) for version in versions]
    kept += [("fern", "0.1.0-alpha.1"), ("fern", "0.1.0-alpha.2"), ("wood_rush", "0.1.0+native")]
    for name, version in kept:
        folder = tmp_path / "crates" / name / version
        folder.mkdir(parents=True)
        (folder / "rustdoc.json.zst").write_bytes(_packed_json(name, version))
    (tmp_path / "crates" / "oak-tree" / "1.0.0" / "rustdoc.json.zst").unlink()
    return tmp_path / "crates"


def _packed_json(name: str, version: str) -> bytes:
    return zstandard.compress(json.dumps({"crate": name, "crate_version": version}).encode())


@pytest.fixture
def server(crates: Path) -> Iterator[DocsRs]:
    with DocsRs(
        crates,
        overrides={
            ("oak-tree", "1.2.3"): {"yanked": True},
            ("oak-tree", "1.9.0"): {"yanked": True},
            ("Moss", "0.1.0"): {"yanked": True},
        },
    ) as running:
        yield running


@pytest.fixture
def fetcher(clock: Clock) -> Iterator[Fetcher]:
    made = Fetcher("https://project.example", sleep=clock.sleep, monotonic=clock.monotonic)
    yield made
    made.close()


@pytest.fixture
def origin(server: DocsRs, fetcher: Fetcher, clock: Clock) -> CrateOrigin:
    return CrateOrigin(
        fetcher, server.url, server.index_url, interval_s=0, monotonic=clock.monotonic
    )


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    """A process with a store of its own, which tries each request once."""
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), "retries": 0}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        yield runtime
