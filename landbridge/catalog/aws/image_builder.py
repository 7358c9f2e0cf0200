"""EC2 Image Builder: parent images and platforms (image_builder.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class ImageBuilderFacts(Facts):
    """Instance types by processor, the root device of the parents that the roles know, and how long a build may take."""

    source: str
    as_of: date = Field(alias="date")
    instances: Mapping[str, tuple[str, ...]]
    root_device: str
    timeout_minutes: int


@cache
def image_builder() -> ImageBuilderFacts:
    """Read once."""
    return read("image_builder", ImageBuilderFacts)
