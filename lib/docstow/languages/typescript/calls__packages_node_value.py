"""One value of a Node package, as checkers of code ask about it.

This room joins what is known of types, of calls and of what is global. It does not know code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docstow.languages.shared.surface__packages_values import Outcome, Passed, Value
from docstow.languages.typescript import calls as node_calls
from docstow.languages.typescript.calls import Argument
from docstow.languages.typescript.value_kinds import Held, Kind, Kinds, is_unknown
from docstow.languages.typescript.values import NodeValues


@dataclass(frozen=True, slots=True, eq=False)
class NodeValue:
    """What an expression may be.

    Args:
        values: works types out.
        kinds: the types that it may have; not empty.
    """

    values: NodeValues
    kinds: Kinds

    @property
    def name(self) -> str:
        """The path of its type, by the package that declares it."""
        kind = self.kinds[0]
        home = kind.home.removeprefix("@types/")
        return f"{home}.{kind.name}" if kind.name and home else kind.name

    @property
    def shared(self) -> bool:
        """Whether any package may add members to it."""
        return any(each.shared for each in self.kinds)

    def member(self, name: str) -> NodeValue | None:
        """A member; None where nothing is known of it."""
        return self._made(self.values.member(self.kinds, name))

    def lacks(self, name: str) -> bool:
        """Whether it certainly has no such member, of its own or by what others add."""
        if any(self.values.has(each, name) for each in self.kinds):
            return False
        added = self.values.globals
        if self.shared and added.adds(name):
            return False
        return not added.adds_own(name)

    def refuses(self, key: str) -> bool:
        """Whether an object that is written here cannot have such a key."""
        taking = [each for each in self.kinds if not each.basic and each.items is None]
        if not taking or not all(each.fields and not each.spaces for each in taking):
            return False
        return NodeValue(self.values, tuple(taking)).lacks(key)

    def has(self, name: str) -> bool:
        """Whether each of the types has such a member."""
        return all(
            name in each.fields
            or name in each.constants
            or any(self.values.names.export(space, name) is not None for space in each.spaces)
            for each in self.kinds
        )

    def names(self) -> tuple[str, ...]:
        """Names of members."""
        found: dict[str, None] = {}
        for kind in self.kinds:
            found |= dict.fromkeys(kind.fields)
            found |= dict.fromkeys(sorted(kind.constants))
            for space in kind.spaces:
                found |= dict.fromkeys(self.values.names.exports(space))
        return tuple(found)

    def item(self, index: int | None) -> NodeValue | None:
        """A member of an array or a tuple."""
        found: list[Kind] = []
        for kind in self.kinds:
            if kind.items is None:
                return None
            if not kind.fixed and kind.items:
                found += self.values.kinds(kind.items[0])
            elif index is not None and index < len(kind.items):
                found += self.values.kinds(kind.items[index])
            else:
                return None
        return self._made(tuple(found))

    def awaited(self) -> NodeValue | None:
        """What awaiting it gives."""
        return self._made(self.values.awaited(self.kinds))

    def call(
        self, passed: Sequence[Passed] | None, types: Sequence[Value | None], *, new: bool
    ) -> Outcome | None:
        """What a call gives, and what it expects."""
        given = None if passed is None else [self._argument(each) for each in passed]
        fits = node_calls.fitting(
            self.values, self.kinds, given, [self._kinds_of(each) for each in types], new=new
        )
        if fits is None:
            return None
        count = len(passed) if passed is not None else 0
        expects = tuple(
            self._made(node_calls.expected(self.values, fits, index)) for index in range(count)
        )
        return Outcome(self._made(node_calls.given_back(self.values, fits)), expects)

    def parameter(self, index: int, count: int) -> NodeValue | None:
        """What a function that is written here gets: of the one way in which it is called."""
        found: list[Kind] = []
        for kind in self.kinds:
            if not kind.calls and kind.certain and not kind.spaces:
                continue
            if len(kind.calls) != 1:
                return None
            call, setting = kind.calls[0]
            rest = bool(call.takes) and call.takes[-1].rest
            if len(call.takes) < count and not rest:
                continue  # it gives less than is asked for
            taken = call.takes[index] if index < len(call.takes) else None
            if call.generics or taken is None or taken.rest:
                return None
            found += self.values.kinds(Held(taken.term, setting))
        return self._made(tuple(found))

    def _argument(self, passed: Passed) -> Argument:
        return Argument(
            passed.form, passed.text, passed.count, self._kinds_of(passed.value), passed.keys
        )

    def _kinds_of(self, value: Value | None) -> Kinds | None:
        """Its types, if it is one of the same package's."""
        if isinstance(value, NodeValue) and value.values is self.values:
            return value.kinds
        return None

    def _made(self, kinds: Kinds) -> NodeValue | None:
        return NodeValue(self.values, kinds) if kinds and not is_unknown(kinds) else None
