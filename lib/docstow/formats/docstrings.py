"""Converter of docstrings in the usual styles to Markdown.

It converts sections of Google and numpydoc, fields, roles, directives and literal blocks of
reStructuredText, admonitions of MkDocs, and interactive sessions. Anything else stays as it is:
most docstrings are Markdown already, or nearly.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from textwrap import dedent

from docstow.core.patterns import lazy_pattern
from docstow.formats.hidden import drop_hidden
from docstow.text.python_ast import try_parse_module

_ROLE = lazy_pattern(r"(?<![\w`]):[\w:+-]{1,40}:`([^`\n]+(?:\n[^`\n]+)?)`")
_LINK = lazy_pattern(r"`([^`<>]+?)\s*<(https?://[^<>\s]+)>`__?")
_TITLED = lazy_pattern(r"(.*?)\s*<[^<>]*>", re.DOTALL)


def convert_inline(text: str) -> str:
    """Return text with reStructuredText's roles as code and its links as Markdown."""
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
    # ``~`` shows only the last name; a first name with an underscore is a private module.
    name = name[1:].rpartition(".")[2] if name.startswith("~") else re.sub(r"^_\w*\.", "", name)
    return f"`{name.lstrip('.')}`"


_DIRECTIVE = lazy_pattern(r"\.\. ([\w:-]+)::\s*(.*)")
_ADMONITION = lazy_pattern(r"(?:!!!|\?\?\?\+?)\s+([\w-]+)(?:\s+.*?)??(?:\s+\"(.*)\")?\s*")
_FIELD = lazy_pattern(r":([A-Za-z]+)(?:\s+([^:\n]+?))?:(?:\s+(.*)|$)")
_FENCE = lazy_pattern(r"(`{3,}|~{3,})")
_UNDERLINE = lazy_pattern(r"([-=~^])\1{2,}\s*")
_ENTRY = lazy_pattern(r"(\*{0,2}[\w.]+)\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\))?\s*:(?:\s+(.*)|$)")
_CALL = lazy_pattern(r"\w\(")
_GOOGLE_SECTION = lazy_pattern(r"([A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)\s*:\s*")
_CODE = frozenset({"code-block", "sourcecode", "code", "ipython", "plot", "testcode", "jupyter"})
_ADMONITIONS = {
    *("note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "seealso"),
    *("deprecated", "versionadded", "versionchanged", "versionremoved", "admonition", "todo"),
}
_DIRECTIVE_TITLES = {
    "seealso": "See also",
    "versionadded": "Added in",
    "versionchanged": "Changed in",
    "versionremoved": "Removed in",
    "deprecated": "Deprecated since",
}
#: Titles of sections that list names.
_LIST_SECTIONS = frozenset(
    {
        *("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments"),
        *("Other Parameters", "Attributes", "Raises", "Returns", "Return", "Yields", "Warns"),
        *("Methods", "See Also", "Exceptions", "Receives"),
    }
)
_EXAMPLE_SECTIONS = frozenset({"Example", "Examples", "Usage", "Sample"})
_REMARK_SECTIONS = frozenset(
    {"Note", "Notes", "Warning", "Warnings", "Tip", "Important", "Caution"}
)
_RESULT_FIELDS = {"return": "Returns", "returns": "Returns", "yield": "Yields", "yields": "Yields"}
_RAISES_FIELDS = frozenset({"raises", "raise", "except", "exception"})
_PARAMETER_FIELDS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword", "kwarg"})
_ATTRIBUTE_FIELDS = frozenset({"var", "ivar", "cvar", "attr"})
_TYPE_FIELDS = frozenset({"type", "vartype", "meta"})
#: Beginnings of blocks of Markdown, which need a line of their own.
_BLOCK_STARTS = ("- ", "* ", "```", "> ", "1.")
_DEEPEST = 5


def markdown(docstring: str) -> str:
    """Convert a docstring, without common indentation, to Markdown whose code is in fences.

    An admonition at the top moves below the first paragraph, which says what the thing is for.
    What raw HTML hides is dropped.
    """
    if not docstring.strip():
        return docstring
    lines = docstring.expandtabs().split("\n")
    text = _Converter(_move_summary_first(lines), 0).convert()
    return re.sub(r"\n{3,}", "\n\n", drop_hidden(text)).strip("\n")


def _move_summary_first(lines: list[str]) -> list[str]:
    """Return the lines with a leading admonition below the paragraph that follows it."""
    if not _ADMONITION.fullmatch(lines[0]):
        return lines
    end = _block_end(lines, 1, 0)
    rest = lines[end:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    stop = next((at for at, line in enumerate(rest) if not line.strip()), len(rest))
    return [*rest[:stop], "", *lines[:end], "", *rest[stop:]]


class _Converter:
    """Converter of the lines at one level of indentation."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self._lines = lines
        self._depth = depth
        self._line = 0
        self._output: list[str] = []
        #: The underlined heading of a list section, while its lines are read.
        self._section = ""

    def convert(self) -> str:
        while self._line < len(self._lines):
            line = self._lines[self._line]
            steps: tuple[Callable[[str], bool], ...] = (
                *(self._fence, self._session, self._directive, self._admonition),
                *(self._heading, self._google, self._field, self._entry),
            )
            if not any(step(line) for step in steps):
                self._plain_line(line)
        return "\n".join(self._output)

    # -- code ----------------------------------------------------------------------------------

    def _fence(self, line: str) -> bool:
        mark = _FENCE.match(line.lstrip())
        if mark is None:
            return False
        end = self._line + 1
        while end < len(self._lines) and not self._lines[end].lstrip().startswith(mark[1]):
            end += 1
        self._output += self._lines[self._line : end + 1]
        self._line = end + 1
        return True

    def _session(self, line: str) -> bool:
        if not line.lstrip().startswith(">>> "):
            return False
        end = self._line
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        rows = dedent("\n".join(self._lines[self._line : end])).split("\n")
        self._add_code([row.rstrip() for row in rows], "python")
        self._line = end
        return True

    def _add_code(self, rows: Sequence[str], language: str = "") -> None:
        text = dedent("\n".join(rows)).strip("\n")
        if not text.strip():
            return
        self._output += ["", f"```{language or guess_language(text)}", *text.split("\n"), "```", ""]

    # -- blocks --------------------------------------------------------------------------------

    def _directive(self, line: str) -> bool:
        found = _DIRECTIVE.match(line)
        if found is None:
            if not re.match(r"\.\. (?!\[)\S|\.\.\s*$", line):
                return False
            # Leave out a link target or a comment.
            self._line = _block_end(self._lines, self._line + 1, 0)
            return True
        name, argument = found[1].rpartition(":")[2].lower(), found[2].strip()
        body = self._take_block()
        while body and (not body[0].strip() or re.match(r":[\w-]+:(\s|$)", body[0])):
            body = body[1:]
        if name in _CODE:
            known = {"": "python", "default": "python", "pycon": "python", "python3": "python"}
            language = "python" if name == "plot" else known.get(argument.lower(), argument)
            self._add_code(body, language.lower())
        elif name in _ADMONITIONS:
            title = _DIRECTIVE_TITLES.get(name, name.capitalize() if name != "admonition" else "")
            if name in _DIRECTIVE_TITLES and name != "seealso":
                version, _, more = argument.partition(" ")
                self._add_remark(f"{title} {version.rstrip(':')}", [more.strip(), *body])
            else:
                self._add_remark(title or argument, [*([argument] * bool(title)), *body])
        elif name in {"math", "rubric"} and (argument or body):
            self._output += ["", f"**{argument}**" if name == "rubric" else argument, *body, ""]
        return True

    def _admonition(self, line: str) -> bool:
        found = _ADMONITION.fullmatch(line)
        if found is None:
            return False
        body = self._take_block()
        self._add_remark(found[1].capitalize() if found[2] is None else found[2], body)
        return True

    def _take_block(self) -> list[str]:
        """Return the lines indented below the current one, and go on behind them."""
        end = _block_end(self._lines, self._line + 1, 0)
        block = dedent("\n".join(self._lines[self._line + 1 : end]))
        self._line = end
        return block.split("\n")

    def _add_remark(self, title: str, body: Sequence[str]) -> None:
        text = self._convert(body).strip("\n")
        if title:
            apart = "\n\n" if text.startswith(_BLOCK_STARTS) else " "
            text = f"**{title}:**{apart}{text}" if text else f"**{title}**"
        quoted = text.split("\n")
        self._output += ["", *(f"> {each}".rstrip() for each in quoted), ""]

    def _heading(self, line: str) -> bool:
        below = self._lines[self._line + 1] if self._line + 1 < len(self._lines) else ""
        title = line.strip()
        if not title or not _UNDERLINE.fullmatch(below) or line[0] == " ":
            return False
        if len(below.strip()) < min(len(title), 3) or (title.startswith(("|", "-", "="))):
            return False
        self._section = title if title in _LIST_SECTIONS else ""
        self._output += ["", f"## {title}", ""]
        self._line += 2
        return True

    def _google(self, line: str) -> bool:
        found = _GOOGLE_SECTION.fullmatch(line)
        if found is None or found[1] not in _LIST_SECTIONS | _EXAMPLE_SECTIONS | _REMARK_SECTIONS:
            return False
        end = _block_end(self._lines, self._line + 1, 0)
        body = dedent("\n".join(self._lines[self._line + 1 : end])).strip("\n")
        if not body.strip():
            return False
        self._line = end
        if found[1] in _REMARK_SECTIONS:
            self._add_remark(found[1], body.split("\n"))
            return True
        self._output += ["", f"**{found[1]}:**", ""]
        if found[1] in _EXAMPLE_SECTIONS and _is_code(body):
            self._add_code(body.split("\n"), "python")
        elif found[1] in _EXAMPLE_SECTIONS:
            self._output.append(self._convert(body.split("\n")))
        else:
            self._output += [*_format_entries(body.split("\n")), ""]
        return True

    def _field(self, line: str) -> bool:
        found = _FIELD.match(line)
        if found is None:
            return False
        kind, name = found[1].lower(), (found[2] or "").strip()
        end = _block_end(self._lines, self._line + 1, 0, blanks=False)
        rest = [each.strip() for each in self._lines[self._line + 1 : end]]
        text = convert_inline(" ".join([found[3] or "", *rest]).strip())
        if kind in _PARAMETER_FIELDS or kind in _ATTRIBUTE_FIELDS:
            typed, _, last = name.partition("=")[0].rpartition(" ")
            item = f"- `{last}`" + (f" ({typed})" if typed else "")
        elif kind in _RAISES_FIELDS:
            item = f"- **Raises** `{name}`"
        elif kind in _RESULT_FIELDS:
            item = f"- **{_RESULT_FIELDS[kind]}**"
        elif kind == "rtype":
            item = "- **Return type**"
        elif kind in _TYPE_FIELDS:
            self._line = end
            return True
        else:
            return False
        self._line = end
        if self._output and not self._output[-1].startswith("- "):
            self._output.append("")
        self._output.append(f"{item}: {text}" if text else item)
        return True

    def _entry(self, line: str) -> bool:
        """Convert a name of a numpydoc section, with what is indented below it."""
        if not self._section or not line.strip() or line[0] == " ":
            return False
        body = "\n".join(self._take_block()).strip("\n")
        name, _, typed = line.partition(" : ")
        item = f"- `{name.strip().rstrip(':')}`"
        if typed:
            # An entry of See Also has a remark in place of a type.
            typed = convert_inline(typed.strip())
            item += f": {typed}" if self._section == "See Also" else f" ({typed})"
        text = _indent_rest(self._convert(body.split("\n"))) if body.strip() else ""
        self._output.append(f"{item}: {text}" if text else item)
        return True

    def _plain_line(self, line: str) -> None:
        self._line += 1
        if not line.rstrip().endswith("::") or line.lstrip().startswith(".. "):
            self._output.append(convert_inline(line))
            return
        indent = len(line) - len(line.lstrip())
        end = _block_end(self._lines, self._line, indent)
        body = self._lines[self._line : end]
        if not any(each.strip() for each in body):
            self._output.append(convert_inline(line))
            return
        text = line.rstrip()[:-2].rstrip()
        self._output += [convert_inline(text).rstrip(":") + ":"] if text.strip() else []
        self._add_code(body)
        self._line = end

    def _convert(self, body: Sequence[str]) -> str:
        if self._depth >= _DEEPEST:
            return "\n".join(body)
        return _Converter(body, self._depth + 1).convert()


def guess_language(code: str) -> str:
    """Return ``python`` for code that parses as Python, or is a session; else ``text``."""
    return "python" if ">>> " in code or _is_code(code) else "text"


def _is_code(text: str) -> bool:
    module = try_parse_module(text)
    # A word by itself, or a few with commas between them, may as well be prose.
    return module is not None and any(
        not isinstance(each, ast.Expr) or _CALL.search(text) for each in module.body
    )


def _block_end(lines: Sequence[str], begin: int, indent: int, *, blanks: bool = True) -> int:
    """Return the end of a block that is indented by more; empty lines may be within it."""
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


def _format_entries(body: Sequence[str]) -> list[str]:
    """Convert the entries of a section in Google's style to items of a list."""
    items: list[str] = []
    at = 0
    while at < len(body):
        line = body[at]
        end = _block_end(body, at + 1, len(line) - len(line.lstrip()))
        below = dedent("\n".join(body[at + 1 : end])).strip("\n")
        text = _indent_rest(_Converter(below.split("\n"), 1).convert()) if below.strip() else ""
        if found := _ENTRY.fullmatch(line.strip()):
            typed = f" ({found[2]})" if found[2] else ""
            item = f"- `{found[1]}`{typed}: {convert_inline(found[3] or '')}"
            apart = "\n  " if text.startswith(_BLOCK_STARTS) else " "
            items.append(f"{item.rstrip()}{apart}{text}".rstrip())
        elif line.strip():
            items += [convert_inline(line.strip()), *([text] if text else [])]
        else:
            items.append("")
        at = end if end > at else at + 1
    return items


def _indent_rest(text: str) -> str:
    """Return text with the lines after the first indented, as they stand in an item."""
    first, *rest = text.strip("\n").split("\n")
    return "\n".join([first.strip(), *(f"  {each}".rstrip() for each in rest)])
