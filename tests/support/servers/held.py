"""A page that a server keeps back until a test lets it go."""

from __future__ import annotations

import threading

from servers.loopback import Handler

#: Longer than any test waits for a process.
_HELD_S = 200


class Held:
    """A page that is not answered before it is let go.

    Attributes:
        reached: is set when somebody has asked for it.
        go: lets it be answered.
    """

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()

    def __call__(self, handler: Handler) -> None:
        self.reached.set()
        self.go.wait(_HELD_S)
        handler.reply(200, b"<title>Held</title><main><p>Late.</p></main>")
