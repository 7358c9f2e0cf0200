"""Rules about the effect of IAM statements: broad permissions, denied permissions and repetitions."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from landbridge.catalog.aws.access.iam import iam
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")


@rule
def iam_far_reaching(environment: Environment) -> Iterator[Finding]:
    """Permissions on roles, secrets and other instances list their resources or have a condition.

    A reason (`why`) is not enough here; suppress the warning after a review.
    Source: IAM User Guide, "Grant least privilege"; the actions are in landbridge/catalog/iam.yaml.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        everything = [resource for resource in statement.resources if iam().is_everything(resource)]
        if statement.effect != "Allow" or not everything or statement.conditions:
            continue
        for number, action in enumerate(statement.actions):
            # All actions are an error of another rule.
            if action == "*" or action.startswith("*:"):
                continue
            far_reaching = [pattern for pattern in iam().far_reaching if fnmatchcase(pattern.lower(), action.lower())]
            if far_reaching:
                base: DataPath = (*_STATEMENTS, index)
                message = f"{far_reaching[0]} is allowed on {everything[0]} for every job"
                fix = "name the resources, or add a condition"
                related: tuple[DataPath, ...] = ((*base, "resources"), (*base, "conditions"))
                at = (*base, "actions", number)
                yield warning(at, message, fix=fix, related=related)


@rule
def iam_denies_required_action(environment: Environment) -> Iterator[Finding]:
    """No statement denies an action that nodes need: a Deny overrides every Allow, and nodes then never register.

    Source: IAM User Guide, "Policy evaluation logic": an explicit deny.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        if statement.effect != "Deny" or statement.conditions or "*" not in statement.resources:
            continue
        for number, action in enumerate(statement.actions):
            needed = [pattern for pattern in iam().needed_by_nodes if fnmatchcase(pattern.lower(), action.lower())]
            if needed:
                base: DataPath = (*_STATEMENTS, index)
                message = f"the statement denies {needed[0]}, which nodes need to register and to read the data hub"
                fix = "name the resources, or add a condition"
                related: tuple[DataPath, ...] = ((*base, "conditions"), (*base, "resources"))
                yield error((*base, "actions", number), message, fix=fix, related=related)


@rule
def iam_repeated(environment: Environment) -> Iterator[Finding]:
    """No action, resource or statement is repeated.

    Source: IAM Access Analyzer, "Redundant action" and "Redundant statement".
    """
    statements = environment.aws.iam.node_statements
    for index, statement in enumerate(statements):
        base: DataPath = (*_STATEMENTS, index)
        bare = statement.model_copy(update={"why": None})
        if any(bare == other.model_copy(update={"why": None}) for other in statements[:index]):
            yield warning(base, "this statement is a repetition of an earlier one", fix="remove it")
            continue
        for key in ("actions", "resources"):
            words = [word.lower() if key == "actions" else word for word in getattr(statement, key)]
            for number, word in enumerate(words):
                if word in words[:number]:
                    message = f"{getattr(statement, key)[number]} is repeated"
                    yield warning((*base, key, number), message, fix="remove it")
