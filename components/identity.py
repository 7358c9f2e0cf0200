"""Roles, and the secret through which Slurm's key reaches the nodes."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.account import Account
from landbridge.plan import identity as plan
from landbridge.plan.args import named
from landbridge.plan.identity import IdentityArgs


class Identity(pulumi.ComponentResource):
    """Three roles without users or static keys: nodes, the burst controller, on-prem services that write to the hub.

    Costs 0.40 USD a month for the secret. Protects: each role has only what its bearer calls, launching is bound to this
    cluster's tag, and Slurm's key has no value here (the controller publishes it, nodes read it at boot).
    """

    node_role_arn: pulumi.Output[str]
    node_profile: aws.iam.InstanceProfile
    launch_role_arn: pulumi.Output[str]
    hub_role_arn: pulumi.Output[str]
    secret_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: IdentityArgs,
        *,
        account: Account,
        region: str,
        bucket_arns: Mapping[str, pulumi.Input[str]],
        key_arns: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("landbridge:index:Identity", name, {"cluster": args.cluster}, opts)
        self._name, self._args = name, args
        self._own = pulumi.ResourceOptions(parent=self)
        secret = aws.secretsmanager.Secret(
            f"{name}-slurm-key",
            name=args.secret_name,
            description="Slurm's key: written by the controller, read by nodes at boot",
            recovery_window_in_days=30 if args.protect else 0,
            tags=named(args.tags, args.secret_name),
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect),
        )
        buckets = pulumi.Output.all(*(bucket_arns[key] for key in sorted(bucket_arns)))
        keys = pulumi.Output.all(*(key_arns[key] for key in sorted(key_arns)))
        trust_onprem = account.id.apply(lambda id_: plan.onprem_trust(id_, args.controllers))

        node = self._role("node", plan.instance_trust())
        self._allow(
            "node", node, pulumi.Output.all(buckets, keys, secret.arn).apply(lambda known: plan.node_policy(*known))
        )
        self.node_profile = aws.iam.InstanceProfile(
            f"{name}-node", name=f"{args.cluster}-node", role=node.name, tags=args.tags, opts=self._own
        )
        hub = self._role("hub", account.id.apply(lambda id_: plan.onprem_trust(id_, args.hub_writers)))
        self._allow("hub", hub, pulumi.Output.all(buckets, keys).apply(lambda known: plan.hub_policy(*known)))
        launch = self._role("launch", trust_onprem)
        facts = pulumi.Output.all(account.partition, account.id, node.arn, secret.arn)
        self._allow(
            "launch",
            launch,
            facts.apply(lambda f: plan.launch_policy(args.cluster, f[0], region, f[1], f[2], f[3])),
        )
        self.node_role_arn, self.launch_role_arn, self.hub_role_arn = node.arn, launch.arn, hub.arn
        self.secret_name = secret.name
        self.register_outputs({"nodeRoleArn": node.arn, "launchRoleArn": launch.arn, "hubRoleArn": hub.arn})

    def exports(self) -> dict[str, Any]:
        """The stack's `identity` output."""
        return {
            "node_instance_profile": self.node_profile.name,
            "node_role_arn": self.node_role_arn,
            "launch_role_arn": self.launch_role_arn,
            "hub_role_arn": self.hub_role_arn,
        }

    def _role(self, key: str, trust: pulumi.Input[str]) -> aws.iam.Role:
        return aws.iam.Role(
            f"{self._name}-{key}",
            name=f"{self._args.cluster}-{key}",
            assume_role_policy=trust,
            tags=self._args.tags,
            opts=self._own,
        )

    def _allow(self, key: str, role: aws.iam.Role, policy: pulumi.Input[str]) -> None:
        aws.iam.RolePolicy(f"{self._name}-{key}", name="landbridge", role=role.id, policy=policy, opts=self._own)
