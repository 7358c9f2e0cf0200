"""Supervises one node: its own mount namespace, the overlay, and systemd-nspawn again whenever the node reboots.

Run as a program with the path of a JSON file (see `Order`). It says `ready` on its standard output once the node's
machine has been started, or the reason why not, and goes on in the background. SIGTERM shuts the node down in order.
It imports little: one of these runs per node.
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

# systemd-nspawn's exit code for a container that asked to be rebooted, when it may not re-register it itself.
REBOOT = 133
_CLONE_NEWNS, _CLONE_NEWTIME = 0x00020000, 0x00000080
_OFFSETS = "/proc/self/timens_offsets"


class SupervisorOrder(TypedDict):
    """Order for the supervisor: the command to run, and the cgroup.procs files to join (`groups`: its own and the machine's)."""

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
    answer = os.dup(1)
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((null, 0), (console, 1), (console, 2)):
        os.dup2(source, target)
    os.close(console)
    return _run(order, folder, answer)


def _prepare(order: SupervisorOrder) -> None:
    """Enter the node's groups and a mount namespace, where the overlay is mounted: it ends with the last process."""
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


def _run(order: SupervisorOrder, folder: Path, answer: int) -> int:
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
        # The keys of its own network namespace are a machine's to set; all others stay the host's.
        settings = {**os.environ, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"}
        machine = subprocess.Popen(order["nspawn"], env=settings, preexec_fn=lambda: _begin(order["machine_groups"]))
        _write_identity(folder / "nspawn.pid", machine.pid)
        if answer >= 0:
            os.write(answer, b"ready\n")
            os.close(answer)
            answer = -1
        if stopping:
            machine.terminate()
        code = machine.wait()
        if code != REBOOT or stopping:
            return code


def _begin(groups: list[str]) -> None:
    """Enter the machine's groups, and a time namespace whose clocks start at zero, for the program executed next.

    Slurm's power saving needs a node to have its own uptime, and an exact one: slurmctld ignores a node that seems to have been
    up before it was asked for, and whole seconds, which `unshare` takes, make it up to one older.
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
