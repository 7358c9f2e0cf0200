"""Check of property combinations that AWS refuses: exclusive properties, and properties that require another.

Source: EC2 API Reference, CreateLaunchTemplate, CpuOptionsRequest and AuthorizeSecurityGroupIngress; FSx API Reference,
LustreFileSystemConfiguration; terraform-provider-aws, internal/service/route53resolver/endpoint.go.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pulumi

from landbridge.policy.aws_refusals import (
    EFS,
    EGRESS,
    LUSTRE,
    VOLUME,
    ZFS,
    disk_problems,
    file_system_problems,
    port_problems,
)
from landbridge.policy.compute import TEMPLATE
from landbridge.policy.network import INGRESS
from sandbox.pulumi_provider.checks.launch_policies import known
from sandbox.pulumi_provider.checks.sdk_args import Problem

Bag = Mapping[str, Any]
_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
_OLDER_REPOSITORY = ("importPath", "exportPath", "importedFileChunkSize", "autoImportPolicy")


def combination_problems(token: str, bag: Bag) -> Iterator[Problem]:
    """Yield the inputs of a resource that exclude one another."""
    judge = _JUDGES.get(token)
    if judge is not None:
        yield from judge({key: value for key, value in bag.items() if value is not None})


def _template(bag: Bag) -> Iterator[Problem]:
    network_interfaces = bag.get("networkInterfaces")
    nics = network_interfaces if isinstance(network_interfaces, list) else []
    if nics and bag.get("vpcSecurityGroupIds"):
        yield ("vpcSecurityGroupIds",), "not beside networkInterfaces: name the groups in each interface"
    for index, nic in enumerate(nics):
        if (
            isinstance(nic, Mapping)
            and str(nic.get("associatePublicIpAddress", "")).lower() == "true"
            and len(nics) > 1
        ):
            yield ("networkInterfaces", index, "associatePublicIpAddress"), "only if there is one interface"
    places = [(nic.get("networkCardIndex", 0), nic.get("deviceIndex", 0)) for nic in nics if isinstance(nic, Mapping)]
    for index, place in enumerate(places):
        if not any(isinstance(part, pulumi.output.Unknown) for part in place) and place in places[:index]:
            yield ("networkInterfaces", index), f"a second interface at card {place[0]}, device {place[1]}"
    yield from disk_problems(TEMPLATE, bag)
    cpus = bag.get("cpuOptions")
    if isinstance(cpus, Mapping) and ("coreCount" in cpus) != ("threadsPerCore" in cpus):
        yield ("cpuOptions",), "both coreCount and threadsPerCore"
    market = bag.get("instanceMarketOptions")
    block = isinstance(market, Mapping) and market.get("marketType") == "capacity-block"
    if block and "capacityReservationSpecification" not in bag:
        yield ("capacityReservationSpecification",), "required for a launch into a Capacity Block"
    if block and isinstance(market, Mapping) and "spotOptions" in market:
        yield ("instanceMarketOptions", "spotOptions"), "not with a Capacity Block"


def _rule(bag: Bag) -> Iterator[Problem]:
    named = [key for key in _SOURCES if key in bag]
    if len(named) != 1:
        yield (named[1] if named else _SOURCES[0],), f"exactly one of {', '.join(_SOURCES)}, not {len(named)}"
    yield from (((key,), message) for key, message in port_problems(bag))


def _resolver_endpoint(bag: Bag) -> Iterator[Problem]:
    """Yield a problem for fewer than two addresses, counted as the real provider counts them: `ipAddresses` is a set whose
    key is the subnet and the address, so that a subnet listed twice without addresses is one entry.

    Source: terraform-provider-aws issues 43724 and 28233; the error is Resolver's RSLVR-00400. Read 2026-11-25.
    """
    addresses = bag.get("ipAddresses")
    if not isinstance(addresses, list):
        return
    rows = [(row.get("subnetId"), row.get("ip")) for row in addresses if isinstance(row, Mapping)]
    if any(isinstance(part, pulumi.output.Unknown) for row in rows for part in row) and len(rows) >= 2:
        return
    if len(set(rows)) < 2:
        yield ("ipAddresses",), f"Resolver endpoint needs at least 2 IP addresses, and this set has {len(set(rows))}"


def _lustre(bag: Bag) -> Iterator[Problem]:
    kind = bag.get("deploymentType", "SCRATCH_1")
    scratch = isinstance(kind, str) and kind.startswith("SCRATCH")
    for key in _OLDER_REPOSITORY:
        if key in bag and kind == "PERSISTENT_2":
            yield (key,), "not with PERSISTENT_2: use a data repository association"
    tiering = bag.get("storageType") == "INTELLIGENT_TIERING"
    persistent = isinstance(kind, str) and not scratch
    if persistent and not tiering and "perUnitStorageThroughput" not in bag:
        yield ("perUnitStorageThroughput",), f"{kind} needs one"
    yield from _file_system(LUSTRE, bag)


def _file_system(token: str, bag: Bag) -> Iterator[Problem]:
    yield from (((key,), message) for key, message in file_system_problems(token, known(dict(bag))))


_JUDGES: Mapping[str, Callable[[Bag], Iterator[Problem]]] = {
    TEMPLATE: _template,
    INGRESS: _rule,
    EGRESS: _rule,
    VOLUME: partial(disk_problems, VOLUME),
    LUSTRE: _lustre,
    "aws:route53/resolverEndpoint:ResolverEndpoint": _resolver_endpoint,
    ZFS: partial(_file_system, ZFS),
    EFS: partial(_file_system, EFS),
}
