"""Checks TypeScript and JavaScript against packages: imports, members, calls, keys of options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docstow.languages.shared.findings import PROBLEMS, Finding, Verdict, nearest, sort_findings
from docstow.languages.shared.likeness import name_similarity
from docstow.languages.shared.lookup import (
    Answer,
    Names,
    PassedArguments,
    Resolver,
    absent,
    mismatch,
)
from docstow.languages.typescript.check.inference import MEMBERS, Expressions, Known, object_keys
from docstow.languages.typescript.check.scope import Name, Scope
from docstow.languages.typescript.check.syntax import Tree, call_arguments, child, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


_BRANCHES = frozenset({"if_statement", "while_statement", "do_statement", "ternary_expression"})
_EITHER = frozenset({"&&", "||", "??"})
_THROUGH = frozenset(
    {"parenthesized_expression", "unary_expression", "non_null_expression", "member_expression"}
)
#: Specifiers of the project itself, by file or by the aliases of its configuration.
_OWN = re.compile(r"^(\.|/|#|~|@/|\$|https?:|file:|data:|virtual:|bun:|deno:|astro:)")
#: Members that every object, function or promise has.
_INHERENT = frozenset(
    {
        *("constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf"),
        *("propertyIsEnumerable", "toLocaleString", "call", "apply", "bind", "name", "length"),
        *("then", "catch", "finally", "default", "__esModule", "displayName"),
    }
)
#: Wrong members for which names are suggested.
_MAX_SUGGESTED = 200
#: Likeness from which a name is another one misspelled.
_MISSPELLED = 85.0
#: Comments that silence the checks of types in the next line.
_SILENCING = re.compile(r"@ts-(?:ignore|expect-error|nocheck)\b")


def tested_members(tree: Tree) -> tuple[frozenset[int], frozenset[int]]:
    """Return the members that are only tested for, by the ids of their nodes.

    Returns:
        the operands of ``typeof`` and ``delete``; and the members, wherever they are, whose name
        decides something in the file.
    """
    words: set[int] = set()
    tested: set[str] = set()
    members = [node for node in tree.nodes if node.type == "member_expression"]
    tests = _tests(tree)
    for node in members:
        how = tests.get(node.id)
        if how == "word":
            words.add(node.id)
        if how:
            tested.add(text_of(node.named_children[-1]))
    named = {node.id for node in members if text_of(node.named_children[-1]) in tested}
    return frozenset(words), frozenset(named)


def _tests(tree: Tree) -> dict[int, str]:
    """Return how nodes are tested: ``word`` by ``typeof`` or ``delete``, ``test`` by a condition.

    Each node follows the one around it, so that none is climbed twice.
    """
    found: dict[int, str] = {}
    for node in tree.nodes:
        outer = tree.parent(node)
        how = ""
        if outer is None:
            continue
        if outer.type == "unary_expression" and _operator(outer) in ("typeof", "delete"):
            how = "word"
        elif outer.type in _BRANCHES:
            how = "test" if child(outer, "condition") == node else ""
        elif outer.type == "binary_expression" and _operator(outer) in _EITHER:
            how = "test" if child(outer, "left") == node else found.get(outer.id, "")
        elif outer.type in _THROUGH or outer.type == "binary_expression":
            how = found.get(outer.id, "")
        if how:
            found[node.id] = how
    return found


def _operator(node: Node) -> str:
    return text_of(child(node, "operator"))


def verify(code: str, resolver: Resolver, *, typed: bool = True, inferring: bool = True) -> Verdict:
    """Check a piece of TypeScript or JavaScript, JSX included.

    Args:
        code: the code.
        resolver: where packages are found.
        typed: it is TypeScript; JavaScript may leave arguments out and pass more, and give objects
            further keys.
        inferring: what values are is inferred; else imports and the names of modules are judged.
    """
    tree = Tree(code)
    checker = _Checker(Scope(tree), Names(resolver), typed=typed, inferring=inferring)
    checker.imports()
    for node in tree.nodes:
        checker.look_at(node)
    return checker.verdict()


class _Checker:
    def __init__(self, scope: Scope, names: Names, *, typed: bool, inferring: bool) -> None:
        self._inferring = inferring
        self._scope = scope
        self._names = names
        self._typed = typed
        self._tree = scope.tree
        self._values = Expressions(scope, names, self._look_up)
        words, tested = tested_members(scope.tree)
        #: Of what TypeScript declares code cannot ask for more than there is.
        self._asked, self._asked_of_values = tested, words if typed else tested
        self._silenced = _silenced(scope.tree)
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._near_modules: dict[str, tuple[str, ...]] = {}
        self._near: dict[tuple[str, str], tuple[str, ...]] = {}

    def verdict(self) -> Verdict:
        return Verdict(sort_findings(self._findings), tuple(self._missing))

    def _note(self, node: Node, name: str, answer: Answer) -> None:
        at = node.start_point
        if answer.status in PROBLEMS and at.row in self._silenced:
            answer = Answer("not_checked", answer.symbol, package=answer.package)
        self._findings.append(answer.finding(name, at.row + 1, at.column + 1))

    def _look_up(self, name: Name) -> Answer | None:
        """Look up a name, noting packages that are not installed."""
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
            if answer.status == "not_checked" and answer.symbol is None:
                answer = self._module(name.specifier, answer)
            elif name.names == ("default",) and answer.status == "unknown":
                answer = Answer("not_checked", package=answer.package)  # bundlers make one up
            elif answer.status == "unknown" and self._is_type(node) and _is_script(answer):
                answer = Answer("not_checked", package=answer.package)  # it shows no types
            self._note(node, name.path, answer)

    def _is_type(self, node: Node) -> bool:
        """Whether an import says that it is one of a type."""
        specifier = self._tree.parent(node)
        statement = next((e for e in self._tree.above(node) if e.type == "import_statement"), None)
        words = [each for whole in (specifier, statement) if whole for each in whole.children]
        return any(each.type == "type" for each in words)

    def _module(self, specifier: str, answer: Answer) -> Answer:
        """Return what is known of a module that is not found."""
        package = answer.package
        lacking = getattr(package.surface, "lacks_module", None) if package is not None else None
        if package is None or lacking is None or not lacking(specifier):
            return answer
        modules = [each for each in package.surface.modules() if "*" not in each]
        if specifier not in self._near_modules:
            wanted = specifier.rpartition("/")[2]
            self._near_modules[specifier] = nearest(wanted, modules, shaped=False)
        near = self._near_modules[specifier]
        said = f"{package.name} {package.version} has no module {specifier}"
        message = f"{said}; did you mean {near[0]}?" if near else f"{said}."
        return Answer("unknown", message=message, suggestions=near, package=package)

    def look_at(self, node: Node) -> None:
        """Check one node, without those below it."""
        if node.type in MEMBERS and not node.has_error:
            self._chain(node)
        elif not self._inferring:
            return
        elif node.type in {"call_expression", "new_expression"} and not node.has_error:
            self._call(node)
        elif node.type == "object" and self._typed:
            self._object(node)
        elif node.type == "object_pattern":
            self._pattern(node)

    def _chain(self, node: Node) -> None:
        """Check a member of an imported name, or else of a value; of a chain of names the whole."""
        name = self._values.name(node)
        if name is None:
            if self._inferring:
                self._member(node)
            return
        outer = self._tree.parent(node)
        if outer is not None and outer.type in MEMBERS and outer.named_children[0] == node:
            return
        last = text_of(node.named_children[-1])
        if node.id in self._asked or any(each in self._scope.patched for each in name.names):
            return
        answer = self._look_up(name)
        if answer is None:
            return
        if answer.status == "unknown" and _is_inherent(name, answer):
            answer = Answer("not_checked", package=answer.package)
        is_open = answer.status == "not_checked" and node.type == "member_expression"
        if is_open and self._inferring:
            known = self._values.of(node.named_children[0])
            if known is not None and self._lacks(known, last, called=self._is_called(node)):
                self._absent(node.named_children[-1], known, last)
                return
        self._note(node.named_children[-1], name.path, answer)

    def _member(self, node: Node) -> None:
        """Check a member of a value."""
        if node.type != "member_expression" or len(node.named_children) < 2:
            return
        known = self._values.of(node.named_children[0])
        member = text_of(node.named_children[-1])
        if known is None or node.id in self._asked_of_values:
            return
        if member in self._scope.patched and not self._typed:
            return
        self._judge(node.named_children[-1], known, member, called=self._is_called(node))

    def _is_called(self, node: Node) -> bool:
        outer = self._tree.parent(node)
        return outer is not None and child(outer, "function") == node

    def _judge(self, node: Node, known: Known, member: str, *, called: bool = False) -> None:
        """Note whether a value has a member."""
        if known.value.has(member):
            name = f"{known.value.name}.{member}"
            self._note(node, name, Answer("ok", package=known.package, looked_in=known.value.name))
        elif self._lacks(known, member, called=called):
            self._absent(node, known, member)

    def _lacks(self, known: Known, member: str, *, called: bool) -> bool:
        if member in _INHERENT or member.startswith(("_", "#", "$")):
            return False
        if member in self._scope.added or not known.value.lacks(member):
            return False
        if not self._may_be_given(known, called=called):
            return True
        near = self._nearest(known, member)
        return bool(near) and name_similarity(member, near[0].rpartition(".")[2]) >= _MISSPELLED

    def _may_be_given(self, known: Known, *, called: bool) -> bool:
        """Whether others may have given a value a member that nothing declares.

        What is not at hand may add to what is global. Of JavaScript nothing says what is put into
        an object on its way here, as middleware does; and to ask it for what it has not is no
        mistake yet.
        """
        if self._typed:
            return known.value.shared and bool(self._missing)
        return known.handed or not called

    def _nearest(self, known: Known, member: str) -> tuple[str, ...]:
        owner = known.value.name or "what is given"
        key = (owner, member)
        if key not in self._near:
            named = [f"{owner}.{each}" for each in known.value.names()]
            enough = len(self._near) >= _MAX_SUGGESTED
            self._near[key] = () if enough else nearest(member, named, shaped=False)
        return self._near[key]

    def _absent(self, node: Node, known: Known, member: str, kind: str = "class") -> None:
        owner = known.value.name or "what is given"
        near = self._nearest(known, member)
        answer = Answer(
            "unknown",
            message=absent(known.package, kind, owner, member, near),
            suggestions=near,
            looked_in=owner,
            package=known.package,
        )
        self._note(node, f"{owner}.{member}", answer)

    def _pattern(self, node: Node) -> None:
        """Check what is taken out of a value by name."""
        outer = self._tree.parent(node)
        if outer is None or outer.type != "variable_declarator" or child(outer, "type"):
            return
        value = child(outer, "value")
        if value is None or self._values.name(value) is not None:
            return
        known = self._values.of(value)
        if known is None:
            return
        for each in node.named_children:
            key = each if each.type.startswith("shorthand") else child(each, "key")
            if each.type == "object_assignment_pattern":
                key = child(each, "left")
            if key is not None and key.type != "computed_property_name":
                self._judge(key, known, text_of(key).strip("'\""))

    def _call(self, node: Node) -> None:
        """Check the number of arguments."""
        called = child(node, "function") or child(node, "constructor")
        given = call_arguments(node)
        if called is None or given is None or not self._typed:
            return
        name = self._values.name(called)
        answer = self._look_up(name) if name is not None else None
        if answer is None or answer.symbol is None or not answer.whole or name is None:
            return
        symbol = answer.symbol
        if symbol.parameters is None or (symbol.kind == "class") != (node.type == "new_expression"):
            return
        spread = any(each.type == "spread_element" for each in given)
        wrong = mismatch(
            symbol.parameters, PassedArguments(len(given) - spread, open_positional=spread)
        )
        if wrong is not None:
            message = f"{name.path} {wrong.reason}: {' '.join(symbol.signature.split())[:300]}"
            said = Answer(
                "wrong_argument", symbol, whole=True, message=message, package=answer.package
            )
            self._note(called, f"{name.path}()", said)

    def _object(self, node: Node) -> None:
        """Check the keys of an object whose type is known."""
        written = object_keys(node)
        if not written:
            return
        known = self._values.expected(node)
        if known is None:
            return
        for key, place in written:
            if key not in self._scope.added and known.value.refuses(key):
                self._absent(place, known, key, "type")


def _is_inherent(name: Name, answer: Answer) -> bool:
    """Whether it is a member that functions and objects have anyway."""
    below = name.path[len(answer.looked_in) :].lstrip(".").partition(".")[0]
    return below in _INHERENT or below.startswith(("_", "$"))


def _is_script(answer: Answer) -> bool:
    """Whether a module is known by its JavaScript alone."""
    package = answer.package
    place = getattr(package.surface, "place", None) if package is not None else None
    found = place(answer.looked_in) if place is not None else None
    return found is None or found.suffix in (".js", ".mjs", ".cjs")


def _silenced(tree: Tree) -> frozenset[int]:
    """Return the lines that a comment silences."""
    comments = [each for each in tree.nodes if each.type == "comment"]
    taken = {each.start_point.row for each in comments}
    found: set[int] = set()
    for each in comments:
        said = _SILENCING.search(text_of(each))
        if said is None:
            continue
        if said[0].endswith("nocheck"):
            return frozenset(range(tree.root.end_point.row + 1))
        row = each.end_point.row + 1
        while row in taken:
            row += 1
        found.add(row)
    return frozenset(found)


def _package_of(specifier: str) -> str:
    parts = specifier.split("/")
    return "/".join(parts[: 2 if specifier.startswith("@") else 1])
