"""AWS's public images, by the parameters that contain their ids (images.yaml)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.aws.instances import Driver
from landbridge.catalog.files import Facts, read

Architecture = Literal["x86_64", "arm64"]
#: Words in parameter names and their processor architecture.
_ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "arm64": "arm64",
    "aarch64": "arm64",
}


class PublicImage(Facts):
    """Public image. `driver` is None for an image without an accelerator's kernel modules; `user` is its login user."""

    parameter: str
    architectures: tuple[Architecture, ...]
    os: str
    user: str | None = None
    driver: Driver | None = None
    software: tuple[str, ...]
    versions: Mapping[str, str] = {}

    def parameter_for(self, architecture: Architecture) -> str | None:
        """Return the parameter's name; None without an image for this architecture."""
        return self.parameter.format(arch=architecture) if architecture in self.architectures else None


class _Images(Facts):
    source: str
    as_of: date = Field(alias="date")
    root_devices: Mapping[str, str]
    images: Mapping[str, PublicImage]


@cache
def _file() -> _Images:
    return read("images", _Images)


def images() -> Mapping[str, PublicImage]:
    """Return the public images by Landbridge's names."""
    return _file().images


def public_parameter(name: str) -> str | None:
    """Return the parameter of a public image by its name in images.yaml; None if there is none.

    A name may end in an architecture, such as dlami-base-ubuntu-24.04-arm64; without it the first architecture is meant. Names
    in an environment file have dashes instead of dots.
    """
    wanted = _dashed(name)
    for key, image in images().items():
        for position, architecture in enumerate(image.architectures):
            base = key.removesuffix(f"-{architecture}")
            if wanted == _dashed(f"{base}-{architecture}") or (position == 0 and wanted == _dashed(base)):
                return image.parameter_for(architecture)
    return None


def _dashed(name: str) -> str:
    return name.replace(".", "-").replace("_", "-")


def root_device(name: str) -> str | None:
    """Return the root device of an operating system, or of the one in a parameter's name; None if unknown."""
    return next((device for word, device in _file().root_devices.items() if word in name), None)


@cache
def image_behind(parameter: str) -> PublicImage | None:
    """Return the public image of a parameter; None if the catalogue does not contain it."""
    for image in images().values():
        pattern = re.escape(image.parameter).replace(r"\{arch\}", "(x86_64|arm64)")
        if re.fullmatch(pattern, parameter):
            return image
    return None


def architecture_of(parameter: str) -> Architecture | None:
    """Return the processor architecture in a parameter's name; None if it contains none."""
    words = re.split(r"[/.-]", parameter)
    return next((_ARCHITECTURES[word] for word in words if word in _ARCHITECTURES), None)
