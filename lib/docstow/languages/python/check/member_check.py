"""Whether a member of a value is certainly missing, and the names that come near it."""

from __future__ import annotations

from collections.abc import Sequence

from docstow.languages.python.builtin_names import CLASS_NAMES
from docstow.languages.python.check.local_classes import LocalClasses
from docstow.languages.python.check.value_types import LocalType, PackageType, ValueType
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.findings import name_similarity
from docstow.languages.shared.lookup import Answer, Names, absent
from docstow.languages.shared.surface import Openness

#: How similar, of 100, the nearest known name of a class must be before a missing one that is read
#: or called is reported; a class that is more open than these is never reported.
_LEAST_WHEN_READ = {Openness.CLOSED: 75.0, Openness.DATA: 85.0, Openness.FEW: 95.0}
_LEAST_WHEN_CALLED = {
    Openness.CLOSED: 0.0,
    Openness.DATA: 0.0,
    Openness.ITEMS: 0.0,
    Openness.FEW: 80.0,
}
#: The same for a name that a method reads of its own ``self`` or ``cls``.
_LEAST_OF_RECEIVER = 85.0


class MemberCheck:
    """Answers for members of values.

    Args:
        names: where names are looked up.
        classes: the classes of the code.
    """

    def __init__(self, names: Names, classes: LocalClasses) -> None:
        self._names = names
        self._classes = classes

    def check(self, owner: ValueType, name: str, *, called: bool) -> tuple[str, Answer] | None:
        """Return a member's path and the answer to it; None where there is nothing to report."""
        if isinstance(owner, LocalType):
            return self._check_local(owner, name, called=called)
        path, package = f"{owner.path}.{name}", owner.package
        if package.symbol(path) is not None:
            return path, self._names.look_up(path)
        near = self._names.suggest(package, owner.path, name, called=called)
        is_missing = (
            owner.certainly_lacks(name)
            and _is_conclusive(owner.openness, name, near, called=called)
            and not _subclass_may_have(owner, name)
        )
        if not is_missing:
            return path, Answer("not_checked", package=package)
        message = absent(package, "class", owner.path, name, near)
        return path, Answer(
            "unknown", message=message, suggestions=near, looked_in=owner.path, package=package
        )

    def _check_local(
        self, owner: LocalType, name: str, *, called: bool
    ) -> tuple[str, Answer] | None:
        classes = self._classes
        base = classes.inherited_from(owner, name)
        if base is not None:
            path = f"{base.path}.{name}"
            return path, self._names.look_up(path)
        if name.startswith("_") or classes.has_member(owner, name):
            return None
        if owner.is_class and (name in CLASS_NAMES or name == "register"):
            return None
        openness, title = classes.openness(owner), owner.node.name
        near = self._names.suggest_own(title, name, lambda: classes.member_names(owner))
        if owner.is_receiver:
            # A subclass elsewhere, or a class that mixes it in, may have the name.
            is_closed = openness <= Openness.DATA and not classes.has_subclasses(owner)
            if not is_closed or _best_likeness(name, near) < _LEAST_OF_RECEIVER:
                return None
        elif not (
            _is_conclusive(openness, name, near, called=called) or classes.is_closed_enum(owner)
        ):
            return None
        message = f"class {title} of this code has no {name}"
        message += f"; did you mean {near[0]}?" if near else "."
        above = (each for each in classes.bases(owner) or () if isinstance(each, PackageType))
        package = next((each.package for each in above), None)
        return f"{title}.{name}", Answer(
            "unknown", message=message, suggestions=near, looked_in=title, package=package
        )


def _subclass_may_have(owner: PackageType, name: str) -> bool:
    surface = owner.package.surface
    if not isinstance(surface, PythonSurface):
        return False
    return any(surface.subclass_may_have(each, name) for each in owner.paths)


def _best_likeness(name: str, near: Sequence[str]) -> float:
    return max((name_similarity(name, each.rpartition(".")[2]) for each in near), default=0.0)


def _is_conclusive(openness: Openness, name: str, near: Sequence[str], *, called: bool) -> bool:
    """Return whether enough of a class is seen to call a name wrong that it is not seen to have."""
    least = (_LEAST_WHEN_CALLED if called else _LEAST_WHEN_READ).get(openness)
    return least is not None and (least == 0.0 or _best_likeness(name, near) >= least)
