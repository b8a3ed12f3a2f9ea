"""Pushing an export into Open WebUI, against a server that answers as its routers do."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.cli import main
from docstow.core.errors import ConfigurationError, InvalidParameter, UpstreamError
from docstow.net import Fetcher
from docstow.net.retry import RetryPolicy
from docstow.ops.export.open_webui import OpenWebUi as Client
from docstow.ops.export.open_webui import Pushed
from docstow.ops.export.pieces import OneFile
from servers.loopback import redirect, status
from servers.open_webui import TOKEN, OpenWebUi

MOOR = OneFile("https://x.example/moor", "moor.md", "# Moor\n\nTie up: “Ahoy”.\n")
SAIL = OneFile("https://x.example/sail", "sail.md", "# Sail\n\nHoist.\n")


@pytest.fixture(params=[True, False], ids=["paged", "whole"])
def server(request: pytest.FixtureRequest) -> Iterator[OpenWebUi]:
    with OpenWebUi(paged=request.param) as served:
        yield served


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with contextlib.closing(Fetcher("x", policy=RetryPolicy(backoff_s=0.001))) as made:
        yield made


def push(
    fetcher: Fetcher, server: OpenWebUi, *files: OneFile, token: str = TOKEN, **given: object
) -> Pushed:
    arguments = {"source": "site/1", "title": "Harbour", **given}
    return Client(fetcher, server.url, token, poll_s=0.0).push(files, **arguments)  # type: ignore[arg-type]


def test_a_push_makes_a_private_base_and_a_second_one_changes_what_changed(
    server: OpenWebUi, fetcher: Fetcher
) -> None:
    first = push(fetcher, server, MOOR, SAIL)
    (base,) = server.bases
    assert first == Pushed(base, (MOOR.path, SAIL.path))
    assert server.bases[base]["access"] == ({}, [])
    assert server.texts(base) == {"moor.md": MOOR.text, "sail.md": SAIL.text}

    server.requests.clear()
    assert push(fetcher, server, MOOR, SAIL) == Pushed(base, unchanged=2)
    assert {request.method for request in server.requests} == {"GET"}

    changed = OneFile(MOOR.path, MOOR.name, "# Moor\n\nCast off.\n")
    anchor = OneFile("https://x.example/anchor", "anchor.md", "# Anchor\n")
    third = push(fetcher, server, anchor, changed)
    assert third == Pushed(base, (anchor.path,), (MOOR.path,), (SAIL.path,))
    assert server.texts(base) == {"moor.md": changed.text, "anchor.md": anchor.text}
    assert len(server.files) == 2


def test_a_dry_run_changes_nothing(server: OpenWebUi, fetcher: Fetcher) -> None:
    assert push(fetcher, server, MOOR, dry_run=True) == Pushed("", (MOOR.path,))
    assert server.bases == {}
    base = push(fetcher, server, MOOR).knowledge
    server.requests.clear()
    other = OneFile(MOOR.path, MOOR.name, "other")
    assert push(fetcher, server, other, dry_run=True) == Pushed(base, (), (MOOR.path,))
    assert {request.method for request in server.requests} == {"GET"}
    assert server.texts(base) == {"moor.md": MOOR.text}


def test_what_others_put_there_stays(server: OpenWebUi, fetcher: Fetcher) -> None:
    server.add_base("Harbour", writable=False)
    base = server.add_base("Harbour")
    server.add_file(base, "moor.md", "a person's own")
    push(fetcher, server, SAIL, source="site/2")
    done = push(fetcher, server, MOOR)
    assert (done.knowledge, done.removed) == (base, ())
    held = [server.files[each]["text"] for each in server.bases[base]["files"]]
    assert held == ["a person's own", SAIL.text, MOOR.text]


def test_a_base_is_named_by_its_id_where_two_have_the_name(
    server: OpenWebUi, fetcher: Fetcher
) -> None:
    one, _ = server.add_base("Harbour"), server.add_base("Harbour")
    with pytest.raises(InvalidParameter, match="2 named 'Harbour'; give an id"):
        push(fetcher, server, MOOR)
    assert push(fetcher, server, MOOR, knowledge=one).knowledge == one
    with pytest.raises(InvalidParameter, match="has none of the id"):
        push(fetcher, server, MOOR, knowledge="0" * 8 + "-0000" * 3 + "-" + "0" * 12)


def test_hundreds_of_files_and_bases_are_found_again(fetcher: Fetcher) -> None:
    files = [OneFile(f"p/{n}", f"p{n}.md", f"# {n}\n") for n in range(95)]
    with OpenWebUi() as server:
        server.polls = 0
        for number in range(40):
            server.add_base(f"Other {number}")
        base = push(fetcher, server, *files).knowledge
        assert push(fetcher, server, *files) == Pushed(base, unchanged=95)


def test_a_file_that_is_refused_fails_alone_and_leaves_no_upload(fetcher: Fetcher) -> None:
    with OpenWebUi() as server:
        twin = OneFile("https://x.example/twin", "twin.md", MOOR.text)
        server.broken = {"sail.md"}
        done = push(fetcher, server, MOOR, SAIL, twin)
        host = server.url.removeprefix("http://")
        assert done.added == (MOOR.path,)
        assert done.failed == {
            SAIL.path: f"{host} cannot process it: no text",
            twin.path: f"{host} answered 400: 400: Duplicate content detected.",
        }
        assert len(server.files) == 1


def test_a_push_that_broke_off_goes_on_with_what_was_uploaded(fetcher: Fetcher) -> None:
    with OpenWebUi() as server:
        server.plan("/file/add", *[status(500)] * 5)
        with pytest.raises(UpstreamError, match="answered 500"):
            push(fetcher, server, MOOR)
        (left,) = server.files
        done = push(fetcher, server, MOOR)
        assert server.bases[done.knowledge]["files"] == [left]


def test_an_upload_is_sent_again_after_a_429_and_after_nothing_else(fetcher: Fetcher) -> None:
    with OpenWebUi() as server:
        server.plan("/api/v1/files/", status(404), status(429, retry_after="0"))
        assert push(fetcher, server, MOOR).added == (MOOR.path,)
        server.plan("/knowledge/create", status(503))
        with pytest.raises(UpstreamError, match="answered 503"):
            push(fetcher, server, MOOR, title="Second")
        assert [each["name"] for each in server.bases.values()] == ["Harbour"]


def test_keys_are_for_one_host_and_never_shown(server: OpenWebUi, fetcher: Fetcher) -> None:
    with pytest.raises(UpstreamError, match="check DOCSTOW_OPEN_WEBUI_TOKEN") as refused:
        push(fetcher, server, MOOR, token="sk-wrong")
    assert "sk-wrong" not in str(refused.value)
    with pytest.raises(ConfigurationError, match="set DOCSTOW_OPEN_WEBUI_TOKEN"):
        push(fetcher, server, MOOR, token="")
    with pytest.raises(InvalidParameter, match="must be an address"):
        Client(fetcher, "chat.example.org", TOKEN)
    with OpenWebUi() as other:
        server.always("/api/v1/knowledge/", redirect(f"{other.url}/api/v1/knowledge/"))
        with pytest.raises(UpstreamError, match="redirects to another address"):
            push(fetcher, server, MOOR)
        assert other.requests == []


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "moor.md").write_text("# Moor\n\nTie up.\n", "utf-8")
    (docs / "sail.md").write_text("# Sail\n\nHoist.\n", "utf-8")
    for name in [name for name in os.environ if name.startswith("DOCSTOW_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DOCSTOW_OPEN_WEBUI_TOKEN", TOKEN)
    flags = [f"--store={tmp_path / 'store'}", f"--cache={tmp_path / 'cache'}"]
    ingest = ["ingest", "folder", str(docs), "--title", "Harbour", *flags]
    with OpenWebUi() as server:
        server.polls = 0
        command = ["export", "Harbour", "--push", server.url, *flags]
        assert main(ingest) == 0
        capsys.readouterr()
        assert main([*command, "--dry-run"]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert shown[:2] == ["would be added: moor.md", "would be added: sail.md"]
        assert main(command) == 0
        (base,) = server.bases
        told = capsys.readouterr().out
        assert told == f"Harbour ({base}): 2 added, 0 replaced, 0 removed, 0 unchanged\n"
        (text,) = [text for name, text in server.texts(base).items() if name == "moor.md"]
        assert text.startswith('---\nname: "Moor"\n')
        assert text.endswith("# Moor\n\nTie up.\n")

        (docs / "sail.md").write_text("# Sail\n\nReef.\n", "utf-8")
        assert main(ingest) == 0
        capsys.readouterr()
        assert main(command) == 0
        assert capsys.readouterr().out.endswith("0 added, 1 replaced, 0 removed, 1 unchanged\n")

        assert main(["export", "stowage", "--push", server.url, *flags]) == 0
        assert "stowage 0.1.0" in capsys.readouterr().out
        assert main(["export", "Harbour", "--knowledge", "x", *flags]) == 1
        assert "--push: is missing" in capsys.readouterr().err
