"""What breaks between two versions of a Python package, by their documents alone."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.model import Document
from docstow.languages.projects.diff import compare
from docstow.languages.python.diff import COMPARING as PYTHON
from docstow.languages.typescript.diff import COMPARING as TYPESCRIPT


def function(signature: str, **attributes: object) -> Document:
    told = {"language": "python", **attributes}
    return Document("boat.row", "function", "row", signature, "", "", "boat", told)


def rules(before: str, after: str) -> dict[str, str]:
    return {
        each.rule: each.verdict for each in compare(PYTHON, [function(before)], [function(after)])
    }


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("def row(a)", "def row()", "parameter-removed"),
        ("def row(*, a=1)", "def row()", "parameter-removed"),
        ("def row(a, **rest)", "def row(a)", "parameter-removed"),
        ("def row(a)", "def row(a, b)", "parameter-added-required"),
        ("def row(a)", "def row(a, *, b)", "parameter-added-required"),
        ("def row(a=1)", "def row(a)", "parameter-now-required"),
        ("def row(a)", "def row(*, a)", "parameter-kind-changed"),
        ("def row(a)", "def row(a, /)", "parameter-kind-changed"),
        ("def row(a, b)", "def row(b, a)", "parameter-moved"),
        ("def row(a)", "def row(b)", "parameter-renamed"),
        ("def row(self, a)", "def row(self)", "parameter-removed"),
        ("class Boat(Hull)", "class Boat(Keel)", "base-removed"),
        ("class Boat(ValueError)", "class Boat(Exception)", "base-removed"),
    ],
)
def test_what_breaks_callers(before: str, after: str, rule: str) -> None:
    assert rules(before, after) == {rule: "breaking"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def row(a)", "def row(a, b=1)"),
        ("def row(a)", "def row(a=1)"),
        ("def row(a)", "def row(a: int) -> str"),
        ("def row(*, a)", "def row(a)"),
        ("def row(a, /)", "def row(a)"),
        ("def row(*, a, b)", "def row(*, b, a)"),
        ("def row(*, a)", "def row(**rest)"),
        ("def row(__a)", "def row(b, /)"),
        ("def row(__self, a)", "def row(self, a)"),
        ("class Boat(Hull)", "class Boat(Hull[int], Generic[T])"),
        ("class Boat(enum.Enum)", "class Boat(enum.IntEnum)"),
        ("class Boat(_Hull)", "class Boat"),
        ("def row(a)", "@overload\ndef row(a): ...\n@overload\ndef row(a, b)"),
    ],
)
def test_what_does_not(before: str, after: str) -> None:
    assert rules(before, after) == {"signature-changed": "compatible"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def row(a: t.Optional[str] = None) -> 'List[int]'",
            "def row(a: str | None=None) -> list[int]",
        ),
        ("def row(a: Union[None, int, X])", "def row(a: X | int | None)"),
        (
            "@overload\ndef row(a: Optional[int]) -> int\n@overload\ndef row(a: str) -> str",
            "@overload\ndef row(a: int | None) -> int\n@overload\ndef row(a: str) -> str",
        ),
    ],
)
def test_types_that_are_written_otherwise_are_no_change(before: str, after: str) -> None:
    assert rules(before, after) == {}


def test_what_stands_under_another_path_or_is_made_on_demand_is_not_gone() -> None:
    def side(owner: str, other: str) -> list[Document]:
        told = {"language": "python", "others": {"row": f"{owner}.row"}}
        return [
            Document("boat", "module", "boat", attributes={"others": {"Hull": ""}}),
            Document(owner, "class", owner[5:], parent="boat", attributes={"language": "python"}),
            Document(other, "class", other[5:], parent="boat", attributes=told),
            Document(f"{owner}.row", "method", "row", "def row(self)", parent=owner),
        ]

    hull = Document("boat.Hull", "class", "Hull", parent="boat")
    old, new = side("boat.Boat", "boat.Ship"), side("boat.Ship", "boat.Boat")
    assert compare(PYTHON, [*old, hull], new) == []


def test_an_attribute_may_be_anything() -> None:
    old = Document("boat.Boat.row", "attribute", "row", "row", parent="boat.Boat")
    new = Document("boat.Boat.row", "method", "row", "def row(self)", parent="boat.Boat")
    told = {"language": "python"}
    found = compare(PYTHON, [replace(old, attributes=told)], [replace(new, attributes=told)])
    assert [each.verdict for each in found] == ["compatible"]


def test_items_that_come_go_and_move() -> None:
    root = Document("boat", "module", "boat", attributes={"language": "python"})
    gone = Document("boat.Oar", "class", "Oar", parent="boat", attributes={"target": "boat._o.Oar"})
    member = Document("boat.Oar.dip", "method", "dip", parent="boat.Oar")
    moved = Document(
        "boat.oars.Oar", "class", "Oar", parent="boat", attributes={"target": "boat._o.Oar"}
    )
    old = Document("boat.sail", "function", "sail", "def sail()", parent="boat")
    new = Document(
        "boat.sail", "function", "sail", "def sail()", "", "", "boat", {"deprecated": "use row"}
    )
    found = compare(TYPESCRIPT, [root, gone, member, old], [root, moved, new])
    assert [(each.path, each.rule, each.verdict, each.now) for each in found] == [
        ("boat.Oar", "item-removed", "breaking", "boat.oars.Oar"),
        ("boat.oars.Oar", "item-added", "compatible", ""),
        ("boat.sail", "item-deprecated", "compatible", ""),
    ]


NAMES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)


@st.composite
def declarations(draw: st.DrawFn) -> str:
    names = draw(NAMES)
    optional = draw(st.integers(0, len(names)))
    parts = [name if at < optional else f"{name}=0" for at, name in enumerate(names)]
    if len(parts) > 1 and draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts) - 1)), "*")
    return f"def row({', '.join(parts)})"


def accepts(declaration: str, places: int, names: list[str]) -> bool:
    scope: dict[str, object] = {}
    exec(compile(ast.parse(f"{declaration}: ..."), "row", "exec"), scope)
    try:
        scope["row"](*range(places), **dict.fromkeys(names, 0))  # type: ignore[operator]
    except TypeError:
        return False
    return True


@given(declarations(), declarations(), st.integers(0, 5), NAMES)
def test_what_is_compatible_accepts_every_call_that_was_right(
    before: str, after: str, places: int, names: list[str]
) -> None:
    compatible = "breaking" not in rules(before, after).values()
    if compatible and accepts(before, places, names):
        assert accepts(after, places, names)
