"""Control groups: one per node (cgroup v1 or v2), for accounting, limits, and finding leftover processes.

Version 1: the node's group in every controller's tree. Version 2: a group with two leaves, since a group that hands
controllers down may hold no process itself: `watch` for the supervisor, `machine` for the container.
"""

from pathlib import Path

from sandbox.nspawn.errors import LabError

ROOT = Path("/sys/fs/cgroup")
_V2_CONTROLLERS = ("cpuset", "cpu", "io", "memory", "pids")


def version(root: Path = ROOT) -> int:
    """Which generation the host's controllers are in: 2, 1 (also when a second, empty v2 tree is mounted), or 0."""
    if (root / "cgroup.controllers").exists():
        return 2
    return 1 if (root / "memory").is_dir() or (root / "pids").is_dir() else 0


def hierarchies(root: Path = ROOT) -> list[Path]:
    """The mounted trees that a node's processes must have a group in."""
    if version(root) == 2:
        return [root]
    return sorted({path.resolve() for path in root.iterdir() if (path / "cgroup.procs").exists()})


def make(lab: str, node: str, root: Path = ROOT) -> None:
    """Make a node's groups."""
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
    """The files a process writes 0 to in order to join its node's groups; `leaf` is `watch` or `machine`."""
    deeper = (leaf,) if version(root) == 2 else ()
    return [str(tree.joinpath(lab, node, *deeper, "cgroup.procs")) for tree in hierarchies(root)]


def remove(lab: str, node: str | None = None, root: Path = ROOT) -> None:
    """Remove a node's groups, or the whole lab's; groups with a live process in them stay."""
    for tree in hierarchies(root):
        top = tree / lab / node if node else tree / lab
        if top.is_dir():
            for folder in sorted((path for path in [top, *top.rglob("*")] if path.is_dir()), reverse=True):
                try:
                    folder.rmdir()
                except OSError:
                    continue


def members(lab: str, root: Path = ROOT) -> set[int]:
    """Every process in the lab's groups."""
    members: set[int] = set()
    for tree in hierarchies(root):
        for path in (tree / lab).rglob("cgroup.procs") if (tree / lab).is_dir() else ():
            try:
                members.update(int(line) for line in path.read_text().split())
            except OSError:
                continue
    return members


def memory(lab: str, node: str, root: Path = ROOT) -> int | None:
    """Bytes of anonymous memory the node uses, when the host accounts for it."""
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
        # A cpuset takes no process before it has been told its processors and memory.
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
