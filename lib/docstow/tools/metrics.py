"""What a server has done since it began, in numbers; and numbers as Prometheus reads them.

This room counts calls. It does not know what a tool does or who asks for the numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

#: Media type of Prometheus' text format.
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class _Tally:
    """The calls of one tool."""

    calls: int = 0
    seconds: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)


class Metrics:
    """Counters of one process. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: dict[str, _Tally] = {}

    def observe(self, tool: str, seconds: float, error: str = "") -> None:
        """Count a call.

        Args:
            tool: its name, which must be a tool's.
            seconds: how long it took.
            error: the code of the error it ended in; empty where it was answered.
        """
        with self._lock:
            tally = self._tallies.setdefault(tool, _Tally())
            tally.calls += 1
            tally.seconds += seconds
            if error:
                tally.errors[error] = tally.errors.get(error, 0) + 1

    def tools(self) -> dict[str, dict[str, Any]]:
        """By tool: ``calls``, ``seconds`` in sum, and ``errors`` by code."""
        with self._lock:
            return {
                tool: {
                    "calls": tally.calls,
                    "seconds": round(tally.seconds, 6),
                    "errors": dict(sorted(tally.errors.items())),
                }
                for tool, tally in sorted(self._tallies.items())
            }


def prometheus(metrics: Mapping[str, Any]) -> str:
    """The answer of the tool ``get_metrics`` as Prometheus' text format.

    Args:
        metrics: with ``tools`` as :meth:`Metrics.tools` gives them, ``jobs`` by state, and the
            counts of what the store has.
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
