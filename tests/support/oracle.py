"""Run by an environment's own Python: what modules, classes and calls really are there."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import types
import warnings
from typing import Any
from unittest import mock

_WORD = "no_such_word"
_FUNCTION = types.FunctionType
_NO_INIT = vars(object)["__init__"]


def parameters(thing: Any) -> list[list[Any]] | None:
    try:
        signature = inspect.signature(thing, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    return [
        [each.name, each.kind.name.lower(), each.default is each.empty]
        for each in signature.parameters.values()
    ]


def look(module: types.ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {"names": dir(module), "classes": {}, "calls": {}}
    for name in dir(module):
        thing = getattr(module, name)
        if isinstance(thing, types.FunctionType):
            found["calls"][name] = parameters(thing)
        if not isinstance(thing, type):
            continue
        found["classes"][name] = dir(thing)
        if type(thing) is type and inspect.getattr_static(thing, "__init__") is not _NO_INIT:
            found["calls"][name] = parameters(thing)
        for member in dir(thing):
            method = inspect.getattr_static(thing, member, None)
            if isinstance(method, types.FunctionType) and not member.startswith("__"):
                given = parameters(method)
                bound = given is not None and given[:1] and given[0][1].startswith("positional")
                found["calls"][f"{name}.{member}"] = given[1:] if given and bound else given
    return found


def refuses(thing: Any, owner: Any) -> bool | None:
    """Whether a call fails for a word that nothing takes; None where it fails for another reason.

    All that it needs is given, though of no use.
    """
    given = inspect.signature(thing, follow_wrapped=False).parameters.values()
    needed = [each for each in given if each.default is each.empty]
    plain = [each for each in needed if each.kind.name.startswith("POSITIONAL")]
    words = {each.name: mock.MagicMock() for each in needed if each.kind.name == "KEYWORD_ONLY"}
    receivers: list[Any] = [None]
    if owner is not None:
        plain = plain[1:]
        receivers = [owner.__new__(owner), mock.create_autospec(owner, instance=True)]
    for me in receivers:
        values = [mock.MagicMock() for _ in plain]
        try:
            thing(*([] if me is None else [me]), *values, **words, **{_WORD: None})
        except TypeError as error:
            if f"unexpected keyword argument '{_WORD}'" in str(error):
                return True
        except Exception:  # noqa: BLE001 - what it was given was of no use to anybody's code
            continue
        else:
            return False
    return None


def refused(names: list[str]) -> dict[str, bool | None]:
    found = {}
    for each in names:
        module, _, path = each.partition(":")
        owner, _, name = path.rpartition(".")
        home = getattr(importlib.import_module(module), owner) if owner else None
        thing = getattr(home or importlib.import_module(module), name)
        static = home is None or not isinstance(inspect.getattr_static(home, name), _FUNCTION)
        found[each] = refuses(thing, None if static else home)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    if asked[:1] == ["--refused"]:
        answer: dict[str, Any] = refused(asked[1:])
    else:
        answer = {name: look(importlib.import_module(name)) for name in asked}
    print(json.dumps(answer))
