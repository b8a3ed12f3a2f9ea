"""Dotted names asked of packages' surfaces: what exists, what certainly does not, what comes near.

This room knows surfaces and resolvers. It does not know how code writes names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from docstow.verify.findings import Finding, Status, Verdict, in_order
from docstow.verify.nearest import nearest

if TYPE_CHECKING:
    from docstow.packages.surface import Surface, Symbol

CALLABLE = frozenset({"function", "method", "class"})
#: Names looked at for suggestions beyond the siblings.
_MOST_NAMES = 20_000


@dataclass(frozen=True, slots=True)
class Installed:
    """A package that answers for a name."""

    name: str
    version: str
    surface: Surface


class Resolver(Protocol):
    """Where packages are found by what code imports."""

    def package_for(self, imported: str) -> Installed | None:
        """The package of a dotted import name or module specifier; None where none is at hand."""
        ...

    def is_standard(self, imported: str) -> bool:
        """Whether the name is the language's own, and no package's."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a dotted name.

    Attributes:
        status: as in a finding.
        symbol: what it means; of a name that stops being certain the last part that is.
        whole: the symbol is all of the name.
        message: what is wrong.
        suggestions: nearest valid names.
        looked_in: the path that has no such member.
        package: who was asked.
    """

    status: Status
    symbol: Symbol | None = None
    whole: bool = False
    message: str = ""
    suggestions: tuple[str, ...] = ()
    looked_in: str = ""
    package: Installed | None = None


@dataclass(slots=True)
class Names:
    """Names of packages, each looked up once.

    Args:
        resolver: where packages are found.
    """

    resolver: Resolver
    _answers: dict[str, Answer] = field(default_factory=dict)

    def look_up(self, path: str, head: str = "") -> Answer:
        """What a dotted path means.

        Args:
            path: the import name first.
            head: a beginning of it that is one name though it may have dots: ``socket.io``.
        """
        if path not in self._answers:
            self._answers[path] = self._look_up(path, head)
        return self._answers[path]

    def _look_up(self, path: str, head: str) -> Answer:
        package = self.resolver.package_for(head or path)
        if package is None:
            return Answer("not_checked")
        surface = package.surface
        rest = path[len(head) :].lstrip(".") if head else path
        parts = [*([head] if head else []), *(rest.split(".") if rest else [])]
        symbol: Symbol | None = None
        for end in range(1, len(parts) + 1):
            here = ".".join(parts[:end])
            found = surface.symbol(here)
            if found is None:
                parent = ".".join(parts[: end - 1])
                if symbol is None and end < len(parts):
                    continue  # of a namespace package only the parts below are anybody's
                if symbol is None:
                    return Answer("not_checked", package=package)
                return self._missing(package, symbol, parent, parts[end - 1])
            symbol = found
        if symbol is None:
            return Answer("not_checked", package=package)
        return self._known(package, symbol, path)

    def _known(self, package: Installed, symbol: Symbol, path: str) -> Answer:
        if not symbol.deprecated:
            return Answer("ok", symbol, whole=True, package=package)
        reason = symbol.deprecated if symbol.deprecated != "deprecated" else ""
        message = f"{path} is deprecated{f': {reason}' if reason else '.'}"
        return Answer("deprecated", symbol, whole=True, message=message, package=package)

    def _missing(self, package: Installed, owner: Symbol, parent: str, name: str) -> Answer:
        surface = package.surface
        if name.startswith("_") or not surface.certain(parent):
            return Answer("not_checked", owner, package=package)
        suggestions = self.suggest(package, parent, name, owner.kind)
        message = absent(package, owner.kind, parent, name, suggestions)
        return Answer(
            "unknown",
            owner,
            message=message,
            suggestions=suggestions,
            looked_in=parent,
            package=package,
        )

    def suggest(
        self,
        package: Installed,
        parent: str,
        name: str,
        kind: str = "class",
        *,
        called: bool = False,
    ) -> tuple[str, ...]:
        """Paths near ``parent.name``: beside it, of that very name elsewhere, then alike.

        Args:
            package: whose names they are.
            parent: what has no such member.
            name: the member.
            kind: of the parent.
            called: only what can be called is meant.
        """
        members = package.surface.members(parent) or {}
        beside = [
            f"{parent}.{each}"
            for each, symbol in members.items()
            if not called or symbol.kind in CALLABLE
        ]
        if kind != "module":
            return nearest(name, beside, shaped=False)
        elsewhere: list[str] = []
        for number, each in enumerate(package.surface.names()):
            if number >= _MOST_NAMES:
                break
            if not any(part.startswith("_") for part in each.split(".")):
                elsewhere.append(each)
        moved = [each for each in elsewhere if each.rpartition(".")[2] == name]
        moved.sort(key=lambda each: (each.count("."), len(each)))
        alike = nearest(name, beside, elsewhere)
        return tuple(dict.fromkeys((*moved, *alike)))[:3]


def absent(
    package: Installed, kind: str, parent: str, name: str, suggestions: Sequence[str]
) -> str:
    """What a caller is told of a name that is not there."""
    said = f"{kind} {parent} of {package.name} {package.version} has no {name}"
    if not suggestions:
        return f"{said}."
    if suggestions[0].rpartition(".")[2] == name:
        return f"{said}; it is at {suggestions[0]}."
    return f"{said}; did you mean {suggestions[0]}?"


def look_up_all(named: Sequence[tuple[str, tuple[str, ...], int]], resolver: Resolver) -> Verdict:
    """Names that a message speaks of.

    Args:
        named: import name or specifier, what is below it, and the line.
        resolver: where packages are found.
    """
    names, findings, missing = Names(resolver), [], []
    for first, below, line in named:
        if resolver.is_standard(first):
            continue
        package = resolver.package_for(".".join((first, *below)))
        package = package or resolver.package_for(first)
        if package is None:
            missing.append(first)
            continue
        path = ".".join((first, *below))
        answer = names.look_up(path, first)
        findings.append(
            Finding(
                line=line,
                column=1,
                name=path,
                status=answer.status,
                message=answer.message,
                suggestions=answer.suggestions,
                path=answer.looked_in,
                package=package.name,
                version=package.version,
            )
        )
    return Verdict(in_order(findings), tuple(dict.fromkeys(missing)))
