"""Read rustdoc JSON into documents and relations: what a crate shows to its users, each item once.

The file is decoded, public paths are found, drafts are made of the items, and last come the texts,
whose links need everything else.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any
from urllib.parse import urljoin

from docstow.core.model import (
    AUTO_TRAITS,
    AVAILABLE,
    BLANKET,
    BLANKET_TRAITS,
    DEREFS_TO,
    DERIVED,
    MENTIONS,
    OPERATES,
    PACKED,
    STANDARD,
    WRITTEN,
    YIELDS,
    Document,
    Relation,
)
from docstow.formats.hidden import drop_hidden
from docstow.formats.markdown.boxes import quote_boxes
from docstow.languages.rust.rustdoc import links, schema
from docstow.languages.rust.rustdoc.attributes import combine
from docstow.languages.rust.rustdoc.file import NEWEST, RustdocFile, decoding, format_version
from docstow.languages.rust.rustdoc.items import Anchor, Draft, Items, behind_references
from docstow.languages.rust.rustdoc.links import (
    External,
    external_url,
    page_url,
    public_path,
    read_external,
    root_url,
)
from docstow.languages.rust.rustdoc.paths import walk, written_paths
from docstow.languages.rust.rustdoc.schema import Id, Item
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter
from docstow.text.markdown import pieces

__all__ = ["READER", "CrateDocs", "format_version", "read"]
READER = "rustdoc/9"
# `impl Hold`, or `impl<'a, T> Slot<'a, T>`: the same names twice, without bounds.
_PLAIN_BLOCK = re.compile(r"(?:impl \w+|impl(<[\w', ]*>) \w+\1)?")
_VERSION_END = re.compile(r"[ (<]")
#: The compiler's own traits, which users neither implement nor name.
_INTERNAL = frozenset(
    f"core::marker::{name}" for name in ("Freeze", "StructuralPartialEq", "UnsafeUnpin")
)
_DEREF = frozenset({"core::ops::Deref", "core::ops::deref::Deref"})
#: Traits of which the tables keep what comes of them.
_YIELDING = frozenset({"Iterator", "IntoIterator", "Stream", "Future", "IntoFuture"})
_OPERATING = frozenset(
    {
        *("Add", "Sub", "Mul", "Div", "Rem", "Neg", "Not", "Index"),
        *("BitAnd", "BitOr", "BitXor", "Shl", "Shr"),
    }
)


@dataclass(frozen=True, slots=True)
class CrateDocs:
    """The documentation that a file has for users of the crate.

    Attributes:
        name: the package.
        version: its version.
        format_version: of the file.
        target: triple for which it was documented; empty before format 44.
        facts: lib, description, crate_version, externals, counts by kind and so on; JSON values.
        documents: sorted by path and kind, unique by both.
        relations: sorted; ``alias``, ``re-exports``, ``links-to``, ``requires-feature``, and those
            of ``implementations``.
        definitions: paths at which items are defined, and users cannot write them, to the paths
            of their documents: other crates' files name items in this way.
    """

    name: str
    version: str
    format_version: int
    target: str
    facts: Mapping[str, Any]
    documents: list[Document]
    relations: list[Relation]
    definitions: Mapping[str, str] = field(default_factory=dict)


def read(
    body: bytes,
    *,
    name: str = "",
    version: str = "",
    base_url: str = "https://docs.rs",
    try_unknown: bool = False,
) -> CrateDocs:
    """Read a rustdoc JSON file of any format from 15 to 61.

    Args:
        body: the JSON, decompressed.
        name: the package; the library's name if left out, which differs in ``-`` and ``_``.
        version: the package's version; the file's own if left out.
        base_url: the site that the documents' URLs point to.
        try_unknown: whether a format newer than 61 is tried instead of refused; the facts then
            have ``format_untested``.

    Raises:
        UnsupportedFormat: the format is older than 15 or newer than 61; or it was tried and is
            too different.
        UnreadableInput: not rustdoc JSON, or broken.
    """
    file = RustdocFile(body, try_unknown=try_unknown)
    with decoding(file.format_version):
        return _Reading(file, name, version, base_url).result()


class _Reading:
    """The reading of one file."""

    def __init__(self, file: RustdocFile, name: str, version: str, base_url: str) -> None:
        self.file = file
        self.name = name or file.lib
        # The standard library of a nightly adds the commit and the day, which no version can have.
        self.version = version or _VERSION_END.split(file.crate.crate_version or "")[0]
        self.target = file.crate.target.triple if file.crate.target is not None else ""
        self.externals = {
            number: read_external(each) for number, each in file.crate.external_crates.items()
        }
        self.root = root_url(base_url, self.name, self.version, file.lib)
        self.items = Items(file, self.root, self.externals)
        self.written: Mapping[Id, str] = {}
        self.page_urls: set[str] = set()
        #: Conditions beyond others in words, by the identity of both, which the drafts keep.
        self.words: dict[tuple[int, int], str | None] = {}
        self.in_degrees: Counter[Id] = Counter()

    def result(self) -> CrateDocs:
        view = walk(self.file)
        self.items.add(view)
        self.written = written_paths(self.file)
        relations = set(self.items.relations(view))
        written = _Implementations(
            self.file, self.items.members.headers, self._path_of, self._beyond
        )
        relations.update(written.relations())
        drafts = [draft for _, draft in sorted(self.items.drafts.by_key.items())]
        relations.update(each for draft in drafts for each in _reexports(draft))
        self.page_urls.update(draft.url.partition("#")[0] for draft in drafts)
        texts = [self._text(draft, relations) for draft in drafts]
        documents = [self._document(draft, text) for draft, text in zip(drafts, texts, strict=True)]
        relations.update(self._required_features(drafts))
        relations.update(self._mentions(drafts))
        ordered = sorted(relations)
        facts = self._facts(documents)
        return CrateDocs(
            self.name,
            self.version,
            self.file.format_version,
            self.target,
            facts,
            documents,
            ordered,
            self._definitions(),
        )

    def _mentions(self, drafts: list[Draft]) -> Iterator[Relation]:
        """Yield what declarations mean by names that alone do not tell it."""
        places = Counter(each.path[-1] for each in self.file.paths.values() if each.path)
        for draft in drafts:
            if draft.kind not in {"function", "method", "field", "type_alias"}:
                continue
            meant = set()
            for each in draft.mentioned:
                path = self._path_of(each)
                first, last = path.partition("::")[0], path.rpartition("::")[2]
                foreign = first != self.file.lib and first not in STANDARD
                if path and (foreign or places[last] > 1):
                    meant.add(path)
            if meant:
                yield Relation(draft.path, MENTIONS, " ".join(sorted(meant)))

    def _definitions(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for item_id, summary in self.file.paths.items():
            anchor = self._anchor(item_id) if summary.crate_id == 0 else None
            defined = "::".join(summary.path)
            if anchor is not None and anchor.document != defined:
                found[defined] = anchor.document
        return found

    def _text(self, draft: Draft, relations: set[Relation]) -> str:
        """Return the docs with their links resolved; links and mentions are counted on the way."""
        used = {each for each in draft.mentioned if each in self.items.drafts.anchors}
        texts: list[tuple[str, str]] = []
        for part in draft.parts:
            text = "\n\n".join(self._linked(part.sources, draft, used, relations))
            texts.append((part.header, text))
        blocks = _joined(texts)
        for header, impl_id in draft.impl_docs:
            (text,) = self._linked((impl_id,), draft, used, relations)
            blocks.append(f"### `{header}`\n\n{text}")
        anchors = self.items.drafts.anchors
        others = {anchors[each].document for each in used} - {draft.path, draft.parent}
        self.in_degrees.update(each for each in used if anchors[each].document in others)
        return "\n\n".join(blocks)

    def _linked(
        self, sources: tuple[Id, ...], draft: Draft, used: set[Id], relations: set[Relation]
    ) -> Iterator[str]:
        """Yield the docs of these items, links resolved, empty ones left out."""
        for source in sources:
            item = self.file.index[source]
            if not item.docs:
                continue
            if bytes(item.links) == b"{}" and ".html" not in item.docs:
                yield quote_boxes(drop_hidden(item.docs))
                continue
            urls: dict[str, str] = {}
            for key, target in self.file.links(item).items():
                path, url = self._link(target)
                urls[key] = url
                if path and path != draft.path:
                    relations.add(Relation(draft.path, "links-to", path))
                if target in self.items.drafts.anchors:
                    used.add(target)
            text = links.resolve(item.docs, urls, partial(self._absolute, draft))
            yield quote_boxes(drop_hidden(text))

    def _absolute(self, draft: Draft, destination: str) -> str:
        """Return the URL of a relative link, which may be written for another public path."""
        aliases = draft.attributes.get("aliases", ())
        shown_on = [draft.url, *(page_url(self.root, each, draft.kind) for each in aliases)]
        urls = [urljoin(page, destination) for page in shown_on]
        return next((url for url in urls if url.partition("#")[0] in self.page_urls), urls[0])

    def _link(self, target: Id) -> tuple[str, str]:
        """Return path and URL of a link's target; both empty where the file does not say."""
        anchor = self._anchor(target)
        if anchor is not None:
            return anchor.document, anchor.url
        summary = self.file.paths.get(target)
        if summary is None or summary.crate_id == 0:
            return "", ""
        return self._external(target, summary), external_url(summary, self.externals)

    def _anchor(self, target: Id) -> Anchor | None:
        return self.items.drafts.anchors.get(target)

    def _path_of(self, target: Id | None) -> str:
        """Return the public path of an item, or else the definition path of another crate's."""
        if target is None:
            return ""
        anchor = self._anchor(target)
        if anchor is not None:
            return anchor.document
        summary = self.file.paths.get(target)
        return self._external(target, summary) if summary is not None else ""

    def _external(self, target: Id, summary: schema.Summary) -> str:
        """Return the path of another crate's item: as the docs write it, where they do."""
        return self.written.get(target) or public_path(summary)

    def _beyond(self, impl_id: Id, owner: str) -> str:
        """Return in words when an implementation is there, given that its type is."""
        cfg = combine(self.items.drafts.conditions([impl_id]))
        rest = cfg.beyond(self.items.drafts.owner_cfg(owner)) if cfg is not None else None
        return rest.availability() if rest is not None else ""

    def _document(self, draft: Draft, text: str) -> Document:
        attributes = draft.attributes
        if "trait" in attributes:
            attributes["trait"] = self._path_of(attributes["trait"])
        attributes["depth"] = draft.path.count("::") + 1
        in_degree = sum(self.in_degrees[part.sources[-1]] for part in draft.parts)
        if in_degree:
            attributes["in_degree"] = in_degree
        if draft.cfg is not None and draft.parent:
            owner = self.items.drafts.owner_cfg(draft.parent, draft.kind)
            key = id(draft.cfg), id(owner)
            if key not in self.words:
                rest = draft.cfg.beyond(owner)
                self.words[key] = rest.availability() if rest is not None else None
            if (words := self.words[key]) is not None:
                attributes["available_here"] = words
        if block := _special_block(draft):
            attributes["impl"] = block
        return Document(
            path=draft.path,
            kind=draft.kind,
            title=draft.title,
            signature=_signature(draft),
            text=text,
            url=draft.url,
            parent=draft.parent,
            attributes=attributes,
        )

    def _required_features(self, drafts: list[Draft]) -> Iterator[Relation]:
        """Yield one relation for each feature that an item needs beyond its owner."""
        needed = {draft.path: set(draft.attributes.get("features", ())) for draft in drafts}
        for draft in drafts:
            inherited = needed.get(draft.parent, set())
            for feature in draft.attributes.get("features", ()):
                if feature not in inherited:
                    yield Relation(draft.path, "requires-feature", feature)

    def _facts(self, documents: list[Document]) -> dict[str, Any]:
        root = next(each for each in documents if not each.parent)
        named = [each for each in self.externals.values() if each.package]
        facts: dict[str, Any] = {
            "lib": self.file.lib,
            "description": _description(root.text),
            "crate_version": self.file.crate.crate_version,
            "format_version": self.file.format_version,
            "target": self.target,
            "externals": {
                each.lib: {"package": each.package, "version": each.version, "url": each.url}
                for each in sorted(named, key=_external_key)
            },
            "counts": dict(sorted(Counter(each.kind for each in documents).items())),
        }
        if self.file.format_version > NEWEST:
            facts["format_untested"] = True
        return facts


def _reexports(draft: Draft) -> Iterator[Relation]:
    """Yield what a re-export points to; a name can have a target in each namespace.

    Globs have relations of their modules.
    """
    if draft.title.endswith("*"):
        return
    for each in (draft.attributes, *draft.attributes.get("further_targets", ())):
        if "target_crate" in each:
            version = each.get("target_version", "")
            yield Relation(draft.path, "re-exports", each["target"], version)


def _external_key(crate: External) -> tuple[str, str]:
    return crate.lib, crate.version


def _joined(texts: list[tuple[str, str]]) -> list[str]:
    """Return the texts of a document's parts, under their impl blocks where they differ."""
    distinct = list(dict.fromkeys(text for _, text in texts if text))
    if len(distinct) <= 1:
        return distinct
    return [f"### `{header}`\n\n{text}" if header else text for header, text in texts if text]


def _signature(draft: Draft) -> str:
    """Return the declaration; several are shown in their impl blocks."""
    if len(draft.parts) == 1:
        return draft.parts[0].signature
    shown = []
    for part in draft.parts:
        inside = part.signature.replace("\n", "\n    ")
        shown.append(f"{part.header} {{\n    {inside}\n}}" if part.header else part.signature)
    return "\n\n".join(dict.fromkeys(shown))


def _special_block(draft: Draft) -> str:
    """Return the impl block of a member if it has bounds or arguments of its own."""
    header = draft.parts[0].header
    if len(draft.parts) > 1 or _PLAIN_BLOCK.fullmatch(header) or "trait" in draft.attributes:
        return ""
    return header


def _description(text: str) -> str:
    """Return the first paragraph of prose, as plain text on one line."""
    prose = (each.text for each in pieces(text) if not each.level and each.info is None)
    return next(prose, "")


class _Implementations:
    """Reads the implementations of one file.

    Args:
        file: the file.
        headers: those that are printed already.
        path_of: the public path of an id, or its definition path in another crate, or ``""``.
        beyond: in words the condition of an implementation beyond that of the type's path.
    """

    def __init__(
        self,
        file: RustdocFile,
        headers: Mapping[Id, str],
        path_of: Callable[[Id | None], str],
        beyond: Callable[[Id, str], str],
    ) -> None:
        self.file = file
        self.headers = headers
        self.path_of = cache(path_of)  # a crate implements few traits, each for many types
        self.beyond = beyond
        self.printer = SignaturePrinter(file)
        self.full_paths = _FullPathPrinter(file, path_of)
        # By identity: implementations share what is written alike, and their file keeps it.
        self.subjects: dict[int, str] = {}
        self.shorts: dict[tuple[int, int, int], str] = {}

    def relations(self) -> Iterator[Relation]:
        """Yield all implementations of traits, and what dereferences to what.

        Headers that read alike (``From<io::Error>`` and ``From<fmt::Error>``) get full paths.
        """
        single: defaultdict[Relation, list[schema.Impl]] = defaultdict(list)
        packed: defaultdict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
        blankets: dict[str, str] = {}
        conditions: dict[int, str] = {}
        told: dict[Relation, None] = {}
        for impl_id, impl in self.file.impls.items():
            trait = self._trait(impl)
            if not trait or trait in _INTERNAL:
                continue
            item = self.file.index[impl_id]
            subject = self._subject(impl)
            marked = f"!{trait}" if impl.is_negative else trait
            predicate = _predicate(impl, item)
            header = self.headers.get(impl_id) or self.printer.impl(impl)
            if predicate in {WRITTEN, DERIVED}:
                told |= dict.fromkeys(self._told(subject, trait, impl))
            if predicate in PACKED:
                packed[subject, predicate].append((marked, header, self._short(impl)))
                continue
            if predicate == BLANKET:
                blankets[self._short(impl)] = header
            single[Relation(subject, predicate, marked, header)].append(impl)
            if b"cfg" in bytes(item.attrs) or b"CfgTrace" in bytes(item.attrs):
                conditions[id(impl)] = self.beyond(impl_id, subject)
        yield from told
        for relation, alike in single.items():
            for impl, distinct in zip(alike, self._distinct(relation, alike), strict=True):
                yield distinct
                if words := conditions.get(id(impl)):
                    detail = f"{words}\n{distinct.detail}"
                    yield Relation(relation.subject, AVAILABLE, relation.object, detail)
        for (subject, predicate), each in packed.items():
            # Bounds of a copy stand in its where clause, wherever the source has them.
            pairs = {(trait, blankets.get(short, header)) for trait, header, short in each}
            traits, headers = zip(*sorted(pairs), strict=True)
            yield Relation(subject, predicate, " ".join(traits), "\n".join(headers))

    def _short(self, impl: schema.Impl) -> str:
        """Print the header of a blanket implementation without bounds; empty for others."""
        if impl.blanket_impl is None and not _is_blanket(impl):
            return ""
        target = impl.blanket_impl or impl.target
        key = id(impl.generics), id(impl.trait), id(target)
        if key not in self.shorts:
            names = ", ".join(each.name for each in impl.generics.params)
            trait = self.printer.path(impl.trait) if impl.trait is not None else ""
            self.shorts[key] = f"<{names}> {trait} for {self.printer.type(target)}"
        return self.shorts[key]

    def _distinct(self, relation: Relation, alike: list[schema.Impl]) -> Iterator[Relation]:
        if len(alike) == 1:
            yield relation
            return
        for impl in alike:
            header = self.full_paths.impl(impl)
            yield Relation(relation.subject, relation.predicate, relation.object, header)

    def _trait(self, impl: schema.Impl) -> str:
        if impl.trait is None:
            return ""
        return self.path_of(impl.trait.id) or impl.trait.path or impl.trait.name

    def _subject(self, impl: schema.Impl) -> str:
        """Return the type that is implemented for: its path if it has one, else as written."""
        target = impl.target
        known = self.subjects.get(id(target))
        if known is None:
            known = self._type(behind_references(target)) or self.printer.type(target)
            self.subjects[id(target)] = known
        return known

    def _type(self, value: schema.Ty) -> str:
        if isinstance(value, schema.Type) and value.resolved_path is not None:
            return self.path_of(value.resolved_path.id)
        return ""

    def _told(self, subject: str, trait: str, impl: schema.Impl) -> Iterator[Relation]:
        """Yield what the associated types of an implementation tell of a type."""
        last = trait.rpartition("::")[2]
        if trait in _DEREF:
            yield from self._dereferenced(subject, impl)
        elif last in _YIELDING:
            yield from self._yielded(subject, impl)
        elif last in _OPERATING:
            yield from self._operated(subject, last, impl)

    def _dereferenced(self, subject: str, impl: schema.Impl) -> Iterator[Relation]:
        for each in impl.items:
            item = self.file.index.get(each)
            if item is None or item.name != "Target" or item.kind != "assoc_type":
                continue
            target = self.file.inner(item, schema.AssocType).type
            if target is not None:
                written = self.printer.type(target)
                yield Relation(subject, DEREFS_TO, self._type(target) or written, written)

    def _yielded(self, subject: str, impl: schema.Impl) -> Iterator[Relation]:
        if not isinstance(impl.target, schema.Type) or impl.target.resolved_path is None:
            return  # of references, other things come than of the type itself
        for each in impl.items:
            item = self.file.index.get(each)
            if item is None or item.name not in {"Item", "Output"} or item.kind != "assoc_type":
                continue
            given = self.file.inner(item, schema.AssocType).type
            if given is not None:
                yield Relation(subject, YIELDS, self.full_paths.type(given, 1), item.name)

    def _operated(self, subject: str, trait: str, impl: schema.Impl) -> Iterator[Relation]:
        """Yield what an operator gives, or ``value[index]``; of references, what it gives of both.

        Nothing is told where that depends on type parameters by more than their names.
        """
        given = [self.file.index.get(each) for each in impl.items]
        kinds = [each for each in given if each is not None and each.name == "Output"]
        target = self.file.inner(kinds[0], schema.AssocType).type if len(kinds) == 1 else None
        if target is None or impl.trait is None or not subject or "<" in subject:
            return
        args = impl.trait.args if isinstance(impl.trait.args, schema.GenericArgs) else None
        written = args.angle_bracketed.args if args and args.angle_bracketed else []
        others = [each.type for each in written if not isinstance(each, str) and each.type]
        other = self.full_paths.type(behind_references(others[0]), 1) if others else "Self"
        output = self.full_paths.type(behind_references(target), 1)
        yield Relation(subject, OPERATES, f"{trait} {other} = {output}", "")


def _predicate(impl: schema.Impl, item: Item) -> str:
    if impl.blanket_impl is not None:
        return BLANKET_TRAITS
    if impl.is_synthetic:
        return AUTO_TRAITS
    if _is_blanket(impl):
        return BLANKET
    attributes = bytes(item.attrs)
    derived = b"automatically_derived" in attributes or b"AutomaticallyDerived" in attributes
    return DERIVED if derived else WRITTEN


def _is_blanket(impl: schema.Impl) -> bool:
    """Tell whether the implementation is for a bare type parameter."""
    return isinstance(impl.target, schema.Type) and impl.target.generic is not None


class _FullPathPrinter(SignaturePrinter):
    """Prints the paths in generic arguments in full."""

    __slots__ = ("path_of",)

    def __init__(self, file: RustdocFile, path_of: Callable[[Id | None], str]) -> None:
        super().__init__(file)
        self.path_of = path_of

    def path(self, path: schema.Path, depth: int = 0) -> str:
        """Print a path with the arguments of its last segment."""
        if depth == 0:
            return super().path(path)
        return (self.path_of(path.id) or path.path or path.name) + self.args(path.args, depth)
