"""Constructors that ``dataclasses`` and ``attrs`` generate from the fields of a Python class."""

from __future__ import annotations

from collections.abc import Iterable

from docstow.languages.python.names import DefinitionView, Lineage
from docstow.languages.python.source.facts import Field
from docstow.languages.shared.surface import Parameter

#: Last names of decorators that generate a constructor.
GENERATORS = frozenset({"dataclass", "define", "frozen", "mutable", "s", "attrs", "attributes"})
#: Functions whose call as a default says more of a field.
_DATACLASS_FIELDS = frozenset({"field", "dataclasses.field"})
_ATTRS_FIELDS = frozenset({"field", "attrs.field", "attr.field", "attr.ib", "attr.attrib"})
#: Keywords of ``attrs`` decorators that keep the parameters of the constructor.
_ATTRS_KEYWORDS = frozenset(
    {
        *("auto_attribs", "slots", "frozen", "kw_only", "repr"),
        *("eq", "order", "hash", "unsafe_hash"),
    }
)


def generated_constructor(
    view: DefinitionView, owner: DefinitionView, lineage: Lineage, decorator: str
) -> tuple[Parameter, ...] | None:
    """Return the parameters of a generated constructor; None where they are not certain.

    Args:
        view: the class that is called.
        owner: the class that is decorated, itself or a base.
        lineage: of the class.
        decorator: its name, as it is written.
    """
    found = owner.names.in_scope(owner, decorator)
    path = found[0].path if found else ""
    if path == "dataclasses.dataclass":
        return _dataclass(lineage)
    if path.split(".")[0] in {"attr", "attrs"} and owner is view and len(lineage.classes) == 1:
        is_annotated = owner.definition.decorators[0].keywords.get("auto_attribs") == "True"
        if is_annotated or decorator.rpartition(".")[2] in {"define", "frozen", "mutable"}:
            return _attrs(view)
    return None


def named_tuple(fields: Iterable[Field]) -> tuple[Parameter, ...]:
    """Return the parameters of a ``typing.NamedTuple``."""
    return tuple(_parameter(each) for each in fields)


def _dataclass(lineage: Lineage) -> tuple[Parameter, ...] | None:
    if any(each is not object for each in lineage.standard):
        return None
    found: dict[str, Parameter | None] = {}
    for owner in reversed(lineage.classes):
        body = owner.definition.body
        if body is None:
            return None
        keywords = next(
            (
                each.keywords
                for each in owner.definition.decorators
                if each.name.rpartition(".")[2] == "dataclass"
            ),
            None,
        )
        if keywords is None:
            # The annotations of a base that is no dataclass are no fields.
            continue
        if keywords.get("init", "True") != "True" or "**" in keywords:
            return None
        if _has_conditional_field(owner):
            return None
        keyword_only = keywords.get("kw_only", "False")
        for each in body.fields:
            if each.annotation.rpartition(".")[2] == "KW_ONLY":
                keyword_only = "True"
                continue
            if _is_class_variable(each):
                continue
            if "**" in each.keywords:
                return None
            is_skipped = each.call in _DATACLASS_FIELDS and each.keywords.get("init") == "False"
            is_keyword = each.keywords.get("kw_only", keyword_only) == "True"
            parameter = _parameter(each, _DATACLASS_FIELDS, keyword_only=is_keyword)
            found[each.name] = None if is_skipped else parameter
    return _keyword_only_last(each for each in found.values() if each is not None)


def _attrs(view: DefinitionView) -> tuple[Parameter, ...] | None:
    """Return the parameters of a class without bases."""
    body = view.definition.body
    keywords = view.definition.decorators[0].keywords
    if body is None or len(view.definition.decorators) > 1 or _has_conditional_field(view):
        return None
    if set(keywords) - _ATTRS_KEYWORDS:
        return None
    annotated = {each.name for each in body.fields}
    for name, ways in body.names.items():
        if name not in annotated and any(call in ways[0].signature for call in ("field(", ".ib(")):
            return None
        if any(each.name.endswith((".default", ".validator")) for each in ways[0].decorators):
            return None
        if name in {"__attrs_pre_init__", "__attrs_init__"}:
            return None
    found = []
    for each in body.fields:
        if _is_class_variable(each):
            continue
        if "**" in each.keywords:
            return None
        if each.keywords.get("init") == "False":
            continue
        is_keyword = "True" in (keywords.get("kw_only"), each.keywords.get("kw_only"))
        parameter = _parameter(each, _ATTRS_FIELDS, keyword_only=is_keyword)
        name = each.keywords.get("alias", "").strip("'\"") or each.name.lstrip("_")
        found.append(Parameter(name, parameter.kind, parameter.required))
    return _keyword_only_last(found)


def _has_conditional_field(owner: DefinitionView) -> bool:
    """Return whether a field is annotated in one branch only."""
    body = owner.definition.body
    if body is None:
        return True
    fields = (body.names.get(each.name, ()) for each in body.fields)
    return any(way.conditional for ways in fields for way in ways)


def _is_class_variable(field: Field) -> bool:
    annotation = field.annotation.strip("'\"")
    return annotation.partition("[")[0].rpartition(".")[2] == "ClassVar"


def _parameter(
    field: Field, calls: frozenset[str] = frozenset(), *, keyword_only: bool = False
) -> Parameter:
    """Return a field as a parameter.

    Args:
        field: of a class.
        calls: the functions whose call as a default says more of the field.
        keyword_only: whether it cannot be passed by position.
    """
    required = not field.default
    if field.call in calls:
        required = not {"default", "default_factory", "factory"} & set(field.keywords)
    return Parameter(field.name, "keyword_only" if keyword_only else "positional", required)


def _keyword_only_last(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    return tuple(sorted(parameters, key=lambda each: each.kind != "positional"))
