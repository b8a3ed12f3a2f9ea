"""The words of real manuals that a sync keeps: ``make fidelity`` prints a table by site.

Each manual is served on loopback, crawled by a server's own sync and read back from its store. The
goal: 98 % of the words of a page that do not repeat are kept on 99 % of the pages, and where a page
keeps less than 90 %, the job says so by its name.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.settings import load
from docstow.core.urls import canonical_url
from docstow.index.loaded import Index
from docstow.ingest.jobs import SUCCESS, Job
from docstow.runtime import Runtime
from fidelity.manuals import MANUALS, Manual, Unavailable
from fidelity.measure import Share, is_page, lost, shares, text_of
from servers.site import Site

#: The goal: so large a share of the words, on so large a share of the pages.
GOAL, PAGES_AT_GOAL = 0.98, 0.99
#: A page that keeps less has to be named by the job.
POOR = 0.90
#: A sync of a manual ends within so many seconds.
LONGEST_S = 3600


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a sync kept of a site.

    Attributes:
        name: of the site.
        shares: of each page that was fetched, by its path on the site.
        strict: the same where only what stands on half of the pages repeats.
        named: the paths of pages that the job names.
        lost: the commonest words that are lost of the poorest pages, by path.
        cpu_s: CPU seconds for each page, from fetch to published snapshot.
        job: the job that synced it.
    """

    name: str
    shares: Mapping[str, Share]
    strict: Mapping[str, Share]
    named: frozenset[str]
    lost: Mapping[str, str]
    cpu_s: float
    job: Job

    @property
    def at_goal(self) -> float:
        """The share of pages that keep 98 % of their words."""
        return _part_at_goal(self.shares)

    @property
    def poor(self) -> list[str]:
        """The pages that keep less than 90 %."""
        return [path for path, each in self.shares.items() if each.part < POOR]

    @property
    def holds(self) -> bool:
        """Whether the goal is reached."""
        return self.at_goal >= PAGES_AT_GOAL and self.named.issuperset(self.poor)

    def row(self) -> str:
        """A line of the table."""
        wanted = sum(each.wanted for each in self.shares.values())
        written = sum(each.written for each in self.shares.values())
        named = len(self.named.intersection(self.poor))
        return (
            f"{self.name:12} {len(self.shares):5}  {self.at_goal:6.1%}"
            f" {_part_at_goal(self.strict):8.1%} {len(self.poor):7} {named:7}"
            f" {written / max(wanted, 1):6.2f} {1000 * self.cpu_s:8.0f}"
            f"  {'' if self.holds else 'below the goal'}"
        )


HEADING = (
    f"{'site':12} {'pages':>5}  {'≥ 98 %':>6} {'(strict)':>8} {'< 90 %':>7} {'named':>7}"
    f" {'out/in':>6} {'CPU ms':>8}"
)


def measure(manual: Manual, place: Path, most: int = 100_000) -> Outcome:
    """Sync a manual into a store of its own and compare its documents with its pages.

    Args:
        manual: what to sync.
        place: an empty folder for the store.
        most: how many pages are synced.

    Raises:
        Unavailable: the manual cannot be had on this machine.
    """
    with Site(manual.pages()) as site:
        began = time.process_time()
        job, documents = _sync(f"{site.url}/{manual.start}", place, most)
        cpu_s = time.process_time() - began
        pages = dict(_fetched(site))
    kept = {path: documents.get(canonical_url(site.url + path), "") for path in pages}
    found = shares(pages, kept)
    poorest = sorted(found, key=lambda path: found[path].part)[:5]
    return Outcome(
        manual.name,
        found,
        shares(pages, kept, repeats=0.5),
        _named(job, site.url),
        {path: _commonest(pages[path], kept[path]) for path in poorest if found[path].part < GOAL},
        cpu_s / max(len(pages), 1),
        job,
    )


def _sync(url: str, place: Path, most: int) -> tuple[Job, Mapping[str, str]]:
    flags = {"store": str(place / "store"), "cache": str(place / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        registration, _ = runtime.registry.create(
            "site",
            url,
            options={"max_pages": most, "max_depth": 100, "delay_s": 0.0, "concurrency": 5},
        )
        job = runtime.sync.wait(runtime.sync.start(registration.id).id, LONGEST_S)
        if job.state != SUCCESS:
            raise AssertionError(f"{url} was not synced: {job.errors or job.state}")
        snapshot = runtime.prose.newest(registration)
        assert snapshot is not None
        index = Index(snapshot, partial(runtime.snapshots.file, snapshot))
        return job, {document.path: document.text for document in index.documents()}


def _fetched(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of each page that the crawl fetched, but of two alike the first."""
    assert site.folder is not None
    seen: set[str] = set()
    for path in dict.fromkeys(urlsplit(visit.path).path for visit in site.visits):
        file = site.folder / unquote(path).lstrip("/")
        if file.suffix != ".html" or not file.is_file():
            continue
        body = file.read_bytes()
        if is_page(body) and (text := text_of(body)) not in seen:
            seen.add(text)
            yield path, body


def _named(job: Job, root: str) -> frozenset[str]:
    """Return the paths of pages whose addresses stand in what callers see of a job."""
    return frozenset(
        urlsplit(word).path
        for text in _texts(job.outward().body())
        for word in text.split()
        if word.startswith(root)
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _commonest(page: bytes, document: str) -> str:
    return " ".join(word for word, _ in lost(page, document).most_common(12))


def _part_at_goal(found: Mapping[str, Share]) -> float:
    return sum(each.part >= GOAL for each in found.values()) / max(len(found), 1)


def main() -> int:
    """Print the table; 1 where a site is below the goal or cannot be had."""
    parser = argparse.ArgumentParser(prog="make fidelity", description=__doc__)
    parser.add_argument("sites", nargs="*", help="names of the table; all by default")
    parser.add_argument("--pages", type=int, default=100_000, help="sync so many of each")
    options = parser.parse_args()
    wanted = [m for m in MANUALS if not options.sites or m.name in options.sites]
    print(HEADING)
    failures = 0 if wanted else 1
    for manual in wanted:
        with tempfile.TemporaryDirectory() as place:
            try:
                outcome = measure(manual, Path(place), options.pages)
            except Unavailable as error:
                print(f"{manual.name:12} not measured: {error}", flush=True)
                failures += 1
                continue
        failures += not outcome.holds
        print(outcome.row(), flush=True)
        for path, words in outcome.lost.items():
            print(f"    {outcome.shares[path].part:6.1%} {path}: {words}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
