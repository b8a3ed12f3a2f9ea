"""The one loop of compare-and-swap: read an object, change its value, write it unless others did.

Only conditional writes are made, so no writer's change is ever lost.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from docstow.core.errors import StoreError
from docstow.core.records import dataclass
from docstow.store.objects import AlreadyThere, Conflict, ObjectStore

#: How often a writer tries before it gives up, and the bounds of the pause after the first failed
#: try and after any, in seconds; the bound doubles with each try, the pause is random below it.
ATTEMPTS = 40
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.25

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Codec(Generic[_T]):
    """How a value is stored.

    Attributes:
        decode: makes the value of an object's bytes and its key; None where they are damaged and
            the object is to be made anew. Raises StoreError where it must not be overwritten.
        encode: makes the bytes of a value.
    """

    decode: Callable[[bytes, str], _T | None]
    encode: Callable[[_T], bytes]


#: Objects that are their own value.
RAW: Codec[bytes] = Codec(lambda body, _: body, lambda body: body)


@dataclass(frozen=True, slots=True)
class Updated(Generic[_T]):
    """What came of an update.

    Attributes:
        before: the value that was read; None if the object was absent or damaged.
        after: the value that is stored now; None if the object is still absent.
        etag: tag of the state that is stored now; empty if the object is still absent.
        written: whether the object was written.
    """

    before: _T | None
    after: _T | None
    etag: str
    written: bool


def update(
    store: ObjectStore, key: str, codec: Codec[_T], change: Callable[[_T | None], _T | None]
) -> Updated[_T]:
    """Replace an object's value by a changed one, again if another writer was faster.

    Args:
        store: where the object is.
        key: its key.
        codec: how its value is stored.
        change: makes the new value of the current one, which is None where the object is absent or
            damaged. It returns the value that it was given (or None) for "nothing to do", may
            raise to leave the object as it is, and is called once for each try.

    Raises:
        StoreError: others were faster every time, or the store cannot be used.
    """
    for _ in attempts(key):
        stored = store.get(key)
        before = codec.decode(stored.body, key) if stored else None
        after = change(before)
        if after is None or after is before:
            return Updated(before, before, stored.etag if stored else "", written=False)
        body = codec.encode(after)
        if stored is not None and body == stored.body:
            return Updated(before, after, stored.etag, written=False)
        try:
            etag = store.swap(key, body, stored.etag) if stored else store.create(key, body)
        except (AlreadyThere, Conflict):
            continue
        return Updated(before, after, etag, written=True)
    raise AssertionError("the last attempt returns or raises")


def attempts(what: str) -> Iterator[int]:
    """Yield the number of each try, with a pause before all but the first.

    Raises:
        StoreError: every try failed; ``what`` names in the message what others changed.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            bound = min(FIRST_PAUSE_S * 2 ** (attempt - 1), LONGEST_PAUSE_S)
            time.sleep(random.uniform(0, bound))  # noqa: S311 - no secret
        yield attempt
    raise StoreError(f"{what} was changed by others {ATTEMPTS} times in a row; try again later.")
