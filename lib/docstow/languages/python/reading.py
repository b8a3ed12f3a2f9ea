"""How installed Python packages are read: surfaces, files, and the graph of imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from docstow.languages.python.documents import documents
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.language import ModuleGraph, Reading
from docstow.languages.shared.project import Package, Scan

_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<of>\.*[\w.]*)[ \t]+import[ \t]*"
    r"(?:\((?P<many>[^)]*)\)|(?P<some>[^#\n\\]*))"
    r"|import[ \t]+(?P<plain>[\w., \t]+))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")


def open_surfaces(scan: Scan) -> Callable[[Package], PythonSurface]:
    """Return what opens the surfaces of a project's packages, each once."""
    opened: dict[str, PythonSurface] = {}

    def open_surface(package: Package) -> PythonSurface:
        key = f"{package.files_root} {package.name}"
        if key not in opened:
            opened[key] = PythonSurface(package, scan.boundary, open_sibling)
        return opened[key]

    def open_sibling(name: str) -> PythonSurface | None:
        package = scan.importing(name, "python")
        if package is None or not package.installed or package.files_root is None:
            return None
        return open_surface(package)

    return open_surface


def imported_names(text: str, module: str, *, package: bool) -> Iterator[str]:
    """Yield dotted names of what is imported, and of names that may be modules, absolute."""
    base = module.split(".") if package else module.split(".")[:-1]
    for found in _IMPORTS.finditer(text):
        if found["plain"]:
            yield from (part.split()[0] for part in found["plain"].split(",") if part.split())
            continue
        name = found["of"]
        level = len(name) - len(name.lstrip("."))
        above = base[: len(base) - level + 1] if level else []
        source = ".".join([*above, *([name[level:]] if name[level:] else [])])
        if source:
            yield source
        inner = _COMMENT.sub("", found["many"] or found["some"] or "")
        for part in inner.split(","):
            if part.split() and part.split()[0].isidentifier():
                yield f"{source}.{part.split()[0]}"


def _modules(files: Iterable[str]) -> dict[str, str]:
    modules: dict[str, str] = {}
    for each in files:
        stem, _, suffix = each.rpartition(".")
        if suffix in {"py", "pyi"}:
            name = stem.removesuffix("/__init__").replace("-stubs", "").replace("/", ".")
            if suffix == "py" or name not in modules:
                modules[name] = each
    return modules


def _imports(text: str, module: str, path: str, modules: Mapping[str, str]) -> Iterator[str]:
    del modules
    return imported_names(text, module, package="/__init__.py" in path)


def _module_of(target: str, modules: Mapping[str, str]) -> str:
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target


def _starts(package: Package, root: Path) -> list[Path]:
    """Return where a package's files begin; ``site-packages`` is others' too."""
    found = []
    for name in package.import_names:
        place = root.joinpath(*name.split("."))
        stubs = root / f"{name}-stubs"
        modules = [place.with_name(f"{place.name}{suffix}") for suffix in (".pyi", ".py")]
        found += [each for each in (place, stubs) if each.is_dir()]
        found += [each for each in modules if each.is_file()]
    return found


def _owns(package: Package, path: str) -> bool:
    for name in package.import_names:
        place = name.replace(".", "/")
        beside = (f"{place}.py", f"{place}.pyi")
        if path in beside or path == place or path.startswith((f"{place}/", f"{name}-stubs/")):
            return True
    return False


READING = Reading(
    reader="python/3",
    surfaces=open_surfaces,
    documents=documents,
    graph=ModuleGraph(
        separator=".",
        modules=_modules,
        imports=_imports,
        module_of=_module_of,
        outside=lambda target: target.split(".")[0],
        own=lambda package: {each.split(".")[0] for each in package.import_names},
    ),
    starts=_starts,
    owns=_owns,
    by_definition=True,
)
