"""Types of Node packages, evaluated with their arguments as far as that is certain.

Unions, intersections, inheritance, conditions and type arguments are followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod

from docstow.languages.typescript.names import Entity, NameResolver, Namespace
from docstow.languages.typescript.shapes import UNKNOWN, Context, Deferred, Shape, Shapes
from docstow.languages.typescript.source.model import (
    EMPTY_TYPES,
    ArrayType,
    Conditional,
    Declaration,
    IndexedAccess,
    Intersection,
    LiteralType,
    MappedType,
    ObjectType,
    Primitive,
    ThisType,
    Type,
    TypeParameter,
    TypeReference,
    Union,
)
from docstow.languages.typescript.type_names import (
    Globals,
    TypeNameResolver,
    is_global_entity,
    is_global_namespace,
)

#: Types within each other, and types for one question, beyond which the rest is unknown: some
#: unfold without end.
_MAX_DEPTH = 30
_MAX_STEPS = 1500
#: Shapes of one value.
_MAX_SHAPES = 24
_TYPE_KINDS = ("class", "interface", "type", "enum")
#: Types of the language that have the members of their first argument, or some of these.
_TRANSPARENT = frozenset(
    {
        *("Partial", "Required", "Readonly", "NonNullable", "NoInfer", "Omit", "Pick"),
        *("Exclude", "Extract"),
    }
)
#: The interfaces of primitive types.
_WRAPPERS = {
    "string": "String",
    "number": "Number",
    "boolean": "Boolean",
    "bigint": "BigInt",
    "symbol": "Symbol",
}


class TypeEvaluator:
    """Evaluates types to the shapes of their values.

    Args:
        names: resolves names in files.
        globals_: the global declarations.
    """

    def __init__(self, names: NameResolver, globals_: Globals) -> None:
        self.names = names
        self.globals = globals_
        self.type_names = TypeNameResolver(names, globals_)
        self._cache: dict[Deferred, Shapes] = {}
        self._depth = 0
        self._steps = 0

    def forget(self) -> None:
        """Drop the types that were evaluated for one piece of code."""
        self._cache.clear()

    def evaluate(self, deferred: Deferred | None) -> Shapes:
        """Return what a value of a type may be; of None, unknown."""
        if deferred is None:
            return UNKNOWN
        if deferred.type is None or deferred.context is None:
            return deferred.shapes
        if deferred not in self._cache:
            self._steps = self._steps + 1 if self._depth else 0
            if self._depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
                return UNKNOWN
            self._cache[deferred] = UNKNOWN  # while it is evaluated: it may refer to itself
            self._depth += 1
            try:
                self._cache[deferred] = (
                    self._evaluate(deferred.type, deferred.context)[:_MAX_SHAPES] or ()
                )
            finally:
                self._depth -= 1
        return self._cache[deferred]

    def member(self, shapes: Shapes, name: str) -> Shapes:
        """Return what a member may be, of those shapes that have it."""
        found: list[Shape] = []
        for shape in shapes:
            if name in shape.fields:
                found += self._field(shape, name)
                continue
            exports = (self.names.resolve_export(each, name) for each in shape.namespaces)
            entity = next((each for each in exports if each is not None), None)
            if entity is not None:
                found += self.value(entity)
            elif shape.everything and self.globals.find_each(name):
                found += self.global_value(name) or UNKNOWN
            elif name in shape.constants or not shape.certain:
                found += UNKNOWN
        return tuple(found[:_MAX_SHAPES]) if len(found) <= _MAX_SHAPES else UNKNOWN

    def has(self, shape: Shape, name: str) -> bool:
        """Whether a shape has a member of that name, or may have."""
        if name in shape.fields or name in shape.constants or not shape.certain:
            return True
        if shape.everything and self.globals.find_each(name):
            return True
        return any(
            not self.names.is_complete(each) or self.names.resolve_export(each, name) is not None
            for each in shape.namespaces
        )

    def awaited(self, shapes: Shapes) -> Shapes:
        """Return what awaiting a value gives."""
        found: list[Shape] = []
        for shape in shapes:
            if shape.promised is not None:
                found += self.awaited(self.evaluate(shape.promised))
            elif "then" in shape.fields or not shape.certain:
                found += UNKNOWN
            else:
                found.append(shape)
        return tuple(found)

    def _field(self, shape: Shape, name: str) -> Iterable[Shape]:
        found = shape.fields[name]
        evaluated = [self.evaluate(Deferred(each.type, context)) for each, context in found]
        methods = [every[0] for every in evaluated if len(every) == 1 and every[0].calls]
        return (reduce(Shape.merge, methods),) if len(methods) > 1 else evaluated[0]

    def value(self, entity: Entity | None) -> Shapes:
        """Return what a name may be as a value."""
        if entity is None or entity.unknown or entity.members:
            return UNKNOWN
        kept = entity.only(types=False)
        found = [self._declared_value(*each, entity) for each in kept.declared]
        for namespace in kept.namespaces:
            found.append((Shape(namespaces=[namespace], name=namespace.package),))
            found += [self.value(whole) for whole in self.names.assigned_exports(namespace)]
        return self._intersect(found)

    def _declared_value(
        self, namespace: Namespace, declaration: Declaration, entity: Entity
    ) -> Shapes:
        if declaration.scope is not None:
            inner = namespace.inner(declaration.scope)
            return (Shape(namespaces=[inner], name=declaration.name, home=namespace.package),)
        if namespace.file.source.script or namespace.scope.dynamic:
            return UNKNOWN
        detail = self.names.read(namespace, declaration)
        read = detail.type
        if detail.broken:
            return UNKNOWN
        if isinstance(read, ObjectType) and read.form == "enum":
            return (Shape(declaration.name, namespace.package, constants=frozenset(read.members)),)
        if isinstance(read, ObjectType) and read.form == "class" and declaration.kind == "class":
            return self._class_value(namespace, declaration, read, entity)
        if declaration.kind in ("function", "constant", "value"):
            shapes = self.evaluate(Deferred(read, Context(namespace)))
            if declaration.kind == "function":
                name, home = declaration.name, namespace.package
                return tuple(replace(each, name=name, home=home) for each in shapes)
            return shapes
        return UNKNOWN

    def _class_value(
        self, namespace: Namespace, declaration: Declaration, body: ObjectType, entity: Entity
    ) -> Shapes:
        """Return what a class itself may be, with the instances that it makes."""
        context = Context(namespace)
        instance = Deferred(shapes=self.type(entity, ()))
        shape = self._object_shape(body, context, static=True)
        shape.name, shape.home = declaration.name, namespace.package
        shape.constructors = [(each, context, instance) for each in body.constructors]
        found: list[Shapes] = [(shape,)]
        for base in body.bases:
            above = UNKNOWN
            if isinstance(base, TypeReference):
                value = TypeReference(base.path, (), base.module, value=True)
                above = self._evaluate_reference(value, context, None)
            # A constructor replaces the one that would be inherited.
            found.append(
                tuple(
                    replace(
                        each,
                        constructors=[]
                        if shape.constructors
                        else [(call, inside, instance) for call, inside, _ in each.constructors],
                    )
                    for each in above
                )
            )
        return self._intersect(found)

    def type(
        self, entity: Entity | None, arguments: Sequence[Deferred], this: Deferred | None = None
    ) -> Shapes:
        """Return what the values of a type may be.

        Args:
            entity: what its name means.
            arguments: type arguments.
            this: the receiver, if it is evaluated as the base of another type.
        """
        if entity is None or entity.unknown or entity.members:
            return UNKNOWN
        kept = [each for each in entity.only(types=True).declared if each[1].kind in _TYPE_KINDS]
        if not kept:
            return UNKNOWN
        receiver = this or Deferred()
        shapes = self._intersect(self._declared_type(*each, arguments, receiver) for each in kept)
        if this is None:
            receiver.shapes = shapes
        return shapes

    def _declared_type(
        self,
        namespace: Namespace,
        declaration: Declaration,
        arguments: Sequence[Deferred],
        this: Deferred,
    ) -> Shapes:
        if namespace.file.source.script or namespace.scope.dynamic:
            return UNKNOWN
        detail = self.names.read(namespace, declaration)
        body, parameters = detail.type, detail.type_parameters
        if detail.broken:
            return UNKNOWN
        context = Context(namespace, self._bind(parameters, arguments, namespace), this)
        if declaration.kind == "type":
            return self._evaluate(body, context)
        if not isinstance(body, ObjectType):
            return UNKNOWN
        if body.form == "enum":
            return (Shape(declaration.name, namespace.package, certain=False),)
        shape = self._object_shape(body, context)
        shape.name, shape.home = declaration.name, namespace.package
        if declaration.kind == "class":
            shape.constructors = []
        shape.shared = is_global_namespace(namespace)
        if declaration.name in ("Promise", "PromiseLike") and shape.shared and parameters:
            shape.promised = context.bindings.get(parameters[0].name)
        if declaration.name in ("Array", "ReadonlyArray") and shape.shared and parameters:
            shape.items = (context.bindings[parameters[0].name],)
        found: list[Shapes] = [(shape,)]
        found += [
            self._evaluate_reference(base, context, this)
            if isinstance(base, TypeReference)
            else UNKNOWN
            for base in body.bases
        ]
        return self._intersect(found)

    def _bind(
        self,
        parameters: Sequence[TypeParameter],
        arguments: Sequence[Deferred],
        namespace: Namespace,
    ) -> dict[str, Deferred]:
        """Bind type parameters to arguments, defaults, or nothing that is known."""
        found: dict[str, Deferred] = {}
        for index, each in enumerate(parameters):
            if index < len(arguments):
                found[each.name] = arguments[index]
            elif each.default is not None:
                found[each.name] = Deferred(each.default, Context(namespace, dict(found)))
            else:
                found[each.name] = Deferred(shapes=UNKNOWN)
        return found

    def _evaluate(self, type_: Type, context: Context) -> Shapes:
        if isinstance(type_, Primitive):
            return self.primitive(type_.name)
        if isinstance(type_, LiteralType):
            shapes = self.global_type(_WRAPPERS.get(type_.primitive, ""), ())
            return tuple(
                replace(each, basic=type_.primitive, literal=type_.value) for each in shapes
            )
        if isinstance(type_, Union):
            parts = [self.evaluate(Deferred(each, context)) for each in type_.parts]
            return tuple(shape for part in parts for shape in part)
        if isinstance(type_, Conditional):
            return self._evaluate_conditional(type_, context)
        if isinstance(type_, MappedType):
            return self._evaluate_mapped(type_, context)
        if isinstance(type_, Intersection):
            return self._intersect(self.evaluate(Deferred(each, context)) for each in type_.parts)
        if isinstance(type_, ArrayType):
            items = tuple(Deferred(each, context) for each in type_.items)
            return self.array(items, fixed=type_.fixed)
        if isinstance(type_, IndexedAccess):
            of = self.evaluate(Deferred(type_.target, context))
            return self.member(of, type_.key) if of else UNKNOWN
        if isinstance(type_, ThisType):
            return self.evaluate(context.this)
        if isinstance(type_, ObjectType):
            # The types of a value's members are not declared.
            return (self._object_shape(type_, context),) if type_.form == "type" else UNKNOWN
        if isinstance(type_, TypeReference):
            return self._evaluate_reference(type_, context, None)
        return UNKNOWN

    def _evaluate_mapped(self, type_: MappedType, context: Context) -> Shapes:
        if type_.source is None:
            named = self.evaluate(Deferred(type_.keys, context)) if type_.keys is not None else ()
            words = [each.literal for each in named if each.literal is not None]
            if not named or len(words) < len(named):
                return UNKNOWN
            return (Shape(constants=frozenset(words)),)
        found = self.evaluate(Deferred(type_.source, context))
        if type_.homomorphic:
            return found
        return tuple(
            Shape(constants=each.constants | frozenset(each.fields), certain=each.certain)
            if not each.namespaces and not each.basic and each.items is None
            else UNKNOWN[0]
            for each in found
        )

    def _evaluate_conditional(self, type_: Conditional, context: Context) -> Shapes:
        """Return the outcome of a condition, or both where it is not certain."""
        checked = self.evaluate(Deferred(type_.checked, context))
        bound = self.evaluate(Deferred(type_.bound, context))
        holds = _extends(checked[0], bound[0]) if len(checked) == len(bound) == 1 else None
        if len(checked) == 1 and checked[0].everything:
            # It asks whether another package declares a name, which then is one of its meanings.
            holds = False
        if isinstance(type_.bound, TypeReference) and type_.bound.arguments and holds:
            holds = None
        ends = [type_.then] * (holds is not False) + [type_.otherwise] * (not holds)
        return tuple(shape for end in ends for shape in self.evaluate(Deferred(end, context)))

    def primitive(self, name: str) -> Shapes:
        """Return what the values of a primitive type may be: ``string``, ``void``."""
        if name in EMPTY_TYPES:
            return UNKNOWN if name == "never" else ()
        if name not in _WRAPPERS:
            return UNKNOWN
        shapes = self.global_type(_WRAPPERS[name], ())
        return tuple(replace(each, basic=name) for each in shapes)

    def array(self, items: tuple[Deferred, ...], *, fixed: bool = False) -> Shapes:
        """Return an array of one type, or a tuple."""
        inner = items[0] if len(items) == 1 else Deferred(shapes=UNKNOWN)
        shapes = self.global_type("Array", (inner,))
        return tuple(replace(each, items=items, fixed=fixed) for each in shapes)

    def global_value(self, name: str) -> Shapes:
        """Return what a global name may be, by any package that declares it."""
        return tuple(
            shape
            for each in self.globals.find_each(name)
            if each.only(types=False).declared and _has_value(each)
            for shape in self.value(each)
        )

    def global_type(self, name: str, args: Sequence[Deferred]) -> Shapes:
        """Return what the values of a global type may be; a promise is known without it."""
        entity = self.globals.find(name) if name else None
        if entity is not None:
            return self.type(entity, args)
        promised = args[0] if args and name in ("Promise", "PromiseLike") else None
        return (Shape(name, certain=False, promised=promised),)

    def _object_shape(self, body: ObjectType, context: Context, *, static: bool = False) -> Shape:
        """Return the shape of an object, of a class's instances or, ``static``, of a class."""
        # What numbers and symbols lead to has no name.
        closed = not body.open and all(each in ("number", "symbol") for each in body.index_keys)
        closed = closed and self.type_names.are_symbols(body.computed, context.namespace)
        shape = Shape(certain=closed)
        for name, members in body.members.items():
            kept = [(each, context) for each in members if each.static == static]
            if kept:
                shape.fields[name] = kept
        if static:
            return shape
        shape.calls = [(each, context) for each in body.calls]
        shape.constructors = [(each, context, None) for each in body.constructors]
        return shape

    def _evaluate_reference(
        self, ref: TypeReference, context: Context, this: Deferred | None
    ) -> Shapes:
        args = tuple(Deferred(each, context) for each in ref.arguments)
        alone = ref.path[0] if len(ref.path) == 1 and not ref.module else ""
        if alone and not ref.value and alone in context.bindings:
            return self.evaluate(context.bindings[alone])
        if alone == "globalThis" and ref.value:
            return (Shape(everything=True, shared=True),)
        entity, rest = self.type_names.resolve(ref, context.namespace)
        if ref.value:
            one = not ref.module and entity is not None and is_global_entity(entity)
            shapes = self.global_value(ref.path[0]) if one else self.value(entity)
            for name in rest:
                shapes = self.member(shapes, name)
            return shapes
        if entity is None and alone:
            return self._evaluate_builtin(alone, args)
        for name in rest:
            entity = self.type_names.qualified(entity, name) if entity is not None else None
        return self.type(entity, args, this)

    def _evaluate_builtin(self, name: str, args: Sequence[Deferred]) -> Shapes:
        """Return a type that no file of a package declares: one of the language's own."""
        if name in _TRANSPARENT:
            return self.evaluate(args[0]) if args else UNKNOWN
        if name == "Awaited" and args:
            return self.awaited(self.evaluate(args[0]))
        if name == "ThisType":
            return (Shape(),)
        if name in ("ReturnType", "InstanceType"):
            return self._evaluate_outcome(name, args)
        return self.global_type(name, args)

    def _evaluate_outcome(self, name: str, args: Sequence[Deferred]) -> Shapes:
        """Return what ``ReturnType`` or ``InstanceType`` of a type may be."""
        found: list[Shape] = []
        for shape in self.evaluate(args[0]) if args else ():
            if name == "InstanceType":
                for _, _, instance in shape.constructors[-1:]:
                    found += self.evaluate(instance)
            else:
                for call, context in shape.calls[-1:]:
                    result = Deferred(call.result, context)
                    found += UNKNOWN if call.type_parameters else self.evaluate(result)
        return tuple(found) or UNKNOWN

    def _intersect(self, parts: Iterable[Shapes]) -> Shapes:
        """Return each way to have one shape of every part at once."""
        given = [part for part in parts if part]
        if not given:
            return ()
        if prod(map(len, given)) > _MAX_SHAPES:
            return UNKNOWN
        return tuple(reduce(Shape.merge, chosen) for chosen in product(*given))


def _extends(shape: Shape, bound: Shape) -> bool | None:
    """Whether a type certainly is a part of another, or certainly none."""
    if shape.literal is not None and bound.literal is not None:
        return (shape.basic, shape.literal) == (bound.basic, bound.literal)
    if shape.basic and bound.basic:
        return shape.basic == bound.basic if bound.literal is None else None
    same = bool(shape.name) and (shape.name, shape.home) == (bound.name, bound.home)
    return True if same and not shape.basic else None


def _has_value(entity: Entity) -> bool:
    """Whether it is declared as more than a type."""
    return any(each.kind not in ("interface", "type") for _, each in entity.declared)
