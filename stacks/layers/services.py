"""Services in AWS of an environment without a site: controller, database and login hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.login import Login
from components.slurm_controller import SlurmController
from landbridge.plan.aws.login import LoginArgs
from landbridge.plan.aws.slurm_controller import SlurmControllerArgs
from layers.context import Context, Exports
from layers.foundation import Foundation


@dataclass(frozen=True)
class Services:
    """Outputs of the services' components. `launch_role` is the name and the ARN of the role that launches nodes.

    `ends_nodes` are the policies with which it terminates them. `mounting` are the security groups of hosts that mount homes, by keys that differ from pool names. `login_role_arn` is the role of
    login hosts.
    """

    launch_role: tuple[pulumi.Output[str], pulumi.Output[str]]
    ends_nodes: Sequence[pulumi.Resource]
    mounting: Mapping[str, pulumi.Output[str]]
    exports: Exports
    login_role_arn: pulumi.Output[str] | None


def build(
    controller: SlurmControllerArgs | None, login: LoginArgs | None, foundation: Foundation, context: Context
) -> Services | None:
    """Register the services; return None for an environment with a site."""
    if controller is None:
        return None
    name, options, account = context.environment.name, context.options, context.account
    slurm_controller = SlurmController(
        name,
        controller,
        account=account,
        vpc_id=foundation.vpc_id,
        subnet_ids=foundation.subnet_ids,
        zone_name=foundation.zone_names[controller.machine.zone],
        node_role_arn=foundation.node_role_arn,
        slurm_key_arn=foundation.slurm_key_arn,
        pool_role_arns=list(foundation.pool_role_arns.values()),
        bucket_arns=[foundation.bucket_arns[key] for key in sorted(foundation.bucket_arns)],
        bucket_key_arns=[foundation.bucket_key_arns[key] for key in sorted(foundation.bucket_key_arns)],
        opts=options,
    )
    exports, login_security_group_id = slurm_controller.exports(), slurm_controller.security_group_id
    login_role_arn = None
    if login is not None:
        hosts = Login(
            name, login, account=account, vpc_id=foundation.vpc_id, subnet_ids=foundation.subnet_ids, opts=options
        )
        exports["hosts"] |= hosts.exports()
        login_security_group_id, login_role_arn = hosts.security_group_id, hosts.role_arn
    return Services(
        (slurm_controller.role.name, slurm_controller.role.arn),
        slurm_controller.rights,
        {"login_hosts": login_security_group_id},
        exports,
        login_role_arn,
    )
