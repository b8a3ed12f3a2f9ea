"""A cleaned HTML tree as Markdown: code blocks, admonitions, tabs, formulas, terms.

Code blocks are replaced by placeholders before the conversion and inserted verbatim after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from lxml import etree

from docstow.formats import ADMONITIONS
from docstow.formats.html.tree import Element, classes, descend, elements, make, plain, replace

#: Delimiters of a placeholder; :func:`page_text` removes these characters from pages.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_PLACE = re.compile(f"^(.*?){_OPEN}(\\d+){_CLOSE}[ \t]*(.*)$", re.MULTILINE)
_LIST = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?= )")
#: Indentation and markers before a fence.
_LEADING = re.compile(r"(?:[ \t>]|[-*+] |\d{1,9}[.)] )*")
_FENCE = re.compile(r"`{3,}")
_BLANKS = re.compile(r"\n{3,}")


def to_markdown(top: Element, code: list[tuple[str, str]]) -> str:
    """Return a tree as Markdown.

    Args:
        top: the tree, as :func:`extract_code` leaves it.
        code: language and text of each block.
    """
    from html_to_markdown import convert

    source = etree.tostring(top, encoding="unicode", method="html", with_tail=False)
    text = convert(source, _options()).content or ""
    text = "\n".join(_spaced(text))
    text = _BLANKS.sub("\n\n", text).strip()
    while _OPEN in text:
        text = _PLACE.sub(lambda match: _fenced(match, code), text)
    return text + "\n"


def _spaced(text: str) -> Iterator[str]:
    """Yield the lines, with a blank one before each quote that would continue a paragraph."""
    before = ""
    for line in text.split("\n"):
        starts = line.lstrip().startswith(">") and not before.lstrip().startswith(">")
        if starts and before:
            yield ""
        before = line.rstrip()
        yield before


@cache
def _options() -> Any:
    from html_to_markdown import ConversionOptions, PreprocessingOptions

    return ConversionOptions(
        extract_metadata=False,
        autolinks=False,
        compact_tables=True,
        br_in_tables=True,
        bullets="-",
        newline_style="backslash",
        preprocessing=PreprocessingOptions(enabled=False),
    )


def _fenced(match: re.Match[str], code: list[tuple[str, str]]) -> str:
    """Return a code block, each line with the indentation and quote markers of its placeholder."""
    before, number, after = match[1], int(match[2]), match[3]
    language, text = code[number]
    lead = _LEADING.match(before)
    words = before[lead.end() :].strip() if lead else ""
    before = lead[0] if lead else ""
    rest = _LIST.sub(lambda mark: " " * len(mark[0]), before)
    longest = max((len(each) for each in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    lines = [f"{before}{words}", rest.rstrip()] if words else []
    lines.append(f"{rest if words else before}{fence}{language}")
    lines += [f"{rest}{line}" if line else rest.rstrip() for line in text.split("\n")]
    lines.append(f"{rest}{fence}")
    if after.strip():
        lines += [rest.rstrip(), f"{rest}{after}"]
    return "\n".join(lines)


def _code_in_cell(code: str) -> Element:
    """Return code for a table cell: each line as inline code, with breaks between."""
    cell = make("span")
    for number, line in enumerate(code.split("\n")):
        if number:
            cell.append(make("br"))
        cell.append(make("code", line) if line.strip() else make("span"))
    return cell


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
    "copy",
    "copybtn",
    "copy-button",
    "clipboard-copy",
    "codeblock-button",
    "boring",
    "react-syntax-highlighter-line-number",
}
_NUMBERED = {"highlighttable", "rouge-table", "lntable", "codehilitetable"}
_NAMED = re.compile(r"(?:language|lang|highlight-source|highlight-text|highlight)-([\w+#.-]+)$")
_SAME = {
    **dict.fromkeys(("default", "none", "text", "plaintext", "plain", "txt", "nohighlight"), ""),
    **dict.fromkeys(("ipython3", "python3", "py"), "python"),
    "html-basic": "html",
}
#: How many elements above a block its language is searched.
_ABOVE = 4


def drop_line_numbers(root: Element) -> None:
    """Replace tables of line numbers and code by the code."""
    for table in elements(root):
        if table.tag == "table" and not _NUMBERED.isdisjoint(classes(table)):
            blocks = table.findall(".//pre")
            if blocks:
                blocks[-1].tail = None
                language = _language_of(blocks[-1])
                if language:
                    blocks[-1].set("data-lang", language)
                replace(table, blocks[-1])


def extract_code(root: Element) -> list[tuple[str, str]]:
    """Replace code blocks by placeholders; return language and text of each."""
    taken: list[tuple[str, str]] = []
    for block in elements(root):
        outer = block.getparent()
        if block.tag != "pre" or outer is None or _within(block, "pre"):
            continue
        code = _code_of(block)
        if _within(block, "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"):
            replace(block, _code_in_cell(code))
        elif code.strip():
            taken.append((_language_of(block), code))
            replace(block, make("p", f"{_OPEN}{len(taken) - 1}{_CLOSE}"))
        else:
            block.drop_tree()
    return taken


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


def _is_no_code(element: Element) -> bool:
    return (
        element.tag in {"button", "svg", "script", "style", "template"}
        or element.get("aria-hidden") == "true"
        or "user-select:none" in (element.get("style") or "").replace(" ", "")
        or not _NOT_CODE.isdisjoint(classes(element))
    )


#: ``details`` is an element, and ``admonition`` a box of any kind.
_KINDS = ADMONITIONS - {"admonition", "details", "secondary", "versionremoved"} | {"see-also"}
#: Classes that consist of a prefix and the kind.
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
    for element in reversed(elements(main)):
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
        if each.tag == "summary" or any(_TITLES.match(name) for name in classes(each)):
            title = plain(each)
            each.drop_tree()
            return title
    return ""


def _first_paragraph(element: Element) -> Element | None:
    """Return the paragraph that an admonition begins with, if any."""
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
                    # A code block's placeholder may be the panel itself or its text.
                    panel[0].tail, panel.text = panel.text, None
                break
        if "tabs" in classes(group) and group.tag == "div":
            for label in group.findall("./label"):
                label.drop_tree()
    for label in main.xpath(".//label[contains(@class, 'sd-tab-label')]"):
        replace(label, make("p", "", make("strong", plain(label))))


def write_formulas(main: Element) -> None:
    """Replace formulas by their TeX between dollar signs, where the page has it."""
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
    """Return whether the page's scripts would render the element as a formula."""
    tex = (element.text or "").strip()
    return not {"math", "arithmatex"}.isdisjoint(classes(element)) and tex[:2] in {"\\(", "\\["}


def _dollars(tex: str, *, display: bool) -> str:
    return f"$${tex.strip()}$$" if display else f"${tex.strip()}$"


def flatten_terms(main: Element) -> None:
    """Replace definition lists by paragraphs: signatures as code, other terms in bold."""
    for element in elements(main):
        if element.tag == "dt":
            text = plain(element)
            inner = make("code" if "sig" in classes(element) else "strong", text)
            replace(element, make("p", "", inner) if text else make("p"))
        elif element.tag in {"dl", "dd"}:
            element.tag = "div"


def simplify_inline(main: Element) -> None:
    """Replace images by their description, and mark superscripts and subscripts."""
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
