"""Settings: precedence, conversion, and all mistakes at once."""

from __future__ import annotations

import dataclasses
import json
import pickle
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import ConfigurationError
from docstow.core.secret import Secret
from docstow.core.settings import FIELDS, MIB, Settings, load


def test_nothing_given_is_the_documented_defaults() -> None:
    assert load({}, {}) == Settings()
    assert Settings().docs_rs_url == "https://docs.rs"
    assert Settings().wait_s == 20


def test_flags_win_over_the_file_and_the_file_over_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "docstow.toml"
    file.write_text('port = 2\nhost = "file"\n')
    environment = {"DOCSTOW_PORT": "3", "DOCSTOW_HOST": "env", "DOCSTOW_MODEL": "other"}
    settings = load({"port": 1, "host": None}, environment, file)
    assert (settings.port, settings.host, settings.model) == (1, "file", "other")


@given(
    st.permutations(["flag", "file", "env"]).flatmap(
        lambda order: st.integers(0, 3).map(lambda n: frozenset(order[:n]))
    ),
    st.lists(st.integers(1, 65535), min_size=3, max_size=3, unique=True),
)
def test_the_highest_layer_that_speaks_wins(
    tmp_path_factory: pytest.TempPathFactory, layers: frozenset[str], ports: list[int]
) -> None:
    flag, in_file, env = ports
    file = tmp_path_factory.mktemp("config") / "c.toml"
    file.write_text(f"port = {in_file}\n" if "file" in layers else "")
    settings = load(
        {"port": flag} if "flag" in layers else {},
        {"DOCSTOW_PORT": str(env)} if "env" in layers else {},
        file,
    )
    given_values = [("flag", flag), ("file", in_file), ("env", env)]
    expected = next((value for layer, value in given_values if layer in layers), 8000)
    assert settings.port == expected


@pytest.mark.parametrize(
    ("raw", "expected"), [("true", True), ("No", False), ("1", True), ("0", False)]
)
def test_a_switch_is_true_or_false(raw: str, expected: bool) -> None:
    name = "DOCSTOW_TRY_UNKNOWN_FORMATS"
    assert load({}, {name: raw}).try_unknown_formats is expected
    assert load({"try_unknown_formats": expected}, {}).try_unknown_formats is expected
    with pytest.raises(ConfigurationError, match="must be true or false, not 'perhaps'"):
        load({}, {name: "perhaps"})


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "docstow.toml"
    file.write_text('prt = 1\nmax_compressed = "much"\n')
    environment = {"DOCSTOW_WAIT_S": "soon", "DOCSTOW_DOCS_RS_URL": "docs.rs"}
    with pytest.raises(ConfigurationError) as caught:
        load({"port": 70000}, environment, file)
    assert caught.value.details["mistakes"] == [
        "port: must be at most 65535, not 70000",
        f"{file} prt: there is no such setting; did you mean port?",
        f"{file} max_compressed: must be a size such as 1048576 or 30MiB, not 'much'",
        "DOCSTOW_WAIT_S: must be a number, not 'soon'",
        "DOCSTOW_DOCS_RS_URL: must be an http or https URL, not docs.rs",
    ]


def test_a_missing_or_broken_file_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load({}, {}, tmp_path / "absent.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("port =")
    with pytest.raises(ConfigurationError, match="is not TOML"):
        load({}, {}, broken)


@pytest.mark.parametrize(
    ("raw", "expected"), [("30MiB", 30 * MIB), ("1 gb", 10**9), ("17", 17), ("1.5KiB", 1536)]
)
def test_sizes_have_units(raw: str, expected: int) -> None:
    assert load({}, {"DOCSTOW_MAX_COMPRESSED": raw}).max_compressed == expected


def test_lists_and_urls_are_normalised() -> None:
    environment = {
        "DOCSTOW_ALLOWED_HOSTS": "a.example, b.example,",
        "DOCSTOW_DOCS_RS_URL": "http://127.0.0.1:1/",
        "DOCSTOW_STORE": "",
    }
    settings = load({}, environment)
    assert settings.allowed_hosts == ("a.example", "b.example")
    assert settings.docs_rs_url == "http://127.0.0.1:1"
    assert settings.store == ""


@given(st.sampled_from(sorted(FIELDS)), st.text(string.printable, max_size=12))
def test_any_text_is_taken_or_named_as_the_mistake(name: str, raw: str) -> None:
    try:
        settings = load({}, {f"DOCSTOW_{name.upper()}": raw})
    except ConfigurationError as error:
        assert error.message.startswith(f"DOCSTOW_{name.upper()}: ")
    else:
        assert isinstance(getattr(settings, name), type(getattr(Settings(), name)))


SECRETS = sorted(name for name, field in FIELDS.items() if isinstance(field.default, Secret))


def test_whatever_is_secret_is_shown_nowhere() -> None:
    assert {"auth", "embeddings_key", "github_token", "python_index_url"} < {*SECRETS}
    for name in SECRETS:
        text = "https://user:hunter2@index.example/simple"
        value = getattr(load({}, {f"DOCSTOW_{name.upper()}": text}), name)
        assert value.reveal() == text
        assert value == Secret(text)
        assert value != Secret("another")
        shown = [repr(value), str(value), f"{value}", f"{value:>20}", f"{value} {value!r}"]
        given: dict[str, Any] = {name: text}
        shown += [repr(Settings(**given)), str(dataclasses.asdict(Settings(**given)))]
        shown += [json.dumps({"it": value}, default=str), str({value: value})]
        assert not any("hunter2" in each for each in shown)
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(value)
        with pytest.raises(TypeError):
            json.dumps(value)
        with pytest.raises(TypeError):
            vars(value)


def test_a_mistake_does_not_repeat_a_secret() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load({"embeddings_key": 12345}, {})
    assert caught.value.message == "embeddings_key: must be text"
    with pytest.raises(ConfigurationError) as caught:
        load({"python_index_url": "ftp://user:hunter2@x"}, {})
    assert caught.value.message == "python_index_url: must be an http or https URL"
