"""How far a command is: one live line on a terminal, and a plain line now and then elsewhere.

It goes to the error output. What upstreams say of themselves, as the address of a page, is no part
of it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TextIO

#: Lines that nobody sees change come at most once in so many seconds.
PLAIN_S = 10.0
#: The rate is that of the last so many seconds.
_RATED_S = 30.0
#: Goes to the begin of the terminal's line and clears it.
CLEAR = "\r\x1b[2K"
#: Of a terminal that does not tell its own, in columns.
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class State:
    """How far something is.

    Attributes:
        done: number of things that are done.
        total: how many there are in all; 0 while nobody knows.
        estimated: whether the total may still change.
        skipped: how many were left out on purpose.
        failed: how many could not be done.
        doing: what it is at, in a word or two of ours.
        unit: what is counted meanwhile; empty for what the line is about.
    """

    done: int = 0
    total: int = 0
    estimated: bool = False
    skipped: int = 0
    failed: int = 0
    doing: str = ""
    unit: str = ""


class Shows(Protocol):
    """Takes the latest state."""

    def __call__(self, state: State) -> None:
        """Show it."""


class Pace:
    """The rate of the last while, and what it says of the time that is left.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()
        self._doing = ""

    def describe(self, state: State, unit: str) -> str:
        """Return a state in words, with rate and time left where they are known."""
        now = self._clock()
        if state.doing != self._doing or (self._seen and state.done < self._seen[-1][1]):
            self._seen.clear()  # another kind of work
        self._doing = state.doing
        self._seen.append((now, state.done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _RATED_S:
            self._seen.popleft()
        seconds = now - self._seen[0][0]
        rate = (state.done - self._seen[0][1]) / seconds if seconds > 0 else 0.0
        about = "about " if state.estimated else ""
        of = f" of {about}{state.total}" if state.total else ""
        words = [f"{state.doing}: " * bool(state.doing) + f"{state.done}{of} {state.unit or unit}"]
        if rate > 0:
            words.append(f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min")
            if state.total > state.done:
                words.append(f"{_spelled((state.total - state.done) / rate)} left")
        words += [f"{state.skipped} skipped"] if state.skipped else []
        words += [f"{state.failed} failed"] if state.failed else []
        return ", ".join(words)


def _spelled(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02} min" if whole < 3600 else f"{whole / 3600:.1f} h"


def on_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that moves its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def shown(about: str, unit: str) -> Iterator[Shows]:
    """Show how far something is, as long as the context lasts.

    Args:
        about: what is worked on.
        unit: what is counted, as ``pages``.
    """
    if on_terminal(sys.stderr):
        with _live(about, unit) as show:
            yield show
    else:
        yield _plain(about, unit)


def _plain(about: str, unit: str) -> Shows:
    pace, told = Pace(), time.monotonic()

    def show(state: State) -> None:
        nonlocal told
        described = pace.describe(state, unit)
        if state.done and time.monotonic() - told >= PLAIN_S:
            told = time.monotonic()
            print(f"docstow: {about}: {described}", file=sys.stderr, flush=True)

    return show


@contextlib.contextmanager
def _live(about: str, unit: str) -> Iterator[Shows]:
    pace, line = Pace(), _Line(sys.stderr)

    def show(state: State) -> None:
        line.draw(f"{about}: {pace.describe(state, unit)}")

    line.draw(f"{about}: begins")
    handlers = [
        handler
        for handler in logging.getLogger().handlers
        if type(handler) is logging.StreamHandler and handler.stream is sys.stderr
    ]
    # What is printed meanwhile, and logged, comes above the line.
    out = _Above(sys.stdout, line) if on_terminal(sys.stdout) else sys.stdout
    error = _Above(sys.stderr, line)
    for handler in handlers:
        handler.setStream(error)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            yield show
    finally:
        for handler in handlers:
            handler.setStream(line.stream)
        line.draw("")


class _Line:
    """The last line of a terminal.

    Args:
        stream: leads to the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lock = threading.RLock()
        self.text = ""

    def draw(self, text: str) -> None:
        """Show a text there, as much of it as fits; nothing takes the line away."""
        with self.lock:
            self.text = text
            try:
                width = os.get_terminal_size(self.stream.fileno()).columns or _WIDTH
            except OSError:
                width = _WIDTH
            fits = text if len(text) < width else f"{text[: max(width - 2, 0)]}…"
            self.stream.write(f"{CLEAR}{fits}")
            self.stream.flush()


class _Above(io.TextIOBase):
    """Writes whole lines above a live one."""

    def __init__(self, stream: TextIO, line: _Line) -> None:
        self._stream, self._line = stream, line
        self._begun = ""

    def write(self, text: str) -> int:
        """Write what is whole, and keep the rest."""
        with self._line.lock:
            whole, newline, self._begun = (self._begun + text).rpartition("\n")
            if newline:
                self._line.stream.write(CLEAR)
                self._line.stream.flush()
                self._stream.write(f"{whole}\n")
                self._stream.flush()
                self._line.draw(self._line.text)
        return len(text)

    def isatty(self) -> bool:
        """Return True: it is a terminal."""
        return True

    def fileno(self) -> int:
        """Return that of the terminal."""
        return self._stream.fileno()


def leave_line() -> None:
    """Clear a live line that is broken off."""
    stream = sys.__stderr__
    if stream is not None and on_terminal(stream):
        stream.write(CLEAR)
        stream.flush()
