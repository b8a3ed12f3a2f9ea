"""Types, bounds and generics of rustdoc JSON, formats 37 to 61, as typed values.

This room knows the field names below an item's declaration; ``rustdoc_format`` has the items
themselves. In structs that stand for a Rust enum exactly one member is set.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

Id = int | str
"""Integers since format 35, strings such as ``0:3:1580`` before; valid inside one file only."""


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


class BorrowedRef(Struct, gc=False, frozen=True):
    """``&'a mut T``."""

    type: Ty
    lifetime: str | None = None
    is_mutable: bool = False


class RawPointer(Struct, gc=False, frozen=True):
    """``*const T`` or ``*mut T``."""

    type: Ty
    is_mutable: bool = False


class Array(Struct, gc=False, frozen=True):
    """``[T; len]``."""

    type: Ty
    len: str


class Pattern(Struct, gc=False, frozen=True):
    """A pattern type; only the standard library has them, and their pattern is unstable."""

    type: Ty


class PolyTrait(Struct, gc=False, frozen=True):
    """A trait with the lifetimes that ``for<'a>`` introduces."""

    trait: Path
    generic_params: list[GenericParam] = []


class DynTrait(Struct, gc=False, frozen=True):
    """``dyn A + B + 'a``."""

    traits: list[PolyTrait]
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
    borrowed_ref: BorrowedRef | None = None
    parts: list[Ty] | None = field(default=None, name="tuple")
    element: Ty | None = field(default=None, name="slice")
    array: Array | None = None
    raw_pointer: RawPointer | None = None
    impl_trait: list[GenericBound] | None = None
    dyn_trait: DynTrait | None = None
    qualified_path: QualifiedPath | None = None
    function_pointer: FunctionPointer | None = None
    pat: Pattern | None = None


Ty = Type | str
"""A type, or the bare word ``infer``."""


class PreciseCapture(Struct, gc=False, frozen=True):
    """One name inside ``use<'a, T>``."""

    lifetime: str | None = None
    param: str | None = None


class TraitBound(Struct, gc=False, frozen=True):
    """``for<'a> ?Trait``."""

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
