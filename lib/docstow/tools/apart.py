"""Tools that read foreign code run in processes of their own, which a server can end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from docstow.core import auth
from docstow.core.processes import Budget
from docstow.core.visibility import Visibility
from docstow.tools import Answer

if TYPE_CHECKING:
    from docstow.core.processes import ProcessPool
    from docstow.tools import Toolbox

#: What one call may take: four times the coldest check of a large project, and all waits for
#: packages that are fetched for it. The memory is that beside the indexes it loads.
_CPU_S, _WALL_S, _MEMORY_BYTES = 20, 300.0, 1536 * 1024 * 1024
#: What names the packages that a call reads.
_STATE = ("root", "lockfile", "versions", "package", "package_name", "crate")


def budget(memory_bytes: int) -> Budget:
    """Return what a call may take in a process that keeps so many bytes of indexes."""
    return Budget(_CPU_S, _WALL_S, _MEMORY_BYTES + memory_bytes)


class ToolProcesses:
    """Runs tools in a pool of processes.

    Args:
        pool: whose handler is :func:`answer`.
    """

    def __init__(self, pool: ProcessPool) -> None:
        self._pool = pool

    def __call__(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Run a tool for the current caller; raise what it raises, or TooLarge for its budget."""
        who = auth.caller()
        request = {
            "tool": name,
            "arguments": arguments,
            "caller": {
                "name": who.name,
                "scope": who.scope,
                "bound": None if who.bound is None else list(who.bound.patterns),
                "key": who.key,
            },
        }
        return Answer(**self._pool.call(request, _state(arguments), who.key))


def answer(toolbox: Toolbox, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request of :class:`ToolProcesses` in the process."""
    sent = request["caller"]
    bound = None if sent["bound"] is None else Visibility(tuple(sent["bound"]))
    with auth.calling(auth.Caller(sent["name"], sent["scope"], bound, sent["key"])):
        found = toolbox.call(request["tool"], request["arguments"])
    return {"structured": found.structured, "text": found.text, "content": found.content}


def _state(arguments: Mapping[str, Any]) -> str:
    """Return a name of what a call reads: calls that read the same go to the same process."""
    said = [(name, arguments[name]) for name in _STATE if arguments.get(name)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
