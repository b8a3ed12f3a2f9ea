"""TypeScript's own compiler, pinned, as the engine that judges members and arguments."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.languages.shared.engines import Engines, Workplace
from docstow.languages.shared.findings import (
    MOST,
    NO_TYPE,
    PROBLEMS,
    Finding,
    Status,
    Verdict,
    advice,
    nearest,
    sort_findings,
)
from docstow.languages.shared.trials import MOST_TRIED, Trials, Writer
from docstow.languages.typescript.augmentations import Augmentations
from docstow.languages.typescript.check import check
from docstow.languages.typescript.check.fitting import Use, use_of
from docstow.languages.typescript.check.scope import Scope
from docstow.languages.typescript.check.syntax import (
    Tree,
    call_at,
    called_at,
    called_text,
    child,
    function_around,
    has_spread,
    keys_beside,
    last_word,
    object_keys,
    text_of,
    with_key,
    without,
    without_key,
)
from docstow.languages.typescript.compiler_release import ENGINE
from docstow.languages.typescript.doubts import (
    MEANT,
    MISSPELLED,
    NODE,
    PROPERTY,
    PROTO,
    Doubts,
    is_member,
)
from docstow.languages.typescript.given_functions import write_out
from docstow.languages.typescript.homes import OWN, Home, Homes
from docstow.languages.typescript.unresolved import Unresolved

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.language_server import Diagnostic, LanguageServer, Offer
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
#: Without the first the compiler reads all packages once more, for names that might be imported:
#: two seconds and 200 MB.
_PREFERENCES = {
    "includeCompletionsForModuleExports": False,
    "disableAutomaticTypeAcquisition": True,
}
#: The file that code is taken for: with JSX, or where that alone gives no errors, without it.
_FILES = {
    ("typescript", False): (f"{OWN}ts", "typescript"),
    ("typescript", True): (f"{OWN}tsx", "typescriptreact"),
    ("javascript", False): (f"{OWN}js", "javascript"),
    ("javascript", True): (f"{OWN}jsx", "javascriptreact"),
}
#: Where code lies that does not tell what may be missing, as JavaScript does not.
_LOOSE = "loose/"
_NULL = re.compile(
    r"'[^'\n]*\b(?:undefined|null)\b[^'\n]*' is not assignable"
    r"|possibly '(?:null|undefined)'|type 'unknown'\."
)
_MOST_MEMBERS = 400
#: Of those that are most like a name the docs are asked for.
_MOST_DESCRIBED = 24
#: What it counts that a name fits what is done with another one.
_FITS_USE = 2.5
#: Of an object that no overload takes, keys that are tried one by one, and other names of each.
_MOST_KEYS, _MOST_RENAMED = 12, 4
_NO_EXPORT = re.compile(r"""(?:Module '"?|')(.+?)"?' has no exported member(?: named)? '([^']+)'""")
_NAMESPACE = re.compile(r"Namespace '([^']+)' has no exported member '([^']+)'")
_NO_KEY = re.compile(r"'([^']+)' does not exist in type '(.*?)'\.", re.DOTALL)
_REFUSED_KEY = re.compile(r"Type '[^\n]*' is not assignable to type 'never'\.")
_ADVICE = re.compile(r" Did you mean .*\?$")
_COUNT = re.compile(r"Expected (?:at least )?[\d-]+ arguments?, but got \d+")
_LITERAL = re.compile(r"""[Tt]ype '"([^"']*)"' is not assignable to (?:parameter of )?type '""")
_ALL_ARGUMENTS = re.compile(
    r"Argument of type '\[[^\n]*\]' is not assignable to parameter of type '"
)
_REQUIRED = re.compile(r"Property '([^']+)' is missing in type '\{.*\}' but required in type")
_NO_FUNCTION = re.compile(r"(?:No constituent of type|Type) '[^\n]+' (?:is callable|has no call)")
_UNUSED = re.compile(r"'([^']+)' is declared but its value is never read")
_UNDECLARED = re.compile(r"Cannot find name '([^']+)'")
#: Rules whose message may speak of a key or a text that is not there, among much else.
_ASSIGNMENTS = frozenset({"2322", "2345", "2769", "2353", "2561", "2820"})
#: Those of a key alone that an object has too much.
_EXCESS = frozenset({"2353", "2561"})
#: Nodes that no JavaScript has, and a comment that tells a type.
_TYPED = frozenset(
    {
        *("type_annotation", "type_arguments", "interface_declaration", "type_alias_declaration"),
        *("as_expression", "satisfies_expression", "non_null_expression", "enum_declaration"),
        *("accessibility_modifier", "import_require_clause", "internal_module", "module"),
    }
)
_TYPE_COMMENT = re.compile(r"@(?:param|type|returns?)\s+\{")
#: A type that is one class.
CLASS = re.compile(r"(?:typeof )?([\w$]+)(?:<.*>)?$")
#: Where names are taken over from others.
_TAKING = frozenset({"import_specifier", "import_clause", "shorthand_property_identifier_pattern"})
_IMPORTS = frozenset({"2305", "2614", "2724"})
#: Nodes that a name can be put in the place of, and what is written then.
_WRITTEN = {
    **dict.fromkeys(("identifier", "property_identifier", "type_identifier"), "{new}"),
    "shorthand_property_identifier": "{new}: {old}",
    "shorthand_property_identifier_pattern": "{new}: {old}",
}
_TAKEN_AS = "{new} as {old}"
#: The compiler's rules of what code means.
_MEANING = range(2000, 3000)
_PACKAGE = re.compile(r".*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)")


def judge(
    engines: Engines, code: str, resolver: Resolver, scans: Sequence[Scan], *, typed: bool
) -> Verdict:
    """Judge code by the compiler, and by what our own reader finds in it.

    Args:
        engines: have the compiler.
        code: a file or a part of one.
        resolver: where packages are found.
        scans: environments with the packages; those of the first one count before the others'.
        typed: it is TypeScript; of JavaScript whose comments tell no types less is certain.

    Raises:
        TooLarge: it takes more time or memory than it may.
        InternalError: the compiler ended.
    """
    tree = Tree(code)
    verdict = _judge_text(engines, tree, resolver, scans, typed=typed)
    written = write_out(tree) if not typed else None
    if written is None:
        return verdict
    more = _judge_text(engines, Tree(written.code), resolver, scans, typed=typed)
    return replace(verdict, findings=written.joined(verdict.findings, more.findings))


def _judge_text(
    engines: Engines, tree: Tree, resolver: Resolver, scans: Sequence[Scan], *, typed: bool
) -> Verdict:
    """Judge code as it is written."""
    tells_types = _tells_types(tree)
    is_typescript = typed and not tells_types and not _requires(tree)
    with_markup = any(each.type.startswith("jsx_") for each in tree.nodes)
    name, dialect = _FILES["typescript" if is_typescript else "javascript", with_markup]
    folders = [folder for scan in scans if (folder := _node_modules(scan)) is not None]
    with engines.at_work((ENGINE, workplace(scans, folders))) as (server,):
        body = (tree.root.text or b"").decode("utf-8", "replace")
        place = f"{_below(folders)}{'' if is_typescript else _LOOSE}{name}"

        def ask(body: bytes) -> list[Diagnostic]:
            return server.judge(place, dialect, body.decode("utf-8", "replace"))

        server.begin(place, dialect, body)
        verdict = check(tree, resolver, typed=typed)
        said = server.judged()
        if is_typescript and any(map(_is_of_null, said)):
            place = f"{_below(folders)}{_LOOSE}{name}"
            said = server.judge(place, dialect, body)
        unresolved = Unresolved(tree, said)
        ours = _Judge(server, tree, resolver, scans, ask, unresolved, typed=typed, told=tells_types)
        found = [each for one in said if ours.may_run(one) for each in ours.findings(one)]
        found += ours.confused_names(said, found)
        known = {(word.line + 1, word.start + 1) for word in server.words()}

        def faults(body: str) -> list[Diagnostic]:
            return [each for each in ask(body.encode()) if _is_of_meaning(each)]

        judged = [each for each in said if _is_of_meaning(each)]
        trials = Trials(partial(_writer, tree), faults, judged, ours.spare)
        joined = tuple(map(trials.ordered, _joined(verdict.findings, found, known, tree)))
    return replace(verdict, findings=joined)


def _is_of_null(said: Diagnostic) -> bool:
    """Return whether it is said of a value that may be missing, or be anything.

    It hides what else is wrong of a call, and of a function with several forms it makes the
    compiler take another one.
    """
    return _NULL.search(said.message) is not None


def _is_of_meaning(said: Diagnostic) -> bool:
    """Return whether it is said of what code means, not of how it is written or what is unused."""
    return said.code.isdecimal() and int(said.code) in _MEANING


def _writer(tree: Tree, finding: Finding) -> Writer | None:
    """Return what writes another name in the place of a finding's."""
    at = finding.line - 1, finding.column - 1
    node = next((n for n in tree.nodes if n.type in _WRITTEN and n.start_point == at), None)
    if node is None:
        return None
    outer, body = tree.parent(node), tree.root.text or b""
    before, after = (each.decode() for each in (body[: node.start_byte], body[node.end_byte :]))
    is_import = outer is not None and outer.type == "import_specifier"
    is_taken = outer is not None and is_import and len(outer.named_children) == 1
    form, old = _TAKEN_AS if is_taken else _WRITTEN[node.type], text_of(node)
    return lambda new: f"{before}{form.format(new=new, old=old)}{after}"


def _tells_types(tree: Tree) -> bool:
    """Return whether comments tell types, and nothing else does."""
    kinds = {each.type for each in tree.nodes}
    texts = (text_of(each) for each in tree.nodes if each.type == "comment")
    return kinds.isdisjoint(_TYPED) and any(map(_TYPE_COMMENT.search, texts))


def _requires(tree: Tree) -> bool:
    """Return whether code requires modules, of which the compiler knows in JavaScript alone."""
    kinds = {each.type for each in tree.nodes}
    calls = (text_of(each) for each in tree.nodes if each.type == "call_expression")
    return kinds.isdisjoint(_TYPED) and any(each.startswith("require(") for each in calls)


def _below(folders: Sequence[Path]) -> str:
    """Return the folder of the code: packages of the first folder lie nearest to it."""
    return "below/" * (len(folders) - 1)


def workplace(scans: Sequence[Scan], folders: Sequence[Path]) -> Workplace:
    """Return what the compiler is given: links to ``node_modules``, and a configuration of ours."""
    has_node = any((folder / "@types" / "node").is_dir() for folder in folders)
    options = {**_OPTIONS, "types": ["node"] if has_node else []}
    loose = {**options, "strictNullChecks": False}
    files: dict[str, str] = {}
    for below, told in ((_below(folders), options), (f"{_below(folders)}{_LOOSE}", loose)):
        names = [name for name, _ in _FILES.values()]
        config = {"compilerOptions": told, "files": names}
        files |= {f"{below}{name}": "export {};\n" for name in names}
        files[f"{below}tsconfig.json"] = json.dumps(config)
    links = {
        f"{_below(folders[number:])}node_modules": folder for number, folder in enumerate(folders)
    }
    packages = (f"{e.location} {e.version}" for scan in scans for e in scan.packages)
    state = "\n".join([*map(str, folders), *sorted(packages)])
    return Workplace(
        key=hashlib.sha256(state.encode()).hexdigest(),
        files=files,
        links=links,
        reads=[scan.boundary.root for scan in scans],
        arguments=("--lsp", "--stdio"),
        settings={"GOMAXPROCS": "2", "GOMEMLIMIT": "320MiB", "GOGC": "60"},
        options={"disablePushDiagnostics": True, "userPreferences": _PREFERENCES},
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
        self,
        server: LanguageServer,
        tree: Tree,
        resolver: Resolver,
        scans: Sequence[Scan],
        judge: Callable[[bytes], Sequence[Diagnostic]],
        unresolved: Unresolved,
        *,
        typed: bool,
        told: bool,
    ) -> None:
        #: Of places in the code, from 1: further names that may be meant, the likeliest first.
        self.spare: dict[tuple[int, int], Sequence[str]] = {}
        self._judge = judge
        self._server = server
        self._tree = tree
        self._typed = typed
        # Who tells types in comments means what packages declare.
        self._told = typed or told
        scope = Scope(tree)
        added = [Augmentations(scan.boundary) for scan in scans]
        self._homes = Homes(server, scope, resolver, scans)
        self._doubts = Doubts(server, scope, resolver, self._homes, unresolved, added, typed=typed)
        self._comments = [each for each in tree.nodes if each.type == "comment"]
        self._by_place = {(n.start_point.row, n.start_point.column): n for n in tree.nodes}

    def may_run(self, said: Diagnostic) -> bool:
        """Whether a diagnostic speaks of code: of JavaScript comments may tell types, too."""
        at = (said.line, said.start)
        return self._typed or not any(n.start_point <= at < n.end_point for n in self._comments)

    def findings(self, said: Diagnostic) -> Iterator[Finding]:
        """Yield the finding that a diagnostic makes; none where it speaks of something else."""
        node = self._by_place.get((said.line, said.start))
        if said.code in {"2339", MISSPELLED} and (match := PROPERTY.search(said.message)):
            yield self._member(said, node, match[1], match[2])
        elif match := _absent_export(said):
            # Namespaces of the code itself may be made of several parts.
            if OWN.rstrip(".") not in match[1]:
                yield self._export(said, match[1].strip('"'), match[2])
        elif said.code in _EXCESS and (match := _NO_KEY.search(said.message)):
            yield self._key(said, match[1], match[2])
        elif said.code == "2322" and _REFUSED_KEY.fullmatch(said.message.strip()):
            yield from self._refused_key(said, node)
        elif self._typed or self._is_of_package(node):
            yield from self._given(said, node)

    def _is_of_package(self, node: Node | None) -> bool:
        """Return whether a package declares what is called around a place."""
        call = call_at(node, self._tree)
        called = last_word(call) if call is not None else function_around(node, self._tree)
        return self._homes.of_called(called).package not in {"", NODE}

    def _given(self, said: Diagnostic, node: Node | None) -> Iterator[Finding]:
        """Yield the finding of what a function is given."""
        if _has_forms(said) and (given := _object_around(node, self._tree)) is not None:
            # What the compiler tells is of one form alone.
            keys = [*self._keys_of_overloads(said, given)]
            if keys:
                yield from keys
                return
        if said.code in _ASSIGNMENTS and (match := _NO_KEY.search(said.message)):
            yield self._key(said, match[1], match[2])
        elif _has_forms(said) and (given := _object_at(node, self._tree)) is not None:
            yield from self._keys_of_overloads(said, given)
        elif said.code in {"2554", "2555", "2575"} and _COUNT.search(said.message):
            yield self._count(said, node)
        elif said.code in _ASSIGNMENTS and (match := _LITERAL.search(said.message)):
            yield from self._text(said, match[1])
        elif not self._told:
            return
        elif said.code == "2345" and (match := _REQUIRED.search(said.message)):
            if node is not None and node.type == "object" and not has_spread(node):
                name = f"{called_text(node, self._tree)}.{match[1]}"
                yield self._finding(said, name, "wrong_argument", "", (match[1],))
        elif said.code == "2349" and _NO_FUNCTION.search(said.message):
            yield from self._called(said, node)
        elif said.code == "2559":
            yield self._finding(said, text_of(node)[:80] if node else "", "wrong_argument", "")

    def confused_names(
        self, said: Sequence[Diagnostic], found: Sequence[Finding]
    ) -> Iterator[Finding]:
        """Yield names that nothing declares, where something alike is taken over and not used.

        That is imported, or taken out of a value by its name.
        """
        taken = {
            text_of(node.named_children[-1]) if node.named_children else text_of(node)
            for node in self._tree.nodes
            if node.type in _TAKING
        }
        taken -= {each.name.rpartition(".")[2] for each in found}
        unused = (_UNUSED.match(each.message) for each in said if each.code == "6133")
        spare = [match[1] for match in unused if match and match[1] in taken]
        for each in said:
            match = _UNDECLARED.match(each.message) if each.code in {"2304", "2552"} else None
            near = nearest(match[1], spare) if match else ()
            if match and near:
                yield self._finding(each, match[1], "unknown", "", near)

    def _member(self, said: Diagnostic, node: Node | None, member: str, owner: str) -> Finding:
        home = self._homes.of_member(node)
        if not home.package and not home.is_own:
            home = self._homes.of_type(owner) or home
        title = _short(owner)
        doubt = next(self._doubts.of_member(said, node, member, owner, home), "")
        if doubt:
            return self._open(said, f"{title}.{member}", doubt)
        with self._uncalled(node):
            names = self._server.members(said.line, said.start)
            near = self._near(said, member, names, title, node)
        if not names and not self._typed:
            # A type without any members is for others to say more of, as the user of a request is.
            return self._open(said, f"{title}.{member}", NO_TYPE)
        return self._finding(said, f"{title}.{member}", "unknown", "", near, home)

    def _key(self, said: Diagnostic, key: str, owner: str) -> Finding:
        node = self._by_place.get((said.line, said.start))
        home = self._homes.of_member(function_around(node, self._tree))
        home = home if home.package else self._homes.of_target(node)
        if doubt := next(self._doubts.of_key(key, owner, home), ""):
            return self._open(said, f"{_short(owner)}.{key}", doubt)
        names = self._server.members(said.line, said.start)
        written = keys_beside(node, self._tree)
        spare = {each: offer for each, offer in names.items() if each not in written}
        near = self._near(said, key, spare, _short(owner), node)
        return self._finding(said, f"{_short(owner)}.{key}", "unknown", "", near, home)

    def _refused_key(self, said: Diagnostic, node: Node | None) -> Iterator[Finding]:
        """Yield the finding of a key that a package's type refuses by ``never``, and has not.

        Such a type takes the very keys of another one: ``{[K in Exclude<keyof Given, keyof
        Options>]: never}``.
        """
        key, around = text_of(node), _object_around(node, self._tree)
        if around is None or node is None:
            return
        names = self._server.members(said.line, said.start)
        home = self._homes.of_member(function_around(node, self._tree))
        names.pop(key, None)
        spare = {e: offer for e, offer in names.items() if e not in keys_beside(node, self._tree)}
        if spare and home.package and not next(self._doubts.of_key(key, "never", home), ""):
            called = called_text(node, self._tree)
            told = f"'{key}' does not exist in what {called or 'is given'} takes."
            said = replace(said, message=told)
            near = self._near(said, key, spare, called, node)
            yield self._finding(said, f"{called}.{key}", "unknown", "", near, home)

    def _count(self, said: Diagnostic, node: Node | None) -> Finding:
        """Return the finding of a wrong number of arguments, with what the function takes."""
        called, call = called_text(node, self._tree), call_at(node, self._tree)
        home = self._homes.of_called(last_word(call) if call is not None else None)
        if doubt := next(self._doubts.of_count(called, home), ""):
            return self._open(said, called, doubt, "()")
        inside, forms = child(call, "arguments"), []
        if inside is not None:
            at = inside.start_point
            forms = self._server.signatures(at.row, at.column + 1)
        if forms:
            takes = f"{called} takes ({', '.join(forms[0])})"
            others = f" or {len(forms) - 1} other forms" if len(forms) > 1 else ""
            said = replace(said, message=f"{said.message.rstrip('.')}; {takes}{others}.")
        return self._finding(said, called, "wrong_argument", "()", home=home)

    def _text(self, said: Diagnostic, text: str) -> Iterator[Finding]:
        """Yield the finding of a text that is none of a fixed set, which the compiler knows."""
        places = (
            node.start_point
            for node in self._tree.nodes
            if node.type == "string"
            and text_of(node)[1:-1] == text
            and node.start_point >= (said.line, said.start)
        )
        at = min(places, default=None)
        if at is None:
            return
        texts = self._server.members(at.row, at.column + 1)
        called = function_around(self._by_place[at.row, at.column], self._tree)
        home = self._homes.of_called(called)
        if not texts or text in {*texts, PROTO}:
            return
        if not next(self._doubts.of_text(text, texts, home, told=self._told), ""):
            near = nearest(text, list(texts), shaped=False, filled=True)
            yield self._finding(said, f'"{text}"', "wrong_argument", "", near, home)

    def _called(self, said: Diagnostic, node: Node | None) -> Iterator[Finding]:
        """Yield the finding of a member of a package's type that is called, and is no function."""
        home = self._homes.of_member(node)
        if node is None or node.type != "property_identifier" or not home.package or home.is_open:
            return
        name = text_of(node)
        names = self._server.members(said.line, said.start)
        names.pop(name, None)
        if not self._doubts.may_be_added(name, home.package):
            near = self._near(said, name, names, node=node)
            yield self._finding(said, name, "wrong_argument", "()", near, home)

    def _keys_of_overloads(self, said: Diagnostic, node: Node) -> Iterator[Finding]:
        """Yield the keys of an object that no overload takes: the compiler tells of one alone.

        A key is one if nothing of that name can be there, and the call is right without it, or with
        another one in its place, as one that is needed.
        """
        body, absent = self._tree.root.text or b"", []

        def takes(code: bytes) -> bool:
            faults = {(each.line, each.start, each.code) for each in self._judge(code)}
            return (said.line, said.start, said.code) not in faults

        for key, place in islice(object_keys(node, below=True), _MOST_KEYS):
            is_right = takes(without_key(body, place))
            names = self._server.members(place.start_point.row, place.start_point.column)
            if not names or key in names:
                continue
            near = nearest(key, list(names), shaped=False, filled=True, most=_MOST_RENAMED)
            if is_right or any(takes(with_key(body, place, each)) for each in near):
                absent.append((key, place, names))
        self._judge(body)
        called = called_text(node, self._tree)
        for key, place, names in absent:
            row, column = place.start_point.row, place.start_point.column
            told = f"No form of {called} takes a key '{key}'."
            at = replace(said, line=row, start=column, message=told)
            home = self._homes.of_member(function_around(node, self._tree))
            if not self._doubts.may_be_added(key, home.package):
                near = self._near(at, key, names, called, place)
                yield self._finding(at, f"{called}.{key}", "unknown", "", near, home)

    def _export(self, said: Diagnostic, module: str, name: str) -> Finding:
        home = self._homes.of_module(module)
        node = self._by_place.get((said.line, said.start))
        if doubt := next(self._doubts.of_export(node, module, name, home), ""):
            return self._open(said, f"{module}.{name}", doubt)
        names = self._server.members(said.line, said.start)
        near = self._near(said, name, names, module)
        return self._finding(said, f"{module}.{name}", "unknown", "", near, home)

    def _near(
        self,
        said: Diagnostic,
        wanted: str,
        names: Mapping[str, Offer],
        owner: str = "",
        node: Node | None = None,
    ) -> tuple[str, ...]:
        """Return the names that may be meant: what the compiler says, then what is alike.

        Args:
            said: that a name is not there.
            wanted: the name.
            names: those that are.
            owner: what should have it.
            node: the name in the code; None for an import.
        """
        meant = MEANT.search(said.message)
        plain = [each for each in islice(names, _MOST_MEMBERS) if re.fullmatch(r"[\w$]+", each)]
        use = use_of(node, self._tree) if node is not None else Use()
        is_called = use.arguments is not None
        is_read = node is not None and not is_called and use.value is None

        def fits(name: str) -> float:
            offer, is_meant = names[name], meant is not None and name == meant[1]
            if offer.is_outdated:
                return -1.0
            if is_called:
                return (1.0 if offer.is_callable else -0.5) + is_meant
            return (-0.5 if is_read and offer.is_callable else 0.0) + is_meant

        ranked = partial(nearest, wanted, plain, shaped=False, filled=True, owner=owner)
        first = ranked(most=_MOST_DESCRIBED, fits=fits)
        descriptions = self._server.described([names[each] for each in first])
        told = dict(zip(first, descriptions, strict=True))

        def fits_use(name: str) -> float:
            declaration, _ = told.get(name, ("", ""))
            return fits(name) + _FITS_USE * use.fits(declaration)

        summaries = {each: text for each, (_, text) in told.items()}
        ranked = partial(ranked, most=MOST_TRIED, summaries=summaries, fits=fits_use)
        near = ranked()
        near = tuple(dict.fromkeys((*near[:MOST], *([meant[1]] if meant else []), *near)))
        self.spare[said.line + 1, said.start + 1] = ranked(every=True)
        return near

    @contextmanager
    def _uncalled(self, node: Node | None) -> Iterator[None]:
        """Have the compiler see a member that is called as if it were read.

        Of a call that is wrong it does not tell how else it could be made.
        """
        body = self._tree.root.text or b""
        call = called_at(node, self._tree) if node is not None else None
        arguments = child(call, "arguments")
        if arguments is None:
            yield
            return
        self._server.replace(without(body, arguments).decode("utf-8", "replace"))
        yield
        self._server.replace(body.decode("utf-8", "replace"))

    def _open(self, said: Diagnostic, name: str, why: str, mark: str = "") -> Finding:
        """Return the finding of what may be right."""
        return replace(self._finding(said, name, "not_checked", mark), reason=why)

    def _finding(
        self,
        said: Diagnostic,
        name: str,
        status: Status,
        mark: str,
        near: tuple[str, ...] = (),
        home: Home | None = None,
    ) -> Finding:
        first = said.message.strip().split("\n")
        # The innermost line of a chain says what is wrong; the outermost that something is.
        told = first[0] if len(first) == 1 else first[-1].strip()
        if near:
            # What the compiler advises is but one of the names.
            told = _ADVICE.sub("", told).rstrip(".")
            told = f"{told}{advice(name.rpartition('.')[2], near)}"
        return Finding(
            line=said.line + 1,
            column=said.start + 1,
            name=f"{name}{mark}",
            status=status,
            message=told if status != "not_checked" else "",
            suggestions=near,
            package=home.package if home is not None else "",
            version=home.version if home is not None else "",
            engine=str(ENGINE.name),
        )


def _has_forms(said: Diagnostic) -> bool:
    """Whether a call is refused that may take several forms: overloads, or a union of tuples."""
    return said.code == "2769" or (
        said.code == "2345" and _ALL_ARGUMENTS.match(said.message) is not None
    )


def _object_at(node: Node | None, tree: Tree) -> Node | None:
    """Return the object that is written at a place, or as the value of the key there."""
    if node is not None and node.type == "property_identifier":
        node = child(tree.parent(node), "value")
    return node if node is not None and node.type == "object" else None


def _object_around(node: Node | None, tree: Tree) -> Node | None:
    """Return the object that is written with a key at a place."""
    pair = tree.parent(node) if node is not None and node.type == "property_identifier" else None
    outer = tree.parent(pair) if pair is not None else None
    return outer if outer is not None and outer.type == "object" else None


def _absent_export(said: Diagnostic) -> re.Match[str] | None:
    """Return the module or namespace and the name that it does not export."""
    if said.code == "2694":
        return _NAMESPACE.search(said.message)
    return _NO_EXPORT.search(said.message) if said.code in _IMPORTS else None


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
        if node.type != "property_identifier" or place in placed or not is_member(node, tree):
            continue
        status: Status = "ok" if place in known else "not_checked"
        name = text_of(node)
        joined.append(Finding(place[0], place[1], name, status, engine=ENGINE.name))
    return sort_findings(joined)


def _merged(own: Finding, said: Finding) -> tuple[str, ...]:
    """Return the suggestions of both for one name, those of our reader first."""
    owner = own.name.rpartition(".")[0]
    full = [f"{owner}.{each}" if owner else each for each in said.suggestions]
    # The code's own name for a package comes before the package's.
    spelled = {each.rpartition(".")[2]: each for each in full}
    ours = (spelled.get(each.rpartition(".")[2], each) for each in own.suggestions)
    return tuple(dict.fromkeys((*ours, *full)))[:MOST_TRIED]
