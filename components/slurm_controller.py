"""Slurm controller in AWS, for an environment without a site."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.accounting_database import AccountingDatabase
from components.parts import machine
from components.parts.account import Account
from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.slurm_controller import ControllerResources, SlurmControllerArgs, controller_documents
from landbridge.plan.aws.storage.data_hub import key_policy


class SlurmController(Component):
    """EC2 instance at a fixed address, the volume with its state, the database of slurmdbd, and their KMS key.

    Costs the instance and the database by the hour, the volume by the month (`landbridge cost`), 1 USD a month for the key and
    0.40 USD for the database's secret. Protects: Slurm's state is on a volume that is attached to the next instance after a
    replacement; with `protect`, Pulumi refuses to delete or replace volume, key and database, and AWS refuses to terminate the
    instance. Opens Slurm's and MLflow's ports to the VPC's own ranges; no SSH port, since the operator connects through Systems
    Manager. The host's role can launch and terminate this cluster's instances, write to the data hub and read the database's secret.
    """

    role: aws.iam.Role
    database: AccountingDatabase
    security_group_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: SlurmControllerArgs,
        *,
        account: Account,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        zone_name: pulumi.Input[str],
        node_role_arn: pulumi.Input[str],
        slurm_key_arn: pulumi.Input[str],
        pool_role_arns: Sequence[pulumi.Input[str]] = (),
        bucket_arns: Sequence[pulumi.Input[str]] = (),
        bucket_key_arns: Sequence[pulumi.Input[str]] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"instanceType": args.machine.instance_type}, opts)
        self._name, self._args = f"{name}-controller", args
        self._child_options = pulumi.ResourceOptions(parent=self)
        # protect: Pulumi refuses to replace it. retain: it stays in AWS when it is removed from the program.
        self._data_options = pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect)
        self._key = self._create_key(account)
        group = machine.security_group(
            self._name,
            args.name,
            f"Landbridge {args.cluster}: controller",
            args.security_group_rules,
            vpc_id=vpc_id,
            tags=args.tags,
            child_options=self._child_options,
        )
        self.security_group_id = group.id
        self.database = AccountingDatabase(
            f"{name}-accounting",
            args.database,
            vpc_id=vpc_id,
            subnet_ids=subnet_ids,
            clients={"controller": group.id},
            key_arn=self._key.arn,
            opts=self._child_options,
        )
        self.role, profile = machine.role(
            self._name,
            args.name,
            path=args.path,
            boundary=args.permissions_boundary,
            tags=args.tags,
            child_options=self._child_options,
        )
        #: Policies of the role, with which the controller launches and terminates nodes.
        self.rights = self._rights(
            account, [slurm_key_arn, node_role_arn, *pool_role_arns], bucket_arns, bucket_key_arns
        )
        self._state = self._create_state_volume(zone_name)
        self._host = machine.instance(
            self._name,
            args.machine,
            group_id=group.id,
            subnet_id=subnet_ids[args.machine.zone],
            profile=profile,
            tags=args.tags,
            parent=self,
            protect=args.protect,
            depends_on=self.rights,
        )
        aws.ec2.VolumeAttachment(
            f"{self._name}-state",
            device_name=args.state.device,
            instance_id=self._host.id,
            volume_id=self._state.id,
            # Stop the instance before the volume is detached: a detached file system must not be in use.
            stop_instance_before_detaching=True,
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({"instanceId": self._host.id})

    def exports(self) -> dict[str, Any]:
        """Return the controller's part of the stack's `services` output."""
        host = self._args.machine
        return {
            "hosts": {host.host: {"instance_id": self._host.id, "address": host.address}},
            "database": self.database.exports(),
            "security_group_id": self.security_group_id,
            "state_volume_id": self._state.id,
        }

    def _create_key(self, account: Account) -> aws.kms.Key:
        args, label = self._args, f"{self._args.cluster}-services"
        key = aws.kms.Key(
            self._name,
            description=f"Landbridge {args.cluster}: state and accounting",
            enable_key_rotation=True,
            deletion_window_in_days=30 if args.protect else 7,
            policy=pulumi.Output.all(account.partition, account.id).apply(lambda facts: key_policy(*facts)),
            tags=named(args.tags, label),
            opts=self._data_options,
        )
        aws.kms.Alias(self._name, name=f"alias/{label}", target_key_id=key.key_id, opts=self._data_options)
        return key

    def _create_state_volume(self, zone_name: pulumi.Input[str]) -> aws.ebs.Volume:
        state = self._args.state
        return aws.ebs.Volume(
            f"{self._name}-state",
            availability_zone=zone_name,
            size=state.gib,
            type="gp3",
            encrypted=True,
            kms_key_id=self._key.arn,
            final_snapshot=self._args.protect,
            tags=named(self._args.tags, state.name),
            opts=self._data_options,
        )

    def _rights(
        self,
        account: Account,
        named_arns: Sequence[pulumi.Input[str]],
        buckets: Sequence[pulumi.Input[str]],
        keys: Sequence[pulumi.Input[str]],
    ) -> list[pulumi.Resource]:
        """Return the role's policies by name."""
        args = self._args

        def render_policies(facts: list[Any]) -> dict[str, str]:
            partition, account_id, (slurm_key, *node_roles), bucket_arns, bucket_keys, secret, key = facts
            place = ArnContext(args.cluster, partition, args.region, account_id)
            resources = ControllerResources(
                buckets=tuple(bucket_arns),
                bucket_keys=tuple(bucket_keys),
                node_roles=tuple(node_roles),
                slurm_key=slurm_key,
                database_secret=secret,
                key=key,
            )
            return controller_documents(args, place, resources)

        policies = pulumi.Output.all(
            account.partition,
            account.id,
            pulumi.Output.all(*named_arns),
            pulumi.Output.all(*buckets),
            pulumi.Output.all(*keys),
            self.database.secret_arn,
            self._key.arn,
        ).apply(render_policies)
        return [
            aws.iam.RolePolicy(
                f"{self._name}-{policy_name}",
                name=policy_name,
                role=self.role.id,
                policy=policies[policy_name],
                opts=self._child_options,
            )
            for policy_name in args.rights(hub=bool(buckets))
        ]
