"""What one checkout takes for each stage of its work: a process that another one asks.

``benchmarks.gate`` runs this file with the library of either checkout, and takes turns between the
two. It so uses only what has long been there: settings, the runtime, its toolbox. Lines of JSON
come in and go out: ``["search", 3]`` does the stage's work three times and answers with its CPU
seconds and with how often it asked the store, each time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

QUESTIONS = (
    "run blocking code without stalling",
    "wait for several things at once",
    "limit how many run at the same time",
    "send a value to another part of the program",
    "read a line of text",
    "cancel when the time is up",
    "Mutex::lock",
    "put all pieces into the hold",
    "turn bytes into a string",
    "share state between threads",
)

PAGES = {
    f"page{number}.md": f"# Page {number}\n\n"
    + "\n\n".join(
        f"## Part {part}\n\nHow to {verb} the {noun} of step {number}: first {verb} it, then wait."
        for part, (verb, noun) in enumerate(
            [("open", "hatch"), ("lower", "crane"), ("count", "crates"), ("sign", "list")]
        )
    )
    for number in range(40)
}

#: One request each where the store is a bucket.
_REQUESTS = ("get", "get_changed", "get_range", "create", "swap", "list", "delete")

_COLD = """
import contextlib, sys
from docstow.core.settings import load
from docstow.runtime import Runtime
with contextlib.closing(Runtime(load({settings!r}, {{}}))) as runtime:
    runtime.toolbox.call({tool!r}, {arguments!r}).render()
"""


class Probe:
    """A store in a folder with one crate and forty pages, and the stages of work on it.

    Args:
        folder: where everything is written.
        crate: the crate's rustdoc JSON.
        version: of the crate.
    """

    def __init__(self, folder: Path, crate: Path, version: str) -> None:
        from docstow.core.settings import load
        from docstow.runtime import Runtime

        self._folder = folder
        self._crate = crate
        self._version = version
        self.asked = Counter[str]()
        self._settings = {"store": str(folder / "store"), "cache": str(folder / "cache")}
        self._open: Callable[[Mapping[str, str]], Any] = lambda settings: Runtime(
            load(settings, {})
        )
        self._runtime = self._open(self._settings)
        snapshot = self._runtime.rustdoc_files([crate], version=version).ingest(crate)
        self._name = snapshot.revision.source.name
        for path, text in PAGES.items():
            (folder / "pages").mkdir(exist_ok=True)
            (folder / "pages" / path).write_text(text, "utf-8")
        registration, _ = self._runtime.registry.create("folder", str(folder / "pages"))
        self._runtime.sync.wait(self._runtime.sync.start(registration.id).id, 120)
        self._count_requests()
        of = {"crate": self._name}
        item = {**of, "item_path": self._name}
        asked = [{**of, "query": query} for query in QUESTIONS]
        calls: Mapping[str, Iterable[tuple[str, Mapping[str, Any]]]] = {
            "search": [("search_items", each) for each in asked],
            "examples": [("search_examples", each) for each in asked],
            "item": [("get_item_doc", item)] * 10,
            "pages": [("search_docs", {"query": each}) for each in QUESTIONS],
            "sources": [("list_sources", {})] * 10,
        }
        self.stages: dict[str, Callable[[], float | None]] = {
            name: partial(self._call, several) for name, several in calls.items()
        }
        self.stages["ingest"] = self._ingest
        for name, tool, arguments in (
            ("cold search", "search_items", asked[0]),
            ("cold item", "get_item_doc", item),
            ("cold sources", "list_sources", {}),
        ):
            self.stages[name] = partial(self._cold, tool, arguments)
        self.stages["first search"] = partial(self._first, "search_items", asked[0])
        self.stages["first item"] = partial(self._first, "get_item_doc", item)

    def _count_requests(self) -> None:
        from docstow.store.objects import DirectoryStore

        def counted(name: str) -> Callable[..., Any]:
            method = getattr(DirectoryStore, name)

            def ask(store: Any, *arguments: Any) -> Any:
                self.asked[name] += 1
                return method(store, *arguments)

            return ask

        for name in _REQUESTS:
            if hasattr(DirectoryStore, name):
                setattr(DirectoryStore, name, counted(name))

    def _call(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        for tool, arguments in calls:
            self._runtime.toolbox.call(tool, arguments).render()

    def _ingest(self) -> None:
        with TemporaryDirectory(dir=self._folder) as folder:
            settings = {"store": f"{folder}/store", "cache": f"{folder}/cache"}
            with contextlib.closing(self._open(settings)) as runtime:
                runtime.rustdoc_files([self._crate], version=self._version).ingest(self._crate)

    def _first(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool as a server does that has just begun and has no file in its cache."""
        with TemporaryDirectory(dir=self._folder) as folder:
            settings = {**self._settings, "cache": f"{folder}/cache"}
            with contextlib.closing(self._open(settings)) as runtime:
                runtime.toolbox.call(tool, arguments).render()

    def _cold(self, tool: str, arguments: Mapping[str, Any]) -> float:
        """Call a tool in a process of its own; return what the whole process took."""
        code = _COLD.format(settings=self._settings, tool=tool, arguments=dict(arguments))
        begun = _children_s()
        subprocess.run([sys.executable, "-c", code], check=True)
        return _children_s() - begun

    def run(self, stage: str, times: int) -> tuple[list[float], list[int]]:
        """Do a stage's work; return CPU seconds and requests of each time."""
        seconds, requests = [], []
        for _ in range(times):
            self.asked.clear()
            begun = time.process_time()
            taken = self.stages[stage]()
            seconds.append(time.process_time() - begun if taken is None else taken)
            requests.append(self.asked.total())
        return seconds, requests

    def close(self) -> None:
        """Close the runtime."""
        self._runtime.close()


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """Answer until there are no more lines: ``probe.py CRATE VERSION``."""
    with contextlib.suppress(ImportError, AttributeError):
        from docstow.core import threads

        threads.limit_blas()
    with contextlib.suppress(ImportError):
        from docstow.core.garbage import collect_seldom

        collect_seldom()
    with TemporaryDirectory(prefix="docstow-probe-") as folder:
        probe = Probe(Path(folder), Path(sys.argv[1]), sys.argv[2])
        print(json.dumps(list(probe.stages)), flush=True)
        for line in sys.stdin:
            stage, times = json.loads(line)
            print(json.dumps(probe.run(stage, times)), flush=True)
        probe.close()


if __name__ == "__main__":
    main()
