"""Scans of real environments and of broken ones, held against what others read of them."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import threading
import venv as created
from collections.abc import Mapping
from pathlib import Path

import pytest

from docstow.core.errors import EnvironmentNotFound
from docstow.core.spelling import folded
from docstow.languages.projects.scan import scan
from docstow.languages.python.environment import import_names
from docstow.languages.shared.project import Scan
from docstow.languages.shared.scanning import ScanCache
from paths import SUPPORT
from require import unavailable
from settled import settle

ROOT = Path(sys.prefix)


def scanned(
    root: Path, memory: ScanCache | None = None, active: Mapping[str, str] | None = None
) -> Scan:
    memory = memory or ScanCache.load(root.parent / "cache", root)
    return scan(root, memory, active or {}, root.parent / "home")


def write(root: Path, **files: str) -> Path:
    """A project of text files, each path written with ``__`` for ``/``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def venv(root: Path, name: str = ".venv") -> Path:
    """An empty environment; its ``site-packages``."""
    site = root / name / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (root / name / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.4\n")
    return site


def distribution(site: Path, name: str, version: str = "1.0", *paths: str, **files: str) -> Path:
    """An installed distribution whose RECORD has these paths."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: About {name}.\n"
    (info / "METADATA").write_text(metadata + "\nVersion: not this\n")
    listed = paths or (f"{name.replace('-', '_')}/__init__.py",)
    (info / "RECORD").write_text("".join(f"{path},sha256=x,1\n" for path in listed))
    for file, text in files.items():
        (info / file).write_text(text)
    return info


def names(found: Scan) -> dict[str, str]:
    return {each.name: each.version for each in found.packages}


#: Shared libraries that a fuzzer preloads; they are named as modules are, and are none.
SANITIZERS = {"asan_with_fuzzer", "ubsan_cxx_with_fuzzer", "ubsan_with_fuzzer"}


@pytest.mark.skipif(not (ROOT / "pyvenv.cfg").is_file(), reason="the tests run in no environment")
def test_a_real_environment_is_read_as_python_itself_reads_it(tmp_path: Path) -> None:
    site = next((ROOT / "lib").glob("python3.*")) / "site-packages"
    expected = {
        folded(each.name): each.version
        for each in importlib.metadata.distributions(path=[str(site)])
    }
    if len(expected) < 100:
        pytest.skip("the environment that the tests run in has fewer than 100 distributions")
    found = scanned(ROOT, ScanCache.load(tmp_path, ROOT))
    assert {folded(each.name): each.version for each in found.packages} == expected
    owners: dict[str, set[str]] = {}
    for name, distributions in importlib.metadata.packages_distributions().items():
        for owner in distributions:
            owners.setdefault(folded(owner), set()).add(name)
    for each in found.packages:
        # Stubs are no names that a program imports, but ours say where they are.
        tops = {name.partition(".")[0] for name in each.import_names} - SANITIZERS
        plain = {top for top in tops if "-" not in top and not top.startswith("_")}
        wrong = plain - owners.get(folded(each.name), set())
        assert not wrong or each.editable, each
    by_name = {folded(each.name): each for each in found.packages}
    assert "google.protobuf" in by_name["protobuf"].import_names
    assert by_name["cffi"].import_names == ("cffi", "_cffi_backend")
    assert by_name["pyyaml"].import_names[0] == "yaml"
    assert by_name["types-docutils"].import_names == ("docutils-stubs",)
    assert by_name["docstow"].editable


def test_names_are_those_that_a_program_imports() -> None:
    assert import_names(["PIL/__init__.py", "PIL/_imaging.so"], "pillow") == ("PIL",)
    assert import_names(["six.py", "__pycache__/six.pyc"], "six") == ("six",)
    assert import_names(["google/cloud/storage/__init__.py"], "g") == ("google.cloud.storage",)
    assert import_names(["ns/__init__.py", "ns/a/__init__.py"], "x", ["ns"]) == ("ns.a",)
    assert import_names(["a/__init__.py", "tests/__init__.py"], "b") == ("a",)
    assert import_names(["tests/__init__.py"], "b") == ("tests",)
    native = ["_rust.cpython-312-x86_64-linux-gnu.so", "rusty/__init__.py"]
    assert import_names(native, "rusty") == ("rusty", "_rust")
    assert import_names(["../../bin/tool", "x-1.dist-info/METADATA"], "x") == ()


def test_direct_is_what_the_project_asks_for(tmp_path: Path) -> None:
    root = tmp_path / "project"
    site = venv(root)
    for name in ("alpha", "beta", "gamma-ray", "delta", "epsilon"):
        distribution(site, name)
    write(
        root,
        **{
            "pyproject.toml": '[project]\nname = "mine"\ndependencies = ["Alpha[x]>=1; a<b"]\n'
            '[dependency-groups]\ntest = ["beta", {include-group = "x"}]\n'
            '[tool.poetry.group.dev.dependencies]\nGamma_Ray = "^1"\n',
            "requirements.txt": "delta==1.0\n    # via alpha\nepsilon==1.0\n    # via mine\n",
        },
    )
    found = scanned(root)
    direct = [each.name for each in found.packages if each.direct]
    assert direct == ["alpha", "beta", "epsilon", "gamma-ray"]
    assert [each.name for each in found.packages if not each.direct] == ["delta"]


def test_without_a_manifest_what_was_installed_by_name_is_direct(tmp_path: Path) -> None:
    site = venv(tmp_path / "project")
    distribution(site, "asked", REQUESTED="")
    distribution(site, "brought")
    found = scanned(tmp_path / "project")
    assert {each.name: each.direct for each in found.packages} == {"asked": True, "brought": False}


def test_what_is_broken_is_reported_and_skipped(tmp_path: Path) -> None:
    root = tmp_path / "project"
    site = venv(root)
    distribution(site, "sound")
    (site / "half-1.0.dist-info").mkdir()
    (site / "~ld-1.0.dist-info").mkdir()
    binary = distribution(site, "binary")
    (binary / "METADATA").write_bytes(b"\0\1\2" * 99)
    latin = distribution(site, "latin")
    (latin / "METADATA").write_bytes(b"Name: latin\nVersion: 1.0\nSummary: caf\xe9\n")
    huge = distribution(site, "huge")
    (huge / "METADATA").write_bytes(b"Name: huge\n" + b"x" * 5_000_000)
    outside = distribution(site, "outside")
    (outside / "METADATA").unlink()
    secret = tmp_path / "METADATA"
    secret.write_text("Name: secret\nVersion: 6\n")
    (outside / "METADATA").symlink_to(secret)
    circle = distribution(site, "circle")
    (circle / "METADATA").unlink()
    (circle / "METADATA").symlink_to(circle / "METADATA")
    found = scanned(root)
    assert names(found) == {"sound": "1.0", "latin": "1.0"}
    reasons = {each.location.rpartition("/")[2].partition("-")[0] for each in found.problems}
    assert reasons == {"half", "~ld", "binary", "huge", "outside", "circle"}
    # They are reported every time, not only when they are read first.
    assert scanned(root).problems == found.problems


def test_a_distribution_that_is_there_twice_is_the_one_installed_last(tmp_path: Path) -> None:
    site = venv(tmp_path / "project")
    os.utime(distribution(site, "twice", "2.0"), (1_000_000, 1_000_000))
    distribution(site, "twice", "1.0")
    found = scanned(tmp_path / "project")
    assert names(found) == {"twice": "1.0"}
    assert len(found.problems) == 1


def test_older_forms_of_installation_are_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    site = venv(root)
    write(
        site,
        **{
            "old-1.2.egg-info/PKG-INFO": "Name: old\nVersion: 1.2\n",
            "old-1.2.egg-info/top_level.txt": "older\n",
            "plain-3.egg-info": "Name: plain\nVersion: 3\n",
            "plain.py": "",
            "zip-4-py3.12.egg/EGG-INFO/PKG-INFO": "Name: zip\nVersion: 4\n",
            "zip-4-py3.12.egg/EGG-INFO/top_level.txt": "zipped\n",
            "linked.egg-link": f"{root / 'src'}\n.\n",
            "astray.egg-link": f"{tmp_path / 'elsewhere'}\n.\n",
        },
    )
    write(
        root / "src",
        **{
            "linked.egg-info/PKG-INFO": "Name: linked\nVersion: 0.1\n",
            "linked.egg-info/top_level.txt": "linked\n",
        },
    )
    found = scanned(root)
    seen = {each.name: (each.version, each.import_names, each.editable) for each in found.packages}
    assert seen == {
        "old": ("1.2", ("older",), False),
        "plain": ("3", ("plain",), False),
        "zip": ("4", ("zipped",), True),
        "linked": ("0.1", ("linked",), True),
    }
    assert [each.location.rpartition("/")[2] for each in found.problems] == ["astray.egg-link"]


@pytest.mark.network
@pytest.mark.slow
def test_editable_installations_lead_to_their_checkouts(tmp_path: Path) -> None:
    """They are made by pip and setuptools: a finder for one layout, a path for the other."""
    root = tmp_path / "project"
    root.mkdir()
    for name, below, more in (
        ("flat", "", '[tool.setuptools]\npackages = ["flat"]\n'),
        ("deep", "src/", '[tool.setuptools.packages.find]\nwhere = ["src"]\n'),
    ):
        project = f'[project]\nname = "my-{name}"\nversion = "0.3"\n{more}'
        write(
            root / name,
            **{"pyproject.toml": project, f"{below}{name}/__init__.py": "", "conftest.py": ""},
        )
    created.create(root / ".venv", with_pip=False)
    pip, backend = [sys.executable, "-m", "pip"], tmp_path / "backend"
    pinned = ["--require-hashes", "-r", str(SUPPORT / "build-packages.txt")]
    done = subprocess.run(
        [*pip, "install", "-q", "--target", str(backend), *pinned],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        unavailable(f"pip cannot fetch what builds a package: {done.stderr[-300:]}")
    command = [*pip, "--python", str(root / ".venv/bin/python"), "install", "-q", "--no-deps"]
    done = subprocess.run(
        [*command, "--no-build-isolation", "-e", "./flat", "-e", "./deep"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(backend)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = scanned(root)
    assert [
        (each.name, each.version, each.editable, each.direct, each.import_names, each.location)
        for each in found.packages
    ] == [
        ("my-deep", "0.3", True, True, ("deep",), "deep/src"),
        ("my-flat", "0.3", True, True, ("flat",), "flat"),
    ]
    assert found.problems == ()
    outside = scanned(root / ".venv").packages
    assert [(each.files_root, bool(each.problem)) for each in outside] == [(None, True)] * 2


def test_an_upgrade_is_all_that_is_read_again(tmp_path: Path) -> None:
    root = tmp_path / "project"
    site = venv(root)
    for number in range(120):
        distribution(site, f"package-{number}")
    settle(root)
    assert scanned(root).looked_at == 120
    assert scanned(root).looked_at == 0
    info = site / "package_7-1.0.dist-info"
    for file in info.iterdir():
        file.unlink()
    info.rmdir()
    distribution(site, "package-7", "2.0")
    after = scanned(root)
    assert after.looked_at == 1
    assert names(after)["package-7"] == "2.0"
    assert len(after.packages) == 120


def test_the_index_is_small_and_its_loss_costs_time_alone(tmp_path: Path) -> None:
    root = tmp_path / "project"
    site = venv(root)
    for number in range(300):
        distribution(site, f"package-{number}")
    first = scanned(root)
    (index,) = (tmp_path / "cache").iterdir()
    assert index.stat().st_size < 100_000
    index.write_bytes(b"not an index")
    second = scanned(root)
    assert (second.looked_at, second.packages) == (300, first.packages)
    index.unlink()
    index.parent.rmdir()
    index.parent.write_text("no folder can be made here")
    assert scanned(root).packages == first.packages


def test_servers_that_scan_at_the_same_time_do_each_other_no_harm(tmp_path: Path) -> None:
    root = tmp_path / "project"
    site = venv(root)
    for number in range(60):
        distribution(site, f"package-{number}")
    settle(root)
    found: list[Scan] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(scanned(root, ScanCache.load(tmp_path / "c", root)))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.packages for each in found} == {found[0].packages}
    assert len(found) == 8
    assert len(list((tmp_path / "c").iterdir())) == 1
    assert scanned(root, ScanCache.load(tmp_path / "c", root)).looked_at == 0


def test_an_environment_elsewhere_is_the_projects_only_if_both_say_so(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    elsewhere = tmp_path / "envs"
    distribution(venv(elsewhere, "mine"), "alpha")
    active = {"VIRTUAL_ENV": str(elsewhere / "mine")}
    with pytest.raises(EnvironmentNotFound):
        scanned(root, active=active)
    (root / ".venv").write_text("mine\n")
    with pytest.raises(EnvironmentNotFound):
        scanned(root)
    found = scanned(root, active=active)
    assert names(found) == {"alpha": "1.0"}
    assert found.environments[0].location == (elsewhere / "mine").resolve().as_posix()
    assert found.boundary.read(found.packages[0].info_root / "METADATA")  # type: ignore[operator]
    (root / ".venv").unlink()
    (elsewhere / "mine" / ".project").write_text(f"{root.resolve()}\n")
    assert names(scanned(root, active=active)) == {"alpha": "1.0"}


def test_a_link_to_an_environment_elsewhere_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    distribution(venv(tmp_path / "envs", "secret"), "alpha")
    (root / ".venv").symlink_to(tmp_path / "envs" / "secret")
    with pytest.raises(EnvironmentNotFound) as caught:
        scanned(root)
    (problem,) = caught.value.details["problems"]
    assert problem["location"] == ".venv"
    assert "leads out" in problem["reason"]
    # Whoever has activated it may have it read.
    assert names(scanned(root, active={"VIRTUAL_ENV": str(root / ".venv")})) == {"alpha": "1.0"}


def test_environments_are_found_below_the_root_and_the_usual_one_answers_first(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    distribution(venv(root, "other"), "alpha", "1.0")
    distribution(venv(root), "alpha", "2.0")
    distribution(venv(root, "services/api/.venv"), "beta")
    conda = root / "conda" / "lib" / "python3.11" / "site-packages"
    conda.mkdir(parents=True)
    (root / "conda" / "conda-meta").mkdir()
    distribution(conda, "gamma")
    pdm = root / "__pypackages__" / "3.12" / "lib"
    pdm.mkdir(parents=True)
    distribution(pdm, "delta")
    found = scanned(root)
    assert [(each.location, each.kind, each.detail) for each in found.environments] == [
        (".venv", "venv", "Python 3.12.4"),
        ("__pypackages__", "pypackages", "Python 3.12"),
        ("conda", "conda", "Python 3.11"),
        ("other", "venv", "Python 3.12.4"),
        ("services/api/.venv", "venv", "Python 3.12.4"),
    ]
    assert [each.version for each in found.named("Alpha")] == ["2.0", "1.0"]
    assert found.importing("alpha.inner.name", "python") == found.named("alpha")[0]
    active = scanned(root, active={"VIRTUAL_ENV": str(root / "other")})
    assert [each.version for each in active.named("alpha")] == ["1.0", "2.0"]


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        ("pyproject.toml", "no environment found: run python -m venv .venv, and install into it"),
        ("package.json", "no environment found: run npm install"),
        ("README.md", "no environment found: run python -m venv .venv or npm install"),
    ],
)
def test_where_nothing_is_it_is_said_what_to_run(tmp_path: Path, file: str, advice: str) -> None:
    root = write(tmp_path / "project", **{file: "{}" if file.endswith("json") else ""})
    with pytest.raises(EnvironmentNotFound) as caught:
        scanned(root)
    assert caught.value.message == advice


def test_a_manifest_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "project"
    distribution(venv(root), "alpha")
    write(root, **{"pyproject.toml": "[[[", "setup.cfg": "\0", "package.json": "[1]"})
    found = scanned(root)
    assert sorted(each.location for each in found.problems) == [
        "package.json",
        "pyproject.toml",
        "setup.cfg",
    ]
    assert names(found) == {"alpha": "1.0"}


def test_what_is_stored_says_nothing_of_other_projects(tmp_path: Path) -> None:
    for project in ("one", "two"):
        distribution(venv(tmp_path / project), project)
        scanned(tmp_path / project)
    indexes = sorted((tmp_path / "cache").iterdir())
    assert len(indexes) == 2
    indexes[0].write_bytes(indexes[1].read_bytes())
    assert names(scanned(tmp_path / "one")) == {"one": "1.0"}
    assert names(scanned(tmp_path / "two")) == {"two": "1.0"}
