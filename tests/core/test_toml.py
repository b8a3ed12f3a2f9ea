"""TOML of strangers: tables as the standard library reads them, and what is refused."""

from __future__ import annotations

import pytest

from docstow.core import toml
from growth import growth


def test_what_people_write_is_read() -> None:
    text = '[tool."a.b".c]\nd.e."f.g" = "1.2.3.4.5"\n' + ".".join(f"k{n}" for n in range(32)) + "=1"
    read = toml.loads(text)["tool"]["a.b"]["c"]
    assert read["d"] == {"e": {"f.g": "1.2.3.4.5"}}
    assert "k0" in read


@pytest.mark.parametrize(
    ("begin", "unit", "end", "reason"),
    [
        ("x = 1\n", "a." * 5000, "b = 1", r"more than 32 parts \(line 2\)"),
        ("[", "'a' . " * 5000, "b]", "more than 32 parts"),
        ('x = {"a".', '"b\\n".' * 5000, "c = 1}", "more than 32 parts"),
        ("", "1." * 12_500, "", "more than 32 parts"),
        ("x = ", "[" * 25_000, "", "nested too deeply"),
        ("", "-" * 50_000, "", "Expected"),
        ("", '"' * 25_000, "", "Expected"),
        ("a." * 30 + " \n", ("a . " * 31 + "= \n") * 750, "", "Expected|Invalid"),
    ],
)
def test_what_would_cost_more_than_its_length_is_refused(
    begin: str, unit: str, end: str, reason: str
) -> None:
    def refuse(size: int) -> None:
        with pytest.raises(toml.TomlError, match=reason):
            toml.loads(begin + unit * size + end)

    assert growth(refuse) < 2
