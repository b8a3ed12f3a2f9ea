"""The schema of rustdoc JSON, formats 37 to 61, as typed values.

In structs that stand for a Rust enum exactly one member is set.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Raw, Struct, field

#: Integers since format 35, strings such as ``0:3:1580`` before; valid inside one file only.
Id = int | str


class Constant(Struct, gc=False, frozen=True):
    """A constant expression: its source (``_`` when not literal) and its value, if known."""

    expr: str = "_"
    value: str | None = None
    is_literal: bool = False


class Path(Struct, gc=False, frozen=True):
    """A path as written, with the generic arguments of its last segment."""

    id: Id | None = None
    path: str = ""
    name: str = ""
    args: GenericArgs | str | None = None


class Pointer(Struct, gc=False, frozen=True):
    """``&'a mut T``, or ``*mut T``, which has no lifetime."""

    type: Ty
    lifetime: str | None = None
    is_mutable: bool = False


class Array(Struct, gc=False, frozen=True):
    """``[T; len]``."""

    type: Ty
    len: str


class Pattern(Struct, gc=False, frozen=True):
    """A pattern type; only the standard library has them, and their pattern is unstable."""

    type: Ty


class DynTrait(Struct, gc=False, frozen=True):
    """``dyn A + B + 'a``."""

    traits: list[TraitBound]
    lifetime: str | None = None


class FunctionPointer(Struct, gc=False, frozen=True):
    """``for<'a> unsafe extern "C" fn(A) -> B``."""

    sig: FunctionSignature
    header: FunctionHeader
    generic_params: list[GenericParam] = []


class QualifiedPath(Struct, gc=False, frozen=True):
    """``<T as Trait>::Name``; a trait with an empty path is the shorthand ``T::Name``."""

    name: str
    self_type: Ty
    args: GenericArgs | str | None = None
    trait: Path | None = None


class Type(Struct, gc=False, frozen=True):
    """A type: exactly one member is set; all are unset for a kind that came after format 61."""

    resolved_path: Path | None = None
    generic: str | None = None
    primitive: str | None = None
    borrowed_ref: Pointer | None = None
    parts: list[Ty] | None = field(default=None, name="tuple")
    element: Ty | None = field(default=None, name="slice")
    array: Array | None = None
    raw_pointer: Pointer | None = None
    impl_trait: list[GenericBound] | None = None
    dyn_trait: DynTrait | None = None
    qualified_path: QualifiedPath | None = None
    function_pointer: FunctionPointer | None = None
    pat: Pattern | None = None


#: A type, or the bare word ``infer``.
Ty = Type | str


class PreciseCapture(Struct, gc=False, frozen=True):
    """One name inside ``use<'a, T>``."""

    lifetime: str | None = None
    param: str | None = None


class TraitBound(Struct, gc=False, frozen=True):
    """``for<'a> ?Trait``; in ``dyn`` types without the modifier."""

    trait: Path
    generic_params: list[GenericParam] = []
    modifier: str = "none"


class GenericBound(Struct, gc=False, frozen=True):
    """Exactly one member is set."""

    trait_bound: TraitBound | None = None
    outlives: str | None = None
    use: list[PreciseCapture | str] | None = None


class Term(Struct, gc=False, frozen=True):
    """The right side of ``Item = …``."""

    type: Ty | None = None
    constant: Constant | None = None


class Binding(Struct, gc=False, frozen=True):
    """``= term`` or ``: bounds``."""

    equality: Term | None = None
    constraint: list[GenericBound] | None = None


class Constraint(Struct, gc=False, frozen=True):
    """``Item = T`` or ``Item: Bound`` among generic arguments."""

    name: str
    binding: Binding
    args: GenericArgs | str | None = None


class GenericArg(Struct, gc=False, frozen=True):
    """Exactly one member is set."""

    lifetime: str | None = None
    type: Ty | None = None
    const: Constant | None = None


class AngleBracketed(Struct, gc=False, frozen=True):
    """``<'a, T, Item = U>``."""

    args: list[GenericArg | str] = []
    constraints: list[Constraint] = []


class Parenthesized(Struct, gc=False, frozen=True):
    """``(A, B) -> C`` after ``Fn``."""

    inputs: list[Ty] = []
    output: Ty | None = None


class GenericArgs(Struct, gc=False, frozen=True):
    """Exactly one member is set."""

    angle_bracketed: AngleBracketed | None = None
    parenthesized: Parenthesized | None = None


class TypeParam(Struct, gc=False, frozen=True):
    """``T: Bounds = Default``; synthetic for an ``impl Trait`` argument."""

    bounds: list[GenericBound] = []
    default: Ty | None = None
    is_synthetic: bool = False


class ConstParam(Struct, gc=False, frozen=True):
    """``const N: usize = 4``."""

    type: Ty
    default: str | None = None


class LifetimeParam(Struct, gc=False, frozen=True):
    """``'a: 'b``."""

    outlives: list[str] = []


class GenericParamKind(Struct, gc=False, frozen=True):
    """Exactly one member is set."""

    lifetime: LifetimeParam | None = None
    type: TypeParam | None = None
    const: ConstParam | None = None


class GenericParam(Struct, gc=False, frozen=True):
    """One generic parameter."""

    name: str
    kind: GenericParamKind


class BoundPredicate(Struct, gc=False, frozen=True):
    """``for<'a> T: Bounds``."""

    type: Ty
    bounds: list[GenericBound] = []
    generic_params: list[GenericParam] = []


class LifetimePredicate(Struct, gc=False, frozen=True):
    """``'a: 'b + 'c``."""

    lifetime: str
    outlives: list[str] = []


class EqPredicate(Struct, gc=False, frozen=True):
    """``T::Item == U``."""

    lhs: Ty
    rhs: Term


class WherePredicate(Struct, gc=False, frozen=True):
    """Exactly one member is set."""

    bound_predicate: BoundPredicate | None = None
    lifetime_predicate: LifetimePredicate | None = None
    eq_predicate: EqPredicate | None = None


class Generics(Struct, gc=False, frozen=True):
    """Parameters and ``where`` clauses."""

    params: list[GenericParam] = []
    where_predicates: list[WherePredicate] = []


class FunctionSignature(Struct, gc=False, frozen=True):
    """Arguments as (pattern, type) pairs; no output means ``()``."""

    inputs: list[tuple[str, Ty]] = []
    output: Ty | None = None
    is_c_variadic: bool = False


class FunctionHeader(Struct, gc=False, frozen=True):
    """Qualifiers; ``abi`` is a word or one key, such as ``{"C": {"unwind": false}}``."""

    is_const: bool = False
    is_unsafe: bool = False
    is_async: bool = False
    abi: str | dict[str, Any] = "Rust"


Key = TypeVar("Key", int, str)


class Deprecation(Struct, gc=False, frozen=True):
    """``#[deprecated]``."""

    since: str | None = None
    note: str | None = None


class Item(Struct, gc=False):
    """One entry of ``index``.

    ``kind`` stands beside ``inner`` in formats before 28 only; a decoded file sets it for all, in
    the spelling of format 37 and later.
    """

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
    """A module."""

    items: list[Id]


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
    """A trait."""

    generics: Generics
    items: list[Id] = []
    bounds: list[GenericBound] = []
    is_auto: bool = False
    is_unsafe: bool = False
    is_dyn_compatible: bool | None = None
    is_object_safe: bool | None = None


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


class ImplParts(Struct, gc=False, frozen=True):
    """An :class:`Impl` whose parts are not decoded yet: most have those of others."""

    generics: Raw
    target: Raw = field(name="for")
    trait: Raw = Raw(b"null")
    items: list[Id] = []
    is_unsafe: bool = False
    is_negative: bool = False
    is_synthetic: bool = False
    blanket_impl: Raw = Raw(b"null")


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


class ProcMacro(Struct, gc=False, frozen=True):
    """``kind`` is ``bang``, ``attr`` or ``derive``."""

    kind: str
    helpers: list[str] = []


class Primitive(Struct, gc=False, frozen=True):
    """A primitive type's page; only core and std have them."""

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
