"""Reproducible archive of the roles, identified by its digest."""

import hashlib
import io
import json
import os
import re
import shlex
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

PLAYBOOK = Path("ansible/playbooks/node_image.yml")
ROLES = Path("ansible/roles")
#: Folders that the playbook also installs: job code, and the lock file of its Python packages.
EXTRAS = (Path("examples/digits"),)
_PROGRAM = Path(__file__).with_name("run.sh")
#: Suffixes of documentation and generated files, which are not part of the archive.
_NOT_PARTS = frozenset({".md", ".pyc", ".in"})
_NAMED = (
    re.compile(r"(?:include_role|import_role):\s*\{?\s*name:\s*([a-z_]+)"),
    re.compile(r"-\s*\{?\s*role:\s*([a-z_]+)"),
)
_LISTED = re.compile(r"roles:\s*\[([^\]]*)\]")
#: Task files that the playbook includes, relative to its folder.
_TASK_FILES = re.compile(r"(?:include_tasks|import_tasks):\s*([A-Za-z_/]+\.yml)")


@dataclass(frozen=True)
class Bundle:
    """Tar archive, not compressed, because the result would differ between versions of a compressor."""

    content: bytes

    @cached_property
    def sha256(self) -> str:
        """Return the digest: part of the S3 key, and verified by a build before it unpacks the archive."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def key(self) -> str:
        """Return the S3 key of the archive."""
        return f"roles/{self.sha256}.tar"

    def file(self, folder: Path) -> Path:
        """Return the archive as a file of `folder`, written if absent."""
        path = folder / f"{self.sha256}.tar"
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            unfinished = folder / f"{self.sha256}.{os.getpid()}"
            unfinished.write_bytes(self.content)
            unfinished.replace(path)
        return path


def bundle(project: Path, variables: Mapping[str, Any], settings: Mapping[str, str]) -> Bundle:
    """Pack the playbook of `project` and every role that it uses, with the variables of roles and build.

    The archive depends only on contents, names and executable bits: not on order, clock, owner or umask.
    """
    files = dict(_files(project))
    files["vars.json"] = (json.dumps(variables, sort_keys=True, indent=1).encode() + b"\n", False)
    lines = [f"{key}={shlex.quote(value)}\n" for key, value in sorted(settings.items())]
    files["settings.sh"] = ("".join(lines).encode(), False)
    files["run.sh"] = (_PROGRAM.read_bytes(), True)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            content, executable = files[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755 if executable else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return Bundle(raw.getvalue())


def task_files(playbook: Path) -> list[Path]:
    """Return the task files that a playbook includes, in the order of the playbook."""
    return [playbook.parent / name for name in _TASK_FILES.findall(playbook.read_text(encoding="utf-8"))]


def roles_used(playbook: Path, folder: Path) -> list[Path]:
    """Return the roles that a playbook includes, directly or indirectly, sorted by name."""
    folders = {path.name: path for path in folder.iterdir() if path.is_dir()}
    used: dict[str, Path] = {}
    pending = [playbook, *task_files(playbook)]
    while pending:
        path = pending.pop()
        for text in [path] if path.is_file() else sorted(path.rglob("*.yml")):
            for name in _roles_in(text.read_text(encoding="utf-8")):
                if name in folders and name not in used:
                    used[name] = folders[name]
                    pending.append(folders[name])
    return [used[name] for name in sorted(used)]


def _roles_in(text: str) -> Iterator[str]:
    for pattern in _NAMED:
        yield from pattern.findall(text)
    for listed in _LISTED.findall(text):
        yield from (word.strip() for word in listed.split(","))


def _files(project: Path) -> Iterator[tuple[str, tuple[bytes, bool]]]:
    paths = [
        project / PLAYBOOK,
        *task_files(project / PLAYBOOK),
        *roles_used(project / PLAYBOOK, project / ROLES),
        *(project / extra for extra in EXTRAS),
    ]
    for path in paths:
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.suffix not in _NOT_PARTS:
                yield str(file.relative_to(project)), (file.read_bytes(), bool(file.stat().st_mode & 0o100))
