"""Commands that ask what is stowed and print it for people: search, show, diff and verify."""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow import __version__
from docstow.core.errors import InvalidParameter
from docstow.core.similar import similar_names

if TYPE_CHECKING:
    from docstow.cli.out import Out
    from docstow.runtime import Runtime
    from docstow.tools import Answer

#: What the answer to a question may have, in tokens.
_TOKENS = 2500
#: So many lines of each result's code are printed, so many characters of each, and so many of its
#: words.
_LINES, _WIDEST, _LONGEST = 6, 160, 300
_FENCE = re.compile(r"^```[^\n]*\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
#: Lines of a page that say where an item is rather than what, and headings.
_FACTS = re.compile(
    r"^(?:#+ |\*\*.* > |Available |Defined in |Re-exported |Also at:|Source:|Needs Rust )[^\n]*$",
    re.MULTILINE,
)

#: The languages of files that can be checked.
_LANGUAGES = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    ".rs": "rust",
}

#: What findings are to those who read SARIF.
_LEVELS = {"unknown": "error", "wrong_argument": "error", "deprecated": "warning"}


def search(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print what answers a question best: items, examples and pages, or the chunks of sources."""
    runtime.ingest_sample()
    if options.source or options.mode:
        return _search_sources(runtime, options)
    asked = {"question": options.query, "max_tokens": _TOKENS}
    found = runtime.toolbox.call("ask", asked).structured or {}
    if "notice" in found:
        print(f"docstow: {found['notice']}", file=sys.stderr)
    results = found["results"][: max(1, options.top_k)]
    if options.out.as_json:
        options.out.tell({**found, "results": results}, "")
        return 0
    for number, each in enumerate(results, 1):
        version = f" {each['version']}" if each.get("version") else ""
        title = f"{number}. {each['title']} ({each['source']}{version})"
        options.out.tell(each, f"{title}\n   {each['url']}", style="bold")
        options.out.tell(each, _excerpt(each["text"]), wrap=True)
    return 0


def _search_sources(runtime: Runtime, options: argparse.Namespace) -> int:
    arguments = {"query": options.query, "sources": options.source, "top_k": options.top_k}
    limits = {"mode": options.mode or "hybrid", "max_tokens": 0}
    found = runtime.toolbox.call("search_docs", {**arguments, **limits}).structured or {}
    if "notice" in found:
        print(f"docstow: {found['notice']}", file=sys.stderr)
    if options.out.as_json:
        options.out.tell(found, "")
        return 0
    for number, hit in enumerate(found["results"], 1):
        title = f"{number}. {hit['heading_path'] or hit['title']} ({hit['source']})"
        options.out.tell(hit, f"{title}\n   {hit['url'] or hit['doc_id']}", style="bold")
        options.out.tell(hit, f"   {' '.join(hit['snippet'].split())}\n", wrap=True)
    return 0


def _excerpt(text: str) -> str:
    """Return the first code and the first words of a result, indented, with a line below."""
    fence = _FENCE.search(text)
    code = fence[1].splitlines() if fence else []
    lines = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in code[:_LINES]]
    lines += ["…"] * (len(code) > _LINES)
    prose = " ".join(_FACTS.sub("", _FENCE.sub("\n", text)).replace("[…]", "…").split())
    if prose:
        lines.append(textwrap.shorten(prose, _LONGEST, placeholder=" …"))
    return "".join(f"   {line}\n" for line in lines)


def show(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print an item of a package, or a page, whole."""
    runtime.ingest_sample()
    where, _, version = options.what.partition("@")
    if "://" in options.what or re.fullmatch(r"[0-9a-f]{12,}(?:#.*)?", options.what):
        _show_whole(runtime.toolbox.call("get_doc", {"doc": options.what}), options.out)
        return 0
    package = options.package or (_package(where) if options.language else "")
    given = {"package": package, "version": version, "language": options.language}
    asked = {"item_path": where} | {name: each for name, each in given.items() if each}
    _show_whole(runtime.toolbox.call("get_item_doc", asked), options.out)
    return 0


def _show_whole(answer: Answer, out: Out) -> None:
    out.tell(answer.structured or {"text": answer.text}, answer.render(), wrap=True)


def _package(path: str) -> str:
    return re.split(r"::|\.", path, maxsplit=1)[0]


def diff(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print what changes from one version of a package to another, what breaks first."""
    name, _, begin = options.package.partition("@")
    end = options.to.rpartition("@")[2]
    asked: dict[str, Any] = {"package": name, "from_version": begin, "to_version": end}
    if options.language:
        asked["language"] = options.language
    cursor: str | None = ""
    while cursor is not None:
        page = runtime.toolbox.call("diff_versions", {**asked, "cursor": cursor}).structured or {}
        if not cursor:
            told = f"{name} {page['from']['answered']} → {page['answered']}"
            about = {key: page[key] for key in ("from", "answered", "verdict")}
            options.out.tell(about, f"{told}\n{page['verdict']['summary']}", style="bold")
        for each in page["results"]:
            options.out.tell(each, _change(each), style=each["class"])
        cursor = page["cursor"]
    return 0


def _change(row: Mapping[str, Any]) -> str:
    """Return a change as two lines: what it is of and by which rule, then what it was and is."""
    before, now = row.get("before", "(none)"), row.get("after") or row.get("new_path") or "(none)"
    texts = " → ".join(" ".join(each.split()) for each in (before, now))
    rule = f" ({row['rule']})" if "rule" in row else ""
    return f"{row['class']}: {row['kind']} {row['path']}{rule}\n    {texts}"


def scan(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print the packages of a project, those that it asks for itself or all."""
    from docstow.languages.projects import Projects

    found = Projects([options.folder.resolve()], runtime.cache_folder, local=True).scan()[1]
    query = options.query.lower()
    direct = not options.all and any(each.direct for each in found.packages)
    chosen = [e for e in found.packages if query in e.name.lower() and (e.direct or not direct)]
    rows = [
        (each.name, each.version, each.language, "installed" if each.installed else "locked")
        for each in chosen
    ]
    bodies = (
        {"name": name, "version": version, "language": language, "state": state}
        for name, version, language, state in rows
    )
    header = ("package", "version", "language", "state")
    options.out.table(bodies, header, rows, map("  ".join, rows))
    return 0


def verify(runtime: Runtime, options: argparse.Namespace) -> int:
    """Check files of code; print what is wrong by file, line and column.

    Returns:
        1 where something is wrong, else 0. What is deprecated is told and is not wrong.
    """
    runtime.ingest_sample()
    found = [(path, each) for path in options.files for each in _findings(runtime, path, options)]
    wrong = [each for _, each in found if _LEVELS[each["status"]] == "error"]
    if options.format == "sarif":
        print(json.dumps(_sarif(found), indent=1, ensure_ascii=False))
    elif options.format == "json" or options.out.as_json:
        for path, each in found:
            print(json.dumps({"file": str(path), **each}, ensure_ascii=False))
    else:
        for path, each in found:
            place = f"{path}:{each['line']}:{each.get('column', 1)}"
            told = f"{place}: {each['status']}: {each.get('message', each['name'])}"
            told += f"\n    {each['patch'].strip()}" if "patch" in each else ""
            options.out.tell(each, told, style=each["status"])
    return 1 if wrong else 0


def _findings(
    runtime: Runtime, path: Path, options: argparse.Namespace
) -> Iterator[Mapping[str, Any]]:
    """Yield what is wrong in a file; tell on the error output what was not judged.

    Raises:
        InvalidParameter: the file cannot be read, or is in no language that is known.
    """
    language = options.language or _LANGUAGES.get(path.suffix.lower(), "")
    if not language:
        near = similar_names(path.suffix, _LANGUAGES, most=1)
        hint = f" (do you mean {near[0][0]}?)" if near else ""
        raise InvalidParameter("FILE", f"{path} is in no language that is known{hint}")
    try:
        code = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter("FILE", f"{path} cannot be read ({error})") from error
    asked: dict[str, Any] = {"code": code, "language": language}
    if options.root:
        # A project is known by where it lies, however the folder was written.
        asked["root"] = str(Path(options.root[0]).expanduser().resolve())
    cursor: str | None = ""
    while cursor is not None:
        page = runtime.toolbox.call("verify_code", {**asked, "cursor": cursor}).structured or {}
        if not cursor:
            counts = page["counts"]
            total, open_ = sum(counts.values()), counts.get("not_checked", 0)
            reasons = [f"{why} ({count})" for why, count in page.get("not_checked", {}).items()]
            told = f"{total - open_} of {total} names judged"
            told += f"; of the others {', '.join(reasons)}" if reasons else ""
            notice = f"; {page['notice']}" if "notice" in page else ""
            print(f"docstow: {path}: {told}{notice}", file=sys.stderr)
        yield from (each for each in page["results"] if each["status"] in _LEVELS)
        cursor = page["cursor"]


def _sarif(found: Sequence[tuple[Path, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return findings as SARIF 2.1.0, which code hosts show at their lines."""
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "docstow",
                        "version": __version__,
                        "rules": [{"id": rule} for rule in _LEVELS],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": each["status"],
                        "level": _LEVELS[each["status"]],
                        "message": {"text": each.get("message", each["name"])},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": path.as_posix()},
                                    "region": {
                                        "startLine": each["line"],
                                        "startColumn": each.get("column", 1),
                                    },
                                }
                            }
                        ],
                        **({"fixes": [_fix(path, each)]} if "patch" in each else {}),
                    }
                    for path, each in found
                ],
            }
        ],
    }


def _fix(path: Path, finding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch of a finding's line as SARIF has it: the line is put in another's place."""
    line = finding["line"]
    with path.open(encoding="utf-8", newline="") as file:
        length = len(file.read().split("\n")[line - 1].rstrip("\r"))
    region = {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": length + 1}
    replacement = {"deletedRegion": region, "insertedContent": {"text": finding["patch"]}}
    return {
        "description": {"text": f"Use {finding['suggestions'][0]}"},
        "artifactChanges": [
            {"artifactLocation": {"uri": path.as_posix()}, "replacements": [replacement]}
        ],
    }
