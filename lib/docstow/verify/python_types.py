"""Of which class a Python value certainly is an instance.

This room knows annotations and signatures as their packages write them. It does not walk code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from docstow.verify.surfaces import Installed, Names

if TYPE_CHECKING:
    from docstow.packages.surface import Symbol
    from docstow.verify.python_scopes import Scope

_ANNOTATED = frozenset({"typing.Annotated", "typing_extensions.Annotated"})
_SELVES = frozenset({"Self", "typing.Self", "typing_extensions.Self", "t.Self", "te.Self"})


@dataclass(frozen=True, slots=True)
class Made:
    """An instance of a class.

    Attributes:
        path: the class, by a path that its package knows.
        package: whose it is.
        ready: it can be used as it is; False for what must be awaited first.
    """

    path: str
    package: Installed
    ready: bool = True

    def awaited(self) -> Made | None:
        """What ``await`` makes of it."""
        return None if self.ready else replace(self, ready=True)


class Instances:
    """Types of values.

    Args:
        names: where names are looked up.
        dotted: the absolute path of an expression in a scope.
    """

    def __init__(self, names: Names, dotted: Callable[[ast.expr, Scope], str | None]) -> None:
        self._names = names
        self._dotted = dotted
        self._heirs: dict[str, bool] = {}

    def called(self, path: str) -> Made | None:
        """What a call of a dotted path gives."""
        if self._names.resolver.is_standard(path):
            return None
        answer = self._names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None or not answer.whole:
            return None
        if symbol.kind == "class":
            return self._of_class(symbol.path, package)
        return self._returned(symbol, package, "")

    def _of_class(self, path: str, package: Installed) -> Made | None:
        """An instance of a class, unless a class of the family makes others."""
        own = package.surface.symbol(f"{path}.__new__")
        plain = own is None or own.target.startswith("builtins.object")
        return Made(path, package) if plain else None

    def method(self, owner: Made, name: str) -> Made | None:
        """What a call of a method of an instance gives."""
        symbol = owner.package.surface.symbol(f"{owner.path}.{name}")
        if symbol is None or symbol.kind != "method":
            return None
        return self._returned(symbol, owner.package, owner.path)

    def entered(self, manager: Made, *, awaited: bool) -> Made | None:
        """What ``with`` gives a name to."""
        method = "__aenter__" if awaited else "__enter__"
        symbol = manager.package.surface.symbol(f"{manager.path}.{method}")
        if symbol is None:
            return None
        given = self._returned(symbol, manager.package, manager.path)
        if given is not None and given.path == manager.path:
            return manager
        return None

    def annotated(self, annotation: ast.expr, scope: Scope) -> Made | None:
        """What an annotation in the code says."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            parsed = _expression(annotation.value)
            return self.annotated(parsed, scope) if parsed is not None else None
        match annotation:
            case ast.Subscript(value=value, slice=ast.Tuple(elts=[first, *_])):
                annotated = self._dotted(value, scope) in _ANNOTATED
                return self.annotated(first, scope) if annotated else None
        path = self._dotted(annotation, scope)
        if path is None or self._names.resolver.is_standard(path):
            return None
        answer = self._names.look_up(path)
        if answer.symbol is None or answer.package is None or not answer.whole:
            return None
        if answer.symbol.kind != "class" or self._has_heirs(answer.symbol, answer.package):
            return None
        return Made(answer.symbol.path, answer.package)

    def _has_heirs(self, symbol: Symbol, package: Installed) -> bool:
        """Whether its own module derives classes from it: a value may well be one of those."""
        path = symbol.target or symbol.path
        if path not in self._heirs:
            module, _, name = path.rpartition(".")
            heir = re.compile(rf"^class \w+\(.*\b{re.escape(name)}\b", re.DOTALL)
            members = (package.surface.members(module) or {}).values()
            self._heirs[path] = any(
                each.kind == "class" and heir.match(each.signature) for each in members
            )
        return self._heirs[path]

    def _returned(self, symbol: Symbol, package: Installed, owner: str) -> Made | None:
        """What a function's own annotation says that it gives."""
        if symbol.parameters is None or symbol.kind not in {"function", "method"}:
            return None
        signature = symbol.signature.strip()
        if "\ndef " in signature or "\nasync def " in signature or signature.startswith("@"):
            return None
        head = _function(signature)
        if head is None or head.returns is None:
            return None
        returns: ast.expr | None = head.returns
        if isinstance(returns, ast.Constant) and isinstance(returns.value, str):
            returns = _expression(returns.value)
        if returns is None:
            return None
        made = self._from_annotation(returns, symbol, package, owner)
        if made is None and owner and _gives_its_receiver(head, returns):
            made = Made(owner, package)
        if made is not None and isinstance(head, ast.AsyncFunctionDef):
            return replace(made, ready=False)
        return made

    def _from_annotation(
        self, returns: ast.expr, symbol: Symbol, package: Installed, owner: str
    ) -> Made | None:
        text = ast.unparse(returns)
        if text in _SELVES:
            return Made(owner, package) if owner else None
        if not isinstance(returns, ast.Name | ast.Attribute):
            return None
        for module in self._modules_of(symbol, package):
            found = package.surface.symbol(f"{module}.{text}")
            if found is not None:
                if found.kind != "class":
                    return None
                path = f"{module}.{text}"
                # A method that gives its own class keeps the path it was asked by.
                same = owner and (found.target or path) == self._target(owner, package)
                if not same and self._has_heirs(found, package):
                    return None
                return Made(owner if same else self._public(path, text, package), package)
        return None

    def _public(self, path: str, name: str, package: Installed) -> str:
        """The path at the package's entry, if the class is there too."""
        entry = path.partition(".")[0]
        here, there = f"{entry}.{name}", self._target(path, package)
        found = package.surface.symbol(here)
        return here if found is not None and (found.target or here) == there else path

    def _target(self, path: str, package: Installed) -> str:
        symbol = package.surface.symbol(path)
        return (symbol.target or path) if symbol is not None else path

    def _modules_of(self, symbol: Symbol, package: Installed) -> list[str]:
        """The module that a function is written in, where its annotations have their names."""
        parts = (symbol.target or symbol.path).split(".")
        for end in range(len(parts) - 1, 0, -1):
            found = package.surface.symbol(".".join(parts[:end]))
            if found is not None and found.kind == "module":
                return [".".join(parts[:end])]
        return []


def _gives_its_receiver(head: ast.FunctionDef | ast.AsyncFunctionDef, returns: ast.expr) -> bool:
    """``def __enter__(self: T) -> T``."""
    every = [*head.args.posonlyargs, *head.args.args]
    first = every[0].annotation if every else None
    return first is not None and ast.unparse(first) == ast.unparse(returns)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _function(signature: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    text = signature.rstrip()
    text = text if text.startswith(("def ", "async def ")) else f"def {text}"
    try:
        statement = ast.parse(f"{text.removesuffix(':')}: ...").body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    return statement if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) else None
