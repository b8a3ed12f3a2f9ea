"""What is bound to sources sees no trace of others by any route, page, form or method of MCP.

The routes are those that the application has, the methods, forms and queries those that its code
reads: whoever adds one has it asked here. Each must answer alike in a store that has the secret
sources and in one that never had; and one that shows its owner nothing of them, either, is named
below, since a probe that reaches nothing proves nothing.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from starlette.responses import Response
from starlette.routing import Route

from docstow.runtime import Runtime
from docstow.server import mcp, web
from docstow.server.compat.registry import SYSTEMS
from docstow.server.mcp import Reply
from docstow.server.rest import ROUTES
from docstow.server.sessions import is_page
from docstow.tools import Tool, Toolbox
from servers.web import serve
from tenants import SECRET, TOKENS, WORD, Known, masked, probes

#: What shows nothing of what is stowed, whoever asks, or no more than was asked for; a package with
#: a scope is not among the secret ones.
SAYS_NOTHING = {
    *("/health", "/commands", "/openapi.json", "/mcp/manifest", "/compat/context6/healthz"),
    *("/mcp", "/mcp/", "/compat/rusty-memory/metrics"),
    *(f"/compat/{name}/mcp{end}" for name in SYSTEMS for end in ("", "/")),
    *("/ui/static/{name}", "/ui/login", "/ui/connect", "/ui/check"),
    "/ui/{language}/@{scope}/{name}/{version}/{path:path}",
    "/ui/{language}/@{scope}/{name}/{version}",
}
#: What parts of a path may be beside what is secret.
PARTS = {"language": ("rust", "python"), "version": ("latest", "0.1.0"), "name": (SECRET,)}
#: Another word for each of these in a query, where a secret one would be refused at once.
PLAIN: tuple[dict[str, str], ...] = (
    {},
    {"language": "rust"},
    {"language": "python"},
    {"in": "pages"},
    {"in": "items"},
    {"from": "0.1.0", "to": "0.1.0"},
)
#: What is secret in a path of several parts.
FEW = (SECRET, f"{SECRET}::Hold", "moor", "Hold")
_RANDOM = re.compile(r"docstow_[\w-]{20,}|\b[0-9a-f]{64}\b")
#: Times of day, and milliseconds of a call.
_CLOCK = re.compile(r"TIME \d\d:\d\d|(?<=\"number\">)\d+\.\d(?=<)")
#: A plot of a minute's calls and their times; the calls themselves are in the table below.
_PLOT = re.compile(r'<svg class="plot[^>]*>.*?</svg>(?:<p class="ends">.*?</p>)?', re.DOTALL)
_PART = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True)
class Sent:
    """A request without its host."""

    method: str
    path: str
    rest: Mapping[str, Any] = field(default_factory=dict)


def _constants(folder: Path, wanted: Callable[[ast.AST], Iterator[ast.AST]]) -> set[str]:
    """Return the texts that some nodes of a package's code have."""
    trees = (ast.parse(each.read_text("utf-8")) for each in sorted(folder.glob("*.py")))
    nodes = itertools.chain.from_iterable(ast.walk(each) for each in trees)
    found = itertools.chain.from_iterable(map(wanted, nodes))
    return {e.value for e in found if isinstance(e, ast.Constant) and isinstance(e.value, str)}


def _members() -> list[str]:
    """Return what pages read of queries and forms, and what their forms send."""

    def read(node: ast.AST) -> Iterator[ast.AST]:
        match node:
            case ast.Call(func=ast.Attribute(attr="get"), args=[first, *_]):
                yield first

    folder = Path(web.__file__).parent
    named = (re.findall(r'name="(\w+)"', e.read_text("utf-8")) for e in folder.rglob("*.html"))
    return sorted(_constants(folder, read) | set(itertools.chain.from_iterable(named)))


def _methods() -> list[str]:
    """Return the methods of MCP that the server has."""

    def cases(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.match_case):
            yield from (
                each.value for each in ast.walk(node.pattern) if isinstance(each, ast.MatchValue)
            )

    found = _constants(Path(mcp.__file__).parent, cases)
    return sorted(each for each in found if "/" in each and not each.startswith("ref/"))


def _result(runtime: Runtime, method: str) -> Mapping[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    done = runtime.protocol.receive(json.dumps(message).encode())
    assert isinstance(done, Reply)
    result: Mapping[str, Any] = json.loads(done.body)["result"]
    return result


class _Prober:
    """Makes the requests of an attacker for each route of a server."""

    def __init__(self, runtime: Runtime, known: Known) -> None:
        self._known = known
        # Of one of the secret sources everything, and the jobs.
        self._words = (*known.words[:13], *known.words[-3:])
        self._members, self._methods = _members(), _methods()
        assert len(self._members) > 15
        assert len(self._methods) > 10
        asked = {
            method: _result(runtime, method)
            for method in ("prompts/list", "resources/templates/list")
        }
        self._prompts = [
            (each["name"], argument["name"])
            for each in asked["prompts/list"]["prompts"]
            for argument in each["arguments"]
        ]
        self._templates = [
            (each["uriTemplate"], name)
            for each in asked["resources/templates/list"]["resourceTemplates"]
            for name in _PART.findall(each["uriTemplate"])
        ]
        self._tools = {
            (route.method, f"{root}{route.path}"): (route, box)
            for root, box, routes in self._systems(runtime)
            for route in routes
        }
        self._boxes = {f"{root}/mcp": box for root, box, _ in self._systems(runtime)}

    def _systems(self, runtime: Runtime) -> Iterator[tuple[str, Toolbox, tuple[Any, ...]]]:
        yield "", runtime.toolbox, ROUTES
        for system, protocol in runtime.compat:
            yield system.root, protocol.toolbox, system.routes

    def requests(self, method: str, template: str) -> Iterator[Sent]:
        """Yield the requests for a route."""
        if (method, template) in self._tools:
            yield from self._of_tool(method, template)
        elif method == "POST" and template.rstrip("/") in self._boxes:
            yield from self._messages(template)
        elif template == "/mcp/tools/{name}":
            for tool in self._boxes["/mcp"].tools:
                yield Sent(method, f"/mcp/tools/{tool.name}", {"json": self._secret(tool)})
        elif is_page(template):
            yield from self._pages(method, template)
        else:
            for path in self._filled(template):
                yield Sent(method, path)
                for word in (SECRET, *self._known.words[:3]):
                    yield Sent(method, path, {"params": dict.fromkeys(("crate", "package"), word)})
                    yield Sent(method, path, {"params": {"crate": word}})

    def _all(self, tool: Tool) -> Iterator[dict[str, Any]]:
        for arguments in probes(tuple(tool.parameters), self._known):
            if tool.read_only or SECRET in json.dumps(arguments):
                yield arguments

    def _secret(self, tool: Tool) -> dict[str, Any]:
        made = probes(tuple(tool.parameters), self._known)
        return next((each for each in made if SECRET in json.dumps(each)), {})

    def _filled(self, template: str) -> Iterator[str]:
        """Yield the paths of a template: with each secret word, and with plain ones beside it."""
        names = _PART.findall(template)
        words = self._words if len(names) == 1 else FEW if names else ("",)
        for word in words:
            values = [tuple(dict.fromkeys((word, *PARTS.get(name, ())))) for name in names]
            if len(names) > 1:
                # The last part is the secret one; others that are, too, are refused before it.
                values = [*(PARTS.get(name, (SECRET,)) for name in names[:-1]), values[-1]]
            for chosen in itertools.product(*values):
                yield _fill(template, chosen)

    def _of_tool(self, method: str, template: str) -> Iterator[Sent]:
        route, box = self._tools[method, template]
        tool = box.get(route.tool)
        paths = list(self._filled(template))
        for path in paths:
            yield Sent(method, path)
        shown = {argument: sent for sent, argument in route.renamed}
        for arguments in self._all(tool):
            # A body is checked as any call's arguments, all of which are tried without HTTP.
            if method == "POST" and f'"{SECRET}"' not in json.dumps(arguments):
                continue
            given = {n: v for n, v in arguments.items() if n != route.argument}
            if method == "POST":
                yield Sent(method, paths[0], {"json": given})
            elif given:
                sent = {shown.get(n, n): _written(v) for n, v in given.items()}
                yield Sent(method, paths[0], {"params": sent})

    def _pages(self, method: str, template: str) -> Iterator[Sent]:
        names, paths = self._members, list(self._filled(template))
        part = "data" if method == "POST" else "params"
        for path in paths:
            yield Sent(method, path)
        few = {n: SECRET for n in ("q", "package", "code", "path", "root") if n in names}
        for plain in PLAIN:
            yield Sent(method, paths[0], {part: {**few, **plain}})
        for word in FEW[:2]:
            yield Sent(method, paths[0], {part: dict.fromkeys(names, word)})

    def _messages(self, template: str) -> Iterator[Sent]:
        box = self._boxes[template.rstrip("/")]
        # The systems of earlier servers have tools alone; a slash at the end changes nothing.
        of_ours = template == "/mcp"
        for method in self._methods if of_ours else ("tools/list", "tools/call"):
            for params in self._parameters(method, box, of_ours=of_ours or template.endswith("/")):
                message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                yield Sent("POST", template, {"json": message})

    def _parameters(self, method: str, box: Toolbox, *, of_ours: bool) -> Iterator[dict[str, Any]]:
        words = self._words
        yield {}
        if method == "tools/call":
            for tool in box.tools:
                # All arguments of our own are tried without HTTP.
                secret = [self._secret(tool)]
                for arguments in secret if of_ours else self._all(tool):
                    yield {"name": tool.name, "arguments": arguments}
        elif method == "prompts/get":
            for name, argument in self._prompts:
                yield from ({"name": name, "arguments": {argument: each}} for each in FEW)
        elif method == "completion/complete":
            refs = [({"type": "ref/prompt", "name": n}, a) for n, a in self._prompts]
            refs += [({"type": "ref/resource", "uri": u}, a) for u, a in self._templates]
            for (ref, argument), word in itertools.product(refs, ("", SECRET[:3])):
                for beside in ({}, {"name": SECRET, "source": words[-1]}):
                    yield {
                        "ref": ref,
                        "argument": {"name": argument, "value": word},
                        "context": {"arguments": beside},
                    }
        else:
            reads = method.startswith("resources/")
            for word in words if reads else FEW:
                yield {"uri": f"docstow://{word}", "name": word, "cursor": word, "level": word}
            reads = method == "resources/read"
            for uri in dict.fromkeys(uri for uri, _ in self._templates if reads):
                for word in words if uri.count("{") == 1 else FEW:
                    yield {"uri": _fill(uri, (SECRET, "latest", word)[-uri.count("{") :])}


def _fill(template: str, words: Sequence[str]) -> str:
    """Return a template with a word in place of each part."""
    parts = iter(words)
    return _PART.sub(lambda _: quote(next(parts), safe=""), template)


def _written(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _routes(runtime: Runtime) -> list[tuple[str, str]]:
    """Return the method and the path of each route, what changes something last."""

    async def run(call: Callable[[], Response], slow: int) -> Response:
        raise AssertionError((call, slow))

    routes = list(runtime.served_app.routes)
    # What stands for all pages is none itself.
    routes = [each for each in routes if getattr(each, "path", "") not in ("/", "/ui/{rest:path}")]
    found = []
    for each in [*routes, *web.Site(runtime.page_services, run).routes]:
        assert isinstance(each, Route), "a kind of route that is not probed"
        found += [(method, each.path) for method in (each.methods or set()) - {"HEAD"}]
    return sorted(found, key=lambda each: ("GET", "POST", "DELETE").index(each[0]))


class _Clients:
    """Callers of the two servers."""

    def __init__(self, urls: tuple[str, str], closing: contextlib.ExitStack) -> None:
        def client(url: str, who: str) -> httpx.Client:
            headers = {"Authorization": f"Bearer {TOKENS[who]}"}
            made = httpx.Client(base_url=url, headers=headers, timeout=60)
            return closing.enter_context(made)

        self._tenants = [client(url, "tenant") for url in urls]
        self._owner = client(urls[0], "owner")
        self._hosts = re.compile("|".join(re.escape(url.partition("://")[2]) for url in urls))

    def _shown(self, client: httpx.Client, sent: Sent) -> tuple[int, str, dict[str, str]]:
        answer = client.request(sent.method, sent.path, **sent.rest)
        left_out = ("date", "x-request-id", "content-length", "mcp-session-id")
        headers = {n: self._alike(v) for n, v in answer.headers.items() if n not in left_out}
        return answer.status_code, self._alike(answer.text), headers

    def _alike(self, text: str) -> str:
        text = _PLOT.sub("PLOT", self._hosts.sub("HOST", masked(text)))
        return _RANDOM.sub("RANDOM", _CLOCK.sub("TIME", text))

    def tenant(self, sent: Sent) -> tuple[int, str, dict[str, str]]:
        """Return what the tenant is answered, which must be the same by both."""
        one, other = (self._shown(each, sent) for each in self._tenants)
        assert one == other, (sent, _differing(one, other))
        assert WORD not in one[1], sent
        return one

    def owner(self, sent: Sent) -> tuple[int, str, dict[str, str]]:
        """Return what the owner of the secret sources is answered."""
        return self._shown(self._owner, sent)


def _differing(*answers: tuple[int, str, dict[str, str]]) -> list[str]:
    """Return the lines in which answers differ; their status and headers are lines, too."""
    one, other = (
        [str(status), *text.splitlines(), str(headers)] for status, text, headers in answers
    )
    return list(difflib.unified_diff(one, other, n=0, lineterm=""))[:20]


def test_every_route_answers_as_if_the_secret_sources_never_were(
    stores: tuple[Runtime, Runtime], known: Known
) -> None:
    asked, showing = 0, set()
    prober, routes = _Prober(stores[0], known), _routes(stores[0])
    with contextlib.ExitStack() as closing:
        urls = [closing.enter_context(serve(each.served_app)) for each in stores]
        clients = _Clients((urls[0], urls[1]), closing)
        for method, template in routes:
            for sent in prober.requests(method, template):
                asked += 1
                answer = clients.tenant(sent)
                if template in showing or method != "GET":
                    continue
                if clients.owner(sent) != answer:
                    showing.add(template)
    assert asked > 1500
    silent = {template for method, template in routes if method == "GET"} - showing
    assert silent == SAYS_NOTHING
