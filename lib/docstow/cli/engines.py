"""The commands ``docstow engines``: the type checkers that judge code."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from docstow import languages
from docstow.core.errors import ConfigurationError, InvalidParameter

if TYPE_CHECKING:
    from docstow.languages.shared.engines import Engine
    from docstow.runtime import Runtime


def list_engines(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print each engine, its version, and where it is."""
    for each in known_engines():
        _tell(runtime, options, each, "not installed")
    return 0


def install(runtime: Runtime, options: argparse.Namespace) -> int:
    """Fetch engines that are not there yet, each by its digest."""
    from docstow.languages.shared.engines import engine_folder, platform_of
    from docstow.sources.packages.programs import fetcher_of, unpack_program

    folder = runtime.engines_folder
    if folder is None:
        raise ConfigurationError("The setting engines is none; name a folder.")
    known = {each.name: each for each in known_engines()}
    for name in options.names or known:
        engine = known.get(name)
        if engine is None:
            raise InvalidParameter("NAME", f"there is no engine {name!r}; {', '.join(known)}")
        if runtime.engines.program(engine) is not None:
            _tell(runtime, options, engine, "")
            continue
        here = platform_of(engine)
        if here not in engine.digests:
            raise ConfigurationError(f"{name} {engine.version} has no program for {here}.")
        package = engine.package.format(platform=here)
        folder.mkdir(parents=True, exist_ok=True)
        unpack_program(
            fetcher_of(engine.registry, runtime.upstreams),
            package,
            engine.version,
            engine.digests[here],
            engine.programs,
            engine_folder(folder, engine),
        )
        _tell(runtime, options, engine, "")
    return 0


def _tell(runtime: Runtime, options: argparse.Namespace, engine: Engine, otherwise: str) -> None:
    """Print where an engine is, or what is said in place of that."""
    found = runtime.engines.program(engine)
    body = {
        "name": engine.name,
        "version": engine.version,
        "licence": engine.licence,
        "program": str(found) if found is not None else "",
    }
    said = f"{found} ({engine.licence})" if found is not None else otherwise
    options.out.tell(body, f"{engine.name} {engine.version}: {said}")


def known_engines() -> list[Engine]:
    """Return the engines of all languages."""
    checking = (each.checking() for each in languages.documented() if each.checking is not None)
    return [engine for each in checking for engine in each.engines]
