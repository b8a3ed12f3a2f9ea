"""One item of two versions, and items that only one of them has: the rules they fall under.

This room knows documents' attributes and kinds. How declarations are taken apart is known in
``spelling`` and ``declarations``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docstow.core.model import Document
from docstow.languages.rust.diff import declarations as declarations
from docstow.languages.rust.diff import items__diff_blocks as blocks
from docstow.languages.rust.diff import signatures__diff_spelling as spelling
from docstow.languages.rust.diff.declarations import Place
from docstow.languages.rust.diff.items__diff_matching import Match
from docstow.languages.rust.diff.signatures import parse
from docstow.languages.shared.diff__diff_sides import Change

#: Rules that a trait's own items fall under, in place of those for other functions.
_FREE_IN_TRAITS = frozenset({"lifetimes-changed", "value-changed", "async-desugared"})
_TEXTUAL = frozenset({"macro", "attribute_macro", "derive_macro"})
_SEALED = re.compile(r":.*\b\w*(?:Sealed|Private)\w*\b")
"""A supertrait that nobody outside can name, by the names that crates give it."""
_REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:.*$|^### `(?:unsafe )?impl.*$", re.MULTILINE)
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?: \"[^\"]*\")?\)|\]\[[^\]]*\]")


def changed(match: Match) -> Iterator[Change]:
    """All changes of the items that both versions have, but for the features they need."""
    for old, new in match.pairs:
        texts = [spelling.brief(each.signature) for each in (old, new)]
        if _block(old) != _block(new):
            pairs = zip((old, new), texts, strict=True)
            texts = [f"{_block(d)} {{ {text} }}" if _block(d) else text for d, text in pairs]
        for rule in dict.fromkeys(_declared(match, old, new)):
            yield _change(old, new, rule, *texts)
        yield from _stated(old, new)
        was, now = _visible(old.text), _visible(new.text)
        if was != now:
            yield _change(old, new, "docs-changed", *_first_difference(was, now))


def gone(match: Match, not_built: frozenset[str]) -> Iterator[Change]:
    """What the new version lacks.

    Args:
        match: the versions.
        not_built: features that the new version has and its docs were built without.
    """
    for each in match.gone:
        lacking = not_built.intersection(each.attributes.get("features", ()))
        rule = "not-judged" if lacking else "item-removed"
        yield Change(each.path, each.kind, rule, spelling.brief(each.signature))


def added(match: Match) -> Iterator[Change]:
    """What the old version lacks."""
    for each in match.added:
        rule = _rule_of_addition(match, each)
        yield Change(each.path, each.kind, rule, "", spelling.brief(each.signature))


def _change(old: Document, new: Document, rule: str, before: str, after: str) -> Change:
    return Change(old.path, old.kind, rule, before, after, new.path * (new.path != old.path))


def _declared(match: Match, old: Document, new: Document) -> Iterator[str]:
    """Rules under which the declarations differ."""
    was, now = old.attributes, new.attributes
    if old.signature != new.signature or _block(old) != _block(new):
        yield from _signature(match, old, new)
    in_trait = (old.parent, "trait") in match.old
    if in_trait and bool(was.get("required")) != bool(now.get("required")):
        yield "trait-item-now-required" if now.get("required") else "trait-item-now-provided"
    if bool(was.get("non_exhaustive")) != bool(now.get("non_exhaustive")):
        if was.get("non_exhaustive"):
            yield "non-exhaustive-removed"
        elif not spelling.shape(old.signature)[1] and "variants are private" not in old.signature:
            yield "non-exhaustive-added"


def _signature(match: Match, old: Document, new: Document) -> Iterator[str]:
    owner = old.parent.rpartition("::")[2]
    if old.kind in _TEXTUAL:
        if "".join(old.signature.split()) != "".join(new.signature.split()):
            yield "macro-changed"
    elif old.kind == "variant":
        yield from _variant(old.signature, new.signature, owner)
    elif old.kind == "field":
        types = (spelling.plain(each.signature.partition(": ")[2], owner) for each in (old, new))
        if len(set(types)) > 1:
            yield "type-changed"
    elif old.kind not in {"module", "re-export", "primitive"}:
        if old.kind == "struct":
            yield from _struct(match, old, new)
        in_trait = (old.parent, "trait") in match.old
        name = old.title if old.kind in {"struct", "enum", "union"} else owner
        rules = declarations.compare(old.signature, new.signature, Place(name, in_trait))
        if _block(old) != _block(new) and _has_as_many_parameters(match, old):
            members = [blocks.Member(each.signature, _block(each)) for each in (old, new)]
            rules = blocks.compare(rules, members[0], members[1], owner)
        for rule in rules:
            free = not in_trait or rule in _FREE_IN_TRAITS
            yield rule if free else "trait-item-signature-changed"


def _block(document: Document) -> str:
    """The header of a member's impl block, where it says more than whose member it is."""
    return str(document.attributes.get("impl", ""))


def _has_as_many_parameters(match: Match, member: Document) -> bool:
    """Whether a member's type is declared in both versions, with as many parameters in both."""
    for kind in ("struct", "enum", "union"):
        old = match.old.get((member.parent, kind))
        new = match.new.get((match.images.get(member.parent, member.parent), kind))
        if old is not None and new is not None:
            counts = {len(parse(each.signature).params) for each in (old, new)}
            return len(counts) == 1
    return False


def _struct(match: Match, old: Document, new: Document) -> Iterator[str]:
    (was, was_private), (now, now_private) = (spelling.shape(d.signature) for d in (old, new))
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
    elif spelling.plain(was, owner) != spelling.plain(now, owner):
        yield "variant-changed"
    if old_number and new_number and old_number != new_number:
        yield "discriminant-changed"


def _stated(old: Document, new: Document) -> Iterator[Change]:
    """Attributes that make no declaration."""
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
        if required and _SEALED.search(spelling.brief(trait.signature)):
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
        private = spelling.shape(struct.signature)[1] or struct.attributes.get("non_exhaustive")
        return "struct-field-added" if private else "struct-public-field-added"
    return "item-added"


def _visible(text: str) -> list[str]:
    """The sentences and lines of docs as a reader sees them, without the targets of links."""
    text = _TARGET.sub("]", _REFERENCE.sub("", text))
    return " ".join(text.replace("[", "").replace("]", "").split()).split(". ")


def _first_difference(before: list[str], after: list[str]) -> tuple[str, str]:
    at = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    was, now = (". ".join(each[at : at + 1]) for each in (before, after))
    return was, now
