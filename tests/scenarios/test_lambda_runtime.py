"""The stand-in for AWS Lambda that functions are tested on, with the real ``awslambdaric``."""

from __future__ import annotations

from pathlib import Path

import pytest

from servers.lambda_runtime import FunctionError, LambdaRuntime

pytest.importorskip("runtime_client", reason="awslambdaric has no native client on this platform")

HANDLER = """
import os

calls = 0

def handle(event, context):
    global calls
    calls += 1
    if "fail" in event:
        raise ValueError(event["fail"])
    if "exit" in event:
        os._exit(event["exit"])
    return {"event": event, "calls": calls, "function": context.function_name,
            "who": os.environ["WHO"], "time_left": context.get_remaining_time_in_millis() > 0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "example.py").write_text(HANDLER)
    return tmp_path


def test_one_process_answers_event_after_event(folder: Path) -> None:
    with LambdaRuntime("example.handle", folder, {"WHO": "größer"}) as function:
        answers = [function.invoke({"number": number}) for number in range(3)]
    assert answers == [
        {
            "event": {"number": number},
            "calls": number + 1,
            "function": "under-test",
            "who": "größer",
            "time_left": True,
        }
        for number in range(3)
    ]


def test_a_failure_is_reported_and_the_next_event_served(folder: Path) -> None:
    with LambdaRuntime("example.handle", folder, {"WHO": "me"}) as function:
        with pytest.raises(FunctionError, match="ValueError: no good"):
            function.invoke({"fail": "no good"})
        assert function.invoke({})["calls"] == 2


def test_a_process_that_ends_is_noticed(folder: Path) -> None:
    with LambdaRuntime("example.handle", folder, {"WHO": "me"}) as function:
        for event in ({"exit": 3}, {}):
            with pytest.raises(FunctionError, match=r"Runtime\.ExitError: exit status 3"):
                function.invoke(event)


def test_a_handler_that_cannot_be_imported_is_noticed(folder: Path) -> None:
    with (
        LambdaRuntime("missing.handle", folder) as function,
        pytest.raises(FunctionError, match=r"Runtime\.ImportModuleError"),
    ):
        function.invoke({})
