"""Pool of GPU instances: launch template, placement groups and security group."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from landbridge.environment import Environment, Ingress, PoolSettings
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.images import pool_image
from landbridge.plan.instances.capacity import Market, Strategy, fallbacks, terms
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.other_regions import aws_ranges, in_region
from landbridge.plan.slurm_ports import SLURMD_PORT, SRUN_PORTS
from landbridge.plan.storage import cloud_mounts
from landbridge.plan.zones import pool_zones

__all__ = [
    "POOL_FILE",
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
#: On a node, what its pool has: roles cloud_identity (which writes it, too) and cloud_storage.
POOL_FILE = "/etc/landbridge/pool.json"
#: Source: Slurm, Network Configuration Guide, "Communication for slurmd".
_FORWARDED = "slurmd passes messages on to other nodes in AWS"


class LaunchTemplateInterface(Args):
    """Network interface of the launch template."""

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


class SecurityGroupRule(Args):
    """Security group rule: direction, peer, protocol and ports; peer `self` is the pool's own group."""

    key: str
    direction: Literal["in", "out"]
    peer: str
    protocol: str
    ports: tuple[int, int] | None
    why: str


class PoolArgs(Args):
    """Launch template of a pool, and the resources that it refers to."""

    cluster: str
    pool: str
    instance_type: str
    max_nodes: int
    image: str
    market: Market
    #: The strategy of the pool's groups; None where no launch goes into one of them.
    placement: Strategy | None
    #: One that exists; None: each zone gets one of its own.
    own_placement_group: str | None = None
    #: Where any of its capacities may be, and where launches go into a group.
    zones: tuple[str, ...]
    placement_zones: tuple[str, ...]
    interfaces: tuple[LaunchTemplateInterface, ...]
    public_ip: bool = False
    #: Groups that exist, on every interface besides the pool's own.
    security_groups: tuple[str, ...] = ()
    root_device: str
    root_volume_gib: int
    root_volume_iops: int
    root_volume_throughput: int
    imds_hop_limit: int
    detailed_monitoring: bool
    fallbacks: tuple[Fallback, ...] = ()
    security_group_rules: tuple[SecurityGroupRule, ...]
    node_config: dict[str, str | None]
    #: File systems that its nodes mount, by their keys in the stack's outputs: where they are is known once they are built.
    mounts: tuple[str, ...] = ()
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the pool's AWS resources."""
        return f"{self.cluster}-{self.pool}"

    @property
    def one_way(self) -> bool:
        """True if the pool has one capacity: then the template names the market, else each launch does.

        A launch overwrites what a template says and cannot unsay it: an on-demand launch from a spot template is spot.
        """
        return not self.fallbacks

    @property
    def template_interfaces(self) -> tuple[LaunchTemplateInterface, ...]:
        """Interfaces of the template; empty if the capacities need different ones, which each launch then names."""
        alike = all(other.interfaces == self.interfaces for other in self.fallbacks)
        return self.interfaces if alike else ()

    def placement_group(self, zone: str) -> str:
        """Return the name of a zone's placement group; a cluster placement group is in one zone."""
        return self.name if len(self.zones) == 1 else f"{self.name}-{zone}"

    def user_data(self, mounts: Sequence[Mapping[str, str]] = ()) -> str:
        """Return the cloud-init user data of a node, in JSON (valid YAML): its cluster, disks and mounts.

        Nothing secret. `mounts` have source, type, options and mount each; the role cloud_storage reads the file.
        """
        content = json.dumps({**self.node_config, "mounts": [dict(mount) for mount in mounts]}, sort_keys=True)
        written = {"path": POOL_FILE, "permissions": "0644", "content": content}
        return "#cloud-config\n" + json.dumps({"write_files": [written]}, sort_keys=True) + "\n"


def pool_args(environment: Environment, pool: PoolSettings, locked: Mapping[str, str] | None = None) -> PoolArgs:
    """Plan one pool. Its launch template names the first capacity's type; `locked` are image ids by name, from the lock."""
    decided = fallbacks(pool, environment.region)
    first, *others = decided
    # A reservation's own group is that launch's alone, and exists.
    free = [terms for terms in decided if terms.placement is not None and (not others or terms.placement_group is None)]
    return PoolArgs(
        cluster=environment.name,
        pool=pool.name,
        instance_type=first.instance,
        max_nodes=pool.max_nodes,
        image=pool_image(environment, pool, locked).reference,
        market=first.market,
        placement=free[0].placement if free else None,
        own_placement_group=None if others else first.placement_group,
        zones=pool_zones(pool, environment.region),
        placement_zones=tuple(dict.fromkeys(zone for terms in free for zone in terms.zones)),
        interfaces=_interfaces(pool, first.instance),
        public_ip=pool.public_ip,
        security_groups=pool.security_groups,
        root_device=pool.root_device,
        root_volume_gib=pool.root_volume_gib,
        root_volume_iops=pool.root_volume_iops,
        root_volume_throughput=pool.root_volume_throughput,
        imds_hop_limit=pool.imds_hop_limit,
        detailed_monitoring=pool.detailed_monitoring,
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
            "scratch": pool.local_scratch,
        },
        mounts=cloud_mounts(environment),
        # Landbridge's own stay: the burst controller finds its instances by them.
        tags={**pool.tags, **tags(environment, pool=pool.name)},
    )


def region_pool_args(environment: Environment, region: str) -> tuple[PoolArgs, ...]:
    """Plan the pools that may start nodes in another region, with that region's settings.

    Whom they speak to, and where Slurm's key is, is the same as at home.
    """
    region_environment = in_region(environment, region)
    planned = (pool_args(region_environment, pool) for pool in region_environment.aws.pools)
    home = {"security_group_rules": pool_security_group_rules(environment)}
    return tuple(
        subnet.model_copy(update={**home, "node_config": {**subnet.node_config, "region": environment.region}})
        for subnet in planned
    )


def pool_market(pool: PoolSettings) -> Market:
    """Return how the pool's first capacity is bought."""
    return terms(pool, pool.capacity[0]).market


def _interfaces(pool: PoolSettings, instance: str) -> tuple[LaunchTemplateInterface, ...]:
    layout = pool_interfaces(pool, instance)
    return tuple(LaunchTemplateInterface(card=nic.network_card, device=nic.device, kind=nic.type) for nic in layout)


def rule_description(text: str) -> str:
    """Remove characters that EC2 rejects in a description of a security group or a rule, such as quotes.

    Source: EC2 API Reference, IpRange (Description) and CreateSecurityGroup (GroupDescription).
    """
    return re.sub(r"[^a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]", "", text)[:255]


def pool_security_group_rules(environment: Environment) -> tuple[SecurityGroupRule, ...]:
    """Return the rules of the pool's security group; all other traffic is denied in both directions."""
    served = service_hosts(environment)
    site_cidr, on_site = str(served.cidr), served.site == "onprem"

    def security_group_rule(
        key: str, direction: Literal["in", "out"], peer: str, protocol: str, ports: tuple[int, int] | None, why: str
    ) -> SecurityGroupRule:
        described = rule_description(why)
        return SecurityGroupRule(key=key, direction=direction, peer=peer, protocol=protocol, ports=ports, why=described)

    slurmd = (SLURMD_PORT, SLURMD_PORT)
    both: tuple[Literal["in", "out"], ...] = ("in", "out")
    return (
        security_group_rule("self-in", "in", "self", "-1", None, "EFA and MPI between nodes of the pool"),
        security_group_rule(
            "self-out", "out", "self", "-1", None, "EFA refuses to start without a rule to its own group"
        ),
        security_group_rule(
            "slurmd", "in", site_cidr, "tcp", slurmd, f"slurmctld and {'on-prem ' * on_site}steps reach slurmd"
        ),
        security_group_rule(
            "ssh", "in", site_cidr, "tcp", (22, 22), f"operators, through the {'link' if on_site else 'services'} only"
        ),
        security_group_rule("srun", "in", site_cidr, "tcp", SRUN_PORTS, "srun and its tasks"),
        *(
            security_group_rule(
                f"slurmd-{way}-{str(cidr).replace('/', '-')}", way, str(cidr), "tcp", slurmd, _FORWARDED
            )
            for cidr in aws_ranges(environment)
            for way in both
        ),
        security_group_rule("icmp", "in", site_cidr, "icmp", (-1, -1), "path MTU discovery, and netcheck"),
        security_group_rule(
            "onprem", "out", site_cidr, "-1", None, "the controller, storage, MLflow and name service on-prem"
        )
        if on_site
        else security_group_rule("services", "out", site_cidr, "-1", None, "the controller and MLflow"),
        security_group_rule(
            "https", "out", "0.0.0.0/0", "tcp", (443, 443), "services of AWS: S3, KMS, Secrets Manager"
        ),
        *{rule.key: rule for rule in map(_ingress, environment.aws.ingress)}.values(),
    )


def _ingress(ingress: Ingress) -> SecurityGroupRule:
    """Return the rule of an ingress entry of the file. Its key depends on its content only, so that other entries may
    be added before it.
    """
    first, _, last = (ingress.ports or "").partition("-")
    ports = (int(first), int(last or first)) if ingress.protocol in ("tcp", "udp") and first else None
    if ingress.protocol == "icmp":
        ports = (-1, -1)
    protocol = "-1" if ingress.protocol == "all" else ingress.protocol
    key = "-".join(
        [
            "ingress",
            str(ingress.source).replace("/", "-"),
            ingress.protocol,
            *([ingress.ports] if ingress.ports else []),
        ]
    )
    return SecurityGroupRule(
        key=key,
        direction="in",
        peer=str(ingress.source),
        protocol=protocol,
        ports=ports,
        why=rule_description(ingress.why),
    )
