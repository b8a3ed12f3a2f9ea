"""The HTTP server and its routes: parse a request, call a tool, render its answer or error.

Everything that the app needs comes as an argument; no setting is read here.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from docstow.core import auth
from docstow.core.auth import Policy
from docstow.core.errors import (
    ConfigurationError,
    DocstowError,
    Forbidden,
    InvalidParameter,
    TooLarge,
    ToolNotFound,
    TooManyRequests,
    Unauthorized,
)
from docstow.server.limits import UNLIMITED, Limits
from docstow.server.mcp import Pending, Protocol, Selection, describe
from docstow.server.mcp.messages import HANDSHAKE, STATELESS, RpcError, parse
from docstow.server.middleware import LOOPBACK_HOSTS, AccessMiddleware, challenge, error_response
from docstow.server.oauth import METADATA_PATH, AccessTokens, Resource
from docstow.server.pools import CallPools
from docstow.server.rest import (
    PROMETHEUS,
    ROUTES,
    ToolRoute,
    collect_arguments,
    openapi,
    prometheus,
)
from docstow.server.sessions import PUBLIC
from docstow.server.streams import Streams, accepts_events, render
from docstow.tools import Answer

if TYPE_CHECKING:
    from fastapi import FastAPI

    from docstow.server.compat import System
    from docstow.server.web import Site
    from docstow.server.web.visit import Services

T = TypeVar("T")

#: For servers that only their own user can reach.
OPEN = Policy(open=True)

#: Connections that the system keeps until they are accepted.
_BACKLOG = 2048

#: So many ports are tried where nobody has chosen one.
_NEAR_PORTS = 20

#: How long a connection may be idle, in seconds: an agent thinks longer than 5 s between two calls.
_KEEP_ALIVE_S = 75

#: How long a request's body may take, in seconds.
BODY_S = 30.0

#: What requests may take that are under way when the server is told to stop, and what the process
#: may take after that, in seconds.
_GRACE_S, _LAST_S = 5, 4.0


def fastapi_app() -> FastAPI:
    """Return an application of FastAPI without routes, for a server that stays."""
    from fastapi import FastAPI

    return FastAPI(openapi_url=None, docs_url=None, redoc_url=None)


def create_app(
    protocol: Protocol,
    *,
    app: Starlette | None = None,
    compat: Sequence[tuple[System, Protocol]] = (),
    health: Callable[[], Mapping[str, Any]],
    commands: Callable[[], Sequence[Mapping[str, Any]]] = tuple,
    allowed_hosts: Sequence[str] = LOOPBACK_HOSTS,
    allowed_origins: Sequence[str] = (),
    policy: Policy = OPEN,
    max_body_bytes: int = 4 * 1024 * 1024,
    body_s: float = BODY_S,
    max_concurrent_calls: int = 16,
    max_slow_calls: int = 16,
    streams: bool = False,
    limits: Limits = UNLIMITED,
    resource: Resource | None = None,
    tokens: AccessTokens | None = None,
    sources_claim: str = "",
    pages: Callable[[], Services] | None = None,
) -> Starlette:
    """Build the application.

    Args:
        protocol: MCP's side, with the tools.
        app: what the routes are added to; without it, an application of Starlette. FastAPI's
            import takes as long as all else that a process needs which starts for one answer.
        compat: earlier systems whose forms are served too, each with MCP over its tools.
        health: what ``GET /health`` answers; called in a worker thread.
        commands: lists the command line's commands for ``GET /commands``.
        allowed_hosts: acceptable ``Host`` headers, with or without port; ``*`` for any.
        allowed_origins: further acceptable ``Origin`` headers; ``*`` for any. Origins on an
            allowed host, or on the very host that was asked, need no entry.
        policy: whom a credential stands for, and what is done without one.
        max_body_bytes: larger request bodies are refused with 413.
        body_s: how long a body may take, in seconds; then it is refused with 408.
        max_concurrent_calls: quick tool calls that run at once; further ones wait.
        max_slow_calls: the same for those that may take seconds; quick ones never wait for them.
        streams: whether an answer may come as a stream of events, which says first how far it is:
            not where a platform hands on whole answers alone.
        limits: rates of one caller.
        resource: what clients of OAuth are told of this server.
        tokens: checks their tokens.
        sources_claim: the claim of their tokens that says which sources they see; empty for all.
        pages: what pages for people show; without it there are none.
    """
    app = app or Starlette()
    app.router.redirect_slashes = False
    pools = CallPools(max_concurrent_calls, max_slow_calls, limits.slow)
    serving = partial(
        _Routes,
        health=health,
        commands=commands,
        max_body_bytes=max_body_bytes,
        body_s=body_s,
        pools=pools,
        streams=Streams() if streams else None,
        steps_up=resource is not None,
    )
    routes = serving(protocol, ROUTES)
    # Routes are tried in their order: what is asked most comes first.
    app.add_route("/mcp/tools/{name}", routes.tool, methods=["POST"])
    _add_tools(app, "", routes)
    for system, spoken in compat:
        _add_tools(app, system.root, serving(spoken, system.routes))
    alive = [f"{system.root}{system.health}" for system, _ in compat if system.health]
    for path in alive:
        app.add_route(path, _say_alive, methods=["GET"])
    app.add_route("/mcp/manifest", routes.manifest, methods=["GET"])
    app.add_route("/mcp/resources/versions", routes.versions, methods=["GET"])
    app.add_route("/health", routes.health, methods=["GET"])
    app.add_route("/openapi.json", routes.openapi, methods=["GET"])
    app.add_route("/commands", routes.commands, methods=["GET"])
    if pages is not None:
        _add_pages(app, pages, pools)
    told = _add_metadata(app, resource) if resource is not None else ()
    app.add_exception_handler(DocstowError, _on_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_middleware(
        AccessMiddleware,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
        policy=policy,
        public={"/health", *alive, *told, *(PUBLIC if pages is not None else ())},
        pages=pages is not None,
        limits=limits,
        tokens=tokens,
        resource=resource,
        sources_claim=sources_claim,
    )
    return app


def _add_metadata(app: Starlette, resource: Resource) -> set[str]:
    """Add the metadata for clients of OAuth, and return the paths at which they look for them."""

    async def metadata(request: Request) -> Response:
        return JSONResponse(resource.at(f"{request.url.scheme}://{request.url.netloc}").metadata())

    paths = {METADATA_PATH, f"{METADATA_PATH}/mcp", resource.metadata_path}
    for path in sorted(paths):
        app.add_route(path, metadata, methods=["GET"])
    return paths


def _add_pages(app: Starlette, services: Callable[[], Services], pools: CallPools) -> None:
    """Add the pages for people, which are imported when the first of them is asked for."""

    async def run(call: Callable[[], Response], slow: int) -> Response:
        return await pools.run(call, slow=slow, caller=auth.caller().key)

    @cache
    def site() -> Site:
        from docstow.server.web import Site

        return Site(services(), run)

    async def answer(request: Request) -> Response:
        made = await pools.aside(site)
        return await made.answer(request)

    app.add_route("/", answer, methods=["GET"])
    app.add_route("/ui/{rest:path}", answer, methods=["GET", "POST"])


def _add_tools(app: Starlette, root: str, routes: _Routes) -> None:
    """Add what serves tools below a path: MCP, and the routes that stand for one tool each."""
    for path in (f"{root}/mcp", f"{root}/mcp/"):
        app.add_route(path, routes.mcp, methods=["POST"])
        if routes.streams is not None:
            app.add_route(path, routes.resume, methods=["GET"])
    for route in routes.tool_routes:
        run = partial(routes.tool_route, route)
        app.add_route(f"{root}{route.path}", run, methods=[route.method])


def listen_near(host: str, port: int) -> socket.socket:
    """Bind an address with that port, or one of the next, and listen; see :func:`listen`."""
    for near in range(port, min(port + _NEAR_PORTS, 65536)):
        try:
            return listen(host, near)
        except ConfigurationError as error:
            cause = error.__cause__
            if not isinstance(cause, OSError) or cause.errno != errno.EADDRINUSE:
                raise
    return listen(host, port)


def listen(host: str, port: int) -> socket.socket:
    """Bind an address and listen.

    The protocol is named: asyncio sends an answer's last part at once only on connections that say
    they are TCP, and waits for the client's acknowledgement (40 ms) on all others.

    Args:
        host: a name or an address, IPv4 or IPv6.
        port: 0 lets the system choose.

    Raises:
        ConfigurationError: the address is taken or is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # Takes an address that was in use a moment ago; on Windows it means another thing.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --host and --port"
        ) from error
    return listener


def run(app: Starlette, listener: socket.socket, log_level: str) -> None:
    """Serve an app on a listening socket until the process is told to stop.

    It then ends within ten seconds, whatever clients and ingests do; what an ingest has not
    published is as if it had not begun, and its job is taken up again.
    """
    import uvicorn

    from docstow.server.connections import GuardedConnection

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    config = uvicorn.Config(
        app,
        # Its loggers are the program's; what is logged, and how, is the settings' business.
        log_config=None,
        log_level=log_level,
        access_log=False,
        lifespan="off",
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        http=GuardedConnection,
        ws="none",
        # What a header says of the client is not believed.
        proxy_headers=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _end(number: int, _: object) -> NoReturn:
    """Leave the program, when uvicorn has ended what it serves; by force if that takes long."""
    last = threading.Timer(_LAST_S, os._exit, [0])
    last.daemon = True
    last.start()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(0)


class _Routes:
    """The handlers of all routes.

    Args:
        steps_up: whether clients can ask an issuer for a larger scope, so that a call by MCP for
            which the caller's does not do is refused by HTTP's own status, as its chapter on
            authorization wants it. Else it ends in an error of the tool, which a model reads.
        others: as of :func:`create_app`.
    """

    def __init__(
        self,
        protocol: Protocol,
        tool_routes: Iterable[ToolRoute],
        *,
        health: Callable[[], Mapping[str, Any]],
        commands: Callable[[], Sequence[Mapping[str, Any]]],
        max_body_bytes: int,
        body_s: float,
        pools: CallPools,
        streams: Streams | None,
        steps_up: bool,
    ) -> None:
        self.streams = streams
        self._steps_up = steps_up
        self._protocol = protocol
        self._toolbox = protocol.toolbox
        self._health = health
        self._commands = commands
        offered = self._toolbox.names
        self.tool_routes = [route for route in tool_routes if route.tool in offered]
        self._max_body_bytes = max_body_bytes
        self._body_s = body_s
        self._pools = pools

    async def mcp(self, request: Request) -> Response:
        """Answer ``POST /mcp``: one message of any protocol version."""
        body = await self._json_body(request)
        selection = _selection(request)
        outcome = self._protocol.receive(body, request.headers.items(), selection)
        if isinstance(outcome, Pending):
            if self._steps_up and (refused := _refusal(outcome)) is not None:
                # Nothing of it is done; who does not look at the status reads the same in the body.
                told = outcome.refuse(refused)
                headers = challenge(refused)
                return Response(told.body, refused.status, headers, media_type="application/json")
            slow = sum(each.slow for each in outcome.calls)
            run = partial(outcome.run, _request_id(request))
            if self.streams is not None and accepts_events(request.headers.get("accept", "")):
                work = partial(self._pools.run, slow=slow, caller=auth.caller().key)
                return await self.streams.answer(request, outcome, run, work)
            outcome = await self._pools.run(run, slow=slow, caller=auth.caller().key)
        return render(outcome, named=self.streams is not None)

    async def resume(self, request: Request) -> Response:
        """Answer ``GET /mcp``: what a client has missed of an answer whose stream broke off."""
        if self.streams is None:
            raise HTTPException(405)
        return self.streams.resume(request)

    async def tool(self, request: Request) -> Response:
        """Answer ``POST /mcp/tools/{name}``: the arguments are the body."""
        body = await self._json_body(request)
        arguments = _arguments(body)
        return await self._answer(request, request.path_params["name"], arguments)

    async def tool_route(self, route: ToolRoute, request: Request) -> Response:
        """Answer a route that stands for one tool."""
        body = await self._json_body(request)
        if body and route.method != "POST":
            raise InvalidParameter("body", "has no meaning here; put the arguments in the query")
        query = request.query_params.multi_items()
        given = collect_arguments(route, _arguments(body), query, request.path_params)
        outcome = await self._attempt(request, route.tool, given)
        if isinstance(outcome, DocstowError):
            return error_response(outcome, self._protocol.describe_error(outcome))
        if route.tool == "get_metrics" and _wants_text(request.headers.get("accept", "")):
            return Response(prometheus(outcome.structured or {}), media_type=PROMETHEUS)
        return _render(outcome)

    async def commands(self, request: Request) -> Response:
        """Answer ``GET /commands``: every tool, route and command, for machines."""
        from docstow.tools.tutorials import tutorial

        del request
        toolbox = self._toolbox
        return JSONResponse(
            {
                **self._protocol.server_info,
                "tools": [
                    {
                        "toolset": tool.toolset,
                        **describe(tool, toolbox.schema(tool)),
                        **({"outputSchema": tool.output_schema} if tool.output_schema else {}),
                        **tutorial(tool.name),
                    }
                    for tool in toolbox.tools
                ],
                "routes": [
                    {"method": route.method, "path": route.template, "tool": route.tool}
                    for route in self.tool_routes
                ],
                "commands": list(self._commands()),
            }
        )

    async def versions(self, request: Request) -> Response:
        """Answer ``GET /mcp/resources/versions?crate=NAME`` by the tool ``list_versions``."""
        return await self._answer(request, "list_versions", dict(request.query_params))

    async def manifest(self, request: Request) -> Response:
        """Answer ``GET /mcp/manifest``: the selected tools, by default all of them."""
        from docstow.tools.tutorials import tutorial

        protocol, toolbox = self._protocol, self._toolbox
        selection = _selection(request)
        tools = protocol.tools(selection) if selection.toolsets else toolbox.tools
        return JSONResponse(
            {
                **protocol.server_info,
                "protocol_versions": [*HANDSHAKE, *STATELESS],
                "toolsets": list(toolbox.toolsets),
                "default_toolsets": list(toolbox.default_toolsets),
                "tools": [
                    {
                        "toolset": tool.toolset,
                        **protocol.describe(tool, selection),
                        **tutorial(tool.name),
                    }
                    for tool in tools
                ],
            }
        )

    async def openapi(self, request: Request) -> Response:
        """Answer ``GET /openapi.json`` with the selected tools, as ``/mcp`` selects them.

        The routes of all toolsets are listed, unless some are selected.
        """
        selection = _selection(request)
        plain = selection.schema == "plain"
        tools = self._protocol.tools(selection)
        info = self._protocol.server_info
        routed = tools if selection.toolsets else self._toolbox.tools
        pairs, further = (
            [(tool, self._toolbox.schema(tool, plain=plain)) for tool in some]
            for some in (tools, routed)
        )
        return JSONResponse(openapi(info["name"], info["version"], pairs, further))

    async def health(self, request: Request) -> Response:
        """Answer ``GET /health``."""
        del request
        # Not limited as tool calls are: it answers even when all of those wait.
        return JSONResponse(await self._pools.aside(self._health))

    async def _answer(self, request: Request, name: str, arguments: Mapping[str, Any]) -> Response:
        outcome = await self._attempt(request, name, arguments)
        if isinstance(outcome, DocstowError):
            return error_response(outcome)
        return _render(outcome)

    async def _attempt(
        self, request: Request, name: str, arguments: Mapping[str, Any]
    ) -> Answer | DocstowError:
        try:
            slow = self._toolbox.get(name).slow
            attempt = partial(self._toolbox.attempt, name, arguments, _request_id(request))
            return await self._pools.run(attempt, slow=int(slow), caller=auth.caller().key)
        except (ToolNotFound, TooManyRequests) as error:
            return error

    async def _json_body(self, request: Request) -> bytes:
        """Return the body, if it is declared as JSON (or empty) and not too large.

        The type is required because a page of any origin may send other types without a preflight.
        """
        body = await self._capped_body(request)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and (body or kind):
            raise HTTPException(415, "Send the body as Content-Type: application/json.")
        return body

    async def _capped_body(self, request: Request) -> bytes:
        limit = self._max_body_bytes
        body = bytearray()
        try:
            async with asyncio.timeout(self._body_s):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > limit:
                        message = f"A request body may have {limit} bytes; send less."
                        raise TooLarge(message, limit=limit)
        except TimeoutError:
            told = f"The body did not arrive within {self._body_s:g} seconds; send it again."
            raise HTTPException(408, told, {"Connection": "close"}) from None
        return bytes(body)


def _refusal(pending: Pending) -> DocstowError | None:
    """Return the error of the first call that the caller's credential does not allow."""
    for call in pending.calls:
        try:
            auth.require(call.scope)
        except (Unauthorized, Forbidden) as error:
            return error
    return None


async def _say_alive(request: Request) -> Response:
    del request
    return JSONResponse({"ok": True})


def _selection(request: Request) -> Selection:
    query = request.query_params
    return Selection(query.get("toolsets", ""), query.get("schema", ""), http=True)


def _request_id(request: Request) -> str:
    return str(request.state.request_id)


def _arguments(body: bytes) -> dict[str, Any]:
    try:
        arguments = parse(body) if body else {}
    except RpcError as error:
        raise InvalidParameter("body", "must be JSON in UTF-8") from error
    if not isinstance(arguments, dict):
        raise InvalidParameter("body", "must be a JSON object with the arguments")
    return arguments


def _render(answer: Answer) -> Response:
    if answer.structured is not None:
        return Response(answer.render(), media_type="application/json")
    if answer.content is not None:
        return JSONResponse({"content": answer.content})
    return Response(answer.text, media_type="text/markdown")


def _wants_text(accept: str) -> bool:
    """Return whether an Accept header asks for Prometheus' text format and not for JSON."""
    return "application/json" not in accept and any(
        kind in accept for kind in ("text/plain", "openmetrics-text")
    )


async def _on_error(request: Request, error: Exception) -> Response:
    del request
    if not isinstance(error, DocstowError):
        raise error
    return error_response(error)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    """Render Starlette's own refusals (no route, wrong method) like all errors."""
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    message = error.detail
    if status == HTTPStatus.NOT_FOUND:
        message = "No such page. /mcp speaks MCP; /commands and /openapi.json list what there is."
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        message = f"{request.method} is not for this page; see the Allow header."
    body = {"error": status.name.lower(), "message": message}
    return JSONResponse(body, status, error.headers)
