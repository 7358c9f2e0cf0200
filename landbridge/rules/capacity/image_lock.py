"""Rules about the image lock: that it is there, and what it knows of each image."""

from collections.abc import Iterator

from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding, error, warning
from landbridge.rules.capacity.images import IMAGES, booted_images, written
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
        if found is None and source.build is not None:
            message = f"{name} has not been built, or not been locked since: no node can boot it"
            fix = f"landbridge up, landbridge image build {name} and, when it is ready, landbridge lock, with -s {environment.name}"
            yield warning(path, message, fix=fix)
        elif found is None:
            message = f"{name} is not locked: each launch takes whatever {source.parameter} is that day"
            yield warning(path, message, fix=command)
        elif found.parameter != source.parameter:
            message = f"{name} is locked as {_what(found.parameter)}, not as {_what(source.parameter)}"
            key = "build" if source.build is not None else "parameter"
            yield error((*path, key), message, fix=command)
        elif found.region != environment.region:
            message = f"{name} is locked in {found.region}; image ids are regional"
            yield error(path, message, fix=command, related=(("region",),))


@file_rule
def image_lock_mismatch(environment: Environment, loaded: Loaded) -> Iterator[Finding]:
    """What the lock knows of an image fits the pool: architecture, size of the root volume, root device.

    Source: EC2 DescribeImages, as `landbridge lock` has written it down; ParallelCluster RootVolumeSizeValidator.
    """
    locked = loaded.lock.images if loaded.lock is not None else {}
    for owner, name in booted_images(environment):
        found, pool = locked.get(name), owner.pool
        if found is None:
            continue
        image = (owner.at("image"),)
        if found.root_gib is not None and pool.root_volume_gib < found.root_gib:
            message = f"{name} needs {found.root_gib} GiB, and root_volume_gib is {pool.root_volume_gib}"
            path = owner.at("root_volume_gib")
            yield error(path, message, fix=f"write at least {found.root_gib}", related=image)
        if found.root_device != pool.root_device:
            message = f"{name} has its root at {found.root_device}, not at {pool.root_device}"
            path = owner.at("root_device") if written(owner, "root_device") else image[0]
            yield error(path, message, fix=f"write root_device: {found.root_device}", related=image)
        kind = owner.type
        if kind is not None and kind.cpus.architecture != found.architecture:
            message = f"{name} is for {found.architecture}, {pool.instance} is {kind.cpus.architecture}"
            related = (owner.at("instance"),)
            yield error(image[0], message, fix="name an image for it", related=related)


def _what(parameter: str | None) -> str:
    return parameter or "an image built here"
