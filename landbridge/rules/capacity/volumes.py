"""Rules about root volumes, local disks and other settings of launch templates."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import Finding, error, info, warning
from landbridge.plan.aws_limits import imds_hop_limit_violations, volume_violations
from landbridge.rules.environment_paths import pool_capacities, pools
from landbridge.rules.registry import rule

_MIB = 2**20


@rule
def root_volume_limits(environment: Environment) -> Iterator[Finding]:
    """Size, IOPS and throughput of a root volume, and their ratios, are within the limits of gp3.

    At most 500 IOPS for each GiB and 0.25 MiB/s for each IOPS; otherwise EC2 refuses the launch.
    Source: EBS User Guide, "General Purpose SSD volumes" (landbridge/catalog/limits.yaml).
    """
    for owner in pools(environment):
        pool = owner.pool
        size, iops, rate = pool.root_volume_gib, pool.root_volume_iops, pool.root_volume_throughput
        faults = volume_violations("gp3", gib=size, iops=iops, throughput=rate)
        for fault in faults:
            fix = ", or ".join(
                f"{'write ' * (not n)}root_volume_{key}: {v}" for n, (key, v) in enumerate(fault.instead)
            )
            others = {key for key, _ in fault.instead} - {fault.key}
            related = tuple(owner.at(f"root_volume_{key}") for key in sorted(others))
            yield error(owner.at(f"root_volume_{fault.key}"), fault.message, fix=fix, related=related)


@rule
def root_volume_past_instance(environment: Environment) -> Iterator[Finding]:
    """IOPS and throughput of a root volume are within the EBS limits of the instance type: more is billed and never reached.

    Source: EC2 DescribeInstanceTypes, EbsInfo, as in landbridge/catalog/instances.
    """
    for owner in pools(environment):
        ebs = owner.type.ebs if owner.type is not None else None
        if ebs is None:
            continue
        pool, related = owner.pool, (owner.at("instance"),)
        max_mibps = int(ebs.gbps * 1e9 / 8 / _MIB)
        for key, billed, reached, unit in (
            ("root_volume_iops", pool.root_volume_iops, ebs.iops, "IOPS"),
            ("root_volume_throughput", pool.root_volume_throughput, max_mibps, "MiB/s"),
        ):
            if billed > reached and key in pool.model_fields_set:
                message = f"{billed} {unit} are billed, and {pool.instance} reaches {reached} {unit} to EBS"
                fix = f"write {key}: {reached} or less"
                yield warning(owner.at(key), message, fix=fix, related=related)


@rule
def root_volume_small(environment: Environment) -> Iterator[Finding]:
    """The root volume of a GPU node has at least 60 GiB: driver, CUDA, EFA and containers fill it.

    EC2 refuses a volume smaller than the image's snapshot; a slightly larger one is full after the first container
    image. A warning, because only `landbridge lock` knows the size of the image; the figure is experience, not a limit.
    Source: ParallelCluster RootVolumeSizeValidator; sizes of AWS Deep Learning AMIs (unverified).
    """
    for owner in pools(environment):
        has_accelerators = owner.type is not None and owner.type.accelerators is not None
        if has_accelerators and owner.pool.root_volume_gib < 60:
            message = (
                f"a root volume of {owner.pool.root_volume_gib} GiB is small for driver, CUDA and container images"
            )
            fix = "write root_volume_gib: 200, the default; or move containers to local_scratch"
            related = (owner.at("instance"),)
            yield warning(owner.at("root_volume_gib"), message, fix=fix, related=related)


@rule
def local_scratch_without_disk(environment: Environment) -> Iterator[Finding]:
    """Pools with local_scratch have types with NVMe instance storage, their fallbacks included.

    Otherwise the folder is on the root volume, which large data sets fill.
    Source: EC2 DescribeInstanceTypes, InstanceStorageInfo, as in landbridge/catalog/instances.
    """
    for owner in pools(environment):
        if owner.pool.local_scratch is None:
            continue
        for at in pool_capacities(owner):
            if at.type is not None and at.type.nvme_gb == 0:
                message = f"{at.instance} has no NVMe disk for local_scratch {owner.pool.local_scratch}"
                fix = "remove local_scratch, or use a type with NVMe"
                related = (at.instance_path,)
                yield error(owner.at("local_scratch"), message, fix=fix, related=related)
                break


@rule
def metadata_hop_limit(environment: Environment) -> Iterator[Finding]:
    """The hop limit of the instance metadata service is 1: containers cannot read the node's credentials.

    With hop limit 1 only the node gets credentials of its role, with 2 also containers on it; no higher limit is
    needed.
    Source: EC2 User Guide, "Use IMDSv2", hop limit; terraform-aws-eks 21 chose 1.
    """
    for owner in pools(environment):
        hops, path = owner.pool.imds_hop_limit, owner.at("imds_hop_limit")
        for fault in imds_hop_limit_violations(hops, 2):
            fix = "write 1, or 2 if containers need credentials"
            yield warning(path, fault.message, fix=fix)
        if hops == 2:
            message = "the hop limit 2 allows containers to read the node's credentials"
            yield info(path, message, fix="write 1 to prevent it")


@rule
def detailed_monitoring_cost(environment: Environment) -> Iterator[Finding]:
    """Detailed monitoring is intended: CloudWatch bills it by metric, on every node.

    Source: CloudWatch pricing, custom and detailed metrics; ParallelCluster DetailedMonitoringValidator.
    """
    for owner in pools(environment):
        if owner.pool.detailed_monitoring:
            message = f"detailed monitoring of {owner.pool.max_nodes} nodes is billed by metric"
            fix = "remove it: basic metrics are free, and neither includes GPUs"
            path = owner.at("detailed_monitoring")
            yield info(path, message, fix=fix)
