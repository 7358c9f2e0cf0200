"""`landbridge:index:Identity`."""

from typing import Any, NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, whole
from landbridge.plan.aws.identity import IdentityArgs, identity_args


class IdentityInputs(OwnedInputs):
    """Who may do what."""

    bucket_arns: dict[str, pulumi.Input[str]]
    """The hub's buckets by data class."""
    key_arns: dict[str, pulumi.Input[str]]
    """Their keys by data class."""
    iam: NotRequired[dict[str, Any]]
    """As aws.iam in an environment file: anywhere, ssm_activation, node_statements, permissions_boundary, path."""


class Identity(pulumi.ComponentResource):
    """Roles without users or static keys: one for the nodes, five for on-prem services, and Slurm's key without a value."""

    node_role_arn: pulumi.Output[str]
    """The nodes' role."""
    node_profile_arn: pulumi.Output[str]
    """Its instance profile, for launch templates."""
    role_arns: pulumi.Output[dict[str, str]]
    """On-prem services' roles, by what they are for."""
    secret_arn: pulumi.Output[str]
    """The secret of Slurm's key."""

    def __init__(self, name: str, args: IdentityInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> IdentityArgs:
            site = site_of(
                args,
                classes=list(args["bucket_arns"]),
                aws={"iam": whole(args.get("iam", {}))},
            )
            return identity_args(site)

        wanted = planned(f"Identity {name}", plan)
        super().__init__("landbridge:index:Identity", name, dict(args), opts)
        made = components.Identity(
            name,
            wanted,
            account=account_of(self),
            region=args["region"],
            bucket_arns=args["bucket_arns"],
            key_arns=args["key_arns"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.node_role_arn = made.node_role_arn
        self.node_profile_arn = made.node_profile.arn
        self.role_arns = pulumi.Output.from_input(dict(made.role_arns))
        self.secret_arn = made.secret_arn
        self.register_outputs(
            {
                "nodeRoleArn": self.node_role_arn,
                "nodeProfileArn": self.node_profile_arn,
                "roleArns": self.role_arns,
                "secretArn": self.secret_arn,
            }
        )
