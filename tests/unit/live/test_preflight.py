"""Preflight against an emulated account: no findings on a good one, and each fault with its place and message."""

import functools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import RefusalKind
from landbridge.cli.display.preflight import PreflightDisplay
from landbridge.environment import load_environment
from landbridge.findings import Finding, Severity
from landbridge.live.preflight import CHECKS, PreflightReport, policy, preflight
from landbridge.rules import check
from sandbox.aws_emulator.process import EmulatorProcess

from . import estate as estates
from .conftest import Build, as_json, run
from .estate import Estate
from .rows_preflight import FAULTS, Fault, f


@pytest.fixture
def estate(cloud: EmulatorProcess) -> Estate:
    return estates.build(cloud)


def run_preflight(loaded: Any, cloud: EmulatorProcess) -> PreflightReport:
    aws = AwsClient(loaded.environment.region, cloud.endpoint, session(cloud.operator_credentials))
    return preflight(loaded, aws, datetime.now(UTC))


@functools.cache
def session(credentials: Path) -> boto3.session.Session:
    """Return a session for a credentials file (cached: reading the services' models takes most of the time)."""
    return boto3.session.Session(region_name="us-east-1")


def findings_of(report: PreflightReport, rule: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == rule]


def test_a_good_environment_is_quiet(
    cloud: EmulatorProcess, estate: Estate, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    file = build(estate.changes()).path
    status, output = as_json(capsys, "preflight", "--file", str(file))
    assert (status, output["errors"], output["warnings"], output["account"]) == (0, 0, 0, estates.ACCOUNT), output[
        "findings"
    ]
    assert {check["result"] for check in output["checks"]} == {"good", "found"}
    # The block has not begun: this is an information, not a warning.
    assert [finding["rule"] for finding in output["findings"]] == ["live-reservation"]
    assert {check["check"] for check in output["checks"]} == set(CHECKS)
    status, out, _ = run(capsys, "preflight", "--file", str(file))
    assert status == 0 and f"{len(CHECKS)} of {len(CHECKS)} checks" in out
    assert cloud.control()["instances"] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.title)
def test_each_fault_is_found(cloud: EmulatorProcess, estate: Estate, build: Build, fault: Fault) -> None:
    fault.prepare(cloud, estate)
    loaded = build({**estate.changes(), **fault.changes(estate)}, region=fault.region)
    assert loaded.environment is not None, loaded.findings
    report = run_preflight(loaded, cloud)
    findings = {(finding.path, f.plain(finding.message)): finding for finding in findings_of(report, fault.rule)}
    assert (fault.path, fault.message) in findings, "\n".join(map(str, report.findings))
    finding = findings[fault.path, fault.message]
    assert finding.severity == fault.severity
    assert finding.file == str(loaded.path) and (finding.line or 0) >= 1
    assert not findings_of(report, "live-check-failed")


FITTING = {
    "lustre": f.existing_lustre(),
    "efs": f.existing_efs("use1-az4", "use1-az6"),
    "openzfs": f.existing_openzfs(),
    "ontap in one zone": f.existing_ontap("SINGLE_AZ_2"),
    "ontap in two zones": f.existing_ontap(),
}


@pytest.mark.parametrize("prepare", FITTING.values(), ids=FITTING)
def test_an_existing_file_system_that_fits_is_quiet(
    cloud: EmulatorProcess, estate: Estate, build: Build, prepare: Any
) -> None:
    prepare(cloud, estate)
    report = run_preflight(build({**estate.changes(), **f.with_share()(estate)}), cloud)
    assert [finding for finding in report.findings if "existing" in finding.rule] == []
    assert not findings_of(report, "live-check-failed")


@pytest.mark.parametrize("permitted", [True, False])
def test_rules_for_the_pools_groups_open_an_existing_file_system(
    cloud: EmulatorProcess, estate: Estate, build: Build, permitted: bool
) -> None:
    f.existing_efs("use1-az4", "use1-az6", open_to=None)(cloud, estate)
    ec2 = f.ec2(cloud)
    (storage,) = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["storage"]}])["SecurityGroups"]
    tags = [{"ResourceType": "security-group", "Tags": [{"Key": "landbridge:cluster", "Value": "test"}]}]
    for pool in ("p5", "reserved", "grouped", "small"):
        group = ec2.create_security_group(
            GroupName=f"test-{pool}", Description="pool", VpcId=estate.vpc, TagSpecifications=tags
        )["GroupId"]
        permission = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049, "UserIdGroupPairs": [{"GroupId": group}]}
        if permitted or pool != "small":
            ec2.authorize_security_group_ingress(GroupId=storage["GroupId"], IpPermissions=[permission])
    report = run_preflight(build({**estate.changes(), **f.with_share()(estate)}), cloud)
    findings = findings_of(report, "live-existing-file-system-ports")
    assert [finding.severity for finding in findings] == ([] if permitted else [Severity.ERROR]), findings
    assert permitted or "test-small" in findings[0].message


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert {fault.rule for fault in FAULTS} == {*CHECKS}


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_every_check_states_its_purpose_and_source(name: str) -> None:
    entry = CHECKS[name]
    assert entry.summary.endswith(".") and len(entry.source) > 10 and entry.needs and entry.looks_at


ACTIONS = sorted({action for check in CHECKS.values() for action in check.needs} - {"sts:GetCallerIdentity"})
#: Actions that are called only after another finding, or for resources that this account does not have.
RARE = {
    "servicequotas:GetAWSDefaultServiceQuota", "ec2:DescribeInstanceTypes", "ec2:DescribeAddresses", "kms:DescribeKey",
    "ec2:DescribeNatGateways", "fsx:DescribeFileSystems", "elasticfilesystem:DescribeFileSystems", "s3:GetBucketTagging",
    "fsx:DescribeStorageVirtualMachines", "fsx:DescribeVolumes", "elasticfilesystem:DescribeMountTargets", "ec2:DescribeNetworkInterfaces", "directconnect:DescribeConnections", "directconnect:DescribeLags",
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


def test_errors_of_the_file_come_first(
    cloud: EmulatorProcess, build: Build, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = build({("aws", "cidr"): "10.20.0.0/16"}).path
    before = sum(cloud.control()["asked"].values())
    status, _, errors = run(capsys, "preflight", "--file", str(file))
    assert status == 1 and "overlapping-cidrs" in errors and "AWS was not queried" in errors
    status, data = as_json(capsys, "preflight", "--file", str(file))
    assert status == 1 and data["checks"] == [] and data["findings"][0]["rule"] == "overlapping-cidrs"
    for wrong in (["--file", str(tmp_path / "nowhere.yaml")], ["-s", "nobody"]):
        assert run(capsys, "preflight", *wrong)[0] == 2
        assert as_json(capsys, "preflight", *wrong)[0] == 2
    assert run(capsys, "lock", "--file", str(tmp_path / "nowhere.yaml"))[0] == 2
    assert sum(cloud.control()["asked"].values()) == before


def test_a_finding_can_be_accepted(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    cloud.control(quotas={"L-3819A6DF": 96})
    reason = {"reason": "the raise is under way, ticket 4711"}
    accepted = [{"rule": "live-quota", **reason}, {"rule": "live-launch", "path": "aws.pools[3]", **reason}]
    report = run_preflight(build({**estate.changes(), ("suppress",): accepted}), cloud)
    assert not findings_of(report, "live-quota") and not findings_of(report, "live-launch")
    assert {finding.rule for finding, _ in report.suppressed} == {"live-quota", "live-launch"}
    typo = run_preflight(build({**estate.changes(), ("suppress",): [{"rule": "live-qouta", **reason}]}), cloud)
    assert findings_of(typo, "unknown-suppression")[0].path == ("suppress", 0, "rule")


@pytest.mark.parametrize(("code", "message"), [
    ("AuthFailure", "Not authorized for images: [ami-0a11ce5a9db0c5000]"),
    ("OptInRequired", "In order to use this AWS Marketplace product you need to accept terms and subscribe."),
])  # fmt: skip
def test_an_image_that_the_account_may_not_boot(
    cloud: EmulatorProcess, estate: Estate, build: Build, code: str, message: str
) -> None:
    """EC2's error message resembles that for missing credentials, but is about the image."""
    cloud.control(faults={"RunInstances": {"code": code, "status": 401, "message": message, "times": 99}})
    report = run_preflight(build(estate.changes()), cloud)
    findings = findings_of(report, "live-launch")
    assert report.answered and findings and all(message in finding.message for finding in findings)
    assert {finding.path for finding in findings} >= {("aws", "pools", 0, "image")}


def test_shipped_sandbox_before_its_first_up(cloud: EmulatorProcess, tmp_path: Path) -> None:
    """Run preflight of the shipped sandbox: without a network of the environment the dry run uses default subnets."""
    root = Path(__file__).parents[3]
    text = (root / "stacks" / "Pulumi.sandbox.yaml").read_text().replace("http://127.0.0.1:4580", cloud.endpoint)
    (tmp_path / "Pulumi.sandbox.yaml").write_text(text)
    loaded = load_environment(tmp_path / "Pulumi.sandbox.yaml")
    assert loaded.environment is not None and not [x for x in check(loaded) if x.severity is Severity.ERROR]
    report = run_preflight(loaded, cloud)
    assert report.findings == ()
    assert cloud.control()["asked"]["ec2:RunInstances"] == 2


def test_kinds_of_refusal() -> None:
    from landbridge.aws_api.refusal import AwsRefusal

    kinds = {
        code: AwsRefusal("ec2:X", code, "").kind
        for code in ("UnauthorizedOperation", "NoCredentialsError", "SlowDown", "X")
    }
    assert list(kinds.values()) == [RefusalKind.DENIED, RefusalKind.CREDENTIALS, RefusalKind.BUSY, RefusalKind.ANSWER]


def test_progress_shows_the_current_check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with PreflightDisplay(shown=True) as show:
        show(CHECKS["live-quota"], 1, 2)
    assert "vCPU quotas" in capsys.readouterr().err
    with PreflightDisplay(shown=False) as show:
        show(CHECKS["live-quota"], 1, 2)
    assert capsys.readouterr().err == ""


def test_another_region_is_checked_too(cloud: EmulatorProcess, estate: Estate, build: Build) -> None:
    """Check offerings and quotas of another region: findings are located at its key."""
    settings = {"cidr": "10.70.0.0/16", "pools": {"p5": {"capacity": [{"kind": "on_demand", "zones": ["use2-az1"]}]}}}
    loaded = build({**estate.changes(), ("aws", "other_regions", "us-east-2"): settings})
    report = run_preflight(loaded, cloud)
    key = ("aws", "other_regions", "us-east-2")
    findings = {finding.rule: finding for finding in report.findings if finding.path[:3] == key}
    assert "live-offering" in findings, "\n".join(map(str, report.findings))
    assert not findings_of(report, "live-check-failed")
    assert all(finding.file == str(loaded.path) and (finding.line or 0) > 1 for finding in findings.values())
