"""Rules about node images that Landbridge builds: parent image, build instance, zone and package sources."""

from collections.abc import Iterator

from landbridge.catalog import gpu_stack, instances, slurm_archive, slurm_sources
from landbridge.catalog.aws.image_builder import image_builder
from landbridge.catalog.aws.images import image_behind
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment, ImageBuild, Loaded
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.images import build_parent, copy_regions, image_sources
from landbridge.plan.node_image.parent import build_architecture, driver_is_published, parent_image
from landbridge.plan.zones import environment_zones, services_zones
from landbridge.rules.capacity.images import IMAGES, booted_images
from landbridge.rules.environment_paths import pool_capacities, suggestion
from landbridge.rules.registry import file_rule, rule


def builds(environment: Environment) -> Iterator[tuple[str, ImageBuild, DataPath]]:
    """Yield the name, the settings and the path of each image that is built."""
    for name, source in environment.aws.images.items():
        if source.build is not None:
            yield name, source.build, (*IMAGES, name, "build")


@rule(suppressible=False)
def image_source(environment: Environment) -> Iterator[Finding]:
    """An image of aws.images has either a parameter or a build.

    Source: Landbridge (landbridge/environment/aws/images.py).
    """
    for name, source in environment.aws.images.items():
        if (source.parameter is None) == (source.build is None):
            both = source.build is not None
            message = (
                f"the image {name} has both a parameter and a build"
                if both
                else f"the image {name} has neither a parameter nor a build"
            )
            fix = "remove one of them" if both else "write parameter: or build: {}"
            yield error((*IMAGES, name), message, fix=fix)


@rule
def node_image_parent(environment: Environment) -> Iterator[Finding]:
    """The parent of a build is a public image of an operating system that the roles support.

    The roles install packages of Debian and Ubuntu; on another system the build fails after minutes of instance time.
    Source: landbridge/catalog/image_builder.yaml (systems); EC2 Image Builder API, CreateImageRecipe
    (parentImage).
    """
    systems = image_builder().systems
    for name, build, path in builds(environment):
        parent, parent_path = build_parent(build), (*path, "parent")
        source = environment.aws.images.get(parent)
        parameter = image_sources(environment).get(parent)
        if source is not None and source.build is not None:
            message = f"the parent {parent} of {name} is itself built by Landbridge"
            yield error(parent_path, message, fix="use a public image as parent", related=(IMAGES,))
        elif parameter is None:
            message = f'there is no image "{parent}" in aws.images'
            fix = suggestion(parent, (image for image in environment.aws.images if image != name))
            yield error(parent_path, message, fix=fix, related=(IMAGES,))
        elif (public_image := image_behind(parameter)) is not None and public_image.os not in systems:
            message = f"the parent {parent} is {public_image.os}; the roles support {', '.join(systems)}"
            yield warning(parent_path, message, fix="remove parent", related=(IMAGES,))


@rule
def node_image_slurm(environment: Environment) -> Iterator[Finding]:
    """The operating system of a parent image has packages of the Slurm version, or the site has its own packages.

    Source: packages.ubuntu.com (noble: 23.11.4), as in landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    if slurm.packaging == "schedmd" or slurm.packages_release is not None:
        return
    for name, build, path in builds(environment):
        parent = parent_image(environment, build)
        if parent is not None and parent.os in slurm_sources().systems and parent.os not in slurm_archive().systems:
            message = f"{name} is built on {parent.os}, which has no packages of Slurm {slurm.version}"
            fix = f"build them (landbridge packages slurm {slurm.version}), and write packaging: schedmd in scheduler.slurm"
            related: tuple[DataPath, ...] = (IMAGES, ("scheduler", "slurm"))
            yield error((*path, "parent"), message, fix=fix, related=related)


@file_rule
def parent_not_locked(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """The parent of a build is locked, and fits on the disk of the build.

    Without a lock, two builds of the same roles may start from two images without any change.
    Source: docs/decisions/0017-image-lock.md, 0024-node-image.md; EC2 CreateImage (a volume is never smaller than its
    snapshot).
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    for name, build, path in builds(environment):
        parent = build_parent(build)
        locked_parent = locked.get(parent)
        if locked_parent is None and parent not in environment.aws.images:
            message = f"the parent image {parent} of {name} is not locked"
            fix = f"run landbridge lock -s {environment.name}, and commit the lock file"
            yield warning(path, message, fix=fix)
        elif locked_parent is not None and (locked_parent.root_gib or 0) > build.disk_gib:
            message = f"the parent image {parent} needs {locked_parent.root_gib} GiB; disk_gib is {build.disk_gib}"
            fix = f"write at least {locked_parent.root_gib}"
            yield error((*path, "disk_gib"), message, fix=fix, related=((*path, "parent"),))


@rule
def node_image_driver(environment: Environment) -> Iterator[Finding]:
    """The parent image of a pool with accelerators has their driver, or NVIDIA publishes one for its operating system.

    Source: landbridge/catalog/published.yaml and images.yaml; Landbridge (ansible/playbooks/tasks/gpu_image.yml).
    """
    for owner, name in booted_images(environment):
        build = environment.aws.images[name].build
        parent = parent_image(environment, build) if build is not None else None
        if build is None or parent is None or parent.driver is not None:
            continue
        accelerated = next(
            (
                pool_capacity
                for pool_capacity in pool_capacities(owner)
                if pool_capacity.type is not None and pool_capacity.type.accelerators is not None
            ),
            None,
        )
        if accelerated is not None and (kind := accelerated.type) is not None and kind.accelerators is not None:
            architecture = kind.cpus.architecture
            is_gpu = kind.accelerators.kind == "gpu"
            if is_gpu and driver_is_published(parent, parent.os, architecture):
                continue
            branch = gpu_stack().branch
            systems = published().driver.systems_with(branch, architecture)
            message = (
                f"{name} is built on {build_parent(build)}, which has no driver for the accelerators of "
                f"{accelerated.instance}, and branch {branch} is not published for {parent.os}"
            )
            fix = f"use a parent image with the driver (a Deep Learning AMI), or with {' or '.join(reversed(systems))}"
            related = (accelerated.instance_path, (*IMAGES, name))
            yield error(owner.at("image"), message, fix=fix, related=related)


@rule
def node_image_instance(environment: Environment) -> Iterator[Finding]:
    """The build instance has the architecture of the parent image and of the pools that boot the image.

    Source: EC2 RunInstances; EC2 Image Builder User Guide, "Infrastructure configuration" (instance types).
    """
    for name, build, path in builds(environment):
        kind = instances().get(build.instance or "")
        if build.instance is not None and kind is None:
            message = f"the catalogue has no instance type {build.instance}"
            fix = suggestion(build.instance, instances())
            yield error((*path, "instance"), message, fix=fix)
            continue
        parent, expected = parent_image(environment, build), build_architecture(environment, build)
        if kind is not None and parent is not None and expected not in parent.architectures:
            message = (
                f"{build.instance} is {expected}; the parent {build_parent(build)} is for {parent.architectures[0]}"
            )
            yield error((*path, "instance"), message, related=((*path, "parent"),))
        for owner, booted in booted_images(environment):
            if booted == name and owner.type is not None and owner.type.cpus.architecture != expected:
                message = (
                    f"the image {name} is built for {expected}; {owner.pool.instance} is {owner.type.cpus.architecture}"
                )
                related: tuple[DataPath, ...] = (owner.at("instance"), path)
                yield error(
                    owner.at("image"), message, fix="build a second image for that architecture", related=related
                )


@rule
def node_image_zone(environment: Environment) -> Iterator[Finding]:
    """The zone of a build has a subnet: it is a zone of the nodes or of the services.

    Source: EC2 Image Builder User Guide, "Infrastructure configuration" (subnet).
    """
    zones = {*environment_zones(environment), *services_zones(environment)}
    for name, build, path in builds(environment):
        if build.zone is not None and build.zone not in zones:
            message = f"the build of {name} is in {build.zone}, which has no subnet"
            fix = suggestion(build.zone, zones)
            yield error((*path, "zone"), message, fix=fix, related=(("aws", "pools"),))
        elif not zones:
            message = f"the image {name} cannot be built: no zone has a subnet"
            yield error(path, message, fix="add a pool", related=(("aws", "pools"),))


@rule
def node_image_sharing(environment: Environment) -> Iterator[Finding]:
    """An image for other accounts is encrypted with your own key in each of its regions.

    EC2 refuses to share an AMI whose snapshot is encrypted with the account's default key.
    Source: EC2 User Guide, "Share an AMI with specific AWS accounts"; EC2 Image Builder User Guide, "Create and update AMI
    distribution configurations".
    """
    for name, build, path in builds(environment):
        regions = (environment.region, *copy_regions(environment, name))
        for region in regions:
            if build.share_with and region not in build.kms_keys:
                message = f"{name} is shared with other accounts, and has no key in {region}"
                fix = f"write {region}: arn:aws:kms:... in kms_keys; its key policy permits these accounts to use it"
                yield error((*path, "share_with"), message, fix=fix, related=((*path, "kms_keys"),))
        for region, key in build.kms_keys.items():
            if region not in regions or f":{region}:" not in key:
                message = f"{key} is not a key for {region}" if region in regions else f"{name} is not in {region}"
                fix = f"the image is in: {', '.join(regions)}; a key is in the region of the image"
                yield error((*path, "kms_keys", region), message, fix=fix)


@rule
def node_image_sources(environment: Environment) -> Iterator[Finding]:
    """A build instance reaches its package sources: through NAT, inside the VPC or through the link.

    In a closed network the build waits for Debian's mirrors, and fails after an hour.
    Source: EC2 Image Builder User Guide, "Network requirements"; docs/decisions/0024-node-image.md.
    """
    aws = environment.aws
    if aws.nat != "none" or aws.vpc is not None:
        return
    for name, build, path in builds(environment):
        if build.apt_proxy is None and "apt_mirror" not in build.model_fields_set:
            message = f"the build of {name} has no NAT, and its packages are at {build.apt_mirror}"
            fix = "write apt_proxy: and python_find_links: with on-prem hosts, or nat: single"
            yield warning(path, message, fix=fix, related=(("aws", "nat"),))
