"""An embedder that runs a transformer's ONNX model from a folder."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import ConfigurationError
from docstow.embedding.model_folder import TOKENIZER, ModelFolder
from docstow.embedding.static import batches

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Encoding, Tokenizer

#: How many texts are tokenised, and sorted by length, together.
_TEXTS_AT_ONCE = 2048

#: Tokens in one batch, padding included: larger ones leave the processor's cache and are slower.
_TOKENS_AT_ONCE = 4096

#: A search over several crates asks for its query's vector for each of them.
_QUERIES_KEPT = 64


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Tokenizer
    session: InferenceSession
    inputs: frozenset[str]


class TransformerEmbedder:
    """An :class:`docstow.embedding.Embedder` from a transformer's folder.

    The model takes ``input_ids``, ``attention_mask`` and, if it wants them, ``token_type_ids``, and
    gives a vector a token, ``[batch, length, dimensions]``, or a vector a text. Libraries are
    imported, and files read, when the first text is embedded. Instances may be shared between
    threads.

    Args:
        folder: its files.
    """

    fields = False

    def __init__(self, folder: ModelFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self.dimensions = folder.dimensions
        self._cached_query = lru_cache(_QUERIES_KEPT)(self._embed_query)

    @cached_property
    def id(self) -> str:
        """Name, digests of model and tokenizer, and all else that shapes a passage's vector."""
        folder = self._folder
        model, tokenizer = (folder.digest(file)[:12] for file in folder.files)
        settings = f"{folder.pooling}-{folder.max_tokens}"
        if folder.passage_prefix:
            settings += f"-{hashlib.sha256(folder.passage_prefix.encode()).hexdigest()[:8]}"
        return f"{folder.name}/{model}+{tokenizer}/{settings}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see :meth:`docstow.embedding.Embedder.embed`."""
        return self._embed([self._folder.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a query after the model's own prefix for queries."""
        return self._cached_query(text)

    def count(self, text: str) -> int:
        """Count tokens without the model's own marks; see :class:`docstow.embedding.Embedder`."""
        # The batch alone can leave out the offsets, which take their time.
        (encoded,) = self._load().tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return len(encoded.ids) + sum(len(rest.ids) for rest in encoded.overflowing)

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._embed([self._folder.query_prefix + text])[0]
        vector.setflags(write=False)  # it is cached
        return vector

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        loaded = self._load()
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            encoded = loaded.tokenizer.encode_batch(list(texts[first : first + _TEXTS_AT_ONCE]))
            lengths = [len(each.ids) for each in encoded]
            words = [len(each.ids) - sum(each.special_tokens_mask) for each in encoded]
            for rows in batches(lengths, words, _TOKENS_AT_ONCE):
                pooled = self._run(loaded, [encoded[row] for row in rows])
                vectors[first + np.asarray(rows)] = pooled
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors

    def _run(self, loaded: _Loaded, encoded: Sequence[Encoding]) -> NDArray[np.float32]:
        """Run one batch and pool it: shape (batch, dimensions), rows of any length."""
        length = max(len(each.ids) for each in encoded)
        tensors = {
            name: np.zeros((len(encoded), length), dtype=np.int64)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        for row, each in enumerate(encoded):
            end = len(each.ids)
            tensors["input_ids"][row, :end] = each.ids
            tensors["attention_mask"][row, :end] = 1
            tensors["token_type_ids"][row, :end] = each.type_ids
        feed = {name: tensor for name, tensor in tensors.items() if name in loaded.inputs}
        output: NDArray[np.float32] = loaded.session.run(None, feed)[0]
        if output.shape[-1] != self.dimensions:
            raise ConfigurationError(
                f"The model in {self._folder.path} gives {output.shape[-1]} dimensions, its "
                f"config.json says {self.dimensions}; correct hidden_size or choose another model"
            )
        if output.ndim == 2:
            return output
        if self._folder.pooling == "cls":
            first: NDArray[np.float32] = output[:, 0]
            return first
        mask = tensors["attention_mask"].astype(np.float32)
        mean: NDArray[np.float32] = np.einsum("bld,bl->bd", output, mask)
        mean /= mask.sum(axis=1, keepdims=True)
        return mean

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                session = self._session()
                inputs = frozenset(each.name for each in session.get_inputs())
                self._loaded = _Loaded(self._tokenizer(), session, inputs)
            return self._loaded

    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_buffer(self._folder.read(TOKENIZER))
        tokenizer.enable_truncation(self._folder.max_tokens)
        tokenizer.no_padding()
        return tokenizer

    def _session(self) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions
        from onnxruntime.capi.onnxruntime_pybind11_state import (  # type: ignore[import-untyped]
            Fail,
            InvalidGraph,
            InvalidProtobuf,
        )

        options = SessionOptions()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return InferenceSession(
                self._folder.read(self._folder.model),
                sess_options=options,
                providers=["CPUExecutionProvider"],
            )
        except (Fail, InvalidGraph, InvalidProtobuf) as error:
            raise ConfigurationError(
                f"{self._folder.path / self._folder.model} cannot be run as an ONNX model "
                f"({error}); export it as one file, or choose another model"
            ) from error
