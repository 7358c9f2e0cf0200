"""Marginal cost of a job at a destination: energy or instances, copies over the link, and the price of waiting.

Source: Landbridge: on-prem, only energy depends on the job, because the machines are paid in any case; what a job
costs there beyond it is the time that it waits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from landbridge.catalog import PriceRange, onprem_costs, price_of
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour
from landbridge.plan.placement.destinations import SAGEMAKER, Destination
from landbridge.plan.placement.filters import workload
from landbridge.plan.placement.job import MeasuredStaging, PlacementJob
from landbridge.plan.placement.timing import Timing


@dataclass(frozen=True, slots=True)
class CostPart:
    """Part of a cost in USD with its basis in words; None if a price is not known."""

    name: str
    usd: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class DestinationCost:
    """Cost of a job at a destination."""

    parts: tuple[CostPart, ...]

    @property
    def usd(self) -> float | None:
        """Return the sum; None if a part is not known."""
        known = [part.usd for part in self.parts if part.usd is not None]
        return sum(known) if len(known) == len(self.parts) else None


def destination_cost(
    environment: Environment, job: PlacementJob, destination: Destination, timing: Timing
) -> DestinationCost:
    """Return the marginal cost of a job at a destination; parts of 0 USD without a basis are left out.

    energy = GPUs / GPUs of a node * hours * rate; instances = nodes * (hours + boot) * rate, in whole nodes, as AWS
    bills them; waiting = hours until the start * GPUs * price.
    """
    parts = []
    if destination.site == "onprem":
        usd = (
            None
            if destination.usd_hour is None
            else job.gpus / destination.node_gpus * job.hours * destination.usd_hour
        )
        parts.append(CostPart("energy", usd, destination.basis))
    else:
        nodes = math.ceil(job.gpus / destination.node_gpus)
        usd = (
            None
            if destination.usd_hour is None
            else nodes * (job.hours + _billed_boot(destination)) * destination.usd_hour
        )
        parts.append(CostPart("instances", usd, f"{nodes} x {destination.basis}"))
    out_gb = (
        sum(data.gb for data in job.inputs if data.site == "aws")
        if destination.site == "onprem"
        else job.output_gb
        if environment.onprem is not None
        else 0.0
    )
    if out_gb:
        parts.append(_egress(environment, out_gb))
    if timing.measured is not None and timing.measured.gb:
        parts.append(_staging(timing.measured))
    if destination.region not in ("", environment.region):
        # Data in AWS is in the environment's own region, where the link ends too.
        crossing_gb = sum(data.gb for data in job.inputs) + out_gb
        if crossing_gb:
            parts.append(_network_cost(environment, "between regions", crossing_gb, ("cross_region",)))
    if timing.start_hours > 0:
        usd, basis = delay_price(environment, workload(environment, job))
        parts.append(CostPart("waiting", usd * timing.start_hours * job.gpus, f"{timing.start_hours:.2f} h at {basis}"))
    return DestinationCost(tuple(parts))


def _billed_boot(destination: Destination) -> float:
    """Return the hours of an instance before its job that AWS bills: SageMaker bills the training alone."""
    return 0.0 if destination.instrument == SAGEMAKER else destination.boot_hours


def delay_price(environment: Environment, workload: str) -> tuple[float, str]:
    """Return the price of an hour of waiting in USD for each GPU, and its basis: of the class, else of the environment,
    else the hourly cost of one of the site's GPUs; 0 without a price.
    """
    settings = environment.placement.classes.settings_of(workload)
    if settings is not None and settings.delay_usd_gpu_hour is not None:
        usd = settings.delay_usd_gpu_hour
        return usd, f"{usd:,.2f} USD a GPU-hour (placement.classes.{workload})"
    configured = environment.placement.delay_usd_gpu_hour
    if configured is not None:
        return configured, f"{configured:,.2f} USD a GPU-hour (placement.delay_usd_gpu_hour)"
    for group in owned_groups(environment):
        if group.inputs is not None and group.gpus:
            usd = onprem_node_hour(group.inputs).usd / group.gpus
            return usd, f"{usd:,.2f} USD a GPU-hour (an owned GPU of a {group.platform}, {onprem_costs().date})"
    return 0.0, "0 USD a GPU-hour (placement.delay_usd_gpu_hour is not in the file)"


def _staging(measured: MeasuredStaging) -> CostPart:
    """Return the cost of the copy by the mover; not known if its time is not."""
    if measured.hours is None:
        return CostPart(
            "staging", None, "no rate of the link has been measured, or the mover refuses or has not reported"
        )
    basis = f"{measured.gb:,.1f} GB in {measured.hours:.2f} h, as the mover has reported"
    return CostPart("staging", measured.usd, basis)


def _egress(environment: Environment, gb: float) -> CostPart:
    """Return the cost of data from AWS to the site: data transfer out, and the transit gateway's processing."""
    is_direct = isinstance(environment.link, DirectConnectSettings)
    name = "direct_connect_out" if is_direct else "internet_out_first_10_tb"
    return _network_cost(environment, "egress", gb, (name, "transit_gateway_gb"))


def _network_cost(environment: Environment, part: str, gb: float, names: Sequence[str]) -> CostPart:
    """Return the cost of `gb` GB at the sum of the named prices of a GB; of a range the highest."""
    usd, words = 0.0, []
    for name in names:
        price = price_of("network", name, environment.region)
        if price is None:
            return CostPart(part, None, f"no price of {name} known in {environment.region}")
        rate = price.high if isinstance(price, PriceRange) else price.usd
        usd += gb * rate
        doubt = ", unverified" if price.confidence == "verify" else ""
        words.append(f"{name} {rate:g} USD a GB, {price.as_of}{doubt}")
    return CostPart(part, usd, f"{gb:,.0f} GB: {'; '.join(words)}")
