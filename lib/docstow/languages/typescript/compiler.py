"""TypeScript's own compiler, pinned, as the engine that judges members and arguments."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from docstow.core.errors import DocstowError
from docstow.languages.shared.engines import Engines, Workplace
from docstow.languages.shared.findings import (
    MOST,
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
from docstow.languages.typescript.check import check, tested_members
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
from docstow.languages.typescript.files import name_types, split_specifier
from docstow.languages.typescript.undeclared import SCRIPTS
from docstow.languages.typescript.unresolved import Unresolved, lacks_base
from docstow.languages.typescript.untyped_node_names import (
    PROCESS_NAMES,
    UNDOCUMENTED_NAMES,
    UNTYPED_NAMES,
)

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
#: What the name of the file begins with that is checked: no file beside it has that name.
_OWN = "docstow-code."
#: The file that code is taken for: with JSX, or where that alone gives no errors, without it.
_FILES = {
    ("typescript", False): (f"{_OWN}ts", "typescript"),
    ("typescript", True): (f"{_OWN}tsx", "typescriptreact"),
    ("javascript", False): (f"{_OWN}js", "javascript"),
    ("javascript", True): (f"{_OWN}jsx", "javascriptreact"),
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
#: Methods that call a function, of whose forms the compiler then knows one.
_CALLING = frozenset({"call", "apply", "bind"})
#: Of an object that no overload takes, keys that are tried one by one, and other names of each.
_MOST_KEYS, _MOST_RENAMED = 12, 4
_PRIMITIVES = frozenset({"string", "number", "boolean", "bigint", "symbol", "true", "false"})
_ANYTHING = frozenset({"unknown", "never", "{}", "object", "undefined", "null", "void"})
_PROPERTY = re.compile(r"Property '([^']+)' does not exist on type '(.*?)'\.", re.DOTALL)
_NO_EXPORT = re.compile(r"""(?:Module '"?|')(.+?)"?' has no exported member(?: named)? '([^']+)'""")
_NAMESPACE = re.compile(r"Namespace '([^']+)' has no exported member '([^']+)'")
_NO_KEY = re.compile(r"'([^']+)' does not exist in type '(.*?)'\.", re.DOTALL)
_MEANT = re.compile(r"[Dd]id you mean(?: to (?:write|use))? '([^']+)'\?")
_ADVICE = re.compile(r" Did you mean .*\?$")
_COUNT = re.compile(r"Expected (?:at least )?[\d-]+ arguments?, but got \d+")
_LITERAL = re.compile(r"""[Tt]ype '"([^"']*)"' is not assignable to (?:parameter of )?type '""")
_ALL_ARGUMENTS = re.compile(
    r"Argument of type '\[[^\n]*\]' is not assignable to parameter of type '"
)
_REQUIRED = re.compile(r"Property '([^']+)' is missing in type '\{.*\}' but required in type")
_NO_FUNCTION = re.compile(r"(?:No constituent of type|Type) '[^\n]+' (?:is callable|has no call)")
_DEPTH = {**dict.fromkeys("<({[", 1), **dict.fromkeys(">)}]", -1)}
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
#: What a comment takes a type from, not of a file beside the code.
_TAKEN_TYPE = re.compile(r"""import\(['"][^.]|@import\b.*['"][^.][^'"]*['"]""")
#: A type that is one class.
_CLASS = re.compile(r"(?:typeof )?([\w$]+)(?:<.*>)?$")
#: Nodes that give their left side a value, and what they do with it.
_SETTING = {"assignment_expression": "set", "augmented_assignment_expression": "both"}
#: Where names are taken over from others.
_TAKING = frozenset({"import_specifier", "import_clause", "shorthand_property_identifier_pattern"})
_IMPORTS = frozenset({"2305", "2614", "2724"})
#: Of Node's own modules and classes what runs has the last word, in JavaScript.
_NODE, _WHOLE_MODULE = "@types/node", "typeof import("
_NODE_MODULE = re.compile(r"typeof (?:import\(|(?!globalThis)[a-z]\w*$)")
#: The first version whose types tell all that later ones have in the modules of before.
_LEAST_NODE = 22
_PROCESS = "Process"
#: Packages to whose requests, contexts and sockets others add functions, which may give others in
#: their place, and Node itself.
_WITH_MIDDLEWARE = frozenset(
    {
        *("@types/node", "express", "@types/express", "@types/express-serve-static-core"),
        *("koa", "@types/koa", "fastify", "restify", "@types/restify", "@types/connect", "polka"),
        *("socket.io", "@hapi/hapi", "@types/passport", "@types/express-session", "axios"),
    }
)
#: The least length of what is taken for the beginning of a member's name.
_LEAST_PART = 5
#: Nodes that a name can be put in the place of, and what is written then.
_WRITTEN = {
    **dict.fromkeys(("identifier", "property_identifier", "type_identifier"), "{new}"),
    "shorthand_property_identifier": "{new}: {old}",
    "shorthand_property_identifier_pattern": "{new}: {old}",
}
_TAKEN_AS = "{new} as {old}"
#: The compiler's rules of what code means.
_MEANING = range(2000, 3000)
#: Names of styles that one browser alone has.
_OF_BROWSER = re.compile(r"(?i:webkit|moz|ms|o|khtml)[A-Z]")
#: The rule of a member that is not there, where one is that differs by a few letters, by two fifths
#: of them; and how many may be wrong in a name of the code's own.
_MISSPELLED, _MOST_SLIPS = "2551", 3
_PACKAGE = re.compile(r".*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)")
#: Types of what is global, whose values are of other classes, or differ between browsers.
_OPEN_GLOBALS = frozenset(
    {
        *("Object", "Function", "EventTarget", "Event", "UIEvent", "Node", "ChildNode", "any"),
        *("ParentNode", "Element", "HTMLElement", "SVGElement", "Document", "Window", "Navigator"),
        *("Performance", "CSSStyleDeclaration"),
    }
)
#: A type whose parameters are little told.
_WIDE = re.compile(r"<.*\b(?:any|unknown|string)\b.*>", re.DOTALL)
#: What a type has in brackets.
_INNER = re.compile(r"<.*>|\{.*\}", re.DOTALL)
#: What every object has, and no type tells.
_PROTO = "__proto__"
#: What every function has, as what a package exports as a whole may be one.
_OF_FUNCTIONS = frozenset({"call", "apply", "bind", "prototype", "name", "length", "toString"})
#: What texts and numbers have.
_OF_PRIMITIVES = frozenset(
    {
        *("at", "charAt", "charCodeAt", "codePointAt", "concat", "endsWith", "includes", "indexOf"),
        *("lastIndexOf", "localeCompare", "match", "matchAll", "normalize", "padEnd", "padStart"),
        *("repeat", "replace", "replaceAll", "search", "slice", "split", "startsWith", "substr"),
        *("substring", "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase", "toUpperCase"),
        *("trim", "trimEnd", "trimLeft", "trimRight", "trimStart", "valueOf", "length"),
        *("toExponential", "toFixed", "toPrecision", "toLocaleString"),
    }
)
#: What other files of a program give, which may add to anything.
_GETS = re.compile(rb"(?:from|require\(|import\(|import)\s*['\"]\.{1,2}/")
#: What gives something to other files.
_GIVES = re.compile(rb"^\s*export\b|\bexports\s*[.=\[]", re.MULTILINE)


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
        self._unresolved = unresolved
        self._server = server
        self._tree = tree
        self._resolver = resolver
        self._scans = scans
        self._added = [Augmentations(scan.boundary) for scan in scans]
        self._declared = {
            word
            for node in tree.nodes
            if node.type == "ambient_declaration"
            for word in re.findall(r"[\w$]+", text_of(node))
            if any(each.type in {"module", "internal_module"} for each in node.named_children)
        }
        self._typed = typed
        # Who tells types in comments means what packages declare.
        self._told = typed or told
        self._scope = Scope(tree)
        self._tested = tested_members(tree)
        self._comments = [each for each in tree.nodes if each.type == "comment"]
        self._by_place = {(n.start_point.row, n.start_point.column): n for n in tree.nodes}

    def may_run(self, said: Diagnostic) -> bool:
        """Whether a diagnostic speaks of code: of JavaScript comments may tell types, too."""
        at = (said.line, said.start)
        return self._typed or not any(n.start_point <= at < n.end_point for n in self._comments)

    def findings(self, said: Diagnostic) -> Iterator[Finding]:
        """Yield the finding that a diagnostic makes; none where it speaks of something else."""
        node = self._by_place.get((said.line, said.start))
        if said.code in {"2339", _MISSPELLED} and (match := _PROPERTY.search(said.message)):
            yield self._member(said, node, match[1], match[2])
        elif match := _absent_export(said):
            # Namespaces of the code itself may be made of several parts.
            if _OWN.rstrip(".") not in match[1]:
                yield self._export(said, match[1].strip('"'), match[2])
        elif said.code in _EXCESS and (match := _NO_KEY.search(said.message)):
            yield self._key(said, match[1], match[2])
        elif self._typed or self._is_of_package(node):
            yield from self._given(said, node)

    def _is_of_package(self, node: Node | None) -> bool:
        """Return whether a package declares what is called around a place."""
        call = call_at(node, self._tree)
        called = last_word(call) if call is not None else function_around(node, self._tree)
        return self._home_of_called(called).package not in {"", _NODE}

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
        elif not self._told:
            return
        elif said.code in {"2554", "2555", "2575"} and _COUNT.search(said.message):
            yield self._count(said, node)
        elif said.code in _ASSIGNMENTS and (match := _LITERAL.search(said.message)):
            yield from self._text(said, match[1])
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
        home = self._home(node)
        if not home.package and not home.is_own:
            home = self._home_of_alias(owner) or home
        title = _short(owner)
        is_open = home.is_open or owner in _ANYTHING
        is_lacking = _is_union(owner) and self._is_nowhere(node, member)
        is_open = is_open or (_is_union(owner) and not is_lacking)
        is_open = is_open or self._unresolved.has_type(owner)
        # What the code's own types are rests on its other files, which are not looked at.
        is_made = home.is_own and (" & " in owner or owner.startswith("{"))
        is_open = is_open or (is_made and self._unresolved.is_any)
        # What is imported may be the whole of a module that has it as its default.
        receiver = self._receiver(node)
        is_imported = receiver is not None and self._scope.name(receiver) is not None
        is_open = is_open or (is_imported and member == "default")
        is_one_class = "|" in owner and not _is_union(owner)
        is_open = is_open or (
            self._is_unresolved(node, said.code, is_one_class=is_one_class)
            and self._may_be_given(member, home)
            and not (home.package and self._is_shown(home) and not self._may_declare(home, member))
            and not (not self._typed and self._is_certain_global(node, owner, member))
        )
        if said.code != _MISSPELLED:
            is_open = is_open or self._may_be_another(node, owner)
        is_open = is_open or (
            not self._typed and self._may_have_more(said, node, member, owner, home)
        )
        is_tested = self._is_tested(node, home, is_imported=is_imported)
        is_tested = is_tested and not (
            self._is_compared(node) and (member.isupper() or self._is_part(said, member))
        )
        if is_open or is_tested or self._may_be_added(member, home.package):
            return self._finding(said, f"{title}.{member}", "not_checked", "")
        with self._uncalled(node):
            names = self._server.members(said.line, said.start)
            near = self._near(said, member, names, title, node)
        if not names and not self._typed:
            # A type without any members is for others to say more of, as the user of a request is.
            return self._finding(said, f"{title}.{member}", "not_checked", "")
        return self._finding(said, f"{title}.{member}", "unknown", "", near, home)

    def _may_have_more(
        self, said: Diagnostic, node: Node | None, member: str, owner: str, home: _Home
    ) -> bool:
        """Whether a value of JavaScript may have a member that its type does not tell of."""
        receiver = self._receiver(node)
        # What has a method that is called again on its result returns itself, whatever is told.
        before = child(child(receiver, "function"), "property")
        # What is required may be a function with members that no declaration tells.
        is_whole = owner.startswith(_WHOLE_MODULE) or self._is_import(receiver)
        return (
            (not _is_slip(said, member, home) and self._is_loose(said, node, member, owner, home))
            or (member in self._scope.patched and not self._is_set_in_vain(receiver, member, home))
            or member.startswith("_")
            or (home.package == _NODE and (member in _untyped(owner) or owner.startswith("{")))
            or (owner.startswith("CSS") and _OF_BROWSER.match(member) is not None)
            or "=>" in _INNER.sub("", owner)
            or self._scope.is_replaced(receiver)
            or owner.endswith("typeof globalThis")
            or text_of(before) == member
            # Elements are of more classes, and classes have more than what their bodies declare.
            or (
                not home.package
                and not self._is_only(member, "read")
                and not self._is_certain_global(node, owner, member)
            )
            or (is_whole and member in _OF_FUNCTIONS)
            or (is_whole and self._asked(home.package, "runs_with", member) is True)
            or self._is_defined(node, home.package, owner, member)
            or self._is_of_lower(home.package, owner, member)
            # A type may be a wider one than that of the value, where much is not told.
            or (
                not self._is_whole
                and _WIDE.search(owner) is not None
                and self._may_declare(home, member)
            )
        )

    def _is_loose(
        self, said: Diagnostic, node: Node | None, member: str, owner: str, home: _Home
    ) -> bool:
        """Whether a type tells too little of a value of JavaScript to call a name absent.

        Of a name that is misspelled, another one that is alike tells enough.
        """
        is_called = node is not None and called_at(node, self._tree) is not None
        is_added_to = not is_called or home.package in _WITH_MIDDLEWARE
        is_certain = not home.package and self._is_certain_global(node, owner, member)
        # One of several types lacks it, whose name does not tell that they are several.
        several = _is_union(" | ".join(each for _, each in _PROPERTY.findall(said.message)))
        return (
            home.is_own
            or (not home.package and not is_certain)
            or owner in _PRIMITIVES
            or (several and not _is_union(owner) and self._may_be_given(member, home))
            or (home.package == _NODE and _may_node_have(owner, member, home))
            or (
                not is_certain
                and self._is_handed(node, is_added_to=is_added_to)
                and not self._is_part(said, member)
                and not (is_called and home.package and self._is_shown(home))
                and self._may_be_given(member, home, is_certain=True)
            )
        )

    @cached_property
    def _is_alone(self) -> bool:
        """Whether the code takes nothing from other files, so that it shows what it adds to."""
        is_given = _GETS.search(self._tree.root.text or b"") is not None
        return not is_given and not self._unresolved.is_any

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the code is a whole program, so that it shows what adds methods to anything."""
        return self._is_alone and _GIVES.search(self._tree.root.text or b"") is None

    def _is_shown(self, home: _Home) -> bool:
        """Whether the code shows what is added to a package's values."""
        return self._is_whole if home.package in _WITH_MIDDLEWARE else self._is_alone

    def _may_be_given(self, member: str, home: _Home, *, is_certain: bool = False) -> bool:
        """Whether a value of a package may be given a member, or be another one that has it.

        Of code of JavaScript that shows what it adds it cannot where nothing that takes part has
        the word, but where the code reads it.

        Args:
            member: the name.
            home: of the value.
            is_certain: it is no other value.
        """
        if self._typed or not home.package or home.package == _NODE or not self._is_shown(home):
            return True
        how = "may_give" if is_certain else "may_mention"
        return not self._is_only(member, "read") or self._is_mentioned(member, home, how)

    def _is_set_in_vain(self, receiver: Node | None, member: str, home: _Home) -> bool:
        """Whether code gives a package's value a member that nothing reads, nor another file can.

        No other file has what a call gives, or what a function has as its own.
        """
        if not self._is_alone or not home.package or home.package == _NODE:
            return False
        is_local = receiver is not None and (
            receiver.type == "call_expression" or self._scope.is_local(receiver)
        )
        if not self._is_whole and (not is_local or home.package in _WITH_MIDDLEWARE):
            return False
        return self._is_only(member, "set") and not self._is_mentioned(member, home)

    def _is_mentioned(self, member: str, home: _Home, how: str = "may_mention") -> bool:
        """Whether a package that takes part may have a word, or give it to values."""
        specifiers = {name.specifier for name, _ in self._scope.places}
        named = {each for each in specifiers if not self._resolver.is_standard(each)}
        for each in (home.package, *sorted(named)):
            if self._asked(each, how, member) is not False:
                return True
        return False

    def _asked(self, module: str, question: str, *about: object) -> bool | None:
        """Return what a package that is installed says of itself; None where none can be asked."""
        found = self._resolver.package_for(module) if module else None
        ask = getattr(found.surface, question, None) if found is not None else None
        return bool(ask(*about)) if ask is not None else None

    def _is_only(self, member: str, use: Literal["read", "set"]) -> bool:
        """Whether code has a word as a member alone that it reads, or that it gives a value."""
        word = re.compile(rf"(?<![\w$]){re.escape(member)}(?![\w$])")
        for node in self._tree.nodes:
            if node.named_child_count or word.search(text_of(node)) is None:
                continue
            outer = self._tree.parent(node)
            above = self._tree.parent(outer) if outer is not None else None
            is_set = above is not None and above.type in _SETTING and child(above, "left") == outer
            how = _SETTING.get(above.type) if above is not None and is_set else "read"
            if node.type != "property_identifier" or how != use or not _is_member(node, self._tree):
                return False
        return True

    def _may_be_another(self, node: Node | None, owner: str) -> bool:
        """Whether a type may be another one elsewhere: in a worker, or where all names are found.

        Workers have another global object, and get other events. Of a function that takes a value
        for whatever its other arguments are, it is the least of all types if these are not found.
        """
        if owner.endswith("typeof globalThis"):
            return True
        is_least = owner.startswith("{") and self._unresolved.is_any
        return (owner == "Event" or is_least) and self._is_handed(node)

    def _key(self, said: Diagnostic, key: str, owner: str) -> Finding:
        node = self._by_place.get((said.line, said.start))
        home = self._home(function_around(node, self._tree))
        home = home if home.package else self._home_of_target(node)
        is_open = home.is_open or key == _PROTO or self._unresolved.has_type(owner)
        is_open = is_open or self._may_be_added(key, home.package)
        is_open = is_open or (home.is_own and self._unresolved.is_any)
        is_open = is_open or (
            not self._typed and not home.package and not self._is_taken_by_comment(owner)
        )
        if is_open:
            return self._finding(said, f"{_short(owner)}.{key}", "not_checked", "")
        names = self._server.members(said.line, said.start)
        written = keys_beside(node, self._tree)
        spare = {each: offer for each, offer in names.items() if each not in written}
        near = self._near(said, key, spare, _short(owner), node)
        return self._finding(said, f"{_short(owner)}.{key}", "unknown", "", near, home)

    def _home_of_target(self, node: Node | None) -> _Home:
        """Return who declares what has the member that the object around a key is given to."""
        for each in self._tree.above(node) if node is not None else ():
            left = child(each, "left") if each.type == "assignment_expression" else None
            if left is not None and left.type == "member_expression":
                return self._home(child(left, "property"))
        return _Home()

    def _is_taken_by_comment(self, owner: str) -> bool:
        """Whether a type is one that comments take from a package, not of the code's own."""
        texts = (text_of(each) for each in self._comments)
        taken = (each for each in texts if _TAKEN_TYPE.search(each))
        words = {word for each in taken for word in re.findall(r"[\w$]+", each)}
        return not words.isdisjoint(re.findall(r"[\w$]+", owner))

    def _count(self, said: Diagnostic, node: Node | None) -> Finding:
        """Return the finding of a wrong number of arguments, with what the function takes."""
        called, call = called_text(node, self._tree), call_at(node, self._tree)
        home = self._home_of_called(last_word(call) if call is not None else None)
        is_open = self._unresolved.has_type(called) or home.is_open
        # JavaScript takes any number; that of a part of a program may have its reasons.
        is_open = is_open or (not self._typed and not self._is_whole)
        if is_open or (not home.package and self._unresolved.is_any):
            return self._finding(said, called, "not_checked", "()")
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
        home = self._home_of_called(called)
        # Names of what is global are others where another program runs.
        if (
            texts
            and text not in {*texts, _PROTO}
            and "globalThis" not in texts
            and not home.is_open
        ):
            near = nearest(text, list(texts), shaped=False, filled=True)
            yield self._finding(said, f'"{text}"', "wrong_argument", "", near, home)

    def _called(self, said: Diagnostic, node: Node | None) -> Iterator[Finding]:
        """Yield the finding of a member of a package's type that is called, and is no function."""
        home = self._home(node)
        if node is None or node.type != "property_identifier" or not home.package or home.is_open:
            return
        name = text_of(node)
        names = self._server.members(said.line, said.start)
        names.pop(name, None)
        if not self._may_be_added(name, home.package):
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
            home = self._home(function_around(node, self._tree))
            if not self._may_be_added(key, home.package):
                near = self._near(at, key, names, called, place)
                yield self._finding(at, f"{called}.{key}", "unknown", "", near, home)

    def _is_nowhere(self, node: Node | None, member: str) -> bool:
        """Whether no file that declares one of several types has a word, nor texts have it."""
        word = self._owner_word(node)
        if word is None or member in _OF_PRIMITIVES:
            return False
        places = self._server.declared(word.start_point.row, word.start_point.column)
        mention = re.compile(rf"\b{re.escape(member)}\b")
        texts = [self._text_at(path) for path, _ in places]
        if not texts or not all(text and mention.search(text) is None for text in texts):
            return False
        # In JavaScript a value may be the one of several types that has it, from a base.
        homes = [home for path, _ in places if (home := self._home_at_path(path)).package]
        return self._typed or not any(self._may_declare(each, member) for each in homes)

    def _may_declare(self, home: _Home, name: str) -> bool:
        """Whether a package may declare a member of that name, of whatever type."""
        return self._asked(home.package, "may_declare", name) is not False

    def _is_part(self, said: Diagnostic, member: str) -> bool:
        """Whether a name is the beginning of a member's: ``status`` of ``statusCode``."""
        return len(member) >= _LEAST_PART and any(
            each.startswith(member) for each in self._server.members(said.line, said.start)
        )

    def _export(self, said: Diagnostic, module: str, name: str) -> Finding:
        found = self._resolver.package_for(module)
        home = _Home(found.name, found.version) if found is not None else _Home()
        is_open = not self._typed and (
            (self._is_required(said) or _may_node_have(f"{_WHOLE_MODULE}{module})", name, home))
            if self._resolver.is_standard(module)
            else self._asked(module, "runs_with", name, "" if self._is_required(said) else module)
        )
        if is_open or self._may_be_added(name, module):
            return self._finding(said, f"{module}.{name}", "not_checked", "")
        names = self._server.members(said.line, said.start)
        near = self._near(said, name, names, module)
        return self._finding(said, f"{module}.{name}", "unknown", "", near, home)

    def _is_required(self, said: Diagnostic) -> bool:
        """Whether a name is taken out of what is required, whose value may be missing."""
        node = self._by_place.get((said.line, said.start))
        return node is not None and node.type.endswith("_pattern")

    def _is_import(self, node: Node | None) -> bool:
        """Whether an expression is what a package exports as a whole."""
        name = self._scope.name(node) if node is not None else None
        return name is not None and not name.names

    def _is_defined(self, node: Node | None, module: str, owner: str, member: str) -> bool:
        """Return whether what runs of a package has a class with a member."""
        name, word = _CLASS.match(owner), self._owner_word(node)
        if module in {"", _NODE} or name is None or word is None:
            return False
        places = self._server.declared(word.start_point.row, word.start_point.column)
        declared = places[0][0] if places else None
        return self._asked(module, "defines", name[1], member, declared) is True

    def _is_certain_global(self, node: Node | None, owner: str, member: str) -> bool:
        """Whether the language's or the browser's own type tells all of a whole program's value.

        It does not where values are of lower classes, which are given members as they run.
        """
        name, word = _CLASS.match(owner), self._owner_word(node)
        if name is None or word is None or member in self._scope.patched or not self._is_whole:
            return False
        if name[1] in _OPEN_GLOBALS or name[1].endswith("Error"):
            return False
        if name[1].endswith("Element") and not self._is_only(member, "read"):
            return False
        places = self._server.declared(word.start_point.row, word.start_point.column)
        return bool(places) and places[0][0].name.startswith("lib.")

    def _is_of_lower(self, module: str, owner: str, member: str) -> bool:
        """Return whether a class that extends another one has a member: JavaScript has no casts."""
        name = _CLASS.match(owner)
        return name is not None and self._asked(module, "defines_below", name[1], member) is True

    def _is_handed(self, node: Node | None, *, is_added_to: bool = True) -> bool:
        """Whether it is a member of what a function gets, to which others may have given more.

        Of JavaScript nothing says what is put into an object on its way, as middleware does.

        Args:
            node: the member.
            is_added_to: others add members like it to what callbacks get of its package.
        """
        outer = self._tree.parent(node) if node is not None else None
        while outer is not None and outer.type.endswith("_pattern"):
            outer = self._tree.parent(outer)
        if outer is None or outer.type in {"formal_parameters", "arrow_function"}:
            return outer is not None
        value = child(outer, "value") or child(outer, "object")
        return self._scope.is_handed(value, is_added_to=is_added_to)

    def _receiver(self, node: Node | None) -> Node | None:
        """Return what stands before a member's name."""
        return child(self._tree.parent(node), "object") if node is not None else None

    def _is_unresolved(self, node: Node | None, code: str, *, is_one_class: bool) -> bool:
        """Return whether what a value is rests on something that is not found.

        Of several forms of a function the compiler takes the first one then.

        Args:
            node: a member of the value.
            code: of what is said of it.
            is_one_class: the value may be of several forms of one generic class.
        """
        value = self._receiver(node)
        if value is None:
            return False
        if self._unresolved.decides(value):
            return True
        call = self._unresolved.call_of(value)
        given = child(call, "arguments")
        if call is None or given is None:
            return False
        at = given.start_point
        if self._unresolved.has_any(given):
            return len(self._server.signatures(at.row, at.column + 1)) > 1
        # Of JavaScript nothing says what a function gets, nor then what it gets of others for that.
        return (
            not self._typed
            and code != _MISSPELLED
            and not is_one_class
            and any(map(self._scope.is_handed, given.named_children))
            and (
                len(self._server.signatures(at.row, at.column + 1)) > 1
                or self._is_generic(last_word(call))
            )
        )

    def _is_generic(self, word: Node) -> bool:
        """Return whether a function has parameters of types, or is called by another one."""
        if text_of(word) in _CALLING:
            return True
        at = word.start_point
        for path, line in self._server.declared(at.row, at.column):
            below = self._text_at(path).split("\n")[line : line + 1]
            return any(f"{text_of(word)}<" in each for each in below)
        return False

    def _is_tested(self, node: Node | None, home: _Home, *, is_imported: bool) -> bool:
        """Whether code asks for it that may not be there.

        That is so by ``typeof``, and in JavaScript by any condition, but of values of packages: of
        what it imports code asks whether it is one of a version that has it.
        """
        outer = self._tree.parent(node) if node is not None else None
        if outer is None:
            return False
        by_word, by_any = self._tested
        is_told = self._typed or (home.package not in {"", _NODE} and not is_imported)
        return outer.id in (by_word if is_told else by_any)

    def _is_compared(self, node: Node | None) -> bool:
        """Whether a member is compared with a number, a text or a member, as one that is there."""
        outer = self._tree.parent(node) if node is not None else None
        above = self._tree.parent(outer) if outer is not None else None
        if above is None or above.type != "binary_expression":
            return False
        others = (each for each in above.named_children if each != outer)
        return any(each.type in {"number", "string", "member_expression"} for each in others)

    def _may_be_added(self, name: str, module: str) -> bool:
        """Whether files that the compiler does not see may add a name to a package's.

        Those are the project's own, what the code itself declares of modules, of which their own
        files know nothing, and other installed packages that another file may import.
        """
        if name in self._declared or any(each.mention(name) for each in self._added):
            return True
        return module != _NODE and self._asked(module, "may_be_given", name) is True

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
        meant = _MEANT.search(said.message)
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

    def _finding(
        self,
        said: Diagnostic,
        name: str,
        status: Status,
        mark: str,
        near: tuple[str, ...] = (),
        home: _Home | None = None,
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

    def _home(self, node: Node | None) -> _Home:
        """Return who declares the type of what stands before a member's name."""
        node = self._owner_word(node)
        home = self._home_at(node)
        if node is None or home.package or home.is_own:
            return home
        # A name that is taken out of a value, and a variable that gets its values later, have none.
        givers = (last_word(each) for each in self._scope.values(node))
        homes = [self._home_of_called(each) for each in givers if each.id != node.id]
        if not homes:
            return self._home_of_called(node)
        return homes[0] if homes and all(each.package for each in homes) else home

    def _home_of_alias(self, owner: str) -> _Home | None:
        """Return the package that exports a type as a name for others, which stands nowhere."""
        name = _CLASS.match(owner)
        specifiers = {each.specifier: None for each, _ in self._scope.places} if name else ()
        for specifier in specifiers:
            found = self._resolver.package_for(specifier)
            symbol = found.surface.symbol(f"{specifier}.{name[1]}") if found and name else None
            if found is not None and symbol is not None and symbol.kind == "type":
                return _Home(found.name, found.version)
        return None

    def _home_of_called(self, word: Node | None) -> _Home:
        """Return who declares a function, or what has it, or what it is imported from."""
        home = self._home_at(word)
        home = home if home.package else self._home_at(self._owner_word(word))
        if home.package:
            return home
        imported = self._scope.name(word) if word is not None else None
        found = self._resolver.package_for(imported.specifier) if imported is not None else None
        return _Home(found.name, found.version) if found is not None else home

    def _owner_word(self, node: Node | None) -> Node | None:
        """Return the word that names what stands before a member's name; others as they are."""
        outer = self._tree.parent(node) if node is not None else None
        if outer is not None and outer.type == "member_expression":
            return last_word(outer.named_children[0])
        return node

    def _home_at(self, node: Node | None) -> _Home:
        """Return who declares the type of a word."""
        if node is None:
            return _Home()
        at = node.start_point
        for path, line in self._server.declared(at.row, at.column):
            home = self._home_at_path(path)
            if home.package:
                # What is read of JavaScript tells too little.
                is_lacking = path.suffix in SCRIPTS or lacks_base(
                    self._text_at(path), line, self._is_found
                )
                return replace(home, is_open=home.is_open or is_lacking)
            return home
        return _Home()

    def _home_at_path(self, path: Path) -> _Home:
        """Return who has a file."""
        if match := _PACKAGE.match(str(path)):
            return self._home_of(match[1].replace("\\", "/"), Path(match[0]))
        return _Home(is_own=path.name.startswith(_OWN))

    def _home_of(self, name: str, folder: Path) -> _Home:
        plain = name.removeprefix("@types/").replace("__", "/")
        plain = f"@{plain}" if "__" in name else plain
        found = self._resolver.package_for(plain) or self._resolver.package_for(name)
        version = self._version_at(folder)
        if found is None:
            return _Home(name, version)
        if found.name != name:
            return _Home(found.name, found.version)
        # Packages of a project go on seeing what it has installed.
        is_replaced = len(self._scans) > 1 and bool(self._scans[0].named(name))
        return _Home(name, version, is_open=is_replaced and version != found.version)

    def _is_found(self, specifier: str) -> bool:
        """Return whether a specifier leads to a package, or to Node's modules and their types."""
        if self._resolver.is_standard(specifier):
            return self._resolver.package_for("node:fs") is not None
        # There may be a package of its types alone.
        wanted = (specifier, name_types(split_specifier(specifier)[0]))
        return any(self._resolver.package_for(each) is not None for each in wanted)

    def _version_at(self, folder: Path) -> str:
        """Return the version of the package in a folder: a project may have several."""
        try:
            manifest = json.loads(self._text_at(folder / "package.json") or "{}")
        except (ValueError, RecursionError):
            return ""
        version = manifest.get("version") if isinstance(manifest, dict) else None
        return version if isinstance(version, str) else ""

    def _text_at(self, path: Path) -> str:
        """Return a file of a package; empty where it cannot be read."""
        for scan in self._scans:
            with suppress(DocstowError):
                return scan.boundary.read(path).decode("utf-8", "replace")
        return ""


@dataclass(frozen=True, slots=True)
class _Home:
    """What declares a type: a package, or the code itself.

    Attributes:
        package: its name; empty for none.
        version: of the package.
        is_own: it is the code.
        is_open: the type may have more: another version is meant, or a base is not there.
    """

    package: str = ""
    version: str = ""
    is_own: bool = False
    is_open: bool = False


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


def _may_node_have(owner: str, member: str, home: _Home) -> bool:
    """Whether a module or class of Node's has a member in some version, or is given it.

    Of its modules the types of today tell what there is; its classes are often added to.
    """
    if not owner.startswith("typeof "):
        return owner == _PROCESS and member in PROCESS_NAMES
    major = home.version.partition(".")[0]
    is_of_today = major.isdecimal() and int(major) >= _LEAST_NODE
    return _NODE_MODULE.match(owner) is None or not is_of_today or member in UNTYPED_NAMES


def _untyped(owner: str) -> frozenset[str]:
    """Return what a module or class of Node's may have beyond its types."""
    return UNTYPED_NAMES if owner.startswith("typeof ") else UNDOCUMENTED_NAMES


def _is_slip(said: Diagnostic, member: str, home: _Home) -> bool:
    """Whether a member that is there differs by a few letters.

    Of the code's own classes the compiler's few are too many: other files give them members, too.
    """
    meant = _MEANT.search(said.message)
    if said.code != _MISSPELLED or not home.is_own or meant is None:
        return said.code == _MISSPELLED
    from rapidfuzz.distance import Levenshtein

    if member.lower().endswith(meant[1].lower()):
        return False
    return Levenshtein.distance(member, meant[1]) <= _MOST_SLIPS


def _is_union(owner: str) -> bool:
    """Whether a type is one of several, which may have different members.

    The forms of one generic type have the same. A long type is told with its middle left out.
    """
    parts, depth, before = [""], 0, ""
    for each in owner:
        depth += _DEPTH.get(each, 0) if (before, each) != ("=", ">") else 0
        if each == "|" and depth <= 0:
            parts.append("")
        elif depth <= 0:
            parts[-1] += each
        before = each
    return len({each.strip(" >") for each in parts}) > 1


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
    """Return the suggestions of both for one name, those of our reader first."""
    owner = own.name.rpartition(".")[0]
    full = [f"{owner}.{each}" if owner else each for each in said.suggestions]
    # The code's own name for a package comes before the package's.
    spelled = {each.rpartition(".")[2]: each for each in full}
    ours = (spelled.get(each.rpartition(".")[2], each) for each in own.suggestions)
    return tuple(dict.fromkeys((*ours, *full)))[:MOST_TRIED]


def _is_member(node: Node, tree: Tree) -> bool:
    outer = tree.parent(node)
    return outer is not None and outer.type == "member_expression"
