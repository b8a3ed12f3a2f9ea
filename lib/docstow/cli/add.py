"""The command ``add``: guess what a word stands for, say so, and stow it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from docstow.cli import ingest
from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    InvalidParameter,
    PackageNotFound,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.core.model import CRATE, LOCAL
from docstow.ingest.preload import near_popular, popular
from docstow.languages import PYTHON, RUST, TYPESCRIPT, Language, parse_package

if TYPE_CHECKING:
    from docstow.runtime import Runtime

#: Hosts whose pages of ``OWNER/REPO`` are repositories.
_FORGES = ("github.com", "gitlab.com", "codeberg.org", "git.sr.ht", "bitbucket.org")
#: Hosts of pages about one crate, and where in the path its name is.
_CRATE_PAGES = {"docs.rs": 0, "crates.io": 1, "lib.rs": 1}
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(?:@\S+)?")
_LOCATION = re.compile(r"\.{0,2}/|~|[A-Za-z]:\\|\.$")
_RUSTDOC = re.compile(r"\.json(?:\.(?:zst|gz))?$")


@dataclass(frozen=True, slots=True)
class Guess:
    """What a word stands for.

    Attributes:
        kind: of ``docstow ingest KIND``.
        word: as that command takes it.
        what: the same in words.
        others: the commands for what else it could be.
    """

    kind: str
    word: str
    what: str
    others: tuple[str, ...] = ()


def add(
    runtime: Runtime,
    options: argparse.Namespace,
    perform: Callable[[Sequence[str]], int],
) -> int:
    """Stow what each word stands for; one that fails does not stop the rest.

    Args:
        runtime: of this process.
        options: the words, and the kind if the caller says it.
        perform: runs another command of docstow.
    """
    failures = 0
    for word in options.words:
        try:
            guess = (
                Guess(options.kind, word, options.kind) if options.kind else _guess(runtime, word)
            )
        except DocstowError as error:
            failures += 1
            ingest.print_error(error)
            continue
        told = (
            f"docstow: {word} is taken for {guess.what}: docstow ingest {guess.kind} {guess.word}"
        )
        print(told, file=sys.stderr)
        for other in guess.others:
            print(f"docstow: or did you mean: {other}", file=sys.stderr, flush=True)
        failures += perform(["ingest", guess.kind, guess.word]) != 0
    return 1 if failures else 0


def _guess(runtime: Runtime, word: str) -> Guess:
    """Return what a word stands for.

    Raises:
        CrateNotFound: it is a bare word that nobody knows; with near names.
        InvalidParameter: it is the path of nothing.
        UpstreamError, UpstreamTimeout: it is a bare word, and who knows it cannot be asked;
            with near names, too.
    """
    if "://" in word:
        return _of_address(runtime, word)
    path = Path(word).expanduser()
    if path.is_dir():
        return _of_folder(path, word)
    if path.is_file():
        if _RUSTDOC.search(word):
            return Guess("rustdoc", word, "a file of rustdoc JSON")
        raise InvalidParameter(
            "WORD", f"{word} is a file, and rustdoc JSON alone is stowed by file; give its folder"
        )
    if _LOCATION.match(word):
        raise InvalidParameter("WORD", f"{word} is not there")
    if ":" in word:
        return _of_package(word)
    if word.startswith("@"):
        return Guess("package", f"npm:{word}", "a package of Node")
    if _REPOSITORY.fullmatch(word):
        return Guess("github", word, "a repository of GitHub")
    return _of_name(runtime, word)


def _of_address(runtime: Runtime, url: str) -> Guess:
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    names = [each for each in parts.path.split("/") if each]
    at = _CRATE_PAGES.get(host)
    if at is not None and len(names) > at and (host, names[0]) != ("docs.rs", "releases"):
        version = names[at + 1] if len(names) > at + 1 and names[at + 1] != "latest" else ""
        exact = f"@{version}" if version[:1].isdigit() else ""
        return Guess("crate", f"{names[at]}{exact}", "a crate")
    if parts.path.endswith(".git") or (host in _FORGES and len(names) >= 2):
        return Guess("github", url, "a repository")
    preset = runtime.presets.of_site(url)
    known = f", known as {preset.title}" if preset else ""
    return Guess("site", url, f"a website{known}")


def _of_folder(path: Path, word: str) -> Guess:
    project = any((path / name).exists() for name in (".venv", "node_modules"))
    others = (f"docstow ingest project {word}",) if project else ()
    return Guess("folder", word, "a folder of documentation", others)


def _of_package(word: str) -> Guess:
    found = parse_package(word, "WORD")
    if found.language is RUST:
        return Guess("crate", word.partition(":")[2], "a crate")
    return Guess("package", word, f"a package of {_registry(found.language or PYTHON)}")


def _registry(language: Language) -> str:
    return {"python": "Python", "typescript": "Node"}.get(language.name, language.name)


def _of_name(runtime: Runtime, word: str) -> Guess:
    """Return what a bare name stands for: what most people mean by it, or else who has it."""
    name = parse_package(word, "WORD").name
    at = word[len(name) :]
    ranks = {}
    for language in (RUST, PYTHON, TYPESCRIPT):
        key = language.spelling.package_key
        ranked = (n for n, each in enumerate(popular(language)) if key(each) == key(name))
        if (rank := next(ranked, None)) is not None:
            ranks[language.name] = rank
    guesses = []
    if RUST.name in ranks:
        guesses.append(_named(RUST, word))
    if not at and name.lower() in runtime.presets.names():
        preset = runtime.presets.find(name)
        guesses.append(
            Guess(preset.kind, _preset_word(preset.kind, name, preset.uri), preset.title)
        )
    packaged = [each for each in (PYTHON, TYPESCRIPT) if each.name in ranks]
    guesses += [_named(e, word) for e in sorted(packaged, key=lambda each: ranks[each.name])]
    if not guesses:
        guesses = [_named(_find(runtime, word), word)]
    first, *others = guesses
    told = tuple(f"docstow ingest {each.kind} {each.word}" for each in others)
    return Guess(first.kind, first.word, first.what, told)


def _preset_word(kind: str, name: str, uri: str) -> str:
    return name if kind == "site" else uri


def _named(language: Language, word: str) -> Guess:
    if language is RUST:
        return Guess("crate", word, "a crate")
    spelled = {"typescript": "npm"}.get(language.name, language.name)
    return Guess("package", f"{spelled}:{word}", f"a package of {_registry(language)}")


def _find(runtime: Runtime, word: str) -> Language:
    """Return the language whose registry has a package of that name.

    Raises:
        CrateNotFound: none has; with names that come near, of what is stowed and of what is
            well known.
        UpstreamError, UpstreamTimeout: one cannot be asked; with the same names.
    """
    package = parse_package(word, "WORD")
    trouble: UpstreamError | UpstreamTimeout | None = None
    for language, resolve in _registries(runtime):
        try:
            resolve(package.name, package.requirement)
        except (CrateNotFound, PackageNotFound):
            continue
        except (UpstreamError, UpstreamTimeout) as error:
            trouble = trouble or error
            continue
        return language
    kinds = (CRATE, LOCAL, PYTHON.kind, TYPESCRIPT.kind)
    stowed = (name for kind in kinds for name in runtime.snapshots.names(kind))
    near = [{"name": name} for name in near_popular(package.name, stowed)]
    if trouble:
        raise type(trouble)(trouble.message, suggestions=near, **trouble.details) from trouble
    raise CrateNotFound(
        f"{word[:80]} is no crate, no package of Python or Node, no preset, and nothing here",
        suggestions=near,
    )


def _registries(
    runtime: Runtime,
) -> Iterator[tuple[Language, Callable[[str, str], object]]]:
    yield RUST, runtime.resolver.resolve
    for language in (PYTHON, TYPESCRIPT):
        yield language, runtime.installed.registry(language).resolve
