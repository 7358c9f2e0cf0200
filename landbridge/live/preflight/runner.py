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
#: Threads; most checks wait for AWS, and EC2 limits describe calls to some tens a second.
_AT_ONCE = 8
NO_ANSWER = "live-no-answer"
#: What is asked in other regions too: what is to be had there, and how much of it.
ELSEWHERE = (
    *("live-region", "live-zone", "live-offering", "live-spot-price", "live-reservation", "live-reservation-group"),
    *("live-image-parameter", "live-image", "live-quota", "live-vpc-quota", "live-address-quota", "live-gateway-quota"),
)


@dataclass(frozen=True, slots=True)
class RunningCheck:
    """Result of one check."""

    check: str
    looks_at: str
    result: Result

    def to_dict(self) -> dict[str, str]:
        """As plain data, for `--format json`."""
        return {"check": self.check, "looks_at": self.looks_at, "result": self.result}


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """Report of a preflight. `account` is None where AWS did not say; `suppressed` are accepted findings with their
    reasons.
    """

    account: str | None
    looks: tuple[RunningCheck, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, str], ...]

    @property
    def answered(self) -> bool:
        """Return false where AWS could not be queried at all."""
        return not any(finding.rule == NO_ANSWER for finding in self.findings)


def preflight(
    loaded: Loaded,
    aws: AwsClient,
    now: datetime,
    progress: Callable[[PreflightCheck, int, int], None] = lambda *_: None,
) -> PreflightReport:
    """Run all checks on a loaded environment. Never raises for an answer of AWS, or for a missing one.

    `progress` is told of each check that has ended, how many have, and how many there are. Raises ValueError for an environment with
    errors.
    """
    environment = loaded.environment
    if environment is None:
        raise ValueError(f"{loaded.path} has errors")
    try:
        account: str | None = str(aws.ask("sts", "get_caller_identity")["Account"])
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.DENIED:
            told = _closed_region(environment, aws, now) or [
                replace(finding_of(refused, "the account"), rule=NO_ANSWER, severity=Severity.ERROR)
            ]
            return PreflightReport(None, (), _placed(loaded, told), ())
        account = None
    scene = Scene(environment, loaded.lock, aws, account, now)
    found: dict[str, list[Finding]] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {pool.submit(_run, check, scene): check for check in CHECKS.values()}
        for count, done in enumerate(as_completed(running), 1):
            found[running[done].name] = done.result()
            progress(running[done], count, len(running))
    for name, other_region in other_regions(environment).items():
        away = Scene(other_region, None, aws.at(name), account, now)
        for own in ELSEWHERE:
            found[own] += [in_other_region_or_at_its_key(one, name, other_region) for one in _run(CHECKS[own], away)]
    looks = tuple(RunningCheck(name, CHECKS[name].looks_at, _result(found[name])) for name in CHECKS)
    ordered = _placed(loaded, _once([finding for name in CHECKS for finding in found[name]]))
    kept, suppressed = _split(environment, ordered)
    unknown = _unknown(environment)
    return PreflightReport(account, looks, in_order([*kept, *_placed(loaded, unknown)]), suppressed)


def policy() -> dict[str, Any]:
    """Return the IAM policy that lets every check query AWS. A check without its permission is skipped and reported."""
    actions = sorted({action for check in CHECKS.values() for action in check.needs})
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "LandbridgePreflightLooks",
                "Effect": "Allow",
                "Action": [action for action in actions if action != "ec2:RunInstances"],
                "Resource": "*",
            },
            {
                # IAM has no condition for dry runs: whoever may try a launch may make it. Leave it out to go without.
                "Sid": "LandbridgePreflightDryRun",
                "Effect": "Allow",
                "Action": ["ec2:CreateTags", "ec2:RunInstances"],
                "Resource": "*",
            },
        ],
    }


def _closed_region(environment: Environment, aws: AwsClient, now: datetime) -> list[Finding]:
    """Return the finding for a region that is not enabled, where another one knows these credentials: a closed region
    rejects all credentials.
    """
    elsewhere = home(environment.region)
    if elsewhere == environment.region:
        return []
    try:
        account = str(aws.ask("sts", "get_caller_identity", region=elsewhere)["Account"])
        return list(region(Scene(environment, None, aws, account, now)))
    except AwsRefusal:
        return []


def _run(check: PreflightCheck, scene: Scene) -> list[Finding]:
    found: list[Finding] = []
    try:
        found.extend(check.function(scene))
    except AwsRefusal as refused:
        found.append(finding_of(refused, check.looks_at))
    except Exception as error:  # noqa: BLE001  (one check's mistake must not cost what the others saw)
        text = f"{check.looks_at}: the check {check.name} failed: {type(error).__name__}: {error}"
        fix = "a mistake in Landbridge; what other checks say is complete"
        found.append(Finding("live-check-failed", " ".join(text.split())[:300], (), fix))
    return found


def _result(found: list[Finding]) -> Result:
    rules = {finding.rule for finding in found}
    if "live-not-allowed-to-look" in rules:
        return "not-allowed"
    if rules & {"live-not-looked", "live-check-failed", NO_ANSWER}:
        return "not-looked"
    return "found" if found else "good"


def _once(findings: list[Finding]) -> list[Finding]:
    """Return one finding where the network is down, whatever the number of checks that failed by it."""
    down = [finding for finding in findings if finding.rule == NO_ANSWER]
    return [*(finding for finding in findings if finding.rule != NO_ANSWER), *down[:1]]


def _placed(loaded: Loaded, findings: list[Finding]) -> tuple[Finding, ...]:
    return in_order([loaded.place(finding) for finding in findings])


def _split(
    environment: Environment, findings: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], tuple[tuple[Finding, str], ...]]:
    kept, suppressed = [], []
    for finding in findings:
        reason = next((one.reason for one in environment.suppress if _accepts(one.rule, one.path, finding)), None)
        if reason is None or finding.rule == NO_ANSWER:
            kept.append(finding)
        else:
            suppressed.append((finding, reason))
    return tuple(kept), tuple(suppressed)


def _accepts(rule: str, path: str | None, finding: Finding) -> bool:
    here = path_text(finding.path)
    return rule == finding.rule and (path is None or here == path or here.startswith((f"{path}.", f"{path}[")))


def _unknown(environment: Environment) -> list[Finding]:
    """Return suppressions of checks that do not exist; `landbridge check` leaves those to this command."""
    known = {*CHECKS, "live-not-allowed-to-look", "live-not-looked"}
    return [
        Finding("unknown-suppression", f'there is no check "{one.rule}"', ("suppress", index, "rule"))
        for index, one in enumerate(environment.suppress)
        if one.rule.startswith(PREFIX) and one.rule not in known
    ]


__all__ = ["PreflightReport", "RunningCheck", "policy", "preflight"]
