"""Policy of a VPC endpoint: requests between this account's principals and its resources, and named exceptions.

An endpoint's policy grants nothing; it limits the requests that pass. So a job cannot send data to another account's bucket with
credentials of that account, and nothing in the VPC can use this account's credentials on resources of another one.
Source: AWS PrivateLink guide, "Control access to VPC endpoints using endpoint policies"; IAM User Guide, global condition keys
aws:PrincipalAccount, aws:ResourceAccount and aws:PrincipalIsAWSService; read 2026-11-25.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from landbridge.catalog.aws.access.endpoint_policies import outside_resources
from landbridge.catalog.aws.regions import regions
from landbridge.environment import Environment
from landbridge.plan.args import Args
from landbridge.plan.policy_document import document

_READ_BUCKET = ["s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation"]


class EndpointPolicyArgs(Args):
    """Exceptions of the endpoints' policies: further accounts, and buckets and objects of any account that may be read."""

    region: str
    partition: str
    accounts: tuple[str, ...] = ()
    readable_buckets: tuple[str, ...] = ()
    #: Scripts of pools: bucket and key. The file does not say whose account a bucket is in.
    scripts: tuple[str, ...] = ()


def endpoint_policy_args(environment: Environment) -> EndpointPolicyArgs:
    """Plan the policies of all endpoints of an environment."""
    settings, facts = environment.aws.endpoint_policy, regions().get(environment.region)
    return EndpointPolicyArgs(
        region=environment.region,
        partition=facts.partition if facts is not None else "aws",
        accounts=settings.accounts,
        readable_buckets=settings.readable_buckets,
        scripts=tuple(
            dict.fromkeys(
                f"{script.bucket}/{script.key}"
                for pool in environment.aws.pools
                for _, _, script in pool.actions.scripts()
            )
        ),
    )


def endpoint_policy(args: EndpointPolicyArgs, service: str, account: str) -> str:
    """Return the policy of a service's endpoint in an account."""
    accounts = [account, *args.accounts]
    inside = {"StringEquals": {"aws:PrincipalAccount": accounts, "aws:ResourceAccount": accounts}}
    statements = [
        _allow("OwnPrincipalsToOwnResources", ["*"], ["*"], inside),
        # Services of AWS that act with their own principal; no other request has this key with the value true.
        _allow("ServicesOfAws", ["*"], ["*"], {"Bool": {"aws:PrincipalIsAWSService": "true"}}),
    ]
    principals = {"StringEquals": {"aws:PrincipalAccount": accounts}}
    rows = [row for row in outside_resources() if row.service == service]
    for number, row in enumerate(rows, start=1):
        condition = {} if row.anonymous else principals
        statements.append(
            _allow(f"Outside{number}", list(row.actions), row.arns(args.partition, args.region), condition)
        )
    if service == "sts":
        # A token of a web identity is exchanged without credentials of an account.
        roles = {"StringEquals": {"aws:ResourceAccount": accounts}}
        statements.append(_allow("WebIdentities", ["sts:AssumeRoleWithWebIdentity"], ["*"], roles))
    if service == "s3" and args.readable_buckets:
        buckets = [f"arn:{args.partition}:s3:::{name}" for name in args.readable_buckets]
        statements.append(_allow("ReadableBuckets", _READ_BUCKET, [*buckets, *(f"{arn}/*" for arn in buckets)], {}))
    if service == "s3" and args.scripts:
        objects = [f"arn:{args.partition}:s3:::{name}" for name in args.scripts]
        statements.append(_allow("ScriptsOfPools", ["s3:GetObject"], objects, principals))
    return document(statements)


def _allow(
    sid: str, actions: Sequence[str], resources: Sequence[str], condition: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    statement: dict[str, Any] = {"Sid": sid, "Effect": "Allow", "Principal": "*"}
    statement |= {"Action": list(actions), "Resource": list(resources)}
    return {**statement, "Condition": dict(condition)} if condition else statement
