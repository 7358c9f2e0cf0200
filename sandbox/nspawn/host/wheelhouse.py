"""Wheelhouse: Python packages for the nodes, downloaded on the host from hash-locked requirement files.

Nodes cannot reach a package index: they install from this folder, and the hashes in the same locks verify the packages.
Packages are never removed from the folder; a lock is downloaded once.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import disk, shell
from sandbox.nspawn.host.host_packages import find_program
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.progress import Report, silent, step

# Python version of Debian 13.
NODE_PYTHON = "3.13"
_NODE_GLIBC = 41


def locks(root: Path) -> list[Path]:
    """Return the requirement locks that nodes install from: those of roles and of examples."""
    return sorted([*root.glob("ansible/roles/*/files/requirements*.lock"), *root.glob("examples/*/requirements*.lock")])


def house(lab: Layout) -> Path:
    """Return the folder that the relay serves to nodes at the operator's port 3143."""
    return lab.wheels / "house"


def ensure(lab: Layout, locks: Iterable[Path], report: Report = silent) -> None:
    """Download the wheels of these locks, unless downloaded before."""
    house(lab).mkdir(parents=True, exist_ok=True)
    with locked(lab.wheels / "lock"):
        missing = [path for path in locks if not _note(lab, path).exists()]
        if not missing:
            return
        disk.need(lab.wheels, 2000, "the wheelhouse")
        with step(report, f"downloading Python packages for the nodes ({len(missing)} locks)"):
            for path in missing:
                _download(lab, path)


def platforms(machine: str) -> list[str]:
    """Return every wheel platform tag that a Debian 13 node accepts."""
    return [f"manylinux_2_{minor}_{machine}" for minor in range(_NODE_GLIBC, 16, -1)] + [
        f"manylinux2014_{machine}",
        f"linux_{machine}",
    ]


def _note(lab: Layout, lock: Path) -> Path:
    digest = hashlib.sha256(lock.read_bytes() + NODE_PYTHON.encode()).hexdigest()[:24]
    return lab.wheels / "done" / digest


def _download(lab: Layout, lock: Path) -> None:
    work = lab.wheels / f"work.{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    digits = NODE_PYTHON.replace(".", "")
    try:
        shell.run(
            [
                *_pip(),
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--no-cache-dir",
                "--no-deps",
                "--require-hashes",
                "--only-binary=:all:",
                f"--python-version={NODE_PYTHON}",
                "--implementation=cp",
                *(f"--abi={abi}" for abi in (f"cp{digits}", "abi3", "none")),
                *(f"--platform={platform}" for platform in platforms(os.uname().machine)),
                f"--dest={work}",
                f"--requirement={lock}",
            ],
            timeout=1800,
        )
        for wheel in work.iterdir():
            wheel.replace(house(lab) / wheel.name)
        _note(lab, lock).parent.mkdir(exist_ok=True)
        _note(lab, lock).write_text(str(lock.name))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _pip() -> Sequence[str]:
    """Return the command of a pip on this machine; with uv, which downloads pip, if it has none."""
    for python in (sys.executable, "python3"):
        if find_program(python) and shell.run([python, "-m", "pip", "--version"], check=False).returncode == 0:
            return (python, "-m", "pip")
    uv = find_program("uv") or find_program(str(Path(sys.executable).with_name("uv")))
    if uv is None:
        raise LabError("this machine has neither pip nor uv", "`make demo` sets uv up")
    return (uv, "run", "--quiet", "--no-project", "--isolated", "--with", "pip", "python", "-m", "pip")
