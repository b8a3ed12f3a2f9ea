"""From the text of a signature to its tree: a recursive-descent parser over Rust's types.

This room knows the grammar. It does not know which names exist or what is alike.

    query     = function | inputs [ "->" type ]
    inputs    = "(" [ argument { "," argument } ] ")" | argument { "," argument } | nothing
    function  = { word } "fn" [ name { "::" name } ] [ generics ] "(" arguments ")"
                [ "->" type ] [ where ]
    argument  = [ pattern ":" ] type | [ "&" [ lifetime ] ] [ "mut" ] "self"
    type      = "&" [ lifetime ] [ "mut" ] type | "*" ( "const" | "mut" ) type | "[" type
                [ ";" length ] "]" | "(" [ type { "," type } ] ")" | "!" | "_" | "impl" bounds
                | "dyn" bounds | { word } "fn" "(" ... ")" [ "->" type ] | "<" type [ "as" path ]
                ">" "::" name | path
    path      = name [ "<" arguments ">" | "(" ... ")" [ "->" type ] ] { "::" ... }
    bounds    = bound { "+" bound };  where = "where" predicate { "," predicate }

Types are those of the Rust Reference, chapter "Type system"; patterns, lengths and defaults are
skipped over. What a document holds may be several declarations, in ``impl`` blocks or without.
"""

from __future__ import annotations

from collections.abc import Collection

from docstow.index.signatures.parser import TypeParser
from docstow.index.signatures.parser__shapes_lexer import END, BadSignature, is_name
from docstow.index.signatures.tree import UNIT, Function, Tree, Type, Variable, replaced

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
