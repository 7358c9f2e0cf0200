"""Simulated Slurm for machines that cannot run the real one.

It queues jobs, powers nodes up and down through the *real* burst programs, and runs job scripts as local processes, one
for each node.

    from sandbox.embedded.slurm import EmbeddedNode, SimulatedSlurm

    nodes = [*EmbeddedNode.many("dgx[01-02]", gpus=8), *EmbeddedNode.many("p5-[1-4]", gpus=8, cloud=True, weight=1000)]
    keys = str(cloud.launch_credentials)
    burst = {**burst_config(environment, outputs), "endpoint": cloud.endpoint, "credentials_file": keys}
    with SimulatedSlurm(directory, nodes, burst_config=burst, suspend_time=5) as slurm:
        job = slurm.submit(nodes=2, script=Path("train.sh"), name="digits", account="vision", environment={...})
        slurm.wait(job)                   # TimeoutError when nothing changes any more; the job continues
        job.state                         # PENDING CONFIGURING RUNNING COMPLETED FAILED CANCELLED NODE_FAIL
        job.nodes                         # ("p5-1", "p5-2"): nodes of its last start
        job.output(rank=0)                # output of the step on its first node
        slurm.wait_idle()                 # until every cloud node is powered down again
        slurm.nodes["p5-1"].state         # IDLE ALLOCATED DOWN, with .flags such as CLOUD POWERED_DOWN POWERING_UP

Real parts: landbridge.burst.hooks.programs run as Slurm runs them: node list as last argument, SLURM_RESUME_FILE with
the path of a JSON file that exists only while the program runs, an empty environment. landbridge.burst.daemon.daemon
runs too (`daemon` is its process; `programs.daemon()` starts another after it has ended). `scontrol`, `sinfo` and
`squeue` in their PATH print text and JSON like the real ones. A cloud node is up once its instance has registered: start the
emulated AWS with `--launcher process --process-command "<python> -m sandbox.embedded.node <directory>/slurm.sock"`;
that program reads its node's name from its instance's tags and launch index, through the metadata service, and
registers.

Absent parts: memory, cores, priorities, fair share, limits and security; a job gets whole nodes. `script` is a file
or text; it runs once for each node (as with `srun`), in the directory `workdir`, with SLURM_JOB_ID, SLURM_JOB_NAME,
SLURM_JOB_ACCOUNT, SLURM_JOB_NODELIST, SLURM_JOB_NUM_NODES, SLURM_NTASKS, SLURM_PROCID, SLURM_NODEID, SLURMD_NODENAME,
SLURM_RESTART_COUNT and the like, LANDBRIDGE_COORDINATOR (127.0.0.1 and a free port, the same for all ranks) and
`environment`. A job gets only nodes of its partition: `gpu` (the default) contains all, `onprem` those that are not
cloud nodes, and a pool's prefix (`p5`) those of the pool. On-prem nodes (low weight) are used first, and no job uses
nodes of both sites.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sandbox.embedded.commands import install
from sandbox.embedded.model import EmbeddedJob, EmbeddedNode, groups, state_text
from sandbox.embedded.node_power import begin_power_down, begin_power_up, end_power_down, idle_nodes, late_nodes
from sandbox.embedded.power import Programs, burst_variables
from sandbox.embedded.schedule import allocate
from sandbox.embedded.steps import EmbeddedStep
from sandbox.embedded.waiting import wait_for_progress
from sandbox.embedded.wire import Server, socket_path

__all__ = ["EmbeddedJob", "EmbeddedNode", "SimulatedSlurm", "socket_path"]

TICK = 0.1
REQUEUE_DELAY = 4.0


class SimulatedSlurm:
    """Simulated slurmctld. Its thread executes due actions every 0.1 s; all other methods only change state."""

    def __init__(
        self,
        directory: Path,
        nodes: Iterable[EmbeddedNode],
        *,
        burst_config: Mapping[str, Any],
        suspend_time: float = 10.0,
        resume_timeout: float = 60.0,
        suspend_timeout: float = 1.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare the folder and the programs in it.

        `environment`: added to that of the burst programs. `burst_config`: content of /etc/landbridge/burst.json.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.suspend_time, self.resume_timeout = directory.absolute(), suspend_time, resume_timeout
        self.suspend_timeout = suspend_timeout
        self.nodes = {node.name: node for node in nodes}
        self.suspend_exc_nodes = ""  # as `scontrol show config` shows it
        self.idle_scans = 0  # for nodes that have been idle for SuspendTime
        self.jobs: dict[int, EmbeddedJob] = {}
        self.lock = threading.RLock()
        self.socket = socket_path(self.directory)
        install(self.directory / "bin", self.socket)
        variables = {**burst_variables(self.directory, burst_config), **(environment or {})}
        self.programs = Programs(self.directory, self.directory / "bin", variables)
        self._steps: dict[int, EmbeddedStep] = {}
        self._prolog_done: set[tuple[int, int]] = set()
        self._ended = threading.Event()
        self._server: Server | None = None

    def __enter__(self) -> "SimulatedSlurm":
        self.socket.unlink(missing_ok=True)
        self._server = Server(str(self.socket), self)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()
        self.daemon = self.programs.daemon()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for step in self._steps.values():
            step.kill()
        self.programs.end()
        socket_path(self.directory, "burst").unlink(missing_ok=True)
        if self._server:
            self._server.shutdown()
            self._server.server_close()
        self.socket.unlink(missing_ok=True)

    # Actions of users.

    def submit(
        self,
        *,
        nodes: int = 1,
        script: Path | str,
        name: str = "job",
        partition: str = "gpu",
        account: str = "",
        user: str = "",
        minutes: int = 60,
        workdir: Path | None = None,
        environment: Mapping[str, str] | None = None,
        comment: str = "",
        held: str = "",
    ) -> EmbeddedJob:
        """Queue a job and return at once. `held`: AdminComment of a held job. Raise ValueError if no group has enough nodes."""
        with self.lock:
            number = len(self.jobs) + 1
            directory = self.directory / f"job-{number}"
            directory.mkdir(exist_ok=True)
            if isinstance(script, str):
                text, script = script, directory / "script.sh"
                script.write_text(text)
            job = EmbeddedJob(
                id=number,
                name=name,
                size=nodes,
                script=script.absolute(),
                partition=partition,
                account=account,
                user=user,
                minutes=minutes,
                workdir=(workdir or directory).absolute(),
                environment=dict(environment or {}),
                directory=directory,
                comment=comment,
                admin_comment=held,
                held=bool(held),
            )
            if not any(len(group) >= nodes for group in groups(self.nodes.values(), partition)):
                raise ValueError(f"partition {partition} has no site with {nodes} nodes")
            job.become("PENDING")
            self.jobs[number] = job
        return job

    def wait(self, job: EmbeddedJob) -> EmbeddedJob:
        """Wait until the job has ended. Raise TimeoutError when nothing changes any more; the job continues."""
        self.wait_for(lambda: job.finished, f"job {job.id} has not ended")
        return job

    def wait_idle(self) -> None:
        """Wait until all jobs have ended and every cloud node is powered down."""

        def idle() -> bool:
            down = all("POWERED_DOWN" in node.flags for node in self.nodes.values() if node.cloud)
            return down and all(job.finished for job in self.jobs.values())

        self.wait_for(idle, "cloud nodes are still up")

    def wait_for(self, condition: Callable[[], object], problem: str) -> None:
        """Wait until `condition()` is true.

        Raise TimeoutError when the state of jobs and nodes does not change any more, with the problem, that state and
        the end of the programs' log.
        """
        wait_for_progress(condition, self._describe, problem, self.directory / "programs.log")

    def _describe(self) -> str:
        with self.lock:
            return state_text(self.jobs.values(), self.nodes.values())

    def cancel(self, job: EmbeddedJob) -> None:
        with self.lock:
            if not job.finished:
                self._release(job)
                job.become("CANCELLED")

    def power_up(self, names: Iterable[str]) -> None:
        """Start nodes without a job, as `scontrol update state=power_up` does."""
        with self.lock:
            chosen = [self.nodes[name] for name in names if "POWERED_DOWN" in self.nodes[name].flags]
            self._power_up(chosen)
        self.programs.resume([node.name for node in chosen], [])

    # Actions of scontrol's stand-in and of nodes. The caller holds the lock.

    def node_down(self, node: EmbeddedNode, reason: str) -> None:
        node.state, node.reason = "DOWN", reason
        if node.job is not None:
            self._requeue(self.jobs[node.job], reason)

    def power_down_force(self, node: EmbeddedNode, reason: str) -> None:
        self.node_down(node, reason)
        node.state = "IDLE"
        self._power_down([node])

    def power_down_asap(self, node: EmbeddedNode, reason: str) -> None:
        """Power down a node without a job; one with a job stays up."""
        if node.job is None:
            node.reason = reason
            self._power_down([node])

    def node_resume(self, node: EmbeddedNode, _: str) -> None:
        node.state, node.reason, node.idle_since = "IDLE", "", time.monotonic()

    def job_requeue(self, job: EmbeddedJob) -> bool:
        """Requeue a job that has nodes, which stay up; return whether it had them."""
        has_nodes = job.state in ("CONFIGURING", "RUNNING")
        if has_nodes:
            self._requeue(job, "requested")
        return has_nodes

    def registered(self, node: EmbeddedNode, address: str, instance: str) -> None:
        node.flags -= {"POWERING_UP", "NOT_RESPONDING"}
        node.address, node.instance, node.idle_since = address, instance, time.monotonic()

    def lost(self, node: EmbeddedNode) -> None:
        if not node.flags & {"POWERING_DOWN", "POWERED_DOWN", "POWERING_UP"}:
            node.flags.add("NOT_RESPONDING")
            self.node_down(node, "Not responding")

    # The loop.

    def _loop(self) -> None:
        while not self._ended.wait(TICK):
            with self.lock:
                self._watch_steps()
                self._watch_nodes()
                allocated = allocate(self.jobs.values(), self.nodes)
                waiting = [(job, self._power_up([self.nodes[name] for name in job.nodes])) for job in allocated]
            if any(names for _, names in waiting):
                self.programs.resume([n for _, names in waiting for n in names], [pair for pair in waiting if pair[1]])
            for job in allocated:
                self.programs.prolog(job, partial(self._prolog_ended, job, job.restarts))

    def _prolog_ended(self, job: EmbeddedJob, restarts: int, code: int) -> None:
        """Record the end of PrologSlurmctld; requeue the job if it failed."""
        with self.lock:
            if code == 0:
                self._prolog_done.add((job.id, restarts))
            elif job.state == "CONFIGURING" and job.restarts == restarts:
                self._requeue(job, "PrologSlurmctld failed")

    def _power_up(self, nodes: list[EmbeddedNode]) -> list[str]:
        return [node.name for node in begin_power_up(nodes, self.resume_timeout)]

    def _power_down(self, nodes: list[EmbeddedNode]) -> None:
        begin_power_down(nodes, self.suspend_timeout)
        self.programs.suspend([node.name for node in nodes])

    def _watch_steps(self) -> None:
        for job in [job for job in self.jobs.values() if not job.finished]:
            ready = all(self.nodes[name].up for name in job.nodes) and (job.id, job.restarts) in self._prolog_done
            if job.state == "CONFIGURING" and ready:
                job.become("RUNNING")
                self._steps[job.id] = EmbeddedStep(job, [self.nodes[name].gpus for name in job.nodes])
            elif job.state == "RUNNING":
                code = self._steps[job.id].poll()
                if code is not None or time.time() > job.started + job.minutes * 60:
                    self._release(job)
                    job.exit_code = code
                    job.become("TIMEOUT" if code is None else "FAILED" if code else "COMPLETED")

    def _watch_nodes(self) -> None:
        late = late_nodes(self.nodes.values())
        for node in late:
            self.node_down(node, "ResumeTimeout reached")
            node.flags = (node.flags - {"POWERING_UP"}) | {"POWERED_DOWN"}
        if late:
            self.programs.resume_fail([node.name for node in late])
        end_power_down(self.nodes.values())
        idle = idle_nodes(self.nodes.values(), self.suspend_time, self.suspend_exc_nodes)
        if idle:
            self._power_down(idle)
        self.idle_scans += 1

    def _requeue(self, job: EmbeddedJob, reason: str) -> None:
        self._release(job)
        job.restarts, job.nodes, job.eligible = job.restarts + 1, (), time.time() + REQUEUE_DELAY
        job.become("PENDING", reason)

    def _release(self, job: EmbeddedJob) -> None:
        """Kill the job's processes and free its nodes; the job keeps its list of nodes."""
        step = self._steps.pop(job.id, None)
        if step:
            step.kill()
        for name in job.nodes:
            node = self.nodes[name]
            if node.job == job.id:
                node.job, node.idle_since = None, time.monotonic()
                node.state = "DOWN" if node.state == "DOWN" else "IDLE"
