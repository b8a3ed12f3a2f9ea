"""Pyrefly, a type checker: how it is begun, and what it says as claims.

It infers what functions return that nothing annotates, which ty leaves open, and has stubs of its
own for packages that bring none: those may be of another version than the one that is installed.
"""

from __future__ import annotations

import ast
import json
import re
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

_ABSENT = lazy_pattern(
    r"^(Object of class|Object of type|Class) `(.+)` has no (?:class )?attribute `(\w+)`"
)
#: Types of a union that tells something of its values, and None.
_MOST_KINDS = 3
_NO_MEMBER = lazy_pattern(r"^No attribute `(\w+)` in module `([\w.]+)`")
_NO_IMPORT = lazy_pattern(r"^Could not import `(\w+)` from `([\w.]+)`")
_NO_MODULE = lazy_pattern(r"^Cannot find module `([\w.]+)`")
_KEYWORD = lazy_pattern(r"Unexpected keyword argument `(\w+)` in function `([\w.]+)`")
_OVERLOADED = lazy_pattern(r"^No matching overload found for function `([\w.]+)` called with")
_TOO_MANY = lazy_pattern(
    r"^Expected (\d+) positional arguments?, got (\d+)(?: in function `([\w.]+)`)?"
)
_NOT_GIVEN = lazy_pattern(r"^Missing argument `(\w+)` in function `([\w.]+)`")
_NOT_CALLABLE = lazy_pattern(r"^Expected a callable, got `")
_LITERAL = lazy_pattern(
    r"^Argument `Literal\['([^']*)'\]` is not assignable to parameter `\w+` "
    r"with type `([^\n]+?)` in(?: function `([\w.]+)`)?"
)
_CLOSEST = lazy_pattern(rf"^\s*{_LITERAL.pattern[1:]}", re.MULTILINE)
_PARAMETER = lazy_pattern(r"is not assignable to parameter `(\w+)`")
_NO_KEY = lazy_pattern(
    r"^(?:Key `(\w+)` is not defined in TypedDict|TypedDict `\w+` does not have key `(\w+)`)"
)

#: Packages of which it does not infer what functions without annotations return. Scipy takes 12 to
#: 25 seconds otherwise, and what is inferred of it is hardly more than arrays of any kind; of 140
#: programs over all sorts of packages no other one takes 1 second.
_NOT_INFERRED = ("scipy",)


def workplace(key: str, version: str, roots: Sequence[Path], file: str) -> Workplace:
    """Return what Pyrefly is given: links to the folders of the packages, and no interpreter.

    The parameters are those of ``ty.workplace``. Of a file it takes the configuration that is
    nearest above it: with links that is always this one, and never a project's.
    """
    links = {f"packages/{number}": each for number, each in enumerate(roots)}
    folders = json.dumps([*links])
    settings = (
        f"site-package-path = {folders}\n"
        "skip-interpreter-query = true\npermissive-ignores = true\n"
        f'python-version = "{version}"\n'
        f'python-platform = "linux"\nproject-includes = ["{file}"]\n'
    )
    for name in _NOT_INFERRED:
        settings += f'[[sub-config]]\nmatches = "packages/*/{name}/**"\n'
        settings += 'infer-return-types = "annotated"\n'
    return Workplace(
        key=key,
        files={"pyrefly.toml": settings},
        links=links,
        reads=[*roots],
        arguments=("lsp", "--indexing-mode", "none", "--threads", "2"),
        options={"pyrefly": {"displayTypeErrors": "force-on"}},
    )


def claims(said: Sequence[Diagnostic], tree: ast.Module) -> Iterator[Claim]:
    """Yield what Pyrefly claims of a tree."""
    syntax = Syntax(tree)
    for each in said:
        claim: Claim | None
        match each.code:
            case "missing-attribute" | "missing-module-attribute":
                claim = _absent(each, syntax)
            case "unexpected-keyword" | "bad-argument-count" | "missing-argument":
                claim = _argument(each, syntax)
            case "no-matching-overload":
                claim = _of_overloads(each, syntax)
            case "missing-import":
                found = _NO_MODULE.match(each.message)
                node = syntax.imported(each, found[1]) if found is not None else None
                claim = ImportClaim(each, node, found[1]) if found and node is not None else None
            case "not-callable":
                claim = _absent_by_getattr(each, syntax)
            case _:
                claim = _choice(each, syntax)
        if claim is not None:
            yield claim


def _absent(said: Diagnostic, syntax: Syntax) -> Claim | None:
    if found := (_NO_MEMBER.match(said.message) or _NO_IMPORT.match(said.message)):
        name, module = found.groups()
        node = syntax.taken_over(said, name)
        return ModuleClaim(said, node, name, module) if node is not None else None
    found = _ABSENT.match(said.message)
    if found is None:
        return None
    kind, title, name = found.groups()
    if title.count(" | ") >= _MOST_KINDS:
        return None  # What may be anything is annotated loosely.
    member = syntax.member(said, name)
    is_class = kind == "Class"
    return MemberClaim(said, member, name, title, is_class=is_class) if member is not None else None


def _absent_by_getattr(said: Diagnostic, syntax: Syntax) -> Claim | None:
    """Return the member that is called, where it is no function: its class answers for any name."""
    if not _NOT_CALLABLE.match(said.message):
        return None
    for node in syntax.at(said):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return MemberClaim(said, node.func, node.func.attr, "")
    return None


def _argument(said: Diagnostic, syntax: Syntax) -> Claim | None:
    if found := _KEYWORD.match(said.message):
        for node in syntax.at(said):
            call = syntax.given_to(node)
            if isinstance(node, ast.keyword) and node.arg == found[1] and call is not None:
                return ArgumentClaim(said, call, keyword=found[1], callee=found[2])
        return None
    if found := _TOO_MANY.match(said.message):
        most, given, callee = found.groups()
        calls = (syntax.given_to(node) for node in syntax.at(said))
        call = next((each for each in calls if each is not None), None)
        reason = too_many(most, given)
        return ArgumentClaim(said, call, reason=reason, callee=callee or "") if call else None
    if found := _NOT_GIVEN.match(said.message):
        call, callee = syntax.called_with(said), found[2]
        return (
            ArgumentClaim(said, call, reason=f"needs {found[1]}", callee=callee) if call else None
        )
    return None


def _of_overloads(said: Diagnostic, syntax: Syntax) -> Claim | None:
    """Return the text or keyword that the nearest of several forms does not take."""
    call = syntax.called_with(said)
    if call is not None and (closest := _CLOSEST.search(said.message)):
        offered = _of_all_forms(said.message, closest[2]) or choices(closest[2])
        given = (*call.args, *(each.value for each in call.keywords))
        texts = (e for e in given if isinstance(e, ast.Constant) and e.value == closest[1])
        node = next(texts, None)
        # It is named with what is given and with what is wrong: else another form takes it.
        is_of_other = said.message.count(f"Literal['{closest[1]}']") > 2
        if node is None or len(offered) < 2 or is_of_other:
            return None
        return ChoiceClaim(said, node, closest[1], offered, closest[3], call)
    found, wrong = _OVERLOADED.match(said.message), _KEYWORD.search(said.message)
    call = call if wrong is not None else None
    if call is None or found is None:
        return None
    return ArgumentClaim(said, call, overloaded=True, callee=found[1])


def _of_all_forms(message: str, closest: str) -> tuple[str, ...]:
    """Return the texts that a parameter takes, where each form has a set of its own for it."""
    told = _PARAMETER.search(message)
    sets = re.findall(rf"\b{told[1]}: ([^,)]*Literal\[[^\]]*\])", message) if told else []
    forms = [each for each in message.split("\n") if each.startswith("    (")]
    if not len(sets) == len(forms) > 1 or not all(map(choices, sets)):
        return ()
    return tuple(dict.fromkeys(each for one in (closest, *sets) for each in choices(one)))


def _choice(said: Diagnostic, syntax: Syntax) -> Claim | None:
    if said.code == "bad-typed-dict-key" and (found := _NO_KEY.match(said.message)):
        key = found[1] or found[2]
        node = syntax.text(said, key)
        return ChoiceClaim(said, node, key, ()) if node is not None else None
    found = _LITERAL.match(said.message) if said.code == "bad-argument-type" else None
    if found is None:
        return None
    node, offered = syntax.text(said, found[1]), choices(found[2])
    if node is None or not offered:
        return None
    return ChoiceClaim(said, node, found[1], offered, found[3])
