"""A terminal with a person at it: tmux, of which the keys and the screen are ours."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

#: How long a screen is waited for, and how long between two looks at it.
_PATIENCE_S, _LOOK_S = 90.0, 0.05
#: What the shell says when it waits for a command: the number of that command.
_PROMPT = re.compile(r"^you (\d+)>$", re.MULTILINE)


class Terminal:
    """A bash in a terminal of its own.

    Args:
        environment: of the shell, whole.
        folder: where the shell is.
        columns: how wide the terminal is.
        lines: how high.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        folder: Path,
        columns: int = 80,
        lines: int = 24,
    ) -> None:
        self._server = f"docstow-{uuid.uuid4().hex[:12]}"
        self._environment = dict(environment) | {
            "PROMPT_COMMAND": "",
            "INPUTRC": "/dev/null",
            "LANG": "C.UTF-8",
        }
        self._environment.pop("TMUX", None)
        self._form = ("-x", str(columns), "-y", str(lines), "-c", str(folder))
        self._number = 0

    def __enter__(self) -> Self:
        # A shell that is not for a person unsets the prompt of the one that it begins.
        shell = "exec env PS1='you \\#> ' bash --noprofile --norc"
        self._tmux("-f", "/dev/null", "new-session", "-d", *self._form, shell)
        self.wait(lambda screen: self._waiting(screen) == 1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tmux("kill-server")

    def press(self, *keys: str) -> None:
        """Press keys by tmux' names of them: ``C-c``, ``Tab``."""
        self._tmux("send-keys", *keys)

    def write(self, text: str) -> None:
        """Write text, without Enter."""
        self._tmux("send-keys", "-l", text)

    def run(self, *words: str) -> str:
        """Run a command to its end; return what a cleared screen shows then, without prompts."""
        self.start(shlex.join(words))
        return self.ended()

    def start(self, line: str) -> None:
        """Clear the screen and begin a command."""
        self._number = self._waiting(self.screen())
        self.write(f"clear; {line}")
        self.press("Enter")

    def ended(self) -> str:
        """Return the screen without its prompt, once the shell waits for the next command."""
        screen = self.wait(lambda screen: self._waiting(screen) > self._number)
        return _PROMPT.sub("", screen).strip()

    def wait(self, shown: Callable[[str], bool]) -> str:
        """Return the screen as soon as it shows something.

        Raises:
            AssertionError: it does not in time.
        """
        end = time.monotonic() + _PATIENCE_S
        while not shown(screen := self.screen()):
            assert time.monotonic() < end, screen
            time.sleep(_LOOK_S)
        return screen

    def screen(self) -> str:
        """Return the lines of the terminal, and what has scrolled out of it.

        A line that is wider than the terminal, which breaks it, is one.
        """
        lines = self._tmux("capture-pane", "-p", "-J", "-S", "-").splitlines()
        return "\n".join(map(str.rstrip, lines))

    @staticmethod
    def _waiting(screen: str) -> int:
        """Return the number of the command that the shell waits for; 0 while it waits for none."""
        *_, last = screen.rstrip().split("\n")
        found = _PROMPT.match(last)
        return int(found[1]) if found else 0

    def _tmux(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-L", self._server, *words],
            env=self._environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
