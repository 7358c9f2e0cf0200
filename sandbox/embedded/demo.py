"""Embedded level of the demonstration: no privileges, no nodes.

Check, resource graph, burst programs and training are real; Slurm is simulated, machines and tunnel are absent.
The summary lists all of them."""

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.environment import Environment, load_environment
from landbridge.findings import has_errors
from landbridge.paths import state_dir
from landbridge.plan.cost.job_cost import job_cost
from landbridge.plan.roles.burst import burst_config
from landbridge.plan.slurm.nodes import Nodes, cloud_nodes, onprem_nodes
from landbridge.rules import check
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.report import DemoError, DemoJob, DemoReport, Reality
from sandbox.embedded.leftovers import alone
from sandbox.embedded.slurm import EmbeddedJob, EmbeddedNode, SimulatedSlurm, socket_path
from sandbox.embedded.stack import BuiltStack, EmbeddedStack
from sandbox.embedded.tracking import Tracking, serving

TRAIN = Path(__file__).resolve().parents[2] / "examples" / "digits" / "train.py"
# Job 1 must still hold the on-prem nodes when job 2 is submitted and while its nodes start.
FIRST, SECOND = ("--epochs", "8", "--seconds-per-epoch-floor", "2"), ("--epochs", "8")
IDLE_SECONDS = 3
SIZE = 2


def run(path: Path, report: DemoReport) -> int:
    """Run the demonstration; return 0. Raise DemoError if a job ran at the wrong site or something remains."""
    folder = state_dir("embedded")
    with alone(folder):
        shutil.rmtree(folder)
        return _show(path, report, folder)


def _show(path: Path, report: DemoReport, folder: Path) -> int:
    # The emulated AWS loses its state when it ends, so this stack gets a new state, separate from the lab's.
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    with ExitStack() as stack:
        level = EmbeddedDemo(path, report, folder, stack)
        level.check()
        level.start()
        level.build()
        level.train()
        level.settle()
    level.record_realities()
    return 0


@dataclass
class EmbeddedDemo:
    """Embedded demonstration: its steps in order; each uses the results of earlier ones."""

    path: Path
    report: DemoReport
    folder: Path
    ending: ExitStack
    environment: Environment = field(init=False)
    cloud: EmulatorProcess = field(init=False)
    tracking: Tracking = field(init=False)
    pulumi: EmbeddedStack = field(init=False)
    built: BuiltStack = field(init=False)
    slurm: SimulatedSlurm = field(init=False)

    def check(self) -> None:
        """Check the environment file as `landbridge check` does."""
        with self.report.step("check the environment file") as step:
            loaded = load_environment(self.path)
            findings = check(loaded)
            for finding in findings:
                step.note(str(finding))
            if loaded.environment is None or has_errors(findings):
                raise DemoError(f"{self.path.name} has errors", "fix the errors listed above")
            self.environment = loaded.environment
            step.result = f"{self.path.name}: {len(findings)} findings"

    def start(self) -> None:
        """Start the stand-ins of AWS and of the MLflow host."""
        slurm = self.folder / "slurm"
        node = f"{sys.executable} -m sandbox.embedded.node {socket_path(slurm)}"
        with self.report.step("emulated AWS") as step:
            # MLflow's server starts slowly: it starts in parallel, and `train` waits for it.
            self.tracking = self.ending.enter_context(serving(self.folder / "mlflow"))
            options = (
                "--launcher",
                "process",
                "--process-command",
                node,
                "--imds",
                "127.0.0.1:0",
                "--require-credentials",
            )
            self.cloud = self.ending.enter_context(running(self.folder / "cloud", *options, "--boot-delay", "1"))
            step.result = self.cloud.endpoint

    def build(self) -> None:
        """Create the AWS resources as `landbridge up` does."""
        self.pulumi = EmbeddedStack(self.path, self.environment, self.folder / "project", self.cloud)
        with self.report.step("pulumi up" if self.pulumi.engine else "apply the graph without an engine") as step:
            self.built = self.pulumi.up(step.note)
            self.report.add_resources(self.built.resources)
            step.result = f"{sum(self.built.resources.values())} resources"

    def train(self) -> None:
        """Run two equal jobs: job 1 occupies the on-prem nodes, so job 2 runs in AWS."""
        with self.report.step("MLflow") as step:
            self.tracking.wait()
            step.result = f"{self.tracking.uri}, on SQLite"
        self.slurm = self.ending.enter_context(self.simulated_slurm())
        with self.report.step("job 1: train on-prem") as step:
            first = self._submit("digits-1", FIRST)
            self.slurm.wait_for(lambda: first.state == "RUNNING" or first.finished, "job 1 does not start")
            step.result = f"runs on {', '.join(first.nodes)}"
        with self.report.step("job 2: no free on-prem node, so it runs in AWS") as step:
            second = self._finish(self._submit("digits-2", SECOND), "aws")
            step.result = f"ran on {', '.join(second.nodes)}, {_running_since(second) - second.submitted:.1f} s after its submission"
        with self.report.step("wait for the end of job 1") as step:
            self._finish(first, "onprem")
            if first.ended < second.started:
                raise DemoError(
                    "job 1 ended before job 2 began, so job 2 did not burst", "run it again on a quieter machine"
                )
            step.result = f"ran on {', '.join(first.nodes)}"
        with self.report.step("read both runs from MLflow") as step:
            runs = self.tracking.runs("digits")
            for job in (first, second):
                self.report.add_job(self._summarize(job))
            step.result = ", ".join(
                f"{run.tags['mlflow.runName']}: {len(run.artifacts)} checkpoints" for run in runs.values()
            )

    def settle(self) -> None:
        """Wait until the idle AWS nodes are terminated, then destroy the stack."""
        with self.report.step("terminate idle AWS nodes") as step:
            self.slurm.wait_idle()
            # The daemon terminates them after SuspendProgram's order; Slurm itself only waits for SuspendTimeout.
            try:
                self.slurm.wait_for(lambda: not self._instances(), "instances still run")
            except TimeoutError as error:
                raise DemoError(
                    f"{', '.join(self._instances())}: {error}",
                    f"the daemon's decisions: {self.slurm.directory}/decisions.jsonl",
                ) from None
            step.result = "no instance left"
        with self.report.step("pulumi destroy" if self.pulumi.engine else "delete the graph's resources") as step:
            step.result = f"{self.pulumi.destroy(step.note)} resources removed"

    def record_realities(self) -> None:
        """Record the real parts and the additions of a more capable machine, for the summary."""
        engine = self.pulumi.engine
        self.report.add_realities(
            Reality("environment file, plan, checks", "real", "the product's own code", ""),
            Reality("Pulumi", "real" if engine else "simulated", f"engine {engine.version}; provider and language host are stand-ins" if engine else "the same program, its graph applied without an engine: no previews, no refresh", "Pulumi's own provider, against a real account"),
            Reality("AWS", "simulated", "moto behind a stricter API; an instance is a local process", "the lab: an instance is a machine built by the same roles"),
            Reality("burst controller", "real", "programs, journal, daemon: launch, tags, registration, termination, as in service", ""),
            Reality("Slurm", "simulated", "a queue of 300 lines", "the lab: real slurmctld, slurmd, slurmdbd, cgroups"),
            Reality("training", "real", "JAX, data-parallel over local processes, on CPUs", "GPUs, NCCL, EFA"),
            Reality("MLflow", "real", "server on loopback, SQLite, artifacts on disk", "the lab: PostgreSQL, login, artifacts in S3"),
            Reality("tunnel, BGP, NFS, Ansible", "absent", "need machines of their own", "the lab: strongSwan, FRR, Ganesha, all roles"),
        )  # fmt: skip
        self.report.next_steps += [
            "",
            "Everything that was started has ended. The full level needs root, namespaces and about 6 GB of memory.",
        ]

    def simulated_slurm(self) -> SimulatedSlurm:
        """Return the simulated Slurm of the environment's nodes, with the burst programs."""
        groups = (*onprem_nodes(self.environment), *cloud_nodes(self.environment))
        config = {
            **burst_config(self.environment, self.built.outputs),
            "endpoint": self.cloud.endpoint,
            "credentials_file": str(self.cloud.launch_credentials),
        }
        nodes = [node for group in groups for node in _nodes(group)]
        return SimulatedSlurm(self.folder / "slurm", nodes, burst_config=config, suspend_time=IDLE_SECONDS)

    def _submit(self, name: str, options: Sequence[str]) -> EmbeddedJob:
        onprem = " ".join(name for group in onprem_nodes(self.environment) for name in group.names)
        script = (
            f'case " {onprem} " in *" $SLURMD_NODENAME "*) site=onprem;; *) site=aws;; esac\n'
            f'LANDBRIDGE_SITE=$site exec "{sys.executable}" "{TRAIN}" {" ".join(options)}\n'
        )
        variables = {
            "MLFLOW_TRACKING_URI": self.tracking.uri,
            "LANDBRIDGE_CLUSTER": self.environment.name,
            "JAX_PLATFORMS": "cpu",
            "OMP_NUM_THREADS": "1",
        }
        account = next(iter(self.environment.scheduler.accounts), "")
        return self.slurm.submit(nodes=SIZE, script=script, name=name, account=account, environment=variables)

    def _finish(self, job: EmbeddedJob, site: str) -> EmbeddedJob:
        try:
            self.slurm.wait(job)
        except TimeoutError as error:
            raise DemoError(str(error), f"its output: {job.directory}") from None
        if job.state != "COMPLETED":
            raise DemoError(
                f"{job.name} is {job.state} on {', '.join(job.nodes)}:\n{job.output()[-1500:]}",
                f"its output: {job.directory}",
            )
        sites = {
            name: group.site
            for group in (*onprem_nodes(self.environment), *cloud_nodes(self.environment))
            for name in group.names
        }
        if {sites[name] for name in job.nodes} != {site}:
            raise DemoError(f"{job.name} ran on {', '.join(job.nodes)}, not at site {site}")
        return job

    def _summarize(self, job: EmbeddedJob) -> DemoJob:
        run = self.tracking.runs("digits").get(str(job.id))
        if run is None or run.status != "FINISHED" or not run.artifacts:
            raise DemoError(f"MLflow does not have the whole run of {job.name}: {run}", f"its output: {job.directory}")
        # The cost of nodes starts with their allocation, before the job runs.
        cost = job_cost(self.environment, job.nodes, job.ended - job.started)
        running_since = _running_since(job)
        return DemoJob(
            name=job.name,
            job_id=str(job.id),
            site=run.tags["landbridge.site"],
            nodes=job.nodes,
            gpus=sum(self.slurm.nodes[name].gpus for name in job.nodes),
            state=job.state,
            waited_seconds=running_since - job.submitted,
            ran_seconds=job.ended - running_since,
            cost_usd=cost.usd,
            cost_basis=cost.basis,
            tracking_run=run.id,
            metrics={name: run.metrics[name] for name in ("test_accuracy", "loss")},
        )

    def _instances(self) -> list[str]:
        return [
            instance["id"]
            for instance in self.cloud.control()["instances"]
            if instance["state"] not in ("terminated", "shutting-down")
        ]


def _nodes(group: Nodes) -> list[EmbeddedNode]:
    return EmbeddedNode.many(group.hostlist, gpus=group.gpu_count, weight=group.weight, cloud=group.site == "aws")


def _running_since(job: EmbeddedJob) -> float:
    return max(time for time, state, _ in job.history if state == "RUNNING")
