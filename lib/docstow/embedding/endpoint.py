"""An embedder behind an endpoint that speaks OpenAI's embeddings API."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import ConfigurationError, UpstreamError
from docstow.embedding import bundled

if TYPE_CHECKING:
    from docstow.net import Fetcher

_TEXTS_AT_ONCE = 64

#: Longer texts are cut: endpoints refuse what exceeds their model's length, 8192 tokens at most
#: of them, and a token of documentation has a character at least.
_MOST_CHARACTERS = 8000

#: A search over several crates asks for its query's vector for each of them, and again for the
#: next page: one request is enough.
_QUERIES_KEPT = 64

_REFUSED_KEY = (401, 403)


class EndpointEmbedder:
    """An :class:`docstow.embedding.Embedder` behind ``POST {url}/embeddings``.

    The API does not show when a provider changes a model, so the id has no digest: it has the host,
    the model's name and the length of its vectors, which is requested once.

    Args:
        fetcher: makes the client when the first text is embedded.
        url: the API's root, such as ``https://host/v1``.
        model: the endpoint's name for the model.
        key: sent as a bearer token; empty for none. It appears in no id, message or log.

    Raises:
        ConfigurationError: the key cannot be sent; later: it is refused.
        UpstreamError, UpstreamTimeout: while embedding, as the endpoint answers.
    """

    fields = False

    def __init__(self, fetcher: Callable[[], Fetcher], url: str, model: str, key: str) -> None:
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigurationError("embeddings_key: must be printable ASCII without spaces")
        self._fetcher = fetcher
        self._url = url
        self._model = model
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._cached_query = lru_cache(_QUERIES_KEPT)(self._embed_query)

    @cached_property
    def dimensions(self) -> int:
        """Length of every vector, taken from the first answer."""
        return len(self._request(["dimensions"], None)[0])

    @cached_property
    def id(self) -> str:
        """Host and path, the model's name there, and the length of its vectors."""
        parts = urlsplit(self._url)
        place = (f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname) or ""
        if parts.port is not None:
            place += f":{parts.port}"
        return f"openai:{self._model}@{place}{parts.path}/{self.dimensions}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see :meth:`docstow.embedding.Embedder.embed`."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        for first in range(0, len(rows), _TEXTS_AT_ONCE):
            part = rows[first : first + _TEXTS_AT_ONCE]
            vectors[part] = self._request([texts[row] for row in part], self.dimensions)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a query; see :meth:`docstow.embedding.Embedder.embed_query`."""
        return self._cached_query(text)

    def count(self, text: str) -> int:
        """Count the bundled model's tokens, as the API does not give its own."""
        return bundled().count(text)

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        vector.setflags(write=False)  # it is cached
        return vector

    def _request(self, texts: Sequence[str], dimensions: int | None) -> NDArray[np.float32]:
        """Request a vector for each text, of that length if one is given."""
        body = {
            "model": self._model,
            "input": [text[:_MOST_CHARACTERS] for text in texts],
            "encoding_format": "float",
        }
        host = urlsplit(self._url).hostname
        try:
            answer = self._fetcher().post(
                f"{self._url}/embeddings", json.dumps(body).encode(), headers=self._headers
            )
        except UpstreamError as error:
            status = error.details.get("status")
            if status in _REFUSED_KEY:
                raise ConfigurationError(
                    f"{host} answered {status}: it does not accept the key; set "
                    "DOCSTOW_EMBEDDINGS_KEY to one that may use this model"
                ) from error
            if status in (400, 404, 422):
                raise UpstreamError(
                    f"{host} answered {status} for the model {self._model!r}; check "
                    "DOCSTOW_EMBEDDINGS_URL and the model's name.",
                    **error.details,
                ) from error
            raise
        vectors = _parse_vectors(answer.body, len(texts))
        if vectors is None:
            raise UpstreamError(
                f"{host} did not answer with a vector for each text; check that "
                "DOCSTOW_EMBEDDINGS_URL is an OpenAI-compatible API.",
                host=host,
            )
        if dimensions not in (None, vectors.shape[1]):
            raise UpstreamError(
                f"{host} answered with {vectors.shape[1]} dimensions, before with {dimensions}; "
                "the model behind this name has changed. Start docstow again to embed anew.",
                host=host,
            )
        return vectors


def _parse_vectors(body: bytes, count: int) -> NDArray[np.float32] | None:
    """Return the answer's vectors in the order of its ``index``; None if it is malformed."""
    try:
        rows: list[dict[str, Any]] = sorted(json.loads(body)["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        indexes = [row["index"] for row in rows]
    except (ValueError, TypeError, KeyError):
        return None
    whole = indexes == list(range(count)) and vectors.ndim == 2 and vectors.shape[1] > 0
    return vectors if whole and np.isfinite(vectors).all() else None
