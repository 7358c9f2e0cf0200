"""Steps that change Slurm's QOS to those of an environment."""

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
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_without_a_difference_there_is_no_step(module: ModuleType) -> None:
    assert module.plan({"urgent": URGENT}, module.parse(SHOWN)) == []


def test_all_qos_are_added_before_one_refers_to_another(module: ModuleType) -> None:
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


def test_before_slurmctld_has_run_only_names_are_added(module: ModuleType) -> None:
    assert module.plan({"urgent": URGENT}, {}, only_add=True) == [["add", "qos", "urgent", "description=deadlines"]]
    assert module.plan({"urgent": {**URGENT, "priority": "5"}}, module.parse(SHOWN), only_add=True) == []


def test_the_order_of_flags_is_no_difference(module: ModuleType) -> None:
    shown = "urgent|1000|normal|gres/gpu=64|||12:00:00|1.000000|gres/gpu=90000|NoDecay,DenyOnLimit\n"
    assert module.plan({"urgent": {**URGENT, "flags": "DenyOnLimit,NoDecay"}}, module.parse(shown)) == []


def test_a_dropped_setting_is_removed(module: ModuleType) -> None:
    without_limits = {**URGENT, "grptres": "", "preempt": "", "maxwall": "", "grptresmins": "", "flags": ""}
    assert module.plan({"urgent": without_limits}, module.parse(SHOWN)) == [
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


def test_a_qos_that_is_not_configured_any_more_is_kept_with_its_history(module: ModuleType) -> None:
    assert module.plan({}, module.parse(SHOWN)) == []
