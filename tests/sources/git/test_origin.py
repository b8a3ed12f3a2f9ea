"""Documentation files of Git repositories, from a loopback forge."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    SourceNotFound,
    TooLarge,
    UnreadableInput,
    UpstreamError,
)
from docstow.core.model import File, Known, Registration, source_id
from docstow.net import Fetcher
from docstow.sources import Event, Found, Same, Skipped, tarball
from docstow.sources.git import options
from docstow.sources.git import refs as git_refs
from docstow.sources.git.origin import Caps, GitOrigin
from docstow.sources.git.refs import Address, canonical, parse
from docstow.sources.globs import matches
from servers.forge import Forge, Repository, advertisement, bomb, commit, packed, pkt_line
from servers.loopback import cut, redirect, status

TOKEN = "t0ken"  # a made-up one
DOCS = {
    "README.md": b"# Garden\n",
    "docs/guide.rst": b"Guide\n=====\n",
    "docs/deep/notes.txt": b"notes",
    "docs/tour.ipynb": b"{}",
    "src/garden.py": b"print()",
    "CHANGELOG.md": b"# Changes\n",
    "tests/readme.md": b"not docs",
    "node_modules/x/README.md": b"not ours",
    ".github/PULL_REQUEST_TEMPLATE.md": b"hidden",
    "requirements-dev.txt": b"pytest",
}
MAIN = commit("main")


@pytest.fixture
def repositories() -> dict[str, Repository]:
    return {
        "acme/garden": Repository(
            dict(DOCS),
            branches={"main": MAIN, "feature/moss": commit("moss")},
            tags={"v1.0": commit("one"), "v2.0": commit("two")},
            annotated=frozenset({"v2.0"}),
        ),
        "acme/secret": Repository({"README.md": b"# Secret\n"}, private=True),
        "acme/empty": Repository({}, branches={}),
    }


@pytest.fixture
def forge(repositories: dict[str, Repository]) -> Iterator[Forge]:
    with Forge(repositories, token=TOKEN) as running:
        yield running


def registration(uri: str, headers: Mapping[str, str] | None = None, **given: Any) -> Registration:
    name = canonical(uri)
    made = datetime(2026, 1, 1, tzinfo=UTC)
    return Registration(
        source_id("github", name), "github", name, name, options(given, uri), made, headers or {}
    )


def origin_of(
    forge: Forge, fetcher: Fetcher, uri: str = "acme/garden", *, token: str = "", **given: Any
) -> GitOrigin:
    return GitOrigin(registration(uri, **given), fetcher, api_url=forge.api_url, token=token)


def paths(events: list[Event]) -> list[str]:
    return [event.file.path for event in events if isinstance(event, Found)]


@pytest.mark.parametrize(
    ("ref", "resolved"),
    [
        ("", "main"),
        ("@main", "main"),
        ("@feature/moss", "moss"),
        ("@v1.0", "one"),
        ("@v2.0", "two"),
        (f"@{commit('one')}", "one"),
    ],
)
@pytest.mark.parametrize("way", ["api", "git", "url"])
def test_a_ref_resolves_to_its_commit(
    repositories: dict[str, Repository], fetcher: Fetcher, way: str, ref: str, resolved: str
) -> None:
    with Forge(repositories, api=way == "api") as forge:
        uri = f"{forge.url}/acme/garden{ref}" if way == "url" else f"acme/garden{ref}"
        root = forge.api_url if way == "api" else forge.url
        origin = GitOrigin(registration(uri), fetcher, api_url=root)
        assert origin.resolve().validator == commit(resolved)
        assert len(paths(list(origin.files({})))) == 4


def test_files_have_their_paths_and_the_addresses_that_people_read(
    forge: Forge, fetcher: Fetcher
) -> None:
    found = [event for event in origin_of(forge, fetcher).files({}) if isinstance(event, Found)]
    base = f"https://github.com/acme/garden/blob/{MAIN}"
    assert [event.file for event in found] == [
        File("README.md", f"{base}/README.md", "text/markdown", b"# Garden\n"),
        File("docs/guide.rst", f"{base}/docs/guide.rst", "text/x-rst", b"Guide\n=====\n"),
        File("docs/deep/notes.txt", f"{base}/docs/deep/notes.txt", "text/plain", b"notes"),
        File("docs/tour.ipynb", f"{base}/docs/tour.ipynb", "application/x-ipynb+json", b"{}"),
    ]


@pytest.mark.parametrize(("style", "view"), [("gitea", "src/commit"), ("gitlab", "-/blob")])
def test_any_forge_gives_its_archive_and_its_own_addresses(
    repositories: dict[str, Repository], fetcher: Fetcher, style: str, view: str
) -> None:
    with Forge(repositories, style=style) as forge:
        origin = origin_of(forge, fetcher, f"{forge.url}/acme/garden@v2.0")
        first = next(event for event in origin.files({}) if isinstance(event, Found))
        assert first.file.url == f"{forge.url}/acme/garden/{view}/{commit('two')}/README.md"


def test_a_second_sync_says_same_of_what_is_the_same(
    forge: Forge, fetcher: Fetcher, repositories: dict[str, Repository]
) -> None:
    known = {
        event.file.path: Known(event.file.path, event.file.url, event.validator)
        for event in origin_of(forge, fetcher).files({})
        if isinstance(event, Found)
    }
    repositories["acme/garden"].files["README.md"] = b"# Larger garden\n"
    events = list(origin_of(forge, fetcher).files(known))
    assert paths(events) == ["README.md"]
    assert [event.path for event in events if isinstance(event, Same)] == list(known)[1:]
    assert len(paths(list(origin_of(forge, fetcher).files({})))) == len(known)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"include": ["CHANGELOG.md", "tests"]}, ["CHANGELOG.md", "tests/readme.md"]),
        ({"include": ["docs/*"]}, ["docs/guide.rst", "docs/tour.ipynb"]),
        ({"include": ["**/*.txt"]}, ["docs/deep/notes.txt", "requirements-dev.txt"]),
        ({"exclude": ["docs"]}, ["README.md"]),
        ({"exclude": "*.ipynb"}, ["README.md", "docs/guide.rst", "docs/deep/notes.txt"]),
        ({"max_files": 1}, ["README.md"]),
        ({"max_bytes": 10}, ["README.md"]),
    ],
)
def test_options_choose_among_the_files(
    forge: Forge, fetcher: Fetcher, given: dict[str, Any], taken: list[str]
) -> None:
    assert paths(list(origin_of(forge, fetcher, **given).files({}))) == taken


def test_what_is_over_a_limit_or_no_text_is_named(
    forge: Forge, fetcher: Fetcher, repositories: dict[str, Repository]
) -> None:
    repositories["acme/garden"].files = {"a.md": b"x" * 9, "b.txt": b"a\0b", "c.md": b"c"}
    events = list(origin_of(forge, fetcher, max_file_bytes=8).files({}))
    assert events[:2] == [Skipped("a.md", "too large"), Skipped("b.txt", "not text")]
    assert paths(events) == ["c.md"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"branch": "main"}, "branch"),
        ({"include": 3}, "include"),
        ({"include": ["../secrets"]}, "include"),
        ({"exclude": ["a\\b"]}, "exclude"),
        ({"exclude": ["/"]}, "exclude"),
        ({"max_files": 0}, "max_files"),
        ({"max_file_bytes": True}, "max_file_bytes"),
        ({"max_bytes": "1"}, "max_bytes"),
    ],
)
def test_options_are_checked(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        options(given)
    assert caught.value.details["field"] == field


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("acme/garden", "acme/garden"),
        (" Acme/Garden@Main ", "acme/garden@Main"),
        ("acme/garden.git", "acme/garden"),
        ("github.com/acme/garden", "acme/garden"),
        ("https://github.com/Acme/garden/", "acme/garden"),
        ("https://www.github.com/acme/garden.git", "acme/garden"),
        ("https://github.com/acme/garden@v1", "acme/garden@v1"),
        ("https://github.com/acme/garden/tree/v1.0/docs/deep", "acme/garden@v1.0"),
        ("git@github.com:acme/garden.git", "acme/garden"),
        ("https://Codeberg.org/Acme/garden@v1", "https://codeberg.org/Acme/garden@v1"),
        ("https://host:8443/a/b/c.git", "https://host:8443/a/b/c"),
        ("https://gitlab.com/a/b/c/-/tree/main/docs", "https://gitlab.com/a/b/c@main"),
        ("https://codeberg.org/a/b/src/branch/main", "https://codeberg.org/a/b@main"),
    ],
)
def test_all_spellings_of_an_address_are_one(uri: str, name: str) -> None:
    assert canonical(uri) == name
    assert canonical(name) == name


def test_a_folder_in_an_address_is_included_unless_there_is_an_include() -> None:
    uri = "https://github.com/acme/garden/tree/v1.0/docs/deep"
    assert parse(uri) == Address("", "acme/garden", "v1.0", "docs/deep")
    assert options({}, uri) == {"include": ["/docs/deep"]}
    assert options({"include": ["*.md"]}, uri) == {"include": ["*.md"]}


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "garden",
        "a/b/c",
        "acme/..",
        "-a/b",
        "acme/gar den",
        "acme/garden@a..b",
        "acme/g@-x",
        "acme/g@a b",
        "acme/g@x.lock",
        "ftp://host/a/b",
        "https://u:p@host/a/b",
        "https:///a/b",
        "https://host/../etc",
        "https://host:port/a",
        "acme/g@" + "x" * 201,
        "acme/g@a^{}",
    ],
)
def test_what_is_no_address_is_refused(uri: str) -> None:
    with pytest.raises(InvalidParameter):
        canonical(uri)


@given(st.text(max_size=60))
def test_an_address_is_read_or_refused_and_its_spelling_is_stable(text: str) -> None:
    try:
        name = canonical(text)
    except InvalidParameter:
        return
    assert canonical(name) == name


SEGMENTS = st.sampled_from(["docs", "a", "b.md", "guide.md"])


@given(st.lists(SEGMENTS, min_size=1, max_size=5), st.lists(st.integers(0, 3), max_size=5))
def test_a_glob_made_of_a_path_takes_it(names: list[str], wild: list[int]) -> None:
    """Names become stars, question marks or ``**``, and the path still matches."""
    glob = [
        (name, "*", "?" * len(name), "**")[kind]
        for name, kind in zip(names, [*wild, *[0] * len(names)], strict=False)
    ]
    assert matches("/".join(names), "/" + "/".join(glob))


@pytest.mark.parametrize(
    ("path", "glob", "taken"),
    [
        ("docs/a.md", "docs", True),
        ("x/docs/a.md", "docs", True),
        ("x/docs/a.md", "/docs", False),
        ("x/docs/a.md", "x/docs/", True),
        ("docs/x/a.md", "docs/*.md", False),
        ("docs/x/a.md", "docs/**/*.md", True),
        ("docs/a.md", "docs/**/*.md", True),
        ("a.md", "**", True),
        ("a/b/c/d.md", "a/**/d.md", True),
        ("a/b/c/d.md", "a/*/d.md", False),
        ("docsx/a.md", "docs", False),
        ("a1.md", "a[0-9].md", True),
        ("ab.md", "a[0-9].md", False),
        ("a" * 150, "*a" * 90 + "b", False),
        ("/".join("a" * 120), "**/a/" * 30 + "b", False),
    ],
)
def test_globs(path: str, glob: str, taken: bool) -> None:
    assert matches(path, glob) is taken


def error_of(origin: GitOrigin) -> DocstowError:
    with pytest.raises(DocstowError) as caught:
        list(origin.files({}))
    return caught.value


@pytest.mark.parametrize("uri", ["acme/nothing", "{url}/acme/nothing", "acme/secret"])
def test_a_repository_that_nobody_may_see_is_not_found(
    forge: Forge, fetcher: Fetcher, uri: str
) -> None:
    error = error_of(origin_of(forge, fetcher, uri.format(url=forge.url)))
    assert isinstance(error, SourceNotFound)
    assert "private" in error.message


@pytest.mark.parametrize("uri", ["acme/garden@v3.0", "{url}/acme/garden@v3.0"])
def test_a_ref_that_is_not_there_is_named(forge: Forge, fetcher: Fetcher, uri: str) -> None:
    error = error_of(origin_of(forge, fetcher, uri.format(url=forge.url)))
    assert isinstance(error, SourceNotFound)
    assert "v3.0" in error.message
    assert "main" in error.message


def test_near_refs_are_suggested(forge: Forge, fetcher: Fetcher) -> None:
    error = error_of(origin_of(forge, fetcher, f"{forge.url}/acme/garden@v2"))
    assert error.suggestions[0]["ref"] == "v2.0"


def test_an_empty_repository_has_nothing_to_begin_with(forge: Forge, fetcher: Fetcher) -> None:
    assert isinstance(
        error_of(origin_of(forge, fetcher, f"{forge.url}/acme/empty")), SourceNotFound
    )


def test_the_token_goes_to_the_api_alone(forge: Forge, fetcher: Fetcher) -> None:
    events = list(origin_of(forge, fetcher, "acme/secret", token=TOKEN).files({}))
    assert paths(events) == ["README.md"]
    assert all(each.headers["authorization"] == f"Bearer {TOKEN}" for each in forge.requests)
    assert len(forge.archives.requests) == 1
    assert "authorization" not in forge.archives.requests[0].headers


def test_the_token_is_not_for_other_forges_and_a_sources_headers_are_for_its_own(
    forge: Forge, fetcher: Fetcher
) -> None:
    list(origin_of(forge, fetcher, f"{forge.url}/acme/garden", token=TOKEN).files({}))
    assert not any("authorization" in each.headers for each in forge.requests)
    uri = f"{forge.url}/acme/secret"
    with_header = origin_of(forge, fetcher, uri, headers={"Private-Token": TOKEN})
    assert paths(list(with_header.files({}))) == ["README.md"]


@pytest.mark.parametrize("code", [403, 429])
def test_a_rate_limit_is_told_with_what_to_do(forge: Forge, fetcher: Fetcher, code: int) -> None:
    forge.always("/repos/", status(code, x_ratelimit_remaining="0"))
    error = error_of(origin_of(forge, fetcher))
    assert isinstance(error, UpstreamError)
    assert "DOCSTOW_GITHUB_TOKEN" in error.message


def test_a_wrong_token_is_told(forge: Forge, fetcher: Fetcher) -> None:
    forge.always("/repos/", status(401))
    error = error_of(origin_of(forge, fetcher, token="wrong"))
    assert isinstance(error, UpstreamError)
    assert "does not accept the token" in error.message
    assert "wrong" not in error.message


@pytest.mark.parametrize("there", ["/api/repos/acme/garden", "ftp://host/x", "file:///etc/passwd"])
def test_redirects_that_lead_nowhere_are_told(forge: Forge, fetcher: Fetcher, there: str) -> None:
    forge.always("/repos/", redirect(there))
    assert isinstance(error_of(origin_of(forge, fetcher)), UpstreamError)


def test_a_renamed_repository_is_found_where_it_is_now(forge: Forge, fetcher: Fetcher) -> None:
    new = "/api/repos/acme/secret"
    moved = [new, f"{new}/commits/main", f"{new}/tarball/{MAIN}"]
    forge.plan("/repos/acme/shed", *(redirect(place, 301) for place in moved))
    origin = origin_of(forge, fetcher, "acme/shed", token=TOKEN)
    assert paths(list(origin.files({}))) == ["README.md"]
    assert all(each.headers["authorization"] == f"Bearer {TOKEN}" for each in forge.requests)


# Archives that are not what they should be.

UNSAFE = [
    "../evil.md", "../../evil.md", "repo-1/../evil.md", "repo-1/../../evil.md",
    "repo-1/docs/../../../evil.md", "repo-1/docs/../evil.md", "/evil.md", "//evil.md",
    "/etc/passwd.md", "repo-1//evil.md", "repo-1/./evil.md", "./repo-1/evil.md", "./evil.md",
    "repo-1/..", "..", "../", "repo-1/docs/..", "C:/evil.md", "C:\\evil.md", "c:evil.md",
    "repo-1/C:/evil.md", "repo-1/..\\evil.md", "..\\..\\evil.md", "\\\\host\\evil.md",
    "repo-1\\..\\evil.md", "repo-1/docs\\..\\..\\evil.md", "repo-1/new\nline.md",
    "repo-1/tab\t.md", "repo-1/bell\x07.md", "repo-1/del\x7f.md", "repo-1/docs/./../evil.md",
    "repo-1/" + "../" * 40 + "evil.md", "repo-1/" + "a/" * 80 + "../evil.md",
    "repo-1/../repo-1/x.md",
]  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_no_name_leads_out_of_the_archive(
    forge: Forge, fetcher: Fetcher, repositories: dict[str, Repository], name: str
) -> None:
    hostile = (tarfile.TarInfo(name), b"evil")
    repositories["acme/garden"].archive = packed([("before.md", b"b"), hostile, ("z.md", b"z")])
    events = list(origin_of(forge, fetcher).files({}))
    assert paths(events) == ["before.md", "z.md"]
    assert [event.reason for event in events if isinstance(event, Skipped)] == ["unsafe path"]


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (tarfile.SYMTYPE, "/etc/passwd"),
        (tarfile.SYMTYPE, "../../evil.md"),
        (tarfile.SYMTYPE, "before.md"),
        (tarfile.LNKTYPE, "/etc/passwd"),
        (tarfile.LNKTYPE, "repo-1/before.md"),
        (tarfile.CHRTYPE, ""),
        (tarfile.BLKTYPE, ""),
        (tarfile.FIFOTYPE, ""),
    ],
)
def test_links_and_devices_are_left_alone(
    forge: Forge, fetcher: Fetcher, repositories: dict[str, Repository], kind: bytes, target: str
) -> None:
    info = tarfile.TarInfo("repo-1/docs/link.md")
    info.type, info.linkname = kind, target
    repositories["acme/garden"].archive = packed([("before.md", b"b"), (info, b""), ("z.md", b"z")])
    events = list(origin_of(forge, fetcher).files({}))
    assert paths(events) == ["before.md", "z.md"]
    reason = "link" if target else "not a regular file"
    assert Skipped("docs/link.md", reason) in events


def test_a_name_that_comes_twice_is_taken_once(
    forge: Forge, fetcher: Fetcher, repositories: dict[str, Repository]
) -> None:
    repositories["acme/garden"].archive = packed([("a.md", b"first"), ("a.md", b"second")])
    events = list(origin_of(forge, fetcher).files({}))
    assert [event.file.body for event in events if isinstance(event, Found)] == [b"first"]
    assert events[1] == Skipped("a.md", "named twice")


WHOLE = packed([(f"docs/{number}.md", bytes([65 + number]) * 700) for number in range(20)])
PLAIN = gzip.decompress(WHOLE)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 0.9, 0.99])
def test_an_archive_that_breaks_off_fails_the_sync(
    forge: Forge, fetcher: Fetcher, repositories: dict[str, Repository], share: float
) -> None:
    repositories["acme/garden"].archive = WHOLE[: int(share * len(WHOLE))] or b"x"
    assert isinstance(error_of(origin_of(forge, fetcher)), UnreadableInput)


@given(st.integers(0, len(PLAIN) - 1 - 512 * 20))
def test_a_tar_that_breaks_off_inside_a_whole_gzip_is_told(at: int) -> None:
    with pytest.raises(UnreadableInput):
        read_all(gzip.compress(PLAIN[:at], 1))


def read_all(body: bytes, caps: tarball.Caps | None = None) -> dict[str, bytes]:
    found = tarball.entries(io.BytesIO(body), name="archive", caps=caps or tarball.Caps())
    return {entry.path: entry.read() for entry in found if not entry.refusal}


HEADERS = [place for place in range(0, 20 * 1536, 512) if place % 1536 == 0]


@given(st.sampled_from(HEADERS), st.integers(0, 147), st.integers(1, 255))
def test_a_damaged_header_is_not_taken_for_the_end(place: int, at: int, change: int) -> None:
    damaged = bytearray(PLAIN)
    damaged[place + at] ^= change
    with pytest.raises(UnreadableInput):
        read_all(gzip.compress(bytes(damaged), 1))


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_damaged_archives_are_read_as_they_were_or_refused(at: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[at] ^= change
    with suppress(UnreadableInput, TooLarge):
        assert read_all(bytes(damaged)) == read_all(WHOLE)


@pytest.mark.parametrize("body", [b"", b"<html>sign in</html>", b"PK\x03\x04", b"\x1f\x8b"])
def test_what_is_no_archive_is_told(body: bytes) -> None:
    with pytest.raises(UnreadableInput):
        read_all(body)


@pytest.mark.parametrize(
    ("body", "caps"),
    [
        (bomb(64 << 20), tarball.Caps()),
        (WHOLE, tarball.Caps(plain=20_000)),
        (WHOLE, tarball.Caps(entries=19)),
    ],
)
def test_bombs_are_not_read_to_their_end(body: bytes, caps: tarball.Caps) -> None:
    with pytest.raises(TooLarge):
        read_all(body, caps)


def test_a_header_of_a_header_is_bounded() -> None:
    info = tarfile.TarInfo("repo-1/a.md")
    info.pax_headers = {"comment": "x" * (2 << 20)}
    with pytest.raises(UnreadableInput, match="extended header"):
        read_all(packed([(info, b"")]))


def test_long_names_are_read_whole() -> None:
    name = "docs/" + "long/" * 50 + "größe.md"
    assert read_all(packed([(name, b"x")])) == {name: b"x"}


def test_a_download_over_the_limit_is_stopped(forge: Forge, fetcher: Fetcher) -> None:
    made = registration("acme/garden")
    origin = GitOrigin(made, fetcher, api_url=forge.api_url, caps=Caps(compressed=100))
    assert isinstance(error_of(origin), TooLarge)


def test_a_download_that_is_cut_goes_on_until_it_is_whole(forge: Forge, fetcher: Fetcher) -> None:
    forge.archives.plan("/tarball/", cut(packed(DOCS.items()), 200))
    assert len(paths(list(origin_of(forge, fetcher).files({})))) == 4
    assert len(forge.archives.requests) == 2


def test_nothing_is_left_behind(
    forge: Forge, fetcher: Fetcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    forge.archives.always("/", None)
    events = origin_of(forge, fetcher).files({})
    next(events)
    assert list(tmp_path.iterdir())
    assert isinstance(events, Iterator)
    events.close()  # type: ignore[attr-defined]  # a generator, as its caller need not know
    assert list(tmp_path.iterdir()) == []


# Git's own protocol.


@pytest.mark.parametrize("body", [b"<html>", b"zzzz", b"0032short", pkt_line("not a ref\n")])
def test_an_answer_that_is_no_list_of_refs_is_told(body: bytes) -> None:
    with pytest.raises(UnreadableInput):
        git_refs.parse_refs(body)


def test_a_tag_is_the_commit_that_it_points_to() -> None:
    repository = Repository(
        {}, tags={"v1": commit("one"), "main": commit("tag")}, annotated=frozenset({"v1"})
    )
    refs = git_refs.parse_refs(advertisement(repository))
    assert refs.head == "refs/heads/main"
    assert [refs.find(ref) for ref in ("", "v1", "main", "refs/heads/main", "nothing")] == [
        MAIN,
        commit("one"),
        commit("tag"),
        MAIN,
        "",
    ]


@given(st.binary(max_size=200))
def test_any_answer_is_read_or_refused(body: bytes) -> None:
    with suppress(UnreadableInput):
        git_refs.parse_refs(body)
