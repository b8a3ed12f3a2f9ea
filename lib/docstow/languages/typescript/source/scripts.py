"""What JavaScript exports and declares by assignment and in comments.

Nothing is run: CommonJS exports in a form that neither people nor compilers usually write make the
others uncertain. Members come by assignment (``Client.prototype.send =``, ``Client.defaults =``,
``this.size =``), types by ``@typedef`` and ``@callback`` of JSDoc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import child_of, span_of, text
from docstow.languages.typescript.source.jsdoc_types import read_typedefs
from docstow.languages.typescript.source.model import (
    DEFAULT,
    AssignedMember,
    Declaration,
    DeclarationKind,
    MemberKind,
    Reference,
    Scope,
    Source,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = ("program", "if_statement", "else_clause", "statement_block", "expression_statement",
           "parenthesized_expression", "binary_expression", "sequence_expression")  # fmt: skip
_VARIABLES = ("lexical_declaration", "variable_declaration")
_EXPORTS = ("exports", "module.exports")
_STARS = ("__exportStar", "__export", "tslib_1.__exportStar", "tslib.__exportStar", "__reExport")
#: Helpers of compilers around ``require``.
_INTEROP = ("__importStar", "__importDefault", "__toESM")
_FUNCTIONS = ("function_expression", "arrow_function", "generator_function", "method_definition",
              "function_declaration")  # fmt: skip
_PROTOTYPE = ".prototype"
#: Bytes of a file beyond which it is a bundle, whose exports are not followed.
_MAX_SIZE = 1_000_000
#: Characters of a value that are shown.
_MAX_VALUE = 80


def read_script(root: Node, source: Source) -> None:
    """Add what a file exports and declares by assignment and in comments to what was read of it.

    Args:
        root: of its syntax tree.
        source: the file, its statements read.
    """
    scope = source.scope
    if len(source.body) > _MAX_SIZE:
        source.bundle = True
        scope.dynamic = scope.dynamic or not source.module
        return
    _read_typedefs(root, source)
    reader = _Assignments(source)
    if not source.module:
        if b"exports" not in source.body:
            scope.dynamic = b"define(" in source.body or b"this" in source.body
        _read_requires(root, scope)
    reader.block(root)
    _read_own_fields(root, source)
    if not source.module and b"exports" in source.body:
        # Each mention is either understood or may add anything.
        scope.dynamic = scope.dynamic or _count_mentions(root) > reader.understood


def _read_typedefs(root: Node, source: Source) -> None:
    """Declare the types that comments define, which other files see as exports."""
    if b"@typedef" not in source.body and b"@callback" not in source.body:
        return
    for node in root.named_children:
        if node.type != "comment":
            continue
        written = source.body[node.start_byte : node.end_byte]
        if b"@typedef" not in written and b"@callback" not in written:
            continue
        doc = written.decode(errors="replace")
        for each in read_typedefs(doc):
            if each.name not in source.scope.names:
                span = span_of(node)
                span = replace(span, line=span.line + each.line)
                source.scope.declare(Declaration(each.name, "type", span, doc))
                source.scope.exports.setdefault(each.name, Reference("", (each.name,)))


class _Assignments:
    """The assignments of one file, and how many mentions of ``exports`` they account for."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.scope = source.scope
        self.understood = 0
        #: What means the exports: ``var utils = module.exports = {}``.
        self._exports = set(_EXPORTS) if not source.module else set()

    def block(self, node: Node, doc: str = "") -> None:
        for child in node.named_children:
            if child.type == "comment":
                written = self.source.body[child.start_byte : child.end_byte]
                if written.startswith(b"/**"):
                    doc = written.decode(errors="replace")
                continue
            if child.type in _BLOCKS:
                self.block(child, doc)
            elif child.type == "assignment_expression":
                self._assignment(child, doc)
            elif child.type == "call_expression":
                self._call(child, doc)
            elif child.type in _VARIABLES:
                for each in child.named_children:
                    self._variable(each, doc)
            doc = ""

    def _variable(self, node: Node, doc: str) -> None:
        value, name = child_of(node, "value"), child_of(node, "name")
        while value is not None and value.type == "parenthesized_expression":
            value = value.named_children[-1]
        if value is None or name is None or not self._exports:
            return
        targets: list[Node] = []
        if value.type == "assignment_expression":
            targets, _ = _chain(value)
            self._assignment(value, doc)
        if text(value) in _EXPORTS or any(text(each) in _EXPORTS for each in targets):
            self.understood += text(value) in _EXPORTS
            self._exports.add(text(name))

    def _assignment(self, node: Node, doc: str) -> None:
        targets, value = _chain(node)
        if value is None:
            return
        whole = [each for each in targets if text(each) in _EXPORTS]
        if whole:
            self.understood += sum(text(each) in self._exports for each in whole)
            if any(text(each) == "module.exports" for each in whole) or len(whole) == len(targets):
                self._whole(value, doc)
        for target in targets:
            if target.type == "identifier" and whole and text(target) not in _EXPORTS:
                self._exports.add(text(target))
            if target.type != "member_expression" or text(target) in _EXPORTS:
                continue
            owner, name = child_of(target, "object"), child_of(target, "property")
            if owner is None or name is None:
                continue
            if text(owner) in self._exports:
                self.understood += text(owner) in _EXPORTS
                self._export(text(name), node, value, doc)
            else:
                self._member(text(owner), text(name), node, value, doc)

    def _member(self, owner: str, name: str, node: Node, value: Node, doc: str) -> None:
        """Add a member that is assigned to a name of the file, or to its prototype."""
        head, _, last = owner.rpartition(".")
        if head in _EXPORTS:
            owner = f"exports.{last}"
        static = True
        if name == "prototype":
            if value.type == "object":
                self._members(owner, value, static=False)
            return
        if owner.endswith(_PROTOTYPE):
            owner, static = owner.removesuffix(_PROTOTYPE), False
        if owner in self.scope.names and owner.count(".") < 2:
            self._add(owner, name, node, value, doc, static=static)

    def _add(
        self, owner: str, name: str, node: Node, value: Node, doc: str, *, static: bool
    ) -> None:
        member = _assigned(name, node, value, doc, static=static)
        self.source.assigned.setdefault(owner, {}).setdefault(name, member)

    def _members(self, owner: str, node: Node, *, static: bool) -> None:
        """Add the members of an object that is assigned as a whole."""
        doc = ""
        for each in node.named_children:
            if each.type == "comment":
                doc = text(each) if text(each).startswith("/**") else doc
                continue
            name = child_of(each, "key") or child_of(each, "name")
            if name is not None and name.type in ("property_identifier", "string"):
                value = child_of(each, "value") or each
                self._add(owner, text(name).strip("'\""), each, value, doc, static=static)
            doc = ""

    def _whole(self, value: Node, doc: str) -> None:
        """Read what a module is as a whole."""
        if value.type == "object":
            inner = ""
            for each in value.named_children:
                if each.type == "comment":
                    inner = text(each) if text(each).startswith("/**") else inner
                    continue
                self._property(each, inner)
                inner = ""
        elif (module := _required(value)) is not None:
            self.scope.equals.append(Reference(module, (), whole=True))
        elif value.type == "identifier":
            self.scope.equals.append(Reference("", (text(value),)))
        elif text(value) in _EXPORTS:
            self.understood += 1
        elif value.type in (*_FUNCTIONS, "class"):
            kind: DeclarationKind = "class" if value.type == "class" else "function"
            self.scope.declare(Declaration(DEFAULT, kind, span_of(value), doc))
            self.scope.equals.append(Reference("", (DEFAULT,)))
        else:
            self.scope.dynamic = True

    def _property(self, node: Node, doc: str) -> None:
        if node.type == "shorthand_property_identifier":
            self.scope.exports.setdefault(text(node), Reference("", (text(node),)))
            return
        if node.type == "spread_element":
            module = self._module_of(node.named_children[-1])
            if module is not None:
                self.scope.stars.append(module)
                return
        name = child_of(node, "key" if node.type == "pair" else "name")
        if name is None or name.type not in ("property_identifier", "string"):
            self.scope.dynamic = True
            return
        self._export(text(name).strip("'\""), node, child_of(node, "value") or node, doc)

    def _module_of(self, node: Node) -> str | None:
        """Return the specifier of what is required, here or as an import."""
        known = self.scope.imports.get(text(node)) if node.type == "identifier" else None
        if known is not None:
            return known.module if not known.path else None
        return _required(node)

    def _export(self, name: str, whole: Node, value: Node, doc: str) -> None:
        if name == "__esModule":
            self.scope.explicit = True
            return
        if value.type == "identifier":
            self.scope.exports[name] = Reference("", (text(value),))
        elif (module := _required(value)) is not None:
            self.scope.exports[name] = Reference(module, (), whole=True)
        elif (inner := _required_member(value)) is not None:
            self.scope.exports[name] = inner
        elif name not in self.scope.exports or value.type != "unary_expression":
            self._define(name, whole, doc)

    def _call(self, node: Node, doc: str) -> None:
        function, arguments = child_of(node, "function"), child_of(node, "arguments")
        if function is None or arguments is None:
            return
        given = [each for each in arguments.named_children if each.type != "comment"]
        called = text(function)
        if called == "Object.defineProperty" and len(given) > 2:
            name = text(given[1])[1:-1] if given[1].type == "string" else ""
            if name and text(given[0]) in _EXPORTS:
                self.understood += 1
                if name != "__esModule":
                    self._define(name, node, doc)
            elif name:
                self._member(text(given[0]), name, node, given[2], doc)
        elif called == "Object.assign" and len(given) > 1 and given[1].type == "object":
            owner = text(given[0])
            static = not owner.endswith(_PROTOTYPE)
            if owner.removesuffix(_PROTOTYPE) in self.scope.names:
                self._members(owner.removesuffix(_PROTOTYPE), given[1], static=static)
        elif called in _STARS and given:
            module = next(filter(None, map(_required, given)), None)
            if module is not None:
                self.understood += sum(text(each) in _EXPORTS for each in given)
                self.scope.stars.append(module)

    def _define(self, name: str, node: Node, doc: str) -> None:
        """Export a value that has no name of its own."""
        local = f"exports.{name}"
        self.scope.names[local] = [Declaration(local, "value", span_of(node), doc)]
        self.scope.exports[name] = Reference("", (local,))


def _chain(node: Node) -> tuple[list[Node], Node | None]:
    """Return the targets of ``a = b = value``, and the value."""
    targets: list[Node] = []
    value: Node | None = node
    while value is not None and value.type == "assignment_expression":
        left = child_of(value, "left")
        if left is not None:
            targets.append(left)
        value = child_of(value, "right")
        while value is not None and value.type == "parenthesized_expression":
            value = value.named_children[-1]
    return targets, value


def _assigned(name: str, node: Node, value: Node, doc: str, *, static: bool) -> AssignedMember:
    kind: MemberKind = "method" if value.type in _FUNCTIONS else "property"
    return AssignedMember(name, kind, static, span_of(node), doc, _signature(name, value))


def _signature(name: str, value: Node) -> str:
    """Return how a member is written, without a body."""
    parameters = child_of(value, "parameters") or child_of(value, "parameter")
    if value.type in _FUNCTIONS:
        written = " ".join(text(parameters).split()) if parameters is not None else "()"
        return f"{name}{written if written.startswith('(') else f'({written})'}"
    shown = " ".join(text(value).split()) if value.end_byte - value.start_byte <= _MAX_VALUE else ""
    return f"{name} = {shown}" if shown else name


def _read_own_fields(root: Node, source: Source) -> None:
    """Add what constructors assign to ``this``: of classes, and of functions with prototypes."""
    for statement in root.named_children:
        node = statement
        if node.type == "export_statement":
            node = child_of(node, "declaration") or child_of(node, "value") or node
        name, body = child_of(node, "name"), child_of(node, "body")
        owner = text(name) if name is not None else DEFAULT
        if body is None:
            continue
        if node.type in ("class_declaration", "class"):
            for each in body.named_children:
                inner = child_of(each, "name") if each.type == "method_definition" else None
                if inner is not None and text(inner) == "constructor":
                    _add_fields(owner, child_of(each, "body"), source)
        elif node.type == "function_declaration":
            known = source.assigned.get(owner, {}).values()
            if any(not each.static for each in known):
                _add_fields(owner, body, source)


def _add_fields(owner: str, body: Node | None, source: Source) -> None:
    doc = ""
    for statement in body.named_children if body is not None else ():
        if statement.type == "comment":
            doc = text(statement) if text(statement).startswith("/**") else doc
            continue
        inner = statement.named_children[0] if statement.named_children else statement
        if statement.type == "expression_statement" and inner.type == "assignment_expression":
            targets, value = _chain(inner)
            for target in targets:
                of, name = child_of(target, "object"), child_of(target, "property")
                if of is None or name is None or value is None or text(of) != "this":
                    continue
                if name.type == "property_identifier":
                    member = _assigned(text(name), statement, value, doc, static=False)
                    source.assigned.setdefault(owner, {}).setdefault(text(name), member)
        doc = ""


def _read_requires(root: Node, scope: Scope) -> None:
    """Read ``const x = require()`` as an import."""
    for statement in root.named_children:
        if statement.type not in _VARIABLES:
            continue
        for each in statement.named_children:
            value, target = child_of(each, "value"), child_of(each, "name")
            module = _required(value) if value else None
            if module is None or target is None:
                continue
            if target.type == "identifier":
                scope.names.pop(text(target), None)
                scope.imports[text(target)] = Reference(module, (), whole=True)
            elif target.type == "object_pattern":
                for name, local in _destructured(target):
                    scope.names.pop(local, None)
                    scope.imports[local] = Reference(module, (name,))


def _destructured(pattern: Node) -> Iterator[tuple[str, str]]:
    """Yield the names that a pattern takes of an object, and what they are called here."""
    for each in pattern.named_children:
        if each.type == "shorthand_property_identifier_pattern":
            yield text(each), text(each)
        elif each.type == "pair_pattern":
            key, value = child_of(each, "key"), child_of(each, "value")
            if key is not None and value is not None and value.type == "identifier":
                yield text(key), text(value)


def _required(node: Node) -> str | None:
    """Return the specifier of ``require("x")``; None for any other expression."""
    function, arguments = child_of(node, "function"), child_of(node, "arguments")
    if node.type != "call_expression" or function is None or arguments is None:
        return None
    given = arguments.named_children
    if text(function) == "require" and len(given) == 1 and given[0].type == "string":
        return text(given[0])[1:-1]
    if text(function) in _INTEROP and given:
        return _required(given[0])
    return None


def _required_member(node: Node) -> Reference | None:
    """Return what ``require("x").name`` stands for; None for any other expression."""
    of, name = child_of(node, "object"), child_of(node, "property")
    if node.type != "member_expression" or of is None or name is None:
        return None
    module = _required(of)
    return Reference(module, (text(name),)) if module is not None else None


def _count_mentions(root: Node) -> int:
    """Count how often a file names its exports, comments and strings left out."""
    count = 0
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and not node.child_count and node.type.endswith("identifier"):
            count += node.text == b"exports"
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return count
