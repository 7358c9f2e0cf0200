"""Way back of MLflow's databases from a fenced control plane to the site, by the playbooks of the steps of `drill site-loss`.

The host is the control plane in AWS, and then the site: its databases are those of before the loss.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.ops.site_loss.dumps import problems_of
from tests.roles.hosts.mlflow_servers.lab import API, INTERNAL, PROXY, Run, Tracking

# Ten minutes: two dumps, three restores and two more converges.
pytestmark = [pytest.mark.lab, pytest.mark.long]
BACKUPS = "/var/backups/landbridge-mlflow"
FENCES = "/etc/landbridge/control-plane-fenced /etc/landbridge/mlflow-fenced"
UNITS = "/etc/systemd/system/mlflow.service /etc/systemd/system/mlflow-restricted.service"
DATABASES = ("mlflow", "mlflow_auth")


@pytest.fixture
def unfenced(host: Tracking) -> Iterator[Tracking]:
    yield host
    host.run(f"rm -rf {FENCES} {BACKUPS}; systemctl daemon-reload; systemctl start mlflow mlflow-restricted")


def runs(host: Tracking, *experiments: str) -> dict[str, int]:
    """Return the number of records of each run in experiments."""
    query = {"experiment_ids": list(experiments), "max_results": 1000}
    status, text = host.send(INTERNAL, f"{API}/runs/search", "alice", body=query)
    assert status == 200, text
    ids = [row["info"]["run_id"] for row in json.loads(text).get("runs", [])]
    return {name: ids.count(name) for name in ids}


def result(host: Tracking, run: Run) -> tuple[int, str]:
    return host.send(INTERNAL, f"{PROXY}/{run.experiment}/{run.run}/artifacts/result.txt", "alice")


def dumped(host: Tracking, folder: Path) -> Path:
    """Copy dumps of the present databases to a folder."""
    folder.mkdir()
    host.run("systemctl start landbridge-mlflow-dump.service")
    for database in DATABASES:
        newest = host.run(f"ls {BACKUPS}/{database}-periodic-* | tail -n 1")
        (folder / Path(newest).name).write_bytes(base64.b64decode(host.run(f"base64 --wrap=0 {newest}")))
    return folder


def test_runs_of_the_time_in_aws_are_at_the_site_after_the_return_and_once(
    unfenced: Tracking, internal_run: Run, tmp_path: Path
) -> None:
    host, dumps = unfenced, tmp_path / "dumps"
    before_the_loss = dumped(host, tmp_path / "before")
    meanwhile = host.log("alice", INTERNAL, "meanwhile")

    # While MLflow accepts runs there is no last dump.
    refused = host.playbook("final_dumps", f"dumps_folder={dumps}")
    assert refused.code != 0 and "Assert that MLflow is fenced" in refused.text and not (dumps / "mlflow").exists()

    # The control plane in AWS is fenced: no restart and no boot starts it, and a repeated fence changes nothing.
    assert host.playbook("fence_control_plane", "control_plane=fenced").good().changed["mlops01"] > 0
    assert host.playbook("fence_control_plane", "control_plane=fenced").good().changed["mlops01"] == 0
    host.run("systemctl daemon-reload; systemctl restart mlflow mlflow-restricted")
    assert host.run("systemctl is-active mlflow mlflow-restricted || true") == "inactive\ninactive"

    # Twice, as after an interruption. The database of the class that must stay on-prem does not leave the host.
    for _ in range(2):
        host.playbook("final_dumps", f"dumps_folder={dumps}").good()
    assert list(problems_of(dumps)) == ["there is no dump of Slurm's accounting database"]
    assert {path.name.partition("-")[0] for path in (dumps / "mlflow").iterdir()} == set(DATABASES)

    # The site has what it had before the loss.
    host.run(f"rm -r {BACKUPS}")
    host.playbook("fence_control_plane", "control_plane=active").good()
    host.restore(before_the_loss)
    present = runs(host, internal_run.experiment, meanwhile.experiment)
    assert present[internal_run.run] == 1 and meanwhile.run not in present

    # A host of the site is built again, and is configured: MLflow is fenced before its units exist, and does not start.
    host.run(f"systemctl disable --now mlflow mlflow-restricted; rm -r {UNITS} /etc/systemd/system/mlflow*.service.d")
    host.run("systemctl daemon-reload")
    assert host.playbook("fence_control_plane", "control_plane=restoring").good().changed["mlops01"] > 0
    assert host.converge().good().changed["mlops01"] > 0
    for _ in range(2):
        host.run("systemctl restart mlflow mlflow-restricted")
        assert host.run("systemctl is-active mlflow mlflow-restricted || true") == "inactive\ninactive"
        with pytest.raises(AssertionError, match="Connection refused"):
            host.log("alice", INTERNAL, "between")
        # Nothing but the restore ends it.
        assert host.playbook("fence_control_plane", "control_plane=restoring").good().changed["mlops01"] == 0
        assert host.converge().good().changed["mlops01"] == 0

    for _ in range(2):
        host.restore(dumps / "mlflow")
        present = runs(host, internal_run.experiment, meanwhile.experiment)
        assert present[internal_run.run] == present[meanwhile.run] == 1 and set(present.values()) == {1}
    assert result(host, meanwhile) == (200, "result of meanwhile")
    # The next run of the same experiment.
    following = host.log("alice", INTERNAL, "meanwhile")
    assert following.experiment == meanwhile.experiment and runs(host, following.experiment)[following.run] == 1

    # A dump that is cut off, by one byte, replaces nothing, and no server stops.
    newest = max(path for path in (dumps / "mlflow").iterdir() if path.name.startswith("mlflow-"))
    cut_off = tmp_path / "cut-off"
    cut_off.mkdir()
    (cut_off / newest.name).write_bytes(newest.read_bytes()[:-1])
    played = host.playbook("restore_databases", f"mlflow_dumps={cut_off}")
    assert played.code != 0 and f"{newest.name}" in played.one_line and "end of file" in played.one_line
    assert host.run("systemctl is-active mlflow") == "active"
    assert runs(host, following.experiment)[following.run] == 1
