"""Compare two versions of a crate by Cargo's SemVer rules: what changed, and what is breaking."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from docstow.core.model import AUTO_TRAITS, SINGLE, Document, Relation, unpack_implementations
from docstow.core.versions import Version
from docstow.languages.rust.diff import items
from docstow.languages.rust.diff.items import bounds
from docstow.languages.rust.diff.matching import Match
from docstow.languages.rust.diff.signatures import Header, parse_header
from docstow.languages.shared.diff import BREAKING, CLASSES, RULES, Change, Side

__all__ = ["CLASSES", "RULES", "Bump", "Change", "Difference", "Side", "compare"]
#: From this share of lost items on, the build of the docs is suspected.
_SUSPICIOUS = 0.25
_LEAST_GONE = 10
#: From this share of items on, newly stated features are put down to the docs.
_HABIT = 0.1
_LEAST_RESTATED = 20
_AUTO = frozenset({"Send", "Sync", "Unpin", "UnwindSafe", "RefUnwindSafe"})
#: The compiler's own traits, which come with a derive and nobody names.
_INTERNAL = frozenset(
    {"StructuralEq", "StructuralPartialEq", "Freeze", "UnsafeUnpin", "TrivialClone"}
)
#: A type without a path: it is private.
_HIDDEN = re.compile(r"[A-Z]\w+(?:<[^:]*)?")
_TYPES = frozenset({"struct", "enum", "union", "trait", "type_alias", "primitive"})
_Groups = dict[tuple[str, str], dict[Header, Relation]]


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
    lacked, lacking = _unbuilt_features(match, old, new)
    root = min(match.old, default=("", ""))[0]
    found = [*match.moves, *items.changed(match), *items.gone(match, lacking), *items.added(match)]
    found += _feature_changes(match, old, new)
    found += _implementation_changes(old, new, match, built=not lacking)
    found += _lost_auto_traits(old, new, match)
    found += _crate_changes(old, new, root)
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
    many = len(match.gone) > max(_LEAST_GONE, _SUSPICIOUS * len(match.old))
    if many and not lacking:
        found.append("many removed items may be due to other features or targets of the docs")
    targets = [str(side.facts.get("target") or "") for side in (old, new)]
    if all(targets) and targets[0] != targets[1]:
        found.append(f"the docs were built for different targets, {targets[0]} and {targets[1]}")
    if _restates_features(match):
        found.append("the newer docs state features where the older did not, so that is left out")
    return found


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


def _unbuilt_features(match: Match, old: Side, new: Side) -> tuple[frozenset[str], frozenset[str]]:
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


def _feature_changes(match: Match, old: Side, new: Side) -> Iterator[Change]:
    """Yield features that an item needs in one version only, at the outermost item."""
    if not _needed(old) or _restates_features(match):
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


def _restates_features(match: Match) -> bool:
    """Tell whether so many items need more features that only the docs state more of them."""
    gained = sum(bool(_features(after) - _features(before)) for before, after in match.pairs)
    return gained > max(_LEAST_RESTATED, _HABIT * len(match.pairs))


def _crate_changes(old: Side, new: Side, root: str) -> Iterator[Change]:
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


def _implementation_changes(old: Side, new: Side, match: Match, *, built: bool) -> Iterator[Change]:
    """Yield implementations that are gone, new, or for other types than before.

    Args:
        old: the old version.
        new: the new version.
        match: their items.
        built: the new version's docs seem to be built with all features of the old one's;
            else what is gone is not judged, for nothing says which features it needs.
    """
    kinds = dict((*match.new, *match.old))
    items = (*match.old.values(), *match.new.values())
    own = {each.title for each in items if each.kind in _TYPES}
    was, now = _groups(old, match.images, match), _groups(new, {}, match)
    split = bool(_parts(new) - _parts(old))
    for key in sorted({*was, *now}):
        before, after = dict(was.get(key, {})), dict(now.get(key, {}))
        for header in [each for each in before if each in after]:
            del before[header], after[header]
        used = set[Header]()
        for header, relation in before.items():
            rule, successor = _fate(header, after)
            if rule == "impl-removed" and (not built or (split and _is_foreign(relation, match))):
                rule = "not-judged"
            if not _goes_with_an_end(relation, match) and own.intersection(_words(relation)):
                about = _about(relation, kinds)
                now_text = after[successor].detail if successor is not None else ""
                used |= {successor} if successor is not None else set()
                yield Change(about, kinds.get(about, "impl"), rule, relation.detail, now_text)
        for relation in (each for header, each in after.items() if header not in used):
            if not _comes_with_an_item(relation, match) and own.intersection(_words(relation)):
                about = _about(relation, kinds)
                yield Change(about, kinds.get(about, "impl"), "impl-added", "", relation.detail)


def _lost_auto_traits(old: Side, new: Side, match: Match) -> Iterator[Change]:
    """Yield types that are no longer ``Send``, ``Sync`` and the like."""
    kinds = dict(match.old.keys())
    was, now = _automatic(old), _automatic(new)
    for path, image in match.images.items():
        lost = was.get(path, {}).keys() & {
            each[1:] for each in now.get(image, {}) if each[:1] == "!"
        }
        for trait in sorted(lost):
            texts = was[path][trait], now[image][f"!{trait}"]
            yield Change(path, kinds.get(path, ""), "auto-trait-lost", *texts)


def _automatic(side: Side) -> dict[str, dict[str, str]]:
    """Return headers by type and trait; a trait that is not implemented has ``!`` before it."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for each in side.relations:
        pairs = [(each.object, each.detail)] if each.predicate in SINGLE else []
        if each.predicate == AUTO_TRAITS:
            pairs = unpack_implementations(each.object, each.detail)
        for trait, header in pairs:
            name = trait.rpartition("::")[2]
            if name in _AUTO:
                found[each.subject]["!" * trait.startswith("!") + name] = header
    return found


def _parts(side: Side) -> set[str]:
    """Return the packages that a crate is split over.

    What those implement for foreign types may be missing. They are the siblings that document a
    part of it, and crates of its family that its docs name and do not hold, as ``serde`` names
    ``serde_core``.
    """
    held = {each.attributes.get("documented_in", "").partition(" ")[0] for each in side.documents}
    family = str(side.facts.get("lib") or "").partition("_")[0]
    externals: Mapping[str, Mapping[str, str]] = side.facts.get("externals", {})
    named = {
        each.get("package", lib) for lib, each in externals.items() if lib.split("_")[0] == family
    }
    return (held | (named - set(side.facts.get("siblings", ())))) - {""}


def _is_foreign(relation: Relation, match: Match) -> bool:
    return relation.subject not in match.old_paths


def _groups(side: Side, images: Mapping[str, str], match: Match) -> _Groups:
    """Group headers by subject and last name of the trait; paths of foreign traits may change."""
    groups: defaultdict[tuple[str, str], dict[Header, Relation]] = defaultdict(dict)
    for each in side.relations:
        trait = each.object.rpartition("::")[2]
        hidden = "::" not in each.object or _HIDDEN.fullmatch(each.subject) is not None
        skipped = trait in _INTERNAL or trait in _AUTO or hidden
        if each.predicate not in SINGLE or skipped:
            continue
        subject = images.get(each.subject, each.subject)
        if trait == "Into":  # the same as an implementation of From for the other type
            subject, trait = "", "From"
        subject = subject if subject in match.new_paths or subject in match.old_paths else ""
        groups[subject, trait][parse_header(each.detail, subject.rpartition("::")[2])] = each
    return dict(groups)


def _fate(header: Header, after: Mapping[Header, Relation]) -> tuple[str, Header | None]:
    """Return the rule for an implementation that is gone, and the one that replaces it."""
    for each in after:
        if each.output == header.output and len(each.params) > len(header.params):
            return "impl-generalised", each
        if each.output == header.output:
            tighter = "bound-tightened" in bounds(header, each)
            return ("impl-bound-tightened" if tighter else "impl-bound-loosened"), each
    for each in after:
        # A parameter in the last place may have had a default before.
        pattern = re.sub(r",\\ \\\$\d+>", "(?:, .+)?>", re.escape(each.output))
        pattern = re.sub(r"\\\$\d+", ".+", pattern)
        if "$" in each.output and re.fullmatch(pattern, header.output):
            return "impl-generalised", each
    return "impl-removed", None


def _words(relation: Relation) -> list[str]:
    """Return the names that an implementation mentions."""
    return re.findall(r"\w+", relation.detail)


def _goes_with_an_end(relation: Relation, match: Match) -> bool:
    """Tell whether the type or the trait itself is gone, which is a change of its own."""
    ends = (relation.subject, relation.object)
    return any(each in match.old_paths and each not in match.images for each in ends)


def _comes_with_an_item(relation: Relation, match: Match) -> bool:
    ends = (relation.subject, relation.object)
    return any(each in match.new_paths and each not in match.originals for each in ends)


def _about(relation: Relation, kinds: Mapping[str, str]) -> str:
    """Return the item that a change is reported at: the type, or else the trait."""
    known = [each for each in (relation.subject, relation.object) if each in kinds]
    return known[0] if known else relation.object.removeprefix("!")
