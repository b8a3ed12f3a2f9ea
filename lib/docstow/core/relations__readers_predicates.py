"""The words for who implements what, and where it is defined, between reader and whoever asks.

This room knows the predicates of such relations and how several share one row. It does not know
files or questions.
"""

from __future__ import annotations

#: Written by hand; derived; and for a bare type parameter (``impl<T: Display> Loud for T``).
WRITTEN, DERIVED, BLANKET = "implements", "derives", "implements-blanket"
#: One relation a type: what it gets automatically, and through blanket implementations.
AUTO_TRAITS, BLANKET_TRAITS = "auto-traits", "blanket-traits"
#: From a type to the type whose methods it has by ``Deref``.
DEREFS_TO = "derefs-to"
#: From a module that users cannot write to the place where what it defines is documented.
DEFINES = "defines"

SINGLE = frozenset({WRITTEN, DERIVED, BLANKET})
PACKED = frozenset({AUTO_TRAITS, BLANKET_TRAITS})


def unpacked(traits: str, headers: str) -> list[tuple[str, str]]:
    """The pairs of trait and header in a relation of :data:`PACKED`; ``!`` marks a negative one."""
    return list(zip(traits.split(" "), headers.split("\n"), strict=True))
