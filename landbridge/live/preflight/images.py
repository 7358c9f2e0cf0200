"""Checks of images: they exist and fit the instance types and disks."""

from collections.abc import Iterator

from landbridge.catalog import instances
from landbridge.environment import PoolSettings
from landbridge.findings import DataPath, Finding, Severity
from landbridge.live import images
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.plan.aws.images import ImageChoice, pool_image, pool_root_device
from landbridge.plan.instances.capacity import fallbacks


def choice(scene: Scene, pool: PoolSettings) -> ImageChoice:
    """Return the pool's image from the plan, with the lock's values."""
    return pool_image(scene.environment, pool, scene.lock.amis if scene.lock is not None else None)


def ami_of(scene: Scene, pool: PoolSettings) -> str | None:
    """Return the AMI id that the pool would boot now; None if it is not known. Raises AwsRefusal."""
    chosen = choice(scene, pool)
    if chosen.ami is not None or chosen.parameter is None:
        return chosen.ami
    named_images, _ = images.parameters(scene.aws, [chosen.parameter])
    return named_images[chosen.parameter].ami if chosen.parameter in named_images else None


@check("image parameters", "ssm:GetParameters")
def image_parameter(scene: Scene) -> Iterator[Finding]:
    """Every SSM parameter of an image exists in the region and contains an image id.

    Source: Systems Manager User Guide, "Calling AMI public parameters"; DLAMI and EKS user guides for the names.
    """
    sources = {
        name: source.parameter for name, source in scene.environment.aws.images.items() if source.parameter is not None
    }
    if not sources:
        return
    _, missing = images.parameters(scene.aws, sources.values())
    for name, parameter in sources.items():
        if parameter in missing:
            message = f"{scene.environment.region} has no image under the parameter {parameter}"
            yield error("live-image-parameter", message, ("aws", "images", name, "parameter"))


@check("images that are built", "ec2:DescribeImages", "ec2:DescribeSecurityGroups")
def image_built(scene: Scene) -> Iterator[Finding]:
    """Every image with `build` that a pool boots has been built: until then no node of the pool can start.

    Before the first `landbridge up` there is no pipeline that could build it: then it is a warning.
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
            stack = f"-s {scene.environment.name}"
            fix = f"after landbridge up: `landbridge image build {name} {stack}`, then `landbridge lock --upgrade {stack}`"
            # The pools' groups exist since the first `up`, in an existing VPC too.
            exists = bool(scene.aws.all("ec2", "describe_security_groups", "SecurityGroups", Filters=scene.mine()))
            finding = error if exists else warning
            yield finding("live-image-built", message, ("aws", "images", name, "build"), fix)


@check("images", "ec2:DescribeImages", "ssm:GetParameters")
def image(scene: Scene) -> Iterator[Finding]:
    """A pool's image exists, is built for the pool's type, and fits its root volume and root device.

    With a disk smaller than the image's snapshot every launch fails; with another device name than the image's root,
    EC2 adds an empty disk and keeps a small root volume.
    Source: EC2 API reference, DescribeImages; EC2 User Guide, "Block device mappings".
    """
    for index, pool in enumerate(scene.environment.aws.pools):
        path: DataPath = ("aws", "pools", index)
        ami = ami_of(scene, pool)
        if ami is None:
            continue
        described = images.image(scene.aws, ami)
        if described is None:
            fix = "share it with this account, or copy it into the region"
            if choice(scene, pool).kind == "named":
                fix = "landbridge lock --upgrade"
            message = f"{ami} does not exist in {scene.environment.region} for this account"
            yield error("live-image", message, (*path, "image"), fix)
            continue
        yield from _fits(scene, pool, path, described)


def _fits(scene: Scene, pool: PoolSettings, path: DataPath, described: images.DescribedImage) -> Iterator[Finding]:
    rule, at = "live-image", (*path, "image")
    for kind in dict.fromkeys(fallback.instance for fallback in fallbacks(pool, scene.environment.region)):
        known = instances().get(kind)
        if known is not None and described.architecture != known.cpus.architecture:
            message = f"{described.ami} is built for {described.architecture}, and {kind} is {known.cpus.architecture}"
            yield error(rule, message, at, f"choose the {known.cpus.architecture} image")
    if described.state != "available":
        yield error(rule, f"{described.ami} is {described.state}", at)
    if described.windows:
        yield error(rule, f"{described.ami} is a Windows image", at)
    if not described.ena:
        message = f"{described.ami} is not registered with ENA support: current instance types have no other network"
        yield error(rule, message, at, "register it with --ena-support")
    device = pool_root_device(scene.environment, pool)
    if described.root_device and described.root_device != device:
        message = f"the root of {described.ami} is {described.root_device}, and the pool's disk is {device}"
        yield error(rule, message, (*path, "root_device"), f"write root_device: {described.root_device}")
    if described.root_gib is not None and described.root_gib > pool.root_volume_gib:
        message = f"{described.ami} needs {described.root_gib} GiB, and the root volume has {pool.root_volume_gib}"
        yield error(rule, message, (*path, "root_volume_gib"), f"write {described.root_gib} or more")
    if described.deprecated is not None and described.deprecated <= scene.now.date():
        severity = Severity.WARNING
        message = f"{described.ami} ({described.name}) is deprecated since {described.deprecated}"
        yield Finding(rule, message, at, "landbridge lock --upgrade, or build a new one", severity)
    if described.driver and pool.driver == "open" and "proprietary" in described.name.lower():
        yield warning(rule, f"{described.name} has the proprietary modules", (*path, "driver"), "choose the OSS image")
