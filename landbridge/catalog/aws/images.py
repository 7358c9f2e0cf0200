"""AWS's public images, by the parameters that hold their ids (images.yaml)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.aws.instances import Driver
from landbridge.catalog.files import Facts, read

Architecture = Literal["x86_64", "arm64"]
#: Words of parameters and what processors they are for.
_ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "arm64": "arm64",
    "aarch64": "arm64",
}


class PublicImage(Facts):
    """A public image. `driver` is None for one without an accelerator's modules; `user` is who logs in first."""

    parameter: str
    architectures: tuple[Architecture, ...]
    os: str
    user: str | None = None
    driver: Driver | None = None
    software: tuple[str, ...]
    versions: Mapping[str, str] = {}

    def parameter_for(self, architecture: Architecture, kubernetes: str | None = None) -> str | None:
        """The parameter's name; None for an architecture without the image, or where a Kubernetes version is missing."""
        if architecture not in self.architectures or ("{kubernetes}" in self.parameter and kubernetes is None):
            return None
        return self.parameter.format(arch=architecture, kubernetes=kubernetes)


class _Images(Facts):
    source: str
    as_of: date = Field(alias="date")
    root_devices: Mapping[str, str]
    images: Mapping[str, PublicImage]


@cache
def _file() -> _Images:
    return read("images", _Images)


def images() -> Mapping[str, PublicImage]:
    """Public images by the names that Landbridge gives them."""
    return _file().images


def root_device(name: str) -> str | None:
    """The root device of an operating system, or of the one that a parameter's name speaks of; None where it is not known."""
    return next((device for word, device in _file().root_devices.items() if word in name), None)


@cache
def image_behind(parameter: str) -> PublicImage | None:
    """AWS's image that a parameter names, where the catalogue has it."""
    for image in images().values():
        pattern = (
            re.escape(image.parameter).replace(r"\{arch\}", "(x86_64|arm64)").replace(r"\{kubernetes\}", r"1\.\d+")
        )
        if re.fullmatch(pattern, parameter):
            return image
    return None


def architecture_of(parameter: str) -> Architecture | None:
    """The processors that an image is for, as far as its parameter's name says it."""
    words = re.split(r"[/.-]", parameter)
    return next((_ARCHITECTURES[word] for word in words if word in _ARCHITECTURES), None)
