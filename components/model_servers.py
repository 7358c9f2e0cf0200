"""Hosts of model servers in AWS, which the site's model gateway starts and stops."""

from collections.abc import Mapping

import pulumi

from components.parts import machine
from components.parts.component import Component
from landbridge.plan.aws.model_servers import ModelServersArgs


class ModelServers(Component):
    """EC2 instances at fixed addresses, with one security group and without a role.

    Costs each instance by the hour while it runs, and its disk by the month (`landbridge cost`). Protects: programs on the hosts
    have no rights in AWS, as there is no instance profile; only the model gateway and Prometheus reach the model servers, and no rule leads to
    nodes, file systems or MLflow. Opens SSH to the operators' networks, through the link. A shutdown from within stops an instance, and does not
    terminate it.
    """

    security_group_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ModelServersArgs,
        *,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": args.cluster}, opts)
        name = f"{name}-model-servers"
        group = machine.security_group(
            name,
            args.name,
            f"Landbridge {args.cluster}: model servers",
            args.security_group_rules,
            vpc_id=vpc_id,
            tags=args.tags,
            child_options=pulumi.ResourceOptions(parent=self),
        )
        self.security_group_id = group.id
        for plan in args.machines:
            machine.instance(
                f"{name}-{plan.host}",
                plan,
                group_id=group.id,
                subnet_id=subnet_ids[plan.zone],
                profile=None,
                tags=args.tags,
                parent=self,
                shutdown_behavior="stop",
            )
        self.register_outputs({"securityGroupId": group.id})
