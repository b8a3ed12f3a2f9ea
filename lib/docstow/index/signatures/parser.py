"""Types, bounds and generic parameters: the lower half of the grammar of :mod:`.parser`.

This room knows how types are written. It does not know declarations.
"""

from __future__ import annotations

from collections.abc import Iterable

from docstow.index.signatures.parser__shapes_lexer import CLOSE, END, OPEN, Cursor, is_name
from docstow.index.signatures.tree import UNIT, WILDCARD, Tree, Type, Variable

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
