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
weights make of the others.
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
from evaluation.measures import Score, score, table

QUESTIONS = HERE / "pages.jsonl"
ROUNDS = 4
PENALTY = 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its candidates, and the pages that the shipped search lists."""

    case: Case
    paths: Sequence[str]
    answers: Sequence[set[str]]
    listed: Sequence[str]


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
        for each in questions:
            text, answers = str(each["question"]), each["answers"]
            assert isinstance(answers, list)
            brought = find_page_candidates(index, runtime.embedder, text)
            names = list(brought.features)
            rows = index.passages["document"][brought.places].tolist()
            values = np.stack(list(brought.features.values()), axis=1)
            # An answer that is no page here stays, and counts as missed.
            wanted = [{row for row, path in enumerate(paths) if path == one} for one in answers]
            hits = search_pages([index], runtime.embedder, text, limit=10)
            listed = [hit.path for hit in hits]
            case = Case(folder.name, rows, values, wanted)
            found.append(Asked(case, paths, [{one} for one in answers], listed))
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


def judge(asked: Asked, weights: NDArray[np.float64]) -> Score:
    """What the weights make of one question, one hit a page."""
    case = best_of_pages(asked.case, weights)
    order = np.argsort(-(case.features @ weights), kind="stable")[:10]
    return score([asked.paths[case.rows[place]] for place in order], asked.answers)


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
    rows = {"shipped": [score(one.listed, one.answers) for one in found]}
    if aside:
        print(table(rows))
        return
    rows["fitted, other sets"] = []
    for name in dict.fromkeys(one.case.crate for one in found):
        weights = learn([one.case for one in found if one.case.crate != name])
        rows["fitted, other sets"] += [
            judge(one, weights) for one in found if one.case.crate == name
        ]
    weights = learn([one.case for one in found])
    rows["fitted, same sets"] = [judge(one, weights) for one in found]
    print(table(rows))
    tables = json.loads(WEIGHTS.read_text("utf-8"))
    tables["pages"] = {
        name: round(float(value), 5) for name, value in zip(names, weights, strict=True)
    }
    WEIGHTS.write_text(json.dumps(tables, indent=2) + "\n", "utf-8")
    page_weights.cache_clear()


if __name__ == "__main__":
    main(Path(sys.argv[1]), aside="--aside" in sys.argv)
