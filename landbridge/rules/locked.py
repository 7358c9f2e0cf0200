"""Rules about the image lock: that it is there, and what it knows of each image."""

from collections.abc import Iterator

from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding, Severity
from landbridge.rules.images import IMAGES, named_images, written
from landbridge.rules.registry import file_rule


@file_rule
def image_not_locked(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """Every image that a pool names is in the lock, for the very parameter that the file names.

    Without it launches resolve "the newest": two nodes of one job may boot two drivers, and nobody changed anything.
    Source: docs/decisions/0017-image-lock.md; AWS Systems Manager User Guide, "Public parameters".
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    command = f"run landbridge lock -s {environment.name}, and commit what it writes"
    for name, source in environment.aws.images.items():
        path = (*IMAGES, name)
        found = locked.get(name)
        if found is None:
            message = f"{name} is not locked: each launch takes whatever {source.parameter} is that day"
            yield Finding("image-not-locked", message, path, command, Severity.WARNING)
        elif found.parameter != source.parameter:
            message = f"{name} is locked as {found.parameter}, not as {source.parameter}"
            yield Finding("image-not-locked", message, (*path, "parameter"), command)
        elif found.region != environment.region:
            message = f"{name} is locked in {found.region}; image ids are regional"
            yield Finding("image-not-locked", message, path, command, related=(("region",),))


@file_rule
def locked_image(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """What the lock knows of an image fits the pool: architecture, size of the root volume, root device.

    Source: EC2 DescribeImages, as `landbridge lock` has written it down; ParallelCluster RootVolumeSizeValidator.
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    for named in named_images(environment):
        found, pool = locked.get(named.name), named.owner.pool
        if found is None:
            continue
        image = (named.owner.at("image"),)
        if found.root_gib is not None and pool.root_volume_gib < found.root_gib:
            message = f"{named.name} needs {found.root_gib} GiB, and root_volume_gib is {pool.root_volume_gib}"
            path = named.owner.at("root_volume_gib")
            yield Finding("locked-image", message, path, f"write at least {found.root_gib}", related=image)
        if found.root_device != pool.root_device:
            message = f"{named.name} has its root at {found.root_device}, not at {pool.root_device}"
            path = named.owner.at("root_device") if written(named.owner, "root_device") else image[0]
            yield Finding("locked-image", message, path, f"write root_device: {found.root_device}", related=image)
        kind = named.owner.type
        if kind is not None and kind.cpus.architecture != found.architecture:
            message = f"{named.name} is for {found.architecture}, {pool.instance} is {kind.cpus.architecture}"
            related = (named.owner.at("instance"),)
            yield Finding("locked-image", message, image[0], "name an image for it", related=related)
