"""Facts about an item that its attributes and its span state."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Item

_MUST_USE = re.compile(
    r'#\[must_use(?:\s*=\s*"((?:[^"\\]|\\.)*)")?\]|MustUse(?: \{reason: "(.*)"\})?'
)
_OLD_STABILITY = re.compile(r'#\[(stable|unstable)\(.*?feature = "([^"]*)"', re.DOTALL)
_OLD_SINCE = re.compile(r'since = "([^"]*)"')
_STABILITY = re.compile(
    r"Stability \{stability: Stability \{level: (Stable|Unstable)(.*?)\},\s*feature: \"([^\"]*)\"",
    re.DOTALL,
)
_SINCE = re.compile(r"major: (\d+), minor: (\d+), patch: (\d+)")
_SOURCE = re.compile(r"\s*#!?\[\s*(?:(doc)\s*\(\s*)?cfg\s*\((.*)\)\s*\]\s*\Z", re.DOTALL)
_TRACE = re.compile(r"CfgTrace\((.*)\)\]\Z", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<op>all|any|not)\s*\(
      | (?P<name>\w+)\s*=\s*"(?P<value>[^"]*)"
      | (?P<flag>\w+)
      | (?P<close>\))
      | ,
    )""",
    re.VERBOSE,
)
_TRACE_TOKEN = re.compile(
    r"""
        (?P<op>All|Any|Not)\(
      | NameValue\s\{\s*name:\s"(?P<name>[^"]*)",\s*value:\s(?:None|Some\("(?P<value>[^"]*)"\))
        [^}]*\}
      | (?P<close>,?\s[^,\[\]{}]*\(\#\d+\)\))
    """,
    re.VERBOSE,
)
_ONLY_IN_DOCS = frozenset({"docsrs", "doc", "doctest", "rustdoc", "test", "loom", "miri", "true"})


class _Span(msgspec.Struct):
    filename: str
    begin: tuple[int, int]


_span = msgspec.json.Decoder(_Span | None)


def attribute_texts(attributes: Iterable[str | dict[str, Any]]) -> list[str]:
    """Return the attributes that are text, and the text of those that are ``other``."""
    texts = (each if isinstance(each, str) else each.get("other") for each in attributes)
    return [each for each in texts if isinstance(each, str)]


def item_facts(file: RustdocFile, item: Item) -> dict[str, Any]:
    """Return the document attributes that come from an item's own attributes and span."""
    found: dict[str, Any] = {}
    if item.deprecation is not None:
        found["deprecated"] = msgspec.structs.asdict(item.deprecation)
    if bytes(item.attrs) != b"[]":
        for each in file.attrs(item):
            _add(found, each)
    if item.stability is not None:
        found["stability"] = _level(item.stability)
    span = _span.decode(item.span)
    if span is not None:
        found["source"] = f"{span.filename}:{span.begin[0]}"
    return found


def _add(found: dict[str, Any], attribute: str | dict[str, Any]) -> None:
    if isinstance(attribute, dict):
        if "must_use" in attribute:
            found["must_use"] = (attribute["must_use"] or {}).get("reason") or True
            return
        if "repr" in attribute:
            found["repr"] = _representation(attribute["repr"])
            return
        attribute = str(attribute.get("other", ""))
    if attribute.startswith("#[repr("):
        found["repr"] = attribute.removeprefix("#[repr(").removesuffix(")]")
        return
    if attribute in {"non_exhaustive", "#[non_exhaustive]", '#[attr = "NonExhaustive"]'}:
        found["non_exhaustive"] = True
    elif "must_use" in attribute or "MustUse" in attribute:
        if must_use := _MUST_USE.match(attribute.removeprefix("#[attr = ")):
            found["must_use"] = must_use[1] or must_use[2] or True
    elif "table(" in attribute or "Stability {" in attribute:
        stability = _printed_stability(attribute)
        if stability:
            found["stability"] = stability


def _representation(stated: dict[str, Any]) -> str:
    """Return what stands in ``repr(…)``."""
    kind = stated.get("kind", "rust")
    words = [{"c": "C"}.get(kind, kind)] if kind != "rust" else []
    words += [stated["int"]] if stated.get("int") else []
    words += [f"{each}({stated[each]})" for each in ("align", "packed") if stated.get(each)]
    return ", ".join(words) or "Rust"


def _printed_stability(text: str) -> dict[str, str]:
    """Return the stability before format 58, which stated it as an attribute."""
    if found := _OLD_STABILITY.match(text):
        since = _OLD_SINCE.search(text)
        return _without_empty(found[1], found[2], since[1] if since else "")
    if found := _STABILITY.search(text):
        since = _SINCE.search(found[2])
        return _without_empty(found[1].lower(), found[3], ".".join(since.groups()) if since else "")
    return {}


def _level(stability: dict[str, Any]) -> dict[str, str]:
    """Return the stability of formats 58 to 60 (``level`` a word) and 61 (an object)."""
    level, since = stability.get("level", ""), stability.get("since")
    if isinstance(level, dict):
        ((level, detail),) = level.items()
        since = detail.get("since") if isinstance(detail, dict) else None
    return _without_empty(str(level), str(stability.get("feature") or ""), str(since or ""))


def _without_empty(level: str, feature: str, since: str) -> dict[str, str]:
    values = {"level": level, "feature": feature, "since": since}
    return {key: value for key, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class Cfg:
    """A predicate: ``op`` is ``all``, ``any`` or ``not`` over ``parts``, or empty for a leaf."""

    op: str = ""
    name: str = ""
    value: str | None = None
    parts: tuple[Cfg, ...] = ()

    def __str__(self) -> str:
        """Return the predicate in Rust's own syntax."""
        if self.op:
            return f"{self.op}({', '.join(map(str, self.parts))})"
        return self.name if self.value is None else f'{self.name} = "{self.value}"'

    def features(self) -> list[str]:
        """Return the features that are needed without any choice, in order."""
        if self.op == "all":
            return [name for part in self.parts for name in part.features()]
        return [self.value] if self.name == "feature" and self.value is not None else []


def from_attributes(attributes: Iterable[str]) -> tuple[Cfg, ...]:
    """Return the conditions that one item's attributes state.

    ``doc(cfg(…))`` replaces the plain ``cfg``s, as in rustdoc.
    """
    written: list[Cfg] = []
    plain: list[Cfg] = []
    for text in attributes:
        if "cfg" not in text and "CfgTrace" not in text:
            continue
        if found := _SOURCE.match(text):
            (written if found[1] else plain).extend(_parse(_TOKEN, found[2]))
        elif found := _TRACE.search(text):
            plain.extend(_parse(_TRACE_TOKEN, found[1]))
    kept = (_simplify(each) for each in written or plain)
    return tuple(each for each in kept if each is not None)


def combine(conditions: Iterable[Cfg]) -> Cfg | None:
    """Combine conditions to one that names each once; None when there are none."""
    flat: dict[Cfg, None] = {}
    for each in conditions:
        flat.update(dict.fromkeys(each.parts if each.op == "all" else (each,)))
    if not flat:
        return None
    return Cfg("all", parts=tuple(flat)) if len(flat) > 1 else next(iter(flat))


def _parse(token: re.Pattern[str], text: str) -> list[Cfg]:
    """Parse predicates; both grammars have the same tokens, and brackets nest in both."""
    stack: list[tuple[str, list[Cfg]]] = [("", [])]
    for found in token.finditer(text):
        groups = found.groupdict()
        if groups["op"]:
            stack.append((groups["op"].lower(), []))
        elif groups["close"]:
            if len(stack) > 1:
                op, parts = stack.pop()
                stack[-1][1].append(Cfg(op, parts=tuple(parts)))
        elif groups["name"]:
            stack[-1][1].append(Cfg(name=groups["name"], value=groups["value"]))
        elif groups.get("flag"):
            stack[-1][1].append(Cfg(name=groups["flag"]))
    return stack[0][1]


def _simplify(cfg: Cfg) -> Cfg | None:
    """Drop what only says that documentation or tests are being built; None if nothing stays."""
    if not cfg.op:
        return None if cfg.value is None and cfg.name in _ONLY_IN_DOCS else cfg
    parts = [part for each in cfg.parts if (part := _simplify(each)) is not None]
    if not parts:
        return None
    if cfg.op == "not":
        return Cfg("not", parts=tuple(parts)) if len(parts) == len(cfg.parts) else None
    return parts[0] if len(parts) == 1 else Cfg(cfg.op, parts=tuple(parts))
