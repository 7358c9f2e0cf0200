"""Rules about UltraServers: their size, and NVLink between the instances of a pool."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment
from landbridge.findings import Finding, error, warning
from landbridge.plan.instances.ultraservers import block_sizes, is_one_nvlink_domain
from landbridge.rules.capacity.blocks import blocks
from landbridge.rules.environment_paths import PoolAt, pools, suggestion
from landbridge.rules.registry import rule


@rule
def whole_ultraservers(environment: Environment) -> Iterator[Finding]:
    """A Capacity Block of an UltraServer type contains whole UltraServers.

    Source: EC2 User Guide, UltraServers (landbridge/catalog/limits.yaml).
    """
    servers = limits().ultraservers
    for at, block in blocks(environment):
        sizes = block_sizes(block, at.instance)
        if block.count is None or not sizes or block.count % sizes[0] == 0:
            continue
        known = ", ".join(
            f"{name} has {server.instances}"
            for name, server in servers.items()
            if server.instance == at.instance and block.ultraserver in (None, name)
        )
        message = f"{block.count} instances are not a whole number of UltraServers: {known}"
        fix = f"write a multiple of {sizes[0]}"
        yield error(at.at("count"), message, fix=fix, related=(at.instance_path,))


@rule
def unknown_ultraserver(environment: Environment) -> Iterator[Finding]:
    """The UltraServer of a Capacity Block exists, and contains instances of the block's type.

    Source: EC2 User Guide, UltraServers (landbridge/catalog/limits.yaml).
    """
    servers = limits().ultraservers
    for at, block in blocks(environment):
        if block.ultraserver is None or block_sizes(block, at.instance):
            continue
        names = [name for name, server in servers.items() if server.instance == at.instance]
        if not names:
            message, fix = f"{at.instance} is not sold in UltraServers", "remove ultraserver"
        else:
            message = f'no UltraServer "{block.ultraserver}" has instances of the type {at.instance}'
            fix = suggestion(block.ultraserver, names)
        yield error(at.at("ultraserver"), message, fix=fix, related=(at.instance_path,))


@rule
def nvlink_domain_of_pool(environment: Environment) -> Iterator[Finding]:
    """All nodes of a pool of an UltraServer type are in one UltraServer.

    Slurm places a job before its instances exist. Only if the whole pool is one UltraServer is it known that NVLink
    connects the job's nodes; a block of two UltraServers may give a job instances of both.
    Source: EC2 User Guide, "Capacity Blocks for ML" (UltraServers); Slurm's topology guide, topology/block;
    docs/explanation/bursting.md.
    """
    for owner in _multi_node_pools(environment):
        if is_one_nvlink_domain(environment, owner.pool):
            continue
        message = f"the nodes of {owner.pool.name} may be in several UltraServers, and Slurm cannot know in which"
        fix = (
            "write a pool for each UltraServer: one capacity_block with its ultraserver, and its number of instances as "
            "count and at most as max_nodes"
        )
        yield warning(owner.at("capacity"), message, fix=fix, related=(owner.at("instance"), owner.at("max_nodes")))


@rule
def imex_in_aws(environment: Environment) -> Iterator[Finding]:
    """A pool of an UltraServer type runs jobs of one node only: Landbridge does not configure IMEX in AWS.

    NVLink between instances requires nvidia-imex with the addresses of the job's nodes in nodes_config.cfg, and IMEX
    channels. AWS assigns the addresses at the launch, and the instances of two UltraServers of a block cannot be told apart before
    they run, so the list belongs to the job's prolog, which does not write it yet. Images of such pools have nvidia-imex and a
    channel, and the image's check (imex) names one that lacks them.
    Source: NVIDIA IMEX guide, nodes_config.cfg and channels; AWS PCS User Guide, "Configure UltraServer instances"
    (2026-11-25).
    """
    for owner in _multi_node_pools(environment):
        message = f"NVLink between the nodes of {owner.pool.name} does not work: IMEX is not configured in AWS yet"
        fix = "run jobs of one node, or jobs with NCCL_MNNVL_ENABLE=0, and suppress this with a reason"
        yield warning(owner.at("instance"), message, fix=fix, related=(owner.at("max_nodes"),))


def _multi_node_pools(environment: Environment) -> Iterator[PoolAt]:
    for owner in pools(environment):
        if owner.type is not None and owner.type.ultraserver is not None and owner.pool.max_nodes > 1:
            yield owner
