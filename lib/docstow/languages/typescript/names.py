"""What names mean across the files of Node packages: imports, re-exports and namespaces.

This room knows how a name leads to its declarations. It does not know what is inside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from docstow.languages.typescript import package_json as node_manifest
from docstow.languages.typescript.files import Folder, NodeFiles, Unit, split
from docstow.languages.typescript.package_json import BUILTIN
from docstow.languages.typescript.source.declarations import Detail, read_declaration
from docstow.languages.typescript.source.model import Declaration, Reference, Scope
from docstow.languages.typescript.source.types import Member

# What names of Node packages mean


_TYPES = ("class", "interface", "type", "enum")


_VALUES = ("class", "function", "constant", "value", "enum", "namespace")


@dataclass(frozen=True, slots=True)
class Space:
    """A module or a namespace: where names are looked up.

    Attributes:
        unit: its file.
        scopes: from the file's own to the innermost.
        host: of a block that adds to a module, that module: its names are seen too.
    """

    unit: Unit
    scopes: tuple[Scope, ...]
    host: Space | None = None

    @property
    def scope(self) -> Scope:
        """Its own scope."""
        return self.scopes[-1]

    def inner(self, scope: Scope) -> Space:
        """A namespace in it."""
        return replace(self, scopes=(*self.scopes, scope))


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """What a path means.

    Attributes:
        declared: declarations, merged by name.
        members: declarations within a class, interface or object; overloads are several.
        spaces: the modules that it is.
        unknown: whether it is there, but nothing more can be known.
    """

    declared: tuple[tuple[Space, Declaration], ...] = ()
    members: tuple[tuple[Space, Member], ...] = ()
    spaces: tuple[Space, ...] = ()
    unknown: bool = False

    def only(self, *, types: bool) -> Thing:
        """The same name in a type's place, or in a value's."""
        kinds = _TYPES if types else _VALUES
        kept = tuple(each for each in self.declared if each[1].kind in kinds)
        return replace(self, declared=kept) if kept else self

    def merged(self, other: Thing | None) -> Thing:
        """Both as one: declarations of the same name."""
        if other is None:
            return self
        known = {id(declaration) for _, declaration in self.declared}
        return Thing(
            self.declared + tuple(each for each in other.declared if id(each[1]) not in known),
            self.members + other.members,
            self.spaces + other.spaces,
            self.unknown and other.unknown,
        )


UNKNOWN = Thing(unknown=True)


_DEEPEST = 64


#: Looks up a member of what is not a module: a class, an object.
MemberOf = Callable[[Thing, str], Thing | None]


class NodeNames:
    """Looks names up.

    Args:
        files: the packages' files.
        find: the package of a name, where no ``node_modules`` above a file has it.
        member: how names within classes and objects are looked up.
    """

    def __init__(
        self, files: NodeFiles, find: Callable[[str], Folder | None], member: MemberOf
    ) -> None:
        self.files = files
        self._find = find
        self._member = member
        self._read: dict[Declaration, Detail] = {}
        self._spaces: dict[Unit, Space] = {}
        self._modules: dict[tuple[Unit, str], Space | None] = {}
        self._beside: dict[tuple[Unit, str], Unit | None] = {}
        self._added: dict[Scope, list[Space]] = {}
        self._asked: set[tuple[Scope, str]] = set()
        self._exported: dict[tuple[Space, str], Thing | None] = {}
        # Of modules with ``export *``: whose names are known, by name, and which are to be asked.
        self._stars: dict[Space, tuple[dict[str, Space], list[str]]] = {}
        # How often an answer was left out because it was being looked for.
        self._cuts = 0

    def read(self, space: Space, declaration: Declaration) -> Detail:
        """Read a declaration in full, once."""
        if declaration not in self._read:
            self._read[declaration] = read_declaration(space.unit.source, declaration)
        return self._read[declaration]

    def space(self, unit: Unit) -> Space:
        """A file as a module."""
        if unit not in self._spaces:
            self._spaces[unit] = Space(unit, (unit.source.scope,))
        return self._spaces[unit]

    def entry(self, folder: Folder, subpath: str, conditions: frozenset[str]) -> Space | None:
        """A module of a package: its own types, those of DefinitelyTyped, or its JavaScript."""
        unit = self.files.module(folder, subpath, conditions, typed=True)
        if unit is None and not folder.name.startswith("@types/"):
            typed = self._definitely_typed(folder)
            if typed is not None:
                unit = self.files.module(typed, subpath, conditions, typed=True)
        if unit is None:
            unit = self.files.module(folder, subpath, conditions, typed=False)
        if unit is None:
            return None
        space = self.space(unit)
        name = folder.name + subpath[1:]
        ambient = unit.source.ambient.get(name.removeprefix("@types/"))
        if ambient is not None and not unit.source.module:
            return Space(unit, (unit.source.scope, ambient))
        return space

    def _definitely_typed(self, folder: Folder) -> Folder | None:
        name = "@types/" + folder.name.removeprefix("@").replace("/", "__")
        return self.files.find(name, folder.root.parent) or self._find(name)

    def module(self, specifier: str, unit: Unit) -> Space | None:
        """The module that a specifier in a file means; None where it is not here."""
        key = (unit, specifier)
        if key not in self._modules:
            self._modules[key] = self._module(specifier, unit)
        return self._modules[key]

    def _module(self, specifier: str, unit: Unit) -> Space | None:
        if specifier.startswith("."):
            found = self._near(specifier, unit)
            return self.space(found) if found else None
        conditions = node_manifest.IMPORT if unit.esm else node_manifest.REQUIRE
        if specifier.startswith("#"):
            for path in node_manifest.imported(unit.folder.manifest, specifier, conditions):
                if path.startswith("."):
                    found = self.files.beside(unit.beside(unit.folder.root / "x"), path)
                    return self.space(found) if found else None
                return self.module(path, unit)
            return None
        if specifier in unit.source.ambient and not unit.source.module:
            return Space(unit, (unit.source.scope, unit.source.ambient[specifier]))
        name, subpath = split(specifier)
        if specifier.startswith("node:") or name in BUILTIN:
            folder = self.files.find("@types/node", unit.path.parent) or self._find("@types/node")
            return self.builtin(folder, specifier) if folder else None
        if name == unit.folder.name:
            folder = unit.folder
        else:
            folder = self.files.find(name, unit.path.parent) or self._find(name)
        if folder is None:
            folder = self.files.find(
                f"@types/{name.lstrip('@').replace('/', '__')}", unit.path.parent
            )
        return self.entry(folder, subpath, conditions) if folder else None

    def builtin(self, folder: Folder, specifier: str) -> Space | None:
        """A module of Node itself, as ``@types/node`` declares it."""
        found: Space | None = None
        for path, declared in self.files.ambients(folder):
            if declared != specifier or "/ts" in path[len(str(folder.root)) :]:
                continue
            unit = self.files.unit(Path(path), folder)
            scope = unit.source.ambient.get(specifier) if unit else None
            if unit is None or scope is None:
                continue
            block = Space(unit, (unit.source.scope, scope), found)
            if found is None:
                found = block
            elif all(each.scope is not scope for each in self.added(found)):
                self._added.setdefault(found.scope, []).append(block)
        return found

    def add(self, folder: Folder) -> None:
        """Take in what a package's files add to modules by ``declare module``."""
        self._exported.clear()
        self._stars.clear()
        for path, specifier in self.files.ambients(folder):
            unit = self.files.unit(folder.root / path, folder) if specifier else None
            scope = unit.source.ambient.get(specifier) if unit else None
            if unit is None or scope is None:
                continue
            target = self._added_to(specifier, unit)
            if target is None or target.scope is scope:
                continue
            for each in self._targets(target):
                block = Space(unit, (unit.source.scope, scope), each)
                self._added.setdefault(each.scope, []).append(block)

    def _added_to(self, specifier: str, unit: Unit) -> Space | None:
        """The module that a file adds to; one without imports may be a part of what it declares."""
        if unit.source.module:
            return self.module(specifier, unit)
        name, subpath = split(specifier)
        if name != unit.folder.name.removeprefix("@types/"):
            return None
        return self.entry(unit.folder, subpath, node_manifest.IMPORT)

    def _targets(self, module: Space) -> list[Space]:
        """What additions to a module belong to: of ``export =`` the namespace that it names."""
        inner = [
            space.inner(each.scope)
            for thing in self.whole(module)
            for space, each in thing.declared
            if each.scope is not None
        ]
        return list({each.scope: each for each in inner}.values()) or [module]

    def adds(self, specifiers: Iterable[str], folder: Folder) -> bool:
        """Whether a package's files speak for any of some modules."""
        wanted = set(specifiers)
        return any(split(found)[0] in wanted for _, found in self.files.ambients(folder))

    def added(self, space: Space) -> list[Space]:
        """The blocks that add to a module."""
        return self._added.get(space.scope, [])

    def export(self, space: Space, name: str) -> Thing | None:
        """What a module or namespace exports under a name; None if nothing is seen."""
        if (space, name) in self._exported:
            return self._exported[space, name]
        key = (space.scope, name)
        if key in self._asked or len(self._asked) > _DEEPEST:
            self._cuts += 1
            return None
        self._asked.add(key)
        cuts = self._cuts
        try:
            found = self._own(space, name)
            for block in self.added(space):
                extra = self._own(block, name)
                found = found.merged(extra) if found else extra
            if found is None and space.scope.equals:
                found = self._of_whole(space, name)
            if found is None and name != "default":
                found = self._starred(space, name)
            if cuts == self._cuts:
                self._exported[space, name] = found
            return found
        finally:
            self._asked.discard(key)

    def _own(self, space: Space, name: str) -> Thing | None:
        reference = space.scope.exports.get(name)
        found = None
        if reference is not None:
            found = self.follow(space, reference) or UNKNOWN
        elif not space.scope.explicit or space.host is not None:
            found = self._declared(space, name)
        return found

    def _of_whole(self, space: Space, name: str) -> Thing | None:
        for each in space.scope.equals:
            whole = self.follow(space, each)
            if whole is not None and name == "default" and not space.unit.source.script:
                return whole
            found = self._member(whole, name) if whole is not None else None
            if found is not None:
                return found
        return None

    def _starred(self, space: Space, name: str) -> Thing | None:
        if space not in self._stars:
            self._stars[space] = {}, list(space.scope.stars)
        # A module may have a thousand of these, and as many names that are asked for.
        known, others = self._stars[space]
        if name in known:
            return self.export(known[name], name)
        for specifier in tuple(others):
            near = self._near(specifier, space.unit)
            if near is not None and near not in self._spaces and not near.may_export(name):
                continue
            module = self.module(specifier, space.unit)
            if module is not None and self._is_plain(module):
                others.remove(specifier)
                for each in self.exports(module):
                    known.setdefault(each, module)
                if name not in known:
                    continue
            found = self.export(module, name) if module else None
            if found is not None:
                return found
        return None

    def _is_plain(self, module: Space) -> bool:
        """Whether a module exports what it names itself, and no more."""
        return not (module.scope.stars or module.scope.equals or module.host or self.added(module))

    def _near(self, specifier: str, unit: Unit) -> Unit | None:
        """The file that a relative specifier means."""
        if not specifier.startswith("."):
            return None
        key = (unit, specifier)
        if key not in self._beside:
            self._beside[key] = self.files.beside(unit, specifier)
        return self._beside[key]

    def whole(self, space: Space) -> list[Thing]:
        """What a module is besides its exports: ``export =``."""
        found = [self.follow(space, each) or UNKNOWN for each in space.scope.equals]
        return [each for each in found if space not in each.spaces]

    def follow(self, space: Space, reference: Reference) -> Thing | None:
        """What a reference stands for."""
        if reference.module:
            module = self.module(reference.module, space.unit)
            if module is None:
                return UNKNOWN
            if not reference.path:
                return Thing(spaces=(module,))
            first, *rest = reference.path
            found = self.export(module, first)
            if found is None and first == "default":
                found = Thing(spaces=(module,))
        else:
            first, *rest = reference.path
            found = self.local(space, first)
        for name in rest:
            found = self._member(found, name) if found is not None else None
        return found

    def local(self, space: Space, name: str) -> Thing | None:
        """What a name means where it is written, innermost scope first."""
        key = (space.scope, f" {name}")
        if key in self._asked or len(self._asked) > _DEEPEST:
            self._cuts += 1
            return None
        self._asked.add(key)
        try:
            for depth in range(len(space.scopes), 0, -1):
                outer = (
                    replace(space, scopes=space.scopes[:depth])
                    if depth < len(space.scopes)
                    else space
                )
                found = self._declared(outer, name)
                alias = outer.scope.imports.get(name)
                if alias is not None:
                    meant = self.follow(outer, alias) or UNKNOWN
                    found = found.merged(meant) if found else meant
                for block in self.added(outer) if outer.host is None else ():
                    extra = self._declared(block, name)
                    found = found.merged(extra) if found and extra else found or extra
                if found is not None:
                    return found
                if depth == len(space.scopes) and space.host is not None:
                    found = self.local(space.host, name)
                    if found is not None:
                        return found
            return self._global(space, name)
        finally:
            self._asked.discard(key)

    def _declared(self, space: Space, name: str) -> Thing | None:
        found = space.scope.names.get(name)
        return Thing(tuple((space, each) for each in found)) if found else None

    def _global(self, space: Space, name: str) -> Thing | None:
        declared = space.unit.source.ambient_globals.names.get(name)
        if not declared:
            return None
        inside = Space(space.unit, (space.unit.source.scope, space.unit.source.ambient_globals))
        # Other packages add to globals, which nobody can count.
        return Thing(tuple((inside, each) for each in declared)).merged(UNKNOWN)

    def exports(self, space: Space, seen: frozenset[Scope] = frozenset()) -> Iterator[str]:
        """Names that a module or namespace exports, those of ``export *`` included."""
        if space.scope in seen:
            return
        yield from space.scope.exports
        if not space.scope.explicit:
            yield from space.scope.names
        for block in self.added(space):
            yield from block.scope.names
        for specifier in space.scope.stars:
            module = self.module(specifier, space.unit)
            if module is not None:
                inner = self.exports(module, seen | {space.scope})
                yield from (name for name in inner if name != "default")

    def complete(self, space: Space, seen: frozenset[Scope] = frozenset()) -> bool:
        """Whether the exports that are seen are all; what it is as a whole is left out."""
        if space.scope in seen:
            return True
        if space.scope.dynamic or len(seen) > _DEEPEST:
            return False
        for specifier in space.scope.stars:
            module = self.module(specifier, space.unit)
            if module is None or not self.complete(module, seen | {space.scope}):
                return False
            if module.scope.equals:
                return False
        return all(not block.scope.dynamic for block in self.added(space))
