"""Where the registries are, and what they ask for: as the machine's own installers have it.

Read are pip's variables and ``pip.conf``, uv's variables, ``uv.toml`` and ``[tool.uv]``, npm's
variables and ``.npmrc``, and ``.netrc``. Where none of them names a registry, the installed tool is
asked for its default; no registry is written here. References: pip's "Configuration", uv's
"Package indexes", npm's "npmrc" and "Scopes".
"""

from __future__ import annotations

import base64
import configparser
import json
import logging
import netrc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from docstow.core import toml
from docstow.core.errors import ConfigurationError
from docstow.sources.packages import Registry

log = logging.getLogger(__name__)

_TIMEOUT_S = 30
_LARGEST = 1024 * 1024
_TRUE = frozenset({"1", "true", "yes", "on"})
_DEFAULT = re.compile(r"\((?:by )?default:? <?(https?://[^\s<>)]+)>?\)")
_VARIABLE = re.compile(r"(?<!\\)\$\{([^${}?]+)(\??)\}")
#: Variables that the ``.npmrc`` of a project may use: they are for registries by their names.
_FOR_PROJECTS = re.compile(r"NPM|NODE|REGISTRY|PACKAGES", re.IGNORECASE)
#: What says whom to trust is not for whoever wrote a project: credentials go that way.
_OF_MACHINES = frozenset(
    {"ca", "ca[]", "cafile", "proxy", "https-proxy", "noproxy", "no-proxy", "strict-ssl"}
)
_AUTH = re.compile(r"(//.+?/?):(_authToken|_auth|username|_password)")
_SCOPE = re.compile(r"(@[^/:\s]+):registry")
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def _run(command: Sequence[str]) -> str:
    """Return what a tool prints; empty where it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own tool, no shell
            list(command),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            cwd=Path.home(),
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired, RuntimeError, ValueError):
        return ""
    return done.stdout if done.returncode == 0 else ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What installers would read where a command runs.

    Attributes:
        environment: the variables.
        home: the user's folder.
        root: the project's folder, whose files count; None where there is none, as in a server.
        prefix: the environment of Python that pip installs into.
        run: returns what a command prints.
    """

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    home: Path = field(default_factory=Path.home)
    root: Path | None = None
    prefix: Path = field(default_factory=lambda: Path(sys.prefix))
    run: Callable[[Sequence[str]], str] = _run

    def variable(self, name: str) -> str:
        """Return a variable; empty where it is not set."""
        return self.environment.get(name, "").strip()


# --- Python ---------------------------------------------------------------------------------------


def python_indexes(setting: str, surroundings: Surroundings) -> tuple[Registry, ...]:
    """Return the indexes of Python packages: the default one, then the further ones.

    Args:
        setting: the operator's own index, which then is the only one; may be empty.
        surroundings: where installers are configured.

    Raises:
        ConfigurationError: no index is configured, or a configuration cannot be read.
    """
    if setting:
        return (_index(setting, surroundings),)
    sources = (
        _pip_variables(surroundings),
        _uv_variables(surroundings),
        _uv_project(surroundings),
        _pip_files(surroundings),
        _uv_files(surroundings),
    )
    default = ""
    further: list[str] = []
    for each in sources:
        if each.none:
            raise ConfigurationError(
                "pip's no-index is set, so no index of Python packages is asked; set"
                " python_index_url to ask one."
            )
        default = default or each.default
        further += each.further
    if not default:
        default = _asked_default(surroundings)
    if not default:
        raise ConfigurationError(
            "No index of Python packages is configured, and neither pip nor uv is installed to be"
            " asked for theirs; set python_index_url (DOCSTOW_PYTHON_INDEX_URL)."
        )
    urls = [url for url in dict.fromkeys((default, *further)) if _is_http(url)]
    if not urls:
        raise ConfigurationError(
            "The index of Python packages that pip or uv is configured with is no address of http;"
            " set python_index_url."
        )
    found: dict[str, Registry] = {}
    for url in urls:
        index = _index(url, surroundings)
        found.setdefault(index.url, index)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Indexes:
    """What one place configures: the default index, further ones, or that none is asked."""

    default: str = ""
    further: tuple[str, ...] = ()
    none: bool = False


def pip_values(surroundings: Surroundings) -> dict[str, str]:
    """Return pip's options by name, of its variables and of its files.

    Raises:
        ConfigurationError: a file cannot be read.
    """
    names = (each for each in surroundings.environment if each.startswith("PIP_"))
    own = {each[4:].lower().replace("_", "-"): surroundings.variable(each) for each in names}
    return _pip_options(surroundings) | {key: value for key, value in own.items() if value}


def _pip_variables(surroundings: Surroundings) -> _Indexes:
    return _Indexes(
        surroundings.variable("PIP_INDEX_URL"),
        tuple(surroundings.variable("PIP_EXTRA_INDEX_URL").split()),
        surroundings.variable("PIP_NO_INDEX").lower() in _TRUE,
    )


def _pip_files(surroundings: Surroundings) -> _Indexes:
    values = _pip_options(surroundings)
    none = values.get("no-index", "").lower() in _TRUE
    further = tuple(values.get("extra-index-url", "").split())
    return _Indexes(values.get("index-url", ""), further, none)


def _pip_options(surroundings: Surroundings) -> dict[str, str]:
    """Read pip's files; a later one goes before an earlier one, ``install`` before ``global``."""
    named = surroundings.variable("PIP_CONFIG_FILE")
    if named == os.devnull:
        return {}
    values: dict[tuple[str, str], str] = {}
    for path in [*_pip_paths(surroundings), *([Path(named)] if named else [])]:
        if (text := _text(path)) is None:
            continue
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(text)
        except configparser.Error as error:
            raise ConfigurationError(
                f"{path} cannot be read as pip's configuration: {type(error).__name__}."
            ) from None
        for section in parser.sections():
            for key, value in parser.items(section):
                values[section, key.lower().replace("_", "-")] = value.strip()
    return {
        key: value
        for section in ("global", "install")
        for (place, key), value in values.items()
        if place == section and value
    }


def _pip_paths(surroundings: Surroundings) -> Iterator[Path]:
    """Yield the global, the user's (of old and of today) and the environment's files."""
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    home = surroundings.home
    if sys.platform == "win32":
        yield Path(surroundings.variable("PROGRAMDATA") or "C:/ProgramData", "pip", name)
        yield home / "pip" / name
        yield Path(surroundings.variable("APPDATA") or home / "AppData/Roaming") / "pip" / name
    else:
        if sys.platform == "darwin":
            yield Path("/Library/Application Support/pip", name)
        for each in (surroundings.variable("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
            yield Path(each, "pip", name)
        yield Path("/etc", name)
        yield home / ".pip" / name
        yield _config_folder(surroundings) / "pip" / name
    environment = surroundings.root / ".venv" if surroundings.root is not None else None
    if environment is not None and environment.is_dir():
        yield environment / name
    else:
        yield Path(surroundings.variable("VIRTUAL_ENV") or surroundings.prefix) / name


def _config_folder(surroundings: Surroundings) -> Path:
    return Path(surroundings.variable("XDG_CONFIG_HOME") or surroundings.home / ".config")


def _uv_variables(surroundings: Surroundings) -> _Indexes:
    further = [
        _with_login(surroundings, *_named(each))
        for each in surroundings.variable("UV_INDEX").split()
    ]
    default = _named(surroundings.variable("UV_DEFAULT_INDEX"))
    return _Indexes(
        _with_login(surroundings, *default) or surroundings.variable("UV_INDEX_URL"),
        (*further, *surroundings.variable("UV_EXTRA_INDEX_URL").split()),
        surroundings.variable("UV_NO_INDEX").lower() in _TRUE,
    )


def _named(text: str) -> tuple[str, str]:
    """Return name and address of an index that may be written ``name=address``."""
    name, equals, url = text.partition("=")
    return (name, url) if equals and "/" not in name else ("", text)


def _with_login(surroundings: Surroundings, name: str, url: str) -> str:
    """Return an address with the user and password that variables of the index's name have."""
    key = re.sub(r"[^A-Z0-9]", "_", name.upper())
    user = surroundings.variable(f"UV_INDEX_{key}_USERNAME") if name else ""
    password = surroundings.variable(f"UV_INDEX_{key}_PASSWORD") if name else ""
    if not url or not (user or password):
        return url
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return urlunsplit(parts._replace(netloc=f"{login}@{host}"))


def _uv_project(surroundings: Surroundings) -> _Indexes:
    """Read ``uv.toml``, or ``[tool.uv]``, of the nearest folder that has one."""
    if surroundings.root is None or surroundings.variable("UV_NO_CONFIG").lower() in _TRUE:
        return _Indexes()
    for folder in (surroundings.root, *surroundings.root.parents):
        if (own := _toml(folder / "uv.toml")) is not None:
            return _uv_table(surroundings, own)
        tool = (_toml(folder / "pyproject.toml") or {}).get("tool")
        if isinstance(tool, dict) and isinstance(tool.get("uv"), dict):
            return _uv_table(surroundings, tool["uv"])
    return _Indexes()


def _uv_files(surroundings: Surroundings) -> _Indexes:
    """Read the user's and the system's files, or the one that a variable names."""
    if surroundings.variable("UV_NO_CONFIG").lower() in _TRUE:
        return _Indexes()
    if named := surroundings.variable("UV_CONFIG_FILE"):
        return _uv_table(surroundings, _toml(Path(named)) or {})
    if sys.platform == "win32":
        roaming = surroundings.variable("APPDATA") or surroundings.home / "AppData/Roaming"
        paths = [Path(roaming, "uv", "uv.toml")]
    else:
        paths = [_config_folder(surroundings) / "uv" / "uv.toml", Path("/etc/uv/uv.toml")]
    found = [_uv_table(surroundings, table) for path in paths if (table := _toml(path))]
    default = next((each.default for each in found if each.default), "")
    none = any(each.none for each in found)
    return _Indexes(default, tuple(url for each in found for url in each.further), none)


def _uv_table(surroundings: Surroundings, table: Mapping[str, Any]) -> _Indexes:
    default, further = "", []
    indexes = table.get("index")
    for each in indexes if isinstance(indexes, list) else []:
        if not isinstance(each, dict) or not isinstance(each.get("url"), str):
            continue
        url = _with_login(surroundings, str(each.get("name", "")), each["url"])
        # An explicit index is for packages that name it, which no tool here can.
        if each.get("default") is True:
            default = default or url
        elif each.get("explicit") is not True:
            further.append(url)
    inner = table.get("pip")
    for place in (table, inner if isinstance(inner, dict) else {}):
        given = place.get("index-url")
        default = default or (given if isinstance(given, str) else "")
        extra = place.get("extra-index-url")
        if isinstance(extra, list):
            further += [each for each in extra if isinstance(each, str)]
    return _Indexes(default, tuple(further), table.get("no-index") is True)


def _asked_default(surroundings: Surroundings) -> str:
    """Return the default that an installed tool's own help names."""
    commands = [[sys.executable, "-m", "pip", "install", "--help"]]
    for tool, *arguments in (
        ("uv", "pip", "install", "--help"),
        ("pip3", "install", "--help"),
        ("pip", "install", "--help"),
    ):
        if found := shutil.which(tool, path=surroundings.environment.get("PATH")):
            commands.append([found, *arguments])
    for command in commands:
        printed = " ".join(surroundings.run(command).split())
        if match := _DEFAULT.search(printed):
            return match[1]
    return ""


def _index(url: str, surroundings: Surroundings) -> Registry:
    """Return an index with its credential: of its address, else of ``.netrc``."""
    bare, login = _split_login(url)
    if not login:
        login = _netrc_login(bare, surroundings)
    return Registry(bare, {"Authorization": f"Basic {login}"} if login else _NO_HEADERS)


def _split_login(url: str) -> tuple[str, str]:
    """Return an address without user and password, and these as Basic has them; empty if none."""
    parts = urlsplit(url.strip())
    login, at, host = parts.netloc.rpartition("@")
    bare = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))
    if not at:
        return bare, ""
    user, _, password = login.partition(":")
    return bare, _basic(unquote(user), unquote(password))


def _basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def _netrc_login(url: str, surroundings: Surroundings) -> str:
    named = surroundings.variable("NETRC")
    names = [Path(named)] if named else [surroundings.home / n for n in (".netrc", "_netrc")]
    for path in names:
        if _text(path) is None:
            continue
        try:
            found = netrc.netrc(str(path)).authenticators(urlsplit(url).hostname or "")
        except (netrc.NetrcParseError, OSError):
            # Other programs ignore what they cannot read of it as well.
            return ""
        if found is not None:
            return _basic(found[0] or "", found[2] or "")
    return ""


# --- npm ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NpmRegistries:
    """The registries of npm packages.

    Attributes:
        default: for packages without a scope, and for scopes that have none of their own.
        scopes: by scope, as ``@types``.
    """

    default: Registry
    scopes: Mapping[str, Registry] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, name: str) -> Registry:
        """Return the registry of a package."""
        scope, slash, _ = name.partition("/")
        return self.scopes.get(scope, self.default) if slash else self.default


def npm_registries(setting: str, surroundings: Surroundings) -> NpmRegistries:
    """Return the registries of npm packages.

    Args:
        setting: the operator's own registry, which then is the only one; may be empty.
        surroundings: where npm is configured.

    Raises:
        ConfigurationError: none is configured, or it is no address of http.
    """
    npm = _Npm(surroundings)
    if setting:
        return NpmRegistries(npm.registry(setting))
    default = npm.values.get("registry", "")
    if not default and (found := shutil.which("npm", path=surroundings.environment.get("PATH"))):
        lines = surroundings.run([found, "config", "get", "registry"]).split()
        default = next((each for each in reversed(lines) if _is_http(each)), "")
    if not default:
        raise ConfigurationError(
            "No registry of npm packages is configured, and npm is not installed to be asked for"
            " its own; set npm_registry_url (DOCSTOW_NPM_REGISTRY_URL)."
        )
    if not _is_http(default):
        raise ConfigurationError(
            "The registry that npm is configured with is no address of http; set npm_registry_url."
        )
    scopes = {
        match[1]: npm.registry(url)
        for key, url in npm.values.items()
        if (match := _SCOPE.fullmatch(key)) and _is_http(url)
    }
    return NpmRegistries(npm.registry(default), MappingProxyType(scopes))


def npm_values(surroundings: Surroundings) -> Mapping[str, str]:
    """Return npm's options by name, of its variables and of its files."""
    return _Npm(surroundings).values


class _Npm:
    """npm's configuration: variables before the project's file, the user's and the global one."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    @cached_property
    def values(self) -> Mapping[str, str]:
        """All values by key, those that count."""
        own = self._surroundings
        found: dict[str, str] = {}
        for name, value in own.environment.items():
            if name.lower().startswith("npm_config_") and value:
                # ``npm_config__authToken`` and ``npm_config_//host/:_authToken`` keep their case.
                key = name[len("npm_config_") :]
                key = key if key.startswith(("//", "@")) else key.lower().replace("_", "-")
                found.setdefault(key, value.strip())
        for path, variables in self._files(found):
            for key, value in _read_npmrc(_text(path) or "", variables):
                if own.root is not None and path == own.root / ".npmrc" and key in _OF_MACHINES:
                    log.warning("%s of %s is not read: a project cannot say it", key, path)
                else:
                    found.setdefault(key, value)
        return found

    def _files(self, given: Mapping[str, str]) -> Iterable[tuple[Path, Mapping[str, str]]]:
        """Yield the files, each with the variables that it may use."""
        own = self._surroundings
        everything = own.environment
        if own.root is not None and own.root != own.home:
            # Whoever wrote a project may not have every variable sent to an address of theirs.
            meant = {n: each for n, each in everything.items() if _FOR_PROJECTS.search(n)}
            yield own.root / ".npmrc", meant
        yield Path(given.get("userconfig") or own.home / ".npmrc"), everything
        if named := given.get("globalconfig"):
            yield Path(named), everything
        elif prefix := given.get("prefix") or own.variable("PREFIX"):
            yield Path(prefix, "etc", "npmrc"), everything
        elif found := shutil.which("node", path=own.environment.get("PATH")):
            yield Path(found).resolve().parent.parent / "etc" / "npmrc", everything

    def registry(self, url: str) -> Registry:
        """Return a registry with the credential of its address, or of the nearest above it."""
        bare, login = _split_login(url)
        if login:
            return Registry(bare, {"Authorization": f"Basic {login}"})
        return Registry(bare, credentials=self._credentials)

    @cached_property
    def _credentials(self) -> Mapping[str, Mapping[str, str]]:
        """What is sent to addresses by how they begin, without their scheme."""
        parts: dict[str, dict[str, str]] = {}
        for key, value in self.values.items():
            if (match := _AUTH.fullmatch(key)) and value and not _VARIABLE.search(value):
                parts.setdefault(f"{match[1].rstrip('/')}/", {})[match[2]] = value
        found: dict[str, Mapping[str, str]] = {}
        for prefix, given in parts.items():
            if token := given.get("_authToken"):
                found[prefix] = {"Authorization": f"Bearer {token}"}
            elif login := given.get("_auth") or self._login(given):
                found[prefix] = {"Authorization": f"Basic {login}"}
        return MappingProxyType(found)

    @staticmethod
    def _login(given: Mapping[str, str]) -> str:
        if "username" not in given or "_password" not in given:
            return ""
        try:
            password = base64.b64decode(given["_password"], validate=False).decode()
        except ValueError:
            return ""
        return _basic(given["username"], password)


def _read_npmrc(text: str, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield keys and values of an ``.npmrc``, variables filled in, the last of a key first."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in ";#[" or "=" not in line:
            continue
        key, _, value = line.partition("=")
        key, value = _filled(_unquoted(key.strip()), environment), _unquoted(value.strip())
        # An array is a line for each of its values.
        known = f"{found[key]}\n" if key.endswith("[]") and key in found else ""
        found[key] = known + _filled(value, environment)
    yield from found.items()


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        if text[0] == '"':
            try:
                return str(json.loads(text))
            except ValueError:
                pass
        return text[1:-1]
    # A comment may follow a value.
    return re.sub(r"\s+[;#].*", "", text)


def _filled(text: str, environment: Mapping[str, str]) -> str:
    """Fill in ``${NAME}``, and ``${NAME?}`` by nothing where it is not set."""

    def value(match: re.Match[str]) -> str:
        return environment.get(match[1], "" if match[2] else match[0])

    return _VARIABLE.sub(value, text)


# --- Files ----------------------------------------------------------------------------------------


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://")) and bool(urlsplit(url).netloc)


def _text(path: Path) -> str | None:
    """Return the text of a file; None where there is none."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None


def _toml(path: Path) -> Mapping[str, Any] | None:
    if (text := _text(path)) is None:
        return None
    try:
        return toml.loads(text)
    except toml.TomlError:
        # The message of the parser may quote a line with a password.
        raise ConfigurationError(f"{path} is not TOML, so its indexes are not known.") from None
