"""Object types that are written within a declaration: of a property, of a parameter.

They have no name of their own, and their members are what callers pass as options:
``request.options.timeout``.
"""

from __future__ import annotations

from collections.abc import Iterator

from docstow.languages.typescript.members import MemberResolver
from docstow.languages.typescript.names import Entity, Namespace
from docstow.languages.typescript.source.model import (
    ArrayType,
    Intersection,
    Member,
    ObjectType,
    Type,
    Union,
)

#: Types within each other in which object types are looked for.
_MAX_DEPTH = 8


def inline_members(entity: Entity, resolver: MemberResolver) -> dict[str, Entity]:
    """Return the members of the object types within an entity, by their paths below it.

    Of a property those of its type (``limit``), of what can be called those of its parameters
    (``options.timeout``).
    """
    found: dict[str, list[tuple[Namespace, Member]]] = {}
    for namespace, type_, named in _types(entity, resolver):
        objects = list(_object_types(type_))
        # The members of a type that has a name are found by that name.
        places = [("", each) for each in objects if not named]
        for each in objects:
            for signature in (*each.calls, *each.constructors):
                for parameter in signature.parameters:
                    options = _object_types(parameter.type)
                    places += [(f"{parameter.name}.", option) for option in options]
        for before, option in places:
            for name, members in option.members.items():
                listed = found.setdefault(before + name, [])
                listed += [(namespace, member) for member in members]
    return {path: Entity(members=tuple(members)) for path, members in found.items()}


def _types(entity: Entity, resolver: MemberResolver) -> Iterator[tuple[Namespace, Type, bool]]:
    """Yield the types that are written in an entity, and whether they are named by it."""
    for namespace, member in entity.members:
        yield namespace, member.type, False
    for namespace, declaration in entity.declared:
        if declaration.scope is None:
            yield namespace, resolver.names.read(namespace, declaration).type, True


def _object_types(type_: Type, depth: int = 0) -> Iterator[ObjectType]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(type_, ObjectType):
        yield type_
    elif isinstance(type_, Union | Intersection):
        for part in type_.parts:
            yield from _object_types(part, depth + 1)
    elif isinstance(type_, ArrayType):
        for item in type_.items:
            yield from _object_types(item, depth + 1)
