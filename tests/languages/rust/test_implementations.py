"""Who implements what, as relations."""

from __future__ import annotations

from collections.abc import Callable

from docstow.core.model import OPERATES, PACKED, SINGLE, Relation
from docstow.core.model import unpack_implementations as unpacked
from docstow.languages.rust.rustdoc import CrateDocs

Crates = Callable[[str], CrateDocs]

STD_BLANKETS = [
    ("core::any::Any", "impl<T> Any for T where T: 'static + ?Sized"),
    ("core::borrow::Borrow", "impl<T> Borrow<T> for T where T: ?Sized"),
    ("core::borrow::BorrowMut", "impl<T> BorrowMut<T> for T where T: ?Sized"),
    ("core::convert::From", "impl<T> From<T> for T"),
    ("core::convert::Into", "impl<T, U> Into<U> for T where U: From<T>"),
    ("core::convert::TryFrom", "impl<T, U> TryFrom<U> for T where U: Into<T>"),
    ("core::convert::TryInto", "impl<T, U> TryInto<U> for T where U: TryFrom<T>"),
]


def _of(docs: CrateDocs, trait: str) -> list[tuple[str, str, str]]:
    return [
        (r.subject, r.predicate, r.detail)
        for r in docs.relations
        if r.predicate in SINGLE and r.object == trait
    ]


def test_each_implementation_is_told_once_and_derives_are_marked(crate: Crates) -> None:
    found = [r for r in crate("members").relations if r.predicate in SINGLE]

    assert found == [
        Relation(
            "T", "implements-blanket", "members::Loud", "impl<T: Display + ?Sized> Loud for T"
        ),
        Relation("alloc::vec::Vec", "implements", "members::Loud2", "impl Loud2 for Vec<Plain>"),
        Relation(
            "members::Local", "implements", "core::convert::From", "impl From<Plain> for Local"
        ),
        Relation("members::Plain", "derives", "core::clone::Clone", "impl Clone for Plain"),
        Relation("members::Plain", "derives", "core::cmp::PartialEq", "impl PartialEq for Plain"),
        Relation("members::Plain", "derives", "core::fmt::Debug", "impl Debug for Plain"),
        Relation("members::Plain", "implements", "members::Work", "impl Work for Plain"),
    ]


def test_types_of_other_crates_and_types_without_a_name(crate: Crates) -> None:
    head = "FromRequest for"

    assert _of(crate("implements"), "implements::FromRequest") == [
        ("(A, B)", "implements", f"impl<A: FromRequest, B: FromRequest> {head} (A, B)"),
        ("[T; N]", "implements", f"impl<T: FromRequest, const N: usize> {head} [T; N]"),
        ("alloc::string::String", "implements", f"impl {head} String"),
        ("core::option::Option", "implements", f"impl<T: FromRequest> {head} Option<T>"),
        ("u8", "implements", f"impl {head} u8"),
    ]


def test_function_types_by_macro(crate: Crates) -> None:
    found = _of(crate("implements"), "implements::Handler")

    assert [(subject, predicate) for subject, predicate, _ in found] == [
        *[("F", "implements-blanket")] * 4,
        ("implements::Response", "implements"),
    ]
    assert [header.partition(" where ")[0] for _, _, header in found] == [
        "impl<F, Fut, A, B, C> Handler<(A, B, C)> for F",
        "impl<F, Fut, A, B> Handler<(A, B)> for F",
        "impl<F, Fut, A> Handler<(A,)> for F",
        "impl<F, Fut> Handler<()> for F",
        "impl Handler<Request> for Response",
    ]


def test_those_that_read_alike_are_told_apart(crate: Crates) -> None:
    assert _of(crate("implements"), "core::convert::From") == [
        ("implements::Error", "implements", "impl From<core::fmt::Error> for Error"),
        ("implements::Error", "implements", "impl From<std::io::error::Error> for Error"),
    ]


def test_traits_stand_at_their_public_paths(crate: Crates) -> None:
    assert _of(crate("implements"), "implements::Closed") == [
        ("[u8]", "implements", "impl Sealed for [u8]"),
        ("implements::Request", "implements", "impl Sealed for Request"),
    ]


def test_automatic_and_blanket_ones_take_a_row_a_type(crate: Crates) -> None:
    docs = crate("implements")
    rows = {
        r.predicate: unpacked(r.object, r.detail)
        for r in docs.relations
        if r.subject == "implements::Name" and r.predicate in PACKED
    }

    assert rows["auto-traits"] == [
        ("!core::marker::Send", "impl !Send for Name"),
        ("!core::marker::Sync", "impl !Sync for Name"),
        ("core::marker::Unpin", "impl Unpin for Name"),
        ("core::panic::RefUnwindSafe", "impl RefUnwindSafe for Name"),
        ("core::panic::UnwindSafe", "impl UnwindSafe for Name"),
    ]
    # Compilers differ in what else there is.
    assert set(rows["blanket-traits"]) >= {
        *STD_BLANKETS,
        ("alloc::string::ToString", "impl<T> ToString for T where T: Display + ?Sized"),
        ("implements::Loud", "impl<T: Display + ?Sized> Loud for T"),
    }


def test_bounds_of_automatic_ones_are_told(crate: Crates) -> None:
    (row,) = [
        r
        for r in crate("implements").relations
        if (r.subject, r.predicate) == ("implements::Guard", "auto-traits")
    ]
    assert ("core::marker::Send", "impl<T> Send for Guard<T> where T: Send") in unpacked(
        row.object, row.detail
    )


def test_what_dereferences_to_what(crate: Crates) -> None:
    found = [r for r in crate("implements").relations if r.predicate == "derefs-to"]

    assert found == [
        Relation("implements::Guard", "derefs-to", "T", "T"),
        Relation("implements::Name", "derefs-to", "str", "str"),
        Relation("implements::Page", "derefs-to", "implements::Request", "Request"),
    ]


def test_what_operators_and_indices_give(crate: Crates) -> None:
    told = [each for each in crate("implements").relations if each.predicate == OPERATES]
    assert [(each.subject, each.object) for each in told] == [
        ("implements::Pages", "Index usize = implements::Page"),
        ("implements::Pages", "Sub implements::Pages = core::option::Option<implements::Name>"),
    ]
