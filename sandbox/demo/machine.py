"""Abilities of this machine, which choose the demonstration's level and the tests' tiers.

`landbridge doctor` knows what each command needs. This module also checks whether the lab would install missing
programs, and tests one ability by using it. Every probe is harmless, takes well under a second, and installs nothing.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from landbridge.ops.doctor import Diagnosis, diagnose

#: Name of the lab's command in `landbridge doctor`.
LAB = "sandbox up, make demo (full level)"


@dataclass(frozen=True)
class Ability:
    """Ability of this machine; `why` names the missing part."""

    name: str
    able: bool
    why: str


def lab() -> Ability:
    """Check whether lab nodes can boot on this machine once the lab has installed missing packages."""
    needs = [need for need in diagnose() if need.command == LAB]
    if not needs:
        raise LookupError(f"landbridge doctor does not know {LAB!r}")
    reasons = [f"{need.need}: {need.result}" for need in needs if not need.met and not _lab_installs(need)]
    if not reasons and (refusal := _overlay()):
        reasons.append(f"no overlay file system in a namespace: {refusal}")
    return Ability("lab", not reasons, "; ".join(reasons))


def engine() -> Ability:
    """Check whether a Pulumi engine is installed; one that could be built or downloaded does not count."""
    from sandbox.pulumi_provider.engine.find import Engine, find_engine

    engine = find_engine()
    able = isinstance(engine, Engine)
    return Ability("engine", able, "" if able else str(engine))


def signing_helper() -> Ability:
    """Check whether AWS's signing helper is in the cache or can be built (once, in about a minute)."""
    from landbridge.realise import signing_helper as helper
    from landbridge.realise.go_program import BuildError

    try:
        helper.build()
    except BuildError as error:
        return Ability("signing helper", False, str(error))
    return Ability("signing helper", True, "")


def _lab_installs(need: Diagnosis) -> bool:
    """Return true for a missing program that the lab installs itself: as root, with apt-get."""
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
        completed = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if completed.returncode == 0:
        return ""
    return (completed.stderr.strip().splitlines() or [f"unshare ended with {completed.returncode}"])[-1]
