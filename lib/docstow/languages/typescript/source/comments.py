"""Documentation comments (JSDoc, TSDoc) as Markdown, with what they say of deprecation."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
_TAG = re.compile(r"^@(\w+)[ \t]*(.*)$")
_LINK = re.compile(r"\{@link(?:code|plain)?\s+([^}|\s]+)\s*\|?\s*([^}]*)\}")
_PARAMETER = re.compile(r"^(?:\{[^}]*\}\s*)?(\[[^\]]*\]|[\w$.]+)\s*-?\s*(.*)$", re.DOTALL)
_CAPTION = re.compile(r"<caption>(.*?)</caption>\s*")
_TITLES = {
    "returns": "Returns",
    "return": "Returns",
    "throws": "Throws",
    "see": "See",
    "since": "Since",
}


@dataclass(frozen=True, slots=True)
class Comment:
    """A documentation comment.

    Attributes:
        text: as Markdown, examples included as fenced blocks.
        deprecated: why; ``deprecated`` where no reason is given; empty otherwise.
    """

    text: str = ""
    deprecated: str = ""


def parse_comment(comment: str) -> Comment:
    """Parse a comment as it is written, with its signs."""
    if not comment.startswith("/**"):
        return Comment()
    inner = comment.removeprefix("/**").removesuffix("*/")
    sections: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in _MARGIN.sub("", inner).strip().splitlines():
        found = None if fenced else _TAG.match(line.strip())
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if found:
            sections.append((found[1], [found[2]] if found[2] else []))
        else:
            sections[-1][1].append(line.rstrip())
    deprecated = ""
    parts: list[str] = []
    for tag, lines in sections:
        text = _LINK.sub(_render_link, "\n".join(lines)).strip()
        if tag == "deprecated":
            deprecated = " ".join(text.split()) or "deprecated"
        part = _render_section(tag, text)
        if parts and part.startswith("- `") and parts[-1].startswith("- `"):
            # Parameters that follow each other make one list.
            parts[-1] += "\n" + part
        elif part:
            parts.append(part)
    return Comment("\n\n".join(parts), deprecated)


def _render_section(tag: str, text: str) -> str:
    if not tag or tag in ("description", "summary", "remarks"):
        return text
    if tag == "example" and text:
        return _render_example(text)
    if tag == "deprecated":
        return f"**Deprecated** {text}".rstrip()
    if tag in ("param", "arg", "argument"):
        found = _PARAMETER.match(text)
        return f"- `{found[1]}`: {' '.join(found[2].split())}".rstrip(" :") if found else ""
    title = _TITLES.get(tag)
    return f"{title}: {text}" if title and text else ""


def _render_example(text: str) -> str:
    caption = _CAPTION.match(text)
    head = f"Example: {caption[1]}" if caption else "Example:"
    code = text[caption.end() :] if caption else text
    return f"{head}\n\n{code}" if "```" in code else f"{head}\n\n```ts\n{code}\n```"


def _render_link(found: re.Match[str]) -> str:
    target, label = found[1], found[2].strip()
    if target.startswith(("http:", "https:")):
        return f"[{label or target}]({target})"
    return f"`{label or target}`"
