"""Work that gets of the processors what nobody else wants, with all that it starts.

`nice` alone does not do that: where the kernel groups processes by session (`sched_autogroup_enabled`), it counts only
among those of the same session.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
#: A control group's smallest share of the processors: file and value, of cgroup v2 and v1.
LEAST = (("cpu.weight", "1"), ("cpu.shares", "2"))


@contextlib.contextmanager
def polite(root: Path = ROOT) -> Iterator[Path | None]:
    """The `cgroup.procs` to write a process into; None where this machine lets nobody make such a group."""
    group = _made(root)
    try:
        yield group / "cgroup.procs" if group else None
    finally:
        if group:
            with contextlib.suppress(OSError):  # what is still in it keeps it
                group.rmdir()


def join(procs: Path | None) -> None:
    """Put this process there; for between fork and exec."""
    os.nice(19)
    if procs is not None:
        with contextlib.suppress(OSError):
            procs.write_text("0")


def _made(root: Path) -> Path | None:
    for tree in (root, root / "cpu"):
        if not (tree / "cgroup.procs").exists():
            continue
        group = tree / f"landbridge-polite-{os.getpid()}"
        try:
            group.mkdir(exist_ok=True)
            if (tree / "cgroup.subtree_control").exists():
                (tree / "cgroup.subtree_control").write_text("+cpu")
        except OSError:
            continue
        for file, least in LEAST:
            if (group / file).exists():
                (group / file).write_text(least)
                return group
        group.rmdir()
    return None
