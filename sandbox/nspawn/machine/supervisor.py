"""Supervisor of one node: mounts the overlay in a private mount namespace, and restarts systemd-nspawn after a reboot.

Run as a program with the path of a JSON file (see `SupervisorOrder`). It prints `ready` once the node's container has
started, or the reason of a failure, and continues in the background. SIGTERM shuts the node down.
It imports few modules, because one supervisor runs per node.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import TypedDict

# systemd-nspawn's exit code for a container that requested a reboot, with --keep-unit.
REBOOT = 133
_CLONE_NEWNS, _CLONE_NEWTIME = 0x00020000, 0x00000080
_OFFSETS = "/proc/self/timens_offsets"


class SupervisorOrder(TypedDict):
    """Order for the supervisor: command, overlay, and the cgroup.procs files of supervisor (`watch`) and container."""

    node: str
    folder: str
    overlay: str
    nspawn: list[str]
    watch_groups: list[str]
    machine_groups: list[str]


def main(path: str) -> int:
    order: SupervisorOrder = json.loads(Path(path).read_text())
    folder = Path(order["folder"])
    if os.fork():
        return 0
    os.setsid()
    try:
        _prepare(order)
    except (OSError, subprocess.CalledProcessError) as error:
        message = error.stderr.decode(errors="replace") if isinstance(error, subprocess.CalledProcessError) else ""
        print(message.strip() or str(error), flush=True)
        return 1
    console = os.open(folder / "console.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    status_fd = os.dup(1)
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((null, 0), (console, 1), (console, 2)):
        os.dup2(source, target)
    os.close(console)
    return _run(order, folder, status_fd)


def _prepare(order: SupervisorOrder) -> None:
    """Join the node's groups and mount the overlay in a new mount namespace, which ends with its last process."""
    for group in order["watch_groups"]:
        Path(group).write_text("0")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"cannot make a mount namespace: {os.strerror(code)}")
    root = Path(order["folder"]) / "root"
    for command in (
        ["mount", "--make-rslave", "/"],
        ["mount", "-t", "overlay", f"landbridge-{order['node']}", "-o", order["overlay"], str(root)],
    ):
        subprocess.run(command, check=True, capture_output=True)


def _run(order: SupervisorOrder, folder: Path, status_fd: int) -> int:
    _write_identity(folder / "supervisor.pid", os.getpid())
    stopping = False
    machine: subprocess.Popen[bytes] | None = None

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        if machine is not None:
            machine.terminate()

    signal.signal(signal.SIGTERM, stop)
    while True:
        # A container may write the sysctls of its network namespace; all others stay read-only.
        settings = {**os.environ, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"}
        machine = subprocess.Popen(
            order["nspawn"], env=settings, preexec_fn=lambda: _enter_namespaces(order["machine_groups"])
        )
        _write_identity(folder / "nspawn.pid", machine.pid)
        if status_fd >= 0:
            os.write(status_fd, b"ready\n")
            os.close(status_fd)
            status_fd = -1
        if stopping:
            machine.terminate()
        code = machine.wait()
        if code != REBOOT or stopping:
            return code


def _enter_namespaces(groups: list[str]) -> None:
    """Join the container's groups, and enter a time namespace whose clocks start at zero for the executed program.

    Slurm's power saving needs an exact uptime per node: slurmctld ignores a node that seems to have booted before its
    resume. `unshare` accepts only whole seconds, which make a node up to one second older.
    """
    for group in groups:
        with open(group, "w") as handle:
            handle.write("0")
    if not os.path.exists(_OFFSETS):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWTIME) != 0:
        raise OSError(ctypes.get_errno(), "cannot make a time namespace")
    lines = []
    for name, clock in (("monotonic", time.CLOCK_MONOTONIC), ("boottime", time.CLOCK_BOOTTIME)):
        seconds, nanoseconds = divmod(-time.clock_gettime_ns(clock), 10**9)
        lines.append(f"{name} {seconds} {nanoseconds}\n")
    Path(_OFFSETS).write_text("".join(lines))


def _write_identity(path: Path, pid: int) -> None:
    started = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps({"pid": pid, "started": started}))
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
