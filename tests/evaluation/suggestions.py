"""The names that may be meant in the programs, and the weights by which they are ordered.

Of each wrong name of :mod:`evaluation.programs` that is found, the names that were compared are
recorded, with their docs and with how they fit their place. The weights are fitted to them, drawn
to those that :mod:`evaluation.guesses` gave (listwise, see :mod:`evaluation.fit`)::

    PYTHONPATH=tests:tests/support python -m evaluation.suggestions
        python:DIR:worked python:DIR:second typescript:DIR:worked rust:DIR:worked …
        --cache CACHE --engines ENGINES

It prints how often the right name is first by the weights that are kept, and by weights that have
not seen its program.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow import Docs
from docstow.languages.shared import findings
from docstow.languages.shared.findings import nearest, owner_words
from docstow.languages.shared.likeness import SAME, WEIGHTS, features, rarity
from evaluation import fit, programs

#: Where suggestions are asked for.
_ASKING = (
    *("shared.lookup", "typescript.compiler", "typescript.check", "python.check.type_checker"),
    *("rust.check", "rust.check.members", "rust.check.calls", "rust.check.crate_items"),
)
#: How strongly weights are drawn to those that are kept, and in how many parts they are judged.
_PENALTY, _FOLDS = 0.01, 5
_FEATURES = (*WEIGHTS, "same", "fits")
_KEPT = np.array([*WEIGHTS.values(), SAME, findings._FIT])


@dataclass(frozen=True, slots=True)
class Compared:
    """Names that were compared with a wanted one: their features, shape (names, features)."""

    names: list[str]
    features: NDArray[np.float64]


@contextmanager
def recorded() -> Iterator[list[Compared]]:
    """Record the names that are compared."""
    found: list[Compared] = []

    def record(
        wanted: str,
        siblings: Iterable[str],
        others: Iterable[str] = (),
        *,
        summaries: Mapping[str, str] | None = None,
        owner: str = "",
        fits: Callable[[str], float] | None = None,
        **how: Any,
    ) -> tuple[str, ...]:
        paths = list(siblings)
        by_last = {findings._SEPARATORS.split(each)[-1]: each for each in paths}
        rare, about = (
            rarity(by_last),
            owner_words(owner or findings._owner_of({"": paths[:1]} if paths else {})),
        )
        rows = []
        for last, path in by_last.items():
            row = features(wanted, last, (summaries or {}).get(path, ""), rare, about)
            more = (row["spelt"] >= 1, fits(path) if fits is not None else 0.0)
            rows.append([*map(float, row.values()), *map(float, more)])
        found.append(Compared(list(by_last), np.array(rows)))
        return nearest(wanted, paths, others, summaries=summaries, owner=owner, fits=fits, **how)

    modules = [importlib.import_module(f"docstow.languages.{each}") for each in _ASKING]
    asking = [each for each in modules if hasattr(each, "nearest")]
    for each in asking:
        each.nearest = record  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        for each in asking:
            each.nearest = nearest  # type: ignore[attr-defined]


def cases(docs: Docs, language: str, part: str) -> Iterator[fit.Case]:
    """Yield what was compared for each change of a part's programs whose right name was there."""
    for program in programs.load(language, part):
        dialect = "javascript" if "(js)" in program.title else language
        for change in program.changes:
            with recorded() as compared:
                docs.verify(change.code, dialect)
            # The last one has the docs, where names were sifted before they were asked for.
            having = [each for each in compared if change.wanted in each.names]
            if change.wanted and having and len(having[-1].names) > 1:
                names = having[-1].names
                answers = [{names.index(change.wanted)}]
                numbers = list(range(len(names)))
                yield fit.Case(program.title, numbers, having[-1].features, answers)


def _firsts(judged: list[fit.Case], weights: NDArray[np.float64]) -> int:
    return sum(int(np.argmax(each.features @ weights)) in each.answers[0] for each in judged)


def main() -> int:
    """Record, fit, judge, and print the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", help="LANGUAGE:DIR:PART")
    parser.add_argument("--cache", default="", help="folder of the local cache")
    parser.add_argument("--engines", default="", help="folder of the engines, or none")
    options = parser.parse_args()
    found: list[fit.Case] = []
    for each in options.parts:
        language, root, part = each.split(":")
        with programs.opened(language, Path(root), options.cache, options.engines) as docs:
            found += cases(docs, language, part)
    unseen = 0
    for number in range(_FOLDS):
        aside = [e for e in found if zlib.crc32(e.crate.encode()) % _FOLDS == number]
        rest = [e for e in found if zlib.crc32(e.crate.encode()) % _FOLDS != number]
        unseen += _firsts(aside, fit.fit(rest, start=_KEPT, penalty=_PENALTY))
    print(
        f"right name first: {_firsts(found, _KEPT)} of {len(found)} by the weights that are kept,"
        f" {unseen} by such as have not seen its program"
    )
    weights = fit.fit(found, start=_KEPT, penalty=_PENALTY)
    print(json.dumps({n: round(float(v), 1) for n, v in zip(_FEATURES, weights, strict=True)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
