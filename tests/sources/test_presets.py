"""Known documentation by name, bundled and the operator's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.core.errors import ConfigurationError, SourceNotFound
from docstow.sources import find
from docstow.sources.presets import Preset, Presets
from paths import LIB

BUNDLED = Presets()


@pytest.mark.parametrize("name", BUNDLED.names())
def test_each_preset_is_a_source_that_could_be_created(name: str) -> None:
    preset = BUNDLED.find(name)
    uri = find(preset.kind).canonical_uri(preset.uri)
    assert find(preset.kind).canonical_uri(uri) == uri
    checked = find(preset.kind).checked_options(preset.options, preset.uri)
    assert {key: checked[key] for key in preset.options} == dict(preset.options)
    if preset.kind == "site":
        assert preset.uri.startswith("https://")
        assert 50 <= checked["max_pages"] <= 2500


def test_there_are_many_and_no_two_are_the_same_source() -> None:
    sources = [
        (find(each.kind).canonical_uri(each.uri), str(each.options))
        for each in map(BUNDLED.find, BUNDLED.names())
    ]
    assert len(sources) >= 40
    assert len(set(sources)) == len(sources)


def test_the_file_is_in_the_order_of_the_alphabet() -> None:
    text = (LIB / "sources" / "presets.toml").read_text("utf-8")
    listed = [line.strip("[]") for line in text.splitlines() if line.startswith("[")]
    assert listed == sorted(listed) == BUNDLED.names()


def test_names_are_found_in_any_case() -> None:
    assert BUNDLED.find(" FastAPI ") == Preset(
        "github", "fastapi/fastapi", "FastAPI", {"include": ["/docs/en/docs"]}
    )


@pytest.mark.parametrize(
    ("asked", "near"), [("fastap", "fastapi"), ("postgresql", "postgres"), ("next.js", "nextjs")]
)
def test_near_names_are_suggested(asked: str, near: str) -> None:
    with pytest.raises(SourceNotFound) as caught:
        BUNDLED.find(asked)
    assert caught.value.suggestions[0]["name"] == near


def test_a_name_like_no_other_has_no_suggestions() -> None:
    with pytest.raises(SourceNotFound) as caught:
        BUNDLED.find("qqqqqqqqqq")
    assert caught.value.suggestions == ()


def test_a_file_adds_and_replaces(tmp_path: Path) -> None:
    file = tmp_path / "presets.toml"
    file.write_text(
        """
        [garden]
        kind = "github"
        uri = "https://forge.example/acme/garden@v1"
        title = "Garden"
        [fastapi]
        kind = "site"
        uri = "https://mirror.example/fastapi/"
        title = "Our mirror"
        options = { max_pages = 70 }
        """,
        "utf-8",
    )
    presets = Presets(file)
    assert presets.names() == sorted({*BUNDLED.names(), "garden"})
    assert presets.find("garden") == Preset(
        "github", "https://forge.example/acme/garden@v1", "Garden", {}
    )
    assert presets.find("fastapi").uri == "https://mirror.example/fastapi/"


def test_all_mistakes_of_a_file_come_at_once(tmp_path: Path) -> None:
    file = tmp_path / "presets.toml"
    file.write_text(
        """
        plain = 1
        ["Upper Case"]
        kind = "site"
        [kinds]
        kind = "folder"
        uri = "/etc"
        title = "No"
        [nothing]
        kind = "site"
        [far]
        kind = "site"
        uri = "ftp://host/"
        title = "Far"
        [extra]
        kind = "github"
        uri = "a/b"
        title = "Extra"
        depth = 3
        [wrong]
        kind = "github"
        uri = "a/b"
        title = "Wrong"
        options = { max_pages = 3 }
        [fine]
        kind = "github"
        uri = "a/b"
        title = "Fine"
        """,
        "utf-8",
    )
    with pytest.raises(ConfigurationError) as caught:
        Presets(file)
    named = [line.partition("[")[2].partition("]")[0] for line in caught.value.details["mistakes"]]
    assert named == ["plain", "Upper Case", "kinds", "nothing", "far", "extra", "wrong"]
    assert caught.value.message == "\n".join(caught.value.details["mistakes"])


@pytest.mark.parametrize("body", [b"[a", b"\xff\xfe"])
def test_a_file_that_is_none_is_told(tmp_path: Path, body: bytes) -> None:
    file = tmp_path / "presets.toml"
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Presets(file)
    file.write_bytes(body)
    with pytest.raises(ConfigurationError, match="is not"):
        Presets(file)


@pytest.mark.parametrize(
    ("urls", "name"),
    [
        (["https://docs.celeryq.dev"], "celery"),
        (["https://docs.celeryq.dev/en/v5.4.0/"], "celery"),
        (["https://celery.readthedocs.io/en/latest/"], "celery"),
        (["http://www.djangoproject.com/"], "django"),
        (["https://docs.djangoproject.com/en/5.0"], "django"),
        (["https://www.sqlalchemy.org"], "sqlalchemy"),
        (["https://duckdb.org/docs/stable/clients/python/overview"], "duckdb"),
        (["https://x.example/", "https://docs.jax.dev/en/latest/"], "jax"),
        (["https://docs.ansible.com/ansible-core/"], ""),
        (["https://docs.aws.amazon.com/"], ""),
        (["https://github.com/duckdb/duckdb"], ""),
        (["https://celery.example"], ""),
    ],
)
def test_a_site_is_known_by_all_its_addresses(urls: list[str], name: str) -> None:
    found = BUNDLED.of_site(*urls)
    assert found == (BUNDLED.find(name) if name else None)


def test_only_websites_have_further_addresses(tmp_path: Path) -> None:
    file = tmp_path / "presets.toml"
    entry = '[it]\nkind = "{0}"\nuri = "{1}"\ntitle = "It"\nsites = {2}\n'
    for kind, uri, sites, reason in (
        ("github", "a/b", '["https://x.example"]', "for websites alone"),
        ("site", "https://x.example", '"https://x.example"', "a list of addresses"),
        ("site", "https://x.example", '["x"]', "must be an address"),
    ):
        file.write_text(entry.format(kind, uri, sites), "utf-8")
        with pytest.raises(ConfigurationError, match=reason):
            Presets(file)
