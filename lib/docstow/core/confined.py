"""Programs of others, started so that they can do little but compute.

On Linux a program has no network, reads only the folders that it is given, writes nothing, and ends
where it takes more memory or computing than it may: by a network namespace of its own, by Landlock
and by resource limits, each where the system has it. Elsewhere on Unix the resource limits hold.
Everywhere its home is an empty folder, its environment has nothing of the server's, and who started
it ends it.

A program that builds something writes to the folders that it is given, files of a largest size, and
starts others, which end with it (by a namespace of processes).

This file is also what is run first in the new process, with the standard library alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

#: System calls of Landlock, the same on all processors, and what may be done below a folder.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
#: All rights on files by the version of Landlock; what is not handled here is not refused.
_HANDLED = (0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
#: Connections, from the fourth version on.
_NETWORK = 0x3
_NO_NEW_PRIVILEGES, _SIGNAL_WITH_PARENT = 38, 1
_NEW_USER, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
#: What dynamic programs need to begin, and devices that are none.
_SYSTEM: tuple[str, ...] = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/etc/ld.so.cache",
    "/dev/null",
)
_SYSTEM += ("/dev/urandom", "/proc/self", "/sys/kernel/mm/transparent_hugepage")
_SYSTEM += ("/sys/fs/cgroup", "/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu")
_NICE, _KILL = 5, 9


def command(
    program: Sequence[str],
    *,
    reads: Sequence[str],
    memory_bytes: int,
    cpu_s: int,
    writes: Sequence[str] = (),
    file_bytes: int = 0,
) -> list[str]:
    """Return the command that starts a program so.

    Args:
        program: its path and its arguments.
        reads: the folders that it may read.
        memory_bytes: of data, from which on it ends.
        cpu_s: of computing in all its life.
        writes: the folders that it may read and write.
        file_bytes: the largest file that it may write.
    """
    if os.name != "posix" or not sys.executable:
        return list(program)
    limits = {"reads": list(reads), "memory_bytes": memory_bytes, "cpu_s": cpu_s}
    limits |= {"writes": list(writes), "file_bytes": file_bytes}
    return [sys.executable, "-I", "-S", __file__, json.dumps(limits), *program]


def environment(home: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of such a program.

    Args:
        home: an empty folder.
        more: settings of the program itself.
    """
    # Nobody listens there: what asks for a proxy first gets no further where nothing else holds.
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    homes: tuple[str, ...] = (
        "HOME",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "TMPDIR",
        "TEMP",
        "TMP",
    )
    homes += ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    system = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {}
    return {"PATH": "", "LC_ALL": "C", **dict.fromkeys(homes, home), **proxies, **system, **more}


def _become(limits: Mapping[str, Any], program: Sequence[str]) -> None:
    """Give up what is not needed, and become the program."""
    import resource

    with suppress(OSError):
        os.nice(_NICE)
    bounds = {"RLIMIT_DATA": limits["memory_bytes"], "RLIMIT_CPU": limits["cpu_s"]}
    bounds |= {"RLIMIT_FSIZE": limits["file_bytes"], "RLIMIT_CORE": 0}
    for name, most in bounds.items():
        with suppress(OSError, ValueError, AttributeError):
            kind = getattr(resource, name)
            resource.setrlimit(kind, (most, most))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        # Where namespaces are refused, Landlock refuses connections.
        if limits["writes"] and not libc.unshare(_NEW_USER | _NEW_NETWORK | _NEW_PROCESSES):
            _end_with_child()
            libc.prctl(_SIGNAL_WITH_PARENT, _KILL, 0, 0, 0)
        elif not limits["writes"]:
            libc.unshare(_NEW_USER | _NEW_NETWORK)
        reads = [*_SYSTEM, os.path.dirname(program[0]), *limits["reads"]]  # noqa: PTH120
        _confine(libc, reads, limits["writes"])
    os.execve(program[0], list(program), dict(os.environ))  # noqa: S606


def _end_with_child() -> None:
    """Go on as a new process, the first of its namespace; this one ends as that ends."""
    if child := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code if code >= 0 else 128 - code)


def _confine(libc: ctypes.CDLL, reads: Sequence[str], writes: Sequence[str]) -> None:
    """Refuse to open files but those below some folders, and to write any but below others."""
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    handled = _HANDLED[min(version, len(_HANDLED) - 1)]
    rules = (ctypes.c_uint64 * 2)(handled, _NETWORK if version >= 4 else 0)
    size = 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return

    class Below(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))

    for each in (*reads, *writes):
        with suppress(OSError):
            opened = os.open(each, os.O_PATH | os.O_CLOEXEC)
            is_folder = os.path.isdir(each)  # noqa: PTH112
            rights = _EXECUTE | _READ_FILE | (_READ_FOLDER if is_folder else 0)
            if writes:
                # Compilers are told to write to nowhere.
                rights |= _WRITE_FILE if each == os.devnull else 0
                rights |= handled if each in writes else 0
            rule = Below(rights, opened)
            libc.syscall(_ADD, ruleset, 1, ctypes.byref(rule), 0)
            os.close(opened)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(_RESTRICT, ruleset, 0)
    os.close(ruleset)


if __name__ == "__main__":
    _become(json.loads(sys.argv[1]), sys.argv[2:])
