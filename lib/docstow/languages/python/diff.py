"""How two versions of a Python package are compared: by documents and, where at hand, sources.

Griffe reads sources without running them: what cannot be read is left out.
"""

from __future__ import annotations

import ast
import builtins
import enum
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from docstow.core.errors import DocstowError, UnreadableInput
from docstow.core.model import Document
from docstow.languages.python.source.functions import parameters
from docstow.languages.python.source.syntax import Function
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.diff import PackageChange, is_there
from docstow.languages.shared.language import Comparing
from docstow.text import python_ast
from docstow.text.python_ast import try_parse_expression, try_parse_module

if TYPE_CHECKING:
    import griffe

#: Rules of which documents tell more than sources.
_LEFT_TO_DOCUMENTS = ("class-removed-base", "object-changed-kind")
#: How griffe shows a parameter: ``[positional-only] name: type``.
_SHOWN_PARAMETER = re.compile(r"\[[^\]]*\] (\w+)")
_UNREAD = (
    "only the documents of both versions were at hand; where their files are, installed or in a "
    "registry, their sources are compared as well"
)
#: Rules about parameters that only the newer version has.
_OF_NEW = frozenset({"parameter-added-required", "parameter-now-required"})
#: Bases without members of their own.
_MARKERS = frozenset({"Generic", "Protocol", "ABC", "object"})
_RECEIVERS = frozenset({"self", "cls", "mcs"})
_TYPING = frozenset({"t", "te", "typing", "typing_extensions", "collections", "abc", "cabc"})
_BUILTIN_TYPES = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Type": "type"}
_LONGEST_VALUE = 200
#: All sources of one version together.
_MOST_BYTES = 64 * 1024 * 1024


def _signature_changes(
    old: Document, new_kind: str, before: str, after: str
) -> Iterator[PackageChange]:
    """Yield what a changed signature breaks, a rule each."""
    del new_kind
    broken = _broken_rules(before, after)
    for rule in sorted(broken):
        names = ", ".join(sorted(broken[rule]))
        of_new = rule in _OF_NEW
        was = f"{names}: {before}" if names and not of_new else before
        now = f"{names}: {after}" if names and of_new else after
        yield PackageChange(old.path, old.kind, rule, was, now)
    if not broken:
        yield PackageChange(old.path, old.kind, "signature-changed", before, after)


def _source_changes(
    import_names: Sequence[str],
    old_root: Path,
    new_root: Path,
    old: Sequence[Document],
    new: Sequence[Document],
) -> list[PackageChange] | None:
    """Return what griffe finds of public items; None where sources cannot be read."""
    found: list[Breakage] = []
    try:
        for name in import_names:
            found += breaking_changes(name, old_root, new_root)
    except DocstowError:
        return None
    return _public(found, old, new)


def _public(
    breakages: Iterable[Breakage], old: Sequence[Document], new: Sequence[Document]
) -> list[PackageChange]:
    """Return those of public items, under the paths that users write; one of each rule for an item.

    What documents tell better is left out: kinds, bases, names that are there by another way.
    """
    was, now = ({each.path: each for each in side} for side in (old, new))
    known = {**now, **was}
    targets = {str(each.attributes.get("target")): each for each in known.values()}
    found: dict[tuple[str, str], list[Breakage]] = {}
    for each in breakages:
        path = each.path.partition("(")[0].removesuffix(".__init__")
        document = known.get(path) or targets.get(path)
        rule = each.kind.lower().replace("_", "-")
        if document is None or rule in _LEFT_TO_DOCUMENTS:
            continue
        if rule == "object-removed" and is_there(document.path, now):
            continue
        named = _SHOWN_PARAMETER.match(each.after or each.before)
        if named is not None and _is_hidden(named[1], was.get(document.path)):
            continue
        found.setdefault((document.path, rule), []).append(each)
    return [
        PackageChange(
            path, known[path].kind, rule, _join_values(e.before for e in several),
            _join_values(e.after for e in several), found="breaking",
        )
        for (path, rule), several in found.items()
    ]  # fmt: skip


def _is_hidden(parameter: str, old: Document | None) -> bool:
    """Return whether nobody names a parameter: the object itself, or one with two underscores."""
    was = "" if old is None else f"{old.signature} {old.attributes.get('constructor', '')}"
    return parameter.lstrip("_") in {"self", "cls"} or f"__{parameter.lstrip('_')}:" in was


def _join_values(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, values)))


class _Parameter(NamedTuple):
    position: int
    kind: str
    required: bool


def _same(old: str, new: str) -> bool:
    """Return whether two declarations differ only in how their types are written."""
    return old == new or (_normalize(old) == _normalize(new) != "")


def _normalize(declaration: str) -> str:
    """Return a declaration with ``Optional[X]`` as ``X | None`` and so on; empty if unreadable."""
    bodied = re.sub(r"(?m)^((?:async )?def .*?)(?:: \.\.\.)?$", r"\1: ...", declaration.strip())
    for each in (declaration.strip(), f"{declaration.strip()}: ...", bodied):
        with suppress(RecursionError):
            if (module := try_parse_module(each)) is not None:
                return ast.unparse(_TypeNormalizer().visit(module))
    return ""


class _TypeNormalizer(ast.NodeTransformer):
    """Rewriter of types to one notation; defaults stay as they are."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if each is not None and each.annotation is not None:
                each.annotation = _normalize_type(each.annotation)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = _normalize_type(node.returns) if node.returns is not None else None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = _normalize_type(node.annotation)
        return node


def _normalize_type(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        quoted = try_parse_expression(node.value)
        return _normalize_type(quoted) if quoted is not None else node
    if isinstance(node, ast.Attribute):
        root = ast.unparse(node.value).partition(".")[0]
        node = ast.Name(node.attr) if root in _TYPING else node
    if isinstance(node, ast.Name):
        return ast.Name(_BUILTIN_TYPES.get(node.id, node.id))
    if isinstance(node, ast.Subscript):
        kind = _normalize_type(node.value)
        if isinstance(kind, ast.Name) and kind.id == "Literal":
            return ast.Subscript(kind, node.slice)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [_normalize_type(each) for each in inner]
        if isinstance(kind, ast.Name) and kind.id in ("Optional", "Union"):
            parts += [ast.Constant(None)] if kind.id == "Optional" else []
            return _union(parts)
        given = ast.Tuple(parts) if isinstance(node.slice, ast.Tuple) else parts[0]
        return ast.Subscript(kind, given)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_normalize_type(node.left), _normalize_type(node.right)])
    if isinstance(node, ast.List):
        return ast.List([_normalize_type(each) for each in node.elts])
    return node


def _union(parts: list[ast.expr]) -> ast.expr:
    """Return a union, flat and sorted."""
    members: dict[str, ast.expr] = {}
    for each in parts:
        while isinstance(each, ast.BinOp):
            members[ast.unparse(each.right)] = each.right
            each = each.left
        members[ast.unparse(each)] = each
    first, *rest = (members[key] for key in sorted(members))
    for each in rest:
        first = ast.BinOp(first, ast.BitOr(), each)
    return first


def _broken_rules(old: str, new: str) -> dict[str, set[str]]:
    """Return the rules that a changed signature breaks, each with the names concerned.

    There are none where a signature cannot be read, or has several overloads.

    Args:
        old: a declaration; of a class with its constructor in its body.
        new: the newer one.
    """
    was, now = _parse(old), _parse(new)
    broken: dict[str, set[str]] = {}
    if isinstance(was, ast.ClassDef) and isinstance(now, ast.ClassDef):
        bases = _bases(now)
        if lost := {each for each in _bases(was) - bases if not _is_implied(each, bases)}:
            broken["base-removed"] = lost
        was, now = _constructor(was), _constructor(now)
    if isinstance(was, Function) and isinstance(now, Function):
        for rule, name in _broken_parameters(was.args, now.args):
            broken.setdefault(rule, set()).add(name)
    return broken


def _parse(declaration: str) -> ast.stmt | None:
    # Of overloads only the last has a body, so that none is parsed.
    module = try_parse_module(f"{declaration.strip()}: ...")
    return module.body[0] if module is not None and len(module.body) == 1 else None


def _bases(definition: ast.ClassDef) -> set[str]:
    """Return the last names of public bases, without their type arguments."""
    found = set()
    for each in definition.bases:
        bare = each.value if isinstance(each, ast.Subscript) else each
        found.add(ast.unparse(bare).strip("'\"").partition("[")[0].rpartition(".")[2])
    return {each for each in found if not each.startswith("_")} - _MARKERS


def _is_implied(base: str, bases: set[str]) -> bool:
    """Return whether a lost base is itself a base of a remaining builtin one."""
    known = {**vars(builtins), **vars(enum)}
    above = [known[each] for each in bases if isinstance(known.get(each), type)]
    lost = known.get(base)
    return isinstance(lost, type) and any(issubclass(each, lost) for each in above)


def _constructor(definition: ast.ClassDef) -> ast.stmt | None:
    found = (each for each in definition.body if isinstance(each, ast.FunctionDef))
    return next(found, None)


def _broken_parameters(old: ast.arguments, new: ast.arguments) -> Iterator[tuple[str, str]]:
    was, now = _parameters(old), _parameters(new)
    renamed = dict(_renamed(was, now))
    for name, each in was.items():
        if name in now:
            yield from _changes(name, each, now[name])
        elif name in renamed:
            # A renamed parameter at the same position takes what is passed by position.
            if each.kind != "positional-only":
                yield "parameter-renamed", f"{name} to {renamed[name]}"
            if now[renamed[name]].required and not each.required:
                yield "parameter-now-required", renamed[name]
        else:
            takes_name = new.kwarg is not None or each.kind == "positional-only"
            takes_position = new.vararg is not None or each.kind == "keyword-only"
            if not (takes_name and takes_position):
                yield "parameter-removed", name
    for gathered, left in ((old.vararg, new.vararg), (old.kwarg, new.kwarg)):
        if gathered is not None and left is None:
            yield "parameter-removed", f"*{gathered.arg}"
    for name, added in now.items():
        if name not in was and name not in renamed.values() and added.required:
            yield "parameter-added-required", name


def _renamed(
    was: Mapping[str, _Parameter], now: Mapping[str, _Parameter]
) -> Iterator[tuple[str, str]]:
    """Yield removed parameters, each with the new one at its position."""
    by_position = {each.position: name for name, each in now.items() if each.position >= 0}
    for name, each in was.items():
        other = by_position.get(each.position, "")
        if name in now or not other or other in was:
            continue
        # An optional parameter is as likely to have been replaced by an unrelated one.
        if each.kind == "positional-only" or each.required:
            yield name, other


def _changes(name: str, old: _Parameter, new: _Parameter) -> Iterator[tuple[str, str]]:
    if new.required and not old.required:
        yield "parameter-now-required", name
    if new.kind not in (old.kind, "positional"):
        yield "parameter-kind-changed", name
    elif "keyword-only" not in (old.kind, new.kind) and new.position != old.position:
        yield "parameter-moved", name


def _parameters(arguments: ast.arguments) -> dict[str, _Parameter]:
    found: dict[str, _Parameter] = {}
    named = (each for each in parameters(arguments) if not each.kind.startswith("var_"))
    for position, each in enumerate(named):
        if each.kind == "keyword_only":
            found[each.name] = _Parameter(-1, "keyword-only", each.required)
        elif position or each.name.lstrip("_") not in _RECEIVERS:
            # Before ``/``, two underscores meant positional-only.
            hidden = each.name.startswith("__") and not each.name.endswith("__")
            only = each.kind == "positional_only" or hidden
            kind = "positional-only" if only else "positional"
            found[each.name] = _Parameter(position, kind, each.required)
    return found


@dataclass(frozen=True, slots=True)
class Breakage:
    """A change that breaks users of a package.

    Attributes:
        path: dotted.
        kind: as griffe names it: ``parameter_removed``.
        message: one sentence.
        before: what it was; may be empty.
        after: what it is.
    """

    path: str
    kind: str
    message: str
    before: str
    after: str


def breaking_changes(name: str, old: Path, new: Path) -> list[Breakage]:
    """Return what breaks from one version of a package to another, sorted by path.

    Args:
        name: of its module.
        old: the folder of import names with the older version.
        new: the folder with the newer one.

    Raises:
        UnreadableInput: it cannot be loaded from one of them.
    """
    import griffe

    # griffe logs what it cannot resolve.
    logging.getLogger("griffe").setLevel(logging.CRITICAL)
    with TemporaryDirectory(prefix="docstow-") as scratch:
        sides = [
            _copy_sources(name, root, Path(scratch, str(at))) for at, root in enumerate((old, new))
        ]
        found = griffe.find_breaking_changes(*(_load(name, side) for side in sides))
        breakages = set(_breakages(found))
    return sorted(breakages, key=lambda each: (each.path, each.kind, each.message))


def _copy_sources(name: str, root: Path, into: Path) -> Path:
    """Copy the sources of a module to a folder, since griffe would follow links out of theirs."""
    boundary = Boundary(root)
    top = boundary.root / name
    files = [each for each in (top.with_suffix(".py"), top.with_suffix(".pyi")) if each.is_file()]
    left = _MOST_BYTES
    for path in [*files, *(boundary.walk(top) if top.is_dir() else ())]:
        if path.suffix not in (".py", ".pyi"):
            continue
        try:
            body = boundary.read(path)
        except DocstowError:
            continue
        left -= len(body)
        if left < 0:
            raise UnreadableInput(f"{name} cannot be compared: its sources are too large.")
        copy = into / path.relative_to(boundary.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(body)
    into.mkdir(exist_ok=True)
    return into


def _load(name: str, real: Path) -> griffe.Object | griffe.Alias:
    import griffe

    class Loader(griffe.GriffeLoader):
        """A loader that parses each module while no other thread parses."""

        def _visit_module(self, *args: Any, **named: Any) -> griffe.Module:
            with python_ast.parser_lock():
                return super()._visit_module(*args, **named)

    loader = Loader(
        search_paths=[real], allow_inspection=False, force_inspection=False, store_source=False
    )
    # Path files lead to folders elsewhere.
    loader.finder.search_paths = [real]
    try:
        loaded = loader.load(name, try_relative_path=False)
        loader.resolve_aliases(implicit=False, external=False)
    except (griffe.GriffeError, ImportError, SyntaxError, RecursionError, OSError) as error:
        raise UnreadableInput(f"{name} cannot be compared: it cannot be loaded.") from error
    return loaded


def _breakages(found: Iterator[griffe.Breakage]) -> Iterator[Breakage]:
    for each in found:
        change = each.as_dict(full=False)
        yield Breakage(
            path=str(change["object_path"]),
            kind=each.kind.name,
            message=each.kind.value,
            before=_format_value(change["old_value"]),
            after=_format_value(change["new_value"]),
        )


def _format_value(value: object) -> str:
    """Return an object's path, or the text of any other value; empty for None."""
    if value is None:
        return ""
    path = getattr(value, "path", None)
    return path if isinstance(path, str) else str(value)[:_LONGEST_VALUE]


COMPARING = Comparing(
    same=_same,
    changes=_signature_changes,
    sources=_source_changes,
    notice_unread=_UNREAD,
)
