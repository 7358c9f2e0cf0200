"""Existing FSx and EFS file systems that Landbridge mounts and does not create."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.aws.node_security_group import SecurityGroupRule
from landbridge.plan.aws.storage.existing_file_systems import ExistingFileSystemsArgs


class ExistingFileSystems(Component):
    """Existing file systems, with the same outputs as FileSystem.

    Costs nothing by itself. Protects the file systems: none is a resource of the stack, so Pulumi cannot change, tag or delete it.
    Opens the planned ports in the clients' security groups only; the owner of a file system opens those of its groups.
    """

    def __init__(
        self,
        name: str,
        args: ExistingFileSystemsArgs,
        *,
        pools: Mapping[str, pulumi.Input[str]],
        services: Mapping[str, pulumi.Input[str]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"ids": {system.share: system.id for system in args.file_systems}}, opts)
        self._name, self._args = name, args
        for clients, rules in ((pools, args.pool_rules), (services or {}, args.service_rules)):
            for client, group in clients.items():
                for rule in rules:
                    self._rule(client, group, rule)
        self.register_outputs({"ids": {system.share: system.id for system in args.file_systems}})

    def mounted(self) -> dict[str, dict[str, pulumi.Input[str]]]:
        """Return the mounts of a cloud node by share; without setuid programs and devices."""
        return {
            system.share: {
                "source": system.source,
                "type": system.type,
                "options": f"{system.options},nosuid,nodev",
                "mount": system.mount,
            }
            for system in self._args.file_systems
        }

    def exports(self) -> dict[str, dict[str, Any]]:
        """Return the stack's outputs by share, with the keys of FileSystem's."""
        return {system.share: system.model_dump(mode="json", exclude={"share"}) for system in self._args.file_systems}

    def _rule(self, client: str, group: pulumi.Input[str], rule: SecurityGroupRule) -> None:
        kind = aws.vpc.SecurityGroupIngressRule if rule.direction == "in" else aws.vpc.SecurityGroupEgressRule
        peer = "referenced_security_group_id" if rule.peer.startswith("sg-") else "cidr_ipv4"
        ports = {} if rule.ports is None else {"from_port": rule.ports[0], "to_port": rule.ports[1]}
        kind(
            f"{self._name}-{client}-{rule.key}",
            security_group_id=group,
            ip_protocol=rule.protocol,
            description=rule.why,
            tags=self._args.tags,
            opts=pulumi.ResourceOptions(parent=self),
            **{peer: rule.peer},
            **ports,
        )
