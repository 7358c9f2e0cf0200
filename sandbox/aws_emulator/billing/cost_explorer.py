"""Cost Explorer anomaly detection and cost allocation tags, which moto does not have.

Source: Cost Management API Reference; its user guide, "Detecting unusual spend" (subscribers and frequency) and
"Activating user-defined cost allocation tags" (a key is listed one day after a resource had it);
aws-cloudformation/cloudformation-coverage-roadmap, issue 2515 (one monitor per dimension in an account);
hashicorp/terraform-provider-aws, issue 36853 (a threshold is required).
"""

import json
import uuid
from typing import Any

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
MONITORS, SUBSCRIPTIONS = "anomalymonitor", "anomalysubscription"


def create_monitor(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer CreateAnomalyMonitor."""
    monitor = request["AnomalyMonitor"]
    dimensional = monitor["MonitorType"] == "DIMENSIONAL"
    if dimensional != ("MonitorDimension" in monitor) or dimensional == ("MonitorSpecification" in monitor):
        message = f"A monitor of type {monitor['MonitorType']} needs a dimension or a specification, and not the other."
        raise CloudError("ValidationException", message)
    dimensions = {row["is"].get("MonitorDimension") for row in _all(emulator, MONITORS)}
    if dimensional and monitor["MonitorDimension"] in dimensions:
        raise CloudError("ValidationException", "Limit exceeded on dimensional spend monitor creation")
    now = emulator.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    added = {"CreationDate": now, "LastUpdatedDate": now, "DimensionalValueCount": 0}
    return {"MonitorArn": _store(emulator, MONITORS, "MonitorArn", {**monitor, **added}, request)}


def monitors(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer GetAnomalyMonitors."""
    monitor_arn_list = request.get("MonitorArnList")
    _require_known(emulator, monitor_arn_list or (), MONITORS)
    return {
        "AnomalyMonitors": [
            row["is"] for row in _all(emulator, MONITORS) if not monitor_arn_list or row["arn"] in monitor_arn_list
        ]
    }


def update_monitor(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UpdateAnomalyMonitor: only the name can be changed."""
    _require_known(emulator, [request["MonitorArn"]], MONITORS)
    emulator.costs[request["MonitorArn"]]["is"].update(request)
    return {"MonitorArn": request["MonitorArn"]}


def delete_monitor(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DeleteAnomalyMonitor."""
    _require_known(emulator, [request["MonitorArn"]], MONITORS)
    del emulator.costs[request["MonitorArn"]]
    return {}


def create_subscription(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer CreateAnomalySubscription."""
    subscription = request["AnomalySubscription"]
    _check_subscription(emulator, subscription)
    return {
        "SubscriptionArn": _store(
            emulator, SUBSCRIPTIONS, "SubscriptionArn", {**subscription, "AccountId": ACCOUNT}, request
        )
    }


def subscriptions(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer GetAnomalySubscriptions."""
    arns, monitor = request.get("SubscriptionArnList"), request.get("MonitorArn")
    _require_known(emulator, arns or (), SUBSCRIPTIONS)
    return {
        "AnomalySubscriptions": [
            row["is"]
            for row in _all(emulator, SUBSCRIPTIONS)
            if (not arns or row["arn"] in arns) and (monitor is None or monitor in row["is"]["MonitorArnList"])
        ]
    }


def update_subscription(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UpdateAnomalySubscription."""
    arn = request["SubscriptionArn"]
    _require_known(emulator, [arn], SUBSCRIPTIONS)
    _check_subscription(emulator, {**emulator.costs[arn]["is"], **request})
    emulator.costs[arn]["is"].update(request)
    return {"SubscriptionArn": arn}


def delete_subscription(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DeleteAnomalySubscription."""
    _require_known(emulator, [request["SubscriptionArn"]], SUBSCRIPTIONS)
    del emulator.costs[request["SubscriptionArn"]]
    return {}


def _check_subscription(emulator: EmulatorState, subscription: Bag) -> None:
    _require_known(emulator, subscription["MonitorArnList"], MONITORS)
    if not subscription["MonitorArnList"] or not subscription["Subscribers"]:
        raise CloudError("ValidationException", "A subscription needs a monitor and a subscriber.")
    if "Threshold" not in subscription and "ThresholdExpression" not in subscription:
        raise CloudError("ValidationException", "Threshold and ThresholdExpression cannot both be null")
    if "Threshold" in subscription and "ThresholdExpression" in subscription:
        raise CloudError("ValidationException", "Threshold and ThresholdExpression cannot both be given")
    subscriber_type = "SNS" if subscription["Frequency"] == "IMMEDIATE" else "EMAIL"
    if any(subscriber.get("Type") != subscriber_type for subscriber in subscription["Subscribers"]):
        frequency = subscription["Frequency"]
        message = f"Subscriptions of frequency {frequency} only support subscribers of type {subscriber_type}."
        raise CloudError("ValidationException", message)


def set_tags_status(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UpdateCostAllocationTagsStatus: an unknown tag key is listed under Errors; the call succeeds."""
    failed = []
    for tag_status in request["CostAllocationTagsStatus"]:
        if tag_status["TagKey"] in emulator.billed_tags:
            emulator.billed_tags[tag_status["TagKey"]] = tag_status["Status"]
        else:
            error = {"Code": "TagKeysNotFoundException", "Message": "Tag keys not found: " + tag_status["TagKey"]}
            failed.append({"TagKey": tag_status["TagKey"], **error})
    return {"Errors": failed}


def tags(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer ListCostAllocationTags."""
    keys, status = request.get("TagKeys"), request.get("Status")
    return {
        "CostAllocationTags": [
            {"TagKey": key, "Type": "UserDefined", "Status": key_status}
            for key, key_status in sorted(emulator.billed_tags.items())
            if (not keys or key in keys) and status in (None, key_status)
        ]
    }


def tag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer TagResource."""
    resource = _tagged_resource(emulator, request)
    new_keys = {resource_tag["Key"] for resource_tag in request["ResourceTags"]}
    resource["tags"] = [tag for tag in resource["tags"] if tag["Key"] not in new_keys] + request["ResourceTags"]
    return {}


def untag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UntagResource."""
    resource = _tagged_resource(emulator, request)
    resource["tags"] = [tag for tag in resource["tags"] if tag["Key"] not in request["ResourceTagKeys"]]
    return {}


def tags_of(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer ListTagsForResource."""
    return {"ResourceTags": _tagged_resource(emulator, request)["tags"]}


def _store(emulator: EmulatorState, kind: str, key: str, properties: Bag, request: Bag) -> str:
    arn = f"arn:aws:ce::{ACCOUNT}:{kind}/{uuid.uuid4()}"
    stored = json.loads(json.dumps({**properties, key: arn}))
    emulator.costs[arn] = {"arn": arn, "kind": kind, "is": stored, "tags": request.get("ResourceTags", [])}
    return arn


def _all(emulator: EmulatorState, kind: str) -> list[Bag]:
    return [cost for cost in emulator.costs.values() if cost["kind"] == kind]


def _require_known(emulator: EmulatorState, arns: Any, kind: str) -> None:
    for arn in arns:
        if emulator.costs.get(arn, {}).get("kind") != kind:
            noun = "Monitor" if kind == MONITORS else "Subscription"
            raise CloudError(f"Unknown{noun}Exception", f"The cost anomaly {noun.lower()} {arn} does not exist")


def _tagged_resource(emulator: EmulatorState, request: Bag) -> Bag:
    if request["ResourceArn"] not in emulator.costs:
        raise CloudError("ResourceNotFoundException", f"Resource {request['ResourceArn']} not found")
    return emulator.costs[request["ResourceArn"]]
