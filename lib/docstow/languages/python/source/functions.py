"""Facts of Python functions: signature, parameters, deprecation, decorators, forwarded keywords."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from docstow.core.patterns import lazy_pattern
from docstow.languages.python.source.facts import Decorator, Definition, Forward, Keeps
from docstow.languages.python.source.kinds import kinds_of_parameter
from docstow.languages.python.source.syntax import (
    SPACE,
    Function,
    SourceText,
    block_bodies,
    callee,
    decorator_name,
    defaults,
    dotted,
    function_headers,
    is_of_super,
    message_text,
    positional,
    string_value,
)
from docstow.languages.shared.surface import Parameter, ParameterKind
from docstow.text.python_ast import try_parse_expression

#: Names of decorators that say so of what they decorate, not of its parameters.
_DEPRECATES = lazy_pattern(
    r"_?deprecated?(?:_(?:func(?:tion)?|method|class|cls|callable))?|moved_20|became_legacy_20"
)
#: The directive for the whole definition; that of a parameter is indented.
_DEPRECATED = lazy_pattern(r"^\.\. deprecated::[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
#: Paragraphs from the top in which the directive is about the whole definition.
_FIRST_PARAGRAPHS = 2
#: Methods of a dictionary that take one key.
_KEY_METHODS = frozenset({"get", "pop", "setdefault"})
#: Methods of a signature that refuse what the function does not take.
_BINDING = frozenset({"bind", "bind_partial"})
#: What an error says that refuses an argument.
_UNKNOWN = lazy_pattern(
    r"\bun(?:expected|known|recogni[sz]ed|supported|used)\b.{0,12}"
    r"\b(?:keyword|kwarg|argument|option|config|parameter|setting)",
    re.IGNORECASE,
)
#: Functions that tell of a mistake.
_WARNS = lazy_pattern(r"(?:^|\.)(?:warn|warning|deprecat)\w*$")
#: Builtins that can read any local variable.
_INTROSPECTION = frozenset({"locals", "vars", "eval", "exec"})
#: What keeps the keywords that it is given as data, or is a class that data tells.
_NAMED_BY_DATA = lazy_pattern(
    r"(?:^|\.)(?:dict|update|format|OrderedDict|Namespace|SimpleNamespace|(?:Sub)?Element"
    r"|_\w+_(?:class|cls|factory))$"
)


def parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """Return all parameters in order, ``self`` included."""
    plain = [*arguments.posonlyargs, *arguments.args]
    required = len(plain) - len(arguments.defaults)
    defaults = [None] * required + list(arguments.defaults)
    found = []
    for number, (each, value) in enumerate(zip(plain, defaults, strict=True)):
        kind: ParameterKind = "positional"
        if number < len(arguments.posonlyargs):
            kind = "positional_only"
        kinds = kinds_of_parameter(each.annotation, value)
        found.append(Parameter(each.arg, kind, number < required, kinds))
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "var_positional", required=False))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        kinds = kinds_of_parameter(each.annotation, default)
        found.append(Parameter(each.arg, "keyword_only", default is None, kinds))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "var_keyword", required=False))
    return tuple(found)


def format_header(node: Function, source: SourceText) -> str:
    """Return ``async def name(a: int, *, b: str = "x") -> bool``, with its decorators above."""
    above = [f"@{source.quote(each)}\n" for each in node.decorator_list]
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {source.quote(node.returns)}" if node.returns else ""
    if node.name == "__new__" and node.returns is None and _makes_own_instance(node):
        returns = " -> Self"
    inside = _format_parameters(node.args, source)
    return f"{''.join(above)}{keyword} {node.name}({inside}){returns}"


def _format_parameters(arguments: ast.arguments, source: SourceText) -> str:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    parts = []
    for number, (each, default) in enumerate(zip(plain, defaults, strict=True), 1):
        parts.append(_format_parameter(each, default, source))
        if number == len(arguments.posonlyargs):
            parts.append("/")
    if arguments.vararg:
        parts.append(f"*{_format_parameter(arguments.vararg, None, source)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(_format_parameter(each, default, source))
    if arguments.kwarg:
        parts.append(f"**{_format_parameter(arguments.kwarg, None, source)}")
    return ", ".join(parts)


def _format_parameter(argument: ast.arg, default: ast.expr | None, source: SourceText) -> str:
    text, equals = argument.arg, "="
    if argument.annotation:
        text, equals = f"{text}: {source.quote(argument.annotation)}", " = "
    return text if default is None else f"{text}{equals}{source.quote(default)}"


def _makes_own_instance(node: Function) -> bool:
    """Return whether a ``__new__`` returns what ``object`` or its base makes of the very class.

    It does not where it puts another class in the place of its own.
    """
    cls = next((each.arg for each in positional(node)), "")
    made, stored, returned = [], [], []
    for each in (inner for statement in node.body for inner in ast.walk(statement)):
        match each:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if _is_new(value, cls):
                made.append(name)
            case ast.Name(id=name, ctx=ast.Store()):
                stored.append(name)
            case ast.Return(value=value):
                returned.append(value)
    return (
        bool(returned)
        and cls not in stored
        and all(
            _is_new(each, cls) or (dotted(each) in made and stored.count(dotted(each)) == 1)
            for each in returned
        )
    )


def _is_new(node: ast.AST | None, cls: str) -> bool:
    """Return whether a node is ``object.__new__(cls)`` or ``super().__new__(cls)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="__new__"), args=[first, *_]):
            return is_of_super(owner) and isinstance(first, ast.Name) and first.id == cls
    return False


def docstring(node: Function | ast.ClassDef | ast.Module) -> str:
    """Return the docstring without common indentation; empty for none."""
    return ast.get_docstring(node, clean=True) or ""


def deprecation(node: Function | ast.ClassDef, text: str) -> str:
    """Return why a definition is deprecated, or ``deprecated`` without a reason; empty if not.

    That is said by a decorator, in the docstring, or with a warning that a function always gives.

    Args:
        node: the definition.
        text: its docstring.
    """
    for each in node.decorator_list:
        if _DEPRECATES.fullmatch(decorator_name(each)):
            return _decorated_reason(each)
    # Further down, the directive is about a parameter or a change.
    found = _DEPRECATED.search(text)
    if found and text.count("\n\n", 0, found.start()) <= _FIRST_PARAGRAPHS:
        return SPACE.sub(" ", textwrap.dedent(found[1])).strip() or "deprecated"
    first = text.partition("\n")[0].strip()
    if re.match(r"\[?deprecated\b(?!\s+\w+s\b)", first, re.IGNORECASE):
        return first
    return "" if isinstance(node, ast.ClassDef) else _deprecation_warning(node)


def _decorated_reason(decorator: ast.expr) -> str:
    """Return the reason that a decorator of deprecation is given, and what it names instead."""
    given = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
    texts = [SPACE.sub(" ", message_text(each)).strip() for each in given.args]
    words = {each.arg: SPACE.sub(" ", message_text(each.value)).strip() for each in given.keywords}
    said = [each for each in texts if each and not each[0].isdigit()]  # the version is none
    said += [words[each] for each in ("message", "reason", "details") if words.get(each)]
    instead = next(filter(None, map(words.get, ("alternative", "replacement", "instead"))), "")
    if instead and " " not in instead.strip("`"):
        mark = "" if "`" in instead else "`"
        instead = f"Use {mark}{instead}{mark} instead."
    return " ".join(filter(None, (*said, instead))) or "deprecated"


def _deprecation_warning(node: Function) -> str:
    texts: dict[str, ast.expr] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                texts[name] = value
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or dotted(call.func) not in {"warnings.warn", "warn"}:
            continue
        category = [each.value for each in call.keywords if each.arg == "category"]
        names = (dotted(each).rpartition(".")[2] for each in [*call.args[1:], *category])
        if any(name.endswith("DeprecationWarning") for name in names):
            given = call.args[0] if call.args else None
            message = texts.get(given.id) if isinstance(given, ast.Name) else given
            return SPACE.sub(" ", message_text(message)).strip() or "deprecated"
    return ""


def decorators(node: Function | ast.ClassDef, source: SourceText) -> tuple[Decorator, ...]:
    """Return the decorators of a definition, the outermost first."""
    found = []
    for each in node.decorator_list:
        call = each if isinstance(each, ast.Call) else None
        keywords = (
            {word.arg or "**": source.quote(word.value) for word in call.keywords} if call else {}
        )
        found.append(Decorator(dotted(callee(each)), keywords, called=call is not None))
    return tuple(found)


def keeps_arguments(node: Function, outer: Function | None = None) -> Keeps:
    """Return how a decorator is used that returns its function, or what takes the same arguments.

    It may be used both ways: ``@cached`` and ``@cached(size=3)``. What takes the same arguments is
    ``@wraps(function) def inner(*args, **kwargs)``, which calls ``function(*args, **kwargs)``, or
    ``partial(function, **defaults)``.

    Args:
        node: a function.
        outer: the function of whose call the decorator is the result.
    """
    called: Keeps = "called" if outer is not None else "bare"
    if _returns_first(node) or _returns_partial(node, outer):
        return called
    inner = {each.name: each for each in node.body if isinstance(each, Function)}
    ways: set[Keeps] = set()
    for each in _own_returns(node.body):
        ways.add(_kept_way(each.value, node, inner, called))
    if "" in ways or not isinstance(node.body[-1], ast.Return | ast.If):
        return ""
    return ways.pop() if len(ways) == 1 else "both" if ways else ""


def _own_returns(body: Sequence[ast.stmt]) -> Iterator[ast.Return]:
    """Yield the ``return`` statements of a body, without those of functions inside."""
    for each in body:
        if isinstance(each, ast.Return):
            yield each
        elif not isinstance(each, Function | ast.ClassDef):
            for block in block_bodies(each):
                yield from _own_returns(block)


def _kept_way(
    value: ast.expr | None, node: Function, inner: Mapping[str, Function], called: Keeps
) -> Keeps:
    """Return how a decorator is used that returns a value; empty where that is not clear."""
    names = {each.arg for each in (*positional(node), *node.args.kwonlyargs)}
    match value:
        case ast.Name(id=name) if name in inner and not inner[name].decorator_list:
            return keeps_arguments(inner[name], node) if called == "bare" else ""
        case ast.Name(id=name) if name in inner and _is_wrapper(inner[name], names):
            return called
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=given)], keywords=[]) if (
            name in inner and given in names and called == "bare"
        ):
            # ``return decorate(function) if function else decorate``
            return "bare" if keeps_arguments(inner[name], node) == "called" else ""
        case ast.Call(func=ast.Call(func=ast.Name(id=name)), args=[ast.Name(id=given)]) if (
            name == node.name and given in names and called == "bare"
        ):
            return "bare"
        case ast.Call(func=function, args=[ast.Name(id=name), *_]) if (
            name == node.name and _is_partial(function) and called == "bare"
        ):
            return "called"
        case ast.IfExp(body=first, orelse=second):
            ways = {_kept_way(each, node, inner, called) for each in (first, second)}
            return "" if "" in ways else ways.pop() if len(ways) == 1 else "both"
    return ""


def _returns_first(node: Function) -> bool:
    """Return whether a function returns what it is called with, and nothing else."""
    names = [each.arg for each in positional(node)]
    # What takes ``cls`` alone, outside of a class, decorates classes.
    plain = names if names == ["cls"] else [each for each in names if each not in {"self", "cls"}]
    last = node.body[-1]
    if not plain or not isinstance(last, ast.Return) or dotted(last.value) != plain[0]:
        return False
    return not any(
        (isinstance(each, ast.Return) and dotted(each.value) != plain[0])
        or isinstance(each, ast.Yield | ast.YieldFrom)
        or (isinstance(each, ast.Name) and each.id == plain[0] and isinstance(each.ctx, ast.Store))
        for each in _body_nodes(node)
    )


def _returns_partial(node: Function, outer: Function | None) -> bool:
    """Return whether a function returns ``partial`` of what it is called with, with defaults.

    The outer function may choose between that and ``partialmethod``.
    """
    chosen = {
        place
        for each in (outer.body if outer is not None else ())
        if isinstance(each, ast.Assign)
        for place in map(dotted, each.targets)
        if isinstance(each.value, ast.IfExp)
        and _is_partial(each.value.body)
        and _is_partial(each.value.orelse)
    }
    returned = [each.value for each in _body_nodes(node) if isinstance(each, ast.Return)]
    match returned:
        case [ast.Call(func=function, args=[ast.Name(id=name)])]:
            is_first = name in [each.arg for each in positional(node)[:1]]
            return is_first and (_is_partial(function) or dotted(function) in chosen)
    return False


def _is_partial(node: ast.expr) -> bool:
    return dotted(node).rpartition(".")[2] in {"partial", "partialmethod"}


def _is_wrapper(node: Function, names: set[str]) -> bool:
    """Return whether a function wraps another and only calls it, with all its own arguments."""
    if len(node.decorator_list) != 1:
        return False
    wraps = node.decorator_list[0]
    if not isinstance(wraps, ast.Call) or dotted(wraps.func).rpartition(".")[2] != "wraps":
        return False
    rest = node.args.kwarg
    if (
        rest is None
        or node.args.vararg is None
        or node.args.kwonlyargs
        or len(positional(node)) > 1
    ):
        return False
    passing = [
        each
        for each in _body_nodes(node)
        if isinstance(each, ast.Call) and _passes_keywords(each, rest.arg)
    ]
    calls = [each for each in passing if dotted(each.func) in names]
    # ``inspect.signature(function).bind(*args, **kwargs)`` takes what the function takes.
    tests = sum(isinstance(e.func, ast.Attribute) and e.func.attr in _BINDING for e in passing)
    words = [each for each in _body_nodes(node) if isinstance(each, ast.Name)]
    given = {rest.arg, node.args.vararg.arg}
    if any(each.id in given and not isinstance(each.ctx, ast.Load) for each in words):
        return False  # it passes on other arguments than it gets
    uses = sum(each.id == rest.arg for each in words)
    adds_no_keyword = all(each.arg is None for call in calls for each in call.keywords)
    wrapped = {dotted(each) for each in wraps.args}
    is_plain = adds_no_keyword and {dotted(e.func) for e in calls} == wrapped
    return is_plain and len(calls) + tests == uses > 0


def kept_type(decorator: Definition, *, called: bool) -> ast.expr | None:
    """Return the type that a decorator takes and returns by its annotations; None if they differ.

    That is ``F`` of ``def mark(f: F) -> F`` and of ``def doc(text: str) -> Callable[[F], F]``.

    Args:
        decorator: a function.
        called: whether the decorator is the result of its call.
    """
    headers = function_headers(decorator.signature)
    if decorator.decorators or any(isinstance(each, ast.AsyncFunctionDef) for each in headers):
        return None
    names = {decorator_name(each) for one in headers for each in one.decorator_list}
    # Of overloads one is for what is decorated, another for what comes before.
    kept = (_kept_by(each, called=called) for each in headers if names <= {"overload"})
    return next(filter(None, kept), None)


def _kept_by(header: Function, *, called: bool) -> ast.expr | None:
    if header.returns is None:
        return None
    taken, returned = None, _unquoted(header.returns)
    if called:
        match returned:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.List(elts=[first]), last])):
                taken, returned = _unquoted(first), _unquoted(last)
    elif (plain := positional(header)) and plain[0].annotation is not None:
        taken = _unquoted(plain[0].annotation)
        match taken:
            case ast.Subscript(value=kind, slice=inner) if dotted(kind).endswith("Optional"):
                taken = inner
            case ast.BinOp(left=inner, op=ast.BitOr(), right=ast.Constant(None)):
                taken = inner
    return taken if taken and ast.unparse(taken) == ast.unparse(returned) else None


def _unquoted(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return try_parse_expression(node.value) or node
    return node


def find_forward(node: Function) -> Forward | None:
    """Return where all further keywords of a function go; None where that is not certain.

    Every use of the dictionary must be seen: it is unpacked into calls, read by a written key,
    kept as it is, or told to whoever passed what is not known. Each such key counts as a parameter.
    """
    return _forward_of(node, node.args.kwarg.arg) if node.args.kwarg is not None else None


def find_unpacked(node: Function) -> tuple[tuple[str, Forward], ...]:
    """Return where the keys of parameters go that are dictionaries of keywords."""
    unpacked = {
        dotted(keyword.value)
        for each in _body_nodes(node)
        if isinstance(each, ast.Call)
        for keyword in each.keywords
        if keyword.arg is None
    }
    names = [each.arg for each in (*positional(node), *node.args.kwonlyargs)]
    found = ((each, _forward_of(node, each)) for each in names if each in unpacked)
    return tuple((name, forward) for name, forward in found if forward is not None)


def _forward_of(node: Function, rest: str) -> Forward | None:
    """Return where the keys of a dictionary go that is a parameter."""
    nodes = list(_body_nodes(node))
    uses = sum(isinstance(each, ast.Name) and each.id == rest for each in nodes)
    if not uses:
        return None
    keys = [key for each in nodes if (key := _read_key(each, rest))]
    calls = [e for e in nodes if isinstance(e, ast.Call) and _gets(e, rest) is not None]
    refused, tested = _refusals(nodes, rest)
    if not (calls or refused) or _is_shadowed(node, rest):
        return None
    certain = next((each for each in _certain_calls(node.body) if each in calls), None)
    kept = _kept(nodes, rest) if certain is not None else 0
    kept += sum(_adds_written_keys(each, rest) for each in nodes)
    if len(keys) + len(calls) + refused + tested + kept != uses:
        return None
    if any(isinstance(each, ast.Assert) and _uses(each.test, rest) for each in node.body):
        return Forward((), frozenset(keys))
    called = [certain] if certain else calls
    targets = [(*_target(node, each.func), _gets(each, rest) or "") for each in called]
    if all(target for target, _, _ in targets):
        return Forward(tuple(dict.fromkeys(targets)), frozenset(keys))
    parameter = dotted(called[0].func)
    is_one = all(dotted(each.func) == parameter and not _gets(each, rest) for each in called)
    usual = _usual(node, parameter) if is_one else ""
    return Forward(((usual, "", ""),), frozenset(keys), parameter) if usual else None


def hands_keywords_on(node: Function) -> bool:
    """Return whether further keywords of a function are options, and no data of any name.

    They are refused, read by their names or handed on to calls that are not all the function's own.
    """
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    nodes = list(_body_nodes(node))
    uses = sum(isinstance(each, ast.Name) and each.id == rest for each in nodes)
    calls = [e for e in nodes if isinstance(e, ast.Call) and _passes_keywords(e, rest)]
    if rest and _refuses_unknown(nodes, rest):
        return True
    # What takes all arguments as they are may be anything, and so may what is passed.
    passed = {each.arg for each in (*positional(node)[1:], *node.args.kwonlyargs)}
    if not rest or any(
        dotted(each.func) in passed or any(isinstance(arg, ast.Starred) for arg in each.args)
        for each in calls
    ):
        return False
    if any(
        _NAMED_BY_DATA.search(dotted(each.func))
        or is_of_super(getattr(each.func, "value", each.func))
        for each in calls
    ):
        return False
    refused, tested = _refusals(nodes, rest)
    read = sum(_reads_key(each, rest) for each in nodes)
    return bool(calls or refused) and read + len(calls) + refused + tested == uses


def keeps_keywords(node: Function) -> bool:
    """Return whether a function keeps its further keywords: as data of any name, it may be."""
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    nodes = list(_body_nodes(node))
    if not rest or _refuses_unknown(nodes, rest):
        return False
    return any(_keeps(each, rest) for each in nodes)


def _keeps(node: ast.AST, rest: str) -> bool:
    """Return whether a node stores or returns a dictionary, or does something with all its keys."""
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Return(value=value):
            return value is not None and dotted(value) == rest
        case ast.Call(func=ast.Attribute(value=owner, attr="items" | "keys" | "values" | "copy")):
            return dotted(owner) == rest
        case ast.Call(args=args):
            return any(dotted(each) == rest for each in args)
        case ast.For(iter=value) | ast.comprehension(iter=value):
            return dotted(value) == rest
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return any(key is None and dotted(value) == rest for key, value in pairs)
    return False


def keyword_targets(node: Function) -> list[str]:
    """Return what a function calls with all of its further keywords, dotted."""
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    calls = [e for e in _body_nodes(node) if isinstance(e, ast.Call) and _passes_keywords(e, rest)]
    return [dotted(each.func) for each in calls]


def made_for(node: ast.ClassDef | None, attribute: str) -> list[str]:
    """Return what a class calls, dotted, to make what it holds as an attribute."""
    wanted = f"self.{attribute}"
    values = (
        each.value
        for each in (ast.walk(node) if node is not None else ())
        if isinstance(each, ast.Assign) and any(dotted(e) == wanted for e in each.targets)
    )
    calls = (e for value in values for e in ast.walk(value) if isinstance(e, ast.Call))
    return [name for each in calls if (name := dotted(each.func))]


def _reads_key(node: ast.AST, rest: str) -> bool:
    """Return whether a node reads one key of the dictionary, or tests whether it is there."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[_, *_]):
            return name == rest and method in _KEY_METHODS
        case ast.Subscript(value=ast.Name(id=name)):
            return name == rest
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            return name == rest
    return False


def _refusals(nodes: Sequence[ast.AST], rest: str) -> tuple[int, int]:
    """Return how often a dictionary is told in an error or warning, and how often only tested."""
    told = tested = 0
    for each in nodes:
        match each:
            case ast.Raise(exc=ast.expr() as said):
                told += _uses(said, rest)
            case ast.Expr(value=ast.Call(func=function) as said) if _WARNS.search(dotted(function)):
                told += _uses(said, rest)
            case ast.Assert() if _is_emptiness(each.test, rest):
                told += _uses(each, rest)
            case ast.If(test=ast.Name(id=name), body=[*before, ast.Raise()]) if name == rest:
                # What is raised is counted by itself.
                told += 1 + sum(_uses(statement, rest) for statement in before)
            case ast.If(test=test) | ast.IfExp(test=test):
                parts = test.values if isinstance(test, ast.BoolOp) else [test]
                tested += sum(dotted(part) == rest for part in parts)
    return told, tested


def _refuses_unknown(nodes: Sequence[ast.AST], rest: str) -> bool:
    """Return whether a function raises for a keyword that is none that is known.

    One that gives them all to a method does so only at times.
    """
    raised = False
    for node in nodes:
        match node:
            case ast.Raise() | ast.Assert():
                texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
                raised |= any(isinstance(e, str) and _UNKNOWN.search(e) for e in texts)
            case ast.Call(func=ast.Attribute(), args=args) if rest in map(dotted, args):
                return False
    return raised


def _is_emptiness(test: ast.expr, rest: str) -> bool:
    """Return whether a test is ``not options`` or ``len(options) == 0``."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return dotted(operand) == rest
        case ast.Compare(left=ast.Call(func=ast.Name(id="len"), args=[given]), ops=[ast.Eq()]):
            return dotted(given) == rest
    return False


def _adds_written_keys(node: ast.AST, rest: str) -> bool:
    """Return whether a node is ``options.update(key=value)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="update"), args=[], keywords=added):
            return dotted(owner) == rest and all(each.arg for each in added)
    return False


def _uses(node: ast.AST, name: str) -> int:
    """Return how often a name is used, but for what is read by a written key."""
    uses = sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
    return uses - sum(1 for each in ast.walk(node) if _read_key(each, name))


def _kept(nodes: Sequence[ast.AST], rest: str) -> int:
    """Return how often a dictionary is kept as it is: ``self.options = options``."""
    return sum(
        isinstance(each, ast.Assign)
        and dotted(each.value) == rest
        and all(isinstance(target, ast.Attribute) for target in each.targets)
        for each in nodes
    )


def makes_own_instance(node: Function, owner: str) -> bool:
    """Return whether a ``__new__`` seems to return instances of a class or its subclasses.

    One thing that it returns certainly is one: it is made by the base, or tested to be one. Nothing
    else is certainly another class or value.
    """
    cls = next((each.arg for each in positional(node)), "")
    tested: set[str] = set()
    made: dict[str, list[ast.expr]] = {}
    returned: list[ast.expr] = []
    for each in _body_nodes(node):
        match each:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
                tested |= {name} if dotted(kind) in {owner, cls} else set()
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made.setdefault(name, []).append(value)
            case ast.Return(value=value) if value is not None:
                returned.append(value)
    sure = [
        (isinstance(each, ast.Name) and (each.id in tested or _all_new(made.get(each.id))))
        or _is_any_new(each)
        for each in returned
    ]
    others = [each for each, is_sure in zip(returned, sure, strict=True) if not is_sure]
    calls = [each for each in others if isinstance(each, ast.Call)]
    names = [dotted(each.func).rpartition(".")[2] for each in calls]
    return any(sure) and len(calls) == len(others) and all(each[:1].islower() for each in names)


def _all_new(values: Sequence[ast.expr] | None) -> bool:
    return bool(values) and all(map(_is_any_new, values or ()))


def _is_any_new(node: ast.expr) -> bool:
    """Return whether an expression is a call of another ``__new__``, of this or a near class."""
    match node:
        case ast.Call(func=ast.Attribute(attr="__new__")):
            return True
    return False


def _body_nodes(node: Function) -> Iterator[ast.AST]:
    """Yield all nodes of a function's body."""
    for statement in node.body:
        yield from ast.walk(statement)


def _passes_keywords(call: ast.Call, rest: str) -> bool:
    """Return whether a call is ``called(**rest)``."""
    return any(each.arg is None and dotted(each.value) == rest for each in call.keywords)


def _gets(call: ast.Call, rest: str) -> str | None:
    """Return how a call gets a dictionary: unpacked, or as a parameter, whose number it is.

    None where it does not get it.
    """
    if _passes_keywords(call, rest):
        return ""
    if hasattr(builtins, name := dotted(call.func)) or _WARNS.search(name):
        return None
    for number, each in enumerate(call.args):
        if isinstance(each, ast.Starred):
            break
        if isinstance(each, ast.Name) and each.id == rest:
            return str(number)
    return None


def _read_key(node: ast.AST, rest: str) -> str:
    """Return the written key by which a node reads the dictionary; empty where it does not."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[key, *_]) if (
            method in _KEY_METHODS
        ):
            pass
        case ast.Subscript(value=ast.Name(id=name), slice=key):
            pass
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            pass
        case _:
            return ""
    return string_value(key) if name == rest else ""


def _is_shadowed(node: Function, rest: str) -> bool:
    """Return whether the name may be another's, or the dictionary is read in another way."""
    for each in _body_nodes(node):
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if not any(
                _stores(inner, rest) for inner in ast.walk(each)
            ):
                # A decorator that the function returns gets the same dictionary.
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                if any(dotted(inner) == rest for inner in ast.walk(each)):
                    return True
            case ast.Name(id=name) if name in _INTROSPECTION:
                return True
    return False


def _certain_calls(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls that statements certainly make, as long as nothing is raised."""
    for node in body:
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    yield from _calls(item.context_expr)
                yield from _certain_calls(node.body)
            case ast.Try():
                yield from _certain_calls(node.body)
            case ast.Return(value=value) | ast.Expr(value=value) | ast.Assign(value=value):
                yield from _calls(value)
            case ast.AnnAssign(value=value):
                yield from _calls(value)
        if any(isinstance(each, ast.Return) for each in ast.walk(node)):
            return


def _calls(node: ast.expr | None) -> Iterator[ast.Call]:
    """Yield the calls that an expression makes in any case."""
    match node:
        case ast.Call():
            yield node
            for each in node.args:
                yield from _calls(each)
            yield from _calls(node.func)
        case ast.Await(value=value) | ast.Attribute(value=value):
            yield from _calls(value)


def _target(node: Function, function: ast.expr) -> tuple[str, str]:
    """Return what is called, dotted, and the class that makes the local value it begins with."""
    match function:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name):
            return f"super().{name}", ""
        case ast.Attribute(
            value=ast.Call(func=ast.Name(id="super"), args=[ast.Name(id=owner), ast.Name(id=own)]),
            attr=name,
        ) if [own] == [each.arg for each in positional(node)[:1]]:
            return f"super({owner}).{name}", ""
    path = dotted(function)
    first, _, name = path.partition(".")
    plain = positional(node)
    if first in {each.arg for each in plain[:1]} & {"self", "cls"}:
        return path, ""
    makers = [maker for bound, maker in _local_variables(node) if bound == first]
    is_parameter = first in {each.arg for each in (*plain, *node.args.kwonlyargs)}
    if is_parameter or (makers and (len(makers) > 1 or not makers[0] or "." in name)):
        return "", ""
    return path, makers[0] if makers else ""


def _usual(node: Function, parameter: str) -> str:
    """Return what a parameter stands for that is not passed; empty where that is not certain.

    Its default is ``None``, and the function says ``if cls is None: cls = Option``.
    """
    found = ""
    for each in _body_nodes(node):
        match each:
            case ast.If(
                test=ast.Compare(
                    left=ast.Name(id=tested), ops=[ast.Is()], comparators=[ast.Constant(None)]
                ),
                body=[ast.Assign(targets=[ast.Name(id=bound)], value=value)],
            ) if tested == bound == parameter and each in node.body:
                match value:
                    case ast.Call(func=function, args=[_, cast]) if dotted(function).endswith(
                        "cast"
                    ):
                        found = dotted(cast)
                    case _:
                        found = dotted(value)
    stored = sum(_stores(each, parameter) for each in _body_nodes(node))
    default = defaults(node).get(parameter)
    is_none = isinstance(default, ast.Constant) and default.value is None
    return found if stored == 1 and is_none else ""


def _stores(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=stored, ctx=ast.Store()) | ast.arg(arg=stored):
            return stored == name
    return False


def _local_variables(node: Function) -> Iterator[tuple[str, str]]:
    """Yield local names, each with the class or function whose call it is; empty for others."""
    seen: set[int] = set()
    for each in _body_nodes(node):
        match each:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=function)):
                seen.add(id(target))
                yield target.id, dotted(function)
            case ast.withitem(context_expr=ast.Call(func=function), optional_vars=ast.Name() as t):
                seen.add(id(t))
                yield t.id, dotted(function)
            case ast.Import() | ast.ImportFrom():
                for alias in each.names:
                    yield (alias.asname or alias.name).partition(".")[0], ""
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, ""
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name, ""
            case ast.Name(ctx=ast.Store()) if id(each) not in seen:
                yield each.id, ""
            case ast.arg(arg=name):
                yield name, ""
