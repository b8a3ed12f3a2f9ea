"""Declarations that mean the same, and those that do not."""

from __future__ import annotations

import pytest

from docstow.languages.rust.diff.items import Place, compare_declarations

SAME = [
    ("pub fn f<T: Clone>(a: T)", "pub fn f<U>(b: U)\nwhere\n    U: Clone,"),
    ("pub fn f<T: A + B>(a: T)", "pub fn f<T: B>(a: T) where T: A"),
    ("pub fn f(a: &u8, b: u8) -> u8", "pub fn f(\n    a: &u8,\n    c: u8,\n) -> u8"),
    (
        "pub fn f<F: Future>(a: F) -> F::Output",
        "pub fn f<F: Future>(a: F) -> <F as Future>::Output",
    ),
    ("pub fn f(a: &str) -> Iter<T>", "pub fn f(a: &str) -> Iter<'_, T>"),
    ("pub fn f(a: &'a str)", "pub fn f(a: &str)"),
    ("pub fn f(&self) -> Owner", "pub fn f(&self) -> Self"),
    ("pub fn f(&self) -> Owner<T>", "pub fn f(&self) -> Self"),
    ("pub fn f() -> Result<u8, Error>", "pub fn f() -> Result<u8>"),
    ("pub fn f(a: Vec<u8, Global>)", "pub fn f(a: Vec<u8>)"),
    ("pub fn f(a: Box<dyn A + Send + 'static>)", "pub fn f(a: Box<dyn Send + A>)"),
    ("pub fn f<T>(a: T) where U: TryFrom<T>", "pub fn f<T>(a: T) where T: TryInto<U>"),
    ("pub fn f<T: Default + ?Sized>(a: T)", "pub fn f<T: Default>(a: T)"),
    ("pub struct S<'a, K: 'a, I: 'a, F: 'a>", "pub struct S<'a, K, I, F>"),
    ("pub fn f(a: fn(x: u8) -> u8)", "pub fn f(b: fn(x: u8) -> u8)"),
    ("pub fn f<I: It<Item: A + B>>(a: I)", "pub fn f<I>(a: I) where I: It, I::Item: B + A"),
    (
        "pub fn f<I: It<Item: It<Item: A>>>(a: I)",
        "pub fn f<I: It>(a: I) where I::Item: It<Item: A>",
    ),
    ("pub const A: u8 = _;", "pub const A: u8 = 1;"),
]

DIFFERENT = [
    ("pub fn f<T, U>(a: T, b: U)", "pub fn f<T, U>(a: T, b: T)", ["parameter-type-changed"]),
    ("pub fn f<T: A>(a: T)", "pub fn f<T: A + Send>(a: T)", ["bound-tightened"]),
    ("pub fn f<T: ?Sized>(a: &T)", "pub fn f<T>(a: &T)", ["bound-tightened"]),
    ("pub fn f(a: Vec<u8>)", "pub fn f(a: Vec<u16>)", ["parameter-type-changed"]),
    ("pub fn f<const N: usize>()", "pub fn f<const N: u8>()", ["function-generics-changed"]),
    ("pub unsafe fn f()", 'pub unsafe extern "C" fn f()', ["abi-changed"]),
    ("pub fn f(self)", "pub fn f(self: Box<Self>)", ["receiver-changed"]),
    ("pub fn f()", "pub const fn f() -> u8", ["const-added", "return-type-changed"]),
    ("pub fn f(a: &'static str)", "pub fn f(a: &str)", ["parameter-type-changed"]),
    ("pub struct S<'a>", "pub struct S<'a, 'b>", ["type-parameter-added"]),
    ("pub fn f<T: Into<u8>>(a: T)", "pub fn f(a: impl Into<u8>)", ["generic-as-impl-trait"]),
    ("pub type A<T> = Vec<T>;", "pub type A<T> = Box<T>;", ["type-changed"]),
    ("nonsense", "other nonsense", ["signature-changed"]),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_layout_names_and_spellings_are_no_change(before: str, after: str) -> None:
    assert compare_declarations(before, after, Place("Owner")) == []
    assert compare_declarations(after, before, Place("Owner")) == []


@pytest.mark.parametrize(("before", "after", "rules"), DIFFERENT)
def test_what_users_notice_has_a_rule(before: str, after: str, rules: list[str]) -> None:
    assert compare_declarations(before, after, Place("Owner")) == rules
