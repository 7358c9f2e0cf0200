"""NVIDIA's driver on the organisation's own machines."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Url

Release = Annotated[str, StringConstraints(pattern=r"^\d{3}\.\d+(\.\d+)?$")]


class Driver(Model):
    """NVIDIA driver of GPU nodes: branch, source, and when a node may be restarted for it."""

    install: bool = Field(
        default=True, description="false: the machines' own system brings it, and only its branch is checked"
    )
    branch: Annotated[str, StringConstraints(pattern=r"^\d{3}$")] | None = Field(
        default=None, description="none: the long-term branch of the catalogue"
    )
    version: Release | None = Field(
        default=None, description="the release, for every node the same; none: the catalogue's of the branch"
    )
    modules: Literal["auto", "open", "proprietary"] = Field(
        default="auto", description="flavour of the kernel modules; auto: the best that the platform's GPUs work with"
    )
    repository: Literal["nvidia", "distribution"] = Field(
        default="nvidia", description="where all of it comes from; distribution: Canonical's -server packages"
    )
    mirror: Url | None = Field(default=None, description="a copy of NVIDIA's repository, for sites without a way out")
    secure_boot: Literal["off", "signed", "mok"] = Field(
        default="off",
        description="what lets the modules load: nothing has to, the distribution's signature, or a key of the machine's owner",
    )
    reboot: Literal["never", "unloaded", "drained"] = Field(
        default="unloaded",
        description="restart for a driver never, while none is at work, or also (drained first) to replace one that is",
    )

    @property
    def branch_of_version(self) -> str | None:
        """The branch that the named release is of."""
        return self.version.partition(".")[0] if self.version else None
