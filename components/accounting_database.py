"""RDS for MariaDB, the database of slurmdbd."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.aws.accounting_database import AccountingDatabaseArgs


class AccountingDatabase(Component):
    """RDS for MariaDB, its subnets, its parameters and its security group.

    Costs its instance class by the hour and its storage by the month (`landbridge cost`), twice with a standby. Protects: no public
    address; encryption; TLS is required; RDS creates the master password, keeps it in Secrets Manager and rotates it; backups with
    point-in-time recovery. With `protect`, Pulumi and AWS's deletion protection refuse to delete or replace it, it stays in AWS when
    it is removed from the program, and a deletion makes a final snapshot. Opens its port to the named security groups only.
    """

    secret_arn: pulumi.Output[str]
    security_group_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: AccountingDatabaseArgs,
        *,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        clients: Mapping[str, pulumi.Input[str]],
        key_arn: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"class": args.instance_class}, opts)
        self._name, self._args = name, args
        self._child_options = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            name,
            name=args.name,
            description=f"Landbridge {args.cluster}: accounting database",
            vpc_id=vpc_id,
            tags=named(args.tags, args.name),
            opts=self._child_options,
        )
        self.security_group_id = group.id
        for client, client_group in clients.items():
            self._allow(client, group.id, client_group, aws.vpc.SecurityGroupIngressRule)
            self._allow(f"{client}-there", client_group, group.id, aws.vpc.SecurityGroupEgressRule)
        self._database = self._instance(group.id, [subnet_ids[zone] for zone in args.zones], key_arn)
        self.secret_arn = self._database.master_user_secrets.apply(lambda secrets: str(secrets[0].secret_arn))
        self.register_outputs({"address": self._database.address})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `services.database` output."""
        return {
            "address": self._database.address,
            "port": self._args.port,
            "user": self._args.user,
            "secret_arn": self.secret_arn,
        }

    def _allow(
        self,
        key: str,
        group: pulumi.Input[str],
        peer: pulumi.Input[str],
        kind: type[aws.vpc.SecurityGroupIngressRule] | type[aws.vpc.SecurityGroupEgressRule],
    ) -> None:
        kind(
            f"{self._name}-{key}",
            security_group_id=group,
            referenced_security_group_id=peer,
            ip_protocol="tcp",
            from_port=self._args.port,
            to_port=self._args.port,
            description="slurmdbd reaches its database",
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _instance(
        self, group_id: pulumi.Input[str], subnet_ids: Sequence[pulumi.Input[str]], key_arn: pulumi.Input[str]
    ) -> aws.rds.Instance:
        args, tags = self._args, named(self._args.tags, self._args.name)
        subnets = aws.rds.SubnetGroup(
            self._name,
            name=args.name,
            description=f"Landbridge {args.cluster}: accounting",
            subnet_ids=subnet_ids,
            tags=tags,
            opts=self._child_options,
        )
        parameters = aws.rds.ParameterGroup(
            f"{self._name}-{args.family}",
            name=args.parameter_group,
            family=args.family,
            description=f"Landbridge {args.cluster}: accounting",
            parameters=[
                {"name": key, "value": value, "apply_method": "immediate"} for key, value in args.parameters.items()
            ],
            tags=tags,
            opts=self._child_options,
        )
        final_snapshot = {"final_snapshot_identifier": args.final_snapshot} if args.protect else {}
        return aws.rds.Instance(
            self._name,
            identifier=args.name,
            engine=args.engine,
            engine_version=args.version,
            # A new series cannot be undone without a restore, so it needs a second key beside the version.
            allow_major_version_upgrade=args.apply_immediately,
            apply_immediately=args.apply_immediately,
            auto_minor_version_upgrade=True,
            instance_class=args.instance_class,
            allocated_storage=args.storage_gib,
            max_allocated_storage=args.most_gib,
            storage_type="gp3",
            storage_encrypted=True,
            kms_key_id=key_arn,
            username=args.user,
            manage_master_user_password=True,
            master_user_secret_kms_key_id=key_arn,
            port=args.port,
            db_subnet_group_name=subnets.name,
            parameter_group_name=parameters.name,
            vpc_security_group_ids=[group_id],
            publicly_accessible=False,
            multi_az=args.multi_az,
            backup_retention_period=args.backup_days,
            backup_window=args.backup_window,
            maintenance_window=args.maintenance_window,
            copy_tags_to_snapshot=True,
            delete_automated_backups=not args.protect,
            deletion_protection=args.protect,
            skip_final_snapshot=not args.protect,
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect),
            **final_snapshot,
        )
