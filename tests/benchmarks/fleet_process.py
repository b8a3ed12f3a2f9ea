"""A process of a fleet: the ingest function's handler in many threads, until it is killed.

``python -m benchmarks.fleet_process QUEUES URL DEAD THREADS TWICE SEED`` prints a line of JSON for
each message that it takes and for each that it has handled.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from docstow.ingest.queue import decode
from servers.sqs import Queues, record

#: A message that was taken and not told of comes again after so many seconds.
HIDDEN_S = 60


class _Context:
    """What the platform tells a function."""

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


class FleetProcess:
    """The threads of one process and the queue that they take from.

    Args:
        queues: where messages come from.
        threads: so many are handled at the same time.
        twice: share of messages that are delivered to another worker as well.
        seed: of these.
    """

    def __init__(self, queues: Queues, threads: int, twice: float, seed: str) -> None:
        self._queues = queues
        self._threads = threads
        self._twice = twice
        self._random = random.Random(seed)
        self._free = threading.Semaphore(threads)
        self._handler = importlib.import_module("functions.ingest.handler").handler
        self._speaking = threading.Lock()
        self._gone = queues.client.exceptions.ReceiptHandleIsInvalid

    def run(self) -> None:
        """Take messages for ever."""
        with ThreadPoolExecutor(self._threads) as pool:
            while True:
                self._free.acquire()
                slots = 1
                while slots < 10 and self._free.acquire(blocking=False):
                    slots += 1
                messages = self._queues.receive(slots, wait_s=1, hidden_s=HIDDEN_S)
                for _ in range(slots - len(messages)):
                    self._free.release()
                for message in messages:
                    self._say("took", message)
                    if self._random.random() < self._twice:
                        self._say("twice", message)
                        # Who was delivered it before may have deleted it by now.
                        with contextlib.suppress(self._gone):
                            self._queues.show(message)
                    pool.submit(self._handle, message)

    def _handle(self, message: Mapping[str, Any]) -> None:
        begun = time.perf_counter()
        try:
            answer = self._handler({"Records": [record(message)]}, _Context())
            if answer["batchItemFailures"]:
                self._say("failed", message)
            else:
                # Another to whom it was delivered may have been first.
                with contextlib.suppress(self._gone):
                    self._queues.delete(message)
                self._say("handled", message, seconds=time.perf_counter() - begun)
        except Exception as error:  # noqa: BLE001 - whoever reads the lines raises it
            self._say("broken", message, error=repr(error))
        finally:
            self._free.release()

    def _say(self, event: str, message: Mapping[str, Any], **more: Any) -> None:
        job, receipt = decode(message["Body"]).job_id, message["ReceiptHandle"]
        with self._speaking:
            line = {"event": event, "job": job, "receipt": receipt, **more}
            print(json.dumps(line), flush=True)


def main() -> None:
    """Read the arguments and run."""
    endpoint, url, dead, threads, twice, seed = sys.argv[1:]
    queues = Queues.open(endpoint, url, dead)
    FleetProcess(queues, int(threads), float(twice), seed).run()


if __name__ == "__main__":
    main()
