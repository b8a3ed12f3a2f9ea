"""Implementations that macros write, shown as one."""

from __future__ import annotations

import pytest

from docstow.index.families import Family, group_families, shape_of

ARRAYS = [
    f"impl<'de, T> Deserialize<'de> for [T; {n}] where T: Deserialize<'de>" for n in range(33)
]
HANDLERS = [
    "impl<F, Fut, Res, S> Handler<((),), S> for F where F: FnOnce() -> Fut + Clone + Send",
    *(
        f"impl<F, Fut, S, Res, M, {names}> Handler<(M, {names}), S> for F where F: FnOnce({names})"
        f" -> Fut, T{count}: FromRequest<S, M> + Send"
        for count in range(1, 17)
        for names in [", ".join(f"T{each}" for each in range(1, count + 1))]
    ),
]
FUNCTIONS = [
    f'impl<Ret, {names}> Debug for unsafe extern "C" fn({names}) -> Ret'
    for names in ("A", "A, B", "A, B, C")
]


def group(rows: list[str]) -> list[Family[str]]:
    return group_families(rows, lambda row: row, lambda _: "")


def test_arrays_of_each_length_are_one_family_in_order() -> None:
    found = group([*sorted(ARRAYS), "impl<T> Deserialize for Vec<T>"])
    assert found == [
        Family(tuple(ARRAYS), "0-32"),
        Family(("impl<T> Deserialize for Vec<T>",)),
    ]
    assert group([*ARRAYS[:3], *ARRAYS[8:9], *ARRAYS[31:]])[0].sizes == "0-2, 8, 31-32"


def test_handlers_of_each_number_of_arguments_are_one_family() -> None:
    assert [(len(each.rows), each.rows[0]) for each in group(HANDLERS)] == [(17, HANDLERS[0])]


def test_functions_and_tuples_are_families_of_their_own() -> None:
    tuples = [f"impl<{n}> Debug for ({n},)" for n in ("A", "A, B", "A, B, C", "A, B, C, D")]
    assert [each.sizes for each in group([*FUNCTIONS, *tuples])] == ["1-3", "1-4"]


@pytest.mark.parametrize(
    "rows",
    [
        ARRAYS[:2],
        ["impl From<u8> for X", "impl From<u16> for X", "impl From<u32> for X"],
        ["impl A for [u8; 4]", "impl A for [u16; 4]", "impl A for [u32; 4]"],
        ["impl A for (u8, u16)", "impl A for (u8,)", "impl A for (u8, u16, u32)"],
        ["impl<T> A for [T; 1]", "impl<T> B for [T; 2]", "impl<T> C for [T; 3]"],
    ],
)
def test_what_differs_otherwise_is_shown_one_by_one(rows: list[str]) -> None:
    assert group(rows) == [Family((row,)) for row in rows]


@pytest.mark.parametrize(
    ("header", "shape", "sizes"),
    [
        ("impl Clone for X", "impl Clone for X", ()),
        ("impl<const N: usize, T: Into<Vec<(T, T)>>> A for [T; N]", "A for [T; N]", ()),
        ("impl<T, F: Fn(T) -> T> A<(T, F)> for [[T; 2]; 3]", "A<(…)> for [[T; #]; #]", (2, 3, 2)),
    ],
)
def test_a_shape_has_no_bounds_and_no_sizes(
    header: str, shape: str, sizes: tuple[int, ...]
) -> None:
    assert shape_of(header) == (shape, sizes)
