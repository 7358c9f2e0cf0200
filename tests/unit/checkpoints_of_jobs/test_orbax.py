"""Job with real JAX and Orbax (`examples/checkpoints/jax_orbax.py`) on the CPU: killed, and resumed with other numbers of processes.

The packages are installed once into a virtual environment of the cache, named by the SHA-256 of their lock.
"""

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from landbridge.paths import cache_dir
from sandbox.demo.cluster import wait_for
from sandbox.ports import free_port
from tests.unit.checkpoints_of_jobs.conftest import ROOT, Training

EXAMPLES = ROOT / "examples/checkpoints"
LOCK = EXAMPLES / "requirements-jax.lock"

pytestmark = [pytest.mark.long, pytest.mark.slow]


@pytest.fixture(scope="session")
def jax_python() -> Path:
    """Return the interpreter with the packages of the lock; it appears by a rename."""
    name = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:16]
    final = cache_dir("venvs") / f"orbax-{name}"
    if not final.exists():
        building = final.with_name(f".{final.name}.{os.getpid()}")
        venv.create(building, with_pip=True, clear=True)
        install = [
            building / "bin/python",
            "-m",
            "pip",
            "install",
            "-q",
            "--require-hashes",
            "--only-binary=:all:",
            "-r",
            LOCK,
        ]
        subprocess.run(install, check=True)
        with contextlib.suppress(OSError):
            building.rename(final)
    return final / "bin/python"


def start(python: Path, folder: Path, restarts: int, processes: int, devices: int, **words: Any) -> list[Training]:
    """Start all processes of the job at a node, whose local disk they share."""
    words = {"steps": 30, "every": 5, "width": 64, "hidden": 512, "batch": 32, **words}
    port, trainings = free_port(), []
    for process in range(processes):
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(EXAMPLES),
            "HOME": str(folder),
            "SCRATCH": str(folder / f"node-{restarts}"),
            "LANDBRIDGE_CHECKPOINT_URL": (folder / "shared").as_uri(),
            "SLURM_JOB_ID": "7",
            "SLURM_RESTART_COUNT": str(restarts),
            "JAX_PLATFORMS": "cpu",
            "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
            "JAX_COORDINATOR": f"127.0.0.1:{port}",
            "JAX_PROCESSES": str(processes),
            "JAX_PROCESS": str(process),
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        }
        log = folder / f"{restarts}-{process}.log"
        command = [str(python), str(EXAMPLES / "jax_orbax.py"), *(f"--{name}={value}" for name, value in words.items())]
        with log.open("wb") as stream:
            child = subprocess.Popen(command, cwd=folder, env=environ, stdout=stream, stderr=subprocess.STDOUT)
        trainings.append(Training(child, log))
    return trainings


def complete(folder: Path) -> list[int]:
    """Return the steps of the complete checkpoints."""
    manifests = folder / "shared/local-7/manifests"
    return sorted(int(path.name[:12]) for path in manifests.glob("*.json")) if manifests.is_dir() else []


def killed_after(trainings: list[Training], folder: Path, count: int, step: int) -> dict[int, str]:
    """Kill all processes when a checkpoint of `step` or later is complete; return the losses."""
    wait_for(
        f"checkpoint {step}",
        lambda: (complete(folder), [training.process.poll() for training in trainings]),
        lambda state: bool(state[0] and state[0][-1] >= step) or any(code is not None for code in state[1]),
    )
    assert complete(folder)[-1] >= step, trainings[0].text()
    for training in trainings:
        training.process.send_signal(signal.SIGKILL)
    for training in trainings:
        training.process.wait()
    assert len(trainings) == count
    return trainings[0].losses


def test_a_job_of_orbax_goes_on_with_other_processes_and_devices(jax_python: Path, tmp_path: Path) -> None:
    whole_folder = tmp_path / "whole"
    whole_folder.mkdir()
    [whole] = start(jax_python, whole_folder, 0, 1, 1)
    whole.finished()
    losses = killed_after(start(jax_python, tmp_path, 0, 1, 4, steps=100_000), tmp_path, 1, 5)
    first = complete(tmp_path)[-1]
    two = start(jax_python, tmp_path, 1, 2, 2, steps=100_000)
    losses |= killed_after(two, tmp_path, 2, first + 5)
    second = complete(tmp_path)[-1]
    end = (second // 5 + 2) * 5
    four = start(jax_python, tmp_path, 2, 4, 1, steps=end)
    for training in four:
        training.finished()
    losses |= four[0].losses
    assert re.search(rf"restored step {first} with 4 devices", two[0].text())
    assert re.search(rf"restored step {second} with 4 devices", four[0].text())
    assert "finished" in four[0].text().splitlines() and complete(tmp_path)[-1] == end
    # Nothing is computed again but what followed the newest complete checkpoint.
    assert min(two[0].losses) == first + 1 and min(four[0].losses) == second + 1
    assert list(losses) == list(range(1, end + 1))
    for step in range(1, 31):
        if step in losses:
            assert float(losses[step]) == pytest.approx(float(whole.losses[step]), rel=1e-4)
    # A bit that has changed in Orbax' own files is seen before Orbax reads them.
    block = sorted((tmp_path / "shared/local-7/blocks").glob(f"{end:012d}-*/*"))[-1]
    block.write_bytes(block.read_bytes()[:-1] + b"!")
    [damaged] = start(jax_python, tmp_path, 3, 1, 4, steps=end + 5)
    assert damaged.process.wait(120) != 0 and "does not match its SHA-256" in damaged.text()
    [after] = start(jax_python, tmp_path, 4, 1, 4, steps=end + 5)
    after.finished()
    assert min(after.losses) < end + 1 and "at an earlier start" in after.text()
