"""Clients' settings with comments of their users: docstow goes in and out, the rest stays."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from docstow.cli import jsonc, main
from docstow.core.errors import UnreadableInput
from docstow.server.clients import CLIENTS, NAME

URL = "https://docs.example/mcp"

ZED = """\
// Zed settings
//
{
    "theme": "One Dark", // at night
    "context_servers": {
        /* in use since spring */
        "postgres": {"command": "pg-mcp", "args": ["--dsn", "postgres://x//y"]},
    },
    "buffer_font_size": 15,
}
"""

CODEX = """\
model = "large"   # the slow one

[mcp_servers.files]
command = "files-mcp"
args = [
  "--root",
  "/srv",
]

[profiles.fast]
model = "small"
"""

CLAUDE = json.dumps(
    {"numStartups": 12, "mcpServers": {"github": {"type": "http", "url": "https://x/mcp"}}},
    indent=2,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("DOCSTOW_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("DOCSTOW_CACHE", str(tmp_path / "cache"))
    return tmp_path


def _file(home: Path, client: str, text: str = "") -> Path:
    path = home / CLIENTS[client].user
    path.parent.mkdir(parents=True, exist_ok=True)
    if text:
        path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("client", "text"), [("zed", ZED), ("codex", CODEX), ("claude-code", CLAUDE)]
)
def test_what_is_written_goes_again_and_the_rest_keeps_its_bytes(
    home: Path, client: str, text: str
) -> None:
    path = _file(home, client, text)
    path.chmod(0o600)
    assert main(["connect", client, "--url", URL, "--write"]) == 0
    connected = path.read_text("utf-8")
    assert connected != text
    assert URL in connected
    assert all(line in connected for line in text.splitlines() if "//" in line or "#" in line)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.with_name(f"{path.name}.before-docstow").read_text("utf-8") == text
    assert main(["connect", client, "--url", URL, "--write"]) == 0
    assert path.read_text("utf-8") == connected
    assert main(["disconnect", client]) == 0
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("client", [name for name, each in CLIENTS.items() if each.form != "hand"])
def test_a_client_without_a_file_gets_one_that_it_can_read(home: Path, client: str) -> None:
    path = _file(home, client)
    assert main(["connect", client, "--write"]) == 0
    text = path.read_text("utf-8")
    if CLIENTS[client].form == "toml":
        server = tomllib.loads(text)["mcp_servers"][NAME]
    elif CLIENTS[client].form == "file":
        (server,) = yaml.safe_load(text)["mcpServers"]
    else:
        server = jsonc.loads(text)
        for key in (*CLIENTS[client].keys, NAME):
            server = server[key]
    command = server["command"]
    words = command if isinstance(command, list) else [command, *server["args"]]
    assert words[-2:] == ["serve", "--stdio"]
    assert Path(words[0]).is_absolute()


def test_another_address_takes_the_place_of_the_former_one(home: Path) -> None:
    path = _file(home, "codex", CODEX)
    for url in (URL, "https://other.example/mcp"):
        main(["connect", "codex", "--url", url, "--token", "--write"])
    servers = tomllib.loads(path.read_text("utf-8"))["mcp_servers"]
    assert servers[NAME] == {
        "url": "https://other.example/mcp",
        "bearer_token_env_var": "DOCSTOW_TOKEN",
    }
    assert servers["files"]["args"] == ["--root", "/srv"]


def test_a_token_is_named_and_never_written(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCSTOW_TOKEN", "docstow_secret")
    for client in CLIENTS:
        words = ["connect", client, "--url", URL, "--token"]
        assert main(words) == 0
        refused = CLIENTS[client].form == "hand" or not CLIENTS[client].reads_variables
        assert main([*words, "--write"]) == int(refused)
    assert "docstow_secret" not in "".join(capsys.readouterr())
    files = [each for each in home.rglob("*") if each.is_file()]
    assert files
    assert all(b"docstow_secret" not in each.read_bytes() for each in files)


def test_a_dry_run_shows_the_change_and_makes_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(home, "zed", ZED)
    assert main(["connect", "zed", "--url", URL, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert f'+            "url": "{URL}"' in told
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_text("utf-8") == ZED


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("zed", '{"theme": '),
        ("zed", '{"context_servers": []}'),
        ("cursor", "[]"),
        ("cursor", "{mcpServers: {}}"),
        ("codex", "model = \n"),
        ("codex", 'mcp_servers = { files = { command = "x" } }\n'),
    ],
)
def test_a_file_that_is_not_understood_stays_as_it_is(
    home: Path, client: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(home, client, text)
    assert main(["connect", client, "--url", URL, "--write"]) == 1
    assert str(path) in capsys.readouterr().err
    assert path.read_text("utf-8") == text


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_settings_that_are_a_link_stay_one(home: Path) -> None:
    kept = home / "dotfiles" / "settings.json"
    kept.parent.mkdir()
    kept.write_text(ZED, "utf-8")
    path = _file(home, "zed")
    path.symlink_to(kept)
    assert main(["connect", "zed", "--url", URL, "--write"]) == 0
    assert path.is_symlink()
    assert URL in kept.read_text("utf-8")


def test_a_project_has_a_file_of_its_own_and_a_skill(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    words = ["connect", "claude-code", "--write", "--skill", "--project", str(project)]
    assert main(words) == 0
    assert NAME in json.loads((project / ".mcp.json").read_text("utf-8"))["mcpServers"]
    skill = (project / ".claude" / "skills" / NAME / "SKILL.md").read_text("utf-8")
    about = yaml.safe_load(skill.split("---")[1])
    assert about["name"] == NAME
    assert 100 < len(about["description"]) < 1024
    assert not _file(home, "claude-code").exists()
    assert main(["connect", "windsurf", "--write", "--project", str(project)]) == 1


@pytest.mark.parametrize("text", ["[1]", "{a: 1}", "{'a': 1}", '{"a": f()}', "{", "{}{}", "1"])
def test_what_javascript_has_and_json_has_not_is_refused(text: str) -> None:
    with pytest.raises(UnreadableInput):
        jsonc.loads(text)


def test_values_are_those_of_json() -> None:
    text = '{"a": [1, -2.5e3, true, null, "\\u00e9//x"], /* b */ "b": {"c": false,},}'
    assert jsonc.loads(text) == {"a": [1, -2500.0, True, None, "é//x"], "b": {"c": False}}
