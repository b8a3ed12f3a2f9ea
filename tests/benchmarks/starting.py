"""Cold starts of every function: a fresh process under the real runtime client, to its answer.

The package is what ``infra/pack.py`` made, where ``make infra`` left one for this Python, else the
checkout's own code with the libraries that are installed. Its bytecode is there, the store is a
bucket, the cache of its tables is empty. Each start is measured with the package's files in the
page cache and again with them evicted, as on a machine that has never seen them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Taken, compiled, fresh, mib, ms, table
from docstow.core.settings import load
from docstow.runtime import Runtime
from paths import REPOSITORY as ROOT
from servers.docs_rs import DocsRs
from servers.gateway import event
from servers.lambda_runtime import LambdaRuntime
from servers.s3 import Bucket, bucket

PACKED = ROOT / "build" / "image"

BUNDLED = "from docstow.embedding import bundled; bundled().embed_query('spawn a task')"

_BARE = "def handler(event, context):\n    return {}\n"


@dataclass(frozen=True, slots=True)
class Start:
    """A function, the event that it is started for, and the settings that it needs."""

    name: str
    handler: str
    event: Mapping[str, Any]
    settings: Mapping[str, str]


def transformer(folder: Path, precision: str) -> str:
    """A program that loads a model folder and embeds one question."""
    return (
        "from pathlib import Path; from docstow.embedding.model_folder import open_folder; "
        "from docstow.embedding.transformer import TransformerEmbedder; "
        f"made = TransformerEmbedder(open_folder(Path({str(folder)!r}), {precision!r})); "
        "made.embed_query('spawn a task')"
    )


def models(programs: Mapping[str, str], folder: Path) -> None:
    """Print what a question costs a fresh process, by model."""
    environment = _environment(folder) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    base = fresh("import fastapi", environment)
    rows = [_told("import fastapi", base, base)]
    for name, program in programs.items():
        rows.append(_told(f"a question by {name} alone", fresh(program, environment), base))
    heads = ["fresh process", "wall", "CPU", "CPU ratio", "peak memory"]
    table("A question in a fresh process (baseline: import fastapi)", heads, rows)


def _told(name: str, taken: Taken, base: Taken) -> list[str]:
    peak = mib(taken.peak_bytes) if taken.peak_bytes else ""
    ratio = f"{taken.cpu_s / base.cpu_s:.2f}"
    return [name, ms(taken.wall_s), ms(taken.cpu_s), ratio, peak]


def functions(folder: Path, crate: str, file: Path, version: str, pages: Path) -> None:
    """Print the cold start of every function, with a warm and with an evicted page cache.

    Args:
        folder: where everything is written.
        crate: a crate to stow and to ask for.
        file: its rustdoc JSON.
        version: its version.
        pages: a folder of pages to stow and to search.
    """
    heads = ["to the first answer", "wall", "CPU", "CPU ratio", "wall, evicted", "to warm"]
    title = "Cold start of the functions (baseline: the bare runtime client)"
    # Or each request to the server of S3 is a line of its own.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with bucket() as there:
        store = {"store": there.at(), "s3_endpoint": there.endpoint}
        settings = load({**store, "cache": f"{folder}/stowing"}, {})
        with contextlib.closing(Runtime(settings)) as runtime:
            runtime.rustdoc_files([file], version=version).ingest(file)
            registration, _ = runtime.registry.create("folder", str(pages))
            runtime.sync.wait(runtime.sync.start(registration.id).id, 600)
        table(title, heads, _functions(folder, there, crate, version))


def _functions(folder: Path, there: Bucket, crate: str, version: str) -> Iterator[list[str]]:
    package, crates = _package(folder), folder / "crates"
    (crates / crate / version).mkdir(parents=True)
    base = Taken(1.0, 1.0)
    with DocsRs(crates) as upstream:
        environment = {
            **_environment(folder),
            "DOCSTOW_STORE": there.at(),
            "DOCSTOW_S3_ENDPOINT": there.endpoint,
            "DOCSTOW_CRATES_INDEX_URL": upstream.index_url,
        }
        for start in starts(crate, version):
            warm = _started(start, package, environment, evict=False)
            cold = _started(start, package, environment, evict=True, repeat=1)
            base = warm if start.name == "the bare client" else base
            cells = [ms(warm.wall_s), ms(warm.cpu_s), f"{warm.cpu_s / base.cpu_s:.2f}"]
            yield [start.name, *cells, ms(cold.wall_s), f"{cold.wall_s / warm.wall_s:.1f}"]


def starts(crate: str, version: str) -> Iterator[Start]:
    """Everything that is started, the baseline first."""
    yield Start("the bare client", "bare.handler", {}, {})
    of = {"crate": crate, "version": version}
    calls: Sequence[tuple[str, Mapping[str, Any]]] = [
        ("list_sources", {}),
        ("list_versions", {"crate": crate}),
        ("get_item_doc", {**of, "item_path": crate}),
        ("search_items", {**of, "query": "wait for several things at once"}),
        ("search_docs", {"query": "wait for several things at once"}),
    ]
    for tool, arguments in calls:
        asked = event("POST", f"/mcp/tools/{tool}", arguments)
        yield Start(f"mcp: {tool}", "functions/mcp/handler.handler", asked, {})
    queue = {"queue_url": "http://127.0.0.1:9/0/jobs"}
    yield Start("ingest: no message", "functions/ingest/handler.handler", {"Records": []}, queue)
    yield Start("upkeep: one round", "functions/upkeep/handler.handler", {}, {})


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "DOCSTOW_STORE": str(folder / "store"),
        "DOCSTOW_CACHE": str(folder / "cache"),
        "DOCSTOW_AUTH": "open",
        "DOCSTOW_LOG_LEVEL": "error",
    }


def _package(folder: Path) -> list[Path]:
    """The folders that modules are found in, the first of which is the function's own."""
    own = folder / "package"
    own.mkdir()
    (own / "bare.py").write_text(_BARE, "utf-8")
    packed = PACKED / "numpy" / "_core"
    version = f"cpython-{sys.version_info.major}{sys.version_info.minor}-"
    if any(version in file.name for file in packed.glob("_multiarray_umath*.so")):
        places = [PACKED]
    else:
        places = [Path(path) for path in sys.path if path.endswith("site-packages")]
    shutil.copytree(ROOT / "lib" / "docstow", own / "docstow")
    shutil.copytree(ROOT / "functions", own / "functions")
    return [own, *places]


def _started(
    start: Start,
    package: Sequence[Path],
    environment: Mapping[str, str],
    *,
    evict: bool,
    repeat: int = 5,
) -> Taken:
    """The median of several starts, each from the process's first moment to its end.

    One before them makes the bytecode.
    """
    runs = []
    more = {f"DOCSTOW_{name.upper()}": value for name, value in start.settings.items()}
    path = os.pathsep.join(map(str, package))
    bytecode = compiled(package[0].parent)
    environment = {**environment, **more, **bytecode, "PYTHONPATH": path}
    for _ in range(repeat + 1):
        shutil.rmtree(environment["DOCSTOW_CACHE"], ignore_errors=True)
        if evict:
            for place in (*package, Path(bytecode["PYTHONPYCACHEPREFIX"])):
                _forget(place)
        begun, cpu = time.perf_counter(), _cpu_s()
        with LambdaRuntime(start.handler, package[0], environment) as function:
            answer = function.invoke(start.event)
            wall = time.perf_counter() - begun
        assert answer.get("statusCode", 200) == 200, json.dumps(answer)
        runs.append(Taken(wall, _cpu_s() - cpu))
    del runs[0]
    return Taken(
        statistics.median(run.wall_s for run in runs), statistics.median(run.cpu_s for run in runs)
    )


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _forget(folder: Path) -> None:
    """Have the page cache drop all files below a folder that no process has mapped."""
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                opened = os.open(Path(place, name), os.O_RDONLY)
            except OSError:
                continue
            os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(opened)
