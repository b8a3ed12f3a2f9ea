"""Cold starts: a fresh process from its first import to its first answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import Taken, fresh, mib

ROOT = Path(__file__).resolve().parents[2]

_CALL = """
import sys
sys.path.insert(0, {handler!r})
from handler import handler
answer = handler({event!r}, None)
assert answer["statusCode"] == 200, answer
"""


BUNDLED = "from docstow.embed import bundled; bundled().embed_query('spawn a task')"


def transformer(folder: Path, precision: str) -> str:
    """A program that loads a model folder and embeds one question."""
    return (
        "from pathlib import Path; from docstow.models.folder import open_folder; "
        "from docstow.models.transformer import TransformerEmbedder; "
        f"made = TransformerEmbedder(open_folder(Path({str(folder)!r}), {precision!r})); "
        "made.embed_query('spawn a task')"
    )


def all_of(
    folder: Path, crate: str, version: str, models: Mapping[str, str]
) -> Iterator[tuple[str, Taken]]:
    """Name and cost of each start, the baseline first.

    Args:
        folder: holds ``store`` and ``cache``.
        crate: a stowed crate.
        version: its version.
        models: programs that load a model and embed a question, by the model's name.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "DOCSTOW_STORE": str(folder / "store"),
        "DOCSTOW_CACHE": str(folder / "cache"),
    }
    yield "import fastapi", fresh("import fastapi", environment)
    of = {"crate": crate, "version": version}
    calls: Mapping[str, tuple[str, Mapping[str, Any]]] = {
        "get_crate_summary": ("get_crate_summary", of),
        "search_items": ("search_items", {**of, "query": "wait for several things at once"}),
        "get_item_doc": ("get_item_doc", {**of, "item_path": crate}),
    }
    for name, (tool, arguments) in calls.items():
        event = _event(f"/mcp/tools/{tool}", arguments)
        handler = str(ROOT / "functions" / "mcp")
        program = _CALL.replace("{handler!r}", repr(handler)).replace("{event!r}", repr(event))
        yield f"handler and {name}, {crate}", fresh(program, environment)
    for name, program in models.items():
        yield f"a question by {name} alone", fresh(program, environment)


def peak(taken: Taken) -> str:
    """The peak of memory in words; nothing where the platform does not tell."""
    return mib(taken.peak_bytes) if taken.peak_bytes else ""


def _event(path: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A Function URL's event, payload version 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "host": "localhost"},
        "requestContext": {
            "http": {"method": "POST", "path": path, "sourceIp": "203.0.113.7"},
            "requestId": "1",
            "stage": "$default",
        },
        "body": json.dumps(arguments),
        "isBase64Encoded": False,
    }
