"""How certain it must be that a class has no such name, before anybody hears of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from docstow.languages.python.check.annotations import PackageType, ValueType
from docstow.languages.python.surface import STANDARD, PythonSurface
from docstow.languages.shared.likeness import name_similarity
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.surface import Openness

#: Requests to which middleware of a project gives what it finds.
_EXTENDED = frozenset(
    {
        "django.http.request.HttpRequest",
        "django.core.handlers.wsgi.WSGIRequest",
        "django.core.handlers.asgi.ASGIRequest",
        "rest_framework.request.Request",
    }
)
#: What requests of another framework have in place of these.
_OF_FLASK = frozenset({"args", "files", "form", "json", "values"})
#: How similar, of 100, the nearest known name of a class must be before a missing one that is read
#: or called is reported; a class that is more open than these is never reported.
_LEAST_WHEN_READ = {Openness.CLOSED: 75.0, Openness.DATA: 85.0, Openness.FEW: 95.0}
_LEAST_WHEN_CALLED = {
    Openness.CLOSED: 0.0,
    Openness.DATA: 0.0,
    Openness.ITEMS: 0.0,
    Openness.FEW: 80.0,
}


#: What dictionaries are called by whose items are attributes, too.
_WITH_ATTRIBUTES = ("AttributeDict", "AttrDict", "DotDict")
#: Classes of which ``create_model``, ``GetMessageClass`` and ``defstruct`` make others with fields.
_COMMON_BASES = frozenset(
    {"pydantic.main.BaseModel", "google.protobuf.message.Message", "msgspec.Struct"}
)


def may_be_of_middleware(owner: PackageType, name: str, *, called: bool) -> bool:
    """Return whether what a project installs may give an instance a name: ``request.tenant``."""
    return not called and name not in _OF_FLASK and _is_extended(owner)


def _is_extended(owner: PackageType) -> bool:
    symbols = map(owner.package.symbol, owner.paths)
    return not _EXTENDED.isdisjoint(e.target or e.path for e in symbols if e is not None)


def subclass_may_have(owner: PackageType, name: str, *, exact: bool = False) -> bool:
    """Return whether a subclass in the package has a name that a class lacks, or may have it.

    A class that stands for others may have any name.

    Args:
        owner: the class.
        name: the name.
        exact: the value is of no subclass: only what modules give the class itself counts.
    """
    surface, is_open = owner.package.surface, not owner.is_plain
    return isinstance(surface, PythonSurface) and any(
        surface.stands_for_others(each)
        or surface.is_given(each, name)
        or (not exact and surface.subclass_may_have(each, name, is_open=is_open))
        for each in owner.paths
    )


def is_common_base(owner: PackageType) -> bool:
    """Return whether nothing but subclasses of a class is used, which may be made of data."""
    symbols = map(owner.package.symbol, owner.paths)
    return not _COMMON_BASES.isdisjoint(e.target or e.path for e in symbols if e is not None)


def may_have_keys(owner: PackageType) -> bool:
    """Return whether a package that declares a dictionary makes ones with keys as attributes.

    So does web3: ``receipt.status``.
    """
    symbol, surface = owner.package.symbol(owner.path), owner.package.surface
    is_declared = symbol is not None and "TypedDict" in symbol.signature
    return (
        is_declared
        and isinstance(surface, PythonSurface)
        and any(map(surface.mentions, _WITH_ATTRIBUTES))
    )


def may_decide(path: str, given: Iterable[ValueType | None]) -> bool:
    """Return whether a function of numpy is given a value of a class that is not numpy's.

    Such a class says what the function returns: ``numpy.log`` of a table is a table.

    Args:
        path: of the function.
        given: the types of its arguments.
    """
    own = {"numpy", STANDARD}
    return path.startswith("numpy.") and any(
        isinstance(each, PackageType) and each.package.name not in own for each in given
    )


def subclass_may_take(
    owner: PackageType, method: str, keyword: str, *, named: bool = False
) -> bool:
    """Return whether a subclass in the package has a method with a keyword.

    Args:
        owner: the class.
        method: of it.
        keyword: which the class itself does not take.
        named: one counts that names the keyword, and none that takes any.
    """
    surface = owner.package.surface
    return isinstance(surface, PythonSurface) and any(
        surface.subclass_may_take(each, method, keyword, named=named) for each in owner.paths
    )


def subclass_takes_more(owner: PackageType, method: str, given: int) -> bool:
    """Return whether a subclass in the package has a method with so many arguments."""
    surface = owner.package.surface
    return isinstance(surface, PythonSurface) and any(
        surface.subclass_takes_more(each, method, given) for each in owner.paths
    )


def may_make_another(package: Installed, path: str) -> bool:
    """Return whether the ``__new__`` of a class takes anything, and may make another's instance."""
    new = package.surface.symbol(f"{path}.__new__")
    kinds = [each.kind for each in (new.parameters or ()) if each.name != "cls"] if new else []
    is_any = kinds == ["var_positional", "var_keyword"]
    return new is not None and is_any and not new.signature.endswith("-> Self")


def makes_others(owner: PackageType) -> bool:
    """Return whether a call of a class, or of one that extends it, may make another's instance."""
    surface = owner.package.surface
    return isinstance(surface, PythonSurface) and surface.makes_others(owner.path)


def is_descriptor(kind: PackageType) -> bool:
    """Return whether what a class's attribute gives is not its value: that says what is read."""
    methods = (kind.package.symbol(f"{kind.path}.{each}") for each in ("__get__", "__set__"))
    return any(each is not None and each.kind == "method" for each in methods)


def is_one_of_several(owner: PackageType) -> bool:
    """Return whether a type variable of a package stands for a class or for another one."""
    surface = owner.package.surface
    if not isinstance(surface, PythonSurface) or owner.package.name == STANDARD:
        return False
    return surface.constrains(owner.path)


def wraps(owner: PackageType, name: str) -> bool:
    """Return whether a class stands for instances of another, and may wrap what a name gives."""
    surface = owner.package.surface
    return isinstance(surface, PythonSurface) and any(
        surface.wraps(each, name) for each in owner.paths
    )


def is_filled(owner: PackageType, name: str) -> bool:
    """Return whether a function makes names up for a class."""
    surface = owner.package.surface
    return isinstance(surface, PythonSurface) and any(
        surface.is_filled(each, name) for each in owner.paths
    )


def is_told(owner: PackageType, name: str) -> bool:
    """Return whether a decorator or an argument of a class is given a part of a name."""
    surface = owner.package.surface
    return isinstance(surface, PythonSurface) and any(
        surface.is_told(each, name) for each in owner.paths
    )


def best_likeness(name: str, near: Sequence[str]) -> float:
    """Return from 0 to 100 how alike the nearest of some paths is."""
    return max((name_similarity(name, each.rpartition(".")[2]) for each in near), default=0.0)


def is_unheard_of(kind: PackageType, name: str, *, called: bool) -> bool:
    """Return whether a class has no such name, and no code of packages gives it one.

    Of a class that is all seen an attribute would have to be set from outside.
    """
    surface = kind.package.surface
    if not isinstance(surface, PythonSurface) or kind.package.name == STANDARD:
        return False
    if kind.openness(name) is Openness.CLOSED and not surface.may_set(name):
        return True
    return not any(surface.may_be_given(each, name, called=called) for each in kind.paths)


def is_closed(kind: PackageType, name: str, *, called: bool) -> bool:
    """Return whether a class lacks a name that neither a type checker nor our reader sees.

    A type checker knows what decorators give.
    """
    surface = kind.package.surface
    openness = kind.openness(name)
    if openness <= Openness.DATA or not isinstance(surface, PythonSurface):
        return openness <= Openness.DATA
    if all(surface.is_open_by_calls(each, name) for each in kind.paths):
        return True
    return is_unheard_of(kind, name, called=called)


def is_conclusive(kind: PackageType, name: str, near: Sequence[str], *, called: bool) -> bool:
    """Return whether enough of a class is seen to call a name wrong that it is not seen to have.

    One that code gives names is not enough seen where its package defines one alike to be given.
    """
    openness, surface = kind.openness(name), kind.package.surface
    if name in _OF_FLASK and _is_extended(kind):
        return True
    least = (_LEAST_WHEN_CALLED if called else _LEAST_WHEN_READ).get(openness)
    if least is None or (least > 0.0 and best_likeness(name, near) < least):
        return False
    if openness is not Openness.FEW or not isinstance(surface, PythonSurface):
        return True
    return not any(
        surface.is_open_by_words(each, name) and surface.may_be_given(each, name, called=called)
        for each in kind.paths
    )
