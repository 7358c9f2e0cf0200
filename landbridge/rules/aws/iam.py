"""Rules about the statements that nodes' role gets besides its own."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from landbridge.catalog.aws.iam import iam, iam_actions
from landbridge.environment import Environment, Statement
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")
_ACTION = re.compile(r"[A-Za-z0-9-]+:[A-Za-z0-9*?]+")


@rule
def iam_action_form(environment: Environment) -> Iterator[Finding]:
    """An action is a service, a colon and an action of it, in which * and ? stand for anything.

    IAM refuses the whole policy for one without a service, after everything before it has been built.
    Source: IAM User Guide, "IAM JSON policy elements: Action".
    """
    for path, _, action in _actions(environment):
        if action == "*" or _ACTION.fullmatch(action):
            continue
        if action.startswith("arn:"):
            message, fix = f'"{action}" is a resource, not an action', "write it under resources"
        elif ":" not in action:
            services = [name for name in ("s3", "ec2", "kms", "secretsmanager", "logs") if _is_action(name, action)]
            example = f"{services[0]}:{action}" if services else "s3:GetObject"
            message, fix = f'the action "{action}" names no service', f"such as {example}"
        else:
            message, fix = f'"{action}" is not an action', "it is service:Action, such as s3:GetObject"
        yield error(path, message, fix=fix)


@rule
def iam_unknown_action(environment: Environment) -> Iterator[Finding]:
    """An action is one that its service has. IAM takes any word, and whoever needs the right is refused at run time.

    The lists grow: where an action is newer than this catalogue, suppress the warning.
    Source: Service Authorization Reference, as in landbridge/catalog/iam.
    """
    for path, _, action in _actions(environment):
        service, colon, name = action.partition(":")
        if not colon or not _ACTION.fullmatch(action):
            continue
        if service.lower() not in iam().services:
            near = did_you_mean(service, iam().services)
            fix = f'did you mean "{near}:{name}"?' if near else "the prefix of a service, such as s3"
            yield error(path, f'there is no service "{service}" in IAM', fix=fix)
            continue
        known = iam_actions(service.lower())
        if known is not None and not _matching(name, known.all()):
            near = did_you_mean(name, known.all())
            hint = f'did you mean "{service}:{near}"?' if near and "*" not in name else None
            message = f'{service} has no action "{name}"'
            yield warning(path, message, fix=hint)


@rule(suppressible=False)
def iam_all_permissions(environment: Environment) -> Iterator[Finding]:
    """No node may do everything: whoever runs a job has its node's rights.

    Neither Allow * nor all of iam, sts or organizations, nor a right with which a node gives itself others.
    Source: IAM User Guide, "Security best practices in IAM"; privilege escalation paths as published by Rhino Security Labs.
    """
    escalation = [name.lower() for name in iam().escalation]
    for path, statement, action in _actions(environment):
        if statement.effect != "Allow":
            continue
        service = action.partition(":")[0].lower()
        if action == "*" or service in ("*", "**"):
            message = "nodes may do everything in the account, and so may every job"
            yield error(path, message, fix="name the actions that jobs need")
        elif action.lower() in (f"{one}:*" for one in ("iam", "sts", "organizations", "account")):
            message = f"with {action} a node can give itself every right there is"
            yield error(path, message, fix="name the actions that jobs need")
        elif any(fnmatchcase(one, action.lower()) for one in escalation):
            passing = action.lower() == "iam:passrole" and not any(map(iam().is_everything, statement.resources))
            if not passing:
                message = f"with {action} a node can give itself other rights"
                related: tuple[DataPath, ...] = ((*path[:-2], "resources"),)
                yield error(path, message, fix="leave it to the role that deploys", related=related)


@rule
def iam_wildcard(environment: Environment) -> Iterator[Finding]:
    """A * in an allowed action or as the resource has a reason beside it (`why`), unless nothing smaller can be said.

    Some actions, as ec2:DescribeInstances, know no resources; for them * is all there is.
    Source: IAM User Guide, "Grant least privilege"; ParallelCluster limits its own roles by resource.
    """
    for index, statement in enumerate(environment.aws.iam.node_statements):
        if statement.effect != "Allow" or statement.why is not None:
            continue
        base: DataPath = (*_STATEMENTS, index)
        related: tuple[DataPath, ...] = ((*base, "why"), (*base, "effect"))
        for number, action in enumerate(statement.actions):
            if _ACTION.fullmatch(action) and action.endswith(":*"):
                message = f"{action} is every action of the service, and nothing says why"
                fix = "name the actions, or say why: in the statement"
                yield error((*base, "actions", number), message, fix=fix, related=related)
        narrow = [action for action in statement.actions if not _knows_no_resource(action)]
        for number, resource in enumerate(statement.resources):
            if resource == "*" and narrow:
                message = f"{narrow[0]} on every resource of the account, and nothing says why"
                fix = "name the resources, or say why: in the statement"
                also = (*related, (*base, "actions"))
                yield error((*base, "resources", number), message, fix=fix, related=also)


@rule
def iam_needs_wildcard(environment: Environment) -> Iterator[Finding]:
    """An action that knows no resources is allowed on * only: on an ARN it is allowed nowhere, without any complaint.

    Source: Service Authorization Reference: actions without a resource type, as in landbridge/catalog/iam.
    """
    for path, statement, action in _actions(environment):
        if statement.effect == "Allow" and _knows_no_resource(action) and "*" not in statement.resources:
            message = f"{action} knows no resources; on {statement.resources[0]} it allows nothing"
            fix = 'put it in a statement of its own with resources: ["*"]'
            related: tuple[DataPath, ...] = ((*path[:-2], "resources"),)
            yield error(path, message, fix=fix, related=related)


@rule
def iam_bucket_or_object(environment: Environment) -> Iterator[Finding]:
    """S3's actions on buckets need the bucket's ARN, those on objects one with a slash: else they allow nothing.

    s3:ListBucket on arn:aws:s3:::data/* is the commonest reason for AccessDenied there is.
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
        if _named(name, s3.bucket) and all("/" in one for one in names):
            message = f"{action} acts on buckets, and every resource here is an object"
            fix = f"add {statement.resources[0].split('/')[0]}"
            yield error(path, message, fix=fix, related=related)
        elif _named(name, s3.object) and not any("/" in one or one.endswith("*") for one in names):
            message = f"{action} acts on objects, and every resource here is a bucket"
            yield error(path, message, fix=f"add {statement.resources[0]}/*", related=related)


def _actions(environment: Environment) -> Iterator[tuple[DataPath, Statement, str]]:
    for index, statement in enumerate(environment.aws.iam.node_statements):
        for number, action in enumerate(statement.actions):
            yield (*_STATEMENTS, index, "actions", number), statement, action


def _matching(pattern: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.lower(), pattern.lower()) for name in names)


def _named(name: str, names: tuple[str, ...]) -> bool:
    return name in (one.lower() for one in names)


def _is_action(service: str, name: str) -> bool:
    known = iam_actions(service)
    return known is not None and _named(name.lower(), known.all())


def _knows_no_resource(action: str) -> bool:
    """True when every action that is meant takes * alone. An unknown service's may know some."""
    service, _, name = action.partition(":")
    known = iam_actions(service.lower())
    if known is None or not name:
        return False
    return _matching(name, known.none) and not _matching(name, (*known.some, *known.bucket, *known.object))
