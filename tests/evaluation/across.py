"""What the search over all stowed crates is worth: ``python -m evaluation.across``.

Every question is asked without its crate, of a store that has the crates of all questions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from docstow.core.model import Hit
from docstow.index.loaded import Index
from docstow.index.search import ItemFilters, SearchedCrate, search_across_crates, search_items
from evaluation.crates import Crates
from evaluation.fit import CACHE
from evaluation.measures import Score, score, table
from evaluation.questions import Question, load

NOWHERE = 1000


def ask(crates: Crates, question: Question) -> tuple[int, Score, Score]:
    """The place of the question's crate, and what the lists in it and over all are worth."""
    library, embedder = crates.runtime.library, crates.runtime.embedder
    chosen = library.across(question.text, ItemFilters())
    names = [stowed.name for stowed, _ in chosen]
    parts = [
        SearchedCrate(library.index(stowed.snapshot), embedder, worth) for stowed, worth in chosen
    ]
    hits = [
        (names[each.crate], parts[each.crate].index, each.hit)
        for each in search_across_crates(parts, question.text, limit=10, filters=ItemFilters())
    ]
    own = crates[question.crate]
    hits_alone = search_items(own, embedder, question.text, limit=10)
    answers = [{f"{question.crate} {row}" for row in rows} for rows in question.rows(own)]

    def judged(found: Iterable[tuple[str, Index, Hit]]) -> Score:
        rows = [f"{name} {index.row(hit.path, hit.kind)}" for name, index, hit in found]
        return score(rows, answers)

    place = names.index(question.crate) if question.crate in names else NOWHERE
    return place, judged((question.crate, own, hit) for hit in hits_alone), judged(hits)


def main(corpus: Path, questions: Path) -> None:
    """Print how often the crate is among the first, and what the lists are worth."""
    asked = load(questions)
    crates = Crates([corpus], CACHE.with_name("across"))
    for name in sorted({question.crate for question in asked}):
        _ = crates[name]
    places, alone, across = zip(*(ask(crates, question) for question in asked), strict=True)
    for count in (1, 2, 3, 5):
        share = sum(place < count for place in places) / len(places)
        print(f"crate among the first {count}: {share:.3f}")
    print(table({"in the right crate": alone, "over all crates": across}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
