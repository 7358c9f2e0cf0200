"""The CrossGuard pack: its server as Pulumi starts it, asked over gRPC; where pulumi-policy is installed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from landbridge.policy import POLICIES, Level
from tests.graph.conftest import ROOT

# Where the pack has an environment of its own (pulumi-policy pins protobuf), this names its Python.
PYTHON = os.environ.get("LANDBRIDGE_POLICY_PYTHON", sys.executable)
PACK = ROOT / "components" / "policy"


def _installed() -> bool:
    probe = [PYTHON, "-c", "import pulumi_policy, landbridge, pulumi_aws"]
    return subprocess.run(probe, capture_output=True, timeout=60, check=False, cwd=ROOT).returncode == 0


pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def analyzer() -> Iterator[Any]:
    if not _installed():
        pytest.skip("pulumi-policy is not installed here; LANDBRIDGE_POLICY_PYTHON may name a Python that has it")
    command = [PYTHON, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            with grpc.insecure_channel(f"127.0.0.1:{int(server.stdout.readline())}") as channel:
                yield analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            server.kill()


def ask(analyzer: Any, kind: str, protect: bool = True, **props: Any) -> dict[str, list[str]]:
    bag = struct_pb2.Struct()
    bag.update(props)
    options = analyzer_pb2.AnalyzerResourceOptions(protect=protect)
    request = analyzer_pb2.AnalyzeRequest(
        type=kind, properties=bag, urn=f"urn:pulumi:s::p::{kind}::x", name="x", options=options
    )
    found: dict[str, list[str]] = {}
    for one in analyzer.Analyze(request, timeout=30).diagnostics:
        found.setdefault(one.policyName, []).append(one.message)
    return found


def test_every_policy_is_in_the_pack_with_its_level(analyzer: Any) -> None:
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty(), timeout=30)
    levels = {one.name: one.enforcementLevel for one in info.policies}
    assert set(levels) == set(POLICIES) and info.name == "landbridge"
    advisory = {name for name, level in levels.items() if level == analyzer_pb2.ADVISORY}
    assert advisory == {name for name, policy in POLICIES.items() if policy.level is Level.ADVISORY}


def test_a_bad_resource_is_told_and_a_good_one_is_not(analyzer: Any) -> None:
    rule = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    tags = {"landbridge:cluster": "c", "landbridge:owner": "o", "landbridge:cost-center": "1"}
    found = ask(analyzer, rule, cidrIpv4="0.0.0.0/0", tags=tags)
    assert list(found) == ["no-world-ingress"] and "open to 0.0.0.0/0" in found["no-world-ingress"][0]
    assert ask(analyzer, rule, cidrIpv4="10.0.0.0/8", tags=tags) == {}
    assert "protected-data" in ask(analyzer, "aws:s3/bucket:Bucket", protect=False, tags=tags)


def test_what_is_not_known_yet_hides_nothing_else(analyzer: Any) -> None:
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    found = ask(
        analyzer,
        "aws:ec2/launchTemplate:LaunchTemplate",
        userData=unknown,
        metadataOptions={"httpTokens": "optional"},
        networkInterfaces=[{"securityGroups": [unknown], "interfaceType": "efa-only"}],
    )
    assert {"imds-v2", "efa-interfaces", "tagged"} <= set(found)


def test_a_whole_stack_is_judged(analyzer: Any) -> None:
    request = analyzer_pb2.AnalyzeStackRequest()
    bag = struct_pb2.Struct()
    bag.update({"id": "b", "bucket": "b"})
    request.resources.append(
        analyzer_pb2.AnalyzerResource(
            type="aws:s3/bucket:Bucket",
            properties=bag,
            urn="urn:b",
            name="b",
            options=analyzer_pb2.AnalyzerResourceOptions(),
        )
    )
    told = analyzer.AnalyzeStack(request, timeout=30).diagnostics
    assert [one.policyName for one in told] == ["buckets-are-closed"] * 2
