"""Where the repository, its tests and their data lie."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LIB = REPOSITORY / "lib" / "docstow"
INFRA = REPOSITORY / "infra"
TESTS = REPOSITORY / "tests"
SUPPORT = TESTS / "support"
FIXTURES = TESTS / "fixtures"
CRATES = FIXTURES / "crates"
SHARED = Path(os.environ.get("DOCSTOW_TEST_SHARED", REPOSITORY.parent / "shared"))
