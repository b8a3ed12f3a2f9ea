"""Names across the files of Node packages: imports, re-exports, namespaces and augmentations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from docstow.languages.typescript import package_json
from docstow.languages.typescript.files import (
    Folder,
    PackageFiles,
    SourceFile,
    name_types,
    split_specifier,
)
from docstow.languages.typescript.source.declarations import Detail, read_declaration
from docstow.languages.typescript.source.model import Declaration, Member, Reference, Scope, Type

_TYPES = ("class", "interface", "type", "enum")
_VALUES = ("class", "function", "constant", "value", "enum", "namespace")
_DECLARED_MODULE = re.compile(rb"\bdeclare\s+module\s+[\"']")
#: Folders with the declarations for older compilers: ``/ts5.6``.
_OLDER = re.compile(r"/ts\d")
#: References within each other beyond which a name is not followed.
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Namespace:
    """A module or a namespace: where names are looked up.

    Attributes:
        file: its file.
        scopes: from the file's own to the innermost.
        host: of a block that augments a module, that module, whose names it sees too.
        bindings: within an alias, what its type parameters stand for, and where that is written.
    """

    file: SourceFile
    scopes: tuple[Scope, ...]
    host: Namespace | None = None
    bindings: Bindings | None = None

    def bound(self, name: str) -> tuple[Type, Namespace] | None:
        """Return what a type parameter stands for."""
        for parameter, type_, namespace in self.bindings.each if self.bindings is not None else ():
            if parameter == name:
                return type_, namespace
        return None

    @property
    def scope(self) -> Scope:
        """Its own scope."""
        return self.scopes[-1]

    @property
    def package(self) -> str:
        """The name of its package."""
        return self.file.folder.name

    def inner(self, scope: Scope) -> Namespace:
        """Return a namespace in it."""
        return replace(self, scopes=(*self.scopes, scope))


@dataclass(frozen=True, slots=True, eq=False)
class Bindings:
    """What the type parameters of an alias stand for: name, type, and where that is written."""

    each: tuple[tuple[str, Type, Namespace], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """What a name or a path means.

    Attributes:
        declared: declarations, merged by name.
        members: declarations within a class, interface or object; overloads are several.
        namespaces: the modules that it is.
        unknown: whether it exists and nothing more can be known.
    """

    declared: tuple[tuple[Namespace, Declaration], ...] = ()
    members: tuple[tuple[Namespace, Member], ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    unknown: bool = False

    def only(self, *, types: bool) -> Entity:
        """Return what the name means in a type's place, or in a value's."""
        kinds = _TYPES if types else _VALUES
        kept = tuple(each for each in self.declared if each[1].kind in kinds)
        return replace(self, declared=kept) if kept else self

    def all_namespaces(self) -> Iterator[Namespace]:
        """Iterate over the namespaces that it declares or is."""
        yield from (space.inner(each.scope) for space, each in self.declared if each.scope)
        yield from self.namespaces

    def merge(self, other: Entity | None) -> Entity:
        """Return both as one."""
        if other is None:
            return self
        known = {id(declaration) for _, declaration in self.declared}
        return Entity(
            self.declared + tuple(each for each in other.declared if id(each[1]) not in known),
            self.members + other.members,
            self.namespaces + other.namespaces,
            self.unknown and other.unknown,
        )


UNKNOWN = Entity(unknown=True)
#: Resolves a member of what is not a module: a class, an object.
ResolveMember = Callable[[Entity, str], Entity | None]


class NameResolver:
    """Resolves names.

    Args:
        files: the files of packages.
        find: finds the package of a name that no ``node_modules`` above a file has.
        member: resolves names within classes and objects.
    """

    def __init__(
        self, files: PackageFiles, find: Callable[[str], Folder | None], member: ResolveMember
    ) -> None:
        self.files = files
        self._find = find
        self._member = member
        self._read: dict[Declaration, Detail] = {}
        self._namespaces: dict[SourceFile, Namespace] = {}
        self._blocks: dict[SourceFile, list[Namespace]] = {}
        self._globals: dict[Path, list[Namespace]] = {}
        self._modules: dict[tuple[SourceFile, str], Namespace | None] = {}
        self._relative: dict[tuple[SourceFile, str], SourceFile | None] = {}
        self._augmentations: dict[Scope, list[Namespace]] = {}
        self._resolving: set[tuple[Scope, str]] = set()
        self._exported: dict[tuple[Namespace, str], Entity | None] = {}
        # Of modules with ``export *``: the modules by known name, and the others' specifiers.
        self._stars: dict[Namespace, tuple[dict[str, Namespace], list[str]]] = {}
        # How often a name was not followed, because it was being resolved.
        self._cuts = 0

    def read(self, namespace: Namespace, declaration: Declaration) -> Detail:
        """Read a declaration in full, once."""
        if declaration not in self._read:
            self._read[declaration] = read_declaration(namespace.file.source, declaration)
        return self._read[declaration]

    def namespace_of(self, file: SourceFile) -> Namespace:
        """Return a file as a module."""
        if file not in self._namespaces:
            self._namespaces[file] = Namespace(file, (file.source.scope,))
        return self._namespaces[file]

    def resolve_entry(
        self, folder: Folder, subpath: str, conditions: frozenset[str]
    ) -> Namespace | None:
        """Return a module of a package: its own types, DefinitelyTyped's, or its JavaScript."""
        file = self.files.find_module(folder, subpath, conditions, typed=True)
        if file is None and not folder.name.startswith("@types/"):
            typed = self._definitely_typed(folder)
            if typed is not None:
                file = self.files.find_module(typed, subpath, conditions, typed=True)
        if file is None:
            file = self.files.find_module(folder, subpath, conditions, typed=False)
        if file is None:
            return None
        namespace = self.namespace_of(file)
        name = folder.name + subpath[1:]
        ambient = file.source.ambient.get(name.removeprefix("@types/"))
        if ambient is not None and not file.source.module:
            return Namespace(file, (file.source.scope, ambient))
        if not file.source.module and namespace.scope not in self._augmentations:
            # A script and those that it references declare their names together.
            blocks = [replace(e, host=namespace) for e in self._global_blocks(file)]
            self._augmentations[namespace.scope] = blocks
        return namespace

    def _global_blocks(self, entry: SourceFile) -> list[Namespace]:
        """Return what files that a file references, and its global blocks, declare globally."""
        if entry not in self._blocks:
            self._blocks[entry] = found = []
            for file in (entry, *self.files.references(entry)):
                source = file.source
                if file is not entry and not source.module and source.scope.names:
                    found.append(Namespace(file, (source.scope,)))
                if source.ambient_globals.names:
                    found.append(Namespace(file, (source.scope, source.ambient_globals)))
        return self._blocks[entry]

    def _globals_of(self, folder: Folder) -> list[Namespace]:
        """Return what a package declares globally."""
        if folder.root not in self._globals:
            entry = self.files.find_module(folder, ".", package_json.IMPORT, typed=True)
            self._globals[folder.root] = self._global_blocks(entry) if entry is not None else []
        return self._globals[folder.root]

    def ambient_modules(self, entry: SourceFile) -> list[str]:
        """Return the modules that a file and those that it references declare by name.

        What has no name of its own (patterns such as ``*.svg``) is left out; the names of Node's
        own modules with their scheme come first.
        """
        names = [
            specifier
            for file in (entry, *self.files.references(entry))
            if _DECLARED_MODULE.search(file.body) and not file.source.module
            for specifier in file.source.ambient
            if "*" not in specifier and not specifier.startswith(".")
        ]
        return sorted(dict.fromkeys(names), key=lambda name: ":" not in name)

    def _definitely_typed(self, folder: Folder) -> Folder | None:
        name = name_types(folder.name)
        return self.files.find(name, folder.root.parent) or self._find(name)

    def resolve_module(self, specifier: str, file: SourceFile) -> Namespace | None:
        """Return the module that a specifier in a file means; None where it is not installed."""
        key = (file, specifier)
        if key not in self._modules:
            self._modules[key] = self._resolve_module(specifier, file)
        return self._modules[key]

    def _resolve_module(self, specifier: str, file: SourceFile) -> Namespace | None:
        if specifier.startswith("."):
            found = self._resolve_relative(specifier, file)
            return self.namespace_of(found) if found else None
        conditions = package_json.IMPORT if file.esm else package_json.REQUIRE
        if specifier.startswith("#"):
            for path in package_json.resolve_import(file.folder.manifest, specifier, conditions):
                if path.startswith("."):
                    found = self.files.resolve_relative(file.at(file.folder.root / "x"), path)
                    return self.namespace_of(found) if found else None
                return self.resolve_module(path, file)
            return None
        if specifier in file.source.ambient and not file.source.module:
            return Namespace(file, (file.source.scope, file.source.ambient[specifier]))
        name, subpath = split_specifier(specifier)
        if specifier.startswith("node:") or name in package_json.BUILTIN:
            folder = self.files.find("@types/node", file.path.parent) or self._find("@types/node")
            return self.resolve_ambient(folder, specifier) if folder else None
        if name == file.folder.name:
            folder = file.folder
        else:
            folder = self.files.find(name, file.path.parent) or self._find(name)
        if folder is None:
            folder = self.files.find(name_types(name), file.path.parent)
        return self.resolve_entry(folder, subpath, conditions) if folder else None

    def resolve_ambient(self, folder: Folder, specifier: str) -> Namespace | None:
        """Return a module that files of a package declare by name: ``node:fs``."""
        found: Namespace | None = None
        for path, declared in self.files.ambient_modules(folder):
            if declared != specifier or _OLDER.match(path[len(str(folder.root)) :]):
                continue
            file = self.files.read(Path(path), folder)
            scope = file.source.ambient.get(specifier) if file else None
            if file is None or scope is None:
                continue
            block = Namespace(file, (file.source.scope, scope), found)
            if found is None:
                found = block
            elif all(each.scope is not scope for each in self.augmentations(found)):
                self._augmentations.setdefault(found.scope, []).append(block)
        return found

    def augment(self, folder: Folder) -> None:
        """Add what the files of a package add to modules by ``declare module``."""
        self._exported.clear()
        self._stars.clear()
        for path, specifier in self.files.ambient_modules(folder):
            file = self.files.read(folder.root / path, folder) if specifier else None
            scope = file.source.ambient.get(specifier) if file else None
            if file is None or scope is None:
                continue
            target = self._augmented_module(specifier, file)
            if target is None or target.scope is scope:
                continue
            for each in self._augmentation_targets(target):
                block = Namespace(file, (file.source.scope, scope), each)
                self._augmentations.setdefault(each.scope, []).append(block)

    def _augmented_module(self, specifier: str, file: SourceFile) -> Namespace | None:
        """Return the module that a file augments; without imports it may be a part of it."""
        if file.source.module:
            return self.resolve_module(specifier, file)
        name, subpath = split_specifier(specifier)
        if name != file.folder.name.removeprefix("@types/"):
            return None
        return self.resolve_entry(file.folder, subpath, package_json.IMPORT)

    def _augmentation_targets(self, module: Namespace) -> list[Namespace]:
        """Return what augmentations of a module belong to: of ``export =`` what it names."""
        inner = [
            namespace.inner(each.scope)
            for entity in self.assigned_exports(module)
            for namespace, each in entity.declared
            if each.scope is not None
        ]
        return list({each.scope: each for each in inner}.values()) or [module]

    def augments(self, specifiers: Iterable[str], folder: Folder) -> bool:
        """Whether the files of a package declare any of some modules."""
        wanted = set(specifiers)
        return any(
            split_specifier(found)[0] in wanted for _, found in self.files.ambient_modules(folder)
        )

    def augmentations(self, namespace: Namespace) -> list[Namespace]:
        """Return the blocks that augment a module."""
        return self._augmentations.get(namespace.scope, [])

    def resolve_export(self, namespace: Namespace, name: str) -> Entity | None:
        """Return what a module or namespace exports under a name; None if nothing is seen."""
        if (namespace, name) in self._exported:
            return self._exported[namespace, name]
        key = (namespace.scope, name)
        if key in self._resolving or len(self._resolving) > _MAX_DEPTH:
            self._cuts += 1
            return None
        self._resolving.add(key)
        cuts = self._cuts
        try:
            found = self._own_export(namespace, name)
            for block in self.augmentations(namespace):
                extra = self._own_export(block, name)
                found = found.merge(extra) if found else extra
            if found is None and namespace.scope.equals:
                found = self._assigned_member(namespace, name)
            if found is None and name != "default":
                found = self._star_export(namespace, name)
            if cuts == self._cuts:
                self._exported[namespace, name] = found
            return found
        finally:
            self._resolving.discard(key)

    def _own_export(self, namespace: Namespace, name: str) -> Entity | None:
        reference = namespace.scope.exports.get(name)
        found = None
        if reference is not None:
            found = self.follow(namespace, reference) or UNKNOWN
        elif name in namespace.scope.unexported:
            pass
        elif not namespace.scope.explicit or namespace.host is not None:
            found = self._declared(namespace, name)
        return found

    def _assigned_member(self, namespace: Namespace, name: str) -> Entity | None:
        for each in namespace.scope.equals:
            whole = self.follow(namespace, each)
            if whole is not None and name == "default" and not namespace.file.source.script:
                return whole
            found = self._member(whole, name) if whole is not None else None
            if found is not None:
                return found
        return None

    def _star_export(self, namespace: Namespace, name: str) -> Entity | None:
        if namespace not in self._stars:
            self._stars[namespace] = {}, list(namespace.scope.stars)
        # A module may have a thousand of these, and as many names are resolved.
        known, others = self._stars[namespace]
        if name in known:
            return self.resolve_export(known[name], name)
        for specifier in tuple(others):
            near = self._resolve_relative(specifier, namespace.file)
            if near is not None and near not in self._namespaces and not near.may_export(name):
                continue
            module = self.resolve_module(specifier, namespace.file)
            if module is not None and self._is_plain(module):
                others.remove(specifier)
                for each in self.list_exports(module):
                    known.setdefault(each, module)
                if name not in known:
                    continue
            found = self.resolve_export(module, name) if module else None
            if found is not None:
                return found
        return None

    def _is_plain(self, module: Namespace) -> bool:
        """Whether a module exports what it names itself, and no more."""
        return not (
            module.scope.stars or module.scope.equals or module.host or self.augmentations(module)
        )

    def _resolve_relative(self, specifier: str, file: SourceFile) -> SourceFile | None:
        """Return the file that a relative specifier means."""
        if not specifier.startswith("."):
            return None
        key = (file, specifier)
        if key not in self._relative:
            self._relative[key] = self.files.resolve_relative(file, specifier)
        return self._relative[key]

    def assigned_exports(self, namespace: Namespace) -> list[Entity]:
        """Return what a module is besides its exports: ``export =``, ``module.exports =``."""
        found = [self.follow(namespace, each) or UNKNOWN for each in namespace.scope.equals]
        return [each for each in found if namespace not in each.namespaces]

    def follow(self, namespace: Namespace, reference: Reference) -> Entity | None:
        """What a reference stands for."""
        if reference.module:
            module = self.resolve_module(reference.module, namespace.file)
            if module is None:
                return UNKNOWN
            if not reference.path:
                return Entity(namespaces=(module,))
            first, *rest = reference.path
            found = self.resolve_export(module, first)
            if found is None and first == "default":
                found = Entity(namespaces=(module,))
        else:
            first, *rest = reference.path
            found = self.resolve_local(namespace, first)
        for name in rest:
            found = self._member(found, name) if found is not None else None
        return found

    def resolve_local(self, namespace: Namespace, name: str) -> Entity | None:
        """Return what a name means where it is written, innermost scope first."""
        key = (namespace.scope, f" {name}")
        if key in self._resolving or len(self._resolving) > _MAX_DEPTH:
            self._cuts += 1
            return None
        self._resolving.add(key)
        try:
            for depth in range(len(namespace.scopes), 0, -1):
                outer = (
                    replace(namespace, scopes=namespace.scopes[:depth])
                    if depth < len(namespace.scopes)
                    else namespace
                )
                found = self._declared(outer, name)
                alias = outer.scope.imports.get(name)
                if alias is not None:
                    meant = self.follow(outer, alias) or UNKNOWN
                    found = found.merge(meant) if found else meant
                for block in self.augmentations(outer) if outer.host is None else ():
                    extra = self._declared(block, name)
                    found = found.merge(extra) if found and extra else found or extra
                if found is not None:
                    return found
                if depth == len(namespace.scopes) and namespace.host is not None:
                    found = self.resolve_local(namespace.host, name)
                    if found is not None:
                        return found
            return self._global(namespace, name)
        finally:
            self._resolving.discard(key)

    def _declared(self, namespace: Namespace, name: str) -> Entity | None:
        found = namespace.scope.names.get(name)
        return Entity(tuple((namespace, each) for each in found)) if found else None

    def _global(self, namespace: Namespace, name: str) -> Entity | None:
        source = namespace.file.source
        own = Namespace(namespace.file, (source.scope, source.ambient_globals))
        others = (each for each in self._globals_of(namespace.file.folder) if each != own)
        found: Entity | None = None
        for block in (own, *others):
            declared = self._declared(block, name)
            found = found.merge(declared) if found is not None else declared
        # Any other package may add to globals.
        return found.merge(UNKNOWN) if found is not None else None

    def list_exports(
        self, namespace: Namespace, seen: frozenset[Scope] = frozenset()
    ) -> Iterator[str]:
        """List the names that a module or namespace exports, those of ``export *`` included."""
        if namespace.scope in seen:
            return
        yield from namespace.scope.exports
        if not namespace.scope.explicit:
            yield from (n for n in namespace.scope.names if n not in namespace.scope.unexported)
        for block in self.augmentations(namespace):
            yield from block.scope.names
        for specifier in namespace.scope.stars:
            module = self.resolve_module(specifier, namespace.file)
            if module is not None:
                inner = self.list_exports(module, seen | {namespace.scope})
                yield from (name for name in inner if name != "default")

    def is_complete(self, namespace: Namespace, seen: frozenset[Scope] = frozenset()) -> bool:
        """Whether all exports are seen, those of ``export =`` left out."""
        if namespace.scope in seen:
            return True
        if namespace.scope.dynamic or len(seen) > _MAX_DEPTH:
            return False
        for specifier in namespace.scope.stars:
            module = self.resolve_module(specifier, namespace.file)
            if module is None or not self.is_complete(module, seen | {namespace.scope}):
                return False
            if module.scope.equals:
                return False
        return all(not block.scope.dynamic for block in self.augmentations(namespace))
