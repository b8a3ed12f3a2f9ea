"""Messages, and the queue of this process: joined, put off, never in each other's way."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import UnreadableInput
from docstow.ingest.queue import Busy, EndOfQueue, LocalQueue, Message, decode, job_id_of


@pytest.fixture
def hasty_switches() -> Iterator[None]:
    """Threads take turns so often that each ends in the middle of another's step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@given(st.text(min_size=1), st.text())
def test_what_is_sent_is_read_again(task: str, job_id: str) -> None:
    message = Message(task, job_id)
    assert decode(message.encode()) == message
    assert job_id_of(message.encode()) == job_id


@pytest.mark.parametrize(
    ("text", "said", "job"),
    [
        ("", "no JSON", ""),
        ("[" * 100_000, "no JSON", ""),
        ("[]", "no JSON object", ""),
        ('{"task": "crate", "job": "a"}', "version None", "a"),
        ('{"v": 2, "task": "crate", "job": "a"}', "version 2", "a"),
        ('{"v": 1, "task": "crate"}', "lacks task or job", ""),
        ('{"v": 1, "task": 3, "job": "a"}', "lacks task or job", "a"),
    ],
)
def test_what_is_no_message_is_refused(text: str, said: str, job: str) -> None:
    with pytest.raises(UnreadableInput, match=said):
        decode(text)
    assert job_id_of(text) == job


@given(st.text() | st.recursive(st.none() | st.integers(), st.lists).map(json.dumps))
def test_any_text_is_a_message_or_refused(text: str) -> None:
    with pytest.raises(UnreadableInput):
        decode(text)
    assert job_id_of(text) == ""


def test_overlapping_messages_of_one_job_are_one() -> None:
    go, handled = threading.Event(), list[str]()

    def handle(message: Message) -> None:
        if message.job_id == "a":
            go.wait(30)
        handled.append(message.job_id)

    queue = LocalQueue(handle, 2)
    first, other = queue.send(Message("t", "a")), queue.send(Message("t", "b"))
    assert queue.send(Message("t", "a")) is first
    other.result(30)
    go.set()
    first.result(30)
    queue.close()
    assert handled == ["b", "a"]


def test_ends_at_once_do_not_block_the_sender(hasty_switches: None) -> None:
    queue = LocalQueue(lambda message: None, 2)

    def send() -> None:
        queue.send_all([Message("t", str(number)) for number in range(3000)])

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    sender.join(60)
    assert not sender.is_alive()
    queue.close()


def test_one_who_waits_for_another_keeps_no_worker() -> None:
    """With a single worker, what is put off is done after that which it waits for."""
    done = set[str]()

    def handle(message: Message) -> None:
        if message.job_id == "after" and "before" not in done:
            raise Busy("before")
        done.add(message.job_id)

    queue = LocalQueue(handle, 1)
    after = queue.send(Message("t", "after"))
    before = queue.send(Message("t", "before"))
    before.result(30)
    after.result(30)
    queue.close()
    assert done == {"before", "after"}


def test_a_long_task_keeps_no_other_kind_waiting() -> None:
    go = threading.Event()
    queue = LocalQueue(lambda message: message.task == "sync" and go.wait(30), 1)
    long = queue.send(Message("sync", "a"))
    queue.send(Message("crate", "b")).result(30)
    assert not long.done()
    go.set()
    queue.close()
    assert long.done()


def test_an_error_is_the_end_of_its_message_alone() -> None:
    def handle(message: Message) -> None:
        raise ValueError(message.job_id)

    queue = LocalQueue(handle, 1)
    ends = [queue.send(Message("t", name)) for name in "ab"]
    assert [str(end.exception(30)) for end in ends] == ["a", "b"]
    queue.close()


def test_closing_waits_for_what_runs_and_drops_the_rest() -> None:
    entered, go = threading.Event(), threading.Event()
    handled = list[str]()

    def handle(message: Message) -> None:
        if message.job_id == "busy":
            raise Busy
        entered.set()
        go.wait(30)
        handled.append(message.job_id)

    queue = LocalQueue(handle, 1)
    busy = queue.send(Message("other", "busy"))
    running, waiting = queue.send(Message("t", "a")), queue.send(Message("t", "b"))
    assert entered.wait(30)
    closing = threading.Thread(target=queue.close)
    closing.start()
    while not queue.send(Message("t", "c")).done():
        pass  # until the queue takes no more
    go.set()
    closing.join(30)
    running.result(0)
    assert handled == ["a"]
    for dropped in (waiting, busy, queue.send(Message("t", "d"))):
        assert isinstance(dropped.exception(0), EndOfQueue)
