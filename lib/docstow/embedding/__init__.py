"""Embedding models: the bundled one, others from the hub, a folder or behind an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from docstow.core.errors import ConfigurationError
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from docstow.embedding.static import StaticEmbedder
    from docstow.embedding.words import WordVectors

PRECISIONS = ("fp32", "int8")
_ENDPOINT = "openai:"
_HUB_ID = lazy_pattern(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_REVISION = lazy_pattern(r"[A-Za-z0-9][\w.-]*")


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


def bundled() -> Embedder:
    """Return the model that docstow carries; one object for the whole process."""
    return _bundled()


def word_vectors() -> WordVectors:
    """Return the words of the model that docstow carries, whichever model embeds passages."""
    return _bundled().words()


@lru_cache(maxsize=1)
def _bundled() -> StaticEmbedder:
    from docstow.embedding.static import StaticEmbedder

    return StaticEmbedder(Path(__file__).parent / "bundled")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that was chosen.

    Attributes:
        kind: ``bundled``, ``hub``, ``folder`` or ``endpoint``.
        name: an id of the hub, a folder, or the endpoint's name for the model.
        revision: branch, tag or commit on the hub; empty: the pinned one, or else ``main``.
        precision: ``fp32`` or ``int8``; empty: either, ``fp32`` first.
    """

    kind: Literal["bundled", "hub", "folder", "endpoint"]
    name: str
    revision: str = ""
    precision: str = ""


def parse_choice(model: str, precision: str = "") -> Choice:
    """Parse ``bundled``, ``openai:MODEL``, ``OWNER/NAME[@REVISION][#int8|#fp32]`` or a folder.

    What begins with ``.``, ``~`` or ``/`` (or a drive) is a folder, and so is every name that
    cannot be one of the hub's.

    Args:
        model: the setting ``model``.
        precision: the setting ``model_precision``, used where ``model`` names none.

    Raises:
        ConfigurationError: it is none of these.
    """
    if precision and precision not in PRECISIONS:
        raise ConfigurationError(f"model_precision: must be fp32 or int8, not {precision!r}")
    if model == "bundled":
        return Choice("bundled", "bundled")
    if model.startswith(_ENDPOINT):
        if not model.removeprefix(_ENDPOINT):
            raise ConfigurationError("model: openai: needs the model's name, as in openai:NAME")
        return Choice("endpoint", model.removeprefix(_ENDPOINT))
    rest, mark, suffix = model.partition("#")
    if mark and suffix not in PRECISIONS:
        raise ConfigurationError(f"model: after # comes fp32 or int8, not {suffix!r}")
    name, mark, revision = rest.partition("@")
    if _HUB_ID.fullmatch(name):
        if mark and not _REVISION.fullmatch(revision):
            raise ConfigurationError(f"model: {revision!r} cannot be a branch, tag or commit")
        return Choice("hub", name, revision, suffix or precision)
    if "/" in rest or Path(rest).anchor or rest.startswith((".", "~")):
        return Choice("folder", str(Path(rest).expanduser()), "", suffix or precision)
    raise ConfigurationError(
        f"model: there is no model {model!r}; use bundled, an id of the hub such as "
        "BAAI/bge-small-en-v1.5, a folder such as ./model, or openai:NAME"
    )
