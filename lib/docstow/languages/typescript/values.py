"""Values of Node packages, as checkers of code ask about them, and what calls of them give.

TypeScript chooses the first overload that takes the arguments. Where an argument leaves open
whether it fits, the overloads behind it are kept as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docstow.languages.shared.surface import Outcome, Passed, Value
from docstow.languages.typescript.evaluation import TypeEvaluator
from docstow.languages.typescript.shapes import (
    UNKNOWN,
    Context,
    Deferred,
    Shape,
    Shapes,
    is_unknown,
)
from docstow.languages.typescript.source.model import (
    EMPTY_TYPES,
    Parameter,
    Primitive,
    Signature,
    Type,
    TypeReference,
    Union,
)

#: Overloads of one shape beyond which none is chosen.
_MAX_OVERLOADS = 120


@dataclass(frozen=True, slots=True, eq=False)
class NodeValue:
    """What an expression may be.

    Args:
        evaluator: evaluates types.
        shapes: what it may be; not empty.
    """

    evaluator: TypeEvaluator
    shapes: Shapes

    @property
    def name(self) -> str:
        """The path of its type, by the package that declares it."""
        shape = self.shapes[0]
        home = shape.home.removeprefix("@types/")
        return f"{home}.{shape.name}" if shape.name and home else shape.name

    @property
    def shared(self) -> bool:
        """Whether any package may add members to it."""
        return any(each.shared for each in self.shapes)

    def member(self, name: str) -> NodeValue | None:
        """Return a member; None where nothing is known of it."""
        return self._made(self.evaluator.member(self.shapes, name))

    def lacks(self, name: str) -> bool:
        """Whether it certainly has no such member, of its own or by what others add."""
        if any(self.evaluator.has(each, name) for each in self.shapes):
            return False
        added = self.evaluator.globals
        if self.shared and added.may_declare(name):
            return False
        return not added.may_augment(name)

    def refuses(self, key: str) -> bool:
        """Whether an object that is written here cannot have such a key."""
        taking = [each for each in self.shapes if not each.basic and each.items is None]
        if not taking or not all(each.fields and not each.namespaces for each in taking):
            return False
        return NodeValue(self.evaluator, tuple(taking)).lacks(key)

    def has(self, name: str) -> bool:
        """Whether each of the types has such a member."""
        return all(
            name in shape.fields
            or name in shape.constants
            or any(
                self.evaluator.names.resolve_export(e, name) is not None for e in shape.namespaces
            )
            for shape in self.shapes
        )

    def names(self) -> tuple[str, ...]:
        """Return the names of members."""
        found: dict[str, None] = {}
        for shape in self.shapes:
            found |= dict.fromkeys(shape.fields)
            found |= dict.fromkeys(sorted(shape.constants))
            for namespace in shape.namespaces:
                found |= dict.fromkeys(self.evaluator.names.list_exports(namespace))
        return tuple(found)

    def item(self, index: int | None) -> NodeValue | None:
        """Return a member of an array or a tuple."""
        found: list[Shape] = []
        for shape in self.shapes:
            if shape.items is None:
                return None
            if not shape.fixed and shape.items:
                found += self.evaluator.evaluate(shape.items[0])
            elif index is not None and index < len(shape.items):
                found += self.evaluator.evaluate(shape.items[index])
            else:
                return None
        return self._made(tuple(found))

    def awaited(self) -> NodeValue | None:
        """Return what awaiting it gives."""
        return self._made(self.evaluator.awaited(self.shapes))

    def call(
        self, passed: Sequence[Passed] | None, types: Sequence[Value | None], *, new: bool
    ) -> Outcome | None:
        """Return what a call gives, and what it expects."""
        given = None if passed is None else [self._argument(each) for each in passed]
        overloads = find_overloads(
            self.evaluator, self.shapes, given, [self._shapes_of(each) for each in types], new=new
        )
        if overloads is None:
            return None
        expected = (
            expected_shapes(self.evaluator, overloads, at) for at in range(len(given or ()))
        )
        returned = returned_shapes(self.evaluator, overloads)
        return Outcome(self._made(returned), tuple(map(self._made, expected)))

    def parameter(self, index: int, count: int) -> NodeValue | None:
        """Return what a function that is written here gets, if it is called in one way alone."""
        found: list[Shape] = []
        for shape in self.shapes:
            if not shape.calls and shape.certain and not shape.namespaces:
                continue
            if len(shape.calls) != 1:
                return None
            signature, context = shape.calls[0]
            rest = bool(signature.positions) and signature.positions[-1].rest
            if len(signature.positions) < count and not rest:
                continue  # it passes fewer arguments
            parameter = signature.positions[index] if index < len(signature.positions) else None
            if signature.type_parameters or parameter is None or parameter.rest:
                return None
            found += self.evaluator.evaluate(Deferred(parameter.type, context))
        return self._made(tuple(found))

    def _argument(self, passed: Passed) -> Argument:
        return Argument(passed.form, passed.text, passed.count, self._shapes_of(passed.value))

    def _shapes_of(self, value: Value | None) -> Shapes | None:
        """Return the shapes of a value of the same package."""
        if isinstance(value, NodeValue) and value.evaluator is self.evaluator:
            return value.shapes
        return None

    def _made(self, shapes: Shapes) -> NodeValue | None:
        return as_value(self.evaluator, shapes)


def as_value(evaluator: TypeEvaluator, shapes: Shapes) -> NodeValue | None:
    """Return shapes as a value; None where nothing is known of it."""
    return NodeValue(evaluator, shapes) if shapes and not is_unknown(shapes) else None


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call.

    Attributes:
        form: what it is written as.
        text: of a string, what it says.
        count: of a function, how many parameters it names.
        shapes: what it may be; None where that is not known.
    """

    form: str
    text: str | None
    count: int
    shapes: Shapes | None


@dataclass(frozen=True, slots=True)
class Overload:
    """A signature that a call may mean.

    Attributes:
        signature: it.
        context: where it is written, its type parameters bound.
        instance: what is made by ``new``, if a class is called.
    """

    signature: Signature
    context: Context
    instance: Deferred | None


def find_overloads(
    evaluator: TypeEvaluator,
    shapes: Shapes,
    given: Sequence[Argument] | None,
    types: Sequence[Shapes | None],
    *,
    new: bool,
) -> list[Overload] | None:
    """Return the overloads that a call may mean; None where that is not certain.

    Args:
        evaluator: evaluates types.
        shapes: what is called.
        given: arguments; None where their number is not certain.
        types: type arguments.
        new: whether it is called by ``new``.
    """
    found: list[Overload] = []
    for shape in shapes:
        every = shape.constructors if new else [(*each, None) for each in shape.calls]
        if not every and not new and shape.certain and not shape.namespaces:
            continue
        if not every or len(every) > _MAX_OVERLOADS:
            return None
        for signature, context, instance in every:
            if types and len(types) > len(signature.type_parameters) and instance is None:
                continue
            if given is not None and not _takes_count(signature, len(given)):
                continue
            bound = _bind(evaluator, signature, context, given, types)
            fits = [_fits(evaluator, signature, at, bound, a) for at, a in enumerate(given or ())]
            if False in fits:
                continue
            found.append(Overload(signature, bound, instance))
            if given is not None and all(fits):
                break
    return found or None


def expected_shapes(evaluator: TypeEvaluator, overloads: Sequence[Overload], index: int) -> Shapes:
    """Return what an argument may be expected to be."""
    found: list[Shape] = []
    for each in overloads:
        found += _argument_shapes(evaluator, _parameter_at(each.signature, index), each.context)
    return tuple(found)


def returned_shapes(evaluator: TypeEvaluator, overloads: Sequence[Overload]) -> Shapes:
    """Return what the call may return."""
    found: list[Shape] = []
    for each in overloads:
        if each.instance is not None:
            found += evaluator.evaluate(each.instance)
        else:
            found += evaluator.evaluate(Deferred(each.signature.result, each.context))
    return tuple(found)


def _takes_count(signature: Signature, count: int) -> bool:
    fewest = max((at for at, each in enumerate(signature.positions, 1) if each.required), default=0)
    most = len(signature.positions)
    return count >= fewest and (count <= most or (most > 0 and signature.positions[-1].rest))


def _parameter_at(signature: Signature, index: int) -> Parameter | None:
    if index < len(signature.positions):
        return signature.positions[index]
    return signature.positions[-1] if signature.positions and signature.positions[-1].rest else None


def _argument_shapes(
    evaluator: TypeEvaluator, parameter: Parameter | None, context: Context
) -> Shapes:
    if parameter is None:
        return UNKNOWN
    shapes = evaluator.evaluate(Deferred(parameter.type, context))
    if not parameter.rest:
        return shapes
    found: list[Shape] = []
    for shape in shapes:
        if shape.items is None or shape.fixed:
            return UNKNOWN
        found += evaluator.evaluate(shape.items[0])
    return tuple(found)


def _bind(
    evaluator: TypeEvaluator,
    signature: Signature,
    context: Context,
    given: Sequence[Argument] | None,
    types: Sequence[Shapes | None],
) -> Context:
    """Bind the type parameters of a call to what the arguments tell, or to their defaults."""
    if not signature.type_parameters:
        return context
    found = dict(context.bindings)
    bound = Context(context.namespace, found, context.this)
    for at, generic in enumerate(signature.type_parameters):
        sources = [
            index for index, each in enumerate(signature.positions) if generic.name in each.mentions
        ]
        if at < len(types):
            found[generic.name] = Deferred(shapes=types[at] or UNKNOWN)
        elif sources and not _tells_nothing(evaluator, signature, sources, context, given):
            found[generic.name] = _infer(evaluator, signature, generic.name, sources, given)
        elif generic.default is not None:
            found[generic.name] = Deferred(generic.default, bound)
        elif generic.constraint is not None and not types:
            found[generic.name] = Deferred(generic.constraint, bound)
        else:
            found[generic.name] = Deferred(shapes=UNKNOWN)
    return bound


def _tells_nothing(
    evaluator: TypeEvaluator,
    signature: Signature,
    sources: Sequence[int],
    context: Context,
    given: Sequence[Argument] | None,
) -> bool:
    """Whether no argument tells what a type parameter is: none is given, or functions that take it.

    A function tells what it returns, and nothing of what it takes.
    """
    if given is None:
        return False
    blank = {each.name: Deferred(shapes=UNKNOWN) for each in signature.type_parameters}
    inside = Context(context.namespace, {**context.bindings, **blank}, context.this)
    for index in sources:
        if index >= len(given):
            continue
        if given[index].form != "function" or signature.positions[index].rest:
            return False
        for shape in evaluator.evaluate(Deferred(signature.positions[index].type, inside)):
            results = [each.result for each, _ in shape.calls]
            if not results or not all(map(_is_empty, results)):
                return False
    return True


def _is_empty(type_: Type) -> bool:
    return isinstance(type_, Primitive) and type_.name in EMPTY_TYPES


def _infer(
    evaluator: TypeEvaluator,
    signature: Signature,
    name: str,
    sources: Sequence[int],
    given: Sequence[Argument] | None,
) -> Deferred:
    """Return what a type parameter stands for, if an argument is of its type itself."""
    if len(sources) == 1 and given is not None and sources[0] < len(given):
        parameter, passed = signature.positions[sources[0]], given[sources[0]]
        if _is_type_parameter(parameter, name) and passed.shapes is not None:
            return Deferred(shapes=passed.shapes)
        parts = parameter.type.parts if isinstance(parameter.type, Union) else (parameter.type,)
        alone = any(isinstance(each, TypeReference) and each.path == (name,) for each in parts)
        if alone and not parameter.rest and passed.form in ("string", "number", "boolean"):
            return Deferred(shapes=evaluator.primitive(passed.form))
    return Deferred(shapes=UNKNOWN)


def _fits(
    evaluator: TypeEvaluator, signature: Signature, index: int, context: Context, given: Argument
) -> bool | None:
    """Whether an argument can be passed; None where that is not certain."""
    parameter = _parameter_at(signature, index)
    generic = next(
        (e for e in signature.type_parameters if _is_type_parameter(parameter, e.name)), None
    )
    if generic is None:
        shapes = _argument_shapes(evaluator, parameter, context)
    elif generic.constraint is None:
        return True
    else:
        shapes = evaluator.evaluate(Deferred(generic.constraint, context))
    answers = [_fits_shape(evaluator, each, given) for each in shapes]
    if True in answers:
        return True
    if parameter is not None and not parameter.required and given.form == "nothing":
        return True
    return None if None in answers or not answers else False


def _is_type_parameter(parameter: Parameter | None, name: str) -> bool:
    """Whether a parameter is of a type parameter itself."""
    if parameter is None or parameter.rest or not isinstance(parameter.type, TypeReference):
        return False
    return parameter.type.path == (name,) and not parameter.type.module


def _fits_shape(evaluator: TypeEvaluator, shape: Shape, given: Argument) -> bool | None:
    if given.form in ("string", "number", "boolean"):
        if shape.literal is not None:
            return shape.basic == given.form and shape.literal == given.text
        if shape.basic:
            return shape.basic == given.form
        if shape.certain and (shape.items is not None or shape.calls):
            return False
        # An object with members that the primitive lacks.
        own = evaluator.global_type(given.form.capitalize(), ())
        lacks = any(name not in each.fields for each in own for name in shape.fields)
        return False if shape.certain and lacks and all(each.certain for each in own) else None
    if given.form in ("function", "object", "array"):
        if shape.basic:
            return False
        if given.form == "array":
            return True if shape.items is not None and not shape.fixed else None
        if shape.items is not None:
            return False
        if given.form == "function":
            return _fits_function(shape, given)
        return False if shape.calls and shape.certain else None
    return None


def _fits_function(shape: Shape, given: Argument) -> bool | None:
    if not shape.certain:
        return None
    if not shape.calls:
        return False if shape.fields else None
    takes = shape.calls[0][0].positions
    enough = given.count <= len(takes) or bool(takes and takes[-1].rest)
    return True if enough and len(shape.calls) == 1 else None
