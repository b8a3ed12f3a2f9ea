"""What a Python source file binds, as far as reading can tell.

This room knows names, definitions and where knowledge ends. It does not know syntax, files, or
what a name of another file means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from docstow.languages.shared.surface import Parameter

#: What becomes of names that a class has not: ``no`` says that nobody is asked, or that whoever is
#: only raises; ``hidden`` is kept from those who read types; ``items`` gives what the object holds
#: under that key; ``any`` may give anything.
Asked = Literal["no", "hidden", "items", "any"]
#: What takes the arguments of what is decorated: what the function gives, or what that gives.
Keeps = Literal["", "bare", "called"]
Kind = Literal["class", "function", "attribute", "property", "import"]


@dataclass(frozen=True, slots=True)
class Field:
    """An annotated name of a class body, as the decorators that make constructors read it.

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
    """The call that gets all keywords that a function has no parameter for.

    Attributes:
        target: what is called, dotted; ``super().name`` for what a base has.
        taken: keywords that the function looks at before.
        maker: the class that makes the local value which the target begins with; else empty.
    """

    target: str
    taken: frozenset[str] = frozenset()
    maker: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """One way in which a name is bound.

    Attributes:
        name: the name.
        kind: what binds it.
        line: first line, decorators included.
        end_line: last line.
        signature: header as written, on one line, all overloads first; of an attribute its
            annotation and a short value.
        docstring: without common indentation.
        deprecated: reason, if it says that it is.
        decorators: the outermost first.
        parameters: all, ``self`` included; None where overloads alone say them.
        overloads: those of each overload.
        value: of an attribute the dotted name that it is another name of; of an import ``public``
            where ``X as X`` says that it is meant for others.
        target: of an import the module, absolute; with :attr:`imported` the name in it.
        imported: name in that module; empty where the module itself is bound.
        body: of a class.
        conditional: bound in one branch among others.
        forwards: where a function's further keywords go, if that is certain.
        keeps: whether a function is a decorator that leaves what it decorates its arguments.
    """

    name: str
    kind: Kind
    line: int
    end_line: int
    signature: str = ""
    docstring: str = ""
    deprecated: str = ""
    decorators: tuple[Decorator, ...] = ()
    parameters: tuple[Parameter, ...] | None = None
    overloads: tuple[tuple[Parameter, ...], ...] = ()
    value: str = ""
    target: str = ""
    imported: str = ""
    body: ClassBody | None = None
    conditional: bool = False
    forwards: Forward | None = None
    keeps: Keeps = ""


@dataclass(frozen=True, slots=True)
class ClassBody:
    """The inside of a class.

    Attributes:
        bases: dotted names without subscripts; empty strings for what is no name.
        metaclass: dotted name; ``?`` for what is no name.
        keywords: whether there are further keywords in the header.
        names: definitions by name, more than one where branches differ.
        fields: annotated names in order.
        mentioned: attributes of ``self`` and ``cls`` that methods speak of.
        opened: why further names may appear; empty where none can.
        asked: what becomes of names that it has not.
        made: whether a base is made by a call, and ``bases`` has what the call speaks of.
    """

    bases: tuple[str, ...]
    metaclass: str
    keywords: bool
    names: Mapping[str, tuple[Definition, ...]]
    fields: tuple[Field, ...]
    mentioned: frozenset[str]
    opened: str
    asked: Asked = "no"
    made: bool = False


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """The whole of a file.

    Attributes:
        name: dotted.
        docstring: without common indentation.
        names: definitions by name.
        stars: modules whose names are all imported, absolute.
        exports: ``__all__``; None where there is none or it cannot be read.
        opened: why further names may appear; empty where none can.
        lines: number of lines.
        answers: further names that the module's ``__getattr__`` answers for.
        delegates: functions that make what answers for further names, as the module names them.
        makers: its own functions of that kind, with the names (or ``module:name``) they know.
    """

    name: str
    docstring: str
    names: Mapping[str, tuple[Definition, ...]]
    stars: tuple[str, ...]
    exports: tuple[str, ...] | None
    opened: str
    lines: int
    answers: frozenset[str] = frozenset()
    delegates: tuple[str, ...] = ()
    makers: Mapping[str, frozenset[str]] = field(default_factory=dict)
