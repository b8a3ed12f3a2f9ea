"""What takes the place of a name, in the words in which maintainers say it."""

from __future__ import annotations

import pytest

from docstow.text.replacements import find_replacements
from growth import growth


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Renamed `tie` to `bind`", "tie", "bind"),
        ("Rename Sheet to Line", "Sheet", "Line"),
        ("`tie` -> `bind`", "tie", "bind"),
        ("The `tie` function is deprecated; use `bind` instead.", "tie", "bind"),
        ("`tie` deprecated in favor of the new `bind_all` method", "tie", "bind_all"),
        ("Removed `tie`, use `knots.bind` instead.", "tie", "knots.bind"),
        ("Remove `tie`. Override `bind` instead.", "tie", "bind"),
        ("Added `bind` as a replacement for `tie`", "tie", "bind"),
        ("Use `bind()` instead of `tie()`", "tie", "bind"),
        ("`tie_one`, `tie_two` and `tie_all` are now `aa`, `bb` and `cc`", "tie_two", "bb"),
        ("`tie` | Use `bind` instead", "tie", "bind"),
        ("`Rope::tie` to `Rope::bind`: renamed `Rope::tie` to `Rope::bind`", "tie", "Rope::bind"),
        ("Deprecate the `tie` module, except for `coil`. Use `bind` instead.", "tie", "bind"),
        ("`tie` moved to `ropes.tie`", "tie", "ropes.tie"),
        ("`tie` is gone. Please use the `useBind()` hook.", "tie", "useBind"),
        (
            "`tie` and `coil` are deprecated. Import them from `knots` instead.",
            "coil",
            "knots.coil",
        ),
        ("`bind` replaces `tie`, `coil` and `lash`.", "coil", "bind"),
    ],
)
def test_the_name_that_comes_is_found(text: str, old: str, new: str) -> None:
    assert find_replacements(text, old)[:1] == (new,)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Replaced with `Line`", "Line"),
        ("Use .map_ok() instead", "map_ok"),
        ("Use :func:`hmac.compare_digest` instead.", "hmac.compare_digest"),
        ("Use sendFile instead.", "sendFile"),
        ("You should migrate to V2 style `@field_line` lines", "field_line"),
    ],
)
def test_a_note_of_deprecation_need_not_name_what_it_is_about(text: str, new: str) -> None:
    assert find_replacements(text, "sheet", own=True)[:1] == (new,)
    assert find_replacements(text, "sheet") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Removed `tie`. `bind` can be used with `rope`.",
        "Fixed `tie` where `bind` failed",
        "`tie` now returns `None`",
        "`bind` is new",
    ],
)
def test_what_says_nothing_of_the_kind_gives_no_name(text: str) -> None:
    assert find_replacements(text, "tie") == ()


@pytest.mark.parametrize(
    "piece", ["use `", "tie use ", "`tie` to ", "instead of ", "rename tie ", "((("]
)
def test_the_cost_of_hostile_lines_grows_with_their_length(piece: str) -> None:
    unit = piece * (50_000 // len(piece))
    assert growth(lambda size: find_replacements(unit * size, "tie", own=True)) < 2


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Do not require `validate_assignment` to use `Field.frozen`", "validate_assignment"),
        ("Deprecate `Extra` in favour of settings, e.g. of strings", "Extra"),
    ],
)
def test_a_sentence_that_names_no_replacement_gives_none(text: str, old: str) -> None:
    assert find_replacements(text, old) == ()
