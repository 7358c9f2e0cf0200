"""Run Python code in a network namespace, in a separate thread, so that the caller's namespace does not change."""

import ctypes
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sandbox.nspawn.errors import LabError

T = TypeVar("T")
FOLDER = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def exists(name: str) -> bool:
    return (FOLDER / name).exists()


def identity(name: str) -> int | None:
    """A number that no other living namespace has; None when there is none of that name."""
    try:
        return (FOLDER / name).stat().st_ino
    except FileNotFoundError:
        return None


def call(name: str, work: Callable[[], T]) -> T:
    """Run `work` in the namespace; return its value or raise its exception. Its sockets stay in the namespace."""
    result: list[T] = []
    failure: list[BaseException] = []

    def enter() -> None:
        try:
            with (FOLDER / name).open() as handle:
                if _libc.setns(handle.fileno(), _CLONE_NEWNET) != 0:
                    code = ctypes.get_errno()
                    raise OSError(code, os.strerror(code), str(FOLDER / name))
            result.append(work())
        except BaseException as error:  # noqa: BLE001  handed to the caller's thread
            failure.append(error)

    thread = threading.Thread(target=enter, name=f"netns-{name}")
    thread.start()
    thread.join()
    if failure:
        if isinstance(failure[0], FileNotFoundError) and not exists(name):
            raise LabError(f"the network namespace '{name}' is not there", "run `landbridge sandbox up`")
        raise failure[0]
    return result[0]


def socket_in(name: str, *arguments: Any) -> socket.socket:
    """`socket.socket(*arguments)` that belongs to the namespace, usable from anywhere."""
    return call(name, lambda: socket.socket(*arguments))


def write_sysctls(name: str, values: dict[str, str]) -> None:
    """Set keys below /proc/sys/net as the namespace sees them."""

    def write() -> None:
        for key, value in values.items():
            (Path("/proc/sys") / key.replace(".", "/")).write_text(value)

    call(name, write)


def processes_in(prefixes: tuple[str, ...]) -> dict[int, str]:
    """Every process whose network namespace is one of the named ones whose name satisfies a prefix: pid -> name."""
    inodes: dict[int, str] = {}
    for path in FOLDER.glob("*") if FOLDER.is_dir() else ():
        if path.name in prefixes or path.name.startswith(tuple(f"{prefix}." for prefix in prefixes)):
            inodes[path.stat().st_ino] = path.name
    names_by_pid: dict[int, str] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                name = inodes.get(os.stat(f"/proc/{entry}/ns/net").st_ino)
            except OSError:
                continue
            if name:
                names_by_pid[int(entry)] = name
    return names_by_pid
