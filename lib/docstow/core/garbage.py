"""When a process looks for garbage that refers to itself, and gives memory back."""

from __future__ import annotations

import gc
from contextlib import suppress

#: So many objects more than were let go, and so many looks at the young ones before older ones are
#: looked at. Python's own 700 has every call that reads much be interrupted hundreds of times.
_THRESHOLDS = 50_000, 20, 20

#: What a process is begun with, so that its C library gives large blocks back when they are let go
#: of. By itself glibc learns from each of them to keep larger ones, up to 32 MB: a process that has
#: read a large project has 208 MB, and with these 156, and takes no longer.
SMALL_HEAP = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
    "MALLOC_TRIM_THRESHOLD_": "1048576",
}


def collect_seldom() -> None:
    """Have Python look for cycles of garbage less often than it does by itself.

    An ingest makes a few hundred thousand objects that stay, and no cycles worth mentioning: it
    takes a twentieth to a tenth less CPU so, and no more memory. To be called by programs of our
    own; in the process of somebody else the thresholds are theirs.
    """
    gc.set_threshold(*_THRESHOLDS)


def keep_what_is_there() -> None:
    """Have Python never look for garbage among the objects that there are now.

    For a process that has composed all it is made of: its next look is as far off as can be, which
    for a function is mostly after its first answer.
    """
    gc.freeze()


def return_memory() -> None:
    """Give memory back to the system that nothing uses.

    What parsers and type readers let go of lies between what is kept, and some of it refers to
    itself: a process that has read three large projects has 360 MB, of which 120 are free. It takes
    a quarter of a second then, and so is for a process that waits.
    """
    import ctypes  # which no function needs before its first answer

    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # not every C library can
        ctypes.CDLL(None).malloc_trim(0)
