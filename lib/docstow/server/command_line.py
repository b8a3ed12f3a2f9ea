"""The parser of the command line, also listed for machines at ``GET /commands``.

A parsed command names a function of :mod:`docstow.cli`, which does the work.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypedDict

from docstow import __version__
from docstow.core import auth
from docstow.core.settings import FIELDS
from docstow.core.similar import similar_names
from docstow.server.clients import CLIENTS
from docstow.sources import Command
from docstow.sources import kinds as source_kinds

#: What shells ask for completion; no help has it.
_HIDDEN = "complete"

#: The states of a job.
STATES = ("queued", "running", "success", "failed")

#: Asks for the whole help; the short one leaves the settings out.
ALL = "--help-all"

_UNKNOWN = re.compile(r"argument (\w+): invalid choice: '([^']*)'.* \(choose from (.*)\)")

#: What a source is written out as; those after ``llms`` are for pages of prose alone.
_EXPORTS = ("jsonl", "markdown", "llms", "openwebui", "openwebui-markdown", "site")


class _Parser(argparse.ArgumentParser):
    """A parser that names what is nearest to a word that it does not know."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and end the process with 2."""
        if found := _UNKNOWN.search(message):
            place, word, choices = found.groups()
            near = similar_names(word, re.findall(r"[\w-]+", choices), most=1)
            hint = f"did you mean {near[0][0]}?" if near else f"there are {choices}"
            message = f"there is no {place} {word!r}; {hint}"
        super().error(message)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; ``command`` names the function that runs.

    Words that stop before a command print the help of what they name.

    Raises:
        SystemExit: help was printed, or the words are wrong (2).
    """
    root = parser(settings_in_help=ALL in words)
    options = root.parse_args(["--help" if word == ALL else word for word in words])
    if not hasattr(options, "command"):
        getattr(options, "group", root).print_help()
        root.exit()
    return options


def _common(*, settings_in_help: bool) -> argparse.ArgumentParser:
    """Build what every command takes: the settings, and the file that has them."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--config", type=Path, metavar="FILE", help="a TOML file with settings")
    common.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
    common.add_argument(ALL, action="store_true", help="this, and every setting")
    group = common.add_argument_group("settings (also in the file, or as DOCSTOW_NAME)")
    for name, field in FIELDS.items():
        flag = f"--{name.replace('_', '-')}"
        text = field.metadata["help"].replace("%", "%%")
        if not settings_in_help:
            text = argparse.SUPPRESS
        if isinstance(field.default, tuple):
            group.add_argument(flag, metavar="X,…", action="extend", type=_split_values, help=text)
        else:
            group.add_argument(flag, metavar="X", help=text)
    return common


def parser(*, settings_in_help: bool = True) -> argparse.ArgumentParser:
    """Build the parser; ``command`` of what it parses names the function that runs.

    Args:
        settings_in_help: whether the help of each command lists the settings, which all take.
    """
    common = _common(settings_in_help=settings_in_help)
    root: argparse.ArgumentParser = _Parser(
        prog="docstow",
        description="Documentation for AI coding agents, stowed in a bucket.",
        epilog="docstow COMMAND --help says more, with examples.",
    )
    root.add_argument("-V", "--version", action="version", version=f"docstow {__version__}")
    commands = root.add_subparsers(metavar="COMMAND")

    _add_serve(
        commands.add_parser(
            "serve",
            parents=[common],
            **_help(
                "serve MCP and plain HTTP",
                "serve",
                "serve --stdio",
                "serve --port 9000 --pre-ingest 50",
            ),
        )
    )
    _add_add(
        commands.add_parser(
            "add",
            parents=[common],
            **_help(
                "stow what a word stands for",
                "add tokio serde@1.0.219",
                "add ./docs https://docs.example/guide owner/repo",
            ),
        )
    )
    _add_connect(commands, common)
    _add_ingest(commands.add_parser("ingest", help="stow documentation"), common)
    _add_sources(commands.add_parser("sources", help="websites, repositories, folders"), common)
    _add_search(
        commands.add_parser(
            "search",
            parents=[common],
            **_help(
                "search what is stowed",
                'search "retry a request"',
                'search "window functions" --source SQLite',
            ),
        )
    )
    _add_look(commands, common)
    _add_export(
        commands.add_parser(
            "export",
            parents=[common],
            **_help(
                "write docs to files",
                "export serde --format llms",
                "export tokio@1.40 --into -",
                "export npm:zod --format site",
            ),
        )
    )
    _add_bundles(commands, common)
    _add_store(commands.add_parser("store", help="what is stowed, and its upkeep"), common)
    _add_jobs(commands.add_parser("jobs", help="ingests and syncs, done and to be done"), common)
    _add_model(commands.add_parser("model", help="models by choice"), common)
    _add_engines(commands.add_parser("engines", help="type checkers that judge code"), common)
    _add_token(commands.add_parser("token", help="credentials for callers"), common)
    _add_looking(commands, common)
    _add_call(
        commands.add_parser(
            "call",
            parents=[common],
            **_help(
                "call a tool and print its answer",
                """call search_items '{"package": "tokio", "query": "spawn a task"}'""",
            ),
        )
    )
    return root


def _split_values(text: str) -> list[str]:
    """Split the values of a setting that takes several: commas, or the flag repeated."""
    return [part.strip() for part in text.split(",") if part.strip()]


class _Help(TypedDict):
    """One line for the list of commands; the same for the command's own help, and examples."""

    help: str
    description: str
    epilog: str | None
    formatter_class: type[argparse.HelpFormatter]


def _help(text: str, *examples: str) -> _Help:
    shown = "\n".join(["examples:", *(f"  docstow {example}" for example in examples)])
    return _Help(
        help=text,
        description=f"{text[:1].upper()}{text[1:]}.",
        epilog=shown if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _verbs(
    group: argparse.ArgumentParser, metavar: str
) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    """Let a command have commands of its own; without one of them it prints its help."""
    group.set_defaults(group=group)
    return group.add_subparsers(metavar=metavar)


def _add_serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--stdio", action="store_true", help="MCP over stdin and stdout")
    command.add_argument(
        "--toolsets", default="", metavar="X,…", help="for clients that select none; all: every one"
    )
    command.add_argument(
        "--pre-ingest",
        nargs="*",
        metavar="N|LANGUAGE:N|PACKAGE|FILE",
        help="stow packages in the background: the most used crates (so many), python:50, npm:50, "
        "npm:react, or those of a list",
    )
    command.set_defaults(command="serve")


def _add_add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "words", nargs="+", metavar="WORD", help="a crate, package, preset, URL, OWNER/REPO, folder"
    )
    command.add_argument(
        "--as",
        dest="kind",
        choices=("crate", "package", "rustdoc", "project", *_commanded()),
        metavar="KIND",
        help="do not guess; as docstow ingest has them",
    )
    command.set_defaults(command="add")


def _commanded() -> tuple[str, ...]:
    return tuple(kind.name for kind in source_kinds().values() if kind.command)


def _add_connect(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    connect = commands.add_parser(
        "connect",
        parents=[common],
        **_help(
            "print or write what an MCP client needs",
            "connect claude-code --write",
            "connect zed --url https://docs.example/mcp --token",
        ),
    )
    connect.add_argument("--url", default="", help="of a server's /mcp; else the client starts one")
    connect.add_argument(
        "--token", action="store_true", help="send the token that DOCSTOW_TOKEN holds"
    )
    connect.add_argument("--skill", action="store_true", help="also write when agents should ask")
    connect.set_defaults(command="connect")
    disconnect = commands.add_parser(
        "disconnect", parents=[common], **_help("take docstow out of a client's settings")
    )
    disconnect.set_defaults(command="disconnect", write=True)
    connect.add_argument("--write", action="store_true", help="merge it into the client's file")
    for command in (connect, disconnect):
        command.add_argument(
            "client", choices=tuple(CLIENTS), metavar="CLIENT", help=", ".join(CLIENTS)
        )
        command.add_argument("--dry-run", action="store_true", help="print what would change")
        command.add_argument(
            "--project", type=Path, metavar="DIR", help="in this project, not for all of the user's"
        )


def _add_model(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    verbs = _verbs(command, "VERB")
    fetch = verbs.add_parser("fetch", parents=[common], **_help("fetch a model from the hub"))
    fetch.add_argument("id", metavar="OWNER/NAME[@REVISION][#int8|#fp32]")
    fetch.add_argument("--into", type=Path, metavar="DIR", help="a folder to use as the model")
    fetch.set_defaults(command="fetch_model")


def _add_engines(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    verbs = _verbs(command, "VERB")
    listed = verbs.add_parser("list", parents=[common], **_help("which there are, and where"))
    listed.set_defaults(command="list_engines")
    fetched = verbs.add_parser(
        "install",
        parents=[common],
        **_help("fetch them, by digests that come with docstow", "engines install"),
    )
    fetched.add_argument("names", metavar="NAME", nargs="*", help="only these")
    fetched.set_defaults(command="install_engines")


def _add_token(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    verbs = _verbs(command, "VERB")
    made = verbs.add_parser(
        "new",
        parents=[common],
        **_help("make a token for the setting auth", "token new ci --scope read"),
    )
    made.add_argument("name", metavar="NAME", help="whom it is for")
    made.add_argument("--scope", choices=auth.SCOPES, default=auth.READ)
    made.add_argument(
        "--sources",
        action="append",
        metavar="PATTERN",
        help="bind it to such sources, as crate:* or team-a/*; may be repeated",
    )
    made.set_defaults(command="new_token")


def _add_looking(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add what looks at this machine: doctor, config, scan, completion."""
    doctor = commands.add_parser(
        "doctor", parents=[common], **_help("look for what is wrong here, and say what to do")
    )
    doctor.set_defaults(command="doctor")
    verbs = _verbs(commands.add_parser("config", help="the settings that hold here"), "VERB")
    config = verbs.add_parser(
        "show", parents=[common], **_help("every setting, and where its value came from")
    )
    config.set_defaults(command="show_config")
    scan = commands.add_parser(
        "scan",
        parents=[common],
        **_help("list the packages of a project, with their versions", "scan", "scan ~/shop http"),
    )
    scan.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
    scan.add_argument("query", nargs="?", default="", metavar="QUERY", help="what names have")
    scan.add_argument("--all", action="store_true", help="not only those it asks for itself")
    scan.set_defaults(command="scan")
    completion = commands.add_parser(
        "completion",
        parents=[common],
        **_help(
            "print what makes a shell complete words",
            "completion bash > ~/.local/share/bash-completion/completions/docstow",
            "completion fish > ~/.config/fish/completions/docstow.fish",
        ),
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL")
    completion.set_defaults(command="completion")
    complete = commands.add_parser(_HIDDEN, parents=[common])
    complete.add_argument("words", nargs="*")
    complete.set_defaults(command="complete")


def _add_call(command: argparse.ArgumentParser) -> None:
    command.add_argument("tool", metavar="TOOL")
    command.add_argument(
        "json", nargs="?", default="{}", metavar="JSON", help="arguments; - for stdin"
    )
    command.set_defaults(command="call")


def _add_ingest(ingest: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Add a command for each kind of source that can be ingested."""
    kinds = _verbs(ingest, "KIND")
    crate = kinds.add_parser(
        "crate",
        parents=[common],
        **_help("crates from docs.rs", "ingest crate tokio serde@1.0.219 'axum@^0.8'"),
    )
    crate.add_argument("crates", nargs="*", metavar="NAME[@VERSION|@REQUIREMENT]")
    crate.add_argument("--file", type=Path, metavar="LIST", help="a file of such names, one a line")
    crate.set_defaults(command="ingest_crates")
    rustdoc = kinds.add_parser("rustdoc", parents=[common], **_help("rustdoc JSON files"))
    rustdoc.add_argument("files", nargs="+", type=Path, metavar="FILE")
    rustdoc.add_argument("--version", default="", help="for a file that does not say its own")
    rustdoc.set_defaults(command="ingest_files")
    std = kinds.add_parser("std", parents=[common], **_help("std, core and alloc of a toolchain"))
    std.add_argument("--toolchain", default="", metavar="NAME", help="default: yours, or nightly")
    std.set_defaults(command="ingest_std")
    package = kinds.add_parser(
        "package", parents=[common], **_help("packages of registries, installed or not")
    )
    package.add_argument(
        "packages", nargs="+", metavar="PACKAGE", help="python:NAME[@VERSION] or npm:NAME[@VERSION]"
    )
    package.set_defaults(command="ingest_packages")
    described = kinds.add_parser(
        "descriptions", parents=[common], **_help("what registries say of packages in one line")
    )
    described.add_argument(
        "words",
        nargs="+",
        metavar="LANGUAGE:N|PACKAGE|FILE",
        help="the most used ones, python:1000 or npm:1000; python:NAME; or a list of such names",
    )
    described.add_argument("--pause", type=float, default=0.2, metavar="S", help="between two")
    described.add_argument("--renew", action="store_true", help="also what is known already")
    described.set_defaults(command="ingest_descriptions")
    project = kinds.add_parser(
        "project", parents=[common], **_help("the Python and Node packages a project has installed")
    )
    project.add_argument("folder", type=Path, metavar="DIR")
    chosen = project.add_mutually_exclusive_group()
    chosen.add_argument("--all", action="store_true", help="not only those it asks for itself")
    named = "only this one; may be repeated"
    chosen.add_argument("--package", action="append", default=[], metavar="NAME", help=named)
    project.set_defaults(command="ingest_project")
    for kind in source_kinds().values():
        if spelling := kind.command:
            command = kinds.add_parser(kind.name, parents=[common], **_help(spelling.help))
            _add_source(command, kind.name, spelling)


def _add_source(command: argparse.ArgumentParser, kind: str, spelling: Command) -> None:
    command.add_argument("uri", metavar=spelling.metavar)
    command.add_argument("--title", default="", help="what people call it")
    command.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="one of the kind's options; repeat it for a list",
    )
    for name, text in spelling.flags.items():
        command.add_argument(f"--{name.replace('_', '-')}", metavar="N", help=text)
    command.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="sent to the source's own hosts alone",
    )
    command.add_argument(
        "--refresh-hours", metavar="N", help="have upkeep sync it again when it is so old; 0: never"
    )
    command.add_argument("--full", action="store_true", help="take nothing for unchanged")
    command.set_defaults(command="ingest_prose", kind=kind)


def _add_sources(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    verbs = _verbs(command, "VERB")
    listed = verbs.add_parser("list", parents=[common], **_help("one a line"))
    listed.set_defaults(command="list_sources")
    show = verbs.add_parser(
        "show", parents=[common], **_help("one as JSON, with the pages that lost text")
    )
    show.add_argument("source", metavar="ID|URI|TITLE")
    show.set_defaults(command="show_source")
    delete = verbs.add_parser("delete", parents=[common], **_help("forget a source and its pages"))
    delete.add_argument("source", metavar="ID|URI|TITLE")
    delete.set_defaults(command="delete_source")


def _add_jobs(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    verbs = _verbs(command, "VERB")
    listed = verbs.add_parser("list", parents=[common], **_help("one a line, the newest first"))
    listed.add_argument("--state", choices=STATES, help="only these")
    listed.set_defaults(command="list_jobs")
    show = verbs.add_parser(
        "show", parents=[common], **_help("all that is known of a job, as JSON")
    )
    show.add_argument("job", metavar="ID")
    show.set_defaults(command="show_job")
    redrive = verbs.add_parser(
        "redrive", parents=[common], **_help("do anew what failed: dead messages, or these jobs")
    )
    redrive.add_argument("jobs", nargs="*", metavar="ID")
    redrive.set_defaults(command="redrive_jobs")


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", metavar="QUERY")
    command.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="ID|URI|TITLE",
        help="pages of this one alone; else everything is searched",
    )
    command.add_argument("--top-k", type=int, default=5, metavar="N", help="results; default: 5")
    command.add_argument("--mode", default="", help="of pages: hybrid, vector or keyword")
    command.set_defaults(command="search")


def _add_look(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    show = commands.add_parser(
        "show",
        parents=[common],
        **_help(
            "print an item or a page whole",
            "show tokio::task::spawn",
            "show httpx.get --language python",
            "show https://docs.example/guide",
        ),
    )
    show.add_argument("what", metavar="ITEM[@VERSION]|URL|ID")
    show.add_argument("--package", default="", help="default: the first part of the item")
    diff = commands.add_parser(
        "diff",
        parents=[common],
        **_help(
            "print what changes from one version to another",
            "diff serde@1.0.200 1.0.219",
            "diff zod@3 4 --language typescript",
        ),
    )
    diff.add_argument("package", metavar="NAME@VERSION")
    diff.add_argument("to", metavar="VERSION")
    verify = commands.add_parser(
        "verify",
        parents=[common],
        **_help(
            "check code against the packages that it uses",
            "verify src/main.rs",
            "verify app.py --root . --format sarif > docstow.sarif",
        ),
    )
    verify.add_argument("files", nargs="+", type=Path, metavar="FILE")
    verify.add_argument("--format", choices=("text", "json", "sarif"), default="text")
    for command in (show, diff, verify):
        command.add_argument("--language", default="", help="rust, python, typescript, javascript")
        command.set_defaults(command=command.prog.split()[-1])


def _add_export(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="PACKAGE[@VERSION|@REQUIREMENT]|ID|URI|TITLE")
    command.add_argument("--format", choices=_EXPORTS, default="jsonl")
    command.add_argument(
        "--into",
        type=Path,
        metavar="DIR|FILE",
        help="default: NAME-VERSION.jsonl, or a folder NAME-VERSION; - for stdout",
    )
    command.add_argument("--force", action="store_true", help="replace an earlier export")
    command.add_argument(
        "--push", default="", metavar="URL", help="into a knowledge base of this Open WebUI"
    )
    command.add_argument(
        "--knowledge", default="", metavar="NAME|ID", help="default: what the source is called"
    )
    command.add_argument("--dry-run", action="store_true", help="say what a push would change")
    command.set_defaults(command="export")


def _add_store(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    verbs = _verbs(command, "VERB")
    for verb, text in (
        ("list", "sources with sizes and days of use"),
        ("size", "what the sources weigh together"),
        ("upkeep", "all that is to be done now and then, and syncs that are due"),
        ("evict", "let the crates that were not used for longest make room"),
        ("sweep", "delete what no source needs any more"),
        ("verify", "check that all that is promised is there, whole"),
    ):
        added = verbs.add_parser(verb, parents=[common], **_help(text))
        if verb == "sweep":
            hours = "how long readers may go on with what was given up; default: 24"
            added.add_argument("--grace-hours", default="24", metavar="N", help=hours)
        if verb == "verify":
            repair = "go back to what is whole, and clear away what is not"
            added.add_argument("--repair", action="store_true", help=repair)
        added.set_defaults(command=f"store_{verb}")


def _add_bundles(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    export = commands.add_parser(
        "export-bundle",
        parents=[common],
        **_help("write stowed sources to one file", "export-bundle --all all.docstow"),
    )
    export.add_argument("sources", nargs="*", metavar="CRATE[@VERSION|@REQUIREMENT]|ID|URI|TITLE")
    export.add_argument("file", type=Path, metavar="FILE")
    export.add_argument("--all", action="store_true", help="everything that is stowed")
    export.add_argument("--history", action="store_true", help="kept former snapshots too")
    export.add_argument("--force", action="store_true", help="replace a file that is there")
    export.set_defaults(command="export_bundle")
    into = commands.add_parser(
        "import-bundle", parents=[common], **_help("stow what an export-bundle wrote")
    )
    into.add_argument("file", type=Path, metavar="FILE")
    into.add_argument("--sha256", default="", help="the digest that the export printed")
    into.add_argument("--force", action="store_true", help="even where the store's is newer")
    into.set_defaults(command="import_bundle")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a word stands in a command line, for completion.

    Attributes:
        command: names the function of the command; empty before there is one.
        flag: the option whose value it is; empty where it is none.
        choices: all that it may be; None where they are not few.
        flags: the options that may stand there.
    """

    command: str
    flag: str
    choices: tuple[str, ...] | None
    flags: tuple[str, ...]


def find_place(words: Sequence[str]) -> Place:
    """Return where the next word stands behind some words."""
    command, flag = parser(), ""
    positionals = 0
    for word in words:
        below = next((a.choices for a in _actions(command) if isinstance(a.choices, dict)), None)
        if below and word in below:
            command, flag, positionals = below[word], "", 0
        elif word.startswith("-") and "=" not in word:
            taking = (a for a in _actions(command) if word in a.option_strings and a.nargs != 0)
            flag = word if next(taking, None) else ""
        else:
            positionals += not flag
            flag = ""
    actions = _actions(command)
    named = next((a for a in actions if flag and flag in a.option_strings), None)
    open_ = [a for a in actions if not a.option_strings]
    at = named or (open_[min(positionals, len(open_) - 1)] if open_ else None)
    choices = at.choices if at else None
    if isinstance(choices, dict):
        choices = [name for name in choices if name != _HIDDEN]
    flags = (each for a in actions for each in a.option_strings if a.dest not in FIELDS)
    return Place(
        command.get_default("command") or "",
        flag,
        tuple(map(str, choices)) if choices else None,
        tuple(flags),
    )


def list_commands() -> list[dict[str, Any]]:
    """List every command with its own arguments; settings, which all take, are left out."""
    return list(_commands(parser(), ""))


def _commands(command: argparse.ArgumentParser, above: str) -> Iterator[dict[str, Any]]:
    for action in _actions(command):
        if not isinstance(action.choices, dict):
            continue
        for name, below in action.choices.items():
            if below.get_default("command") and name != _HIDDEN:
                yield {
                    "command": f"{above}{name}",
                    "help": below.description,
                    "arguments": list(_arguments(below)),
                }
            yield from _commands(below, f"{above}{name} ")


def _arguments(command: argparse.ArgumentParser) -> Iterator[dict[str, Any]]:
    for action in _actions(command):
        if action.dest in FIELDS or action.dest in ("help", "help_all", "config", "as_json"):
            continue
        yield {
            "name": action.option_strings[-1] if action.option_strings else action.metavar,
            "required": not action.option_strings and action.nargs not in ("?", "*"),
            "repeatable": action.nargs in ("*", "+") or isinstance(action.default, list),
            **({"choices": list(action.choices)} if action.choices else {}),
            **({"help": action.help} if action.help else {}),
        }


def _actions(command: argparse.ArgumentParser) -> list[argparse.Action]:
    # There is no public way to ask a parser what it takes.
    return command._actions  # noqa: SLF001
