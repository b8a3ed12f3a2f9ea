"""The members and calls of classes, interfaces, objects and namespaces of Node packages.

Types are erased: type arguments are not followed, and what depends on them is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from docstow.languages.typescript.names import Entity, NameResolver, Namespace
from docstow.languages.typescript.source.model import Declaration
from docstow.languages.typescript.source.types import (
    EMPTY_TYPES,
    Intersection,
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
#: Types of the language that have the members of their argument.
_TRANSPARENT = ("Partial", "Required", "Readonly", "NonNullable")
Signatures = tuple[Signature, ...]


@dataclass(slots=True)
class Members:
    """The members of an entity.

    Attributes:
        fields: members of classes and objects by name.
        namespaces: modules and namespaces whose exports it has as well.
        certain: whether the fields are all.
        calls: ways to call it; None where unknown.
        constructors: ways to call it by ``new``; None where unknown.
    """

    fields: dict[str, list[tuple[Namespace, Member]]] = field(default_factory=dict)
    namespaces: list[Namespace] = field(default_factory=list)
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
        self._of_types: dict[tuple[Type, Namespace], Members] = {}
        self._of_entities: dict[tuple[object, ...], Members] = {}
        self._depth = 0

    def resolve(self, entity: Entity, name: str) -> Entity | None:
        """Return what a member of an entity is; None if no such member is seen."""
        members = self.members_of(entity)
        found = Entity(members=tuple(members.fields[name])) if name in members.fields else None
        for namespace in members.namespaces:
            extra = self.names.resolve_export(namespace, name)
            found = found.merge(extra) if found else extra
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
        return members.certain and all(map(self.names.is_complete, members.namespaces))

    def members_of(self, entity: Entity) -> Members:
        """Return the members of an entity."""
        key = (entity.declared, entity.members, entity.namespaces, entity.unknown)
        if key in self._of_entities:
            return self._of_entities[key]
        if self._depth > _MAX_DEPTH:
            return _unknown()
        self._of_entities[key] = _unknown()  # while they are collected: it may refer to itself
        self._depth += 1
        try:
            found = self._collect(entity)
        finally:
            self._depth -= 1
        self._of_entities[key] = found
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
        key = (type_, namespace)
        if key not in self._of_types:
            if self._depth > _MAX_DEPTH:
                return _unknown()
            self._of_types[key] = _unknown()
            self._depth += 1
            try:
                self._of_types[key] = self._collect_type(type_, namespace)
            finally:
                self._depth -= 1
        return self._of_types[key]

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
        path = type_.path
        if type_.parameter:
            return _unknown()
        if type_.module:
            module = self.names.resolve_module(type_.module, namespace.file)
            entity = Entity(namespaces=(module,)) if module is not None else None
        elif (
            type_.arguments and path[0] in _TRANSPARENT and len(path) == 1 and type_.value is False
        ):
            alone = len(type_.arguments) == 1
            return self._of_type(type_.arguments[0], namespace) if alone else _unknown()
        else:
            entity, path = self.names.resolve_local(namespace, path[0]), path[1:]
        for name in path:
            entity = self._resolve_qualified(entity, name) if entity is not None else None
        if entity is None:
            return _unknown()
        if type_.value is None:
            return self.members_of(entity)
        return self.members_of(entity.only(types=not type_.value))

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


def _unknown() -> Members:
    return Members(certain=False, calls=None, constructors=None)


def _concatenate(first: Signatures | None, second: Signatures | None) -> Signatures | None:
    return None if first is None or second is None else first + second
