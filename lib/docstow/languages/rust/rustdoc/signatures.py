"""Print the headers of items: what stands in the source before the body, on one line if it fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Id, Item
from docstow.languages.rust.rustdoc.type_printer import TypePrinter, print_constant

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


class SignaturePrinter(TypePrinter):
    """Prints the headers of one file's items.

    Args:
        file: has the parts of items: fields, variants, trait items.
    """

    __slots__ = ("_printers", "file")

    def __init__(self, file: RustdocFile) -> None:
        super().__init__()
        self.file = file
        inner = file.inner
        self._printers: dict[str, Callable[[Item], str]] = {
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

    def item(self, item: Item) -> str:
        """Print the header of a module-level item; of a kind without one, its name."""
        printer = self._printers.get(self.file.kind(item))
        return printer(item) if printer is not None else item.name or ""

    def function(self, item: Item, value: schema.Function, *, public: bool = True) -> str:
        """Print ``pub const fn name<T>(a: T) -> U where T: Bound``."""
        head = "pub " if public else ""
        head += (
            f"{self.qualifiers(value.header)}fn {_ident(item)}{self.params(value.generics.params)}"
        )
        inputs = [self._input(*each) for each in value.sig.inputs]
        inputs += ["..."] if value.sig.is_c_variadic else []
        output = self.output(value.sig.output)
        line = f"{head}({', '.join(inputs)}){output}"
        if len(line) > WIDTH and inputs:
            listed = "".join(f"    {each},\n" for each in inputs)
            line = f"{head}(\n{listed}){output}"
        return line + self._where(value.generics, line)

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
            if self.file.kind(each) != "function":
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
        name, kind = _ident(item), self.file.kind(item)
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
        head = "unsafe " if value.is_unsafe else ""
        # Automatic ones repeat their type's parameters, defaults included.
        head += f"impl{self.params(map(_without_default, value.generics.params))} "
        if value.trait is not None:
            head += f"{'!' if value.is_negative else ''}{self.path(value.trait)} for "
        head += self.type(value.blanket_impl or value.target)
        predicates = self.predicates(value.generics.where_predicates)
        return f"{head} where {', '.join(predicates)}" if predicates else head

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
        """Print the where clause: on the same line if it fits, else as rustfmt lays it out."""
        predicates = self.predicates(generics.where_predicates)
        if not predicates:
            return ""
        line = f" where {', '.join(predicates)}"
        if "\n" not in head and len(head) + len(line) <= WIDTH:
            return line
        return "\nwhere\n" + "\n".join(f"    {each}," for each in predicates)

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
