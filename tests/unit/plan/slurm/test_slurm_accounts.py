"""Accounts and qualities of service, as Slurm's database is to have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.slurm.accounts import accounts, duration, qualities
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
def test_what_is_printed_means_the_same(days: int, hours: int, minutes: int) -> None:
    limit = f"{days}-{hours:02}:{minutes:02}:00"
    assert duration(limit) == limit
    assert seconds(duration(str(days * 1440 + hours * 60 + minutes))) == seconds(limit)


def test_an_account_without_qualities_has_slurms_own_and_no_default() -> None:
    found = accounts(environment({}))["vision"]
    assert (found["qos"], found["default_qos"]) == (["normal"], "")


def test_the_first_quality_is_what_a_job_gets_unasked() -> None:
    described = environment(
        {
            ("scheduler", "qos"): {"urgent": {"priority": 7, "preempts": ["normal"], "max_gpus_per_user": 8}},
            ("scheduler", "accounts", "vision", "qos"): ["normal", "urgent"],
        }
    )
    found = accounts(described)["vision"]
    assert (found["qos"], found["default_qos"]) == (["normal", "urgent"], "normal")
    urgent = qualities(described)["urgent"]
    assert (urgent["priority"], urgent["preempt"], urgent["maxtrespu"], urgent["grptres"]) == (
        "7",
        "normal",
        "gres/gpu=8",
        "",
    )
