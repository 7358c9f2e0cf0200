"""Simulated Slurm with the interface of landbridge.burst.slurm.slurm and the commands of users and operators."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from landbridge.burst.model import BurstPolicy, JobComment, SlurmJob, SlurmNode, SlurmView
from landbridge.burst.slurm.slurm import REASON_STATES, SlurmError
from tests.unit.burst.world.sims import SimJob, SimNode
from tests.unit.burst.world.slurmctld import LOCAL, Slurmctld


class SlurmWorld(Slurmctld):
    """Queries and commands of the simulated Slurm."""

    # The interface of landbridge.burst.slurm.slurm.

    def active(self) -> bool:
        return True

    def view(
        self,
        policy: BurstPolicy,
        pending: Iterable[int] = (),
        need_address: Iterable[str] = (),
        *,
        all_pending: bool = False,
    ) -> SlurmView:
        with self.faults.call("slurm.view", "slurm", _refuse):
            self._reach()
            at, closer = self.clock.now, set(need_address)
            waiting = self.jobs.keys() if all_pending else set(pending)
            nodes = {n.name: self._node(n, closer) for n in self.nodes.values()}
            up = {name for name, node in nodes.items() if "POWERED_DOWN" not in node.states}
            if self.faults.latency:
                self.faults.passing(self.faults.latency)  # jobs are queried with a second command
            jobs = {j.id: self._job(j) for j in self.jobs.values() if self._tells(j, waiting, up)}
        return SlurmView(at, jobs, nodes)

    def down(self, nodes: Sequence[str], reason: str) -> None:
        with self.faults.call("slurm.down", "slurm", _refuse):
            self._reach()
            for name in nodes:
                self.downed(self.nodes[name], reason)
                self.set_down(self.nodes[name], reason)
            if self.half:
                self.half, self.faults.met = False, self.faults.met + 1
                raise SlurmError("the second command failed")
            for name in nodes:
                self.power_down_force(name)

    def set_addresses(self, addresses: Mapping[str, str]) -> None:
        with self.faults.call("slurm.set_addresses", "slurm", _refuse):
            self._reach()
            for name, address in addresses.items():
                self.nodes[name].address = address

    def comment(self, comments: Sequence[JobComment]) -> Mapping[int, str]:
        with self.faults.call("slurm.comment", "slurm", _refuse):
            self._reach()
            return {comment.job: error for comment in comments if (error := self._comment(comment))}

    def _comment(self, comment: JobComment) -> str:
        job = self.jobs.get(comment.job)
        if job is None or job.over:
            return "invalid job id"
        plain = str(job.id) if job.task is None else f"{job.array}_{job.task}"
        if comment.slurm_id != plain:
            raise AssertionError(f"{comment.slurm_id} is not job {job.id} alone")
        if job.state not in ("PENDING", "COMPLETING"):
            return "job is no longer pending execution"
        job.admin_comment, job.not_before = comment.text, comment.until or 0.0
        return ""

    def report_end(self, jobs: Sequence[SlurmJob], reason: str) -> None:
        self.end_reports |= {job.id for job in jobs}
        with self.faults.call("slurm.report_end", "slurm", _refuse):
            self._reach()
            for job in jobs:
                if job.id in self.jobs and not self.jobs[job.id].over:
                    self.jobs[job.id].admin_comment = reason

    def requeue(self, jobs: Sequence[SlurmJob]) -> None:
        with self.faults.call("slurm.requeue", "slurm", _refuse):
            self._reach()
            for job in jobs:
                if (known := self.jobs.get(job.id)) is not None and known.state in ("CONFIGURING", "RUNNING"):
                    self.requeued(known)
                    self.requeue_job(known)

    def resume(self, nodes: Sequence[str]) -> None:
        with self.faults.call("slurm.resume", "slurm", _refuse):
            self._reach()
            for name in nodes:
                if self.nodes[name].base == "DOWN":
                    self.nodes[name].base, self.nodes[name].reason = "IDLE", ""

    def promote(self, job: int, partitions: Sequence[str]) -> None:
        with self.faults.call("slurm.promote", "slurm", _refuse):
            self._reach()
            if job not in self.jobs or self.jobs[job].state != "PENDING":
                return
            self.promoted(self.jobs[job])
            self.jobs[job].offers = tuple(p for p in partitions if p in self.policy.pools)

    def start(self, nodes: Sequence[str]) -> None:
        with self.faults.call("slurm.start", "slurm", _refuse):
            self._reach()
            for name in nodes:
                self.power_up(name)

    def retire(self, nodes: Sequence[str], reason: str) -> None:
        with self.faults.call("slurm.retire", "slurm", _refuse):
            self._reach()
            for name in nodes:
                self.power_down(name)

    def keep(self, nodes: Collection[str], owned: Collection[str]) -> None:
        with self.faults.call("slurm.keep", "slurm", _refuse):
            self._reach()
            self.excepted = (self.excepted - set(owned)) | set(nodes)

    def set_network_paths(self, paths: Mapping[str, str]) -> None:
        with self.faults.call("slurm.set_network_paths", "slurm", _refuse):
            self._reach()
            for name, path in paths.items():
                self.nodes[name].comment = path

    # Commands of users and operators.

    def submit(self, job: SimJob) -> None:
        job.submitted = self.clock.now
        self.jobs[job.id] = job

    def cancel(self, id: int) -> None:
        for job in self.together(self.jobs[id]):
            self._finish(job, "CANCELLED")

    def kill(self) -> None:
        """Kill slurmctld: it does not know any more that nodes boot, and sets them down when they register."""
        for node in self.nodes.values():
            node.is_forgotten |= node.power == "POWERING_UP"

    def power_up(self, name: str) -> None:
        node = self.nodes[name]
        if node.power == "POWERED_DOWN" and node.base == "IDLE":
            node.wake = True

    def power_down(self, name: str) -> None:
        node = self.nodes[name]
        if node.power in ("UP", "POWERING_UP"):
            node.off = True

    def power_down_force(self, name: str) -> None:
        node = self.nodes[name]
        if node.job:
            self.requeue_job(self.jobs[node.job])
        if node.power != "POWERING_DOWN":  # else Slurm ignores it, and a node that is down stays down
            node.base, node.off, node.forced = "IDLE", True, True

    # Views.

    def _completing(self, node: SimNode) -> bool:
        return bool(node.job) and self.jobs[node.job].state == "COMPLETING"

    def _reach(self) -> None:
        if not self.up:
            self.faults.met += 1
            raise SlurmError("slurmctld does not answer")

    def _node(self, node: SimNode, closer: set[str]) -> SlurmNode:
        states = node.states(self._completing(node))
        if states & REASON_STATES or node.name in closer:
            return SlurmNode(node.name, states, node.reason, node.address)
        return SlurmNode(node.name, states)

    def _tells(self, job: SimJob, pending: Set[int], up: set[str]) -> bool:
        if job.state == "PENDING":
            return job.id in pending
        return job.state in ("CONFIGURING", "RUNNING", "COMPLETING") and not up.isdisjoint(job.nodes)

    def _job(self, job: SimJob) -> SlurmJob:
        return SlurmJob(
            id=job.id,
            state=job.state,
            nodes=job.nodes,
            partition=",".join((job.pool, *job.offers)) if job.state == "PENDING" else job.pool,
            account=job.account,
            user="ann",
            restarts=job.restarts,
            started=job.started,
            minutes=job.minutes,
            het_job=job.het,
            array_job=job.array,
            array_task=job.task,
            is_batch=job.batch,
            wanted_nodes=job.wants,
            eligible=max(job.submitted, job.not_before),
            expected_start=self.clock.now + 3600 if job.state == "PENDING" and job.pool == LOCAL else None,
            comment=job.comment,
        )


def _refuse(word: str) -> SlurmError:
    return SlurmError(word)
