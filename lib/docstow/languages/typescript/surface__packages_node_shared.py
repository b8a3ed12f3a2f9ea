"""What the surfaces of one project's Node packages have in common.

This room knows what is kept once for all of them. It does not know packages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from docstow.languages.shared.project__packages_model import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.typescript.files import Folder, NodeFiles
from docstow.languages.typescript.globals import Globals

if TYPE_CHECKING:
    from docstow.languages.typescript.surface import NodeSurface


class Shared:
    """What the surfaces of one project have in common: files that were read, what is global.

    Args:
        boundary: what may be read.
        siblings: the surface of a package of the project by name.
        installed: the project's packages.
    """

    def __init__(
        self,
        boundary: Boundary,
        siblings: Callable[[str], NodeSurface | None],
        installed: Callable[[], Iterable[Package]],
    ) -> None:
        self.files = NodeFiles(boundary)
        self._siblings = siblings
        self.globals = Globals(self.files, self._find, installed)

    def _find(self, name: str) -> Folder | None:
        surface = self._siblings(name)
        return surface.folder if surface is not None else None
