"""Cards: a summary of each stowed crate, package and site, by which a search over all chooses."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import CRATE, LOCAL, Snapshot, Source
from docstow.core.records import dataclass
from docstow.core.versions import choose
from docstow.index.centres import find_centres, mean_direction
from docstow.index.profiles import ITEMS, profile_of
from docstow.index.tables import read_table, unpack_vectors
from docstow.text import bm25
from docstow.text.chunking import first_sentence

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

#: The kinds of crates. One card stands for all versions of a crate, as they share their terms; of
#: all other sources each version has one, since only its language can say which is the newest.
CRATES = frozenset({CRATE, LOCAL})

#: Weights of terms are whole numbers up to this one.
FULL_WEIGHT = 255


@dataclass(frozen=True, slots=True)
class Entry:
    """What is told of a card without its terms and its vector.

    Attributes:
        source: kind, name, version and target.
        stamp: of the snapshot that it was made from, see :func:`stamp_of`.
        kinds: kinds of items that it has, sorted.
        about: what it says of itself, cut.
        keywords: its own, with blanks between; of packages. Of pages the address of their source.
        imports: what is imported of it; of packages.
    """

    source: Source
    stamp: int
    kinds: tuple[str, ...]
    about: str
    keywords: str = ""
    imports: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key for which there is one card, see :func:`key_of`."""
        return key_of(self.source)


@dataclass(frozen=True, slots=True)
class Card:
    """The summary of what is stowed of one source.

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
        """The key for which there is one card, see :func:`key_of`."""
        return self.entry.key

    @property
    def source(self) -> Source:
        """Whose card it is."""
        return self.entry.source


def card_key(name: str, target: str = "") -> str:
    """Return the key of a crate's card: the name as Rust spells it, and the target if any."""
    plain = name.replace("-", "_")
    return f"{plain}@{target}" if target else plain


def key_of(source: Source) -> str:
    """Return the key of a source's card: that of a crate, else its own, which begins by its kind.

    No crate has a slash in its name, so that the two never meet.
    """
    return card_key(source.name, source.target) if source.kind in CRATES else source.key


def stamp_of(snapshot: str) -> int:
    """Return the first 64 bits of a snapshot's id: enough to see that it is another one."""
    return int(snapshot[:16] or "0", 16)


def term_hash(term: str) -> int:
    """Return the 32 bits by which a term is found; two terms in four thousand million share one."""
    return zlib.crc32(term.encode())


def outranks(source: Source, other: Source | None = None) -> bool:
    """Return whether a source represents its key instead of the one that did before.

    Of crates one that came from a file does, then the version that answers a request for the
    latest, as in :func:`docstow.core.versions.choose`; of equals, and of all else, the later one.
    """
    if source.kind not in CRATES:
        return True
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
    url: str = "",
) -> Card:
    """Make the card of what was stowed of a source.

    Args:
        source: what was stowed.
        snapshot: its id.
        model: id of the embedding model.
        facts: what the snapshot says of the source.
        documents: the columns of its documents that :func:`columns_of` names; the summaries of
            pages are made where they are not among them, and ``in_degree`` counts if it is.
        vectors: one vector a document: (documents, dimensions).
        url: the address of a source of pages.
    """
    if "kind" not in documents:
        documents = _pages_as_items(documents)
    kinds = [str(kind) for kind in documents["kind"]]
    mentions = _mentions(documents)
    by_mentions = sorted(range(len(kinds)), key=lambda row: -mentions[row])
    modules = [row for row, kind in enumerate(kinds) if kind == "module"]
    items = [row for row in by_mentions if kinds[row] != "module"][:MOST_ITEMS]

    def joined(column: str, rows: Sequence[int]) -> str:
        return "\n".join(str(documents[column][row]) for row in rows)

    about = _about(facts)
    texts = (
        source.name,
        about,
        f"{joined('title', modules)}\n{joined('summary', modules)}",
        joined("title", items),
        joined("summary", items),
    )
    entry = make_entry(source, snapshot, facts, tuple(sorted(set(kinds))), url)
    return Card(entry, model, weigh(texts), mean_direction(vectors), find_centres(vectors))


def make_entry(
    source: Source,
    snapshot: str,
    facts: Mapping[str, Any],
    kinds: tuple[str, ...] = (),
    url: str = "",
) -> Entry:
    """Return what is told of a snapshot's card, by the facts that it says of its source."""
    if source.kind in CRATES:
        return Entry(source, stamp_of(snapshot), kinds, _cut(_about(facts)))
    about = _cut(str(facts.get("description") or facts.get("summary") or ""))
    pages = profile_of(source.kind) is not ITEMS
    keywords = url if pages else " ".join(map(str, facts.get("keywords") or ()))
    imports = tuple(map(str, facts.get("import_names") or ()))
    return Entry(source, stamp_of(snapshot), kinds, about, keywords, imports)


def tables_of(kind: str) -> tuple[str, str]:
    """Return the tables that a card is made from: of the documents, and of their passages."""
    return "documents", profile_of(kind).passages.name


def columns_of(kind: str) -> tuple[str, ...]:
    """Return the columns of the documents that a card is made from."""
    items = profile_of(kind) is ITEMS
    return ("kind", "title", "summary", "attributes") if items else ("title", "text")


def _pages_as_items(documents: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, list[str]]:
    """Return the columns that items have of pages; only the first ones lend their sentences."""
    titles = [str(each) for each in documents["title"]]
    known = documents.get("summary")
    first = [
        str(known[row]) if known is not None else first_sentence(str(documents["text"][row]))
        for row in range(min(len(titles), MOST_ITEMS))
    ]
    nothing = [""] * (len(titles) - len(first))
    return {
        "kind": ["page"] * len(titles),
        "title": titles,
        "summary": first + nothing,
        "attributes": ["{}"] * len(titles),
    }


def card_of(snapshot: Snapshot, files: Mapping[str, Path]) -> Card:
    """Make the card of a snapshot from the files of its tables, see :func:`tables_of`."""
    kind = snapshot.revision.source.kind
    texts, passages = tables_of(kind)
    documents = read_table(files[texts], columns_of(kind))
    blobs = read_table(files[passages], ("embedding",), where="ordinal = 0")["embedding"]
    return make_card(
        snapshot.revision.source,
        snapshot.id,
        snapshot.recipe.model,
        snapshot.facts,
        documents,
        unpack_vectors(blobs),
        snapshot.revision.url,
    )


def _mentions(documents: Mapping[str, Sequence[Any] | NDArray[Any]]) -> list[int]:
    """Return how many others mention each document; of attributes where no column says it."""
    if "in_degree" in documents:
        return list(map(int, documents["in_degree"]))
    return [json.loads(each).get("in_degree", 0) for each in documents["attributes"]]


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


def _about(facts: Mapping[str, Any]) -> str:
    return f"{facts.get('description') or ''}\n{facts.get('summary') or ''}".strip()


def _cut(about: str) -> str:
    return " ".join(about.split())[:LONGEST_ABOUT]
