"""The evaluation: ``make eval`` prints what each stage of the ranking is worth, and where it fails.

Written to ``tests/evaluation/report.md``, which a test compares with a new run.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import minilm
from docstow.index.ranking import reciprocal_rank_fusion
from docstow.index.search import ItemFilters, find_candidates, search_items
from evaluation.crates import Crates
from evaluation.fit import CACHE, HERE, REPOSITORY
from evaluation.measures import Score, score, table
from evaluation.questions import Question, load

REPORT = HERE / "report.md"
WORST = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: the worth of each stage's ranking, and what the last one returned first."""

    question: Question
    scores: Mapping[str, Score]
    returned: Sequence[str]


def ask(crates: Crates, question: Question) -> Outcome:
    """Rank the question's crate by each stage."""
    index = crates[question.crate]
    embedder = crates.runtime.embedder
    answers = [{str(row) for row in rows} for rows in question.rows(index)]
    lists = find_candidates(index, embedder, question.text, ItemFilters()).lists
    pair = [lists["keyword"], lists["vector"]]
    hits = search_items(index, embedder, question.text, limit=10)
    rankings = {
        "keyword (BM25F)": pair[0].tolist(),
        "vector": pair[1].tolist(),
        "fusion (RRF, k = 60)": reciprocal_rank_fusion(pair)[0].tolist(),
        "whole search": [index.row(hit.path, hit.kind) for hit in hits],
    }
    scores = {
        name: score([str(row) for row in rows[:10]], answers) for name, rows in rankings.items()
    }
    return Outcome(question, scores, [hit.path for hit in hits[:3]])


def stages(outcomes: Sequence[Outcome]) -> dict[str, list[Score]]:
    """The scores of every stage."""
    return {name: [o.scores[name] for o in outcomes] for name in outcomes[0].scores}


def report(outcomes: Sequence[Outcome], model: str, others: Mapping[str, str]) -> str:
    """The whole report as Markdown.

    Args:
        outcomes: of the bundled model.
        model: its id.
        others: the tables of other models' stages, by name.
    """
    by_crate: defaultdict[str, list[Score]] = defaultdict(list)
    for outcome in outcomes:
        by_crate[outcome.question.crate].append(outcome.scores["whole search"])
    worst = sorted(outcomes, key=lambda o: o.scores["whole search"].ndcg)[:WORST]
    lines = [
        "# What the ranking is worth",
        "",
        f"Model `{model}`. Hit@5, MRR@10 and nDCG@10 with the 95 % bootstrap interval of the last.",
        "Made by `make eval`; the questions are asked of their own crate.",
        "",
        "## Stages",
        "",
        table(stages(outcomes)),
        "",
        "## Crates, whole search",
        "",
        table(dict(sorted(by_crate.items()))),
        "",
        "## The worst ten",
        "",
        "| crate | question | wanted | returned first |",
        "| --- | --- | --- | --- |",
    ]
    for outcome in worst:
        wanted = ", ".join(sorted(min(paths) for paths in outcome.question.answers))
        asked = outcome.question
        returned = ", ".join(outcome.returned)
        lines.append(f"| {asked.crate} | {asked.text} | {wanted} | {returned} |")
    for name, made in others.items():
        lines += ["", f"## Stages with {name}", "", made]
    return "\n".join(lines) + "\n"


def others(shared: Path, questions: Sequence[Question]) -> dict[str, str]:
    """The stages with MiniLM, which most peers use; made once for a recipe, as it takes minutes.

    The weights of the ranking stay those that were fitted for the bundled model.
    """
    source = minilm.carried()
    if source is None:
        return {}
    folder = CACHE / "minilm"
    if not folder.is_dir():
        minilm.convert(source, folder)
    tables = {}
    for precision in ("fp32", "int8"):
        crates = Crates([shared / "corpus"], CACHE / precision, str(folder), precision=precision)
        tables[f"all-MiniLM-L6-v2, {precision}"] = table(
            stages([ask(crates, question) for question in questions])
        )
    return tables


def main(shared: Path) -> None:
    """Ask every question, print the report and write it."""
    crates = Crates([shared / "corpus", shared / "corpus-more"], CACHE)
    questions = load(shared / "eval" / "dev-queries.jsonl")
    outcomes = [ask(crates, question) for question in questions]
    text = report(outcomes, crates.runtime.embedder.id, others(shared, questions))
    print(text)
    REPORT.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY.parent / "shared")
