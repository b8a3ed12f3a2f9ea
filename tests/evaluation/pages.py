"""Fits the weights of the ranking of pages: ``python -m evaluation.pages FOLDER``.

The folder has one folder of HTML for each set that ``pages.jsonl`` asks about, from Debian's
packages git-doc, nodejs-doc, python3.11-doc (without ``c-api``, ``distutils`` and ``extending``),
python-sqlalchemy-doc, cmake-doc (commands, manuals, guides, target properties, generators),
debian-handbook (``en-US``) and postfix-doc; set aside are postgresql-doc-15, sqlite3-doc,
python-django-doc (without ``_modules``), apache2-doc (``en``), rust-doc (``book``,
``rust-by-example``, ``reference``), borgbackup-doc (``borg``), slurm-wlm-doc, libvirt-doc and
zsh-doc (``slurm``, ``libvirt``, ``zsh``). The model and its loss are those of
:mod:`evaluation.fit`; of each page the chunk counts that the weights of the round before put first.
The figures are those of weights that have not seen the set; ``--aside`` prints what the shipped
weights make of the others, and what those make that do without the fields of pages.

The questions are about pages and say nothing of sections, so the features of chunks stay in the
proportions of the table ``pages``, and one factor is fitted to them all. That table is what ranks
snapshots without the fields of pages, and is kept as it is.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.index.ranking import WEIGHTS, page_weights
from docstow.index.search_pages import find_page_candidates, search_pages
from docstow.runtime import Runtime
from evaluation.fit import CACHE, HERE, Case, fit
from evaluation.measures import Score, interval, score, table

QUESTIONS = HERE / "pages.jsonl"
ROUNDS = 4
PENALTY = 0.05

#: Features of the page alone; all others are of the chunk.
FIELDS = ("about_near", "lead_near")
OF_PAGES = ("page_words", "page_mean", "page_first", "page_best", *FIELDS)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its candidates, and the pages that the shipped search lists.

    Attributes:
        case: its candidates.
        paths: of the set's pages.
        answers: paths, any of which answers.
        listed: the first pages.
        without: the first pages if nothing is known of their fields.
    """

    case: Case
    paths: Sequence[str]
    answers: Sequence[set[str]]
    listed: Sequence[str]
    without: Sequence[str]


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[tuple[Runtime, Index]]:
    """A set's pages, stowed once."""
    place = CACHE / "pages" / folder.name
    with contextlib.closing(
        Runtime(load({"store": f"{place}/store", "cache": f"{place}/cache"}, {}))
    ) as runtime:
        registration, _ = runtime.registry.create("folder", str(folder))
        runtime.sync.wait(runtime.sync.start(registration.id).id, 3000)
        snapshot = runtime.prose.newest(registration)
        assert snapshot is not None
        yield runtime, Index(snapshot, partial(runtime.snapshots.file, snapshot))


def ask(folder: Path, questions: Sequence[Mapping[str, object]]) -> tuple[list[str], list[Asked]]:
    """The features' names, and the candidates of a set's questions."""
    found = []
    names: list[str] = []
    with opened(folder) as (runtime, index):
        paths = index.columns["path"].tolist()
        earlier = Index(index.snapshot, partial(runtime.snapshots.file, index.snapshot))
        earlier.__dict__["page_words"] = None
        for each in questions:
            text, answers = str(each["question"]), each["answers"]
            assert isinstance(answers, list)
            brought = find_page_candidates(index, runtime.embedder, text)
            names = list(brought.features)
            rows = index.passages["document"][brought.places].tolist()
            values = np.stack(list(brought.features.values()), axis=1)
            # An answer that is no page here stays, and counts as missed.
            wanted = [{row for row, path in enumerate(paths) if path == one} for one in answers]
            listed, without = (
                [hit.path for hit in search_pages([each], runtime.embedder, text, limit=10)]
                for each in (index, earlier)
            )
            case = Case(folder.name, rows, values, wanted)
            found.append(Asked(case, paths, [{one} for one in answers], listed, without))
    return names, found


def best_of_pages(case: Case, weights: NDArray[np.float64]) -> Case:
    """The case with one candidate a page."""
    order = np.argsort(-(case.features @ weights), kind="stable")
    first: dict[int, int] = {}
    for place in order.tolist():
        first.setdefault(case.rows[place], place)
    kept = list(first.values())
    return replace(case, rows=[case.rows[p] for p in kept], features=case.features[kept])


def learn(training: Sequence[Case]) -> NDArray[np.float64]:
    """Weights of the features: shape (features,)."""
    weights = np.ones(training[0].features.shape[1])
    for _ in range(ROUNDS):
        weights = fit([best_of_pages(case, weights) for case in training], penalty=PENALTY)
    return weights


def learn_pages(
    names: Sequence[str], training: Sequence[Case], *, hidden: Sequence[str] = ()
) -> NDArray[np.float64]:
    """Weights of all features, of which those of chunks are in proportion: shape (features,).

    Args:
        names: of the features.
        training: questions with their candidates.
        hidden: features of pages that get no weight.
    """
    of_pages = np.array([name in OF_PAGES and name not in hidden for name in names])
    kept = page_weights(with_fields=False)
    proportions = np.array([0 if name in OF_PAGES else kept[name] for name in names])
    joined = [
        replace(
            case,
            features=np.column_stack([case.features[:, of_pages], case.features @ proportions]),
        )
        for case in training
    ]
    *own, factor = learn(joined)
    weights: NDArray[np.float64] = factor * proportions
    weights[of_pages] = own
    return weights


def judge(asked: Asked, weights: NDArray[np.float64]) -> Score:
    """What the weights make of one question, one hit a page."""
    case = best_of_pages(asked.case, weights)
    order = np.argsort(-(case.features @ weights), kind="stable")[:10]
    return score([asked.paths[case.rows[place]] for place in order], asked.answers)


def compare(names: tuple[str, str], scores: Sequence[Sequence[Score]]) -> None:
    """Print two rows of scores, and the interval of what the second has more."""
    print(table(dict(zip(names, scores, strict=True))))
    more = [second.mrr - first.mrr for first, second in zip(*scores, strict=True)]
    low, high = interval(more)
    print(f"MRR@10 {np.mean(more):+.3f} ({low:+.3f} to {high:+.3f})")


def main(folder: Path, *, aside: bool) -> None:
    """Print what the ranking is worth; write the weights that the development sets teach."""
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    chosen = [each for each in questions if each["aside"] == aside]
    names: list[str] = []
    found: list[Asked] = []
    for name in dict.fromkeys(each["set"] for each in chosen):
        names, asked = ask(folder / name, [each for each in chosen if each["set"] == name])
        found += asked
        print(table({name: [score(one.listed, one.answers) for one in asked]}), flush=True)
    shipped = [
        [score(pages, one.answers) for one, pages in zip(found, each, strict=True)]
        for each in ([one.without for one in found], [one.listed for one in found])
    ]
    compare(("shipped, without fields", "shipped"), shipped)
    if aside:
        return
    sets = dict.fromkeys(one.case.crate for one in found)
    outside: list[list[Score]] = []
    for hidden in (FIELDS, ()):
        by_set = {
            name: learn_pages(
                names, [one.case for one in found if one.case.crate != name], hidden=hidden
            )
            for name in sets
        }
        outside.append([judge(one, by_set[one.case.crate]) for one in found])
    compare(("other sets, without fields", "other sets"), outside)
    weights = learn_pages(names, [one.case for one in found])
    print(table({"same sets": [judge(one, weights) for one in found]}))
    tables = json.loads(WEIGHTS.read_text("utf-8"))
    tables["page_fields"] = {
        name: round(float(value), 5) for name, value in zip(names, weights, strict=True)
    }
    WEIGHTS.write_text(json.dumps(tables, indent=2) + "\n", "utf-8")
    page_weights.cache_clear()


if __name__ == "__main__":
    main(Path(sys.argv[1]), aside="--aside" in sys.argv)
