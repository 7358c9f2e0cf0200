"""The steps by which Slurm's qualities of service become what an environment says."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).parents[3] / "ansible/roles/slurm_controller/library/slurm_qos.py"
URGENT = {
    "description": "deadlines",
    "priority": "1000",
    "preempt": "normal",
    "grptres": "gres/gpu=64",
    "maxtrespu": "",
    "maxjobspu": "",
    "maxwall": "12:00:00",
    "usagefactor": "1.000000",
    "grptresmins": "gres/gpu=90000",
    "flags": "NoDecay",
}
SHOWN = "normal|0||||||1.000000||\nurgent|1000|normal|gres/gpu=64|||12:00:00|1.000000|gres/gpu=90000|NoDecay\n"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm_qos", PATH)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_nothing_to_do_is_no_step(module: ModuleType) -> None:
    assert module.plan({"urgent": URGENT}, module.parse(SHOWN)) == []


def test_all_names_are_there_before_one_names_another(module: ModuleType) -> None:
    steps = module.plan({"a": {**URGENT, "preempt": "b"}, "b": {}}, {})
    assert [step[:3] for step in steps] == [["add", "qos", "a"], ["add", "qos", "b"], ["modify", "qos", "where"]]
    assert steps[-1][3:] == [
        "name=a",
        "set",
        "priority=1000",
        "preempt=b",
        "grptres=gres/gpu=64",
        "maxwall=12:00:00",
        "grptresmins=gres/gpu=90000",
        "flags=NoDecay",
    ]


def test_before_slurmctld_has_run_there_are_names_and_no_limits(module: ModuleType) -> None:
    assert module.plan({"urgent": URGENT}, {}, only_add=True) == [["add", "qos", "urgent", "description=deadlines"]]
    assert module.plan({"urgent": {**URGENT, "priority": "5"}}, module.parse(SHOWN), only_add=True) == []


def test_flags_are_a_set(module: ModuleType) -> None:
    shown = "urgent|1000|normal|gres/gpu=64|||12:00:00|1.000000|gres/gpu=90000|NoDecay,DenyOnLimit\n"
    assert module.plan({"urgent": {**URGENT, "flags": "DenyOnLimit,NoDecay"}}, module.parse(shown)) == []


def test_a_setting_that_is_no_longer_wanted_is_taken_away(module: ModuleType) -> None:
    less = {**URGENT, "grptres": "", "preempt": "", "maxwall": "", "grptresmins": "", "flags": ""}
    assert module.plan({"urgent": less}, module.parse(SHOWN)) == [
        [
            "modify",
            "qos",
            "where",
            "name=urgent",
            "set",
            "preempt=",
            "grptres=gres/gpu=-1",
            "maxwall=-1",
            "grptresmins=gres/gpu=-1",
            "flags=-1",
        ]
    ]


def test_one_that_nobody_describes_any_more_stays_with_its_history(module: ModuleType) -> None:
    assert module.plan({}, module.parse(SHOWN)) == []
