"""Ctrl-C: a command ends within a second, whatever it waits for, and says how to go on.

What threads and native code are at cannot be broken off, so that the process ends without waiting
for them. What was published is whole; a job that was under way is written down as failed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

from docstow.cli.progress import leave_line

#: What a shell expects of a process that Ctrl-C has ended.
STATUS = 128 + signal.SIGINT
#: The main thread has so long to come out of what it does, in seconds; native code may keep it.
_COMING_S = 0.5
#: Giving up what is under way may take so long, in seconds, where the store is slow.
_STOPPING_S = 3.0


class Interrupts:
    """What happens at Ctrl-C in a process that runs one command.

    Args:
        stop: gives up what is under way.

    Attributes:
        advice: what to do to go on, for people; may change while the command runs.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._out = threading.Event()
        self._ending = threading.Lock()
        self.advice: Callable[[], str] = str

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """End the process at Ctrl-C; not where the caller is another thread than the main one."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        former = signal.signal(signal.SIGINT, self._interrupt)
        # Windows wakes sockets alone; there native code ends before the process does.
        reader, writer = os.pipe() if os.name != "nt" else (-1, -1)
        if writer >= 0:
            os.set_blocking(writer, False)
            signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            threading.Thread(target=self._watch, args=(reader,), daemon=True).start()
        try:
            yield
        except KeyboardInterrupt:
            self._out.set()
            self._end()
        finally:
            signal.signal(signal.SIGINT, former)
            if writer >= 0:
                signal.set_wakeup_fd(-1)
                os.close(writer)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        del number, frame
        # A second one does not wait for the first.
        signal.signal(signal.SIGINT, lambda *_: os._exit(STATUS))
        raise KeyboardInterrupt

    def _watch(self, reader: int) -> None:
        """End the process if the main thread does not, which may be in native code."""
        while number := os.read(reader, 1):
            if number[0] == signal.SIGINT:
                self._out.wait(_COMING_S)
                self._end()
        os.close(reader)

    def _end(self) -> NoReturn:
        with self._ending:  # never released
            with contextlib.suppress(Exception):
                leave_line()
            stopping = threading.Thread(target=self._stop, daemon=True)
            stopping.start()
            stopping.join(_STOPPING_S)
            with contextlib.suppress(Exception):
                advice = self.advice()
                told = f"docstow: stopped; {advice}" if advice else "docstow: stopped"
                print(told, file=sys.__stderr__, flush=True)
                sys.stdout.flush()
            os._exit(STATUS)
