"""The methods of MCP beside those of tools: resources, prompts, completion, levels of messages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from docstow.core import auth
from docstow.core.calls import LEVELS
from docstow.core.errors import DocstowError
from docstow.core.threads import lazy
from docstow.server.mcp.exchange import Call, Request, Result, notification
from docstow.server.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from docstow.server.mcp.rendering import (
    completion,
    describe_prompt,
    describe_resource,
    raised,
    read_result,
)
from docstow.server.mcp.sessions import STREAMS, Sessions
from docstow.tools.offers import MOST_VALUES, Argument, Prompt, ResourcePage, Resources

#: How long clients may cache lists, in ms: those of tools and prompts change with a release only,
#: those of resources with what is stowed.
TTL_MS, RESOURCES_TTL_MS = 300_000, 10_000
#: Characters of an argument of a prompt.
_LONGEST_ARGUMENT = 40_000


class Offers:
    """What is offered beside tools.

    Args:
        open_resources: opens what there is to read; None for nothing.
        open_prompts: makes the prompts; None for none.
        sessions: what clients with a session have said.
        guard: does a piece of work for a request of an id, at whose end errors are returned.
    """

    def __init__(
        self,
        open_resources: Callable[[], Resources] | None,
        open_prompts: Callable[[], Sequence[Prompt]] | None,
        sessions: Sessions,
        guard: Callable[[Callable[[], Any], str], Any],
    ) -> None:
        self._open_resources = open_resources
        self._open_prompts = open_prompts
        self._sessions = sessions
        self._guard = guard

    def capabilities(self, request: Request) -> dict[str, Any]:
        """Return what a server with these says that it can do."""
        found: dict[str, Any] = {"logging": {}}
        if self._open_resources is not None:
            # A change is told where there is a stream that stays open.
            found["resources"] = {"subscribe": True} if request.session == STREAMS else {}
        if self._open_prompts is not None:
            found["prompts"] = {}
        if self._open_resources is not None or self._open_prompts is not None:
            found["completions"] = {}
        return found

    @lazy
    def _resources(self) -> Resources:
        if self._open_resources is None:
            raise RpcError(METHOD_NOT_FOUND, "Method not found: this server has no resources")
        return self._open_resources()

    @lazy
    def _prompts(self) -> tuple[Prompt, ...]:
        if self._open_prompts is None:
            raise RpcError(METHOD_NOT_FOUND, "Method not found: this server has no prompts")
        return tuple(self._open_prompts())

    def answer(self, request: Request) -> Result | Call:
        """Return the result of a request, or the work that it awaits.

        Raises:
            RpcError: it has no such method, or not what that needs.
        """
        match request.method, request.stateless:
            case "prompts/list", _:
                prompts = [describe_prompt(each) for each in self._offered(request).values()]
                return Result({"prompts": request.only_page(prompts)}, TTL_MS)
            case "prompts/get", _:
                return Result(self._get_prompt(request))
            case "resources/templates/list", _:
                found = [describe_resource(e, "uriTemplate") for e in self._resources.templates]
                return Result({"resourceTemplates": request.only_page(found)}, TTL_MS)
            case "resources/list", _:
                cursor, listed = request.cursor, self._resources.listed
                work = partial(self._attempt, lambda: listed(cursor))
                return request.call(work, _listed, ttl_ms=RESOURCES_TTL_MS)
            case "resources/read", _:
                return self._read(request)
            case "completion/complete", _:
                return self._complete(request)
            case "logging/setLevel", False:
                if (level := request.string("level")) not in LEVELS:
                    raise RpcError(INVALID_PARAMS, f"level is one of {', '.join(LEVELS)}")
                self._sessions.set_level(request.session, level)
                return Result({})
            case "resources/subscribe", False:
                uri = request.string("uri")
                subscribe = partial(self._subscribe, request.session, uri)
                return request.call(
                    partial(self._attempt, subscribe), lambda done: raised(done, {})
                )
            case "resources/unsubscribe", False:
                self._sessions.unsubscribe(request.session, request.string("uri"))
                return Result({})
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {request.method}")

    def _attempt(self, work: Callable[[], Any], request_id: str) -> Any:
        """Do work for a caller who may read; errors are returned."""

        def run() -> Any:
            auth.require(auth.READ)
            return work()

        return self._guard(run, request_id)

    def changes(self, session: str) -> list[bytes]:
        """Return a notification for each resource of a subscription that has changed since.

        All of them are read.
        """
        changed = []
        for uri, state in self._sessions.subscribed(session).items():
            if (now := self._state(uri)) != state:
                self._sessions.subscribe(session, uri, now)
                changed.append(notification("notifications/resources/updated", {"uri": uri}))
        return changed

    def _subscribe(self, session: str, uri: str) -> None:
        self._sessions.subscribe(session, uri, self._state(uri))

    def _state(self, uri: str) -> str:
        """Return what differs once a resource has changed."""
        held = self._resources.read(uri, uuid4().hex)
        text = held.code if isinstance(held, DocstowError) else held.text + held.blob
        return hashlib.sha256(text.encode()).hexdigest()

    def _read(self, request: Request) -> Call:
        uri, read = request.string("uri"), self._resources.read

        def render(outcome: Any) -> Mapping[str, Any]:
            return read_result(uri, outcome, request.withheld, stateless=request.stateless)

        return request.call(lambda each: read(uri, each), render, ttl_ms=RESOURCES_TTL_MS)

    def _offered(self, request: Request) -> dict[str, Prompt]:
        """Return the prompts whose tools the client has, by name."""
        tools = {tool.name for tool in request.tools}
        return {each.name: each for each in self._prompts if set(each.tools) <= tools}

    def _get_prompt(self, request: Request) -> Mapping[str, Any]:
        prompt = self._find_prompt(request, request.string("name"))
        given = request.params.get("arguments") or {}
        if not isinstance(given, dict):
            raise RpcError(INVALID_PARAMS, "The arguments of a prompt must be an object")
        known = {each.name for each in prompt.arguments}
        for name, value in given.items():
            if name not in known:
                raise RpcError(INVALID_PARAMS, f"{prompt.name} has the arguments {_listing(known)}")
            if not isinstance(value, str) or len(value) > _LONGEST_ARGUMENT:
                reason = f"{name} must be a string of at most {_LONGEST_ARGUMENT} characters"
                raise RpcError(INVALID_PARAMS, reason)
        for each in prompt.arguments:
            if each.required and not given.get(each.name, "").strip():
                raise RpcError(INVALID_PARAMS, f"{each.name} is required: {each.description}")
        return {"description": prompt.description, "messages": list(prompt.messages(given))}

    def _find_prompt(self, request: Request, name: str) -> Prompt:
        offered = self._offered(request)
        if name not in offered:
            there = _listing(offered) or "none for these toolsets"
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name[:80]}. There are {there}")
        return offered[name]

    def _complete(self, request: Request) -> Call:
        ref, argument = request.params.get("ref"), request.params.get("argument")
        context = request.params.get("context")
        given = context.get("arguments") if isinstance(context, dict) else None
        texts = (
            {k: v for k, v in given.items() if isinstance(v, str)}
            if isinstance(given, dict)
            else {}
        )
        if not isinstance(ref, dict) or not isinstance(argument, dict):
            raise RpcError(INVALID_PARAMS, "ref and argument must be objects")
        name, value = argument.get("name"), argument.get("value")
        if (
            not isinstance(name, str)
            or not isinstance(value, str)
            or len(value) > _LONGEST_ARGUMENT
        ):
            raise RpcError(INVALID_PARAMS, "An argument has a name and a value, both strings")
        values = self._completer(request, ref, name, value, texts)
        return request.call(
            partial(self._attempt, values), lambda found: completion(found, MOST_VALUES)
        )

    def _completer(
        self,
        request: Request,
        ref: Mapping[str, Any],
        name: str,
        value: str,
        given: Mapping[str, str],
    ) -> Callable[[], Sequence[str]]:
        """Return what finds the values of an argument.

        Raises:
            RpcError: there is no such prompt, template or argument.
        """
        match ref:
            case {"type": "ref/prompt", "name": str(wanted)}:
                prompt = self._find_prompt(request, wanted)
                found: Argument | None = next((e for e in prompt.arguments if e.name == name), None)
                if found is None:
                    raise RpcError(INVALID_PARAMS, f"{wanted} has no argument {name[:80]!r}")
                complete = found.complete
                return lambda: complete(value, given)
            case {"type": "ref/resource", "uri": str(wanted)}:
                resources = self._resources
                if wanted not in {each.uri for each in resources.templates}:
                    raise RpcError(
                        INVALID_PARAMS, "No template has that uri", {"uri": wanted[:400]}
                    )
                return lambda: resources.complete(wanted, name, value, given)
            case _:
                raise RpcError(
                    INVALID_PARAMS, "ref is a ref/prompt with name, or ref/resource with uri"
                )


def _listed(page: ResourcePage | DocstowError) -> Mapping[str, Any]:
    if isinstance(page, DocstowError):
        return raised(page, {})
    more = {} if page.cursor is None else {"nextCursor": page.cursor}
    return {"resources": [describe_resource(each, "uri") for each in page.resources], **more}


def _listing(names: Any) -> str:
    return ", ".join(sorted(names))
