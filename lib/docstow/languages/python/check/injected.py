"""What frameworks pass to functions whose parameters have no annotation, and make of them.

They choose it by the parameter's name, or by a decorator of the function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from docstow.languages.python.source.syntax import Function, decorator_name, positional

#: Classes of pytest's own fixtures whose names projects do not define otherwise.
_FIXTURES: Mapping[str, str] = {
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
    "mocker": "pytest_mock.MockerFixture",
}
#: Decorators that pass something first, with its class.
_PASSED_FIRST: Mapping[str, str] = {
    "click.pass_context": "click.Context",
    "click.decorators.pass_context": "click.Context",
}
#: Decorators that make a task, and pass it to itself where the keyword ``bind`` tells them to.
_TASKS = frozenset({"celery.shared_task", "celery.app.base.Celery.task", "celery.Celery.task"})
_TASK = "celery.Task"


def injected(
    name: str, function: Function, called: Callable[[ast.expr], str], *, is_django: bool = False
) -> str:
    """Return the path of the class that a parameter gets; empty where no framework is known to.

    Args:
        name: of the parameter.
        function: whose it is.
        called: returns the dotted path of what a decorator names or calls; empty for others.
        is_django: the code is one of views of Django, and of no framework above it.
    """
    if is_django and name == "request" and not takes_fixtures(function):
        return "django.http.HttpRequest"
    first = next((each.arg for each in positional(function)), "")
    for each in function.decorator_list:
        match each:
            case ast.Call(func=maker, keywords=keywords) if name == first:
                bound = [one.value for one in keywords if one.arg == "bind"]
                is_bound = any(isinstance(one, ast.Constant) and one.value is True for one in bound)
                if is_bound and called(maker) in _TASKS:
                    return _TASK
            case ast.Name() | ast.Attribute() if name == first:
                if path := _PASSED_FIRST.get(called(each)):
                    return path
    return _FIXTURES.get(name, "") if takes_fixtures(function) else ""


def made_by(decorator: ast.expr, called: Callable[[ast.expr], str]) -> str:
    """Return the path of the class whose instance a decorator makes; empty where none is known.

    Args:
        decorator: of a function, called with options or not.
        called: returns the dotted path of what a decorator names or calls; empty for others.
    """
    maker = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _TASK if called(maker) in _TASKS else ""


def takes_fixtures(function: Function) -> bool:
    """Return whether pytest passes fixtures to a function: a test, or a fixture itself."""
    return function.name.startswith("test") or fixture_name(function) != ""


def fixture_name(function: Function) -> str:
    """Return the name of the fixture that a function makes; empty where it makes none."""
    for each in function.decorator_list:
        if decorator_name(each).endswith("fixture"):
            keywords = each.keywords if isinstance(each, ast.Call) else []
            named = [one.value for one in keywords if one.arg == "name"]
            told = [e.value for e in named if isinstance(e, ast.Constant)]
            return str(told[0]) if told else function.name
    return ""
