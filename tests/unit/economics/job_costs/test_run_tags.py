"""`landbridge cost tag` on MLflow's own application: the runs of jobs get their cost once, and other runs none."""

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from tests.unit.economics.job_costs import recorded


class Quiet(WSGIRequestHandler):
    """Handler of requests without a log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve MLflow's own application in this process, which takes less time than its server."""
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("_MLFLOW_SERVER_FILE_STORE", f"sqlite:///{folder}/mlflow.db")
        patch.setenv("_MLFLOW_SERVER_ARTIFACT_ROOT", str(folder))
        from mlflow.server import app

        with make_server("127.0.0.1", 0, app, handler_class=Quiet) as http:
            thread = threading.Thread(target=http.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{http.server_port}"
            http.shutdown()
            thread.join()


def tag(server: str, options: list[str]) -> tuple[int, str, str]:
    done = CliRunner().invoke(build(), ["cost", "tag", "--tracking-uri", server, *options])
    return done.exit_code, done.stdout, done.stderr


def test_runs_get_the_cost_of_their_jobs_once(server: str, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=server)
    experiment = client.create_experiment("digits")

    def run(job: str, cluster: str = "test", status: str | None = "FINISHED") -> str:
        tags = {"landbridge.job_id": job, "landbridge.cluster": cluster}
        created = client.create_run(experiment, tags=tags).info.run_id
        if status is not None:
            client.set_terminated(created, status)
        return str(created)

    runs = {"13": run("13", status="FAILED"), "14": run("14")}
    others = [run("13", cluster="other"), run("15", status=None), run("999"), run("")]
    options = recorded.write(tmp_path)
    assert tag(server, options)[:2] == (0, "3 runs of 3 jobs: 2 changed, 1 jobs without a cost\n")
    for job, identity in runs.items():
        tags = client.get_run(identity).data.tags
        shown = CliRunner().invoke(build(), ["cost", "jobs", "--job", job, *options])
        assert f"{float(tags['cost.usd']):,.2f} USD" in shown.stdout
        assert float(tags["cost.kwh"]) > 0 and float(tags["cost.co2e"]) > 0
    assert client.get_run(runs["13"]).data.tags["cost.energy"] == "modelled"
    assert not any("cost.usd" in client.get_run(identity).data.tags for identity in others)
    assert tag(server, options)[1].startswith("3 runs of 3 jobs: 0 changed")


def test_a_server_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    code, out, err = tag("http://127.0.0.1:9", recorded.write(tmp_path))
    assert (code, out) == (2, "") and "127.0.0.1:9" in err and "Traceback" not in err


def test_an_experiment_costs_the_sum_of_its_jobs(server: str, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=server)
    experiment = client.create_experiment("two-jobs")
    # Two runs of job 13 cost as much as one; job 999 has no line.
    for job in ("13", "13", "14", "999"):
        created = client.create_run(experiment, tags={"landbridge.job_id": job, "landbridge.cluster": "test"})
        client.set_terminated(created.info.run_id, "FINISHED")
    options = recorded.write(tmp_path)
    words = ["cost", "experiment", "two-jobs", "--tracking-uri", server, "--tag", "--format", "json", *options]
    done = CliRunner().invoke(build(), words)
    assert done.exit_code == 0, done.output
    cost = json.loads(done.stdout)
    jobs = [
        json.loads(CliRunner().invoke(build(), ["cost", "jobs", "--job", job, "--format", "json", *options]).stdout)[
            "usd"
        ]
        for job in ("13", "14")
    ]
    assert Decimal(cost["usd"]) == sum(map(Decimal, jobs))
    assert (cost["runs"], cost["jobs"], cost["without_cost"]) == (4, 3, [999])
    assert client.get_experiment(experiment).tags["cost.usd"] == cost["usd"]
    words[2] = "none"
    assert CliRunner().invoke(build(), words).exit_code == 2


def test_1000_predictions_cost_their_share_of_the_node(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    environment, node = str(tmp_path / "Pulumi.test.yaml"), "dgx01"
    words = ["cost", "predictions", "2000000", "--node", node, "--hours", "24", "-f", environment, "--format", "json"]
    whole = json.loads(CliRunner().invoke(build(), words).stdout)
    eighth = json.loads(CliRunner().invoke(build(), [*words, "--share", "0.125"]).stdout)
    assert whole["usd_1000"] == pytest.approx(8 * eighth["usd_1000"])
    assert whole["usd_1000"] > 0
    assert whole["kwh_1000"] > 0
    assert whole["tags"]["cost.usd_1000_predictions"] == f"{whole['usd_1000']:.6f}"
    words[4] = "none"
    assert CliRunner().invoke(build(), words).exit_code == 1
