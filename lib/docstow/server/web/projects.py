"""The pages about versions, dependencies, a project's packages, its code, and its agents."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from docstow import languages
from docstow.core.errors import DocstowError
from docstow.server.clients import CLIENTS, TOKEN_VARIABLE, Server, render_entry
from docstow.server.web import addresses, plots
from docstow.server.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docstow.server.web.visit import Visit

#: The classes of changes in the order in which they matter.
_CLASSES = ("breaking", "compatible", "docs-only")
#: Changes and packages that are listed at most.
_MOST_CHANGES, _MOST_PACKAGES = 200, 1000
_MOST_MODULES = 40
_LEVELS = {"unknown": "bad", "wrong_argument": "bad", "deprecated": "warn"}


def _asked(visit: Visit) -> dict[str, str]:
    """Return the arguments that name the package of a page."""
    language = languages.of_name(visit.query.get("language", "rust")) or languages.RUST
    named = {"package": visit.query.get("package", "")}
    return named | ({"language": language.name} if language.packaged else {})


def _all(visit: Visit, tool: str, **arguments: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the pages of a tool's list."""
    cursor: str | None = ""
    while cursor is not None:
        page = visit.read(tool, **arguments, cursor=cursor)
        yield page
        cursor = page["cursor"]


def versions(visit: Visit) -> Response:
    """Return the versions of a package, and what compares two of them."""
    asked = _asked(visit)
    rows = [row for page in _all(visit, "list_versions", **asked) for row in page["results"]]
    language = asked.get("language", "rust")
    path = visit.query.get("path", "")
    for row in rows:
        at = addresses.package(language, asked["package"], row["version"])
        row["href"] = (
            addresses.item(language, asked["package"], row["version"], path) if path else at
        )
    return render(
        "versions.html", visit, package=asked["package"], language=language, rows=rows, path=path
    )


def diff(visit: Visit) -> Response:
    """Return what changed between two versions, breaking changes first."""
    asked = _asked(visit)
    language = asked.get("language", "rust")
    given = {"from_version": visit.query.get("from", ""), "to_version": visit.query.get("to", "")}
    pages = _all(visit, "diff_versions", **asked, **given)
    first = next(pages)
    rows = [dict(each) for each in first["results"]]
    for page in pages:
        rows += [dict(each) for each in page["results"]]
        if len(rows) >= _MOST_CHANGES:
            break
    for row in rows:
        gone = row.get("rule") == "item-removed"
        version = first["from"]["answered"] if gone else first["answered"]
        path = row.get("new_path") or row["path"]
        row["href"] = addresses.item(language, asked["package"], version, path)
    return render(
        "diff.html",
        visit,
        package=asked["package"],
        language=language,
        found=first,
        groups=[(name, [row for row in rows if row["class"] == name]) for name in _CLASSES],
        left=first["total"] - len(rows),
    )


def dependencies(visit: Visit) -> Response:
    """Return what a package depends on as a picture, and the sizes of its modules."""
    asked = _asked(visit)
    version = visit.query.get("version", "")
    language = asked.get("language", "rust")
    found: Mapping[str, Any] = {}
    told = ""
    try:
        found = visit.read("get_dependencies", **asked, version=version, depth=2)
    except DocstowError as error:
        told = error.message
    nodes = [_node(each, language) for each in found.get("tree", ())]
    return render(
        "dependencies.html",
        visit,
        package=asked["package"],
        language=language,
        version=version,
        told=told,
        rows=found.get("results", ()),
        graph=plots.graph(f"What {asked['package']} depends on", nodes) if nodes else "",
        modules=_modules(visit, asked, language, version),
    )


def _node(row: Mapping[str, Any], language: str) -> plots.Node:
    name, _, version = str(row["release"]).rpartition(" ")
    href = addresses.package(language, name, version)
    return plots.Node(row["release"], row["depth"], row.get("needs", ()), href)


def _modules(visit: Visit, asked: Mapping[str, str], language: str, version: str) -> Any:
    try:
        tree = visit.read("get_module_tree", **asked, version=version, depth=20)["results"]
    except DocstowError:
        return ""
    sizes = {each["path"]: sum(each["items"].values()) for each in tree}
    largest = sorted(sizes, key=lambda path: -sizes[path])[:_MOST_MODULES]
    rows = [
        plots.Bar(
            path,
            sizes[path],
            f"{sizes[path]} items",
            addresses.item(language, asked["package"], version or addresses.LATEST, path),
        )
        for path in largest
    ]
    return plots.bars("Modules by the number of their items", rows)


def project(visit: Visit) -> Response:
    """Return the packages of a project, each with whether its docs are stowed."""
    root = visit.query.get("root", "")
    pages: list[Mapping[str, Any]] = []
    told = ""
    try:
        scanned = _all(visit, "scan_packages", root=root, details=True)
        pages = list(islice(scanned, _MOST_PACKAGES // 100))
    except DocstowError as error:
        told = error.message
    stowed = _stowed(visit)
    groups: dict[str, dict[str, Any]] = {}
    for page in pages:
        for each in page["environments"]:
            group = groups.setdefault(f"{each['kind']} {each['location']}", {**each, "rows": []})
            group["rows"] += [_package(row, each["ecosystem"], stowed) for row in each["packages"]]
    return render(
        "project.html",
        visit,
        told=told,
        root=pages[0]["root"] if pages else root,
        roots=pages[0].get("roots", ()) if pages else (),
        problems=pages[0].get("problems", ()) if pages else (),
        groups=list(groups.values()),
    )


def _stowed(visit: Visit) -> set[tuple[str, str, str]]:
    """Return language, name and version of what is stowed, as far as the catalogue lists it."""
    cards = visit.services.open_catalog().card_set()
    found = set()
    for language in languages.documented():
        for kind in (language.kind,) if language.packaged else ("crate", "local"):
            found |= {
                (
                    language.name,
                    language.spelling.package_key(each.source.name),
                    each.source.version,
                )
                for each in cards.listed(kind)
            }
    return found


def _package(
    row: Mapping[str, Any], ecosystem: str, stowed: set[tuple[str, str, str]]
) -> dict[str, Any]:
    language = languages.of_ecosystem(ecosystem)
    if language is None or not language.documented:
        return {**row, "href": "", "stowed": False}
    name = language.spelling.package_key(row["name"])
    return {
        **row,
        "href": addresses.package(language.name, row["name"], row["version"]),
        "stowed": (language.name, name, row["version"]) in stowed,
    }


def check(visit: Visit) -> Response:
    """Return the form that code is checked by, and what was found at its lines."""
    given = visit.form
    code, language = given.get("code", ""), given.get("language", "")
    findings: list[dict[str, Any]] = []
    told, counts = "", {}
    if code.strip():
        try:
            for page in _all(visit, "verify_code", code=code, language=language):
                counts = page["counts"]
                told = page.get("notice", "")
                findings += [dict(each) for each in page["results"]]
        except DocstowError as error:
            told = error.message
    by_line: dict[int, list[dict[str, Any]]] = {}
    for each in findings:
        if level := _LEVELS.get(each["status"]):
            by_line.setdefault(each["line"], []).append({**each, "level": level})
    return render(
        "check.html",
        visit,
        code_text=code,
        language=language,
        names=languages.names(),
        told=told,
        counts=counts,
        lines=code.splitlines(),
        by_line=by_line,
    )


def connect(visit: Visit) -> Response:
    """Return what goes into the file of each client, for this very server."""
    token = bool(visit.services.tokens)
    server = Server(url=f"{visit.address}/mcp", token=token)
    clients = [
        {
            "name": name,
            "title": client.title,
            "text": render_entry(client, server),
            "file": f"~/{client.user}" if client.user else "",
            "project": client.project,
            "says": client.says,
        }
        for name, client in CLIENTS.items()
    ]
    return render(
        "connect.html",
        visit,
        clients=clients,
        url=server.url,
        token=TOKEN_VARIABLE if token else "",
    )
