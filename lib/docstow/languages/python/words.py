"""The words of a package's files: a name that is none of them is given to nothing while it runs.

Code sets an attribute by its name, by a text, or by copying what another object has. Each of them
is a word in some file of the package, or of a package that it imports.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from types import UnionType

from docstow.core.errors import DocstowError
from docstow.core.patterns import lazy_pattern
from docstow.languages.python import stored_words
from docstow.languages.python.cython_sources import CYTHON_SOURCE, included_files
from docstow.languages.python.files import LARGEST_FILE, ModuleFiles, PythonFiles
from docstow.languages.python.source.syntax import Function, dotted
from docstow.languages.python.stored_words import StoredWords
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.stamps import Stamps
from docstow.text import python_ast
from docstow.text.python_ast import try_parse_module

_MOST_MODULES = 4000
#: Of so many searches what they found is kept.
_MOST_SEARCHES = 4096
#: Files with a word that are parsed to see what the word is there.
_MOST_PARSED = 12
#: The first name of an import, and the second one, if it has any.
_IMPORTED = lazy_pattern(
    rb"^[ \t]*(?:from|import)[ \t]+(([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)?)", re.MULTILINE
)
#: How a package finds others that extend it.
_PLUGINS = lazy_pattern(rb"entry_points|EntryPoint")
#: How attributes get names that are no words of the package.
_BY_DATA = lazy_pattern(
    rb"\bsetattr\(\s*\w+\s*,\s*[A-Za-z_]|__dict__(?:\.update|\[|\s*=)|def __getattr__"
    rb"|\bnamedtuple\(\s*[^,]+,\s*[A-Za-z_]|\bmake_dataclass\(|SimpleNamespace\("
)
_TESTS = frozenset({"tests", "conftest"})
_CLASS_HEADER = lazy_pattern(rb"^[ \t]*class\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)
_BASE_NAME = lazy_pattern(rb"(\w+)\s*(?=[,\[)]|$)")
_IMPORTED_AS = lazy_pattern(rb"\b(\w+)[ \t]+as[ \t]+(\w+)")
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


@dataclass
class _Traits:
    """What is to be known of a package beside its words.

    Attributes:
        imports: the first names of what its modules import.
        has_plugins: a module looks for other packages that extend it.
        names_by_data: a module may name attributes by data, or by what is asked for.
    """

    imports: list[str]
    has_plugins: bool = False
    names_by_data: bool = False


class Words:
    """The words of one package.

    Attributes:
        stamps: of the files that were searched.

    Args:
        files: of the package.
        modules: the names of all its modules.
        boundary: what may be opened.
        stored: what other processes have read; None: nothing is stored.
    """

    def __init__(
        self,
        files: PythonFiles,
        modules: Callable[[], Sequence[str]],
        boundary: Boundary,
        stored: StoredWords | None = None,
    ) -> None:
        self._files = files
        self._modules = modules
        self._boundary = boundary
        self._stored = stored
        #: What the files were searched for, and whether it is there.
        self._found: dict[tuple[str, ...], bool] = {}
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
        first = ["_".join(parts[:end]) + "_" for end in range(1, len(parts))]
        last = ["_" + "_".join(parts[start:]) for start in range(1, len(parts))]
        begins, ends = (b"|".join(re.escape(e.encode()) for e in many) for many in (first, last))
        made = re.compile(
            rb"""['"](?:%s)(?:['"]|\{|%%)|(?:['"]|\}|%%s)(?:%s)['"]""" % (begins, ends)
        )
        # ``%s_name`` has the word ``s_name``.
        words = [*first, *last, *(f"s{each}" for each in last)]
        return len(parts) > 1 and self.once(
            ("made", name),
            lambda: any(made.search(each) is not None for each in self._texts(*words)),
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
                is_compiled=heard or self._is_in_binaries(keyword),
                bound=_BINDING % {b"name": method.encode()},
            ),
        )

    def parameters(self, method: str) -> frozenset[str]:
        """Return what functions of a name take, as far as they are written."""
        found: set[str] = set()
        for text in self._texts(method):
            if re.search(rb"\bdef %s\b" % method.encode(), text) is not None:
                for node in _functions(text, method):
                    found.update(each.arg for each in (*node.args.args, *node.args.kwonlyargs))
        return frozenset(found - {"self", "cls"})

    @property
    def has_plugins(self) -> bool:
        """Whether a module of the package looks for other packages that extend it."""
        return self._traits.has_plugins

    @property
    def names_by_data(self) -> bool:
        """Whether a module of the package may name attributes by data, or by what is asked for."""
        return self._traits.names_by_data

    @property
    def imports(self) -> frozenset[str]:
        """The first names of what its modules import, and with the second: ``google.protobuf``."""
        return frozenset(self._traits.imports)

    def may_set(self, name: str) -> bool:
        """Return whether a module of the package may set an attribute of a name."""
        return self.once(("set", name), lambda: self._may_have(name, _is_set))

    def sets_beside(self, owner: str, name: str) -> bool:
        """Return whether a file that names a class sets an attribute of another than ``self``."""
        assigned = re.compile(rb"(?<!\bself)\.%s\s*=[^=]" % name.encode())

        def search() -> bool:
            files = {*self.files_with(owner)} & {*self.files_with(name)}
            texts = (self.read(file) for _, file in files)
            return any(owner.encode() in each and assigned.search(each) for each in texts)

        return self.once(("beside", owner, name), search)

    def sets_in(self, file: Path, name: str) -> bool:
        """Return whether a file sets an attribute of another than a method's own ``self``."""
        return _is_assigned(name, self.read(file))

    def files_with(self, *words: str) -> list[tuple[str, Path]]:
        """Return the files that have one of some words, and maybe others, each with its module."""
        return self._found_files(words, bases=False)

    def files_extending(self, *names: str) -> list[tuple[str, Path]]:
        """Return the files with classes that have a base of one of some names, and maybe others.

        A base counts by its last name, and by the one that it is imported for.
        """
        return self._found_files(names, bases=True)

    def _found_files(self, words: Sequence[str], *, bases: bool) -> list[tuple[str, Path]]:
        found = None
        # They are stored with the traits.
        if self._stored is not None and self._digest and self._traits:
            found = self._stored.find(self._digest, words, bases=bases)
        files = self._sources
        return files if found is None else [files[each] for each in sorted(found)]

    def _texts(self, *words: str) -> Iterator[bytes]:
        """Yield the texts of the files that have one of some words, and maybe others."""
        return (self.read(each) for _, each in self.files_with(*words))

    @cached_property
    def _searched(self) -> list[ModuleFiles]:
        """The modules but for those of tests."""
        names = (e for e in self._modules()[:_MOST_MODULES] if not _TESTS & set(e.split(".")))
        return [each for each in map(self._files.module, names) if each is not None]

    @cached_property
    def _sources(self) -> list[tuple[str, Path]]:
        return [(each.name, layer.path) for each in self._searched for layer in each.layers]

    @cached_property
    def _digest(self) -> bytes:
        """What the words are stored by: the files as they are; empty where they are not stored."""
        stamps = [(str(each), self.stamps.note(each)) for _, each in self._sources]
        is_stored = self._stored is not None and self.stamps.are_settled
        return hashlib.sha256(repr((_reader(), stamps)).encode()).digest() if is_stored else b""

    @cached_property
    def _traits(self) -> _Traits:
        stored = self._stored if self._digest else None
        if stored is not None and (known := stored.traits(self._digest)) is not None:
            return _Traits(**json.loads(known))
        traits = _Traits([])

        def texts() -> Iterator[tuple[bytes, set[bytes]] | None]:
            imports: set[bytes] = set()
            for _, each in self._sources:
                text = self.read(each)
                imports.update(each for found in _IMPORTED.findall(text) for each in found)
                traits.has_plugins |= _PLUGINS.search(text) is not None
                traits.names_by_data |= _BY_DATA.search(text) is not None
                # What another file has may be included.
                is_whole = each not in self._unread and each.suffix != CYTHON_SOURCE
                bases = {name for _, above in class_headers(text) for name in above}
                yield (text, bases) if is_whole else None
            traits.imports += sorted(each.decode() for each in imports)

        if stored is not None:
            stored.store(self._digest, texts(), lambda: json.dumps(asdict(traits)))
        else:
            deque(texts(), maxlen=0)
        return traits

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
        parsed = 0
        for _, file in self.files_with(name):
            text = self.read(file)
            if file in self._unread:
                return True
            if name.encode() in text and matched.search(text) is not None:
                parsed += 1
                if is_meant(name, text) or parsed > _MOST_PARSED:
                    return True
        # What is linked into a compiled module may have names that its own source has not.
        return is_compiled and self._is_in_binaries(name)

    def _is_in_binaries(self, name: str) -> bool:
        """Return whether a compiled module of the package may have a name."""
        compiled = (each for each in self._searched if each.binary is not None)
        return any(self._files.binary_has(each, name) is not False for each in compiled)

    def are_in_one_binary(self, module: str, name: str) -> bool:
        """Return whether a compiled module has the path of one beside it, and a name to give to it.

        What C makes it may put into a module that is written in Python.
        """
        folders = {module, module.rpartition(".")[0]}
        beside = (e for e in self._modules() if e != module and e.rpartition(".")[0] in folders)
        return any(
            each is not None
            and self._files.binary_spells(each, module, name)
            and bool(self._files.binary_has(each, name))
            for each in map(self._files.module, beside)
        )

    def once(self, wanted: tuple[str, ...], search: Callable[[], bool]) -> bool:
        """Return what a search finds, kept from the last time."""
        if wanted not in self._found:
            if len(self._found) >= _MOST_SEARCHES:
                self._found.clear()
            self._found[wanted] = search()
        return self._found[wanted]

    def read(self, file: Path) -> bytes:
        """Return the bytes of a file, with what it includes; none where it cannot be read."""
        found: dict[Path, bytes] = {}
        waiting = [file]
        while waiting:
            place = waiting.pop()
            self.stamps.note(place)
            try:
                found[place] = self._boundary.read(place, most=LARGEST_FILE)
            except DocstowError:
                if place == file:
                    self._unread.add(file)
                continue
            if file.suffix == CYTHON_SOURCE:
                included = (place.parent / each for each in included_files(found[place]))
                waiting += [each for each in included if each not in found]
        return b"\n".join(found.values())


def class_headers(text: bytes) -> list[tuple[bytes, set[bytes]]]:
    """Return the classes with bases in a file, each with the last names of these."""
    headers = _CLASS_HEADER.findall(text)
    meant = {alias: name for name, alias in _IMPORTED_AS.findall(text)} if headers else {}
    bases = [(name, {*_BASE_NAME.findall(above)}) for name, above in headers]
    return [(name, above | {meant[e] for e in above & meant.keys()}) for name, above in bases]


@cache
def _reader() -> bytes:
    """Return a digest of the code that reads files, whose next version may find more."""
    files = (Path(each.__file__ or "") for each in (stored_words, python_ast))
    read = [Path(__file__).read_bytes(), *(each.read_bytes() for each in files)]
    return hashlib.sha256(b"".join(read)).digest()


def _is_anything(name: str, text: bytes) -> bool:
    """Return whether a text has a word."""
    return re.search(rb"\b%s\b" % name.encode(), text) is not None


def _is_set(name: str, text: bytes) -> bool:
    """Return whether a text assigns an attribute, or has its name as a text and sets some by name.

    What a method sets on its own ``self`` is no other class's.
    """
    word = name.encode()
    set_there = rb"(?<!\bself)\.%s\s*(?:=[^=]|:[^\n]*=|,[^()\n]*=[^=])|\bas \w+\.%s\b"
    if re.search(set_there.replace(b"%s", word), text) is not None:
        return True
    by_name = any(each in text for each in (b"setattr", b"__dict__", b"vars("))
    return by_name and re.search(rb"['\"]%s['\"]".replace(b"%s", word), text) is not None


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


def _nodes_with(name: str, text: bytes) -> list[ast.AST] | None:
    """Return the nodes of a text on the lines with a word; None where it cannot be parsed.

    Those that have no line of their own come with the ones that they are in.
    """
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    tree = try_parse_module(text.decode("utf-8", "replace"))
    if tree is None:
        return None
    lines: list[int] = []
    line, begin = 1, 0
    for each in re.finditer(rb"\b%s\b" % name.encode(), text):
        line, begin = line + text.count(b"\n", begin, each.start()), each.start()
        lines.append(line)
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        # Lines inside of an f-string are not always those of the file.
        every = isinstance(node, ast.JoinedStr)
        waiting += (e for e in ast.iter_child_nodes(node) if every or _has_line(e, lines))
    return found


def _has_line(node: ast.AST, lines: Sequence[int]) -> bool:
    """Return whether a node, with its decorators, has one of some lines, which are sorted."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None)
    if last is None:
        return True
    first = min((first, *(each.lineno for each in getattr(node, "decorator_list", ()))))
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= last


def _is_taken(name: str, text: bytes) -> bool:
    """Return whether a text has a parameter, a field, a keyword or a key of a name."""
    nodes = _nodes_with(name, text) if _is_anything(name, text) else None
    if nodes is None:
        return _is_anything(name, text)
    for node in nodes:
        match node:
            case ast.arg(arg=own) | ast.keyword(arg=own) if own == name:
                return True
            case ast.ClassDef() if any(each == name for each in _bound(node)):
                return True
    return _is_said(nodes, name)


def _functions(text: bytes, name: str) -> list[Function]:
    nodes = _nodes_with(name, text) or ()
    return [each for each in nodes if isinstance(each, Function) and each.name == name]


def _may_pass(keyword: str, name: str, text: bytes, *, is_heard: bool) -> bool:
    """Return whether a text binds a name to what may take a keyword.

    Args:
        keyword: the keyword.
        name: of what takes it.
        text: the source.
        is_heard: whether the package has the keyword as a word.
    """
    nodes = _nodes_with(name, text)
    if nodes is None:
        return True
    for node in nodes:
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


def _is_said(nodes: Sequence[ast.AST], name: str) -> bool:
    """Return whether a text that is no docstring has a word."""
    docstrings = {
        id(each.value)
        for each in nodes
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and id(each) not in docstrings
        and word.search(each.value) is not None
        for each in nodes
    )


def _is_given(name: str, text: bytes, owners: type[ast.AST] | UnionType) -> bool:
    if not _is_anything(name, text):
        return False
    if re.search(rb"[.'\"]%s\b" % name.encode(), text):
        return True
    nodes = _nodes_with(name, text)
    if nodes is None:
        return True
    for node in nodes:
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
    return _is_said(nodes, name)


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
