"""What is bound to sources sees no trace of others, by any tool, argument or process.

Each tool is called with what an attacker who knows the secret sources would send, and must answer
alike in a store that has them and in one that never had.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import pytest

from docstow.core import auth
from docstow.runtime import Runtime
from docstow.tools import Answer
from tenants import SECRET, TENANT, WORD, Known, masked, probes

pytestmark = pytest.mark.slow


def _outcome(runtime: Runtime, tool: str, arguments: Mapping[str, Any]) -> str:
    found = runtime.toolbox.attempt(tool, arguments, "request")
    shown = found.render() if isinstance(found, Answer) else json.dumps(found.body())
    return masked(shown)


def test_every_tool_answers_as_if_the_secret_sources_never_were(
    stores: tuple[Runtime, Runtime], known: Known
) -> None:
    calls, answered = 0, set()
    with auth.calling(TENANT):
        # What writes comes last, and with the names of secret things alone.
        tools = sorted(stores[0].toolbox.tools, key=lambda each: not each.read_only)
        for tool in tools:
            for arguments in probes(tuple(tool.parameters), known):
                if not tool.read_only and SECRET not in json.dumps(arguments):
                    continue
                calls += 1
                one, other = (_outcome(each, tool.name, arguments) for each in stores)
                assert one == other, (tool.name, arguments)
                assert WORD not in one, (tool.name, arguments)
                if not one.startswith('{"error": "invalid_parameter"'):
                    answered.add(tool.name)
    assert calls > 500
    # A new tool may need a value in _usual before it does anything.
    assert answered >= {each.name for each in tools if each.read_only}
    # The owner sees what the tenant does not, and nothing of it was changed.
    assert WORD in _outcome(stores[0], "search_docs", {"query": WORD})
    assert SECRET in _outcome(stores[0], "list_sources", {})


def test_what_the_tenant_is_bound_to_answers(stores: tuple[Runtime, Runtime]) -> None:
    runtime = stores[0]

    def ask(tool: str, **arguments: Any) -> str:
        return _outcome(runtime, tool, arguments)

    with auth.calling(TENANT):
        assert '"total":2' in ask("list_sources")
        assert "Four lines moor a ship" in ask("search_docs", query="four lines moor")
        assert "moored with four lines" in ask("search_docs", query="four lines moor a ship")
        assert "stowage" in ask("search_items", query="a hold for freight")
        assert "stowage" in ask("get_item_doc", crate="stowage", item_path="stowage")
        assert "Moor a ship by its four" in ask(
            "get_item_doc", package="python:mooring", item_path="mooring.moor"
        )
        assert "mooring" in ask("scan_packages")
        assert "mooring" in ask("find_packages", query="moor a ship with lines", language="python")
        jobs = runtime.jobs.all()
        assert jobs
        assert all(job.id in ask("get_sync_status", job_id=job.id) for job in jobs)
        made = ask("create_source", kind="github", uri="team-a/x")
        assert "is not for the credential 'tenant', which sees collection:team-a" in made
        for each in stores:
            more = each.toolbox.call("create_collection", {"name": "team-a/more"})
            assert (more.structured or {})["created"]


def test_a_process_of_its_own_is_bound_as_well(stores: tuple[Runtime, Runtime]) -> None:
    settings = stores[0].settings
    with contextlib.closing(Runtime(settings)) as runtime:
        runtime.run_apart()
        arguments = {"language": "python", "code": f"import {SECRET}\n{SECRET}.moor('a')\n"}
        owner = _outcome(runtime, "verify_code", {**arguments, "root": "project"})
        with auth.calling(TENANT):
            tenant = _outcome(runtime, "verify_code", {**arguments, "root": "project"})
            own = _outcome(runtime, "scan_packages", {})
        assert "there is no project of that name; there are quay" in tenant
        assert "there is no project" not in owner
        assert SECRET not in own
