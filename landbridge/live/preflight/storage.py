"""Whether the account has room for the file systems."""

from collections.abc import Iterator

from landbridge.catalog import limits
from landbridge.environment import Efs
from landbridge.findings import Finding
from landbridge.live.preflight.quotas import ASK, quota_value
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error

_SERVICES = {"efs": "elasticfilesystem", "fsx_lustre": "fsx", "fsx_openzfs": "fsx"}


@check("quotas of file systems", *ASK, "fsx:DescribeFileSystems", "elasticfilesystem:DescribeFileSystems")
def file_system_quota(scene: Scene) -> Iterator[Finding]:
    """There is room for one more of each file system that the file wants.

    Only quotas whose codes the catalogue knows are asked for.
    Source: FSx and EFS user guides, "Quotas"; Service Quotas API reference.
    """
    rows = {row.service: row for row in limits().quotas.rows if row.unit == "file_system"}
    for path, share in scene.environment.storage.in_aws().items():
        row = rows.get(_SERVICES[share.kind])
        if row is None:
            continue
        service = "efs" if isinstance(share, Efs) else "fsx"
        found = scene.aws.all(service, "describe_file_systems", "FileSystems")
        if any(scene.is_mine(one.get("Tags")) for one in found):
            continue
        limit = quota_value(scene, row.service, row.code)
        if limit is not None and len(found) + 1 > limit:
            message = f"{row.name}: there are {len(found)}, and the quota is {limit:.0f}"
            yield error("live-file-system-quota", message, ("storage", *path), f"ask for more (quota {row.code})")
