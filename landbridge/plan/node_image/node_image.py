"""Node image built by EC2 Image Builder with the cluster's Ansible roles: parent image, package sources and IAM."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from landbridge.catalog import instances
from landbridge.catalog.aws.image_builder import image_builder
from landbridge.catalog.aws.images import architecture_of, root_device
from landbridge.environment import Environment, ImageBuild
from landbridge.findings import Finding, FindingsError
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.data_hub import bucket_prefix
from landbridge.plan.aws.images import IMAGE, build_parent, image_sources
from landbridge.plan.zones import storage_zone

#: The digits of a version that follow from the digest: below 2^30, as Image Builder wants.
_VERSION_DIGITS = 7
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class EgressRule(Args):
    """Egress rule of the builder's security group, which has no ingress rules."""

    key: str
    port: int
    why: str


class NodeImageArgs(Args):
    """One image: its recipe, what it is built on, and how long it is kept.

    `parent` is an image's id as the lock has it, or `ssm:` and a parameter's name while it is not locked. `variables` are what the roles
    are given, `settings` what the build itself reads; no secret is among them.
    """

    cluster: str
    image: str
    region: str
    parent: str
    root_device: str
    disk_gib: int
    instance_types: tuple[str, ...]
    zone: str
    schedule: str | None
    keep: int
    keep_days: int
    timeout_minutes: int
    bucket_prefix: str
    log_days: int
    path: str
    permissions_boundary: str | None
    protect: bool
    egress: tuple[EgressRule, ...]
    variables: dict[str, Any]
    settings: dict[str, str]
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the image's AWS resources."""
        return f"{self.cluster}-{self.image}"

    @property
    def log_group(self) -> str:
        """CloudWatch log group of builds. Source: EC2 Image Builder user guide, "Image Builder logs in CloudWatch"."""
        return f"/aws/imagebuilder/{self.name}"

    def version(self, source: str) -> str:
        """Return the recipe's version. Recipes are immutable; the same inputs give the same version on every machine.

        `source` is the digest of roles and steps. Source of the limit: EC2 Image Builder API, CreateImageRecipe (semanticVersion).
        """
        ingredients = [source, self.parent, self.root_device, self.disk_gib, self.timeout_minutes, self.region]
        digest = hashlib.sha256(json.dumps([*ingredients, sorted(self.tags.items())]).encode()).hexdigest()
        return f"1.0.{int(digest[:_VERSION_DIGITS], 16)}"


def node_image_args(environment: Environment, locked: Mapping[str, str]) -> tuple[NodeImageArgs, ...]:
    """Plan every image of aws.images that is built here. `locked` are ids by name. Raises FindingsError."""
    return tuple(
        _image(environment, name, source.build, locked)
        for name, source in environment.aws.images.items()
        if source.build is not None
    )


def _image(environment: Environment, name: str, build: ImageBuild, locked: Mapping[str, str]) -> NodeImageArgs:
    facts, parent = image_builder(), build_parent(build)
    parameter = image_sources(environment).get(parent)
    zone = storage_zone(environment, build.zone)
    if parent not in locked and parameter is None:
        raise FindingsError([_wrong(name, "parent", f'there is no image "{parent}" in aws.images')])
    if zone is None:
        raise FindingsError([_wrong(name, "zone", "there is no zone that it could be built in")])
    architecture = build_architecture(environment, build)
    return NodeImageArgs(
        cluster=environment.name,
        image=name,
        region=environment.region,
        parent=locked.get(parent, f"ssm:{parameter}"),
        root_device=root_device(parameter or "") or facts.root_device,
        disk_gib=build.disk_gib,
        instance_types=(build.instance,) if build.instance else facts.instances[architecture],
        zone=zone,
        schedule=build.schedule,
        keep=build.keep,
        keep_days=build.keep_days,
        timeout_minutes=facts.timeout_minutes,
        bucket_prefix=bucket_prefix(environment.name, f"{name}-image"),
        log_days=environment.aws.logs.retention_days,
        path=environment.aws.iam.path,
        permissions_boundary=environment.aws.iam.permissions_boundary,
        protect=environment.aws.protect,
        egress=(
            EgressRule(key="https", port=443, why="AWS, packages and wheels"),
            *(EgressRule(key=str(port), port=port, why="packages and wheels") for port in _ports(build) if port != 443),
        ),
        variables=_variables(environment, build),
        settings={
            "SLURM_VERSION": environment.scheduler.slurm.version,
            "APT_PROXY": build.apt_proxy or "",
        },
        tags={**tags(environment), IMAGE: name},
    )


def build_architecture(environment: Environment, build: ImageBuild) -> str:
    """Return the CPU architecture of an image: the build instance's, else the parent image's."""
    kind = instances().get(build.instance or "")
    if kind is not None:
        return kind.cpus.architecture
    return architecture_of(image_sources(environment).get(build_parent(build), "")) or "x86_64"


def _variables(environment: Environment, build: ImageBuild) -> dict[str, Any]:
    """Return the roles' variables of on-prem hosts, with package sources for a build instance in AWS."""
    variables = dict(inventory(environment)["all"]["vars"])
    if build.python_find_links is not None:
        variables |= dict.fromkeys(
            ("python_runtime_find_links", "training_runtime_find_links"), build.python_find_links
        )
    if variables["slurm_common_release"]:
        variables["slurm_common_repository"] = {"uris": build.apt_mirror, "components": "main", "signed_by": _KEYRING}
    return variables


def _ports(build: ImageBuild) -> list[int]:
    """Return the ports of the package sources, each once."""
    ports = set()
    for url in (build.apt_mirror, build.apt_proxy, build.python_find_links, "http://deb.debian.org"):
        scheme, _, authority = (url or "").partition("://")
        port = authority.partition("/")[0].rpartition(":")[2]
        if scheme:
            ports.add(int(port) if port.isdigit() else 80 if scheme == "http" else 443)
    return sorted(ports)


def _wrong(name: str, key: str, message: str) -> Finding:
    return Finding("node-image", message, ("aws", "images", name, "build", key))
