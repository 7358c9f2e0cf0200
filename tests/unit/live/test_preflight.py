"""Preflight against an emulated account: no findings on a good one, and each fault with its place and message."""

from pathlib import Path
from typing import Any

import pytest

from landbridge.cli.display.preflight import PreflightDisplay
from landbridge.environment import load_environment
from landbridge.findings import Severity
from landbridge.live.preflight import CHECKS
from landbridge.rules import check
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

from . import estate as estates
from . import existing_file_systems as systems
from .conftest import Build, as_json, findings_of, run, run_preflight
from .estate import Estate
from .rows_preflight import FAULTS, Fault, f


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


@pytest.mark.parametrize(
    "principal",
    [
        "arn:aws:iam::123456789012:root",
        "123456789012",
        "*",
        ["arn:aws:iam::123456789012:role/admin", "arn:aws:iam::123456789012:role/test-launch"],
    ],
)
def test_a_key_of_disks_that_the_launch_role_may_use_is_quiet(
    cloud: EmulatorProcess, estate: Estate, build: Build, principal: Any
) -> None:
    f.own_key(principal)(cloud, estate)
    spot = "arn:aws:iam::123456789012:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"
    client_of(cloud, "kms").create_grant(KeyId=estate.disk_key, GranteePrincipal=spot, Operations=["CreateGrant"])
    report = run_preflight(build({**estate.changes(), **f.with_disk_key(estate)}), cloud)
    assert findings_of(report, "live-disk-key") == []
    assert not findings_of(report, "live-check-failed")


FITTING = {
    "lustre": systems.existing_lustre(),
    "efs": systems.existing_efs("use1-az4", "use1-az6"),
    "openzfs": systems.existing_openzfs(),
    "ontap in one zone": systems.existing_ontap("SINGLE_AZ_2"),
    "ontap in two zones": systems.existing_ontap(),
}


@pytest.mark.parametrize("prepare", FITTING.values(), ids=FITTING)
def test_an_existing_file_system_that_fits_is_quiet(
    cloud: EmulatorProcess, estate: Estate, build: Build, prepare: Any
) -> None:
    prepare(cloud, estate)
    report = run_preflight(build({**estate.changes(), **systems.with_share()(estate)}), cloud)
    assert [finding for finding in report.findings if "existing" in finding.rule] == []
    assert not findings_of(report, "live-check-failed")


@pytest.mark.parametrize("permitted", [True, False])
def test_rules_for_the_pools_groups_open_an_existing_file_system(
    cloud: EmulatorProcess, estate: Estate, build: Build, permitted: bool
) -> None:
    systems.existing_efs("use1-az4", "use1-az6", open_to=None)(cloud, estate)
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
    report = run_preflight(build({**estate.changes(), **systems.with_share()(estate)}), cloud)
    findings = findings_of(report, "live-existing-file-system-ports")
    assert [finding.severity for finding in findings] == ([] if permitted else [Severity.ERROR]), findings
    assert permitted or "test-small" in findings[0].message


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert {fault.rule for fault in FAULTS} == {*CHECKS}


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_every_check_states_its_purpose_and_source(name: str) -> None:
    entry = CHECKS[name]
    assert entry.summary.endswith(".") and len(entry.source) > 10 and entry.needs and entry.looks_at


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
