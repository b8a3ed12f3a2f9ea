"""What maintainers say takes the place of what code uses wrongly, from what is stowed of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, Ingesting
from docstow.core.model import CRATE, LOCAL
from docstow.languages.shared.findings import MOST, PROBLEMS, Finding, Verdict
from docstow.languages.shared.history import History, deprecation_note, parameter_names

if TYPE_CHECKING:
    from docstow.core.model import Document, Snapshot
    from docstow.index.loaded import Index
    from docstow.languages.shared.language import Language
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

#: Further versions of a package that are looked into.
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
