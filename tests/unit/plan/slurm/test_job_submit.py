"""job_submit.lua under a real Lua interpreter: jobs and changes of jobs, and what becomes of them."""

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

#: Debian's Slurm loads 5.1; others 5.3 or 5.4.
LUAS = ("lua51", "lua53", "lua54")
#: Runs a file as the `lua` program does, in the interpreter that is named.
RUN = """
import importlib, sys
lua = importlib.import_module("lupa." + sys.argv[1]).LuaRuntime()
lua.globals().arg = lua.table_from({1: sys.argv[3]})
lua.globals().dofile(sys.argv[2])
"""
#: What slurmctld gives a script: a table `slurm` with these names, and jobs of which only these fields are asked for.
HOST = """
local said = {}
slurm = setmetatable({SUCCESS = 0, ERROR = -1, ESLURM_ACCESS_DENIED = 2002,
  log_info = function(...) string.format(...) end,
  log_user = function(...) said[#said + 1] = string.format(...) end}, {__index = function(_, name) error("slurm." .. name) end})
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
    return "job{" + ", ".join(f"{key} = {json.dumps(one)}" for key, one in value.items()) + "}"


def ask(folder: Path, text: str, *calls: str, program: str = LUAS[0]) -> list[tuple[int, str]]:
    """The answer to each call and what its user is told."""
    (folder / "job_submit.lua").write_text(text)
    body = "".join(f'said = {{}}\nprint({call}, table.concat(said, " / "))\n' for call in calls)
    (folder / "host.lua").write_text(HOST + body)
    done = subprocess.run(
        [sys.executable, "-c", RUN, program, str(folder / "host.lua"), str(folder / "job_submit.lua")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [(int(code), told) for code, _, told in (line.partition("\t") for line in done.stdout.splitlines())]


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
    (submit({**CLINIC, "partition": "byhand"}), "nobody knows whether"),
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
def test_jobs_reach_only_where_their_data_may_be(tmp_path: Path, program: str) -> None:
    text = script()
    assert ask(tmp_path, text, *ALLOWED, program=program) == [(0, "")] * len(ALLOWED)
    for (call, why), (code, told) in zip(
        REFUSED, ask(tmp_path, text, *(call for call, _ in REFUSED), program=program), strict=True
    ):
        assert code == 2002 and why in told, f"{call}: {code} {told}"


def test_no_account_of_a_confined_class_gets_into_any_queue_with_cloud_nodes(tmp_path: Path) -> None:
    own = {"mixed": {"nodes": ["dgx01", "p5"]}, "quiet": {"nodes": ["dgx02"]}, "onward": {"nodes": ["dgx02"], "settings": {"Alternate": "p5"}}}  # fmt: skip
    text = script({("scheduler", "partitions"): own})
    queues = ("gpu", "onprem", "p5", "mixed", "quiet", "onward")
    answers = ask(tmp_path, text, *(submit({"account": "clinic", "partition": queue}) for queue in queues))
    assert [queue for queue, (code, _) in zip(queues, answers, strict=True) if code == 0] == ["onprem", "quiet"]
    assert "Use: --partition=onprem, --partition=quiet" in answers[0][1]


def test_the_default_queue_of_a_site_is_the_one_that_counts(tmp_path: Path) -> None:
    text = script({("scheduler", "partitions"): {"onprem": {"default": True}}})
    assert ask(tmp_path, text, submit({**CLINIC}), submit({**VISION})) == [(0, ""), (0, "")]
    # A reservation's queue becomes the job's where it names none.
    ((code, told),) = ask(tmp_path, text, submit({**CLINIC, "reservation": "course"}))
    assert code == 2002 and "Use: --partition=onprem" in told


def test_a_queue_that_waits_on_site_takes_restricted_jobs_and_lets_none_of_them_on(tmp_path: Path) -> None:
    text = script({("burst",): {"wait_minutes": 10}})
    let_on = {"partition": "gpu,p5"}
    calls = [submit({**CLINIC}), modify(let_on, {"account": "vision", "partition": "gpu"})]
    assert ask(tmp_path, text, *calls) == [(0, ""), (0, "")]
    ((code, told),) = ask(tmp_path, text, modify(let_on, {"account": "clinic", "partition": "gpu"}))
    assert code == 2002 and "partition 'p5'" in told


def test_words_with_percent_signs_are_only_words(tmp_path: Path) -> None:
    ((code, told),) = ask(tmp_path, script(), submit({"account": "%s%d", "partition": "p5"}))
    assert code == 2002 and "account '%s%d'" in told


def test_it_is_there_when_it_can_hold_and_only_then() -> None:
    def files(found: Environment) -> tuple[bool, bool]:
        given = slurm_files(found)
        return "job_submit.lua" in given, "JobSubmitPlugins=lua\n" in given["slurm.conf"]

    assert files(environment()) == (True, True)
    assert files(environment({("scheduler", "accounts"): {}})) == (False, False)
    assert files(environment({("aws", "pools"): [], ("link",): None})) == (False, False)
