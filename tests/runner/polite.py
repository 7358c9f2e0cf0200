"""Control group with a small share of the processors, for a tier that runs behind another one.

The share is three eighths of the default: with a quarter, the collection of 12,000 tests took 15 minutes while three other tiers and their
machines kept all processors busy, and a tier without a result for 35 minutes is ended.
`nice` alone does not do that: if the kernel groups processes by session (`sched_autogroup_enabled`), it counts only
among those of the same session.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
#: A control group's share of the processors: file, small and default value, of cgroup v2 and v1.
SHARES = (("cpu.weight", "38", "100"), ("cpu.shares", "384", "1024"))


@contextlib.contextmanager
def polite(root: Path = ROOT) -> Iterator[Path | None]:
    """Yield the `cgroup.procs` to write a process into; None if this machine allows no such group."""
    group = _create(root)
    try:
        yield group / "cgroup.procs" if group else None
    finally:
        if group:
            with contextlib.suppress(OSError):  # a process in it prevents its removal
                group.rmdir()


def join(procs: Path | None) -> None:
    """Put this process into the group; called between fork and exec."""
    os.nice(19)
    if procs is not None:
        with contextlib.suppress(OSError):
            procs.write_text("0")


def restore_share(root: Path = ROOT) -> None:
    """Give this process's group the default share again: the tier before it has ended, other work has not."""
    for tree in (root, root / "cpu"):
        for file, _, default in SHARES:
            if (tree / _name() / file).exists():
                (tree / _name() / file).write_text(default)


def _name() -> str:
    return f"landbridge-polite-{os.getpid()}"


def _create(root: Path) -> Path | None:
    for tree in (root, root / "cpu"):
        if not (tree / "cgroup.procs").exists():
            continue
        group = tree / _name()
        try:
            group.mkdir(exist_ok=True)
            if (tree / "cgroup.subtree_control").exists():
                (tree / "cgroup.subtree_control").write_text("+cpu")
        except OSError:
            continue
        for file, small, _ in SHARES:
            if (group / file).exists():
                (group / file).write_text(small)
                return group
        group.rmdir()
    return None
