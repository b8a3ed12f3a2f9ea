"""Compare two declarations of one item: the rules that their differences fall under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from docstow.languages.rust.diff.signatures import Header, parse_header, split

_PLACEHOLDER = re.compile(r"^&?(?:mut )?\$\d+$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a declaration stands: the owner's name, and whether the owner is a trait."""

    owner: str = ""
    in_trait: bool = False


def compare(before: str, after: str, place: Place) -> list[str]:
    """Return the ids of the rules under which two declarations differ; empty if they are equal."""
    if before == after:
        return []
    if _several(before) or _several(after):
        return _blocks(before, after, place)
    old, new = parse_header(before, place.owner), parse_header(after, place.owner)
    if replace(old, value="") == replace(new, value=""):
        exact = [parse_header(text, place.owner, lifetimes=True) for text in (before, after)]
        valued = old.value != new.value and bool(old.value) and bool(new.value)
        return ["value-changed"] if valued else _lifetimes(*exact)
    if old.keyword != new.keyword or not old.keyword:
        return ["signature-changed"]
    found = list(dict.fromkeys(_differences(old, new, place)))
    return found or ["signature-changed"]


def _several(signature: str) -> bool:
    return "\n\n" in signature or signature.startswith(("impl", "unsafe impl"))


def _blocks(before: str, after: str, place: Place) -> list[str]:
    """Compare declarations of one name in several impl blocks, as sets."""
    old, new = _declarations(before, place), _declarations(after, place)
    known = [header for header, _ in new]
    missing = [header for header, _ in old if header not in known]
    if not missing:
        return ["declaration-added"] if len(new) > len(old) else []
    if len(old) == len(new) == 1:
        return compare(old[0][1], new[0][1], place)
    return ["signature-changed"]


def _declarations(signature: str, place: Place) -> list[tuple[Header, str]]:
    """Return each declaration without the header of its block."""
    found = []
    for block in signature.split("\n\n"):
        text = block
        if block.startswith(("impl", "unsafe impl")) and " {\n" in block:
            text = block.split(" {\n", 1)[1].rsplit("\n}", 1)[0]
        found.append((parse_header(text, place.owner), text))
    return found


def _lifetimes(old: Header, new: Header) -> list[str]:
    """Compare declarations that are the same but for lifetimes."""
    counts = [sum(param.kind == "lifetime" for param in each.params) for each in (old, new)]
    if old.keyword in {"struct", "enum", "union", "trait"} and counts[0] != counts[1]:
        return ["type-parameter-added" if counts[1] > counts[0] else "type-parameter-removed"]
    return ["lifetimes-changed"] if old != new and counts[0] != counts[1] else []


def _differences(old: Header, new: Header, place: Place) -> Iterator[str]:
    yield from _words(old, new)
    if old.keyword == "fn":
        yield from _function(old, new, place)
        return
    yield from _parameters(old, new)
    yield from bounds(old, new)
    if old.supers != new.supers:
        if new.supers - old.supers:
            yield "supertrait-added"
        if old.supers - new.supers:
            yield "supertrait-removed"
    if old.output != new.output and old.keyword in {"const", "static", "type"}:
        yield "type-changed" if old.output and new.output else "value-changed"
    elif old.value and new.value and old.value != new.value:
        yield "value-changed"


def _words(old: Header, new: Header) -> Iterator[str]:
    if old.words == new.words:
        return
    for word in ("const", "unsafe"):
        if (word in old.words) != (word in new.words):
            yield f"{word}-added" if word in new.words else f"{word}-removed"
    if ("async" in old.words) != ("async" in new.words):
        yield "async-desugared" if old.output == new.output else "async-changed"
    if _abi(old) != _abi(new):
        yield "abi-changed"
    if ("mut" in old.words) != ("mut" in new.words):
        yield "signature-changed"


def _abi(header: Header) -> list[str]:
    return [word for word in header.words if word.startswith("extern")]


def _parameters(old: Header, new: Header) -> Iterator[str]:
    """Compare generic parameters of a type, trait or alias, which are given by position."""
    was = [each for each in old.params if each.kind != "lifetime"]
    now = [each for each in new.params if each.kind != "lifetime"]
    for before, after in zip(was, now, strict=False):
        if before.kind != after.kind:
            yield "signature-changed"
        elif before.default != after.default:
            added = not before.default
            yield "type-parameter-added-default" if added else "type-parameter-default-changed"
    if len(now) < len(was):
        yield "type-parameter-removed"
    for each in now[len(was) :]:
        yield "type-parameter-added-default" if each.default else "type-parameter-added"


def bounds(old: Header, new: Header) -> Iterator[str]:
    """Yield whether bounds require more than before, or else less."""
    tightened = loosened = False
    before, after = dict(old.bounds), dict(new.bounds)
    for subject in {*before, *after}:
        was, now = (each.get(subject, frozenset()) for each in (before, after))
        gained, lost = now - was, was - now
        # ``?Sized`` asks for less, all other bounds for more.
        tightened |= any(not each.startswith("?") for each in gained)
        tightened |= any(each.startswith("?") for each in lost)
        loosened |= any(each.startswith("?") for each in gained)
        loosened |= any(not each.startswith("?") for each in lost)
    if tightened:
        yield "bound-tightened"
    elif loosened:
        yield "bound-loosened"


def _function(old: Header, new: Header, place: Place) -> Iterator[str]:
    explicit = [[param for param in each.params if param.kind != "lifetime"] for each in (old, new)]
    comparable = len(explicit[0]) + old.implicit == len(explicit[1]) + new.implicit
    if len(old.inputs) != len(new.inputs):
        yield "parameter-count-changed"
    else:
        for before, after in zip(old.inputs, new.inputs, strict=True):
            if before != after:
                yield _input(before, after, place)
    if old.inputs == new.inputs and old.output == new.output and old.implicit != new.implicit:
        yield "generic-as-impl-trait" if new.implicit > old.implicit else "impl-trait-as-generic"
    elif len(explicit[0]) != len(explicit[1]) or old.params != new.params:
        turbofish = bool(explicit[0]) and not old.implicit
        if [each.kind for each in explicit[0]] != [each.kind for each in explicit[1]]:
            yield "function-generics-changed" if turbofish else "function-generics-added"
    if old.output != new.output and "async" not in old.words ^ new.words:
        yield _output(old.output, new.output)
    # Bounds of a parameter that is new cannot tighten anything.
    if comparable:
        yield from bounds(old, new)


def _input(before: str, after: str, place: Place) -> str:
    receivers = [each.endswith("self") or each.startswith("self:") for each in (before, after)]
    if any(receivers):
        looser = before == "&mut self" and after == "&self" and not place.in_trait
        return "receiver-loosened" if looser else "receiver-changed"
    if _PLACEHOLDER.match(after) and not re.search(r"\$\d", before):
        return "parameter-generalised"
    return "parameter-type-changed"


def _output(before: str, after: str) -> str:
    if before.startswith("impl ") and after.startswith("impl "):
        was, now = (set(split(each[5:], " + ")) for each in (before, after))
        if was < now:
            return "return-bound-added"
        if now < was:
            return "return-bound-removed"
    return "return-type-changed"
