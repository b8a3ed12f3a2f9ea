"""Signatures as text and as trees, and where a text stops to be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.index.signatures.functions import (
    UNIT,
    WILDCARD,
    Function,
    Type,
    Variable,
    read_declared_type,
    read_functions,
    read_query,
)
from docstow.index.signatures.parser import parse_declaration
from docstow.index.signatures.syntax import BadSignature, Kind, Node, walk

T, U = Variable("T"), Variable("U")
SELF = Variable("Self")
STR = Type("&", (Type("str"),))


def vec(of: Type | Variable) -> Type:
    return Type("Vec", (of,))


@pytest.mark.parametrize(
    ("text", "inputs", "output"),
    [
        ("(&str) -> Result<T, _>", (STR,), Type("Result", (T, WILDCARD))),
        ("&'a str -> String", (STR,), Type("String")),
        ("Vec<T> -> Option<&T>", (vec(T),), Type("Option", (Type("&", (T,)),))),
        (
            "Path -> io::Result<File>",
            (Type("Path"),),
            Type("Result", (Type("File"), Type("Error"))),
        ),
        (
            "fn(&mut self, usize) -> Option<T>",
            (Type("&mut", (SELF,)), Type("usize")),
            Type("Option", (T,)),
        ),
        (
            "a: u8, mut b: &mut [u8; 4]",
            (Type("u8"), Type("&mut", (Type("[;]", (Type("u8"), Type("4"))),))),
            None,
        ),
        ("-> String", (), Type("String")),
        ("() -> T", (), T),
        ("((T, U)) -> T", (Type("()", (T, U)),), T),
        ("T -> U -> (T, U)", (T, U), Type("()", (T, U))),
        ("fn(T) -> U, T -> U", (Type("fn", (Type("()", (T,)), U)), T), U),
        ("fn f(x: T)", (T,), UNIT),
        ("fn Stack::clear(&mut self)", (Type("&mut", (Type("Stack"),)),), UNIT),
        ("T::Item -> Self::Item", (Variable("T::Item"),), Variable("Self::Item")),
        (
            "Box<dyn Error + Send> -> !",
            (Type("Box", (Type("dyn", (Type("Error"), Type("Send"))),)),),
            Type("!"),
        ),
    ],
)
def test_a_query_becomes_a_tree(
    text: str, inputs: tuple[Type | Variable, ...], output: Type | Variable | None
) -> None:
    found = read_query(text)
    assert (found.inputs, found.output) == (inputs, output)


def test_bounds_are_kept_wherever_they_stand() -> None:
    call = Type("FnOnce", (Type("()", (T,)), Type("bool")))
    inline = read_query("fn f<F: FnOnce(T) -> bool>(F)")
    where = read_query("fn f<F>(F) where F: FnOnce(T) -> bool + Send + 'static, F: ?Sized")
    assert inline == Function((Variable("F"),), UNIT, {"F": (call,)}, "f")
    assert where.bounds == {"F": (call, Type("Send"))}
    assert read_query("impl FnOnce(T) -> bool").bounds == {"impl 1": (call,)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Vec<T", "expected ',' or '>', found 'the end' at character 6"),
        ("&str ->", "expected a name, found 'the end' at character 8"),
        ("a b", "expected the end, found 'b' at character 3"),
        ("T -> @", "'@' has no meaning here at character 6"),
        ("vec![1] -> T", "macros have no signature at character 4"),
        ("&" * 100 + "T", "it is nested too deeply at character 81"),
    ],
)
def test_a_bad_query_says_what_is_wrong_and_where(text: str, message: str) -> None:
    with pytest.raises(BadSignature) as caught:
        read_query(text)
    assert str(caught.value) == message


def test_an_impl_block_says_what_self_is() -> None:
    text = """impl<T> Option<Option<T>> {
    pub const fn flatten(self) -> Option<T>
}

impl<T: Clone> Cell for Option<&mut T>
where
    for<'a> T: Fn(&'a u8),
{
    fn cloned(&self) -> Self
}"""
    nested = Type("Option", (Type("Option", (T,)),))
    borrowed = Type("Option", (Type("&mut", (T,)),))
    assert read_functions(text) == [
        Function((nested,), Type("Option", (T,)), {}, "flatten"),
        Function(
            (Type("&", (borrowed,)),),
            borrowed,
            {"T": (Type("Clone"), Type("Fn", (Type("()", (Type("&", (Type("u8"),)),)), UNIT)))},
            "cloned",
        ),
    ]


def test_an_owner_is_known_by_the_parameters_that_people_write() -> None:
    text = "pub struct Vec<T, A = Global> where A: Allocator { /* private fields */ }"
    assert read_declared_type(text) == (vec(T), ("T", "A"))
    assert read_declared_type("pub unsafe trait Store<Key: Ord>: Sized {}") == (
        Type("Store", (Variable("Key"),)),
        ("Key",),
    )


@given(st.text(alphabet="ATstr_&<>()[],:;-!'*+=| fnimpldyuw1", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_query(text)
    except BadSignature as error:
        assert 0 <= error.offset <= len(text)


def test_nothing_is_left_out_of_a_declaration() -> None:
    found = parse_declaration(
        "pub const unsafe extern \"C\" fn f<'a, T: ?Sized + 'a, const N: usize = 3>"
        "(&'a mut self, x: &'static std::io::Error, ...) -> [T; N] where T: Iterator<Item: Send>"
    )
    assert (found.keyword, found.name) == ("fn", "f")
    assert found.qualifiers == ("const", "unsafe", 'extern "C"')
    assert [each.name for each in found.generics] == ["'a", "T", "N"]
    receiver, error, rest = found.inputs
    assert receiver == Node(Kind.RECEIVER, "&mut", (Node(Kind.LIFETIME, "'a"),))
    assert [each.name for each in walk(error)] == ["x", "&", "std::io::Error", "'static"]
    assert rest.kind == Kind.VARIADIC
    ((subject, (bound,)),) = found.where
    assert subject == Node(Kind.PATH, "T")
    assert bound.args == (Node(Kind.CONSTRAINT, "Item", (Node(Kind.PATH, "Send"),)),)
