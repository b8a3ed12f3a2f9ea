"""Files read to pages: in this process, or in several where the machine has the cores for them.

A reader is a pure function of one file, so that where it runs changes nothing. A file that ends its
process, by what it takes to read it, is an error of its own.
"""

from __future__ import annotations

import base64
import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from docstow import formats
from docstow.core.errors import DocstowError, InternalError, TooLarge
from docstow.core.model import NO_ATTRIBUTES, File
from docstow.core.processes import Budget, Handler, ProcessPool
from docstow.formats.trees import Trees
from docstow.sources import collection

log = logging.getLogger(__name__)

#: A page, or the kind of an error and what it says.
Outcome: TypeAlias = formats.Page | tuple[str, str]

_T = TypeVar("_T")

#: Of fewer bytes, what two processes take to begin is more than a tenth of the whole.
_WORTH_BYTES = 8 << 20
#: A call reads so many files, or as many as have so many bytes together.
_BATCH_FILES, _BATCH_BYTES = 32, 1 << 18
#: What a call may take: a large file of PDF takes a minute.
_BUDGET = Budget(cpu_s=300, wall_s=900.0, memory_bytes=2 << 30)


def read_page(
    file: File,
    shared: Mapping[str, Any] = NO_ATTRIBUTES,
    trees: Trees | None = None,
) -> formats.Page:
    """Read a file by the reader of its media type.

    Args:
        file: with its body.
        shared: what the pages of its site share.
        trees: pages that are parsed already.

    Raises:
        UnreadableInput: it is not what it claims to be.
    """
    if file.media_type == collection.MEDIA_TYPE:
        return collection.read(file)
    return formats.read(file, shared, trees)


def read_here(
    files: Iterable[File], shared: Mapping[str, Any], trees: Trees | None = None
) -> Generator[Outcome, None, None]:
    """Read files in this process, each when it is asked for."""
    for file in files:
        yield attempt(partial(read_page, file, shared, trees), file)


def is_worth(processes: int, size: int) -> bool:
    """Return whether files of so many bytes are read faster by so many processes."""
    return processes > 1 and size >= _WORTH_BYTES


def read_apart(
    files: Iterable[File], shared: Mapping[str, Any], processes: int, budget: Budget = _BUDGET
) -> Generator[Outcome, None, None]:
    """Read files in processes of their own; the outcomes come in the order of the files.

    Args:
        files: with their bodies; they are taken from here little before they are read.
        shared: what the pages of their site share.
        processes: how many read at the same time.
        budget: of a call, so of each file at least.
    """
    pool = ProcessPool(
        "docstow.ingest.reading:make_handler",
        {"shared": dict(shared)},
        most=processes,
        budget=budget,
    )
    with ThreadPoolExecutor(processes) as threads:
        under_way: deque[Future[list[Outcome]]] = deque()
        try:
            for batch in _batches(files):
                under_way.append(threads.submit(_read_batch, pool, batch))
                if len(under_way) > 2 * processes:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            for each in under_way:
                each.cancel()
            pool.close()


def _batches(files: Iterable[File]) -> Iterator[list[File]]:
    batch: list[File] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.body)
        if len(batch) == _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_batch(pool: ProcessPool, batch: Sequence[File]) -> list[Outcome]:
    """Read files by one call; if that ends its process, each by a call of its own."""
    request = {"files": [_file_to_json(file) for file in batch]}
    try:
        answer = pool.call(request, "")
    except (TooLarge, InternalError) as error:
        if len(batch) > 1:
            return [outcome for file in batch for outcome in _read_batch(pool, [file])]
        log.warning("%s ended the process that read it", batch[0].path)
        return [(error.code, f"{batch[0].path} cannot be read: its reader takes too much or ends.")]
    return [_outcome_from_json(each) for each in answer["outcomes"]]


def attempt(read: Callable[[], _T], file: File) -> _T | tuple[str, str]:
    """Return what is read of a file, or the kind of the error and what it says."""
    try:
        return read()
    except DocstowError as error:
        return error.code, error.message
    except Exception:
        log.exception("%s could not be read", file.path)
        return InternalError.code, "the page could not be read"


def make_handler(setup: Mapping[str, Any], send: Callable[[Mapping[str, Any]], object]) -> Handler:
    """Return what reads files in a process of :func:`read_apart`."""
    del send
    shared = setup["shared"]

    def handle(request: Mapping[str, Any]) -> Mapping[str, Any]:
        files = map(_file_from_json, request["files"])
        return {"outcomes": [_outcome_to_json(each) for each in read_here(files, shared)]}

    return handle


def _file_to_json(file: File) -> list[str]:
    return [file.path, file.url, file.media_type, base64.b64encode(file.body).decode()]


def _file_from_json(fields: Sequence[str]) -> File:
    path, url, media_type, body = fields
    return File(path, url, media_type, base64.b64decode(body))


def _outcome_to_json(outcome: Outcome) -> Mapping[str, Any]:
    if isinstance(outcome, tuple):
        return {"error": outcome}
    # Where there are none they are a mapping that cannot be copied.
    return {"page": asdict(replace(outcome, attributes=dict(outcome.attributes)))}


def _outcome_from_json(fields: Mapping[str, Any]) -> Outcome:
    if "error" in fields:
        code, message = fields["error"]
        return code, message
    page = fields["page"]
    images = tuple(formats.Image(**each) for each in page["images"])
    return formats.Page(**{**page, "links": tuple(page["links"]), "images": images})
