"""Documentation files of a directory, whatever is in it."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import Forbidden, InvalidParameter, SourceNotFound
from docstow.core.model import File, Known, Registration, source_id
from docstow.core.settings import load
from docstow.sources import Event, Failed, Found, Same, Skipped, Upstreams, globs
from docstow.sources.folder import KIND, SUFFIXES, FolderOrigin, canonical
from docstow.store.objects import DirectoryStore

SECRET = "outside.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with documentation, beside a file that is none of its own."""
    (tmp_path / SECRET).write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "far.md").write_text("far")
    made = tmp_path / "garden"
    files = {
        "README": "Garden",
        "index.html": "<p>Garden",
        "docs/guide.md": "# Guide",
        "docs/größe & mehr.md": "# Size",
        "docs/deep/er/notes.rst": "Notes",
        "docs/paper.pdf": "%PDF-1.4 \0",
        "src/main.py": "print()",
        "CHANGELOG.md": "left out",
        ".git/description.md": "left out",
        ".venv/lib/readme.md": "left out",
        "node_modules/x/readme.md": "left out",
        "target/doc/index.html": "left out",
        "x/__pycache__/readme.md": "left out",
        "docs/.hidden.md": "left out",
    }
    for path, text in files.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(text, "utf-8")
    return made


def registration_of(root: Path, **given: Any) -> Registration:
    uri = canonical(str(root))
    made = datetime(2026, 1, 1, tzinfo=UTC)
    options = KIND.checked_options(given)
    return Registration(source_id("folder", uri), "folder", uri, uri, options, made)


def origin_of(root: Path, **given: Any) -> FolderOrigin:
    return FolderOrigin(registration_of(root, **given))


def events_of(root: Path, **given: Any) -> list[Event]:
    return list(origin_of(root, **given).files({}))


def known_of(root: Path) -> dict[str, Known]:
    return {
        event.file.path: Known(event.file.path, event.file.url, event.validator)
        for event in events_of(root)
        if isinstance(event, Found)
    }


def paths(events: list[Event]) -> list[str]:
    return [event.file.path for event in events if isinstance(event, Found)]


def test_documentation_is_found_and_the_rest_left_alone(root: Path) -> None:
    events = events_of(root)
    assert paths(events) == [
        "README",
        "index.html",
        "docs/größe & mehr.md",
        "docs/guide.md",
        "docs/paper.pdf",
        "docs/deep/er/notes.rst",
    ]
    assert len(events) == 6
    guide = next(e for e in events if isinstance(e, Found) and e.file.path == "docs/guide.md")
    url = (root / "docs" / "guide.md").as_uri()
    assert guide.file == File("docs/guide.md", url, "text/markdown", b"# Guide")


def test_a_second_sync_says_same_by_content_and_not_by_time(root: Path) -> None:
    guide = root / "docs" / "guide.md"
    before = guide.stat()
    known = known_of(root)
    guide.write_text("# Gu1de")
    os.utime(guide, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(root / "README", (1, 1))
    (root / "docs" / "paper.pdf").unlink()
    events = list(origin_of(root).files(known))
    assert paths(events) == ["docs/guide.md"]
    assert {event.path for event in events if isinstance(event, Same)} == {*known} - {
        "docs/guide.md",
        "docs/paper.pdf",
    }


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time of a record's last change")
def test_a_settled_file_is_read_again_only_if_the_system_has_seen_a_change(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "second.md").symlink_to("docs/guide.md")
    at = time.time()
    monkeypatch.setattr(time, "time", lambda: at + 60)
    known = known_of(root)
    opened: list[str] = []
    real = os.open

    def watched(path: Path, *rest: int) -> int:
        opened.append(Path(path).name)
        return real(path, *rest)

    monkeypatch.setattr(os, "open", watched)
    assert {type(each) for each in origin_of(root).files(known)} == {Same}
    assert opened == ["guide.md"]  # by the link
    guide = root / "docs" / "guide.md"
    before = guide.stat()
    guide.write_text("# Gu1de")
    os.utime(guide, ns=(before.st_atime_ns, before.st_mtime_ns))
    opened.clear()
    assert sorted(paths(list(origin_of(root).files(known)))) == ["docs/guide.md", "second.md"]
    # A limit counts files that are not read as well.
    limited = [type(each) for each in origin_of(root, max_files=1).files(known)]
    assert limited == [Same, *[Skipped] * 6]


def test_a_file_that_has_just_changed_is_read_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = max(each.stat().st_ctime for each in root.rglob("*"))
    monkeypatch.setattr(time, "time", lambda: newest + 1)
    assert all(" " not in each.validator for each in known_of(root).values())


LINKS = [
    "../outside.md", "../../garden/../outside.md", "{tmp}/outside.md", "{tmp}/garden/../outside.md",
    "docs/../../outside.md", "./../outside.md", "../elsewhere/far.md", "{tmp}/elsewhere/far.md",
    "out/far.md", "chain.md", "/etc/passwd", "/etc/hostname", "/proc/self/environ",
    "/proc/self/root/etc/passwd", "../garden-twin/twin.md",
]  # fmt: skip


@pytest.mark.parametrize("target", LINKS)
def test_no_link_leads_out_of_the_folder(root: Path, tmp_path: Path, target: str) -> None:
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / "chain.txt").symlink_to("docs/second.txt")
    (root / "docs" / "second.txt").symlink_to(tmp_path / SECRET)
    (tmp_path / "garden-twin").mkdir()
    (tmp_path / "garden-twin" / "twin.md").write_text("a folder whose name begins as ours")
    if target == "chain.md":
        target = "chain.txt"
    (root / "link.md").symlink_to(target.format(tmp=tmp_path))
    events = events_of(root)
    assert len(paths(events)) == 6
    about = [event for event in events if getattr(event, "ref", "") == "link.md"]
    assert len(about) == 1
    assert about[0] == Skipped("link.md", "link out of the folder") or isinstance(about[0], Failed)
    assert not any(b"secret" in event.file.body for event in events if isinstance(event, Found))


def test_a_link_to_a_file_inside_is_read(root: Path) -> None:
    (root / "link.md").symlink_to("docs/guide.md")
    assert "link.md" in paths(events_of(root))


def test_links_to_directories_and_loops_are_not_walked(root: Path, tmp_path: Path) -> None:
    (root / "docs" / "loop").symlink_to(root)
    (root / "docs" / "up").symlink_to("..")
    (root / "away").symlink_to(tmp_path / "elsewhere")
    (root / "self.md").symlink_to("self.md")
    events = events_of(root)
    assert len(paths(events)) == 6
    assert [type(event) for event in events if getattr(event, "ref", "") == "self.md"] == [Failed]


def test_a_file_that_becomes_a_link_while_it_is_read_is_left_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory is swapped for a link out of the folder just before the file is opened."""
    real_open = os.open

    def swapping(path: Any, flags: int, *rest: Any) -> int:
        if str(path).endswith("guide.md") and not (root / "docs").is_symlink():
            (root / "docs").rename(root / "moved")
            (tmp_path / "elsewhere" / "guide.md").write_text("secret")
            (root / "docs").symlink_to(tmp_path / "elsewhere")
        return real_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", swapping)
    events = events_of(root, include=["docs/guide.md"])
    assert events[0] == Skipped("docs/guide.md", "changed while it was read")
    assert paths(events) == []


def test_what_is_no_regular_file_does_not_hold_up_the_sync(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket.md"))
        events = events_of(root)
    assert len(paths(events)) == 6
    assert Skipped("pipe.md", "not a regular file") in events
    assert isinstance(next(e for e in events if getattr(e, "ref", "") == "socket.md"), Failed)


@pytest.mark.skipif(os.geteuid() != 0, reason="as another user the file is unreadable by its mode")
def test_what_cannot_be_read_is_told_as_root(root: Path) -> None:
    (root / "dangling.md").symlink_to("nowhere.md")
    failed = [event for event in events_of(root) if isinstance(event, Failed)]
    assert [(each.ref, each.kind) for each in failed] == [("dangling.md", "unreadable_input")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads files of any mode")
def test_what_cannot_be_read_is_told(root: Path) -> None:
    (root / "docs" / "guide.md").chmod(0)
    (root / "docs" / "deep").chmod(0)
    failed = {event.ref for event in events_of(root) if isinstance(event, Failed)}
    (root / "docs" / "deep").chmod(0o700)
    assert failed == {"docs/guide.md", "docs/deep"}


def test_limits_and_what_is_no_text(root: Path) -> None:
    (root / "a.txt").write_bytes(b"a\0b")
    (root / "b.md").write_bytes(b"x" * 2000)
    events = events_of(root, max_file_bytes=1000, exclude=["docs"])
    assert Skipped("a.txt", "not text") in events
    assert Skipped("b.md", "too large") in events
    (root / "a.txt").unlink()
    assert len(paths(events_of(root, max_files=2))) == 2
    assert len(paths(events_of(root, max_bytes=8))) == 1


def test_globs_choose(root: Path) -> None:
    assert sorted(paths(events_of(root, include=["docs/**/*.rst", "CHANGELOG.md"]))) == [
        "CHANGELOG.md",
        "docs/deep/er/notes.rst",
    ]
    assert events_of(root, include=["node_modules"]) == []


def test_a_name_that_is_no_text_is_left_out(root: Path) -> None:
    try:
        (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    assert Skipped("caf\\udce9.md", "name is not UTF-8") in events_of(root)


def test_only_a_process_of_the_users_own_reads_folders(root: Path) -> None:
    for host in ("0.0.0.0", "127.0.0.1"):
        upstreams = Upstreams(load({"host": host}, {}), DirectoryStore(root / "store"))
        refusal = pytest.raises(Forbidden, match="your own machine") if host == "0.0.0.0" else None
        with refusal or contextlib.nullcontext():
            upstreams.check("folder", str(root))
        with refusal or contextlib.nullcontext(), upstreams.origin(registration_of(root)) as origin:
            assert list(origin.files({}))


def test_a_folder_that_has_gone_is_told_rather_than_empty(root: Path, tmp_path: Path) -> None:
    for gone in (tmp_path / "nothing", root / "README"):
        with pytest.raises(SourceNotFound):
            list(origin_of(gone).files({}))


def test_a_directory_that_cannot_be_listed_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def scandir(path: Any) -> Iterator[os.DirEntry[str]]:
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert Failed(
        "docs/deep", "unreadable_input", "docs/deep cannot be read: Permission denied."
    ) in (events_of(root))


@pytest.mark.parametrize("form", ["{root}", "{root}/", "{root}/docs/..", "{uri}", " {root} "])
def test_all_spellings_of_a_path_are_one(root: Path, form: str) -> None:
    assert canonical(form.format(root=root, uri=root.as_uri())) == str(root.resolve())


def test_a_link_to_a_folder_is_that_folder(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert canonical(str(tmp_path / "link")) == str(root.resolve())


@pytest.mark.parametrize("uri", ["", "docs", "./docs", "file://host/docs", "/a\0b", "~nobody-x/y"])
def test_what_is_no_path_of_this_machine_is_refused(uri: str) -> None:
    with pytest.raises(InvalidParameter):
        canonical(uri)


def test_folders_take_pages_and_papers_too() -> None:
    assert {".html", ".htm", ".pdf"} == SUFFIXES - globs.TEXT_SUFFIXES
