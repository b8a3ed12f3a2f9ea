"""Values of a package as code uses them: what checkers ask of whoever works types out.

This room knows the questions. It does not know any language's types, nor code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Form = Literal["function", "string", "number", "boolean", "object", "array", "nothing", "other"]


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument as code writes it.

    Attributes:
        form: what it is written as.
        text: of a string, what it says.
        count: of a function, how many parameters it names.
        value: what it certainly is.
        keys: of an object, the names that it is written with.
    """

    form: Form = "other"
    text: str | None = None
    count: int = 0
    value: Value | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gives, and what it expects.

    Attributes:
        value: what it gives.
        expects: of each argument.
    """

    value: Value | None
    expects: tuple[Value | None, ...]


class Value(Protocol):
    """What an expression certainly is, as far as that is known."""

    @property
    def name(self) -> str:
        """The path of its type, for messages: ``express.Response``; empty where it has none."""
        ...

    @property
    def shared(self) -> bool:
        """Whether any package may add members to it, since its type is global."""
        ...

    def member(self, name: str) -> Value | None:
        """A member; None where nothing is known of it."""
        ...

    def lacks(self, name: str) -> bool:
        """Whether it certainly has no such member."""
        ...

    def refuses(self, key: str) -> bool:
        """Whether an object that is written where this is expected cannot have such a key."""
        ...

    def has(self, name: str) -> bool:
        """Whether it certainly has such a member."""
        ...

    def names(self) -> tuple[str, ...]:
        """Names of members, for suggestions."""
        ...

    def item(self, index: int | None) -> Value | None:
        """A member of an array or a tuple; of no certain place without an index."""
        ...

    def awaited(self) -> Value | None:
        """What awaiting it gives."""
        ...

    def call(
        self, passed: Sequence[Passed] | None, types: Sequence[Value | None], *, new: bool
    ) -> Outcome | None:
        """What a call gives.

        Args:
            passed: arguments; None where their number is not certain.
            types: type arguments.
            new: whether it is made by ``new``.
        """
        ...

    def parameter(self, index: int, count: int) -> Value | None:
        """What a function that is written here with so many parameters gets as one of them."""
        ...


class Values(Protocol):
    """A surface that can tell what its names are."""

    def value(self, path: str) -> Value | None:
        """What an exported path is as a value."""
        ...

    def typed(self, path: str, types: Sequence[Value | None]) -> Value | None:
        """What has an exported type."""
        ...

    def global_value(self, name: str) -> Value | None:
        """What a global name is."""
        ...

    def global_type(self, name: str, types: Sequence[Value | None]) -> Value | None:
        """What has a type of the language itself."""
        ...
