"""The tool ``read_package``: a package's surface, files, definitions and imports."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import (
    DocstowError,
    DocumentNotFound,
    EnvironmentNotFound,
    Forbidden,
    InvalidParameter,
    ItemNotFound,
    PackageNotFound,
)
from docstow.languages.shared.kept import kept
from docstow.text.paging import CHARACTERS_PER_TOKEN, part
from docstow.tools import Answer, Numbering, Tool, offset, page_answer
from docstow.tools.parameters import CURSOR, LANGUAGE, VERSION, Parameter, language_of

if TYPE_CHECKING:
    from docstow.languages.projects import Project, Projects
    from docstow.languages.projects.kept_texts import KeptTexts
    from docstow.languages.projects.packages import ProjectPackages
    from docstow.languages.shared.language import Language, Reading
    from docstow.languages.shared.project import Package
    from docstow.languages.shared.surface import Surface, Symbol
    from docstow.library import Library

_GRAPHS = ("json", "mermaid")
_MOST_NAMES = 5000
#: Members of one thing that are listed.
_MOST_MEMBERS = 400
_MOST_ENTRIES = 3
#: Characters of a module's own documentation in an overview.
_DOCS = 2000
#: Characters of a module's names before they are described.
_NAMES = 4000
#: Marks of code blocks, by the suffix of a file that is in no language.
_FENCES = {
    ".json": "json",
    ".toml": "toml",
    ".md": "markdown",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".html": "html",
    ".css": "css",
}
#: Kinds whose signature does not tell them.
_NAMED_KINDS = ("module", "re-export")
_WITH_MEMBERS = ("class", "module", "interface", "enum", "type")


def tool(projects: Projects, library: Library | None = None) -> Tool:
    """Make the tool.

    Args:
        projects: that the server may look into.
        library: fetches versions that no project has installed; None where none are fetched.
    """
    return Tool(
        name="read_package",
        toolset="packages",
        slow=True,
        foreign=True,
        title="Read a package",
        description=(
            "Reads a package of the project, or any version, running nothing: its public surface "
            "and files; one file (file_path, lines); one definition (symbol); its import graph. "
            'Example: {"package_name": "fastapi", "symbol": "fastapi.APIRouter.get"}.'
        ),
        parameters=(
            Parameter(
                "package_name",
                "string",
                "Its name",
                required=True,
                max_length=214,
                aliases=("package",),
            ),
            Parameter("file_path", "string", "File", default="", max_length=1000),
            Parameter("symbol", "string", "Definition", default="", max_length=500),
            Parameter("lines", "string", "10-80", default="", max_length=20),
            Parameter("graph", "string", "Of imports", default="", choices=_GRAPHS),
            Parameter("root", "string", "Project", default="", max_length=1000),
            replace(VERSION, rare=True),
            replace(LANGUAGE, rare=True),
            Parameter(
                "max_tokens", "integer", default=4000, minimum=100, maximum=50_000, rare=True
            ),
            CURSOR,
        ),
        run=partial(_read, projects, library),
    )


def _read(projects: Projects, library: Library | None, arguments: Mapping[str, Any]) -> Answer:
    asked = {name: arguments[name].strip() for name in ("file_path", "symbol", "graph")}
    if sum(map(bool, asked.values())) > 1:
        raise InvalidParameter("symbol", "give one of file_path, symbol and graph")
    if arguments["lines"].strip() and not asked["file_path"]:
        raise InvalidParameter("lines", "are those of a file: give its file_path too")
    from docstow.languages.projects.kept_texts import KeptTexts

    with (
        _open_package(projects, library, arguments) as (opened, package, fetched),
        kept(opened.scan, KeptTexts) as texts,
    ):
        return _answer(texts, package, asked, arguments, fetched=fetched)


def _answer(
    texts: KeptTexts,
    package: Package,
    asked: Mapping[str, str],
    arguments: Mapping[str, Any],
    *,
    fetched: bool,
) -> Answer:
    opened, numbering = texts.packages, None
    pieces: Iterable[str]
    if asked["file_path"]:
        lines = arguments["lines"].strip()
        shown, numbering = _read_file(opened, package, asked["file_path"], lines)
        pieces = [shown]
    elif asked["symbol"]:
        path = asked["symbol"]
        pieces = texts.find(("symbol", package, path), lambda: _read_symbol(opened, package, path))
    elif asked["graph"]:
        pieces = [_draw_graph(opened, package, asked["graph"])]
    else:
        tree = _draw_tree(opened, package)
        pieces = texts.find(
            ("tree", package, tree), lambda: _describe_package(opened, package, tree)
        )
    whole = len(pieces[0]) if isinstance(pieces, list) else ""
    place = "" if fetched else opened.scan.boundary.root
    scope = f"{place} {package.name} {package.version} {asked} {whole}"
    wanted = arguments["max_tokens"] * CHARACTERS_PER_TOKEN
    text, complete = _join_until(pieces, offset(arguments["cursor"], scope) + wanted)
    head = _format_provenance(opened, package, fetched=fetched)
    return page_answer(head, text, arguments, scope, complete=complete, numbering=numbering)


@contextlib.contextmanager
def _open_package(
    projects: Projects, library: Library | None, arguments: Mapping[str, Any]
) -> Iterator[tuple[ProjectPackages, Package, bool]]:
    """Give the package that is meant, and whether it was fetched from a registry.

    A registry is asked where the caller names a version or a language that no project has: who
    mistypes the name of an installed package does not get one that is called so.
    """
    from docstow.languages.projects.packages import ProjectPackages

    named = languages.parse_package(arguments["package_name"], "package_name")
    version = arguments["version"].strip() or named.requirement
    language = named.language or (language_of(arguments) if arguments["language"].strip() else None)
    opened = None
    try:
        project, scan = projects.scan(arguments["root"].strip())
        opened = ProjectPackages(scan)
        package = _find_package(projects, project, opened, named.name)
    except (Forbidden, InvalidParameter, EnvironmentNotFound, PackageNotFound):
        if library is None or not (version or language) or arguments["root"].strip():
            raise
        for each in opened.scan.named(named.name) if opened is not None else ():
            # It is locked.
            own = languages.of_ecosystem(each.ecosystem)
            if language in (None, own):
                language, version = own, version or each.version
                break
    else:
        own = languages.of_ecosystem(package.ecosystem)
        if language in (None, own):
            language = own
            same = [package] if not version else _in_version(opened, package, own, version)
            if same:
                yield opened, same[0], False
                return
    if language is None or not language.packaged:
        known = ", ".join(each.name for each in languages.documented() if each.packaged)
        raise InvalidParameter("language", f"say whose package {named.name} is: {known}")
    if library is None:
        raise PackageNotFound(f"{named.name} {version} is not installed in this project.")
    with library.installed.fetched(language, named.name, version) as found:
        yield found.project, found.package, True


def _in_version(
    opened: ProjectPackages, package: Package, language: Language | None, version: str
) -> list[Package]:
    """Return where a package is installed in a version that is asked for."""
    if language is None:
        return []
    others = opened.scan.named(package.name, package.ecosystem)
    here = {each.version: each for each in (*others, package) if each.installed}
    best = language.versions().choose(version, here)
    return [here[best]] if best is not None else []


def _find_package(
    projects: Projects, project: Project, opened: ProjectPackages, name: str
) -> Package:
    try:
        return opened.package(name)
    except PackageNotFound as error:
        others = [] if opened.scan.named(name) else projects.names_with(name)
        if others:
            raise PackageNotFound(
                f"{project.name} has no package {name!r}; give the root that has it:"
                f" {', '.join(others)}."
            ) from error
        raise


def _format_provenance(opened: ProjectPackages, package: Package, *, fetched: bool) -> str:
    others = [each.version for each in opened.scan.named(package.name) if each != package]
    also = f"also installed: {', '.join(dict.fromkeys(others))}" if others else ""
    place = "not installed: fetched, its code and texts" if fetched else package.location
    parts = [f"{package.name} {package.version}", package.ecosystem, place]
    parts += ["editable" if package.editable else "", also, "third-party text"]
    return f"*{' · '.join(filter(None, parts))}*"


def _join_until(pieces: Iterable[str], end: int) -> tuple[str, bool]:
    """Join a text a little further than is asked for; return whether that is all of it."""
    text, left = "", iter(pieces)
    for piece in left:
        text += piece
        if len(text) > end:
            break
    if (following := next(left, None)) is None:
        return text.rstrip("\n") + "\n", True
    return text + following, False


def _draw_tree(opened: ProjectPackages, package: Package) -> str:
    from docstow.languages.projects.packages import format_tree, list_files

    files = list_files(package, opened.boundary(package))
    return format_tree(files, package.files_root) if package.files_root else ""


def _describe_package(opened: ProjectPackages, package: Package, tree: str) -> Iterator[str]:
    """Yield the names of a package, then its files, then what the names are."""
    yield f"# {package.name} {package.version}\n\n"
    if package.summary:
        yield f"{package.summary}\n\n"
    surface, reading = opened.surface(package), _find_reading(package)
    shows_entries = reading is not None and reading.shows_entries
    entries = _find_entries(surface, package) if surface is not None else []
    for symbol, names in entries:
        yield f"## Entry module `{symbol.path}`\n\n"
        yield f"`{symbol.file}`\n\n" if symbol.file else ""
        if symbol.signature and shows_entries:
            # What is exported in place of a module may be called.
            yield f"{_fence(symbol.signature, symbol.file)}\n\n"
        if symbol.docstring:
            docs = part(symbol.docstring, 0, _DOCS)
            yield f"{docs.text.rstrip()}{' …' if docs.following is not None else ''}\n\n"
        if names:
            yield f"{_shorten(', '.join(f'`{each}`' for each in names))}\n\n"
    yield f"## Files\n\n```text\n{tree or '(none)'}\n```\n\n"
    if surface is not None:
        for symbol, names in entries:
            if names:
                yield f"## Names of `{symbol.path}`\n\n"
            yield from _format_members(surface, package, symbol.path, names)


def _find_entries(surface: Surface, package: Package) -> list[tuple[Symbol, list[str]]]:
    """Return what is imported of a package, with its names; else the first module that is seen."""
    found = [surface.symbol(name) for name in package.import_names[:_MOST_ENTRIES]]
    if not any(found):
        found = [surface.symbol(name) for name in surface.modules()[:1]]
    return [(each, _list_names(surface, each.path)) for each in found if each is not None]


def _shorten(names: str) -> str:
    return names if len(names) <= _NAMES else f"{names[:_NAMES].rpartition(', ')[0]} …"


def _list_names(surface: Surface, path: str) -> list[str]:
    return list(islice(surface.listed(path), _MOST_MEMBERS + 1))


def _format_members(
    surface: Surface, package: Package, path: str, names: Sequence[str]
) -> Iterator[str]:
    """Yield a line for each member, looked into when it is its turn."""
    for name in names[:_MOST_MEMBERS]:
        symbol = surface.symbol(f"{path}.{name}")
        if symbol is not None:
            yield f"{_format_member(name, symbol)}\n"
    yield "\n"
    if len(names) > _MOST_MEMBERS:
        yield "There are more: give one as symbol, or read the module's file.\n\n"
    # Declarations say all there is.
    if not _declares(package) and not surface.certain(path):
        yield "*It may have more names than can be seen without running it.*\n\n"


def _find_reading(package: Package) -> Reading | None:
    language = languages.of_ecosystem(package.ecosystem)
    return language.reading() if language is not None and language.reading is not None else None


def _declares(package: Package) -> bool:
    language, reading = languages.of_name(package.language), _find_reading(package)
    written = language is not None and language.name == package.language
    return written and reading is not None and reading.declares


def _format_member(name: str, symbol: Symbol) -> str:
    last = symbol.signature.splitlines()[-1] if symbol.signature else ""
    short = last if len(last) <= 120 else f"{last[:119]}…"
    kind = f" ({symbol.kind})" if symbol.kind in _NAMED_KINDS else f": `{short}`" if short else ""
    first = symbol.docstring.strip().split("\n\n")[0].replace("\n", " ")
    sentence = first.split(". ")[0].rstrip(".")
    docs = f" — {sentence[:160]}" if sentence else ""
    return f"- **{name}**{kind}{' *deprecated*' if symbol.deprecated else ''}{docs}"


def _read_file(
    opened: ProjectPackages, package: Package, path: str, lines: str
) -> tuple[str, Numbering | None]:
    """Return a file, or a folder's tree, as Markdown; and how the file's lines are numbered."""
    from docstow.languages.projects.packages import format_tree, list_files

    boundary = opened.boundary(package)
    plain = path.removeprefix("./").rstrip("/") if not path.startswith("/") else path
    if boundary.inside(plain).is_dir():
        listed = format_tree(list_files(package, boundary), boundary.root, plain)
        if not listed:
            raise DocumentNotFound(f"{package.name} has no readable files in {path}.")
        return f"# {plain}/\n\n```text\n{listed}\n```\n", None
    try:
        shown, body = opened.file(package, plain)
    except DocumentNotFound as error:
        near = _suggest(plain, list_files(package, boundary))
        raise DocumentNotFound(error.message, suggestions=near) from error
    rows = _split_lines(body)
    begin, end = _parse_lines(lines, len(rows))
    text = "\n".join(rows[begin - 1 : end])
    where = f"lines {begin}-{end} of {len(rows)}" if lines else f"{len(rows)} lines"
    header = f"# {shown}\n\n{where}\n\n"
    numbering = Numbering(header.count("\n") + 2, begin, end, len(rows))
    return f"{header}{_fence(text, shown)}\n", numbering


def _split_lines(body: bytes) -> list[str]:
    """Return the lines of a file as editors and compilers count them: not cut at form feeds."""
    rows = re.split(r"\r\n|\r|\n", body.decode(errors="replace"))
    return rows if rows[-1] else rows[:-1]


def _parse_lines(lines: str, count: int) -> tuple[int, int]:
    if not lines:
        return 1, count
    first, dash, last = lines.partition("-")
    if not first.strip().isdecimal() or (dash and not last.strip().isdecimal()):
        raise InvalidParameter("lines", "must be a line or a range of lines such as 10-80")
    begin, end = int(first), int(last) if dash else int(first)
    if begin < 1 or end < begin or begin > max(count, 1):
        raise InvalidParameter("lines", f"must be within 1-{count}, the first line first")
    return begin, min(end, count)


def _fence(text: str, path: str) -> str:
    """Format a text as a code block that nothing in it ends."""
    fence = "```"
    while fence in text:
        fence += "`"
    suffix = f".{path.rpartition('.')[2]}" if "." in path else ""
    marks = [each.fences[suffix] for each in languages.LANGUAGES.values() if suffix in each.fences]
    mark = marks[0] if marks else _FENCES.get(suffix, "text")
    return f"{fence}{mark}\n{text}\n{fence}"


def _read_symbol(opened: ProjectPackages, package: Package, path: str) -> Iterator[str]:
    surface = opened.surface(package)
    if surface is None:
        raise InvalidParameter(
            "symbol", f"{package.language} packages are read by file_path; for crates get_item_doc"
        )
    # An alias is imported by another name than its surface has.
    modules = dict.fromkeys((*package.import_names, package.name))
    tried = [path, *(f"{each}.{path}" for each in modules)]
    found = next(((each, made) for each in tried if (made := surface.symbol(each))), None)
    if found is None:
        raise _symbol_not_found(package, surface, path, tried)
    name, symbol = found
    blocks = [f"# {symbol.kind} `{name}`"]
    if symbol.deprecated:
        blocks.append(f"**Deprecated**: {symbol.deprecated}")
    if symbol.target:
        blocks.append(f"Defined as `{symbol.target}`")
    if symbol.file and symbol.line:
        blocks.append(f"`{symbol.file}` lines {symbol.line}-{symbol.end_line}")
    if symbol.signature:
        blocks.append(_fence(symbol.signature, symbol.file))
    blocks.append(symbol.docstring)
    yield "".join(f"{each}\n\n" for each in blocks if each)
    if symbol.kind in _WITH_MEMBERS and (names := _list_names(surface, name)):
        yield "## Members\n\n"
        yield from _format_members(surface, package, name, names)
    if symbol.kind != "module" and (source := _read_source(opened, package, symbol)):
        yield f"## Source\n\n{_fence(source, symbol.file)}\n"


def _read_source(opened: ProjectPackages, package: Package, symbol: Symbol) -> str:
    """Return the lines of the definition, in whichever package it is."""
    if not symbol.file or not symbol.line:
        return ""
    owner = opened.scan.importing(symbol.target, package.language) if symbol.target else None
    for each in filter(None, (owner, package)):
        try:
            _, body = opened.file(each, symbol.file)
        except DocstowError:
            continue
        rows = _split_lines(body)
        return "\n".join(rows[symbol.line - 1 : symbol.end_line])
    return ""


def _symbol_not_found(
    package: Package, surface: Surface, path: str, tried: Iterable[str]
) -> ItemNotFound:
    parents = dict.fromkeys(each.rpartition(".")[0] for each in tried)
    near: list[str] = []
    for parent in filter(None, parents):
        near += [f"{parent}.{name}" for name in surface.listed(parent)]
    names = surface.names()
    near += [name for name, _ in zip(names, range(_MOST_NAMES), strict=False)]
    certain = any(surface.certain(parent) for parent in parents if parent)
    doubt = "" if certain else " It may be there all the same: not all names can be seen."
    return ItemNotFound(
        f"{package.name} {package.version} has no {path}.{doubt} Call without symbol for its"
        " public surface.",
        suggestions=_suggest(path, list(dict.fromkeys(near))),
    )


def _suggest(wanted: str, names: list[str]) -> list[dict[str, Any]]:
    from rapidfuzz import fuzz, process

    last = wanted.replace("/", ".").split(".")[-1].lower()

    def score(_: str, name: str, **__: Any) -> float:
        end = name.replace("/", ".").split(".")[-1].lower()
        return 0.7 * fuzz.ratio(last, end) + 0.3 * fuzz.ratio(wanted.lower(), name.lower())

    found = process.extract(wanted, names, scorer=score, limit=5, score_cutoff=55)
    return [{"name": name, "score": round(at / 100, 3)} for name, at, _ in found]


def _draw_graph(opened: ProjectPackages, package: Package, form: str) -> str:
    from docstow.languages.projects.import_graph import import_graph

    reading = _find_reading(package)
    graph = reading.graph if reading is not None else None
    made = import_graph(package, opened.boundary(package), graph)
    if form == "mermaid":
        return f"```mermaid\n{made.as_mermaid()}\n```\n"
    return f"```json\n{json.dumps(made.as_json(), separators=(',', ':'))}\n```\n"
