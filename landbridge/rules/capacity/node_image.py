"""Rules about images that are built here: what they start from, what they are built on, and how that reaches its packages."""

from collections.abc import Iterator

from landbridge.catalog import instances
from landbridge.catalog.aws.images import PublicImage, image_behind
from landbridge.environment import Environment, ImageBuild, Loaded
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.images import build_parent, image_sources
from landbridge.plan.node_image.node_image import build_architecture
from landbridge.plan.zones import environment_zones, services_zones
from landbridge.rules.capacity.images import IMAGES, booted_images
from landbridge.rules.environment_paths import pool_capacities, suggestion
from landbridge.rules.registry import file_rule, rule

#: The system that the roles are written for and tested on.
_SYSTEM = "debian-13"


def builds(environment: Environment) -> Iterator[tuple[str, ImageBuild, DataPath]]:
    """Every image that is built here: its name, how, and where that is written."""
    for name, source in environment.aws.images.items():
        if source.build is not None:
            yield name, source.build, (*IMAGES, name, "build")


@rule(suppressible=False)
def image_source(environment: Environment) -> Iterator[Finding]:
    """An image of aws.images comes from a parameter or from a build: from one of the two.

    Source: Landbridge (landbridge/environment/aws/images.py).
    """
    for name, source in environment.aws.images.items():
        if (source.parameter is None) == (source.build is None):
            both = source.build is not None
            message = f"{name} has a parameter and a build" if both else f"nothing says where {name} comes from"
            fix = "keep one of them" if both else "write parameter: or build: {}"
            yield error((*IMAGES, name), message, fix=fix)


@rule
def node_image_parent(environment: Environment) -> Iterator[Finding]:
    """A build starts from a public image of the system that its roles are for.

    The roles install Debian's packages by Debian's names; on another system the build fails after minutes of an instance.
    Source: Landbridge (ansible/roles, the platforms in each role's README); EC2 Image Builder API, CreateImageRecipe (parentImage).
    """
    for name, build, path in builds(environment):
        parent, at = build_parent(build), (*path, "parent")
        source = environment.aws.images.get(parent)
        parameter = image_sources(environment).get(parent)
        if source is not None and source.build is not None:
            message = f"{name} starts from {parent}, which is built here itself"
            yield error(at, message, fix="start from a public image", related=(IMAGES,))
        elif parameter is None:
            message = f'there is no image "{parent}" in aws.images'
            fix = suggestion(parent, (one for one in environment.aws.images if one != name))
            yield error(at, message, fix=fix, related=(IMAGES,))
        elif (known := image_behind(parameter)) is not None and known.os != _SYSTEM:
            message = f"{parent} is {known.os}, and the roles are for {_SYSTEM}"
            yield warning(at, message, fix="leave parent out", related=(IMAGES,))


@file_rule
def parent_not_locked(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """What a build starts from is in the lock, and fits on the disk of the build.

    Without it two builds of the same roles may start from two systems, and nobody changed anything.
    Source: docs/decisions/0017-image-lock.md, 0024-node-image.md; EC2 CreateImage (a volume is never smaller than its snapshot).
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    for name, build, path in builds(environment):
        parent = build_parent(build)
        found = locked.get(parent)
        if found is None and parent not in environment.aws.images:
            message = f"{parent}, from which {name} is built, is not locked"
            fix = f"run landbridge lock -s {environment.name}, and commit what it writes"
            yield warning(path, message, fix=fix)
        elif found is not None and (found.root_gib or 0) > build.disk_gib:
            message = f"{parent} needs {found.root_gib} GiB, and disk_gib is {build.disk_gib}"
            fix = f"write at least {found.root_gib}"
            yield error((*path, "disk_gib"), message, fix=fix, related=((*path, "parent"),))


@rule
def node_image_driver(environment: Environment) -> Iterator[Finding]:
    """A pool with accelerators boots an image that starts from one with their driver, or installs it itself.

    The role nvidia_driver is for machines of one's own: what boots in AWS brings the driver that its image was tested with.
    Source: Landbridge (ansible/playbooks/node_image.yml); landbridge/catalog/images.yaml.
    """
    for owner, name in booted_images(environment):
        build = environment.aws.images[name].build
        known = _behind(environment, build) if build is not None else None
        if build is None or known is None or known.driver is not None:
            continue
        at = next(
            (one for one in pool_capacities(owner) if one.type is not None and one.type.accelerators is not None), None
        )
        if at is not None:
            message = (
                f"{name} is built on {build_parent(build)}, which has no driver for the accelerators of {at.instance}"
            )
            fix = "add a role that installs it to node_image.yml, or build on an image that has it"
            related = (at.instance_path, (*IMAGES, name))
            yield warning(owner.at("image"), message, fix=fix, related=related)


@rule
def node_image_instance(environment: Environment) -> Iterator[Finding]:
    """A builder has the processors of its parent, and of the pools that boot the image.

    Source: EC2 RunInstances; EC2 Image Builder User Guide, "Infrastructure configuration" (instance types).
    """
    for name, build, path in builds(environment):
        kind = instances().get(build.instance or "")
        if build.instance is not None and kind is None:
            message = f"{build.instance} is not in the catalogue"
            fix = suggestion(build.instance, instances())
            yield error((*path, "instance"), message, fix=fix)
            continue
        known, wanted = _behind(environment, build), build_architecture(environment, build)
        if kind is not None and known is not None and wanted not in known.architectures:
            message = f"{build.instance} is {wanted}, {build_parent(build)} is for {known.architectures[0]}"
            yield error((*path, "instance"), message, related=((*path, "parent"),))
        for owner, booted in booted_images(environment):
            if booted == name and owner.type is not None and owner.type.cpus.architecture != wanted:
                message = f"{name} is built for {wanted}, {owner.pool.instance} is {owner.type.cpus.architecture}"
                related: tuple[DataPath, ...] = (owner.at("instance"), path)
                yield error(owner.at("image"), message, fix="build another image for it", related=related)


@rule
def node_image_zone(environment: Environment) -> Iterator[Finding]:
    """A build is where there is a subnet: in a zone of the nodes or of the services.

    Source: EC2 Image Builder User Guide, "Infrastructure configuration" (subnet).
    """
    zones = {*environment_zones(environment), *services_zones(environment)}
    for name, build, path in builds(environment):
        if build.zone is not None and build.zone not in zones:
            message = f"{name} is to be built in {build.zone}, where there is no subnet"
            fix = suggestion(build.zone, zones)
            yield error((*path, "zone"), message, fix=fix, related=(("aws", "pools"),))
        elif not zones:
            message = f"{name} cannot be built: no zone has a subnet"
            yield error(path, message, fix="add a pool", related=(("aws", "pools"),))


@rule
def node_image_sources(environment: Environment) -> Iterator[Finding]:
    """A builder reaches its packages: through NAT, or at sources inside the network or behind the link.

    In a closed network the build waits for Debian's mirrors until it is given up, an hour of an instance later.
    Source: EC2 Image Builder User Guide, "Network requirements"; docs/decisions/0024-node-image.md.
    """
    aws = environment.aws
    if aws.nat != "none" or aws.vpc is not None:
        return
    for name, build, path in builds(environment):
        if build.apt_proxy is None and "apt_mirror" not in build.model_fields_set:
            message = f"{name} is built in a network without a way out, and its packages come from {build.apt_mirror}"
            fix = "write apt_proxy: and python_find_links: of hosts behind the link, or nat: single"
            yield warning(path, message, fix=fix, related=(("aws", "nat"),))


def _behind(environment: Environment, build: ImageBuild) -> PublicImage | None:
    """The public image that a build starts from, where the catalogue has it."""
    parameter = image_sources(environment).get(build_parent(build))
    return image_behind(parameter) if parameter is not None else None
