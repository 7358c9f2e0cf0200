"""EC2 Image Builder (moto has none): pipelines with their components; a started pipeline creates an image at once.

Requests are read by botocore's model of the service. Nothing is built: an execution creates the image entry at once,
with the tags, the disk and the architecture from the pipeline's resources. Source: EC2 Image Builder API Reference; its
user guide, "Delete outdated or unused Image Builder resources" (order of deletion).
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.aws_emulator.ec2 import images
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server import request_validation
from sandbox.aws_emulator.server.errors import CloudError

ACCOUNT = "123456789012"
SERVICE = "imagebuilder"
Bag = dict[str, Any]
#: By resource kind: part of the ARN, and its form (recipes have a version, components a version and a build).
_KINDS = {
    "Component": ("component", "{name}/{version}/1"),
    "ImageRecipe": ("image-recipe", "{name}/{version}"),
    "InfrastructureConfiguration": ("infrastructure-configuration", "{name}"),
    "DistributionConfiguration": ("distribution-configuration", "{name}"),
    "ImagePipeline": ("image-pipeline", "{name}"),
    "LifecyclePolicy": ("lifecycle-policy", "{name}"),
}
#: Members of a request with the ARN of another resource.
_REFERENCES = ("imageRecipeArn", "infrastructureConfigurationArn", "distributionConfigurationArn", "componentArn")


def answer(emulator: EmulatorState, region: str, environ: Mapping[str, Any]) -> Bag:
    """Return the answer of a request. Raise CloudError."""
    name, request = request_validation.rest(SERVICE, environ, "InvalidRequestException")
    match = re.fullmatch(r"(Create|Get|Update|Delete)(\w+)", name)
    with emulator.lock:
        if match is not None and match[2] in _KINDS:
            return _PLAIN[match[1]](emulator, region, match[2], request)
        if name in _OTHERS:
            return _OTHERS[name](emulator, region, request)
    raise CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {SERVICE}:{name}.")


def _key(kind: str) -> str:
    """Return the member of requests and answers with the ARN of a resource kind."""
    return "componentBuildVersionArn" if kind == "Component" else f"{kind[:1].lower()}{kind[1:]}Arn"


def _arn(region: str, kind: str, request: Bag) -> str:
    part, form = _KINDS[kind]
    name = request["name"].lower().replace(" ", "-")
    return f"arn:aws:{SERVICE}:{region}:{ACCOUNT}:{part}/" + form.format(
        name=name, version=request.get("semanticVersion")
    )


def _create(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    arn = _arn(region, kind, request)
    if arn in emulator.image_builder:
        raise CloudError("ResourceAlreadyExistsException", f"The resource with ARN '{arn}' already exists.")
    _check(emulator, region, kind, request)
    emulator.image_builder[arn] = {**request, "kind": kind, "region": region}
    emulator.image_builder[arn].pop("clientToken", None)
    return {_key(kind): arn, "requestId": arn}


def _check(emulator: EmulatorState, region: str, kind: str, request: Bag) -> None:
    """Raise CloudError if a resource in the request does not exist, or if members exclude each other."""
    for reference in _references(request):
        if reference not in emulator.image_builder:
            message = f"The value supplied for parameter is not valid. The resource '{reference}' does not exist."
            raise CloudError("InvalidParameterValueException", message)
    parent = request.get("parentImage", "")
    if kind == "ImageRecipe" and parent.startswith("ami-") and parent not in images.known(emulator, region):
        raise CloudError("InvalidParameterValueException", f"The AMI ID '{parent}' does not exist.")
    if kind == "InfrastructureConfiguration" and request.get("securityGroupIds") and not request.get("subnetId"):
        message = "If you specify security groups, you must also specify a subnet ID."
        raise CloudError("InvalidParameterCombinationException", message)
    if kind == "Component" and not ("data" in request) ^ ("uri" in request):
        raise CloudError("InvalidParameterCombinationException", "Specify either data or uri.")


def _references(request: Any) -> list[str]:
    if isinstance(request, dict):
        inner = [arn for key, value in request.items() if key not in _REFERENCES for arn in _references(value)]
        return [*(request[key] for key in _REFERENCES if key in request), *inner]
    return [arn for item in request for arn in _references(item)] if isinstance(request, list) else []


def _existing(emulator: EmulatorState, kind: str, request: Bag) -> str:
    arn = str(request[_key(kind)])
    if arn not in emulator.image_builder:
        raise CloudError("ResourceNotFoundException", f"The resource with ARN '{arn}' cannot be found.", 404)
    return arn


def _get(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    arn = _existing(emulator, kind, request)
    resource = {key: value for key, value in emulator.image_builder[arn].items() if key not in ("kind", "region")}
    resource |= {"version": resource["semanticVersion"]} if "semanticVersion" in resource else {}
    return {kind[:1].lower() + kind[1:]: {**resource, "arn": arn}}


def _update(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    arn = _existing(emulator, kind, request)
    _check(emulator, region, kind, {**emulator.image_builder[arn], **request})
    retained = {
        key: value for key, value in emulator.image_builder[arn].items() if key in ("name", "tags", "kind", "region")
    }
    emulator.image_builder[arn] = {**retained, **request}
    for key in (_key(kind), "clientToken"):
        emulator.image_builder[arn].pop(key, None)
    return {_key(kind): arn}


def _delete(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    arn = _existing(emulator, kind, request)
    users = [
        other for other, resource in emulator.image_builder.items() if other != arn and arn in _references(resource)
    ]
    if users:
        message = f"Resource dependency exists: {arn} is used by {', '.join(users)}."
        raise CloudError("ResourceDependencyException", message)
    del emulator.image_builder[arn]
    return {_key(kind): arn}


def _start(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer StartImagePipelineExecution: create an image at once."""
    pipeline_arn = _existing(emulator, "ImagePipeline", request)
    pipeline = emulator.image_builder[pipeline_arn]
    recipe = emulator.image_builder[pipeline["imageRecipeArn"]]
    distributions = emulator.image_builder[pipeline["distributionConfigurationArn"]]["distributions"]
    number = 1 + len({image["arn"] for image in emulator.built.values() if image["pipeline"] == pipeline_arn})
    amis = [_create_ami(emulator, region, pipeline_arn, recipe, distribution, number) for distribution in distributions]
    return {"imageBuildVersionArn": emulator.built[amis[0]]["arn"], "requestId": pipeline_arn}


def _create_ami(
    emulator: EmulatorState, region: str, pipeline_arn: str, recipe: Bag, distribution: Bag, number: int
) -> str:
    """Create the AMI of one region of a distribution; return its id."""
    ami_configuration, base = (
        distribution["amiDistributionConfiguration"],
        images.known(emulator, region).get(recipe["parentImage"], {}),
    )
    identity = f"{pipeline_arn}{number}{distribution['region']}"
    ami = f"ami-{hashlib.sha256(identity.encode()).hexdigest()[:17]}"
    (disk,) = recipe["blockDeviceMappings"]
    now = emulator.now()
    emulator.built[ami] = {
        "pipeline": pipeline_arn,
        "region": distribution["region"],
        "arn": f"arn:aws:{SERVICE}:{region}:{ACCOUNT}:image/{recipe['name']}/{recipe['semanticVersion']}/{number}",
        "image": {
            "Name": ami_configuration["name"].replace(
                "{{ imagebuilder:buildDate }}", now.strftime("%Y-%m-%dT%H-%M-%S.%fZ")
            ),
            "Description": ami_configuration.get("description", ""),
            "Architecture": base.get("Architecture", "x86_64"),
            "CreationDate": now,
            "RootDeviceName": disk["deviceName"],
            "BlockDeviceMappings": [
                {
                    "DeviceName": disk["deviceName"],
                    "Ebs": {
                        "SnapshotId": f"snap-{ami[4:]}",
                        "VolumeSize": disk["ebs"]["volumeSize"],
                        "VolumeType": disk["ebs"]["volumeType"],
                        "Encrypted": disk["ebs"]["encrypted"],
                        **({"KmsKeyId": key} if (key := ami_configuration.get("kmsKeyId")) else {}),
                    },
                }
            ],
            "Tags": [
                {"Key": key, "Value": value}
                for key, value in {**ami_configuration.get("amiTags", {}), "CreatedBy": "EC2 Image Builder"}.items()
            ],
        },
    }
    return ami


def _images_of(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer ListImagePipelineImages, the newest first."""
    pipeline_arn = _existing(emulator, "ImagePipeline", request)
    built: dict[str, list[tuple[str, Bag]]] = {}
    for ami, image in emulator.built.items():
        if image["pipeline"] == pipeline_arn:
            built.setdefault(image["arn"], []).append((ami, image))
    return {
        "imageSummaryList": [
            {
                "arn": arn,
                "version": arn.partition("/image/")[2],
                "state": {"status": "AVAILABLE"},
                "dateCreated": amis[0][1]["image"]["CreationDate"].isoformat(),
                "outputResources": {"amis": [{"region": image["region"], "image": ami} for ami, image in amis]},
            }
            for arn, amis in reversed(built.items())
        ]
    }


def _list(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer ListImagePipelines, with a filter by name."""
    filters = {row["name"]: row["values"] for row in request.get("filters", [])}
    pipelines = [
        {**resource, "arn": arn}
        for arn, resource in emulator.image_builder.items()
        if (resource["kind"], resource["region"]) == ("ImagePipeline", region)
        and resource["name"] in filters.get("name", [resource["name"]])
    ]
    keys = ("arn", "name", "imageRecipeArn")
    return {"imagePipelineList": [{key: pipeline[key] for key in keys} for pipeline in pipelines]}


def _tag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    emulator.image_builder[request["resourceArn"]].setdefault("tags", {}).update(request["tags"])
    return {}


def _untag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    for key in request["tagKeys"]:
        emulator.image_builder[request["resourceArn"]].get("tags", {}).pop(key, None)
    return {}


_PLAIN: dict[str, Callable[[EmulatorState, str, str, Bag], Bag]] = {
    "Create": _create,
    "Get": _get,
    "Update": _update,
    "Delete": _delete,
}
_OTHERS: dict[str, Callable[[EmulatorState, str, Bag], Bag]] = {
    "StartImagePipelineExecution": _start,
    "ListImagePipelines": _list,
    "ListImagePipelineImages": _images_of,
    "TagResource": _tag,
    "UntagResource": _untag,
}
