"""The queue: messages about jobs, what brings them to a worker, and what sends them.

Messages are handled by the pool of this process or by SQS.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import urlsplit

from docstow.core.errors import (
    ConfigurationError,
    DocstowError,
    InvalidParameter,
    JobNotFound,
    StoreError,
    UnreadableInput,
)
from docstow.core.model import Source
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.ingest.jobs import FAILED, INCREMENTAL, QUEUED, STOW, SYNC, Job, Jobs, subject

log = logging.getLogger(__name__)

VERSION = 1

#: Pauses before a local message that was put off is tried again, in seconds: first and longest.
SOON_S, LATE_S = 0.02, 0.5

#: The most that one request to a queue may carry.
BATCH = 10

#: A job that waits for longer, in seconds, is sent once more when it is asked for again: its
#: message may never have been sent. One too many does no harm.
RESEND_S = 600.0

_REGION = lazy_pattern(r"sqs[.-]([a-z]{2}(?:-[a-z]+)+-\d+)\.|^([a-z]{2}(?:-[a-z]+)+-\d+)\.queue\.")


class Busy(Exception):
    """Another worker does this job, or too many are at work; the message has to come again.

    Args:
        what: is held by others.
        pause_s: it comes no sooner, in seconds.
    """

    def __init__(self, what: str = "", *, pause_s: float = 0.0) -> None:
        super().__init__(what)
        self.pause_s = pause_s


class EndOfQueue(Exception):
    """This process ends; the job stays queued in the store, and another one does it."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be done: ``task`` is the kind of the job ``job_id``, which says the rest."""

    task: str
    job_id: str

    def encode(self) -> str:
        """Return its form on a queue."""
        return json.dumps({"v": VERSION, "task": self.task, "job": self.job_id})


def decode(text: str) -> Message:
    """Read a message.

    Raises:
        UnreadableInput: it is none, or one of another version.
    """
    fields = _fields(text)
    if fields.get("v") != VERSION:
        raise UnreadableInput(
            f"The message has the version {fields.get('v')!r:.40}, and {VERSION} is known here; "
            "deploy all functions in the same release."
        )
    task, job_id = fields.get("task"), fields.get("job")
    if not isinstance(task, str) or not isinstance(job_id, str):
        raise UnreadableInput("The message lacks task or job; it was not sent by docstow.")
    return Message(task, job_id)


def job_id_of(text: str) -> str:
    """Return the id of the job that a message names, readable or not; empty if it names none."""
    with contextlib.suppress(UnreadableInput):
        return str(_fields(text).get("job") or "")
    return ""


def _fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput("The message is no JSON; it was not sent by docstow.") from error
    if not isinstance(fields, dict):
        raise UnreadableInput("The message is no JSON object; it was not sent by docstow.")
    return fields


class Queue(Protocol):
    """Where messages are sent.

    Attributes:
        joins: sending a message that is under way joins it, so that it may be sent at any time.
    """

    joins: bool

    def send(self, message: Message) -> Future[None] | None:
        """Send a message; return its end, where that can be waited for in this process."""

    def send_all(self, messages: Sequence[Message]) -> None:
        """Send many messages."""

    def close(self) -> None:
        """Take no more, and wait for what is under way in this process."""


class PassingQueue:
    """Passes messages on to the process that has the workers.

    Args:
        pass_on: sends one to it.
    """

    joins = True

    def __init__(self, pass_on: Callable[[Message], object]) -> None:
        self._pass_on = pass_on

    def send(self, message: Message) -> None:
        """Pass a message on."""
        self._pass_on(message)

    def send_all(self, messages: Sequence[Message]) -> None:
        """Pass many messages on."""
        for message in messages:
            self._pass_on(message)

    def close(self) -> None:
        """Take no more."""


class LocalQueue:
    """Runs messages in this process; two of one job that overlap are one.

    Each task has workers of its own, so that a long sync keeps no crate waiting. A message that
    finds another at its work gives its worker back and comes again: no worker waits for another.

    Args:
        handle: does what a message says; may raise :class:`Busy`.
        workers: how many messages of a task run at the same time.
    """

    joins = True

    def __init__(self, handle: Callable[[Message], object], workers: int) -> None:
        self._handle = handle
        self._workers = workers
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._ends: dict[str, Future[None]] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._closed = False
        self._lock = threading.RLock()

    def send(self, message: Message) -> Future[None]:
        """Run a message, or join the one of the same job that is waiting or running."""
        with self._lock:
            end = self._ends.get(message.job_id)
            if end is None:
                end = self._ends[message.job_id] = Future()
                self._submit(message, end, SOON_S)
            return end

    def send_all(self, messages: Sequence[Message]) -> None:
        """Run many messages."""
        for message in messages:
            self.send(message)

    def close(self) -> None:
        """Drop what has not begun, which stays queued in the store, and wait for what has."""
        with self._lock:
            self._closed = True
            for timer in self._timers.values():
                timer.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for end in self._ends.values():
                end.set_exception(EndOfQueue())
            self._ends.clear()

    def _submit(self, message: Message, end: Future[None], pause_s: float) -> None:
        with self._lock:
            self._timers.pop(message.job_id, None)
            if self._closed:
                self._settle(message, end, EndOfQueue())
                return
            pool = self._pools.get(message.task)
            if pool is None:
                name = f"docstow-{message.task}"
                pool = ThreadPoolExecutor(self._workers, thread_name_prefix=name)
                self._pools[message.task] = pool
            pool.submit(self._run, message, end, pause_s)

    def _run(self, message: Message, end: Future[None], pause_s: float) -> None:
        if self._closed:
            self._settle(message, end, EndOfQueue())
            return
        try:
            self._handle(message)
        except Busy as busy:
            self._put_off(message, end, max(pause_s, busy.pause_s))
        except BaseException as error:  # noqa: BLE001 - whoever waits for the end is told
            log.warning("the job %s: %s", message.job_id, error)
            self._settle(message, end, error)
        else:
            self._settle(message, end, None)

    def _put_off(self, message: Message, end: Future[None], pause_s: float) -> None:
        with self._lock:
            if self._closed:
                self._settle(message, end, EndOfQueue())
                return
            longer = min(pause_s * 1.5, LATE_S)
            timer = threading.Timer(pause_s, self._submit, (message, end, longer))
            timer.daemon = True
            self._timers[message.job_id] = timer
            timer.start()

    def _settle(self, message: Message, end: Future[None], error: BaseException | None) -> None:
        with self._lock:
            if self._ends.pop(message.job_id, None) is None:
                return
        if error is None:
            end.set_result(None)
        else:
            end.set_exception(error)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that failed too often: its text, and the handle to delete it by."""

    text: str
    receipt: str


class SqsQueue:
    """A queue of SQS, or of another server with its protocol at the queue's own address.

    Args:
        url: the queue's address.
        dead_letter_url: of the queue of messages that failed too often; empty where nobody looks.
        region: of the queue, where its address does not say so.
    """

    joins = False

    def __init__(self, url: str, dead_letter_url: str = "", *, region: str = "us-east-1") -> None:
        self._url = url
        self._dead_letter_url = dead_letter_url
        self._region = region
        self._made_client: Any = None
        self._lock = threading.Lock()

    def send(self, message: Message, *, delay_s: int = 0) -> None:
        """Send a message; it comes to a worker after so many seconds.

        Raises:
            StoreError: the queue did not take it.
        """
        with _explained(self._url):
            self._client.send_message(
                QueueUrl=self._url, MessageBody=message.encode(), DelaySeconds=delay_s
            )

    def send_all(self, messages: Sequence[Message]) -> None:
        """Send many, ten at a time.

        Raises:
            StoreError: the queue did not take one of them.
        """
        for begin in range(0, len(messages), BATCH):
            some = messages[begin : begin + BATCH]
            entries = [
                {"Id": str(number), "MessageBody": message.encode()}
                for number, message in enumerate(some)
            ]
            with _explained(self._url):
                answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
            for failed in answer.get("Failed", ()):
                # Alone it is tried as often as the client tries anything, or says why not.
                self.send(some[int(failed["Id"])])

    def postpone(self, receipt: str, seconds: int) -> None:
        """Have a message that was received come again after so many seconds.

        Raises:
            StoreError: the queue refuses; then it comes when its time is up anyway.
        """
        with _explained(self._url):
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )

    def dead_letters(self) -> Iterator[DeadLetter]:
        """Yield the messages that failed too often, each once; they stay until they are deleted.

        Raises:
            StoreError: the queue of dead letters cannot be read.
        """
        seen: set[str] = set()
        while self._dead_letter_url:
            with _explained(self._dead_letter_url):
                answer = self._client.receive_message(
                    QueueUrl=self._dead_letter_url, MaxNumberOfMessages=BATCH, WaitTimeSeconds=1
                )
            fresh = [each for each in answer.get("Messages", ()) if each["MessageId"] not in seen]
            if not fresh:
                return
            for each in fresh:
                seen.add(each["MessageId"])
                yield DeadLetter(each["Body"], each["ReceiptHandle"])

    @property
    def has_dead_letters(self) -> bool:
        """Return whether the queue of dead letters is named."""
        return bool(self._dead_letter_url)

    def forget(self, dead: DeadLetter) -> None:
        """Delete a dead letter.

        Raises:
            StoreError: the queue of dead letters refuses.
        """
        with _explained(self._dead_letter_url):
            self._client.delete_message(QueueUrl=self._dead_letter_url, ReceiptHandle=dead.receipt)

    def close(self) -> None:
        """Nothing of it is under way in this process."""

    @property
    def _client(self) -> Any:
        with self._lock:
            if self._made_client is None:
                self._made_client = _connect(self._url, self._region)
            return self._made_client


def _connect(url: str, region: str) -> Any:
    try:
        import botocore.session  # 0.2 s of imports, which only senders pay
        from botocore.config import Config
    except ImportError as error:
        raise ConfigurationError(
            "queue_url: an SQS queue needs the extra aws: pip install 'docstow[aws]'"
        ) from error

    parts = urlsplit(url)
    region_in_url = _REGION.search(parts.netloc)
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=5, read_timeout=30
    )
    return botocore.session.Session().create_client(
        "sqs",
        region_name=next(filter(None, region_in_url.groups())) if region_in_url else region,
        endpoint_url=f"{parts.scheme}://{parts.netloc}",
        config=config,
    )


@contextlib.contextmanager
def _explained(url: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise StoreError(f"The queue {url} cannot be used: {error}") from error


@dataclass(frozen=True, slots=True)
class Redriven:
    """What came of a dead letter or a failed job: the job that does it anew, or why none does."""

    text: str
    job: Job | None = None
    reason: str = ""


class Enqueuer:
    """Starts jobs and sends their messages.

    Args:
        jobs: where they are written down.
        queue: what brings them to a worker.
        clock: the time, with its zone.
    """

    def __init__(self, jobs: Jobs, queue: Queue, clock: Callable[[], datetime]) -> None:
        self._jobs = jobs
        self._queue = queue
        self._clock = clock

    def start(
        self,
        source_id: str,
        mode: str = INCREMENTAL,
        *,
        kind: str = SYNC,
        source: Source | None = None,
        join_running: bool = True,
        rest_s: float = 0.0,
    ) -> tuple[Job, Future[None] | None]:
        """Start a job, unless one is under way; return it, and its end in this process.

        Args and errors are those of :meth:`Jobs.start`.
        """
        job, new = self._jobs.start(
            source_id,
            mode,
            kind=kind,
            source=source,
            join_running=join_running,
            rest_s=rest_s,
        )
        return job, self._send(job, new=new)

    def repeat(self, job: Job) -> Job:
        """Start another job that does the same as one that has ended; return it."""
        started, new = self._jobs.repeat(job)
        self._send(started, new=new)
        return started

    def crates(
        self, names: Sequence[str], resolve: Callable[[str], tuple[Source, bool]]
    ) -> Iterator[tuple[str, Job | DocstowError | None]]:
        """Start jobs that ingest thousands of crates, as many at a time as the queue takes.

        Args:
            names: of crates, as ``resolve`` takes them.
            resolve: returns the crate that a name means, and whether it is stored already.

        Yields:
            Each name with its job once that is sent; with the error that it met; with None if it
            is stored already.
        """

        def start(name: str) -> tuple[Job, bool] | DocstowError | None:
            try:
                source, stored = resolve(name)
            except DocstowError as error:
                return error
            if stored:
                return None
            return self._jobs.start(subject(STOW, source), kind=STOW, source=source)

        with ThreadPoolExecutor(BATCH) as pool:
            for begin in range(0, len(names), BATCH):
                batch = names[begin : begin + BATCH]
                outcomes = list(pool.map(start, batch))
                started = [each for each in outcomes if isinstance(each, tuple)]
                self._queue.send_all([_message(job) for job, new in started if new])
                for name, outcome in zip(batch, outcomes, strict=True):
                    yield name, outcome[0] if isinstance(outcome, tuple) else outcome

    def requeue(self, older_s: float) -> list[Job]:
        """Send again the jobs that have been queued for so long that their message must be lost.

        Among them are those that :class:`Jobs` has queued again because whoever ran them died.

        Args:
            older_s: in seconds; longer than a message is on its way to a worker, all that wait
                before it included. One too many does no harm.
        """
        then = self._clock() - timedelta(seconds=older_s)
        lost = [j for j in self._jobs.active() if j.state == QUEUED and j.heartbeat <= then]
        for begin in range(0, len(lost), BATCH):
            batch = lost[begin : begin + BATCH]
            for job in batch:
                with contextlib.suppress(JobNotFound):  # later ones have removed it meanwhile
                    self._jobs.change(job)  # its time begins anew: it is not sent every time
            self._queue.send_all([_message(job) for job in batch])
        return lost

    def redrive(self) -> Iterator[Redriven]:
        """Send anew what failed: every dead letter, or every source's last job that failed.

        Raises:
            InvalidParameter: the queue of dead letters is not named.
            StoreError: the queue or the store cannot be used.
        """
        if not isinstance(self._queue, SqsQueue):
            last = {job.source_id: job for job in reversed(self._jobs.all())}
            for job in last.values():
                if job.state == FAILED:
                    yield Redriven(job.id, self.repeat(job))
            return
        if not self._queue.has_dead_letters:
            raise InvalidParameter("dead_letter_url", "name the queue of the messages that failed")
        for dead in self._queue.dead_letters():
            try:
                job = self._jobs.get(decode(dead.text).job_id)
            except JobNotFound as error:
                yield Redriven(dead.text, reason=error.message)  # nothing can come of it any more
            except UnreadableInput as error:
                yield Redriven(dead.text, reason=error.message)
                continue
            else:
                if job.state == FAILED:
                    job = self.repeat(job)
                elif job.active:
                    self._queue.send(_message(job))
                yield Redriven(dead.text, job)
            self._queue.forget(dead)

    def _send(self, job: Job, *, new: bool) -> Future[None] | None:
        waits = self._clock() - job.heartbeat > timedelta(seconds=RESEND_S)
        lost = job.state == QUEUED and waits
        if lost and not new:
            self._jobs.change(job)  # its time begins anew, so that not every question sends it
        if new or lost or (job.active and self._queue.joins):
            return self._queue.send(_message(job))
        return None


def _message(job: Job) -> Message:
    return Message(job.kind, job.id)
