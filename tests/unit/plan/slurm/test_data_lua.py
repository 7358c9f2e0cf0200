"""Section of job_submit.lua about data, in a real Lua interpreter: held and refused jobs, and refused changes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge.plan.slurm.files import slurm_files
from landbridge.staging.results import ResultsStatement, stated_results
from landbridge.staging.statement import HELD_PREFIX, stated_data
from tests.unit.core.samples import environment
from tests.unit.plan.slurm.test_job_submit import LUAS, RUN

HOST = """
slurm = {SUCCESS = 0, ERROR = -1, ESLURM_ACCESS_DENIED = 2002, log_info = function() end,
  log_user = function(...) message = string.format(...) end}
assert(dofile(arg[1]) == 0)
local function show(code, job)
  print(table.concat({code, tostring(job.priority), tostring(job.comment), tostring(job.admin_comment), tostring(message)}, "|"))
  message = nil
end
"""
STAGING = {("storage", "staging"): {"folder": "/export/home/datasets", "mount": "/home/datasets"}}


def run(tmp_path: Path, *calls: str, program: str = LUAS[0]) -> list[list[str]]:
    """Return code, priority, comment, AdminComment and message of each call."""
    (tmp_path / "job_submit.lua").write_text(slurm_files(environment(STAGING))["job_submit.lua"])
    (tmp_path / "host.lua").write_text(HOST + "".join(f"{call}\n" for call in calls))
    command = [sys.executable, "-c", RUN, program, str(tmp_path / "host.lua"), str(tmp_path / "job_submit.lua")]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return [line.split("|") for line in completed.stdout.splitlines()]


def submit(**fields: str | int) -> str:
    job = ", ".join(f"{key} = {json.dumps(value)}" for key, value in {"account": "vision", **fields}.items())
    return f"do local job = {{{job}}} show(slurm_job_submit(job, {{}}, 20001), job) end"


def modify(change: str, job: str, uid: int = 20001) -> str:
    return f"do local change = {{{change}}} show(slurm_job_modify(change, {{{job}}}, {{}}, {uid}), change) end"


@pytest.mark.parametrize("program", LUAS)
def test_a_job_with_data_is_held(tmp_path: Path, program: str) -> None:
    calls = [
        submit(comment="data=corpus:2026-11,words@v1"),
        submit(comment="tool=x; data=corpus:1"),
        submit(script="#!/bin/sh\n#SBATCH -n 1\n#LANDBRIDGE data=corpus:1\ntrue\n", comment="tool=x"),
        submit(script="#LANDBRIDGE data=corpus:1\n", comment="data=corpus:1"),
    ]
    rows = run(tmp_path, *calls, program=program)
    assert [row[:4] for row in rows] == [
        ["0", "0", "data=corpus:2026-11,words@v1", f"{HELD_PREFIX}waits for corpus:2026-11,words:v1"],
        ["0", "0", "tool=x; data=corpus:1", f"{HELD_PREFIX}waits for corpus:1"],
        ["0", "0", "tool=x data=corpus:1", f"{HELD_PREFIX}waits for corpus:1"],
        ["0", "0", "data=corpus:1", f"{HELD_PREFIX}waits for corpus:1"],
    ]
    assert all(stated_data(row[2]) for row in rows)


@pytest.mark.parametrize("program", LUAS)
def test_a_job_with_results_is_held_until_they_are_recorded(tmp_path: Path, program: str) -> None:
    calls = [
        submit(comment="results=."),
        submit(comment="data=corpus:1;results=out/final:run-1"),
        submit(script="#LANDBRIDGE results=out\n#LANDBRIDGE data=corpus:1\n"),
    ]
    rows = run(tmp_path, *calls, program=program)
    assert [row[:4] for row in rows] == [
        ["0", "0", "results=.", f"{HELD_PREFIX}waits until its results are recorded"],
        ["0", "0", "data=corpus:1;results=out/final:run-1", f"{HELD_PREFIX}waits for corpus:1"],
        ["0", "0", "data=corpus:1 results=out", f"{HELD_PREFIX}waits for corpus:1"],
    ]
    stated = [stated_results(row[2]) for row in rows]
    assert stated == [ResultsStatement("."), ResultsStatement("out/final", "run-1"), ResultsStatement("out")]


def test_a_job_without_data_is_unchanged(tmp_path: Path) -> None:
    calls = [submit(), submit(comment="metadata=x"), submit(script="#!/bin/sh\necho data=corpus:1\n")]
    assert [row[:2] + row[3:] for row in run(tmp_path, *calls)] == [["0", "nil", "nil", "nil"]] * 3


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"comment": "data=corpus"}, "'corpus' is not NAME:VERSION"),
        ({"comment": "data="}, "'' is not NAME:VERSION"),
        ({"comment": "data=corpus:1,,x:2"}, "'' is not NAME:VERSION"),
        ({"comment": "data=Corpus:1"}, "'Corpus:1' is not NAME:VERSION"),
        ({"comment": "data=../x:1"}, "'../x:1' is not NAME:VERSION"),
        ({"comment": f"data={'a' * 64}:1"}, "is not NAME:VERSION"),
        ({"script": "#LANDBRIDGE data=corpus\n"}, "'corpus' is not NAME:VERSION"),
        ({"script": "#LANDBRIDGE data=a:1\n", "comment": "data=b:1"}, "state one of them"),
        ({"comment": "data=a:1", "priority": 0}, "leave out --hold"),
        ({"comment": "results=/home/x"}, "results='/home/x' is not PATH[:NAME]"),
        ({"comment": "results=../x"}, "is not PATH[:NAME]"),
        ({"comment": "results=a//b"}, "is not PATH[:NAME]"),
        ({"comment": "results=a/"}, "is not PATH[:NAME]"),
        ({"comment": "results="}, "is not PATH[:NAME]"),
        ({"comment": "results=a:"}, "is not PATH[:NAME]"),
        ({"comment": "results=a:b/c"}, "is not PATH[:NAME]"),
        ({"comment": f"results=a:{'b' * 64}"}, "is not PATH[:NAME]"),
        ({"comment": "results=a", "script": "#LANDBRIDGE results=b\n"}, "state one of them"),
        (
            {"comment": "results=a", "account": "clinic", "partition": "onprem"},
            "data of account 'clinic' may not be at both",
        ),
        ({"comment": "results=a", "account": "", "default_account": "", "partition": "onprem"}, "account ''"),
    ],
)
def test_other_forms_are_refused_with_the_reason(tmp_path: Path, fields: dict[str, str | int], reason: str) -> None:
    ((code, *_, message),) = run(tmp_path, submit(**fields))
    assert code == "2002" and reason in message


HELD = f'account = "vision", comment = "data=a:1", admin_comment = "{HELD_PREFIX}waits for a:1", partition = "onprem"'
FREE = 'account = "vision", comment = "data=a:1", admin_comment = "x", partition = "onprem"'


@pytest.mark.parametrize(
    ("change", "job", "reason"),
    [
        ("priority = 4294967295", HELD, "waits for its data"),
        ('comment = "data=b:1"', HELD, "cannot be changed"),
        ('comment = "data=b:1"', 'account = "vision"', "cannot be changed"),
        ('comment = "data=a:1 results=b"', HELD, "cannot be changed"),
        ('partition = "p5"', FREE, "submit it again there"),
    ],
)
def test_a_user_cannot_change_the_data_or_lift_the_hold(tmp_path: Path, change: str, job: str, reason: str) -> None:
    user, controller, root = run(tmp_path, *(modify(change, job, uid) for uid in (20001, 64030, 0)))
    assert user[0] == "2002" and reason in user[4]
    assert controller[0] == root[0] == "0"


def test_other_changes_of_a_held_job_are_permitted(tmp_path: Path) -> None:
    calls = [
        modify(change, HELD)
        for change in ('name = "x"', "priority = 4294967294", "priority = 0", 'partition = "onprem"')
    ]
    calls += [modify("priority = 4294967295", FREE)]
    assert [row[0] for row in run(tmp_path, *calls)] == ["0"] * 5


def test_the_script_is_unchanged_without_staging() -> None:
    assert "LANDBRIDGE" not in slurm_files(environment())["job_submit.lua"]


@pytest.mark.parametrize("text", ["data=a", "data=a:1,b", "data=a:1:2"])
def test_the_controller_reads_no_other_form(text: str) -> None:
    with pytest.raises(ValueError, match="is not NAME:VERSION"):
        stated_data(text)


@pytest.mark.parametrize(
    "text", ["results=", "results=/a", "results=a/../b", "results=a:", "results=a:b/c", "results=a//b"]
)
def test_the_controller_reads_no_other_form_of_results(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not PATH\[:NAME\]"):
        stated_results(text)
