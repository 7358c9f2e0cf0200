"""Rules about where file systems are mounted."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.storage import storage as facts
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule
from landbridge.rules.shared import once
from landbridge.rules.walk import pools, shares

_HOME: DataPath = ("storage", "home", "mount")


@dataclass(frozen=True, slots=True)
class _Mount:
    """A folder that is mounted over. `pool` is None for what every cloud node has."""

    folder: str
    what: str
    path: DataPath
    pool: str | None = None

    @property
    def plain(self) -> str:
        """Without doubled and trailing slashes and dots."""
        return posixpath.normpath(self.folder.replace("//", "/"))


@rule
def reserved_mount(environment: Environment) -> Iterator[Finding]:
    """Nothing is mounted over folders of the operating system, of Slurm or of Landbridge.

    What was there is hidden: a node without /etc or /opt/slurm does not boot, or not as one of this cluster. Homes are the
    one thing that belongs at /home.
    Source: Filesystem Hierarchy Standard 3.0; ParallelCluster SharedStorageMountDirValidator (landbridge/catalog/storage.yaml).
    """
    known = facts().reserved_mounts
    for mount in _mounts(environment):
        if ".." in mount.folder.split("/"):
            yield Finding("reserved-mount", f"{mount.folder} goes back up with ..", mount.path, f"write {mount.plain}")
        elif known.reserves(mount.plain) and not (mount.path == _HOME and mount.plain in ("/home", "/root/home")):
            instead = (
                "/home, or a folder of its own such as /homes" if mount.path == _HOME else "/data, /scratch or /shared"
            )
            message = f"{mount.plain} is the system's own; {mount.what} would hide what is in it"
            yield Finding("reserved-mount", message, mount.path, f"use {instead}")


@rule
def duplicate_mount(environment: Environment) -> Iterator[Finding]:
    """Every folder is mounted over once: of two file systems at one place, one is out of reach.

    Source: ParallelCluster DuplicateMountDirValidator.
    """
    for mount, other in _pairs(environment, same=True):
        message = f"{mount.what} and {other.what} are both mounted at {mount.plain}"
        yield Finding("duplicate-mount", message, mount.path, "give it a folder of its own", related=(other.path,))


@rule
def nested_mount(environment: Environment) -> Iterator[Finding]:
    """No file system is mounted inside another: it needs a folder there, and hangs whenever the outer one does.

    Source: ParallelCluster OverlappingMountDirValidator.
    """
    for mount, other in _pairs(environment, same=False):
        inner, outer = (mount, other) if mount.plain.startswith(other.plain) else (other, mount)
        message = f"{inner.plain} ({inner.what}) lies inside {outer.plain} ({outer.what})"
        yield Finding("nested-mount", message, mount.path, "mount them side by side", related=(other.path,))


@rule
def restricted_homes(environment: Environment) -> Iterator[Finding]:
    """Homes of people whose data may not be in AWS are not mounted there.

    Cloud nodes read every home through the link; a file that somebody leaves in theirs is then in AWS, whatever its class.
    Source: Landbridge (docs/decisions/0006-data.md); HIPAA Security Rule, 45 CFR 164.312(a)(1) for health data.
    """
    home = environment.storage.home
    if not home.on_cloud_nodes or not environment.aws.pools:
        return
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        if data_class is None or "aws" in data_class.sites or not account.users:
            continue
        message = f"cloud nodes mount the homes of {name}'s users, whose data ({account.data_class}) may not be in AWS"
        path: DataPath = ("storage", "home")
        related: tuple[DataPath, ...] = (
            ("scheduler", "accounts", name, "data_class"),
            ("data_classes", account.data_class, "sites"),
        )
        fix = "write on_cloud_nodes: false, and let jobs take their data from the hub"
        yield Finding("restricted-homes", message, path, fix, Severity.WARNING, related)
        return


@once
def _mounts(environment: Environment) -> tuple[_Mount, ...]:
    home = environment.storage.home
    found = [_Mount(home.mount, "home directories", _HOME)]
    for path, share in shares(environment):
        found.append(_Mount(share.mount, f"{share.kind} {path[-1]}", (*path, "mount")))
    for at in pools(environment):
        if at.pool.local_scratch is not None:
            found.append(_Mount(at.pool.local_scratch, "local scratch", at.at("local_scratch"), at.pool.name))
    return tuple(found)


def _pairs(environment: Environment, *, same: bool) -> Iterator[tuple[_Mount, _Mount]]:
    """Mounts of one node at one folder, or one inside the other: the later and the earlier in the file."""
    everywhere: dict[str, _Mount] = {}
    for mount in _mounts(environment):
        # Homes that cloud nodes do not mount are in nobody's way there, and what is in AWS is in nobody's way on-prem.
        if mount.path == _HOME and not environment.storage.home.on_cloud_nodes:
            continue
        if same:
            if mount.plain in everywhere:
                yield mount, everywhere[mount.plain]
        else:
            inside = (everywhere[folder] for folder in _above(mount.plain) if folder in everywhere)
            yield from ((mount, other) for other in inside)
            around = (other for folder, other in everywhere.items() if folder.startswith(mount.plain.rstrip("/") + "/"))
            yield from ((mount, other) for other in around)
        if mount.pool is None:
            everywhere.setdefault(mount.plain, mount)


def _above(folder: str) -> Iterator[str]:
    while folder not in ("/", ""):
        folder = posixpath.dirname(folder)
        yield folder
