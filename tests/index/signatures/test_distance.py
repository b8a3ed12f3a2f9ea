"""What is bent at what price: exact before generic before approximate, in any order."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.index.signatures.crate_signatures import CrateSignatures, SignatureIndex
from docstow.index.signatures.crate_signatures import DeclaredItem as Row
from docstow.index.signatures.functions import (
    Function,
    Tree,
    Type,
    Variable,
    nodes,
    read_query,
    substitute,
)

FUNCTIONS = [
    "fn a(s: &str) -> String",
    "fn b(s: String) -> String",
    "fn c<S: Into<String>>(s: S) -> String",
    "fn d<T>(x: T) -> T",
    "fn e(s: &mut str, n: usize) -> Option<String>",
    "fn f<T, U>(t: T, u: U) -> (T, U)",
    "fn g<T: PartialOrd<T>>(a: &T, b: &T) -> bool",
    "fn h<T, F>(all: Vec<T>, f: F) -> Vec<T> where F: FnMut(&T) -> bool",
    "fn i<I>(all: I) -> usize where I: Iterator<Item = u8>",
    "fn j<T, E>(x: Option<T>, e: E) -> Result<T, E>",
    "fn k(x: Box<dyn Error>) -> Result<(), Box<dyn Error>>",
    "fn l<T>(x: &[T], at: usize) -> Option<&T>",
    "fn m(n: usize, s: &str, t: &str) -> Vec<String>",
]
NAMES = "abcdefghijklm"


def far(asked: str, function: str) -> float | None:
    return (
        SignatureIndex([(0, read_query(function))], ["File", "Path", "Iterator"])
        .distances(read_query(asked))
        .get(0)
    )


@pytest.mark.parametrize(
    "nearest_first",
    [
        ("&str -> T", "fn f<T>(x: &str) -> T", "fn f<T>(x: &mut str) -> T"),
        ("&str -> usize", "fn f(x: &str) -> usize", "fn f(x: &String) -> usize"),
        (
            "String -> File",
            "fn f(x: String) -> File",
            "fn f<S: Into<String>>(x: S) -> File",
            "fn f(x: &String) -> File",
            "fn f<S>(x: S) -> File",
            "fn f<S: Read>(x: S) -> File",
        ),
        ("&u8 -> u8", "fn f(x: &u8) -> u8", "fn f(x: &mut u8) -> u8", "fn f(x: &u8, y: u8) -> u8"),
        ("T -> File", "fn f<X>(x: X) -> File", "fn f(x: u8) -> File"),
        (
            "u8 -> File",
            "fn f(x: u8) -> File",
            "fn f(x: u8) -> Box<File>",
            "fn f(x: u8) -> Option<File>",
        ),
        (
            "&str -> File",
            "fn f(x: &str) -> File",
            "fn f<P: AsRef<Path>>(x: P) -> File",
            "fn f<S: Into<File>>(x: S) -> File",
            "fn f<D: Into<OsString>>(x: D, y: u8) -> Box<File>",
        ),
        (
            "Vec<u8> -> File",
            "fn f(x: Vec<u8>) -> File",
            "fn f<T>(x: Vec<T>) -> File",
            "fn f<C: AsRef<[u8]>>(x: C, y: u8) -> File",
            "fn f<P: AsRef<Path>>(x: P) -> File",
        ),
        (
            "impl Iterator<Item = u8> -> Vec<u8>",
            "fn f(x: impl Iterator<Item = u8>) -> Vec<u8>",
            "fn f(x: impl IntoIterator<Item = u8>) -> Vec<u8>",
            "fn f<B: FromIterator<u8>>(x: impl Iterator<Item = u8>) -> B",
            "fn f<B>(x: impl Iterator<Item = u8>) -> B",
            "fn f<T, U>(x: T) -> U",
        ),
        (
            "&mut String, String -> String",
            "fn f(x: &mut String, y: String) -> String",
            "fn f<T>(x: &mut T, y: T) -> T",
            "fn f<T, U>(x: &mut U, y: String) -> T",
        ),
        (
            "u8, File -> u8",
            "fn f(y: File, x: u8) -> u8",
            "fn f(x: u8, y: File, z: u8) -> u8",
            "fn f(x: u8) -> u8",
        ),
    ],
)
def test_what_is_bent_less_comes_first(nearest_first: tuple[str, ...]) -> None:
    asked, *functions = nearest_first
    found = [far(asked, each) for each in functions]
    assert found[0] == 0
    known = [each for each in found if each is not None]
    assert len(known) == len(functions)
    assert all(one < two for one, two in itertools.pairwise(known)), known


@pytest.mark.parametrize(
    ("asked", "function"),
    [
        ("T -> T", "fn f(x: u8) -> u16"),
        ("u8 -> File", "fn f(x: u8) -> Path"),
        ("(T, U) -> T", "fn f(x: u8, y: u8) -> u16"),
        ("FnOnce(u8) -> u8 -> File", "fn f(x: u8) -> File"),
        ("u8 -> File", "fn f<F: FnOnce(u8)>(x: F) -> File"),
        ("u8 -> u8", "fn f(x: u8, a: File, b: File, c: File) -> u8"),
        ("u8 -> u8", "fn f() -> u8"),
    ],
)
def test_what_contradicts_itself_is_no_match(asked: str, function: str) -> None:
    assert far(asked, function) is None


@pytest.mark.parametrize(
    ("asked", "function"),
    [
        ("FnMut(&T) -> bool, Vec<T> -> Vec<T>", FUNCTIONS[7]),
        ("(impl FnMut(&T) -> bool, Vec<T>) -> Vec<T>", FUNCTIONS[7]),
        ("Iterator<Item = u8> -> usize", FUNCTIONS[8]),
        ("Box<dyn Error> -> Result<_, Box<dyn Error>>", FUNCTIONS[10]),
        ("Elem, Option<Elem2> -> Result<Elem2, Elem>", FUNCTIONS[9]),
    ],
)
def test_traits_and_unbound_names_are_understood(asked: str, function: str) -> None:
    found = far(asked, function)
    assert found is not None
    assert found <= 0.2


def test_aliases_are_replaced_by_what_they_mean() -> None:
    rows = [
        Row("own", "module", "own", "pub mod own", ""),
        Row("own::Result", "type_alias", "Result", "pub type Result<T> = Result<T, Fault>;", "own"),
        Row("own::Fault", "struct", "Fault", "pub struct Fault;", "own"),
        Row("own::read", "function", "read", "pub fn read(n: u8) -> Result<u16>", "own"),
        Row("own::Pile", "struct", "Pile", "pub struct Pile<T, A = Heap> { /* private */ }", "own"),
        Row("own::Pile::pop", "method", "pop", "pub fn pop(&mut self) -> Option<T>", "own::Pile"),
    ]
    shapes = CrateSignatures(rows)

    def found(text: str) -> dict[int, float]:
        return shapes.index.distances(shapes.expand_aliases(read_query(text), "own::"))

    assert found("u8 -> Result<u16, Fault>") == found("u8 -> Result<u16>") == {3: 0}
    assert found("&mut Pile<X> -> Option<X>") == {5: 0}
    assert shapes.index.unknown_names(read_query("Nothing -> Fault")) == ["Nothing"]


def test_what_a_future_yields_may_be_asked_for() -> None:
    rows = [
        Row("own", "module", "own", "pub mod own", ""),
        Row("own::Nap", "struct", "Nap", "pub struct Nap<F> { /* private */ }", "own"),
        Row("own::Late", "struct", "Late", "pub struct Late;", "own"),
        Row("own::nap", "function", "nap", "pub fn nap<F: IntoFuture>(f: F) -> Nap<F>", "own"),
        Row("own::late", "function", "late", "pub fn late(n: u8) -> Late", "own"),
    ]
    asked = read_query("Future -> Result<u8, Late>")
    assert CrateSignatures(rows, {"own::Nap"}).index.distances(asked).keys() == {3}
    assert CrateSignatures(rows).index.distances(asked) == {}
    assert CrateSignatures(rows, {"own::Nap"}).index.distances(read_query("u8 -> Late"))[4] == 0


CATALOGUE = SignatureIndex(
    [(row, read_query(text)) for row, text in enumerate(FUNCTIONS)], ["Iterator", "Error"]
)


@st.composite
def asked(draw: st.DrawFn) -> Function:
    """A function of the list, some of whose types are variables or wildcards now."""
    shape = read_query(draw(st.sampled_from(FUNCTIONS)))
    trees: list[Tree] = [node for each in shape.inputs for node in nodes(each)]
    loosened = draw(st.sets(st.sampled_from(trees), max_size=2)) if trees else set()
    by = {
        tree: Variable(name) for tree, name in zip(sorted(loosened, key=repr), "XY", strict=False)
    }

    def loose(tree: Tree) -> Tree:
        if tree in by:
            return by[tree]
        return Type(tree.name, tuple(map(loose, tree.args))) if isinstance(tree, Type) else tree

    output = None if shape.output is None else loose(shape.output)
    return Function(tuple(map(loose, shape.inputs)), output, shape.bounds)


@given(asked(), st.randoms(use_true_random=False))
def test_the_order_of_arguments_changes_nothing(shape: Function, chance: random.Random) -> None:
    inputs = list(shape.inputs)
    chance.shuffle(inputs)
    permuted = Function(tuple(inputs), shape.output, shape.bounds)
    found, again = CATALOGUE.distances(shape), CATALOGUE.distances(permuted)
    assert again == pytest.approx(found)


@given(asked(), st.permutations(["Ka", "Kb", "Kc", "Kd", "Ke", "Kf", "Kg"]))
def test_the_names_of_variables_change_nothing(shape: Function, names: list[str]) -> None:
    trees = [*shape.inputs, *([shape.output] if shape.output is not None else [])]
    trees += [bound for of in shape.bounds.values() for bound in of]
    used = {node.name for tree in trees for node in nodes(tree) if isinstance(node, Variable)}
    by: dict[str, Tree] = {
        old: Variable(new) for old, new in zip(sorted(used - {"_"}), names, strict=False)
    }
    renamed = Function(
        tuple(substitute(each, by) for each in shape.inputs),
        None if shape.output is None else substitute(shape.output, by),
        {
            (by[name].name if name in by else name): tuple(
                each for b in of if isinstance(each := substitute(b, by), Type)
            )
            for name, of in shape.bounds.items()
        },
    )
    assert CATALOGUE.distances(renamed) == pytest.approx(CATALOGUE.distances(shape))


@pytest.mark.parametrize("row", range(len(FUNCTIONS)), ids=list(NAMES))
def test_every_function_is_nearest_to_itself(row: int) -> None:
    assert CATALOGUE.distances(read_query(FUNCTIONS[row]))[row] == 0
