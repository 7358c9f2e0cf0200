"""Answers of the questionnaire, as a typed model."""

from typing import Annotated, Literal

from pydantic import Field

from landbridge.environment.aws.guardrails import Email
from landbridge.environment.base import Model, Region, Site, Text, Word
from landbridge.environment.model import Regime

Place = Literal["onprem", "aws", "elsewhere"]
Experience = Literal["none", "some", "experienced"]
Share = Annotated[float, Field(ge=0, le=100)]
Count = Annotated[float, Field(gt=0, le=1e6)]
Amount = Annotated[float, Field(ge=0, le=1e12)]
Quantile = Annotated[float, Field(ge=0, le=1e6)]


class Workloads(Model):
    """Shares of the GPU hours in percent; their sum is 100. `sensitive`: data with a regime or a limited site."""

    baseline: Share = 0
    burst: Share = 0
    experiments: Share = 0
    inference: Share = 0
    sensitive: Share = 0


class TraceQuantiles(Model):
    """Quantiles of the GPUs in use at the same time, over the hours with work."""

    p25: Quantile | None = None
    p50: Quantile | None = None
    p75: Quantile | None = None
    p90: Quantile | None = None
    p95: Quantile | None = None
    p99: Quantile | None = None


class Utilisation(Model):
    """GPUs in use: mean and peak over `hours_a_week` hours; outside these hours there is no work."""

    gpu: Text = "h100"
    mean_gpus: Count = 1
    peak_gpus: Count = 1
    hours_a_week: Annotated[float, Field(gt=0, le=168)] = 168
    trace: TraceQuantiles | None = None


class Growth(Model):
    """Growth of the GPUs in use."""

    percent_a_year: Annotated[float, Field(ge=-90, le=1000)] = 0


class AssessedStaff(Model):
    """People for operations, in full-time equivalents, and their experience with GPU nodes."""

    people: Annotated[float, Field(ge=0, le=1e5)] = 0
    gpu_operations: Experience = "none"


class AssessedClass(Model):
    """Data class: its regime, the sites that the organisation permits, and its present place and size."""

    name: Word = "unnamed"
    regime: Regime | None = None
    sites: Annotated[tuple[Site, ...], Field(min_length=1)] = ("onprem", "aws")
    at: Place = "elsewhere"
    tb: Annotated[float, Field(ge=0, le=1e7)] = 0


class DataAnswers(Model):
    """Data classes; without any, one class without limits is assumed."""

    classes: tuple[AssessedClass, ...] = ()


class Machines(Model):
    """Machines that the organisation owns already."""

    platform: Text = "dgx-h100"
    nodes: Annotated[int, Field(ge=1, le=100_000)] = 1


class Constraints(Model):
    """Limits of the organisation; None: no limit."""

    machines: tuple[Machines, ...] = ()
    region: Region | None = None
    sites: Annotated[tuple[Site, ...], Field(min_length=1)] = ("onprem", "aws")
    site_power_kw: Amount | None = None
    capital_usd: Amount | None = None
    budget_usd_month: Amount | None = None
    first_gpu_weeks: Annotated[float, Field(ge=0, le=1000)] | None = None
    delivery_weeks: Annotated[float, Field(ge=0, le=1000)] | None = None


class QuotedPrices(Model):
    """Prices of the organisation's own quotations, which replace the catalogue's prices."""

    node_usd: Amount | None = None
    cloud_usd_hour: Amount | None = None


class Answers(Model):
    """All answers of one organisation."""

    organisation: Text = "the organisation"
    owner: Email | None = None
    workloads: Workloads = Workloads()
    utilisation: Utilisation = Utilisation()
    growth: Growth = Growth()
    staff: AssessedStaff = AssessedStaff()
    data: DataAnswers = DataAnswers()
    constraints: Constraints = Constraints()
    prices: QuotedPrices = QuotedPrices()

    @property
    def classes(self) -> tuple[AssessedClass, ...]:
        """Return the data classes; `internal` without limits if none is given."""
        return self.data.classes or (AssessedClass(name="internal"),)
