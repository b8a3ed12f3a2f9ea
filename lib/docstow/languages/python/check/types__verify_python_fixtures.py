"""What pytest gives to tests that ask for it by name.

This room knows the fixtures that pytest itself brings, as its documentation lists them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

#: Names of fixtures that projects do not define otherwise, with the classes of what they give.
FIXTURES: Mapping[str, str] = {
    "monkeypatch": "pytest.MonkeyPatch",
    "caplog": "pytest.LogCaptureFixture",
    "capsys": "pytest.CaptureFixture",
    "capsysbinary": "pytest.CaptureFixture",
    "capfd": "pytest.CaptureFixture",
    "capfdbinary": "pytest.CaptureFixture",
    "recwarn": "pytest.WarningsRecorder",
    "pytester": "pytest.Pytester",
    "tmp_path_factory": "pytest.TempPathFactory",
    "tmp_path": "pathlib.Path",
}


def is_fixture_user(function: ast.AST) -> bool:
    """Whether pytest calls a function: a test, or what gives something to tests."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    above = [ast.unparse(each).partition("(")[0] for each in function.decorator_list]
    return function.name.startswith("test") or any(each.endswith("fixture") for each in above)
