"""Crawls of all processes: so many at once, and one of a host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from docstow.core.model import Registration
from docstow.ingest.crawls import PAUSE_S, Crawls
from docstow.ingest.queue import Busy
from docstow.sources.registry import Registry
from docstow.store.leases import Leases
from docstow.store.objects import DirectoryStore


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Crawls]:
    """Returns the crawls of a further process."""

    def make(most: int = 2) -> Crawls:
        return Crawls(Leases(DirectoryStore(tmp_path), "a process"), most, 15.0)

    return make


@pytest.fixture
def add(tmp_path: Path) -> Callable[[str, str], Registration]:
    return lambda kind, uri: Registry(DirectoryStore(tmp_path)).create(kind, uri)[0]


def test_one_host_is_crawled_by_one_process(
    process: Callable[..., Crawls], add: Callable[[str, str], Registration]
) -> None:
    one, same, other = (
        add("site", uri)
        for uri in ("https://docs.example/a/", "https://docs.example/b/", "https://other.example/")
    )
    with process(0).turn(one):
        with pytest.raises(Busy) as busy, process(0).turn(same):
            pass
        assert busy.value.pause_s == PAUSE_S
        with process(0).turn(other):
            pass
    with process(0).turn(same):
        pass


def test_repositories_of_one_forge_take_turns(
    process: Callable[..., Crawls], add: Callable[[str, str], Registration]
) -> None:
    one, same = add("github", "acme/garden"), add("github", "acme/harbour")
    elsewhere = add("github", "https://git.example/acme/garden")
    with process(0).turn(one):
        with pytest.raises(Busy), process(0).turn(same):
            pass
        with process(0).turn(elsewhere):
            pass


def test_so_many_crawls_run_at_once(
    process: Callable[..., Crawls], add: Callable[[str, str], Registration], tmp_path: Path
) -> None:
    sites = [add("site", f"https://docs{number}.example/") for number in range(2)]
    repository, pushed = add("github", "acme/garden"), add("collection", "notes")
    folder = add("folder", str(tmp_path))
    with process().turn(sites[0]), process().turn(sites[1]):
        with pytest.raises(Busy), process().turn(repository):
            pass
        # These ask no upstream.
        with process().turn(pushed), process().turn(folder):
            pass
    # Whoever found no place has left nothing held.
    with process().turn(repository), process().turn(sites[0]):
        pass
