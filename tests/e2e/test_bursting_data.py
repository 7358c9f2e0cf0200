"""Jobs in AWS that state their data: copied by the mover while the job is held, before an instance is launched."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from landbridge.burst.staging.decide import RELEASED_PREFIX
from landbridge.paths import outputs_file
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.roles.hosts.data_mover import LEDGER
from sandbox.demo.bring_up import BringUp
from sandbox.demo.full import clients
from tests.e2e.support.bursting import POOL, Bursting, fresh, scaled
from tests.e2e.support.staged_data import MOUNT

#: Another dataset in each run: a version cannot be put twice, and the cluster may be one of an earlier run.
CORPUS = f"corpus-{time.time_ns():x}"
pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.signing_helper]
PUT = "/root/put"
#: Prints the path that Slurm shows to the job, the seconds since 1970, and each file with its SHA-256.
READ = """import boto3, hashlib, json, os, subprocess, time
shown = subprocess.run(["scontrol", "show", "job", os.environ["SLURM_JOB_ID"], "--json"], capture_output=True, check=True)
path = json.loads(shown.stdout)["jobs"][0]["admin_comment"].rpartition(" ")[2]
print("path", path, time.time())
bucket, _, prefix = path.removeprefix("s3://").partition("/")
s3 = boto3.client("s3")
for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix + "/"):
    for entry in page["Contents"]:
        digest = hashlib.sha256()
        for part in s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"].iter_chunks(1 << 20):
            digest.update(part)
        print("file", entry["Key"].removeprefix(prefix + "/"), digest.hexdigest())
"""


@dataclass(frozen=True)
class StorageHost:
    """Storage host of the site, on which the commands of `landbridge data` run."""

    deployment: BringUp

    def shell(self, script: str) -> str:
        host = service_hosts(self.deployment.environment).storage
        return self.deployment.cluster.run(host, "sh", "-c", script, timeout=900)

    def write(self, path: str, content: bytes) -> None:
        self.deployment.cluster.put(service_hosts(self.deployment.environment).storage, path, content, "root")

    def put_dataset(self, version: str, megabytes: int) -> dict[str, str]:
        """Put a folder as `CORPUS:VERSION` by the commands of move-a-dataset.md; return the SHA-256 of each file."""
        self.write(f"{PUT}/{self.deployment.path.name}", self.deployment.path.read_bytes())
        self.write(f"{PUT}/outputs.json", outputs_file(self.deployment.name).read_bytes())
        folder = f"{PUT}/{version}"
        self.shell(
            f"mkdir -p {folder}/part && head -c {megabytes}M /dev/urandom > {folder}/large"
            f" && head -c 100000 /dev/urandom > {folder}/part/a && echo b > {folder}/part/b"
        )
        options = f"--class internal --file {PUT}/{self.deployment.path.name} --outputs {PUT}/outputs.json --yes"
        self.shell(f"/opt/landbridge/mover/bin/landbridge data put {folder} {CORPUS}:{version} {options}")
        listed = self.shell(f"cd {folder} && find . -type f -printf '%P\\n' | xargs sha256sum && rm -r {folder}")
        return {name: digest for digest, name in (line.split() for line in listed.splitlines())}

    def transfers(self, version: str) -> dict[str, dict[str, Any]]:
        """Return the lines of the mover's ledger about a version in AWS, by event."""
        rows = [json.loads(line) for line in self.shell(f"cat {LEDGER}").splitlines()]
        begun = [row for row in rows if row.get("dataset") == f"{CORPUS}:{version}" and row.get("command") == "place"]
        (transfer,) = {row["transfer"] for row in begun}
        return {row["event"]: row for row in rows if row["transfer"] == transfer}


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    with scaled(deployment) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


def run_job(bursting: Bursting, partition: str, version: str, script: str) -> tuple[int, list[list[str]]]:
    """Run a job that states a version of the dataset; return its id, and the words of each line that it printed."""
    cluster, user = bursting.deployment.cluster, bursting.user
    home = f"{bursting.deployment.environment.storage.home.mount}/{user}"
    text = f"#!/bin/bash\n#LANDBRIDGE data={CORPUS}:{version}\n{script}\n"
    cluster.put(bursting.login, f"{home}/staged.sh", text.encode(), user)
    options = [f"--partition={partition}", "--gpus-per-node=8", "--time=10", f"--chdir={home}", "--output=%j.out"]
    words = ["sbatch", "--parsable", *options, f"{home}/staged.sh"]
    number = int(cluster.run(bursting.login, *words, user=user))
    ended = bursting.ended(number)
    assert ended.restarts == 0 and ended.comment == f"data={CORPUS}:{version}"
    output = cluster.run(bursting.login, "cat", f"{home}/{number}.out", user=user)
    return number, [line.split() for line in output.splitlines()]


def test_a_job_on_prem_is_held_until_its_data_are_in_the_sites_folder(deployment: BringUp, bursting: Bursting) -> None:
    digests = StorageHost(deployment).put_dataset("site", 4)
    folder = f"{MOUNT}/internal/{CORPUS}/site"
    number, lines = run_job(
        bursting, "onprem", "site", f"cd {folder} && find . -type f -printf '%P\\n' | xargs sha256sum"
    )
    read = {name: digest for digest, name in lines}
    assert {name: read.get(name) for name in digests} == digests
    texts = [row["text"] for row in bursting.records("data", number)]
    assert texts[-1] == f"{RELEASED_PREFIX}{folder}" and bursting.launched(number) == []


@pytest.mark.long
@pytest.mark.parametrize(("version", "megabytes"), [("small", 4), ("large", 1024)])
def test_no_second_of_an_instance_is_spent_on_the_copy(
    deployment: BringUp, bursting: Bursting, version: str, megabytes: int
) -> None:
    host = StorageHost(deployment)
    digests = host.put_dataset(version, megabytes)
    home = f"{deployment.environment.storage.home.mount}/{bursting.user}"
    deployment.cluster.put(bursting.login, f"{home}/read.py", READ.encode(), bursting.user)
    number, lines = run_job(bursting, POOL, version, f"srun --ntasks=1 python3 {home}/read.py")
    # The job found every file of the dataset, unchanged, at the place that Slurm shows.
    ((_, path, began),) = [line for line in lines if line[0] == "path"]
    assert path.startswith("s3://") and path.endswith(f"/datasets/files/{CORPUS}/{version}")
    read = {line[1]: line[2] for line in lines if line[0] == "file"}
    assert {name: read.get(name) for name in digests} == digests
    # Order of the events: end of the copy, release of the job, call of EC2, billing of the instance, the job's first second.
    transfer = host.transfers(version)
    assert transfer["end"]["bytes"] == megabytes * 2**20 + 100_002
    began_copy, copied = (seconds(transfer[event]) for event in ("begin", "end"))
    (released,) = [row for row in bursting.records("data", number) if row["text"].startswith(RELEASED_PREFIX)]
    called = min(seconds(row) for row in bursting.records("launch", number))
    billed = min(instance_start(deployment, instance["id"]) for instance in bursting.launched(number))
    # The ledger, the decision log and EC2 have whole seconds.
    assert copied <= seconds(released) <= called and copied <= billed <= float(began)
    print(f"{version}: copy of {copied - began_copy:.0f} s, instance {billed - copied:.0f} s after its end")


def seconds(row: dict[str, Any]) -> float:
    """Return the time of a row of a ledger or of the decision log, in seconds since 1970."""
    return datetime.fromisoformat(row["time"]).timestamp()


def instance_start(deployment: BringUp, instance: str) -> float:
    """Return the time from which EC2 bills an instance."""
    answer = clients(deployment, "ec2").describe_instances(InstanceIds=[instance])
    started: datetime = answer["Reservations"][0]["Instances"][0]["LaunchTime"]
    return started.astimezone(UTC).timestamp()
