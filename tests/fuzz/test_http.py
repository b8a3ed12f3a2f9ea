"""Whatever request the OpenAPI document allows or just misses, every caller gets an answer.

The requests are those of Schemathesis: valid ones, and such as break a rule of a schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from fuzz.http_server import SCOPES, Fuzzed, fuzzed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

#: What every answer has: a status, a type and a body that the document names.
_CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
#: Each operation gets a share of the examples of a test, as there are dozens.
_SHARE = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    """A server whose store all tests of this module change."""
    with fuzzed(tmp_path_factory.mktemp("http")) as made:
        yield made


@pytest.fixture(scope="module")
def operations(server: Fuzzed) -> list[Any]:
    """All operations of the document."""
    document = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    schema = schemathesis.openapi.from_dict(document)
    found = list(schema.get_all_operations())
    assert all(isinstance(each, Ok) for each in found)
    return [each.ok() for each in found if isinstance(each, Ok)]


@pytest.mark.parametrize("scope", SCOPES)
def test_an_answer_is_what_the_document_says(
    server: Fuzzed, operations: list[Any], scope: str
) -> None:
    assert len(operations) > 30
    most = max(3, settings.default.max_examples // _SHARE) if settings.default else 3
    for operation in operations:
        made = st.one_of(*(operation.as_strategy(generation_mode=e) for e in GenerationMode))

        @settings(max_examples=most, suppress_health_check=list(HealthCheck))
        @given(made)
        def check(case: Case[Any]) -> None:
            answer = case.call(base_url=server.url, headers=dict(server.headers[scope]), timeout=60)
            assert answer.status_code != 500, answer.text
            case.validate_response(answer, checks=_CHECKS)

        check()
