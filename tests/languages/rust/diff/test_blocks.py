"""Members of impl blocks whose headers differ."""

from __future__ import annotations

import pytest

from docstow.languages.rust.diff.items import Member, Place, compare_declarations, judge_member

GET = "pub fn get(&self) -> T"


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        ((GET, ""), (GET, "impl<T: Clone> Hold<T>"), ["bound-tightened"]),
        ((GET, "impl<T: Clone> Hold<T>"), (GET, ""), ["bound-loosened"]),
        ((GET, ""), (GET, "impl<T: ?Sized> Hold<T>"), ["bound-loosened"]),
        (
            (GET, "impl<T: Clone> Hold<T>"),
            (GET, "impl<T> Hold<T> where T: Clone + Copy"),
            ["bound-tightened"],
        ),
        ((GET, "impl<T: Clone> Hold<T>"), (GET, "impl<T> Hold<T> where T: Clone"), []),
        # A bound that moves between the block and the member stays the same bound.
        ((f"{GET}\nwhere\n    T: Clone", ""), (GET, "impl<T: Clone> Hold<T>"), []),
        ((GET, "impl<T: Clone> Hold<T>"), (f"{GET}\nwhere\n    T: Clone", ""), []),
        ((GET, "impl<'a, T: Copy> Hold<'a, T>"), (GET, "impl<'b, T: Copy> Hold<'b, T>"), []),
        ((GET, ""), (GET, "impl<T, const N: usize> Hold<T, N>"), []),
        # Other changes are kept as they are.
        (
            (GET, "impl<T: Clone> Hold<T>"),
            ("pub fn get(&mut self) -> T", ""),
            ["receiver-changed", "bound-loosened"],
        ),
        # Blocks for other arguments are not compared.
        ((GET, ""), (GET, "impl Hold<u8>"), []),
        ((GET, "impl Hold<u8>"), (GET, "impl<T: Copy> Hold<T>"), []),
    ],
)
def test_bounds_count_wherever_they_are_written(
    before: tuple[str, str], after: tuple[str, str], rules: list[str]
) -> None:
    alone = compare_declarations(before[0], after[0], Place("Hold"))
    assert judge_member(alone, Member(*before), Member(*after), "Hold") == rules


def test_several_blocks_are_left_to_their_own_comparison() -> None:
    both = f"impl Hold<u8> {{\n{GET}\n}}\n\nimpl Hold<u16> {{\n{GET}\n}}"
    old, new = Member(GET, "impl<T: Clone> Hold<T>"), Member(both, "")
    assert judge_member(["signature-changed"], old, new, "Hold") == ["signature-changed"]
