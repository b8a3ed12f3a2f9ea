"""Formulas as TeX between dollar signs."""

from __future__ import annotations

import re

from docstow.formats.html.tree import Element, classes, elements, make, plain, replace

_NOTE = ".//annotation[@encoding='application/x-tex']"
_INLINE = re.compile(r"\\\((.+?)\\\)", re.DOTALL)
_DISPLAY = re.compile(r"\\\[(.+?)\\\]", re.DOTALL)
_MATH = {"math", "arithmatex"}
_VERBATIM = {"pre", "code", "script", "style", "samp", "kbd"}
_FORMULAS = {"math", "script", "mjx-container"}
#: What the classes of any other formula have in them.
_HINT = re.compile("math|arithmatex|katex")
_KATEX = {"katex", "katex-display", "katex--display"}
#: Elements of MathML with an infix: the operator between their first and second part.
_INFIX = {"msup": "^", "msub": "_", "mfrac": "/", "munder": "_", "mover": "^"}


def write_formulas(main: Element, *, rendered: bool) -> None:
    """Replace formulas by their TeX, or by what is closest to it where the page has none.

    Args:
        main: the element.
        rendered: whether a script of the page renders TeX that is written in its text.
    """
    for element in elements(main):
        # Few pages have any, and each of their elements is asked.
        if not (rendered or element.tag in _FORMULAS or _HINT.search(element.get("class") or "")):
            continue
        if element.getparent() is None:
            continue
        found = _formula(element)
        if found is not None:
            tex, display = found
            replace(element, make("span", _dollars(tex, display=display)))
        elif (rendered and element.tag not in _VERBATIM) or not _MATH.isdisjoint(classes(element)):
            element.text = _in_text(element.text)
            for child in element:
                child.tail = _in_text(child.tail)


def _formula(element: Element) -> tuple[str, bool] | None:
    """Return the TeX of an element that is a formula, and whether it stands on its own lines."""
    if element.tag == "math":
        return _tex(element), element.get("display") == "block"
    if element.tag == "script" and (element.get("type") or "").startswith("math/tex"):
        return element.text or "", "mode=display" in element.get("type")
    if element.tag == "mjx-container":
        formula = element.find(".//math")
        return (_tex(formula), element.get("display") == "true") if formula is not None else None
    if element.tag in {"span", "div"} and not _KATEX.isdisjoint(classes(element)):
        note = element.xpath(_NOTE)
        display = any("display" in each for each in classes(element))
        return (note[0].text or "", display) if note else None
    return None


def _in_text(text: str | None) -> str | None:
    if not text or "\\" not in text:
        return text
    text = _INLINE.sub(lambda match: _dollars(match[1], display=False), text)
    return _DISPLAY.sub(lambda match: _dollars(match[1], display=True), text)


def _dollars(tex: str, *, display: bool) -> str:
    return f"$${tex.strip()}$$" if display else f"${tex.strip()}$"


def _tex(formula: Element) -> str:
    """Return the TeX of a MathML formula: as noted in it, or from its elements."""
    note = formula.xpath(_NOTE)
    if note and (note[0].text or "").strip():
        return note[0].text or ""
    return formula.get("alttext") or _written(formula) or plain(formula)


def _written(element: Element) -> str:
    tag = element.tag
    if tag in {"annotation", "annotation-xml"}:
        return ""
    parts = [_written(child) for child in element]
    if not parts:
        return plain(element)
    if tag == "msubsup" and len(parts) == 3:
        return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    if tag in _INFIX and len(parts) == 2:
        first = _grouped(parts[0]) if tag == "mfrac" else parts[0]
        return f"{first}{_INFIX[tag]}{_grouped(parts[1])}"
    if tag == "msqrt":
        return rf"\sqrt{{{''.join(parts)}}}"
    if tag == "mroot" and len(parts) == 2:
        return rf"\sqrt[{parts[1]}]{{{parts[0]}}}"
    if tag == "mtr":
        return " & ".join(parts)
    if tag == "mtable":
        return r" \\ ".join(parts)
    return "".join(parts)


def _grouped(part: str) -> str:
    return part if len(part) == 1 else f"{{{part}}}"
