"""A publish that is killed at any point leaves the old snapshot or the new one, whole."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from docstow.core.model import Recipe, Revision, Source
from docstow.ops.audit import verify
from docstow.store.objects import open_store
from docstow.store.snapshots import BlobCache, Snapshots
from servers import s3

SOURCE = Source("crate", "tokio", "1.24.2")
RECIPE = Recipe("r", "c", "w", "m")
NOW = datetime(2026, 11, 21, tzinfo=UTC)
TABLES = ("documents", "passages")
WRITES = len(TABLES) + 2  # in a directory: the blobs, the snapshot's record, the head
BUCKET_WRITES = 3  # one blob has all tables

# Publishes one text. Killed at the n-th write, before or after it takes effect; with "step", at
# the n-th change that is made to the file system, whichever it is (a lock file, a temporary file,
# a rename). Prints the number of writes and of changes when it lives.
PROGRAM = """
import os, signal, sys, threading
from datetime import UTC, datetime
from pathlib import Path
from docstow.core.model import Recipe, Revision, Source
from docstow.store.objects import open_store
from docstow.store.blobs import BlobCache
from docstow.store.snapshots import Snapshots

url, endpoint, folder, text, when, number = sys.argv[1:]
count = {"before": 0, "after": 0, "step": 0}
guard = threading.Lock()

def pass_by(moment):
    with guard:
        count[moment] += 1
        if (moment, str(count[moment])) == (when, number):
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

class Doomed:
    def __init__(self, store):
        self.get, self.get_changed, self.list = store.get, store.get_changed, store.list
        self.store = store
        if hasattr(store, "local_path"):
            self.local_path = store.local_path

    def create(self, *arguments):
        return self.write(self.store.create, *arguments)

    def swap(self, *arguments):
        return self.write(self.store.swap, *arguments)

    def write(self, write, *arguments):
        pass_by("before")
        etag = write(*arguments)
        pass_by("after")
        return etag

CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.utime", "os.truncate", "os.link"}

def watch(event, arguments):
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
    if event in CHANGES or writes:
        pass_by("step")

files = {}
for name in ("documents", "passages"):
    files[name] = Path(folder, name)
    files[name].write_bytes(f"{name} of {text}".encode() * 1000)
store = Doomed(open_store(url, endpoint=endpoint))
import filelock
snapshots = Snapshots(store, BlobCache(Path(folder, "cache"), 10**6))
sys.addaudithook(watch)
source = Source("crate", "tokio", "1.24.2")
snapshots.publish(
    Revision(source, source.version), Recipe("r", "c", "w", "m"), files, [text], {}, {},
    datetime(2026, 11, 21, tzinfo=UTC),
)
print(count["after"], count["step"])
"""


@pytest.fixture(params=s3.STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Address and endpoint of an empty store."""
    if request.param == "directory":
        return str(tmp_path / "store"), ""
    there: s3.Bucket = request.getfixturevalue("buckets")(request.param)
    return there.at(tmp_path.name), there.endpoint


def publish_in_child(
    place: tuple[str, str], folder: Path, text: str, when: str = "", number: int = 0
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *place, str(folder), text, when, str(number)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def open_snapshots(place: tuple[str, str], folder: Path) -> Snapshots:
    """As a newcomer opens them: nothing is known from before."""
    url, endpoint = place
    return Snapshots(open_store(url, endpoint=endpoint), BlobCache(folder / "cache", 10**6))


def publish_here(place: tuple[str, str], folder: Path, text: str) -> None:
    files = {name: folder / name for name in TABLES}
    for name, path in files.items():
        path.write_bytes(body(name, text))
    open_snapshots(place, folder).publish(
        Revision(SOURCE, SOURCE.version), RECIPE, files, [text], {}, {}, NOW
    )


def body(name: str, text: str) -> bytes:
    return f"{name} of {text}".encode() * 1000


def assert_answer(place: tuple[str, str], folder: Path, generation: int, text: str) -> None:
    """The head is of that generation, and its snapshot is that of the text, whole."""
    snapshots = open_snapshots(place, folder)
    head = snapshots.head(SOURCE)
    assert head is not None
    assert head.generation == generation
    snapshot = snapshots.stored(head.source, head.snapshot_id)
    assert snapshot is not None
    assert {name: path.read_bytes() for name, path in snapshots.fetch(snapshot).items()} == {
        name: body(name, text) for name in TABLES
    }
    url, endpoint = place
    assert verify(open_store(url, endpoint=endpoint)).faults == ()


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_each_write(place: tuple[str, str], tmp_path: Path, when: str) -> None:
    first = publish_in_child(place, tmp_path / "child", "text 0")
    writes = BUCKET_WRITES if place[1] else WRITES
    # A head that names nothing comes first.
    assert first.stdout.split()[0] == str(writes + 1), first.stderr
    for number in range(1, writes + 1):
        old, new = f"text {number - 1}", f"text {number}"
        killed = publish_in_child(place, tmp_path / "child", new, when, number)
        assert killed.returncode not in (0, 1), killed.stderr
        if number == writes and when == "after":
            assert_answer(place, tmp_path, number + 1, new)
        else:
            assert_answer(place, tmp_path, number, old)
        publish_here(place, tmp_path, new)
        assert_answer(place, tmp_path, number + 1, new)


@pytest.mark.skipif(sys.platform == "win32", reason="the steps of POSIX are watched")
def test_killed_at_each_change_of_the_file_system(tmp_path: Path) -> None:
    place = (str(tmp_path / "store"), "")
    first = publish_in_child(place, tmp_path / "child", "text 0")
    steps = int(first.stdout.split()[1])
    assert steps >= 4 * WRITES  # at least a lock, a file, its stamp and its rename each
    generation, old, renamed = 1, "text 0", 0
    for number in range(1, steps + 1):
        new = f"text {number}"
        killed = publish_in_child(place, tmp_path / "child", new, "step", number)
        head = open_snapshots(place, tmp_path).head(SOURCE)
        assert head is not None
        # The order of parallel uploads differs from run to run, so the last step may not come.
        assert killed.returncode == -9 or head.generation == generation + 1, killed.stderr
        if head.generation != generation:
            generation, old, renamed = generation + 1, new, renamed + 1
        assert_answer(place, tmp_path, generation, old)
    assert 0 < renamed < steps / 2
    publish_here(place, tmp_path, "the end")
    assert_answer(place, tmp_path, generation + 1, "the end")
