"""Clients do all that a server offers; ``python -m conformance.clients`` has more of them do it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.clients.__main__ import Offered, offered
from docstow.tools.tutorials import TUTORIALS

#: Over HTTP there are two tools more, for clients that connect in no other way.
HTTP_ONLY = 2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offered]:
    with offered(tmp_path_factory.mktemp("clients")) as server:
        yield server


def _did_all(report: Any, tools: int) -> bool:
    listed, done = report["listed"], report["done"]
    # Two calls prepare what others need; five resources are read that no list has.
    return (listed["tools"], done["call"]) == (tools, tools + 2) and (
        done["read"] == listed["resources"] + 5
        and (listed["templates"], listed["prompts"], done["prompt"], done["complete"])
        == (11, 5, 5, 6)
    )


def test_the_python_sdk_over_standard_streams(server: Offered) -> None:
    report = server.python("mcp", "stdio")
    assert (report["failed"], report["lacks"]) == ([], [])
    assert _did_all(report, len(TUTORIALS) - HTTP_ONLY), report


def test_the_typescript_sdk_over_http(
    judge: Callable[..., subprocess.CompletedProcess[str]], server: Offered
) -> None:
    del judge  # it has installed the SDK
    report = server.typescript("v2", "http")
    assert (report["failed"], report["lacks"]) == ([], [])
    assert _did_all(report, len(TUTORIALS)), report
