"""Facts of an instance type or a region as text, for `landbridge catalog show`."""

from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landbridge.catalog import InstanceType, NetworkCard, Region
    from landbridge.catalog.aws.prices import PriceKind


def described_type(kind: "InstanceType") -> dict[str, Any]:
    """Return all facts of a type; unknown facts are omitted."""
    accelerators, cpus, ebs = kind.accelerators, kind.cpus, kind.ebs
    facts: dict[str, Any] = {
        "type": kind.name,
        "accelerators": f"{accelerators.count} x {accelerators.type} ({accelerators.kind}), {_mib(accelerators.memory_mib)} each"
        if accelerators
        else None,
        "nvlink domain": f"{kind.nvlink_domain} GPUs" if kind.nvlink_domain else None,
        "network layers known": kind.network_nodes,
        "processors": f"{cpus.logical} vCPUs: {cpus.cores} cores x {cpus.threads}, {cpus.sockets} sockets, {cpus.architecture}",
        "valid threads per core": ", ".join(map(str, kind.valid_threads_per_core or ())) or None,
        "memory": _mib(kind.memory_mib),
        "local disks": f"{kind.nvme_gb} GB NVMe" if kind.nvme_gb else "none",
        "network": f"{kind.network_gbps:g} Gbps" + _baseline(kind.network_baseline_gbps),
        "cards": [_card(run) for run in _runs(kind.cards)],
        "EBS": f"{ebs.gbps:g} Gbps{_baseline(ebs.baseline_gbps)}, {ebs.iops} IOPS" if ebs else None,
        "bought as": ", ".join(kind.purchase),
        "sold in": kind.ultraserver,
        "placement": ", ".join(kind.placement) or None,
        "kernel modules": ", ".join(kind.driver) or None,
        "offered": _offered(kind),
        "prices": _prices(kind.name) or None,
        "notes": kind.notes,
        "source": f"{kind.source} ({kind.date})",
    }
    return {fact: value for fact, value in facts.items() if value}


def described_region(name: str, region: "Region") -> dict[str, Any]:
    """Return all facts of a region."""
    from landbridge.catalog import instances, offered

    types = [kind.name for kind in instances().values() if kind.accelerators and offered(kind, name)]
    facts: dict[str, Any] = {
        "region": f"{name}, {region.name}",
        "partition": region.partition,
        "geography": region.geography,
        "zones": ", ".join(region.zones),
        "services": sorted(region.services),
        "accelerated": types or ["none known" if region.offerings else "not recorded"],
    }
    return facts


def _mib(mib: int | None) -> str:
    return "unknown memory" if mib is None else f"{mib / 1024:g} GiB" if mib % 1024 == 0 else f"{mib} MiB"


def _baseline(gbps: float | None) -> str:
    return f" at most, {gbps:g} Gbps at all times" if gbps is not None else ""


def _runs(cards: tuple["NetworkCard", ...]) -> list[list["NetworkCard"]]:
    """Return runs of consecutive cards that differ only in their index."""
    runs: list[list[NetworkCard]] = []
    for card in cards:
        if runs and _alike(runs[-1][-1]) == _alike(card):
            runs[-1].append(card)
        else:
            runs.append([card])
    return runs


def _alike(card: "NetworkCard") -> tuple[object, ...]:
    return (card.interfaces, card.gbps, card.types, card.efa)


def _card(run: list["NetworkCard"]) -> str:
    first, last = run[0], run[-1]
    place = f"{first.index}" if first is last else f"{first.index}-{last.index}"
    ip = [str(card.index) for card in run if card.ip]
    addresses = "" if not ip else ", address" if len(ip) == len(run) else f", addresses on {','.join(ip)}"
    description = f"{first.interfaces} interfaces, {first.gbps:g} Gbps, {' '.join(sorted(first.types))}"
    return f"{place}: {description}{', carries EFA' if first.efa else ''}{addresses}"


def _offered(kind: "InstanceType") -> list[str]:
    from landbridge.catalog import regions

    zones_by_region = {name: kind.zones_in(region.zones) for name, region in regions().items()}
    lines = [f"{name}: {', '.join(zones)}" for name, zones in zones_by_region.items() if zones]
    return [*lines, *(f"{name}: zones not recorded" for name in kind.regions)]


def _prices(name: str) -> list[str]:
    """Return the newest price of each region, with its purchase option."""
    from landbridge.catalog import Price, price_of, prices

    lines = []
    places: dict[tuple[PriceKind, str], date] = {}
    for row in prices().rows:
        if name in row.usd:
            places.update({(row.kind, region): date.min for region in row.regions})
    for kind, region in places:
        price = price_of(kind, name, region)
        if price is not None:
            usd = f"{price.usd:g}" if isinstance(price, Price) else f"{price.low:g} to {price.high:g}"
            doubt = "" if price.confidence == "primary" else f", {price.confidence}"
            lines.append(f"{kind} {region}: ${usd} per {price.unit}, {price.as_of}{doubt}")
    return lines
