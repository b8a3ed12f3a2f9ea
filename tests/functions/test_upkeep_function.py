"""The upkeep function does a whole round without any library that its archive lacks."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from infra.pack import HEAVY

from docstow.ingest.jobs import QUEUED, Jobs
from docstow.sources.registry import Registry
from docstow.store.objects import DirectoryStore
from paths import REPOSITORY
from servers.gateway import schedule_event
from servers.lambda_runtime import FunctionError, LambdaRuntime
from servers.s3 import bucket
from servers.sqs import Queues

_LOADED = """
import sys
from functions.upkeep.handler import handler as inner

def handler(event, context):
    return {**inner(event, context), "loaded": list(sys.modules)}
"""


def test_a_round_sends_what_is_due_and_loads_nothing_heavy(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    source, _ = Registry(store).create("site", "https://docs.example/", refresh_hours=24)
    (tmp_path / "asked.py").write_text(_LOADED)
    with bucket() as there:
        queues = Queues.create(there.queues, "due")
        environment = {
            "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY}/lib",
            "DOCSTOW_STORE": str(tmp_path / "store"),
            "DOCSTOW_CACHE": str(tmp_path / "cache"),
            "DOCSTOW_QUEUE_URL": queues.url,
        }
        with LambdaRuntime("asked.handler", tmp_path, environment) as function:
            first, second = (function.invoke(schedule_event()) for _ in range(2))
        (sent,) = queues.receive()
    (job,) = first["sent"]["synced"]
    assert json.loads(sent["Body"])["job"] == job
    found = Jobs(store, lambda: datetime.now(UTC)).stored(job)
    assert (found.source_id, found.state) == (source.id, QUEUED)
    assert second["sent"] == {"synced": [], "again": []}
    heavy = {name.replace("-", "_") for name in HEAVY}
    assert heavy.isdisjoint(first["loaded"])


def test_a_step_that_fails_is_an_error_of_the_function(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    store.create("heads/crate/tokio/1.0.0.json", b"damaged")
    environment = {
        "DOCSTOW_STORE": str(tmp_path / "store"),
        "DOCSTOW_CACHE": str(tmp_path / "cache"),
    }
    with (
        LambdaRuntime("functions/upkeep/handler.handler", REPOSITORY, environment) as function,
        pytest.raises(FunctionError, match="heads/crate/tokio"),
    ):
        function.invoke({})
