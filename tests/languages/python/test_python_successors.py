"""What the code of packages says of names that went, in the words of real ones."""

from __future__ import annotations

import ast

import pytest

from docstow.core.model import Document
from docstow.languages import of_name
from docstow.languages.projects.diff import compare
from docstow.languages.python.source.functions import deprecation
from docstow.languages.python.successors import find_successors
from docstow.languages.shared.history import History

#: As numpy, pydantic, Starlette and Sphinx keep them.
_EXPIRED = '__expired_attributes__ = {"alltrue": "Use `np.all` instead.", "deprecate": 3}'
_MOVED = 'MOVED_IN_V2 = {"pydantic.utils:version_info": "pydantic.version:version_info"}'
_GONE = """
def getattr_migration(module):
    def wrapper(name):
        if import_path == 'pydantic:BaseSettings':
            raise PydanticImportError(
                '`BaseSettings` has been moved to the `pydantic-settings` package. '
                f'See {here} for more details.'
            )
"""
_CHANGES = """
def __getattr__(name: str) -> int:
    deprecation_changes = {"HTTP_413_REQUEST_ENTITY_TOO_LARGE": "HTTP_413_CONTENT_TOO_LARGE"}
"""
_OBJECTS = """
_DEPRECATED_OBJECTS = {"md5": (_md5, ""), "stabilize": (stabilize, "sphinx.util.osutil.stabilize")}
"""


@pytest.mark.parametrize(
    ("text", "module", "expected"),
    [
        (_EXPIRED, "numpy._expired", {"numpy.alltrue": "Use `np.all` instead."}),
        (
            _MOVED,
            "pydantic._migration",
            {"pydantic.utils.version_info": "Use `pydantic.version.version_info` instead."},
        ),
        (
            _GONE,
            "pydantic._migration",
            {
                "pydantic.BaseSettings": "`BaseSettings` has been moved to the `pydantic-settings`"
                " package. See for more details."
            },
        ),
        (
            _CHANGES,
            "starlette.status",
            {
                "starlette.status.HTTP_413_REQUEST_ENTITY_TOO_LARGE": "Use"
                " `HTTP_413_CONTENT_TOO_LARGE` instead."
            },
        ),
        (
            _OBJECTS,
            "sphinx.util",
            {
                "sphinx.util.md5": "Use `_md5` instead.",
                "sphinx.util.stabilize": "Use `sphinx.util.osutil.stabilize` instead.",
            },
        ),
        ('COLOURS = {"red": "crimson"}', "paint", {}),
    ],
)
def test_tables_and_getattr_say_what_names_became(
    text: str, module: str, expected: dict[str, str]
) -> None:
    assert dict(find_successors(text, module)) == expected


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [
        ('@util.deprecated("1.4", "Please use :meth:`.Query.a`")', "Please use :meth:`.Query.a`"),
        ('@deprecated("3.7", alternative="a.b")', "Use `a.b` instead."),
        ('@moved_20("It is now available as `orm.f`.")', "It is now available as `orm.f`."),
        ("@deprecated", "deprecated"),
        ('@deprecated_params(old=("1.4", "use new"))', ""),
    ],
)
def test_decorators_say_why(decorator: str, reason: str) -> None:
    (node,) = ast.parse(f"{decorator}\ndef f(): pass").body
    assert isinstance(node, ast.FunctionDef)
    assert deprecation(node, "") == reason


def test_a_warning_kept_in_a_name_says_why() -> None:
    (node,) = ast.parse(
        'def f():\n    msg = "f is deprecated. " "Use g."\n'
        "    warnings.warn(msg, DeprecationWarning)"
    ).body
    assert isinstance(node, ast.FunctionDef)
    assert deprecation(node, "") == "f is deprecated. Use g."


def _history(moved: dict[str, str], *names: str, changelog: str = "") -> History:
    root = Document("p", "module", "p", "", "", "", "", {"moved": moved})
    page = Document("p/CHANGELOG", "page", "Changelog", "", changelog, "", "", {})
    return History("p", [root, page], names, after="1.5", upto="2.0")


def test_code_comes_before_notes_and_another_package_is_named() -> None:
    moved = {"p.a": "Use `p.b` instead.", "p.S": "`S` has been moved to the `p-settings` package."}
    history = _history(moved, "p.b", "p.c")
    found = history.successor("p.a", ["Use `c` instead."])
    assert found is not None
    assert (found.names, found.origin) == (("p.b",), "code")
    other = history.successor("p.S")
    assert other is not None
    assert other.names == ("p_settings.S",)


def test_a_successor_that_the_version_lacks_is_not_named() -> None:
    history = _history({}, "p.b")
    assert history.successor("p.a", ["Use `nowhere` instead."]) is None
    outside = history.successor("p.a", ["Use `shutil.copy` instead."])
    assert outside is not None
    assert outside.names == ("shutil.copy",)


def test_what_older_versions_renamed_is_another_item() -> None:
    text = "# 1.0b1\n\n* Renamed `a` to `b`\n\n# 2.0\n\n* Speed\n"
    assert _history({}, "p.b", changelog=text).successor("p.a") is None


def test_a_name_that_is_still_answered_for_is_deprecated() -> None:
    language = of_name("python")
    assert language is not None
    comparing = language.comparing
    assert comparing is not None
    facts = {"moved": {"p.a": "Use `b` instead."}, "others": {"a": ""}}
    new = Document("p", "module", "p", "", "", "", "", facts)
    old = Document("p", "module", "p", "", "", "", "", {})
    name = Document("p.a", "constant", "a", "a = 1", "", "", "p", {})
    (change,) = compare(comparing(), [old, name], [new])
    assert (change.path, change.rule, change.after) == (
        "p.a",
        "item-deprecated",
        "Use `b` instead.",
    )
