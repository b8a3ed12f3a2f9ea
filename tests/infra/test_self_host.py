"""What lies in ``infra`` for servers of one's own."""

from __future__ import annotations

import configparser
import contextlib
import re
from pathlib import Path
from typing import Any

import yaml
from starlette.testclient import TestClient

from docstow.core import auth
from docstow.core.settings import FIELDS, Settings, load
from docstow.runtime import Runtime
from docstow.server.command_line import parse
from paths import REPOSITORY

INFRA = REPOSITORY / "infra"


def test_the_example_has_every_setting_with_its_default(tmp_path: Path) -> None:
    text = (INFRA / "docstow.toml").read_text("utf-8")
    listed = re.findall(r"^# (.+)\n#(\w+) = ", text, re.MULTILINE)
    assert listed == [(field.metadata["help"], name) for name, field in FIELDS.items()]
    taken = tmp_path / "docstow.toml"
    taken.write_text(re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE))
    assert load({}, {}, taken) == Settings()
    assert load({}, {}, INFRA / "docstow.toml") == Settings()


def test_the_service_runs_a_command_that_there_is() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.read_string((INFRA / "docstow.service").read_text("utf-8"))
    program, *words = unit["Service"]["ExecStart"].split()
    assert Path(program).name == "docstow"
    assert parse(words).config == Path("/etc/docstow/docstow.toml")
    text = (INFRA / "docstow.service").read_text("utf-8")
    named = re.findall(r"^Environment=DOCSTOW_(\w+)=", text, re.MULTILINE)
    assert named
    assert {name.lower() for name in named} <= FIELDS.keys()


def manifests() -> dict[str, dict[str, Any]]:
    text = (INFRA / "kubernetes.yaml").read_text("utf-8")
    assert len(text.splitlines()) < 100
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


def test_the_manifests_fit_together_and_run_as_nobody() -> None:
    found = manifests()
    assert set(found) == {"PersistentVolumeClaim", "Deployment", "Service"}
    pod = found["Deployment"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    labels = pod["metadata"]["labels"]
    assert found["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels
    ports = {each["name"] for each in container["ports"]}
    assert {each["targetPort"] for each in found["Service"]["spec"]["ports"]} == ports
    volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
    assert {each["name"] for each in container["volumeMounts"]} == set(volumes)
    claim = volumes["cache"]["persistentVolumeClaim"]["claimName"]
    assert claim == found["PersistentVolumeClaim"]["metadata"]["name"]
    uid = pod["spec"]["securityContext"]["runAsUser"]
    assert f"useradd --uid {uid} " in (INFRA / "Dockerfile").read_text("utf-8")
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    written = [each["mountPath"] for each in container["volumeMounts"]]
    values = {each["name"]: each.get("value", "") for each in container["env"]}
    for name in ("DOCSTOW_CACHE", "DOCSTOW_MODELS"):
        assert any(values[name].startswith(f"{each}/") for each in written)
    # Services of the name docstow would set DOCSTOW_PORT to an address.
    assert pod["spec"]["enableServiceLinks"] is False


def test_the_manifests_set_settings_and_their_probes_are_answered(tmp_path: Path) -> None:
    (container,) = manifests()["Deployment"]["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    secret = {name for name, value in env.items() if value is None}
    assert secret == {"DOCSTOW_AUTH", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    references = [each["valueFrom"]["secretKeyRef"] for each in container["env"][-len(secret) :]]
    text = (INFRA / "kubernetes.yaml").read_text("utf-8")
    assert all(f"--from-literal={each['key']}=" in text for each in references)
    named = [name.removeprefix("DOCSTOW_").lower() for name in env if name.startswith("DOCSTOW_")]
    assert set(named) <= FIELDS.keys()

    options = parse(container["args"])
    assert options.port == str(container["ports"][0]["containerPort"])
    digest = auth.token_digest(auth.new_token())
    given = {**env, "DOCSTOW_AUTH": f"ci:read:{digest}"}
    local = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "s3_endpoint": "",
        "host": options.host,
    }
    with contextlib.closing(Runtime(load(local, given))) as runtime:
        client = TestClient(runtime.app, base_url="http://10.0.0.7:8000")
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = container[kind]["httpGet"]
            headers = {each["name"]: each["value"] for each in probe["httpHeaders"]}
            assert client.get(probe["path"], headers=headers).status_code == 200
            assert client.get(probe["path"]).status_code == 403  # hence the header
            assert probe["port"] == container["ports"][0]["name"]
        through = {"Host": env["DOCSTOW_ALLOWED_HOSTS"]}
        assert client.get("/sources", headers=through).status_code == 401


def test_caddy_passes_on_to_the_server_of_the_compose_file() -> None:
    services = yaml.safe_load((INFRA / "compose.yaml").read_text("utf-8"))["services"]
    caddy = services["caddy"]
    assert caddy["profiles"] == ["caddy"]
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in caddy["volumes"]
    name, port = caddy["environment"]["DOCSTOW_UPSTREAM"].split(":")
    assert services[name]["ports"][0].endswith(f":{port}")
    used = set(re.findall(r"\{\$(\w+)", (INFRA / "Caddyfile").read_text("utf-8")))
    assert used == set(caddy["environment"])
    # What Caddy says of who calls is believed where the setting names it.
    assert "DOCSTOW_PROXIES" in services[name]["environment"]
