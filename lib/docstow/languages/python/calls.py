"""How a Python function or class is called, where that is certain.

This room knows what decorators and bases do to a call. It does not know how an answer looks. In
doubt it says None: a call that is right must never be called wrong.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import replace

from docstow.languages.python.names import Lineage, View, keeps, nearest, view_step
from docstow.languages.python.source.facts import Field
from docstow.languages.shared.surface import Parameter

# What decorators make of the fields of a Python class


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


# Where the further keywords of a Python function go


_RETURNS = re.compile(r"->\s*['\"]?(?:\w+\.)*(\w+)")


def target(view: View, within: View | None) -> tuple[View, View | None] | None:
    """What gets the keywords, and the class it is asked of; None where that is not certain.

    Args:
        view: a function.
        within: the class whose method or constructor is called, which may inherit the function.
    """
    given = view.definition.forwards
    if given is None:
        return None
    first, _, name = given.target.partition(".")
    if first == "super()":
        return _above(view, name, within)
    if view.owner is not None and first in {"self", "cls"}:
        if within is None or "." in name or (not name and first == "self"):
            return None
        return _method(within, name) if name else (within, None)
    outer = replace(view, owner=None)
    if given.maker:
        maker = nearest(view.names.in_scope(outer, given.maker), view)
        same = isinstance(maker, View) and maker.definition.kind == "class" and _enters(maker)
        return _method(maker, name) if isinstance(maker, View) and same else None
    found = nearest(view.names.in_scope(outer, given.target), view)
    return (found, None) if isinstance(found, View) and found.path != view.path else None


def _method(owner: View, name: str) -> tuple[View, View | None] | None:
    lineage = owner.names.lineage(owner)
    found = nearest(view_step(owner, name), owner)
    certain = isinstance(found, View) and not lineage.blurred
    return (found, owner) if isinstance(found, View) and certain else None


def _above(view: View, name: str, within: View | None) -> tuple[View, View | None] | None:
    """What ``super()`` has, by the order of the bases of the class that is really asked."""
    if within is None or view.owner is None:
        return None
    lineage = within.names.lineage(within)
    places = [each.path for each in lineage.classes]
    if lineage.blurred or view.owner.path not in places:
        return None
    for owner in lineage.classes[places.index(view.owner.path) + 1 :]:
        body = owner.definition.body
        if body is None:
            return None
        if ways := body.names.get(name):
            path = f"{owner.path}.{name}"
            several = len(ways) > 1 or owner.several
            found = View(owner.names, owner.module, owner.layer, path, ways[0], several, owner)
            return found, within
    return None


def _enters(maker: View) -> bool:
    """Whether ``with`` gives the very object, as far as its class tells otherwise."""
    found = nearest(view_step(maker, "__enter__"), maker)
    if not isinstance(found, View):
        return True
    given = _RETURNS.search(found.definition.signature)
    return given is None or given[1] in {"Self", maker.definition.name}


#: Decorators that leave a call as it is written.
_PLAIN = frozenset(
    {
        *("staticmethod", "classmethod", "abstractmethod", "override", "final", "no_type_check"),
        *("lru_cache", "cache", "contextmanager", "asynccontextmanager", "deprecated"),
        *("overload", "type_check_only"),
    }
)


_PLAIN_MODULES = frozenset(
    {"", "abc", "typing", "typing_extensions", "t", "functools", "contextlib", "warnings"}
)


#: Calls in a row that pass their keywords on.
_DEEPEST = 8


def parameters(
    view: View, within: View | None = None, depth: int = 0
) -> tuple[Parameter, ...] | None:
    """What a call of it may pass; None where that is not certain.

    Args:
        view: a function or class.
        within: the class that a method is asked of, where it is known.
        depth: how many calls have passed their keywords on to it.
    """
    # Where it is bound in one branch only, another file or base may answer in the others.
    if view.several or view.definition.conditional:
        return None
    if view.definition.kind == "class":
        return _constructor(view, depth)
    if view.definition.kind != "function" or view.definition.parameters is None:
        return None
    given = _received(view, view.definition.parameters)
    if given and given[-1].kind == "var_keyword" and view.definition.overloads:
        return _told(view, given)
    return _forwarded(view, given, within, depth) if given else given


def overloads(view: View) -> tuple[tuple[Parameter, ...], ...]:
    """What each overload of it may pass; empty where there are none or that is not certain."""
    if view.several or view.definition.conditional:
        return ()
    if view.definition.kind == "class":
        lineage = view.names.lineage(view)
        maker = None if lineage.blurred else _maker(lineage)
        return overloads(maker) if maker is not None else ()
    found = [_received(view, each) for each in view.definition.overloads]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else ()


def _received(view: View, given: tuple[Parameter, ...]) -> tuple[Parameter, ...] | None:
    """Parameters of a function without its receiver, unless a decorator may change them."""
    parts = [each.name.rpartition(".") for each in view.definition.decorators]
    plain = (last in _PLAIN and module in _PLAIN_MODULES for module, _, last in parts)
    above = zip(plain, view.definition.decorators, strict=True)
    if not all(is_plain or keeps(view, each) for is_plain, each in above):
        return None
    given = _unpacked(view, given)
    names = {last for _, _, last in parts}
    if view.owner is None or "staticmethod" in names:
        return given
    if given and given[0].kind in {"positional", "positional_only"}:
        return given[1:]
    return given if given and given[0].kind == "var_positional" else None


def _told(view: View, given: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """With the words of all overloads in place of any name, where each overload says its words."""
    every = [each for one in view.definition.overloads for each in one]
    if any(each.kind == "var_keyword" for each in every):
        return given
    words = {each.name for each in every if each.kind in {"positional", "keyword_only"}}
    words |= view.definition.forwards.taken if view.definition.forwards else set()
    known = {each.name for each in given}
    more = [Parameter(each, "keyword_only", required=False) for each in sorted(words - known)]
    return (*given[:-1], *more)


def _forwarded(
    view: View, given: tuple[Parameter, ...], within: View | None, depth: int
) -> tuple[Parameter, ...]:
    """With the words of what gets all further keywords, in place of any name."""
    passed = view.definition.forwards
    if passed is None or given[-1].kind != "var_keyword" or depth > _DEEPEST:
        return given
    found = target(view, within)
    taken = parameters(*found, depth + 1) if found is not None else None
    if taken is None or any(each.kind == "var_keyword" for each in taken):
        return given
    words = [each.name for each in taken if each.kind in {"positional", "keyword_only"}]
    known = {each.name for each in given}
    more = sorted({*passed.taken} - {*words})
    made = [Parameter(each, "keyword_only", required=False) for each in (*words, *more)]
    return (*given[:-1], *(each for each in made if each.name not in known))


def _constructor(view: View, depth: int = 0) -> tuple[Parameter, ...] | None:
    lineage = view.names.lineage(view)
    if _is_typed_dict(lineage):
        return keys(lineage)
    if lineage.blurred or any(issubclass(each, enum.Enum) for each in lineage.known):
        return None
    for owner in lineage.classes:
        body = owner.definition.body
        if body is not None and not _MAKING.isdisjoint(body.names):
            maker = _maker(lineage)
            return parameters(maker, view, depth) if maker is not None else None
        names = [each.name for each in owner.definition.decorators]
        for each in names:
            if each.rpartition(".")[2] in _MAKERS:
                return synthesized(view, owner, lineage, each)
        if body is None or body.keywords:
            return None
        if body.bases[:1] in {("NamedTuple",), ("typing.NamedTuple",)} and len(body.bases) == 1:
            return ordered([field_of(each, "") for each in body.fields])
    return () if all(each in PLAIN for each in lineage.known) else None


#: ``**options: Unpack[Options]``
_UNPACKED = re.compile(r"\*\*\w+: (?:\w+\.)*Unpack\[['\"]?([\w.]+)['\"]?\]")


def _unpacked(view: View, given: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """With the keys of a typed dictionary in place of what may have any name."""
    lines = view.definition.signature.split("\n")
    names = set(_UNPACKED.findall(lines[-1]))
    if len(names) != 1 or given[-1:] == () or given[-1].kind != "var_keyword":
        return given
    found = nearest(view.names.in_scope(view, names.pop()), view)
    if not isinstance(found, View) or found.definition.kind != "class" or found.several:
        return given
    lineage = found.names.lineage(found)
    words = keys(lineage) if _is_typed_dict(lineage) else None
    # One without keys is there to warn of words that are taken nevertheless.
    return (*given[:-1], *words[1:]) if words and words[1:] else given


def _is_typed_dict(lineage: Lineage) -> bool:
    """Whether a class is a dictionary of which the annotations say the keys."""
    bodies = [each.definition.body for each in lineage.classes]
    plain = all(body is not None and not body.made for body in bodies)
    last = bodies[-1] if bodies else None
    bases = last.bases if last is not None else ()
    return plain and [each.rpartition(".")[2] for each in bases] == ["TypedDict"]


def keys(lineage: Lineage) -> tuple[Parameter, ...] | None:
    """The keys of a typed dictionary, as words of a call; None where they are not all seen."""
    found: dict[str, Parameter] = {}
    for owner in lineage.classes:
        body = owner.definition.body
        if body is None or lineage.unknown:
            return None
        for each in body.fields:
            found.setdefault(each.name, Parameter(each.name, "keyword_only", required=False))
    # A mapping may come first, and what it has is not known.
    return (Parameter("values", "positional_only", required=False), *found.values())


_MAKING = frozenset({"__init__", "__new__"})


#: Last names of decorators that make a constructor.
_MAKERS = frozenset({"dataclass", "define", "frozen", "mutable", "s", "attrs", "attributes"})


def _maker(lineage: Lineage) -> View | None:
    """The ``__init__`` or ``__new__`` that answers, if it alone does."""
    makers = [
        (owner, name, owner.definition.body.names[name])
        for owner in lineage.classes
        for name in sorted(_MAKING)
        if owner.definition.body and name in owner.definition.body.names
    ]
    bodies = (each.definition.body for each in lineage.classes)
    enumerating = any(each is not None and "Enum" in each.metaclass for each in bodies)
    # Enumerations are called for a member, or to make another: their metaclass takes the call.
    if enumerating or len({name for _, name, _ in makers}) != 1:
        return None
    owner, name, ways = makers[0]
    if len(ways) > 1 or ways[0].kind != "function" or ways[0].conditional:
        return None
    return View(
        owner.names, owner.module, owner.layer, f"{owner.path}.{name}", ways[0], owner=owner
    )
