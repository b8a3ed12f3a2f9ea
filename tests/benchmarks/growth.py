"""What grows with the number of sources, ten to thousands: each a collection of three pages."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from benchmarks.measure import mib, ms, quantile, table
from benchmarks.probe import QUESTIONS
from docstow.core.settings import load
from docstow.runtime import Runtime
from prose_store import ProseStore, page

SIZES = (10, 100, 1000, 3000)

_TEXTS = (
    "# {name} manual\n\nHow {name} is moored: {query}, then wait for the tide of {name}.\n",
    "# Loading {name}\n\nThe crane lowers what {name} carries. To {query}, ask the harbour.\n",
    "# Papers of {name}\n\nEvery list is signed twice, and {name} keeps one of the two.\n",
)


def run(folder: Path, most: int) -> None:
    """Print what searches and lists take at each size up to one.

    Args:
        folder: where the store is made.
        most: no more sources than these.
    """
    made = ProseStore(folder)
    settings = load({"store": f"{folder}/store", "cache": f"{folder}/cache"}, {})
    rows, count, one = [], 0, ""
    for size in [each for each in SIZES if each <= most]:
        begun, added = time.process_time(), size - count
        for count in range(count, size):  # noqa: B020 - goes on from the size before
            name, query = f"ship{count}", QUESTIONS[count % len(QUESTIONS)]
            texts = [text.format(name=name, query=query) for text in _TEXTS]
            pages = [page(f"p{number}.md", text) for number, text in enumerate(texts)]
            one = made.stow(name, pages)[0].id
        count = size
        stowed = (time.process_time() - begun) / added
        with contextlib.closing(Runtime(settings)) as runtime:
            cells = [f"{size}", ms(stowed)]
            for tool, arguments in (
                ("list_sources", {}),
                ("search_docs", {"query": QUESTIONS[0]}),
                ("search_docs", {"query": QUESTIONS[0], "source_id": one}),
            ):
                taken = []
                for _ in range(6):
                    begun = time.process_time()
                    runtime.toolbox.call(tool, arguments).render()
                    taken.append(time.process_time() - begun)
                cells += [ms(taken[0]), ms(quantile(taken[1:], 0.5))]
        rows.append([*cells, mib(sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()))])
    heads = ["sources", "to stow one", "list, first", "again", "search all, first", "again"]
    heads += ["search one, first", "again", "stored and cached"]
    table("Growth, CPU in process", heads, rows)
