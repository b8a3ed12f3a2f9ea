"""However messages are repeated, reordered and cut off, a job that can be done is done.

The schedules are found by hypothesis: which message comes to whom, who makes the next request,
who is killed, what fails, how much time passes. Time is the store's; nobody waits for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import StoreError, UpstreamError
from docstow.core.model import Source
from docstow.ingest.jobs import STOW, SUCCESS, Job, Jobs, subject
from docstow.ingest.queue import Enqueuer, Message, SqsQueue
from docstow.ingest.worker import FIRST_PAUSE_S, LEAST_S, SqsEvents, Worker
from docstow.ops.upkeep import LOST_S
from docstow.store.leases import SKEW_S, Leases
from docstow.store.objects import AlreadyThere, Entry, ObjectStore, Stored, Unchanged
from schedules import Actor, Memory

SOURCE = Source("crate", "tokio", "1.24.2")
SUBJECT = subject(STOW, SOURCE)
MOST, VISIBILITY_S, LEASE_S, PLENTY_S = 5, 5400, 600.0, 900.0
DONE = "done/tokio"
#: Longer than a lease that nobody renews.
OVERRUN_S = LEASE_S + SKEW_S + 1


@dataclass
class Letter:
    """A message on the queue: when it can be seen, and how often it was received."""

    receipt: str
    body: str
    visible_at: datetime
    received: int = 0


class Post:
    """SQS as it is documented: visibility, counts of receives, dead letters; in the store's time.

    Args:
        trouble: no message waits longer than that explains.
    """

    joins = False

    def __init__(self, store: Memory, trouble: Trouble) -> None:
        self.dead: list[str] = []
        self._store = store
        self._trouble = trouble
        self._letters: dict[str, Letter] = {}
        self._sent = 0

    def send(self, message: Message, *, delay_s: int = 0) -> None:
        self._sent += 1
        seen = self._store.now + timedelta(seconds=delay_s)
        self._letters[str(self._sent)] = Letter(str(self._sent), message.encode(), seen)

    def send_all(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.send(message)

    def postpone(self, receipt: str, seconds: int) -> None:
        letter = self._letters.get(receipt)
        if letter is None:
            raise StoreError("it was deleted")
        tries = max(self._trouble.met, 1)
        assert seconds <= FIRST_PAUSE_S << (tries - 1), "it waits for what was no try"
        letter.visible_at = self._store.now + timedelta(seconds=seconds)

    def receive(self, number: int, *, hidden: bool = False) -> dict[str, Any] | None:
        """A record of an event, if there is one; ``hidden``: of what others have received."""
        for letter in list(self._letters.values()):
            if letter.received >= MOST and letter.visible_at <= self._store.now:
                del self._letters[letter.receipt]
                self.dead.append(letter.body)
        there = [
            letter
            for letter in self._letters.values()
            if (letter.visible_at > self._store.now) == hidden
        ]
        if not there:
            return None
        letter = there[number % len(there)]
        letter.received += 1
        letter.visible_at = self._store.now + timedelta(seconds=VISIBILITY_S)
        return {
            "messageId": letter.receipt,
            "receiptHandle": letter.receipt,
            "body": letter.body,
            "attributes": {"ApproximateReceiveCount": str(letter.received)},
        }

    def delete(self, receipt: str) -> None:
        self._letters.pop(receipt, None)

    @property
    def empty(self) -> bool:
        return not self._letters


@dataclass
class Trouble:
    """What goes wrong: fewer times than would make a message a dead letter.

    Attributes:
        requests: numbers of the workers' requests that fail; carried out all the same, or not at
            all if the number is negative.
        failing: how many times the upstream fails.
        met: how often something has failed, or somebody was killed.
        made: how many requests the workers have made.
    """

    requests: set[int] = field(default_factory=set)
    failing: int = 0
    met: int = 0
    made: int = 0

    def another(self) -> bool:
        """Whether something else may go wrong; it then does."""
        if self.met + 1 >= MOST:
            return False
        self.met += 1
        return True


@dataclass
class Line:
    """The store as a worker reaches it, some of whose requests fail."""

    store: ObjectStore
    trouble: Trouble

    def get(self, key: str) -> Stored | None:
        with self._fails():
            return self.store.get(key)

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        with self._fails():
            return self.store.get_changed(key, etag)

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        with self._fails():
            return self.store.get_range(key, start, size)

    def create(self, key: str, body: bytes) -> str:
        with self._fails():
            return self.store.create(key, body)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        with self._fails():
            return self.store.swap(key, body, etag)

    def list(self, prefix: str) -> Iterator[Entry]:
        with self._fails():
            return self.store.list(prefix)

    def delete(self, key: str) -> None:
        with self._fails():
            self.store.delete(key)

    @contextlib.contextmanager
    def _fails(self) -> Iterator[None]:
        trouble = self.trouble
        trouble.made += 1
        number = trouble.made
        if -number in trouble.requests and trouble.another():
            raise StoreError("it was refused")
        yield
        if number in trouble.requests and trouble.another():
            raise StoreError("its answer was lost")


@dataclass
class Stow:
    """A job that makes one object, and may meet an upstream that fails.

    Attributes:
        knows: whether it can tell that others have done it, as a sync cannot.
        done: the jobs that were begun, by whomever.
    """

    store: ObjectStore
    trouble: Trouble
    knows: bool
    done: list[str]

    def finished(self, job: Job) -> dict[str, Any] | None:
        del job
        there = self.store.get(DONE) is not None
        return {"state": SUCCESS} if there and self.knows else None

    def perform(self, job: Job) -> dict[str, Any]:
        self.done.append(job.id)
        self.store.get("upstream")
        if self.trouble.failing and self.trouble.another():
            self.trouble.failing -= 1
            raise UpstreamError(f"no answer for {job.id}")
        with contextlib.suppress(AlreadyThere):
            self.store.create(DONE, b"done")
        return {"state": SUCCESS}


class World:
    """A store, a queue, and the functions between them."""

    def __init__(self, trouble: Trouble, *, knows: bool) -> None:
        self.store = Memory()
        self.knows = knows
        self.done: list[str] = []
        self.trouble = trouble
        self.post = Post(self.store, trouble)
        self.jobs = self.jobs_on(self.store)
        self.dispatch = Enqueuer(self.jobs, self.post, self._now)  # type: ignore[arg-type]
        self.actors: list[Actor] = []

    def ask(self, *, sends: bool) -> None:
        """Somebody wants it to be stowed, and may be killed before its message is sent."""
        if sends:
            self.dispatch.start(SUBJECT, kind=STOW, source=SOURCE)
        else:
            self.jobs.start(SUBJECT, kind=STOW, source=SOURCE)

    def look(self) -> None:
        """Somebody looks at the last job."""
        self.jobs.latest(SUBJECT)

    def deliver(self, number: int, *, hidden: bool, left_s: float) -> None:
        """A worker gets a message, and has made no request yet."""
        if hidden and not self.trouble.another():
            return
        record = self.post.receive(number, hidden=hidden)
        if record is not None:
            self.actors.append(Actor(self.store, lambda store: self.handle(store, record, left_s)))

    def handle(self, store: ObjectStore, record: dict[str, Any], left_s: float = PLENTY_S) -> None:
        """What a function does for an event, and what the platform does with its answer."""
        line = Line(store, self.trouble)
        jobs = self.jobs_on(line)
        leases = Leases(line, "worker", clock=self._now)
        tasks = {STOW: Stow(line, self.trouble, self.knows, self.done)}
        work = Worker(jobs, leases, tasks, line, lease_s=LEASE_S, clock=self._now)
        answer = SqsEvents(work, cast("SqsQueue", Slot(store, self.post)), MOST).handle(
            {"Records": [record]}, lambda: left_s
        )
        store.get("the platform deletes what is done")
        if not answer["batchItemFailures"]:
            self.post.delete(record["receiptHandle"])

    def step(self, number: int, requests: int) -> None:
        """Some worker makes some requests."""
        if self.actors:
            actor = self.actors[number % len(self.actors)]
            while requests and actor.step():
                requests -= 1

    def kill(self, number: int) -> None:
        """The platform takes a worker away."""
        living = [actor for actor in self.actors if not actor.done]
        if living and self.trouble.another():
            living[number % len(living)].kill()

    def calm_down(self) -> None:
        """Nothing goes wrong any more, and enough time passes for everything."""
        for actor in self.actors:
            while actor.step():
                pass
        assert [actor.failure for actor in self.actors if actor.failure] == []
        for _ in range(3):
            self.store.now += timedelta(seconds=LOST_S)
            self.dispatch.requeue(LOST_S)
            while not self.post.empty:
                self.store.now += timedelta(seconds=VISIBILITY_S)
                if (record := self.post.receive(0)) is not None:
                    self.handle(self.store, record)

    def close(self) -> None:
        for actor in self.actors:
            actor.kill()

    def jobs_on(self, store: ObjectStore) -> Jobs:
        held = Leases(store, "worker", clock=self._now).held
        return Jobs(store, self._now, lease_s=LEASE_S, held=held)

    def _now(self) -> datetime:
        return self.store.now


@dataclass
class Slot:
    """The queue as a worker reaches it, who may be killed before and after each request."""

    store: ObjectStore
    post: Post

    def send(self, message: Message, *, delay_s: int = 0) -> None:
        self.store.get("before it sends")
        self.post.send(message, delay_s=delay_s)
        self.store.get("after it has sent")

    def postpone(self, receipt: str, seconds: int) -> None:
        self.store.get("before it postpones")
        self.post.postpone(receipt, seconds)


numbers = st.integers(0, 3)
events = st.one_of(
    st.tuples(st.just("deliver"), numbers, st.sampled_from([PLENTY_S, PLENTY_S, LEAST_S - 1])),
    st.tuples(st.just("twice"), numbers),
    st.tuples(st.just("step"), numbers, st.integers(1, 20)),
    st.tuples(st.just("kill"), numbers),
    st.tuples(st.just("pass"), st.sampled_from([10, 30, 120, OVERRUN_S, VISIBILITY_S])),
    st.tuples(st.just("ask"), st.booleans()),
    st.tuples(st.just("look")),
)
troubles = st.builds(
    Trouble, requests=st.sets(st.integers(-60, 60), max_size=3), failing=st.integers(0, 2)
)


def play(trouble: Trouble, schedule: Sequence[tuple[Any, ...]], *, knows: bool) -> World:
    world = World(trouble, knows=knows)
    world.ask(sends=True)
    try:
        for event in schedule:
            match event:
                case ("deliver", number, left_s):
                    world.deliver(number, hidden=False, left_s=left_s)
                case ("twice", number):
                    world.deliver(number, hidden=True, left_s=PLENTY_S)
                case ("step", number, requests):
                    world.step(number, requests)
                case ("kill", number):
                    world.kill(number)
                case ("pass", seconds):
                    world.store.now += timedelta(seconds=seconds)
                case ("ask", sends):
                    world.ask(sends=sends)
                case _:
                    world.look()
        world.calm_down()
    finally:
        world.close()
    return world


@settings(max_examples=300, deadline=None)
@given(trouble=troubles, schedule=st.lists(events, max_size=25), knows=st.booleans())
def test_what_can_be_done_is_done_in_every_schedule(
    trouble: Trouble, schedule: list[tuple[Any, ...]], knows: bool
) -> None:
    world = play(trouble, schedule, knows=knows)
    jobs = world.jobs.all()
    assert world.post.dead == []
    assert jobs[0].state == SUCCESS
    assert [job for job in jobs if job.active] == []
    assert [job for job in jobs if job.state != SUCCESS and not job.abandoned] == []
    # Nothing is done for nothing: it was asked for, or cut off, or its worker slept.
    asked = sum(event[0] == "ask" for event in schedule)
    slept = sum(event[0] == "pass" and event[1] >= OVERRUN_S for event in schedule)
    assert len(world.done) <= 1 + world.trouble.met + asked * (not knows) + slept
