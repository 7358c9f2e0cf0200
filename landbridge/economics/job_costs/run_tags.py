"""Tags of tracked runs with the cost of their jobs, and which of them a run does not have yet."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from landbridge.economics.job_costs.lines import MonthStatement, StatementLine


def job_tags(statements: Iterable[MonthStatement], jobs: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return the tags of each job that has a line, from the statements of all months in which it ran.

    `cost.kwh` and `cost.co2e` (kg) are missing if they are not known of one of its lines.
    """
    wanted = set(jobs)
    by_job: dict[int, list[StatementLine]] = {}
    for each in statements:
        for line in each.lines:
            if line.key.job in wanted:
                by_job.setdefault(line.key.job, []).append(line)
    return {job: _tags(lines) for job, lines in sorted(by_job.items())}


def changed_tags(tags: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that a run does not have, or has with another value."""
    return {key: value for key, value in tags.items() if present.get(key) != value}


def _tags(lines: Iterable[StatementLine]) -> dict[str, str]:
    listed = list(lines)
    tags = {"cost.usd": str(sum((line.usd for line in listed), Decimal(0)))}
    kwh = [line.kwh for line in listed]
    co2e = [line.co2e_kg for line in listed]
    if None not in kwh:
        origins = {line.energy for line in listed}
        tags["cost.kwh"] = f"{sum(value or 0.0 for value in kwh):.3f}"
        tags["cost.energy"] = "; ".join(sorted(origins))
    if None not in co2e:
        tags["cost.co2e"] = f"{sum(value or 0.0 for value in co2e):.3f}"
    return tags
