"""The stand-in for docs.rs answers as ``docs.rs`` was measured to."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import zstandard

from servers.docs_rs import DocsRs

BODY = b'{"root": 0}'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DocsRs]:
    for version in ("1.0.0", "1.2.9", "2.0.0-rc.1"):
        folder = tmp_path / "oak" / version
        folder.mkdir(parents=True)
        (folder / "rustdoc.json.zst").write_bytes(zstandard.compress(BODY))
    for name in ("rustdoc.f9-old.json.zst", "rustdoc.f28-new.json.zst"):
        (tmp_path / "elm" / "0.1.0").mkdir(parents=True, exist_ok=True)
        (tmp_path / "elm" / "0.1.0" / name).write_bytes(zstandard.compress(name.encode()))
    (tmp_path / "ash" / "0.1.0").mkdir(parents=True)
    (tmp_path / "ash" / "0.1.0" / "rustdoc.json").write_bytes(BODY)
    with DocsRs(tmp_path, overrides={("oak", "1.3.0"): {"yanked": True}}) as running:
        yield running


@pytest.fixture
def client(server: DocsRs) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, trust_env=False) as made:
        yield made


@pytest.mark.parametrize(
    "path",
    [
        "/crate/oak/1.2.9/json",
        "/crate/oak/1.2.9/json/",
        "/crate/oak/1.2.9/json.zst",
        "/crate/oak/latest/json",
        "/crate/oak/1.2.9/x86_64-unknown-linux-gnu/json",
        "/crate/ash/0.1.0/json",
    ],
)
def test_json_comes_as_a_zstd_file(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, zstandard.decompress(answer.content)) == (200, BODY)
    assert answer.headers["content-type"] == "application/zstd"
    assert "content-encoding" not in answer.headers
    again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_file_has_a_name(client: httpx.Client) -> None:
    assert client.get("/crate/oak/1.2.9/json").headers["content-disposition"] == (
        'attachment; filename="oak_1.2.9_x86_64-unknown-linux-gnu_latest.json.zst"'
    )


def test_gzip_comes_where_it_is_asked_for(client: httpx.Client) -> None:
    answer = client.get("/crate/oak/1.2.9/json.gz")
    assert (answer.headers["content-type"], gzip.decompress(answer.content)) == (
        "application/gzip",
        BODY,
    )


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/crate/elm/0.1.0/json", b"rustdoc.f28-new.json.zst"),
        ("/crate/elm/0.1.0/json/28", b"rustdoc.f28-new.json.zst"),
        ("/crate/elm/0.1.0/json/9.zst", b"rustdoc.f9-old.json.zst"),
    ],
)
def test_the_highest_format_stands_for_a_missing_plain_file(
    client: httpx.Client, path: str, name: bytes
) -> None:
    assert zstandard.decompress(client.get(path).content) == name


@pytest.mark.parametrize(
    ("asked", "version"),
    [("~1", "1.2.9"), ("^1.0.0", "1.2.9"), ("1.0.1", "1.2.9"), ("*", "latest"), ("1", "1.2.9")],
)
def test_a_requirement_is_redirected(client: httpx.Client, asked: str, version: str) -> None:
    answer = client.get(f"/crate/oak/{asked}/json")
    assert (answer.status_code, answer.headers["location"]) == (302, f"/crate/oak/{version}/json")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/crate/oa_k/1.0.0/json", "crate"),
        ("/crate/oak/7.0.0/json", "version"),
        ("/crate/oak/1.0.0/wasm32-unknown-unknown/json", "target"),
        ("/crate/oak/1.3.0/json", "resource"),
        ("/crate/elm/0.1.0/json/60", "resource"),
        ("/nowhere", "resource"),
    ],
)
def test_everything_missing_is_a_page(client: httpx.Client, path: str, what: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert f"<title>The requested {what} does not exist</title>" in answer.text


def test_the_index_lists_versions_a_line_each(client: httpx.Client) -> None:
    answer = client.get("/index/3/o/oak")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [(line["name"], line["vers"], line["yanked"]) for line in lines] == [
        ("oak", "1.0.0", False),
        ("oak", "1.2.9", False),
        ("oak", "1.3.0", True),
        ("oak", "2.0.0-rc.1", False),
    ]
    again = client.get("/index/3/o/oak", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert client.get("/index/oa/ks/oaks").status_code == 404
    assert client.get("/index/o/oak").status_code == 404
