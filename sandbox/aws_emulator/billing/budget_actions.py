"""AWS Budgets operations that moto does not have: budget actions, tags, and UpdateBudget.

Source: AWS Budgets API Reference, CreateBudget, UpdateBudget, CreateBudgetAction, DeleteBudgetAction; its user guide,
"Creating a role for AWS Budgets to run budget actions". Actions are not executed, because the emulated AWS has no
costs.
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
#: Two actions of a budget are equal if these members are equal.
_SAME = ("NotificationType", "ActionType", "ActionThreshold", "Definition")


def create_budget(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer CreateBudget by moto, and store the tags."""
    _require_own_account(request)
    budget = request["Budget"]
    if budget["BudgetName"] in _backend().budgets[ACCOUNT]:
        message = f"Error creating budget: {budget['BudgetName']} - the budget already exists."
        raise CloudError("DuplicateRecordException", message)
    if not {"BudgetLimit", "PlannedBudgetLimits", "AutoAdjustData"} & set(budget):
        raise CloudError("InvalidParameterException", "Unable to create/update budget - provide a limit.")
    _backend().create_budget(ACCOUNT, budget, request.get("NotificationsWithSubscribers", []))
    emulator.budget_tags[_budget_arn(budget["BudgetName"])] = request.get("ResourceTags", [])
    return {}


def update_budget(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UpdateBudget: replace every property except the name; notifications stay."""
    _require_own_account(request)
    new_budget = request["NewBudget"]
    stored = _budget(new_budget["BudgetName"])
    if new_budget["TimeUnit"] != stored.budget["TimeUnit"] or new_budget["BudgetType"] != stored.budget["BudgetType"]:
        raise CloudError("InvalidParameterException", "A budget's type and time unit cannot be changed.")
    stored.budget = {
        "TimePeriod": stored.budget["TimePeriod"],
        **new_budget,
        "LastUpdatedTime": emulator.now().timestamp(),
    }
    return {}


def delete_budget(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DeleteBudget: also delete the budget's actions, which are found only by its name."""
    _require_own_account(request)
    name = request["BudgetName"]
    _budget(name)
    if any(action["Status"] in _LOCKED for action in _actions_of(emulator, name)):
        raise CloudError("ResourceLockedException", "An action of this budget is being executed.")
    for action in _actions_of(emulator, name):
        _forget(emulator, action)
    _backend().delete_budget(ACCOUNT, name)
    emulator.budget_tags.pop(_budget_arn(name), None)
    return {}


def create(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer CreateBudgetAction."""
    _require_own_account(request)
    _budget(request["BudgetName"])
    _check(region, request)
    if any(
        all(existing[key] == request[key] for key in _SAME) for existing in _actions_of(emulator, request["BudgetName"])
    ):
        raise CloudError("DuplicateRecordException", "The budget has this action already.")
    action_id = str(uuid.uuid4())
    action = {key: value for key, value in request.items() if key not in ("AccountId", "ResourceTags")}
    emulator.budget_actions[action_id] = json.loads(json.dumps({**action, "ActionId": action_id, "Status": "STANDBY"}))
    emulator.budget_tags[_arn(request["BudgetName"], action_id)] = request.get("ResourceTags", [])
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "ActionId": action_id}


def describe(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DescribeBudgetAction."""
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "Action": _action(emulator, request)}


def listed(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DescribeBudgetActionsForBudget."""
    _require_own_account(request)
    _budget(request["BudgetName"])
    return {"Actions": _actions_of(emulator, request["BudgetName"])}


def update(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UpdateBudgetAction."""
    action = _action(emulator, request)
    before = dict(action)
    after = {**action, **{key: value for key, value in request.items() if key != "AccountId"}}
    _require_unlocked(action)
    _check(region, after)
    emulator.budget_actions[action["ActionId"]] = after
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "OldAction": before, "NewAction": after}


def delete(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DeleteBudgetAction; refused while the action is being executed."""
    action = _action(emulator, request)
    _require_unlocked(action)
    _forget(emulator, action)
    return {"AccountId": ACCOUNT, "BudgetName": request["BudgetName"], "Action": action}


def tag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer TagResource."""
    new_keys = {resource_tag["Key"] for resource_tag in request["ResourceTags"]}
    remaining_tags = [tag for tag in _tags(emulator, request) if tag["Key"] not in new_keys]
    emulator.budget_tags[request["ResourceARN"]] = remaining_tags + request["ResourceTags"]
    return {}


def untag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer UntagResource."""
    remaining_tags = [tag for tag in _tags(emulator, request) if tag["Key"] not in request["ResourceTagKeys"]]
    emulator.budget_tags[request["ResourceARN"]] = remaining_tags
    return {}


def tags_of(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer ListTagsForResource."""
    return {"ResourceTags": _tags(emulator, request)}


def _check(region: str, action: Bag) -> None:
    definition = _DEFINITIONS[action["ActionType"]]
    if set(action["Definition"]) != {definition}:
        raise CloudError("InvalidParameterException", f"An action of type {action['ActionType']} needs a {definition}.")
    role = principals.role(region, action["ExecutionRoleArn"])
    if role is None or not principals.trusts(role, "budgets.amazonaws.com"):
        arn = action["ExecutionRoleArn"]
        message = f"AWS Budgets cannot take the execution role {arn}: it does not exist, or does not trust"
        raise CloudError("AccessDeniedException", f"{message} budgets.amazonaws.com.")
    iam_action_definition = action["Definition"].get("IamActionDefinition")
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


def _require_own_account(request: Bag) -> None:
    if request["AccountId"] != ACCOUNT:
        raise CloudError("AccessDeniedException", f"Account {request['AccountId']} is not the caller's.")


def _backend() -> Any:
    return moto.backends.get_backend("budgets")[ACCOUNT]["aws"]


def _budget(name: str) -> Any:
    budgets = _backend().budgets[ACCOUNT]
    if name not in budgets:
        raise CloudError("NotFoundException", f"Unable to get budget: {name} - the budget doesn't exist.")
    return budgets[name]


def _action(emulator: EmulatorState, request: Bag) -> Bag:
    _require_own_account(request)
    action = emulator.budget_actions.get(request["ActionId"])
    if action is None or action["BudgetName"] != request["BudgetName"]:
        raise CloudError(
            "NotFoundException", f"The budget {request['BudgetName']} has no action {request['ActionId']}."
        )
    return action


def _actions_of(emulator: EmulatorState, name: str) -> list[Bag]:
    return [budget_action for budget_action in emulator.budget_actions.values() if budget_action["BudgetName"] == name]


def _require_unlocked(action: Bag) -> None:
    if action["Status"] in _LOCKED:
        raise CloudError("ResourceLockedException", f"The action {action['ActionId']} is being executed.")


def _forget(emulator: EmulatorState, action: Bag) -> None:
    del emulator.budget_actions[action["ActionId"]]
    emulator.budget_tags.pop(_arn(action["BudgetName"], action["ActionId"]), None)


def _tags(emulator: EmulatorState, request: Bag) -> list[Bag]:
    if request["ResourceARN"] not in emulator.budget_tags:
        raise CloudError("NotFoundException", f"The resource {request['ResourceARN']} does not exist.")
    return emulator.budget_tags[request["ResourceARN"]]


def _budget_arn(name: str) -> str:
    return f"arn:aws:budgets::{ACCOUNT}:budget/{name}"


def _arn(name: str, action: str) -> str:
    return f"{_budget_arn(name)}/action/{action}"
