"""A tool's parameters: their JSON Schema, the check of what a caller sent, and the common ones.

What is accepted and what the schemas advertise stand together here, so that they agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from docstow import languages
from docstow.core.errors import InvalidParameter
from docstow.core.model import STANDARD
from docstow.core.records import dataclass
from docstow.core.similar import similar_names

if TYPE_CHECKING:
    from docstow.languages.shared.language import Language
    from docstow.languages.shared.project import LockedVersion
    from docstow.library import Library, ResolvedVersion

Type = Literal["string", "integer", "number", "boolean", "array", "object"]

#: Where a version that is written with a package's name belongs: what the tool has of these.
_VERSIONS = ("version", "requirement", "to_version")

INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")

# Eighteen digits are enough for anybody; larger ones, and infinity, are mistakes.
LIMIT = 10**18

#: More choices than these are left to the description of a parameter where a schema is brief.
_MANY_CHOICES = 12


#: What a value may have at most where its parameter does not say: characters of a string, elements
#: of an array, characters of an object as JSON. Nothing that a caller sends is without a bound.
LONGEST: Mapping[Type, int] = {"string": 400, "array": 100, "object": 20_000}
#: Characters of one element of an array.
_LONGEST_ELEMENT = 2000
#: Characters of a lock file, and of a text that is pushed: about what a request's body may have.
LONGEST_FILE = 4_000_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool.

    Attributes:
        name: as callers write it.
        type: a JSON type.
        description: for models; short.
        required: without it the call is refused.
        default: what the tool gets when it was left out; shown in the schema unless it is empty.
        minimum: of a number, inclusive.
        maximum: of a number, inclusive.
        choices: what a string, or each element of an array, may be; empty for anything.
        max_length: characters of a string, elements of an array, or characters of an object as
            JSON; else :data:`LONGEST` holds.
        items: type of an array's elements.
        aliases: further names that callers may write.
        synonyms: by what callers may write too, the choice that it stands for.
        joined: whether a string may come as an array, whose elements are joined by commas.
        rare: whether few calls need it, so that a brief schema leaves it out.
    """

    name: str
    type: Type
    description: str = ""
    required: bool = False
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    choices: Sequence[str] = ()
    max_length: int | None = None
    items: Type = "string"
    aliases: Sequence[str] = ()
    synonyms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    joined: bool = False
    rare: bool = False

    @property
    def longest(self) -> int | None:
        """What a value may have at most; None for numbers and booleans."""
        return self.max_length or LONGEST.get(self.type)


#: Where the next page of a list begins.
CURSOR = Parameter("cursor", "string", "Next page", default="", max_length=400)
#: A crate or package; its language and version may stand with it: ``python:httpx@0.27``.
PACKAGE = Parameter(
    "package", "string", "Crate or package", required=True, max_length=300, aliases=("crate",)
)
#: The same where it may be left out.
ANY_PACKAGE = replace(PACKAGE, required=False, default="")
PACKAGES = Parameter("packages", "array", "Several", max_length=10, aliases=("crates",))
VERSION = Parameter("version", "string", "Exact or a range", default="", max_length=100)
LOCKFILE = Parameter("lockfile", "string", "Lock file's text", default="", max_length=LONGEST_FILE)
TARGET = Parameter(
    "target", "string", "Compilation target of a crate", default="", max_length=100, rare=True
)
#: Whose package is meant, in all tools; Rust's where it is left out.
LANGUAGE = Parameter("language", "string", "python, typescript", default="", max_length=20)


_ARTICLES: Mapping[Type, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
}


class _Refused(Exception):
    """The reason why a value is not accepted."""


def schema(
    parameters: Sequence[Parameter], *, plain: bool = False, brief: bool = False
) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of an object with these members and no others.

    Args:
        parameters: the members.
        plain: one type each; otherwise ``anyOf``, or where it is brief a list of types, says that
            a number, boolean or array may also come as a string.
        brief: leave out what guards rather than guides: lengths, patterns, a minimum of 1, how
            many there may be, long lists of choices, arrays as strings, what is rare, aliases and
            synonyms. Models pay for what they read; the check is the same.
    """
    required = [each.name for each in parameters if each.required and (brief or not each.aliases)]
    properties = {
        name: _property(each, plain=plain, brief=brief)
        for each in parameters
        if not (brief and each.rare)
        for name in (each.name, *(() if brief else each.aliases))
    }
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        # The check refuses what is not known, and says what is.
        **({} if brief else {"additionalProperties": False}),
    }


def _property(parameter: Parameter, *, plain: bool, brief: bool) -> dict[str, Any]:
    alternatives = [_typed(parameter, brief=brief)]
    as_string: dict[str, dict[str, Any]] = {
        "integer": {"type": "string", "pattern": f"^{INTEGER.pattern}$"},
        "number": {"type": "string", "pattern": f"^{_NUMBER.pattern}$"},
        "boolean": {"type": "string", "enum": ["true", "false"]},
        "array": {"type": "string"},
    }
    if not plain and parameter.type in as_string and not (brief and parameter.type == "array"):
        alternatives.append({"type": "string"} if brief else as_string[parameter.type])
    shape = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    if brief and len(alternatives) > 1:
        shape = {**alternatives[0], "type": [parameter.type, "string"]}
    # An empty or false default is what leaving it out means anyway.
    default = {"default": parameter.default} if parameter.default else {}
    described = {"description": parameter.description} if parameter.description else {}
    return {**shape, **described, **default}


def _typed(parameter: Parameter, *, brief: bool) -> dict[str, Any]:
    minimum = None if brief and parameter.minimum == 1 else parameter.minimum
    maximum = None if brief and parameter.type == "integer" else parameter.maximum
    bounds = {"minimum": minimum, "maximum": maximum}
    typed: dict[str, Any] = {"type": parameter.type}
    typed |= {key: bound for key, bound in bounds.items() if bound is not None}
    shown = parameter.choices if not brief or len(parameter.choices) <= _MANY_CHOICES else ()
    further = () if brief else parameter.synonyms
    choices = {"enum": [*shown, *further]} if shown else {}
    if parameter.type == "array":
        typed["items"] = {"type": parameter.items, **choices}
    else:
        typed |= choices
    stated = parameter.max_length or not parameter.choices
    if stated and parameter.longest is not None and parameter.type != "object" and not brief:
        typed["maxItems" if parameter.type == "array" else "maxLength"] = parameter.longest
    return typed


class Check:
    """The check of what callers send to one tool, as :func:`validate` does it.

    Args:
        parameters: the tool's.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = parameters
        self._by_name = {name: each for each in parameters for name in (each.name, *each.aliases)}
        self._required = {each.name for each in parameters if each.required}
        self._defaults = {each.name: each.default for each in parameters}

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every parameter: converted, or its default.

        Raises:
            InvalidParameter: as :func:`validate` does.
        """
        given: dict[str, Any] = {}
        for name, value in arguments.items():
            parameter = self._by_name.get(name)
            if parameter is None or parameter.name in given:
                # It is refused, or came under two names.
                return validate(self._parameters, arguments)
            if value is not None:
                try:
                    given[parameter.name] = _accept(parameter, value)
                except _Refused:
                    return validate(self._parameters, arguments)
        if not given.keys() >= self._required:
            return validate(self._parameters, arguments)
        return {**self._defaults, **given}


def validate(parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check and convert what a caller sent.

    Returns:
        A value for every parameter: converted, or its default. A null counts as left out.

    Raises:
        InvalidParameter: names the first problem; when there are more, ``problems`` in its body
            lists them all.
    """
    known = {each.name: each for each in parameters}
    names = {name: each for each in parameters for name in (each.name, *each.aliases)}
    problems = [(name, _unknown(name, list(known))) for name in arguments if name not in names]
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        given = [
            each for each in (name, *parameter.aliases) if arguments.get(each) is not None
        ] or [name]
        try:
            _check_single(given, arguments)
            values[name] = _accept(parameter, arguments.get(given[0]))
        except _Refused as refused:
            problems.append((given[0], str(refused)))
    if problems:
        error = InvalidParameter(*problems[0])
        if len(problems) > 1:
            error.details["problems"] = [{"field": f, "reason": r} for f, r in problems]
        raise error
    return values


def _unknown(name: str, known: list[str]) -> str:
    near = similar_names(name, known, most=1)
    hint = f"did you mean {near[0][0]!r}? " if near else ""
    return f"unknown parameter; {hint}known are {', '.join(known) or 'none'}"


def _check_single(given: Sequence[str], arguments: Mapping[str, Any]) -> None:
    """Refuse a parameter that came under two of its names with different values."""
    if any(arguments[each] != arguments[given[0]] for each in given[1:]):
        raise _Refused(f"give one of {', '.join(given)}, which mean the same")


def _accept(parameter: Parameter, value: Any) -> Any:
    if value is None:
        if parameter.required:
            reason = parameter.description or f"give it as {_ARTICLES[parameter.type]}"
            raise _Refused(f"is required: {reason}")
        return parameter.default
    if parameter.joined and isinstance(value, list):
        value = ",".join(_convert("string", each) for each in value)
    converted = _convert(parameter.type, value)
    if parameter.type == "array":
        converted = [_convert(parameter.items, each) for each in converted]
    if parameter.synonyms:
        converted = _without_synonyms(parameter, converted)
    _check_bounds(parameter, converted)
    return converted


def _without_synonyms(parameter: Parameter, value: Any) -> Any:
    """Return a string, or the elements of an array, as the choices are spelled."""
    if parameter.type == "array":
        return [parameter.synonyms.get(each, each) for each in value]
    return parameter.synonyms.get(value, value)


def _convert(kind: Type, value: Any) -> Any:
    """Convert a value to the type it is declared to have."""
    match kind, value:
        case "string", str():
            return _text(value)
        case _, str():
            return _from_text(kind, value)
        case "boolean", bool():
            return value
        case (("integer" | "number"), bool()):
            pass
        case "integer", int() | float() if abs(value) < LIMIT and value == int(value):
            return int(value)
        case "number", int() | float() if abs(value) < LIMIT:
            return value
        case ("array", list()) | ("object", dict()):
            return value
    raise _mistyped(kind, value)


def _from_text(kind: Type, value: str) -> Any:
    """Convert a number, boolean, array or object that came as a string."""
    text = value.strip()
    if kind == "integer" and INTEGER.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text):
        return float(text)
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "array":
        return _split(text)
    if kind == "object" and isinstance(parsed := _parsed(text), dict):
        return parsed
    raise _mistyped(kind, value)


def _mistyped(kind: Type, value: Any) -> _Refused:
    article = "an" if kind[0] in "aio" else "a"
    return _Refused(f"must be {article} {kind}, not {_describe_type(value)}")


def _text(value: str) -> str:
    """Refuse half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
    if not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
        raise _Refused("must be valid Unicode; it has half of a surrogate pair")
    return value


def _as_json(value: Mapping[str, Any]) -> str:
    """Return an object as JSON; refuse what no JSON in UTF-8 can hold, however deep it stands."""
    try:
        return _text(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, RecursionError):
        raise _Refused("must be plain JSON: no NaN or Infinity, and nested less deep") from None


def _split(value: str) -> list[Any]:
    """Split ``a, b`` or ``["a", "b"]``, which some clients send for arrays."""
    if value.startswith("[") and isinstance(parsed := _parsed(value), list):
        return parsed
    return [part.strip() for part in value.split(",") if part.strip()]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _check_bounds(parameter: Parameter, value: Any) -> None:
    if parameter.minimum is not None and value < parameter.minimum:
        raise _Refused(f"must be at least {parameter.minimum:g}, not {value}")
    if parameter.maximum is not None and value > parameter.maximum:
        raise _Refused(f"must be at most {parameter.maximum:g}, not {value}")
    if parameter.longest is not None:
        length = len(_as_json(value) if parameter.type == "object" else value)
        if length > parameter.longest:
            unit = "elements" if parameter.type == "array" else "characters"
            raise _Refused(f"must have at most {parameter.longest} {unit}, not {length}")
    for each in value if parameter.type == "array" else [value]:
        if parameter.type == "array" and isinstance(each, str) and len(each) > _LONGEST_ELEMENT:
            reason = f"must have elements of at most {_LONGEST_ELEMENT} characters"
            raise _Refused(f"{reason}, not {len(each)}")
        if parameter.choices and each not in parameter.choices:
            near = similar_names(str(each), parameter.choices, most=1)
            hint = f"; did you mean {near[0][0]!r}?" if near else ""
            raise _Refused(f"must be one of {', '.join(filter(None, parameter.choices))}{hint}")


def _describe_type(value: Any) -> str:
    """Describe a value's type as its caller would; short strings are shown."""
    match value:
        case bool():
            return "a boolean"
        case str():
            return f"{value[:40]!r}"
        case int() | float():
            return f"{value}" if abs(value) < LIMIT else "a number out of range"
        case None:
            return "null"
        case list():
            return "an array"
        case _:
            return "an object"


def find_stowed(library: Library, name: str, arguments: Mapping[str, Any]) -> ResolvedVersion:
    """Return the crate in the version that the caller asked for, by number or by lock file.

    Args:
        library: where crates are found.
        name: the crate or package.
        arguments: with ``version`` and ``lockfile``, ``language`` where it is not Rust, and
            ``target`` where the tool has one.
    """
    version, lockfile = arguments["version"].strip(), arguments["lockfile"]
    target = arguments.get("target", "").strip()
    if version and lockfile:
        raise InvalidParameter("lockfile", "give either version or lockfile, not both")
    if (language := language_of(arguments)).packaged:
        if target:
            raise InvalidParameter("target", "is for crates")
        lock = find_locked(lockfile, name, language)
        found = library.package(language, name, lock.version if lock else version)
        return with_lock_notice(found, lock)
    if not lockfile:
        return library.crate(name, version, target)
    lock = find_locked(lockfile, name)
    return with_lock_notice(library.crate(name, lock.version if lock else "", target), lock)


def with_package(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments with the name of its package alone.

    A language or version that the caller wrote with the name, as in ``npm:react@^19``, is put
    where the tool expects it. Without a package the arguments are returned as they are.

    Args:
        arguments: checked.

    Raises:
        InvalidParameter: it contradicts ``language`` or the version, or the tool has no use for it.
    """
    if not arguments.get(PACKAGE.name):
        return arguments
    found = languages.parse_package(arguments[PACKAGE.name], PACKAGE.name)
    placed = {**arguments, PACKAGE.name: found.name}
    if found.language is not None:
        if "language" not in arguments and found.language.packaged:
            raise InvalidParameter(PACKAGE.name, "must be a Rust crate: this tool reads no others")
        if arguments.get("language") and language_of(arguments) is not found.language:
            raise InvalidParameter("language", f"contradicts {arguments[PACKAGE.name]!r}")
        placed["language"] = arguments.get("language") or found.language.name
    if found.requirement:
        slot = next((each for each in _VERSIONS if each in arguments), "")
        if not slot:
            raise InvalidParameter(PACKAGE.name, "must be a name without a version")
        if arguments[slot].strip() not in ("", found.requirement):
            raise InvalidParameter(slot, f"contradicts {arguments[PACKAGE.name]!r}")
        placed[slot] = found.requirement
    return placed


def language_of(arguments: Mapping[str, Any]) -> Language:
    """Return the language whose packages are meant.

    Raises:
        InvalidParameter: there is no such language.
    """
    name = (arguments.get("language") or languages.RUST.name).strip().lower()
    language = languages.of_name(name)
    if language is None or not language.documented:
        known = ", ".join(languages.names())
        raise InvalidParameter("language", f"must be one of {known}, not {name!r}")
    return language


def find_locked(
    lockfile: str, name: str, language: Language = languages.RUST
) -> LockedVersion | None:
    """Return what a lock file says of a crate or package; None without one.

    None as well for the standard library: no lock file names that, and a caller may give the same
    one with every call.

    Raises:
        InvalidParameter: the text is no lock file, or has no such package.
    """
    if not lockfile:
        return None
    from docstow.languages.projects.lock_text import parse_lock
    from docstow.languages.rust.cargo_lock import parse

    if language.packaged:
        return parse_lock(lockfile, language).locked(name)
    if name.replace("-", "_") in STANDARD:
        return None
    return parse(lockfile).locked(name)


def with_lock_notice(found: ResolvedVersion, locked: LockedVersion | None) -> ResolvedVersion:
    """Return the same, saying that a lock file decided."""
    if locked is None:
        return found
    notice = "; ".join(filter(None, (found.notice, locked.notice(found.name))))
    return replace(found, asked=f"lockfile: {locked.version}", notice=notice)
