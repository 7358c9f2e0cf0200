"""Lab for jobs on real nodes: a controller, a login host and a GPU node."""

import json
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.environment import Environment, load_environment
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import LabCluster, wait_for
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import image_builder
from sandbox.nspawn.site import Machine, plan

ONPREM, CLOUD = IPv4Network("10.31.0.0/16"), IPv4Network("10.71.0.0/16")
ADDRESSES = {"ctl01": "10.31.0.11", "login01": "10.31.0.13", "dgx01": "10.31.1.11"}
GPUS = 8
SITE = plan(
    ONPREM,
    CLOUD,
    None,
    (
        Machine("ctl01", ADDRESSES["ctl01"]),
        Machine("login01", ADDRESSES["login01"]),
        Machine("dgx01", ADDRESSES["dgx01"], gpus=GPUS),
    ),
)
# Only the parts that jobs need: no accounting, homes on each host's own disk.
ABSENT = ("AccountingStorageType", "AccountingStorageHost", "AccountingStorageTRES", "AccountingStorageEnforce")


def environment(folder: Path, release: str) -> Environment:
    services: dict[str, Any] = {"controller": ["ctl01"], "login": ["login01"]}
    services |= dict.fromkeys(("database", "storage", "gateway", "mlops"), "ctl01")
    nodes = {"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"], "rack": "r1"}
    written: dict[str, Any] = {
        "owner": "jobs@example.org",
        "cost_center": "0000",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}],
        "onprem": {
            "cidr": str(ONPREM),
            "aws_credentials": "files",
            "nodes": [nodes],
            "services": services,
            "addresses": {name: ADDRESSES[name] for name in ("ctl01", "login01")},
        },
        "aws": {"cidr": str(CLOUD)},
        "storage": {"home": {"kind": "nfs", "export": "/export/home"}, "data_hub": {"kind": "s3"}},
        "scheduler": {
            # The lab's image has the package suites configured.
            "slurm": {"version": release, "packages_mirror": None},
            "cgroup": "v1",
            # Lab nodes have two cores but declare a DGX's: slurm.conf decides.
            "overrides": {"slurm_conf": {**dict.fromkeys(ABSENT), "SlurmdParameters": "config_overrides"}},
        },
        "budget": {"monthly_usd": 1000},
    }
    path = folder / "Pulumi.jobs.yaml"
    path.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": written}}))
    loaded = load_environment(path).environment
    assert loaded is not None
    return loaded


def configure(lab: Layout, chosen: Environment, book: Path) -> None:
    """Run the site's plays for these hosts, with the variables of the plan."""
    planned = inventory(chosen)
    variables = {**planned["all"]["vars"], **planned["slurm_controller"]["vars"], "slurm_controller_database_host": ""}
    variables |= {"base_create_homes": True, "slurm_common_key": "k" * 64, "slurm_adopt_exempt_users": ["keeper"]}
    variables |= {"slurm_job_environment_gpu_reset": True}
    plays = [
        {"hosts": hosts, "gather_facts": False, "roles": roles}
        for hosts, roles in (
            ("all", ["base"]),
            ("ctl01", ["slurm_controller"]),
            ("dgx01", ["slurm_node", "slurm_job_environment", "slurm_adopt"]),
            ("login01", ["slurm_login"]),
        )
    ]
    book.write_text(json.dumps(plays))
    # Slurm's roles once as operators run them, without the sandbox's accelerator.
    image_builder.run_playbook(lab, book, ADDRESSES, variables, fast=False)


def node(cluster: LabCluster) -> dict[str, Any]:
    return dict(cluster.json("ctl01", "scontrol", "show", "node", "dgx01", "--json")["nodes"][0])


def state(cluster: LabCluster) -> str:
    return "+".join(node(cluster)["state"])


def submit(cluster: LabCluster, script: str, *options: str, user: str = "alice") -> int:
    """Submit a batch job of one core, and of one GPU unless there are `options`."""
    words = [
        "sbatch",
        "--parsable",
        "--time=5",
        "--mem=100",
        "--cpus-per-task=1",
        "--chdir=/tmp",
        "--output=/tmp/%j.out",
    ]
    words += options or ("--gpus=1",)
    return int(cluster.run("login01", *words, "--wrap", script, user=user).strip())


def job_state(cluster: LabCluster, number: int) -> str:
    return str(cluster.json("ctl01", "scontrol", "show", "job", str(number), "--json")["jobs"][0]["job_state"][0])


def running(cluster: LabCluster, number: int) -> int:
    wait_for(
        f"job {number} to run",
        lambda: job_state(cluster, number),
        lambda state: state == "RUNNING",
        every=0.2,
        details=lambda: describe(cluster),
    )
    return number


def cancel(cluster: LabCluster, *numbers: int) -> None:
    """Cancel jobs and wait until their epilogs have ended."""
    cluster.run("ctl01", "scancel", *map(str, numbers))
    listed = ("squeue", "-h", "-j", ",".join(map(str, numbers)))
    wait_for(
        "the jobs and their epilogs to end",
        lambda: cluster.run("ctl01", *listed),
        lambda lines: lines == "",
        details=lambda: describe(cluster),
    )


def describe(cluster: LabCluster) -> str:
    """Return the jobs, the nodes and the end of slurmctld's log."""
    shown = "scontrol show job; scontrol show node; tail -n 20 /var/log/slurm/slurmctld.log"
    return cluster.run("ctl01", "sh", "-c", shown)


def processes(cluster: LabCluster, *words: str) -> list[int]:
    """Return the pids of processes on the node with exactly this command line."""
    lines = cluster.run("dgx01", "ps", "-eo", "pid=,args=").splitlines()
    return [
        int(pid) for pid, _, args in (line.strip().partition(" ") for line in lines) if args.strip() == " ".join(words)
    ]
