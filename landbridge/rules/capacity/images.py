"""Rules about the images that pools boot, and the lock that says what their names stand for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.aws.images import architecture_of, image_behind, images, root_device
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity, did_you_mean, error, info, warning
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
        """Where the parameter is written."""
        return (*IMAGES, self.name, "parameter")


@rule
def unknown_image(environment: Environment) -> Iterator[Finding]:
    """A pool's image is an id, or a name of aws.images.

    Source: Landbridge (landbridge/plan/aws/images.py).
    """
    named = environment.aws.images
    for owner in pools(environment):
        image = owner.pool.image
        if image is None or image in named or re.fullmatch(r"ami-[0-9a-f]{8,17}", image):
            continue
        public = next((one for name, one in images().items() if name.replace(".", "-") == image), None)
        fix = suggestion(image, named)
        if public is not None and "did you mean" not in fix:
            architecture = owner.type.cpus.architecture if owner.type is not None else "x86_64"
            kubernetes = environment.aws.kubernetes
            parameter = public.parameter_for(architecture, kubernetes.version if kubernetes else None)
            fix = f"add it under aws.images: {{{image}: {{parameter: {parameter}}}}}" if parameter else fix
        message = f'there is no image "{image}" in aws.images'
        yield error(owner.at("image"), message, fix=fix, related=(IMAGES,))


@rule
def unused_image(environment: Environment) -> Iterator[Finding]:
    """An image that is named boots some pool; one that does not is often a misspelt name elsewhere.

    Source: Landbridge.
    """
    used = {owner.pool.image for owner in pools(environment)}
    used |= {source.build.parent for source in environment.aws.images.values() if source.build is not None}
    used |= {environment.aws.services.image} if environment.aws.services is not None else set()
    for name in environment.aws.images:
        if name not in used:
            message = f"no pool boots the image {name}"
            fix = "write image: in a pool, or remove it"
            yield warning((*IMAGES, name), message, fix=fix, related=(("aws", "pools"),))


@rule
def image_parameter(environment: Environment) -> Iterator[Finding]:
    """A parameter is the name of one that holds an image's id: not a folder, a version, or a placeholder.

    What AWS publishes beside the ids (versions, JSON documents) resolves without complaint, and the launch is refused.
    Source: AWS Systems Manager User Guide, "Public parameters"; the services' own pages (landbridge/catalog/images.yaml).
    """
    for name, source in environment.aws.images.items():
        parameter, path = source.parameter, (*IMAGES, name, "parameter")
        if parameter is None or not parameter.startswith("/aws/service/") or image_behind(parameter) is not None:
            continue
        last = parameter.rstrip("/").rpartition("/")[2]
        if parameter.endswith("/"):
            yield error(path, f"{parameter} is a folder", fix="name the parameter in it")
        elif last in ("release_version", "image_version", "image_name", "image_description"):
            fix = f"write {parameter.removesuffix(last)}image_id"
            yield error(path, f"{last} holds no image's id", fix=fix)
        elif last in ("latest", "recommended", "current", "stable"):
            fix = f"write {parameter}/{'ami-id' if '/deeplearning/' in parameter else 'image_id'}"
            yield error(path, f"{parameter} holds a document or nothing, not an image's id", fix=fix)
        elif "/deeplearning/ami/" in parameter and last != "ami-id":
            yield error(path, f"{last} holds no image's id", fix="its name ends in /latest/ami-id")
        elif last not in _VALUES and not _bare(parameter):
            message = f"{parameter} is not a parameter that is known to hold an image's id"
            known = [one.parameter.format(arch="x86_64", kubernetes="1.34") for one in images().values()]
            near = did_you_mean(parameter, known)
            fix = f"is {near} meant?" if near else "`landbridge lock` tells whether AWS has it"
            yield warning(path, message, fix=fix)


@rule
def image_architecture(environment: Environment) -> Iterator[Finding]:
    """An image is for the processors of its pool's types, and what this cluster builds is for x86_64.

    EC2 refuses an arm64 type with an x86_64 image, and the other way round.
    Source: EC2 RunInstances; ParallelCluster InstanceTypeBaseAMICompatibleValidator.
    """
    for owner in pools(environment):
        if owner.type is None:
            continue
        wanted, path = owner.type.cpus.architecture, owner.at("image")
        related: tuple[DataPath, ...] = (owner.at("instance"),)
        if owner.pool.image is None and wanted != "x86_64":
            message = f"{owner.pool.instance} is {wanted}; the image must have been built on such a machine"
            fix = "run node_image.yml on one, or name an image"
            yield info(owner.at("instance"), message, fix=fix)
            continue
        source = environment.aws.images.get(owner.pool.image or "")
        found = architecture_of(source.parameter) if source is not None and source.parameter is not None else None
        if found is not None and found != wanted:
            message = f"{owner.pool.image} is an image for {found}, {owner.pool.instance} is {wanted}"
            fix = f"name the parameter for {wanted}"
            yield error(path, message, fix=fix, related=(*related, (*IMAGES, owner.pool.image or "")))


@rule
def image_driver(environment: Environment) -> Iterator[Finding]:
    """An image brings the driver that the pool's accelerators work with, in the flavour that the pool asks for.

    Without it the node boots, has no GPUs, and Slurm drains it; the open modules know no V100, the proprietary no Blackwell.
    Source: DLAMI developer guide, release notes; NVIDIA open-gpu-kernel-modules README (landbridge/catalog/images.yaml).
    """
    for named in named_images(environment):
        owner, flavour = named.owner, _flavour(named.parameter)
        if owner.type is None or flavour is None:
            continue
        for at in pool_capacities(owner):
            if at.type is None or at.type.accelerators is None:
                continue
            what = at.type.accelerators.type.upper()
            path, related = owner.at("image"), (at.instance_path, named.path, owner.at("driver"))
            if flavour == "none":
                message = f"{named.name} has no driver for the {what} of {at.instance}"
                fix = "name an image that has one, such as dlami-base-ubuntu-24.04"
                yield warning(path, message, fix=fix, related=related)
            elif flavour not in at.type.driver:
                message = f"{named.name} has {_called(flavour)}, which do not work with the {what} of {at.instance}"
                works = " or ".join(_called(one) for one in at.type.driver)
                yield error(path, message, fix=f"name an image with {works}", related=related)
            elif owner.pool.driver not in ("auto", flavour):
                message = f"{named.name} has {_called(flavour)}, and the pool asks for driver: {owner.pool.driver}"
                yield error(path, message, fix="remove driver, or name another image", related=related)
            else:
                continue
            break


@rule
def image_without_slurm(environment: Environment) -> Iterator[Finding]:
    """A pool of Slurm nodes boots an image with slurmd and this cluster's node software; AWS's own images have neither.

    Such a node starts, is billed, never registers, and is ended after resume_timeout; then the next one starts.
    Source: Landbridge (ansible/playbooks/node_image.yml).
    """
    kubernetes = environment.aws.kubernetes
    joined = kubernetes.pools if kubernetes is not None else ()
    for named in named_images(environment):
        if named.parameter.startswith("/aws/service/") and named.owner.pool.name not in joined:
            message = f"{named.name} is an image of AWS's own: it has no slurmd, so its nodes never join the cluster"
            fix = "boot one that is built with your own roles: aws.images: {node: {build: {}}}"
            related = (named.path,)
            path = named.owner.at("image")
            yield warning(path, message, fix=fix, related=related)


@rule
def image_kubernetes(environment: Environment) -> Iterator[Finding]:
    """The image of a pool that joins Kubernetes is of the cluster's version, and made for EKS.

    Kubelets newer than the API server are not supported; older ones by at most three versions.
    Source: Kubernetes version skew policy; EKS User Guide, "Retrieve recommended AMI IDs".
    """
    kubernetes = environment.aws.kubernetes
    if kubernetes is None:
        return
    for named in named_images(environment):
        if named.owner.pool.name not in kubernetes.pools:
            continue
        found = re.search(r"/(?:optimized-ami/|aws-k8s-)(1\.\d+)", named.parameter)
        related: tuple[DataPath, ...] = (named.path, ("aws", "kubernetes", "version"))
        if found is not None and found[1] != kubernetes.version:
            newer = int(found[1][2:]) > int(kubernetes.version[2:])
            message = f"{named.name} is for Kubernetes {found[1]}, the cluster is {kubernetes.version}"
            severity = Severity.ERROR if newer else Severity.WARNING
            fix = f"name the parameter of {kubernetes.version}"
            yield Finding("image-kubernetes", message, named.owner.at("image"), fix, severity, related)


@rule
def image_root_device(environment: Environment) -> Iterator[Finding]:
    """root_device is the image's own root device: another name gives the node a second, empty volume.

    The root volume then keeps the image's size and is not the encrypted one that was asked for.
    Source: EC2 User Guide, "Device names for volumes": /dev/xvda on Amazon Linux and Debian, /dev/sda1 on Ubuntu.
    """
    for named in named_images(environment):
        wanted = root_device(named.parameter)
        if wanted is not None and named.owner.pool.root_device != wanted:
            message = f"{named.name} has its root at {wanted}, not at {named.owner.pool.root_device}"
            path = named.owner.at("root_device") if written(named.owner, "root_device") else named.owner.at("image")
            fix = f"write root_device: {wanted}"
            yield error(path, message, fix=fix, related=(named.path, named.owner.at("image")))


def booted_images(environment: Environment) -> Iterator[tuple[PoolAt, str]]:
    """Every pool that boots an image of aws.images, and the image's name."""
    for owner in pools(environment):
        if owner.pool.image in environment.aws.images:
            yield owner, owner.pool.image or ""


def named_images(environment: Environment) -> Iterator[PoolImage]:
    """Every pool that boots an image that a parameter of aws.images names."""
    for owner in pools(environment):
        source = environment.aws.images.get(owner.pool.image or "")
        if source is not None and source.parameter is not None:
            yield PoolImage(owner, owner.pool.image or "", source.parameter)


def _flavour(parameter: str) -> str | None:
    """The modules an image has: open, proprietary, neuron or none; None where it is not known."""
    known = image_behind(parameter)
    if known is not None:
        return known.driver or "none"
    if not parameter.startswith("/aws/service/"):
        return None
    words = {"oss-nvidia": "open", "proprietary-nvidia": "proprietary", "neuron": "neuron", "canonical": "none"}
    return next((flavour for word, flavour in words.items() if word in parameter), None)


def _bare(parameter: str) -> bool:
    """Publishers that end their parameters otherwise."""
    return any(
        part in parameter for part in ("/debian/", "/ami-amazon-linux-latest/", "/ecs/", "/canonical/", "/marketplace/")
    )


def _called(flavour: str) -> str:
    return "Neuron's modules" if flavour == "neuron" else f"NVIDIA's {flavour} modules"


def written(owner: PoolAt, key: str) -> bool:
    """Whether the file has this key of the pool."""
    return key in owner.pool.model_fields_set
