"""Answers of MCP as streams of events: what is said while a call runs, then its response.

An answer is a stream only once there is something to say; most calls end before, and are answered
as JSON. A client whose stream breaks off may come back with the last event's id: what it has missed
is kept for a while in the process that ran the call. Nothing needs that: where another process is
asked, it says that it has no such stream.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import field
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from docstow.core import auth
from docstow.core.records import dataclass
from docstow.server.mcp import SESSION_HEADER, Pending, Reply

log = logging.getLogger(__name__)

EVENTS = "text/event-stream"
#: Streams that are kept for a client that may come back, and the bytes of all their events.
_MOST, _MOST_BYTES = 200, 32 * 1024 * 1024
#: After so many ms a client may come back.
_RETRY_MS = 1000
#: A comment is sent after so many seconds without an event, so that no proxy ends the connection.
_BEAT_S = 15.0


@dataclass(slots=True, eq=False)
class _Stream:
    """The events of one answer.

    Attributes:
        caller: the only one who is given them.
        resumable: whether a client may come back for those that it has missed.
        name: ids of events begin with it.
        events: as they were said; the last one is the response.
        ended: whether the response is there.
        news: is set and renewed when there is another event.
    """

    caller: str
    resumable: bool = True
    name: str = field(default_factory=lambda: uuid4().hex)
    events: list[bytes] = field(default_factory=list)
    ended: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, event: bytes, *, last: bool = False) -> None:
        """Add an event; called in the event loop."""
        if event:
            self.events.append(event)
        self.ended = self.ended or last
        self.news.set()
        self.news = asyncio.Event()

    @property
    def size(self) -> int:
        """Bytes of its events."""
        return sum(map(len, self.events))

    async def since(self, number: int) -> AsyncIterator[bytes]:
        """Yield the events after one, each as it comes, up to the response."""
        if self.resumable and not number:
            # Without data it says only from where a client may go on, and after how long.
            yield f"id: {self.name}-0\nretry: {_RETRY_MS}\ndata: \n\n".encode()
        while True:
            news = self.news
            for event in self.events[number:]:
                number += 1
                known = b"id: %s-%d\n" % (self.name.encode(), number) if self.resumable else b""
                yield b"%sevent: message\ndata: %s\n\n" % (known, event)
            if self.ended:
                return
            try:
                await asyncio.wait_for(news.wait(), _BEAT_S)
            except TimeoutError:
                yield b": still at work\n\n"


class Streams:
    """The streams of one server. To be used in its event loop alone."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Stream] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(
        self,
        request: Request,
        pending: Pending,
        run: Callable[..., Reply],
        work: Callable[[Callable[[], Reply]], Awaitable[Reply]],
    ) -> Response:
        """Run a message's calls, and answer as JSON or, if they say something first, as a stream.

        Args:
            request: the client's.
            pending: the message.
            run: runs its calls, given what takes notifications, and the event of the client's end.
            work: runs that in a thread.

        Raises:
            TooManyRequests: as ``work`` does.
        """
        loop = asyncio.get_running_loop()
        stream = _Stream(_owner(), resumable=not pending.stateless)
        left = threading.Event() if pending.stateless else None

        def send(event: bytes) -> None:
            loop.call_soon_threadsafe(stream.add, event)

        task = asyncio.ensure_future(work(lambda: run(send, left)))
        # In the era without sessions the end of a connection is how a call is cancelled.
        gone = asyncio.ensure_future(_await_end(request, left)) if left is not None else None
        first = asyncio.ensure_future(stream.news.wait())
        await asyncio.wait({task, first}, return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        if not stream.events:
            try:
                return render(await task)
            finally:
                if gone is not None:
                    gone.cancel()
        if stream.resumable:
            self._keep(stream)
        end = asyncio.ensure_future(_finish(stream, task, gone))
        self._tasks.add(end)
        end.add_done_callback(self._tasks.discard)
        return _events(stream, 0)

    def resume(self, request: Request) -> Response:
        """Return the events after the one that a client names.

        Raises:
            HTTPException: 405 where it names none: the server begins no stream by itself; 404 where
                its stream is not kept here.
        """
        name, _, number = request.headers.get("last-event-id", "").rpartition("-")
        if not name:
            told = "There is no stream to listen to; name the last event of one that broke off."
            raise HTTPException(405, told, {"Allow": "POST"})
        stream = self._kept.get(name)
        if stream is None or not number.isdecimal() or stream.caller != _owner():
            raise HTTPException(404, "That stream is not kept here; send the request again.")
        return _events(stream, int(number))

    def _keep(self, stream: _Stream) -> None:
        self._kept[stream.name] = stream
        size = sum(each.size for each in self._kept.values())
        while len(self._kept) > _MOST or size > _MOST_BYTES:
            _, oldest = self._kept.popitem(last=False)
            size -= oldest.size


def render(reply: Reply, *, named: bool = True) -> Response:
    """Return a reply as one answer.

    Args:
        reply: it.
        named: whether a session that it opens is named.
    """
    headers = {SESSION_HEADER: reply.session} if named and reply.session else None
    media_type = "application/json" if reply.body else None
    return Response(reply.body, reply.status, headers, media_type=media_type)


def accepts_events(accept: str) -> bool:
    """Return whether an Accept header allows a stream of events."""
    kinds = {each.partition(";")[0].strip().lower() for each in accept.split(",")}
    return EVENTS in kinds


def _events(stream: _Stream, number: int) -> Response:
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream.since(number), headers=headers, media_type=EVENTS)


async def _finish(
    stream: _Stream, task: asyncio.Future[Reply], gone: asyncio.Future[None] | None
) -> None:
    """Add the response to a stream once it is there."""
    try:
        stream.add((await task).body, last=True)
    except Exception:
        log.exception("a stream ends without its response")
    finally:
        stream.add(b"", last=True)
        if gone is not None:
            gone.cancel()


async def _await_end(request: Request, left: threading.Event) -> None:
    """Set an event when the client has ended its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    left.set()


def _owner() -> str:
    """Return who may have the events of a stream: a credential, else an address."""
    who = auth.caller()
    return f"{who.name} {who.key}"
