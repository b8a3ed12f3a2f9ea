"""How often code is judged rightly: right code raises no alarm, wrong names are found.

The printed figures are those of the README; ``pytest -s tests/languages/check/test_rates.py``
shows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from docstow.languages.python import check as python_code
from docstow.languages.python.resolver import PythonResolver
from docstow.languages.rust import check as rust_code
from docstow.languages.shared.findings import Finding, Verdict
from docstow.languages.typescript import check as javascript_code
from docstow.languages.typescript.resolver import NodeResolver
from docstow.runtime import Runtime
from docstow.tools.verify_crates import StowedCrates
from snippets import Snippet, load

Verify = Callable[[str], Verdict]
REAL = 60


def wrong(verdict: Verdict) -> list[Finding]:
    return [each for each in verdict.findings if each.status in {"unknown", "wrong_argument"}]


def measured(language: str, verify: Verify, every: int = 1) -> tuple[float, float]:
    """Shares of broken snippets that are found, and whose right name is suggested first."""
    snippets = load(language)
    found = first = wanted = 0
    broken = [each for snippet in snippets for each in snippet.broken][::every]
    for each in broken:
        here = wrong(verify(each.code))
        found += any(finding.line >= each.line for finding in here)
        if each.wanted:
            wanted += 1
            first += any(_is_there(each.wanted, finding.suggestions) for finding in here)
    print(
        f"{language}: {len(snippets)} right, {len(broken)} broken, {found / len(broken):.1%} found,"
        f" {first / wanted:.1%} of {wanted} with the right name first"
    )
    return found / len(broken), first / wanted


def alarms(snippets: Iterable[Snippet], verify: Verify) -> list[str]:
    """False alarms in right snippets; nothing they import may be missing either."""
    found = []
    for each in snippets:
        verdict = verify(each.code)
        assert not verdict.missing, f"{each.title} uses {verdict.missing}"
        found += [f"{each.title}: {finding.message}" for finding in wrong(verdict)]
    return found


def no_alarm(language: str, codes: Iterable[tuple[str, str]], verify: Verify) -> None:
    """Real code of others raises none either; what is checked of it is worth the name."""
    names, pieces, found = 0, 0, []
    for title, code in codes:
        verdict = verify(code)
        pieces += 1
        names += len(verdict.findings)
        found += [f"{title}:{each.line} {each.message}" for each in wrong(verdict)]
    print(f"{language}: {len(found)} alarms in {names} names of {pieces} pieces of real code")
    assert found == []
    assert pieces >= REAL
    assert names > 4 * REAL


def test_the_suite_is_as_large_as_it_says() -> None:
    broken = [each for name in ("rust", "python", "typescript") for each in load(name)]
    assert sum(len(each.broken) for each in broken) >= 150
    assert len(broken) + 3 * REAL >= 150


def test_rust(crates: StowedCrates) -> None:
    def verify(code: str) -> Verdict:
        return rust_code.verify(code, crates)

    assert alarms(load("rust"), verify) == []
    found, first = measured("rust", verify)
    assert found >= 0.95
    assert first >= 0.9


def test_python(python_resolver: PythonResolver) -> None:
    def verify(code: str) -> Verdict:
        return python_code.verify(code, python_resolver)

    for suite, every in (("python", 2), ("python_agents", 6)):
        assert alarms(load(suite), verify) == []
        found, first = measured(suite, verify, every)
        assert found >= 0.9
        assert first >= 0.7


def _is_there(wanted: str, given: Sequence[str]) -> bool:
    """Whether a name is first; the compiler tells it without its owner."""
    return bool(given) and given[0] in (wanted, wanted.rpartition(".")[2])


@pytest.mark.parametrize(("suite", "every"), [("typescript", 4), ("typescript_agents", 8)])
def test_typescript(node_judge: Callable[..., Verdict], suite: str, every: int) -> None:
    assert alarms(load(suite)[:: max(1, every // 4)], node_judge) == []
    found, first = measured(suite, node_judge, every)
    assert found >= 0.95
    assert first >= 0.7


@pytest.mark.parametrize("suite", ["typescript", "typescript_agents"])
def test_typescript_without_its_compiler(node_resolver: NodeResolver, suite: str) -> None:
    def verify(code: str) -> Verdict:
        return javascript_code.verify(code, node_resolver)

    assert alarms(load(suite), verify) == []
    assert measured(suite, verify, 3)[0] >= 0.3


#: Crates whose examples use one another; their docs have no outdated ones.
EXEMPLARY = (
    "tokio",
    "regex",
    "chrono",
    "itertools",
    "serde_json",
    "url",
    "csv",
    "clap",
    "indexmap",
)


def rust_examples(runtime: Runtime) -> Iterator[tuple[str, str]]:
    for name in EXEMPLARY:
        index = runtime.library.index(runtime.crates.ensure(name))
        columns = (index.examples[column] for column in ("language", "code"))
        codes = [code for language, code in zip(*columns, strict=True) if language == "rust"]
        longest = sorted(set(codes), key=len, reverse=True)[: REAL // 6]
        yield from ((name, code) for code in longest)


def test_real_rust_raises_no_alarm(rust_runtime: Runtime, crates: StowedCrates) -> None:
    no_alarm("rust", rust_examples(rust_runtime), lambda code: rust_code.verify(code, crates))


def test_real_python_raises_no_alarm(python_project: Path, python_resolver: PythonResolver) -> None:
    files = sorted((python_project / ".venv").glob("lib/*/site-packages/**/*.py"))
    chosen = [each for each in files if each.parts[-2] in {"fastapi", "starlette", "flask", "rich"}]
    codes = (
        (str(each), each.read_text("utf-8")) for each in chosen[:: max(1, len(chosen) // REAL)]
    )
    no_alarm("python", codes, lambda code: python_code.verify(code, python_resolver))


def node_examples(root: Path) -> Iterator[tuple[str, str]]:
    fence = re.compile(r"```(?:ts|tsx|js|jsx|javascript|typescript)\b[^\n]*\n(.*?)```", re.DOTALL)
    for name in ("axios", "commander", "zod", "yargs", "date-fns", "fastify", "express", "chalk"):
        # A list of changes shows what is no more.
        pages = (root / "node_modules" / name).glob("*.md")
        for file in sorted(each for each in pages if "CHANGE" not in each.name.upper()):
            for code in fence.findall(file.read_text("utf-8")):
                if "import " in code or "require(" in code:
                    yield file.parent.name, code
    for file in sorted((root / "node_modules/zod/src/v4/classic/tests").glob("*.ts"))[:20]:
        yield file.name, file.read_text("utf-8")


def test_real_javascript_raises_no_alarm(npm_root: Path, node_resolver: NodeResolver) -> None:
    no_alarm(
        "javascript",
        node_examples(npm_root),
        lambda code: javascript_code.verify(code, node_resolver, typed=False),
    )
