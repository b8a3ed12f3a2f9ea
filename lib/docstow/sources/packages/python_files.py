"""Wheels and source distributions of Python, laid out as an installer leaves them.

Code and texts are kept as they are. Of compiled modules only their names are kept, as empty files:
readers want to know that they are there. What an archive says of other packages is not taken, and
the list of its files is written anew from those that it has.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from packaging.metadata import RawMetadata, parse_email
from packaging.utils import canonicalize_name

from docstow.core import toml
from docstow.core.errors import PackageNotFound, UnreadableInput
from docstow.languages.python import versions
from docstow.languages.python.cython_sources import CYTHON_FILES, CYTHON_SOURCE
from docstow.languages.shared.guides import CHANGELOG, GUIDE, GUIDES, role_of
from docstow.sources.packages.archives import Unpacker
from docstow.text.python_ast import try_parse_module

_KEPT = (".py", ".pyi", *CYTHON_FILES, ".typed", ".md", ".rst", ".txt")
#: How files end of which names are read.
_READ = (".py", ".pyi", CYTHON_SOURCE)
_NATIVE = (".so", ".pyd")
#: Entries of a folder of import names that lead elsewhere or speak for other packages.
_FOREIGN = (".pth", ".egg-link", ".egg-info", ".egg", ".dist-info")
_INFO = ("METADATA", "namespace_packages.txt", "top_level.txt", "entry_points.txt")
_LARGEST_METADATA = 4 * 1024 * 1024
#: Folders of a source distribution in which its packages usually are.
_ROOTS = ("src/", "lib/", "python/", "")
#: Folders and modules beside them that are not installed.
_NOT_INSTALLED = frozenset(
    {
        *("test", "tests", "testing", "doc", "docs", "example", "examples", "benchmarks", "bench"),
        *("scripts", "tools", "build", "dist", "setup", "conftest", "noxfile", "tasks", "fabfile"),
        *("manage", "utils", "bin", "ci", "demo", "demos", "samples", "versioneer", "ez_setup"),
    }
)
_CONFIGURATION = ("PKG-INFO", "pyproject.toml", "setup.cfg", "setup.py")


class Layout:
    """A folder that is laid out as a virtual environment.

    Args:
        root: the folder, which is empty, or laid out for that version already.
        python: the version of Python that it is for.

    Attributes:
        site: where import names are.
    """

    def __init__(self, root: Path, python: str) -> None:
        series = ".".join(re.findall(r"\d+", python)[:2])
        self.site = root / "lib" / f"python{series}" / "site-packages"
        self.site.mkdir(parents=True, exist_ok=True)
        (root / "pyvenv.cfg").write_text(f"version = {python}\n", encoding="utf-8")

    def info(self, name: str) -> Path:
        """Return where the metadata of a package are; its name is normalised."""
        return self.site / f"{name.replace('-', '_')}.dist-info"

    def metadata(self, name: str) -> bytes:
        """Return the metadata of a package that was added."""
        return (self.info(name) / "METADATA").read_bytes()

    def files(self, name: str) -> list[str]:
        """Return the files of a package that was added, relative to :attr:`site`."""
        record = (self.info(name) / "RECORD").read_text(encoding="utf-8")
        return [line.strip('"').removesuffix(",,").strip('"') for line in record.splitlines()]

    def finish(self, name: str, version: str, placed: Iterable[str], metadata: bytes) -> None:
        """Write the metadata of a package, and the list of its files.

        Args:
            name: normalised.
            version: that was asked for.
            placed: its files, relative to :attr:`site`.
            metadata: what it says of itself.

        Raises:
            UnreadableInput: it says that it is another package or version.
        """
        raw, _ = parse_email(metadata)
        stated, number = raw.get("name", ""), raw.get("version", "")
        same = versions.parse(number) == versions.parse(version) is not None
        if canonicalize_name(stated) != name or not same:
            raise UnreadableInput(
                f"The file that is listed as {name} {version} says that it is"
                f" {stated[:80] or 'nothing'} {number[:40]}; nothing of it was kept."
            )
        info = self.info(name)
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_bytes(metadata)
        files = sorted({each for each in placed if (self.site / each).is_file()})
        lines = [f'"{each}",,\n' if "," in each else f"{each},,\n" for each in files]
        (info / "RECORD").write_text("".join(lines), encoding="utf-8")


def add_wheel(
    layout: Layout,
    unpacker: Unpacker,
    archive: Path,
    filename: str,
    name: str,
    version: str,
    stubs_of: str = "",
) -> Counter[str]:
    """Unpack a wheel into an environment; return how many files are left out, by reason.

    Args:
        layout: the environment.
        unpacker: unpacks into it.
        archive: the wheel.
        filename: of the wheel.
        name: of its package, normalised.
        version: of its package.
        stubs_of: a package that was added, of whose modules with source or stub none is taken.

    Raises:
        UnreadableInput: it is damaged, hostile, or another package than it is listed as.
        TooLarge: it exceeds a limit.
    """
    info = layout.info(name).name
    placed: list[str] = []
    files = layout.files(stubs_of) if stubs_of else ()
    read = {_module(each) for each in files if each.endswith(_READ)}

    def place(path: str) -> str:
        top, _, rest = path.partition("/")
        if top.endswith(".dist-info"):
            return f"{info}/{rest}" if rest in _INFO and _is_of(top, name) else ""
        if top.endswith(".data"):
            scheme, _, path = rest.partition("/")
            if scheme not in ("purelib", "platlib"):
                return ""
        if not _is_kept(path) or _module(path.replace("-stubs/", "/", 1)) in read:
            return ""
        placed.append(path)
        return path

    left_out = unpacker.add(archive, filename, place, content=lambda path: not _is_native(path))
    metadata = layout.info(name) / "METADATA"
    if not metadata.is_file():
        raise UnreadableInput(f"{filename} has no metadata of {name}; it is no wheel of it.")
    layout.finish(name, version, placed, metadata.read_bytes())
    return left_out


def is_read(path: str) -> bool:
    """Return whether a file of a wheel is kept with its bytes by :func:`add_wheel`."""
    top, _, rest = path.partition("/")
    if top.endswith(".dist-info"):
        return rest in _INFO
    if top.endswith(".data"):
        path = rest.partition("/")[2]
    return _is_kept(path) and not _is_native(path)


def add_sdist(
    layout: Layout, unpacker: Unpacker, archive: Path, filename: str, name: str, version: str
) -> Counter[str]:
    """Unpack the Python and the guides of a source distribution; return how many are left out.

    Raises:
        PackageNotFound: it has no module of Python.
        UnreadableInput: it is damaged, hostile, or another package than it is listed as.
        TooLarge: it exceeds a limit.
    """
    paths, texts = _survey(archive, filename)
    roots = dict(_find_modules(name, paths, texts))
    if not roots:
        raise PackageNotFound(
            f"{filename} is the only file of {name} {version} that can be had, and it has no module"
            " of Python: it has to be built. Install it, and docstow reads it where it is."
        )
    placed: list[str] = []

    def place(path: str) -> str:
        path = _below_top(path, filename)
        for start, root in roots.items():
            if (path == start or path.startswith(f"{start}/")) and _is_kept(path):
                placed.append(path.removeprefix(root))
                return path.removeprefix(root)
        if role_of(path) in (CHANGELOG, GUIDE):
            return f"{layout.info(name).name}/{GUIDES}/{path}"
        return ""

    left_out = unpacker.add(archive, filename, place)
    layout.finish(name, version, placed, _metadata_of_sdist(texts, name, version))
    return left_out


def add_guides(layout: Layout, unpacker: Unpacker, archive: Path, filename: str, name: str) -> None:
    """Unpack the guides of a source distribution beside what a wheel of the package has.

    Raises:
        UnreadableInput: it is damaged or hostile.
        TooLarge: it exceeds a limit.
    """

    def place(path: str) -> str:
        path = _below_top(path, filename)
        taken = role_of(path) in (CHANGELOG, GUIDE)
        return f"{layout.info(name).name}/{GUIDES}/{path}" if taken else ""

    unpacker.add(archive, filename, place)


def metadata_of(archive: Path, filename: str) -> bytes:
    """Return the metadata in a wheel or source distribution.

    Raises:
        UnreadableInput: it is damaged or has none.
    """
    if not filename.endswith(".whl"):
        _, texts = _survey(archive, filename)
        return _metadata_of_sdist(texts, "", "")
    found = _texts(archive, filename, lambda path: re.fullmatch(r"[^/]+\.dist-info/METADATA", path))
    if not found:
        raise UnreadableInput(f"{filename} has no metadata.")
    return next(iter(found.values()))


def read_metadata(metadata: bytes) -> list[str]:
    """Return the fields ``Requires-Dist`` of metadata."""
    raw, _ = parse_email(metadata[:_LARGEST_METADATA])
    return list(raw.get("requires_dist", ()))


def unread_modules(layout: Layout, name: str) -> list[str]:
    """Return the public modules of a package that are compiled and have neither source nor stub.

    There are none where the package says that it has its types, by PEP 561.
    """
    files = layout.files(name)
    if any(each.endswith("/py.typed") for each in files):
        return []
    read = {_module(each) for each in files if each.endswith(_READ)}
    found = []
    for each in files:
        if not _is_native(each):
            continue
        folder, _, last = each.rpartition("/")
        stem = last.partition(".")[0]
        path = f"{folder}/{stem}" if folder else stem
        parts = path.split("/")
        public = all(part.isidentifier() and not part.startswith("_") for part in parts)
        if public and "mypyc" not in stem and _module(f"{path}.so") not in read:
            found.append(".".join(parts))
    return sorted(found)


def without_modules(layout: Layout, name: str) -> Callable[[str], bool]:
    """Return whether a file of stubs is wanted, by its path below an environment's root.

    It is not where the package itself has source or stub of its module.
    """
    below = layout.site.relative_to(layout.site.parents[2]).as_posix()
    read = {_module(each) for each in layout.files(name) if each.endswith(_READ)}

    def wanted(path: str) -> bool:
        own = path.removeprefix(f"{below}/").replace("-stubs/", "/", 1)
        return not path.startswith(f"{below}/") or _module(own) not in read

    return wanted


def describe_left_out(filename: str, reasons: Mapping[str, int]) -> list[str]:
    """Return what is said of files that were left out; nothing where none were."""
    if not reasons:
        return []
    listed = ", ".join(f"{number} ({reason})" for reason, number in sorted(reasons.items()))
    return [f"Files of {filename} that were left out: {listed}."]


def _is_kept(path: str) -> bool:
    top = path.partition("/")[0]
    return not top.endswith(_FOREIGN) and path.endswith((*_KEPT, *_NATIVE))


def _module(path: str) -> str:
    """Return the path of a module without suffix, of a package that of its folder."""
    return path.rpartition(".")[0].removesuffix("/__init__")


def _is_native(path: str) -> bool:
    return path.endswith(_NATIVE)


def _is_of(info: str, name: str) -> bool:
    """Return whether a ``.dist-info`` is that of a package, by its name."""
    return canonicalize_name(info.rpartition(".")[0].partition("-")[0]) == name


def _below_top(path: str, filename: str) -> str:
    """Return a path below the single folder at the top, which zips still have."""
    return path.partition("/")[2] if filename.endswith(".zip") else path


def _texts(archive: Path, filename: str, wanted: Any) -> dict[str, bytes]:
    """Return small files of an archive, by their path."""
    with TemporaryDirectory(prefix="docstow-") as folder:
        unpacker = Unpacker(Path(folder))
        names: dict[str, str] = {}

        def place(path: str) -> str:
            if not wanted(path):
                return ""
            return names.setdefault(path, str(len(names)))

        unpacker.add(archive, filename, place)
        found = {path: Path(folder, number) for path, number in names.items()}
        return {
            path: file.read_bytes()[:_LARGEST_METADATA]
            for path, file in found.items()
            if file.is_file()
        }


def _survey(archive: Path, filename: str) -> tuple[list[str], dict[str, bytes]]:
    """Return the paths in a source distribution, and the files that say how it is laid out."""
    paths: list[str] = []

    def wanted(path: str) -> bool:
        path = _below_top(path, filename)
        paths.append(path)
        folder, _, last = path.rpartition("/")
        listing = folder.endswith(".egg-info") and last in ("top_level.txt", "requires.txt")
        return path in _CONFIGURATION or listing

    texts = _texts(archive, filename, wanted)
    return paths, {_below_top(path, filename): body for path, body in texts.items()}


def _metadata_of_sdist(texts: Mapping[str, bytes], name: str, version: str) -> bytes:
    """Return metadata in the form of wheels, of what a source distribution says of itself."""
    raw: RawMetadata = parse_email(texts["PKG-INFO"])[0] if "PKG-INFO" in texts else {}
    lines = ["Metadata-Version: 2.1"]
    lines += [f"Name: {raw.get('name', name)}", f"Version: {raw.get('version', version)}"]
    if summary := raw.get("summary"):
        lines.append(f"Summary: {' '.join(summary.split())}")
    if kind := raw.get("description_content_type"):
        lines.append(f"Description-Content-Type: {kind}")
    if home := raw.get("home_page"):
        lines.append(f"Home-page: {' '.join(home.split())}")
    lines += [
        f"Project-URL: {label}, {' '.join(url.split())}"
        for label, url in raw.get("project_urls", {}).items()
        if "\n" not in label
    ]
    listed = next((body for path, body in texts.items() if path.endswith("requires.txt")), b"")
    needs = raw.get("requires_dist") or list(_old_requirements(listed.decode("utf-8", "replace")))
    lines += [f"Requires-Dist: {each}" for each in needs if "\n" not in each]
    description = re.sub(r"^ {8}", "", raw.get("description", ""), flags=re.MULTILINE)
    return "\n".join([*lines, "", description]).encode("utf-8", "replace")


def _old_requirements(text: str) -> Iterator[str]:
    """Yield the requirements of a ``requires.txt`` of setuptools, its sections as markers."""
    marker = ""
    for line in text.splitlines():
        if line.startswith("["):
            extra, _, condition = line.strip().strip("[]").partition(":")
            parts = [f'extra == "{extra}"'] if extra else []
            marker = " and ".join([*parts, *([f"({condition})"] if condition else [])])
        elif line.strip():
            yield f"{line.strip()} ; {marker}" if marker else line.strip()


def _find_modules(
    name: str, paths: Sequence[str], texts: Mapping[str, bytes]
) -> Iterator[tuple[str, str]]:
    """Yield where modules and packages are that would be installed, and the folder they are in.

    Tools write the names that they install into an ``egg-info``; otherwise the configuration of
    the build says them, or they are those that are named as the project is, or all that look so.

    Args:
        name: of the project, normalised.
        paths: in the source distribution.
        texts: its configuration, by path.
    """
    configured_roots, configured = _configuration(texts)
    roots = list(dict.fromkeys([*configured_roots, *_ROOTS]))
    offered: dict[str, dict[str, str]] = {root: {} for root in roots}
    for path in paths:
        if path.endswith((".py", ".pyi")):
            for root in roots:
                if path.startswith(root):
                    top = path.removeprefix(root).partition("/")
                    stem = top[0] if top[1] else PurePosixPath(top[0]).stem
                    if stem.isidentifier():
                        offered[root].setdefault(stem, root + top[0])
    listed = [
        line.strip()
        for path, body in texts.items()
        if path.endswith("top_level.txt")
        for line in body.decode("utf-8", "replace").splitlines()
    ]
    for wanted in (listed, configured, [name.replace("-", "_"), name.replace("-", "")]):
        found = list(_located([each.replace("/", ".").split(".")[0] for each in wanted], offered))
        if found:
            yield from found
            return
    for root in roots:
        packages = [
            (start, root)
            for stem, start in offered[root].items()
            if stem not in _NOT_INSTALLED and (not start.endswith(".py") or root)
        ]
        if packages:
            yield from packages
            return


def _located(
    names: Iterable[str], offered: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield where the names are, each in the first folder that has it, in whatever case."""
    for name in dict.fromkeys(filter(None, names)):
        for root, stems in offered.items():
            spelled = next((each for each in stems if each.lower() == name.lower()), "")
            start = stems.get(name) or stems.get(spelled)
            if start:
                yield start, root
                break


def _configuration(texts: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Return the folders and the import names that the configuration of a build states."""
    decoded = {path: body.decode("utf-8", "replace") for path, body in texts.items()}
    roots: list[str] = []
    names: list[str] = []
    for read, path in (
        (_read_pyproject, "pyproject.toml"),
        (_read_setup_cfg, "setup.cfg"),
        (_read_setup_py, "setup.py"),
    ):
        if path in decoded:
            some, more = read(decoded[path])
            roots += some
            names += more
    folders = [f"{each.strip('./')}/" for each in roots if each.strip("./")]
    plain = [each.rpartition("/")[2] for each in names]
    folders += [f"{each.rpartition('/')[0]}/" for each in names if "/" in each]
    return folders, plain


def _read_pyproject(text: str) -> tuple[list[str], list[str]]:
    try:
        tool: Any = toml.loads(text).get("tool", {})
    except (toml.TomlError, AttributeError):
        return [], []

    def at(*keys: str) -> Any:
        value = tool
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    roots = [
        *_strings(at("setuptools", "packages", "find", "where")),
        *_strings((at("setuptools", "package-dir") or {}).get("")),
        *_strings(at("pdm", "build", "package-dir")),
        *_strings(at("maturin", "python-source")),
        *_strings(at("uv", "build-backend", "module-root")),
    ]
    names = [
        *_strings(at("setuptools", "packages")),
        *_strings(at("setuptools", "py-modules")),
        *_strings(at("hatch", "build", "targets", "wheel", "packages")),
        *_strings(at("scikit-build", "wheel", "packages")),
        *_strings(at("flit", "module", "name")),
        *_strings(at("uv", "build-backend", "module-name")),
    ]
    poetry = at("poetry", "packages")
    for each in poetry if isinstance(poetry, list) else ():
        if isinstance(each, dict) and isinstance(each.get("include"), str):
            folder = each.get("from")
            names.append(f"{folder}/{each['include']}" if folder else each["include"])
    return roots, names


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _read_setup_cfg(text: str) -> tuple[list[str], list[str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return [], []
    mapped = parser.get("options", "package_dir", fallback="")
    folder = re.search(r"^\s*=\s*(\S+)", mapped, re.MULTILINE)
    roots = [folder[1]] if folder else []
    where = parser.get("options.packages.find", "where", fallback="").strip()
    names = [
        line.strip()
        for key in ("packages", "py_modules")
        for line in re.split(r"[\n,]", parser.get("options", key, fallback=""))
        if line.strip() and ":" not in line
    ]
    return [*roots, *([where] if where else [])], names


def _read_setup_py(text: str) -> tuple[list[str], list[str]]:
    """Return what the call of ``setup`` says in plain literals; it is read and not run."""
    tree = try_parse_module(text)
    roots: list[str] = []
    names: list[str] = []
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func).rpartition(".")[2]
        if called.startswith("find_") and "packages" in called:
            stated = [each.value for each in node.keywords if each.arg == "where"]
            roots += [text for each in [*node.args[:1], *stated] for text in _literal(each)]
        for keyword in node.keywords if called == "setup" else ():
            if keyword.arg in ("packages", "py_modules"):
                names += _literal(keyword.value)
            elif keyword.arg == "package_dir" and isinstance(keyword.value, ast.Dict):
                for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                    if key is not None and _literal(key) == [""]:
                        roots += _literal(value)
    return roots, names


def _literal(node: ast.expr) -> list[str]:
    try:
        return _strings(ast.literal_eval(node))
    except (ValueError, TypeError, RecursionError):
        return []
