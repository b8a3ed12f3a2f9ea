"""One message on its way: what it asks to run, what is said meanwhile, and the reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from docstow.core import auth, calls
from docstow.core.errors import Cancelled, DocstowError
from docstow.core.records import dataclass
from docstow.server.mcp.messages import (
    INVALID_PARAMS,
    RpcError,
    http_status,
    message_level,
    progress_token,
)
from docstow.server.mcp.sessions import Sessions
from docstow.tools import Tool

#: Characters of a parameter: a URI, a name, a cursor.
_LONGEST = 8000

#: Takes a notification, as JSON, for the client that waits for an answer.
Send = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer: an HTTP status and a JSON body, empty for messages that want none.

    Attributes:
        status: of HTTP.
        body: JSON.
        session: the name of a session that it opens; empty for none.
    """

    status: int
    body: bytes = b""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a request.

    Attributes:
        members: its own.
        ttl_ms: how long clients may cache it; 0 where they may not.
        public: whether it is the same for every caller.
    """

    members: Mapping[str, Any]
    ttl_ms: int = 0
    public: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """Work that an answer awaits: a tool, or a read of resources.

    Attributes:
        run: does it, given an id for the log; returns an error of the taxonomy.
        render: makes the result of what it returned; raises RpcError where that is an error.
        slow: whether it may take seconds.
        scope: what the caller's credential must allow.
        ttl_ms: how long clients may cache the result; 0 where they may not.
        token: of the client, for reports of progress; None where it wants none.
        level: the least level of the messages that the client wants; empty for none.
    """

    run: Callable[[str], Any]
    render: Callable[[Any], Mapping[str, Any]]
    slow: bool
    scope: str
    ttl_ms: int = 0
    token: str | int | None = None
    level: str = ""

    def listen(self, send: Send, cancelled: threading.Event) -> calls.Listener:
        """Return what hears of the call and sends on what the client wants to hear."""
        last = -1.0

        def progress(done: float, total: float | None, message: str) -> None:
            nonlocal last
            # A client may take a number that does not rise for a mistake.
            if self.token is not None and done > last:
                last = done
                params: dict[str, Any] = {"progressToken": self.token, "progress": done}
                params |= {} if total is None else {"total": total}
                params |= {"message": message} if message else {}
                send(notification("notifications/progress", params))

        def tell(level: str, message: str) -> None:
            if self.level and calls.LEVELS.index(level) >= calls.LEVELS.index(self.level):
                params = {"level": level, "logger": "docstow", "data": message}
                send(notification("notifications/message", params))

        return calls.Listener(progress, tell, cancelled)


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with what it stands among.

    Attributes:
        message: as it came.
        params: its parameters.
        stateless: whether it is of an era without sessions.
        session: the client's; empty for none.
        level: the least level of messages of the session.
        tools: those that the client has.
        withheld: the names of all others.
    """

    message: Mapping[str, Any]
    params: Mapping[str, Any]
    stateless: bool
    session: str
    level: str
    tools: Sequence[Tool]
    withheld: Collection[str]

    @property
    def method(self) -> str:
        """What is asked for."""
        return str(self.message["method"])

    @property
    def cursor(self) -> str:
        """Where the wanted page of a list begins; empty for the first one."""
        return "" if self.params.get("cursor") is None else self.string("cursor")

    def string(self, name: str) -> str:
        """Return a parameter that must be a string.

        Raises:
            RpcError: it is none, or too long.
        """
        found = self.params.get(name)
        if not isinstance(found, str) or len(found) > _LONGEST:
            reason = f"{name} must be a string of at most {_LONGEST} characters"
            raise RpcError(INVALID_PARAMS, reason)
        return found

    def only_page(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a list that is one page.

        Raises:
            RpcError: another page is asked for.
        """
        if self.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "Unknown cursor: this list is one page")
        return rows

    def call(
        self,
        run: Callable[[str], Any],
        render: Callable[[Any], Mapping[str, Any]],
        *,
        slow: bool = False,
        scope: str = auth.READ,
        ttl_ms: int = 0,
    ) -> Call:
        """Return the work that the answer awaits."""
        level = message_level(self.message) if self.stateless else self.level
        return Call(run, render, slow, scope, ttl_ms, progress_token(self.message), level)


@dataclass(frozen=True, slots=True)
class Part:
    """The state of one message: it has a response, a call to run, or (a notification) neither."""

    id: str | int | None = None
    stateless: bool = False
    status: int = 202
    response: Mapping[str, Any] | None = None
    call: Call | None = None
    session: str = ""

    def failed(self, error: RpcError) -> Part:
        """Return the part with an error as its response."""
        response = {"jsonrpc": "2.0", "id": self.id, "error": error.body()}
        status = http_status(error, stateless=self.stateless)
        return Part(self.id, self.stateless, status, response)


@dataclass(frozen=True, slots=True)
class Pending:
    """A message whose answer awaits calls.

    Attributes:
        parts: all messages of it, those that are done included.
        is_batch: whether it came as an array.
        succeed: makes the part of a result.
        sessions: where cancellations arrive.
        session: the client's.
    """

    parts: tuple[Part, ...]
    is_batch: bool
    succeed: Callable[[Part, Result], Part]
    sessions: Sessions
    session: str = ""

    @property
    def calls(self) -> tuple[Call, ...]:
        """What is to run, in any order or at once."""
        return tuple(part.call for part in self.parts if part.call is not None)

    @property
    def stateless(self) -> bool:
        """Whether the end of its connection means that nobody wants the answer."""
        return any(part.stateless for part in self.parts)

    def run(
        self, request_id: str, send: Send | None = None, left: threading.Event | None = None
    ) -> Reply:
        """Run the calls and build the reply; a call that the client cancelled has none.

        Args:
            request_id: for the log.
            send: takes what is said meanwhile; None where nothing can be sent.
            left: is set once the client has gone; None where that does not show.
        """
        cancelled = left or threading.Event()

        def complete(part: Part) -> Part:
            if part.call is None:
                return part
            listener = part.call.listen(send or (lambda _: None), cancelled)
            with (
                self.sessions.running(self.session, part.id, cancelled),
                calls.heard_by(listener),
            ):
                outcome = part.call.run(request_id)
            if cancelled.is_set() or isinstance(outcome, Cancelled):
                return Part(part.id, part.stateless)
            return self.finish_part(part, part.call, outcome)

        return reply([complete(part) for part in self.parts], is_batch=self.is_batch)

    def refuse(self, error: DocstowError) -> Reply:
        """Build the reply where no call is run, since the caller may not."""
        parts = [
            part if part.call is None else self.finish_part(part, part.call, error)
            for part in self.parts
        ]
        return reply(parts, is_batch=self.is_batch)

    def finish_part(self, part: Part, call: Call, outcome: Any) -> Part:
        """Return a part with the response that an outcome makes."""
        try:
            return self.succeed(part, Result(call.render(outcome), call.ttl_ms, public=False))
        except RpcError as error:
            return part.failed(error)


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """Return a message that wants no answer, as JSON."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message, separators=(",", ":")).encode()


def reply(parts: Sequence[Part], *, is_batch: bool) -> Reply:
    """Build the reply of messages that are done."""
    responses = [part.response for part in parts if part.response is not None]
    if not responses:
        return Reply(202)
    body = json.dumps(responses if is_batch else responses[0], separators=(",", ":"))
    session = next((part.session for part in parts if part.session), "")
    return Reply(200 if is_batch else parts[0].status, body.encode(), session)
