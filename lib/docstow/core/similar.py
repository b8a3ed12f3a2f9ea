"""Names that are like another: what an error suggests to somebody who mistyped one."""

from __future__ import annotations

from collections.abc import Iterable

#: Longer names are no names that somebody mistypes; comparing costs the product of both lengths.
_LONGEST = 200


def similar_names(
    wanted: str, names: Iterable[str], *, most: int = 5, least: float = 0.6
) -> list[tuple[str, float]]:
    """Return the names that are most like a text, with how like they are from 0 to 1, best first.

    Args:
        wanted: the text; case makes no difference, and only its first 200 characters count.
        names: those there are; longer ones than 200 characters are passed over.
        most: how many are returned at most.
        least: how like they must be: twice the length of the longest common subsequence, by the
            sum of both lengths.
    """
    from rapidfuzz import fuzz, process

    found = process.extract(
        wanted[:_LONGEST],
        [name for name in dict.fromkeys(names) if len(name) <= _LONGEST],
        scorer=fuzz.ratio,
        processor=str.lower,
        score_cutoff=least * 100,
        limit=most,
    )
    return [(name, round(score / 100, 3)) for name, score, _ in found]
