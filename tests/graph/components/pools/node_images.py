"""Environments with a node image, and inputs of its resources."""

from pathlib import Path
from typing import Any

from landbridge.environment import Environment, load_environment
from landbridge.plan.node_image.node_image import NodeImageArgs, node_image_args
from sandbox.pulumi_provider.graph import Graph
from tests.graph.conftest import SANDBOX

RECIPE, PIPELINE = "aws:imagebuilder/imageRecipe:ImageRecipe", "aws:imagebuilder/imagePipeline:ImagePipeline"
COMPONENT, GROUP = "aws:imagebuilder/component:Component", "aws:ec2/securityGroup:SecurityGroup"
LIFECYCLE, OBJECT = "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy", "aws:s3/bucketObject:BucketObject"
DISTRIBUTION = "aws:imagebuilder/distributionConfiguration:DistributionConfiguration"
INFRASTRUCTURE = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
PARENT = "dlami-base-ubuntu-24.04-x86_64"

OTHER_REGION = (
    "      pools:\n        - name: p5\n",
    "      other_regions: {us-east-2: {cidr: 10.70.0.0/16, pools: {p5: {capacity: [{kind: on_demand, zones: [use2-az1]}]}}}}\n"
    "      pools:\n        - name: p5\n",
)


def built(more: str = "") -> tuple[str, str]:
    return "protect: false", f"protect: false\n      images: {{node: {{build: {{{more}}}}}}}"


def inputs_of(graph: Graph, token: str, name: str = "variant-node") -> dict[str, Any]:
    (node,) = [node for node in graph.of_type(token) if node.name == name]
    return node.inputs


def environment_of(tmp_path: Path, *changes: tuple[str, str]) -> Environment:
    text = SANDBOX.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "Pulumi.variant.yaml"
    file.write_text(text)
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


def planned(tmp_path: Path, more: str = "", locked: dict[str, str] | None = None) -> NodeImageArgs:
    (args,) = node_image_args(environment_of(tmp_path, built(more)), locked or {})
    return args
