"""The sparse index: its paths, its lines and how long its word is taken."""

from __future__ import annotations

import json

import pytest

from docstow.core.errors import CrateNotFound, UpstreamError, UpstreamTimeout
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.net.retry import RetryPolicy
from docstow.sources.crates.index import Listing, Release, SparseIndex, entry_path, read_entry
from servers.clock import Clock
from servers.docs_rs import DocsRs
from servers.loopback import content, drip, status


@pytest.fixture
def index(server: DocsRs, fetcher: Fetcher, clock: Clock) -> SparseIndex:
    return SparseIndex(fetcher, server.index_url, limits=Limits(), monotonic=clock.monotonic)


def versions(listing: Listing) -> list[str]:
    return [release.version for release in listing.releases]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", "1/a"),
        ("aB", "2/ab"),
        ("syn", "3/s/syn"),
        ("Time", "ti/me/time"),
        ("serde_json", "se/rd/serde_json"),
        ("web-sys", "we/b-/web-sys"),
    ],
)
def test_an_entry_is_where_cargo_looks_for_it(name: str, path: str) -> None:
    assert entry_path(name) == path


def line(version: str, **members: object) -> bytes:
    return json.dumps({"name": "oak", "vers": version, **members}).encode()


def test_lines_are_read_leniently() -> None:
    body = b"\n".join(
        [
            line("1.10.0", yanked=None, features=None, deps=None, cksum="00", novelty=[1]),
            line("1.9.0", v=3),
            line("1.2.0", v=2, features={"a": [], "b": ["a"]}, features2={"c": ["dep:x"], "b": []}),
            line("not-a-version"),
            line("1.1.0", features="of another shape"),
            b"{}",
            b"not json",
            b"",
            line("1.0.0", yanked=True, pubtime="2026-01-01T00:00:00Z", rust_version="1.60"),
        ]
    )
    assert read_entry(body, url="here") == Listing(
        "oak",
        (
            Release("1.0.0", True, {}, (), "1.60", "2026-01-01T00:00:00Z"),
            Release("1.2.0", False, {"a": (), "b": (), "c": ("dep:x",)}, ()),
            Release("1.10.0", False, {}, (), checksum="00"),
        ),
    )


@pytest.mark.parametrize("body", [b"", b"\n \n", line("1.0.0", v=3)])
def test_an_entry_without_versions_is_none(body: bytes) -> None:
    assert read_entry(body, url="here") is None


def test_a_page_is_no_entry(index: SparseIndex, server: DocsRs) -> None:
    server.always("/index/", content(b"<html>\n<title>Sign in</title>", "text/html"))
    with pytest.raises(UpstreamError, match="is not an entry of a sparse index"):
        index.listing("fern")


def test_an_entry_is_good_for_ten_minutes_and_then_revalidated(
    index: SparseIndex, server: DocsRs, clock: Clock
) -> None:
    first = index.listing("fern")
    clock.now += 599
    assert index.listing("fern") is first
    assert len(server.requests) == 1
    clock.now += 1
    # Unchanged: the server says 304, and what is known is good for ten minutes more.
    assert index.listing("fern") is first
    clock.now += 599
    assert index.listing("fern") is first
    assert [request.headers.get("if-none-match", "")[:1] for request in server.requests] == [
        "",
        '"',
    ]
    clock.now += 1
    server.overrides["fern", "0.1.0"] = {}
    assert versions(index.listing("fern")) == ["0.1.0-alpha.1", "0.1.0-alpha.2", "0.1.0"]
    assert len(server.requests) == 3


def test_a_crate_that_is_not_there_is_asked_for_again_after_half_a_minute(
    index: SparseIndex, server: DocsRs, clock: Clock
) -> None:
    for _ in range(2):
        with pytest.raises(CrateNotFound):
            index.listing("heather")
    assert len(server.requests) == 1
    server.overrides["heather", "1.0.0"] = {}
    clock.now += 30
    assert versions(index.listing("heather")) == ["1.0.0"]


@pytest.mark.parametrize("code", [404, 410, 451])
def test_what_cargo_takes_for_absence_is_absence(
    index: SparseIndex, server: DocsRs, code: int
) -> None:
    server.always("/index/", status(code))
    with pytest.raises(CrateNotFound):
        index.listing("fern")


def test_an_unreachable_index_is_left_alone_for_half_a_minute(
    index: SparseIndex, server: DocsRs, clock: Clock
) -> None:
    server.always("/index/", status(503))
    with pytest.raises(UpstreamError) as first:
        index.listing("fern")
    asked, waited = len(server.requests), len(clock.naps)
    with pytest.raises(UpstreamError) as second:
        index.listing("oak-tree")
    assert second.value.body() == first.value.body()
    assert (len(server.requests), len(clock.naps)) == (asked, waited)
    server.always("/index/", None)
    clock.now += 30
    assert versions(index.listing("fern")) == ["0.1.0-alpha.1", "0.1.0-alpha.2"]


def test_a_timeout_is_remembered_as_a_timeout(server: DocsRs, clock: Clock) -> None:
    def pass_time() -> None:
        clock.now += 60

    fetcher = Fetcher(
        "https://project.example",
        policy=RetryPolicy(total_s=50),
        sleep=clock.sleep,
        monotonic=clock.monotonic,
    )
    index = SparseIndex(fetcher, server.index_url, limits=Limits(), monotonic=clock.monotonic)
    server.always("/index/", drip([b"{"] * 9, pass_time))
    for _ in range(2):
        with pytest.raises(UpstreamTimeout, match="did not answer in time"):
            index.listing("fern")
    assert len(server.requests) == 1
    fetcher.close()


def test_an_old_entry_answers_while_the_index_is_away(
    index: SparseIndex, server: DocsRs, clock: Clock
) -> None:
    known = index.listing("fern")
    clock.now += 600
    server.always("/index/", status(503))
    assert index.listing("fern") is known
    asked = len(server.requests)
    assert index.listing("fern") is known
    assert len(server.requests) == asked


def test_only_so_many_crates_are_remembered(index: SparseIndex, server: DocsRs) -> None:
    names = [f"crate{number:02}" for number in range(65)]
    for name in names:
        server.overrides[name, "1.0.0"] = {}
        index.listing(name)
    index.listing(names[1])
    assert len(server.requests) == 65
    index.listing(names[0])
    assert len(server.requests) == 66
