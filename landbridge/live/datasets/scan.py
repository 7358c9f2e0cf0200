"""Scan of a folder: the files of a new dataset, and a finding for each file that a dataset cannot contain."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from landbridge.datasets import DESCRIBING, case_collisions, path_fault
from landbridge.findings import Finding, Severity

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISCHR, "a character device"),
)
#: A folder may have thousands of files of one kind: further findings only count them.
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Regular file: its path inside the folder, and the state in which it was scanned."""

    path: str
    size: int
    modified_ns: int
    inode: int
    executable: bool


def scan(folder: Path) -> tuple[list[SourceFile], list[Finding]]:
    """Return the files of a folder sorted by path, and findings of what it has besides. Empty folders are left out."""
    files: list[SourceFile] = []
    findings: list[Finding] = []
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            entries = list(os.scandir(folder / below))
        except OSError as error:
            findings.append(_refused(folder, below, f"it cannot be read: {error.strerror}"))
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if path in DESCRIBING:
                continue  # the folder is a staged dataset
            state = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(state.st_mode):
                pending.append(path)
                continue
            kind = next((text for test, text in _KINDS if test(state.st_mode)), None)
            fault = f"it is {kind}" if kind is not None else path_fault(path)
            if fault is not None:
                findings.append(_refused(folder, path, fault))
                continue
            executable = bool(state.st_mode & 0o111)
            files.append(SourceFile(path, state.st_size, state.st_mtime_ns, state.st_ino, executable))
    files.sort(key=lambda file: file.path)
    findings += [_collision(folder, pair) for pair in case_collisions(file.path for file in files)]
    return files, _shortened(findings)


def _refused(folder: Path, path: str, fault: str) -> Finding:
    shown = path.encode("utf-8", "backslashreplace").decode()
    message = f"{shown!r}: a dataset cannot contain it: {fault}"
    return Finding("dataset-file", message, fix="rename, replace or remove it", file=str(folder))


def _collision(folder: Path, pair: tuple[str, str]) -> Finding:
    message = f"{pair[0]!r} and {pair[1]!r} are one name on a file system that ignores case or Unicode forms"
    return Finding("dataset-case", message, severity=Severity.WARNING, file=str(folder))


def _shortened(findings: Sequence[Finding]) -> list[Finding]:
    shortened = []
    for rule in dict.fromkeys(finding.rule for finding in findings):
        of_rule = [finding for finding in findings if finding.rule == rule]
        shortened += of_rule[:_SHOWN]
        if len(of_rule) > _SHOWN:
            more, first = len(of_rule) - _SHOWN, of_rule[0]
            shortened.append(Finding(rule, f"{more} more of this kind", severity=first.severity, file=first.file))
    return shortened
