"""One value of a Node package, as checkers of code ask about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docstow.languages.shared.surface import Outcome, Passed, Value
from docstow.languages.typescript.evaluation import TypeEvaluator
from docstow.languages.typescript.overloads import (
    Argument,
    expected_shapes,
    find_overloads,
    returned_shapes,
)
from docstow.languages.typescript.shapes import Deferred, Shape, Shapes, is_unknown


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
