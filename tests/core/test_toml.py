"""TOML of strangers: tables as the standard library reads them, and what is refused."""

from __future__ import annotations

import time

import pytest

from docstow.core import toml


def test_what_people_write_is_read() -> None:
    text = '[tool."a.b".c]\nd.e."f.g" = "1.2.3.4.5"\n' + ".".join(f"k{n}" for n in range(32)) + "=1"
    read = toml.loads(text)["tool"]["a.b"]["c"]
    assert read["d"] == {"e": {"f.g": "1.2.3.4.5"}}
    assert "k0" in read


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n" + "a." * 20_000 + "b = 1", r"more than 32 parts \(line 2\)"),
        ("[" + "'a' . " * 20_000 + "b]", "more than 32 parts"),
        ('x = {"a".' + '"b\\n".' * 20_000 + "c = 1}", "more than 32 parts"),
        ("1." * 50_000, "more than 32 parts"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("-" * 200_000, "Expected"),
        ('"' * 100_000, "Expected"),
        ("a." * 30 + " \n" + ("a . " * 31 + "= \n") * 3000, "Expected|Invalid"),
    ],
)
def test_what_would_cost_more_than_its_length_is_refused(text: str, reason: str) -> None:
    begin = time.process_time()
    with pytest.raises(toml.TomlError, match=reason):
        toml.loads(text)
    assert time.process_time() - begin < 2
