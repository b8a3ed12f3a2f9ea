"""Whether a Rust path exists, and what to say where it does not.

This room knows paths whose imports are resolved. It does not know syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from docstow.verify.findings import Status
from docstow.verify.nearest import likeness
from docstow.verify.rust_names import OPAQUE, STANDARD, TYPES, CrateNames, Crates, Found
from docstow.verify.std_names import STANDARD_TYPES

Segments = tuple[str, ...]
_MOST_HOPS = 4


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


def look_up(
    path: Segments,
    crates: Crates,
    by_trait: Callable[[str], bool] = lambda _: True,
    hops: int = _MOST_HOPS,
) -> Answer:
    """What an absolute path means.

    Args:
        path: the crate's name first.
        crates: where crates are found.
        by_trait: whether a trait in view may bring a name to types that do not have it.
        hops: how many re-exports may still be followed.
    """
    names = crates.crate(path[0])
    if names is None or hops == 0:
        return NOT_CHECKED
    whole = "::".join((names.root, *path[1:]))
    if len(path) == 1:
        return Answer("ok", names.find(names.root), names=names)
    if found := names.find(whole):
        return _known(whole, found, names)
    return _missing(path, names, crates, by_trait, hops)


def _known(whole: str, found: tuple[Found, ...], names: CrateNames) -> Answer:
    notes = [each.attributes.get("deprecated") for each in found]
    if not all(notes):
        return Answer("ok", found, names=names)
    note = notes[0]
    reason = str(note.get("note") or "") if isinstance(note, dict) else ""
    since = str(note.get("since") or "") if isinstance(note, dict) else ""
    said = f"{whole} is deprecated{f' since {since}' if since else ''}"
    return Answer("deprecated", found, f"{said}{f': {reason}' if reason else '.'}", names=names)


def _missing(
    path: Segments,
    names: CrateNames,
    crates: Crates,
    by_trait: Callable[[str], bool],
    hops: int,
) -> Answer:
    """A path that is not found: the longest part of it that is tells why."""
    for end in range(len(path) - 1, 0, -1):
        owner = "::".join((names.root, *path[1:end]))
        found = names.find(owner)
        if not found:
            continue
        found = _with_members(found)
        if (meant := _aliased(found)) is not None:
            return look_up((*meant.split("::"), *path[end:]), crates, by_trait, hops - 1)
        if any(each.kind in OPAQUE for each in found):
            return _elsewhere(found, path[end:], names, crates, by_trait, hops)
        return _absent(found, path, end, crates, by_trait)
    return NOT_CHECKED


def _with_members(found: tuple[Found, ...]) -> tuple[Found, ...]:
    """Of things that share a name those that can have members: a module before a function."""
    some = tuple(each for each in found if each.kind not in {"function", "constant", "macro"})
    return some or found


def _aliased(found: tuple[Found, ...]) -> str | None:
    """The path of the type that ``pub type Name = Other;`` means, where it is the crate's own."""
    if len(found) != 1 or found[0].kind != "type_alias":
        return None
    read = re.fullmatch(r"pub type \w+ = (\w+);", found[0].signature.strip())
    if read is None or read[1] in STANDARD_TYPES:
        return None
    paths = found[0].names.types_by_title.get(read[1], [])
    return paths[0] if len(paths) == 1 else None


def _elsewhere(
    found: Sequence[Found],
    rest: Segments,
    names: CrateNames,
    crates: Crates,
    by_trait: Callable[[str], bool],
    hops: int,
) -> Answer:
    """Below a re-export it is the other crate that answers.

    That a name is there is believed of any version; that it is not, only of the version which the
    crate's own docs were made with, or a later one that is compatible.
    """
    for each in found:
        target = names.re_exports.get(each.path)
        if each.kind == "re-export" and target and target.split("::")[0] not in STANDARD:
            answer = look_up((*target.split("::"), *rest), crates, by_trait, hops - 1)
            if answer.status == "ok":
                return answer
            if answer.status == "unknown" and len(found) == 1 and _meant(target, names, answer):
                shown = tuple(_seen_through(one, target, each.path) for one in answer.suggestions)
                message = answer.message
                for one, other in zip(answer.suggestions, shown, strict=True):
                    message = message.replace(f" {one}.", f" {other}.").replace(
                        f" {one}?", f" {other}?"
                    )
                return replace(answer, suggestions=shown, message=message)
    return NOT_CHECKED


def _meant(target: str, names: CrateNames, answer: Answer) -> bool:
    """Whether the crate that was asked is the one that a re-export leads to."""
    from docstow.versions import Version

    external = names.index.snapshot.facts.get("externals", {}).get(target.split("::")[0], {})
    version, asked = external.get("version", ""), answer.names
    if not version or asked is None or asked.root != target.split("::")[0]:
        return False
    wanted, given = Version.parse(version), Version.parse(asked.version)
    return given >= wanted and version.split(".")[0] == asked.version.split(".")[0] != "0"


def _seen_through(path: str, target: str, here: str) -> str:
    """A path of another crate as the crate that shows it has it."""
    return f"{here}{path[len(target) :]}" if f"{path}::".startswith(f"{target}::") else path


def _absent(
    found: Sequence[Found],
    path: Segments,
    end: int,
    crates: Crates,
    by_trait: Callable[[str], bool],
) -> Answer:
    names, name, last = found[0].names, path[end], end == len(path) - 1
    for owner in found:
        if names.hides(owner.path, name):
            return NOT_CHECKED
        if owner.kind == "module":
            continue
        if by_trait(name) or not member_is_absent(owner, name, crates):
            return NOT_CHECKED
    if names.shows("::".join(path[: end + 1])):
        return NOT_CHECKED
    owner = next((each for each in found if each.kind in {"module", *TYPES}), found[0])
    if owner.kind not in {"module", "trait", *TYPES}:
        return NOT_CHECKED
    suggestions = names.suggest(owner.path, name, anywhere=owner.kind == "module")
    if not last:  # the module is missing: what was wanted of it may be elsewhere
        wanted = names.suggest(owner.path, path[-1])
        exact = tuple(each for each in wanted if each.rpartition("::")[2] == path[-1])
        intended = "::".join((owner.path, *path[end:]))
        exact = tuple(sorted(exact, key=lambda each: -likeness(intended, each)))
        if exact:
            suggestions = tuple(dict.fromkeys((*exact, *suggestions)))[:3]
        elif suggestions:
            whole_there = "::".join((suggestions[0], *path[end + 1 :]))
            if names.find(whole_there):
                suggestions = (whole_there, *suggestions[:2])
    whole = "::".join((owner.path, *path[end:]))
    message = explain(owner, name, whole, suggestions, names, crates)
    return Answer("unknown", (), message, suggestions, names, owner.path)


def member_is_absent(owner: Found, name: str, crates: Crates) -> bool:
    """Whether a type has no member of a name, so far as the traits at hand can tell.

    A trait must be in view for what it brings, which is the caller's to look at; but code may come
    without its imports.
    """
    if owner.kind not in TYPES:
        return False  # supertraits, and what is implemented for whatever has a trait, are not told
    names = owner.names
    return all(names.trait_has(each, name, crates) is not True for each in names.traits(owner.path))


def explain(
    owner: Found,
    name: str,
    whole: str,
    suggestions: Sequence[str],
    names: CrateNames,
    crates: Crates,
) -> str:
    """What a caller is told of a name that is not there."""
    said = f"{owner.kind} {owner.path} of {names.package} {names.version} has no {name}"
    for other in crates.other_versions(names.root):
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


def _older(one: CrateNames, other: CrateNames) -> bool:
    from docstow.versions import Version

    return Version.parse(one.version) < Version.parse(other.version)
