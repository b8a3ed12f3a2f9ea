"""Upstreams that have asked to be left alone for a while, by all processes of a store.

An upstream that is asked too often says how long nobody is to come again. Whoever is told so leaves
a lease of that length, which others look for before they ask.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from docstow.core.errors import StoreError, UpstreamError

if TYPE_CHECKING:
    from docstow.store.leases import Leases

#: The longest pause that others are told of, in seconds: an upstream may ask for any.
LONGEST_S = 3600.0


class Pauses:
    """The pauses of a store.

    Args:
        leases: of this process.
    """

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    @contextlib.contextmanager
    def kept(self, host: str) -> Iterator[None]:
        """Ask a host, within, and tell others where it wants a pause.

        Raises:
            UpstreamError: it wants one now; ``retry_after_s`` says for how long.
            StoreError: the store cannot be used.
        """
        if left := self._leases.left(_key(host)):
            wait = math.ceil(left)
            raise UpstreamError(
                f"{host} has asked for a pause; retry in {wait} seconds.",
                host=host,
                retry_after_s=wait,
            )
        try:
            yield
        except UpstreamError as error:
            wait = error.details.get("retry_after_s", 0)
            if wait and error.details.get("host") == host:
                # Who cannot write it down has been told all the same.
                with contextlib.suppress(StoreError):
                    self._leases.acquire(_key(host), min(wait, LONGEST_S))
            raise


def _key(host: str) -> str:
    return f"pause/{host}"
