"""Counters of the calls of tools."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any


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
        """Return by tool: ``calls``, ``seconds`` in sum, and ``errors`` by code."""
        with self._lock:
            return {
                tool: {
                    "calls": tally.calls,
                    "seconds": round(tally.seconds, 6),
                    "errors": dict(sorted(tally.errors.items())),
                }
                for tool, tally in sorted(self._tallies.items())
            }
