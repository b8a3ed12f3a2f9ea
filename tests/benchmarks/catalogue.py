"""The catalogue at any size: ``python -m benchmarks.catalogue [CARDS [FOLDER]]``.

Cards are drawn from those of real crates: each takes its terms from two of them and some that few
others have, its vector from both, and a name of its own. What is printed are requests, rounds of
requests that wait for the ones before, bytes, CPU seconds and memory. ``FOLDER`` keeps the stowed
crates that the cards are drawn from between runs.
"""

from __future__ import annotations

import gc
import multiprocessing
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from benchmarks.measure import mib, ms, quantile, table
from docstow.core.model import CRATE, LOCAL, File, Revision, Source
from docstow.core.settings import load
from docstow.index.cards import Card, term_hash
from docstow.index.catalog import Catalog
from docstow.index.manifest import Manifest
from docstow.index.segments import Segment, join, make_segment, survivors
from docstow.ingest.crates import read_crate
from docstow.runtime import SAMPLE, Runtime
from docstow.sources import kinds
from docstow.sources.crates.origin import read_file
from docstow.store.objects import DirectoryStore, Entry, ObjectStore, Stored, Unchanged
from evaluation.crates import Crates
from paths import CRATES as FIXTURES
from paths import SHARED

#: Larger packed files are left out, so that making the cards takes a minute.
LARGEST = 60_000
#: Kinds of packages and sites, whose cards lie among those of crates.
OTHERS = ("python", "node", "site")
#: So many cards are made into a segment at a time.
STEP = 2048
#: As many rare terms has a card of its own, and so many of these there are.
RARE, VOCABULARY = 15, 2_000_000

QUERIES = [
    "parse command line arguments",
    "read a CSV file row by row",
    "make a random unique identifier",
    "walk all files of a directory",
    "encode bytes as base64",
    "run work in parallel on all cores",
    "match text against a regular expression",
    "wait for a task with a timeout",
    "hash a password",
    "draw a progress bar in the terminal",
]

_T = TypeVar("_T")


class Meter:
    """A store that notes what is asked of it, and in how many rounds.

    Args:
        store: is asked.
        far_s: how long each answer takes at least, so that it shows what waits for what.
    """

    def __init__(self, store: ObjectStore, far_s: float = 0.0) -> None:
        self._store = store
        self._far_s = far_s
        self._guard = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget what was noted."""
        self.asked: list[str] = []
        self.bytes = 0
        self.times: list[tuple[float, float]] = []

    @property
    def rounds(self) -> int:
        """The longest chain of requests each of which began when the one before had ended."""
        count, free = 0, 0.0
        for begun, ended in sorted(self.times, key=lambda pair: pair[1]):
            if begun >= free:
                count, free = count + 1, ended
        return count

    def _note(self, what: str, ask: Callable[[], _T]) -> _T:
        begun = time.perf_counter()
        time.sleep(self._far_s)
        answer = ask()
        with self._guard:
            self.asked.append(what)
            self.times.append((begun, time.perf_counter()))
            body = answer.body if isinstance(answer, Stored) else answer
            self.bytes += len(body) if isinstance(body, bytes) else 0
        return answer

    def get(self, key: str) -> Stored | None:
        return self._note("get", lambda: self._store.get(key))

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        return self._note("get", lambda: self._store.get_changed(key, etag))

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        return self._note("get", lambda: self._store.get_range(key, start, size))

    def create(self, key: str, body: bytes) -> str:
        return self._note("put", lambda: self._store.create(key, body))

    def swap(self, key: str, body: bytes, etag: str) -> str:
        return self._note("put", lambda: self._store.swap(key, body, etag))

    def list(self, prefix: str) -> Iterator[Entry]:
        return self._note("list", lambda: self._store.list(prefix))

    def delete(self, key: str) -> None:
        self._note("delete", lambda: self._store.delete(key))


def cards_of_fixtures(runtime: Runtime) -> list[Card]:
    """The cards of docstow's own small crates."""
    files = [SAMPLE, *sorted(FIXTURES.glob("*/rustdoc.json.zst"))]
    found = []
    for number, path in enumerate(files):
        revision = Revision(Source(CRATE, f"real{number}", "1.0.0"), "1.0.0", origin="fixture")
        body = read_file(path).body
        file = File("rustdoc.json", "https://docs.example", "application/json", body)
        snapshot = runtime.publisher.publish(read_crate(revision, file, {}, lambda *_: None))
        found.append(runtime.catalog.card(snapshot.snapshot))
    return found


def cards_of_corpus(folder: Path) -> list[Card]:
    """The cards of the corpus's smaller crates, which are stowed in a folder first."""
    roots = [SHARED / "corpus", SHARED / "corpus-more"]
    crates = Crates(roots, folder)
    sizes: dict[str, int] = {}
    for file in (file for root in roots for file in root.glob("*/*/rustdoc*.json.zst")):
        name = file.parent.parent.name
        sizes[name] = max(file.stat().st_size, sizes.get(name, 0))
    small = sorted(name for name, size in sizes.items() if size <= LARGEST)
    return [crates.runtime.catalog.card(crates[name].snapshot) for name in small]


def drawn(real: Sequence[Card], count: int, *, seed: int = 7) -> Iterator[Card]:
    """Cards that are like real ones, the same for the same seed; one in eleven is of no crate."""
    choose, draw = random.Random(seed), np.random.default_rng(seed)
    for number in range(count):
        first, second = choose.sample(range(len(real)), 2)
        terms = {t: w for t, w in real[first].terms.items() if choose.random() < 0.7}
        terms |= {t: w for t, w in real[second].terms.items() if choose.random() < 0.3}
        terms[term_hash(f"crate{number}")] = 200
        for _ in range(RARE):
            rare = int(VOCABULARY ** choose.random())
            terms[term_hash(f"rare{rare}")] = choose.randint(20, 120)
        noise = draw.normal(size=len(real[first].vector)) / len(real[first].vector) ** 0.5
        vector = real[first].vector + 0.4 * real[second].vector + 0.6 * noise
        vector /= np.linalg.norm(vector)
        kind = OTHERS[number // 11 % len(OTHERS)] if number % 11 == 0 else CRATE
        source = Source(LOCAL if number % 11 == 1 else kind, f"crate-{number}", "1.0.0")
        entry = replace(real[first].entry, source=source, stamp=choose.getrandbits(64))
        centres = real[first].centres + 0.6 * noise
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        ordered = dict(sorted(terms.items()))
        floats = vector.astype(np.float32), centres.astype(np.float32)
        yield Card(entry, real[first].model, ordered, *floats)


def stored(catalog: Catalog, cards: Iterable[Card]) -> tuple[float, float]:
    """Store cards as upkeep leaves them; CPU seconds of the largest join, and bytes stored."""
    parts, batch = list[Segment](), list[Card]()
    for card in cards:
        batch.append(card)
        if len(batch) == STEP:
            parts.append(make_segment(batch))
            batch = []
    ends = [make_segment(each) for each in (batch[: len(batch) // 2], batch[len(batch) // 2 :])]
    begun = time.process_time()
    whole = join(parts, survivors([each.head for each in parts])) if len(parts) > 1 else None
    taken = time.process_time() - begun
    segments = [*([whole] if whole else parts), *(each for each in ends if len(each.head))]

    def change(manifest: Manifest) -> Manifest:
        made = tuple(catalog.objects.write(each, manifest.epoch) for each in segments)
        return replace(manifest, segments=made, covered=tuple(kinds()))

    catalog.objects.change(change)
    return taken, sum(each.bytes for each in catalog.objects.refresh().segments)


@dataclass(frozen=True, slots=True)
class Search:
    """What the first search of a process asks for, and what later ones take.

    Attributes:
        gets: requests of the first one.
        rounds: how often it waits for an answer before it asks for more.
        bytes: what it fetches.
        later: the most requests of a later one.
        cpu_s: CPU seconds of each later one.
    """

    gets: int
    rounds: int
    bytes: int
    later: int
    cpu_s: list[float]


def searched(store: ObjectStore, runtime: Runtime, far_s: float = 0.0) -> Search:
    """Search as a process does that has just begun."""
    meter = Meter(store, far_s)
    catalog = Catalog(meter, runtime.snapshots)
    embedder = runtime.embedder
    vectors = [embedder.embed_query(query) for query in QUERIES]

    def best(number: int) -> list[str]:
        ranking = catalog.rank(QUERIES[number], embedder.id, vectors[number])
        return [entry.source.name for (entry, _), _ in zip(ranking, range(5), strict=False)]

    best(0)
    assert set(meter.asked) == {"get"}, Counter(meter.asked)
    first = len(meter.asked), meter.rounds, meter.bytes
    later, cpu_s = 0, list[float]()
    for number in [*range(len(QUERIES))] * 2:
        meter.reset()
        begun = time.process_time()
        best(number)
        cpu_s.append(time.process_time() - begun)
        later = max(later, len(meter.asked))
    return Search(*first, later, cpu_s[len(QUERIES) :])


def listed(store: ObjectStore, runtime: Runtime) -> tuple[float, int]:
    """CPU seconds of reading what the cards of packages and sites are of, and how many."""
    cards = Catalog(store, runtime.snapshots).covering(OTHERS)
    assert cards is not None
    begun = time.process_time()
    count = sum(1 for _ in cards.entries(OTHERS))
    return time.process_time() - begun, count


def published(store: ObjectStore, runtime: Runtime, card: Card) -> list[str]:
    """What a publish asks of the catalogue."""
    meter = Meter(store)
    with Catalog(meter, runtime.snapshots).listed(card):
        pass
    return meter.asked


def resident() -> int:
    """Bytes of memory that the process has; 0 where the system does not tell."""
    gc.collect()
    try:
        words = Path("/proc/self/statm").read_text("ascii").split()
    except OSError:
        return 0
    return int(words[1]) * 4096


def measured(folder: Path) -> tuple[Search, int]:
    """Search in a process of its own; with the memory that it takes for it."""
    store = DirectoryStore(folder / "store")
    runtime = Runtime(load({"store": str(folder / "real"), "cache": str(folder / "c")}, {}))
    runtime.embedder.embed_query("warm")
    before = resident()
    found = searched(store, runtime, far_s=0.05)
    grown = resident() - before
    runtime.close()
    return found, grown


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with TemporaryDirectory() as name:
        folder = Path(name)
        runtime = Runtime(load({"store": str(folder / "real"), "cache": str(folder / "c")}, {}))
        kept = Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "corpus"
        there = (SHARED / "corpus").is_dir()
        real = cards_of_corpus(kept) if there else cards_of_fixtures(runtime)
        store = DirectoryStore(folder / "store")
        writer = Catalog(store, runtime.snapshots)
        join_s, size = stored(writer, drawn(real, count))
        publish = published(store, runtime, next(drawn(real, 1, seed=8)))
        listed_s, others = listed(store, runtime)
        runtime.close()
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            found, grown = pool.submit(measured, folder).result()
    rows = [
        ("cards, drawn from", f"{count}, {len(real)}"),
        ("stored", mib(int(size))),
        ("first search: requests", str(found.gets)),
        ("first search: rounds", str(found.rounds)),
        ("first search: fetched", mib(found.bytes)),
        ("a later search: requests at most", str(found.later)),
        ("a later search: CPU, median", ms(quantile(found.cpu_s, 0.5))),
        ("a later search: CPU, worst", ms(max(found.cpu_s))),
        ("memory", mib(grown)),
        (f"telling {others} packages and sites: CPU", ms(listed_s)),
        ("a publish: requests", f"{len(publish)} ({', '.join(publish)})"),
        (f"joining {count // STEP} segments: CPU", ms(join_s)),
    ]
    table("The catalogue", ["what", "taken"], rows)


if __name__ == "__main__":
    main()
