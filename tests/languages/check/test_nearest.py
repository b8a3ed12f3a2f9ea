"""Which names are suggested where one does not exist, and how a message tells them."""

from __future__ import annotations

import pytest

from docstow.languages.shared.compounds import parts
from docstow.languages.shared.findings import advice, nearest, owner_words
from docstow.languages.shared.meaning import are_opposed, meaning

DEQUE = ["append", "appendleft", "clear", "count", "extend", "extendleft", "insert", "pop"]
DEQUE += ["popleft", "remove", "reverse", "rotate", "maxlen", "index"]
PATHS = ["exists", "is_dir", "is_file", "iterdir", "mkdir", "parent", "resolve", "rmdir", "unlink"]


@pytest.mark.parametrize(
    ("wanted", "names", "first"),
    [
        ("push_front", DEQUE, "appendleft"),
        ("unshift", DEQUE, "appendleft"),
        ("dequeue", DEQUE, "popleft"),
        ("delete", PATHS, "unlink"),
        ("list_dir", PATHS, "iterdir"),
        # A slip is one for its letters, a word for what it means.
        ("rotat", DEQUE, "rotate"),
        ("loadz", ["load", "loads", "dump", "dumps"], "loads"),
        ("commit", ["command", "command_info", "execute", "comment"], "execute"),
    ],
)
def test_what_is_meant_comes_first(wanted: str, names: list[str], first: str) -> None:
    assert nearest(wanted, names, shaped=False)[0] == first


def test_the_opposite_of_a_word_is_not_meant_by_it() -> None:
    names = ["get_global", "add_global", "add_filter"]
    assert nearest("set_global", names, shaped=False)[0] == "add_global"
    assert are_opposed(("set", "global"), ("get", "global"))
    assert not are_opposed(("get", "set"), ("set", "get"))


def test_of_many_names_those_that_may_be_meant_are_found() -> None:
    names = [f"command_{number:03}" for number in range(600)]
    assert nearest("commit", [*names, "execute"], shaped=False)[0] == "execute"


def test_where_nothing_is_alike_the_few_that_are_there_are_told() -> None:
    names = ["codec.decode", "codec.header"]
    assert nearest("as_text", names, shaped=False) == ()
    near = nearest("as_text", names, shaped=False, filled=True)
    assert sorted(near) == names
    assert advice("as_text", near).startswith("; it has ")
    assert advice("decod", ["codec.decode"]) == "; did you mean codec.decode?"
    assert advice("as_text", ()) == "."
    many = [f"codec.part_{number}" for number in range(40)]
    assert nearest("as_text", many, shaped=False, filled=True) == ()


@pytest.mark.parametrize(
    ("written", "apart"),
    [
        ("hexsha", ("hex", "sha")),
        ("lineterminator", ("line", "terminator")),
        ("checkpw", ("check", "pw")),
        # Words of their own, and what has no parts, stay as they are.
        ("dataframe", ("dataframe",)),
        ("qzxvkjw", ("qzxvkjw",)),
        ("a" * 200, ("a" * 200,)),
    ],
)
def test_words_that_are_written_as_one_are_taken_apart(
    written: str, apart: tuple[str, ...]
) -> None:
    assert parts(written) == apart


def test_what_the_owner_is_about_may_be_left_out() -> None:
    names = ["message_text", "whatever_text"]
    assert nearest("text", names, owner="mail.Message")[0] == "message_text"
    owner = owner_words("mail.MessagePart")
    assert owner == {"mail", "message", "part"}
    alone, within = (meaning(("rotate",), ("mail", "rotate"), each) for each in ((), owner))
    assert within.covered > alone.covered


def test_of_names_that_are_alike_the_one_that_fits_its_place_is_first() -> None:
    names = ["box.take_b", "box.take_c"]
    assert nearest("take_a", names, fits=lambda name: float(name == names[0]))[0] == names[0]
    assert nearest("take_a", names, fits=lambda name: float(name == names[1]))[0] == names[1]
