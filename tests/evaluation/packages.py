"""What the search of Python and Node packages is worth: ``python -m evaluation.packages``

The questions are our own, in the words of people who do not know the name. Their packages are
fetched from the registries in the versions that the answers were checked with, and kept in a store,
so that a second run fetches nothing. An answer that is not indexed is one that cannot be found: it
counts like one that is not. No guide is an answer here, so that these questions cannot tell what
guides are worth: guides are left out of the lists.

Some packages are kept aside, for a figure at the end: ``--aside`` prints it, and nothing is fitted
to them. The other figures are of cross-validation over packages: no question is judged by weights
that have seen its package. ``--fit`` writes the weights of packages anew; they are drawn towards
those that were, as these questions are few. Who knows a name types its words: queries of that kind
are made from items by rule and fitted too, so that what helps the others does not harm them.
``--uses FOLDER`` fits, too, to what tests, code, changelogs and guides of the packages of
``uses.tsv`` ask by rule (:mod:`docstow_training.uses`); their repositories lie in that folder.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from docstow.core.model import Source
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.index.ranking import WEIGHTS
from docstow.index.search import ItemFilters, find_candidates
from docstow.languages import LANGUAGES
from docstow.runtime import Runtime
from docstow_training.uses import balanced, find_uses
from evaluation.fit import AGAINST, CACHE, Case, Matrix, fit, judge
from evaluation.measures import Score, table

QUESTIONS = Path(__file__).with_name("packages.jsonl")
USES = Path(__file__).with_name("uses.tsv")
#: So many questions by rule are asked of a package.
MOST_USES = 120
FOLDS = 6
PENALTY = 0.1
#: What all questions by rule count beside all others.
RULED = 0.3
#: So many queries of a package are made of the words of names.
SPELT = 3
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: What spells a name comes first, whatever else is weighed.
NAMED = 10.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its candidates and the names of their features."""

    language: str
    aside: bool
    names: Sequence[str]
    case: Case


def asked(runtime: Runtime, questions: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Every question with the features of its candidates."""
    for each in questions:
        index = _index(runtime, each)
        answers = [
            {row for path in paths for row in index.find(path)} for paths in each["relevant"]
        ]
        yield _ask(runtime, index, each, str(each["query"]), answers)


def spelt(runtime: Runtime, questions: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Queries of the words of an item's name and two of its summary; all of its name answer."""
    packages = {str(each["package"]): each for each in questions}
    for package, first in packages.items():
        chance = random.Random(package)
        index = _index(runtime, first)
        titles = index.columns["title"].tolist()
        summaries = index.columns["summary"].tolist()
        rows = [
            row
            for row, kind in enumerate(index.columns["kind"].tolist())
            if kind in ("class", "function", "method")
            and len(_WORD.findall(titles[row])) > 1
            and len(summaries[row].split()) > 2
        ]
        for row in chance.sample(rows, min(SPELT, len(rows))):
            words = [each.lower() for each in _WORD.findall(titles[row])]
            said = re.findall(r"[a-z]{5,}", summaries[row].lower())
            further = [each for each in said if each not in words][:2]
            query = " ".join(["how", "to", *words, *further])
            namesakes = {n for n, title in enumerate(titles) if title == titles[row]}
            yield _ask(runtime, index, first, query, [namesakes])


def _index(runtime: Runtime, question: Mapping[str, Any]) -> Index:
    """The index of a question's package, which is fetched if it is not stored."""
    language = LANGUAGES[str(question["language"])]
    name, version = str(question["package"]), str(question["version"])
    source = Source(language.kind, language.spelling.package_key(name), version)
    found = runtime.snapshots.answering(source)
    found = found or runtime.packages.ingest(language.kind, name, version)
    return runtime.library.index(found)


def used(runtime: Runtime, folder: Path) -> Iterator[Asked]:
    """Questions by rule of the packages of :data:`USES`, whose sources lie in a folder."""
    for line in USES.read_text("utf-8").splitlines()[1:]:
        language, package, version, repository, _, _ = line.split("\t")
        question = {"language": language, "package": package, "version": version}
        index = _index(runtime, question)
        documents = index.documents()
        uses = find_uses(documents, (), {}, folder / repository.rpartition("/")[2])
        kept = balanced(uses, documents, package)
        chance = random.Random(package)
        for use in chance.sample(kept, min(MOST_USES, len(kept))):
            answers = [{row} for row in use.answers]
            yield _ask(runtime, index, {**question, "held_out": False}, use.query, answers)


def _ask(
    runtime: Runtime,
    index: Index,
    question: Mapping[str, Any],
    query: str,
    answers: list[set[int]],
) -> Asked:
    found = find_candidates(index, runtime.embedder, query, ItemFilters())
    names = list(found.features)
    items = found.features["is_page"] == 0
    values = np.stack(list(found.features.values()), axis=1)[items]
    case = Case(str(question["package"]), found.rows[items].tolist(), values, answers)
    return Asked(str(question["language"]), bool(question["held_out"]), names, case)


def fit_weights(
    cases: Sequence[Case], by_rule: Sequence[Case], names: Sequence[str], start: Matrix
) -> Matrix:
    """Weights of packages, with what is a rule and not a matter of degree.

    Args:
        cases: questions.
        by_rule: those that are made by rule, which count :data:`RULED` of the others in all.
        names: of the features.
        start: weights that the penalty draws towards.
    """
    each = RULED * len(cases) / max(len(by_rule), 1)
    shares = [1.0] * len(cases) + [each] * len(by_rule)
    weights = fit([*cases, *by_rule], start, PENALTY, shares)
    weights[names.index("named")] = NAMED
    for name, most in AGAINST.items():
        weights[names.index(name)] = min(weights[names.index(name)], most)
    return weights


def validate(
    found: Sequence[Asked], others: Sequence[Asked], by_rule: Sequence[Case], start: Matrix
) -> list[Score]:
    """What each question is worth with weights that were fitted to other packages.

    Args:
        found: the questions.
        others: what is fitted with them.
        by_rule: questions by rule, of other packages.
        start: weights that the penalty draws towards.
    """
    packages = sorted({each.case.crate for each in found})
    scores: dict[int, Score] = {}
    for fold in range(FOLDS):
        part = set(packages[fold::FOLDS])
        inside = [each.case for each in (*found, *others) if each.case.crate not in part]
        weights = fit_weights(inside, by_rule, found[0].names, start)
        outside = [number for number, each in enumerate(found) if each.case.crate in part]
        scores |= zip(outside, judge([found[n].case for n in outside], weights), strict=True)
    return [scores[number] for number in range(len(found))]


def main(words: Sequence[str]) -> None:
    """Print what the search is worth, and perhaps write new weights."""
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    if "--aside" not in words:
        questions = [each for each in questions if not each["held_out"]]
    uses = "--uses" in words
    folder = CACHE / "packages"
    flags = {"store": f"{folder}/store", "cache": f"{folder}/cache"}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        found = list(asked(runtime, questions))
        names_spelt = list(spelt(runtime, [each for each in questions if not each["held_out"]]))
        by_rule = list(used(runtime, Path(words[words.index("--uses") + 1]))) if uses else []
    ruled = [each.case for each in by_rule]
    names = found[0].names
    tables = json.loads(WEIGHTS.read_text("utf-8"))
    weights = np.array([tables["packages"].get(name, 0.0) for name in names])
    weights[names.index("named")] = NAMED
    seen = [each for each in found if not each.aside]
    aside = [each for each in found if each.aside]
    rows: dict[str, list[Score]] = {}
    for label, part, scores in (
        ("weights as they are", seen, judge([each.case for each in seen], weights)),
        ("fitted to other packages", seen, validate(seen, names_spelt, ruled, weights)),
        ("names spelt", names_spelt, judge([each.case for each in names_spelt], weights)),
        ("aside", aside, judge([each.case for each in aside], weights)),
    ):
        for each, score in zip(part, scores, strict=True):
            for name in (each.language, "all"):
                rows.setdefault(f"{label}, {name}", []).append(score)
    print(table(rows))
    if "--fit" in words:
        weights = fit_weights([each.case for each in (*seen, *names_spelt)], ruled, names, weights)
        pairs = zip(names, weights, strict=True)
        hidden = ("named", "is_page")
        tables["packages"] = {n: round(float(v), 5) for n, v in pairs if n not in hidden}
        WEIGHTS.write_text(json.dumps(tables, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
