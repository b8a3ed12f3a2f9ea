"""Pages that come near what a caller wrote, for when there is none of that name.

This room knows the slips people and models make in titles, paths and addresses. It does not know
how pages are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from docstow.index.loaded__page_index import PageIndex

#: Suggestions below this similarity help nobody.
LEAST_SCORE = 0.5
MOST_SUGGESTIONS = 5


def near(indexes: Sequence[PageIndex], ref: str) -> list[dict[str, Any]]:
    """The pages whose title, path or URL is most like what was written, best first."""
    from rapidfuzz import fuzz, process

    scores: dict[tuple[int, int], float] = {}
    for number, index in enumerate(indexes):
        for name in ("title", "path", "url"):
            found = process.extract(
                ref,
                index.columns[name].tolist(),
                scorer=fuzz.ratio,
                processor=str.lower,
                score_cutoff=LEAST_SCORE * 100,
                limit=MOST_SUGGESTIONS,
            )
            for _, score, row in found:
                scores[number, row] = max(score, scores.get((number, row), 0.0))
    best = sorted(scores, key=lambda place: (-scores[place], place))[:MOST_SUGGESTIONS]
    return [suggestion(indexes[number], row, scores[number, row] / 100) for number, row in best]


def suggestion(index: PageIndex, row: int, score: float) -> dict[str, Any]:
    """A page that may be meant."""
    return {
        "document_id": str(index.columns["id"][row]),
        "title": str(index.columns["title"][row]),
        "path": str(index.columns["path"][row]),
        "score": round(score, 3),
    }
