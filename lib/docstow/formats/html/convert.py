"""The special blocks of documentation pages as plain HTML: admonitions, tabs, formulas, terms.

This room knows how generators mark such blocks up. It does not know Markdown, nor which part of
the page it is given.
"""

from __future__ import annotations

import re
from itertools import islice

from docstow.formats.html.extract__readers_html_tree import (
    Element,
    classes,
    elements,
    make,
    plain,
    replace,
)

_KINDS = {
    "note",
    "tip",
    "warning",
    "danger",
    "info",
    "important",
    "caution",
    "attention",
    "hint",
    "error",
    "seealso",
    "see-also",
    "todo",
    "abstract",
    "summary",
    "success",
    "question",
    "failure",
    "bug",
    "example",
    "quote",
    "deprecated",
    "versionadded",
    "versionchanged",
}
#: What may stand before the kind in a class.
_MARKED = re.compile(
    r"(?:theme-admonition|admonition|hint|markdown-alert|alert|callout|starlight-aside|custom-block"
    r"|aside|notice|admonitionblock)-{1,2}(\w+)$"
)
_ALONE = {"note", "tip", "warning", "important", "caution", "danger"}
_BOXES = {"admonition", "custom-block", "markdown-alert", "callout", "hint", "admonitionblock"}
_TITLES = re.compile(
    r"(?:admonition-title|admonition-?heading.*|markdown-alert-title|custom-block-title"
    r"|starlight-aside__title|callout-(?:title|header)|alert-heading|summary)$",
    re.IGNORECASE,
)
_TABS = (
    ".//*[@role='tablist'] | .//div[contains(@class, 'tabbed-labels')]"
    " | .//div[contains(@class, 'vp-code-group')]/div[@class='tabs']"
)
_PANELS = (
    ".//*[@role='tabpanel'] | .//div[contains(concat(' ', @class, ' '), ' tabbed-block ')]"
    " | self::div[contains(@class, 'vp-code-group')]/div[@class='blocks']/div"
)
_SAME_KIND = {"secondary": "note", "primary": "note", "seealso": "see also"}
_TITLE_DEPTH = 3
_MOST_ICON = 3
#: Nextra tells the kinds of its callouts by icons, or by colours alone.
_NEXTRA = {
    "warning": re.compile("\N{WARNING SIGN}|yellow"),
    "error": re.compile("\N{NO ENTRY SIGN}|-red-"),
    "info": re.compile("\N{INFORMATION SOURCE}|-blue-"),
    "important": re.compile("-purple-"),
    "tip": re.compile("\N{ELECTRIC LIGHT BULB}|-green-|-orange-"),
}
#: One in another says nothing more, and costs the converter a pass over the text for each.
_EMPHASIS = ("b", "strong", "i", "em")


def quote_admonitions(main: Element) -> None:
    """Admonitions become quotes that begin with their kind, or their title, in bold."""
    for element in reversed(elements(main)):
        if element.tag == "details":
            _open_details(element)
            continue
        kind = _kind(element)
        if kind and element.getparent() is not None:
            _quote(element, kind)


def _kind(element: Element) -> str:
    """The admonition's kind in lower case; empty where the element is none."""
    names = classes(element)
    if "nextra-callout" in names:
        said = f"{plain(element)[:2]} {' '.join(names)}"
        return next((kind for kind, signs in _NEXTRA.items() if signs.search(said)), "note")
    if element.tag == "p":
        # just-the-docs marks the paragraph itself.
        return names[0] if len(names) == 1 and names[0] in _ALONE else ""
    if element.tag not in {"div", "aside", "blockquote", "section"}:
        return ""
    alone = next((each for each in names if each.lower() in _KINDS - {"hint"}), "")
    alone = alone or ("hint" if "hint" in names and "admonition" in names else "")
    marked = next((m[1] for each in names if (m := _MARKED.match(each))), "")
    if not _BOXES.isdisjoint(names) or element.get("role") == "alert":
        return (marked or alone or "note").lower()
    kind = marked.lower()
    if kind in _KINDS or kind in _SAME_KIND:
        return kind
    # Old Sphinx and hand-written pages have the kind alone.
    return names[0] if len(names) == 1 and names[0] in _ALONE else ""


def _quote(element: Element, kind: str) -> None:
    kind = _SAME_KIND.get(kind, kind)
    if element.tag == "p":
        inner = make("p", element.text or "", *element)
        element.text = None
        element.append(inner)
    _drop_icon(element)
    title = _take_title(element)
    name = kind.capitalize()
    same = not title or title.lower().rstrip(":!") == kind
    element.tag = "blockquote"
    for attribute in ("class", "role", "id", "aria-hidden", "hidden"):
        element.attrib.pop(attribute, None)
    if not same:
        element.insert(0, make("p", "", make("strong", f"{name}: {title}")))
        return
    strong = make("strong", f"{name}:")
    first = _first_paragraph(element)
    if first is None:
        element.insert(0, make("p", "", strong))
        strong.tail, element.text = f" {element.text or ''}".rstrip(), None
    else:
        strong.tail, first.text = f" {(first.text or '').lstrip()}", None
        first.insert(0, strong)


def _drop_icon(element: Element) -> None:
    """A box of its own for a picture says nothing."""
    first = next(iter(element), None)
    if first is None or first.tag not in {"div", "span"} or (element.text or "").strip():
        return
    picture = plain(first)
    if len(picture) <= _MOST_ICON and not any(each.isalnum() for each in picture):
        first.drop_tree()


def _take_title(element: Element) -> str:
    """Take the title out of an admonition."""
    for each in element.iterdescendants():
        depth = 0
        above = each.getparent()
        while above is not None and above is not element and depth < _TITLE_DEPTH:
            above, depth = above.getparent(), depth + 1
        if above is not element:
            continue
        if each.tag == "summary" or any(_TITLES.match(name) for name in classes(each)):
            title = plain(each)
            each.drop_tree()
            return title
    return ""


def _first_paragraph(element: Element) -> Element | None:
    """The paragraph that an admonition begins with, if it begins with one."""
    while not (element.text or "").strip():
        children = [each for each in element if plain(each)]
        if not children:
            return None
        element = children[0]
        if element.tag == "p":
            return element
        if element.tag != "div" or (children[0].getprevious() is not None and _tail(element)):
            return None
    return None


def _tail(element: Element) -> str:
    return (element.getprevious().tail or "").strip()


def _open_details(element: Element) -> None:
    """What can be folded is open; with an admonition's kind it is one."""
    kind = next((each for each in classes(element) if each in _KINDS), "")
    if kind:
        _quote(element, kind)
        return
    title = _take_title(element)
    element.tag = "div"
    for attribute in ("class", "hidden"):
        element.attrib.pop(attribute, None)
    if title:
        element.insert(0, make("p", "", make("strong", title)))
        element[0].tail, element.text = element.text, None


def name_tabs(main: Element) -> None:
    """Write each tab's name before its panel."""
    for group in main.xpath(_TABS):
        names = [plain(each) for each in group.xpath(".//*[@role='tab'] | ./label")]
        # Some lists of tabs stand in a box of their own.
        for around in islice(group.iterancestors(), 2):
            panels = around.xpath(_PANELS)
            if panels and len(names) == len(panels):
                for name, panel in zip(names, panels, strict=True):
                    panel.attrib.pop("hidden", None)
                    panel.insert(0, make("p", "", make("strong", name)))
                    # Code that was set aside may be the panel itself or the text in it.
                    panel[0].tail, panel.text = panel.text, None
                break
        if "tabs" in classes(group) and group.tag == "div":
            for label in group.findall("./label"):
                label.drop_tree()
    for label in main.xpath(".//label[contains(@class, 'sd-tab-label')]"):
        replace(label, make("p", "", make("strong", plain(label))))


def write_formulas(main: Element) -> None:
    """Formulas become their TeX where the page has it, between dollar signs."""
    for element in elements(main):
        if element.getparent() is None:
            continue
        if element.tag == "script" and (element.get("type") or "").startswith("math/tex"):
            display = "mode=display" in element.get("type")
            replace(element, make("span", _dollars(element.text or "", display=display)))
        elif element.tag in {"span", "div"} and _is_katex(element):
            note = element.xpath(".//annotation[@encoding='application/x-tex']")
            if note:
                display = any("display" in each for each in classes(element))
                replace(element, make("span", _dollars(note[0].text or "", display=display)))
        elif element.tag in {"span", "div"} and _is_tex(element):
            tex = (element.text or "").strip()
            replace(element, make("span", _dollars(tex[2:-2], display=tex.startswith("\\["))))
        elif element.tag == "math":
            note = element.xpath(".//annotation[@encoding='application/x-tex']")
            tex = (note[0].text or "") if note else element.get("alttext") or ""
            display = element.get("display") == "block"
            text = _dollars(tex, display=display) if tex else plain(element)
            replace(element, make("span", text))


def _is_katex(element: Element) -> bool:
    return any(each in {"katex", "katex-display", "katex--display"} for each in classes(element))


def _is_tex(element: Element) -> bool:
    """Whether a script of the page's would make a formula of the element."""
    tex = (element.text or "").strip()
    return not {"math", "arithmatex"}.isdisjoint(classes(element)) and tex[:2] in {"\\(", "\\["}


def _dollars(tex: str, *, display: bool) -> str:
    return f"$${tex.strip()}$$" if display else f"${tex.strip()}$"


def flatten_terms(main: Element) -> None:
    """Terms become paragraphs: signatures as code, others in bold; descriptions follow them."""
    for element in elements(main):
        if element.tag == "dt":
            text = plain(element)
            inner = make("code" if "sig" in classes(element) else "strong", text)
            replace(element, make("p", "", inner) if text else make("p"))
        elif element.tag in {"dl", "dd"}:
            element.tag = "div"


def simplify_inline(main: Element) -> None:
    """Raised and lowered text keeps its meaning, pictures are their description."""
    for element in elements(main):
        if element.getparent() is None:
            continue
        if element.tag == "img":
            alt = (element.get("alt") or "").strip()
            replace(element, make("span", alt))
        elif element.tag in {"sup", "sub"}:
            if element.find(".//a") is None:
                element.text = ("^" if element.tag == "sup" else "_") + (element.text or "")
            element.tag = "span"
        elif element.tag in _EMPHASIS:
            if next(element.iterancestors(*_EMPHASIS), None) is not None:
                element.tag = "span"
        elif element.tag in {"abbr", "mark", "u", "ins", "font", "center"}:
            element.tag = "span"
