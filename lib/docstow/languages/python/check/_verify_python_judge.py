"""Whether a member of a value is missing for certain, and what comes near it.

This room knows how much must be seen of a class before a name is called wrong. It does not walk
code.
"""

from __future__ import annotations

from docstow.languages.python.check.terms import Made, Own, Term
from docstow.languages.python.check.types import OwnClasses
from docstow.languages.python.names__packages_python_known import CLASS_NAMES
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Answer, Names, absent
from docstow.languages.shared.suggestions import likeness
from docstow.languages.shared.surface import Openness

#: How like a known name one must be that is only read; one that is called, where names may be set.
_READ = {Openness.CLOSED: 75.0, Openness.DATA: 85.0, Openness.FEW: 95.0}
_CALLED = {
    Openness.CLOSED: 0.0,
    Openness.DATA: 0.0,
    Openness.ITEMS: 0.0,
    Openness.FEW: 80.0,
}
#: How like a name of its class one must be that a method asks of what it receives.
_RECEIVED = 85.0


class Judge:
    """Answers for members of values.

    Args:
        names: where names are looked up.
        own: the classes of the code.
    """

    def __init__(self, names: Names, own: OwnClasses) -> None:
        self._names = names
        self._own = own

    def member(self, owner: Term, name: str, *, called: bool) -> tuple[str, Answer] | None:
        """What is known of a member: its path and the answer; None where nobody is to be told."""
        if isinstance(owner, Own):
            return self._of_own(owner, name, called=called)
        whole = f"{owner.path}.{name}"
        if owner.package.symbol(whole) is not None:
            return whole, self._names.look_up(whole)
        near = self._names.suggest(owner.package, owner.path, name, called=called)
        sure = self._lacks(owner, name) and _enough(self._level(owner), name, near, called=called)
        if not sure or _heirs_may_have(owner, name):
            return whole, Answer("not_checked", package=owner.package)
        message = absent(owner.package, "class", owner.path, name, near)
        return whole, Answer(
            "unknown",
            message=message,
            suggestions=near,
            looked_in=owner.path,
            package=owner.package,
        )

    def _lacks(self, owner: Made, name: str) -> bool:
        if name.startswith("_") or owner.vague:
            return False
        paths = [f"{each}.{name}" for each in _paths(owner)]
        package = owner.package
        return all(
            package.surface.symbol(each) is None and package.lacks(each) is not False
            for each in paths
        )

    def _level(self, owner: Made) -> Openness:
        surface = owner.package.surface
        return max(surface.openness(each) for each in _paths(owner))

    def _of_own(self, owner: Own, name: str, *, called: bool) -> tuple[str, Answer] | None:
        base = self._own.package_member(owner, name)
        if base is not None:
            whole = f"{base.path}.{name}"
            return whole, self._names.look_up(whole)
        if name.startswith("_") or self._own.has(owner, name):
            return None
        if owner.itself and (name in CLASS_NAMES or name == "register"):
            return None
        level, title = self._own.openness(owner), owner.node.name
        near = self._names.suggest_own(title, name, lambda: self._own.names(owner))
        if owner.received:
            # Others may derive from it, or mix it in, and have the name.
            sure = level <= Openness.DATA and not self._own.has_heirs(owner)
            if not sure or _best(name, near) < _RECEIVED:
                return None
        elif not _enough(level, name, near, called=called) and not self._own.is_closed_enum(owner):
            return None
        message = f"class {title} of this code has no {name}"
        message += f"; did you mean {near[0]}?" if near else "."
        above = next((e for e in self._own.bases(owner) or () if isinstance(e, Made)), None)
        package = above.package if above is not None else None
        answer = Answer(
            "unknown", message=message, suggestions=near, looked_in=title, package=package
        )
        return f"{title}.{name}", answer


def _heirs_may_have(owner: Made, name: str) -> bool:
    """Whether a value may well be of a class derived from its own that has the name."""
    surface = owner.package.surface
    if not isinstance(surface, PythonSurface):
        return False
    return any(surface.heirs_may_have(each, name) for each in _paths(owner))


def _paths(owner: Made) -> tuple[str, ...]:
    return (owner.path, *owner.others, *owner.union)


def _best(name: str, near: tuple[str, ...]) -> float:
    return max((likeness(name, each.rpartition(".")[2]) for each in near), default=0.0)


def _enough(level: Openness, name: str, near: tuple[str, ...], *, called: bool) -> bool:
    """Whether enough is seen of a class to call a name wrong that it is not seen to have."""
    least = (_CALLED if called else _READ).get(level)
    return least is not None and (least == 0.0 or _best(name, near) >= least)
