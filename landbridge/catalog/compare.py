"""Comparison of the catalogue with EC2: pure functions over responses of the EC2 API as plain dictionaries.

    compare(instances(), descriptions, offerings, zones) -> tuple[Difference, ...]

`descriptions`: the items of DescribeInstanceTypes (`InstanceTypes`), of one region or of several.
`offerings`: the items of DescribeInstanceTypeOfferings with LocationType availability-zone-id.
`zones`: the queried zone ids; other zones are not compared. Omit both to compare only the types.

Types that only the catalogue contains are not reported, because a region describes only its own types; types that only
EC2 contains are reported if the catalogue contains their family.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from landbridge.catalog.aws.instances import InstanceType

Fact = str | int | float | tuple[str, ...] | None

_SPEED = re.compile(r"(?:(\d+)x )?([\d.]+) (Gigabit|Megabit)")


@dataclass(frozen=True, slots=True)
class Difference:
    """Fact on which two sources disagree. None: the source does not contain it. The unit is part of the fact's name."""

    subject: str
    fact: str
    ours: Fact
    theirs: Fact

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return asdict(self)


def compare(
    ours: Mapping[str, InstanceType],
    descriptions: Iterable[Mapping[str, Any]],
    offerings: Iterable[Mapping[str, Any]] = (),
    zones: Collection[str] = (),
) -> tuple[Difference, ...]:
    """Return the facts on which the catalogue and EC2 disagree, by type."""
    differing: list[Difference] = []
    families = {name.partition(".")[0] for name in ours}
    for description in sorted(descriptions, key=lambda description: str(description["InstanceType"])):
        name = str(description["InstanceType"])
        if name in ours:
            differing += differences(name, facts_of(ours[name]), described_facts(description))
        elif name.partition(".")[0] in families:
            differing.append(Difference(name, "type", None, "described"))
    return (*differing, *compare_offerings(ours, offerings, zones))


def compare_offerings(
    ours: Mapping[str, InstanceType], offerings: Iterable[Mapping[str, Any]], zones: Collection[str]
) -> tuple[Difference, ...]:
    """Return the differing zones of types among the queried zones; each side lists the zones that only it has."""
    compared_zones, offered = frozenset(zones), dict[str, set[str]]()
    for offering in offerings:
        offered.setdefault(str(offering["InstanceType"]), set()).add(str(offering["Location"]))
    differing = []
    for name, kind in ours.items():
        catalogued, described = (
            compared_zones & frozenset(kind.zones),
            compared_zones & frozenset(offered.get(name, ())),
        )
        if catalogued != described:
            only = (tuple(sorted(catalogued - described)), tuple(sorted(described - catalogued)))
            differing.append(Difference(name, "zones", only[0] or None, only[1] or None))
    return tuple(differing)


def differences(subject: str, ours: Mapping[str, Fact], described: Mapping[str, Fact]) -> list[Difference]:
    """Return the facts that differ, in the order of `ours`. A fact that one side lacks is not a difference."""
    return [
        Difference(subject, fact, value, described[fact])
        for fact, value in ours.items()
        if value is not None and described.get(fact) is not None and described[fact] != value
    ]


def facts_of(kind: InstanceType) -> dict[str, Fact]:
    """Return the catalogue's facts of a type, in the form of EC2's description."""
    accelerators, ebs = kind.accelerators, kind.ebs
    return {
        "accelerators.kind": accelerators.kind if accelerators else "none",
        "accelerators.count": accelerators.count if accelerators else 0,
        "accelerators.type": accelerators.model if accelerators else None,
        "accelerators.fraction": accelerators.fraction if accelerators else None,
        "accelerators.memory_mib": accelerators.memory_mib if accelerators else None,
        "cpus.architecture": kind.cpus.architecture,
        "cpus.logical": kind.cpus.logical,
        "cpus.cores": kind.cpus.cores,
        "cpus.threads": kind.cpus.threads,
        "valid_threads_per_core": _numbers(kind.valid_threads_per_core),
        "memory_mib": kind.memory_mib,
        "nvme_gb": kind.nvme_gb,
        "network_gbps": kind.network_gbps,
        "network_baseline_gbps": kind.network_baseline_gbps,
        "ebs.gbps": ebs.gbps if ebs else None,
        "ebs.iops": ebs.iops if ebs else None,
        "ebs.baseline_gbps": (ebs.baseline_gbps or ebs.gbps) if ebs else None,
        "ebs.baseline_iops": (ebs.baseline_iops or ebs.iops) if ebs else None,
        "cards": len(kind.cards),
        "cards.interfaces": _runs([card.interfaces for card in kind.cards]),
        "cards.gbps": _runs([card.gbps for card in kind.cards]),
        "cards.types": _runs([", ".join(sorted(card.types)) for card in kind.cards]),
        "efa_cards": sum(bool(card.types - {"interface"}) for card in kind.cards),
        "purchase": tuple(sorted(kind.purchase)),
        "placement": tuple(sorted(kind.placement)),
    }


def described_facts(description: Mapping[str, Any]) -> dict[str, Fact]:
    """Return EC2's facts of a type: an item of DescribeInstanceTypes, in which any part may be missing."""
    network, cpus = description.get("NetworkInfo", {}), description.get("VCpuInfo", {})
    cards = sorted(network.get("NetworkCards", ()), key=lambda card: int(card["NetworkCardIndex"]))
    baselines, peaks = _each(cards, "BaselineBandwidthInGbps"), _each(cards, "PeakBandwidthInGbps")
    types = [", ".join(sorted(card["InterfaceTypes"])) for card in cards if card.get("InterfaceTypes")]
    architectures = description.get("ProcessorInfo", {}).get("SupportedArchitectures", ())
    return {
        **_accelerators(description),
        "cpus.architecture": next(
            (str(architecture) for architecture in architectures if architecture != "i386"), None
        ),
        "cpus.logical": cpus.get("DefaultVCpus"),
        "cpus.cores": cpus.get("DefaultCores"),
        "cpus.threads": cpus.get("DefaultThreadsPerCore"),
        # EC2 does not describe valid threads of bare metal types, for which it refuses CpuOptions.
        "valid_threads_per_core": _numbers(
            () if description.get("BareMetal") else cpus.get("ValidThreadsPerCore") or None
        ),
        "memory_mib": description.get("MemoryInfo", {}).get("SizeInMiB"),
        "nvme_gb": description.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "network_gbps": _speed(network.get("NetworkPerformance")),
        "network_baseline_gbps": sum(baselines) if baselines and baselines != peaks else None,
        **_ebs(description.get("EbsInfo", {}).get("EbsOptimizedInfo", {})),
        "cards": len(cards) or None,
        "cards.interfaces": _runs(_each(cards, "MaximumNetworkInterfaces")),
        "cards.gbps": _runs(peaks),
        "cards.types": _runs(types),
        "efa_cards": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0) if network else None,
        "purchase": _words(description.get("SupportedUsageClasses")),
        "placement": _words(description.get("PlacementGroupInfo", {}).get("SupportedStrategies")),
    }


def _accelerators(description: Mapping[str, Any]) -> dict[str, Fact]:
    gpus = description.get("GpuInfo", {}).get("Gpus") or ()
    neuron = description.get("NeuronInfo", {}).get("NeuronDevices") or ()
    accelerator = next(iter((*gpus, *neuron)), None)
    if accelerator is None:
        return {"accelerators.kind": "none", "accelerators.count": 0}
    return {
        "accelerators.kind": "gpu" if gpus else "neuron",
        # Count is that of whole GPUs, 0 for fractions (aws-cli issue 9659) and for a time for p5.4xlarge: then unknown.
        "accelerators.count": accelerator.get("LogicalGpuCount") or accelerator.get("Count") or None,
        "accelerators.fraction": accelerator.get("GpuPartitionSize"),
        "accelerators.type": re.sub(r"[^a-z0-9]", "", str(accelerator.get("Name", "")).lower()) or None,
        "accelerators.memory_mib": accelerator.get("MemoryInfo", {}).get("SizeInMiB"),
    }


def _ebs(described: Mapping[str, Any]) -> dict[str, Fact]:
    def gbps(key: str) -> float | None:
        return described[key] / 1000 if key in described else None

    return {
        "ebs.gbps": gbps("MaximumBandwidthInMbps"),
        "ebs.iops": described.get("MaximumIops"),
        "ebs.baseline_gbps": gbps("BaselineBandwidthInMbps"),
        "ebs.baseline_iops": described.get("BaselineIops"),
    }


def _speed(text: object) -> float | None:
    """Return the Gbps of `Up to 12.5 Gigabit` or `4x 100 Gigabit`; None for words such as High."""
    match = _SPEED.search(str(text))
    return int(match[1] or 1) * float(match[2]) / (1000 if match[3] == "Megabit" else 1) if match else None


def _words(values: Iterable[str] | None) -> tuple[str, ...] | None:
    return tuple(sorted(str(value).replace("-", "_") for value in values)) if values is not None else None


def _numbers(values: Iterable[int] | None) -> tuple[str, ...] | None:
    return tuple(str(value) for value in sorted(values)) if values is not None else None


def _each(cards: Iterable[Mapping[str, Any]], key: str) -> list[Any]:
    return [card[key] for card in cards if key in card]


def _runs(values: list[Any]) -> str | None:
    """Return runs of equal values, such as `0: 350; 1-16: 400`; None if no card has the value."""
    runs: list[tuple[int, int, Any]] = []
    for index, value in enumerate(values):
        if runs and runs[-1][2] == value:
            runs[-1] = (runs[-1][0], index, value)
        else:
            runs.append((index, index, value))
    shown = (f"{value:g}" if isinstance(value, float) else str(value) for _, _, value in runs)
    places = (str(first) if first == last else f"{first}-{last}" for first, last, _ in runs)
    return "; ".join(f"{place}: {text}" for place, text in zip(places, shown, strict=True)) or None


def compare_catalogues(ours: Mapping[str, InstanceType], others: Mapping[str, InstanceType]) -> tuple[Difference, ...]:
    """Return the facts on which two catalogues disagree, and the types that only one of them contains."""
    differing: list[Difference] = []
    for name in sorted({*ours, *others}):
        entry, other = ours.get(name), others.get(name)
        if entry is None or other is None:
            differing.append(Difference(name, "type", "known" if entry else None, "known" if other else None))
            continue
        facts, right = _catalogue_facts(entry), _catalogue_facts(other)
        differing += [Difference(name, fact, facts[fact], right[fact]) for fact in facts if facts[fact] != right[fact]]
    return tuple(differing)


def _catalogue_facts(kind: InstanceType) -> dict[str, Fact]:
    """Return the facts that EC2 also describes, and those that only the catalogue contains."""
    return {
        **facts_of(kind),
        "cpus.sockets": kind.cpus.sockets,
        "cards.efa": _runs([str(card.efa).lower() for card in kind.cards]),
        "cards.ip": _runs([str(card.ip).lower() for card in kind.cards]),
        "nvlink_domain": kind.nvlink_domain,
        "network_nodes": kind.network_nodes,
        "driver": tuple(kind.driver),
        "ultraserver": kind.ultraserver,
        "zones": tuple(sorted(kind.zones)),
        "regions": tuple(sorted(kind.regions)),
    }
