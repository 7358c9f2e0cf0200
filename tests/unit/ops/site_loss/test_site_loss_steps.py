"""Steps of a recovery and of the return: their order, their fences, and a run that is killed at each point."""

import os
import signal
import socket
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from landbridge.catalog.site_loss import WAYS, RecoveryStep, Way, site_loss_facts
from landbridge.ops.site_loss.records import Progress, append, read
from landbridge.ops.site_loss.run import StepRun, run
from landbridge.ops.site_loss.steps import PlannedStep, next_step, places, planned_steps, refusal

NAMES = dict.fromkeys(("environment", "file", "fetch", "dumps", "slurm_dump", "home_host", "site_home_host"), "acme")
#: A step's program: it notes its work once, and kills the run (its parent) before or after it if a file says so.
PROGRAM = """import os, signal, sys
folder, name = sys.argv[1:]
def kill(moment):
    try:
        os.rename(f"{folder}/kill-{moment}-{name}", f"{folder}/killed-{moment}-{name}")
    except FileNotFoundError:
        return
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit(1)
kill("before")
with open(f"{folder}/work", "a") as file:
    file.write(name + "\\n")
kill("after")
"""


def run_of(way: Way, folder: Path) -> StepRun:
    """Return the run of a way whose commands are the test's program, and whose operators' steps are confirmed."""
    program = folder / "program.py"
    if not program.exists():
        program.write_text(PROGRAM)
    steps = tuple(
        PlannedStep(
            step.name, step.facts, (sys.executable, str(program), str(folder), step.name) if step.words else (), ""
        )
        for step in planned_steps(way, NAMES)
    )
    return StepRun(way, steps, folder / "records.jsonl", folder / "dumps")


def every_operator(step_run: StepRun) -> list[str]:
    return [step.name for step in step_run.steps if not step.words]


def start(way: Way, folder: Path) -> int:
    """Run the steps in a process of its own, which a step can kill; return its exit status."""
    pid = os.fork()
    if pid == 0:
        try:
            step_run = run_of(way, folder)
            outcome = run(step_run, every_operator(step_run), lambda text: None)
            os._exit(2 if outcome.problem or outcome.waits_for else 0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_killed_at_each_step_goes_on_there(way: Way, moment: str, tmp_path: Path) -> None:
    """One run after the other, each killed at the next command: every step is done, and none before its fence."""
    step_run = run_of(way, tmp_path)
    commands = [step.name for step in step_run.steps if step.words]
    for name in commands:
        (tmp_path / f"kill-{moment}-{name}").touch()
    for _ in commands:
        assert start(way, tmp_path) == -signal.SIGKILL
        progress = read(step_run.records)
        assert len(places(way, step_run.steps, progress.done)) <= 1
    assert start(way, tmp_path) == 0
    work = (tmp_path / "work").read_text().split()
    # A step whose work was done when the run was killed is repeated, before the next one begins.
    assert work == [name for name in commands for _ in range(2 if moment == "after" else 1)]
    progress = read(step_run.records)
    assert progress.done == {step.name for step in step_run.steps}
    for name in commands:
        times = progress.step(name)
        assert times is not None and times.attempts == 2 and times.seconds is not None
        assert times.elapsed is not None and times.elapsed >= times.seconds
    # A repeated command changes nothing.
    before = step_run.records.read_bytes()
    assert start(way, tmp_path) == 0
    assert step_run.records.read_bytes() == before


@pytest.mark.parametrize("way", WAYS)
def test_at_no_time_two_control_planes_can_run(way: Way) -> None:
    steps = planned_steps(way, NAMES)
    done = [frozenset(step.name for step in steps[:count]) for count in range(len(steps) + 1)]
    running = [places(way, steps, names) for names in done]
    assert all(len(each) <= 1 for each in running)
    assert running[0] == {"onprem" if way == "recovery" else "aws"}
    assert running[-1] == {"aws" if way == "recovery" else "onprem"}
    # Between the two places there is a time without a control plane: no state is shared.
    assert frozenset() in running and all(left == right or not left or not right for left, right in pairwise(running))


@pytest.mark.parametrize("way", WAYS)
def test_data_is_copied_after_the_fence_and_before_what_deletes_it(way: Way) -> None:
    names = [step.name for step in planned_steps(way, NAMES)]
    if way == "return":
        assert names.index("fence") < names.index("dump") < names.index("sums") < names.index("create")
        assert names.index("homes-copy") < names.index("create") < names.index("homes")
    assert names.index("restore") < names.index("open") < names.index("verify")


def test_mlflow_of_the_site_cannot_start_before_its_databases_are_replaced() -> None:
    """Its fence is a command of the drill, on old and on new hosts, and no step before the restore ends it."""
    steps = planned_steps("return", NAMES)
    names = [step.name for step in steps]
    fences = [
        (step.name, word.partition("=")[2])
        for step in steps
        for word in step.words
        if word.startswith("control_plane=")
    ]
    assert fences == [("fence", "fenced"), ("unfence", "restoring")]
    started = [
        step.name for step in steps if step.facts.starts == "onprem" or step.words[:2] == ("landbridge", "configure")
    ]
    assert started[0] == "unfence" and all(names.index("unfence") <= names.index(name) for name in started)
    assert names.index("unfence") < names.index("configure") < names.index("restore") < names.index("open")
    (restore,) = [step for step in steps if step.name == "restore"]
    assert any(word.startswith("mlflow_dumps=") for word in restore.words), "the restore of MLflow ends its fence"


def test_a_step_that_starts_a_control_plane_needs_the_fence_of_the_other() -> None:
    steps = planned_steps("return", NAMES)
    before = [step for step in steps if step.name not in ("fence",)]
    (configure,) = [step for step in steps if step.name == "configure"]
    records = [{"event": "ended", "step": step.name, "at": 0.0} for step in before[: before.index(configure)]]
    reason = refusal("return", before, Progress(tuple(records)), configure)
    assert reason is not None and "control plane of aws is not fenced" in reason
    fenced = Progress(({"event": "ended", "step": "fence", "at": 0.0}, *records))
    assert refusal("return", steps, fenced, configure) is None
    late = refusal("return", steps, Progress(), configure)
    assert late is not None and "the next one is rebuild" in late


@pytest.fixture
def controller() -> Iterator[tuple[str, int]]:
    """Listen where slurmctld of the site would."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


def test_a_site_that_answers_is_not_fenced(controller: tuple[str, int], tmp_path: Path) -> None:
    step_run = run_of("recovery", tmp_path)
    answering = StepRun(step_run.way, step_run.steps, step_run.records, step_run.dumps, (controller,))
    outcome = run(answering, every_operator(step_run), lambda text: None)
    assert "not fenced" in outcome.problem and read(step_run.records).done == frozenset()


def test_a_site_that_returns_before_the_control_plane_in_aws_starts_stops_the_run(
    controller: tuple[str, int], tmp_path: Path
) -> None:
    step_run = run_of("recovery", tmp_path)
    append(step_run.records, "declared", 0.0)
    while (step := next_step(step_run.steps, read(step_run.records))) is not None and step.facts.starts is None:
        append(step_run.records, "ended", 0.0, step=step.name)
    answering = StepRun(step_run.way, step_run.steps, step_run.records, step_run.dumps, (controller,))
    assert "not fenced" in run(answering, every_operator(step_run), lambda text: None).problem


def test_an_operators_step_waits_for_its_confirmation_and_a_failed_command_is_repeated(tmp_path: Path) -> None:
    step_run = run_of("return", tmp_path)
    outcome = run(step_run, (), lambda text: None)
    assert outcome.waits_for is not None and outcome.waits_for.name == "rebuild"
    status = iter([3])
    outcome = run(step_run, every_operator(step_run), lambda text: None, lambda words: next(status))
    assert outcome.problem.startswith("fence ended with status 3")
    assert start("return", tmp_path) == 0
    times = read(step_run.records).step("fence")
    assert times is not None and times.attempts == 2


def test_a_record_that_a_kill_cut_off_is_replaced(tmp_path: Path) -> None:
    records = tmp_path / "records"
    append(records, "declared", 1.0)
    with records.open("ab") as file:
        file.write(b'{"event": "ended", "st')
    assert read(records).declared_at == 1.0 and read(records).done == frozenset()
    append(records, "ended", 2.0, step="check")
    assert read(records).done == {"check"} and len(records.read_text().splitlines()) == 2


def test_the_measured_recovery_point_is_the_age_of_the_newest_dump(tmp_path: Path) -> None:
    step_run = run_of("recovery", tmp_path)
    folder = step_run.dumps / "slurm"
    folder.mkdir(parents=True)
    (folder / "slurm_acct_db-periodic-20261126T020000.sql.gz").touch()
    (folder / "slurm_acct_db-periodic-20261125T020000.sql.gz").touch()
    # 2026-11-26 03:00 UTC: an hour after the dump.
    append(step_run.records, "declared", 1795662000.0)
    assert run(step_run, every_operator(step_run), lambda text: None).problem == ""
    assert read(step_run.records).to_dict()["recovery_point_seconds"] == 3600.0


def test_each_command_of_the_catalogue_is_a_file_or_a_program_of_this_installation() -> None:
    root = Path(__file__).parents[4]
    for way in WAYS:
        for step in planned_steps(way, NAMES):
            for word in step.words:
                assert not word.startswith("ansible/") or (root / word).is_file(), word
            assert not step.words or Path(sys.executable).with_name(step.words[0]).exists(), step.words[0]
            assert step.words or step.facts.operator or step.facts.text


def test_a_duration_names_its_test() -> None:
    root = Path(__file__).parents[4]
    timed: list[RecoveryStep] = [
        step for way in WAYS for step in site_loss_facts().steps[way].values() if step.seconds is not None
    ]
    assert timed and all((root / step.test).is_file() for step in timed)
