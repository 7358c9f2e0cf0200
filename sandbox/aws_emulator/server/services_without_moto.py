"""Requests answered without moto: services that moto does not have, and missing operations of its services."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.aws_emulator.billing import budget_actions, price_list, savings_plans
from sandbox.aws_emulator.billing import cost_explorer as costs
from sandbox.aws_emulator.ec2 import image_builder
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import create_session
from sandbox.aws_emulator.identity import roles_anywhere as anywhere
from sandbox.aws_emulator.identity import ssm_activations as activations
from sandbox.aws_emulator.server import request_validation as judged

Bag = dict[str, Any]

_SERVICES: Mapping[str, Callable[[EmulatorState, str, Mapping[str, Any]], Bag]] = {
    image_builder.SERVICE: image_builder.answer,
    anywhere.SERVICE: anywhere.answer,
    savings_plans.SERVICE: savings_plans.answer,
}
#: Error code of a service for a request that violates its model.
_INVALID = {
    "budgets": "InvalidParameterException",
    "ce": "ValidationException",
    "ssm": "ValidationException",
    "pricing": "InvalidParameterException",
}
_OPERATIONS: Mapping[tuple[str, str], Callable[[EmulatorState, str, Bag], Bag]] = {
    ("budgets", "CreateBudget"): budget_actions.create_budget,
    ("budgets", "UpdateBudget"): budget_actions.update_budget,
    ("budgets", "DeleteBudget"): budget_actions.delete_budget,
    ("budgets", "CreateBudgetAction"): budget_actions.create,
    ("budgets", "DescribeBudgetAction"): budget_actions.describe,
    ("budgets", "DescribeBudgetActionsForBudget"): budget_actions.listed,
    ("budgets", "UpdateBudgetAction"): budget_actions.update,
    ("budgets", "DeleteBudgetAction"): budget_actions.delete,
    ("budgets", "TagResource"): budget_actions.tag,
    ("budgets", "UntagResource"): budget_actions.untag,
    ("budgets", "ListTagsForResource"): budget_actions.tags_of,
    ("ce", "CreateAnomalyMonitor"): costs.create_monitor,
    ("ce", "GetAnomalyMonitors"): costs.monitors,
    ("ce", "UpdateAnomalyMonitor"): costs.update_monitor,
    ("ce", "DeleteAnomalyMonitor"): costs.delete_monitor,
    ("ce", "CreateAnomalySubscription"): costs.create_subscription,
    ("ce", "GetAnomalySubscriptions"): costs.subscriptions,
    ("ce", "UpdateAnomalySubscription"): costs.update_subscription,
    ("ce", "DeleteAnomalySubscription"): costs.delete_subscription,
    ("ce", "ListCostAllocationTags"): costs.tags,
    ("ce", "UpdateCostAllocationTagsStatus"): costs.set_tags_status,
    ("ce", "TagResource"): costs.tag,
    ("ce", "UntagResource"): costs.untag,
    ("ce", "ListTagsForResource"): costs.tags_of,
    ("pricing", "GetProducts"): price_list.get_products,
    ("ssm", "CreateActivation"): activations.create,
    ("ssm", "DescribeActivations"): activations.describe,
    ("ssm", "DeleteActivation"): activations.delete,
}


def answer(
    emulator: EmulatorState, region: str, service: str, action: str, environ: Mapping[str, Any]
) -> tuple[str, str, bytes] | None:
    """Return status, content type and body, or None if moto answers the request. Raise CloudError."""
    if (service, action) == (anywhere.SERVICE, "CreateSession"):
        session = create_session.create_session(emulator, environ)
        return "201 Created", "application/json", json.dumps(session).encode()
    if service in _SERVICES:
        return "200 OK", "application/json", json.dumps(_SERVICES[service](emulator, region, environ)).encode()
    operation = _OPERATIONS.get((service, action))
    if operation is None:
        return None
    request = judged.named(service, action, environ, _INVALID[service])
    with emulator.lock:
        return "200 OK", "application/x-amz-json-1.1", json.dumps(operation(emulator, region, request)).encode()
