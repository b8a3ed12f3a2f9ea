"""Scans of installations that somebody damaged, or wrote so as to be led elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from docstow.languages.projects.scan import scan
from docstow.languages.shared.project import Scan
from docstow.languages.shared.scanning import ScanCache


def scanned(root: Path) -> Scan:
    return scan(root, ScanCache.load(root.parent / "cache", root), {}, root.parent / "home")


def write(path: Path, text: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one sound package of each language, beside a folder that it must not see."""
    write(tmp_path / "outside" / "secret" / "package.json", '{"name": "secret", "version": "6"}')
    write(tmp_path / "outside" / "secret-6.dist-info" / "METADATA", "Name: secret\nVersion: 6\n")
    write(tmp_path / "outside" / "secret" / "__init__.py", "secret = 6\n")
    made = tmp_path / "project"
    write(made / ".venv" / "pyvenv.cfg", "version = 3.12.4\n")
    distribution(made, "sound")
    write(made / "node_modules" / "sound-js" / "package.json", '{"name": "sound-js"}')
    return made


def distribution(root: Path, name: str, *listed: str, **files: str) -> Path:
    """An installed distribution; its ``.dist-info``."""
    info = root / ".venv/lib/python3.12/site-packages" / f"{name}-1.0.dist-info"
    write(info / "METADATA", f"Name: {name}\nVersion: 1.0\n")
    write(info / "RECORD", "".join(f"{each},,\n" for each in (*listed, f"{name}.py")))
    for file, text in files.items():
        write(info / file.replace("__", "."), text)
    return info


def told(found: Scan) -> dict[str, str]:
    return {each.location.rpartition("/")[2]: each.reason for each in found.problems}


#: What an installation by reference may say of its checkout; all are outside, or nowhere.
URLS = [
    "file:///etc",
    "file:///proc/self",
    "file:///%2e%2e/%2e%2e/etc",
    "file:///etc%00x",
    "file:///" + "a/" * 5000,
    "file:///C:/Windows",
    "file:../../..",
    "file://OUTSIDE",
    "file://OUTSIDE/secret/../../outside",
    "file://ROOT/../outside",
    "file://ROOT/.venv/pyvenv.cfg",
    "file://ROOT/gone",
    "file://ROOT/leads-out",
]


@pytest.mark.parametrize("url", URLS)
def test_a_checkout_that_is_not_inside_is_a_problem(root: Path, url: str) -> None:
    (root / "leads-out").symlink_to(root.parent / "outside")
    url = url.replace("ROOT", str(root)).replace("OUTSIDE", str(root.parent / "outside"))
    said = {"url": url, "dir_info": {"editable": True}}
    info = distribution(root, "bad", direct_url__json=json.dumps(said))
    found = scanned(root)
    bad = next(each for each in found.packages if each.name == "bad")
    assert bad.files_root is None
    assert bad.problem == told(found)[info.name]
    assert "install it again" in bad.problem or "--root" in bad.problem
    assert "secret" not in str(found.packages)


@pytest.mark.parametrize(
    "said",
    [
        "[]",
        '{"url": 5, "dir_info": {"editable": true}}',
        '{"url": "file://[::1", "dir_info": {"editable": true}}',
        '{"url": "file://server/share", "dir_info": {"editable": true}}',
        '{"url": "http://127.0.0.1/x", "dir_info": {"editable": true}}',
        '{"dir_info": {"editable": true}}',
        '{"dir_info": 5}',
        "{" * 5000,
        "\0",
    ],
)
def test_what_says_no_folder_is_no_installation_by_reference(root: Path, said: str) -> None:
    distribution(root, "plain", direct_url__json=said)
    assert [each.editable for each in scanned(root).packages if each.name == "plain"] == [False]


@pytest.mark.parametrize(
    "line", ["/etc", "../../../../../outside", "OUTSIDE", "/proc/self", "~/x", "/dev/zero"]
)
def test_a_path_file_leads_nowhere_outside(root: Path, line: str) -> None:
    info = distribution(root, "bad", "__editable__.bad.pth", direct_url__json="{}")
    write(info.parent / "__editable__.bad.pth", line.replace("OUTSIDE", f"{root.parent}/outside"))
    found = scanned(root)
    assert [each.files_root for each in found.packages if each.name == "bad"] == [None]
    assert "secret" not in str(found.packages)


@pytest.mark.parametrize(
    "code",
    ["MAPPING = {'bad': 'OUTSIDE/bad'}", "MAPPING = {'bad': '/etc/bad'}", "(" * 50_000, "\0"],
)
def test_a_finder_leads_nowhere_outside(root: Path, code: str) -> None:
    info = distribution(root, "bad", "__editable___bad_finder.py", direct_url__json="{}")
    text = code.replace("OUTSIDE", f"{root.parent}/outside")
    write(info.parent / "__editable___bad_finder.py", text)
    found = scanned(root)
    bad = next(each for each in found.packages if each.name == "bad")
    assert bad.files_root in (None, info.parent)


def test_modules_whose_folders_have_other_names_are_told(root: Path) -> None:
    """A finder of setuptools may map ``one`` to a folder ``code``."""
    info = distribution(root, "renamed", "__editable___renamed_finder.py", direct_url__json="{}")
    write(info.parent / "__editable___renamed_finder.py", f"M = {{'one': '{root}/code'}}")
    found = scanned(root)
    package = next(each for each in found.packages if each.name == "renamed")
    assert (package.editable, package.import_names) == (True, ("one",))
    assert "without -e" in told(found)[info.name]


def test_namespaces_of_a_checkout_are_looked_into(root: Path) -> None:
    write(root / "lib" / "src" / "acme" / "tools" / "__init__.py")
    write(root / "lib" / "src" / "acme" / "deep" / "er" / "__init__.py")
    said = json.dumps({"url": f"file://{root}/lib", "dir_info": {"editable": True}})
    distribution(root, "acme-tools", direct_url__json=said)
    package = next(each for each in scanned(root).packages if each.name == "acme-tools")
    assert package.import_names == ("acme.tools",)
    assert package.files_root == root / "lib" / "src"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc", "a b", "..", "x\0y", ""])
def test_a_name_that_no_distribution_has_is_that_of_its_folder(root: Path, name: str) -> None:
    info = distribution(root, "named")
    write(info / "METADATA", f"Name: {name}\nVersion: 1.0\n")
    assert {each.name for each in scanned(root).packages} <= {"sound", "sound-js", "named"}


@pytest.mark.parametrize(
    "name", ["../../etc", "/etc", ".", "..", "@a/../b", "a/b/c", "@/x", "x\\0"]
)
def test_a_name_that_no_module_has_is_that_of_its_place(root: Path, name: str) -> None:
    body = json.dumps({"name": name.replace("\\0", "\0"), "version": "1"})
    write(root / "node_modules" / "named" / "package.json", body)
    assert {each.name for each in scanned(root).packages} == {"sound", "sound-js", "named"}


def test_files_that_are_none_do_not_block_and_are_told(root: Path) -> None:
    """Pipes, devices, folders, gaps of a gigabyte: in place of each file that a scan opens."""
    site = root / ".venv/lib/python3.12/site-packages"
    modules = root / "node_modules"
    for name in ("METADATA", "RECORD", "direct_url.json", "top_level.txt"):
        info = distribution(root, f"pipe{name.partition('.')[0].lower()}")
        (info / name).unlink(missing_ok=True)
        os.mkfifo(info / name)
    for name in ("pipe", "gap", "device", "folder"):
        (modules / name).mkdir()
    os.mkfifo(modules / "pipe" / "package.json")
    with (modules / "gap" / "package.json").open("wb") as file:
        file.truncate(1 << 30)
    (modules / "device" / "package.json").symlink_to("/dev/zero")
    (modules / "folder" / "package.json").mkdir()
    for name in ("pyproject.toml", "requirements.txt", "uv.lock", "package-lock.json"):
        os.mkfifo(root / name)
    os.mkfifo(site / "pipe.egg-link")
    write(site / "zipped-2.0-py3.12.egg", b"PK\x03\x04")
    found = scanned(root)
    problems = told(found)
    assert {"pipe", "gap", "device", "folder"} <= problems.keys()
    assert all("install again" in problems[name] for name in ("pipe", "gap", "device", "folder"))
    assert "install it again" in problems["pipemetadata-1.0.dist-info"]
    assert "zipped egg" in problems["zipped-2.0-py3.12.egg"]
    assert {each.name for each in found.packages} >= {"sound", "sound-js", "zipped"}


@pytest.mark.parametrize("place", ["sound-js/node_modules", ".pnpm/x/node_modules", "@scope"])
def test_linked_folders_of_modules_are_not_listed_outside(root: Path, place: str) -> None:
    link = root / "node_modules" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(root.parent / "outside")
    found = scanned(root)
    assert "secret" not in f"{found.packages} {found.problems}"
    assert any("leads out" in each.reason for each in found.problems)


@pytest.mark.parametrize("target", ["..", "../..", "../../node_modules", ".", "../sound-js"])
def test_folders_of_modules_that_lead_in_circles_end(root: Path, target: str) -> None:
    (root / "node_modules" / "sound-js" / "node_modules").symlink_to(target)
    write(root / "node_modules" / "other" / "package.json", '{"name": "other"}')
    names = [each.name for each in scanned(root).packages if each.ecosystem == "node"]
    assert sorted(names) == ["other", "sound-js"]


@pytest.mark.parametrize("above", ["lib/python3.12/site-packages", "lib/python3.12", "lib"])
def test_linked_folders_of_an_environment_are_not_listed_outside(root: Path, above: str) -> None:
    folder = root / "second" / above
    write(root / "second" / "pyvenv.cfg")
    rest = Path("lib/python3.12/site-packages").relative_to(above)
    (root.parent / "outside" / rest).mkdir(parents=True, exist_ok=True)
    write(root.parent / "outside" / rest / "secret-6.dist-info" / "METADATA", "Name: secret\n")
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(root.parent / "outside")
    found = scanned(root)
    assert "secret" not in f"{found.packages} {found.problems}"
    assert any(each.location.startswith("second") for each in found.problems)


def test_packages_nested_without_end_are_given_up(root: Path) -> None:
    place = root / "node_modules"
    for depth in range(100):
        write(place / "deep" / "package.json", f'{{"name": "deep", "version": "{depth}"}}')
        place = place / "deep" / "node_modules"
    found = scanned(root)
    assert 20 < sum(each.name == "deep" for each in found.packages) < 100
    assert any("too deep" in each.reason for each in found.problems)


def test_linked_manifests_and_lock_files_count_if_they_are_inside(root: Path) -> None:
    write(root / "shared" / "asked.toml", "[project]\ndependencies = ['sound']\n")
    (root / "pyproject.toml").symlink_to("shared/asked.toml")
    write(root.parent / "outside" / "asked.txt", "secret==1.0\n")
    (root / "requirements.txt").symlink_to(root.parent / "outside" / "asked.txt")
    (root / "Pipfile").symlink_to("nowhere")
    found = scanned(root)
    assert [each.name for each in found.packages if each.direct] == ["sound"]
    assert "leads out of the root" in told(found)["requirements.txt"]
    assert "Pipfile" in told(found)


def test_an_environment_that_is_linked_within_the_project_is_one(root: Path) -> None:
    (root / "venv").symlink_to(".venv")
    (root / "packages").mkdir()
    (root / "packages" / "node_modules").symlink_to("../node_modules")
    assert [each.location for each in scanned(root).environments] == [".venv", "node_modules"]


def test_an_environment_that_shares_the_systems_packages_says_that_they_are_not_read(
    root: Path,
) -> None:
    (root / ".venv" / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    found = scanned(root)
    assert "sound" in {each.name for each in found.packages}
    assert "system" in told(found)[".venv"]


@pytest.mark.parametrize(
    ("folders", "configured", "read"),
    [
        (("lib/python3.9", "lib/python3.12", "lib64/python3.12"), "version = 3.12.1", ["3.12"] * 2),
        (("lib/python3.9", "lib/python3.12"), "version_info = 3.9.0.final.0", ["3.9"]),
        (("lib/python3.9", "lib/python3.12"), "", ["3.12"]),
        (("lib/pypy3.10",), "implementation = PyPy\nversion_info = 3.10.14", ["3.10"]),
        (("lib/python3.13t",), "", ["3.13t"]),
        (("Lib",), "home = C:\\Python\r\nversion = 3.12.1\r\n", ["Lib"]),
    ],
)
def test_of_an_environment_that_was_upgraded_the_former_packages_are_left_out(
    tmp_path: Path, folders: tuple[str, ...], configured: str, read: list[str]
) -> None:
    root = tmp_path / "project"
    write(root / ".venv" / "pyvenv.cfg", configured)
    for folder in folders:
        name = folder.replace("/", "-")
        info = root / ".venv" / folder / "site-packages" / f"{name.replace('-', '_')}-1.dist-info"
        write(info / "METADATA", f"Name: {name}\nVersion: 1\n")
        write(info / "RECORD", "x.py,,\n")
    names = [each.location.split("/")[-2] for each in scanned(root).packages]
    assert [each.removeprefix("python").removeprefix("pypy") for each in names] == read


def test_of_pypackages_the_newest_are_read(root: Path) -> None:
    for version in ("3.9", "3.11"):
        info = root / "__pypackages__" / version / "lib" / f"of_{version}-1.dist-info"
        write(info / "METADATA", f"Name: of-{version}\nVersion: 1\n")
        write(info / "RECORD", "x.py,,\n")
    assert {each.name for each in scanned(root).packages} >= {"of-3.11"}
    assert "of-3.9" not in {each.name for each in scanned(root).packages}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_requirements_are_read_as_shells_write_them(tmp_path: Path, encoding: str) -> None:
    text = "alpha==1.0\r\nbeta==2.0 ; python_version > '3'\r\n"
    write(tmp_path / "project" / "requirements.txt", text.encode(encoding))
    found = scanned(tmp_path / "project")
    assert [(each.name, each.direct) for each in found.packages] == [
        ("alpha", True),
        ("beta", True),
    ]


def test_links_in_circles_are_passed_over_wherever_they_are(root: Path) -> None:
    site = root / ".venv/lib/python3.12/site-packages"
    for name in ("loop", "loop.dist-info", "loop.egg", "loop.egg-info", "loop.pth"):
        (site / name).symlink_to(name)
    for name in ("loop", "pyproject.toml", "packages", "uv.lock", "venv"):
        (root / name).symlink_to(name)
    (root / "node_modules" / "loop").symlink_to("loop")
    (root / "node_modules" / "sound-js" / "node_modules").symlink_to("node_modules")
    found = scanned(root)
    assert {each.name for each in found.packages} == {"sound", "sound-js"}
    assert {"loop.dist-info", "loop.egg", "pyproject.toml", "loop"} <= told(found).keys()


#: Packages whose files nobody may read but root, and what is told of them by a user's process.
UNREADABLE = """
import os, sys
from pathlib import Path
from docstow.languages.projects import scan
from docstow.languages.shared.scanning import ScanCache

root = Path(sys.argv[1])
# What is imported only when it is needed may be where this user may not look.
scan.scan(root, ScanCache.load(root / "no", root), {}, root)
os.setgid(65534)
os.setuid(65534)
found = scan.scan(root, ScanCache.load(root / "no", root), {}, root)
print(*sorted(each.name for each in found.packages))
print(*sorted(each.location.rpartition("/")[2] for each in found.problems))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody who may not read")
def test_what_may_not_be_read_is_told(root: Path) -> None:
    for name in ("file", "folder"):
        distribution(root, name)
        write(root / "node_modules" / f"{name}-js" / "package.json", "{}")
    write(root / "locked" / "uv.lock")
    info = root / ".venv/lib/python3.12/site-packages"
    for closed in (
        info / "file-1.0.dist-info" / "METADATA",
        info / "folder-1.0.dist-info",
        root / "node_modules" / "file-js" / "package.json",
        root / "node_modules" / "folder-js",
        root / "locked",
    ):
        closed.chmod(0)
    with tempfile.TemporaryDirectory() as shared:
        # A run of tests that begins meanwhile closes the folder that all runs have in common.
        Path(shared).chmod(0o755)
        root = root.rename(Path(shared, "project"))
        told_to = [sys.executable, "-c", UNREADABLE, str(root)]
        done = subprocess.run(told_to, capture_output=True, text=True, check=False)
    packages, problems = (set(line.split()) for line in done.stdout.splitlines())
    assert packages == {"sound", "sound-js"}, done.stderr
    assert problems >= {"file-1.0.dist-info", "folder-1.0.dist-info", "file-js", "locked"}
