"""Files of one command: crates that were split find their parts among them.

This room knows that each file may be another one's sibling. It does not know what is in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.ingest.publish import Ingest, read_local

if TYPE_CHECKING:
    from docstow.core.model import File, Snapshot
    from docstow.languages.rust.rustdoc import CrateDocs


class Together:
    """Rustdoc JSON files, each read once and kept as documents; the JSON itself is let go.

    Args:
        ingest: stows them.
        read: gives a file's content.
        paths: all files of the command.
        version: for files that do not say theirs.
    """

    def __init__(
        self, ingest: Ingest, read: Callable[[Path], File], paths: Sequence[Path], version: str = ""
    ) -> None:
        self._ingest = ingest
        self._read = read
        self._paths = paths
        self._version = version
        self._known: dict[Path, tuple[CrateDocs, str] | DocstowError] = {}

    def stow(self, path: Path) -> Snapshot:
        """Stow one of the files, with the others at hand.

        Raises:
            DocstowError: this file cannot be read; that of another is told in its own turn.
        """
        own = self._docs(path)
        if isinstance(own, DocstowError):
            raise own
        known = [self._docs(other) for other in self._paths if other != path]
        others = [other[0] for other in known if not isinstance(other, DocstowError)]
        return self._ingest.local(*own, others)

    def _docs(self, path: Path) -> tuple[CrateDocs, str] | DocstowError:
        """The documents of a file and its URL, or why there are none."""
        if path not in self._known:
            try:
                file = self._read(path)
                self._known[path] = (read_local(file, version=self._version), file.url)
            except DocstowError as error:
                self._known[path] = error
        return self._known[path]
