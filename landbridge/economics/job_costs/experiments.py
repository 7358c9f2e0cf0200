"""Cost of an experiment in MLflow, the sum of its runs' jobs, and the cost of 1,000 predictions of a served model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from landbridge.catalog.carbon import carbon
from landbridge.economics.job_costs.lines import MonthStatement
from landbridge.economics.job_costs.money import exact
from landbridge.economics.job_costs.nodes import rated_nodes
from landbridge.environment import Environment
from landbridge.plan.cost.job_cost import node_hour_usd


@dataclass(frozen=True, slots=True)
class ExperimentCost:
    """Cost of an experiment. A job with several runs counts once. `kwh` and `co2e_kg` are None if they are not known of a line."""

    runs: int
    jobs: int
    without_cost: tuple[int, ...]
    usd: Decimal
    kwh: float | None
    co2e_kg: float | None

    def tags(self) -> dict[str, str]:
        """Return the tags of the experiment."""
        values = {"cost.usd": str(self.usd), "cost.jobs": str(self.jobs)}
        if self.kwh is not None:
            values["cost.kwh"] = f"{self.kwh:.3f}"
        if self.co2e_kg is not None:
            values["cost.co2e"] = f"{self.co2e_kg:.3f}"
        return values


def experiment_cost(statements: Iterable[MonthStatement], jobs_of_runs: Mapping[str, int]) -> ExperimentCost:
    """Return the cost of an experiment from the statements of all months. `jobs_of_runs`: the job of each run by its id."""
    jobs = set(jobs_of_runs.values())
    lines = [line for each in statements for line in each.lines if line.key.job in jobs]
    kwh, co2e = [line.kwh for line in lines], [line.co2e_kg for line in lines]
    priced = {line.key.job for line in lines}
    return ExperimentCost(
        len(jobs_of_runs),
        len(jobs),
        tuple(sorted(jobs - priced)),
        sum((line.usd for line in lines), Decimal(0)),
        None if None in kwh else sum(value or 0.0 for value in kwh),
        None if None in co2e else sum(value or 0.0 for value in co2e),
    )


@dataclass(frozen=True, slots=True)
class PredictionCost:
    """Cost of 1,000 predictions of a service, with energy and emissions; None: not known, for the reason in `basis`."""

    usd: Fraction | None
    kwh: float | None
    co2e_kg: float | None
    basis: str

    def tags(self) -> dict[str, str]:
        """Return the tags of the model version."""
        values = {} if self.usd is None else {"cost.usd_1000_predictions": f"{float(self.usd):.6f}"}
        if self.kwh is not None:
            values["cost.kwh_1000_predictions"] = f"{self.kwh:.6f}"
        if self.co2e_kg is not None:
            values["cost.co2e_1000_predictions"] = f"{self.co2e_kg:.6f}"
        return values


def prediction_cost(
    environment: Environment, node: str, hours: float, share: float, predictions: int, grid: str | None = None
) -> PredictionCost:
    """Return the cost of 1,000 predictions: `share` of a node for `hours`, for all of `predictions`, idle time included.

    The rate is that of a node with jobs, which `landbridge cost` has for the bill. Raises ValueError without predictions.
    """
    if predictions <= 0 or hours <= 0 or not 0 < share <= 1:
        raise ValueError("predictions and hours must be positive, and the share of a node above 0 and at most 1")
    thousands = Fraction(predictions, 1000)
    used = exact(hours) * exact(share) / thousands
    rate = node_hour_usd(environment, node)
    group = next((each for each in rated_nodes(environment) if node in each.names), None)
    kwh = float(group.load_kw * used) if group is not None and group.load_kw is not None else None
    facts = carbon()
    known = None
    if group is not None:
        known = facts.of_region(environment.region) if group.site == "aws" else facts.grids.get(grid or "")
    co2e = None if kwh is None or known is None else kwh * known.grams_kwh / 1000
    return PredictionCost(None if rate.usd is None else exact(rate.usd) * used, kwh, co2e, rate.basis)
