"""The members of what Node packages declare, and paths such as ``zod.ZodObject.extend``.

Types are erased: type arguments are not followed, and what depends on them is unknown. What the
project's other packages add to declarations is read only where a path leads nowhere without it, or
where all names are asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TypeGuard

from docstow.languages.shared.project import Package
from docstow.languages.typescript import package_json
from docstow.languages.typescript.files import Folder, PackageFiles
from docstow.languages.typescript.names import Entity, NameResolver, Namespace
from docstow.languages.typescript.source.model import (
    EMPTY_TYPES,
    Declaration,
    Intersection,
    LiteralType,
    MappedType,
    Member,
    ObjectType,
    Primitive,
    Signature,
    Type,
    TypeReference,
    Union,
)

#: Types within each other beyond which members are unknown.
_MAX_DEPTH = 48
#: Bases of bases in which the documentation of a member is looked for.
_MAX_BASES = 12
#: Types of the language that have the members of their argument.
_TRANSPARENT = ("Partial", "Required", "Readonly", "NonNullable")
Signatures = tuple[Signature, ...]
#: Dependencies of a package that are searched for augmentations, and how far they are followed.
_MAX_DEPENDENCIES = 150
_MAX_DISTANCE = 3
_DEPENDENCY_FIELDS = ("dependencies", "peerDependencies", "optionalDependencies")


@dataclass(slots=True)
class Members:
    """The members of an entity.

    Attributes:
        fields: members of classes and objects by name.
        namespaces: modules and namespaces whose exports it has as well.
        inherited: those of base classes, which its own hide.
        certain: whether the fields are all.
        calls: ways to call it; None where unknown.
        constructors: ways to call it by ``new``; None where unknown.
    """

    fields: dict[str, list[tuple[Namespace, Member]]] = field(default_factory=dict)
    namespaces: list[Namespace] = field(default_factory=list)
    inherited: list[Namespace] = field(default_factory=list)
    certain: bool = True
    calls: Signatures | None = ()
    constructors: Signatures | None = ()

    def add(self, other: Members) -> None:
        """Add the members of another entity, or of another part of the same."""
        for name, found in other.fields.items():
            if name not in self.fields:
                self.fields[name] = found
                continue
            seen = {id(member) for _, member in self.fields[name]}
            added = [each for each in found if id(each[1]) not in seen]
            self.fields[name] = self.fields[name] + added
        self.namespaces += [each for each in other.namespaces if each not in self.namespaces]
        self.inherited += [each for each in other.inherited if each not in self.inherited]
        self.certain = self.certain and other.certain
        self.calls = _concatenate(self.calls, other.calls)
        self.constructors = _concatenate(self.constructors, other.constructors)


class MemberResolver:
    """Resolves members.

    Args:
        names: resolves names in files.
    """

    def __init__(self, names: NameResolver) -> None:
        self.names = names
        self._known: dict[tuple[object, ...], Members] = {}
        self._depth = 0
        #: Types that are being collected, and what was collected while one of them was asked for.
        self._pending: set[tuple[object, ...]] = set()
        self._cuts = 0
        self._partial: list[tuple[object, ...]] = []

    def resolve(self, entity: Entity, name: str) -> Entity | None:
        """Return what a member of an entity is; None if no such member is seen."""
        members = self.members_of(entity)
        found = Entity(members=tuple(members.fields[name])) if name in members.fields else None
        for namespace in members.namespaces:
            extra = self.names.resolve_export(namespace, name)
            found = found.merge(extra) if found else extra
        for namespace in members.inherited if found is None else ():
            found = found or self.names.resolve_export(namespace, name)
        if found is None and name == "prototype":
            classes = tuple(each for each in entity.declared if each[1].kind == "class")
            found = Entity(declared=classes) if classes else None
        if found is None and name == "default":
            found = self._synthetic_default(entity)
        return found

    def _synthetic_default(self, entity: Entity) -> Entity | None:
        """Return a module that is no ES module as its own default export."""
        namespaces = tuple(each for each in entity.namespaces if not each.file.esm)
        for namespace in namespaces:
            for assigned in self.names.assigned_exports(namespace):
                return assigned
        return Entity(namespaces=namespaces) if namespaces else None

    def is_complete(self, entity: Entity) -> bool:
        """Whether an entity certainly has no other members than those that are seen."""
        members = self.members_of(entity)
        namespaces = chain(members.namespaces, members.inherited)
        return members.certain and all(map(self.names.is_complete, namespaces))

    def members_of(self, entity: Entity) -> Members:
        """Return the members of an entity."""
        key = (entity.declared, entity.members, entity.namespaces, entity.unknown)
        return self._remember(key, lambda: self._collect(entity))

    def _remember(self, key: tuple[object, ...], collect: Callable[[], Members]) -> Members:
        """Return what is known of a key or else collected.

        A type may refer to itself: what is collected meanwhile lacks members, and is forgotten
        once the outermost is whole.
        """
        if key in self._pending or self._depth > _MAX_DEPTH:
            self._cuts += 1
            return _unknown()
        if key in self._known:
            return self._known[key]
        cuts = self._cuts
        self._pending.add(key)
        self._depth += 1
        try:
            self._known[key] = found = collect()
        finally:
            self._depth -= 1
            self._pending.discard(key)
        if self._depth == 0:
            for each in self._partial:
                self._known.pop(each, None)
            self._partial.clear()
        elif cuts != self._cuts:
            self._partial.append(key)
        return found

    def _collect(self, entity: Entity) -> Members:
        found = Members()
        if entity.unknown:
            found.add(_unknown())
        for namespace, declaration in entity.declared:
            found.add(self._of_declaration(namespace, declaration))
        for namespace, member in entity.members:
            if member.kind != "constant":
                found.add(self._of_type(member.type, namespace))
        for namespace in entity.namespaces:
            found.namespaces.append(namespace)
            for assigned in self.names.assigned_exports(namespace):
                found.add(self.members_of(assigned))
        return found

    def _of_declaration(self, namespace: Namespace, declaration: Declaration) -> Members:
        if declaration.scope is not None:
            return Members(namespaces=[namespace.inner(declaration.scope)])
        found = Members()
        found.add(self._of_type(self.names.read(namespace, declaration).type, namespace))
        if namespace.file.source.script or namespace.scope.dynamic:
            # Anything may be assigned to what JavaScript declares, and a name may be declared once
            # more where a file could not be read.
            found.add(_unknown())
        return found

    def _of_type(self, type_: Type, namespace: Namespace) -> Members:
        collect = partial(self._collect_type, type_, namespace)
        return self._remember((type_, namespace), collect)

    def _collect_type(self, type_: Type, namespace: Namespace) -> Members:
        if isinstance(type_, TypeReference):
            return self._of_reference(type_, namespace)
        if isinstance(type_, Union | Intersection):
            found = Members()
            for part in type_.parts:
                found.add(self._of_type(part, namespace))
            if isinstance(type_, Union):
                # Which of them it is decides how it can be called.
                found.calls = found.constructors = None
            return found
        if isinstance(type_, ObjectType):
            return self._of_object(type_, namespace)
        if isinstance(type_, Primitive) and type_.name in EMPTY_TYPES:
            return Members()
        return Members(certain=False) if isinstance(type_, MappedType) else _unknown()

    def _of_reference(self, type_: TypeReference, namespace: Namespace) -> Members:
        if type_.parameter:
            return _unknown()
        if type_.arguments and len(type_.path) == 1 and type_.value is False and not type_.module:
            name, arguments = type_.path[0], type_.arguments
            if name in _TRANSPARENT:
                alone = len(arguments) == 1
                return self._of_type(arguments[0], namespace) if alone else _unknown()
            if name in ("Pick", "Omit") and len(arguments) == 2:
                return self._of_selection(name, arguments[0], arguments[1], namespace)
        entity = self._referenced(type_, namespace)
        return self.members_of(entity) if entity is not None else _unknown()

    def _referenced(self, type_: TypeReference, namespace: Namespace) -> Entity | None:
        """Return what a name in a type means."""
        path = type_.path
        if type_.module:
            module = self.names.resolve_module(type_.module, namespace.file)
            entity = Entity(namespaces=(module,)) if module is not None else None
        else:
            entity, path = self.names.resolve_local(namespace, path[0]), path[1:]
        for name in path:
            entity = self._resolve_qualified(entity, name) if entity is not None else None
        if entity is None or type_.value is None:
            return entity
        return entity.only(types=not type_.value)

    def _of_selection(self, form: str, of: Type, keys: Type, namespace: Namespace) -> Members:
        """Return the members of ``Pick`` or ``Omit``, where the keys are written."""
        named = self._literals(keys, namespace)
        if named is None:
            return _unknown()
        whole = self._of_type(of, namespace)
        kept = {
            name: instance
            for name, found in whole.fields.items()
            if (name in named) == (form == "Pick")
            and (instance := [each for each in found if not each[1].static])
        }
        return Members(kept, certain=whole.certain)

    def _literals(self, keys: Type, namespace: Namespace, depth: int = 0) -> set[str] | None:
        """Return the strings of a union that is written, or named; None for any other type."""
        if isinstance(keys, LiteralType):
            return {keys.value}
        if isinstance(keys, Union):
            parts = [self._literals(each, namespace, depth) for each in keys.parts]
            return None if None in parts else {name for part in parts for name in part or ()}
        if not _is_named(keys) or keys.arguments or depth > _MAX_BASES:
            return None
        entity = self._referenced(keys, namespace)
        declared = entity.declared if entity is not None else ()
        if len(declared) != 1 or declared[0][1].kind != "type":
            return None
        where, alias = declared[0]
        return self._literals(self.names.read(where, alias).type, where, depth + 1)

    def overridden(self, owner: Entity, name: str, depth: int = 0) -> Iterator[Member]:
        """Yield the members of what a class or interface extends or implements, the nearest first.

        Args:
            owner: the class or interface, or what has the type of one.
            name: of a member.
            depth: how many types are between.
        """
        if depth > _MAX_BASES:
            return
        for module in owner.namespaces:
            for assigned in self.names.assigned_exports(module):
                yield from self.overridden(assigned, name, depth + 1)
        for namespace, declaration in owner.declared:
            type_ = self.names.read(namespace, declaration).type
            if _is_named(type_) and (meant := self._referenced(type_, namespace)) is not None:
                yield from self.overridden(meant, name, depth + 1)
            for base in (*type_.bases, *type_.implements) if isinstance(type_, ObjectType) else ():
                for _, member in self._of_type(base, namespace).fields.get(name, ()):
                    yield member
                above = self._referenced(base, namespace) if _is_named(base) else None
                if above is not None:
                    yield from self.overridden(above, name, depth + 1)

    def _resolve_qualified(self, entity: Entity, name: str) -> Entity | None:
        """Return a name behind that of a namespace, which may have the type of another entity."""
        for namespace in entity.all_namespaces():
            found = self.names.resolve_export(namespace, name)
            if found is not None:
                return found
        return self.resolve(entity, name)

    def _of_object(self, type_: ObjectType, namespace: Namespace) -> Members:
        found = Members()
        for base in type_.bases:
            found.add(self._of_type(base, namespace))
        found.inherited += found.namespaces
        found.namespaces = []
        for name, members in type_.members.items():
            # What a class has of itself does not replace what its instances inherit.
            sides = {member.static for member in members}
            above = found.fields.get(name, ())
            inherited = [each for each in above if each[1].static not in sides]
            found.fields[name] = [(namespace, member) for member in members] + inherited
        found.certain = found.certain and not (type_.open or type_.index_keys or type_.computed)
        found.calls = _concatenate(found.calls, tuple(type_.calls))
        # A constructor replaces the one that would be inherited.
        found.constructors = tuple(type_.constructors) or found.constructors
        return found


def _is_named(type_: Type) -> TypeGuard[TypeReference]:
    return isinstance(type_, TypeReference) and not type_.parameter and bool(type_.path)


def _unknown() -> Members:
    return Members(certain=False, calls=None, constructors=None)


def _concatenate(first: Signatures | None, second: Signatures | None) -> Signatures | None:
    return None if first is None or second is None else first + second


class PathResolver:
    """Resolves the paths of one package.

    Args:
        package: installed.
        builtin: the module of Node itself that is meant instead of the package.
        files: the files of the project's packages.
        find: finds another package of the project by name.
        installed: the project's Node packages.
    """

    def __init__(
        self,
        package: Package,
        builtin: str,
        files: PackageFiles,
        find: Callable[[str], Folder | None],
        installed: Callable[[], Iterable[Package]],
    ) -> None:
        self.name = builtin or package.name
        self.files = files
        self.names = NameResolver(files, self._find, lambda *each: self.members.resolve(*each))
        self.members = MemberResolver(self.names)
        self._package = package
        self._find_in_project = find
        self._installed = installed
        self._builtin = builtin
        self._augmented = False
        self._entries: dict[str, list[Namespace]] = {}
        root = package.files_root
        self.folder: Folder | None = files.folder(root) if root is not None else None

    def resolve(self, path: str) -> Entity | None:
        """Return what a path leads to."""
        module, names = self.split(path)
        if module is None:
            return None
        found = self._resolve(module, names)
        if found is None and not self._augmented:
            self.augment()
            found = self._resolve(module, names)
        return found

    def _resolve(self, module: str, names: list[str]) -> Entity | None:
        for index, namespace in enumerate(self.entries(module)):
            # Only the first stands for itself where it has no default export.
            if index and names[:1] == ["default"] and "default" not in namespace.scope.exports:
                continue
            found = self.resolve_below(Entity(namespaces=(namespace,)), names)
            if found is not None:
                return found
        return None

    def resolve_below(self, entity: Entity, names: list[str]) -> Entity | None:
        """Return what names below an entity lead to."""
        found: Entity | None = entity
        for name in names:
            found = self.members.resolve(found, name) if found is not None else None
        return found

    def split(self, path: str) -> tuple[str | None, list[str]]:
        """Split a path into the subpath of the module that it begins with, and the names below."""
        for name in self.ambient:
            if path == name or path.startswith(f"{name}."):
                return name, path[len(name) + 1 :].split(".") if path != name else []
        rest = path.removeprefix(self.name)
        if rest == path or (rest and rest[0] not in "./"):
            return None, []
        if not rest.startswith("/"):
            return ".", rest[1:].split(".") if rest else []
        parts = rest.split(".")
        for count in range(len(parts), 0, -1):
            subpath = "." + ".".join(parts[:count])
            if self.entries(subpath):
                return subpath, parts[count:]
        return None, []

    def entries(self, subpath: str) -> list[Namespace]:
        """Return a module as it is imported and, if that is another file, as it is required."""
        if subpath not in self._entries:
            self._entries[subpath] = self._find_entries(subpath)
        return self._entries[subpath]

    def _find_entries(self, subpath: str) -> list[Namespace]:
        if self.folder is None:
            return []
        if self._builtin:
            module = self.names.resolve_ambient(self.folder, self.name + subpath[1:])
            return [module] if module else []
        if not subpath.startswith("."):
            module = self.names.resolve_ambient(self.folder, subpath)
            return [module] if module else []
        found: list[Namespace] = []
        for conditions in (package_json.IMPORT, package_json.REQUIRE):
            entry = self.names.resolve_entry(self.folder, subpath, conditions)
            if entry is not None and all(entry.scope is not each.scope for each in found):
                found.append(entry)
        return found

    @cached_property
    def ambient(self) -> tuple[str, ...]:
        """The modules of other names that the package declares: ``node:fs``."""
        entry = next(iter(self.entries(".")), None) if not self._builtin else None
        if entry is None or entry.file.source.script:
            return ()
        found = self.names.ambient_modules(entry.file)
        own = (self.name, self.name.removeprefix("@types/"))
        return tuple(each for each in found if each not in own)

    def folders(self) -> list[Folder]:
        """Return the package and, where another one has its declarations, that one."""
        own = [self.folder] if self.folder is not None else []
        return [*own, *(each.file.folder for each in self.entries("."))]

    def list_members(self, entity: Entity | None) -> Iterator[str]:
        """List the names of the members of an entity that may be used; files are read on demand."""
        if entity is None:
            return
        members = self.members.members_of(entity)
        visible = (
            name
            for name, found in members.fields.items()
            if not all(member.hidden for _, member in found)
        )
        seen = {""}
        spaces = chain(members.namespaces, members.inherited)
        for name in chain(visible, *map(self.names.list_exports, spaces)):
            if name not in seen:
                seen.add(name)
                yield name

    def _find(self, name: str) -> Folder | None:
        """Find a package that the project has, wherever it is."""
        location = self.files.boundary.root / self._package.location
        return self.files.find(name, location.parent) or self._find_in_project(name)

    def augment(self) -> None:
        """Add what the files of this package and of others add to its declarations."""
        if self._augmented or self.folder is None:
            return
        self._augmented = True
        own = self.folders()
        dependencies = {folder.root: folder for folder in self._dependencies(own)}
        for folder in dependencies.values():
            self.names.augment(folder)
        names = {folder.name for folder in own} | {self._package.name}
        for package in self._installed():
            other = self.files.folder(package.files_root) if package.files_root else None
            if other is None or other.root in dependencies or not _depends_on(other, names):
                continue
            if self.names.augments(names, other):
                self.names.augment(other)
        self.members = MemberResolver(self.names)

    def _dependencies(self, first: list[Folder]) -> Iterator[Folder]:
        """Iterate over packages and what they depend on, which may augment each other."""
        waiting = deque((folder, 0) for folder in first)
        seen: set[Path] = set()
        while waiting and len(seen) < _MAX_DEPENDENCIES:
            folder, depth = waiting.popleft()
            if folder.root in seen:
                continue
            seen.add(folder.root)
            yield folder
            listed = folder.manifest.get("dependencies")
            for name in listed if isinstance(listed, dict) and depth < _MAX_DISTANCE else ():
                found = self.files.find(str(name), folder.root)
                if found is not None:
                    waiting.append((found, depth + 1))


def _depends_on(folder: Folder, names: set[str]) -> bool:
    """Whether a package depends on any of some others, and so may augment them."""
    listed = (folder.manifest.get(field) for field in _DEPENDENCY_FIELDS)
    return any(isinstance(each, dict) and not names.isdisjoint(each) for each in listed)
