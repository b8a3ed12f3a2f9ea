"""Declarations as a Rust user writes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from docstow.languages.rust.rustdoc import CrateDocs, schema
from docstow.languages.rust.rustdoc.signatures import DEEPEST, TypePrinter

Crates = Callable[[str], CrateDocs]

FUNCTIONS = """\
pub fn arguments(a: u8, (b, _c): (i8, i8), _: &mut [u8]) -> Result<(), Error>
pub fn captures<'a, T>(value: &'a T) -> impl Sized + use<'a, T>
pub fn constant<const N: usize, T: Default + Copy>() -> [T; N]
pub fn dynamic<'a>(d: &'a (dyn Fn(&u8) -> Box<dyn Debug> + Send + 'a), one: (u8,), none: ())
pub extern "C" fn foreign(x: *const u8, y: *mut [u8; 4]) -> *const (dyn Debug + Send)
pub fn higher<F>(f: F) -> usize where F: for<'a, 'b> Fn(&'a str, &'b mut Vec<u8>) -> &'a str
pub async fn later<T>(value: T) -> T where T: Send
pub fn r#match(r#in: u8) -> u8
pub fn nested(slice: &[Option<&'static dyn Display>]) -> [[u8; 2]; 2]
pub fn nothing()
pub fn opaque(input: impl Iterator<Item = u8> + Clone) -> impl Fn(u8) -> u8 + 'static
pub fn pointers(f: unsafe extern "C" fn(*const u8, ...) -> i32, g: for<'a> fn(&'a u8) -> &'a u8)
pub fn projected<I: IntoIterator>(i: I) -> <I as IntoIterator>::Item where I::Item: Default
pub const unsafe fn qualified() -> !
pub fn with_a_long_name_and_many_arguments(
    first_argument: HashMap<String, Vec<u8>>,
    second_argument: Cow<'static, str>,
) -> Pin<Box<dyn Future<Output = Result<String, Error>> + Send>>"""

OTHERS = {
    "Alias": "pub type Alias<T> = Result<T, Box<dyn Error>>;",
    "COMPUTED": "pub const COMPUTED: u64 = 655_360u64;",
    "COUNTER": "pub static COUNTER: i32;",
    "Empty": "pub struct Empty {}",
    "Everything": """\
pub trait Everything<T: ?Sized = str>: Debug + Send where Self: 'static {
    type Item: Default + Clone + 'static;
    type Lend<'a>: Iterator<Item = &'a Self::Item> where Self: 'a;
    const SIDES: usize;
    fn required(&self, other: &T) -> Self::Item;
    fn boxed(self: Box<Self>, rest: Self::Lend<'_>);
    // provided: provided, also_provided
}""",
    "Generic": """\
pub struct Generic<'a, T, U = String, const N: usize = 4> where T: 'a + Clone {
    pub text: &'a T,
    pub rest: [U; N],
}""",
    "Kind": "pub enum Kind<T> {\n    Plain,\n    Tuple(T, u8),\n    Struct { name: String },\n}",
    "LITERAL": 'pub const LITERAL: &str = "one";',
    "LONG": "pub const LONG: [u8; 3] = _;",
    "MUTABLE": "pub static mut MUTABLE: i32;",
    "Never": "pub enum Never {}",
    "Pointer": "pub type Pointer = fn(u8) -> u8;",
    "Private": "pub struct Private { /* private fields */ }",
    "Tuple": "pub struct Tuple<'a, T: ?Sized>(pub &'a T, _);",
    "Unit": "pub struct Unit;",
}


def test_functions(crate: Crates) -> None:
    found = [d.signature for d in crate("signatures").documents if d.kind == "function"]

    assert "\n".join(found) == FUNCTIONS


@pytest.mark.parametrize("name", OTHERS)
def test_other_declarations(crate: Crates, name: str) -> None:
    (found,) = [d for d in crate("signatures").documents if d.path == f"signatures::{name}"]

    assert found.signature == OTHERS[name]


def test_members(crate: Crates) -> None:
    found = {
        each.title: each.signature
        for each in crate("signatures").documents
        if each.parent in {"signatures::Generic", "signatures::Everything", "signatures::Kind"}
    }

    assert found == {
        "Item": "type Item: Default + Clone + 'static",
        "Lend": "type Lend<'a>: Iterator<Item = &'a Self::Item> where Self: 'a",
        "SIDES": "const SIDES: usize",
        "also_provided": "fn also_provided(self) where Self: Sized",
        "boxed": "fn boxed(self: Box<Self>, rest: Self::Lend<'_>)",
        "provided": "fn provided(&mut self)",
        "required": "fn required(&self, other: &T) -> Self::Item",
        "COUNT": "pub const COUNT: usize = 4",
        "by_lifetime": "pub fn by_lifetime(&'a mut self)",
        "by_pin": "pub fn by_pin(self: Pin<&mut Self>)",
        "by_reference": "pub fn by_reference(&self)",
        "by_value": "pub fn by_value(self)",
        "none": "pub fn none() -> Option<Self>",
        "rest": "pub rest: [U; N]",
        "text": "pub text: &'a T",
        "Plain": "Plain",
        "Struct": "Struct { name: String }",
        "Tuple": "Tuple(T, u8)",
    }


def test_a_type_without_end_is_cut() -> None:
    deep: schema.Ty = schema.Type(primitive="u8")
    for _ in range(500):
        deep = schema.Type(element=deep)

    text = TypePrinter().type(deep)

    assert text == "[" * (DEEPEST + 1) + "…" + "]" * (DEEPEST + 1)


def test_a_kind_of_type_that_is_not_known_yet() -> None:
    assert TypePrinter().type(schema.Type()) == "…"


def test_precise_captures_as_plain_names() -> None:
    bound = schema.GenericBound(use=["'a", "T"])

    assert TypePrinter().bounds([bound]) == "use<'a, T>"
