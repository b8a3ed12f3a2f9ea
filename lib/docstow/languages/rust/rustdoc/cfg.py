"""Conditions under which an item exists: ``cfg`` and ``doc(cfg)`` in all their spellings.

They stand in the JSON as source text or as debug prints of the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
