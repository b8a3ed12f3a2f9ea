"""Print types, bounds and generics as Rust users write them, paths by their last segment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Id, Item

#: Nesting beyond which a type is cut to ``…``; combinator types reach hundreds of levels.
DEEPEST = 64
Part = TypeVar("Part")
Text = TypeVar("Text")
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
#: Columns of one line, as rustfmt has it by default.
WIDTH = 100
#: Fields, variants or trait items shown in a header; the rest is counted in a comment.
_LISTED = 64
#: Characters of a constant's value; longer ones are tables that tell a reader nothing.
_LONGEST_VALUE = 120
#: Names that must be written ``r#name``; the file has them without.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "abstract as async await become box break const continue do dyn else enum extern "
        "final fn for if impl in let loop macro match mod move mut override priv pub ref "
        "return static struct trait try type typeof unsafe unsized use virtual where while "
        "yield ",
    )
)


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


class SignaturePrinter(TypePrinter):
    """Prints the headers of one file's items.

    Args:
        file: has the parts of items: fields, variants, trait items.
    """

    __slots__ = ("_shown", "file")

    def __init__(self, file: RustdocFile) -> None:
        super().__init__()
        self.file = file
        #: Parts of items, which keep their identity here, as printed, with the ids they mention.
        self._shown: dict[int, tuple[object, object, set[Id]]] = {}

    def item(self, item: Item) -> str:
        """Print the header of a module-level item; of a kind without one, its name."""
        inner = self.file.inner
        # Kept by the printer, they would keep it and its file until garbage is collected.
        printers: dict[str, Callable[[Item], str]] = {
            "module": lambda item: f"pub mod {_ident(item)}",
            "function": lambda item: self.function(item, inner(item, schema.Function)),
            "struct": lambda item: self.struct(item, inner(item, schema.StructInner)),
            "enum": lambda item: self.enum(item, inner(item, schema.EnumInner)),
            "union": lambda item: self.union(item, inner(item, schema.UnionInner)),
            "variant": lambda item: self.variant(item, inner(item, schema.Variant)),
            "trait": lambda item: self.trait(item, inner(item, schema.Trait)),
            "trait_alias": lambda item: self.trait_alias(item, inner(item, schema.TraitAlias)),
            "type_alias": lambda item: self.type_alias(item, inner(item, schema.TypeAlias)),
            "extern_type": lambda item: f"pub type {_ident(item)};",
            "constant": lambda item: self.constant(item, inner(item, schema.ConstantInner)),
            "static": lambda item: self.static(item, inner(item, schema.Static)),
            "macro": lambda item: inner(item, str),
            "proc_macro": lambda item: self.proc_macro(item, inner(item, schema.ProcMacro)),
        }
        printer = printers.get(item.kind)
        return printer(item) if printer is not None else item.name or ""

    def function(self, item: Item, value: schema.Function, *, public: bool = True) -> str:
        """Print ``pub const fn name<T>(a: T) -> U where T: Bound``."""
        (qualifiers, params, output), inputs, where = self._once(value, self._function_parts)
        head = f"{'pub ' if public else ''}{qualifiers}fn {_ident(item)}{params}"
        line = f"{head}({', '.join(inputs)}){output}"
        if len(line) > WIDTH and inputs:
            listed = "".join(f"    {each},\n" for each in inputs)
            line = f"{head}(\n{listed}){output}"
        return line + _where(where, line)

    def _function_parts(
        self, value: schema.Function
    ) -> tuple[tuple[str, str, str], list[str], list[str]]:
        """Return qualifiers, generic parameters and the output, then arguments, then predicates."""
        params = self.params(value.generics.params)
        inputs = [self._input(*each) for each in value.sig.inputs]
        inputs += ["..."] if value.sig.is_c_variadic else []
        texts = self.qualifiers(value.header), params, self.output(value.sig.output)
        return texts, inputs, self.predicates(value.generics.where_predicates)

    def struct(self, item: Item, value: schema.StructInner) -> str:
        """Print a struct with its public fields."""
        head = f"pub struct {_ident(item)}{self.params(value.generics.params)}"
        if isinstance(value.kind, str):
            return _ended(head + self._where(value.generics, head))
        if value.kind.positions is not None:
            line = f"{head}({', '.join(self._positions(value.kind.positions))})"
            return _ended(line + self._where(value.generics, line))
        fields = value.kind.plain or schema.PlainFields()
        head += self._where(value.generics, head)
        return _block(head, self._fields(fields.fields), "fields", fields.has_stripped_fields)

    def union(self, item: Item, value: schema.UnionInner) -> str:
        """Print a union with its public fields."""
        head = f"pub union {_ident(item)}{self.params(value.generics.params)}"
        head += self._where(value.generics, head)
        return _block(head, self._fields(value.fields), "fields", value.has_stripped_fields)

    def enum(self, item: Item, value: schema.EnumInner) -> str:
        """Print an enum with its variants."""
        head = f"pub enum {_ident(item)}{self.params(value.generics.params)}"
        head += self._where(value.generics, head)
        variants = [
            self.variant(each, self.file.inner(each, schema.Variant)) + ","
            for each in self._items(value.variants)
        ]
        return _block(head, variants, "variants", value.has_stripped_variants)

    def variant(self, item: Item, value: schema.Variant) -> str:
        """Print ``Name``, ``Name(T)``, ``Name { a: T }`` or ``Name = 3``."""
        text = _ident(item)
        if isinstance(value.kind, schema.VariantKind):
            if value.kind.types is not None:
                text += f"({', '.join([self.type(each) for each in value.kind.types])})"
            elif value.kind.positions is not None:
                text += f"({', '.join(self._positions(value.kind.positions, public=False))})"
            elif value.kind.plain is not None:
                fields = value.kind.plain
                parts = [each[:-1] for each in self._fields(fields.fields, public=False)]
                parts += [".."] if fields.has_stripped_fields else []
                text += f" {{ {', '.join(parts)} }}" if parts else " {}"
        return f"{text} = {value.discriminant.expr}" if value.discriminant is not None else text

    def field(self, item: Item, *, public: bool = True) -> str:
        """Print ``pub name: Type``."""
        head = "pub " if public else ""
        return f"{head}{_ident(item)}: {self.type(self.file.inner(item, schema.Type))}"

    def trait(self, item: Item, value: schema.Trait) -> str:
        """Print a trait: required items in full, provided ones by name."""
        words = "unsafe " if value.is_unsafe else ""
        words += "auto " if value.is_auto else ""
        head = f"pub {words}trait {_ident(item)}{self.params(value.generics.params)}"
        if value.bounds:
            head += f": {self.bounds(value.bounds)}"
        head += self._where(value.generics, head)
        required, provided = [], []
        for each in self._items(value.items):
            if each.kind != "function":
                required.append(_ended(self.member(each)))
                continue
            method = self.file.inner(each, schema.Function)
            if method.has_body:
                provided.append(each.name or "")
            else:
                required.append(_ended(self.function(each, method, public=False)))
        if provided:
            required.append(f"// provided: {', '.join(provided)}")
        return _block(head, required, "items", stripped=False)

    def trait_alias(self, item: Item, value: schema.TraitAlias) -> str:
        """Print ``pub trait Alias = Bounds;``."""
        head = f"pub trait {_ident(item)}{self.params(value.generics.params)}"
        head += f" = {self.bounds(value.params)}"
        return _ended(head + self._where(value.generics, head))

    def type_alias(self, item: Item, value: schema.TypeAlias) -> str:
        """Print ``pub type Alias<T> = Type;``."""
        head = f"pub type {_ident(item)}{self.params(value.generics.params)}"
        return f"{head}{self._where(value.generics, head)} = {self.type(value.type)};"

    def constant(self, item: Item, value: schema.ConstantInner) -> str:
        """Print ``pub const NAME: Type = value;``."""
        text = print_constant(value.const)
        text = "_" if len(text) > _LONGEST_VALUE else text
        return f"pub const {_ident(item)}: {self.type(value.type)} = {text};"

    def static(self, item: Item, value: schema.Static) -> str:
        """Print ``pub static NAME: Type;``."""
        words = ("unsafe " if value.is_unsafe else "") + "static "
        words += "mut " if value.is_mutable else ""
        return f"pub {words}{_ident(item)}: {self.type(value.type)};"

    def member(self, item: Item, *, public: bool = False) -> str:
        """Print an associated item: a method, constant or type, without a final semicolon."""
        name, kind = _ident(item), item.kind
        if kind == "function":
            return self.function(item, self.file.inner(item, schema.Function), public=public)
        head = "pub " if public else ""
        if kind == "assoc_const":
            const = self.file.inner(item, schema.AssocConst)
            value = const.value
            shown = f" = {value}" if value is not None and len(value) <= _LONGEST_VALUE else ""
            return f"{head}const {name}: {self.type(const.type)}{shown}"
        alias = self.file.inner(item, schema.AssocType)
        head += f"type {name}{self.params(alias.generics.params)}"
        head += f": {self.bounds(alias.bounds)}" if alias.bounds else ""
        head += f" = {self.type(alias.type)}" if alias.type is not None else ""
        return head + self._where(alias.generics, head)

    def impl(self, value: schema.Impl) -> str:
        """``impl<T> Trait for Type<T> where T: Bound`` on one line."""
        params, where = self._once(value.generics, self._impl_generics)
        head = f"{'unsafe ' if value.is_unsafe else ''}impl{params} "
        if value.trait is not None:
            trait = self._once(value.trait, self.path)
            head += f"{'!' if value.is_negative else ''}{trait} for "
        target = self._once(value.blanket_impl or value.target, self.type)
        return f"{head}{target}{where}"

    def _impl_generics(self, generics: schema.Generics) -> tuple[str, str]:
        """Return what stands behind ``impl``, and at the end."""
        # Automatic ones repeat their type's parameters, defaults included.
        params = self.params(map(_without_default, generics.params))
        predicates = self.predicates(generics.where_predicates)
        return params, f" where {', '.join(predicates)}" if predicates else ""

    def _once(self, part: Part, show: Callable[[Part], Text]) -> Text:
        """Print what several items share, by its identity; it mentions the same each time."""
        known = self._shown.get(id(part))
        if known is None:
            before, self.mentioned = self.mentioned, set()
            known = self._shown[id(part)] = part, show(part), self.mentioned
            self.mentioned = before
        self.mentioned |= known[2]
        return cast("Text", known[1])

    def proc_macro(self, item: Item, value: schema.ProcMacro) -> str:
        """Print how the macro is called."""
        if value.kind == "attr":
            return f"#[{_ident(item)}]"
        if value.kind == "derive":
            helpers = ", ".join(f"#[{each}]" for each in value.helpers)
            return f"#[derive({_ident(item)})]" + (
                f" // helper attributes: {helpers}" * bool(helpers)
            )
        return f"{_ident(item)}!(…)"

    def _input(self, name: str, value: schema.Ty) -> str:
        """Print an argument; receivers in their short forms."""
        text = self.type(value)
        if name != "self":
            return f"{_raw(name)}: {text}" if name else text
        if text == "Self":
            return "self"
        if isinstance(value, schema.Type) and value.borrowed_ref is not None:
            target = value.borrowed_ref.type
            if isinstance(target, schema.Type) and target.generic == "Self":
                return text[: -len("Self")] + "self"
        return f"self: {text}"

    def _where(self, generics: schema.Generics, head: str) -> str:
        return _where(self.predicates(generics.where_predicates), head)

    def _positions(self, positions: Sequence[Id | None], *, public: bool = True) -> list[str]:
        if positions and not any(each is not None for each in positions):
            return ["/* private fields */"]
        head = "pub " if public else ""
        texts = []
        for each in positions:
            item = self.file.index.get(each) if each is not None else None
            shown = "_" if item is None else head + self.type(self.file.inner(item, schema.Type))
            texts.append(shown)
        return texts

    def _fields(self, ids: Sequence[Id], *, public: bool = True) -> list[str]:
        return [self.field(each, public=public) + "," for each in self._items(ids)]

    def _items(self, ids: Sequence[Id]) -> list[Item]:
        return [self.file.index[each] for each in ids if each in self.file.index]


def _where(predicates: Sequence[str], head: str) -> str:
    """Print the where clause: on the same line if it fits, else as rustfmt lays it out."""
    if not predicates:
        return ""
    line = f" where {', '.join(predicates)}"
    if "\n" not in head and len(head) + len(line) <= WIDTH:
        return line
    return "\nwhere\n" + "\n".join(f"    {each}," for each in predicates)


def _ended(declaration: str) -> str:
    """Add the semicolon, which takes the place of a where clause's last comma."""
    return declaration.removesuffix(",") + ";"


def _ident(item: Item) -> str:
    return _raw(item.name or "")


def _raw(name: str) -> str:
    return f"r#{name}" if name in _KEYWORDS else name


def _without_default(param: schema.GenericParam) -> schema.GenericParam:
    kind = param.kind.type
    if kind is None or kind.default is None:
        return param
    bare = schema.TypeParam(kind.bounds, None, kind.is_synthetic)
    return schema.GenericParam(param.name, schema.GenericParamKind(type=bare))


def _block(head: str, lines: Sequence[str], noun: str, stripped: bool) -> str:  # noqa: FBT001
    """Put braces around the lines; a comment says what is private or beyond the limit."""
    opening = f"{head}\n{{" if "\n" in head else f"{head} {{"
    rest = len(lines) - _LISTED
    shown = [f"    {line}".replace("\n", "\n    ") for line in lines[:_LISTED]]
    if rest > 0:
        shown.append(f"    // … and {rest} more {noun}")
    elif stripped:
        shown.append(f"    // some {noun} are private")
    if not lines:
        return f"{opening} /* private {noun} */ }}" if stripped else f"{opening}}}"
    return "\n".join([opening, *shown, "}"])
