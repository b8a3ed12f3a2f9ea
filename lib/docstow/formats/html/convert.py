"""Code, admonitions, tabs, footnotes and terms of many generators as the HTML that each means."""

from __future__ import annotations

import re
from itertools import islice

from docstow.formats import ADMONITIONS
from docstow.formats.html.anchors import unmarked
from docstow.formats.html.furniture import drop_furniture
from docstow.formats.html.tree import Element, classes, descend, elements, make, plain, replace

#: Classes of elements in a code block that are not code.
_NOT_CODE = {
    "linenos",
    "lineno",
    "linenodiv",
    "linenumber",
    "line-number",
    "line-numbers",
    "line-numbers-rows",
    "ln",
    "lnt",
    "gutter",
    "hljs-ln-numbers",
    "highlight-line-number",
    "copy",
    "copybtn",
    "copy-button",
    "clipboard-copy",
    "codeblock-button",
    "react-syntax-highlighter-line-number",
}
_NUMBERED = {"highlighttable", "rouge-table", "lntable", "codehilitetable"}
_NAMED = re.compile(r"(?:language|lang|highlight-source|highlight-text|highlight)-([\w+#.-]+)$")
_SAME = {
    **dict.fromkeys(("default", "none", "text", "plaintext", "plain", "txt", "nohighlight"), ""),
    **dict.fromkeys(("ipython3", "python3", "py"), "python"),
    "html-basic": "html",
}
#: Classes that state a language without a prefix.
_SIGNED = {"mermaid": "mermaid", "rust-example-rendered": "rust"}
#: How many elements above a block its language is searched.
_ABOVE = 4


def drop_line_numbers(root: Element) -> None:
    """Replace tables of line numbers and code by the code."""
    for table in elements(root, "table"):
        if not _NUMBERED.isdisjoint(classes(table)):
            blocks = table.findall(".//pre")
            if blocks:
                blocks[-1].tail = None
                language = _language_of(blocks[-1])
                if language:
                    blocks[-1].set("data-lang", language)
                replace(table, blocks[-1])


def simplify_code(root: Element) -> None:
    """Leave only the text of code blocks, exactly as shown, and their language."""
    for block in elements(root, "pre"):
        outer = block.getparent()
        if outer is None or _within(block, "pre"):
            continue
        code = _code_of(block)
        if not code.strip():
            block.drop_tree()
        elif _within(block, "h1", "h2", "h3", "h4", "h5", "h6"):
            replace(block, make("code", code))
        else:
            simple = make("pre", code)
            simple.set("data-lang", _language_of(block))
            replace(block, simple)


def _within(block: Element, *tags: str) -> bool:
    return next(block.iterancestors(*tags), None) is not None


def _language_of(block: Element) -> str:
    """Return the language of a code block in lower case; empty if unknown."""
    code = block.find(".//code")
    near = [each for each in (code, block) if each is not None]
    parent = block.getparent()
    while parent is not None and len(near) < _ABOVE + 2 and parent.tag in {"div", "figure", "td"}:
        near.append(parent)
        parent = parent.getparent()
    for element in near:
        found = _own_language(element)
        if found is not None:
            return found
    return ""


def _own_language(element: Element) -> str | None:
    """Return the language that the element itself states; None if it states none."""
    for attribute in ("data-lang", "data-language", "data-code-language"):
        if element.get(attribute):
            return _name(element.get(attribute))
    names = classes(element)
    for sign, language in _SIGNED.items():
        if sign in names:
            return language
    for name in names:
        match = _NAMED.match(name)
        if match:
            return _name(match[1])
    for marker in ("sourceCode", "hljs", "brush:", "src", "code"):
        others = [each for each in names if each != marker and each.rstrip(";").isalnum()]
        if marker in names and element.tag in {"pre", "code"} and len(others) == 1:
            return _name(others[0].rstrip(";").removeprefix("src"))
    return None


def _name(name: str) -> str:
    name = re.sub(r"[^\w+#.-]", "", name.strip().lower().split(",")[0].split(" ")[0])
    return _SAME.get(name, name)


def _code_of(block: Element) -> str:
    """Return the block's text exactly as shown, without the last line break."""
    parts: list[str] = []
    dropped: Element | None = None
    for event, element in descend(block):
        if event == "start":
            if dropped is None and element is not block and _is_no_code(element):
                dropped = element
            if dropped is None:
                parts.append(_start(element, first=element is block))
            continue
        if dropped is element:
            dropped = None
        elif dropped is None and element.tag in {"div", "li", "p", "tr"} and _open_line(parts):
            parts.append("\n")
        if dropped is None and element is not block:
            parts.append(element.tail or "")
    return "".join(parts).removesuffix("\n")


def _start(element: Element, *, first: bool) -> str:
    if element.tag == "br":
        return "\n"
    text = element.text or ""
    # HTML ignores a line break right after <pre>.
    return text.removeprefix("\n") if first else text


def _open_line(parts: list[str]) -> bool:
    last = next((part for part in reversed(parts) if part), "\n")
    return not last.endswith("\n")


def _is_beside(element: Element) -> bool:
    """Return whether an element is not copied with the code: a number, or a prompt."""
    style = (element.get("style") or "").replace(" ", "")
    return element.get("aria-hidden") == "true" or "user-select:none" in style


def _is_no_code(element: Element) -> bool:
    return (
        element.tag in {"button", "svg", "script", "style", "template"}
        or (_is_beside(element) and not plain(element).strip("0123456789 "))
        or not _NOT_CODE.isdisjoint(classes(element))
    )


#: ``details`` is an element, and ``admonition`` a box of any kind.
_KINDS = ADMONITIONS - {"admonition", "details", "secondary", "versionremoved"} | {"see-also"}
#: Classes that consist of a prefix and the kind.
_MARKED = re.compile(
    r"(?:theme-admonition|admonition|hint|markdown-alert|alert|callout|starlight-aside|custom-block"
    r"|aside|notice|admonitionblock|blockquote-tag)-{1,2}(\w+)$"
)
#: Elements that may be admonitions, as some paragraphs are.
_BOXED = ("div", "aside", "blockquote", "section")
_ALONE = {"note", "tip", "warning", "important", "caution", "danger"}
_BOXES = {"admonition", "custom-block", "markdown-alert", "callout", "hint", "admonitionblock"}
_TITLES = re.compile(
    r"(?:admonition-title|admonition-?heading.*|markdown-alert-title|custom-block-title"
    r"|starlight-aside__title|blockquote-tag-title|callout-(?:title|header)|alert-heading|summary)$",
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
_TITLE_HEADINGS = {"h2", "h3", "h4", "h5", "h6"}
_MOST_ICON = 3
#: Nextra distinguishes callouts by icons, or by colours alone.
_NEXTRA = {
    "warning": re.compile("\N{WARNING SIGN}|yellow"),
    "error": re.compile("\N{NO ENTRY SIGN}|-red-"),
    "info": re.compile("\N{INFORMATION SOURCE}|-blue-"),
    "important": re.compile("-purple-"),
    "tip": re.compile("\N{ELECTRIC LIGHT BULB}|-green-|-orange-"),
}
#: Nested emphasis has no effect, and costs the converter a pass over the text for each level.
_EMPHASIS = ("b", "strong", "i", "em")


def quote_admonitions(main: Element) -> None:
    """Replace admonitions by quotes that begin with their kind or title in bold."""
    for element in reversed(elements(main, "details", "p", *_BOXED)):
        if element.tag == "details":
            _open_details(element)
            continue
        kind = _kind(element)
        if kind and element.getparent() is not None:
            _quote(element, kind)


def _kind(element: Element) -> str:
    """Return the kind of an admonition in lower case; empty if the element is not one."""
    names = classes(element)
    if "nextra-callout" in names:
        said = f"{plain(element)[:2]} {' '.join(names)}"
        return next((kind for kind, signs in _NEXTRA.items() if signs.search(said)), "note")
    if element.tag == "p":
        # just-the-docs marks the paragraph itself.
        return names[0] if len(names) == 1 and names[0] in _ALONE else ""
    alone = next((each for each in names if each.lower() in _KINDS - {"hint"}), "")
    alone = alone or ("hint" if "hint" in names and "admonition" in names else "")
    marked = next((m[1] for each in names if (m := _MARKED.match(each))), "")
    if not _BOXES.isdisjoint(names) or element.get("role") == "alert":
        return (marked or alone or "note").lower()
    kind = marked.lower()
    if kind in _KINDS or kind in _SAME_KIND:
        return kind
    # Old Sphinx and hand-written pages have only the kind.
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
    """Remove an element that only holds an icon."""
    first = next(iter(element), None)
    if first is None or first.tag not in {"div", "span"} or (element.text or "").strip():
        return
    picture = plain(first)
    if len(picture) <= _MOST_ICON and not any(each.isalnum() for each in picture):
        first.drop_tree()


def _take_title(element: Element) -> str:
    """Remove and return the title of an admonition."""
    for each in element.iterdescendants():
        depth = 0
        above = each.getparent()
        while above is not None and above is not element and depth < _TITLE_DEPTH:
            above, depth = above.getparent(), depth + 1
        if above is not element:
            continue
        # DocBook writes the title as a heading.
        heading = each.tag in _TITLE_HEADINGS and "title" in classes(each)
        if heading or each.tag == "summary" or any(_TITLES.match(name) for name in classes(each)):
            drop_furniture(each)
            title = unmarked(plain(each))
            each.drop_tree()
            return title
    return ""


def _first_paragraph(element: Element) -> Element | None:
    """Return the paragraph, or what holds the text, that an admonition begins with, if any."""
    top = element
    while not (element.text or "").strip():
        children = [each for each in element if plain(each)]
        if not children:
            return None
        element = children[0]
        if element.tag == "p":
            return element
        if element.tag != "div" or (children[0].getprevious() is not None and _tail(element)):
            return None
    return element if element is not top else None


def _tail(element: Element) -> str:
    return (element.getprevious().tail or "").strip()


def _open_details(element: Element) -> None:
    """Unfold a details element; one with an admonition's class becomes a quote."""
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
    """Insert each tab's name before its panel."""
    for group in main.xpath(_TABS):
        names = [plain(each) for each in group.xpath(".//*[@role='tab'] | ./label")]
        # The list of tabs may be wrapped in an element of its own.
        for around in islice(group.iterancestors(), 2):
            panels = around.xpath(_PANELS)
            if panels and len(names) == len(panels):
                for name, panel in zip(names, panels, strict=True):
                    panel.attrib.pop("hidden", None)
                    panel.insert(0, make("p", "", make("strong", name)))
                    panel[0].tail, panel.text = panel.text, None
                break
        if "tabs" in classes(group) and group.tag == "div":
            for label in group.findall("./label"):
                label.drop_tree()
    for label in main.xpath(".//label[contains(@class, 'sd-tab-label')]"):
        replace(label, make("p", "", make("strong", plain(label))))


def simplify_inline(main: Element) -> None:
    """Replace images by their description, and mark superscripts, subscripts and tasks."""
    for element in elements(main, "img", "sup", "sub", *_EMPHASIS):
        if element.getparent() is None:
            continue
        if element.tag == "img":
            replace(element, make("span", (element.get("alt") or "").strip()))
        elif element.tag in {"sup", "sub"}:
            if element.find(".//a") is None and plain(element)[:2] != "[^":
                element.text = ("^" if element.tag == "sup" else "_") + (element.text or "")
            element.tag = "span"
        elif _within(element, *_EMPHASIS, "dt", "code"):
            element.tag = "span"


def unlink_terms(main: Element) -> None:
    """Remove the links of terms to themselves."""
    for term in main.iter("dt"):
        names = {f"#{each.get('id')}" for each in term.iter() if each.get("id")}
        for link in term.findall(".//a"):
            if link.get("href") in names:
                link.drop_tag()


def write_tasks(main: Element) -> None:
    """Replace the boxes of task lists by their state in brackets."""
    for box in list(main.iter("input")):
        if box.get("type") == "checkbox" and _within(box, "li"):
            box.tail = (box.tail or "").lstrip()
            replace(box, make("span", "[x] " if box.get("checked") is not None else "[ ] "))
