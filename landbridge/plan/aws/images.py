"""AMI of a pool: an id, or a named image resolved by the lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import instances
from landbridge.catalog.aws.image_builder import image_builder
from landbridge.catalog.aws.images import public_parameter, root_device
from landbridge.environment import CloudServices, Environment, ImageBuild, PoolSettings
from landbridge.plan.network.services.serving import serving_of

#: Tags of an image that Landbridge built: the cluster, its name in aws.images, and the digest of the roles.
CLUSTER, IMAGE, SOURCE = "landbridge:cluster", "landbridge:image", "landbridge:source"


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """AMI of a pool. `ami` is None for a name without an id in the lock; `reference` is the launch template's ImageId.

    `kind`: `id` as written in the file, `named` from aws.images, `missing` if the pool names none.
    """

    kind: Literal["id", "named", "missing"]
    reference: str
    ami: str | None = None
    name: str | None = None
    parameter: str | None = None


def pool_image(environment: Environment, pool: PoolSettings, locked: Mapping[str, str] | None = None) -> ImageChoice:
    """Return the image of a pool; `locked` are the ids in the environment's image lock, by their names in aws.images.

    An unknown or missing name becomes a parameter that does not exist; a rule reports it before deployment.
    """
    if pool.image is None:
        parameter = f"/landbridge/{environment.name}/no-image/{pool.name}"
        return ImageChoice("missing", f"resolve:ssm:{parameter}", parameter=parameter)
    return _chosen(environment, pool.image, locked)


def name_in_region(name: str, region: str) -> str:
    """Return the lock's name of an image's copy in another region, such as node@us-east-2."""
    return f"{name}@{region}"


def images_in_region(locked: Mapping[str, str], region: str) -> dict[str, str]:
    """Return the ids of the copies in another region, by image name."""
    suffix = name_in_region("", region)
    return {name.removesuffix(suffix): ami for name, ami in locked.items() if name.endswith(suffix)}


def copy_regions(environment: Environment, image: str) -> tuple[str, ...]:
    """Return the other regions in which pools boot an image that Landbridge builds: Image Builder copies it there."""
    booting = {pool.name for pool in environment.aws.pools if pool.image == image}
    return tuple(
        region
        for region, settings in environment.aws.other_regions.items()
        if any(pool.image == image or (pool.image is None and name in booting) for name, pool in settings.pools.items())
    )


def services_image(environment: Environment, locked: Mapping[str, str] | None = None) -> ImageChoice | None:
    """Return the AMI of service hosts in AWS; None if on-prem hosts run the services."""
    services = environment.aws.services
    return _chosen(environment, services_image_name(services), locked) if services is not None else None


def model_servers_image(environment: Environment, locked: Mapping[str, str] | None = None) -> ImageChoice | None:
    """Return the AMI of the hosts of model servers in AWS; None without them."""
    name = model_servers_image_name(environment)
    return _chosen(environment, name, locked) if name is not None else None


def model_servers_image_name(environment: Environment) -> str | None:
    """Return the image name of these hosts: as configured, else the catalogue's Debian; None without them."""
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return None
    kind = instances().get(serving.aws.instance)
    return serving.aws.image or f"debian-13-{kind.cpus.architecture if kind is not None else 'x86_64'}"


def services_image_name(services: CloudServices) -> str:
    """Return the configured image name, else the catalogue's Debian for the controller's architecture."""
    kind = instances().get(services.controller.instance)
    return services.image or f"debian-13-{kind.cpus.architecture if kind is not None else 'x86_64'}"


def image_sources(environment: Environment) -> dict[str, str]:
    """Return the SSM parameters of the images that the lock resolves, by image name."""
    aws = environment.aws
    parameters = {name: source.parameter for name, source in aws.images.items() if source.parameter is not None}
    for parent in (build_parent(source.build) for source in aws.images.values() if source.build is not None):
        if (parameter := public_parameter(parent)) is not None:
            parameters.setdefault(parent, parameter)
    services = environment.aws.services
    of_hosts = (services_image_name(services) if services is not None else None, model_servers_image_name(environment))
    for name in (each for each in of_hosts if each is not None):
        if (parameter := public_parameter(name)) is not None:
            parameters.setdefault(name, parameter)
    return parameters


def build_parent(build: ImageBuild) -> str:
    """Return the name of a build's parent image: as configured, else the catalogue's default for its instance type."""
    kind = instances().get(build.instance or "")
    architecture = kind.cpus.architecture if kind is not None else "x86_64"
    return build.parent or f"{image_builder().parent}-{architecture}"


def pool_root_device(environment: Environment, pool: PoolSettings) -> str:
    """Return the device name of a pool's root volume: as configured, else the device of its image's operating system."""
    if pool.root_device is not None:
        return pool.root_device
    source, parameters = environment.aws.images.get(pool.image or ""), image_sources(environment)
    name = build_parent(source.build) if source is not None and source.build is not None else pool.image or ""
    return root_device(parameters.get(name, "")) or image_builder().root_device


def _chosen(environment: Environment, image: str, locked: Mapping[str, str] | None) -> ImageChoice:
    if image.startswith("ami-"):
        return ImageChoice("id", image, image)
    ami = (locked or {}).get(image)
    source = environment.aws.images.get(image)
    # The lock finds an image that Landbridge builds by its tags. Until then its parameter does not exist, and no launch
    # is possible.
    missing_parameter = (
        f"/landbridge/{environment.name}/image/{image}" if source is not None and source.build else f"/{image}"
    )
    parameter = image_sources(environment).get(image, missing_parameter)
    return ImageChoice("named", ami or f"resolve:ssm:{parameter}", ami, image, parameter)
