"""What a queue delivers to a function: which messages are done, and when the others come again.

This room knows the records of an SQS event, their tries and the platform's limit of time. It does
not know what is done for a message.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, StoreError, UnreadableInput
from docstow.ingest.jobs.queue import Busy, Message, decode, job_of

if TYPE_CHECKING:
    from docstow.ingest.jobs.sqs__sqs import SqsQueue
    from docstow.ingest.jobs.worker import Work

log = logging.getLogger(__name__)

#: Pauses before the second try and before any, in seconds; each is twice the one before.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30, 900

#: Pause of a message that found another at its work, in seconds.
BUSY_PAUSE_S = 10

#: No message is begun with less time left than this, in seconds; and so long before the end what
#: is under way is written down as cut off.
LEAST_S, RESERVE_S = 15.0, 5.0


class Deliveries:
    """Takes the records of SQS events.

    Args:
        work: does what a message says.
        queue: where they come from.
        most: how often a message comes before it goes to the dead letters.
        reserve_s: so long before the platform's limit a job counts as cut off.
    """

    def __init__(
        self, work: Work, queue: SqsQueue, most: int, *, reserve_s: float = RESERVE_S
    ) -> None:
        self._work = work
        self._queue = queue
        self._most = most
        self._reserve_s = reserve_s

    def take(
        self, event: Mapping[str, Any], left_s: Callable[[], float]
    ) -> dict[str, list[dict[str, str]]]:
        """Handle the records of an event; which of them have to come again.

        Args:
            event: as the platform gives it.
            left_s: how much time the function has left, in seconds.
        """
        again = [
            {"itemIdentifier": record["messageId"]}
            for record in event["Records"]
            if not self._take(record, left_s())
        ]
        return {"batchItemFailures": again}

    def _take(self, record: Mapping[str, Any], left_s: float) -> bool:
        """Whether a record is done."""
        attempt = int(record["attributes"]["ApproximateReceiveCount"])
        last = attempt >= self._most
        pause_s = min(FIRST_PAUSE_S << min(attempt - 1, 10), LONGEST_PAUSE_S)
        try:
            message = decode(record["body"])
        except UnreadableInput as error:
            return self._poison(record, error)
        if left_s < LEAST_S:
            return self._later(record, message, 0)  # what came with it has used up the time
        try:
            with self._in_time(record, message, left_s, last=last):
                self._work.handle(message, last=last)
        except Busy:
            return self._later(record, message, BUSY_PAUSE_S)
        except UnreadableInput as error:
            return self._poison(record, error)
        except DocstowError as error:
            log.warning("try %d of the job %s: %s", attempt, message.job_id, error.message)
        except Exception:
            log.exception("try %d of the job %s", attempt, message.job_id)
        else:
            return True
        # A message of the last try that comes once more goes to the dead letters instead.
        self._postpone(record, 0 if last else pause_s)
        return False

    def _later(self, record: Mapping[str, Any], message: Message, seconds: int) -> bool:
        """Have come again what was not begun: a new message does, and this one is done.

        The queue counts how often a message was received, and to wait is no try: else what had
        waited would rest for longer after its first failure, and soon end with the dead letters.
        """
        try:
            self._queue.send(message, delay_s=seconds)
        except StoreError:
            self._postpone(record, seconds)
            return False
        return True

    def _poison(self, record: Mapping[str, Any], error: UnreadableInput) -> bool:
        """No try can mend it: it comes back at once, until it is with the dead letters."""
        log.error("the message %s cannot be read: %s", record["messageId"], error.message)
        with contextlib.suppress(StoreError):  # the others of its batch are done all the same
            self._work.fail(job_of(record["body"]), error.code, error.message)
        self._postpone(record, 0)
        return False

    def _postpone(self, record: Mapping[str, Any], seconds: int) -> None:
        with contextlib.suppress(StoreError):  # it comes when its time is up
            self._queue.postpone(record["receiptHandle"], seconds)

    @contextlib.contextmanager
    def _in_time(
        self, record: Mapping[str, Any], message: Message, left_s: float, *, last: bool
    ) -> Iterator[None]:
        """Have a job tried again that the platform is about to cut off, and say so."""

        def cut_off() -> None:
            # Else it would come when the longest of jobs had ended; its lease ends sooner.
            self._postpone(record, 0 if last else FIRST_PAUSE_S)
            try:
                self._work.out_of_time(message, last=last)
            except StoreError as error:
                log.warning("the job %s is cut off untold: %s", message.job_id, error.message)

        timer = threading.Timer(left_s - self._reserve_s, cut_off)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
