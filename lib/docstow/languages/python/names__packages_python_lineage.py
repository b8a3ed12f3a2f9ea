"""A Python class and all that it inherits from, and what in that leaves its names open.

This room knows Python's order of bases, and what headers of classes do to names. It does not know
how a base's name is found (:mod:`docstow.languages.python.names`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.languages.python.names__packages_python_decorators import keeps
from docstow.languages.python.names__packages_python_known import (
    HARMLESS,
    HOLD_DATA,
    METACLASSES,
    known_class,
)
from docstow.languages.python.names__packages_python_views import Outside, View, nearest
from docstow.languages.python.source.facts import ClassBody
from docstow.languages.shared.surface import Openness


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class and its bases, nearest first.

    Attributes:
        classes: those whose source is known.
        known: those of the standard library that are known.
        unknown: why there may be more names; empty where there are no others.
        open: what else it may have.
        metas: the classes of its metaclass, whose names the class itself has too.
        blurred: why it cannot be said how it is called: a base, metaclass or decorator is unknown.
    """

    classes: tuple[View, ...]
    known: tuple[type, ...]
    unknown: str
    blurred: str
    open: Openness = Openness.ANY
    metas: tuple[View, ...] = ()


def trace(view: View) -> Lineage:
    """The lineage of a class, as its header and the headers of its bases tell it."""
    body = view.definition.body
    if body is None:
        return Lineage((), (), (why := f"{view.path} is no class"), why)
    orders: list[list[View]] = []
    known: list[type] = []
    doubts = _Doubts(view, body)
    metas = doubts.header()
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
            metas += [each for each in inherited.metas if each not in metas]
            doubts.add(inherited.open, inherited.unknown, inherited.blurred)
        else:
            reason = f"its base class {base or '(an expression)'} is not known"
            doubts.add(Openness.ANY, reason, reason)
    doubts.asked(known)
    classes = (view, *_merged([*orders, [each[0] for each in orders if each]]))
    bases = tuple(dict.fromkeys([*known, object]))
    return Lineage(classes, bases, doubts.unknown, doubts.blurred, doubts.open, tuple(metas))


class _Doubts:
    """Why a class may have more names than are seen, while its lineage is traced.

    Args:
        view: the class.
        body: its body.
    """

    def __init__(self, view: View, body: ClassBody) -> None:
        self._view = view
        self._body = body
        self.open = Openness.CLOSED
        self.unknown = ""
        self.blurred = ""

    def add(self, degree: Openness, unknown: str, blurred: str = "") -> None:
        """One more reason."""
        self.open = max(self.open, degree)
        self.unknown = self.unknown or unknown
        self.blurred = self.blurred or blurred

    def header(self) -> list[View]:
        """Look at decorators, metaclass and file; the classes of the metaclass."""
        view, body = self._view, self._body
        if body.opened:
            held = view.path in HOLD_DATA
            self.add(Openness.DATA if held else Openness.FEW, body.opened)
        for each in view.definition.decorators:
            if each.name.rpartition(".")[2] not in HARMLESS and not keeps(view, each):
                reason = f"it is decorated with {each.name or 'an expression'}"
                self.add(Openness.FEW, reason, reason)
        if body.made:
            reason = "a base class is made by a call"
            self.add(Openness.FEW, reason, reason)
        module = view.names.files.module(view.module)
        if module is not None and module.native:
            self.add(Openness.FEW, "it is compiled, and stubs leave out what they do not tell")
        return self._metaclass()

    def _metaclass(self) -> list[View]:
        view, name = self._view, self._body.metaclass
        if not name or name.rpartition(".")[2] in METACLASSES:
            return []
        found = nearest(view.names.in_scope(view, name), view)
        reason = f"its metaclass {name} may give it names"
        if not isinstance(found, View) or found.definition.body is None:
            self.add(Openness.ANY, reason, reason)
            return []
        above = found.names.lineage(found)
        self.add(max(Openness.DATA, above.open), reason, reason)
        return list(above.classes)

    def asked(self, known: Sequence[type]) -> None:
        """Look at what the class does with names that it has not."""
        form = self._body.asked
        if form == "no":
            return
        held = form == "hidden" or not any(issubclass(each, Mapping | dict) for each in known)
        data = form in {"hidden", "items"} and held
        self.add(Openness.ITEMS if data else Openness.ANY, "it defines __getattr__")


def _merged(orders: list[list[View]]) -> Iterator[View]:
    """Python's order of bases: each class before its own bases, as C3 has it."""
    orders = [list(each) for each in orders if each]
    while orders:
        tails = {(each.path, each.layer.role) for order in orders for each in order[1:]}
        heads = (order[0] for order in orders if (order[0].path, order[0].layer.role) not in tails)
        # Where there is no order, Python has no class; reading goes on with any.
        best = next(heads, orders[0][0])
        yield best
        left = ([each for each in order if each.path != best.path] for order in orders)
        orders = [order for order in left if order]
