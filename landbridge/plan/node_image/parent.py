"""Parent image of a node image that Image Builder makes: its facts, its driver and its CPU architecture. Pure.

Rules read this module: it imports neither the inventory nor the roles' variables.
"""

from landbridge.catalog import gpu_stack, instances
from landbridge.catalog.aws.images import PublicImage, architecture_of, image_behind
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment, ImageBuild
from landbridge.plan.aws.images import build_parent, image_sources


def parent_image(environment: Environment, build: ImageBuild) -> PublicImage | None:
    """Return the parent image of a build; None if the catalogue does not have it."""
    parameter = image_sources(environment).get(build_parent(build))
    return image_behind(parameter) if parameter is not None else None


def driver_is_published(parent: PublicImage | None, system: str, architecture: str) -> bool:
    """Return true if the parent image has NVIDIA's driver, or the default branch is published for its system."""
    if parent is not None and parent.driver is not None:
        return parent.driver != "neuron"
    return gpu_stack().branch in published().driver.branches(system, architecture)


def build_architecture(environment: Environment, build: ImageBuild) -> str:
    """Return the CPU architecture of an image: the build instance's, else the parent image's."""
    kind = instances().get(build.instance or "")
    if kind is not None:
        return kind.cpus.architecture
    return architecture_of(image_sources(environment).get(build_parent(build), "")) or "x86_64"
