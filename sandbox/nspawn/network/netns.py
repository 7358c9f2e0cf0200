"""Runner of Python code in a network namespace, in a separate thread: the caller's namespace does not change."""

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
    """Return a number that is unique among existing namespaces; None if the namespace does not exist."""
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
            raise LabError(f"the network namespace '{name}' does not exist", "run `landbridge sandbox up`")
        raise failure[0]
    return result[0]


def socket_in(name: str, *arguments: Any) -> socket.socket:
    """Return `socket.socket(*arguments)` created in the namespace; usable from any thread."""
    return call(name, lambda: socket.socket(*arguments))


def write_sysctls(name: str, values: dict[str, str]) -> None:
    """Set keys below /proc/sys/net of the namespace."""

    def write() -> None:
        for key, value in values.items():
            (Path("/proc/sys") / key.replace(".", "/")).write_text(value)

    call(name, write)


def processes_in(prefixes: tuple[str, ...]) -> dict[int, str]:
    """Return pid -> namespace of processes in namespaces named `prefix` or `prefix.<node>`, for any of the prefixes."""
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
