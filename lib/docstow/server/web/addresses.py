"""The addresses of pages: where an item, a package or a page of prose is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from docstow.server.sessions import ROOT

#: Stands for the version that answers where none is asked for.
LATEST = "latest"
_KEPT = "@:!/."
#: The address of an item at docs.rs: what is before the library's name, and that.
_DOCS = re.compile(r"(https://docs\.rs/[^/]+/[^/]+/)(\w+)/")


def package(language: str, name: str, version: str = "") -> str:
    """Return where a package is shown; the version that answers without one if none is given."""
    parts = [quote(each, safe="@:!") for each in (language, version or LATEST)]
    return f"{ROOT}/{parts[0]}/{quote(name, safe='@')}/{parts[1]}"


def item(language: str, name: str, version: str, path: str) -> str:
    """Return where an item of a package is shown."""
    return f"{package(language, name, version)}/{quote(path, safe=_KEPT)}"


def source(url: str, place: str) -> str:
    """Return where docs.rs shows the line that an item begins in; empty where it does not.

    Args:
        url: of the item's docs: ``https://docs.rs/tokio/1.53.2/tokio/sync/struct.Mutex.html``.
        place: file and line, from the root of the crate: ``src/sync/mutex.rs:130``.
    """
    file, _, line = place.rpartition(":")
    if not (match := _DOCS.match(url)) or not file.startswith("src/"):
        return ""
    return f"{match[1]}src/{match[2]}/{file.removeprefix('src/')}.html#{line}"


def page(doc: str, fragment: str = "") -> str:
    """Return where a page of prose is shown, by its id or address."""
    return f"{ROOT}/page/{quote(doc, safe=_KEPT)}" + (f"#{fragment}" if fragment else "")


def query(place: str, /, **members: str) -> str:
    """Return an address with a query of those members that are not empty."""
    given = {name: value for name, value in members.items() if value}
    return f"{place}?{urlencode(given)}" if given else place


def of_call(call: Mapping[str, Any]) -> str:
    """Return where the answer of a tool's call is shown that another answer names; or nothing.

    Args:
        call: with ``tool`` and ``arguments``.
    """
    given = call.get("arguments", {})
    if call.get("tool") == "get_item_doc":
        language = given.get("language") or "rust"
        return item(language, given["package"], given.get("version", ""), given["item_path"])
    if call.get("tool") == "get_doc":
        return page(given["doc"].partition("#")[0])
    return ""
