"""Abilities of this machine, which choose the demonstration's level and the tests' tiers.

`landbridge doctor` knows what each command needs; this module adds whether missing programs would be installed, and tests one
ability by using it. Every probe is harmless and takes well under a second; none installs anything.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from landbridge.ops.doctor import Diagnosis, diagnose

#: The command of `landbridge doctor` that stands for the lab.
LAB = "sandbox up, make demo (full level)"


@dataclass(frozen=True)
class Ability:
    """Ability of this machine; `why` names the missing part."""

    name: str
    able: bool
    why: str


def lab() -> Ability:
    """Check whether lab nodes can boot here after the set-up has installed packages."""
    needs = [need for need in diagnose() if need.command == LAB]
    if not needs:
        raise LookupError(f"landbridge doctor does not know {LAB!r}")
    reasons = [f"{need.need}: {need.found}" for need in needs if not need.met and not _installed_on_the_way(need)]
    if not reasons and (refusal := _overlay()):
        reasons.append(f"no overlay file system in a namespace: {refusal}")
    return Ability("lab", not reasons, "; ".join(reasons))


def engine() -> Ability:
    """Check whether a Pulumi engine is installed; one that could be built or downloaded does not count."""
    from sandbox.pulumi_provider.engine.find import Engine, find_engine

    engine = find_engine()
    able = isinstance(engine, Engine)
    return Ability("engine", able, "" if able else str(engine))


def _installed_on_the_way(need: Diagnosis) -> bool:
    """The lab installs Debian packages by itself, as root."""
    return need.need.startswith("program ") and os.geteuid() == 0 and shutil.which("apt-get") is not None


@cache
def _overlay() -> str:
    """Return the reason why a namespace with an overlay cannot be made; empty if it can."""
    unshare = shutil.which("unshare", path="/usr/sbin:/usr/bin:/sbin:/bin") or "unshare"
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
        return ""
    return (done.stderr.strip().splitlines() or [f"unshare ended with {done.returncode}"])[-1]
