"""The commands ``doctor``, which looks for what is wrong here, and ``config show``."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from docstow.cli.engines import known_engines
from docstow.core import auth
from docstow.core.errors import CrateNotFound, DocstowError, PackageNotFound
from docstow.core.secret import Secret
from docstow.core.settings import FIELDS
from docstow.core.threads import in_parallel
from docstow.languages import PYTHON, TYPESCRIPT
from docstow.store.leases import SKEW_S
from docstow.store.objects import ReadOnlyStore
from docstow.store.objects.probe import probe

if TYPE_CHECKING:
    from docstow.runtime import Runtime

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check has found.

    Attributes:
        check: what was looked at.
        state: ``fault`` where something does not work, ``warning`` where something is left out.
        found: what is there.
        advice: what to do about it; empty where it is ok.
    """

    check: str
    state: Literal["ok", "warning", "fault"]
    found: str
    advice: str = ""


def doctor(runtime: Runtime, options: argparse.Namespace) -> int:
    """Look at everything that docstow needs; print what is there and what to do.

    Returns:
        1 where something does not work, else 0.
    """
    checks: list[Callable[[Runtime], Finding]] = [
        *(_store, _clock, _model, _disk, _port, _callers, _browser, _engines, _cargo),
        *(_crates, _packages_of(PYTHON.kind), _packages_of(TYPESCRIPT.kind)),
    ]
    found = in_parallel(lambda check: _attempt(check, runtime), checks)
    rows = [
        (each.state, each.check, "\n".join(filter(None, [each.found, each.advice])))
        for each in found
    ]
    header = ("", "check", "found, and what to do")
    options.out.table(map(asdict, found), header, rows, _lines(found), whole=(0, 1))
    return 1 if any(each.state == "fault" for each in found) else 0


def _lines(found: list[Finding]) -> Iterator[str]:
    for each in found:
        yield f"{each.state}: {each.check}: {each.found}{'; ' * bool(each.advice)}{each.advice}"


def _attempt(check: Callable[[Runtime], Finding], runtime: Runtime) -> Finding:
    try:
        return check(runtime)
    except DocstowError as error:
        name = (check.__doc__ or "").partition(":")[0]
        return Finding(name, "fault", error.message, "correct what it names, and run this again")


def _store(runtime: Runtime) -> Finding:
    """store: whether it can be written, and honours the conditions of writes."""
    try:
        probe(runtime.store)
    except ReadOnlyStore:
        return Finding(
            "store",
            "warning",
            f"{runtime.location} is only read",
            "give write access to whoever is to stow",
        )
    return Finding("store", "ok", f"{runtime.location} keeps the conditions of writes")


def _clock(runtime: Runtime) -> Finding:
    """clock: how far this machine's is from the store's."""
    from docstow.store.inventory import store_time

    try:
        apart_s = abs((store_time(runtime.store) - datetime.now(UTC)).total_seconds())
    except ReadOnlyStore:
        return Finding("clock", "warning", "a store that is only read tells no time", "")
    if apart_s > SKEW_S:
        advice = "set this machine's clock by NTP; leases of ingests are read by it"
        return Finding("clock", "fault", f"{apart_s:.0f} s away from the store's", advice)
    return Finding("clock", "ok", "agrees with the store's")


def _model(runtime: Runtime) -> Finding:
    """model: whether a text can be embedded."""
    length = len(runtime.embedder.embed_query("what a first search needs"))
    return Finding("model", "ok", f"{runtime.settings.model} makes vectors of {length} numbers")


def _disk(runtime: Runtime) -> Finding:
    """disk: what is free for the cache, and for a store that is a directory."""
    places = {Path(runtime.cache_folder)}
    if "://" not in runtime.location:
        places.add(Path(runtime.location))
    free = min(shutil.disk_usage(_existing(place)).free for place in places)
    told = f"{free / _GIB:.1f} GiB free"
    if free < _GIB:
        advice = "make room, or set cache and store to another disk"
        return Finding("disk", "warning", told, advice)
    return Finding("disk", "ok", told)


def _existing(place: Path) -> Path:
    return next(each for each in (place.absolute(), *place.absolute().parents) if each.exists())


def _port(runtime: Runtime) -> Finding:
    """port: whether serve can listen."""
    from docstow.server.http import listen

    settings = runtime.settings
    where = f"{settings.host} port {settings.port}"
    try:
        listen(settings.host, settings.port).close()
    except DocstowError:
        advice = "docstow may be serving there; else choose another with --port"
        return Finding("port", "warning", f"{where} is taken", advice)
    return Finding("port", "ok", f"{where} is free")


def _callers(runtime: Runtime) -> Finding:
    """callers: who may call a server of these settings."""
    if runtime.policy == auth.CLOSED:
        advice = "make a token with docstow token new NAME, and set DOCSTOW_AUTH"
        return Finding("callers", "warning", "nobody may call serve over HTTP", advice)
    return Finding("callers", "ok", "auth says who may call, or loopback alone is served")


def _browser(runtime: Runtime) -> Finding:
    """browser: whether pages that need one can be crawled."""
    from docstow.sources.site.browser import find_browser

    found = find_browser(runtime.settings.chromium)
    if not found:
        advice = "install Chromium and docstow[js], if a site needs render_js; none else does"
        return Finding("browser", "warning", "none is on PATH", advice)
    return Finding("browser", "ok", found)


def _engines(runtime: Runtime) -> Finding:
    """engines: whether the type checkers are there that judge code."""
    there = {
        f"{each.name} {each.version}": runtime.engines.program(each) for each in known_engines()
    }
    missing = [name for name, found in there.items() if found is None]
    if runtime.engines_folder is None or not missing:
        return Finding("engines", "ok", ", ".join(there) if not missing else "none is to be used")
    advice = "docstow engines install, for verify_code to find more"
    return Finding("engines", "warning", f"not installed: {', '.join(missing)}", advice)


def _cargo(runtime: Runtime) -> Finding:
    """Cargo check: whether it is on, and can be."""
    if not runtime.settings.cargo_check:
        return Finding("cargo check", "ok", "off: no code of a crate is run")
    from docstow.languages.rust.cargo_check import version

    if not (found := version()):
        advice = "install Rust, or set cargo_check to false"
        return Finding("cargo check", "warning", "on, and there is no cargo on PATH", advice)
    return Finding("cargo check", "ok", f"on: cargo {found} runs what projects depend on")


def _crates(runtime: Runtime) -> Finding:
    """crates: whether the index of crates answers."""
    if runtime.settings.offline:
        return Finding("crates", "ok", "offline: nothing outside is asked")
    try:
        runtime.resolver.resolve_upstream("serde")
    except CrateNotFound:
        pass  # it is an answer
    except DocstowError as error:
        return _unreached("crates", error)
    return Finding("crates", "ok", f"{runtime.settings.crates_index_url} answers")


def _packages_of(kind: str) -> Callable[[Runtime], Finding]:
    known = {PYTHON.kind: "pip", TYPESCRIPT.kind: "typescript"}[kind]

    def check(runtime: Runtime) -> Finding:
        name = f"packages of {kind}"
        if runtime.settings.offline:
            return Finding(name, "ok", "offline: nothing outside is asked")
        registry = runtime.upstreams.package_registry(kind)
        if registry is None:
            return Finding(name, "warning", "no registry is set", "")
        try:
            registry.resolve(known, "")
        except PackageNotFound:
            pass  # it is an answer
        except DocstowError as error:
            return _unreached(name, error)
        return Finding(name, "ok", "their registry answers")

    check.__doc__ = f"packages of {kind}: whether their registry answers."
    return check


def _unreached(check: str, error: DocstowError) -> Finding:
    advice = "or look at the proxy, or set offline: what is stowed answers all the same"
    return Finding(check, "warning", error.message, advice)


def show_config(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print every setting with its value and where that came from; secrets are hidden."""
    settings = runtime.settings
    bodies: list[dict[str, Any]] = []
    for name in FIELDS:
        value = getattr(settings, name)
        shown = str(value) if isinstance(value, Secret) else value
        bodies.append({"name": name, "value": shown, "from": options.origins[name]})
    rows = [(each["name"], _spelled(each["value"]), each["from"]) for each in bodies]
    plain = (f"{name} = {value}  # {origin}" for name, value, origin in rows)
    options.out.table(bodies, ("setting", "value", "from"), rows, plain)
    return 0


def _spelled(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
