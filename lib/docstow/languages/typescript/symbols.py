"""Entities of Node packages as symbols: kind, place, signature, documentation, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from docstow.languages.shared.surface import Parameter, Symbol, SymbolKind
from docstow.languages.typescript.comments import INHERITED, Comment, parse_comment
from docstow.languages.typescript.members import MemberResolver, Members, Signatures
from docstow.languages.typescript.names import Entity, Namespace
from docstow.languages.typescript.source.model import DEFAULT, Declaration, Signature, Span

#: Kinds of declarations, the one first that tells most of an entity with several.
_KINDS: dict[str, SymbolKind] = {
    "class": "class",
    "function": "function",
    "interface": "interface",
    "enum": "enum",
    "type": "type",
    "constant": "constant",
    "value": "constant",
    "namespace": "module",
}
#: Members that every object, and every function, has.
_OBJECT_MEMBERS = ("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
                   "toString", "toLocaleString", "valueOf", "__proto__")  # fmt: skip
_FUNCTION_MEMBERS = ("apply", "bind", "call", "length", "name", "prototype", "caller",
                     "arguments")  # fmt: skip
#: Characters of all overloads that are shown.
_MAX_SIGNATURES = 4000
#: Characters of the documentation of all overloads.
_MAX_TEXTS = 12_000
#: Lines between overloads that belong together.
_MAX_GAP = 60


#: TSDoc's ``(Client:class)``, and what stands between the names of a reference.
_SELECTOR = re.compile(r"\((\w+)(?::\w+)?\)|:[\w-]+")
_SEPARATORS = re.compile(r"[.#~!]")


def describe(
    path: str, entity: Entity, members: MemberResolver, owner: Entity | None = None
) -> Symbol:
    """Describe an entity.

    Args:
        path: what was asked for.
        entity: what it leads to.
        members: resolves members.
        owner: what it is a member of, from whose bases it inherits documentation.
    """
    if entity.declared:
        return _describe_declared(path, entity, members)
    if entity.members:
        return _describe_member(path, entity, members, owner)
    if entity.namespaces:
        return _describe_module(path, entity, members)
    return Symbol(path, "re-export", "", 0, 0, "", "")


def describe_builtin(path: str, owner: Entity, members: MemberResolver) -> Symbol | None:
    """Describe a member that every object or function has; None for any other name."""
    name = path.rpartition(".")[2]
    modules = owner.namespaces
    if modules and not owner.declared and not any(map(members.names.assigned_exports, modules)):
        return None
    found = members.members_of(owner)
    callable_ = found.calls != () or found.constructors != ()
    if name not in _OBJECT_MEMBERS and not (name in _FUNCTION_MEMBERS and callable_):
        return None
    return Symbol(path, "property", "", 0, 0, name, "")


def find_place(entity: Entity) -> tuple[Namespace, int] | None:
    """Return where an entity is defined first: its file and the line, 0 for a whole module."""
    if entity.declared:
        namespace, declaration = _ranked(entity)[0]
        return namespace, declaration.span.line
    if entity.members:
        namespace, member = entity.members[0]
        return namespace, member.text.span.line
    return (entity.namespaces[0], 0) if entity.namespaces else None


def _ranked(entity: Entity) -> list[tuple[Namespace, Declaration]]:
    """Return the declarations of an entity, the one first that tells most."""
    order = list(_KINDS)
    return sorted(entity.declared, key=lambda each: order.index(each[1].kind))


def _describe_member(
    path: str, entity: Entity, members: MemberResolver, owner: Entity | None
) -> Symbol:
    namespace, first = entity.members[0]
    found = members.members_of(entity)
    docs = [(_comment(n, m.text.doc, members), m.text.signature) for n, m in entity.members]
    if owner is not None and not any(doc.complete for doc, _ in docs):
        above = members.overridden(owner, first.name)
        inherited = (
            parse_comment(each.text.doc, script=namespace.file.source.script)
            for each in above
            if each.static == first.static
        )
        docs = _with_inherited(docs, next((each for each in inherited if each.complete), None))
    return Symbol(
        path,
        first.kind,
        _file(namespace),
        first.text.span.line,
        first.text.span.end_line,
        _join_signatures(member.text.signature for _, member in entity.members),
        _join_texts(docs),
        docs[0][0].deprecated if all(doc.deprecated for doc, _ in docs) else "",
        _target(path, namespace, ""),
        _parameters(found.calls),
    )


def _describe_declared(path: str, entity: Entity, members: MemberResolver) -> Symbol:
    ranked = _ranked(entity)
    namespace, main = ranked[0]
    kind = _KINDS[main.kind]
    if main.kind in ("constant", "value") and _is_script_function(namespace, main):
        kind = "function"
    same = [each for each in ranked if each[1].kind == main.kind]
    span = main.span if len(same) == 1 else _merge_spans([each for _, each in same], main.span)
    written = [each for each in ranked if each[1].kind != "namespace"] or ranked[:1]
    signed = [(_comment(n, e.doc, members), members.names.read(n, e).signature) for n, e in written]
    docs = [doc for doc, _ in signed]
    own = [doc for doc, each in zip(docs, written, strict=True) if each[1].kind == main.kind]
    # A property may have the name of a type, and be that as a value.
    signed += [(_comment(n, m.text.doc, members), m.text.signature) for n, m in entity.members]
    return Symbol(
        path,
        kind,
        _file(namespace),
        span.line,
        span.end_line,
        _join_signatures(signature for _, signature in signed),
        _join_texts(signed),
        own[0].deprecated if own and all(doc.deprecated for doc in own) else "",
        _target(path, namespace, main.name),
        _parameters_of(members.members_of(entity.only(types=False)), kind),
    )


def _describe_module(path: str, entity: Entity, members: MemberResolver) -> Symbol:
    namespace = entity.namespaces[0]
    assigned = members.names.assigned_exports(namespace)[:1]
    whole = next((describe(path, e, members) for e in assigned if not e.namespaces), None)
    return Symbol(
        path,
        "module",
        _file(namespace),
        1,
        namespace.file.body.count(b"\n") + 1,
        whole.signature if whole else "",
        whole.docstring if whole else "",
        "",
        _target(path, namespace, ""),
        _parameters_of(members.members_of(entity), "module"),
    )


def _is_script_function(namespace: Namespace, declaration: Declaration) -> bool:
    span = declaration.span
    head = namespace.file.source.body[span.start : min(span.end, span.start + 200)]
    return declaration.kind == "value" and b"function" in head


def _parameters_of(found: Members, kind: SymbolKind) -> tuple[Parameter, ...] | None:
    if kind == "class":
        return _parameters(found.constructors)
    if found.calls is None or found.constructors is None:
        return None
    return _parameters(found.calls + found.constructors)


def _parameters(calls: Signatures | None) -> tuple[Parameter, ...] | None:
    """Return the parameters that any of the overloads takes: other calls fit none of them."""
    if not calls:
        return None
    fixed = [[each for each in call.parameters if not each.rest] for call in calls]
    longest = max(fixed, key=len)
    fewest = min(map(_count_required, calls))
    parameters = [
        Parameter(each.name, "positional_only", index < fewest)
        for index, each in enumerate(longest)
    ]
    rest = next((each for call in calls for each in call.parameters if each.rest), None)
    if rest is not None:
        parameters.append(Parameter(rest.name, "var_positional", required=False))
    return tuple(parameters)


def _count_required(signature: Signature) -> int:
    required = [e.required and not e.omittable for e in signature.parameters if not e.rest]
    return max((at for at, each in enumerate(required, 1) if each), default=0)


def _merge_spans(found: list[Declaration], main: Span) -> Span:
    """Return the span of overloads that follow each other."""
    span = main
    for each in sorted(found, key=lambda each: each.span.line):
        if 0 <= each.span.line - span.end_line <= _MAX_GAP and each.span.start > span.start:
            span = Span(span.start, each.span.end, span.line, each.span.end_line)
    return span


def _join_texts(docs: Sequence[tuple[Comment, str]]) -> str:
    """Return the documentation of all overloads, those that are deprecated last.

    Args:
        docs: of each overload, with its signature.
    """
    texts: dict[str, str] = {}
    for doc, signature in sorted(docs, key=lambda each: bool(each[0].deprecated)):
        # What none of its bases says is not there: the name that was asked for is left.
        text = INHERITED.sub(lambda found: f"See `{found[1]}`." if found[1] else "", doc.text)
        if text:
            texts.setdefault(text, signature)
    first, *others = texts or [""]
    parts = [first]
    size = len(first)
    for text in others:
        size += len(text)
        if size > _MAX_TEXTS:
            parts.append(f"{len(others) + 1 - len(parts)} more overloads have texts of their own.")
            break
        parts.append(f"`{texts[text]}`: {text}")
    return "\n\n".join(parts)


def _with_inherited(
    docs: list[tuple[Comment, str]], inherited: Comment | None
) -> list[tuple[Comment, str]]:
    """Return documentation in which what is inherited stands where it is asked for, or first."""
    if inherited is None:
        return docs
    if not any(doc.text for doc, _ in docs):
        return [(replace(docs[0][0], text=inherited.text), docs[0][1]), *docs[1:]]
    found = []
    for doc, signature in docs:
        text, count = INHERITED.subn(lambda _: inherited.text, doc.text)
        whole = text if count else f"{inherited.text}\n\n{text}"
        found.append((replace(doc, text=whole), signature))
    return found


def _comment(namespace: Namespace, written: str, members: MemberResolver) -> Comment:
    """Parse a comment; where it names what it inherits its text from, that text stands there."""
    script = namespace.file.source.script
    doc = parse_comment(written, script=script)
    if "{@" not in doc.text or not INHERITED.search(doc.text):
        return doc

    def replaced(found: re.Match[str]) -> str:
        meant = _referenced_doc(namespace, found[1], members)
        return parse_comment(meant, script=script).text if meant else found[0]

    text = INHERITED.sub(replaced, doc.text)
    return replace(doc, text=text, complete=doc.complete or text != doc.text)


def _referenced_doc(namespace: Namespace, reference: str, members: MemberResolver) -> str:
    """Return the comment of what a reference names: ``Client.send``, ``(Client:class).send``."""
    plain = _SELECTOR.sub(r"\1", reference.split("|")[0]).strip()
    names = [each for each in _SEPARATORS.split(plain) if each]
    entity = members.names.resolve_local(namespace, names[0]) if names else None
    for name in names[1:]:
        entity = members.resolve(entity, name) if entity is not None else None
    if entity is None:
        return ""
    docs = [e.doc for _, e in entity.declared] + [m.text.doc for _, m in entity.members]
    return next(filter(None, docs), "")


def _join_signatures(signatures: Iterable[str]) -> str:
    lines = list(dict.fromkeys(filter(None, signatures)))
    shown = "\n".join(lines)
    return shown if len(shown) <= _MAX_SIGNATURES else shown[: _MAX_SIGNATURES - 1] + "…"


def _file(namespace: Namespace) -> str:
    return namespace.file.path.relative_to(namespace.file.folder.root).as_posix()


def _target(path: str, namespace: Namespace, name: str) -> str:
    """Return where it is defined, if its path names another package or another name."""
    package = namespace.package
    if path == package or path.startswith((f"{package}.", f"{package}/")):
        same = not name or name == DEFAULT or path.endswith(f".{name}")
        return "" if same else f"{package}.{name}"
    return f"{package}.{name}" if name and name != DEFAULT else package
