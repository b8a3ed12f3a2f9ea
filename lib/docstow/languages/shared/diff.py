"""The rules by which a change is breaking, compatible or about docs only.

Each rule of crates names the heading of the Cargo book's chapter "SemVer Compatibility" that it
follows, or ``-`` where the chapter is silent and the choice is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docstow.core.model import Document, Relation

BREAKING, COMPATIBLE, DOCS_ONLY = "breaking", "compatible", "docs-only"
#: The classes, gravest first.
CLASSES = (BREAKING, COMPATIBLE, DOCS_ONLY)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule decides.

    Attributes:
        id: stable name, shown in answers.
        verdict: one of :data:`CLASSES`.
        heading: anchor of the chapter's heading; ``-`` for none.
        reason: in a line.
    """

    id: str
    verdict: str
    heading: str
    reason: str


_TABLE = """
item-removed|breaking|item-remove|a public path is gone and no alias of it is left
item-moved|breaking|item-remove|the item has another path now and the old one is gone
kind-changed|breaking|item-remove|another kind of item has the path now
item-added|compatible|item-new|a new public item
alias-kept|compatible|item-new|written elsewhere now; the old path is an alias and goes on working
reexport-changed|compatible|-|another crate documents the item on one side; compare there
alias-removed|breaking|item-remove|a further public path of the item is gone
not-judged|compatible|-|the newer docs lack it for want of a feature, or were split up
struct-public-field-added|breaking|struct-add-public-field-when-no-private|literals lack the field
struct-field-added|compatible|struct-private-fields-with-private|literals were impossible already
struct-private-field-added|breaking|struct-add-private-field-when-public|no literals any more
struct-shape-changed|breaking|struct-tuple-normal-with-private|tuple, unit or braces, seen by users
struct-shape-hidden|compatible|struct-tuple-normal-with-private|all fields are private in both
enum-variant-added|breaking|enum-variant-new|exhaustive matches lack the variant
enum-variant-added-open|compatible|attr-adding-non-exhaustive|the enum was non_exhaustive
enum-field-added|breaking|enum-fields-new|literals and patterns of the variant lack the field
variant-changed|breaking|enum-fields-new|a variant's fields have changed
discriminant-changed|breaking|-|casts give another number
non-exhaustive-added|breaking|attr-adding-non-exhaustive|literals and exhaustive matches fail
non-exhaustive-removed|compatible|attr-adding-non-exhaustive|more is allowed than before
trait-required-item-added|breaking|trait-new-item-no-default|implementations lack it, unless sealed
sealed-trait-item-added|compatible|trait-new-item-no-default|nobody else can implement the trait
trait-provided-item-added|compatible|trait-new-default-item|implementations get it for nothing
trait-item-now-required|breaking|trait-new-item-no-default|the default is gone
trait-item-now-provided|compatible|trait-new-default-item|a default was added
trait-item-signature-changed|breaking|trait-item-signature|implementations no longer fit
supertrait-added|breaking|trait-item-signature|implementations must have it too
supertrait-removed|breaking|trait-item-signature|users of the trait lose its items
bound-tightened|breaking|generic-bounds-tighten|some types are accepted no longer
bound-loosened|compatible|generic-bounds-loosen|more types are accepted
type-parameter-added|breaking|generic-new-default|uses of the type lack an argument
type-parameter-added-default|compatible|generic-new-default|a default fills in
type-parameter-removed|breaking|generic-new-default|uses of the type have one argument too many
type-parameter-default-changed|breaking|generic-new-default|uses without it mean another type
function-generics-added|compatible|fn-generalize-compatible|there was no turbofish to break
function-generics-changed|breaking|-|explicit arguments (turbofish) no longer fit
generic-as-impl-trait|breaking|-|the argument can no longer be given by turbofish
impl-trait-as-generic|compatible|fn-generalize-compatible|the same types are accepted
parameter-count-changed|breaking|fn-change-arity|calls have too many or too few arguments
parameter-type-changed|breaking|fn-generalize-mismatch|calls pass another type
parameter-generalised|compatible|fn-generalize-compatible|generic now; fine if the old type fits
receiver-changed|breaking|-|callers may hold only what the old receiver needed
receiver-loosened|compatible|-|less is asked of the caller
return-type-changed|breaking|fn-change-arity|callers get another type
return-bound-added|compatible|-|the opaque type promises more
return-bound-removed|breaking|-|the opaque type promises less
lifetimes-changed|compatible|-|only lifetimes differ; not decided, look at it
const-added|compatible|-|may be called in constants too
const-removed|breaking|-|calls in constants fail
unsafe-added|breaking|-|callers lack an unsafe block
unsafe-removed|compatible|fn-unsafe-safe|an unsafe block is merely superfluous
async-changed|breaking|-|callers get a future, or no longer get one
async-desugared|compatible|-|the same future, declared in another way
abi-changed|breaking|-|another calling convention
type-changed|breaking|-|type of a field, constant, static or alias
value-changed|compatible|-|value of a constant or default
signature-changed|breaking|-|another declaration, in a way that has no rule of its own
declaration-added|compatible|item-new|the same name in a further impl block
macro-changed|compatible|-|arms of a macro differ; not decided, look at it
impl-removed|breaking|-|code that relies on the implementation fails
auto-trait-lost|breaking|-|the type is no longer Send, Sync or the like
impl-added|compatible|impl-item-new|a new implementation
impl-bound-tightened|breaking|generic-bounds-tighten|holds for fewer types
impl-bound-loosened|compatible|generic-bounds-loosen|holds for more types
impl-generalised|compatible|fn-generalize-compatible|a more general implementation takes its place
deprecated|compatible|-|uses give a warning
must-use-added|compatible|attr-must-use|ignoring the value gives a warning
feature-required|breaking|cargo-feature-remove|the item needs a feature that it did not need
feature-no-longer-required|compatible|cargo-feature-add|the item needs fewer features
feature-removed|breaking|cargo-feature-remove|dependents that enable the feature fail
feature-added|compatible|cargo-feature-add|a new feature of the crate
default-feature-removed|breaking|cargo-feature-remove-another|no longer enabled by default
msrv-changed|compatible|env-new-rust|needs another compiler; possibly breaking, says Cargo
dependency-changed|compatible|cargo-dep-add|types of another version of a dependency may be seen
docs-changed|docs-only|-|the documentation reads differently
deprecation-changed|docs-only|-|note or removal of a deprecation
"""


#: Every rule of crates by its id.
RULES = {rule.id: rule for line in _TABLE.strip().splitlines() for rule in [Rule(*line.split("|"))]}

#: Kinds whose members come and go with them.
OWNERS = frozenset({"struct", "enum", "union", "trait", "primitive", "variant"})


@dataclass(frozen=True, slots=True)
class Side:
    """One version's snapshot.

    Attributes:
        version: exact.
        documents: of the items and their members.
        relations: between them.
        facts: of the crate: ``features``, ``rust_version``, ``target``, ``externals``.
    """

    version: str
    documents: Sequence[Document]
    relations: Sequence[Relation]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One difference.

    Attributes:
        path: the item as the old version has it; of what is new, as the new one has it.
        kind: its kind in that version.
        rule: id in :data:`docstow.languages.shared.diff.RULES`.
        before: what it was; empty for what is new.
        after: what it is; empty for what is gone.
        now: its path in the new version, where that is another.
    """

    path: str
    kind: str
    rule: str
    before: str = ""
    after: str = ""
    now: str = ""

    @property
    def verdict(self) -> str:
        """``breaking``, ``compatible`` or ``docs-only``."""
        return RULES[self.rule].verdict


#: Rules for packages other than crates; any further rule is breaking.
PACKAGE_RULES = {
    "item-removed": BREAKING,
    "kind-changed": BREAKING,
    "parameter-removed": BREAKING,
    "parameter-added-required": BREAKING,
    "parameter-now-required": BREAKING,
    "parameter-kind-changed": BREAKING,
    "parameter-moved": BREAKING,
    "parameter-renamed": BREAKING,
    "base-removed": BREAKING,
    "item-added": COMPATIBLE,
    "item-deprecated": COMPATIBLE,
    "signature-changed": COMPATIBLE,
    "docs-changed": DOCS_ONLY,
}


@dataclass(frozen=True, slots=True, order=True)
class PackageChange(Change):
    """One difference of packages; ``found`` is its class where the rule alone does not say it."""

    found: str = ""

    @property
    def verdict(self) -> str:
        """``breaking``, ``compatible`` or ``docs-only``."""
        return self.found or PACKAGE_RULES.get(self.rule, BREAKING)


def other_names(document: Document) -> Mapping[str, str]:
    """Return names of an owner that stand under other paths, each with that path or nothing."""
    names: Mapping[str, str] = document.attributes.get("others", {})
    return names


def code_notes(documents: Iterable[Document]) -> dict[str, str]:
    """Return what tables in a package's code say of names that went, by their paths."""
    found: dict[str, str] = {}
    for each in documents:
        found |= each.attributes.get("moved") or {}
    return found


def is_there(path: str, documents: Mapping[str, Document]) -> bool:
    """Return whether a version has a name, be it without a document: re-exported, inherited."""
    owner, _, name = path.rpartition(".")
    above = documents.get(owner)
    return path in documents or (above is not None and name in other_names(above))
