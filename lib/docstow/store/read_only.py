"""Stores that can be read but not written: what is left undone there, with one line in the log."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from docstow.store.objects import ReadOnlyStore

log = logging.getLogger(__name__)

_logged: set[str] = set()


@contextlib.contextmanager
def tolerate_read_only(consequence: str) -> Iterator[None]:
    """Leave a block undone if the store cannot be written.

    Args:
        consequence: what that means, as the log says it, once for each process.
    """
    try:
        yield
    except ReadOnlyStore as error:
        if consequence not in _logged:
            _logged.add(consequence)
            log.warning("%s: %s", consequence, error.message)
