from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from docstow.queue import LocalQueue


@pytest.fixture
def hasty_switches() -> Iterator[None]:
    """Threads take turns so often that each ends in the middle of another's step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_overlapping_jobs_of_one_key_are_one_job() -> None:
    queue = LocalQueue[int](2)
    go = threading.Event()

    def job() -> int:
        go.wait(30)
        return 1

    first, other = queue.send("a", job), queue.send("b", lambda: 2)
    assert queue.send("a", lambda: 3) is first
    assert other.result(30) == 2
    go.set()
    assert first.result(30) == 1
    queue.close()
    assert first.done()


def test_jobs_that_end_at_once_do_not_block_the_sender(hasty_switches: None) -> None:
    queue = LocalQueue[None](2)

    def send() -> None:
        for number in range(3000):
            queue.send(str(number), lambda: None)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    sender.join(60)
    assert not sender.is_alive()
    queue.close()
