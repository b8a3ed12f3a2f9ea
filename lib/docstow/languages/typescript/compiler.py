"""TypeScript's own compiler, pinned, as the engine that judges members and arguments."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.languages.shared.engines import Engines, Workplace
from docstow.languages.shared.findings import (
    MOST,
    PROBLEMS,
    Finding,
    Status,
    Verdict,
    nearest,
    sort_findings,
)
from docstow.languages.typescript.check.syntax import Tree, child, text_of
from docstow.languages.typescript.compiler_release import ENGINE

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.language_server import Diagnostic, LanguageServer
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan

_OPTIONS = {
    **dict.fromkeys(("strict", "skipLibCheck", "noEmit", "allowJs", "checkJs"), True),
    **dict.fromkeys(("esModuleInterop", "resolveJsonModule", "experimentalDecorators"), True),
    "allowImportingTsExtensions": True,
    "noImplicitAny": False,
    "jsx": "preserve",
    "target": "esnext",
    "module": "preserve",
    "moduleResolution": "bundler",
}
#: The file that code is taken for: with JSX, or where that alone gives no errors, without it.
_FILES = {
    ("typescript", False): ("code.ts", "typescript"),
    ("typescript", True): ("code.tsx", "typescriptreact"),
    ("javascript", False): ("code.js", "javascript"),
    ("javascript", True): ("code.jsx", "javascriptreact"),
}
_MOST_MEMBERS = 400
_ANYTHING = frozenset({"unknown", "never", "{}", "object", "undefined", "null", "void"})
_PROPERTY = re.compile(r"Property '([^']+)' does not exist on type '(.*?)'\.", re.DOTALL)
_NO_EXPORT = re.compile(r"""(?:Module '"?|')(.+?)"?' has no exported member(?: named)? '([^']+)'""")
_NAMESPACE = re.compile(r"Namespace '([^']+)' has no exported member '([^']+)'")
_NO_KEY = re.compile(r"'([^']+)' does not exist in type '(.*?)'\.", re.DOTALL)
_MEANT = re.compile(r"[Dd]id you mean(?: to (?:write|use))? '([^']+)'\?")
_COUNT = re.compile(r"Expected (?:at least )?[\d-]+ arguments?, but got \d+")
_LITERAL = re.compile(
    r"""type '("[^"']*")' is not assignable to (?:parameter of )?type '([^\n]*?"[^\n]*)'\."""
)
_BRACKETS = re.compile(r"<[^<>]*>|\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]|=>")
_UNUSED = re.compile(r"'([^']+)' is declared but its value is never read")
_UNDECLARED = re.compile(r"Cannot find name '([^']+)'")
#: Rules whose message may speak of a key or a text that is not there, among much else.
_ASSIGNMENTS = frozenset({"2322", "2345", "2769", "2353", "2561", "2820"})
_IMPORTS = frozenset({"2305", "2614", "2724"})
_PACKAGE = re.compile(r".*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)")


def refine(
    engines: Engines,
    code: str,
    resolver: Resolver,
    scans: Sequence[Scan],
    verdict: Verdict,
    *,
    typed: bool,
) -> Verdict:
    """Judge code by the compiler, and by what our own reader found in it.

    Args:
        engines: have the compiler.
        code: a file or a part of one.
        resolver: where packages are found.
        scans: environments with the packages; those of the first one count before the others'.
        verdict: what our reader says of imports and the names that modules export.
        typed: it is TypeScript; of JavaScript less is certain.

    Raises:
        TooLarge: it takes more time or memory than it may.
        InternalError: the compiler ended.
    """
    tree = Tree(code)
    body = tree.root.text or b""
    text = body.decode("utf-8", "replace")
    with_markup = any(each.type.startswith("jsx_") for each in tree.nodes)
    name, dialect = _FILES["typescript" if typed else "javascript", with_markup]
    folders = [folder for scan in scans if (folder := _node_modules(scan)) is not None]
    with engines.at_work(ENGINE, _workplace(scans, folders)) as server:
        said = server.judge(f"{_below(folders)}{name}", dialect, text)
        judge = _Judge(server, tree, resolver, typed=typed)
        found = [each for one in said for each in judge.findings(one)]
        found += judge.confused_imports(said, found)
        known = {(word.line + 1, word.start + 1) for word in server.words()}
    return replace(verdict, findings=_joined(verdict.findings, found, known, tree))


def _below(folders: Sequence[Path]) -> str:
    """Return the folder of the code: packages of the first folder lie nearest to it."""
    return "below/" * (len(folders) - 1)


def _workplace(scans: Sequence[Scan], folders: Sequence[Path]) -> Workplace:
    """Return what the compiler is given: links to ``node_modules``, and a configuration of ours."""
    has_node = any((folder / "@types" / "node").is_dir() for folder in folders)
    files = {f"{_below(folders)}{name}": "export {};\n" for name, _ in _FILES.values()}
    options = {**_OPTIONS, "types": ["node"] if has_node else []}
    config = json.dumps({"compilerOptions": options, "files": list(files)})
    links = {
        f"{_below(folders[number:])}node_modules": folder for number, folder in enumerate(folders)
    }
    packages = (f"{e.location} {e.version}" for scan in scans for e in scan.packages)
    state = "\n".join([*map(str, folders), *sorted(packages)])
    return Workplace(
        key=hashlib.sha256(state.encode()).hexdigest(),
        files={**files, "tsconfig.json": config},
        links=links,
        reads=[scan.boundary.root for scan in scans],
        arguments=("--lsp", "--stdio"),
        settings={"GOMAXPROCS": "2", "GOMEMLIMIT": "448MiB", "GOGC": "60"},
        options={"disableAutomaticTypingAcquisition": True, "disablePushDiagnostics": True},
    )


def _node_modules(scan: Scan) -> Path | None:
    """Return the folder of the packages that the project's own code gets."""
    places = [e.location for e in scan.environments if e.kind == "node_modules"]
    for place in sorted(places, key=lambda each: each.count("/")):
        folder = scan.boundary.inside(scan.boundary.root / place)
        for each in (folder, folder / "node_modules"):
            if each.name == "node_modules" and each.is_dir():
                return each
    return None


class _Judge:
    """Takes, lowers or drops what the compiler says."""

    def __init__(
        self, server: LanguageServer, tree: Tree, resolver: Resolver, *, typed: bool
    ) -> None:
        self._server = server
        self._tree = tree
        self._resolver = resolver
        self._typed = typed
        self._by_place = {(n.start_point.row, n.start_point.column): n for n in tree.nodes}

    def findings(self, said: Diagnostic) -> Iterator[Finding]:
        """Yield the finding that a diagnostic makes; none where it speaks of something else."""
        node = self._by_place.get((said.line, said.start))
        if said.code in {"2339", "2551"} and (match := _PROPERTY.search(said.message)):
            yield self._member(said, node, match[1], match[2])
        elif match := _absent_export(said):
            yield self._export(said, match[1].strip('"'), match[2])
        elif not self._typed:
            return
        elif said.code in {"2554", "2555", "2575"} and _COUNT.search(said.message):
            yield self._finding(said, _called(node, self._tree), "wrong_argument", "()")
        elif said.code in _ASSIGNMENTS and (match := _NO_KEY.search(said.message)):
            yield self._key(said, match[1], match[2])
        elif said.code in _ASSIGNMENTS and (match := _LITERAL.search(said.message)):
            choices = re.findall(r'"([^"]+)"', match[2])
            near = nearest(match[1].strip('"'), choices, shaped=False)
            yield self._finding(said, match[1], "wrong_argument", "", near)
        elif said.code == "2559":
            yield self._finding(said, text_of(node)[:80] if node else "", "wrong_argument", "")

    def confused_imports(
        self, said: Sequence[Diagnostic], found: Sequence[Finding]
    ) -> Iterator[Finding]:
        """Yield names that nothing declares, where something alike is imported and not used."""
        imported = {
            text_of(node.named_children[-1])
            for node in self._tree.nodes
            if node.type in {"import_specifier", "import_clause"} and node.named_children
        }
        imported -= {each.name.rpartition(".")[2] for each in found}
        unused = (_UNUSED.match(each.message) for each in said if each.code == "6133")
        spare = [match[1] for match in unused if match and match[1] in imported]
        for each in said:
            match = _UNDECLARED.match(each.message) if each.code in {"2304", "2552"} else None
            near = nearest(match[1], spare) if match else ()
            if match and near:
                yield self._finding(each, match[1], "unknown", "", near)

    def _member(self, said: Diagnostic, node: Node | None, member: str, owner: str) -> Finding:
        package, version, is_own = self._package_of(node)
        title = _short(owner)
        is_open = owner in _ANYTHING or " | " in _without_parameters(owner)
        if is_open or (not self._typed and (is_own or not package) and said.code != "2551"):
            return self._finding(said, f"{title}.{member}", "not_checked", "")
        names = self._server.members(said.line, said.start)
        near = self._near(said, member, names)
        return self._finding(said, f"{title}.{member}", "unknown", "", near, package, version)

    def _key(self, said: Diagnostic, key: str, owner: str) -> Finding:
        node = self._by_place.get((said.line, said.start))
        names = self._server.members(said.line, said.start)
        written = _keys_beside(node, self._tree)
        near = self._near(said, key, [each for each in names if each not in written])
        package, version, _ = self._package_of(_function(node, self._tree))
        return self._finding(said, f"{_short(owner)}.{key}", "unknown", "", near, package, version)

    def _export(self, said: Diagnostic, module: str, name: str) -> Finding:
        found = self._resolver.package_for(module)
        names = self._server.members(said.line, said.start)
        near = self._near(said, name, names)
        package, version = (found.name, found.version) if found is not None else ("", "")
        return self._finding(said, f"{module}.{name}", "unknown", "", near, package, version)

    def _near(self, said: Diagnostic, wanted: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names that may be meant: what the compiler says, then what is alike."""
        meant = _MEANT.search(said.message)
        plain = [each for each in names[:_MOST_MEMBERS] if re.fullmatch(r"[\w$]+", each)]
        near = nearest(wanted, plain, shaped=False)
        return tuple(dict.fromkeys(([meant[1]] if meant else []) + list(near)))[:MOST]

    def _finding(
        self,
        said: Diagnostic,
        name: str,
        status: Status,
        mark: str,
        near: tuple[str, ...] = (),
        package: str = "",
        version: str = "",
    ) -> Finding:
        first = said.message.strip().split("\n")
        # The innermost line of a chain says what is wrong; the outermost that something is.
        told = first[0] if len(first) == 1 else first[-1].strip()
        if near and "did you mean" not in told.lower():
            told = f"{told.rstrip('.')}; did you mean {near[0]}?"
        return Finding(
            line=said.line + 1,
            column=said.start + 1,
            name=f"{name}{mark}",
            status=status,
            message=told if status != "not_checked" else "",
            suggestions=near,
            package=package,
            version=version,
            engine=str(ENGINE.name),
        )

    def _package_of(self, node: Node | None) -> tuple[str, str, bool]:
        """Return the package that declares the type of what stands before a member's name."""
        outer = self._tree.parent(node) if node is not None else None
        if node is not None and outer is not None and outer.type == "member_expression":
            node = _last(outer.named_children[0])
        if node is None:
            return "", "", False
        at = node.start_point
        for path, _ in self._server.declared(at.row, at.column):
            if match := _PACKAGE.match(str(path)):
                name = match[1].replace("\\", "/")
                plain = name.removeprefix("@types/").replace("__", "/")
                plain = f"@{plain}" if "__" in name else plain
                found = self._resolver.package_for(plain) or self._resolver.package_for(name)
                if found is not None:
                    return found.name, found.version, False
                return name, "", False
            return "", "", path.name.startswith("code.")
        return "", "", False


def _absent_export(said: Diagnostic) -> re.Match[str] | None:
    """Return the module or namespace and the name that it does not export."""
    if said.code == "2694":
        return _NAMESPACE.search(said.message)
    return _NO_EXPORT.search(said.message) if said.code in _IMPORTS else None


def _last(node: Node) -> Node:
    """Return the word that names what an expression gives: of a call that of the function."""
    while True:
        if node.type in {"call_expression", "new_expression"}:
            inner = child(node, "function") or child(node, "constructor")
        elif node.type in {"member_expression", "subscript_expression"}:
            inner = child(node, "property") or child(node, "object")
        elif node.type in {"non_null_expression", "parenthesized_expression", "await_expression"}:
            inner = node.named_children[0] if node.named_children else None
        else:
            return node
        if inner is None:
            return node
        node = inner


def _function(node: Node | None, tree: Tree) -> Node | None:
    """Return the word that names the function whose arguments a node is in."""
    for each in tree.above(node) if node is not None else ():
        if each.type in {"call_expression", "new_expression"}:
            return _last(each)
    return None


def _called(node: Node | None, tree: Tree) -> str:
    """Return the text of the function that is called around a place."""
    for each in (node, *tree.above(node)) if node is not None else ():
        if each.type in {"call_expression", "new_expression"}:
            called = child(each, "function") or child(each, "constructor")
            return text_of(called)[-80:] if called is not None else ""
    return ""


def _keys_beside(node: Node | None, tree: Tree) -> set[str]:
    """Return the keys of the object that a key is in."""
    for each in tree.above(node) if node is not None else ():
        if each.type == "object":
            keys = (child(pair, "key") for pair in each.named_children)
            return {text_of(key).strip("'\"") for key in keys if key is not None}
    return set()


def _without_parameters(owner: str) -> str:
    """Return a type without what stands in brackets: a union only where it is one itself."""
    while (shorter := _BRACKETS.sub("", owner)) != owner:
        owner = shorter
    return owner


def _short(owner: str) -> str:
    """Return a type's name without its parameters."""
    if owner.startswith('"'):
        return "string"
    plain = owner.split("<", 1)[0].strip()
    return plain if re.fullmatch(r"[\w$.]+", plain) else "what is given"


def _joined(
    own: Sequence[Finding], found: Sequence[Finding], known: set[tuple[int, int]], tree: Tree
) -> tuple[Finding, ...]:
    """Join what our reader and the compiler found.

    A name that the compiler knows is there, whatever our reader says; one that neither knows is not
    checked.
    """
    by_place = {(each.line, each.column): each for each in found}
    lines = {each.line for each in found if each.status in PROBLEMS}
    joined: list[Finding] = []
    for each in own:
        place = each.line, each.column
        if each.status == "wrong_argument" and each.line not in lines:
            each = replace(each, status="ok", message="", suggestions=())
        elif each.status == "unknown" and (said := by_place.pop(place, None)) is not None:
            each = replace(each, suggestions=_merged(each, said), engine=said.engine)
        elif each.status == "unknown" and place in known:
            each = replace(each, status="ok", message="", suggestions=())
        elif place in by_place:
            continue
        joined.append(each)
    joined += by_place.values()
    placed = {(each.line, each.column) for each in joined}
    for node in tree.nodes:
        at = node.start_point
        place = at.row + 1, at.column + 1
        if node.type != "property_identifier" or place in placed or not _is_member(node, tree):
            continue
        status: Status = "ok" if place in known else "not_checked"
        name = text_of(node)
        joined.append(Finding(place[0], place[1], name, status, engine=ENGINE.name))
    return sort_findings(joined)


def _merged(own: Finding, said: Finding) -> tuple[str, ...]:
    """Return the suggestions of both for one name, what the compiler means first."""
    owner = own.name.rpartition(".")[0]
    full = [f"{owner}.{each}" if owner else each for each in said.suggestions]
    means = _MEANT.search(said.message) is not None
    ordered = [*full[:1], *own.suggestions] if means else [*own.suggestions, *full]
    return tuple(dict.fromkeys(ordered))[:MOST]


def _is_member(node: Node, tree: Tree) -> bool:
    outer = tree.parent(node)
    return outer is not None and outer.type == "member_expression"
