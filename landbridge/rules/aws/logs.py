"""Rules about log groups of CloudWatch Logs."""

from bisect import bisect_left
from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.catalog.regimes import obligations, regimes
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import rule

_LOGS: DataPath = ("aws", "logs")
_DAYS: DataPath = (*_LOGS, "retention_days")
#: The obligation that requires a record of every access.
_AUDIT = "audit_log"


@rule
def log_retention(environment: Environment) -> Iterator[Finding]:
    """The retention is one of the values that CloudWatch Logs has; any other is refused.

    Source: CloudWatch Logs API, PutRetentionPolicy.
    """
    days, accepted_days = environment.aws.logs.retention_days, sorted(limits().log_retention.days)
    if days not in accepted_days:
        at = bisect_left(accepted_days, days)
        near = accepted_days[max(at - 1, 0) : at + 1]
        message = f"CloudWatch Logs has no retention of {days} days"
        yield error(_DAYS, message, fix=f"use {' or '.join(map(str, near))}")


@rule
def audit_logs(environment: Environment) -> Iterator[Finding]:
    """Flow logs are on, and kept for 90 days or more, if a regime requires a record of every access.

    Source: 45 CFR 164.312(b); PCI DSS 4.0.1, requirement 10; as in landbridge/catalog/regimes.yaml.
    """
    logs = environment.aws.logs
    for name, data_class in environment.data_classes.items():
        regime = regimes().get(data_class.regime or "")
        if regime is None or "aws" not in data_class.sites or _AUDIT not in regime.obligations:
            continue
        related: tuple[DataPath, ...] = (("data_classes", name),)
        if not logs.flow_logs:
            message = (
                f"flow logs are off, and data of class {name} is in AWS under {regime.title}: {obligations()[_AUDIT]}"
            )
            path: DataPath = (*_LOGS, "flow_logs")
            yield warning(path, message, fix="write flow_logs: true", related=related)
        if logs.retention_days < 90:
            message = f"the retention of {logs.retention_days} days is too short for a record under {regime.title}"
            yield warning(_DAYS, message, fix="write 365 or more", related=related)
        return
