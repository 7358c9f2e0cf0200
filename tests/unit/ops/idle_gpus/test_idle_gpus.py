"""Idle GPUs: judgement over a window with recorded use, policy, actions, and the commands."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from landbridge.catalog.hardware.idle_gpus import idle_gpus
from landbridge.cli.main import build
from landbridge.environment.slurm.idle_gpus import IdleGpus
from landbridge.ops.idle_gpus.act import append_ledger, carry_out, load_notices, save_notices
from landbridge.ops.idle_gpus.jobs import GpuJob, running_jobs
from landbridge.ops.idle_gpus.judge import IdleJob, IdleKind, judge_jobs
from landbridge.ops.idle_gpus.policy import KEEP, IdleDecision, IdleJournal, IdleLimits, decide
from landbridge.ops.idle_gpus.samples import GpuSample, by_gpu, read_samples
from landbridge.ops.scontrol import ScontrolError
from tests.unit.core.samples import GOOD

FACTS = idle_gpus()
DATA = Path(__file__).with_name("data")
RECORDED, RECORDED_H100 = (
    [json.loads(line) for line in (DATA / f"{model}-580-use.jsonl").read_text().splitlines()]
    for model in ("h200", "h100")
)
IDLE, HELD, WORK, COPIES = "idle", "memory held without work", "matrix products", "memory copies"
HELD_AFTER, HALF = "memory held after work", "work of 32 ms every 52 ms"
SHORT, WAITING = "short work of 0.2 s every 2 s", "busy waiting of one thread block"
WINDOW = 60
NOW = 1_795_673_000.0
JOB = GpuJob(
    "7", "alice", "vision", "gpu", "normal", "train", NOW - 7200, NOW + 36_000, True, True, "", "", (("n1", 0),)
)
LIMITS = IdleLimits(30, 24)


def samples(
    *phases: str,
    every: float = 30,
    end: float = NOW,
    minutes: float = WINDOW,
    recorded: Sequence[dict[str, Any]] = RECORDED,
) -> list[GpuSample]:
    """Return samples of the window, in which the phases follow each other in equal parts, with recorded values."""
    count = int(minutes * 60 / every)
    drawn = []
    for number in range(count):
        phase = phases[number * len(phases) // count]
        rows = [row for row in recorded if row["phase"] == phase]
        row = rows[number % len(rows)]
        at = end - (count - number - 1) * every
        drawn.append(GpuSample(at, 0, row["utilisation"], row["memory_mib"], row["watts"]))
    return drawn


def judged(job: GpuJob = JOB, **use: Sequence[GpuSample]) -> IdleJob | None:
    """Return the judgement; the use by node and GPU, as n1_0."""
    by_place = {(name.split("_")[0], int(name.split("_")[1])): list(entries) for name, entries in use.items()}
    verdicts = judge_jobs([replace(job, gpus=tuple(by_place))], by_place, FACTS, WINDOW, NOW)
    return verdicts[0] if verdicts else None


def kind(**use: Sequence[GpuSample]) -> str | None:
    verdict = judged(**use)
    return str(verdict.kind) if verdict is not None else None


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ({"n1_0": samples(IDLE)}, "never-used"),
        ({"n1_0": samples(HELD)}, "memory-held"),
        ({"n1_0": samples(WORK)}, None),
        ({"n1_0": samples(COPIES)}, None),
        # Short kernels: a utilisation of 0 in every sample, with power.
        ({"n1_0": samples(SHORT)}, None),
        ({"n1_0": samples(WAITING)}, None),
        # Memory that is allocated in the window takes 41 W more than no process, and is no work.
        ({"n1_0": samples(IDLE, HELD)}, "memory-held"),
        ({"n1_0": [replace(entry, watts=None) for entry in samples(HELD)]}, "memory-held"),
        # A job that worked for a tenth of the window is not idle, wherever the work was.
        ({"n1_0": samples(WORK, *[HELD] * 9)}, None),
        ({"n1_0": samples(*[HELD] * 9, WORK)}, None),
        ({"n1_0": samples(IDLE), "n1_1": samples(HELD)}, "memory-held"),
        ({"n1_0": samples(WORK), "n1_1": samples(IDLE)}, "part"),
        ({"n1_0": samples(WORK), "n2_0": samples(HELD)}, "node-waits"),
        ({"n1_0": samples(WORK), "n2_0": samples(HELD), "n2_1": samples(WORK)}, "part"),
        # Use that is not known is no idleness.
        ({"n1_0": samples(IDLE), "n1_1": []}, None),
        ({"n1_0": samples(IDLE, minutes=20)}, None),
        ({"n1_0": samples(IDLE, end=NOW - 1800)}, None),
        ({"n1_0": [replace(entry, utilisation=None) for entry in samples(IDLE)]}, None),
        ({"n1_0": samples(IDLE, every=240)}, "never-used"),
    ],
)
def test_kind_of_idleness(use: dict[str, list[GpuSample]], expected: str | None) -> None:
    assert kind(**use) == expected


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([IDLE], "never-used"),
        ([HELD], "memory-held"),
        # The warm GPU takes 60 W more than before the first process, and does no work.
        ([IDLE, HELD_AFTER], "memory-held"),
        ([IDLE, HELD, HELD_AFTER], "memory-held"),
        ([WORK], None),
        ([COPIES], None),
        ([HALF], None),
        ([*[HELD] * 9, HALF], None),
    ],
)
def test_kind_of_idleness_on_an_h100(phases: list[str], expected: str | None) -> None:
    assert kind(n1_0=samples(*phases, recorded=RECORDED_H100)) == expected


def test_a_job_younger_than_the_window_is_not_judged() -> None:
    assert judged(replace(JOB, started=NOW - 1800), n1_0=samples(IDLE)) is None


def test_the_text_has_gpus_nodes_power_and_memory() -> None:
    verdict = judged(n1_0=samples(HELD), n2_0=samples(WORK))
    assert verdict is not None
    assert verdict.text == "1 of 2 GPUs were idle (n1; 117 W, 21 GiB of their memory are held)"


PHASES = st.lists(st.sampled_from([IDLE, HELD, WORK, COPIES, SHORT]), min_size=1, max_size=8)


@settings(max_examples=30, deadline=None)
@given(st.lists(PHASES, min_size=1, max_size=3))
def test_no_job_that_works_for_a_tenth_of_the_window_may_be_ended(gpus: list[list[str]]) -> None:
    verdict = judged(**{f"n{number}_0": samples(*phases) for number, phases in enumerate(gpus)})
    works = any(phase in (WORK, COPIES, SHORT) for phases in gpus for phase in phases)
    assert works == (verdict is None or not verdict.kind.is_whole)


def idle(kind: IdleKind = IdleKind.HELD, **job: Any) -> IdleJob:
    verdict = judged(n1_0=samples(HELD))
    assert verdict is not None
    return replace(verdict, kind=kind, job=replace(JOB, **job))


def actions(*minutes: float, policy: IdleGpus, verdict: IdleJob, classes: dict[str, str] | None = None) -> list[str]:
    """Return the actions of passes at these minutes."""
    journal, texts = IdleJournal(), []
    for minute in minutes:
        decisions, journal = decide([verdict], policy, LIMITS, classes or {}, journal, NOW + minute * 60)
        texts += [decision.action for decision in decisions]
    return texts


CANCEL = IdleGpus(action="cancel")


@pytest.mark.parametrize(
    ("policy", "job", "expected"),
    [
        (IdleGpus(), idle(), ["notice", "nothing", "nothing"]),
        (IdleGpus(action="nothing"), idle(), ["nothing", "nothing", "nothing"]),
        (IdleGpus(action="requeue"), idle(), ["notice", "nothing", "requeue"]),
        (IdleGpus(action="suspend"), idle(), ["notice", "nothing", "suspend"]),
        (CANCEL, idle(), ["notice", "nothing", "cancel"]),
        (CANCEL, idle(IdleKind.NEVER_USED), ["notice", "nothing", "cancel"]),
        # A job with a GPU that works is never ended.
        (CANCEL, idle(IdleKind.NODE_WAITS), ["notice", "nothing", "nothing"]),
        (CANCEL, idle(IdleKind.PART), ["notice", "nothing", "nothing"]),
        # Nor is an interactive session, or a job without --requeue by a requeue.
        (CANCEL, idle(is_batch=False), ["notice", "nothing", "nothing"]),
        (IdleGpus(action="requeue"), idle(may_requeue=False), ["notice", "nothing", "nothing"]),
        (CANCEL, idle(comment=KEEP), ["nothing", "nothing", "nothing"]),
        (CANCEL, idle(comment=f"run 5, {KEEP}"), ["nothing", "nothing", "nothing"]),
        (CANCEL, idle(comment="idle=keeper"), ["notice", "nothing", "cancel"]),
        # The exemption has an end.
        (CANCEL, idle(comment=KEEP, started=NOW - 100_000), ["notice", "nothing", "cancel"]),
        (IdleGpus(action="cancel", accounts={"vision": "nothing"}), idle(), ["nothing", "nothing", "nothing"]),
        (IdleGpus(partitions={"gpu": "cancel"}), idle(), ["notice", "nothing", "cancel"]),
        (IdleGpus(partitions={"gpu": "cancel"}, classes={"training": "notice"}), idle(), ["notice", "nothing", "nothing"]),
        (IdleGpus(accounts={"vision": "cancel"}, partitions={"gpu": "nothing"}), idle(), ["notice", "nothing", "cancel"]),
    ],
)  # fmt: skip
def test_the_policy_acts_after_the_notice_and_the_grace_time(
    policy: IdleGpus, job: IdleJob, expected: list[str]
) -> None:
    assert actions(0, 29, 30, policy=policy, verdict=job, classes={"7": "training"}) == expected


def test_a_job_that_works_in_between_has_its_whole_grace_time_again() -> None:
    (_,), journal = decide([idle()], CANCEL, LIMITS, {}, IdleJournal(), NOW)
    _, journal = decide([], CANCEL, LIMITS, {}, journal, NOW + 600)
    (decision,), _ = decide([idle()], CANCEL, LIMITS, {}, journal, NOW + 3600)
    assert decision.action == "notice"


def test_the_saving_is_a_line_of_the_ledger(tmp_path: Path) -> None:
    (_,), journal = decide([idle()], CANCEL, LIMITS, {}, IdleJournal(), NOW)
    save_notices(tmp_path, journal)
    assert load_notices(tmp_path) == journal
    (decision,), _ = decide([idle()], CANCEL, LIMITS, {}, journal, NOW + 1800)
    append_ledger(tmp_path, [decision], {}, NOW, 2.5)
    append_ledger(tmp_path, [decision], {"7": "Invalid job id"}, NOW, 2.5)
    (line,) = (tmp_path / "idle-gpus.ledger").read_text().splitlines()
    row = json.loads(line)
    # Nine and a half hours until the time limit, one GPU.
    assert (row["gpu_hours_freed"], row["usd"], row["action"], row["job"]) == (9.5, 23.75, "cancel", "7")


def test_commands_to_slurm() -> None:
    sent: list[list[str]] = []

    def scontrol(words: Sequence[str]) -> str:
        sent.append(["scontrol", *words])
        if "9" in words or "jobid=9" in words:
            raise ScontrolError("Invalid job id specified")
        return ""

    def scancel(words: Sequence[str]) -> str:
        sent.append(["scancel", *words])
        return ""

    decisions = [
        IdleDecision(idle(id="1"), "notice", "text"),
        IdleDecision(idle(id="2", is_batch=False), "notice", "text"),
        IdleDecision(idle(id="3_4"), "requeue", "text"),
        IdleDecision(idle(id="5"), "cancel", "text"),
        IdleDecision(idle(id="6"), "nothing", "text"),
        IdleDecision(idle(id="9"), "suspend", "text"),
    ]
    assert carry_out(decisions, scontrol, scancel) == {"9": "Invalid job id specified"}
    assert sent == [
        ["scontrol", "update", "jobid=1", "admincomment=text"],
        ["scontrol", "update", "jobid=2", "admincomment=text"],
        ["scontrol", "notify", "2", "text"],
        ["scontrol", "update", "jobid=3_4", "admincomment=text"],
        ["scontrol", "requeue", "3_4"],
        ["scontrol", "update", "jobid=5", "admincomment=text"],
        ["scancel", "5"],
        ["scontrol", "update", "jobid=9", "admincomment=text"],
    ]


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_jobs_of_real_slurm(version: str) -> None:
    """Read the jobs that slurmctld of this version printed, as if the ones that boot were running."""
    folder = Path(__file__).parents[2] / "burst/data" / version
    raw = json.loads((folder / "array.squeue.json").read_text())
    assert raw["jobs"]
    for job in raw["jobs"]:
        job |= {
            "job_state": ["RUNNING"],
            "nodes": "p5-[1-2]",
            "gres_detail": ["gpu:h100:2(IDX:0-1)", "gpu:h100:1(IDX:3,5)"],
        }
    jobs = running_jobs(raw)
    assert len(jobs) == len(raw["jobs"])
    assert jobs[0].gpus == (("p5-1", 0), ("p5-1", 1), ("p5-2", 3), ("p5-2", 5)) and jobs[0].user == "alice"
    assert any("_" in job.id for job in jobs)


@pytest.mark.parametrize("details", [[], ["gpu:h100:1(IDX:N/A)"], ["cpu"], ["gpu:1(IDX:0)", "gpu:1(IDX:0)"]])
def test_a_job_without_known_gpus_is_not_judged(details: list[str]) -> None:
    raw = {"job_id": 1, "job_state": ["RUNNING"], "nodes": "n1", "gres_detail": details}
    assert running_jobs({"jobs": [raw]}) == ()


def test_samples_that_are_cut_off_are_left_out() -> None:
    text = '{"at":1,"gpus":[{"gpu":0,"uuid":"GPU-1","utilisation":null,"memory_mib":3,"watts":70}]}\n{"at":2,"gp'
    assert read_samples(text) == (GpuSample(1, 0, None, 3, 70),)


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Create an environment, recorded jobs and samples; return the options of `idle list`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "Pulumi.good.yaml"
    file.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": GOOD}}))
    raw = {"job_id": 7, "job_state": ["RUNNING"], "user_name": "alice", "account": "vision", "partition": "onprem"}
    raw |= {"start_time": NOW - 7200, "end_time": NOW + 3600}
    jobs = [
        {**raw, "nodes": "dgx01", "gres_detail": ["gpu:h100:1(IDX:0)"]},
        {**raw, "job_id": 8, "nodes": "dgx02", "gres_detail": ["gpu:h100:1(IDX:0)"]},
    ]
    (tmp_path / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    lines = [
        json.dumps({"at": entry.at, "gpus": [{"gpu": 0, "uuid": "", "utilisation": entry.utilisation, "memory_mib": entry.memory_mib, "watts": entry.watts}]})
        for entry in samples(HELD)
    ]  # fmt: skip
    (tmp_path / "dgx01.jsonl").write_text("\n".join(lines))
    words = ["idle", "list", "--file", str(file), "--jobs", str(tmp_path / "jobs.json"), "--samples", str(tmp_path)]
    return [*words, "--at", "2026-11-26T06:03:20Z"]


def test_list_of_recorded_jobs(recorded: list[str]) -> None:
    result = CliRunner().invoke(build(), recorded)
    assert result.exit_code == 1
    assert result.output.splitlines()[0].split()[:4] == ["7", "alice", "vision", "memory-held"]
    assert "no samples of dgx02" in result.output
    rows = json.loads(CliRunner().invoke(build(), [*recorded, "--format", "json"]).stdout)
    assert rows[0]["idle_gpus"] == [{"node": "dgx01", "gpu": 0}]
    later = CliRunner().invoke(build(), [*recorded[:-1], "2026-11-26T09:03:20Z"])
    assert later.exit_code == 0 and "no job with idle GPUs" in later.output
    assert CliRunner().invoke(build(), [*recorded[:-1], "soon"]).exit_code == 2


def test_samples_are_grouped_by_node() -> None:
    line = '{"at":1,"gpus":[{"gpu":0,"uuid":"","utilisation":0,"memory_mib":0,"watts":1}]}'
    assert set(by_gpu({"n1": line, "n2": line, "n3": ""})) == {("n1", 0), ("n2", 0)}
