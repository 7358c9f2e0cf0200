"""Nodes and jobs of the simulated Slurm."""

from dataclasses import dataclass


@dataclass
class SimNode:
    """A cloud node. `machine`: the instance whose slurmd registered; `resumed_at`: time of its ResumeProgram call."""

    name: str
    pool: str
    base: str = "IDLE"
    power: str = "POWERED_DOWN"  # POWERED_DOWN, POWERING_UP, UP, POWERING_DOWN
    wake: bool = False
    off: bool = False
    forced: bool = False  # powered down at once; else only after a starting node is up
    deaf: float | None = None  # not responding since
    reason: str = ""
    address: str = ""
    comment: str = ""
    job: int = 0
    machine: str = ""
    is_forgotten: bool = False  # slurmctld was killed before it saved that the node boots
    resumed_at: float = 0.0
    since: float = 0.0
    busy: float = 0.0

    @property
    def wanted(self) -> bool:
        """Return whether Slurm needs an instance for the node."""
        return self.power in ("POWERING_UP", "UP") and self.base != "DOWN" and not self.going

    @property
    def going(self) -> bool:
        """Return whether Slurm powers the node down at the next tick: it has no job left and does not wait for its
        registration."""
        return self.off and not self.job and (self.forced or self.power == "UP")

    def states(self, completing: bool) -> frozenset[str]:
        flags = {"UP": set()}.get(self.power, {self.power})
        flags |= {"POWER_UP"} if self.wake else set()
        flags |= {"POWER_DOWN"} if self.off else set()
        flags |= {"NOT_RESPONDING"} if self.deaf is not None or self.power == "POWERING_UP" else set()
        flags |= {"COMPLETING"} if completing else set()
        return frozenset({self.base, "CLOUD", *flags})


@dataclass
class SimJob:
    id: int
    pool: str
    wants: int
    account: str
    minutes: int | None
    runs: float  # seconds of work
    het: int = 0
    array: int = 0
    task: int | None = None
    batch: bool = True  # False: an interactive job, which ends with its node
    state: str = "PENDING"
    nodes: tuple[str, ...] = ()
    restarts: int = 0
    started: float | None = None  # as Slurm reports it: time of the allocation, then of the start
    allocated: float = 0.0  # true time
    running: float | None = None  # true time
    held: float | None = None  # true time at which PrologSlurmctld began to hold it on nodes apart
    ended: float | None = None
    not_before: float = 0.0
    submitted: float = 0.0
    comment: str = ""  # the user's
    admin_comment: str = ""
    offers: tuple[str, ...] = ()  # partitions it may also run in

    @property
    def over(self) -> bool:
        return self.state in ("COMPLETED", "CANCELLED", "TIMEOUT")
