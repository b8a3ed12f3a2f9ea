"""The tool ``scan_packages``: which packages a project has, in which versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.tools import COUNT, CURSOR_SCHEMA, TEXT, Answer, Tool, cursor_at, offset, result_schema
from docstow.tools.parameters import CURSOR, Parameter

if TYPE_CHECKING:
    from docstow.languages.projects import Project, Projects
    from docstow.languages.projects.mentions import Mentions
    from docstow.languages.shared.project import Environment, Package, Scan

PER_PAGE = 50
_MOST_NAMES = 5
_MOST_PROBLEMS = 10
_MOST_CALLS = 3
_LONGEST_TEXT = 200_000


def tool(projects: Projects) -> Tool:
    """Make the tool, bound to the projects that the server may look into."""
    ecosystems = tuple(each.spelling.ecosystem for each in languages.LANGUAGES.values())
    text = {"type": "array", "items": TEXT}
    flag = {"type": "boolean"}
    package = result_schema(
        {"name": TEXT, "version": TEXT, "import_names": text, "direct": flag},
        location=TEXT,
        language=TEXT,
        summary=TEXT,
        installed=flag,
        editable=flag,
        problem=TEXT,
    )
    environment = result_schema(
        {"ecosystem": TEXT, "kind": TEXT, "location": TEXT, "count": COUNT, "direct": COUNT},
        detail=TEXT,
        packages={"type": "array", "items": package},
    )
    problem = result_schema({"location": TEXT, "reason": TEXT})
    return Tool(
        name="scan_packages",
        toolset="packages",
        slow=True,
        foreign=True,
        title="Packages of a project",
        description=(
            "Lists the project's installed packages (Python, Node; else its lock files; Rust, Go) "
            "with exact versions. text: code or an error message; only what it names is listed, "
            'with the next call. Example: {"query": "http", "direct": true}.'
        ),
        parameters=(
            Parameter("root", "string", "Project", default="", max_length=1000),
            Parameter("query", "string", "In names", default="", max_length=200),
            Parameter("ecosystem", "string", "Whose", default="", choices=ecosystems),
            Parameter("direct", "boolean", "Its own alone", default=False),
            Parameter("text", "string", "Code or an error", default="", max_length=_LONGEST_TEXT),
            Parameter("details", "boolean", "Say more", default=False),
            CURSOR,
        ),
        run=partial(_run, projects),
        output_schema={
            "type": "object",
            "properties": {
                "root": TEXT,
                "roots": text,
                "counts": {"type": "object"},
                "environments": {"type": "array", "items": environment},
                "problems": {"type": "array", "items": problem},
                "notice": TEXT,
                "missing": text,
                "next": {"type": "array", "items": {"type": "object", "required": ["tool"]}},
                "cursor": CURSOR_SCHEMA,
            },
            "required": ["root", "counts", "environments", "cursor"],
        },
        open_world=False,
    )


def _run(projects: Projects, arguments: Mapping[str, Any]) -> Answer:
    project, scan = projects.scan(arguments["root"].strip())
    several = {"roots": list(projects.names)} if len(projects.names) > 1 else {}
    rows = [
        (number, package)
        for number, environment in enumerate(scan.environments)
        for package in environment.packages
    ]
    extra: dict[str, Any] = {}
    if arguments["text"].strip():
        from docstow.languages.projects.mentions import read_mentions

        named = read_mentions(arguments["text"])
        found = {name: _package(scan, named, name) for name in named.names}
        chosen = [each for each in found.values() if each is not None]
        rows = [row for row in rows if any(row[1] is each for each in chosen)]
        extra = _describe_mentions(project, named, found)
    wanted = [row for row in rows if _fits(row[1], arguments)]
    if not wanted and rows:
        extra.setdefault("notice", "no package passes the filters; leave out query, or direct")
    members = {
        "root": project.name,
        **several,
        "counts": {
            "packages": len(wanted),
            "direct": sum(package.direct for _, package in wanted),
        },
        **extra,
        **_page(scan, wanted, arguments, f"{project.root} {_scope(arguments)} {len(wanted)}"),
    }
    return Answer(members)


def _scope(arguments: Mapping[str, Any]) -> list[Any]:
    return [arguments[name] for name in ("query", "ecosystem", "direct", "text")]


def _fits(package: Package, arguments: Mapping[str, Any]) -> bool:
    if arguments["ecosystem"] not in ("", package.ecosystem):
        return False
    if arguments["direct"] and not package.direct:
        return False
    words = arguments["query"].casefold().split()
    text = " ".join((package.name, *package.import_names, package.summary)).casefold()
    return all(word in text or word in text.replace("-", "_") for word in words)


def _page(
    scan: Scan,
    wanted: Sequence[tuple[int, Package]],
    arguments: Mapping[str, Any],
    scope: str,
) -> dict[str, Any]:
    """Return one page of packages, each below its environment; environments with counts."""
    begin = offset(arguments["cursor"], scope)
    end = begin + PER_PAGE
    shown: dict[int, list[dict[str, Any]]] = {}
    for number, package in wanted[begin:end]:
        shown.setdefault(number, []).append(_row(package, details=arguments["details"]))
    filtered = any(_scope(arguments))
    environments = [
        _environment(environment, shown.get(number, []))
        for number, environment in enumerate(scan.environments)
        if number in shown or not filtered
    ]
    problems = [
        {"location": each.location, "reason": each.reason}
        for each in scan.problems[: None if arguments["details"] else _MOST_PROBLEMS]
    ]
    return {
        "environments": environments,
        **({"problems": problems} if problems else {}),
        "cursor": cursor_at(end, scope) if len(wanted) > end else None,
    }


def _environment(environment: Environment, packages: list[dict[str, Any]]) -> dict[str, Any]:
    detail = {"detail": environment.detail} if environment.detail else {}
    return {
        "ecosystem": environment.ecosystem,
        "kind": environment.kind,
        "location": environment.location,
        **detail,
        "count": len(environment.packages),
        "direct": sum(each.direct for each in environment.packages),
        "packages": packages,
    }


def _row(package: Package, *, details: bool) -> dict[str, Any]:
    names = list(package.import_names)
    row: dict[str, Any] = {
        "name": package.name,
        "version": package.version,
        "import_names": names if details else names[:_MOST_NAMES],
        "direct": package.direct,
    }
    if details:
        row |= {
            "location": package.location,
            "language": package.language,
            "summary": package.summary,
            "installed": package.installed,
            "editable": package.editable,
        }
    return row | ({"problem": package.problem} if package.problem else {})


def _package(scan: Scan, named: Mentions, name: str) -> Package | None:
    language = languages.of_name(named.language)
    if named.manifest and language is not None:
        return next(iter(scan.named(name, language.spelling.ecosystem)), None)
    return scan.importing(name, named.language)


def _describe_mentions(
    project: Project, named: Mentions, found: Mapping[str, Package | None]
) -> dict[str, Any]:
    """Describe the packages that a text names, and what to ask next."""
    if not named.names:
        return {"notice": "the text names no packages: it has no imports, and is no error message"}
    own = {name: package for name, package in found.items() if package is not None}
    versions = {f"{each.name} {each.version}": None for each in own.values()}
    missing = [name for name in found if name not in own]
    parts = [f"this project has {', '.join(versions)}"] if versions else []
    if missing:
        parts.append(f"not installed or locked here: {', '.join(missing)}")
    calls = [_next_call(project, named, name, package) for name, package in own.items()]
    if own and not (named.message or named.manifest) and named.language in languages.names():
        arguments = {"language": named.language, "root": project.name, "code": "<this text>"}
        calls = [{"tool": "verify_code", "arguments": arguments}, *calls]
    return {
        "notice": "; ".join(parts),
        **({"missing": missing} if missing else {}),
        **({"next": calls[:_MOST_CALLS]} if calls else {}),
    }


def _next_call(project: Project, named: Mentions, name: str, package: Package) -> dict[str, Any]:
    """Return the call that shows what a package offers, or the name of it that is at fault."""
    if package.ecosystem == languages.RUST.spelling.ecosystem:
        version = {"package": package.name, "version": package.version}
        return {"tool": "get_package_summary", "arguments": version}
    arguments: dict[str, Any] = {"package_name": package.name, "root": project.name}
    if named.names[name] and len(named.names[name]) > 1:
        # The last name is the one that is not there; what it was looked for in is.
        arguments["symbol"] = ".".join((name, *named.names[name][:-1]))
    return {"tool": "read_package", "arguments": arguments}
