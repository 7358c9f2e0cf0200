"""AMI of a pool: an id, a named image resolved by the lock, or the newest image of node_image.yml."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import instances
from landbridge.catalog.aws.images import images
from landbridge.environment import CloudServices, Environment, ImageBuild, PoolSettings

#: Tags of an image that is built here: whose it is, which of aws.images, and the digest of the roles that it was built with.
CLUSTER, IMAGE, SOURCE = "landbridge:cluster", "landbridge:image", "landbridge:source"


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """AMI of a pool. `ami` is None for a name without an id in the lock; `reference` is the launch template's ImageId.

    kind: `id` as written, `named` out of aws.images, `built` by this cluster's own playbook.
    """

    kind: Literal["id", "named", "built"]
    reference: str
    ami: str | None = None
    name: str | None = None
    parameter: str | None = None


def pool_image(environment: Environment, pool: PoolSettings, locked: Mapping[str, str] | None = None) -> ImageChoice:
    """The image of a pool; `locked` are the ids that the environment's lock has, by the names in aws.images.

    An unknown name becomes a parameter that does not exist; a rule reports it before deployment.
    """
    if pool.image is None:
        parameter = built_parameter(environment)
        return ImageChoice("built", f"resolve:ssm:{parameter}", parameter=parameter)
    return _chosen(environment, pool.image, locked)


def services_image(environment: Environment, locked: Mapping[str, str] | None = None) -> ImageChoice | None:
    """Return the AMI of service hosts in AWS; None where on-prem hosts run the services."""
    services = environment.aws.services
    return _chosen(environment, services_image_name(services), locked) if services is not None else None


def services_image_name(services: CloudServices) -> str:
    """Return the configured image name, else the catalogue's Debian for the controller's architecture."""
    kind = instances().get(services.controller.instance)
    return services.image or f"debian-13-{kind.cpus.architecture if kind is not None else 'x86_64'}"


def image_sources(environment: Environment) -> dict[str, str]:
    """Return the SSM parameters of the images that the lock resolves, by image name."""
    aws = environment.aws
    parameters = {name: source.parameter for name, source in aws.images.items() if source.parameter is not None}
    for parent in (build_parent(source.build) for source in aws.images.values() if source.build is not None):
        if parent in images() and (parameter := _public(parent)) is not None:
            parameters.setdefault(parent, parameter)
    if environment.aws.services is not None:
        name = services_image_name(environment.aws.services)
        if name in images() and (parameter := _public(name)) is not None:
            parameters.setdefault(name, parameter)
    return parameters


def build_parent(build: ImageBuild) -> str:
    """Return the name of a build's parent image: as configured, else the catalogue's Debian for its instance type."""
    kind = instances().get(build.instance or "")
    return build.parent or f"debian-13-{kind.cpus.architecture if kind is not None else 'x86_64'}"


def _chosen(environment: Environment, image: str, locked: Mapping[str, str] | None) -> ImageChoice:
    if image.startswith("ami-"):
        return ImageChoice("id", image, image)
    ami = (locked or {}).get(image)
    source = environment.aws.images.get(image)
    # An image that is built here is found by its tags, and only then named: until it is locked nothing can boot it.
    not_yet = f"/landbridge/{environment.name}/image/{image}" if source is not None and source.build else f"/{image}"
    parameter = image_sources(environment).get(image, not_yet)
    return ImageChoice("named", ami or f"resolve:ssm:{parameter}", ami, image, parameter)


def _public(name: str) -> str | None:
    """Return the SSM parameter of a catalogue image for one architecture."""
    image = images()[name]
    return image.parameter_for(image.architectures[0])


def built_parameter(environment: Environment) -> str:
    """Return the SSM parameter with the id of the newest image that node_image.yml built for this cluster."""
    return f"/landbridge/{environment.name}/node-image"
