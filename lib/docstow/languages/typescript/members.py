"""The members of what Node packages declare.

Type arguments are followed through aliases, where names of members may depend on them; elsewhere
types are erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TypeGuard

from docstow.languages.typescript.names import Bindings, Entity, NameResolver, Namespace
from docstow.languages.typescript.source.model import (
    EMPTY_TYPES,
    Conditional,
    Declaration,
    IndexedAccess,
    Intersection,
    KeyOf,
    LiteralType,
    MappedType,
    Member,
    MemberText,
    ObjectType,
    Primitive,
    Signature,
    Span,
    Type,
    TypeReference,
    Union,
    WrittenType,
)

#: Types within each other beyond which members are unknown.
_MAX_DEPTH = 48
#: Types that are collected for one question; some unfold without end.
_MAX_STEPS = 3000
#: Bases of bases in which the documentation of a member is looked for.
_MAX_BASES = 12
#: Types of the language that have the members of their argument.
_TRANSPARENT = ("Partial", "Required", "Readonly", "NonNullable")
Signatures = tuple[Signature, ...]


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
        self._bindings: dict[tuple[tuple[str, Type, Namespace], ...], Bindings] = {}
        #: Types that were collected since the outermost one was asked for.
        self._steps = 0
        #: How often a type was not followed, since it unfolds too far.
        self.unfolded = 0

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
        if key in self._known:
            return self._known[key]
        self._steps = self._steps + 1 if self._depth else 0
        limited = self._depth > _MAX_DEPTH or self._steps > _MAX_STEPS
        if key in self._pending or limited:
            self._cuts += 1
            self.unfolded += limited
            return _unknown()
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
            for name, each in namespace.file.source.assigned.get(declaration.name, {}).items():
                if name not in found.fields:
                    found.fields[name] = [(namespace, each.as_member())]
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
        if isinstance(type_, MappedType):
            return self._of_mapped(type_, namespace)
        if isinstance(type_, IndexedAccess):
            return self._of_access(type_, namespace)
        if isinstance(type_, Conditional):
            # Which of them it is depends on types that are not compared.
            found = _unknown()
            for part in (type_.then, type_.otherwise):
                found.add(self._of_type(part, namespace))
            return found
        return _unknown()

    def _of_access(self, type_: IndexedAccess, namespace: Namespace) -> Members:
        """Return the members of the type of a member."""
        named = self._of_type(type_.target, namespace).fields.get(type_.key)
        found = Members() if named else _unknown()
        for inside, member in named or ():
            found.add(self._of_type(member.type, inside))
        return found

    def _of_reference(self, type_: TypeReference, namespace: Namespace) -> Members:
        if type_.parameter:
            bound = namespace.bound(type_.path[0]) if len(type_.path) == 1 else None
            return self._of_type(*bound) if bound is not None else _unknown()
        if type_.arguments and len(type_.path) == 1 and type_.value is False and not type_.module:
            known = self._of_builtin(type_, namespace)
            if known is not None:
                return known
        entity = self._referenced(type_, namespace)
        if entity is None:
            return _unknown()
        return self.members_of(self._bind(entity, type_.arguments, namespace))

    def _of_builtin(self, type_: TypeReference, namespace: Namespace) -> Members | None:
        """Return the members of a type that the language has; None for any other."""
        name, arguments = type_.path[0], type_.arguments
        first = arguments[0]
        if name in _TRANSPARENT:
            return self._of_type(first, namespace) if len(arguments) == 1 else _unknown()
        if name in ("Pick", "Omit") and len(arguments) == 2:
            return self._of_selection(name, first, arguments[1], namespace)
        if name == "Record" and len(arguments) == 2:
            texts = type_.texts
            value = WrittenType(arguments[1], f": {texts[1]}") if len(texts) == 2 else None
            keys = MappedType(None, first, homomorphic=False, value=value, span=type_.span)
            return self._of_mapped(keys, namespace)
        if name == "InstanceType" and isinstance(first, TypeReference) and first.value:
            return self._of_type(replace(first, value=False), namespace)
        return None

    def _bind(self, entity: Entity, arguments: Sequence[Type], namespace: Namespace) -> Entity:
        """Return an entity, in whose aliases type parameters stand for arguments.

        Of other declarations no name of a member depends on type parameters.
        """
        found = []
        for where, each in entity.declared:
            detail = self.names.read(where, each) if each.kind == "type" else None
            if detail is not None and not isinstance(detail.type, ObjectType):
                bindings: list[tuple[str, Type, Namespace]] = []
                for index, parameter in enumerate(detail.type_parameters):
                    given = arguments[index] if index < len(arguments) else parameter.default
                    inside = namespace if index < len(arguments) else where
                    if isinstance(given, TypeReference) and given.parameter:
                        given, inside = inside.bound(given.path[0]) or (None, inside)
                    if given is not None:
                        bindings.append((parameter.name, given, inside))
                where = replace(where, bindings=self._intern(bindings))
            found.append((where, each))
        return replace(entity, declared=tuple(found))

    def _intern(self, bindings: list[tuple[str, Type, Namespace]]) -> Bindings:
        """Return one object for the same bindings, so that to compare them costs nothing."""
        return self._bindings.setdefault(tuple(bindings), Bindings(tuple(bindings)))

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
        """Return the members of ``Pick`` or ``Omit``, where the keys are known."""
        named = self._keys(keys, namespace)
        if named is None:
            return _unknown()
        whole = self._of_type(of, namespace)
        kept = {
            name: instance
            for name, found in whole.fields.items()
            if (name in named.fields) == (form == "Pick")
            and (instance := [each for each in found if not each[1].static])
        }
        return Members(kept, certain=whole.certain and named.certain)

    def _of_mapped(self, type_: MappedType, namespace: Namespace) -> Members:
        """Return the members of a mapped type, documented as those whose names it takes."""
        if type_.source is not None:
            keys: Members | None = self._of_type(type_.source, namespace)
        else:
            keys = self._keys(type_.keys, namespace) if type_.keys is not None else None
        if keys is None:
            return Members(certain=False)
        origin = self._of_type(type_.of, namespace).fields if type_.of is not None else {}
        found = Members(certain=keys.certain and not keys.namespaces)
        for name, members in keys.fields.items():
            instance = [each for each in members if not each[1].static]
            if name in origin:
                found.fields[name] = [each for each in origin[name] if not each[1].static]
            elif type_.homomorphic and instance:
                found.fields[name] = instance
            elif instance or not members:
                found.fields[name] = [_mapped_member(name, instance, type_, namespace)]
        return found

    def _keys(self, keys: Type, namespace: Namespace, depth: int = 0) -> Members | None:
        """Return the names that a type is made of; literals have no members. None if unknown."""
        if depth > _MAX_BASES:
            return None
        if isinstance(keys, LiteralType):
            return Members({keys.value: []})
        if isinstance(keys, KeyOf):
            whole = self._of_type(keys.target, namespace)
            return whole if whole.fields or whole.certain else None
        if isinstance(keys, Union):
            found = Members()
            for each in keys.parts:
                part = self._keys(each, namespace, depth + 1)
                if part is None:
                    return None
                found.fields |= part.fields
                found.certain = found.certain and part.certain
            return found
        if isinstance(keys, Intersection):
            # ``keyof T & string``
            rest = [e for e in keys.parts if not isinstance(e, Primitive)]
            return self._keys(rest[0], namespace, depth + 1) if len(rest) == 1 else None
        return self._named_keys(keys, namespace, depth) if isinstance(keys, TypeReference) else None

    def _named_keys(self, keys: TypeReference, namespace: Namespace, depth: int) -> Members | None:
        """Return the names that a type by name is made of."""
        if keys.parameter:
            bound = namespace.bound(keys.path[0]) if len(keys.path) == 1 else None
            return self._keys(*bound, depth + 1) if bound is not None else None
        if keys.path in (("Exclude",), ("Extract",)) and len(keys.arguments) == 2:
            whole, some = (self._keys(each, namespace, depth + 1) for each in keys.arguments)
            if whole is None or some is None:
                return None
            extract = "Extract" in keys.path
            kept = {n: each for n, each in whole.fields.items() if (n in some.fields) == extract}
            return Members(kept, certain=whole.certain and some.certain)
        entity = self._referenced(keys, namespace) if keys.path else None
        declared = entity.declared if entity is not None else ()
        if entity is None or len(declared) != 1 or declared[0][1].kind != "type":
            return None
        where, alias = self._bind(entity, keys.arguments, namespace).declared[0]
        return self._keys(self.names.read(where, alias).type, where, depth + 1)

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
        found.certain = found.certain and not type_.open
        found.calls = _concatenate(found.calls, tuple(type_.calls))
        # A constructor replaces the one that would be inherited.
        found.constructors = tuple(type_.constructors) or found.constructors
        return found


def _mapped_member(
    name: str,
    origin: list[tuple[Namespace, Member]],
    type_: MappedType,
    namespace: Namespace,
) -> tuple[Namespace, Member]:
    """Return a member of a mapped type: named, placed and documented as the one it is made of."""
    value, span = type_.value, type_.span or Span(0, 0, 0, 0)
    signature = f"{name}{value.text}" if value is not None else name

    def read_text() -> MemberText:
        if not origin:
            return MemberText(span, "", signature)
        own = origin[0][1].text
        return MemberText(own.span, own.doc, signature)

    # A place is one of the file that its namespace names.
    where = origin[0][0] if origin else namespace
    read_type = (lambda: value.type) if value is not None and not origin else None
    return where, Member(name, "property", False, False, read_text, read_type)  # noqa: FBT003


def _is_named(type_: Type) -> TypeGuard[TypeReference]:
    return isinstance(type_, TypeReference) and not type_.parameter and bool(type_.path)


def _unknown() -> Members:
    return Members(certain=False, calls=None, constructors=None)


def _concatenate(first: Signatures | None, second: Signatures | None) -> Signatures | None:
    return None if first is None or second is None else first + second
