"""A Python class and all that it inherits from, and what in that leaves its names open.

This room knows Python's order of bases, and what headers of classes do to names. It does not know
how a base's name is found (:mod:`docstow.packages.python_names`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from docstow.packages.python_known import HARMLESS, METACLASSES, known_class
from docstow.packages.python_views import Outside, View, nearest


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class and its bases, nearest first.

    Attributes:
        classes: those whose source is known.
        known: those of the standard library that are known.
        unknown: why there may be more names; empty where there are no others.
        blurred: why it cannot be said how it is called: a base, metaclass or decorator is unknown.
    """

    classes: tuple[View, ...]
    known: tuple[type, ...]
    unknown: str
    blurred: str


def trace(view: View) -> Lineage:
    """The lineage of a class, as its header and the headers of its bases tell it."""
    body = view.definition.body
    if body is None:
        return Lineage((), (), *[f"{view.path} is no class"] * 2)
    orders: list[list[View]] = []
    known: list[type] = []
    blurred = _doubt(view)
    unknown = body.opened or blurred or _caught(view)
    module = view.names.files.module(view.module)
    if module is not None and module.native:
        unknown = unknown or "it is compiled, and stubs leave out what they do not tell"
    for base in body.bases:
        found = nearest(view.names.in_scope(view, base), view) if base else None
        # What is known of a class of Python itself says more than a stub.
        kind = known_class(found.path) if isinstance(found, View | Outside) else None
        if kind is not None:
            known += [kind] if kind not in known else []
        elif isinstance(found, View) and found.definition.body is not None:
            inherited = found.names.lineage(found)
            orders.append(list(inherited.classes))
            known += [each for each in inherited.known if each not in known]
            unknown = unknown or inherited.unknown
            blurred = blurred or inherited.blurred
        else:
            blurred = blurred or f"its base class {base or '(an expression)'} is not known"
            unknown = unknown or blurred
    classes = (view, *_merged([*orders, [each[0] for each in orders if each]]))
    return Lineage(classes, tuple(dict.fromkeys([*known, object])), unknown, blurred)


def _doubt(view: View) -> str:
    """Why the header of a class leaves its names open; empty where it does not."""
    body = view.definition.body
    if body is None:
        return "it is no class"
    for each in view.definition.decorators:
        if each.name.rpartition(".")[2] not in HARMLESS:
            return f"it is decorated with {each.name or 'an expression'}"
    last = body.metaclass.rpartition(".")[2]
    if last and last not in METACLASSES:
        return f"its metaclass {body.metaclass} is not known"
    return ""


def _caught(view: View) -> str:
    """Whether names that a class has not are asked of a method of its own."""
    body = view.definition.body
    for name in ("__getattr__", "__getattribute__"):
        if body is not None and name in body.names:
            return f"it defines {name}"
    return ""


def _merged(orders: list[list[View]]) -> Iterator[View]:
    """Python's order of bases: each class before its own bases, as C3 has it."""
    orders = [list(each) for each in orders if each]
    while orders:
        tails = {(each.path, each.layer) for order in orders for each in order[1:]}
        heads = (order[0] for order in orders if (order[0].path, order[0].layer) not in tails)
        # Where there is no order, Python has no class; reading goes on with any.
        best = next(heads, orders[0][0])
        yield best
        left = ([each for each in order if each.path != best.path] for order in orders)
        orders = [order for order in left if order]
