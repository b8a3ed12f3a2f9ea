"""What the maintainers of a package wrote of its changes, beside the items that they name."""

from __future__ import annotations

import builtins
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from docstow.core.model import Document
from docstow.core.patterns import lazy_pattern
from docstow.languages.shared.diff import code_notes
from docstow.text import changelog
from docstow.text.changelog import Note, version_key
from docstow.text.replacements import find_replacements

#: Notes beside one change.
MOST_NOTES = 3
#: A bare name that more items have is said of one of them only where its owner is named, too.
_FEW = 3
#: Characters of what a package is imported as.
_SHORT = 3
#: Notes with more names than this enumerate.
_MANY_NAMES = 12
#: Notes of one name that are looked through.
_MOST_LOOKED = 200
_SEPARATORS = lazy_pattern(r"::|[.#/]")
#: Sentences of an item's own documentation that may say what takes its place.
_OUTDATED = lazy_pattern(
    r"deprecat|renamed|instead|replaced|superseded|in favou?r of|obsolete", re.IGNORECASE
)
_OF_PARAMETER = lazy_pattern(r"argument|parameter|keyword|option", re.IGNORECASE)
#: What older versions say of what is still there; what they renamed or removed is another thing.
_ANNOUNCED = lazy_pattern(r"deprecat|obsolete|superseded", re.IGNORECASE)
_REMOVED = lazy_pattern(r"\bremov(?:ed|al)\b(?! in)", re.IGNORECASE)
#: Places where what is deprecated is kept.
_KEPT = lazy_pattern(r"[.`](?:deprecated|legacy|v1|compat)\.")
#: A paragraph that says so of the item itself.
_SELF_OUTDATED = lazy_pattern(
    r"\W*(?:deprecat|obsolete|(?:use|consider|prefer)\b.{1,160}\binstead\W*$"
    r"|this (?:\w+ ){1,3}(?:is|was|has been) (?:now )?(?:\w+ )?"
    r"(?:deprecat|renamed|replaced|superseded|obsolete))",
    re.IGNORECASE,
)
_WORDS = lazy_pattern(r"\w+")
_FORMERLY = lazy_pattern(
    r"\b(?:previously|formerly) (?:known as|called|named)?[ ]?`+([A-Za-z_$][\w$.]*)`", re.IGNORECASE
)
#: A note and its origin.
Line = tuple[Note, str]

DEPRECATION, CHANGELOG, GUIDE = "deprecation note", "changelog", "migration guide"
DOCUMENTATION, CODE = "documentation", "code"
#: What the standard libraries and run-times offer, and packages that a sentence calls so.
_OUTSIDE = frozenset(
    {
        *sys.stdlib_module_names,
        *dir(builtins),
        *("std", "core", "alloc"),
        *("AbortController", "AbortSignal", "Array", "Blob", "BigInt", "Buffer", "Date", "Error"),
        *("FormData", "Headers", "Intl", "JSON", "Map", "Math", "Object", "Promise", "Proxy"),
        *("Request", "Response", "ReadableStream", "Set", "String", "Symbol", "TextDecoder"),
        *("TextEncoder", "URL", "URLSearchParams", "Uint8Array", "WeakMap", "WeakRef"),
        *("fetch", "structuredClone", "queueMicrotask", "globalThis", "process"),
    }
    - {"copyright", "credits", "exit", "help", "license", "quit", "this", "test", "code"}
)
_MOVED_OUT = lazy_pattern(
    r"\b(?:moved|split|extracted) (?:out )?(?:in)?to (?:the |a )?(?:new |separate )?"
    r"`+(@?[\w./-]+)`+ (?:package|library|crate)",
    re.IGNORECASE,
)
_OTHER_PACKAGE = lazy_pattern(
    r"`+(@?[\w./-]+)`+ (?:package|library|crate|module)"
    r"|\bimport(?:ed)? (?:\S+ )?from `+(@?[\w./-]+)`+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Successor:
    """What takes the place of a name.

    Attributes:
        names: its path where the version has it, else as it is written; several where the text
            gives several.
        origin: who says so: ``code``, ``deprecation note``, ``changelog``, ``migration guide`` or
            ``documentation``.
        text: what is said.
        version: of the changelog's entry; empty elsewhere.
    """

    names: tuple[str, ...]
    origin: str
    text: str
    version: str = ""


def deprecation_note(attributes: Mapping[str, Any]) -> str:
    """Return why an item is deprecated; empty where it is not, or no reason is given."""
    stated = attributes.get("deprecated")
    if isinstance(stated, Mapping):
        return str(stated.get("note") or "")
    return str(stated) if isinstance(stated, str) and stated != "deprecated" else ""


def parameter_names(document: Document) -> frozenset[str]:
    """Return the words of an item's header, its parameters among them."""
    header = f"{document.signature} {document.attributes.get('constructor', '')}"
    return frozenset(_WORDS.findall(header))


def is_outdated(document: Document) -> bool:
    """Return whether an item's own documentation says that something else should be used."""
    if document.attributes.get("deprecated"):
        return True
    return any(_SELF_OUTDATED.match(each) for each in _outdated_paragraphs(document.text))


class History:
    """The changelogs, guides and READMEs of a package, read for some of its versions.

    Args:
        package: its name.
        pages: of the package; of others than pages only what code says of names that went is read.
        names: paths of the items of the version that is moved to, from which successors come.
        after: the version that is moved from; its notes and older ones are left out.
        upto: the version that is moved to; later notes are left out. Empty for no bound.
        former: paths of the version that is moved from.
    """

    def __init__(
        self,
        package: str,
        pages: Iterable[Document],
        names: Iterable[str],
        *,
        after: str = "",
        upto: str = "",
        former: Iterable[str] = (),
    ) -> None:
        self._package = package
        documents = list(pages)
        self._pages = []
        #: Items whose documentation gives what they were called, by that name.
        self._formerly: dict[str, list[tuple[str, str]]] = defaultdict(list)
        #: What tables in the code say of names, by what the names end in.
        self._moved: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for document in documents:
            if document.kind == "page":
                self._pages.append(document)
            elif (former_name := _FORMERLY.search(document.text)) is not None:
                above = document.path[: -len(_last(document.path))]
                self._formerly[_last(former_name[1])].append((above, document.path))
        for path, said in code_notes(documents).items():
            self._moved[_last(path)].append((path, said))
        self._after = version_key(after) if after else None
        self._upto = version_key(upto) if upto else None
        self._paths: dict[str, list[str]] = defaultdict(list)
        for each in dict.fromkeys(names):
            self._paths[_last(each)].append(each)
        self._all = {each for paths in self._paths.values() for each in paths}
        self._known = set().union(*self._paths.values())
        self._lasts = Counter({last: len(paths) for last, paths in self._paths.items()})
        gone = {each for each in former if each not in self._known}
        self._lasts.update(_last(each) for each in gone)

    @cached_property
    def lines(self) -> Sequence[Line]:
        """The notes of the versions in between, and of guides, each with its origin."""
        return [(note, origin) for note, origin in self._read if self._is_late(note)]

    @cached_property
    def _earlier(self) -> Sequence[Line]:
        """The notes of the versions before, which may have announced what goes now."""
        return [(note, origin) for note, origin in self._read if not self._is_late(note)]

    def _is_late(self, note: Note) -> bool:
        key = version_key(note.version)
        return not note.version or self._after is None or key > self._after

    @cached_property
    def _read(self) -> Sequence[Line]:
        found: dict[tuple[str, str], Line] = {}
        for page in self._pages:
            guide = changelog.is_guide(page.path, page.title)
            whole = changelog.is_history(page.path, page.title)
            version = changelog.title_version(page.title, self._package)
            version = version or changelog.title_version(page.path.rpartition("/")[2])
            for note in changelog.read_notes(page.text, self._package, version if whole else ""):
                later = self._upto is not None and version_key(note.version) > self._upto
                if (note.version and not later) or (guide and not note.version):
                    line = note, GUIDE if guide else CHANGELOG
                    found.setdefault((note.text, note.version), line)
        return list(found.values())

    def notes(self, path: str, parameter: str = "") -> list[Note]:
        """Return the notes that name an item, those that are most about it first.

        Args:
            path: of the item.
            parameter: of the item, where the parameter is meant.
        """
        return [note for note, _ in islice(self._about(path, parameter), MOST_NOTES)]

    def successor(
        self,
        path: str,
        deprecations: Iterable[str] = (),
        texts: Iterable[str] = (),
        *,
        stays: bool = False,
    ) -> Successor | None:
        """Return what takes the place of an item; None where nobody says it.

        Args:
            path: of the item.
            deprecations: notes of its deprecation in any version.
            texts: its documentation in older versions.
            stays: it is still there, so that lines of changelogs may be about something of it.
        """
        told = [(text, CODE) for text in self._told_by_code(path)]
        told += [(text, DEPRECATION) for text in dict.fromkeys(deprecations)]
        found = self._first_named(told, path) or self._renamed(path)
        if found is None and not stays:
            found = self._successor_in_lines(path)
        found = found or self._successor_in_documentation(path, texts)
        if found is not None or path in self._all:
            return found
        kept = [(text, CODE) for text in self._told_by_code(path, kept=True)]
        return self._first_named(kept, path) or self._successor_of_module(path)

    def _first_named(self, told: Iterable[tuple[str, str]], path: str) -> Successor | None:
        """Return what the first of some statements about an item names; each has an origin."""
        for text, origin in told:
            if names := self._named_own(text, path):
                return Successor(names, origin, text)
        return None

    def _renamed(self, path: str) -> Successor | None:
        """Return the item whose documentation says that it was called so."""
        last = _last(path)
        for above, new in self._formerly.get(last, ()):
            if path == f"{above}{last}" and new != path:
                said = f"`{new}` was previously known as `{last}`"
                return Successor((new,), DOCUMENTATION, said)
        return None

    def _successor_in_lines(self, path: str) -> Successor | None:
        last = _last(path)
        for note, origin in self._going_lines(path):
            own = last in _lasts(note.section) and last not in _WORDS.findall(note.text)
            given = find_replacements(note.text, last, own=own)
            if names := self._named(given, path, note.text):
                return Successor(names, origin, note.text, note.version)
        return None

    def _successor_in_documentation(self, path: str, texts: Iterable[str]) -> Successor | None:
        for text in texts:
            for paragraph in islice(_outdated_paragraphs(text), MOST_NOTES):
                own = _SELF_OUTDATED.match(paragraph) is not None
                given = find_replacements(paragraph, _last(path), own=own)
                if names := self._named(given, path, paragraph):
                    return Successor(names, DOCUMENTATION, paragraph)
        return None

    def _going_lines(self, path: str, parameter: str = "") -> Iterator[Line]:
        """Yield the notes about an item, then those of older versions that announce its end."""
        yield from self._about(path, parameter)
        for note, origin in self._about(path, parameter, earlier=True):
            # What was removed before is another item.
            told = _ANNOUNCED.search(note.text) and not _REMOVED.search(note.text)
            if told and self._is_of_owner(note, path):
                yield note, origin

    def _successor_of_module(self, path: str) -> Successor | None:
        """Return what takes the place of the whole module that an item was in."""
        owner = path[: -len(_last(path))].rstrip(".:#/")
        if not owner.islower() or len(_parts(owner)) < 2:
            return None
        last = _last(owner)
        for note, origin in self._about(owner, ""):
            found = find_replacements(note.text, last) if _OUTDATED.search(note.text) else ()
            if names := self._named(found, owner, note.text):
                return Successor(names, origin, note.text, note.version)
        return None

    def successor_of_parameter(
        self, path: str, parameter: str, texts: Iterable[str] = (), taken: Collection[str] = ()
    ) -> Successor | None:
        """Return what takes the place of a parameter of an item; None where nobody says it.

        Args:
            path: of the item.
            parameter: its name.
            texts: documentation of the item in any version.
            taken: parameters of the item in the version that is moved to.
        """

        def known(given: Iterable[str], text: str) -> tuple[str, ...]:
            names = [each for each in given if each != parameter]
            own = tuple(each for each in names if _last(each) in taken)
            return own or self._named(names, f"{path}.{parameter}", text)

        for note, origin in self._going_lines(path, parameter):
            if names := known(find_replacements(note.text, parameter), note.text):
                return Successor(names, origin, note.text, note.version)
        named = re.compile(rf"(?<!\w){re.escape(parameter)}(?!\w)")
        for text in texts:
            for paragraph in islice(filter(named.search, _outdated_paragraphs(text)), MOST_NOTES):
                if names := known(find_replacements(paragraph, parameter), paragraph):
                    return Successor(names, DOCUMENTATION, paragraph)
        return None

    def breaking_notes(self, paths: Iterable[str]) -> list[Note]:
        """Return the breaking notes of the versions in between that name none of some items."""
        by_last: dict[str, list[str]] = defaultdict(list)
        for each in paths:
            by_last[_last(each)].append(each)
        return [
            note
            for note, origin in self.lines
            if note.breaking
            and origin == CHANGELOG
            and not note.text.endswith(":")
            and not self._names_any(note, by_last)
        ]

    def _names_any(self, note: Note, by_last: Mapping[str, Sequence[str]]) -> bool:
        return any(
            self._is_about(note, name, path)
            for name in note.names
            for path in by_last.get(_last(name), ())[:_MOST_LOOKED]
        )

    @cached_property
    def _places(self) -> Mapping[str, Sequence[Line]]:
        return _by_name(self.lines)

    @cached_property
    def _earlier_places(self) -> Mapping[str, Sequence[Line]]:
        return _by_name(self._earlier)

    def _about(self, path: str, parameter: str, *, earlier: bool = False) -> Iterator[Line]:
        """Yield the notes that name an item, the most telling first; the newest of those before."""
        places = self._earlier_places if earlier else self._places
        last = parameter or _last(path)
        rated = []
        for place, (note, origin) in enumerate(places.get(last, ())[:_MOST_LOOKED]):
            if parameter:
                # ``app=...`` is how a parameter is given.
                given = re.search(rf"`{re.escape(last)}\s*=(?!=)", note.text) is not None
                said = given or _OF_PARAMETER.search(note.text) is not None
                about = said or self._is_of_owner(note, path)
            else:
                about = any(
                    self._is_about(note, name, path) for name in note.names if _last(name) == last
                )
            if about:
                inside = re.search(rf"(?<!\w){re.escape(last)}(?!\w)", note.text) is not None
                told = bool(find_replacements(note.text, last))
                rate = (not told, not inside, len(note.names) > _MANY_NAMES, not note.breaking)
                rated.append((rate, place, (note, origin)))
        for _, _, line in sorted(rated, key=lambda each: each[:2]):
            yield line

    def _is_about(self, note: Note, name: str, path: str) -> bool:
        """Return whether a name in a note means an item."""
        written, parts = _parts(name), _parts(path)
        if not written or written[-1] != parts[-1]:
            return False
        if len(written) > 1:
            return _is_owner(written[-2], parts[:-1], self._package)
        return self._lasts[parts[-1]] <= _FEW or self._is_of_owner(note, path)

    def _is_of_owner(self, note: Note, path: str) -> bool:
        """Return whether a note names the owner of what it may be about."""
        words = {each.lower() for each in _WORDS.findall(f"{note.text} {note.section}")}
        parts = _parts(path)
        package = _fold(self._package)
        owner = parts[-2] if len(parts) > 1 else ""
        # What the package itself offers has no other owner that could be named.
        return _fold(owner) in {"", package} or owner.lower() in words

    def _told_by_code(self, path: str, *, kept: bool = False) -> Iterator[str]:
        """Yield what tables in the code say of a name, of the same place before others.

        Args:
            path: of the item.
            kept: what is said of places where deprecated things are kept, instead of the rest.
        """
        found = [each for each in self._moved.get(_last(path), ()) if _KEPT.search(each[1]) is None]
        if kept:
            found = [each for each in self._moved.get(_last(path), ()) if each not in found]
        yield from (said for stated, said in found if stated == path)
        owner = path.rpartition(".")[0]
        for stated, said in found:
            above = stated.rpartition(".")[0]
            # A name is offered from several places; what tables of options name, classes have.
            of_class = owner.rpartition(".")[2][:1].isupper()
            near = f"{above}.".startswith(f"{owner}.") or (
                of_class and f"{owner}.".startswith(f"{above}.")
            )
            if stated != path and near:
                yield said

    def _named_own(self, text: str, path: str) -> tuple[str, ...]:
        """Return what a text about an item names instead of it, in words or as another package."""
        last = _last(path)
        moved = _MOVED_OUT.search(text)
        if moved is not None and _fold(package := moved[1].strip("./")) != _fold(self._package):
            return (f"{package.replace('-', '_')}.{last}",)
        return self._named(find_replacements(text, last, own=True), path, text)

    def _named(self, names: Iterable[str], path: str, text: str) -> tuple[str, ...]:
        """Return names as the newer version has them; those of no known place are left out."""
        given = list(names)
        found = [each for name in given if (each := self._resolve(name, path)) is not None]
        if found:
            return tuple(dict.fromkeys(found))
        return tuple(each for each in given if self._is_outside(each, path, text))

    def _is_outside(self, name: str, path: str, text: str) -> bool:
        """Return whether a name that the version lacks is one of another package, or below one."""
        written, here = _parts(name), _parts(path)
        if not written or written == here[-len(written) :]:
            return False
        first = written[0]
        if first in _OUTSIDE:
            return len(written) > 1 or not first.islower() or f"`{first}" in text
        if len(written) > 1 and self._resolve(".".join(written[:-1]), path) is not None:
            # A member of what is there, of a type that lists none.
            return True
        packages = {_fold("".join(each)) for each in _OTHER_PACKAGE.findall(text)}
        return len(written) > 1 and _fold(first) in packages

    def _resolve(self, name: str, path: str) -> str | None:
        """Return the path of the newer version that a name means, beside what goes if it can be."""
        written, gone = _parts(name), _parts(path)
        if not written:
            return None
        fitting = []
        for each in self._paths.get(written[-1], ()):
            parts = _parts(each)
            if each == path or (
                len(written) > 1 and not _is_owner(written[-2], parts[:-1], self._package)
            ):
                continue
            common = next(
                (at for at, (a, b) in enumerate(zip(parts, gone, strict=False)) if a != b),
                min(len(parts), len(gone)),
            )
            exact = parts[-len(written) :] == written
            if len(parts) == 2 and len(written) > 1 and not exact and not self._is_alias(written):
                continue
            of_class = parts[-2][:1].isupper()
            of_package = len(written) == 2 and _fold(written[0]) == _fold(self._package)
            if of_class and of_package and not exact:
                # A name of the package itself is not one of its classes.
                continue
            fitting.append((not exact, -common, len(parts), each))
        if not fitting:
            return None
        best = min(fitting)
        # A name alone is of what is beside the item, or offered by the package itself.
        beside = -best[1] >= len(gone) - 1 or best[2] == 2
        return best[-1] if len(written) > 1 or beside or len(fitting) == 1 else None

    def _is_alias(self, written: Sequence[str]) -> bool:
        """Return whether what is before a name is the package: ``np.all``, ``z.iso.date``."""
        return _fold(written[0]) == _fold(self._package) or len(written[-2]) <= _SHORT


def _by_name(lines: Iterable[Line]) -> Mapping[str, Sequence[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        for last in dict.fromkeys(map(_last, line[0].names)):
            found[last].append(line)
    return found


def _parts(path: str) -> list[str]:
    return [each for each in _SEPARATORS.split(path.rstrip("()!")) if each]


def _last(path: str) -> str:
    return _SEPARATORS.split(path.rstrip("()!"))[-1]


def _lasts(text: str) -> set[str]:
    return {_last(each) for each in changelog.names_in(text)}


def _fold(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _is_owner(written: str, owners: Sequence[str], package: str) -> bool:
    """Return whether a name before a dot may be what holds an item: itself, or what holds it."""
    if not owners or written in owners:
        return True
    short, folded = _fold(written), _fold(owners[-1])
    if short in {_fold(package), "self", "cls"} or len(owners) == 1:
        return True
    # What is written in lower case stands for an object: ``app.get`` for ``Application.get``.
    return written.islower() and len(short) > 1 and short in folded


def _outdated_paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if len(paragraph) < 1500 and _OUTDATED.search(paragraph):
            yield " ".join(paragraph.split())
