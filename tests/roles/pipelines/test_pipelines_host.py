"""The service of pipelines on a host with Slurm 24.11 and slurmdbd: a run by hand of a user ends with a real job."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from landbridge.pipelines.runs.names import job_name
from landbridge.pipelines.runs.request import PipelineSource, RunRequest
from landbridge.pipelines.service.queue import ENDED, FOLDER, REFUSED, REQUESTS
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play
from tests.roles.slurm.existing_slurm_lab import ADDRESSES, CLOUD, HEAD, ONPREM, ExistingSite

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(900)]
SITE = plan(ONPREM, CLOUD, None, (Machine(HEAD, ADDRESSES[HEAD]),))
UNIT = "landbridge-pipelines"
HOME = "/home/alice"
CONFIG = {
    "accounts": {"vision": "internal"},
    "owners": ["alice"],
    "settle_seconds": 420,
    "sbatch_seconds": 60,
    "unknown_results": ["Socket timed out"],
    "interval_seconds": 1,
}
SCRIPT = """#!/bin/sh
echo "$(id -un) $LANDBRIDGE_PIPELINE_STEP $LANDBRIDGE_TRIGGER"
echo '{"accuracy": 0.97}' > "$LANDBRIDGE_RUN_FOLDER/metrics.json"
"""


@dataclass(frozen=True)
class PipelinesHost(ExistingSite):
    """The host with the role, and requests of alice."""

    folder: Path

    def converge(self, *words: str) -> Played:
        variables = {
            "ansible_host": ADDRESSES[HEAD],
            **connection(self.lab),
            "pipelines_config": CONFIG,
            "pipelines_find_links": f"http://{operator_address(ONPREM)}:3143/",
        }
        book = [{"hosts": HEAD, "gather_facts": False, "roles": ["pipelines"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {HEAD: variables}}}, *words, timeout=600)

    def request(self, key: str, at_least: float, owner: str = "alice") -> RunRequest:
        """Write a request of alice as `landbridge pipeline run` does, with one step and a gate."""
        step = {
            "name": "train",
            "script": "train.sh",
            "options": ["--time=5", f"--output={HOME}/%j.out"],
            "metrics": "metrics.json",
            "gates": [{"metric": "accuracy", "at_least": at_least}],
        }
        definition = {
            "name": "digits",
            "owner": owner,
            "account": "vision",
            "data_class": "internal",
            "triggers": [{"kind": "hand"}],
            "steps": [step],
        }
        source = PipelineSource.parse({"definition": definition, "folder": HOME, "scripts": {"train": SCRIPT}})
        request = RunRequest(source, "hand", key, time.time())
        path = f"{HOME}/{FOLDER}/{REQUESTS}/{request.name}.json"
        self.put(HEAD, path, json.dumps(request.to_json()).encode(), "alice")
        return request

    def ended(self, request: RunRequest) -> dict[str, Any]:
        """Wait for the end of a run and return its record."""
        path = f"{HOME}/{FOLDER}/{ENDED}/{request.name}.json"
        text = wait_for("the end of the run", lambda: self.run(HEAD, "cat", path), details=self.log)
        return dict(json.loads(text))

    def log(self) -> str:
        """Return the service's log and the queue."""
        return self.shell(HEAD, f"journalctl --unit={UNIT} --no-pager --output=cat; squeue --all --states=all")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipelinesHost]:
    lab, folder = layout("landbridge-test-pipelines"), tmp_path_factory.mktemp("pipelines")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        host = PipelinesHost(lab, folder)
        host.make_head()
        host.converge("--check").good()
        assert host.shell(HEAD, "ls /etc/landbridge /opt/landbridge 2>/dev/null || true") == "", (
            "check mode on a new host"
        )
        host.converge().good()
        yield host
    finally:
        cleanup.down(lab)


def test_the_service_is_ready_and_a_second_run_changes_nothing(host: PipelinesHost) -> None:
    shown = host.run(HEAD, "systemctl", "show", "--property=ActiveState,Type,NRestarts", UNIT)
    assert sorted(shown.split()) == ["ActiveState=active", "NRestarts=0", "Type=notify"]
    before = host.run(HEAD, "systemctl", "show", "--property=MainPID", UNIT)
    assert host.converge("--check").good().changed == {HEAD: 0}
    second = host.converge("--diff").good()
    assert second.changed == {HEAD: 0}, second.one_line
    assert host.run(HEAD, "systemctl", "show", "--property=MainPID", UNIT) == before


def test_a_run_by_hand_succeeds_with_a_job_of_its_owner(host: PipelinesHost) -> None:
    request = host.request("first", 0.9)
    record = host.ended(request)
    assert record["outcome"] == "succeeded", record
    name = job_name(request.name, "train")
    query = f"sacct --noheader --allusers --allocations --parsable2 --name={name} --format=JobID,User,Account,State"
    (line,) = wait_for("accounting", lambda: host.shell(HEAD, query), lambda text: "COMPLETED" in text).splitlines()
    number, *rest = line.split("|")
    assert rest == ["alice", "vision", "COMPLETED"]
    assert host.run(HEAD, "cat", f"{HOME}/{number}.out").strip() == "alice train hand:first"
    assert host.run(HEAD, "stat", "-c", "%U", f"{HOME}/{FOLDER}/{ENDED}/{request.name}.json").strip() == "alice"


def test_a_gate_that_is_not_passed_fails_the_run(host: PipelinesHost) -> None:
    record = host.ended(host.request("second", 0.99))
    assert record["outcome"] == "failed" and "accuracy" in record["steps"]["train"]["reason"], record


def test_a_request_in_the_name_of_another_user_is_refused(host: PipelinesHost) -> None:
    request = host.request("third", 0.9, owner="bob")
    path = f"{HOME}/{FOLDER}/{REFUSED}/{request.name}.json"
    refused = wait_for("the refusal", lambda: host.run(HEAD, "cat", path), details=host.log)
    assert json.loads(refused)["reason"] == "the owner is bob, and the request is of alice"
