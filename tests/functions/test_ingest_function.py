"""The ingest function under the real runtime: full SQS events, a real queue, a real bucket."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from docstow.cli import main
from docstow.core.model import Source
from docstow.core.settings import load
from docstow.ingest.jobs import STOW, subject
from docstow.runtime import SAMPLE, Runtime
from docstow.store.leases import Leases
from paths import REPOSITORY
from servers import loopback
from servers.docs_rs import DocsRs
from servers.gateway import body_of, event
from servers.lambda_runtime import LambdaRuntime
from servers.s3 import bucket
from servers.sqs import Queues, record

CRATES = ("one", "two", "three", "four", "five", "six", "seven", *(f"many-{n}" for n in range(12)))


def sqs_event(*bodies: str, attempt: int = 1) -> dict[str, Any]:
    """An event as SQS sends it to a function."""
    return {
        "Records": [
            {
                "messageId": f"059f36b4-87a3-44ab-83d2-66197581000{number}",
                "receiptHandle": f"AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a{number}",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": str(attempt),
                    "SentTimestamp": "1795255200000",
                    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
                    "ApproximateFirstReceiveTimestamp": "1795255200001",
                },
                "messageAttributes": {},
                "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:docstow-jobs",
                "awsRegion": "eu-central-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


@dataclass(frozen=True, slots=True)
class Cloud:
    """A bucket, a queue, an upstream, and the function between them.

    Attributes:
        runtime: another process on the same bucket and queue.
        upstream: docs.rs.
        queues: the queue and its dead letters.
        ingest: the function.
        settings: of all of them.
    """

    runtime: Runtime
    upstream: DocsRs
    queues: Queues
    ingest: LambdaRuntime
    settings: Mapping[str, str]

    def message(self, crate: str) -> tuple[str, str]:
        """The id of a new job that stows a crate, and its message; nothing is sent."""
        source = Source("crate", crate, "0.1.0")
        job, _ = self.runtime.jobs.start(subject(STOW, source), kind=STOW, source=source)
        return job.id, json.dumps({"v": 1, "task": "crate", "job": job.id})

    @property
    def words(self) -> list[str]:
        """The settings as words of the command line."""
        return [
            f"--{name.removeprefix('DOCSTOW_').lower().replace('_', '-')}={value}"
            for name, value in self.settings.items()
        ]

    def state(self, job_id: str) -> str:
        return self.runtime.jobs.get(job_id).state

    def fetched(self, crate: str) -> int:
        return len(self.upstream.paths(f"/crate/{crate}/0.1.0/json"))


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("cloud")
    for name in CRATES:
        place = folder / "crates" / name / "0.1.0"
        place.mkdir(parents=True)
        shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with bucket() as there, DocsRs(folder / "crates") as upstream:
        queues = Queues.create(there.queues, "jobs")
        settings = {
            "store": there.at("function"),
            "s3_endpoint": there.endpoint,
            "queue_url": queues.url,
            "dead_letter_url": queues.dead,
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": "0",
            "retries": "0",
            "cache": str(folder / "cache"),
            "wait_s": "0",
            "freshness_s": "0",
            "auth": "open",
        }
        environment = {f"DOCSTOW_{name.upper()}": value for name, value in settings.items()}
        with (
            contextlib.closing(Runtime(load(settings, {}))) as runtime,
            LambdaRuntime("functions/ingest/handler.handler", REPOSITORY, environment) as ingest,
        ):
            yield Cloud(runtime, upstream, queues, ingest, environment)


def test_a_batch_with_a_bad_record_and_one_that_comes_twice(cloud: Cloud) -> None:
    first, one = cloud.message("one")
    second, two = cloud.message("two")
    answer = cloud.ingest.invoke(sqs_event(one, "no message", two, one))
    assert answer == {
        "batchItemFailures": [{"itemIdentifier": "059f36b4-87a3-44ab-83d2-661975810001"}]
    }
    assert (cloud.state(first), cloud.state(second)) == ("success", "success")
    assert (cloud.fetched("one"), cloud.fetched("two")) == (1, 1)


def test_what_was_done_is_not_done_again_while_it_is_warm(cloud: Cloud) -> None:
    before = cloud.fetched("one")
    job, one = cloud.message("one")
    for attempt in (1, 2):
        assert cloud.ingest.invoke(sqs_event(one, attempt=attempt)) == {"batchItemFailures": []}
    assert cloud.state(job) == "success"
    assert cloud.fetched("one") == max(before, 1)


def test_what_no_try_can_mend_is_done_and_told(cloud: Cloud) -> None:
    job, message = cloud.message("no-such-crate")
    assert cloud.ingest.invoke(sqs_event(message)) == {"batchItemFailures": []}
    ended = cloud.runtime.jobs.get(job)
    assert (ended.state, ended.errors[0].kind) == ("failed", "crate_not_found")


def test_a_message_of_another_release_ends_its_job(cloud: Cloud) -> None:
    job, message = cloud.message("three")
    newer = message.replace('"v": 1', '"v": 2')
    assert len(cloud.ingest.invoke(sqs_event(newer))["batchItemFailures"]) == 1
    ended = cloud.runtime.jobs.get(job)
    assert (ended.state, ended.errors[0].kind) == ("failed", "unreadable_input")
    assert "version 2" in ended.errors[0].message


def test_what_an_upstream_fails_at_is_tried_again_then_dead_then_redriven(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.upstream.always("/crate/four/0.1.0/json", loopback.status(503))
    job, message = cloud.message("four")
    cloud.queues.send(message)
    for attempt in range(1, 6):
        (received,) = cloud.queues.receive()
        assert received["Attributes"]["ApproximateReceiveCount"] == str(attempt)
        answer = cloud.ingest.invoke({"Records": [record(received)]})
        assert answer == {"batchItemFailures": [{"itemIdentifier": received["MessageId"]}]}
        assert cloud.state(job) == ("queued" if attempt < 5 else "failed")
        assert cloud.queues.counts(cloud.queues.url) == ((0, 1) if attempt < 5 else (1, 0))
        cloud.queues.show(received)
    assert cloud.fetched("four") == 5
    ended = cloud.runtime.jobs.get(job)
    assert (ended.errors[0].kind, ended.error_count) == ("upstream_error", 1)
    assert cloud.queues.receive() == []
    assert cloud.queues.counts(cloud.queues.dead) == (1, 0)

    cloud.upstream.always("/crate/four/0.1.0/json", None)
    assert main(["jobs", "redrive", *cloud.words]) == 0
    new = job[:-1] + "2"
    assert new in capsys.readouterr().out
    assert cloud.queues.counts(cloud.queues.dead) == (0, 0)
    assert cloud.queues.poll(cloud.ingest.invoke) == (1, 0)
    assert cloud.state(new) == "success"
    assert cloud.state(job) == "failed"


def test_one_whom_another_is_before_comes_again(cloud: Cloud) -> None:
    leases = Leases(cloud.runtime.store, "somebody else")
    job, message = cloud.message("six")
    lease = leases.acquire("crate/six/0.1.0", 60)
    assert lease is not None
    cloud.queues.send(message)
    assert cloud.queues.poll(cloud.ingest.invoke) == (1, 0)
    assert cloud.state(job) == "queued"
    assert cloud.queues.delayed() == 1  # a new message in its place
    cloud.queues.client.purge_queue(QueueUrl=cloud.queues.url)
    leases.release(lease)
    cloud.queues.send(message)
    assert cloud.queues.poll(cloud.ingest.invoke) == (1, 0)
    assert cloud.state(job) == "success"


def test_many_crates_are_sent_ten_at_a_time(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.runtime.crates.ingest("one")
    names = [f"many-{number}" for number in range(12)]
    assert main(["ingest", "crate", *names, "no-such-crate", "one", *cloud.words]) == 1
    told = capsys.readouterr()
    assert told.out.count("queued") == 12
    assert "one: is stowed already" in told.out
    assert "no-such-crate: crate_not_found" in told.err
    assert cloud.queues.counts(cloud.queues.url) == (12, 0)
    done = 0
    while sum(handed := cloud.queues.poll(cloud.ingest.invoke)):
        assert handed[1] == 0
        done += handed[0]
    assert done == 12
    listed = main(["jobs", "list", "--state", "success", *cloud.words])
    out = capsys.readouterr().out
    assert (listed, sum(f"crate/{name}/0.1.0" in out for name in names)) == (0, 12)


@pytest.fixture
def search(cloud: Cloud) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Searches a crate through the MCP function."""
    with LambdaRuntime("functions/mcp/handler.handler", REPOSITORY, cloud.settings) as mcp:

        def ask(crate: str) -> dict[str, Any]:
            arguments = {"crate": crate, "query": "put cargo into the hold"}
            answer = mcp.invoke(event("POST", "/mcp/tools/search_items", arguments))
            return {"status": answer["statusCode"], **body_of(answer)}

        yield ask


def test_a_search_sends_a_job_and_answers_when_that_is_done(
    cloud: Cloud, search: Callable[[str], dict[str, Any]]
) -> None:
    waiting = search("five")
    assert (waiting["status"], waiting["error"]) == (202, "ingesting")
    again = search("five")
    assert again["job_id"] == waiting["job_id"]
    status = cloud.runtime.toolbox.call("get_sync_status", {"job_id": waiting["job_id"]}).structured
    assert status is not None
    assert (status["kind"], status["state"]) == ("crate", "queued")
    assert status["source"]["name"] == "five"
    while cloud.state(waiting["job_id"]) == "queued":
        assert cloud.queues.poll(cloud.ingest.invoke, 1) == (1, 0)
    found = search("five")
    assert (found["status"], found["answered"], len(found["results"])) == (200, "0.1.0", 4)
    assert cloud.fetched("five") == 1


def test_the_reason_of_a_failed_job_reaches_whoever_asks_again(
    cloud: Cloud, search: Callable[[str], dict[str, Any]]
) -> None:
    place = "/crate/seven/0.1.0/json"
    cloud.upstream.always(place, loopback.content(b"no rustdoc at all"))
    waiting = search("seven")
    assert waiting["status"] == 202
    while cloud.state(waiting["job_id"]) == "queued":
        assert cloud.queues.poll(cloud.ingest.invoke, 1) == (1, 0)
    told = search("seven")
    assert (told["status"], told["error"]) == (422, "unreadable_input")
