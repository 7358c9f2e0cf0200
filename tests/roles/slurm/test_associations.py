"""Steps that change Slurm's accounts and users to those of an environment."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).parents[3] / "ansible/roles/slurm_controller/library/slurm_associations.py"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm_associations", PATH)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_without_a_difference_there_is_no_step(module: ModuleType) -> None:
    present = module.parse("root||1|\nroot|root|1|\nvision||1|gres/gpu=16\nvision|alice|1|\n")
    expected = {"vision": {"users": ["alice"], "grp_tres": {"gres/gpu": 16}}}
    assert module.plan("site", expected, present) == []


def test_a_new_account_comes_with_its_users_and_after_its_parent(module: ModuleType) -> None:
    expected = {"a-team": {"users": ["bob", "alice"], "parent": "vision"}, "vision": {"users": []}}
    steps = module.plan("site", expected, {})
    assert [step[:3] for step in steps] == [
        ["add", "account", "vision"],
        ["add", "account", "a-team"],
        ["add", "user", "alice,bob"],
    ]
    assert "parent=vision" in steps[1]


def test_a_user_who_is_no_longer_listed_leaves_the_account_alone(module: ModuleType) -> None:
    present = module.parse("vision||1|\nvision|alice|1|\nvision|eve|1|\nother|eve|1|\n")
    assert module.plan("site", {"vision": {"users": ["alice"]}}, present) == [
        ["delete", "user", "where", "name=eve", "account=vision", "cluster=site"]
    ]


def test_limits_are_changed_and_a_dropped_limit_is_removed(module: ModuleType) -> None:
    present = module.parse("vision||1|gres/gpu=16\n")
    increased = module.plan("site", {"vision": {"fairshare": 5, "grp_tres": {"gres/gpu": 32}}}, present)
    assert increased == [
        ["modify", "account", "where", "name=vision", "cluster=site", "set", "GrpTRES=gres/gpu=32", "fairshare=5"]
    ]
    removed = module.plan("site", {"vision": {}}, present)
    assert removed[0][-2:] == ["fairshare=1", "GrpTRES=gres/gpu=-1"]


def test_accounts_that_are_parents_of_each_other_give_finite_steps(module: ModuleType) -> None:
    steps = module.plan("site", {"a": {"parent": "b"}, "b": {"parent": "a"}}, {})
    assert len(steps) == 2


def test_qos_are_changed_and_a_dropped_default_is_removed(module: ModuleType) -> None:
    present = module.parse("vision||1||normal,urgent|urgent\n")
    expected = {"qos": ["urgent", "normal"], "default_qos": "urgent"}
    assert module.plan("site", {"vision": expected}, present) == []
    removed = module.plan("site", {"vision": {"qos": ["normal"], "default_qos": ""}}, present)
    assert removed == [
        [
            "modify",
            "account",
            "where",
            "name=vision",
            "cluster=site",
            "set",
            "QOS=normal",
            "fairshare=1",
            "DefaultQOS=-1",
        ]
    ]


def test_an_account_without_configured_qos_keeps_its_qos(module: ModuleType) -> None:
    present = module.parse("vision||1||normal,urgent|urgent\n")
    assert module.plan("site", {"vision": {}}, present) == []


def test_before_slurmctld_has_run_only_names_are_added(module: ModuleType) -> None:
    expected = {"vision": {"users": ["alice"], "fairshare": 5, "grp_tres": {"gres/gpu": 8}, "qos": ["urgent"]}}
    steps = module.plan("site", expected, {}, only_add=True)
    assert steps == [
        ["add", "account", "vision", "cluster=site", "parent=root", "description=vision", "organization=site"],
        ["add", "user", "alice", "account=vision", "cluster=site"],
    ]
    present = module.parse("vision||1||normal|\nvision|alice|1||normal|\nvision|eve|1||normal|\n")
    assert module.plan("site", expected, present, only_add=True) == []
