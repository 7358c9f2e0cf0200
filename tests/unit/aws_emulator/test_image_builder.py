"""The emulated Image Builder: checks of inputs and of the sequence of calls."""

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
def state() -> EmulatorState:
    return EmulatorState(lifecycle=InstanceLifecycle.__new__(InstanceLifecycle))


def request(
    state: EmulatorState, method: str, path: str, body: Mapping[str, Any] | None = None, **query: str
) -> dict[str, Any]:
    text = json.dumps(body).encode() if body is not None else b""
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": urlencode(query),
        "CONTENT_LENGTH": str(len(text)),
        "wsgi.input": io.BytesIO(text),
    }
    return answer(state, REGION, environ)


def pipeline(state: EmulatorState, **recipe: Any) -> dict[str, str]:
    """Create a complete pipeline; return the ARNs of its parts."""
    arns = {"component": request(state, "PUT", "/CreateComponent", COMPONENT)["componentBuildVersionArn"]}
    body = {"name": "lab-node", "semanticVersion": "1.0.7", "parentImage": "ssm:/aws/x", "clientToken": "t"}
    body |= {"components": [{"componentArn": arns["component"]}], "blockDeviceMappings": [DISK], **recipe}
    arns["imageRecipeArn"] = request(state, "PUT", "/CreateImageRecipe", body)["imageRecipeArn"]
    body = {"name": "lab-node", "instanceProfileName": "p", "clientToken": "t"}
    arns |= request(state, "PUT", "/CreateInfrastructureConfiguration", body)
    distribution = {
        "region": REGION,
        "amiDistributionConfiguration": {"name": "n-{{ imagebuilder:buildDate }}", "amiTags": {"a": "b"}},
    }
    body = {"name": "lab-node", "distributions": [distribution], "clientToken": "t"}
    arns |= request(state, "PUT", "/CreateDistributionConfiguration", body)
    parts = {
        key: arns[key] for key in ("imageRecipeArn", "infrastructureConfigurationArn", "distributionConfigurationArn")
    }
    body = {"name": "lab-node", "clientToken": "t", **parts}
    return arns | request(state, "PUT", "/CreateImagePipeline", body)


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
def test_an_invalid_request_is_refused(state: EmulatorState, path: str, body: dict[str, Any], code: str) -> None:
    with pytest.raises(CloudError) as error:
        request(state, "PUT", path, body)
    assert error.value.code == code


def test_a_part_in_use_is_not_deleted_and_an_existing_one_not_created_again(state: EmulatorState) -> None:
    arns = pipeline(state)
    with pytest.raises(CloudError, match="already exists"):
        request(state, "PUT", "/CreateComponent", COMPONENT)
    deletions = (
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
    for path, key, part, user in deletions:
        with pytest.raises(CloudError) as error:
            request(state, "DELETE", path, **{key: arns[part]})
        assert error.value.code == "ResourceDependencyException" and arns[user] in error.value.message
    request(state, "DELETE", "/DeleteImagePipeline", imagePipelineArn=arns["imagePipelineArn"])
    for path, key, part, _ in reversed(deletions):
        request(state, "DELETE", path, **{key: arns[part]})
    assert state.image_builder == {}
    with pytest.raises(CloudError, match="cannot be found"):
        request(state, "GET", "/GetImagePipeline", imagePipelineArn=arns["imagePipelineArn"])


def test_a_started_pipeline_creates_an_image_with_its_tags(state: EmulatorState) -> None:
    arns = pipeline(state)
    started = request(
        state, "PUT", "/StartImagePipelineExecution", {"imagePipelineArn": arns["imagePipelineArn"], "clientToken": "t"}
    )
    assert started["imageBuildVersionArn"].endswith("image/lab-node/1.0.7/1")
    ((ami, image_description),) = [
        (id_, image) for id_, image in images.known(state, REGION).items() if id_ in state.built
    ]
    assert {tag["Key"] for tag in image_description["Tags"]} == {"a", "CreatedBy"} and image_description[
        "Name"
    ].startswith("n-2")
    assert image_description["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    assert ami not in images.known(state, "eu-central-1")
    state.wipe()
    assert ami not in images.known(state, REGION)


def test_tags_are_added_and_removed(state: EmulatorState) -> None:
    arn = pipeline(state)["imagePipelineArn"]
    request(state, "POST", f"/tags/{arn}", {"tags": {"a": "1", "b": "2"}})
    request(state, "DELETE", f"/tags/{arn}", tagKeys="a")
    assert request(state, "GET", "/GetImagePipeline", imagePipelineArn=arn)["imagePipeline"]["tags"] == {"b": "2"}
