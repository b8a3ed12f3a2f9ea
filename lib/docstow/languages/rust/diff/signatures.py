"""Signatures taken apart, so that two of them can be compared by what they mean.

This room knows the text of the reader's headers and nothing of versions. Layout, names of
arguments and generic parameters, where bounds are written, and ``impl Trait`` against a generic
parameter make no difference here; what is left compares equal exactly if users see no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from docstow.languages.rust.diff.signatures__diff_spelling import (
    CONVERSION,
    as_self,
    closing,
    end_of_bounds,
    erase_lifetimes,
    find,
    sorted_bounds,
    split,
    unqualified,
    without_defaults,
)

_HEAD = re.compile(
    r"^(?:pub )?(?P<words>(?:(?:const|async|unsafe|auto|extern \"[^\"]*\") )*)"
    r"(?P<keyword>fn|struct|enum|union|trait|type|const|static) (?P<mut>mut )?(?P<name>[\w#]+)"
)
_WORD = re.compile(r'extern "[^"]*"|\w+')
_NAME = re.compile(r"(?<![\w':])(?:'\w+|[A-Za-z_§]\w*)(?!\w)(?!\s*=(?!=))")
_SIZED = frozenset({"Sized", "Default", "Clone", "Copy"})
"""Bounds beside which ``?Sized`` says nothing."""


@dataclass(frozen=True, slots=True)
class Param:
    """A generic parameter of a declaration; ``kind`` is lifetime, type or const."""

    kind: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """A declaration.

    Attributes:
        keyword: ``fn``, ``struct``, ``impl`` and so on; empty if it could not be taken apart.
        words: qualifiers such as ``const``, ``unsafe``, ``extern "C"``, ``mut``.
        params: as declared, without those that stand for ``impl Trait``.
        bounds: every bounded type with its bounds, wherever they were written.
        inputs: types of the arguments, receivers in their short form.
        output: of a function; else what is declared: a type, a trait with its type, a shape.
        value: of a constant.
        supers: supertraits, or bounds of an associated type.
        implicit: how many arguments are ``impl Trait``.
    """

    keyword: str
    words: frozenset[str] = frozenset()
    params: tuple[Param, ...] = ()
    bounds: tuple[tuple[str, frozenset[str]], ...] = ()
    inputs: tuple[str, ...] = ()
    output: str = ""
    value: str = ""
    supers: frozenset[str] = frozenset()
    implicit: int = 0


@dataclass(slots=True)
class _Parts:
    """A declaration in the making, its names not yet replaced."""

    keyword: str
    words: frozenset[str]
    generics: list[str]
    inputs: list[str]
    output: str
    value: str
    supers: list[str]
    predicates: list[str]
    implicit: int = 0


def parse(signature: str, owner: str = "", *, lifetimes: bool = False) -> Header:
    """Take a signature apart.

    Args:
        signature: as the reader writes it, one declaration.
        owner: name of the type that it is a member of, which is the same as ``Self``.
        lifetimes: keep lifetimes; else they are left out, except ``'static``.
    """
    text = " ".join(signature.split())
    text = re.sub(r"& ?'_ ", "&", text).replace("<'_>", "").replace("<'_, ", "<")
    text = without_defaults(text)
    if not lifetimes:
        text = erase_lifetimes(text)
    parts = _impl(text) if re.match(r"(?:unsafe )?impl\b", text) else _declaration(text)
    if parts is None:
        return Header("", output=text)
    return _canonical(parts, owner)


def _generics(text: str) -> tuple[list[str], str]:
    """The parameters at the beginning of a text, and what follows."""
    if not text.startswith("<"):
        return [], text
    end = closing(text, 0)
    return split(text[1:end]), text[end + 1 :]


def _where(text: str) -> tuple[str, list[str]]:
    """What stands before the where clause, and its predicates."""
    at = find(text, " where ")
    if at < 0:
        return text, []
    return text[:at], split(text[at + 7 :])


def _declaration(text: str) -> _Parts | None:
    found = _HEAD.match(text)
    if found is None:
        return None
    keyword = found["keyword"]
    words = _WORD.findall(found["words"]) + (["mut"] if found["mut"] else [])
    generics, rest = _generics(text[found.end() :])
    parts = _Parts(keyword, frozenset(words), generics, [], "", "", [], [])
    if keyword in {"struct", "enum", "union", "trait"}:
        body = find(rest, "{")
        rest = (rest[:body] if body >= 0 else rest).rstrip("; ")
    rest = rest.rstrip(";")
    if keyword == "type":
        return _type(parts, rest)
    rest, parts.predicates = _where(rest)
    if keyword == "fn":
        end = closing(rest, 0)
        parts.inputs = [_argument(each) for each in split(rest[1:end])]
        parts.output = rest[end + 1 :].strip().removeprefix("-> ") or "()"
    elif keyword == "trait":
        parts.supers = split(rest.strip().removeprefix(":"), " + ")
    elif keyword in {"const", "static"}:
        parts.output, _, value = rest.removeprefix(": ").partition(" = ")
        parts.value = "" if value == "_" else value
    return parts


def _type(parts: _Parts, rest: str) -> _Parts:
    """An alias, whose where clause stands before ``=``, or an associated type."""
    at = find(rest, " = ")
    head, target = (rest[:at], rest[at + 3 :]) if at >= 0 else (rest, "")
    head, before = _where(head)
    parts.output, after = _where(target)
    parts.predicates = before + after
    parts.supers = split(head.strip().removeprefix(":"), " + ")
    return parts


def _impl(text: str) -> _Parts | None:
    words = {"unsafe"} if text.startswith("unsafe ") else set[str]()
    generics, rest = _generics(text.removeprefix("unsafe ").removeprefix("impl"))
    head, predicates = _where(rest)
    trait, separator, target = head.strip().partition(" for ")
    if not separator:
        return None
    # The argument of PartialEq, Add and their like is Self unless it is given.
    trait = trait.removesuffix(f"<{target}>")
    if trait.startswith("Into<"):
        trait, target = f"From<{target}>", trait[5:-1]
    declared = f"{trait} for {target}"
    return _Parts("impl", frozenset(words), generics, [], declared, "", [], predicates)


def _argument(text: str) -> str:
    """The type of an argument; a receiver as it stands."""
    if re.fullmatch(r"(?:&(?:'\w+ )?(?:mut )?)?self", text):
        return text
    if text.startswith("self:"):
        return text
    at = find(text, ": ")
    return text[at + 2 :] if at >= 0 else text


def _opaque(parts: _Parts) -> None:
    """Give each ``impl Trait`` among the arguments a name and the bounds that it states."""
    for number, text in enumerate(parts.inputs):
        while found := re.search(r"\bimpl ", text):
            end = end_of_bounds(text, found.end())
            name = f"§{parts.implicit}"
            parts.implicit += 1
            parts.predicates.append(f"{name}: {text[found.end() : end]}")
            text = text[: found.start()] + name + text[end:]
        parts.inputs[number] = re.sub(r"\((§\d+)\)", r"\1", text)


def _canonical(parts: _Parts, owner: str) -> Header:
    if parts.keyword == "fn":
        if "async" in parts.words:
            parts.output = f"impl Future<Output = {parts.output}>"
        _opaque(parts)
    names, params, bounds = _declared(parts.generics)
    for each in parts.predicates:
        at = find(each, ": ")
        if at >= 0:
            bounds.append((each[:at], split(each[at + 2 :], " + ")))
    order = [*parts.inputs, parts.output] if parts.keyword in {"fn", "impl"} else []
    renamed = _numbered(names, order, parts.implicit)

    def plain(text: str) -> str:
        return _renamed(as_self(unqualified(text), owner), renamed)

    merged: dict[str, frozenset[str]] = {}
    for subject, bound in _conversions(bounds):
        key = plain(subject)
        merged[key] = merged.get(key, frozenset()) | {plain(bound)}
    for key, stated in merged.items():
        if stated & _SIZED:
            merged[key] = stated - {"?Sized"}
    return Header(
        parts.keyword,
        parts.words,
        tuple(Param(each.kind, plain(each.default)) for each in params),
        tuple((subject, merged[subject]) for subject in sorted(merged) if merged[subject]),
        tuple(plain(each) for each in parts.inputs),
        sorted_bounds(plain(parts.output)),
        parts.value,
        frozenset(plain(each) for each in parts.supers),
        parts.implicit,
    )


def _conversions(bounds: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, str]]:
    """Each bound with its subject; ``U: From<T>`` as ``T: Into<U>``, which it implies."""
    for written, stated in bounds:
        for subject, bound in (pair for each in stated for pair in _nested(written, each)):
            found = CONVERSION.fullmatch(bound)
            converted = (found[2], f"{found[1] or ''}Into<{subject}>") if found else None
            yield converted or (subject, bound)


def _nested(subject: str, bound: str) -> Iterator[tuple[str, str]]:
    """``I: Iterator<Item: Send>`` as ``I: Iterator`` and ``I::Item: Send``."""
    name, opening, _ = bound.partition("<")
    if not opening or "(" in name:
        yield subject, bound
        return
    end = closing(bound, len(name))
    kept = []
    for each in split(bound[len(name) + 1 : end]):
        at = find(each, ": ")
        if at < 0:
            kept.append(each)
            continue
        for inner in split(each[at + 2 :], " + "):
            yield from _nested(f"{subject}::{each[:at]}", inner)
    yield subject, name + (f"<{', '.join(kept)}>" if kept else "") + bound[end + 1 :]


def _declared(
    generics: Iterable[str],
) -> tuple[list[str], list[Param], list[tuple[str, list[str]]]]:
    names, params, bounds = [], [], []
    for each in generics:
        at = find(each, " = ")
        head, default = (each[:at], each[at + 3 :]) if at >= 0 else (each, "")
        kind = "const" if head.startswith("const ") else "type"
        kind = "lifetime" if head.startswith("'") else kind
        name, _, stated = head.removeprefix("const ").partition(":")
        names.append(name.strip())
        params.append(Param(f"const {stated.strip()}" if kind == "const" else kind, default))
        if stated and kind != "const":
            bounds.append((name.strip(), split(stated, " + ")))
    return names, params, bounds


def _numbered(names: list[str], order: list[str], implicit: int) -> dict[str, str]:
    """Numbers for generic parameters: as they first appear in ``order``, then as declared."""
    known = {*names, *(f"§{number}" for number in range(implicit))}
    seen = [found[0] for text in order for found in _NAME.finditer(text) if found[0] in known]
    ordered = list(dict.fromkeys([*seen, *names]))
    return {name: f"${number}" for number, name in enumerate(ordered)}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: names.get(found[0], found[0]), text)
