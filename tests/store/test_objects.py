from __future__ import annotations

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import boto3
import pytest
from botocore.config import Config
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import ConfigurationError, InvalidParameter, StoreError
from docstow.store.objects import (
    AlreadyThere,
    Conflict,
    DirectoryStore,
    ObjectStore,
    QuickS3,
    S3Store,
    Stored,
    Unchanged,
    check_key,
    connect,
    escape,
    open_store,
    probe,
)
from servers import ceph as ceph_server
from servers import s3

WRITERS = 8


@pytest.fixture(scope="module")
def credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            if name not in os.environ:
                patch.setenv(name, "testing")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="module")
def ceph() -> Iterator[s3.Bucket]:
    if s3.NAMED:
        pytest.skip("DOCSTOW_TEST_S3_ENDPOINT names the server to test against")
    if not ceph_server.installed():
        pytest.skip("Ceph is not on this machine")
    with pytest.MonkeyPatch.context() as patch, ceph_server.ceph() as endpoint:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, ceph_server.USER)
        with s3.created(endpoint) as name:
            yield s3.Bucket(name, endpoint, queues="")


#: Every store that the contract is held against.
STORES = ["directory", *(f"{on}{by}" for on in (*s3.SERVERS, "ceph") for by in ("", " by obstore"))]


@pytest.fixture(scope="module", params=s3.SERVERS)
def bucket(request: pytest.FixtureRequest, buckets: Callable[[str], s3.Bucket]) -> s3.Bucket:
    """A bucket on each of the servers."""
    return buckets(request.param)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """Every store that the contract is held against, each empty."""
    if request.param == "directory":
        return DirectoryStore(tmp_path / "store")
    name, _, by = request.param.partition(" by ")
    there: s3.Bucket = (
        request.getfixturevalue("ceph")
        if name == "ceph"
        else request.getfixturevalue("buckets")(name)
    )
    prefix = f"test/{uuid.uuid4().hex}"
    quick = QuickS3(there.name, there.endpoint, "us-east-1") if by else None
    client = connect(endpoint=there.endpoint)
    return S3Store(client, there.name, prefix, page_size=7, quick=quick)


# -- the contract ------------------------------------------------------------------------------


def test_create_then_get(store: ObjectStore) -> None:
    body = bytes(range(256)) * 100
    etag = store.create("blobs/ab.parquet", body)
    assert store.get("blobs/ab.parquet") == Stored(body, etag)
    assert store.get("blobs/other.parquet") is None


def test_create_refuses_what_is_there(store: ObjectStore) -> None:
    etag = store.create("heads/a.json", b"first")
    with pytest.raises(AlreadyThere):
        store.create("heads/a.json", b"second")
    with pytest.raises(AlreadyThere):
        store.create("heads/a.json", b"first")
    assert store.get("heads/a.json") == Stored(b"first", etag)


def test_swap_replaces_the_state_it_names_and_no_other(store: ObjectStore) -> None:
    first = store.create("heads/a.json", b"first")
    second = store.swap("heads/a.json", b"second", first)
    assert second != first
    with pytest.raises(Conflict):
        store.swap("heads/a.json", b"third", first)
    assert store.get("heads/a.json") == Stored(b"second", second)


def test_swap_of_an_absent_object_is_a_conflict(store: ObjectStore) -> None:
    etag = store.create("heads/a.json", b"first")
    store.delete("heads/a.json")
    with pytest.raises(Conflict):
        store.swap("heads/a.json", b"second", etag)
    assert store.get("heads/a.json") is None


def test_delete_is_repeatable_and_makes_room_for_a_create(store: ObjectStore) -> None:
    store.create("leases/a.json", b"first")
    store.delete("leases/a.json")
    store.delete("leases/a.json")
    assert store.get("leases/a.json") is None
    store.create("leases/a.json", b"second")


def test_conditional_read(store: ObjectStore) -> None:
    assert store.get_changed("heads/a.json", "0" * 32) is None
    first = store.create("heads/a.json", b"first")
    assert store.get_changed("heads/a.json", first) == Unchanged()
    second = store.swap("heads/a.json", b"second", first)
    assert store.get_changed("heads/a.json", first) == Stored(b"second", second)


def test_empty_bodies_and_odd_keys(store: ObjectStore) -> None:
    keys = sorted(
        ["touched/2026-11-21/a b", "heads/site/https%3A%2F%2Fa/~.json", "a/+=@,;!'()é", "b"]
    )
    for key in keys:
        store.create(key, b"")
    assert [entry.key for entry in store.list("")] == keys
    assert [store.get(key) for key in keys] == [
        Stored(b"", store.get(key).etag)  # type: ignore[union-attr]
        for key in keys
    ]


def test_listing_is_by_prefix_in_order_and_over_many_pages(store: ObjectStore) -> None:
    began = datetime.now(UTC) - timedelta(seconds=5)
    names = [f"{number:02}" for number in range(20)]
    keys = [f"heads/crate/a/{name}.json" for name in names]
    keys += ["heads/crate/a-b/1.json", "heads/crate/a.json", "heads/crate/ab/1.json"]
    for number, key in enumerate(keys):
        store.create(key, b"x" * number)
    assert [entry.key for entry in store.list("heads/crate/a/")] == keys[:20]
    assert [entry.key for entry in store.list("heads/crate/a/1")] == keys[10:20]
    assert [entry.key for entry in store.list("heads/crate/a")] == sorted(keys)
    assert list(store.list("heads/python/")) == []
    assert {entry.key: entry.size for entry in store.list("")} == {
        key: number for number, key in enumerate(keys)
    }
    assert all(began <= entry.modified <= datetime.now(UTC) for entry in store.list(""))


def test_one_of_eight_creates_wins(store: ObjectStore) -> None:
    start = threading.Barrier(WRITERS)

    def create(writer: int) -> str:
        start.wait()
        try:
            return store.create("race", f"writer {writer}".encode())
        except AlreadyThere:
            return ""

    with ThreadPoolExecutor(WRITERS) as pool:
        etags = list(pool.map(create, range(WRITERS)))
    winners = [writer for writer, etag in enumerate(etags) if etag]
    assert len(winners) == 1
    assert store.get("race") == Stored(f"writer {winners[0]}".encode(), etags[winners[0]])


def test_no_increment_of_eight_writers_is_lost(store: ObjectStore) -> None:
    store.create("counter", b"0")

    def count(_: int) -> None:
        for _ in range(5):
            increment(store)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(count, range(WRITERS)))
    counted = store.get("counter")
    assert counted is not None
    assert counted.body == b"40"


def increment(store: ObjectStore) -> None:
    while True:
        held = store.get("counter")
        assert held is not None
        try:
            store.swap("counter", b"%d" % (int(held.body) + 1), held.etag)
        except Conflict:
            continue
        return


def test_the_probe_passes_and_leaves_nothing(store: ObjectStore) -> None:
    probe(store)
    assert list(store.list("")) == []


BAD_KEYS = ["", "/etc/passwd", "a/../b", "..", "a//b", "a/", ".hidden", "a/.b", "a\\b", "a:b"]
BAD_KEYS += ["a\0b", "a\nb", "a*", "x" * 241, "/".join(["x" * 100] * 9)]


def test_keys_that_some_store_could_not_hold_are_refused(store: ObjectStore) -> None:
    uses: list[Callable[[str], object]] = [
        store.get,
        store.delete,
        lambda key: store.get_changed(key, "etag"),
        lambda key: store.create(key, b""),
        lambda key: store.swap(key, b"", "etag"),
    ]
    for key in BAD_KEYS:
        for use in uses:
            with pytest.raises(InvalidParameter):
                use(key)


# -- keys --------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(texts)
def test_an_escaped_segment_is_a_key_and_reads_back(text: str) -> None:
    escaped = escape(text)
    assert check_key(escaped) == escaped
    assert "/" not in escaped
    assert unquote(escaped) == (text or "~")
    assert (escaped == "~") == (text == "")


@given(texts, texts)
def test_no_two_segments_are_one_name_where_case_is_ignored(one: str, other: str) -> None:
    assert (escape(one).lower() == escape(other).lower()) == (one == other)


def test_escape_leaves_ordinary_names_readable() -> None:
    assert [escape(text) for text in ("tokio-util", "serde_json", "1.24.2", "2.0.0-rc.1")] == [
        "tokio-util",
        "serde_json",
        "1.24.2",
        "2.0.0-rc.1",
    ]
    assert [escape(text) for text in ("1.0.0+B", "https://a.b/c", "..", ".git", "a.", "~")] == [
        "1.0.0%2B%42",
        "https%3A%2F%2Fa.b%2Fc",
        "%2E%2E",
        "%2Egit",
        "a%2E",
        "%7E",
    ]


# -- the directory store -----------------------------------------------------------------------

RACE = """
import sys
from pathlib import Path
from docstow.store.objects import AlreadyThere, Conflict, DirectoryStore

store, writer = DirectoryStore(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
try:
    store.create("race", writer.encode())
    print("won")
except AlreadyThere:
    print("lost")
done = 0
while done < 5:
    held = store.get("counter")
    try:
        store.swap("counter", b"%d" % (int(held.body) + 1), held.etag)
        done += 1
    except Conflict:
        pass
"""


def test_eight_processes_race_as_threads_do(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    store.create("counter", b"0")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path), str(writer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for writer in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    outcomes = []
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        out, _ = writer.communicate(timeout=60)
        outcomes.append(out.strip())
        assert writer.returncode == 0
    assert sorted(outcomes) == ["lost"] * (WRITERS - 1) + ["won"]
    race, counter = store.get("race"), store.get("counter")
    assert race is not None
    assert counter is not None
    assert race.body.decode() == str(outcomes.index("won"))
    assert counter.body == b"40"


def test_the_same_bytes_written_again_are_another_state(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    first = store.create("a", b"A")
    second = store.swap("a", b"B", first)
    third = store.swap("a", b"A", second)
    assert first != third
    with pytest.raises(Conflict):
        store.swap("a", b"C", first)


def test_objects_are_plain_files_and_read_in_place(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "a" / "store")
    store.create("heads/crate/a/1.json", b"{}")
    path = store.local_path("heads/crate/a/1.json")
    assert path == tmp_path / "a/store/heads/crate/a/1.json"
    assert path.read_bytes() == b"{}"


@pytest.mark.skipif(sys.platform == "win32", reason="rights come from the folder there")
def test_what_is_written_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "new" / "store")
    tag = store.create("sources/a.json", b"secret")
    store.swap("sources/a.json", b"another", tag)
    made = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    rights = {each.relative_to(tmp_path).as_posix(): each.stat().st_mode & 0o777 for each in made}
    assert rights.pop("new/store/sources/a.json") == 0o600
    assert {rights[each] for each in ("new", "new/store", "new/store/sources")} == {0o700}


def test_leftovers_of_killed_writers_are_not_listed_and_go_after_a_day(tmp_path: Path) -> None:
    DirectoryStore(tmp_path).create("a", b"A")
    unfinished = tmp_path / ".docstow" / "unfinished"
    old, young = unfinished / "old", unfinished / "young"
    old.write_bytes(b"torn")
    young.write_bytes(b"torn")
    yesterday = datetime.now(UTC).timestamp() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    store = DirectoryStore(tmp_path)
    assert [entry.key for entry in store.list("")] == ["a"]
    assert list(unfinished.iterdir()) == [young]


FULL = """
import resource, sys
from pathlib import Path
from docstow.core.errors import StoreError
from docstow.store.objects import DirectoryStore

store = DirectoryStore(Path(sys.argv[1]))
etag = store.create("a", b"whole")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for write in (lambda: store.create("b", bytes(5000)), lambda: store.swap("a", bytes(5000), etag)):
    try:
        write()
    except StoreError as error:
        print(error)
print(store.get("a").body, [entry.key for entry in store.list("")])
print([path.name for path in Path(sys.argv[1]).rglob("*") if path.parent.name == "unfinished"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX's")
def test_a_write_that_does_not_fit_changes_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    advice = (
        f"Cannot write the store {tmp_path}: File too large."
        " Check the disk, or name another directory."
    )
    assert done.stdout.splitlines() == [advice, advice, "b'whole' ['a']", "[]"]


def test_a_store_that_cannot_be_a_directory_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="A file stands where a directory is needed"):
        open_store(str(tmp_path / "file"))
    with pytest.raises(StoreError, match="Cannot open the store"):
        open_store(str(tmp_path / "file" / "below"))


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="this user may write everywhere"
)
def test_a_store_without_the_right_to_write_says_what_to_do(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    store.create("a/b", b"")
    (tmp_path / "a").chmod(0o500)
    try:
        with pytest.raises(StoreError, match="Give this user the right"):
            store.create("a/c", b"")
    finally:
        (tmp_path / "a").chmod(0o700)


# -- the S3 store ------------------------------------------------------------------------------


def impatient(endpoint: str, attempts: int = 2) -> Any:
    """A client that gives up sooner than ours, so that tests of faults do not wait."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    config = Config(retries=retries, s3={"addressing_style": "path"}, connect_timeout=2)
    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)


class Meddler:
    """Passes requests on to a server, but does something else with those that ``pick`` chooses."""

    def __init__(
        self,
        upstream: str,
        pick: Callable[[s3.Request], bool],
        instead: Callable[[s3.Request, s3.Respond], s3.Answer],
        times: int = 1,
    ) -> None:
        self._forward = s3.forward(upstream)
        self._pick, self._instead = pick, instead
        self._left = times
        self.seen: list[s3.Request] = []

    def __call__(self, request: s3.Request) -> s3.Answer:
        self.seen.append(request)
        if self._left and self._pick(request):
            self._left -= 1
            return self._instead(request, self._forward)
        return self._forward(request)

    def count(self, method: str) -> int:
        return sum(request.method == method for request in self.seen)


def is_put(request: s3.Request) -> bool:
    return request.method == "PUT"


def land_and_lose(request: s3.Request, forward: s3.Respond) -> s3.Answer:
    assert forward(request).status == 200
    raise s3.Lost


def test_a_create_whose_answer_is_lost_is_a_success(bucket: s3.Bucket) -> None:
    proxy = Meddler(bucket.endpoint, is_put, land_and_lose)
    with s3.serve(proxy) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, uuid.uuid4().hex)
        etag = store.create("a", b"ours")
        assert store.get("a") == Stored(b"ours", etag)
        with pytest.raises(AlreadyThere):
            store.create("a", b"ours")
    assert proxy.count("PUT") == 3


def test_a_swap_whose_answer_is_lost_is_a_success(bucket: s3.Bucket) -> None:
    prefix = uuid.uuid4().hex
    first = S3Store(connect(endpoint=bucket.endpoint), bucket.name, prefix).create("a", b"before")
    proxy = Meddler(bucket.endpoint, lambda request: request.body == b"after", land_and_lose)
    with s3.serve(proxy) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, prefix)
        probe(store)  # so that it knows how the server spells tags
        proxy.seen.clear()
        second = store.swap("a", b"after", first)
        assert store.get("a") == Stored(b"after", second)
        with pytest.raises(Conflict):
            store.swap("a", b"again", first)
    assert proxy.count("PUT") == 3


def test_a_write_that_never_gets_an_answer_is_looked_up(bucket: s3.Bucket) -> None:
    proxy = Meddler(
        bucket.endpoint, is_put, lambda request, forward: _lose(request, forward), times=2
    )
    with s3.serve(proxy) as endpoint:
        store = S3Store(impatient(endpoint), bucket.name, uuid.uuid4().hex)
        etag = store.create("a", b"ours")
        assert store.get("a") == Stored(b"ours", etag)


def _lose(request: s3.Request, forward: s3.Respond) -> s3.Answer:
    forward(request)
    raise s3.Lost


def test_a_write_lost_on_its_way_and_overtaken_is_no_success(bucket: s3.Bucket) -> None:
    prefix = uuid.uuid4().hex
    rival = S3Store(connect(endpoint=bucket.endpoint), bucket.name, prefix)

    def overtake(request: s3.Request, forward: s3.Respond) -> s3.Answer:
        rival.create("a", b"theirs")
        raise s3.Lost

    with s3.serve(Meddler(bucket.endpoint, is_put, overtake)) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, prefix)
        with pytest.raises(AlreadyThere):
            store.create("a", b"ours")
    held = rival.get("a")
    assert held is not None
    assert held.body == b"theirs"


def test_a_busy_key_is_tried_again(bucket: s3.Bucket) -> None:
    def busy(request: s3.Request, forward: s3.Respond) -> s3.Answer:
        return s3.fault(409, "ConditionalRequestConflict")

    with s3.serve(Meddler(bucket.endpoint, is_put, busy, times=2)) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, uuid.uuid4().hex)
        first = store.create("a", b"one")
    with s3.serve(Meddler(bucket.endpoint, is_put, busy, times=2)) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, store.prefix)
        second = store.swap("a", b"two", first)
        assert store.get("a") == Stored(b"two", second)


def test_a_server_that_knows_etags_without_quotes_only(bucket: s3.Bucket) -> None:
    def quoted(request: s3.Request) -> bool:
        return '"' in request.headers.get("if-match", "")

    def refuse(request: s3.Request, forward: s3.Respond) -> s3.Answer:
        return s3.fault(412, "PreconditionFailed")

    proxy = Meddler(bucket.endpoint, quoted, refuse, times=100)
    with s3.serve(proxy) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, uuid.uuid4().hex)
        probe(store)
        first = store.create("a", b"one")
        second = store.swap("a", b"two", first)
        with pytest.raises(Conflict):
            store.swap("a", b"three", first)
        assert store.get_changed("a", second) == Unchanged()
    assert sum(quoted(request) for request in proxy.seen) == 1


@pytest.mark.parametrize(
    "bucket",
    [server for server in s3.SERVERS if server == "moto"],  # it alone allows a changed header
    indirect=True,
)
def test_many_find_out_at_once_that_a_server_knows_etags_without_quotes(bucket: s3.Bucket) -> None:
    """As they do on Ceph, whose writers would otherwise undo each other's finding."""
    barrier = threading.Barrier(2, timeout=10)
    forward = s3.forward(bucket.endpoint)
    quoted = 0

    def respond(request: s3.Request) -> s3.Answer:
        nonlocal quoted
        tag = request.headers.get("if-match", "")
        if tag.startswith('"'):
            quoted += 1
            barrier.wait()  # both have sent the same spelling before either learns of it
            return s3.fault(412, "PreconditionFailed")
        if tag:
            request.headers["if-match"] = f'"{tag}"'
        return forward(request)

    with s3.serve(respond) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, f"test/{uuid.uuid4().hex}")
        etags = {key: store.create(key, b"0") for key in ("a", "b")}
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda key: store.swap(key, b"1", etags[key]), etags))
    assert quoted == 2


def test_a_body_that_breaks_off_is_read_again(bucket: s3.Bucket) -> None:
    def cut(request: s3.Request, forward: s3.Respond) -> s3.Answer:
        answer = forward(request)
        answer.cut = 1000
        return answer

    body = os.urandom(100_000)
    proxy = Meddler(bucket.endpoint, lambda request: request.method == "GET", cut, times=2)
    with s3.serve(proxy) as endpoint:
        store = S3Store(connect(endpoint=endpoint), bucket.name, uuid.uuid4().hex)
        etag = store.create("a", body)
        assert store.get("a") == Stored(body, etag)
    assert proxy.count("GET") == 3


def test_what_obstore_cannot_read_is_read_by_botocore_from_then_on(bucket: s3.Bucket) -> None:
    def from_obstore(request: s3.Request) -> bool:
        return "boto" not in request.headers["user-agent"].lower()

    def redirect(request: s3.Request, forward: s3.Respond) -> s3.Answer:
        return s3.fault(400, "AuthorizationHeaderMalformed")

    proxy = Meddler(bucket.endpoint, from_obstore, redirect, times=100)
    with s3.serve(proxy) as endpoint:
        quick = QuickS3(bucket.name, endpoint, "us-east-1")
        store = S3Store(connect(endpoint=endpoint), bucket.name, uuid.uuid4().hex, quick=quick)
        etag = store.create("a/b", b"body")
        assert store.get("a/b") == Stored(b"body", etag)
        assert store.get_range("a/b", 1, 2) == b"od"
        assert [entry.key for entry in store.list("a/")] == ["a/b"]
    assert [request.method for request in proxy.seen if from_obstore(request)] == ["GET"]


def test_a_bucket_is_read_without_botocore_where_the_environment_says_all(
    bucket: s3.Bucket,
) -> None:
    open_store(bucket.at("read"), endpoint=bucket.endpoint).create("a/b", b"body")
    program = (
        "import sys; from docstow.store.objects import open_store\n"
        f"store = open_store({bucket.at('read')!r}, endpoint={bucket.endpoint!r})\n"
        "print(store.get('a/b').body, [e.key for e in store.list('a/')], store.get('a/c'))\n"
        "print('botocore' in sys.modules)"
    )
    for more, loaded in (({}, False), ({"AWS_CONFIG_FILE": os.devnull}, True)):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "HOME": "/nonexistent",
                "AWS_EC2_METADATA_DISABLED": "true",
                **more,
            },
        )
        assert done.stdout.splitlines() == ["b'body' ['a/b'] None", f"{loaded}"], done.stderr


@pytest.mark.parametrize(
    ("honoured", "named"), [((), "If-None-Match"), (("if-none-match",), "If-Match")]
)
def test_the_probe_refuses_a_server_that_ignores_conditions(
    credentials: None, honoured: tuple[str, ...], named: str
) -> None:
    server = s3.Careless(honoured=honoured)
    with s3.serve(server) as endpoint:
        store = S3Store(impatient(endpoint), "bucket")
        with pytest.raises(StoreError, match=rf"ignores the condition \({named}\).*Use AWS S3"):
            probe(store)
    assert server.objects == {}


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (404, "NoSuchBucket", "Create the bucket"),
        (403, "AccessDenied", "Check the credentials"),
        (403, "SignatureDoesNotMatch", "Check the credentials"),
        (403, "RequestTimeTooSkewed", "Set this machine's clock"),
        (503, "SlowDown", "fewer requests"),
        (501, "NotImplemented", "does not know conditional writes"),
        (500, "InternalError", "Try again"),
    ],
)
@pytest.mark.parametrize("by_obstore", [False, True])
def test_faults_of_a_server_say_what_to_do(
    credentials: None, status: int, code: str, advice: str, by_obstore: bool
) -> None:
    with s3.serve(lambda request: s3.fault(status, code)) as endpoint:
        quick = QuickS3("bucket", endpoint, "us-east-1") if by_obstore else None
        store = S3Store(impatient(endpoint, attempts=1), "bucket", quick=quick)
        for use in (
            lambda: store.get("a"),
            lambda: store.create("a", b""),
            lambda: store.swap("a", b"", "0"),
            lambda: list(store.list("")),
            lambda: store.delete("a"),
        ):
            with pytest.raises(StoreError, match=advice):
                use()


def test_an_endpoint_that_is_not_there(credentials: None) -> None:
    with s3.serve(s3.Careless()) as endpoint:
        pass
    store = S3Store(impatient(endpoint, attempts=1), "bucket")
    for use in (lambda: store.get("a"), lambda: store.create("a", b"")):
        with pytest.raises(StoreError, match="Check the network and the S3 endpoint"):
            use()


def test_missingcredentials_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    with s3.serve(s3.Careless()) as endpoint:
        store = open_store("s3://bucket/prefix", endpoint=endpoint)
        with pytest.raises(StoreError, match="AWS_ACCESS_KEY_ID"):
            store.get("a")


# -- opening -----------------------------------------------------------------------------------


def test_open_store_by_url(bucket: s3.Bucket, tmp_path: Path) -> None:
    directory = open_store(str(tmp_path / "store"))
    assert isinstance(directory, DirectoryStore)
    part = open_store(bucket.at("some/prefix") + "/", endpoint=bucket.endpoint)
    assert isinstance(part, S3Store)
    assert (part.bucket, part.prefix) == (bucket.name, "some/prefix/")
    part.create("a", b"1")
    whole = open_store(bucket.at(), endpoint=bucket.endpoint)
    assert [entry.key for entry in whole.list("some/")] == ["some/prefix/a"]


@pytest.mark.parametrize("url", ["", "s3://", "gs://bucket", "s3:///prefix", "s3://b?x=1"])
def test_open_store_refuses_other_urls(url: str) -> None:
    with pytest.raises(ConfigurationError):
        open_store(url)


def test_a_directory_store_imports_no_s3_library() -> None:
    program = "import sys, docstow.store.objects; print([n for n in sys.modules if 'boto' in n])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "[]\n"


def test_a_bucket_without_its_libraries_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['botocore'] = None\n"
        "from docstow.store.objects import open_store\n"
        "open_store('s3://bucket')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ConfigurationError" in done.stderr
    assert "pip install 'docstow[aws]'" in done.stderr


def test_a_server_that_may_ignore_conditions_is_probed_before_the_first_write(
    bucket: s3.Bucket,
) -> None:
    proxy = Meddler(bucket.endpoint, lambda request: False, land_and_lose)
    with s3.serve(proxy) as endpoint:
        store = open_store(bucket.at(uuid.uuid4().hex), endpoint=endpoint)
        assert store.get("a") is None
        assert [request.method for request in proxy.seen] == ["GET"]
        store.create("a", b"1")
        store.create("b", b"1")
    probes = [request for request in proxy.seen if "/probes/" in request.path]
    assert len(probes) >= 5
    assert proxy.count("PUT") == sum(request.method == "PUT" for request in probes) + 2
    with s3.serve(s3.Careless()) as endpoint:
        careless = open_store("s3://bucket", endpoint=endpoint)
        for _ in range(2):
            with pytest.raises(StoreError, match="ignores the condition"):
                careless.create("a", b"1")
