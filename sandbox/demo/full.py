"""The full level: real nodes, real Slurm, a real tunnel, and a job that bursts over it."""

import json
from pathlib import Path
from typing import Any

import boto3

from landbridge.burst.journal import paths as files
from landbridge.environment import Environment
from landbridge.plan.cost.job_cost import job_cost
from landbridge.plan.network.hosts import service_hosts
from sandbox.demo.bring_up import BringUp, bring_up
from sandbox.demo.cluster import ClusterError, LabJob, wait_for
from sandbox.demo.report import DemoError, DemoJob, DemoReport, Reality
from sandbox.demo.training import Researcher, TrainingRun
from sandbox.session import ensure_cloud

# Job 1 must still hold the on-prem GPUs when job 2 is submitted and while its nodes boot.
FIRST_EPOCHS, FIRST_FLOOR = 10, 2.5
SECOND_EPOCHS = 8
GPUS_A_NODE = 8
DECISIONS = f"{files.STATE_DIR}/{files.DECISIONS}"


def run(path: Path, report: DemoReport) -> int:
    """Build the cluster, run both jobs and show their results; return 0 if every step passed."""
    try:
        deployment = bring_up(path, report)
        train_on_both_sites(deployment, report)
        settle(deployment, report)
    except ClusterError as error:
        raise DemoError(
            str(error), "landbridge sandbox shell NODE shows more; `make down` removes everything"
        ) from error
    tell(deployment.environment, report)
    return 0


def train_on_both_sites(deployment: BringUp, report: DemoReport) -> tuple[LabJob, LabJob]:
    """Job 1 takes the on-prem nodes; job 2 of the same kind finds no room there and goes to AWS."""
    user = Researcher(deployment.cluster, deployment.environment, deployment.environment.users[0].name)
    user.bring_example()
    with report.step("job 1: train on-prem") as step:
        first = user.train("digits-1", ["--epochs", str(FIRST_EPOCHS), "--seconds-per-epoch-floor", str(FIRST_FLOOR)])
        wait_for("job 1 to run", lambda: user.state(first), lambda job: job.state == "RUNNING")
        step.result = f"job {first} runs on {', '.join(user.state(first).nodes)}"
    with report.step("job 2: no free on-prem node, so it runs in AWS") as step:
        second = user.train("digits-2", ["--epochs", str(SECOND_EPOCHS)])
        ended = user.finish(second)
        step.result = f"job {second} ran on {', '.join(ended.nodes)}"
    with report.step("wait for the end of job 1") as step:
        first_ended = user.finish(first)
        step.result = f"job {first} ran on {', '.join(first_ended.nodes)}"
    with report.step("read the burst controller's decisions") as step:
        step.result = decided(deployment, second) or "its log is empty"
    with report.step("read both runs from MLflow") as step:
        for number, name, done in ((first, "digits-1", first_ended), (second, "digits-2", ended)):
            report.ran(describe(deployment.environment, name, done, user.run_of(number), _submitted(user, number)))
        step.result = f"{len(user.runs())} runs, {stored(deployment)} objects in the bucket"
    return first_ended, ended


def describe(environment: Environment, name: str, done: LabJob, run: TrainingRun, submitted: int) -> DemoJob:
    """A job as the summary tells it."""
    seconds = max(1, done.ended - done.started)
    cost = job_cost(environment, done.nodes, seconds)
    return DemoJob(
        name=name,
        job_id=str(done.id),
        site=run.tags.get("landbridge.site", "unknown"),
        nodes=done.nodes,
        gpus=GPUS_A_NODE * len(done.nodes),
        state=done.state,
        waited_seconds=max(0, done.started - submitted),
        ran_seconds=seconds,
        cost_usd=cost.usd,
        cost_basis=cost.basis,
        tracking_run=run.id,
        metrics={key: run.metrics[key] for key in ("accuracy", "test_accuracy", "loss") if key in run.metrics},
    )


def _submitted(user: Researcher, number: int) -> int:
    job = user.cluster.json(user.controller, "scontrol", "show", "job", str(number), "--json")["jobs"][0]
    return int(job["submit_time"]["number"])


def clients(deployment: BringUp, service: str):  # type: ignore[no-untyped-def]
    """A boto3 client at the emulated AWS with the operator's credentials."""
    cloud = ensure_cloud(deployment.lab, deployment.environment)
    session = boto3.Session(region_name=deployment.environment.region)
    pair = dict(line.split(" = ") for line in cloud.operator_credentials.read_text().splitlines() if " = " in line)
    return session.client(
        service,
        endpoint_url=cloud.endpoint,
        aws_access_key_id=pair["aws_access_key_id"],
        aws_secret_access_key=pair["aws_secret_access_key"],
    )


def stored(deployment: BringUp) -> int:
    """Objects that MLflow has put into the hub."""
    s3 = clients(deployment, "s3")
    buckets = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    return sum(s3.list_objects_v2(Bucket=name).get("KeyCount", 0) for name in buckets)


def instances(deployment: BringUp) -> list[str]:
    """Instances that AWS would bill now."""
    pages = clients(deployment, "ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "shutting-down"]}]
    )
    return [instance["InstanceId"] for group in pages["Reservations"] for instance in group["Instances"]]


def decisions(deployment: BringUp) -> list[dict[str, Any]]:
    """Return the burst controller's decisions from its log: offerings, actions and prices."""
    controller = service_hosts(deployment.environment).controllers[0]
    return [json.loads(line) for line in deployment.cluster.run(controller, "cat", DECISIONS).splitlines()]


def decided(deployment: BringUp, number: int) -> str:
    """The controller's launches for a job, in a line."""
    launches = []
    for decision in decisions(deployment):
        if decision["event"] == "launched" and number in decision.get("jobs", ()):
            held = f", ${decision['usd']:,.2f} held at worst" if decision.get("usd") else ""
            launches.append(f"{len(decision['nodes'])} nodes at {decision['details']['offering']}{held}")
    return "; ".join(launches)


def settle(deployment: BringUp, report: DemoReport) -> None:
    """Idle AWS nodes are given back."""
    with report.step("terminate idle AWS nodes") as step:
        step.note(
            f"{len(instances(deployment))} instances run; nodes go after {deployment.environment.aws.pools[0].suspend_after} s idle"
        )
        wait_for("the last instance to end", lambda: instances(deployment), lambda running: not running, every=1)
        step.result = "no instance left"


def tell(environment: Environment, report: DemoReport) -> None:
    """Print which parts were real, and the next commands."""
    report.was(
        Reality("Pulumi", "real", "its engine, state and diffs", "Pulumi's own AWS provider and language host"),
        Reality(
            "AWS",
            "simulated",
            "moto behind a stricter API; instances are lab nodes",
            "capacity, EFA, quotas, an invoice",
        ),
        Reality("Slurm", "real", "controller, database, accounting, power saving", "more nodes"),
        Reality("GPUs", "simulated", "device nodes; training runs on the CPU", "NVIDIA silicon, drivers, NCCL"),
        Reality(
            "tunnel", "real", "IKEv2 and ESP in UDP by strongSwan, BGP by FRR", "AWS's end of it, the second tunnel"
        ),
        Reality("storage", "real", "NFS by Ganesha, the hub in S3's API", "kernel NFS, FSx for Lustre"),
        Reality("MLflow", "real", "PostgreSQL, artifacts through the server, logins", "TLS in front"),
    )
    login = service_hosts(environment).logins[0]
    report.next_steps += [
        "",
        f"The cluster stays up: landbridge sandbox shell {login}, then `su - {environment.users[0].name}` and `sbatch`.",
        "`make down` removes it.",
    ]
