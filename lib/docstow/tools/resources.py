"""Resources: what is stowed, opened by URI.

Each URI stands for the call of a tool, so that who may read what, the screening of foreign text and
the errors are those of the tools::

    docstow://project                            the project's direct packages
    docstow://crates, docstow://python, …        what is stowed of a language
    docstow://sources                            the sources of pages
    docstow://crate/NAME                         the versions of a crate
    docstow://crate/NAME/VERSION                 its summary; ``latest`` for the newest version
    docstow://crate/NAME/VERSION/PATH            an item
    docstow://source/ID                          the pages of a source
    docstow://source/ID/PATH                     a page
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from docstow import languages
from docstow.core.errors import DocstowError, InvalidParameter
from docstow.tools import TEXT, Answer, Tool, Toolbox, cursor_at, offset, paged, result_schema
from docstow.tools.offers import (
    MOST_VALUES,
    Contents,
    Resource,
    ResourcePage,
    Resources,
    beginning,
    contents,
)
from docstow.tools.parameters import CURSOR, Parameter, language_of

if TYPE_CHECKING:
    from docstow.languages import Language
    from docstow.library.stowed import Stowed

SCHEME = "docstow://"
#: What stands for the newest version in a URI.
LATEST = "latest"
#: Resources on a page of their list, and rows of a resource that is a list.
_PER_PAGE, _ROWS = 100, 1000
#: The most that a resource shows of an item or a page.
_MAX_TOKENS = 25_000
_JSON = "application/json"
#: What may stand in a part of a URI beside letters and digits.
_PLAIN = "@:!'()*,;=+$&~"


def word(language: Language) -> str:
    """Return what URIs call the packages of a language: ``crate``, else the language."""
    return language.name if language.packaged else "crate"


def uri(*parts: str, path: str = "") -> str:
    """Return the URI of some parts, and of a path below them, which keeps its slashes."""
    quoted = [quote(each, safe=_PLAIN) for each in parts]
    return SCHEME + "/".join([*quoted, *([quote(path, safe=f"/{_PLAIN}")] if path else [])])


@dataclass(frozen=True, slots=True)
class _Lists:
    """The tools behind the resources that are lists; no client is offered them as tools."""

    stowed: Stowed

    def tools(self) -> list[Tool]:
        """Make them."""
        row = result_schema({"name": TEXT, "uri": TEXT})
        schema = result_schema({"results": {"type": "array", "items": row}})
        language = Parameter("language", "string", default="")
        source = Parameter("source", "string", required=True, max_length=2000)
        return [
            Tool("packages", "lists", "", "", (language,), self._packages, schema),
            Tool("sources", "lists", "", "", (), self._sources, schema),
            Tool("pages", "lists", "", "", (source, CURSOR), self._pages, schema),
        ]

    def _packages(self, arguments: Mapping[str, Any]) -> Answer:
        language = language_of(arguments)
        found = self.stowed.packages(language)
        rows = [
            {"name": name, "version": version, "uri": uri(word(language), name, version)}
            for name, version in islice(found.items(), _ROWS)
        ]
        return Answer({"total": len(found), "results": rows})

    def _sources(self, arguments: Mapping[str, Any]) -> Answer:
        del arguments
        found = self.stowed.sources()
        rows = [
            {"name": each.title, "address": each.uri, "uri": uri("source", each.id[:12])}
            for each in found[:_ROWS]
        ]
        return Answer({"total": len(found), "results": rows})

    def _pages(self, arguments: Mapping[str, Any]) -> Answer:
        registration, titles = self.stowed.pages(arguments["source"])
        rows = [
            {"name": title, "uri": uri("source", registration.id[:12], path=path)}
            for path, title in titles.items()
        ]
        members = {"title": registration.title, "address": registration.uri, "total": len(rows)}
        return Answer(members | paged(rows, arguments["cursor"], registration.id, _ROWS))


class _Reader:
    """Opens URIs.

    Args:
        toolbox: the server's tools.
        stowed: the names of what is stowed.
        dropping: drop suspect text instead of marking it.
    """

    def __init__(self, toolbox: Toolbox, stowed: Stowed, *, dropping: bool) -> None:
        self._toolbox = toolbox
        self._stowed = stowed
        self._lists = Toolbox(_Lists(stowed).tools(), dropping=dropping)
        self._languages = {word(each): each for each in languages.documented()}

    def templates(self) -> Iterator[Resource]:
        """Yield the templates of URIs."""
        for name, language in self._languages.items():
            what = "crate" if name == "crate" else f"{language.name} package"
            head = f"{SCHEME}{name}/{{name}}"
            yield Resource(f"{head}/{{version}}/{{path}}", f"item of a {what}", "Its documentation")
            yield Resource(f"{head}/{{version}}", what, "Its summary, features and modules", _JSON)
            yield Resource(head, f"versions of a {what}", "All, newest first", _JSON)
        source = f"{SCHEME}source/{{source}}"
        yield Resource(f"{source}/{{path}}", "page", "A page of a stowed source")
        yield Resource(source, "pages of a source", "Their titles and URIs", _JSON)

    def listed(self, cursor: str) -> ResourcePage:
        """Return a page of the list of resources, lists first."""
        begin = offset(cursor, "resources")
        rows = list(islice(self._all(), begin, begin + _PER_PAGE + 1))
        more = cursor_at(begin + _PER_PAGE, "resources") if len(rows) > _PER_PAGE else None
        return ResourcePage(rows[:_PER_PAGE], more)

    def _all(self) -> Iterator[Resource]:
        told = "The packages that the project asks for, with their versions"
        yield Resource(f"{SCHEME}project", "project", told, _JSON)
        for name, language in self._languages.items():
            told = f"What is stowed of {language.name}, in its newest version"
            yield Resource(f"{SCHEME}{_plural(name)}", f"stowed: {language.name}", told, _JSON)
        yield Resource(f"{SCHEME}sources", "sources", "The stowed sources of pages", _JSON)
        for name, language in self._languages.items():
            for package, version in self._stowed.packages(language).items():
                told = f"Summary of {package} {version}"
                yield Resource(uri(name, package, version), f"{package} {version}", told, _JSON)
        for each in self._stowed.sources():
            # Its title may be anybody's words; an address cannot speak.
            yield Resource(uri("source", each.id[:12]), each.uri, f"Pages of a {each.kind}", _JSON)

    def read(self, address: str, request_id: str) -> Contents | DocstowError:
        """Return what a URI stands for, or the error of its tool."""
        try:
            toolbox, name, arguments = self._call(address)
        except DocstowError as error:
            return error
        outcome = toolbox.attempt(name, arguments, request_id)
        return outcome if isinstance(outcome, DocstowError) else contents(address, outcome)

    def _call(self, address: str) -> tuple[Toolbox, str, dict[str, Any]]:
        """Return the call that a URI stands for.

        Raises:
            InvalidParameter: it is none of ours.
        """
        scheme, found, rest = address.partition("://")
        kind, *parts = (unquote(each) for each in rest.split("/", 3))
        if scheme == "docstow" and found and all(parts):
            plural = next((e for name, e in self._languages.items() if _plural(name) == kind), None)
            match kind, parts:
                case "project", []:
                    return self._toolbox, "scan_packages", {"direct": True}
                case "sources", []:
                    return self._lists, "sources", {}
                case _, [] if plural is not None:
                    return self._lists, "packages", {"language": plural.name}
                case "source", [source]:
                    return self._lists, "pages", {"source": source}
                case "source", [source, *path]:
                    page = {"doc": "/".join(path), "source_id": source, "max_tokens": _MAX_TOKENS}
                    return self._toolbox, "get_doc", page
                case _, [name, *further] if kind in self._languages:
                    return self._toolbox, *_package_call(self._languages[kind], name, further)
                case _:
                    pass
        raise InvalidParameter(
            "uri", "is no resource of this server; list them and their templates"
        )

    def complete(
        self, template: str, argument: str, value: str, given: Mapping[str, str]
    ) -> Sequence[str]:
        """Return values for an argument of a template."""
        kind = template.removeprefix(SCHEME).partition("/")[0]
        language = self._languages.get(kind)
        match argument:
            case "name" if language is not None:
                return package_names(self._stowed, language, value)
            case "version" if language is not None:
                return package_versions(self._toolbox, language, given.get("name", ""), value)
            case "path" if language is not None:
                return self.paths(language, given.get("name", ""), given.get("version", ""), value)
            case "source":
                found = self._stowed.sources()
                sources = {f"{each.title} {each.uri} {each.id}": each.id for each in found}
                return [sources[each][:12] for each in beginning(value, list(sources))]
            case "path" if given.get("source"):
                return beginning(value, list(self._stowed.pages(given["source"])[1]))
            case _:
                return ()

    def paths(self, language: Language, name: str, version: str, value: str) -> Sequence[str]:
        """Return paths of items of a stowed package for the beginning of one, short ones first."""
        if not name:
            return ()
        found = self._stowed.paths(language, name, "" if version == LATEST else version)
        fitting = [each for each in found if each.casefold().startswith(value.casefold())]
        return sorted(fitting or beginning(value, list(found)), key=lambda e: (len(e), e))


def package_names(stowed: Stowed, language: Language, value: str) -> Sequence[str]:
    """Return names of stowed packages for the beginning of one."""
    return beginning(value, list(stowed.packages(language)))


def package_versions(toolbox: Toolbox, language: Language, name: str, value: str) -> Sequence[str]:
    """Return the versions of a package for the beginning of one, newest first.

    Raises:
        DocstowError: as the tool that lists them says.
    """
    if not name:
        return ()
    arguments = {"package": name} | ({"language": language.name} if language.packaged else {})
    answer = toolbox.call("list_versions", arguments).structured or {}
    known = [LATEST, *(str(each["version"]) for each in answer.get("results", ()))]
    return [each for each in known if each.startswith(value)]


def _plural(name: str) -> str:
    return "crates" if name == "crate" else name


def _package_call(
    language: Language, name: str, further: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments for a package, perhaps with its version and a path."""
    arguments: dict[str, Any] = {"package": name}
    if language.packaged:
        arguments["language"] = language.name
    if not further:
        return "list_versions", arguments
    if further[0] != LATEST:
        arguments["version"] = further[0]
    if len(further) == 1:
        return "get_package_summary", arguments
    return "get_item_doc", arguments | {"item_path": further[1], "max_tokens": _MAX_TOKENS}


def resources(toolbox: Toolbox, stowed: Stowed, *, dropping: bool = False) -> Resources:
    """Make the resources of a server.

    Args:
        toolbox: its tools.
        stowed: the names of what is stowed.
        dropping: drop suspect text instead of marking it.
    """
    reader = _Reader(toolbox, stowed, dropping=dropping)
    return Resources(
        tuple(reader.templates()),
        reader.listed,
        reader.read,
        lambda *given: reader.complete(*given)[:MOST_VALUES],
    )
