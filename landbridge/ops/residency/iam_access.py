"""Barriers of AWS between an identity and a bucket: IAM for objects, IAM for the key, and the VPC endpoint."""

import re
from collections.abc import Iterator, Mapping

from landbridge.findings import DataPath
from landbridge.ops.iam import Decision, Document, Policies, Request, evaluate
from landbridge.ops.iam.match import Context
from landbridge.ops.residency.graph import Barrier
from landbridge.ops.residency.iam_forms import ACCOUNT, HubBucketForm, RoleForm

#: Account that has nothing to do with the cluster.
FOREIGN = "999988887777"
FOREIGN_BUCKET = "a-bucket-of-another-account"
_OBJECTS = ("x", "mlflow/x", "sagemaker/x", "models/x")
_ANYTHING = Document("identity", ({"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"},))
_READ = ("s3:GetObject", "kms:Decrypt")
_WRITE = ("s3:PutObject", "kms:GenerateDataKey")
_STATEMENT_OF_FILE = re.compile(r"Asked(\d+)$")
_BUCKET = re.compile(r"^arn:[a-z-]+:s3:::([a-z0-9.-]+)(?:/|$)")


def reads(role: RoleForm, bucket: HubBucketForm) -> tuple[Barrier, ...]:
    """Return the barriers between a bucket and a role that reads it."""
    return _barriers(role, bucket, *_READ)


def reads_despite_key(role: RoleForm, bucket: HubBucketForm) -> tuple[Barrier, ...]:
    """Return the barriers between a bucket and a role that may use its key for parts of uploads: no statement allows the role to read
    objects, and one denies it whatever other statements allow.
    """
    allowing = tuple(
        Document(document.name, tuple(each for each in document.statements if each["Effect"] == "Allow"))
        for document in role.permissions
    )
    action = "s3:GetObject"
    return (
        _objects("objects", role, bucket, action, Policies(allowing, bucket.policy)),
        _objects("denial", role, bucket, action, Policies((*role.permissions, _ANYTHING), bucket.policy)),
    )


def writes(role: RoleForm, bucket: HubBucketForm) -> tuple[Barrier, ...]:
    """Return the barriers between a role and a bucket that it writes."""
    return _barriers(role, bucket, *_WRITE)


def writes_elsewhere(role: RoleForm, name: str, endpoint: Document | None) -> tuple[Barrier, ...]:
    """Return the barriers between a role and a bucket that is not of the hub. `endpoint` is the policy of the only way
    to S3; None: there are others.
    """
    arn = f"arn:{role.arn.split(':')[1]}:s3:::{name}/x"
    is_foreign = name == FOREIGN_BUCKET
    context = _context(FOREIGN if is_foreign else ACCOUNT)
    decision = evaluate(Request(role.arn, "s3:PutObject", arn, context), Policies(role.permissions))
    barriers = [Barrier("policy of the role", decision.allowed, decision.why, statement_path(decision, role.path))]
    # The account of a bucket that a statement names is not known: the endpoint is not a barrier to the own account.
    if endpoint is not None and is_foreign:
        barriers.append(passes(endpoint, "s3:PutObject", arn, ACCOUNT, FOREIGN))
    return tuple(barriers)


def passes(endpoint: Document, action: str, arn: str, principal: str, owner: str) -> Barrier:
    """Return the barrier of a VPC endpoint for a request of one account's principal to another account's resource."""
    caller = f"arn:{arn.split(':')[1]}:iam::{principal}:role/any"
    request = Request(caller, action, arn, _context(owner, principal))
    decision = evaluate(request, Policies((_ANYTHING,), organization=(endpoint,)))
    why = _allowing_statement(endpoint, request) if decision.allowed else decision.why
    return Barrier(endpoint.name, decision.allowed, why, ("aws", "endpoint_policy"))


def named_buckets(role: RoleForm) -> Iterator[str]:
    """Yield the names of buckets, without wildcards, in the statements of a role."""
    for document in role.permissions:
        for statement in document.statements:
            resources = statement.get("Resource", ())
            for arn in (resources,) if isinstance(resources, str) else resources:
                name = _BUCKET.match(arn)
                if statement["Effect"] == "Allow" and name is not None:
                    yield name[1]


def trusts_host(role: RoleForm, host: str, anchor: str | None) -> Decision:
    """Return IAM's decision about a session of IAM Roles Anywhere with a host's certificate."""
    context: dict[str, str] = {"aws:SourceAccount": ACCOUNT, "aws:PrincipalTag/x509Subject/CN": host}
    if anchor is not None:
        context["aws:SourceArn"] = anchor
    request = Request("rolesanywhere.amazonaws.com", "sts:AssumeRole", role.arn, context)
    return evaluate(request, Policies(resource=role.trust, resource_decides=True))


def statement_path(decision: Decision, path: DataPath) -> DataPath:
    """Return the position of the statement that decided, if it is one of the file, else `path`."""
    number = _STATEMENT_OF_FILE.search(decision.why)
    return ("aws", "iam", "node_statements", int(number[1])) if number is not None else path


def _barriers(role: RoleForm, bucket: HubBucketForm, object_action: str, key_action: str) -> tuple[Barrier, ...]:
    suffix = ".cn" if bucket.arn.startswith("arn:aws-cn") else ""
    via = {"kms:ViaService": f"s3.{bucket.region}.amazonaws.com{suffix}", "kms:CallerAccount": ACCOUNT}
    of_key = Policies(role.permissions, bucket.key_policy, resource_decides=True)
    request = Request(role.arn, key_action, bucket.key_arn, {**_context(ACCOUNT), **via})
    key = evaluate(request, of_key)
    return (
        _objects("objects", role, bucket, object_action, Policies(role.permissions, bucket.policy)),
        Barrier("key", key.allowed, _text(key, key_action), statement_path(key, role.path)),
    )


def _objects(name: str, role: RoleForm, bucket: HubBucketForm, action: str, policies: Policies) -> Barrier:
    """Return the barrier for the objects of a bucket: it is open if the policies allow the action on one of them."""
    decisions = [
        evaluate(Request(role.arn, action, f"{bucket.arn}/{key}", _context(ACCOUNT)), policies) for key in _OBJECTS
    ]
    decision = next((each for each in decisions if each.allowed), decisions[0])
    return Barrier(name, decision.allowed, _text(decision, action), statement_path(decision, role.path))


def _text(decision: Decision, action: str) -> str:
    return f"{decision.why} {'allows' if decision.allowed else 'for'} {action}"


def _allowing_statement(endpoint: Document, request: Request) -> str:
    decision = evaluate(request, Policies((endpoint,)))
    return f"{decision.why} allows {request.action}"


def _context(owner: str, principal: str = ACCOUNT) -> Mapping[str, str] | Context:
    return {
        "aws:SecureTransport": "true",
        "aws:ResourceAccount": owner,
        "aws:PrincipalAccount": principal,
        "aws:PrincipalIsAWSService": "false",
        # An upload that replaces nothing, which the archive of models may make, as the request that creates the object.
        "s3:if-none-match": "*",
        "s3:ObjectCreationOperation": "true",
    }
