"""Quotes of a mix: the dated prices of one unit by instrument, from an environment, the catalogue and given values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from landbridge.catalog import Price, PriceRange, instances, limits, onprem_costs, price_of
from landbridge.catalog.aws.prices import PriceKind, savings_plans_of
from landbridge.economics.mix.prices import MixPrices
from landbridge.environment import Environment, PoolSettings
from landbridge.findings import DataPath, Finding, Severity, has_errors
from landbridge.plan.cost.job_cost import node_hour_usd
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes


@dataclass(frozen=True, slots=True)
class GivenRates:
    """Rates that replace the catalogue's rates, in USD: of one GPU for an hour (`owned_gpu`), of one instance for an
    hour (the others). `interruptions` of an instance's job in one hour; `lost_hours` of work by each of them.
    `owned_max_gpus`: the most GPUs that can be owned, such as the room's power allows; None: any number. `plan`: the
    Savings Plan whose rate is taken, as `PLAN:YEARS:PAYMENT`; None: see `_usual_plan`.
    """

    owned_gpu: float | None = None
    committed: float | None = None
    block: float | None = None
    on_demand: float | None = None
    spot: float | None = None
    interruptions: float | None = None
    lost_hours: float = 0.5
    owned_max_gpus: int | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Price of one unit for one hour in USD, with its date and source; `as_of` is None for a given value."""

    instrument: str
    usd: float
    as_of: date | None
    source: str
    confidence: str


@dataclass(slots=True)
class Quotes:
    """Quotes of one pool's instance type. A unit has as many GPUs as an instance. `onprem_gpus`: GPUs that the
    environment file has on-prem. A price that is not known is a finding, an error if there is none on demand."""

    pool: str
    instance: str
    unit: int
    onprem_gpus: int
    quotes: list[Quote] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    interruptions: float = 0.0
    lost_hours: float = 0.0
    owned_max: int | None = None  # units

    def usd(self, instrument: str) -> float | None:
        """Return the price of a unit for one hour; None without a quote."""
        return next((quote.usd for quote in self.quotes if quote.instrument == instrument), None)

    @property
    def prices(self) -> MixPrices | None:
        """Return the prices; None without a price on demand."""
        on_demand = self.usd("on_demand")
        if on_demand is None or has_errors(self.findings):
            return None
        return MixPrices(
            on_demand,
            self.usd("owned"),
            self.usd("committed"),
            self.usd("capacity_block"),
            self.usd("spot"),
            self.interruptions,
            self.lost_hours,
            self.owned_max,
        )

    def as_data(self) -> list[dict[str, Any]]:
        """Return the quotes as plain data."""
        return [
            {"instrument": q.instrument, "usd_unit_hour": q.usd, "as_of": q.as_of, "source": q.source, "confidence": q.confidence}
            for q in self.quotes
        ]  # fmt: skip

    def lacks(self, message: str, fix: str, path: DataPath = (), severity: Severity = Severity.WARNING) -> None:
        """Add a finding of a missing price."""
        self.findings.append(Finding("mix-no-price", message, path, fix, severity))


def quotes_of(environment: Environment, pool_name: str | None, given: GivenRates) -> Quotes:
    """Return the quotes of a pool's instance type; without a name, of the first pool with GPUs."""
    unit_by_pool = {
        pool.name: nodes.gpu_count
        for pool, nodes in zip(environment.aws.pools, cloud_nodes(environment), strict=True)
        if nodes.gpu_count
    }
    onprem = sum(nodes.gpu_count * len(nodes.names) for nodes in onprem_nodes(environment) if not nodes.parts)
    pool = next((pool for pool in environment.aws.pools if pool.name in unit_by_pool and pool_name in (None, pool.name)), None)  # fmt: skip
    if pool is None:
        quotes = Quotes("", "", 1, onprem)
        known = f"the pools with GPUs are: {', '.join(unit_by_pool)}" if unit_by_pool else "add a pool to aws.pools"
        subject = f"pool {pool_name} with GPUs" if pool_name is not None else "pool with GPUs"
        quotes.findings.append(Finding("mix-no-pool", f"there is no {subject}", ("aws", "pools"), known))
        return quotes
    quotes = Quotes(pool.name, pool.instance, unit_by_pool[pool.name], onprem)
    if given.owned_max_gpus is not None:
        quotes.owned_max = given.owned_max_gpus // quotes.unit
    path = ("aws", "pools", environment.aws.pools.index(pool), "instance")
    _add_owned(quotes, environment, given)
    _add_committed(quotes, environment, given)
    _add_block(quotes, environment, given, path)
    _add_on_demand(quotes, environment, pool, given, path)
    _add_spot(quotes, environment, given)
    return quotes


def _add_owned(quotes: Quotes, environment: Environment, given: GivenRates) -> None:
    if given.owned_gpu is not None:
        quotes.quotes.append(_given("owned", given.owned_gpu * quotes.unit))
        return
    groups = [nodes for nodes in onprem_nodes(environment) if nodes.gpu_count and not nodes.parts]
    fix = "give --owned-usd-gpu-hour"
    if not groups:
        quotes.lacks("no node on-prem has a price: owned GPUs are left out", fix, severity=Severity.INFO)
        return
    largest = max(groups, key=lambda nodes: nodes.gpu_count * len(nodes.names))
    rate = node_hour_usd(environment, largest.names[0])
    if rate.usd is None:
        quotes.lacks(f"{rate.basis}: owned GPUs are left out", fix, ("onprem", "nodes"))
        return
    usd = rate.usd / largest.gpu_count * quotes.unit
    source = f"{rate.basis}; inputs by `landbridge cost tco`"
    quotes.quotes.append(Quote("owned", usd, onprem_costs().date, source, "secondary"))


def _add_committed(quotes: Quotes, environment: Environment, given: GivenRates) -> None:
    if given.committed is not None:
        quotes.quotes.append(_given("committed", given.committed))
        return
    region = environment.region
    rates = savings_plans_of(quotes.instance, region)
    plan = given.plan or min(rates, key=_usual_plan, default=None)
    if plan is None or plan not in rates:
        subject = f"Savings Plan {given.plan}" if given.plan is not None else "Savings Plan or a reserved instance"
        message = f"no rate of a {subject} is known for {quotes.instance} in {region}: it is left out"
        known = f"known are {', '.join(rates)}" if rates else "`landbridge prices refresh` reads them for --prices"
        quotes.lacks(message, f"give --committed-usd-hour; {known}", severity=Severity.INFO)
        return
    others = f"; others by --savings-plan: {', '.join(sorted(set(rates) - {plan}))}" if len(rates) > 1 else ""
    quotes.quotes.append(_quote("committed", rates[plan], f"{plan}{others}"))


def _usual_plan(plan: str) -> tuple[str, bool, str]:
    """Return the place of a plan in the order of choice: the shorter commitment, then the one without upfront payment,
    then the plan of one instance family (`ec2_instance`, the lower rate) before the plan of all (`compute`).
    """
    kind, years, payment = (*plan.split(":"), "", "")[:3]
    return years, payment != "no_upfront", "" if kind == "ec2_instance" else kind


def _add_block(quotes: Quotes, environment: Environment, given: GivenRates, path: DataPath) -> None:
    region = environment.region
    if given.block is not None:
        quotes.quotes.append(_given("capacity_block", given.block))
        return
    sold = limits().capacity_blocks.regions.get(quotes.instance)
    if sold is not None and region not in sold:
        message = f"no Capacity Blocks of {quotes.instance} are sold in {region}: they are left out"
        quotes.lacks(message, f"they are sold in {', '.join(sold)}", path, Severity.INFO)
        return
    for quote in _listed("capacity_block", "capacity_block", quotes.instance, region):
        quotes.quotes.append(quote)
        return
    message = f"no price of Capacity Blocks is known for {quotes.instance} in {region}: they are left out"
    quotes.lacks(message, "give --block-usd-hour", path, Severity.INFO)


def _add_on_demand(
    quotes: Quotes, environment: Environment, pool: PoolSettings, given: GivenRates, path: DataPath
) -> None:
    if given.on_demand is not None:
        quotes.quotes.append(_given("on_demand", given.on_demand))
        return
    listed = next(_listed("on_demand", "on_demand", pool.instance, environment.region), None)
    file_price = environment.burst.prices.get(pool.instance)
    if listed is not None:
        quotes.quotes.append(listed)
    elif file_price is not None:
        quotes.quotes.append(Quote("on_demand", file_price, None, "burst.prices of the environment file", "verify"))
    else:
        message = f"no on-demand price is known for {pool.instance} in {environment.region}"
        quotes.lacks(message, "give --on-demand-usd-hour", path, Severity.ERROR)


def _add_spot(quotes: Quotes, environment: Environment, given: GivenRates) -> None:
    if given.interruptions is None:
        message = "no rate of spot interruptions is known: spot instances are left out"
        quotes.lacks(message, "give --spot-interruptions-per-hour, from your own jobs", severity=Severity.INFO)
        return
    quotes.interruptions, quotes.lost_hours = given.interruptions, given.lost_hours
    if given.spot is not None:
        quotes.quotes.append(_given("spot", given.spot))
        return
    kind = instances().get(quotes.instance)
    for quote in _listed("spot", "spot", quotes.instance, environment.region):
        if kind is None or "spot" in kind.purchase:
            quotes.quotes.append(quote)
            return
    message = f"no spot price is known for {quotes.instance} in {environment.region}: spot instances are left out"
    quotes.lacks(message, "give --spot-usd-hour", severity=Severity.INFO)


def _listed(instrument: str, kind: PriceKind, instance: str, region: str) -> Iterator[Quote]:
    """Yield the newest price of the catalogue; nothing without one."""
    price = price_of(kind, instance, region)
    if price is not None:
        yield _quote(instrument, price)


def _quote(instrument: str, price: Price | PriceRange, note: str = "") -> Quote:
    """Return the quote of a dated price, the highest of a range."""
    source = f"{price.source}; {note}" if note else price.source
    if isinstance(price, Price):
        return Quote(instrument, price.usd, price.as_of, source, price.confidence)
    source = f"{source}; the highest of ${price.low:,.2f} to ${price.high:,.2f}"
    return Quote(instrument, price.high, price.as_of, source, price.confidence)


def _given(instrument: str, usd: float) -> Quote:
    return Quote(instrument, usd, None, "given on the command line", "given")
