"""The numbers of a server in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: Media type of the format.
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def prometheus(metrics: Mapping[str, Any]) -> str:
    """Return the answer of the tool ``get_metrics`` as Prometheus' text format.

    Args:
        metrics: with ``tools`` as :meth:`docstow.tools.Metrics.tools` gives them,
            ``jobs`` by state, and the counts of what the store has.
    """
    tools: Mapping[str, Any] = metrics["tools"]
    blocks = [
        _block(
            "docstow_tool_calls_total",
            "counter",
            "Calls of a tool.",
            (({"tool": tool}, each["calls"]) for tool, each in tools.items()),
        ),
        _block(
            "docstow_tool_errors_total",
            "counter",
            "Calls of a tool that ended in an error.",
            (
                ({"tool": tool, "error": code}, count)
                for tool, each in tools.items()
                for code, count in each["errors"].items()
            ),
        ),
        _block(
            "docstow_tool_seconds_total",
            "counter",
            "Seconds that the calls of a tool took.",
            (({"tool": tool}, each["seconds"]) for tool, each in tools.items()),
        ),
        _block(
            "docstow_jobs",
            "gauge",
            "Jobs in a state.",
            (({"state": state}, count) for state, count in metrics["jobs"].items()),
        ),
    ]
    for name in ("sources", "documents", "chunks", "snapshots"):
        text = f"What the store has of {name} of prose."
        blocks.append(_block(f"docstow_{name}", "gauge", text, [({}, metrics[name])]))
    return "".join(line for block in blocks for line in block)


def _block(
    name: str, kind: str, text: str, samples: Iterable[tuple[Mapping[str, str], float]]
) -> Iterator[str]:
    yield f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    for labels, value in samples:
        shown = ",".join(f'{label}="{_escaped(each)}"' for label, each in labels.items())
        yield f"{name}{{{shown}}} {value}\n" if shown else f"{name} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
