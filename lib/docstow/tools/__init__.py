"""What a tool is, what its answers have in common, and the toolbox that every protocol serves.

Each tool or toolset has a module beside this one, which this one must not import.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from docstow.core import auth, logs
from docstow.core.errors import (
    DocstowError,
    Forbidden,
    InternalError,
    InvalidParameter,
    QuotaExceeded,
    SnapshotGone,
    StoreError,
    ToolNotFound,
    TooManyRequests,
    Unauthorized,
    internal_error,
)
from docstow.core.records import dataclass
from docstow.core.similar import similar_names
from docstow.core.threads import lazy
from docstow.store.heads import consistently
from docstow.store.objects import ReadOnlyStore
from docstow.text.paging import CHARACTERS_PER_TOKEN, count_lines, part
from docstow.tools.parameters import Check, Parameter, schema, validate, with_package

if TYPE_CHECKING:
    from docstow.core.visibility import Visibility
    from docstow.library import ResolvedVersion

log = logging.getLogger(__name__)

_T = TypeVar("_T")

#: What a caller is not allowed, by the codes of errors.
_REFUSALS = frozenset({Unauthorized.code, Forbidden.code, QuotaExceeded.code, TooManyRequests.code})
#: Arguments and fields that name a source, the most exact first.
_SOURCE_NAMES = ("source_id", "source", "collection", "uri", "package", "crate", "name", "job_id")


#: Asks the store for heads, catalogue and registry, whatever is cached of them.
_CONSISTENT = Parameter("consistent", "boolean", "See what was published just now", default=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returns: exactly one of a structured value, a text or raw content blocks.

    Attributes:
        structured: a complete JSON object, sent as it is.
        text: Markdown, for answers that are a page.
        content: MCP content blocks, for what is neither (images and the like).
    """

    structured: Mapping[str, Any] | None = None
    text: str = ""
    content: Sequence[Mapping[str, Any]] | None = None
    _rendered: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def render(self) -> str:
        """Return the answer as text: compact JSON of what is structured, else the text itself.

        It is made once: a toolbox renders each answer to see that it can be, and servers send it.
        """
        value = self.content if self.structured is None else self.structured
        if value is None:
            return self.text
        if not self._rendered:
            self._rendered.append(_compact(value))
        return self._rendered[0]


#: One encoder for all answers: `json.dumps` makes one for each.
_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: unique; ``[a-z_]``.
        toolset: the set a client selects it by.
        title: for people.
        description: for models; at most 200 tokens, ending in a short worked example.
        parameters: in the order in which they are shown.
        run: gets the checked arguments, every parameter present (its default where it was left
            out); raises :class:`DocstowError`. It is called from worker threads.
        output_schema: JSON Schema of :attr:`Answer.structured`; None for answers that are text.
        read_only: changes nothing.
        destructive: may delete or overwrite.
        idempotent: a second call with the same arguments changes nothing further.
        open_world: reaches beyond this server, say to an upstream.
        client_capabilities: MCP client capabilities without which it cannot run.
        http_only: listed over HTTP alone: for clients that connect in no other way.
        admin: what may lose others' work, so that a scope to write is not enough.
        slow: may take seconds; a server has threads for such calls alone, and a rate.
        foreign: reads code or packages of anybody; a server for many runs it in processes that it
            can end, and it is slow.
        aliases: further names by which it is called; they are not listed.
    """

    name: str
    toolset: str
    title: str
    description: str
    parameters: Sequence[Parameter]
    run: Callable[[Mapping[str, Any]], Answer]
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = True
    client_capabilities: Sequence[str] = ()
    http_only: bool = False
    admin: bool = False
    slow: bool = False
    foreign: bool = False
    aliases: Sequence[str] = ()

    @property
    def scope(self) -> str:
        """What a caller's credential must allow."""
        if self.admin:
            return auth.ADMIN
        return auth.READ if self.read_only else auth.WRITE

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which it is called."""
        return (self.name, *self.aliases)


class ToolGroup:
    """Tools that are made together when one of them is first wanted.

    A process that answers one call imports the module of that tool alone.

    Args:
        toolset: theirs.
        names: theirs with their aliases, in the order in which they are listed.
        make: imports what they need and makes them.

    Attributes:
        toolset: as given.
        names: as given.
    """

    def __init__(
        self, toolset: str, names: Sequence[str], make: Callable[[], Sequence[Tool]]
    ) -> None:
        self.toolset = toolset
        self.names = tuple(names)
        self._make = make

    @lazy
    def tools(self) -> tuple[Tool, ...]:
        """The tools themselves.

        Raises:
            ValueError: they are not those that were named.
        """
        made = tuple(self._make())
        names = tuple(name for tool in made for name in tool.names)
        if names != self.names or {tool.toolset for tool in made} != {self.toolset}:
            raise ValueError(f"{', '.join(self.names)} of {self.toolset} are named otherwise")
        return made


class Toolbox:
    """All tools of a server.

    Args:
        tools: in the order in which they are listed.
        default_toolsets: what a client gets that selects none; all of them when empty.
        observe: called after each call of a tool with its name, the seconds it took, and the code
            of the error that it ended in or nothing.
        apart: runs tools that are foreign elsewhere, given the name and what the caller sent; None
            where they run here.
        dropping: drop what third-party text speaks to an assistant, instead of marking it.

    Raises:
        ValueError: two tools have one name, or a default toolset has no tools.
    """

    def __init__(
        self,
        tools: Iterable[Tool | ToolGroup],
        *,
        default_toolsets: Sequence[str] = (),
        observe: Callable[[str, float, str], None] = lambda *_: None,
        apart: Callable[[str, Mapping[str, Any]], Answer] | None = None,
        dropping: bool = False,
    ) -> None:
        self._apart = apart
        self._dropping = dropping
        self._groups = tuple(
            ToolGroup(each.toolset, each.names, partial(tuple, (each,)))
            if isinstance(each, Tool)
            else each
            for each in tools
        )
        self.toolsets = tuple(dict.fromkeys(group.toolset for group in self._groups))
        self.default_toolsets = tuple(default_toolsets) or self.toolsets
        self._observe = observe
        named = [(name, group) for group in self._groups for name in group.names]
        self._by_name = dict(named)
        self._made: dict[str, Tool] = {}
        self._checks: dict[str, Check] = {}
        if len(self._by_name) < len(named):
            raise ValueError("two tools have the same name")
        if missing := set(self.default_toolsets) - set(self.toolsets):
            raise ValueError(f"default toolsets without tools: {', '.join(sorted(missing))}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools and their aliases; no tool is made to know them."""
        return tuple(self._by_name)

    @lazy
    def tools(self) -> tuple[Tool, ...]:
        """All tools, in the order in which they are listed."""
        return tuple(tool for group in self._groups for tool in group.tools)

    def get(self, name: str) -> Tool:
        """Return the tool of that name.

        Raises:
            ToolNotFound: there is none; near names are suggested.
        """
        if made := self._made.get(name):
            return made
        if group := self._by_name.get(name):
            self._made |= {each: tool for tool in group.tools for each in tool.names}
            return self._made[name]
        raise ToolNotFound(
            f"There is no tool {name!r}; there are {', '.join(self._by_name)}.",
            suggestions=[
                {"name": each, "score": score}
                for each, score in similar_names(name, self._by_name, most=3)
            ],
        )

    def offer(self, toolsets: Sequence[str]) -> None:
        """Offer these toolsets to clients that select none; ``all`` stands for every one.

        Raises:
            InvalidParameter: a toolset is not known.
        """
        chosen = self.toolsets if "all" in toolsets else tuple(toolsets)
        self.select(chosen)
        self.default_toolsets = chosen

    def select(self, toolsets: Iterable[str] = ()) -> tuple[Tool, ...]:
        """Return the tools of the named toolsets, in listing order; the default ones for no names.

        Raises:
            InvalidParameter: a toolset is not known.
        """
        chosen = tuple(toolsets) or self.default_toolsets
        for name in chosen:
            if name not in self.toolsets:
                known = ", ".join(self.toolsets)
                raise InvalidParameter("toolsets", f"unknown toolset {name!r}; known are {known}")
        chosen_groups = (group for group in self._groups if group.toolset in chosen)
        return tuple(tool for group in chosen_groups for tool in group.tools)

    def schema(self, tool: Tool, *, plain: bool = False, brief: bool = False) -> dict[str, Any]:
        """Return the JSON Schema 2020-12 of the tool's arguments.

        Args:
            tool: one of these tools.
            plain: single types, no anyOf.
            brief: only what a model needs to make a call; so without ``consistent``.
        """
        common = () if brief else (_CONSISTENT,)
        return schema((*tool.parameters, *common), plain=plain, brief=brief)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Check the arguments and run the tool.

        Raises:
            ToolNotFound: no such tool.
            Unauthorized, Forbidden: the caller's credential does not allow it.
            InvalidParameter: an argument is missing, unknown, of the wrong type or out of range.
            DocstowError: whatever the tool says.
        """
        tool = self.get(name)
        begun, error = time.perf_counter(), InternalError.code
        answer = Answer()
        try:
            auth.require(tool.scope)
            if (check := self._checks.get(tool.name)) is None:
                check = self._checks[tool.name] = Check(tool.parameters)
            if tool.foreign and self._apart is not None:
                _check(check, arguments)
                answer = self._apart(tool.name, arguments)
            else:
                answer = _run(tool, check, arguments, dropping=self._dropping)
            # An answer that cannot be written as JSON is the tool's fault, so it shows here.
            answer.render()
            error = ""
        except DocstowError as refused:
            from docstow.tools import screening

            error = refused.code
            screening.screen_error(refused, drop=self._dropping)
            raise
        finally:
            self._observe(tool.name, time.perf_counter() - begun, error)
            if not tool.read_only or error in _REFUSALS:
                source = _source_of(answer.structured or {}) or _source_of(arguments)
                logs.audit(tool.name, error or "done", source=source)
        return answer

    def attempt(
        self, name: str, arguments: Mapping[str, Any], request_id: str
    ) -> Answer | DocstowError:
        """Call a tool like :meth:`call`, for a protocol's outermost boundary; see :meth:`guard`."""
        return self.guard(partial(self.call, name, arguments), request_id, f"tool {name}")

    def guard(
        self, work: Callable[[], _T], request_id: str, what: str = "a read"
    ) -> _T | DocstowError:
        """Do work for a protocol's outermost boundary: errors are returned.

        A fault nobody foresaw is logged with its trace under the request's id, and the caller
        learns that id alone.

        Args:
            work: may raise anything.
            request_id: of the log.
            what: it is, for the log.
        """
        try:
            return work()
        except ReadOnlyStore as error:
            log.warning("%s, request %s: %s", what, request_id, error.message)
            return Forbidden(
                "The store of this server is read-only: it answers from what is there, and nothing"
                " can be added or changed."
            )
        except StoreError:
            # Its advice is for the operator, and names places that are no caller's business.
            log.exception("%s failed, request %s", what, request_id)
            return internal_error(request_id)
        except DocstowError as error:
            return error
        except Exception:
            log.exception("%s failed, request %s", what, request_id)
            return internal_error(request_id)


def _source_of(fields: Mapping[str, Any]) -> str:
    """Return the source that a call or its answer names first, as it is spelled there."""
    found = (fields[name] for name in _SOURCE_NAMES if isinstance(fields.get(name), str))
    return next(filter(None, found), "")


def _run(tool: Tool, check: Check, arguments: Mapping[str, Any], *, dropping: bool) -> Answer:
    """Run a tool; every one of them takes ``consistent`` beside its own arguments."""
    checked, consistent = _check(check, arguments)
    run = partial(_screened, tool, checked, dropping=dropping)
    if not consistent:
        try:
            return run()
        except SnapshotGone:
            # What it read was given up long ago: it begins again with what answers by now.
            if not tool.read_only:
                raise
    with consistently():
        return run()


def _screened(tool: Tool, arguments: Mapping[str, Any], *, dropping: bool) -> Answer:
    """Return a tool's answer, in which suspect texts of third parties are marked or dropped."""
    # Its tables are not needed to list tools.
    from docstow.tools import screening

    if not dropping:
        found = tool.run(arguments)
        if found.structured is None:
            return replace(found, text=screening.mark_text(found.text))
        shown = screening.mark(found.structured, found.render())
        return found if shown is found.structured else replace(found, structured=shown)
    with screening.dropping():
        found = tool.run(arguments)
        if found.structured is None:
            return replace(found, text=screening.clean_text(found.text))
        shown = screening.clean(
            found.structured, arguments, lambda further: tool.run(further).structured
        )
        return replace(found, structured=shown)


def _check(check: Check, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a tool's own arguments, checked, and whether ``consistent`` is wanted."""
    if _CONSISTENT.name not in arguments:
        return with_package(check(arguments)), False
    rest = dict(arguments)
    wish = {_CONSISTENT.name: rest.pop(_CONSISTENT.name)}
    checked = with_package(check(rest))
    return checked, bool(validate((_CONSISTENT,), wish)[_CONSISTENT.name])


@dataclass(slots=True)
class _Tally:
    """The calls of one tool."""

    calls: int = 0
    seconds: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Minute:
    """The calls of one minute: how many, the seconds they took, and how many ended in errors."""

    calls: int = 0
    seconds: float = 0.0
    errors: int = 0


#: For so many minutes each one's calls are counted.
_MINUTES_KEPT = 60
#: Of so many visibilities the calls are counted.
_TALLIES_KEPT = 256


class Metrics:
    """Counters of one process. Safe to share between threads.

    A caller that is bound to sources learns of calls that were bound to the same.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minutes: dict[tuple[Visibility | None, int], Minute] = {}
        self._lock = threading.Lock()
        self._tallies: OrderedDict[Visibility | None, dict[str, _Tally]] = OrderedDict()

    def observe(self, tool: str, seconds: float, error: str = "") -> None:
        """Count a call.

        Args:
            tool: its name, which must be a tool's.
            seconds: how long it took.
            error: the code of the error it ended in; empty where it was answered.
        """
        bound = auth.caller().bound
        with self._lock:
            for whose in {None, bound}:
                tally = self._tallies.setdefault(whose, {}).setdefault(tool, _Tally())
                self._tallies.move_to_end(whose)
                tally.calls += 1
                tally.seconds += seconds
                if error:
                    tally.errors[error] = tally.errors.get(error, 0) + 1
                minute = self._minutes.setdefault((whose, self._minute()), Minute())
                minute.calls += 1
                minute.seconds += seconds
                minute.errors += bool(error)
            self._forget_minutes()
            while len(self._tallies) > _TALLIES_KEPT:
                oldest = next(each for each in self._tallies if each is not None)
                del self._tallies[oldest]

    def _minute(self) -> int:
        return int(self._clock() // 60)

    def _forget_minutes(self) -> None:
        oldest = self._minute() - _MINUTES_KEPT
        if next(iter(self._minutes))[1] <= oldest:
            self._minutes = {key: each for key, each in self._minutes.items() if key[1] > oldest}

    def minutes(self) -> list[Minute]:
        """Return the calls of each minute of the last hour, the oldest first."""
        bound, now = auth.caller().bound, self._minute()
        with self._lock:
            return [
                replace(self._minutes.get((bound, minute), Minute()))
                for minute in range(now - _MINUTES_KEPT + 1, now + 1)
            ]

    def tools(self) -> dict[str, dict[str, Any]]:
        """Return by tool: ``calls``, ``seconds`` in sum, and ``errors`` by code."""
        with self._lock:
            return {
                tool: {
                    "calls": tally.calls,
                    "seconds": round(tally.seconds, 6),
                    "errors": dict(sorted(tally.errors.items())),
                }
                for tool, tally in sorted(self._tallies.get(auth.caller().bound, {}).items())
            }


# What answers have in common

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
#: Why third-party text of an answer or a result seems to speak to an assistant.
_REASONS = {"type": "array", "items": TEXT}
#: What stands where a text is cut, and the least that is left of one.
_CUT = "\n\n[…]"
_SHORTEST_TEXT = 100
#: Characters that "lines a-b of n" and the next cursor take at most.
_PAGE_LINE = 120
CURSOR_SCHEMA = {"type": ["string", "null"], "description": "give it back for the next page"}


def list_schema(result: Mapping[str, Any], **members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an answer with a list: provenance, ``results`` and ``cursor``.

    Args:
        result: schema of one result.
        members: further members of the answer.
    """
    return {
        "type": "object",
        "properties": {
            "crate": TEXT,
            "package": TEXT,
            "asked": TEXT,
            "answered": TEXT,
            "substituted": {"type": "boolean"},
            "snapshot": TEXT,
            "url": TEXT,
            "notice": TEXT,
            "suspect": _REASONS,
            **members,
            "results": {"type": "array", "items": result},
            "cursor": CURSOR_SCHEMA,
        },
        "required": ["asked", "answered", "substituted", "results", "cursor"],
    }


def result_schema(required: Mapping[str, Any], **optional: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one result."""
    return {
        "type": "object",
        "properties": {**required, **optional, "suspect": _REASONS},
        "required": list(required),
    }


def page_schema(required: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one page of a list of such results, with their total."""
    return {
        "type": "object",
        "properties": {
            "total": COUNT,
            "results": {"type": "array", "items": result_schema(required)},
            "cursor": {"type": ["string", "null"]},
        },
        "required": ["total", "results", "cursor"],
    }


def provenance(stowed: ResolvedVersion) -> dict[str, Any]:
    """Return which version was asked for, which one answers, and where it comes from."""
    members = {
        "crate": stowed.name,
        "package": stowed.name,
        "asked": stowed.asked,
        "answered": stowed.version,
        "substituted": stowed.substituted,
        "snapshot": stowed.snapshot.id,
        "url": stowed.snapshot.facts.get("url", ""),
    }
    notice = "; ".join(caveats(stowed))
    return members | ({"notice": notice} if notice else {})


def caveats(stowed: ResolvedVersion) -> list[str]:
    """Return what the caller should know of the answer's source."""
    notices = [stowed.notice] if stowed.notice else []
    if stowed.snapshot.facts.get("format_untested"):
        number = stowed.snapshot.facts.get("format_version")
        notices.append(f"its rustdoc format {number} is newer than those that docstow knows")
    if few := stowed.snapshot.facts.get("few_items"):
        notices.append(
            f"few items could be read: {few['items']} from {few['lines']} lines of code;"
            " read_package shows its files"
        )
    return notices


def provenance_line(stowed: ResolvedVersion, url: str) -> str:
    """Format the provenance of a page: one line of Markdown."""
    notice = "".join(f"; {each}" for each in caveats(stowed))
    place = f"<{url}> · " if url else ""
    return (
        f"*{stowed.name} {stowed.version} (asked: {stowed.asked}{notice}) · {place}"
        f"snapshot {stowed.snapshot.id[:12]} · third-party text*"
    )


def shortened(text: str, most: int) -> str:
    """Return a text cut to so many characters, with an ellipsis where it was longer."""
    return text if len(text) <= most else text[: most - 2] + " …"


def json_size(value: Any) -> int:
    """Return how many characters a value takes in an answer."""
    return len(_compact(value))


def fit(text: str, size: int) -> str:
    """Return as much of a Markdown text as takes so many characters in an answer.

    Where it is cut it ends in ``[…]``; line ends and quotes take two characters.
    """
    shown, most = text, size
    while (len(shown) > size or json_size(shown) > size) and most > _SHORTEST_TEXT:
        most = most * 9 // 10
        shown = part(text, 0, most).text.rstrip() + _CUT
    return shown


def paged(rows: Sequence[Any], cursor: str, scope: str, size: int = 100) -> dict[str, Any]:
    """Return ``results`` and ``cursor``: the page of a list that a cursor points to.

    Args:
        rows: the list, whole or at least one row longer than the page.
        cursor: from an earlier answer; empty for the first page.
        scope: what the list belongs to (a snapshot); a cursor of another scope is refused.
        size: rows a page.

    Raises:
        InvalidParameter: the cursor is not one of this scope.
    """
    begin = offset(cursor, scope)
    end = begin + size
    following = cursor_at(end, scope) if len(rows) > end else None
    return {"results": list(rows[begin:end]), "cursor": following}


@dataclass(frozen=True, slots=True)
class Numbering:
    """Lines of a file within a text.

    Attributes:
        at: the line of the text, from 1, that is the first of the file's.
        first: its number in the file.
        last: the number of the last one that the text has.
        total: how many the file has.
    """

    at: int
    first: int
    last: int
    total: int


def page_answer(
    head: str,
    text: str,
    arguments: Mapping[str, Any],
    scope: str,
    *,
    complete: bool = True,
    numbering: Numbering | None = None,
) -> Answer:
    """Return the page of a long text that a call's ``cursor`` points to, within its ``max_tokens``.

    Where it is not all there is, the first line says "lines a-b of n" and has the next cursor. The
    lines are those of the text, with fences that are opened again not counted, or of a file.

    Args:
        head: the line of provenance above every page; may be empty.
        text: the whole Markdown, or, if not ``complete``, more than the page.
        arguments: the call's, with ``cursor`` and ``max_tokens``.
        scope: what the text belongs to, as for :func:`paged`.
        complete: whether the text is all there is.
        numbering: of the file that the text shows.

    Raises:
        InvalidParameter: the cursor is not one of this text.
    """
    begin = offset(arguments["cursor"], scope)
    if begin and begin >= len(text):
        raise _foreign_cursor()
    limit = arguments["max_tokens"] * CHARACTERS_PER_TOKEN
    head = shortened(head, limit // 2)
    if complete and not begin and len(head) + len(text) + 2 <= limit:
        return Answer(text=f"{head}\n\n{text}" if head else text)
    found = part(text, begin, limit - len(head) - _PAGE_LINE)
    numbers = numbering or Numbering(1, 1, count_lines(text), count_lines(text))
    first, last = (
        min(max(each - numbers.at + numbers.first, numbers.first), numbers.last)
        for each in (found.first, found.last)
    )
    facts = [head, f"lines {first}-{last}" + (f" of {numbers.total}" if complete else "")]
    if found.following is not None:
        facts.append(f"next cursor: `{cursor_at(found.following, scope)}`")
    return Answer(text=f"{' · '.join(filter(None, facts))}\n\n{found.text}")


def cursor_at(begin: int, scope: str) -> str:
    """Make a cursor that :func:`offset` reads."""
    return base64.urlsafe_b64encode(json.dumps([begin, _scope_digest(scope)]).encode()).decode()


def offset(cursor: str, scope: str) -> int:
    """Return where the page of a cursor begins."""
    if not cursor:
        return 0
    try:
        begin, of = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, TypeError):
        begin, of = None, None
    if type(begin) is not int or begin < 0 or of != _scope_digest(scope):
        raise _foreign_cursor()
    return begin


def _foreign_cursor() -> InvalidParameter:
    return InvalidParameter(
        "cursor", "is not a cursor of this list, or the docs have changed; start without it"
    )


def _scope_digest(scope: str) -> str:
    """Return a scope of any length in a few characters, since clients send cursors back."""
    return hashlib.sha256(scope.encode()).hexdigest()[:16]
