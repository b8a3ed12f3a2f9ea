"""Type checkers, as the engines that judge what our reader leaves open.

What they say are claims. A claim becomes a finding unless the packages' sources refute it: by
classes and modules that answer for names themselves, by what subclasses have, by what a source has
that its stub leaves out.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.languages.python.check import (
    METACLASS_NAMES,
    check,
    near_modules,
    pyrefly,
    ty,
    wrong_call,
)
from docstow.languages.python.check.annotations import LocalType, PackageType
from docstow.languages.python.check.certainty import (
    best_likeness,
    is_closed,
    is_common_base,
    is_conclusive,
    is_descriptor,
    is_filled,
    is_one_of_several,
    is_told,
    is_unheard_of,
    makes_others,
    may_be_of_middleware,
    may_have_keys,
    may_make_another,
    subclass_may_have,
    subclass_may_take,
    subclass_takes_more,
)
from docstow.languages.python.check.checked import Checked
from docstow.languages.python.check.django_models import is_model, may_be_of_field
from docstow.languages.python.check.doubts import Doubts
from docstow.languages.python.check.edited import Edited
from docstow.languages.python.check.hints import hinted, without_relatives
from docstow.languages.python.check.origins import with_unheard_of
from docstow.languages.python.check.owners import PROTOCOL, Owner, Owners, is_plain
from docstow.languages.python.check.parse import (
    Assigned,
    Caught,
    Defined,
    Import,
    Parsed,
    Receiver,
    parse,
)
from docstow.languages.python.check.passed import call_shape, place_of
from docstow.languages.python.check.type_claims import (
    ArgumentClaim,
    ChoiceClaim,
    Claim,
    ImportClaim,
    MemberClaim,
    ModuleClaim,
)
from docstow.languages.python.checker_releases import PYREFLY, TY
from docstow.languages.python.source.functions import parameters
from docstow.languages.python.source.syntax import Function
from docstow.languages.python.surface import STANDARD, PythonSurface
from docstow.languages.shared.engines import Engine, Engines, Workplace
from docstow.languages.shared.findings import (
    PROBLEMS,
    Finding,
    Status,
    Verdict,
    advice,
    nearest,
    sort_findings,
)
from docstow.languages.shared.language_server import Diagnostic
from docstow.languages.shared.lookup import (
    Installed,
    PassedArguments,
    absent,
    mismatch_of_all,
    suggest_parameters,
)
from docstow.languages.shared.surface import Openness, Parameter
from docstow.languages.shared.trials import Trials, Writer

if TYPE_CHECKING:
    from docstow.languages.shared.boundary import Boundary
    from docstow.languages.shared.language_server import LanguageServer
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan
    from docstow.languages.shared.surface import Symbol

#: The name of the file that is checked, which hides no module.
_FILE = "docstow_code.py"
#: The version of Python that code is for where nothing says it.
_PYTHON = "3.13"
#: Names with these in them belong to classes that are mixed into others.
_MIXED = "mixin"
#: How like the nearest name must be that a value's class has, where that is inferred alone.
_LEAST_INFERRED = 80.0
#: Names so short may be data of what answers for any name: ``soup.td``.
_LONGEST_TAG = 3
#: How like it must be where type checkers agree that a class without types has no such data.
_LEAST_READ = 75.0
#: How like another module of a namespace must be to one that is not there.
_LEAST_OF_NAMESPACE = 80.0
#: What extends Python's own building of packages is not known.
_BUILDING = ("distutils.", "numpy.distutils.", "setuptools.")
#: What answers for the names of what its instances are given: ``self.head = nn.Linear(2, 1)``.
_REGISTERING = "torch.nn.modules.module.Module.__getattr__"
#: What any exception is, whose class nothing tells.
_ANY_EXCEPTION = frozenset({"builtins.BaseException", "builtins.Exception", "builtins.Warning"})
#: What lists, dictionaries and sets are annotated as.
_ABSTRACT = frozenset(
    f"{module}.{name}"
    for module in ("builtins", "typing", "collections.abc")
    for name in ("Sequence", "Iterable", "Collection", "Container", "Mapping", "Set")
)
#: What the name of a finding ends with: a name, or one of a keyword.
_NAMED = re.compile(r"(\w+)(?:\((\w+)=\))?$")
#: What type checkers call a dictionary of known keys by.
_DICTIONARY = re.compile(r"TypedDict `(\w+)`")
#: Letters of a short form of a text.
_LONGEST_SHORT_FORM = 2


@dataclass(frozen=True, slots=True)
class _Checker:
    """A type checker.

    Attributes:
        engine: its release.
        workplace: what it is given.
        claims: what it says.
        shows_paths: it shows the dotted paths of classes.
    """

    engine: Engine
    workplace: Callable[[str, str, Sequence[Path], str], Workplace]
    claims: Callable[[Sequence[Diagnostic], ast.Module], Iterator[Claim]]
    shows_paths: bool = False


_CHECKERS = (
    _Checker(TY, ty.workplace, ty.claims),
    _Checker(PYREFLY, pyrefly.workplace, pyrefly.claims, shows_paths=True),
)


def judge(engines: Engines, code: str, resolver: Resolver, scans: Sequence[Scan]) -> Verdict:
    """Judge code by the type checkers that are there, and by what our own reader found in it.

    Args:
        engines: have one of the type checkers, or all.
        code: a file or a part of one.
        resolver: where packages are found.
        scans: environments with the packages; those of the first one count before the others'.

    Raises:
        TooLarge: it takes more time or memory than it may.
        InternalError: a type checker ended.
    """
    parsed = parse(code)
    if not parsed.text.strip():
        return check(code, parsed, resolver).verdict
    roots = _roots(scans)
    key, version = _state(scans, roots)
    checkers = [each for each in _CHECKERS if engines.program(each.engine) is not None]
    wanted = [(each.engine, each.workplace(key, version, [*roots], _FILE)) for each in checkers]
    judged: tuple[Finding, ...] = ()
    plain = without_relatives(parsed)
    with engines.at_work(*wanted) as servers:

        def begin(body: str) -> None:
            for server in servers:
                server.begin(_FILE, "python", str(Edited(body, plain.insertions)))

        def judged_now() -> list[list[Diagnostic]]:
            return [[*map(plain.original, server.judged())] for server in servers]

        begin(parsed.text)
        own = check(code, parsed, resolver)
        owners = Owners(own, roots, _FILE)
        said = first = judged_now()
        shows = [each.shows_paths for each in checkers]
        text = hinted(own, owners, [*zip(servers, shows, strict=True)], plain)
        if len(text.insertions) > len(plain.insertions):
            said = [
                [*each, *map(text.original, server.judge(_FILE, "python", str(text)))]
                for server, each in zip(servers, said, strict=True)
            ]
        claimed = [
            _once(checker.claims(each, own.parsed.tree))
            for checker, each in zip(checkers, said, strict=True)
        ]
        agreed = _agreed(claimed)
        for checker, server, each, claims in zip(checkers, servers, said, claimed, strict=True):
            judging = _Judge(own, owners, text, Doubts(own, each), agreed, checker)
            judged = _joined(judged, judging.findings(server, claims))
            # What our reader knows is the same, whichever checker is asked beside it.
            judged = _joined(judged, judging.of_own() if checker is checkers[-1] else ())
        found = with_unheard_of(own, _joined(own.verdict.findings, judged))

        def faults(body: str) -> list[Diagnostic]:
            begin(body)
            return [each for one in judged_now() for each in one]

        trials = Trials(partial(_writer, parsed), faults, [each for one in first for each in one])
        found = tuple(map(trials.ordered, found))
    return replace(own.verdict, findings=found)


def _writer(parsed: Parsed, finding: Finding) -> Writer | None:
    """Return what writes another name in the place of a finding's."""
    named = _NAMED.search(finding.name)
    if named is None:
        return None
    is_keyword = named[2] is not None
    name = str(named[2] or named[1])
    begin = finding.line, finding.column - 1 - parsed.column
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(parsed.tree):
        match node:
            case ast.keyword(arg=str(word)) if is_keyword and word == name:
                found.append((node.lineno, node.col_offset, "{new}"))
            case ast.Attribute(attr=word, end_lineno=int(line), end_col_offset=int(end)) if (
                word == name and not is_keyword
            ):
                found.append((line, end - len(name.encode()), "{new}"))
            case ast.ImportFrom(names=names) if not is_keyword:
                found += (
                    (each.lineno, each.col_offset, "{new}" if each.asname else f"{{new}} as {name}")
                    for each in names
                    if each.name == name
                )
    place = min((each for each in found if each[:2] >= begin), default=None)
    if place is None:
        return None
    row, column, form = place
    lines = parsed.text.split("\n")
    text = lines[row - 1].encode()
    before, after = text[:column].decode(), text[column + len(name.encode()) :].decode()

    def write(new: str) -> str:
        changed = f"{before}{form.format(new=new)}{after}"
        return "\n".join([*lines[: row - 1], changed, *lines[row:]])

    return write


def _roots(scans: Sequence[Scan]) -> dict[Path, Boundary]:
    """Return the folders of import names, those that answer first before the others."""
    found: dict[Path, Boundary] = {}
    for scan in scans:
        for each in scan.packages:
            if each.ecosystem == "python" and each.files_root is not None and not each.problem:
                found.setdefault(each.files_root, scan.boundary)
    return found


def _state(scans: Sequence[Scan], roots: Mapping[Path, Boundary]) -> tuple[str, str]:
    """Return a digest of what is installed, and the version of Python that it is for."""
    details = (each.detail for scan in scans for each in scan.environments)
    stated = (each.removeprefix("Python ") for each in details if each.startswith("Python "))
    version = ".".join(next(stated, _PYTHON).split(".")[:2])
    packages = (f"{e.location} {e.version}" for scan in scans for e in scan.packages)
    state = "\n".join([version, *map(str, roots), *sorted(packages)])
    return hashlib.sha256(state.encode()).hexdigest(), version


def _once(claims: Iterator[Claim]) -> list[Claim]:
    """Return claims, of several that say the same of one place the first."""
    first: dict[tuple[type[Claim], ast.AST, str], Claim] = {}
    for each in claims:
        about = each.keyword or each.reason if isinstance(each, ArgumentClaim) else ""
        first.setdefault((type(each), each.node, about), each)
    return [*first.values()]


def _agreed(claimed: Sequence[Sequence[Claim]]) -> frozenset[ast.AST]:
    """Return the members, imports and calls that several type checkers claim to be wrong."""
    absent = (
        {
            node
            for each in one
            if not isinstance(each, MemberClaim) or each.title
            for node in (each.node, each.call if isinstance(each, ChoiceClaim) else None)
        }
        for one in claimed
    )
    counts = Counter(node for each in absent for node in each if node is not None)
    return frozenset(node for node, count in counts.items() if count > 1)


class _Judge:
    """Takes, lowers or drops what one type checker claims.

    Args:
        own: what our reader knows of the code.
        owners: the classes of its expressions.
        text: that the type checker judges.
        doubts: where the type checker takes a value for another one.
        agreed: members and imports that several type checkers claim to be absent.
        checker: the type checker.
    """

    def __init__(
        self,
        own: Checked,
        owners: Owners,
        text: Edited,
        doubts: Doubts,
        agreed: frozenset[ast.AST],
        checker: _Checker,
    ) -> None:
        self._checker = checker
        self._agreed = agreed
        self._own = own
        self._owners = owners
        self._text = text
        self._doubts = doubts
        self._names = own.names

    def findings(self, server: LanguageServer, claimed: Sequence[Claim]) -> list[Finding]:
        """Return the findings that claims make."""
        claimed = [each for each in claimed if not self._doubts.is_guarded(each)]
        calls = [e for e in claimed if isinstance(e, ArgumentClaim) and (e.keyword or e.overloaded)]
        if calls:
            # It was asked of another text since, for the types of what is given to functions.
            server.replace(str(self._text))
        signatures = {
            id(each): server.signatures(*self._text.place(each.said.line, each.said.start))
            for each in calls
        }
        receivers = [(each, node, title) for each in claimed for node, title in _receiver(each)]
        asked = [(node, title) for _, node, title in receivers]
        kinds = self._owners.find(
            server, asked, within=self._text, shows_paths=self._checker.shows_paths
        )
        owners = {id(each): found for (each, _, _), found in zip(receivers, kinds, strict=True)}
        found: list[Finding] = []
        for each in claimed:
            made = self._finding(each, owners.get(id(each), []), signatures.get(id(each), []))
            found += [made] if made is not None else []
        return found

    def of_own(self) -> list[Finding]:
        """Return what classes lack that our reader knows values to be of, those with types alone.

        A type checker may know nothing of these values; of the classes it would say the same.
        """
        found: list[Finding] = []
        for node, kind in self._own.unsure:
            said = Diagnostic(node.lineno - 1, node.col_offset, 0, "", "")
            title = kind.node.name if isinstance(kind, LocalType) else kind.path
            claim, call = MemberClaim(said, node, node.attr, title), self._call_of(node)
            if self._doubts.is_guarded(claim):
                continue
            made: Finding | None = None
            if isinstance(kind, LocalType):
                if is_plain(kind.node, kind.scope) and not kind.is_receiver:
                    made = self._local(claim, kind, called=call is not None)
            elif self._is_closed_enough(kind, node.attr, called=call is not None):
                made = self._of_package(claim, kind, call, typed=True, agreed=True)
            found += [replace(made, engine="")] if made is not None else []
        return found

    def _is_closed_enough(self, kind: PackageType, name: str, *, called: bool) -> bool:
        """Return whether a class has types and no other names than they tell, but for data."""
        openness = kind.openness(name)
        is_data = openness in {Openness.DATA, Openness.ITEMS} and not called
        return openness is not Openness.ANY and not is_data and self._owners.is_typed(kind.path)

    def _finding(
        self, claim: Claim, owners: Sequence[Owner], signatures: Sequence[Sequence[str]]
    ) -> Finding | None:
        if isinstance(claim, MemberClaim):
            return self._member(claim, owners)
        if isinstance(claim, ModuleClaim):
            return self._module(claim)
        if isinstance(claim, ImportClaim):
            return self._import(claim) if claim.node in self._agreed else None
        if isinstance(claim, ArgumentClaim):
            return self._argument(claim, owners, signatures)
        return self._choice(claim)

    # -- members -----------------------------------------------------------------------------

    def _member(self, claim: MemberClaim, owners: Sequence[Owner]) -> Finding | None:
        call = self._call_of(claim.node)
        title = claim.title or "what is called"
        open_ended = self._report(claim.node, claim.name, f"{title}.{claim.name}", "not_checked")
        if not owners and (told := self._of_protocol(claim)) is not None:
            return told
        if not owners or self._doubts.has(claim.node):
            return open_ended
        kinds = [each.kind for each in owners if isinstance(each.kind, PackageType)]
        if len(owners) > 1 and any(e.openness(claim.name) is Openness.ANY for e in kinds):
            return open_ended  # Another of these may be what a checker misses the name in.
        first: Finding | None = None
        for each in owners:
            if isinstance(each.kind, LocalType):
                made = self._local(claim, each.kind, called=call is not None)
            else:
                made = self._of_package(claim, each.kind, call, typed=each.typed)
            if made is None:
                return open_ended
            first = first or made
        return first

    def _of_protocol(self, claim: MemberClaim) -> Finding | None:
        """Return that a package's protocol lacks what several checkers miss and nothing else has.

        It says what others have at least: those of its package, and what the code makes for it.
        """
        scope, name = self._own.scopes.get(claim.node.value), claim.name
        kind = self._own.values.type_of(claim.node.value, scope) if scope is not None else None
        if not isinstance(kind, PackageType) or claim.node not in self._agreed:
            return None
        package, surface = kind.package, kind.package.surface
        symbol = package.symbol(kind.path)
        if symbol is None or PROTOCOL.search(symbol.signature) is None:
            return None
        words = re.findall(rf"\b{re.escape(name)}\b", self._own.parsed.text)
        if package.name == STANDARD or len(words) > 1 or self._doubts.has(claim.node):
            return None
        if (
            not isinstance(surface, PythonSurface)
            or surface.has_to_give(name)
            or name in (surface.members(kind.path) or {})
        ):
            return None
        near = self._names.suggest(package, kind.path, name, call=self._call_of(claim.node))
        return self._lacking(claim, kind, near)

    def _of_package(
        self,
        claim: MemberClaim,
        kind: PackageType,
        call: PassedArguments | None,
        *,
        typed: bool,
        agreed: bool = False,
    ) -> Finding | None:
        agreed = agreed or claim.node in self._agreed
        name, package, called = claim.name, kind.package, call is not None
        if not kind.certainly_lacks(name) or self._is_building(kind):
            return None
        if is_told(kind, name) or is_filled(kind, name) or _may_be_narrower(kind, name):
            return None
        is_given = may_be_of_middleware(kind, name, called=called)
        is_given = is_given or self._may_be_any_exception(claim, kind)
        if is_given or (not kind.is_class and makes_others(kind)) or self._is_replaced(claim, kind):
            return None
        if self._is_vague(kind, name, call) or self._may_be_of_another(claim, kind):
            return None
        near = self._names.suggest(package, kind.path, name, call=call)
        if not claim.title:
            if not self._is_no_data(package, name, near):
                return None
            is_certain = True
        elif agreed and self._is_agreed(kind, name, near, typed=typed, called=called):
            is_certain = True
        elif typed:
            is_certain = is_closed(kind, name, called=called)
        else:
            is_certain = is_unheard_of(kind, name, called=called)
        is_nowhere = not is_certain and _is_nowhere(kind, name)
        if not (is_certain or is_nowhere or is_conclusive(kind, name, near, called=called)):
            return None
        if (
            not agreed
            and not is_nowhere
            and self._may_be_inferred(claim, kind, typed=typed)
            and best_likeness(name, near) < _LEAST_INFERRED
        ):
            return None
        near = near or self._names.offer(package, kind.path, name, call)
        return self._lacking(claim, kind, near)

    def _is_vague(self, kind: PackageType, name: str, call: PassedArguments | None) -> bool:
        """Return whether what is asked for may be that of a more special class.

        A tuple may be a named one, of which nothing tells the names; a sequence an array.
        """
        is_abstract = all(each in _ABSTRACT for each in kind.paths) or is_common_base(kind)
        if kind.path != "builtins.tuple" and not is_abstract:
            return False
        if call is None:
            return True
        near = self._names.suggest(kind.package, kind.path, name, call=call)
        return best_likeness(name, near) < _LEAST_INFERRED

    def _is_no_data(self, package: Installed, name: str, near: Sequence[str]) -> bool:
        """Return whether a name is misspelt for what answers for any: two words are hardly data."""
        if "_" in name or not near:
            return bool(near)
        is_near = len(name) > _LONGEST_TAG and best_likeness(name, near) >= _LEAST_INFERRED
        return is_near and not self._may_be_added(package, name)

    def _may_be_of_another(self, claim: MemberClaim, kind: PackageType) -> bool:
        """Return whether a value may be of another class that has the name, as a subclass."""
        name, values = claim.name, self._own.values
        exact = self._is_made(claim.node.value, kind)
        if claim.title and (subclass_may_have(kind, name, exact=exact) or may_have_keys(kind)):
            return True
        if not exact and values.classes.subclass_has(kind, name):
            return True
        # What a type checker reads of a generic class may be any that its variable lists.
        is_read = isinstance(claim.node.value, ast.Attribute)
        return (is_read and is_one_of_several(kind)) or values.is_extended_with(kind, name)

    def _is_made(self, node: ast.expr, kind: PackageType) -> bool:
        """Return whether a value is what the code makes by a call of its class."""
        scope = self._own.scopes.get(node)
        match node:
            case ast.Call(func=function) if scope is not None:
                made = self._own.values.type_of(function, scope)
                if not isinstance(made, PackageType) or not made.is_class:
                    return False
                return made.home == kind.home != ""
            case ast.Name(id=name) if scope is not None and (found := scope.find(name)) is not None:
                return all(
                    isinstance(each, Assigned)
                    and not each.entered
                    and isinstance(each.expression, ast.Call)
                    and self._is_made(each.expression, kind)
                    for each in found[1]
                )
        return False

    def _may_be_any_exception(self, claim: MemberClaim, kind: PackageType) -> bool:
        """Return whether an exception is one that nobody tells: ``caught_warnings[0].message``."""
        if kind.path not in _ANY_EXCEPTION or kind.is_class:
            return False
        scope, value = self._own.scopes.get(claim.node), claim.node.value
        found = scope.find(value.id) if scope is not None and isinstance(value, ast.Name) else None
        return found is None or not any(isinstance(each, Caught) for each in found[1])

    def _is_replaced(self, claim: MemberClaim, kind: PackageType) -> bool:
        """Return whether an instance has something else where its class has a value.

        A descriptor says what, or what makes classes reads a field of it: ``name = Field(…)``.
        """
        node = claim.node.value
        if is_descriptor(kind):
            return True
        scope = self._own.scopes.get(node) or self._own.scopes.get(claim.node)
        if not isinstance(node, ast.Attribute) or scope is None:
            return False
        if (path := self._own.values.import_path(node.value, scope)) is not None:
            # Stubs annotate members of enumerations with what their values are.
            symbol = self._names.look_up(path).symbol
            has = (
                claim.name in {"name", "value"}
                or self._names.look_up(f"{path}.{claim.name}").symbol
            )
            return symbol is not None and symbol.kind == "enum" and bool(has)
        owner = self._own.values.type_of(node.value, scope)
        owners = [owner] if owner is not None else self._classes_with(node.attr)
        surface, classes = kind.package.surface, self._own.values.classes
        return isinstance(surface, PythonSurface) and any(
            base.package.name == kind.package.name and surface.is_made(base.path)
            for each in owners
            if isinstance(each, LocalType) and not each.is_class
            for base in classes.package_bases(each)
        )

    def _classes_with(self, name: str) -> list[LocalType]:
        """Return the classes of the code whose bodies bind a name, as their instances."""
        return [
            LocalType(node, scope.parent or scope)
            for node, scope in self._own.inner_scopes.items()
            if isinstance(node, ast.ClassDef) and name in scope.bindings
        ]

    def _lacking(self, claim: MemberClaim, kind: PackageType, near: Sequence[str]) -> Finding:
        return self._report(
            claim.node,
            claim.name,
            f"{kind.path}.{claim.name}",
            "unknown",
            message=absent(kind.package, "class", kind.path, claim.name, near),
            near=near,
            package=kind.package,
            path=kind.path,
        )

    def _may_be_added(self, package: Installed, name: str) -> bool:
        """Return whether a package, or one that the code imports, may set an attribute."""
        modules = {
            alias.name if isinstance(each, ast.Import) else each.module or ""
            for each in ast.walk(self._own.parsed.tree)
            if isinstance(each, ast.Import | ast.ImportFrom)
            for alias in each.names
        }
        imported = (self._names.resolver.package_for(each) for each in sorted(modules - {""}))
        packages = {e.name: e for e in (package, *imported) if e is not None and e.name != STANDARD}
        surfaces = (each.surface for each in packages.values())
        return any(isinstance(each, PythonSurface) and each.may_set(name) for each in surfaces)

    def _may_be_inferred(self, claim: MemberClaim, kind: PackageType, *, typed: bool) -> bool:
        """Return whether one type checker alone takes a value for what it need not be, or lack.

        Of Python's own classes it may have seen the first of several things that are put there; a
        class without any member is filled elsewhere, and an instance may be given the name.
        """
        if not self._checker.shows_paths:
            return False
        surface = kind.package.surface
        if kind.package.name == STANDARD or not surface.members(kind.path):
            return True
        makers = (
            self._own.values.import_path(each.func, scope)
            for each in ast.walk(claim.node)
            if isinstance(each, ast.Call) and (scope := self._own.scopes.get(each)) is not None
        )
        return not typed and any(
            isinstance(surface, PythonSurface) and surface.assigns_beside(each, claim.name)
            for each in makers
            if each is not None
        )

    def _is_agreed(
        self, kind: PackageType, name: str, near: Sequence[str], *, typed: bool, called: bool
    ) -> bool:
        """Return whether it is enough that several type checkers see no such member of a class.

        They know what its package tells of its types, and nothing of what it sets while it runs.
        """
        openness, surface = kind.openness(name), kind.package.surface
        if not isinstance(surface, PythonSurface):
            return False
        if called and all(surface.is_open_by_data(each, name) for each in kind.paths):
            # What is put there by name may be a function, but for a name that is misspelt.
            is_near = best_likeness(name, near) >= _LEAST_READ
            return typed or (is_near and not surface.may_set(name))
        if called and typed and openness is not Openness.FEW:
            return True
        if called and typed and all(surface.lacks_compiled_method(e, name) for e in kind.paths):
            return True
        if any(surface.is_open_by_words(each, name) for each in kind.paths):
            # Data that is read by name may come from anywhere, but for what is misspelt.
            is_seen = called or best_likeness(name, near) >= _LEAST_READ
            if any(surface.may_be_given(each, name, called=is_seen) for each in kind.paths):
                return False
            if typed or not called:
                return True
            return openness <= Openness.FEW and not surface.may_set(name)
        if typed:
            return True
        return openness <= (Openness.FEW if called else Openness.DATA) and not surface.may_set(name)

    def _local(self, claim: MemberClaim, kind: LocalType, *, called: bool) -> Finding | None:
        classes = self._own.values.classes
        title, name = kind.node.name, claim.name
        bases = [each for each in classes.bases(kind) or () if isinstance(each, PackageType)]
        if bases and may_be_of_field(name):
            return None
        is_certain = classes.openness(kind, name) <= Openness.DATA or (
            classes.own_openness(kind) <= Openness.DATA
            and all(
                is_closed(each, name, called=called)
                or (called and (is_model(each) or _registers(each, name)))
                for each in bases
            )
        )
        if claim.node in self._agreed and called and not is_certain:
            # Of what is typed no more is called than its types tell.
            is_typed = bool(bases) and all(self._owners.is_typed(each.path) for each in bases)
            surfaces = (each.package.surface for each in bases)
            is_set = any(isinstance(e, PythonSurface) and e.may_set(name) for e in surfaces)
            is_certain = classes.openness(kind, name) <= Openness.FEW and (is_typed or not is_set)
        if not is_certain or name.startswith("_") or _MIXED in title.lower():
            return None
        # A class without any member is filled elsewhere; a metaclass has methods, too.
        is_empty = not classes.member_names(kind)
        if is_empty or (kind.node.keywords and name in METACLASS_NAMES):
            return None
        # Python's own classes may have what their stubs leave out.
        if self._is_in_text(name) or self._is_building(kind) or classes.has_member(kind, name):
            return None
        near = self._names.suggest_own(title, name, lambda: classes.member_names(kind))
        if kind.is_receiver and (classes.has_subclasses(kind) or not bases):
            return None
        if not (kind.is_receiver or kind.is_class) and any(map(makes_others, bases)):
            return None
        message = f"class {title} of this code has no {name}{advice(name, near)}"
        return self._report(
            claim.node,
            name,
            f"{title}.{name}",
            "unknown",
            message=message,
            near=near,
            package=bases[0].package if bases else None,
            path=title,
        )

    def _is_in_text(self, name: str) -> bool:
        """Return whether a text of the code has a name, by which an attribute may be set."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and word.search(each.value) is not None
            for each in ast.walk(self._own.parsed.tree)
        )

    def _module(self, claim: ModuleClaim) -> Finding | None:
        path = f"{claim.module}.{claim.name}"
        if self._owners.beside(path)[0]:
            return self._of_namespace(claim.node, path)
        answer = self._names.look_up(path)
        package = answer.package
        if package is None or answer.whole:
            return None
        bound = package.surface.symbol(claim.module)
        if (bound is not None and bound.kind != "module") or self._may_be_another(claim.node):
            return None  # Its package, or the code, binds something else to the name.
        openness = package.surface.openness(claim.module, claim.name)
        call = self._call_of(claim.node) if isinstance(claim.node, ast.Attribute) else None
        near = self._names.suggest(package, claim.module, claim.name, "module", call)
        is_slip = openness is Openness.FEW and best_likeness(claim.name, near) >= 80
        if answer.status != "unknown" and not is_slip and not self._is_missed(claim, package):
            return self._report(claim.node, claim.name, path, "not_checked", package=package)
        return self._report(
            claim.node,
            claim.name,
            path,
            "unknown",
            message=absent(package, "module", claim.module, claim.name, near),
            near=near,
            package=package,
            path=claim.module,
        )

    def _may_be_another(self, node: ast.AST) -> bool:
        """Return whether the code binds the name of a module to something else, too."""
        scope, name = self._own.scopes.get(node), node
        while isinstance(name, ast.Attribute):
            name = name.value
        found = scope.find(name.id) if scope is not None and isinstance(name, ast.Name) else None
        return found is not None and not all(isinstance(each, Import) for each in found[1])

    def _is_missed(self, claim: ModuleClaim, package: Installed) -> bool:
        """Return whether several type checkers miss a name of a module that nothing gives it."""
        surface = package.surface
        if claim.node not in self._agreed or not isinstance(surface, PythonSurface):
            return False
        if surface.is_filled(claim.module, claim.name):
            return False
        if surface.is_generated(claim.module):
            return True
        is_typed = self._owners.is_typed(claim.module)
        # Of Python's own modules no more is seen than stubs tell.
        is_hidden = package.name == STANDARD or claim.name.startswith("_")
        if (is_hidden and not is_typed) or surface.mentions(claim.name):
            return False
        return is_typed or not surface.has_to_give(claim.name, to_module=True)

    def _import(self, claim: ImportClaim) -> Finding | None:
        """Return that a package has no such module, where it is one that has modules."""
        parent, _, name = claim.module.rpartition(".")
        package = self._names.resolver.package_for(claim.module) if parent else None
        if package is None and parent:
            return self._of_namespace(claim.node, claim.module)
        if package is None or self._names.look_up(claim.module).whole:
            return None
        if self._owners.beside(claim.module)[0]:
            return self._of_namespace(claim.node, claim.module)
        modules = package.surface.modules()
        # What finds modules itself may find others than files.
        finds = isinstance(package.surface, PythonSurface) and package.surface.mentions("meta_path")
        if finds or parent not in modules or claim.module in modules:
            return None
        # What is imported of it our reader has missed already.
        told = (each for each in self._own.verdict.findings if each.status in PROBLEMS)
        if any(each.name.startswith(f"{claim.module}.") for each in told):
            return None
        near = self._names.suggest(package, parent, name, "module")
        if isinstance(claim.node, ast.ImportFrom) and claim.node.module == claim.module:
            near = near_modules(package, claim.module, "", claim.node, near)
        return self._report(
            claim.node,
            name,
            claim.module,
            "unknown",
            message=absent(package, "module", parent, name, near),
            near=near,
            package=package,
            path=parent,
        )

    def _of_namespace(self, node: ast.AST, path: str) -> Finding | None:
        """Return that packages which share a namespace have no module of a name, only one like it.

        One that is not like any may be of a package that is not installed.
        """
        missed, beside = self._owners.beside(path)
        name = missed.rpartition(".")[2]
        near = nearest(missed, beside, shaped=False)
        package = self._names.resolver.package_for(near[0]) if near else None
        if package is None or best_likeness(name, near) < _LEAST_OF_NAMESPACE:
            return None
        return self._report(
            node,
            name,
            missed,
            "unknown",
            message=absent(package, "module", missed.rpartition(".")[0], name, near),
            near=near,
            package=package,
            path=missed.rpartition(".")[0],
        )

    def _call_of(self, node: ast.Attribute) -> PassedArguments | None:
        """Return what a member is called with; None where it is not called."""
        calls = (each for each in self._own.scopes if isinstance(each, ast.Call))
        around = self._own.around
        return next((call_shape(each, around) for each in calls if each.func is node), None)

    # -- arguments ---------------------------------------------------------------------------

    def _argument(
        self, claim: ArgumentClaim, owners: Sequence[Owner], signatures: Sequence[Sequence[str]]
    ) -> Finding | None:
        if self._is_local_class(claim.node) or self._doubts.has(claim.node.func):
            return None
        if isinstance(claim.node.func, ast.Subscript):
            return None  # Another may be put there.
        is_building = claim.callee.startswith(_BUILDING)
        if is_building or any(self._is_building(each.kind) for each in owners):
            return None
        path, package = self._callee(claim, owners)
        if path.startswith("builtins.") and (
            path.endswith(("__new__", "__init__"))
            or (self._checker.shows_paths and claim.node not in self._agreed)
        ):
            return None  # A subclass may be meant, or a value that is put there later.
        symbol = package.symbol(path) if package is not None else None
        if package is not None and may_make_another(package, path):
            return None
        names = list(dict.fromkeys(each for one in signatures for each in one))
        keyword = _keyword_of_overloads(claim, names) if claim.overloaded else claim.keyword
        if keyword:
            is_taken = self._is_taken_elsewhere(claim.node, keyword, owners, package)
            if is_taken or not self._is_refused(claim, keyword, symbol, names):
                return None
        elif claim.overloaded or not self._is_miscounted(claim, owners, symbol, package):
            return None
        title = path or ast.unparse(claim.node.func)
        taken = [each for each in names if each.isidentifier()]
        if keyword and symbol is not None and package is not None:
            # What is unpacked from a dictionary of known keys is no parameter for a checker.
            annotations = self._own.values.members.annotations
            taken += [e for e in annotations.unpacked(symbol, package) if e not in taken]
        near = self._near_parameters(claim.node, keyword, taken, symbol, title) if keyword else ()
        reason = claim.reason
        if keyword:
            reason = f"has no parameter {keyword}; it takes {', '.join(taken) or 'none'}"
        return self._report(
            place_of(claim.node, keyword),
            keyword,
            f"{title}({keyword}=)" if keyword else f"{title}()",
            "wrong_argument",
            message=wrong_call(title, reason, symbol),
            near=near,
            package=package,
            path=path,
        )

    def _near_parameters(
        self, node: ast.Call, keyword: str, taken: Sequence[str], symbol: Symbol | None, title: str
    ) -> tuple[str, ...]:
        """Return the parameters that may be meant, of which our reader may know what they take."""
        overloads = (symbol.parameters or (), *symbol.overloads) if symbol is not None else ()
        known = {each.name: each for one in overloads for each in one}
        parameters = [
            known.get(each, Parameter(each, "keyword_only", required=False)) for each in taken
        ]
        given = call_shape(node, self._own.around)
        return suggest_parameters(keyword, parameters, given, title)

    def _is_refused(
        self, claim: ArgumentClaim, keyword: str, symbol: Symbol | None, names: Sequence[str]
    ) -> bool:
        """Return whether what is called certainly takes no such keyword."""
        if keyword in names:
            return False
        wrong = self._mismatch(claim, symbol)
        if wrong is None:
            # A class may have several constructors, of which the wrong one is seen.
            is_seen = any(each.isidentifier() for each in names)
            # What hands all on may have a word of its types' keyword for something else.
            is_handed_on = symbol is not None and bool(symbol.forms)
            is_slip = is_handed_on and any(each.startswith(f"{keyword}_") for each in names)
            if symbol is not None and self._is_field(symbol, keyword):
                return False  # A model may take a field by its own name, too, besides its alias.
            return is_seen and (is_slip or not self._may_be_told_otherwise(claim.callee, keyword))
        return wrong or self._is_never_named(claim, keyword, names)

    def _is_field(self, kind: Symbol, name: str) -> bool:
        """Return whether a class of a package has an attribute of a name."""
        package = self._names.resolver.package_for(kind.path) if kind.kind == "class" else None
        return package is not None and package.symbol(f"{kind.path}.{name}") is not None

    def _is_never_named(self, claim: ArgumentClaim, keyword: str, names: Sequence[str]) -> bool:
        """Return whether no code of a package names a keyword that its types, all told, lack.

        What takes ``**options`` takes it for reading those by name.
        """
        package = self._names.resolver.package_for(claim.callee) if claim.callee else None
        surface = package.surface if package is not None else None
        is_told = any(each.isidentifier() for each in names)
        is_open = any(each.startswith("**") for each in names)
        if package is None or not isinstance(surface, PythonSurface) or is_open or not is_told:
            return False
        return package.name != STANDARD and not surface.mentions(keyword)

    def _is_miscounted(
        self,
        claim: ArgumentClaim,
        owners: Sequence[Owner],
        symbol: Symbol | None,
        package: Installed | None,
    ) -> bool:
        """Return whether a call certainly has too many arguments, or too few."""
        if call_shape(claim.node).open_positional:
            return False
        name = claim.node.func.attr if isinstance(claim.node.func, ast.Attribute) else ""
        kinds = (each.kind for each in owners if isinstance(each.kind, PackageType))
        if any(subclass_takes_more(each, name, len(claim.node.args)) for each in kinds):
            return False
        taken = symbol.parameters if symbol is not None else None
        if claim.reason.startswith("needs") and any(
            e.kind == "var_positional" for e in taken or ()
        ):
            return False  # The rest may be given later: ``*args: P.args``.
        wrong = self._mismatch(claim, symbol)
        if wrong is None:
            # What makes a class may make its constructor, too; an attribute may be a class.
            is_class = symbol is not None and symbol.kind not in {"function", "method"}
            return not is_class and self._is_typed(claim.node, package)
        # Of a proxy of many functions the types tell more than what is written.
        return wrong or (claim.node in self._agreed and self._is_stubbed(symbol, package))

    def _is_building(self, kind: PackageType | LocalType) -> bool:
        """Return whether a class extends Python's own building of packages."""
        if isinstance(kind, PackageType):
            return kind.path.startswith(_BUILDING)
        values = self._own.values
        paths = (values.import_path(each, kind.scope) or "" for each in kind.node.bases)
        return any(each.startswith(_BUILDING) for each in paths) or any(
            map(self._is_building, values.classes.bases(kind) or ())
        )

    def _is_taken_elsewhere(
        self, node: ast.Call, keyword: str, owners: Sequence[Owner], package: Installed | None
    ) -> bool:
        """Return whether a subclass has the method with the keyword, or the code one that has."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        kinds = (each.kind for each in owners if isinstance(each.kind, PackageType))
        taking = self._own.values.is_extended_taking
        if name and any(
            subclass_may_take(each, name, keyword) or taking(each, name, keyword) for each in kinds
        ):
            return True
        # Behind overloads of the code there is a function that may take more.
        if isinstance(node.func, ast.Name) and (
            self._takes_behind_overloads(node.func, keyword)
            or self._takes_by_decorator(node.func, keyword)
        ):
            return True
        # What a method gets of a base may call any other method of the code's class.
        is_receiver = isinstance(node.func, ast.Attribute) and self._is_receiver(node.func.value)
        if package is not None and not is_receiver:
            return False
        methods = (each for each in self._own.scopes if isinstance(each, Function))
        same = (parameters(each.args) for each in methods if is_receiver or each.name == name)
        return any(each.name == keyword for one in same for each in one)

    def _takes_behind_overloads(self, node: ast.Name, keyword: str) -> bool:
        """Return whether one of several functions of a name in the code has a keyword."""
        functions = self._functions(node)
        taken = (each.name for one in functions for each in parameters(one.args))
        return len(functions) > 1 and keyword in taken

    def _takes_by_decorator(self, node: ast.Name, keyword: str) -> bool:
        """Return whether a package that decorates a function of the code names a keyword.

        A checker drops what a protocol takes between the ``P.args`` and ``P.kwargs`` of others.
        """
        values = self._own.values
        decorators = [each for one in self._functions(node) for each in one.decorator_list]
        for each in decorators:
            made_by = each.func if isinstance(each, ast.Call) else each
            scope = self._own.scopes.get(made_by)
            path = values.import_path(made_by, scope) if scope is not None else None
            package = self._names.resolver.package_for(path) if path else None
            surface = package.surface if package is not None else None
            if isinstance(surface, PythonSurface) and surface.has_keyword(keyword):
                return True
        return False

    def _functions(self, node: ast.Name) -> list[Function]:
        """Return the functions of the code that a name may be."""
        scope = self._own.scopes.get(node)
        found = scope.find(node.id) if scope is not None else None
        return [
            each.node
            for each in (found[1] if found is not None else ())
            if isinstance(each, Defined) and isinstance(each.node, Function)
        ]

    def _is_receiver(self, node: ast.expr) -> bool:
        """Return whether an expression is what a method gets first."""
        scope = self._own.scopes.get(node)
        found = scope.find(node.id) if scope and isinstance(node, ast.Name) else None
        return found is not None and any(isinstance(each, Receiver) for each in found[1])

    def _may_be_told_otherwise(self, callee: str, keyword: str) -> bool:
        """Return whether a package, whose types others tell, has what may take a keyword."""
        package = self._names.resolver.package_for(callee) if callee else None
        if package is None or package.name == STANDARD:
            return False
        surface = package.surface
        is_own = any(self._owners.is_typed(each) for each in surface.modules()[:1])
        return not is_own and isinstance(surface, PythonSurface) and surface.may_take(keyword)

    def _is_typed(self, node: ast.Call, package: Installed | None) -> bool:
        """Return whether the parameters of what is called are as they are written."""
        if package is None:
            # A function of the code is; what a class of it inherits may be another one.
            scope = self._own.scopes.get(node)
            found = scope.find(node.func.id) if scope and isinstance(node.func, ast.Name) else None
            return found is not None and all(
                isinstance(each, Defined) and not each.node.decorator_list for each in found[1]
            )
        if package.name == "python":
            return True
        return any(self._owners.is_typed(each) for each in package.surface.modules()[:1])

    def _is_stubbed(self, symbol: Symbol | None, package: Installed | None) -> bool:
        """Return whether a package has a function in a stub of its own alone."""
        is_stub = symbol is not None and symbol.kind == "function" and symbol.file.endswith(".pyi")
        return is_stub and package is not None and package.name != STANDARD

    def _is_local_class(self, node: ast.Call) -> bool:
        """Return whether a class of the code is called, or what a method of it gets as ``cls``.

        Our reader judges the plain ones; decorators and metaclasses make constructors of which a
        type checker does not know all aliases and converters, and a subclass has its own.
        """
        scope = self._own.scopes.get(node)
        found = scope.find(node.func.id) if scope and isinstance(node.func, ast.Name) else None
        return found is not None and any(
            isinstance(each, Receiver)
            or (isinstance(each, Defined) and isinstance(each.node, ast.ClassDef))
            for each in found[1]
        )

    def _mismatch(self, claim: ArgumentClaim, symbol: Symbol | None) -> bool | None:
        """Return whether our reader finds the call wrong, too; None where it does not know."""
        if symbol is None:
            return None
        if not symbol.forms or all(map(_hands_all_on, symbol.forms)):
            return None
        unbound = symbol.kind == "method" and not isinstance(claim.node.func, ast.Attribute)
        return mismatch_of_all(symbol.forms, call_shape(claim.node), unbound=unbound) is not None

    def _callee(
        self, claim: ArgumentClaim, owners: Sequence[Owner]
    ) -> tuple[str, Installed | None]:
        """Return the path of what is called, and whose it is; empty where it is not known."""
        node = claim.node
        scope = self._own.scopes.get(node)
        path = self._own.values.import_path(node.func, scope) if scope is not None else None
        if path is not None:
            return path, self._names.resolver.package_for(path)
        if len(owners) == 1 and isinstance(node.func, ast.Attribute):
            kind = owners[0].kind
            if isinstance(kind, PackageType):
                return f"{kind.path}.{node.func.attr}", kind.package
        return "", None

    def _choice(self, claim: ChoiceClaim) -> Finding | None:
        if claim.node in self._stored_keys or self._is_key_of_own(claim):
            return None  # A dictionary takes any key.
        if self._doubts.is_shown_to_fail(claim.node):
            return None
        # One checker alone may know types that others wrote for the package.
        is_agreed = claim.node in self._agreed or claim.call in self._agreed
        if claim.call is not None and not is_agreed:
            return None  # Another argument may be why no form takes it.
        is_agreed = is_agreed or self._is_unheard_of(claim)
        if any(_may_stand_for(claim.text, each) for each in claim.choices):
            return None
        near = nearest(claim.text, claim.choices, shaped=False, filled=is_agreed)
        if not (near or is_agreed):
            return None
        message = claim.said.message.strip().partition("\n")[0].strip()
        if claim.call is not None:
            message = f"{claim.callee} takes {', '.join(claim.choices)} there, not {claim.text}."
        return self._report(
            claim.node,
            claim.text,
            f'"{claim.text}"',
            "wrong_argument",
            message=message,
            near=near,
        )

    def _is_unheard_of(self, claim: ChoiceClaim) -> bool:
        """Return whether the package of what is given a text has no such word anywhere."""
        package = self._names.resolver.package_for(claim.callee) if claim.callee else None
        surface = package.surface if package is not None else None
        is_word = re.fullmatch(r"\w+", claim.text) is not None
        return is_word and isinstance(surface, PythonSurface) and not surface.mentions(claim.text)

    def _is_key_of_own(self, claim: ChoiceClaim) -> bool:
        """Return whether a text is a key of a dictionary whose keys the code itself tells."""
        kind = _DICTIONARY.search(claim.said.message)
        nodes = (each for each in self._own.scopes if isinstance(each, ast.ClassDef))
        return kind is not None and any(each.name == kind[1] for each in nodes)

    @cached_property
    def _stored_keys(self) -> frozenset[ast.AST]:
        """The keys under which the code puts something."""
        return frozenset(
            each.slice
            for each in ast.walk(self._own.parsed.tree)
            if isinstance(each, ast.Subscript) and not isinstance(each.ctx, ast.Load)
        )

    # -- findings ----------------------------------------------------------------------------

    def _report(
        self,
        node: ast.AST,
        last: str,
        name: str,
        status: Status,
        *,
        message: str = "",
        near: Sequence[str] = (),
        package: Installed | None = None,
        path: str = "",
    ) -> Finding:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if isinstance(node, ast.Attribute):
            line = node.end_lineno or line
            column = (node.end_col_offset or 0) - len(last.encode())
        return Finding(
            line=line,
            column=column + 1 + self._own.parsed.column,
            name=name,
            status=status,
            message=message,
            suggestions=tuple(near),
            path=path,
            package=package.name if package is not None else "",
            version=package.version if package is not None else "",
            engine=self._checker.engine.name,
        )


def _is_nowhere(kind: PackageType, name: str) -> bool:
    """Return whether no word of a package is a name that a class made while it runs would have.

    That is ``Match = type(_compile("").match(""))``, of which types of others tell the members.
    """
    surface, symbol = kind.package.surface, kind.package.symbol(kind.path)
    is_made = symbol is not None and symbol.kind in {"attribute", "constant"}
    return is_made and isinstance(surface, PythonSurface) and not surface.has_to_give(name)


def _may_be_narrower(kind: PackageType, name: str) -> bool:
    """Return whether what is annotated as a ``Sequence``, say, may be a list that has a name."""
    return all(each in _ABSTRACT for each in kind.paths) and any(
        hasattr(each, name) for each in (list, dict, set)
    )


def _may_stand_for(text: str, choice: str) -> bool:
    """Return whether a text may be a short form of a choice, or the same with other signs.

    Types tell the whole words of which a function mostly takes the first letters, too.
    """
    plain, known = (re.sub(r"\W|_", "", each).lower() for each in (text, choice))
    return known == plain or (len(plain) <= _LONGEST_SHORT_FORM and known.startswith(plain))


def _hands_all_on(parameters: Sequence[Parameter]) -> bool:
    """Return whether a function takes whatever it is given, so that only its types may tell."""
    return [each.kind for each in parameters] == ["var_positional", "var_keyword"]


def _registers(kind: PackageType, name: str) -> bool:
    """Return whether a class answers for what its instances are given, and for nothing else."""
    answering = kind.package.symbol(f"{kind.path}.__getattr__")
    surface = kind.package.surface
    return (
        answering is not None
        and (answering.target or answering.path) == _REGISTERING
        and isinstance(surface, PythonSurface)
        and not surface.may_set(name)
    )


def _keyword_of_overloads(claim: ArgumentClaim, names: Sequence[str]) -> str:
    """Return the keyword that no form of a function takes; empty where one may take it."""
    if not names or any(each.startswith("**") for each in names):
        return ""
    return next((each for each in call_shape(claim.node).keywords if each not in names), "")


def _receiver(claim: Claim) -> Iterator[tuple[ast.expr, str]]:
    """Yield the expression whose class is to be known, and its type as it is displayed."""
    if isinstance(claim, MemberClaim):
        yield claim.node.value, claim.title
    elif isinstance(claim, ArgumentClaim) and isinstance(claim.node.func, ast.Attribute):
        yield claim.node.func.value, ""


def _joined(own: Sequence[Finding], judged: Sequence[Finding]) -> tuple[Finding, ...]:
    """Join what our reader and ty found; what our reader found wrong, or has seen, stays."""
    known = {
        (each.line, _last(each), each.status == "wrong_argument")
        for each in own
        if each.status != "not_checked"
    }
    open_ended = {(each.line, _last(each)) for each in own}
    added = [
        each
        for each in judged
        if (each.line, _last(each), each.status == "wrong_argument") not in known
        and (each.status in PROBLEMS or (each.line, _last(each)) not in open_ended)
    ]
    wrong = {(each.line, _last(each)) for each in added if each.status in PROBLEMS}
    kept = [e for e in own if e.status != "not_checked" or (e.line, _last(e)) not in wrong]
    return sort_findings(_of_one_reason([*kept, *added]))


def _of_one_reason(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, of a call with a wrong keyword not that it lacks the right one, too."""
    keywords = {
        (each.line, each.name.partition("(")[0])
        for each in findings
        if each.status == "wrong_argument" and each.name.endswith("=)")
    }
    for each in findings:
        is_count = each.status == "wrong_argument" and each.name.endswith("()")
        if not is_count or (each.line, each.name.removesuffix("()")) not in keywords:
            yield each


def _last(finding: Finding) -> str:
    """Return the member or the argument that a finding is about."""
    return finding.name.removesuffix("()").rstrip("=)").replace("(", ".").rpartition(".")[2]
