"""Error messages: what they speak of, and that code that speaks of errors is none."""

from __future__ import annotations

import pytest

from docstow.languages.projects.mentions import read_mentions
from docstow.languages.projects.mentions import read_message as read
from docstow.languages.shared.language import Mention
from growth import growth


@pytest.mark.parametrize(
    ("text", "language", "mention"),
    [
        (
            "error[E0432]: unresolved import `tokio::tasks`\n --> src/main.rs:3:12\n",
            "rust",
            Mention("tokio", ("tasks",), 1),
        ),
        (
            "error[E0425]: cannot find function `spawn_task` in crate `tokio`",
            "rust",
            Mention("tokio", ("spawn_task",), 1),
        ),
        (
            "error[E0599]: no method named `foo` found for struct `reqwest::Client` in the current",
            "rust",
            Mention("reqwest", ("Client", "foo"), 1),
        ),
        (
            "error[E0599]: no method named `push_all` found for struct `Vec<{integer}>` in the",
            "rust",
            Mention("std", ("vec", "Vec", "push_all"), 1),
        ),
        (
            "error[E0599]: no function or associated item named `parse_hex` found for type `u32`",
            "rust",
            Mention("u32", ("parse_hex",), 1),
        ),
        (
            """error[E0433]: cannot find `Durations` in `time`
  --> a.rs:4:16
   |
4  |     std::time::Durations::from_secs(1);
   |                ^^^^^^^^^ could not find `Durations` in `time`
""",
            "rust",
            Mention("std", ("time", "Durations"), 1),
        ),
        (
            "error[E0599]: no method named `elapsed_millis` found for struct `Instant` in the",
            "rust",
            Mention("std", ("time", "Instant", "elapsed_millis"), 1),
        ),
        (
            "error[E0599]: no method named `split_at_once` found for reference `&'static str` in",
            "rust",
            Mention("str", ("split_at_once",), 1),
        ),
        (
            "error[E0560]: struct `std::ops::Range<{integer}>` has no field named `ende`",
            "rust",
            Mention("std", ("ops", "Range", "ende"), 1),
        ),
        (
            """Traceback (most recent call last):
  File "a.py", line 2, in <module>
    httpx.Client(timeout=1).gett("x")
AttributeError: 'Client' object has no attribute 'gett'. Did you mean: 'get'?
""",
            "python",
            Mention("httpx", ("Client", "gett"), 4),
        ),
        (
            """    def test_a():
        from httpx import AsyncClient
>       AsyncClient(timeouts=1)
E       TypeError: AsyncClient.__init__() got an unexpected keyword argument 'timeouts'
""",
            "python",
            Mention("httpx", ("AsyncClient",), 4),
        ),
        (
            "AttributeError: 'numpy.ndarray' object has no attribute 'foo'",
            "python",
            Mention("numpy", ("ndarray", "foo"), 1),
        ),
        (
            (
                'a.py:6:18 - error: "Gett" is not a known attribute of module "httpx"'
                " (reportAttributeAccessIssue)"
            ),
            "python",
            Mention("httpx", ("Gett",), 1),
        ),
        (
            "Traceback (most recent call last):\nImportError: cannot import name 'A' from 'b.c'",
            "python",
            Mention("b", ("c", "A"), 2),
        ),
        ("ModuleNotFoundError: No module named 'yaml'", "python", Mention("yaml", (), 1)),
        (
            "AttributeError: module 'numpy' has no attribute 'arrange'",
            "python",
            Mention("numpy", ("arrange",), 1),
        ),
        (
            "src/a.ts(3,10): error TS2305: Module '\"zod\"' has no exported member 'Zodd'.",
            "typescript",
            Mention("zod", ("Zodd",), 1),
        ),
        (
            "a.ts:1:1 - error TS2724: '\"react\"' has no exported member named 'useEffekt'.",
            "typescript",
            Mention("react", ("useEffekt",), 1),
        ),
        (
            (
                "a.ts(7,4): error TS2551: Property 'strng' does not exist on type "
                "'typeof import(\"/w/node_modules/zod/index\")'. Did you mean 'string'?"
            ),
            "typescript",
            Mention("zod", ("strng",), 1),
        ),
        (
            (
                "a.ts(2,3): error TS2724: '\"/w/node_modules/@a/b/index\"' has no exported member "
                "named 'Strng'. Did you mean 'String'?"
            ),
            "typescript",
            Mention("@a/b", ("Strng",), 1),
        ),
        (
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /x/a.mjs",
            "javascript",
            Mention("@a/b", (), 1),
        ),
    ],
)
def test_what_a_message_speaks_of(text: str, language: str, mention: Mention) -> None:
    message = read(text)
    assert message is not None
    assert message.language == language
    assert mention in message.mentions


@pytest.mark.parametrize(
    "code",
    [
        'println!("error: {}", x);',
        'def f():\n    """Raises:\n        TypeError: if it is none.\n    """\n',
        "try:\n    import a\nexcept ImportError:\n    a = None\n",
        "if (error.code === 'ERR_MODULE_NOT_FOUND') throw error;",
        "// @ts-expect-error TS2305 is right here",
        "f();\n  // @ts-expect-error error TS2351: Cannot use 'new' with this",
    ],
)
def test_code_that_speaks_of_errors_is_none(code: str) -> None:
    assert read(code) is None


def test_a_type_of_ones_own_is_not_the_librarys() -> None:
    text = """error[E0599]: no method named `stop` found for struct `Instant` in the current scope
3 | struct Instant;
  | -------------- method `stop` not found for this struct
"""
    message = read(text)
    assert message is not None
    assert message.mentions == ()


def test_what_an_import_was_renamed_to_is_no_package() -> None:
    text = """Traceback (most recent call last):
    pd.Frame().foo
AttributeError: 'Frame' object has no attribute 'foo'
"""
    message = read(text)
    assert message is not None
    assert message.mentions == ()


@pytest.mark.parametrize(
    "unit", ["\n", " ", " \n", "\t\n", "\r\n", "at ", "import ", "from x ", "[[a]]\n"]
)
def test_to_look_for_names_takes_as_long_as_the_text_is(unit: str) -> None:
    assert growth(lambda times: read_mentions(unit * (5000 * times))) < 2
