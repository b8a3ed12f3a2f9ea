"""What decorators make of the fields of a Python class: the words of its constructor.

This room knows ``dataclasses`` and ``attrs``. It does not know what else may make a constructor.
"""

from __future__ import annotations

from collections.abc import Sequence

from docstow.languages.python.names__packages_python_lineage import Lineage
from docstow.languages.python.names__packages_python_views import View
from docstow.languages.python.source.facts import Field
from docstow.languages.shared.surface__readers_call_parameters import Parameter

#: Classes of Python itself that take no arguments.
PLAIN = frozenset({object})
_DATACLASS_FIELDS = frozenset({"field", "dataclasses.field"})
_ATTRS_FIELDS = frozenset({"field", "attrs.field", "attr.field", "attr.ib", "attr.attrib"})
#: What ``attrs`` may be told without its constructor taking others.
_ATTRS_WORDS = frozenset(
    {
        *("auto_attribs", "slots", "frozen", "kw_only", "repr"),
        *("eq", "order", "hash", "unsafe_hash"),
    }
)


def synthesized(
    view: View, owner: View, lineage: Lineage, decorator: str
) -> tuple[Parameter, ...] | None:
    """The constructor that a decorator makes; None where that is not certain.

    Args:
        view: the class that is called.
        owner: the class that is decorated, itself or a base.
        lineage: of the class.
        decorator: its name, as it is written.
    """
    found = owner.names.in_scope(owner, decorator)
    path = found[0].path if found else ""
    if path == "dataclasses.dataclass":
        return _dataclass(view, lineage)
    if path.split(".")[0] in {"attr", "attrs"} and owner is view and len(lineage.classes) == 1:
        last = decorator.rpartition(".")[2]
        words = owner.definition.decorators[0].keywords
        annotated = words.get("auto_attribs") == "True"
        return _attrs(view) if annotated or last in {"define", "frozen", "mutable"} else None
    return None


def _dataclass(view: View, lineage: Lineage) -> tuple[Parameter, ...] | None:
    """What :func:`dataclasses.dataclass` makes of the fields of a class and its bases."""
    if any(each not in PLAIN for each in lineage.known):
        return None
    made: dict[str, Parameter | None] = {}
    for owner in reversed(lineage.classes):
        words = next(
            (
                each.keywords
                for each in owner.definition.decorators
                if each.name.rpartition(".")[2] == "dataclass"
            ),
            None,
        )
        body = owner.definition.body
        if body is None or (words is None and body.fields and owner is not view):
            # A base that is no dataclass gives no fields, though it annotates.
            if body is None:
                return None
            continue
        if words is None:
            continue
        if words.get("init", "True") != "True" or "**" in words or _conditional(owner):
            return None
        alone = words.get("kw_only", "False") == "True"
        for each in body.fields:
            if each.annotation.rpartition(".")[2] == "KW_ONLY":
                alone = True
                continue
            if _class_variable(each):
                continue
            if "**" in each.keywords:
                return None
            word_only = each.keywords.get("kw_only", str(alone)) == "True"
            skipped = each.call in _DATACLASS_FIELDS and each.keywords.get("init") == "False"
            made[each.name] = (
                None
                if skipped
                else field_of(each, "keyword_only" if word_only else "", _DATACLASS_FIELDS)
            )
    return ordered([each for each in made.values() if each is not None])


def _attrs(view: View) -> tuple[Parameter, ...] | None:
    """What ``attrs.define`` makes of a class without bases."""
    body = view.definition.body
    words = view.definition.decorators[0].keywords
    if body is None or len(view.definition.decorators) > 1 or _conditional(view):
        return None
    if set(words) - _ATTRS_WORDS:
        return None
    annotated = {each.name for each in body.fields}
    for name, ways in body.names.items():
        if name not in annotated and any(word in ways[0].signature for word in ("field(", ".ib(")):
            return None
        if any(each.name.endswith((".default", ".validator")) for each in ways[0].decorators):
            return None
        if name in {"__attrs_pre_init__", "__attrs_init__"}:
            return None
    made = []
    for each in body.fields:
        if _class_variable(each):
            continue
        if "**" in each.keywords:
            return None
        if each.keywords.get("init") == "False":
            continue
        alone = words.get("kw_only") == "True" or each.keywords.get("kw_only") == "True"
        plain = field_of(each, "keyword_only" if alone else "", _ATTRS_FIELDS)
        alias = each.keywords.get("alias", "").strip("'\"")
        made.append(Parameter(alias or each.name.lstrip("_"), plain.kind, plain.required))
    return ordered(made)


def _conditional(owner: View) -> bool:
    """Whether a field is annotated in one branch only."""
    body = owner.definition.body
    if body is None:
        return True
    fields = [body.names[each.name] for each in body.fields if each.name in body.names]
    return any(way.conditional for ways in fields for way in ways)


def _class_variable(given: Field) -> bool:
    text = given.annotation.strip("'\"")
    return text.partition("[")[0].rpartition(".")[2] == "ClassVar"


def field_of(given: Field, kind: str, calls: frozenset[str] = frozenset()) -> Parameter:
    """A field as a parameter.

    Args:
        given: the field.
        kind: of the parameter; empty for one that may be passed by its place.
        calls: what may be called for a default that says more of the field.
    """
    required = not given.default
    if given.call in calls:
        required = not {"default", "default_factory", "factory"} & set(given.keywords)
    word_only = kind == "keyword_only"
    return Parameter(given.name, "keyword_only" if word_only else "positional", required)


def ordered(made: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Keyword-only ones come last, as they do in what is made."""
    plain = [each for each in made if each.kind == "positional"]
    return (*plain, *(each for each in made if each.kind != "positional"))
