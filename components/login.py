"""Login hosts in AWS, for an environment without a site."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts import machine
from components.parts.account import Account
from components.parts.component import Component
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.login import LoginArgs, login_documents


class Login(Component):
    """Identical EC2 instances at fixed addresses, with one security group and one role.

    Costs each instance by the hour and its disk by the month (`landbridge cost`). Protects: the hosts hold no data, homes are
    on a file system; its role has the permissions of Systems Manager sessions and of mounts of EFS only, and only programs of root get
    its credentials.
    Opens the ports of `srun` to the VPC's own ranges; no SSH port, since users connect through Systems Manager.
    """

    security_group_id: pulumi.Output[str]
    role_arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: LoginArgs,
        *,
        account: Account,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": args.cluster}, opts)
        name, child_options = f"{name}-login", pulumi.ResourceOptions(parent=self)
        group = machine.security_group(
            name,
            args.name,
            f"Landbridge {args.cluster}: login hosts",
            args.security_group_rules,
            vpc_id=vpc_id,
            tags=args.tags,
            child_options=child_options,
        )
        self.security_group_id = group.id
        role, profile = machine.role(
            name,
            args.name,
            path=args.path,
            boundary=args.permissions_boundary,
            tags=args.tags,
            child_options=child_options,
        )
        self.role_arn = role.arn
        policies = pulumi.Output.all(account.partition, account.id).apply(
            lambda facts: login_documents(ArnContext(args.cluster, facts[0], args.region, facts[1]), args.efs)
        )
        session = aws.iam.RolePolicy(
            f"{name}-session", name="session", role=role.id, policy=policies["session"], opts=child_options
        )
        self._hosts = {
            plan.host: (
                plan,
                machine.instance(
                    f"{name}-{plan.host}",
                    plan,
                    group_id=group.id,
                    subnet_id=subnet_ids[plan.zone],
                    profile=profile,
                    tags=args.tags,
                    parent=self,
                    depends_on=[session],
                ),
            )
            for plan in args.machines
        }
        self.register_outputs({"securityGroupId": group.id})

    def exports(self) -> dict[str, Any]:
        """Return the login hosts of the stack's `services.hosts` output."""
        return {
            host: {"instance_id": instance.id, "address": plan.address}
            for host, (plan, instance) in self._hosts.items()
        }
