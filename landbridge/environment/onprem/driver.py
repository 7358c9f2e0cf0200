"""Environment key `onprem.driver`: the NVIDIA driver of on-prem nodes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Url

Release = Annotated[str, StringConstraints(pattern=r"^\d{3}\.\d+(\.\d+)?$")]


class Driver(Model):
    """NVIDIA driver of GPU nodes: branch, source and restart policy."""

    install: bool = Field(
        default=True,
        description="false: the operating system of every node contains the driver, which is kept; nodes may have any "
        "branch, or the one in branch",
    )
    branch: Annotated[str, StringConstraints(pattern=r"^\d{3}$")] | None = Field(
        default=None, description="driver branch; none: the long-term branch of the catalogue"
    )
    version: Release | None = Field(
        default=None, description="driver release of all nodes; none: the branch's release in the catalogue"
    )
    modules: Literal["auto", "open", "proprietary"] = Field(
        default="auto", description="flavour of the kernel modules; auto: the best one that the platform's GPUs support"
    )
    repository: Literal["nvidia", "distribution"] = Field(
        default="nvidia", description="source of the packages; distribution: Canonical's -server packages"
    )
    mirror: Url | None = Field(
        default=None, description="mirror of NVIDIA's repository, for sites without internet access"
    )
    secure_boot: Literal["off", "signed", "mok"] = Field(
        default="off",
        description="signature of the modules; signed: the distribution's; mok: with a machine owner key",
    )
    reboot: Literal["never", "unloaded", "drained"] = Field(
        default="unloaded",
        description="reboot of a node for a driver or the kernel command line; unloaded: only if no driver is loaded or slurmd "
        "does not run; drained: also nodes in service, after a drain, a few at a time (onprem.restarts)",
    )

    @property
    def branch_of_version(self) -> str | None:
        """Return the branch of `version`; None if not set."""
        return self.version.partition(".")[0] if self.version else None
