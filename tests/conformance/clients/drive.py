"""One client does all of a plan: ``python drive.py CLIENT PLAN.json (URL | COMMAND WORD…)``.

It prints JSON: how many of each were listed, called and read, what the client has no call for, and
every failure. It needs the client's library and nothing of docstow: any environment runs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

#: What a client does, by name: ``tools``, ``call``, ``resources``, ``templates``, ``read``,
#: ``prompts``, ``prompt`` and ``complete``; one that it cannot do is left out.
Does = Mapping[str, Callable[..., Awaitable[Any]]]


def _plain(given: Any) -> Any:
    """Return what a library made of an answer as JSON."""
    if hasattr(given, "model_dump"):
        return given.model_dump(mode="json", by_alias=True)
    return given


def _sdk(client: Any) -> Does:
    """The calls of the SDK's client and of FastMCP's, which are named alike."""
    from mcp_types import PromptReference, ResourceTemplateReference

    async def complete(kind: str, named: str, name: str, value: str, given: Any) -> Any:
        ref: Any = ResourceTemplateReference(type="ref/resource", uri=named)
        if kind == "ref/prompt":
            ref = PromptReference(type="ref/prompt", name=named)
        found = await client.complete(ref, {"name": name, "value": value}, given)
        return getattr(found, "completion", found).values

    return {
        "tools": client.list_tools,
        "call": client.call_tool,
        "resources": client.list_resources,
        "templates": client.list_resource_templates,
        "read": client.read_resource,
        "prompts": client.list_prompts,
        "prompt": client.get_prompt,
        "complete": complete,
    }


@contextlib.asynccontextmanager
async def _mcp(target: Sequence[str]) -> AsyncIterator[Does]:
    from mcp import Client, StdioServerParameters

    server: Any = target[0]
    if len(target) > 1:
        server = StdioServerParameters(command=target[0], args=list(target[1:]))
    async with Client(server) as client:
        yield _sdk(client)


@contextlib.asynccontextmanager
async def _fastmcp(target: Sequence[str]) -> AsyncIterator[Does]:
    from fastmcp import Client  # type: ignore[import-not-found]
    from fastmcp.client.transports import StdioTransport  # type: ignore[import-not-found]

    server = StdioTransport(target[0], list(target[1:])) if len(target) > 1 else target[0]
    async with Client(server) as client:
        does = dict(_sdk(client))

        async def call(name: str, arguments: Any) -> Any:
            found = await client.call_tool(name, arguments, raise_on_error=False)
            blocks = [_plain(each) for each in found.content]
            return {
                "isError": found.is_error,
                "content": blocks,
                "structuredContent": found.structured_content,
            }

        yield {**does, "call": call}


@contextlib.asynccontextmanager
async def _langchain(target: Sequence[str]) -> AsyncIterator[Does]:
    from langchain_mcp_adapters.client import (  # type: ignore[import-not-found]
        MultiServerMCPClient,
    )
    from langchain_mcp_adapters.prompts import load_mcp_prompt  # type: ignore[import-not-found]
    from langchain_mcp_adapters.resources import (  # type: ignore[import-not-found]
        load_mcp_resources,
    )
    from langchain_mcp_adapters.tools import load_mcp_tools  # type: ignore[import-not-found]

    connection: dict[str, Any] = {"transport": "streamable_http", "url": target[0]}
    if len(target) > 1:
        connection = {"transport": "stdio", "command": target[0], "args": list(target[1:])}
    async with MultiServerMCPClient({"docstow": connection}).session("docstow") as session:
        made = {tool.name: tool for tool in await load_mcp_tools(session)}

        async def tools() -> Any:
            return list(made)

        async def call(name: str, arguments: Any) -> Any:
            wanted = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
            message = await made[name].ainvoke(wanted)
            blocks = message.content
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            return {"isError": message.status == "error", "content": blocks}

        async def read(uri: str) -> Any:
            (blob,) = await load_mcp_resources(session, uris=[uri])
            return blob.as_string()

        async def prompt(name: str, arguments: Any) -> Any:
            return [
                str(e.content) for e in await load_mcp_prompt(session, name, arguments=arguments)
            ]

        yield {"tools": tools, "call": call, "read": read, "prompt": prompt}


@contextlib.asynccontextmanager
async def _openai(target: Sequence[str]) -> AsyncIterator[Does]:
    from agents.mcp import (  # type: ignore[import-not-found]
        MCPServerStdio,
        MCPServerStreamableHttp,
    )

    if len(target) > 1:
        server = MCPServerStdio({"command": target[0], "args": list(target[1:])})
    else:
        server = MCPServerStreamableHttp({"url": target[0]})
    server.client_session_timeout_seconds = 60
    async with server:
        yield {
            "tools": server.list_tools,
            "call": server.call_tool,
            "resources": server.list_resources,
            "templates": server.list_resource_templates,
            "read": server.read_resource,
            "prompts": server.list_prompts,
            "prompt": server.get_prompt,
        }


CLIENTS = {"mcp": _mcp, "fastmcp": _fastmcp, "langchain": _langchain, "openai-agents": _openai}
#: Members of what is listed.
_LISTED = {
    "tools": "tools",
    "resources": "resources",
    "templates": "resourceTemplates",
    "prompts": "prompts",
}


def _listed(found: Any, what: str) -> list[str]:
    found = _plain(found)
    rows = found[_LISTED[what]] if isinstance(found, dict) else [_plain(each) for each in found]
    return [row if isinstance(row, str) else str(row.get("uri") or row.get("name")) for row in rows]


def _answer(found: Any) -> tuple[bool, str]:
    plain = _plain(found)
    texts = [str(_plain(each).get("text", "")) for each in plain["content"]]
    return bool(plain.get("isError")), "".join(texts)


class Drive:
    """What one client has done of a plan.

    Attributes:
        report: what is printed.
    """

    def __init__(self, client: str, plan: Mapping[str, Any], does: Does) -> None:
        self._plan, self._does = plan, does
        self._kept: dict[str, str] = {}
        self._tools: list[str] = []
        self.report: dict[str, Any] = {
            "client": client,
            "listed": {},
            "done": {},
            "lacks": [],
            "failed": [],
        }

    async def everything(self) -> None:
        """List, call, read, make and complete all that the client can."""
        for what in _LISTED:
            await self._list(what)
        # Those that are for HTTP alone are not listed elsewhere.
        for tool, arguments in self._plan["calls"]:
            if tool in self._tools:
                await self._attempt("call", tool, self._call, tool, arguments)
        for uri in self._plan["resources"]:
            await self._attempt("read", uri, self._does["read"], uri)
        for name, arguments in self._plan["prompts"].items():
            await self._attempt("prompt", name, self._does["prompt"], name, arguments)
        if "complete" not in self._does:
            self.report["lacks"].append("completion")
            return
        for each in self._plan["completions"]:
            await self._attempt("complete", f"{each[1]} {each[2]}", self._does["complete"], *each)

    async def _list(self, what: str) -> None:
        if what not in self._does:
            self.report["lacks"].append(f"list of {what}")
            return
        names = _listed(await self._does[what](), what)
        self.report["listed"][what] = len(names)
        if what == "tools":
            self._tools = names
        for uri in names if what == "resources" else ():
            await self._attempt("read", uri, self._does["read"], uri)

    async def _attempt(
        self, what: str, name: str, work: Callable[..., Awaitable[Any]], *given: Any
    ) -> None:
        try:
            found = _plain(await work(*given))
        except Exception as error:  # noqa: BLE001  # whatever a client raises is looked for
            self.report["failed"].append([what, name, f"{type(error).__name__}: {error}"[:400]])
            return
        if not found:
            self.report["failed"].append([what, name, "nothing came back"])
            return
        self.report["done"][what] = self.report["done"].get(what, 0) + 1

    async def _call(self, tool: str, arguments: Any) -> str:
        text = json.dumps(arguments)
        for name, value in self._kept.items():
            text = text.replace(name, value)
        is_error, answer = _answer(await self._does["call"](tool, json.loads(text)))
        if is_error:
            raise ValueError(answer)
        for name, (giver, way) in self._plan["kept"].items():
            if giver == tool:
                value = json.loads(answer)
                for step in way:
                    value = value[step]
                self._kept[name] = value
        return answer


async def drive(client: str, plan: Mapping[str, Any], target: Sequence[str]) -> dict[str, Any]:
    """Do all of a plan and return what came of it."""
    async with CLIENTS[client](target) as does:
        done = Drive(client, plan, does)
        await done.everything()
    return done.report


if __name__ == "__main__":
    chosen, file, *words = sys.argv[1:]
    wanted = cast("Mapping[str, Any]", json.loads(Path(file).read_text("utf-8")))
    print(json.dumps(asyncio.run(drive(chosen, wanted, words))))
