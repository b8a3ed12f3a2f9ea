"""What a docstring says that a function returns, where no annotation and no code tells it.

Forms: ``:rtype: Class`` and ``:return: a :class:`Class` …`` (Sphinx), the section ``Returns`` of
numpydoc with one entry or with numpy's arrays among several, and that of Google's style.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from docstow.core.patterns import lazy_pattern

_ROLE = lazy_pattern(
    r":(?:py:)?(?:class|obj|data):`[~!]?([\w.]+)(?: <[^>`]*>)?`|`{1,2}[~!]?([\w.]+)`{1,2}"
)
_RTYPE = lazy_pattern(r"^[ \t]*:rtype:[ \t]*(\S[^\n]*)$", re.MULTILINE)
_RETURN = lazy_pattern(
    r"^[ \t]*:returns?:[ \t]*(?:An?|The)?[ \t]*(?:new |instance of )?:(?:py:)?class:`[~!]?([\w.]+)`"
    r"(?=[ \t]*(?:instance|object)?s?[ \t]*(?:[.;]|$|that|which|for|with|of the))",
    re.MULTILINE | re.IGNORECASE,
)
#: A class of which the text says that it is what is returned: ``a |Shape| object is returned``.
_IS_RETURNED = lazy_pattern(
    r"(?:\|(\w+)\||:class:`[~.]?(?:\w+\.)*(\w+)`) (?:\w+ ){0,2}(?:is|are) returned\b"
)
_OR_NONE = lazy_pattern(r",? or None$|^Optional\[(.*)\]$")
_ONE = lazy_pattern(r"(?:an? |instance of )?((?:\w+\.)*[A-Z]\w*)(?: instance| object)?")
_MANY = lazy_pattern(
    r"(?:a )?list of ((?:\w+\.)*[A-Z]\w*)|list\[((?:\w+\.)*[A-Z]\w*)\]", re.IGNORECASE
)
#: What numpydoc calls arrays, with what it says of their form.
_ARRAY = lazy_pattern(
    r"(?:\([\w, .+*-]*\) |\d-?[dD] )?(?:np\.|numpy\.)?(?:nd)?array"
    r"(?:(?:,? (?:of )?shape|,? (?:of )?dtype)\b[^|]*| of (?:float|int|bool|complex|shape)\w*"
    r"(?: [^|]*)?|,? \([\w, .+*-]*\))?"
)
#: What may make other tables of the arrays that it is given.
_OF_TABLES = lazy_pattern(r"\b(?:pandas|DataFrame|Series|set_output)\b")
_ARRAY_TYPE = "numpy.ndarray"
#: What scipy's sparse matrices have and numpy's arrays have not. Docstrings speak of arrays alone
#: where a function returns what is sparse for what is sparse.
_OF_SPARSE = frozenset(
    {"toarray", "todense", "tocsr", "tocsc", "tocoo", "tolil", "nnz", "getnnz", "indices", "indptr"}
    | {"format", "asformat", "tobsr", "todia", "todok", "eliminate_zeros", "sum_duplicates"}
)


def documented_return(docstring: str) -> str:
    """Return the annotation that a docstring stands for: ``Class``, ``list[Class]``; or nothing."""
    if found := _RTYPE.search(docstring):
        return _annotation(found[1])
    if found := _RETURN.search(docstring):
        return found[1]
    lines = docstring.split("\n")
    for line, *below in (lines[at:] for at, each in enumerate(lines) if each.startswith("Returns")):
        if line == "Returns" and _is_underline(below[:1]):
            entries = _entries(below[1:])
            arrays = [] if _OF_TABLES.search(docstring) else [*map(_array, entries)]
            if len(entries) == 1:
                return arrays[0] if any(arrays) else _annotation(entries[0])
            # What else is in a tuple is left open.
            parts = ", ".join(each or "Any" for each in arrays)
            return f"tuple[{parts}]" if any(arrays) else ""
        if line == "Returns:":
            kind, colon, _ = "".join(below[:1]).strip().partition(": ")
            return _annotation(kind) if colon else ""
    return ""


def may_be_sparse(package: str, name: str) -> bool:
    """Return whether a value is of the package of arrays and a member one of sparse matrices."""
    return package == "numpy" and name in _OF_SPARSE


def tells_another(docstring: str, annotation: str) -> bool:
    """Return whether a docstring says that another class is returned than an annotation names."""
    told = _IS_RETURNED.search(docstring)
    return told is not None and re.search(rf"\b{told[1] or told[2]}\b", annotation) is None


def _entries(lines: Sequence[str]) -> list[str]:
    """Return the types of the entries of a section."""
    entries: list[str] = []
    for at, line in enumerate(lines):
        if _is_underline(lines[at + 1 : at + 2]):
            break
        entries += [line] if line[:1].strip() else []
    return [each.rpartition(" : ")[2] for each in entries]


def _array(text: str) -> str:
    return _ARRAY_TYPE if _ARRAY.fullmatch(text.strip().rstrip(".")) else ""


def _is_underline(lines: Sequence[str]) -> bool:
    return any(len(each) > 2 and set(each) == {"-"} for each in lines)


def _annotation(text: str) -> str:
    plain = _ROLE.sub(lambda found: found[1] or found[2], text).strip().rstrip(".")
    plain = _OR_NONE.sub(r"\1", plain)
    if many := _MANY.fullmatch(plain):
        return f"list[{many[1] or many[2]}]"
    one = _ONE.fullmatch(plain)
    return one[1] if one is not None else ""
