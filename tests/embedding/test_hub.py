from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bert import tiny_model, write_json
from docstow.cli import main
from docstow.core.errors import ConfigurationError, UpstreamError
from docstow.embedding import models, parse_choice
from docstow.embedding.model_folder import MANIFEST, open_folder
from docstow.embedding.models import Hub
from docstow.embedding.transformer import TransformerEmbedder
from docstow.net import Fetcher
from embedding.conftest import WORDS
from servers.hub import COMMIT
from servers.hub import Hub as Server
from servers.loopback import cut, status

BGE = "BAAI/bge-small-en-v1.5"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    tiny_model(tmp_path / "served" / "some" / "tiny", words=WORDS)
    with Server(tmp_path / "served") as running:
        yield running


@pytest.fixture
def hub(server: Server, fetcher: Fetcher, tmp_path: Path) -> Hub:
    return Hub(lambda: fetcher, server.url, tmp_path / "models")


def test_a_model_is_fetched_once_and_its_digests_are_kept(
    server: Server, hub: Hub, tmp_path: Path
) -> None:
    choice = parse_choice("some/tiny")
    folder = hub.fetch(choice)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    source = tmp_path / "served" / "some" / "tiny"
    files = ["config.json", "1_Pooling/config.json", "tokenizer.json", "onnx/model.onnx"]
    assert manifest == {
        "id": "some/tiny",
        "repository": "some/tiny",
        "revision": COMMIT,
        "sha256": {
            file: hashlib.sha256((source / file).read_bytes()).hexdigest() for file in files
        },
    }
    embedder = TransformerEmbedder(open_folder(folder))
    assert embedder.id.startswith("some/tiny/")
    assert embedder.embed(["task"]).any()

    asked = len(server.requests)
    assert hub.fetch(choice) == folder
    assert len(server.requests) == asked


def test_all_files_are_of_the_commit_that_answered_first(server: Server, hub: Hub) -> None:
    hub.fetch(parse_choice("some/tiny"))
    first, *rest = server.paths()
    assert first == "/some/tiny/resolve/main/config.json"
    assert all(path.startswith(f"/some/tiny/resolve/{COMMIT}/") for path in rest)


def test_a_fetched_folder_is_a_model_of_its_own(server: Server, hub: Hub, tmp_path: Path) -> None:
    into = tmp_path / "baked"
    assert hub.fetch(parse_choice("some/tiny"), into) == into
    direct = hub.fetch(parse_choice("some/tiny"))
    ids = {TransformerEmbedder(open_folder(folder)).id for folder in (into, direct)}
    assert len(ids) == 1
    (into / "onnx" / "model.onnx").write_bytes(b"another")
    with pytest.raises(ConfigurationError, match="not the file that was fetched"):
        TransformerEmbedder(open_folder(into)).embed(["task"])


def test_a_broken_download_goes_on_where_it_stopped(
    server: Server, hub: Hub, tmp_path: Path
) -> None:
    file = tmp_path / "served" / "some" / "tiny" / "onnx" / "model.onnx"
    body = file.read_bytes()
    server.plan("model.onnx", cut(body, 3000, {"ETag": f'"{len(body)}"'}))
    folder = hub.fetch(parse_choice("some/tiny"))
    assert (folder / "onnx" / "model.onnx").read_bytes() == body
    asked = [each.headers for each in server.requests if each.path.endswith("model.onnx")]
    ranges = [(headers.get("range"), headers.get("if-range")) for headers in asked]
    assert ranges == [(None, None), ("bytes=3000-", f'"{len(body)}"')]


def test_the_next_run_goes_on_too_where_the_commit_is_known(
    server: Server, hub: Hub, impatient: Fetcher, tmp_path: Path
) -> None:
    file = tmp_path / "served" / "some" / "tiny" / "onnx" / "model.onnx"
    body = file.read_bytes()
    choice = parse_choice(f"some/tiny@{COMMIT}")
    server.plan("model.onnx", cut(body, 3000))
    with pytest.raises(UpstreamError, match="broke off"):
        Hub(lambda: impatient, server.url, tmp_path / "models").fetch(choice)
    folder = hub.fetch(choice)
    assert (folder / "onnx" / "model.onnx").read_bytes() == body
    assert server.requests[-1].headers["range"] == "bytes=3000-"


def test_the_next_run_begins_again_on_a_branch(
    fetcher: Fetcher, impatient: Fetcher, tmp_path: Path
) -> None:
    source = tiny_model(tmp_path / "served" / "some" / "tiny", words=WORDS)
    body = (source / "onnx" / "model.onnx").read_bytes()
    with Server(tmp_path / "served", commits=False) as server:
        server.plan("model.onnx", cut(body, 3000))
        with pytest.raises(UpstreamError, match="broke off"):
            Hub(lambda: impatient, server.url, tmp_path / "models").fetch(parse_choice("some/tiny"))
        # The branch has moved on meanwhile.
        tiny_model(source, words=WORDS, seed=1)
        hub = Hub(lambda: fetcher, server.url, tmp_path / "models")
        folder = hub.fetch(parse_choice("some/tiny"))
    moved = (source / "onnx" / "model.onnx").read_bytes()
    assert moved != body
    assert (folder / "onnx" / "model.onnx").read_bytes() == moved
    assert json.loads((folder / MANIFEST).read_bytes())["revision"] == "main"


def known_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, served: Path, digest: str = ""
) -> None:
    """Let the table of known models have the one that is served, as ``BGE``."""
    files = ("onnx/model.onnx", "tokenizer.json")
    digests = {f: hashlib.sha256((served / f).read_bytes()).hexdigest() for f in files}
    digests |= {"tokenizer.json": digest} if digest else {}
    pin = {"repository": "some/tiny", "revision": COMMIT, "model": files[0], "sha256": digests}
    facts = {"pooling": "cls", "query_prefix": "query : ", "max_tokens": 8, "dimensions": 16}
    write_json(folder / "known_models.json", **{BGE: {**facts, "fp32": pin}})
    monkeypatch.setattr(models, "_KNOWN", folder / "known_models.json")


def test_a_known_model_needs_only_its_pinned_files(
    server: Server, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_model(tmp_path, monkeypatch, tmp_path / "served" / "some" / "tiny")
    folder = open_folder(hub.fetch(parse_choice(BGE)))
    assert [path.rpartition("/")[2] for path in server.paths()] == ["tokenizer.json", "model.onnx"]
    assert (folder.name, folder.query_prefix, folder.max_tokens) == (BGE, "query : ", 8)


def test_a_wrong_digest_is_refused(
    server: Server, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_model(tmp_path, monkeypatch, tmp_path / "served" / "some" / "tiny", digest="0" * 64)
    with pytest.raises(UpstreamError, match=r"tokenizer\.json of some/tiny has the SHA-256"):
        hub.fetch(parse_choice(BGE))
    assert not list(tmp_path.glob("models/**/tokenizer.json*"))
    assert not list(tmp_path.glob(f"models/**/{MANIFEST}"))


def test_what_the_table_knows_is_whole() -> None:
    known = json.loads((Path(models.__file__).parent / "known_models.json").read_bytes())
    assert set(known) == {BGE, "sentence-transformers/all-MiniLM-L6-v2"}
    for said in known.values():
        assert said["pooling"] in {"cls", "mean"}
        for precision in ("fp32", "int8"):
            pin = said[precision]
            assert set(pin["sha256"]) == {pin["model"], "tokenizer.json"}
            assert {len(digest) for digest in pin["sha256"].values()} == {64}
            assert len(pin["revision"]) == 40


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("some/none", "has no some/none at main, or no tokenizer.json in it"),
        ("some/tiny@v9", "has no some/tiny at v9"),
        ("some/tiny#int8", "some/tiny has no int8 ONNX file"),
    ],
)
def test_what_is_not_there_is_named(hub: Hub, model: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        hub.fetch(parse_choice(model))
    assert message in caught.value.message


def test_a_hub_that_fails_is_an_upstream_error(server: Server, hub: Hub) -> None:
    server.always("config.json", status(503))
    with pytest.raises(UpstreamError, match="answered 503"):
        hub.fetch(parse_choice("some/tiny"))


def test_the_command_makes_a_folder_that_is_a_model(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [f"--store={tmp_path / 'store'}", f"--cache={tmp_path / 'cache'}"]
    words = [*settings, f"--hub-url={server.url}", "--into", str(tmp_path / "baked")]
    assert main(["model", "fetch", "some/tiny", *words]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'baked'}\n"
    model = f"--model={tmp_path / 'baked'}"
    question = json.dumps({"crate": "stowage", "query": "lock a task"})
    assert main(["call", "search_items", question, *settings, model]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 4
    assert main(["model", "fetch", "bundled", *settings]) == 1
    assert "bundled is no model of the hub" in capsys.readouterr().err
