"""reStructuredText, parsed by docutils without files, raw output or configuration.

Directives and roles of Sphinx are accepted; unknown directives keep their content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from docstow.core.model import File
from docstow.formats import Page, markdown
from docstow.formats.markdown.blocks import Line, fence, label, quote, table

_LONGEST = 1024 * 1024
#: The time of docutils is quadratic in the length of a paragraph and the depth of nesting.
_LONGEST_PARAGRAPH = 16 * 1024
_DEEPEST = 30
_NESTED = re.compile(rf"(?:[-*+|] +){{{_DEEPEST + 1}}}")
#: What docutils takes in milliseconds for a line, for an item, and for what begins a list, a
#: field, an option, a target or a table, which it sets up a parser for, for a sign of inline markup
#: that nothing closes, and for each character of a word wherever an address could begin in it; what
#: a text and each of its bytes may take.
_LINE_MS, _ITEM_MS, _START_MS, _OPEN_MS, _WORD_MS = 0.06, 0.15, 0.8, 0.25, 1e-4
_TEXT_MS, _BYTE_MS = 100.0, 0.015
_START = re.compile(
    r"(?:[-*+\u2022]|\(?\w{1,9}[.)]|:[^:\n]+:|--?\w.*|/\w|\.\. _.*|=+(?: +=+)+)(?=\s|$)"
)
_BULLETS = "-*+\u2022"
_OPENS, _CLOSES = re.compile(r"(?<!\S)[`*|]+(?=\w)"), re.compile(r"\w[`*|]+_{0,2}(?!\w)")
_LONG_WORD, _JOINS = re.compile(r"\S{256,}"), re.compile("[-:/]")
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "halt_level": 6,
    "report_level": 6,
    "syntax_highlight": "none",
    "line_length_limit": _LONGEST,
}


def read(text: str, file: File) -> Page:
    """Read a reStructuredText file."""
    if not _is_tractable(text):
        return markdown.read_plain(text, file)
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser
    from docutils.utils import new_document

    register_unknown_directives(text)
    settings = get_default_settings(Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    document = new_document(file.path or "page", settings)
    try:
        Parser().parse(text, document)
        lines = Writer(document).lines()
    # docutils may fail on other formats; those are read as plain text.
    except Exception:  # noqa: BLE001
        return markdown.read_plain(text, file)
    return markdown.build_page(lines, file, {})


def _is_tractable(text: str) -> bool:
    """Return whether docutils can parse a text in a time that its length allows."""
    if len(text) > _LONGEST:
        return False
    if any(len(paragraph) > _LONGEST_PARAGRAPH for paragraph in re.split(r"\n\s*\n", text)):
        return False
    indents: list[int] = []
    price, last = 0.0, ("", 0)
    for line in text.split("\n"):
        bare = line.lstrip()
        if not bare:
            continue
        if _NESTED.match(bare):
            return False
        indent = len(line) - len(bare)
        mark = _START.match(bare)
        if mark:
            # The items of a list share its parser.
            price += _ITEM_MS if last == (bare[0], indent) and bare[0] in _BULLETS else _START_MS
        else:
            price += _LINE_MS
        if opened := len(_OPENS.findall(line)):
            price += _OPEN_MS * max(0, opened - len(_CLOSES.findall(line)))
        for word in _LONG_WORD.findall(line):
            price += _WORD_MS * len(word) * len(_JOINS.findall(word))
        last = (bare[0], indent) if mark else ("", 0)
        while indents and indents[-1] >= indent:
            indents.pop()
        indents.append(indent)
        if len(indents) > _DEEPEST:
            return False
    return price <= _TEXT_MS + _BYTE_MS * len(text)


_NAME = re.compile(
    r"^[ \t]*\.\. +(?:\|[^|\n]{1,200}\| +)?([A-Za-z][\w:.+-]{0,60}?)::", re.MULTILINE
)
_MOST_NAMES = 5000
_CHANGES = ("versionadded", "versionchanged", "deprecated", "versionremoved")
_TITLED = {"tab", "tab-item", "dropdown", "card", "grid-item-card", "topic", "rubric", "group-tab"}
#: Directives whose argument only controls layout or conditions.
_LAYOUT = {"only", "ifconfig", "grid", "hlist", "tab-set", "tabs", "grid-item"}


class _AnyOption(dict[str, Any]):
    """A table of options that accepts every option as it is."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: str) -> Any:
        return lambda text: text or ""


class _AnyDirective(Directive):
    """A directive that accepts any arguments, options and content."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOption()

    @property
    def argument(self) -> str:
        return self.arguments[0] if self.arguments else ""

    def nested(self) -> list[nodes.Node]:
        holder = nodes.container()
        holder.document = self.state.document
        self.state.nested_parse(self.content, self.content_offset, holder, match_titles=True)
        return list(holder.children)


class _Unknown(_AnyDirective):
    """An unknown directive: its argument and its content."""

    def run(self) -> list[nodes.Node]:
        if not self.argument or self.name in _LAYOUT:
            return self.nested()
        signatures = " ".join(self.argument.split("\n"))
        if self.name in _TITLED:
            inline: nodes.Node = nodes.strong("", signatures)
        else:
            inline = nodes.literal("", signatures)
        return [nodes.paragraph("", "", inline), *self.nested()]


class _Admonition(_AnyDirective):
    """An admonition, whose argument belongs to its text."""

    def run(self) -> list[nodes.Node]:
        heading = label(self.name)
        first: list[nodes.Node] = []
        if self.name in _CHANGES:
            version, rest = [*self.argument.split(None, 1), "", ""][:2]
            heading = (
                f"{heading} {version}"
                if self.name != "deprecated"
                else f"Deprecated since {version}"
            )
        elif self.name in {"admonition", "collapse"}:
            heading, rest = self.argument or heading, ""
        else:
            rest = self.argument
        if rest.strip():
            children, messages = self.state.inline_text(rest, self.lineno)
            first = [nodes.paragraph(rest, "", *children), *messages]
        return [nodes.admonition("", *first, *self.nested(), heading=heading)]


class _Code(_AnyDirective):
    """A block of code."""

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        language = self.argument.split()[0] if self.argument.strip() else ""
        if self.name in {"prompt", "ipython"}:
            language = "python" if self.name == "ipython" else language or "bash"
        return [nodes.literal_block(code, code, language=language.strip("{}"))]


class _Math(_AnyDirective):
    """A formula, as code in TeX."""

    def run(self) -> list[nodes.Node]:
        code = "\n".join([*filter(None, [self.argument]), *self.content])
        return [nodes.literal_block(code, code, language="math")]


class _Include(_AnyDirective):
    """An included file, which is named but not read."""

    def run(self) -> list[nodes.Node]:
        name = nodes.literal("", self.argument)
        return [nodes.paragraph("", "", nodes.Text("See the file "), name, nodes.Text("."))]


class _Dropped(_AnyDirective):
    """A directive without text: navigation, settings, other output formats."""

    def run(self) -> list[nodes.Node]:
        return []


def _register() -> None:
    groups: dict[type[_AnyDirective], str] = {
        _Admonition: "note tip hint important warning caution danger error attention seealso"
        " admonition todo versionadded versionchanged deprecated versionremoved collapse",
        _Code: "code code-block sourcecode prompt ipython parsed-literal testcode doctest"
        " code-cell jupyter-execute testoutput",
        _Math: "math",
        _Include: "literalinclude include",
        _Dropped: "toctree index contents raw meta highlight sectnum target-notes default-role"
        " role module currentmodule py:module py:currentmodule header footer title date"
        " tabularcolumns testsetup testcleanup sectionauthor codeauthor class"
        " restructuredtext-test-directive default-domain cssclass rst-class plot graphviz",
    }
    for directive, names in groups.items():
        for name in names.split():
            directives.register_directive(name, directive)


_register()


#: Names of all registered directives; docutils has no public function for them.
_known = {*vars(directives)["_directive_registry"], *vars(directives)["_directives"]}


def register_unknown_directives(text: str) -> None:
    """Register every directive that a text uses, so that docutils keeps its content."""
    for name in {match.lower() for match in _NAME.findall(text)} - _known:
        if len(_known) < _MOST_NAMES:
            _known.add(name)
            directives.register_directive(name, _Unknown)


_ROLE = re.compile(r"^(?::([\w:.+-]{1,60}):)?`(.*?)`(?::([\w:.+-]{1,60}):)?$", re.DOTALL)
_EXPLICIT = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.DOTALL)
#: Roles whose text is prose; that of others is code.
_PROSE_ROLES = {
    "ref", "doc", "term", "download", "numref", "guilabel", "menuselection", "abbr", "any",
    "dfn", "fa", "octicon", "user", "issue", "gh", "pull",
}  # fmt: skip
_SKIPPED = (
    nodes.comment, nodes.system_message, nodes.substitution_definition, nodes.target,
    nodes.docinfo, nodes.pending, nodes.raw, nodes.decoration, nodes.meta,
)  # fmt: skip
#: The largest number of characters from substitutions, which may expand exponentially.
_MOST_SUBSTITUTED = 256 * 1024


class Writer:
    """Converts the tree of a document to Markdown.

    Args:
        document: as parsed, without transforms.
    """

    def __init__(self, document: nodes.document) -> None:
        self._document = document
        self._targets: dict[str, str] = {
            nodes.fully_normalize_name(name): str(target["refuri"])
            for target in document.findall(nodes.target)
            if "refuri" in target
            for name in _words(target, "names")
        }
        self._substituting: set[str] = set()
        self._substituted = 0

    def lines(self) -> list[Line]:
        """Return the lines of the document."""
        children = list(self._document.children)
        while children and isinstance(children[0], (*_SKIPPED, nodes.field_list)):
            children.pop(0)
        return self._blocks(children, 0)

    def _blocks(self, children: Iterable[nodes.Node], level: int) -> list[Line]:
        lines: list[Line] = []
        for child in children:
            block = self._block(child, level)
            if block:
                lines += [*([("", False)] if lines else []), *block]
        return lines

    def _block(self, node: nodes.Node, level: int) -> list[Line]:  # noqa: C901
        match node:
            case _ if isinstance(node, _SKIPPED):
                return []
            case nodes.section():
                return self._blocks(node.children, level + 1)
            case nodes.title():
                return [(f"{'#' * min(6, max(1, level))} {self._line(node)}", False)]
            case nodes.literal_block() | nodes.doctest_block() | nodes.math_block():
                return self._code(node)
            case nodes.bullet_list() | nodes.enumerated_list():
                return self._list(node, level)
            case nodes.definition_list() | nodes.option_list() | nodes.field_list():
                return self._definitions(node, level)
            case nodes.table():
                return self._table(node)
            case nodes.line_block():
                return [line for child in node.children for line in self._block(child, level)]
            case nodes.image():
                return [(f"![{node.get('alt', '')}]({node.get('uri', '')})", False)]
            case nodes.admonition():
                heading = str(node.get("heading") or "Note")
                return quote(heading, self._blocks(node.children, level))[1:-1]
            case nodes.block_quote():
                return quote("", self._blocks(node.children, level))[1:-1]
            case nodes.footnote() | nodes.citation():
                return self._footnote(node, level)
            case nodes.transition():
                return [("---", False)]
            case nodes.rubric() | nodes.caption() | nodes.attribution():
                return [(f"**{self._line(node)}**", False)]
            case nodes.TextElement():
                return self._paragraph(node)
            case _:
                return self._blocks(node.children, level)

    def _paragraph(self, node: nodes.Element) -> list[Line]:
        text = self._inline(node)
        return [
            ("\\" + line if line.startswith(("#", "```", "~~~")) else line, False)
            for line in (each.strip() for each in text.split("\n"))
            if line
        ]

    def _code(self, node: nodes.Element) -> list[Line]:
        language = str(node.get("language", ""))
        if isinstance(node, nodes.doctest_block):
            language = "pycon"
        if language.lower() in {"none", "default"}:
            language = "text"
        return [(line, True) for line in fence(node.astext().rstrip("\n"), language).split("\n")]

    def _list(self, node: nodes.Element, level: int) -> list[Line]:
        lines: list[Line] = []
        start = int(node.get("start", 1))
        for number, item in enumerate(node.children):
            mark = "- " if isinstance(node, nodes.bullet_list) else f"{start + number}. "
            body = self._blocks(item.children, level) or [("", False)]
            if lines and len(body) > 1 and any(not text and not code for text, code in body):
                lines.append(("", False))
            lines += _as_item(mark, body)
        return lines

    def _definitions(self, node: nodes.Element, level: int) -> list[Line]:
        lines: list[Line] = []
        for item in node.children:
            terms = item.children[:-1]
            heading = " : ".join(self._line(term) for term in terms)
            heading = heading if "`" in heading or not heading else f"**{heading}**"
            body = self._blocks(item.children[-1].children, level) if item.children else []
            if body and not body[0][1] and not body[0][0].startswith(("-", ">", "|", "#")):
                body[0] = (f"{heading}: {body[0][0]}", False)
            else:
                body = [(heading, False), ("", False), *body]
            lines += _as_item("- ", body)
        return lines

    def _table(self, node: nodes.Element) -> list[Line]:
        rows = []
        for row in node.findall(nodes.row):
            cells = [" ".join(t for t, _ in self._blocks(e.children, 0) if t) for e in row.children]
            rows.append([" ".join(cell.split()).replace("|", "\\|") for cell in cells])
        title = [
            (f"**{self._line(t)}**", False) for t in node.children if isinstance(t, nodes.title)
        ]
        if not rows:
            return title
        headed = next(iter(node.findall(nodes.thead)), None) is not None
        return [*title, *([("", False)] if title else []), *table(rows, headed=headed)]

    def _footnote(self, node: nodes.Element, level: int) -> list[Line]:
        named = [self._line(child) for child in node.children if isinstance(child, nodes.label)]
        name = named[0] if named else " ".join(_words(node, "names")) or "*"
        body = [child for child in node.children if not isinstance(child, nodes.label)]
        return _as_item(f"\\[{name}] ", self._blocks(body, level), hanging="")

    def _line(self, node: nodes.Node) -> str:
        return " ".join(self._inline(node).split())

    def _inline(self, node: nodes.Node) -> str:
        return "".join(self._span(child) for child in node.children)

    def _span(self, node: nodes.Node) -> str:
        match node:
            case nodes.Text():
                return node.astext()
            case nodes.literal() | nodes.title_reference() | nodes.math():
                return _coded(node.astext())
            case nodes.emphasis():
                return f"*{self._inline(node)}*"
            case nodes.strong():
                return f"**{self._inline(node)}**"
            case nodes.problematic():
                return _role(node.astext())
            case nodes.reference():
                return self._reference(node)
            case nodes.footnote_reference() | nodes.citation_reference():
                return f"\\[{node.astext() or '#'}]"
            case nodes.substitution_reference():
                return self._substitution(node)
            case nodes.image():
                return f"![{node.get('alt', '')}]({node.get('uri', '')})"
            case nodes.system_message() | nodes.raw():
                return ""
            case _:
                return self._inline(node)

    def _reference(self, node: nodes.Element) -> str:
        text = self._inline(node)
        url = node.get("refuri") or self._targets.get(
            nodes.fully_normalize_name(node.get("refname", "") or node.get("name", "")), ""
        )
        if not url or text == url:
            return text
        return f"[{text}]({url})" if not re.search(r"[\s()]", url) else f"[{text}](<{url}>)"

    def _substitution(self, node: nodes.Element) -> str:
        name = node.get("refname", "")
        definition = self._document.substitution_defs.get(node.astext())
        spent = self._substituted > _MOST_SUBSTITUTED
        if definition is None or name in self._substituting or spent:
            return node.astext()
        # A recursive substitution is shown by its name.
        self._substituting.add(name)
        text = self._inline(definition)
        self._substituting.discard(name)
        self._substituted += len(text) + 1
        return text


def _as_item(mark: str, body: list[Line], *, hanging: str | None = None) -> list[Line]:
    """Return lines as a list item: the mark before the first, indentation before the others."""
    space = " " * len(mark) if hanging is None else hanging
    lines = [(space + text if text else text, code) for text, code in body]
    if not body or body[0][1]:
        return [(mark.rstrip(), False), *lines]
    return [(mark + body[0][0], False), *lines[1:]]


def _words(node: nodes.Element, key: str) -> list[str]:
    words: list[str] = node.get(key, [])
    return words


def _coded(text: str) -> str:
    text = " ".join(text.split())
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _role(source: str) -> str:
    """Return the text of a role that docutils does not know, as Sphinx shows it."""
    match = _ROLE.match(source)
    if match is None:
        return source
    name = (match[1] or match[3] or "").rpartition(":")[2]
    text = match[2].replace("\0", "")
    explicit = _EXPLICIT.match(text)
    if explicit and explicit[1]:
        return explicit[1] if name in _PROSE_ROLES else _coded(explicit[1])
    if name in _PROSE_ROLES:
        return text.strip("/")
    text = text.removeprefix("!")
    return _coded(text.rpartition(".")[2] if text.startswith("~") else text)
