"""Descriptions of HTTP APIs as pages: OpenAPI 3 and Swagger 2, in JSON or YAML.

https://spec.openapis.org/oas/v3.1.0 and https://spec.openapis.org/oas/v2.0: one page for the API,
and one for each operation with its parameters, body and responses. References are resolved inside
the file alone, to a bounded depth; what is cut off is named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from docstow.core.errors import UnreadableInput
from docstow.core.model import File
from docstow.core.patterns import lazy_pattern
from docstow.formats import Page, default_title
from docstow.text.decoding import decode

#: https://www.iana.org/assignments/media-types: the registered type, of both syntaxes here.
MEDIA_TYPE = "application/openapi+yaml"
SUFFIXES = frozenset({".json", ".yaml", ".yml"})

_SIGN = lazy_pattern(rb"\b(?:openapi|swagger)[\"']?\s*:\s*[\"']?(?:2\.0|3\.\d)")
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_MOST_OPERATIONS = 3000
#: Lines of schemas on one page, and how deep they are nested.
_MOST_LINES, _DEEPEST = 300, 6
#: References that are followed from one to the next.
_MOST_REFERENCES = 20
_LONGEST_TEXT, _LONGEST_VALUE, _LONGEST_EXAMPLE = 20_000, 200, 4000
_MOST_VALUES = 50
#: Values of a file, and how deep they are nested.
_MOST_VALUES_IN_ALL, _DEEPEST_VALUE = 3_000_000, 200
#: Schemas that are looked at for one operation, and for all.
_MOST_STEPS, _MOST_STEPS_IN_ALL = 4000, 400_000
_WORD = lazy_pattern(r"[^\W_]+")
_HEADING = lazy_pattern(r"^(#{1,6})(?=\s)")
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "multipleOf": "a multiple of",
    "minLength": "shortest:",
    "maxLength": "longest:",
    "pattern": "pattern:",
    "minItems": "fewest:",
    "maxItems": "most:",
}


def is_description(body: bytes) -> bool:
    """Return whether a file may describe an API; :func:`read` tells for certain."""
    return _SIGN.search(body) is not None


def read(file: File) -> dict[str, Page]:
    """Return the pages of a description by the fragment of each: ``#/paths/~1pets/get``.

    The page of the whole comes first, under the empty fragment.

    Args:
        file: with its body, in JSON or YAML.

    Raises:
        UnreadableInput: it is neither, or describes no API.
    """
    from docstow.formats import markdown

    whole = _parse(decode(file.body, "", name=file.path), file.path)
    version = str(whole.get("openapi") or whole.get("swagger") or "")
    if version[:2] not in {"2.", "3."}:
        raise UnreadableInput(f"{file.path} describes no API: it has no version of OpenAPI.")
    pages = {fragment: markdown.read(text, file) for fragment, text in _Api(whole, file).texts()}
    counted = {fragment: len(_WORD.findall(page.text)) for fragment, page in pages.items()}
    return {
        fragment: replace(page, words=counted[fragment], kept=counted[fragment])
        for fragment, page in pages.items()
    }


def _parse(text: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except RecursionError:
        raise UnreadableInput(f"{name} is nested too deeply.") from None
    except ValueError:
        found = _parse_yaml(text, name)
    _check_size(found, name)
    return _mapping(found)


def _parse_yaml(text: str, name: str) -> Any:
    """Return the value of the first document; scalars stay texts.

    A date or an octal number is not to be guessed at, and the library's own loaders recur.
    """
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    anchors: dict[str, Any] = {}
    holders: list[Any] = [[]]
    keys: list[Any] = [None]
    try:
        for event in yaml.parse(text, loader):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.CollectionEndEvent):
                holders.pop()
                keys.pop()
                continue
            if isinstance(event, yaml.AliasEvent):
                value = anchors.get(str(event.anchor), "")
            elif isinstance(event, yaml.ScalarEvent):
                value = event.value
            elif isinstance(event, yaml.CollectionStartEvent):
                value = {} if isinstance(event, yaml.MappingStartEvent) else []
            else:
                continue
            if not isinstance(event, yaml.AliasEvent) and event.anchor:
                anchors[event.anchor] = value
            keys[-1] = _put(holders[-1], keys[-1], value)
            if isinstance(event, yaml.CollectionStartEvent):
                if len(holders) > _DEEPEST_VALUE:
                    raise UnreadableInput(f"{name} is nested too deeply.")
                holders.append(value)
                keys.append(None)
    except yaml.YAMLError as error:
        told = getattr(error, "problem", None) or "damaged"
        raise UnreadableInput(f"{name} is neither JSON nor YAML ({told}).") from error
    return next(iter(holders[0]), None)


def _put(holder: Any, key: Any, value: Any) -> Any:
    """Add a value to a list, or a key or its value to a mapping; return the key that waits."""
    if isinstance(holder, list):
        holder.append(value)
        return None
    if key is None:
        return value if isinstance(value, str) else ""
    if key == "<<":
        for each in value if isinstance(value, list) else [value]:
            for name, inherited in list(_mapping(each).items()):
                holder.setdefault(name, inherited)
    else:
        holder[key] = value
    return None


def _check_size(whole: Any, name: str) -> None:
    """Refuse what is nested too deeply, or expands: an alias of YAML may stand for much.

    Raises:
        UnreadableInput: it has too many values, each counted as often as it is shown.
    """
    waiting, left = [(whole, 0)], _MOST_VALUES_IN_ALL
    while waiting:
        value, depth = waiting.pop()
        inner = value.values() if isinstance(value, dict) else value
        if isinstance(inner, str) or not hasattr(inner, "__len__"):
            continue
        left -= len(inner)
        if left < 0 or depth > _DEEPEST_VALUE:
            raise UnreadableInput(f"{name} is nested too deeply, or expands without end.")
        waiting += [(each, depth + 1) for each in inner]


class _Api:
    """One description.

    Args:
        whole: the parsed file.
        file: where it is from.
    """

    def __init__(self, whole: dict[str, Any], file: File) -> None:
        self._whole = whole
        info = _mapping(whole.get("info"))
        self._name = _line(info.get("title")) or default_title(file)
        self._info = info
        self._steps_left = _MOST_STEPS_IN_ALL

    def take_step(self) -> bool:
        """Count a schema that is looked at; return False where there were too many."""
        self._steps_left -= 1
        return self._steps_left >= 0

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield fragments with Markdown."""
        operations = list(self._operations())
        yield "", "\n\n".join(self._front(operations))
        for fragment, method, path, shared, operation in operations[:_MOST_OPERATIONS]:
            yield fragment, _Operation(self, method, path, shared, operation).text()

    def resolved(self, value: Any) -> tuple[dict[str, Any], str]:
        """Return what a value or the reference in it stands for, and the reference; empty if none.

        A reference that leads nowhere, in a circle or out of the file gives an empty mapping.
        """
        named, first = _mapping(value), ""
        for _ in range(_MOST_REFERENCES):
            reference = named.get("$ref")
            if not isinstance(reference, str):
                return named, first
            first = first or reference
            beside = {name: each for name, each in named.items() if name != "$ref"}
            # From 3.1 on a description beside a reference replaces that of its target.
            named = {**_mapping(self._target(reference)), **beside}
        return {}, first

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            return None
        place: Any = self._whole
        for part in reference[2:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and name.isascii() and name.isdigit():
                place = place[int(name)] if int(name) < len(place) else None
            else:
                place = _mapping(place).get(name)
        return place

    @property
    def name(self) -> str:
        """What the API is called."""
        return self._name

    def consumes(self, operation: Mapping[str, Any], name: str) -> str:
        """Return the media types of an operation of Swagger 2 (``consumes``, ``produces``)."""
        listed = _list(operation.get(name)) or _list(self._whole.get(name))
        return ", ".join(f"`{_code(each)}`" for each in listed)

    def security(self, operation: Mapping[str, Any]) -> list[str]:
        """Return a line for each way to be let in."""
        wanted = operation.get("security", self._whole.get("security"))
        ways = []
        for each in _list(wanted):
            names = [
                f"`{_code(name)}`" + (f" ({', '.join(map(_line, scopes))})" if scopes else "")
                for name, scopes in ((n, _list(s)) for n, s in _mapping(each).items())
            ]
            ways.append(" and ".join(names) or "none")
        return ways

    def _operations(self) -> Iterator[tuple[str, str, str, list[Any], dict[str, Any]]]:
        for group in ("paths", "webhooks"):
            for path, value in _mapping(self._whole.get(group)).items():
                item, _ = self.resolved(value)
                for method in _METHODS:
                    if isinstance(item.get(method), dict):
                        escaped = path.replace("~", "~0").replace("/", "~1")
                        shared = _list(item.get("parameters"))
                        place = f"#/{group}/{escaped}/{method}"
                        yield place, method, path, shared, item[method]

    def _front(self, operations: Sequence[tuple[str, str, str, list[Any], Any]]) -> Iterator[str]:
        info = self._info
        yield f"# {self._name}"
        told = [f"Version {_line(info['version'])}"] if info.get("version") else []
        plural = "" if len(operations) == 1 else "s"
        yield " · ".join([*told, f"{len(operations)} operation{plural}"])
        yield _prose(info.get("description"), 1)
        if servers := list(self._servers()):
            yield "## Servers"
            yield "\n".join(servers)
        components = _mapping(self._whole.get("components"))
        schemes = components.get("securitySchemes") or self._whole.get("securityDefinitions")
        if _mapping(schemes):
            yield "## Security"
            yield "\n".join(self._scheme(*each) for each in _mapping(schemes).items())
        if operations:
            yield "## Operations"
            yield "\n".join(
                f"- `{method.upper()} {_code(path)}`: {_line(each.get('summary'))}".rstrip(": ")
                for _, method, path, _, each in operations
            )
        if len(operations) > _MOST_OPERATIONS:
            yield f"The first {_MOST_OPERATIONS} operations have pages of their own."

    def _servers(self) -> Iterator[str]:
        for each in _list(self._whole.get("servers")):
            told = _line(_mapping(each).get("description"))
            yield f"- `{_code(_mapping(each).get('url', ''))}`{': ' if told else ''}{told}"
        if host := self._whole.get("host"):
            scheme = next(iter(_list(self._whole.get("schemes"))), "https")
            yield f"- `{_code(scheme)}://{_code(host)}{_code(self._whole.get('basePath', ''))}`"

    def _scheme(self, name: str, value: Any) -> str:
        scheme, _ = self.resolved(value)
        parts = [scheme.get("type"), scheme.get("scheme"), scheme.get("bearerFormat")]
        if scheme.get("in"):
            parts.append(f"{_line(scheme['in'])} `{_code(scheme.get('name', ''))}`")
        told = _line(scheme.get("description"))
        kind = ", ".join(_line(each) for each in parts if each)
        return f"- `{_code(name)}` ({kind}){': ' if told else ''}{told}"


class _Operation:
    """One operation of an API."""

    def __init__(
        self, api: _Api, method: str, path: str, shared: list[Any], operation: dict[str, Any]
    ) -> None:
        self._api = api
        self._line = f"{method.upper()} {_code(path)}"
        self._operation = operation
        self._lines_left, self._steps_left = _MOST_LINES, _MOST_STEPS
        self._cut = False
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for each in (*shared, *_list(operation.get("parameters"))):
            parameter, _ = api.resolved(each)
            found[str(parameter.get("in")), str(parameter.get("name"))] = parameter
        self._parameters = found

    def text(self) -> str:
        """Return the page as Markdown."""
        return "\n\n".join(part for part in self._parts() if part) + "\n"

    def _parts(self) -> Iterator[str]:
        operation = self._operation
        identity = _line(operation.get("operationId"))
        yield f"# {_line(operation.get('summary')) or identity or self._line}"
        tags = ", ".join(map(_line, _list(operation.get("tags"))))
        told = [f"`{self._line}`", f"`{_code(identity)}`" if identity else "", tags]
        yield " · ".join([*filter(None, told), self._api.name])
        if _true(operation.get("deprecated")):
            yield "**Deprecated.**"
        yield _prose(operation.get("description"), 1)
        plain = [
            each
            for (place, _), each in self._parameters.items()
            if place not in ("body", "formData")
        ]
        if plain:
            yield "## Parameters"
            yield "\n".join(line for each in plain for line in self._parameter(each))
        yield from self._body()
        responses = _mapping(operation.get("responses"))
        if responses:
            yield "## Responses"
        for status, value in responses.items():
            yield from self._response(status, value)
        if ways := self._api.security(operation):
            yield "## Security"
            yield "\n".join(f"- {way}" for way in ways)
        if self._cut:
            yield "Deeper or further parts of the schemas are left out here; the file has them."

    def _take_step(self) -> bool:
        self._steps_left -= 1
        if self._steps_left < 0 or not self._api.take_step():
            self._cut = True
            return False
        return True

    def _parameter(self, parameter: Mapping[str, Any]) -> Iterator[str]:
        # Swagger 2 has the members of the schema in the parameter itself.
        schema = parameter.get("schema", parameter)
        content = list(_mapping(parameter.get("content")).values())
        schema = _mapping(content[0]).get("schema") if content else schema
        place = _line(parameter.get("in"))
        yield from self._member(
            str(parameter.get("name", "")),
            schema,
            required=_true(parameter.get("required")),
            depth=0,
            above=(),
            place=place,
            told=_line(parameter.get("description")),
        )

    def _body(self) -> Iterator[str]:
        body, _ = self._api.resolved(self._operation.get("requestBody"))
        fields = [each for (place, _), each in self._parameters.items() if place == "formData"]
        whole = [each for (place, _), each in self._parameters.items() if place == "body"]
        if not body and not fields and not whole:
            return
        yield "## Request body"
        required = _true((whole[0] if whole else body).get("required"))
        told = (whole[0] if whole else body).get("description")
        yield " ".join(filter(None, ["Required." if required else "", _prose(told, 2)]))
        yield from self._content(body)
        if whole or fields:
            yield self._api.consumes(self._operation, "consumes")
        for each in whole:
            yield self._schema(each.get("schema"))
        yield "\n".join(line for each in fields for line in self._parameter(each))

    def _response(self, status: str, value: Any) -> Iterator[str]:
        response, _ = self._api.resolved(value)
        yield f"### {_line(status)}"
        yield _prose(response.get("description"), 3)
        headers = _mapping(response.get("headers"))
        if headers:
            yield "Headers:"
            yield "\n".join(
                line
                for name, each in headers.items()
                for line in self._parameter({**self._api.resolved(each)[0], "name": name})
            )
        yield from self._content(response)
        if "schema" in response:
            yield self._api.consumes(self._operation, "produces")
            yield self._schema(response["schema"])

    def _content(self, holder: Mapping[str, Any]) -> Iterator[str]:
        met: list[Any] = []
        for media_type, value in _mapping(holder.get("content")).items():
            content = _mapping(value)
            # The same schema in JSON and XML is written once.
            if content.get("schema") in met:
                yield f"`{_code(media_type)}`: the same."
                continue
            met.append(content.get("schema"))
            yield f"`{_code(media_type)}`: {self._type(content.get('schema'))}"
            yield self._schema(content.get("schema"), named=False)
            yield self._example(content)

    def _example(self, content: Mapping[str, Any]) -> str:
        from docstow.formats.markdown.blocks import fence

        named = [self._api.resolved(each)[0] for each in _mapping(content.get("examples")).values()]
        example = content.get("example", next((e["value"] for e in named if "value" in e), None))
        if example is None:
            return ""
        text = example if isinstance(example, str) else json.dumps(example, indent=2)
        if len(text) > _LONGEST_EXAMPLE:
            self._cut = True
            return ""
        return f"Example:\n\n{fence(text, '' if isinstance(example, str) else 'json')}"

    def _schema(self, value: Any, *, named: bool = True) -> str:
        """Return a schema as a list of its members, below its type."""
        lines = list(self._members(value, 0, ()))
        head = self._type(value) if named and value is not None else ""
        return "\n\n".join(filter(None, [head, "\n".join(lines)]))

    def _members(self, value: Any, depth: int, above: tuple[str, ...]) -> Iterator[str]:
        """Yield lines for the properties of a schema, or of its items or choices."""
        if not self._take_step():
            return
        schema, reference = self._api.resolved(value)
        if reference in above or depth > _DEEPEST:
            self._cut = self._cut or (depth > _DEEPEST and _has_members(schema))
            return
        above = (*above, reference) if reference else above
        required = set(map(str, _list(schema.get("required"))))
        for name, each in _mapping(schema.get("properties")).items():
            if self._lines_left <= 0:
                self._cut = True
                return
            yield from self._member(name, each, required=name in required, depth=depth, above=above)
        for each in _list(schema.get("allOf")):
            yield from self._members(each, depth, above)
        for word in ("items", "additionalProperties"):
            if isinstance(schema.get(word), dict):
                yield from self._members(schema[word], depth, above)
        for word in ("oneOf", "anyOf"):
            for each in _list(schema.get(word)):
                if self._lines_left <= 0:
                    self._cut = True
                    return
                below = list(self._members(each, depth + 1, above))
                if below:
                    self._lines_left -= 1
                    yield f"{'  ' * depth}- {self._type(each)}:"
                    yield from below

    def _member(
        self,
        name: str,
        value: Any,
        *,
        required: bool,
        depth: int,
        above: tuple[str, ...],
        place: str = "",
        told: str = "",
    ) -> Iterator[str]:
        self._lines_left -= 1
        schema, _ = self._api.resolved(value)
        facts = [place, self._type(value), "required" if required else ""]
        facts += [
            word for word in ("readOnly", "writeOnly", "deprecated") if _true(schema.get(word))
        ]
        about = [told or _line(schema.get("description")), *_limits(schema)]
        sentence = " ".join(each if each[-1] in ".!?:" else f"{each}." for each in about if each)
        head = f"{'  ' * depth}- `{_code(name)}` ({', '.join(filter(None, facts))})"
        yield f"{head}: {sentence}" if sentence else head
        yield from self._members(value, depth + 1, above)

    def _type(self, value: Any, depth: int = 0) -> str:
        """Return the type of a schema in a few words."""
        schema, reference = self._api.resolved(value)
        name = reference.rpartition("/")[2] if reference else ""
        if not self._take_step():
            return f"`{_code(name)}`" if name else ""
        if reference and not schema:
            outside = (
                "" if reference.startswith("#") else f" of {_line(reference.partition('#')[0])}"
            )
            return f"`{_code(name)}`{outside}"
        kinds = schema.get("type")
        kind = " or ".join(map(_line, kinds)) if isinstance(kinds, list) else _line(kinds)
        if depth < _DEEPEST and ("items" in schema or kind == "array"):
            kind = f"array of {self._type(schema.get('items'), depth + 1) or 'anything'}"
        elif schema.get("format"):
            kind = f"{kind} {_line(schema['format'])}".strip()
        for word, joint in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
            if not kind and not name and depth < _DEEPEST and _list(schema.get(word)):
                parts = [self._type(e, depth + 1) for e in _list(schema[word])[:_MOST_VALUES]]
                kind = joint.join(filter(None, parts))
        if not kind and "properties" in schema:
            kind = "object"
        if _true(schema.get("nullable")):
            kind = f"{kind} or null"
        return (
            f"`{_code(name)}`" + (f", {kind}" if kind not in ("", "object") else "")
            if name
            else kind
        )


def _limits(schema: Mapping[str, Any]) -> Iterator[str]:
    values = _list(schema.get("enum"))
    if values:
        more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        yield f"One of {', '.join(map(_value, values[:_MOST_VALUES]))}{more}"
    if "const" in schema:
        yield f"Always {_value(schema['const'])}"
    bounds = [
        f"{words} {_value(schema[name])}"
        for name, words in _BOUNDS.items()
        if isinstance(schema.get(name), str | int | float) and not isinstance(schema[name], bool)
    ]
    if bounds:
        told = ", ".join(bounds)
        yield told[0].upper() + told[1:]
    for name in ("default", "example"):
        if name in schema:
            yield f"{name.capitalize()}: {_value(schema[name])}"


def _has_members(schema: Mapping[str, Any]) -> bool:
    names = ("properties", "allOf", "oneOf", "anyOf", "items")
    return any(schema.get(name) for name in names)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{_code(text)}`"


def _code(value: Any) -> str:
    """Return a text that can stand between backticks."""
    return _line(value).replace("`", "'")


def _line(value: Any) -> str:
    """Return a text or number as one line; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = " ".join(str(value).split())
    return f"{text[:_LONGEST_VALUE]}…" if len(text) > 10 * _LONGEST_VALUE else text


def _prose(value: Any, above: int) -> str:
    """Return a description, which is Markdown, with its headings below those of the page."""
    if not isinstance(value, str):
        return ""
    lines, fenced = [], False
    for line in value[:_LONGEST_TEXT].strip().split("\n"):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        match = None if fenced else _HEADING.match(line)
        lines.append("#" * min(6, len(match[1]) + above) + line[match.end() :] if match else line)
    return "\n".join([*lines, "```"] if fenced else lines)


def _true(value: Any) -> bool:
    return value is True or value == "true"


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
