"""What the fetcher sends, and what it fetches in parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.errors import TooLarge, UpstreamError
from docstow.net import Fetcher
from servers.clock import Clock
from servers.loopback import Fault, Handler, Loopback, content, cut, drop, part_of, redirect, status

BODY = bytes(range(256)) * 64


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    clock = Clock()
    made = Fetcher(
        "https://project.example",
        sleep=clock.sleep,
        monotonic=clock.monotonic,
        now=clock.today,
        chance=lambda: 0.0,
    )
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(lambda handler: part_of(handler, BODY, {"ETag": '"one"'})) as running:
        yield running


def ranges(server: Loopback) -> list[str]:
    return [request.headers.get("range", "") for request in server.requests]


def test_a_post_carries_content_and_headers(fetcher: Fetcher) -> None:
    def echo(handler: Handler) -> None:
        handler.reply(200, handler.asked.body, {"X-Type": handler.headers["Content-Type"]})

    with Loopback(echo) as server:
        answer = fetcher.post(f"{server.url}/a", b"[1]", headers={"Content-Type": "text/json"})
        assert (answer.body, answer.headers["x-type"]) == (b"[1]", "text/json")
        assert [request.method for request in server.requests] == ["POST"]


def test_a_post_is_repeated_after_a_fault(server: Loopback, fetcher: Fetcher) -> None:
    server.plan("/a", status(503), drop(b"half"), content(b"done"))
    assert fetcher.post(f"{server.url}/a", b"question").body == b"done"
    assert [request.body for request in server.requests] == [b"question"] * 3


def test_a_post_is_not_redirected(server: Loopback, fetcher: Fetcher) -> None:
    server.always("/a", redirect("/b", 307))
    with pytest.raises(UpstreamError, match="redirects more than 0 times"):
        fetcher.post(f"{server.url}/a", b"question", headers={"Authorization": "Bearer x"})
    assert server.paths() == ["/a"]


def test_a_download_is_a_file(server: Loopback, fetcher: Fetcher, tmp_path: Path) -> None:
    file = tmp_path / "folder" / "file"
    server.plan("/a", redirect("/b"))
    answer = fetcher.download(f"{server.url}/a", file, most=len(BODY))
    assert (answer.status, answer.url, answer.body) == (200, f"{server.url}/b", b"")
    assert file.read_bytes() == BODY
    assert server.requests[-1].headers["accept-encoding"] == "identity"


def test_a_download_goes_on_from_what_is_there(
    server: Loopback, fetcher: Fetcher, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(BODY[:1000])
    server.plan("/a", status(503))
    assert fetcher.download(f"{server.url}/a", file, most=len(BODY)).status == 206
    assert file.read_bytes() == BODY
    assert ranges(server) == ["bytes=1000-"] * 2


def test_a_download_goes_on_after_each_cut(
    server: Loopback, fetcher: Fetcher, tmp_path: Path
) -> None:
    def middle(handler: Handler) -> None:
        headers = {"Content-Range": f"bytes 1000-{len(BODY) - 1}/{len(BODY)}", "ETag": '"one"'}
        handler.send_response(206)
        for name, value in {**headers, "Content-Length": str(len(BODY) - 1000)}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(BODY[1000:5000])
        handler.close_connection = True

    file = tmp_path / "file"
    server.plan("/a", cut(BODY, 1000, {"ETag": '"one"'}), middle)
    fetcher.download(f"{server.url}/a", file, most=len(BODY))
    assert file.read_bytes() == BODY
    assert ranges(server) == ["", "bytes=1000-", "bytes=5000-"]


def test_a_file_that_changed_meanwhile_is_fetched_whole(
    server: Loopback, fetcher: Fetcher, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    server.plan("/a", cut(b"older" * 100, 100, {"ETag": '"zero"'}))
    fetcher.download(f"{server.url}/a", file, most=len(BODY))
    assert file.read_bytes() == BODY
    assert server.requests[-1].headers["if-range"] == '"zero"'


def test_a_server_without_ranges_sends_the_whole(fetcher: Fetcher, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"something else")
    with Loopback(content(BODY)) as server:
        fetcher.download(f"{server.url}/a", file, most=len(BODY))
    assert file.read_bytes() == BODY


def test_a_whole_file_needs_nothing_more(
    server: Loopback, fetcher: Fetcher, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(BODY)
    assert fetcher.download(f"{server.url}/a", file, most=len(BODY)).status == 416
    assert file.read_bytes() == BODY


def wrong_range(handler: Handler) -> None:
    handler.reply(206, BODY[:10], {"Content-Range": f"bytes 0-9/{len(BODY)}"})


@pytest.mark.parametrize("fault", [wrong_range, status(416), status(206)])
def test_an_answer_that_does_not_fit_begins_it_again(
    server: Loopback, fetcher: Fetcher, tmp_path: Path, fault: Fault
) -> None:
    file = tmp_path / "file"
    file.write_bytes(BODY[:1000])
    server.plan("/a", fault)
    fetcher.download(f"{server.url}/a", file, most=len(BODY))
    assert file.read_bytes() == BODY
    assert ranges(server) == ["bytes=1000-", ""]


def test_more_than_the_limit_is_refused(server: Loopback, fetcher: Fetcher, tmp_path: Path) -> None:
    file = tmp_path / "file"
    with pytest.raises(TooLarge, match="is larger than 999 bytes"):
        fetcher.download(f"{server.url}/a", file, most=999)
    assert file.stat().st_size <= 999


def test_what_is_absent_leaves_no_file(server: Loopback, fetcher: Fetcher, tmp_path: Path) -> None:
    server.always("/a", status(404))
    answer = fetcher.download(f"{server.url}/a", tmp_path / "file", most=9, expected=(200, 404))
    assert answer.status == 404
    assert not (tmp_path / "file").exists()
