"""What calls of Python functions and classes may pass, where that is certain.

In doubt the answer is None: a call that is right must never be called wrong.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import replace

from docstow.languages.python.names import (
    DefinitionView,
    Lineage,
    keeps_type,
    member_view,
)
from docstow.languages.python.source.facts import Decorator, Definition, Field, Forward
from docstow.languages.shared.surface import Parameter

#: Decorators that leave a call as it is written, and the modules that may have them.
_HARMLESS = frozenset(
    {
        *("staticmethod", "classmethod", "abstractmethod", "override", "final", "no_type_check"),
        *("lru_cache", "cache", "contextmanager", "asynccontextmanager", "deprecated"),
        *("overload", "type_check_only"),
        # Those of networkx, which exchange arguments.
        *("np_random_state", "py_random_state", "not_implemented_for", "nodes_or_number"),
    }
)
#: networkx's, after which a function takes more keywords where one of them is ``backend``.
_DISPATCHING = "_dispatchable"
_HARMLESS_MODULES = frozenset(
    {"", "abc", "typing", "typing_extensions", "t", "functools", "contextlib", "warnings"}
    | {"nx", "nx.utils"}
)
_CONSTRUCTORS = frozenset({"__init__", "__new__"})
_ENCODING = Forward((("JSONEncoder", "", ""),), instead="cls")
_DECODING = Forward((("JSONDecoder", "", ""),), instead="cls")
#: What the event loop takes that connects, and that serves.
_CONNECTING = frozenset(
    {
        *("all_errors", "family", "flags", "happy_eyeballs_delay", "host", "interleave"),
        *("local_addr", "port", "proto", "server_hostname", "sock", "ssl"),
        *("ssl_handshake_timeout", "ssl_shutdown_timeout", "path", "unix"),
    }
)
_SERVING = frozenset(
    {
        *("backlog", "cleanup_socket", "family", "flags", "keep_alive", "path", "reuse_address"),
        *("reuse_port", "sock", "ssl", "ssl_handshake_timeout", "ssl_shutdown_timeout"),
        *("start_serving", "unix"),
    }
)
#: Where functions hand further keywords on, of which neither stubs nor code tell.
_KNOWN_FORWARDS = {
    "websockets.asyncio.client.connect.__init__": Forward(
        (), taken=_CONNECTING | {f"proxy_{each}" for each in _CONNECTING}
    ),
    "websockets.asyncio.server.serve": Forward((), taken=_SERVING),
    "websockets.asyncio.server.serve.__init__": Forward((), taken=_SERVING),
    "json.dump": _ENCODING,
    "json.dumps": _ENCODING,
    "json.load": _DECODING,
    "json.loads": _DECODING,
    # What is no known action may take more.
    "argparse._ActionsContainer.add_argument": Forward((), instead="action"),
}
#: ``**options: Unpack[Options]``
_UNPACK = re.compile(r"\*\*\w+: (?:\w+\.)*Unpack\[['\"]?([\w.]+)['\"]?\]")
#: Decorators that warn of arguments by position: ``deprecate_nonkeyword_arguments``.
_DEPRECATES = re.compile(r"deprecat\w*_(?:non_?keyword|positional)\w*$")
_RETURNED_NAME = re.compile(r"->\s*['\"]?(?:\w+\.)*(\w+)")
#: Calls in a row that pass their keywords on.
_MOST_FORWARDS = 8
#: Last names of decorators that generate a constructor.
_GENERATORS = frozenset({"dataclass", "define", "frozen", "mutable", "s", "attrs", "attributes"})
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


def call_parameters(
    view: DefinitionView, within: DefinitionView | None = None, depth: int = 0
) -> tuple[Parameter, ...] | None:
    """Return what a call may pass; None where that is not certain.

    Args:
        view: a function or class.
        within: the class of which a method is called, where it is known.
        depth: how many calls have passed their keywords on to it.
    """
    definition = view.definition
    # In other branches, another file or base may define it.
    if view.is_ambiguous or definition.conditional:
        return None
    if definition.kind == "class":
        return _constructor_parameters(view, depth)
    if definition.kind != "function" or definition.parameters is None:
        return None
    given = _without_receiver(view, definition.parameters)
    if not given or given[-1].kind != "var_keyword":
        return given
    if definition.overloads:
        return _with_keywords(given, _overload_keywords(view))
    return _with_keywords(given, _forwarded_keywords(view, within, depth))


def undecorated_parameters(
    view: DefinitionView, within: DefinitionView | None = None
) -> tuple[Parameter, ...] | None:
    """Return what a function takes without the decorators that may take more.

    None where there are none, or one that is not found.
    """
    changing = changing_decorators(view)
    if not changing or any(found is None for _, found in changing):
        return None
    kept = tuple(
        each for each in view.definition.decorators if all(each is not e for e, _ in changing)
    )
    plain = replace(view.definition, decorators=kept)
    return call_parameters(replace(view, definition=plain), within)


def changing_decorators(view: DefinitionView) -> list[tuple[Decorator, DefinitionView | None]]:
    """Return the decorators of a function that may change what it takes, with what they are.

    None is for one that is not found.
    """
    found: list[tuple[Decorator, DefinitionView | None]] = []
    for each in view.definition.decorators:
        module, _, last = each.name.rpartition(".")
        if last not in _HARMLESS or module not in _HARMLESS_MODULES:
            made = view.find(each.name) if each.name else None
            found.append((each, made if isinstance(made, DefinitionView) else None))
    return found


def written_parameters(view: DefinitionView) -> tuple[Parameter, ...] | None:
    """Return what is written of what a function takes besides any further keywords.

    None where it takes no others, or a decorator may change them.
    """
    given = _without_receiver(view, view.definition.parameters or ())
    return given[:-1] if given and given[-1].kind == "var_keyword" else None


def call_overloads(view: DefinitionView) -> tuple[tuple[Parameter, ...], ...]:
    """Return what each overload may pass; nothing without overloads or where one is uncertain."""
    if view.is_ambiguous or view.definition.conditional:
        return ()
    if view.definition.kind == "class":
        lineage = view.names.lineage(view)
        constructor = None if lineage.call_doubt else _constructor(lineage)
        return call_overloads(constructor) if constructor is not None else ()
    if is_dispatched(view):
        return _dispatched(view)
    forward = _forward_of(view)
    if forward is not None and forward.instead:
        return _with_and_without(view, forward)
    found = [_without_receiver(view, each) for each in view.definition.overloads]
    certain = tuple(each for each in found if each is not None)
    return certain if len(certain) == len(found) else ()


def _forward_of(view: DefinitionView) -> Forward | None:
    return view.definition.forward or _KNOWN_FORWARDS.get(view.path)


def is_dispatched(view: DefinitionView) -> bool:
    """Return whether a function of networkx may be one of another backend."""
    return any(map(_is_dispatching, view.definition.decorators))


def _is_dispatching(decorator: Decorator) -> bool:
    return decorator.name.rpartition(".")[2] == _DISPATCHING


def _dispatched(view: DefinitionView) -> tuple[tuple[Parameter, ...], ...]:
    """Return what a function of networkx takes without another backend, and with one."""
    kept = tuple(e for e in view.definition.decorators if not _is_dispatching(e))
    plain = call_parameters(replace(view, definition=replace(view.definition, decorators=kept)))
    if plain is None:
        return ()
    named = [each for each in plain if each.kind != "var_keyword"]
    backend = Parameter("backend", "keyword_only", required=True)
    return plain, (*named, backend, Parameter("options", "var_keyword", required=False))


def varies(view: DefinitionView) -> bool:
    """Return whether what a function takes depends on one of its arguments."""
    forward = _forward_of(view)
    return is_dispatched(view) or (forward is not None and forward.instead != "")


def _with_and_without(view: DefinitionView, forward: Forward) -> tuple[tuple[Parameter, ...], ...]:
    """Return what a function takes without the argument that its keywords go to, and with it."""
    usual = replace(view.definition, forward=replace(forward, instead=""), overloads=())
    plain = call_parameters(replace(view, definition=usual))
    written = _without_receiver(view, view.definition.parameters or ())
    if plain is None or written is None:
        return ()
    is_given = [replace(e, required=e.required or e.name == forward.instead) for e in written]
    return tuple(each for each in plain if each.name != forward.instead), tuple(is_given)


def _without_receiver(
    view: DefinitionView, given: tuple[Parameter, ...]
) -> tuple[Parameter, ...] | None:
    """Return parameters without ``self`` or ``cls``; None where a decorator may change them."""
    names = set()
    for each in view.definition.decorators:
        module, _, last = each.name.rpartition(".")
        names.add(last)
        is_harmless = last in _HARMLESS and module in _HARMLESS_MODULES
        if not is_harmless and not keeps_type(view, each):
            return None
        if _DEPRECATES.search(each.name):
            # It warns of what is still taken by position.
            given = tuple(
                replace(one, kind="positional") if one.kind == "keyword_only" else one
                for one in given
            )
    if given and given[-1].kind == "var_keyword" and (keys := _unpacked_keywords(view)):
        given = (*given[:-1], *keys)
    if view.owner is None or "staticmethod" in names:
        return given
    if given and given[0].name != "self" and view.names.lineage(view.owner).is_interface:
        return given  # It describes what others have: without ``self``.
    if given and given[0].kind in {"positional", "positional_only"}:
        return given[1:]
    return given if given and given[0].kind == "var_positional" else None


# -- keywords in place of ``**kwargs`` ---------------------------------------------------------


def _with_keywords(
    given: tuple[Parameter, ...], keywords: Iterable[Parameter] | None
) -> tuple[Parameter, ...]:
    """Return parameters with keywords in place of the last, which takes any; as given for None."""
    if keywords is None:
        return given
    names = {each.name for each in given}
    return (*given[:-1], *(each for each in keywords if each.name not in names))


def _named(parameters: Iterable[Parameter]) -> list[str]:
    """Return the names of the parameters that may be passed by name."""
    return [each.name for each in parameters if each.kind in {"positional", "keyword_only"}]


def _optional(names: Iterable[str]) -> list[Parameter]:
    return [Parameter(each, "keyword_only", required=False) for each in names]


def _overload_keywords(view: DefinitionView) -> list[Parameter] | None:
    """Return the keywords of all overloads; None where one takes any."""
    every = [each for overload in view.definition.overloads for each in overload]
    if any(each.kind == "var_keyword" for each in every):
        return None
    taken = view.definition.forward.taken if view.definition.forward else ()
    return _optional(sorted({*_named(every), *taken}))


def _forwarded_keywords(
    view: DefinitionView, within: DefinitionView | None, depth: int
) -> list[Parameter] | None:
    """Return the keywords of the calls that receive all further ones; None where unclear."""
    return _keywords_of(view, _forward_of(view), within, depth)


def _keywords_of(
    view: DefinitionView, forward: Forward | None, within: DefinitionView | None, depth: int
) -> list[Parameter] | None:
    if forward is None or forward.instead or depth > _MOST_FORWARDS:
        return None
    names: dict[str, None] = {}
    for target, maker, given in forward.targets:
        found = _forward_target(view, target, maker, within)
        if found is None:
            return None
        taken = (
            _keys_of(*found, int(given), depth + 1) if given else call_parameters(*found, depth + 1)
        )
        if taken is None or any(each.kind == "var_keyword" for each in taken):
            return None
        names |= dict.fromkeys(_named(taken))
    return _optional([*names, *sorted(forward.taken.difference(names))])


def _keys_of(
    view: DefinitionView, within: DefinitionView | None, number: int, depth: int
) -> list[Parameter] | None:
    """Return the keywords that a function makes of a parameter, which is a dictionary of them."""
    given = _without_receiver(view, view.definition.parameters or ())
    if view.is_ambiguous or view.definition.conditional or not given or number >= len(given):
        return None
    forward = dict(view.definition.unpacked).get(given[number].name)
    is_plain = all(each.kind in {"positional", "positional_only"} for each in given[: number + 1])
    return _keywords_of(view, forward, within, depth) if is_plain else None


def _unpacked_keywords(view: DefinitionView) -> tuple[Parameter, ...] | None:
    """Return the keys of the typed dictionary in ``**options: Unpack[Options]``."""
    names = set(_UNPACK.findall(view.definition.signature.rpartition("\n")[2]))
    if len(names) != 1:
        return None
    found = view.find(names.pop())
    if not isinstance(found, DefinitionView) or found.definition.kind != "class":
        return None
    if found.is_ambiguous:
        return None
    lineage = found.names.lineage(found)
    keys = _typed_dict_keys(lineage) if _is_typed_dict(lineage) else None
    # A dictionary without keys is there to deprecate keywords that are still taken.
    return keys or None


def _is_typed_dict(lineage: Lineage) -> bool:
    bodies = [each.definition.body for each in lineage.classes]
    if not bodies or not all(body is not None and not body.has_called_base for body in bodies):
        return False
    bases = bodies[-1].bases if bodies[-1] is not None else ()
    return [each.rpartition(".")[2] for each in bases] == ["TypedDict"]


def _typed_dict_keys(lineage: Lineage) -> tuple[Parameter, ...] | None:
    """Return the keys of a typed dictionary as keywords; None where they are not all seen."""
    # It is there for type checkers alone: a compiled module adds nothing.
    if lineage.seen.and_also(lineage.on_instances).reason:
        return None
    bodies = (each.definition.body for each in lineage.classes)
    names = (each.name for body in bodies if body is not None for each in body.fields)
    return tuple(_optional(dict.fromkeys(names)))


# -- the target of forwarded keywords ----------------------------------------------------------


def _forward_target(
    view: DefinitionView, target: str, maker: str, within: DefinitionView | None
) -> tuple[DefinitionView, DefinitionView | None] | None:
    """Return what receives the keywords of a function, and the class of which it is called.

    None where that is not certain.

    Args:
        view: the function.
        target: what the function calls, dotted.
        maker: the class whose instance that begins with, if it does.
        within: the class whose method or constructor is called, which may inherit the function.
    """
    first, _, name = target.partition(".")
    if first == "super()":
        return _super_method(view, name, within)
    if first.startswith("super("):
        # Of the class itself that is the same; of another it begins further above.
        is_own = view.owner is not None and first == f"super({view.owner.definition.name})"
        return _super_method(view, name, within) if is_own else None
    if view.owner is not None and first in {"self", "cls"}:
        if within is None or "." in name or (not name and first == "self"):
            return None
        return _method(within, name) if name else (within, None)
    found = replace(view, owner=None).find(maker or target)
    if not isinstance(found, DefinitionView):
        return None
    if maker:
        is_instance = found.definition.kind == "class" and _enters_itself(found)
        return _method(found, name) if is_instance else None
    return (found, None) if found.path != view.path else None


def _method(owner: DefinitionView, name: str) -> tuple[DefinitionView, DefinitionView] | None:
    found = owner.member(name)
    is_certain = isinstance(found, DefinitionView) and not owner.names.lineage(owner).call_doubt
    return (found, owner) if isinstance(found, DefinitionView) and is_certain else None


def _super_method(
    view: DefinitionView, name: str, within: DefinitionView | None
) -> tuple[DefinitionView, DefinitionView] | None:
    """Return a method of ``super()``, by the order of the bases of the class that is called."""
    if within is None or view.owner is None:
        return None
    lineage = within.names.lineage(within)
    paths = [each.path for each in lineage.classes]
    if lineage.call_doubt or view.owner.path not in paths:
        return None
    for owner in lineage.classes[paths.index(view.owner.path) + 1 :]:
        body = owner.definition.body
        if body is None:
            return None
        if ways := body.names.get(name):
            return member_view(owner, ways[0], is_ambiguous=len(ways) > 1), within
    return None


def _enters_itself(manager: DefinitionView) -> bool:
    """Return whether ``with`` binds the very object, unless its class says otherwise."""
    found = manager.member("__enter__")
    if not isinstance(found, DefinitionView):
        return True
    returned = _RETURNED_NAME.search(found.definition.signature)
    return returned is None or returned[1] in {"Self", manager.definition.name}


# -- constructors ------------------------------------------------------------------------------


def _constructor_parameters(view: DefinitionView, depth: int) -> tuple[Parameter, ...] | None:
    lineage = view.names.lineage(view)
    if _is_typed_dict(lineage):
        keys = _typed_dict_keys(lineage)
        # A mapping may come first, whose keys are not known.
        mapping = Parameter("values", "positional_only", required=False)
        return (mapping, *keys) if keys is not None else None
    if lineage.call_doubt or any(issubclass(each, enum.Enum) for each in lineage.standard):
        return None
    for owner in lineage.classes:
        body = owner.definition.body
        if body is not None and not _CONSTRUCTORS.isdisjoint(body.names):
            constructor = _constructor(lineage)
            return call_parameters(constructor, view, depth) if constructor is not None else None
        for each in owner.definition.decorators:
            if each.name.rpartition(".")[2] in _GENERATORS:
                return _generated_constructor(view, owner, lineage, each.name)
        if body is None or body.keywords:
            return None
        if body.bases in {("NamedTuple",), ("typing.NamedTuple",)}:
            return _named_tuple_parameters(body.fields)
    return () if all(each is object for each in lineage.standard) else None


def _constructor(lineage: Lineage) -> DefinitionView | None:
    """Return the ``__init__`` or ``__new__`` of a class; None where it has both or several.

    A ``__new__`` that takes anything and makes an instance of its own class leaves what is passed
    to ``__init__``.
    """
    found = [
        (owner, name, owner.definition.body.names[name])
        for owner in lineage.classes
        for name in sorted(_CONSTRUCTORS)
        if owner.definition.body and name in owner.definition.body.names
    ]
    if any(name == "__init__" for _, name, _ in found):
        found = [each for each in found if each[1] == "__init__" or not _leaves_all(*each)]
    bodies = (each.definition.body for each in lineage.classes)
    # A call of an enumeration looks a member up, or makes another: its metaclass takes it.
    is_enum = any(each is not None and "Enum" in each.metaclass for each in bodies)
    if is_enum or len({name for _, name, _ in found}) != 1:
        return None
    owner, _, ways = found[0]
    if len(ways) > 1 or ways[0].kind != "function" or ways[0].conditional:
        return None
    return replace(member_view(owner, ways[0]), is_ambiguous=False)


def _leaves_all(owner: DefinitionView, name: str, ways: tuple[Definition, ...]) -> bool:
    """Return whether a ``__new__`` passes its class's own instance, and all else, on.

    It has no parameters but its class, ``*args`` and ``**kwargs``.
    """
    kinds = [each.kind for each in ways[0].parameters or ()] if len(ways) == 1 else []
    returned = _RETURNED_NAME.search(ways[0].signature)
    is_own = returned is not None and returned[1] in {"Self", owner.definition.name}
    return name == "__new__" and is_own and kinds[1:] == ["var_positional", "var_keyword"]


def _generated_constructor(
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


def _named_tuple_parameters(fields: Iterable[Field]) -> tuple[Parameter, ...]:
    """Return the parameters of a ``typing.NamedTuple``."""
    return tuple(_field_parameter(each) for each in fields)


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
            parameter = _field_parameter(each, _DATACLASS_FIELDS, keyword_only=is_keyword)
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
        parameter = _field_parameter(each, _ATTRS_FIELDS, keyword_only=is_keyword)
        name = each.keywords.get("alias", "").strip("'\"") or each.name.lstrip("_")
        found.append(replace(parameter, name=name))
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


def _field_parameter(
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
