"""Questions by rule: what tests, code, changelogs and guides say of the items that they use.

None of these texts is in the index of the package, or the text that is asked with is taken out, so
that a search has to find the item by its own documentation:

* the comment above a call, in code, tests and examples;
* the name or title of a test, of the items that it calls;
* the line of a changelog that names an item;
* the text of an error, of the function that raises it;
* the heading or sentence above a block of code, of the items that it calls.

How names are found in these texts is :func:`docstow.index.anchors.anchor_texts`.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from docstow.core.model import Document, Example
from docstow.index.anchors import anchor_texts
from docstow.text import python_ast
from docstow.text.chunking import code_blocks

#: Shares of the kinds of answers, as questions of developers have them.
BALANCE = {"callable": 0.65, "type": 0.15, "other": 0.2}

#: An item is asked for at most so often, or the setup of tests would be all that is asked.
MOST_OF_ITEM = 4

#: A question has so many words.
FEWEST, MOST = 3, 24

#: Of a file so many characters are read.
LONGEST = 400_000

_CALLABLE = frozenset({"function", "method", "macro", "attribute_macro", "derive_macro"})
_TYPE = frozenset({"struct", "enum", "union", "class", "interface", "type", "type_alias"})

_CODE = {".py": "python", ".ts": "typescript", ".tsx": "typescript", ".js": "javascript"}
_CODE |= {".mjs": "javascript", ".rs": "rust"}
_PROSE = frozenset({".md", ".mdx", ".rst", ".txt"})
_SKIPPED = frozenset({"node_modules", "vendor", "third_party", "dist", ".git", "website"})
_CHANGELOG = re.compile(r"change|history|release|news|what.?s.?new", re.IGNORECASE)

_PYTHON_TEST = re.compile(r"^([ \t]*)(?:async )?def test_(\w+)\(.*$", re.MULTILINE)
_SCRIPT_TEST = re.compile(
    r"^[ \t]*(?:it|test)(?:\.\w+)?\(\s*(['\"`])(.{8,160}?)\1\s*,", re.MULTILINE
)
_RUST_TEST = re.compile(r"#\[(?:\w+::)?test[^\n]*\]\s*(?:async )?fn (\w+)\(")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_BEGINNING = re.compile(
    r"^(?:(?:\[?(?:add(?:ed|s)?|new|feat(?:ure)?|fix(?:ed|es)?|docs?|chore|bug|note|todo|fixme|should|"
    r"test(?:s|ing)?|check|make sure|ensure|this|now|we)\b\]?[:\s]*)|[-*#\s]+)+",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"https?://\S+|[#@]\d+|\([^()]*\d{2,}[^()]*\)|`[^`]*`|%[sdr]|\{[^{}]*\}|[{}<>\[\]|=\\]"
)


@dataclass(frozen=True, slots=True)
class Use:
    """A question with the items that answer it.

    Attributes:
        query: what is asked.
        answers: rows of documents.
        rule: ``comment``, ``test``, ``changelog``, ``error`` or ``guide``.
        text: what it was made from.
    """

    query: str
    answers: tuple[int, ...]
    rule: str
    text: str


def find_uses(
    documents: Sequence[Document],
    examples: Sequence[Example],
    aliases: dict[str, str],
    folder: Path | None,
) -> list[Use]:
    """Return the questions that a package's sources ask by rule, each once.

    Args:
        documents: of the package, as they are stowed.
        examples: their code blocks; read where there is no folder, as rustdoc's files have none.
        aliases: further public paths with the path that they stand for.
        folder: the package's sources, with its tests; nothing of it is run.
    """
    texts = list(_read(folder)) if folder is not None else []
    by_rule: dict[str, tuple[list[Document], list[Example]]] = defaultdict(lambda: ([], []))
    for rule, text, blocks in texts:
        pages, codes = by_rule[rule]
        row = len(documents) + len(pages)
        pages.append(Document(path=f"{rule}/{row}", kind="page", title=rule, text=text))
        codes += [Example(row, n, "", code, said) for n, (said, code) in enumerate(blocks)]
    if folder is None:
        by_rule["guide"] = ([], list(examples))
    found: dict[str, Use] = {}
    for rule, (pages, codes) in by_rule.items():
        said: defaultdict[str, list[int]] = defaultdict(list)
        fields = anchor_texts([*documents, *pages] if folder else documents, codes, aliases)
        own = anchor_texts(documents, (), aliases) if folder else None
        for row, (alone, few, *_) in enumerate(fields[: len(documents)]):
            known = set("\n".join(own[row]).split("\n")) if own else set()
            for text in {*alone.split("\n"), *few.split("\n")} - known - {""}:
                said[text].append(row)
        for text, rows in said.items():
            query = as_question(text, [documents[row] for row in rows])
            if query:
                found.setdefault(query, Use(query, tuple(rows), rule, text))
    return list(found.values())


def as_question(text: str, answers: Iterable[Document]) -> str:
    """Return a text as a question that does not spell its answers; empty if too little is left."""
    names = {each.title.lower().strip("_") for each in answers}
    text = _BEGINNING.sub("", _NOISE.sub(" ", text).strip())
    kept = [
        word
        for word in re.split(r"[\s/,;:]+", text)
        if not (names & {part.lower().strip("_!?\"'") for part in re.split(r"[.()#]+|::", word)})
    ]
    words = [each for word in kept for each in _WORD.findall(word.replace("_", " "))]
    symbols = sum(not _WORD.fullmatch(word.strip(".,()'\"!?")) for word in kept)
    if not FEWEST <= len(words) <= MOST or symbols > len(kept) / 3:
        return ""
    return " ".join(words).lower()


def _read(folder: Path) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield the rule, prose, and pairs of a text and its code, of each file of a folder."""
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).parts
        if _SKIPPED.intersection(inside) or not file.is_file():
            continue
        if file.suffix not in _CODE and file.suffix not in _PROSE:
            continue
        text = file.read_text("utf-8", "replace")[:LONGEST]
        if file.suffix in _PROSE:
            if _CHANGELOG.search("/".join(inside)):
                yield "changelog", text, []
            else:
                blocks = code_blocks(text, default_language="text")
                yield "guide", text, [(each.context, each.code) for each in blocks]
            continue
        yield "comment", "", [("", text)]
        yield "test", "", list(_tests(text, file.suffix))
        if file.suffix == ".py":
            yield "error", "\n\n".join(_errors(text)), []


def _tests(text: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Yield what each test of a file is called, and its code."""
    pattern = {".py": _PYTHON_TEST, ".rs": _RUST_TEST}.get(suffix, _SCRIPT_TEST)
    found = list(pattern.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)][: len(found)]
    for each, end in zip(found, ends, strict=True):
        said = each[each.lastindex or 0].replace("_", " ")
        # Comments within are asked by a rule of their own.
        code = text[each.end() : end]
        if suffix == ".py":
            code = _body(code, each[1])
        yield said, re.sub(r"^\s*(?://|#).*$", "", code, flags=re.MULTILINE)


def _body(code: str, indent: str) -> str:
    """Return the lines of a Python function's body, which end where it is no longer indented."""
    deeper = (f"{indent} ", f"{indent}\t")
    lines = code.split("\n")
    inside = itertools.takewhile(lambda line: not line.strip() or line.startswith(deeper), lines)
    return "\n".join(inside)


def _errors(text: str) -> Iterator[str]:
    """Yield each text of an error with the name of the function that raises it."""
    try:
        tree = python_ast.parse_module(text)
    except (SyntaxError, ValueError):
        return
    for owner, function in _functions(tree, ""):
        for node in ast.walk(function):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                said = node.exc.args[0]
                parts = said.values if isinstance(said, ast.JoinedStr) else [said]
                words = " ".join(
                    part.value
                    for part in parts
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                yield " ".join(words.replace("`", "").split()).rstrip(".") + f" `{owner}()`"


def _functions(tree: ast.AST, owner: str) -> Iterator[tuple[str, ast.AST]]:
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{owner}{node.name}", node


def balanced(uses: Sequence[Use], documents: Sequence[Document], seed: str) -> list[Use]:
    """Return as many questions as :data:`BALANCE` and :data:`MOST_OF_ITEM` let pass.

    Args:
        uses: of one package.
        documents: what their rows are.
        seed: decides which are left out.
    """
    chance = random.Random(seed)  # noqa: S311
    shuffled = chance.sample(list(uses), len(uses))
    asked: Counter[int] = Counter()
    groups: defaultdict[str, list[Use]] = defaultdict(list)
    # What fewer items answer says more of them.
    for use in sorted(shuffled, key=lambda each: len(each.answers)):
        if max(asked[row] for row in use.answers) < MOST_OF_ITEM:
            asked.update(use.answers)
            groups[_group(documents[use.answers[0]].kind)].append(use)
    callable_ = len(groups["callable"])
    kept = list(groups["callable"])
    for name in ("type", "other"):
        kept += groups[name][: round(callable_ * BALANCE[name] / BALANCE["callable"])]
    return kept


def _group(kind: str) -> str:
    return "callable" if kind in _CALLABLE else "type" if kind in _TYPE else "other"
