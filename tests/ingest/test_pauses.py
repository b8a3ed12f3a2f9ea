"""A pause that docs.rs asks one process for is kept by all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docstow.core.errors import UpstreamError
from docstow.core.settings import load
from docstow.ingest.pauses import LONGEST_S, Pauses
from docstow.runtime import SAMPLE, Runtime
from docstow.store.leases import Leases
from docstow.store.objects import DirectoryStore
from servers.docs_rs import DocsRs
from servers.loopback import status

HOST = "docs.example"


@pytest.fixture
def docs_rs(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates/stowage/0.1.0/rustdoc.json.zst"
    place.parent.mkdir(parents=True)
    place.write_bytes(SAMPLE.read_bytes())
    with DocsRs(tmp_path / "crates") as running:
        yield running


def test_others_do_not_ask_while_a_pause_lasts(docs_rs: DocsRs, tmp_path: Path) -> None:
    def process(stack: ExitStack, name: str) -> Runtime:
        flags = {
            "store": str(tmp_path / "store"),
            "cache": str(tmp_path / name),
            "docs_rs_url": docs_rs.url,
            "crates_index_url": docs_rs.index_url,
        }
        return stack.enter_context(closing(Runtime(load(flags, {}))))

    asked = "/crate/stowage"
    docs_rs.always("/crate/stowage/0.1.0/json", status(429, retry_after="600"))
    with ExitStack() as stack:
        one, other = process(stack, "one"), process(stack, "other")
        for each in (one, other):
            with pytest.raises(UpstreamError) as refused:
                each.crates.ingest("stowage", "=0.1.0")
            assert 0 < refused.value.details["retry_after_s"] <= 600
            assert len(docs_rs.paths(asked)) == 1


def test_a_pause_ends(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    told = UpstreamError("too many requests", host=HOST, retry_after_s=10**9)
    one, other = (
        Pauses(Leases(DirectoryStore(tmp_path), name, clock=lambda: now)) for name in "ab"
    )
    with pytest.raises(UpstreamError, match="too many"), one.kept(HOST):
        raise told
    with pytest.raises(UpstreamError, match="has asked for a pause") as refused, other.kept(HOST):
        pass
    assert refused.value.details["retry_after_s"] == LONGEST_S
    with other.kept("another.example"):
        pass
    now += timedelta(seconds=LONGEST_S)
    with other.kept(HOST):
        pass


def test_what_has_failed_otherwise_is_no_pause(tmp_path: Path) -> None:
    pauses = Pauses(Leases(DirectoryStore(tmp_path), "one"))
    for error in (
        UpstreamError("a fault", host=HOST, status=500),
        UpstreamError("too many requests", host="another.example", retry_after_s=60),
    ):
        with pytest.raises(UpstreamError), pauses.kept(HOST):
            raise error
    with pauses.kept(HOST):
        pass
