"""What the names of a TypeScript or JavaScript file stand for: imports, and what is declared once.

This room knows import forms and declarations. It does not know packages. It takes the whole file
for one scope: a name that is declared twice anywhere stands for nothing certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree


@dataclass(frozen=True, slots=True)
class Name:
    """An exported name of a module: ``specifier`` and the names below it."""

    specifier: str
    names: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """As surfaces write it."""
        return ".".join((self.specifier, *self.names))

    def below(self, name: str) -> Name:
        """A member of it."""
        return Name(self.specifier, (*self.names, name))


@dataclass(frozen=True, slots=True)
class Bound:
    """A place where a name is declared.

    Attributes:
        at: the name.
        within: of a parameter its function.
        annotation: the declared type of a parameter.
    """

    at: Node
    within: Node | None = None
    annotation: Node | None = None


@dataclass(slots=True)
class Scope:
    """The names of a file.

    Attributes:
        imports: what imported names stand for.
        places: every import with the node that names it.
        declared: how often each name is declared, imports included.
        values: initial values of constants, by name.
        annotations: declared types, by name.
        patched: members that the code itself assigns.
        augmented: modules that the code adds to.
        narrowed: names that the code asks whether they are something more.
        bound: by name where it is declared, as a parameter or otherwise.
    """

    imports: dict[str, Name] = field(default_factory=dict)
    places: list[tuple[Name, Node]] = field(default_factory=list)
    declared: dict[str, int] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)
    annotations: dict[str, Node] = field(default_factory=dict)
    patched: set[str] = field(default_factory=set)
    augmented: set[str] = field(default_factory=set)
    narrowed: set[str] = field(default_factory=set)
    bound: dict[str, list[Bound]] = field(default_factory=dict)

    def imported(self, name: str) -> Name | None:
        """What an imported name stands for, if nothing else can."""
        return self.imports.get(name) if self.declared.get(name) == 1 else None

    def annotation(self, use: Node) -> Node | None:
        """The declared type of the variable or parameter that an identifier certainly means."""
        name = text_of(use)
        if self.declared.get(name) == 1:
            return self.annotations.get(name)
        every = self.bound.get(name, ())
        around = [
            (each.within.end_byte - each.within.start_byte, place, each.within)
            for place, each in enumerate(every)
            if each.within is not None and _contains(each.within, use)
        ]
        if not around:
            return None
        _, place, function = min(around, key=lambda each: each[:2])
        alone = all(
            number == place
            or each.within not in {None, function}
            or not _contains(function, each.at)
            for number, each in enumerate(every)
        )
        return every[place].annotation if alone else None


@lru_cache(maxsize=2)
def _parser(dialect: str) -> Parser:
    import tree_sitter_typescript as typescript
    from tree_sitter import Language, Parser

    return Parser(
        Language(
            typescript.language_tsx() if dialect == "tsx" else typescript.language_typescript()
        )
    )


def parse(code: str) -> Tree:
    """The tree that has no errors: ``<T>value`` means one thing with JSX, another without."""
    body = _unfenced(code).encode()
    tree = _parser("tsx").parse(body)
    if tree.root_node.has_error:
        other = _parser("ts").parse(body)
        if not other.root_node.has_error:
            return other
    return tree


def _unfenced(code: str) -> str:
    lines = code.split("\n")
    if not any(line.lstrip().startswith("```") for line in lines):
        return code
    inside, kept = False, []
    for line in lines:
        fence = line.lstrip().startswith("```")
        inside = inside != fence
        kept.append(line if inside and not fence else "")
    return "\n".join(kept)


def text_of(node: Node | None) -> str:
    """The source of a node."""
    return (node.text or b"").decode() if node is not None else ""


def unquoted(node: Node | None) -> str:
    """The value of a string literal."""
    return text_of(node).strip("'\"`")


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each.named_children)


#: Nodes that bind names, and the field in which those stand.
_BINDING = {
    "arrow_function": "parameter",
    "function_declaration": "name",
    "function_expression": "name",
    "generator_function_declaration": "name",
    "class_declaration": "name",
    "abstract_class_declaration": "name",
    "enum_declaration": "name",
    "interface_declaration": "name",
    "type_alias_declaration": "name",
    "type_parameter": "name",
    "catch_clause": "parameter",
    "for_in_statement": "left",
}


def scope(root: Node) -> Scope:
    """The names of a parsed file."""
    found = Scope()
    for node in walk(root):
        if node.type in _BINDING:
            _declare(found, node.child_by_field_name(_BINDING[node.type]))
        match node.type:
            case "import_statement":
                _import(found, node)
            case "variable_declarator":
                _variable(found, node)
            case "required_parameter" | "optional_parameter":
                _parameter(found, node)
            case "formal_parameters":
                for child in node.named_children:
                    if child.type not in {"required_parameter", "optional_parameter"}:
                        _declare(found, child)
            case "module" | "internal_module":
                _namespace(found, node.child_by_field_name("name"))
            case "assignment_expression" | "augmented_assignment_expression" | "update_expression":
                _assigned(found, node)
            case "call_expression" | "binary_expression":
                _narrowed(found, node)
    return found


#: Functions that ask or assert what something is, by how they are named.
_ASSERTS = re.compile(
    r"(?:^|\.)(?:assert|invariant|ensure|expect|must|check|verify|require|is|has)\w*$",
    re.IGNORECASE,
)


def _contains(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _narrowed(found: Scope, node: Node) -> None:
    """Take in what ``isThis(x)``, ``x instanceof This`` and ``"this" in x`` may tell of ``x``."""
    if node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        asked = arguments.named_children if arguments is not None else []
    elif text_of(node.child_by_field_name("operator")) in {"instanceof", "in"}:
        asked = node.named_children
    else:
        return
    if node.type == "binary_expression" or _is_condition(node):
        found.narrowed.update(text_of(each) for each in asked if each.type == "identifier")


def _is_condition(call: Node) -> bool:
    """Whether what follows may depend on a call; a lone one may assert it, or be kept."""
    outer = call.parent
    while outer is not None and outer.type in {"parenthesized_expression", "unary_expression"}:
        outer = outer.parent
    if outer is not None and outer.type in {"expression_statement", "variable_declarator"}:
        return bool(_ASSERTS.search(text_of(call.child_by_field_name("function"))))
    return outer is not None and outer.type in {
        *("if_statement", "while_statement", "do_statement", "for_statement"),
        *("ternary_expression", "binary_expression", "switch_case"),
    }


def _namespace(found: Scope, name: Node | None) -> None:
    if name is not None and name.type == "string":
        found.augmented.add(unquoted(name))
    else:
        _declare(found, name)


def _assigned(found: Scope, node: Node) -> None:
    target = node.child_by_field_name("left") or node.child_by_field_name("argument")
    if target is None:
        return
    if target.type == "member_expression":
        found.patched.add(text_of(target.child_by_field_name("property")))
    else:
        _declare(found, target)


def _declare(found: Scope, pattern: Node | None, bound: Bound | None = None) -> None:
    """Every name that a pattern binds.

    Args:
        found: where they are added.
        pattern: an identifier, or what is taken apart.
        bound: of a parameter that is one name.
    """
    if pattern is None:
        return
    if pattern.type in {
        "identifier",
        "type_identifier",
        "shorthand_property_identifier_pattern",
    }:
        name = text_of(pattern)
        found.declared[name] = found.declared.get(name, 0) + 1
        found.bound.setdefault(name, []).append(bound or Bound(pattern))
        return
    if pattern.type in {"member_expression", "subscript_expression"}:
        return
    for child in pattern.named_children:
        default = "assignment_pattern" in pattern.type and child == pattern.child_by_field_name(
            "right"
        )
        if child.type not in {"property_identifier", "type_annotation"} and not default:
            _declare(found, child)


def _parameter(found: Scope, node: Node) -> None:
    pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    function = node.parent.parent if node.parent is not None else None
    if pattern is None or pattern.type != "identifier" or function is None:
        _declare(found, pattern)
        return
    type_ = annotation.named_children[0] if annotation and annotation.named_children else None
    _declare(found, pattern, Bound(pattern, function, type_))
    if type_ is not None:
        found.annotations[text_of(pattern)] = type_


def _variable(found: Scope, node: Node) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    annotation = node.child_by_field_name("type")
    if name is None:
        return
    source = _loaded(value) if value is not None else None
    if source is not None and annotation is None and _add_loaded(found, name, source):
        return
    _declare(found, name)
    constant = node.parent is not None and text_of(node.parent).startswith("const")
    if name.type != "identifier":
        return
    if annotation is not None and annotation.named_children:
        found.annotations[text_of(name)] = annotation.named_children[0]
    elif value is not None and constant:
        found.values[text_of(name)] = value


def _loaded(value: Node) -> str | None:
    """The module of ``require("m")`` or ``await import("m")``."""
    if value.type == "await_expression" and value.named_children:
        value = value.named_children[0]
        if text_of(value.child_by_field_name("function")) != "import":
            return None
    elif text_of(value.child_by_field_name("function")) != "require":
        return None
    arguments = value.child_by_field_name("arguments")
    if arguments is None or len(arguments.named_children) != 1:
        return None
    only = arguments.named_children[0]
    return unquoted(only) if only.type == "string" else None


def _add_loaded(found: Scope, name: Node, source: str) -> bool:
    if name.type == "identifier":
        _bind(found, text_of(name), Name(source), name)
        return True
    if name.type != "object_pattern":
        return False
    for each in name.named_children:
        if each.type == "shorthand_property_identifier_pattern":
            _bind(found, text_of(each), Name(source, (text_of(each),)), each)
        elif each.type == "pair_pattern":
            key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                _bind(found, text_of(value), Name(source, (text_of(key),)), key)
            else:
                _declare(found, value)
        else:
            _declare(found, each)
    return True


def _bind(found: Scope, local: str, name: Name, node: Node) -> None:
    found.declared[local] = found.declared.get(local, 0) + 1
    found.bound.setdefault(local, []).append(Bound(node))
    found.imports[local] = name
    found.places.append((name, node))


def _import(found: Scope, node: Node) -> None:
    source = unquoted(node.child_by_field_name("source"))
    if not source or node.has_error:
        return
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            source = unquoted(clause.child_by_field_name("source"))
            _bind(found, text_of(clause.named_children[0]), Name(source), clause)
        if clause.type != "import_clause":
            continue
        for each in clause.named_children:
            if each.type == "identifier":
                _bind(found, text_of(each), Name(source, ("default",)), each)
            elif each.type == "namespace_import":
                _bind(found, text_of(each.named_children[0]), Name(source), each)
            elif each.type == "named_imports":
                _named(found, each, source)
    if not any(
        each.type in {"import_clause", "import_require_clause"} for each in node.named_children
    ):
        found.places.append((Name(source), node))


def _named(found: Scope, node: Node, source: str) -> None:
    for each in node.named_children:
        if each.type != "import_specifier":
            continue
        name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
        if name is not None:
            local = text_of(alias) if alias is not None else text_of(name)
            _bind(found, local, Name(source, (unquoted(name),)), name)
