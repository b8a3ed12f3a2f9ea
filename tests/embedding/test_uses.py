"""Questions by rule: what tests, code, changelogs and guides say of items that they use."""

from pathlib import Path

from docstow.core.model import Document
from docstow_training.uses import Use, as_question, balanced, find_uses

ITEMS = [
    Document("box.Lid", "class", "Lid", parent="box"),
    Document("box.Lid.lock_tight", "method", "lock_tight", parent="box.Lid"),
    Document("box.fold_paper", "function", "fold_paper", parent="box"),
    Document("box.unpack", "function", "unpack", "", "Opens it with `fold_paper` in both hands."),
]


def _asked(folder: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    found = find_uses(ITEMS, (), {}, folder)
    return {(use.rule, use.query): tuple(ITEMS[row].path for row in use.answers) for use in found}


def test_reads_tests_comments_and_errors_of_python(tmp_path: Path) -> None:
    tmp_path.joinpath("test_box.py").write_text(
        "def test_keeps_rain_out_at_night():\n"
        "    lid.lock_tight()\n\n"
        "def helper():\n"
        "    # make it small enough for a pocket\n"
        "    fold_paper(3)\n\n"
        "def unpack(what):\n"
        '    raise ValueError(f"{what} has nothing left inside")\n'
    )

    assert _asked(tmp_path) == {
        ("test", "keeps rain out at night"): ("box.Lid.lock_tight",),
        ("comment", "make it small enough for a pocket"): ("box.fold_paper",),
        ("error", "has nothing left inside"): ("box.unpack",),
    }


def test_reads_titles_of_tests_in_scripts(tmp_path: Path) -> None:
    tmp_path.joinpath("box.test.ts").write_text(
        "it('should hold when it is dropped', () => {\n  lid.lock_tight();\n});\n"
        "it('gets smaller with each turn', () => {\n  fold_paper(2);\n});\n"
    )

    assert _asked(tmp_path) == {
        ("test", "hold when it is dropped"): ("box.Lid.lock_tight",),
        ("test", "gets smaller with each turn"): ("box.fold_paper",),
    }


def test_reads_changelogs_and_guides_without_the_names_that_they_spell(tmp_path: Path) -> None:
    tmp_path.joinpath("CHANGELOG.md").write_text(
        "# 2.0\n\n* Add `fold_paper()` to make letters flat (#12)\n"
    )
    tmp_path.joinpath("guide.md").write_text(
        "# Guide\n\n## Against thieves in the house\n\n```python\nlid.lock_tight()\n```\n"
    )

    assert _asked(tmp_path) == {
        ("changelog", "to make letters flat"): ("box.fold_paper",),
        ("guide", "against thieves in the house"): ("box.Lid.lock_tight",),
    }


def test_leaves_out_what_an_item_documents_itself(tmp_path: Path) -> None:
    tmp_path.joinpath("guide.md").write_text("Opens it with `fold_paper` in both hands.\n")

    assert _asked(tmp_path) == {}


def test_a_question_needs_words_that_are_no_names() -> None:
    assert as_question("Fixed: see `x`, #12", [ITEMS[2]]) == ""
    assert as_question("fold_paper fold_paper again", [ITEMS[2]]) == ""


def test_balances_kinds_and_asks_for_no_item_too_often() -> None:
    uses = [Use(f"lock it {n}", (1,), "test", "") for n in range(9)]
    uses += [Use(f"fold it {n}", (2,), "test", "") for n in range(9)]
    uses += [Use(f"a lid {n}", (0,), "test", "") for n in range(9)]

    kept = [use.answers for use in balanced(uses, ITEMS, "seed")]

    assert (kept.count((1,)), kept.count((2,)), kept.count((0,))) == (4, 4, 2)
