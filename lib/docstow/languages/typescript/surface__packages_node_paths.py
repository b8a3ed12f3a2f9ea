"""Paths such as ``zod.ZodObject.extend``: what they lead to in one Node package.

This room knows modules as they are imported and required, and what other packages add to them. It
does not know how files are found or types are put together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.languages.shared.project__packages_model import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.typescript import package_json as node_manifest
from docstow.languages.typescript.files import Folder, NodeFiles
from docstow.languages.typescript.members import NodeMembers
from docstow.languages.typescript.names import NodeNames
from docstow.languages.typescript.names__packages_node_things import Space, Thing

if TYPE_CHECKING:
    from docstow.languages.typescript.surface import NodeSurface

#: How far a package's dependencies are asked what they add to it.
_MOST_DEPENDENCIES = 150
_DEEPEST = 3


class NodePaths:
    """Looks up what the paths of one package lead to.

    Args:
        package: installed.
        boundary: what may be read.
        siblings: the surface of another package of the project by name.
        installed: the project's Node packages.
        builtin: the module of Node itself that is asked about instead.
        files: the project's files.
    """

    def __init__(
        self,
        package: Package,
        boundary: Boundary,
        siblings: Callable[[str], NodeSurface | None],
        installed: Callable[[], Iterable[Package]],
        builtin: str,
        files: NodeFiles,
    ) -> None:
        self.package = package
        self.name = builtin or package.name
        self._builtin = builtin
        self._siblings = siblings
        self._installed = installed
        self.boundary = boundary
        self.files = files
        self.names = NodeNames(files, self._elsewhere, self._member)
        self.members = NodeMembers(self.names)
        self._whole = False
        self._entries: dict[str, list[Space]] = {}
        root = package.files_root
        self.folder: Folder | None = files.folder(root) if root is not None else None

    def thing(self, path: str) -> Thing | None:
        """What a path leads to."""
        module, names = self.split(path)
        if module is None:
            return None
        for attempt in range(2):
            for index, space in enumerate(self.spaces(module)):
                # Only of the first is the module itself offered where a default is missing.
                if index and names[:1] == ["default"] and "default" not in space.scope.exports:
                    continue
                found = self.within(Thing(spaces=(space,)), names)
                if found is not None:
                    return found
            if attempt or self._whole:
                return None
            self.gather()
        return None

    def within(self, thing: Thing, names: list[str]) -> Thing | None:
        """What names below something lead to."""
        found: Thing | None = thing
        for name in names:
            found = self.members.member(found, name) if found is not None else None
        return found

    def split(self, path: str) -> tuple[str | None, list[str]]:
        """The module that a path begins with, as a subpath, and the names behind it."""
        rest = path.removeprefix(self.name)
        if rest == path or (rest and rest[0] not in "./"):
            return None, []
        if rest.startswith("/"):
            parts = rest.split(".")
            for count in range(len(parts), 0, -1):
                subpath = "." + ".".join(parts[:count])
                if self.spaces(subpath):
                    return subpath, parts[count:]
            return None, []
        return ".", rest[1:].split(".") if rest else []

    def spaces(self, subpath: str) -> list[Space]:
        """A module as it is imported and, if that is another file, as it is required."""
        if subpath not in self._entries:
            found: list[Space] = []
            if self._builtin and self.folder is not None:
                module = self.names.builtin(self.folder, self.name + subpath[1:])
                self._entries[subpath] = [module] if module else []
                return self._entries[subpath]
            for conditions in (node_manifest.IMPORT, node_manifest.REQUIRE):
                entry = self.names.entry(self.folder, subpath, conditions) if self.folder else None
                if entry is not None and all(entry.scope is not each.scope for each in found):
                    found.append(entry)
            self._entries[subpath] = found
        return self._entries[subpath]

    def member_names(self, thing: Thing) -> Iterator[str]:
        """The names of what it has, as far as they may be used; some more than once."""
        members = self.members.of(thing)
        for name, found in members.fields.items():
            if not all(member.hidden for _, member in found):
                yield name
        for space in members.spaces:
            yield from (name for name in self.names.exports(space) if name.isidentifier() or name)

    def _member(self, thing: Thing, name: str) -> Thing | None:
        return self.members.member(thing, name)

    def _elsewhere(self, name: str) -> Folder | None:
        """A package that the project has, wherever it is."""
        location = self.boundary.root / self.package.location
        found = self.files.find(name, location.parent)
        if found is None:
            surface = self._siblings(name)
            found = surface.folder if surface is not None else None
        return found

    def gather(self) -> None:
        """Take in what this package's files and others' add to its declarations."""
        if self._whole or self.folder is None:
            return
        self._whole = True
        own = [self.folder, *(space.unit.folder for space in self.spaces("."))]
        known = {folder.root: folder for folder in self._dependencies(own)}
        for folder in known.values():
            self.names.add(folder)
        names = {folder.name for folder in own} | {self.package.name}
        for package in self._installed():
            other = self.files.folder(package.files_root) if package.files_root else None
            if other is None or other.root in known or not _knows(other, names):
                continue
            if self.names.adds(names, other):
                self.names.add(other)
        self.members = NodeMembers(self.names)

    def _dependencies(self, first: list[Folder]) -> Iterator[Folder]:
        """Packages and what they depend on, which may add to each other."""
        waiting = deque((folder, 0) for folder in first)
        seen: set[Path] = set()
        while waiting and len(seen) < _MOST_DEPENDENCIES:
            folder, depth = waiting.popleft()
            if folder.root in seen:
                continue
            seen.add(folder.root)
            yield folder
            listed = folder.manifest.get("dependencies")
            for name in listed if isinstance(listed, dict) and depth < _DEEPEST else ():
                found = self.files.find(str(name), folder.root)
                if found is not None:
                    waiting.append((found, depth + 1))


def _knows(folder: Folder, names: set[str]) -> bool:
    """Whether a package depends on any of some others, and so may add to them."""
    for field in ("dependencies", "peerDependencies", "optionalDependencies"):
        listed = folder.manifest.get(field)
        if isinstance(listed, dict) and not names.isdisjoint(listed):
            return True
    return False
