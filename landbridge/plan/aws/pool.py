"""Pool of GPU instances: launch template, placement groups and security group."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from landbridge.environment import Environment, PoolSettings
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.access.actions import ActionPlan, actions_data, pool_actions
from landbridge.plan.aws.images import images_in_region, pool_image, pool_root_device
from landbridge.plan.aws.node_contract import pool_expectations
from landbridge.plan.aws.node_health import pool_health
from landbridge.plan.aws.node_security_group import (
    SecurityGroupRule,
    pool_security_group_rules,
    rule_description,
)
from landbridge.plan.aws.storage.lustre_efa import client_interfaces
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.instances.capacity import Market, Strategy, fallbacks, terms
from landbridge.plan.instances.cpu_options import CpuOptions, cpu_options
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.other_regions import in_region
from landbridge.plan.storage import cloud_mounts
from landbridge.plan.zones import pool_zones

__all__ = [
    "POOL_FILE",
    "CpuOptions",
    "Fallback",
    "LaunchTemplateInterface",
    "Market",
    "PoolArgs",
    "SecurityGroupRule",
    "pool_args",
    "pool_market",
    "pool_security_group_rules",
    "pool_zones",
    "rule_description",
]
#: File on a node with its pool's settings, for the roles cloud_identity (which also writes it), cloud_storage
#: and node_actions.
POOL_FILE = "/etc/landbridge/pool.json"


class LaunchTemplateInterface(Args):
    """Network interface of a launch."""

    card: int
    device: int
    kind: Literal["interface", "efa", "efa-only"]


class Fallback(Args):
    """Further capacity of the pool, tried after insufficient capacity of those before it."""

    kind: str
    instance_type: str
    market: Market
    zones: tuple[str, ...]
    interfaces: tuple[LaunchTemplateInterface, ...]


class PoolArgs(Args):
    """Launch template of a pool, and the resources that it refers to."""

    cluster: str
    pool: str
    instance_type: str
    max_nodes: int
    image: str
    market: Market
    #: Strategy of the pool's placement groups; None if no launch uses one.
    placement: Strategy | None
    #: Existing placement group; None: each zone gets a new one.
    own_placement_group: str | None = None
    #: Zones of all capacities, and zones in which launches use a placement group.
    zones: tuple[str, ...]
    placement_zones: tuple[str, ...]
    interfaces: tuple[LaunchTemplateInterface, ...]
    public_ip: bool = False
    #: Existing security groups for every interface, besides the pool's security group.
    security_groups: tuple[str, ...] = ()
    root_device: str
    root_volume_gib: int
    root_volume_iops: int
    root_volume_throughput: int
    imds_hop_limit: int
    detailed_monitoring: bool
    #: CPU options of the first capacity's type; launches of other types replace them. None: those of the type.
    cpu_options: CpuOptions | None = None
    fallbacks: tuple[Fallback, ...] = ()
    security_group_rules: tuple[SecurityGroupRule, ...]
    node_config: dict[str, str | int | None]
    #: Scripts that its nodes run, by event: node_start, node_configured.
    actions: dict[str, tuple[ActionPlan, ...]]
    #: What its instances need in their image, and their hardware: the role node_verify checks it at boot.
    expectations: dict[str, Any]
    #: Expected state of its instances while they run, by type: the role node_health checks it.
    health: dict[str, Any]
    #: File systems that its nodes mount, by their keys in the stack's outputs: their addresses are known only after
    #: creation.
    mounts: tuple[str, ...] = ()
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the pool's AWS resources."""
        return f"{self.cluster}-{self.pool}"

    @property
    def has_one_capacity(self) -> bool:
        """True if the pool has one capacity: then the launch template sets the market, else each launch does.

        A launch can replace a value of the template but cannot remove it: an on-demand launch from a spot template is
        spot.
        """
        return not self.fallbacks

    def placement_group(self, zone: str) -> str:
        """Return the name of a zone's placement group; a cluster placement group is in one zone."""
        return self.name if len(self.zones) == 1 else f"{self.name}-{zone}"

    def user_data(self, mounts: Sequence[Mapping[str, str]] = ()) -> str:
        """Return the cloud-init user data of a node, in JSON (valid YAML): its cluster, disks, mounts and
        scripts.

        It contains no secrets. Each of `mounts` has source, type, options and mount; the roles cloud_storage and
        node_actions read the file.
        """
        settings = {**self.node_config, "mounts": [dict(mount) for mount in mounts], **actions_data(self.actions)}
        content = json.dumps({**settings, "verify": self.expectations, "health": self.health}, sort_keys=True)
        pool_file = {"path": POOL_FILE, "permissions": "0644", "content": content}
        return "#cloud-config\n" + json.dumps({"write_files": [pool_file]}, sort_keys=True) + "\n"


def pool_args(environment: Environment, pool: PoolSettings, locked: Mapping[str, str] | None = None) -> PoolArgs:
    """Plan one pool. Its launch template has the first capacity's type; `locked` are image ids by name, from the image
    lock.
    """
    all_terms = fallbacks(pool, environment.region)
    first, *others = all_terms
    lustre_interfaces = client_interfaces(environment, pool)
    # The placement group of a reservation exists, and only launches into that reservation use it.
    placed_terms = [
        terms for terms in all_terms if terms.placement is not None and (not others or terms.placement_group is None)
    ]
    return PoolArgs(
        cluster=environment.name,
        pool=pool.name,
        instance_type=first.instance,
        max_nodes=pool.max_nodes,
        image=pool_image(environment, pool, locked).reference,
        market=first.market,
        placement=placed_terms[0].placement if placed_terms else None,
        own_placement_group=None if others else first.placement_group,
        zones=pool_zones(pool, environment.region),
        placement_zones=tuple(dict.fromkeys(zone for terms in placed_terms for zone in terms.zones)),
        interfaces=_interfaces(pool, first.instance),
        public_ip=pool.public_ip,
        security_groups=pool.security_groups,
        root_device=pool_root_device(environment, pool),
        root_volume_gib=pool.root_volume_gib,
        root_volume_iops=pool.root_volume_iops,
        root_volume_throughput=pool.root_volume_throughput,
        imds_hop_limit=pool.imds_hop_limit,
        detailed_monitoring=pool.detailed_monitoring,
        cpu_options=cpu_options(pool, first.instance),
        fallbacks=tuple(
            Fallback(
                kind=other.kind,
                instance_type=other.instance,
                market=other.market,
                zones=other.zones,
                interfaces=_interfaces(pool, other.instance),
            )
            for other in others
        ),
        security_group_rules=pool_security_group_rules(environment),
        node_config={
            "cluster": environment.name,
            "region": environment.region,
            "pool": pool.name,
            "slurm_key_secret": f"{environment.name}/slurm-key",
            "endpoint": environment.aws.endpoints.cloud,
            "fips": "true" if fips_endpoints(environment, "cloud") else None,
            "scratch": pool.local_scratch,
            # Only where it is used: another key would change all launch templates.
            **({"lustre_efa": lustre_interfaces} if lustre_interfaces else {}),
        },
        actions=pool_actions(pool),
        expectations=pool_expectations(environment, pool),
        health=pool_health(environment, pool),
        mounts=cloud_mounts(environment),
        # Landbridge's tags come last and cannot be overridden: the burst controller finds its instances by them.
        tags={**pool.tags, **tags(environment, pool=pool.name)},
    )


def region_pool_args(
    environment: Environment, region: str, locked: Mapping[str, str] | None = None
) -> tuple[PoolArgs, ...]:
    """Plan the pools that may start nodes in another region, with that region's settings and its copies of the images.

    Security group rules and the region of Slurm's key are those of the environment's own region.
    """
    region_environment = in_region(environment, region)
    copies = images_in_region(locked or {}, region)
    planned = (pool_args(region_environment, pool, copies) for pool in region_environment.aws.pools)
    rules = pool_security_group_rules(environment)
    return tuple(
        args.model_copy(
            update={"security_group_rules": rules, "node_config": {**args.node_config, "region": environment.region}}
        )
        for args in planned
    )


def pool_market(pool: PoolSettings) -> Market:
    """Return the market of the pool's first capacity."""
    return terms(pool, pool.capacity[0]).market


def _interfaces(pool: PoolSettings, instance: str) -> tuple[LaunchTemplateInterface, ...]:
    layout = pool_interfaces(pool, instance)
    return tuple(LaunchTemplateInterface(card=nic.network_card, device=nic.device, kind=nic.type) for nic in layout)
