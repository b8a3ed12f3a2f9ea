"""What speaks for a name that a type does not tell of, so that it is not called absent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from docstow.languages.shared.findings import NO_TYPE, OPEN
from docstow.languages.typescript.check import tested_members
from docstow.languages.typescript.check.syntax import (
    Tree,
    called_at,
    child,
    last_word,
    text_of,
)
from docstow.languages.typescript.files import split_specifier
from docstow.languages.typescript.homes import CLASS, Home, Homes
from docstow.languages.typescript.unresolved import Unresolved
from docstow.languages.typescript.untyped_node_names import (
    PROCESS_NAMES,
    UNDOCUMENTED_NAMES,
    UNTYPED_NAMES,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from tree_sitter import Node

    from docstow.languages.shared.language_server import Diagnostic, LanguageServer
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.typescript.augmentations import Augmentations
    from docstow.languages.typescript.check.scope import Scope


#: Why a name may be there, as it is told.
OTHER_VERSION = "another version of its package is meant, or a base of its type is not there"
SEVERAL = "its value may be one of several types"
NOT_FOUND = "its type rests on a name that is not found"
WHOLE_MODULE = "what is imported may be a whole module"
ELSEWHERE = "where the code runs may have it"
SET = "the code gives values a member of this name"
PRIVATE = "names that begin so are not declared"
REPLACED = "the code puts something else in the place of its value"
LOWER = "a class below the declared one has it"
WIDER = "its value may be of a narrower type"
OWN_CLASS = "other files may add to the code's own class"
HANDED = "its value is handed to the code, and may have been given more on its way"
COMMENTED = "comments alone tell its type, and its value comes from elsewhere"
ASKED_FOR = "the code asks whether it is there"
ADDED = "other files or packages may add it"

_PRIMITIVES = frozenset({"string", "number", "boolean", "bigint", "symbol", "true", "false"})
_ANYTHING = frozenset({"unknown", "never", "{}", "object", "undefined", "null", "void"})
#: Methods that call a function, of whose forms the compiler then knows one.
_CALLING = frozenset({"call", "apply", "bind"})
PROPERTY = re.compile(r"Property '([^']+)' does not exist on type '(.*?)'\.", re.DOTALL)
MEANT = re.compile(r"[Dd]id you mean(?: to (?:write|use))? '([^']+)'\?")
_DEPTH = {**dict.fromkeys("<({[", 1), **dict.fromkeys(">)}]", -1)}
#: Nodes that give their left side a value, and what they do with it.
_SETTING = {"assignment_expression": "set", "augmented_assignment_expression": "both"}
#: What a comment takes a type from, not of a file beside the code.
_TAKEN_TYPE = re.compile(r"""import\(['"][^.]|@import\b.*['"][^.][^'"]*['"]""")
#: Of Node's own modules and classes what runs has the last word, in JavaScript.
NODE, _WHOLE_MODULE = "@types/node", "typeof import("
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
#: Names of styles that one browser alone has.
_OF_BROWSER = re.compile(r"(?i:webkit|moz|ms|o|khtml)[A-Z]")
#: The rule of a member that is not there, where one is that differs by a few letters, by two fifths
#: of them; and how many may be wrong in a name of the code's own.
MISSPELLED, _MOST_SLIPS = "2551", 3
#: Types of what is global, whose values are of other classes, or differ between browsers.
_OPEN_GLOBALS = frozenset(
    {
        *("Object", "Function", "EventTarget", "Event", "UIEvent", "Node", "ChildNode", "any"),
        *("ParentNode", "Element", "HTMLElement", "SVGElement", "Document", "Window", "Navigator"),
        *("Performance", "CSSStyleDeclaration"),
    }
)
#: A package that a comment takes a type from.
_COMMENTED = re.compile(r"""import\(['"]([^.'"][^'"]*)['"]\)""")
#: A type whose parameters are little told.
_WIDE = re.compile(r"<.*\b(?:any|unknown|string)\b.*>", re.DOTALL)
#: What a type has in brackets.
_INNER = re.compile(r"<.*>|\{.*\}", re.DOTALL)
#: What every object has, and no type tells.
PROTO = "__proto__"
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


class Doubts:
    """Tells why a name may be there though the compiler says that it is not.

    Args:
        server: the compiler, which has the code open.
        scope: of the code.
        resolver: where packages are found.
        homes: find what declares types.
        unresolved: what rests on names that are not found.
        added: what the project's own files add to packages.
        typed: it is TypeScript.
    """

    def __init__(
        self,
        server: LanguageServer,
        scope: Scope,
        resolver: Resolver,
        homes: Homes,
        unresolved: Unresolved,
        added: Sequence[Augmentations],
        *,
        typed: bool,
    ) -> None:
        self._server = server
        self._scope = scope
        self._tree: Tree = scope.tree
        self._resolver = resolver
        self._homes = homes
        self._unresolved = unresolved
        self._added = added
        self._typed = typed
        self._tested = tested_members(self._tree)
        self._declared = {
            word
            for node in self._tree.nodes
            if node.type == "ambient_declaration"
            for word in re.findall(r"[\w$]+", text_of(node))
            if any(each.type in {"module", "internal_module"} for each in node.named_children)
        }

    def of_member(
        self, said: Diagnostic, node: Node | None, member: str, owner: str, home: Home
    ) -> Iterator[str]:
        """Yield why a member may be there.

        Args:
            said: that it is not.
            node: its word.
            member: its name.
            owner: the type that has none of that name, as the compiler writes it.
            home: what declares that type.
        """
        receiver = self._receiver(node)
        # What is imported may be the whole of a module that has it as its default.
        is_imported = receiver is not None and self._scope.name(receiver) is not None
        is_one_class = "|" in owner and not is_union(owner)
        # What the code's own types are rests on its other files, which are not looked at.
        is_made = home.is_own and (" & " in owner or owner.startswith("{"))
        if home.is_open:
            yield OTHER_VERSION
        if owner in _ANYTHING:
            yield NO_TYPE
        if is_union(owner) and not self._is_nowhere(node, member):
            yield SEVERAL
        if self._unresolved.has_type(owner) or (is_made and self._unresolved.is_any):
            yield NOT_FOUND
        if is_imported and member == "default":
            yield WHOLE_MODULE
        if (
            self._is_unresolved(node, said.code, is_one_class=is_one_class)
            and self._may_be_given(member, home)
            and not (home.package and self._is_shown(home) and not self._may_declare(home, member))
            and not (not self._typed and self._is_certain_global(node, owner, member))
        ):
            yield NOT_FOUND
        if said.code != MISSPELLED and self._may_be_another(node, owner):
            yield ELSEWHERE
        if not self._typed:
            yield from self._of_value(said, node, member, owner, home)
        if self._is_tested(node, home, is_imported=is_imported) and not (
            self._is_compared(node) and (member.isupper() or self._is_part(said, member))
        ):
            yield ASKED_FOR
        if self.may_be_added(member, home.package):
            yield ADDED

    def of_key(self, key: str, owner: str, home: Home) -> Iterator[str]:
        """Yield why a key may be right that the type of an object has not, as for a member."""
        if home.is_open:
            yield OTHER_VERSION
        if key == PROTO:
            yield OPEN
        if self._unresolved.has_type(owner) or (home.is_own and self._unresolved.is_any):
            yield NOT_FOUND
        if self.may_be_added(key, home.package):
            yield ADDED
        if not self._typed and not home.package and not self._is_taken_by_comment(owner):
            yield NO_TYPE

    def of_text(self, text: str, texts: Container[str], home: Home, *, told: bool) -> Iterator[str]:
        """Yield why a text may be right that is none of a fixed set.

        Args:
            text: it.
            texts: those of the set.
            home: what declares the set.
            told: the code tells types.
        """
        if home.is_open:
            yield OTHER_VERSION
        # Names of what is global are others where another program runs.
        if "globalThis" in texts:
            yield ELSEWHERE
        if self.may_be_added(text, home.package):
            yield ADDED
        if not told and self._homes.ask(home.package, "may_quote", text) is not False:
            yield OPEN

    def of_count(self, called: str, home: Home) -> Iterator[str]:
        """Yield why a number of arguments may be right that a function does not take."""
        if home.is_open:
            yield OTHER_VERSION
        if self._unresolved.has_type(called) or (not home.package and self._unresolved.is_any):
            yield NOT_FOUND
        # JavaScript takes any number; that of a part of a program may have its reasons.
        if not self._typed and not (self._is_shown(home) if home.package else self._is_whole):
            yield OPEN

    def of_export(self, node: Node | None, module: str, name: str, home: Home) -> Iterator[str]:
        """Yield why a module may export a name that it does not declare.

        Args:
            node: the word.
            module: a specifier.
            name: of what is imported.
            home: the package of the module.
        """
        # It is taken out of what is required, whose value may be missing.
        is_required = node is not None and node.type.endswith("_pattern")
        if not self._typed and self._resolver.is_standard(module):
            if is_required or _may_node_have(f"{_WHOLE_MODULE}{module})", name, home):
                yield OPEN
        elif not self._typed:
            imported = "" if is_required else module
            if self._homes.ask(module, "runs_with", name, imported) is True:
                yield OPEN
        if self.may_be_added(name, module):
            yield ADDED

    def _of_value(
        self, said: Diagnostic, node: Node | None, member: str, owner: str, home: Home
    ) -> Iterator[str]:
        """Yield why a value of JavaScript may have a member that its type does not tell of."""
        receiver = self._receiver(node)
        if not _is_slip(said, member, home):
            yield from self._of_type(said, node, member, owner, home)
        # Elements are of more classes, and classes have more than what their bodies declare.
        if (member in self._scope.patched and not self._is_set_in_vain(receiver, member, home)) or (
            not home.package
            and not self._is_only(member, "read")
            and not self._is_certain_global(node, owner, member)
        ):
            yield SET
        if member.startswith("_"):
            yield PRIVATE
        if self._may_run_with(node, member, owner, home):
            yield OPEN
        is_of_style = owner.startswith("CSS") and _OF_BROWSER.match(member) is not None
        if is_of_style or owner.endswith("typeof globalThis"):
            yield ELSEWHERE
        if self._scope.is_replaced(receiver):
            yield REPLACED
        if not self._scope.is_new(receiver) and self._is_of_lower(home.package, owner, member):
            yield LOWER
        # A type may be a wider one than that of the value, where much is not told.
        if (
            not self._is_whole
            and _WIDE.search(owner) is not None
            and not self._scope.is_made(receiver)
            and self._may_declare(home, member)
        ):
            yield WIDER

    def _may_run_with(self, node: Node | None, member: str, owner: str, home: Home) -> bool:
        """Whether what runs may have a member that no declaration tells of."""
        receiver = self._receiver(node)
        # What has a method that is called again on its result returns itself, whatever is told.
        before = child(child(receiver, "function"), "property")
        # What is required may be a function with members that no declaration tells.
        is_whole = owner.startswith(_WHOLE_MODULE) or self._is_import(receiver)
        return (
            text_of(before) == member
            or "=>" in _INNER.sub("", owner)
            or (home.package == NODE and (member in _untyped(owner) or owner.startswith("{")))
            # Another file may be what fills it where it lacks something.
            or (home.package == NODE and owner.endswith("Constructor") and not self._is_alone)
            or (is_whole and member in _OF_FUNCTIONS)
            or (is_whole and self._homes.ask(home.package, "runs_with", member) is True)
            or self._is_defined(node, home.package, owner, member)
        )

    def _of_type(
        self, said: Diagnostic, node: Node | None, member: str, owner: str, home: Home
    ) -> Iterator[str]:
        """Yield why a type tells too little of a value of JavaScript to call a name absent.

        Of a name that is misspelled, another one that is alike tells enough.
        """
        is_called = node is not None and called_at(node, self._tree) is not None
        is_added_to = not is_called or home.package in _WITH_MIDDLEWARE
        is_certain = not home.package and self._is_certain_global(node, owner, member)
        # One of several types lacks it, whose name does not tell that they are several.
        several = is_union(" | ".join(each for _, each in PROPERTY.findall(said.message)))
        # Of an object without a name the code shows what it is made of.
        is_seen = owner.startswith("{") and self._is_whole and self._is_only(member, "read")
        if home.is_own and not is_seen:
            yield OWN_CLASS
        if not self._is_alone and home.package.removeprefix("@types/") in self._commented:
            yield COMMENTED
        if (not home.package and not home.is_own and not is_certain) or owner in _PRIMITIVES:
            yield NO_TYPE
        if several and not is_union(owner) and self._may_be_given(member, home):
            yield SEVERAL
        if home.package == NODE and _may_node_have(owner, member, home):
            yield OPEN
        if (
            not is_certain
            and self._is_handed(node, is_added_to=is_added_to)
            and not self._is_part(said, member)
            and not (is_called and home.package and self._is_shown(home))
            and self._may_be_given(member, home, is_certain=True)
        ):
            yield HANDED

    @cached_property
    def _commented(self) -> frozenset[str]:
        """The packages that comments take types from, and the code nothing."""
        texts = (text_of(each) for each in self._tree.nodes if each.type == "comment")
        named = {name for text in texts for name in _COMMENTED.findall(text)}
        used = {split_specifier(name.specifier)[0] for name, _ in self._scope.places}
        return frozenset({split_specifier(each)[0] for each in named} - used)

    @cached_property
    def _is_alone(self) -> bool:
        """Whether the code takes nothing from other files, so that it shows what it adds to."""
        is_given = _GETS.search(self._tree.root.text or b"") is not None
        return not is_given and not self._unresolved.is_any

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the code is a whole program, so that it shows what adds methods to anything."""
        return self._is_alone and _GIVES.search(self._tree.root.text or b"") is None

    def _is_shown(self, home: Home) -> bool:
        """Whether the code shows what is added to a package's values."""
        return self._is_whole if home.package in _WITH_MIDDLEWARE else self._is_alone

    def _may_be_given(self, member: str, home: Home, *, is_certain: bool = False) -> bool:
        """Whether a value of a package may be given a member, or be another one that has it.

        Of code of JavaScript that shows what it adds it cannot where nothing that takes part has
        the word, but where the code reads it.

        Args:
            member: the name.
            home: of the value.
            is_certain: it is no other value.
        """
        if self._typed or not home.package or home.package == NODE or not self._is_shown(home):
            return True
        how = "may_give" if is_certain else "may_mention"
        return not self._is_only(member, "read") or self._is_mentioned(member, home, how)

    def _is_set_in_vain(self, receiver: Node | None, member: str, home: Home) -> bool:
        """Whether code gives a package's value a member that nothing reads, nor another file can.

        No other file has what a call gives, or what a function has as its own.
        """
        if not self._is_alone or not home.package or home.package == NODE:
            return False
        is_local = receiver is not None and (
            receiver.type == "call_expression" or self._scope.is_local(receiver)
        )
        if not self._is_whole and (not is_local or home.package in _WITH_MIDDLEWARE):
            return False
        return self._is_only(member, "set") and not self._is_mentioned(member, home)

    def _is_mentioned(self, member: str, home: Home, how: str = "may_mention") -> bool:
        """Whether a package that takes part may have a word, or give it to values."""
        specifiers = {name.specifier for name, _ in self._scope.places}
        named = {each for each in specifiers if not self._resolver.is_standard(each)}
        for each in (home.package, *sorted(named)):
            if self._homes.ask(each, how, member) is not False:
                return True
        return False

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
            if node.type != "property_identifier" or how != use or not is_member(node, self._tree):
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

    def _is_taken_by_comment(self, owner: str) -> bool:
        """Whether a type is one that comments take from a package, not of the code's own."""
        texts = (text_of(each) for each in self._tree.nodes if each.type == "comment")
        taken = (each for each in texts if _TAKEN_TYPE.search(each))
        words = {word for each in taken for word in re.findall(r"[\w$]+", each)}
        return not words.isdisjoint(re.findall(r"[\w$]+", owner))

    def _is_nowhere(self, node: Node | None, member: str) -> bool:
        """Whether no file that declares one of several types has a word, nor texts have it."""
        word = self._homes.owner_word(node)
        if word is None or member in _OF_PRIMITIVES:
            return False
        places = self._server.declared(word.start_point.row, word.start_point.column)
        mention = re.compile(rf"\b{re.escape(member)}\b")
        texts = [self._homes.text_at(path) for path, _ in places]
        if not texts or not all(text and mention.search(text) is None for text in texts):
            return False
        # In JavaScript a value may be the one of several types that has it, from a base.
        homes = [home for path, _ in places if (home := self._homes.at_path(path)).package]
        return self._typed or not any(self._may_declare(each, member) for each in homes)

    def _may_declare(self, home: Home, name: str) -> bool:
        """Whether a package may declare a member of that name, of whatever type."""
        return self._homes.ask(home.package, "may_declare", name) is not False

    def _is_part(self, said: Diagnostic, member: str) -> bool:
        """Whether a name is the beginning of a member's: ``status`` of ``statusCode``."""
        return len(member) >= _LEAST_PART and any(
            each.startswith(member) for each in self._server.members(said.line, said.start)
        )

    def _is_import(self, node: Node | None) -> bool:
        """Whether an expression is what a package exports as a whole."""
        name = self._scope.name(node) if node is not None else None
        return name is not None and not name.names

    def _is_defined(self, node: Node | None, module: str, owner: str, member: str) -> bool:
        """Return whether what runs of a package has a class with a member."""
        name, word = CLASS.match(owner), self._homes.owner_word(node)
        if module in {"", NODE} or name is None or word is None:
            return False
        places = self._server.declared(word.start_point.row, word.start_point.column)
        declared = places[0][0] if places else None
        return self._homes.ask(module, "defines", name[1], member, declared) is True

    def _is_certain_global(self, node: Node | None, owner: str, member: str) -> bool:
        """Whether the language's or the browser's own type tells all of a whole program's value.

        It does not where values are of lower classes, which are given members as they run.
        """
        name, word = CLASS.match(owner), self._homes.owner_word(node)
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
        name = CLASS.match(owner)
        return (
            name is not None and self._homes.ask(module, "defines_below", name[1], member) is True
        )

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
            and code != MISSPELLED
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
            below = self._homes.text_at(path).split("\n")[line : line + 1]
            return any(f"{text_of(word)}<" in each for each in below)
        return False

    def _is_tested(self, node: Node | None, home: Home, *, is_imported: bool) -> bool:
        """Whether code asks for it that may not be there.

        That is so by ``typeof``, and in JavaScript by any condition, but of values of packages: of
        what it imports code asks whether it is one of a version that has it.
        """
        outer = self._tree.parent(node) if node is not None else None
        if outer is None:
            return False
        by_word, by_any = self._tested
        is_told = self._typed or (home.package not in {"", NODE} and not is_imported)
        return outer.id in (by_word if is_told else by_any)

    def _is_compared(self, node: Node | None) -> bool:
        """Whether a member is compared with a number, a text or a member, as one that is there."""
        outer = self._tree.parent(node) if node is not None else None
        above = self._tree.parent(outer) if outer is not None else None
        if above is None or above.type != "binary_expression":
            return False
        others = (each for each in above.named_children if each != outer)
        return any(each.type in {"number", "string", "member_expression"} for each in others)

    def may_be_added(self, name: str, module: str) -> bool:
        """Whether files that the compiler does not see may add a name to a package's.

        Those are the project's own, what the code itself declares of modules, of which their own
        files know nothing, and other installed packages that another file may import.
        """
        if name in self._declared or any(each.mention(name) for each in self._added):
            return True
        return module != NODE and self._homes.ask(module, "may_be_given", name) is True


def _may_node_have(owner: str, member: str, home: Home) -> bool:
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


def _is_slip(said: Diagnostic, member: str, home: Home) -> bool:
    """Whether a member that is there differs by a few letters.

    Of the code's own classes the compiler's few are too many: other files give them members, too.
    """
    meant = MEANT.search(said.message)
    if said.code != MISSPELLED or not home.is_own or meant is None:
        return said.code == MISSPELLED
    from rapidfuzz.distance import Levenshtein

    if member.lower().endswith(meant[1].lower()):
        return False
    return Levenshtein.distance(member, meant[1]) <= _MOST_SLIPS


def is_union(owner: str) -> bool:
    """Return whether a type is one of several, which may have different members.

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


def is_member(node: Node, tree: Tree) -> bool:
    """Return whether a word is one that is read of what stands before it."""
    outer = tree.parent(node)
    return outer is not None and outer.type == "member_expression"
