"""Records beside the standard library's dataclasses of the same body."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from docstow.core import records

#: The same under both.
Decorate = Callable[..., Callable[[type], Any]]


def _point(dataclass: Decorate) -> Any:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        unit: ClassVar[str] = "m"
        x: int
        y: int = 2
        tags: tuple[str, ...] = ()
        note: str = field(default="", compare=False, repr=False)
        seen: dict[str, int] = field(default_factory=dict, hash=False, compare=False)
        twice: int = field(init=False, default=4)
        parts: list[int] = field(init=False, default_factory=list, compare=False)

        def norm(self) -> int:
            """Return the sum of both."""
            return self.x + self.y

    return Point


def _named(dataclass: Decorate) -> Any:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        """A name, which is checked."""

        name: str
        size: int = 0

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("no name")

        def __repr__(self) -> str:
            return f"<{self.name}>"

    return Named


def _folded(dataclass: Decorate) -> Any:
    @dataclass(frozen=True, slots=True)
    class Folded:
        """A word in any case."""

        word: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and other.word.lower() == self.word.lower()

        def __hash__(self) -> int:
            return hash(self.word.lower())

    return Folded


def _identity(dataclass: Decorate) -> Any:
    @dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        """Equal to itself alone."""

        value: int = 1

    return Identity


def _empty(dataclass: Decorate) -> Any:
    @dataclass(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    return Empty


def _tally(dataclass: Decorate) -> Any:
    @dataclass(slots=True)
    class Tally:
        """What is counted."""

        name: str
        count: int = 0

    return Tally


def _whole(dataclass: Decorate) -> Any:
    @dataclass(frozen=True)
    class Whole:
        """Something of which more is found out later."""

        name: str

        @cached_property
        def upper(self) -> str:
            return self.name.upper()

    return Whole


MAKERS = [_point, _named, _folded, _identity, _empty, _tally, _whole]


def outcome(call: Callable[[], object]) -> object:
    """What a call returns, or the type and the text of what it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - whatever either raises
        return type(error), str(error).partition("__init__()")[2]


@pytest.mark.parametrize("make", MAKERS)
def test_a_record_has_the_librarys_fields_and_signature(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(records.dataclass), make(dataclasses.dataclass)

    def fields(cls: Any) -> list[tuple[object, ...]]:
        names = ("name", "type", "default", "init", "repr", "compare", "hash", "kw_only")
        return [tuple(getattr(f, name) for name in names) for f in dataclasses.fields(cls)]

    assert fields(ours) == fields(theirs)
    assert getattr(ours, "__slots__", None) == getattr(theirs, "__slots__", None)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__doc__ == theirs.__doc__
    outcome(lambda: ours())  # from its first instance on it has a signature
    told = [inspect.signature(cls).parameters for cls in (ours, theirs)]
    assert [(p.name, p.kind) for p in told[0].values()] == [
        (p.name, p.kind) for p in told[1].values()
    ]
    assert ours.__dictoffset__ == theirs.__dictoffset__


@pytest.mark.parametrize(
    ("make", "arguments", "named"),
    [
        (_point, (1,), {}),
        (_point, (1, 3), {"tags": ("a",), "note": "n", "seen": {"b": 1}}),
        (_point, (), {}),
        (_point, (1,), {"twice": 3}),
        (_named, (), {"name": "a"}),
        (_named, ("a",), {}),
        (_named, (), {"name": ""}),
        (_folded, ("Word",), {}),
        (_identity, (), {}),
        (_empty, (), {}),
        (_empty, (1,), {}),
        (_tally, ("a",), {"count": 2}),
        (_tally, (), {}),
        (_whole, ("a",), {}),
    ],
)
def test_a_record_is_made_and_shown_as_the_librarys(
    make: Callable[[Any], Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, theirs = (
        outcome(lambda cls=cls: dataclasses.asdict(cls(*arguments, **named)))  # type: ignore[misc]
        for cls in (make(records.dataclass), make(dataclasses.dataclass))
    )
    assert ours == theirs
    if isinstance(ours, dict):
        shown = [
            repr(make(each)(*arguments, **named))
            for each in (records.dataclass, dataclasses.dataclass)
        ]
        assert shown[0] == shown[1]


def test_a_record_cannot_be_changed() -> None:
    point = _point(records.dataclass)(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.other = 2
    assert (point.x, point.norm(), point.unit) == (1, 3, "m")


def test_what_is_not_frozen_can_be_changed_and_has_no_hash() -> None:
    tally = _tally(records.dataclass)
    one, other = tally("a"), tally("a", 1)
    assert one != other
    one.count += 1
    assert one == other
    for change in (lambda: hash(one), lambda: setattr(one, "more", 1)):
        with pytest.raises((TypeError, AttributeError)):
            change()
    assert pickle.loads(pickle.dumps(Count("a", 2))) == copy.copy(Count("a", 2)) == Count("a", 2)


def test_a_record_without_slots_keeps_what_is_found_out() -> None:
    whole = _whole(records.dataclass)("a")
    assert whole.upper is whole.upper == "A"
    with pytest.raises(FrozenInstanceError):
        whole.name = "b"


def test_records_are_equal_by_what_is_compared() -> None:
    make = _point(records.dataclass)
    one, same, other = make(1, note="a"), make(1, note="b", seen={"c": 1}), make(2)
    assert (one == same, hash(one) == hash(same), one == other) == (True, True, False)
    assert one != _point(records.dataclass)(1)
    assert one.seen is not make(1).seen
    folded, identity = _folded(records.dataclass), _identity(records.dataclass)
    assert (folded("A") == folded("a"), len({folded("A"), folded("a")})) == (True, 1)
    assert (identity() == identity(), len({identity(), identity()})) == (False, 2)
    assert _empty(records.dataclass)() is not None


@records.dataclass(frozen=True, slots=True)
class Kept:
    """A record that pickle finds."""

    name: str
    sizes: tuple[int, ...] = ()


@records.dataclass(slots=True)
class Count:
    """The same, and it may change."""

    name: str
    count: int = 0


def test_a_record_is_copied_replaced_and_pickled() -> None:
    kept = Kept("a", (1, 2))
    copies = [copy.copy(kept), copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))]
    assert copies == [kept, kept, kept]
    assert dataclasses.replace(kept, name="b") == Kept("b", (1, 2))
    match kept:
        case Kept(name, (first, _)):
            assert (name, first) == ("a", 1)
