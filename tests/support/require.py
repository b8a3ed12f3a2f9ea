"""What a test needs from outside: it is skipped without it, but not where CI says it is there."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

#: Set where registries can be reached and everything can be installed: nothing may be missing.
COMPLETE = "DOCSTOW_TEST_COMPLETE"


def unavailable(reason: str) -> NoReturn:
    """Skip the test for want of what ``reason`` names; fail where :data:`COMPLETE` is set."""
    if os.environ.get(COMPLETE):
        pytest.fail(f"{COMPLETE} is set, but {reason}")
    pytest.skip(reason)
