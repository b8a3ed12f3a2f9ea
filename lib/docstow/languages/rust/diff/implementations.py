"""Compare the trait implementations of two versions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from docstow.core.model import AUTO_TRAITS, SINGLE, Relation
from docstow.core.model import unpack_implementations as unpacked
from docstow.languages.rust.diff.declarations import bounds
from docstow.languages.rust.diff.matching import Match
from docstow.languages.rust.diff.signatures import Header, parse_header
from docstow.languages.shared.diff import Change, Side

_AUTO = frozenset({"Send", "Sync", "Unpin", "UnwindSafe", "RefUnwindSafe"})
#: The compiler's own traits, which come with a derive and nobody names.
_INTERNAL = frozenset(
    {"StructuralEq", "StructuralPartialEq", "Freeze", "UnsafeUnpin", "TrivialClone"}
)
#: A type without a path: it is private.
_HIDDEN = re.compile(r"[A-Z]\w+(?:<[^:]*)?")
_TYPES = frozenset({"struct", "enum", "union", "trait", "type_alias", "primitive"})
_Groups = dict[tuple[str, str], dict[Header, Relation]]


def differences(old: Side, new: Side, match: Match, *, built: bool) -> Iterator[Change]:
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


def auto_traits(old: Side, new: Side, match: Match) -> Iterator[Change]:
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
            pairs = unpacked(each.object, each.detail)
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
