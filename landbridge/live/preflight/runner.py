"""Runner of all preflight checks, and the report of their findings."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal, RefusalKind, finding_of
from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding, Severity, in_order, path_text
from landbridge.live.preflight.account import home, region
from landbridge.live.preflight.registry import CHECKS, PREFIX, PreflightCheck
from landbridge.live.preflight.scene import Scene
from landbridge.plan.other_regions import other_regions
from landbridge.plan.region_findings import in_other_region_or_at_its_key

Result = Literal["good", "found", "not-allowed", "not-looked"]
#: Number of threads. Most checks wait for AWS, and EC2 limits describe calls to some tens a second.
_CONCURRENT_CHECKS = 8
NO_ANSWER = "live-no-answer"
#: Checks that run in the environment's other regions too: capacity, keys, images and quotas.
ELSEWHERE = (
    *("live-region", "live-zone", "live-offering", "live-spot-price", "live-reservation", "live-reservation-group"),
    *("live-disk-key", "live-volume-quota"),
    *("live-image-parameter", "live-image", "live-quota", "live-vpc-quota", "live-address-quota", "live-gateway-quota"),
)


@dataclass(frozen=True, slots=True)
class RunningCheck:
    """Result of one check."""

    check: str
    looks_at: str
    result: Result

    def to_dict(self) -> dict[str, str]:
        """Return plain data for `--format json`."""
        return {"check": self.check, "looks_at": self.looks_at, "result": self.result}


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """Report of a preflight. `account` is None if it is not known; `suppressed` are accepted findings with reasons."""

    account: str | None
    looks: tuple[RunningCheck, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, str], ...]

    @property
    def answered(self) -> bool:
        """Return false if AWS could not be queried."""
        return not any(finding.rule == NO_ANSWER for finding in self.findings)


def preflight(
    loaded: Loaded,
    aws: AwsClient,
    now: datetime,
    progress: Callable[[PreflightCheck, int, int], None] = lambda *_: None,
) -> PreflightReport:
    """Run all checks on a loaded environment. Refusals of AWS, and no answer, become findings.

    `progress` is called after each check with the check, the number of completed checks and the number of all checks.
    Raises ValueError for an environment with errors.
    """
    environment = loaded.environment
    if environment is None:
        raise ValueError(f"{loaded.path} has errors")
    try:
        account: str | None = str(aws.ask("sts", "get_caller_identity")["Account"])
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.DENIED:
            findings = _closed_region(environment, aws, now) or [
                replace(finding_of(refused, "the account"), rule=NO_ANSWER, severity=Severity.ERROR)
            ]
            return PreflightReport(None, (), _placed(loaded, findings), ())
        account = None
    scene = Scene(environment, loaded.lock, aws, account, now)
    findings_by_check: dict[str, list[Finding]] = {}
    with ThreadPoolExecutor(_CONCURRENT_CHECKS) as pool:
        running = {pool.submit(_run, check, scene): check for check in CHECKS.values()}
        for count, done in enumerate(as_completed(running), 1):
            findings_by_check[running[done].name] = done.result()
            progress(running[done], count, len(running))
    for name, other_region in other_regions(environment).items():
        scene_there = Scene(other_region, None, aws.at(name), account, now)
        for check_name in ELSEWHERE:
            findings_by_check[check_name] += [
                in_other_region_or_at_its_key(finding, name, other_region)
                for finding in _run(CHECKS[check_name], scene_there)
            ]
    looks = tuple(RunningCheck(name, CHECKS[name].looks_at, _result(findings_by_check[name])) for name in CHECKS)
    ordered = _placed(loaded, _once([finding for name in CHECKS for finding in findings_by_check[name]]))
    retained, suppressed = _split(environment, ordered)
    unknown = _unknown(environment)
    return PreflightReport(account, looks, in_order([*retained, *_placed(loaded, unknown)]), suppressed)


def policy() -> dict[str, Any]:
    """Return the IAM policy that permits every check's queries. A check without its permission is skipped and reported."""
    actions = sorted({action for check in CHECKS.values() for action in check.needs})
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "LandbridgePreflightDescribe",
                "Effect": "Allow",
                "Action": [action for action in actions if action != "ec2:RunInstances"],
                "Resource": "*",
            },
            {
                # IAM has no condition for dry runs: this permits real launches too. Without it the dry run is skipped.
                "Sid": "LandbridgePreflightDryRun",
                "Effect": "Allow",
                "Action": ["ec2:CreateTags", "ec2:RunInstances"],
                "Resource": "*",
            },
        ],
    }


def _closed_region(environment: Environment, aws: AwsClient, now: datetime) -> list[Finding]:
    """Return the finding for a region that is not enabled: it rejects credentials that another region accepts."""
    elsewhere = home(environment.region)
    if elsewhere == environment.region:
        return []
    try:
        account = str(aws.ask("sts", "get_caller_identity", region=elsewhere)["Account"])
        return list(region(Scene(environment, None, aws, account, now)))
    except AwsRefusal:
        return []


def _run(check: PreflightCheck, scene: Scene) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check.function(scene))
    except AwsRefusal as refused:
        findings.append(finding_of(refused, check.looks_at))
    except Exception as error:  # noqa: BLE001  (a defect in one check must not lose the findings of the others)
        text = f"{check.looks_at}: the check {check.name} failed: {type(error).__name__}: {error}"
        fix = "a defect in Landbridge; the findings of other checks are complete"
        findings.append(Finding("live-check-failed", " ".join(text.split())[:300], (), fix))
    return findings


def _result(findings: list[Finding]) -> Result:
    rules = {finding.rule for finding in findings}
    if "live-not-allowed-to-look" in rules:
        return "not-allowed"
    if rules & {"live-not-looked", "live-check-failed", NO_ANSWER}:
        return "not-looked"
    return "found" if findings else "good"


def _once(findings: list[Finding]) -> list[Finding]:
    """Return the findings with one `live-no-answer` at most, whatever the number of checks without an answer."""
    down = [finding for finding in findings if finding.rule == NO_ANSWER]
    return [*(finding for finding in findings if finding.rule != NO_ANSWER), *down[:1]]


def _placed(loaded: Loaded, findings: list[Finding]) -> tuple[Finding, ...]:
    return in_order([loaded.place(finding) for finding in findings])


def _split(
    environment: Environment, findings: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], tuple[tuple[Finding, str], ...]]:
    retained, suppressed = [], []
    for finding in findings:
        reason = next(
            (
                suppression.reason
                for suppression in environment.suppress
                if _accepts(suppression.rule, suppression.path, finding)
            ),
            None,
        )
        if reason is None or finding.rule == NO_ANSWER:
            retained.append(finding)
        else:
            suppressed.append((finding, reason))
    return tuple(retained), tuple(suppressed)


def _accepts(rule: str, path: str | None, finding: Finding) -> bool:
    finding_path = path_text(finding.path)
    return rule == finding.rule and (
        path is None or finding_path == path or finding_path.startswith((f"{path}.", f"{path}["))
    )


def _unknown(environment: Environment) -> list[Finding]:
    """Return findings for suppressions of preflight checks that do not exist; `landbridge check` does not check these."""
    known = {*CHECKS, "live-not-allowed-to-look", "live-not-looked"}
    return [
        Finding("unknown-suppression", f'there is no check "{suppression.rule}"', ("suppress", index, "rule"))
        for index, suppression in enumerate(environment.suppress)
        if suppression.rule.startswith(PREFIX) and suppression.rule not in known
    ]


__all__ = ["PreflightReport", "RunningCheck", "policy", "preflight"]
