"""Dataclasses made in a tenth of the time, for what every process imports.

:func:`dataclasses.dataclass` compiles six methods for each class, which takes a millisecond; before
its first answer a function makes 120 such classes, a fifth of what it takes. Here all methods but
``__init__`` are plain ones, and that one is compiled when the first instance is made, which of most
classes never is: until then a class has no signature. Nothing else differs, and type checkers see
the library's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
    ) -> Callable[[type], type]:
        """Return a decorator as :func:`dataclasses.dataclass` does."""

        def make(cls: type) -> type:
            plain = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
            )
            made = plain(cls)
            members = fields(made)
            methods = {"__init__": _compile_later(made, members), "__repr__": _show}
            if frozen:
                methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
            if frozen and slots:
                methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
            own = vars(made)
            if eq:
                equal, hashed = _make_comparison([each.name for each in members if each.compare])
                methods["__eq__"] = equal
                # A class that has ``__eq__`` alone has None here.
                if own.get("__hash__") is None:
                    made.__hash__ = hashed if frozen else None
            for name, method in methods.items():
                if name not in own:
                    setattr(made, name, method)
            return made

        return make


def _compile_later(made: type, members: tuple[Field[Any], ...]) -> Callable[..., None]:
    """Return what makes ``__init__``, puts it in its own place, and calls it."""

    def __init__(self: Any, *args: object, **kwargs: object) -> None:  # noqa: N807
        init = _make_init(made, members)
        # A class that is derived from this one and has no fields of its own calls it as well.
        type.__setattr__(made, "__init__", init)
        init(self, *args, **kwargs)

    return __init__


def _make_init(made: type, members: tuple[Field[Any], ...]) -> Callable[..., None]:
    """Compile what sets the fields from arguments and defaults."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    positional, named, body = ["self"], list[str](), list[str]()
    for each in members:
        name = value = each.name
        argument = name
        if each.default is not MISSING:
            names[f"_{name}_default"] = each.default
            argument, value = f"{name}=_{name}_default", name if each.init else f"_{name}_default"
        elif each.default_factory is not MISSING:
            names[f"_{name}_make"] = each.default_factory
            argument, value = f"{name}=_MISSING", f"_{name}_make()"
            if each.init:
                value = f"{value} if {name} is _MISSING else {name}"
        elif not each.init:
            continue
        if each.init:
            (named if each.kw_only else positional).append(argument)
        body.append(f"_set(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ", ".join([*positional, *(["*", *named] if named else [])])
    code = "\n ".join([f"def __init__({arguments}):", *(body or ["pass"])])
    exec(code, names)  # noqa: S102 - of the names of fields, as the library does it
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each in members if each.init}
    return init


def _make_comparison(
    names: list[str],
) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    """Return ``__eq__`` and ``__hash__`` of some fields."""
    get: Callable[[Any], object] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return get(self) == get(other)

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(get(self))

    return __eq__, __hash__


def _show(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(_: object, name: str, __: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
