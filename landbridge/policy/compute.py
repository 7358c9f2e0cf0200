"""Policies of EC2 instances, launch templates and Lambda functions."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from landbridge.catalog import instances
from landbridge.clear_text import secrets_in
from landbridge.plan.aws_limits import capacity_block_violations, imds_hop_limit_violations
from landbridge.plan.instances.network_interfaces import PlannedInterface, interface_violations
from landbridge.policy.registry import Level, policy
from landbridge.policy.resource import Resource, as_map, maps, on
from landbridge.policy.settings import PolicySettings

TEMPLATE, INSTANCE = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/instance:Instance"
FUNCTION = "aws:lambda/function:Function"


@policy(TEMPLATE, INSTANCE, config=("hop_limit",))
def imds_v2(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """The instance metadata service requires a session token (IMDSv2); its hop limit reaches the host or its pods only.

    With version 1, a program that fetches a URL of an attacker discloses the instance's credentials.
    Source: EC2 User Guide, "Use the Instance Metadata Service"; AWS Foundational Security Best Practices EC2.8.
    """
    options = as_map(resource.props.get("metadataOptions"))
    if options.get("httpTokens") != "required" and options.get("httpEndpoint") != "disabled":
        yield "metadataOptions.httpTokens is not required"
    hops = options.get("httpPutResponseHopLimit")
    if isinstance(hops, int | float):
        for fault in imds_hop_limit_violations(hops, settings.hop_limit):
            yield f"metadataOptions.httpPutResponseHopLimit: {fault.message}"


@policy(TEMPLATE, INSTANCE)
def encrypted_disks(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Every disk of an instance is encrypted.

    Source: EBS User Guide, "EBS encryption"; AWS Foundational Security Best Practices EC2.3.
    """
    if resource.type == TEMPLATE:
        for index, mapping in enumerate(maps(resource.props.get("blockDeviceMappings"))):
            disk = as_map(mapping.get("ebs"))
            if disk and not on(disk.get("encrypted")):
                yield f"blockDeviceMappings[{index}].ebs.encrypted is not on"
        return
    for key in ("rootBlockDevice", "ebsBlockDevices"):
        for disk in maps(resource.props.get(key)):
            if not on(disk.get("encrypted")):
                yield f"{key}.encrypted is not on"
    if "rootBlockDevice" not in resource.props:
        yield "rootBlockDevice.encrypted is not on"


@policy(TEMPLATE)
def no_group_with_block(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A launch into a Capacity Block has no placement group: EC2 refuses the combination.

    Source: EC2 User Guide, "Capacity Blocks for ML", considerations; aws-parallelcluster,
    PlacementGroupCapacityTypeValidator.
    """
    market = as_map(resource.props.get("instanceMarketOptions")).get("marketType")
    if market == "capacity-block":
        group = as_map(resource.props.get("placement")).get("groupName")
        for fault in capacity_block_violations(str(group) if group else None, None):
            yield f"placement.groupName: {fault.message}"


@policy(TEMPLATE, INSTANCE, FUNCTION)
def no_secret_in_user_data(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """User data and a function's variables contain no secret: every caller who may describe them can read them.

    Source: EC2 User Guide, "Run commands when you launch an EC2 instance": not for sensitive data.
    """
    for key in ("userData", "userDataBase64"):
        for secret in secrets_in(_text(resource.props.get(key))):
            yield f"{key} holds {secret}"
    variables = as_map(as_map(resource.props.get("environment")).get("variables"))
    text = "\n".join(f"{name}={value}" for name, value in variables.items() if isinstance(value, str))
    for secret in secrets_in(text):
        yield f"environment.variables hold {secret}"


@policy(TEMPLATE)
def efa_interfaces(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A launch template has an IP interface at card 0, device 0, no two at one position, and at most one EFA per card.

    If the template has an instance type, the positions and EFA are checked against the type's network cards too.
    Source: EC2 User Guide, "Elastic Fabric Adapter": an efa-only interface has no address, and is never the primary
    one.
    """
    interfaces = list(maps(resource.props.get("networkInterfaces")))
    nics = [_nic(interface) for interface in interfaces]
    if not nics or None in nics:
        return
    kind = resource.props.get("instanceType")
    for fault in interface_violations(
        instances().get(kind) if isinstance(kind, str) else None, [nic for nic in nics if nic]
    ):
        path = "networkInterfaces" if fault.index is None else f"networkInterfaces[{fault.index}]"
        yield f"{path}: {fault.message}"


@policy(TEMPLATE)
def no_public_address(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A launch template with several interfaces has no public address: EC2 refuses the launch.

    Source: EC2 User Guide, "Elastic Fabric Adapter"; aws-parallelcluster, MultiNetworkInterfacesInstancesValidator.
    """
    nics = list(maps(resource.props.get("networkInterfaces")))
    if len(nics) > 1 and any(on(nic.get("associatePublicIpAddress")) for nic in nics):
        yield "networkInterfaces.associatePublicIpAddress with more than one interface"


@policy(TEMPLATE, INSTANCE, config=("instance_types",))
def allowed_types(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Only instance types that the organisation permits are started.

    Source: Landbridge: costs are decided before a launch.
    """
    kind = resource.props.get("instanceType")
    if settings.instance_types and isinstance(kind, str) and kind not in settings.instance_types:
        yield f"instanceType {kind} is not among {', '.join(settings.instance_types)}"


@policy(TEMPLATE, level=Level.ADVISORY, config=("required_tags",))
def tags_at_launch(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Instances and volumes of a launch template have the required tags: a volume can remain after its instance.

    Source: EC2 User Guide, "Launch template": instances and volumes do not get the tags of the template.
    """
    for kind in ("instance", "volume"):
        specs = maps(resource.props.get("tagSpecifications"))
        own_tags = next((as_map(spec.get("tags")) for spec in specs if spec.get("resourceType") == kind), {})
        missing = [tag for tag in settings.required_tags if tag not in own_tags]
        if missing:
            yield f"tagSpecifications: {kind} lacks {', '.join(missing)}"


def _nic(interface: Mapping[str, Any]) -> PlannedInterface | None:
    """Return a planned interface; None if a property is not known yet or not valid."""
    card, device = interface.get("networkCardIndex", 0), interface.get("deviceIndex", 0)
    kind: Any = interface.get("interfaceType", "interface")
    if not isinstance(card, int | float) or not isinstance(device, int | float):
        return None
    return (
        PlannedInterface(int(card), int(device), kind, kind != "efa-only")
        if kind in ("interface", "efa", "efa-only")
        else None
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    try:
        return base64.b64decode(value, validate=True).decode(errors="replace")
    except (ValueError, binascii.Error):
        return value
