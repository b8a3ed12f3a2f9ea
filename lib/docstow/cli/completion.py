"""Completion by a shell: the script of ``docstow completion``, and the words that it asks for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.ingest.preload import popular
from docstow.languages import PYTHON, RUST, TYPESCRIPT
from docstow.server import command_line

if TYPE_CHECKING:
    from docstow.runtime import Runtime

#: So many words are offered at most.
_MOST = 200

_SCRIPTS = {
    "bash": """\
_docstow() {
    local IFS=$'\\n'
    COMPREPLY=($(docstow complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _docstow docstow
""",
    "zsh": """\
#compdef docstow
_docstow() {
    local -a found
    found=("${(@f)$(docstow complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _docstow docstow
""",
    "fish": """\
complete -c docstow -a '(docstow complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
""",
}


def print_script(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print what a shell is to read."""
    del runtime
    options.out.tell({"script": _SCRIPTS[options.shell]}, _SCRIPTS[options.shell].rstrip("\n"))
    return 0


def complete(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print the words that may stand where the last one, which may be empty, is begun."""
    words = options.words or [""]
    for word in candidates(runtime, words[:-1], words[-1]):
        print(word)
    return 0


def candidates(runtime: Runtime, before: Sequence[str], begun: str) -> list[str]:
    """Return what a word may become.

    Args:
        runtime: knows sources, crates and tools.
        before: the words before it.
        begun: the word, as far as it is there.
    """
    place = command_line.find_place(before)
    if place.choices is not None:
        found: Iterable[str] = place.choices
    elif begun.startswith("-"):
        found = place.flags
    else:
        try:
            found = _values(runtime, place.command, place.flag)
        except DocstowError:
            found = ()  # a shell shows no errors
    return sorted({each for each in found if each.startswith(begun)})[:_MOST]


def _values(runtime: Runtime, command: str, flag: str) -> Iterable[str]:
    if flag == "--source" or command in ("show_source", "delete_source"):
        return _sources(runtime)
    if flag:
        return ()
    match command:
        case "ingest_crates":
            return popular(RUST)
        case "ingest_packages":
            named = (("python", PYTHON), ("npm", TYPESCRIPT))
            return (f"{prefix}:{name}" for prefix, each in named for name in popular(each))
        case "add":
            return (*popular(RUST), *runtime.presets.names())
        case "call":
            return (tool.name for tool in runtime.toolbox.select(runtime.toolbox.toolsets))
        case "show" | "diff" | "export":
            return (*_crates(runtime), *_sources(runtime))
        case "show_job" | "redrive_jobs":
            return (job.id for job in runtime.jobs.all())
    return ()


def _sources(runtime: Runtime) -> list[str]:
    return [each.title for each in runtime.registry.all()]


def _crates(runtime: Runtime) -> list[str]:
    return [line.source.name for line in runtime.upkeep().list_sources() if line.snapshot]
