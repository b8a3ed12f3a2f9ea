"""What a reader of an item may want next: what it links to, and what means nearly the same.

This room knows rows and vectors. It does not know how a page looks.
"""

from __future__ import annotations

import numpy as np

from docstow.index.loaded import Index

#: Neighbours on one page.
MOST = 6

#: So alike in meaning (cosine) must another item be to be worth a line.
LEAST_COSINE = 0.5


def see_also(index: Index, row: int) -> list[int]:
    """Rows of up to :data:`MOST` other items: links first, then the nearest in vector space.

    Of those at hand, items of the same module come before others; the item's own members and
    owner are on its page already and are left out.
    """
    columns = index.columns
    path, parent = str(columns["path"][row]), str(columns["parent"][row])
    linked = [other for link in index.links(path) for other in index.find(link)]
    near = _nearest(index, row)
    module = [other for other in near if columns["parent"][other] == parent]
    found: list[int] = []
    for other in [*linked, *module, *near]:
        name, owner = str(columns["path"][other]), str(columns["parent"][other])
        if other not in found and path not in {name, owner} and name != parent:
            found.append(other)
    return found[:MOST]


def _nearest(index: Index, row: int) -> list[int]:
    """Rows whose best passage is most like the row's first one, best first."""
    begin = int(index.first_passage[row])
    lengths = np.linalg.norm(index.matrix, axis=1)
    own = index.matrix[begin] / (lengths[begin] or 1.0)
    cosine = (index.matrix @ own) / np.where(lengths > 0, lengths, 1.0)
    best = np.maximum.reduceat(cosine, index.first_passage)
    order = np.argsort(-best, kind="stable")[: 4 * MOST]
    return [int(other) for other in order if best[other] >= LEAST_COSINE and other != row]
