"""SQS: the queue that messages are sent to, and the events by which they come to a function."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docstow.core.errors import ConfigurationError, DocstowError, StoreError, UnreadableInput
from docstow.ingest.jobs.queue import BATCH, Busy, Message, decode, find_job_id

if TYPE_CHECKING:
    from docstow.ingest.jobs.worker import Worker

log = logging.getLogger(__name__)

#: Pauses before the second try and before any, in seconds; each is twice the one before.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30, 900
#: Pause of a message whose job another worker does, in seconds.
BUSY_PAUSE_S = 10
#: No message is begun with less time left than this, in seconds; and so long before the end what
#: is under way is written down as cut off.
LEAST_S, RESERVE_S = 15.0, 5.0
_REGION = re.compile(r"sqs[.-]([a-z]{2}(?:-[a-z]+)+-\d+)\.|^([a-z]{2}(?:-[a-z]+)+-\d+)\.queue\.")


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


class SqsEvents:
    """Handles the events by which SQS delivers messages to a function.

    Args:
        worker: does what a message says.
        queue: where they come from.
        most: how often a message comes before it goes to the dead letters.
        reserve_s: so long before the platform's limit a job counts as cut off.
    """

    def __init__(
        self, worker: Worker, queue: SqsQueue, most: int, *, reserve_s: float = RESERVE_S
    ) -> None:
        self._worker = worker
        self._queue = queue
        self._most = most
        self._reserve_s = reserve_s

    def handle(
        self, event: Mapping[str, Any], left_s: Callable[[], float]
    ) -> dict[str, list[dict[str, str]]]:
        """Handle the records of an event; return which of them have to come again.

        Args:
            event: as the platform gives it.
            left_s: how much time the function has left, in seconds.
        """
        again = [
            {"itemIdentifier": record["messageId"]}
            for record in event["Records"]
            if not self._handle(record, left_s())
        ]
        return {"batchItemFailures": again}

    def _handle(self, record: Mapping[str, Any], left_s: float) -> bool:
        """Handle a record; return whether it is done."""
        attempt = int(record["attributes"]["ApproximateReceiveCount"])
        last = attempt >= self._most
        pause_s = min(FIRST_PAUSE_S << min(attempt - 1, 10), LONGEST_PAUSE_S)
        try:
            message = decode(record["body"])
        except UnreadableInput as error:
            return self._reject(record, error)
        if left_s < LEAST_S:
            return self._send_later(record, message, 0)  # what came with it has used up the time
        try:
            with self._watch_time(record, message, left_s, last=last):
                self._worker.handle(message, last=last)
        except Busy:
            return self._send_later(record, message, BUSY_PAUSE_S)
        except UnreadableInput as error:
            return self._reject(record, error)
        except DocstowError as error:
            log.warning("try %d of the job %s: %s", attempt, message.job_id, error.message)
        except Exception:
            log.exception("try %d of the job %s", attempt, message.job_id)
        else:
            return True
        # A message of the last try that comes once more goes to the dead letters instead.
        self._postpone(record, 0 if last else pause_s)
        return False

    def _send_later(self, record: Mapping[str, Any], message: Message, seconds: int) -> bool:
        """Send a new message for what was not begun; return whether the old one is done.

        The queue counts how often a message was received, and to wait is no try: else what had
        waited would rest for longer after its first failure, and soon end with the dead letters.
        """
        try:
            self._queue.send(message, delay_s=seconds)
        except StoreError:
            self._postpone(record, seconds)
            return False
        return True

    def _reject(self, record: Mapping[str, Any], error: UnreadableInput) -> bool:
        """Send back at once what no try can read, until it is with the dead letters."""
        log.error("the message %s cannot be read: %s", record["messageId"], error.message)
        with contextlib.suppress(StoreError):  # the others of its batch are done all the same
            self._worker.fail(find_job_id(record["body"]), error.code, error.message)
        self._postpone(record, 0)
        return False

    def _postpone(self, record: Mapping[str, Any], seconds: int) -> None:
        with contextlib.suppress(StoreError):  # it comes when its time is up
            self._queue.postpone(record["receiptHandle"], seconds)

    @contextlib.contextmanager
    def _watch_time(
        self, record: Mapping[str, Any], message: Message, left_s: float, *, last: bool
    ) -> Iterator[None]:
        """Have a job tried again that the platform is about to cut off, and write that down."""

        def cut_off() -> None:
            # Else it would come when the longest of jobs had ended; its lease ends sooner.
            self._postpone(record, 0 if last else FIRST_PAUSE_S)
            try:
                self._worker.out_of_time(message, last=last)
            except StoreError as error:
                log.warning("the job %s is cut off untold: %s", message.job_id, error.message)

        timer = threading.Timer(left_s - self._reserve_s, cut_off)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
