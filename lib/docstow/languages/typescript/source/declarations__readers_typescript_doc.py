"""Documentation comments → Markdown, with what they say of deprecation and their examples.

This room knows JSDoc and TSDoc. It does not know what is documented.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
_TAG = re.compile(r"^@(\w+)[ \t]*(.*)$")
_LINK = re.compile(r"\{@link(?:code|plain)?\s+([^}|\s]+)\s*\|?\s*([^}]*)\}")
_PARAM = re.compile(r"^(?:\{[^}]*\}\s*)?(\[[^\]]*\]|[\w$.]+)\s*-?\s*(.*)$", re.DOTALL)
_TITLES = {
    "returns": "Returns",
    "return": "Returns",
    "throws": "Throws",
    "see": "See",
    "since": "Since",
    "remarks": "",
}


@dataclass(frozen=True, slots=True)
class Doc:
    """A documentation comment.

    Attributes:
        text: as Markdown, examples included as fenced blocks.
        deprecated: why; ``deprecated`` where no reason is given; empty otherwise.
        internal: whether it says that it is nobody else's.
    """

    text: str = ""
    deprecated: str = ""
    internal: bool = False


def read(comment: str) -> Doc:
    """Read a comment as it is written, with its signs."""
    if not comment.startswith("/**"):
        return Doc()
    inner = comment.removeprefix("/**").removesuffix("*/")
    lines = _LINE.sub("", inner).strip().splitlines()
    sections: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in lines:
        found = None if fenced else _TAG.match(line.strip())
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if found:
            sections.append((found[1], [found[2]] if found[2] else []))
        else:
            sections[-1][1].append(line.rstrip())
    deprecated = ""
    parts, internal = [], False
    for tag, content in sections:
        text = _LINK.sub(_linked, "\n".join(content)).strip()
        if tag == "deprecated":
            deprecated = " ".join(text.split()) or "deprecated"
        internal = internal or tag in ("internal", "private")
        parts.append(_section(tag, text))
    return Doc("\n\n".join(filter(None, _joined(parts))), deprecated, internal)


def _section(tag: str, text: str) -> str:
    if not tag or tag in ("description", "summary", "remarks"):
        return text
    if tag == "example" and text:
        return _example(text)
    if tag == "deprecated":
        return f"**Deprecated** {text}".rstrip()
    if tag in ("param", "arg", "argument"):
        found = _PARAM.match(text)
        return f"- `{found[1]}`: {' '.join(found[2].split())}".rstrip(" :") if found else ""
    title = _TITLES.get(tag)
    return f"{title}: {text}" if title and text else ""


def _example(text: str) -> str:
    caption = re.match(r"<caption>(.*?)</caption>\s*", text)
    head = f"Example: {caption[1]}" if caption else "Example:"
    code = text[caption.end() :] if caption else text
    return f"{head}\n\n{code}" if "```" in code else f"{head}\n\n```ts\n{code}\n```"


def _joined(parts: list[str]) -> list[str]:
    """Parameters that follow each other make one list."""
    joined: list[str] = []
    for part in parts:
        if joined and part.startswith("- `") and joined[-1].startswith("- `"):
            joined[-1] += "\n" + part
        elif part:
            joined.append(part)
    return joined


def _linked(found: re.Match[str]) -> str:
    target, label = found[1], found[2].strip()
    if target.startswith(("http:", "https:")):
        return f"[{label or target}]({target})"
    return f"`{label or target}`"
