"""Control groups: one per node (cgroup v1 or v2), for accounting, limits, and finding leftover processes.

Version 1: the node's group in every controller's tree. Version 2: a group with two leaves, since a group that enables
controllers for its children may contain no process: `watch` for the supervisor, `machine` for the container.
"""

from pathlib import Path

from sandbox.nspawn.errors import LabError

ROOT = Path("/sys/fs/cgroup")
_V2_CONTROLLERS = ("cpuset", "cpu", "io", "memory", "pids")


def version(root: Path = ROOT) -> int:
    """Return the cgroup version of the host's controllers: 2, 1 (also with a second, empty v2 tree), or 0 for none."""
    if (root / "cgroup.controllers").exists():
        return 2
    return 1 if (root / "memory").is_dir() or (root / "pids").is_dir() else 0


def hierarchies(root: Path = ROOT) -> list[Path]:
    """Return the mounted trees in which a node's processes need a group."""
    if version(root) == 2:
        return [root]
    return sorted({path.resolve() for path in root.iterdir() if (path / "cgroup.procs").exists()})


def make(lab: str, node: str, root: Path = ROOT) -> None:
    """Create a node's groups. Raise LabError if the machine has no control groups or does not permit it."""
    generation = version(root)
    if generation == 0:
        raise LabError("this machine shows no control groups", "run on a machine whose /sys/fs/cgroup is mounted")
    try:
        if generation == 2:
            _make_v2(root, lab, node)
        else:
            for tree in hierarchies(root):
                _make_v1(tree, lab, node)
    except PermissionError as error:
        raise LabError(
            f"control groups cannot be made here ({error.filename})", "run as root, outside an unprivileged container"
        ) from None


def procs_files(lab: str, node: str, leaf: str, root: Path = ROOT) -> list[str]:
    """Return the files to which a process writes 0 to join its node's groups; `leaf` is `watch` or `machine`."""
    leaves = (leaf,) if version(root) == 2 else ()
    return [str(tree.joinpath(lab, node, *leaves, "cgroup.procs")) for tree in hierarchies(root)]


def remove(lab: str, node: str | None = None, root: Path = ROOT) -> None:
    """Remove a node's groups, or the whole lab's; groups with a running process stay."""
    for tree in hierarchies(root):
        top = tree / lab / node if node else tree / lab
        if top.is_dir():
            for folder in sorted((path for path in [top, *top.rglob("*")] if path.is_dir()), reverse=True):
                try:
                    folder.rmdir()
                except OSError:
                    continue


def members(lab: str, root: Path = ROOT) -> set[int]:
    """Return the ids of all processes in the lab's groups."""
    members: set[int] = set()
    for tree in hierarchies(root):
        for path in (tree / lab).rglob("cgroup.procs") if (tree / lab).is_dir() else ():
            try:
                members.update(int(line) for line in path.read_text().split())
            except OSError:
                continue
    return members


def memory(lab: str, node: str, root: Path = ROOT) -> int | None:
    """Return the node's anonymous memory in bytes; None if the host does not account for it."""
    v2 = version(root) == 2
    path = (root if v2 else root / "memory") / lab / node / "memory.stat"
    key = "anon" if v2 else "total_rss"
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.split()[0] == key), None)


def _make_v1(tree: Path, lab: str, node: str) -> None:
    for group in (tree / lab, tree / lab / node):
        group.mkdir(exist_ok=True)
        # A cpuset accepts processes only after its processors and memory nodes are set.
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (group / name).exists():
                (group / name).write_text((tree / name).read_text())


def _make_v2(root: Path, lab: str, node: str) -> None:
    for group in (root, root / lab, root / lab / node):
        group.mkdir(exist_ok=True)
        available = (group / "cgroup.controllers").read_text().split()
        for controller in _V2_CONTROLLERS:
            if controller in available:
                (group / "cgroup.subtree_control").write_text(f"+{controller}")
    for leaf in ("watch", "machine"):
        (root / lab / node / leaf).mkdir(exist_ok=True)
