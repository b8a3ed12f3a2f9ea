"""Parse the text of Rust signatures and of queries for functions.

This is the one grammar of signatures: search by signature, diffs and checks of code read its
trees. It keeps everything that is written, so that each can leave out what it does not need.
"""

from __future__ import annotations

from collections.abc import Callable

from docstow.index.signatures.syntax import (
    END,
    UNIT,
    BadSignature,
    Cursor,
    Declaration,
    Kind,
    Node,
    Param,
    Predicate,
    is_name,
)

#: Deeper nesting is refused; the parser and all who walk its trees are recursive.
DEEPEST = 80

_QUALIFIERS = frozenset(("pub", "const", "async", "unsafe", "safe", "extern", "default"))
_KEYWORDS = frozenset(("fn", "struct", "enum", "union", "trait", "type", "static"))
_NEVER, _WILDCARD = Node(Kind.NEVER, "!"), Node(Kind.WILDCARD, "_")


def parse_query(text: str) -> Declaration:
    """Parse what a user asks for: ``Vec<T> -> Option<&T>`` or a whole declaration.

    Returns:
        A function; its output is None where the query leaves it open.

    Raises:
        BadSignature: with the place where the text stops to make sense.
    """
    parser = Parser(text)
    found = parser.query()
    parser.expect(END)
    return found


def parse_functions(text: str) -> list[Declaration]:
    """Parse functions, in ``impl`` blocks or without, one after the other.

    Raises:
        BadSignature: it is not Rust.
    """
    parser = Parser(text)
    found = []
    while parser.at() != END:
        if "impl" in {parser.at(), parser.at(1)} and parser.at() in {"impl", "unsafe"}:
            found.append(parser.impl())
        else:
            found.append(parser.function())
            parser.skip(";", ",")
    return found


def parse_declaration(text: str) -> Declaration:
    """Parse one declaration; what follows its header is left aside.

    Raises:
        BadSignature: it is not Rust.
    """
    return Parser(text).declaration()


class Parser(Cursor):
    """A recursive descent over the tokens of a signature."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    # -- declarations ------------------------------------------------------------------------

    def query(self) -> Declaration:
        """Parse a query for functions."""
        ahead = 0
        while self.at(ahead) in _QUALIFIERS or self.at(ahead).startswith('"'):
            ahead += 1
        if self.at(ahead) == "fn" and (is_name(self.at(ahead + 1)) or not self._is_input()):
            return self.function()
        inputs = self._query_inputs()
        output = self.type() if self.skip("->") else None
        while self.at() == "->":  # curried, as in Hoogle: all but the last are arguments
            self.next()
            inputs.append(output if output is not None else UNIT)
            output = self.type()
        return Declaration("fn", inputs=tuple(inputs), output=output, where=self.where())

    def _is_input(self) -> bool:
        """Tell whether ``fn(A) -> B`` is only an argument: an arrow or a comma follows it."""
        place = self._at
        try:
            self.type()
            return self.at() in {",", "->"}
        except BadSignature:
            return False
        finally:
            self._at = place

    def _query_inputs(self) -> list[Node]:
        if self.at() in {"->", END}:
            return []
        if self.at() == "(" and self.after_brackets() in {"->", "where", END}:
            self.next()
            return self.items(self.argument, ")")
        found = [self.argument()]
        while self.skip(","):
            found.append(self.argument())
        return found

    def declaration(self) -> Declaration:
        """Parse any declaration up to its body."""
        if "impl" in {self.at(), self.at(1)} and self.at() in {"impl", "unsafe"}:
            return self.impl()
        qualifiers = self._qualifiers()
        keyword = self.at()
        if keyword == "fn":
            return self._function(qualifiers, self._argument_or_dots)
        if keyword not in _KEYWORDS and keyword != "const":
            raise self.error(f"expected a declaration, found {keyword or 'the end'!r}")
        self.next()
        if self.skip("mut"):
            qualifiers = (*qualifiers, "mut")
        head = Declaration(keyword, self.name(), qualifiers, self.generics())
        if keyword in {"const", "static"}:
            self.expect(":")
            return head._replace(output=self.type())
        bounds = self.bounds() if self.skip(":") else ()
        if keyword == "trait" and self.skip("="):
            bounds = self.bounds()
        if keyword == "struct" and self.skip("("):
            self.take_until(")")
            self.expect(")")
        where = self.where()
        output = self.type() if keyword == "type" and self.skip("=") else None
        return head._replace(output=output, bounds=bounds, where=(*where, *self.where()))

    def function(self) -> Declaration:
        """Parse a function up to its body."""
        return self._function(self._qualifiers(), self.argument)

    def _function(self, qualifiers: tuple[str, ...], argument: Callable[[], Node]) -> Declaration:
        self.expect("fn")
        name = self.name() if is_name(self.at()) else ""
        while self.skip("::"):
            name += "::" + self.name()
        generics = self.generics()
        self.expect("(")
        inputs = self.items(argument, ")")
        output = self.type() if self.skip("->") else UNIT
        return Declaration(
            "fn", name, qualifiers, generics, tuple(inputs), output, where=self.where()
        )

    def _qualifiers(self) -> tuple[str, ...]:
        found: list[str] = []
        while self.at() in _QUALIFIERS or self.at() == "auto" or self.at().startswith('"'):
            if self.at() == "const" and self.at(1) not in _QUALIFIERS | {"fn"}:
                break  # a constant
            word = self.next()
            if word.startswith('"') and found:
                found[-1] += f" {word}"
            elif word != "pub":
                found.append(word)
            elif self.skip("("):
                self.take_until(")")
                self.expect(")")
        return tuple(found)

    def impl(self) -> Declaration:
        """Parse ``impl<T> Trait for Type where … { functions }``, with or without its block."""
        qualifiers = ("unsafe",) if self.skip("unsafe") else ()
        self.expect("impl")
        generics = self.generics()
        self.skip("const")
        negative = self.skip("!")
        target = self.type()
        trait = None
        if self.skip("for"):
            trait, target = target, self.type()
        if trait is not None and negative:
            trait = Node(Kind.MODIFIED, "!", (trait,))
        where = self.where()
        members = []
        if self.skip("{"):
            while not self.skip("}"):
                members.append(self.function())
                self.skip(";", ",")
        return Declaration(
            "impl",
            qualifiers=qualifiers,
            generics=generics,
            output=target,
            trait=trait,
            where=where,
            members=tuple(members),
        )

    def argument(self) -> Node:
        """Parse a receiver, or a type with or without a pattern before it."""
        ahead = int(self.at() == "&")
        while self.at(ahead).startswith("'"):
            ahead += 1
        mutable = self.at(ahead) == "mut"
        ahead += mutable
        if self.at(ahead) == "self" and self.at(ahead + 1) != ":":
            tokens = [self.next() for _ in range(ahead + 1)]
            name = ("&mut" if mutable else "&") if tokens[0] == "&" else ""
            lifetimes = (Node(Kind.LIFETIME, each) for each in tokens if each[0] == "'")
            return Node(Kind.RECEIVER, name, tuple(lifetimes))
        pattern = "mut " if self.skip("mut") else ""
        if self.at() == "(" and self.after_brackets() == ":":
            pattern += "".join(self.take_until(":"))
        elif (is_name(self.at()) or self.at() == "_") and self.at(1) == ":":
            pattern += self.next()
        if not self.skip(":"):
            return self.type()
        return Node(Kind.ARGUMENT, pattern, (self.type(),))

    def _argument_or_dots(self) -> Node:
        return Node(Kind.VARIADIC, "...") if self.skip("...") else self.argument()

    # -- generic parameters ------------------------------------------------------------------

    def generics(self) -> tuple[Param, ...]:
        """Parse ``<'a, T: Bound = Default, const N: usize>``; nothing is taken where none is."""
        if not self.skip("<"):
            return ()
        found = []
        while not self.skip(">"):
            found.append(self._param())
            self._comma()
        return tuple(found)

    def _param(self) -> Param:
        if self.at().startswith("'"):
            name = self.next()
            bounds = self.bounds() if self.skip(":") else None
            self.take_until(",", ">")
            return Param(name, bounds)
        if self.skip("const"):
            name = self.name()
            kind = self.type() if self.skip(":") else UNIT
            default = self._expression(",", ">") if self.skip("=") else None
            self.take_until(",", ">")
            return Param(name, None, default, kind)
        name = self.name()
        bounds = self.bounds() if self.skip(":") else None
        return Param(name, bounds, self.type() if self.skip("=") else None)

    def where(self) -> tuple[Predicate, ...]:
        """Parse a where clause; predicates that state no bounds are left out."""
        if not self.skip("where"):
            return ()
        found = []
        while self.at() not in {END, "{", "}", ";", "="}:
            lifetimes = self._for()
            quoted = self.at().startswith("'")
            subject = Node(Kind.LIFETIME, self.next()) if quoted else self.type()
            stated = self.skip(":")
            if stated:
                found.append(Predicate(_wrapped(subject, lifetimes), self.bounds()))
            if not stated or subject.kind != Kind.PATH:
                self.take_until(",", "{", "}", ";")
            if not self.skip(","):
                break
        return tuple(found)

    def bounds(self) -> tuple[Node, ...]:
        """Parse ``A + ?B + 'a + use<'a>``."""
        found: list[Node] = []
        while True:
            bracket = self.skip("(")
            lifetimes = self._for()
            modifier = "?" if self.skip("?") else ""
            if self.skip("["):
                modifier += f"[{''.join(self.take_until(']'))}] "
                self.expect("]")
            modifier += "async " if self.skip("async") else ""
            if self.at().startswith("'"):
                found.append(Node(Kind.LIFETIME, self.next()))
            elif self.skip("use"):
                self.expect("<")
                names = tuple(Node(Kind.PATH, each) for each in self.take_until(">") if each != ",")
                found.append(Node(Kind.USE, "use", names))
                self.expect(">")
            elif is_name(self.at()) or self.at() == "::":
                bound = self._path()
                bound = Node(Kind.MODIFIED, modifier, (bound,)) if modifier else bound
                found.append(_wrapped(bound, lifetimes))
            if bracket:
                self.expect(")")
            if not self.skip("+"):
                return tuple(found)

    def _for(self) -> str:
        """Parse ``for<'a>`` and return the lifetimes as text."""
        if self.at() != "for" or self.at(1) != "<":
            return ""
        self._at += 2
        lifetimes = " ".join(self.take_until(">"))
        self.expect(">")
        return lifetimes.replace(" ,", ",")

    # -- types -------------------------------------------------------------------------------

    def type(self) -> Node:
        """Parse one type."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.error("it is nested too deeply")
        try:
            return self._type()
        finally:
            self._depth -= 1

    def _type(self) -> Node:
        first = self.at()
        if first == "&":
            return self._reference()
        if first == "*":
            self.next()
            word = "mut" if self.skip("mut") else "const"
            self.skip("const")
            return Node(Kind.POINTER, f"*{word}", (self.type(),))
        if first == "[":
            return self._brackets()
        if first == "(":
            return self._tuple()
        if first == "!":
            self.next()
            return _NEVER
        if first in {"_", "…"}:
            self.next()
            return _WILDCARD if first == "_" else Node(Kind.WILDCARD, first)
        if first == "<":
            return self._qualified()
        lifetimes = self._for()
        if self.skip("impl"):
            return _wrapped(Node(Kind.IMPL, "impl", self.bounds()), lifetimes)
        if self.skip("dyn"):
            return _wrapped(Node(Kind.DYN, "dyn", self.bounds()), lifetimes)
        if self.at() in {"fn", "unsafe", "extern"}:
            words = []
            while not self.skip("fn"):
                words.append(self.next())
            return _wrapped(self._called(Kind.FUNCTION, " ".join(words)), lifetimes)
        return _wrapped(self._path(), lifetimes)

    def _reference(self) -> Node:
        self.expect("&")
        lifetimes = []
        while self.at().startswith("'"):
            lifetimes.append(Node(Kind.LIFETIME, self.next()))
        name = "&mut" if self.skip("mut") else "&"
        return Node(Kind.REFERENCE, name, (self.type(), *lifetimes))

    def _brackets(self) -> Node:
        self.expect("[")
        element = self.type()
        if not self.skip(";"):
            self.expect("]")
            return Node(Kind.SLICE, "[]", (element,))
        length = self._expression("]")
        self.expect("]")
        return Node(Kind.ARRAY, "[;]", (element, length))

    def _expression(self, *ends: str) -> Node:
        tokens = self.take_until(*ends)
        return Node(
            Kind.EXPRESSION, "".join(tokens), tuple(Node(Kind.PATH, each) for each in tokens)
        )

    def _tuple(self) -> Node:
        self.expect("(")
        found: list[Node] = []
        comma = False
        while self.at() != ")":
            found.append(self.type())
            while self.skip("+"):
                self.bounds()
            comma = self.skip(",")
            if not comma:
                break
        self.expect(")")
        return found[0] if len(found) == 1 and not comma else Node(Kind.TUPLE, "", tuple(found))

    def _qualified(self) -> Node:
        begin = self._at
        self.expect("<")
        owner = self.type()
        trait = self.type() if self.skip("as") else _NEVER
        self.expect(">")
        name = "".join(self._tokens[begin : self._at])
        args: tuple[Node, ...] = ()
        while self.skip("::"):
            name += "::" + self.name()
            args = self._args()
        return Node(Kind.QUALIFIED, name, (owner, trait, *args))

    def _path(self) -> Node:
        self.skip("::")
        name = self.name()
        if self.at() == "!":
            raise self.error("macros have no signature")
        node = self._with_args(Node(Kind.PATH, name), name)
        while self.at() == "::":
            self.next()
            if self.at() == "<":
                node = self._with_args(node, name)
                continue
            name = self.name()
            if node.kind == Kind.PATH and not node.args:
                node = Node(Kind.PATH, f"{node.name}::{name}")
            else:
                node = Node(Kind.MEMBER, name, (node,))
            node = self._with_args(node, name)
        return node

    def _with_args(self, node: Node, name: str) -> Node:
        if self.at() == "(" and name[:1].isupper():
            called = self._called(Kind.CALL, node.name)
            return called if node.kind == Kind.PATH else node._replace(args=(*node.args, called))
        return node._replace(args=(*node.args, *self._args())) if self.at() == "<" else node

    def _args(self) -> tuple[Node, ...]:
        if not self.skip("<"):
            return ()
        found: list[Node] = []
        while not self.skip(">"):
            found.append(self._arg())
            self._comma()
        return tuple(found)

    def _arg(self) -> Node:
        first = self.at()
        if first.startswith("'") and not first.endswith("'"):
            return Node(Kind.LIFETIME, self.next())
        if first[:1].isdigit() or first in {"-", "{"} or first[:1] in {'"', "'"}:
            return self._expression(",", ">")
        if is_name(first) and self.at(1) in {"=", ":"}:
            name = self.name()
            if self.skip(":"):
                return Node(Kind.CONSTRAINT, name, self.bounds())
            self.next()
            return Node(Kind.EQUALITY, name, (self._arg(),))
        return self.type()

    def _called(self, kind: str, name: str) -> Node:
        """Parse ``(A, B) -> C`` after ``fn`` or the name of a trait."""
        self.expect("(")
        self.skip("..")
        inputs: list[Node] = []
        while self.at() != ")":
            inputs.append(self._argument_or_dots())
            if inputs[-1].kind == Kind.VARIADIC or not self.skip(","):
                break
        self.expect(")")
        output = self.type() if self.skip("->") else UNIT
        return Node(kind, name, (Node(Kind.TUPLE, "", tuple(inputs)), output))

    def _comma(self) -> None:
        if not self.skip(",") and self.at() != ">":
            raise self.error(f"expected ',' or '>', found {self.at() or 'the end'!r}")


def _wrapped(node: Node, lifetimes: str) -> Node:
    return Node(Kind.FOR, lifetimes, (node,)) if lifetimes else node
