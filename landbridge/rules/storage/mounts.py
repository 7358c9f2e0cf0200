"""Rules about mount points of file systems."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.aws.images import image_behind
from landbridge.catalog.aws.storage import storage as facts
from landbridge.catalog.hardware.published import published
from landbridge.environment import DataClass, Environment, ExternalNfsHome, ImageBuild, NfsHome
from landbridge.environment.cached import cached
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.images import build_parent, image_sources, pool_image
from landbridge.rules.environment_paths import cloud_file_systems, existing_file_systems, pools
from landbridge.rules.registry import rule

_HOME: DataPath = ("storage", "home", "mount")


@dataclass(frozen=True, slots=True)
class _Mount:
    """Mount point. `pool` is None for a mount of all nodes of its site, else a pool or a group of nodes."""

    folder: str
    noun: str
    path: DataPath
    pool: str | None = None

    @property
    def plain(self) -> str:
        """Return the folder without doubled and trailing slashes and dots."""
        return posixpath.normpath(self.folder.replace("//", "/"))


@rule
def reserved_mount(environment: Environment) -> Iterator[Finding]:
    """File systems are not mounted over folders of the operating system, Slurm or Landbridge.

    A mount hides the folder's contents: a node without /etc or /opt/slurm does not boot or register. Only home
    directories are mounted at /home.
    Source: Filesystem Hierarchy Standard 3.0; ParallelCluster SharedStorageMountDirValidator
    (landbridge/catalog/storage.yaml).
    """
    reserved = facts().reserved_mounts
    for mount in {
        mount_point.path: mount_point for mount_point in (*_mounts(environment), *_site_mounts(environment))
    }.values():
        if ".." in mount.folder.split("/"):
            yield error(mount.path, f"the mount point {mount.folder} contains ..", fix=f"write {mount.plain}")
        elif reserved.reserves(mount.plain) and not (mount.path == _HOME and mount.plain in ("/home", "/root/home")):
            instead = (
                "/home, or a separate folder such as /homes" if mount.path == _HOME else "/data, /scratch or /shared"
            )
            message = f"{mount.plain} is a system folder; {mount.noun} would hide its contents"
            yield error(mount.path, message, fix=f"use {instead}")


@rule
def duplicate_mount(environment: Environment) -> Iterator[Finding]:
    """Every mount point is used once: of two file systems, one would be hidden.

    Source: ParallelCluster DuplicateMountDirValidator.
    """
    for mount, other in _pairs(environment, same=True):
        message = f"{mount.noun} and {other.noun} are both mounted at {mount.plain}"
        yield error(mount.path, message, fix="write another folder", related=(other.path,))


@rule
def nested_mount(environment: Environment) -> Iterator[Finding]:
    """No file system is mounted inside another: it depends on the outer one.

    Source: ParallelCluster OverlappingMountDirValidator.
    """
    for mount, other in _pairs(environment, same=False):
        inner, outer = (mount, other) if mount.plain.startswith(other.plain) else (other, mount)
        message = f"the mount point {inner.plain} ({inner.noun}) is inside {outer.plain} ({outer.noun})"
        yield error(mount.path, message, fix="write separate folders", related=(other.path,))


@rule
def restricted_homes(environment: Environment) -> Iterator[Finding]:
    """Home directories are not mounted where the data of their users may not be.

    Cloud nodes mount all home directories through the link, in every region; files in them are then readable there, whatever
    their class. Jobs with data that may be in AWS only write to home directories at the site.
    Source: Landbridge (docs/decisions/0006-data.md); HIPAA Security Rule, 45 CFR 164.312(a)(1) for health data.
    """
    home = environment.storage.home
    if not home.on_cloud_nodes or not environment.aws.pools:
        return
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        forbidden = _forbidden_place(environment, data_class) if data_class is not None and account.users else None
        if forbidden is None:
            continue
        message = f"cloud nodes mount the home directories of {name}'s users, whose data ({account.data_class}) may not be {forbidden}"
        path: DataPath = ("storage", "home")
        related: tuple[DataPath, ...] = (
            ("scheduler", "accounts", name, "data_class"),
            ("data_classes", account.data_class, "sites"),
            ("data_classes", account.data_class, "regions"),
            ("aws", "other_regions"),
        )
        fix = "write on_cloud_nodes: false, and let jobs read data from the data hub"
        yield warning(path, message, fix=fix, related=related)
        return


def _forbidden_place(environment: Environment, data_class: DataClass) -> str | None:
    """Return where homes are mounted or stored although data of the class may not be there; None if it may be everywhere."""
    if "aws" not in data_class.sites:
        return "in AWS"
    if not isinstance(environment.storage.home, NfsHome | ExternalNfsHome):
        return None
    if "onprem" not in data_class.sites:
        return "at the site, where these directories are"
    others = [region for region in environment.aws.other_regions if region not in data_class.regions]
    return f"in {others[0]}" if others else None


@rule
def site_shares_without_site(environment: Environment) -> Iterator[Finding]:
    """site_shares are written only with an on-prem site.

    Only on-prem hosts mount them: hosts in AWS have FSx and EFS.
    Source: Landbridge (landbridge/plan/site/site_shares.py).
    """
    if environment.onprem is None and environment.storage.site_shares:
        path: DataPath = ("storage", "site_shares", next(iter(environment.storage.site_shares)))
        message = "site_shares need an on-prem site, and there is none"
        yield error(path, message, fix="use cloud_shares, or describe the site in onprem")


@rule
def lustre_without_client(environment: Environment) -> Iterator[Finding]:
    """Cloud nodes that mount Lustre boot an image with the Lustre client: a node that cannot mount does not register.

    AWS has packages of the client for some systems (landbridge/catalog/published.yaml); on others a build installs it from
    storage.lustre_client.
    Source: FSx for Lustre User Guide, "Installing the Lustre client" (supported systems); ansible/roles/cloud_storage.
    """
    lustre = environment.storage.lustre_in_aws
    if lustre is None or environment.storage.lustre_client.known:
        return
    path: DataPath = ("storage", *lustre)
    for owner in pools(environment):
        choice = pool_image(environment, owner.pool)
        source = environment.aws.images.get(choice.name or "")
        if source is not None and source.build is not None and not _has_client(environment, source.build):
            message = f"the node image of {owner.pool.name} has no Lustre client"
            fix = "write a package source in storage.lustre_client, or use an image with the client"
            yield warning(owner.at("image"), message, fix=fix, related=(path,))


def _has_client(environment: Environment, build: ImageBuild) -> bool:
    """Return whether AWS publishes the Lustre client for the operating system of a build."""
    parent = image_behind(image_sources(environment).get(build_parent(build), ""))
    return parent is not None and parent.os in published().products["fsx_lustre"].systems


@cached
def _mounts(environment: Environment) -> tuple[_Mount, ...]:
    home = environment.storage.home
    mounts = [_Mount(home.mount, "home directories", _HOME)]
    for path, share in cloud_file_systems(environment):
        if share is home:
            continue
        mounts.append(_Mount(share.mount, f"{share.kind} {path[-1]}", (*path, "mount")))
    for path, existing in existing_file_systems(environment):
        mounts.append(_Mount(existing.mount, f"{existing.kind} {path[-1]}", (*path, "mount")))
    for owner in pools(environment):
        if owner.pool.local_scratch is not None:
            mounts.append(_Mount(owner.pool.local_scratch, "local scratch", owner.at("local_scratch"), owner.pool.name))
    return tuple(mounts)


@cached
def _site_mounts(environment: Environment) -> tuple[_Mount, ...]:
    """Return the mount points of on-prem nodes."""
    if environment.onprem is None:
        return ()
    mounts = [_Mount(environment.storage.home.mount, "home directories", _HOME)]
    for name, share in environment.storage.site_shares.items():
        mounts.append(_Mount(share.mount, f"{share.kind} {name}", ("storage", "site_shares", name, "mount")))
    for number, group in enumerate(environment.onprem.nodes):
        if group.local_scratch is not None:
            path: DataPath = ("onprem", "nodes", number, "local_scratch")
            mounts.append(_Mount(group.local_scratch, "local scratch", path, group.hosts))
    return tuple(mounts)


def _pairs(environment: Environment, *, same: bool) -> Iterator[tuple[_Mount, _Mount]]:
    """Yield pairs of mounts of one node at the same folder, or one inside the other: the later and the earlier one."""
    cloud = _mounts(environment)
    # Cloud nodes and on-prem nodes are checked separately: each mounts only some of the file systems.
    if not environment.storage.home.on_cloud_nodes:
        cloud = tuple(mount for mount in cloud if mount.path != _HOME)
    yield from _clashes(cloud, same=same)
    yield from _clashes(_site_mounts(environment), same=same)


def _clashes(mounts: tuple[_Mount, ...], *, same: bool) -> Iterator[tuple[_Mount, _Mount]]:
    by_folder: dict[str, _Mount] = {}
    for mount in mounts:
        if same:
            if mount.plain in by_folder:
                yield mount, by_folder[mount.plain]
        else:
            inside = (by_folder[folder] for folder in _parents(mount.plain) if folder in by_folder)
            yield from ((mount, other) for other in inside)
            outer = (other for folder, other in by_folder.items() if folder.startswith(mount.plain.rstrip("/") + "/"))
            yield from ((mount, other) for other in outer)
        if mount.pool is None:
            by_folder.setdefault(mount.plain, mount)


def _parents(folder: str) -> Iterator[str]:
    while folder not in ("/", ""):
        folder = posixpath.dirname(folder)
        yield folder
