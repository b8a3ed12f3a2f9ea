"""Front matter: what a Markdown file says of itself before its text, in YAML, TOML or JSON.

This room knows the few fields that docstow keeps: title, description, tags, language. Of YAML it
knows no more than these need (scalars, lists of scalars, block texts, at the top level), which
leaves no anchors to expand and no types to construct.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = re.compile(r"([A-Za-z_][\w-]{0,60})[ \t]*:(?:[ \t]+(.*))?$")
_LONGEST = 64 * 1024
_MOST_TAGS = 50


def split(text: str) -> tuple[dict[str, Any], str]:
    """Part a file's front matter from its text.

    Returns:
        ``title``, ``description``, ``tags`` (a list) and ``language``, where given, and the text
        that remains. Front matter that cannot be read is left out all the same.
    """
    first, _, rest = text.partition("\n")
    closing = _FENCES.get(first.rstrip())
    if closing is None:
        return _json(text) if first.rstrip() == "{" else ({}, text)
    lines = rest[:_LONGEST].split("\n")
    for number, line in enumerate(lines):
        if line.rstrip() in closing:
            head = "\n".join(lines[:number])
            if first.startswith("-") and not _is_yaml(lines[:number]):
                return {}, text
            read = _toml(head) if first.startswith("+") else _yaml(lines[:number])
            return kept(read), rest[len(head) + (number > 0) + len(line) :].lstrip("\n")
    return {}, text


def kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Of all fields those that docstow keeps, as text."""
    found: dict[str, Any] = {}
    for name, keys in (
        ("title", ("title",)),
        ("description", ("description", "summary")),
        ("language", ("language", "lang")),
    ):
        for key in keys:
            value = fields.get(key)
            if isinstance(value, str | int | float) and str(value).strip():
                found.setdefault(name, " ".join(str(value).split())[:1000])
    tags = fields.get("tags", fields.get("keywords"))
    if isinstance(tags, str):
        tags = tags.split(",")
    if isinstance(tags, list):
        words = [str(tag).strip() for tag in tags if isinstance(tag, str | int | float)]
        if any(words):
            found["tags"] = [word[:100] for word in words if word][:_MOST_TAGS]
    return found


def _is_yaml(lines: list[str]) -> bool:
    """Whether these lines can be front matter: a file may also begin with a rule."""
    return any(_KEY.match(line) for line in lines) or not any(line.strip() for line in lines)


def _toml(head: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(head)
    except (ValueError, RecursionError):
        return {}


def _json(text: str) -> tuple[dict[str, Any], str]:
    try:
        fields, end = json.JSONDecoder().raw_decode(text[:_LONGEST])
    except (ValueError, RecursionError):
        return {}, text
    return kept(fields), text[end:].lstrip("\n")


def _yaml(lines: list[str]) -> Mapping[str, Any]:
    fields: dict[str, Any] = {}
    at = 0
    while at < len(lines):
        match = _KEY.match(lines[at])
        at += 1
        if match is None:
            continue
        start = at
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t-"):
            at += 1
        fields[match[1]] = _value((match[2] or "").strip(), lines[start:at])
    return fields


def _value(inline: str, below: list[str]) -> Any:
    """The value of a key, from what stands behind it and below it."""
    if inline.startswith("[") and (whole := " ".join([inline, *map(str.strip, below)])):
        return [_scalar(part) for part in whole.strip("[] ").split(",")]
    if inline and inline[0] in "|>":
        return " ".join(line.strip() for line in below)
    items = [line.strip() for line in below if line.strip()]
    if not inline and items and all(item.startswith("-") for item in items):
        return [_scalar(item[1:]) for item in items]
    return _scalar(" ".join([inline, *items]))


def _scalar(text: str) -> str:
    text = text.strip()
    if text[:1] in {'"', "'"}:
        quote = text[0]
        end = text.rfind(quote)
        if end > 0:
            return text[1:end].replace("\\" + quote, quote).replace(quote * 2, quote)
    return text.partition(" #")[0].strip()
