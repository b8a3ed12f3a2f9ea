"""An S3 server of another make: Ceph's gateway on one monitor and one store in memory.

Where ``ceph-mon``, ``ceph-osd``, ``radosgw`` and ``radosgw-admin`` are installed, as by Debian's
packages of these names, it starts in seconds, needs no account and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from servers.ports import free_ports

PROGRAMS = (
    "ceph",
    "ceph-authtool",
    "ceph-mon",
    "ceph-osd",
    "monmaptool",
    "radosgw-admin",
    "radosgw",
)
USER = "testing"  #: also its key and its secret
CLUSTER, DISK = "11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555"
DAEMONS = ("mon.a", "osd.0", "client.admin")

_CONFIGURATION = """
[global]
fsid = {cluster}
mon_host = {monitor}
public_addr = 127.0.0.1
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
mon_data_avail_crit = 1
log_file = {folder}/$name.log
admin_socket = {folder}/$name.$pid.asok
pid_file = {folder}/$name.pid
run_dir = {folder}
keyring = {folder}/keyring
[mon.a]
mon_data = {folder}/mon
[osd.0]
osd_data = {folder}/osd
osd_objectstore = memstore
[client.admin]
rgw_frontends = beast endpoint=127.0.0.1:{port}
"""


def installed() -> bool:
    """Whether all of it is on this machine."""
    return all(map(shutil.which, PROGRAMS))


@contextlib.contextmanager
def ceph() -> Iterator[str]:
    """The address of a fresh one, whose user has the key and the secret ``testing``."""
    with TemporaryDirectory(prefix="docstow-ceph-") as scratch:
        folder = Path(scratch)
        try:
            yield _start(folder)
        finally:
            for name in reversed(DAEMONS):
                _stop(folder / f"{name}.pid")


def _start(folder: Path) -> str:
    new, old, port = free_ports(3)
    monitor = f"[v2:127.0.0.1:{new},v1:127.0.0.1:{old}]"
    text = _CONFIGURATION.format(cluster=CLUSTER, monitor=monitor, folder=folder, port=port)
    configuration, keyring = folder / "ceph.conf", str(folder / "keyring")
    configuration.write_text(text, "utf-8")
    for name in ("mon", "osd"):
        (folder / name).mkdir()

    def run(program: str, *words: str, give: str = "") -> str:
        configured = (
            [] if program in {"ceph-authtool", "monmaptool"} else ["-c", str(configuration)]
        )
        return subprocess.run(
            [program, *configured, *words],
            input=give,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    every = [word for kind in ("mon", "osd", "mgr") for word in ("--cap", kind, "allow *")]
    run("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", *every[:3])
    run("ceph-authtool", keyring, "--gen-key", "-n", "client.admin", *every)
    monitors = str(folder / "monmap")
    run("monmaptool", "--create", "--addv", "a", monitor, "--fsid", CLUSTER, monitors)
    run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monitors, "--keyring", keyring)
    run("ceph-mon", "-i", "a")
    run("ceph-authtool", keyring, "--gen-key", "-n", "osd.0")
    secret = run("ceph-authtool", keyring, "-p", "-n", "osd.0").strip()
    run("ceph", "osd", "new", DISK, "0", "-i", "-", give=f'{{"cephx_secret": "{secret}"}}')
    run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", DISK)
    run("ceph-osd", "-i", "0")
    run("radosgw", "-n", "client.admin")
    names = ("uid", "display-name", "access-key", "secret-key")
    run("radosgw-admin", "user", "create", *(f"--{name}={USER}" for name in names))
    return f"http://127.0.0.1:{port}"


def _stop(file: Path) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.kill(int(file.read_text()), signal.SIGKILL)
