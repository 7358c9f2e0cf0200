"""Node with the program `landbridge-data`: its service, a folder of the site, and jobs with control groups."""

import hashlib
import json
import os
import random
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge.datasets import DatasetBlock, DatasetContent, DatasetFile, DatasetManifest
from landbridge.datasets.names import DATASET_FILE, MANIFEST_FILE
from sandbox.demo.cluster import wait_for
from tests.roles.jobs.program_module import ROLES

FILES = ROLES / "dataset_cache/files"
#: The program without its launcher, which imports the package from its place on a host.
PROGRAM = (sys.executable, "-sB", "-m", "dataset_cache")
sys.path.insert(0, str(FILES))

from dataset_cache import bucket, cache, dataset  # noqa: E402, F401 - after the path; for the tests
from dataset_cache import site as site_files  # noqa: E402, F401


def staged(root: Path, name: str, sizes: list[int], data_class: str = "internal") -> Path:
    """Create a staged dataset as `landbridge data stage` leaves it."""
    folder = root / data_class / name / "v1"
    files, blocks = [], []
    for number, size in enumerate(sizes):
        body = random.Random(f"{name}{number}").randbytes(size)
        path = folder / f"part-{number % 3}" / f"file {number:05d}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        path.chmod(0o555 if number == 0 else 0o444)
        sha256 = hashlib.sha256(body).hexdigest()
        blocks.append(DatasetBlock(sha256, size))
        relative = path.relative_to(folder).as_posix()
        files.append(DatasetFile(relative, size, sha256, number, 0, number == 0))
    content = DatasetContent(name, data_class, tuple(sorted(files, key=lambda file: file.path)), tuple(blocks))
    manifest = DatasetManifest.of(content, "v1", "2026-11-26")
    (folder / MANIFEST_FILE).write_bytes(manifest.to_bytes())
    (folder / DATASET_FILE).write_text(json.dumps({"digest": content.digest}))
    return folder


def deep_folder(path: Path, levels: int = 3000) -> None:
    """Create more nested folders than Python's limit of recursion."""
    path.mkdir(parents=True)
    handle = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def equal(folder: Path, source: Path) -> bool:
    """Return true if a folder has the files of the dataset."""
    paths = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file() and path.parent != source)
    return len(paths) > 0 and all((folder / path).read_bytes() == (source / path).read_bytes() for path in paths)


@dataclass
class Node:
    """Node with the service, a folder of the site, and jobs with control groups."""

    folder: Path
    limit: int = 1 << 40
    classes: dict[str, dict[str, Any]] = field(default_factory=lambda: {"internal": {"group": "", "keep": True}})
    #: Settings of a node in AWS, and the environment of its jobs.
    buckets: dict[str, Any] | None = None
    job_environ: dict[str, str] = field(default_factory=dict)
    service: "subprocess.Popen[str] | None" = None

    @property
    def environ(self) -> dict[str, str]:
        settings = str(self.folder / "settings.json")
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(FILES), "LANDBRIDGE_DATASET_CACHE": settings}

    def write(self) -> None:
        """Write the settings, and the kernel's files."""
        (self.folder / "cgroup").mkdir(exist_ok=True)
        boot = self.folder / "boot"
        if not boot.exists():
            boot.write_text("first")
        settings = {
            "root": str(self.folder / "cache"),
            "source": str(self.folder / "site"),
            "socket": str(self.folder / "socket"),
            "classes": self.classes,
            "limit_bytes": self.limit,
            "workers": 4,
            "inspection_seconds": 0.1,
            "cgroups": str(self.folder / "cgroup"),
            "proc": str(self.folder / "proc"),
            "boot": str(boot),
        }
        if self.buckets is not None:
            settings["buckets"] = self.buckets
        (self.folder / "settings.json").write_text(json.dumps(settings))

    def start(self) -> "subprocess.Popen[str]":
        """Start the service, and wait for its socket."""
        self.write()
        (self.folder / "socket").unlink(missing_ok=True)
        service = subprocess.Popen([*PROGRAM, "serve"], env=self.environ, stderr=subprocess.PIPE, text=True)
        self.service = service
        wait_for("the socket", lambda: ((self.folder / "socket").exists(), service.poll()), lambda state: any(state))
        assert service.poll() is None
        return service

    def stop(self) -> None:
        if self.service is not None:
            self.service.kill()
            self.service.wait()

    def job(self, number: int) -> str:
        """Create the control group of a job; return its path."""
        group = f"/system.slice/slurmstepd.scope/job_{number}"
        (self.folder / f"cgroup{group}").mkdir(parents=True, exist_ok=True)
        return group

    def end(self, number: int) -> None:
        (self.folder / f"cgroup/system.slice/slurmstepd.scope/job_{number}").rmdir()

    def begin(self, reference: str, job: int | None, data_class: str = "internal") -> "subprocess.Popen[str]":
        """Start the program in a job."""
        # The shell waits until its control group is known, then becomes the program.
        command = f'read line; exec {shlex.join(PROGRAM)} path "{reference}"'
        environ = {**self.environ, **self.job_environ, "LANDBRIDGE_DATA_CLASS": data_class}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(["sh", "-c", command], env=environ, text=True, **pipes)
        cgroup = self.folder / f"proc/{process.pid}/cgroup"
        cgroup.parent.mkdir(parents=True)
        cgroup.write_text("0::/user.slice\n" if job is None else f"0::{self.job(job)}/step_batch/user/task_0\n")
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        return process

    def path(self, reference: str, job: int | None, data_class: str = "internal") -> tuple[Path, str]:
        """Return the folder that the program prints, and its messages."""
        output, messages = self.begin(reference, job, data_class).communicate()
        return Path(output.strip()), messages

    def cached(self, data_class: str = "internal") -> list[str]:
        """Return the digests of the cached datasets."""
        return sorted(entry.name for entry in (self.folder / "cache" / data_class).iterdir() if len(entry.name) == 64)

    def staged(self, name: str, sizes: list[int], data_class: str = "internal") -> Path:
        """Create a staged dataset of the site."""
        return staged(self.folder / "site", name, sizes, data_class)
