"""Policy settings of an environment, and the configuration of the CrossGuard pack."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.storage.file_system_rules import room_for_rules
from landbridge.plan.network.link import cipher_of, connections
from landbridge.plan.placement.service_control_policy import permitted_regions, planned_types
from landbridge.policy.registry import POLICIES
from landbridge.policy.settings import PolicySettings


def policy_settings(environment: Environment) -> PolicySettings:
    """Return the policy settings of an environment: its regions, instance types, protection, quota and link."""
    groups = [cipher_of(connection.tunnels).dh_group for connection in connections(environment)]
    strict = PolicySettings()
    return PolicySettings(
        regions=permitted_regions(environment),
        instance_types=_instance_types(environment),
        protect=environment.aws.protect,
        group_rules=room_for_rules(environment),
        least_dh_group=min([strict.least_dh_group, *groups]),
    )


def _instance_types(environment: Environment) -> tuple[str, ...]:
    """Return the instance types of pools, of image builds, and of the services in AWS."""
    services = environment.aws.services
    hosts = {services.controller.instance, services.login.instance} if services is not None else set()
    return tuple(sorted({*planned_types(environment), *hosts}))


def pack_config(settings: PolicySettings) -> dict[str, dict[str, Any]]:
    """Return the content of the file for `--policy-pack-config`: the settings that each policy reads."""
    values = settings.model_dump(mode="json")
    return {policy.name: {key: values[key] for key in policy.config} for policy in POLICIES.values() if policy.config}
