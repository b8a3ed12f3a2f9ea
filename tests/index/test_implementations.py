"""The tool ``find_implementations`` on a crate of our own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter, ItemNotFound
from docstow.core.settings import load
from docstow.runtime import Runtime
from paths import CRATES as FIXTURES

Ask = Callable[..., dict[str, Any]]

ITERATOR = "core::iter::Iterator"
PAGES = [
    {"type": "implements::Page", "trait": ITERATOR, "header": "impl Iterator for &Page"},
    {"type": "implements::Page", "trait": ITERATOR, "header": "impl Iterator for Page"},
]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("implementations")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        file = FIXTURES / "implements" / "rustdoc.json.zst"
        runtime.rustdoc_files([file]).ingest(file)
        yield runtime


@pytest.fixture(scope="module")
def ask(runtime: Runtime) -> Ask:
    def call(**arguments: str) -> dict[str, Any]:
        answer = runtime.toolbox.call("find_implementations", {"crate": "implements"} | arguments)
        assert answer.structured is not None
        return dict(answer.structured)

    return call


def _headers(answer: dict[str, Any], mark: str = "") -> list[str]:
    marks = {"derived", "blanket", "auto"}
    return [
        each["header"]
        for each in answer["results"]
        if (mark in each if mark else marks.isdisjoint(each))
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Iterator",
        "core::iter::Iterator",
        "std::iter::Iterator",
        "iterator",
        "core::iter::traits::iterator::Iterator",
    ],
)
def test_a_foreign_trait_by_any_name(ask: Ask, name: str) -> None:
    answer = ask(trait=name)

    assert (answer["meant"], answer["total"], answer["counts"]) == ([ITERATOR], 2, {"written": 2})
    assert answer["results"] == PAGES
    assert answer["notice"] == "only what implements implements; see also the crates core"


@pytest.mark.parametrize(
    "name", ["Handler", "implements::Handler", "crate::Handler", "Handler<A>", "handler"]
)
def test_a_trait_of_the_crate_by_any_name(ask: Ask, name: str) -> None:
    answer = ask(trait=name)

    assert (answer["meant"], answer["counts"]) == (
        ["implements::Handler"],
        {"written": 1, "blanket": 4},
    )
    assert _headers(answer) == ["impl Handler<Request> for Response"]
    (family,) = [each for each in answer["results"] if each.get("grouped")]
    assert (family["grouped"], family["sizes"], family["type"]) == (4, "0-3", "F")
    assert _headers(answer, "blanket") == [family["header"]]
    assert family["header"].startswith("impl<F, Fut> Handler<()> for F where F: FnOnce() -> Fut")
    assert family["last_header"].startswith("impl<F, Fut, A, B, C> Handler<(A, B, C)> for F where")


def test_a_trait_by_its_definition_s_name_and_by_its_public_one(ask: Ask) -> None:
    assert _headers(ask(trait="Closed")) == ["impl Sealed for [u8]", "impl Sealed for Request"]


def test_a_blanket_implementation_stands_once_with_the_types_it_covers(ask: Ask) -> None:
    assert ask(trait="Loud")["results"] == [
        {
            "type": "T",
            "trait": "implements::Loud",
            "header": "impl<T: Display + ?Sized> Loud for T",
            "blanket": True,
            "covered": 1,
            "covers": ["implements::Name"],
        }
    ]
    (into,) = ask(trait="Into")["results"]
    assert (into["type"], into["header"]) == ("T", "impl<T, U> Into<U> for T where U: From<T>")
    assert into["covered"] == len(into["covers"]) == 7


def test_an_automatic_trait_with_those_that_are_not(ask: Ask) -> None:
    results = {each["type"]: each for each in ask(trait="Send")["results"]}

    assert results["implements::Name"] == {
        "type": "implements::Name",
        "trait": "core::marker::Send",
        "header": "impl !Send for Name",
        "auto": True,
        "negative": True,
    }
    assert results["implements::Guard"]["header"] == "impl<T> Send for Guard<T> where T: Send"


def test_a_type_with_derives_after_what_is_written(ask: Ask) -> None:
    answer = ask(type="Request")

    assert answer["meant"] == ["implements::Request"]
    assert _headers(answer) == ["impl Sealed for Request"]
    assert _headers(answer, "derived") == [
        "impl Clone for Request",
        "impl PartialEq for Request",
        "impl Debug for Request",
    ]
    assert "impl Send for Request" in _headers(answer, "auto")
    assert "impl<T> From<T> for T" in _headers(answer, "blanket")
    order = ["written", "derived", "blanket", "auto"]
    sorts = [next((s for s in order[1:] if s in each), order[0]) for each in answer["results"]]
    assert sorts == sorted(sorts, key=order.index)


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("String", ["impl FromRequest for String"]),
        ("std::string::String", ["impl FromRequest for String"]),
        ("Option<u8>", ["impl<T: FromRequest> FromRequest for Option<T>"]),
        ("u8", ["impl FromRequest for u8"]),
        ("&str", ["impl<'a> PartialEq<Request> for &'a str"]),
        ("&'static str", ["impl<'a> PartialEq<Request> for &'a str"]),
        ("str", ["impl<'a> PartialEq<Request> for &'a str", "impl PartialEq<Request> for str"]),
        ("(X, Y)", ["impl<A: FromRequest, B: FromRequest> FromRequest for (A, B)"]),
        ("tuple", ["impl<A: FromRequest, B: FromRequest> FromRequest for (A, B)"]),
        ("[T; N]", ["impl<T: FromRequest, const N: usize> FromRequest for [T; N]"]),
        ("[u8; 4]", ["impl<T: FromRequest, const N: usize> FromRequest for [T; N]"]),
        ("[u8]", ["impl Sealed for [u8]"]),
        ("slice", ["impl Sealed for [u8]"]),
    ],
)
def test_types_of_elsewhere_and_types_without_a_name(
    ask: Ask, name: str, headers: list[str]
) -> None:
    assert _headers(ask(type=name)) == headers


def test_a_trait_that_nobody_implements(ask: Ask) -> None:
    answer = ask(trait="Lonely")
    assert (answer["meant"], answer["results"]) == (["implements::Lonely"], [])


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        ({"trait": "Handlr"}, "implements::Handler"),
        ({"trait": "core::iter::Iteratr"}, ITERATOR),
        ({"type": "Reqest"}, "implements::Request"),
        ({"trait": "Requests"}, "implements::FromRequest"),
    ],
)
def test_a_miss_has_suggestions(ask: Ask, arguments: dict[str, str], suggested: str) -> None:
    with pytest.raises(ItemNotFound) as caught:
        ask(**arguments)
    best = caught.value.suggestions[0]
    assert best["item_path"] == suggested
    assert 0.6 <= best["score"] < 1


@pytest.mark.parametrize("arguments", [{}, {"trait": "Loud", "type": "Name"}])
def test_either_trait_or_type(ask: Ask, arguments: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter, match="exactly one"):
        ask(**arguments)


def test_pages_show_what_was_written_and_count_the_rest(runtime: Runtime) -> None:
    def implements(path: str) -> str:
        page = runtime.toolbox.call("get_item_doc", {"item_path": path}).text
        return page.split("## Implements\n\n")[1].split("\n\n## ")[0].strip()

    shown = implements("implements::Page").split("\n\n")
    assert shown[0] == f"`{ITERATOR}`, `core::ops::Deref`"
    assert shown[1].endswith(" more, auto and blanket: find_implementations")
    assert shown[2] == "By `Deref` it has the methods of `implements::Request` too"
