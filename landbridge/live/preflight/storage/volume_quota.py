"""Check of the account's quota of EBS storage for the disks of nodes, services and model servers."""

from collections.abc import Iterator
from math import ceil

from landbridge.catalog import limits
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.quotas import ASK, quota_value
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error
from landbridge.plan.network.services.serving import cloud_model_servers, serving_of

_GIB_PER_TIB = 1024


@check("quota of EBS storage", *ASK, "ec2:DescribeVolumes")
def volume_quota(scene: Scene) -> Iterator[Finding]:
    """The region's quota of gp3 storage permits the disks of all nodes and machines, besides all others of the account.

    The default is 50 TiB: 50 nodes with root volumes of 1 TiB. EC2 accepts a launch above the quota, and ends its
    instances seconds later (Client.VolumeLimitExceeded).
    Source: EBS User Guide, "Quotas for Amazon EBS"; EC2 User Guide, "Instance terminates immediately".
    """
    pools = scene.environment.aws.pools
    gib = {pool.name: pool.max_nodes * pool.root_volume_gib for pool in pools}
    machines = _machines_gib(scene.environment)
    if not gib and not machines:
        return
    volumes = scene.aws.all("ec2", "describe_volumes", "Volumes")
    others = [
        volume["Size"] for volume in volumes if volume["VolumeType"] == "gp3" and not scene.is_mine(volume.get("Tags"))
    ]
    row = next(row for row in limits().quotas.rows if row.unit == "gp3_tib")
    limit = quota_value(scene, row.service, row.code)
    needed, used = sum(gib.values()) + machines, sum(others)
    if limit is None or needed + used <= limit * _GIB_PER_TIB:
        return
    largest = max(gib, key=lambda name: gib[name], default=None)
    index = [pool.name for pool in pools].index(largest) if largest is not None else None
    path: DataPath = ("aws",) if index is None else ("aws", "pools", index, "max_nodes")
    message = f"{row.name}: {_tib(needed)} more are needed besides {_tib(used)}, and the quota is {limit:g}"
    fix = (
        f"aws service-quotas request-service-quota-increase --service-code {row.service} --quota-code {row.code} "
        f"--desired-value {ceil((needed + used) / _GIB_PER_TIB)}; or fewer max_nodes, or smaller root_volume_gib"
    )
    yield error("live-volume-quota", message, path, fix)


def _machines_gib(environment: Environment) -> int:
    """Return the size of the disks of services and model servers in AWS."""
    services, serving, gib = environment.aws.services, serving_of(environment), 0
    if services is not None:
        controller, login = services.controller, services.login
        gib += controller.root_volume_gib + controller.volume_gib + login.count * login.root_volume_gib
    if serving is not None and serving.aws is not None:
        gib += len(cloud_model_servers(environment)) * serving.aws.root_volume_gib
    return gib


def _tib(gib: int) -> str:
    return f"{gib / _GIB_PER_TIB:.1f}"
