"""Docstow in the settings of MCP clients: ``connect``, and ``disconnect``, which undoes it."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.cli import jsonc
from docstow.core import toml
from docstow.core.errors import InvalidParameter, UnreadableInput
from docstow.server.clients import CLIENTS, NAME, TOKEN_VARIABLE, Client, Server, path_of

if TYPE_CHECKING:
    from docstow.runtime import Runtime

#: What a file's former state is called, beside it.
_BACKUP = ".before-docstow"

#: Our section of a TOML file, with those below it and the blank line above.
_SECTION = re.compile(
    rf"(?:^|\n)\[mcp_servers\.{NAME}(?:\.[^\]\n]+)?\][^\n]*(?:\n(?!\[)[^\n]*)*(?=\n\[|\Z)"
)
_SKILL = f"{NAME}/SKILL.md"


def connect(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print what a client needs to reach docstow, or write it into the client's file."""
    del runtime
    client = CLIENTS[options.client]
    server = _server(options)
    if client.form == "hand" and not server.url:
        raise InvalidParameter("--url", f"is missing: {client.title} starts no programs")
    if options.write and server.token and not client.reads_variables:
        raise InvalidParameter("--write", f"would write the token itself; {client.says}")
    if not options.write and not options.dry_run:
        _show(client, server, options)
        return 0
    _change(client, options, lambda text: _connected(client, server, text))
    if options.skill:
        _write_skill(client, options)
    if server.token and not os.environ.get(TOKEN_VARIABLE):
        told = f"Set {TOKEN_VARIABLE} to the token where {client.title} is started."
        print(told, file=sys.stderr if options.out.as_json else sys.stdout)
    return 0


def disconnect(runtime: Runtime, options: argparse.Namespace) -> int:
    """Take docstow out of a client's file again."""
    del runtime
    client = CLIENTS[options.client]
    _change(client, options, lambda text: _disconnected(client, text))
    return 0


def _server(options: argparse.Namespace) -> Server:
    if options.url:
        return Server(url=options.url, token=options.token)
    if options.token:
        raise InvalidParameter("--token", "is for a server with a --url; a program needs none")
    program = shutil.which("docstow")
    command = (program,) if program else (sys.executable, "-m", "docstow")
    return Server(command=(*command, "serve", "--stdio"))


def _path(client: Client, options: argparse.Namespace) -> Path:
    """Return the file that is meant.

    Raises:
        InvalidParameter: the client has none.
    """
    if client.form == "hand":
        raise InvalidParameter("--write", f"{client.title} has no file for it. {client.says}")
    if options.project is not None and not client.project:
        raise InvalidParameter("--project", f"{client.title} has one file for all projects")
    return path_of(client, options.project)


def _show(client: Client, server: Server, options: argparse.Namespace) -> None:
    """Print what is to be entered, and where."""
    if options.out.as_json:
        file = None if client.form == "hand" else str(_path(client, options))
        options.out.tell({"client": client.title, "file": file, "entry": client.entry(server)}, "")
    elif client.form == "hand":
        print(json.dumps(client.entry(server), indent=2))
    else:
        print(_connected(client, server, ""), end="")
        print(f"\nThis goes into {_path(client, options)}; --write puts it there.", file=sys.stderr)
    if client.says:
        print(client.says, file=sys.stderr)
    if server.token:
        print(f"The token is taken from {TOKEN_VARIABLE}.", file=sys.stderr)


def _connected(client: Client, server: Server, text: str) -> str:
    entry = client.entry(server)
    if client.form == "json":
        return jsonc.put(text, (*client.keys, NAME), entry)
    if client.form == "file":
        return f"{json.dumps(entry, indent=2)}\n"
    lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    section = "\n".join([f"[{client.keys[0]}.{NAME}]", *lines, ""])
    rest = _disconnected(client, text).rstrip("\n")
    changed = f"{rest}\n\n{section}" if rest else section
    if _servers(changed).pop(NAME, None) != entry:
        raise UnreadableInput("a section for docstow cannot be added to it")
    return changed


def _disconnected(client: Client, text: str) -> str:
    if client.form == "json":
        return jsonc.remove(text, (*client.keys, NAME))
    if client.form == "file":
        return ""
    if NAME not in (former := _servers(text)):
        return text
    removed = _SECTION.sub("", text).lstrip("\n")
    del former[NAME]
    if _servers(removed) != former:
        raise UnreadableInput("its section of docstow cannot be told from the others")
    return removed if not removed or removed.endswith("\n") else f"{removed}\n"


def _servers(text: str) -> dict[str, Any]:
    """Return what a TOML file has of servers."""
    try:
        return dict(toml.loads(text).get("mcp_servers", {}))
    except (toml.TomlError, TypeError, ValueError) as error:
        raise UnreadableInput(f"it is no TOML with servers ({error})") from error


def _change(client: Client, options: argparse.Namespace, change: Callable[[str], str]) -> None:
    """Change a client's file, with its former state beside it; or print what would change.

    Raises:
        InvalidParameter: the file is none that can be changed.
    """
    path = _path(client, options)
    # Settings may be links into a folder of their own, which stay links.
    place = path.resolve()
    try:
        before = place.read_text("utf-8") if place.exists() else ""
        after = change(before)
    except (OSError, UnicodeDecodeError, UnreadableInput) as error:
        raise InvalidParameter("client", f"{path} stays as it is: {error}") from error
    if after == before:
        options.out.tell({"file": str(path), "changed": False}, f"{path}: nothing to change.")
        return
    if options.dry_run:
        names = (str(path), str(path))
        lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
        diff = "".join(difflib.unified_diff(*lines, *names))
        options.out.tell({"file": str(path), "diff": diff}, diff.removesuffix("\n"))
        return
    former = path.with_name(path.name + _BACKUP)
    if before:
        shutil.copy2(place, former)
    if after:
        _replace(place, after)
    else:
        place.unlink(missing_ok=True)
    told = f"; the former state is {former.name}" if before else ""
    body = {"file": str(path), "changed": True, "former": str(former) if before else None}
    told = f"{path}: changed{told}. {client.title} reads it when it starts."
    options.out.tell(body, told, wrap=True)


def _replace(path: Path, text: str) -> None:
    """Put a file in place whole, with the mode of the one before or for its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if path.exists():
            shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_skill(client: Client, options: argparse.Namespace) -> None:
    """Write when to ask docstow, where agents look for skills."""
    folder = ".claude/skills" if client.title.startswith("Claude") else ".agents/skills"
    path = (options.project or Path.home()) / folder / _SKILL
    text = resources.files("docstow.cli").joinpath("skill.md").read_text("utf-8")
    if options.dry_run:
        options.out.tell({"file": str(path), "text": text}, f"{path} would be written.")
        return
    _replace(path, text)
    options.out.tell({"file": str(path), "changed": True}, f"{path}: written.")
