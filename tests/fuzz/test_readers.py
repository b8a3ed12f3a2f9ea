"""Whatever bytes come, a reader reads them or refuses them, at a price that their length allows.

``make test`` tries the same few inputs each time; ``make fuzz`` tries others for longer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, note, settings

from docstow.core.processes import ProcessPool
from fuzz.attempts import attempt, open_pool
from fuzz.mutation import mutated
from fuzz.readers import READERS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    # An input that fails is shown whole, however long it is.
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning"),
]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    """A process that reads one input after the other, and is made anew where one ends it."""
    with contextlib.closing(open_pool()) as opened:
        yield opened


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_are_read_or_refused(pool: ProcessPool, name: str) -> None:
    seeds = list(dict.fromkeys(READERS[name].seeds()))
    assert seeds

    @settings(suppress_health_check=list(HealthCheck))
    @given(mutated(seeds))
    def check(body: bytes) -> None:
        note(f"{len(body)} bytes")
        attempt(pool, name, body)

    check()
