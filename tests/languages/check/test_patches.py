"""A finding has the line as it should be where it is certain what is meant, and nowhere else."""

from __future__ import annotations

import pytest

from docstow.languages.shared.findings import Finding, Status, Verdict
from docstow.languages.shared.patches import add_patches


def patch(code: str, name: str, *suggestions: str, line: int = 1, successor: str = "") -> str:
    status: Status = "wrong_argument" if name.endswith("=)") else "unknown"
    finding = Finding(line, 1, name, status, suggestions=suggestions, successor=successor)
    return add_patches(Verdict((finding,)), code).findings[0].patch


@pytest.mark.parametrize(
    ("code", "name", "suggestions", "patched"),
    [
        ("x = a.getValue()", "p.A.getValue", ["p.A.get_value"], "x = a.get_value()"),
        ("let s = r.recieve();", "c::R::recieve", ["c::R::receive"], "let s = r.receive();"),
        ("get(url, timout=3)", "p.get(timout=)", ["timeout", "url"], "get(url, timeout=3)"),
        # Another name comes as near, in another place, or nothing comes near.
        ("a.foobar1()", "p.A.foobar1", ["p.A.foobar2", "p.A.foobar3"], ""),
        ("a.getValue()", "p.A.getValue", ["p.B.get_value"], ""),
        ("a.fetch()", "p.A.fetch", ["p.A.get"], ""),
        # One thing and many of it are two names.
        ("a.hset(values=m)", "p.A.hset(values=)", ["value"], ""),
        # Which of two is wrong cannot be told.
        ("a.recieve(b.recieve)", "p.A.recieve", ["p.A.receive"], ""),
        # What an import binds is used below.
        ("from p import recieve", "p.recieve", ["p.receive"], "from p import receive"),
        ("from p import recieve\nrecieve()", "p.recieve", ["p.receive"], ""),
        ("use p::recieve as r;\nr()", "p::recieve", ["p::receive"], "use p::receive as r;"),
    ],
)
def test_one_name_that_is_misspelt(
    code: str, name: str, suggestions: list[str], patched: str
) -> None:
    assert patch(code, name, *suggestions) == patched


def test_a_line_and_those_that_depend_on_it_are_patched_together() -> None:
    found = tuple(
        Finding(line, 1, "p.recieve", "unknown", suggestions=("p.receive",)) for line in (1, 2)
    )
    verdict = add_patches(Verdict(found), "from p import recieve\nrecieve()\n")
    assert [each.patch for each in verdict.findings] == ["from p import receive", "receive()"]


def test_the_one_successor_that_maintainers_name() -> None:
    assert patch("a.fetch()", "p.A.fetch", "p.A.get", successor="p.A.get") == "a.get()"
    assert patch("a.fetch()", "p.A.fetch", "p.get", successor="p.get") == ""


def test_lines_end_as_they_did() -> None:
    assert patch("\r\na.recieve()\r\n", "p.A.recieve", "p.A.receive", line=2) == "a.receive()"
