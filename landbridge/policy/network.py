"""Policies of security groups, network ACLs, VPN connections, EKS clusters and subnets."""

from collections.abc import Iterator
from typing import Any

from landbridge.plan.aws_limits import is_internet
from landbridge.policy.registry import Level, policy
from landbridge.policy.resource import Resource, as_list, as_map, maps, on
from landbridge.policy.settings import PolicySettings

INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
GROUP, RULE = "aws:ec2/securityGroup:SecurityGroup", "aws:ec2/securityGroupRule:SecurityGroupRule"
DEFAULT, ACL = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "aws:ec2/networkAclRule:NetworkAclRule"
VPN, EKS, SUBNET = "aws:ec2/vpnConnection:VpnConnection", "aws:eks/cluster:Cluster", "aws:ec2/subnet:Subnet"


@policy(INGRESS, GROUP, RULE, DEFAULT, ACL, config=("world_ports",))
def no_world_ingress(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """No security group rule admits the whole internet, in any of the four forms of such a rule.

    Source: AWS Foundational Security Best Practices EC2.18, EC2.19, EC2.21.
    """
    props = resource.props
    if resource.type == INGRESS:
        yield from _open([props.get("cidrIpv4"), props.get("cidrIpv6")], props, settings, "")
    elif resource.type == RULE and props.get("type") == "ingress":
        yield from _open(
            [*as_list(props.get("cidrBlocks")), *as_list(props.get("ipv6CidrBlocks"))], props, settings, ""
        )
    elif resource.type == ACL and not props.get("egress") and props.get("ruleAction") == "allow":
        yield from _open([props.get("cidrBlock"), props.get("ipv6CidrBlock")], props, settings, "")
    elif resource.type in (GROUP, DEFAULT):
        for index, rule in enumerate(maps(props.get("ingress"))):
            ranges = [*as_list(rule.get("cidrBlocks")), *as_list(rule.get("ipv6CidrBlocks"))]
            yield from _open(ranges, rule, settings, f"ingress[{index}]: ")


def _open(ranges: list[Any], rule: Any, settings: PolicySettings, prefix: str) -> Iterator[str]:
    ports = {rule.get("fromPort"), rule.get("toPort")}
    if len(ports) == 1 and ports <= set(settings.world_ports):
        return
    for cidr in ranges:
        if isinstance(cidr, str) and is_internet(cidr):
            yield f"{prefix}open to {cidr}"


@policy(DEFAULT)
def default_group_closed(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A VPC's default security group has no rules: a resource without a group gets it.

    Source: AWS Foundational Security Best Practices EC2.2.
    """
    for key in ("ingress", "egress"):
        if as_list(resource.props.get(key)):
            yield f"{key} has rules"


@policy(VPN, config=("least_dh_group",))
def strong_vpn(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """VPN tunnels use IKEv2, a Diffie-Hellman group of `least_dh_group` or higher, and no SHA-1.

    Source: Site-to-Site VPN User Guide, "Tunnel options"; NIST SP 800-77 rev. 1.
    """
    least = settings.least_dh_group
    for number in (1, 2):
        prefix = f"tunnel{number}"
        versions = as_list(resource.props.get(f"{prefix}IkeVersions"))
        if versions != ["ikev2"]:
            yield f"{prefix}IkeVersions is not [ikev2]"
        for phase in ("Phase1", "Phase2"):
            groups = as_list(resource.props.get(f"{prefix}{phase}DhGroupNumbers"))
            if not groups or any(isinstance(group, int | float) and group < least for group in groups):
                yield f"{prefix}{phase}DhGroupNumbers has a group under {least}"
            hashes = as_list(resource.props.get(f"{prefix}{phase}IntegrityAlgorithms"))
            if not hashes or "SHA1" in hashes:
                yield f"{prefix}{phase}IntegrityAlgorithms has SHA1"


@policy(EKS)
def closed_kubernetes(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """The Kubernetes API is not open to the internet, and its secrets are encrypted with a customer managed key.

    Source: EKS Best Practices Guide, "Identity and access management"; EKS.1 and EKS.3 of the best practices.
    """
    config = as_map(resource.props.get("vpcConfig"))
    ranges = as_list(config.get("publicAccessCidrs"))
    if config.get("endpointPublicAccess") is not False and (
        not ranges or any(is_internet(str(cidr)) for cidr in ranges)
    ):
        yield "vpcConfig.endpointPublicAccess is on for the whole internet"
    if not resource.props.get("encryptionConfig"):
        yield "encryptionConfig is not given: secrets are not encrypted with your key"


@policy(SUBNET, level=Level.ADVISORY)
def private_subnets(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A subnet does not assign public addresses.

    Source: AWS Foundational Security Best Practices EC2.15.
    """
    if on(resource.props.get("mapPublicIpOnLaunch")):
        yield "mapPublicIpOnLaunch is on"
