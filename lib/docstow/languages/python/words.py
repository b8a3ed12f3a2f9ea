"""The words of a package's files: a name that is none of them is given to nothing while it runs.

Code sets an attribute by its name, by a text, or by copying what another object has. Each of them
is a word in some file of the package, or of a package that it imports.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import UnionType

from docstow.core.errors import DocstowError
from docstow.languages.python.cython_sources import CYTHON_SOURCE, included_files
from docstow.languages.python.files import ModuleFiles, PythonFiles
from docstow.languages.python.source.syntax import Function, dotted
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.stamps import Stamps
from docstow.text.python_ast import try_parse_module

_MOST_MODULES = 4000
#: Of so many searches what they found is kept.
_MOST_SEARCHES = 4096
_LARGEST_FILE = 4 * 1024 * 1024
#: Files with a word that are parsed to see what the word is there.
_MOST_PARSED = 12
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
#: How a package finds others that extend it.
_PLUGINS = re.compile(rb"entry_points|EntryPoint")
#: How attributes get names that are no words of the package.
_BY_DATA = re.compile(
    rb"\bsetattr\(\s*\w+\s*,\s*[A-Za-z_]|__dict__(?:\.update|\[|\s*=)|def __getattr__"
    rb"|\bnamedtuple\(\s*[^,]+,\s*[A-Za-z_]|\bmake_dataclass\(|SimpleNamespace\("
)
_TESTS = frozenset({"tests", "conftest"})
#: How a name is bound to what may be called.
_BINDING = (
    rb"\b(?:def|class|as)\s+%(name)s\b|\b%(name)s\b[^\n=()]*=(?!=)|\b%(name)s\b[^\n(]*\bin\b"
    rb"|setattr\([^\n]*\b%(name)s\b"
)
#: What is no function and no class.
_PLAIN_VALUES = (ast.Constant, ast.Dict, ast.List, ast.Set, ast.JoinedStr, ast.Compare, ast.BinOp)
#: Decorators that leave what a function takes as it is.
_PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "overload", "override", "final", "property"}
)


class Words:
    """The words of one package.

    Attributes:
        stamps: of the files that were searched.

    Args:
        files: of the package.
        modules: the names of all its modules.
        boundary: what may be opened.
    """

    def __init__(
        self, files: PythonFiles, modules: Callable[[], Sequence[str]], boundary: Boundary
    ) -> None:
        self._files = files
        self._modules = modules
        self._boundary = boundary
        #: What the files were searched for, and whether it is there.
        self._searched: dict[tuple[str, ...], bool] = {}
        self._unread: set[Path] = set()
        self.stamps = Stamps()

    def has(self, name: str) -> bool:
        """Return whether a module has a word anywhere, or may have it."""
        return self.once(("word", name), lambda: self._may_have(name, _is_anything))

    def may_give(self, name: str, *, to_module: bool = False, is_compiled: bool = True) -> bool:
        """Return whether a module of the package may give a name to an object while it runs.

        What is only a variable, a parameter or a function of a module is given to no class, and
        what only comments and docstrings mention is given to nothing.

        Args:
            name: the name.
            to_module: it would be given to a module, which may get those of other modules.
            is_compiled: the bytes of compiled modules count.
        """
        is_giving = _is_in_module if to_module else _is_in_class
        key = ("module" if to_module else "class", str(is_compiled), name)
        return self.once(key, lambda: self._may_have(name, is_giving, is_compiled=is_compiled))

    def may_compose(self, name: str) -> bool:
        """Return whether a module of the package may make a name of parts, one of them written."""
        parts = name.split("_")
        first = ("_".join(parts[:end]) + "_" for end in range(1, len(parts)))
        last = ("_" + "_".join(parts[start:]) for start in range(1, len(parts)))
        begins, ends = (b"|".join(re.escape(e.encode()) for e in many) for many in (first, last))
        made = re.compile(
            rb"""['"](?:%s)(?:['"]|\{|%%)|(?:['"]|\}|%%s)(?:%s)['"]""" % (begins, ends)
        )
        return len(parts) > 1 and self.once(
            ("made", name), lambda: any(made.search(each) is not None for each in self.texts())
        )

    def may_take(self, name: str) -> bool:
        """Return whether something in the package may take a keyword."""
        return self.once(("keyword", name), lambda: self._may_have(name, _is_taken))

    def may_pass(self, method: str, keyword: str) -> bool:
        """Return whether a function or class of a name in the package may take a keyword.

        Without the word in the package only what takes any keyword does.
        """
        heard = self.has(keyword)
        return self.once(
            ("passed", method, keyword),
            lambda: self._may_have(
                method,
                partial(_may_pass, keyword, is_heard=heard),
                is_compiled=heard,
                bound=_BINDING % {b"name": method.encode()},
            ),
        )

    def parameters(self, method: str) -> frozenset[str]:
        """Return what functions of a name take, as far as they are written."""
        found: set[str] = set()
        for text in self.texts():
            if re.search(rb"\bdef %s\b" % method.encode(), text) is not None:
                for node in _functions(text, method):
                    found.update(each.arg for each in (*node.args.args, *node.args.kwonlyargs))
        return frozenset(found - {"self", "cls"})

    @cached_property
    def has_plugins(self) -> bool:
        """Whether a module of the package looks for other packages that extend it."""
        return any(_PLUGINS.search(each) is not None for each in self.texts())

    @cached_property
    def names_by_data(self) -> bool:
        """Whether a module of the package may name attributes by data, or by what is asked for."""
        return any(_BY_DATA.search(each) is not None for each in self.texts())

    def may_set(self, name: str) -> bool:
        """Return whether a module of the package may set an attribute of a name."""
        return self.once(("set", name), lambda: self._may_have(name, _is_set))

    def sets_in(self, file: Path, name: str) -> bool:
        """Return whether a file sets an attribute of another than a method's own ``self``."""
        return _is_assigned(name, self.read(file))

    @cached_property
    def imports(self) -> frozenset[str]:
        """The first names of what its modules import."""
        found: set[bytes] = set()
        for each in self.texts():
            found.update(_IMPORTED.findall(each))
        return frozenset(each.decode() for each in found)

    def texts(self) -> Iterator[bytes]:
        """Yield the files of its modules, but for those of its tests."""
        for module in self._searched_modules():
            for layer in module.layers:
                yield self.read(layer.path)

    def _searched_modules(self) -> Iterator[ModuleFiles]:
        for name in self._modules()[:_MOST_MODULES]:
            module = None if _TESTS & set(name.split(".")) else self._files.module(name)
            if module is not None:
                yield module

    def _may_have(
        self,
        name: str,
        is_meant: Callable[[str, bytes], bool],
        *,
        is_compiled: bool = True,
        bound: bytes = b"",
    ) -> bool:
        """Return whether a file has a word that is what is meant; True where not all are read.

        Args:
            name: the word.
            is_meant: whether a text that has it means that.
            is_compiled: the bytes of compiled modules count.
            bound: an expression that such a text matches; empty for the word.
        """
        matched = re.compile(bound or rb"\b%s\b" % name.encode())
        if len(self._modules()) > _MOST_MODULES:
            return True
        wanted, parsed = name.encode(), 0
        for module in self._searched_modules():
            # What is linked into it may have names that its own source has not.
            is_open = is_compiled and module.binary is not None
            for layer in module.layers:
                text = self.read(layer.path)
                if layer.path in self._unread:
                    return True
                if wanted in text and matched.search(text) is not None:
                    parsed += 1
                    if is_meant(name, text) or parsed > _MOST_PARSED:
                        return True
            if is_open and self._files.binary_has(module, name) is not False:
                return True
        return False

    def once(self, wanted: tuple[str, ...], search: Callable[[], bool]) -> bool:
        """Return what a search finds, kept from the last time."""
        if wanted not in self._searched:
            if len(self._searched) >= _MOST_SEARCHES:
                self._searched.clear()
            self._searched[wanted] = search()
        return self._searched[wanted]

    def read(self, file: Path) -> bytes:
        """Return the bytes of a file, with what it includes; none where it cannot be read."""
        found: dict[Path, bytes] = {}
        waiting = [file]
        while waiting:
            place = waiting.pop()
            self.stamps.note(place)
            try:
                found[place] = self._boundary.read(place, most=_LARGEST_FILE)
            except DocstowError:
                if place == file:
                    self._unread.add(file)
                continue
            if file.suffix == CYTHON_SOURCE:
                included = (place.parent / each for each in included_files(found[place]))
                waiting += [each for each in included if each not in found]
        return b"\n".join(found.values())


def _is_anything(name: str, text: bytes) -> bool:
    """Return whether a text has a word."""
    return re.search(rb"\b%s\b" % name.encode(), text) is not None


def _is_set(name: str, text: bytes) -> bool:
    """Return whether a text assigns an attribute, or has its name as a text."""
    set_there = rb"['\"]%s['\"]|\.%s\s*(?:=[^=]|:[^\n]*=|,[^()\n]*=[^=])|\bas \w+\.%s\b"
    return re.search(set_there.replace(b"%s", name.encode()), text) is not None


def _is_assigned(name: str, text: bytes) -> bool:
    """Return whether a text assigns an attribute of anything but a method's own ``self``."""
    assigned = rb"(?<!\bself)\.%s\s*=[^=]".replace(b"%s", name.encode())
    sets = re.search(rb"\bsetattr\(", text) is not None
    return sets or re.search(assigned, text) is not None


def _is_in_class(name: str, text: bytes) -> bool:
    """Return whether a text may give a name to an object: as a text, an attribute, a member."""
    return _is_given(name, text, ast.ClassDef)


def _is_in_module(name: str, text: bytes) -> bool:
    """Return the same of a module, which may also get what another one defines or imports."""
    return _is_given(name, text, ast.ClassDef | ast.Module)


def _is_taken(name: str, text: bytes) -> bool:
    """Return whether a text has a parameter, a field, a keyword or a key of a name."""
    tree = try_parse_module(text.decode("utf-8", "replace")) if _is_anything(name, text) else None
    if tree is None:
        return _is_anything(name, text)
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=own) | ast.keyword(arg=own) if own == name:
                return True
            case ast.ClassDef() if any(each == name for each in _bound(node)):
                return True
    return _is_said(tree, name)


def _functions(text: bytes, name: str) -> list[Function]:
    tree = try_parse_module(text.decode("utf-8", "replace"))
    nodes = ast.walk(tree) if tree is not None else ()
    return [each for each in nodes if isinstance(each, Function) and each.name == name]


def _may_pass(keyword: str, name: str, text: bytes, *, is_heard: bool) -> bool:
    """Return whether a text binds a name to what may take a keyword.

    Args:
        keyword: the keyword.
        name: of what takes it.
        text: the source.
        is_heard: whether the package has the keyword as a word.
    """
    tree = try_parse_module(text.decode("utf-8", "replace"))
    if tree is None:
        return True
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.name == name:
            taken = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            decorators = {dotted(each).rpartition(".")[2] for each in node.decorator_list}
            if node.args.kwarg is not None or any(each.arg == keyword for each in taken):
                return True
            if is_heard and not decorators <= _PLAIN_DECORATORS:
                return True
        elif name in _callables(node):
            return True
    return False


def _callables(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds, by no ``def``, to what may be called."""
    match node:
        case ast.ClassDef(name=name) | ast.alias(asname=str(name)):
            yield name
        case ast.Assign(targets=targets, value=value) if not isinstance(value, _PLAIN_VALUES):
            for each in targets:
                yield from _stored(each)
        case ast.AnnAssign(target=target, value=value) if not isinstance(value, _PLAIN_VALUES):
            yield from _stored(target)
        case ast.For(target=target) | ast.withitem(optional_vars=ast.expr() as target):
            yield from _stored(target)
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), *_]):
            yield name


def _stored(target: ast.expr) -> Iterator[str]:
    """Yield the variables and attributes that a target binds."""
    for each in ast.walk(target):
        if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.id if isinstance(each, ast.Name) else each.attr


def _is_said(tree: ast.Module, name: str) -> bool:
    """Return whether a text that is no docstring has a word."""
    docstrings = {
        id(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and id(each) not in docstrings
        and word.search(each.value) is not None
        for each in ast.walk(tree)
    )


def _is_given(name: str, text: bytes, owners: type[ast.AST] | UnionType) -> bool:
    if not _is_anything(name, text):
        return False
    if re.search(rb"[.'\"]%s\b" % name.encode(), text):
        return True
    tree = try_parse_module(text.decode("utf-8", "replace"))
    if tree is None:
        return True
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg=given) if given == name:
                return True
            case ast.Global(names=names) if name in names:
                return True
            case ast.FunctionDef(name=own) | ast.AsyncFunctionDef(name=own) if own == name:
                # A decorator may give a function to a class by the name that it is defined with.
                if node.decorator_list:
                    return True
        if isinstance(node, owners) and any(each == name for each in _bound(node)):
            return True
    return _is_said(tree, name)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that the statements of a class or module bind."""
    for each in getattr(node, "body", ()):
        yield from _names_of(each)


def _names_of(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name.partition(".")[0] for each in names)
        case _:
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id
                elif isinstance(each, Function | ast.ClassDef):
                    yield each.name
                elif isinstance(each, ast.alias):
                    yield (each.asname or each.name).partition(".")[0]
