"""A cloud's weather before a bucket: latency, refusals, lost answers; and what it costs.

``with Weather(bucket, seed=1) as weather:`` gives ``weather.url``, an S3 and SQS server that is
as far away and as moody as :class:`Climate` says, and ``weather.meter``, which counts requests.
What meets whom is drawn from the seed, the request's name and how often that came before, so that
no thread's haste changes it.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from urllib.parse import urlsplit

from servers.s3 import Answer, Bucket, Forward, Lost, Request, fault, serve

KINDS = ("GET", "LIST", "HEAD", "PUT", "DELETE")

#: Asks whether conditions are honoured, which AWS is not asked; it costs neither time nor money.
PROBE = "probe"

#: Seconds that a queue's client asks for are this many times shorter here.
HASTE = 30


@dataclass(frozen=True, slots=True)
class Climate:
    """How far away the store is, and how often it fails.

    Attributes:
        read_s: before a GET, HEAD or LIST is answered.
        write_s: before a PUT or DELETE is answered.
        slow_down: share of requests that are refused with 503 and not carried out.
        lost: share of writes that are carried out and whose answer is lost.
        cut: share of reads whose body breaks off.
    """

    read_s: float = 0.0
    write_s: float = 0.0
    slow_down: float = 0.0
    lost: float = 0.0
    cut: float = 0.0


#: Half of S3's answers come sooner than this.
FAR = Climate(read_s=0.063, write_s=0.100)
STORM = replace(FAR, slow_down=0.03, lost=0.03, cut=0.01)


class Meter:
    """Counts requests, bytes and faults by kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[name] += count

    def read(self) -> Counter[str]:
        """Everything so far."""
        with self._lock:
            return self._counts.copy()

    @contextlib.contextmanager
    def during(self) -> Iterator[Counter[str]]:
        """What was counted within the block, once that has ended."""
        before, counted = self.read(), Counter[str]()
        yield counted
        counted.update(self.read() - before)


class Weather:
    """A proxy before a bucket's servers; a context manager.

    Args:
        bucket: whose servers answer.
        seed: of everything that goes wrong.
        climate: may be changed at any time.
    """

    def __init__(self, bucket: Bucket, *, seed: int = 1, climate: Climate = FAR) -> None:
        self.climate = climate
        self.meter = Meter()
        self.url = ""
        self._seed = seed
        self._forward = Forward(bucket.endpoint, bucket.queues)
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Weather:
        self._stack.callback(self._forward.close)
        self.url = self._stack.enter_context(serve(self._respond))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _respond(self, request: Request) -> Answer:
        if "x-amz-target" in request.headers:
            return self._forward(_hastened(request))
        kind, climate, dice = _kind(request), self.climate, self._dice(request)
        if kind == PROBE:
            self.meter.add(kind)
            return self._forward(request)
        writes = kind in {"PUT", "DELETE"}
        time.sleep(climate.write_s if writes else climate.read_s)
        self.meter.add(kind)
        if dice.random() < climate.slow_down:
            self.meter.add("slow down")
            return fault(503, "SlowDown")
        answer = self._forward(request)
        self.meter.add("bytes in", len(request.body))
        self.meter.add("bytes out", len(answer.body))
        if writes and dice.random() < climate.lost:
            self.meter.add("lost")
            raise Lost
        if answer.status == 200 and len(answer.body) > 1 and dice.random() < climate.cut:
            self.meter.add("cut")
            answer.headers.setdefault("Content-Length", str(len(answer.body)))
            answer.cut = len(answer.body) // 2
        return answer

    def _dice(self, request: Request) -> random.Random:
        # The bucket's name is another each time.
        name = f"{request.method} {request.path.lstrip('/').partition('/')[2]}"
        with self._lock:
            self._seen[name] += 1
            return random.Random(f"{self._seed} {name} {self._seen[name]}")


def _kind(request: Request) -> str:
    if "/probes/" in request.path:
        return PROBE
    return "LIST" if "list-type" in urlsplit(request.path).query else request.method


def _hastened(request: Request) -> Request:
    """A request to the queue, whose seconds go by faster."""
    fields = json.loads(request.body)
    for name in ("VisibilityTimeout", "DelaySeconds"):
        if fields.get(name):
            fields[name] = max(1, fields[name] // HASTE)
    body = json.dumps(fields).encode()
    return Request(
        request.method,
        request.path,
        {**request.headers, "content-length": str(len(body))},
        body,
    )
