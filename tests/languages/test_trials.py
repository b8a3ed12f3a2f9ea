"""Names that may be meant are tried in the code, and those that an engine takes come first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from docstow.core.errors import InternalError, TooLarge
from docstow.languages.shared.findings import Finding
from docstow.languages.shared.language_server import Diagnostic
from docstow.languages.shared.trials import Trials, Writer

MISSING = "oar.pul(2)"
FINDING = Finding(1, 5, "oar.pul", "unknown", "No pul.", suggestions=("full", "pull", "hull"))


def _write(_: Finding) -> Writer:
    return lambda new: MISSING.replace("pul", new)


def _said(message: str) -> Diagnostic:
    return Diagnostic(0, 4, 7, "2345", message)


def _only_pull(body: str) -> Sequence[Diagnostic]:
    return [] if "pull" in body else [_said("2 is no such thing")]


def test_the_name_that_the_engine_takes_comes_first() -> None:
    trials = Trials(_write, _only_pull, [_said("no pul")])
    assert trials.ordered(FINDING).suggestions == ("pull", "full", "hull")


def test_a_spare_name_is_tried_where_no_other_fits() -> None:
    trials = Trials(_write, lambda _: [_said("wrong")], [])
    spare = {(1, 5): ("haul",)}
    assert trials.ordered(FINDING).suggestions == FINDING.suggestions
    trials = Trials(_write, lambda body: [] if "haul" in body else [_said("wrong")], [], spare)
    assert trials.ordered(FINDING).suggestions[0] == "haul"


@pytest.mark.parametrize("error", [TooLarge("too slow", limit=1), InternalError("it ended")])
def test_a_finding_stands_whose_trials_end_the_engine(error: Exception) -> None:
    asked: list[str] = []

    def judge(body: str) -> Sequence[Diagnostic]:
        asked.append(body)
        raise error

    trials = Trials(_write, judge, [])
    assert trials.ordered(FINDING) == FINDING
    assert trials.ordered(FINDING) == FINDING
    assert len(asked) == 1
