"""Search by signature: ``PYTHONPATH=tests python -m evaluation.signatures`` prints what it finds.

``signatures.jsonl`` holds queries with the functions that they mean. Written to
``tests/evaluation/signatures.md``, with what was missed.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docstow.index.signatures.search import search_by_signature
from evaluation.crates import Crates
from evaluation.fit import CACHE, HERE, REPOSITORY

QUERIES = HERE / "signatures.jsonl"
REPORT = HERE / "signatures.md"
DEPTH = 10
FIRST = 5


@dataclass(frozen=True, slots=True)
class Query:
    """A signature that is asked of a crate, and the functions that it means."""

    crate: str
    signature: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a query brought up, and the processor time that it took, in milliseconds."""

    query: Query
    returned: Sequence[str]
    milliseconds: float

    @property
    def recall(self) -> float:
        """The share of the relevant functions among the first five."""
        wanted = self.query.relevant
        return len(wanted & set(self.returned[:FIRST])) / min(FIRST, len(wanted))

    @property
    def reciprocal(self) -> float:
        """One by the rank of the first relevant function; 0 beyond ten."""
        places = (n for n, path in enumerate(self.returned, 1) if path in self.query.relevant)
        return 1 / next(places, float("inf"))


def load(file: Path = QUERIES) -> list[Query]:
    """Read a file of JSON Lines with ``crate``, ``signature`` and ``relevant``."""
    records = (json.loads(line) for line in file.read_text("utf-8").splitlines() if line)
    return [Query(r["crate"], r["signature"], frozenset(r["relevant"])) for r in records]


def ask(crates: Crates, query: Query) -> Outcome:
    """Search the query's crate, whose shapes are made before the time is taken."""
    index = crates[query.crate]
    missing = sorted(path for path in query.relevant if path not in index.rows_by_path)
    if missing or not len(index.signatures.index):
        raise LookupError(f"{query.crate} has no {', '.join(missing) or 'function'}")
    begin = time.process_time()
    found = search_by_signature(index, None, query.signature, limit=DEPTH)
    taken = (time.process_time() - begin) * 1000
    return Outcome(query, [hit.path for hit in found.hits], taken)


def report(outcomes: Sequence[Outcome]) -> str:
    """The whole report as Markdown."""
    by_crate: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_crate[outcome.query.crate].append(outcome)
    rows: Mapping[str, Sequence[Outcome]] = {"all": outcomes, **dict(sorted(by_crate.items()))}
    lines = [
        "# Search by signature",
        "",
        "Each query is asked of its own crate. Recall@5 is the share of the functions meant that",
        "are among the first five, MRR@10 the mean reciprocal rank of the first of them.",
        "",
        "| | queries | recall@5 | MRR@10 |",
        "| --- | --- | --- | --- |",
    ]
    for name, found in rows.items():
        recall = statistics.fmean(each.recall for each in found)
        rank = statistics.fmean(each.reciprocal for each in found)
        lines.append(f"| {name} | {len(found)} | {recall:.3f} | {rank:.3f} |")
    lines += ["", "## Missed", "", "| crate | query | wanted | returned first |"]
    lines.append("| --- | --- | --- | --- |")
    for each in outcomes:
        if each.recall < 1:
            wanted, first = ", ".join(sorted(each.query.relevant)), ", ".join(each.returned[:3])
            query = each.query.signature.replace("|", "\\|")
            lines.append(f"| {each.query.crate} | `{query}` | {wanted} | {first} |")
    return "\n".join(lines) + "\n"


def main(shared: Path) -> None:
    """Ask every query, print the report with times, and write it without."""
    crates = Crates([shared / "corpus"], CACHE)
    outcomes = [ask(crates, query) for query in load()]
    text = report(outcomes)
    times = sorted(each.milliseconds for each in outcomes)
    print(text)
    print(f"CPU ms a query: p50 {statistics.median(times):.1f}, largest {times[-1]:.1f}")
    REPORT.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY.parent / "shared")
