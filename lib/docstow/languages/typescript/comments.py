"""Documentation comments (JSDoc, TSDoc) as Markdown, with what they say of deprecation.

Tags: https://jsdoc.app and https://tsdoc.org. What a tag says is kept, by its name where the tag is
not known; tags that only repeat what the declaration says are dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from docstow.languages.typescript.source.jsdoc_types import split_type

#: Where a comment asks for another one: ``{@inheritDoc Client.send}``, or without a name.
INHERITED = re.compile(r"\{@inheritDoc\b\s*([^}]*)\}", re.IGNORECASE)
_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
_TAG = re.compile(r"^@([A-Za-z][\w-]*):?(?:[ \t]+(.*)|(?=\{)(.*))?$")
_LINK = re.compile(r"\{@link(?:code|plain)?\s+([^}|\s]+)\s*\|?\s*([^}]*)\}")
_PARAMETER = re.compile(
    r"^(\[[^\]]*\]|[\w$.]+(?:\[\][\w$.]*)?)[ \t]*[-\u2013]?[ \t]*(.*)$", re.DOTALL
)
#: Paragraphs, lists and code, which lines do not make one of.
_BLOCKS = re.compile(r"\n\s*\n|```|(?:^|\n)[ \t]*[-*] ")
_CAPTION = re.compile(r"<caption>(.*?)</caption>\s*")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[-_]")
#: Tags of what a comment says first of all.
_DESCRIPTIONS = ("", "description", "desc", "summary", "remarks", "classdesc", "file",
                 "fileoverview", "overview")  # fmt: skip
_NAMED = ("param", "arg", "argument", "prop", "property")
_TYPE_PARAMETERS = ("template", "typeparam")
_TITLES = {
    "returns": "Returns",
    "return": "Returns",
    "throws": "Throws",
    "exception": "Throws",
    "yields": "Yields",
    "yield": "Yields",
    "see": "See",
    "since": "Since",
}
#: Tags that are for a package's authors.
_PRIVATE = frozenset({"privateremarks", "ignore", "hidden", "todo", "internalremarks"})
#: Tags that repeat what the declaration and its place say, or that speak to tools.
_STRUCTURE = frozenset(
    {
        *("abstract", "access", "alias", "async", "augments", "borrows", "callback", "class"),
        *("const", "constant", "constructor", "constructs", "enum", "exports", "extends"),
        *("external", "func", "function", "generator", "global", "hideconstructor", "implements"),
        *("inheritdoc", "inner", "instance", "interface", "kind", "lends", "member", "memberof"),
        *("method", "mixes", "mixin", "module", "name", "namespace", "override", "overload"),
        *("package", "packagedocumentation", "private", "protected", "public", "readonly"),
        *("satisfies", "sealed", "static", "this", "type", "typedef", "var", "variation"),
        *("virtual", "import", "ts-ignore", "ts-expect-error", "noinheritdoc", "export"),
    }
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A documentation comment.

    Attributes:
        text: as Markdown, examples included as fenced blocks.
        deprecated: why; ``deprecated`` where no reason is given; empty otherwise.
        complete: whether it says what it describes, and does not inherit that.
    """

    text: str = ""
    deprecated: str = ""
    complete: bool = field(default=False, compare=False)


def parse_comment(comment: str, *, script: bool = False) -> Comment:
    """Parse a comment as it is written, with its signs.

    Args:
        comment: ``/** … */``.
        script: whether it is of JavaScript, where it is what tells the types.
    """
    if not comment.startswith("/**"):
        return Comment()
    deprecated = ""
    parts: list[str] = []
    complete = False
    for tag, lines in _sections(comment):
        text = _LINK.sub(_render_link, "\n".join(lines)).strip()
        if tag == "deprecated":
            deprecated = " ".join(text.split()) or "deprecated"
        part = _render_section(tag, text, script=script)
        complete = complete or (tag in _DESCRIPTIONS and bool(text) and not INHERITED.search(text))
        if parts and part.startswith("- `") and parts[-1].startswith("- `"):
            # Parameters that follow each other make one list.
            parts[-1] += "\n" + part
        elif part:
            parts.append(part)
    return Comment("\n\n".join(parts), deprecated, complete)


def _sections(comment: str) -> list[tuple[str, list[str]]]:
    """Split a comment at its tags, those within code left out; the first has no tag."""
    inner = comment.removeprefix("/**").removesuffix("*/")
    sections: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in _MARGIN.sub("", inner).strip().splitlines():
        plain = line.lstrip()
        found = None if fence else _TAG.match(line.strip())
        if plain.startswith(("```", "~~~")) and plain.count(plain[:3]) == 1:
            fence = "" if fence == plain[:3] else fence or plain[:3]
        if found:
            first = found[2] or found[3]
            sections.append((found[1], [first] if first else []))
            if first and first.startswith(("```", "~~~")) and not first.endswith(first[:3]):
                fence = first[:3]
        else:
            sections[-1][1].append(line.rstrip())
    return sections


def _render_section(tag: str, text: str, *, script: bool) -> str:
    if tag in _DESCRIPTIONS:
        return text
    plain = tag.lower()
    if plain == "inheritdoc":
        # As a block it means the same as in braces.
        return f"{{@inheritDoc {text.strip('{} ')}}}"
    if plain in ("default", "defaultvalue"):
        return _render_default(text)
    if plain == "example" and text:
        return _render_example(text)
    if plain == "deprecated":
        return f"**Deprecated** {text}".rstrip()
    if script and plain in ("typedef", "callback"):
        # Behind its name a type may be described.
        return split_type(text)[1].partition(" ")[2].lstrip("- ")
    if plain in _PRIVATE or (plain in _STRUCTURE and not (script and plain == "type")):
        return ""
    type_, text = split_type(text)
    if plain in _NAMED or plain in _TYPE_PARAMETERS:
        return _render_named(type_ if script else "", text)
    if (script and type_) or (type_ and plain in ("throws", "exception")):
        text = f"`{type_}` {text}".rstrip()
    title = _TITLES.get(plain) or _WORDS.sub(" ", tag).capitalize()
    if not text:
        # A tag alone is a statement: that it is experimental, or an event.
        return "" if plain in _TITLES else f"{title}."
    return f"{title}: {text}"


def _render_default(text: str) -> str:
    if not text:
        return ""
    return f"Default: {text}" if "`" in text or "\n" in text else f"Default: `{text}`"


def _render_named(type_: str, text: str) -> str:
    """Render what is said of a parameter, a property or a type parameter as an item of a list."""
    found = _PARAMETER.match(text)
    if found is None:
        return ""
    kind = f" (`{type_}`)" if type_ else ""
    said = found[2].strip()
    if _BLOCKS.search(said):
        said = ("\n" * (said[0] in "-*`") + said).replace("\n", "\n  ")
    else:
        said = " ".join(said.split())
    return f"- `{found[1]}`{kind}: {said}".rstrip(" :")


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
