"""Directives of reStructuredText: Sphinx's own, and any other, whose content is kept.

This room knows what the directives mean to a reader. It reads no files: what would be included is
named instead. docutils keeps directives in one table for the whole process; ours are put there
when this module is imported.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from docstow.formats.admonitions import label

_NAME = re.compile(
    r"^[ \t]*\.\. +(?:\|[^|\n]{1,200}\| +)?([A-Za-z][\w:.+-]{0,60}?)::", re.MULTILINE
)
_MOST_NAMES = 5000
_CHANGES = ("versionadded", "versionchanged", "deprecated", "versionremoved")
_TITLED = {"tab", "tab-item", "dropdown", "card", "grid-item-card", "topic", "rubric", "group-tab"}

#: Directives whose argument says where or when their content is shown.
_LAYOUT = {"only", "ifconfig", "grid", "hlist", "tab-set", "tabs", "grid-item"}


class _AnyOption(dict[str, Any]):
    """An option table that knows every option, and takes it as it is written."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: str) -> Any:
        return lambda text: text or ""


class _Open(Directive):
    """A directive with any arguments, options and content."""

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


class _Unknown(_Open):
    """Any directive: its content, and what it is about if that is code."""

    def run(self) -> list[nodes.Node]:
        if not self.argument or self.name in _LAYOUT:
            return self.nested()
        signatures = " ".join(self.argument.split("\n"))
        if self.name in _TITLED:
            inline: nodes.Node = nodes.strong("", signatures)
        else:
            inline = nodes.literal("", signatures)
        return [nodes.paragraph("", "", inline), *self.nested()]


class _Labelled(_Open):
    """An admonition: what is behind its name belongs to its text."""

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


class _Code(_Open):
    """A block of code."""

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        language = self.argument.split()[0] if self.argument.strip() else ""
        if self.name in {"prompt", "ipython"}:
            language = "python" if self.name == "ipython" else language or "bash"
        return [nodes.literal_block(code, code, language=language.strip("{}"))]


class _Math(_Open):
    """A formula, which is code in TeX."""

    def run(self) -> list[nodes.Node]:
        code = "\n".join([*filter(None, [self.argument]), *self.content])
        return [nodes.literal_block(code, code, language="math")]


class _Elsewhere(_Open):
    """A file that would stand here: named, never opened."""

    def run(self) -> list[nodes.Node]:
        name = nodes.literal("", self.argument)
        return [nodes.paragraph("", "", nodes.Text("See the file "), name, nodes.Text("."))]


class _Dropped(_Open):
    """What is no text: navigation, settings, other output formats."""

    def run(self) -> list[nodes.Node]:
        return []


def _register() -> None:
    groups: dict[type[_Open], str] = {
        _Labelled: "note tip hint important warning caution danger error attention seealso"
        " admonition todo versionadded versionchanged deprecated versionremoved collapse",
        _Code: "code code-block sourcecode prompt ipython parsed-literal testcode doctest"
        " code-cell jupyter-execute testoutput",
        _Math: "math",
        _Elsewhere: "literalinclude include",
        _Dropped: "toctree index contents raw meta highlight sectnum target-notes default-role"
        " role module currentmodule py:module py:currentmodule header footer title date"
        " tabularcolumns testsetup testcleanup sectionauthor codeauthor class"
        " restructuredtext-test-directive default-domain cssclass rst-class plot graphviz",
    }
    for directive, names in groups.items():
        for name in names.split():
            directives.register_directive(name, directive)


_register()
#: docutils' own, and those of this module: the two tables have no public way in.
_known = {*vars(directives)["_directive_registry"], *vars(directives)["_directives"]}


def admit(text: str) -> None:
    """Make known every directive that a text names, so that docutils keeps its content."""
    for name in {match.lower() for match in _NAME.findall(text)} - _known:
        if len(_known) < _MOST_NAMES:
            _known.add(name)
            directives.register_directive(name, _Unknown)
