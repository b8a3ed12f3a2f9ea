"""Calls of what Node packages declare: which overloads fit, what they give and what they expect.

This room knows how TypeScript chooses: the first overload that takes the arguments. Where an
argument leaves open whether it fits, the overloads behind it are kept as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docstow.languages.shared.surface import Outcome, Passed, Value
from docstow.languages.typescript.source.types import (
    EMPTY_TYPES,
    Parameter,
    Primitive,
    Signature,
    TypeReference,
    Union,
)
from docstow.languages.typescript.value_kinds import UNKNOWN, Held, Kind, Kinds, Setting, is_unknown
from docstow.languages.typescript.values import NodeValues

#: Overloads beyond which nothing is said.
_MOST = 120


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument: its form and text as code has it, and what it certainly is."""

    form: str
    text: str | None
    count: int
    kinds: Kinds | None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fit:
    """An overload that may be meant."""

    call: Signature
    setting: Setting
    made: Held | None


def fitting(
    values: NodeValues,
    kinds: Kinds,
    given: Sequence[Argument] | None,
    types: Sequence[Kinds | None],
    *,
    new: bool,
) -> list[Fit] | None:
    """The overloads that may be meant; None where it is not certain that they are all.

    Args:
        values: works types out.
        kinds: what is called.
        given: arguments; None where their number is not certain.
        types: type arguments.
        new: whether it is called by ``new``.
    """
    found: list[Fit] = []
    for kind in kinds:
        every = kind.news if new else [(call, setting, None) for call, setting in kind.calls]
        if not every and not new and kind.certain and not kind.spaces:
            continue
        if not every or len(every) > _MOST:
            return None
        for call, setting, made in every:
            if types and len(types) > len(call.type_parameters) and made is None:
                continue
            if given is None:
                found.append(Fit(call, _bound(values, call, setting, None, types), made))
                continue
            if not _counts(call, len(given)):
                continue
            bound = _bound(values, call, setting, given, types)
            fits = [_fits(values, call, at, bound, each) for at, each in enumerate(given)]
            if False in fits:
                continue
            found.append(Fit(call, bound, made))
            if all(fits):
                break
    return found or None


def expected(values: NodeValues, fits: Sequence[Fit], index: int) -> Kinds:
    """What may be expected of an argument."""
    found: list[Kind] = []
    for each in fits:
        found += _of_parameter(values, _taken(each.call, index), each.setting)
    return tuple(found)


def given_back(values: NodeValues, fits: Sequence[Fit]) -> Kinds:
    """What may be given."""
    found: list[Kind] = []
    for each in fits:
        if each.made is not None:
            found += values.kinds(each.made)
        else:
            found += values.kinds(Held(each.call.result, each.setting))
    return tuple(found)


def _counts(call: Signature, count: int) -> bool:
    fewest = max((at for at, each in enumerate(call.positions, 1) if each.required), default=0)
    most = len(call.positions)
    return count >= fewest and (count <= most or (most > 0 and call.positions[-1].rest))


def _taken(call: Signature, index: int) -> Parameter | None:
    if index < len(call.positions):
        return call.positions[index]
    return call.positions[-1] if call.positions and call.positions[-1].rest else None


def _of_parameter(values: NodeValues, taken: Parameter | None, setting: Setting) -> Kinds:
    if taken is None:
        return UNKNOWN
    kinds = values.kinds(Held(taken.type, setting))
    if not taken.rest:
        return kinds
    found: list[Kind] = []
    for kind in kinds:
        if kind.items is None or kind.fixed:
            return UNKNOWN
        found += values.kinds(kind.items[0])
    return tuple(found)


def _bound(
    values: NodeValues,
    call: Signature,
    setting: Setting,
    given: Sequence[Argument] | None,
    types: Sequence[Kinds | None],
) -> Setting:
    """What the type parameters of a call stand for."""
    if not call.type_parameters:
        return setting
    found = dict(setting.generics)
    bound = Setting(setting.space, found, setting.this)
    for at, generic in enumerate(call.type_parameters):
        told = types[at] if at < len(types) else None
        speaking = [
            index for index, each in enumerate(call.positions) if generic.name in each.mentions
        ]
        if at < len(types):
            found[generic.name] = Held(None, None, told or UNKNOWN)
        elif speaking and not _says_nothing(values, call, speaking, setting, given):
            found[generic.name] = _inferred(values, call, generic.name, speaking, given)
        elif generic.default is not None:
            found[generic.name] = Held(generic.default, bound)
        elif generic.constraint is not None and not types:
            found[generic.name] = Held(generic.constraint, bound)
        else:
            found[generic.name] = Held(None, None, UNKNOWN)
    return bound


def _says_nothing(
    values: NodeValues,
    call: Signature,
    speaking: Sequence[int],
    setting: Setting,
    given: Sequence[Argument] | None,
) -> bool:
    """Whether no argument tells what a type parameter is: none is given, or functions that take it.

    A function tells what it gives back, and nothing of what it takes.
    """
    if given is None:
        return False
    blank = {each.name: Held(None, None, UNKNOWN) for each in call.type_parameters}
    inside = Setting(setting.space, {**setting.generics, **blank}, setting.this)
    for index in speaking:
        if index >= len(given):
            continue
        if given[index].form != "function" or call.positions[index].rest:
            return False
        for kind in values.kinds(Held(call.positions[index].type, inside)):
            gives = [each.result for each, _ in kind.calls]
            if not gives or not all(
                isinstance(e, Primitive) and e.name in EMPTY_TYPES for e in gives
            ):
                return False
    return True


def _inferred(
    values: NodeValues,
    call: Signature,
    name: str,
    speaking: Sequence[int],
    given: Sequence[Argument] | None,
) -> Held:
    """What an argument that is of the type itself makes of a type parameter."""
    if len(speaking) == 1 and given is not None and speaking[0] < len(given):
        taken, passed = call.positions[speaking[0]], given[speaking[0]]
        if _is_alone(taken, name) and passed.kinds is not None:
            return Held(None, None, passed.kinds)
        parts = taken.type.parts if isinstance(taken.type, Union) else (taken.type,)
        alone = any(isinstance(each, TypeReference) and each.path == (name,) for each in parts)
        if alone and not taken.rest and passed.form in ("string", "number", "boolean"):
            return Held(None, None, values.basic(passed.form))
    return Held(None, None, UNKNOWN)


def _fits(
    values: NodeValues, call: Signature, index: int, setting: Setting, given: Argument
) -> bool | None:
    """Whether an argument can be passed; None where that is not certain."""
    taken = _taken(call, index)
    generic = next((each for each in call.type_parameters if _is_alone(taken, each.name)), None)
    if generic is None:
        kinds = _of_parameter(values, taken, setting)
    elif generic.constraint is None:
        return True
    else:
        kinds = values.kinds(Held(generic.constraint, setting))
    answers = [_fits_kind(values, each, given) for each in kinds]
    if True in answers:
        return True
    if taken is not None and not taken.required and given.form == "nothing":
        return True
    return None if None in answers or not answers else False


def _is_alone(taken: Parameter | None, name: str) -> bool:
    """Whether a parameter is of a type parameter itself."""
    if taken is None or taken.rest or not isinstance(taken.type, TypeReference):
        return False
    return taken.type.path == (name,) and not taken.type.module


def _fits_kind(values: NodeValues, kind: Kind, given: Argument) -> bool | None:
    if given.form in ("string", "number", "boolean"):
        if kind.literal is not None:
            return kind.basic == given.form and kind.literal == given.text
        if kind.basic:
            return kind.basic == given.form
        if kind.certain and (kind.items is not None or kind.calls):
            return False
        # An object that asks for what the word has not.
        own = values.global_type(given.form.capitalize(), ())
        lacks = any(name not in each.fields for each in own for name in kind.fields)
        return False if kind.certain and lacks and all(each.certain for each in own) else None
    if given.form in ("function", "object", "array"):
        if kind.basic:
            return False
        if given.form == "array":
            return True if kind.items is not None and not kind.fixed else None
        if kind.items is not None:
            return False
        if given.form == "function":
            return _fits_function(kind, given)
        return False if kind.calls and kind.certain else None
    return None


def _fits_function(kind: Kind, given: Argument) -> bool | None:
    if not kind.certain:
        return None
    if not kind.calls:
        return False if kind.fields else None
    takes = kind.calls[0][0].positions
    enough = given.count <= len(takes) or bool(takes and takes[-1].rest)
    return True if enough and len(kind.calls) == 1 else None


# One value of a Node package, as checkers of code ask about it.


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
        fits = fitting(
            self.values, self.kinds, given, [self._kinds_of(each) for each in types], new=new
        )
        if fits is None:
            return None
        count = len(passed) if passed is not None else 0
        expects = tuple(self._made(expected(self.values, fits, index)) for index in range(count))
        return Outcome(self._made(given_back(self.values, fits)), expects)

    def parameter(self, index: int, count: int) -> NodeValue | None:
        """What a function that is written here gets: of the one way in which it is called."""
        found: list[Kind] = []
        for kind in self.kinds:
            if not kind.calls and kind.certain and not kind.spaces:
                continue
            if len(kind.calls) != 1:
                return None
            call, setting = kind.calls[0]
            rest = bool(call.positions) and call.positions[-1].rest
            if len(call.positions) < count and not rest:
                continue  # it gives less than is asked for
            taken = call.positions[index] if index < len(call.positions) else None
            if call.type_parameters or taken is None or taken.rest:
                return None
            found += self.values.kinds(Held(taken.type, setting))
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
