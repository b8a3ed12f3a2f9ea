"""Packages of JavaScript without types: what their exports, assignments and comments tell."""

from __future__ import annotations

from pathlib import Path

from docstow.core.model import Document
from docstow.languages.typescript.reading import documents
from languages.typescript.node.test_node_written import surface, written


def items(root: Path, files: dict[str, str]) -> dict[str, Document]:
    written(root, files, main="index.js")
    return {each.path: each for each in documents(surface(root)) if each.kind != "module"}


def test_documentation_of_what_is_assigned_to_exports(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.js": (
                "var utils = module.exports = {};\n"
                "utils.file = require('./file');\n"
                "/**\n * Sends.\n * @param {string} to where\n * @returns {Promise<void>} sent\n"
                " */\nutils.send = function (to) {};\n"
                "/** Both. */\nutils.one = utils.two = (a, b) => a;\n"
            ),
            "file.js": "module.exports = {\n  /** Opens. */\n  open: function (path) {},\n};\n",
        },
    )
    send = found["lib.send"]
    assert (send.kind, send.signature) == ("function", "function send(to)")
    assert send.text == "Sends.\n\n- `to` (`string`): where\n\nReturns: `Promise<void>` sent"
    assert found["lib.one"].text == "Both."
    assert found["lib.file.open"].text == "Opens."


def test_members_of_functions_and_classes(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.js": (
                "exports = module.exports = Client;\n"
                "const { inner } = require('./inner.js');\nexports.inner = inner;\n"
                "/** Asks. */\nfunction Client(url) {\n  /** Where. */\n  this.url = url;\n}\n"
                "/** Sends. */\nClient.prototype.send = function send(body) {};\n"
                "Object.assign(Client.prototype, {\n  /** Ends. */\n  close() {},\n});\n"
                "/** By default. */\nClient.defaults = { a: 1 };\n"
                "Client.prototype._hidden = 1;\n"
                "class Base {\n  /** Begins. */\n  constructor() {\n    /** How many. */\n"
                "    this.count = 0;\n  }\n}\n/** More. */\nBase.extra = function () {};\n"
                "exports.Base = Base;\n"
            ),
            "inner.js": "/** Inside. */\nfunction inner() {}\nmodule.exports = { inner };\n",
        },
    )
    assert {path: each.text for path, each in found.items()} == {
        "lib.url": "Where.",
        "lib.send": "Sends.",
        "lib.close": "Ends.",
        "lib.defaults": "By default.",
        "lib.inner": "Inside.",
        "lib.Base": "",
        "lib.Base.count": "How many.",
        "lib.Base.extra": "More.",
    }
    assert (found["lib.send"].kind, found["lib.send"].signature) == ("method", "send(body)")


def test_types_that_comments_define(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.js": (
                "/**\n * How to ask.\n *\n * @typedef {Object} Options\n"
                " * @property {number} [timeout=10] milliseconds\n"
                " * @property {{a: string}} more - the rest\n */\n"
                "/**\n * @callback Done\n * @param {Error} [error] what failed\n"
                " * @returns {boolean}\n */\n"
                "exports.ask = function ask(options) {};\n"
            )
        },
    )
    options = found["lib.Options"]
    assert (options.kind, options.signature) == ("type", "type Options = Object")
    assert options.text.startswith("How to ask.\n\n- `[timeout=10]` (`number`): milliseconds\n")
    assert found["lib.Options.timeout"].text == "milliseconds"
    assert found["lib.Options.timeout"].signature == "timeout?: number"
    assert found["lib.Options.timeout"].attributes["line"] == 5
    assert found["lib.Options.more"].signature == "more: {a: string}"
    assert found["lib.Done"].signature == "type Done = (error?: Error) => boolean"


def test_a_function_without_a_name_is_the_module(tmp_path: Path) -> None:
    text = "/** Adds. */\nmodule.exports = function (a, b) { return a + b; };\n"
    written(tmp_path, {"index.js": text}, main="index.js")
    symbol = surface(tmp_path).symbol("lib")
    assert symbol is not None
    assert (symbol.signature, symbol.docstring) == ("function (a, b)", "Adds.")
