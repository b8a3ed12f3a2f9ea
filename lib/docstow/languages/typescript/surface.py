"""The public surface of one installed Node package, read from its declarations.

This room knows how questions are asked of a package: paths such as ``zod.ZodObject.extend``. It
does not know how files are found or types are put together.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from docstow.languages.shared.project import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import Everything, Home, Openness, Symbol, Value
from docstow.languages.typescript import package_json as node_manifest
from docstow.languages.typescript import symbols as node_symbols
from docstow.languages.typescript.calls import NodeValue
from docstow.languages.typescript.files import Folder, NodeFiles, split
from docstow.languages.typescript.globals import Globals
from docstow.languages.typescript.members import NodeMembers
from docstow.languages.typescript.names import NodeNames, Space, Thing
from docstow.languages.typescript.source.model import Declaration
from docstow.languages.typescript.value_kinds import UNKNOWN, Held, Kinds, is_unknown
from docstow.languages.typescript.values import NodeValues

# Paths such as ``zod.ZodObject.extend``


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


# Which public names of a Node package are its own, and where they are defined.


@dataclass(frozen=True, slots=True)
class Definition:
    """A public name, and where its definition is.

    Attributes:
        name: the last of its path.
        file: absolute.
        line: from 1.
        own: whether it is written within what has it, and not inherited or referred to.
        tell: makes the symbol.
    """

    name: str
    file: str
    line: int
    own: bool
    tell: Callable[[], Symbol]


def definitions(path: str, paths: NodePaths) -> Iterator[Definition]:
    """The public names of a module, class or object that belong to this package.

    Each is told in full only when it is asked to.
    """
    paths.gather()
    thing = paths.thing(path)
    if thing is None or paths.folder is None:
        return
    inside = {(each.unit.path, *_lines(decl)) for each, decl in thing.declared}
    homes = {paths.folder.root, *(space.unit.folder.root for space in paths.spaces("."))}
    homes |= {space.unit.folder.root for space, _ in thing.declared}
    for name in dict.fromkeys(paths.member_names(thing)):
        inner = paths.members.member(thing, name)
        place = node_symbols.place(inner) if inner is not None else None
        # What a module exports is shown wherever it comes from, and what a class inherits
        # from its own package or one like it.
        if (
            inner is None
            or place is None
            or not (
                thing.spaces or place[0].unit.folder.root in homes or _is_alike(place[0], homes)
            )
        ):
            continue
        space, line = place
        own = any(p == space.unit.path and a <= line <= b for p, a, b in inside)
        tell = partial(node_symbols.symbol, f"{path}.{name}", inner, paths.members)
        yield Definition(name, str(space.unit.path), line, own, tell)


def _is_alike(space: Space, homes: set[Path]) -> bool:
    """Whether a definition is in DefinitelyTyped, as one of some packages is."""
    name = space.unit.folder.name
    typed = any(home.parent.name == "@types" for home in homes)
    return typed and name.startswith("@types/") and name != "@types/node"


def _lines(declaration: Declaration) -> tuple[int, int]:
    return declaration.span.line, declaration.span.end_line


# What the surfaces of one project's Node packages have in common.


class Shared:
    """What the surfaces of one project have in common: files that were read, what is global.

    Args:
        boundary: what may be read.
        siblings: the surface of a package of the project by name.
        installed: the project's packages.
    """

    def __init__(
        self,
        boundary: Boundary,
        siblings: Callable[[str], NodeSurface | None],
        installed: Callable[[], Iterable[Package]],
    ) -> None:
        self.files = NodeFiles(boundary)
        self._siblings = siblings
        self.globals = Globals(self.files, self._find, installed)

    def _find(self, name: str) -> Folder | None:
        surface = self._siblings(name)
        return surface.folder if surface is not None else None


# The modules of a Node package that can be imported


_ENDS = (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs")


def subpaths(folder: Folder, files: NodeFiles) -> Iterator[str]:
    """The modules of a package that can be imported: ``.``, ``./fp``."""
    listed = node_manifest.subpaths(folder.manifest)
    for each in listed or ():
        if "*" not in each and not each.endswith((".json", ".css", "/")):
            yield each
    patterns = [each for each in listed or () if "*" in each]
    if listed is not None and not patterns:
        return
    for file in files.boundary.walk(folder.root, {"node_modules"}):
        relative = "./" + file.relative_to(folder.root).as_posix()
        stem = next((relative.removesuffix(end) for end in _ENDS if relative.endswith(end)), "")
        if not stem:
            continue
        if listed is None:
            yield "." if stem == "./index" else stem.removesuffix("/index")
        else:
            yield from _by_pattern(stem, patterns)


def _by_pattern(stem: str, patterns: list[str]) -> Iterator[str]:
    """Names of a file by the patterns of ``exports``, where they name files as they are."""
    for pattern in patterns:
        before, _, after = pattern.partition("*")
        end = next((end for end in _ENDS if after.endswith(end)), "")
        if stem.startswith(before):
            yield stem + (end if after == end else after)


#: How many modules and things are looked into for paths to choose suggestions from.
_MOST_MODULES = 30


_MOST_OWNERS = 400


_NODE_TYPES = "@types/node"


#: Modules that bundlers make of other files.
_NOT_CODE = re.compile(r"\.(?!(?:js|mjs|cjs|ts)$)[a-z0-9]{2,5}$")


class _Told(Mapping[str, Symbol]):
    """Symbols that are made when they are asked for."""

    def __init__(self, tell: Mapping[str, Callable[[], Symbol]]) -> None:
        self._tell = tell
        self._told: dict[str, Symbol] = {}

    def __getitem__(self, name: str) -> Symbol:
        if name not in self._told:
            self._told[name] = self._tell[name]()
        return self._told[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tell)

    def __len__(self) -> int:
        return len(self._tell)


class NodeSurface:
    """What a Node package offers to those who import it.

    Paths are the module's name, then names joined by dots: ``lodash/fp.map``. The default export
    is ``default``. Members of a class are those of its instances and its own.

    Args:
        package: installed.
        boundary: what may be read.
        siblings: the surface of another package of the project by name.
        installed: the project's Node packages, any of which may add to this one's declarations.
        builtin: the module of Node itself (``node:fs``) that is asked about instead, of which the
            package, ``@types/node``, has the declarations.
        shared: what the surfaces of a project have in common.
    """

    def __init__(
        self,
        package: Package,
        boundary: Boundary,
        siblings: Callable[[str], NodeSurface | None] = lambda _: None,
        installed: Callable[[], Iterable[Package]] = tuple,
        builtin: str = "",
        shared: Shared | None = None,
    ) -> None:
        self.package = package
        self.name = builtin or package.name
        self._builtin = builtin
        self._installed = installed
        self.boundary = boundary
        self._shared = shared or Shared(boundary, siblings, installed)
        self._paths = NodePaths(package, boundary, siblings, installed, builtin, self._shared.files)
        self._modules: tuple[str, ...] | None = None
        self.folder = self._paths.folder

    def forget(self) -> None:
        """Drop what was worked out for one piece of code."""
        self._values.forget()

    def modules(self) -> tuple[str, ...]:
        """Names of the modules that can be imported; the entry module first."""
        if self._modules is None:
            name = self.name
            own = None if self._builtin else self.folder
            listed = subpaths(own, self._paths.files) if own is not None else ()
            found = sorted(f"{name}{each[1:]}" for each in listed if each != ".")
            self._modules = (
                (name, *dict.fromkeys(found)) if self._paths.spaces(".") else tuple(found)
            )
        return self._modules

    def symbol(self, path: str) -> Symbol | None:
        """What a path means; None: not there, or it cannot be known."""
        thing = self._paths.thing(path)
        if thing is not None:
            return node_symbols.symbol(path, thing, self._paths.members)
        owner, _, name = path.rpartition(".")
        above = self._paths.thing(owner) if owner else None
        return node_symbols.builtin(path, name, above, self._paths.members) if above else None

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """The public names of a module, class, interface, enumeration or object.

        Each is told in full only when it is asked for.
        """
        if self._paths.thing(path) is None:
            return None
        self._paths.gather()
        thing = self._paths.thing(path)
        found: dict[str, Callable[[], Symbol]] = {}
        for name in dict.fromkeys(self._paths.member_names(thing)) if thing is not None else ():
            inner = self._paths.members.member(thing, name) if thing is not None else None
            if inner is not None:
                full = f"{path}.{name}"
                found[name] = partial(node_symbols.symbol, full, inner, self._paths.members)
        return _Told(found) if found else None

    def listed(self, path: str) -> Iterator[str]:
        """The public names of a module, class, interface or object, not looked into.

        None where unknown. Files are read only as far as names are taken, and what other packages
        add to them is left out.
        """
        thing = self._paths.thing(path)
        seen: set[str] = set()
        for name in self._paths.member_names(thing) if thing is not None else ():
            if name not in seen:
                seen.add(name)
                yield name

    def certain(self, path: str) -> bool:
        """Whether a name that is not seen in a module, class or object is not there."""
        module, names = self._paths.split(path)
        if module is None:
            return False
        self._paths.gather()
        things = [
            self._paths.within(Thing(spaces=(space,)), names)
            for space in self._paths.spaces(module)
        ]
        found = [thing for thing in things if thing is not None]
        return bool(found) and all(map(self._paths.members.complete, found))

    def openness(self, path: str) -> Openness:
        """Declarations tell only whether all names were seen."""
        return Openness.CLOSED if self.certain(path) else Openness.ANY

    def names(self) -> Iterator[str]:
        """Public paths: what the modules export, then the members of what the entry exports."""
        first: list[tuple[str, Thing]] = []
        for module in self._named_modules():
            for space in self._paths.spaces("." + module.removeprefix(self.name))[:1]:
                owner = Thing(spaces=(space,))
                for name in dict.fromkeys(self._paths.member_names(owner)):
                    yield f"{module}.{name}"
                    if module == self.name and len(first) < _MOST_OWNERS:
                        first.append((name, owner))
        for name, owner in first:
            inner = self._paths.members.member(owner, name)
            for each in self._paths.member_names(inner) if inner is not None else ():
                yield f"{self.name}.{name}.{each}"

    def _named_modules(self) -> Iterator[str]:
        """The entry, and some of the modules that the package names one by one."""
        yield self.name
        manifest = self.folder.manifest if self.folder else {}
        named = node_manifest.subpaths(manifest) or []
        plain = [each for each in named if each != "." and "*" not in each]
        yield from (self.name + each[1:] for each in plain[:_MOST_MODULES])

    def place(self, path: str) -> Path | None:
        """The file in which a path's definition is, whichever package it belongs to."""
        thing = self._paths.thing(path)
        if thing is None:
            return None
        found = node_symbols.place(thing)
        return found[0].unit.path if found is not None else None

    def everything(self, path: str) -> Everything:
        """All names of a module, class or object, and which other packages they come from."""
        self._paths.gather()
        thing = self._paths.thing(path)
        if thing is None:
            return Everything({}, certain=False)
        members = self._paths.members.of(thing)
        folders = [space.unit.folder for space, _ in thing.declared]
        folders += [space.unit.folder for space, _ in thing.members]
        folders += [space.unit.folder for space in (*thing.spaces, *members.spaces)]
        names: dict[str, Home | None] = dict.fromkeys(("prototype",))
        for name in dict.fromkeys((*members.fields, *self._paths.member_names(thing), "default")):
            inner = self._paths.members.member(thing, name)
            if inner is None:
                continue
            folders += [space.unit.folder for space, _ in members.fields.get(name, ())]
            place = node_symbols.place(inner)
            names[name] = (str(place[0].unit.path), place[1], name) if place else None
        return Everything(names, self.certain(path), self._others(folders))

    def through(self, path: str) -> tuple[str, ...]:
        """``name version`` of other packages that a definition comes from."""
        thing = self._paths.thing(path)
        spaces = (space for space, _ in (*thing.declared, *thing.members)) if thing else ()
        return self._others([space.unit.folder for space in spaces])

    def _others(self, folders: Iterable[Folder]) -> tuple[str, ...]:
        return tuple(sorted({_version(e) for e in folders if e.name != self.package.name}))

    def home(self, path: str) -> Home | None:
        """What tells the definition of a path from others."""
        thing = self._paths.thing(path)
        place = node_symbols.place(thing) if thing is not None else None
        name = path.rpartition(".")[2]
        return (str(place[0].unit.path), place[1], name) if place is not None else None

    def beside(self) -> list[str]:
        """Names of the packages of the project, any of which may have added to this one."""
        return sorted({each.name for each in self._installed() if each.ecosystem == "node"})

    def definitions(self, path: str) -> Iterator[Definition]:
        """The public names of a module, class or object that belong to this package.

        Each is told in full only when it is asked to.
        """
        return definitions(path, self._paths)

    def value(self, path: str) -> NodeValue | None:
        """What an exported path is as a value."""
        module, names = self._paths.split(path)
        spaces = self._paths.spaces(module) if module is not None else []
        self._paths.gather()
        for space in spaces:
            kinds = self._values.value(Thing(spaces=(space,)))
            for name in names:
                found = self._values.member(kinds, name)
                if not found and name == "default" and not space.unit.esm:
                    found = kinds
                kinds = found
            if kinds and not is_unknown(kinds):
                return NodeValue(self._values, kinds)
        return None

    def typed(self, path: str, types: Sequence[Value | None]) -> NodeValue | None:
        """What has an exported type."""
        module, names = self._paths.split(path)
        spaces = self._paths.spaces(module) if module is not None else []
        self._paths.gather()
        for space in spaces:
            thing: Thing | None = Thing(spaces=(space,))
            for name in names:
                thing = self._values.scopes.qualified(thing, name) if thing is not None else None
            if thing is not None:
                return self._made(self._values.type(thing, self._arguments(types)))
        return None

    def lacks_module(self, specifier: str) -> bool:
        """Whether it certainly has no module of that name: no file, and no ``exports`` for it."""
        if self.folder is None or (self.package.name == _NODE_TYPES and not self._builtin):
            return False
        if self._builtin:
            return specifier.startswith("node:") and not self._paths.spaces(".")
        subpath = split(specifier)[1]
        if subpath == "." or self._paths.spaces(subpath) or _NOT_CODE.search(subpath):
            return False
        folders = [self.folder, *(space.unit.folder for space in self._paths.spaces("."))]
        if any(node_manifest.may_have(each.manifest, subpath) for each in folders):
            return False
        for folder in folders:
            if folder.manifest.get("exports") is None and self._paths.files.has(folder, subpath):
                return False
            if any(named == specifier for _, named in self._paths.files.ambients(folder)):
                return False
        return not self._shared.globals.adds_own(specifier)

    def global_value(self, name: str) -> NodeValue | None:
        """What a global name is."""
        return self._made(self._values.global_value(name))

    def global_type(self, name: str, types: Sequence[Value | None]) -> NodeValue | None:
        """What has a type of the language itself."""
        return self._made(self._values.global_type(name, self._arguments(types)))

    def _made(self, kinds: Kinds) -> NodeValue | None:
        return NodeValue(self._values, kinds) if kinds and not is_unknown(kinds) else None

    def _arguments(self, types: Sequence[Value | None]) -> list[Held]:
        known = [each.kinds if isinstance(each, NodeValue) else UNKNOWN for each in types]
        return [Held(None, None, kinds) for kinds in known]

    @cached_property
    def _values(self) -> NodeValues:
        return NodeValues(self._paths.names, self._shared.globals)


def _version(folder: Folder) -> str:
    return f"{folder.name} {folder.manifest.get('version', '')}"
