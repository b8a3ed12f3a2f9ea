"""Where registries are: pip's, uv's and npm's own configuration, and who gets a credential."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from docstow.core.errors import ConfigurationError
from docstow.sources.packages import Registry
from docstow.sources.packages.configuration import (
    Surroundings,
    npm_registries,
    python_indexes,
)

PIP_HELP = """
  -i, --index-url <url>       Base URL of the index (default
                              https://tool.example/simple). This should
"""
UV_HELP = "The default package index (by default: <https://uv.example/simple>) [env: UV_DEFAULT]"


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


class Machine:
    """A home, a project and a prefix without any configuration, and tools that answer."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root, self.prefix = (folder / each for each in ("home", "root", "prefix"))
        for each in (self.home, self.root, self.prefix, folder / "etc", folder / "bin"):
            each.mkdir(parents=True)
        self.etc, self.bin = folder / "etc", folder / "bin"
        self.environment = {
            "PATH": str(self.bin),
            "XDG_CONFIG_DIRS": str(self.etc),
            "UV_CONFIG_FILE": str(folder / "none.toml"),
            "PREFIX": str(self.prefix),
        }
        self.said = {"pip": PIP_HELP, "uv": UV_HELP, "npm": "https://npm.example/\n"}
        self.asked: list[str] = []

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def install(self, name: str) -> None:
        self.write(self.bin / name, "#!/bin/sh\n")
        (self.bin / name).chmod(0o755)

    def run(self, command: Sequence[str]) -> str:
        name = "pip" if "pip" in command[:3] and "uv" not in command[0] else Path(command[0]).name
        self.asked.append(name)
        return self.said.get(name, "")

    def surroundings(self, *, root: bool = True) -> Surroundings:
        return Surroundings(
            environment=self.environment,
            home=self.home,
            root=self.root if root else None,
            prefix=self.prefix,
            run=self.run,
        )

    def indexes(self, setting: str = "", *, root: bool = True) -> list[str]:
        return [each.url for each in python_indexes(setting, self.surroundings(root=root))]

    def npm(self, name: str = "react", setting: str = "") -> Registry:
        return npm_registries(setting, self.surroundings()).of(name)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


# --- Python ---------------------------------------------------------------------------------------


def test_the_setting_is_the_only_index(machine: Machine) -> None:
    machine.environment |= {"PIP_INDEX_URL": "https://a.example", "PIP_NO_INDEX": "1"}
    assert machine.indexes("https://own.example/simple/") == ["https://own.example/simple"]
    assert machine.asked == []


def test_without_configuration_the_tool_is_asked(machine: Machine) -> None:
    assert machine.indexes() == ["https://tool.example/simple"]
    machine.said["pip"] = ""
    machine.install("uv")
    assert machine.indexes() == ["https://uv.example/simple"]


def test_without_tool_the_error_names_the_setting(machine: Machine) -> None:
    machine.said = {}
    with pytest.raises(ConfigurationError, match="python_index_url"):
        machine.indexes()
    with pytest.raises(ConfigurationError, match="npm_registry_url"):
        machine.npm()


def test_pips_files_stand_in_pips_order(machine: Machine) -> None:
    """Global before the user's, before the environment's, before the one that is named."""
    places = [
        machine.etc / "pip" / "pip.conf",
        machine.home / ".pip" / "pip.conf",
        machine.home / ".config" / "pip" / "pip.conf",
        machine.prefix / "pip.conf",
        machine.home / "named.conf",
    ]
    machine.environment["PIP_CONFIG_FILE"] = str(places[-1])
    for number, place in enumerate(places):
        machine.write(place, f"[global]\nindex_url = https://{number}.example/simple/\n")
        assert machine.indexes() == [f"https://{number}.example/simple"]
    machine.write(places[0], "[install]\nindex-url = https://install.example\n")
    assert machine.indexes() == ["https://install.example"]
    machine.environment["PIP_INDEX_URL"] = "https://variable.example"
    assert machine.indexes() == ["https://variable.example"]
    machine.environment |= {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": ""}
    assert machine.indexes() == ["https://tool.example/simple"]


def test_further_indexes_follow(machine: Machine) -> None:
    text = "[global]\nextra-index-url =\n  https://a.example/simple\n  file:///opt/simple\n"
    machine.write(machine.home / ".config" / "pip" / "pip.conf", text)
    machine.environment["PIP_EXTRA_INDEX_URL"] = "https://b.example https://tool.example/simple"
    assert machine.indexes() == [
        "https://tool.example/simple",
        "https://b.example",
        "https://a.example/simple",
    ]


def test_the_environment_of_a_project_counts_in_the_project(machine: Machine) -> None:
    machine.write(machine.prefix / "pip.conf", "[global]\nindex-url = https://prefix.example\n")
    machine.write(
        machine.root / ".venv" / "pip.conf", "[global]\nindex-url = https://root.example\n"
    )
    assert machine.indexes() == ["https://root.example"]
    assert machine.indexes(root=False) == ["https://prefix.example"]


def test_no_index_is_obeyed(machine: Machine) -> None:
    machine.write(machine.home / ".pip" / "pip.conf", "[global]\nno-index = true\n")
    with pytest.raises(ConfigurationError, match="no-index"):
        machine.indexes()


def test_a_projects_uv_table_counts_in_the_project(machine: Machine) -> None:
    text = """
        [[tool.uv.index]]
        name = "first"
        url = "https://first.example/simple"
        [[tool.uv.index]]
        url = "https://pinned.example/simple"
        explicit = true
        [[tool.uv.index]]
        url = "https://main.example/simple"
        default = true
    """
    machine.write(machine.root / "pyproject.toml", text)
    assert machine.indexes() == ["https://main.example/simple", "https://first.example/simple"]
    assert machine.indexes(root=False) == ["https://tool.example/simple"]
    machine.write(machine.root / "uv.toml", 'index-url = "https://toml.example"\n')
    assert machine.indexes() == ["https://toml.example"]


def test_uvs_variables(machine: Machine) -> None:
    machine.environment |= {
        "UV_DEFAULT_INDEX": "main=https://main.example/simple",
        "UV_INDEX": "corp=https://corp.example/simple https://more.example",
        "UV_INDEX_CORP_USERNAME": "me@corp",
        "UV_INDEX_CORP_PASSWORD": "s:cret/",
    }
    found = python_indexes("", machine.surroundings())
    assert [each.url for each in found] == [
        "https://main.example/simple",
        "https://corp.example/simple",
        "https://more.example",
    ]
    assert [dict(each.headers) for each in found] == [{}, basic("me@corp", "s:cret/"), {}]


def test_what_is_no_toml_is_said_without_quoting_it(machine: Machine) -> None:
    machine.write(machine.root / "uv.toml", 'index-url = "https://me:hidden@host.example\n')
    with pytest.raises(ConfigurationError, match="not TOML") as caught:
        machine.indexes()
    assert "hidden" not in str(caught.value.body())
    assert caught.value.__cause__ is None


def test_credentials_of_an_address_and_of_netrc(machine: Machine) -> None:
    machine.write(machine.home / ".netrc", "machine b.example login me password hidden\n")
    (machine.home / ".netrc").chmod(0o600)
    machine.environment |= {
        "PIP_INDEX_URL": "https://user:p%40ss@a.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://b.example/simple https://c.example",
    }
    found = python_indexes("", machine.surroundings())
    assert [each.url for each in found] == [
        "https://a.example/simple",
        "https://b.example/simple",
        "https://c.example",
    ]
    assert [dict(e.headers) for e in found] == [basic("user", "p@ss"), basic("me", "hidden"), {}]
    assert "hidden" not in repr(found)
    assert basic("me", "hidden")["Authorization"] not in repr(found)


# --- npm ------------------------------------------------------------------------------------------


def test_npms_files_stand_in_npms_order(machine: Machine) -> None:
    machine.install("npm")
    assert machine.npm().url == "https://npm.example"
    for number, place in enumerate(
        [
            machine.prefix / "etc" / "npmrc",
            machine.home / ".npmrc",
            machine.root / ".npmrc",
        ]
    ):
        machine.write(place, f"; a comment\nregistry = https://{number}.example/npm/\n")
        assert machine.npm().url == f"https://{number}.example/npm"
    machine.environment["NPM_CONFIG_REGISTRY"] = "https://variable.example/"
    assert machine.npm().url == "https://variable.example"
    assert machine.npm(setting="https://own.example").url == "https://own.example"
    assert machine.asked == ["npm"]


def test_a_project_counts_only_where_it_is_the_root(machine: Machine) -> None:
    machine.install("npm")
    machine.write(machine.root / ".npmrc", "registry=https://project.example\n")
    assert npm_registries("", machine.surroundings(root=False)).default.url == "https://npm.example"


def test_scopes_have_registries(machine: Machine) -> None:
    machine.write(
        machine.home / ".npmrc",
        "registry=https://a.example\n@corp:registry=https://corp.example/npm/\n",
    )
    assert machine.npm("@corp/tool").url == "https://corp.example/npm"
    assert machine.npm("@types/node").url == "https://a.example"
    assert machine.npm("corp").url == "https://a.example"
    assert machine.npm("@corp/tool", setting="https://own.example").url == "https://own.example"


def test_credentials_are_those_of_the_nearest_address(machine: Machine) -> None:
    machine.environment["TOKEN"] = "t0ken"
    password = base64.b64encode(b"hidden").decode()
    machine.write(
        machine.home / ".npmrc",
        f"""
        registry=https://a.example/npm/
        //a.example/npm/:_authToken="${{TOKEN}}"
        //a.example/npm/private/:_auth=YTpi
        //b.example/:username=me
        //b.example/:_password={password}
        //c.example/:_authToken=${{MISSING}}
        _authToken=unscoped
        """,
    )
    registry = machine.npm()
    token = {"Authorization": "Bearer t0ken"}
    for url, secret in {
        "https://a.example/npm/react": token,
        "https://a.example/npm": token,
        "https://A.example/npm/react/-/react-1.tgz": token,
        "https://a.example/npm/private/x": {"Authorization": "Basic YTpi"},
        "https://a.example/other": {},
        "https://a.example/npmx": {},
        "https://a.example:8443/npm/react": {},
        "https://a.example.evil.example/npm/react": {},
        "http://a.example/npm/react": {},
        "https://b.example/files/x.tgz": basic("me", "hidden"),
        "https://c.example/x": {},
        "https://d.example/x": {},
    }.items():
        assert dict(registry.secret(url)) == secret, url
    assert "t0ken" not in repr(registry)


def test_a_project_may_not_send_every_variable(machine: Machine) -> None:
    machine.environment |= {"NPM_TOKEN": "meant", "AWS_SECRET_ACCESS_KEY": "hidden"}
    machine.write(
        machine.root / ".npmrc",
        """
        registry=https://a.example/
        //a.example/:_authToken=${NPM_TOKEN}
        //b.example/:_authToken=${AWS_SECRET_ACCESS_KEY}
        """,
    )
    registry = machine.npm()
    assert dict(registry.secret("https://a.example/x")) == {"Authorization": "Bearer meant"}
    assert dict(registry.secret("https://b.example/x")) == {}


def test_a_credential_of_an_index_is_for_its_host(machine: Machine) -> None:
    index = python_indexes("https://me:hidden@a.example/simple", machine.surroundings())[0]
    assert dict(index.secret("https://a.example/files/x.whl")) == basic("me", "hidden")
    for other in ("http://a.example/x", "https://a.example:444/x", "https://b.example/x"):
        assert dict(index.secret(other)) == {}


def test_the_defaults_of_the_installed_tools_are_found() -> None:
    """Only where they are installed; their addresses are nowhere in this project."""
    found = python_indexes("", Surroundings(environment={"PIP_CONFIG_FILE": "/dev/null"}))
    assert found[0].url.startswith("http")
    if shutil.which("npm"):
        assert npm_registries("", Surroundings()).default.url.startswith("http")
