"""The registry of tools: schemas, checks, conversions, selection and the last resort."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from docstow.core.errors import InternalError, InvalidParameter, ItemNotFound, ToolNotFound
from docstow.tools import Answer, Tool, Toolbox, parameters
from docstow.tools.parameters import Parameter

CRATE = Parameter("crate", "string", "The crate's name.", required=True, max_length=64)
K = Parameter("k", "integer", "How many results.", default=5, minimum=1, maximum=50)
WEIGHT = Parameter("weight", "number", "Of the vectors.", minimum=0, maximum=1)
EXPLAIN = Parameter("explain", "boolean", "Show the ranks.", default=False)
KINDS = Parameter(
    "kinds", "array", "Kinds of items.", choices=("struct", "trait", "fn"), max_length=2
)
SIZES = Parameter("sizes", "array", "Sizes.", items="integer")
SORT = Parameter("sort", "string", "The order.", choices=("name", "score"), default="score")
OPTIONS = Parameter("options", "object", "Anything.")
PARAMETERS = (CRATE, K, WEIGHT, EXPLAIN, KINDS, SIZES, SORT, OPTIONS)
DEFAULTS = {
    "crate": "tokio",
    "k": 5,
    "weight": None,
    "explain": False,
    "kinds": None,
    "sizes": None,
    "sort": "score",
    "options": None,
}


def _echo(arguments: Mapping[str, Any]) -> Answer:
    return Answer(dict(arguments))


def _tool(name: str, toolset: str, *parameters: Parameter, run: Any = _echo) -> Tool:
    return Tool(name, toolset, name.title(), "A tool for tests.", parameters, run)


def _missing(arguments: Mapping[str, Any]) -> Answer:
    raise ItemNotFound("There is no such item.", suggestions=[{"path": "a::b", "score": 0.5}])


def _break(arguments: Mapping[str, Any]) -> Answer:
    raise RuntimeError("a secret")


TOOLBOX = Toolbox(
    [
        _tool("search", "rust", *PARAMETERS),
        _tool("read", "docs", CRATE),
        _tool("missing", "docs", run=_missing),
        _tool("break", "admin", run=_break),
        _tool("endless", "admin", run=lambda arguments: Answer({"score": float("nan")})),
    ],
    default_toolsets=["rust", "docs"],
)


def _call(**arguments: Any) -> Mapping[str, Any]:
    structured = TOOLBOX.call("search", {"crate": "tokio", **arguments}).structured
    assert structured is not None
    return structured


def _refusal(arguments: Mapping[str, Any]) -> dict[str, Any]:
    with pytest.raises(InvalidParameter) as caught:
        TOOLBOX.call("search", arguments)
    return caught.value.body()


def test_the_schema_takes_numbers_booleans_and_lists_as_strings_too() -> None:
    assert parameters.schema(PARAMETERS) == {
        "type": "object",
        "properties": {
            "crate": {"type": "string", "maxLength": 64, "description": "The crate's name."},
            "k": {
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": 50},
                    {"type": "string", "pattern": "^-?[0-9]{1,18}$"},
                ],
                "description": "How many results.",
                "default": 5,
            },
            "weight": {
                "anyOf": [
                    {"type": "number", "minimum": 0, "maximum": 1},
                    {"type": "string", "pattern": r"^-?[0-9]{1,18}(\.[0-9]{1,18})?$"},
                ],
                "description": "Of the vectors.",
            },
            "explain": {
                "anyOf": [{"type": "boolean"}, {"type": "string", "enum": ["true", "false"]}],
                "description": "Show the ranks.",
            },
            "kinds": {
                "anyOf": [
                    {
                        "type": "array",
                        "items": {"type": "string", "enum": ["struct", "trait", "fn"]},
                        "maxItems": 2,
                    },
                    {"type": "string"},
                ],
                "description": "Kinds of items.",
            },
            "sizes": {
                "anyOf": [
                    {"type": "array", "items": {"type": "integer"}, "maxItems": 100},
                    {"type": "string"},
                ],
                "description": "Sizes.",
            },
            "sort": {
                "type": "string",
                "enum": ["name", "score"],
                "description": "The order.",
                "default": "score",
            },
            "options": {"type": "object", "description": "Anything."},
        },
        "required": ["crate"],
        "additionalProperties": False,
    }


def test_the_plain_schema_has_single_types() -> None:
    schema = TOOLBOX.schema(TOOLBOX.get("search"), plain=True)
    assert schema["properties"]["k"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "description": "How many results.",
        "default": 5,
    }
    assert "anyOf" not in json.dumps(schema)


def test_the_brief_schema_leaves_out_what_only_guards() -> None:
    schema = TOOLBOX.schema(TOOLBOX.get("search"), brief=True)
    assert schema == {
        "type": "object",
        "properties": {
            "crate": {"type": "string", "description": "The crate's name."},
            "k": {
                "type": ["integer", "string"],
                "description": "How many results.",
                "default": 5,
            },
            "weight": {
                "type": ["number", "string"],
                "minimum": 0,
                "maximum": 1,
                "description": "Of the vectors.",
            },
            "explain": {
                "type": ["boolean", "string"],
                "description": "Show the ranks.",
            },
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": ["struct", "trait", "fn"]},
                "description": "Kinds of items.",
            },
            "sizes": {"type": "array", "items": {"type": "integer"}, "description": "Sizes."},
            "sort": {
                "type": "string",
                "enum": ["name", "score"],
                "description": "The order.",
                "default": "score",
            },
            "options": {"type": "object", "description": "Anything."},
        },
        "required": ["crate"],
    }
    plain = json.dumps(TOOLBOX.schema(TOOLBOX.get("search"), plain=True, brief=True))
    assert "anyOf" not in plain
    assert '["' not in plain.replace('"enum": ["', "").replace('"required": ["', "")


NUMBER = Parameter("k", "integer", default=5, minimum=1, aliases=("limit", "n"))
NEEDED = Parameter("query", "string", required=True, aliases=("q",))
KIND = Parameter(
    "kinds", "array", choices=("function", "struct"), synonyms={"fn": "function"}, rare=True
)


def test_a_parameter_is_given_by_any_of_its_names() -> None:
    several = (NUMBER, NEEDED, KIND)
    sent = {"limit": "3", "q": "a", "kinds": "fn, struct"}
    got = {"k": 3, "query": "a", "kinds": ["function", "struct"]}
    assert parameters.validate(several, sent) == got
    assert parameters.validate(several, {"k": None, "n": 7, "query": "a"})["k"] == 7
    for wrong, field, reason in (
        ({"query": "a", "k": 1, "limit": 2}, "k", "give one of k, limit, which mean the same"),
        ({"query": "a", "limit": 0}, "limit", "must be at least 1, not 0"),
        ({"query": "a", "kinds": "fm"}, "kinds", "must be one of function, struct"),
        ({"k": 1}, "query", "is required: give it as a string"),
    ):
        with pytest.raises(InvalidParameter) as caught:
            parameters.validate(several, wrong)
        assert caught.value.details == {"field": field, "reason": reason}


def test_the_brief_schema_leaves_out_further_names_and_what_is_rare() -> None:
    whole = parameters.schema((NUMBER, NEEDED, KIND), plain=True)
    number = {"type": "integer", "minimum": 1, "default": 5}
    names = {"type": "array", "items": {"type": "string", "enum": ["function", "struct", "fn"]}}
    assert whole["properties"] == {
        "k": number,
        "limit": number,
        "n": number,
        "query": {"type": "string", "maxLength": 400},
        "q": {"type": "string", "maxLength": 400},
        "kinds": names,
    }
    assert "required" not in whole
    brief = parameters.schema((NUMBER, NEEDED, KIND), brief=True)
    assert (list(brief["properties"]), brief["required"]) == (["k", "query"], ["query"])


def test_a_tool_gets_every_parameter() -> None:
    assert _call() == DEFAULTS
    assert _call(k=None, sort=None) == DEFAULTS


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ({"k": 7}, {"k": 7}),
        ({"k": "7"}, {"k": 7}),
        ({"k": 7.0}, {"k": 7}),
        ({"k": " 7 "}, {"k": 7}),
        ({"weight": "0.25"}, {"weight": 0.25}),
        ({"weight": 1}, {"weight": 1}),
        ({"explain": True}, {"explain": True}),
        ({"explain": "True"}, {"explain": True}),
        ({"explain": "false"}, {"explain": False}),
        ({"kinds": ["fn"]}, {"kinds": ["fn"]}),
        ({"kinds": "fn, trait"}, {"kinds": ["fn", "trait"]}),
        ({"kinds": '["fn", "trait"]'}, {"kinds": ["fn", "trait"]}),
        ({"kinds": ""}, {"kinds": []}),
        ({"sizes": "1,2"}, {"sizes": [1, 2]}),
        ({"sizes": [1, "2"]}, {"sizes": [1, 2]}),
        ({"options": '{"a": 1}'}, {"options": {"a": 1}}),
        ({"options": {"a": [1]}}, {"options": {"a": [1]}}),
    ],
)
def test_values_are_converted(sent: dict[str, Any], got: dict[str, Any]) -> None:
    assert _call(**sent) == {**DEFAULTS, **got}


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("k", 0, "must be at least 1, not 0"),
        ("k", "51", "must be at most 50, not 51"),
        ("k", True, "must be an integer, not a boolean"),
        ("k", 1.5, "must be an integer, not 1.5"),
        ("k", 10**30, "must be an integer, not a number out of range"),
        ("k", "five", "must be an integer, not 'five'"),
        ("k", [5], "must be an integer, not an array"),
        ("weight", float("inf"), "must be a number, not a number out of range"),
        ("weight", float("nan"), "must be a number, not a number out of range"),
        ("weight", "nan", "must be a number, not 'nan'"),
        ("explain", 1, "must be a boolean, not 1"),
        ("explain", "yes", "must be a boolean, not 'yes'"),
        ("crate", 1, "must be a string, not 1"),
        ("crate", {}, "must be a string, not an object"),
        ("crate", "a" * 65, "must have at most 64 characters, not 65"),
        ("crate", "tok\ud800io", "must be valid Unicode; it has half of a surrogate pair"),
        ("sort", "scor", "must be one of name, score; did you mean 'score'?"),
        ("sort", "zzz", "must be one of name, score"),
        ("kinds", ["enum"], "must be one of struct, trait, fn"),
        ("kinds", [None], "must be a string, not null"),
        ("kinds", "fn,trait,struct", "must have at most 2 elements, not 3"),
        ("kinds", "[1", "must be one of struct, trait, fn"),
        ("sizes", "1,two", "must be an integer, not 'two'"),
        ("options", "[1", "must be an object, not '[1'"),
        ("options", [], "must be an object, not an array"),
        ("options", {"a": ["\ud800"]}, "must be valid Unicode; it has half of a surrogate pair"),
        ("options", '{"a": NaN}', "must be plain JSON: no NaN or Infinity"),
        ("krate", "x", "unknown parameter; did you mean 'crate'? known are"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_and_reason(
    field: str, value: Any, reason: str
) -> None:
    body = _refusal({"crate": "tokio", field: value})
    assert (body["error"], body["field"]) == ("invalid_parameter", field)
    assert body["reason"].startswith(reason)
    assert "problems" not in body


def test_a_missing_parameter_is_named_with_its_meaning() -> None:
    assert _refusal({}) == {
        "error": "invalid_parameter",
        "message": "crate: is required: The crate's name.",
        "field": "crate",
        "reason": "is required: The crate's name.",
    }


def test_all_problems_of_a_call_are_named_at_once() -> None:
    body = _refusal({"nothing": 1, "k": "x"})
    assert [problem["field"] for problem in body["problems"]] == ["nothing", "crate", "k"]
    assert body["field"] == "nothing"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(DEFAULTS)) | st.text(max_size=3), json_values))
def test_any_arguments_are_accepted_or_refused_with_a_reason(arguments: dict[str, Any]) -> None:
    try:
        answer = TOOLBOX.call("search", arguments)
    except InvalidParameter as error:
        assert error.body()["reason"]
    else:
        assert answer.structured is not None
        accepted = {name: value for name, value in answer.structured.items() if value is not None}
        plain = TOOLBOX.schema(TOOLBOX.get("search"), plain=True)
        assert list(Draft202012Validator(plain).iter_errors(accepted)) == []


@given(
    st.fixed_dictionaries(
        {"crate": st.text(max_size=64)},
        optional={
            "k": st.integers(1, 50) | st.integers(1, 50).map(str),
            "weight": st.floats(0, 1) | st.sampled_from(["0", "0.5", "1.0"]),
            "explain": st.booleans() | st.sampled_from(["true", "false"]),
            "kinds": st.lists(st.sampled_from(["struct", "trait", "fn"]), max_size=2),
            "sort": st.sampled_from(["name", "score"]),
        },
    )
)
def test_what_the_schema_allows_is_accepted(arguments: dict[str, Any]) -> None:
    schema = TOOLBOX.schema(TOOLBOX.get("search"))
    assert list(Draft202012Validator(schema).iter_errors(arguments)) == []
    assert TOOLBOX.call("search", arguments).structured is not None


def test_tools_are_selected_by_toolset_in_listing_order() -> None:
    def names(*toolsets: str) -> list[str]:
        return [tool.name for tool in TOOLBOX.select(toolsets)]

    assert names() == ["search", "read", "missing"]
    assert names("docs", "rust") == ["search", "read", "missing"]
    assert names("admin") == ["break", "endless"]
    with pytest.raises(InvalidParameter, match="unknown toolset 'go'; known are rust, docs, admin"):
        names("rust", "go")


def test_an_unknown_tool_is_answered_with_near_names() -> None:
    with pytest.raises(ToolNotFound) as caught:
        TOOLBOX.get("serch")
    assert caught.value.body()["suggestions"] == [{"name": "search", "score": 0.909}]


def test_a_toolbox_refuses_contradictions() -> None:
    with pytest.raises(ValueError, match="same name"):
        Toolbox([_tool("a", "x"), _tool("a", "y")])
    with pytest.raises(ValueError, match="default toolsets without tools: y"):
        Toolbox([_tool("a", "x")], default_toolsets=["x", "y"])


def test_errors_of_a_tool_are_returned_as_they_are() -> None:
    outcome = TOOLBOX.attempt("missing", {}, "r1")
    assert isinstance(outcome, ItemNotFound)
    assert outcome.body()["suggestions"] == [{"path": "a::b", "score": 0.5}]


@pytest.mark.parametrize("tool", ["break", "endless"])
def test_unforeseen_faults_are_logged_and_say_nothing_of_the_inside(
    tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        outcome = TOOLBOX.attempt(tool, {}, "r-17")
    assert isinstance(outcome, InternalError)
    body = outcome.body()
    assert body.pop("message")
    assert body == {"error": "internal_error", "request_id": "r-17"}
    assert "secret" not in str(outcome)
    (record,) = caplog.records
    assert "r-17" in record.getMessage()
    assert record.exc_info is not None


def test_an_answer_renders_as_compact_json_or_as_its_text() -> None:
    assert Answer({"a": ["ä", 1]}).render() == '{"a":["ä",1]}'
    assert Answer(text="# Title").render() == "# Title"
    assert (
        Answer(content=[{"type": "text", "text": "x"}]).render() == '[{"type":"text","text":"x"}]'
    )


def test_nothing_that_a_caller_sends_is_without_a_longest_length() -> None:
    box = Toolbox([_tool("plain", "rust", *PARAMETERS, Parameter("note", "string", default=""))])
    right = {"crate": "tokio"}
    for name, value, reason in (
        ("note", "n" * 401, "at most 400 characters, not 401"),
        ("sizes", list(range(101)), "at most 100 elements, not 101"),
        ("kinds", ["f" * 2001], "elements of at most 2000 characters, not 2001"),
        ("options", {"a": "n" * 20_000}, "at most 20000 characters, not 20009"),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            box.call("plain", {**right, name: value})
    assert box.call("plain", {**right, "note": "n" * 400, "sizes": [1] * 100}).structured
    schema = parameters.schema([Parameter("note", "string")])
    assert schema["properties"]["note"]["maxLength"] == 400
