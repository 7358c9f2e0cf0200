"""Environment key `placement`: workload classes, data sets and the price of waiting, which decide where a job runs."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Site, Text, Usd, UserName, Word

#: Workload classes, in the order in which a job is compared with them.
WorkloadName = Literal["sensitive", "inference", "experiments", "baseline", "burst"]
#: Purchase options of capacity: machines that the organisation owns, the kinds of a pool's capacity, and training jobs of SageMaker.
Instrument = Literal["owned", "capacity_block", "reservation", "reservation_group", "on_demand", "spot", "sagemaker"]
#: Text with `*` for any characters.
Pattern = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,100}$")]
Gigabytes = Annotated[float, Field(ge=0, le=1e9)]


class WorkloadClass(Model):
    """Workload class: the jobs that belong to it, and where they may run.

    A job belongs to it if each selector with values has one that fits. A class without selectors has no jobs, except
    burst, which also has the jobs of no other class.
    """

    accounts: tuple[UserName, ...] = Field(default=(), description="Slurm accounts of its jobs; empty: any")
    partitions: tuple[Word, ...] = Field(
        default=(), description="partitions of its jobs; a job in several partitions needs all of them here; empty: any"
    )
    qos: tuple[UserName, ...] = Field(default=(), description="QOS of its jobs; empty: any")
    names: tuple[Pattern, ...] = Field(default=(), description="job names, with * for any characters; empty: any")
    comments: tuple[Pattern, ...] = Field(
        default=(), description="comments of jobs (`sbatch --comment`), with * for any characters; empty: any"
    )
    sites: tuple[Site, ...] = Field(
        default=(), description="sites where its jobs may run, within those of their data; empty: the class's default"
    )
    instruments: tuple[Instrument, ...] = Field(
        default=(), description="purchase options that suit its jobs; empty: the class's default"
    )
    delay_usd_gpu_hour: Usd | None = Field(
        default=None, description="price of an hour of waiting, in USD for each GPU; none: that of placement"
    )
    staffing: Text | None = Field(
        default=None, description="note about the people that its jobs need; printed, not evaluated"
    )


class WorkloadClasses(Model):
    """Workload classes. A job belongs to the first one that fits, in this order; else to burst."""

    sensitive: WorkloadClass | None = Field(default=None, description="default: on-prem only")
    inference: WorkloadClass | None = Field(default=None, description="default: both sites, and no spot")
    experiments: WorkloadClass | None = Field(default=None, description="default: both sites, spot included")
    baseline: WorkloadClass | None = Field(default=None, description="continuous training; default: on-prem only")
    burst: WorkloadClass | None = Field(default=None, description="default: both sites, and no spot")

    def items(self) -> tuple[tuple[WorkloadName, WorkloadClass], ...]:
        """Return the classes that the file has, in the order of their comparison."""
        named: tuple[tuple[WorkloadName, WorkloadClass | None], ...] = (
            ("sensitive", self.sensitive),
            ("inference", self.inference),
            ("experiments", self.experiments),
            ("baseline", self.baseline),
            ("burst", self.burst),
        )
        return tuple((name, workload) for name, workload in named if workload is not None)

    def settings_of(self, name: str) -> WorkloadClass | None:
        """Return the settings of a class; None if the file does not have it."""
        return next((workload for known, workload in self.items() if known == name), None)


class DataSet(Model):
    """Data set: where its only copy is, and its size. A job at the other site needs a copy first."""

    data_class: Word
    site: Site
    gb: Gigabytes = Field(description="size in GB (10^9 bytes)")


class PlacementPolicy(Model):
    """Placement of jobs: workload classes, data sets, and prices. `landbridge place explain` evaluates it."""

    classes: WorkloadClasses = WorkloadClasses.with_defaults()
    data_sets: Mapping[Word, DataSet] = Field(default={}, description="data sets by name, for job files")
    gravity_gb: Gigabytes | None = Field(
        default=None, description="maximum size in GB that is copied to the other site for a job; none: no limit"
    )
    delay_usd_gpu_hour: Usd | None = Field(
        default=None,
        description="price of an hour of waiting, in USD for each GPU; none: the hourly cost of one of the site's GPUs",
    )
