"""Probes of the operator's machine for the requirements of each command. Nothing is changed."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from landbridge import yaml_text
from landbridge.paths import cache_dir

Kind = Literal["python", "program", "module", "root", "namespaces", "memory_mib", "disk_mib", "engine", "go"]
# Folders of programs that an ordinary user's PATH on Debian does not contain.
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin"


class Need(BaseModel):
    """Requirement of a command, and the fix if it is missing."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Kind
    value: str | int = ""
    fix: str


class _Needs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    source: str
    date: object
    commands: Mapping[str, tuple[Need, ...]]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Requirement of a command, and whether this machine meets it (`met`), with the result of the probe."""

    command: str
    need: str
    met: bool
    result: str
    fix: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "command": self.command,
            "need": self.need,
            "met": self.met,
            "found": self.result,
            "fix": self.fix,
        }


def diagnose() -> tuple[Diagnosis, ...]:
    """Probe all requirements of all commands; takes about a second."""
    text = files("landbridge.ops").joinpath("doctor.yaml").read_text(encoding="utf-8")
    needs = _Needs.model_validate(yaml_text.load(text))
    return tuple(_probe(command, need) for command, listed in needs.commands.items() for need in listed)


def _probe(command: str, need: Need) -> Diagnosis:
    met, probe_result = _PROBES[need.kind](str(need.value))
    return Diagnosis(
        command, f"{need.kind} {need.value}".strip().replace("_", " "), met, probe_result, "" if met else need.fix
    )


def _python(minimum: str) -> tuple[bool, str]:
    return sys.version_info >= _numbers(minimum), ".".join(str(part) for part in sys.version_info[:3])


def _program(name: str) -> tuple[bool, str]:
    # A program in the folder of this Python counts even if PATH does not contain that folder.
    in_environment = Path(sys.executable).parent / name
    path = (
        str(in_environment) if in_environment.is_file() else shutil.which(name) or shutil.which(name, path=_SYSTEM_PATH)
    )
    return path is not None, path or "not found"


def _module(name: str) -> tuple[bool, str]:
    spec = importlib.util.find_spec(name) is not None
    return spec, "importable" if spec else "not installed"


def _root(_: str) -> tuple[bool, str]:
    return os.geteuid() == 0, f"uid {os.geteuid()}"


@cache
def _namespaces(_: str) -> tuple[bool, str]:
    unshare = shutil.which("unshare", path=_SYSTEM_PATH)
    if unshare is None:
        return False, "no unshare program"
    output = _run([unshare, "--net", "--mount", "--pid", "--fork", "true"])
    return output[0], "can be created" if output[0] else output[1]


def _memory(minimum: str) -> tuple[bool, str]:
    available = _available_mib()
    return available >= int(minimum), f"{available} MiB available"


def _available_mib() -> int:
    """Return the available memory in MiB, at most the limit of the control group."""
    match = re.search(r"^MemAvailable:\s+(\d+)", _text("/proc/meminfo"), re.MULTILINE)
    available = int(match[1]) // 1024 if match else 0
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = _text(path).strip()
        if limit.isdigit():
            available = min(available, int(limit) // 2**20)
    return available


def _disk(minimum: str) -> tuple[bool, str]:
    free = shutil.disk_usage(Path.home()).free // 2**20
    return free >= int(minimum), f"{free} MiB free in {Path.home()}"


def _engine(_: str) -> tuple[bool, str]:
    built = sorted(cache_dir("engine").glob("*/bin/pulumi"))
    path = shutil.which("pulumi") or (str(built[-1]) if built else None)
    return path is not None, path or "neither on PATH nor in the cache"


@cache
def _go(minimum: str) -> tuple[bool, str]:
    go = shutil.which("go") or shutil.which("go", path=_SYSTEM_PATH)
    if go is None:
        return False, "not found"
    ran, output = _run([go, "version"])
    match = re.search(r"go(\d+(?:\.\d+)+)", output)
    return ran and match is not None and _numbers(match[1]) >= _numbers(minimum), match[1] if match else output


def _run(command: list[str]) -> tuple[bool, str]:
    """Return whether a harmless command succeeds within five seconds, and its output."""
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return False, str(error)
    return completed.returncode == 0, (completed.stdout or completed.stderr).strip()


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


_PROBES: Mapping[Kind, Callable[[str], tuple[bool, str]]] = {
    "python": _python,
    "program": _program,
    "module": _module,
    "root": _root,
    "namespaces": _namespaces,
    "memory_mib": _memory,
    "disk_mib": _disk,
    "engine": _engine,
    "go": _go,
}
