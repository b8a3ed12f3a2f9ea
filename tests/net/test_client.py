"""The fetcher against a server that misbehaves; time is a clock in the test's own hands."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import pairwise, repeat

import httpx
import pytest
import zstandard

from docstow import __version__
from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    TooLarge,
    UnreadableInput,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.net import Fetcher
from docstow.net.client import checked_redirect
from docstow.net.decompress import Limits
from docstow.net.retry import RetryPolicy
from servers.clock import Clock
from servers.loopback import (
    Handler,
    Loopback,
    content,
    drip,
    drop,
    redirect,
    status,
    zstd_bomb,
)

BODY = b'{"root": 0}' * 1000
MIB = 1024 * 1024


def fetcher_on(clock: Clock, policy: RetryPolicy) -> Fetcher:
    return Fetcher(
        "https://project.example",
        policy=policy,
        sleep=clock.sleep,
        monotonic=clock.monotonic,
        now=clock.today,
        chance=lambda: 0.0,
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fetcher(clock: Clock) -> Iterator[Fetcher]:
    made = fetcher_on(clock, RetryPolicy())
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[Loopback]:
    def answer(handler: Handler) -> None:
        handler.reply(200, BODY, {"ETag": '"one"', "Content-Type": "application/json"})

    with Loopback(answer) as running:
        yield running


def test_an_answer_has_status_address_headers_and_body(server: Loopback, fetcher: Fetcher) -> None:
    answer = fetcher.get(f"{server.url}/a%20b?c=d")
    assert (answer.status, answer.url, answer.body) == (200, f"{server.url}/a%20b?c=d", BODY)
    assert (answer.headers["etag"], answer.headers["content-type"]) == ('"one"', "application/json")
    sent = server.requests[0].headers
    assert sent["user-agent"] == f"docstow/{__version__} (+https://project.example)"


def test_a_known_etag_is_answered_without_a_body(server: Loopback, fetcher: Fetcher) -> None:
    answer = fetcher.get(f"{server.url}/a", expected={200, 304}, headers={"If-None-Match": '"one"'})
    assert (answer.status, answer.body) == (304, b"")


@pytest.mark.parametrize(
    ("packed", "media_type"),
    [
        (zstandard.compress(BODY), "application/zstd"),
        (zstandard.compress(BODY), "application/json"),
        (gzip.compress(BODY, mtime=0), "application/zstd"),
        (gzip.compress(BODY, mtime=0), "text/html"),
        (BODY, "application/gzip"),
    ],
)
def test_bodies_are_unpacked_by_their_first_bytes(
    server: Loopback, fetcher: Fetcher, packed: bytes, media_type: str
) -> None:
    server.plan("/a", content(packed, media_type))
    assert fetcher.get(f"{server.url}/a").body == BODY


def test_a_content_encoding_is_undone_like_any_archive(server: Loopback, fetcher: Fetcher) -> None:
    packed = gzip.compress(BODY, mtime=0)
    server.plan("/a", lambda handler: handler.reply(200, packed, {"Content-Encoding": "gzip"}))
    assert fetcher.get(f"{server.url}/a").body == BODY


def test_redirects_are_followed_to_this_and_other_hosts(server: Loopback, fetcher: Fetcher) -> None:
    with Loopback(content(b"there")) as other:
        server.plan("/a", redirect("b?x=1", 301), redirect(f"{other.url}/c", 307))
        server.plan("/b", redirect("/a", 308))
        answer = fetcher.get(f"{server.url}/a")
    assert (answer.url, answer.body) == (f"{other.url}/c", b"there")
    assert server.paths() == ["/a", "/b", "/a"]


def test_a_redirect_loop_ends(server: Loopback, fetcher: Fetcher) -> None:
    server.always("/a", redirect("/a"))
    with pytest.raises(UpstreamError, match="redirects more than 5 times"):
        fetcher.get(f"{server.url}/a")
    assert len(server.requests) == 6


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/x", "file:///etc/hosts"])
def test_a_redirect_to_nowhere_is_not_followed(
    server: Loopback, fetcher: Fetcher, location: str
) -> None:
    server.plan("/a", redirect(location))
    with pytest.raises(UpstreamError, match="redirects to an address other than http"):
        fetcher.get(f"{server.url}/a")
    assert len(server.requests) == 1


def test_a_redirect_that_cannot_be_read_is_an_upstream_error(
    server: Loopback, fetcher: Fetcher
) -> None:
    server.always("/a", redirect("http://[::1"))
    with pytest.raises(UpstreamError, match="Invalid URL in location header"):
        fetcher.get(f"{server.url}/a")


@pytest.mark.parametrize(
    ("source", "target", "allowed"),
    [
        ("https://docs.rs/a", "http://docs.rs/b", False),
        ("https://docs.rs/a", "http://static.docs.rs/b", False),
        ("https://docs.rs/a", "https://static.docs.rs/b", True),
        ("https://docs.rs/a", "http://127.0.0.1:9/b", True),
        ("https://docs.rs/a", "http://localhost/b", True),
        ("https://docs.rs/a", "http://[::1]/b", True),
        ("http://docs.rs/a", "http://static.docs.rs/b", True),
        ("http://docs.rs/a", "https://docs.rs/a", True),
    ],
)
def test_https_is_left_for_loopback_only(source: str, target: str, allowed: bool) -> None:
    here, there = httpx.URL(source), httpx.URL(target)
    if allowed:
        assert checked_redirect(here, there) == there
    else:
        with pytest.raises(UpstreamError, match="from https to plain http"):
            checked_redirect(here, there)


@pytest.mark.parametrize("code", [500, 502, 503, 504, 429])
def test_faults_are_retried_with_growing_waits(
    server: Loopback, fetcher: Fetcher, clock: Clock, code: int
) -> None:
    server.plan("/a", *repeat(status(code), 4))
    assert fetcher.get(f"{server.url}/a").body == BODY
    assert clock.naps == [0.5, 1.0, 2.0, 4.0]


def test_retries_end(server: Loopback, fetcher: Fetcher, clock: Clock) -> None:
    server.always("/a", status(503))
    with pytest.raises(UpstreamError) as caught:
        fetcher.get(f"{server.url}/a")
    host = server.url.removeprefix("http://")
    assert caught.value.body() == {
        "error": "upstream_error",
        "message": f"{host} answered 503, a fault of its own; retry later.",
        "host": host,
        "status": 503,
    }
    assert len(server.requests) == 5


def test_waits_are_spread_by_chance(server: Loopback, clock: Clock) -> None:
    server.plan("/a", *repeat(status(500), 4))
    fetcher = Fetcher("https://project.example", sleep=clock.sleep, monotonic=clock.monotonic)
    fetcher.get(f"{server.url}/a")
    assert all(low < high for low, high in pairwise(clock.naps))
    assert clock.naps != [0.5, 1.0, 2.0, 4.0]
    fetcher.close()


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 418])
def test_other_statuses_are_errors_at_once(server: Loopback, fetcher: Fetcher, code: int) -> None:
    server.always("/a", status(code))
    with pytest.raises(UpstreamError, match=f"answered {code} for /a"):
        fetcher.get(f"{server.url}/a")
    assert len(server.requests) == 1
    assert fetcher.get(f"{server.url}/a", expected={code}).status == code


def test_retry_after_is_honoured_where_it_is_longer(
    server: Loopback, fetcher: Fetcher, clock: Clock
) -> None:
    in_nine_seconds = (clock.today() + timedelta(seconds=9)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    server.plan(
        "/a",
        status(429, retry_after="2"),
        status(503, retry_after="0"),
        # Three seconds have passed by then: two for the first answer, one for the second.
        status(429, retry_after=in_nine_seconds),
    )
    assert fetcher.get(f"{server.url}/a").body == BODY
    assert clock.naps == [2.0, 1.0, 6.0]


def test_a_retry_after_beyond_policy_is_handed_on(
    server: Loopback, fetcher: Fetcher, clock: Clock
) -> None:
    server.always("/a", status(429, retry_after="3600"))
    with pytest.raises(UpstreamError) as caught:
        fetcher.get(f"{server.url}/a")
    host = server.url.removeprefix("http://")
    assert caught.value.body() == {
        "error": "upstream_error",
        "message": f"{host} answered 429, too many requests; retry in 3600 seconds.",
        "host": host,
        "status": 429,
        "retry_after_s": 3600,
    }
    assert (len(server.requests), clock.naps) == (1, [])


def test_a_connection_that_breaks_off_is_tried_again(
    server: Loopback, fetcher: Fetcher, clock: Clock
) -> None:
    server.plan("/a", drop(), drop(BODY), drop(zstandard.compress(BODY)))
    assert fetcher.get(f"{server.url}/a").body == BODY
    assert clock.naps == [0.5, 1.0, 2.0]


def test_a_connection_that_always_breaks_off_is_an_upstream_error(
    server: Loopback, fetcher: Fetcher
) -> None:
    server.always("/a", drop(BODY))
    with pytest.raises(UpstreamError, match="cannot be reached or broke off"):
        fetcher.get(f"{server.url}/a")
    assert len(server.requests) == 5


def test_nobody_listening_is_an_upstream_error(fetcher: Fetcher, clock: Clock) -> None:
    with Loopback(content(b"")) as gone:
        pass
    with pytest.raises(UpstreamError) as caught:
        fetcher.get(f"{gone.url}/a")
    assert caught.value.details == {"host": gone.url.removeprefix("http://")}
    assert clock.naps == [0.5, 1.0, 2.0, 4.0]


def test_names_and_passwords_of_an_address_stay_out_of_messages(fetcher: Fetcher) -> None:
    with Loopback(status(403)) as server, pytest.raises(UpstreamError) as caught:
        fetcher.get(server.url.replace("http://", "http://someone:secret@"))
    assert "secret" not in str(caught.value.body())
    assert "someone" not in str(caught.value.body())


def test_an_answer_that_never_comes_is_a_timeout(server: Loopback, clock: Clock) -> None:
    asked, over = threading.Semaphore(0), threading.Event()

    def wait() -> None:
        asked.release()
        over.wait()

    server.always("/a", drip([b"late"], wait))
    fetcher = fetcher_on(clock, RetryPolicy(read_s=0.05, retries=1))
    with pytest.raises(UpstreamTimeout, match="did not answer in time") as caught:
        fetcher.get(f"{server.url}/a")
    # The server may see a request only after the client has given it up.
    assert all(asked.acquire(timeout=60) for _ in range(2))
    over.set()
    assert caught.value.details == {"host": server.url.removeprefix("http://")}
    assert (len(server.requests), clock.naps) == (2, [0.5])
    fetcher.close()


def test_a_slow_drip_is_cut_at_the_deadline(
    server: Loopback, fetcher: Fetcher, clock: Clock
) -> None:
    def pass_time() -> None:
        clock.now += 13

    server.always("/a", drip(repeat(b"x" * 1000, 1000), pass_time))
    with pytest.raises(UpstreamTimeout):
        fetcher.get(f"{server.url}/a")
    assert len(server.requests) == 1


def test_retries_stay_within_the_whole_policy(server: Loopback, clock: Clock) -> None:
    server.always("/a", status(500))
    fetcher = fetcher_on(clock, RetryPolicy(total_s=5.0, retries=100))
    with pytest.raises(UpstreamError, match="answered 500"):
        fetcher.get(f"{server.url}/a")
    assert clock.naps == [0.5, 1.0, 2.0]
    fetcher.close()


@pytest.mark.parametrize(
    ("body", "limits"),
    [
        (zstandard.compress(BODY), Limits(compressed=20)),
        (zstandard.compress(BODY), Limits(decompressed=len(BODY) - 1)),
        (BODY, Limits(decompressed=len(BODY) - 1)),
    ],
)
def test_a_body_beyond_a_cap_is_too_large(
    server: Loopback, fetcher: Fetcher, body: bytes, limits: Limits
) -> None:
    server.always("/a", content(body))
    with pytest.raises(TooLarge, match=f"{server.url}/a is larger"):
        fetcher.get(f"{server.url}/a", limits=limits)
    assert len(server.requests) == 1


def test_a_bomb_is_hung_up_on(server: Loopback, fetcher: Fetcher) -> None:
    bomb = zstd_bomb(512 * 1024 * MIB)
    sent = 0
    hung_up = threading.Event()

    def send(handler: Handler) -> None:
        nonlocal sent
        handler.begin(200, len(bomb))
        try:
            for start in range(0, len(bomb), 64 * 1024):
                handler.wfile.write(bomb[start : start + 64 * 1024])
                sent += 64 * 1024
        finally:
            hung_up.set()

    server.always("/a", send)
    with pytest.raises(TooLarge):
        fetcher.get(f"{server.url}/a", limits=Limits(decompressed=MIB))
    assert hung_up.wait(30)
    assert sent < len(bomb) / 2


def test_a_damaged_archive_is_not_retried(server: Loopback, fetcher: Fetcher) -> None:
    server.always("/a", content(zstandard.compress(BODY)[:-3]))
    with pytest.raises(UnreadableInput):
        fetcher.get(f"{server.url}/a")
    assert len(server.requests) == 1


def test_requests_to_one_host_keep_their_distance(
    server: Loopback, fetcher: Fetcher, clock: Clock
) -> None:
    server.plan("/b", redirect("/c"))
    with Loopback(content(b"")) as other:
        fetcher.get(f"{server.url}/a", interval_s=1.0)
        fetcher.get(f"{server.url}/b", interval_s=1.0)
        clock.now += 0.25
        fetcher.get(f"{server.url}/d", interval_s=1.0)
        fetcher.get(f"{server.url}/e")
        fetcher.get(other.url.replace("127.0.0.1", "localhost"), interval_s=1.0)
        clock.now += 10
        fetcher.get(f"{server.url}/f", interval_s=1.0)
    assert clock.naps == [1.0, 1.0, 0.75]


def test_threads_take_one_slot_each(server: Loopback, clock: Clock) -> None:
    naps: list[float] = []
    fetcher = Fetcher("https://project.example", sleep=naps.append, monotonic=clock.monotonic)
    errors: list[DocstowError] = []

    def ask() -> None:
        try:
            fetcher.get(f"{server.url}/a", interval_s=1.0)
        except DocstowError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(naps), errors) == ([1.0, 2.0, 3.0, 4.0, 5.0], [])
    fetcher.close()


def test_a_body_that_is_not_wanted_is_left(server: Loopback, fetcher: Fetcher) -> None:
    seen: list[str] = []

    def wanted(headers: Mapping[str, str]) -> bool:
        seen.append(headers["content-type"])
        return False

    answer = fetcher.get(f"{server.url}/a", wanted=wanted, limits=Limits(10, 10))
    assert (answer.status, answer.body, seen) == (200, b"", ["application/json"])


def test_waiting_for_a_host_that_wants_distance_is_no_silence_of_its(
    server: Loopback, fetcher: Fetcher, clock: Clock
) -> None:
    for _ in range(2):
        assert fetcher.get(f"{server.url}/a", interval_s=1000).status == 200
    assert clock.naps == [1000.0]


def test_what_is_no_address_is_said_to_be_none(fetcher: Fetcher) -> None:
    with pytest.raises(InvalidParameter, match="url"):
        fetcher.get("http://[::1/")
