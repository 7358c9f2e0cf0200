"""Environment key `onprem.existing_slurm`: a Slurm cluster that runs already and that others configure."""

from typing import Annotated, Literal

from pydantic import Field

from landbridge.environment.aws.iam import PortRange
from landbridge.environment.base import AbsolutePath, Model, SlurmKey, Text


class ExistingSlurm(Model):
    """Slurm cluster that runs already. Landbridge configures only the gateway and the burst controller of its site."""

    cluster: Text = Field(description="its ClusterName, which may differ from the environment's name")
    uid: Annotated[int, Field(ge=1, le=2_000_000_000)] = Field(
        default=64030,
        description="uid of its SlurmUser, the account slurm; slurmd in AWS accepts messages of this uid only",
    )
    state: AbsolutePath = Field(
        default="/var/spool/slurmctld", description="its StateSaveLocation; a pair of controllers shares it"
    )
    sets: tuple[SlurmKey, ...] = Field(
        default=(), description="keys that its own slurm.conf sets, which landbridge.conf therefore lacks"
    )
    node_folders: tuple[AbsolutePath, ...] = Field(
        default=(), description="folders on nodes in AWS that its slurm.conf needs, such as that of SlurmdSpoolDir"
    )
    srun_ports: PortRange | None = Field(default=None, description="its SrunPortRange; none: srun listens on any port")
    topology: Literal["flat", "tree", "yaml"] = Field(
        default="flat",
        description="file that lists the pools' switches: none, topology.conf of topology/tree, or topology.yaml",
    )
