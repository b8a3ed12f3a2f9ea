"""A store that cannot be written: what is there is served, and every write says why it fails."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import StoreError
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.store.objects import DirectoryStore, ReadOnlyStore, protocol
from paths import CRATES
from servers import s3
from servers.s3 import Bucket

NOWHERE = {"docs_rs_url": "http://127.0.0.1:1", "crates_index_url": "http://127.0.0.1:1"}


def opened(store: str, cache: Path, **flags: Any) -> contextlib.closing[Runtime]:
    settings = {"store": store, "cache": str(cache), **NOWHERE, "retries": 0, "freshness_s": 0}
    return contextlib.closing(Runtime(load({**settings, **flags}, {})))


def fill(store: str, cache: Path, **flags: Any) -> None:
    """Ingest a crate and a text, but not the sample."""
    with opened(store, cache, **flags) as runtime:
        links = CRATES / "links" / "rustdoc.json.zst"
        runtime.rustdoc_files([links]).ingest(links)
        runtime.collections.push("", "# Anchors\n\nAn anchor holds the ship.", title="Anchors")


def use(runtime: Runtime) -> dict[str, Any]:
    """Do all that a server and its callers do; what came of it."""
    runtime.check_store()
    runtime.ingest_sample()
    runtime.requeue()

    def call(tool: str, **arguments: Any) -> str:
        return runtime.toolbox.call(tool, arguments).render()

    def failed(tool: str, **arguments: Any) -> str:
        answer = runtime.toolbox.attempt(tool, arguments, "request")
        return type(answer).__name__ + ": " + str(getattr(answer, "message", ""))

    outcome = {
        "page": call("get_item_doc", item_path="links"),
        "found": call("search_items", crate="links", query="link"),
        "across": call("search_items", query="link"),
        "docs": call("search_docs", query="what holds a ship"),
        "sources": call("list_collections"),
        "pushed": failed("push_document", text="# Sails\n\nA sail.", title="Sails"),
        "created": failed("create_source", kind="site", uri="https://docs.example/"),
        "ingested": failed("get_item_doc", item_path="absent", version="1.0.0"),
    }
    try:
        runtime.upkeep().run()
    except StoreError as error:
        outcome["upkeep"] = type(error).__name__
    faults = runtime.upkeep().verify().faults
    return {**outcome, "faults": len(faults), "listed": len(runtime.upkeep().list_sources())}


def check(outcome: dict[str, Any]) -> None:
    assert outcome["page"].startswith("# crate `links`") or "links" in outcome["page"]
    assert "links" in outcome["found"]
    assert "links" in outcome["across"]
    assert "anchor holds the ship" in outcome["docs"]
    assert "default" in outcome["sources"]
    for write in ("pushed", "created"):
        assert outcome[write].startswith("Forbidden: The store of this server is read-only")
    assert outcome["ingested"].partition(":")[0] != "Answer"
    assert outcome["upkeep"] == ReadOnlyStore.__name__
    assert (outcome["faults"], outcome["listed"]) == (0, 2)


@pytest.fixture(autouse=True)
def logged_anew() -> Iterator[None]:
    """What is logged once for each process is logged once for each test."""
    protocol._logged.clear()
    yield
    protocol._logged.clear()


def test_a_bucket_that_refuses_every_write(
    bucket: Bucket, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(bucket.at(tmp_path.name), tmp_path / "cache", s3_endpoint=bucket.endpoint)
    forward = s3.forward(bucket.endpoint)

    def respond(request: s3.Request) -> s3.Answer:
        if request.method in ("PUT", "DELETE", "POST"):
            return s3.fault(403, "AccessDenied")
        return forward(request)

    with s3.serve(respond) as endpoint:
        flags = {"s3_endpoint": endpoint}
        with opened(bucket.at(tmp_path.name), tmp_path / "other", **flags) as runtime:
            check(use(runtime))
    softly = [record.message for record in caplog.records if record.name == protocol.__name__]
    assert len(softly) == len({message.partition(":")[0] for message in softly})
    assert {message.partition(":")[0].split(",")[0] for message in softly} == {
        "the store is only read",
        "the sample is not stowed",
        "uses are not marked",
    }


#: Does everything once on a store that it may write, which imports what is needed, and then what
#: a user may do who may write nothing.
CHILD = """
import json, os, sys
from pathlib import Path
import test_read_only_store as scenario

writable, closed, cache = sys.argv[1:4]
with scenario.opened(writable, Path(cache, "first")) as runtime:
    scenario.use(runtime)
os.umask(0)
os.setgid(65534)
os.setuid(65534)
with scenario.opened(closed, Path(cache, "second")) as runtime:
    print(json.dumps(scenario.use(runtime)))
"""


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0,
    reason="only root can become somebody who may not write",
)
@pytest.mark.parametrize("locks", [False, True])
def test_a_directory_that_may_only_be_read(tmp_path: Path, *, locks: bool) -> None:
    with tempfile.TemporaryDirectory() as shared:
        Path(shared).chmod(0o755)
        closed, cache = Path(shared, "store"), Path(shared, "cache")
        fill(str(closed), tmp_path / "cache")
        shutil.copytree(closed, tmp_path / "writable")
        if not locks:  # a copy need not have them
            shutil.rmtree(closed / ".docstow")
        cache.mkdir()
        cache.chmod(0o777)
        for each in (closed, *closed.rglob("*")):
            each.chmod(0o555 if each.is_dir() else 0o444)
        before = sorted(closed.rglob("*"))
        paths = [str(Path(__file__).parent), *sys.path]
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "writable"), str(closed), str(cache)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        assert done.returncode == 0, done.stderr
        check(json.loads(done.stdout))
        assert done.stderr.count("the sample is not stowed") == 1
        assert sorted(closed.rglob("*")) == before


def test_what_is_no_readable_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="Cannot open the store"):
        DirectoryStore(tmp_path / "file" / "below")
