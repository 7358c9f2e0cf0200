"""Which image a pool boots: one of your own, one of AWS's by name as the lock has it, or what node_image.yml built."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import instances
from landbridge.catalog.aws.images import images
from landbridge.environment import CloudServices, Environment, ImageBuild, Pool

#: Tags of an image that is built here: whose it is, which of aws.images, and the digest of the roles that it was built with.
CLUSTER, IMAGE, SOURCE = "landbridge:cluster", "landbridge:image", "landbridge:source"


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """A pool's image. `ami` is None for a name whose id the lock does not have; `reference` is what EC2 is told.

    kind: `id` as written, `named` out of aws.images, `built` by this cluster's own playbook.
    """

    kind: Literal["id", "named", "built"]
    reference: str
    ami: str | None = None
    name: str | None = None
    parameter: str | None = None


def pool_image(environment: Environment, pool: Pool, locked: Mapping[str, str] | None = None) -> ImageChoice:
    """The image of a pool; `locked` are the ids that the environment's lock has, by the names in aws.images.

    A name that nobody knows is taken for a parameter that does not exist; a rule says so before it comes to that.
    """
    if pool.image is None:
        parameter = built_parameter(environment)
        return ImageChoice("built", f"resolve:ssm:{parameter}", parameter=parameter)
    return _chosen(environment, pool.image, locked)


def services_image(environment: Environment, locked: Mapping[str, str] | None = None) -> ImageChoice | None:
    """The image of the services' hosts in AWS; None where a site serves."""
    services = environment.aws.services
    return _chosen(environment, services_image_name(services), locked) if services is not None else None


def services_image_name(services: CloudServices) -> str:
    """As the file has it, else the catalogue's Debian for the controller's kind of processor."""
    kind = instances().get(services.controller.instance)
    return services.image or f"debian-13-{kind.cpus.architecture if kind is not None else 'x86_64'}"


def image_sources(environment: Environment) -> dict[str, str]:
    """Every image that a parameter names and the lock is to have, by its name."""
    aws = environment.aws
    found = {name: source.parameter for name, source in aws.images.items() if source.parameter is not None}
    for parent in (build_parent(source.build) for source in aws.images.values() if source.build is not None):
        if parent in images() and (parameter := _public(parent)) is not None:
            found.setdefault(parent, parameter)
    if environment.aws.services is not None:
        name = services_image_name(environment.aws.services)
        if name in images() and (parameter := _public(name)) is not None:
            found.setdefault(name, parameter)
    return found


def build_parent(build: ImageBuild) -> str:
    """The name of the image that a build starts from: as the file has it, else the catalogue's Debian for its instance."""
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
    """The parameter of a catalogue's image that is for one kind of processor."""
    found = images()[name]
    return found.parameter_for(found.architectures[0])


def built_parameter(environment: Environment) -> str:
    """The parameter in which node_image.yml leaves the id of the newest image it has built for this cluster."""
    return f"/landbridge/{environment.name}/node-image"
