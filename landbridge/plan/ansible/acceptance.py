"""Acceptance thresholds of nodes, from their platform and the number of nodes in a test. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import Platform, platforms
from landbridge.catalog.hardware.acceptance import acceptance
from landbridge.environment import Environment
from landbridge.hostlist import expand
from landbridge.plan.site.adapters import wired_platform

Confidence = Literal["measured", "derived", "given"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """Minimum of a measurement, in `unit`. `source` is its origin; `confidence`: measured, given, or derived from a
    bound.
    """

    measurement: str
    at_least: float
    unit: str
    source: str
    confidence: Confidence


def platform_of(environment: Environment, node: str) -> Platform | None:
    """Return the platform of an on-prem node with the ports that the site uses; None for an unknown name."""
    groups = (group for group in environment.node_groups if node in expand(group.hosts))
    return next((wired_platform(group) for group in groups), None)


def bandwidth_thresholds(platform: Platform) -> tuple[Threshold, ...]:
    """Return thresholds of copies between host and GPU and between GPUs, in GB/s. Unknown limits are not checked."""
    row, facts, thresholds = acceptance().gpus.get(platform.gpu_model), acceptance(), []
    host, pcie = row.host if row else None, platform.gpu.pcie
    if host is not None:
        threshold = (host, facts.source, "measured")
    elif pcie is not None and pcie.generation in facts.pcie_lane:
        # The slower of the GPU's link and the processors' lanes: a switch between them may have both generations.
        generation = min(pcie.generation, platform.cpus.pcie or pcie.generation)
        lanes = f"{facts.shares.host} of {pcie.width} lanes of PCIe {generation}"
        threshold = (facts.shares.host * pcie.width * facts.pcie_lane[generation], lanes, "derived")
    else:
        threshold = None
    if threshold is not None:
        thresholds += [gb_s(name, *threshold) for name in ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce")]  # type: ignore[arg-type]
    links = platform.gpu.nvlink
    if row is not None and row.peer is not None:
        thresholds.append(gb_s("device_to_device_memcpy_read_ce", row.peer, facts.source, "measured"))
    elif links is not None and platform.nvswitch is not None:
        # Without switches, a pair of GPUs has only some of the links.
        source = f"{facts.shares.peer} of a GPU's links, {links.total_gb_s:g} GB/s"
        at_least = facts.shares.peer * links.total_gb_s
        thresholds.append(gb_s("device_to_device_memcpy_read_ce", at_least, source, "derived"))
    return tuple(thresholds)


def domain_of(environment: Environment, node: str) -> str:
    """Return the NVLink domain of several nodes that an on-prem node is in; empty if there is none.

    The nodes of a group are cabled in the file's order, as many to a domain as the platform has.
    """
    for group in environment.node_groups:
        names, domain = expand(group.hosts), platforms()[group.platform].domain
        if node in names:
            return f"{group.hosts}/{names.index(node) // domain.nodes}" if domain is not None else ""
    return ""


def collective_thresholds(platforms_of: Sequence[Platform], *, one_domain: bool = False) -> tuple[Threshold, ...]:
    """Return thresholds of all-reduce over all GPUs of these nodes: bus bandwidth by message size, `busbw@<bytes>`, in
    GB/s.

    `one_domain`: several nodes in one NVLink domain, between which the threshold is that of a single node. Empty if a
    bound is not known: no NVLink within the node, or network adapters that are not in the catalogue.
    """
    if len(platforms_of) == 1:
        return _inside(platforms_of[0])
    if one_domain and all(platform == platforms_of[0] for platform in platforms_of):
        # NVLink is as fast between the nodes as inside them. The adapters' rate would also pass without IMEX.
        return tuple(
            gb_s(row.measurement, row.at_least, f"as inside one node: {row.source}", "derived")
            for row in _inside(platforms_of[0])
        )
    bounds = [_between(platform) for platform in platforms_of]
    if any(bound is None for bound in bounds):
        return ()
    facts = acceptance()
    # The slowest node decides.
    bound = min(bound for bound in bounds if bound is not None)
    source = f"{facts.shares.fabric} of {bound:.0f} GB/s, which the adapters of each machine carry in a ring"
    return by_size(bound * facts.shares.fabric, source, "derived")


def _inside(platform: Platform) -> tuple[Threshold, ...]:
    facts = acceptance()
    row = facts.gpus.get(platform.gpu_model)
    if row is not None and row.node is not None and row.node.gpus == platform.gpus.count:
        # The source has one size.
        source = f"a share of {row.node.gb_s:g} GB/s at {row.node.bytes} bytes: {facts.source}"
        sizes = by_size(row.node.gb_s, source, "derived", below=row.node.bytes)
        return (*sizes, gb_s(f"busbw@{row.node.bytes}", row.node.gb_s, facts.source, "measured"))
    links = platform.gpu.nvlink
    if links is None or platform.gpus.count < 2:
        return ()
    share = facts.shares.nvlink
    return by_size(share * links.total_gb_s, f"{share} of a GPU's links, {links.total_gb_s:g} GB/s", "derived")


def _between(platform: Platform) -> float | None:
    """Return the upper bound of a ring's bus bandwidth between nodes, in GB/s: the sum of its fabric adapters, at most
    NVLink's rate.

    Source: nccl-tests, doc/PERFORMANCE.md, AllReduce.
    """
    rates = [adapter.count * adapter.gbps / 8 for adapter in platform.adapters if adapter.use == "fabric"]
    if not rates:
        return None
    links = platform.gpu.nvlink
    return min(sum(rates), links.total_gb_s) if links is not None else sum(rates)


def by_size(at_least: float, source: str, confidence: Confidence, below: int | None = None) -> tuple[Threshold, ...]:
    """Return thresholds for all message sizes, or those below a size, from the value for large messages."""
    sizes = (size for size in acceptance().sizes if below is None or size.bytes < below)
    return tuple(gb_s(f"busbw@{size.bytes}", at_least * size.share, source, confidence) for size in sizes)


def gb_s(measurement: str, at_least: float, source: str, confidence: Confidence) -> Threshold:
    """Return a threshold in GB/s, rounded."""
    return Threshold(measurement, round(at_least, 1), "GB/s", source, confidence)
