"""Rules about the EKS cluster."""

from collections.abc import Iterator
from datetime import date

from landbridge.catalog import instances
from landbridge.catalog.aws.kubernetes import eks
from landbridge.catalog.network import network
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity, error, warning
from landbridge.plan.network.endpoints import mode
from landbridge.plan.network.subnets import PARTS_PER_RANGE, used_zones
from landbridge.rules.environment_cache import with_known_types
from landbridge.rules.environment_paths import POOL_ZONES, REGION, SHARES, suggestion
from landbridge.rules.registry import dated_rule, rule

_CLUSTER: DataPath = ("aws", "kubernetes")
_POOLS: DataPath = ("aws", "pools")


@rule
def kubernetes_version(environment: Environment) -> Iterator[Finding]:
    """EKS offers the Kubernetes version. A version newer than the catalogue is information only.

    Source: EKS User Guide, "Kubernetes release calendar", as in landbridge/catalog/kubernetes.yaml.
    """
    kubernetes = environment.aws.kubernetes
    if kubernetes is None or kubernetes.version in eks().versions:
        return
    versions = sorted(eks().versions)
    newer = int(kubernetes.version.split(".")[1]) > int(versions[-1].split(".")[1])
    severity = Severity.INFO if newer else Severity.ERROR
    word = "is newer than the catalogue" if newer else "is not offered by EKS any more"
    message = f"Kubernetes {kubernetes.version} {word}"
    fix = f"as of {eks().as_of} EKS offers {', '.join(versions)}"
    yield Finding("kubernetes-version", message, (*_CLUSTER, "version"), fix, severity)


@dated_rule
def kubernetes_support(environment: Environment, today: date) -> Iterator[Finding]:
    """The Kubernetes version is in standard support: in extended support a cluster costs six times as much, and after it AWS upgrades the cluster.

    Source: EKS User Guide, "Understand the Kubernetes version lifecycle"; Amazon EKS pricing, extended support.
    """
    kubernetes = environment.aws.kubernetes
    version = eks().versions.get(kubernetes.version) if kubernetes is not None else None
    if kubernetes is None or version is None or version.standard_until is None or version.extended_until is None:
        return
    path: DataPath = (*_CLUSTER, "version")
    current = [name for name, facts in eks().versions.items() if facts.standard_until and facts.standard_until > today]
    fix = f"in standard support: {', '.join(current)}" if current else None
    if version.extended_until < today:
        message = f"Kubernetes {kubernetes.version} is out of support since {version.extended_until}: EKS creates no such cluster"
        yield error(path, message, fix=fix)
    elif version.standard_until < today:
        message = f"the standard support of Kubernetes {kubernetes.version} ended on {version.standard_until}: extended support is billed extra"
        yield warning(path, message, fix=fix)


@rule
def kubernetes_ranges(environment: Environment) -> Iterator[Finding]:
    """The service range is a private /12 to /24; the pod range is one of the VPC's ranges, divided among the zones.

    The Amazon VPC CNI assigns addresses of subnets to pods, so a range outside the VPC cannot be used.
    Source: EKS User Guide, "Kubernetes networking" and "Deploy pods in alternate subnets with custom networking".
    """
    kubernetes, aws = environment.aws.kubernetes, environment.aws
    if kubernetes is None:
        return
    low, high = eks().service_prefixes
    services: DataPath = (*_CLUSTER, "service_cidr")
    if not low <= kubernetes.service_cidr.prefixlen <= high:
        message = f"the service range is a /{kubernetes.service_cidr.prefixlen}; EKS allows a /{low} to a /{high}"
        yield error(services, message)
    elif not any(kubernetes.service_cidr.subnet_of(private_range) for private_range in network().private):
        message = f"the service range {kubernetes.service_cidr} is outside RFC 1918, which EKS requires"
        yield error(services, message, fix="write a private range, such as 172.20.0.0/16")
    pods, path = kubernetes.pod_cidr, (*_CLUSTER, "pod_cidr")
    if pods is None:
        return
    if not any(pods.subnet_of(vpc_range) for vpc_range in (aws.cidr, *aws.secondary_cidrs)):
        message = f"the pod range {pods} is in no range of the VPC"
        fix = f"add it to aws.secondary_cidrs; {network().carrier} is reserved for such use"
        related: tuple[DataPath, ...] = (("aws", "secondary_cidrs"), ("aws", "cidr"))
        yield error(path, message, fix=fix, related=related)
    elif pods.num_addresses // PARTS_PER_RANGE < 16:
        message = f"the pod range {pods} is too small for a subnet in each of {PARTS_PER_RANGE} zones"
        yield error(path, message, fix="use a /25 or larger; a /18 is common")


@rule
def kubernetes_zones(environment: Environment) -> Iterator[Finding]:
    """The VPC has subnets in two zones that EKS supports: the control plane's network interfaces are placed there.

    Source: EKS User Guide, "VPC and subnet requirements and considerations".
    """
    kubernetes, aws = environment.aws.kubernetes, environment.aws
    if kubernetes is None:
        return
    zones = set(aws.vpc.subnets) if aws.vpc is not None else {*used_zones(with_known_types(environment)), *aws.subnets}
    usable = zones - set(eks().zones_without)
    if len(usable) < eks().zones:
        available = f"only {', '.join(sorted(usable))}" if usable else "none"
        without = sorted(zones & set(eks().zones_without))
        also = f"; EKS cannot use {', '.join(without)}" if without else ""
        message = f"EKS needs subnets in {eks().zones} zones; the VPC has {available}{also}"
        fix = "name another zone in aws.subnets, or in a pool's capacity"
        related: tuple[DataPath, ...] = (*POOL_ZONES, ("aws", "subnets"), ("aws", "vpc"), *SHARES, REGION)
        yield error(_CLUSTER, message, fix=fix, related=related)


@rule
def kubernetes_pools(environment: Environment) -> Iterator[Finding]:
    """The pools of the EKS cluster are pools of this file, each named once, and in no Slurm partition.

    Two schedulers would assign one GPU to two jobs.
    Source: Slinky slurm-bridge and NVIDIA's device plugin: each assumes that the whole node is its own.
    """
    kubernetes = environment.aws.kubernetes
    if kubernetes is None:
        return
    if not kubernetes.pools and not kubernetes.hybrid_nodes:
        message = "the cluster has neither pools nor on-prem nodes: it is billed and runs no pod"
        fix = "write pools of the cluster in pools"
        yield warning(_CLUSTER, message, fix=fix, related=((*_CLUSTER, "pools", "*", ""),))
    names = [pool.name for pool in environment.aws.pools]
    for index, name in enumerate(kubernetes.pools):
        path: DataPath = (*_CLUSTER, "pools", index)
        if name not in names:
            message, fix = f'there is no pool "{name}"', suggestion(name, names)
            yield error(path, message, fix=fix, related=((*_POOLS, "*", "name"),))
        elif name in kubernetes.pools[:index]:
            yield warning(path, f"the pool {name} is repeated", fix="remove it")
    for partition_name, partition in environment.scheduler.partitions.items():
        for index, token in enumerate(partition.nodes):
            pool = token if token in names else token.split("-[")[0]
            if pool in kubernetes.pools:
                message = f"the pool {pool} is in the EKS cluster and in the Slurm partition {partition_name}"
                path = ("scheduler", "partitions", partition_name, "nodes", index)
                fix = "remove it from one of the two, or write two pools"
                yield error(path, message, fix=fix, related=((*_CLUSTER, "pools"),))


@rule
def kubernetes_pods(environment: Environment) -> Iterator[Finding]:
    """pods_per_node is within the limit of EKS for the instance type.

    Source: EKS User Guide, "Choose an optimal Amazon EC2 node instance type": 110 up to 30 vCPUs, 250 above.
    """
    kubernetes, limit = environment.aws.kubernetes, eks().pods
    for pool in environment.aws.pools if kubernetes is not None else ():
        kind = instances().get(pool.instance)
        if kubernetes is None or pool.name not in kubernetes.pools or kind is None:
            continue
        max_pods = limit.few if kind.cpus.logical <= limit.up_to_vcpus else limit.many
        if kubernetes.pods_per_node > max_pods:
            message = f"pods_per_node is {kubernetes.pods_per_node}; EKS supports {max_pods} pods on {pool.instance}"
            related: tuple[DataPath, ...] = ((*_CLUSTER, "pools"), (*_POOLS, "*", "instance"))
            yield error((*_CLUSTER, "pods_per_node"), message, related=related)
            return


@rule
def kubernetes_public(environment: Environment) -> Iterator[Finding]:
    """The API server has a private endpoint: a public one is reachable from the internet, and not from nodes without NAT.

    Source: EKS User Guide, "Cluster API server endpoint"; CIS Amazon EKS Benchmark 5.4.2.
    """
    kubernetes, aws = environment.aws.kubernetes, environment.aws
    if kubernetes is None or kubernetes.endpoint != "public":
        return
    path: DataPath = (*_CLUSTER, "endpoint")
    if aws.nat == "none" and aws.vpc is None:
        message = "the API server has a public endpoint, which nodes without NAT cannot reach"
        related: tuple[DataPath, ...] = (("aws", "nat"), ("aws", "vpc"))
        yield error(path, message, fix="write endpoint: private", related=related)
    elif mode(environment) == "derived":
        message = "the API server has a public endpoint, in a network that is otherwise closed"
        yield warning(path, message, fix="write endpoint: private", related=(("aws", "vpc_endpoints"),))
    else:
        message = "the API server has a public endpoint on the internet"
        yield warning(path, message, fix="write endpoint: private")


@rule
def hybrid_nodes(environment: Environment) -> Iterator[Finding]:
    """Hybrid nodes have private addresses, and the pod range of the on-prem nodes is written.

    Source: EKS User Guide, "Prepare networking for hybrid nodes": RFC 1918, no overlap; not in GovCloud and China.
    """
    kubernetes = environment.aws.kubernetes
    if kubernetes is None or not kubernetes.hybrid_nodes:
        return
    path: DataPath = (*_CLUSTER, "hybrid_nodes")
    site = environment.onprem
    if site is None:
        return
    if not any(site.cidr.subnet_of(site_range) for site_range in network().private):
        message = f"the site's range {site.cidr} is outside RFC 1918, which EKS Hybrid Nodes requires"
        yield error(path, message, related=(("onprem", "cidr"),))
    if not site.nodes:
        message = "hybrid_nodes is on, and there are no on-prem nodes"
        yield warning(path, message, fix="remove it", related=(("onprem", "nodes"),))
    if not site.container_cidrs.keys() - {"docker"}:
        message = "the pod range of on-prem nodes is not written, so overlaps with it cannot be checked"
        fix = "write it in onprem.container_cidrs, such as pods: 10.85.0.0/16"
        related: tuple[DataPath, ...] = (("onprem", "container_cidrs"),)
        yield warning(path, message, fix=fix, related=related)
