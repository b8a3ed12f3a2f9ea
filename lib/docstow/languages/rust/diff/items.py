"""Compare an item of two versions: the rules under which it changed, went or was added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from docstow.core.model import Document
from docstow.languages.rust.diff.matching import Match
from docstow.languages.rust.diff.signatures import (
    Header,
    brief,
    canonical_type,
    parse_block,
    parse_header,
    shape,
    split,
)
from docstow.languages.shared.diff import Change

_OF_BOUNDS = frozenset({"bound-tightened", "bound-loosened"})
#: Rules that a trait's own items fall under, in place of those for other functions.
_FREE_IN_TRAITS = frozenset({"lifetimes-changed", "value-changed", "async-desugared"})
_TEXTUAL = frozenset({"macro", "attribute_macro", "derive_macro"})
#: A supertrait that nobody outside can name, by the names that crates give it.
_SEALED = re.compile(r":.*\b\w*(?:Sealed|Private)\w*\b")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:.*$|^### `(?:unsafe )?impl.*$", re.MULTILINE)
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?: \"[^\"]*\")?\)|\]\[[^\]]*\]")
_PLACEHOLDER = re.compile(r"^&?(?:mut )?\$\d+$")


@dataclass(frozen=True, slots=True)
class Member:
    """A member's signature, and its block's header; empty if that says no more than the type."""

    signature: str
    block: str


def judge_member(rules: Sequence[str], before: Member, after: Member, owner: str) -> list[str]:
    """Return the rules of a member, with bounds judged at it and at its block together.

    Args:
        rules: those that the signatures alone fall under.
        before: the old version's member.
        after: the new version's.
        owner: name of the type, whose parameters are the same in both.

    Returns:
        ``rules`` as they are where the blocks do not differ or are not for the same types.
    """
    several = any("\n\n" in each.signature for each in (before, after))
    if before.block == after.block or several or not _for_the_same(before.block, after.block):
        return list(rules)
    old, new = (_whole(each, owner) for each in (before, after))
    counts = [sum(p.kind != "lifetime" for p in each.params) + each.implicit for each in (old, new)]
    if not old.keyword or old.keyword != new.keyword or counts[0] != counts[1]:
        return list(rules)
    return [each for each in rules if each not in _OF_BOUNDS] + list(bounds(old, new))


def _for_the_same(before: str, after: str) -> bool:
    """Tell whether two blocks are for the same arguments; one without a header is for all."""
    if before and after:
        return parse_block(before).arguments == parse_block(after).arguments
    block = parse_block(before or after)
    return block.params.issuperset(block.arguments)


def _whole(member: Member, owner: str) -> Header:
    """Return a member's declaration with the bounds of its block, whose names are left alone."""
    header = parse_header(member.signature, owner)
    merged = dict(header.bounds)
    for subject, each in parse_block(member.block, owner).bounds if member.block else ():
        merged[subject] = merged.get(subject, frozenset()) | each
    return replace(header, bounds=tuple(sorted(merged.items(), key=lambda pair: pair[0])))


def changed(match: Match) -> Iterator[Change]:
    """Yield all changes of the items that both versions have, but for the features they need."""
    for old, new in match.pairs:
        texts = [brief(each.signature) for each in (old, new)]
        if _block(old) != _block(new):
            pairs = zip((old, new), texts, strict=True)
            texts = [f"{_block(d)} {{ {text} }}" if _block(d) else text for d, text in pairs]
        for rule in dict.fromkeys(_declared(match, old, new)):
            yield _change(old, new, rule, *texts)
        yield from _attributes(old, new)
        was, now = _visible(old.text), _visible(new.text)
        if was != now:
            yield _change(old, new, "docs-changed", *_first_difference(was, now))


def gone(match: Match, not_built: frozenset[str]) -> Iterator[Change]:
    """Yield the changes for what the new version lacks.

    Args:
        match: the versions.
        not_built: features that the new version has and its docs were built without.
    """
    for each in match.gone:
        lacking = not_built.intersection(each.attributes.get("features", ()))
        rule = "not-judged" if lacking else "item-removed"
        yield Change(each.path, each.kind, rule, brief(each.signature))


def added(match: Match) -> Iterator[Change]:
    """Yield the changes for what the old version lacks."""
    for each in match.added:
        rule = _rule_of_addition(match, each)
        yield Change(each.path, each.kind, rule, "", brief(each.signature))


def _change(old: Document, new: Document, rule: str, before: str, after: str) -> Change:
    return Change(old.path, old.kind, rule, before, after, new.path * (new.path != old.path))


def _declared(match: Match, old: Document, new: Document) -> Iterator[str]:
    """Yield the rules under which the declarations differ."""
    was, now = old.attributes, new.attributes
    if old.signature != new.signature or _block(old) != _block(new):
        yield from _signature(match, old, new)
    in_trait = (old.parent, "trait") in match.old
    if in_trait and bool(was.get("required")) != bool(now.get("required")):
        yield "trait-item-now-required" if now.get("required") else "trait-item-now-provided"
    if bool(was.get("non_exhaustive")) != bool(now.get("non_exhaustive")):
        if was.get("non_exhaustive"):
            yield "non-exhaustive-removed"
        elif not shape(old.signature)[1] and "variants are private" not in old.signature:
            yield "non-exhaustive-added"


def _signature(match: Match, old: Document, new: Document) -> Iterator[str]:
    owner = old.parent.rpartition("::")[2]
    if old.kind in _TEXTUAL:
        if "".join(old.signature.split()) != "".join(new.signature.split()):
            yield "macro-changed"
    elif old.kind == "variant":
        yield from _variant(old.signature, new.signature, owner)
    elif old.kind == "field":
        types = (canonical_type(each.signature.partition(": ")[2], owner) for each in (old, new))
        if len(set(types)) > 1:
            yield "type-changed"
    elif old.kind not in {"module", "re-export", "primitive"}:
        if old.kind == "struct":
            yield from _struct(match, old, new)
        in_trait = (old.parent, "trait") in match.old
        name = old.title if old.kind in {"struct", "enum", "union"} else owner
        rules = compare_declarations(old.signature, new.signature, Place(name, in_trait))
        if _block(old) != _block(new) and _has_as_many_parameters(match, old):
            members = [Member(each.signature, _block(each)) for each in (old, new)]
            rules = judge_member(rules, members[0], members[1], owner)
        for rule in rules:
            free = not in_trait or rule in _FREE_IN_TRAITS
            yield rule if free else "trait-item-signature-changed"


def _block(document: Document) -> str:
    """Return the header of a member's impl block, if it has bounds or arguments of its own."""
    return str(document.attributes.get("impl", ""))


def _has_as_many_parameters(match: Match, member: Document) -> bool:
    """Tell whether a member's type has the same number of parameters in both versions."""
    for kind in ("struct", "enum", "union"):
        old = match.old.get((member.parent, kind))
        new = match.new.get((match.images.get(member.parent, member.parent), kind))
        if old is not None and new is not None:
            counts = {len(parse_header(each.signature).params) for each in (old, new)}
            return len(counts) == 1
    return False


def _struct(match: Match, old: Document, new: Document) -> Iterator[str]:
    (was, was_private), (now, now_private) = (shape(d.signature) for d in (old, new))
    if was != now:
        fields = any(
            parent == each.path
            for each, side in ((old, match.old), (new, match.new))
            for parent in (d.parent for d in side.values() if d.kind == "field")
        )
        hidden = was_private and now_private and not fields
        yield "struct-shape-hidden" if hidden else "struct-shape-changed"
    elif now_private and not was_private and not old.attributes.get("non_exhaustive"):
        yield "struct-private-field-added"


def _variant(before: str, after: str, owner: str) -> Iterator[str]:
    (was, _, old_number), (now, _, new_number) = (text.partition(" = ") for text in (before, after))
    if "{" in was and "{" in now:
        # Named fields are items of their own.
        if now.endswith(".. }") and not was.endswith(".. }"):
            yield "variant-changed"
    elif canonical_type(was, owner) != canonical_type(now, owner):
        yield "variant-changed"
    if old_number and new_number and old_number != new_number:
        yield "discriminant-changed"


def _attributes(old: Document, new: Document) -> Iterator[Change]:
    """Yield changes of attributes that are no part of the declaration."""
    was, now = old.attributes.get("deprecated"), new.attributes.get("deprecated")
    if was != now:
        rule = "deprecated" if was is None else "deprecation-changed"
        texts = (" ".join(str(v) for v in (each or {}).values() if v) for each in (was, now))
        yield _change(old, new, rule, *texts)
    if "must_use" in new.attributes and "must_use" not in old.attributes:
        note = new.attributes["must_use"]
        yield _change(old, new, "must-use-added", "", f"must_use {'' if note is True else note}")


def _rule_of_addition(match: Match, new: Document) -> str:
    if (trait := match.new.get((new.parent, "trait"))) is not None:
        required = new.attributes.get("required")
        if required and _SEALED.search(brief(trait.signature)):
            return "sealed-trait-item-added"
        return "trait-required-item-added" if required else "trait-provided-item-added"
    path = match.originals.get(new.parent, new.parent)
    if new.kind == "variant" and (enum := match.old.get((path, "enum"))) is not None:
        opened = enum.attributes.get("non_exhaustive")
        return "enum-variant-added-open" if opened else "enum-variant-added"
    if new.kind == "field" and (variant := match.old.get((path, "variant"))) is not None:
        opened = variant.attributes.get("non_exhaustive") or ".. }" in variant.signature
        return "struct-field-added" if opened else "enum-field-added"
    if new.kind == "field" and (struct := match.old.get((path, "struct"))) is not None:
        private = shape(struct.signature)[1] or struct.attributes.get("non_exhaustive")
        return "struct-field-added" if private else "struct-public-field-added"
    return "item-added"


def _visible(text: str) -> list[str]:
    """Return the sentences of docs as readers see them, without the targets of links."""
    text = _TARGET.sub("]", _REFERENCE.sub("", text))
    return " ".join(text.replace("[", "").replace("]", "").split()).split(". ")


def _first_difference(before: list[str], after: list[str]) -> tuple[str, str]:
    at = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    was, now = (". ".join(each[at : at + 1]) for each in (before, after))
    return was, now


@dataclass(frozen=True, slots=True)
class Place:
    """Where a declaration stands: the owner's name, and whether the owner is a trait."""

    owner: str = ""
    in_trait: bool = False


def compare_declarations(before: str, after: str, place: Place) -> list[str]:
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
        return compare_declarations(old[0][1], new[0][1], place)
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
