"""Lab with two controllers, ctl01 and ctl02, and one host that is storage, database and node."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.environment import Environment, load_environment
from landbridge.ops.site_loss.dumps import problems_of, slurm_dump
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import ClusterError, LabCluster, wait_for
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import image_builder
from sandbox.nspawn.site import LabSite, Machine, plan
from tests.roles.ansible_run import ROOT, Played, connection, play, recap

ONPREM, CLOUD = IPv4Network("10.45.0.0/16"), IPv4Network("10.85.0.0/16")
ADDRESSES = {"ctl01": "10.45.0.11", "ctl02": "10.45.0.12", "dgx01": "10.45.1.11"}
LINK = {"kind": "vpn", "gateway_address": "3.3.3.3", "onprem_asn": 65010}
#: SlurmctldTimeout: the standby takes over after it.
TAKEOVER_SECONDS = 5
#: Folder of the store of secrets.
SECRETS = "secrets"
#: Secrets by their name in the store: the role variable, and the value before the first rotation.
_FIRST_SECRETS = {
    "slurm-key": ("slurm_common_key", "k" * 64),
    "slurm-database": ("slurm_database_password", "p" * 32),
    "slurm-jwt": ("slurm_common_jwt_key", "j" * 64),
}


def site() -> LabSite:
    """Return the lab's hosts."""
    storing = Machine("dgx01", ADDRESSES["dgx01"], gpus=8, storage=True)
    return plan(ONPREM, CLOUD, None, (*(Machine(name, ADDRESSES[name]) for name in ("ctl01", "ctl02")), storing))


def site_environment(
    folder: Path,
    release: str,
    controllers: Sequence[str],
    pools: Sequence[Mapping[str, Any]] = (),
    *,
    auth: str = "munge",
    **settings: Any,
) -> Environment:
    """Return the site's environment with `pools` in AWS and `settings` of slurm.conf."""
    services: dict[str, Any] = {
        "controller": list(controllers),
        "login": ["dgx01"],
        "gateway": "ctl01",
        "mlops": "ctl01",
    }
    services |= {"database": "dgx01", "storage": "dgx01"}
    machines = {"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"], "rack": "r1"}
    overrides = {
        "SlurmdParameters": "config_overrides",
        "HealthCheckProgram": None,
        "SlurmctldTimeout": TAKEOVER_SECONDS,
    }
    if not pools:
        # Slurm looks at begin times once in this interval, 60 s by default.
        overrides["SchedulerParameters"] = "batch_sched_delay=1,sched_interval=5"
    written: dict[str, Any] = {
        "owner": "control@example.org",
        "cost_center": "0000",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            "aws_credentials": "files",
            "nodes": [machines],
            "services": services,
            "addresses": {name: ADDRESSES[name] for name in controllers},
        },
        "aws": {"cidr": str(CLOUD), "pools": list(pools)},
        **({"link": LINK} if pools else {}),
        "storage": {"home": {"kind": "nfs", "export": "/export/home", "server": "ganesha"}, "data_hub": {"kind": "s3"}},
        "scheduler": {
            "slurm": {"version": release, "packages_mirror": None},
            "auth": auth,
            "cgroup": "v1",
            "accounts": {"vision": {"users": ["alice"], "data_class": "internal"}},
            "overrides": {"slurm_conf": {**overrides, **settings}},
            "rest": {},
        },
        "budget": {"monthly_usd": 1000},
    }
    path = folder / "Pulumi.control.yaml"
    path.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": written}}))
    loaded = load_environment(path)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


def configure(
    lab: Layout,
    chosen: Environment,
    book: Path,
    *,
    only: str = "all",
    first: Sequence[str] = (),
    extra_variables: Mapping[str, Any] | None = None,
) -> dict[str, int]:
    """Run the site's plays for these hosts with the planned variables; return the number of changes by host.

    The controllers get the roles `first` before slurmctld, and all hosts get `extra_variables`. `only` is `all`,
    `control` (the plays for a second controller), `files` (the play for a changed slurm.conf) or `secrets` (the plays
    whose roles write the database's password and the JWT key).
    """
    planned = inventory(chosen)
    variables = {**_variables(planned), **_secrets(book.parent), **(extra_variables or {})}
    controllers = ":".join(planned["slurm_controller"]["hosts"])
    mounts = {"nfs_client_mounts": planned["slurm_controller"]["vars"].get("landbridge_controller_mounts", [])}
    plays: list[dict[str, Any]] = [
        {"hosts": f"{controllers}:dgx01", "roles": ["base"]},
        {"hosts": "dgx01", "roles": ["nfs_server", "slurm_database"]},
        {"hosts": controllers, "roles": ["nfs_client", *first, "slurm_controller"], "vars": mounts},
        {"hosts": "dgx01", "roles": ["slurm_node", "slurm_rest"]},
    ]
    if only == "control":
        plays[1]["roles"].remove("slurm_database"), plays[3]["roles"].remove("slurm_rest")
    elif only == "files":
        plays = [{"hosts": controllers, "roles": ["slurm_controller"]}]
    elif only == "secrets":
        plays = [{"hosts": "dgx01", "roles": ["slurm_database"]}, {"hosts": controllers, "roles": ["slurm_controller"]}]
    book.write_text(json.dumps([{"gather_facts": False, **play} for play in plays]))
    image_builder.run_playbook(lab, book, ADDRESSES, variables, lambda line: print(f"  {line}", file=sys.stderr))
    log = (lab.state / "ansible" / f"{book.stem}.log").read_text()
    return {name: count["changed"] for name, count in recap(log).items()}


def rotate(lab: Layout, chosen: Environment, folder: Path, name: str) -> Played:
    """Run a rotation playbook, with the store of secrets of `configure` in `folder`."""
    planned = inventory(chosen)
    _secrets(folder)
    variables = {
        **_variables(planned),
        **connection(lab),
        "landbridge_secrets": str(folder / SECRETS),
        "landbridge_slurm_keys": False,
    }
    groups = {
        group: {"hosts": {host: {"ansible_host": ADDRESSES[host]} for host in planned[group]["hosts"]}}
        for group in ("slurm_controller", "slurm_database")
    }
    return play(
        lab, folder, ROOT / f"ansible/playbooks/{name}.yml", {"all": {"vars": variables, "children": groups}}
    ).good()


def restore(lab: Layout, chosen: Environment, folder: Path, host: str) -> float:
    """Fetch the newest dump of the accounting database as an operator does, and restore it on another host; return the seconds
    from the start of the role to a slurmdbd with the restored database.
    """
    password = _secrets(folder)["slurm_database_password"]

    def described(name: str) -> dict[str, Any]:
        known = _database_host(lab, chosen, folder, name)
        known["all"]["vars"]["slurm_database_host"] = host
        return known

    dumps = folder / "dumps"
    books = ROOT / "ansible/playbooks"
    play(lab, folder, books / "fetch_dumps.yml", described("dgx01"), "-e", f"dumps_folder={dumps}").good()
    (dump,) = (dumps / "slurm").iterdir()
    began = time.monotonic()
    roles = [{"hosts": host, "gather_facts": False, "roles": ["slurm_database"]}]
    play(lab, folder, roles, described(host)).good()
    played = play(lab, folder, books / "restore_databases.yml", described(host), "-e", f"slurm_dump={dump}").good()
    assert password not in played.text
    return time.monotonic() - began


def fenced(lab: Layout, chosen: Environment, folder: Path, host: str, state: str) -> Played:
    """Set or end the fence of the control plane on a host, as the return to the site does."""
    book = ROOT / "ansible/playbooks/fence_control_plane.yml"
    return play(lab, folder, book, _database_host(lab, chosen, folder, host), "-e", f"control_plane={state}").good()


def bring_back(lab: Layout, chosen: Environment, folder: Path, source: str, target: str) -> dict[str, float]:
    """Write the last dump of a fenced host and restore it on another one; return the seconds of each step."""
    dumps, books, seconds = folder / "last", ROOT / "ansible/playbooks", {}
    began = time.monotonic()
    final = books / "final_dumps.yml"
    play(lab, folder, final, _database_host(lab, chosen, folder, source), "-e", f"dumps_folder={dumps}").good()
    seconds["dump"] = time.monotonic() - began
    assert list(problems_of(dumps)) == []
    began = time.monotonic()
    restored = f"slurm_dump={dumps}/slurm/{slurm_dump(dumps)}"
    play(
        lab, folder, books / "restore_databases.yml", _database_host(lab, chosen, folder, target), "-e", restored
    ).good()
    seconds["restore"] = time.monotonic() - began
    return seconds


def _database_host(lab: Layout, chosen: Environment, folder: Path, host: str) -> dict[str, Any]:
    """Return the inventory of one host with Slurm's database."""
    variables = {**_variables(inventory(chosen)), **_secrets(folder), **connection(lab), "slurm_database_host": host}
    hosts = {host: {"ansible_host": ADDRESSES[host]}}
    return {"all": {"vars": variables, "children": {"slurm_database": {"hosts": hosts}}}}


def _variables(planned: Mapping[str, Any]) -> dict[str, Any]:
    variables: dict[str, Any] = dict(planned["all"]["vars"])
    for group in ("slurm_controller", "slurm_database", "nfs_server", "slurm_node", "slurm_rest"):
        variables |= planned[group]["vars"]
    return {**variables, "base_create_homes": True}


def _secrets(folder: Path) -> dict[str, str]:
    """Return the role variables with the secrets of the store, which has constant values before the first rotation."""
    (folder / SECRETS).mkdir(exist_ok=True)
    values = {}
    for name, (variable, first_value) in _FIRST_SECRETS.items():
        file = folder / SECRETS / name
        if not file.exists():
            file.write_text(first_value)
        values[variable] = file.read_text().strip()
    return values


@dataclass(frozen=True)
class Jobs(LabCluster):
    """The cluster, with commands of alice and of operators, on a host that both controllers answer."""

    def submit(self, seconds: float, *options: str) -> int:
        """Submit a batch job of one core."""
        return self._submit(f"sleep {seconds}; echo done", *options)

    def submit_until(self, file: str) -> int:
        """Submit a batch job of one core that ends when the file exists."""
        return self._submit(f"until test -e {file}; do sleep 0.2; done")

    def _submit(self, script: str, *options: str) -> int:
        words = [
            "sbatch",
            "--parsable",
            "--time=9",
            "--mem=100",
            "--cpus-per-task=1",
            "--chdir=/tmp",
            "--output=/tmp/%j.out",
        ]
        return int(self.run("dgx01", *words, *options, "--wrap", script, user="alice").strip())

    def state(self, number: int) -> str:
        """Return a job's state in Slurm."""
        shown = self.json("dgx01", "scontrol", "show", "job", str(number), "--json")
        return str(shown["jobs"][0]["job_state"][0])

    def running(self, number: int) -> int:
        """Wait until the job runs and return its number."""
        self.reach(f"job {number} to run", {number: "RUNNING"})
        return number

    def completed(self, *numbers: int) -> None:
        """Wait until the jobs are COMPLETED."""
        self.reach(f"jobs {numbers} to complete", dict.fromkeys(numbers, "COMPLETED"))

    def reach(self, subject: str, states: Mapping[int, str]) -> None:
        """Wait until each job has its state; a failed wait shows the queue, the nodes and the end of slurmctld's log."""
        wait_for(
            subject,
            lambda: {number: self.state(number) for number in states},
            lambda observed: observed == states,
            every=0.3,
            details=self.describe,
        )

    def describe(self) -> str:
        """Return the queue, the nodes, and the ends of both controllers' logs."""
        shown = self.run("dgx01", "sh", "-c", "timeout 60 scontrol show job; timeout 60 sinfo --Node --long; true")
        return "\n".join([shown, *(f"{name}:\n{self._log(name)}" for name in ("ctl01", "ctl02"))])

    def _log(self, name: str) -> str:
        try:
            return self.run(name, "tail", "-n", "20", "/var/log/slurm/slurmctld.log")
        except ClusterError as error:
            return str(error)
