"""Docstrings as Markdown, whichever of the usual manners they are written in.

This room knows Google's and numpydoc's sections, reStructuredText's fields, roles, directives and
literal blocks, MkDocs' admonitions and interactive sessions. It does not know whose docstring it
is. What it does not recognise stays as it is: most docstrings are Markdown already, or nearly.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from textwrap import dedent

from docstow.text import python_ast

# reStructuredText's marks within a line of a docstring.


_ROLE = re.compile(r"(?<![\w`]):[\w:+-]{1,40}:`([^`\n]+(?:\n[^`\n]+)?)`")


_LINK = re.compile(r"`([^`<>]+?)\s*<(https?://[^<>\s]+)>`__?")


_TITLED = re.compile(r"(.*?)\s*<[^<>]*>", re.DOTALL)


def inline(text: str) -> str:
    """A line without reStructuredText's roles: what they name is code."""
    if ":`" in text:
        text = _ROLE.sub(_role, text)
    return _LINK.sub(r"[\1](\2)", text) if "`_" in text else text


def _role(found: re.Match[str]) -> str:
    text = " ".join(found[1].split())
    kind = found[0][1:].partition(":`")[0].rpartition(":")[2]
    titled = _TITLED.fullmatch(text)
    if titled and titled[1]:
        return titled[1] if kind in {"ref", "doc", "term"} else f"`{titled[1]}`"
    if kind in {"ref", "doc", "term"}:
        return text
    name = text.lstrip("!")
    # ``~`` asks for the last name alone; a first name with an underscore is the package's own.
    name = name[1:].rpartition(".")[2] if name.startswith("~") else re.sub(r"^_\w*\.", "", name)
    return f"`{name.lstrip('.')}`"


_DIRECTIVE = re.compile(r"\.\. ([\w:-]+)::\s*(.*)")


_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)\s+([\w-]+)(?:\s+.*?)??(?:\s+\"(.*)\")?\s*")


_FIELD = re.compile(r":([A-Za-z]+)(?:\s+([^:\n]+?))?:(?:\s+(.*)|$)")


_FENCE = re.compile(r"(`{3,}|~{3,})")


_UNDERLINE = re.compile(r"([-=~^])\1{2,}\s*")


_NAMED = re.compile(r"(\*{0,2}[\w.]+)\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\))?\s*:(?:\s+(.*)|$)")


_CALL = re.compile(r"\w\(")


_GOOGLE = re.compile(r"([A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)\s*:\s*")


_CODE = frozenset({"code-block", "sourcecode", "code", "ipython", "plot", "testcode", "jupyter"})


_ADMONITIONS = {
    *("note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "seealso"),
    *("deprecated", "versionadded", "versionchanged", "versionremoved", "admonition", "todo"),
}


_SAID = {
    "seealso": "See also",
    "versionadded": "Added in",
    "versionchanged": "Changed in",
    "versionremoved": "Removed in",
    "deprecated": "Deprecated since",
}


#: Sections of names, each with what it is.
_LISTS = frozenset(
    {
        *("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments"),
        *("Other Parameters", "Attributes", "Raises", "Returns", "Return", "Yields", "Warns"),
        *("Methods", "See Also", "Exceptions", "Receives"),
    }
)


_EXAMPLES = frozenset({"Example", "Examples", "Usage", "Sample"})


_REMARKS = frozenset({"Note", "Notes", "Warning", "Warnings", "Tip", "Important", "Caution"})


_RESULTS = {"return": "Returns", "returns": "Returns", "yield": "Yields", "yields": "Yields"}


_RAISES = frozenset({"raises", "raise", "except", "exception"})


_GIVEN = frozenset({"param", "parameter", "arg", "argument", "key", "keyword", "kwarg"})


_GIVEN_TOO = frozenset({"var", "ivar", "cvar", "attr"})


_TYPES = frozenset({"type", "vartype", "meta"})


#: What begins a block of Markdown, which cannot stand behind a title.
_BEGINNINGS = ("- ", "* ", "```", "> ", "1.")


_DEEPEST = 5


def markdown(docstring: str) -> str:
    """A docstring, without common indentation, as Markdown whose code is in fences.

    A remark that stands before everything else goes behind the first paragraph, which says what
    the thing is for.
    """
    if not docstring.strip():
        return docstring
    lines = docstring.expandtabs().split("\n")
    made = _Reader(_summary_first(lines), 0).read()
    return re.sub(r"\n{3,}", "\n\n", made).strip("\n")


def _summary_first(lines: list[str]) -> list[str]:
    """The same, with a leading admonition behind the paragraph that follows it."""
    if not _ADMONITION.fullmatch(lines[0]):
        return lines
    end = _indented(lines, 1, 0)
    rest = lines[end:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    stop = next((at for at, line in enumerate(rest) if not line.strip()), len(rest))
    return [*rest[:stop], "", *lines[:end], "", *rest[stop:]]


class _Reader:
    """Reads the lines of one level of indentation."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self._lines = lines
        self._depth = depth
        self._at = 0
        self._made: list[str] = []
        #: What an underlined heading says that the lines below it are.
        self._section = ""

    def read(self) -> str:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            steps: tuple[Callable[[str], bool], ...] = (
                *(self._fence, self._session, self._directive, self._admonition),
                *(self._heading, self._google, self._field, self._entry),
            )
            if not any(step(line) for step in steps):
                self._plain(line)
        return "\n".join(self._made)

    # -- code ----------------------------------------------------------------------------------

    def _fence(self, line: str) -> bool:
        mark = _FENCE.match(line.lstrip())
        if mark is None:
            return False
        end = self._at + 1
        while end < len(self._lines) and not self._lines[end].lstrip().startswith(mark[1]):
            end += 1
        self._made += self._lines[self._at : end + 1]
        self._at = end + 1
        return True

    def _session(self, line: str) -> bool:
        if not line.lstrip().startswith(">>> "):
            return False
        end = self._at
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        rows = dedent("\n".join(self._lines[self._at : end])).split("\n")
        self._code([row.rstrip() for row in rows], "python")
        self._at = end
        return True

    def _code(self, rows: Sequence[str], language: str = "") -> None:
        text = dedent("\n".join(rows)).strip("\n")
        if not text.strip():
            return
        self._made += ["", f"```{language or guessed(text)}", *text.split("\n"), "```", ""]

    # -- blocks --------------------------------------------------------------------------------

    def _directive(self, line: str) -> bool:
        found = _DIRECTIVE.match(line)
        if found is None:
            if not re.match(r"\.\. (?!\[)\S|\.\.\s*$", line):
                return False
            # A target or a comment says nothing to a reader.
            self._at = _indented(self._lines, self._at + 1, 0)
            return True
        name, argument = found[1].rpartition(":")[2].lower(), found[2].strip()
        end = _indented(self._lines, self._at + 1, 0)
        body = dedent("\n".join(self._lines[self._at + 1 : end])).split("\n")
        while body and (not body[0].strip() or re.match(r":[\w-]+:(\s|$)", body[0])):
            body = body[1:]
        self._at = end
        if name in _CODE:
            known = {"": "python", "default": "python", "pycon": "python", "python3": "python"}
            language = "python" if name == "plot" else known.get(argument.lower(), argument)
            self._code(body, language.lower())
        elif name in _ADMONITIONS:
            told = _SAID.get(name, name.capitalize() if name != "admonition" else "")
            if name in _SAID and name != "seealso":
                version, _, more = argument.partition(" ")
                self._remark(f"{told} {version.rstrip(':')}", [more.strip(), *body])
            else:
                self._remark(told or argument, [*([argument] * bool(told)), *body])
        elif name in {"math", "rubric"} and (argument or body):
            self._made += ["", f"**{argument}**" if name == "rubric" else argument, *body, ""]
        return True

    def _admonition(self, line: str) -> bool:
        found = _ADMONITION.fullmatch(line)
        if found is None:
            return False
        end = _indented(self._lines, self._at + 1, 0)
        body = dedent("\n".join(self._lines[self._at + 1 : end])).split("\n")
        self._at = end
        self._remark(found[1].capitalize() if found[2] is None else found[2], body)
        return True

    def _remark(self, title: str, body: Sequence[str]) -> None:
        text = self._inner(body).strip("\n")
        if title:
            apart = "\n\n" if text.startswith(_BEGINNINGS) else " "
            text = f"**{title}:**{apart}{text}" if text else f"**{title}**"
        quoted = text.split("\n")
        self._made += ["", *(f"> {each}".rstrip() for each in quoted), ""]

    def _heading(self, line: str) -> bool:
        below = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        title = line.strip()
        if not title or not _UNDERLINE.fullmatch(below) or line[0] == " ":
            return False
        if len(below.strip()) < min(len(title), 3) or (title.startswith(("|", "-", "="))):
            return False
        self._section = title if title in _LISTS else ""
        self._made += ["", f"## {title}", ""]
        self._at += 2
        return True

    def _google(self, line: str) -> bool:
        found = _GOOGLE.fullmatch(line)
        if found is None or found[1] not in _LISTS | _EXAMPLES | _REMARKS:
            return False
        end = _indented(self._lines, self._at + 1, 0)
        body = dedent("\n".join(self._lines[self._at + 1 : end])).strip("\n")
        if not body.strip():
            return False
        self._at = end
        if found[1] in _REMARKS:
            self._remark(found[1], body.split("\n"))
            return True
        self._made += ["", f"**{found[1]}:**", ""]
        if found[1] in _EXAMPLES and _is_code(body):
            self._code(body.split("\n"), "python")
        elif found[1] in _EXAMPLES:
            self._made.append(self._inner(body.split("\n")))
        else:
            self._made += [*_entries(body.split("\n")), ""]
        return True

    def _field(self, line: str) -> bool:
        found = _FIELD.match(line)
        if found is None:
            return False
        kind, name = found[1].lower(), (found[2] or "").strip()
        end = _indented(self._lines, self._at + 1, 0, blanks=False)
        rest = [each.strip() for each in self._lines[self._at + 1 : end]]
        text = inline(" ".join([found[3] or "", *rest]).strip())
        if kind in _GIVEN or kind in _GIVEN_TOO:
            typed, _, last = name.partition("=")[0].rpartition(" ")
            said = f"- `{last}`" + (f" ({typed})" if typed else "")
        elif kind in _RAISES:
            said = f"- **Raises** `{name}`"
        elif kind in _RESULTS:
            said = f"- **{_RESULTS[kind]}**"
        elif kind == "rtype":
            said = "- **Return type**"
        elif kind in _TYPES:
            self._at = end
            return True
        else:
            return False
        self._at = end
        if self._made and not self._made[-1].startswith("- "):
            self._made.append("")
        self._made.append(f"{said}: {text}" if text else said)
        return True

    def _entry(self, line: str) -> bool:
        """A name of a numpydoc section, with what is indented below it."""
        if not self._section or not line.strip() or line[0] == " ":
            return False
        end = _indented(self._lines, self._at + 1, 0)
        body = dedent("\n".join(self._lines[self._at + 1 : end])).strip("\n")
        name, _, typed = line.partition(" : ")
        said = f"- `{name.strip().rstrip(':')}`"
        if typed:
            # What is seen also has no type, but a word on it.
            typed = inline(typed.strip())
            said += f": {typed}" if self._section == "See Also" else f" ({typed})"
        text = _flowing(self._inner(body.split("\n"))) if body.strip() else ""
        self._made.append(f"{said}: {text}" if text else said)
        self._at = end
        return True

    def _plain(self, line: str) -> None:
        self._at += 1
        if not line.rstrip().endswith("::") or line.lstrip().startswith(".. "):
            self._made.append(inline(line))
            return
        indent = len(line) - len(line.lstrip())
        end = _indented(self._lines, self._at, indent)
        body = self._lines[self._at : end]
        if not any(each.strip() for each in body):
            self._made.append(inline(line))
            return
        text = line.rstrip()[:-2].rstrip()
        self._made += [inline(text).rstrip(":") + ":"] if text.strip() else []
        self._code(body)
        self._at = end

    def _inner(self, body: Sequence[str]) -> str:
        if self._depth >= _DEEPEST:
            return "\n".join(body)
        return _Reader(body, self._depth + 1).read()


def guessed(code: str) -> str:
    """``python`` where it can be read as that, or is a session of it; else ``text``."""
    return "python" if ">>> " in code or _is_code(code) else "text"


def _is_code(text: str) -> bool:
    try:
        body = python_ast.parse_module(text).body
        # A word by itself, or a few with commas between them, is no less prose than code.
        return any(not isinstance(each, ast.Expr) or _CALL.search(text) for each in body)
    except python_ast.UNREADABLE:
        return False


def _indented(lines: Sequence[str], begin: int, indent: int, *, blanks: bool = True) -> int:
    """Where a block ends that is indented by more; empty lines may be within it."""
    end = at = begin
    while at < len(lines):
        line = lines[at]
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            end = at + 1
        elif not blanks:
            break
        at += 1
    return end


def _entries(body: Sequence[str]) -> list[str]:
    """The entries of a section of Google's manner, an item each."""
    made: list[str] = []
    at = 0
    while at < len(body):
        line = body[at]
        end = _indented(body, at + 1, len(line) - len(line.lstrip()))
        below = dedent("\n".join(body[at + 1 : end])).strip("\n")
        text = _flowing(_Reader(below.split("\n"), 1).read()) if below.strip() else ""
        if found := _NAMED.fullmatch(line.strip()):
            typed = f" ({found[2]})" if found[2] else ""
            said = f"- `{found[1]}`{typed}: {inline(found[3] or '')}"
            apart = "\n  " if text.startswith(_BEGINNINGS) else " "
            made.append(f"{said.rstrip()}{apart}{text}".rstrip())
        elif line.strip():
            made += [inline(line.strip()), *([text] if text else [])]
        else:
            made.append("")
        at = end if end > at else at + 1
    return made


def _flowing(text: str) -> str:
    """What stands in an item: lines after the first belong to it."""
    first, *rest = text.strip("\n").split("\n")
    return "\n".join([first.strip(), *(f"  {each}".rstrip() for each in rest)])
