"""Cost Explorer's anomaly detection and cost allocation tags, which moto lacks.

Source: Cost Management API Reference; its user guide, "Detecting unusual spend" (subscribers and frequency) and "Activating
user-defined cost allocation tags" (a key is known a day after something bore it); aws-cloudformation/cloudformation-coverage-roadmap,
issue 2515 (one monitor of a dimension for an account); hashicorp/terraform-provider-aws, issue 36853 (a threshold is needed).
"""

import json
import uuid
from typing import Any

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
MONITORS, SUBSCRIPTIONS = "anomalymonitor", "anomalysubscription"


def create_monitor(world: EmulatorState, region: str, request: Bag) -> Bag:
    """CreateAnomalyMonitor."""
    asked = request["AnomalyMonitor"]
    dimensional = asked["MonitorType"] == "DIMENSIONAL"
    if dimensional != ("MonitorDimension" in asked) or dimensional == ("MonitorSpecification" in asked):
        message = f"A monitor of type {asked['MonitorType']} needs a dimension or a specification, and not the other."
        raise CloudError("ValidationException", message)
    taken = {one["is"].get("MonitorDimension") for one in _all(world, MONITORS)}
    if dimensional and asked["MonitorDimension"] in taken:
        raise CloudError("ValidationException", "Limit exceeded on dimensional spend monitor creation")
    now = world.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    own = {"CreationDate": now, "LastUpdatedDate": now, "DimensionalValueCount": 0}
    return {"MonitorArn": _keep(world, MONITORS, "MonitorArn", {**asked, **own}, request)}


def monitors(world: EmulatorState, region: str, request: Bag) -> Bag:
    """GetAnomalyMonitors."""
    monitor_arn_list = request.get("MonitorArnList")
    _known(world, monitor_arn_list or (), MONITORS)
    return {
        "AnomalyMonitors": [
            one["is"] for one in _all(world, MONITORS) if not monitor_arn_list or one["arn"] in monitor_arn_list
        ]
    }


def update_monitor(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UpdateAnomalyMonitor: only the name can be changed."""
    _known(world, [request["MonitorArn"]], MONITORS)
    world.costs[request["MonitorArn"]]["is"].update(request)
    return {"MonitorArn": request["MonitorArn"]}


def delete_monitor(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DeleteAnomalyMonitor."""
    _known(world, [request["MonitorArn"]], MONITORS)
    del world.costs[request["MonitorArn"]]
    return {}


def create_subscription(world: EmulatorState, region: str, request: Bag) -> Bag:
    """CreateAnomalySubscription."""
    asked = request["AnomalySubscription"]
    _subscription(world, asked)
    return {"SubscriptionArn": _keep(world, SUBSCRIPTIONS, "SubscriptionArn", {**asked, "AccountId": ACCOUNT}, request)}


def subscriptions(world: EmulatorState, region: str, request: Bag) -> Bag:
    """GetAnomalySubscriptions."""
    wanted, monitor = request.get("SubscriptionArnList"), request.get("MonitorArn")
    _known(world, wanted or (), SUBSCRIPTIONS)
    return {
        "AnomalySubscriptions": [
            one["is"]
            for one in _all(world, SUBSCRIPTIONS)
            if (not wanted or one["arn"] in wanted) and (monitor is None or monitor in one["is"]["MonitorArnList"])
        ]
    }


def update_subscription(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UpdateAnomalySubscription."""
    arn = request["SubscriptionArn"]
    _known(world, [arn], SUBSCRIPTIONS)
    _subscription(world, {**world.costs[arn]["is"], **request})
    world.costs[arn]["is"].update(request)
    return {"SubscriptionArn": arn}


def delete_subscription(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DeleteAnomalySubscription."""
    _known(world, [request["SubscriptionArn"]], SUBSCRIPTIONS)
    del world.costs[request["SubscriptionArn"]]
    return {}


def _subscription(world: EmulatorState, asked: Bag) -> None:
    _known(world, asked["MonitorArnList"], MONITORS)
    if not asked["MonitorArnList"] or not asked["Subscribers"]:
        raise CloudError("ValidationException", "A subscription needs a monitor and a subscriber.")
    if "Threshold" not in asked and "ThresholdExpression" not in asked:
        raise CloudError("ValidationException", "Threshold and ThresholdExpression cannot both be null")
    if "Threshold" in asked and "ThresholdExpression" in asked:
        raise CloudError("ValidationException", "Threshold and ThresholdExpression cannot both be given")
    way = "SNS" if asked["Frequency"] == "IMMEDIATE" else "EMAIL"
    if any(subscriber.get("Type") != way for subscriber in asked["Subscribers"]):
        message = f"Subscriptions of frequency {asked['Frequency']} only support subscribers of type {way}."
        raise CloudError("ValidationException", message)


def set_tags_status(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UpdateCostAllocationTagsStatus: a tag key that billing has not seen yet is listed under Errors, not refused."""
    failed = []
    for one in request["CostAllocationTagsStatus"]:
        if one["TagKey"] in world.billed_tags:
            world.billed_tags[one["TagKey"]] = one["Status"]
        else:
            why = {"Code": "TagKeysNotFoundException", "Message": "Tag keys not found: " + one["TagKey"]}
            failed.append({"TagKey": one["TagKey"], **why})
    return {"Errors": failed}


def tags(world: EmulatorState, region: str, request: Bag) -> Bag:
    """ListCostAllocationTags."""
    wanted, status = request.get("TagKeys"), request.get("Status")
    return {
        "CostAllocationTags": [
            {"TagKey": key, "Type": "UserDefined", "Status": own}
            for key, own in sorted(world.billed_tags.items())
            if (not wanted or key in wanted) and status in (None, own)
        ]
    }


def tag(world: EmulatorState, region: str, request: Bag) -> Bag:
    """TagResource."""
    one = _bearer(world, request)
    new = {resource_tag["Key"] for resource_tag in request["ResourceTags"]}
    one["tags"] = [tag for tag in one["tags"] if tag["Key"] not in new] + request["ResourceTags"]
    return {}


def untag(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UntagResource."""
    one = _bearer(world, request)
    one["tags"] = [tag for tag in one["tags"] if tag["Key"] not in request["ResourceTagKeys"]]
    return {}


def tags_of(world: EmulatorState, region: str, request: Bag) -> Bag:
    """ListTagsForResource."""
    return {"ResourceTags": _bearer(world, request)["tags"]}


def _keep(world: EmulatorState, kind: str, key: str, own: Bag, request: Bag) -> str:
    arn = f"arn:aws:ce::{ACCOUNT}:{kind}/{uuid.uuid4()}"
    kept = json.loads(json.dumps({**own, key: arn}))
    world.costs[arn] = {"arn": arn, "kind": kind, "is": kept, "tags": request.get("ResourceTags", [])}
    return arn


def _all(world: EmulatorState, kind: str) -> list[Bag]:
    return [cost for cost in world.costs.values() if cost["kind"] == kind]


def _known(world: EmulatorState, arns: Any, kind: str) -> None:
    for arn in arns:
        if world.costs.get(arn, {}).get("kind") != kind:
            word = "Monitor" if kind == MONITORS else "Subscription"
            raise CloudError(f"Unknown{word}Exception", f"The cost anomaly {word.lower()} {arn} does not exist")


def _bearer(world: EmulatorState, request: Bag) -> Bag:
    if request["ResourceArn"] not in world.costs:
        raise CloudError("ResourceNotFoundException", f"Resource {request['ResourceArn']} not found")
    return world.costs[request["ResourceArn"]]
