"""Requeue of jobs whose launch was lost with an earlier slurmctld: after two answers of the node, and no other job."""

import json
import os
import socket
from pathlib import Path
from types import ModuleType

import pytest

from tests.roles.jobs.program_module import ROLES, loaded

PROGRAM = ROLES / "slurm_controller/files/landbridge-lost-launches"
BOOT = 1_795_804_364
COMMANDS = {
    "scontrol": r"""#!/bin/sh
case "$*" in
ping) cat "$LAB/ping";;
"show config") echo "BOOT_TIME               = $(cat "$LAB/boot")"; cat "$LAB/config";;
requeue\ *) grep -qx "$2" "$LAB/refused" && { echo "scontrol: error: Invalid job state" >&2; exit 1; }; echo "$*" >> "$LAB/changes";;
*) echo "$*" >> "$LAB/changes";;
esac
""",
    "squeue": '#!/bin/sh\n[ "$SLURM_TIME_FORMAT" = %s ] && cat "$LAB/jobs"\n',
    # The answers of Slurm 26.05.5, with -vv: a step, no step on the node, no step in slurmctld, and no answer.
    "sstat": """#!/bin/sh
for word; do case "$word" in --jobs=*) job="${word#--jobs=}";; esac; done
echo "${job%.batch}" >> "$LAB/questions"
case "$(sed -n "s/^${job%.batch} //p" "$LAB/steps")" in
step) echo "$job";;
gone) echo "sstat: debug:  slurm_job_step_stat: job step StepId=$job has already completed" >&2;;
unknown) echo "sstat: error: StepId=$job not found running." >&2;;
*) echo "sstat: error: slurm_job_step_stat: unknown return given from dgx01: 9001 rc = Communication connection failure" >&2;;
esac
""",
}


class Slurm:
    """Stand-in of Slurm's commands, with files for its jobs and their steps."""

    def __init__(self, folder: Path, program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.program, self.monkeypatch = folder, program, monkeypatch
        self.host = socket.gethostname().partition(".")[0]
        self.ping(f"Slurmctld(primary) at {self.host} is UP\nSlurmctld(backup) at ctl02 is UP\n")
        self.boot(BOOT)
        (folder / "config").write_text("")
        (folder / "refused").write_text("")

    def ping(self, text: str) -> None:
        (self.folder / "ping").write_text(text)

    def boot(self, seconds: int) -> None:
        (self.folder / "boot").write_text(str(seconds))

    def run(
        self, seconds: float, jobs: dict[str, tuple[str, int, str, str]], steps: dict[str, str], status: int = 0
    ) -> list[str]:
        """Run the program `seconds` after BOOT; `jobs` are batch flag, start after BOOT, reason and component; return the changes in Slurm."""
        lines = [f"{job}|{flag}|{BOOT + start}|{reason}|{part}|\n" for job, (flag, start, reason, part) in jobs.items()]
        (self.folder / "jobs").write_text("".join(lines))
        (self.folder / "steps").write_text("".join(f"{job} {answer}\n" for job, answer in steps.items()))
        for name in ("changes", "questions"):
            (self.folder / name).write_text("")
        self.monkeypatch.setattr(self.program.time, "time", lambda: BOOT + seconds)
        assert self.program.main() == status
        return (self.folder / "changes").read_text().splitlines()

    def questions(self) -> list[str]:
        """Return the jobs about which the last run has asked their nodes, in order: the questions are sent at the same time."""
        return sorted((self.folder / "questions").read_text().split())


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    module = loaded(PROGRAM, "landbridge_lost_launches")
    monkeypatch.setenv("LAB", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(module, "STATE", tmp_path / "state.json")
    for name, text in COMMANDS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return Slurm(tmp_path, module, monkeypatch)


LOST = {"7": ("1", -1, "None", "N/A")}
REQUEUED = ["update JobId=7 Requeue=1", "requeue 7"]


@pytest.mark.parametrize("answer", ["gone", "unknown"])
def test_a_job_without_a_batch_step_is_requeued_after_the_second_answer(
    slurm: Slurm, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert slurm.run(59, LOST, {"7": answer}) == [] and slurm.questions() == [], "Slurm may still launch it"
    assert slurm.run(70, LOST, {"7": answer}) == []
    assert slurm.run(100, LOST, {"7": answer}) == [], "the answers must be 45 s apart"
    assert slurm.run(130, LOST, {"7": answer}) == REQUEUED
    assert "job 7 is requeued" in capsys.readouterr().out


def test_a_job_that_has_a_step_is_asked_about_once(slurm: Slurm) -> None:
    for seconds, jobs in ((70, ["7"]), (130, []), (190, [])):
        assert slurm.run(seconds, LOST, {"7": "step"}) == []
        assert slurm.questions() == jobs


def test_a_step_that_starts_between_two_answers_ends_the_suspicion(slurm: Slurm) -> None:
    assert [slurm.run(at, LOST, {"7": answer}) for at, answer in ((70, "gone"), (130, "step"), (190, "gone"))] == [
        [],
        [],
        [],
    ]


def test_a_node_that_does_not_answer_decides_nothing(slurm: Slurm) -> None:
    answers = ((70, "gone"), (130, "silent"), (190, "gone"), (250, "silent"), (310, "gone"), (370, "gone"))
    changes = [slurm.run(at, LOST, {"7": answer}) for at, answer in answers]
    assert changes == [[], [], [], [], [], REQUEUED]


@pytest.mark.parametrize(
    "job",
    [
        ("0", -1, "None", "N/A"),
        ("1", 3, "None", "N/A"),
        ("1", -3601, "None", "N/A"),
        ("1", -1, "None", "1"),
    ],
    ids=["an interactive job", "a job of this slurmctld", "a job of hours ago", "a later component"],
)
def test_no_other_job_is_asked_about(slurm: Slurm, job: tuple[str, int, str, str]) -> None:
    for seconds in (70, 130, 190):
        assert slurm.run(seconds, {"7": job}, {"7": "gone"}) == []
        assert slurm.questions() == []


@pytest.mark.parametrize(
    ("config", "requeued_at"),
    [("PrologEpilogTimeout     = 65534", 130), ("PrologTimeout = 30", 130), ("PrologTimeout           = 300", 310)],
)
def test_a_prolog_has_two_minutes_or_its_timeout(slurm: Slurm, config: str, requeued_at: int) -> None:
    (slurm.folder / "config").write_text(f"{config}\n")
    job = {"7": ("1", -1, "Prolog", "0")}
    changes = {seconds: slurm.run(seconds, job, {"7": "gone"}) for seconds in (70, 119, 130, 290, 310)}
    assert next(seconds for seconds, words in changes.items() if words) == requeued_at
    assert changes[requeued_at] == REQUEUED


def test_an_hour_after_the_start_nothing_is_asked(slurm: Slurm) -> None:
    assert slurm.run(3601, LOST, {"7": "gone"}) == [] and slurm.questions() == []


def test_a_reconfiguration_begins_anew(slurm: Slurm) -> None:
    assert slurm.run(70, LOST, {"7": "step"}) == []
    slurm.boot(BOOT + 100)
    later = {**LOST, "8": ("1", 99, "None", "N/A")}
    assert slurm.run(170, later, {"7": "step", "8": "gone"}) == [] and slurm.questions() == ["7", "8"]
    assert slurm.run(230, later, {"7": "step", "8": "gone"}) == ["update JobId=8 Requeue=1", "requeue 8"]


def test_a_standby_waits_and_checks_the_jobs_before_its_takeover(slurm: Slurm) -> None:
    both = f"Slurmctld(primary) at ctl01 is UP\nSlurmctld(backup) at {slurm.host} is UP\n"
    slurm.ping(both)
    # The standby was started an hour before the job.
    job = {"7": ("1", 5000, "None", "N/A")}
    assert slurm.run(4990, job, {"7": "gone"}) == [] and slurm.questions() == []
    slurm.ping(both.replace("ctl01 is UP", "ctl01 is DOWN"))
    changes = [slurm.run(seconds, job, {"7": "gone"}) for seconds in (5050, 5115, 5175)]
    assert changes == [[], [], REQUEUED]


def test_a_command_that_fails_is_an_error_without_a_change(slurm: Slurm) -> None:
    (slurm.folder / "squeue").write_text("#!/bin/sh\necho 'squeue: error: no controller' >&2; exit 1\n")
    with pytest.raises(slurm.program.SlurmError, match="no controller"):
        slurm.run(70, LOST, {"7": "gone"})
    assert (slurm.folder / "changes").read_text() == ""
    assert not (slurm.folder / "state.json").exists() or json.loads((slurm.folder / "state.json").read_text())


def test_a_refused_requeue_stops_no_other_one_and_is_tried_again(
    slurm: Slurm, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs, steps = {**LOST, "8": LOST["7"]}, {"7": "gone", "8": "gone"}
    assert slurm.run(70, jobs, steps) == []
    (slurm.folder / "refused").write_text("7\n")
    assert "requeue 8" in slurm.run(130, jobs, steps, status=2)
    assert "job 7 is not requeued" in capsys.readouterr().err
    (slurm.folder / "refused").write_text("")
    assert slurm.run(190, LOST, steps) == []
    assert slurm.run(250, LOST, steps) == REQUEUED


def test_a_job_that_slurm_has_started_again_meanwhile_is_left_alone(slurm: Slurm) -> None:
    assert slurm.run(70, LOST, {"7": "gone"}) == []
    # The second list of jobs has the job with its new start.
    again = f'sed -i "s/|{BOOT - 1}|/|{BOOT + 125}|/" "$LAB/jobs"'
    (slurm.folder / "squeue").write_text(f'#!/bin/sh\ncat "$LAB/jobs"\n{again}\n')
    assert slurm.run(130, LOST, {"7": "gone"}) == []


def test_a_failed_question_is_no_answer(slurm: Slurm) -> None:
    (slurm.folder / "sstat").write_text("#!/bin/sh\nexit 1\n")
    assert [slurm.run(seconds, LOST, {}) for seconds in (70, 130, 190)] == [[], [], []]
