"""Mistakes with images that are built here."""

from datetime import date

from landbridge.environment.file.lock import ImageLock, LockedImage
from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL
from tests.unit.rules.row import Row

IMAGE, TYPE = (*POOL, "image"), (*POOL, "instance")
IMAGES = ("aws", "images")
NODE = (*IMAGES, "node")
BUILD = (*NODE, "build")
DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
NAT = {("aws", "nat"): "single"}


def built(parent: str | None = None, **build: object) -> dict[tuple[str | int, ...], object]:
    """The pool boots an image that is built so; `parent` is the parameter of one named base."""
    start = {"parent": "base"} if parent else {}
    base = {"base": {"parameter": parent}} if parent else {}
    return {IMAGE: "node", IMAGES: {**base, "node": {"build": {**start, **build}}}, **NAT}


def locked(**images: LockedImage) -> ImageLock:
    return ImageLock({name.replace("debian", "debian-13-x86_64"): image for name, image in images.items()})


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


DEBIAN = "/aws/service/debian/release/13/latest/amd64"

ROWS = [
    Row("image-source", "an image from nowhere", {IMAGE: "node", IMAGES: {"node": {}}}, NODE, "the image node has neither a parameter"),
    Row("image-source", "an image from two places", {IMAGE: "node", IMAGES: {"node": {"parameter": DLAMI, "build": {}}}}, NODE, "a parameter and a build"),
    Row("node-image-parent", "a build on an image that nobody named", {**built(), IMAGES: {"node": {"build": {"parent": "bse"}}}}, (*BUILD, "parent"), '"bse"'),
    Row("node-image-parent", "a build on what is built here", {**built(), IMAGES: {"node": {"build": {"parent": "other"}}, "other": {"build": {}}}}, (*BUILD, "parent"), "is itself"),
    Row("node-image-parent", "a build on Ubuntu", built(DLAMI), (*BUILD, "parent"), "the roles support debian-13"),
    Row("parent-not-locked", "a build on whatever Debian is that day", built(), BUILD, "not locked"),
    Row("parent-not-locked", "a disk smaller than its parent's", built(disk_gib=10), (*BUILD, "disk_gib"), "needs 20 GiB", lock=locked(debian=image(DEBIAN, 20))),
    Row("node-image-driver", "nodes with GPUs from an image without a driver", built(), IMAGE, "no driver"),
    Row("node-image-instance", "a misspelt builder", built(instance="m7i.xlrge"), (*BUILD, "instance"), "m7i.xlarge"),
    Row("node-image-instance", "an arm64 builder for an x86_64 parent", built(DEBIAN, instance="m7g.xlarge"), (*BUILD, "instance"), "m7g.xlarge is arm64"),
    Row("node-image-instance", "an x86_64 image on Graviton by a build", {**built(), TYPE: "m7g.large", CAPACITY: ON_DEMAND}, IMAGE, "built for x86_64"),
    Row("node-image-zone", "a build in a zone without nodes", built(zone="use1-az2"), (*BUILD, "zone"), "no subnet"),
    Row("node-image-sources", "a build without a way to its packages", {**built(), ("aws", "nat"): "none"}, BUILD, "the build of node has no NAT"),
    Row("image-not-locked", "a pool that boots what has not been built", built(), NODE, "has not been built"),
    Row("image-not-locked", "an image that used to be a parameter's", built(), BUILD, "built here", lock=locked(node=image(DEBIAN))),
]  # fmt: skip
