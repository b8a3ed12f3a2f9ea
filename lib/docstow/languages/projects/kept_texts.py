"""What was said of a project's packages is kept with its scan, for who asks the same or goes on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator

from docstow.languages.projects.packages import ProjectPackages
from docstow.languages.shared.project import Scan

#: How many texts are kept, which may go on with what they read, and their characters together.
_MOST_TEXTS = 16
_MOST_CHARACTERS = 2_000_000


class KeptTexts:
    """Texts about packages, and the packages that they were made of.

    For :func:`docstow.languages.shared.kept.kept`.

    Attributes:
        packages: those of the scan; what was read of them for earlier texts is known.

    Args:
        scan: of one project.
    """

    def __init__(self, scan: Scan) -> None:
        self.packages = ProjectPackages(scan)
        self._texts: OrderedDict[Hashable, _Text] = OrderedDict()

    def again(self) -> bool:
        """Make ready for another question; whether what was read is still so, and not much."""
        while len(self._texts) > _MOST_TEXTS or self._size > _MOST_CHARACTERS:
            self._texts.popitem(last=False)
        return self.packages.again()

    @property
    def _size(self) -> int:
        return sum(each.size for each in self._texts.values())

    def find(self, key: Hashable, make: Callable[[], Iterable[str]]) -> Iterable[str]:
        """Return the pieces of a text, each made when it is first reached.

        Args:
            key: says all that the text depends on beside what is read of packages.
            make: makes the pieces.
        """
        if key not in self._texts:
            self._texts[key] = _Text(make())
        self._texts.move_to_end(key)
        return self._texts[key]


class _Text:
    """The pieces of a text, which can be gone through many times and are made once.

    Attributes:
        size: of the pieces that are made, in characters.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self._made: list[str] = []
        self._left = iter(pieces)
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        yield from self._made
        for piece in self._left:
            self._made.append(piece)
            self.size += len(piece)
            yield piece
