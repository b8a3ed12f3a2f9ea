"""ty, a type checker: how it is begun, and what it says as claims."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from docstow.core.patterns import lazy_pattern
from docstow.languages.python.check.type_claims import (
    ArgumentClaim,
    ChoiceClaim,
    Claim,
    ImportClaim,
    MemberClaim,
    ModuleClaim,
    Syntax,
    choices,
    too_many,
)
from docstow.languages.shared.engines import Workplace
from docstow.languages.shared.language_server import Diagnostic

_SITE = ".venv/lib/python{0}/site-packages"
_ABSENT = lazy_pattern(r"^(Object of type|Class|Module) `(.+)` has no (?:attribute|member) `(\w+)`")
_NO_MODULE = lazy_pattern(r"^Cannot resolve imported module `([\w.]+)`")
_UNKNOWN_KEYWORD = lazy_pattern(r"^Argument `(\w+)` does not match any known parameter")
_TOO_MANY = lazy_pattern(r"^Too many positional arguments\b.*: expected (\d+), got (\d+)")
_NOT_GIVEN = lazy_pattern(r"^No arguments? provided for required parameters? (`\w+`(?:, `\w+`)*)")
_NO_OVERLOAD = lazy_pattern(r"^No overload of .+ matches arguments")
_LITERAL = lazy_pattern(r"\bExpected `([^\n]+?)`, found `Literal\[(\"[^\"]*\")\]`")
_NO_KEY = lazy_pattern(r"^Unknown key \"([^\"]+)\" for TypedDict `(\w+)`")
_NOT_CALLABLE = "Object of type `None` is not callable"
#: Rules of which the claims are made.
_ATTRIBUTES = frozenset({"missing-attribute", "missing-module-member", "unresolved-import"})
_ARGUMENTS = frozenset({"unknown-argument", "too-many-positional-arguments", "missing-argument"})


def workplace(key: str, version: str, roots: Sequence[Path], file: str) -> Workplace:
    """Return what ty is given: an environment that leads to the packages, and no interpreter.

    Args:
        key: the same for calls that may share a server.
        version: of Python, as ``3.13``.
        roots: folders of import names.
        file: the name of the code's own file.
    """
    del file
    settings = f'python = ".venv"\npython-version = "{version}"\npython-platform = "all"\n'
    return Workplace(
        key=key,
        files={
            "ty.toml": f"[environment]\n{settings}",
            ".venv/pyvenv.cfg": f"home = /nowhere\nversion = {version}\n",
            f"{_SITE.format(version)}/packages.pth": "".join(f"{each}\n" for each in roots),
        },
        links={},
        reads=[*roots],
        arguments=("server",),
        settings={"TY_MAX_PARALLELISM": "2"},
    )


def claims(said: Sequence[Diagnostic], tree: ast.Module) -> Iterator[Claim]:
    """Yield what ty claims of a tree."""
    syntax = Syntax(tree)
    for each in said:
        claim: Claim | None
        if each.code in _ATTRIBUTES:
            claim = _absent(each, syntax)
        elif each.code in _ARGUMENTS:
            claim = _argument(each, syntax)
        elif each.code == "no-matching-overload" and _NO_OVERLOAD.match(each.message):
            call = syntax.called(each)
            claim = ArgumentClaim(each, call, overloaded=True) if call is not None else None
        elif found := _NO_MODULE.match(each.message):
            node = syntax.imported(each, found[1])
            claim = ImportClaim(each, node, found[1]) if node is not None else None
        elif each.message.startswith(_NOT_CALLABLE):
            claim = _absent_by_getattr(each, syntax)
        else:
            claim = _choice(each, syntax)
        if claim is not None:
            yield claim


def _absent(said: Diagnostic, syntax: Syntax) -> Claim | None:
    found = _ABSENT.match(said.message)
    if found is None:
        return None
    kind, title, name = found.groups()
    if kind == "Module":
        node = syntax.taken_over(said, name)
        return ModuleClaim(said, node, name, title) if node is not None else None
    member = syntax.member(said, name)
    is_class = kind == "Class"
    return MemberClaim(said, member, name, title, is_class=is_class) if member is not None else None


def _absent_by_getattr(said: Diagnostic, syntax: Syntax) -> Claim | None:
    """Return the member that is called, where that is None: its class answers for any name."""
    call = syntax.called(said)
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    return MemberClaim(said, call.func, call.func.attr, "")


def _argument(said: Diagnostic, syntax: Syntax) -> Claim | None:
    if found := _UNKNOWN_KEYWORD.match(said.message):
        for node in syntax.at(said):
            call = syntax.given_to(node)
            if isinstance(node, ast.keyword) and node.arg == found[1] and call is not None:
                return ArgumentClaim(said, call, keyword=found[1])
        return None
    if found := _TOO_MANY.match(said.message):
        reason = too_many(*found.groups())
        calls = (syntax.given_to(node) for node in syntax.at(said))
        call = next((each for each in calls if each is not None), None)
    elif found := _NOT_GIVEN.match(said.message):
        reason, call = f"needs {found[1].replace('`', '')}", syntax.called(said)
    else:
        return None
    return ArgumentClaim(said, call, reason=reason) if call is not None else None


def _choice(said: Diagnostic, syntax: Syntax) -> Claim | None:
    if found := _NO_KEY.match(said.message):
        node = syntax.text(said, found[1])
        return ChoiceClaim(said, node, found[1], ()) if node is not None else None
    found = _LITERAL.search(said.message) if said.code == "invalid-argument-type" else None
    if found is None:
        return None
    text, offered = found[2].strip('"'), choices(found[1])
    node = syntax.text(said, text)
    return ChoiceClaim(said, node, text, offered) if node is not None and offered else None
