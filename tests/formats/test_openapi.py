"""Descriptions of HTTP APIs, real and hostile."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from docstow.core.errors import UnreadableInput
from docstow.core.model import File
from docstow.core.settings import load
from docstow.formats import Page, openapi
from docstow.runtime import Runtime

PETS = """\
swagger: "2.0"
info: {title: Pets, version: 2020-01-01, description: "# About\\n\\nAll pets."}
host: pets.example
basePath: /v2
schemes: [https]
consumes: [application/json]
produces: [application/json]
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Key}
security: [{key: []}]
paths:
  /pets/{id}:
    parameters:
    - {name: id, in: path, required: true, type: integer, format: int64, description: Whose}
    put:
      summary: Change a pet
      operationId: changePet
      tags: [pets]
      deprecated: true
      parameters:
      - {name: body, in: body, required: true, schema: {$ref: "#/definitions/Pet"}}
      - {$ref: "#/parameters/dry"}
      responses:
        200: {description: Changed, schema: {type: array, items: {$ref: "#/definitions/Pet"}}}
        404: {$ref: "#/responses/None"}
parameters:
  dry: {name: dry, in: query, type: boolean, default: false}
responses:
  None: {description: No such pet}
definitions:
  Pet:
    type: object
    required: [name]
    properties:
      name: {type: string, maxLength: 40, description: What it is called}
      kind: {type: string, enum: [cat, dog]}
      mother: {$ref: "#/definitions/Pet"}
      owner: {$ref: "people.yaml#/Person"}
      address:
        allOf:
        - {$ref: "#/definitions/Place"}
        - {type: object, properties: {floor: {type: integer}}}
  Place: {type: object, properties: {street: {type: string}}}
"""
CHANGE_PET = """\
# Change a pet

`PUT /pets/{id}` · `changePet` · pets · Pets

**Deprecated.**

## Parameters

- `id` (path, integer int64, required): Whose.
- `dry` (query, boolean): Default: `false`.

## Request body

Required.

`application/json`

`Pet`

- `name` (string, required): What it is called. Longest: `40`.
- `kind` (string): One of `cat`, `dog`.
- `mother` (`Pet`)
- `owner` (`Person` of people.yaml)
- `address` (`Place` and object)
  - `street` (string)
  - `floor` (integer)

## Responses

### 200

Changed

`application/json`

array of `Pet`

- `name` (string, required): What it is called. Longest: `40`.
- `kind` (string): One of `cat`, `dog`.
- `mother` (`Pet`)
- `owner` (`Person` of people.yaml)
- `address` (`Place` and object)
  - `street` (string)
  - `floor` (integer)

### 404

No such pet

## Security

- `key`
"""


def read(body: str | bytes, path: str = "api.yaml") -> dict[str, Page]:
    raw = body.encode() if isinstance(body, str) else body
    return openapi.read(File(path, "https://x.example/api", "", raw))


def test_swagger_2_in_yaml() -> None:
    pages = read(PETS)
    assert list(pages) == ["", "#/paths/~1pets~1{id}/put"]
    assert pages["#/paths/~1pets~1{id}/put"].text.strip() == CHANGE_PET.strip()
    assert pages[""].text.strip() == (
        "# Pets\n\nVersion 2020-01-01 · 1 operation\n\n## About\n\nAll pets.\n\n## Servers\n\n"
        "- `https://pets.example/v2`\n\n## Security\n\n- `key` (apiKey, header `X-Key`)\n\n"
        "## Operations\n\n- `PUT /pets/{id}`: Change a pet"
    )


def test_the_api_of_docstow_itself_has_a_page_for_each_operation(tmp_path: Path) -> None:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        whole: dict[str, Any] = (
            TestClient(runtime.app, base_url="http://127.0.0.1:8000").get("/openapi.json").json()
        )
    pages = read(json.dumps(whole), "openapi.json")
    assert pages == read(yaml.safe_dump(whole, sort_keys=False), "openapi.json")
    wanted = {
        f"#/paths/{path.replace('/', '~1')}/{method}"
        for path, item in whole["paths"].items()
        for method in item
    }
    assert pages.keys() == wanted | {""}
    (search,) = [name for name in wanted if name.endswith("search_items/post")]
    text = pages[search].text
    assert "- `query` (string" in text
    assert "- `message` (string, required): What happened and what to do next." in text
    for path, item in whole["paths"].items():
        for method, operation in item.items():
            page = pages[f"#/paths/{path.replace('/', '~1')}/{method}"]
            assert f"{method.upper()} {path}" in page.text
            assert all(f"### {status}" in page.text for status in operation["responses"])


def test_keys_that_are_merged_and_scalars_that_look_like_others() -> None:
    pages = read(
        "openapi: 3.0.0\nbase: &base {summary: Get, tags: [on]}\n"
        "paths: {/a: {get: {<<: *base, summary: Read 0777}, post: *base}}\n"
    )
    titles = {name: page.title for name, page in pages.items() if name}
    assert titles == {"#/paths/~1a/get": "Read 0777", "#/paths/~1a/post": "Get"}
    assert "· on ·" in pages["#/paths/~1a/get"].text


def test_one_schema_of_two_media_types_is_written_once_and_examples_are_shown() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    content = {
        "application/json": {"schema": schema, "example": {"a": 1}},
        "text/x": {"schema": schema},
    }
    body = {"content": content}
    operation = {"requestBody": body, "responses": {}}
    whole = {"openapi": "3.1.0", "webhooks": {"moored": {"post": operation}}}
    text = read(json.dumps(whole))["#/webhooks/moored/post"].text
    assert text.count("- `a` (string or null)") == 1
    assert "`text/x`: the same." in text
    assert 'Example:\n\n```json\n{\n  "a": 1\n}\n```' in text


@pytest.mark.parametrize(
    "body",
    [
        '{"openapi":"3.0.0","x":' + "[" * 1_000_000 + "]" * 1_000_000 + "}",
        "openapi: 3.0.0\nx: " + "[" * 1_000_000,
        "openapi: 3.0.0\nx: &a [*a]",
        "openapi: 3.0.0\n"
        + "".join(
            f"a{i}: &a{i} [{', '.join([f'*a{i - 1}' if i else 'x'] * 9)}]\n" for i in range(30)
        ),
        "openapi: 3.0.0\npaths: [",
        '{"openapi": "3.0.0", "paths": ',
    ],
    ids=["deep JSON", "deep YAML", "circle", "bomb", "cut YAML", "cut JSON"],
)
def test_what_is_damaged_or_hostile_is_refused(body: str) -> None:
    with pytest.raises(UnreadableInput, match=r"nested too deeply|neither JSON nor YAML"):
        read(body)


@pytest.mark.parametrize("word", ["allOf", "oneOf", "anyOf"])
def test_schemas_that_grow_without_end_are_cut_and_say_so(word: str) -> None:
    schemas = {f"s{i}": {word: [{"$ref": f"#/s/s{i + 1}"}] * 40} for i in range(40)}
    wide = {f"p{i}": {"$ref": f"#/s/w{i % 30}"} for i in range(40)}
    schemas |= {f"w{i}": {"properties": wide} for i in range(30)}  # type: ignore[dict-item]
    for first in ("s0", "w0"):
        content = {"a/b": {"schema": {"$ref": f"#/s/{first}"}}}
        operation = {"responses": {"200": {"description": "d", "content": content}}}
        whole = {"openapi": "3.0.0", "paths": {"/x": {"get": operation}}, "s": schemas}
        text = read(json.dumps(whole))["#/paths/~1x/get"].text
        assert len(text) < 50_000
        assert text.rstrip().endswith("the file has them.")


def test_references_in_a_circle_and_to_nowhere_are_named() -> None:
    whole = {
        "openapi": "3.0.0",
        "paths": {
            "/x": {"$ref": "#/paths/~1x"},
            "/y": {"get": {"responses": {"200": {"$ref": "#/no"}}}},
        },
    }
    pages = read(json.dumps(whole))
    assert list(pages) == ["", "#/paths/~1y/get"]
    assert "### 200" in pages["#/paths/~1y/get"].text


def test_what_describes_no_api_is_told_apart() -> None:
    assert not openapi.is_description(b'{"name": "x", "dependencies": {"openapi": "^1"}}')
    assert openapi.is_description(b'{"components":{},"openapi" : "3.0.3"}')
    with pytest.raises(UnreadableInput, match="describes no API"):
        read('{"x": {"openapi": "3.0.0"}}')
