"""What is stowed, by name: for lists of it, and for the completion of names, versions and paths.

Every list is the caller's own: the catalogue, heads and registry give it what it sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from docstow.core.model import CRATE, LOCAL
from docstow.library import OUTLINE
from docstow.sources import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from docstow.core.model import Registration
    from docstow.index.catalog import Catalog
    from docstow.languages import Language
    from docstow.library import Library
    from docstow.library.package_cards import PackageCards
    from docstow.library.prose import Prose
    from docstow.sources.registry import Registry


class Stowed:
    """The names of what is stowed. Safe to share between threads.

    Args:
        library: the crates and packages.
        open_catalog: opens the catalogue, which has a card of each crate.
        package_cards: which packages of other languages are stored.
        registry: the registered sources.
        prose: their pages.
    """

    def __init__(
        self,
        library: Library,
        open_catalog: Callable[[], Catalog],
        package_cards: PackageCards,
        registry: Registry,
        prose: Prose,
    ) -> None:
        self._library = library
        self._open_catalog = open_catalog
        self._package_cards = package_cards
        self._registry = registry
        self._prose = prose

    def packages(self, language: Language) -> dict[str, str]:
        """Return the newest stowed version of each package of a language, by name, sorted."""
        if language.packaged:
            found = self._package_cards.newest(language).items()
            return {name: entry.source.version for name, entry in sorted(found)}
        cards = self._open_catalog().card_set()
        crates = [each.source for kind in (CRATE, LOCAL) for each in cards.listed(kind)]
        return {each.name: each.version for each in sorted(crates, key=lambda each: each.name)}

    def paths(self, language: Language, name: str, version: str) -> Iterable[str]:
        """Return every path that finds an item of a stowed package; none of one that is not.

        Args:
            language: the package's.
            name: the package.
            version: exact, or empty for the newest that is stowed.
        """
        if language.packaged:
            newest = version or self.packages(language).get(name, "")
            snapshot = self._library.installed.stored(language, name, newest)
        else:
            found = self._library.stowed(name, version)
            snapshot = found.snapshot if found is not None else None
        return () if snapshot is None else self._library.index(snapshot, OUTLINE).names()

    def sources(self) -> list[Registration]:
        """Return the registered sources that have pages."""
        return [each for each in self._registry.all() if kind_of(each.kind).has_pages]

    def pages(self, ref: str) -> tuple[Registration, dict[str, str]]:
        """Return a source, and the titles of its pages by path; none where it was never synced.

        Args:
            ref: its id, the beginning of that, its URI or title.

        Raises:
            SourceNotFound: there is none.
        """
        registration = self._registry.get(ref)
        snapshot = self._prose.newest(registration)
        if snapshot is None or not kind_of(registration.kind).has_pages:
            return registration, {}
        columns = self._prose.index(snapshot).columns
        pairs = zip(columns["path"], columns["title"], strict=True)
        return registration, {str(path): str(title) for path, title in pairs}
