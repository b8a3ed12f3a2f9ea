"""Names of real packages: those that are there, those that nobody wrote, and the compiler's own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docstow.languages.shared.surface import Parameter, Symbol
from docstow.languages.typescript.surface import NodeSurface
from node_environment import SCRIPTS, package, surfaces

#: Of the installed versions. Known: package, kind, file, lines, where that is if elsewhere, and the
#: parameters, those that may be left out with a question mark. Invented: package, and whether it
#: is certain that there is no such name.
_NAMES = json.loads(Path(__file__).with_name("known_names.json").read_text())
KNOWN: dict[str, list[Any]] = _NAMES["known"]
INVENTED: dict[str, list[Any]] = _NAMES["invented"]

Npm = Callable[[str], NodeSurface]
#: Modules of which every export and every member is compared with what the compiler sees.
COMPARED = (
    "zod zod/mini react express lodash/fp axios rxjs rxjs/operators vue svelte svelte/store"
    " @tanstack/react-query commander chalk yargs yargs/helpers fastify pino ajv avvio"
)


def shown(parameters: tuple[Parameter, ...] | None) -> str | None:
    if parameters is None:
        return None
    names = []
    for each in parameters:
        rest = each.kind == "var_positional"
        names.append(f"...{each.name}" if rest else each.name + "?" * (not each.required))
    return " ".join(names)


@pytest.mark.parametrize("path", KNOWN)
def test_names_that_are_there(npm: Npm, path: str) -> None:
    name, kind, file, line, end_line, target, parameters = KNOWN[path]
    symbol = npm(name).symbol(path)
    assert symbol is not None
    found = (symbol.kind, symbol.file, symbol.line, symbol.end_line, symbol.target)
    assert found == (kind, file, line, end_line, target)
    assert shown(symbol.parameters) == parameters


@pytest.mark.parametrize("path", INVENTED)
def test_names_that_nobody_wrote(npm: Npm, path: str) -> None:
    name, certain = INVENTED[path]
    surface = npm(name)
    assert (surface.symbol(path), surface.certain(path.rpartition(".")[0])) == (None, certain)


def test_a_whole_symbol(npm: Npm) -> None:
    assert npm("svelte").symbol("svelte/store.get") == Symbol(
        "svelte/store.get",
        "function",
        "types/index.d.ts",
        2831,
        2831,
        "function get<T>(store: Readable<T>): T",
        "Get the current value from a store by subscribing and immediately unsubscribing.",
        "",
        "",
        (Parameter("store", "positional_only", required=True),),
    )


def test_what_every_function_and_object_has_is_there(npm: Npm) -> None:
    for path in ("axios.default.get.bind", "axios.isAxiosError.name", "zod.ZodObject.toString"):
        symbol = npm(path.split(".")[0]).symbol(path)
        assert symbol is not None, path


def test_members_are_those_of_bases_too(npm: Npm) -> None:
    members = npm("rxjs").members("rxjs.Subject")
    assert members is not None
    assert {"next", "pipe", "subscribe", "asObservable"} <= set(members)
    assert members["pipe"].file == "dist/types/internal/Observable.d.ts"


def test_deprecation_and_its_reason(npm: Npm) -> None:
    create = npm("rxjs").symbol("rxjs.Subject.create")
    assert create is not None
    assert create.deprecated.startswith("Recommended you do not use.")


def test_overloads_are_deprecated_only_if_all_are(npm: Npm) -> None:
    symbol = npm("rxjs").symbol("rxjs.map")
    assert symbol is not None
    assert (symbol.deprecated, len(symbol.signature.splitlines())) == ("", 2)


def test_modules_of_node_itself(npm_root: Path, npm: Npm) -> None:
    types = npm("@types/node")
    surface = NodeSurface(types.package, types.project, "node:fs")
    found = surface.symbol("node:fs.readFileSync")
    assert found is not None
    assert (found.kind, found.file) == ("function", "fs.d.ts")
    assert surface.symbol("node:fs.readFileSynchronously") is None
    assert surface.certain("node:fs")
    promises = NodeSurface(types.package, types.project, "fs")
    assert promises.symbol("fs/promises.readFile") is not None


def test_modules_of_a_package(npm: Npm) -> None:
    assert npm("commander").modules() == ("commander",)
    assert npm("svelte").modules()[:3] == ("svelte", "svelte/action", "svelte/animate")
    assert "zod/v4" in npm("zod").modules()
    assert npm("rxjs").symbol("rxjs/nowhere") is None


def test_suggestions_can_be_made_from_the_names(npm: Npm) -> None:
    names = set(npm("commander").names())
    assert {"commander.Command", "commander.Command.option", "commander.program"} <= names


def test_nothing_that_the_compiler_sees_is_called_absent(npm_root: Path, npm: Npm) -> None:
    modules = COMPARED.split()
    script = Path(__file__).with_name("compiler_names.mjs")
    command = [str(SCRIPTS / "node"), str(script), str(npm_root), *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    seen = json.loads(done.stdout)
    wrong: list[str] = []
    count = 0
    for module, exports in seen.items():
        scope = module.startswith("@")
        surface = npm("/".join(module.split("/")[: 2 if scope else 1]))
        for name, facts in exports.items():
            path = f"{module}.{name}"
            wrong += _compared(surface, path, facts["arity"])
            for member, arity in facts["members"].items():
                wrong += _compared(surface, f"{path}.{member}", arity)
                count += 1
    assert wrong == []
    assert count > 10_000


def _compared(surface: NodeSurface, path: str, arity: list[int] | None) -> list[str]:
    symbol = surface.symbol(path)
    if symbol is None:
        return [path] if surface.certain(path.rpartition(".")[0]) else []
    if arity is None or symbol.parameters is None:
        return []
    fewest = sum(each.required for each in symbol.parameters)
    rest = any(each.kind == "var_positional" for each in symbol.parameters)
    most = 999 if rest else len(symbol.parameters)
    return [f"{path} {fewest}-{most}"] if fewest > arity[0] or most < arity[1] else []


def test_pnpm_shows_each_package_what_it_asks_for(pnpm_root: Path) -> None:
    web = surfaces(pnpm_root, "packages/web/node_modules")
    query, react, shared = web("@tanstack/react-query"), web("react"), web("@acme/shared")
    assert query is not None
    assert react is not None
    assert shared is not None
    client = query.symbol("@tanstack/react-query.QueryClient.invalidateQueries")
    assert client is not None
    assert (client.kind, client.target) == ("method", "@tanstack/query-core")
    state = react.symbol("react.useState")
    assert state is not None
    assert state.target == "@types/react.useState"
    assert shared.symbol("@acme/shared.greet") == Symbol(
        "@acme/shared.greet",
        "function",
        "index.d.ts",
        3,
        3,
        "function greet(name: string, loud?: boolean): string",
        "Says hello.",
        "",
        "",
        (
            Parameter("name", "positional_only", required=True),
            Parameter("loud", "positional_only", required=False),
        ),
    )
    assert shared.symbol("@acme/shared.Name.min") is not None
    assert shared.symbol("@acme/shared.Name.minimum") is None


def test_ten_megabytes_of_declarations(npm_root: Path, tmp_path: Path) -> None:
    body = (npm_root / "node_modules/typescript/lib/lib.dom.d.ts").read_bytes()
    folder = tmp_path / "node_modules" / "huge"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "huge", "types": "huge.d.ts"}')
    with (folder / "huge.d.ts").open("wb") as file:
        for _ in range(10_000_000 // len(body) + 1):
            file.write(body)
        file.write(b"export declare function last(one: string): void;\n")
    surface = surfaces(tmp_path)("huge")
    assert surface is not None
    assert package("huge", folder, tmp_path) == surface.package
    symbol = surface.symbol("huge.last")
    assert symbol is not None
    assert shown(symbol.parameters) == "one"
