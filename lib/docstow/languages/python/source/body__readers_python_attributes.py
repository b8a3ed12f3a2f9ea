"""What methods of a class give to the attributes of an instance, as far as it is written there.

This room knows ``self.name = …``. It does not know what names in it mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from docstow.languages.python.source.signature__readers_python_signature import Source, dotted

_Method = ast.FunctionDef | ast.AsyncFunctionDef


def instance_attributes(node: ast.ClassDef, source: Source) -> Mapping[str, str]:
    """Signatures by name: ``name: annotation``, or ``name = Class(…)`` where nothing else is set.

    Args:
        node: the class.
        source: its file.
    """
    told: dict[str, str] = {}
    seen: dict[str, set[str]] = {}
    for method in node.body:
        every = [*method.args.posonlyargs, *method.args.args] if isinstance(method, _Method) else []
        if not every or not isinstance(method, _Method):
            continue
        typed = {
            each.arg: source.quote(each.annotation)
            for each in [*every, *method.args.kwonlyargs]
            if each.annotation is not None
        }
        for name, annotation, value in _set(method, every[0].arg):
            if annotation is not None:
                told[name] = f"{name}: {source.quote(annotation)}"
            text = ""
            if isinstance(value, ast.Name) and value.id in typed:
                text = f"{name}: {typed[value.id]}"
            elif isinstance(value, ast.Call) and dotted(value.func):
                text = f"{name} = {dotted(value.func)}()"
            seen.setdefault(name, set()).add(text)
    alone = {name: next(iter(texts)) for name, texts in seen.items() if len(texts) == 1}
    return {**alone, **told}


def _set(method: _Method, receiver: str) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    for each in ast.walk(method):
        targets: list[ast.expr] = []
        annotation = value = None
        if isinstance(each, ast.Assign):
            targets, value = each.targets, each.value
        elif isinstance(each, ast.AnnAssign):
            targets, value, annotation = [each.target], each.value, each.annotation
        elif isinstance(each, ast.AugAssign):
            targets = [each.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and dotted(target.value) == receiver:
                yield target.attr, annotation, value
