"""Savings Plans: DescribeSavingsPlansOfferingRates for EC2 instances.

Source: Savings Plans API Reference, DescribeSavingsPlansOfferingRates. The service has one endpoint, in us-east-1.
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server import request_validation
from sandbox.aws_emulator.server.errors import CloudError

SERVICE = "savingsplans"
Bag = dict[str, Any]
_YEAR = 31_536_000
_PAGE = 1000
#: Every rate is listed for used capacity, and again for an unused capacity reservation.
_USAGE = ("BoxUsage", "UnusedBox")


def answer(emulator: EmulatorState, region: str, environ: Mapping[str, Any]) -> Bag:
    """Return the answer of a request. Raise CloudError."""
    name, request = request_validation.rest(SERVICE, environ, "ValidationException")
    if name != "DescribeSavingsPlansOfferingRates":
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {SERVICE}:{name}.")
    if region != "us-east-1":
        raise CloudError("SignatureDoesNotMatch", "Credential should be scoped to a valid region.", 403)
    with emulator.lock:
        rates = [rate for rate in _rates(emulator) if _passes(rate, request)]
    start, size = int(request.get("nextToken") or 0), int(request.get("maxResults") or _PAGE)
    more = {"nextToken": str(start + size)} if start + size < len(rates) else {}
    return {"searchResults": rates[start : start + size], **more}


def _rates(emulator: EmulatorState) -> Iterator[Bag]:
    for place, usd_by_plan in sorted(emulator.savings_plans.items()):
        instance_type, _, region = place.partition("/")
        for plan, usd in usd_by_plan.items():
            plan_type, years, payment = plan.split("/")
            for usage in _USAGE:
                properties = {
                    "region": region,
                    "instanceType": instance_type,
                    "instanceFamily": instance_type.partition(".")[0],
                    "productDescription": "Linux/UNIX",
                    "tenancy": "shared",
                }
                yield {
                    "savingsPlanOffering": {
                        "offeringId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{place}/{plan}")),
                        "paymentOption": payment,
                        "planType": plan_type,
                        "durationSeconds": int(years) * _YEAR,
                        "currency": "USD",
                        "planDescription": f"{years} year {payment} {plan_type} Savings Plan",
                    },
                    "rate": f"{usd}",
                    "unit": "Hrs",
                    "productType": "EC2",
                    "serviceCode": "AmazonEC2",
                    "usageType": f"{usage}:{instance_type}",
                    "operation": "RunInstances",
                    "properties": [{"name": key, "value": value} for key, value in properties.items()],
                }


def _passes(rate: Bag, request: Bag) -> bool:
    offering = rate["savingsPlanOffering"]
    properties = {item["name"]: item["value"] for item in rate["properties"]}
    selected = (
        (request.get("savingsPlanPaymentOptions"), offering["paymentOption"]),
        (request.get("savingsPlanTypes"), offering["planType"]),
        (request.get("products"), rate["productType"]),
        (request.get("serviceCodes"), rate["serviceCode"]),
        *((filter_["values"], properties.get(filter_["name"])) for filter_ in request.get("filters") or []),
    )
    return all(not values or value in values for values, value in selected)
