"""Types of Node packages, evaluated with their arguments as far as that is certain.

Unions, intersections, inheritance, conditions and type arguments are followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product

from docstow.languages.typescript.globals import Globals
from docstow.languages.typescript.names import NodeNames, Space, Thing
from docstow.languages.typescript.source.model import Declaration
from docstow.languages.typescript.source.types import (
    EMPTY_TYPES,
    ArrayType,
    Conditional,
    IndexedAccess,
    Intersection,
    LiteralType,
    MappedType,
    Member,
    ObjectType,
    Primitive,
    Signature,
    ThisType,
    Type,
    TypeParameter,
    TypeReference,
    Union,
)
from docstow.languages.typescript.value_kinds import UNKNOWN, Held, Kind, Kinds, Setting

# Where a name of a type leads from the place where it is written.


class NodeScopes:
    """Finds what is meant.

    Args:
        names: how names are looked up in files.
        globals_: what is global.
    """

    def __init__(self, names: NodeNames, globals_: Globals) -> None:
        self.names = names
        self.globals = globals_

    def meant(self, ref: TypeReference, space: Space) -> tuple[Thing | None, tuple[str, ...]]:
        """What the first of a reference's names means, and the names behind it."""
        if ref.module:
            module = self.names.module(ref.module, space.unit)
            return (Thing(spaces=(module,)) if module is not None else None), ref.path
        first, *rest = ref.path
        thing = self._local(space, first)
        if rest and thing is not None and not _is_space(thing):
            thing = self._global_space(space, first) or thing
        elif thing is None or is_spread(thing):
            thing = self.globals.thing(first) or thing
        return thing, tuple(rest)

    def qualified(self, thing: Thing, name: str) -> Thing | None:
        """A name behind that of a namespace."""
        found: Thing | None = None
        spaces = [space.inner(each.scope) for space, each in thing.declared if each.scope]
        for space in (*spaces, *thing.spaces):
            more = self.names.export(space, name)
            if more is not None:
                found = found.merged(more) if found is not None else more
        return found

    def names_all(self, body: ObjectType, space: Space) -> bool:
        """Whether all constants that name members are symbols, which name none."""
        for name in body.computed:
            thing = self._local(space, name)
            told = [
                each.unit.source.body[declaration.span.start : declaration.span.end]
                for each, declaration in (thing.declared if thing is not None else ())
            ]
            if not told or not all(b"unique symbol" in each for each in told):
                return False
        return True

    def _local(self, space: Space, name: str) -> Thing | None:
        """What a name means where it is written; of a block that adds to a module, all of it."""
        found = self.names.local(space, name)
        source = space.unit.source
        if found is None and any(each is source.ambient_globals for each in space.scopes):
            # A global block stands within one of the file's modules.
            inside = (Space(space.unit, (source.scope, each)) for each in source.ambient.values())
            found = next(filter(None, (self.names.local(each, name) for each in inside)), None)
            found = found or self._elsewhere(space, name)
        if found is not None and space.host is not None:
            hosts = any(each.host is not None for each, _ in found.declared)
            found = found.merged(self.names.local(space.host, name)) if hosts else found
        return found

    def _elsewhere(self, space: Space, name: str) -> Thing | None:
        """A name of a global namespace that another file has a part of."""
        for outer, inner in pairwise(space.scopes):
            for known, declarations in outer.names.items():
                if any(each.scope is inner for each in declarations):
                    whole = self.globals.thing(known)
                    found = self.qualified(whole, name) if whole is not None else None
                    if found is not None:
                        return found
        return None

    def _global_space(self, space: Space, name: str) -> Thing | None:
        """A namespace that is global, where a type of its name is nearer."""
        source = space.unit.source
        found = self.globals.thing(name)
        inside = Space(space.unit, (source.scope, source.ambient_globals))
        own = tuple((inside, each) for each in source.ambient_globals.names.get(name, ()))
        return Thing(own).merged(found) if own else found


def is_spread(thing: Thing) -> bool:
    """Whether other files may have further parts of it."""
    return bool(thing.declared) and all(is_global(space) for space, _ in thing.declared)


def is_global(space: Space) -> bool:
    """Whether a declaration is global, so that any other file may add to it."""
    source = space.unit.source
    if any(each is source.ambient_globals for each in space.scopes):
        return True
    modules = source.ambient.values()
    return not source.module and not any(
        each is scope for each in space.scopes for scope in modules
    )


def _is_space(thing: Thing) -> bool:
    """Whether further names can follow its own."""
    inner = (each.scope is not None or each.kind in ("enum", "class") for _, each in thing.declared)
    return bool(thing.spaces) or thing.unknown or any(inner)


_DEEPEST = 30


#: Terms that are worked out for one question: types that unfold without end are left unknown.
_LONGEST = 1500


_MOST = 24


#: Types of the language that have the members of their first argument, or some of these.
_ALIKE = frozenset(
    {
        *("Partial", "Required", "Readonly", "NonNullable", "NoInfer", "Omit", "Pick"),
        *("Exclude", "Extract"),
    }
)


#: Interfaces of what is written in a word.
_WRAPPED = {
    "string": "String",
    "number": "Number",
    "boolean": "Boolean",
    "bigint": "BigInt",
    "symbol": "Symbol",
}


class NodeValues:
    """Works types out.

    Args:
        names: how names are looked up.
        globals_: what the language and its environment declare.
    """

    def __init__(self, names: NodeNames, globals_: Globals) -> None:
        self.names = names
        self.globals = globals_
        self.scopes = NodeScopes(names, globals_)
        self._kinds: dict[Held, Kinds] = {}
        self._depth = 0
        self._steps = 0

    def forget(self) -> None:
        """Drop what was worked out for one piece of code: the next has other questions."""
        self._kinds.clear()

    def kinds(self, held: Held | None) -> Kinds:
        """What a term may be; nothing for ``void``, ``undefined`` and ``null``."""
        if held is None:
            return UNKNOWN
        if held.term is None or held.setting is None:
            return held.kinds
        if held not in self._kinds:
            self._steps = self._steps + 1 if self._depth else 0
            if self._depth > _DEEPEST or self._steps > _LONGEST:
                return UNKNOWN
            self._kinds[held] = UNKNOWN  # of what refers to itself
            self._depth += 1
            try:
                self._kinds[held] = self._of(held.term, held.setting)[:_MOST] or ()
            finally:
                self._depth -= 1
        return self._kinds[held]

    def member(self, kinds: Kinds, name: str) -> Kinds:
        """What a member may be, of those kinds that have it."""
        found: list[Kind] = []
        for kind in kinds:
            if name in kind.fields:
                found += self._field(kind, name)
                continue
            things = [self.names.export(space, name) for space in kind.spaces]
            known = [each for each in things if each is not None]
            if known:
                found += self.value(known[0])
            elif kind.everything and self.globals.things(name):
                found += self.global_value(name) or UNKNOWN
            elif name in kind.constants or not kind.certain:
                found += UNKNOWN
        return tuple(found[:_MOST]) if len(found) <= _MOST else UNKNOWN

    def has(self, kind: Kind, name: str) -> bool:
        """Whether a kind has a member of that name, or may have."""
        if name in kind.fields or name in kind.constants or not kind.certain:
            return True
        if kind.everything and self.globals.things(name):
            return True
        for space in kind.spaces:
            if not self.names.complete(space) or self.names.export(space, name) is not None:
                return True
        return False

    def awaited(self, kinds: Kinds) -> Kinds:
        """What awaiting a value gives."""
        found: list[Kind] = []
        for kind in kinds:
            if kind.promised is not None:
                found += self.awaited(self.kinds(kind.promised))
            elif "then" in kind.fields or not kind.certain:
                found += UNKNOWN
            else:
                found.append(kind)
        return tuple(found)

    def _field(self, kind: Kind, name: str) -> Iterable[Kind]:
        found = kind.fields[name]
        told = [self.kinds(Held(each.type, setting)) for each, setting in found]
        methods = [every[0] for every in told if len(every) == 1 and every[0].calls]
        if len(methods) < 2:
            return told[0]
        whole = methods[0]
        for each in methods[1:]:
            whole = whole.joined(each)
        return (whole,)

    # -- things ------------------------------------------------------------------------------

    def value(self, thing: Thing | None) -> Kinds:
        """What a name means as a value."""
        if thing is None or thing.unknown or thing.members:
            return UNKNOWN
        found: list[Kinds] = []
        kept = thing.only(types=False)
        for space, declaration in kept.declared:
            found.append(self._value_of(space, declaration, thing))
        for space in kept.spaces:
            found.append((Kind(spaces=[space], name=_short(space)),))
            found += [self.value(whole) for whole in self.names.whole(space)]
        return self._all(found)

    def _value_of(self, space: Space, declaration: Declaration, thing: Thing) -> Kinds:
        if declaration.scope is not None:
            inner = space.inner(declaration.scope)
            return (Kind(spaces=[inner], name=declaration.name, home=_home(space)),)
        if space.unit.source.script or space.scope.dynamic:
            return UNKNOWN
        detail = self.names.read(space, declaration)
        read = detail.type
        if detail.broken:
            return UNKNOWN
        if isinstance(read, ObjectType) and read.form == "enum":
            return (Kind(declaration.name, _home(space), constants=frozenset(read.members)),)
        if isinstance(read, ObjectType) and read.form == "class" and declaration.kind == "class":
            return self._class(space, declaration, read, thing)
        if declaration.kind in ("function", "constant", "value"):
            kinds = self.kinds(Held(read, Setting(space)))
            if declaration.kind == "function":
                for each in kinds:
                    each.name, each.home = declaration.name, _home(space)
            return kinds
        return UNKNOWN

    def _class(
        self, space: Space, declaration: Declaration, body: ObjectType, thing: Thing
    ) -> Kinds:
        """The class itself, whose instances are made of it."""
        setting = Setting(space)
        made = Held(None, None, self.type(thing, ()))
        certain = _is_closed(body) and self.scopes.names_all(body, space)
        kind = Kind(declaration.name, _home(space), certain=certain)
        for name, fields in body.members.items():
            kept = [(each, setting) for each in fields if each.static]
            if kept:
                kind.fields[name] = kept
        kind.news = [(each, setting, made) for each in body.constructors]

        def inherited(above: Kind) -> list[tuple[Signature, Setting, Held | None]]:
            return [] if kind.news else [(call, inside, made) for call, inside, _ in above.news]

        found: list[Kinds] = [(kind,)]
        for base in body.bases:
            above = UNKNOWN
            if isinstance(base, TypeReference):
                above = self._referred(
                    TypeReference(base.path, (), base.module, value=True), setting, None
                )
            own = [replace(each, news=inherited(each)) for each in above]
            found.append(tuple(own))
        return self._all(found)

    def type(self, thing: Thing | None, args: Sequence[Held], this: Held | None = None) -> Kinds:
        """What a name means as a type.

        Args:
            thing: what it leads to.
            args: type arguments.
            this: the value whose base it is; itself, where it is none's.
        """
        if thing is None or thing.unknown or thing.members:
            return UNKNOWN
        kept = thing.only(types=True)
        if not any(
            each.kind in ("class", "interface", "type", "enum") for _, each in kept.declared
        ):
            return UNKNOWN
        whole = Held(None, None)
        found: list[Kinds] = []
        for space, declaration in kept.declared:
            if declaration.kind in ("class", "interface", "type", "enum"):
                found.append(self._instance(space, declaration, args, this or whole))
        kinds = self._all(found)
        if this is None:
            object.__setattr__(whole, "kinds", kinds)
        return kinds

    def _instance(
        self, space: Space, declaration: Declaration, args: Sequence[Held], this: Held
    ) -> Kinds:
        if space.unit.source.script or space.scope.dynamic:
            return UNKNOWN
        detail = self.names.read(space, declaration)
        body, generics = detail.type, detail.type_parameters
        if detail.broken:
            return UNKNOWN
        setting = Setting(space, self.bound(generics, args, space), this)
        if declaration.kind == "type":
            return self._of(body, setting)
        if not isinstance(body, ObjectType):
            return UNKNOWN
        if body.form == "enum":
            return (Kind(declaration.name, _home(space), certain=False),)
        kind = self._body(body, setting)
        kind.name, kind.home = declaration.name, _home(space)
        if declaration.kind == "class":
            kind.news = []
        kind.shared = is_global(space)
        if declaration.name in ("Promise", "PromiseLike") and kind.shared and generics:
            kind.promised = setting.generics.get(generics[0].name)
        if declaration.name in ("Array", "ReadonlyArray") and kind.shared and generics:
            kind.items = (setting.generics[generics[0].name],)
        found: list[Kinds] = [(kind,)]
        found += [
            self._referred(base, setting, this) if isinstance(base, TypeReference) else UNKNOWN
            for base in body.bases
        ]
        return self._all(found)

    def bound(
        self, generics: Sequence[TypeParameter], args: Sequence[Held], space: Space
    ) -> dict[str, Held]:
        """What type parameters stand for: arguments, defaults, or nothing that is known."""
        found: dict[str, Held] = {}
        for index, each in enumerate(generics):
            if index < len(args):
                found[each.name] = args[index]
            elif each.default is not None:
                found[each.name] = Held(each.default, Setting(space, dict(found)))
            else:
                found[each.name] = Held(None, None, UNKNOWN)
        return found

    # -- terms -------------------------------------------------------------------------------

    def _of(self, term: Type, setting: Setting) -> Kinds:
        if isinstance(term, Primitive):
            return self.basic(term.name)
        if isinstance(term, LiteralType):
            kinds = self.global_type(_WRAPPED.get(term.primitive, ""), ())
            return tuple(replace(each, basic=term.primitive, literal=term.value) for each in kinds)
        if isinstance(term, Union):
            parts = [self.kinds(Held(each, setting)) for each in term.parts]
            return tuple(kind for part in parts for kind in part)
        if isinstance(term, Conditional):
            return self._chosen(term, setting)
        if isinstance(term, MappedType):
            return self._mapped(term, setting)
        if isinstance(term, Intersection):
            return self._all(self.kinds(Held(each, setting)) for each in term.parts)
        if isinstance(term, ArrayType):
            items = tuple(Held(each, setting) for each in term.items)
            return self.array(items, fixed=term.fixed)
        if isinstance(term, IndexedAccess):
            of = self.kinds(Held(term.target, setting))
            return self.member(of, term.key) if of else UNKNOWN
        if isinstance(term, ThisType):
            return self.kinds(setting.this)
        if isinstance(term, ObjectType):
            # The types of a value's members are not declared.
            return (self._body(term, setting),) if term.form == "type" else UNKNOWN
        if isinstance(term, TypeReference):
            return self._referred(term, setting, None)
        return UNKNOWN

    def _mapped(self, term: MappedType, setting: Setting) -> Kinds:
        """What has the names of another type."""
        if term.source is None:
            named = self.kinds(Held(term.keys, setting)) if term.keys is not None else ()
            words = [each.literal for each in named if each.literal is not None]
            if not named or len(words) < len(named):
                return UNKNOWN
            return (Kind(constants=frozenset(words)),)
        found = self.kinds(Held(term.source, setting))
        if term.homomorphic:
            return found
        return tuple(
            Kind(constants=each.constants | frozenset(each.fields), certain=each.certain)
            if not each.spaces and not each.basic and each.items is None
            else UNKNOWN[0]
            for each in found
        )

    def _chosen(self, term: Conditional, setting: Setting) -> Kinds:
        """The outcome of a condition, or both where it is not certain."""
        what = self.kinds(Held(term.checked, setting))
        wanted = self.kinds(Held(term.bound, setting))
        holds = _extends(what[0], wanted[0]) if len(what) == len(wanted) == 1 else None
        if len(what) == 1 and what[0].everything:
            # Whether another package declares it as well: then that is one of its meanings.
            holds = False
        if isinstance(term.bound, TypeReference) and term.bound.arguments and holds:
            holds = None
        ends = (
            [term.then]
            if holds
            else [term.otherwise]
            if holds is False
            else [term.then, term.otherwise]
        )
        return tuple(kind for end in ends for kind in self.kinds(Held(end, setting)))

    def basic(self, name: str) -> Kinds:
        """What has a type of the language itself: ``string``, ``void``."""
        if name in EMPTY_TYPES:
            return UNKNOWN if name == "never" else ()
        if name not in _WRAPPED:
            return UNKNOWN
        kinds = self.global_type(_WRAPPED[name], ())
        return tuple(replace(each, basic=name) for each in kinds)

    def array(self, items: tuple[Held, ...], *, fixed: bool = False) -> Kinds:
        """An array of one type, or a tuple."""
        inner = items[0] if len(items) == 1 else Held(None, None, UNKNOWN)
        kinds = self.global_type("Array", (inner,))
        return tuple(replace(each, items=items, fixed=fixed) for each in kinds)

    def global_value(self, name: str) -> Kinds:
        """What a global name is: what any package says that declares it."""
        return tuple(
            kind
            for each in self.globals.things(name)
            if each.only(types=False).declared and _has_value(each)
            for kind in self.value(each)
        )

    def global_type(self, name: str, args: Sequence[Held]) -> Kinds:
        """A type of the language itself; where it is not here, unknown but for its promise."""
        thing = self.globals.thing(name) if name else None
        if thing is not None:
            return self.type(thing, args)
        promised = args[0] if args and name in ("Promise", "PromiseLike") else None
        return (Kind(name, certain=False, promised=promised),)

    def _body(self, body: ObjectType, setting: Setting) -> Kind:
        kind = Kind(certain=_is_closed(body) and self.scopes.names_all(body, setting.space))
        for name, fields in body.members.items():
            kept: list[tuple[Member, Setting]] = [
                (each, setting) for each in fields if not each.static
            ]
            if kept:
                kind.fields[name] = kept
        kind.calls = [(each, setting) for each in body.calls]
        kind.news = [(each, setting, None) for each in body.constructors]
        return kind

    def _referred(self, ref: TypeReference, setting: Setting, this: Held | None) -> Kinds:
        args = tuple(Held(each, setting) for each in ref.arguments)
        alone = ref.path[0] if len(ref.path) == 1 and not ref.module else ""
        if alone and not ref.value and alone in setting.generics:
            return self.kinds(setting.generics[alone])
        if alone == "globalThis" and ref.value:
            return (Kind(everything=True, shared=True),)
        thing, rest = self.scopes.meant(ref, setting.space)
        if ref.value:
            one = not ref.module and thing is not None and is_spread(thing)
            kinds = self.global_value(ref.path[0]) if one else self.value(thing)
            for name in rest:
                kinds = self.member(kinds, name)
            return kinds
        if thing is None and alone:
            return self._of_language(alone, args)
        for name in rest:
            thing = self.scopes.qualified(thing, name) if thing is not None else None
        return self.type(thing, args, this)

    def _of_language(self, name: str, args: Sequence[Held]) -> Kinds:
        """A type that no file of a package declares: one of the language's own."""
        if name in _ALIKE:
            return self.kinds(args[0]) if args else UNKNOWN
        if name == "Awaited" and args:
            return self.awaited(self.kinds(args[0]))
        if name == "ThisType":
            return (Kind(),)
        if name in ("ReturnType", "InstanceType"):
            return self._outcome(name, args)
        return self.global_type(name, args)

    def _outcome(self, name: str, args: Sequence[Held]) -> Kinds:
        """``ReturnType`` and ``InstanceType``."""
        found: list[Kind] = []
        for kind in self.kinds(args[0]) if args else ():
            if name == "ReturnType":
                found += [
                    each
                    for call, setting in kind.calls[-1:]
                    for each in (
                        UNKNOWN if call.type_parameters else self.kinds(Held(call.result, setting))
                    )
                ]
            else:
                found += [each for _, _, made in kind.news[-1:] for each in self.kinds(made)]
        return tuple(found) or UNKNOWN

    def _all(self, parts: Iterable[Kinds]) -> Kinds:
        """Each way to have one kind of every part at once."""
        given = [part for part in parts if part]
        if not given:
            return ()
        count = 1
        for part in given:
            count *= len(part)
        if count > _MOST:
            return UNKNOWN
        found = []
        for chosen in product(*given):
            whole = chosen[0]
            for each in chosen[1:]:
                whole = whole.joined(each)
            found.append(whole)
        return tuple(found)


def _home(space: Space) -> str:
    return space.unit.folder.name


def _short(space: Space) -> str:
    return space.unit.folder.name


def _extends(kind: Kind, wanted: Kind) -> bool | None:
    """Whether a type certainly is a part of another, or certainly none."""
    if kind.literal is not None and wanted.literal is not None:
        return (kind.basic, kind.literal) == (wanted.basic, wanted.literal)
    if kind.basic and wanted.basic:
        return kind.basic == wanted.basic if wanted.literal is None else None
    same = bool(kind.name) and (kind.name, kind.home) == (wanted.name, wanted.home)
    return True if same and not kind.basic else None


def _has_value(thing: Thing) -> bool:
    """Whether it is declared as more than a type."""
    return any(each.kind not in ("interface", "type") for _, each in thing.declared)


def _is_closed(body: ObjectType) -> bool:
    """Whether all members with a name are seen; what numbers and symbols lead to has none."""
    return not body.open and all(each in ("number", "symbol") for each in body.index_keys)
