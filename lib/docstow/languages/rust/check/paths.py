"""Whether a Rust path exists, and what to say where it does not.

This room knows paths whose imports are resolved. It does not know syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.core.versions import Version
from docstow.languages.rust.check.crate_names import (
    OPAQUE,
    TYPES,
    CrateNames,
    Crates,
    Found,
    Members,
    standard,
)
from docstow.languages.rust.check.scope import LOCAL_ROOTS, Scope, segments
from docstow.languages.rust.check.scope import Segments as _Segments
from docstow.languages.rust.check.std import (
    KNOWN,
    PRELUDE_TYPES,
    PRIMITIVES,
    STANDARD,
    is_standard,
    standard_types,
    std_traits,
)
from docstow.languages.shared.findings import Status
from docstow.languages.shared.suggestions import likeness

if TYPE_CHECKING:
    from tree_sitter import Node


Segments = tuple[str, ...]


ByTrait = Callable[[str], bool]


_MOST_HOPS = 4


#: So many absent names are looked for elsewhere in one piece of code; nobody reads more.
MOST_EXPLAINED = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a path.

    Attributes:
        status: as in a finding.
        found: the items it means; several where namespaces share a name.
        message: what is wrong.
        suggestions: nearest valid paths.
        names: the crate that was asked.
        looked_in: the path that has no such member.
    """

    status: Status
    found: tuple[Found, ...] = ()
    message: str = ""
    suggestions: tuple[str, ...] = ()
    names: CrateNames | None = None
    looked_in: str = ""


NOT_CHECKED = Answer("not_checked")


class Paths:
    """What absolute paths mean, for one piece of code: each is looked up once.

    Args:
        crates: where crates are found.
    """

    def __init__(self, crates: Crates) -> None:
        self.crates = crates
        self.members = Members(crates)
        self._answers: dict[tuple[Segments, ByTrait | None], Answer] = {}
        self._others: dict[str, Sequence[CrateNames]] = {}
        self._explained = 0

    def crate(self, name: str) -> CrateNames | None:
        """A crate, or the standard library, by the first name of a path."""
        return standard() if is_standard(name) else self.crates.crate(name)

    def look_up(
        self, path: Segments, by_trait: ByTrait | None = None, hops: int = _MOST_HOPS
    ) -> Answer:
        """What an absolute path means.

        Args:
            path: the crate's name first.
            by_trait: whether a trait in view may bring a name to types that do not have it; any
                trait may if nothing is given.
            hops: how many re-exports may still be followed.
        """
        key = (path, by_trait)
        if key not in self._answers or hops < _MOST_HOPS:
            self._answers[key] = self._look_up(path, by_trait, hops)
        return self._answers[key]

    def _look_up(self, path: Segments, by_trait: ByTrait | None, hops: int) -> Answer:
        names = self.crate(path[0])
        if names is None or hops == 0:
            return NOT_CHECKED
        if len(path) == 1:
            return Answer(
                "ok", names.find(path[0] if names.root == "std" else names.root), names=names
            )
        whole = names.whole(path)
        if found := names.find(whole):
            return _known(whole, found, names)
        return self._missing(path, names, by_trait, hops)

    def _missing(
        self, path: Segments, names: CrateNames, by_trait: ByTrait | None, hops: int
    ) -> Answer:
        """A path that is not found: the longest part of it that is tells why."""
        for end in range(len(path) - 1, 0, -1):
            found = names.find(names.whole(path[:end]))
            if not found:
                continue
            found = _with_members(found)
            if (meant := self.aliased(found)) is not None:
                return self.look_up((*meant.split("::"), *path[end:]), by_trait, hops - 1)
            if any(each.kind in OPAQUE for each in found):
                return self._elsewhere(found, path[end:], names, by_trait, hops)
            return self._absent(found, path, end, by_trait)
        return NOT_CHECKED

    def _elsewhere(
        self,
        found: Sequence[Found],
        rest: Segments,
        names: CrateNames,
        by_trait: ByTrait | None,
        hops: int,
    ) -> Answer:
        """Below a re-export it is the other crate that answers.

        That a name is there is believed of any version; that it is not, only of the version which
        the crate's own docs were made with, or a later one that is compatible.
        """
        for each in found:
            target = names.re_exports.get(each.path)
            if each.kind == "re-export" and target and target.split("::")[0] not in STANDARD:
                answer = self.look_up((*target.split("::"), *rest), by_trait, hops - 1)
                if answer.status == "ok":
                    return answer
                if answer.status == "unknown" and len(found) == 1 and _meant(target, names, answer):
                    return _seen_through(answer, target, each.path)
        return NOT_CHECKED

    def _absent(
        self, found: Sequence[Found], path: Segments, end: int, by_trait: ByTrait | None
    ) -> Answer:
        names, name = found[0].names, path[end]
        for owner in found:
            if names.gaps.hides(owner.path, name):
                return NOT_CHECKED
            if owner.kind == "module":
                continue
            if (
                by_trait is None
                or by_trait(name)
                or not self.members.lacks(owner, name, by_path=True)
            ):
                return NOT_CHECKED
        if names.gaps.shows("::".join(path[: end + 1])):
            return NOT_CHECKED
        owner = next((each for each in found if each.kind in {"module", *TYPES}), found[0])
        if owner.kind not in {"module", "trait", *TYPES}:
            return NOT_CHECKED
        suggestions = self._instead(owner, path, end)
        whole = "::".join((owner.path, *path[end:]))
        message = self.explain(owner, name, whole, suggestions)
        return Answer("unknown", (), message, suggestions, names, owner.path)

    def _instead(self, owner: Found, path: Segments, end: int) -> tuple[str, ...]:
        """What is likely meant by a path of which only a part is there."""
        if not self.may_explain():
            return ()
        names, name = owner.names, path[end]
        if owner.kind != "module":
            return self.members.nearest(owner, name)
        suggestions = names.suggest(owner.path, name)
        if end == len(path) - 1:
            return suggestions
        # The module is missing: what was wanted of it may be elsewhere.
        wanted = names.suggest(owner.path, path[-1])
        intended = "::".join((owner.path, *path[end:]))
        exact = [each for each in wanted if each.rpartition("::")[2] == path[-1]]
        exact.sort(key=lambda each: -likeness(intended, each))
        if exact:
            return tuple(dict.fromkeys((*exact, *suggestions)))[:3]
        whole_there = "::".join((*suggestions[:1], *path[end + 1 :]))
        return (whole_there, *suggestions[:2]) if names.find(whole_there) else suggestions

    def aliased(self, found: Sequence[Found]) -> str | None:
        """The path of the type that ``pub type Name = Other;`` means, where that is certain.

        It is the crate's own, or that of a crate which this one shows as a whole: signatures have
        last names alone, so what it takes must fit too.
        """
        if len(found) != 1 or found[0].kind != "type_alias":
            return None
        names, read = found[0].names, _ALIAS.fullmatch(found[0].signature.strip())
        if read is None:
            return None
        name, given = read[1], [each.strip() for each in (read[2] or "<>")[1:-1].split(",")]
        paths = [path for path in names.types_by_title.get(name, ()) if path != found[0].path]
        if not read[2] and name not in standard_types():
            return paths[0] if len(paths) == 1 else None
        own = any(each in names.types_by_title for each in given)
        if paths or not own:
            return None
        shown = [self.crate(each) for each in names.re_exports.values() if "::" not in each]
        there = [path for each in shown if each for path in each.types_by_title.get(name, ())]
        fitting = len(there) == 1 and self._takes(there[0], len(given))
        return there[0] if fitting else None

    def _takes(self, path: str, count: int) -> bool:
        """Whether a type has as many parameters."""
        found = self.look_up(tuple(path.split("::"))).found
        reads = [_PARAMETERS.match(each.signature) for each in found if each.kind in TYPES]
        return any(read is not None and read[1].count(",") + 1 == count for read in reads)

    def may_explain(self) -> bool:
        """Whether one more absent name may be looked for elsewhere."""
        self._explained += 1
        return self._explained <= MOST_EXPLAINED

    def explain(self, owner: Found, name: str, whole: str, suggestions: Sequence[str]) -> str:
        """What a caller is told of a name that is not there."""
        names = owner.names
        said = f"{owner.kind} {owner.path} of {names.package} {names.version} has no {name}"
        for other in self._other_versions(names):
            if other.find(whole):
                word = "removed since" if _older(other, names) else "new in"
                said += f"; {word} {other.version}"
                break
        first = suggestions[0] if suggestions else ""
        above, _, last = first.rpartition("::")
        in_module = any(each.kind == "module" for each in names.find(above))
        if first and in_module and last == whole.rpartition("::")[2]:
            return f"{said}; moved to {first}."
        return f"{said}{f'; did you mean {first}?' if first else '.'}"

    def _other_versions(self, names: CrateNames) -> Sequence[CrateNames]:
        if names.root not in self._others:
            self._others[names.root] = self.crates.other_versions(names.root)
        return self._others[names.root]


def _known(whole: str, found: tuple[Found, ...], names: CrateNames) -> Answer:
    notes = [each.attributes.get("deprecated") for each in found]
    if not all(notes):
        return Answer("ok", found, names=names)
    note = notes[0]
    reason = str(note.get("note") or "") if isinstance(note, dict) else ""
    since = str(note.get("since") or "") if isinstance(note, dict) else ""
    said = f"{whole} is deprecated{f' since {since}' if since else ''}"
    return Answer("deprecated", found, f"{said}{f': {reason}' if reason else '.'}", names=names)


def _with_members(found: tuple[Found, ...]) -> tuple[Found, ...]:
    """Of things that share a name those that can have members: a module before a function."""
    some = tuple(each for each in found if each.kind not in {"function", "constant", "macro"})
    return some or found


_ALIAS = re.compile(r"pub type \w+(?:<.*?>)? = (\w+)(<.*>)?;")


_PARAMETERS = re.compile(r"pub (?:struct|enum|union) \w+<([^>]*)>")


def _meant(target: str, names: CrateNames, answer: Answer) -> bool:
    """Whether the crate that was asked is the one that a re-export leads to."""
    external = names.index.snapshot.facts.get("externals", {}).get(target.split("::")[0], {})
    version, asked = external.get("version", ""), answer.names
    if not version or asked is None or asked.root != target.split("::")[0]:
        return False
    wanted, given = Version.parse(version), Version.parse(asked.version)
    return given >= wanted and version.split(".")[0] == asked.version.split(".")[0] != "0"


def _seen_through(answer: Answer, target: str, here: str) -> Answer:
    """What is said of another crate's path, as the crate that shows it has it."""
    message, shown = answer.message, []
    for path in answer.suggestions:
        below = f"{path}::".startswith(f"{target}::")
        other = f"{here}{path[len(target) :]}" if below else path
        shown.append(other)
        message = message.replace(f" {path}.", f" {other}.").replace(f" {path}?", f" {other}?")
    return replace(answer, suggestions=tuple(shown), message=message)


def _older(one: CrateNames, other: CrateNames) -> bool:
    return Version.parse(one.version) < Version.parse(other.version)


# The paths that names in Rust code mean


#: Code with more globs is not looked through.
_MOST_GLOBS = 40


class Meant:
    """What the names of one piece of code mean.

    Args:
        names: its scope.
        paths: where its paths are looked up.
    """

    def __init__(self, names: Scope, paths: Paths) -> None:
        self._scope = names
        self._paths = paths

    def own(self, name: str) -> bool:
        """Whether the code itself says what a name is."""
        return name in self._scope.declared or name in self._scope.imports

    def declares(self, name: str) -> bool:
        """Whether the code defines a name itself."""
        return name in self._scope.declared

    def imports(self, name: str) -> bool:
        """Whether the code imports a name."""
        return name in self._scope.imports

    def expanded(self, path: _Segments) -> _Segments:
        """A path through the imports; empty where it is not certain."""
        return self._scope.expand(path) or ()

    def absolute(self, node: Node) -> _Segments | None:
        """The path that a node means, the crate's name first; None where it is not certain."""
        path = segments(node) if not node.has_error else None
        return self.path(path) if path else None

    def path(self, path: _Segments) -> _Segments | None:
        """The path that names mean, the crate's first; None where it is not certain."""
        if path[0] in LOCAL_ROOTS:
            return None
        first = path[0]
        if first in self._scope.imports:
            return self._imported(path)
        if first in self._scope.declared:
            return None
        if first in PRIMITIVES:
            return path
        if first == "":
            return self._rooted(path[1:])
        if len(path) > 1 and (first[0].islower() or first[0] == "_"):
            known = self._paths.crate(first) is not None
            return self._rooted(path) if known or not self._scope.globs else None
        return self._through_globs(path) or self._from_prelude(path)

    def named(self, path: _Segments) -> _Segments | None:
        """A single name, only where an import or the prelude says what it is."""
        if path[0] in self._scope.imports:
            return self._imported(path)
        if path[0] in self._scope.declared or not path[0][:1].isupper():
            return None
        return self._through_globs(path) or self._from_prelude(path)

    def _imported(self, path: _Segments) -> _Segments | None:
        """Of ``use std::f64`` the module or, where it has no such name, the primitive."""
        absolute = self._rooted(self._scope.expand(path))
        if path[0] in PRIMITIVES and absolute and absolute[0] in STANDARD:
            found = self._paths.look_up(absolute).found
            return absolute if found or len(path) == 1 else path
        return absolute

    def _rooted(self, path: _Segments | None) -> _Segments | None:
        return path if path and path[0] not in LOCAL_ROOTS else None

    def _from_prelude(self, path: _Segments) -> _Segments | None:
        known = PRELUDE_TYPES.get(path[0])
        return (*known.split("::"), *path[1:]) if known is not None else None

    def _through_globs(self, path: _Segments) -> _Segments | None:
        """A name that one glob, and no other, brings in."""
        if path[0] not in self._by_glob:
            bases = self._globbed
            fitting = {base for base in bases or () if self._paths.look_up((*base, path[0])).found}
            self._by_glob[path[0]] = fitting.pop() if len(fitting) == 1 else None
        base = self._by_glob[path[0]]
        return (*base, *path) if base is not None else None

    @cached_property
    def _by_glob(self) -> dict[str, _Segments | None]:
        return {}

    @cached_property
    def _globbed(self) -> list[_Segments] | None:
        """The modules whose names are all brought in; None where one of them is not known."""
        found: dict[_Segments, None] = {}
        for base in dict.fromkeys(self._scope.globs):
            absolute = self._scope.expand(base) if base and base[0] not in LOCAL_ROOTS else None
            if absolute is None or self._paths.crate(absolute[0]) is None:
                return None
            found.setdefault(absolute)
            if len(found) > _MOST_GLOBS:
                return None
        return list(found)


# Which names the traits in view of a piece of Rust code may bring to any type.


class View:
    """The traits that one piece of code has in view; those that need no import are left out.

    Args:
        names: its scope.
        paths: where its paths are looked up.
    """

    def __init__(self, names: Scope, paths: Paths) -> None:
        self._scope = names
        self._paths = paths
        self._names: set[str] = set()
        #: Whether a trait is in view of which nobody knows what it brings.
        self._anything = False

    @property
    def complete(self) -> bool:
        """Whether the code has whole items, and not statements alone."""
        return self._scope.complete

    def by_trait(self, name: str) -> bool:
        """Whether a trait that is in view may bring a name to types that do not have it."""
        if name in self._scope.declared or not self._imports:
            return True  # the imports that the code needs are left out
        return self._looked and (self._anything or name in self._names)

    @cached_property
    def _imports(self) -> bool:
        """Whether the code seems to have all of its imports."""
        return bool(self._scope.leaves or self._scope.complete) and self._scope.closed

    @cached_property
    def _looked(self) -> bool:
        """Look at all imports, once; always true."""
        targets = {path for paths in self._scope.imports.values() for path in paths}
        targets |= {leaf.path for leaf in self._scope.leaves if leaf.alias == "_"}
        for path in targets:
            self._add(path)
        for path in dict.fromkeys(self._scope.globs):
            self._add_glob(path)
        return True

    def _add(self, path: _Segments) -> None:
        if path[-1][:1].islower() and path[0] not in LOCAL_ROOTS:
            return  # traits are written as types are
        absolute = self._scope.expand(path) if path[0] in self._scope.imports else path
        if absolute is None or absolute[0] in LOCAL_ROOTS:
            self._anything |= path[-1][:1].isupper()
            return
        if absolute[0] in STANDARD:
            self._add_standard(absolute)
            return
        found = self._paths.look_up(absolute).found
        self._anything |= not found
        for each in found:
            if each.kind == "trait":
                self._names |= each.names.titles_below(each.path)
            elif each.kind == "re-export":
                self._anything |= each.names.may_be_trait(each.path, self._paths.crates)

    def _add_standard(self, path: _Segments) -> None:
        self._names |= std_traits().get(path[-1], frozenset())
        if "os" in path and path[-1] not in std_traits():
            self._anything = True  # other machines have traits that are not known here

    def _add_glob(self, path: _Segments) -> None:
        absolute = self._scope.expand(path) if path and path[0] not in LOCAL_ROOTS else None
        if absolute is None:
            self._anything = True
        elif absolute[0] in KNOWN:
            self._names |= {name for members in std_traits().values() for name in members}
        else:
            names = self._paths.crate(absolute[0])
            self._anything |= names is None
            self._names |= names.trait_members if names is not None else set()
