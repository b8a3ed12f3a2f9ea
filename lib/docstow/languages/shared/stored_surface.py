"""The public surface of a stowed package, loaded from its documents.

Whatever depends on other packages than those that were read when it was stowed is uncertain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast, get_args

from docstow.core.model import Document
from docstow.languages.shared.language import Reading
from docstow.languages.shared.surface import (
    Everything,
    Home,
    Openness,
    Parameter,
    ParameterKind,
    Symbol,
    SymbolKind,
)

if TYPE_CHECKING:
    from docstow.index.loaded import Index

_KINDS: tuple[ParameterKind, ...] = get_args(ParameterKind)


def pack_parameters(parameters: Sequence[Parameter]) -> list[str]:
    """Return parameters for JSON: a digit for the kind, ``!`` where it is required, the name."""
    return [
        f"{_KINDS.index(each.kind)}{'!' if each.required else ''}{each.name}" for each in parameters
    ]


def unpack_parameters(packed: Iterable[str] | None) -> tuple[Parameter, ...] | None:
    """Return the parameters that JSON has; None where they are not certain."""
    if packed is None:
        return None
    return tuple(
        Parameter(each[1:].removeprefix("!"), _KINDS[int(each[0])], each[1:2] == "!")
        for each in packed
    )


def add_names(
    made: Sequence[Document], homes: Mapping[Home, str], everything: Mapping[str, Everything]
) -> Iterator[Document]:
    """Yield documents, of which modules and classes have all their names.

    Args:
        made: all documents of a package.
        homes: the path of the document that a definition has.
        everything: of owners by their paths.
    """
    paths = {each.path for each in made if each.kind != "page"}
    for each in made:
        found = everything.get(each.path) if each.kind != "page" else None
        if found is None:
            yield each
            continue
        others = {
            name: homes.get(home, "") if home is not None else ""
            for name, home in found.names.items()
            if f"{each.path}.{name}" not in paths
        }
        facts: dict[str, Any] = {"others": others} if others else {}
        facts |= {"certain": True} if found.certain else {}
        facts |= {"through": list(found.through)} if found.through else {}
        yield replace(each, attributes={**each.attributes, **facts})


class StoredSurface:
    """What the documents of one package offer.

    Args:
        index: its tables.
        reading: how packages of its language are read.
        agrees: whether ``name version`` of another package is what the caller has, too.
        complete: whether the caller has no packages but these, which were read with this one.
    """

    def __init__(
        self,
        index: Index,
        reading: Reading,
        agrees: Callable[[str], bool],
        complete: Callable[[frozenset[str]], bool] = lambda _: False,
    ) -> None:
        self.index = index
        self._agrees_with = agrees
        self._is_complete = complete
        self._reading = reading
        self._facts: dict[int, dict[str, Any]] = {}

    def modules(self) -> tuple[str, ...]:
        """Return the names of all modules that have a document, sorted; the entry module first."""
        kinds = self.index.columns["kind"]
        found = [path for path, rows in self._rows.items() if kinds[rows] == "module"]
        return tuple(sorted(found, key=lambda path: (not self._is_entry(path), path)))

    def symbol(self, path: str) -> Symbol | None:
        """Return what a path means, by its documents."""
        known, row = self._find(path)
        if row is not None:
            return self._symbol(path, row)
        if known:
            return Symbol(path, "re-export", "", 0, 0, "", "")
        if self._reading.by_definition and path in self._private:
            return Symbol(path, "module", "", 0, 0, f"import {path}", "")
        owner, _, name = path.rpartition(".")
        if name in self._reading.inherent and self._find(owner)[0]:
            return Symbol(path, "property", "", 0, 0, name, "")
        return None

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """Return the public names that have a document, by name."""
        row = self._find(path)[1]
        if row is None:
            return self._of_private(path)
        home = str(self.index.columns["path"][row])
        names = [str(self.index.columns["path"][each]) for each in self.index.members(row)]
        names = [each[len(home) + 1 :] for each in names if each.startswith(f"{home}.")]
        names += [name for name, there in self._attributes(row).get("others", {}).items() if there]
        found = {name: self.symbol(f"{path}.{name}") for name in names}
        return {name: each for name, each in found.items() if each is not None}

    def listed(self, path: str) -> Iterator[str]:
        """Yield the names of the members that have a document."""
        yield from self.members(path) or ()

    def certain(self, path: str, name: str = "") -> bool:
        """Return whether all names were seen, and nothing else that the caller has adds any."""
        del name
        row = self._find(path)[1]
        if row is None or not self._attributes(row).get("certain") or not self._agrees(row):
            return False
        # Any package may add to the interfaces of another.
        is_module = self.index.columns["kind"][row] == "module"
        return not self._reading.augmented or is_module or self._is_complete(self._beside)

    def openness(self, path: str, name: str = "") -> Openness:
        """Return whether all names were seen; documents do not tell more."""
        return Openness.CLOSED if self.certain(path, name) else Openness.ANY

    def names(self) -> Iterator[str]:
        """Yield the paths of all documents."""
        yield from self._rows

    def homes(self, name: str) -> Iterator[str]:
        """Yield nothing: all names are listed."""
        del name
        yield from ()

    @cached_property
    def _rows(self) -> dict[str, int]:
        kinds = self.index.columns["kind"]
        found: dict[str, int] = {}
        for path, rows in self.index.rows_by_path.items():
            for row in rows:
                if kinds[row] != "page":
                    found.setdefault(str(path), row)
        return found

    @cached_property
    def _targets(self) -> dict[str, int]:
        """Rows by the paths under which things are written."""
        found: dict[str, int] = {}
        for row in self._rows.values():
            if target := self._attributes(row).get("target"):
                found.setdefault(str(target), row)
        return found

    @cached_property
    def _private(self) -> frozenset[str]:
        """Modules without a document in which documented things are written."""
        found: set[str] = set()
        for target in self._targets:
            parts = target.split(".")
            found.update(".".join(parts[:end]) for end in range(1, len(parts)))
        return frozenset(found - self._targets.keys() - self._rows.keys())

    @cached_property
    def _beside(self) -> frozenset[str]:
        for path, row in self._rows.items():
            if self._is_entry(path):
                return frozenset(self._attributes(row).get("beside", ()))
        return frozenset()

    def _is_entry(self, path: str) -> bool:
        name = self.index.snapshot.revision.source.name
        entries = self.index.snapshot.facts.get("import_names", ())
        return path == name or path in entries

    def _attributes(self, row: int) -> dict[str, Any]:
        if row not in self._facts:
            self._facts[row] = self.index.attributes(row)
        return self._facts[row]

    def _agrees(self, row: int) -> bool:
        return all(map(self._agrees_with, self._attributes(row).get("through", ())))

    def _find(self, path: str, depth: int = 0) -> tuple[bool, int | None]:
        """Return whether a path is known to be there, and the row of its document if it has one."""
        row = self._rows.get(path)
        row = self._targets.get(path) if row is None and self._reading.by_definition else row
        if row is not None:
            return True, row
        owner, _, name = path.rpartition(".")
        if not owner or depth > 30:
            return False, None
        known, above = self._find(owner, depth + 1)
        if above is None:
            # What is below something that nothing is known of may be there.
            return False, None
        home = str(self.index.columns["path"][above])
        if home != owner and f"{home}.{name}" in self._rows:
            return True, self._rows[f"{home}.{name}"]
        there = self._attributes(above).get("others", {}).get(name)
        if there is None:
            return False, None
        return known, self._rows.get(there) if there else None

    def _symbol(self, path: str, row: int) -> Symbol:
        columns, facts = self.index.columns, self._attributes(row)
        home = str(columns["path"][row])
        given = unpack_parameters(facts.get("parameters")) if self._agrees(row) else None
        target = str(facts.get("target", "")) or (home if home != path else "")
        return Symbol(
            path=path,
            kind=cast("SymbolKind", str(columns["kind"][row])),
            file=str(facts.get("file", "")),
            line=int(facts.get("line", 0)),
            end_line=0,
            signature=str(columns["signature"][row]),
            docstring="",
            deprecated=str(facts.get("deprecated", "")),
            target=target,
            parameters=given,
        )

    def _of_private(self, module: str) -> Mapping[str, Symbol] | None:
        """Return what is known to be written in a module that has no document."""
        found: dict[str, Symbol] = {}
        for target, row in self._targets.items():
            if target.rpartition(".")[0] != module:
                continue
            found[target.rpartition(".")[2]] = self._symbol(target, row)
            for number, heir in enumerate(self._attributes(row).get("heirs", ())):
                name = f"{target}~{number}"
                found[name] = Symbol(name, "class", "", 0, 0, str(heir), "")
        return found or None
