"""Packs what a function runs: its code and the pinned libraries, pruned, stripped and compiled.

    python infra/pack.py image FOLDER      what the functions `mcp` and `ingest` run, from an image
    python infra/pack.py zip FOLDER        what the function `upkeep` runs, from an archive

The Dockerfile, `sam build` and `make infra` all run this, so that what is deployed is what is
tried. The folder is for the Python that runs this script, on Linux. The standard library does.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.metadata
import os
import platform
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
MIB = 1024 * 1024
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"

#: Which functions run from which kind of package.
FUNCTIONS = {"image": ("mcp", "ingest"), "zip": ("upkeep",)}
#: What Lambda takes at most, unpacked.
LIMITS = {"image": 10 * 1024 * MIB, "zip": 250 * MIB}

#: The client of Lambda's runtime API, of which an image needs its own.
RUNTIME_CLIENT = {"awslambdaric", "simplejson", "snapshot-restore-py"}

#: Libraries that are declared by others and never imported: botocore alone is enough of boto3,
#: and tokenizers asks for its hub's client, which brings a second HTTP client along.
LEFT_OUT = {"boto3", "huggingface-hub"}
#: The sweep of a store neither reads tables nor embeds, parses or serves.
HEAVY = {
    "docutils",
    "duckdb",
    "fastapi",
    "griffelib",
    "lxml",
    "mangum",
    "numpy",
    "obstore",
    "onnxruntime",
    "pyromark",
    "rapidfuzz",
    "rich",
    "tokenizers",
    "tree-sitter",
    "tree-sitter-javascript",
    "tree-sitter-rust",
    "tree-sitter-typescript",
    "typeshed-client",
    "uvicorn",
}

#: Parts of libraries that nothing here imports.
PRUNED = (
    "bin",
    "**/__pycache__",
    "**/*.pyi",
    "**/tests",
    "*.dist-info/RECORD",
    "numpy/_core/include",
    "numpy/_core/lib",
    "numpy/f2py",
    "onnxruntime/backend",
    "onnxruntime/datasets",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    "zstandard/_cffi*",
    "zstandard/backend_cffi.py",
)
#: Stubs are what this library is there for.
STUBS = "typeshed_client"
PRUNED_FROM_ZIP = (
    "docstow/embedding/bundled/*.onnx",
    "docstow/embedding/bundled/tokenizer.json",
    "docstow/ingest/sample",
)
#: The services that a store, a queue and their credentials are reached by.
SERVICES = {"s3", "sqs", "sso", "sso-oidc", "sts"}

#: A handler's process sees what is tried here and nothing else.
TRIALS = {
    "image": """
import os, tempfile
folder = tempfile.mkdtemp()
os.environ |= {"DOCSTOW_STORE": folder, "DOCSTOW_CACHE": folder + "/cache"}
import awslambdaric.__main__, functions.mcp.handler
from docstow.cli import main
from docstow.store.objects import s3
s3.connect(endpoint="http://127.0.0.1:9")
assert main(["call", "search_items", '{"crate": "stowage", "query": "stow", "k": 1}']) == 0
""",
    "zip": """
import os, tempfile, docstow.runtime, docstow.store.snapshots
from docstow.store.objects import s3
s3.connect(endpoint="http://127.0.0.1:9")
if os.path.exists("functions/upkeep/handler.py"):
    os.environ["DOCSTOW_STORE"] = tempfile.mkdtemp()
    import functions.upkeep.handler
""",
}


def main(words: list[str] | None = None) -> int:
    """Pack, report and try; 1 if it is too large for Lambda."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("kind", choices=FUNCTIONS)
    parser.add_argument("into", type=Path, metavar="FOLDER")
    parser.add_argument("--architecture", choices=("arm64", "x86_64"), default=_host())
    parser.add_argument("--python", metavar="VERSION", help="refuse to run under another one")
    options = parser.parse_args(words)
    if options.python not in (None, VERSION):
        parser.error(f"this is Python {VERSION}; run it with python{options.python}")
    kind, into = options.kind, options.into.resolve()
    shutil.rmtree(into, ignore_errors=True)
    install(kind, into, options.architecture)
    whole = size(into)
    drop_unreached(kind, into)
    prune(kind, into)
    strip(into)
    compile_all(into)
    if options.architecture == _host() and sys.platform == "linux":
        attempt(kind, into)
    return report(kind, into, whole, options.architecture)


def _host() -> str:
    return "arm64" if platform.machine() in {"aarch64", "arm64"} else "x86_64"


def install(kind: str, into: Path, architecture: str) -> None:
    """Install all pinned libraries and docstow's own code."""
    pins = _pins(REPOSITORY / "requirements.txt")
    if kind == "image":
        pins += _pins(REPOSITORY / "requirements-dev.txt", RUNTIME_CLIENT)
    machine = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    # pip takes these names literally, so every one that Lambda's C library satisfies is given.
    tags = [f"manylinux_2_{minor}_{machine}" for minor in range(34, 16, -1)]
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch, "requirements.txt")
        wanted.write_text("\n".join(pins), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--target", str(into), "--no-deps", "--no-compile", "--only-binary=:all:"]
        command += ["--root-user-action", "ignore"]
        for tag in (*tags, f"manylinux2014_{machine}"):
            command += ["--platform", tag]
        subprocess.run([*command, "--require-hashes", "-r", str(wanted)], check=True)
    ignored = shutil.ignore_patterns("__pycache__", "Makefile")
    shutil.copytree(REPOSITORY / "lib" / "docstow", into / "docstow", ignore=ignored)
    for function in FUNCTIONS[kind]:
        folder = REPOSITORY / "functions" / function
        if folder.exists():
            shutil.copytree(folder, into / "functions" / function, ignore=ignored)


def _pins(file: Path, only: set[str] | None = None) -> list[str]:
    """Return the requirements of a lock file with their hashes; ``only`` these if given."""
    pins = re.split(r"\n(?=\S)", file.read_text(encoding="utf-8").strip())
    return [pin for pin in pins if only is None or pin.partition("==")[0] in only]


def drop_unreached(kind: str, into: Path) -> None:
    """Remove libraries that only those need which are left out."""
    installed = {
        _name(each.name): each for each in importlib.metadata.distributions(path=[str(into)])
    }
    left_out = LEFT_OUT | (HEAVY if kind == "zip" else set())
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["aws"], *extras["models"]]
    wanted += ["botocore", *RUNTIME_CLIENT]
    reached: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        name = _name(requirement)
        # What is asked for under a marker and was not installed is not for this platform.
        if "extra ==" in requirement or name in reached | left_out or name not in installed:
            continue
        reached.add(name)
        wanted += installed[name].requires or ()
    for name in installed.keys() - reached:
        for file in installed[name].files or ():
            Path(str(file.locate())).unlink(missing_ok=True)
    for folder in sorted(into.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def prune(kind: str, into: Path) -> None:
    """Remove tests, stubs, tools and the services of AWS that are never called."""
    patterns = PRUNED + (PRUNED_FROM_ZIP if kind == "zip" else ())
    doomed = [path for pattern in patterns for path in into.glob(pattern)]
    doomed = [path for path in doomed if path.relative_to(into).parts[0] != STUBS]
    services = (into / "botocore" / "data").iterdir()
    doomed += [each for each in services if each.is_dir() and each.name not in SERVICES]
    for path in doomed:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def strip(into: Path) -> None:
    """Take symbols off extension modules.

    Libraries that a wheel vendors in ``NAME.libs`` were rewritten when it was made, and do not
    survive it.
    """
    tool = shutil.which("llvm-strip") or shutil.which("strip")
    if tool is None:
        print("no strip and no llvm-strip: symbols stay", file=sys.stderr)
        return
    for path in into.rglob("*.so*"):
        if not any(part.endswith(".libs") for part in path.parts):
            # binutils refuses other machines' files and leaves them as they are.
            subprocess.run([tool, "--strip-unneeded", path], check=False, capture_output=True)


def compile_all(into: Path) -> None:
    """Bytecode that holds whatever times an archive or an image gives the files."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    if not compileall.compile_dir(into, quiet=1, workers=0, stripdir=into, invalidation_mode=mode):
        sys.exit("Some module cannot be compiled; see above.")


def attempt(kind: str, into: Path) -> None:
    """Run what the functions run, from this folder alone."""
    program = f"import sys; sys.path.insert(0, {str(into)!r})\n{TRIALS[kind]}"
    subprocess.run(
        [sys.executable, "-S", "-E", "-s", "-B", "-c", program],
        check=True,
        cwd=into,
        stdout=subprocess.DEVNULL,
    )


def report(kind: str, into: Path, whole: int, architecture: str) -> int:
    """Print the sizes and say whether Lambda takes it."""
    packed, limit = size(into), LIMITS[kind]
    for function in FUNCTIONS[kind]:
        print(
            f"{function} ({kind}, Python {VERSION}, {architecture}): "
            f"{packed / MIB:.1f} MiB unpacked, {whole / MIB:.1f} before pruning and stripping; "
            f"{packed / limit:.1%} of the {limit // MIB} MiB that Lambda takes"
        )
    parts = sorted(((size(part), part.name) for part in into.iterdir()), reverse=True)
    print("  " + ", ".join(f"{name} {taken / MIB:.1f}" for taken, name in parts[:8]))
    return 0 if packed <= limit else 1


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    return sum(file.lstat().st_size for file in _files(path))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


if __name__ == "__main__":
    sys.exit(main())
