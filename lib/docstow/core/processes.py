"""Processes for what reads foreign bytes: each call has a budget, and dies alone where it ends.

A process does one call at a time and keeps what it has read for the next one. A call that computes
or takes memory beyond its budget ends with its process; the caller gets an error, and the next call
a new process. Requests and answers are lines of JSON on pipes, which need neither shared memory nor
semaphores, so that it works wherever a program can be started.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from queue import SimpleQueue
from typing import IO, Any, TypeAlias

from docstow.core.errors import DocstowError, InternalError, TooLarge, from_record
from docstow.core.garbage import SMALL_HEAP, return_memory
from docstow.core.turns import Turns

log = logging.getLogger(__name__)

#: What a process does with a request; it may send messages before it returns.
Handler: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]

#: What another process is not begun for: one that has been at work on the same state for less, in
#: seconds, may be reading what the next call needs, too.
_READING_S = 10.0
#: A process without work for so long is ended, in seconds.
_IDLE_S = 600.0
#: States whose calls come back to the process that had them last.
_MOST_KEYS = 32
#: Of a process that computes beside a server: others come first.
_NICE = 10
#: How a process ends that has no memory left; on Windows it is also how a killed one ends.
_NO_MEMORY = 1
#: After every so many calls a process gives memory back that nothing uses.
_RETURNED_EVERY = 8
_MAIN = "from docstow.core.processes import main; main()"


@dataclass(frozen=True, slots=True)
class Budget:
    """What one call may take.

    Attributes:
        cpu_s: seconds of computing, where the system can limit that.
        wall_s: seconds until it is ended, whatever it does.
        memory_bytes: of the process, where the system can limit that.
    """

    cpu_s: int
    wall_s: float
    memory_bytes: int


class ProcessPool:
    """Processes that do calls, one at a time each. Safe to share between threads.

    Args:
        target: ``module:function``, which makes the :data:`Handler` in the process; it gets the
            set-up and what sends a message to this process.
        setup: JSON that the process begins with; it is no part of its command line.
        most: processes at the same time; each begins when all others are at work. One caller has
            all but one of them at most, so that another finds one soon.
        budget: of each call.
        receive: is given each message that a process sends in the course of a call.
    """

    def __init__(
        self,
        target: str,
        setup: Mapping[str, Any],
        *,
        most: int,
        budget: Budget,
        receive: Callable[[Mapping[str, Any]], object] = lambda _: None,
    ) -> None:
        self._hello = {"target": target, "setup": setup, "memory_bytes": budget.memory_bytes}
        self._most = most
        self._budget = budget
        self._receive = receive
        self._lock = threading.RLock()
        self._processes: list[_Process] = []
        self._waiting = Turns[_Waiting]()
        self._closed = False

    def call(self, request: Mapping[str, Any], key: str, caller: str = "") -> Mapping[str, Any]:
        """Have a process do a call, and wait for its answer.

        Args:
            request: JSON.
            key: names the state that the call reads; calls of one key prefer one process.
            caller: takes turns with others; nothing for one that is not limited.

        Raises:
            TooLarge: the call was ended, since it took more than its budget.
            InternalError: the pool is closed, or the process ended for another reason.
            DocstowError: what the handler raised.
        """
        process = self._take(_Waiting(key, caller, threading.Condition(self._lock)))
        try:
            return process.call(request, self._budget, self._receive)
        except TooLarge:
            if self._closed:
                raise _over() from None
            raise
        finally:
            self._give_back(process)

    def pids(self) -> list[int]:
        """Return the ids of the processes that there are."""
        with self._lock:
            return [each.pid for each in self._processes]

    def waiting(self) -> int:
        """Return how many calls wait for a process."""
        with self._lock:
            return len(self._waiting)

    def close(self) -> None:
        """End all processes, whatever they do."""
        with self._lock:
            self._closed = True
            for each in [e for e in self._processes if not e.busy]:
                each.end()
                self._processes.remove(each)
            for each in self._processes:
                # Its caller is at its pipes, and forgets it when they end.
                each.kill()
            for call in self._waiting:
                call.turn.notify()

    def _take(self, call: _Waiting) -> _Process:
        with self._lock:
            self._waiting.add(call.caller, call)
            try:
                while True:
                    if self._closed:
                        raise _over()
                    now = time.monotonic()
                    self._end_idle(now)
                    first, pause_s = self._first(now)
                    if first is call:
                        found = self._choose(call.key) or self._start()
                        found.begin(call, now)
                        self._waiting.serve(call.caller, call)
                        return found
                    if first is not None:
                        first.turn.notify()
                    call.turn.wait(pause_s)
            finally:
                self._waiting.remove(call.caller, call)
                # The next one may have a process now, too.
                self._wake()

    def _wake(self) -> None:
        """Wake the call whose turn it is, and no other; where all pause, one that looks again."""
        first, _ = self._first(time.monotonic())
        if (first := first or next(iter(self._waiting), None)) is not None:
            first.turn.notify()

    def _first(self, now: float) -> tuple[_Waiting | None, float | None]:
        """Return the call whose turn it is; None where all wait, for so long at most."""
        pauses = []
        for call in self._waiting:
            if not self._may_take(call.caller):
                continue
            reading = [e.began for e in self._processes if e.busy and e.keys[-1] == call.key]
            left = max(reading) + _READING_S - now if reading else 0.0
            known = any(call.key in each.keys for each in self._processes if not each.busy)
            if left > 0 and not known:
                pauses.append(left)
            elif len(self._processes) < self._most or not all(e.busy for e in self._processes):
                return call, None
        return None, min(pauses, default=None)

    def _may_take(self, caller: str) -> bool:
        held = sum(each.busy and each.caller == caller for each in self._processes)
        return not caller or held < max(self._most - 1, 1)

    def _choose(self, key: str) -> _Process | None:
        """Return a process that is free; one that has read what the call needs, if there is one."""
        free = [each for each in self._processes if not each.busy]
        known = next((each for each in free if key in each.keys), None)
        # The one that was used least recently has the least that is worth keeping.
        return known or min(free, key=lambda each: each.began, default=None)

    def _start(self) -> _Process:
        self._processes.append(_Process(self._hello))
        return self._processes[-1]

    def _give_back(self, process: _Process) -> None:
        with self._lock:
            process.busy = False
            if process.is_over or self._closed:
                process.end()
                self._processes.remove(process)
            self._wake()

    def _end_idle(self, now: float) -> None:
        for each in [e for e in self._processes if not e.busy and now - e.began > _IDLE_S]:
            each.end()
            self._processes.remove(each)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A call without a process: the state that it reads, whose it is, and what wakes it."""

    key: str
    caller: str
    turn: threading.Condition


class _Process:
    """One process.

    Attributes:
        busy: whether it does a call.
        caller: of its last call.
        began: when its last call began, on the monotonic clock.
        keys: of the last calls, the latest at the end.
    """

    def __init__(self, hello: Mapping[str, Any]) -> None:
        # Without -P the folder that the server runs in would come first where modules are found.
        self._popen = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-c", _MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**SMALL_HEAP, **os.environ},
            # A signal from the terminal is for the server, which ends its processes itself.
            start_new_session=True,
        )
        self.busy = False
        self.caller = ""
        self.began = 0.0
        self.keys: list[str] = []
        self._hello: Mapping[str, Any] | None = hello

    @property
    def pid(self) -> int:
        """Its id."""
        return self._popen.pid

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._popen.poll() is not None

    def begin(self, call: _Waiting, now: float) -> None:
        """Mark it as at work."""
        self.busy, self.caller, self.began = True, call.caller, now
        self.keys = [*(each for each in self.keys if each != call.key), call.key][-_MOST_KEYS:]

    def call(
        self,
        request: Mapping[str, Any],
        budget: Budget,
        receive: Callable[[Mapping[str, Any]], object],
    ) -> Mapping[str, Any]:
        """Do a call; the process is over where that fails other than by an error of the handler."""
        stdin, stdout = self._popen.stdin, self._popen.stdout
        assert stdin is not None
        assert stdout is not None
        timer = threading.Timer(budget.wall_s, self._popen.kill)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):
                if self._hello is not None:
                    _write(stdin, self._hello)
                    self._hello = None
                _write(stdin, {"cpu_s": budget.cpu_s, "request": request})
            for line in stdout:
                reply = json.loads(line)
                if "message" in reply:
                    receive(reply["message"])
                else:
                    return _unwrap(reply)
        finally:
            timer.cancel()
        raise self._ended(budget)

    def kill(self) -> None:
        """Kill it, whatever it does."""
        self._popen.kill()

    def end(self) -> None:
        """Kill it, and forget it."""
        self.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _ended(self, budget: Budget) -> DocstowError:
        status = self._popen.wait()
        log.warning("a process that read foreign code ended with status %d", status)
        # Native code that gets no more memory ends as it likes, but by a signal.
        if status < 0 or status == _NO_MEMORY:
            return TooLarge(
                f"This takes more than {budget.cpu_s} seconds of computing, or more memory than one"
                " call may have, and was ended. Send less of the code, or a smaller file.",
                limit=budget.cpu_s,
            )
        return InternalError(
            "The process that read this code or package ended. Try again; if it stays, send less."
        )


def _over() -> InternalError:
    return InternalError("The server ends; ask again when it is back.")


def _unwrap(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    if (error := reply.get("error")) is not None:
        raise from_record(error.pop("error"), error.pop("message"), error)
    if (failed := reply.get("failed")) is not None:
        raise RuntimeError(f"in its process: {failed}")
    answer: Mapping[str, Any] = reply["answer"]
    return answer


def _write(pipe: IO[bytes], value: Mapping[str, Any]) -> None:
    pipe.write(json.dumps(value).encode() + b"\n")
    pipe.flush()


# In the process


def main() -> None:
    """Do the calls that come on the standard input, until it ends."""
    requests = sys.stdin.buffer
    # What anything prints goes to the log, and not among the answers.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    hello = json.loads(requests.readline() or b"null")
    if hello is None:
        return
    _limit_memory(hello["memory_bytes"])
    lock = threading.Lock()

    def reply(value: Mapping[str, Any]) -> None:
        with lock:
            _write(replies, value)

    module, _, name = hello["target"].partition(":")
    handle: Handler | None = None
    calls = 0
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(requests, lines), daemon=True).start()
    while True:
        call = json.loads(lines.get())
        _limit_computing(call["cpu_s"])
        try:
            if handle is None:
                handle = getattr(import_module(module), name)(
                    hello["setup"], lambda message: reply({"message": message})
                )
            done = _attempt(handle, call["request"])
        except MemoryError:
            # What is left of the memory is not worth finding out.
            os._exit(_NO_MEMORY)
        reply(done)
        calls += 1
        if calls % _RETURNED_EVERY == 0 and lines.empty():
            return_memory()


def _read(requests: IO[bytes], lines: SimpleQueue[bytes]) -> None:
    """Hand requests on; end the process, whatever it does, when the one that sends them is gone."""
    with suppress(MemoryError):
        for line in requests:
            lines.put(line)
        os._exit(0)
    os._exit(_NO_MEMORY)


def _attempt(handle: Handler, request: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return {"answer": handle(request)}
    except DocstowError as error:
        return {"error": error.body()}
    except MemoryError:
        raise
    except Exception as error:
        log.exception("a call failed in its process")
        return {"failed": f"{type(error).__name__}: {error}"}


def _limit_memory(most: int) -> None:
    """Refuse the process more memory; of data, since code and files that are mapped cost none."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _limit_computing(seconds: int) -> None:
    """Have the system end the process when it has computed for so long from now on."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + 1 + seconds
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))
