"""Wrong inputs that the SDK accepts: each is refused with its path."""

from typing import Any

import pytest

from sandbox.pulumi_provider.aws import RESOURCE_TYPES, ProviderError
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.enumerations import word_problems
from sandbox.pulumi_provider.recorder import check

VPC, TEMPLATE = "aws:ec2/vpc:Vpc", "aws:ec2/launchTemplate:LaunchTemplate"
RULE, VPN = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "aws:ec2/vpnConnection:VpnConnection"
GROUP, VERSIONING = "aws:ec2/placementGroup:PlacementGroup", "aws:s3/bucketVersioning:BucketVersioning"


def reasons_by_path(token: str, inputs: dict[str, Any]) -> dict[str, str]:
    return {
        sdk_args.spell(path): reason
        for path, reason in [*sdk_args.problems(token, inputs), *word_problems(token, inputs)]
    }


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
    [
        (VPC, {"cidrBlok": "10.0.0.0/16"}, "cidrBlok", "did you mean cidrBlock"),
        (VPC, {"enableDnsSupport": "yes"}, "enableDnsSupport", "expected bool"),
        (VPC, {"tags": {"a": 1}}, "tags.a", "expected str"),
        (VPC, {"tags": ["a"]}, "tags", "expected a map"),
        (TEMPLATE, {"networkInterfaces": "eth0"}, "networkInterfaces", "expected a list"),
        (
            TEMPLATE,
            {"networkInterfaces": [{}, {"deviceIndex": "1"}]},
            "networkInterfaces[1].deviceIndex",
            "expected int",
        ),
        (TEMPLATE, {"networkInterfaces": [{"interfce_type": "efa"}]}, "networkInterfaces[0].interfce_type", "unknown"),
        (TEMPLATE, {"networkInterfaces": [{"interfaceType": "efaa"}]}, "networkInterfaces[0].interfaceType", "efa?"),
        (TEMPLATE, {"instanceType": "p5.48xlrge"}, "instanceType", "did you mean p5.48xlarge"),
        (TEMPLATE, {"metadataOptions": {"httpTokens": "needed"}}, "metadataOptions.httpTokens", "required"),
        (
            TEMPLATE,
            {"instanceMarketOptions": {"marketType": "capacity_block"}},
            "instanceMarketOptions.marketType",
            "capacity-block",
        ),
        (
            TEMPLATE,
            {"metadataOptions": {"httpPutResponseHopLimit": 1.5}},
            "metadataOptions.httpPutResponseHopLimit",
            "int",
        ),
        (RULE, {"ipProtocol": "tcp"}, "securityGroupId", "missing required"),
        (VPN, {"customerGatewayId": "c", "type": "ipsec.2"}, "type", "ipsec.1"),
        (
            VPN,
            {"customerGatewayId": "c", "type": "ipsec.1", "tunnel1IkeVersions": ["ikev3"]},
            "tunnel1IkeVersions[0]",
            "ikev2",
        ),
        (GROUP, {"strategy": "clustered"}, "strategy", "cluster"),
        (
            VERSIONING,
            {"bucket": "b", "versioningConfiguration": {}},
            "versioningConfiguration.status",
            "missing required",
        ),
        ("aws:ec2/nothing:Nothing", {}, "", "unknown resource type"),
    ],
)
def test_wrong_inputs_are_refused_with_their_path(token: str, inputs: dict[str, Any], path: str, reason: str) -> None:
    problems = reasons_by_path(token, inputs)
    assert path in problems, problems
    assert reason in problems[path]


def test_valid_inputs_are_accepted() -> None:
    nic = {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only", "securityGroups": ["sg-1"]}
    assert (
        reasons_by_path(TEMPLATE, {"instanceType": "p5.48xlarge", "networkInterfaces": [nic], "tags": {"a": "b"}}) == {}
    )


def test_every_type_of_the_stand_in_is_one_of_the_sdk_and_replaces_real_properties() -> None:
    for token, kind in RESOURCE_TYPES.items():
        cls = sdk_args.args_class(token)
        assert cls is not None, token
        assert kind.replaces <= set(sdk_args.fields(cls)), (token, kind.replaces - set(sdk_args.fields(cls)))


def test_every_enumeration_in_the_facts_exists() -> None:
    from sandbox.pulumi_provider.aws.facts import facts

    for token in facts().words:
        assert token in RESOURCE_TYPES
        list(word_problems(token, {}))


def test_interfaces_that_ec2_refuses_at_the_launch_are_refused_in_the_launch_template() -> None:
    nic = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "efa-only"}
    block = {"instanceMarketOptions": {"marketType": "capacity-block"}, "placement": {"groupName": "g"}}
    with pytest.raises(ProviderError, match=r"efa-interfaces.*no-group-with-block"):
        check(TEMPLATE, "wrong", {"networkInterfaces": [nic], **block})
