"""Scenario of a replay: an environment's GPU nodes and pools, and the policy of its burst controller."""

from collections import Counter
from dataclasses import dataclass, replace

from landbridge.burst.config.config import parse
from landbridge.burst.model import BurstPolicy, PromotionPolicy
from landbridge.environment import Environment
from landbridge.plan.outputs import (
    DataHubOutput,
    IdentityOutput,
    NetworkOutput,
    PoolOutput,
    PoolSubnetOutput,
    SecretsOutput,
    StackOutputs,
)
from landbridge.plan.roles.burst import burst_config
from landbridge.plan.slurm.nodes import Nodes, cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import MAIN
from landbridge.plan.zones import pool_zones


@dataclass(frozen=True, slots=True)
class ScenarioPool:
    """Pool of the policy, with the settings of its nodes in Slurm."""

    name: str
    gpus: int  # of a node
    suspend_after: float
    kind: str = ""  # GPU type; empty: not distinguished


@dataclass(frozen=True, slots=True)
class Scenario:
    """Scenario of a replay: on-prem nodes by number of GPUs, and the pools to which jobs may burst, in their order.
    `promotion`: the wait before a job may burst; None: it may burst at once. `onprem_kinds` are the GPU types of the
    on-prem nodes, in their order; empty: GPU types are not distinguished."""

    name: str
    onprem: tuple[tuple[int, int], ...]  # (nodes, GPUs of each)
    pools: tuple[ScenarioPool, ...]
    policy: BurstPolicy
    promotion: PromotionPolicy | None = None
    onprem_kinds: tuple[str, ...] = ()

    @property
    def onprem_nodes(self) -> int:
        """Return the number of all nodes of the site."""
        return sum(nodes for nodes, _ in self.onprem)

    @property
    def onprem_gpus(self) -> int:
        """Return the number of all GPUs of the site."""
        return sum(nodes * gpus for nodes, gpus in self.onprem)

    @property
    def cloud_gpus(self) -> int:
        """Return the maximum number of GPUs of all pools."""
        return sum(pool.gpus * self.policy.pools[pool.name].max_nodes for pool in self.pools)


def scenario_of(environment: Environment, wait_seconds: float | None = None, *, kinds: bool = False) -> Scenario:
    """Return the scenario of an environment. Partitioned GPUs (MIG) are omitted: jobs of a trace request whole GPUs.

    `wait_seconds` replaces the wait of the environment's promotions. Time windows of capacity are removed: the trace is
    of another time. With `kinds`, nodes of different GPU types are distinguished, by the type of Slurm's gres.
    """
    onprem: Counter[tuple[int, str]] = Counter()
    for nodes in onprem_nodes(environment):
        if nodes.gpu_count and not nodes.parts:
            onprem[nodes.gpu_count, _kind(nodes) if kinds else ""] += len(nodes.names)
    policy = parse(burst_config(environment, _outputs(environment))).policy
    pools = {
        name: replace(pool, offerings=tuple(replace(offering, opens=None, closes=None) for offering in pool.offerings))
        for name, pool in policy.pools.items()
    }
    nodes_by_pool = {
        pool.name: nodes
        for pool, nodes in zip(environment.aws.pools, cloud_nodes(environment), strict=True)
        if nodes.gpu_count and pool.name in pools
    }
    promotion = next((rule for rule in policy.promotions if rule.partition == MAIN), None)
    if wait_seconds is not None:
        promotion = PromotionPolicy(MAIN, tuple(nodes_by_pool), wait_seconds)
    return Scenario(
        name=environment.name,
        onprem=tuple((count, each) for (each, _), count in onprem.items()),
        pools=tuple(
            ScenarioPool(
                pool.name,
                nodes_by_pool[pool.name].gpu_count,
                float(pool.suspend_after),
                _kind(nodes_by_pool[pool.name]) if kinds else "",
            )
            for pool in environment.aws.pools
            if pool.name in nodes_by_pool
        ),
        policy=replace(policy, pools=pools),
        promotion=promotion,
        onprem_kinds=tuple(kind for _, kind in onprem) if kinds else (),
    )


def _kind(nodes: Nodes) -> str:
    """Return the GPU type of nodes as Slurm's gres has it, in lower case."""
    return nodes.accelerators.type.casefold() if nodes.accelerators is not None else ""


def _outputs(environment: Environment) -> StackOutputs:
    """Return stack outputs of the pools with placeholder ids. The ids are known only after deployment, and no decision
    needs them.
    """
    pools = {
        pool.name: PoolOutput(
            launch_template_id="lt-00000000",
            launch_template_name=pool.name,
            launch_template_version="1",
            instance_type=pool.instance,
            max_nodes=pool.max_nodes,
            market="on-demand",
            security_group_id="sg-00000000",
            subnets=tuple(
                PoolSubnetOutput(id=f"subnet-{zone}", zone=zone) for zone in pool_zones(pool, environment.region)
            ),
        )
        for pool in environment.aws.pools
    }
    return StackOutputs(
        cluster=environment.name,
        region=environment.region,
        network=NetworkOutput(vpc_id="vpc-00000000", cidr=str(environment.aws.cidr), subnets={}),
        data_hub=DataHubOutput(buckets={}),
        identity=IdentityOutput(node_instance_profile="-", node_role_arn="-"),
        secrets=SecretsOutput(slurm_key="-"),
        pools=pools,
    )
