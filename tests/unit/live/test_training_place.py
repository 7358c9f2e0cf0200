"""`landbridge sagemaker submit --where auto`: the same job file in Slurm or in SageMaker, once; and SageMaker in `burst why`."""

import json
import time
from datetime import datetime
from pathlib import Path

import pytest

from landbridge.burst.config.config import load
from landbridge.burst.journal.store import Store
from landbridge.burst.model import State, TrainingJob
from landbridge.burst.slurm.submission import estimate_of
from landbridge.cli.place.training import left_on_host, training_text
from landbridge.environment import load_environment
from tests.unit.live.test_training_jobs import Site, site  # noqa: F401 - fixture
from tests.unit.plan.placement.test_place_command import scontrol_job

#: sbatch and squeue that print as Slurm's, with one file of jobs.
PROGRAM = """#!/usr/bin/python3
import json, pathlib, sys
state = pathlib.Path({state!r})
site = json.loads(state.read_text())
words = sys.argv[1:]
if pathlib.Path(sys.argv[0]).name == "squeue":
    assert words == ["--me", "--noheader", "--states=all", "--format=%i %k"], words
    for number, comment in site["jobs"]:
        print(number, comment)
elif site["refusal"]:
    sys.exit("sbatch: error: " + site["refusal"])
elif words[0] == "--test-only":
    print(f"sbatch: Job 9 to start at {{site['start']}} using 16 processors on nodes {{site['nodes']}} in partition gpu", file=sys.stderr)
else:
    (comment,) = [word.partition("=")[2] for word in words if word.startswith("--comment=")]
    assert "--parsable" in words and pathlib.Path(words[-1]).read_text().startswith("#!")
    site["jobs"].append([100 + len(site["jobs"]), comment])
    state.write_text(json.dumps(site))
    print(site["jobs"][-1][0])
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the programs; return the file of their site."""
    programs, state = tmp_path / "bin", tmp_path / "slurm.json"
    programs.mkdir()
    for name in ("sbatch", "squeue"):
        (programs / name).write_text(PROGRAM.format(state=str(state)))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr("getpass.getuser", lambda: "alice")
    state.write_text(json.dumps({"jobs": [], "refusal": "", "start": text_of(time.time()), "nodes": "dgx01"}))
    return state


def text_of(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%dT%H:%M:%S")


def change(state: Path, **values: object) -> None:
    state.write_text(json.dumps({**json.loads(state.read_text()), **values}))


def jobs(state: Path) -> list[list[object]]:
    return list(json.loads(state.read_text())["jobs"])


def test_with_idle_nodes_on_prem_the_job_is_one_of_slurm_once(site: Site, slurm: Path) -> None:  # noqa: F811
    output = site.submit("--where", "auto")
    assert "job 100 of Slurm, on-prem dgx-h100" in output
    assert "submitted already (job 100 of Slurm)" in site.submit("--where", "auto")
    ((number, comment),) = jobs(slurm)
    assert number == 100 and str(comment).startswith("submission=acme-digits-")
    assert site.names == [] and site.state.training_jobs == {}


def test_behind_a_long_queue_it_is_a_training_job_once_and_stays_one(site: Site, slurm: Path) -> None:  # noqa: F811
    change(slurm, start=text_of(time.time() + 86_400 * 5))
    assert "1 x ml.g4dn.xlarge, at most 1.47 USD" in site.submit("--where", "auto")
    change(slurm, start=text_of(time.time()))
    assert "submitted already (InProgress)" in site.submit("--where", "auto")
    assert len(site.names) == 1 and jobs(slurm) == []


def test_a_file_that_sagemaker_refuses_is_one_of_slurm_and_one_that_slurm_refuses_is_none_of_it(
    site: Site,  # noqa: F811
    slurm: Path,
) -> None:
    change(slurm, start=text_of(time.time() + 86_400 * 5))
    text = (site.folder / "train.sh").read_text()
    lines = [line for line in text.splitlines() if "container-image" not in line]
    (site.folder / "train.sh").write_text("\n".join(lines) + "\n")
    assert "of Slurm" in site.submit("--where", "auto") and len(jobs(slurm)) == 1
    (site.folder / "train.sh").write_text(text)
    change(slurm, refusal="Batch job submission failed: Invalid partition name specified", jobs=[])
    assert "1 x ml.g4dn.xlarge" in site.submit("--where", "auto") and jobs(slurm) == []


def test_a_dry_run_and_a_submission_for_another_user_start_nothing(site: Site, slurm: Path) -> None:  # noqa: F811
    assert "with sbatch" in site.submit("--where", "auto", "--dry-run")
    refused = " ".join(site.submit("--where", "auto", "--user", "bob", code=1).split())
    assert "bob" in refused and jobs(slurm) == [] and site.names == []


def test_the_estimate_of_sbatch() -> None:
    line = "sbatch: Job 5 to start at 2026-11-26T10:00:00 using 8 processors on nodes dgx[01-02] in partition gpu\n"
    line_estimate = estimate_of(line)
    assert line_estimate is not None and line_estimate.nodes == ("dgx01", "dgx02")
    assert line_estimate.at == datetime(2026, 11, 26, 10).timestamp()
    assert estimate_of("allocation failure: Requested nodes are busy") is None


def test_why_states_the_price_or_the_reason_against_sagemaker(site: Site) -> None:  # noqa: F811
    loaded = load_environment(site.folder / "stacks/Pulumi.acme.yaml").environment
    assert loaded is not None
    raw = scontrol_job(time_limit={"set": True, "number": 60})["jobs"][0]

    def why(row: dict[str, object]) -> str:
        return training_text(loaded, row, site.store, load(None).policy, time.time())

    assert "the limit is 20.00 USD (budget, less what the journal has spent and held)" in why(raw)
    small = {**raw, "tres_req_str": "cpu=1,node=1,gres/gpu=1"}
    assert why(small).startswith("possible: ml.g4dn.xlarge, 0.74 USD an hour")
    held = TrainingJob("acme-x", "vision", "alice", "internal", "ml.g5.xlarge", 1, 19.5, 3600, time.time())

    def hold(state: State) -> State:
        from dataclasses import replace

        return replace(state, training_jobs={held.name: held})

    Store(site.folder / "burst.db").update(hold)
    assert "the limit is 0.50 USD" in why(small) and left_on_host("vision") == pytest.approx(0.5)
    assert "not one of those that may use AWS" in why({**small, "account": "patients"})
    assert why({**small, "job_state": ["RUNNING"]}) == ""
    assert why({**small, "tres_req_str": "cpu=1,node=1"}).startswith("not possible: job ")
