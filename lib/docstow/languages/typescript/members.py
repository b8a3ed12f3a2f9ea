"""What classes, interfaces, objects and namespaces of Node packages have: members and calls.

This room knows how types are put together: inheritance, merging, intersections. It does not know
files, nor what is asked of the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from docstow.languages.typescript.names import NodeNames, Space, Thing
from docstow.languages.typescript.source.declarations import Detail
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

_DEEPEST = 48
Calls = tuple[Signature, ...]
#: Types of the language that have the members of their argument.
_TRANSPARENT = {("Partial",), ("Required",), ("Readonly",), ("NonNullable",)}


@dataclass(slots=True)
class Members:
    """What something has.

    Attributes:
        fields: members of classes and objects by name.
        spaces: modules and namespaces whose exports it has as well.
        certain: whether the fields are all.
        calls: what a call of it takes, an overload each; None where unknown.
        constructs: the same of ``new``.
    """

    fields: dict[str, list[tuple[Space, Member]]] = field(default_factory=dict)
    spaces: list[Space] = field(default_factory=list)
    certain: bool = True
    calls: Calls | None = ()
    constructs: Calls | None = ()

    def add(self, other: Members) -> None:
        """Have what the other has, too."""
        for name, found in other.fields.items():
            if name not in self.fields:
                self.fields[name] = found
                continue
            known = {id(member) for _, member in self.fields[name]}
            added = [each for each in found if id(each[1]) not in known]
            self.fields[name] = self.fields[name] + added
        self.spaces += [each for each in other.spaces if each not in self.spaces]
        self.certain = self.certain and other.certain
        self.calls = _both(self.calls, other.calls)
        self.constructs = _both(self.constructs, other.constructs)


class NodeMembers:
    """Finds members.

    Args:
        names: how names are looked up.
    """

    def __init__(self, names: NodeNames) -> None:
        self.names = names
        self._types: dict[tuple[Type, Space], Members] = {}
        self._things: dict[tuple[object, ...], Members] = {}
        self._depth = 0

    def detail(self, space: Space, declaration: Declaration) -> Detail:
        """A declaration in full."""
        return self.names.read(space, declaration)

    def member(self, thing: Thing, name: str) -> Thing | None:
        """What a member of something is; None if no such member is seen."""
        members = self.of(thing)
        found = Thing(members=tuple(members.fields[name])) if name in members.fields else None
        for space in members.spaces:
            extra = self.names.export(space, name)
            found = found.merged(extra) if found else extra
        if found is None and name == "prototype":
            classes = tuple(each for each in thing.declared if each[1].kind == "class")
            found = Thing(declared=classes) if classes else None
        if found is None and name == "default" and thing.spaces:
            found = self._synthetic(thing)
        return found

    def _synthetic(self, thing: Thing) -> Thing | None:
        """A module that is no ES module is its own default export."""
        spaces = tuple(space for space in thing.spaces if not space.unit.esm)
        whole = [each for space in spaces for each in self.names.whole(space)]
        if whole:
            return whole[0]
        return Thing(spaces=spaces) if spaces else None

    def complete(self, thing: Thing) -> bool:
        """Whether a name that is not seen among the members of something is not there."""
        members = self.of(thing)
        return members.certain and all(map(self.names.complete, members.spaces))

    def of(self, thing: Thing) -> Members:
        """The members of something."""
        key = (thing.declared, thing.members, thing.spaces, thing.unknown)
        if key in self._things:
            return self._things[key]
        if self._depth > _DEEPEST:
            return _unknown()
        # Of what refers to itself this is known for now.
        self._things[key] = _unknown()
        self._depth += 1
        try:
            found = self._of(thing)
        finally:
            self._depth -= 1
        self._things[key] = found
        return found

    def _of(self, thing: Thing) -> Members:
        found = Members()
        if thing.unknown:
            found.add(_unknown())
        for space, declaration in thing.declared:
            found.add(self._of_declaration(space, declaration))
        for space, member in thing.members:
            if member.kind != "constant":
                found.add(self._typed(member.type, space))
        for space in thing.spaces:
            found.spaces.append(space)
            for whole in self.names.whole(space):
                found.add(self.of(whole))
        return found

    def _of_declaration(self, space: Space, declaration: Declaration) -> Members:
        if declaration.scope is not None:
            return Members(spaces=[space.inner(declaration.scope)])
        found = Members()
        found.add(self._typed(self.detail(space, declaration).type, space))
        if space.unit.source.script or space.scope.dynamic:
            # Anything may be assigned to what JavaScript declares, and a name may be declared once
            # more where a file could not be read.
            found.add(_unknown())
        return found

    def _typed(self, type_: Type, space: Space) -> Members:
        key = (type_, space)
        if key not in self._types:
            if self._depth > _DEEPEST:
                return _unknown()
            self._types[key] = _unknown()
            self._depth += 1
            try:
                self._types[key] = self._read(type_, space)
            finally:
                self._depth -= 1
        return self._types[key]

    def _read(self, type_: Type, space: Space) -> Members:
        if isinstance(type_, TypeReference):
            return self._named(type_, space)
        if isinstance(type_, Union | Intersection):
            found = Members()
            for part in type_.parts:
                found.add(self._typed(part, space))
            if isinstance(type_, Union):
                # Which of them it is decides how it can be called.
                found.calls = found.constructs = None
            return found
        if isinstance(type_, ObjectType):
            return self._shaped(type_, space)
        if isinstance(type_, Primitive) and type_.name in EMPTY_TYPES:
            return Members()
        if isinstance(type_, MappedType):
            return Members(certain=False)
        return _unknown()

    def _named(self, type_: TypeReference, space: Space) -> Members:
        if type_.arguments and type_.path in _TRANSPARENT and type_.value is False:
            alone = len(type_.arguments) == 1
            return self._typed(type_.arguments[0], space) if alone else _unknown()
        if type_.parameter:
            return _unknown()
        thing: Thing | None
        path = type_.path
        if type_.module:
            module = self.names.module(type_.module, space.unit)
            thing = Thing(spaces=(module,)) if module is not None else None
        else:
            thing, path = self.names.local(space, path[0]), path[1:]
        for name in path:
            thing = self._qualified(thing, name) if thing is not None else None
        if thing is None:
            return _unknown()
        if type_.value is None:
            return self.of(thing)
        return self.of(thing.only(types=not type_.value))

    def _qualified(self, thing: Thing, name: str) -> Thing | None:
        """A name behind that of a namespace, which may have the type that it is looked up for."""
        spaces = [space.inner(each.scope) for space, each in thing.declared if each.scope]
        for space in (*spaces, *thing.spaces):
            found = self.names.export(space, name)
            if found is not None:
                return found
        return self.member(thing, name)

    def _shaped(self, shape: ObjectType, space: Space) -> Members:
        found = Members()
        for base in shape.bases:
            found.add(self._typed(base, space))
        for name, members in shape.members.items():
            # What a class has of itself does not replace what its instances inherit.
            sides = {member.static for member in members}
            above = found.fields.get(name, ())
            inherited = [each for each in above if each[1].static not in sides]
            found.fields[name] = [(space, member) for member in members] + inherited
        found.certain = found.certain and not (shape.open or shape.index_keys or shape.computed)
        found.calls = _both(found.calls, tuple(shape.calls))
        # A constructor replaces the one that would be inherited.
        found.constructs = tuple(shape.constructors) or found.constructs
        return found


def _unknown() -> Members:
    return Members(certain=False, calls=None, constructs=None)


def _both(first: Calls | None, second: Calls | None) -> Calls | None:
    return None if first is None or second is None else first + second
