"""Crates by name and requirement, from a loopback docs.rs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    DocstowError,
    InvalidParameter,
    TooLarge,
    UnreadableInput,
    UpstreamError,
    VersionYanked,
)
from docstow.core.model import File, Revision, Source
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.sources.crates.origin import CrateOrigin, read_file
from servers.clock import Clock
from servers.docs_rs import DocsRs
from servers.loopback import content, drop, status, zstd_bomb


@pytest.mark.parametrize(
    ("name", "requirement", "resolved"),
    [
        ("oak-tree", "", ("oak-tree", "1.3.0")),
        ("oak-tree", "latest", ("oak-tree", "1.3.0")),
        ("oak-tree", "*", ("oak-tree", "1.3.0")),
        ("oak-tree", "1.2.0", ("oak-tree", "1.2.0")),
        ("oak-tree", "~1.2", ("oak-tree", "1.2.4")),
        ("oak-tree", "^1.2.3", ("oak-tree", "1.3.0")),
        ("oak-tree", ">=1, <1.2", ("oak-tree", "1.0.0")),
        ("oak-tree", "2.0.0-rc.1", ("oak-tree", "2.0.0-rc.1")),
        ("oak_tree", "1", ("oak-tree", "1.3.0")),
        ("Oak_Tree", "1", ("oak-tree", "1.3.0")),
        ("wood-rush", "0.1.0", ("wood_rush", "0.1.0+native")),
        ("fern", "", ("fern", "0.1.0-alpha.2")),
    ],
)
def test_a_request_resolves_to_one_version_of_the_true_name(
    origin: CrateOrigin, server: DocsRs, name: str, requirement: str, resolved: tuple[str, str]
) -> None:
    crate, version = resolved
    path = f"/crate/{crate}/{version.replace('+', '%2B')}/json"
    assert origin.resolve(name, requirement) == Revision(
        source=Source("crate", crate, version),
        version=version,
        origin="docs.rs",
        url=f"{server.url}{path}",
    )
    assert server.paths("/crate/") == []


def test_a_target_is_part_of_source_and_address(origin: CrateOrigin, server: DocsRs) -> None:
    revision = origin.resolve("fern", target="wasm32-unknown-unknown")
    assert revision.source == Source("crate", "fern", "0.1.0-alpha.2", "wasm32-unknown-unknown")
    assert revision.url == f"{server.url}/crate/fern/0.1.0-alpha.2/wasm32-unknown-unknown/json"


def error_of(origin: CrateOrigin, name: str, requirement: str = "") -> DocstowError:
    with pytest.raises(DocstowError) as caught:
        origin.resolve(name, requirement)
    return caught.value


def test_a_yanked_version_is_gone_and_near_ones_are_named(origin: CrateOrigin) -> None:
    for asked in ("1.2.3", "=1.2.3"):
        error = error_of(origin, "oak-tree", asked)
        assert (type(error), error.status) == (VersionYanked, 410)
        assert error.body() == {
            "error": "version_yanked",
            "message": "oak-tree 1.2.3 has been yanked by its publisher."
            " Nearest to it: 1.2.4, 1.2.0, 1.3.0.",
            "suggestions": [
                {"version": "1.2.4", "score": 1.0},
                {"version": "1.2.0", "score": 0.5},
                {"version": "1.3.0", "score": 0.33},
            ],
        }


def test_a_yanked_crate_has_nothing_on_offer(origin: CrateOrigin) -> None:
    assert error_of(origin, "moss", "0.1.0").body() == {
        "error": "version_yanked",
        "message": "Moss 0.1.0 has been yanked by its publisher. No other is on offer.",
    }
    latest = error_of(origin, "moss")
    assert (type(latest), latest.message) == (
        CrateNotFound,
        "All versions of Moss have been yanked; ask for another crate.",
    )


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("0.1.0", "oak-tree has no version 0.1.0. Nearest to it: 1.0.0, 1.2.0, 1.2.4."),
        ("1.2.9", "oak-tree has no version 1.2.9. Nearest to it: 1.3.0, 1.2.4, 1.2.0."),
        (
            "^7",
            "No versions of oak-tree match ^7; the newest on offer are 2.0.0-rc.1, 1.3.0, 1.2.4.",
        ),
        (
            "~1.9",
            (
                "Only yanked versions of oak-tree match ~1.9;"
                " the newest on offer are 2.0.0-rc.1, 1.3.0, 1.2.4."
            ),
        ),
    ],
)
def test_a_version_that_is_not_there_names_others(
    origin: CrateOrigin, requirement: str, message: str
) -> None:
    error = error_of(origin, "oak-tree", requirement)
    assert (type(error), error.message) == (CrateNotFound, message)
    assert [each["version"] for each in error.suggestions] == (
        message.rstrip(".").split(": " if "Nearest" in message else " are ")[1].split(", ")
    )


def test_an_unknown_crate_says_what_to_do(origin: CrateOrigin, server: DocsRs) -> None:
    error = error_of(origin, "no-such_crate")
    assert (type(error), error.status) == (CrateNotFound, 404)
    assert "docstow ingest rustdoc FILE" in error.message
    assert server.paths() == [
        "/index/no/-s/no-such_crate",
        "/index/no/-s/no-such-crate",
        "/index/no/_s/no_such_crate",
    ]


@pytest.mark.parametrize(
    "name", ["", "1st", "-a", "a b", "a/b", "a.b", "../x", "ä", "a" * 65, "a\n"]
)
def test_what_is_no_crate_name_is_refused_unasked(
    origin: CrateOrigin, server: DocsRs, name: str
) -> None:
    error = error_of(origin, name)
    assert (type(error), error.details["field"]) == (InvalidParameter, "crate")
    assert server.requests == []


@pytest.mark.parametrize("target", ["../x", "x86_64/linux", " ", "x" * 81, "-"])
def test_what_is_no_target_is_refused_unasked(
    origin: CrateOrigin, server: DocsRs, target: str
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        origin.resolve("fern", target=target)
    assert caught.value.details["field"] == "target"
    assert server.requests == []


def test_what_is_no_requirement_is_refused(origin: CrateOrigin) -> None:
    error = error_of(origin, "fern", "newer")
    assert (type(error), error.details["field"]) == (InvalidParameter, "version")


@pytest.mark.parametrize("name", ["std", "core", "alloc", "proc_macro", "proc-macro", "test"])
def test_the_standard_library_comes_from_a_file(
    origin: CrateOrigin, server: DocsRs, name: str
) -> None:
    error = error_of(origin, name)
    assert (type(error), error.status) == (CrateNotDocumented, 404)
    assert "rust-docs-json" in error.message
    assert "docstow ingest std" in error.message
    assert server.requests == []


def test_a_revision_is_fetched_from_its_exact_version(origin: CrateOrigin, server: DocsRs) -> None:
    revision = origin.resolve("wood_rush", "0.1")
    assert origin.fetch(revision) == File(
        path="rustdoc.json",
        url=revision.url,
        media_type="application/json",
        body=b'{"crate": "wood_rush", "crate_version": "0.1.0+native"}',
    )
    assert server.paths("/crate/") == ["/crate/wood_rush/0.1.0+native/json"]


@pytest.mark.parametrize(
    "packed", [zstandard.compress(b"{}"), gzip.compress(b"{}", mtime=0), b" \n{}"]
)
def test_any_packing_is_accepted(origin: CrateOrigin, server: DocsRs, packed: bytes) -> None:
    server.always("/crate/", content(packed, "text/html"))
    assert origin.fetch(origin.resolve("fern")).body.strip() == b"{}"


@pytest.mark.parametrize("page", [b"<!DOCTYPE html>", b"", b"[]", zstandard.compress(b"<html>")])
def test_a_page_is_not_taken_for_json(origin: CrateOrigin, server: DocsRs, page: bytes) -> None:
    server.always("/crate/", content(page, "application/zstd"))
    with pytest.raises(UnreadableInput, match="is not rustdoc JSON"):
        origin.fetch(origin.resolve("fern"))


def test_missing_json_says_why_and_what_to_do(origin: CrateOrigin) -> None:
    with pytest.raises(CrateNotDocumented) as caught:
        origin.fetch(origin.resolve("oak-tree", "1.0.0"))
    assert caught.value.message.startswith("docs.rs has no rustdoc JSON of oak-tree 1.0.0: it")
    assert "docstow ingest rustdoc FILE" in caught.value.message
    assert caught.value.suggestions == ({"version": "1.3.0", "score": 1.0},)


def test_a_missing_target_is_named(origin: CrateOrigin) -> None:
    revision = origin.resolve("oak-tree", "1.2.0", target="i686-pc-windows-msvc")
    with pytest.raises(
        CrateNotDocumented, match=r"for i686-pc-windows-msvc\. Leave the target out"
    ):
        origin.fetch(revision)


def revision_of(server: DocsRs, name: str, version: str) -> Revision:
    return Revision(
        Source("crate", name, version), version, url=f"{server.url}/crate/{name}/{version}/json"
    )


def test_the_index_tells_a_missing_version_from_missing_json(
    origin: CrateOrigin, server: DocsRs
) -> None:
    with pytest.raises(CrateNotFound, match=r"oak-tree has no version 4\.0\.0"):
        origin.fetch(revision_of(server, "oak-tree", "4.0.0"))
    with pytest.raises(CrateNotFound, match="no crate named heather"):
        origin.fetch(revision_of(server, "heather", "1.0.0"))
    server.always("/index/", status(403))
    with pytest.raises(CrateNotDocumented, match=r"no rustdoc JSON of birch 4\.0\.0"):
        origin.fetch(revision_of(server, "birch", "4.0.0"))


def test_docs_rs_faults_are_retried_and_then_named(
    origin: CrateOrigin, server: DocsRs, clock: Clock
) -> None:
    revision = origin.resolve("fern")
    server.plan("/crate/", status(503), drop(b"{}"), status(429, retry_after="20"))
    assert origin.fetch(revision).body == b'{"crate": "fern", "crate_version": "0.1.0-alpha.2"}'
    assert clock.naps[-1] == 20.0
    server.always("/crate/", status(500))
    with pytest.raises(UpstreamError, match="answered 500"):
        origin.fetch(revision)


def test_docs_rs_is_asked_once_a_second(server: DocsRs, fetcher: Fetcher, clock: Clock) -> None:
    origin = CrateOrigin(fetcher, server.url, server.index_url, monotonic=clock.monotonic)
    for _ in range(3):
        origin.fetch(origin.resolve("fern"))
        origin.fetch(origin.resolve("wood-rush"))
    assert clock.naps == [1.0] * 5


def test_downloads_are_capped(server: DocsRs, fetcher: Fetcher) -> None:
    origin = CrateOrigin(
        fetcher,
        server.url,
        server.index_url,
        limits=Limits(compressed=100_000, decompressed=1_000_000),
        interval_s=0,
    )
    revision = origin.resolve("fern")
    for body, limit in [
        (zstd_bomb(100_000_000), 1_000_000),
        (b"{" + bytes(1_000_000), 1_000_000),
        (zstd_bomb(8_000_000_000), 100_000),
    ]:
        server.plan("/crate/", content(body))
        with pytest.raises(TooLarge) as caught:
            origin.fetch(revision)
        assert caught.value.details == {"limit": limit}


def test_a_release_tells_what_the_index_knows(origin: CrateOrigin, server: DocsRs) -> None:
    server.overrides["fern", "0.1.0-alpha.2"] = {
        "features": {"leaf": ["dep:stem"]},
        "features2": {"root": ["leaf", "stem?/deep"]},
        "deps": [
            {
                "name": "stalk",
                "package": "stem",
                "req": "^1.2",
                "features": ["deep"],
                "optional": True,
                "default_features": False,
                "target": "cfg(unix)",
                "kind": "build",
            }
        ],
        "rust_version": "1.75",
        "pubtime": "2026-01-02T03:04:05Z",
        "v": 2,
    }
    release = origin.release(origin.resolve("fern"))
    assert release is not None
    assert release.facts() == {
        "features": {"leaf": ["dep:stem"], "root": ["leaf", "stem?/deep"]},
        "dependencies": [
            {
                "name": "stem",
                "requirement": "^1.2",
                "kind": "build",
                "optional": True,
                "features": ["deep"],
                "default_features": False,
                "target": "cfg(unix)",
                "alias": "stalk",
            }
        ],
        "rust_version": "1.75",
        "published": "2026-01-02T03:04:05Z",
    }
    assert json.loads(json.dumps(release.facts())) == release.facts()


def test_no_release_is_known_of_what_the_index_lacks(origin: CrateOrigin, server: DocsRs) -> None:
    assert origin.release(revision_of(server, "oak-tree", "4.0.0")) is None
    assert origin.release(revision_of(server, "heather", "1.0.0")) is None


def test_releases_are_in_ascending_order_yanked_ones_included(origin: CrateOrigin) -> None:
    name, releases = origin.releases("oak_tree")
    assert (name, [(release.version, release.yanked) for release in releases]) == (
        "oak-tree",
        [
            ("1.0.0", False),
            ("1.2.0", False),
            ("1.2.3", True),
            ("1.2.4", False),
            ("1.3.0", False),
            ("1.9.0", True),
            ("2.0.0-rc.1", False),
        ],
    )


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("docs.json", b'{"root": 0}'),
        ("docs.json.zst", zstandard.compress(b'{"root": 0}')),
        ("docs.json.gz", gzip.compress(b'{"root": 0}', mtime=0)),
        ("misnamed.gz", zstandard.compress(b'{"root": 0}')),
    ],
)
def test_a_file_is_read_whatever_its_packing(tmp_path: Path, name: str, packed: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(packed)
    assert read_file(path) == File(
        path="rustdoc.json",
        url=path.as_uri(),
        media_type="application/json",
        body=b'{"root": 0}',
    )


def test_files_are_capped_too(tmp_path: Path) -> None:
    path = tmp_path / "docs.json.zst"
    path.write_bytes(zstd_bomb(100_000_000))
    with pytest.raises(TooLarge) as caught:
        read_file(path, Limits(decompressed=1_000_000))
    assert caught.value.details == {"limit": 1_000_000}
    with pytest.raises(TooLarge) as caught:
        read_file(path, Limits(compressed=1000))
    assert caught.value.details == {"limit": 1000}


def test_a_file_that_is_no_json_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "docs.json"
    path.write_bytes(b"# A readme")
    with pytest.raises(UnreadableInput, match="is not rustdoc JSON"):
        read_file(path)


def test_a_file_that_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="No such file or directory"):
        read_file(tmp_path / "docs.json")
    with pytest.raises(UnreadableInput, match="cannot be read"):
        read_file(tmp_path)


def test_a_real_crate_comes_whole(corpus: Path, fetcher: Fetcher) -> None:
    with DocsRs(corpus) as server:
        origin = CrateOrigin(fetcher, server.url, server.index_url, interval_s=0)
        # Of clap 4.0 the corpus has files by format only; the highest is served.
        revision = origin.resolve("clap", "~4.0")
        file = origin.fetch(revision)
        entry = next(
            entry
            for entry in json.loads((corpus / "index.json").read_text("utf-8"))["entries"]
            if (entry["crate"], entry["version"]) == ("clap", revision.version)
            and entry["format_version"] == 28
        )
        assert len(file.body) == entry["raw_bytes"]
        release = origin.release(revision)
    assert release is not None
    assert sorted(release.features) == sorted(entry["features"])
