"""Types of members of packages' classes and modules, and what their calls and protocols return."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from docstow.languages.python.builtin_names import UNTOLD, UNTOLD_ITEMS
from docstow.languages.python.check.annotations import (
    AnnotationContext,
    Annotations,
    Inferred,
    LocalType,
    PackageType,
    Resolved,
    ValueType,
    join,
    without_none,
)
from docstow.languages.python.check.bodies import Bodies
from docstow.languages.python.check.certainty import (
    is_descriptor,
    makes_others,
    wraps,
)
from docstow.languages.python.check.django_models import (
    instance_at,
    instances,
    is_query,
    queried,
)
from docstow.languages.python.check.documented import documented_return, tells_another
from docstow.languages.python.check.filled import is_bare
from docstow.languages.python.check.fitting import CallUse
from docstow.languages.python.check.overloads import agree, matching_overloads, of_key
from docstow.languages.python.check.passed import NOTHING_PASSED, Passed, call_shape
from docstow.languages.python.check.plots import (
    ARRAY,
    PLOT,
    PLOTTING,
    flat_plots,
    is_array,
    plot_at,
    plots_of,
)
from docstow.languages.python.service_clients import MAKERS
from docstow.languages.python.source.functions import (
    makes_own_instance,
)
from docstow.languages.python.source.syntax import (
    Function,
    annotation_and_value,
    decorator_name,
    function_headers,
    positional,
    string_value,
    unpacked,
)
from docstow.languages.python.surface import STANDARD, PythonSurface
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.surface import Openness, Symbol
from docstow.text.python_ast import try_parse_expression

#: A call of one of these makes an instance of another class, or one with further names.
_NO_INSTANCES = frozenset({"builtins.super", "builtins.type", "builtins.object", "typing.Any"})
#: Descriptors that give an instance their type argument.
_DESCRIPTORS = frozenset({"sqlalchemy.orm.base.Mapped", "sqlalchemy.orm.base.WriteOnlyMapped"})
#: sympy's function that makes symbols of their names, and the class of one.
#: What collects commands of Redis, and its methods that collect none.
_REDIS_PIPELINE = re.compile(r"redis\.(?:\w+\.)*\w*Pipeline")
_RUNNING = frozenset(
    {"execute", "watch", "unwatch", "multi", "reset", "discard", "close", "aclose"}
)
_SYMBOLS, _SYMBOL = "sympy.core.symbol.symbols", "sympy.core.symbol.Symbol"
#: Decorators that make context managers, with what the name of the manager's class has more.
_MANAGERS = {"contextmanager": "", "asynccontextmanager": "Async"}
#: Generators: an ``async def`` that returns one is no coroutine.
_ASYNC_GENERATORS = frozenset({"AsyncIterator", "AsyncGenerator", "AsyncIterable"})
#: Classes of which an argument certainly is an instance or is not.
_DISTINCT = frozenset({"builtins.str", "builtins.bytes", "builtins.int", "builtins.dict"})


class Members:
    """Members of packages' classes and modules.

    Args:
        annotations: reader of annotations.
    """

    def __init__(self, annotations: Annotations) -> None:
        self.annotations = annotations
        self._bodies = Bodies(self)

    def symbol(self, owner: PackageType, name: str) -> Symbol | None:
        """Return a member; one of the standard library as its stubs have it."""
        symbol = owner.package.symbol(f"{owner.path}.{name}")
        if symbol is None or symbol.kind != "re-export" or not symbol.target:
            return symbol
        other = self.annotations.names.resolver.package_for(symbol.target)
        return (other.surface.symbol(symbol.target) if other is not None else None) or symbol

    def lacks(self, owner: PackageType, name: str) -> bool:
        """Return whether an instance certainly has no method of a name."""
        return owner.certainly_lacks(name) and owner.openness(name) <= Openness.ITEMS

    def makes_identity_decorator(self, path: str) -> bool:
        """Return whether a call returns a decorator that keeps the type: ``Callable[[F], F]``."""
        answer = self.annotations.names.look_up(path)
        if answer.symbol is None or not answer.whole:
            return False
        for header in function_headers(answer.symbol.signature)[-1:]:
            match header.returns:
                case ast.Subscript(slice=ast.Tuple(elts=[ast.List(elts=[taken]), returned])):
                    return ast.unparse(taken) == ast.unparse(returned)
        return False

    # -- dotted paths --------------------------------------------------------------------------

    def called_protocol(self, path: str) -> str:
        """Return the ``__call__`` of the protocol that a name of a module is declared to be.

        ``zeros: Final[_ConstructorEmpty]``; empty for any other name.
        """
        value = self.value_at(path)
        if not isinstance(value, PackageType) or value.is_class or value.alternatives:
            return ""
        symbol = value.package.symbol(value.path)
        is_protocol = symbol is not None and "Protocol" in symbol.signature
        call = f"{value.path}.__call__"
        return call if is_protocol and value.package.symbol(call) is not None else ""

    def value_at(self, path: str) -> ValueType | None:
        """Return the type of what a dotted path leads to, unless it is a function."""
        answer = self.annotations.names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None:
            return None
        if symbol.kind in {"class", "enum"} and answer.whole:
            return PackageType(path, package, is_class=True)
        if symbol.kind not in {"attribute", "constant"}:
            return None
        value = self._attribute_type(symbol, package, None)
        if answer.whole:
            return value
        # Members of an instance: ``flask.request.args``.
        if not path.startswith(f"{symbol.path}."):
            return None
        for name in path[len(symbol.path) + 1 :].split("."):
            value = self.attribute(value, name) if isinstance(value, PackageType) else None
        return value

    def call_path(self, path: str, passed: Passed) -> ValueType | None:
        """Return what a call of a dotted path returns."""
        answer = self.annotations.names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None:
            return None
        owner, _, name = path.rpartition(".")
        if not answer.whole or symbol.kind in {"attribute", "constant"}:
            value = self.value_at(path)
            if value is not None:
                return self.call_value(value, passed)
            above = self.value_at(owner) if "." in owner else None
            return self.call_method(above, name, passed) if isinstance(above, PackageType) else None
        if symbol.kind in {"class", "enum"}:
            return self.instantiate(PackageType(symbol.path, package, is_class=True), passed)
        if symbol.kind != "method":
            return self._infer_returned(symbol, package, None, passed)
        if name == "__new__":
            return None  # It makes an instance of what it is passed, mostly a subclass.
        if not _is_class(owner, package):  # ``from_env = Client.from_env`` in a module
            surface = package.surface
            named = surface.aliased_owner(path) if isinstance(surface, PythonSurface) else ""
            owner = named or symbol.target.rpartition(".")[0]
            if not _is_class(owner, package):
                return None
        # A method of a class may be passed its receiver.
        receiver = PackageType(owner, package)
        return self._infer_returned(symbol, package, receiver, passed, unbound=True)

    def aliased_method(self, path: str) -> str:
        """Return the method that a name is an alias of: ``decode = _codec.decode``."""
        answer = self.annotations.names.look_up(path)
        symbol, package = answer.symbol, answer.package
        if symbol is None or package is None or symbol.kind != "attribute" or not answer.whole:
            return ""
        value = annotation_and_value(symbol.signature)[1]
        if not isinstance(value, ast.Attribute):
            return ""
        module = symbol.module or self.annotations.module_of(symbol.target or symbol.path, package)
        owner = self.value_at(f"{module}.{ast.unparse(value.value)}")
        if not isinstance(owner, PackageType) or owner.is_class:
            return ""
        return f"{owner.path}.{value.attr}" if self.symbol(owner, value.attr) is not None else ""

    # -- classes -------------------------------------------------------------------------------

    def instantiate(self, kind: PackageType, passed: Passed) -> PackageType | None:
        """Return what a call of a class makes: an instance, unless ``__new__`` says another."""
        new = kind.package.surface.symbol(f"{kind.path}.__new__")
        if new is not None and (told := self._untold(new, kind.package, None)) is not None:
            return told if isinstance(told, PackageType) else None
        if kind.path in _NO_INSTANCES or makes_others(kind):
            return None
        instance = replace(kind, is_class=False)
        if new is not None and new.kind in {"method", "function"}:
            name = kind.path.rpartition(".")[2]
            allowed = {"Self", "typing.Self", "t.Self", "te.Self", name}
            headers = function_headers(new.signature)
            returned = {ast.unparse(each.returns) if each.returns else "" for each in headers}
            if not headers or not (returned <= allowed or self._makes_own(kind, new)):
                # A factory, as those of lxml, makes what its ``__new__`` is said to return.
                context = self.member_context(new, kind.package, instance)
                said = headers[0].returns if len(headers) == 1 else None
                made = without_none(self.annotations.read(said, context))
                return made if isinstance(made, PackageType) and not made.is_class else None
        if instance.arguments or kind.path.startswith("builtins."):
            return instance
        if kind.path == "collections.defaultdict":
            maker = next(iter(passed.positional), None)
            value = replace(maker, is_class=False) if maker is not None and maker.is_class else None
            return replace(instance, arguments=(None, value))
        return replace(instance, arguments=self._type_arguments(instance, passed))

    def _makes_own(self, kind: PackageType, new: Symbol) -> bool:
        """Return whether a ``__new__`` without annotation seems to make instances of its class."""
        surface = kind.package.surface
        node = surface.function(new.path) if isinstance(surface, PythonSurface) else None
        if node is None or node.returns is not None:
            return False
        home = (new.target or new.path).rpartition(".")[0].rpartition(".")[2]
        return makes_own_instance(node, home)

    def _type_arguments(
        self, instance: PackageType, passed: Passed
    ) -> tuple[ValueType | None, ...]:
        """Return the type arguments of a class, by the arguments of its constructor."""
        surface = instance.package.surface
        symbol, own = surface.symbol(f"{instance.path}.__init__"), surface.symbol(instance.path)
        if symbol is None or own is None:
            return ()
        headers = function_headers(symbol.signature)
        home = (symbol.target or symbol.path).rpartition(".")[0]
        if not headers or home != (own.target or instance.path):
            return ()
        shape = passed.shape
        header, *others = matching_overloads(headers, shape, receives=True)
        if others and (shape.open_positional or shape.open_keywords):
            return ()  # Arguments that are not seen choose among them.
        context = self.annotations.context(home, instance.package, instance, module=symbol.module)
        receiver = next(iter(positional(header)), None)
        if receiver is not None and receiver.annotation is not None:
            # ``def __init__(self: Maker[Session], …)``: the overload has the type arguments.
            read = self.annotations.read(receiver.annotation, context)
            if isinstance(read, PackageType) and read.arguments:
                return read.arguments
        bound = self._solve_type_variables(header, context, passed, receives=True)
        variables = self.annotations.type_arguments(instance, home)
        return tuple(bound.get(each) for each in variables or ())

    # -- members of instances ------------------------------------------------------------------

    def attribute(self, owner: PackageType, name: str) -> ValueType | None:
        """Return the type of an attribute of an instance, unless it is a method."""
        if owner.alternatives:
            return self._join(owner, name, lambda each: self.attribute(each, name))
        symbol = self.symbol(owner, name)
        if symbol is None or name.startswith("__") or wraps(owner, name):
            return None
        if is_array(owner) and name == "flat":
            return flat_plots(owner)
        if symbol.kind == "property":
            return self._infer_returned(symbol, owner.package, owner, NOTHING_PASSED)
        if symbol.kind in {"attribute", "constant"}:
            return self._attribute_type(symbol, owner.package, owner)
        if symbol.kind in {"class", "enum"}:
            return PackageType(f"{owner.path}.{name}", owner.package, is_class=True)
        return None

    def _join(
        self, owner: PackageType, name: str, infer: Callable[[PackageType], ValueType | None]
    ) -> ValueType | None:
        """Join what is inferred of each alternative that has a member."""
        having = [each for each in owner.each_alternative() if self.symbol(each, name) is not None]
        return without_none(join(infer(each) for each in having))

    def _attribute_type(
        self, symbol: Symbol, package: Installed, receiver: PackageType | None
    ) -> ValueType | None:
        """Return the type of an attribute, by its annotation or by the class that its value calls.

        Args:
            symbol: the attribute.
            package: whose it is.
            receiver: the instance or class of which it is read.
        """
        if (known := self._untold(symbol, package, receiver)) is not None:
            return known
        annotation, value = annotation_and_value(symbol.signature)
        context = self.member_context(symbol, package, receiver)
        found: ValueType | None = None
        if annotation is not None:
            found = without_none(self.annotations.read(annotation, context))
            if isinstance(found, PackageType) and found.arguments and not found.is_class:
                home = found.package.surface.symbol(found.path)
                if home is not None and (home.target or found.path) in _DESCRIPTORS:
                    of_instance = receiver is not None and not receiver.is_class
                    return found.arguments[0] if of_instance else found
        elif isinstance(value, ast.Call):
            # ``conf = Settings()`` is an instance of the class.
            found = self._made_by(value, context) or self._made_in_body(value, symbol, context)
        elif parts := unpacked(symbol.signature, symbol.path.rpartition(".")[2]):
            whole, index = self._made_by(parts[0], context), parts[1]
            found = self.unpack(whole, index) if whole is not None else None
        elif receiver is not None and not receiver.is_class and _is_nothing(value):
            found = without_none(self._bodies.attribute(symbol, package, receiver))
        if receiver is not None and isinstance(found, PackageType) and is_descriptor(found):
            return None
        return found

    def _made_by(self, call: ast.expr, context: AnnotationContext) -> ValueType | None:
        """Return what a call that binds an attribute makes."""
        called = context.resolve(call.func) if isinstance(call, ast.Call) else None
        if not isinstance(called, Resolved) or not isinstance(call, ast.Call):
            return None
        if called.defined_at == "enum.auto":
            return None
        found = self.call_found(called, Passed(call_shape(call)))
        is_property = isinstance(found, PackageType) and found.path == "builtins.property"
        if called.symbol.kind == "function" and (found is None or is_property):
            return self._bodies.read_through(called.symbol, called.package)
        return found

    def _made_in_body(
        self, call: ast.Call, symbol: Symbol, context: AnnotationContext
    ) -> ValueType | None:
        """Return what a function of a class's own body makes: ``mean = _reduce("mean")``."""
        if not isinstance(call.func, ast.Name) or not isinstance(context.receiver, PackageType):
            return None
        home = (symbol.target or symbol.path).rpartition(".")[0]
        maker = context.receiver.package.symbol(f"{home}.{call.func.id}")
        headers = function_headers(maker.signature) if maker is not None else ()
        returned = headers[0].returns if len(headers) == 1 else None
        return without_none(self.annotations.read(returned, context))

    def call_method(self, owner: PackageType, name: str, passed: Passed) -> ValueType | None:
        """Return what a call of a method of an instance returns."""
        if owner.alternatives:
            return self._join(owner, name, lambda each: self.call_method(each, name, passed))
        symbol = self.symbol(owner, name)
        if symbol is None or wraps(owner, name):
            return None
        if is_array(owner) and name in {"ravel", "flatten"}:
            return flat_plots(owner)
        if _REDIS_PIPELINE.fullmatch(owner.path) and name not in _RUNNING:
            return owner  # It answers when all that it got is run.
        if symbol.kind == "method":
            return self._infer_returned(symbol, owner.package, owner, passed)
        value = self.attribute(owner, name)
        return self.call_value(value, passed) if value is not None else None

    def call_value(self, value: ValueType, passed: Passed) -> ValueType | None:
        """Return what a call of a value returns."""
        if not isinstance(value, PackageType):
            return None
        if value.is_class:
            return self.instantiate(value, passed)
        if value.path == "typing.Callable":
            return value.arguments[-1] if value.arguments else None
        return self.call_method(value, "__call__", passed)

    def operate(self, owner: PackageType, name: str, other: ValueType | None) -> ValueType | None:
        """Return what a method of an operator returns, by the overload that takes the other value.

        Python's own values leave an operator to what they do not know.
        """
        symbol = self.symbol(owner, name)
        if owner.alternatives or symbol is None or symbol.kind != "method":
            return None
        context = self.member_context(symbol, owner.package, owner)
        headers = _visible(function_headers(symbol.signature))
        possible: list[Function] = []
        for header in headers:
            taken = positional(header)[-1].annotation if len(positional(header)) == 2 else None
            kind = self.annotations.read(taken, context)
            if isinstance(kind, PackageType) and isinstance(other, PackageType):
                if other.path in kind.paths:
                    possible = [header]
                    break
                if not kind.alternatives:
                    continue
            possible.append(header)
        is_known = other is not None and not isinstance(other, LocalType)
        is_certain = owner.package.name != STANDARD or is_known
        if len(possible) != 1 or not is_certain:
            return None
        return self._infer_returned(symbol, owner.package, owner, NOTHING_PASSED, headers=possible)

    # -- protocols -----------------------------------------------------------------------------

    def enter(self, manager: PackageType, *, awaited: bool) -> ValueType | None:
        """Return what ``with`` binds its name to."""
        entered = self.call_method(
            manager, "__aenter__" if awaited else "__enter__", NOTHING_PASSED
        )
        return self._await_package(entered) if awaited else entered

    def await_result(self, value: ValueType | None) -> ValueType | None:
        """Return what ``await`` makes of a value."""
        if not isinstance(value, PackageType):
            return None
        generator = self.call_method(value, "__await__", NOTHING_PASSED)
        if isinstance(generator, PackageType) and len(generator.arguments) == 3:
            return generator.arguments[2]
        return None

    def _await_package(self, value: ValueType | None) -> ValueType | None:
        return self.await_result(value) if isinstance(value, PackageType) else value

    def loop_item(self, value: PackageType, *, awaited: bool) -> ValueType | None:
        """Return what a loop over a value binds its name to."""
        if is_array(value) or is_query(value):
            return value.arguments[0]
        many = self.call_method(value, "__aiter__" if awaited else "__iter__", NOTHING_PASSED)
        if not isinstance(many, PackageType):
            return None
        one = self.call_method(many, "__anext__" if awaited else "__next__", NOTHING_PASSED)
        return self._await_package(one) if awaited else one

    def unpack(self, value: ValueType, index: int) -> ValueType | None:
        """Return the part of a tuple at an index."""
        if isinstance(value, PackageType) and is_array(value):
            return value.arguments[0]
        if not isinstance(value, PackageType) or value.path != "builtins.tuple":
            return None
        return value.arguments[index] if len(value.arguments) > index else None

    def subscript(self, value: PackageType, index: ast.expr) -> ValueType | None:
        """Return what ``value[index]`` is."""
        if is_array(value):
            return plot_at(value, index)
        if is_query(value):
            return instance_at(value, index)
        if isinstance(index, ast.Slice | ast.Tuple):
            return None
        if value.path == "builtins.tuple":
            match index:
                case ast.Constant(value=int(number)) if number >= 0:
                    return self.unpack(value, number)
            return None
        home = value.package.surface.symbol(value.path)
        items = UNTOLD_ITEMS.get(home.target or value.path) if home is not None else None
        if items is not None:
            is_text = isinstance(index, ast.Constant) and isinstance(index.value, str)
            is_part = isinstance(index, ast.List | ast.ListComp | ast.Compare)
            path = items[0] if is_text else items[1] if is_part else ""
            return self._instance(path, value.package)
        symbol = self.symbol(value, "__getitem__")
        if symbol is None or symbol.kind != "method":
            return None
        header = of_key(function_headers(symbol.signature), index)
        if header is None:
            return None
        return self._infer_returned(symbol, value.package, value, NOTHING_PASSED, headers=[header])

    def parameter(
        self, owner: PackageType, method: str, name: str, names: Sequence[str]
    ) -> Inferred:
        """Return what a method takes for a parameter of one that overrides it, by its annotation.

        Args:
            owner: whose method it is.
            method: its name.
            name: of the parameter.
            names: those of all parameters that may be passed by position, in their order.
        """
        symbol = self.symbol(owner, method)
        headers = function_headers(symbol.signature) if symbol is not None else ()
        if symbol is None or symbol.kind != "method" or len(headers) != 1:
            return None
        plain, only = positional(headers[0]), headers[0].args.kwonlyargs
        index = names.index(name) if name in names else len(plain)
        taken = plain[index : index + 1] or [each for each in only if each.arg == name]
        if any(each.arg != name and each.arg in names for each in taken):
            return None  # It takes them in another order.
        context = self.member_context(symbol, owner.package, owner)
        return self.annotations.read(taken[0].annotation, context) if taken else None

    # -- what functions return -----------------------------------------------------------------

    def member_context(
        self, symbol: Symbol, package: Installed, receiver: ValueType | None
    ) -> AnnotationContext:
        """Return the context of a member, with the type variables of its class."""
        target = symbol.target or symbol.path
        bound: Mapping[str, ValueType | None] = {}
        if isinstance(receiver, PackageType):
            bound = self.annotations.type_arguments(receiver, target.rpartition(".")[0]) or {}
        return self.annotations.context(target, package, receiver, bound, symbol.module)

    def _infer_returned(
        self,
        symbol: Symbol,
        package: Installed,
        receiver: PackageType | None,
        passed: Passed,
        *,
        unbound: bool = False,
        headers: Sequence[Function] = (),
    ) -> ValueType | None:
        """Return what a function returns, by the overloads that fit a call.

        Args:
            symbol: the function.
            package: whose it is.
            receiver: the instance that a method is called of.
            passed: the arguments.
            unbound: whether the receiver may be among the arguments.
            headers: the overloads that fit, where the arguments do not tell.
        """
        is_callable = symbol.parameters is not None or symbol.overloads
        # A property is not called, and a protocol's method with nothing that it could refuse.
        if not is_callable and symbol.kind != "property" and not symbol.path.endswith("__"):
            return None
        written = _visible(function_headers(symbol.signature))
        receives = not unbound and (symbol.kind != "function" or _is_bound(written))
        fit = matching_overloads(written, passed.shape, receives=receives, unbound=unbound)
        context = self.member_context(symbol, package, receiver)
        if (plots := self._plots(symbol, package, passed)) is not None:
            return plots
        if (symbols := self._symbols(symbol, package, passed)) is not None:
            return symbols
        if len(written) == 1 and written[0].returns is None:
            returned: ValueType | None = (
                self._made(symbol, passed)
                or self._untold(symbol, package, receiver)
                or self._bodies.returned(symbol, package, receiver)
            )
            said = documented_return(symbol.docstring) if symbol.docstring else ""
            if said and (returned is None or is_bare(returned)):
                returned = self._documented(said, symbol, package, context) or returned
            return self.wrap_result(returned, written[0], set())
        if len(written) == 1 and tells_another(symbol.docstring, symbol.signature):
            return None
        if len(fit) > 1:
            fit = [each for each in fit if self._accepts(each, context, passed, receives)] or fit
            # Of overloads that no argument tells apart, the first applies.
            if not unbound and agree(fit, passed.shape, receives=receives):
                fit = fit[:1]
        found = without_none(join(self._result(each, context, passed) for each in headers or fit))
        return _of_extending(found, symbol, receiver)

    def _documented(
        self, said: str, symbol: Symbol, package: Installed, context: AnnotationContext
    ) -> ValueType | None:
        """Return the type that a docstring names, there or by what users import it from."""
        entry = symbol.path.partition(".")[0]
        public = self.annotations.context(entry, package, context.receiver, module=entry)
        node = try_parse_expression(said)
        read = self.annotations.read
        found = without_none(read(node, context)) or without_none(read(node, public))
        return _plain_arrays(found)

    def _made(self, symbol: Symbol, passed: Passed) -> PackageType | None:
        """Return the client of the service that a call names."""
        path = MAKERS.get(symbol.target or symbol.path)
        call = passed.shape.use.node if isinstance(passed.shape.use, CallUse) else None
        service = string_value(call.args[0]) if path and call is not None and call.args else ""
        if path is None or not service:
            return None
        path = path.format(service.replace("-", "_"))
        package = self.annotations.names.resolver.package_for(path)
        return self._instance(path, package) if package is not None else None

    def _symbols(self, symbol: Symbol, package: Installed, passed: Passed) -> PackageType | None:
        """Return the symbols that a call of sympy's ``symbols`` makes of the names in a text."""
        call = passed.shape.use.node if isinstance(passed.shape.use, CallUse) else None
        if symbol.target != _SYMBOLS or call is None or not call.args:
            return None
        text, made = string_value(call.args[0]), self._instance(_SYMBOL, package)
        names = re.split(r"[\s,]+", text.strip())
        # ``x:3`` names several, and ``cls=Function`` makes something else of them.
        if made is None or not all(names) or ":" in text or "cls" in passed.shape.keywords:
            return None
        if len(names) == 1:
            return made
        return self.annotations.standard_type("builtins.tuple", *[made] * len(names))

    def _plots(self, symbol: Symbol, package: Installed, passed: Passed) -> PackageType | None:
        """Return the plots that a call makes, where it makes several."""
        whole = PLOTTING.get(symbol.target or symbol.path)
        call = passed.shape.use.node if isinstance(passed.shape.use, CallUse) else None
        array = self.annotations.standard_type(ARRAY) if whole is not None else None
        plot = self._instance(PLOT, package)
        if whole is None or call is None or array is None or plot is None:
            return None
        made = plots_of(call, plot, array)
        figure = self._instance(whole, package)
        if made is None or figure is None:
            return made
        return self.annotations.standard_type("builtins.tuple", figure, made)

    def _untold(
        self, symbol: Symbol, package: Installed, receiver: PackageType | None
    ) -> ValueType | None:
        """Return what is known of an attribute or method of which its package tells no type."""
        name = symbol.path.rpartition(".")[2]
        queried_of = instances(receiver, name) if receiver is not None else ()
        if queried_of:
            pair = self.annotations.standard_type("builtins.tuple", *queried_of)
            return pair if len(queried_of) > 1 else queried_of[0]
        path = UNTOLD.get(symbol.target or symbol.path)
        if path is not None and path.partition(".")[0] != symbol.path.partition(".")[0]:
            return None  # What is of a subclass in another package has its own of these, too.
        made = self._instance(path, package) if path is not None else None
        return queried(made, receiver, name) if made is not None and receiver is not None else made

    def _instance(self, path: str, package: Installed) -> PackageType | None:
        return PackageType(path, package) if _is_class(path, package) else None

    def call_found(self, found: Resolved, passed: Passed) -> ValueType | None:
        """Return what a call of something returns that a module of a package names."""
        symbol, package = found.symbol, found.package
        if symbol.kind in {"class", "enum"}:
            return self.instantiate(PackageType(found.path, package, is_class=True), passed)
        if symbol.kind == "function":
            return self._infer_returned(symbol, package, None, passed)
        if symbol.kind == "method" and symbol.path.rpartition(".")[2] != "__new__":
            owner = found.path.rpartition(".")[0]
            receiver = PackageType(owner, package) if _is_class(owner, package) else None
            return self._infer_returned(symbol, package, receiver, passed, unbound=True)
        return None

    def _accepts(
        self,
        header: Function,
        context: AnnotationContext,
        passed: Passed,
        receives: bool,  # noqa: FBT001 - private
    ) -> bool:
        """Return whether no argument is certainly of another class than its parameter."""
        for each, given in zip(positional(header)[receives:], passed.positional, strict=False):
            if not isinstance(given, PackageType) or each.annotation is None:
                continue
            wanted = self.annotations.read(each.annotation, context)
            if isinstance(wanted, PackageType) and wanted.path in _DISTINCT - {given.path}:
                return False
        return True

    def _result(
        self, header: Function, context: AnnotationContext, passed: Passed
    ) -> ValueType | None:
        decorators = {decorator_name(each) for each in header.decorator_list}
        receives = context.receiver is not None and "staticmethod" not in decorators
        bound = self._solve_type_variables(header, context, passed, receives=receives)
        context = replace(context, type_variables={**context.type_variables, **bound})
        returned = self.annotations.read(header.returns, context)
        return self.wrap_result(without_none(returned), header, decorators)

    def wrap_result(
        self, returned: ValueType | None, header: Function, decorators: set[str]
    ) -> ValueType | None:
        """Return what a call returns: a context manager, a coroutine, or what is annotated.

        Args:
            returned: the type that the function is annotated to return.
            header: of the function.
            decorators: their last names.
        """
        for name, prefix in _MANAGERS.items():
            if name in decorators:
                inner = None
                if isinstance(returned, PackageType) and returned.arguments:
                    inner = returned.arguments[0]
                path = f"contextlib.Abstract{prefix}ContextManager"
                return self.annotations.standard_type(path, inner, None)
        if isinstance(header, ast.AsyncFunctionDef):
            path = returned.path if isinstance(returned, PackageType) else ""
            if path.rpartition(".")[2] not in _ASYNC_GENERATORS:
                return self.annotations.standard_type("typing.Coroutine", None, None, returned)
        return returned

    def _solve_type_variables(
        self, header: Function, context: AnnotationContext, passed: Passed, *, receives: bool
    ) -> dict[str, ValueType | None]:
        """Return what the type variables in a function's header are, by the arguments of a call."""
        bound: dict[str, ValueType | None] = {}
        plain = positional(header)
        pairs = [*zip(plain[receives:], passed.positional, strict=False)]
        if receives and plain:
            pairs.insert(0, (plain[0], context.receiver))
        pairs += [
            (each, passed.named[each.arg])
            for each in (*plain[receives:], *header.args.kwonlyargs)
            if each.arg in passed.named
        ]
        for parameter, given in pairs:
            if parameter.annotation is not None:
                self.annotations.unify(parameter.annotation, given, context, bound)
        return bound


def _is_nothing(node: ast.expr | None) -> bool:
    """Return whether no value is written, or ``None``, for which methods put another."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _visible(headers: Sequence[Function]) -> Sequence[Function]:
    """Return the overloads of a function, without the implementation that callers do not see."""
    last = headers[-1].decorator_list if len(headers) > 1 else []
    is_seen = len(headers) < 2 or "overload" in map(decorator_name, last)
    return headers if is_seen else headers[:-1]


def _is_class(path: str, package: Installed) -> bool:
    symbol = package.surface.symbol(path) if path else None
    return symbol is not None and symbol.kind in {"class", "enum"}


def _plain_arrays(value: ValueType | None) -> ValueType | None:
    """Return a value whose arrays are numpy's plain ones: docstrings would name a subclass."""
    if not isinstance(value, PackageType):
        return value
    inner = tuple(map(_plain_arrays, value.arguments))
    if value.path == ARRAY:
        return replace(value, arguments=inner, subclasses=(), is_plain=True)
    return replace(value, arguments=inner)


def _of_extending(
    returned: ValueType | None, symbol: Symbol, receiver: PackageType | None
) -> ValueType | None:
    """Return the class of a receiver that extends another package's, in place of that one.

    Methods of pandas are annotated to return a ``DataFrame``, and return what geopandas makes of it
    where they are called of that.
    """
    if not isinstance(returned, PackageType) or receiver is None or returned.is_class:
        return returned
    home, found = (symbol.target or symbol.path).rpartition(".")[0], returned.package
    named = found.symbol(returned.path)
    is_own = named is not None and home in {returned.path, named.target}
    is_other = receiver.package.name not in {found.name, STANDARD}
    return replace(receiver, is_class=False) if is_own and is_other else returned


def _is_bound(written: Sequence[Function]) -> bool:
    """Return whether functions are methods of an object of their module: ``rand = _rand.rand``."""
    firsts = {next((each.arg for each in positional(header)), "") for header in written}
    return firsts == {"self"}
