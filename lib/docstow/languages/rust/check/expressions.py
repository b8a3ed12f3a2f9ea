"""The types of expressions and variables in Rust code, where they are certain."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check import chains, parallel
from docstow.languages.rust.check.annotations import Annotations, function_of, pointed
from docstow.languages.rust.check.crate_items import FUNCTIONS, TYPES, Found
from docstow.languages.rust.check.documented import Documented
from docstow.languages.rust.check.own_items import OwnItems
from docstow.languages.rust.check.own_types import OwnTypes
from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import Segments, name_of, segments, text_of
from docstow.languages.rust.check.std import (
    ALIASED,
    ARRAY,
    FIELDS,
    OPTION,
    PRELUDE,
    PRELUDE_TYPES,
    PRIMITIVES,
    RESULT,
    SLICE,
    is_standard,
    members_of_any_value,
    std_traits,
)
from docstow.languages.rust.check.types import (
    FUTURE,
    OWN,
    TUPLE,
    Type,
    Variables,
    iterator,
    merge,
    parse_signature,
    some_iterator,
    standard_type,
    tuple_of,
    wrapper,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: Methods of iterators that make what their type argument says.
_MAKING = frozenset({"collect", "sum", "product"})
#: What makes options and results.
_WRAPPING = frozenset({("Some",), ("Ok",), ("Err",)})
#: What runs a closure elsewhere and has its result later.
_SPAWN = ("std", "thread", "spawn")
_LITERALS = {
    "string_literal": "str",
    "raw_string_literal": "str",
    "char_literal": "char",
    "boolean_literal": "bool",
    "array_expression": ARRAY,
}
_STANDARD_MACROS = {
    "format": "std::string::String",
    "vec": "std::vec::Vec",
    **dict.fromkeys(("concat", "stringify", "include_str", "env", "file"), "str"),
    **dict.fromkeys(("line", "column"), "u32"),
    "matches": "bool",
}
#: The types that macros of widely used crates expand to; their docs say it in words alone.
_MACROS: Mapping[Segments, Segments] = {
    ("anyhow", "anyhow"): ("anyhow", "Error"),
    ("eyre", "eyre"): ("eyre", "Report"),
    ("quote", "quote"): ("proc_macro2", "TokenStream"),
    ("quote", "format_ident"): ("proc_macro2", "Ident"),
    ("serde_json", "json"): ("serde_json", "Value"),
    ("smallvec", "smallvec"): ("smallvec", "SmallVec"),
    ("minijinja", "context"): ("minijinja", "Value"),
    ("indexmap", "indexmap"): ("indexmap", "IndexMap"),
    ("indexmap", "indexset"): ("indexmap", "IndexSet"),
    ("maplit", "hashmap"): ("std", "collections", "HashMap"),
    ("maplit", "btreemap"): ("std", "collections", "BTreeMap"),
    ("time", "macros", "date"): ("time", "Date"),
    ("time", "macros", "time"): ("time", "Time"),
    ("uuid", "uuid"): ("uuid", "Uuid"),
    **{
        ("tracing", name): ("tracing", "Span")
        for name in ("span", "error_span", "warn_span", "info_span", "debug_span", "trace_span")
    },
}
#: Functions that traits bring to types and that return the type itself, with their traits.
_CONSTRUCTORS = {
    "default": "Default",
    "from": "From",
    "from_iter": "FromIterator",
    "try_from": "TryFrom",
    "from_str": "FromStr",
}
#: Those of them that may fail.
_TRYING = frozenset({"try_from", "from_str"})
#: Nodes that begin a scope: names that are bound inside are gone after it.
SCOPES = frozenset(
    {
        *("block", "function_item", "closure_expression", "match_arm", "impl_item", "mod_item"),
        *("for_expression", "if_expression", "while_expression", "match_block"),
    }
)
#: Closures within closures are followed so far.
_MOST_CLOSURES = 6
_NUMBERS = frozenset({"integer_literal", "float_literal"})
#: Comparisons and the like, which give a truth value.
_TRUTHS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
#: Operators between two values by their traits.
_OPERATORS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    "%": "Rem",
    "&": "BitAnd",
    "|": "BitOr",
    "^": "BitXor",
    "<<": "Shl",
    ">>": "Shr",
}
_MAPPED = frozenset(
    {"std::collections::HashMap", "std::collections::BTreeMap", "indexmap::IndexMap"}
)


class Expressions:
    """The types of the expressions of one piece of code.

    Args:
        resolver: resolves its names.
        paths: looks up its paths.
        own: the items that it declares.
        bind: binds the names that a closure, an arm or a condition brings in.
    """

    def __init__(
        self,
        resolver: Resolver,
        paths: Paths,
        own: OwnItems,
        bind: Callable[[Node, Variables, Expressions], None],
    ) -> None:
        self._resolver = resolver
        self._paths = paths
        self._bind = bind
        self._documented = Documented(paths.crates)
        self.annotations = Annotations(resolver, paths, own, self._documented)
        self.own = OwnTypes(resolver, paths, own, self._documented, self.annotations)
        self._types: dict[int, Type | None] = {}
        self._closures = 0

    def type_of(self, node: Node, variables: Variables) -> Type | None:
        """Return the type of an expression, where it is certain."""
        chain: list[Node] = []
        here: Node | None = node
        while here is not None and here.id not in self._types:
            chain.append(here)
            here = self._inside(here)
        inner = self._types[here.id] if here is not None else None
        for each in reversed(chain):
            inner = self._types[each.id] = self._step(each, inner, variables)
        return inner

    def _inside(self, node: Node) -> Node | None:
        """Return the part of an expression whose type decides upon that of the whole."""
        match node.type:
            case "reference_expression" | "parenthesized_expression" | "try_expression":
                return node.child_by_field_name("value") or node.named_children[-1]
            case "await_expression" | "unary_expression":
                return node.named_children[0]
            case "field_expression":
                return node.child_by_field_name("value")
            case "index_expression":
                return node.named_children[0]
            case "call_expression":
                function = function_of(node)
                if function is not None and function.type == "field_expression":
                    return function.child_by_field_name("value")
                path = segments(function) if function is not None else None
                if path in _WRAPPING or (path and self.annotations.makes_pointer(path)):
                    arguments = node.child_by_field_name("arguments")
                    held = arguments.named_children if arguments is not None else []
                    return held[0] if len(held) == 1 else None
        return None

    def _step(self, node: Node, inner: Type | None, variables: Variables) -> Type | None:
        """Return the type of an expression; ``inner`` is that of the part which decides."""
        match node.type:
            case "identifier" | "self":
                return self._variable(node, variables)
            case "scoped_identifier":
                return self._constant(node)
            case "block" | "unsafe_block" | "if_expression" | "match_expression":
                return self._branched(node, variables)
            case "reference_expression" | "parenthesized_expression":
                return inner
            case "unary_expression":
                return _unary(node, inner)
            case "try_expression":
                return inner.inner if inner and inner.name in {OPTION, RESULT} else None
            case "await_expression":
                return self._awaited(inner) if inner else None
            case "field_expression":
                field = node.child_by_field_name("field")
                return self._field(inner, name_of(field)) if inner and field is not None else None
            case "struct_expression" | "type_cast_expression":
                part = "name" if node.type == "struct_expression" else "type"
                kind = node.child_by_field_name(part)
                return self.annotations.of(kind) if kind is not None else None
            case "macro_invocation":
                return self._expanded(node)
            case "call_expression":
                return self._called(node, inner, variables)
        return self._operated(node, inner, variables)

    def _variable(self, node: Node, variables: Variables) -> Type | None:
        name = text_of(node)
        return variables[name] if name in variables else self._constant(node)

    def _constant(self, node: Node) -> Type | None:
        """Return the type of a documented constant or static, or of a variant without fields."""
        if text_of(node) == "None" and not self._resolver.is_defined("None"):
            return wrapper("Option", None)
        absolute = self._resolver.resolve_node(node)
        if absolute is None and (path := segments(node)) is not None and len(path) == 1:
            absolute = self._resolver.through_imports(path) or None
        found = self._paths.look_up(absolute).found if absolute is not None else ()
        if len(found) != 1:
            return None
        if found[0].kind == "variant" and "(" not in found[0].signature:
            return Type(found[0].parent, found[0].names)
        return self._documented.constant(found[0])

    def _branched(self, node: Node, variables: Variables) -> Type | None:
        """Return the type of a block or of branches, by what stands in them alone."""
        known: list[Type | None] = []
        for branch, binding in _branches(node):
            end = _last_expression(branch)
            if end is None:
                continue
            inner: Variables = ChainMap({}, variables) if binding else variables
            for each in binding:
                self._bind(each, inner, self)
            known.append(self.type_of(end, inner))
        some = [each for each in known if each is not None]
        whole = some[0] if some else None
        for other in some[1:]:
            whole = merge(whole, other) if whole is not None else None
        return whole

    def _operated(self, node: Node, inner: Type | None, variables: Variables) -> Type | None:
        """Return the type of what is indexed, listed, compared or written out."""
        match node.type:
            case "index_expression":
                return self._indexed(inner, node.named_children[-1]) if inner else None
            case "tuple_expression":
                return tuple_of(*(self.type_of(each, variables) for each in node.named_children))
            case "array_expression":
                return self._list(node, variables)
            case "range_expression":
                return iterator(None)
            case "binary_expression":
                return self._calculated(node, variables)
        return self._literal(node)

    def _calculated(self, node: Node, variables: Variables) -> Type | None:
        """Return the type of what an operator between two values gives."""
        names = ("left", "operator", "right")
        left, operator, right = (node.child_by_field_name(each) for each in names)
        if left is None or operator is None or right is None:
            return None
        if text_of(operator) in _TRUTHS:
            return standard_type("bool")
        before, after = self.type_of(left, variables), self.type_of(right, variables)
        if before is not None and right.type in _NUMBERS:
            # It is of the type that is needed: that of a number before it, or mostly this.
            is_number = before.name in PRIMITIVES and not before.through
            after = before if is_number else after or standard_type("u32")
        elif after is not None and left.type in _NUMBERS and after.name in PRIMITIVES:
            before = after
        given = chains.operated(before, text_of(operator), after)
        trait = _OPERATORS.get(text_of(operator))
        if given is not None or before is None or trait is None:
            return given
        return self._documented.operated(before, trait, after)

    def _literal(self, node: Node) -> Type | None:
        if node.type in {"integer_literal", "float_literal"}:
            firsts = "iu" if node.type == "integer_literal" else "f"
            suffixes = (each for each in PRIMITIVES if each[0] in firsts)
            suffix = next((each for each in suffixes if text_of(node).endswith(each)), None)
            if suffix is None and firsts == "f":
                suffix = "f64"  # an f32 has the same methods
            return standard_type(suffix) if suffix is not None else None
        first = text_of(node)[:1] if node.type in _LITERALS else ""
        if first in {"b", "c"} and "string" in node.type:
            return standard_type(ARRAY) if first == "b" else None
        return standard_type(_LITERALS[node.type]) if first else None

    def _expanded(self, node: Node) -> Type | None:
        name = node.child_by_field_name("macro")
        path = segments(name) if name is not None else None
        if path is None or name is None:
            return None
        if path[0] in _STANDARD_MACROS and not self._resolver.is_defined(path[0]):
            return standard_type(_STANDARD_MACROS[path[0]])
        return self.annotations.type_at(_MACROS.get(self._resolver.resolve_node(name) or ()))

    def _called(self, node: Node, inner: Type | None, variables: Variables) -> Type | None:
        """Return the type of a call."""
        function = function_of(node)
        if function is None:
            return None
        if function.type == "field_expression":
            field = function.child_by_field_name("field")
            if inner is None or field is None:
                return None
            return self._by_method(inner, name_of(field), node, variables)
        path = segments(function)
        if path is None:
            return None
        if path in _WRAPPING:
            return _wrapped(path[0], inner)
        if pointer := self.annotations.makes_pointer(path):
            return pointed(inner, pointer)
        if (own := self.own.called(path, variables.get("self"))) is not None:
            return own
        absolute = self._resolver.resolve_node(function)
        return self._by_path(absolute, node, variables) if absolute is not None else None

    def _by_path(self, absolute: Segments, node: Node, variables: Variables) -> Type | None:
        """Return the type of a call of a documented function by its path."""
        if (held := self._held(absolute, node, variables)) is not None:
            return held
        found = [each for each in self._paths.look_up(absolute).found if each.kind in FUNCTIONS]
        if not found:
            return self._constructed(absolute, node, variables)
        if found[0].parent in ALIASED and absolute[-1] == "new" and not found[0].signature:
            return self.annotations.type_at(absolute[:-1])
        if len(found) != 1:
            # Of several blocks each may have one: all that make the type are alike.
            signatures = [parse_signature(each.signature) for each in found]
            makes = all(each is not None and each.output.name == "Self" for each in signatures)
            return self.annotations.type_at(absolute[:-1]) if makes else None
        signature = parse_signature(found[0].signature)
        passed = self._passed(node, variables)[int(bool(signature and signature.takes_self)) :]
        return self._documented.returned(
            found[0], given=self.annotations.given(node), passed=passed
        )

    def _constructed(self, path: Segments, node: Node, variables: Variables) -> Type | None:
        """Return the type of a tuple struct, a variant, or what a trait's constructor makes."""
        found = self._paths.look_up(path).found
        if len(found) == 1 and found[0].kind == "variant" and "(" in found[0].signature:
            return Type(found[0].parent, found[0].names)
        if len(found) == 1 and found[0].kind == "struct":
            return self._documented.built(found[0], self._passed(node, variables))
        owner = self.annotations.type_at(path[:-1]) if len(path) > 1 else None
        if owner is None or path[-1] not in _CONSTRUCTORS:
            return owner if path[-1] == "new" and self._resolver.shows("new") else None
        if not self._has(owner, _CONSTRUCTORS[path[-1]]):
            return None
        return owner if path[-1] not in _TRYING else wrapper("Result", owner)

    def _held(self, path: Segments, node: Node, variables: Variables) -> Type | None:
        """Return what a function of the library makes that holds what it is given."""
        owner = "::".join(path[:-1])
        if path == _SPAWN:
            return standard_type(chains.THREAD, self._closure_result(node, variables))
        is_holding = path[-1] == "new" and owner in chains.HOLDING
        return standard_type(owner, *self._passed(node, variables)) if is_holding else None

    def _passed(self, node: Node, variables: Variables) -> list[Type | None]:
        """Return the types of what a call passes."""
        return [self.type_of(each, variables) for each in _values(node)]

    def _by_method(self, owner: Type, name: str, node: Node, variables: Variables) -> Type | None:
        if owner.name in {FUTURE, TUPLE}:
            return None
        if owner.name.startswith(OWN):
            return self.own.returned(owner, name)
        source = owner
        if owner.through == chains.COW and name == "into_owned":
            owned = chains.OWNED.get(owner.name)
            return standard_type(owned, *owner.args) if owned is not None else None

        def closure() -> Type | None:
            inputs = chains.closure_inputs(source, name)
            return self._closure_result(node, variables, inputs[0] if inputs else None)

        def argument() -> Type | None:
            held = _values(node)
            return self.type_of(held[0], variables) if len(held) == 1 else None

        def first() -> Type | None:
            return self._folded(node, variables)

        if name == "parse" or (name in _MAKING and chains.is_iterator(owner)):
            return self._made(owner, name, node)
        if name in {"get", "get_mut"} and owner.name in chains.LISTS:
            held = _values(node)
            one = len(held) == 1 and held[0].type in {"identifier", "integer_literal"}
            certain = one and (held[0].type == "integer_literal" or not self._is_range(held[0]))
            return wrapper("Option", owner.inner) if certain else None
        if chains.is_iterator(owner) and chains.element(owner) is None:
            item = self._documented.yielded(owner)
            source = owner = owner if item is None else iterator(item)
        if parallel.is_parallel(owner):
            source = iterator(owner.inner)
            given, known = parallel.returned(owner, name, closure, argument, first)
        else:
            given, known = chains.returned(owner, name, closure, argument)
        if not known and self._iterates(owner) and self.method(owner, name) is None:
            source = iterator(self.element(owner))
            given, known = chains.returned(source, name, closure, argument)
        return given if known else self._by_documented(owner, name, node, variables)

    def _by_documented(
        self, owner: Type, name: str, node: Node, variables: Variables
    ) -> Type | None:
        """Return what a method returns that a trait of the library or a crate's docs tell."""
        if name == "clone":
            return owner if owner.through or self._has(owner, "Clone") else None
        if name == "into_iter" and (item := self.element(owner)) is not None:
            return self._documented.own_iterator(owner) or some_iterator(item)
        if name in members_of_any_value() - {"to_owned"} and not self._is_inherent(owner, name):
            return None
        if name == "to_string":
            return standard_type(PRELUDE_TYPES["String"]) if self._has(owner, "ToString") else None
        if name == "to_owned":
            return standard_type(PRELUDE_TYPES["String"]) if owner.name == "str" else None
        rayon = self._paths.crate("rayon") if name in parallel.BEGINNING else None
        if rayon is not None and self._resolver.may_bring(name):
            return parallel.begun(owner, name, self.element(owner), rayon)
        method = self.method(owner, name)
        if method is None and (trait := self._paths.members.trait_of(owner.name, owner.crate)):
            method = self._paths.members.trait_method(trait, name) or self._resolver.brought(name)
        if method is None:
            return None
        passed = self._passed(node, variables)
        return self._documented.returned(method, owner, self.annotations.given(node), passed)

    def _is_inherent(self, owner: Type, name: str) -> bool:
        """Tell whether a crate's type has a method itself, which goes before those of traits."""
        if owner.crate is None or is_standard(owner.name) or owner.through:
            return False
        found = owner.crate.find(f"{owner.name}::{name}")
        return any(each.kind == "method" and each.parent == owner.name for each in found)

    def _made(self, owner: Type, name: str, node: Node) -> Type | None:
        """Return what ``collect::<Vec<_>>()`` and ``parse::<T>()`` make."""
        given = self.annotations.given(node)
        if len(given) != 1 or given[0] is None:
            is_parsed = name == "parse" and owner.name in chains.TEXTS
            return wrapper("Result", None) if is_parsed else None
        if name == "parse":
            error = chains.PARSE_ERRORS.get(given[0].name)
            failed = standard_type(error) if error is not None else None
            return wrapper("Result", given[0], failed) if owner.name in chains.TEXTS else None
        return chains.filled(given[0], owner)

    def collected(self, kind: Type | None, value: Node | None, variables: Variables) -> Type | None:
        """Return an annotated type such as ``Vec<_>`` with what the value collects."""
        if kind is None or value is None or value.type != "call_expression":
            return kind
        function = function_of(value)
        field = function.child_by_field_name("field") if function is not None else None
        source = function.child_by_field_name("value") if function is not None else None
        if field is None or source is None or name_of(field) != "collect":
            return kind
        owner = self.type_of(source, variables)
        item = self.element(owner) if owner is not None and chains.is_iterator(owner) else None
        return kind if item is None else chains.filled(kind, iterator(item))

    def filled(self, node: Node, kind: Type, variables: Variables) -> Type | None:
        """Return the type of a collection or an option once something is put into it.

        Args:
            node: a call of a method of a variable, or an assignment to it.
            kind: the type of the variable.
            variables: those in scope.
        """
        if node.type == "assignment_expression":
            value = node.child_by_field_name("right")
            given = self.type_of(value, variables) if value is not None else None
            return merge(kind, given) if given is not None else None
        function = function_of(node)
        field = function.child_by_field_name("field") if function is not None else None
        count = len(_values(node))
        if field is None or any(kind.args[:count]) or kind.through:
            return None
        if not chains.is_filling(kind, name_of(field), count):
            return None
        return standard_type(kind.name, *self._passed(node, variables))

    def _is_range(self, node: Node) -> bool:
        """Tell whether a variable may hold a range: its name is all that tells."""
        return "range" in text_of(node) or "span" in text_of(node)

    def element(self, owner: Type) -> Type | None:
        """Return what iterating over a value gives."""
        known = chains.element(owner)
        return known if known is not None else self._documented.yielded(owner)

    def _iterates(self, owner: Type) -> bool:
        """Tell whether a value of a crate's type is an iterator by itself."""
        return bool(owner.crate and not owner.through) and self._has(owner, "iter::Iterator")

    def _awaited(self, owner: Type) -> Type | None:
        if owner.name == FUTURE:
            return owner.inner
        future = self._has(owner, "Future") or self._has(owner, "IntoFuture")
        return self._documented.yielded(owner) if future else None

    def _field(self, owner: Type, name: str) -> Type | None:
        """Return the type of a field of a value."""
        if owner.name == TUPLE:
            at = int(name) if name.isdigit() else len(owner.args)
            return owner.args[at] if at < len(owner.args) else None
        if owner.name.startswith(OWN):
            return self.own.field(owner, name)
        if (known := FIELDS.get(f"{owner.name}::{name}")) is not None:
            return standard_type(known)
        found = self.member(owner, name)
        return self._documented.field(found, owner) if found is not None else None

    def member(self, owner: Type, name: str) -> Found | None:
        """Return a documented field of a type."""
        if owner.crate is None:
            return None
        found = [each for each in owner.crate.find(f"{owner.name}::{name}") if each.kind == "field"]
        return found[0] if len(found) == 1 else None

    def matched(self, head: Node) -> Type | None:
        """Return the type whose struct or variant a pattern names, its arguments not known."""
        if (own := self.own.head(head)) is not None:
            return Type(f"{OWN}{own.partition('::')[0]}")
        absolute = self._resolver.resolve_node(head)
        found = self._paths.look_up(absolute).found if absolute is not None else ()
        if len(found) != 1 or is_standard(found[0].path):
            return None
        if found[0].kind in TYPES:
            return Type(found[0].path, found[0].names)
        return Type(found[0].parent, found[0].names) if found[0].kind == "variant" else None

    def part(self, head: Node, name: str, kind: Type) -> Type | None:
        """Return the type of a field that a pattern names, of a struct or of a variant."""
        if kind.name.startswith(OWN):
            return self.own.part(head, name, kind)
        absolute = self._resolver.resolve_node(head)
        if absolute is None:
            return None
        found = self._paths.look_up(absolute).found
        if len(found) == 1 and found[0].kind in TYPES:
            return self._field(Type(found[0].path, found[0].names, kind.args), name)
        if len(found) != 1 or found[0].kind != "variant":
            return None
        owner = kind if kind.name == found[0].parent else None
        if name.isdigit():
            return self._documented.variant(found[0], int(name), owner)
        held = found[0].names.find(f"{found[0].path}::{name}")
        whole = owner or Type(found[0].parent, found[0].names)
        return self._documented.field(held[0], whole) if len(held) == 1 else None

    def _indexed(self, owner: Type, index: Node) -> Type | None:
        if owner.through:
            return None
        if index.type == "range_expression":
            if owner.name in chains.TEXTS:
                return standard_type("str")
            return standard_type(SLICE, owner.inner) if owner.name in chains.LISTS else None
        if owner.name in chains.LISTS:
            return owner.inner if index.type in {"integer_literal", "identifier"} else None
        if owner.name in _MAPPED:
            return owner.args[1] if len(owner.args) > 1 else None
        if owner.name == "serde_json::Value":
            return owner
        kinds = {"string_literal": "str", "integer_literal": "usize"}
        kind = kinds.get(index.type)
        given = standard_type(kind) if kind is not None else None
        return self._documented.operated(owner, "Index", given)

    def _list(self, node: Node, variables: Variables) -> Type:
        held = node.named_children
        return standard_type(ARRAY, self.type_of(held[0], variables) if held else None)

    def closure_inputs(self, closure: Node, variables: Variables) -> Sequence[Type | None]:
        """Return the types that a closure is given, by the call whose argument it is."""
        arguments = closure.parent
        call = arguments.parent if arguments is not None else None
        if arguments is None or call is None or call.type != "call_expression":
            return ()
        function = function_of(call)
        if arguments.type != "arguments" or function is None:
            return ()
        at = [each.id for each in _values(call)].index(closure.id)
        given = self.annotations.given(call)
        if function.type != "field_expression":
            absolute = self._resolver.resolve_node(function)
            found = self._paths.look_up(absolute).found if absolute is not None else ()
            if len(found) != 1 or found[0].kind not in FUNCTIONS:
                return ()
            signature = parse_signature(found[0].signature)
            at -= int(signature is not None and signature.takes_self)
            return self._documented.closure_inputs(found[0], at, None, given) if at >= 0 else ()
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        owner = self.type_of(value, variables) if value is not None else None
        if owner is None or field is None or owner.name in {FUTURE, TUPLE}:
            return ()
        name = name_of(field)
        if parallel.is_parallel(owner):
            return parallel.closure_inputs(owner, name, lambda: self._folded(call, variables))
        if inputs := chains.closure_inputs(owner, name):
            is_folded = name in chains.FOLDING and at == 1 and inputs[:1] == (None,)
            first = self._folded(call, variables) if is_folded else inputs[0]
            return (first, *inputs[1:])
        method = self.method(owner, name)
        if method is not None:
            return self._documented.closure_inputs(method, at, owner, given)
        if self._iterates(owner):
            return chains.closure_inputs(iterator(self.element(owner)), name)
        return ()

    def _folded(self, call: Node, variables: Variables) -> Type | None:
        """Return the type of what ``fold`` begins with; Rayon's is given by a function."""
        held = _values(call)
        if not held:
            return None
        first = held[0]
        if first.type == "closure_expression":
            return self._result_of(first, variables)
        return self.type_of(first, variables) or self._function_result(first)

    def _closure_result(
        self, call: Node, variables: Variables, given: Type | None = None
    ) -> Type | None:
        """Return the type of what the closure in a call gives, where its body is one expression."""
        held = _values(call)
        return self._result_of(held[-1], variables, given) if held else None

    def _result_of(
        self, closure: Node, variables: Variables, given: Type | None = None
    ) -> Type | None:
        """Return what a closure, or a function that is named, gives.

        Args:
            closure: it, or a path.
            variables: those in scope.
            given: the type of what it is given first.
        """
        if self._closures >= _MOST_CLOSURES:
            return None
        if closure.type != "closure_expression":
            return self._function_result(closure, given)
        body = closure.child_by_field_name("body")
        while body is not None and body.type == "block" and len(body.named_children) == 1:
            body = body.named_children[0]
        if body is None or body.type in {"block", "expression_statement", "let_declaration"}:
            return None
        inner: Variables = ChainMap({}, variables)
        self._closures += 1
        try:
            self._bind(closure, inner, self)
            return self.type_of(body, inner)
        finally:
            self._closures -= 1

    def _function_result(self, node: Node, given: Type | None = None) -> Type | None:
        """Return what a function gives that is handed on by its path."""
        if node.type not in {"identifier", "scoped_identifier"}:
            return None
        absolute = self._resolver.resolve_node(node)
        found = self._paths.look_up(absolute).found if absolute is not None else ()
        if len(found) != 1 or found[0].kind not in FUNCTIONS:
            return None
        if given is not None and given.name == found[0].parent:
            name = found[0].path.rpartition("::")[2]
            known, is_here = chains.returned(given, name, _unknown, _unknown)
            if is_here:
                return known
        return self._documented.returned(found[0], given)

    def _has(self, owner: Type, trait: str) -> bool:
        return owner.crate is not None and any(
            each.endswith(f"::{trait}") for each in owner.crate.traits(owner.name)
        )

    def method(self, owner: Type, name: str) -> Found | None:
        """Return the method that a call of that name means, where no trait may have another."""
        item = item_of(owner)
        if item is None:
            return None
        members = self._paths.members
        found = members.method(item, name)
        if found is None and members.has_no_own(item, name):
            traits = item.names.traits(item.path)
            # What a type has by a trait of the prelude no other trait in scope has for it.
            standard = {e.rpartition("::")[2] for e in traits if is_standard(e)} & PRELUDE
            if any(name in std_traits()[each] for each in standard):
                return members.by_traits(item, name)
            brought = self._resolver.brought(name, traits)
            may_be_standard = not self._resolver.is_brought(name)
            return brought or members.by_traits(item, name, standard=may_be_standard)
        own = found is None or found.parent == owner.name
        return found if own or not self._resolver.may_bring(name) else None


def _unknown() -> None:
    """Return the type of what nothing is known of."""


def _wrapped(name: str, inner: Type | None) -> Type:
    """Return the type of ``Some(inner)``, ``Ok(inner)`` or ``Err(inner)``."""
    if name == "Some":
        return wrapper("Option", inner)
    return wrapper("Result", inner) if name == "Ok" else wrapper("Result", None, inner)


def _branches(node: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield what an expression of blocks may have as its value, nested blocks opened.

    With each come the arms and conditions whose patterns bring names into it.
    """
    pending: list[tuple[Node, tuple[Node, ...]]] = [(node, ())]
    while pending:
        each, binding = pending.pop()
        match each.type:
            case "if_expression":
                then, other = (each.child_by_field_name(e) for e in ("consequence", "alternative"))
                pending += [(then, (*binding, each))] if then is not None else []
                pending += [(other, binding)] if other is not None else []
            case "match_expression":
                body = each.child_by_field_name("body")
                for arm in body.named_children if body is not None else []:
                    value = arm.child_by_field_name("value")
                    pending += [(value, (*binding, arm))] if value is not None else []
            case "else_clause" | "unsafe_block":
                pending += [(inner, binding) for inner in each.named_children[-1:]]
            case _:
                yield each, binding


def _last_expression(node: Node) -> Node | None:
    """Return the value of a block without statements before it; of others themselves."""
    if node.type != "block":
        return node
    parts = [each for each in node.named_children if "comment" not in each.type]
    if len(parts) != 1 or parts[0].type in {"expression_statement", "let_declaration"}:
        return None
    return parts[0]


def _unary(node: Node, inner: Type | None) -> Type | None:
    """Return the type of ``*value``, ``!value`` or ``-value``; None where that is another one."""
    sign = text_of(node)[:1]
    if inner is not None and sign in {"!", "-"}:
        return inner if inner.name in PRIMITIVES and not inner.through else None
    if inner is None or sign != "*":
        return None
    if inner.through:
        return Type(inner.name, inner.crate, inner.args)
    dereferences = inner.crate is not None and inner.crate.derefs(inner.name)
    return None if dereferences else inner


def _values(call: Node) -> list[Node]:
    """Return the arguments of a call."""
    arguments = call.child_by_field_name("arguments")
    held = arguments.named_children if arguments is not None else []
    return [each for each in held if "comment" not in each.type and each.type != "attribute_item"]


def item_of(owner: Type) -> Found | None:
    """Return a type as an item of its crate; None where namespaces leave a doubt."""
    if owner.crate is None:
        return None
    found = [each for each in owner.crate.find(owner.name) if each.kind in TYPES]
    return found[0] if len(found) == 1 else None
