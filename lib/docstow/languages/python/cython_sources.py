"""Sources of Cython as Python that binds the same names, for packages that carry them.

A module that is compiled tells little of itself. What is left of its source are classes, functions
with their parameters and docstrings, attributes that Python sees, and imports; bodies, types of C
and what C alone sees are dropped. The branches of ``if`` and ``try`` all count.

The language: https://docs.cython.org/en/latest/src/userguide/language_basics.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from docstow.core.patterns import lazy_pattern
from docstow.languages.python.cython_results import Results
from docstow.languages.python.cython_statements import (
    CLASS,
    PROPERTY,
    Statement,
    bodies,
    bracketed,
    logical_lines,
    split,
)
from docstow.text.python_ast import try_parse_expression, try_parse_module

#: How files end that Cython compiles.
CYTHON_SOURCE = ".pyx"
#: The same with files that they include, and with declarations.
CYTHON_FILES = (CYTHON_SOURCE, ".pxi", ".pxd")
_DOCSTRING = lazy_pattern(r"[rRuUbB]{0,2}(?:\"|')")
_FUNCTION = lazy_pattern(
    r"(?:async\s+)?(?:def|cpdef)\b(?:\([^)]*\)(?=\s*\w)|\[[^\]]*\]|[^(\[])*?\b(\w+)\s*\(",
    re.DOTALL,
)
_INIT = lazy_pattern(r"def\s+__init__\b")
_INCLUDE = lazy_pattern(r"include\s+[\"']([^\"']+)[\"']")
_INCLUDED = lazy_pattern(rb"^[ \t]*include\s+[\"']([^\"'\n]+)[\"']", re.MULTILINE)
#: Attributes of a class of C that Python sees: ``cdef readonly object name, other``.
_SEEN = lazy_pattern(r"(?:cdef\s+)?(?:public|readonly)\s+([^:]+)", re.DOTALL)
_ALL_SEEN = lazy_pattern(r"(?:cdef\s+)?(?:public|readonly)\s*:")
_ENUMERATION = lazy_pattern(r"cpdef\s+enum\b\s*(?:class\s+)?(\w*)")
_LOOP = lazy_pattern(r"for\s+([\w\s,()]+?)\s+in\b")
#: Of these the statements inside count as if they stood outside.
_BLOCK = lazy_pattern(
    r"(?:if|elif|else|try|except|finally|with|for|while|IF|ELIF|ELSE)\b.*:\s*$", re.DOTALL
)
#: What only C sees, with all that is inside.
_OF_C = lazy_pattern(r"(?:cdef|cpdef|ctypedef|cimport|DEF)\b|from\b.*\bcimport\b", re.DOTALL)
_CLASS_OF_C = lazy_pattern(r"^[ \t]*cdef\s[^:\n]*?\bclass\s+(\w+)", re.MULTILINE)
_CIMPORT = lazy_pattern(r"from\s+([\w.]+)\s+cimport\s+(.+)", re.DOTALL)
_ASSIGNED = lazy_pattern(r"(\w+)\s*(?::[^=]*)?=(?!=)")
#: Attributes that a method sets, and other ways to set them.
_SET = lazy_pattern(r"\bself\.(\w+)\s*(?:,[^=\n]{0,200})?=(?!=)")
_SET_BY_NAME = lazy_pattern(r"\bsetattr\s*\(\s*self\b|\bself\.__dict__\b")
_SET_ON_OTHERS = lazy_pattern(r"\bsetattr\s*\(\s*(?!self\b)")
_NAME = lazy_pattern(r"(\w+)\s*(?:\[[^\]]*\]\s*)?$")
#: Letters of a declaration of C, from its end, in which its name is looked for.
_LONGEST_DECLARATION = 300
_DEEPEST = 8
_ABSENT = "cython_include_that_is_not_there"


def python_of(
    text: str,
    included: Callable[[str], str],
    declared: str = "",
    module: str = "",
    declarations: Callable[[str], str] = lambda _: "",
) -> str:
    """Return Python that binds what a module of Cython binds.

    Args:
        text: of a ``.pyx``.
        included: returns the text of a file that ``include`` names; empty where there is none.
        declared: the text of the ``.pxd`` that belongs to it.
        module: the dotted name of the module, of which its parts import what others define.
        declarations: returns the text of the ``.pxd`` of another module by its dotted name; empty
            where it has none.
    """
    declaring = [*_with_included(logical_lines(declared), included)]
    written = [*_with_included(logical_lines(text), included)]
    writer = _Writer(module, declarations)
    writer.declare(declaring)
    writer.write(written, declaring)
    return writer.text()


def included_files(text: bytes) -> list[str]:
    """Return the names of the files that a text includes."""
    return [each.decode("utf-8", "replace") for each in _INCLUDED.findall(text)]


def _with_included(
    statements: Iterable[Statement], included: Callable[[str], str], depth: int = 0
) -> Iterator[Statement]:
    """Yield statements, in place of ``include`` those of the file; no deeper than some levels."""
    for each in statements:
        match = _INCLUDE.match(each.text)
        inner = included(match[1]) if match is not None and depth < _DEEPEST else ""
        if match is None:
            yield each
        elif not inner:
            # What a file that is not there binds is not known.
            yield Statement(each.indent, f"from {_ABSENT} import *")
        else:
            for one in _with_included(logical_lines(inner), included, depth + 1):
                yield Statement(each.indent + one.indent, one.text)


def _seen(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield the attributes that Python sees, which declarations of C tell."""
    for each, body in bodies(statements):
        if _ALL_SEEN.match(each.text):
            for one in body:
                yield from _declared_names(one.text)
        elif match := _SEEN.match(each.text):
            yield from _declared_names(match[1])


def _declared_names(text: str) -> list[str]:
    """Return the names of a declaration of C: ``int64_t first, last``."""
    declared = (each.partition("=")[0][-_LONGEST_DECLARATION:] for each in split(text))
    names = (_NAME.search(each.strip()) for each in declared)
    return [each[1] for each in names if each is not None]


class _Writer:
    """Writes statements as Python, one after the other."""

    def __init__(self, module: str, declarations: Callable[[str], str]) -> None:
        self._own_import = re.compile(rf"from\s+{re.escape(module)}\s+import\b")
        #: Of each class that is declared its header and the attributes that Python sees.
        self._declared: dict[str, tuple[re.Match[str], list[str]]] = {}
        self._declarations = declarations
        #: How Python would import what C imports, by its name; the modules of which it imports all.
        self._cimported: dict[str, str] = {}
        self._all_cimported: set[str] = set()
        self._lines: list[str] = []
        #: The indents of the classes around what is written, and their names.
        self._classes: list[int] = []
        self._owners: list[str] = []
        self._results = Results([], [])
        #: Classes of other modules that functions return.
        self._returned: set[str] = set()
        self._decorators: list[str] = []
        #: Whether the last class has a constructor of Python's besides that of Cython.
        self._has_init = False
        self._written: set[str] = set()
        #: Words of functions of C that set attributes of what they name.
        self._set_by_name: set[str] = set()

    def text(self) -> str:
        """Return what is written."""
        self._classes = []
        for match, _ in [v for k, v in self._declared.items() if k not in self._written]:
            self._class(0, match, ())
            self._classes.pop()
            self._owners.pop()
        self._put(*(self._cimported[each] for each in sorted(self._returned - self._written)))
        for each in sorted(self._set_by_name & self._written):
            self._put(f"setattr({each}, name, value)")
        return "\n".join(self._lines) + "\n"

    def declare(self, statements: Sequence[Statement]) -> None:
        """Note the classes that a ``.pxd`` declares, and write the enumerations."""
        for each, body in bodies(statements):
            if match := CLASS.match(each.text):
                self._declared[match[1]] = (match, [*_seen(body)])
            elif _ENUMERATION.match(each.text):
                self._write_plain(each.text, body)
            else:
                self._note_cimport(each.text)

    def write(self, statements: Sequence[Statement], declaring: Sequence[Statement]) -> None:
        """Write statements, which others declare."""
        for each in statements:
            self._note_cimport(each.text)
        self._results = Results([*declaring, *statements], self._cimported)
        done = 0
        for at, (each, body) in enumerate(bodies(statements)):
            if at < done:
                continue
            while self._classes and each.indent <= self._classes[-1]:
                self._classes.pop()
                self._owners.pop()
            done = at + 1 + len(body) if self._write(each, body) else at + 1

    def _write(self, each: Statement, body: Sequence[Statement]) -> bool:
        """Write a statement; return whether what is inside it is dealt with."""
        text = each.text
        if match := CLASS.match(text):
            self._class(each.indent, match, body)
            return False
        if match := _FUNCTION.match(text):
            self._function(match, text, body)
            return True
        if match := PROPERTY.match(text):
            self._put("@property")
            self._define(match[1], "self", self._result(match[1]), body)
            return True
        if text[0] == "@":
            # What Cython itself is told changes nothing that Python sees.
            self._decorators += [] if text.startswith("@cython.") else [text]
            return True
        return self._write_plain(text, body)

    def _write_plain(self, text: str, body: Sequence[Statement]) -> bool:
        self._decorators = []  # They are of a function that C alone sees.
        if self._note_cimport(text):
            return True
        if match := _ENUMERATION.match(text):
            names = (re.match(r"\w+", one) for e in body for one in e.text.split(","))
            found = [match[1], *(each[0] for each in names if each is not None)]
            self._assign(each for each in found if each)
            return True
        if _DOCSTRING.match(text):
            return True
        if _BLOCK.match(text):
            if match := _LOOP.match(text):
                self._assign(re.findall(r"\w+", match[1]))
            return False
        if not _OF_C.match(text):
            self._plain(text)
        elif self._classes:
            self._assign(_seen([Statement(0, text), *body]))
        elif any(_SET_ON_OTHERS.search(one.text) for one in body):
            self._set_by_name.update(word for e in body for word in re.findall(r"\w+", e.text))
        return True

    def _class(self, indent: int, match: re.Match[str], body: Sequence[Statement]) -> None:
        bases, name = match[2] or "", match[1].rpartition(".")[2]
        if try_parse_module(f"class {name}{bases}: ...") is None:
            bases = "(object)"
        self._put(*self._imported_bases(bases))
        self._put(*self._taken_decorators(), f"class {name}{bases}:")
        self._classes.append(indent)
        self._owners.append(name)
        self._has_init = any(_INIT.match(each.text) for each in body)
        first = body[0].text if body else ""
        self._put(first if _DOCSTRING.match(first) else "...")
        if match[3]:
            self._plain(match[3])
        self._written.add(name)
        if name in self._declared:
            self._assign(self._declared[name][1])

    def _note_cimport(self, text: str) -> bool:
        """Note what C imports from a module; return whether that is what a statement does."""
        if (match := _CIMPORT.match(text)) is None:
            return False
        module = match[1]
        for each in split(match[2].strip("() \n")):
            if each != "*":
                self._cimported[each.split()[-1]] = f"from {module} import {each}"
            elif module not in self._all_cimported:
                self._all_cimported.add(module)
                for name in _CLASS_OF_C.findall(self._declarations(module)):
                    self._cimported.setdefault(name, f"from {module} import {name}")
        return True

    def _imported_bases(self, bases: str) -> Iterator[str]:
        """Yield imports of base classes that only C imports: they are bases for Python, too."""
        for each in split(bases.strip("() \n")):
            if each in self._cimported and not (each in self._written or each in self._declared):
                yield self._cimported[each]

    def _function(self, match: re.Match[str], text: str, body: Sequence[Statement]) -> None:
        is_hidden = match[1] == "__dealloc__"
        if is_hidden or (match[1] == "__cinit__" and self._has_init):
            self._decorators = []
            return
        inner, end = bracketed(text, match.end() - 1)
        returned = re.match(r"\s*->\s*(.+?)\s*:", text[end:], re.DOTALL)
        result = returned[1] if returned and try_parse_expression(returned[1]) else ""
        result = result or self._result(match[1])
        self._put(*self._taken_decorators())
        name, given = match[1], [*map(_parameter, split(inner))]
        if name == "__cinit__":
            # One that takes nothing leaves what is given to other constructors.
            name, given = "__init__", given if len(given) > 1 else ["self", "*args", "**kwargs"]
        self._define(name, ", ".join(given), result, body)

    def _result(self, function: str) -> str:
        """Return what a function of what is written now returns; empty where that is not known."""
        found = self._results.of(self._owners[-1] if self._owners else "", function)
        name = found.partition(" ")[0]
        if name in self._cimported and name not in self._written and name not in self._declared:
            self._returned.add(name)
        return found

    def _define(self, name: str, given: str, result: str, body: Sequence[Statement]) -> None:
        header = f"def {name}({given})"
        if try_parse_module(f"{header}: ...") is None:
            header = f"def {name}(*args, **kwargs)"
        self._put(f"{header}{' -> ' if result else ''}{result}:")
        first = body[0].text if body else ""
        within = "\n".join(each.text for each in body)
        written = [first] if _DOCSTRING.match(first) else []
        written += [f"self.{each} = ..." for each in dict.fromkeys(_SET.findall(within))]
        written += ["setattr(self, name, value)"] if _SET_BY_NAME.search(within) else []
        self._put(*(f"    {each}" for each in written or ["..."]))

    def _plain(self, text: str) -> None:
        """Write a statement of Python itself; of one that is none what it assigns."""
        if self._own_import.match(text):
            return
        if try_parse_module(text) is not None:
            self._put(text)
        elif match := _ASSIGNED.match(text):
            self._assign([match[1]])

    def _assign(self, names: Iterable[str]) -> None:
        self._put(*(f"{each} = ..." for each in names))

    def _taken_decorators(self) -> list[str]:
        taken, self._decorators = self._decorators, []
        return taken

    def _put(self, *lines: str) -> None:
        self._lines += [f"{'    ' * len(self._classes)}{each}" for each in lines]


def _parameter(text: str) -> str:
    """Return a parameter without its type of C: ``size=1`` of ``const int size = 1``."""
    if text == "/" or text.startswith("*"):
        return text.partition(":")[0]
    declared, equals, default = text.partition("=")
    declared = declared[-_LONGEST_DECLARATION:]
    declared = re.sub(r"\[[^\]]*\]|\s+(?:not|or)\s+None\s*$", " ", declared)
    name = _NAME.search(declared.partition(":")[0].strip())
    if not equals or name is None:
        return name[1] if name is not None else text
    plain = default.strip()
    return f"{name[1]}={plain if try_parse_expression(plain) is not None else '...'}"
