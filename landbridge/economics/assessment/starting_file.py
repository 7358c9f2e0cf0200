"""Environment file to start with: the closest shipped environment, with the sites, classes and sizes of an assessment."""

import math
from collections.abc import Iterator

from landbridge.catalog import instances, zones
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import ArchitectureKind, Recommendation
from landbridge.economics.assessment.break_even import monthly_cost
from landbridge.economics.assessment.rates import AssessmentRates
from landbridge.environment.file.edit import plain
from landbridge.environment.file.fork import Wanted, fork
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.sections import replace_section
from landbridge.environment.file.source import read
from landbridge.findings import Finding, FindingsError

_HOURS_PER_DAY = 24
#: Nodes of one rack, the limit of power and cooling in the shipped environments.
_NODES_PER_RACK = 4
#: Regimes whose data is in AWS only in a closed network: the environment `regulated`.
_CLOSED = frozenset({"itar", "fedramp_high", "fedramp_moderate", "classified"})
#: Owned nodes from which the environment `frontier` is the closest one: a /14 for the site and a NAT gateway in each zone.
_FRONTIER_NODES = 32


def origin_of(answers: Answers, result: Recommendation) -> str:
    """Return the name of the shipped environment that is closest to the recommendation."""
    if result.sizing.nodes == 0:
        return "startup"
    if any(data_class.regime in _CLOSED for data_class in answers.classes):
        return "regulated"
    return "frontier" if result.sizing.nodes >= _FRONTIER_NODES else "hybrid"


def starting_file(answers: Answers, result: Recommendation, text: str) -> str:
    """Return the environment file. `text` is that of the environment `origin_of` names.

    Raises FindingsError if no zone of the region is known, or if the environment cannot be forked.
    """
    origin, region = origin_of(answers, result), result.residency.region
    text = fork(text, Wanted(owner=answers.owner), origin)
    zone = _zone(result.rates.instance, region)
    pools = [] if result.kind is ArchitectureKind.ONPREM_ONLY else list(_pools(answers, result, zone))
    sections: dict[tuple[str, ...], list[str] | None] = {
        ("data_classes",): ["data_classes:", *_classes(answers, result)],
        ("onprem", "nodes"): ["nodes:", *_nodes(answers, result, text)],
        ("aws", "pools"): ["pools:", *pools] if pools else ["pools: []"],
        ("aws", "services", "zone"): [f"zone: {zone}   # the zone of the nodes: traffic between zones is billed"],
        ("aws", "other_regions"): None,
        ("storage", "cloud_scratch"): None,
        ("scheduler", "partitions"): None,
        ("scheduler", "accounts"): ["accounts:", *_accounts(answers)],
        ("burst",): _burst(answers, result) if pools else None,
        ("budget",): _budget(answers, result) if pools else None,
        ("suppress",): None,
        ("mlops",): None,
    }
    if not pools:
        sections["aws", "images"] = None
    if result.sizing.nodes:
        sections["storage", "home"] = ["home: {kind: nfs, on_cloud_nodes: false}"]
    text = replace_section(text, ("config", "aws:region"), [f"aws:region: {region}"])
    for path, lines in sections.items():
        text = replace_section(text, (*ROOT, *path), lines)
    return _header(result, origin) + text[text.index("config:") :]


def _header(result: Recommendation, origin: str) -> str:
    lines = [
        "# yaml-language-server: $schema=environment.schema.json",
        f"# Made by `landbridge assess`: {result.kind.value}. Forked from {origin}.",
        "# Replace the examples: users, addresses, the gateway or the SSH key, and the repository of Slurm's packages.",
    ]
    if result.kind is ArchitectureKind.ONPREM_ONLY:
        lines.append(
            "# It has no pools. An environment always has `aws` and `link`; nothing is in AWS without `landbridge up`."
        )
    return "\n".join(lines) + "\n"


def _classes(answers: Answers, result: Recommendation) -> Iterator[str]:
    for data_class in answers.classes:
        sites = result.residency.sites[data_class.name]
        if result.sizing.nodes == 0:
            sites = ("aws",)
        elif result.kind is ArchitectureKind.ONPREM_ONLY:
            sites = ("onprem",)
        regime = f", regime: {data_class.regime}" if data_class.regime is not None else ""
        yield f"  {data_class.name}: {{sites: [{', '.join(sites)}]{regime}}}"


def _accounts(answers: Answers) -> Iterator[str]:
    for data_class in answers.classes:
        yield f"  {data_class.name}: {{users: [alice], data_class: {data_class.name}}}"


def _nodes(answers: Answers, result: Recommendation, text: str) -> Iterator[str]:
    """Yield a node group for each rack: existing machines first, then the new ones."""
    groups = read(text, "").data["config"]["landbridge:environment"].get("onprem", {}).get("nodes", [])
    if not groups:
        return
    platforms = [(machine.platform, machine.nodes) for machine in answers.constraints.machines]
    if result.sizing.new:
        platforms.append((result.rates.platform, result.sizing.new))
    address = groups[0]["address"].split(".")
    first_address = sum(int(part) << shift for part, shift in zip(address, (24, 16, 8, 0), strict=True))
    number, rack = 0, 0
    for platform, nodes in platforms:
        for start in range(0, nodes, _NODES_PER_RACK):
            size, rack = min(_NODES_PER_RACK, nodes - start), rack + 1
            first, last = number + 1, number + size
            hosts = f"gpu{first:04}" if size == 1 else f"gpu[{first:04}-{last:04}]"
            value = first_address + number
            dotted = ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))
            yield f'  - {{hosts: "{hosts}", platform: {platform}, os: ubuntu-24.04, address: {dotted}, rack: r{rack}}}'
            number += size


def _pools(answers: Answers, result: Recommendation, zone: str) -> Iterator[str]:
    """Yield the pools: on-demand, and spot for experiments. Their sum covers the GPUs in AWS at the peak."""
    rates, peak = result.rates, max(result.sizing.cloud_peak_gpus, 1.0)
    experiments = answers.workloads.experiments / 100 * result.sizing.peak_gpus
    spot = min(experiments, peak)
    name = answers.utilisation.gpu
    steady = _instances(rates, peak - spot)
    if steady or not spot:
        yield from _pool(name, rates, max(1, steady), [f"{{kind: on_demand, zones: [{zone}]}}"])
    if spot:
        kinds = [f"{{kind: spot, zones: [{zone}]}}", f"{{kind: on_demand, zones: [{zone}]}}"]
        yield from _pool(f"{name}-spot", rates, max(1, _instances(rates, spot)), kinds)


def _pool(name: str, rates: AssessmentRates, nodes: int, capacity: list[str]) -> Iterator[str]:
    yield f"  - name: {name}"
    yield f"    instance: {rates.instance}"
    yield "    image: node"
    yield f"    max_nodes: {nodes}"
    yield f"    capacity: [{', '.join(capacity)}]"
    yield "    suspend_after: 300   # seconds; idle nodes cost money"


def _instances(rates: AssessmentRates, gpus: float) -> int:
    return math.ceil(gpus / rates.instance_gpus - 1e-9)


def _burst(answers: Answers, result: Recommendation) -> list[str]:
    """Return the section `burst`: jobs wait for owned nodes before they use AWS. Its price is that of the answers."""
    price = answers.prices.cloud_usd_hour
    prices = f", prices: {{{result.rates.instance}: {plain(price)}}}" if price is not None else ""
    return [f"burst: {{wait_minutes: 15{prices}}}"]


def _budget(answers: Answers, result: Recommendation) -> list[str] | None:
    """Return the budget of AWS: the answers' budget without the cost of owned nodes, else the expected cost; at least
    the cost of one node for a day, so that it is not below the fixed costs.
    """
    cost = monthly_cost(result)
    if cost is None or result.rates.cloud is None:
        return None
    limit, least = answers.constraints.budget_usd_month, math.ceil(result.rates.cloud.high * _HOURS_PER_DAY)
    if limit is None:
        amount, reason = math.ceil(cost.rented), "the expected mean; AWS sends mail, and stops nothing"
    else:
        amount, reason = math.floor(limit - cost.owned), f"what owned nodes leave of {limit:,.0f} USD"
    return [f"budget: {{monthly_usd: {max(least, amount)}}}   # {reason}"]


def _zone(instance: str, region: str) -> str:
    """Return a zone that offers the instance type, else the first of the region, if offers by zone are not published."""
    known = zones(region)
    offered = instances()[instance].zones_in(known) or known
    if not offered:
        raise FindingsError([Finding("no-zone", f"no zone of {region} is known", ("constraints", "region"))])
    return offered[0]
