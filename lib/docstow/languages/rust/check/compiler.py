"""The errors of ``cargo check`` as findings, joined with those of our own reader.

Errors about members, paths and arguments become findings; errors about types, borrowing, and names
that the rest of a file or crate may bring do not. Suggestions come from the stowed docs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from docstow.languages.rust import cargo_check
from docstow.languages.rust.cargo_check import Error
from docstow.languages.rust.check import look_up_all, verify
from docstow.languages.rust.check.crate_items import TYPES, Crates
from docstow.languages.rust.check.scope import LOCAL_ROOTS, Segments, parse, read_scope
from docstow.languages.rust.check.std import standard_paths
from docstow.languages.shared.findings import PROBLEMS, Finding, Verdict, sort_findings

ENGINE = "cargo"
_UNKNOWN = frozenset(
    {
        *("E0026", "E0220", "E0405", "E0407", "E0412", "E0425", "E0432", "E0433", "E0437"),
        *("E0438", "E0531", "E0532", "E0559", "E0560", "E0574", "E0576", "E0599", "E0609"),
    }
)
_ARGUMENTS = frozenset({"E0023", "E0027", "E0057", "E0061", "E0063", "E0107"})
#: What the compiler says of names that code around this may bring: imports, crates and modules.
_ELSEWHERE = re.compile(r"\bin (?:this scope|the crate root)\b")
_NOTES_ELSEWHERE = (
    "if you wanted to use a crate named",
    "items from traits can only be used if the trait is in scope",
)
_TICKED = re.compile(r"`([^`]+)`")
#: A type as the compiler names it: without its path, where there is but one of that name.
_TYPE = re.compile(r"`(&?(?:'\w+ )?(?:mut )?)([A-Z]\w*)")
_OWNER = re.compile(r"&?(?:'\w+ )?(?:mut )?(\w+(?:::\w+)+)")
_PATH = re.compile(r"\w+(?:::\w+)*")
#: Code that is one of several files of a crate.
_PART = re.compile(r"\b(?:crate|super)::|^\s*(?:pub(?:\([^)]*\))? +)?mod +\w+ *;", re.MULTILINE)
_CONDITIONS = re.compile(r"\bcfg(?:_attr|_if)?!?\s*[({](?!\s*test\s*\))")
_STATEMENTS = frozenset({"let_declaration", "expression_statement"})
_KINDS = TYPES | {"trait", "type_alias"}


def judge(folder: Path, root: Path, code: str, crates: Crates) -> tuple[Verdict, str]:
    """Judge code by Cargo, and by what our own reader finds in it.

    Args:
        folder: where Cargo may build.
        root: of the project.
        code: a file, or some statements.
        crates: those that it may use.

    Returns:
        the verdict, and Cargo's version.

    Raises:
        UnreadableInput: Cargo is not there, or cannot build what the project depends on.
        TooLarge: it takes longer than a call may.
    """
    whole, first_line = code, 1
    if any(_is_statement(each) for each in _top(code)):
        whole, first_line = f"async fn _judged() {{\n{code}\n}}\n", 0
    checked = cargo_check.check(folder, root, whole, first_line=first_line)
    own = verify(code, crates)
    if checked.passed and not _CONDITIONS.search(code):
        return _confirmed(own), checked.cargo
    claims = _Claims(code, crates)
    found = [made for each in checked.errors if (made := claims.finding(each)) is not None]
    return replace(own, findings=_joined(own.findings, found)), checked.cargo


def _top(code: str) -> Iterator[str]:
    """Yield the kinds of what a piece of code is made of; macros count as items."""
    for each in parse(code).root_node.named_children:
        inside = each.named_children[:1]
        is_macro = bool(inside) and inside[0].type == "macro_invocation"
        yield "macro_invocation" if is_macro else each.type


def _is_statement(kind: str) -> bool:
    return kind in _STATEMENTS


def _confirmed(own: Verdict) -> Verdict:
    """Return a verdict on code that compiles: all names are there."""
    findings = tuple(
        each
        if each.status in {"ok", "deprecated"}
        else replace(each, status="ok", message="", suggestions=(), engine=ENGINE)
        for each in own.findings
    )
    return replace(own, findings=findings, missing=())


def _joined(own: Sequence[Finding], found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Join findings: what both have found is told once, as our reader tells it."""
    said = {(each.line, _last(each.name)) for each in found}
    joined: dict[tuple[int, str], Finding] = {}
    rest: list[Finding] = []
    for each in own:
        place = each.line, _last(each.name)
        if place not in said:
            rest.append(each)
        elif each.status in PROBLEMS:
            joined.setdefault(place, replace(each, engine=ENGINE))
    rest += [each for each in found if (each.line, _last(each.name)) not in joined]
    return sort_findings([*rest, *joined.values()])


def _last(name: str) -> str:
    return name.removesuffix("()").rpartition("::")[2]


class _Claims:
    """Takes what the compiler says, or drops it.

    Args:
        code: that it speaks of.
        crates: those that the code may use.
    """

    def __init__(self, code: str, crates: Crates) -> None:
        self._lines = code.split("\n")
        self._crates = crates
        self._scope = read_scope(parse(code).root_node)
        self._is_part = _PART.search(code) is not None

    def finding(self, error: Error) -> Finding | None:
        """Return the finding that an error makes; None where it speaks of something else."""
        if error.code in _ARGUMENTS:
            match = _PATH.search(error.text)
            name = match[0] if match else error.text
            return self._made(error, f"{name}", "")
        if error.code not in _UNKNOWN or self._is_elsewhere(error):
            return None
        message = _TYPE.sub(self._qualify, error.message)
        ticked: list[str] = _TICKED.findall(message)
        if not ticked:
            return None
        words = _PATH.findall(error.text)
        written = words[-1].rpartition("::")[2] if words else ""
        whole = next((each for each in ticked if _last(each) == written), ticked[0])
        name = _last(whole)
        owners = [match[1] for each in ticked if (match := _OWNER.match(each)) and each != whole]
        if self._is_part and any(map(self._scope.has, ticked)):
            return None
        paths = [f"{each}::{name}" for each in owners] if "::" not in whole else [whole]
        if paths and paths[0].split("::", 1)[0] in LOCAL_ROOTS:
            return None
        told = self._looked_up(paths, error.line)
        if told is not None:
            return replace(told, column=error.start + 1, engine=ENGINE)
        return self._made(error, paths[0] if paths else name, message)

    def _is_elsewhere(self, error: Error) -> bool:
        """Return whether a name may come from what is around the code."""
        if _ELSEWHERE.search(error.message):
            return True
        if any(each.startswith(_NOTES_ELSEWHERE) for each in error.notes):
            return True
        line = self._lines[error.line - 1] if 0 < error.line <= len(self._lines) else ""
        start = len(line.encode()[: error.start].decode(errors="ignore"))
        around = (each for each in _PATH.finditer(line) if each.start() <= start < each.end())
        return any(each[0].split("::", 1)[0] in LOCAL_ROOTS - {"Self"} for each in around)

    def _made(self, error: Error, name: str, message: str) -> Finding:
        return Finding(
            line=error.line,
            column=error.start + 1,
            name=name,
            status="wrong_argument" if error.code in _ARGUMENTS else "unknown",
            message=message or f"{name}: {error.message}",
            engine=ENGINE,
        )

    def _looked_up(self, paths: Sequence[str], line: int) -> Finding | None:
        """Return what the stowed docs say of a name that is not there."""
        asked: list[tuple[Segments, int]] = [(tuple(each.split("::")), line) for each in paths]
        found = look_up_all(asked, self._crates).findings
        return next((each for each in found if each.status == "unknown"), None)

    def _qualify(self, match: re.Match[str]) -> str:
        """Return a type's name with its path, where the code or one crate of it tells that."""
        before, name = match[1], match[2]
        whole: Segments = (name,)
        if name in self._scope.imports:
            whole = self._scope.expand((name,)) or whole
        elif name in standard_paths():
            whole = (*standard_paths()[name].split("::"),)
        elif not self._scope.has(name):
            named = set(self._in_crates(name))
            whole = (*named.pop().split("::"),) if len(named) == 1 else whole
        return f"`{before}{'::'.join(whole)}"

    def _in_crates(self, name: str) -> Iterator[str]:
        """Yield the types of that name in the crates that the code imports from."""
        for crate in {each.path[0] for each in self._scope.leaves} - LOCAL_ROOTS:
            names = self._crates.crate(crate)
            if names is not None:
                columns = names.index.columns
                for kind, path in zip(columns["kind"], columns["path"], strict=True):
                    if kind in _KINDS and str(path).endswith(f"::{name}"):
                        yield str(path)
