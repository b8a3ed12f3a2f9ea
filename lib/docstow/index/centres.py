"""Centres: a few directions that stand for the many things that a crate is about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: How many centres of its items' vectors stand for a crate at most.
CENTRES = 8
_ROUNDS = 8
#: The cosine from which on two directions are one.
_SAME = 1 - 1e-6

#: A direction of a packed centre takes half a byte: a whole number of such parts from -8 to 7.
_PARTS = 28.0
_ZERO = 8


def mean_direction(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the direction of the sum of vectors' directions; empty where there is none.

    Args:
        vectors: (n, dimensions), of any lengths.
    """
    total = _unit(vectors).sum(axis=0)
    length = float(np.linalg.norm(total))
    if length < 1e-9:
        return np.zeros(0, np.float32)
    direction: NDArray[np.float32] = (total / length).astype(np.float32)
    return direction


def find_centres(vectors: NDArray[np.float32], count: int = CENTRES) -> NDArray[np.float32]:
    """Return unit vectors that represent many: spherical k-means (Dhillon and Modha 2001).

    It begins with the vector nearest to the mean and then those farthest from all before them
    (Gonzalez 1985), so the same vectors always give the same centres.

    Args:
        vectors: (n, dimensions), of any lengths.
        count: how many centres at most; fewer come back where there are fewer vectors.
    """
    unit = _unit(vectors)
    unit = unit[unit.any(axis=1)]
    if not len(unit):
        return unit
    chosen = [int(np.argmax(unit @ unit.mean(axis=0)))]
    nearest = unit @ unit[chosen[0]]
    while len(chosen) < min(count, len(unit)) and nearest.min() < _SAME:
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, unit @ unit[chosen[-1]])
    found = unit[chosen]
    for _ in range(_ROUNDS):
        members = np.arange(len(found))[:, None] == np.argmax(unit @ found.T, axis=1)
        sums = members.astype(np.float32) @ unit
        # A centre that lost all its vectors stays where it was.
        found = np.where(sums.any(axis=1, keepdims=True), _unit(sums), found)
    return found


def pack(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return vectors of an even number of directions with two of these in a byte."""
    whole = np.clip(np.round(vectors * np.float32(_PARTS)), -_ZERO, _ZERO - 1) + _ZERO
    halves = whole.astype(np.uint8)
    packed: NDArray[np.uint8] = halves[:, ::2] * np.uint8(16) + halves[:, 1::2]
    return packed


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return packed vectors."""
    vectors = np.empty((len(packed), 2 * packed.shape[1]), np.float32)
    vectors[:, ::2] = packed >> 4
    vectors[:, 1::2] = packed & 15
    vectors -= _ZERO
    vectors /= np.float32(_PARTS)
    return vectors


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit
