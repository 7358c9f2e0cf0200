"""Rules about the image lock."""

from collections.abc import Iterator

from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding, error, warning
from landbridge.plan.aws.images import pool_root_device
from landbridge.rules.capacity.images import IMAGES, booted_images, written
from landbridge.rules.registry import file_rule


@file_rule
def image_not_locked(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """Every image of aws.images is locked, for the parameter in the file.

    Without a lock, launches resolve the newest image: two nodes of one job may boot two drivers without any change.
    Source: docs/decisions/0017-image-lock.md; AWS Systems Manager User Guide, "Public parameters".
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    command = f"run landbridge lock -s {environment.name}, and commit the lock file"
    for name, source in environment.aws.images.items():
        path = (*IMAGES, name)
        locked_image = locked.get(name)
        if locked_image is None and source.build is not None:
            message = f"the image {name} has not been built, or not locked since: no node can boot it"
            fix = (
                f"run landbridge up, landbridge image build {name} and then landbridge lock, with -s {environment.name}"
            )
            yield warning(path, message, fix=fix)
        elif locked_image is None:
            message = f"the image {name} is not locked: each launch resolves {source.parameter} again"
            yield warning(path, message, fix=command)
        elif locked_image.parameter != source.parameter:
            message = f"the image {name} is locked as {_image_source_text(locked_image.parameter)}, not as {_image_source_text(source.parameter)}"
            key = "build" if source.build is not None else "parameter"
            yield error((*path, key), message, fix=command)
        elif locked_image.region != environment.region:
            message = f"the image {name} is locked in {locked_image.region}; image ids are regional"
            yield error(path, message, fix=command, related=(("region",),))


@file_rule
def image_lock_mismatch(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """The locked image matches the pool: architecture, size of the root volume, root device.

    Source: EC2 DescribeImages, as written by `landbridge lock`; ParallelCluster RootVolumeSizeValidator.
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    for owner, name in booted_images(environment):
        locked_image, pool = locked.get(name), owner.pool
        if locked_image is None:
            continue
        image = (owner.at("image"),)
        if locked_image.root_gib is not None and pool.root_volume_gib < locked_image.root_gib:
            message = f"the image {name} needs a root volume of {locked_image.root_gib} GiB; root_volume_gib is {pool.root_volume_gib}"
            path = owner.at("root_volume_gib")
            yield error(path, message, fix=f"write at least {locked_image.root_gib}", related=image)
        device = pool_root_device(environment, pool)
        if locked_image.root_device != device:
            message = f"the root device of the image {name} is {locked_image.root_device}, not {device}"
            path = owner.at("root_device") if written(owner, "root_device") else image[0]
            yield error(path, message, fix=f"write root_device: {locked_image.root_device}", related=image)
        kind = owner.type
        if kind is not None and kind.cpus.architecture != locked_image.architecture:
            message = (
                f"the image {name} is for {locked_image.architecture}; {pool.instance} is {kind.cpus.architecture}"
            )
            related = (owner.at("instance"),)
            yield error(image[0], message, fix=f"use an image for {kind.cpus.architecture}", related=related)


def _image_source_text(parameter: str | None) -> str:
    return parameter or "an image built here"
