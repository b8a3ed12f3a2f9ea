"""Pages that say that there is no page, though the server said that all is well.

This room knows what such pages say. It does not know statuses.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from docstow.formats import Page

#: A title or a heading that says nothing else.
_SAYS_SO = re.compile(
    r"(?:error\s*)?(?:404)?[\s:.,!|\u2013\u2014-]*(?:error[\s:.,!|\u2013\u2014-]*)?"
    r"(?:(?:oops|sorry)[\s!.,:]*)?"
    r"(?:(?:this |the )?page (?:not found|could not be found|cannot be found|can't be found"
    r"|was not found|does ?n[o\u2019']t exist)|not found|seite nicht gefunden|page introuvable"
    r"|p\u00e1gina no encontrada|p\u00e1gina n\u00e3o encontrada|pagina non trovata)?[\s:!.]*",
    re.IGNORECASE,
)
#: What such a page tells its reader; a page about an error tells of requests and servers.
_REGRETS = re.compile(
    r"\b(?:page|url|link|address|seite|p\u00e1gina|pagina)\b.{0,80}\b(?:not|\w+n.t|no longer|moved"
    r"|removed|nicht|n\u2019existe|existe|trouv|encontr|trovata|looking for|requested)"
    r"|\b(?:not|\w+n.t|no)\b.{0,30}\b(?:find|found|locate)\b.{0,60}\b(?:page|you|here)\b"
    r"|\bnothing (?:to see )?here\b",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(r"404|not-?_?found", re.IGNORECASE)
_ITSELF = re.compile(r"/404(?:\.html?|/index\.html?)?/?$")
_SITE_NAME = re.compile(r"\s+[|\u00b7\u2013\u2014-]\s+")
_MOST_WORDS = 60


def says_not_found(page: Page, url: str) -> bool:
    """Whether a page says only that there is none at its address.

    A page about the error is none of these: it has more to say, shows code, says nothing of the
    page that the reader wanted, or is named after the error.
    """
    path = urlsplit(url).path
    if _NAMED.search(path.rstrip("/").rpartition("/")[2]) and not _ITSELF.search(path):
        return False
    first, _, rest = page.text.strip().partition("\n")
    heading, body = (first.lstrip("# "), rest) if first.startswith("#") else ("", page.text)
    if "```" in body or len(body.split()) > _MOST_WORDS:
        return False
    if not _says_so(heading or _SITE_NAME.split(page.title)[0]):
        return False
    return not body.strip() or bool(_REGRETS.search(body))


def _says_so(text: str) -> bool:
    bare = text.replace("*", "").strip()
    return any(each.isalnum() for each in bare) and _SAYS_SO.fullmatch(bare) is not None
