"""Addresses in prose: what a relative link means on the page that it stands on.

This room knows URLs and how forges show files. It does not know markup.
"""

from __future__ import annotations

import re
from urllib.parse import urldefrag, urljoin, urlsplit

_BLOB = re.compile(r"(https?://[^/]+/[^/]+/[^/]+)/(?:-/)?(blob|raw|tree)/([^/]+)/")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_LONGEST = 4000


def absolute(target: str, base: str, *, image: bool = False) -> str:
    """The absolute address of a link; itself where it cannot be told.

    Args:
        target: as it is written.
        base: the page's own address; may be empty.
        image: on a forge an image is wanted as it is, not on a page that shows it.
    """
    if not base or _SCHEME.match(target) or len(target) > _LONGEST:
        return target
    shown = _BLOB.match(base)
    if shown is not None and target.startswith("/") and not target.startswith("//"):
        target = shown[0] + target[1:]
    try:
        url = urljoin(base, target)
    except ValueError:
        return target
    if image and shown is not None and shown[2] == "blob":
        return url.replace("/blob/", "/raw/", 1)
    return url


def page_address(url: str) -> str:
    """An http(s) address without its fragment; empty for anything else."""
    if not url.startswith(("http://", "https://")) or len(url) > _LONGEST:
        return ""
    try:
        return urldefrag(url).url if urlsplit(url).hostname else ""
    except ValueError:
        return ""
