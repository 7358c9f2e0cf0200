"""What this machine can carry: the facts that choose the demonstration's level and the tests' tiers.

Every probe is harmless and takes well under a second; none installs anything.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox.lab import host_packages

#: What the lab of the sandbox's environment uses at its peak, with room to spare (MiB).
LAB_MEMORY = 6000
EMBEDDED_MEMORY = 2500
LAB_DISK = 6000


@dataclass(frozen=True)
class Ability:
    """One thing a machine can or cannot do; `why` says what is missing, `would` what having it adds."""

    name: str
    able: bool
    why: str
    would: str


def memory_mib() -> int:
    """Memory that can be had now: the kernel's estimate, cut to the control group's limit where there is one."""
    available = _meminfo().get("MemAvailable", 0) // 1024
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = int(Path(path).read_text())
        except (OSError, ValueError):  # absent, or "max"
            continue
        available = min(available, limit // 2**20)
    return available


@cache
def lab() -> Ability:
    """Whether nodes can be booted here."""
    reasons = []
    if sys.platform != "linux":
        reasons.append(f"this is {sys.platform}, not Linux")
    elif os.geteuid() != 0:
        reasons.append("not root")
    elif (refusal := _namespaces()) is not None:
        reasons.append(f"no namespaces here ({refusal})")
    missing = [package.name for package in host_packages.missing()]
    if missing and shutil.which("apt-get") is None:
        reasons.append(f"no apt-get to install {', '.join(missing)}")
    if memory_mib() < LAB_MEMORY:
        reasons.append(f"{memory_mib()} MiB of memory free, {LAB_MEMORY} needed")
    free = shutil.disk_usage(_existing(Path.home())).free // 2**20
    if free < LAB_DISK:
        reasons.append(f"{free} MiB of disk free in {Path.home()}, {LAB_DISK} needed")
    return Ability("lab", not reasons, "; ".join(reasons), "real machines: systemd, Slurm, NFS, IPsec and BGP")


def engine() -> Ability:
    """Whether a Pulumi engine is on this machine now; one that could be built or fetched does not count."""
    from sandbox.engine.find import Engine, find_engine

    found = find_engine()
    able = isinstance(found, Engine)
    return Ability("engine", able, "" if able else str(found), "the real Pulumi engine: preview, up, refresh, destroy")


def _namespaces() -> str | None:
    """None when a network, mount and PID namespace with an overlay in it can be made; else what refused."""
    unshare = shutil.which("unshare", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if unshare is None:
        return "no unshare program"
    script = (
        "set -e; d=$(mktemp -d); trap 'umount $d/m $d 2>/dev/null; rmdir $d' EXIT; mount -t tmpfs none $d; "
        "mkdir $d/l $d/u $d/w $d/m; mount -t overlay none $d/m -o lowerdir=$d/l,upperdir=$d/u,workdir=$d/w"
    )
    command = [unshare, "--net", "--mount", "--pid", "--fork", "--time", "sh", "-c", script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"unshare ended with {done.returncode}"])[-1]


def _meminfo() -> dict[str, int]:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return {}
    return {key: int(rest.split()[0]) for key, _, rest in (line.partition(":") for line in lines)}


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)
