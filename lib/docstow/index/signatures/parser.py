"""Types, bounds and generic parameters: the lower half of the grammar of :mod:`.parser`.

This room knows how types are written. It does not know declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from docstow.index.signatures.tree import UNIT, WILDCARD, Function, Tree, Type, Variable, replaced

# The tokens of a signature, and a place among them.


_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<token>->|::|==|\.\.\.?|'\w+(?!')|'(?:\\.|[^'])'"
    r'|"[^"]*"|(?:r\#)?[^\W\d]\w*|\d\w*|…|[&*\[\]()<>,;:+=!?#{}|.\-/%^~])',
    re.DOTALL,
)


OPEN, CLOSE = frozenset("(<[{"), frozenset(")>]}")


END = ""


"""What stands after the last token."""


_Parsed = TypeVar("_Parsed")


class BadSignature(ValueError):
    """The text is no signature.

    Attributes:
        message: what is wrong.
        offset: where, in characters from 0.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at character {offset + 1}")
        self.message = message
        self.offset = offset


class Cursor:
    """A text being read token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens, self._offsets = _tokens(text)
        self._at = 0

    def at(self, ahead: int = 0) -> str:
        """The token here or further on; END beyond the last."""
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else END

    def next(self) -> str:
        """Take the token that is here."""
        token = self.at()
        if token == END:
            raise self.wrong("it ends too early")
        self._at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Take the token that is here if it is one of these."""
        if self.at() in tokens and self.at() != END:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Take this token, or say that it is missing."""
        if self.at() != token:
            wanted = f"expected {token!r}" if token else "expected the end"
            raise self.wrong(f"{wanted}, found {self.at() or 'the end'!r}")
        if token != END:
            self._at += 1

    def name(self) -> str:
        """Take an identifier."""
        if not is_name(self.at()):
            raise self.wrong(f"expected a name, found {self.at() or 'the end'!r}")
        return self.next().removeprefix("r#")

    def wrong(self, message: str) -> BadSignature:
        """The error that something is wrong here."""
        offsets = self._offsets
        return BadSignature(
            message, offsets[self._at] if self._at < len(offsets) else len(self._text)
        )

    def items(self, item: Callable[[], _Parsed], end: str) -> list[_Parsed]:
        """Items between commas, up to and with the closing token."""
        found = []
        while self.at() != end:
            found.append(item())
            if not self.skip(","):
                break
        self.expect(end)
        return found

    def skip_expression(self, *ends: str) -> str:
        """Tokens up to one of the ends outside of any bracket; what was skipped."""
        begin, depth = self._at, 0
        while self.at() != END and (depth or self.at() not in ends):
            depth += (self.at() in OPEN) - (self.at() in CLOSE)
            self._at += 1
        return "".join(self._tokens[begin : self._at])

    def after_brackets(self) -> str:
        """The token after the bracket that is open here is closed."""
        depth = 0
        for ahead in range(len(self._tokens) - self._at):
            depth += (self.at(ahead) in "([") - (self.at(ahead) in ")]")
            if depth == 0:
                return self.at(ahead + 1)
        return END


def _tokens(text: str) -> tuple[list[str], list[int]]:
    tokens, offsets, place = [], [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise BadSignature(f"{text[place]!r} has no meaning here", place)
        if match["token"] is not None:
            tokens.append(match["token"])
            offsets.append(place)
        place = match.end()
    return tokens, offsets


def is_name(word: str) -> bool:
    """Whether a token is an identifier."""
    return word.removeprefix("r#").isidentifier() and word != "_"


#: Deeper nesting is refused; the parser and all who walk its trees are recursive.
DEEPEST = 80


class TypeParser(Cursor):
    """Reads types. ``variables`` are the names that stand for any type."""

    def __init__(self, text: str, variables: Iterable[str]) -> None:
        super().__init__(text)
        self._depth = 0
        self._variables = set(variables)
        self._bounds: dict[str, tuple[Type, ...]] = {}
        self._unnamed = 0

    def argument(self) -> Tree:
        """A receiver, or a type with or without a pattern before it."""
        ahead = int(self.at() == "&")
        while self.at(ahead).startswith("'"):
            ahead += 1
        mutable = self.at(ahead) == "mut"
        ahead += mutable
        if self.at(ahead) == "self" and self.at(ahead + 1) != ":":
            reference = self.at() == "&"
            self._at += ahead + 1
            receiver = Variable("Self")
            return Type("&mut" if mutable else "&", (receiver,)) if reference else receiver
        if self.at() == "mut":
            self.next()
        if self.at() == "(" and self.after_brackets() == ":":
            self.skip_expression(":")
        if (is_name(self.at()) or self.at() in {"_", ")"}) and self.at(1) == ":":
            self._at += 2
        elif self.at() == ":":
            self.next()
        return self.type()

    def generics(self) -> dict[str, Tree | None]:
        """``<'a, T: Bound = Default, const N: usize>``: type parameters with their defaults."""
        found: dict[str, Tree | None] = {}
        if not self.skip("<"):
            return found
        self._variables |= self._declared()
        while not self.skip(">"):
            if self.at().startswith("'"):
                self.skip_expression(",", ">")
            elif self.skip("const"):
                self.name()
                self.skip_expression(",", ">")
            else:
                name = self.name()
                self._add_bounds(name)
                found[name] = self.type() if self.skip("=") else None
            if not self.skip(",") and self.at() != ">":
                raise self.wrong(f"expected ',' or '>', found {self.at() or 'the end'!r}")
        return found

    def _declared(self) -> set[str]:
        """The names that the list of generics declares, seen ahead: bounds may use later ones."""
        names, depth, fresh = set(), 0, True
        for ahead in range(len(self._tokens) - self._at):
            seen = self.at(ahead)
            if seen == ">" and depth == 0:
                break
            depth += (seen in OPEN) - (seen in CLOSE)
            if fresh and seen != "const":
                names.add(seen)
                fresh = False
            fresh = fresh or (depth == 0 and seen == ",")
        return names

    def where(self) -> None:
        """Bounds of plain variables are kept; others say nothing about the shape."""
        if not self.skip("where"):
            return
        while self.at() not in {END, "{", "}", ";", "="}:
            self._for()
            if self.at().startswith("'"):
                self.skip_expression(",", "{", "}", ";")
            else:
                subject = self.type()
                if isinstance(subject, Variable) and self.at() == ":":
                    self._add_bounds(subject.name)
                else:
                    self.skip_expression(",", "{", "}", ";")
            if not self.skip(","):
                break

    def _add_bounds(self, name: str) -> None:
        if self.skip(":"):
            known = self._bounds.get(name, ())
            added = (each for each in self.bounds() if each not in known)
            self._bounds[name] = (*known, *added)

    def _for(self) -> None:
        if self.at() == "for" and self.at(1) == "<":
            self._at += 2
            self.skip_expression(">")
            self.expect(">")

    def bounds(self) -> tuple[Type, ...]:
        """``A + ?B + 'a``; lifetimes, ``?Sized`` and ``use<…>`` are left out."""
        found: list[Type] = []
        while True:
            bracket = self.skip("(")
            self._for()
            maybe = self.skip("?")
            if self.skip("["):
                self.skip_expression("]")
                self.expect("]")
            self.skip("async")
            if self.at().startswith("'"):
                self.next()
            elif self.skip("use"):
                self.expect("<")
                self.skip_expression(">")
                self.expect(">")
            elif is_name(self.at()) or self.at() == "::":
                bound = self._path(trait=True)
                if isinstance(bound, Type) and not maybe and bound.name != "Sized":
                    found.append(bound)
            if bracket:
                self.expect(")")
            if not self.skip("+"):
                return tuple(found)

    def type(self) -> Tree:
        """One type."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.wrong("it is nested too deeply")
        try:
            return self._type()
        finally:
            self._depth -= 1

    def _type(self) -> Tree:
        first = self.at()
        if first == "&":
            self.next()
            while self.at().startswith("'"):
                self.next()
            name = "&mut" if self.skip("mut") else "&"
            return Type(name, (self.type(),))
        if first == "*":
            self.next()
            word = "mut" if self.skip("mut") else "const"
            self.skip("const")
            return Type(f"*{word}", (self.type(),))
        if first == "[":
            return self._brackets()
        if first == "(":
            return self._tuple()
        if first in {"!", "…"}:
            self.next()
            return Type("!") if first == "!" else WILDCARD
        if first == "_":
            self.next()
            return WILDCARD
        if first == "<":
            return self._qualified()
        return self._words()

    def _words(self) -> Tree:
        """Types that begin with a word."""
        self._for()
        if self.skip("impl"):
            self._unnamed += 1
            name = f"impl {self._unnamed}"
            self._bounds[name] = self.bounds()
            return Variable(name)
        if self.skip("dyn"):
            return Type("dyn", self.bounds())
        if self.at() in {"fn", "unsafe", "extern"}:
            while not self.skip("fn"):
                self.next()
            return self._called("fn")
        return self._path()

    def _brackets(self) -> Type:
        self.expect("[")
        element = self.type()
        if not self.skip(";"):
            self.expect("]")
            return Type("[]", (element,))
        length = self.skip_expression("]")
        self.expect("]")
        known = length == "_" or not length.isdigit()
        return Type("[;]", (element, Variable(length) if known else Type(length)))

    def _tuple(self) -> Tree:
        self.expect("(")
        found: list[Tree] = []
        comma = False
        while self.at() != ")":
            found.append(self.type())
            while self.skip("+"):
                self.bounds()
            comma = self.skip(",")
            if not comma:
                break
        self.expect(")")
        return found[0] if len(found) == 1 and not comma else Type("()", tuple(found))

    def _qualified(self) -> Tree:
        """``<T as Trait>::Name``: known by its text alone."""
        begin = self._at
        self.expect("<")
        owner = self.type()
        trait = self.type() if self.skip("as") else None
        self.expect(">")
        name = "<" + "".join(self._tokens[begin + 1 : self._at])
        while self.skip("::"):
            name += "::" + self.name()
            self._args()
        tail = name.rpartition("::")[2]
        if isinstance(owner, Variable) and (trait is None or tail == name):
            return Variable(f"{owner.name}::{tail}")
        return Variable(name)

    def _path(self, *, trait: bool = False) -> Tree:
        """A path by its last segment; one that begins with a variable is a variable."""
        self.skip("::")
        first = name = self.name()
        if self.at() == "!":
            raise self.wrong("macros have no signature")
        args = self._args(name)
        qualifier = ""
        while self.at() == "::":
            self.next()
            if self.at() == "<":
                args = self._args(name)
                continue
            qualifier, name = name, self.name()
            args = self._args(name)
        if not trait and self._is_variable(first):
            return (
                Variable(first) if first == name and not qualifier else Variable(f"{first}::{name}")
            )
        if name == "Result" and qualifier and qualifier != "result":
            # io::Result<T> and its like, by the convention that the std library set.
            args = (*(args or (UNIT,)), Type("Error")) if len(args) < 2 else args
        return Type(name, args)

    def _is_variable(self, name: str) -> bool:
        lone = name[0].isupper() and (len(name) == 1 or name[1:].isdigit())
        return name in self._variables or lone

    def _args(self, name: str = "") -> tuple[Tree, ...]:
        if self.at() == "(" and name[:1].isupper():
            return self._called(name).args
        if not self.skip("<"):
            return ()
        found: list[Tree] = []
        while not self.skip(">"):
            found += self._arg()
            if not self.skip(",") and self.at() != ">":
                raise self.wrong(f"expected ',' or '>', found {self.at() or 'the end'!r}")
        return tuple(found)

    def _arg(self) -> list[Tree]:
        """A type, or ``Item = T``; lifetimes are left out, and numbers stand for themselves."""
        if self.at().startswith("'") and not self.at().endswith("'"):
            self.next()
            return []
        if self.at()[:1].isdigit() or self.at() in {"-", "{"} or self.at()[:1] in {'"', "'"}:
            return [Type(self.skip_expression(",", ">"))]
        if is_name(self.at()) and self.at(1) in {"=", ":"}:
            name = self.name()
            if self.skip(":"):
                self._unnamed += 1
                bounded = f"impl {self._unnamed}"
                self._bounds[bounded] = self.bounds()
                return [Type(f"={name}", (Variable(bounded),))]
            self.next()
            return [Type(f"={name}", tuple(self._arg()))]
        return [self.type()]

    def _called(self, name: str) -> Type:
        """``(A, B) -> C`` after ``fn`` or the name of a trait."""
        self.expect("(")
        if self.at() == "..":
            self.next()
        inputs: list[Tree] = []
        while self.at() != ")":
            if self.skip("..."):
                break
            inputs.append(self.argument())
            if not self.skip(","):
                break
        self.expect(")")
        output = self.type() if self.skip("->") else UNIT
        return Type(name, (Type("()", tuple(inputs)), output))


# From the text of a signature to its tree


_WORDS = frozenset(("pub", "const", "async", "unsafe", "safe", "extern", "default"))


def query(text: str) -> Function:
    """What a person asks for.

    Raises:
        BadSignature: with the place where the text stops to make sense.
    """
    parser = _Parser(text, ("Self",))
    found = parser.query()
    parser.expect(END)
    return found


def declarations(
    text: str, variables: Collection[str] = (), self_type: Tree | None = None
) -> list[Function]:
    """The functions that a document declares, ``Self`` replaced by what it stands for.

    Args:
        text: one declaration, or several that may stand in impl blocks.
        variables: the generic parameters of the owner.
        self_type: the owner; an impl block says it better.

    Raises:
        BadSignature: it is not Rust.
    """
    parser = _Parser(text, {*variables, "Self"})
    found: list[Function] = []
    while parser.at() != END:
        if parser.at() in {"impl", "unsafe"} and parser.impl_follows():
            found += parser.impl()
        else:
            function = parser.function()
            found.append(with_self(function, self_type) if self_type is not None else function)
            parser.skip(";", ",")
    return found


def owner_type(text: str) -> tuple[Type, tuple[str, ...]]:
    """The type that ``pub struct Vec<T, A = Global> …`` declares, and all its parameters.

    Parameters with defaults are left out of the type, as in what people write.

    Raises:
        BadSignature: it is no declaration of a struct, enum, union, trait or alias.
    """
    parser = _Parser(text, ("Self",))
    while parser.at() not in {"struct", "enum", "union", "trait", "type", END}:
        parser.next()
    parser.next()
    name = parser.name()
    given = parser.generics()
    args = tuple(Variable(each) for each, default in given.items() if default is None)
    return Type(name, args), tuple(given)


def alias(text: str) -> tuple[str, dict[str, Tree | None], Tree]:
    """``pub type Name<T, E = Error> = Type;``: name, parameters with defaults, and the type.

    Raises:
        BadSignature: it is no type alias.
    """
    parser = _Parser(text, ())
    parser.skip("pub")
    parser.expect("type")
    name = parser.name()
    given = parser.generics()
    parser.where()
    parser.expect("=")
    return name, given, parser.type()


def with_self(function: Function, owner: Tree) -> Function:
    """The function with ``Self`` replaced, in bounds as well."""
    if owner == Variable("Self"):
        return function
    by = {"Self": owner}
    bounds = {
        name: tuple(each for b in found if isinstance(each := replaced(b, by), Type))
        for name, found in function.bounds.items()
    }
    output = None if function.output is None else replaced(function.output, by)
    inputs = tuple(replaced(each, by) for each in function.inputs)
    return Function(inputs, output, bounds, function.name)


class _Parser(TypeParser):
    """Reads declarations and queries."""

    def query(self) -> Function:
        ahead = 0
        while self.at(ahead) in _WORDS or self.at(ahead).startswith('"'):
            ahead += 1
        if self.at(ahead) == "fn" and (is_name(self.at(ahead + 1)) or not self._typed_inputs()):
            return self.function()
        inputs = self._query_inputs()
        output = self.type() if self.skip("->") else None
        while self.at() == "->":  # curried, as in Hoogle: all but the last are arguments
            self.next()
            inputs.append(output if output is not None else UNIT)
            output = self.type()
        self.where()
        return Function(tuple(inputs), output, dict(self._bounds))

    def _typed_inputs(self) -> bool:
        """Whether ``fn(A) -> B`` is only an argument: an arrow or a comma follows it."""
        place, bounds, unnamed = self._at, dict(self._bounds), self._unnamed
        try:
            self.type()
            return self.at() in {",", "->"}
        except BadSignature:
            return False
        finally:
            self._at, self._bounds, self._unnamed = place, bounds, unnamed

    def _query_inputs(self) -> list[Tree]:
        if self.at() in {"->", END}:
            return []
        if self.at() == "(" and self.after_brackets() in {"->", "where", END}:
            self.next()
            return self.items(self.argument, ")")
        found = [self.argument()]
        while self.skip(","):
            found.append(self.argument())
        return found

    def function(self) -> Function:
        while self.at() in _WORDS or self.at().startswith('"'):
            if self.next() == "pub" and self.at() == "(":
                self.skip_expression("fn")
        self.expect("fn")
        outer = dict(self._bounds), set(self._variables)
        name, owner = "", None
        if is_name(self.at()):
            name = self.name()
        while self.skip("::"):
            name, owner = self.name(), name
        self.generics()
        self.expect("(")
        inputs = self.items(self.argument, ")")
        output: Tree | None = self.type() if self.skip("->") else UNIT
        self.where()
        found = Function(tuple(inputs), output, dict(self._bounds), name)
        self._bounds, self._variables = outer
        return with_self(found, Type(owner)) if owner else found

    def impl_follows(self) -> bool:
        return "impl" in {self.at(), self.at(1)} and self.at() != "fn"

    def impl(self) -> list[Function]:
        """``impl<T> Trait for Type where … { declarations }``."""
        self.skip("unsafe")
        self.expect("impl")
        outer = dict(self._bounds), set(self._variables)
        self.generics()
        self.skip("const")
        self.skip("!")
        owner = self.type()
        if self.skip("for"):
            owner = self.type()
        self.where()
        self.expect("{")
        found = []
        while not self.skip("}"):
            found.append(with_self(self.function(), owner))
            self.skip(";", ",")
        self._bounds, self._variables = outer
        return found
