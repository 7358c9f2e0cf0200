"""Values of the GPU health state machine: observations, views of nodes, records and actions. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

#: Start of the reasons of this machine's drains. With the space it differs from the reasons of health checks, so no health check resumes the node.
PREFIX = "landbridge: health: "
#: Actions, the most serious first, as in the reasons of drained nodes.
SEVERITY = ("repair", "reboot", "reset", "inspect")


class HealthState(StrEnum):
    """State of a node's GPUs."""

    HEALTHY = "healthy"
    SUSPECT = "suspect"
    DRAINING = "draining"
    RESETTING = "resetting"
    REBOOTING = "rebooting"
    RETESTING = "retesting"
    RETURNED = "returned"
    QUARANTINED = "quarantined"
    RMA = "rma"

    @property
    def in_service(self) -> bool:
        """Return true if the machine does not keep the node from jobs."""
        return self in (HealthState.HEALTHY, HealthState.SUSPECT, HealthState.RETURNED)

    @property
    def is_final(self) -> bool:
        """Return true if only an operator, or the replacement of a part, ends the state."""
        return self in (HealthState.QUARANTINED, HealthState.RMA)


@dataclass(frozen=True, slots=True)
class GpuIdentity:
    """GPU with its place in a node, UUID, serial number and firmware."""

    index: int
    address: str
    uuid: str
    serial: str = ""
    name: str = ""
    vbios: str = ""
    part_number: str = ""


@dataclass(frozen=True, slots=True)
class HealthObservation:
    """Observation of a fault at a time. `gpu`: UUID, or address if the UUID is not known; empty: not of one GPU.

    `action`: action that the observation reports, as an Xid has; `event`: a past event that only a log has.
    """

    at: float
    node: str
    kind: str
    detail: str
    gpu: str = ""
    action: str = ""
    event: bool = False


@dataclass(frozen=True, slots=True)
class NodeView:
    """Present state of a node in Slurm and on the machine.

    `gpu_processes`: processes that hold a GPU; None if not known, which forbids a reset. `booted_at`: start of the
    running kernel.
    """

    node: str
    site: Literal["onprem", "aws"] = "onprem"
    drained: bool = False
    reason: str = ""
    jobs: int = 0
    gpu_processes: int | None = 0
    booted_at: float | None = None

    @property
    def is_ours(self) -> bool:
        """Return true if this machine drained the node."""
        return self.drained and self.reason.startswith(PREFIX)

    @property
    def is_of_a_check(self) -> bool:
        """Return true if a health check of the node drained it."""
        start = self.reason[len("landbridge:") :]
        return self.drained and self.reason.startswith("landbridge:") and not start.startswith(" ")

    @property
    def is_of_another(self) -> bool:
        """Return true if an operator, Slurm or a restart drained the node: the state machine changes nothing."""
        return self.drained and not self.is_ours and not self.is_of_a_check


@dataclass(frozen=True, slots=True)
class RepairResult:
    """Result of a step: `reset`, `reboot` or `retest` of a node, started at `started`. `ok` is None if it was not run."""

    node: str
    step: str
    started: float
    at: float
    ok: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HealthRecord:
    """Journal's record of a node. `cleared_at`: earlier observations are resolved; `attempts`: steps of this repair."""

    node: str
    state: HealthState = HealthState.HEALTHY
    since: float = 0.0
    required: str = ""
    gpus: tuple[str, ...] = ()
    detail: str = ""
    cleared_at: float = 0.0
    attempts: Mapping[str, int] = field(default_factory=dict)
    drain_seen: bool = False
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class HealthJournal:
    """Records of all nodes, and the times of repairs by GPU."""

    records: Mapping[str, HealthRecord] = field(default_factory=dict)
    repairs: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


class HealthStep(StrEnum):
    """Action of the machine on one node."""

    DRAIN = "drain"
    RESET = "reset"
    REBOOT = "reboot"
    RETEST = "retest"
    RETURN = "return"
    QUARANTINE = "quarantine"
    RMA = "rma"
    #: A node in AWS: the burst controller replaces a node that has a health check's reason.
    REPLACE = "replace"
    #: Node of a retest that an operator or a check has drained: its reservation ends.
    RELEASE = "release"

    @property
    def is_disruptive(self) -> bool:
        """Return true if nothing else may be done to the node at the same time."""
        return self in (HealthStep.RESET, HealthStep.REBOOT, HealthStep.RETEST)


@dataclass(frozen=True, slots=True)
class HealthAction:
    """Action with its node, GPUs and Slurm reason. `started` is the time in the record, and identifies its result."""

    step: HealthStep
    node: str
    gpus: tuple[str, ...] = ()
    reason: str = ""
    started: float = 0.0
