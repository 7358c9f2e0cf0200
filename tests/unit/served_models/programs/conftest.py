"""Real tritonserver for the tests of this folder, fetched from the package index by SHA-256."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from landbridge.paths import cache_dir
from tests.unit.served_models.programs.triton import PYTHON, packages

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def program() -> Path:
    """Return the folder of tritonserver, in a virtual environment of the cache named by the SHA-256 of its lock; it appears by a rename."""
    lock = HERE / "triton.lock"
    final = cache_dir("venvs") / f"triton-{hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]}"
    if not final.exists():
        building = final.with_name(f".{final.name}.{os.getpid()}")
        venv.create(building, with_pip=True, clear=True)
        install = [building / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--require-hashes"]
        done = subprocess.run([*install, "--only-binary=:all:", "-r", lock], capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(building)
            reason = done.stderr.strip().rpartition("\n")[2]
            pytest.skip(f"tritonserver cannot be had on this machine: {reason}")
        with contextlib.suppress(OSError):
            building.rename(final)
    return final


@pytest.fixture(scope="session")
def backends(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the backend of this Python: PyTriton has its parts in two places."""
    folder = tmp_path_factory.mktemp("backends")
    source = packages(program) / "pytriton/tritonserver"
    shutil.copytree(source / "backends/python", folder / "python")
    stub = folder / "python/triton_python_backend_stub"
    shutil.copy(source / f"python_backend_stubs/{PYTHON}/{stub.name}", stub)
    stub.chmod(0o755)
    return folder
