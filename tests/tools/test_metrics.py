"""What is counted, and how it is shown."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from docstow.server.rest import prometheus
from docstow.tools import Metrics
from prose_server import harbour

EMPTY = {
    "tools": {},
    "jobs": {"queued": 0, "success": 2},
    "sources": 1,
    "documents": 3,
    "chunks": 5,
    "snapshots": 1,
}
SAMPLE = re.compile(r'[a-z_]+(\{([a-z]+="[^"\\\n]*",?)+\})? [0-9.e-]+')


def test_calls_errors_and_seconds_add_up() -> None:
    metrics = Metrics()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: metrics.observe("a", 0.5, "x" if n % 4 else ""), range(400)))
    metrics.observe("b", 1.25)
    assert metrics.tools() == {
        "a": {"calls": 400, "seconds": 200.0, "errors": {"x": 300}},
        "b": {"calls": 1, "seconds": 1.25, "errors": {}},
    }


def test_prometheus_reads_every_line() -> None:
    tools = {"a": {"calls": 2, "seconds": 0.5, "errors": {"gone": 1}}}
    lines = prometheus({**EMPTY, "tools": tools}).splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in samples)
    assert 'docstow_tool_calls_total{tool="a"} 2' in samples
    assert 'docstow_tool_errors_total{tool="a",error="gone"} 1' in samples
    assert 'docstow_jobs{state="success"} 2' in samples
    assert "docstow_documents 3" in samples
    types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert {line.split("{")[0].split()[0] for line in samples} == set(types)
    assert len(types) == len(set(types))


def test_a_label_cannot_break_out_of_its_quotes() -> None:
    tools = {'a"\n\\': {"calls": 1, "seconds": 0.0, "errors": {}}}
    text = prometheus({**EMPTY, "tools": tools})
    assert 'docstow_tool_calls_total{tool="a\\"\\n\\\\"} 1\n' in text


def test_the_server_counts_what_is_asked_of_it_and_what_it_holds(tmp_path: Path) -> None:
    with harbour(tmp_path) as served:
        served.answer("search_docs", query="moor")
        served.tool("search_docs", query="")
        served.tool("no_such_tool")
        counted = served.client.get("/metrics").json()
        search = counted["tools"].pop("search_docs")
        assert (search["calls"], search["errors"]) == (2, {"invalid_parameter": 1})
        assert search["seconds"] > 0
        assert counted["tools"] == {}
        held = {name: counted[name] for name in ("sources", "documents", "snapshots", "jobs")}
        jobs = {"queued": 0, "running": 0, "success": 1, "failed": 0}
        assert held == {"sources": 1, "documents": 3, "snapshots": 1, "jobs": jobs}
        scraped = served.client.get("/metrics", headers={"Accept": "text/plain;version=0.0.4"})
        assert scraped.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert 'docstow_tool_calls_total{tool="search_docs"} 2\n' in scraped.text


def test_the_minutes_of_the_last_hour_are_counted_each() -> None:
    now = [6000.0]
    metrics = Metrics(clock=lambda: now[0])
    metrics.observe("a", 0.5)
    now[0] += 120
    metrics.observe("a", 0.25, "x")
    metrics.observe("b", 0.25)
    found = metrics.minutes()
    assert len(found) == 60
    assert [(each.calls, each.seconds, each.errors) for each in found[-3:]] == [
        (1, 0.5, 0),
        (0, 0.0, 0),
        (2, 0.5, 1),
    ]
    now[0] += 58 * 60
    assert [each.calls for each in metrics.minutes()][:2] == [0, 2]
    metrics.observe("a", 0.5)
    assert sum(each.calls for each in metrics.minutes()) == 3
