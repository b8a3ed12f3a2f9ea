"""The Simple Repository API: what an index lists of a Python project, as JSON or HTML.

https://packaging.python.org/en/latest/specifications/simple-repository-api/
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from docstow.core.errors import TooLarge, UpstreamError
from docstow.sources.packages import Distribution, Listing, Release, address_of

if TYPE_CHECKING:
    from docstow.net import Answer

#: What an index is asked for: JSON where it has that.
ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2,"
    " text/html;q=0.01"
)
_NEWEST_API = 1
_SDISTS = (".tar.gz", ".tgz", ".zip")
#: Ten times the most that a project has, and the page of so many.
_MOST_FILES = 100_000
_LARGEST_PAGE, _LONGEST_TAG = 16 * 1024 * 1024, 64 * 1024
#: The most that one wheel is for; real ones are for up to a dozen.
_MOST_TAGS = 128
#: Of a name, and of what a file requires, in characters.
_LONGEST = 255
#: No name of a file leads anywhere.
_FILENAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._+!-]{{0,{_LONGEST - 1}}}")


def read(answer: Answer, name: str) -> Listing | None:
    """Parse what an index lists of a project; None where it lists no file that is read.

    Files of other formats, and entries that are no files, are passed over as installers do.

    Args:
        answer: of the index.
        name: of the project, normalised.

    Raises:
        UpstreamError: it is no such list, or one of a later version.
    """
    if "json" in answer.headers.get("content-type", "").partition(";")[0]:
        version, stated, entries = _read_json(answer)
    else:
        version, stated, entries = _read_html(answer)
    major = re.fullmatch(r"(\d{1,9})(?:\.\d{1,9})?", version)
    if major is None or int(major[1]) > _NEWEST_API:
        raise UpstreamError(
            f"{answer.url} answers by version {version[:20]} of the Simple API; versions"
            f" {_NEWEST_API}.0 and those that agree with it are read.",
            url=answer.url,
        )
    releases = _group(entries, name)
    # What an index says becomes a key of the store only where it is that name.
    spelled = stated if len(stated) <= _LONGEST and canonicalize_name(stated) == name else name
    return Listing(spelled, releases) if releases else None


def merge(listings: Iterable[Listing]) -> Listing | None:
    """Return what several indexes have of a project as one, as pip takes them; None for none.

    Of a file that several have, the first index counts.
    """
    found = list(listings)
    if len(found) < 2:
        return found[0] if found else None
    by_version: dict[Version, Release] = {}
    for listing in found:
        for each in listing.releases:
            version = Version(each.version)
            known = by_version.get(version)
            if known is not None:
                names = {file.filename for file in known.distributions}
                more = [file for file in each.distributions if file.filename not in names]
                each = _release(version, [*known.distributions, *more], known.published)
            by_version[version] = each
    ordered = tuple(by_version[version] for version in sorted(by_version))
    return Listing(found[0].name, ordered)


def version_of(filename: str, name: str) -> Version | None:
    """Return the version that the name of a wheel or source distribution says; None for others.

    Args:
        filename: of the file.
        name: of the project, normalised.
    """
    try:
        if filename.endswith(".whl"):
            # Each of its last three parts may name several, and a wheel is for all combinations.
            parts = filename.rsplit("-", 3)[1:]
            if math.prod(part.count(".") + 1 for part in parts) > _MOST_TAGS:
                return None
            project, version, _, _ = parse_wheel_filename(filename)
            return version if project == name else None
        suffix = next((each for each in _SDISTS if filename.endswith(each)), "")
        stem = filename.removesuffix(suffix) if suffix else ""
        # Names and versions of old files have hyphens, too.
        for at, each in enumerate(stem):
            if each == "-" and canonicalize_name(stem[:at]) == name:
                return Version(stem[at + 1 :])
    except ValueError:
        # All errors of the library are such, and so is a number of thousands of digits.
        return None
    return None


def _group(entries: Iterable[tuple[Distribution, str, str]], name: str) -> tuple[Release, ...]:
    """Return releases in ascending order, of files with their dates and the reasons of yanks."""
    files: dict[Version, list[Distribution]] = {}
    dates: dict[Version, str] = {}
    reasons: dict[Version, str] = {}
    for file, published, reason in entries:
        if (version := version_of(file.filename, name)) is None:
            continue
        files.setdefault(version, []).append(file)
        dates[version] = min(filter(None, (dates.get(version), published)), default="")
        reasons[version] = reasons.get(version) or reason
    return tuple(
        _release(version, files[version], dates[version], reasons[version])
        for version in sorted(files)
    )


def _release(
    version: Version, files: list[Distribution], published: str, reason: str = ""
) -> Release:
    yanked = all(each.yanked for each in files)
    requires = next((each.requires for each in files if each.requires), "")
    return Release(
        version=str(version),
        published=published,
        yanked=yanked,
        withdrawn=reason if yanked else "",
        requires=requires,
        distributions=tuple(files),
    )


def _read_json(answer: Answer) -> tuple[str, str, Iterator[tuple[Distribution, str, str]]]:
    try:
        body = json.loads(answer.body)
        version = str(body.get("meta", {}).get("api-version", "1.0"))
        files, name = list(body["files"]), str(body.get("name", ""))
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise UpstreamError(
            f"{answer.url} is not a list of a project's files; check the configured index.",
            url=answer.url,
        ) from None
    if len(files) > _MOST_FILES:
        raise _too_many(answer.url)
    return version, name, _files_of_json(files, answer.url)


def _files_of_json(files: Iterable[Any], base: str) -> Iterator[tuple[Distribution, str, str]]:
    for each in files:
        if not isinstance(each, Mapping):
            continue
        url, filename = each.get("url"), each.get("filename")
        if not isinstance(url, str) or not isinstance(filename, str):
            continue
        yanked = each.get("yanked", False)
        metadata = each.get("core-metadata", each.get("dist-info-metadata", False))
        size = each.get("size")
        made = _distribution(
            address_of(base, url),
            filename,
            _texts(each.get("hashes")),
            requires=each.get("requires-python"),
            yanked=bool(yanked) or yanked == "",
            metadata=_texts(metadata) if metadata or metadata == {} else None,
            size=size if isinstance(size, int) and not isinstance(size, bool) else None,
        )
        if made is not None:
            published = each.get("upload-time")
            yield (
                made,
                published if isinstance(published, str) else "",
                yanked if isinstance(yanked, str) else "",
            )


def _too_many(url: str) -> TooLarge:
    return TooLarge(
        f"{url} lists more than {_MOST_FILES} files, or is a page of more than"
        f" {_LARGEST_PAGE // 2**20} MiB or with endless tags; it is not read.",
        limit=_MOST_FILES,
    )


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name).lower(): each.lower() for name, each in value.items() if isinstance(each, str)
    }


def _read_html(answer: Answer) -> tuple[str, str, Iterator[tuple[Distribution, str, str]]]:
    longest = max(map(len, answer.body.split(b">")))
    if len(answer.body) > _LARGEST_PAGE or longest > _LONGEST_TAG:
        raise _too_many(answer.url)
    page = _Links(answer.url)
    # It is not closed: the parser's work on an end that is cut off grows with its square.
    page.feed(answer.body.decode("utf-8", "replace"))
    if not page.is_html:
        raise UpstreamError(
            f"{answer.url} is neither JSON nor a page of links; check the configured index.",
            url=answer.url,
        )
    return page.version, "", _files_of_links(page, address_of(answer.url, page.base) or answer.url)


def _files_of_links(page: _Links, base: str) -> Iterator[tuple[Distribution, str, str]]:
    for attributes in page.links:
        href, _, fragment = attributes["href"].partition("#")
        url = address_of(base, href)
        filename = unquote(urlsplit(url).path.rpartition("/")[2])
        hashes = {name.lower(): value.lower() for name, value in parse_qsl(fragment)}
        reason = attributes.get("data-yanked")
        metadata = attributes.get(
            "data-core-metadata", attributes.get("data-dist-info-metadata", "false")
        )
        algorithm, _, digest = metadata.partition("=")
        made = _distribution(
            url,
            filename,
            hashes,
            requires=attributes.get("data-requires-python"),
            yanked=reason is not None,
            metadata=None
            if metadata == "false"
            else {algorithm.lower(): digest.lower()}
            if digest
            else {},
        )
        if made is not None:
            yield made, "", reason or ""


def _distribution(
    url: str,
    filename: str,
    hashes: Mapping[str, str],
    *,
    requires: object,
    yanked: bool,
    metadata: Mapping[str, str] | None,
    size: int | None = None,
) -> Distribution | None:
    if not url or not _FILENAME.fullmatch(filename):
        return None
    return Distribution(
        filename=filename,
        url=url,
        hashes=hashes,
        size=size,
        requires=requires if isinstance(requires, str) and len(requires) <= _LONGEST else "",
        yanked=yanked,
        metadata=metadata,
    )


class _Links(HTMLParser):
    """The anchors of a page, with its base and version."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self.links: list[dict[str, str]] = []
        self.base = ""
        self.version = "1.0"
        self.is_html = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_html = True
        attributes = {name: value or "" for name, value in reversed(attrs)}
        if tag == "a" and attributes.get("href"):
            if len(self.links) >= _MOST_FILES:
                raise _too_many(self._url)
            self.links.append(attributes)
        elif tag == "base" and not self.base:
            self.base = attributes.get("href", "")
        elif tag == "meta" and attributes.get("name") == "pypi:repository-version":
            self.version = attributes.get("content", "1.0")
