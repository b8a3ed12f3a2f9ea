"""What Python sees of modules whose sources in Cython are there."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from textwrap import dedent

import pytest
from lxml import etree

from docstow.languages.python.cython_sources import python_of


def _python(text: str, declared: str = "", **files: str) -> str:
    made = python_of(dedent(text), lambda name: files.get(name.partition(".")[0], ""), declared)
    return ast.unparse(ast.parse(made))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(not_typed, char* name not None, int size=3): pass",
         "def f(not_typed, name, size=3):\n    ..."),
        ("def f(a, *, double[:, ::1] rows=None, **rest):\n    'Doc.'\n    return 1",
         'def f(a, *, rows=None, **rest):\n    """Doc."""'),
        ("cpdef list f(dict given = {'a': 1}): pass", "def f(given={'a': 1}):\n    ..."),
        ("cpdef (int, int) f(x) except *: pass", "def f(x):\n    ..."),
        ("cpdef cnp.ndarray[double, ndim=1] f(size_t n): pass", "def f(n):\n    ..."),
        ("def f(x) -> int: pass", "def f(x) -> int:\n    ..."),
        ("cdef int f(int a): return a\nx = 1  # one", "x = 1"),
        ("from libc.math cimport sqrt\nimport os\nfrom os import (\n    path,\n)",
         "import os\nfrom os import path"),
        ("x = <object>pointer\ny: int = 2", "x = ...\ny: int = 2"),
        ("try:\n    import a\nexcept ImportError:\n    a = None", "import a\na = None"),
        ("ctypedef int t\ncdef extern from 'a.h':\n    int f(int)\nDEF N = 1\nIF N:\n    z = 1",
         "z = 1"),
        ("cpdef enum Kind:\n    one = 1\n    two", "Kind = ...\none = ...\ntwo = ..."),
        ("cdef class A(B):\n    '''Doc.'''\n    cdef readonly int a, b\n    cdef int c",
         'class A(B):\n    """Doc."""\n    a = ...\n    b = ...'),
        ("cdef class A:\n    cdef:\n        public object a\n        int b",
         "class A:\n    ...\n    a = ..."),
        ("cdef class A:\n    property a:\n        'Doc.'\n        def __get__(self): return 1",
         'class A:\n    ...\n\n    @property\n    def a(self):\n        """Doc."""'),
        ("class A:\n    def f(self):\n        self.a = 1\n        if x == 1: self.b, c = 1, 2",
         "class A:\n    ...\n\n    def f(self):\n        self.a = ...\n        self.b = ..."),
        ("cdef class A:\n    def __cinit__(self, int a): pass\n    def __dealloc__(self): pass",
         "class A:\n    ...\n\n    def __init__(self, a):\n        ..."),
        ("cdef class A:\n    def __cinit__(self): pass",
         "class A:\n    ...\n\n    def __init__(self, *args, **kwargs):\n        ..."),
        ("cdef class A:\n    def __cinit__(self, b): pass\n    def __init__(self, a): pass",
         "class A:\n    ...\n\n    def __init__(self, a):\n        ..."),
        ("cdef class A:\n    @staticmethod\n    cdef wrap(): pass\n\n    def f(self): pass",
         "class A:\n    ...\n\n    def f(self):\n        ..."),
        ("cdef class A: a = 1", "class A:\n    ...\n    a = 1"),
        ("cdef class A [object B, type C]:\n    @cython.x(0)\n    @staticmethod\n    def f(): pass",
         "class A:\n    ...\n\n    @staticmethod\n    def f():\n        ..."),
        ("for name in 'ab':\n    globals()[name] = 1", "name = ...\nglobals()[name] = 1"),
        ("cdef class A:\n    pass\ncdef f():\n    for c in (A,):\n        setattr(c, n, 1)",
         "class A:\n    ...\n    pass\nsetattr(A, name, value)"),
        ('x = "# no comment" \\\n  + f(\n 1)', "x = '# no comment' + f(1)"),
    ],
)  # fmt: skip
def test_what_python_sees_is_left(text: str, expected: str) -> None:
    assert _python(text) == expected


def test_files_that_are_included_and_what_is_declared_belong_to_a_module() -> None:
    declared = (
        "cdef class A:\n    cdef public int a\ncdef class B(A):\n    cdef readonly:\n        int b"
    )
    made = _python('include "one.pxi"\ncdef class A:\n    pass', declared, one='include "two.pxi"')
    assert made.splitlines() == [
        "from cython_include_that_is_not_there import *",
        *("", "class A:", "    ...", "    a = ...", "    pass"),
        *("", "class B(A):", "    ...", "    b = ..."),
    ]


def test_what_a_part_imports_of_its_own_module_is_bound_elsewhere() -> None:
    text = "def f(a): pass\nfrom pkg.mod import f\nfrom pkg.mods import g"
    made = python_of(text, lambda _: "", module="pkg.mod")
    assert "from pkg.mods import g" in made
    assert "from pkg.mod import" not in made


def test_base_classes_that_c_imports_are_imported() -> None:
    declarations = {"p.lib": "cdef class Base:\n    pass\n\ncdef public class _Other(Base): pass\n"}
    made = python_of(
        "from p.c cimport (One,\n    Two as Second, Three)\n"
        "from p.c cimport *\nfrom p.lib cimport *\n"
        "cdef class A(Second): pass\nclass B(A, _Other): pass\nclass C(Unknown): pass\n",
        lambda _: "",
        "from p.d cimport Four\ncdef class D(Four): pass\n",
        "p.e",
        lambda module: declarations.get(module, ""),
    )
    assert [line for line in made.splitlines() if line.lstrip() == line] == [
        "from p.c import Two as Second",
        "class A(Second):",
        "from p.lib import _Other",
        "class B(A, _Other):",
        "class C(Unknown):",
        "from p.d import Four",
        "class D(Four):",
    ]


@pytest.mark.parametrize(
    ("body", "returned"),
    [
        ("return wrap(1)", "A"),
        ("return <A?>x", "A"),
        ("cdef A x = f()\n        return x", "A"),
        ("cdef:\n            int n\n            A x, y\n        return y", "A"),
        ("return made(1)", "A"),
        ("return A()", "A"),
        ("return A.__new__(A)", "A"),
        ("x = wrap(1)\n        return x", "A"),
        ("x, y = wrap(1), 1\n        return x", ""),
        ("for x in y:\n            return x", ""),
        ("return self", "B"),
        ("return self.a", "A"),
        ("return self.other()", "A"),
        ("return self.a.b", "B"),
        ("return self.above", "A"),
        ("if n:\n            return None\n        return self.a", "A | None"),
        ("return self.a if n else None", "A | None"),
        ("if n:\n            return self\n        return self.a", ""),
        ("if n:\n            return n\n        return self.a", ""),
        (
            "try:\n            return self.a\n        except E as e:\n            return e.result",
            "A",
        ),
        ("def g(): return 1\n        return self.a", ""),
        ("yield self.a", ""),
        ("return twice(1)", ""),
        ("return count(1)", ""),
    ],
)
def test_what_functions_return_is_read_of_declarations(body: str, returned: str) -> None:
    text = f"""
cdef class A:
    cdef B b
cdef class Base:
    cdef A above
cdef A wrap(int n): return f(n)
cdef api object made(n):
    cdef A a = A.__new__(A)
    return a
cdef twice(n): return twice(n)
cdef int count(n): return n
cdef class B(Base):
    cdef A a
    cdef other(self): return wrap(1)
    def f(self, x, y, n):
        {body}
    property p:
        def __get__(self):
            return self.a
"""
    (found,) = [e for e in ast.parse(_python(text)).body if getattr(e, "name", "") == "B"]
    assert isinstance(found, ast.ClassDef)
    results = {e.name: e.returns for e in found.body if isinstance(e, ast.FunctionDef)}
    assert ast.unparse(results["p"] or ast.Constant("")) == "A"
    assert ast.unparse(results["f"] or ast.Name("")) == returned


def test_a_class_of_another_module_that_is_returned_is_imported() -> None:
    text = (
        "from p.lib cimport Other, wrap\ndef f(Other x):\n    return x\ndef g():\n    return wrap()"
    )
    made = python_of(text, lambda _: "", module="p.mod")
    assert "def f(x) -> Other:" in made
    assert "def g():" in made
    assert "from p.lib import Other" in made


@pytest.mark.parametrize(
    "text",
    [
        "class A(" + ")[" * 100_000,
        "def " + "a" * 200_000,
        "def " + " " * 200_000 + "!",
        "class A:\n    def f(self): " + "self.a, " * 50_000,
        "class A:\n    def f(self):\n        " + "self.a, " * 50_000,
        "def f(" + "a[" * 100_000 + ")",
        "cdef class A:\n    cdef public " + "a[" * 100_000,
    ],
    ids=lambda text: text[:24],
)
def test_what_nobody_writes_is_no_work_for_hours(text: str) -> None:
    """A pattern that tries each place to the end of a statement would not come back."""
    ast.parse(python_of(text, lambda _: ""))


def test_a_file_that_includes_itself_ends() -> None:
    assert "x = 1" in _python('include "one.pxi"', one='x = 1\ninclude "one.pxi"')


@pytest.fixture(scope="module")
def written() -> ast.Module:
    """What is read of lxml, whose sources come with it."""
    folder = Path(str(etree.__file__)).parent

    def included(name: str) -> str:
        return (folder / name).read_text() if (folder / name).is_file() else ""

    return ast.parse(python_of((folder / "etree.pyx").read_text(), included))


def _bound(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for node in body:
        for each in ast.walk(node) if isinstance(node, ast.Assign) else [node]:
            name = getattr(each, "name", getattr(each, "id", ""))
            found[name] = node
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= dict.fromkeys((e.asname or e.name for e in node.names), node)
    return found


def test_everything_that_a_real_module_has_is_read(written: ast.Module) -> None:
    found = _bound(written.body)
    assert [e for e in vars(etree) if not e.startswith("__") and e not in found] == []
    filled = {
        ast.unparse(e.args[0]) for e in ast.walk(written) if isinstance(e, ast.Call) and e.args
    }
    missing: dict[str, list[str]] = {}
    for name, node in found.items():
        kind = getattr(etree, name, None)
        if isinstance(node, ast.ClassDef) and isinstance(kind, type) and name not in filled:
            members = _bound(node.body)
            lost = [e for e in vars(kind) if not e.startswith("_") and e not in members]
            missing |= {name: lost} if lost else {}
    assert missing == {}


def test_what_functions_of_a_real_module_return(written: ast.Module) -> None:
    root = etree.fromstring("<a><b/></a>")
    made = {
        "_Element.getroottree": root.getroottree(),
        "_Element.getparent": root[0].getparent(),
        "_Element.iter": root.iter(),
        "_ElementTree.getroot": root.getroottree().getroot(),
        "_ElementTree.docinfo": root.getroottree().docinfo,
        "ElementTree.__new__": etree.ElementTree(root),
        "Element.__new__": etree.Element("a"),
        "fromstring": root,
    }
    told: dict[str, ast.expr | None] = {}
    for node in written.body:
        for each in [node, *getattr(node, "body", ())]:
            if isinstance(each, ast.FunctionDef):
                owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                told[f"{owner}{each.name}"] = each.returns
    for name, value in made.items():
        said = told[name]
        assert said is not None, name
        assert isinstance(value, getattr(etree, ast.unparse(said).partition(" ")[0])), name


def test_parameters_of_a_real_module_are_those_that_it_takes(written: ast.Module) -> None:
    found, compared = _bound(written.body), 0
    for name, function in vars(etree).items():
        node = found.get(name)
        if inspect.isclass(function) or not isinstance(node, ast.FunctionDef):
            continue
        taken = {each: each for each in inspect.signature(function).parameters}
        given = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        given += [e.arg for e in (node.args.vararg, *node.args.kwonlyargs, node.args.kwarg) if e]
        assert given == [*taken], name
        compared += 1
    assert compared > 30
