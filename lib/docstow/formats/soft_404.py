"""Soft 404s: pages that say "not found" with the status 200."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from docstow.formats import Page

#: The whole title or heading of such a page.
_TITLE = re.compile(
    r"(?:error\s*)?(?:404)?[\s:.,!|\u2013\u2014-]*(?:error[\s:.,!|\u2013\u2014-]*)?"
    r"(?:(?:oops|sorry)[\s!.,:]*)?"
    r"(?:(?:this |the )?page (?:not found|could not be found|cannot be found|can't be found"
    r"|was not found|does ?n[o\u2019']t exist)|not found|seite nicht gefunden|page introuvable"
    r"|p\u00e1gina no encontrada|p\u00e1gina n\u00e3o encontrada|pagina non trovata)?[\s:!.]*",
    re.IGNORECASE,
)
#: Phrases in the text of such a page; a page about the error writes of requests and servers.
_PHRASE = re.compile(
    r"\b(?:page|url|link|address|seite|p\u00e1gina|pagina)\b.{0,80}\b(?:not|\w+n.t|no longer|moved"
    r"|removed|nicht|n\u2019existe|existe|trouv|encontr|trovata|looking for|requested)"
    r"|\b(?:not|\w+n.t|no)\b.{0,30}\b(?:find|found|locate)\b.{0,60}\b(?:page|you|here)\b"
    r"|\bnothing (?:to see )?here\b",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"404|not-?_?found", re.IGNORECASE)
_ERROR_PAGE = re.compile(r"/404(?:\.html?|/index\.html?)?/?$")
_SITE_NAME = re.compile(r"\s+[|\u00b7\u2013\u2014-]\s+")
_MOST_WORDS = 60


def says_not_found(page: Page, url: str) -> bool:
    """Return whether a page only says that there is no page at its URL.

    A page about the error is not a soft 404: it is longer, shows code, does not mention the missing
    page, or its URL names the error.
    """
    path = urlsplit(url).path
    if _NAME.search(path.rstrip("/").rpartition("/")[2]) and not _ERROR_PAGE.search(path):
        return False
    first, _, rest = page.text.strip().partition("\n")
    heading, body = (first.lstrip("# "), rest) if first.startswith("#") else ("", page.text)
    if "```" in body or len(body.split()) > _MOST_WORDS:
        return False
    if not _is_error_title(heading or _SITE_NAME.split(page.title)[0]):
        return False
    return not body.strip() or bool(_PHRASE.search(body))


def _is_error_title(text: str) -> bool:
    bare = text.replace("*", "").strip()
    return any(each.isalnum() for each in bare) and _TITLE.fullmatch(bare) is not None
