"""Preflight when AWS refuses calls, throttles them or does not answer: rights, credentials and network."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import RefusalKind
from landbridge.findings import Severity
from landbridge.live.preflight import CHECKS, policy, preflight
from sandbox.aws_emulator.process import EmulatorProcess

from .conftest import Build, as_json, findings_of, run, run_preflight
from .estate import Estate

ACTIONS = sorted({action for check in CHECKS.values() for action in check.needs} - {"sts:GetCallerIdentity"})
#: Actions that are called only after another finding, or for resources that this account does not have.
RARE = {
    "servicequotas:GetAWSDefaultServiceQuota", "ec2:DescribeInstanceTypes", "ec2:DescribeAddresses", "kms:DescribeKey",
    "ec2:DescribeNatGateways", "fsx:DescribeFileSystems", "elasticfilesystem:DescribeFileSystems", "s3:GetBucketTagging",
    "fsx:DescribeStorageVirtualMachines", "fsx:DescribeVolumes", "elasticfilesystem:DescribeMountTargets", "ec2:DescribeNetworkInterfaces", "kms:GetKeyPolicy", "kms:ListGrants",
    "ec2:DescribeVpcEndpointServices", "directconnect:DescribeConnections", "directconnect:DescribeLags",
}  # fmt: skip


@pytest.mark.parametrize("group", [ACTIONS[start::4] for start in range(4)], ids=["a", "b", "c", "d"])
def test_a_missing_permission_is_skipped_and_named(
    cloud: EmulatorProcess, estate: Estate, build: Build, group: list[str]
) -> None:
    loaded = build(estate.changes())
    for action in group:
        cloud.control(deny=[action])
        report = run_preflight(loaded, cloud)
        findings = findings_of(report, "live-not-allowed-to-look")
        bad = [finding for finding in report.findings if finding.severity is Severity.ERROR]
        assert not bad, (action, bad)
        if action == "s3:ListBucket":
            # S3 answers a HEAD request with 403 alone: a bucket of another account looks the same.
            assert findings_of(report, "live-bucket")
        elif action not in RARE:
            assert findings and all(action in finding.message for finding in findings), (action, report.findings)
            assert all(
                finding.severity is Severity.INFO and "--permissions" in (finding.fix or "") for finding in findings
            )
            skipped = {outcome.check for outcome in report.looks if outcome.result == "not-allowed"}
            assert skipped and all(action in CHECKS[name].needs for name in skipped), (action, skipped)


def test_the_printed_policy_allows_every_call(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    before = cloud.control()["asked"]
    run_preflight(build(estate.changes()), cloud)
    after = cloud.control()["asked"]
    actions = {action for action, count in after.items() if count > before.get(action, 0)}
    allowed = {action for statement in policy()["Statement"] for action in statement["Action"]}
    assert actions <= allowed, actions - allowed
    assert len(actions) > 20


def test_policy_is_printed_without_an_environment(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "preflight", "--permissions")
    assert status == 0 and json.loads(out) == policy()
    assert "ec2:RunInstances" not in json.loads(out)["Statement"][0]["Action"]


def test_all_is_denied(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    cloud.control(deny=["*"])
    report = run_preflight(build(estate.changes()), cloud)
    assert report.account is None and report.answered
    assert all(finding.severity is not Severity.ERROR for finding in report.findings)


def test_throttling_is_a_warning_and_no_error(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    cloud.control(buckets={"DescribePlacementGroups": [0, 0]})
    report = run_preflight(build(estate.changes()), cloud)
    (finding,) = findings_of(report, "live-not-looked")
    assert finding.severity is Severity.WARNING and "throttles" in finding.message


def test_one_throttled_call_is_repeated(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    cloud.control(faults={"DescribePlacementGroups": {"code": "RequestLimitExceeded", "status": 503}})
    assert not findings_of(run_preflight(build(estate.changes()), cloud), "live-not-looked")


def test_an_unexpected_error_is_reported_in_aws_words(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    cloud.control(faults={"GetServiceQuota": {"code": "DependencyAccessDeniedException", "message": "no", "times": 99}})
    cloud.control(faults={"DescribeInstanceTypeOfferings": {"code": "Strange", "message": "odd words", "times": 9}})
    report = run_preflight(build(estate.changes()), cloud)
    assert any("odd words" in finding.message for finding in findings_of(report, "live-not-looked"))


@pytest.mark.parametrize(("endpoint", "message"), [("http://127.0.0.1:9", "does not answer")])
def test_no_network_is_one_finding(
    estate: Estate, build: Build, capsys: pytest.CaptureFixture[str], endpoint: str, message: str
) -> None:
    file = build({**estate.changes(), ("aws", "endpoints"): {"operator": endpoint}}).path
    status, output = as_json(capsys, "preflight", "--file", str(file))
    assert status == 2 and len(output["findings"]) == 1 and message in output["findings"][0]["message"]


def test_network_lost_during_preflight_is_one_finding(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    aws = AwsClient("us-east-1", cloud.endpoint)
    aws.ask("sts", "get_caller_identity")
    aws._endpoint = "http://127.0.0.1:9"
    report = preflight(build(estate.changes()), aws, datetime.now(UTC))
    assert [finding.rule for finding in report.findings] == ["live-no-answer"] and not report.answered


def test_unknown_and_missing_credentials_are_one_finding(
    estate: Estate, build: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = build(estate.changes()).path
    keys = tmp_path / "keys"
    keys.write_text("[default]\naws_access_key_id = AKIAUNKNOWNUNKNOWNXX\naws_secret_access_key = x\n")
    for path in (keys, tmp_path / "nowhere"):
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
        status, output = as_json(capsys, "preflight", "--file", str(file))
        assert status == 2 and [finding["rule"] for finding in output["findings"]] == ["live-no-answer"]
        assert "rejects the credentials" in output["findings"][0]["message"]
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    status, output = as_json(capsys, "preflight", "--file", str(file))
    assert status == 2 and "nobody" in output["findings"][0]["message"]


def test_kinds_of_refusal() -> None:
    from landbridge.aws_api.refusal import AwsRefusal

    kinds = {
        code: AwsRefusal("ec2:X", code, "").kind
        for code in ("UnauthorizedOperation", "NoCredentialsError", "SlowDown", "X")
    }
    assert list(kinds.values()) == [RefusalKind.DENIED, RefusalKind.CREDENTIALS, RefusalKind.BUSY, RefusalKind.ANSWER]
