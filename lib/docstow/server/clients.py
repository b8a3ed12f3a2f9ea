"""MCP clients: where each keeps its servers, and in what form.

The forms are those of the clients' own documentation in November 2026.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The name of the server in every client.
NAME = "docstow"

#: The variable that holds the token of a server; files name it and never hold the token.
TOKEN_VARIABLE = "DOCSTOW_TOKEN"  # noqa: S105 - the name of it


@dataclass(frozen=True, slots=True)
class Server:
    """A server as a client reaches it: an address, or a program that it starts.

    Attributes:
        url: of the MCP endpoint; empty where the client starts a program.
        command: the program with its arguments.
        token: whether the server wants the token that a variable holds.
    """

    url: str = ""
    command: tuple[str, ...] = ()
    token: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    """A client.

    Attributes:
        title: what people call it.
        form: ``json`` (comments allowed), ``toml``, ``file`` (one of our own, in JSON, which YAML
            contains) or ``hand`` (entered in its pages).
        keys: where servers stand in its file.
        user: its file for all projects of the user, below the home folder.
        project: its file in a project, or nothing where it has none.
        entry: what describes a server there.
        says: what else its user has to know or do.
        reads_variables: whether its file may name the variable of a token.
    """

    title: str
    form: str
    keys: tuple[str, ...]
    user: str
    project: str
    entry: Callable[[Server], Mapping[str, Any]]
    says: str = ""
    reads_variables: bool = True


def _started(server: Server) -> dict[str, Any]:
    return {"command": server.command[0], "args": list(server.command[1:])}


def _reached(
    address: str, variable: str, *, before: Mapping[str, Any] | None = None
) -> Callable[[Server], Mapping[str, Any]]:
    """Return what describes servers as most clients do.

    Args:
        address: the key of the URL.
        variable: how the file names the variable of the token.
        before: further keys of a server with a URL.
    """

    def entry(server: Server) -> Mapping[str, Any]:
        if not server.url:
            return _started(server)
        headers = {"headers": {"Authorization": f"Bearer {variable}"}} if server.token else {}
        return {**(before or {}), address: server.url, **headers}

    return entry


def _typed(entry: Callable[[Server], Mapping[str, Any]]) -> Callable[[Server], Mapping[str, Any]]:
    return lambda server: entry(server) if server.url else {"type": "stdio", **_started(server)}


def _claude_desktop(server: Server) -> Mapping[str, Any]:
    """Return a program in any case: its file knows no addresses, a bridge from npm does."""
    if not server.url:
        return _started(server)
    header = ["--header", f"Authorization: Bearer ${{{TOKEN_VARIABLE}}}"] if server.token else []
    return {"command": "npx", "args": ["-y", "mcp-remote", server.url, *header]}


def _codex(server: Server) -> Mapping[str, Any]:
    if not server.url:
        return _started(server)
    return {"url": server.url, **({"bearer_token_env_var": TOKEN_VARIABLE} if server.token else {})}


def _opencode(server: Server) -> Mapping[str, Any]:
    if not server.url:
        return {"type": "local", "command": list(server.command)}
    headers = {"Authorization": f"Bearer {{env:{TOKEN_VARIABLE}}}"}
    return {"type": "remote", "url": server.url, **({"headers": headers} if server.token else {})}


def _continue(server: Server) -> Mapping[str, Any]:
    if not server.url:
        described: dict[str, Any] = {"name": NAME, "type": "stdio", **_started(server)}
    else:
        described = {"name": NAME, "type": "streamable-http", "url": server.url}
    if server.token:
        bearer = f"Bearer ${{{{ secrets.{TOKEN_VARIABLE} }}}}"
        described["requestOptions"] = {"headers": {"Authorization": bearer}}
    return {"name": NAME, "version": "1.0.0", "schema": "v1", "mcpServers": [described]}


def _desktop_folder() -> str:
    """Return where desktop programs keep their settings, below the home folder."""
    if sys.platform == "darwin":
        return "Library/Application Support"
    if os.name == "nt":
        return "AppData/Roaming"
    return ".config"


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        "json",
        ("mcpServers",),
        ".claude.json",
        ".mcp.json",
        _typed(_reached("url", f"${{{TOKEN_VARIABLE}}}", before={"type": "http"})),
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        "json",
        ("mcpServers",),
        f"{_desktop_folder()}/Claude/claude_desktop_config.json",
        "",
        _claude_desktop,
        "Start it anew. An address is reached by the bridge mcp-remote, which needs Node.",
    ),
    "cursor": Client(
        "Cursor",
        "json",
        ("mcpServers",),
        ".cursor/mcp.json",
        ".cursor/mcp.json",
        _reached("url", f"${{env:{TOKEN_VARIABLE}}}"),
    ),
    "vscode": Client(
        "VS Code",
        "json",
        ("servers",),
        f"{_desktop_folder()}/Code/User/mcp.json",
        ".vscode/mcp.json",
        _typed(_reached("url", f"${{env:{TOKEN_VARIABLE}}}", before={"type": "http"})),
    ),
    "codex": Client(
        "Codex",
        "toml",
        ("mcp_servers",),
        ".codex/config.toml",
        ".codex/config.toml",
        _codex,
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        "json",
        ("mcpServers",),
        ".gemini/settings.json",
        ".gemini/settings.json",
        _reached("httpUrl", f"${TOKEN_VARIABLE}"),
    ),
    "windsurf": Client(
        "Windsurf",
        "json",
        ("mcpServers",),
        ".codeium/windsurf/mcp_config.json",
        "",
        _reached("serverUrl", f"${{env:{TOKEN_VARIABLE}}}"),
    ),
    "zed": Client(
        "Zed",
        "json",
        ("context_servers",),
        ".config/zed/settings.json",
        ".zed/settings.json",
        _reached("url", "TOKEN"),
        "Its settings name no variables: put the token in the place of TOKEN.",
        reads_variables=False,
    ),
    "opencode": Client(
        "opencode",
        "json",
        ("mcp", "servers"),
        ".config/opencode/opencode.json",
        "opencode.json",
        _opencode,
        'Version 1 has its servers in "mcp" itself.',
    ),
    "continue": Client(
        "Continue",
        "file",
        (),
        f".continue/mcpServers/{NAME}.yaml",
        f".continue/mcpServers/{NAME}.yaml",
        _continue,
    ),
    "open-webui": Client(
        "Open WebUI",
        "hand",
        (),
        "",
        "",
        lambda server: {"type": "MCP (Streamable HTTP)", "url": server.url},
        "Enter it in Admin Settings, External Tools, with the token as its bearer.",
    ),
}


def path_of(client: Client, project: Path | None) -> Path:
    """Return the file of a client: in a project, else the user's."""
    return project / client.project if project is not None else Path.home() / client.user


def render_entry(client: Client, server: Server) -> str:
    """Return a whole file of a client that knows one server alone, as people copy it."""
    entry: Any = client.entry(server)
    if client.form == "toml":
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        return "\n".join([f"[{client.keys[0]}.{NAME}]", *lines])
    if client.form == "json":
        for key in reversed((*client.keys, NAME)):
            entry = {key: entry}
    return json.dumps(entry, indent=2)
