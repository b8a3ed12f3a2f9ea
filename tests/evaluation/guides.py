"""What the search of packages is worth where guides answer: ``python -m evaluation.guides``

How-to questions of our own over six Python packages, which are fetched from the registry. An answer
is an item, or a passage of a guide that the package carries: its page's path and its text match.
Every second question is held out from the choice of what counts for pages in ``ranking.json``.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docstow.core.settings import load
from docstow.index.search import ItemFilters, search_items
from docstow.languages import PYTHON
from docstow.library.guides import search_own
from docstow.runtime import Runtime
from evaluation.measures import Score, score, table

QUESTIONS = Path(__file__).with_name("guides.jsonl")
PAGE = "page"


def judge(runtime: Runtime, question: Mapping[str, Any]) -> Iterator[tuple[str, Score]]:
    """Yield the worth of one search: of items alone, and of items and pages."""
    found = runtime.installed.find(PYTHON, question["package"], question["version"]).snapshot
    index, query = runtime.library.index(found), str(question["query"])
    answers = [
        {row for path in paths for row in index.find(path)} for paths in question["relevant"]
    ]
    good = {
        each.document.path
        for each in search_own(index, runtime.embedder, query, 10)
        if re.search(question["page"], each.document.path)
        and re.search(question["says"], each.text)
    }

    def name(path: str, kind: str) -> str:
        if kind == PAGE:
            return PAGE if path in good else path
        row = index.row(path, kind)
        return next((str(n) for n, rows in enumerate(answers) if row in rows), path)

    wanted = [[str(n)] for n in range(len(answers))] + [[PAGE]]
    hits = search_items(index, runtime.embedder, query, limit=60, filters=ItemFilters())
    named = [(hit.kind, name(hit.path, hit.kind)) for hit in hits]
    yield "items", score([each for kind, each in named if kind != PAGE], wanted)
    yield "items and guides", score([each for _, each in named], wanted)


def main() -> None:
    """Print what both are worth, held-out questions apart."""
    rows: dict[str, list[Score]] = {}
    with TemporaryDirectory(prefix="docstow-") as folder:
        flags = {"store": f"{folder}/store", "cache": f"{folder}/cache", "wait_s": 600}
        with contextlib.closing(Runtime(load({**flags, "guides": "never"}, {}))) as runtime:
            for line in QUESTIONS.read_text("utf-8").splitlines():
                question = json.loads(line)
                part = "held out" if question["held_out"] else "development"
                for what, worth in judge(runtime, question):
                    rows.setdefault(f"{what}, {part}", []).append(worth)
    print(table(dict(sorted(rows.items()))))


if __name__ == "__main__":
    main()
