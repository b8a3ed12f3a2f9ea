"""Front matter of Markdown files in YAML, TOML or JSON: title, description, tags, language.

The parser of YAML supports scalars, lists of scalars and block texts at the top level, so there are
no anchors to expand and no types to construct.
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
    """Split a file into front matter and text.

    Returns:
        ``title``, ``description``, ``tags`` (a list) and ``language``, where given, and the text
        without front matter. Invalid front matter is removed too.
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
            return known_fields(read), rest[len(head) + (number > 0) + len(line) :].lstrip("\n")
    return {}, text


def known_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that docstow keeps, as text."""
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
        names = [str(tag).strip() for tag in tags if isinstance(tag, str | int | float)]
        if any(names):
            found["tags"] = [name[:100] for name in names if name][:_MOST_TAGS]
    return found


def _is_yaml(lines: list[str]) -> bool:
    """Return whether lines can be front matter: a file may also begin with a rule."""
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
    return known_fields(fields), text[end:].lstrip("\n")


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
    """Return the value of a key from the text after it and the lines below."""
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
