"""Cost Explorer's anomaly detection and cost allocation tags, which moto lacks.

Source: Cost Management API Reference; its user guide, "Detecting unusual spend" (who is written to how often) and "Activating
user-defined cost allocation tags" (a key is known a day after something bore it); aws-cloudformation/cloudformation-coverage-roadmap,
issue 2515 (one monitor of a dimension for an account); hashicorp/terraform-provider-aws, issue 36853 (a threshold is needed).
"""

import json
import uuid
from typing import Any

from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.world import EmulatorState

Bag = dict[str, Any]
MONITORS, SUBSCRIPTIONS = "anomalymonitor", "anomalysubscription"


def create_monitor(world: EmulatorState, region: str, given: Bag) -> Bag:
    """CreateAnomalyMonitor."""
    asked = given["AnomalyMonitor"]
    dimensional = asked["MonitorType"] == "DIMENSIONAL"
    if dimensional != ("MonitorDimension" in asked) or dimensional == ("MonitorSpecification" in asked):
        message = f"A monitor of type {asked['MonitorType']} needs a dimension or a specification, and not the other."
        raise CloudError("ValidationException", message)
    taken = {one["is"].get("MonitorDimension") for one in _all(world, MONITORS)}
    if dimensional and asked["MonitorDimension"] in taken:
        raise CloudError("ValidationException", "Limit exceeded on dimensional spend monitor creation")
    now = world.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    own = {"CreationDate": now, "LastUpdatedDate": now, "DimensionalValueCount": 0}
    return {"MonitorArn": _keep(world, MONITORS, "MonitorArn", {**asked, **own}, given)}


def monitors(world: EmulatorState, region: str, given: Bag) -> Bag:
    """GetAnomalyMonitors."""
    wanted = given.get("MonitorArnList")
    _known(world, wanted or (), MONITORS)
    return {"AnomalyMonitors": [one["is"] for one in _all(world, MONITORS) if not wanted or one["arn"] in wanted]}


def update_monitor(world: EmulatorState, region: str, given: Bag) -> Bag:
    """UpdateAnomalyMonitor: only the name can be changed."""
    _known(world, [given["MonitorArn"]], MONITORS)
    world.costs[given["MonitorArn"]]["is"].update(given)
    return {"MonitorArn": given["MonitorArn"]}


def delete_monitor(world: EmulatorState, region: str, given: Bag) -> Bag:
    """DeleteAnomalyMonitor."""
    _known(world, [given["MonitorArn"]], MONITORS)
    del world.costs[given["MonitorArn"]]
    return {}


def create_subscription(world: EmulatorState, region: str, given: Bag) -> Bag:
    """CreateAnomalySubscription."""
    asked = given["AnomalySubscription"]
    _subscription(world, asked)
    return {"SubscriptionArn": _keep(world, SUBSCRIPTIONS, "SubscriptionArn", {**asked, "AccountId": ACCOUNT}, given)}


def subscriptions(world: EmulatorState, region: str, given: Bag) -> Bag:
    """GetAnomalySubscriptions."""
    wanted, monitor = given.get("SubscriptionArnList"), given.get("MonitorArn")
    _known(world, wanted or (), SUBSCRIPTIONS)
    return {
        "AnomalySubscriptions": [
            one["is"]
            for one in _all(world, SUBSCRIPTIONS)
            if (not wanted or one["arn"] in wanted) and (monitor is None or monitor in one["is"]["MonitorArnList"])
        ]
    }


def update_subscription(world: EmulatorState, region: str, given: Bag) -> Bag:
    """UpdateAnomalySubscription."""
    arn = given["SubscriptionArn"]
    _known(world, [arn], SUBSCRIPTIONS)
    _subscription(world, {**world.costs[arn]["is"], **given})
    world.costs[arn]["is"].update(given)
    return {"SubscriptionArn": arn}


def delete_subscription(world: EmulatorState, region: str, given: Bag) -> Bag:
    """DeleteAnomalySubscription."""
    _known(world, [given["SubscriptionArn"]], SUBSCRIPTIONS)
    del world.costs[given["SubscriptionArn"]]
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
    if any(one.get("Type") != way for one in asked["Subscribers"]):
        message = f"Subscriptions of frequency {asked['Frequency']} only support subscribers of type {way}."
        raise CloudError("ValidationException", message)


def set_tags_status(world: EmulatorState, region: str, given: Bag) -> Bag:
    """UpdateCostAllocationTagsStatus: a tag key that billing has not seen yet is listed under Errors, not refused."""
    failed = []
    for one in given["CostAllocationTagsStatus"]:
        if one["TagKey"] in world.billed_tags:
            world.billed_tags[one["TagKey"]] = one["Status"]
        else:
            why = {"Code": "TagKeysNotFoundException", "Message": "Tag keys not found: " + one["TagKey"]}
            failed.append({"TagKey": one["TagKey"], **why})
    return {"Errors": failed}


def tags(world: EmulatorState, region: str, given: Bag) -> Bag:
    """ListCostAllocationTags."""
    wanted, status = given.get("TagKeys"), given.get("Status")
    return {
        "CostAllocationTags": [
            {"TagKey": key, "Type": "UserDefined", "Status": own}
            for key, own in sorted(world.billed_tags.items())
            if (not wanted or key in wanted) and status in (None, own)
        ]
    }


def tag(world: EmulatorState, region: str, given: Bag) -> Bag:
    """TagResource."""
    one = _bearer(world, given)
    new = {own["Key"] for own in given["ResourceTags"]}
    one["tags"] = [own for own in one["tags"] if own["Key"] not in new] + given["ResourceTags"]
    return {}


def untag(world: EmulatorState, region: str, given: Bag) -> Bag:
    """UntagResource."""
    one = _bearer(world, given)
    one["tags"] = [own for own in one["tags"] if own["Key"] not in given["ResourceTagKeys"]]
    return {}


def tags_of(world: EmulatorState, region: str, given: Bag) -> Bag:
    """ListTagsForResource."""
    return {"ResourceTags": _bearer(world, given)["tags"]}


def _keep(world: EmulatorState, kind: str, key: str, own: Bag, given: Bag) -> str:
    arn = f"arn:aws:ce::{ACCOUNT}:{kind}/{uuid.uuid4()}"
    kept = json.loads(json.dumps({**own, key: arn}))
    world.costs[arn] = {"arn": arn, "kind": kind, "is": kept, "tags": given.get("ResourceTags", [])}
    return arn


def _all(world: EmulatorState, kind: str) -> list[Bag]:
    return [one for one in world.costs.values() if one["kind"] == kind]


def _known(world: EmulatorState, arns: Any, kind: str) -> None:
    for arn in arns:
        if world.costs.get(arn, {}).get("kind") != kind:
            word = "Monitor" if kind == MONITORS else "Subscription"
            raise CloudError(f"Unknown{word}Exception", f"The cost anomaly {word.lower()} {arn} does not exist")


def _bearer(world: EmulatorState, given: Bag) -> Bag:
    if given["ResourceArn"] not in world.costs:
        raise CloudError("ResourceNotFoundException", f"Resource {given['ResourceArn']} not found")
    return world.costs[given["ResourceArn"]]
