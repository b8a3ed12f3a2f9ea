"""Compare two versions of a crate by Cargo's SemVer rules: what changed, and what is breaking."""

from __future__ import annotations

from dataclasses import dataclass

from docstow.languages.rust.diff import crate, implementations, items
from docstow.languages.rust.diff.crate import Bump, bump
from docstow.languages.rust.diff.matching import Match
from docstow.languages.shared.diff import CLASSES, RULES, Change, Side

__all__ = ["CLASSES", "RULES", "Bump", "Change", "Difference", "Side", "compare"]
#: From this share of lost items on, the build of the docs is suspected.
_SUSPICIOUS = 0.25
_LEAST = 10


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions compared.

    Attributes:
        changes: the gravest class first, then by path.
        bump: the declared version bump against the needed one.
        notices: reasons to doubt the comparison, whole sentences without a final stop.
    """

    changes: list[Change]
    bump: Bump
    notices: list[str]


def compare(old: Side, new: Side) -> Difference:
    """Compare two versions of a crate."""
    match = Match(old, new)
    lacked, lacking = crate.not_built(match, old, new)
    root = min(match.old, default=("", ""))[0]
    found = [*match.moves, *items.changed(match), *items.gone(match, lacking), *items.added(match)]
    found += crate.of_items(match, old, new)
    found += implementations.differences(old, new, match, built=not lacking)
    found += implementations.auto_traits(old, new, match)
    found += crate.of_crate(old, new, root)
    changes = sorted(set(found), key=lambda each: (CLASSES.index(each.verdict), each))
    judged = bump(old.version, new.version, changes)
    return Difference(changes, judged, _notices(match, old, new, lacking, lacked))


def _notices(
    match: Match, old: Side, new: Side, lacking: frozenset[str], lacked: frozenset[str]
) -> list[str]:
    found = []
    for side, names in ((new, lacking), (old, lacked)):
        if names:
            shown = ", ".join(sorted(names)[:8])
            found.append(
                f"the docs of {side.version} seem to be built without the features {shown}, so "
                "items that need them are not compared"
            )
    many = len(match.gone) > max(_LEAST, _SUSPICIOUS * len(match.old))
    if many and not lacking:
        found.append("many removed items may be due to other features or targets of the docs")
    targets = [str(side.facts.get("target") or "") for side in (old, new)]
    if all(targets) and targets[0] != targets[1]:
        found.append(f"the docs were built for different targets, {targets[0]} and {targets[1]}")
    if crate.restated(match):
        found.append("the newer docs state features where the older did not, so that is left out")
    return found
