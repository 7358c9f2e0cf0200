"""EC2 Image Builder: parent images and platforms (image_builder.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class ImageBuilderFacts(Facts):
    """Instance types by processor, default parent image, supported systems, and time limit of a build.

    `root_device` is that of a parent image whose own is not known."""

    source: str
    as_of: date = Field(alias="date")
    instances: Mapping[str, tuple[str, ...]]
    root_device: str
    parent: str
    systems: tuple[str, ...]
    timeout_minutes: int


@cache
def image_builder() -> ImageBuilderFacts:
    """Return the facts of EC2 Image Builder (cached)."""
    return read("image_builder", ImageBuilderFacts)
