"""Mistakes with the image lock."""

from datetime import date
from typing import Any

from landbridge.environment.file.lock import ImageLock, LockedImage
from tests.unit.rules.parts import POOL
from tests.unit.rules.row import Row

IMAGE, IMAGES = (*POOL, "image"), ("aws", "images")
OWN = "/images/node"
CHANGES = {IMAGE: "base", IMAGES: {"base": {"parameter": OWN}}}


def locked(**keys: Any) -> ImageLock:
    facts = {
        "ami": "ami-0123456789abcdef0", "parameter": OWN, "region": "us-east-1", "architecture": "x86_64",
        "root_device": "/dev/xvda", "root_gib": 100, "resolved": date(2026, 11, 1),
    }  # fmt: skip
    return ImageLock({"base": LockedImage(**{**facts, **keys})})


ROWS = [
    Row("image-not-locked", "an image that is not in the lock", CHANGES, (*IMAGES, "base"), "landbridge lock -s test"),
    Row("image-not-locked", "a lock of another parameter", CHANGES, (*IMAGES, "base", "parameter"), "/images/old", lock=locked(parameter="/images/old")),
    Row("image-not-locked", "a lock of another region", CHANGES, (*IMAGES, "base"), "regional", lock=locked(region="us-west-2")),
    Row("image-lock-mismatch", "a root volume smaller than its image", {**CHANGES, (*POOL, "root_volume_gib"): 80}, (*POOL, "root_volume_gib"), "at least 100", lock=locked()),
    Row("image-lock-mismatch", "a root device that the image does not have", CHANGES, IMAGE, "/dev/sda1", lock=locked(root_device="/dev/sda1")),
    Row("image-lock-mismatch", "a locked image of another architecture", CHANGES, IMAGE, "arm64", lock=locked(architecture="arm64")),
]  # fmt: skip
