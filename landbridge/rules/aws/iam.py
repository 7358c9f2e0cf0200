"""Rules about the IAM statements that the environment adds to the roles of jobs."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from landbridge.catalog.aws.access.iam import iam, iam_actions
from landbridge.environment import Environment, Statement
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")
_ACTION = re.compile(r"[A-Za-z0-9-]+:[A-Za-z0-9*?]+")


@rule
def iam_action_form(environment: Environment) -> Iterator[Finding]:
    """An IAM action has the form service:Action; * and ? are wildcards.

    IAM refuses the whole policy for one wrong action, in the middle of an update.
    Source: IAM User Guide, "IAM JSON policy elements: Action".
    """
    for path, _, action in _actions(environment):
        if action == "*" or _ACTION.fullmatch(action):
            continue
        if action.startswith("arn:"):
            message, fix = f'"{action}" is a resource, not an action', "move it to resources"
        elif ":" not in action:
            services = [name for name in ("s3", "ec2", "kms", "secretsmanager", "logs") if _is_action(name, action)]
            example = f"{services[0]}:{action}" if services else "s3:GetObject"
            message, fix = f'the action "{action}" has no service prefix', f"write service:Action, such as {example}"
        else:
            message, fix = f'"{action}" is not an action', "write service:Action, such as s3:GetObject"
        yield error(path, message, fix=fix)


@rule
def iam_unknown_action(environment: Environment) -> Iterator[Finding]:
    """An action exists in its service. IAM accepts any name, and the request is denied at run time.

    AWS adds actions: if an action is newer than the catalogue, suppress the warning.
    Source: Service Authorization Reference, as in landbridge/catalog/iam.
    """
    for path, _, action in _actions(environment):
        service, colon, name = action.partition(":")
        if not colon or not _ACTION.fullmatch(action):
            continue
        if service.lower() not in iam().services:
            near = did_you_mean(service, iam().services)
            fix = f'did you mean "{near}:{name}"?' if near else "write the prefix of a service, such as s3"
            yield error(path, f'there is no service "{service}" in IAM', fix=fix)
            continue
        service_actions = iam_actions(service.lower())
        if service_actions is not None and not _matching(name, service_actions.all()):
            near = did_you_mean(name, service_actions.all())
            hint = f'did you mean "{service}:{near}"?' if near and "*" not in name else None
            message = f'{service} has no action "{name}"'
            yield warning(path, message, fix=hint)


@rule(suppressible=False)
def iam_all_permissions(environment: Environment) -> Iterator[Finding]:
    """No statement allows all actions or privilege escalation: every job has them.

    Refused are Allow *, all actions of iam, sts, organizations or account, and actions with which a role extends its
    own permissions.
    Source: IAM User Guide, "Security best practices in IAM"; privilege escalation paths as published by Rhino Security
    Labs.
    """
    escalation = [name.lower() for name in iam().escalation]
    for path, statement, action in _actions(environment):
        if statement.effect != "Allow":
            continue
        service = action.partition(":")[0].lower()
        if action == "*" or service in ("*", "**"):
            message = "the statement allows every job all actions in the account"
            yield error(path, message, fix="name the actions that jobs need")
        elif action.lower() in (f"{admin_service}:*" for admin_service in ("iam", "sts", "organizations", "account")):
            message = f"{action} allows a job to give itself every permission"
            yield error(path, message, fix="name the actions that jobs need")
        elif any(fnmatchcase(pattern, action.lower()) for pattern in escalation):
            passing = action.lower() == "iam:passrole" and not any(map(iam().is_everything, statement.resources))
            if not passing:
                message = f"{action} allows a job to extend its own permissions"
                related: tuple[DataPath, ...] = ((*path[:-2], "resources"),)
                yield error(path, message, fix="remove it: only the role that deploys needs it", related=related)


@rule
def iam_wildcard(environment: Environment) -> Iterator[Finding]:
    """A wildcard in an allowed action or resource has a reason (`why`), unless the action supports no resources.

    Some actions, such as ec2:DescribeInstances, support no resource-level permissions; they need *.
    Source: IAM User Guide, "Grant least privilege"; ParallelCluster limits its own roles by resource.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        if statement.effect != "Allow" or statement.why is not None:
            continue
        base: DataPath = (*_STATEMENTS, index)
        related: tuple[DataPath, ...] = ((*base, "why"), (*base, "effect"))
        for number, action in enumerate(statement.actions):
            if _ACTION.fullmatch(action) and action.endswith(":*"):
                message = f"{action} allows every action of the service, and the statement has no why"
                fix = "name the actions, or add why: to the statement"
                yield error((*base, "actions", number), message, fix=fix, related=related)
        narrow = [action for action in statement.actions if not _knows_no_resource(action)]
        for number, resource in enumerate(statement.resources):
            if resource == "*" and narrow:
                message = f"{narrow[0]} is allowed on every resource of the account, and the statement has no why"
                fix = "name the resources, or add why: to the statement"
                also = (*related, (*base, "actions"))
                yield error((*base, "resources", number), message, fix=fix, related=also)


@rule
def iam_needs_wildcard(environment: Environment) -> Iterator[Finding]:
    """An action without resource-level permissions has the resource *: on an ARN it allows nothing, without an error.

    Source: Service Authorization Reference: actions without a resource type, as in landbridge/catalog/iam.
    """
    for path, statement, action in _actions(environment):
        if statement.effect == "Allow" and _knows_no_resource(action) and "*" not in statement.resources:
            message = f"{action} supports no resource-level permissions: on {statement.resources[0]} it allows nothing"
            fix = 'move it to a separate statement with resources: ["*"]'
            related: tuple[DataPath, ...] = ((*path[:-2], "resources"),)
            yield error(path, message, fix=fix, related=related)


@rule
def iam_bucket_or_object(environment: Environment) -> Iterator[Finding]:
    """S3 actions on buckets have a bucket's ARN, actions on objects an ARN with a slash: otherwise they allow nothing.

    s3:ListBucket on arn:aws:s3:::data/* is the most common reason for AccessDenied.
    Source: Service Authorization Reference, "Actions, resources, and condition keys for Amazon S3".
    """
    for path, statement, action in _actions(environment):
        if not action.lower().startswith("s3:") or "*" in action or "*" in statement.resources:
            continue
        s3 = iam_actions("s3")
        if s3 is None:
            continue
        names = [arn.split(":::", 1)[1] for arn in statement.resources if re.match(r"arn:[^:]+:s3:::", arn)]
        if len(names) != len(statement.resources):
            continue
        name, related = action.partition(":")[2].lower(), ((*path[:-2], "resources"),)
        if _named(name, s3.bucket) and all("/" in resource_name for resource_name in names):
            message = f"{action} applies to buckets, and every resource of the statement is an object"
            fix = f"add {statement.resources[0].split('/')[0]}"
            yield error(path, message, fix=fix, related=related)
        elif _named(name, s3.object) and not any(
            "/" in resource_name or resource_name.endswith("*") for resource_name in names
        ):
            message = f"{action} applies to objects, and every resource of the statement is a bucket"
            yield error(path, message, fix=f"add {statement.resources[0]}/*", related=related)


def _actions(environment: Environment) -> Iterator[tuple[DataPath, Statement, str]]:
    for index, statement in enumerate(environment.aws.iam.node_statements):
        for number, action in enumerate(statement.actions):
            yield (*_STATEMENTS, index, "actions", number), statement, action


def _matching(pattern: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.lower(), pattern.lower()) for name in names)


def _named(name: str, names: tuple[str, ...]) -> bool:
    return name in (short_name.lower() for short_name in names)


def _is_action(service: str, name: str) -> bool:
    service_actions = iam_actions(service)
    return service_actions is not None and _named(name.lower(), service_actions.all())


def _knows_no_resource(action: str) -> bool:
    """Return true if every matching action supports no resource-level permissions; false for an unknown service."""
    service, _, name = action.partition(":")
    service_actions = iam_actions(service.lower())
    if service_actions is None or not name:
        return False
    return _matching(name, service_actions.none) and not _matching(
        name, (*service_actions.some, *service_actions.bucket, *service_actions.object)
    )
