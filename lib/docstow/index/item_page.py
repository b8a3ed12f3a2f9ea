"""What the page of an item shows: its members, traits, links and neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from docstow.core.model import AVAILABLE, DEREFS_TO, DERIVED, PACKED, WRITTEN, Document
from docstow.core.records import dataclass
from docstow.index.item_facts import Package, facts_of

if TYPE_CHECKING:
    from docstow.index.loaded import Index

#: How many other items a page names under "See also".
_MOST_SEE_ALSO = 6

#: Least cosine of an item that is named there for its likeness.
_LEAST_COSINE = 0.5

#: Members are listed in this order, under these headings.
HEADINGS = {
    "re-export": "Re-exports",
    "module": "Modules",
    "macro": "Macros",
    "attribute_macro": "Attribute macros",
    "derive_macro": "Derive macros",
    "page": "Pages",
    "class": "Classes",
    "interface": "Interfaces",
    "type": "Types",
    "struct": "Structs",
    "enum": "Enums",
    "union": "Unions",
    "trait": "Traits",
    "trait_alias": "Trait aliases",
    "type_alias": "Type aliases",
    "function": "Functions",
    "constant": "Constants",
    "static": "Statics",
    "primitive": "Primitive types",
    "extern_type": "Foreign types",
    "variant": "Variants",
    "field": "Fields",
    "assoc_type": "Associated types",
    "assoc_const": "Associated constants",
    "attribute": "Attributes",
    "property": "Properties",
    "method": "Methods",
}


@dataclass(frozen=True, slots=True)
class Member:
    """One line in the list of an item's members."""

    path: str
    kind: str
    signature: str
    summary: str


@dataclass(frozen=True, slots=True)
class Traits:
    """What a type implements.

    Attributes:
        own: the traits of implementations that were written or derived; ``!`` before those that
            it says it does not implement.
        available: when a type has a trait, for traits that it does not always have.
        lacking: the auto traits that it does not have.
        further: how many automatic and blanket implementations there are besides.
        derefs: the types that it dereferences to.
    """

    own: Sequence[str] = ()
    further: int = 0
    derefs: Sequence[str] = ()
    available: Mapping[str, str] = field(default_factory=dict)
    lacking: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ItemPage:
    """What the page of an item shows.

    Attributes:
        document: the item.
        members: what it owns, in the order of their paths.
        traits: what the type implements.
        links: paths and addresses that its docs link to, and the page does not.
        neighbours: items that a reader of this one may want next.
        package: says how required features are turned on, and which Rust is needed.
        namesakes: kinds of other items of its path, and how to ask for them.
        derives: the trait that a derive macro implements.
    """

    document: Document
    members: Sequence[Member]
    traits: Traits
    links: Sequence[str] = ()
    neighbours: Sequence[Member] = ()
    package: Package | None = None
    namesakes: Sequence[tuple[str, str]] = ()
    derives: str = ""

    @property
    def grouped(self) -> list[tuple[str, list[Member]]]:
        """The members by kind, in the order of :data:`HEADINGS`."""
        order = list(HEADINGS)
        listed = sorted(self.members, key=lambda member: order.index(member.kind))
        return [(kind, list(group)) for kind, group in groupby(listed, lambda each: each.kind)]

    @property
    def facts(self) -> list[str]:
        """What is known of the item beside its docs, each a line of Markdown."""
        return facts_of(self.document, self.package)


def read_item(index: Index, row: int) -> ItemPage:
    """Return what the page of an item shows.

    Args:
        index: the item's.
        row: the item's.
    """
    document = index.document(row)
    members, further = index.members(row), _see_also(index, row)
    # What the page lists or links to already is not listed again.
    shown = {row, *members, *further, *index.rows_by_path.get(document.parent, ())}
    links = [
        link
        for link in _find_links(index, document.path)
        if f"({link})" not in document.text and shown.isdisjoint(index.find(link))
    ]
    return ItemPage(
        document,
        [*_re_exported(index, row), *(_member(index, child, document) for child in members)],
        _traits(index, document.path),
        links,
        [_member(index, other) for other in further],
        Package.of(index.snapshot),
        _namesakes(index, row),
        _derived_trait(index, document),
    )


def read_own(index: Index, row: int) -> ItemPage:
    """Return what the page of an item shows of it and its members, and of no other items.

    Args:
        index: the item's.
        row: the item's.
    """
    document = index.document(row)
    members = [_member(index, child) for child in index.members(row)]
    package = Package.of(index.snapshot)
    return ItemPage(document, members, _traits(index, document.path), package=package)


def _namesakes(index: Index, row: int) -> list[tuple[str, str]]:
    """Return kind and spelling of the other items of a Rust path."""
    from docstow.index.lookup import spellings

    if index.language.packaged:
        return []
    rows = index.rows_by_path[str(index.columns["path"][row])]
    return spellings(index, (other for other in rows if other != row))


def _derived_trait(index: Index, document: Document) -> str:
    """Return the trait that a derive macro implements, as far as names and the crate's docs tell.

    That of its path, else the only one of its name, also of another crate, else the standard
    library's that the crate's page names, else the one that the docs of the macro or the crate link
    to.
    """
    if "derive_macro" not in {document.kind, document.attributes.get("target_kind")}:
        return ""
    from docstow.index.loaded import fold_title
    from docstow.index.lookup import of_kinds

    paths = index.columns["path"]
    rows = index.rows_by_title.get(fold_title(document.title), ())
    traits = {str(paths[row]) for row in rows if of_kinds(index, row, {"trait"})}
    if document.path in traits:
        return document.path
    if len(traits) == 1:
        return traits.pop()
    root = index.document(index.rows_by_parent[""][0])
    named = re.search(rf"\b(?:std|core)::(?:\w+::)*{re.escape(document.title)}\b", root.text)
    if named:
        return named[0]
    linked = {
        link
        for path in (document.path, root.path)
        for link in _find_links(index, path)
        if link.rpartition("::")[2] == document.title and link != document.path
    }
    return linked.pop() if len(linked) == 1 else ""


def _member(index: Index, row: int, owner: Document | None = None) -> Member:
    """Return an item as a line; as a member of ``owner`` with what it needs beyond that."""
    names = ("path", "kind", "signature", "summary")
    path, kind, signature, summary = (str(index.columns[name][row]) for name in names)
    if kind == "re-export":
        summary = ". ".join(filter(None, [summary, _leads_to(index.attributes(row))]))
    text = str(index.columns["attributes"][row])
    if owner is not None and not index.language.packaged:
        told = '"available_here"' in text or '"deprecated"' in text
        attributes = index.attributes(row) if told else {}
        marks = ["**deprecated**"] if "deprecated" in attributes else []
        if here := attributes.get("available_here"):
            marks.append(f"available {here}")
        summary = " ".join(filter(None, [summary, f"({'; '.join(marks)})" if marks else ""]))
    return Member(path, kind, signature, summary)


def _kind(index: Index, row: int) -> str:
    """Return the kind of an item in words; of another crate's also whose it is."""
    kind = str(index.columns["kind"][row]).replace("_", " ")
    return (_leads_to(index.attributes(row)) or kind) if kind == "re-export" else kind


def _leads_to(target: Mapping[str, Any]) -> str:
    """Return kind, crate, version and page of what another crate's re-exported item is."""
    crate = f"{target.get('target_crate', '')} {target.get('target_version', '')}".strip()
    kind = str(target.get("target_kind", "")).replace("_", " ")
    what = " of ".join(filter(None, [kind, crate]))
    url = target.get("target_url", "")
    return f"{what} <{url}>" if url else what


def _re_exported(index: Index, row: int) -> list[Member]:
    """Return what a module re-exports of its own crate, and where that is documented."""
    columns = index.columns
    if columns["kind"][row] != "module" or index.language.packaged:
        return []
    found = []
    for alias in index.aliases_by_parent.get(str(columns["path"][row]), ()):
        name = alias.rpartition("::")[2]
        for target in dict.fromkeys(path for path, _ in index.aliases[alias]):
            rows = [each for each in index.find(alias) if columns["path"][each] == target]
            kinds = " and ".join(_kind(index, each) for each in rows)
            summary = next((str(columns["summary"][each]) for each in rows), "")
            renamed = "" if target.endswith(f"::{name}") else f" as {name}"
            told = ": ".join(filter(None, [kinds, summary]))
            found.append(Member(alias, "re-export", f"pub use {target}{renamed};", told))
    return found


def _traits(index: Index, path: str) -> Traits:
    table, chosen = index.relations, index.relation_rows.get(path, [])
    if not chosen:
        return Traits()
    own: Counter[str] = Counter()
    derefs, lacking, further = set(), set(), 0
    conditions: dict[str, list[str]] = {}
    columns = (table[name][chosen] for name in ("predicate", "object", "detail"))
    for predicate, name, detail in zip(*columns, strict=True):
        if predicate in (WRITTEN, DERIVED):
            own[str(name)] += 1
        elif predicate == AVAILABLE:
            conditions.setdefault(str(name), []).append(detail.partition("\n")[0])
        elif predicate == DEREFS_TO:
            derefs.add(str(name))
        elif predicate in PACKED:
            further += name.count(" ") + 1
            lacking |= {each[1:] for each in name.split(" ") if each.startswith("!")}
    # Of a trait that is implemented several times, some may be there without a condition.
    available = {
        name: " or ".join(dict.fromkeys(each))
        for name, each in conditions.items()
        if len(each) == own[name]
    }
    return Traits(
        tuple(sorted(own)), further, tuple(sorted(derefs)), available, tuple(sorted(lacking))
    )


def _see_also(index: Index, row: int) -> list[int]:
    """Return the rows of other items worth reading: links first, then the most similar.

    Of similar ones, items of the same module come first; the item's own members and owner are on
    its page already and are left out.
    """
    columns = index.columns
    path, parent = str(columns["path"][row]), str(columns["parent"][row])
    linked = [other for link in _find_links(index, path) for other in index.find(link)]
    similar = _find_similar(index, row)
    siblings = [other for other in similar if columns["parent"][other] == parent]
    found: list[int] = []
    for other in [*linked, *siblings, *similar]:
        name, owner = str(columns["path"][other]), str(columns["parent"][other])
        if other not in found and path not in {name, owner} and name != parent:
            found.append(other)
    return found[:_MOST_SEE_ALSO]


def _find_links(index: Index, path: str) -> list[str]:
    """Return paths and addresses that the docs of an item link to, in alphabetical order."""
    table, chosen = index.relations, index.relation_rows.get(path, [])
    links = [row for row in chosen if table["predicate"][row] == "links-to"]
    return sorted({str(each) for each in table["object"][links]})


def _find_similar(index: Index, row: int) -> list[int]:
    """Return the rows whose best passage is most like the row's first one, best first."""
    import numpy as np

    from docstow.index.ranking import top

    begin = int(index.first_passage[row])
    lengths = index.vector_lengths
    cosine = (index.matrix @ (index.matrix[begin] / lengths[begin])) / lengths
    best = np.maximum.reduceat(cosine, index.first_passage)
    order = top(best, 4 * _MOST_SEE_ALSO)
    return [int(other) for other in order if best[other] >= _LEAST_COSINE and other != row]
