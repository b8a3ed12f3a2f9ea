"""The public surface of one installed Node package, read from its declarations.

This room knows how questions are asked of a package: paths such as ``zod.ZodObject.extend``. It
does not know how files are found or types are put together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

from docstow.languages.shared.project__packages_model import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import Everything, Home, Openness, Symbol
from docstow.languages.shared.surface__packages_values import Value
from docstow.languages.typescript import package_json as node_manifest
from docstow.languages.typescript import symbols as node_symbols
from docstow.languages.typescript.calls__packages_node_value import NodeValue
from docstow.languages.typescript.files import Folder, split
from docstow.languages.typescript.names__packages_node_things import Thing
from docstow.languages.typescript.surface__packages_node_definitions import Definition, definitions
from docstow.languages.typescript.surface__packages_node_paths import NodePaths
from docstow.languages.typescript.surface__packages_node_shared import Shared
from docstow.languages.typescript.surface__packages_node_subpaths import subpaths
from docstow.languages.typescript.value_kinds import UNKNOWN, Held, Kinds, is_unknown
from docstow.languages.typescript.values import NodeValues

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
