"""Rules about network interfaces of pools, and about EFA."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment, ExistingVpc
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.plan.instances.network_interfaces import (
    addresses_per_node,
    interface_violations,
    pool_interfaces,
    unused_efa,
)
from landbridge.plan.zones import pool_zones
from landbridge.rules.environment_paths import PoolAt, pool_capacities, pools
from landbridge.rules.registry import rule


@rule
def interface_layout(environment: Environment) -> Iterator[Finding]:
    """Explicit interfaces are valid for the pool's instance types.

    One primary at card 0, device 0, that is not efa-only; no position twice; devices within the limits of the card; at
    most one EFA interface for each card, and only on cards with EFA. EC2 refuses others when the first node is
    launched.
    Source: EC2 User Guide, "EFA-enabled accelerated instance types"; eksctl issues 7520 and 8685, aws-parallelcluster
    7143.
    """
    for owner in pools(environment):
        if not owner.pool.interfaces:
            continue
        reported: set[tuple[int | None, str]] = set()
        for at in pool_capacities(owner):
            if at.type is None:
                continue
            for fault in interface_violations(at.type, pool_interfaces(owner.pool)):
                if (fault.index, fault.message) not in reported:
                    reported.add((fault.index, fault.message))
                    path = owner.at("interfaces") if fault.index is None else owner.at("interfaces", fault.index)
                    related = (at.instance_path, owner.at("interfaces"))
                    yield error(path, fault.message, fix=fault.fix, related=related)


@rule
def interfaces_and_nics(environment: Environment) -> Iterator[Finding]:
    """A pool has either interfaces or nics and efa: explicit interfaces take precedence.

    Source: Landbridge (landbridge/plan/instances/network_interfaces.py).
    """
    for owner in pools(environment):
        pool = owner.pool
        related = (owner.at("interfaces"),)
        if not pool.interfaces:
            continue
        has_efa = any(interface.type != "interface" for interface in pool.interfaces)
        if "nics" in pool.model_fields_set:
            message = f"nics: {pool.nics} has no effect: interfaces are written"
            yield warning(owner.at("nics"), message, fix="remove one of them", related=related)
        if pool.efa is not None and pool.efa != has_efa:
            reason = "some of them are EFA" if has_efa else "none of them is EFA"
            message = f"efa: {str(pool.efa).lower()} contradicts interfaces: {reason}"
            yield error(owner.at("efa"), message, fix="remove efa, or change interfaces", related=related)


@rule
def efa_not_on_type(environment: Environment) -> Iterator[Finding]:
    """A pool with efa: true has an instance type that supports EFA.

    Source: EC2 DescribeInstanceTypes, EfaSupported; ParallelCluster EfaValidator.
    """
    for owner in pools(environment):
        for at in pool_capacities(owner):
            if owner.pool.efa and at.type is not None and not at.type.efa_cards:
                message = f"{at.instance} does not support EFA"
                fix = "use a type that supports it, or remove efa"
                yield error(owner.at("efa"), message, fix=fix, related=(at.instance_path,))
                break


@rule
def efa_unused(environment: Environment) -> Iterator[Finding]:
    """A pool of several nodes uses all EFA cards of its type.

    Without EFA, NCCL uses a slower network and reports no error: a p5 node then has a small part of its bandwidth. A
    pool of one node needs no EFA.
    Source: ParallelCluster EfaValidator (EFA available and off); awsome-distributed-ai issue 259.
    """
    for owner in pools(environment):
        pool = owner.pool
        if owner.type is None or pool.max_nodes < 2 or not owner.type.efa_cards:
            continue
        unused_cards = unused_efa(owner.type, pool_interfaces(pool))
        if not unused_cards:
            continue
        card_count = len(owner.type.efa_cards)
        if pool.interfaces:
            path, fix = owner.at("interfaces"), "add an efa-only interface on each, or remove interfaces"
            card_list = ", ".join(str(card) for card in sorted(unused_cards)[:8])
            message = f"{len(unused_cards)} of the {card_count} EFA cards of {owner.pool.instance} have no EFA interface: {card_list}"
        else:
            path, fix = owner.at("efa"), "remove efa: false"
            message = f"{owner.pool.instance} supports EFA on {card_count} card{'s' if card_count > 1 else ''}, and efa is false"
        yield warning(path, message, fix=fix, related=(owner.at("instance"),))


@rule
def legacy_interfaces(environment: Environment) -> Iterator[Finding]:
    """nics is not legacy: it gives an address to every network card, for software without efa-only interfaces.

    With 32 addresses for each p5 node, seven nodes fill a /24.
    Source: EC2 User Guide, "EFA-enabled accelerated instance types"; terraform-aws-eks issue 2511.
    """
    for owner in pools(environment):
        if owner.type is None or owner.pool.interfaces or owner.pool.nics != "legacy":
            continue
        addresses, min_addresses = (
            addresses_per_node(owner.pool.instance, "legacy"),
            addresses_per_node(owner.pool.instance),
        )
        if addresses > min_addresses:
            message = f"nics: legacy takes {addresses} addresses for each node, {addresses * owner.pool.max_nodes} in total; {min_addresses} are enough"
            fix = "use nics: ip_optimised"
            related = (owner.at("instance"), owner.at("max_nodes"))
            yield warning(owner.at("nics"), message, fix=fix, related=related)


@rule
def nics_bandwidth_without_effect(environment: Environment) -> Iterator[Finding]:
    """nics: bandwidth is written for types with several cards that have addresses.

    On other types it is the same as ip_optimised.
    Source: EC2 User Guide, "Maximize network bandwidth" (ip_cards in landbridge/catalog/instances).
    """
    for owner in pools(environment):
        pool = owner.pool
        if owner.type is None or pool.nics != "bandwidth" or pool.interfaces:
            continue
        if addresses_per_node(pool.instance, "bandwidth") == addresses_per_node(pool.instance):
            message = f"nics: bandwidth has no effect on {pool.instance}: one card has its addresses"
            path, related = owner.at("nics"), (owner.at("instance"),)
            yield info(path, message, fix="remove it", related=related)


@rule
def public_ip_interfaces(environment: Environment) -> Iterator[Finding]:
    """A node with a public address has one network interface: EC2 refuses launches with more.

    Source: EC2 RunInstances, AssociatePublicIpAddress; ParallelCluster MultiNetworkInterfacesInstancesValidator.
    """
    for owner in pools(environment):
        if not owner.pool.public_ip or owner.type is None:
            continue
        for at in pool_capacities(owner):
            count = len(pool_interfaces(owner.pool, at.instance)) if at.type is not None else 1
            if count > 1:
                message = (
                    f"EC2 assigns no public address to a launch with {count} interfaces, and {at.instance} has {count}"
                )
                fix = "remove public_ip: nodes are reached through the link; or write efa: false"
                related = (at.instance_path, owner.at("interfaces"), owner.at("efa"))
                yield error(owner.at("public_ip"), message, fix=fix, related=related)
                break


@rule
def public_ip_subnet(environment: Environment) -> Iterator[Finding]:
    """public_ip is not written: in a private subnet the address has no route, in a public one the node is on the internet.

    The subnets that Landbridge creates for nodes are private: the address is billed and unreachable.
    Source: VPC User Guide, "Internet gateways" and public IPv4 pricing.
    """
    for owner in pools(environment):
        if not owner.pool.public_ip:
            continue
        vpc = environment.aws.vpc
        private = (
            _private_zones(vpc, pool_zones(owner.pool, environment.region)) if vpc is not None else ("every zone",)
        )
        if private:
            message = (
                f"the pool's subnet in {', '.join(private)} is private: a public address is billed and unreachable"
            )
            fix = "remove public_ip; nodes are reached through the link, and reach the internet through aws.nat"
            related: tuple[DataPath, ...] = (("aws", "vpc"),) if vpc is not None else ()
        else:
            message = "public_ip exposes the nodes to the internet; Slurm, NFS and MPI are not safe there"
            fix = "remove public_ip: nodes are reached through the link"
            related = (("aws", "vpc"),)
        yield warning(owner.at("public_ip"), message, fix=fix, related=related)


@rule
def own_security_groups(environment: Environment) -> Iterator[Finding]:
    """Additional security groups of EFA nodes allow all traffic from and to themselves; each is written once.

    With several groups on an interface, AWS's tools require that rule in each: without it EFA does not start, or a job
    uses TCP. `landbridge preflight` reads the rules from AWS.
    Source: EC2 User Guide, "Get started with EFA", step 1; ParallelCluster EfaSecurityGroupValidator;
    awsome-distributed-ai 259.
    """
    for owner in pools(environment):
        groups = owner.pool.security_groups
        for index, group in enumerate(groups):
            if group in groups[:index]:
                path = owner.at("security_groups", index)
                yield warning(path, f"the security group {group} is repeated", fix="remove it")
        if groups and _efa(owner):
            message = f"{', '.join(dict.fromkeys(groups))} must allow all traffic from and to themselves, which this check cannot verify"
            fix = "run `landbridge preflight`: EFA needs such a rule in both directions"
            yield info(owner.at("security_groups"), message, fix=fix)


@rule
def security_group_count(environment: Environment) -> Iterator[Finding]:
    """The number of security groups of a network interface is within its quota, the pool's own included.

    Source: VPC User Guide, "Amazon VPC quotas" (landbridge/catalog/limits.yaml).
    """
    interface_limits = limits().interfaces
    for owner in pools(environment):
        count = len(set(owner.pool.security_groups)) + 1
        path = owner.at("security_groups")
        if count > interface_limits.security_groups_raised:
            message = f"{count} security groups, the pool's own included; AWS allows at most {interface_limits.security_groups_raised}"
            yield error(path, message, fix="merge security groups")
        elif count > interface_limits.security_groups:
            message = f"{count} security groups, the pool's own included; the default quota is {interface_limits.security_groups}"
            fix = "merge security groups, or request an increase of quota L-2AFB9258"
            yield warning(path, message, fix=fix)


def _efa(owner: PoolAt) -> bool:
    return owner.type is not None and any(nic.type != "interface" for nic in pool_interfaces(owner.pool))


def _private_zones(vpc: ExistingVpc, zones: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(zone for zone in zones if zone in vpc.subnets and not vpc.subnets[zone].public)
