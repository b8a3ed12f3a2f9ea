"""Embedding models: the bundled one, others from the hub, a folder or behind an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def id(self) -> str:
        """Name of the model and digests of its files; vectors of different ids never mix."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def fields(self) -> bool:
        """Whether a document's fields are embedded one by one, as suits short texts only."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages: shape ``(n, dimensions)``, in the order of the texts.

        Rows have unit length, but for a text in which the model knows no token (an empty one),
        whose row is zero: it is similar to nothing.
        """

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a query: shape ``(dimensions,)``, of unit length or zero as in :meth:`embed`."""

    def count(self, text: str) -> int:
        """Return how many tokens a text has for the model, however long it is.

        A word that the model does not know counts by its length, so that a text's size is bounded
        in any script.
        """


@lru_cache(maxsize=1)
def bundled() -> Embedder:
    """Return the model that docstow carries; one object for the whole process."""
    from docstow.embedding.static import StaticEmbedder

    return StaticEmbedder(Path(__file__).parent / "bundled")
