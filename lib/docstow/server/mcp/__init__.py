"""The server's side of the Model Context Protocol, without I/O: bytes in, bytes out.

Like h11, it takes a message and returns a finished :class:`Reply`, or a :class:`Pending` whose
calls the server runs in a thread of its choice. It needs no session, so that one :class:`Protocol`
serves any number of clients at once, and any process any request; what a client with a session says
of itself is remembered as long as there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from docstow.core.errors import DocstowError, InvalidParameter
from docstow.core.records import dataclass
from docstow.server.mcp.exchange import Call, Part, Pending, Reply, Request, Result, reply
from docstow.server.mcp.instructions import MAX_INSTRUCTIONS, instruct
from docstow.server.mcp.messages import (
    BATCHES,
    HANDSHAKE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CAPABILITY,
    SERVER_INFO_KEY,
    STATELESS,
    VERSION_HEADER,
    RpcError,
    check_mirrored,
    check_request_meta,
    fold,
    is_stateless,
    parameters,
    parse,
    request_id,
    wants_answer,
)
from docstow.server.mcp.offers import TTL_MS, Offers
from docstow.server.mcp.rendering import call_result, describe, describe_briefly
from docstow.server.mcp.sessions import STREAMS, Sessions
from docstow.tools import Tool, Toolbox
from docstow.tools.offers import Prompt, Resources

__all__ = [
    "DEFAULT",
    "MAX_INSTRUCTIONS",
    "SESSION_HEADER",
    "STREAMS",
    "Pending",
    "Protocol",
    "Reply",
    "Selection",
    "describe",
    "instruct",
]

#: The most messages in one array; editors send far fewer.
MAX_BATCH = 50
#: The header in which a client names its session, and the characters that count of its value.
SESSION_HEADER = "mcp-session-id"
_LONGEST_SESSION = 64


@dataclass(frozen=True, slots=True)
class Selection:
    """What a client's URL asks for, not yet checked.

    Attributes:
        toolsets: names with commas between them; empty for the default ones.
        schema: ``plain`` for schemas with single types; else empty.
        http: whether it is asked over HTTP.
    """

    toolsets: str = ""
    schema: str = ""
    http: bool = False


DEFAULT = Selection()


class Protocol:
    """The server's side of MCP.

    Args:
        name: the server's name.
        version: the server's version.
        instructions: how to use it, for models; or what makes them for the names of tools.
        toolbox: what it offers.
        describe_error: makes the body of a tool's error.
        open_resources: opens what there is to read; None for nothing.
        open_prompts: makes its prompts; None for none.
        about: further members of what it says of itself to a client that connects.

    Raises:
        ValueError: the instructions are longer than clients keep.
    """

    def __init__(
        self,
        name: str,
        version: str,
        instructions: str | Callable[[Collection[str]], str],
        toolbox: Toolbox,
        describe_error: Callable[[DocstowError], Mapping[str, Any]] = DocstowError.body,
        *,
        open_resources: Callable[[], Resources] | None = None,
        open_prompts: Callable[[], Sequence[Prompt]] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(instructions, str) and len(instructions.encode()) > MAX_INSTRUCTIONS:
            raise ValueError(f"instructions are longer than {MAX_INSTRUCTIONS} bytes")
        self.server_info = {"name": name, "version": version}
        self._about = dict(about or {})
        self._instructions = instructions
        self.toolbox = toolbox
        self.describe_error = describe_error
        self._sessions = Sessions()
        self._offers = Offers(open_resources, open_prompts, self._sessions, toolbox.guard)

    def receive(
        self,
        body: bytes,
        headers: Iterable[tuple[str, str]] | None = None,
        selection: Selection = DEFAULT,
    ) -> Reply | Pending:
        """Take one message, or an array of them where the protocol version has arrays.

        Args:
            body: what the client sent.
            headers: HTTP headers, repeated ones included; None where the transport has none.
            selection: what the client's URL asks for.
        """
        folded = None if headers is None else fold(headers)
        session = STREAMS if folded is None else folded.get(SESSION_HEADER, "")[:_LONGEST_SESSION]
        try:
            message = parse(body)
            is_batch = isinstance(message, list)
            if is_batch:
                _check_batch(message, folded)
        except RpcError as error:
            return reply([Part().failed(error)], is_batch=False)
        if is_batch:
            parts = tuple(self._batch_part(each, selection, session) for each in message)
        else:
            parts = (self._single_part(message, folded, selection, session),)
        if any(part.call for part in parts):
            return Pending(parts, is_batch, self._succeeded, self._sessions, session)
        return reply(parts, is_batch=is_batch)

    def tools(self, selection: Selection) -> tuple[Tool, ...]:
        """Return the tools that a selection names.

        Raises:
            InvalidParameter: a toolset or a schema style that is not known.
        """
        if selection.schema not in ("", "plain"):
            raise InvalidParameter("schema", "must be 'plain' or left out")
        names = [name.strip() for name in selection.toolsets.split(",")]
        chosen = self.toolbox.select([name for name in names if name])
        return tuple(tool for tool in chosen if selection.http or not tool.http_only)

    def describe(self, tool: Tool, selection: Selection) -> dict[str, Any]:
        """Describe a tool as ``tools/list`` does."""
        plain = selection.schema == "plain"
        return describe_briefly(tool, self.toolbox.schema(tool, plain=plain, brief=True))

    def changes(self, session: str = STREAMS) -> list[bytes]:
        """Return a notification for each resource of a subscription that has changed since.

        All of them are read, so that it takes a while.
        """
        return self._offers.changes(session)

    def _batch_part(self, message: Any, selection: Selection, session: str) -> Part:
        """Handle a member of an array: any message of that version but its handshake."""
        part = self._single_part(message, None, selection, session)
        if part.stateless or (isinstance(message, dict) and message.get("method") == "initialize"):
            error = RpcError(INVALID_REQUEST, "This message cannot be a part of an array")
            return Part(part.id).failed(error)
        return part

    def _single_part(
        self, message: Any, headers: Mapping[str, str] | None, selection: Selection, session: str
    ) -> Part:
        part = Part(request_id(message))
        try:
            if not wants_answer(message):
                self._note(message, session)
                return part
            stateless = is_stateless(message, headers)
            part = Part(part.id, stateless)
            capabilities = check_request_meta(message, headers) if stateless else {}
            params = parameters(message)
            tools, withheld = self._offered(selection, stateless=stateless)
            level = "" if stateless else self._sessions.level(session)
            request = Request(message, params, stateless, session, level, tools, withheld)
            if stateless and headers is not None and request.method == "tools/call":
                self._check_mirrored(request, headers)
            return self._dispatch(part, request, selection, capabilities)
        except RpcError as error:
            return part.failed(error)

    def _check_mirrored(self, request: Request, headers: Mapping[str, str]) -> None:
        arguments = request.params.get("arguments")
        for tool in request.tools:
            if request.params.get("name") in tool.names:
                given = arguments if isinstance(arguments, dict) else {}
                check_mirrored(self.toolbox.schema(tool, brief=True), given, headers)

    def _note(self, message: Mapping[str, Any], session: str) -> None:
        """Take a notification; those that change nothing here are passed over."""
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            self._sessions.cancel(session, params.get("requestId"))

    def _dispatch(
        self,
        part: Part,
        request: Request,
        selection: Selection,
        capabilities: Mapping[str, Any],
    ) -> Part:
        match request.method, part.stateless:
            case "initialize", False:
                result = Result(self._initialize(request))
                part = Part(part.id, session="" if request.session else uuid4().hex)
            case "ping", False:
                result = Result({})
            case "server/discover", True:
                result = Result(
                    self._discover(request), TTL_MS, isinstance(self._instructions, str)
                )
            case "tools/list", _:
                tools = [self.describe(tool, selection) for tool in request.tools]
                result = Result({"tools": request.only_page(tools)}, TTL_MS)
            case "tools/call", _:
                return Part(part.id, part.stateless, call=self._tool_call(request, capabilities))
            case _:
                found = self._offers.answer(request)
                if isinstance(found, Call):
                    return Part(part.id, part.stateless, call=found)
                result = found
        return self._succeeded(part, result)

    def _offered(
        self, selection: Selection, *, stateless: bool
    ) -> tuple[tuple[Tool, ...], frozenset[str]]:
        """Return the selected tools that can run in this kind of session, and names of the others.

        Without sessions, the handshake's capabilities are forgotten by the time of a call.
        """
        try:
            tools = self.tools(selection)
        except InvalidParameter as error:
            raise RpcError(INVALID_PARAMS, error.message, error.body()) from error
        offered = tuple(tool for tool in tools if stateless or not tool.client_capabilities)
        return offered, frozenset(self.toolbox.names) - {name for e in offered for name in e.names}

    def _initialize(self, request: Request) -> dict[str, Any]:
        version = request.params.get("protocolVersion")
        if not isinstance(version, str):
            raise RpcError(INVALID_PARAMS, "protocolVersion must be a string")
        return {
            "protocolVersion": version if version in HANDSHAKE else HANDSHAKE[-1],
            "capabilities": {"tools": {}, **self._offers.capabilities(request)},
            "serverInfo": {**self.server_info, **self._about},
            "instructions": self.instructions(request.tools),
        }

    def _discover(self, request: Request) -> dict[str, Any]:
        return {
            "supportedVersions": list(STATELESS),
            "capabilities": {"tools": {}, **self._offers.capabilities(request)},
            "instructions": self.instructions(request.tools),
        }

    def instructions(self, tools: Iterable[Tool]) -> str:
        """Return how to use the server, for a model that has some of the tools."""
        if isinstance(self._instructions, str):
            return self._instructions
        return self._instructions({name for tool in tools for name in tool.names})

    def _tool_call(self, request: Request, capabilities: Mapping[str, Any]) -> Call:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "The name of a tool must be a string")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "The arguments of a tool must be an object")
        offered = {each: tool for tool in request.tools for each in tool.names}
        if name not in offered:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}. There are {', '.join(offered)}")
        tool = offered[name]
        if missing := sorted(set(tool.client_capabilities) - set(capabilities)):
            raise RpcError(
                MISSING_CAPABILITY,
                f"{name} needs a client with {', '.join(missing)}",
                {"requiredCapabilities": {each: {} for each in missing}},
            )
        return request.call(
            partial(self.toolbox.attempt, name, arguments),
            partial(call_result, describe_error=self.describe_error, withheld=request.withheld),
            slow=tool.slow,
            scope=tool.scope,
        )

    def _succeeded(self, part: Part, result: Result) -> Part:
        members = result.members
        if part.stateless:
            scope = "public" if result.public else "private"
            caching = {"ttlMs": result.ttl_ms, "cacheScope": scope} if result.ttl_ms else {}
            meta = {"_meta": {SERVER_INFO_KEY: self.server_info}}
            members = {"resultType": "complete", **members, **caching, **meta}
        response = {"jsonrpc": "2.0", "id": part.id, "result": members}
        return Part(part.id, part.stateless, 200, response, session=part.session)


def _check_batch(messages: Sequence[Any], headers: Mapping[str, str] | None) -> None:
    if (headers or {}).get(VERSION_HEADER, BATCHES) != BATCHES:
        raise RpcError(INVALID_REQUEST, f"Only revision {BATCHES} has arrays of messages")
    if not 1 <= len(messages) <= MAX_BATCH:
        raise RpcError(INVALID_REQUEST, f"An array has 1 to {MAX_BATCH} messages")
