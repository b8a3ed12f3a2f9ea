"""The rules of Python's names, one small module each."""

# ruff: noqa: E501

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from docstow.languages.python.source import read_module
from docstow.languages.shared.surface import Openness
from python_environment import Surfaces


def surfaces(folder: Path, files: dict[str, str]) -> Surfaces:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return Surfaces(folder)


@pytest.mark.parametrize(
    ("text", "name", "there", "certain"),
    [
        ("import sys\nif sys.version_info >= (3, 99):\n    def f(): ...\nelse:\n    g = 1\n", "f", True, True),
        ("try:\n    from fast import x\nexcept ImportError:\n    def x(): ...\n", "x", True, True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import B\n", "B", True, True),
        ("from unknown_thing import *\n", "x", False, False),
        ("def __getattr__(name): return name\n", "x", False, False),
        ("def __getattr__(name):\n    if name == 'old':\n        return 1\n    raise AttributeError(name)\n", "old", True, True),
        ("T = {'old': 1}\ndef __getattr__(n):\n    if n in T:\n        return T[n]\n    raise AttributeError\n", "old", True, True),
        ("def __getattr__(n):\n    global late\n    if n in ('old',):\n        return 1\n    raise AttributeError\n", "old", True, True),
        ("def __getattr__(n):\n    try:\n        return globals()[n]\n    except KeyError:\n        raise AttributeError\n", "old", False, True),
        ("def __getattr__(n):\n    if n in dir(old):\n        raise errors.RemovedError\n    raise AttributeError\n", "old", False, True),
        ("def _old(n):\n    for names, at in (({'a'}, 'x'), ({'old'}, 'y')):\n        if n not in names:\n            continue\n        return load(at)\n    raise AttributeError\nif True:\n    __getattr__ = _old\n", "old", True, True),
        ("def _old(n):\n    for at in ('x', 'y'):\n        return load(at)\n    raise AttributeError\n__getattr__ = _old\n", "old", False, False),
        ("import lazy_loader as lazy\n__getattr__, __dir__, __all__ = lazy.attach(__name__, ['sub'], {'m': ['f']})\n", "f", True, True),
        ("globals().update(x=1)\n", "x", False, False),
        ("globals()['x'] = 1\n", "x", False, False),
        ("y = globals()['z'] if 'z' in globals() else 0\n", "x", False, True),
        ("import sys\nsys.modules[__name__] = object()\n", "x", False, False),
        ("import sys\nif 'numpy' in sys.modules: ...\n", "x", False, True),
        ("def start():\n    global late\n    late = 1\n", "late", True, True),
        ("for a, (b, *c) in []: ...\n", "c", True, True),
        ("with open('x') as handle: ...\n", "handle", True, True),
        ("match 1:\n    case 1:\n        inner = 2\n", "inner", True, True),
        ("if (n := 10) > 5: ...\n", "n", True, True),
        ("x: int\n", "x", True, True),
        ("__path__ = []\n", "x", False, False),
        ("replace(__name__)\n", "x", False, False),
        ("log = getLogger(__name__)\n", "x", False, True),
        ("def broken(:\n", "x", False, False),
        ("x = 1\n", "__name__", True, True),
    ],
)  # fmt: skip
def test_what_a_module_has(
    tmp_path: Path, text: str, name: str, *, there: bool, certain: bool
) -> None:
    surface = surfaces(tmp_path, {"mod.py": text}).of("mod")
    assert (surface.symbol(f"mod.{name}") is not None, surface.certain("mod")) == (there, certain)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("class A:\n    def __init__(self, a, *, b=1): ...\n", ["a", "b"]),
        ("class A: ...\n", []),
        ("class B:\n    def __init__(self, b): ...\nclass A(B): ...\n", ["b"]),
        ("class A(Unknown): ...\n", None),
        ("class A(metaclass=Made): ...\n", None),
        ("class A(Exception): ...\n", None),
        ("import enum\nclass A(enum.Enum):\n    X = 1\n", None),
        ("@register\nclass A:\n    def __init__(self, a): ...\n", None),
        ("class A:\n    @wrapped\n    def __init__(self, a): ...\n", None),
        ("class A:\n    def __new__(cls, a): ...\n    def __init__(self, a): ...\n", None),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n    y: int = 0\n", ["x", "y"]),
        ("from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = field(init=False)\n    y: int = field(default=0)\n", ["y"]),
        ("from dataclasses import dataclass, KW_ONLY\n@dataclass\nclass B:\n    k: int\n@dataclass\nclass A(B):\n    _: KW_ONLY\n    x: int\n", ["k", "x"]),
        ("from other import dataclass\n@dataclass\nclass A:\n    x: int\n", None),
        ("from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n    y: int = 0\n", ["x", "y"]),
        ("from typing import TypedDict\nclass A(TypedDict):\n    x: int\n", ["values", "x"]),
        ("from typing import TypedDict, Unpack\nclass K(TypedDict):\n    x: int\nclass A:\n    def __init__(self, **k: Unpack[K]): ...\n", ["x"]),
        ("class B:\n    def __init__(self, b): ...\nclass A(B):\n    def __init__(self, a, **k):\n        k.setdefault('c', 1)\n        super().__init__(**k)\n", ["a", "b", "c"]),
        ("class B:\n    def __init__(self, b): ...\nclass M:\n    def __init__(self, a, **k):\n        super().__init__(**k)\nclass A(M, B): ...\n", ["a", "b"]),
        ("def A(a, **k):\n    return f(a, **k)\ndef f(a, b=1, *, c=2): ...\n", ["a", "b", "c"]),
        ("class B:\n    def f(self, b): ...\ndef A(a, **k):\n    with B() as it:\n        return it.f(a, **k)\n", ["a", "b"]),
        ("def A(a, **k):\n    if a:\n        return f(a, **k)\ndef f(b): ...\n", ["a", "b"]),
        ("def A(a, **k):\n    if a:\n        return f(**k)\n    return g(**k)\ndef f(b): ...\ndef g(c): ...\n", ["a", "b", "c"]),
        ("def A(a, **k):\n    for x in a:\n        f(**k)\n        k.clear()\ndef f(b): ...\n", ["a", "k"]),
        ("def A(a, **k):\n    k.pop('b')\n    if k:\n        raise TypeError(f'no {k}')\n", ["a", "b"]),
        ("def A(a, **k):\n    if k:\n        name = list(k)[0]\n        raise TypeError(name)\n", ["a"]),
        ("import warnings\ndef A(a, **k):\n    if k:\n        warnings.warn(f'no {k.keys()}')\n", ["a"]),
        ("def A(a, **k):\n    return a\n", ["a", "k"]),
        ("class B:\n    def __init__(self, b): ...\nclass A(B):\n    def __init__(self, a, **k):\n        self.k = k\n        super().__init__(**k)\n", ["a", "b"]),
        ("class A:\n    def __new__(cls, *a, **k): return object.__new__(cls)\n    def __init__(self, a): ...\n", ["a"]),
        ("def A(a, **k):\n    change(k)\n    return f(a, **k)\ndef f(b): ...\n", ["a", "k"]),
        ("def A(a, **k):\n    f = a\n    return f(**k)\ndef f(b): ...\n", ["a", "k"]),
        ("def A(a, **k):\n    return f(**k)\ndef f(b, **k): ...\n", ["a", "k"]),
        ("def A(**k):\n    return A(**k)\n", ["k"]),
        ("from typing import overload\n@overload\ndef A(a): ...\n@overload\ndef A(*, b): ...\ndef A(*a, **k): ...\n", ["a", "b"]),
        ("from typing import overload\n@overload\ndef A(a): ...\n@overload\ndef A(**b): ...\ndef A(*a, **k): ...\n", ["a", "k"]),
        ("from functools import wraps\ndef d(f):\n    @wraps(f)\n    def w(*a, **k):\n        return f(*a, **k)\n    return w\n@d\ndef A(a): ...\n", ["a"]),
        ("from functools import wraps\ndef d(x):\n    def e(f):\n        @wraps(f)\n        def w(*a, **k):\n            return f(*a, **k)\n        return w\n    return e\n@d(1)\ndef A(a): ...\n", ["a"]),
        ("from functools import wraps\ndef d(f):\n    @wraps(f)\n    def w(*a, **k):\n        signature(f).bind(*a, **k)\n        return f(*a, **k)\n    return w\n@d\ndef A(a): ...\n", ["a"]),
        ("from functools import wraps\ndef d(f):\n    @wraps(f)\n    def w(*a, **k):\n        other(*a, **k)\n        return f(*a, **k)\n    return w\n@d\ndef A(a): ...\n", None),
        ("from functools import wraps\ndef d(f):\n    @wraps(f)\n    def w(*a, **k):\n        k.pop('b')\n        return f(*a, **k)\n    return w\n@d\ndef A(a): ...\n", None),
        ("from functools import wraps\ndef d(f):\n    @wraps(f)\n    def w(*a, **k):\n        a = (1, *a)\n        return f(*a, **k)\n    return w\n@d\ndef A(a): ...\n", None),
        ("class B:\n    def __init__(self, b): ...\ndef A(a, **k):\n    def d(f):\n        return B(**k)\n    return d\n", ["a", "b"]),
        ("def A(a, **k):\n    def d(f):\n        return f(**k)\n    return d\ndef f(b): ...\n", ["a", "k"]),
        ("class A:\n    def __init__(self, a, **k):\n        self.f(a, k)\n    def f(self, x, y):\n        y['b'] = 1\n        return g(x, **y)\ndef g(x, c): ...\n", ["a", "x", "c", "b"]),
        ("class A:\n    def __init__(self, a, **k):\n        self.f(a, k)\n    def f(self, x, y):\n        return y\n", ["a", "k"]),
        ("class A:\n    def __init__(self, a, **k):\n        self.f(*a, k)\n    def f(self, x, y):\n        return g(**y)\ndef g(c): ...\n", ["a", "k"]),
        ("def A(a, **k):\n    print(k)\n    return f(**k)\ndef f(b): ...\n", ["a", "k"]),
        ("from typing import Generic, TypeVar\nT = TypeVar('T')\nclass A(Generic[T]):\n    def __init__(self, x: T): ...\n", ["x"]),
    ],
)  # fmt: skip
def test_how_it_is_called(tmp_path: Path, text: str, parameters: list[str] | None) -> None:
    symbol = surfaces(tmp_path, {"mod.py": text}).of("mod").symbol("mod.A")
    assert symbol is not None
    given = symbol.parameters
    assert (None if given is None else [each.name for each in given]) == parameters


def test_what_another_backend_may_do_takes_more_keywords(tmp_path: Path) -> None:
    text = "import networkx as nx\n@nx._dispatchable(graphs=None)\ndef A(a, *, b=1): ...\n"
    symbol = surfaces(tmp_path, {"mod.py": text}).of("mod").symbol("mod.A")
    assert symbol is not None
    assert symbol.parameters is None
    names = [[each.name for each in taken] for taken in symbol.overloads]
    assert names == [["a", "b"], ["a", "b", "backend", "options"]]


@pytest.mark.parametrize("usual", ["B", "cast('type[B]', B)"])
def test_what_takes_the_keywords_may_be_given(tmp_path: Path, usual: str) -> None:
    text = f"""
from typing import cast
class B:
    def __init__(self, a, b=1): ...
def A(a, cls=None, **k):
    if cls is None:
        cls = {usual}
    def d(f):
        return cls(a, **k)
    return d
"""
    symbol = surfaces(tmp_path, {"mod.py": text}).of("mod").symbol("mod.A")
    assert symbol is not None
    names = [[(each.name, each.required) for each in taken] for taken in symbol.overloads]
    assert names == [
        [("a", True), ("b", False)],
        [("a", True), ("cls", True), ("k", False)],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def A(cls=None, **k):\n    if a:\n        cls = B\n    return cls(**k)\n",
        "def A(cls=None, **k):\n    if cls is None:\n        cls = B\n    cls = C\n    return cls(**k)\n",
        "def A(cls=C, **k):\n    if cls is None:\n        cls = B\n    return cls(**k)\n",
        "def A(cls, **k):\n    if cls is None:\n        cls = B\n    return cls(**k)\n",
        "def A(cls=None, **k):\n    for x in (B, cls):\n        x(**k)\n",
    ],
)
def test_what_takes_the_keywords_is_not_certain(tmp_path: Path, text: str) -> None:
    made = f"{text}class B:\n    def __init__(self, a): ...\n"
    symbol = surfaces(tmp_path, {"mod.py": made}).of("mod").symbol("mod.A")
    assert symbol is not None
    assert symbol.overloads == ()
    assert symbol.parameters is not None
    assert symbol.parameters[-1].kind == "var_keyword"


@pytest.mark.parametrize(
    ("call", "taken"), [("Answer(u, **k)", ["u", "url"]), ("self.made(u, **k)", ["u", "k"])]
)
def test_a_method_that_is_bound_to_a_name_passes_keywords_on(
    tmp_path: Path, call: str, taken: list[str]
) -> None:
    text = f"""
class Answer:
    def __init__(self, url, status=1): ...
class Mock:
    def add(self, u, **k):
        return {call}
    def made(self, url, status=1): ...
_mock = Mock()
A = _mock.add
"""
    symbol = surfaces(tmp_path, {"mod.py": text}).of("mod").symbol("mod.A")
    assert symbol is not None
    assert [each.name for each in symbol.parameters or ()][:2] == taken


def test_a_decorator_that_returns_its_class_leaves_it_as_it_is(tmp_path: Path) -> None:
    returning = "class K:\n    def __call__(self, kind):\n        kind.x = 1\n        return kind\nk = K()\n"
    other = returning.replace("return kind", "return Other(kind)")
    files = {"mod.py": f"{returning}@k\nclass A: ...\n", "any.py": f"{other}@k\nclass A: ...\n"}
    assert surfaces(tmp_path, files).of("mod").openness("mod.A") is Openness.CLOSED
    assert surfaces(tmp_path, files).of("any").openness("any.A") is Openness.FEW


def test_a_name_that_is_made_of_parts_may_be_private(tmp_path: Path) -> None:
    text = "class A:\n    def f(self, **k):\n        for n in k:\n            setattr(self, {}, k[n])\n"
    files = {"mod.py": text.format('"_" + n'), "any.py": text.format("n + '_'")}
    assert surfaces(tmp_path, files).of("mod").openness("mod.A") is Openness.CLOSED
    assert surfaces(tmp_path, files).of("any").openness("any.A") is Openness.FEW


@pytest.mark.parametrize(
    ("name", "may_be_given"),
    [("listed", True), ("member", True), ("keyword", True), ("said", False), ("local", False)],
)
def test_which_words_a_class_may_be_given(tmp_path: Path, name: str, *, may_be_given: bool) -> None:
    files = {
        "mod.py": "class A:\n    def f(self, **k):\n        vars(self).update(k)\n"
        'X = """more\nlisted\n""".split()\ndef g():\n    "It is said."\n    local = 1\n'
        "class B:\n    def member(self): ...\nB(keyword=1)\ndef local(local): ...\n"
    }
    surface = surfaces(tmp_path, files).of("mod")
    assert surface.may_be_given("mod.A", name, called=True) is may_be_given
    # What is read and not called may be data.
    assert surface.may_be_given("mod.A", name)


@pytest.mark.parametrize(
    ("test", "is_written"),
    [
        ("if n not in self.known: raise ValueError(n)", True),
        ("if not hasattr(self, n) or n == 'x': continue", True),
        ("if n not in self.known and n: raise ValueError(n)", False),
        ("if n not in self.known: print(n)", False),
        ("if k not in self.known: raise ValueError(n)", False),
        ("pass", False),
    ],
)
def test_names_that_are_tested_before_they_are_set_are_words(
    tmp_path: Path, test: str, *, is_written: bool
) -> None:
    text = f"""
NAMES = ["listed"]
class A:
    def f(self, k):
        for n in k:
            {test}
            setattr(self, n, 1)
"""
    surface = surfaces(tmp_path, {"mod.py": text}).of("mod")
    assert surface.openness("mod.A") is Openness.FEW
    assert surface.may_be_given("mod.A", "other") is not is_written
    assert surface.may_be_given("mod.A", "listed")


def test_data_is_set_where_other_methods_test_nothing(tmp_path: Path) -> None:
    tested = "    def f(self, n):\n        if n not in X: raise n\n        setattr(self, n, 1)\n"
    data = "    def g(self, n):\n        setattr(self, n, 1)\n"
    files = {"a.py": f"class A:\n{tested}{data}", "b.py": f"class A:\n{data}{tested}"}
    made = surfaces(tmp_path, files)
    assert made.of("a").may_be_given("a.A", "other")
    assert made.of("b").may_be_given("b.A", "other")


@pytest.mark.parametrize(
    "made", ["f'set_{n}_key'", "'set_%s_key' % n", "name", "'set_' + (n + '_key')"]
)
def test_names_that_are_made_of_parts_begin_and_end_with_these(tmp_path: Path, made: str) -> None:
    text = f"""
class A:
    def f(self, k):
        for n in k:
            name = f"set_{{n}}_key"
            setattr(self, {made}, 1)
"""
    surface = surfaces(tmp_path, {"mod.py": text}).of("mod")
    assert surface.openness("mod.A", "set_x_key") is Openness.FEW
    assert surface.openness("mod.A", "get_x_key") is Openness.CLOSED


def test_what_a_module_is_filled_with_has_a_form(tmp_path: Path) -> None:
    loop = "for n in dir(y):\n    if n.startswith('RLIM') and n.isupper():\n        g[n] = 1\n"
    files = {
        "mod.py": f"g = globals()\n{loop}",
        "any.py": "import other as y\ng = globals()\nfor n in dir(y):\n    g[n] = 1\n",
        "other.py": "RLIMIT_CPU = 1\n# memory\n",
    }
    surface = surfaces(tmp_path, files).of("mod")
    assert not surface.certain("mod")
    assert surface.certain("mod", "memory")
    assert not surface.certain("mod", "RLIMIT_CPU")
    # The name of anything else is a word of the package, or of one that it imports.
    filled = surfaces(tmp_path, files).of("any")
    assert not filled.certain("any")
    assert not filled.certain("any", "RLIMIT_CPU")
    assert filled.certain("any", "memory")


def _packed(*texts: bytes) -> bytes:
    """Return texts as Cython's own method packs them: letters, and what was there before."""
    parts: list[bytes] = []
    flags: list[int] = []
    whole = b""
    for text in texts:
        at = whole.rfind(text) if len(text) > 2 else -1
        back = len(whole) - at - len(text)
        if at >= 0 and back < 0x80:
            parts.append(bytes([back, len(text) - 3]))
            flags.append(0)
        else:
            parts += [bytes([each]) for each in text]
            flags += [1] * len(text)
        whole += text
    groups = range(0, len(parts), 8)
    marks = [sum(flag << n for n, flag in enumerate(flags[at : at + 8])) for at in groups]
    return b"".join(
        bytes([mark]) + b"".join(parts[at : at + 8]) for at, mark in zip(groups, marks, strict=True)
    )


#: A compiled module of Cython 3.3: constants of some length begin at places of 32 bytes.
PACKED = b"__pyx_capi LZSS string data decompress".ljust(64, b"\0") + _packed(
    b"__main__", b"there", b"is nothing ", b"there", b"abouts", b"is nothing ", *[b". "] * 90
)


def _elf(*sections: tuple[int, int, bytes]) -> bytes:
    """Return an ELF file of sections, each of a type, flags and bytes."""
    body, headers = b"\x7fELF\x02\x01".ljust(64, b"\0"), b""
    for kind, flags, part in sections:
        headers += struct.pack("<IIQQQQ", 0, kind, flags, 0, len(body), len(part)).ljust(64, b"\0")
        body += part
    head = bytearray(body + headers)
    struct.pack_into("<Q", head, 0x28, len(body))
    struct.pack_into("<HH", head, 0x3A, 64, len(sections))
    return bytes(head)


#: A compiled module that has a name in its data, and others that only symbols have.
SECTIONS = _elf((1, 2, b"\0there\0"), (3, 2, b"\0linked\0"), (1, 0, b"\0debugged\0"))


@pytest.mark.parametrize(
    ("binary", "name", "is_certain"),
    [
        (b"\0there\0", "there", False),
        (b"\0there\0", "absent", True),
        (SECTIONS, "there", False),
        (SECTIONS, "linked", True),
        (SECTIONS, "debugged", True),
        (SECTIONS[:-100] + b"\0debugged\0", "debugged", False),
        (b"__pyx_capi decompress", "absent", False),
        (b"__pyx_capi decompress" + zlib.compress(b"there" * 50, 9), "there", False),
        (b"__pyx_capi decompress" + zlib.compress(b"there" * 50, 9), "absent", True),
        (PACKED, "there", False),
        (PACKED, "thereabouts", False),
        (PACKED, "absent", True),
        (PACKED + b"\0\0makeabsentNow\0", "absent", True),
        (PACKED + b"\0absent\0", "absent", False),
    ],
)
def test_what_is_compiled_has_no_name_that_its_file_has_not(
    tmp_path: Path, binary: bytes, name: str, *, is_certain: bool
) -> None:
    files = {
        "pkg/__init__.py": "from . import _fast\nclass Own(_fast.Base):\n    own = 1\n",
        "pkg/_stubbed.pyi": "class Told:\n    told = 1\n",
    }
    found = surfaces(tmp_path, files)
    for each in ("_fast", "_stubbed"):
        (tmp_path / f"pkg/{each}.cpython-312-x86_64-linux-gnu.so").write_bytes(binary)
    surface = found.of("pkg")
    for owner in ("pkg._fast", "pkg.Own", "pkg._stubbed", "pkg._stubbed.Told"):
        assert surface.openness(owner) > Openness.DATA, owner
        assert (surface.openness(owner, name) is Openness.CLOSED) == is_certain, owner


def test_all_names_of_a_module_that_is_not_there_may_be_any(tmp_path: Path) -> None:
    """As in a package whose module is compiled, or was left out."""
    text = (
        "from .missing import *\nfrom .gone import *\nfrom pkg.missing import *\nfrom .a import *\n"
    )
    surface = surfaces(tmp_path, {"pkg/__init__.py": text, "pkg/a.py": "y = 1\n"}).of("pkg")
    assert surface.symbol("pkg.x") is None
    assert surface.symbol("pkg.missing.x") is None
    assert surface.symbol("pkg.y") is not None
    assert not surface.certain("pkg")


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("class A: ...\n", Openness.CLOSED),
        ("class A:\n    if not TYPE_CHECKING:\n        def __getattr__(self, n): return 1\n", Openness.ITEMS),
        ("class A:\n    if not TYPE_CHECKING:\n        def __getattr__(self, n): raise AttributeError(n)\n", Openness.CLOSED),
        ("class A:\n    def __getattr__(self, n): return fall_back(self, super(), n)\n", Openness.CLOSED),
        ("class A:\n    def __getattr__(self, n): return fall_back(self, A, n)\n", Openness.ANY),
        ("class A:\n    def __getattr__(self, n): return self[n]\n", Openness.ITEMS),
        ("class A(dict):\n    def __getattr__(self, n): return self[n]\n", Openness.ANY),
        ("class A:\n    def __getattr__(self, n): raise AttributeError(n)\n", Openness.CLOSED),
        ("class M(type): ...\nclass A(metaclass=M): ...\n", Openness.CLOSED),
        ("class M(type):\n    def __new__(m, *a): return type.__new__(m, *a)\nclass A(metaclass=M): ...\n", Openness.CLOSED),
        ("class M(type):\n    def __new__(m, n, b, d):\n        d[n] = 1\n        return type.__new__(m, n, b, d)\nclass A(metaclass=M): ...\n", Openness.DATA),
        ("class M(type):\n    def __new__(m, n, b, d):\n        c = super().__new__(m, n, b, d)\n        fill(c)\n        return c\nclass A(metaclass=M): ...\n", Openness.DATA),
        ("class M(type):\n    def __new__(m, n, b, d):\n        c = super().__new__(m, n, b, d)\n        c = fill(c)\n        return c\nclass A(metaclass=M): ...\n", Openness.DATA),
        ("class M(type):\n    def __init__(c, n, b, d):\n        c._n = arity(c)\nclass A(metaclass=M): ...\n", Openness.CLOSED),
        ("class M(type):\n    def __init__(c, n, b, d): c.count = len(d.keys())\nclass A(metaclass=M): ...\n", Openness.DATA),
        ("class M(type):\n    def __new__(m, n, b, d): return type.__new__(m, n, b, fill(d))\nclass A(metaclass=M): ...\n", Openness.DATA),
        ("class M(type):\n    def __new__(m, n, b, d): ...\nclass A(metaclass=M): ...\n", Openness.DATA),
        ("class A:\n    __slots__ = ('x',)\n    def put(self, n, v): setattr(self, n, v)\n", Openness.CLOSED),
        ("class B:\n    __slots__ = ('x',)\n    def put(self, n, v): setattr(self, n, v)\nclass A(B): ...\n", Openness.FEW),
        ("class B: ...\nclass A:\n    def __init__(self, b: B): self.b = b\n    def __getattr__(self, n): return getattr(self.b, n)\n", Openness.CLOSED),
        ("class A:\n    def __init__(self, b): self.b = b\n    def __getattr__(self, n): return getattr(self.b, n)\n", Openness.ANY),
        ("def fill(c): setattr(c, f'a_{c}', 1)\nclass A: ...\nfill(A)\n", Openness.FEW),
        ("class A:\n    def put(self, n, v): setattr(self, n, v)\n", Openness.FEW),
        ("class A:\n    def __setattr__(self, n, v): object.__setattr__(self, n, v)\n", Openness.CLOSED),
        ("class B: ...\nclass C: ...\nclass A(B.made_of(C)): ...\n", Openness.FEW),
        ("from typing import TypeVar\nT = TypeVar('T')\ndef mark(c: type[T]) -> type[T]: return c\n@mark\nclass A: ...\n", Openness.CLOSED),
        ("from typing import TypeVar\nT = TypeVar('T')\ndef mark(c: T) -> T: return c\n@mark\nclass A: ...\n", Openness.CLOSED),
        ("@unknown\nclass A: ...\n", Openness.FEW),
        ("class A(Unknown): ...\n", Openness.ANY),
    ],
)  # fmt: skip
def test_what_else_a_class_may_have(tmp_path: Path, text: str, degree: Openness) -> None:
    assert surfaces(tmp_path, {"mod.py": text}).of("mod").openness("mod.A") is degree


def test_a_base_class_may_give_names_to_classes_that_derive_from_it(tmp_path: Path) -> None:
    text = (
        "NAMES = ['item']\ndef fill(c):\n    for n in NAMES: setattr(c, n, 1)\n"
        "class B:\n    def __init_subclass__(cls): fill(cls)\nclass A(B): ...\n"
    )
    surface = surfaces(tmp_path, {"mod.py": text}).of("mod")
    assert surface.openness("mod.A", "item") is Openness.ANY
    assert surface.openness("mod.A", "other") is Openness.CLOSED
    assert surface.openness("mod.B", "item") is Openness.CLOSED


def test_derived_classes_may_have_more_names(tmp_path: Path) -> None:
    made = surfaces(
        tmp_path,
        {
            "pkg/__init__.py": "from .base import Index\n",
            "pkg/base.py": "class Index:\n    def size(self): ...\n",
            "pkg/dates.py": "from .base import Index\nclass Inner(Index): ...\n"
            "class Dates(Inner):\n    def year(self): ...\n",
            "pkg/more.py": "from . import base\n@given('month')\nclass More(base.Index): ...\n",
        },
    ).of("pkg")
    may_have = [
        each for each in ("year", "month", "size_") if made.subclass_may_have("pkg.Index", each)
    ]
    assert may_have == ["year", "month"]


def test_a_class_may_give_a_module_names_by_decorating(tmp_path: Path) -> None:
    text = "class Backend:\n    @staticmethod\n    def export(cls): return cls\n"
    files = {"pkg/__init__.py": "", "pkg/bases.py": text}
    files["pkg/agg.py"] = "from .bases import Backend\n@Backend.export\nclass Agg(Backend): ...\n"
    made = surfaces(tmp_path, files).of("pkg")
    assert made.certain("pkg.bases")
    assert not made.certain("pkg.agg")


def test_a_stub_tells_types_and_the_source_what_is_there(tmp_path: Path) -> None:
    made = surfaces(
        tmp_path,
        {
            "mod.py": 'def f(a, b=1):\n    """Do it."""\n\ndef only(): ...\n',
            "mod.pyi": "def f(a: int, b: int = ...) -> str: ...\n",
        },
    ).of("mod")
    symbol = made.symbol("mod.f")
    assert symbol is not None
    assert (symbol.signature, symbol.docstring, symbol.file) == (
        "def f(a: int, b: int = ...) -> str",
        "Do it.",
        "mod.py",
    )
    assert made.symbol("mod.only") is not None


def test_packages_that_import_each_other_end(tmp_path: Path) -> None:
    made = surfaces(
        tmp_path,
        {"a/__init__.py": "from b import x, y\n", "b/__init__.py": "from a import x\ny = 1\n"},
    )
    assert made.of("a").symbol("a.y") is not None
    looped = made.of("a").symbol("a.x")
    assert looped is None or looped.kind == "re-export"


def test_overloads_that_alone_say_how_something_is_called(tmp_path: Path) -> None:
    text = (
        "from typing import overload\nclass A:\n    @overload\n    def f(self, a): ...\n"
        "    @overload\n    def f(self, *, b): ...\n"
    )
    files = {"mod.pyi": text, "own.py": text, "compiled.py": "", "compiled.pyi": text}
    made = surfaces(tmp_path, files)
    told = {name: made.of(name).symbol(f"{name}.A.f") for name in ("mod", "own", "compiled")}
    overloads = {name: symbol.overloads for name, symbol in told.items() if symbol is not None}
    assert [[each.name for each in one] for one in overloads["mod"]] == [["a"], ["b"]]
    # What a source has from elsewhere was compiled, and may take more than its stub says.
    loose = [[(each.name, each.required) for each in one] for one in overloads["compiled"]]
    assert loose == [[("a", False), ("rest", False)], [("b", False), ("rest", False)]]
    assert overloads["own"] == ()


@pytest.mark.parametrize(
    ("test", "older", "newer"),
    [
        ("sys.version_info >= (3, 12)", "else", "if"),
        ("sys.version_info < (3, 12)", "if", "else"),
        ('sys.version_info >= (3, 12) and sys.platform == "linux"', "else", "both"),
        ('not (sys.version_info >= (3, 12)) or sys.platform == "linux"', "if", "both"),
        ("sys.version_info >= (3,)", "both", "both"),
        ("sys.version_info >= (3, 12, 1)", "both", "both"),
        ('sys.platform == "linux"', "both", "both"),
    ],
)
def test_branches_that_ask_for_a_version_are_decided(test: str, older: str, newer: str) -> None:
    body = f"import sys\nif {test}:\n    def a(): ...\nelse:\n    def b(): ...\n".encode()
    for version, holds in (((3, 11), older), ((3, 12), newer)):
        facts = read_module(body, "m", package=False, version=version)
        wanted = {"if": {"sys", "a"}, "else": {"sys", "b"}, "both": {"sys", "a", "b"}}[holds]
        assert facts.names.keys() == wanted
        assert any(each.conditional for (each,) in facts.names.values()) == (holds == "both")
