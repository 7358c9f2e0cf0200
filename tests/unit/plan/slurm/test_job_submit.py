"""job_submit.lua in a real Lua interpreter: accepted and refused jobs and changes of jobs."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment

#: Debian's Slurm uses Lua 5.1; other builds 5.3 or 5.4.
LUAS = ("lua51", "lua53", "lua54")
#: Program that runs a file as `lua` does, in the given interpreter.
RUN = """
import importlib, sys
lua = importlib.import_module("lupa." + sys.argv[1]).LuaRuntime()
lua.globals().arg = lua.table_from({1: sys.argv[3]})
lua.globals().dofile(sys.argv[2])
"""
#: The environment of slurmctld for a script: a table `slurm` with these names, and jobs of which only these fields are
#: read.
HOST = """
local messages = {}
slurm = setmetatable({SUCCESS = 0, ERROR = -1, ESLURM_ACCESS_DENIED = 2002,
  log_info = function(...) string.format(...) end,
  log_user = function(...) messages[#messages + 1] = string.format(...) end}, {__index = function(_, name) error("slurm." .. name) end})
local KNOWN = {account = true, default_account = true, partition = true, reservation = true}
local function job(fields)
  return setmetatable(fields, {__index = function(_, name) assert(KNOWN[name], name) end,
    __newindex = function(_, name) error("sets " .. name) end})
end
assert(dofile(arg[1]) == 0)
"""

ACCOUNTS: dict[DataPath, Any] = {
    ("data_classes", "public-cloud"): {"sites": ["aws"]},
    ("scheduler", "accounts", "clinic"): {"data_class": "restricted", "users": ["bob"]},
    ("scheduler", "accounts", "web"): {"data_class": "public-cloud", "users": ["bob"]},
}
CLINIC, VISION = {"default_account": "clinic"}, {"default_account": "vision"}


def script(changes: Mapping[DataPath, Any] | None = None) -> str:
    return slurm_files(environment({**ACCOUNTS, **(changes or {})}))["job_submit.lua"]


def lua(value: Mapping[str, str]) -> str:
    return "job{" + ", ".join(f"{key} = {json.dumps(text)}" for key, text in value.items()) + "}"


def run_script(folder: Path, text: str, *calls: str, program: str = LUAS[0]) -> list[tuple[int, str]]:
    """Run `calls` in the script; return the code of each call and its message for the user."""
    (folder / "job_submit.lua").write_text(text)
    body = "".join(f'messages = {{}}\nprint({call}, table.concat(messages, " / "))\n' for call in calls)
    (folder / "host.lua").write_text(HOST + body)
    completed = subprocess.run(
        [sys.executable, "-c", RUN, program, str(folder / "host.lua"), str(folder / "job_submit.lua")],
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    return [
        (int(code), message) for code, _, message in (line.partition("\t") for line in completed.stdout.splitlines())
    ]


def submit(job: Mapping[str, str]) -> str:
    return f"slurm_job_submit({lua(job)}, {{}}, 20001)"


def modify(change: Mapping[str, str], job: Mapping[str, str]) -> str:
    return f"slurm_job_modify({lua(change)}, {lua(job)}, {{}}, 0)"


ALLOWED = [
    submit({**VISION}),
    submit({**VISION, "partition": "p5"}),
    submit({**CLINIC, "partition": "onprem"}),
    submit({"account": "CLINIC", "partition": "onprem"}),
    submit({**CLINIC, "account": "vision", "partition": "p5"}),
    submit({"account": "root", "partition": "p5"}),
    submit({"account": "unknown", "partition": "onprem"}),
    submit({"account": "web", "partition": "p5"}),
    submit({**VISION, "reservation": "course"}),
    submit({**CLINIC, "reservation": "course", "partition": "onprem"}),
    modify({"partition": "onprem"}, {"account": "clinic", "partition": "onprem"}),
    modify({"partition": "p5"}, {"account": "vision", "partition": "gpu"}),
    modify({}, {"account": "clinic", "partition": "p5"}),
    modify({"account": "vision", "partition": "p5"}, {"account": "clinic", "partition": "onprem"}),
]
REFUSED = [
    (submit({**CLINIC}), "partition 'gpu' may start the job in AWS"),
    (submit({**CLINIC, "partition": ""}), "partition 'gpu'"),
    (submit({**CLINIC, "account": "", "partition": "p5"}), "partition 'p5'"),
    (submit({**CLINIC, "partition": "p5"}), "class 'restricted', which may be on-prem only"),
    (submit({**CLINIC, "partition": "onprem,p5"}), "Use: --partition=onprem"),
    (submit({"account": "Clinic", "partition": "p5"}), "account 'clinic'"),
    (submit({**CLINIC, "partition": "byhand"}), "it is unknown whether"),
    (submit({"account": "unknown", "partition": "p5"}), "account 'unknown' is not in the cluster's environment"),
    (submit({"partition": "gpu"}), "is not in the cluster's environment"),
    (submit({"account": "unknown", "partition": "byhand"}), "is not in the cluster's environment"),
    (submit({**CLINIC, "reservation": "course", "partition": "p5"}), "partition 'p5'"),
    (submit({"account": "web"}), "which may be in AWS only; partition 'gpu' may start the job on-prem"),
    (modify({"partition": "p5"}, {"account": "clinic", "partition": "onprem"}), "partition 'p5'"),
    (modify({"partition": "onprem,gpu"}, {"account": "clinic", "partition": "onprem"}), "partition 'gpu'"),
    (modify({"account": "clinic"}, {"account": "vision", "partition": "p5"}), "account 'clinic'"),
    (modify({"account": ""}, {"account": "vision", "partition": "p5"}), "is not in the cluster's environment"),
    (modify({"partition": ""}, {"account": "clinic", "partition": "p5"}), "partition 'p5'"),
]  # fmt: skip


@pytest.mark.parametrize("program", LUAS)
def test_jobs_are_accepted_only_in_partitions_that_their_data_may_use(tmp_path: Path, program: str) -> None:
    text = script()
    assert run_script(tmp_path, text, *ALLOWED, program=program) == [(0, "")] * len(ALLOWED)
    for (call, expected), (code, message) in zip(
        REFUSED, run_script(tmp_path, text, *(call for call, _ in REFUSED), program=program), strict=True
    ):
        assert code == 2002 and expected in message, f"{call}: {code} {message}"


def test_restricted_accounts_are_refused_in_every_partition_with_cloud_nodes(tmp_path: Path) -> None:
    partitions = {"mixed": {"nodes": ["dgx01", "p5"]}, "quiet": {"nodes": ["dgx02"]}, "onward": {"nodes": ["dgx02"], "settings": {"Alternate": "p5"}}}  # fmt: skip
    text = script({("scheduler", "partitions"): partitions})
    names = ("gpu", "onprem", "p5", "mixed", "quiet", "onward")
    answers = run_script(tmp_path, text, *(submit({"account": "clinic", "partition": name}) for name in names))
    assert [name for name, (code, _) in zip(names, answers, strict=True) if code == 0] == ["onprem", "quiet"]
    assert "Use: --partition=onprem, --partition=quiet" in answers[0][1]


def test_a_job_without_a_partition_is_checked_in_the_default_partition(tmp_path: Path) -> None:
    text = script({("scheduler", "partitions"): {"onprem": {"default": True}}})
    assert run_script(tmp_path, text, submit({**CLINIC}), submit({**VISION})) == [(0, ""), (0, "")]
    # Without a partition, a job gets the partition of its reservation.
    ((code, message),) = run_script(tmp_path, text, submit({**CLINIC, "reservation": "course"}))
    assert code == 2002 and "Use: --partition=onprem" in message


def test_an_on_prem_partition_accepts_restricted_jobs_and_does_not_promote_them(tmp_path: Path) -> None:
    text = script({("burst",): {"wait_minutes": 10}})
    promotion = {"partition": "gpu,p5"}
    calls = [submit({**CLINIC}), modify(promotion, {"account": "vision", "partition": "gpu"})]
    assert run_script(tmp_path, text, *calls) == [(0, ""), (0, "")]
    ((code, message),) = run_script(tmp_path, text, modify(promotion, {"account": "clinic", "partition": "gpu"}))
    assert code == 2002 and "partition 'p5'" in message


def test_percent_signs_in_an_account_name_are_literal(tmp_path: Path) -> None:
    ((code, message),) = run_script(tmp_path, script(), submit({"account": "%s%d", "partition": "p5"}))
    assert code == 2002 and "account '%s%d'" in message


def test_the_script_exists_only_with_accounts_and_cloud_nodes() -> None:
    def files(chosen: Environment) -> tuple[bool, bool]:
        rendered = slurm_files(chosen)
        return "job_submit.lua" in rendered, "JobSubmitPlugins=lua\n" in rendered["slurm.conf"]

    assert files(environment()) == (True, True)
    assert files(environment({("scheduler", "accounts"): {}})) == (False, False)
    assert files(environment({("aws", "pools"): [], ("link",): None})) == (False, False)
