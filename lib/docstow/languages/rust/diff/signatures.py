"""Signatures taken apart, so that two of them can be compared by what they mean.

This room knows the text of the reader's headers and nothing of versions. Layout, names of
arguments and generic parameters, where bounds are written, and ``impl Trait`` against a generic
parameter make no difference here; what is left compares equal exactly if users see no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

# The text of types and declarations


_ONE = r"'(?!static\b)\w+"


_ERASED = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bfor<[^<>]*> ", ""),
        (rf" \+ {_ONE}", ""),
        (rf"(?<=[:n] ){_ONE} \+ ", ""),
        (rf": {_ONE}(?=[,>)\s=]|$)", ""),
        (rf"&{_ONE} ", "&"),
        (rf"<{_ONE}>", ""),
        (rf"(?<=[<(,\s]){_ONE}, ", ""),
        (rf", {_ONE}(?=>)", ""),
        (rf"<{_ONE}>", ""),
    )
]


"""What to cut, in this order, for a text without lifetimes."""


_DYN = re.compile(r"\bdyn ([^,()<>;=]+(?: \+ [^,()<>;=]+)*)(?=[,)>;]|$)")


_QUALIFIER = re.compile(r"(?<![\w:>])(?:[a-z_]\w*::)+(?=[A-Za-z_])")


CONVERSION = re.compile(r"(Try)?From<(.+)>")


_OPEN, _CLOSE = "<([{", ">)]}"


def plain(text: str, owner: str = "") -> str:
    """A type in the one form that :func:`parse` would give it, lifetimes left out."""
    return as_self(unqualified(without_defaults(erase_lifetimes(" ".join(text.split())))), owner)


def brief(signature: str) -> str:
    """A signature on one line, without the body that lists members."""
    text = " ".join(signature.split())
    body = find(text, " {") if re.match(r"pub .*?(?:struct|enum|union|trait) ", text) else -1
    return text[:body] if body >= 0 else text


def shape(signature: str) -> tuple[str, bool]:
    """How a struct is built (``unit``, ``tuple``, ``braces``), and whether it has private parts."""
    text = signature
    opening = find(text, "{")
    if opening >= 0:
        body = text[opening:]
        return "braces", "fields are private" in body or "/* private fields */" in body
    opening = find(text, "(")
    if opening < 0:
        return "unit", False
    inside = text[opening + 1 : closing(text, opening)]
    # Old formats show nothing where all is private.
    return "tuple", not inside or "private" in inside or "_" in split(inside)


def without_defaults(text: str) -> str:
    """Modules, and arguments that may be left out, are left out.

    Old formats write out defaults of the standard library's parameters; ``Result<T>`` is what
    most crates, and ``std::io``, call a result with their own ``Error``.
    """
    text = _QUALIFIER.sub("", text)
    for default in ("Global", "RandomState", "Error"):
        text = text.replace(f", {default}>", ">")
    return _DYN.sub(_sorted_dyn, text)


def erase_lifetimes(text: str) -> str:
    """The text without lifetimes other than ``'static``."""
    for pattern, replacement in _ERASED:
        text = pattern.sub(replacement, text)
    return text


def unqualified(text: str) -> str:
    """``<T as Trait>::Name`` as ``T::Name``; both are written, by format and by taste."""
    at = 0
    while (at := text.find("<", at)) >= 0:
        end = closing(text, at)
        cut = find(text[at + 1 : end], " as ")
        if cut >= 0 and text.startswith("::", end + 1):
            subject, trait = text[at + 1 : at + 1 + cut], text[at + 5 + cut : end]
            converted = CONVERSION.fullmatch(trait)
            text = text[:at] + (converted[2] if converted else subject) + text[end + 1 :]
        else:
            at += 1
    return text


def as_self(text: str, owner: str) -> str:
    """``Owner`` and ``Owner<T>`` with plain parameters as ``Self``."""
    if not owner:
        return text
    return re.sub(
        rf"(?<![\w:]){re.escape(owner)}(?!\w)(?:<[A-Z][A-Z0-9]?(?:, [A-Z][A-Z0-9]?)*>)?",
        "Self",
        text,
    )


def sorted_bounds(text: str) -> str:
    """Bounds of an opaque or dynamic type in one order."""
    for word in ("impl ", "dyn "):
        if text.startswith(word):
            return word + " + ".join(sorted(split(text[len(word) :], " + ")))
    return text


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of a list, brackets respected."""
    parts, begin = [], 0
    for at in _outside(text):
        if text.startswith(separator, at):
            parts.append(text[begin:at].strip())
            begin = at + len(separator)
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


def find(text: str, wanted: str) -> int:
    """Where a text stands outside all brackets; -1 if nowhere."""
    return next((at for at in _outside(text) if text.startswith(wanted, at)), -1)


def closing(text: str, opening: int) -> int:
    """Where the bracket that opens there is closed."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] in _OPEN:
            depth += 1
        elif text[at] in _CLOSE and not (text[at] == ">" and text[at - 1] in "-="):
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def end_of_bounds(text: str, begin: int) -> int:
    """Where the bounds that begin there end: at a comma or a bracket that they did not open."""
    depth = 0
    for at in range(begin, len(text)):
        if text[at] in _OPEN:
            depth += 1
        elif text[at] in _CLOSE and not (text[at] == ">" and text[at - 1] in "-="):
            depth -= 1
        if depth < 0 or (depth == 0 and text[at] == ","):
            return at
    return len(text)


def _sorted_dyn(found: re.Match[str]) -> str:
    """The bounds of a trait object in one order, without the lifetime it mostly has anyway."""
    return "dyn " + " + ".join(sorted({*found[1].split(" + ")} - {"'static"}))


def _outside(text: str) -> Iterator[int]:
    """The positions outside all brackets, those of opening brackets included."""
    depth = 0
    for at, each in enumerate(text):
        if each in _CLOSE and not (each == ">" and at and text[at - 1] in "-="):
            depth -= 1
        elif depth == 0:
            yield at
        if each in _OPEN:
            depth += 1


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
