"""The line as it should be, for findings of which it is certain what is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from docstow.languages.shared.findings import Finding, Verdict
from docstow.languages.shared.likeness import SAME, name_similarity

_SEPARATORS = re.compile(r"::|[.#/]")
#: A keyword of a call, as a finding names it.
_KEYWORD = re.compile(r"\((\w+)=\)$")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
#: Lines that bind the names that they mention, so that further lines have them.
_IMPORT = re.compile(r"\s*(?:pub(?:\([\w\s:]+\))?\s+)?(?:use|from|import|export)\b")
#: A shorter name may be another one by chance.
_SHORTEST = 5


def add_patches(verdict: Verdict, code: str) -> Verdict:
    """Return a verdict whose findings have a patch where it is certain what they mean.

    It is where the maintainers name one successor, where names differ in case and underscores
    alone, and where one name alone differs in a letter, or in two that have changed places. The
    line must have the name once, and no other line may depend on it.
    """
    lines = code.split("\n")
    findings = [_patched(each, lines, verdict.findings) for each in verdict.findings]
    return replace(verdict, findings=tuple(findings))


def _patched(finding: Finding, lines: Sequence[str], others: Sequence[Finding]) -> Finding:
    if finding.status not in {"unknown", "wrong_argument"} or not 0 < finding.line <= len(lines):
        return finding
    wrong = _wrong_word(finding.name)
    right = _meant(finding, wrong)
    line = lines[finding.line - 1]
    places = list(_uses(wrong, line))
    if not right or len(places) != 1 or _others_depend(wrong, finding, lines, others):
        return finding
    begin, end = places[0].span()
    return replace(finding, patch=(line[:begin] + right + line[end:]).rstrip("\r"))


def _wrong_word(name: str) -> str:
    keyword = _KEYWORD.search(name)
    return keyword[1] if keyword else _SEPARATORS.split(name.removesuffix("()"))[-1]


def _meant(finding: Finding, wrong: str) -> str:
    """Return the word that is certainly meant; empty where there is none."""
    if not _WORD.fullmatch(wrong):
        return ""
    if finding.successor:
        return _beside(finding, finding.successor)
    meant = [each for each in finding.suggestions if _is_same(wrong, each)]
    if not meant and len(wrong) >= _SHORTEST:
        meant = [each for each in finding.suggestions if _is_misspelt(wrong, each)]
    is_certain = len(meant) == 1 and meant[0] == finding.suggestions[0]
    return _beside(finding, meant[0]) if is_certain else ""


def _is_same(wrong: str, path: str) -> bool:
    return name_similarity(wrong, _SEPARATORS.split(path)[-1]) >= SAME


def _is_misspelt(wrong: str, path: str) -> bool:
    """Tell whether names differ in one letter, or two that have changed places.

    One thing and many of it (``value``, ``values``) are two names that people give.
    """
    from rapidfuzz.distance import OSA

    right = _SEPARATORS.split(path)[-1]
    is_plural = f"{wrong}s" == right or wrong == f"{right}s"
    return OSA.distance(wrong, right) == 1 and not is_plural


def _beside(finding: Finding, path: str) -> str:
    """Return the last word of a path that stands where the wrong name was looked for."""
    *parents, last = _SEPARATORS.split(path)
    looked_in = {
        tuple(_SEPARATORS.split(finding.name)[:-1]),
        tuple(_SEPARATORS.split(finding.path)),
    }
    return last if _WORD.fullmatch(last) and (not parents or tuple(parents) in looked_in) else ""


def _uses(word: str, line: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"(?<![\w$]){re.escape(word)}(?![\w$])", line))


def _others_depend(
    word: str, finding: Finding, lines: Sequence[str], others: Sequence[Finding]
) -> bool:
    """Tell whether a name that the line binds is used where nothing is found wrong."""
    line = lines[finding.line - 1]
    (place, *_) = _uses(word, line)
    before, after = line[: place.start()].rstrip(), line[place.end() :].lstrip()
    binds = _IMPORT.match(line) and not after.startswith(("as ", "."))
    if not binds and (before.endswith((".", "::")) or after.startswith(("=", ":", "("))):
        return False
    known = {each.line for each in others if _wrong_word(each.name) == word and each != finding}
    return any(
        _uses(word, each) and at != finding.line and at not in known
        for at, each in enumerate(lines, 1)
    )
