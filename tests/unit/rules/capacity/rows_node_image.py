"""Mistakes with node images that Landbridge builds."""

from datetime import date

from landbridge.environment.file.lock import ImageLock, LockedImage
from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL
from tests.unit.rules.row import Row

IMAGE, TYPE = (*POOL, "image"), (*POOL, "instance")
IMAGES = ("aws", "images")
NODE = (*IMAGES, "node")
BUILD = (*NODE, "build")
DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
AMAZON_LINUX = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
NAT = {("aws", "nat"): "single"}


def built(parent: str | None = None, **build: object) -> dict[tuple[str | int, ...], object]:
    """Return the changes for a pool that boots a built image; `parent` is the parameter of an image named base."""
    start = {"parent": "base"} if parent else {}
    base = {"base": {"parameter": parent}} if parent else {}
    return {IMAGE: "node", IMAGES: {**base, "node": {"build": {**start, **build}}}, **NAT}


def locked(**images: LockedImage) -> ImageLock:
    return ImageLock({name.replace("base", PARENT): image for name, image in images.items()})


def image(parameter: str | None, root_gib: int = 8) -> LockedImage:
    return LockedImage(
        ami="ami-0123456789abcdef0",
        parameter=parameter,
        region="us-east-1",
        architecture="x86_64",
        root_device="/dev/xvda",
        root_gib=root_gib,
        resolved=date(2026, 11, 21),
    )


AMAZON = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
PARENT = "dlami-base-ubuntu-24.04-x86_64"
DEBIAN = "/aws/service/debian/release/13/latest/amd64"

ROWS = [
    Row("image-source", "an image without a source", {IMAGE: "node", IMAGES: {"node": {}}}, NODE, "the image node has neither a parameter"),
    Row("image-source", "an image with two sources", {IMAGE: "node", IMAGES: {"node": {"parameter": DLAMI, "build": {}}}}, NODE, "a parameter and a build"),
    Row("node-image-parent", "a build on an unknown parent image", {**built(), IMAGES: {"node": {"build": {"parent": "bse"}}}}, (*BUILD, "parent"), '"bse"'),
    Row("node-image-parent", "a build on an image that is built itself", {**built(), IMAGES: {"node": {"build": {"parent": "other"}}, "other": {"build": {}}}}, (*BUILD, "parent"), "is itself"),
    Row("node-image-parent", "a build on Amazon Linux", built(AMAZON), (*BUILD, "parent"), "the roles support ubuntu-24.04, debian-13"),
    Row("node-image-slurm", "a build on Ubuntu without packages of this Slurm", built(), (*BUILD, "parent"), "which has no packages of Slurm 26.05"),
    Row("parent-not-locked", "a build on a parent that is not locked", built(), BUILD, "not locked"),
    Row("parent-not-locked", "a disk smaller than its parent's", built(disk_gib=10), (*BUILD, "disk_gib"), "needs 20 GiB", lock=locked(base=image(DLAMI, 20))),
    Row("node-image-driver", "nodes with GPUs from an image without a driver", built(DEBIAN), IMAGE, "a Deep Learning AMI), or with ubuntu-24.04 or debian-12"),
    Row("node-image-instance", "a misspelt builder", built(instance="m7i.xlrge"), (*BUILD, "instance"), "m7i.xlarge"),
    Row("node-image-instance", "an arm64 builder for an x86_64 parent", built(DEBIAN, instance="m7g.xlarge"), (*BUILD, "instance"), "m7g.xlarge is arm64"),
    Row("node-image-instance", "an x86_64 image on Graviton by a build", {**built(), TYPE: "m7g.large", CAPACITY: ON_DEMAND}, IMAGE, "built for x86_64"),
    Row("node-image-zone", "a build in a zone without nodes", built(zone="use1-az2"), (*BUILD, "zone"), "no subnet"),
    Row("node-image-sources", "a build that cannot reach its packages", {**built(), ("aws", "nat"): "none"}, BUILD, "the build of node has no NAT"),
    Row("node-image-sharing", "an image for another account with the default key", built(share_with=["111122223333"]), (*BUILD, "share_with"), "has no key in us-east-1"),
    Row("disk-key-arn", "an alias of a key for an image", built(kms_keys={"us-east-1": "arn:aws:kms:us-east-1:123456789012:alias/ebs"}), (*BUILD, "kms_keys", "us-east-1"), "IAM ignores the alias"),
    Row("disk-key-arn", "the key of disks of a region without nodes", {("aws", "disk_keys"): ["arn:aws:kms:eu-west-1:123456789012:key/a"]}, ("aws", "disk_keys", 0), "no node is in eu-west-1"),
    Row("node-image-sharing", "a key of another region", built(kms_keys={"us-east-1": "arn:aws:kms:us-east-2:123456789012:key/a"}), (*BUILD, "kms_keys", "us-east-1"), "not a key for us-east-1"),
    Row("image-not-locked", "a pool that boots an image before its build", built(), NODE, "has not been built"),
    Row("image-not-locked", "a built image whose lock has a parameter", built(), BUILD, "built here", lock=locked(node=image(DEBIAN))),
]  # fmt: skip
