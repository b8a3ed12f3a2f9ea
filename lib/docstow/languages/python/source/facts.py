"""What a Python source file binds, as far as reading can tell, and where that ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from docstow.languages.shared.surface import Parameter

#: What ``__getattr__`` of a class returns for names that the class lacks. ``no``: it has none, or
#: one that only raises. ``hidden``: it is hidden from type checkers. ``items``: what the object
#: holds under that key. ``any``: anything.
GetattrResult = Literal["no", "hidden", "items", "handed", "any"]
#: How a decorator that keeps the arguments of a function is used: as it is, called, or both. Empty
#: for other functions.
Keeps = Literal["", "bare", "called", "both"]
Kind = Literal["class", "function", "attribute", "property", "import"]


@dataclass(frozen=True, slots=True)
class Field:
    """An annotated name of a class body, as decorators that make constructors read it.

    Attributes:
        name: the attribute.
        annotation: as written.
        default: the default as written; empty for none.
        keywords: of the default, where it is a call such as ``field(init=False)``.
        call: what that call calls, dotted; empty for other defaults.
    """

    name: str
    annotation: str
    default: str = ""
    call: str = ""
    keywords: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decorator:
    """A decorator: its dotted name (empty where it is no name) and its keywords as written."""

    name: str
    keywords: Mapping[str, str] = field(default_factory=dict)
    called: bool = False


@dataclass(frozen=True, slots=True)
class Forward:
    """Where all keywords go that a function has no parameter for.

    Attributes:
        targets: what gets them, one that certainly does alone: what is called, dotted
            (``super().name`` for the method of a base), with the class whose instance that begins
            with, empty where that is no variable, and the number of the parameter that gets the
            dictionary as it is, empty where it is unpacked. None where any of them is refused.
        taken: keywords that the function itself reads.
        instead: the parameter that gets them in place of a target where it is passed; or empty.
    """

    targets: tuple[tuple[str, str, str], ...]
    taken: frozenset[str] = frozenset()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """One way in which a name is bound.

    Attributes:
        name: the name.
        kind: what binds it.
        line: first line, decorators included; 0 where no statement binds it.
        end_line: last line.
        signature: the header on one line, after one line for each overload; of an attribute its
            annotation and a short value.
        docstring: without common indentation.
        copies: dotted name of what else the docstring is of; a docstring written here comes first.
        deprecated: the reason, ``deprecated`` without one; empty if it is not.
        decorators: the outermost first.
        parameters: all, ``self`` included; None where only overloads have them.
        overloads: the parameters of each overload.
        value: of an attribute the dotted name that it is an alias of; of an import ``public``
            where ``X as X`` exports it.
        target: of an import the module, absolute; with :attr:`imported` the name in it.
        imported: name in that module; empty where the module itself is bound.
        body: of a class.
        conditional: bound in one branch among others.
        forward: where a function's further keywords go, if that is certain.
        unpacked: the same of parameters that are dictionaries of keywords, each with its name.
        keeps: whether a function is a decorator that keeps the arguments of what it decorates.
        maker: of an attribute what is called to make it, or else its annotation, dotted.
    """

    name: str
    kind: Kind
    line: int
    end_line: int
    signature: str = ""
    docstring: str = ""
    copies: str = ""
    deprecated: str = ""
    decorators: tuple[Decorator, ...] = ()
    parameters: tuple[Parameter, ...] | None = None
    overloads: tuple[tuple[Parameter, ...], ...] = ()
    value: str = ""
    target: str = ""
    imported: str = ""
    body: ClassBody | None = None
    conditional: bool = False
    forward: Forward | None = None
    unpacked: tuple[tuple[str, Forward], ...] = ()
    keeps: Keeps = ""
    maker: str = ""


@dataclass(frozen=True, slots=True)
class ClassBody:
    """The inside of a class.

    Attributes:
        bases: dotted names without subscripts; empty strings for what is no name.
        metaclass: dotted name; ``?`` for what is no name.
        keywords: whether there are further keywords in the header.
        names: definitions by name, more than one where branches differ.
        fields: annotated names in order.
        mentioned: attributes of ``self`` and ``cls`` in methods, and what ``__getattr__`` compares.
        open_reason: why further names may appear; empty where none can.
        getattr_result: what ``__getattr__`` returns for names that the class lacks.
        has_called_base: whether a base is the result of a call, whose names ``bases`` has.
        has_slots: whether ``__slots__`` names the attributes of its instances.
        allows_extra: whether its configuration may allow data besides the fields.
        answering: the modules whose names ``__getattr__`` answers with, dotted, and with no others.
        proxied: the attribute to which ``__getattr__`` hands on every name; empty for none.
        composed: with what further names begin and end that are made of parts.
        wrapped: the class whose instances it stands for, dotted; empty for none.
        gives_names: as a metaclass it may give its classes names that are not seen, as far as its
            own methods tell.
    """

    bases: tuple[str, ...]
    metaclass: str
    keywords: bool
    names: Mapping[str, tuple[Definition, ...]]
    fields: tuple[Field, ...] = ()
    mentioned: frozenset[str] = frozenset()
    open_reason: str = ""
    getattr_result: GetattrResult = "no"
    has_called_base: bool = False
    has_slots: bool = False
    allows_extra: bool = False
    answering: tuple[str, ...] = ()
    proxied: str = ""
    composed: tuple[tuple[str, str], ...] = ()
    wrapped: str = ""
    gives_names: bool = True


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """The whole of a file.

    Attributes:
        name: dotted.
        docstring: without common indentation.
        names: definitions by name.
        stars: modules of which it imports all names, absolute.
        exports: ``__all__``; None where there is none or it cannot be read.
        open_reason: why further names may appear; empty where none can.
        lines: number of lines.
        open_prefixes: what further names begin with that may appear.
        fillers: functions that may write to the globals of who calls them.
        getattr_names: further names that the module's ``__getattr__`` answers for.
        getattr_factories: functions whose result answers for further names, as they are named here.
        defined_factories: its own functions of that kind, each with the names (or ``module:name``)
            that their results answer for.
        given_texts: docstrings that it gives to names of other modules, by ``package:name``.
    """

    name: str
    docstring: str
    names: Mapping[str, tuple[Definition, ...]]
    stars: tuple[str, ...]
    exports: tuple[str, ...] | None
    open_reason: str
    lines: int
    getattr_names: frozenset[str] = frozenset()
    getattr_factories: tuple[str, ...] = ()
    defined_factories: Mapping[str, frozenset[str]] = field(default_factory=dict)
    given_texts: Mapping[str, str] = field(default_factory=dict)
    open_prefixes: tuple[str, ...] = ()
    fillers: frozenset[str] = frozenset()
