"""Mistakes with images."""

from tests.unit.core.samples import REMOVED
from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL
from tests.unit.rules.row import Row

IMAGE, TYPE, DEVICE = (*POOL, "image"), (*POOL, "instance"), (*POOL, "root_device")
IMAGES = ("aws", "images")
PARAMETER = (*IMAGES, "base", "parameter")
DLAMI = "/aws/service/deeplearning/ami/{}/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
OSS = DLAMI.format("x86_64")
EKS = "/aws/service/eks/optimized-ami/{}/amazon-linux-2023/x86_64/nvidia/recommended/image_id"


def named(parameter: str) -> dict[tuple[str | int, ...], object]:
    return {IMAGE: "base", IMAGES: {"base": {"parameter": parameter}}}


ROWS = [
    Row("unknown-image", "misspelt name of an image", {IMAGE: "bse", IMAGES: {"base": {"parameter": OSS}}}, IMAGE, '"base"'),
    Row("unknown-image", "AWS's image that aws.images does not have", {IMAGE: "dlami-base-ubuntu-24-04"}, IMAGE, "add it under aws.images"),
    Row("pool-without-image", "a pool without an image", {IMAGE: REMOVED}, IMAGE, "landbridge image build node -s test"),
    Row("pool-without-image", "a pool without an image beside one that is built", {IMAGE: REMOVED, IMAGES: {"own": {"build": {}}}}, IMAGE, "write image: own; after landbridge up"),
    Row("unused-image", "an image that no pool boots", {IMAGES: {"base": {"parameter": OSS}}}, (*IMAGES, "base"), "no pool"),
    Row("image-parameter", "a parameter without its last part", named(OSS.removesuffix("/ami-id")), PARAMETER, "/latest/ami-id"),
    Row("image-parameter", "a parameter that holds a version", named(EKS.format("1.33").replace("image_id", "release_version")), PARAMETER, "image_id"),
    Row("image-parameter", "a folder of parameters", named("/aws/service/deeplearning/ami/x86_64/"), PARAMETER, "/aws/service/deeplearning/ami/x86_64/ is a path, not a parameter"),
    Row("image-parameter", "a parameter that does not exist", named("/aws/service/dlami/ubuntu"), PARAMETER, "not a known parameter"),
    Row("image-parameter", "a Deep Learning image with the wrong last part", named(OSS.replace("ami-id", "image_id")), PARAMETER, "ends in /latest/ami-id"),
    Row("image-architecture", "an arm64 image on x86_64", named(DLAMI.format("arm64")), IMAGE, "arm64"),
    Row("image-architecture", "an x86_64 image on Graviton", {**named("/aws/service/debian/release/13/latest/amd64"), TYPE: "m7g.large", CAPACITY: ON_DEMAND}, IMAGE, "m7g.large is arm64"),
    Row("image-driver", "an image without a driver", named("/aws/service/debian/release/13/latest/amd64"), IMAGE, "no driver"),
    Row("image-driver", "open modules in the image of V100", {**named(OSS), TYPE: "p3dn.24xlarge", CAPACITY: ON_DEMAND}, IMAGE, "V100"),
    Row("image-driver", "NVIDIA's image on Trainium", {**named(OSS), TYPE: "trn1.32xlarge", CAPACITY: ON_DEMAND}, IMAGE, "Neuron's modules"),
    Row("image-driver", "a Neuron image on H100", named("/aws/service/neuron/dlami/multi-framework/ubuntu-24.04/latest/image_id"), IMAGE, "H100"),
    Row("image-driver", "other driver modules than the pool requires", {**named(OSS), (*POOL, "driver"): "proprietary"}, IMAGE, "driver: proprietary"),
    Row("image-without-slurm", "AWS's own image for Slurm nodes", named(OSS), IMAGE, "without slurmd"),
    Row("image-root-device", "Ubuntu's root at Amazon Linux's device", {**named(OSS), DEVICE: "/dev/xvda"}, DEVICE, "/dev/sda1"),
    Row("image-root-device", "Amazon Linux's root at Ubuntu's device", {**named(EKS.format("1.33")), DEVICE: "/dev/sda1"}, DEVICE, "/dev/xvda"),
]  # fmt: skip
