"""Queries of AMIs: the image in an SSM parameter, and the software versions in an image."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.plan.aws.images import CLUSTER, IMAGE

#: Maximum number of names in one GetParameters call. Source: Systems Manager API reference, GetParameters.
_NAMES_A_CALL = 10
_VERSIONS = {
    "driver": re.compile(r"nvidia[\w .:-]*?driver[^\d,;]{0,20}(\d{3}\.\d+(?:\.\d+)*)", re.IGNORECASE),
    "cuda": re.compile(r"cuda[^\d,;]{0,20}(\d+\.\d+(?:\.\d+)*)", re.IGNORECASE),
    "efa": re.compile(r"\befa\b[^\d,;]{0,20}(\d+\.\d+\.\d+)", re.IGNORECASE),
}
#: Tags that image builders use for the same facts; the first tag that exists is used.
_TAGS = {
    "driver": ("landbridge:driver", "nvidia_driver_version", "parallelcluster:nvidia_driver"),
    "cuda": ("landbridge:cuda", "cuda_version"),
    "efa": ("landbridge:efa", "efa_version", "parallelcluster:efa"),
}


@dataclass(frozen=True, slots=True)
class NamedImage:
    """Image id in an SSM parameter, and the version of the parameter."""

    ami: str
    version: int | None


@dataclass(frozen=True, slots=True)
class DescribedImage:
    """Image from EC2. `root_gib` is the size of its root snapshot, the minimum size of a root volume."""

    ami: str
    name: str
    architecture: str
    state: str
    root_device: str
    root_gib: int | None
    created: date | None
    deprecated: date | None
    ena: bool
    windows: bool
    driver: str | None
    cuda: str | None
    efa: str | None
    tags: Mapping[str, str]


def parameters(aws: AwsClient, names: Iterable[str]) -> tuple[dict[str, NamedImage], tuple[str, ...]]:
    """Return the image of each parameter, and the parameters that do not exist or contain no image id. Raises
    AwsRefusal.
    """
    unique_names = list(dict.fromkeys(names))
    images: dict[str, NamedImage] = {}
    for start in range(0, len(unique_names), _NAMES_A_CALL):
        response = aws.ask("ssm", "get_parameters", Names=unique_names[start : start + _NAMES_A_CALL])
        for parameter in response["Parameters"]:
            ami = _ami(str(parameter["Value"]))
            if ami is not None:
                images[parameter["Name"]] = NamedImage(ami, parameter.get("Version"))
    return images, tuple(name for name in unique_names if name not in images)


def image(aws: AwsClient, ami: str) -> DescribedImage | None:
    """Return an image; None if this account cannot use an image of this id. Raises AwsRefusal."""
    try:
        response = aws.ask("ec2", "describe_images", ImageIds=[ami])
    except AwsRefusal as refused:
        if refused.code.startswith("InvalidAMIID"):
            return None
        raise
    return _image(response["Images"][0]) if response["Images"] else None


def newest(aws: AwsClient, cluster: str, name: str) -> DescribedImage | None:
    """Return the newest image that the cluster's pipeline has built under a name; None before the first build.

    Raises AwsRefusal.
    """
    tags = {CLUSTER: cluster, IMAGE: name}
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]
    filters.append({"Name": "state", "Values": ["available"]})
    images = aws.ask("ec2", "describe_images", Owners=["self"], Filters=filters)["Images"]
    return _image(max(images, key=lambda raw: (str(raw.get("CreationDate")), raw["ImageId"]))) if images else None


def versions(texts: Iterable[str], tags: Mapping[str, str]) -> dict[str, str]:
    """Return the driver, CUDA and EFA versions that tags or texts contain; no version is guessed.

    Source: the image's own name, description and tags. `Driver 580.105.08`, `CUDA 13.0`, `EFA 1.45.0`.
    """
    versions: dict[str, str] = {}
    for key, pattern in _VERSIONS.items():
        tagged = next((tags[name] for name in _TAGS[key] if tags.get(name)), None)
        in_text = next((match[1] for text in texts if (match := pattern.search(text))), None)
        if tagged or in_text:
            versions[key] = str(tagged or in_text)
    return versions


def _image(raw: Mapping[str, Any]) -> DescribedImage:
    tags = {tag["Key"]: tag.get("Value", "") for tag in raw.get("Tags") or ()}
    root = str(raw.get("RootDeviceName", ""))
    disks = [m.get("Ebs", {}) for m in raw.get("BlockDeviceMappings") or () if m.get("DeviceName") == root]
    inside = versions((str(raw.get("Description", "")), str(raw.get("Name", ""))), tags)
    return DescribedImage(
        ami=raw["ImageId"],
        name=str(raw.get("Name", "")),
        architecture=str(raw.get("Architecture", "")),
        state=str(raw.get("State", "")),
        root_device=root,
        root_gib=next((disk["VolumeSize"] for disk in disks if "VolumeSize" in disk), None),
        created=_date(raw.get("CreationDate")),
        deprecated=_date(raw.get("DeprecationTime")),
        ena=bool(raw.get("EnaSupport", False)),
        windows=str(raw.get("Platform", "")).lower() == "windows",
        driver=inside.get("driver"),
        cuda=inside.get("cuda"),
        efa=inside.get("efa"),
        tags=tags,
    )


def _ami(value: str) -> str | None:
    """Return the image id in a parameter's value: the id itself, or JSON that contains it (ECS's `recommended`)."""
    if value.startswith("{"):
        try:
            value = str(json.loads(value).get("image_id", ""))
        except ValueError:
            return None
    return value if re.fullmatch(r"ami-[0-9a-f]{8,17}", value) else None


def _date(text: object) -> date | None:
    return datetime.fromisoformat(str(text).replace("Z", "+00:00")).date() if text else None
