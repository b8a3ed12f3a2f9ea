"""Items that the guide passages nearest to a query name.

A guide says in the words of those who ask what an item's own documentation says in its author's.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from docstow.core.patterns import lazy_pattern
from docstow.index.loaded import Index, fold_title

#: So many of the nearest passages are read.
_PASSAGES = 10

#: A name that more items share means none of them.
_MOST_NAMESAKES = 4

#: So many characters of a passage are read.
_LONGEST = 20_000

# Names are taken whole or not at all, so that no text takes long.
_NAME = r"(?<![\w$])[A-Za-z_$][\w$]*+(?:(?:\.|::)[A-Za-z_$][\w$]*+)*+"
_QUOTED = lazy_pattern(rf"`{{1,3}}[.@]?({_NAME})")
_WORD = lazy_pattern(_NAME)
_JOINT = lazy_pattern(r"\.|::")


def find_guide_mentions(index: Index, similarity: NDArray[np.float32]) -> dict[int, float]:
    """Return the items that the nearest passages of guides name, each with how near they are.

    A name in a heading counts fully, as the passage is about it; among the names in prose,
    each counts the less, the more there are.

    Args:
        index: the loaded snapshot.
        similarity: product of every passage's vector with the query's, shape ``(passages,)``.

    Returns:
        Row to the best product, shared out; only what is above 0.
    """
    passages = index.guide_passages
    nearest = passages[(-similarity[passages]).argsort(kind="stable")[:_PASSAGES]]
    mentioned: dict[int, float] = {}
    for passage in nearest.tolist():
        near = float(similarity[passage])
        if near <= 0:
            break
        about, named = _names(index, passage)
        share = near / (1 + math.log(len(about | named) or 1))
        for row in about | named:
            mentioned[row] = max(mentioned.get(row, 0.0), near if row in about else share)
    return mentioned


def _names(index: Index, passage: int) -> tuple[set[int], set[int]]:
    """Return the rows that a passage's heading names, and those that its text does."""
    text = str(index.passages["text"][passage])[:_LONGEST]
    heading = _WORD.findall(str(index.passages["heading_path"][passage]).rpartition(" > ")[2])
    # In a heading of several words, a word is only that.
    titles = [
        name for name in heading if len(heading) == 1 or not (name.isalpha() and name.islower())
    ]
    about = {row for name in titles for row in _rows(index, name)}
    # Links are plain in the text of a passage, and it has no blocks of code.
    return about, {row for name in _QUOTED.findall(text) for row in _rows(index, name)}


def _rows(index: Index, name: str) -> list[int]:
    """Return the items of a name, or of the last part of a dotted one."""
    parts = _JOINT.split(name)
    titles, paths = index.columns["title"], index.columns["path"]
    same = [
        row
        for row in index.rows_by_title.get(fold_title(parts[-1]), ())
        if titles[row] == parts[-1] and index.columns["kind"][row] != "page"
    ]
    joint = index.language.separator
    tail = joint.join(parts)
    exact = [row for row in same if f"{joint}{paths[row]}".endswith(f"{joint}{tail}")]
    if len(parts) > 1 and exact:
        return exact
    return same if len(same) <= _MOST_NAMESAKES else []
