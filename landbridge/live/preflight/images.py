"""Checks of images: they exist and fit the instance types and disks."""

from collections.abc import Iterator

from landbridge.catalog import instances
from landbridge.environment import PoolSettings
from landbridge.findings import DataPath, Finding, Severity
from landbridge.live import images
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, info, warning
from landbridge.plan.aws.images import ImageChoice, pool_image
from landbridge.plan.instances.capacity import fallbacks


def choice(scene: Scene, pool: PoolSettings) -> ImageChoice:
    """Return the pool's image from the plan, with the lock's values."""
    return pool_image(scene.environment, pool, scene.lock.amis if scene.lock is not None else None)


def ami_of(scene: Scene, pool: PoolSettings) -> str | None:
    """Return the id that the pool would boot now; None where no source names one. Raises AwsRefusal."""
    chosen = choice(scene, pool)
    if chosen.ami is not None or chosen.parameter is None:
        return chosen.ami
    found, _ = images.parameters(scene.aws, [chosen.parameter])
    return found[chosen.parameter].ami if chosen.parameter in found else None


@check("image parameters", "ssm:GetParameters")
def image_parameter(scene: Scene) -> Iterator[Finding]:
    """Every parameter that names an image exists in the region, and names one.

    Source: Systems Manager User Guide, "Calling AMI public parameters"; DLAMI and EKS user guides for the names.
    """
    sources = {
        name: source.parameter for name, source in scene.environment.aws.images.items() if source.parameter is not None
    }
    built = {pool.name: choice(scene, pool).parameter for pool in scene.environment.aws.pools if pool.image is None}
    wanted = [*sources.values(), *(name for name in built.values() if name)]
    if not wanted:
        return
    _, missing = images.parameters(scene.aws, wanted)
    for name, parameter in sources.items():
        if parameter in missing:
            message = f"{scene.environment.region} has no image under the parameter {parameter}"
            yield error("live-image-parameter", message, ("aws", "images", name, "parameter"))
    for index, pool in enumerate(scene.environment.aws.pools):
        if built.get(pool.name) in missing:
            message = f"{pool.name} boots what node_image.yml builds, and it has not built anything yet"
            fix = "ansible-playbook playbooks/node_image.yml, after `landbridge up`"
            yield info("live-image-parameter", message, ("aws", "pools", index, "image"), fix)


@check("images that are built", "ec2:DescribeImages")
def image_built(scene: Scene) -> Iterator[Finding]:
    """The pipeline of every image that is built here has built one: until then no pool can boot it.

    Source: docs/decisions/0024-node-image.md; EC2 API reference, DescribeImages (filters by tag).
    """
    aws = scene.environment.aws
    booted = {pool.image for pool in aws.pools}
    for name, source in aws.images.items():
        if (
            source.build is not None
            and name in booted
            and images.newest(scene.aws, scene.environment.name, name) is None
        ):
            message = f"{name} has not been built yet, and pools boot it"
            fix = f"landbridge up and landbridge image build {name}, with -s {scene.environment.name}"
            yield warning("live-image-built", message, ("aws", "images", name, "build"), fix)


@check("images", "ec2:DescribeImages", "ssm:GetParameters")
def image(scene: Scene) -> Iterator[Finding]:
    """A pool's image exists, is built for the pool's type, and fits its root volume and root device.

    A disk smaller than the image's snapshot, or under another name than the image's root, makes every launch fail, or
    adds an empty disk beside a small root.
    Source: EC2 API reference, DescribeImages; EC2 User Guide, "Block device mappings".
    """
    for index, pool in enumerate(scene.environment.aws.pools):
        path: DataPath = ("aws", "pools", index)
        ami = ami_of(scene, pool)
        if ami is None:
            continue
        found = images.image(scene.aws, ami)
        if found is None:
            fix = "share it with this account, or copy it into the region"
            if choice(scene, pool).kind == "named":
                fix = "landbridge lock --upgrade"
            message = f"{ami} does not exist in {scene.environment.region} for this account"
            yield error("live-image", message, (*path, "image"), fix)
            continue
        yield from _fits(scene, pool, path, found)


def _fits(scene: Scene, pool: PoolSettings, path: DataPath, found: images.DescribedImage) -> Iterator[Finding]:
    rule, at = "live-image", (*path, "image")
    for kind in dict.fromkeys(fallback.instance for fallback in fallbacks(pool, scene.environment.region)):
        known = instances().get(kind)
        if known is not None and found.architecture != known.cpus.architecture:
            message = f"{found.ami} is built for {found.architecture}, and {kind} is {known.cpus.architecture}"
            yield error(rule, message, at, f"choose the {known.cpus.architecture} image")
    if found.state != "available":
        yield error(rule, f"{found.ami} is {found.state}", at)
    if found.windows:
        yield error(rule, f"{found.ami} is a Windows image", at)
    if not found.ena:
        message = f"{found.ami} is not registered with ENA support: types of today have no other network"
        yield error(rule, message, at, "register it with --ena-support")
    if found.root_device and found.root_device != pool.root_device:
        message = f"the root of {found.ami} is {found.root_device}, and the pool's disk is {pool.root_device}"
        yield error(rule, message, (*path, "root_device"), f"write root_device: {found.root_device}")
    if found.root_gib is not None and found.root_gib > pool.root_volume_gib:
        message = f"{found.ami} needs {found.root_gib} GiB, and the root volume has {pool.root_volume_gib}"
        yield error(rule, message, (*path, "root_volume_gib"), f"write {found.root_gib} or more")
    if found.deprecated is not None and found.deprecated <= scene.now.date():
        own = Severity.WARNING
        message = f"{found.ami} ({found.name}) is deprecated since {found.deprecated}"
        yield Finding(rule, message, at, "landbridge lock --upgrade, or build a new one", own)
    if found.driver and pool.driver == "open" and "proprietary" in found.name.lower():
        yield warning(rule, f"{found.name} has the proprietary modules", (*path, "driver"), "choose the OSS image")
