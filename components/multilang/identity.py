"""`landbridge:index:Identity`."""

from typing import Any, NotRequired

import pulumi

from components import identity
from components.multilang.inputs import OwnedInputs, environment_of, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.access.identity import IdentityArgs, identity_args


class IdentityInputs(OwnedInputs):
    """IAM roles of nodes and services."""

    bucket_arns: dict[str, pulumi.Input[str]]
    """The data hub's buckets by data class."""
    key_arns: dict[str, pulumi.Input[str]]
    """The buckets' keys by data class."""
    pools: NotRequired[list[dict[str, Any]]]
    """As aws.pools in an environment file: the launch role may launch their nodes. Default: none."""
    iam: NotRequired[dict[str, Any]]
    """As aws.iam in an environment file: anywhere, ssm_activation, node_statements, permissions_boundary, path."""


class Identity(Adapter):
    """IAM roles without users or static keys: one for nodes, one for the jobs of each data class, five for on-prem services, and a secret without a value for Slurm's key."""

    node_role_arn: pulumi.Output[str]
    """The nodes' role."""
    node_profile_arn: pulumi.Output[str]
    """The nodes' instance profile, for launch templates."""
    role_arns: pulumi.Output[dict[str, str]]
    """Roles of on-prem services, by their purpose."""
    job_role_arns: pulumi.Output[dict[str, str]]
    """Roles of jobs, by their data class."""
    pool_role_arns: pulumi.Output[dict[str, str]]
    """Roles of the nodes of pools with their own policies, by pool."""
    pool_profile_arns: pulumi.Output[dict[str, str]]
    """Instance profiles of these pools, for their launch templates."""
    secret_arn: pulumi.Output[str]
    """The secret of Slurm's key."""

    def __init__(self, name: str, args: IdentityInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=identity.Identity,
            outputs=lambda component: {"node_profile_arn": component.node_profile.arn},
        )


def _plan(args: IdentityInputs) -> IdentityArgs:
    iam = with_integers(args.get("iam", {}))
    pools = with_integers(args.get("pools", []))
    return identity_args(environment_of(args, classes=list(args["bucket_arns"]), pools=pools, aws={"iam": iam}))


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "bucket_arns": {"internal": "arn:aws:s3:::lab-internal-123456789012"},
    "key_arns": {"internal": "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"},
    "pools": [{"name": "p5", "instance": "p5.48xlarge", "max_nodes": 4.0, "image": "ami-0a1b2c3d4e5f60718"}],
    "iam": {},
}
