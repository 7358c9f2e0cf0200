"""EC2 Image Builder (moto has none): the parts of a pipeline, and images that a started pipeline makes at once.

Requests are read by botocore's own model of the service. Nothing is built: an image is there as soon as it is asked for, with the
tags, the disk and the architecture that its pipeline's parts say.
Source: EC2 Image Builder API Reference; its user guide, "Delete outdated or unused Image Builder resources" (what is deleted before what).
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.aws_emulator.ec2 import images
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server import request_validation as judged
from sandbox.aws_emulator.server.errors import CloudError

ACCOUNT = "123456789012"
SERVICE = "imagebuilder"
Bag = dict[str, Any]
#: Kinds: part of the ARN, and whether a version belongs to it (and for components a build).
_KINDS = {
    "Component": ("component", "{name}/{version}/1"),
    "ImageRecipe": ("image-recipe", "{name}/{version}"),
    "InfrastructureConfiguration": ("infrastructure-configuration", "{name}"),
    "DistributionConfiguration": ("distribution-configuration", "{name}"),
    "ImagePipeline": ("image-pipeline", "{name}"),
    "LifecyclePolicy": ("lifecycle-policy", "{name}"),
}
#: Members of a request that name another resource.
_REFERENCES = ("imageRecipeArn", "infrastructureConfigurationArn", "distributionConfigurationArn", "componentArn")


def answer(world: EmulatorState, region: str, environ: Mapping[str, Any]) -> Bag:
    """Answer one request. Raises CloudError."""
    name, request = judged.rest(SERVICE, environ, "InvalidRequestException")
    match = re.fullmatch(r"(Create|Get|Update|Delete)(\w+)", name)
    with world.lock:
        if match is not None and match[2] in _KINDS:
            return _PLAIN[match[1]](world, region, match[2], request)
        if name in _OTHERS:
            return _OTHERS[name](world, region, request)
    raise CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {SERVICE}:{name}.")


def _key(kind: str) -> str:
    """By which name a kind's ARN is asked for."""
    return "componentBuildVersionArn" if kind == "Component" else f"{kind[:1].lower()}{kind[1:]}Arn"


def _arn(region: str, kind: str, request: Bag) -> str:
    part, rest = _KINDS[kind]
    name = request["name"].lower().replace(" ", "-")
    return f"arn:aws:{SERVICE}:{region}:{ACCOUNT}:{part}/" + rest.format(
        name=name, version=request.get("semanticVersion")
    )


def _create(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    own = _arn(region, kind, request)
    if own in world.image_builder:
        raise CloudError("ResourceAlreadyExistsException", f"The resource with ARN '{own}' already exists.")
    _check(world, region, kind, request)
    world.image_builder[own] = {**request, "kind": kind, "region": region}
    world.image_builder[own].pop("clientToken", None)
    return {_key(kind): own, "requestId": own}


def _check(world: EmulatorState, region: str, kind: str, request: Bag) -> None:
    """Raise if a resource that the request names does not exist."""
    for reference in _named(request):
        if reference not in world.image_builder:
            message = f"The value supplied for parameter is not valid. The resource '{reference}' does not exist."
            raise CloudError("InvalidParameterValueException", message)
    parent = request.get("parentImage", "")
    if kind == "ImageRecipe" and parent.startswith("ami-") and parent not in images.known(world, region):
        raise CloudError("InvalidParameterValueException", f"The AMI ID '{parent}' does not exist.")
    if kind == "InfrastructureConfiguration" and request.get("securityGroupIds") and not request.get("subnetId"):
        message = "If you specify security groups, you must also specify a subnet ID."
        raise CloudError("InvalidParameterCombinationException", message)
    if kind == "Component" and not ("data" in request) ^ ("uri" in request):
        raise CloudError("InvalidParameterCombinationException", "Specify either data or uri.")


def _named(request: Any) -> list[str]:
    if isinstance(request, dict):
        inner = [one for key, value in request.items() if key not in _REFERENCES for one in _named(value)]
        return [*(request[key] for key in _REFERENCES if key in request), *inner]
    return [one for item in request for one in _named(item)] if isinstance(request, list) else []


def _there(world: EmulatorState, kind: str, request: Bag) -> str:
    own = str(request[_key(kind)])
    if own not in world.image_builder:
        raise CloudError("ResourceNotFoundException", f"The resource with ARN '{own}' cannot be found.", 404)
    return own


def _get(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    own = _there(world, kind, request)
    found = {key: value for key, value in world.image_builder[own].items() if key not in ("kind", "region")}
    found |= {"version": found["semanticVersion"]} if "semanticVersion" in found else {}
    return {kind[:1].lower() + kind[1:]: {**found, "arn": own}}


def _update(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    own = _there(world, kind, request)
    _check(world, region, kind, {**world.image_builder[own], **request})
    kept = {key: value for key, value in world.image_builder[own].items() if key in ("name", "tags", "kind", "region")}
    world.image_builder[own] = {**kept, **request}
    for key in (_key(kind), "clientToken"):
        world.image_builder[own].pop(key, None)
    return {_key(kind): own}


def _delete(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    own = _there(world, kind, request)
    users = [other for other, thing in world.image_builder.items() if other != own and own in _named(thing)]
    if users:
        message = f"Resource dependency exists: {own} is used by {', '.join(users)}."
        raise CloudError("ResourceDependencyException", message)
    del world.image_builder[own]
    return {_key(kind): own}


def _start(world: EmulatorState, region: str, request: Bag) -> Bag:
    """StartImagePipelineExecution: an image, at once."""
    own = _there(world, "ImagePipeline", request)
    pipeline = world.image_builder[own]
    recipe = world.image_builder[pipeline["imageRecipeArn"]]
    (where,) = world.image_builder[pipeline["distributionConfigurationArn"]]["distributions"]
    wanted, base = where["amiDistributionConfiguration"], images.known(world, region).get(recipe["parentImage"], {})
    number = 1 + sum(one["pipeline"] == own for one in world.built.values())
    ami = f"ami-{hashlib.sha256(f'{own}{number}'.encode()).hexdigest()[:17]}"
    (disk,) = recipe["blockDeviceMappings"]
    now = world.now()
    world.built[ami] = {
        "pipeline": own,
        "region": where["region"],
        "arn": f"arn:aws:{SERVICE}:{region}:{ACCOUNT}:image/{recipe['name']}/{recipe['semanticVersion']}/{number}",
        "image": {
            "Name": wanted["name"].replace("{{ imagebuilder:buildDate }}", now.strftime("%Y-%m-%dT%H-%M-%S.%fZ")),
            "Description": wanted.get("description", ""),
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
                    },
                }
            ],
            "Tags": [
                {"Key": key, "Value": value}
                for key, value in {**wanted.get("amiTags", {}), "CreatedBy": "EC2 Image Builder"}.items()
            ],
        },
    }
    return {"imageBuildVersionArn": world.built[ami]["arn"], "requestId": own}


def _images_of(world: EmulatorState, region: str, request: Bag) -> Bag:
    """ListImagePipelineImages, the newest first."""
    own = _there(world, "ImagePipeline", request)
    found = [(ami, one) for ami, one in world.built.items() if one["pipeline"] == own]
    return {
        "imageSummaryList": [
            {
                "arn": one["arn"],
                "version": one["arn"].partition("/image/")[2],
                "state": {"status": "AVAILABLE"},
                "dateCreated": one["image"]["CreationDate"].isoformat(),
                "outputResources": {"amis": [{"region": one["region"], "image": ami}]},
            }
            for ami, one in reversed(found)
        ]
    }


def _list(world: EmulatorState, region: str, request: Bag) -> Bag:
    """ListImagePipelines, by name."""
    wanted = {one["name"]: one["values"] for one in request.get("filters", [])}
    found = [
        (arn, one)
        for arn, one in world.image_builder.items()
        if (one["kind"], one["region"]) == ("ImagePipeline", region)
    ]
    named = [{**one, "arn": arn} for arn, one in found if one["name"] in wanted.get("name", [one["name"]])]
    return {"imagePipelineList": [{key: one[key] for key in ("arn", "name", "imageRecipeArn")} for one in named]}


def _tag(world: EmulatorState, region: str, request: Bag) -> Bag:
    world.image_builder[request["resourceArn"]].setdefault("tags", {}).update(request["tags"])
    return {}


def _untag(world: EmulatorState, region: str, request: Bag) -> Bag:
    for key in request["tagKeys"]:
        world.image_builder[request["resourceArn"]].get("tags", {}).pop(key, None)
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
