"""Help that fits a screen, and what is said to words that are not known."""

from __future__ import annotations

import pytest

from docstow.core.settings import FIELDS
from docstow.server.command_line import list_commands, parse


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        parse(words)
    out, err = capsys.readouterr()
    code = ended.value.code
    return code if isinstance(code, int) else 0, out, err


@pytest.mark.parametrize("words", [(), ("store",), ("ingest",), ("jobs",)])
def test_words_that_stop_before_a_command_print_help(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = _told(capsys, *words)
    assert status == 0
    assert out.startswith(f"usage: {' '.join(('docstow', *words))} ")


def test_help_of_every_command_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    for command in list_commands():
        status, out, _ = _told(capsys, *command["command"].split(), "--help")
        assert status == 0
        assert len(out.splitlines()) <= 40, command


def test_all_settings_are_in_the_whole_help(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _told(capsys, "serve", "--help-all")
    assert [name for name in FIELDS if f"--{name.replace('_', '-')}" not in out] == []
    assert "examples:" in out


@pytest.mark.parametrize(
    ("words", "near"),
    [(("serch", "x"), "search"), (("store", "swep"), "sweep"), (("conect",), "connect")],
)
def test_a_mistyped_command_gets_the_nearest(
    words: tuple[str, ...], near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = _told(capsys, *words)
    assert status == 2
    assert err.endswith(f"did you mean {near}?\n")


def test_a_word_that_is_like_nothing_gets_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = _told(capsys, "jobs", "zzzzzz")
    assert status == 2
    assert "redrive" in err
