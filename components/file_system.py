"""FSx or EFS file system that many nodes mount."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from components.parts.file_systems import FileSystemContext, Made, efs, lustre, openzfs
from landbridge.plan.args import named
from landbridge.plan.aws.data_hub import key_policy
from landbridge.plan.aws.file_system import EfsSettings, FileSystemArgs, FileSystemSecurityGroupRule, LustreSettings


class FileSystem(Component):
    """FSx for Lustre, FSx for OpenZFS or EFS, with its security group and its key.

    Costs its capacity and throughput while it exists, used or not (`landbridge cost`), and 1 USD a month for the key.
    Protects: encryption with its own key (scratch deployments: with an AWS managed key); backups, if its type has them. With
    `protect`, Pulumi refuses to delete or replace it, and it stays in AWS when it is removed from the program. Opens the planned
    ports between its security group and the groups of its clients only.
    """

    made: Made
    security_group_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: FileSystemArgs,
        *,
        account: Account,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        clients: Mapping[str, pulumi.Input[str]],
        route_table_ids: Sequence[pulumi.Input[str]] = (),
        buckets: Mapping[str, pulumi.Input[str]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"kind": args.settings.kind}, opts)
        self._name, self._args = name, args
        self._own = pulumi.ResourceOptions(parent=self)
        # protect: Pulumi refuses to replace it. retain: it stays in AWS when it is removed from the program.
        self._kept = pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect)
        group = aws.ec2.SecurityGroup(
            name,
            name=args.name,
            description=f"Landbridge {args.cluster}: file system {args.share}",
            vpc_id=vpc_id,
            tags=named(args.tags, args.name),
            opts=self._own,
        )
        self.security_group_id = group.id
        for rule in args.security_group_rules:
            self._let(rule, group.id, clients)
        site = FileSystemContext(
            subnet_ids=subnet_ids,
            route_table_ids=route_table_ids,
            security_group_id=group.id,
            key_arn=self._key(account).arn if args.own_key else None,
            kept=self._kept,
            own=self._own,
        )
        if isinstance(args.settings, LustreSettings):
            self.made = lustre(name, args, args.settings, site, buckets or {})
        elif isinstance(args.settings, EfsSettings):
            self.made = efs(name, args, args.settings, site)
        else:
            self.made = openzfs(name, args, args.settings, site)
        self.register_outputs({"id": self.made.id, "source": self.made.source})

    def mounted(self) -> dict[str, pulumi.Input[str]]:
        """Return the mount of a cloud node; mounted without setuid programs and devices."""
        file_systems = self.made
        options = pulumi.Output.concat(file_systems.options, ",nosuid,nodev")
        return {"source": file_systems.source, "type": file_systems.type, "options": options, "mount": self._args.mount}

    def exports(self) -> dict[str, Any]:
        """Return the stack's output for this file system: source, type and options of its mount."""
        file_systems = self.made
        return {
            "kind": self._args.settings.kind,
            "id": file_systems.id,
            "dns_name": file_systems.dns_name,
            "mount_name": file_systems.mount_name,
            "source": file_systems.source,
            "type": file_systems.type,
            "options": file_systems.options,
            "mount": self._args.mount,
            "zones": list(self._args.zones),
            "security_group_id": self.security_group_id,
        }

    def _key(self, account: Account) -> aws.kms.Key:
        args = self._args
        key = aws.kms.Key(
            self._name,
            description=f"Landbridge {args.cluster}: file system {args.share}",
            enable_key_rotation=True,
            deletion_window_in_days=30 if args.protect else 7,
            policy=pulumi.Output.all(account.partition, account.id).apply(lambda facts: key_policy(*facts)),
            tags=named(args.tags, args.name),
            opts=self._kept,
        )
        aws.kms.Alias(self._name, name=f"alias/{args.name}", target_key_id=key.key_id, opts=self._kept)
        return key

    def _let(
        self, rule: FileSystemSecurityGroupRule, group: pulumi.Output[str], clients: Mapping[str, pulumi.Input[str]]
    ) -> None:
        if rule.peer == "self":
            self._rule(rule.key, rule, rule.direction == "in", group, group)
            return
        for client, theirs in clients.items():
            self._rule(f"{client}-{rule.key}", rule, rule.direction == "in", group, theirs)
            self._rule(f"{client}-{rule.key}-there", rule, rule.direction == "out", theirs, group)

    def _rule(
        self,
        key: str,
        rule: FileSystemSecurityGroupRule,
        inwards: bool,
        group: pulumi.Input[str],
        peer: pulumi.Input[str],
    ) -> None:
        kind = aws.vpc.SecurityGroupIngressRule if inwards else aws.vpc.SecurityGroupEgressRule
        ports = {} if rule.ports is None else {"from_port": rule.ports[0], "to_port": rule.ports[1]}
        kind(
            f"{self._name}-{key}",
            security_group_id=group,
            referenced_security_group_id=peer,
            ip_protocol=rule.protocol,
            description=f"{rule.why}: file system {self._args.share}",
            tags=self._args.tags,
            opts=self._own,
            **ports,
        )
