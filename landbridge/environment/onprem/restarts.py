"""Environment key `onprem.restarts`: restarts of GPU nodes for a driver or the kernel command line."""

from pydantic import Field

from landbridge.environment.base import Model


class NodeRestarts(Model):
    """Failure budget and waiting times of node restarts. `driver.reboot` decides whether nodes are restarted."""

    at_once: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="nodes that are drained and restarted at the same time; none: 5 % of the site's nodes, at least one, "
        "so that a faulty release is noticed while the other nodes still take jobs",
    )
    out_of_service: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="failure budget: nodes that may be out of service at the same time, including those that an operator, a "
        "health check or Slurm drained; beyond it no node is drained; none: 10 % of the site's nodes, at least two",
    )
    drain_minutes: int = Field(
        default=60, ge=1, le=100_000, description="time for the jobs of a drained node to end; then the run stops"
    )
    minutes: int | None = Field(
        default=None,
        ge=1,
        le=240,
        description="time until a node answers after its restart; none: the platform's value in the catalogue",
    )
