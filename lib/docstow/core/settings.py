"""The settings, from flags, a TOML file, ``DOCSTOW_*`` and defaults, in that order."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docstow.core.errors import ConfigurationError
from docstow.core.records import dataclass
from docstow.core.secret import Secret
from docstow.core.similar import similar_names

MIB = 1024 * 1024
_UNITS = {"": 1, "b": 1, "kib": 1024, "mib": MIB, "gib": 1024 * MIB}
_UNITS |= {"kb": 1000, "mb": 1000_000, "gb": 1000_000_000}
_SWITCHES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _setting(default: Any, help_text: str, *, least: float | None = None, kind: str = "") -> Any:
    return dataclasses.field(
        default=default,
        metadata={"help": help_text, "least": least, "kind": kind},
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Sizes are bytes (``30MiB`` is accepted), times are seconds."""

    store: str = _setting("", "a directory, or s3://bucket/prefix; empty: the user's data folder")
    s3_endpoint: str = _setting("", "URL of an S3 server other than AWS", kind="url")
    s3_region: str = _setting("us-east-1", "region of the bucket")
    docs_rs_url: str = _setting("https://docs.rs", "where rustdoc JSON comes from", kind="url")
    crates_index_url: str = _setting(
        "https://index.crates.io", "the sparse index that versions come from", kind="url"
    )
    # These two may have a password in them.
    python_index_url: Secret = _setting(
        Secret(),
        "the index that Python packages come from; empty: the one that pip uses",
        kind="secret url",
    )
    npm_registry_url: Secret = _setting(
        Secret(),
        "the registry that Node packages come from; empty: the one that npm uses",
        kind="secret url",
    )
    offline: bool = _setting(
        default=False,
        help_text="nothing outside is asked; what is stowed answers, and says so",
    )
    fetch_imports: bool = _setting(
        default=True,
        help_text="a registry may be asked for packages that checked code only imports",
    )
    guides: str = _setting(
        "",
        "websites of packages: auto (added when first wanted), ask (named), never; empty: auto on"
        " loopback, ask elsewhere",
    )
    advisories: str = _setting(
        "", "a file or folder of advisories: an export of OSV, or a checkout of RustSec's database"
    )
    github_url: str = _setting(
        "https://api.github.com", "GitHub's API, or the root of another Git host", kind="url"
    )
    github_token: Secret = _setting(Secret(), "sent to github_url alone", kind="secret")
    open_webui_token: Secret = _setting(
        Secret(), "API key of Open WebUI, sent to the address of export --push alone", kind="secret"
    )
    presets: str = _setting("", "a TOML file with further names of known sources")
    chromium: str = _setting("", "the browser for render_js; empty: found on PATH")
    target: str = _setting("", "compilation target of crate docs; empty: each crate's default")
    model: str = _setting(
        "bundled", "bundled, a hub's OWNER/NAME[@REVISION], a folder, or openai:NAME"
    )
    model_precision: str = _setting("", "fp32 or int8; empty: fp32, or what a folder has")
    models: str = _setting("", "folder of fetched models; empty: beside the blob cache")
    hub_url: str = _setting("https://huggingface.co", "where models are fetched", kind="url")
    embeddings_url: str = _setting("", "API root of openai:NAME, as https://host/v1", kind="url")
    embeddings_key: Secret = _setting(Secret(), "bearer token for that API", kind="secret")
    store_limit: int = _setting(
        2048 * MIB, "size from which on upkeep evicts what was not used for longest", kind="size"
    )
    upkeep_hours: float = _setting(
        1.0, "pause between rounds of upkeep in a server without a queue; 0: none", least=0
    )
    queue_url: str = _setting("", "SQS queue of jobs; empty: they run in this process", kind="url")
    dead_letter_url: str = _setting("", "SQS queue of jobs that failed too often", kind="url")
    max_receive_count: int = _setting(
        5, "tries of a job, as that queue's redrive policy has it", least=1
    )
    auth: Secret = _setting(
        Secret(),
        "who may call; empty: whoever reaches loopback, and nobody elsewhere",
        kind="secret",
    )
    oauth_issuer: str = _setting(
        "", "authorization server whose JWTs are checked here and accepted", kind="url"
    )
    oauth_resource: str = _setting(
        "",
        "address of /mcp, as clients and oauth_issuer know it; empty: at the host that was asked",
        kind="url",
    )
    oauth_audience: tuple[str, ...] = _setting(
        (), "audiences or client ids of accepted JWTs; empty: oauth_resource"
    )
    oauth_sources: str = _setting(
        "", "claim of those JWTs with the patterns of the sources that each sees; empty: all"
    )
    rate: float = _setting(
        30.0, "requests of one token or address a second, with a burst; 0: any number", least=0
    )
    slow_rate: float = _setting(
        2.0, "the same of calls that may take seconds, as verify_code", least=0
    )
    quota_sources: int = _setting(
        200, "sources that one credential may add, unless it is an admin's; 0: any number", least=0
    )
    quota_bytes: int = _setting(
        1024 * MIB, "text that these may hold; 0: any amount", least=0, kind="size"
    )
    max_crawls: int = _setting(
        8, "crawls at the same time, in all processes of a store; 0: any number", least=0
    )
    proxies: tuple[str, ...] = _setting(
        (), "addresses of proxies that are believed in X-Forwarded-For and X-Forwarded-Proto"
    )
    wait_s: float = _setting(20.0, "how long a call waits for a crate to be stowed", least=0)
    lease_s: float = _setting(15.0, "when the lease of an ingest that died ends", least=1)
    workers: int = _setting(2, "ingests that run at the same time in one process", least=1)
    pre_ingest_workers: int = _setting(
        3, "crates that --pre-ingest stows at the same time", least=1
    )
    max_compressed: int = _setting(30 * MIB, "largest download", least=1, kind="size")
    max_decompressed: int = _setting(
        100 * MIB, "largest file after unpacking", least=1, kind="size"
    )
    max_push: int = _setting(5_000_000, "longest text of a push", least=1, kind="size")
    connect_timeout_s: float = _setting(5.0, "upstream connection timeout", least=0.001)
    read_timeout_s: float = _setting(30.0, "upstream read timeout", least=0.001)
    total_timeout_s: float = _setting(120.0, "upstream timeout for one whole answer", least=0.001)
    retries: int = _setting(4, "tries after the first on 429, 5xx and connection faults", least=0)
    try_unknown_formats: bool = _setting(
        default=False,
        help_text="read rustdoc JSON of formats newer than the known ones, as far as that goes",
    )
    upstream_interval_s: float = _setting(1.0, "pause between requests to docs.rs", least=0)
    contact_url: str = _setting(
        "https://github.com/docstow/docstow", "in the User-Agent, so that upstreams can write"
    )
    upstream_hosts: tuple[str, ...] = _setting(
        (), "further hosts that docs.rs, the crates' index or the hub may redirect to; *.NAME too"
    )
    private_hosts: tuple[str, ...] = _setting(
        (), "hosts on private addresses that sources may name; * for any"
    )
    cache: str = _setting("", "folder of the local blob cache; empty: the user's cache folder")
    cache_bytes: int = _setting(2048 * MIB, "limit of the local blob cache", least=0, kind="size")
    package_bytes: int = _setting(
        512 * MIB,
        "limit of the packages that lie unpacked beside the cache",
        least=0,
        kind="size",
    )
    code_processes: int = _setting(
        2,
        "processes of serve that read code and packages, each call under a budget; 0: none",
        least=0,
    )
    engines: str = _setting(
        "", "folder of type checkers that judge code; empty: beside the blob cache; none: no one"
    )
    cargo_check: bool = _setting(
        default=False,
        help_text="cargo judges Rust code, too, in projects that lock; it runs build scripts and"
        " macros of what they depend on",
    )
    memory_bytes: int = _setting(512 * MIB, "limit of loaded indexes", least=0, kind="size")
    freshness_s: float = _setting(5.0, "how old a head may be before it is checked again", least=0)
    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8000, "port to listen on; 0 picks one", least=0)
    allowed_hosts: tuple[str, ...] = _setting((), "further Host names that are served; * for any")
    allowed_origins: tuple[str, ...] = _setting((), "browser origins that may call; * for any")
    compat: tuple[str, ...] = _setting(
        (),
        "earlier systems whose forms are served: nats-docs, rusty-memory, context6, pkg-local; all",
    )
    suspect: str = _setting(
        "mark", "third-party text that speaks to an assistant: mark (with the reason) or drop"
    )
    root: tuple[str, ...] = _setting(
        (), "project directories whose packages are read; by stdio and commands: the current one"
    )
    log_level: str = _setting("info", "debug, info, warning or error")
    log_format: str = _setting("text", "text, or json: an object a line")
    log_file: str = _setting("", "where logs go; empty: standard error")

    def __post_init__(self) -> None:
        """Take texts for secrets, too, as callers from Python write them."""
        for name, field in FIELDS.items():
            value = getattr(self, name)
            if isinstance(field.default, Secret) and isinstance(value, str):
                object.__setattr__(self, name, Secret(value))


#: Addresses at which only users of this machine reach a server.
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def allowed_private(settings: Settings) -> bool | tuple[str, ...]:
    """Return whether sources may name hosts on private addresses, or which hosts.

    Callers of a server on loopback are on this machine already and can read its network. Others
    could make a public server read what they cannot.
    """
    if "*" in settings.private_hosts or settings.host in LOOPBACK:
        return True
    return settings.private_hosts


GUIDES = ("auto", "ask", "never")


def guides_mode(settings: Settings) -> str:
    """Return whether the websites of packages are added, named or passed over.

    Raises:
        ConfigurationError: the setting is none of these.
    """
    if settings.guides and settings.guides not in GUIDES:
        raise ConfigurationError(f"guides: must be {', '.join(GUIDES)}, not {settings.guides!r}")
    if settings.offline:
        return "never"
    return settings.guides or ("auto" if settings.host in LOOPBACK else "ask")


def drops_suspect(settings: Settings) -> bool:
    """Return whether third-party text that speaks to an assistant is dropped, not just marked.

    Raises:
        ConfigurationError: the setting is neither.
    """
    if settings.suspect not in {"mark", "drop"}:
        raise ConfigurationError(f"suspect: must be mark or drop, not {settings.suspect!r}")
    return settings.suspect == "drop"


FIELDS = {field.name: field for field in dataclasses.fields(Settings)}


def load(
    flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None
) -> Settings:
    """Merge the four layers into one value.

    Args:
        flags: settings given on the command line; ``None`` values count as not given.
        environment: usually ``os.environ``; only ``DOCSTOW_<NAME>`` entries of known names count.
        file: a TOML file with settings by their names, at the top level.

    Raises:
        ConfigurationError: with all mistakes of all layers, one a line.
    """
    mistakes: list[str] = []
    layers = _layers(flags, environment, file, mistakes)
    merged: dict[str, Any] = {}
    for origin, layer in layers:
        for name, raw in layer.items():
            label = (
                f"DOCSTOW_{name.upper()}" if origin == "DOCSTOW_" else f"{origin} {name}".strip()
            )
            if name not in FIELDS:
                near = similar_names(name, FIELDS, most=1)
                hint = f"; did you mean {near[0][0]}?" if near else ""
                mistakes.append(f"{label}: there is no such setting{hint}")
                continue
            try:
                value = _convert(FIELDS[name], raw)
            except ValueError as error:
                mistakes.append(f"{label}: {error}")
                continue
            merged.setdefault(name, value)
    if mistakes:
        raise ConfigurationError("\n".join(mistakes), mistakes=mistakes)
    return Settings(**merged)


def origins(
    flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None
) -> dict[str, str]:
    """Return where each setting has its value from: a flag, a variable, the file or the default.

    Args are those of :func:`load`, which has taken them.
    """
    found = dict.fromkeys(FIELDS, "default")
    for origin, layer in reversed(_layers(flags, environment, file, [])):
        for name in layer.keys() & FIELDS.keys():
            spelled = {"": f"--{name.replace('_', '-')}", "DOCSTOW_": f"DOCSTOW_{name.upper()}"}
            found[name] = spelled.get(origin, origin)
    return found


def _layers(
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None,
    mistakes: list[str],
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what says settings, the first that wins first, each with what it is called."""
    return [
        ("", {name: value for name, value in flags.items() if value is not None}),
        (str(file or ""), _read_file(file, mistakes) if file else {}),
        ("DOCSTOW_", _from_environment(environment)),
    ]


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = {f"DOCSTOW_{name.upper()}": name for name in FIELDS}
    # An empty variable is how shells and templates say "not set".
    return {names[key]: value for key, value in environment.items() if key in names and value}


def _read_file(path: Path, mistakes: list[str]) -> dict[str, Any]:
    from docstow.core import toml

    try:
        return toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        mistakes.append(f"{path}: cannot be read ({error.strerror})")
    except (toml.TomlError, UnicodeDecodeError) as error:
        mistakes.append(f"{path}: is not TOML ({error})")
    return {}


def _convert(field: dataclasses.Field[Any], raw: object) -> object:
    """Convert a raw value to the field's type; raise ValueError with the reason."""
    if isinstance(field.default, Secret):
        return _secret(field, raw)
    value = _typed(field, raw)
    least = field.metadata["least"]
    if least is not None and isinstance(value, int | float) and value < least:
        raise ValueError(f"must be at least {least}, not {raw}")
    if field.name == "log_level" and value not in {"debug", "info", "warning", "error"}:
        raise ValueError(f"must be debug, info, warning or error, not {raw}")
    if field.name == "port" and isinstance(value, int) and value > 65535:
        raise ValueError(f"must be at most 65535, not {raw}")
    if field.name == "log_format" and value not in {"text", "json"}:
        raise ValueError(f"must be text or json, not {raw}")
    if field.metadata["kind"] == "url" and value:
        return _address(str(value), f", not {raw}")
    return value


def _secret(field: dataclasses.Field[Any], raw: object) -> Secret:
    """Convert what is secret; the reason of an error does not repeat it."""
    text = raw.reveal() if isinstance(raw, Secret) else raw
    if not isinstance(text, str):
        raise ValueError("must be text")
    return Secret(_address(text, "") if text and field.metadata["kind"] == "secret url" else text)


def _address(text: str, shown: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ValueError(f"must be an http or https URL{shown}")
    return text.rstrip("/")


def _typed(field: dataclasses.Field[Any], raw: object) -> object:
    if field.metadata["kind"] == "size":
        return _size(raw)
    if isinstance(field.default, tuple):
        if isinstance(raw, str):
            return tuple(part.strip() for part in raw.split(",") if part.strip())
        if isinstance(raw, Sequence) and all(isinstance(part, str) for part in raw):
            return tuple(raw)
        raise ValueError(f"must be a list of names, not {raw!r}")
    if isinstance(field.default, str):
        if not isinstance(raw, str):
            raise ValueError(f"must be text, not {raw!r}")
        return raw
    if isinstance(field.default, bool):
        return _switch(raw)
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError(f"must be a number, not {raw!r}")
    try:
        if isinstance(field.default, int):
            return int(raw) if not isinstance(raw, float) or raw.is_integer() else int(str(raw))
        number = float(raw)
    except ValueError:
        raise ValueError(f"must be a number, not {raw!r}") from None
    if number != number or number in {float("inf"), float("-inf")}:
        raise ValueError(f"must be a finite number, not {raw!r}")
    return number


def _switch(raw: object) -> bool:
    value = _SWITCHES.get(str(raw).lower())
    if value is None:
        raise ValueError(f"must be true or false, not {raw!r}")
    return value


def _size(raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    match = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", raw) if isinstance(raw, str) else None
    )
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(f"must be a size such as 1048576 or 30MiB, not {raw!r}")
    return int(float(match[1]) * _UNITS[match[2].lower()])
