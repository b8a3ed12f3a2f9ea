"""What each function does with bucket and queue is what its role in the template lets it do.

The real handlers run behind a gate that knows the template's statements and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from docstow.index.manifest import MANIFEST
from docstow.index.waiting import WAITING
from docstow.runtime import SAMPLE
from docstow.store.objects import open_store
from paths import REPOSITORY
from servers import s3
from servers.docs_rs import DocsRs
from servers.gateway import body_of, event
from servers.lambda_runtime import LambdaRuntime
from servers.sqs import Queues
from template import prefixes, statements

#: What a listing says of the age of everything but upkeep's own objects.
LONG_AGO = (datetime.now(UTC) - timedelta(days=100)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@dataclass
class Gate:
    """A server of S3 and SQS that lets through what a role may do.

    Attributes:
        role: its name in the template.
        bucket: whose servers answer.
        queues: names of the queues by their names in the template.
        used: for each action the resources that were used, as the template spells them.
        refused: what was not let through.
        aged: whether listings say that everything is old.
    """

    role: str
    bucket: s3.Bucket
    queues: dict[str, str]
    used: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    refused: list[str] = field(default_factory=list)
    aged: bool = False

    def respond(self, request: s3.Request) -> s3.Answer:
        forward = s3.forward(self.bucket.endpoint, self.bucket.queues)
        if f"/{self.bucket.name}/probes/" in request.path:
            return forward(request)  # AWS is not asked whether it is S3
        action, resource = self._asked(request)
        granted = self._granted(action, resource)
        if not granted:
            self.refused.append(f"{action} {resource}")
            return s3.fault(403, "AccessDenied")
        self.used[action] |= granted
        answer = forward(request)
        if self.aged and action == "s3:ListBucket":
            answer.body = re.sub(
                rb"(<Key>(?!upkeep(?:/|%2F))[^<]*</Key><LastModified>)[^<]*",
                rb"\g<1>" + LONG_AGO.encode(),
                answer.body,
            )
            answer.headers = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() != "content-length"
            }
        return answer

    def _asked(self, request: s3.Request) -> tuple[str, str]:
        if target := request.headers.get("x-amz-target"):
            url = json.loads(request.body)["QueueUrl"]
            action = target.partition(".")[2].removesuffix("Batch")
            return f"sqs:{action}", self.queues[url.rpartition("/")[2]]
        parts = urlsplit(request.path)
        name, _, key = unquote(parts.path).lstrip("/").partition("/")
        assert name == self.bucket.name
        if not key:
            assert "list-type" in parse_qs(parts.query), request.path
            return "s3:ListBucket", "Bucket"
        verbs = {"GET": "Get", "HEAD": "Get", "PUT": "Put", "DELETE": "Delete"}
        return f"s3:{verbs[request.method]}Object", f"Bucket/{key}"

    def _granted(self, action: str, resource: str) -> set[str]:
        """The resources of the statements that allow it."""
        found = set()
        for statement in statements(self.role):
            actions, resources = (
                each if isinstance(each, list) else [each]
                for each in (statement["Action"], statement["Resource"])
            )
            for each in resources if action in actions else ():
                if "Fn::GetAtt" in each:
                    known = each["Fn::GetAtt"][0]
                    matches = known == resource
                else:
                    known = each["Fn::Sub"].replace("${Bucket.Arn}", "Bucket")
                    below = known.endswith("*") and resource.startswith(known[:-1])
                    matches = below or known == resource
                found |= {known} if matches else set()
        return found


@dataclass(frozen=True, slots=True)
class Deployed:
    """The three functions, each behind its gate."""

    gates: dict[str, Gate]
    functions: dict[str, LambdaRuntime]
    queues: Queues
    bucket: s3.Bucket

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.functions["Mcp"].invoke(event("POST", f"/mcp/tools/{tool}", arguments))
        return {"status": answer["statusCode"], "body": body_of(answer)}

    def work(self) -> None:
        """Let the ingest function do what is queued."""
        while sum(self.queues.poll(self.functions["Ingest"].invoke)):
            pass


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    for name in ("one", "two", "three"):
        place = tmp_path / "crates" / name / "0.1.0"
        place.mkdir(parents=True)
        shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with contextlib.ExitStack() as stack:
        there = stack.enter_context(s3.bucket())
        upstream = stack.enter_context(DocsRs(tmp_path / "crates"))
        queues = Queues.create(there.queues, "jobs")
        gates, functions = {}, {}
        for name in ("Mcp", "Ingest", "Upkeep"):
            gate = Gate(f"{name}Role", there, {"jobs": "Queue", "jobs-dead": "DeadLetters"})
            address = stack.enter_context(s3.serve(gate.respond))
            settings = {
                "store": there.at(),
                "s3_endpoint": address,
                "queue_url": queues.url.replace(there.queues, address),
                "dead_letter_url": queues.dead.replace(there.queues, address),
                "docs_rs_url": upstream.url,
                "crates_index_url": upstream.index_url,
                "upstream_interval_s": "0",
                "cache": str(tmp_path / name),
                "wait_s": "0",
                "freshness_s": "0",
                "auth": "open",
                "store_limit": "1",
            }
            environment = {f"DOCSTOW_{key.upper()}": value for key, value in settings.items()}
            handler = f"functions/{name.lower()}/handler.handler"
            gates[name] = gate
            functions[name] = stack.enter_context(LambdaRuntime(handler, REPOSITORY, environment))
        yield Deployed(gates, functions, queues, there)


def ask(deployed: Deployed) -> None:
    """What agents do, from an empty bucket on."""
    for name in ("one", "two"):
        assert deployed.call("search_items", crate=name, query="cargo")["status"] == 202
    three = deployed.call("create_source", kind="crate", uri="three@0.1.0", sync=True)
    assert three["body"]["job"]["state"] == "queued"
    pushed = deployed.call("push_document", text="# Anchors\n\nDrop them.", uri="a.md")
    assert pushed["status"] in (200, 202)
    deployed.work()
    for name in ("one", "two", "three"):
        assert deployed.call("search_items", crate=name, query="cargo")["status"] == 200
    across = deployed.call("search_items", query="cargo")
    assert across["status"] == 200, across
    assert deployed.call("search_docs", query="anchors")["body"]["results"]
    store = open_store(deployed.bucket.at(), endpoint=deployed.bucket.endpoint, region="us-east-1")
    busy = store.get(MANIFEST)
    assert busy is not None
    # As where many have just been named together: the next one waits.
    body = json.dumps(json.loads(busy.body) | {"taken": [f"{WAITING}a", f"{WAITING}b"]})
    store.swap(MANIFEST, body.encode(), busy.etag)
    deployed.call("push_document", text="# Anchors\n\nWeigh them.", uri="a.md")
    deployed.work()
    assert deployed.call("delete_document", uri="a.md")["status"] in (200, 202)
    assert deployed.call("delete_source", source_id="three@0.1.0")["status"] == 200
    assert deployed.call("create_collection", name="rigging")["status"] == 200
    kept = deployed.call("push_document", text="# Sails\n\nSet them.", collection="rigging")
    assert kept["status"] in (200, 202)
    assert deployed.call("delete_source", source_id="rigging")["status"] == 200
    site = {"kind": "site", "uri": "https://docs.example/", "refresh_hours": 24}
    assert deployed.call("create_source", **site)["status"] == 200
    for tool in ("list_sources", "get_metrics", "list_collections"):
        assert deployed.call(tool)["status"] == 200


def keep_up(deployed: Deployed) -> None:
    """A round of upkeep in which everything is old, and another when all graces are over."""
    deployed.gates["Upkeep"].aged = True
    first = deployed.functions["Upkeep"].invoke({})
    assert {"crate/one/0.1.0", "crate/two/0.1.0"} <= set(first["evicted"])
    assert first["tidied"]["cards"] >= 2
    store = open_store(deployed.bucket.at(), endpoint=deployed.bucket.endpoint, region="us-east-1")
    ledger = store.get("upkeep/dead.json")
    assert ledger is not None
    dead = json.loads(ledger.body)
    dead["dead"] = dict.fromkeys(dead["dead"], "2026-01-01T00:00:00+00:00")
    store.swap("upkeep/dead.json", json.dumps(dead).encode(), ledger.etag)
    second = deployed.functions["Upkeep"].invoke({})
    assert second["swept"]["deleted"] >= 6
    assert second["tidied"]["segments"] >= 1
    assert len(first["sent"]["synced"]) == 1


def test_each_function_does_what_its_role_allows(deployed: Deployed) -> None:
    ask(deployed)
    keep_up(deployed)
    assert {name: gate.refused for name, gate in deployed.gates.items()} == {
        "Mcp": [],
        "Ingest": [],
        "Upkeep": [],
    }
    # And no role is let do what its function never does.
    idle = {
        (name, action, prefix)
        for name, gate in deployed.gates.items()
        for action in ("s3:PutObject", "s3:DeleteObject")
        for prefix in prefixes(gate.role, action)
        if f"Bucket/{prefix}/*" not in gate.used[action]
    }
    assert idle == {
        # These take what seldom happens: more jobs of a source than are kept, marks of use that are
        # a season old, a card whose crate is gone, a lease that lapsed and was not released;
        # or are for dozens of sources.
        ("Mcp", "s3:PutObject", "catalog"),
        ("Mcp", "s3:DeleteObject", "jobs"),
        ("Mcp", "s3:DeleteObject", "logs"),
        ("Ingest", "s3:DeleteObject", "jobs"),
        ("Ingest", "s3:DeleteObject", "logs"),
        ("Mcp", "s3:PutObject", "upkeep/clock"),
        ("Mcp", "s3:PutObject", "upkeep/sources.json.gz"),
        ("Mcp", "s3:PutObject", "upkeep/totals.json.gz"),
        ("Ingest", "s3:PutObject", "upkeep/clock"),
        ("Upkeep", "s3:DeleteObject", "touched"),
    }
