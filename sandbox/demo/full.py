"""Full level of the demonstration: lab nodes, real Slurm, a real tunnel, and a job that bursts through it."""

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
GPUS_PER_NODE = 8
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
    record_realities(deployment.environment, report)
    if path.parent.name != "stacks":
        report.next_steps.append(f"Its environment, for other commands: --file {path}")
    return 0


def train_on_both_sites(deployment: BringUp, report: DemoReport) -> tuple[LabJob, LabJob]:
    """Run two equal jobs: job 1 occupies the on-prem nodes, so job 2 runs in AWS; return both."""
    user = Researcher(deployment.cluster, deployment.environment, deployment.environment.users[0].name)
    user.bring_example()
    with report.step("job 1: train on-prem") as step:
        first = user.train("digits-1", ["--epochs", str(FIRST_EPOCHS), "--seconds-per-epoch-floor", str(FIRST_FLOOR)])
        wait_for("job 1 to run", lambda: user.state(first), lambda job: job.state == "RUNNING")
        step.result = f"job {first} runs on {', '.join(user.state(first).nodes)}"
    with report.step("job 2: no free on-prem node, so it runs in AWS") as step:
        second = user.train("digits-2", ["--epochs", str(SECOND_EPOCHS)])
        second_ended = user.finish(second)
        step.result = f"job {second} ran on {', '.join(second_ended.nodes)}"
    with report.step("wait for the end of job 1") as step:
        first_ended = user.finish(first)
        step.result = f"job {first} ran on {', '.join(first_ended.nodes)}"
    with report.step("read the burst controller's decisions") as step:
        step.result = launches_of(deployment, second) or "its log is empty"
    with report.step("read both runs from MLflow") as step:
        for number, name, completed_job in ((first, "digits-1", first_ended), (second, "digits-2", second_ended)):
            report.add_job(
                summarize(deployment.environment, name, completed_job, user.run_of(number), _submitted(user, number))
            )
        step.result = f"{len(user.runs())} runs, {count_stored_objects(deployment)} objects in the bucket"
    return first_ended, second_ended


def summarize(environment: Environment, name: str, job: LabJob, run: TrainingRun, submitted: int) -> DemoJob:
    """Return a job's row of the summary."""
    seconds = max(1, job.ended - job.started)
    cost = job_cost(environment, job.nodes, seconds)
    return DemoJob(
        name=name,
        job_id=str(job.id),
        site=run.tags.get("landbridge.site", "unknown"),
        nodes=job.nodes,
        gpus=GPUS_PER_NODE * len(job.nodes),
        state=job.state,
        waited_seconds=max(0, job.started - submitted),
        ran_seconds=seconds,
        cost_usd=cost.usd,
        cost_basis=cost.basis,
        tracking_run=run.id,
        metrics={key: run.metrics[key] for key in ("accuracy", "test_accuracy", "loss") if key in run.metrics},
    )


def _submitted(user: Researcher, number: int) -> int:
    job = user.cluster.json(user.controller, "scontrol", "show", "job", str(number), "--json")["jobs"][0]
    return int(job["submit_time"]["number"])


def clients(deployment: BringUp, service: str):
    """Return a boto3 client of the emulated AWS with the operator's credentials."""
    cloud = ensure_cloud(deployment.lab, deployment.environment)
    session = boto3.Session(region_name=deployment.environment.region)
    credentials = dict(
        line.split(" = ") for line in cloud.operator_credentials.read_text().splitlines() if " = " in line
    )
    create_client: Any = session.client  # the name of the service is known at run time only
    return create_client(
        service,
        endpoint_url=cloud.endpoint,
        aws_access_key_id=credentials["aws_access_key_id"],
        aws_secret_access_key=credentials["aws_secret_access_key"],
    )


def count_stored_objects(deployment: BringUp) -> int:
    """Return the number of objects that MLflow has stored in the data hub."""
    s3 = clients(deployment, "s3")
    buckets = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    return sum(s3.list_objects_v2(Bucket=name).get("KeyCount", 0) for name in buckets)


def instances(deployment: BringUp) -> list[str]:
    """Return the ids of instances in a billed or transitional state."""
    pages = clients(deployment, "ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "shutting-down"]}]
    )
    return [instance["InstanceId"] for group in pages["Reservations"] for instance in group["Instances"]]


def decisions(deployment: BringUp) -> list[dict[str, Any]]:
    """Return the burst controller's decisions from its log: offerings, actions and prices."""
    controller = service_hosts(deployment.environment).controllers[0]
    return [json.loads(line) for line in deployment.cluster.run(controller, "cat", DECISIONS).splitlines()]


def launches_of(deployment: BringUp, number: int) -> str:
    """Return the burst controller's launches for a job in one line; empty if there are none."""
    launches = []
    for decision in decisions(deployment):
        if decision["event"] == "launched" and number in decision.get("jobs", ()):
            hold = f", hold at most ${decision['usd']:,.2f}" if decision.get("usd") else ""
            launches.append(f"{len(decision['nodes'])} nodes at {decision['details']['offering']}{hold}")
    return "; ".join(launches)


def settle(deployment: BringUp, report: DemoReport) -> None:
    """Wait until the burst controller has terminated the idle AWS nodes."""
    with report.step("terminate idle AWS nodes") as step:
        step.note(
            f"{len(instances(deployment))} instances run; "
            f"nodes are suspended after {deployment.environment.aws.pools[0].suspend_after} s idle"
        )
        wait_for("the last instance to end", lambda: instances(deployment), lambda running: not running, every=1)
        step.result = "no instance left"


def record_realities(environment: Environment, report: DemoReport) -> None:
    """Record which parts were real, and the next commands, for the summary."""
    report.add_realities(
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
        Reality("storage", "real", "NFS by Ganesha, the data hub in S3's API", "kernel NFS, FSx for Lustre"),
        Reality(
            "MLflow", "real", "PostgreSQL, TLS of the site's CA, artifacts through the server, logins", "LDAP accounts"
        ),
    )
    login = service_hosts(environment).logins[0]
    report.next_steps += [
        "",
        f"The cluster stays up: landbridge sandbox shell {login}, then `su - {environment.users[0].name}` and `sbatch`.",
        "`make down` removes it.",
    ]
