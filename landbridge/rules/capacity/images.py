"""Rules about the images that pools boot."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.aws.images import architecture_of, image_behind, images, root_device
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.environment_paths import PoolAt, pool_capacities, pools, suggestion
from landbridge.rules.registry import rule

IMAGES: DataPath = ("aws", "images")
_VALUES = ("ami-id", "image_id")


@dataclass(frozen=True, slots=True)
class PoolImage:
    """A pool that boots an image of aws.images."""

    owner: PoolAt
    name: str
    parameter: str

    @property
    def path(self) -> DataPath:
        """Return the path of the parameter."""
        return (*IMAGES, self.name, "parameter")


@rule
def unknown_image(environment: Environment) -> Iterator[Finding]:
    """A pool's image is an id, or a name of aws.images.

    Source: Landbridge (landbridge/plan/aws/images.py).
    """
    images_of_file = environment.aws.images
    for owner in pools(environment):
        image = owner.pool.image
        if image is None or image in images_of_file or re.fullmatch(r"ami-[0-9a-f]{8,17}", image):
            continue
        public = next(
            (public_image for name, public_image in images().items() if name.replace(".", "-") == image), None
        )
        fix = suggestion(image, images_of_file)
        if public is not None and "did you mean" not in fix:
            architecture = owner.type.cpus.architecture if owner.type is not None else "x86_64"
            parameter = public.parameter_for(architecture)
            fix = f"add it under aws.images: {{{image}: {{parameter: {parameter}}}}}" if parameter else fix
        message = f'there is no image "{image}" in aws.images'
        yield error(owner.at("image"), message, fix=fix, related=(IMAGES,))


@rule(suppressible=False)
def pool_without_image(environment: Environment) -> Iterator[Finding]:
    """Every pool of Slurm nodes has an image.

    Without one its launch template refers to a parameter that does not exist: every launch fails.
    Source: EC2 API Reference, LaunchTemplate (ImageId); docs/explanation/node-image-contract.md.
    """
    built = next((name for name, source in environment.aws.images.items() if source.build is not None), None)
    for owner in pools(environment):
        if owner.pool.image is None:
            name = built or "node"
            message = f"the pool {owner.pool.name} has no image: no node of it can boot"
            declare = "" if built else " and, under aws, images: {node: {build: {}}}"
            commands = f"`landbridge image build {name} -s {environment.name}` and `landbridge lock --upgrade -s {environment.name}`"
            fix = f"write image: {name}{declare}; after landbridge up, run {commands}"
            yield error(owner.at("image"), message, fix=fix, related=(IMAGES,))


@rule
def unused_image(environment: Environment) -> Iterator[Finding]:
    """Every image of aws.images is used by a pool, a build or the services.

    Source: Landbridge.
    """
    used = {owner.pool.image for owner in pools(environment)}
    used |= {source.build.parent for source in environment.aws.images.values() if source.build is not None}
    used |= {environment.aws.services.image} if environment.aws.services is not None else set()
    for name in environment.aws.images:
        if name not in used:
            message = f"no pool boots the image {name}"
            fix = f"write image: {name} in a pool, or remove it"
            yield warning((*IMAGES, name), message, fix=fix, related=(("aws", "pools"),))


@rule
def image_parameter(environment: Environment) -> Iterator[Finding]:
    """An SSM parameter of an image contains an AMI id: not a path, a version or a document.

    Parameters with versions or JSON documents resolve without an error, and the launch is refused.
    Source: AWS Systems Manager User Guide, "Public parameters"; the services' own pages
    (landbridge/catalog/images.yaml).
    """
    for name, source in environment.aws.images.items():
        parameter, path = source.parameter, (*IMAGES, name, "parameter")
        if parameter is None or not parameter.startswith("/aws/service/") or image_behind(parameter) is not None:
            continue
        last = parameter.rstrip("/").rpartition("/")[2]
        if parameter.endswith("/"):
            yield error(path, f"{parameter} is a path, not a parameter", fix="write the full name of the parameter")
        elif last in ("release_version", "image_version", "image_name", "image_description"):
            fix = f"write {parameter.removesuffix(last)}image_id"
            yield error(path, f"the parameter {last} does not contain an AMI id", fix=fix)
        elif last in ("latest", "recommended", "current", "stable"):
            fix = f"write {parameter}/{'ami-id' if '/deeplearning/' in parameter else 'image_id'}"
            yield error(path, f"{parameter} contains a document or nothing, not an AMI id", fix=fix)
        elif "/deeplearning/ami/" in parameter and last != "ami-id":
            yield error(
                path, f"the parameter {last} does not contain an AMI id", fix="write a name that ends in /latest/ami-id"
            )
        elif last not in _VALUES and not _has_other_ending(parameter):
            message = f"{parameter} is not a known parameter with an AMI id"
            image_parameters = [image.parameter.format(arch="x86_64") for image in images().values()]
            near = did_you_mean(parameter, image_parameters)
            fix = f"did you mean {near}?" if near else "run `landbridge lock`, which queries AWS"
            yield warning(path, message, fix=fix)


@rule
def image_architecture(environment: Environment) -> Iterator[Finding]:
    """An image has the processor architecture of its pool's types.

    EC2 refuses an arm64 type with an x86_64 image, and an x86_64 type with an arm64 image.
    Source: EC2 RunInstances; ParallelCluster InstanceTypeBaseAMICompatibleValidator.
    """
    for owner in pools(environment):
        if owner.type is None:
            continue
        expected, path = owner.type.cpus.architecture, owner.at("image")
        related: tuple[DataPath, ...] = (owner.at("instance"),)
        source = environment.aws.images.get(owner.pool.image or "")
        actual = architecture_of(source.parameter) if source is not None and source.parameter is not None else None
        if actual is not None and actual != expected:
            message = f"the image {owner.pool.image} is for {actual}; {owner.pool.instance} is {expected}"
            fix = f"write the parameter for {expected}"
            yield error(path, message, fix=fix, related=(*related, (*IMAGES, owner.pool.image or "")))


@rule
def image_driver(environment: Environment) -> Iterator[Finding]:
    """An image contains a driver that supports the pool's accelerators, with the kernel modules in the pool's `driver`.

    Without it the node boots, has no GPUs, and Slurm drains it; the open modules do not support V100, the proprietary
    ones not Blackwell.
    Source: DLAMI developer guide, release notes; NVIDIA open-gpu-kernel-modules README
    (landbridge/catalog/images.yaml).
    """
    for pool_image in named_images(environment):
        owner, flavour = pool_image.owner, _flavour(pool_image.parameter)
        if owner.type is None or flavour is None:
            continue
        for at in pool_capacities(owner):
            if at.type is None or at.type.accelerators is None:
                continue
            accelerator = at.type.accelerators.type.upper()
            path, related = owner.at("image"), (at.instance_path, pool_image.path, owner.at("driver"))
            if flavour == "none":
                message = f"the image {pool_image.name} has no driver for the {accelerator} of {at.instance}"
                fix = "use an image with a driver, such as dlami-base-ubuntu-24.04"
                yield warning(path, message, fix=fix, related=related)
            elif flavour not in at.type.driver:
                message = f"the image {pool_image.name} has {_modules_text(flavour)}, which do not support the {accelerator} of {at.instance}"
                supported = " or ".join(_modules_text(modules) for modules in at.type.driver)
                yield error(path, message, fix=f"use an image with {supported}", related=related)
            elif owner.pool.driver not in ("auto", flavour):
                message = f"the image {pool_image.name} has {_modules_text(flavour)}, and the pool has driver: {owner.pool.driver}"
                yield error(path, message, fix="remove driver, or use another image", related=related)
            else:
                continue
            break


@rule
def image_without_slurm(environment: Environment) -> Iterator[Finding]:
    """A pool of Slurm nodes boots an image with slurmd: AWS's public images have none.

    Such a node starts, is billed, never registers, and is terminated after resume_timeout; then the next one starts.
    Source: Landbridge (ansible/playbooks/node_image.yml).
    """
    for pool_image in named_images(environment):
        if pool_image.parameter.startswith("/aws/service/"):
            message = f"the image {pool_image.name} is a public image of AWS without slurmd: its nodes never register"
            fix = "use an image that Landbridge builds: aws.images: {node: {build: {}}}"
            related = (pool_image.path,)
            path = pool_image.owner.at("image")
            yield warning(path, message, fix=fix, related=related)


@rule
def image_root_device(environment: Environment) -> Iterator[Finding]:
    """root_device is the root device of the image: another name adds a second, empty volume.

    The root volume then has the image's size, and is not encrypted as configured.
    Source: EC2 User Guide, "Device names for volumes": /dev/xvda on Amazon Linux and Debian, /dev/sda1 on Ubuntu.
    """
    for pool_image in named_images(environment):
        expected = root_device(pool_image.parameter)
        device = pool_image.owner.pool.root_device
        if expected is not None and device is not None and device != expected:
            message = f"the root device of the image {pool_image.name} is {expected}, not {device}"
            path = pool_image.owner.at("root_device")
            fix = f"write root_device: {expected}"
            yield error(path, message, fix=fix, related=(pool_image.path, pool_image.owner.at("image")))


def booted_images(environment: Environment) -> Iterator[tuple[PoolAt, str]]:
    """Yield every pool that boots an image of aws.images, and the image's name."""
    for owner in pools(environment):
        if owner.pool.image in environment.aws.images:
            yield owner, owner.pool.image or ""


def named_images(environment: Environment) -> Iterator[PoolImage]:
    """Yield every pool that boots an image of aws.images with a parameter."""
    for owner in pools(environment):
        source = environment.aws.images.get(owner.pool.image or "")
        if source is not None and source.parameter is not None:
            yield PoolImage(owner, owner.pool.image or "", source.parameter)


def _flavour(parameter: str) -> str | None:
    """Return the kernel modules of an image: open, proprietary, neuron or none; None if unknown."""
    public_image = image_behind(parameter)
    if public_image is not None:
        return public_image.driver or "none"
    if not parameter.startswith("/aws/service/"):
        return None
    words = {"oss-nvidia": "open", "proprietary-nvidia": "proprietary", "neuron": "neuron", "canonical": "none"}
    return next((flavour for word, flavour in words.items() if word in parameter), None)


def _has_other_ending(parameter: str) -> bool:
    """Return true for parameters of publishers that use other endings."""
    return any(
        part in parameter for part in ("/debian/", "/ami-amazon-linux-latest/", "/ecs/", "/canonical/", "/marketplace/")
    )


def _modules_text(flavour: str) -> str:
    others = {"neuron": "Neuron's modules", "grid": "NVIDIA's GRID driver"}
    return others.get(flavour, f"NVIDIA's {flavour} modules")


def written(owner: PoolAt, key: str) -> bool:
    """Return true if the file has this key of the pool."""
    return key in owner.pool.model_fields_set
