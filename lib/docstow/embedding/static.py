"""An embedder that looks up a vector for each token: the bundled model.

The model is an ONNX file, a tokenizer and a manifest with their digests. Queries are embedded from
the model's rows as they lie in its file: a search needs no onnxruntime.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import ConfigurationError
from docstow.core.patterns import lazy_pattern
from docstow.core.threads import ONNX_THREADS, lazy
from docstow.embedding.wordpiece import WordPieces
from docstow.embedding.words import WordVectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

MODEL, TOKENIZER, MANIFEST = "model.onnx", "tokenizer.json", "manifest.json"

#: The model's graph without its rows: it says where in the model's file they lie, so that they are
#: mapped into memory and not copied, and all processes of a machine share them.
MAPPED = "mapped.onnx"

FILES = (MODEL, MAPPED, TOKENIZER)

#: The vectors of so many queries are kept: one search embeds its query for items and for examples.
_QUERIES_KEPT = 64

#: Of so many words the tokens are kept, and of words of so many characters: about 16 MB.
_WORDS_KEPT, _LONGEST_KEPT = 65_536, 64

#: How many texts are tokenised, and sorted by length, together.
_TEXTS_AT_ONCE = 2048

#: Tokens in one batch, padding included: with 256 dimensions, 16 MiB of float32.
_TOKENS_AT_ONCE = 16_384

_UNKNOWN = "[UNK]"
#: A character that the model has no token of, with what words end at around it.
_BETWEEN = " \u4e00 "

#: What is between white space and punctuation, over which no token goes.
_WORD = lazy_pattern(r"[^\s!-/:-@\[-`{-~]+")

#: Letters of scripts without spaces, and Korean: of these, most models have one token each.
_DENSE = lazy_pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\uabff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


#: Sums that are shorter are of no token.
_TINY = 1e-12

#: The ids of a word's tokens, and how many a model has that knows all of the word.
_Word: TypeAlias = tuple[list[int], int]


class StaticEmbedder:
    """An :class:`docstow.embedding.Embedder` from a folder of a static model.

    The manifest has ``name``, ``dimensions``, ``max_tokens`` (longer texts are cut there) and, in
    ``sha256``, the digest of every other file; ``tables`` says where the model's rows and their
    scales begin in its file. The model takes ``input_ids`` (int64, ``[batch,
    length]``, padded with 0) and gives unit vectors. Its tokenizer leaves out white space and
    punctuation. Instances may be shared between threads.

    Raises:
        ConfigurationError: the manifest is missing or not one; at the first text: a file is
            missing, or is not the one that the manifest names.
    """

    fields = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, _Word] = {}
        self._cached_query = lru_cache(_QUERIES_KEPT)(self._embed_query)
        try:
            manifest = json.loads((folder / MANIFEST).read_bytes())
            self._digests = {file: str(manifest["sha256"][file]) for file in FILES}
            self._max_tokens = int(manifest["max_tokens"])
            self.dimensions = int(manifest["dimensions"])
            self._tables = {name: int(place) for name, place in manifest.get("tables", {}).items()}
            model, tokenizer = (self._digests[file][:12] for file in (MODEL, TOKENIZER))
            self.id = f"{manifest['name']}/{model}+{tokenizer}"
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{folder / MANIFEST} is not the manifest of a model ({error!r}); "
                "choose another model folder or install docstow again"
            ) from error

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see :meth:`docstow.embedding.Embedder.embed`."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            chunk = list(texts[first : first + _TEXTS_AT_ONCE])
            ids = self._encode(chunk)
            lengths = [len(each) for each in ids]
            for rows in batches(lengths, lengths, _TOKENS_AT_ONCE):
                output = self._session.run(None, {"input_ids": _padded([ids[row] for row in rows])})
                vectors[first + np.asarray(rows)] = output[0]
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a query; see :meth:`docstow.embedding.Embedder.embed_query`."""
        return self._cached_query(text)

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        if self._tables:
            vector = self._words.sum(self._pieces.encode(text))
            vector /= np.maximum(np.linalg.norm(vector), np.float32(_TINY))
        else:
            vector = self.embed([text])[0]
        vector.setflags(write=False)  # it is cached
        return vector

    def count(self, text: str) -> int:
        """Count tokens; see :meth:`docstow.embedding.Embedder.count`."""
        return sum([number for _, number in self._read_words(_WORD.findall(text))])

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of the tokens of each text, cut where the model's longest text ends."""
        split = [_WORD.findall(text) for text in texts]
        words = iter(self._read_words(list(chain.from_iterable(split))))
        encoded = []
        for each in split:
            ids = chain.from_iterable([ids for ids, _ in islice(words, len(each))])
            encoded.append(list(islice(ids, self._max_tokens)))
        return encoded

    def _read_words(self, words: Sequence[str]) -> list[_Word]:
        """Read words, of which any text has few that none before it had: those are kept."""
        known = self._read
        with suppress(KeyError):  # most texts have no new words
            return list(map(known.__getitem__, words))
        new = [word for word in dict.fromkeys(words) if word not in known]
        plain = [word for word in new if word.isascii() and len(word) <= _LONGEST_KEPT]
        made = self._tokenise_together(plain)
        rest = [word for word in new if word not in made]
        made |= zip(rest, self._tokenise(rest), strict=True)
        found = [known[word] if word in known else made[word] for word in words]
        if len(known) + len(made) > _WORDS_KEPT:
            known = self._read = {}
        known |= {word: read for word, read in made.items() if len(word) <= _LONGEST_KEPT}
        return found

    def _tokenise_together(self, words: Sequence[str]) -> dict[str, _Word]:
        """Read words as one text, in a third of the time; nothing where one is not known.

        A word that the model does not know stands between them.
        """
        text = _BETWEEN.join(words)
        (encoded,) = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        ids = list(chain(encoded.ids, *(part.ids for part in encoded.overflowing)))
        unknown = self._tokenizer.token_to_id(_UNKNOWN)
        ends = [place for place, each in enumerate(ids) if each == unknown]
        if len(ends) != len(words) - 1:
            return {}
        found = [ids[end + 1 : after] for end, after in pairwise([-1, *ends, len(ids)])]
        return {word: (read, len(read)) for word, read in zip(words, found, strict=True)}

    def _tokenise(self, words: list[str]) -> Iterator[_Word]:
        tokenizer = self._tokenizer
        unknown = tokenizer.token_to_id(_UNKNOWN)
        # The batch alone can leave out the offsets, which take their time.
        for word, encoded in zip(
            words, tokenizer.encode_batch_fast(words, add_special_tokens=False), strict=True
        ):
            ids = encoded.ids
            number = len(ids)
            if number == self._max_tokens:
                number += sum(len(part.ids) for part in encoded.overflowing)
            if unknown in ids:
                encoded = tokenizer.encode(word, add_special_tokens=False)
                for part in (encoded, *encoded.overflowing):
                    pairs = zip(part.ids, part.offsets, strict=True)
                    number += sum(
                        _estimate_tokens(word[a:b]) - 1 for each, (a, b) in pairs if each == unknown
                    )
            yield ids, number

    def words(self) -> WordVectors:
        """Return the model's vectors of single words.

        Raises:
            ConfigurationError: a file is missing, or is not the one that the manifest names.
        """
        return self._words

    @lazy
    def _words(self) -> WordVectors:
        return WordVectors(self._pieces, self._model, self._tables, self.dimensions)

    @lazy
    def _pieces(self) -> WordPieces:
        return WordPieces(self._verified(TOKENIZER).read_bytes(), self._max_tokens)

    @lazy
    def _model(self) -> Path:
        return self._verified(MODEL)

    @lazy
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._verified(TOKENIZER)))
        tokenizer.enable_truncation(self._max_tokens)
        tokenizer.no_padding()
        return tokenizer

    @lazy
    def _session(self) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = ONNX_THREADS
        options.inter_op_num_threads = 1
        _ = self._model  # which the graph refers to
        graph = str(self._verified(MAPPED))
        return InferenceSession(graph, sess_options=options, providers=["CPUExecutionProvider"])

    def _verified(self, file: str) -> Path:
        """Return the path of a file, which must be the one that the manifest names."""
        path = self._folder / file
        try:
            with path.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            raise ConfigurationError(
                f"{path} of the embedding model cannot be read ({error}); install docstow again"
            ) from error
        if digest != self._digests[file]:
            raise ConfigurationError(
                f"{path} is damaged or of another model: its SHA-256 is {digest}, the manifest "
                f"says {self._digests[file]}; install docstow again"
            )
        return path


def _estimate_tokens(word: str) -> int:
    """Estimate how many tokens a word has for a model that knows it."""
    dense = len(_DENSE.findall(word))
    return max(1, dense + (len(word) - dense + 3) // 4)


def batches(lengths: Sequence[int], words: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield rows in batches of like lengths, shortest first.

    Args:
        lengths: of the rows, in tokens.
        words: how many of these tokens are of the text; rows without any are in no batch.
        most: tokens in one batch, padding included.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > most:
            yield batch
            batch = []
        if words[row]:
            batch.append(row)
    if batch:
        yield batch


def _padded(ids: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return token lists as one matrix, 0 after the end of each."""
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    matrix = np.zeros((len(ids), lengths.max()), dtype=np.int64)
    filled = np.arange(matrix.shape[1]) < lengths[:, None]
    matrix[filled] = np.fromiter(chain.from_iterable(ids), np.int64, lengths.sum())
    return matrix
