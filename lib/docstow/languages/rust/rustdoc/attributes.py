"""Facts about an item that its attributes and its span state."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Item

_MUST_USE = re.compile(
    r'#\[must_use(?:\s*=\s*"((?:[^"\\]|\\.)*)")?\]|MustUse(?: \{reason: "(.*)"\})?'
)
_OLD_STABILITY = re.compile(r'#\[(stable|unstable)\(.*?feature = "([^"]*)"', re.DOTALL)
_OLD_SINCE = re.compile(r'since = "([^"]*)"')
_STABILITY = re.compile(
    r"Stability \{stability: Stability \{level: (Stable|Unstable)(.*?)\},\s*feature: \"([^\"]*)\"",
    re.DOTALL,
)
_SINCE = re.compile(r"major: (\d+), minor: (\d+), patch: (\d+)")
_SOURCE = re.compile(r"\s*#!?\[\s*(?:(doc)\s*\(\s*)?cfg\s*\((.*)\)\s*\]\s*\Z", re.DOTALL)
_TRACE = re.compile(r"CfgTrace\((.*)\)\]\Z", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<op>all|any|not)\s*\(
      | (?P<name>\w+)\s*=\s*"(?P<value>[^"]*)"
      | (?P<flag>\w+)
      | (?P<close>\))
      | ,
    )""",
    re.VERBOSE,
)
_TRACE_TOKEN = re.compile(
    r"""
        (?P<op>All|Any|Not)\(
      | NameValue\s\{\s*name:\s"(?P<name>[^"]*)",\s*value:\s(?:None|Some\("(?P<value>[^"]*)"\))
        [^}]*\}
      | (?P<close>,?\s[^,\[\]{}]*\(\#\d+\)\))
    """,
    re.VERBOSE,
)
_ONLY_IN_DOCS = frozenset({"docsrs", "doc", "doctest", "rustdoc", "test", "loom", "miri", "true"})
#: Predicates in words, as rustdoc has them in its module ``clean/cfg.rs``.
_WORDS: dict[tuple[str, str | None], str] = {
    ("unix", None): "Unix",
    ("windows", None): "Windows",
    ("debug_assertions", None): "debug-assertions enabled",
    **{
        ("target_os", name.lower()): name
        for name in re.findall(
            r"\S+",
            "AIX Android CUDA Cygwin Emscripten FreeBSD Fuchsia Haiku Horizon illumos iOS L4Re "
            "Linux macOS NetBSD NuttX OpenBSD QuRT Solaris tvOS UEFI visionOS VxWorks WASI "
            "watchOS Windows Xous",
        )
    },
    ("target_os", "dragonfly"): "DragonFly BSD",
    ("target_os", "espidf"): "ESP-IDF",
    ("target_os", "hermit"): "HermitCore",
    ("target_os", "hurd"): "GNU/Hurd",
    ("target_os", "none"): "bare-metal",
    ("target_os", "nto"): "QNX Neutrino",
    ("target_os", "redox"): "Redox OS",
    ("target_os", "rtems"): "RTEMS OS",
    ("target_arch", "aarch64"): "AArch64",
    ("target_arch", "arm"): "ARM",
    ("target_arch", "mips"): "MIPS",
    ("target_arch", "mips64"): "MIPS-64",
    ("target_arch", "powerpc"): "PowerPC",
    ("target_arch", "powerpc64"): "PowerPC-64",
    ("target_arch", "riscv32"): "RISC-V RV32",
    ("target_arch", "riscv64"): "RISC-V RV64",
    ("target_arch", "s390x"): "s390x",
    ("target_arch", "sparc64"): "SPARC64",
    ("target_arch", "wasm32"): "WebAssembly",
    ("target_arch", "spirv"): "SPIR-V",
    ("target_arch", "wasm64"): "WebAssembly",
    ("target_arch", "x86"): "x86",
    ("target_arch", "x86_64"): "x86-64",
    ("target_vendor", "apple"): "Apple",
    ("target_vendor", "fortanix"): "Fortanix",
    ("target_vendor", "pc"): "PC",
    ("target_vendor", "sun"): "Sun",
    ("target_env", "gnu"): "GNU",
    ("target_env", "msvc"): "MSVC",
    ("target_env", "musl"): "musl",
    ("target_env", "newlib"): "Newlib",
    ("target_env", "p1"): "WASIp1",
    ("target_env", "p2"): "WASIp2",
    ("target_env", "sgx"): "SGX",
    ("target_env", "uclibc"): "uClibc",
}
_COLLECTIVE = {"feature": "crate features ", "target_feature": "target features "}


class _Span(msgspec.Struct):
    filename: str
    begin: tuple[int, int]


_span = msgspec.json.Decoder(_Span | None)


def attribute_texts(attributes: Iterable[str | dict[str, Any]]) -> list[str]:
    """Return the attributes that are text, and the text of those that are ``other``."""
    texts = (each if isinstance(each, str) else each.get("other") for each in attributes)
    return [each for each in texts if isinstance(each, str)]


def item_facts(file: RustdocFile, item: Item) -> dict[str, Any]:
    """Return the document attributes that come from an item's own attributes and span."""
    found: dict[str, Any] = {}
    if item.deprecation is not None:
        found["deprecated"] = msgspec.structs.asdict(item.deprecation)
    if bytes(item.attrs) != b"[]":
        for each in file.attrs(item):
            _add(found, each)
    if item.stability is not None:
        found["stability"] = _level(item.stability)
    span = _span.decode(item.span)
    if span is not None:
        found["source"] = f"{span.filename}:{span.begin[0]}"
    return found


def _add(found: dict[str, Any], attribute: str | dict[str, Any]) -> None:
    if isinstance(attribute, dict):
        if "must_use" in attribute:
            found["must_use"] = (attribute["must_use"] or {}).get("reason") or True
            return
        if "repr" in attribute:
            found["repr"] = _representation(attribute["repr"])
            return
        attribute = str(attribute.get("other", ""))
    if attribute.startswith("#[repr("):
        found["repr"] = attribute.removeprefix("#[repr(").removesuffix(")]")
        return
    if attribute in {"non_exhaustive", "#[non_exhaustive]", '#[attr = "NonExhaustive"]'}:
        found["non_exhaustive"] = True
    elif "must_use" in attribute or "MustUse" in attribute:
        if must_use := _MUST_USE.match(attribute.removeprefix("#[attr = ")):
            found["must_use"] = must_use[1] or must_use[2] or True
    elif "table(" in attribute or "Stability {" in attribute:
        stability = _printed_stability(attribute)
        if stability:
            found["stability"] = stability


def _representation(stated: dict[str, Any]) -> str:
    """Return what stands in ``repr(…)``."""
    kind = stated.get("kind", "rust")
    words = [{"c": "C"}.get(kind, kind)] if kind != "rust" else []
    words += [stated["int"]] if stated.get("int") else []
    words += [f"{each}({stated[each]})" for each in ("align", "packed") if stated.get(each)]
    return ", ".join(words) or "Rust"


def is_layout_public(file: RustdocFile, item: Item, layout: str) -> bool:
    """Tell whether rustdoc shows a ``repr``: whether users may rely on it.

    It is theirs where all fields and variants are public; ``transparent`` is where the one field
    that has a size is. See ``repr_attribute`` in rustdoc's ``clean/types.rs``.
    """
    kind = item.kind
    if kind == "enum":
        enum = file.inner(item, schema.EnumInner)
        if enum.has_stripped_variants:
            return False
        inners = (
            file.inner(file.index[e], schema.Variant) for e in enum.variants if e in file.index
        )
        held = [each.kind for each in inners if isinstance(each.kind, schema.VariantKind)]
        plain = [each.plain for each in held if each.plain is not None]
        positions = [each.positions or [] for each in held]
    elif kind == "union":
        union = file.inner(item, schema.UnionInner)
        plain, positions = [schema.PlainFields(union.fields, union.has_stripped_fields)], []
    else:
        struct = file.inner(item, schema.StructInner).kind
        if isinstance(struct, str):
            return True
        plain = [struct.plain] if struct.plain is not None else []
        positions = [struct.positions or []]
    ids = [each for fields in plain for each in fields.fields]
    ids += [each for some in positions for each in some if each is not None]
    hidden = any(each.has_stripped_fields for each in plain) or any(None in e for e in positions)
    if not hidden or layout != "transparent":
        return not hidden
    types = (file.inner(file.index[each], schema.Type) for each in ids if each in file.index)
    return any(not _is_sizeless(each) for each in types)


def _is_sizeless(value: schema.Type) -> bool:
    """Tell whether a type has no size, as far as its name says."""
    if value.resolved_path is not None:
        name = value.resolved_path.path or value.resolved_path.name
        return name.rpartition("::")[2] in {"PhantomData", "PhantomPinned"}
    return value.parts == [] or (value.array is not None and value.array.len == "0")


def _printed_stability(text: str) -> dict[str, str]:
    """Return the stability before format 58, which stated it as an attribute."""
    if found := _OLD_STABILITY.match(text):
        since = _OLD_SINCE.search(text)
        return _without_empty(found[1], found[2], since[1] if since else "")
    if found := _STABILITY.search(text):
        since = _SINCE.search(found[2])
        return _without_empty(found[1].lower(), found[3], ".".join(since.groups()) if since else "")
    return {}


def _level(stability: dict[str, Any]) -> dict[str, str]:
    """Return the stability of formats 58 to 60 (``level`` a word) and 61 (an object)."""
    level, since = stability.get("level", ""), stability.get("since")
    if isinstance(level, dict):
        ((level, detail),) = level.items()
        since = detail.get("since") if isinstance(detail, dict) else None
    return _without_empty(str(level), str(stability.get("feature") or ""), str(since or ""))


def _without_empty(level: str, feature: str, since: str) -> dict[str, str]:
    values = {"level": level, "feature": feature, "since": since}
    return {key: value for key, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class Cfg:
    """A predicate: ``op`` is ``all``, ``any`` or ``not`` over ``parts``, or empty for a leaf."""

    op: str = ""
    name: str = ""
    value: str | None = None
    parts: tuple[Cfg, ...] = ()

    def __str__(self) -> str:
        """Return the predicate in Rust's own syntax."""
        if self.op:
            return f"{self.op}({', '.join(map(str, self.parts))})"
        return self.name if self.value is None else f'{self.name} = "{self.value}"'

    def availability(self) -> str:
        """Return where an item exists, as rustdoc words it: ``on crate feature `rt` only``."""
        preposition = "with" if self.name == "target_feature" else "on"
        return f"{preposition} {self.words()}{' only' if self.is_exclusive() else ''}"

    def beyond(self, owner: Cfg | None) -> Cfg | None:
        """Return what is left of the predicate where the owner's holds already."""
        if owner is None:
            return self
        known = owner.parts if owner.op == "all" else (owner,)
        return combine(each for each in _conjuncts(self) if each not in known)

    def is_exclusive(self) -> bool:
        """Tell whether rustdoc adds ``only``, which it does not after ``not`` of several."""
        if self.op in {"any", "all"}:
            return all(each.is_exclusive() for each in self.parts)
        return not self.op or not any(each.op for each in self.parts)

    def words(self) -> str:
        """Return the predicate in words: ``Unix and crate feature `rt```."""
        if not self.op:
            return self._leaf()
        if self.op == "not":
            part = self.parts[0]
            if part.op == "any":
                return f"neither {_joined(part.parts, 'nor')}"
            return f"not ({part.words()})" if part.op else f"non-{part.words()}"
        word = "or" if self.op == "any" else "and"
        names = {each.name for each in self.parts if each.value is not None}
        if len(names) == 1 and all(each.value is not None for each in self.parts):
            (name,) = names
            if name in _COLLECTIVE:
                values = [f"`{each.value}`" for each in self.parts]
                return _COLLECTIVE[name] + f" {word} ".join(values)
        return _joined(self.parts, word)

    def _leaf(self) -> str:
        if (self.name, self.value) in _WORDS:
            return _WORDS[self.name, self.value]
        if self.value is None:
            return f"`{self.name}`"
        if self.name in _COLLECTIVE:
            return f"{_COLLECTIVE[self.name].removesuffix('s ')} `{self.value}`"
        if self.name == "target_endian":
            return f"{self.value}-endian"
        if self.name == "target_pointer_width":
            return f"{self.value}-bit"
        return f"`{self.name}={self.value}`"

    def features(self) -> list[str]:
        """Return the features that are needed without any choice, in order."""
        if self.op == "all":
            return [name for part in self.parts for name in part.features()]
        return [self.value] if self.name == "feature" and self.value is not None else []


def _joined(parts: Iterable[Cfg], word: str) -> str:
    """Join predicates; parentheses and commas tell what belongs together, as in rustdoc."""
    parts = tuple(parts)
    loose = {"any"} if word != "and" else {"any", "all"}
    words = [f"({each.words()})" if each.op in loose else each.words() for each in parts]
    comma = "," if word != "and" and any(each.op in {"any", "all"} for each in parts) else ""
    return f"{comma} {word} ".join(words)


def _conjuncts(cfg: Cfg) -> tuple[Cfg, ...]:
    return cfg.parts if cfg.op == "all" else (cfg,)


def from_attributes(attributes: Iterable[str]) -> tuple[Cfg, ...]:
    """Return the conditions that one item's attributes state.

    ``doc(cfg(…))`` replaces the plain ``cfg``s, as in rustdoc.
    """
    written: list[Cfg] = []
    plain: list[Cfg] = []
    for text in attributes:
        if "cfg" not in text and "CfgTrace" not in text:
            continue
        if found := _SOURCE.match(text):
            (written if found[1] else plain).extend(_parse(_TOKEN, found[2]))
        elif found := _TRACE.search(text):
            plain.extend(_parse(_TRACE_TOKEN, found[1]))
    kept = (_simplify(each) for each in written or plain)
    return tuple(each for each in kept if each is not None)


def combine(conditions: Iterable[Cfg]) -> Cfg | None:
    """Combine conditions to one that names each once; None when there are none."""
    flat: dict[Cfg, None] = {}
    for each in conditions:
        flat.update(dict.fromkeys(each.parts if each.op == "all" else (each,)))
    if not flat:
        return None
    return Cfg("all", parts=tuple(flat)) if len(flat) > 1 else next(iter(flat))


def either(one: Cfg | None, other: Cfg | None) -> Cfg | None:
    """Return the condition under which at least one of two things exists."""
    if one is None or other is None:
        return None
    shared = [each for each in _conjuncts(one) if each in _conjuncts(other)]
    rests = [combine(e for e in _conjuncts(each) if e not in shared) for each in (one, other)]
    parts = [e for each in rests if each for e in (each.parts if each.op == "any" else (each,))]
    choice = [Cfg("any", parts=tuple(dict.fromkeys(parts)))] if all(rests) else []
    return combine([*shared, *choice])


def _parse(token: re.Pattern[str], text: str) -> list[Cfg]:
    """Parse predicates; both grammars have the same tokens, and brackets nest in both."""
    stack: list[tuple[str, list[Cfg]]] = [("", [])]
    for found in token.finditer(text):
        groups = found.groupdict()
        if groups["op"]:
            stack.append((groups["op"].lower(), []))
        elif groups["close"]:
            if len(stack) > 1:
                op, parts = stack.pop()
                stack[-1][1].append(Cfg(op, parts=tuple(parts)))
        elif groups["name"]:
            stack[-1][1].append(Cfg(name=groups["name"], value=groups["value"]))
        elif groups.get("flag"):
            stack[-1][1].append(Cfg(name=groups["flag"]))
    return stack[0][1]


def _simplify(cfg: Cfg) -> Cfg | None:
    """Drop what only says that documentation or tests are being built; None if nothing stays."""
    if not cfg.op:
        return None if cfg.value is None and cfg.name in _ONLY_IN_DOCS else cfg
    parts = [part for each in cfg.parts if (part := _simplify(each)) is not None]
    if not parts:
        return None
    if cfg.op == "not":
        return Cfg("not", parts=tuple(parts)) if len(parts) == len(cfg.parts) else None
    return parts[0] if len(parts) == 1 else Cfg(cfg.op, parts=tuple(parts))
