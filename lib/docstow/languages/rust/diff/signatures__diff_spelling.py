"""The text of types and declarations: brackets, lifetimes, and the many spellings of one thing.

This room knows Rust's syntax as the reader writes it. It does not know what a declaration says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
