"""A queue of SQS, and the letters that died there.

This room knows botocore's client of SQS, which is imported when it is first used. It does not know
what a message asks for.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from docstow.core.errors import StoreError
from docstow.ingest.jobs.queue import BATCH, Message

_REGION = re.compile(r"sqs[.-]([a-z]{2}(?:-[a-z]+)+-\d+)\.|^([a-z]{2}(?:-[a-z]+)+-\d+)\.queue\.")


@dataclass(frozen=True, slots=True)
class Dead:
    """A message that failed too often: its text, and what it is deleted by."""

    text: str
    receipt: str


class SqsQueue:
    """A queue of SQS, or of a server that speaks its language at the queue's own address.

    Args:
        url: the queue's.
        dead_letter_url: where messages end that failed too often; empty where nobody looks.
        region: of the queue, where its address does not say so.
    """

    joins = False

    def __init__(self, url: str, dead_letter_url: str = "", *, region: str = "us-east-1") -> None:
        self._url = url
        self._dead_letter_url = dead_letter_url
        self._region = region
        self._made: Any = None
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

    def dead(self) -> Iterator[Dead]:
        """The messages that failed too often, each once; they stay until they are forgotten.

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
                yield Dead(each["Body"], each["ReceiptHandle"])

    @property
    def looks_at_dead(self) -> bool:
        """Whether it is known where messages end that failed too often."""
        return bool(self._dead_letter_url)

    def forget(self, dead: Dead) -> None:
        """Delete a dead message.

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
            if self._made is None:
                self._made = _connect(self._url, self._region)
            return self._made


def _connect(url: str, region: str) -> Any:
    import botocore.session  # 0.2 s of imports, which only senders pay
    from botocore.config import Config

    parts = urlsplit(url)
    said = _REGION.search(parts.netloc)
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=5, read_timeout=30
    )
    return botocore.session.Session().create_client(
        "sqs",
        region_name=next(filter(None, said.groups())) if said else region,
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
