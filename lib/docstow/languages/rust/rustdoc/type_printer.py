"""Print types, bounds and generics as Rust users write them, paths by their last segment."""

from __future__ import annotations

from collections.abc import Iterable

from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.schema import Id

#: Nesting beyond which a type is cut to ``…``; combinator types reach hundreds of levels.
DEEPEST = 64
_ABIS = {
    "C": "C",
    "Cdecl": "cdecl",
    "Stdcall": "stdcall",
    "Fastcall": "fastcall",
    "Aapcs": "aapcs",
    "Win64": "win64",
    "SysV64": "sysv64",
    "System": "system",
}
_MODIFIERS = {"maybe": "?", "maybe_const": "[const] "}


class TypePrinter:
    """Prints types; collects in ``mentioned`` the ids of all paths that it has printed."""

    __slots__ = ("mentioned",)

    def __init__(self) -> None:
        self.mentioned: set[Id] = set()

    def type(self, value: schema.Ty, depth: int = 0) -> str:
        """Print a type."""
        if isinstance(value, str):
            return "_"
        if depth > DEEPEST:
            return "…"
        if value.resolved_path is not None:
            return self.path(value.resolved_path, depth)
        if value.generic is not None:
            return value.generic
        if value.primitive is not None:
            return "!" if value.primitive == "never" else value.primitive
        if value.borrowed_ref is not None:
            ref = value.borrowed_ref
            lifetime = f"{ref.lifetime} " if ref.lifetime else ""
            mutable = "mut " if ref.is_mutable else ""
            return f"&{lifetime}{mutable}{self._pointee(ref.type, depth)}"
        if value.parts is not None:
            inside = ", ".join([self.type(each, depth + 1) for each in value.parts])
            return f"({inside},)" if len(value.parts) == 1 else f"({inside})"
        if value.element is not None:
            return f"[{self.type(value.element, depth + 1)}]"
        return self._rare_type(value, depth)

    def _rare_type(self, value: schema.Type, depth: int) -> str:
        if value.array is not None:
            return f"[{self.type(value.array.type, depth + 1)}; {value.array.len}]"
        if value.raw_pointer is not None:
            word = "mut" if value.raw_pointer.is_mutable else "const"
            return f"*{word} {self._pointee(value.raw_pointer.type, depth)}"
        if value.impl_trait is not None:
            return f"impl {self.bounds(value.impl_trait, depth + 1)}"
        if value.dyn_trait is not None:
            return self._dyn(value.dyn_trait, depth)
        if value.qualified_path is not None:
            return self._qualified(value.qualified_path, depth)
        if value.function_pointer is not None:
            return self._function_pointer(value.function_pointer, depth)
        return self.type(value.pat.type, depth + 1) if value.pat is not None else "…"

    def path(self, path: schema.Path, depth: int = 0) -> str:
        """Print the last segment of a path with its arguments."""
        if path.id is not None:
            self.mentioned.add(path.id)
        name = path.path or path.name
        if "::" in name:
            name = name[name.rindex("::") + 2 :]
        return name + self.args(path.args, depth) if path.args is not None else name

    def args(self, args: schema.GenericArgs | str | None, depth: int = 0) -> str:
        """Print ``<…>`` or ``(…) -> …``; empty where there are no arguments."""
        if args is None:
            return ""
        if isinstance(args, str):
            return "(..)"
        if args.parenthesized is not None:
            inputs = ", ".join([self.type(each, depth + 1) for each in args.parenthesized.inputs])
            return f"({inputs}){self.output(args.parenthesized.output, depth + 1)}"
        if args.angle_bracketed is None:
            return ""
        parts = [self._arg(each, depth) for each in args.angle_bracketed.args]
        parts += [self._constraint(each, depth) for each in args.angle_bracketed.constraints]
        return f"<{', '.join(parts)}>" if parts else ""

    def output(self, output: schema.Ty | None, depth: int = 0) -> str:
        """Print ``-> T`` with its leading space; empty for ``()``."""
        if output is None or (isinstance(output, schema.Type) and output.parts == []):
            return ""
        return f" -> {self.type(output, depth)}"

    def bounds(self, bounds: Iterable[schema.GenericBound], depth: int = 0) -> str:
        """Print ``A + B + 'a``."""
        return " + ".join([self._bound(each, depth) for each in bounds])

    def params(self, params: Iterable[schema.GenericParam]) -> str:
        """Print ``<'a, T: Bound, const N: usize>`` without params that stand for ``impl Trait``."""
        parts = [self._param(each) for each in params if not _synthetic(each)]
        return f"<{', '.join(parts)}>" if parts else ""

    def predicates(self, predicates: Iterable[schema.WherePredicate]) -> list[str]:
        """Print the predicates of a where clause, one string each."""
        return [text for each in predicates if (text := self._predicate(each))]

    def qualifiers(self, header: schema.FunctionHeader) -> str:
        """Print ``const async unsafe extern "C" `` with a trailing space, as far as they apply."""
        words = "const " if header.is_const else ""
        words += "async " if header.is_async else ""
        words += "unsafe " if header.is_unsafe else ""
        return words + _abi(header.abi)

    def _pointee(self, value: schema.Ty, depth: int) -> str:
        """Print the type behind ``&`` or ``*``; a sum of bounds needs parentheses there."""
        text = self.type(value, depth + 1)
        if isinstance(value, schema.Type):
            dyn = value.dyn_trait
            several = dyn is not None and len(dyn.traits) + bool(dyn.lifetime) > 1
            if several or (value.impl_trait is not None and len(value.impl_trait) > 1):
                return f"({text})"
        return text

    def _dyn(self, value: schema.DynTrait, depth: int) -> str:
        parts = [
            self._for(each.generic_params) + self.path(each.trait, depth + 1)
            for each in value.traits
        ]
        return "dyn " + " + ".join(parts + ([value.lifetime] if value.lifetime else []))

    def _qualified(self, value: schema.QualifiedPath, depth: int) -> str:
        owner = self.type(value.self_type, depth + 1)
        name = value.name + self.args(value.args, depth)
        trait = self.path(value.trait, depth + 1) if value.trait is not None else ""
        return f"<{owner} as {trait}>::{name}" if trait else f"{owner}::{name}"

    def _function_pointer(self, value: schema.FunctionPointer, depth: int) -> str:
        inputs = [
            self.type(each, depth + 1) if name in {"", "_"} else f"{name}: {self.type(each, depth)}"
            for name, each in value.sig.inputs
        ]
        inputs += ["..."] if value.sig.is_c_variadic else []
        head = self._for(value.generic_params) + self.qualifiers(value.header)
        return f"{head}fn({', '.join(inputs)}){self.output(value.sig.output, depth + 1)}"

    def _for(self, params: list[schema.GenericParam]) -> str:
        return f"for{self.params(params)} " if params else ""

    def _arg(self, arg: schema.GenericArg | str, depth: int) -> str:
        if isinstance(arg, str):
            return "_"
        if arg.type is not None:
            return self.type(arg.type, depth + 1)
        if arg.lifetime is not None:
            return arg.lifetime
        return print_constant(arg.const) if arg.const is not None else "_"

    def _constraint(self, constraint: schema.Constraint, depth: int) -> str:
        name = constraint.name + self.args(constraint.args, depth)
        if constraint.binding.constraint is not None:
            return f"{name}: {self.bounds(constraint.binding.constraint, depth + 1)}"
        if constraint.binding.equality is None:
            return name
        return f"{name} = {self._term(constraint.binding.equality, depth)}"

    def _term(self, term: schema.Term, depth: int) -> str:
        if term.type is not None:
            return self.type(term.type, depth + 1)
        return print_constant(term.constant) if term.constant is not None else "_"

    def _bound(self, bound: schema.GenericBound, depth: int) -> str:
        if bound.trait_bound is not None:
            trait = bound.trait_bound
            modifier = _MODIFIERS.get(trait.modifier, "")
            return self._for(trait.generic_params) + modifier + self.path(trait.trait, depth + 1)
        if bound.outlives is not None:
            return bound.outlives
        names = [
            each if isinstance(each, str) else each.lifetime or each.param or ""
            for each in bound.use or ()
        ]
        return f"use<{', '.join(names)}>"

    def _param(self, param: schema.GenericParam) -> str:
        kind = param.kind
        if kind.lifetime is not None:
            outlives = " + ".join(kind.lifetime.outlives)
            return f"{param.name}: {outlives}" if outlives else param.name
        if kind.const is not None:
            default = f" = {kind.const.default}" if kind.const.default is not None else ""
            return f"const {param.name}: {self.type(kind.const.type)}{default}"
        if kind.type is None:
            return param.name
        bounds = f": {self.bounds(kind.type.bounds)}" if kind.type.bounds else ""
        default = f" = {self.type(kind.type.default)}" if kind.type.default is not None else ""
        return param.name + bounds + default

    def _predicate(self, predicate: schema.WherePredicate) -> str:
        if predicate.bound_predicate is not None:
            bound = predicate.bound_predicate
            head = self._for(bound.generic_params) + self.type(bound.type)
            return f"{head}: {self.bounds(bound.bounds)}" if bound.bounds else ""
        if predicate.lifetime_predicate is not None:
            outlives = " + ".join(predicate.lifetime_predicate.outlives)
            return f"{predicate.lifetime_predicate.lifetime}: {outlives}" if outlives else ""
        if predicate.eq_predicate is not None:
            equal = predicate.eq_predicate
            return f"{self.type(equal.lhs)} == {self._term(equal.rhs, 0)}"
        return ""


def print_constant(value: schema.Constant) -> str:
    """Print a constant expression: its source if literal, else the value that rustdoc computed."""
    if value.is_literal or value.value is None:
        return value.expr or "_"
    return value.value if value.expr == "_" else value.expr


def _synthetic(param: schema.GenericParam) -> bool:
    return param.kind.type is not None and param.kind.type.is_synthetic


def _abi(abi: object) -> str:
    """Print ``extern "C" `` with a trailing space; empty for Rust's own ABI."""
    if abi == "Rust":
        return ""
    if isinstance(abi, dict):
        ((name, detail),) = abi.items()
        if name == "Other":
            return "extern {} ".format(detail if str(detail).startswith('"') else f'"{detail}"')
        unwind = "-unwind" if isinstance(detail, dict) and detail.get("unwind") else ""
        return f'extern "{_ABIS.get(name, name)}{unwind}" '
    return f'extern "{abi}" '
