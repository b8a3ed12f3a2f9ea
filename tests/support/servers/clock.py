"""Time in a test's own hands."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class Clock:
    """A clock that only sleeping (or a test) moves; ``naps`` are the sleeps so far, in seconds."""

    now: float = 1000.0
    naps: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds

    def today(self) -> datetime:
        return datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=self.now)
