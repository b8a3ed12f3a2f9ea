"""What calls of packages' functions return, by the annotations in their signatures."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from docstow.languages.python.check.annotations import Annotations
from docstow.languages.python.check.value_types import (
    AnnotationContext,
    PackageType,
    ValueType,
    join,
    without_none,
)
from docstow.languages.python.source.declarations import function_headers
from docstow.languages.python.source.signature import parameters
from docstow.languages.python.source.syntax import Function, positional
from docstow.languages.shared.lookup import Installed, PassedArguments, mismatch
from docstow.languages.shared.surface import Symbol

#: Decorators that make context managers, with what the name of the manager's class has more.
_MANAGERS = {"contextmanager": "", "asynccontextmanager": "Async"}
#: Generators: an ``async def`` that returns one is no coroutine.
_ASYNC_GENERATORS = frozenset({"AsyncIterator", "AsyncGenerator", "AsyncIterable"})
#: Classes of which an argument certainly is an instance or is not.
_DISTINCT = frozenset({"builtins.str", "builtins.bytes", "builtins.int", "builtins.dict"})


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments of a call.

    Attributes:
        shape: their number and names.
        positional: the types of those without a name, up to the first that is unpacked.
        named: the types of the others.
    """

    shape: PassedArguments
    positional: Sequence[ValueType | None] = ()
    named: Mapping[str, ValueType | None] = field(default_factory=dict)


NOTHING_PASSED = Passed(PassedArguments(0))


class ReturnTypes:
    """The return types of packages' functions.

    Args:
        annotations: reader of their annotations.
    """

    def __init__(self, annotations: Annotations) -> None:
        self._annotations = annotations

    def context(
        self, symbol: Symbol, package: Installed, receiver: ValueType | None
    ) -> AnnotationContext:
        """Return the context of a member, with the type variables of its class."""
        target = symbol.target or symbol.path
        bound: Mapping[str, ValueType | None] = {}
        if isinstance(receiver, PackageType):
            bound = self._annotations.type_arguments(receiver, target.rpartition(".")[0]) or {}
        return self._annotations.context(target, package, receiver, bound, symbol.module)

    def infer(
        self,
        symbol: Symbol,
        package: Installed,
        receiver: PackageType | None,
        passed: Passed,
        *,
        unbound: bool = False,
        headers: Sequence[Function] = (),
    ) -> ValueType | None:
        """Return what a function returns, by the overloads that fit a call.

        Args:
            symbol: the function.
            package: whose it is.
            receiver: the instance that a method is called of.
            passed: the arguments.
            unbound: whether the receiver may be among the arguments.
            headers: the overloads that fit, where the arguments do not tell.
        """
        if symbol.parameters is None and not symbol.overloads and symbol.kind != "property":
            return None
        written = function_headers(symbol.signature)
        if len(written) > 1 and not symbol.overloads:
            # The implementation behind the overloads is not what callers see.
            written = written[:-1]
        receives = symbol.kind != "function" and not unbound
        fit = matching_overloads(written, passed.shape, receives=receives, unbound=unbound)
        context = self.context(symbol, package, receiver)
        if len(fit) > 1:
            fit = [each for each in fit if self._accepts(each, context, passed, receives)] or fit
            # Of overloads that no argument tells apart, the first applies.
            if not unbound and _agree(fit, passed.shape, receives=receives):
                fit = fit[:1]
        return without_none(join(self._result(each, context, passed) for each in headers or fit))

    def _accepts(
        self,
        header: Function,
        context: AnnotationContext,
        passed: Passed,
        receives: bool,  # noqa: FBT001 - private
    ) -> bool:
        """Return whether no argument is certainly of another class than its parameter."""
        for each, given in zip(positional(header)[receives:], passed.positional, strict=False):
            if not isinstance(given, PackageType) or each.annotation is None:
                continue
            wanted = self._annotations.read(each.annotation, context)
            if isinstance(wanted, PackageType) and wanted.path in _DISTINCT - {given.path}:
                return False
        return True

    def _result(
        self, header: Function, context: AnnotationContext, passed: Passed
    ) -> ValueType | None:
        decorators = {
            ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in header.decorator_list
        }
        receives = context.receiver is not None and "staticmethod" not in decorators
        bound = self.solve_type_variables(header, context, passed, receives=receives)
        context = replace(context, type_variables={**context.type_variables, **bound})
        returned = self._annotations.read(header.returns, context)
        return self.wrap(without_none(returned), header, decorators)

    def wrap(
        self, returned: ValueType | None, header: Function, decorators: set[str]
    ) -> ValueType | None:
        """Return what a call returns: a context manager, a coroutine, or what is annotated.

        Args:
            returned: the type that the function is annotated to return.
            header: of the function.
            decorators: their last names.
        """
        for name, prefix in _MANAGERS.items():
            if name in decorators:
                inner = None
                if isinstance(returned, PackageType) and returned.arguments:
                    inner = returned.arguments[0]
                path = f"contextlib.Abstract{prefix}ContextManager"
                return self._annotations.standard_type(path, inner, None)
        if isinstance(header, ast.AsyncFunctionDef):
            path = returned.path if isinstance(returned, PackageType) else ""
            if path.rpartition(".")[2] not in _ASYNC_GENERATORS:
                return self._annotations.standard_type("typing.Coroutine", None, None, returned)
        return returned

    def solve_type_variables(
        self, header: Function, context: AnnotationContext, passed: Passed, *, receives: bool
    ) -> dict[str, ValueType | None]:
        """Return what the type variables in a function's header are, by the arguments of a call."""
        bound: dict[str, ValueType | None] = {}
        plain = positional(header)
        pairs = [*zip(plain[receives:], passed.positional, strict=False)]
        if receives and plain:
            pairs.insert(0, (plain[0], context.receiver))
        pairs += [
            (each, passed.named[each.arg])
            for each in (*plain[receives:], *header.args.kwonlyargs)
            if each.arg in passed.named
        ]
        for parameter, given in pairs:
            if parameter.annotation is not None:
                self._annotations.unify(parameter.annotation, given, context, bound)
        return bound


def matching_overloads(
    headers: Sequence[Function], shape: PassedArguments, *, receives: bool, unbound: bool = False
) -> Sequence[Function]:
    """Return the overloads that take a call; all of them where none seems to."""
    if len(headers) < 2:
        return headers
    fit = []
    for header in headers:
        takes = parameters(header.args)
        is_static = any(ast.unparse(each) == "staticmethod" for each in header.decorator_list)
        takes = takes[1:] if receives and not is_static else takes
        if mismatch(takes, shape, unbound=unbound) is None:
            fit.append(header)
    return fit or headers


def _agree(headers: Sequence[Function], shape: PassedArguments, *, receives: bool) -> bool:
    """Return whether overloads annotate all that a call passes the same."""
    if shape.open_positional or shape.open_keywords:
        return False
    annotations = set()
    for header in headers:
        plain = positional(header)[receives:]
        by_name = {each.arg: each for each in (*plain, *header.args.kwonlyargs)}
        taken = [*plain[: shape.positional], *(by_name.get(each) for each in shape.keywords)]
        annotations.add(
            tuple(
                ast.unparse(each.annotation) if each and each.annotation else "" for each in taken
            )
        )
    return len(annotations) == 1
