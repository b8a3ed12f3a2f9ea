"""The page of costs says what its script reckons from its inputs."""

from __future__ import annotations

import json
import runpy

import pytest

from paths import INFRA

COSTS = runpy.run_path(str(INFRA / "costs.py"))


def test_the_page_has_the_tables_of_its_script() -> None:
    inputs = json.loads((INFRA / "costs.json").read_text("utf-8"))
    text = (INFRA / "costs.md").read_text("utf-8")
    assert text == COSTS["page"](text, COSTS["Costs"](inputs).tables())


def test_a_query_is_the_sum_of_what_each_service_asks() -> None:
    quiet = dict.fromkeys(("GET", "HEAD", "PUT", "LIST"), 0.0)
    inputs = {
        "prices": {
            "s3_get_each": 1.0,
            "s3_put_list_each": 10.0,
            "lambda_gib_second": 100.0,
            "lambda_request": 1000.0,
            "http_api_request": 10_000.0,
            "transfer_out_gib": 0.0,
            "logs_gib": 0.0,
        },
        "memory_mib": {"mcp": 2048},
        "assumed": {"answer_bytes": 0, "log_bytes": 0},
        "measured": {
            "warm": {**quiet, "GET": 3.0, "seconds": 0.5},
            "cold": {**quiet, "LIST": 2.0, "seconds": 1.5},
        },
    }
    costs = COSTS["Costs"](inputs)
    assert costs.query("warm") == pytest.approx(10_000 + 1000 + 100 + 3)
    assert costs.query("cold") == pytest.approx(10_000 + 1000 + 300 + 20)
