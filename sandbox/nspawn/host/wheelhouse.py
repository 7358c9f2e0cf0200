"""Wheelhouse: Python packages for the nodes, downloaded on the host from hash-locked requirement files.

Nodes cannot reach a package index: they install from this folder, and the hashes in the same locks verify the packages.
Packages are never removed from the folder; a package is downloaded once, also if several locks name it.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
# Most of a download is waiting for the index.
_PROCESSES = 4


def locks(root: Path) -> list[Path]:
    """Return the requirement locks that nodes install from: locks of roles and of examples."""
    return sorted([*root.glob("ansible/roles/*/files/requirements*.lock"), *root.glob("examples/*/requirements*.lock")])


def house(lab: Layout) -> Path:
    """Return the folder that the relay serves to nodes at the operator's port 3143."""
    return lab.wheels / "house"


def ensure(lab: Layout, locks: Iterable[Path], report: Report = silent) -> None:
    """Download the wheels of these locks, unless downloaded before."""
    house(lab).mkdir(parents=True, exist_ok=True)
    with locked(lab.wheels / "lock"):
        for left in lab.wheels.glob("work.*"):
            shutil.rmtree(left, ignore_errors=True)
        missing = [block for block in requirement_blocks(locks) if not _note(lab, block).exists()]
        if not missing:
            return
        disk.need(lab.wheels, 2000, "the wheelhouse")
        with step(report, f"downloading Python packages for the nodes ({len(missing)} packages)"):
            pip, parts = _pip(), batches(missing)
            with ThreadPoolExecutor(len(parts)) as pool:
                list(pool.map(lambda part: _download(lab, pip, part), parts))


def requirement_blocks(locks: Iterable[Path]) -> list[str]:
    """Return the distinct requirements of the locks, each with its hashes, sorted: locks have many packages in common."""
    blocks: set[str] = set()
    for lock in locks:
        lines = [line for line in lock.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")]
        for line in "\n".join(lines).replace("\\\n", " ").splitlines():
            words = line.split(" --hash=")
            blocks.add(" \\\n    --hash=".join([words[0].strip(), *sorted(word.strip() for word in words[1:])]))
    return sorted(blocks)


def batches(blocks: Iterable[str]) -> list[list[str]]:
    """Divide requirements among pip processes; none gets two versions of a project, which pip refuses."""
    parts: list[dict[str, str]] = [{} for _ in range(_PROCESSES)]
    for block in blocks:
        project = block.partition("==")[0]
        free = [part for part in parts if project not in part]
        if not free:
            parts.append({})
            free = parts[-1:]
        min(free, key=len)[project] = block
    return [list(part.values()) for part in parts if part]


def platforms(machine: str) -> list[str]:
    """Return every wheel platform tag that a Debian 13 node accepts."""
    return [f"manylinux_2_{minor}_{machine}" for minor in range(_NODE_GLIBC, 16, -1)] + [
        f"manylinux2014_{machine}",
        f"linux_{machine}",
    ]


def _note(lab: Layout, block: str) -> Path:
    digest = hashlib.sha256((block + NODE_PYTHON).encode()).hexdigest()[:24]
    return lab.wheels / "done" / digest


def _download(lab: Layout, pip: Sequence[str], blocks: Sequence[str]) -> None:
    digits = NODE_PYTHON.replace(".", "")
    with tempfile.TemporaryDirectory(prefix="work.", dir=lab.wheels) as work:
        requirements = Path(work, "requirements.txt")
        requirements.write_text("\n".join(blocks) + "\n")
        wheels = Path(work, "wheels")
        shell.run(
            [
                *pip,
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
                f"--dest={wheels}",
                f"--requirement={requirements}",
            ],
            timeout=1800,
        )
        for wheel in wheels.iterdir():
            wheel.replace(house(lab) / wheel.name)
    (lab.wheels / "done").mkdir(exist_ok=True)
    for block in blocks:
        _note(lab, block).write_text(block.partition(" ")[0])


def _pip() -> Sequence[str]:
    """Return the command of a pip on this machine; with uv, which downloads pip, if it has none."""
    for python in (sys.executable, "python3"):
        if find_program(python) and shell.run([python, "-m", "pip", "--version"], check=False).returncode == 0:
            return (python, "-m", "pip")
    uv = find_program("uv") or find_program(str(Path(sys.executable).with_name("uv")))
    if uv is None:
        raise LabError("this machine has neither pip nor uv", "`make demo` sets uv up")
    return (uv, "run", "--quiet", "--no-project", "--isolated", "--with", "pip", "python", "-m", "pip")
