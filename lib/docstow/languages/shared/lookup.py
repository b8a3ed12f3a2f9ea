"""Names and calls of code, looked up in packages: what exists, what certainly does not."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from docstow.languages.shared.findings import (
    NOT_AT_HAND,
    Finding,
    Listing,
    Status,
    Verdict,
    advice,
    nearest,
    sort_findings,
)
from docstow.languages.shared.likeness import likeness, name_similarity, words

if TYPE_CHECKING:
    from docstow.languages.shared.surface import Parameter, Surface, Symbol

#: What has members that nobody imports.
_WITH_MEMBERS = frozenset({"class", "interface", "enum", "type"})
CALLABLE = frozenset({"function", "method", "class"})
#: Names looked at for suggestions beyond the siblings.
_MOST_NAMES = 20_000
#: Submodules that are asked for a name that their package has not.
_MOST_MODULES = 40
#: Modules of a package whose names are all listed: those of more take too long to read.
_MOST_LISTED = 2_500
#: Members of one owner that are all looked at; of more those that are like the wanted one.
_MOST_MEMBERS, _MOST_ALIKE, _MOST_LIKE, _MOST_READ = 1_500, 100, 300, 40
#: From how many modules on that have a name none of them is meant before what is like it.
_MANY_MODULES = 3
#: Of a name's documentation.
_LONGEST_SUMMARY = 300
#: How parameters are passed by name, and by place.
_NAMED = frozenset({"positional", "keyword_only"})
_PLACED = frozenset({"positional_only", "positional"})
#: What it counts that a function or a parameter fits what is passed.
_FITS_USE = 1.0
#: Suggestions that one piece of code gets.
_MOST_SUGGESTED = 100


@dataclass(frozen=True, slots=True)
class Installed:
    """A package that answers for a name.

    Attributes:
        name: of the package.
        version: that is installed.
        surface: what it offers.
        lacks: whether a dotted name is not there, where that is known better than the surface
            tells it; None where the surface tells it.
        since: in which versions a name is that this one has not: ``added in 3.12``; else empty.
        alias: by what code imports it, where that is not its name; else empty.
        imported_as: what it offers, where code imports it by the name of its distribution.
    """

    name: str
    version: str
    surface: Surface
    lacks: Callable[[str], bool | None] = lambda _: None
    since: Callable[[str], str] = lambda _: ""
    alias: str = ""
    imported_as: tuple[str, ...] = ()

    def own_path(self, path: str) -> str:
        """Return a path, or a module specifier, as the package itself spells it."""
        aliased = self.alias and path.startswith(self.alias)
        return f"{self.name}{path.removeprefix(self.alias)}" if aliased else path

    def symbol(self, path: str) -> Symbol | None:
        """Return what a dotted path means for code; None where nothing shows it."""
        return None if self.lacks(path) else self.surface.symbol(path)

    def certain(self, owner: str, name: str) -> bool:
        """Return whether a name that a module or class does not show is certainly not there."""
        if name.startswith("_") or not self.surface.certain(owner, name):
            return False
        return self.lacks(f"{owner}.{name}") is not False


class Resolver(Protocol):
    """Where packages are found by what code imports."""

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of an import name or module specifier; None where none is here."""
        ...

    def is_standard(self, imported: str) -> bool:
        """Return whether the name is the language's own, and no package's."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of looking up a dotted name.

    Attributes:
        status: as in a finding.
        symbol: what it means; of a name that stops being certain the last part that is.
        whole: the symbol is all of the name.
        message: what is wrong.
        suggestions: nearest valid names.
        looked_in: the path that has no such member.
        absent: the member, until ``Names.explain`` says what may be meant.
        package: who was asked.
        reason: as in a finding.
    """

    status: Status
    symbol: Symbol | None = None
    whole: bool = False
    message: str = ""
    suggestions: tuple[str, ...] = ()
    looked_in: str = ""
    absent: str = ""
    package: Installed | None = None
    reason: str = ""

    def finding(self, name: str, line: int, column: int) -> Finding:
        """Return what it tells of a name that code has at a place; both numbers are from 1."""
        package = self.package
        return Finding(
            line=line,
            column=column,
            name=name,
            status=self.status,
            message=self.message,
            suggestions=self.suggestions,
            path=self.looked_in or (self.symbol.path if self.symbol is not None else ""),
            package=package.name if package is not None else "",
            version=package.version if package is not None else "",
            reason=self.reason,
        )


#: The package, the owner, the name, what it is called with, and whether it is raised or caught.
_Asked = tuple[str, str, str, "PassedArguments | None", bool]
#: A class whose name, or the name of whose base, is that of an exception.
_EXCEPTION = re.compile(
    r"\w(?:Error|Exception|Warning)$|\bclass \w+\(.*(?:Error|Exception|Warning)\b"
)


@dataclass(slots=True)
class Names:
    """Names of packages, each looked up once.

    Args:
        resolver: where packages are found.
    """

    resolver: Resolver
    _answers: dict[str, Answer] = field(default_factory=dict)
    _suggested: dict[_Asked, tuple[str, ...]] = field(default_factory=dict)
    _listings: dict[str, Listing] = field(default_factory=dict)

    def look_up(self, path: str, head: str = "") -> Answer:
        """Return what a dotted path means.

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
            return Answer("not_checked", reason=NOT_AT_HAND)
        path, head = package.own_path(path), package.own_path(head)
        rest = path[len(head) :].lstrip(".") if head else path
        parts = [*([head] if head else []), *(rest.split(".") if rest else [])]
        if package.imported_as:
            message = f"{package.name} {package.version} is imported as"
            return Answer(
                "unknown",
                message=f"{message} {', '.join(package.imported_as)}.",
                suggestions=package.imported_as,
                looked_in=package.name,
                package=package,
            )
        symbol: Symbol | None = None
        for end in range(1, len(parts) + 1):
            here = ".".join(parts[:end])
            found = package.symbol(here)
            if found is None:
                parent = ".".join(parts[: end - 1])
                if symbol is None and end == 1 and (since := package.since(here)):
                    message = f"{package.name} {package.version} has no module {here} ({since})."
                    return Answer(
                        "unknown", message=message, looked_in=package.name, package=package
                    )
                if symbol is None and end < len(parts):
                    continue  # of a namespace package only the parts below are anybody's
                if symbol is None:
                    return Answer("not_checked", package=package)
                return self._missing(package, symbol, parent, parts[end - 1])
            if symbol is not None and symbol.kind == found.kind == "re-export":
                # What is not read is not known to have the member.
                return self._missing(package, symbol, ".".join(parts[: end - 1]), parts[end - 1])
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
        if not package.certain(parent, name) or not self._certain_at_home(package, owner, name):
            return Answer("not_checked", owner, package=package)
        return Answer("unknown", owner, looked_in=parent, absent=name, package=package)

    def explain(
        self, answer: Answer, call: PassedArguments | None = None, *, is_raised: bool = False
    ) -> Answer:
        """Return an answer with what may be meant by a name that is absent; others as they are.

        Args:
            answer: of ``look_up``.
            call: what the name is called with, if it is.
            is_raised: it is raised or caught, so that an exception is meant.
        """
        package, owner, parent, name = (
            answer.package,
            answer.symbol,
            answer.looked_in,
            answer.absent,
        )
        if not name or package is None or owner is None:
            return answer
        near = self.suggest(package, parent, name, owner.kind, call, is_raised=is_raised)
        message = absent(package, owner.kind, parent, name, near)
        return replace(answer, absent="", message=message, suggestions=near)

    def _certain_at_home(self, package: Installed, owner: Symbol, name: str) -> bool:
        """Return whether the package that defines what another offers lacks the name, too."""
        home = owner.target
        if not home or home.partition(".")[0] == owner.path.partition(".")[0]:
            return True
        there = self.resolver.package_for(home)
        return there is None or there.name == package.name or there.certain(home, name)

    def suggest(
        self,
        package: Installed,
        parent: str,
        name: str,
        kind: str = "class",
        call: PassedArguments | None = None,
        *,
        is_raised: bool = False,
    ) -> tuple[str, ...]:
        """Return paths near ``parent.name``: beside it, of that very name elsewhere, then alike.

        Args:
            package: whose names they are.
            parent: what has no such member.
            name: the member.
            kind: of the parent.
            call: what it is called with, if it is: only what can be called is meant then.
            is_raised: it is raised or caught: only an exception is meant then, if there is one.
        """
        key = package.name, parent, name, call, is_raised
        if (given := self._suggested.get(key)) is not None:
            return given
        # Who asks for more has written no code; what is suggested has its price.
        enough = len(self._suggested) >= _MOST_SUGGESTED
        found = () if enough else self._near(package, parent, name, kind, call)
        if is_raised and not enough:
            found = self._exceptions(package, parent, name, found) or found
        self._suggested[key] = found
        return found

    def _exceptions(
        self, package: Installed, parent: str, name: str, found: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the exceptions that may be meant, of what was found and of all beside it."""
        beside = _members(package, parent, name)
        known = [f"{parent}.{each}" for each, symbol in beside.items() if _is_exception(symbol)]
        symbols = ((each, package.symbol(each)) for each in found)
        first = [each for each, symbol in symbols if symbol is not None and _is_exception(symbol)]
        near = nearest(name, known, shaped=False, filled=True)
        return tuple(dict.fromkeys((*first, *near)))[:3]

    def offer(
        self, package: Installed, owner: str, name: str, call: PassedArguments | None = None
    ) -> tuple[str, ...]:
        """Return paths of members of a class that has few, where none is near a name.

        Args:
            package: whose class it is.
            owner: the class, which certainly has no such member.
            name: the member.
            call: what it is called with, if it is.
        """
        if len(self._suggested) >= _MOST_SUGGESTED:
            return ()
        found = _Beside(package, owner, name, call, is_value=True).nearest(name, filled=True)
        return found or _Beside(package, owner, name, None, is_value=True).nearest(
            name, filled=True
        )

    def suggest_own(
        self, owner: str, name: str, names: Callable[[], Iterable[str]]
    ) -> tuple[str, ...]:
        """Return paths near a name of something that the code itself defines.

        Args:
            owner: what has no such member.
            name: the member.
            names: its members' names.
        """
        key = ("", owner, name, None, False)
        if key not in self._suggested:
            enough = len(self._suggested) >= _MOST_SUGGESTED
            paths = [] if enough else [f"{owner}.{each}" for each in names()]
            self._suggested[key] = nearest(name, paths, shaped=False, filled=True)
        return self._suggested[key]

    def _near(
        self,
        package: Installed,
        parent: str,
        name: str,
        kind: str,
        call: PassedArguments | None,
    ) -> tuple[str, ...]:
        beside = _Beside(package, parent, name, call, is_value=kind != "module")
        if kind != "module":
            return beside.nearest(name)
        if package.name not in self._listings:
            is_large = len(package.surface.modules()) > _MOST_LISTED
            public = () if is_large else islice(package.surface.names(), _MOST_NAMES)
            self._listings[package.name] = Listing(public)
        listing, root = self._listings[package.name], parent.partition(".")[0]
        inner = [each for each, symbol in beside.members.items() if symbol.kind == "module"]
        paths = [f"{parent}.{each}.{name}" for each in inner[:_MOST_MODULES]]
        paths += sorted(listing.named(name), key=lambda each: (each.count("."), len(each)))
        homes = islice(package.surface.homes(name), _MOST_MODULES)
        paths += [f"{each}.{name}" for each in homes if each != parent]
        moved = [each for each in paths if _is_importable(package, each)]
        # Of a package with several import names only the one that was meant is searched.
        others = (
            each
            for each in listing.like(name)
            if each.partition(".")[0] == root and _is_importable(package, each)
        )
        # A word that many modules have for something of their own tells nothing.
        is_common = len({each.partition(".")[0] for each in moved}) >= _MANY_MODULES
        alike = beside.nearest(name, others, shaped=True, filled=is_common or not moved)
        first, last = (alike, moved) if is_common else (moved, alike)
        return tuple(dict.fromkeys((*first, *last)))[:3]


class _Beside:
    """The members of a module or class, one of which may be meant.

    Args:
        package: whose it is.
        owner: the module or class.
        name: what is not among them.
        call: what the one that is meant is called with, if it is.
        is_value: the owner is the class of a value, so that what is not called is read.
    """

    def __init__(
        self,
        package: Installed,
        owner: str,
        name: str,
        call: PassedArguments | None,
        *,
        is_value: bool,
    ) -> None:
        self.members = _members(package, owner, name)
        self._owner = owner
        self._call = call
        self._is_value = is_value

    def nearest(
        self, name: str, others: Iterable[str] = (), *, shaped: bool = False, filled: bool = False
    ) -> tuple[str, ...]:
        """Return the paths that are most like a name; the arguments are those of the function."""
        can_be = self.members.items()
        if self._call is not None:
            can_be = {n: e for n, e in self.members.items() if e.kind in CALLABLE}.items()
        return nearest(
            name,
            [f"{self._owner}.{each}" for each, _ in can_be],
            others,
            shaped=shaped,
            filled=filled,
            summaries={f"{self._owner}.{each}": _summary(symbol) for each, symbol in can_be},
            owner=self._owner,
            fits=self._fits,
        )

    def _fits(self, path: str) -> float:
        """Return from -1 to 1 how a member fits what is done with it."""
        symbol = self.members[path.rpartition(".")[2]]
        if symbol.deprecated:
            return -1.0
        if self._call is None:
            is_read = self._is_value and symbol.kind in {"function", "method"}
            return -0.5 if is_read else 0.0
        overloads = symbol.overloads if symbol.parameters is None else (symbol.parameters,)
        if not overloads:
            return 0.0
        if mismatch_of_all(overloads, self._call) is not None:
            return -1.0
        use = self._call.use
        return 0.5 + (_FITS_USE * use.fits(symbol) if use is not None else 0.0)


def _members(package: Installed, owner: str, name: str) -> Mapping[str, Symbol]:
    """Return the members of a module or class; of thousands those that share a word with a name."""
    listed = [*islice(package.surface.listed(owner), _MOST_NAMES)]
    if len(listed) <= _MOST_MEMBERS:
        return package.surface.members(owner) or {}
    mine = {*words(name)}
    alike = sorted(listed, key=lambda each: name_similarity(name, each), reverse=True)
    near = [*alike[:_MOST_ALIKE], *(e for e in listed if not mine.isdisjoint(words(e)))]
    # What each of them is stands in another module, as a rule: only of the best that is read.
    best = heapq.nlargest(_MOST_READ, dict.fromkeys(near[:_MOST_LIKE]), key=partial(_like, name))
    found = {each: package.symbol(f"{owner}.{each}") for each in best}
    return {each: symbol for each, symbol in found.items() if symbol is not None}


def _like(wanted: str, name: str) -> float:
    """Return how like a name is to one that is absent, of which nothing else is known."""
    return likeness(wanted, name, "", {})[0]


def _is_importable(package: Installed, path: str) -> bool:
    """Return whether a path is that of something which a module offers, and no class's member."""
    symbol, above = package.symbol(path), package.symbol(path.rpartition(".")[0])
    return symbol is not None and (above is None or above.kind not in _WITH_MEMBERS)


def _is_exception(symbol: Symbol) -> bool:
    """Return whether a symbol is an exception, by its name or that of a base."""
    is_one = _EXCEPTION.search(symbol.path) or _EXCEPTION.search(symbol.signature)
    return symbol.kind in {"class", "re-export"} and is_one is not None


def _summary(symbol: Symbol) -> str:
    """Return what a symbol's documentation says first."""
    return symbol.docstring.strip().partition("\n\n")[0][:_LONGEST_SUMMARY]


def absent(
    package: Installed, kind: str, parent: str, name: str, suggestions: Sequence[str]
) -> str:
    """Describe a name that is not there, for a caller."""
    message = f"{kind} {parent} of {package.name} {package.version} has no {name}"
    since = package.since(f"{parent}.{name}")
    message += f" ({since})" if since else ""
    if suggestions and suggestions[0].rpartition(".")[2] == name:
        return f"{message}; it is at {suggestions[0]}."
    return f"{message}{advice(name, suggestions)}"


def look_up_all(named: Sequence[tuple[str, tuple[str, ...], int]], resolver: Resolver) -> Verdict:
    """Look up the names that a message speaks of.

    Args:
        named: import name or specifier, what is below it, and the line.
        resolver: where packages are found.
    """
    names, findings, missing = Names(resolver), [], []
    for first, below, line in named:
        package = resolver.package_for(".".join((first, *below)))
        package = package or resolver.package_for(first)
        if package is None and resolver.is_standard(first):
            continue
        if package is None:
            missing.append(first)
            continue
        path = ".".join((first, *below))
        answer = names.explain(names.look_up(path, first))
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
    return Verdict(sort_findings(findings), tuple(dict.fromkeys(missing)))


class CallUse(Protocol):
    """What tells how something fits a call, from -1 to 1; 0 where nothing tells."""

    def fits(self, symbol: Symbol) -> float:
        """Return how a function fits."""
        ...

    def fits_parameter(self, keyword: str, parameter: Parameter) -> float:
        """Return how a parameter fits what is passed by a keyword."""
        ...


@dataclass(frozen=True, slots=True)
class PassedArguments:
    """What a call passes.

    Attributes:
        positional: how many arguments without a name.
        keywords: the names of the others.
        open_positional: ``*rest`` is among them.
        open_keywords: ``**rest`` is.
        use: what tells how something fits the call.
    """

    positional: int
    keywords: tuple[str, ...] = ()
    open_positional: bool = False
    open_keywords: bool = False
    use: CallUse | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a call cannot work.

    Attributes:
        reason: what is wrong.
        given: what the call passes.
        parameters: of what is called; empty where something else than a keyword is wrong.
        keyword: that no parameter has; empty where something else is wrong.
        missing: parameters that the call needs and does not pass.
    """

    reason: str
    given: PassedArguments
    parameters: tuple[Parameter, ...] = ()
    keyword: str = ""
    missing: tuple[str, ...] = ()

    def suggestions(self) -> tuple[str, ...]:
        """Return the names that may be meant, or that are missing."""
        if not self.keyword:
            return self.missing
        return suggest_parameters(self.keyword, self.parameters, self.given)


def suggest_parameters(
    keyword: str, parameters: Sequence[Parameter], given: PassedArguments, owner: str = ""
) -> tuple[str, ...]:
    """Return the parameters that may be meant by a keyword that there is not.

    What the call needs is likelier than anything else, and what takes such values.

    Args:
        keyword: the name.
        parameters: of what is called, without the receiver.
        given: what the call passes.
        owner: what is called.
    """
    by_name = {each.name: each for each in parameters if each.kind in _NAMED}
    spare = [each for each in by_name if each not in given.keywords] or list(by_name)
    missing = set(_missing(parameters, given))

    def fits(name: str) -> float:
        told = given.use.fits_parameter(keyword, by_name[name]) if given.use is not None else 0.0
        return _FITS_USE * told + (name in missing)

    return nearest(keyword, spare, shaped=False, filled=True, owner=owner, fits=fits)


def mismatch(
    parameters: Sequence[Parameter], given: PassedArguments, *, unbound: bool = False
) -> Mismatch | None:
    """Return the first thing that is wrong with a call; None where nothing certainly is.

    Args:
        parameters: of what is called, without the receiver.
        given: what the call passes.
        unbound: the receiver may be among the positional arguments, so only names are looked at.
    """
    kinds = {each.kind for each in parameters}
    keyword = _no_parameter(parameters, given)
    if keyword:
        takes = ", ".join(_by_name(parameters)) or "none"
        reason = f"has no parameter {keyword}; it takes {takes}"
        return Mismatch(reason, given, tuple(parameters), keyword)
    if unbound:
        return None
    positional = [each for each in parameters if each.kind in _PLACED]
    if "var_positional" not in kinds and given.positional > len(positional):
        most = f"at most {len(positional)} positional argument{'s' * (len(positional) != 1)}"
        return Mismatch(f"takes {most}, not {given.positional}", given)
    missing = _missing(parameters, given)
    if not missing:
        return None
    return Mismatch(f"needs {', '.join(missing)}", given, missing=missing)


def mismatch_of_all(
    overloads: Sequence[Sequence[Parameter]], given: PassedArguments, *, unbound: bool = False
) -> Mismatch | None:
    """Return why no overload takes a call; None where one may, or where there are none.

    Args:
        overloads: parameters of each, without the receiver.
        given: what the call passes.
        unbound: as for :func:`mismatch`.
    """
    if not overloads:
        return None
    # A name that none of them has says most; what all of them have is what may be meant.
    every = {each.name: each for one in overloads for each in one}
    named = mismatch(tuple(every.values()), given, unbound=True)
    if named is not None:
        return named
    first: Mismatch | None = None
    for each in overloads:
        wrong = mismatch(each, given, unbound=unbound)
        if wrong is None:
            return None
        first = first or wrong
    return first


def _missing(parameters: Sequence[Parameter], given: PassedArguments) -> tuple[str, ...]:
    """Return the parameters that a call needs and certainly does not pass."""
    if given.open_positional or given.open_keywords:
        return ()
    positional = [each for each in parameters if each.kind in _PLACED]
    filled = {each.name for each in positional[: given.positional]} | set(given.keywords)
    return tuple(
        each.name
        for each in parameters
        if each.required and each.name not in filled and not each.kind.startswith("var_")
    )


def _by_name(parameters: Sequence[Parameter]) -> list[str]:
    return [each.name for each in parameters if each.kind in _NAMED]


def _no_parameter(parameters: Sequence[Parameter], given: PassedArguments) -> str:
    """Return the first name that is passed and that no parameter has; empty where there is none."""
    if any(each.kind == "var_keyword" for each in parameters):
        return ""
    names = set(_by_name(parameters))
    return next((each for each in given.keywords if each not in names), "")
