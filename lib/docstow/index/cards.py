"""Cards: what a search over everything knows of each stowed crate."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import LOCAL, Snapshot, Source
from docstow.core.versions import choose
from docstow.index.centres import find_centres, mean_direction
from docstow.index.tables import read_table, unpack_vectors
from docstow.text import bm25

#: The keyword fields of a card: BM25F weight, length normalisation b, and the mean number of terms
#: over 255 crates, which stays as it is so that weights of different times can be joined.
FIELDS = {
    "name": (4.0, 0.0, 2.0),
    "about": (3.0, 0.5, 27.0),
    "modules": (2.0, 0.75, 60.0),
    "names": (1.0, 0.75, 280.0),
    "sentences": (1.0, 0.75, 980.0),
}

#: How many items, those first that others mention most, lend their names and sentences.
MOST_ITEMS = 200

#: The longest text that a card says of a crate, in characters.
LONGEST_ABOUT = 200

#: Weights of terms are whole numbers up to this one.
FULL_WEIGHT = 255


@dataclass(frozen=True, slots=True)
class Entry:
    """What is told of a card without its terms and its vector.

    Attributes:
        source: kind, name, version and target.
        stamp: of the snapshot that it was made from, see :func:`stamp_of`.
        kinds: kinds of items that the crate has, sorted.
        about: what the crate says of itself, cut.
    """

    source: Source
    stamp: int
    kinds: tuple[str, ...]
    about: str

    @property
    def key(self) -> str:
        """The key of its name and target, for which there is one card."""
        return card_key(self.source.name, self.source.target)


@dataclass(frozen=True, slots=True)
class Card:
    """The summary of one stowed crate.

    Attributes:
        entry: whose card it is.
        model: the embedding model of the vector; vectors of different models are never compared.
        terms: the hashes of its terms, ascending, each with its weight; see :func:`term_hash`.
        vector: the mean direction of its items, of unit length; empty where it has none.
        centres: directions that its items lie in, of unit length: (at most 8, dimensions).
    """

    entry: Entry
    model: str
    terms: Mapping[int, int]
    vector: NDArray[np.float32]
    centres: NDArray[np.float32]

    @property
    def key(self) -> str:
        """The key of its name and target, for which there is one card."""
        return self.entry.key

    @property
    def source(self) -> Source:
        """Whose card it is."""
        return self.entry.source


def card_key(name: str, target: str = "") -> str:
    """Return the key of a card: the name as Rust spells it, and the target if there is one."""
    plain = name.replace("-", "_")
    return f"{plain}@{target}" if target else plain


def stamp_of(snapshot: str) -> int:
    """Return the first 64 bits of a snapshot's id: enough to see that it is another one."""
    return int(snapshot[:16] or "0", 16)


def term_hash(term: str) -> int:
    """Return the 32 bits by which a term is found; two terms in four thousand million share one."""
    return zlib.crc32(term.encode())


def outranks(source: Source, other: Source | None = None) -> bool:
    """Return whether a source represents its name instead of the one that did before.

    One that came from a file does, then the version that answers a request for the latest, as in
    :func:`docstow.core.versions.choose`; of equals the later one.
    """
    if other is not None and source.kind != other.kind:
        return source.kind == LOCAL
    versions = [source.version, *([other.version] if other is not None else [])]
    return choose("", versions) == source.version


def make_card(
    source: Source,
    snapshot: str,
    model: str,
    facts: Mapping[str, Any],
    documents: Mapping[str, Sequence[Any] | NDArray[Any]],
    vectors: NDArray[np.float32],
) -> Card:
    """Make the card of a crate.

    Args:
        source: what was stowed.
        snapshot: its id.
        model: id of the embedding model.
        facts: what the snapshot says of the crate.
        documents: the columns kind, title, summary and attributes of its documents.
        vectors: one vector a document: (documents, dimensions).
    """
    kinds = [str(kind) for kind in documents["kind"]]
    mentions = [json.loads(each).get("in_degree", 0) for each in documents["attributes"]]
    by_mentions = sorted(range(len(kinds)), key=lambda row: -mentions[row])
    modules = [row for row, kind in enumerate(kinds) if kind == "module"]
    items = [row for row in by_mentions if kinds[row] != "module"][:MOST_ITEMS]

    def joined(column: str, rows: Sequence[int]) -> str:
        return "\n".join(str(documents[column][row]) for row in rows)

    about = f"{facts.get('description') or ''}\n{facts.get('summary') or ''}".strip()
    texts = (
        source.name,
        about,
        f"{joined('title', modules)}\n{joined('summary', modules)}",
        joined("title", items),
        joined("summary", items),
    )
    entry = Entry(source, stamp_of(snapshot), tuple(sorted(set(kinds))), _cut(about))
    return Card(entry, model, weigh(texts), mean_direction(vectors), find_centres(vectors))


def card_of(snapshot: Snapshot, files: Mapping[str, Path]) -> Card:
    """Make the card of a snapshot from the files of its tables ``documents`` and ``passages``."""
    documents = read_table(files["documents"], ("kind", "title", "summary", "attributes"))
    blobs = read_table(files["passages"], ("embedding",), where="ordinal = 0")["embedding"]
    return make_card(
        snapshot.revision.source,
        snapshot.id,
        snapshot.recipe.model,
        snapshot.facts,
        documents,
        unpack_vectors(blobs),
    )


def weigh(texts: Sequence[str]) -> dict[int, int]:
    """Return the weight of each term of a card's texts by the term's hash, ascending."""
    weights, lengths, means = zip(*FIELDS.values(), strict=True)
    found: dict[int, int] = {}
    for term, weight in bm25.weigh(texts, weights, lengths, means).items():
        number = term_hash(term)
        found[number] = max(found.get(number, 0), round(weight * FULL_WEIGHT), 1)
    return dict(sorted(found.items()))


def read_old_card(fields: Mapping[str, Any]) -> Card:
    """Read a card as releases wrote it that kept the catalogue in sixteen objects of JSON.

    Raises:
        KeyError, TypeError, ValueError: it is not one.
    """
    packed = np.frombuffer(base64.b64decode(fields["centres"], validate=True), "<f2")
    centres = packed.reshape(-1, max(1, fields["dimensions"])).astype(np.float32)
    texts = tuple(str(fields["texts"][name]) for name in FIELDS)
    kinds, stamp = tuple(map(str, fields["kinds"])), stamp_of(fields["snapshot"])
    entry = Entry(Source(**fields["source"]), stamp, kinds, _cut(texts[1]))
    means = mean_direction(centres), find_centres(centres)
    return Card(entry, str(fields["model"]), weigh(texts), *means)


def _cut(about: str) -> str:
    return " ".join(about.split())[:LONGEST_ABOUT]
