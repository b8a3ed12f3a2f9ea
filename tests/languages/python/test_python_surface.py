"""Real packages, read and not run, against what Python itself finds in them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import oracle
from docstow.languages.shared.surface import Parameter, Symbol
from python_environment import Surfaces

MODULES = [
    *("anyio", "attr", "attrs", "click", "click.core", "django.forms"),
    *("django.http", "django.db.models", "fastapi", "fastapi.routing", "flask", "flask.app"),
    *("google.protobuf.message", "httpx", "itsdangerous", "jinja2"),
    *("marshmallow", "marshmallow.fields", "numpy", "packaging.version", "PIL.Image", "pluggy"),
    *("pydantic", "pydantic.fields", "pytest", "requests", "requests.models", "rich.console"),
    *("sqlalchemy", "sqlalchemy.orm", "starlette.responses", "typing_extensions", "urllib3"),
    *("werkzeug.datastructures", "yaml", "zope.interface"),
]
KINDS: Mapping[str, Any] = {"positional_or_keyword": "positional"}
PLACES = frozenset({"positional", "positional_only"})
WORDS = frozenset({"positional", "keyword_only"})


def _ask(project: Path, *arguments: str) -> dict[str, Any]:
    """Return what the project's own Python finds in its packages."""
    python = project / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, oracle.__file__, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.fixture(scope="module")
def truth(python_project: Path) -> dict[str, Any]:
    return _ask(python_project, *MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_no_public_name_that_is_there_is_called_absent(
    python_surfaces: Surfaces, truth: dict[str, Any], module: str
) -> None:
    surface = python_surfaces.of(module)
    wrong = []
    for owner, names in {"": truth[module]["names"], **truth[module]["classes"]}.items():
        path = f"{module}.{owner}".rstrip(".")
        if surface.certain(path):
            public = (name for name in names if not name.startswith("_"))
            wrong += [f"{path}.{each}" for each in public if not surface.symbol(f"{path}.{each}")]
    assert wrong == []


@pytest.mark.parametrize("module", MODULES)
def test_no_call_that_is_right_is_called_wrong(
    python_surfaces: Surfaces, truth: dict[str, Any], module: str
) -> None:
    told = _told(python_surfaces, truth, module)
    wrong = [name for name, (given, real) in told.items() if not _takes(given, real)]
    assert wrong == []


def test_what_is_not_passed_on_is_refused(
    python_surfaces: Surfaces, truth: dict[str, Any], python_project: Path
) -> None:
    """Where ``**rest`` is replaced by keywords, a call with another keyword fails.

    ``secho`` passes them on where it is given a text alone, ``as_declarative_base`` when it
    decorates a class.
    """
    asked = []
    for module in MODULES:
        for name, (given, real) in _told(python_surfaces, truth, module).items():
            if _has(real, "var_keyword") and not _has(given, "var_keyword"):
                asked.append(f"{module}:{name}")
    refused = _ask(python_project, "--refused", *asked)
    assert sum(bool(each) for each in refused.values()) > 20
    accepted = {name for name, answer in refused.items() if answer is False}
    assert accepted <= {"click:secho", "sqlalchemy.orm:registry.as_declarative_base"}


def test_most_parameters_are_told_as_python_has_them(
    python_surfaces: Surfaces, truth: dict[str, Any]
) -> None:
    told = [each for name in MODULES for each in _told(python_surfaces, truth, name).values()]
    assert sum(given == real for given, real in told) > 0.97 * len(told)


def _told(
    surfaces: Surfaces, truth: dict[str, Any], module: str
) -> dict[str, tuple[list[Parameter], list[Parameter]]]:
    """Return by name the parameters of the surface, and those that Python finds."""
    found = {}
    for name, real in truth[module]["calls"].items():
        symbol = surfaces.of(module).symbol(f"{module}.{name}")
        if symbol is None or symbol.parameters is None or not real or _takes_all(real):
            continue
        there = [
            Parameter(each, KINDS.get(kind, kind), needed and not kind.startswith("var_"))
            for each, kind, needed in real
        ]
        if not name.rpartition(".")[2].startswith("_"):
            found[name] = [*symbol.parameters], there
    return found


def _takes(told: list[Parameter], real: list[Parameter]) -> bool:
    """Return whether all that Python accepts is accepted, but for keywords that nobody lists."""
    by_name = {each.name: each for each in told}
    places = [each.name for each in told if each.kind in PLACES]
    wanted = [each for each in real if each.kind in PLACES]
    for place, each in enumerate(wanted):
        if not _has(told, "var_positional") and len(places) <= place:
            return False
        if each.kind == "positional" and places[place : place + 1] not in ([], [each.name]):
            return False
    for each in real:
        mine = by_name.get(each.name)
        is_word = mine is not None and mine.kind in WORDS
        if each.kind in WORDS and not is_word and not _has(told, "var_keyword"):
            return False
        if mine is not None and mine.required and not each.required:
            return False
    names = {each.name for each in real if each.required}
    needed = all(each.name in names for each in told if each.required)
    return needed and _has(told, "var_positional") >= _has(real, "var_positional")


def _has(given: list[Parameter], kind: str) -> bool:
    return any(each.kind == kind for each in given)


def _takes_all(real: list[list[Any]]) -> bool:
    """Return whether a call takes anything, as that of a wrapper, or a private name is mangled."""
    return [each[1] for each in real] == ["var_positional", "var_keyword"] or any(
        "__" in each[0] for each in real
    )


def test_enough_is_certain(python_surfaces: Surfaces, truth: dict[str, Any]) -> None:
    sure = [each for each in MODULES if python_surfaces.of(each).certain(each)]
    classes = [f"{module}.{each}" for module in MODULES for each in truth[module]["classes"]]
    known = [each for each in classes if python_surfaces.of(each).certain(each)]
    calls = [
        symbol.parameters is not None
        for module in MODULES
        for name in truth[module]["calls"]
        if (symbol := python_surfaces.of(module).symbol(f"{module}.{name}"))
    ]
    assert len(sure) >= 0.6 * len(MODULES)
    assert len(known) >= 0.55 * len(classes)
    assert sum(calls) >= 0.75 * len(calls)


def test_a_function_through_its_re_export(python_surfaces: Surfaces) -> None:
    assert python_surfaces.of("requests").symbol("requests.get") == Symbol(
        path="requests.get",
        kind="function",
        file="requests/api.py",
        line=74,
        end_line=87,
        signature=python_surfaces.of("requests").symbol("requests.api.get").signature,  # type: ignore[union-attr]
        docstring=(
            "Sends a GET request.\n\n:param url: URL for the new :class:`Request` object.\n"
            ":param params: (optional) Dictionary, list of tuples or bytes to send\n"
            "    in the query string for the :class:`Request`.\n"
            ":param \\*\\*kwargs: Optional arguments that ``request`` takes.\n"
            ":return: :class:`Response <Response>` object\n:rtype: requests.Response"
        ),
        target="requests.api.get",
        parameters=(
            Parameter("url", "positional", required=True),
            Parameter("params", "positional", required=False),
            *(
                Parameter(each, "keyword_only", required=False)
                for each in ("data", "json", "headers", "cookies", "files", "auth", "timeout")
            ),
            *(
                Parameter(each, "keyword_only", required=False)
                for each in ("allow_redirects", "proxies", "hooks", "stream", "verify", "cert")
            ),
        ),
        module="requests.api",
    )


@pytest.mark.parametrize(
    ("path", "kind", "target", "file"),
    [
        ("fastapi.APIRouter.get", "method", "fastapi.routing.APIRouter.get", "fastapi/routing.py"),
        (
            "fastapi.FastAPI.mount",
            "method",
            "starlette.applications.Starlette.mount",
            "starlette/applications.py",
        ),
        ("fastapi.Request", "class", "starlette.requests.Request", "starlette/requests.py"),
        ("flask.request", "attribute", "flask.globals.request", "flask/globals.py"),
        ("flask.Markup", None, "", ""),
        (
            "django.db.models.CharField",
            "class",
            "django.db.models.fields.CharField",
            "django/db/models/fields/__init__.py",
        ),
        ("yaml.safe_load", "function", "", "yaml/__init__.py"),
        ("yaml.SafeLoader", "class", "yaml.loader.SafeLoader", "yaml/loader.py"),
        ("numpy.ndarray.reshape", "method", "", "numpy/__init__.pyi"),
        ("numpy.linalg.norm", "function", "numpy.linalg._linalg.norm", "numpy/linalg/_linalg.py"),
        (
            "sqlalchemy.orm.Session.execute",
            "method",
            "sqlalchemy.orm.session.Session.execute",
            "sqlalchemy/orm/session.py",
        ),
        (
            "google.protobuf.message.Message.SerializeToString",
            "method",
            "",
            "google/protobuf/message.py",
        ),
        ("PIL.Image.Image.resize", "method", "", "PIL/Image.py"),
        ("six.moves", "attribute", "", "six.py"),
        ("six.text_type", "attribute", "", "six.py"),
        ("attrs.define", "function", "attr._next_gen.define", "attr/_next_gen.py"),
        ("click.Option.name", "attribute", "click.core.Parameter.name", "click/core.py"),
        ("httpx.codes.OK", "attribute", "httpx._status_codes.codes.OK", "httpx/_status_codes.py"),
        ("requests.codes.nothing", None, "", ""),
        ("fastapi.FastAPI.gett", None, "", ""),
        ("requests.nothing", None, "", ""),
        ("fastapi..FastAPI", None, "", ""),
        ("", None, "", ""),
    ],
)
def test_where_a_path_leads(
    python_surfaces: Surfaces, path: str, kind: str | None, target: str, file: str
) -> None:
    surface = python_surfaces.of(path if path.strip(".") and path else "requests")
    symbol = surface.symbol(path)
    found = (symbol.kind, symbol.target, symbol.file) if symbol else (None, "", "")
    assert found == (kind, target, file)


def test_what_is_deprecated_says_why(python_surfaces: Surfaces) -> None:
    told = python_surfaces.of("pydantic").symbol("pydantic.BaseModel.dict")
    assert told is not None
    assert told.deprecated == "The `dict` method is deprecated; use `model_dump` instead."
    kept = python_surfaces.of("attrs").symbol("attrs.define")
    assert kept is not None
    assert kept.deprecated == ""


@pytest.mark.parametrize(
    ("path", "certain"),
    [
        ("requests", True),
        ("fastapi", True),
        ("fastapi.FastAPI", True),
        ("click", True),
        ("httpx.Client", True),
        ("flask.request", False),
        ("numpy", True),
        ("pydantic", True),
        ("six", False),
        ("google", False),
        ("pydantic.BaseModel", True),
        ("django.db.models.Model", False),
        ("yaml._yaml", False),
        ("requests.nothing", False),
    ],
)
def test_what_is_certain(python_surfaces: Surfaces, path: str, *, certain: bool) -> None:
    assert python_surfaces.of(path).certain(path) is certain


def test_members_are_what_the_package_means_for_others(python_surfaces: Surfaces) -> None:
    members = python_surfaces.of("fastapi").members("fastapi")
    assert members is not None
    assert {"FastAPI", "APIRouter", "Depends", "Request", "status"} <= set(members)
    assert members["status"].kind == "module"
    httpx = python_surfaces.of("httpx").members("httpx")
    assert httpx is not None
    assert "AsyncClient" in httpx
    assert "_client" not in httpx


def test_modules_begin_with_the_entry(python_surfaces: Surfaces) -> None:
    modules = python_surfaces.of("yaml").modules()
    assert modules[0] == "yaml"
    assert {"yaml.loader", "yaml._yaml", "yaml.cyaml"} <= set(modules)


def test_names_are_for_suggestions(python_surfaces: Surfaces) -> None:
    names = list(python_surfaces.of("requests").names())
    assert names.index("requests.get") < names.index("requests.adapters")
    assert "requests.Session.get" in names


def test_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text(
        "open(__file__ + '.ran', 'w').close()\nraise SystemExit\n\ndef tool(x): ...\n"
    )
    surface = Surfaces(tmp_path).of("trap")
    symbol = surface.symbol("trap.tool")
    assert symbol is not None
    assert symbol.parameters == (Parameter("x", "positional", required=True),)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["trap.py"]
