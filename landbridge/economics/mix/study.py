"""Study of a trace: the cheapest mix beside other numbers of owned units, and the Capacity Blocks to buy now."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from landbridge.economics.mix.forecast import BlockPlan, block_plan
from landbridge.economics.mix.levels import levels_of
from landbridge.economics.mix.optimum import cheapest, with_owned, without
from landbridge.economics.mix.prices import BlockRules
from landbridge.economics.mix.quotes import Quotes
from landbridge.economics.mix.result import Mix
from landbridge.findings import Finding, FindingsError, Severity
from landbridge.timestamps import iso
from landbridge.trace import Demand, TraceJob, demand_of
from landbridge.trace.sample import share_of

#: Assumptions of the study, printed with every result.
ASSUMPTIONS = (
    "the future demand is that of the trace, and every job starts when it is eligible",
    "jobs fill whole nodes in any order, and a GPU of either site is as fast as the other's",
    "owned nodes and commitments are paid for the whole period, blocks in advance, on-demand and spot instances for use",
    "AWS has capacity, and blocks are for sale on each day at the price above",
)

#: Longest period of a study in days, and most units at once: the time of the computation grows with both.
MAX_DAYS, MAX_UNITS = 3 * 366, 20_000


def kind_findings(jobs: Sequence[TraceJob]) -> tuple[Finding, ...]:
    """Return a warning if the jobs need GPUs of several types, with the share of each in the GPU hours: a mix is of one
    type."""
    by_kind = Counter[str]()
    for job in jobs:
        if job.kind:
            by_kind[job.kind.casefold()] += job.gpus * job.seconds  # type: ignore[assignment]
    if len(by_kind) < 2:
        return ()
    shares = ", ".join(f"{kind} {gpu_seconds / by_kind.total():.0%}" for kind, gpu_seconds in by_kind.most_common())
    message = f"the jobs need several types of GPUs ({shares} of the typed GPU hours), and the mix is of one type"
    return (Finding("mix-several-kinds", message, (), "give --kind, and --pool with that type", Severity.WARNING),)


def limit_findings(demand: Demand, unit: int) -> tuple[Finding, ...]:
    """Return errors if a demand is too long or too large for a study, usually because of a wrong line."""
    findings = []
    days, units = demand.hours / 24, demand.peak / unit
    if days > MAX_DAYS:
        message = f"the trace is of {days:,.0f} days, from {iso(demand.times[0])} until {iso(demand.times[-1])}"
        fix = f"use at most {MAX_DAYS:,} days; a wrong time of submission makes a trace too long"
        findings.append(Finding("mix-too-long", message, (), fix))
    if units > MAX_UNITS:
        message = f"the jobs need {demand.peak:,} GPUs at once, {units:,.0f} nodes"
        fix = f"at most {MAX_UNITS:,} nodes are computed; check for a job with a wrong number of GPUs"
        findings.append(Finding("mix-too-large", message, (), fix))
    return tuple(findings)


@dataclass(frozen=True, slots=True)
class Study:
    """Result of a study. `mixes` are by name, the cheapest first in the order of decisions, not of cost."""

    jobs: int
    demand: Demand
    quotes: Quotes
    mixes: dict[str, Mix]
    plan: BlockPlan | None
    findings: tuple[Finding, ...]

    @property
    def best(self) -> Mix:
        """Return the cheapest mix."""
        return self.mixes["cheapest mix"]

    def as_data(self) -> dict[str, Any]:
        """Return the study as plain data."""
        demand = self.demand
        return {
            "jobs": self.jobs,
            "from": iso(demand.times[0]),
            "until": iso(demand.times[-1]),
            "hours": demand.hours,
            "gpu_hours": demand.gpu_hours,
            "gpus": {
                "mean": demand.mean,
                "p50": demand.quantile(0.5),
                "p95": demand.quantile(0.95),
                "p99": demand.quantile(0.99),
                "peak": demand.peak,
                "onprem": self.quotes.onprem_gpus,
            },
            "pool": self.quotes.pool,
            "instance": self.quotes.instance,
            "gpus_of_unit": self.quotes.unit,
            "prices": self.quotes.as_data(),
            "mixes": [
                {
                    "name": name,
                    "usd": mix.usd,
                    "usd_gpu_hour": mix.usd_gpu_hour,
                    "uses": [asdict(use) for use in mix.uses],
                    "blocks": [block.as_data() for block in mix.blocks],
                }
                for name, mix in self.mixes.items()
            ],
            "buy_now": self.plan.as_data() if self.plan is not None else None,
            "findings": [finding.to_dict() for finding in self.findings],
            "assumed": list(ASSUMPTIONS),
        }


def study_of(jobs: Sequence[TraceJob], quotes: Quotes, now: float, spot_share: float = 1.0) -> Study:
    """Return the study of a trace's jobs at the prices of `quotes`, with blocks to buy from `now` on.

    `spot_share` is the share of the jobs that may run on spot instances. Raises ValueError without a price on demand, and FindingsError
    for a trace that is too long or too large.
    """
    prices, rules = quotes.prices, BlockRules.of_catalogue()
    if prices is None:
        raise ValueError("there is no price on demand")
    demand = demand_of(jobs)
    if errors := limit_findings(demand, quotes.unit):
        raise FindingsError(errors)
    firm: Demand | None = None
    if prices.is_spot_cheaper and spot_share < 1:
        firm_jobs = [job for number, job in enumerate(jobs) if share_of(f"spot/{number}") >= spot_share]
        firm = demand_of(firm_jobs, demand.times[-1], demand.times[0])
    elif prices.is_spot_cheaper:
        firm = Demand((demand.times[0], demand.times[-1]), (0,))
    levels = levels_of(demand, quotes.unit, rules, firm)
    best = cheapest(levels, prices, rules)
    mixes = {"cheapest mix": best, "cheapest in AWS": cheapest(levels, without(prices, "owned"), rules)}
    mixes["all on demand"] = with_owned(levels, without(prices, "spot"), rules, 0)
    if prices.owned is not None:
        mean = round(demand.mean / quotes.unit)
        mixes["own the mean"] = with_owned(levels, without(prices, "spot"), rules, mean)
        mixes["own the peak"] = with_owned(levels, prices, rules, levels.units)
        if quotes.onprem_gpus:
            now_owned = quotes.onprem_gpus // quotes.unit
            mixes["own as in the file"] = cheapest(levels, without(prices, "owned"), rules, now_owned)
            owner_usd = now_owned * prices.owned * levels.hours
            mixes["own as in the file"] = with_owner_cost(mixes["own as in the file"], owner_usd)
    plan = None
    if prices.block is not None:
        kept_units = best.use_of("owned").units + best.use_of("committed").units
        plan = block_plan(demand, firm, quotes.unit, prices, rules, kept_units, now)
    findings = [*quotes.findings, *kind_findings(jobs), *_too_many(mixes["cheapest mix"], rules)]
    if prices.block is not None and plan is None:
        message = "the trace is shorter than a week: there is no forecast of blocks to buy"
        findings.append(Finding("mix-no-forecast", message, severity=Severity.INFO))
    return Study(len(jobs), demand, quotes, mixes, plan, tuple(findings))


def with_owner_cost(mix: Mix, usd: float) -> Mix:
    """Return a mix of which the owned units cost `usd`."""
    uses = tuple(replace(use, usd=usd) if use.instrument == "owned" else use for use in mix.uses)
    return replace(mix, uses=uses)


def _too_many(mix: Mix, rules: BlockRules) -> list[Finding]:
    units = mix.use_of("capacity_block").units
    if units <= rules.instances_all:
        return []
    message = f"the mix has {units} instances in Capacity Blocks at once; AWS sells at most {rules.instances_all}"
    fix = "own or commit to the difference"
    return [Finding("mix-block-limit", message, (), fix, Severity.WARNING)]
