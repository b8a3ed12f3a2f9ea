"""The record of a language with its capabilities, and the registry of all languages.

Whoever works with any language asks its record; nothing else branches on languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docstow.core import spelling
from docstow.core.errors import InvalidParameter
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from docstow.core.model import Document
    from docstow.core.spelling import Spelling
    from docstow.languages.shared.diff import PackageChange
    from docstow.languages.shared.engines import Engine, Engines
    from docstow.languages.shared.findings import Verdict
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import About, Package, Scan
    from docstow.languages.shared.scanning import Scanning
    from docstow.languages.shared.surface import Surfaces
#: All languages by name, in the order in which a project's environments are told.
LANGUAGES: dict[str, Language] = {}
#: A quoted name; compilers that are asked to speak nicely use curly quotes.
QUOTED = "['\"`\u2018]+([^'\"`\u2019]+)['\"`\u2019]+"


def _know_nothing(_: Package) -> About:
    from docstow.languages.shared.project import About

    return About()


@dataclass(frozen=True, slots=True)
class ModuleGraph:
    """How the files of a package import each other.

    Attributes:
        separator: between the names of a module and what holds it.
        modules: the modules among files: path by name.
        imports: yields what a module imports: the text, its name, its path and all modules.
        module_of: the module that something imported is in.
        outside: the package that something imported from elsewhere is in.
        own: import names of the package itself, which are nobody else's.
    """

    separator: str
    modules: Callable[[Iterable[str]], dict[str, str]]
    imports: Callable[[str, str, str, Mapping[str, str]], Iterator[str]]
    module_of: Callable[[str, Mapping[str, str]], str] = lambda target, _: target
    outside: Callable[[str], str] = lambda target: target
    own: Callable[[Package], set[str]] = lambda _: set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How installed packages are read.

    Attributes:
        reader: id of the reader in recipes; a change of it makes new snapshots.
        surfaces: returns what opens the surfaces of a project's packages.
        documents: yields the documents of a surface that was so opened.
        graph: how files import each other; None where that is not read.
        starts: where a package's files begin, below its ``files_root``.
        owns: whether a path below ``files_root`` is one of the package's own.
        shows_entries: whether the entry module may itself be called, so that its signature says
            something.
        declares: whether packages of the language (not of a dialect) declare all names.
        inherent: names that everything has, which no document tells of.
        by_definition: whether things can be named by where they are written, too.
        augmented: whether other packages may add members to a package's types.
        about: what an installed package says of itself.
    """

    reader: str
    surfaces: Callable[[Scan], Surfaces]
    documents: Callable[[Any], Iterable[Document]]
    graph: ModuleGraph | None = None
    starts: Callable[[Package, Path], list[Path]] = lambda _, root: [root]
    owns: Callable[[Package, str], bool] = lambda *_: True
    shows_entries: bool = False
    declares: bool = False
    inherent: frozenset[str] = frozenset()
    by_definition: bool = False
    augmented: bool = False
    about: Callable[[Package], About] = _know_nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """How code is checked against packages.

    Attributes:
        verify: checks code by what a resolver knows; given the language's name or its alias.
        resolver: answers for a project's packages while one piece of code is checked.
        standard: answers for the language's own modules alone, in a version or any.
        packages: names of packages that an import most likely leads to, the likeliest first.
        engines: the type checkers that judge what our reader leaves open, if there are any.
        judge: has those that are there judge code, with our reader: the engines, the code, the
            language's name or its alias, a resolver, and the environments, of which the first ones
            count first.
    """

    verify: Callable[[str, Resolver, str], Verdict]
    resolver: Callable[[Scan], AbstractContextManager[Resolver]]
    standard: Callable[[str], Resolver]
    packages: Callable[[str], Sequence[str]] = lambda imported: (imported,)
    engines: Sequence[Engine] = ()
    judge: Callable[[Engines, str, str, Resolver, Sequence[Scan]], Verdict] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """How two versions of a package are compared.

    Attributes:
        same: whether two signatures are the same but for spelling.
        changes: yields how a signature changed: the old document, the new kind, and both
            signatures.
        alike: groups of kinds that a user cannot tell apart by how they are used.
        sources: compares the sources of two installed versions: import names, both roots and
            both sides' documents; None where that could not be done.
        notice: what is said of every comparison.
        notice_unread: what is said where sources could not be compared.
    """

    same: Callable[[str, str], bool]
    changes: Callable[[Document, str, str, str], Iterator[PackageChange]]
    alike: tuple[frozenset[str], ...] = ()
    sources: (
        Callable[
            [Sequence[str], Path, Path, Sequence[Document], Sequence[Document]],
            list[PackageChange] | None,
        ]
        | None
    ) = None
    notice: str = ""
    notice_unread: str = ""


def choose_plainly(asked: str, versions: Iterable[str]) -> str | None:
    """Return a version as it is spelled, or the newest where nothing is asked."""
    known = list(dict.fromkeys(versions))
    if asked.strip() in known:
        return asked.strip()
    newest = asked.strip() in ("", "*", "latest", "newest")
    return max(known, key=recency, default=None) if newest else None


def recency(version: str) -> tuple[bool, list[int]]:
    """Return what versions without rules are sorted by: final ones after others, by numbers."""
    final = re.fullmatch(r"[\d.]+", version) is not None
    return final, [int(each) for each in re.findall(r"\d+", version)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """How versions are asked for and ordered.

    Attributes:
        choose: returns the newest of some versions that is asked for, as the language's installer
            would; None where none is. It raises InvalidParameter for what is no request.
        order: returns what versions are sorted by.
    """

    choose: Callable[[str, Iterable[str]], str | None] = choose_plainly
    order: Callable[[str], Any] = recency


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Language:
    """All that a language brings; parts are imported when they are asked for.

    Attributes:
        spelling: how names are written.
        fences: marks of code blocks, by the suffix of a file.
        scanning: how projects are scanned for its packages.
        texts: how texts about it are recognised.
        reading: how installed packages are read; None where they are not.
        checking: how code is checked; None where it is not, or as crates are.
        comparing: how versions of packages are compared.
        examples: what code blocks of the language, or of an alias, are marked with.
        versions: how versions of its packages are chosen.
        install: commands that add a package to a project, with ``{name}`` and ``{version}``.
        registries: what people call its registries, who say these instead of the language.
        documented: whether its packages are stowed.
        runtime: what its packages run on, whose versions they name.
    """

    spelling: Spelling
    fences: Mapping[str, str]
    scanning: Callable[[], Scanning]
    texts: Callable[[], Texts]
    reading: Callable[[], Reading] | None = None
    checking: Callable[[], Checking] | None = None
    comparing: Callable[[], Comparing] | None = None
    examples: tuple[str, ...] = ()
    versions: Callable[[], Versions] = Versions
    install: tuple[str, ...] = ()
    registries: tuple[str, ...] = ()
    documented: bool = True
    runtime: str = ""

    @property
    def name(self) -> str:
        """The language, as callers say it."""
        return self.spelling.name

    @property
    def names(self) -> tuple[str, ...]:
        """The language and its aliases."""
        return (self.spelling.name, *self.spelling.aliases)

    @property
    def kind(self) -> str:
        """The kind of the sources that are its packages."""
        return self.spelling.kind

    @property
    def packaged(self) -> bool:
        """Whether its packages are stowed from where a project has them installed."""
        return self.spelling.packaged


def deferred(reference: str) -> Callable[[], Any]:
    """Return a function that imports what ``module:NAME`` names when it is called."""

    def load() -> Any:
        module, _, name = reference.partition(":")
        return getattr(import_module(module), name)

    return load


def register(language: Language) -> None:
    """Add a language, after those that are there."""
    LANGUAGES[language.name] = language
    spelling.register(language.spelling)


def unregister(language: Language) -> None:
    """Remove a language that was registered."""
    LANGUAGES.pop(language.name, None)
    spelling.unregister(language.spelling)


def of_name(name: str) -> Language | None:
    """Return the language of that name or alias."""
    return next((each for each in LANGUAGES.values() if name in each.names), None)


def of_kind(kind: str) -> Language | None:
    """Return the language whose packages are sources of a kind."""
    return next((each for each in LANGUAGES.values() if kind and each.kind == kind), None)


def of_ecosystem(ecosystem: str) -> Language | None:
    """Return the language whose packages a scan calls so."""
    found = (each for each in LANGUAGES.values() if each.spelling.ecosystem == ecosystem)
    return next(found, None)


def documented() -> tuple[Language, ...]:
    """Return the languages whose packages are stowed, those with crates first."""
    found = (each for each in LANGUAGES.values() if each.documented)
    return tuple(sorted(found, key=lambda each: each.packaged))


def names() -> tuple[str, ...]:
    """Return the names by which callers say a language whose packages are stowed."""
    return tuple(name for each in documented() for name in each.names)


_PREFIX = lazy_pattern(r"([A-Za-z.]+):(?!:)")


@dataclass(frozen=True, slots=True)
class PackageName:
    """A package as callers may write it in one word.

    Attributes:
        name: as its registry spells it, or as it is imported.
        language: whose package; None where the word does not say.
        requirement: the version that is wanted; empty where the word does not say.
    """

    name: str
    language: Language | None = None
    requirement: str = ""


def parse_package(word: str, about: str = "package") -> PackageName:
    """Parse ``flask``, ``tokio@1``, ``python:flask@3.0`` or ``npm:@scope/name@^1``.

    Args:
        word: the package, maybe with its language or registry before a colon, and a version or
            requirement behind an at sign.
        about: the parameter or argument that an error names.

    Raises:
        InvalidParameter: there is no such language, or no name is left.
    """
    language, rest = None, word.strip()
    if prefix := _PREFIX.match(rest):
        said = prefix[1].lower()
        language = of_name(said) or next(
            (e for e in LANGUAGES.values() if said in e.registries), None
        )
        if language is None or not language.documented:
            known = ", ".join(f"{each}:" for each in (*names(), *_registries()))
            raise InvalidParameter(about, f"{word[:80]!r}: before the colon must be one of {known}")
        rest = rest[prefix.end() :]
    # A scope begins with the mark that separates the version.
    at = rest.find("@", 1)
    name, requirement = (rest[:at], rest[at + 1 :]) if at > 0 else (rest, "")
    if not name.strip("@ ") and word.strip():
        raise InvalidParameter(about, f"{word[:80]!r} names no package")
    return PackageName(name.strip(), language, requirement.strip())


def _registries() -> tuple[str, ...]:
    return tuple(name for each in documented() for name in each.registries)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a message says is wrong.

    Attributes:
        package: the import name or specifier that begins it.
        names: what is below it; empty where the whole package is not found.
        line: of the text, from 1.
    """

    package: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class ErrorMessageFormat:
    """Error messages of one program.

    Attributes:
        language: of the code that they complain about.
        marks: found in every such message.
        mentions: yields the names that the lines of a message speak of.
        compiled: whether a compiler words them; its messages are recognised first.
    """

    language: str
    marks: re.Pattern[str]
    mentions: Callable[[Sequence[str]], Iterator[Mention]]
    compiled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """How texts of a language and about it are recognised.

    Attributes:
        messages: forms of error messages.
        imports: finds what code imports; one of its groups has the names, separated by commas.
        is_package: whether an imported name is that of a package, not the language's own.
        code: finds lines that only code of the language has; None where it is not checked.
        dialect: which of the language's names a piece of code is in; its first if empty.
    """

    messages: tuple[ErrorMessageFormat, ...] = ()
    imports: re.Pattern[str] | None = None
    is_package: Callable[[str], bool] = lambda _: True
    code: re.Pattern[str] | None = None
    dialect: Callable[[str], str] = lambda _: ""
