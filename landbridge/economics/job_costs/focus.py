"""Rows of a statement in FOCUS 1.2, the FinOps Open Cost and Usage Specification, for both sites together.

Source: FOCUS_Spec at the tag v1.2 (2025-05-30), specification/columns: all mandatory columns, and the conditional ones for which
there are values. An empty text is null. Further columns begin with x_, as the specification requires.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from landbridge.economics.job_costs.lines import LineKey, MonthStatement, StatementLine, Use
from landbridge.environment import Environment
from landbridge.timestamps import iso, month_end, month_start

FOCUS_VERSION = "1.2"
AWS = "Amazon Web Services"
#: Purchase options in words, as the PricingCategory of FOCUS.
_PRICING = {"owned": "Standard", "on demand": "Standard", "spot": "Dynamic"}
_SERVICES = {
    Use.TRANSFER: ("Networking", "Amazon Simple Storage Service"),
    Use.STORAGE: ("Storage", "Amazon Simple Storage Service"),
}


def focus_rows(environment: Environment, statement: MonthStatement) -> Iterator[dict[str, str]]:
    """Yield a row for each line."""
    start = month_start(statement.month)
    period = {"BillingPeriodStart": iso(start), "BillingPeriodEnd": iso(month_end(start))}
    for line in statement.lines:
        yield _row(environment, line, period)


def _row(environment: Environment, line: StatementLine, period: dict[str, str]) -> dict[str, str]:
    key, usd = line.key, f"{line.usd:f}"
    provider = AWS if key.site == "aws" else environment.name
    service = "Amazon Elastic Compute Cloud" if key.site == "aws" else "Owned nodes"
    category, service = _SERVICES.get(key.use, ("Compute", service))
    begin = datetime.strptime(key.day, "%Y-%m-%d").replace(tzinfo=UTC)
    is_job = key.job != 0
    return {
        "BilledCost": usd,
        "BillingAccountId": environment.name,
        "BillingAccountName": environment.name,
        "BillingCurrency": "USD",
        **period,
        "ChargeCategory": "Adjustment" if key.use is Use.UNITEMIZED else "Usage",
        "ChargeClass": "",
        "ChargeDescription": description(key),
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": iso(begin.timestamp()),
        "ChargePeriodEnd": iso((begin + timedelta(days=1)).timestamp()),
        "ConsumedQuantity": f"{line.gpu_hours or line.node_hours:.6f}",
        "ConsumedUnit": "GPU-Hours" if line.gpu_hours else "Hours",
        "ContractedCost": usd,
        "EffectiveCost": usd,
        "InvoiceIssuer": provider,
        "ListCost": usd,
        "PricingCategory": _PRICING.get(key.instrument, "Other"),
        "PricingQuantity": f"{line.node_hours:.6f}",
        "PricingUnit": "Hours",
        "Provider": provider,
        "Publisher": provider,
        "RegionId": environment.region if key.site == "aws" else "",
        "RegionName": environment.region if key.site == "aws" else "",
        "ResourceId": key.resource,
        "ResourceName": key.resource,
        "ResourceType": "Node group" if key.site == "onprem" else "Pool",
        "ServiceCategory": category,
        "ServiceName": service,
        "SubAccountId": key.account,
        "SubAccountName": key.account,
        "Tags": json.dumps({"user": key.user, "job": key.name}) if is_job else "",
        "x_JobId": str(key.job) if is_job else "",
        "x_Use": key.use,
        "x_Instrument": key.instrument,
        "x_Kwh": "" if line.kwh is None else f"{line.kwh:.6f}",
        "x_EnergySource": line.energy,
        "x_Co2eKg": "" if line.co2e_kg is None else f"{line.co2e_kg:.6f}",
    }


def description(key: LineKey) -> str:
    """Return what a line is for, in words."""
    use = key.use.replace("_", " ")
    if key.use is Use.BOOT and key.job:
        return f"boot for job {key.name}"
    if key.job:
        return f"job {key.name}, {use}"
    return f"{use} {key.name}".strip()
