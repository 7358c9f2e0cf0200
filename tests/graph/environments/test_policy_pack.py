"""CrossGuard pack: its server, started as Pulumi starts it, in the pack's virtual environment, queried over gRPC."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2

from landbridge.policy import POLICIES, Level
from tests.graph.support.policy_pack_server import ask, serving


@pytest.fixture(scope="module")
def analyzer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with serving(tmp_path_factory.getbasetemp()) as client:
        yield client


def test_every_policy_is_in_the_pack_with_its_level(analyzer: Any) -> None:
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty(), timeout=300)
    levels = {policy_info.name: policy_info.enforcementLevel for policy_info in info.policies}
    assert set(levels) == set(POLICIES) and info.name == "landbridge"
    advisory = {name for name, level in levels.items() if level == analyzer_pb2.ADVISORY}
    assert advisory == {name for name, policy in POLICIES.items() if policy.level is Level.ADVISORY}


def test_a_violation_is_reported_and_a_good_resource_is_not(analyzer: Any) -> None:
    rule = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    tags = {"landbridge:cluster": "c", "landbridge:owner": "o", "landbridge:cost-center": "1"}
    violations = ask(analyzer, rule, cidrIpv4="0.0.0.0/0", tags=tags)
    assert list(violations) == ["no-world-ingress"] and "open to 0.0.0.0/0" in violations["no-world-ingress"][0]
    assert ask(analyzer, rule, cidrIpv4="10.0.0.0/8", tags=tags) == {}
    assert "protected-data" in ask(analyzer, "aws:s3/bucket:Bucket", protect=False, tags=tags)


def test_unknown_values_hide_no_violation(analyzer: Any) -> None:
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    violations = ask(
        analyzer,
        "aws:ec2/launchTemplate:LaunchTemplate",
        userData=unknown,
        metadataOptions={"httpTokens": "optional"},
        networkInterfaces=[{"securityGroups": [unknown], "interfaceType": "efa-only"}],
    )
    assert {"imds-v2", "efa-interfaces", "tagged"} <= set(violations)


def test_a_whole_stack_is_checked(analyzer: Any) -> None:
    request = analyzer_pb2.AnalyzeStackRequest()
    properties = struct_pb2.Struct()
    properties.update({"id": "b", "bucket": "b"})
    request.resources.append(
        analyzer_pb2.AnalyzerResource(
            type="aws:s3/bucket:Bucket",
            properties=properties,
            urn="urn:b",
            name="b",
            options=analyzer_pb2.AnalyzerResourceOptions(),
        )
    )
    diagnostics = analyzer.AnalyzeStack(request, timeout=300).diagnostics
    assert [diagnostic.policyName for diagnostic in diagnostics] == ["buckets-are-closed"] * 2
