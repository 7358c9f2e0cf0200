"""AWS Budgets beyond moto: budget actions, tags, and UpdateBudget.

Source: AWS Budgets API Reference, CreateBudget, UpdateBudget, CreateBudgetAction, DeleteBudgetAction; its user guide, "Creating a role
for AWS Budgets to run budget actions". Actions are not executed, because no money is spent here.
"""

import json
import uuid
from typing import Any

import moto.backends

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
_DEFINITIONS = {
    "APPLY_IAM_POLICY": "IamActionDefinition",
    "APPLY_SCP_POLICY": "ScpActionDefinition",
    "RUN_SSM_DOCUMENTS": "SsmActionDefinition",
}
_LOCKED = ("EXECUTION_IN_PROGRESS", "REVERSE_IN_PROGRESS")
#: Members by which two actions of a budget are the same one.
_SAME = ("NotificationType", "ActionType", "ActionThreshold", "Definition")


def create_budget(world: EmulatorState, region: str, request: Bag) -> Bag:
    """CreateBudget: moto's, with its tags."""
    _own_account(request)
    budget = request["Budget"]
    if budget["BudgetName"] in _backend().budgets[ACCOUNT]:
        message = f"Error creating budget: {budget['BudgetName']} - the budget already exists."
        raise CloudError("DuplicateRecordException", message)
    if not {"BudgetLimit", "PlannedBudgetLimits", "AutoAdjustData"} & set(budget):
        raise CloudError("InvalidParameterException", "Unable to create/update budget - provide a limit.")
    _backend().create_budget(ACCOUNT, budget, request.get("NotificationsWithSubscribers", []))
    world.budget_tags[_budget_arn(budget["BudgetName"])] = request.get("ResourceTags", [])
    return {}


def update_budget(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UpdateBudget: replaces every property but the name; notifications stay."""
    _own_account(request)
    new = request["NewBudget"]
    kept = _budget(new["BudgetName"])
    if new["TimeUnit"] != kept.budget["TimeUnit"] or new["BudgetType"] != kept.budget["BudgetType"]:
        raise CloudError("InvalidParameterException", "A budget's type and time unit cannot be changed.")
    kept.budget = {"TimePeriod": kept.budget["TimePeriod"], **new, "LastUpdatedTime": world.now().timestamp()}
    return {}


def delete_budget(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DeleteBudget: its actions, which are only found by its name, go with it."""
    _own_account(request)
    name = request["BudgetName"]
    _budget(name)
    if any(one["Status"] in _LOCKED for one in _of(world, name)):
        raise CloudError("ResourceLockedException", "An action of this budget is being executed.")
    for one in _of(world, name):
        _forget(world, one)
    _backend().delete_budget(ACCOUNT, name)
    world.budget_tags.pop(_budget_arn(name), None)
    return {}


def create(world: EmulatorState, region: str, request: Bag) -> Bag:
    """CreateBudgetAction."""
    _own_account(request)
    _budget(request["BudgetName"])
    _check(region, request)
    if any(all(one[key] == request[key] for key in _SAME) for one in _of(world, request["BudgetName"])):
        raise CloudError("DuplicateRecordException", "The budget has this action already.")
    own = str(uuid.uuid4())
    made = {key: value for key, value in request.items() if key not in ("AccountId", "ResourceTags")}
    world.budget_actions[own] = json.loads(json.dumps({**made, "ActionId": own, "Status": "STANDBY"}))
    world.budget_tags[_arn(request["BudgetName"], own)] = request.get("ResourceTags", [])
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "ActionId": own}


def describe(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DescribeBudgetAction."""
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "Action": _action(world, request)}


def listed(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DescribeBudgetActionsForBudget."""
    _own_account(request)
    _budget(request["BudgetName"])
    return {"Actions": _of(world, request["BudgetName"])}


def update(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UpdateBudgetAction."""
    one = _action(world, request)
    before = dict(one)
    after = {**one, **{key: value for key, value in request.items() if key != "AccountId"}}
    _unlocked(one)
    _check(region, after)
    world.budget_actions[one["ActionId"]] = after
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "OldAction": before, "NewAction": after}


def delete(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DeleteBudgetAction: not while it runs."""
    one = _action(world, request)
    _unlocked(one)
    _forget(world, one)
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "Action": one}


def tag(world: EmulatorState, region: str, request: Bag) -> Bag:
    """TagResource."""
    new = {resource_tag["Key"] for resource_tag in request["ResourceTags"]}
    remaining_tags = [tag for tag in _tags(world, request) if tag["Key"] not in new]
    world.budget_tags[request["ResourceARN"]] = remaining_tags + request["ResourceTags"]
    return {}


def untag(world: EmulatorState, region: str, request: Bag) -> Bag:
    """UntagResource."""
    remaining_tags = [tag for tag in _tags(world, request) if tag["Key"] not in request["ResourceTagKeys"]]
    world.budget_tags[request["ResourceARN"]] = remaining_tags
    return {}


def tags_of(world: EmulatorState, region: str, request: Bag) -> Bag:
    """ListTagsForResource."""
    return {"ResourceTags": _tags(world, request)}


def _check(region: str, asked: Bag) -> None:
    wanted = _DEFINITIONS[asked["ActionType"]]
    if set(asked["Definition"]) != {wanted}:
        raise CloudError("InvalidParameterException", f"An action of type {asked['ActionType']} needs a {wanted}.")
    role = principals.role(region, asked["ExecutionRoleArn"])
    if role is None or not principals.trusts(role, "budgets.amazonaws.com"):
        message = f"AWS Budgets cannot take the execution role {asked['ExecutionRoleArn']}: it is not there, or does not trust"
        raise CloudError("AccessDeniedException", f"{message} budgets.amazonaws.com.")
    iam_action_definition = asked["Definition"].get("IamActionDefinition")
    if iam_action_definition is None:
        return
    if principals.policy(region, iam_action_definition["PolicyArn"]) is None:
        raise CloudError(
            "InvalidParameterException", f"The policy {iam_action_definition['PolicyArn']} does not exist."
        )
    if not any(iam_action_definition.get(key) for key in ("Roles", "Groups", "Users")):
        raise CloudError("InvalidParameterException", "An IAM action needs roles, groups or users.")
    for name in iam_action_definition.get("Roles", []):
        if principals.role(region, name) is None:
            raise CloudError("InvalidParameterException", f"The role {name} does not exist.")


def _own_account(request: Bag) -> None:
    if request["AccountId"] != ACCOUNT:
        raise CloudError("AccessDeniedException", f"Account {request['AccountId']} is not the caller's.")


def _backend() -> Any:
    return moto.backends.get_backend("budgets")[ACCOUNT]["aws"]


def _budget(name: str) -> Any:
    budget = _backend().budgets[ACCOUNT]
    if name not in budget:
        raise CloudError("NotFoundException", f"Unable to get budget: {name} - the budget doesn't exist.")
    return budget[name]


def _action(world: EmulatorState, request: Bag) -> Bag:
    _own_account(request)
    action = world.budget_actions.get(request["ActionId"])
    if action is None or action["BudgetName"] != request["BudgetName"]:
        raise CloudError(
            "NotFoundException", f"The budget {request['BudgetName']} has no action {request['ActionId']}."
        )
    return action


def _of(world: EmulatorState, name: str) -> list[Bag]:
    return [budget_action for budget_action in world.budget_actions.values() if budget_action["BudgetName"] == name]


def _unlocked(one: Bag) -> None:
    if one["Status"] in _LOCKED:
        raise CloudError("ResourceLockedException", f"The action {one['ActionId']} is being executed.")


def _forget(world: EmulatorState, one: Bag) -> None:
    del world.budget_actions[one["ActionId"]]
    world.budget_tags.pop(_arn(one["BudgetName"], one["ActionId"]), None)


def _tags(world: EmulatorState, request: Bag) -> list[Bag]:
    if request["ResourceARN"] not in world.budget_tags:
        raise CloudError("NotFoundException", f"The resource {request['ResourceARN']} does not exist.")
    return world.budget_tags[request["ResourceARN"]]


def _budget_arn(name: str) -> str:
    return f"arn:aws:budgets::{ACCOUNT}:budget/{name}"


def _arn(name: str, action: str) -> str:
    return f"{_budget_arn(name)}/action/{action}"
