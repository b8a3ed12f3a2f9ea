"""Services that give their documentation by an API of JSON: what the kinds of them share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from docstow.core.errors import InvalidParameter, SourceNotFound, UnreadableInput, UpstreamError

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

#: Seconds between two requests to one service.
_PAUSE_S = 0.1
#: Pages of a source, by default and at most.
_PAGES, _MOST_PAGES = 2000, 100_000


def options(raw: Mapping[str, Any], uri: str = "") -> dict[str, Any]:
    """Return the checked options: ``max_pages``.

    Raises:
        InvalidParameter: an option is unknown or invalid.
    """
    del uri
    if unknown := sorted(raw.keys() - {"max_pages"}):
        raise InvalidParameter(unknown[0], "is no option of this kind; there is max_pages")
    most = _PAGES if raw.get("max_pages") is None else raw["max_pages"]
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= _MOST_PAGES:
        raise InvalidParameter("max_pages", f"must be a whole number from 1 to {_MOST_PAGES}")
    return {"max_pages": most}


class JsonApi:
    """One API of one service. Its headers are sent to its own host alone.

    Args:
        fetcher: the HTTP client.
        home: the address that others are relative to.
        headers: secret ones of the registration, such as ``Authorization``.
        what: what is read, for messages.
    """

    def __init__(
        self, fetcher: Fetcher, home: str, headers: Mapping[str, str], *, what: str
    ) -> None:
        self._fetcher = fetcher
        self._home = home
        self._headers = dict(headers)
        self._what = what

    def get(self, address: str) -> dict[str, Any]:
        """Return the object at an address.

        Args:
            address: a path, with its query; or a URL of the same host.

        Raises:
            SourceNotFound: there is nothing, or nothing that these headers may see.
            UpstreamError: the service refuses, or the address is another's.
            UnreadableInput: the answer is no JSON object.
        """
        from docstow.net.client import follow_redirects, host_name, origin_of

        url = urljoin(self._home, address)
        host = host_name(url)
        if origin_of(url) != origin_of(self._home):
            raise UpstreamError(
                f"{host_name(self._home)} leads to {host}, which is not asked.", host=host
            )
        answer = follow_redirects(url, self._ask)
        if answer.status in (401, 403):
            advice = "check the token" if self._headers else "give a token"
            raise UpstreamError(
                f"{host} answered {answer.status} for {self._what}; {advice} as a header of this"
                " source, such as 'Authorization: Bearer TOKEN'.",
                host=host,
                status=answer.status,
            )
        if answer.status == 404:
            raise SourceNotFound(
                f"{host} has no {self._what}, or shows it with a token alone: check its name, or"
                " give a token as a header of this source."
            )
        try:
            found = json.loads(answer.body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise UnreadableInput(f"{host} answered for {self._what} without a JSON object.")
        return found

    def _ask(self, url: str, own: bool) -> Answer:  # noqa: FBT001 - the signature of a callback
        from docstow.net.client import REDIRECTS

        headers = {"Accept": "application/json", **(self._headers if own else {})}
        expected = (200, 401, 403, 404, *REDIRECTS)
        return self._fetcher.get(url, expected=expected, headers=headers, interval_s=_PAUSE_S)


def rows(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list in an answer; empty where it has none."""
    listed = found.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def text(found: Mapping[str, Any], *names: str) -> str:
    """Return the text or number at a path of members, as text; empty where there is none."""
    value: Any = found
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
