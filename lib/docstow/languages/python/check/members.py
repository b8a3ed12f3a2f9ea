"""What members and calls of packages' things give, by the annotations that packages write.

This room knows Python's protocols: calls, ``await``, ``with``, loops, items. It does not walk code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import Annotations, Head, assigned, functions
from docstow.languages.python.check.terms import Found, Made, Place, Term, joined, known
from docstow.languages.python.source.signature import parameters
from docstow.languages.shared.arguments import Given, mismatch
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.surface import Openness

if TYPE_CHECKING:
    from docstow.languages.shared.surface import Symbol


# What calls of packages' functions give, by what their signatures say.


_MANAGERS = {"contextmanager": "", "asynccontextmanager": "Async"}


#: Classes of which an argument either is or is not.
_PLAIN = frozenset({"builtins.str", "builtins.bytes", "builtins.int", "builtins.dict"})


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments of a call.

    Attributes:
        given: their number and names.
        positional: what those without a name are.
        named: what the others are.
    """

    given: Given
    positional: Sequence[Term | None] = ()
    named: Mapping[str, Term | None] = field(default_factory=dict)


NOTHING_PASSED = Passed(Given(0))


class Returns:
    """What functions give.

    Args:
        annotations: what annotations mean.
    """

    def __init__(self, annotations: Annotations) -> None:
        self._annotations = annotations

    def place(self, symbol: Symbol, package: Installed, me: Term | None) -> Place:
        """Where a member is written, with what its class's type variables stand for."""
        target = symbol.target or symbol.path
        bound: Mapping[str, Term | None] = {}
        if isinstance(me, Made):
            bound = self._annotations.bindings(me, target.rpartition(".")[0]) or {}
        return self._annotations.place(target, package, me, bound, symbol.module)

    def returned(
        self,
        symbol: Symbol,
        package: Installed,
        me: Made | None,
        passed: Passed,
        *,
        unbound: bool = False,
        heads: Sequence[Head] = (),
    ) -> Term | None:
        """What a function's own annotations say that it gives: of the first overload that fits."""
        if symbol.parameters is None and not symbol.overloads and symbol.kind != "property":
            return None
        written = functions(symbol.signature)
        if len(written) > 1 and not symbol.overloads:
            # What stands behind the overloads is not what callers see.
            written = written[:-1]
        receives = symbol.kind != "function" and not unbound
        every = fitting(written, passed.given, receives=receives, unbound=unbound)
        place = self.place(symbol, package, me)
        if len(every) > 1:
            suited = [each for each in every if self._suits(each, place, passed, receives=receives)]
            every = suited or every
            # The first that takes a call is meant, where no argument tells it from the others.
            one = not unbound and _is_one(every, passed.given, receives=receives)
            every = every[:1] if one else every
        return known(joined(self._given_by(each, place, passed) for each in heads or every))

    def _suits(self, head: Head, place: Place, passed: Passed, *, receives: bool) -> bool:
        """Whether no argument is plainly of another class than an overload's parameter."""
        plain = [*head.args.posonlyargs, *head.args.args][receives:]
        for each, term in zip(plain, passed.positional, strict=False):
            if not isinstance(term, Made) or each.annotation is None:
                continue
            wanted = self._annotations.read(each.annotation, place)
            if isinstance(wanted, Made) and wanted.path in _PLAIN and term.path != wanted.path:
                return False
        return True

    def _given_by(self, head: Head, place: Place, passed: Passed) -> Term | None:
        decorators = {ast.unparse(each).partition("(")[0] for each in head.decorator_list}
        names = {each.rpartition(".")[2] for each in decorators}
        receives = place.me is not None and "staticmethod" not in names
        bound = self.solved(head, place, passed, receiver=receives)
        term = self._annotations.read(head.returns, replace(place, bound={**place.bound, **bound}))
        return self.wrapped(known(term), head, names)

    def wrapped(self, term: Term | None, head: Head, decorators: set[str]) -> Term | None:
        """What a call gives whose body gives a term: coroutines, managers."""
        for name, word in _MANAGERS.items():
            if name in decorators:
                inner = term.given[0] if isinstance(term, Made) and term.given else None
                kind = f"contextlib.Abstract{word}ContextManager"
                return self._annotations.standard(kind, inner, None)
        if isinstance(head, ast.AsyncFunctionDef):
            made = term.path if isinstance(term, Made) else ""
            if made.rpartition(".")[2] in {"AsyncIterator", "AsyncGenerator", "AsyncIterable"}:
                return term
            return self._annotations.standard("typing.Coroutine", None, None, term)
        return term

    def solved(
        self, head: Head, place: Place, passed: Passed, *, receiver: bool
    ) -> dict[str, Term | None]:
        """What the arguments of a call say of the type variables in a function's header."""
        bound: dict[str, Term | None] = {}
        plain = [*head.args.posonlyargs, *head.args.args]
        if receiver and plain:
            first = plain.pop(0)
            if first.annotation is not None:
                self._annotations.unify(first.annotation, place.me, place, bound)
        for each, term in zip(plain, passed.positional, strict=False):
            if each.annotation is not None:
                self._annotations.unify(each.annotation, term, place, bound)
        for each in (*plain, *head.args.kwonlyargs):
            if each.arg in passed.named and each.annotation is not None:
                self._annotations.unify(each.annotation, passed.named[each.arg], place, bound)
        return bound


def _is_one(heads: Sequence[Head], given: Given, *, receives: bool) -> bool:
    """Whether overloads say the same of all that a call passes."""
    if given.open_positional or given.open_keywords:
        return False
    told = set()
    for head in heads:
        plain = [*head.args.posonlyargs, *head.args.args][receives:]
        words = {each.arg: each for each in (*plain, *head.args.kwonlyargs)}
        taken = [*plain[: given.positional], *(words.get(each) for each in given.keywords)]
        notes = [each.annotation if each is not None else None for each in taken]
        told.add(tuple(ast.unparse(each) if each is not None else "" for each in notes))
    return len(told) == 1


def fitting(
    heads: Sequence[Head], given: Given, *, receives: bool, unbound: bool = False
) -> Sequence[Head]:
    """The overloads that take a call; all of them where none seems to."""
    if len(heads) < 2:
        return heads
    fit = []
    for head in heads:
        takes = parameters(head.args)
        static = any(ast.unparse(each) == "staticmethod" for each in head.decorator_list)
        takes = takes[1:] if receives and not static else takes
        if mismatch(takes, given, unbound=unbound) is None:
            fit.append(head)
    return fit or heads


#: What calls of these give is not of these classes, or has names that they have not.
_NO_INSTANCES = frozenset({"builtins.super", "builtins.type", "builtins.object", "typing.Any"})


#: Descriptors that give an instance what they are subscripted with.
_DESCRIPTORS = frozenset({"sqlalchemy.orm.base.Mapped", "sqlalchemy.orm.base.WriteOnlyMapped"})


class Members:
    """Members of packages' classes and modules.

    Args:
        annotations: what annotations mean.
    """

    def __init__(self, annotations: Annotations) -> None:
        self.annotations = annotations
        self._returns = Returns(annotations)

    def symbol(self, owner: Made, name: str) -> Symbol | None:
        """The member of a name; of what Python itself gives, as its stubs tell it."""
        symbol = owner.package.symbol(f"{owner.path}.{name}")
        if symbol is None or symbol.kind != "re-export" or not symbol.target:
            return symbol
        other = self.annotations.names.resolver.package_for(symbol.target)
        return (other.surface.symbol(symbol.target) if other is not None else None) or symbol

    def lacks(self, owner: Made, name: str) -> bool:
        """Whether an instance certainly has no method of a name."""
        if owner.vague or name.startswith("_"):
            return False
        paths = (owner.path, *owner.others, *owner.union)
        surface = owner.package.surface
        return all(
            surface.symbol(f"{each}.{name}") is None
            and owner.package.lacks(f"{each}.{name}") is not False
            and surface.openness(each) <= Openness.ITEMS
            for each in paths
        )

    def makes_keepers(self, path: str) -> bool:
        """Whether a call gives a decorator that leaves the type: ``-> Callable[[F], F]``."""
        answer = self.annotations.names.look_up(path)
        if answer.symbol is None or not answer.whole:
            return False
        for head in functions(answer.symbol.signature)[-1:]:
            match head.returns:
                case ast.Subscript(slice=ast.Tuple(elts=[ast.List(elts=[taken]), made])):
                    return ast.unparse(taken) == ast.unparse(made)
        return False

    # -- what is named by a path ---------------------------------------------------------------

    def value(self, path: str) -> Term | None:
        """What a dotted path of a package is an instance of, where it is no function."""
        answer = self.annotations.names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None:
            return None
        if not answer.whole:
            return self._rest(symbol, package, path)
        if symbol.kind in {"class", "enum"}:
            return Made(path, package, itself=True)
        if symbol.kind in {"attribute", "constant"}:
            return self._of_attribute(symbol, package, None)
        return None

    def _rest(self, symbol: Symbol, package: Installed, path: str) -> Term | None:
        """What is named below something that is an instance: ``flask.request.args``."""
        if symbol.kind not in {"attribute", "constant"} or not path.startswith(f"{symbol.path}."):
            return None
        owner = self._of_attribute(symbol, package, None)
        for name in path[len(symbol.path) + 1 :].split("."):
            owner = self.attribute(owner, name) if isinstance(owner, Made) else None
        return owner

    def called(self, path: str, passed: Passed) -> Term | None:
        """What a call of a dotted path gives."""
        answer = self.annotations.names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None:
            return None
        if not answer.whole or symbol.kind in {"attribute", "constant"}:
            owner, _, name = path.rpartition(".")
            value = self.value(path)
            if value is not None:
                return self.result(value, passed)
            above = self.value(owner) if "." in owner else None
            return self.method(above, name, passed) if isinstance(above, Made) else None
        if symbol.kind in {"class", "enum"}:
            return self.instance(Made(symbol.path, package, itself=True), passed)
        owner, _, name = path.rpartition(".") if symbol.kind == "method" else ("", "", "")
        if name == "__new__":
            return None  # It makes what it is given: mostly an heir.
        me = Made(owner, package) if owner else None
        # Who calls a method of a class may pass what it is asked of.
        return self._returns.returned(symbol, package, me, passed, unbound=me is not None)

    def instance(self, kind: Made, passed: Passed) -> Made | None:
        """An instance of a class, unless a class of the family makes others."""
        if kind.path in _NO_INSTANCES:
            return None
        made = replace(kind, itself=False)
        own = kind.package.surface.symbol(f"{kind.path}.__new__")
        if own is not None and own.kind in {"method", "function"}:
            heads = functions(own.signature)
            selves = [each.returns is not None for each in heads]
            texts = {ast.unparse(each.returns) for each in heads if each.returns is not None}
            name = kind.path.rpartition(".")[2]
            allowed = {"Self", "typing.Self", "t.Self", "te.Self", name}
            if not heads or not all(selves) or not texts <= allowed:
                return None
        if made.given or kind.path.startswith("builtins."):
            return made
        return replace(made, given=self._given(made, passed))

    def _given(self, made: Made, passed: Passed) -> tuple[Term | None, ...]:
        """What the arguments of a constructor say of the type variables of its class."""
        symbol = made.package.surface.symbol(f"{made.path}.__init__")
        fit = fitting(functions(symbol.signature), passed.given, receives=True) if symbol else []
        head = fit[0] if fit else None
        own = made.package.surface.symbol(made.path)
        if symbol is None or head is None or own is None:
            return ()
        home = (symbol.target or symbol.path).rpartition(".")[0]
        if home != (own.target or made.path):
            return ()
        place = self.annotations.place(home, made.package, made, module=symbol.module)
        me = next(iter([*head.args.posonlyargs, *head.args.args]), None)
        if me is not None and me.annotation is not None:
            # ``def __init__(self: Maker[Session], …)``: the overload says what is made.
            told = known(self.annotations.read(me.annotation, place))
            if isinstance(told, Made) and told.given:
                return told.given
        bound = self._returns.solved(head, place, passed, receiver=True)
        variables = self.annotations.bindings(made, home)
        return tuple(bound.get(each) for each in variables or ())

    def behind(self, path: str) -> str:
        """The method that a name of a module is another name of: ``decode = _codec.decode``."""
        answer = self.annotations.names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None or symbol.kind != "attribute" or not answer.whole:
            return ""
        value = assigned(symbol.signature)[1]
        if not isinstance(value, ast.Attribute):
            return ""
        target = symbol.target or symbol.path
        module = symbol.module or self.annotations.module_of(target, package)
        owner = self.value(f"{module}.{ast.unparse(value.value)}")
        if not isinstance(owner, Made) or owner.itself or self.symbol(owner, value.attr) is None:
            return ""
        return f"{owner.path}.{value.attr}"

    # -- members of instances ------------------------------------------------------------------

    def attribute(self, owner: Made, name: str) -> Term | None:
        """What an attribute of an instance is, where it is no method."""
        if owner.union:
            ways = [each for each in owner.each() if self.symbol(each, name) is not None]
            return known(joined(self.attribute(each, name) for each in ways))
        symbol = self.symbol(owner, name)
        if symbol is None or name.startswith("__"):
            return None
        if symbol.kind == "property":
            return self._returns.returned(symbol, owner.package, owner, NOTHING_PASSED)
        if symbol.kind in {"attribute", "constant"}:
            return self._of_attribute(symbol, owner.package, owner)
        if symbol.kind in {"class", "enum"}:
            return Made(f"{owner.path}.{name}", owner.package, itself=True)
        return None

    def _of_attribute(self, symbol: Symbol, package: Installed, me: Made | None) -> Term | None:
        annotation, value = assigned(symbol.signature)
        place = self._returns.place(symbol, package, me)
        if annotation is not None:
            term = known(self.annotations.read(annotation, place))
            if isinstance(term, Made) and term.given and not term.itself:
                home = term.package.surface.symbol(term.path)
                if home is not None and (home.target or term.path) in _DESCRIPTORS:
                    return term.given[0] if me is not None and not me.itself else term
            if isinstance(term, Made) and me is not None and self._is_descriptor(term):
                return None
            return term
        match value:
            # ``col = Col()`` and ``conf = Settings()``: an instance of the class that is called.
            case ast.Call(func=function):
                found = place.find(function)
                if isinstance(found, Found) and found.symbol.kind == "class":
                    kind = Made(found.path, found.package, itself=True)
                    made = self.instance(kind, NOTHING_PASSED)
                    described = me is not None and made is not None and self._is_descriptor(made)
                    return None if described else made
        return None

    def _is_descriptor(self, value: Made) -> bool:
        """Whether what an instance has of it is another thing."""
        symbol = self.symbol(value, "__get__")
        return symbol is not None and symbol.kind == "method"

    def method(self, owner: Made, name: str, passed: Passed) -> Term | None:
        """What a call of a method of an instance gives."""
        if owner.union:
            ways = [each for each in owner.each() if self.symbol(each, name) is not None]
            return known(joined(self.method(each, name, passed) for each in ways))
        symbol = self.symbol(owner, name)
        if symbol is None:
            return None
        if symbol.kind == "method":
            return self._returns.returned(symbol, owner.package, owner, passed)
        value = self.attribute(owner, name)
        return self.result(value, passed) if value is not None else None

    def result(self, value: Term, passed: Passed) -> Term | None:
        """What a call of a value gives."""
        if not isinstance(value, Made):
            return None
        if value.itself:
            return self.instance(value, passed)
        if value.path == "typing.Callable":
            return value.given[-1] if value.given else None
        return self.method(value, "__call__", passed)

    def entered(self, manager: Made, *, awaited: bool) -> Term | None:
        """What ``with`` gives a name to."""
        given = self.method(manager, "__aenter__" if awaited else "__enter__", NOTHING_PASSED)
        return self.awaited(given) if awaited and isinstance(given, Made) else given

    def awaited(self, value: Made) -> Term | None:
        """What ``await`` makes of a value."""
        generator = self.method(value, "__await__", NOTHING_PASSED)
        if isinstance(generator, Made) and len(generator.given) == 3:
            return generator.given[2]
        return None

    def item(self, value: Made, *, awaited: bool) -> Term | None:
        """What a loop over a value gives."""
        many = self.method(value, "__aiter__" if awaited else "__iter__", NOTHING_PASSED)
        if not isinstance(many, Made):
            return None
        one = self.method(many, "__anext__" if awaited else "__next__", NOTHING_PASSED)
        return self.awaited(one) if awaited and isinstance(one, Made) else one

    def part(self, value: Made, index: int) -> Term | None:
        """What unpacking gives at a place."""
        if value.path == "builtins.tuple" and len(value.given) > index:
            return value.given[index]
        return None

    def under(self, value: Made, index: ast.expr) -> Term | None:
        """What ``value[index]`` is."""
        if isinstance(index, ast.Slice | ast.Tuple):
            return None
        if value.path == "builtins.tuple":
            whole = isinstance(index, ast.Constant) and isinstance(index.value, int)
            return self.part(value, index.value) if whole and index.value >= 0 else None  # type: ignore[attr-defined]
        symbol = self.symbol(value, "__getitem__")
        if symbol is None or symbol.kind != "method":
            return None
        heads = functions(symbol.signature)[:1]
        return self._returns.returned(symbol, value.package, value, NOTHING_PASSED, heads=heads)

    def wrapped(self, term: Term | None, head: Head, decorators: set[str]) -> Term | None:
        """What a call gives whose body gives a term: coroutines, managers."""
        return self._returns.wrapped(term, head, decorators)
