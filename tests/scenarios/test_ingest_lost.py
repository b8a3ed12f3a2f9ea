"""Every write of an ingest whose answer is lost: it happened, and whoever wrote was told it failed.

The ingest is then asked for again, as a queue does, and ends as if nothing had been.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from docstow.core import threads
from docstow.core.errors import StoreError
from docstow.core.model import Source
from docstow.core.settings import load
from docstow.ingest.jobs import STOW, SUCCESS, SYNC, subject
from docstow.ingest.queue import Busy, Message
from docstow.ops.audit import verify
from docstow.runtime import SAMPLE, Runtime
from docstow.store.objects import DirectoryStore
from servers.docs_rs import DocsRs

SOURCE = Source("crate", "stowage", "0.1.0")


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    (place / "rustdoc.json.zst").write_bytes(SAMPLE.read_bytes())
    with DocsRs(tmp_path / "crates") as server:
        yield server


class Lossy:
    """Loses the answer of one write of all directory stores.

    Attributes:
        at: the number of that write.
        writes: how many there have been, and of which keys.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.at = 0
        self.writes: list[str] = []
        for name in ("create", "swap", "delete"):
            patch.setattr(DirectoryStore, name, self._wrapped(getattr(DirectoryStore, name)))

    def _wrapped(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def lossy(store: DirectoryStore, key: str, *rest: Any) -> Any:
            self.writes.append(key)
            number = len(self.writes)
            answer = write(store, key, *rest)
            if number == self.at:
                raise StoreError("The answer was lost.")
            return answer

        return lossy


class Nowhere:
    """A queue of which nothing comes: the test brings each message itself."""

    joins = False

    def send(self, message: Message) -> None:
        """It is lost."""

    def send_all(self, messages: Sequence[Message]) -> None:
        """They are lost."""

    def close(self) -> None:
        """Nothing is under way."""


def crate(runtime: Runtime) -> None:
    """A crate is asked for, and its message comes to a worker."""
    job, _ = runtime.enqueuer.start(subject(STOW, SOURCE), kind=STOW, source=SOURCE)
    runtime.worker.handle(Message(STOW, job.id), last=False)


def push(runtime: Runtime) -> None:
    """A text is pushed, and its collection's message comes to a worker."""
    text = "# Mast\n\nThe mast is made of spruce.\n"
    pushed = runtime.collections.push("", text, uri="notes:mast")
    if pushed.job_id:
        runtime.worker.handle(Message(SYNC, pushed.job_id), last=False)


def found(runtime: Runtime, what: Callable[[Runtime], None]) -> bool:
    """Whether what was stowed is found: by name, and by a search over everything."""
    call = runtime.toolbox.call
    if what is push:
        return "spruce" in str(
            call("search_docs", {"query": "what is the mast made of"}).structured
        )
    page = call("get_item_doc", {"item_path": "stowage::Hold"}).text
    across = call("search_items", {"query": "put all pieces into the hold"}).structured
    return "Hold" in page and "stowage::Hold::stow" in str(across)


#: What every ingest writes.
STORED = {"jobs", "leases", "logs", "heads", "blobs", "snapshots", "catalog"}


@pytest.mark.parametrize(
    ("what", "kinds"),
    [
        (crate, STORED),
        (push, STORED | {"sources", "pushed"}),
    ],
)
def test_the_answer_of_each_write_is_lost_in_turn(
    what: Callable[[Runtime], None],
    kinds: set[str],
    tmp_path: Path,
    upstream: DocsRs,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "docstow")  # as a server logs
    monkeypatch.setattr(threads, "PARALLEL", 1)  # so that the n-th write is always the same
    lossy, met = Lossy(monkeypatch), list[str]()

    def opened(store: Path) -> Runtime:
        settings = {
            "store": str(store),
            "cache": str(tmp_path / "cache"),
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": 0,
            "freshness_s": 0,
            "wait_s": 0,
        }
        runtime = Runtime(load(settings, {}))
        runtime.__dict__["queue"] = Nowhere()
        return runtime

    for at in itertools.count(1):
        lossy.at = at
        lossy.writes.clear()
        store = tmp_path / str(at)
        with contextlib.closing(opened(store)) as runtime:
            for _ in range(4):
                with contextlib.suppress(StoreError):  # and it is asked for again
                    try:
                        what(runtime)
                        break
                    except Busy:
                        # As if some seconds had passed: whose acquiring seemed to fail is gone.
                        for entry in list(runtime.store.list("leases/")):
                            runtime.store.delete(entry.key)
            lost, lossy.at = lossy.writes[at - 1 : at], 0
            for job in runtime.jobs.all():
                if job.active:  # its message was not done, and comes again
                    runtime.worker.handle(Message(job.kind, job.id))
        with contextlib.closing(opened(store)) as runtime:
            assert verify(runtime.store).faults == (), lost
            assert {job.state for job in runtime.jobs.all()} == {SUCCESS}, lost
            assert found(runtime, what), lost
        if not lost:
            break
        met.append(lost[0].partition("/")[0])
    assert set(met) == kinds
