"""The tool ``verify_code``: which names of a piece of code exist in a project's versions.

This room knows the parameters, where versions come from and the answer's shape. It does not know
how code is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, InvalidParameter
from docstow.languages.projects import mentions as messages
from docstow.languages.shared.findings import PROBLEMS, Finding, Verdict
from docstow.tools._tools_registry import Answer, Tool
from docstow.tools.answers import COUNT, TEXT, list_schema, paged, result_schema
from docstow.tools.parameters import Parameter
from docstow.tools.verify_code__tools_packages_crates import StowedCrates
from docstow.tools.verify_code__tools_packages_stowed import StowedPackages

if TYPE_CHECKING:
    from docstow.languages.projects import Projects
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

LANGUAGES = ("rust", "python", "typescript", "javascript")
PER_PAGE = 50
_LONGEST = 200_000
_MOST_NAMED = 8
_TYPESCRIPT = re.compile(
    r"^\s*(import .* from ['\"]|import ['\"]|export (default|const|function|class|type|interface)"
    r"|const \w+ = require\()|=>|^\s*(const|let) .*=|\binterface \w+ \{",
    re.MULTILINE,
)
#: What only plain scripts of Node do.
_SCRIPT = re.compile(
    r"^\s*(?:(?:const|let|var)\b.*= )?(?:require\(|module\.exports\b)", re.MULTILINE
)
#: What only modules, or only TypeScript, have.
_NO_SCRIPT = re.compile(
    r"^\s*(?:import|export)\b|\b(?:interface|enum|type) \w+|\)\s*:|: \w+ =", re.MULTILINE
)
_RUST = re.compile(
    r"^\s*(use [\w:]+|pub |fn |impl|let |#\[|extern crate|mod |struct )", re.MULTILINE
)
_PYTHON = re.compile(
    r"^\s*(import [\w.]+|from [\w.]+ import|def \w+\(.*\).*:|class \w+.*:|>>> )", re.MULTILINE
)


def verify_code_tool(
    library: Library, snapshots: Snapshots, projects: Callable[[], Projects] | None
) -> Tool:
    """The tool.

    Args:
        library: where crates are found and stowed.
        snapshots: what is stowed already.
        projects: the projects that may be looked into; None where there are none.
    """
    finding = result_schema(
        {"line": COUNT, "name": TEXT, "status": TEXT},
        column=COUNT,
        message=TEXT,
        suggestions={"type": "array", "items": TEXT},
        package=TEXT,
        version=TEXT,
    )
    return Tool(
        name="verify_code",
        toolset="packages",
        title="Verify code",
        description=(
            "Checks code before you hand it over: is each import, path, method and argument there "
            "in the project's versions? Nearest names for what does not. Takes an error message "
            "too. Versions: root's environment, lockfile text, or versions {name: version}. "
            'Example: {"code": "use tokio::spwan;", "language": "rust", "versions": '
            '{"tokio": "1"}}.'
        ),
        parameters=(
            Parameter("code", "string", "", required=True, max_length=_LONGEST),
            Parameter("language", "string", "", default="", choices=LANGUAGES),
            Parameter("root", "string", "", default="", max_length=1000),
            Parameter("lockfile", "string", "", default=""),
            Parameter("versions", "object", ""),
            Parameter("all", "boolean", "List what is right too", default=False),
            Parameter("cursor", "string", "", default="", max_length=400),
        ),
        run=partial(_run, library, snapshots, projects),
        output_schema=list_schema(
            finding,
            language=TEXT,
            counts={"type": "object"},
            packages={"type": "object"},
            features={"type": "object"},
        ),
    )


def language_of(code: str) -> str:
    """The language that a piece of code is most likely written in."""
    scores = {
        "rust": len(_RUST.findall(code)),
        "python": len(_PYTHON.findall(code)),
        "typescript": len(_TYPESCRIPT.findall(code)),
    }
    best = max(scores, key=lambda name: scores[name])
    if not scores[best]:
        raise InvalidParameter("language", f"cannot be told; give one of {', '.join(LANGUAGES)}")
    if best == "typescript" and _SCRIPT.search(code) and not _NO_SCRIPT.search(code):
        return "javascript"
    return best


def _run(
    library: Library,
    snapshots: Snapshots,
    projects: Callable[[], Projects] | None,
    arguments: Mapping[str, Any],
) -> Answer:
    code, notices = arguments["code"], []
    said = messages.read(code)
    language = arguments["language"] or (said.language if said else language_of(code))
    versions = _versions(arguments["versions"])
    wants_root = arguments["root"] or (not versions and not arguments["lockfile"])
    scan, problem = _scanned(projects, arguments["root"]) if wants_root else (None, "")
    if language == "rust":
        crates = StowedCrates(library, snapshots, versions, arguments["lockfile"], scan)
        verdict = _verify_rust(code, crates, said)
        notices += crates.notices
        if crates.guessed:
            best = ", ".join(crates.guessed)
            notices.append(f"nobody said which versions are used; best stowed ones: {best}")
    else:
        lockfile = "" if arguments["root"] else arguments["lockfile"]
        stowed = StowedPackages(library, snapshots, language, versions, lockfile)
        with _resolver(language, scan) if wants_root else nullcontext(stowed) as resolver:
            verdict = stowed.explained(_verify_installed(code, language, resolver, said))
        notices += [problem] if problem and verdict.missing else []
        notices += stowed.notices.values()
    if verdict.unread:
        lines = ", ".join(map(str, verdict.unread[:_MOST_NAMED]))
        more = " and others" if len(verdict.unread) > _MOST_NAMED else ""
        notices.append(f"cannot be read, and is not judged: what begins on line {lines}{more}")
    if said is not None:
        notices.append("read as an error message; send the code itself to have all of it checked")
    if language == "rust" or wants_root:
        notices += _missing(verdict.missing, language, scanned=scan is not None)
    return Answer(_shown(verdict, language, notices, arguments))


def _versions(given: Mapping[str, Any] | None) -> dict[str, str]:
    for name, version in (given or {}).items():
        if not isinstance(version, str):
            raise InvalidParameter("versions", f"of {name!r} must be a string such as '1.2.3'")
    return dict(given or {})


def _scanned(projects: Callable[[], Projects] | None, root: str) -> tuple[Scan | None, str]:
    """What the project has; without a root that was asked for, why not."""
    if projects is None:
        if root:
            raise InvalidParameter("root", "no project root: start with --root DIR")
        return None, ""
    try:
        return projects().scan(root)[1], ""
    except DocstowError as error:
        if root:
            raise
        return None, str(error)


def _resolver(language: str, scan: Scan | None) -> AbstractContextManager[Resolver]:
    from docstow.languages.projects.resolver import Nothing, of_scan

    return of_scan(scan, language) if scan is not None else nullcontext(Nothing(language))


def _verify_rust(code: str, crates: StowedCrates, said: messages.Message | None) -> Verdict:
    from docstow.languages.rust import check as rust_code

    if said is None:
        return rust_code.verify(code, crates)
    return rust_code.look_up_all(
        [((each.package, *each.names), each.line) for each in said.mentions], crates
    )


def _verify_installed(
    code: str, language: str, resolver: Resolver, said: messages.Message | None
) -> Verdict:
    if said is not None:
        from docstow.languages.shared.lookup import look_up_all

        named = [(each.package, each.names, each.line) for each in said.mentions]
        return look_up_all(named, resolver)
    if language == "python":
        from docstow.languages.python import check as python_code

        return python_code.verify(code, resolver)
    from docstow.languages.typescript import check as javascript_code

    return javascript_code.verify(code, resolver, typed=language == "typescript")


def _missing(names: Sequence[str], language: str, *, scanned: bool) -> list[str]:
    """What to do about packages of which no version is at hand."""
    if not names:
        return []
    shown = ", ".join(names[:_MOST_NAMED]) + (" and others" if len(names) > _MOST_NAMED else "")
    if language == "rust":
        call = f'give versions {{"{names[0]}": "<version>"}} or the text of Cargo.lock as lockfile'
    elif scanned:
        call = "install them, or look at scan_packages for what is"
    else:
        call = (
            "give root, a project whose environment has them: docstow serve --root DIR; or "
            f'versions {{"{names[0]}": "<version>"}} or lockfile text, for what is stowed'
        )
    return [f"no local version of {shown}; {call}"]


def _shown(
    verdict: Verdict,
    language: str,
    notices: Sequence[str],
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    counts = Counter(each.status for each in verdict.findings)
    wanted = [each for each in verdict.findings if arguments["all"] or each.status in PROBLEMS]
    packages = {each.package: each.version for each in verdict.findings if each.package}
    features = {name: list(used) for name, used in verdict.features.items() if used}
    return {
        "asked": language,
        "answered": ", ".join(f"{name} {version}" for name, version in packages.items()),
        "substituted": False,
        "language": language,
        "counts": dict(counts),
        "packages": packages,
        **({"features": features} if features else {}),
        **({"notice": "; ".join(notices)} if notices else {}),
        **paged([_row(each) for each in wanted], arguments["cursor"], arguments["code"], PER_PAGE),
    }


def _row(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {
        "line": finding.line,
        "column": finding.column,
        "name": finding.name,
        "status": finding.status,
        "message": finding.message,
        "suggestions": list(finding.suggestions),
        "package": finding.package,
        "version": finding.version,
    }
    return {name: value for name, value in row.items() if value or name in {"line", "column"}}
