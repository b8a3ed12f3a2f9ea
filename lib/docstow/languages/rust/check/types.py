"""Types of Rust values that are known for certain."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass

from docstow.languages.rust.check.crate_names import CrateNames, standard
from docstow.languages.rust.check.std import OPTION, RESULT

#: The name of what must be awaited.
FUTURE = "Future"
#: Paths by the name that signatures write; what they hold is known too.
WRAPPERS = {"Option": OPTION, "Result": RESULT}


@dataclass(frozen=True, slots=True)
class Type:
    """A type that is known for certain.

    Attributes:
        name: the canonical path; ``Future`` for what must be awaited.
        crate: where it is found; None of a future.
        inner: what an option, a result or a future holds, if that is known.
        through: the path of the pointer that leads to it, which has members of its own.
    """

    name: str
    crate: CrateNames | None = None
    inner: Type | None = None
    through: str = ""


#: Types by name; None for a variable that hides another one and whose type is not certain.
Variables = MutableMapping[str, Type | None]
VariableScopes = ChainMap[str, Type | None]


def wrapper(name: str, inner: Type | None) -> Type:
    """Return the type of an option or a result."""
    return Type(WRAPPERS[name], standard(), inner)


def standard_type(path: str) -> Type:
    """Return a type of the standard library."""
    return Type(path, standard())
