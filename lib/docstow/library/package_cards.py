"""Which packages are stored: what their cards say, or a look at the store where cards may lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from docstow.index.cards import Entry
    from docstow.index.catalog import Catalog
    from docstow.languages import Language
    from docstow.store.snapshots import Snapshots


class PackageCards:
    """The stored packages of other languages than Rust. Safe to share between threads.

    Nothing is listed, however much is stored: the catalogue says what there is. Of a store whose
    packages were stowed by releases that gave them no cards, heads are listed until upkeep has
    made these.

    Args:
        snapshots: the published snapshots.
        open_catalog: opens the catalogue.
    """

    def __init__(self, snapshots: Snapshots, open_catalog: Callable[[], Catalog]) -> None:
        self._snapshots = snapshots
        self._open_catalog = open_catalog

    def state(self, language: Language) -> Sequence[str]:
        """Return what changes when another package is stored."""
        cards = self._open_catalog().covering({language.kind})
        if cards is None:
            return self._snapshots.names(language.kind)
        return [each.identity for each in cards.segments]

    def entries(self, language: Language) -> list[Entry]:
        """Return what is told of every stored version of every package, by name."""
        cards = self._open_catalog().covering({language.kind})
        if cards is None:
            return self._listed(language)
        return cards.listed(language.kind)

    def newest(self, language: Language, names: Collection[str] | None = None) -> dict[str, Entry]:
        """Return what is told of the newest stored version of each package, by its name.

        Args:
            language: of the packages.
            names: of the packages; None for all.
        """
        if names is not None and not names:
            return {}
        versions: dict[str, dict[str, Entry]] = {}
        for entry in self.entries(language):
            if names is None or entry.source.name in names:
                versions.setdefault(entry.source.name, {})[entry.source.version] = entry
        found = {}
        for name, each in versions.items():
            if (best := language.versions().choose("", each)) is not None:
                found[name] = each[best]
        return found

    def names(self, language: Language) -> list[str]:
        """Return the names of all stored packages, in alphabetical order."""
        return sorted({entry.source.name for entry in self.entries(language)})

    def _listed(self, language: Language) -> list[Entry]:
        from docstow.index.cards import make_entry

        heads = (
            head
            for name in self._snapshots.names(language.kind)
            for head in self._snapshots.heads(language.kind, name)
        )
        loaded = ((head.source, self._snapshots.load(head)) for head in heads)
        return [make_entry(source, each.id, each.facts) for source, each in loaded if each]
