"""Rules about the network interfaces of a pool's launches, and about EFA."""

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
    """Interfaces written by hand are ones that EC2 takes for the pool's types.

    One primary at card 0, device 0, that is not efa-only; no place twice; devices within what the card takes; at most one
    EFA interface a card, and on cards that carry EFA. Whatever is wrong is refused when the first node starts.
    Source: EC2 User Guide, "EFA-enabled accelerated instance types"; eksctl issues 7520 and 8685, aws-parallelcluster 7143.
    """
    for owner in pools(environment):
        if not owner.pool.interfaces:
            continue
        told: set[tuple[int | None, str]] = set()
        for at in pool_capacities(owner):
            if at.type is None:
                continue
            for fault in interface_violations(at.type, pool_interfaces(owner.pool)):
                if (fault.index, fault.message) not in told:
                    told.add((fault.index, fault.message))
                    path = owner.at("interfaces") if fault.index is None else owner.at("interfaces", fault.index)
                    related = (at.instance_path, owner.at("interfaces"))
                    yield error(path, fault.message, fix=fault.fix, related=related)


@rule
def interfaces_and_nics(environment: Environment) -> Iterator[Finding]:
    """Interfaces are laid out by hand or by a policy, not both: what is written by hand wins, and the rest says nothing.

    Source: Landbridge (landbridge/plan/instances/network_interfaces.py).
    """
    for owner in pools(environment):
        pool = owner.pool
        related = (owner.at("interfaces"),)
        if not pool.interfaces:
            continue
        carries = any(own.type != "interface" for own in pool.interfaces)
        if "nics" in pool.model_fields_set:
            message = f"interfaces are written by hand, so nics: {pool.nics} changes nothing"
            yield warning(owner.at("nics"), message, fix="remove one of them", related=related)
        if pool.efa is not None and pool.efa != carries:
            what = "there is EFA among them" if carries else "none of them is EFA"
            message = f"efa is {str(pool.efa).lower()}, interfaces are written by hand, and {what}"
            yield error(owner.at("efa"), message, fix="remove efa, or change interfaces", related=related)


@rule
def efa_not_on_type(environment: Environment) -> Iterator[Finding]:
    """Whoever asks for EFA has a type that carries it.

    Source: EC2 DescribeInstanceTypes, EfaSupported; ParallelCluster EfaValidator.
    """
    for owner in pools(environment):
        for at in pool_capacities(owner):
            if owner.pool.efa and at.type is not None and not at.type.efa_cards:
                message = f"{at.instance} has no EFA"
                fix = "use a type that has it, or remove efa"
                yield error(owner.at("efa"), message, fix=fix, related=(at.instance_path,))
                break


@rule
def efa_unused(environment: Environment) -> Iterator[Finding]:
    """Every EFA card of a type that runs jobs over several nodes is used.

    NCCL takes another way over what is left, in silence: without EFA a p5 node has a small part of the network that is paid
    for. A pool of one node needs none.
    Source: ParallelCluster EfaValidator (EFA available and off); awsome-distributed-ai issue 259.
    """
    for owner in pools(environment):
        pool = owner.pool
        if owner.type is None or pool.max_nodes < 2 or not owner.type.efa_cards:
            continue
        idle = unused_efa(owner.type, pool_interfaces(pool))
        if not idle:
            continue
        every = len(owner.type.efa_cards)
        if pool.interfaces:
            path, fix = owner.at("interfaces"), "add an efa-only interface on each, or remove interfaces"
            which = ", ".join(str(card) for card in sorted(idle)[:8])
            message = f"{len(idle)} of the {every} EFA cards of {owner.pool.instance} carry none: {which}"
        else:
            path, fix = owner.at("efa"), "remove efa: false"
            message = f"{owner.pool.instance} has EFA on {every} card{'s' if every > 1 else ''}, and it is off"
        yield warning(path, message, fix=fix, related=(owner.at("instance"),))


@rule
def legacy_interfaces(environment: Environment) -> Iterator[Finding]:
    """The policy `legacy` is for launchers that know no efa-only interfaces: every card then takes an address.

    32 addresses a p5 node empty a /24 with seven nodes, before a single pod has one.
    Source: EC2 User Guide, "EFA-enabled accelerated instance types"; terraform-aws-eks issue 2511.
    """
    for owner in pools(environment):
        if owner.type is None or owner.pool.interfaces or owner.pool.nics != "legacy":
            continue
        each, least = addresses_per_node(owner.pool.instance, "legacy"), addresses_per_node(owner.pool.instance)
        if each > least:
            message = f"each node takes {each} addresses, {each * owner.pool.max_nodes} in all; {least} would do"
            fix = "use nics: ip_optimised"
            related = (owner.at("instance"), owner.at("max_nodes"))
            yield warning(owner.at("nics"), message, fix=fix, related=related)


@rule
def nics_bandwidth_without_effect(environment: Environment) -> Iterator[Finding]:
    """The policy `bandwidth` is for types on which more cards than the first should carry addresses.

    Elsewhere it lays out what ip_optimised does.
    Source: EC2 User Guide, "Maximize network bandwidth" (ip_cards in landbridge/catalog/instances).
    """
    for owner in pools(environment):
        pool = owner.pool
        if owner.type is None or pool.nics != "bandwidth" or pool.interfaces:
            continue
        if addresses_per_node(pool.instance, "bandwidth") == addresses_per_node(pool.instance):
            message = f"nics: bandwidth changes nothing on {pool.instance}: one card carries its addresses"
            path, related = owner.at("nics"), (owner.at("instance"),)
            yield info(path, message, fix="remove it", related=related)


@rule
def public_ip_interfaces(environment: Environment) -> Iterator[Finding]:
    """A node with a public address has one network interface: EC2 gives none to launches with more.

    Source: EC2 RunInstances, AssociatePublicIpAddress; ParallelCluster MultiNetworkInterfacesInstancesValidator.
    """
    for owner in pools(environment):
        if not owner.pool.public_ip or owner.type is None:
            continue
        for at in pool_capacities(owner):
            count = len(pool_interfaces(owner.pool, at.instance)) if at.type is not None else 1
            if count > 1:
                message = f"EC2 gives a launch with {count} interfaces no public address, and {at.instance} has them"
                fix = "remove public_ip: nodes are reached through the link; or write efa: false"
                related = (at.instance_path, owner.at("interfaces"), owner.at("efa"))
                yield error(owner.at("public_ip"), message, fix=fix, related=related)
                break


@rule
def public_ip_subnet(environment: Environment) -> Iterator[Finding]:
    """A public address needs a subnet with a way to an internet gateway; it also puts the node on the internet.

    The subnets that Landbridge makes for nodes are private: the address costs by the hour and reaches nobody.
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
                f"the pool's subnet in {', '.join(private)} is private: a public address is paid for and unreachable"
            )
            fix = "remove public_ip; nodes are reached through the link, and go out through aws.nat"
            related: tuple[DataPath, ...] = (("aws", "vpc"),) if vpc is not None else ()
        else:
            message = "the nodes stand on the internet; Slurm, NFS and MPI are not made for that"
            fix = "remove public_ip: nodes are reached through the link"
            related = (("aws", "vpc"),)
        yield warning(owner.at("public_ip"), message, fix=fix, related=related)


@rule
def own_security_groups(environment: Environment) -> Iterator[Finding]:
    """Groups of one's own beside EFA let all traffic through to themselves, in and out; and each is named once.

    Where several groups are on an interface, AWS's own tools ask that rule of every one of them: without it EFA does not
    start, or a job falls back to TCP. What is in them only AWS knows: `landbridge preflight` looks.
    Source: EC2 User Guide, "Get started with EFA", step 1; ParallelCluster EfaSecurityGroupValidator; awsome-distributed-ai 259.
    """
    for owner in pools(environment):
        groups = owner.pool.security_groups
        for index, group in enumerate(groups):
            if group in groups[:index]:
                path = owner.at("security_groups", index)
                yield warning(path, f"{group} is here twice", fix="remove it")
        if groups and _efa(owner):
            message = (
                f"whether {', '.join(dict.fromkeys(groups))} let all traffic through to themselves is not known here"
            )
            fix = "`landbridge preflight` looks; each needs such a rule both ways for EFA"
            yield info(owner.at("security_groups"), message, fix=fix)


@rule
def security_group_count(environment: Environment) -> Iterator[Finding]:
    """An interface carries no more security groups than AWS allows, the pool's own among them.

    Source: VPC User Guide, "Amazon VPC quotas" (landbridge/catalog/limits.yaml).
    """
    most = limits().interfaces
    for owner in pools(environment):
        count = len(set(owner.pool.security_groups)) + 1
        path = owner.at("security_groups")
        if count > most.security_groups_raised:
            message = f"{count} security groups, the pool's own among them; at the most {most.security_groups_raised} are possible"
            yield error(path, message, fix="merge some of them")
        elif count > most.security_groups:
            message = f"{count} security groups, the pool's own among them; {most.security_groups} by default"
            fix = "merge some, or have the quota raised (L-2AFB9258)"
            yield warning(path, message, fix=fix)


@rule
def efa_only_and_cni(environment: Environment) -> Iterator[Finding]:
    """Pods' network plugin knows the interfaces that its nodes have: efa-only ones since amazon-vpc-cni 1.18.5.

    An older one takes them for its own, fails to give them addresses, and the node never becomes ready.
    Source: amazon-eks-user-guide, "Run machine learning training on Amazon EKS with EFA".
    """
    kubernetes = environment.aws.kubernetes
    if kubernetes is None or tuple(int(part) for part in kubernetes.vpc_cni.split(".")) >= (1, 18, 5):
        return
    for owner in pools(environment):
        if owner.pool.name not in kubernetes.pools or owner.type is None:
            continue
        if any(nic.type == "efa-only" for nic in pool_interfaces(owner.pool)):
            message = f"{owner.pool.name} has efa-only interfaces, which vpc-cni {kubernetes.vpc_cni} does not know"
            fix = "use vpc_cni 1.18.5 or newer, or nics: legacy in this pool"
            path: DataPath = ("aws", "kubernetes", "vpc_cni")
            yield error(path, message, fix=fix, related=(owner.at("nics"), owner.at("instance")))


def _efa(owner: PoolAt) -> bool:
    return owner.type is not None and any(nic.type != "interface" for nic in pool_interfaces(owner.pool))


def _private_zones(vpc: ExistingVpc, zones: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(zone for zone in zones if zone in vpc.subnets and not vpc.subnets[zone].public)
