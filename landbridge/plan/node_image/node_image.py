"""Node image built by EC2 Image Builder with the cluster's Ansible roles: parent image, package sources and IAM."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from landbridge.catalog.aws.image_builder import image_builder
from landbridge.catalog.aws.images import image_behind, root_device
from landbridge.environment import Environment, ImageBuild
from landbridge.findings import Finding, FindingsError
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.images import IMAGE, build_parent, copy_regions, image_sources
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.node_image.gpu_software import gpu_image_variables
from landbridge.plan.node_image.parent import build_architecture
from landbridge.plan.roles.nodes.node_verify import node_verify_variables
from landbridge.plan.zones import storage_zone

#: Hexadecimal digits of the digest in a version: 7 give a number below 2^30, Image Builder's limit.
_VERSION_DIGITS = 7
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class EgressRule(Args):
    """Egress rule of the builder's security group, which has no ingress rules."""

    key: str
    port: int
    why: str


class NodeImageArgs(Args):
    """Node image: recipe, build instance and retention.

    `parent` is an AMI id from the image lock, or `ssm:` and a parameter's name if it is not locked. `variables` are the
    Ansible roles' variables, `settings` those of the build itself; both are without secrets.
    """

    cluster: str
    image: str
    region: str
    #: Regions of its copies, accounts that may launch it, and KMS keys by region.
    copies: tuple[str, ...]
    share_with: tuple[str, ...]
    kms_keys: dict[str, str]
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
        inputs = [source, self.parent, self.root_device, self.disk_gib, self.timeout_minutes, self.region]
        digest = hashlib.sha256(json.dumps([*inputs, sorted(self.tags.items())]).encode()).hexdigest()
        return f"1.0.{int(digest[:_VERSION_DIGITS], 16)}"


def node_image_args(environment: Environment, locked: Mapping[str, str]) -> tuple[NodeImageArgs, ...]:
    """Plan every image of aws.images that Landbridge builds. `locked` are image ids by name. Raises FindingsError."""
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
        raise FindingsError([_finding(name, "parent", f'there is no image "{parent}" in aws.images')])
    if zone is None:
        raise FindingsError([_finding(name, "zone", "there is no zone for the build")])
    architecture = build_architecture(environment, build)
    return NodeImageArgs(
        cluster=environment.name,
        image=name,
        region=environment.region,
        copies=copy_regions(environment, name),
        share_with=build.share_with,
        kms_keys=dict(build.kms_keys),
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
        variables=_variables(environment, name, build),
        settings={
            "APT_PROXY": build.apt_proxy or "",
        },
        tags={**tags(environment), IMAGE: name},
    )


def _variables(environment: Environment, name: str, build: ImageBuild) -> dict[str, Any]:
    """Return the roles' variables of all hosts, with package sources for a build instance in AWS."""
    variables = {**inventory(environment)["all"]["vars"], **node_verify_variables(environment, name)}
    if build.python_find_links is not None:
        variables |= dict.fromkeys(
            ("python_runtime_find_links", "training_runtime_find_links"), build.python_find_links
        )
    public_image = image_behind(image_sources(environment).get(build_parent(build), ""))
    is_ubuntu = public_image is not None and public_image.os.startswith("ubuntu")
    # The site's own packages come from its own repository; Debian's from the mirror that a build instance reaches. Mirror and
    # keyring are Debian's.
    if variables["slurm_common_release"] and environment.scheduler.slurm.packaging == "debian" and not is_ubuntu:
        variables["slurm_common_repository"] = {"uris": build.apt_mirror, "components": "main", "signed_by": _KEYRING}
    return variables | gpu_image_variables(environment, name, build)


def _ports(build: ImageBuild) -> list[int]:
    """Return the ports of the package sources, each once."""
    ports = set()
    for url in (build.apt_mirror, build.apt_proxy, build.python_find_links, "http://deb.debian.org"):
        scheme, _, authority = (url or "").partition("://")
        port = authority.partition("/")[0].rpartition(":")[2]
        if scheme:
            ports.add(int(port) if port.isdigit() else 80 if scheme == "http" else 443)
    return sorted(ports)


def _finding(name: str, key: str, message: str) -> Finding:
    return Finding("node-image", message, ("aws", "images", name, "build", key))
