"""What ``verify_code`` does: which names of a piece of code exist in the versions that it uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import (
    DocstowError,
    InternalError,
    InvalidParameter,
    TooLarge,
)
from docstow.languages.projects import mentions
from docstow.languages.shared.findings import PROBLEMS, Finding, Verdict
from docstow.languages.shared.lookup import look_up_all
from docstow.languages.shared.patches import add_patches
from docstow.tools.package_status import count_advisories
from docstow.tools.stated_successors import StatedSuccessors
from docstow.tools.verify_packages import (
    ProjectFirst,
    StowedPackages,
    foreign_imports,
    not_installed,
    own_names,
    replacing,
)

if TYPE_CHECKING:
    from pathlib import Path

    from docstow.languages.projects import Projects
    from docstow.languages.projects.mentions import Message
    from docstow.languages.shared.engines import Engines
    from docstow.languages.shared.language import Checking, Language
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan
    from docstow.library import Library
    from docstow.sources.advisories import Advisories
    from docstow.store.snapshots import Snapshots
    from docstow.tools.verify_crates import StowedCrates

_MOST_NAMED = 8


def language_of(code: str) -> str:
    """Return the language that a piece of code is most likely written in.

    Raises:
        InvalidParameter: nothing tells it.
    """
    texts = {each.name: each.texts() for each in languages.documented()}
    scores = {n: len(t.code.findall(code)) for n, t in texts.items() if t.code is not None}
    best = max(scores, key=lambda name: scores[name])
    if not scores[best]:
        known = ", ".join(languages.names())
        raise InvalidParameter("language", f"cannot be told; give one of {known}")
    return texts[best].dialect(code) or best


def verify(
    library: Library,
    snapshots: Snapshots,
    projects: Projects | None,
    advisories: Advisories | None,
    engines: Engines | None,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Do what ``verify_code`` does, and return its answer with all results on one page.

    The parameters are those of :mod:`docstow.tools.verify_code`.
    """
    asked = _read_arguments(projects, arguments)
    scan = asked.scan
    if asked.packaged is None:
        judged = _judge_crates(library, snapshots, projects, engines, asked)
    else:
        judged = _judge_packages(library, snapshots, engines, asked, asked.packaged)
    successors = StatedSuccessors(
        library,
        snapshots,
        asked.language,
        lambda package: scan is None or package in asked.versions or not scan.named(package),
    )
    verdict = successors.explain(judged.verdict)
    if asked.message is None:
        verdict = add_patches(verdict, asked.code)
    notices = [*judged.notices, *successors.notices.values()]
    if verdict.unread:
        lines = ", ".join(map(str, verdict.unread[:_MOST_NAMED]))
        more = " and others" if len(verdict.unread) > _MOST_NAMED else ""
        notices.append(f"cannot be read, and is not judged: what begins on line {lines}{more}")
    if asked.message is not None:
        notices.append("read as an error message; send the code itself to have all of it checked")
    if asked.packaged is None or asked.wants_root:
        crates = asked.packaged is None
        notices += _advise_missing(verdict.missing, crates=crates, scanned=scan is not None)
    named = [(each.package, each.version) for each in verdict.findings if each.package]
    notices += count_advisories(advisories, asked.language, named) if named else []
    return _build_answer(verdict, asked.name, judged.engine, notices, listed=arguments["all"])


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be checked.

    Attributes:
        code: it, or an error message.
        name: its language's name, or its alias.
        language: that.
        packaged: how code of the language is checked; None for crates.
        message: the code, read as an error message; None for code.
        versions: by package, of those that are not installed in these.
        lockfile: text; empty for none.
        root: of the project, as the caller names it.
        wants_root: whether a project's versions are meant.
        target: compilation target of crates' docs.
        scan: what the project has, if there is one.
        problem: why there is no scan.
    """

    code: str
    name: str
    language: Language
    packaged: Checking | None
    message: Message | None
    versions: Mapping[str, str]
    lockfile: str
    root: str
    wants_root: bool
    target: str
    scan: Scan | None
    problem: str


@dataclass(frozen=True, slots=True)
class _Judged:
    """A verdict, the engine that took part, and what is said beside it."""

    verdict: Verdict
    engine: str
    notices: Sequence[str]


def _read_arguments(projects: Projects | None, arguments: Mapping[str, Any]) -> _Asked:
    code, root = arguments["code"], arguments["root"]
    message = mentions.read_message(code)
    name = arguments["language"] or (message.language if message else language_of(code))
    language = languages.of_name(name) or languages.RUST
    packaged = language.checking() if language.checking is not None else None
    target = arguments["target"].strip()
    if target and packaged is not None:
        raise InvalidParameter("target", "is for crates")
    versions = _check_versions(arguments["versions"])
    wants_root = bool(root or (not versions and not arguments["lockfile"]))
    scan, problem = _scan_project(projects, root) if wants_root else (None, "")
    if packaged is not None and scan is not None:
        versions = not_installed(versions, scan, language)
    return _Asked(
        code=code,
        name=name,
        language=language,
        packaged=packaged,
        message=message,
        versions=versions,
        lockfile=arguments["lockfile"],
        root=root,
        wants_root=wants_root,
        target=target,
        scan=scan,
        problem=problem,
    )


def _judge_crates(
    library: Library,
    snapshots: Snapshots,
    projects: Projects | None,
    engines: Engines | None,
    asked: _Asked,
) -> _Judged:
    """Check Rust code against crates; by Cargo, too, where the operator has turned that on."""
    from docstow.languages.rust.check import imported_crates, look_up_all, verify
    from docstow.tools.verify_crates import StowedCrates

    scan, message = asked.scan, asked.message
    may_fetch = message is None and _may_fetch(library)
    crates = StowedCrates(
        library,
        snapshots,
        asked.versions,
        asked.lockfile,
        scan,
        asked.target,
        may_fetch=may_fetch,
    )
    engine, told = "", list[str]()
    if may_fetch:
        own = own_names(scan) if scan is not None else frozenset()
        crates.fetch(each for each in imported_crates(asked.code) if each not in own)
    if message is not None:
        named = [((each.package, *each.names), each.line) for each in message.mentions]
        verdict = look_up_all(named, crates)
    elif engines is not None and engines.builds is not None:
        verdict, engine, told = _judge_by_cargo(engines.builds, projects, asked, crates)
    else:
        verdict = verify(asked.code, crates)
    verdict = crates.explain(verdict)
    told += crates.notices
    if crates.fetched:
        told.append(f"nobody said which versions are used; fetched: {', '.join(crates.fetched)}")
    if crates.shown:
        told.append(f"other crates' docs name items of theirs; fetched: {', '.join(crates.shown)}")
    if crates.guessed and engine in {"", "none"}:
        best = ", ".join(crates.guessed)
        told.append(f"nobody said which versions are used; best stowed ones: {best}")
    return _Judged(verdict, engine, told)


def _may_fetch(library: Library) -> bool:
    """Return whether registries may be asked for what code only imports."""
    environments = library.installed.environments
    return environments is not None and environments.guesses


def _judge_by_cargo(
    builds: Path, projects: Projects | None, asked: _Asked, crates: StowedCrates
) -> tuple[Verdict, str, list[str]]:
    """Have Rust code judged by Cargo in a project, with our reader, or by our reader alone."""
    from docstow.languages.rust.check import verify
    from docstow.languages.rust.check.compiler import judge
    from docstow.tools.verify_crates import cargo_project

    told: list[str] = []
    root = cargo_project(projects, asked.root, asked.scan) if asked.wants_root else None
    if root is not None and not asked.versions:
        try:
            verdict, version = judge(builds, root, asked.code, crates)
        except DocstowError as error:
            told.append(f"cargo check: {error.message}")
        else:
            return verdict, f"cargo {version}", []
    return verify(asked.code, crates), "none", told


def _judge_packages(
    library: Library,
    snapshots: Snapshots,
    engines: Engines | None,
    asked: _Asked,
    checking: Checking,
) -> _Judged:
    """Check code against packages that are installed, stowed or fetched for this."""
    scan, message, language = asked.scan, asked.message, asked.language
    lockfile = "" if asked.root else asked.lockfile
    stowed = StowedPackages(library, snapshots, language, asked.versions, lockfile, scan)
    named = [each.package for each in message.mentions] if message is not None else None
    imports = named if named is not None else mentions.read_imports(language, asked.code)
    engine, told = "", list[str]()
    with ExitStack() as opened:
        resolver: Resolver = stowed
        if scan is not None:
            own = own_names(scan)
            replaced = replacing(asked.versions, scan, language)
            imports = foreign_imports(imports, scan, language, own, replaced)
            project = opened.enter_context(checking.resolver(scan))
            resolver = ProjectFirst(project, stowed, own, replaced)
        opened.enter_context(stowed.opened(imports))
        if message is None:
            scans = [each for each in (stowed.scan, scan) if each is not None]
            verdict, engine, told = _judge(
                engines, checking, asked.code, asked.name, resolver, scans
            )
        else:
            verdict = _look_up_mentions(message, resolver)
        verdict = stowed.explain(verdict)
    told += [asked.problem] if asked.problem and verdict.missing else []
    told += stowed.notices.values()
    told += _tell_guesses(stowed.guessed, scanned=scan is not None)
    return _Judged(verdict, engine, told)


def _check_versions(given: Mapping[str, Any] | None) -> dict[str, str]:
    for name, version in (given or {}).items():
        if not isinstance(version, str):
            raise InvalidParameter("versions", f"of {name!r} must be a string such as '1.2.3'")
    return dict(given or {})


def _scan_project(projects: Projects | None, root: str) -> tuple[Scan | None, str]:
    """Return what the project has; without a root that was asked for, why not."""
    if projects is None:
        if root:
            raise InvalidParameter("root", "no project root: start with --root DIR")
        return None, ""
    try:
        return projects.scan(root)[1], ""
    except DocstowError as error:
        if root:
            raise
        return None, str(error)


def _tell_guesses(guessed: Mapping[str, str], *, scanned: bool) -> list[str]:
    """Return what is said of packages of which nobody told a version."""
    if not guessed:
        return []
    shown = ", ".join(f"{name} {version}" for name, version in guessed.items())
    why = "not installed in the project" if scanned else "nobody said which versions are used"
    return [f"{why}; the newest were fetched: {shown}"]


def _look_up_mentions(message: Message, resolver: Resolver) -> Verdict:
    return look_up_all([(e.package, e.names, e.line) for e in message.mentions], resolver)


def _judge(
    engines: Engines | None,
    checking: Checking,
    code: str,
    language: str,
    resolver: Resolver,
    scans: Sequence[Scan],
) -> tuple[Verdict, str, list[str]]:
    """Have code judged by the language's type checkers with our reader, or by our reader alone.

    Returns:
        what is found; the engines, or that there is none; and what is said of that.
    """
    there = [each for each in checking.engines if engines is not None and engines.program(each)]
    told: list[str] = []
    if there and engines is not None and checking.judge is not None:
        title = ", ".join(f"{each.name} {each.version}" for each in there)
        for is_last in (False, True):
            try:
                found = checking.judge(engines, code, language, resolver, scans)
            except (TooLarge, InternalError) as error:
                # A server may have ended since the last call; what takes too much takes it again.
                if is_last or isinstance(error, TooLarge):
                    told.append(f"{title}: {error.message}")
                    break
            else:
                return found, title, []
    return checking.verify(code, resolver, language), "none" if checking.engines else "", told


def _advise_missing(names: Sequence[str], *, crates: bool, scanned: bool) -> list[str]:
    """Return what to do about packages of which no version is at hand."""
    if not names:
        return []
    shown = ", ".join(names[:_MOST_NAMED]) + (" and others" if len(names) > _MOST_NAMED else "")
    if crates:
        call = f'give versions {{"{names[0]}": "<version>"}} or the text of Cargo.lock as lockfile'
    elif scanned:
        call = "install them, or look at scan_packages for what is"
    else:
        call = (
            "give root, a project whose environment has them: docstow serve --root DIR; or "
            f'versions {{"{names[0]}": "<version>"}} or lockfile text'
        )
    return [f"no local version of {shown}; {call}"]


def _build_answer(
    verdict: Verdict,
    language: str,
    engine: str,
    notices: Sequence[str],
    *,
    listed: bool,
) -> dict[str, Any]:
    counts = Counter(each.status for each in verdict.findings)
    wanted = [each for each in verdict.findings if listed or each.status in PROBLEMS]
    packages = {each.package: each.version for each in verdict.findings if each.package}
    features = {name: list(used) for name, used in verdict.features.items() if used}
    return {
        "asked": language,
        "answered": ", ".join(f"{name} {version}" for name, version in packages.items()),
        "substituted": False,
        "language": language,
        **({"engine": engine} if engine else {}),
        "counts": dict(counts),
        **_tell_open(verdict.findings),
        "packages": packages,
        **({"features": features} if features else {}),
        **({"notice": "; ".join(notices)} if notices else {}),
        "results": [_describe_finding(each) for each in wanted],
    }


def _tell_open(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the share of the names that could not be judged, and why: silence is no praise.

    Names are counted by their reasons, the most frequent first.
    """
    if not findings:
        return {}
    open_ = Counter(each.why for each in findings if each.status == "not_checked")
    told: dict[str, Any] = {"not_checked_share": round(open_.total() / len(findings), 2)}
    return {**told, **({"not_checked": dict(open_.most_common())} if open_ else {})}


def _describe_finding(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {
        "line": finding.line,
        "column": finding.column,
        "name": finding.name,
        "status": finding.status,
        "message": finding.message,
        "suggestions": list(finding.suggestions),
        "package": finding.package,
        "version": finding.version,
        "engine": finding.engine if finding.status in PROBLEMS else "",
        "patch": finding.patch,
        "reason": finding.why,
    }
    return {name: value for name, value in row.items() if value or name in {"line", "column"}}
