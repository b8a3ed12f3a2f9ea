"""TypeScript and JavaScript against installed packages: imports, members, calls, components.

This room knows which expressions leave no doubt of what they mean. It does not know packages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.verify.arguments import Given, mismatch
from docstow.verify.findings import Finding, Verdict, in_order
from docstow.verify.javascript_scope import Name, Scope, parse, scope, text_of, walk
from docstow.verify.javascript_types import output
from docstow.verify.surfaces import Answer, Names, Resolver, absent

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.verify.surfaces import Installed

#: Specifiers that lead into the project itself, by file or by the aliases of its configuration.
_OWN = re.compile(r"^(\.|/|#|~|@/|\$|https?:|file:|data:|virtual:|bun:|deno:|astro:)")
#: Members that every object, function or promise has.
_EVERYWHERE = frozenset(
    {
        *("constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf"),
        *("propertyIsEnumerable", "toLocaleString", "call", "apply", "bind", "name", "length"),
        *("then", "catch", "finally", "default", "__esModule", "displayName"),
    }
)
_MEMBERS = frozenset({"member_expression", "nested_identifier", "nested_type_identifier"})


def verify(code: str, resolver: Resolver, *, typed: bool = True) -> Verdict:
    """Check a piece of TypeScript or JavaScript, JSX included.

    Args:
        code: the code.
        resolver: where packages are found.
        typed: it is TypeScript; JavaScript may leave arguments out and pass more.
    """
    root = parse(code).root_node
    checker = _Checker(scope(root), Names(resolver), typed=typed)
    checker.imports()
    for node in walk(root):
        checker.look_at(node)
    return checker.verdict()


@dataclass(frozen=True, slots=True)
class _Made:
    """An instance of a class or interface; ``promised`` if it must be awaited first."""

    name: Name
    package: Installed
    promised: bool = False


class _Checker:
    def __init__(self, names_here: Scope, names: Names, *, typed: bool) -> None:
        self._scope = names_here
        self._names = names
        self._typed = typed
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}

    def verdict(self) -> Verdict:
        return Verdict(in_order(self._findings), tuple(self._missing))

    def _note(self, node: Node, name: str, answer: Answer) -> None:
        package, symbol = answer.package, answer.symbol
        self._findings.append(
            Finding(
                line=node.start_point.row + 1,
                column=node.start_point.column + 1,
                name=name,
                status=answer.status,
                message=answer.message,
                suggestions=answer.suggestions,
                path=answer.looked_in or (symbol.path if symbol is not None else ""),
                package=package.name if package is not None else "",
                version=package.version if package is not None else "",
            )
        )

    def _look_up(self, name: Name) -> Answer | None:
        """Ask for a name, noting packages that are not at hand."""
        source = name.specifier
        if _OWN.match(source) or source in self._scope.augmented:
            return None
        resolver = self._names.resolver
        if resolver.is_standard(source) and not self._typed:
            return None  # what runs has the last word there, not what declares its types
        if resolver.package_for(source) is None:
            if not resolver.is_standard(source):
                self._missing.setdefault(_package_of(source))
            return None
        return self._names.look_up(name.path, source)

    def imports(self) -> None:
        """Check every imported name."""
        for name, node in self._scope.places:
            answer = self._look_up(name)
            if answer is None:
                continue
            if name.names == ("default",) and answer.status == "unknown":
                answer = Answer("not_checked", package=answer.package)  # bundlers make one up
            self._note(node, name.path, answer)

    def look_at(self, node: Node) -> None:
        """Check one node; whoever calls goes on to those below."""
        if node.type in _MEMBERS and not node.has_error:
            outer = node.parent
            if outer is None or outer.type not in _MEMBERS or outer.named_children[0] != node:
                self._chain(node)
            elif self._name(node) is None:
                self._member(node)
        elif node.type in {"call_expression", "new_expression"} and not node.has_error:
            self._call(node)

    # -- what an expression means ------------------------------------------------------------

    def _name(self, node: Node) -> Name | None:
        """The exported name that a chain of members begins at an import."""
        if node.type in {"identifier", "type_identifier"}:
            found = self._scope.imported(text_of(node))
            if found is not None and found.names == ("default",):
                return self._default(found)
            return found
        if node.type in _MEMBERS and len(node.named_children) >= 2:
            owner = self._name(node.named_children[0])
            return owner.below(text_of(node.named_children[-1])) if owner is not None else None
        return None

    def _default(self, name: Name) -> Name | None:
        """A default import, where the module says that it has one."""
        answer = self._look_up(name)
        return name if answer is not None and answer.status == "ok" and answer.whole else None

    def _type(self, node: Node, depth: int = 0) -> _Made | None:
        """What a value certainly is an instance of."""
        if depth > 14:
            return None
        match node.type:
            case "identifier":
                return self._variable(node, depth)
            case "parenthesized_expression" | "non_null_expression":
                return self._type(node.named_children[0], depth + 1)
            case "await_expression":
                given = self._type(node.named_children[0], depth + 1)
                if given is None or not given.promised:
                    return None
                return _Made(given.name, given.package)
            case "new_expression":
                name = self._name(node.child_by_field_name("constructor") or node)
                return self._instance(name, {"class"}) if name is not None else None
            case "call_expression":
                return self._given(node, depth)
        return None

    def _variable(self, node: Node, depth: int) -> _Made | None:
        name = text_of(node)
        if name in self._scope.narrowed:
            return None
        annotation = self._scope.annotation(node)
        if annotation is not None:
            if annotation.type == "generic_type":
                annotation = annotation.named_children[0]
            named = self._name(annotation)
            return self._instance(named, {"class", "interface"}) if named is not None else None
        if self._scope.declared.get(name) != 1:
            return None
        value = self._scope.values.get(name)
        return self._type(value, depth + 1) if value is not None else None

    def _instance(self, name: Name, kinds: set[str]) -> _Made | None:
        answer = self._look_up(name)
        if answer is None or answer.symbol is None or not answer.whole or answer.package is None:
            return None
        return _Made(name, answer.package) if answer.symbol.kind in kinds else None

    def _given(self, node: Node, depth: int) -> _Made | None:
        """What a call gives back."""
        function = node.child_by_field_name("function")
        if function is None:
            return None
        name = self._name(function)
        owner: _Made | None = None
        if name is None and function.type == "member_expression":
            owner = self._type(function.named_children[0], depth + 1)
            if owner is None or owner.promised:
                return None
            name = owner.name.below(text_of(function.named_children[-1]))
        answer = self._look_up(name) if name is not None else None
        if answer is None or answer.symbol is None or not answer.whole or name is None:
            return None
        arguments = node.child_by_field_name("arguments")
        passed = (
            [each for each in arguments.named_children if each.type != "comment"]
            if arguments
            else []
        )
        spread = any(each.type == "spread_element" for each in passed)
        bare = arguments is not None and not passed
        bare = bare and node.child_by_field_name("type_arguments") is None
        count = None if arguments is None or spread else len(passed)
        given = output(answer.symbol.signature, bare=bare, count=count)
        if given is None:
            return None
        if given.name == "this":
            return owner
        made = self._instance(Name(name.specifier, (given.name,)), {"class", "interface"})
        if made is not None and given.qualified:
            own = self._names.look_up(made.name.path, name.specifier).symbol
            if own is None or f"extends {given.qualified}" not in own.signature:
                return None
        return _Made(made.name, made.package, given.promised) if made is not None else None

    # -- checks ------------------------------------------------------------------------------

    def _chain(self, node: Node) -> None:
        name = self._name(node)
        if name is None:
            self._member(node)
            return
        if _is_asked(node) or any(each in self._scope.patched for each in name.names):
            return
        answer = self._look_up(name)
        if answer is None:
            return
        if answer.status == "unknown" and _given_to_all(name, answer):
            answer = Answer("not_checked", package=answer.package)
        self._note(node.named_children[-1], name.path, answer)

    def _member(self, node: Node) -> None:
        """A member of an instance."""
        if node.type != "member_expression" or len(node.named_children) < 2 or _is_asked(node):
            return
        owner = self._type(node.named_children[0])
        member = text_of(node.named_children[-1])
        if owner is None or owner.promised or member in self._scope.patched:
            return
        whole = owner.name.below(member)
        path, surface = owner.name.path, owner.package.surface
        if surface.symbol(whole.path) is not None:
            answer = self._names.look_up(whole.path, whole.specifier)
        elif member in _EVERYWHERE or member.startswith(("_", "#")) or not surface.certain(path):
            answer = Answer("not_checked", package=owner.package)
        else:
            near = self._names.suggest(owner.package, path, member)
            message = absent(owner.package, "class", path, member, near)
            answer = Answer(
                "unknown",
                None,
                message=message,
                suggestions=near,
                looked_in=path,
                package=owner.package,
            )
        self._note(node.named_children[-1], whole.path, answer)

    def _call(self, node: Node) -> None:
        """The number of arguments."""
        called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        arguments = node.child_by_field_name("arguments")
        if called is None or arguments is None or not self._typed:
            return
        if arguments.type != "arguments":
            return  # a tagged template
        name = self._name(called)
        if name is None and called.type == "member_expression":
            owner = self._type(called.named_children[0])
            if owner is None or owner.promised:
                return
            name = owner.name.below(text_of(called.named_children[-1]))
        answer = self._look_up(name) if name is not None else None
        if answer is None or answer.symbol is None or not answer.whole:
            return
        symbol = answer.symbol
        if symbol.parameters is None or (symbol.kind == "class") != (node.type == "new_expression"):
            return
        passed = [each for each in arguments.named_children if each.type != "comment"]
        spread = any(each.type == "spread_element" for each in passed)
        given = Given(len(passed) - spread, open_positional=spread)
        wrong = mismatch(symbol.parameters, given)
        if wrong is not None and name is not None:
            message = f"{name.path} {wrong.reason}: {' '.join(symbol.signature.split())[:300]}"
            said = Answer(
                "wrong_argument", symbol, whole=True, message=message, package=answer.package
            )
            self._note(called, f"{name.path}()", said)


def _given_to_all(name: Name, answer: Answer) -> bool:
    """Whether it is a member that functions and objects have anyway."""
    below = name.path[len(answer.looked_in) :].lstrip(".").partition(".")[0]
    return below in _EVERYWHERE or below.startswith(("_", "$"))


_ASKING = frozenset({"if_statement", "while_statement", "ternary_expression"})


def _is_asked(node: Node) -> bool:
    """Whether the code only asks if it is there: ``if (x.y)``, ``typeof x.y``, ``x.y && …``.

    What is called at once is not asked for, unless it is beside: ``x.y && x.y()``.
    """
    called = node.parent is not None and node.parent.child_by_field_name("function") == node
    inner, outer = node, node.parent
    while outer is not None:
        if outer.type == "unary_expression" and text_of(outer).startswith(("typeof", "delete")):
            return True
        if outer.type in _ASKING:
            condition = outer.child_by_field_name("condition")
            return condition != inner or not called or _is_mentioned(node, outer)
        if outer.type == "binary_expression" and re.search(r"&&|\|\||\?\?", text_of(outer)):
            if not called or _is_mentioned(node, outer):
                return True
        elif outer.type.endswith("statement") or outer.type in {"statement_block", "class_body"}:
            return False
        inner, outer = outer, outer.parent
    return False


def _is_mentioned(node: Node, around: Node) -> bool:
    """Whether a member is spoken of there otherwise than by a call."""
    member = re.escape(text_of(node.named_children[-1]))
    return bool(re.search(rf"\b{member}\b(?!\s*[(<])", text_of(around)))


def _package_of(specifier: str) -> str:
    parts = specifier.split("/")
    return "/".join(parts[: 2 if specifier.startswith("@") else 1])
