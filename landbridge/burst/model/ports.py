"""Ports to EC2, Slurm and the journal; the adapters and the simulated EC2 and Slurm of the tests implement them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    BurstPolicy,
    DecisionRecord,
    Ec2View,
    InstanceStatus,
    JobComment,
    Offering,
    SlurmJob,
    SlurmView,
    State,
)


class Ec2Port(Protocol):
    """Port to EC2; every method raises AwsError on failure, except `terminate`."""

    def view(self, expected: Collection[str] = ()) -> Ec2View:
        """Return the instances, and the end of each instance in `expected` that EC2 has ended."""

    def run(
        self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool
    ) -> ActionOutcome: ...

    def terminate(self, ids: Iterable[str]) -> ActionOutcome:
        """Terminate instances; the outcome has those that EC2 refuses to terminate, and the error of a failed call."""

    def renew(self, ids: Iterable[str], until: float) -> None: ...

    def network_paths(self, ids: Iterable[str]) -> Mapping[str, str]: ...

    def instance_statuses(self, ids: Iterable[str]) -> Mapping[str, InstanceStatus]:
        """Return the statuses of the running instances that have a failed status check or a scheduled event."""


class SlurmPort(Protocol):
    """Port to Slurm; every method raises SlurmError on failure."""

    def active(self) -> bool: ...

    def view(
        self,
        policy: BurstPolicy,
        pending: Iterable[int] = (),
        need_address: Iterable[str] = (),
        *,
        all_pending: bool = False,
    ) -> SlurmView: ...

    def down(self, nodes: Sequence[str], reason: str) -> None: ...

    def set_addresses(self, addresses: Mapping[str, str]) -> None: ...

    def comment(self, comments: Sequence[JobComment]) -> Mapping[int, str]:
        """Write the comments; return the error of each job that has none."""

    def report_end(self, jobs: Sequence[SlurmJob], reason: str) -> None: ...

    def requeue(self, jobs: Sequence[SlurmJob]) -> None:
        """Requeue jobs, and cancel those that Slurm does not requeue; their nodes stay up."""

    def resume(self, nodes: Sequence[str]) -> None: ...

    def promote(self, job: int, partitions: Sequence[str]) -> None: ...

    def start(self, nodes: Sequence[str]) -> None: ...

    def retire(self, nodes: Sequence[str], reason: str) -> None: ...

    def keep(self, nodes: Collection[str], owned: Collection[str]) -> None:
        """Exclude `nodes` from the suspension of idle nodes, and no other node of `owned`."""

    def set_network_paths(self, paths: Mapping[str, str]) -> None: ...


class JournalPort(Protocol):
    """Port to the journal; data are on disk when a writing method returns."""

    def load(self) -> State: ...

    def save(self, before: State, after: State) -> None: ...

    def record(self, records: Iterable[DecisionRecord]) -> None: ...
