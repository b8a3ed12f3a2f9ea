"""Docstrings that Python code puts together or copies, by statements and decorators."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from docstow.languages.python.source.syntax import callee, decorator_name, dotted, string_value

#: Last names of functions that give a docstring to what they are called with: the standard
#: library's ``wraps``, ``copy_docstring``, ``inherit_doc``, pandas' ``doc`` and ``Appender``.
_GIVES_TEXT = re.compile(r"wraps|(?:^|_)copy|doc|inherit|Appender", re.IGNORECASE)
#: Calls whose result has the docstring of their first argument.
_KEEPS_TEXT = frozenset({"property", "cached_property", "staticmethod", "classmethod"})
_DEDENTS = frozenset({"dedent", "cleandoc", "strip", "lstrip", "rstrip"})
_BRACES = re.compile(r"\{\{|\}\}|\{(\w*)\}")
_PERCENTS = re.compile(r"%%|%\((\w+)\)s|%s")
_LONGEST = 200_000
#: Last names of decorators that fill the docstring of what they decorate.
_FILLS = re.compile(r"subst|interpd|doc|appender|format|fill", re.IGNORECASE)
#: Fields that are told from plain text: ``%(name)s`` and ``${NAME}``.
_NAMED = r"%\(\w[^()\n]*\)s|\$\{\w+\}"
#: A signature for ``__text_signature__`` above a text, which is no part of it (Argument Clinic).
_CLINIC = re.compile(r"\A\w+\([^)]*(?:\)(?!\n--\n)[^)]*)*\)\n--\n\n")
#: Functions that give docstrings to what is written elsewhere: numpy's ``add_newdoc``, torch's
#: ``add_docstr``.
_ADDS = re.compile(r"(?:^|\.|_)add_(?:new)?_?doc(?:s|str|string)?$")


@dataclass(frozen=True, slots=True)
class DocText:
    """A docstring that is not written as one.

    Attributes:
        text: without common indentation; empty if it is not known.
        copies: dotted name of what the docstring is copied from.
    """

    text: str = ""
    copies: str = ""


def decorated_text(decorators: Sequence[ast.expr], strings: Mapping[str, str]) -> DocText:
    """Return the docstring that the decorators of a definition give to it.

    Args:
        decorators: the outermost first.
        strings: texts of the dotted names that are bound to one.
    """
    for each in decorators:
        if isinstance(each, ast.Call) and _GIVES_TEXT.search(decorator_name(each)):
            for argument in each.args[:1]:
                found = doc_text(argument, strings)
                if found.text or found.copies:
                    return found
                if dotted(argument):
                    return DocText(copies=dotted(argument))
    return DocText()


def called_text(value: ast.expr | None, strings: Mapping[str, str]) -> DocText:
    """Return the docstring of what a call makes, such as ``property(get, doc="…")``."""
    if not isinstance(value, ast.Call):
        return DocText()
    name = decorator_name(value)
    first = dotted(value.args[0]) if value.args else ""
    if name == "property":
        given = [*value.args[3:4], *(each.value for each in value.keywords if each.arg == "doc")]
        text = next((known for each in given if (known := known_text(each, strings))), "")
        first = next((dotted(e.value) for e in value.keywords if e.arg == "fget"), first)
        return DocText(inspect.cleandoc(text), first)
    # Descriptors, traits and options of other makers are told the same way.
    for word in value.keywords:
        if word.arg in {"doc", "help"} and (text := known_text(word.value, strings) or ""):
            return DocText(inspect.cleandoc(text))
    if isinstance(value.func, ast.Call) and _GIVES_TEXT.search(decorator_name(value.func)):
        return decorated_text([value.func], strings)
    return DocText(copies=first if name in _KEEPS_TEXT else "")


def doc_text(value: ast.expr | None, strings: Mapping[str, str], target: str = "") -> DocText:
    """Return the docstring that an expression is, or the name whose ``__doc__`` it has in it.

    Args:
        value: what is assigned to ``target.__doc__``.
        strings: texts of the names that are bound to one.
        target: dotted.
    """
    if value is None:
        return DocText()
    text = known_text(value, strings)
    if text is not None:
        return DocText(inspect.cleandoc(text))
    for each in ast.walk(value):
        if isinstance(each, ast.Attribute) and each.attr == "__doc__":
            owner = dotted(each.value)
            if owner and owner != target:
                return DocText(copies=owner)
    return DocText(_template(value, strings))


def _template(value: ast.expr, strings: Mapping[str, str]) -> str:
    """Return the text of ``template.format(…)`` or ``template % …`` without unknown fields."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="format")):
            text, form = known_text(inner, strings), r"(?<!\{)\{\w*[\w.\[\]]*\}(?!\})"
        case ast.BinOp(left=inner, op=ast.Mod()):
            text, form = known_text(inner, strings), r"%\([^()\n]*\)s|%s"
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _DEDENTS:
            return _template(inner, strings)
        case ast.Call(args=[inner]) if decorator_name(value) in _DEDENTS:
            return _template(inner, strings)
        case _:
            return ""
    return inspect.cleandoc(_without_fields(text or "", form))


def _without_fields(text: str, form: str) -> str:
    """Return a text without its fields; a line of nothing else goes with them."""
    text = re.sub(rf"^[ \t]*(?:{form})[ \t]*(?:\n|\Z)", "", text, flags=re.MULTILINE)
    return re.sub(form, "", text)


def filled_text(text: str, decorators: Sequence[ast.expr], strings: Mapping[str, str]) -> str:
    """Return a docstring whose fields a decorator fills, such as ``@Substitution(name="…")``.

    Fields whose values are not literal are dropped, with the line where nothing else is on it.

    Args:
        text: as it is written.
        decorators: of the definition.
        strings: texts of the dotted names that are bound to one.
    """
    if "%(" not in text and "{" not in text:
        return text
    if not (fill := [e for e in decorators if _FILLS.search(dotted(callee(e)))]):
        return text
    is_percent = "%(" in text
    values = {
        word.arg: known
        for each in fill
        if isinstance(each, ast.Call)
        for word in each.keywords
        if word.arg and (known := known_text(word.value, strings)) is not None
    }
    for name, known in values.items():
        for field in (f"%({name})s", f"{{{name}}}", f"${{{name}}}"):
            if len(text) + text.count(field) * len(known) <= _LONGEST:
                text = text.replace(field, inspect.cleandoc(known))
    # Braces that are left may be plain text: nothing shows that the docstring is a template.
    cut = _without_fields(text, _NAMED)
    return cut.replace("%%", "%") if is_percent else cut


def given_texts(call: ast.Call, package: str, strings: Mapping[str, str]) -> Mapping[str, str]:
    """Return the docstrings that a call gives to names of other modules, by ``package:name``.

    That is ``add_newdoc("package", "Class", ("name", "text"))``, ``add_newdoc("name", "text")`` and
    ``add_docstr(package.name, "text")``; nothing for other calls.

    Args:
        call: a statement of a module.
        package: the module's.
        strings: texts of the names that are bound to one.
    """
    if not _ADDS.search(dotted(call.func)) or len(call.args) < 2:
        return {}
    *place, given = call.args[:3]
    names = [string_value(each) or dotted(each) for each in place]
    if len(place) == 1:
        names = (
            [package, *names]
            if string_value(place[0])
            else [names[0].partition(".")[0], names[0].partition(".")[2]]
        )
    if not all(names):
        return {}
    found: dict[str, str] = {}
    parts = given.elts if isinstance(given, ast.List) else [given]
    for each in parts:
        match each:
            case ast.Tuple(elts=[member, text]):
                path = f"{names[1]}.{string_value(member)}"
            case text:
                path = names[1]
        if known := doc_text(text, strings).text:
            found[f"{names[0]}:{path}"] = _CLINIC.sub("", known)
    return found


def known_text(node: ast.expr | None, strings: Mapping[str, str]) -> str | None:
    """Return the text that an expression of literals and known names is; None for others."""
    text = _text(node, strings)
    return text if text is None or len(text) <= _LONGEST else None


def _text(node: ast.expr | None, strings: Mapping[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name() | ast.Attribute():
            return strings.get(dotted(node))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [known_text(left, strings), known_text(right, strings)]
            return None if None in parts else "".join(each or "" for each in parts)
        case ast.JoinedStr(values=values):
            found = [
                known_text(each.value if isinstance(each, ast.FormattedValue) else each, strings)
                for each in values
            ]
            return None if None in found else "".join(each or "" for each in found)
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _filled(known_text(left, strings), _PERCENTS, _values(right, strings))
        case ast.Call(func=ast.Attribute(value=template, attr="format"), args=args, keywords=words):
            given = {str(at): known_text(each, strings) for at, each in enumerate(args)}
            given |= {each.arg or "**": known_text(each.value, strings) for each in words}
            return _filled(known_text(template, strings), _BRACES, given)
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in _DEDENTS:
            cut = known_text(inner, strings)
            return None if cut is None else cut.strip("\n")
        case ast.Call(args=[inner]) if decorator_name(node) in _DEDENTS:
            cut = known_text(inner, strings)
            return None if cut is None else inspect.cleandoc(cut)
    return None


def _values(node: ast.expr, strings: Mapping[str, str]) -> Mapping[str, str | None]:
    """Return the values on the right of ``%`` by name, or by position."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {string_value(key): known_text(value, strings) for key, value in pairs}
    if isinstance(node, ast.Call) and dotted(node.func) == "dict" and not node.args:
        return {each.arg or "**": known_text(each.value, strings) for each in node.keywords}
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return {str(at): known_text(each, strings) for at, each in enumerate(parts)}


def _filled(
    template: str | None, form: re.Pattern[str], values: Mapping[str, str | None]
) -> str | None:
    """Return a template with values for its fields; None where one is not known."""
    if template is None:
        return None
    position = count()
    missing = False

    def value(field: re.Match[str]) -> str:
        nonlocal missing
        if field[1] is None and field[0] in {"{{", "}}", "%%"}:
            return field[0][0]
        found = values.get(field[1] or str(next(position)))
        missing = missing or found is None
        return found or ""

    largest = max((len(each or "") for each in values.values()), default=0)
    if len(template) + len(form.findall(template)) * largest > _LONGEST:
        return None
    text = form.sub(value, template)
    return None if missing else text
