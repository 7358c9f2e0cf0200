"""IAM roles of nodes and of the on-prem services that launch, terminate, monitor, move data and write to the hub."""

from datetime import UTC, datetime
from typing import Any, Literal

from landbridge.environment import Environment, Statement
from landbridge.plan.args import Args, tags
from landbridge.plan.aws import iam_policies
from landbridge.plan.aws.data_hub import bucket_prefix
from landbridge.plan.aws.iam_policies import ArnContext
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.policy_document import document

OnPremRole = Literal["launch", "terminate", "read", "hub", "mover"]
#: In the order in which they are made; the node's role is no on-prem one.
ONPREM_ROLES: tuple[OnPremRole, ...] = ("launch", "terminate", "read", "hub", "mover")


class AnchorPlan(Args):
    """Trust anchor of IAM Roles Anywhere: its CA, and the duration of its credentials."""

    certificate: str
    seconds: int


class ActivationPlan(Args):
    """Systems Manager hybrid activation: registration limit and expiry date."""

    registrations: int
    expires: str


class IdentityArgs(Args):
    """Plan of the IAM roles, and the secret that holds Slurm's key for nodes (its value never passes through Pulumi).

    `hosts` are the names in the certificates that may take each role; without any there are no such roles.
    `restricted` are the classes no role may touch.
    """

    cluster: str
    secret_name: str
    hosts: dict[OnPremRole, tuple[str, ...]]
    restricted: tuple[str, ...] = ()
    restricted_buckets: tuple[str, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    node_policies: tuple[str, ...] = ()
    node_statements: tuple[dict[str, Any], ...] = ()
    #: Besides the provider's own: where nodes may be, too.
    other_regions: tuple[str, ...] = ()
    anchor: AnchorPlan | None = None
    activation: ActivationPlan | None = None
    protect: bool
    tags: dict[str, str]


class Documents(Args):
    """Permissions policies by role, rendered once AWS has returned the ARNs."""

    node: str
    launch: str
    terminate: str
    read: str
    hub: str
    mover: str


def identity_args(environment: Environment) -> IdentityArgs:
    """Plan the roles of an environment."""
    iam, served = environment.aws.iam, service_hosts(environment)
    controllers = served.controllers
    onprem_classes = tuple(
        sorted(name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites)
    )
    anywhere, activation = iam.anywhere, iam.ssm_activation
    return IdentityArgs(
        cluster=environment.name,
        secret_name=f"{environment.name}/slurm-key",
        # A controller in AWS has its permissions from its instance profile: no other host has a certificate to assume a role with.
        hosts={}
        if environment.onprem is None
        else {
            "launch": controllers,
            "terminate": controllers,
            "read": tuple(dict.fromkeys((*controllers, served.mlops))),
            "hub": (served.mlops,),
            "mover": (served.storage or served.mlops,),
        },
        restricted=onprem_classes,
        restricted_buckets=tuple(bucket_prefix(environment.name, name) for name in onprem_classes),
        path=iam.path,
        permissions_boundary=iam.permissions_boundary,
        node_policies=iam.node_policies,
        node_statements=tuple(
            _written(f"Asked{number}", statement) for number, statement in enumerate(iam.node_statements)
        ),
        other_regions=tuple(environment.aws.other_regions),
        anchor=None
        if anywhere is None
        else AnchorPlan(certificate=anywhere.certificate, seconds=anywhere.minutes * 60),
        activation=None
        if activation is None
        else ActivationPlan(registrations=activation.registrations, expires=_utc(activation.expires)),
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def documents(
    args: IdentityArgs, place: ArnContext, buckets: list[str], keys: list[str], node_role_arn: str, secret_arn: str
) -> Documents:
    """Return every role's permissions policy. Deny statements come last."""
    never = iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)
    return Documents(
        node=document([*iam_policies.node(buckets, keys, secret_arn), *args.node_statements, *never]),
        launch=document([*iam_policies.launch(place, node_role_arn, secret_arn), *never]),
        terminate=document([*iam_policies.terminate(place), *never]),
        read=document([*iam_policies.read(place), *never]),
        hub=document([*iam_policies.hub(buckets, keys), *never]),
        mover=document([*iam_policies.mover(buckets, keys), *never]),
    )


def instance_trust() -> str:
    """Return the trust policy of nodes: only EC2 may assume the role."""
    return document([iam_policies.service_trust("ec2.amazonaws.com")])


def managed_trust(account: str) -> str:
    """Return the trust policy of managed nodes: only Systems Manager on behalf of this account."""
    return document([iam_policies.service_trust("ssm.amazonaws.com", account)])


def onprem_trust(args: IdentityArgs, role: OnPremRole, account: str, anchor: str | None) -> str:
    """Return the trust policy of a role for on-prem hosts."""
    return document([iam_policies.roles_anywhere_trust(account, args.hosts[role], anchor)])


def _utc(moment: datetime) -> str:
    """Format a time for AWS; a time without an offset counts as UTC, which check rejects."""
    aware = moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _written(sid: str, statement: Statement) -> dict[str, Any]:
    """Return a statement of the environment file in IAM's form."""
    written: dict[str, Any] = {"Sid": sid, "Effect": statement.effect}
    written |= {"Action": list(statement.actions), "Resource": list(statement.resources)}
    return (
        {**written, "Condition": {key: dict(value) for key, value in statement.conditions.items()}}
        if statement.conditions
        else written
    )
