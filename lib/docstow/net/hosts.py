"""Which hosts a client may ask, redirects included."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from docstow.core.errors import UpstreamError


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The hosts that a client may ask.

    Attributes:
        names: as in an address, lower case, with a port that is not the scheme's own; ``*.NAME``
            stands for the hosts below one.
        reason: why another is not asked, and what to do; the rest of a sentence after "because".
        details: further details of the error.
    """

    names: Collection[str]
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def check(self, host: str) -> None:
        """Refuse a host that is not among them.

        Raises:
            UpstreamError: it is another.
        """
        name = host.lower()
        _, _, parent = name.partition(".")
        while name not in self.names and f"*.{parent}" not in self.names:
            if not parent:
                raise UpstreamError(
                    f"{host} is not asked, because {self.reason}", host=host, **self.details
                )
            _, _, parent = parent.partition(".")
