"""Launching and ending with two sets of credentials."""

from pathlib import Path

import pytest

from landbridge.burst.config import Config
from landbridge.burst.ec2 import Ec2
from landbridge.burst.errors import AwsError
from sandbox.cloud.process import Cloud


def ec2_of(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, file: Path) -> Ec2:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    return Ec2(
        Config(
            cluster="c",
            region="us-east-1",
            endpoint=cloud.endpoint,
            credentials_file=None,
            log_file="unused",
            lease_minutes=30,
            slurm_key_secret="unused",
            pools={},
            accounts={},
        )
    )


def test_ending_uses_the_profile_that_is_there_for_it(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = cloud.launch_credentials.read_text()
    bad = good.replace("[default]", "[terminate]").replace("aws_access_key_id = A", "aws_access_key_id = B")
    both = tmp_path / "both"
    both.write_text(f"{good}\n{bad}")
    ec2 = ec2_of(cloud, monkeypatch, both)
    assert ec2.machines() == []
    with pytest.raises(AwsError, match="AuthFailure"):
        ec2.terminate(["i-0123456789abcdef0"])


def test_one_set_of_credentials_does_both(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ec2 = ec2_of(cloud, monkeypatch, cloud.launch_credentials)
    with pytest.raises(AwsError, match="NotFound"):
        ec2.terminate(["i-0123456789abcdef0"])
