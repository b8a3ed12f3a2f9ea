"""Type checkers as engines: which claims are told and which refused, what they cannot do."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from docstow.cli import engines as commands
from docstow.cli import main
from docstow.core.errors import PackageNotFound, UnreadableInput
from docstow.core.settings import load
from docstow.languages.python.check import pyrefly
from docstow.languages.python.checker_releases import ENGINES, PYREFLY, TY
from docstow.languages.shared import engines
from docstow.languages.shared.engines import Engines
from docstow.runtime import Runtime
from docstow.sources.packages.programs import fetcher_of, unpack_program
from servers.python_index import PythonIndexServer

Verify = Callable[..., dict[str, Any]]

#: A class of the code whose attributes something else sets by their names.
FILLED = """from collections.abc import Sized
class Own(Sized):
    tied = 0
    def __len__(self):
        fill('ties', self)
        return self.ties
"""

#: Values that ty takes for others than they are.
TAKEN_FOR_OTHERS = {
    "items that another type is put in for": """
class A:
    SIZES = {'x': {'a': 1, 'b': (1, 2)}}
    def __init__(self):
        self._size = self.SIZES['x'].copy()
        self._size.update({'c': {'d': 1}})
        self._size['c'].update({'e': 2})
""",
    "what a loop runs over before it binds the name anew": """
def f(given):
    index = given.index()
    index.sha
    for index in range(index.size()):
        print(index)
""",
    "items beside those that are put there": """
def f(rows):
    told = {'start': None, 'keys': {}}
    told['start'] = [1]
    told['keys'].setdefault(1, rows)
""",
    "a parameter that is bound anew": """
def f(rows: set[int]):
    rows = list(rows)
    rows.sort()
""",
    "attributes that are set by their names": """
class A:
    pattern = 'a'
    def __init__(self):
        for each in ['pattern', 'other']:
            self.__setattr__(each, print)
    def f(self):
        self.pattern.match('a')
""",
    "an exception that nobody tells": """
import sys
def f(error: Exception):
    return error.status_code
error = sys.exc_info()[1]
error.column
""",
    "another value for the name of a module": """
import string
import os
if os.name:
    string = str
lower = string.lower
""",
    "vars of what may be a class": """
from absent import Base
class A(Base):
    def fill(self, **options):
        vars(self).update(options)
""",
    "keywords that are not seen": """
import subprocess
def f(command, **options):
    process = subprocess.Popen(command, **options)
    return process.communicate()[0].decode()
""",
    "a method without self": """
class Runner:
    def map(data, function):
        return data.map(function, skip=True)
""",
    "a method that a subclass overrides": """
class A:
    def use(self, name=None): ...
    def start(self):
        self.use('a', force=True)
class B(A):
    def use(self, name=None, force=False): ...
""",
    "slots": """
class Outer:
    class Step:
        __slots__ = ('kept', 'number')
        def __init__(self, kept):
            self.kept = kept
    class Insertion(Step):
        def run(self):
            return self.kept.get(1)
""",
    "what only a constructor takes": """
import dataclasses
@dataclasses.dataclass
class A:
    held: dataclasses.InitVar[str] = dataclasses.field(hash=False)
    def __post_init__(self, held):
        self.held = open(held)
    def read(self):
        self.held.readline()
        self.held.absent()
""",
    "an instance of another class": """
import atoll
atoll.Sail(1, cloth='jib')
atoll.Sail(cloth='jib')
""",
    "items by their keys": """
import harbour
hold = harbour.Hold()
hold['wet'].tap()
""",
    "what builds packages": """
import distutils.core  # type: ignore
class Own(distutils.core.Distribution): ...  # type: ignore
def f(attrs):
    Own(attrs).parse_config_files(ignore_option_errors=True)
""",
}

#: Functions of the code and what it gives to their parameters, which have no annotations.
GIVEN = {
    "where the function is called": "def f(s):\n    s.more('a')\nf(harbour.Tug())",
    "by its name": "def f(s):\n    s.more('a')\nf(s=harbour.Tug())",
    "in place of None": "def f(s=None):\n    s.more('a')\nf(harbour.Tug())\nf(None)",
    "from one to another": (
        "def f(s):\n    g(s)\ndef g(t):\n    t.more('a')\n[f(each) for each in [harbour.Tug()]]"
    ),
    "to a constructor": (
        "class A:\n    def __init__(self, ship):\n        self.ship = ship\n"
        "    def go(self):\n        self.ship.more('a')\nA(harbour.Tug()).go()"
    ),
    "to a method": (
        "class A:\n    def go(self, ship):\n        ship.more('a')\nA().go(harbour.Tug())"
    ),
    "to another function, by the same name": (
        "def f(ship):\n    ship.more('a')\ndef g(ship):\n    ship.tow()\ng(harbour.Tug())"
    ),
    "to nothing, but a global variable has its name": (
        "def f(ship):\n    ship.more('a')\nship = harbour.Tug()"
    ),
}
#: Functions of which the code does not show all that is given to them.
NOT_ALL_GIVEN = {
    "it is passed on": "def f(s):\n    s.lost()\nf(harbour.Ship())\nlist(map(f, [1]))",
    "it is decorated": "import lagoon\n@lagoon.define\ndef f(s):\n    s.lost()\nf(harbour.Ship())",
    "arguments are unpacked": "def f(s):\n    s.lost()\nf(harbour.Ship())\nf(*rest())",
    "one value is not known": "def f(s):\n    s.lost()\nf(harbour.Ship())\nf(rest())",
    "the kind is tested": (
        "def f(s):\n    if hasattr(s, 'lost'):\n        s.lost()\n    s.found()\nf(harbour.Ship())"
    ),
    "a function tests its kind": (
        "def f(s):\n    if isText(s):\n        s.lost()\nf(harbour.Ship())"
    ),
    "it is bound anew": "def f(s):\n    s = rest(s)\n    s.lost()\nf(harbour.Ship())",
    "a subclass is made, too": (
        "class A:\n    def __init__(self, s):\n        s.lost()\nclass B(A): ...\nA(harbour.Ship())"
    ),
    "the method is another's": (
        "class A:\n    def moor(self, s):\n        s.lost()\nharbour.Ship.moor(harbour.Ship(), 'a')"
    ),
    "a method of anything has its name": (
        "class A:\n    def get(self, s):\n        s.lost()\n"
        "    def use(self, d):\n        return d.get(harbour.Ship())"
    ),
    "a name is made of itself": (
        "class A:\n    def go(self, s):\n        s.lost()\ng = g()\ng.go(harbour.Ship())"
    ),
    "a method is called of its class": (
        "class A:\n    def go(self, s, t=1):\n        s.lost()\nA.go(A(), harbour.Ship())"
    ),
    "a text is compared with it": (
        "def f(s):\n    s.lost()\ndef g(t):\n    if t == 'a':\n        f(t)"
    ),
    "several things have its name": (
        "def f(s):\n    s.lost()\ndef g(s):\n    s.tow()\ng(harbour.Tug())\ns = harbour.Crate()"
    ),
}

#: Members of values of unknown classes that something may have, and keywords that may be taken.
MAYBE_HEARD_OF = {
    "a word of the package": "quay.anchorage().light()",
    "a module that is made": "quay.load('a').lamp()",
    "a node of Python's syntax": "quay.leaves()[0].lineno",
    "a field that a metaclass reads": (
        "import buoys\nclass M(buoys.Message):\n    rows = buoys.Field(1)\n"
        "m = M()\nm.rows.append(1)\ntype(m)"
    ),
    "a class of a type variable": "import buoys\nbuoys.find().value.chain",
    "a constant in Rust": "import mole.lock\nmole.lock.__version__",
    "keywords of an element": "import buoys\nbuoys.element('a', spans='1')",
    "keywords of a class that data tells": "import buoys\nbuoys.Anchors().add(fathoms=1)",
    "a keyword of the protocol of a decorator": (
        "import buoys\n@buoys.logged('all')\ndef f(x: int) -> int: ...\nf(3, log_extra=1)"
    ),
    "a keyword that what is held keeps": "quay.Line().tie(1, hitch=2)",
    "a subclass that inherits from a class in another file": "import buoys\nbuoys.sailed().tide()",
    "an overload for slices": "import buoys\nbuoys.Coils()[0].rewind()",
    "a text of a class in a package": "import buoys\nbuoys.label().tide()",
    "what answers for any name": "import buoys\nbuoys.Mark().top.td('a')",
    "what is put into an instance by name": "def f(port):\n    port.tugs()\nf(quay.port())",
    "what something hands on to what answers for any name": "quay.Relay().toots(1)",
    "what another object exports to an instance": "quay.sheet().toots(1)",
    "what the code exposes below another name": (
        "class A:\n    def exposed_toot(self): ...\nquay.root().toot()"
    ),
    "a key that a constructor hands on": "import buoys\nbuoys.Entry(depth=1).depth",
    "commands that are collected": "import redis\nredis.Pipeline().set('a', 1).set('b', 2)",
    "an overload for numbers": "import buoys\nbuoys.Grid()[1].depth",
    "a keyword of a subclass": "import buoys\ndef f(reel: buoys.Reel):\n    reel.wind(1, slack=2)",
    "a list of several classes": (
        "import buoys\nrows = [buoys.Anchor(), buoys.Rope(1)]\nrows[1].chains"
    ),
    "a dictionary with keys as attributes": "import buoys\nbuoys.receipt().paid",
    "a class that is declared to have any name": "import buoys\nbuoys.Told().sights",
    "what a module looks up in another": "from locks.cmd import toot",
    "a field of a model that is made": "import pydantic\npydantic.create_model('A', b=1)().b",
    "what a field of a base gives": (
        "import buoys\nclass A(buoys.Message):\n    level = buoys.Field(1)\nA().get_level_display()"
    ),
    "a class below a backport": (
        "import exceptiongroup as e\nclass A(e.ExceptionGroup):\n    job = 1\n"
        "def f(group: BaseExceptionGroup):\n    group.job"
    ),
    "an instance that is given more where it is made": (
        "class A(ValueError):\n    def __new__(cls, job):\n        made = super().__new__(cls)\n"
        "        made.job = job\n        return made\n    def use(self):\n        self.job"
    ),
    "an instance that is made without its class": (
        "class A:\n    @classmethod\n    def make(cls, job):\n        made = object.__new__(cls)\n"
        "        made.job = job\n        return made\nA.make(1).job"
    ),
    "a value that is shown to be refused with others": (
        "import buoys\ntry:\n    buoys.paint('blue')\nexcept (TypeError, ValueError):\n    print(1)"
    ),
    "a value that is shown to be refused": (
        "import buoys\ntry:\n    buoys.paint('blue')\nexcept ValueError:\n    print(1)"
    ),
    "what is put in a module's place": "import bells\nbells.tolls('a')",
    "what another package sets": "import buoys\nbuoys.Ship().moored_at",
    "a name that is registered": (
        "import buoys\n@buoys.register_rope_namespace('knots')\nclass Knots: ...\n"
        "buoys.Anchor().knots"
    ),
    "a type variable of its own": (
        "from typing_extensions import TypeVar\nT = TypeVar('T')\nT.has_default()"
    ),
    "a base in another package": "from sound.crews.divers import Divers\nDivers().dismiss()",
    "a name of Python's own": "quay.anchorage().title()",
    "a method of what is given": "import harbour\nquay.anchorage(harbour.Ship()).moor('a')",
    "a method of the code": ("class Own:\n    def lamp(self): ...\nquay.anchorage(Own()).lamp()"),
    "what is given is not known": "from elsewhere import made\nquay.anchorage(made).lamp()",
    "a function is given": "def f(lamp): ...\nquay.anchorage(f).lamp()",
    "a parameter is given": "def f(what):\n    quay.anchorage(what).lamp()",
    "something is kept there": "quay.anchorage().state.lamp()",
    "it is a module, or nothing": (
        "try:\n    import quay as q\nexcept ImportError:\n    q = None\n"
        "def f():\n    return q.stored('a')"
    ),
    "it may be of a library that is not here": "import raft\nraft.table([1]).regrouped_by()",
    "it may be a module": "quay.anchorage().handed('a')",
    "the code sets it": "b = quay.anchorage()\nb.lamp = print\nb.lamp()",
    "an attribute that data name": "quay.anchorage().lamp",
    "the class answers for anything": "quay.Any().lamp()",
    "a name it answers for": "quay.Buoy().bell",
    "a test for it": "b = quay.anchorage()\nif hasattr(b, 'lamp'):\n    b.lamp()",
    "keywords are kept": "quay.stored('a', colour=1)",
    "a keyword that the code speaks of": "print('colour')\nquay.handed('a', colour=1)",
    "another form takes any keyword": "quay.hail('a', print, tone=1)",
    "a keyword of something else": "quay.handed('a', given=1)",
}

#: A class of Python's own whose stub tells not all that its instances have.
HANDLER = """from wsgiref.simple_server import ServerHandler
class A(ServerHandler):
    def f(self):
        return self.environ, self.headers
"""
MODEL = "from pydantic import BaseModel, ConfigDict\nclass A(BaseModel):\n"
MADE = "import lagoon\n@lagoon.define\nclass P:\n    x: int = lagoon.field()\n    _y: int = 0\n"

#: A package with types, and one whose names come about in ways that no stub tells.
PARSER = "import argparse\np = argparse.ArgumentParser()\n"
#: What runs functions elsewhere.
POOL = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"

PACKAGES: Mapping[str, Mapping[str, str]] = {
    "dockyard": {
        "dockyard/plans.py": "def keel(): ...\nclass Hull: ...\n",
        "dockyard/tides.py": "def ebb(): ...\n",
        "dockyard/flags.py": "from enum import Enum\nclass Flag(Enum):\n    RED = 1\n",
        "dockyard/gates.py": "def ebb(): ...\nfrom dockyard.locks import Lock\n",
        "dockyard/locks.py": "class Lock: ...\n",
        "dockyard/old.py": """
def __getattr__(name):
    if (found := globals().get(f"_OLD_{name}")) is None:
        raise AttributeError(name)
    return found

_OLD_keel = 1
""",
        "dockyard/flags.pyi": "from enum import Enum\nclass Flag(Enum):\n    RED: int\n",
        "dockyard/__init__.py": """
import argparse
from functools import partial, partialmethod, wraps
from typing import Callable, Concatenate, Protocol, TypeVar, Union
from dockyard import plans, tides as t

class Pier:
    def __getattr__(self, name):
        if name == "event":
            return None
        for module in (plans, t):
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)

class Told:
    def __getattr__(self, key):
        if key in ("old", "older"):
            return 1
        raise AttributeError(key)

KNOWN = {"title": 1}

class Tabled:
    def __getattr__(self, name):
        if name in KNOWN:
            return KNOWN[name]
        else:
            raise AttributeError(name)

class Port:
    def __init__(self):
        self._operations = {}
    def __getattr__(self, name):
        return self[name]
    def __getitem__(self, name):
        return self._operations[name]

class Shed:
    def __getattr__(self, name):
        try:
            module, kept = KEPT[name]
            setattr(self, name, kept)
            return getattr(self, name)
        except KeyError:
            raise AttributeError()

KEPT = {"ropes": ("a", 1)}

class Row:
    def __setitem__(self, key, item):
        self.__dict__[key] = item

class Hooks:
    began: str
    def __init__(self):
        for name, value in self.__annotations__.items():
            setattr(self, name, value)

def filled(prefix, is_method=False):
    part = partialmethod if is_method else partial
    def wrap(function):
        defaults = {}
        return part(function, **defaults)
    return wrap

class Bar:
    @filled("BAR_", is_method=True)
    def __init__(self, items=None, desc="", **options):
        if options:
            raise KeyError("unknown: " + str(options))

def checked(most):
    def wrap(function):
        @wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs)
        return inner
    if isinstance(most, int):
        return wrap
    else:
        return checked(3)(most)

def cached(function=None, *, size=1):
    def wrap(function):
        @wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs)
        return inner
    return wrap(function) if function else wrap

class Crate:
    @checked
    def stack(self, height): ...
    @checked(2)
    def open(self, lid): ...
    @cached
    def weigh(self, unit): ...
    @cached(size=3)
    def ship(self, to): ...

class Held:
    def __init__(self, make):
        self.make = make
    def __getattr__(self, name):
        if name in ("made", "make"):
            raise AttributeError(name)
        return getattr(self.made, name)

class Tools:
    def __getattr__(self, name):
        return made_of(name)

class Kept:
    def __init__(self):
        self._made = {}
    def __getattr__(self, name):
        if name not in WORDS:
            raise AttributeError(name)
        self._made[name] = Job()
        return self._made[name]

class TideTable: ...
class TideError(Exception): ...

ADDED = ["add_label"]

class Job:
    def lift(self, crane: str) -> None: ...

class Yard:
    def run(self, work: "Work", times: int = 1) -> None: ...
    def inspect(self, check: "Check | None" = None) -> None: ...
    def greet(self, caller: "Greeting[Job]") -> None: ...
    def each(self, do): ...
    def paint(self, *, shade="red"): ...
    @staticmethod
    def open() -> "Yard": ...
    def at(self, hour: int) -> Callable[["H"], "H"]: ...
    def after(self, do: "Callable[[Job], None]") -> "Callable[[Job], None]": ...
    def before(self) -> Callable[[Callable[Concatenate[Job, ...], None]], None]: ...
    def always(self): ...

class Lift(Protocol):
    def __call__(self, *, weight: int) -> None: ...

crane: Lift = lambda **options: None

V = TypeVar("V")
Work = Callable[[Job], int]
Handler = Union[
    Callable[[Job], "collections.abc.Coroutine[typing.Any, typing.Any, None]"],
    Callable[[Job], None],
]
H = TypeVar("H", bound=Union[Handler, Shed])
Greeting = Callable[[V, str], None]

class Check(Protocol):
    def __call__(self, job: Job, *, deep: bool) -> bool: ...

paint = Yard().paint

class Maker(type):
    def __new__(mcs, name, bases, attrs):
        fields = {k: attrs.pop(k) for k, v in list(attrs.items()) if isinstance(v, Field)}
        return super().__new__(mcs, name, bases, {**attrs, "_fields": fields})

class Field:
    def __init__(self, kind=None): ...

class Record(metaclass=Maker):
    def __init__(self, **values): ...

class Parser(argparse.ArgumentParser): ...

argparse._ActionsContainer.put = argparse._ActionsContainer.add_argument

def add_argument(self, *args, **kwargs): ...

argparse._ActionsContainer.add_argument = add_argument
""",
    },
    "harbour": {
        "harbour/py.typed": "",
        "harbour/__init__.py": """
from collections.abc import Hashable, Iterable
from typing import Callable, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

T = TypeVar("T")

class Load(TypedDict):
    weight: int

class Ship:
    length: int
    def moor(self, at: str, *, fast: bool = False) -> "Berth[Ship]": ...
    def sail(self, course: Literal["north", "south"] = "north") -> None: ...

class Tug(Ship):
    def tow(self) -> None: ...

class Berth(Generic[T]):
    held: T
    @property
    def ships(self) -> list[T]: ...

class Fleet:
    @overload
    def __getitem__(self, key: Hashable) -> Ship: ...
    @overload
    def __getitem__(self, key: Iterable[Hashable]) -> "Fleet": ...
    def __getitem__(self, key): ...
    def count(self) -> int: ...

class Winch:
    def attach(self, ship: Ship) -> None: ...
    def attached(self, ship: "Crate") -> None: ...
    def hoists(self) -> list[str]: ...
    def hoist(self, load: int, *, lengths: tuple[str, ...] = (), length: int = 0) -> int: ...

def raising() -> str: ...
def raised(load: int) -> int: ...

class Crate:
    def open(self) -> None: ...

class Barrel:
    def tap(self) -> None: ...

class Hold:
    @overload
    def __getitem__(self, key: Literal["dry"]) -> Crate: ...
    @overload
    def __getitem__(self, key: Literal["wet"]) -> Barrel: ...
    def __getitem__(self, key): ...

@overload
def call(name: str) -> Ship: ...
@overload
def call(name: str, *, port: int) -> Tug: ...
def call(name, *, port=0): ...

def built(flag):
    return (lambda: Barrel())()

class Floats(Protocol):
    def sink(self) -> None: ...

def afloat() -> Floats: ...

class Pilot:
    def __init__(self, ship: Ship) -> None: ...
    def meet(self, ship: Ship, *, at: Berth[Ship]) -> None: ...
    def wait(self, ship) -> None: ...

class Rigging(TypedDict, total=False):
    sails: int
    colour: str

def rig(ship: Ship, **how: Unpack[Rigging]) -> None: ...

def visit(work: Callable[[Ship], object], load: Load) -> None: ...
""",
    },
    "lagoon": {
        "lagoon/py.typed": "",
        "lagoon/__init__.py": '''
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

def field(**options: Any) -> Any: ...
@dataclass_transform(field_specifiers=(field,))
def define(kind: type[T]) -> type[T]: ...

class Tide:
    """Answers for any name."""
    def __init__(self, **names: int) -> None:
        self.__dict__.update(names)

class Wave:
    def __getattr__(self, name):
        return 1

def _fill() -> None:
    for name in ("ebb", "flow"):
        globals()[name] = Tide()

_fill()

class Pool:
    size: int = 0
    def __init__(self) -> None:
        for name in ("depth",):
            setattr(self, name, 1)

def pool() -> Pool: ...
def tide() -> Tide: ...
''',
    },
    "atoll": {
        "atoll/__init__.py": """
import functools
import sys
from collections import namedtuple as nt
from atoll import _parts

if sys.platform == "linux":
    Knot = nt("Knot", "name size")
else:
    Knot = nt("Knot", ("name", "size", "length"))

class Deep(object):
    def __new__(cls, *args):
        return object.__new__(cls)
    def dive(self, depth, *, slow=False):
        return self
    def rope(self, metres=1):
        made = _parts.Rope(metres)
        return made

class Either:
    def __new__(cls, other=None):
        if isinstance(other, Either):
            return other
        return _parts.from_text("either")
    def choose(self): ...

class Sail:
    def __new__(cls, *args, **kwargs):
        if cls is Sail:
            return super().__new__(_Canvas)
        return super().__new__(cls)
    def __init__(self, area, mast): ...

class _Canvas(Sail):
    def __init__(self, area=1, cloth=None): ...

class Keel:
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)
    def __init__(self, depth=1): ...

class Client:
    @classmethod
    def from_env(cls, **kw):
        return cls(**kw)
    def ping(self): ...

from_env = Client.from_env

class Base:
    def draw(self, width): ...

class Below(Base):
    def draw(self, width, *, colour=0): ...

def base() -> Base: ...

class counted:
    def __init__(self, function):
        functools.update_wrapper(self, function)

@counted
def measure(length, *, unit="m"):
    return length

def extend(kind):
    return lambda function: setattr(kind, function.__name__, function)

@extend(Base)
def stretch(self): ...
""",
        "atoll/_parts.py": """
class Rope:
    def __init__(self, metres): ...
    def tie(self): ...
""",
    },
    "delta": {
        "delta/__init__.py": """
from typing import overload
from delta import _lines

# A client may upload files.
class Client:
    def __init__(self, maker=None):
        self._line = None
        if maker is None:
            maker = _lines.Line
        line = self._line = maker()
    def open(self):
        return self._line.session()
    def keep(self, **options):
        for name, value in options.items():
            setattr(self, "_" + name, value)

class Options:
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)
    listed = ["described"]

if _lines.FAST:
    from delta._lines import Fast as Stream
else:
    from delta._lines import Slow as Stream

def purge(): ...

class Maker:
    @overload
    def sheet(self) -> Options: ...
    @overload
    def sheet(self, *sizes: int) -> _lines.Line: ...
    def sheet(self, *sizes): ...

_maker = Maker()
sheet = _maker.sheet

class App:
    def task(self, **options):
        return lambda function: _lines.Task(function)

def dressed(names):
    made = _lines.Line()
    for each in names:
        setattr(made, each, print)
    return made

def equipped():
    made = _lines.Line()
    made.oar = print
    return made

class Kept:
    def __call__(self, kind):
        return kind

kept = Kept()

@kept
class Shore:
    def land(self): ...

def __getattr__(name):
    return getattr(_lines, name)
""",
        "delta/_lines.py": """
import sys
FAST = sys.maxsize > 1000
class Line:
    def session(self):
        return Session.on(self)
class Session:
    @classmethod
    def on(cls, line):
        return cls()
    def __enter__(self):
        return self
    def __exit__(self, *args): ...
    def put(self, path): ...
class Fast:
    def push(self): ...
    def rush(self): ...
class Slow:
    def push(self): ...
""",
    },
    "types-distutils": {
        "distutils-stubs/__init__.pyi": "",
        "distutils-stubs/core.pyi": """
class Distribution:
    def __init__(self, attrs=None): ...
    def parse_config_files(self, filenames=None): ...
""",
    },
    "isle": {
        "isle/__init__.py": """
import sys
sys.modules.update({"isle.extra": sys})

def land(at: str): ...
async def sail_there(): ...
def sail_here(): ...
def book(room: int, *, guest: str, nights: int = 1, on_leave=print): ...

class Chart:
    def __init__(self):
        self._kept = {}
    def __getattr__(self, name):
        if name in self._kept:
            return self._kept[name]
        raise AttributeError(name)
    def mark(self) -> "Chart":
        return self

class Desk:
    def __getattr__(self, name):
        return self._handlers[name]
    def ring(self): ...
""",
        "isle/cove/__init__.py": """
import lazy_loader as _lazy
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
""",
        "isle/cove/__init__.pyi": "from ._shore import sand as sand\n",
        "isle/cove/_shore.py": "def sand(): ...\n",
    },
    "cape": {
        "cape/py.typed": "",
        "cape/__init__.py": """
import inspect
import sys
from collections import namedtuple
from enum import Enum, EnumMeta
from typing import Callable, Literal, overload

from cape.bay import described

def _attach(name, submodules=None, submod_attrs=None):
    def __getattr__(asked):
        raise AttributeError(asked)
    return __getattr__, dir

_TABLE = {"bay": ["Gull"]}
__getattr__, __dir__ = _attach(__name__, submodules=[], submod_attrs=_TABLE)
EVERY = inspect.getmembers(sys.modules[__name__])
Record = namedtuple("Record", "key value")

class AnyCase(EnumMeta):
    def __getattr__(cls, name):
        try:
            return cls._member_map_[name.upper()]
        except KeyError as error:
            raise AttributeError(name) from error

class Mode(str, Enum, metaclass=AnyCase):
    PEEK = "peek"

class Wire:
    def send(self, text: str) -> None: ...

class Proxy:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
    def __getattr__(self, name):
        return getattr(self._wire, name)

class Boat:
    __slots__ = ("crew",)
    def __init__(self) -> None:
        self.crew = 1
    def load(self, values) -> None:
        for name, value in values:
            setattr(self, name, value)

class Cable:
    def __add__(self, other: "Cable") -> "Cable": ...
    def lay(self) -> None: ...

def bell(pitch: Literal["high", "low"]) -> None: ...

def ring(pitch: Literal["high", "low"] | Boat) -> None: ...

@overload
def chime(at: int, pitch: Literal["high", "low"] = "high") -> int: ...
@overload
def chime(at: str, pitch: Callable[[int], int]) -> str: ...
def chime(at, pitch="high"): ...

def haul(weight, **options):
    options.update(fast=True)
    return lift(weight, **options)

def lift(weight, *, fast=False, high=False): ...

def pull(weight, **options):
    assert not options, f"unknown: {list(options)}"

def _fill(kind):
    for name in ("le", "be"):
        setattr(kind, f"to_{name}", print)

class Data:
    pass

_fill(Data)
""",
        "cape/bay.py": """
import sys

class Gull: ...

def described(kind):
    sys._getframe(1).f_globals[kind.__name__ + "Fallback"] = kind
    return kind

def versioned(function):
    names = sys._getframe(1).f_globals
    function.package = names.get("__package__") or names["__name__"]
    return function
""",
        "cape/spire.py": """
from cape.bay import versioned

@versioned
def climb(): ...
""",
        "cape/tower.py": """
from cape.bay import described

@described
class Tower: ...
""",
    },
    "shoal": {
        "shoal/__init__.py": """
_KEPT = {}

class Wire:
    def send(self, text): ...

def wired(name):
    '''Return what is kept.

    :rtype: :class:`Wire`
    '''
    return _KEPT[name]

class Meta(type):
    def __new__(mcs, name, bases, names):
        names["objects"] = _KEPT
        return super().__new__(mcs, name, bases, names)

class Model(metaclass=Meta):
    def save(self): ...
""",
    },
    "quay": {
        "quay/__init__.py": """
import ast
from typing import overload

from quay.loads import load

def anchorage(*given):
    return _KEPT[given]

def handed(where, *, depth=1, **options):
    return _KEPT[where](where, **options)

def stored(where, **fields):
    return {**fields}

@overload
def hail(at: str, *, pitch: int = 1) -> None: ...
@overload
def hail(at: str, work, *args, **kwargs) -> None: ...
def hail(at, *args, **kwargs):
    return _KEPT[at](*args, **kwargs)

class Leaf(ast.AST):
    stem: "Leaf"

def leaves() -> list[Leaf]:
    return _KEPT

class Float:
    def __new__(cls, *args, **kwargs):
        if kwargs.get("big"):
            cls = Buoy
        return super().__new__(cls)
    def __init__(self, size=0): ...

class Buoy:
    def light(self): ...
    def __getattr__(self, name):
        if name == "bell":
            return _KEPT
        return getattr(self._held, name)

class Any:
    def __getattr__(self, name):
        return _KEPT[name].made(name)

class Port:
    def __init__(self, told):
        for name, made in told:
            self._set(name, made.__get__(self, self.__class__))
    def _set(self, name, made):
        self.__dict__[name] = made
    def close(self): ...

def port():
    return Port(_KEPT)

class Relay:
    def __getattr__(self, name):
        return getattr(self.far(), name)

class Far:
    def __getattr__(self, name):
        return _KEPT[name]()

class Sheet:
    def __init__(self, told):
        self.__dict__.update(told.exported())

def sheet():
    return Sheet(_KEPT)

def root():
    return _KEPT["root"]

class Cleat:
    def take(self, at, **rest):
        for each in rest:
            print(each)

class Line:
    def __init__(self, end=None):
        self._end = end or Cleat()
    def tie(self, at, **options):
        options["knot"] = 1
        return self._end.take(at, **options)
""",
        "quay/loads.py": """
from importlib import import_module

def load(name):
    return made(import_module(name))
""",
    },
    "buoys": {
        "buoys/py.typed": "",
        "buoys/__init__.py": """
from datetime import date
from typing import Any as AnyOne
from typing import (
    Callable, Generic, Literal, ParamSpec, Protocol, Sequence, TYPE_CHECKING, TypedDict, TypeVar,
    overload,
)
from xml.etree.ElementTree import Element

from harbour import Ship

P = ParamSpec("P")

class Logged(Protocol[P]):
    def __call__(self, *args: P.args, log_extra: int = 0, **kwargs: P.kwargs) -> int: ...

def logged(kind: str = "all") -> Callable[[Callable[P, int]], Logged[P]]: ...

class Field:
    def __init__(self, kind: int) -> None: ...

class Fields(type):
    def __new__(cls, name, bases, body):
        return super().__new__(cls, name, bases, _made(body))

class Message(metaclass=Fields): ...

class Anchor:
    chain: int = 1

class Rope:
    def __init__(self, chains: int) -> None:
        self.chains = chains

def element(tag, **extra):
    return Element(tag, **extra)

class Anchors:
    def add(self, **kwargs):
        self._kept = self._told._concrete_class(**kwargs)

def moor(ship: Ship):
    ship.moored_at = 1

def register_rope_namespace(name): ...

T = TypeVar("T", Anchor, Rope)

class Found(Generic[T]):
    def __init__(self, value: T) -> None:
        self.value = value

def find():
    return Found(value=Rope(1))

def sailed() -> date: ...

class Receipt(TypedDict):
    paid: int

class AttributeDict(dict): ...

class Grid:
    @overload
    def __getitem__(self, key: "list[bool] | Grid") -> "Grid": ...
    @overload
    def __getitem__(self, key: int) -> AnyOne: ...
    def __getitem__(self, key):
        return self.kept[key]

class Reel:
    def wind(self, times: int) -> None: ...

class Spool(Reel):
    def wind(self, times: int, *, slack: int = 0) -> None: ...

class Log:
    def __init__(self, **values) -> None: ...

class Entry(Log):
    def __init__(self, page: int = 0, depth: int | None = None) -> None:
        values = {"page": page}
        if depth is not None:
            values["depth"] = depth
        super().__init__(**values)

def receipt() -> Receipt: ...

if TYPE_CHECKING:
    AnyLike = AnyOne
else:
    class AnyLike: ...

class Told(AnyLike):
    pages: int

def label() -> str: ...

def paint(colour: Literal["red", "green"]) -> int: ...

class Mark:
    def __call__(self, name: str) -> "list[Mark]": ...
    def __getattr__(self, name: str) -> "Mark | None": ...

class Coils(Generic[T]):
    @overload
    def __getitem__(self, index: slice) -> "Coils[T]": ...
    @overload
    def __getitem__(self, index: Sequence[int]) -> list[T]: ...
    @overload
    def __getitem__(self, index: int) -> T: ...
    def __getitem__(self, index):
        return self._kept[index]
""",
        "buoys/tides.py": "class Tidal:\n    def tide(self) -> int: ...\n",
        "buoys/days.py": """
from datetime import date
from buoys.tides import Tidal

class Day(date, Tidal): ...

class Label(str, Tidal): ...
""",
    },
    "bells": {
        "bells/py.typed": "",
        "bells/__init__.py": "import sys\nsys.modules[__name__] = Ringing(sys.modules[__name__])\n",
        "bells/__init__.pyi": """
class Bell:
    def ring(self) -> None: ...

def __getattr__(name: str) -> Bell: ...
""",
    },
    "typing_extensions": {
        "typing_extensions.py": "import typing\nclass TypeVar:\n    def __new__(cls, name): ...\n"
    },
    "locks": {
        "locks/__init__.py": "held = {}\n",
        "locks/cmd.py": """
import locks

def __getattr__(name: str):
    try:
        return locks.held[name]
    except KeyError:
        raise AttributeError(name) from None
""",
    },
    "redis": {
        "redis/__init__.py": "from redis.client import Pipeline\n",
        "redis/py.typed": "",
        "redis/client.py": """
class Commands:
    def set(self, name: str, value: int) -> bool: ...

class Pipeline(Commands):
    def execute(self) -> list[bool]: ...
""",
    },
    "exceptiongroup": {
        "exceptiongroup/py.typed": "",
        "exceptiongroup/__init__.py": """
import sys

if sys.version_info < (3, 11):
    from exceptiongroup.made import ExceptionGroup
else:
    ExceptionGroup = ExceptionGroup
""",
        "exceptiongroup/made.py": "class ExceptionGroup(Exception): ...\n",
    },
    "crews": {
        "sound/crews/base.py": """
class Crew:
    _only = None
    def __new__(cls, *given):
        if cls._only is None:
            cls._only = object.__new__(cls)
        return cls._only
    def dismiss(self): ...
""",
    },
    "crews-divers": {
        "sound/crews/divers.py": """
from sound.crews.base import Crew
class Divers(Crew):
    def dive(self): ...
""",
    },
    "sand-dune": {"sand/dune/__init__.py": "def dig(): ...\n"},
    "sand-beach": {"sand/beach/__init__.py": "def walk(): ...\n"},
    "pydantic": {
        "pydantic/py.typed": "",
        "pydantic/__init__.py": "from .main import BaseModel, ConfigDict, create_model\n",
        "pydantic/_internal/__init__.py": "",
        "pydantic/_internal/_model_construction.py": """
from typing import TYPE_CHECKING, dataclass_transform

@dataclass_transform(kw_only_default=True)
class ModelMetaclass(type):
    def __new__(mcs, name, bases, names, **options):
        return super().__new__(mcs, name, bases, names)
    if not TYPE_CHECKING:
        def __getattr__(self, item):
            return self.__dict__["__private_attributes__"][item]
""",
        "pydantic/main.py": """
from typing import TYPE_CHECKING, TypedDict
from ._internal._model_construction import ModelMetaclass

class ConfigDict(TypedDict, total=False):
    extra: str

def create_model(name: str, **fields) -> "type[BaseModel]": ...

class BaseModel(metaclass=ModelMetaclass):
    def model_dump(self) -> dict[str, object]: ...
    if not TYPE_CHECKING:
        def __getattr__(self, item):
            return self.__pydantic_extra__[item]
""",
    },
    "aiobotocore": {
        "aiobotocore/__init__.py": "",
        "aiobotocore/session.py": """
class AioSession:
    def create_client(self, *args, **kwargs): ...
def get_session():
    return AioSession()
""",
    },
    "boto3": {
        "boto3/__init__.py": """
from boto3.session import Session
def client(*args, **kwargs):
    return Session().client(*args, **kwargs)
def resource(*args, **kwargs):
    return Session().resource(*args, **kwargs)
""",
        "boto3/session.py": """
class Session:
    def client(self, service_name, region_name=None): ...
    def resource(self, service_name, region_name=None): ...
""",
        "boto3/data/quay/2020-01-01/resources-1.json": json.dumps(
            {
                "service": {
                    "has": {"Berth": {"resource": {"type": "Berth"}}},
                    "hasMany": {"Berths": {"resource": {"type": "Berth"}}},
                },
                "resources": {
                    "Berth": {
                        "identifiers": [{"name": "Name"}],
                        "actions": {"Clear": {"request": {"operation": "ClearBerth"}}},
                        "batchActions": {"Clear": {"request": {"operation": "ClearBerth"}}},
                    },
                    "Crane": {"identifiers": [{"name": "Name"}, {"name": "Side"}]},
                },
            }
        ),
    },
    "numpy": {
        "numpy/py.typed": "",
        "numpy/__init__.py": """
class ndarray:
    flat: object
    def ravel(self) -> "ndarray": ...
    def __gt__(self, other) -> "ndarray": ...

def isnan(values) -> ndarray: ...
NAMES = ["average"]

class MaskedArray(ndarray):
    mask: object
    def update(self, options):
        vars(self).update(options)
""",
    },
    "matplotlib": {
        "matplotlib/__init__.py": "",
        "matplotlib/py.typed": "",
        "matplotlib/axes/__init__.py": """
from ..artist import Artist

class Axes(Artist):
    def set_xlabel(self, label): ...
    def plot(self, values: object) -> None: ...
    def vlines(self, x, **kwargs) -> None:
        \'\'\'Draw lines.

        %(Line2D:kwdoc)s
        \'\'\'
        kwargs.pop("ends", None)
    def scatter(self, x, **kwargs) -> None:
        \'\'\'Draw points.

        **kwargs : `~matplotlib.lines.Line2D` properties
            Also *jitter*.

Written at the left.
        \'\'\'
    def legend(self, *args, **kwargs) -> None:
        \'\'\'Draw a legend.

        %(_legend_kw_axes)s
        \'\'\'
    def bar_label(self, bars, **kwargs) -> None:
        \'\'\'Write labels.

        **kwargs
            Passed to `.Axes.annotate`.
        \'\'\'
""",
        "matplotlib/legend.py": """
class Legend:
    def __init__(self, parent, handles, labels, *, loc=None, title=None): ...
""",
        "matplotlib/figure.py": """
from typing import Any
class FigureBase:
    def subplots(self, nrows: int = 1, ncols: int = 1, *, squeeze: bool = True) -> Any: ...
class Figure(FigureBase):
    def savefig(self) -> None: ...
""",
        "matplotlib/artist.py": """
class Artist:
    def set(self, **kwargs): ...
    def set_alpha(self, alpha): ...
""",
        "matplotlib/lines.py": """
from . import _api
from .artist import Artist

@_api.define_aliases({
    "linewidth": ["lw", "linewidths"],
    "color": ["c", "colors"],
    "linestyle": ["ls", "linestyles", "dashes"],
    "antialiased": ["aa", "antialiaseds"],
    "markersize": ["ms", "extent"],
})
class Line2D(Artist):
    def __init__(self, xdata, *, marker=None, **kwargs): ...
    def set_linewidth(self, width): ...
""",
        "matplotlib/pyplot.py": """
from typing import Any
from matplotlib.figure import Figure
def subplots(nrows: int = 1, ncols: int = 1, *, squeeze: bool = True) -> tuple[Figure, Any]: ...
@_copy_docstring_and_deprecators(Axes.vlines)
def vlines(x, **kwargs) -> None:
    return gca().vlines(x, **kwargs)
""",
    },
    "botocore": {
        "botocore/__init__.py": "",
        "botocore/errorfactory.py": """
class BaseClientExceptions:
    def __getattr__(self, name):
        raise AttributeError(name)
""",
        "botocore/paginate.py": "class Paginator:\n    def paginate(self, **kwargs): ...\n",
        "botocore/waiter.py": "class Waiter:\n    def wait(self, **kwargs): ...\n",
        "botocore/data/dry-dock/2020-01-01/service-2.json": json.dumps(
            {"operations": {"FillDock": {}}, "shapes": {}}
        ),
        "botocore/data/quay/2020-01-01/service-2.json": json.dumps(
            {
                "operations": {
                    "ListBerthsV2": {},
                    "ClearBerth": {"input": {"shape": "Clear"}},
                    "GetBerthARNs": {"input": {"shape": "Get"}},
                },
                "shapes": {
                    "Clear": {
                        "type": "structure",
                        "required": ["Berth"],
                        "members": {"Berth": {"shape": "Text"}, "Force": {"shape": "Flag"}},
                    },
                    "Get": {"type": "structure", "members": {"from": {"shape": "Text"}}},
                    "Text": {"type": "string"},
                    "Flag": {"type": "boolean"},
                },
            }
        ),
    },
    "mole": {
        "mole/py.typed": "",
        "mole/__init__.py": """
from datetime import datetime
from typing import Any, Literal, cast, overload

BERTHS = {}

def enrol(cls):
    BERTHS[cls.__name__] = cls
    return cls

@enrol
class Tug:
    def tow(self) -> None: ...

class Stamp:
    _inner: datetime

    def __init__(self) -> None:
        self._inner = datetime.now()

    def __getattr__(self, name: str) -> Any:
        if name == "tide":
            return self.hour % 12
        if not name.startswith("_"):
            value: Any = getattr(self._inner, name, None)
            if value is not None:
                return value
        return cast(int, object.__getattribute__(self, name))

    def shift(self, days: int) -> "Stamp": ...

class _Maker(type):
    def __call__(cls, **given):
        return cls.model(**given)

class Yard(metaclass=_Maker):
    model: Any

class _Once(type):
    def __call__(cls, *given):
        return super().__call__(*given)

class Beacon(metaclass=_Once):
    def flash(self) -> None: ...

@overload
def toll(*, how: Literal["low"]) -> int: ...
@overload
def toll(*, how: Literal["high", "mid"]) -> str: ...
def toll(*, how): ...

class Lost(Exception): ...
""",
        # Compiled by Cython, with its signatures, and in Rust, with stubs.
        "mole/sluice.abi3.so": "__pyx_\0open_gate(width, slow=False)\n\nOpen.\0"
        "shut(self, tide)\0shut(fast=None)\0Gate(self, *, width=1)\0free(a, **rest)\0plain\0",
        "mole/lock.abi3.so": "pyo3 filled with\0fill\0__version__1.0",
        "mole/tap.abi3.so": "_cffi_backend",
        "mole/lock.pyi": "class Basin:\n    def fill(self) -> None: ...\n",
        # Its source is there, too.
        "mole/weir.abi3.so": "__pyx_filled",
        "mole/weir.pyx": """
include "sill.pxi"

cdef class Weir(Sill):
    cdef readonly double height

    @classmethod
    def of_stones(cls, int stones, *, const char* kind=NULL):
        \"""
        Build one.

        Returns
        -------
        weir : Weir
        \"""
        return cls()

    cdef void _flood(self) except *:
        pass
""",
        "mole/sill.pxi": "cdef class Sill:\n    def raised(self): pass\n",
        "mole/weir.pxd": "cdef class Sill:\n    cdef public:\n        int level, slope\n",
    },
    "heron": {
        "heron/py.typed": "",
        "heron/__init__.py": """
import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload
from . import nest

F = TypeVar("F")

class Song(Protocol):
    def sing(self) -> None: ...

def song() -> Song: ...

class _Eyrie:
    def rear(self, chicks, *, fed=True):
        return chicks

class Perch:
    def call(self) -> Song:
        'Note that a |Bird| object is returned, not its |Song|.'
        return globals()["Bird"]("a")

def eyrie(made=None):
    return made or globals()["_Eyrie"]()

sys.modules["heron.roost"] = nest

class Bird:
    def __init__(self, name, *, colour=None): ...

class Wader(Bird):
    def __init__(self, legs=2, *args, **kwargs):
        super(Wader, self).__init__(*args, **kwargs)

class _Sealed(type):
    def __call__(cls, *given):
        raise TypeError("call lay")

class Egg(metaclass=_Sealed):
    def crack(self) -> None: ...

def lay() -> Egg: ...

def deprecate_nonkeyword_arguments(function):
    return function

def deprecate_positional_arguments(version: str) -> Callable[[F], F]: ...

class Flock:
    @deprecate_positional_arguments("8")
    def lead(self, *, by: str, far: bool = False) -> None: ...
    @overload
    def count(self, kind: None = ..., *, young: bool = ...) -> int: ...
    @overload
    def count(self, kind: str, *, young: bool = ...) -> str: ...
    @deprecate_nonkeyword_arguments
    def count(self, kind=None, young=False): ...
""",
        "heron/nest.py": "",
    },
    "egret": {"egret/__init__.py": "def fly(height, **options):\n    return options\n"},
    "types-egret": {
        "egret-stubs/__init__.pyi": "def fly(height: int, *, speed: int = ...) -> int: ...\n",
        "egret-stubs/METADATA.toml": "",
    },
    "sound-ferries": {
        "sound/ferries/__init__.py": "",
        "sound/ferries/times.py": "def leave(): ...\n",
    },
    "sound-pilots": {"sound/pilots/__init__.py": "class Pilot:\n    def board(self): ...\n"},
    "sound-masters": {
        "sound/masters/__init__.py": (
            "from sound.pilots import Pilot as Base\n"
            "class Master(Base):\n    def command_all(self): ...\n"
        ),
    },
    "raft": {
        "raft/__init__.py": (
            "def table(rows):\n    import pandas\n    return pandas.made(rows)\n"
            "def other(rows):\n    return rows.made()\n"
        ),
    },
    "wharf": {
        "wharf/__init__.py": (
            "from dockyard import Job\n"
            "def weigh(job: Job):\n    job.tonnage_of = lambda: 3\n    return job\n"
        ),
    },
    "torch": {
        "torch/__init__.py": "from torch import nn\n",
        "torch/nn/__init__.py": "from torch.nn.modules.module import Linear, Module\n",
        "torch/nn/modules/__init__.py": "",
        "torch/nn/modules/module.py": """
class Module:
    def __init__(self):
        self._modules = {}
    def train(self): ...
    def add_module(self, name, module):
        self._modules[name] = module
    def __getattr__(self, name: str) -> "Module":
        if name in self._modules:
            return self._modules[name]
        raise AttributeError(name)

class Linear(Module):
    def __init__(self, width: int) -> None: ...

class Trained(Module):
    def save_settings(self) -> None: ...
""",
    },
    "websockets": {
        "websockets/py.typed": "",
        "websockets/__init__.py": "from .asyncio.client import connect\n",
        "websockets/asyncio/__init__.py": "",
        "websockets/asyncio/client.py": (
            "class connect:\n"
            "    def __init__(self, uri: str, *, additional_headers=None, **kwargs):\n"
            "        self.kwargs = kwargs\n"
        ),
    },
    "pearls": {
        "pearls/py.typed": "",
        "pearls/__init__.py": """
from typing import dataclass_transform

def field(alias: str): ...

@dataclass_transform(field_specifiers=(field,))
class Maker(type):
    def __new__(mcs, name, bases, space):
        return super().__new__(mcs, name, bases, made_of(space))

class Model(metaclass=Maker):
    def __init__(self, **data): ...

class Pearl(Model):
    shell_name: str = field(alias="shell")
    weight: int = 0
""",
    },
    "django": {
        "django/__init__.py": "",
        "django/http/__init__.py": "from django.http.request import HttpRequest\n",
        "django/http/request.py": (
            "class HttpRequest:\n    scheme = None\n    def get_host(self): ...\n"
        ),
        "django/db/__init__.py": "",
        "django/db/models/__init__.py": (
            "from .base import Model\nfrom .manager import Manager\nfrom .fields import CharField\n"
            "from .fields.related import ForeignKey\n"
        ),
        "django/db/models/fields/__init__.py": "class CharField: ...\n",
        "django/db/models/fields/related.py": (
            "class ForeignKey:\n    def __init__(self, to): ...\n"
        ),
        "django/db/models/base.py": "import django\nclass Model:\n    def save(self): ...\n",
        "django/db/models/query.py": """
class QuerySet:
    def get(self, **given): ...
    def first(self): ...
    def get_or_create(self, **given): ...
    def filter(self, **given): ...
    def annotate(self, **given): ...
    def __getitem__(self, at): ...
    def __iter__(self): ...
""",
        "django/db/models/manager.py": """
from .query import QuerySet

class Manager(QuerySet):
    pass
""",
    },
    "celery": {
        "celery/__init__.py": """
from celery.app.base import Celery
from celery.app.task import Task
from celery.canvas import chain
""",
        "celery/app/__init__.py": "",
        "celery/app/base.py": """
class Celery:
    def task(self, *args, **options): ...
""",
        "celery/app/task.py": """
class Context:
    retries = 0
    def __init__(self, *args, **kwargs):
        self.__dict__.update(*args, **kwargs)

class Task:
    def retry(self, countdown=None): ...
    def delay(self, *args, **kwargs):
        return _made(self)
    def s(self, *args, **kwargs):
        return self.made(*args)
    request = property(lambda self: _made(self))
""",
        "celery/canvas.py": """
class Signature(dict): ...

class _chain(Signature):
    def apply_async(self, args=None):
        return _made(self)

class chain(_chain):
    def __new__(cls, *tasks, **kwargs):
        if tasks:
            return _fold(tasks)
        return super().__new__(cls, *tasks, **kwargs)
""",
        "celery/result.py": """
class AsyncResult:
    def successful(self): ...
""",
    },
    "click": {
        "click/__init__.py": """
class Context:
    def invoke(self, command): ...

def pass_context(function):
    return function
""",
    },
    "sqlalchemy": {
        "sqlalchemy/__init__.py": "from .sql.schema import Column, Index\n"
        "from .engine.create import create_engine\n",
        "sqlalchemy/sql/__init__.py": "",
        "sqlalchemy/engine/__init__.py": "",
        "sqlalchemy/engine/create.py": """
def create_engine(url, **kwargs):
    '''Create an engine.

    :param echo=False: log all statements.
    :param pool_size: connections that are kept.
    '''
    return _plugins(url, kwargs)

class Dialect:
    def __init__(self, native_dates=False): ...
""",
        "sqlalchemy/sql/schema.py": """
class Column:
    def __init__(self, name=None, *args, autoincrement=True, primary_key=False, **kw): ...

class Index:
    def __init__(self, name, *args, unique=False, **dialect_kw): ...
""",
    },
    "plotly": {
        "plotly/__init__.py": "",
        "plotly/graph_objects/__init__.py": "from ..graph_objs import *\n",
        "plotly/graph_objs/__init__.py": (
            "from ._bar import Bar\nfrom ._figure import Figure\nfrom ._layout import Layout\n"
        ),
        "plotly/graph_objs/_bar.py": """
class Bar:
    def __init__(self, arg=None, marker=None, x=None, y=None, **kwargs): ...
""",
        "plotly/graph_objs/_layout.py": """
class Layout:
    def __init__(self, arg=None, legend=None, title=None, xaxis=None, **kwargs): ...
""",
        "plotly/graph_objs/_figure.py": """
class Figure:
    def __init__(self, data=None, layout=None, **kwargs): ...
    def update_layout(self, dict1=None, overwrite=False, **kwargs) -> "Figure": ...
""",
    },
    "ferry": {
        "ferry/__init__.py": """
class Option:
    def __init__(self, names, shown=None, hidden=False): ...

def option(*names, cls=None, **attrs):
    if cls is None:
        cls = Option
    def decorate(function):
        function.option = cls(names, **attrs)
        return function
    return decorate

class Index:
    def __init__(self, keys, **kept):
        self.kept = kept
    def diff(self, symbol): ...

class Store:
    def index(self, keys, *, unique=False, **rest):
        rest.pop("session", None)
        return Index(keys, **rest)

class Client:
    def post(self, *args, **rest):
        rest["method"] = "POST"
        return self.open(*args, **rest)
    def open(self, *args, buffered=False, **rest):
        return self._build(args, rest)
    def _build(self, args, rest):
        return Builder(*args, **rest)

class Builder:
    def __init__(self, path, json=None, method="GET"): ...

class Frame:
    def __getitem__(self, key):
        return Row() if isinstance(key, str) else self
    def rename(self, columns=None) -> "Frame": ...

class Row:
    width = 1

class WideRow(Row): ...

class Desk:
    def __init__(self):
        from lighthouse import open_lamp
        import lantern
        self.lantern = open_lamp()
        self.lamp = _measure()

def _accessor(name):
    return property(lambda self: _row(self, name), None)

def _row(page, name) -> Row: ...

class Page:
    box = _accessor("box")

def heights():
    '''Return the heights.

    Returns
    -------
    heights : ndarray of shape (n,)
    '''
    return _measure()

class Made(type):
    def __call__(cls, *args): ...

class Maker:
    def __new__(cls, name):
        return Made(name)

class Ticket:
    def __new__(cls, name) -> Row: ...

from typing import Callable, Optional, Type, TypeVar, overload
T = TypeVar("T")

@overload
def shown(cls: Optional[Type[T]]) -> Type[T]: ...
@overload
def shown(*, wide: bool = False) -> Callable[[Type[T]], Type[T]]: ...
def shown(cls=None, *, wide=None):
    return cls

@shown
class Deck:
    high = 1

from typing import Generic
@shown
class Live(Generic[T]):
    def __init__(self, first: T): ...
    def __get__(self, owner, kind) -> T: ...
""",
    },
    "barge": {
        "barge/__init__.py": """
from ferry import Frame, Row

class WideFrame(Frame):
    def dissolve(self, by): ...

def _widen(self, by): ...

Frame.widen = _widen

def read(path) -> WideFrame | Row: ...
"""
    },
    "pontoon": {
        "pontoon/__init__.py": "from .parts import *\nfrom . import parts\n",
        "pontoon/parts.py": "__all__ = ['plank']\ndef plank(): ...\nglobals()['x' + y] = 1\n",
        "pontoon/rope.py": "def haul(): ...\n",
    },
    "dock": {
        "dock/__init__.py": """
import sys
from enum import IntEnum

__all__ = ["crane"]

class Size(IntEnum):
    SMALL = 1

module = sys.modules[__name__]
for kind in (Size,):
    for item in kind:
        setattr(module, item.name, item.value)

globals()["neddih"[::-1]] = 1

def __getattr__(name):
    if name in __all__ or name == "winch":
        return _load(name)
    if name == "rope" and not _ROPES:
        raise ImportError(name)
    raise AttributeError(name)

class Plain(type):
    def __new__(meta, name, bases, namespace):
        namespace.setdefault("_made", [])
        return super().__new__(meta, name, bases, namespace)

class Filling(type):
    def __new__(meta, name, bases, namespace):
        namespace[name.lower()] = 1
        return super().__new__(meta, name, bases, namespace)

class Hull(metaclass=Plain):
    def float(self): ...

class Mast(metaclass=Filling):
    def raised(self): ...

class Wrapper:
    def __init__(self, held):
        self._held = held
    def __getattribute__(self, name):
        return getattr(object.__getattribute__(self, "_held"), name)

class Interval:
    def frame(self): ...

class Appended:
    def __init__(self, text):
        self.text = text
    def __call__(self, function):
        function.__doc__ = self.text
        return function

class Results:
    def interval(self, alpha=0.05): ...
    @Appended("An interval.")
    def predicted(self, alpha=0.05):
        return Interval()
    def wrapped(self):
        return Interval()

class ResultsWrapper(Wrapper):
    _methods = {"wrapped": "rows"}

wrap_all(ResultsWrapper, Results)

class Model:
    def __init__(self, text=""): ...
    @classmethod
    def of_text(cls, text):
        model = cls(text)
        model.text = text
        return model
    def fit(self):
        return ResultsWrapper(Results())

ols = Model.of_text

class Rolling:
    def _reduce(name) -> Callable[..., Hull]: ...
    mean = _reduce("mean")

class Switch:
    on = False
    def toggle(self, name):
        setattr(self, name, not getattr(self, name))
""",
    },
    "estuary": {
        "estuary/__init__.py": """
from typing import Generic, TypeVar

from estuary.craft import Raft, Sail

def rafts():
    for name in ("a", "b"):
        yield Raft(name)

def first():
    for each in rafts():
        return each

def lent():
    from estuary.craft import Raft
    made = Raft("c")
    made.name = "d"
    return made

def gathered():
    found = []
    for name in ("a", "b"):
        found.append(Raft(name))
    return found

def parts():
    raft, _ = Raft("a"), 1
    return raft

def moored():
    with Raft("a") as raft:
        return raft

def changed():
    raft = Raft("a")
    raft.colour = "red"
    return raft

def summed():
    total = Raft("a")
    total = total + Raft("b")
    return total

def register(kind):
    KINDS[kind.__name__] = kind
    return kind

def registered(name):
    def keep(kind):
        KINDS[name] = kind
        return kind
    return keep

def labelled(kind):
    kind.label = kind.__name__
    return kind

KINDS = {}

class Yard:
    def use(self, plugin, *params, **options):
        plugin(self, *params, **options)
        return self

    def keep(self, plugin, **options):
        self.kept = options
        plugin(self, **options)

    def run(self, command: str, **options) -> Raft:
        return self._run(command, **options)

    def _run(self, command, **options):
        wrong = set(options) - {"echo", "hide"}
        if wrong:
            raise TypeError(f"run() got an unexpected keyword argument {wrong}")
        return Raft(command)

    def moor(self, name: str) -> None: ...

class Reading:
    def __init__(self, value): ...
    def __get__(self, instance, owner): ...

class MockYard(Yard):
    def run(self, command: str, *args, **options) -> Raft:
        return Raft("mock")

def sailing(yard, wind=1, sail=None):
    return yard

def configured(**configs):
    settings = {key: configs.pop(key) for key in ("servers", "topic") if key in configs}
    if configs:
        raise ValueError(f"Unrecognized configs: {configs}")
    return settings

class Loaded:
    def __init__(self, loads=True, **options):
        if loads:
            self.load(options)
        elif options:
            raise TypeError("unexpected keyword arguments")
    def load(self, options):
        self.options = options

T = TypeVar("T")

class Pool(Generic[T]):
    def __init__(self, size: int = 1) -> None: ...

class Single(type):
    def __call__(cls, name, mode, size, *rest):
        check(size)
        return super().__call__(name, mode, size)

class Buoy(metaclass=Single):
    def __init__(self, name, mode, size):
        self.__dict__.setdefault("marks", []).append(name)
    def float(self): ...
""",
        "estuary/_tap.abi3.so": "_cffi_backend ffi lib",
        "estuary/tap.py": "from estuary._tap import ffi, lib\n",
        "estuary/berth_pb2.py": "BUILDER.build(globals(), b'Quay')\n",
        "estuary/berth_pb2.pyi": "class Berth: ...\n",
        "estuary/craft.py": """
class Raft:
    def __init__(self, name: str) -> None:
        self.name = name
    def __enter__(self) -> "Raft": return self
    def __exit__(self, *args) -> None: ...
    def __add__(self, other):
        if not isinstance(other, Raft):
            return NotImplemented
        return Raft(self.name + other.name)
    def paddle(self) -> None: ...

class Trimaran(Raft):
    def tack(self) -> None: ...

class Sail:
    class Size:
        def area(self) -> int: ...
    size: Size = made()
""",
        "estuary/painting.py": """
class Canvas:
    def begin(self): ...
    def draw_text(self, text): ...
    def end(self): ...
""",
    },
    "proto-plus": {
        "proto/message.py": """
class MessageMeta(type):
    def __new__(mcls, name, bases, attrs):
        attrs.update(fields(attrs))
        return super().__new__(mcls, name, bases, attrs)
    def to_json(cls, instance) -> str: ...
class Message(metaclass=MessageMeta):
    def __getattr__(self, key):
        return getattr(self._pb, key)
""",
        "proto/fields.py": "class Field: ...\n",
        "proto/__init__.py": """
from proto.fields import Field
from proto.message import Message
""",
        "harbor_v1/__init__.py": """
import proto
class Berth(proto.Message):
    class Size(proto.Message):
        depth: int = proto.Field(1)
    size: Size = proto.Field(2, message=Size)
    type_: str = proto.Field(3)
""",
    },
    "silo": {
        "silo/__init__.py": "from silo import _silo\nPacker = _silo.Packer\n",
        "silo/errors.py": "def look_up(code): ...\n",
        "silo/_silo.abi3.so": "\0Packer\0width\0silo.errors\0Spoilt\0",
        "silo/py.typed": "",
        "silo/actors.py": """
from collections.abc import MutableMapping
from typing import Callable, Generic, ParamSpec
P = ParamSpec("P")

class Actor(Generic[P]):
    def message(self, *args: P.args, **kwargs: P.kwargs) -> str: ...

def actor(function: Callable[P, object]) -> Actor[P]: ...

class Settings(dict):
    def __getattr__(self, key: str) -> object:
        return self[key]

def settings() -> Settings | MutableMapping: ...
""",
    },
    "reef": {
        "reef/__init__.py": """
class Query:
    def as_manager(cls):
        return cls
    as_manager = classmethod(as_manager)
""",
    },
}

#: An attribute that a descriptor reads.
LIVE = """
class Own:
    a: ferry.Live[str] = ferry.Live("")
    b = ferry.Live("")
    def f(self):
"""
TRAINED = """from torch.nn.modules.module import Trained
class A(Trained):
    def f(self):
"""
BOOKS = """from django.db import models
class Author(models.Model):
    name = models.CharField()
class Book(models.Model):
    a = 1
    title = models.CharField()
    author = models.ForeignKey(Author)
"""
#: A class whose attributes are parts of other things.
UNPACKED = """
class A:
    def __init__(self, t):
        self.a, (self.b, *self.c) = t
        for self.d in t:
            pass
        with open(t) as self.e:
            pass
"""
#: Fixtures of pytest that the code makes itself.
FIXTURES = """
from collections.abc import AsyncIterator
import pytest, harbour

@pytest.fixture(name="boat")
def _boat():
    with open("a"):
        yield harbour.Tug()

@pytest.fixture
def tug():
    return harbour.Tug()

@pytest.fixture()
def made(tug): return tug

@pytest.fixture
async def moored() -> AsyncIterator[harbour.Tug]:
    yield rest(harbour)

"""
BOUND = "from celery import Celery\napp = Celery()\n@app.task(bind=True)\ndef f(self):\n"


def _install(site: Path, name: str, files: Mapping[str, str]) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{each},,\n" for each in files))
    for each, text in files.items():
        (site / each).parent.mkdir(parents=True, exist_ok=True)
        (site / each).write_text(text)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose own configuration would have nothing checked, and everything imported."""
    root = tmp_path_factory.mktemp("project")
    for name, files in PACKAGES.items():
        _install(root / ".venv/lib/python3.12/site-packages", name, files)
    (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n")
    (root / "ty.toml").write_text('[rules]\nall = "ignore"\n[environment]\npython = "/evil"\n')
    (root / "pyproject.toml").write_text('[project]\nname = "p"\n[tool.ty.rules]\nall = "ignore"\n')
    evil = 'skip-interpreter-query = false\nsearch-path = ["/evil"]\n'
    (root / "pyrefly.toml").write_text(f"{evil}[errors]\nmissing-attribute = false\n")
    (root / "own.py").write_text("class Own:\n    there = 1\n")
    return root


@pytest.fixture(scope="module")
def opened(
    project: Path, engines_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runtime]:
    base = tmp_path_factory.mktemp("runtime")
    flags = {
        "store": str(base / "store"),
        "cache": str(base / "cache"),
        "engines": str(engines_folder),
        "root": (str(project),),
        "offline": True,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        yield runtime


@pytest.fixture(scope="module")
def verify(opened: Runtime) -> Verify:
    def ask(code: str, **arguments: Any) -> dict[str, Any]:
        given = {"code": code, "language": "python", **arguments}
        answer = opened.toolbox.call("verify_code", given).structured
        assert answer is not None
        return dict(answer)

    return ask


def test_without_type_checkers_members_of_unknown_classes_are_judged(
    project: Path, tmp_path: Path
) -> None:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "engines": "none",
        "root": (str(project),),
        "offline": True,
    }
    code = "import quay\nb = quay.anchorage()\nb.lamp()\nb.light()"
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        given = {"code": code, "language": "python"}
        answer = runtime.toolbox.call("verify_code", given).structured
    assert answer is not None
    assert answer["engine"] == "none"
    assert [(each["name"], each["line"]) for each in answer["results"]] == [("b.lamp", 3)]


@pytest.mark.parametrize(
    ("code", "first"),
    [
        # How it is called, what its result is given to, what a keyword is given, and a function.
        ("harbour.Winch().hoisted(3)", "harbour.Winch.hoist"),
        ("for each in harbour.Winch().hoisted(): ...", "harbour.Winch.hoists"),
        ("harbour.Winch().hoist(1, lengthy=3)", "length"),
        ("harbour.Winch().hoist(1, lengthy=('a',))", "lengths"),
        ("harbour.Winch().attache(harbour.Crate())", "harbour.Winch.attached"),
        ("from harbour import raises\nraises(1)", "harbour.raised"),
        ("from harbour import raises\nraises().upper()", "harbour.raising"),
    ],
)
def test_what_type_checkers_take_is_suggested_before_what_they_refuse(
    verify: Verify, code: str, first: str
) -> None:
    (found,) = verify(f"import harbour\n{code}\n")["results"]
    assert found["suggestions"][0] == first
    assert first.startswith("length") or found["message"].endswith(f"; did you mean {first}?")


@pytest.mark.parametrize(
    ("code", "name", "first"),
    [
        ("def f(b: harbour.Berth[harbour.Ship]):\n    b.ships[0].mooor('a')", "Ship.mooor", "moor"),
        ("harbour.visit(lambda ship: ship.width, {'weight': 1})", "Ship.width", None),
        ("harbour.visit(lambda s: s.sail(course=\"up\"), {'weight': 1})", '"up"', None),
        ("[s.sale() for s in harbour.call('a').moor('b').ships]", "Ship.sale", "sail"),
        ("harbour.Fleet()['a'].sale()", "Ship.sale", "sail"),
        ("harbour.Fleet()[['a']].counted()", "Fleet.counted", "count"),
        ("harbour.call('a').moor('b').held.sail(coarse='north')", "sail(coarse=)", "course"),
        ("harbour.call('a', porter=1).tow()", "call(porter=)", "port"),
        ("def f(s): ...\nf(rest(harbour.call('a', porter=1)))", "call(porter=)", "port"),
        ("list(map(lambda t: t.towed(), [harbour.Tug()]))", "Tug.towed", "tow"),
        ("class Own(harbour.Ship):\n    pass\nOwn().moor('x').shipps", "Berth.shipps", "ships"),
        ("{n: 1 for n in 'ab'}.popp('a')", "dict.popp", "pop"),
        ("harbour.rig(harbour.Ship(), color='red')", "rig(color=)", "colour"),
        ("import quay\nquay.anchorage().lamp()", "quay.anchorage().lamp", None),
        ("import quay\nb = quay.anchorage(1)\nfor e in b.all:\n    e.lamp()", "e.lamp", None),
        ("import quay\nquay.Buoy().lit()", "Buoy.lit", "light"),
        ("import quay\nquay.hail('a', tone=1)", "hail(tone=)", None),
        ("import quay\nquay.handed('a', colour=1)", "handed(colour=)", None),
        ("import atoll\natoll.Deep().dove(3)", "Deep.dove", None),
        ("import atoll\natoll.Deep().dive(3).dived(1)", "Deep.dived", "dive"),
        ("import atoll\natoll.Deep().rope().knot()", "Rope.knot", None),
        ("import atoll\natoll.Either().chooses()", "Either.chooses", "choose"),
        ("import atoll\nd = atoll.Deep()\nprint(d.fathoms)", "Deep.fathoms", None),
        ("import atoll\natoll.Keel(depths=1)", "Keel(depths=)", "depth"),
        ("hold = harbour.Hold()\nhold['wet'].tip()", "Barrel.tip", "tap"),
        ("import atoll\natoll.from_env(a=1).pings()", "Client.pings", "ping"),
        ("import delta\nwith delta.Client().open() as s:\n    s.upload()", "Session.upload", None),
        ("import delta\ndelta.Client().purge()", "Client.purge", None),
        ("import delta\ndelta.Options(a=1).purge()", "Options.purge", None),
        ("import delta\ndelta.Stream().shove()", "Stream.shove", None),
        ("from delta import Sessions", "delta.Sessions", None),
        ("import delta\nclass C(delta.Client):\n    x = 1\nC(makers=1)", "C(makers=)", "maker"),
        ("import isle\nisle.landing('a')", "isle.landing", "land"),
        ("from isle.cove import pebbles", "isle.cove.pebbles", None),
        ("import isle\nisle.Chart().mark().marker_up()", "Chart.marker_up", None),
        ("import isle\nisle.book(1, lodger='a')", "book(lodger=)", "guest"),
        ("import isle\nisle.book(1, guest='a', days=2)", "book(days=)", "nights"),
        ("import isle\nasync def f():\n    await isle.sail()", "isle.sail", "sail_there"),
        ("from cape import Gul", "cape.Gul", "Gull"),
        ("from cape.spire import climbs", "spire.climbs", "climb"),
        ("import cape\nprint(cape.Record(1, 2).values)", "Record.values", "value"),
        ("import atoll\nprint(atoll.Knot('a', 2).sizes)", "Knot.sizes", "size"),
        ("import cape\nprint(cape.Mode.PEAK)", "Mode.PEAK", "PEEK"),
        ("import cape\ncape.Proxy(cape.Wire()).sends('a')", "Proxy.sends", "send"),
        ("import cape\nprint(cape.Boat().crews)", "Boat.crews", "crew"),
        ("import cape\ncape.pull(1, slow=True)", "pull(slow=)", None),
        ("import cape\ncape.haul(1, hig=True)", "haul(hig=)", "high"),
        ("import cape\n(cape.Cable() + cape.Cable()).lays()", "Cable.lays", "lay"),
        ("import cape\ndef f():\n    return cape.Cable()\nf().lays()", "Cable.lays", "lay"),
        ("import shoal\nshoal.wired('a').sends('b')", "Wire.sends", "send"),
        ("import mole\nmole.Tug().tows()", "Tug.tows", "tow"),
        ("from isle.coast import sand", "isle.coast", "isle.cove"),
        ("import mole\nmole.Stamp().add(days=1)", "Stamp.add", None),
        ("import mole\nmole.Beacon().flashes()", "Beacon.flashes", "flash"),
        ("import mole\nmole.Yard.models", "Yard.models", "model"),
        ("from mole.lock import Basin\nBasin().filled()", "Basin.filled", "fill"),
        ("import shoal\nclass M(shoal.Model): ...\nM().saves()", "M.saves", "save"),
        ("from sand.dunes import dig", "sand.dunes", "dune"),
        (
            "from collections import defaultdict\nd = defaultdict(list)\nd['a'].ad(1)",
            "list.ad",
            None,
        ),
        ("from collections import deque\nd = deque()\nd.push(1)", "deque.push", None),
        (
            f"{MODEL}    name: str\nprint(A(name='a').nick)",
            "A.nick",
            None,
        ),
        ("from mole import weir\nweir.Weir.of_rocks(1)", "Weir.of_rocks", "Weir.of_stones"),
        ("from mole import weir\nweir.Weir.of_stones(1).heights", "Weir.heights", "Weir.height"),
        (
            "import mole.weir as isle\nisle.Weir.of_stones(1, kinds=2)",
            "of_stones(kinds=)",
            "kind",
        ),
        ("from mole import weir\nweir.Weir().levels", "Weir.levels", "Weir.level"),
        ("import heron\nheron.roosts()", "heron.roosts", "heron.roost"),
        ("import heron\nheron.Wader(3, 'a', color=1)", "heron.Wader(color=)", "colour"),
        ("import heron\nheron.lay().crackle()", "heron.Egg.crackle", "heron.Egg.crack"),
        ("import egret\negret.fly(3, velocity=2)", "egret.fly(velocity=)", None),
        ("import heron\nheron.song().sings()", "heron.Song.sings", "heron.Song.sing"),
        ("import heron\nheron.Flock().lead('a', farther=True)", "lead(farther=)", "far"),
        ("import heron\nheron.eyrie().rear(1, feeding=True)", "rear(feeding=)", "fed"),
        (f"{BOOKS}b = Book.objects.get(a=1)\nb.saved()", "Book.saved", "Book.save"),
        (f"{BOOKS}b = Book.objects.filter(a=1).first()\nb.saved()", "Book.saved", "Book.save"),
        (f"{BOOKS}b, made = Book.objects.get_or_create()\nb.saved()", "Book.saved", "Book.save"),
        (
            f"{BOOKS}for b in Book.objects.filter(a=1)[2:]:\n    b.saved()",
            "Book.saved",
            "Book.save",
        ),
        (f"{BOOKS}Book.objects.get_or_create(a=1)[0].author.saved()", "Author.saved", "save"),
        (f"{BOOKS}Book.objects.get(a=1).title.uppercase()", "builtins.str.uppercase", "upper"),
        (f"{BOOKS}Book.objects.first(kind=1)", "Manager.first(kind=)", None),
        ("import dock\ndock.LARGES", "dock.LARGES", None),
        ("import dock\ndock.cranes", "dock.cranes", "crane"),
        ("import dock\ndock.Hull().floats", "dock.Hull.floats", "float"),
        ("import dock\ndock.ols('a').fits()", "Model.fits", "fit"),
        ("import dock\ndock.ols('a').fit().interval(alp=1)", "interval(alp=)", "alpha"),
        ("import dock\ndock.ols('a').fit().predicted(alp=1)", "predicted(alp=)", "alpha"),
        ("import dock\ndock.ols('a').fit().predicted().frames()", "Interval.frames", "frame"),
        ("import silo\nsilo.Packer(width=1, height=2)", "silo.Packer(height=)", None),
        ("from silo.errors import Rotten", "errors.Rotten", None),
        (
            "import cape\ntry:\n    1\nexcept cape.Gul:\n    2\nexcept AttributeError:\n    3",
            "cape.Gul",
            "Gull",
        ),
        (
            f"{TRAINED}        self.save_setting()",
            "A.save_setting",
            "save_settings",
        ),
        ("import dock\ndock.Rolling().mean(1).floats()", "Hull.floats", "float"),
        ("import dock\ndock.Switch().off", "dock.Switch.off", None),
        (f"{BOUND}    self.retries()", "celery.Task.retries", "celery.Task.retry"),
        (f"{BOUND}    self.retry(delay=3)", "celery.Task.retry(delay=)", "countdown"),
        (f"{BOUND}    self.request.attempts", "Context.attempts", None),
        (f"{BOUND}    pass\nf.delay(1).succeeded()", "AsyncResult.succeeded", "successful"),
        (
            f"{BOUND}    pass\nimport celery\ncelery.chain(f.s(1)).apply_async().succeeded()",
            "AsyncResult.succeeded",
            "successful",
        ),
        (
            "import click\n@click.pass_context\ndef f(ctx):\n    ctx.invokes()",
            "click.Context.invokes",
            "click.Context.invoke",
        ),
        (f"{FIXTURES}def test_b(boat):\n    boat.toow()", "Tug.toow", "Tug.tow"),
        (
            f"{FIXTURES}class TestB:\n    def test_b(self, tug):\n        tug.toow()",
            "Tug.toow",
            None,
        ),
        (f"{FIXTURES}@pytest.fixture\ndef b(made):\n    made.toow()", "Tug.toow", "Tug.tow"),
        (f"{FIXTURES}async def test_b(moored):\n    moored.toow()", "Tug.toow", "Tug.tow"),
        (
            "import delta\napp = delta.App()\n@app.task(n=1)\ndef add(): ...\nadd.enqueue()",
            "add.enqueue",
            None,
        ),
    ],
)
def test_what_is_wrong_is_found_with_its_place_and_owner(
    verify: Verify, code: str, name: str, first: str | None
) -> None:
    answer = verify(f"import harbour\n{code}")
    assert answer["engine"] == ", ".join(f"{each.name} {each.version}" for each in ENGINES)
    (found,) = answer["results"]
    assert found["name"].endswith(name), found
    if first is not None:
        assert found["suggestions"][0].endswith(first)
    line = f"import harbour\n{code}".split("\n")[found["line"] - 1]
    word = name.removesuffix("=)").split("(")[-1].split(".")[-1]
    is_call = name.endswith(")")
    starts = (
        (
            "harbour",
            "quay",
            "atoll",
            "isle",
            "cape",
            "heron",
            "egret",
            "self",
            "C(",
            "dock",
            "Book",
            "silo",
        )
        if is_call
        else (word, "from ", "cape.", "heron.", "weir.", "mole.", "dock.")
    )
    assert line[found["column"] - 1 :].startswith(starts), found


@pytest.mark.parametrize(
    "code",
    [
        "import lagoon\nlagoon.ebb.anything\nlagoon.flow",
        "import harbour\nf = harbour.Fleet()\nf[['a']].count()\n[f[e].count() for e in ([1], 2)]",
        "import quay\nquay.Float(big=True, bell=1)",
        "from typing import Sequence\ndef f(a: Sequence[str] = []):\n    a.append('a')",
        "import lagoon\nlagoon.tide().high",
        "import lagoon\nlagoon.Wave().anything.more",
        "import lagoon\nlagoon.pool().depth",
        "import lagoon\nfor each in [lagoon.pool()]:\n    each.depth",
        f"{MADE}    @x.validator\n    def f(self): ...",
        f"{MADE}P(1, y=2).__fields__",
        "import dock\ndock.SMALL, dock.crane, dock.winch, dock.Mast().mast, dock.ols('a').text",
        "import dock\nr = dock.ols('a').fit()\nr.interval(alpha=1).more()\nr._held.more()",
        "import dock\ndock.ols('a').fit().wrapped().interval()",
        "import silo\nsilo.Packer(width=1)",
        "from .queue import Queue\nq = Queue('a', connection=1)\nq.add(1)",
        "from . import silo\nfrom .. import cape\nsilo.Packed()\ncape.Gul",
        "from silo.errors import Spoilt",
        "from silo import actors\n@actors.actor\ndef f(a, b): ...\nf.message(1)",
        "from silo import actors\nactors.settings().rate",
        f"{BOUND}    self.request.task, self.request.retries",
        "import warnings\ndef f(told: warnings.WarningMessage):\n    told.message.since",
        "import proto\nclass Own(proto.Message):\n    a = proto.Field()\nOwn().a.append(1)",
        f"{BOOKS}b = Book.objects.get(a=1)\nb.get_title_display()\nb.author.name.upper()",
        "from typing import TypedDict\nclass A(TypedDict):\n    a: int\nb: A = {'a': 1, 'c': 2}",
        f"{UNPACKED}x = A(1)\nx.a, x.b, x.c, x.d, x.e",
        "import reef\nclass Q(reef.Query):\n    every = 1\nQ.as_manager()\nreef.Query.as_manager()",
        "from own import Own\nOwn().absent\nimport own\nown.Own().absent",
        "import harbour\nship = harbour.call('a')\nship.name = 'x'\nprint(ship.name)",
        "import harbour\nship = harbour.call('a')\nif hasattr(ship, 'crew'):\n    ship.crew.eat()",
        "import harbour\ntry:\n    harbour.call('a').crew\nexcept AttributeError:\n    pass",
        "import harbour\nharbour.call('a').crew  # type: ignore",
        "import harbour\ndef f(ship: harbour.Ship):\n    ship.tow()",
        "class Mixin:\n    def f(self):\n        return self.given()",
        "undeclared.name\nundeclared()",
        "x: int = 'text'\ndef f() -> int:\n    return 'a'",
        "import sys\nsys.stdout.reconfigure(encoding='utf-8')",
        "import atoll\natoll.base().draw(1, colour=2)",
        "import atoll\natoll.Base.stretch(atoll.Base())\natoll.base().stretch()",
        "import atoll\natoll.measure(1, colour=3)",
        "import atoll\natoll.from_env(a=1).ping()",
        "import harbour\nclass Own(harbour.Ship):\n    crew = 1\nharbour.call('').crew",
        "import delta\ndelta.Options(a=1).described()\ndelta.Options(a=1).a",
        "import delta\ndelta.Stream().rush()",
        "import delta\ndelta.sheet(1).session()",
        "import delta\ndelta.dressed(['mast']).mast()\ndelta.equipped().oar()",
        "import delta\napp = delta.App()\n@app.task(n=1)\ndef add(): ...\nadd.push()",
        "import delta\nclass C(delta.Client):\n    def __init__(self, a): ...\nC(a=1)",
        "from delta import Session\nSession().put(1)",
        "import isle\nisle.Chart().mark().title\nisle.Desk().open_up()",
        "from isle.cove import sand",
        "import cape\ncape.Mode.peek\ncape.Proxy(cape.Wire()).send('a')\ncape.Data.to_le(1)",
        "from cape import Gull, bay\nfrom cape.tower import TowerFallback",
        "import cape\ncape.haul(1, high=True)",
        "import shoal\nclass M(shoal.Model): ...\nM.objects",
        "from sand.castle import build",
        "from pydantic import BaseModel\nclass A(BaseModel, extra='allow'):\n    a: int\nA(a=1).b",
        f"{MODEL}    model_config = ConfigDict(extra='allow')\n    a: int\nA(a=1).b",
        "try:\n    view\nexcept NameError:\n    class view: ...\nview().tobytes()",
        "import __main__\n__main__.anything",
        "import abc\nclass A(metaclass=abc.ABCMeta):\n    def f(self): ...\nA.register(int)",
        "class Style: ...\nfor each in rest():\n    setattr(Style, each, 1)\nStyle().bold",
        HANDLER,
        "import bay\n(sorted([1]) == bay.tide()).all()",
        "import mole\nclass B:\n    def go(self): ...\nclass Y(mole.Yard): model = B\nY().go()",
        "import mole\nmole.Stamp().tide\nmole.Stamp().isoformat()",
        "from mole.tap import ffi, lib\nlib.draw()",
        "from mole.weir import Weir\nWeir.of_stones(1, kind=2).level\nWeir().raised()",
        "import heron\nheron.roost\nheron.Flock().count(None, True)",
        "import heron\nheron.Flock().lead('a', True)",
        "import egret\negret.fly(1, options=2)",
        "import heron\nBird = heron.Bird\nBird.__init__(object(), 'a')",
        "import heron\nFlock = heron.Flock\ndef f(o: Flock):\n    Flock.count(o, 'a')",
        f"{BOOKS}b = Book.objects.annotate(n=1).first()\nb.n\nb.n()",
        f"{BOUND}    self.retry(countdown=1)",
        "import heron\nclass Hum:\n    def hum(self): ...\nheron.song().hum()",
        "import heron\nheron.eyrie().rear(1, fed=True)",
        "import heron\nheron.Perch().call().rear(1)",
        f"{FIXTURES}def f(boat, tug):\n    boat.toow()",
        (
            f"{FIXTURES}class TestB:\n    @pytest.fixture\n    def tug(self): return 1\n"
            "    def test_b(self, tug):\n        tug.toow()"
        ),
        "import heron\ndef f(perch: heron.Perch):\n    bird = perch.call()\n    bird.rear(1)",
        "import heron\nheron.eyrie().store.update(feeding=True)",
        "from matplotlib.lines import Line2D\nLine2D(1).set_extent(2)",
        "import heron\nclass A(made()):\n    def crackle(self): ...\nheron.lay().crackle()",
        "import heron\nclass A:\n    x = heron.song()\n    @property\n    def heron(self): ...",
        "import heron\ndef f(feeding): ...\nheron.eyrie(f).rear(1, feeding=True)",
        "import mole\nwith raises(mole.Lost):\n    mole.Tug().tows()",
        "import cape\ncape.bell('h')\ncape.bell('<high>')",
        "import datetime as dt\n(dt.datetime.now() - dt.timedelta(1)).isoformat()",
        FILLED,
        *(pytest.param(code, id=cause) for cause, code in TAKEN_FOR_OTHERS.items()),
        *(pytest.param(f"import quay\n{c}", id=cause) for cause, c in MAYBE_HEARD_OF.items()),
    ],
)
def test_what_is_not_certain_is_no_finding(verify: Verify, code: str) -> None:
    answer = verify(code)
    assert answer["engine"] != "none"
    assert answer["results"] == []


@pytest.mark.parametrize(
    "code",
    ["import harbour.quay", "from harbour.quay import Pier", "import harbour, harbour.quay as q"],
)
def test_a_module_that_a_package_has_not_is_found_where_all_checkers_say_so(
    verify: Verify, code: str
) -> None:
    (found,) = verify(code)["results"]
    assert found["name"].removesuffix(".Pier") == "harbour.quay"
    assert found["package"] == "harbour"


def test_clients_that_are_awaited_have_the_same_operations(verify: Verify) -> None:
    code = """from aiobotocore.session import get_session
async def main():
    async with get_session().create_client("quay") as client:
        cleared = await client.clear_berth(Berth="a")
        async with cleared["Body"] as stream:
            await stream.read()
        async for page in client.get_paginator("a").paginate():
            print(page)
        await client.clear_berths()
        await client.clear_berth(berth="a")
"""
    found = verify(code)["results"]
    assert [each["name"].rpartition(".")[2] for each in found] == [
        "clear_berths",
        "clear_berth(berth=)",
    ]


@pytest.mark.parametrize(
    ("code", "name", "first"),
    [
        ("client('quay').clear_berths(Berth='a')", "Client.clear_berths", "clear_berth"),
        ("client('dry-dock').filled_dock()", "Client.filled_dock", "fill_dock"),
        ("client('quay').clear_berth(berth='a')", "clear_berth(berth=)", "Berth"),
        ("client('quay').get_signed_url('a')", "Client.get_signed_url", None),
        ("client('quay').get_paginator('a').pages()", "Paginator.pages", "paginate"),
        ("Session().client('quay').berths()", "Client.berths", None),
        ("resource('quay').Berth('a').clean()", "Berth.clean", "clear"),
        ("for b in boto3.resource('quay').berths.all():\n    b.clean()", "Berth.clean", "clear"),
        ("resource('quay').berths.where()", "BerthCollection.where", None),
    ],
)
def test_clients_of_services_are_what_their_descriptions_say(
    verify: Verify, code: str, name: str, first: str | None
) -> None:
    line = code if code.startswith("for ") else f"boto3.{code}"
    (found,) = verify(f"import boto3\n{line}")["results"]
    assert found["name"].endswith(name)
    assert found["package"] in {"boto3", "botocore"}
    assert first is None or found["suggestions"][0].endswith(first)


@pytest.mark.parametrize(
    ("made", "names"),
    [
        ("boto3.client('quay')", ["Client.berths"] * 2),
        ("boto3.client('quay'), boto3.resource('quay')", []),
        ("boto3.client('dry-dock')", []),
    ],
)
def test_a_parameter_that_is_called_as_a_service_is_its_only_client(
    verify: Verify, made: str, names: list[str]
) -> None:
    code = f"""
import boto3
def connect(region):
    return {made}
def first(quay):
    return quay.berths()
def second(quay_client, other):
    other.berths()
    return quay_client.berths()
"""
    found = [each["name"] for each in verify(code)["results"]]
    assert [".".join(each.split(".")[-2:]) for each in found] == names


def test_what_services_have_is_no_finding(verify: Verify) -> None:
    code = """import boto3
quay = boto3.client("quay", region_name="eu")
quay.list_berths_v2()
quay.clear_berth(Berth="a", Force=True)
quay.get_berth_arns(**{"from": "a"})
quay.get_waiter("open").wait(Berth="a")
quay.exceptions.BerthTaken
berth = boto3.resource("quay").Berth("a")
print(berth.name, berth.length)
berth.clear()
boto3.resource("quay").berths.filter(Name="a").clear()
print(boto3.resource("quay").Crane("a", "left").side)
boto3.client("absent").anything()
boto3.client(name()).anything()
"""
    assert verify(code)["results"] == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("fig, (a, b) = plt.subplots(2, 1)\nb.plots(1)", "Axes.plots"),
        ("fig, (a, b) = plt.subplots(2)\nfig.saved()", "Figure.saved"),
        ("fig, grid = plt.subplots(ncols=2, nrows=2)\ngrid[0, 1].plots(1)", "Axes.plots"),
        ("fig, grid = plt.subplots(2, 2)\ngrid[0][1].plots(1)", "Axes.plots"),
        ("fig, [[a, b], [c, d]] = plt.subplots(2, 2)\nd.plots(1)", "Axes.plots"),
        ("fig, grid = plt.subplots(2, 2)\nfor each in grid.flat:\n    each.plots(1)", "Axes.plots"),
        ("fig, grid = plt.subplots(2, 2)\ngrid[1:].ravel()[0].plots(1)", "Axes.plots"),
        ("fig, grid = plt.subplots(2, 2)\ngrid.plot(1)", "ndarray.plot"),
        ("fig, grid = plt.subplots(2, 2)\nmore = fig.subplots(3)\nmore[0].plots(1)", "Axes.plots"),
    ],
)
def test_several_plots_are_an_array_of_plots(verify: Verify, code: str, name: str) -> None:
    (found,) = verify(f"import matplotlib.pyplot as plt\n{code}")["results"]
    assert found["name"].endswith(name)


def test_plots_whose_number_is_not_written_may_be_anything(verify: Verify) -> None:
    code = """import matplotlib.pyplot as plt
fig, some = plt.subplots(count())
some.anything()
fig, grid = plt.subplots(2, 2, squeeze=False)
grid[0].anything()
fig, rows = plt.subplots(2, 2)
for row in rows:
    row.ravel()
    for each in row:
        each.plot(1)
rows[0].ravel()[0].plot(1)
"""
    assert verify(code)["results"] == []


@pytest.mark.parametrize("code", GIVEN.values(), ids=GIVEN)
def test_a_parameter_is_what_the_code_gives_to_it(verify: Verify, code: str) -> None:
    (found,) = verify(f"import harbour\n{code}")["results"]
    assert found["name"] == "harbour.Tug.more"
    line = f"import harbour\n{code}".split("\n")[found["line"] - 1]
    assert line[found["column"] - 1 :] == "more('a')"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def meet(self, s, *, at):\n        s.more('a')", "Ship.more"),
        ("def meet(self, s, *, at):\n        print(at.ship)", "Berth.ship"),
        (
            "def meet(self, s, *, at):\n        self.go(s)\n    def go(self, t): t.more()",
            "Ship.more",
        ),
    ],
)
def test_a_parameter_is_what_the_overridden_method_takes(
    verify: Verify, code: str, name: str
) -> None:
    (found,) = verify(f"import harbour\nclass Own(harbour.Pilot):\n    {code}")["results"]
    assert found["name"].endswith(name)


def test_what_overrides_a_method_is_called_by_the_package_too(verify: Verify) -> None:
    code = """import harbour
class Own(harbour.Pilot):
    def __init__(self, ship):
        ship.anything()
    def meet(self, s, *, at):
        s.tow()
    def wait(self, s):
        s.anything()
    @staticmethod
    def own(s):
        s.sail()
Own(rest()).wait(harbour.Ship())
harbour.afloat().anything()
"""
    assert verify(code)["results"] == []


def test_a_call_may_be_wrong_in_two_ways(verify: Verify) -> None:
    """It has no ``cloth``, and another argument is missing."""
    code = (
        "import harbour\ndef f(s): return s\nharbour.rig(ship=f(harbour.Ship()), cloth=1, mast=2)"
    )
    found = verify(code)["results"]
    assert [each["name"].split("(")[-1] for each in found] == ["cloth=)", "mast=)"]


def test_a_place_in_the_line_of_the_parameters_is_told_as_it_is_written(verify: Verify) -> None:
    code = "import harbour\ndef f(s, t): return s.more(t)\nf(harbour.Tug(), 'a')"
    (found,) = verify(code)["results"]
    assert (found["line"], found["column"]) == (2, len("def f(s, t): return s.") + 1)


@pytest.mark.parametrize("code", NOT_ALL_GIVEN.values(), ids=NOT_ALL_GIVEN)
def test_a_parameter_of_which_not_all_values_are_seen_may_be_anything(
    verify: Verify, code: str
) -> None:
    answer = verify(f"import harbour\n{code}")
    assert answer["engine"] != "none"
    assert answer["results"] == []


def test_modules_of_the_code_and_of_conditions_are_not_judged(verify: Verify) -> None:
    guarded = "try:\n    import harbour.quay\nexcept ImportError:\n    pass\n"
    assert verify(f"from .harbour import absent\nimport own.more\n{guarded}")["results"] == []


def test_what_only_the_second_checker_infers_is_found(verify: Verify) -> None:
    """Nothing annotates what is returned."""
    (found,) = verify("import harbour\nharbour.built(1).tapp()")["results"]
    assert (found["name"], found["engine"]) == ("harbour.Barrel.tapp", "pyrefly")


def test_what_takes_the_second_checker_long_is_not_inferred(
    engines_folder: Path, tmp_path: Path
) -> None:
    for name in ("scipy", "harbour"):
        (tmp_path / name).mkdir()
        made = "class Made:\n    pass\n\ndef made(x):\n    return Made()\n"
        (tmp_path / name / "__init__.py").write_text(made)
    place = pyrefly.workplace("a key", "3.13", [tmp_path], "code.py")
    code = "import harbour, scipy\nscipy.made(1).absent\nharbour.made(1).absent\nscipy.absent\n"
    with (
        contextlib.closing(Engines(engines_folder)) as engines,
        engines.at_work((PYREFLY, place)) as (server,),
    ):
        said = server.judge("code.py", "python", code)
    assert [each.line for each in said if each.code == "missing-attribute"] == [2, 3]


def test_code_in_docstrings_of_a_file_is_not_judged(verify: Verify) -> None:
    code = 'import harbour\ndef f():\n    """Do it.\n\n    >>> harbour.absent\n    """\n'
    assert verify(code)["results"] == []
    assert [e["line"] for e in verify(">>> import harbour\n>>> harbour.absent")["results"]] == [2]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from pathlib import *\nPath('a').suffixes_of()\nPath.homes()", ["suffixes_of", "homes"]),
        ("from os import *\nopen('a').readd()\n'a'.lowered()", ["open()", "readd", "lowered"]),
        ("from os import *\nfrom io import *\nopen('a').readd()", ["readd"]),
        ("from os import *\nfrom not_installed import *\nopen('a').readd()\ngetcwdb().b", []),
        ("from not_installed import *\nfrom os import *\ngetcwd().readd()", ["readd"]),
        ("from .mine import *\nopen('a').readd()", []),
        ("if x:\n    from os import *\nopen('a').readd()", []),
        ("from os import *\ndef getcwd(): return object()\ngetcwd().readd()", []),
    ],
)
def test_names_that_a_star_brings_are_those_of_its_module(
    verify: Verify, code: str, names: list[str]
) -> None:
    found = [each["name"].rpartition(".")[2] for each in verify(code)["results"]]
    assert found == names


@pytest.mark.parametrize(
    ("code", "name", "first"),
    [
        ("open_gate(1, slowly=True)", "open_gate(slowly=)", "slow"),
        ("shut(tide=1)", "shut(tide=)", None),
        ("Gate(widths=2)", "Gate(widths=)", "width"),
        ("free(1, anything=2)\nopen_gate(1, slow=True)\nshut(fast=1)", "", None),
        ("plain(anything=2)", "", None),
    ],
)
def test_signatures_in_the_texts_of_compiled_modules_tell_keywords(
    verify: Verify, code: str, name: str, first: str | None
) -> None:
    found = verify(f"from mole.sluice import *\nfrom mole import sluice\nsluice.{code}")["results"]
    assert [each["name"].rpartition(".")[2] for each in found] == [name] * bool(name)
    assert first is None or found[0]["suggestions"] == [first]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("sa.Column('a', primary=True)", "Column(primary=)"),
        ("sa.Column('a', auto_increment=True)", "Column(auto_increment=)"),
        ("sa.Index('a', 'b', mysql_length=3, unique=True)", ""),
        ("sa.create_engine('sqlite://', echo=True, max_pool=1)", "create_engine(max_pool=)"),
        ("sa.create_engine(f'mysql+x://{host}', native_dates=1, pool_size=2)", ""),
        ("sa.create_engine('frigate://', max_pool=1)", ""),
        ("sa.create_engine(host, max_pool=1)", ""),
        ("go.Bar(x=[1], color='teal')", "Bar(color=)"),
        ("go.Bar(x=[1], marker_color='teal', skip_invalid=True)", ""),
        ("go.Figure().update_layout(x_title='a')", "update_layout(x_title=)"),
        ("go.Figure().update_layout(xaxis2={}, legend_title_text='b', overwrite=True)", ""),
        ("go.Figure(layout_title_text='a')", ""),
    ],
)
def test_keywords_that_are_told_by_what_they_begin_with(
    verify: Verify, code: str, name: str
) -> None:
    answer = verify(f"import sqlalchemy as sa\nimport plotly.graph_objects as go\n{code}")
    found = [each["name"].rpartition(".")[2] for each in answer["results"]]
    assert found == [name] * bool(name)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("ax.vlines(1, line_width=2)", "vlines(line_width=)"),
        ("ax.vlines(1, linewidth=2, lw=2, marker='o', alpha=1, ends=2)", ""),
        ("plt.vlines(1, colour='r')", "vlines(colour=)"),
        ("plt.vlines(1, lw=1)", ""),
        ("ax.set(x_label='a')", "set(x_label=)"),
        ("ax.set(xlabel='a', alpha=1)", ""),
        ("ax.scatter(1, colour='r')", "scatter(colour=)"),
        ("ax.scatter(1, lw=2, jitter=3)", ""),
        ("ax.legend(location='best')", "legend(location=)"),
        ("ax.legend([1], ['a'], loc='best', title='b')", ""),
        ("ax.bar_label(1, anything=2)", ""),
        ("make(projection='polar')\nax.vlines(1, radius=2)", ""),
    ],
)
def test_keywords_of_what_is_drawn_are_its_properties(verify: Verify, code: str, name: str) -> None:
    head = "import matplotlib.pyplot as plt\nfrom matplotlib.axes import Axes\nax = Axes()\n"
    found = [each["name"].rpartition(".")[2] for each in verify(f"{head}{code}")["results"]]
    assert found == [name] * bool(name)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("@ferry.option('-a', hidden=True, show=1)\ndef f(): ...", ["option(show=)"]),
        ("@ferry.option('-a', hidden=True, shown=1)\ndef f(): ...", []),
        ("@ferry.option('-a', cls=Own, group=1)\ndef f(): ...", []),
        ("ferry.Client().post('/', buffered=True, params={})", ["post(params=)"]),
        ("ferry.Client().post('/', buffered=True, json={})", []),
        ("ferry.Store().index('a', unique=True, expire=3)", []),
        ("barge.WideFrame().rename(columns={}).dissolve(by='a')", []),
        ("barge.WideFrame().rename(columns={}).dissolves(by='a')", ["WideFrame.dissolves"]),
        ("barge.WideFrame().rename(colums={})", ["rename(colums=)"]),
        ("ferry.Frame().widen(by='a')\nferry.Frame().dissolve(by='a')", []),
        ("ferry.Frame().widens(by='a')", ["Frame.widens"]),
        ("barge.read('a')[['b']].rename(columns={})\nbarge.read('a')[1:].length()", []),
        ("barge.WideFrame()[['b', 'c']].dissolve(by='a')", []),
        ("ferry.Page().box.width\nferry.Page().box.height()", ["Row.height"]),
        ("ferry.Maker('f')(1).diff(1)", []),
        ("ferry.Ticket('f').width\nferry.Ticket('f').price()", ["Row.price"]),
        ("ferry.Deck().high\nferry.Deck().low", ["Deck.low"]),
        ("pontoon.plank()\npontoon.haul()", ["pontoon.haul"]),
        ("class Own(ferry.WideRow):\n    depth = 1\nferry.Page().box.depth", []),
        ("class Own(ferry.Page):\n    depth = 1\nferry.Page().box.depth", ["Row.depth"]),
        ("ferry.Desk().lantern.swing()\nferry.Desk().lamp.swing()", ["lamp.swing"]),
        (f"{LIVE}        self.a.count('b')\n        self.b.count('b')\n", []),
    ],
)
def test_what_passes_through_other_functions_and_packages(
    verify: Verify, code: str, names: list[str]
) -> None:
    answer = verify(f"import barge, ferry, pontoon\nfrom own import Own\n{code}")
    found = [each["name"].removeprefix("pontoon.") for each in answer["results"]]
    assert [each.rpartition(".")[2] for each in found] == [e.rpartition(".")[2] for e in names]
    for each, name in zip(answer["results"], names, strict=True):
        assert each["name"].endswith(name)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("if isinstance(a, Path):\n    a.nmae\na.nmae", ["Path.nmae"]),
        ("if isinstance(a, Path) and a.nmae: ...", ["Path.nmae"]),
        ("if not isinstance(a, Path):\n    raise ValueError\na.nmae", ["Path.nmae"]),
        ("if not isinstance(a, Path) or a.nmae: ...", ["Path.nmae"]),
        ("assert isinstance(a.b, Path)\na.b.nmae", ["Path.nmae"]),
        ("b = a.nmae if isinstance(a, Path) else a", ["Path.nmae"]),
        ("b = [e.nmae for e in a if isinstance(e, Path)]", ["Path.nmae"]),
        ("b = {e.nmae: 1 for e in a if isinstance(e, Path)}", ["Path.nmae"]),
        ("b = any(e.nmae for e in a if isinstance(e, Path))", ["Path.nmae"]),
        ("while isinstance(a, Path):\n    a.nmae\n    break", ["Path.nmae"]),
        ("match a:\n    case Path() as b:\n        b.nmae", ["Path.nmae"]),
        ("match a:\n    case Path():\n        a.nmae", ["Path.nmae"]),
        ("if isinstance(a, (PosixPath, WindowsPath)):\n    a.nmae\n    a.name", ["PosixPath.nmae"]),
        # What is tested is bound anew, or the test says nothing of it.
        ("if isinstance(a, Path):\n    a = a.b\n    a.nmae", []),
        ("if isinstance(a, Path):\n    list(map(lambda a: a.nmae, b))", []),
        ("if isinstance(a, Path):\n    try: ...\n    except E as a:\n        a.nmae", []),
        ("if isinstance(a, Path):\n    match b:\n        case [a]:\n            a.nmae", []),
        ("if not isinstance(a, Path):\n    a.nmae", []),
        ("if isinstance(a, Path) or a.nmae: ...", []),
    ],
)
def test_what_the_code_tests_of_a_value(verify: Verify, code: str, names: list[str]) -> None:
    lines = code.replace("\n", "\n    ")
    head = "from pathlib import Path, PosixPath, WindowsPath\ndef f(a, b):\n    "
    answer = verify(f"{head}{lines}\n")
    assert [each["name"].removeprefix("pathlib.") for each in answer["results"]] == names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        *(
            (f"a = estuary.{made}\na.paddle()\na.row()", ["Raft.row"])
            for made in ("first()", "lent()", "gathered()[0]", "parts()", "moored()", "summed()")
        ),
        ("for a in estuary.rafts():\n    a.row()", ["Raft.row"]),
        # Its class does not have what the function gives it.
        ("estuary.changed().colour", []),
        ("estuary.Sail().size.area()\nestuary.Sail().size.width()", ["Size.width"]),
        ("b = estuary.Buoy('a', 1, 2)\nb.float()\nb.marks\nb.sink()", ["Buoy.sink"]),
        ("r = estuary.Raft('a')\nr.tack()", ["Raft.tack"]),
        ("def f(raft: estuary.Raft):\n    raft.tack()", []),
        (
            "estuary.Yard().run('a', echo=1)\nestuary.Yard().run('a', loudly=1)",
            ["Yard.run(loudly=)"],
        ),
        (
            "def f(y: estuary.Yard):\n    y.run('a', hide=1)\n    y.run('a', loudly=1)",
            ["run(loudly=)"],
        ),
        ("estuary.configured(topic=1)\nestuary.configured(brokers=1)", ["configured(brokers=)"]),
        ("estuary.Loaded(a__rounds=1)", []),
        ("estuary.Yard().use(estuary.sailing, wind=2)", []),
        ("estuary.Yard().use(estuary.sailing, 1, winds=2)", ["sailing(winds=)"]),
        ("estuary.Yard().keep(estuary.sailing, winds=2)", []),
        (
            "partial(estuary.sailing, wind=2)\npartial(estuary.sailing, winds=2)",
            ["sailing(winds=)"],
        ),
        ("asyncio.to_thread(estuary.sailing, 1, winds=2)", ["sailing(winds=)"]),
        ("def own(a, b=1): ...\npartial(own, b=2)\npartial(own, c=2)", ["own(c=)"]),
        ("def f(plugin):\n    partial(plugin, c=2)", []),
        ("found = []\nfound.append(estuary.Raft('a'))\nfound[0].row()", ["Raft.row"]),
        ("found = {}\nfound['a'] = estuary.Raft('a')\nfound['b'].row()", ["Raft.row"]),
        ("def f() -> list:\n    return [estuary.Raft('a')]\nf()[0].row()", ["Raft.row"]),
        (
            (
                "class A:\n    def __init__(self):\n        self.a = []\n    def add(self):\n"
                "        self.a.append(estuary.Raft('a'))\n        self.a[0].row()"
            ),
            ["Raft.row"],
        ),
        *(
            (f"{decorator}\nclass A(estuary.Raft):\n    a = 1\nA('a').row()", names)
            for decorator, names in (
                ("@estuary.register", ["A.row"]),
                ("@estuary.registered('a')", ["A.row"]),
                ("@estuary.labelled", []),
                ("def own(kind):\n    return kind\n@own", ["A.row"]),
                ("def own(kind):\n    return wrap(kind)\n@own", []),
            )
        ),
        (
            "def f(canvas):\n    canvas.begin()\n    canvas.draw_texts('a')\n    canvas.end()",
            ["Canvas.draw_texts"],
        ),
        ("class A(estuary.Raft):\n    def f(self):\n        super().row()", ["Raft.row"]),
        ("class A(estuary.Raft):\n    def paddle(self):\n        super().paddle()", []),
        ("class A(estuary.Raft):\n    def f(self): super().row()\nclass B(A, C): ...", []),
        # What overrides a method takes its parameters in another order.
        ("class A(estuary.Yard):\n    def moor(self, raft=None, name=''):\n        raft.row()", []),
        ("class A(estuary.Yard):\n    def moor(self, name=''):\n        name.row()", ["str.row"]),
        # An instance has what the descriptor of a base reads.
        (
            (
                "class A:\n    raft = estuary.Reading(1)\n"
                "class B(A):\n    def f(self):\n        self.raft.row()"
            ),
            [],
        ),
        ("from estuary import tap\ntap.ffi.new('a')\ntap.lib.flow()", []),
        ("class A(str):\n    def __new__(cls, a):\n        return super().__new__(cls, a)", []),
        ("estuary.Pool[str](size=1)\nestuary.Pool[str](length=1)", ["estuary.Pool(length=)"]),
        ("from estuary import berth_pb2\nberth_pb2.Berth\nberth_pb2.Quay", ["berth_pb2.Quay"]),
        ("def f(canvas):\n    canvas.begin()\n    canvas.paint()\n    canvas.close()", []),
    ],
)
def test_what_values_are_by_what_is_done_with_them(
    verify: Verify, code: str, names: list[str]
) -> None:
    answer = verify(f"import asyncio\nfrom functools import partial\nimport estuary\n{code}\n")
    assert [each["name"].split(".")[-1] for each in answer["results"]] == [
        each.split(".")[-1] for each in names
    ]
    for each, name in zip(answer["results"], names, strict=True):
        assert each["name"].endswith(name)


def test_a_message_of_protocol_buffers_has_the_fields_that_are_written(verify: Verify) -> None:
    code = "import harbor_v1\nb = harbor_v1.Berth()\nb.type\nb.type_\nb.size.depth\n"
    assert verify(code)["results"] == []
    answer = verify(f"{code}b.tipe\nb.size.width\nharbor_v1.Berth.to_json(b)\n")
    found = [each["name"].split("harbor_v1.")[-1] for each in answer["results"]]
    assert found == ["Berth.tipe", "Berth.Size.width"]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("p = dockyard.Pier()\np.keel()\np.ebb()\np.event\np.hull\np.Hull()", ["Pier.hull"]),
        ("t = dockyard.Told()\nt.old\nt.older\nt.newer", ["Told.newer"]),
        ("t = dockyard.Tabled()\nt.title\nt.titel", ["Tabled.titel"]),
        ("dockyard.Port().unload()", []),
        ("from dockyard.flags import Flag\nFlag.RED.value", []),
        ("dockyard.crane(weight=1)\ndockyard.crane(mass=1)", ["dockyard.crane(mass=)"]),
        ("s = dockyard.Shed()\ns.ropes\ns.rope", ["Shed.rope"]),
        ("r = dockyard.Row()\nr['a'] = 1\nr.sort()", ["Row.sort"]),
        ("h = dockyard.Hooks()\nh.began\nh.begin", ["Hooks.begin"]),
        ("dockyard.Bar([1], desc='a')\ndockyard.Bar([1], label='a')", ["Bar(label=)"]),
        ("dockyard.paint(shade='a')\ndockyard.paint(tone='a')", ["paint(tone=)"]),
        (
            "class Own(dockyard.Record):\n    a = dockyard.Field()\nOwn(a=[1]).a.append(2)",
            [],
        ),
        ("c = dockyard.Crate()\nc.stack(height=1)\nc.stack(high=1)", ["Crate.stack(high=)"]),
        ("c = dockyard.Crate()\nc.open(lid=1)\nc.open(lit=1)", ["Crate.open(lit=)"]),
        ("c = dockyard.Crate()\nc.weigh(unit=1)\nc.weigh(by=1)", ["Crate.weigh(by=)"]),
        ("c = dockyard.Crate()\nc.ship(to=1)\nc.ship(into=1)", ["Crate.ship(into=)"]),
        ("from dockyard import old\nold.keel\nold.keels", ["old.keels"]),
        ("h = dockyard.Held(print)\nh.flush_all()", []),
        ("dockyard.Kept().crane()", []),
        ("j = dockyard.Job()\nj.tonnage_of()", ["Job.tonnage_of"]),
        ("import wharf\nj = dockyard.Job()\nj.tonnage_of()", []),
        ("t = dockyard.Tools()\nt.crane.add_label(label='a')", []),
        ("p = dockyard.Parser()\np.put('-a', more=1)\np.add_argument('-a', more=1)", []),
        ("import argparse\nargparse.ArgumentParser().add_argument('-a', more=1)", []),
    ],
)
def test_names_that_packages_give_while_they_run(
    verify: Verify, code: str, names: list[str]
) -> None:
    answer = verify(f"import dockyard\n{code}")
    assert answer["engine"] != "none"
    for each, name in zip(answer["results"], names, strict=True):
        assert each["name"].endswith(name)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("yard.run(own, times=2)", ["Job.lower"]),
        ("yard.run(times=2, work=own)", ["Job.lower"]),
        ("yard.inspect(own)", ["Job.lower"]),
        ("yard.greet(own)", ["Job.lower"]),
        ("dockyard.Yard.run(yard, own)", []),
        ("yard.each(own)", []),
        ("yard.run(own)\nyard.each(own)", []),
        ("yard.run(own)\nwork = own", []),
        ("yard.run(*[own])", []),
        ("list(map(own, [dockyard.Job()]))", ["Job.lower"]),
        ("sorted([dockyard.Job()], key=own)", ["Job.lower"]),
        ("[dockyard.Job()].sort(key=own)", ["Job.lower"]),
        (
            f"{POOL}    pool.submit(own, dockyard.Job())",
            ["Job.lower"],
        ),
        (
            f"{POOL}    pool.map(own, [dockyard.Job()])",
            ["Job.lower"],
        ),
    ],
)
def test_a_parameter_is_what_a_package_says_that_the_function_gets(
    verify: Verify, code: str, names: list[str]
) -> None:
    """``yard.run`` takes a ``Callable[[Job], int]``."""
    own = "def own(job, *more, deep=False):\n    job.lift('a')\n    job.lower()\n"
    answer = verify(f"import dockyard\nyard = dockyard.Yard()\n{own}{code}\n")
    assert answer["engine"] != "none"
    found = [each["name"] for each in answer["results"]]
    assert [each.rpartition("dockyard.")[2] for each in found] == names


@pytest.mark.parametrize(
    ("code", "names", "first"),
    [
        ("from sound.feries.times import leave", ["sound.feries"], "sound.ferries"),
        ("import sound.feries", ["sound.feries"], "sound.ferries"),
        ("from sound import feries", ["sound.feries"], "sound.ferries"),
        ("from sound import lighthouse_v1", [], ""),
        ("from sound.lighthouse_v1 import Lamp", [], ""),
        (
            "from sound.ferries.time import leave",
            ["sound.ferries.time.leave"],
            "sound.ferries.times",
        ),
    ],
)
def test_a_module_of_a_shared_namespace_is_missed_where_one_is_like_it(
    verify: Verify, code: str, names: list[str], first: str
) -> None:
    found = verify(code)["results"]
    assert [each["name"] for each in found] == names
    assert [each["suggestions"][0] for each in found] == [first] * len(names)


def test_a_model_may_take_a_field_by_its_name_besides_its_alias(verify: Verify) -> None:
    code = "import pearls\npearls.Pearl(shell='a')\npearls.Pearl(shell_name='a')\n"
    answer = verify(f"{code}pearls.Pearl(shell='a', wait=1)")
    assert [each["name"] for each in answer["results"]] == ["pearls.Pearl(wait=)"]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from sound.pilots import Pilot\nPilot().command_all()", ["Pilot.command_all"]),
        ("from sound import masters, pilots\npilots.Pilot().command_all()", []),
    ],
)
def test_a_subclass_below_a_shared_name_may_be_meant(
    verify: Verify, code: str, names: list[str]
) -> None:
    found = [each["name"].removeprefix("sound.pilots.") for each in verify(code)["results"]]
    assert found == names


@pytest.mark.parametrize(
    ("use", "names"),
    [
        ("net.train()\nnet.head(1)\nnet.tail(1)", []),
        ("net.predict(1)", ["Net.predict"]),
        ("net.weights", []),
    ],
)
def test_modules_of_torch_have_what_they_are_given(
    verify: Verify, use: str, names: list[str]
) -> None:
    code = f"""from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3)
        self.add_module("tail", nn.Linear(3))
net = Net()
{use}
"""
    assert [each["name"] for each in verify(code)["results"]] == names


@pytest.mark.parametrize(
    ("code", "name", "named"),
    [
        ("import sound_ferries", "sound_ferries", ["sound.ferries"]),
        (
            "from sound_pilots.pilots import Pilot\nPilot()",
            "sound_pilots.pilots.Pilot",
            ["sound.pilots"],
        ),
    ],
)
def test_a_distribution_that_is_imported_by_its_own_name(
    verify: Verify, code: str, name: str, named: list[str]
) -> None:
    (found,) = verify(code)["results"]
    assert (found["name"], found["suggestions"]) == (name, named)
    assert f"is imported as {named[0]}" in found["message"]


@pytest.mark.parametrize(
    "code",
    [
        "import dockyard\ntry:\n    pass\nexcept dockyard.TideFault:\n    pass",
        "import dockyard\nraise dockyard.TideFault('a')",
        "from dockyard import TideFault\ntry:\n    pass\nexcept (OSError, TideFault):\n    pass",
    ],
)
def test_an_exception_is_suggested_where_one_is_raised_or_caught(verify: Verify, code: str) -> None:
    (found,) = verify(code)["results"]
    assert found["suggestions"][0].endswith("TideError")


def test_an_attribute_is_suggested_where_no_method_is_like_a_name(verify: Verify) -> None:
    (found,) = verify("import uuid\nuuid.uuid4().hexdigest()")["results"]
    assert found["suggestions"][0] == "uuid.UUID.hex"


def test_keywords_that_a_connection_hands_to_the_event_loop(verify: Verify) -> None:
    code = (
        "import websockets\nwebsockets.connect('ws://a', ssl=None, proxy_ssl=None, local_addr=1)\n"
    )
    assert verify(code)["results"] == []
    (found,) = verify(f"{code}websockets.connect('ws://a', extra_headers={{}})")["results"]
    assert found["suggestions"] == ["additional_headers"]


@pytest.mark.parametrize(
    ("decorator", "names"),
    [
        ("@yard.at(3)", ["Job.lower"]),
        ("@yard.after", ["Job.lower"]),
        ("@yard.before()", ["Job.lower"]),
        ("@yard.always()", []),
        ("@yard.always", []),
    ],
)
def test_a_parameter_is_what_a_decorator_says_that_its_function_gets(
    verify: Verify, decorator: str, names: list[str]
) -> None:
    answer = verify(
        f"import dockyard\nyard = dockyard.Yard()\n{decorator}\ndef own(job):\n    job.lower()\n"
    )
    assert answer["engine"] != "none"
    found = [each["name"] for each in answer["results"]]
    assert [each.rpartition("dockyard.")[2] for each in found] == names


@pytest.mark.parametrize(
    ("module", "first"),
    [("dockyard.lokcs", "dockyard.locks"), ("dockyard.gate", "dockyard.locks")],
)
def test_a_module_that_defines_a_name_comes_before_those_that_import_it(
    verify: Verify, module: str, first: str
) -> None:
    (found,) = verify(f"from {module} import Lock")["results"]
    assert found["suggestions"][0] == first


COMMAND_LINE = """import argparse
from pathlib import Path

def parser(more):
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("-s", "--max-size", type=int, default=3)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--tag", action="append", dest="tags")
    steps = parser.add_subparsers(dest="step")
    clean = steps.add_parser("clean")
    clean.set_defaults(run=print)
    {more}
    return parser

args = parser(None).parse_args()
known, _ = parser(None).parse_known_args()
def main(given: argparse.Namespace): given.{name}
args.folder.glob("*"), args.step.lower(), args.tags.sort(), args.run()
args.{name}, known.{name}
"""


@pytest.mark.parametrize(
    ("more", "name", "found"),
    [
        ("", "maxsize", ["Namespace.maxsize"] * 3),
        ("", "max_size", []),
        ("", "folder.iter_files()", ["Path.iter_files"] * 3),
        ("", "step.lowered", ["str.lowered"] * 3),
        ("", "max_size.shorten()", ["int.shorten"] * 3),
        ("", "tags.add(1)", ["list.add"] * 3),
        ("parser.add_argument(*more)", "maxsize", []),
        ("parser.add_argument('--more', dest=more)", "maxsize", []),
        ("parser.set_defaults(**more)", "maxsize", []),
        ("more.extend_parser(parser)", "maxsize", []),
        ("steps.add_parser('b', parents=[more])", "maxsize", []),
        ("setattr(more, 'maxsize', 1)", "maxsize", []),
        ("more.maxsize = 1", "maxsize", []),
    ],
)
def test_a_command_line_tells_what_its_namespace_has(
    verify: Verify, more: str, name: str, found: list[str]
) -> None:
    code = COMMAND_LINE.replace("{more}", more or "pass").replace("{name}", name)
    names = [
        each["name"].split(".", each["name"].count(".") - 1)[-1] for each in verify(code)["results"]
    ]
    assert names == found


@pytest.mark.parametrize(
    ("request_use", "found"),
    [
        ("request.get_host()", []),
        ("request.get_json()", ["get_json"]),
        ("request.args", ["args"]),
        ("request.tenant.name", []),
    ],
)
@pytest.mark.parametrize("header", ["request", "request: HttpRequest"])
def test_a_view_of_django_gets_a_request(
    verify: Verify, header: str, request_use: str, found: list[str]
) -> None:
    code = f"from django.http import HttpRequest\ndef view({header}):\n    {request_use}\n"
    assert [each["name"].rpartition(".")[2] for each in verify(code)["results"]] == found


def test_a_request_of_a_test_is_none_of_django(verify: Verify) -> None:
    code = "from django.http import HttpRequest\ndef test_it(request):\n    request.get_json()\n"
    assert verify(code)["results"] == []


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (
            "import json\njson.dumps({}, indent=1, default=str)\njson.dumps({}, pretty=True)",
            "pretty",
        ),
        ("import json\njson.loads('1', cls=object, more=1)\njson.loads('1', hook=1)", "hook"),
        (
            f"{PARSER}p.add_argument('-a', action=object, b=1)\np.add_argument('-b', require=1)",
            "require",
        ),
    ],
)
def test_keywords_that_python_hands_on(verify: Verify, code: str, names: str) -> None:
    (found,) = verify(code)["results"]
    assert found["name"].endswith(f"({names}=)")
    assert found["line"] == code.count("\n") + 1


@pytest.mark.parametrize(
    ("header", "wrong"),
    [
        ("class Own(Base):", ["c"]),
        ("class Own(Plain):", ["a", "c"]),
        ("class Own(dockyard.Yard):", ["a", "c"]),
        ("class Own(Made):", ["c"]),
        ("class Own(dockyard.Bar):", []),
    ],
)
def test_a_data_class_takes_the_fields_of_those_above(
    verify: Verify, header: str, wrong: list[str]
) -> None:
    code = f"""import dockyard
from dataclasses import dataclass
@dataclass
class Base:
    a: int = 0
class Plain:
    def __init__(self, z): ...
class Made(Base, Plain): ...
@dataclass
{header}
    b: int = 0
Own(a=1)
Own(b=1)
Own(c=1)
"""
    answer = verify(code)
    assert answer["engine"] != "none"
    assert [each["name"] for each in answer["results"]] == [f"Own({each}=)" for each in wrong]


@pytest.mark.parametrize(
    ("condition", "is_told"),
    [
        ("ship.version.major > 1", True),
        ("not ship.has_sails()", True),
        ("meets(version)", True),
        ("version >= 2", False),
        ("has_harbour", False),
        ("self.has_harbour", False),
        ("harbour.__version__ > '1'", False),
        ("hasattr(harbour, 'ferry')", False),
    ],
)
def test_a_condition_on_what_there_is_guards_what_it_decides(
    verify: Verify, condition: str, *, is_told: bool
) -> None:
    code = (
        "import harbour\ndef meets(v): ...\n"
        f"def f(self, ship, version, has_harbour):\n    if {condition}:\n        harbour.ferry()\n"
    )
    assert ("harbour.ferry" in [e["name"] for e in verify(code)["results"]]) == is_told


@pytest.mark.parametrize(
    ("handler", "is_told"),
    [
        ("except Exception as error:\n    print('failed', error)", True),
        ("except Exception as error:\n    raise SystemExit(1) from error", True),
        ("except Exception as error:\n    ferry = error", False),
        ("except Exception as error:\n    print('not there')", False),
        ("except Exception:\n    pass", False),
        ("except AttributeError as error:\n    print(error)", False),
    ],
)
def test_a_handler_that_only_tells_of_an_error_allows_for_nothing(
    verify: Verify, handler: str, *, is_told: bool
) -> None:
    found = verify(f"import harbour\ntry:\n    harbour.ferry()\n{handler}\n")["results"]
    assert [each["name"] for each in found] == ["harbour.ferry"] * is_told


def test_what_another_package_gives_is_there_where_the_code_imports_it(verify: Verify) -> None:
    (found,) = verify("import ferry\nferry.Frame().widen(by='a')")["results"]
    assert found["name"] == "ferry.Frame.widen"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = np.ndarray()\n(a > 1).summ()", ["summ"]),
        ("def f(a):\n    (a > 1).summ()", []),
        ("import ferry\nr = None == ferry.Frame()\nr = ferry.Frame() != 1\nr.iat[0]", []),
        ("import ferry\nnp.isnan(ferry.Frame()).rename(columns={})", []),
        ("import ferry\nnp.isnan(2 * ferry.Frame() / 3).rename(columns={})", []),
        ("import ferry\nnp.isnan(2 * np.ndarray() / 3).rename(columns={})", ["rename"]),
    ],
)
def test_what_is_compared_or_computed_may_be_of_another_class(
    verify: Verify, code: str, names: list[str]
) -> None:
    found = verify(f"import numpy as np\n{code}")["results"]
    assert [each["name"].rpartition(".")[2] for each in found] == names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("ferry.heights().average()", ["average"]),
        ("ferry.heights().mask", []),
        ("def f(a: np.ndarray):\n    a.average()", []),
        ("ferry.Page().set_output('pandas')\nferry.heights().columns()", ["set_output"]),
    ],
)
def test_an_array_of_a_docstring_has_nothing_that_only_open_subclasses_may_have(
    verify: Verify, code: str, names: list[str]
) -> None:
    found = verify(f"import numpy as np\nimport ferry\n{code}")["results"]
    assert [each["name"].rpartition(".")[2] for each in found] == names


def test_a_keyword_is_found_on_its_line_though_a_decorator_may_take_it(verify: Verify) -> None:
    (found,) = verify("import atoll\natoll.measure(\n    1,\n    units='ft',\n)")["results"]
    assert (found["name"], found["line"]) == ("atoll.measure(units=)", 4)
    assert found["suggestions"] == ["unit"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("cape.ring('loudest')", ['"loudest"']),
        ("import mole\nmole.toll(how='loudest')", ['"loudest"']),
        ("import mole\nclass A:\n    @mole.toll(how='loud')\n    def f(self): ...", ['"loud"']),
        ("cape.ring(cape.Boat())", []),
        ("cape.chime(1, pitch='loudest')", ['"loudest"']),
        ("cape.chime('a', abs)\ncape.chime(1, 'low')", []),
        ("class Own(harbour.Load):\n    high: bool\nOwn(weight=1, high=True)", []),
    ],
)
def test_texts_of_a_set_that_is_not_all_that_is_taken(
    verify: Verify, code: str, expected: list[str]
) -> None:
    found = verify(f"import cape, harbour\n{code}")["results"]
    assert [each["name"] for each in found] == expected


def test_what_is_to_be_raised_is_judged(verify: Verify) -> None:
    code = "import mole\nassertRaises(mole.Lots, mole.Tug().tows)"
    assert [each["name"] for each in verify(code)["results"]] == ["mole.Lots"]


def test_what_nobody_can_judge_is_counted(verify: Verify) -> None:
    answer = verify("import lagoon\nfor each in [lagoon.tide()]:\n    each.high", all=True)
    assert {each["status"] for each in answer["results"]} == {"ok", "not_checked"}
    assert answer["not_checked_share"] > 0
    assert answer["not_checked"] == {"what runs may have more than is declared": 1}
    guarded = "import harbour\ntry:\n    harbour.absent\nexcept AttributeError:\n    pass"
    answer = verify(guarded, all=True)
    assert answer["not_checked"] == {"the code itself allows for its absence": 1}
    assert [each["reason"] for each in answer["results"] if "reason" in each] == [
        "the code itself allows for its absence"
    ]


def test_one_server_works_for_a_project_and_another_when_it_is_gone(
    verify: Verify, opened: Runtime
) -> None:
    wrong = "import harbour\n[s.sale() for s in harbour.call('a').moor('b').ships]"
    assert len(verify(wrong)["results"]) == 1
    # Those of other projects may end meanwhile, where there is little memory.
    first = opened.engines.pids()[-2:]
    assert verify("import harbour\nharbour.call('a')")["results"] == []
    assert opened.engines.pids()[-2:] == first
    os.kill(first[-1], signal.SIGKILL)
    assert len(verify(wrong)["results"]) == 1
    assert first[-1] not in opened.engines.pids()


def test_without_the_engine_the_answer_says_so(project: Path, tmp_path: Path) -> None:
    flags = {"store": str(tmp_path / "s"), "cache": str(tmp_path / "c"), "engines": "none"}
    with contextlib.closing(Runtime(load({**flags, "root": (str(project),)}, {}))) as runtime:
        asked = {"code": "import harbour\nharbour.Tug().toww()", "language": "python"}
        answer = dict(runtime.toolbox.call("verify_code", asked).structured or {})
    assert answer["engine"] == "none"
    assert [each["name"] for each in answer["results"]] == ["harbour.Tug.toww"]


def test_code_is_checked_against_the_version_that_one_wants_to_upgrade_to(
    project: Path, engines_folder: Path, tmp_path: Path
) -> None:
    newer = PACKAGES["harbour"]["harbour/__init__.py"].replace("def sail(", "def steer(")
    files = {"harbour/py.typed": "", "harbour/__init__.py": newer}
    with PythonIndexServer() as index:
        index.add_wheel("harbour", "2.0", files)
        flags = {
            "store": str(tmp_path / "store"),
            "cache": str(tmp_path / "cache"),
            "engines": str(engines_folder),
            "root": (str(project),),
            "python_index_url": index.url,
        }
        code = "import harbour\nharbour.visit(lambda ship: ship.sail(), {'weight': 1})"
        asked = {"code": code, "language": "python", "root": str(project)}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            ask = runtime.toolbox.call
            here = dict(ask("verify_code", asked).structured or {})
            there = dict(
                ask("verify_code", {**asked, "versions": {"harbour": "2.0"}}).structured or {}
            )
            unnamed = {**asked, "root": "", "versions": {"harbour": "2.0"}}
            fetched = dict(ask("verify_code", unnamed).structured or {})
    assert here["results"] == []
    for answer in (there, fetched):
        (found,) = answer["results"]
        assert (found["name"], found["version"]) == ("harbour.Ship.sail", "2.0")
        assert found["engine"] == "ty"


def test_a_file_of_another_digest_is_refused(tmp_path: Path) -> None:
    with PythonIndexServer() as index:
        served = index.add_wheel("ty", TY.version, {TY.programs[0]: "#!/bin/sh\necho evil"})
        flags = {"store": str(tmp_path / "s"), "python_index_url": index.url}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            fetch = fetcher_of("pypi", runtime.upstreams)
            integrity, into = TY.digests["linux-x64"], tmp_path / "engine"
            arguments = (fetch, "ty", TY.version, integrity, TY.programs, into)
            with pytest.raises(PackageNotFound, match="that is meant"):
                unpack_program(*arguments)
            # An index that lists the digest, and sends another file.
            served.stated["hashes"] = {"sha256": _hex(integrity)}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            fetch = fetcher_of("pypi", runtime.upstreams)
            with pytest.raises(UnreadableInput, match="sha256"):
                unpack_program(fetch, *arguments[1:])
        assert not into.exists()
        assert hashlib.sha256(served.body).hexdigest() != _hex(integrity)


@pytest.mark.parametrize(
    ("libc", "platform"), [("glibc 2.36", "linux-x64"), (None, "linux-x64-musl")]
)
def test_the_program_for_the_c_library_of_the_machine_is_installed(
    libc: str | None, platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine with musl has no ``confstr`` that names another library."""

    def confstr(name: str) -> str:
        if name != "CS_GNU_LIBC_VERSION" or libc is None:
            raise ValueError("unrecognized configuration name")
        return libc

    assert {"linux-x64-musl", "linux-arm64-musl"} < TY.digests.keys()
    programs = {"linux-x64": "for glibc", "linux-x64-musl": "for musl"}
    tags = {"linux-x64": "manylinux_2_17_x86_64", "linux-x64-musl": "musllinux_1_2_x86_64"}
    monkeypatch.setattr(engines, "this_platform", lambda: "linux-x64")
    monkeypatch.setattr(os, "confstr", confstr)
    with PythonIndexServer() as index:
        digests = {}
        for each, text in programs.items():
            files = {TY.programs[0]: text}
            served = index.add_wheel("ty", TY.version, files, tag=f"py3-none-{tags[each]}")
            encoded = base64.b64encode(hashlib.sha256(served.body).digest()).decode()
            digests[each] = f"sha256-{encoded}"
        release = dataclasses.replace(TY, digests=digests)
        monkeypatch.setattr(commands, "known_engines", lambda: [release])
        monkeypatch.setenv("DOCSTOW_PYTHON_INDEX_URL", index.url)
        assert main(["engines", "install", "ty", "--engines", str(tmp_path)]) == 0
    program = tmp_path / f"ty-{TY.version}" / TY.programs[0]
    assert program.read_text() == programs[platform]


def _hex(integrity: str) -> str:
    return base64.b64decode(integrity.partition("-")[2]).hex()
