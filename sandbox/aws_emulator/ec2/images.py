"""Public AMIs and their SSM parameters (moto has only a few), and AMIs that a test defines."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import botocore.session
import yaml
from moto.ec2.responses import EC2Response
from moto.ssm.models import Parameter, SimpleSystemManagerBackend

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.filters import matching

AMAZON = "137112412989"
OWN = "123456789012"
_DEPRECATED_AFTER = timedelta(days=730)
_FILTERS = {
    "architecture": "Architecture",
    "image-id": "ImageId",
    "name": "Name",
    "owner-id": "OwnerId",
    "owner-alias": "ImageOwnerAlias",
    "root-device-type": "RootDeviceType",
    "state": "State",
    "virtualization-type": "VirtualizationType",
}


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = yaml.safe_load(
        files("sandbox.aws_emulator.ec2").joinpath("images.yaml").read_text(encoding="utf-8")
    )
    return data


def ami_id(region: str, parameter: str, version: int) -> str:
    """Return the id of a public image: equal in every process, different in every region."""
    return f"ami-{hashlib.sha256(f'{region}{parameter}{version}'.encode()).hexdigest()[:17]}"


@cache
def _public() -> Mapping[str, str]:
    """Return the region of every public image by its id (cached)."""
    rows = [(name, number) for name, row in _data()["images"].items() for number in range(1, len(row["versions"]) + 1)]
    regions = botocore.session.get_session().get_available_regions("ec2")
    return {ami_id(region, name, number): region for region in regions for name, number in rows}


def is_elsewhere(emulator: EmulatorState, region: str, image: str) -> bool:
    """Return whether an image exists only in another region."""
    image_region = emulator.built[image]["region"] if image in emulator.built else _public().get(image, region)
    return bool(image_region != region)


def known(emulator: EmulatorState, region: str) -> dict[str, dict[str, Any]]:
    """Return every image of a region that moto does not have, by id, in the API's shape."""
    known: dict[str, dict[str, Any]] = {}
    for parameter, row in _data()["images"].items():
        for number, version in enumerate(row["versions"], 1):
            id_ = ami_id(region, parameter, number)
            known[id_] = _shape(id_, {**row, **version}, AMAZON)
    for id_, row in _data()["own"].items():
        known[id_] = _shape(id_, row, OWN)
    for id_, built in emulator.built.items():
        if built["region"] == region:
            known[id_] = {**_shape(id_, {"name": id_, "description": "", "root": "/dev/xvda"}, OWN), **built["image"]}
    for id_, change in emulator.images.items():
        base = known.get(id_) or _shape(id_, {"name": id_, "description": "", "root": "/dev/xvda"}, OWN)
        known[id_] = {**base, **change}
    return known


def _shape(id_: str, row: Mapping[str, Any], owner: str) -> dict[str, Any]:
    words = {key: row.get(key, "") for key in ("date", "driver", "cuda", "efa")}
    created = datetime.strptime(str(row.get("date", "20261101")), "%Y%m%d").replace(tzinfo=UTC)
    disk = {"SnapshotId": f"snap-{id_[4:]}", "VolumeSize": row.get("size", 35), "VolumeType": "gp3"}
    image = {
        "ImageId": id_,
        "Name": row["name"].format(**words),
        "Description": row["description"].format(**words),
        "OwnerId": owner,
        "Architecture": row.get("architecture", "x86_64"),
        "CreationDate": created,
        "DeprecationTime": (created + _DEPRECATED_AFTER).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "State": "available",
        "ImageType": "machine",
        "Public": owner == AMAZON,
        "RootDeviceName": row["root"],
        "RootDeviceType": "ebs",
        "BlockDeviceMappings": [{"DeviceName": row["root"], "Ebs": {**disk, "Encrypted": False}}],
        "EnaSupport": True,
        "Hypervisor": "xen",
        "VirtualizationType": "hvm",
        "BootMode": "uefi-preferred",
        "PlatformDetails": "Linux/UNIX",
        "Tags": [],
    }
    return {**image, "ImageOwnerAlias": "amazon"} if owner == AMAZON else image


def install(emulator: EmulatorState) -> None:
    """Add the images and parameters to moto's answers."""
    moto_get_parameter = SimpleSystemManagerBackend.get_parameter
    moto_get_parameters = SimpleSystemManagerBackend.get_parameters

    def get_parameter(backend: Any, name: str) -> Any:
        return _parameter(emulator, backend, name) or moto_get_parameter(backend, name)

    def get_parameters(backend: Any, names: list[str]) -> Any:
        public = {name: parameter for name in names if (parameter := _parameter(emulator, backend, name))}
        return {**moto_get_parameters(backend, [name for name in names if name not in public]), **public}

    if not hasattr(SimpleSystemManagerBackend, "_landbridge"):
        SimpleSystemManagerBackend.get_parameter = get_parameter
        SimpleSystemManagerBackend.get_parameters = get_parameters
        SimpleSystemManagerBackend._landbridge = True


def _parameter(emulator: EmulatorState, backend: Any, name: str) -> Any:
    """Return a public parameter in its newest version or, for `name:version`, in that version; None for others."""
    plain, _, requested = name.partition(":")
    row = _data()["images"].get(plain)
    if row is None:
        return None
    newest = emulator.released.get(plain, len(row["versions"]))
    version = int(requested) if requested.isdigit() else newest
    if not 1 <= version <= newest:
        return None
    date = datetime.strptime(str(row["versions"][version - 1]["date"]), "%Y%m%d").replace(tzinfo=UTC)
    return Parameter(
        account_id=backend.account_id,
        name=plain,
        value=ami_id(backend.region_name, plain, version),
        parameter_type="String",
        description=None,
        allowed_pattern=None,
        keyid=None,
        last_modified_date=date,
        version=version,
        data_type="aws:ec2:image",
    )


def describe(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> Any:
    """Answer DescribeImages with the images here, or with moto's if the ids or filters select those."""
    images, ids = known(emulator, response.region), list(request.get("ImageIds") or [])
    moto_images = response.ec2_backend.amis
    for id_ in ids:
        if id_ not in images and id_ not in moto_images:
            kind = "NotFound" if _well_formed(id_) else "Malformed"
            raise CloudError(f"InvalidAMIID.{kind}", f"The image id '[{id_}]' does not exist")
    if any(id_ in moto_images for id_ in ids) or (not ids and moto_images and not request.get("Filters")):
        return _moto_describe(response)
    chosen = [images[id_] for id_ in ids] if ids else list(images.values())
    owners = set(request.get("Owners") or [])
    if owners:
        owner_ids = {"self": OWN, "amazon": AMAZON}
        chosen = [image for image in chosen if image["OwnerId"] in {owner_ids.get(owner, owner) for owner in owners}]
    return {"Images": matching(chosen, request.get("Filters") or [], _FILTERS)}


def deregister(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> Any:
    """Answer DeregisterImage: delete an image of a pipeline, with or without its snapshots; else moto's image."""
    image_id = request["ImageId"]
    if image_id in emulator.built:
        del emulator.built[image_id]
        return {"Return": True}
    return _moto_deregister(response)


_moto_describe, _moto_deregister = EC2Response.describe_images, EC2Response.deregister_image


def _well_formed(image_id: str) -> bool:
    digits = image_id.removeprefix("ami-")
    return image_id != digits and len(digits) in (8, 17) and set(digits) <= set("0123456789abcdef")
