"""Programs of Go modules, built once on the operator's machine for all hosts of a machine type.

A module's hash is that of the catalogue, and its own go.sum has the hashes of its dependencies.
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from landbridge.paths import cache_dir

_GO_FOLDERS = "/usr/local/go/bin:/usr/lib/go/bin:/usr/local/bin:/usr/bin"
_OPTIONS = ("-mod=readonly", "-trimpath")
#: Go's name of a machine type of `uname -m`, and Debian's C compiler for it on another machine.
_MACHINES = {"x86_64": ("amd64", "x86_64-linux-gnu-gcc"), "aarch64": ("arm64", "aarch64-linux-gnu-gcc")}


class BuildError(Exception):
    """Error: a program cannot be built on this machine; the message has the reason and the fix."""


@dataclass(frozen=True, slots=True)
class GoProgram:
    """Program of a Go module. `sum` is the module's hash as go.sum writes it, `go` the oldest release of Go that it accepts,
    `package` the folder of the program inside the module, `key` the one in the environment file that replaces the build.
    """

    name: str
    module: str
    version: str
    sum: str
    go: str
    key: str
    cache: str
    package: str = "."
    options: tuple[str, ...] = ()
    link_flags: str = "-s -w"
    # Set by the linker, and not a reason for another build.
    version_flags: str = ""
    needs_c: bool = False
    seconds: int = 1200

    @property
    def path(self) -> Path:
        """Return its path for this machine's type in the cache; it may not exist."""
        return self.path_for(platform.machine())

    def path_for(self, machine: str) -> Path:
        """Return its path for a machine type of `uname -m` in the cache; it may not exist."""
        content = hashlib.sha256(" ".join((self.sum, *_OPTIONS, *self.options, self.link_flags)).encode())
        folder = f"{self.version}-{content.hexdigest()[:12]}-{machine}"
        return cache_dir(self.cache) / folder / self.name


def find_go() -> Path | None:
    """Return the Go command of this machine, or None."""
    command = shutil.which("go") or shutil.which("go", path=_GO_FOLDERS)
    return Path(command) if command else None


def build(program: GoProgram, machine: str = "") -> Path:
    """Build the program unless it is in the cache, and return its path. Raises BuildError.

    `machine` is the machine type of the hosts, x86_64 or aarch64; none: this machine's.
    """
    machine = machine or platform.machine()
    path = program.path_for(machine)
    if path.is_file():
        return path
    go = find_go()
    compiler = c_compiler(machine) if program.needs_c else ""
    if go is None or (compiler and shutil.which(compiler) is None):
        missing = "Go" if go is None else compiler
        compilers = f"Go {program.go} or newer{f' and {compiler}' if compiler else ''}"
        raise BuildError(
            f"{missing} is not installed, and {program.module} {program.version} is not built for {machine} yet: install {compilers}, "
            f"or give {program.key} (url, sha256) in the environment file"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    # Several hosts may request it at the same time.
    with _locked(path.parent / "lock"):
        if not path.is_file():
            _build(go, program, path, machine)
    return path


def c_compiler(machine: str) -> str:
    """Return the C compiler that builds for a machine type. Raises BuildError for an unknown one."""
    if machine == platform.machine():
        return "gcc"
    if machine not in _MACHINES:
        raise BuildError(f"programs are not built for the machine type {machine}; known: {', '.join(_MACHINES)}")
    return _MACHINES[machine][1]


def print_path(program: GoProgram, machine: str = "") -> int:
    """Build the program unless it is in the cache, and print its path; return 1 if it cannot be built."""
    try:
        print(build(program, machine))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _build(go: Path, program: GoProgram, path: Path, machine: str) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="build.") as scratch:
        source = Path(scratch) / "source"
        shutil.copytree(_download(go, program, Path(scratch)), source)
        source.chmod(0o755)
        target = Path(scratch) / program.name
        flags = f"{program.link_flags} {program.version_flags}".strip()
        command = [str(go), "build", *_OPTIONS, *program.options, "-ldflags", flags, "-o", str(target)]
        variables = {"CGO_ENABLED": "1" if program.needs_c else "0", "GOFLAGS": "-buildvcs=false"}
        if machine != platform.machine():
            variables |= {"GOOS": "linux", "GOARCH": _MACHINES[machine][0], "CC": c_compiler(machine)}
        _run([*command, program.package], source, variables, program.seconds)
        target.chmod(0o755)
        target.replace(path)


def _download(go: Path, program: GoProgram, folder: Path) -> Path:
    """Return the folder of the module in Go's cache. Raises BuildError if its hash is not that of the catalogue."""
    command = [str(go), "mod", "download", "-json", f"{program.module}@{program.version}"]
    answer = json.loads(_run(command, folder, {"GOFLAGS": "-mod=mod"}, program.seconds))
    if answer.get("Sum") != program.sum:
        raise BuildError(
            f"{program.module} {program.version} has the hash {answer.get('Sum')} instead of {program.sum}"
        )
    return Path(answer["Dir"])


def _run(command: list[str], folder: Path, variables: Mapping[str, str], seconds: int) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{' '.join(command[:3])}: {error}") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise BuildError(f"{' '.join(command[:3])} failed: {' | '.join(lines)}")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
