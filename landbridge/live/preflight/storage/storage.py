"""Checks of the account's quotas for file systems."""

from collections.abc import Iterator
from typing import Any

from landbridge.catalog import limits
from landbridge.environment import Efs, FsxLustre, FsxOpenZfs
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.quotas import ASK, quota_value
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error
from landbridge.plan.storage import capacity, throughput


@check("quotas of file systems", *ASK, "fsx:DescribeFileSystems", "elasticfilesystem:DescribeFileSystems")
def file_system_quota(scene: Scene) -> Iterator[Finding]:
    """The quotas permit the file systems in the file: their number, size and throughput.

    FSx has a quota for each deployment type of Lustre, over all file systems of the type; the default is 100 TiB, and
    an increase takes days.
    Source: FSx and EFS user guides, "Quotas"; Service Quotas API reference.
    """
    needs: dict[str, tuple[float, DataPath]] = {}
    for place, share in scene.environment.storage.in_aws().items():
        for unit, amount in _use(share):
            before, first = needs.get(unit, (0.0, ("storage", *place)))
            needs[unit] = (before + amount, first)
    rows = {row.unit: row for row in limits().quotas.rows}
    used = _used(scene, efs="efs" in needs, fsx=any(unit != "efs" for unit in needs))
    for unit, (amount, path) in needs.items():
        row = rows.get(unit)
        limit = quota_value(scene, row.service, row.code) if row is not None else None
        in_use = used.get(unit, 0.0)
        if row is not None and limit is not None and amount + in_use > limit:
            message = f"{row.name}: {amount:g} more are needed besides {in_use:g}, and the quota is {limit:g}"
            fix = (
                f"aws service-quotas request-service-quota-increase --service-code {row.service} --quota-code {row.code} "
                f"--desired-value {amount + in_use:g}"
            )
            yield error("live-file-system-quota", message, path, fix)


def _use(share: FsxLustre | FsxOpenZfs | Efs) -> Iterator[tuple[str, float]]:
    """Yield the use of each quota by one file system, in the quota's unit."""
    if isinstance(share, Efs):
        yield "efs", 1
        return
    unit = _unit(share.deployment) if isinstance(share, FsxLustre) else "openzfs"
    yield unit, 1
    size = capacity(share)
    if size is not None:
        yield f"{unit}_gib", size
    rate = throughput(share)
    if isinstance(share, FsxOpenZfs) and rate is not None:
        yield "openzfs_mbps", rate


def _used(scene: Scene, *, efs: bool, fsx: bool) -> dict[str, float]:
    """Return other file systems' use of the same quotas; only the requested services are queried."""
    used: dict[str, float] = {}

    def add(unit: str, amount: float) -> None:
        used[unit] = used.get(unit, 0.0) + amount

    for file_system in scene.aws.all("efs", "describe_file_systems", "FileSystems") if efs else ():
        if not scene.is_mine(file_system.get("Tags")):
            add("efs", 1)
    for file_system in scene.aws.all("fsx", "describe_file_systems", "FileSystems") if fsx else ():
        if not scene.is_mine(file_system.get("Tags")):
            for unit, amount in _use_of_existing(file_system):
                add(unit, amount)
    return used


def _use_of_existing(raw: Any) -> Iterator[tuple[str, float]]:
    if raw["FileSystemType"] == "LUSTRE":
        unit = _unit(str((raw.get("LustreConfiguration") or {}).get("DeploymentType", "scratch_1")).lower())
    elif raw["FileSystemType"] == "OPENZFS":
        unit = "openzfs"
        yield "openzfs_mbps", float((raw.get("OpenZFSConfiguration") or {}).get("ThroughputCapacity", 0))
    else:
        return
    yield unit, 1
    yield f"{unit}_gib", float(raw.get("StorageCapacity", 0))


def _unit(deployment: str) -> str:
    return "lustre_scratch" if deployment.startswith("scratch") else f"lustre_{deployment}"
