"""Members of inherent impl blocks: the bounds of the block count as those of its members.

This room knows headers of impl blocks as the reader writes them. It does not know documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from docstow.languages.rust.diff.declarations import bounds
from docstow.languages.rust.diff.signatures import Header, parse
from docstow.languages.rust.diff.signatures__diff_spelling import closing, erase_lifetimes, split

_OF_BOUNDS = frozenset({"bound-tightened", "bound-loosened"})


@dataclass(frozen=True, slots=True)
class Member:
    """A member's signature, and its block's header; empty if that says no more than the type."""

    signature: str
    block: str


def compare(rules: Sequence[str], before: Member, after: Member, owner: str) -> list[str]:
    """The rules of a member, with bounds judged wherever they are written: at it or its block.

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
    """Whether two blocks are for the same arguments; one without a header is for all."""
    if before and after:
        return _taken_apart(before)[1] == _taken_apart(after)[1]
    generics, arguments, _ = _taken_apart(before or after)
    names = {each.partition(":")[0].removeprefix("const ") for each in generics}
    return names.issuperset(arguments)


def _whole(member: Member, owner: str) -> Header:
    """A member's declaration with the bounds of its block; the block's names are left alone."""
    header = parse(member.signature, owner)
    generics, _, predicates = _taken_apart(member.block)
    stated = [each for each in generics if not each.startswith("const ")] + predicates
    added = parse(f"fn block() where {', '.join(stated)}", owner).bounds if stated else ()
    merged = dict(header.bounds)
    for subject, each in added:
        merged[subject] = merged.get(subject, frozenset()) | each
    return replace(header, bounds=tuple(sorted(merged.items(), key=lambda pair: pair[0])))


def _taken_apart(block: str) -> tuple[list[str], list[str], list[str]]:
    """Parameters with their inline bounds, arguments of the type, and predicates of a header."""
    text = erase_lifetimes(" ".join(block.split())).removeprefix("unsafe ").removeprefix("impl")
    end = closing(text, 0) if text.startswith("<") else -1
    target, _, where = text[end + 1 :].partition(" where ")
    opening = target.find("<")
    arguments = split(target[opening + 1 : closing(target, opening)]) if opening >= 0 else []
    return split(text[1:end]) if end > 0 else [], arguments, split(where)
