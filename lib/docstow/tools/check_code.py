"""What ``verify_code`` does: which names of a piece of code exist in the versions that it uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import (
    DocstowError,
    Ingesting,
    InternalError,
    InvalidParameter,
    TooLarge,
)
from docstow.core.model import CRATE, LOCAL
from docstow.core.versions import Version
from docstow.languages.projects import mentions
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.rust.check.crate_items import CrateNames
from docstow.languages.shared.findings import MOST, PROBLEMS, Finding, Status, Verdict
from docstow.languages.shared.history import History, deprecation_note, parameter_names
from docstow.languages.shared.lookup import look_up_all
from docstow.languages.shared.patches import add_patches
from docstow.tools import Answer, paged
from docstow.tools.package_status import count_advisories
from docstow.tools.verify_packages import (
    ProjectFirst,
    StowedPackages,
    foreign_imports,
    not_installed,
    own_names,
    replacing,
)

if TYPE_CHECKING:
    from docstow.core.model import Document, Snapshot
    from docstow.index.loaded import Index
    from docstow.languages.projects import Projects
    from docstow.languages.projects.mentions import Message
    from docstow.languages.shared.engines import Engines
    from docstow.languages.shared.language import Checking, Language
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan
    from docstow.library import Library
    from docstow.sources.advisories import Advisories
    from docstow.store.snapshots import Snapshots

_PER_PAGE = 50
_MOST_NAMED = 8
#: Further versions of a crate that are looked into.
_MOST_OTHERS = 3
#: Items of one path whose notes are read.
_MOST_ITEMS = 4
#: Packages that are stowed for one call, for what their maintainers say.
_MOST_STOWED = 2
#: A finding's name where a keyword is wrong, and the keywords that its message lists.
_KEYWORD = re.compile(r"^(.+)\((\w+)=\)$")
_TAKEN = re.compile(r"; it takes ([\w, ]+)")
#: What is said of names that are merely alike, which nobody needs who knows the right one.
_GUESS = re.compile(r"; did you mean [^?]*\?")


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
) -> Answer:
    """Run ``verify_code``; its parameters are those of :mod:`docstow.tools.verify_code`."""
    code = arguments["code"]
    notices: list[str] = []
    engine = ""
    message = mentions.read_message(code)
    name = arguments["language"] or (message.language if message else language_of(code))
    language = languages.of_name(name)
    versions = _check_versions(arguments["versions"])
    wants_root = arguments["root"] or (not versions and not arguments["lockfile"])
    scan, problem = _scan_project(projects, arguments["root"]) if wants_root else (None, "")
    if language is None or language.checking is None:
        target = arguments["target"].strip()
        crates = StowedCrates(library, snapshots, versions, arguments["lockfile"], scan, target)
        verdict = _verify_rust(code, crates, message)
        notices += crates.notices
        if crates.guessed:
            best = ", ".join(crates.guessed)
            notices.append(f"nobody said which versions are used; best stowed ones: {best}")
    else:
        if arguments["target"]:
            raise InvalidParameter("target", "is for crates")
        checking = language.checking()
        lockfile = "" if arguments["root"] else arguments["lockfile"]
        if scan is not None:
            versions = not_installed(versions, scan, language)
        stowed = StowedPackages(library, snapshots, language, versions, lockfile, scan)
        named = [each.package for each in message.mentions] if message is not None else None
        imports = named if named is not None else mentions.read_imports(language, code)
        with ExitStack() as opened:
            resolver: Resolver = stowed
            if scan is not None:
                own = own_names(scan)
                replaced = replacing(versions, scan, language)
                imports = foreign_imports(imports, scan, language, own, replaced)
                project = opened.enter_context(checking.resolver(scan))
                resolver = ProjectFirst(project, stowed, own, replaced)
            opened.enter_context(stowed.opened(imports))
            if message is None:
                scans = [each for each in (stowed.scan, scan) if each is not None]
                verdict, engine, told = _judge(engines, checking, code, name, resolver, scans)
                notices += told
            else:
                verdict = _look_up_mentions(message, resolver)
            verdict = stowed.explain(verdict)
        notices += [problem] if problem and verdict.missing else []
        notices += stowed.notices.values()
        notices += _tell_guesses(stowed.guessed, scanned=scan is not None)
    successors = StatedSuccessors(
        library,
        snapshots,
        language or languages.RUST,
        lambda package: scan is None or package in versions or not scan.named(package),
    )
    verdict = successors.explain(verdict)
    if message is None:
        verdict = add_patches(verdict, code)
    notices += successors.notices.values()
    if verdict.unread:
        lines = ", ".join(map(str, verdict.unread[:_MOST_NAMED]))
        more = " and others" if len(verdict.unread) > _MOST_NAMED else ""
        notices.append(f"cannot be read, and is not judged: what begins on line {lines}{more}")
    if message is not None:
        notices.append("read as an error message; send the code itself to have all of it checked")
    crates_meant = language is None or language.checking is None
    if crates_meant or wants_root:
        notices += _advise_missing(verdict.missing, crates=crates_meant, scanned=scan is not None)
    judged = [(each.package, each.version) for each in verdict.findings if each.package]
    notices += count_advisories(advisories, language or languages.RUST, judged) if judged else []
    return Answer(_build_answer(verdict, name, engine, notices, arguments))


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


def _verify_rust(code: str, crates: StowedCrates, message: Message | None) -> Verdict:
    from docstow.languages.rust.check import look_up_all, verify

    if message is None:
        return verify(code, crates)
    named = [((each.package, *each.names), each.line) for each in message.mentions]
    return look_up_all(named, crates)


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
    """Have code judged by the language's type checker with our reader, or by our reader alone.

    Returns:
        what is found; the engine, or that there is none; and what is said of that.
    """
    engine, told = checking.engine, []
    is_there = engine is not None and engines is not None and engines.program(engine) is not None
    if engine is not None and engines is not None and checking.judge is not None and is_there:
        for is_last in (False, True):
            try:
                found = checking.judge(engines, code, language, resolver, scans)
            except (TooLarge, InternalError) as error:
                # A server may have ended since the last call; what takes too much takes it again.
                if is_last or isinstance(error, TooLarge):
                    told.append(f"{engine.name}: {error.message}")
                    break
            else:
                return found, f"{engine.name} {engine.version}", []
    return checking.verify(code, resolver, language), "none" if engine else "", told


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
        **({"engine": engine} if engine else {}),
        "counts": dict(counts),
        **_open_share(counts),
        "packages": packages,
        **({"features": features} if features else {}),
        **({"notice": "; ".join(notices)} if notices else {}),
        **paged(
            [_describe_finding(each) for each in wanted],
            arguments["cursor"],
            arguments["code"],
            _PER_PAGE,
        ),
    }


def _open_share(counts: Mapping[Status, int]) -> dict[str, float]:
    """Return the share of the names that could not be judged, so that silence is no praise."""
    total = sum(counts.values())
    return {"not_checked_share": round(counts.get("not_checked", 0) / total, 2)} if total else {}


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
    }
    return {name: value for name, value in row.items() if value or name in {"line", "column"}}


class StatedSuccessors:
    """What maintainers say takes the place of names that are gone or deprecated.

    Args:
        library: opens what is stowed.
        snapshots: what is stowed.
        language: of the packages.
        fetches: whether a package may be stowed for what its maintainers say.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        language: Language,
        fetches: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._fetches = fetches
        self._left = _MOST_STOWED
        #: Packages that are being stowed, and what is said of it.
        self.notices: dict[str, str] = {}
        self._library = library
        self._snapshots = snapshots
        self._language = language
        self._kinds = (language.kind,) if language.packaged else (LOCAL, CRATE)
        self._order = language.versions().order
        self._found: dict[tuple[str, str], tuple[list[Index], History] | None] = {}

    def explain(self, verdict: Verdict) -> Verdict:
        """Return a verdict with such names as the first suggestions."""
        return replace(verdict, findings=tuple(self._explain(each) for each in verdict.findings))

    def _explain(self, finding: Finding) -> Finding:
        if finding.status not in PROBLEMS or not finding.package:
            return finding
        if finding.status == "wrong_argument" and not _KEYWORD.search(finding.name):
            return finding
        if (known := self._known(finding.package, finding.version)) is None:
            return finding
        older, history = known
        if finding.status == "wrong_argument":
            return _explain_parameter(finding, older, history)
        mark = self._language.spelling.separator
        last = finding.name.split(mark)[-1]
        path = f"{finding.path}{mark}{last}" if finding.status == "unknown" else finding.path
        notes, texts = [], []
        for each in dict.fromkeys((path, finding.name)):
            for index in older:
                for document in index.documents(index.find(each)[:_MOST_ITEMS]):
                    notes.append(deprecation_note(document.attributes))
                    texts.append(document.text)
        found = history.successor(path or finding.name, filter(None, notes), texts)
        if found is None or not found.names:
            return finding
        suggestions = tuple(dict.fromkeys((*found.names, *finding.suggestions)))[:MOST]
        if finding.status == "deprecated":
            return replace(finding, suggestions=suggestions)
        said = _GUESS.sub("", finding.message).rstrip(".")
        where = f"{found.origin} of {found.version}" if found.version else found.origin
        message = f"{said}; use {' or '.join(found.names)}, as the {where} says."
        successor = found.names[0] if len(found.names) == 1 else ""
        return replace(finding, suggestions=suggestions, message=message, successor=successor)

    def _known(self, package: str, version: str) -> tuple[list[Index], History] | None:
        """Return a version and those before it, the newest first, and what was written of all."""
        key = package, version
        if key not in self._found:
            self._found[key] = self._load(package, version)
        return self._found[key]

    def _load(self, package: str, version: str) -> tuple[list[Index], History] | None:
        stowed: dict[str, Snapshot] = {}
        name = self._language.spelling.package_key(package)
        for kind in self._kinds:
            for head in self._snapshots.heads(kind, name):
                snapshot = self._snapshots.load(head)
                if snapshot is not None:
                    stowed.setdefault(head.source.version, snapshot)
        if version not in stowed:
            snapshot = self._stow(package, version)
            if snapshot is None:
                return None
            stowed[version] = snapshot
        order = self._order(version)
        ordered = sorted(stowed, key=self._order, reverse=True)
        older = [each for each in ordered if self._order(each) < order][:_MOST_OTHERS]
        newer = [each for each in ordered if self._order(each) > order][:1]
        indexes = {each: self._library.index(stowed[each]) for each in (version, *older, *newer)}
        # The newest changelog has the lines of all versions.
        read = [indexes[each] for each in (*newer, version, *older)]
        history = _history(package, version, indexes[version], read)
        return [indexes[each] for each in (version, *older)], history

    def _stow(self, package: str, version: str) -> Snapshot | None:
        """Have a fetched version stowed; None where that cannot be, or takes too long."""
        if not self._left or not self._language.packaged or not self._fetches(package):
            return None
        self._left -= 1
        try:
            found = self._library.package(self._language, package, version).snapshot
        except Ingesting:
            said = f"what {package} {version} says of its changes is being read; ask again for it"
            self.notices[package] = said
            return None
        except DocstowError:
            return None
        return found if found.revision.version == version else None


def _history(package: str, version: str, index: Index, read: Sequence[Index]) -> History:
    """Return what was written of a version, from its pages and those of others, the newest first.

    It is kept with the index, for the versions that were read last.
    """
    key = package, version, *(each.snapshot.id for each in read)
    known: tuple[object, History] | None = index.made.get(History)
    if known is not None and known[0] == key:
        return known[1]
    pages = [page for each in read for page in _pages(each)]
    history = History(package, pages, index.names(), upto=version)
    index.made[History] = key, history
    return history


def _explain_parameter(finding: Finding, older: Sequence[Index], history: History) -> Finding:
    """Return a finding of a wrong keyword with what the maintainers say takes its place."""
    called = _KEYWORD.search(finding.name)
    if called is None:
        return finding
    path, keyword = called[1], called[2]
    documents = [
        document
        for name in dict.fromkeys((finding.path, path))
        for index in older
        for document in index.documents(index.find(name)[:_MOST_ITEMS])
    ]
    taken = _TAKEN.search(finding.message)
    takes = set(taken[1].split(", ")) if taken is not None else set()
    known = takes.union(*map(parameter_names, documents)) - {keyword}
    texts = [each.text for each in documents]
    found = history.successor_of_parameter(path, keyword, texts, known)
    if found is None or not found.names:
        return finding
    # What the call takes is meant before whatever else the sentence names.
    names = [each for each in found.names if each in takes] or list(found.names)
    suggestions = tuple(dict.fromkeys((*names, *finding.suggestions)))[:MOST]
    where = f"{found.origin} of {found.version}" if found.version else found.origin
    said = finding.message.rstrip(".")
    message = f"{said}; use {' or '.join(names)}, as the {where} says."
    successor = names[0] if len(names) == 1 else ""
    return replace(finding, suggestions=suggestions, message=message, successor=successor)


def _pages(index: Index) -> list[Document]:
    """Return the pages of a package, and its root module, which has what its code says."""
    rows = [
        row
        for row, (kind, path) in enumerate(
            zip(index.columns["kind"], index.columns["path"], strict=True)
        )
        if kind == "page" or (kind == "module" and "." not in str(path))
    ]
    return index.documents(rows) if rows else []


class StowedCrates:
    """Crates by the names that code uses.

    Args:
        library: stows what is asked for by version.
        snapshots: what is stowed.
        versions: by crate, as the caller gave them.
        lockfile: the text of a ``Cargo.lock``; may be empty.
        scan: what a project has, if one is looked into.
        target: compilation target of their docs; empty for the server's own.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        versions: Mapping[str, str],
        lockfile: str,
        scan: Scan | None,
        target: str = "",
    ) -> None:
        self._library = library
        self._target = target
        self._snapshots = snapshots
        self._lock = parse(lockfile) if lockfile else None
        self._versions = {_fold(name): (name, version) for name, version in versions.items()}
        self._scan = scan
        self._are_given = bool(lockfile or versions)
        self._crates: dict[str, CrateNames | None] = {}
        #: What could not be had, and why.
        self.notices: list[str] = []
        #: Versions that nobody asked for.
        self.guessed: list[str] = []

    def crate(self, name: str) -> CrateNames | None:
        """Return the crate in the version that is meant; None where there is none at hand."""
        if name not in self._crates:
            self._crates[name] = self._find(name)
        return self._crates[name]

    def other_versions(self, name: str) -> Sequence[CrateNames]:
        """Return further stowed versions, the newest first."""
        here = self._crates.get(name)
        if here is None:
            return ()
        source = here.index.snapshot.revision.source
        of_package = self._snapshots.heads(source.kind, here.package)
        heads = {e.source.version: e for e in of_package if e.source.target == source.target}
        found: list[CrateNames] = []
        for version in sorted(heads, key=Version.parse, reverse=True):
            if version == here.version or not heads[version].snapshot_id:
                continue
            if (snapshot := self._snapshots.load(heads[version])) is not None:
                found.append(CrateNames.of(self._library.index(snapshot)))
            if len(found) == _MOST_OTHERS:
                break
        return found

    def _find(self, name: str) -> CrateNames | None:
        package, version = self._wanted(name)
        if not version:
            return None if self._are_given else self._stowed(name)
        try:
            stowed = self._library.crate(package, version, self._target)
        except DocstowError as error:
            self.notices.append(f"{package} {version}: {error}")
            return None
        return CrateNames.of(self._library.index(stowed.snapshot))

    def _wanted(self, name: str) -> tuple[str, str]:
        """Return the package and version that caller, lock file or project mean by a name."""
        if (given := self._versions.get(_fold(name))) is not None:
            return given
        if self._lock is not None:
            found = [each for each in self._lock.named(name) if each.source]
            if found:
                return found[0].name, self._lock.locked(name).version
        if self._scan is not None:
            package = self._scan.importing(name, "rust")
            if package is not None and package.version:
                return package.name, package.version
        return name, ""

    def _stowed(self, name: str) -> CrateNames | None:
        """Return the best stowed version; no upstream learns the name."""
        for spelling in dict.fromkeys((name, name.replace("_", "-"))):
            stowed = self._library.stowed(spelling, "", self._target)
            if stowed is not None:
                self.guessed.append(f"{stowed.name} {stowed.version}")
                return CrateNames.of(self._library.index(stowed.snapshot))
        return None


def _fold(name: str) -> str:
    return name.replace("-", "_").lower()
