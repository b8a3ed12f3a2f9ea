"""Python texts are parsed by many threads at once."""

from __future__ import annotations

import ast
import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import docstow
from docstow.text import python_ast

LIB = Path(docstow.__file__).parent


@pytest.mark.slow
def test_many_threads_read_large_texts_at_once() -> None:
    """Threads that share one count of the depth of a tree do not disturb each other."""
    texts = [inspect.getsource(each) for each in (ast, inspect, warnings)]
    plain = [ast.dump(ast.parse(each)) for each in texts]
    with ThreadPoolExecutor(16) as pool:
        read = list(pool.map(python_ast.parse_module, texts * 20))
    assert [ast.dump(each) for each in read[-3:]] == plain
    assert len(read) == 60


@pytest.mark.parametrize("text", ["def", "\0", "(" * 300, "-" * 100_000 + "1"])
def test_what_is_no_python_says_so_and_the_next_has_its_turn(text: str) -> None:
    with pytest.raises(python_ast.UNREADABLE):
        python_ast.parse_module(text)
    assert ast.unparse(python_ast.parse_expression("a | b")) == "a | b"


def test_type_parameters_are_read_by_any_interpreter() -> None:
    text = """type Pair[T] = tuple[T, T]
type Size = int
class Box[T: (int, "a]b"), *Ts](Base):
    def put[
        U,  # ] of what it holds
        **P,
    ](self, each: U) -> T: ...
type = 3
"""
    pair, size, box, plain = python_ast.parse_module(text).body
    assert isinstance(pair, ast.Assign)
    assert isinstance(size, ast.Assign)
    assert isinstance(box, ast.ClassDef)
    (put,) = box.body
    assert isinstance(put, ast.FunctionDef)
    assert (box.name, put.name, put.args.args[1].lineno) == ("Box", "put", 7)
    assert [pair.lineno, size.lineno, plain.lineno] == [1, 2, 8]
    assert ast.get_source_segment(text, pair.value) == "tuple[T, T]"
    assert ast.get_source_segment(text, size.value) == "int"


def test_a_texts_own_escapes_warn_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        python_ast.parse_module(r"'\d'")


def test_nobody_parses_out_of_turn() -> None:
    alone = [each for each in LIB.rglob("*.py") if "ast.parse(" in each.read_text("utf-8")]
    assert [each.name for each in alone] == ["python_ast.py"]
