"""The shape of rustdoc JSON, formats 37 to 61, as typed values.

This room knows the field names of ``rustdoc-json-types``. It does not know older spellings
(``rustdoc_legacy`` rewrites those into these shapes) nor what any of it means to a reader.

Large and seldom needed members stay ``msgspec.Raw``: a third of a file describes automatic and
blanket implementations that nobody reads, and decoding them would double time and memory.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Raw, Struct, field

from docstow.languages.rust.rustdoc.format import (
    Constant,
    FunctionHeader,
    FunctionSignature,
    GenericBound,
    Generics,
    Id,
    Path,
    Ty,
)

Key = TypeVar("Key", int, str)


class Deprecation(Struct, gc=False, frozen=True):
    """``#[deprecated]``."""

    since: str | None = None
    note: str | None = None


class Item(Struct, gc=False, frozen=True):
    """One entry of ``index``. ``kind`` stands beside ``inner`` in formats before 28 only."""

    inner: Raw
    crate_id: int = 0
    name: str | None = None
    span: Raw = Raw(b"null")
    visibility: Raw = Raw(b'"public"')
    docs: str | None = None
    links: Raw = Raw(b"{}")
    attrs: Raw = Raw(b"[]")
    deprecation: Deprecation | None = None
    stability: Any = None
    kind: str = ""


class Summary(Struct, gc=False, frozen=True):
    """One entry of ``paths``: where an item is defined, which need not be public."""

    crate_id: int
    path: list[str]
    kind: str


class ExternalCrate(Struct, gc=False, frozen=True):
    """``name`` is the library's name; the package's name and version are in the URL alone."""

    name: str
    html_root_url: str | None = None


class Target(Struct, gc=False, frozen=True):
    """The compilation target (format 44 and later)."""

    triple: str = ""


class Crate(Struct, Generic[Key], gc=False, frozen=True):
    """A whole file. Ids as keys are strings in JSON: ``Key`` says what they are turned into."""

    root: Key
    index: dict[Key, Item]
    paths: dict[Key, Summary]
    format_version: int
    crate_version: str | None = None
    external_crates: dict[int, ExternalCrate] = {}
    target: Target | None = None


class Function(Struct, gc=False, frozen=True):
    """A function or a method."""

    sig: FunctionSignature
    generics: Generics
    header: FunctionHeader
    has_body: bool = True


class Module(Struct, gc=False, frozen=True):
    """``is_stripped``: private, and in the file only because a glob re-exports what is in it."""

    items: list[Id]
    is_crate: bool = False
    is_stripped: bool = False


class Use(Struct, gc=False, frozen=True):
    """``pub use source as name;``. No ``id`` means a primitive."""

    source: str
    name: str
    id: Id | None = None
    is_glob: bool = False


class ExternCrate(Struct, gc=False, frozen=True):
    """``pub extern crate``; which of the two is the new name differs between compilers."""

    name: str
    rename: str | None = None


class PlainFields(Struct, gc=False, frozen=True):
    """Named fields."""

    fields: list[Id] = []
    has_stripped_fields: bool = False


class StructKind(Struct, gc=False, frozen=True):
    """``plain`` or ``tuple``; a unit struct is the bare word ``unit`` in this one's place."""

    plain: PlainFields | None = None
    positions: list[Id | None] | None = field(default=None, name="tuple")


class StructInner(Struct, gc=False, frozen=True):
    """A struct."""

    kind: StructKind | str
    generics: Generics
    impls: list[Id] = []


class UnionInner(Struct, gc=False, frozen=True):
    """A union."""

    generics: Generics
    fields: list[Id] = []
    has_stripped_fields: bool = False
    impls: list[Id] = []


class EnumInner(Struct, gc=False, frozen=True):
    """An enum."""

    generics: Generics
    variants: list[Id] = []
    has_stripped_variants: bool = False
    impls: list[Id] = []


class Discriminant(Struct, gc=False, frozen=True):
    """``= expr``."""

    expr: str
    value: str = ""


class VariantKind(Struct, gc=False, frozen=True):
    """``tuple`` or ``struct``; ``types`` where format 15 wrote types instead of field ids."""

    positions: list[Id | None] | None = field(default=None, name="tuple")
    plain: PlainFields | None = field(default=None, name="struct")
    types: list[Ty] | None = None


class Variant(Struct, gc=False, frozen=True):
    """A variant of an enum; ``plain`` is the bare word."""

    kind: VariantKind | str
    discriminant: Discriminant | None = None


class Trait(Struct, gc=False, frozen=True):
    """A trait; ``implementations`` are this crate's only."""

    generics: Generics
    items: list[Id] = []
    bounds: list[GenericBound] = []
    implementations: list[Id] = []
    is_auto: bool = False
    is_unsafe: bool = False
    is_dyn_compatible: bool = True


class TraitAlias(Struct, gc=False, frozen=True):
    """``trait Alias = Bounds``."""

    generics: Generics
    params: list[GenericBound] = []


class Impl(Struct, gc=False, frozen=True):
    """An implementation block; inherent without ``trait``."""

    generics: Generics
    target: Ty = field(name="for")
    trait: Path | None = None
    items: list[Id] = []
    is_unsafe: bool = False
    is_negative: bool = False
    is_synthetic: bool = False
    blanket_impl: Ty | None = None


class TypeAlias(Struct, gc=False, frozen=True):
    """``type A<T> = B<T>``."""

    type: Ty
    generics: Generics


class ConstantInner(Struct, gc=False, frozen=True):
    """A module's constant."""

    type: Ty
    const: Constant


class Static(Struct, gc=False, frozen=True):
    """A static."""

    type: Ty
    is_mutable: bool = False
    is_unsafe: bool = False
    expr: str = ""


class ProcMacro(Struct, gc=False, frozen=True):
    """``kind`` is ``bang``, ``attr`` or ``derive``."""

    kind: str
    helpers: list[str] = []


class Primitive(Struct, gc=False, frozen=True):
    """A primitive type's page; only core and std have them."""

    name: str
    impls: list[Id] = []


class AssocConst(Struct, gc=False, frozen=True):
    """Without ``value`` it is required."""

    type: Ty
    value: str | None = None


class AssocType(Struct, gc=False, frozen=True):
    """Without ``type`` it is required."""

    generics: Generics
    bounds: list[GenericBound] = []
    type: Ty | None = None
