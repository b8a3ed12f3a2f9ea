"""Compare Cargo features of two versions, and other facts of the crate as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from docstow.core.model import Document
from docstow.core.versions import Version
from docstow.languages.rust.diff.matching import Match
from docstow.languages.shared.diff import BREAKING, CLASSES, Change, Side


@dataclass(frozen=True, slots=True)
class Bump:
    """The version bump that a crate declared, and the one that its changes need.

    Attributes:
        declared: ``major``, ``minor``, ``patch``, ``none``, or ``downgrade``.
        breaking_allowed: Cargo would not take the new version for the old one.
        needed: the gravest class of the changes; ``none`` without any.
    """

    declared: str
    breaking_allowed: bool
    needed: str

    @property
    def fits(self) -> bool | None:
        """Whether the declared bump covers what has changed; None where no step up was taken."""
        if self.declared in {"downgrade", "none"}:
            return None
        return self.needed != BREAKING or self.breaking_allowed


def bump(before: str, after: str, changes: Iterable[Change]) -> Bump:
    """Judge a step between two versions."""
    old, new = Version.parse(before), Version.parse(after)
    was, now = (old.major, old.minor, old.patch), (new.major, new.minor, new.patch)
    first = next((n for n, (a, b) in enumerate(zip(was, now, strict=True)) if a != b), 3)
    declared = "downgrade" if new < old else ("major", "minor", "patch", "none")[first]
    if declared == "none" and old != new:
        declared = "prerelease"
    found = {each.verdict for each in changes}
    needed = next((each for each in CLASSES if each in found), "none")
    return Bump(declared, not _compatible(was, now) or bool(old.prerelease), needed)


def _compatible(was: tuple[int, int, int], now: tuple[int, int, int]) -> bool:
    """Tell whether both agree up to the leftmost number of the old one that is not zero."""
    fixed = next((n for n, each in enumerate(was) if each), 2) + 1
    return was[:fixed] == now[:fixed]


#: From this share of items on, newly stated features are put down to the docs.
_HABIT = 0.1
_LEAST = 20


def not_built(match: Match, old: Side, new: Side) -> tuple[frozenset[str], frozenset[str]]:
    """Return features that the old, and the new, version's docs seem to be built without.

    The other version has items that need them, this one has none of those items but declares
    the feature.
    """
    before = {name for each, _ in match.pairs for name in _features(each)}
    after = {name for _, each in match.pairs for name in _features(each)}
    lost = {name for each in match.gone for name in _features(each)} - before
    gained = {name for each in match.added for name in _features(each)} - after
    return _declared(gained, old), _declared(lost, new)


def _declared(names: set[str], side: Side) -> frozenset[str]:
    return frozenset(names.intersection(side.facts.get("features") or ()))


def of_items(match: Match, old: Side, new: Side) -> Iterator[Change]:
    """Yield features that an item needs in one version only, at the outermost item."""
    if not _needed(old) or restated(match):
        return
    graph = new.facts.get("features") or {}
    members: defaultdict[str, list[Document]] = defaultdict(list)
    for before, after in match.pairs:
        members[before.parent].append(before)
        members[after.parent].append(after)
    reported: dict[str, set[str]] = {}
    for before, after in match.pairs:
        was, now = _enabled(_features(before), graph), _features(after)
        differing = (now - was) or (_features(before) - _enabled(now, graph))
        if not differing or _all_need(members[before.path], differing, graph):
            continue
        reported[before.path] = differing
        if differing - reported.get(before.parent, set()):
            rule = "feature-required" if now - was else "feature-no-longer-required"
            texts = [", ".join(sorted(_features(each))) for each in (before, after)]
            moved = after.path * (after.path != before.path)
            yield Change(before.path, before.kind, rule, texts[0], texts[1], moved)


def _all_need(members: list[Document], names: set[str], graph: Mapping[str, Iterable[str]]) -> bool:
    """Tell whether a module states merely what each of its items needs in both versions."""
    return bool(members) and all(names <= _enabled(_features(each), graph) for each in members)


def _enabled(names: set[str], graph: Mapping[str, Iterable[str]]) -> set[str]:
    """Return these features and those that they enable."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph.get(name, ())
    return found


def restated(match: Match) -> bool:
    """Tell whether so many items need more features that only the docs state more of them."""
    gained = sum(bool(_features(after) - _features(before)) for before, after in match.pairs)
    return gained > max(_LEAST, _HABIT * len(match.pairs))


def of_crate(old: Side, new: Side, root: str) -> Iterator[Change]:
    """Yield changes of declared features, MSRV and dependencies, where both are known."""
    was, now = old.facts.get("features"), new.facts.get("features")
    if was is not None and now is not None:
        was, now = {"default": [], **was}, {"default": [], **now}
        for name in sorted({*was} - {*now}):
            yield Change(root, "module", "feature-removed", name)
        for name in sorted({*now} - {*was}):
            yield Change(root, "module", "feature-added", "", name)
        for name in sorted({*was["default"]} - {*now["default"]}):
            if name in now:
                yield Change(root, "module", "default-feature-removed", name)
    msrv = [str(side.facts.get("rust_version") or "") for side in (old, new)]
    if msrv[0] != msrv[1] and all(msrv):
        yield Change(root, "module", "msrv-changed", *msrv)
    before, after = _dependencies(old), _dependencies(new)
    for name in sorted({*before} & {*after}):
        if _line(before[name]) != _line(after[name]):
            texts = (f"{name} {each[name]}" for each in (before, after))
            yield Change(root, "module", "dependency-changed", *texts)


def _dependencies(side: Side) -> dict[str, str]:
    """Return versions of the direct dependencies whose items the docs name."""
    direct = {each["name"].replace("-", "_") for each in side.facts.get("dependencies", ())}
    externals = side.facts.get("externals") or {}
    return {name: str(externals[name]["version"]) for name in direct.intersection(externals)}


def _line(version: str) -> tuple[str, ...]:
    """Return the numbers that compatible releases share."""
    numbers = version.split("-")[0].split(".")
    return tuple(numbers[: 1 + next((n for n, each in enumerate(numbers) if each != "0"), 2)])


def _needed(side: Side) -> set[str]:
    return {name for each in side.documents for name in _features(each)}


def _features(document: Document) -> set[str]:
    return set(document.attributes.get("features", ()))
