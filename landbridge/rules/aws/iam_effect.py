"""Rules about what statements come to: rights that reach too far, none at all, or the same twice."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from landbridge.catalog.aws.iam import iam
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")


@rule
def iam_far_reaching(environment: Environment) -> Iterator[Finding]:
    """Rights that lead out of the node name what they lead to, or the condition under which: roles, secrets, other machines.

    A reason is not enough here; who has looked at it suppresses the warning.
    Source: IAM User Guide, "Grant least privilege"; the actions are in landbridge/catalog/iam.yaml.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        everything = [one for one in statement.resources if iam().is_everything(one)]
        if statement.effect != "Allow" or not everything or statement.conditions:
            continue
        for number, action in enumerate(statement.actions):
            # All of everything is an error of its own.
            if action == "*" or action.startswith("*:"):
                continue
            far = [one for one in iam().far_reaching if fnmatchcase(one.lower(), action.lower())]
            if far:
                base: DataPath = (*_STATEMENTS, index)
                message = f"{far[0]} on {everything[0]}, for whoever runs a job"
                fix = "name the resources, or a condition"
                related: tuple[DataPath, ...] = ((*base, "resources"), (*base, "conditions"))
                at = (*base, "actions", number)
                yield warning(at, message, fix=fix, related=related)


@rule
def iam_denies_required_action(environment: Environment) -> Iterator[Finding]:
    """Nothing that nodes need is denied: a Deny wins over every Allow, and nodes then never join.

    Source: IAM User Guide, "Policy evaluation logic": an explicit deny.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        if statement.effect != "Deny" or statement.conditions or "*" not in statement.resources:
            continue
        for number, action in enumerate(statement.actions):
            needed = [one for one in iam().needed_by_nodes if fnmatchcase(one.lower(), action.lower())]
            if needed:
                base: DataPath = (*_STATEMENTS, index)
                message = f"this denies {needed[0]}, which nodes need to join and to reach the hub"
                fix = "name the resources that are meant, or add a condition"
                related: tuple[DataPath, ...] = ((*base, "conditions"), (*base, "resources"))
                yield error((*base, "actions", number), message, fix=fix, related=related)


@rule
def iam_repeated(environment: Environment) -> Iterator[Finding]:
    """An action, a resource and a statement are written once.

    Source: IAM Access Analyzer, "Redundant action" and "Redundant statement".
    """
    statements = environment.aws.iam.node_statements
    for index, statement in enumerate(statements):
        base: DataPath = (*_STATEMENTS, index)
        bare = statement.model_copy(update={"why": None})
        if any(bare == other.model_copy(update={"why": None}) for other in statements[:index]):
            yield warning(base, "this statement is here already", fix="remove it")
            continue
        for key in ("actions", "resources"):
            words = [word.lower() if key == "actions" else word for word in getattr(statement, key)]
            for number, word in enumerate(words):
                if word in words[:number]:
                    message = f"{getattr(statement, key)[number]} is here already"
                    yield warning((*base, key, number), message, fix="remove it")
