"""MCP over standard streams: lines, order, and a stdout that stays clean."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from docstow.server import stdio
from docstow.server.mcp import Selection
from docstow.tools import Answer, Tool
from paths import REPOSITORY, SUPPORT
from servers.mcp_fixture_server import Meeting, fixture_protocol


def _line(method: str, request_id: int | None, **params: Any) -> bytes:
    named = {} if request_id is None else {"id": request_id}
    message = {"jsonrpc": "2.0", **named, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def _talk(data: bytes, *further: Tool, **options: Any) -> dict[Any, Any]:
    """Serve what a client sent, up to its end; answers by id."""
    writer = io.BytesIO()
    stdio.serve(fixture_protocol(*further), io.BytesIO(data), writer, **options)
    lines = writer.getvalue().splitlines(keepends=True)
    assert all(line.endswith(b"\n") for line in lines)
    answers = [json.loads(line) for line in lines]
    return {answer["id"]: answer.get("result", answer.get("error")) for answer in answers}


def test_each_request_gets_a_line_and_nothing_else_does() -> None:
    answers = _talk(
        _line("initialize", 1, protocolVersion="2025-11-25")
        + _line("notifications/initialized", None)
        + b"\n  \r\n"
        + _line("tools/call", 2, name="add", arguments={"a": 1})
        + _line("notifications/cancelled", None, requestId=2)
        + _line("tools/call", 3, name="test_error_handling")
        + _line("ping", 4)[:-1]
    )
    assert sorted(answers) == [1, 2, 3, 4]
    assert answers[1]["protocolVersion"] == "2025-11-25"
    assert answers[2]["structuredContent"] == {"sum": 2, "terms": [1, 1]}
    assert answers[3]["isError"] is True
    assert answers[4] == {}


def test_a_selection_is_served() -> None:
    answers = _talk(_line("tools/list", 1), selection=Selection("trouble"))
    assert [tool["name"] for tool in answers[1]["tools"]] == ["wait", "limit", "break"]


def test_lines_that_are_no_messages_are_answered_and_survived() -> None:
    answers = _talk(b"{\n" + b"\xff\n" + b"5\n" + _line("ping", 1))
    assert answers == {
        None: {"code": -32600, "message": 'A message is an object with "jsonrpc": "2.0"'},
        1: {},
    }


@pytest.mark.parametrize("length", [100, 101, 199, 200, 201, 1000])
def test_a_line_over_the_limit_is_refused_and_the_next_one_read(length: int) -> None:
    ping = _line("ping", 1)
    padded = _line("ping", 2)[:-2].ljust(length - 2) + b"}\n"
    assert len(padded) == length
    answers = _talk(padded + ping, max_line_bytes=100)
    assert answers[1] == {}
    # The line's end does not count.
    assert (2 in answers) == (length <= 101)
    assert (None in answers) == (length > 101)


def test_tools_run_at_once() -> None:
    meeting = Meeting(4).tool()
    calls = [_line("tools/call", n, name="meet", arguments={"name": f"{n}"}) for n in range(4)]
    answers = _talk(b"".join(calls), meeting)
    assert {n: answer["content"][0]["text"] for n, answer in answers.items()} == {
        n: f"met as {n}" for n in range(4)
    }


def test_answers_do_not_wait_for_slower_ones() -> None:
    release = threading.Event()

    def wait(arguments: Mapping[str, Any]) -> Answer:
        assert release.wait(60)
        return Answer(text="late")

    class Writer(io.BytesIO):
        def flush(self) -> None:
            # The ping's answer lets the call end that was sent before it.
            release.set()

    writer = Writer()
    tool = Tool("slow", "fixtures", "Slow", "Waits.", (), wait)
    data = _line("tools/call", 1, name="slow") + _line("ping", 2)
    stdio.serve(fixture_protocol(tool), io.BytesIO(data), writer)
    assert [json.loads(line)["id"] for line in writer.getvalue().splitlines()] == [2, 1]


def test_a_client_that_left_is_noted(caplog: pytest.LogCaptureFixture) -> None:
    class Gone(io.BytesIO):
        def write(self, data: Any, /) -> int:
            raise BrokenPipeError

    with caplog.at_level(logging.INFO, "docstow.server.stdio"):
        stdio.serve(fixture_protocol(), io.BytesIO(_line("ping", 1) * 2), Gone())
    assert len(caplog.records) == 2
    assert all("could not be written" in message for message in caplog.messages)


def test_stdout_of_the_process_has_the_protocol_alone() -> None:
    path = os.pathsep.join([str(REPOSITORY / "lib"), str(SUPPORT)])
    done = subprocess.run(
        [sys.executable, "-m", "servers.mcp_fixture_server"],
        input=_line("tools/call", 1, name="print") + _line("ping", 2),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=60,
        check=True,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers[1]["result"]["content"] == [{"type": "text", "text": "printed"}]
    assert answers[2]["result"] == {}
    assert b"a library that prints" in done.stderr
