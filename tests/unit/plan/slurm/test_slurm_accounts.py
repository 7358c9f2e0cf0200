"""Accounts and qualities of service for Slurm's database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.slurm.jobs.accounts import accounts, duration, qualities
from landbridge.plan.slurm.partitions import seconds
from tests.unit.core.samples import environment


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        ("90", "01:30:00"),
        ("4:00:00", "04:00:00"),
        ("1-12", "1-12:00:00"),
        ("7-00:00:00", "7-00:00:00"),
        ("INFINITE", ""),
    ],
)
def test_a_time_limit_is_written_as_sacctmgr_prints_it(limit: str, shown: str) -> None:
    assert duration(limit) == shown


@given(st.integers(1, 400), st.integers(0, 23), st.integers(0, 59))
def test_a_printed_time_limit_has_the_same_duration(days: int, hours: int, minutes: int) -> None:
    limit = f"{days}-{hours:02}:{minutes:02}:00"
    assert duration(limit) == limit
    assert seconds(duration(str(days * 1440 + hours * 60 + minutes))) == seconds(limit)


def test_an_account_without_qualities_has_normal_and_no_default() -> None:
    account = accounts(environment({}))["vision"]
    assert (account["qos"], account["default_qos"]) == (["normal"], "")


def test_the_first_quality_of_an_account_is_its_default() -> None:
    described = environment(
        {
            ("scheduler", "qos"): {"urgent": {"priority": 7, "preempts": ["normal"], "max_gpus_per_user": 8}},
            ("scheduler", "accounts", "vision", "qos"): ["normal", "urgent"],
        }
    )
    account = accounts(described)["vision"]
    assert (account["qos"], account["default_qos"]) == (["normal", "urgent"], "normal")
    urgent = qualities(described)["urgent"]
    assert (urgent["priority"], urgent["preempt"], urgent["maxtrespu"], urgent["grptres"]) == (
        "7",
        "normal",
        "gres/gpu=8",
        "",
    )
