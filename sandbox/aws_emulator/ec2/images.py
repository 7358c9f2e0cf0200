"""Public AMIs and the SSM parameters that name them (moto has only a few), and AMIs that a test defines."""

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
    """The id of a public image: the same in every process, another in every region."""
    return f"ami-{hashlib.sha256(f'{region}{parameter}{version}'.encode()).hexdigest()[:17]}"


@cache
def _public() -> Mapping[str, str]:
    """The region of every public image: an id is of one region alone."""
    rows = [(name, number) for name, row in _data()["images"].items() for number in range(1, len(row["versions"]) + 1)]
    regions = botocore.session.get_session().get_available_regions("ec2")
    return {ami_id(region, name, number): region for region in regions for name, number in rows}


def is_elsewhere(world: EmulatorState, region: str, image: str) -> bool:
    """Tell whether an image exists only in another region."""
    at = world.built[image]["region"] if image in world.built else _public().get(image, region)
    return bool(at != region)


def known(world: EmulatorState, region: str) -> dict[str, dict[str, Any]]:
    """Every image of a region that is not moto's own, in the API's shape."""
    found: dict[str, dict[str, Any]] = {}
    for parameter, row in _data()["images"].items():
        for number, version in enumerate(row["versions"], 1):
            one = ami_id(region, parameter, number)
            found[one] = _shape(one, {**row, **version}, AMAZON)
    for one, row in _data()["own"].items():
        found[one] = _shape(one, row, OWN)
    for one, made in world.built.items():
        if made["region"] == region:
            found[one] = {**_shape(one, {"name": one, "description": "", "root": "/dev/xvda"}, OWN), **made["image"]}
    for one, change in world.images.items():
        base = found.get(one) or _shape(one, {"name": one, "description": "", "root": "/dev/xvda"}, OWN)
        found[one] = {**base, **change}
    return found


def _shape(one: str, row: Mapping[str, Any], owner: str) -> dict[str, Any]:
    words = {key: row.get(key, "") for key in ("date", "driver", "cuda", "efa")}
    made = datetime.strptime(str(row.get("date", "20261101")), "%Y%m%d").replace(tzinfo=UTC)
    disk = {"SnapshotId": f"snap-{one[4:]}", "VolumeSize": row.get("size", 35), "VolumeType": "gp3"}
    image = {
        "ImageId": one,
        "Name": row["name"].format(**words),
        "Description": row["description"].format(**words),
        "OwnerId": owner,
        "Architecture": row.get("architecture", "x86_64"),
        "CreationDate": made,
        "DeprecationTime": (made + _DEPRECATED_AFTER).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
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


def install(world: EmulatorState) -> None:
    """Add the images and parameters to moto's answers."""
    theirs = SimpleSystemManagerBackend.get_parameter
    by_name = SimpleSystemManagerBackend.get_parameters

    def get_parameter(backend: Any, name: str) -> Any:
        return _parameter(world, backend, name) or theirs(backend, name)

    def get_parameters(backend: Any, names: list[str]) -> Any:
        ours = {name: found for name in names if (found := _parameter(world, backend, name))}
        return {**by_name(backend, [name for name in names if name not in ours]), **ours}

    if not hasattr(SimpleSystemManagerBackend, "_landbridge"):
        SimpleSystemManagerBackend.get_parameter = get_parameter  # type: ignore[method-assign]
        SimpleSystemManagerBackend.get_parameters = get_parameters  # type: ignore[method-assign]
        SimpleSystemManagerBackend._landbridge = True  # type: ignore[attr-defined]


def _parameter(world: EmulatorState, backend: Any, name: str) -> Any:
    """A public parameter, at its newest version or, as `name:version`, at an older one; None for others."""
    plain, _, asked = name.partition(":")
    row = _data()["images"].get(plain)
    if row is None:
        return None
    newest = world.released.get(plain, len(row["versions"]))
    version = int(asked) if asked.isdigit() else newest
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


def describe(world: EmulatorState, response: Any, request: Mapping[str, Any]) -> Any:
    """DescribeImages: ours, and moto's where the ids or filters mean those."""
    ours, wanted = known(world, response.region), list(request.get("ImageIds") or [])
    theirs = response.ec2_backend.amis
    for one in wanted:
        if one not in ours and one not in theirs:
            kind = "NotFound" if _well_formed(one) else "Malformed"
            raise CloudError(f"InvalidAMIID.{kind}", f"The image id '[{one}]' does not exist")
    if any(one in theirs for one in wanted) or (not wanted and theirs and not request.get("Filters")):
        return _moto_describe(response)
    chosen = [ours[one] for one in wanted] if wanted else list(ours.values())
    owners = set(request.get("Owners") or [])
    if owners:
        own = {"self": OWN, "amazon": AMAZON}
        chosen = [image for image in chosen if image["OwnerId"] in {own.get(owner, owner) for owner in owners}]
    return {"Images": matching(chosen, request.get("Filters") or [], _FILTERS)}


def deregister(world: EmulatorState, response: Any, request: Mapping[str, Any]) -> Any:
    """DeregisterImage: of those that a pipeline has made here, with their snapshots or without; moto's own otherwise."""
    image_id = request["ImageId"]
    if image_id in world.built:
        del world.built[image_id]
        return {"Return": True}
    return _moto_deregister(response)


_moto_describe, _moto_deregister = EC2Response.describe_images, EC2Response.deregister_image


def _well_formed(one: str) -> bool:
    digits = one.removeprefix("ami-")
    return one != digits and len(digits) in (8, 17) and set(digits) <= set("0123456789abcdef")
