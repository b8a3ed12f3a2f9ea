"""What every origin of prose promises, and what it says of each thing that it met.

This room knows the words of the contract. It does not know any particular origin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from docstow.core.model import File, Known


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is new or may have changed; ``file.path`` is its document's path."""

    file: File
    validator: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Same:
    """A file of which the upstream says that it is as it was."""

    path: str


#: Reasons that say: it is there and wanted, but a limit was reached before it.
MORE_FILES, MORE_BYTES, MORE_PAGES = (
    "more than max_files",
    "more than max_bytes",
    "more than max_pages",
)
LIMITS = frozenset({MORE_FILES, MORE_BYTES, MORE_PAGES})


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is left out on purpose: ``reason`` is a short phrase, one of a few."""

    ref: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Something that could not be had this time; what was stowed of it before stays.

    Attributes:
        ref: its path or URL.
        kind: the code of an error, such as ``upstream_timeout``.
        message: what happened, for people; no secrets.
    """

    ref: str
    kind: str
    message: str


Event = Found | Same | Skipped | Failed


class ProseOrigin(Protocol):
    """Where the files of one registered source come from. Made anew for each sync."""

    def resolve(self) -> str:
        """The version that :meth:`files` will give (a commit); empty where there is none.

        Raises:
            DocstowError: the source cannot be had at all; the sync fails.
        """
        ...

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Everything that the source has now; known paths that do not occur are gone.

        Args:
            known: by path what the last sync learned; empty for a full sync, in which nothing
                may be taken for unchanged.

        Raises:
            DocstowError: the source cannot be had at all; the sync fails.
        """
        ...
