"""Limits of connections: nobody holds one for long without sending a request or taking an answer.

uvicorn has one limit of its own: how long a connection is idle after an answer.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

#: How long a request's line and headers may take, in seconds.
HEAD_S = 10.0
#: Connections at the same time. Beyond them those go that have sent no request, the oldest first.
MOST = 1000


class GuardedConnection(H11Protocol):
    """A connection of uvicorn that ends where no whole request comes in time.

    Attributes:
        head_s: as :data:`HEAD_S`.
        most: as :data:`MOST`.
    """

    head_s = HEAD_S
    most = MOST
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the client its time; close another connection, or this one, if there are many."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > self.most:
            waiting = [
                each
                for each in self.connections
                if isinstance(each, GuardedConnection) and each is not self and not each.is_served
            ]
            oldest = min(waiting, key=GuardedConnection._until, default=self)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._drop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Begin the time of a request with its first byte, and end it with its last header."""
        super().data_received(data)
        if self.is_served:
            self._drop_deadline()
        else:
            self._expect_head()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; one whose client does not take its answer is cut."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    @property
    def is_served(self) -> bool:
        """Whether a request has come whose answer is not complete."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _until(self) -> float:
        # What is idle after an answer has no deadline, and is the first to go.
        return self._deadline.when() if self._deadline is not None else 0.0

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_s, self._end)

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if not self.is_served:
            self.transport.abort()
