"""Mover of jobs' data on a host: the role twice, and copies by its hardened service with the role `mover` in the emulated AWS."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from landbridge.aws_api.objects import DataAccess, TransferRate
from landbridge.catalog.aws.datasets import datasets
from landbridge.live.datasets import scan, upload
from landbridge.plan.aws.access.iam_policies import mover
from landbridge.plan.roles.hosts.data_mover import LEDGER
from landbridge.plan.site.data_exchange import EXPORT
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import operator_address
from tests.roles.ansible_run import Played, connection, play
from tests.roles.storage.object_store_lab import ADDRESS, ENDPOINT, HOST, HUB_BUCKET, ONPREM, SITE
from tests.unit.aws_emulator.conftest import client_of

pytestmark = [pytest.mark.lab, pytest.mark.long]
ACCOUNT, REGION = "123456789012", "us-east-1"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/test-mover"
EXCHANGE, FOLDER, PROFILES = f"{EXPORT}/test", "/export/home/datasets", "/root/mover-profiles"
CONFIG: dict[str, Any] = {
    "region": REGION,
    "exchange": EXCHANGE,
    "folder": FOLDER,
    "mount": "/home/datasets",
    "ledger": LEDGER,
    "classes": {
        "internal": {"sites": ["onprem", "aws"], "bucket": HUB_BUCKET, "mount": None},
        "restricted": {"sites": ["onprem"], "bucket": None, "mount": None},
    },
    "workers": 2,
    "role": ROLE,
    "endpoint": f"http://{ENDPOINT}",
    "credentials": PROFILES,
    "profile": "mover",
}


@dataclass(frozen=True)
class MoverMachine:
    """The storage host."""

    lab: Layout
    folder: Path

    def run(self, command: str) -> str:
        done = nodes.exec(self.lab, HOST, [command], timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str) -> Played:
        variables = {
            "data_mover_config": CONFIG,
            "data_mover_find_links": f"http://{operator_address(ONPREM)}:3143/",
            "data_mover_folders": [{"path": f"{FOLDER}/{name}", "group": ""} for name in CONFIG["classes"]],
        }
        host = {"ansible_host": ADDRESS, **connection(self.lab)} | variables
        book = [{"hosts": HOST, "gather_facts": False, "roles": ["data_mover"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {HOST: host}}}, *words, timeout=600)

    def request(self, *places: tuple[str, str, str]) -> None:
        """Write requests as the burst controller does: datasets with their class and site."""
        rows = [{"dataset": name, "data_class": group, "site": site, "copy": True} for name, group, site in places]
        text = quote(json.dumps({"requests": rows}))
        self.run(f"printf %s {text} > {EXCHANGE}/next && mv {EXCHANGE}/next {EXCHANGE}/requests.json")

    def reports(self) -> dict[tuple[str, str], dict[str, Any]]:
        text = self.run(f"cat {EXCHANGE}/reports.json 2>/dev/null || echo '{{}}'")
        return {(row["dataset"], row["site"]): row for row in json.loads(text).get("reports", [])}


def put_dataset(cloud: EmulatorProcess, folder: Path) -> str:
    """Create the bucket and the role, put a dataset, and return a profile with a session of the role."""
    s3, iam, kms = (client_of(cloud, service) for service in ("s3", "iam", "kms"))
    key = kms.create_key()["KeyMetadata"]["Arn"]
    s3.create_bucket(Bucket=HUB_BUCKET)
    trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
    documents = [
        json.dumps({"Version": "2012-10-17", "Statement": statements})
        for statements in ([trust], mover([f"arn:aws:s3:::{HUB_BUCKET}"], [key]))
    ]
    iam.create_role(RoleName="test-mover", AssumeRolePolicyDocument=documents[0])
    iam.put_role_policy(RoleName="test-mover", PolicyName="landbridge", PolicyDocument=documents[1])
    source = folder / "source"
    (source / "part").mkdir(parents=True)
    (source / "part/a").write_bytes(b"a" * 3_000_000)
    (source / "b").write_bytes(b"b")
    files, findings = scan(source)
    assert findings == []
    access = DataAccess(REGION, cloud.endpoint, "default", str(cloud.operator_credentials))
    bucket = access.bucket(HUB_BUCKET, 2, TransferRate(None), None)
    named = {"name": "corpus", "version": "v1", "data_class": "internal"}
    upload(bucket, source, files, facts=datasets(), created=datetime.now(UTC), **named)
    keys = client_of(cloud, "sts").assume_role(RoleArn=ROLE, RoleSessionName=HOST)["Credentials"]
    return (
        f"[mover]\naws_access_key_id = {keys['AccessKeyId']}\naws_secret_access_key = {keys['SecretAccessKey']}\n"
        f"aws_session_token = {keys['SessionToken']}\n"
    )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoverMachine]:
    lab, folder = layout("landbridge-test-mover"), tmp_path_factory.mktemp("mover")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options) as cloud:
            host = MoverMachine(lab, folder)
            profile = put_dataset(cloud, folder)
            host.run(f"umask 077; printf %s {quote(profile)} > {PROFILES}; umask 022; mkdir -p {EXCHANGE}")
            host.converge("--check").good()
            host.converge().good()
            yield host
    finally:
        cleanup.down(lab)


def test_a_second_run_and_a_check_change_nothing(machine: MoverMachine) -> None:
    assert machine.converge().good().changed == {HOST: 0}
    assert machine.converge("--check").good().changed == {HOST: 0}


def test_the_service_copies_to_both_sites_and_refuses_what_may_not_be_in_aws(machine: MoverMachine) -> None:
    wanted = [("corpus:v1", "internal", "onprem"), ("corpus:v1", "internal", "aws"), ("scans:1", "restricted", "aws")]
    machine.request(*wanted)
    states = wait_for(
        "reports of all places",
        lambda: {place: row["state"] for place, row in machine.reports().items()},
        lambda seen: len(seen) == 3 and not {"absent", "moving"} & set(seen.values()),
        details=lambda: machine.run("journalctl --no-pager -u landbridge-mover | tail -n 30"),
    )
    assert states == {
        ("corpus:v1", "onprem"): "present",
        ("corpus:v1", "aws"): "present",
        ("scans:1", "aws"): "refused",
    }
    assert (
        machine.run(f"cat {FOLDER}/internal/corpus/v1/b; stat -c %s {FOLDER}/internal/corpus/v1/part/a") == "b3000000"
    )
    assert machine.run("systemctl show --property=NRestarts --value landbridge-mover") == "0"


def test_a_killed_service_returns_and_copies_nothing_again(machine: MoverMachine) -> None:
    lines = machine.run(f"wc -l < {LEDGER}")
    machine.run("systemctl kill --signal=KILL landbridge-mover")
    wait_for(
        "the next start",
        lambda: machine.run("systemctl show --property=NRestarts,ActiveState landbridge-mover"),
        lambda seen: "ActiveState=active" in seen and "NRestarts=0" not in seen,
    )
    before = machine.run(f"stat -c %Y {EXCHANGE}/reports.json")
    wait_for("a report", lambda: machine.run(f"stat -c %Y {EXCHANGE}/reports.json"), lambda seen: seen != before)
    assert machine.run(f"wc -l < {LEDGER}") == lines
