"""The emulated Image Builder: checks of inputs and of the order of calls."""

import io
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from sandbox.aws_emulator.ec2 import images
from sandbox.aws_emulator.ec2.image_builder import answer
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances.lifecycle import InstanceLifecycle
from sandbox.aws_emulator.server.errors import CloudError

REGION, ACCOUNT = "us-east-1", "123456789012"
COMPONENT = {"name": "lab-node", "semanticVersion": "1.0.7", "platform": "Linux", "data": "x", "clientToken": "t"}
DISK = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": 30, "volumeType": "gp3", "encrypted": True}}


@pytest.fixture
def world() -> EmulatorState:
    return EmulatorState(lifecycle=InstanceLifecycle.__new__(InstanceLifecycle))


def ask(
    world: EmulatorState, method: str, path: str, body: Mapping[str, Any] | None = None, **query: str
) -> dict[str, Any]:
    text = json.dumps(body).encode() if body is not None else b""
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": urlencode(query),
        "CONTENT_LENGTH": str(len(text)),
        "wsgi.input": io.BytesIO(text),
    }
    return answer(world, REGION, environ)


def pipeline(world: EmulatorState, **recipe: Any) -> dict[str, str]:
    """A whole pipeline; the ARNs of its parts."""
    made = {"component": ask(world, "PUT", "/CreateComponent", COMPONENT)["componentBuildVersionArn"]}
    asked = {"name": "lab-node", "semanticVersion": "1.0.7", "parentImage": "ssm:/aws/x", "clientToken": "t"}
    asked |= {"components": [{"componentArn": made["component"]}], "blockDeviceMappings": [DISK], **recipe}
    made["imageRecipeArn"] = ask(world, "PUT", "/CreateImageRecipe", asked)["imageRecipeArn"]
    asked = {"name": "lab-node", "instanceProfileName": "p", "clientToken": "t"}
    made |= ask(world, "PUT", "/CreateInfrastructureConfiguration", asked)
    where = {
        "region": REGION,
        "amiDistributionConfiguration": {"name": "n-{{ imagebuilder:buildDate }}", "amiTags": {"a": "b"}},
    }
    asked = {"name": "lab-node", "distributions": [where], "clientToken": "t"}
    made |= ask(world, "PUT", "/CreateDistributionConfiguration", asked)
    parts = {
        key: made[key] for key in ("imageRecipeArn", "infrastructureConfigurationArn", "distributionConfigurationArn")
    }
    asked = {"name": "lab-node", "clientToken": "t", **parts}
    return made | ask(world, "PUT", "/CreateImagePipeline", asked)


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/CreateComponent", {**COMPONENT, "semanticVersion": "1.0"}, "InvalidRequestException"),
        ("/CreateComponent", {**COMPONENT, "platform": 7}, "InvalidRequestException"),
        ("/CreateComponent", {key: COMPONENT[key] for key in ("name", "clientToken")}, "InvalidRequestException"),
        ("/CreateComponent", {**COMPONENT, "uri": "s3://b/k"}, "InvalidParameterCombinationException"),
        (
            "/CreateImageRecipe",
            {
                "name": "lab-node",
                "semanticVersion": "1.0.0",
                "parentImage": "ami-0123456789abcdef0",
                "clientToken": "t",
            },
            "InvalidParameterValueException",
        ),
        (
            "/CreateInfrastructureConfiguration",
            {"name": "lab-node", "instanceProfileName": "p", "securityGroupIds": ["sg-1"], "clientToken": "t"},
            "InvalidParameterCombinationException",
        ),
        ("/CreateWorkflow", {}, "InvalidRequestException"),
    ],
)
def test_what_is_wrong_is_refused(world: EmulatorState, path: str, body: dict[str, Any], code: str) -> None:
    with pytest.raises(CloudError) as told:
        ask(world, "PUT", path, body)
    assert told.value.code == code


def test_what_is_used_stays_and_what_is_there_is_not_made_again(world: EmulatorState) -> None:
    made = pipeline(world)
    with pytest.raises(CloudError, match="already exists"):
        ask(world, "PUT", "/CreateComponent", COMPONENT)
    order = (
        ("/DeleteComponent", "componentBuildVersionArn", "component", "imageRecipeArn"),
        ("/DeleteImageRecipe", "imageRecipeArn", "imageRecipeArn", "imagePipelineArn"),
        (
            "/DeleteDistributionConfiguration",
            "distributionConfigurationArn",
            "distributionConfigurationArn",
            "imagePipelineArn",
        ),
        (
            "/DeleteInfrastructureConfiguration",
            "infrastructureConfigurationArn",
            "infrastructureConfigurationArn",
            "imagePipelineArn",
        ),
    )
    for path, key, part, user in order:
        with pytest.raises(CloudError) as told:
            ask(world, "DELETE", path, **{key: made[part]})
        assert told.value.code == "ResourceDependencyException" and made[user] in told.value.message
    ask(world, "DELETE", "/DeleteImagePipeline", imagePipelineArn=made["imagePipelineArn"])
    for path, key, part, _ in reversed(order):
        ask(world, "DELETE", path, **{key: made[part]})
    assert world.image_builder == {}
    with pytest.raises(CloudError, match="cannot be found"):
        ask(world, "GET", "/GetImagePipeline", imagePipelineArn=made["imagePipelineArn"])


def test_a_started_pipeline_makes_an_image_with_its_tags(world: EmulatorState) -> None:
    made = pipeline(world)
    told = ask(
        world, "PUT", "/StartImagePipelineExecution", {"imagePipelineArn": made["imagePipelineArn"], "clientToken": "t"}
    )
    assert told["imageBuildVersionArn"].endswith("image/lab-node/1.0.7/1")
    ((ami, found),) = [(one, image) for one, image in images.known(world, REGION).items() if one in world.built]
    assert {tag["Key"] for tag in found["Tags"]} == {"a", "CreatedBy"} and found["Name"].startswith("n-2")
    assert found["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    assert ami not in images.known(world, "eu-central-1")
    world.wipe()
    assert ami not in images.known(world, REGION)


def test_tags_come_and_go(world: EmulatorState) -> None:
    arn = pipeline(world)["imagePipelineArn"]
    ask(world, "POST", f"/tags/{arn}", {"tags": {"a": "1", "b": "2"}})
    ask(world, "DELETE", f"/tags/{arn}", tagKeys="a")
    assert ask(world, "GET", "/GetImagePipeline", imagePipelineArn=arn)["imagePipeline"]["tags"] == {"b": "2"}
