"""Threads that act periodically beside a server, until its process ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from docstow.core.errors import DocstowError

log = logging.getLogger(__name__)


class Background:
    """Starts such threads, and stops them all."""

    def __init__(self) -> None:
        self._closed = threading.Event()

    def repeat(
        self, name: str, pauses: Iterable[float], act: Callable[[], object], failure: str
    ) -> None:
        """Begin to act after each of some pauses; what fails is logged, and acted on again.

        Args:
            name: of the thread.
            pauses: in seconds.
            act: does the work; may raise DocstowError.
            failure: what the log says of an error.
        """

        def run() -> None:
            for pause_s in pauses:
                if self._closed.wait(pause_s):
                    return
                try:
                    act()
                except DocstowError as error:
                    log.warning("%s: %s", failure, error.message)

        threading.Thread(target=run, name=name, daemon=True).start()

    def close(self) -> None:
        """Begin nothing any more; what is under way ends with the process."""
        self._closed.set()
