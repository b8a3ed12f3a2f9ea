"""What a user would take instead: full-text and vector search over the same items, by libraries.

Each keeps the whole page of every item (path, signature, docs) and answers with paths. All have
their best setting that takes no more than thirty lines: FTS5 with Porter's stems and any of the
words, BM25 by ``bm25s`` without stop words, tantivy's own parser, LanceDB with the vectors of
docstow's model. They are in the dependency group ``bench``; who is not installed is left out.
"""

from __future__ import annotations

import importlib
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import ms, table
from docstow.embedding import Embedder
from docstow.index.loaded import Index
from docstow.index.search import search_items
from evaluation.measures import mean, score
from evaluation.questions import Question, load
from paths import SHARED

#: Gives the paths of the ten best items for a question.
Ask = Callable[[str], list[str]]

_MOST = 10


@dataclass(frozen=True, slots=True)
class Pages:
    """The items of a crate as whole pages."""

    paths: list[str]
    texts: list[str]

    @classmethod
    def of(cls, index: Index) -> Pages:
        """Read all items of an index."""
        documents = index.documents()
        texts = [f"{each.path}\n{each.signature}\n{each.text}" for each in documents]
        return cls([each.path for each in documents], texts)


def fts5(pages: Pages, _: Embedder, __: Path) -> Ask:
    """SQLite's full-text search, ranked by its BM25, in memory."""
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table pages using fts5(path, text, tokenize='porter unicode61')")
    base.executemany("insert into pages values (?, ?)", zip(pages.paths, pages.texts, strict=True))
    chosen = "select path from pages where pages match ? order by bm25(pages, 3.0, 1.0) limit ?"

    def ask(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        return [path for (path,) in base.execute(chosen, (words, _MOST))]

    return ask


def bm25s(pages: Pages, _: Embedder, __: Path) -> Ask:
    """BM25 of ``bm25s`` in Lucene's form."""
    library = importlib.import_module("bm25s")
    index = library.BM25()
    index.index(
        library.tokenize(pages.texts, stopwords="en", show_progress=False), show_progress=False
    )

    def ask(question: str) -> list[str]:
        words = library.tokenize(question, stopwords="en", show_progress=False)
        rows, _ = index.retrieve(words, k=_MOST, show_progress=False)
        return [pages.paths[row] for row in rows[0].tolist()]

    return ask


def tantivy(pages: Pages, _: Embedder, __: Path) -> Ask:
    """Tantivy with English stems, in memory."""
    library = importlib.import_module("tantivy")
    builder = library.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="en_stem")
    builder.add_text_field("text", tokenizer_name="en_stem")
    index = library.Index(builder.build())
    writer = index.writer()
    for path, text in zip(pages.paths, pages.texts, strict=True):
        writer.add_document(library.Document(path=path, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(question: str) -> list[str]:
        words = " ".join(re.findall(r"\w+", question))
        query = index.parse_query(words, ["path", "text"])
        hits = searcher.search(query, _MOST).hits
        return [searcher.doc(address)["path"][0] for _, address in hits]

    return ask


def lancedb(pages: Pages, embedder: Embedder, folder: Path) -> Ask:
    """LanceDB with a vector of each whole page, compared with all."""
    library = importlib.import_module("lancedb")
    vectors = embedder.embed(pages.texts)
    rows = [{"path": p, "vector": v} for p, v in zip(pages.paths, vectors, strict=True)]
    table_ = library.connect(folder / "lance").create_table("pages", rows, mode="overwrite")

    def ask(question: str) -> list[str]:
        found = table_.search(embedder.embed_query(question)).limit(_MOST).to_list()
        return [each["path"] for each in found]

    return ask


def bare_vectors(pages: Pages, embedder: Embedder, _: Path) -> Ask:
    """The floor of vectors: one product with a matrix, by numpy."""
    matrix = embedder.embed(pages.texts)

    def ask(question: str) -> list[str]:
        cosine = matrix @ embedder.embed_query(question)
        best = np.argpartition(-cosine, min(_MOST, len(cosine) - 1))[:_MOST]
        return [pages.paths[row] for row in best[np.argsort(-cosine[best])].tolist()]

    return ask


PEERS: Mapping[str, Callable[[Pages, Embedder, Path], Ask]] = {
    "SQLite FTS5": fts5,
    "bm25s": bm25s,
    "tantivy": tantivy,
    "LanceDB, vectors": lancedb,
    "numpy k-NN alone": bare_vectors,
}


def run(
    indexes: Mapping[str, Index], embedder: Embedder, folder: Path, rounds: int
) -> dict[str, tuple[float, float]]:
    """Print CPU and quality of all, asked in turns; medians by name with nDCG."""
    asked = {name: _questions(name) for name in indexes}
    asks: dict[str, dict[str, Ask]] = {"docstow": {}}
    built: dict[str, float] = {"docstow": 0.0}
    for crate, index in indexes.items():
        pages = Pages.of(index)
        asks["docstow"][crate] = _docstow(index, embedder)
        for name, make in PEERS.items():
            begun = time.process_time()
            try:
                asks.setdefault(name, {})[crate] = make(pages, embedder, folder / crate)
            except ImportError as why:
                print(f"\n{name} is left out: {why} (make bench installs it)")
                asks.pop(name, None)
                continue
            built[name] = built.get(name, 0.0) + time.process_time() - begun
    seconds: dict[str, list[float]] = {name: [] for name in asks}
    scores: dict[str, list[Any]] = {name: [] for name in asks}
    for number in range(rounds + 1):
        for crate, questions in asked.items():
            for question in questions:
                for name, by_crate in asks.items():
                    begun = time.process_time()
                    paths = by_crate[crate](question.text)
                    if number:
                        seconds[name].append(time.process_time() - begun)
                    else:
                        scores[name].append(score(paths, question.answers))
    rows = []
    for name, taken in seconds.items():
        worth = mean(scores[name])
        spread = statistics.quantiles(taken, n=20)
        worths = (f"{each:.3f}" for each in (worth.hit, worth.mrr, worth.ndcg))
        median, (low, *_, high) = ms(statistics.median(taken)), map(ms, spread)
        build = ms(built[name]) if built[name] else "see ingest"
        rows.append([name, median, f"{low} to {high}", *worths, build])
    count = sum(map(len, asked.values()))
    heads = ["in process", "CPU", "5 % to 95 %", "hit@5", "MRR", "nDCG", "to build"]
    items = sum(map(len, indexes.values()))
    title = f"What a user would take instead: {count} questions over {items} items"
    table(f"{title} of {', '.join(indexes)}", heads, rows)
    return {name: (statistics.median(seconds[name]), mean(scores[name]).ndcg) for name in seconds}


def _docstow(index: Index, embedder: Embedder) -> Ask:
    return lambda question: [
        hit.path for hit in search_items(index, embedder, question, limit=_MOST)
    ]


def _questions(crate: str) -> Sequence[Question]:
    file = SHARED / "eval" / "dev-queries.jsonl"
    return [each for each in load(file) if each.crate == crate] if file.is_file() else []
