"""FSx or EFS file system that many nodes mount."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from components.parts.file_systems import FileSystemContext, FileSystemResource, efs, lustre, openzfs
from landbridge.plan.args import named
from landbridge.plan.aws.storage.data_hub import key_policy
from landbridge.plan.aws.storage.file_system import EfsSettings, FileSystemArgs, LustreSettings
from landbridge.plan.aws.storage.file_system_rules import FileSystemSecurityGroupRule


class FileSystem(Component):
    """FSx for Lustre, FSx for OpenZFS or EFS, with its security group and its key.

    Costs its capacity and throughput while it exists, used or not (`landbridge cost`), and 1 USD a month for the key.
    Protects: encryption with its own key (scratch deployments: with an AWS managed key); backups, if its type has them. With
    `protect`, Pulumi refuses to delete or replace it, and it stays in AWS when it is removed from the program. Opens the planned
    ports between its security group and the groups of its clients only. EFS over TLS accepts the roles `client_roles` alone, through
    its access point; root of `root_roles` is root there, that of other clients is squashed.
    """

    resource: FileSystemResource
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
        client_roles: Sequence[pulumi.Input[str]] = (),
        root_roles: Sequence[pulumi.Input[str]] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"kind": args.settings.kind}, opts)
        self._name, self._args = name, args
        self._child_options = pulumi.ResourceOptions(parent=self)
        # protect: Pulumi refuses to replace it. retain: it stays in AWS when it is removed from the program.
        self._data_options = pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect)
        group = aws.ec2.SecurityGroup(
            name,
            name=args.name,
            description=f"Landbridge {args.cluster}: file system {args.share}",
            vpc_id=vpc_id,
            tags=named(args.tags, args.name),
            opts=self._child_options,
        )
        self.security_group_id = group.id
        for rule in args.security_group_rules:
            self._security_group_rule(rule, group.id, clients)
        context = FileSystemContext(
            subnet_ids=subnet_ids,
            route_table_ids=route_table_ids,
            security_group_id=group.id,
            key_arn=self._key(account).arn if args.own_key else None,
            client_roles=client_roles,
            root_roles=root_roles,
            data_options=self._data_options,
            child_options=self._child_options,
        )
        if isinstance(args.settings, LustreSettings):
            self.resource = lustre(name, args, args.settings, context, buckets or {})
        elif isinstance(args.settings, EfsSettings):
            self.resource = efs(name, args, args.settings, context)
        else:
            self.resource = openzfs(name, args, args.settings, context)
        self.register_outputs({"id": self.resource.id, "source": self.resource.source})

    def mounted(self) -> dict[str, pulumi.Input[str]]:
        """Return the mount of a cloud node; mounted without setuid programs and devices."""
        resource = self.resource
        options = pulumi.Output.concat(resource.options, ",nosuid,nodev")
        return {"source": resource.source, "type": resource.type, "options": options, "mount": self._args.mount}

    def exports(self) -> dict[str, Any]:
        """Return the stack's output for this file system: source, type and options of its mount."""
        resource = self.resource
        return {
            "kind": self._args.settings.kind,
            "id": resource.id,
            "dns_name": resource.dns_name,
            "mount_name": resource.mount_name,
            "source": resource.source,
            "type": resource.type,
            "options": resource.options,
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
            opts=self._data_options,
        )
        aws.kms.Alias(self._name, name=f"alias/{args.name}", target_key_id=key.key_id, opts=self._data_options)
        return key

    def _security_group_rule(
        self, rule: FileSystemSecurityGroupRule, group: pulumi.Output[str], clients: Mapping[str, pulumi.Input[str]]
    ) -> None:
        if rule.peer == "self":
            self._rule(rule.key, rule, rule.direction == "in", group, group)
            return
        for client, client_group in clients.items():
            self._rule(f"{client}-{rule.key}", rule, rule.direction == "in", group, client_group)
            self._rule(f"{client}-{rule.key}-there", rule, rule.direction == "out", client_group, group)

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
            opts=self._child_options,
            **ports,
        )
