"""Checks what TypeScript and JavaScript import from packages, and the exported names they use.

What values are, the language's compiler knows (:mod:`docstow.languages.typescript.compiler`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docstow.languages.shared.findings import (
    ALLOWED_FOR,
    PROBLEMS,
    Finding,
    Verdict,
    nearest,
    sort_findings,
)
from docstow.languages.shared.lookup import Answer, Names, Resolver
from docstow.languages.typescript.check.scope import MEMBERS, Name, Scope
from docstow.languages.typescript.check.syntax import Tree, child, text_of

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
#: Comments that silence the checks of types in the next line.
_SILENCING = re.compile(r"@ts-(?:ignore|expect-error|nocheck)\b")


def tested_members(tree: Tree) -> tuple[frozenset[int], frozenset[int]]:
    """Return the members that are only tested for, by the ids of their nodes.

    Returns:
        the operands of ``typeof`` and ``delete``, and the members, wherever they are, whose name
        is asked for by ``in``; and those whose name decides something in the file.
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
    asked = {
        text_of(left)[1:-1]
        for node in tree.nodes
        if node.type == "binary_expression" and _operator(node) == "in"
        if (left := child(node, "left")) is not None and left.type == "string"
    }
    by_word = {each.id for each in members if text_of(each.named_children[-1]) in asked}
    by_any = {each.id for each in members if text_of(each.named_children[-1]) in tested}
    return frozenset(words | by_word), frozenset(by_any | by_word)


def _tests(tree: Tree) -> dict[int, str]:
    """Return how nodes are tested: ``word`` by ``typeof`` or ``delete``, else ``test``.

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
        elif outer.type == "unary_expression" and _operator(outer) == "!":
            how = "test"
        elif outer.type in _BRANCHES:
            how = "test" if child(outer, "condition") == node else ""
        elif outer.type == "binary_expression" and _operator(outer) in _EITHER:
            how = "test" if child(outer, "left") == node else found.get(outer.id, "")
        elif outer.type in _THROUGH or outer.type == "binary_expression":
            # A class is none that may be missing.
            is_class = _operator(outer) == "instanceof" and child(outer, "right") == node
            how = "" if is_class else found.get(outer.id, "")
        if how:
            found[node.id] = how
    return found


def _operator(node: Node) -> str:
    return text_of(child(node, "operator"))


def verify(code: str, resolver: Resolver, *, typed: bool = True) -> Verdict:
    """Check what a piece of TypeScript or JavaScript imports, JSX included.

    Args:
        code: the code.
        resolver: where packages are found.
        typed: it is TypeScript; of JavaScript what runs has the last word, not what declares it.
    """
    return check(Tree(code), resolver, typed=typed)


def check(tree: Tree, resolver: Resolver, *, typed: bool) -> Verdict:
    """Check a file that is parsed; see :func:`verify`."""
    checker = _Checker(Scope(tree), Names(resolver), typed=typed)
    checker.imports()
    for node in tree.nodes:
        if node.type in MEMBERS and not node.has_error:
            checker.chain(node)
    return checker.verdict()


class _Checker:
    def __init__(self, scope: Scope, names: Names, *, typed: bool) -> None:
        self._scope = scope
        self._names = names
        self._typed = typed
        self._tree = scope.tree
        #: What code asks for that may not be there is no mistake.
        self._asked = tested_members(scope.tree)[1]
        self._silenced = _silenced(scope.tree)
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._near_modules: dict[str, tuple[str, ...]] = {}

    def verdict(self) -> Verdict:
        return Verdict(sort_findings(self._findings), tuple(self._missing))

    def _note(self, node: Node, name: str, answer: Answer) -> None:
        at = node.start_point
        if answer.status in PROBLEMS and at.row in self._silenced:
            answer = Answer(
                "not_checked", answer.symbol, package=answer.package, reason=ALLOWED_FOR
            )
        answer = self._names.explain(answer)
        self._findings.append(answer.finding(name, at.row + 1, at.column + 1))

    def _look_up(self, name: Name, node: Node | None = None) -> Answer | None:
        """Look up a name, noting packages that are not installed.

        Args:
            name: what it means.
            node: where it is imported.
        """
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
        answer = self._names.look_up(name.path, source)
        if answer.status == "unknown" and (
            _may_be_added(name, answer)
            or (not self._typed and _runs_with(name, answer, imported=self._is_imported(node)))
        ):
            return Answer("not_checked", answer.symbol, package=answer.package)
        return answer

    def _is_imported(self, node: Node | None) -> bool:
        """Whether a name is imported as ES modules are."""
        above = self._tree.above(node) if node is not None else ()
        return any(each.type == "import_specifier" for each in above)

    def imports(self) -> None:
        """Check every imported name."""
        for name, node in self._scope.places:
            answer = self._look_up(name, node)
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

    def chain(self, node: Node) -> None:
        """Check a member of an imported name; of a chain of names the whole."""
        name = self._scope.name(node)
        outer = self._tree.parent(node)
        if outer is not None and outer.type in MEMBERS and outer.named_children[0] == node:
            return
        if name is None or node.id in self._asked or not self._is_certain(name):
            return
        answer = self._look_up(name)
        if answer is not None:
            if answer.status == "unknown" and _is_inherent(_absent_name(name, answer)):
                answer = Answer("not_checked", package=answer.package)
            self._note(node.named_children[-1], name.path, answer)

    def _is_certain(self, name: Name) -> bool:
        """Whether a name means what is exported: nothing of it is assigned, no default made up."""
        if any(each in self._scope.patched for each in name.names):
            return False
        if name.names[:1] != ("default",):
            return True
        answer = self._look_up(Name(name.specifier, ("default",)))
        return answer is not None and answer.status == "ok" and answer.whole


def _absent_name(name: Name, answer: Answer) -> str:
    """Return the first name that is not there."""
    path = answer.package.own_path(name.path) if answer.package is not None else name.path
    return path[len(answer.looked_in) :].lstrip(".").partition(".")[0]


def _is_inherent(name: str) -> bool:
    """Whether it is a member that functions and objects have anyway."""
    return name in _INHERENT or name.startswith(("_", "$"))


def _may_be_added(name: Name, answer: Answer) -> bool:
    """Whether the project's own files may declare what a package does not."""
    package = answer.package
    may = getattr(package.surface, "may_be_added", None) if package is not None else None
    return may is not None and bool(may(_absent_name(name, answer)))


def _runs_with(name: Name, answer: Answer, *, imported: bool) -> bool:
    """Whether what runs may have a name that declarations do not tell.

    Args:
        name: what is looked for.
        answer: that nothing declares it.
        imported: as of an ES module.
    """
    package = answer.package
    surface = package.surface if package is not None else None
    runs, defines = (getattr(surface, each, None) for each in ("runs_with", "defines"))
    if package is None or runs is None or defines is None:
        return False
    absent = _absent_name(name, answer)
    if answer.looked_in.removesuffix(".default") == package.own_path(name.specifier):
        return bool(runs(absent, name.specifier if imported else ""))
    return bool(defines(answer.looked_in.rpartition(".")[2], absent, None))


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
