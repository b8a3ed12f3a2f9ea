"""Implementations of a trait and of a type, found in a snapshot's relations.

Traits and types are named as people write them, foreign ones and ``[T; N]`` included.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from docstow.core.errors import ItemNotFound
from docstow.core.model import (
    AUTO_TRAITS,
    AVAILABLE,
    BLANKET,
    BLANKET_TRAITS,
    DERIVED,
    PACKED,
    SINGLE,
    unpack_implementations,
)
from docstow.core.spelling import RUST
from docstow.index.loaded import Index
from docstow.index.lookup import LEAST_ITEM_SCORE, MOST_SUGGESTIONS, find_items, find_similar

WRITTEN_SORT, DERIVED_SORT, BLANKET_SORT, AUTO_SORT = "written", "derived", "blanket", "auto"
#: Sorts of implementations in the order of their use.
SORTS = (WRITTEN_SORT, DERIVED_SORT, BLANKET_SORT, AUTO_SORT)

_SORT = {
    DERIVED: DERIVED_SORT,
    BLANKET: BLANKET_SORT,
    BLANKET_TRAITS: BLANKET_SORT,
    AUTO_TRAITS: AUTO_SORT,
}
_TRAITS = frozenset({"trait", "trait_alias", "re-export"})
_TYPES = frozenset({"struct", "enum", "union", "primitive", "type_alias", "trait", "re-export"})
_STANDARD = frozenset({"std", "core", "alloc"})

_LIFETIME = re.compile(r"'\w+ ?")
_REFERENCES = re.compile(r"^(?:&(?:mut )?)+")
_PARAMETER = re.compile(r"\b[A-Z][0-9]?\b")
_PREFIXES = {"&": "reference", "*": "pointer", "!": "never"}


@dataclass(frozen=True, slots=True)
class Implementation:
    """One implementation.

    Attributes:
        type: the type's path, or its text where it has none: ``(A, B)``, ``&'a str``.
        trait: the trait's path.
        header: the whole header of the block.
        sort: one of :data:`SORTS`.
        negative: whether it says that the trait is not implemented.
        covers: the crate's types that a blanket implementation was found to apply to.
        available: in words when it is there, beyond when the type is; empty if always.
    """

    type: str
    trait: str
    header: str
    sort: str
    negative: bool = False
    covers: tuple[str, ...] = ()
    available: str = ""


def find_by_trait(index: Index, name: str) -> tuple[list[str], list[Implementation]]:
    """Return the paths that a trait's name means, and all implementations of it in the crate.

    A blanket implementation stands once, with the types that it covers.

    Raises:
        ItemNotFound: neither an item nor the trait of any implementation; names are suggested.
    """
    known = {each.trait for each in _read(index, SINGLE | PACKED)}
    wanted = _resolve(index, name, known, _TRAITS)
    chosen = [each for each in _read(index, {AUTO_TRAITS, *SINGLE}) if each.trait in wanted]
    covered: dict[tuple[str, str], list[str]] = {}
    for each in _read(index, {BLANKET_TRAITS}):
        if each.trait in wanted:
            covered.setdefault((each.trait, each.header), []).append(each.type)
    found = []
    for each in chosen:
        types = covered.pop((each.trait, each.header), []) if each.sort == BLANKET_SORT else []
        found.append(_covering(each, types))
    for (trait, header), types in covered.items():
        parameter = header.split(" where ")[0].rpartition(" for ")[2]
        found.append(_covering(Implementation(parameter, trait, header, BLANKET_SORT), types))
    return sorted(wanted), sorted(found, key=_order)


def find_by_type(index: Index, name: str) -> tuple[list[str], list[Implementation]]:
    """Return the paths or texts that a type's name means, and all that it implements.

    Raises:
        ItemNotFound: neither an item nor the type of any implementation; names are suggested.
    """
    table = index.relations
    concrete = (SINGLE | PACKED) - {BLANKET}
    known = {
        subject
        for subject, predicate in zip(table["subject"], table["predicate"], strict=True)
        if predicate in concrete
    }
    wanted = _find_unnamed(RUST.choose(name).path, known) or _resolve(index, name, known, _TYPES)
    found = [each for each in _read(index, concrete) if each.type in wanted]
    return sorted(wanted), sorted(found, key=_order)


def _covering(each: Implementation, types: Iterable[str]) -> Implementation:
    return replace(each, covers=tuple(sorted(set(types))))


def _order(each: Implementation) -> tuple[int, str, str, str]:
    return SORTS.index(each.sort), each.trait, each.type, each.header


def _read(index: Index, predicates: Collection[str]) -> Iterator[Implementation]:
    """Yield the implementations of these predicates; packed ones are taken apart."""
    table = index.relations
    columns = [table[name] for name in ("subject", "predicate", "object", "detail")]
    conditions: dict[tuple[str, str, str], str] = {}
    for subject, predicate, trait, detail in zip(*columns, strict=True):
        if predicate == AVAILABLE:
            words, _, header = detail.partition("\n")
            conditions[subject, trait, header] = words
    for subject, predicate, traits, headers in zip(*columns, strict=True):
        if predicate not in predicates:
            continue
        pairs = (
            unpack_implementations(traits, headers) if predicate in PACKED else [(traits, headers)]
        )
        for trait, header in pairs:
            yield Implementation(
                type=subject,
                trait=trait.removeprefix("!"),
                header=header,
                sort=_SORT.get(predicate, WRITTEN_SORT),
                negative=trait.startswith("!"),
                available=conditions.get((subject, trait, header), ""),
            )


def _resolve(index: Index, name: str, known: set[str], kinds: Collection[str]) -> set[str]:
    """Return the paths of a name: the crate's own item, else what implementations name so."""
    written = RUST.normalise(name)
    paths, missing = _find_own(index, name, kinds)
    if not paths and RUST.choose(name).word:
        raise _not_found(index, written, known, kinds, missing)
    named = {each for each in known if _abbreviates(written, each)} or {
        # The path of a definition, as compilers print it, passes private modules.
        each
        for each in known
        if "::" in each and "::" in written and _abbreviates(each, written)
    }
    if paths:
        foreign = named - index.rows_by_path.keys()
        return paths | {each for each in foreign if any(_abbreviates(path, each) for path in paths)}
    if named:
        return named
    misspelt = {each for each in known if _abbreviates(written.lower(), each.lower())}
    if misspelt:
        return misspelt
    raise _not_found(index, written, known, kinds, missing)


def _find_own(
    index: Index, written: str, kinds: Collection[str]
) -> tuple[set[str], ItemNotFound | None]:
    """Return the paths of the crate's items of these kinds, and the targets of re-exports."""
    try:
        rows = find_items(index, written)
    except ItemNotFound as error:
        return set(), error
    paths = set()
    for row in rows:
        if index.columns["kind"][row] in kinds:
            target = index.attributes(row).get("target", "")
            paths |= {str(index.columns["path"][row]), str(target)} - {""}
    return paths, None


def _abbreviates(written: str, path: str) -> bool:
    """Return whether a path, perhaps short, may mean a definition's: ``core::iter::Iterator``.

    Definitions lie in private modules, so modules may be left out; crates of one family, such as
    ``std`` and ``core``, or ``serde`` and ``serde_core``, count as one.
    """
    short, full = written.split("::"), path.split("::")
    if short[-1] != full[-1]:
        return False
    if len(short) == 1 or len(full) == 1:
        return len(full) > 1 or short[0] in _STANDARD | {full[0]}
    if _family(short[0]) != _family(full[0]):
        return False
    rest = iter(full[1:-1])
    return all(segment in rest for segment in short[1:-1])


def _family(lib: str) -> str:
    return "std" if lib in _STANDARD else lib.replace("-", "_").split("_")[0]


def _find_unnamed(name: str, known: set[str]) -> set[str]:
    """Return the types without a path that a text means: ``&str``, ``[T; N]``, ``slice``."""
    text = _LIFETIME.sub("", name.strip().strip("`"))
    plain = {each: _LIFETIME.sub("", each) for each in known if "::" not in _head(each)}
    if text.startswith("&"):
        exact = {each for each, bare in plain.items() if bare == text}
        return exact or _find_unnamed(_REFERENCES.sub("", text), known)
    bare = {each: _REFERENCES.sub("", each_plain) for each, each_plain in plain.items()}
    if found := {each for each, other in bare.items() if other == text}:
        return found
    skeleton = _PARAMETER.sub("_", text)
    if found := {each for each, other in bare.items() if _PARAMETER.sub("_", other) == skeleton}:
        return found
    primitives = {text, _primitive(text)} - {""}
    return {each for each, other in plain.items() if _primitive(other) in primitives}


def _head(text: str) -> str:
    return re.split(r"[<(\[]", text, maxsplit=1)[0]


def _primitive(text: str) -> str:
    """Return the name of the primitive type that a text is; empty for a named type."""
    if text.startswith("("):
        return "unit" if text == "()" else "tuple"
    if text.startswith("["):
        return "array" if ";" in text else "slice"
    if re.match(r"(?:for<.*?> )?(?:unsafe )?(?:extern \S+ )?fn\b", text):
        return "fn"
    return _PREFIXES.get(text[:1], "")


def _not_found(
    index: Index,
    written: str,
    known: set[str],
    kinds: Collection[str],
    missing: ItemNotFound | None,
) -> ItemNotFound:
    """Suggest similar names: of implementations, and of items of the right kind."""
    columns = index.columns
    own = {
        str(p) for p, kind in zip(columns["path"], columns["kind"], strict=True) if kind in kinds
    }
    scores: dict[str, float] = {}
    # In order, so that among equals the same ones are suggested in every process.
    paths = sorted(known | own)
    for wanted, names in (
        (written, {each: each for each in paths}),
        (written.rpartition("::")[2], {each: each.rpartition("::")[2] for each in paths}),
    ):
        for path, score in find_similar(wanted, names, LEAST_ITEM_SCORE):
            scores[path] = max(score, scores.get(path, 0.0))
    best = sorted(scores, key=lambda path: (-scores[path], path))[:MOST_SUGGESTIONS]
    suggestions: list[dict[str, Any]] = [
        {"item_path": path, "score": round(scores[path], 3)} for path in best
    ]
    noun = "trait" if kinds is _TRAITS else "type"
    what = f"is no {noun} that {index.snapshot.revision.source.name} has or implements"
    if missing is None:
        what = f"is another kind of item, and {what}"
    advice = "See the suggestions." if suggestions else "Look for it with search_items."
    return ItemNotFound(f"{written!r} {what}. {advice}", suggestions=suggestions)
