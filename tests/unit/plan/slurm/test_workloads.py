"""Workload classes: selection by labels, and the messages of job_submit.lua in a real Lua interpreter."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from landbridge.plan.slurm.jobs.workloads import JobLabels, lua_pattern, workload_of, workload_sites
from tests.thorough import examples
from tests.unit.core.samples import environment
from tests.unit.plan.placement.estate import CLASSES, estate
from tests.unit.plan.slurm.test_job_submit import LUAS, run_script, script


@pytest.mark.parametrize(
    ("labels", "workload"),
    [
        (JobLabels("vision"), "burst"),
        (JobLabels("vision", name="train-1"), "baseline"),
        (JobLabels("ward", name="train-1"), "burst"),
        (JobLabels("vision", name="train-1", comment="x class=sensitive"), "sensitive"),
        (JobLabels("vision", name="train-1", qos="scavenger"), "experiments"),
        (JobLabels("web", name="serve-a"), "inference"),
    ],
)
def test_a_job_belongs_to_the_first_class_that_fits(labels: JobLabels, workload: str) -> None:
    assert workload_of(estate(CLASSES), labels) == workload


def test_the_default_qos_of_an_account_selects_a_class() -> None:
    chosen = environment(
        {
            ("scheduler", "qos"): {"scavenger": {}},
            ("scheduler", "accounts", "vision", "qos"): ["scavenger"],
            ("placement", "classes"): {"experiments": {"qos": ["scavenger"]}},
        }
    )
    assert workload_of(chosen, JobLabels("vision")) == "experiments"
    assert workload_of(chosen, JobLabels("vision", qos="normal")) == "burst"


def test_a_class_without_sites_has_the_defaults_and_jobs_without_a_class_are_not_confined() -> None:
    chosen = estate(CLASSES)
    assert workload_sites(chosen, "baseline") == {"onprem"}
    assert workload_sites(chosen, "experiments") == workload_sites(chosen, "burst") == {"onprem", "aws"}


@pytest.mark.parametrize("program", LUAS)
def test_a_refusal_names_the_class_and_the_partitions_that_are_possible(tmp_path: Path, program: str) -> None:
    text = script({("placement", "classes"): {"baseline": {"accounts": ["vision"], "names": ["train-*"]}}})
    job = '{account = "vision", name = "%s", partition = "%s", qos = "", comment = ""}'
    calls = [
        f"slurm_job_submit({job % pair}, {{}}, 20001)"
        for pair in (("train-1", "p5"), ("train-1", "onprem"), ("other", "p5"), ("train-1", "byhand"))
    ]
    answers = run_script(tmp_path, text, *calls, program=program)
    assert [code for code, _ in answers] == [2002, 0, 0, 2002]
    message = (
        "jobs of class 'baseline' may be on-prem only; partition 'p5' may start the job in AWS. Use: --partition=onprem"
    )
    assert message in answers[0][1]


TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)


@settings(deadline=None, max_examples=examples(100, 300))
@given(pattern=TEXT, text=TEXT)
@example(pattern="a.b*%c", text="a.bXX%c")
@example(pattern="[x]*^$()-+?", text="[x]y^$()-+?")
@example(pattern="*", text="")
def test_a_pattern_means_the_same_in_lua_and_in_python(pattern: str, text: str) -> None:
    lua = import_module("lupa.lua51").LuaRuntime()
    is_match = lua.eval("string.find")(text, lua_pattern(pattern)) is not None
    assert is_match == bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL))
