"""Fits the weights of the ranking's features: ``make fit``.

The ranking is linear and the loss listwise: the cross-entropy between the relevant candidates and
the softmax of all candidates' scores (ListNet's top one, Cao et al., ICML 2007), with an L2 penalty
on standardised features, found by Newton's method. Two sets of questions teach it:

* our own, over crates that the evaluation does not ask about, and of those only the ones that the
  bundled model has not learned from (what it has learned, it finds too easily). They were written
  for items chosen by kind and prominence, so they teach how lists are weighed and nothing else: the
  features of :data:`docstow.index.ranking.ITEM_FEATURES` are hidden from them;
* the development questions, and those of ``crates.jsonl`` that are not held out: our own too, but
  in the words of people who do not know the answer. They also teach what items are worth as such.

The figures are of five-fold cross-validation over the crates of these questions: no question is
judged by weights that have seen its crate. ``--aside`` prints those of the questions that are held
out, over crates of their own, by the weights that are kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docstow.index.ranking import ITEM_FEATURES, WEIGHTS, feature_weights
from docstow.index.search import ItemFilters, find_candidates
from docstow_training.questions import is_held_out
from evaluation.crates import Crates
from evaluation.measures import Score, score, table
from evaluation.questions import Question, load
from paths import TESTS

HERE = TESTS / "evaluation"
REPOSITORY = HERE.parent.parent
QUESTIONS = HERE / "questions.jsonl"
FURTHER = HERE / "crates.jsonl"
CACHE = REPOSITORY / ".cache" / "evaluation"

FOLDS = 5
PENALTY = 0.01

#: What must never count for an item, whatever the questions say.
AGAINST = {"deprecated": -0.5, "twin": -0.5}
#: Newton's steps at most, and what one must gain to be followed by another.
STEPS = 30
LEAST_GAIN = 1e-6

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One question's candidates: features (candidates, features) and the answers' rows."""

    crate: str
    rows: list[int]
    features: Matrix
    answers: list[set[int]]

    def relevant(self) -> NDArray[np.bool_]:
        return np.array([any(row in rows for rows in self.answers) for row in self.rows], np.bool_)


def cases(questions: Sequence[Question], crates: Crates) -> tuple[list[str], list[Case]]:
    """The features' names, and every question's candidates."""
    names: list[str] = []
    found = []
    for question in questions:
        index = crates[question.crate]
        candidates = find_candidates(index, crates.runtime.embedder, question.text, ItemFilters())
        rows = candidates.rows.tolist()
        names = list(candidates.features)
        values = np.stack(list(candidates.features.values()), axis=1)
        found.append(Case(question.crate, rows, values, question.rows(index)))
    return names, found


def fit(
    training: Sequence[Case],
    start: NDArray[np.float64] | None = None,
    penalty: float = PENALTY,
    shares: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """Weights of the raw features: shape (features,).

    Args:
        training: questions with their candidates.
        start: weights that the penalty draws towards, shape (features,); zero if left out.
        penalty: how strongly, on standardised features.
        shares: what each question counts; all the same if left out.
    """
    counted = zip(training, shares or [1.0] * len(training), strict=True)
    pairs = [(case, share) for case, share in counted if case.relevant().any()]
    usable = [case for case, _ in pairs]
    counts = np.array([share for _, share in pairs])
    counts /= counts.sum()
    stacked = np.concatenate([case.features for case in usable])
    scale = stacked.std(axis=0) + 1e-9
    stacked = (stacked - stacked.mean(axis=0)) / scale
    wanted = np.concatenate([case.relevant() for case in usable]).astype(np.float64)
    begins = np.cumsum([0, *(len(case.rows) for case in usable)])[:-1]
    segment = np.repeat(np.arange(len(usable)), [len(case.rows) for case in usable])
    wanted /= np.add.reduceat(wanted, begins)[segment]
    drawn = np.zeros(stacked.shape[1]) if start is None else start * scale

    def weigh(weights: Matrix) -> tuple[float, Matrix]:
        """The loss of some weights, and each candidate's share of the softmax."""
        scores = stacked @ weights
        scores -= np.maximum.reduceat(scores, begins)[segment]
        share = np.exp(scores)
        totals = np.add.reduceat(share, begins)[segment]
        away = weights - drawn
        loss = (counts[segment] * wanted) @ (np.log(totals) - scores)
        loss += penalty / 2 * (away @ away)
        return float(loss), share / totals

    weights = drawn
    loss, share = weigh(weights)
    for _ in range(STEPS):
        each = counts[segment]
        slope = stacked.T @ (each * (share - wanted)) + penalty * (weights - drawn)
        means = np.add.reduceat(stacked * share[:, None], begins, axis=0)
        curve = stacked.T @ (stacked * (each * share)[:, None]) - means.T @ (
            means * counts[:, None]
        )
        step = np.linalg.solve(curve + penalty * np.eye(len(weights)), slope)
        before = loss
        loss, share = weigh(weights - step)
        while loss > before + LEAST_GAIN:
            step /= 2
            loss, share = weigh(weights - step)
        weights = weights - step
        if before - loss < LEAST_GAIN:
            break
    fitted: NDArray[np.float64] = weights / scale
    return fitted


def judge(judged: Sequence[Case], weights: NDArray[np.float64]) -> list[Score]:
    """What the weights make of each case."""
    scores = []
    for case in judged:
        order = np.argsort(-(case.features @ weights), kind="stable")[:10]
        ranking = [str(case.rows[place]) for place in order]
        scores.append(score(ranking, [set(map(str, rows)) for rows in case.answers]))
    return scores


def _without(case: Case, names: Sequence[str], hidden: Sequence[str]) -> Case:
    shown = np.array([name not in hidden for name in names])
    return replace(case, features=case.features * shown)


def _aside(crates: Crates) -> None:
    """Print what the kept weights make of the questions that are held out."""
    names, found = cases([each for each in load(FURTHER) if each.held_out], crates)
    weights = np.array([feature_weights().get(name, 0.0) for name in names])
    print(table({"held out": judge(found, weights)}))


def main(corpus: Path) -> None:
    """Fit, print what it is worth on crates held out, and write the weights."""
    crates = Crates([corpus, corpus.parent / "corpus-more"], CACHE)
    names, found = cases(load(corpus.parent / "eval" / "dev-queries.jsonl"), crates)
    found_further = cases([each for each in load(FURTHER) if not each.held_out], crates)[1]
    unseen = [question for question in load(QUESTIONS) if is_held_out(question.crate)]
    own = [_without(case, names, ITEM_FEATURES) for case in cases(unseen, crates)[1]]
    asked = [*found, *found_further]
    order = sorted({case.crate for case in asked})
    fusion = np.array([float(name == "fusion") for name in names])
    rows: dict[str, list[Score]] = {
        "fusion": judge(found, fusion),
        "fitted, other folds": [],
        "further, other folds": [],
    }
    for fold in range(FOLDS):
        part = set(order[fold::FOLDS])
        inside = [case for case in [*own, *asked] if case.crate not in part]
        weights = fit(inside)
        for name, judged in (("fitted", found), ("further", found_further)):
            outside = [case for case in judged if case.crate in part]
            rows[f"{name}, other folds"] += judge(outside, weights)
    weights = fit([*own, *asked])
    rows["fitted, same questions"] = judge(found, weights)
    print(table(rows))
    # No crate has the kinds of packages, so nothing is learned of these.
    kept = {name: round(float(v), 5) for name, v in zip(names, weights, strict=True) if v}
    del kept["named"]  # a rule, not a matter of degree
    kept |= {name: min(kept[name], most) for name, most in AGAINST.items()}
    model = crates.runtime.embedder.id
    tables = {**json.loads(WEIGHTS.read_text("utf-8")), "model": model, "weights": kept}
    WEIGHTS.write_text(json.dumps(tables, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    shared = REPOSITORY.parent / "shared"
    if "--aside" in sys.argv:
        _aside(Crates([shared / "corpus", shared / "corpus-more"], CACHE))
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "corpus")
