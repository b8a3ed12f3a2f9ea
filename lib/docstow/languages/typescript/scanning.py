"""How projects are scanned for Node: ``node_modules``, manifests and lock files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

from docstow.languages.shared.project import Environment, Locked, Problem, ordered
from docstow.languages.shared.sandbox import shown
from docstow.languages.shared.scanning import (
    Finder,
    LockFile,
    ReadNames,
    ScanCache,
    Scanning,
    Walk,
    table_at,
)
from docstow.languages.typescript import lockfiles
from docstow.languages.typescript.environment import NodeModules

_YARN = re.compile(r"^# yarn lockfile|^__metadata:", re.MULTILINE)
_PNPM = re.compile(r"^lockfileVersion:", re.MULTILINE)
#: How to have a form that can be read.
_ADVICE = {"bun.lockb": "to have bun.lock, run bun install --save-text-lockfile"}
_INSTALL = "npm install"


class NodeFinder(Finder):
    """Finds ``node_modules`` folders, those below others' left out."""

    claimed = linked = frozenset(("node_modules",))

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._found: list[Path] = []
        self._plug_and_play: list[Path] = []

    def claim(self, folder: Path) -> None:
        """Note a ``node_modules``."""
        if folder not in self._found:
            self._found.append(folder)

    def note_file(self, file: Path) -> None:
        """Note a folder in which Yarn keeps packages in archives."""
        if file.name in (".pnp.cjs", ".pnp.js"):
            self._plug_and_play.append(file.parent)

    def environments(self, asked: frozenset[str], memory: ScanCache) -> list[Environment]:
        """Read the packages of each folder."""
        seen: set[str] = set()
        boundary = self._walk.boundary
        all_modules = [NodeModules(folder, boundary, memory, seen) for folder in self._found]
        # What a member of a workspace asks for may be in another's store: first come links to it.
        tops = [modules.list_top() for modules in all_modules]
        found = []
        for folder, modules, top in zip(self._found, all_modules, tops, strict=True):
            packages = [
                *(replace(each, direct=each.import_names[0] in asked) for each in top),
                *modules.list_nested(),
            ]
            self._walk.problems += modules.problems
            if packages:
                location, manager = shown(folder, boundary), modules.manager
                listed = ordered(packages)
                found.append(Environment("node", "node_modules", location, manager, listed))
        return found

    def remarks(self) -> list[Problem]:
        """Return how to have packages that Yarn keeps in archives."""
        reason = (
            "Yarn Plug'n'Play keeps packages in archives, which are not read: set nodeLinker: "
            "node-modules in .yarnrc.yml and run yarn install"
        )
        return [Problem(shown(each, self._walk.boundary), reason) for each in self._plug_and_play]


def package_json(text: str) -> set[str]:
    """Read the dependencies of all kinds, by their names as written."""
    read = json.loads(text.removeprefix("\ufeff"))
    if not isinstance(read, dict):
        raise ValueError("not an object")
    kinds = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    return {name for kind in kinds for name in table_at(read, kind)}


def _recognise(text: str) -> ReadNames | None:
    return package_json if text.lstrip().startswith("{") else None


def _lock_text(text: str) -> Iterator[Callable[[str], list[Locked]]]:
    if text.lstrip().startswith("{"):
        yield lockfiles.parse_npm
        yield lockfiles.parse_bun
    elif _YARN.search(text):
        yield lockfiles.parse_yarn
    elif _PNPM.search(text):
        yield lockfiles.parse_pnpm


def _advice(names: Collection[str]) -> str:
    return _INSTALL if set(names) == {"package.json"} else ""


SCANNING = Scanning(
    finder=NodeFinder,
    manifests=("package.json",),
    read_manifest=lambda file, _: package_json if file.name == "package.json" else None,
    manifest_of=_recognise,
    lock_files={
        name: LockFile(lockfiles.MANAGERS[name], read, _ADVICE.get(name, ""))
        for name, read in lockfiles.NODE.items()
    },
    lock_text=_lock_text,
    locked_language="javascript",
    install=_INSTALL,
    advice=_advice,
)
