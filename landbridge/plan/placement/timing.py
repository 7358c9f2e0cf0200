"""Times of a job at a destination: waiting, copying of its data over the link, and boot of instances."""

from dataclasses import dataclass

from landbridge.catalog import limits
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.plan.placement.destinations import Destination
from landbridge.plan.placement.job import MeasuredStaging, PlacementJob, SiteState


@dataclass(frozen=True, slots=True)
class Timing:
    """Hours until a job starts, and its end. `staged_gb`: data that is copied to the site before the start; `measured`: the part of
    it that the mover has reported.
    """

    wait_hours: float
    boot_hours: float
    staged_gb: float
    staging_hours: float
    run_hours: float
    measured: MeasuredStaging | None = None

    @property
    def start_hours(self) -> float:
        """Return the hours from now to the start. Data is copied while the job waits and nodes boot."""
        return max(self.wait_hours + self.boot_hours, self.staging_hours)

    @property
    def end_hours(self) -> float:
        """Return the hours from now to the end."""
        return self.start_hours + self.run_hours


def timing(environment: Environment, job: PlacementJob, destination: Destination, state: SiteState) -> Timing:
    """Return the times of a job at a destination."""
    if destination.site == "onprem":
        idle = destination.gpus if state.idle_gpus is None else state.idle_gpus
        wait = 0.0 if job.gpus <= idle else state.wait_hours
    else:
        wait = state.pool_wait_hours.get(destination.pool, 0.0)
    staged = sum(data.gb for data in job.inputs if data.site != destination.site)
    gbps = link_gbps(environment)
    staging = copy_hours(staged, gbps) if gbps is not None else 0.0
    measured = state.staging.get(destination.site)
    if measured is not None:
        staged, staging = staged + measured.gb, staging + (measured.hours or 0.0)
    return Timing(wait, destination.boot_hours, staged, staging, job.hours, measured)


def copy_hours(gb: float, gbps: float) -> float:
    """Return the hours to copy `gb` GB (10^9 bytes) at `gbps` Gbit/s: 8 * gb / gbps seconds."""
    return 8 * gb / gbps / 3600


def link_gbps(environment: Environment) -> float | None:
    """Return the nominal rate of the link in Gbit/s: one tunnel of a VPN, or the port of Direct Connect.

    None without a link, or if the file does not have the port's rate. One copy has one flow, which uses one tunnel.
    """
    link, vpn = environment.link, limits().vpn
    if link is None:
        return None
    if isinstance(link, DirectConnectSettings):
        return float(link.port.removesuffix("g")) if link.port is not None else None
    if link.datapath == "userspace":
        return vpn.userspace_gbps
    return vpn.large_tunnel_gbps if link.bandwidth == "large" else vpn.tunnel_gbps
