"""Image of the sandbox's cloud nodes with the software of GPU nodes, from the lab's package sources, behind a launch template.

Debian, Slurm, MPI's launcher and the training are real. NVIDIA's and AWS's packages are stand-ins with the real names,
options and dependencies (sandbox/hardware/packages); DKMS builds no modules, and a container has no EFA device.
"""

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.environment import Environment, ImageBuild, ImageSource
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.node_image.gpu_software import gpu_image_variables
from sandbox.demo.full import clients
from sandbox.hardware.install import KERNEL_LOG, LOADED_DRIVER
from sandbox.hardware.packages.installers import efa_sha256
from sandbox.hardware.packages.repository import publish
from sandbox.nspawn.from_environment import site_range
from sandbox.nspawn.machine import image, image_builder, nodes
from sandbox.nspawn.machine.image_builder import CLOUD_PLAYBOOK, BuildOptions
from sandbox.nspawn.site import operator_address
from tests.e2e.support.bursting import POOL, Bursting

FILES = Path(__file__).parents[1] / "files"
PROGRAMS = "/opt/landbridge/tests/bin"
#: A container has no EFA device, no huge pages, no cloud-init and no root volume of its own.
SKIP = ("efa-devices", "huge-pages", "cloud-init", "root-volume")
#: The device files that NVIDIA's modules create, and the release of the modules on disk as the loaded one.
TMPFILES = "c /dev/nvidiactl 0666 root root - 195:255\nc /dev/nvidia-uvm 0666 root root - 510:0\n"
#: Seconds that a node waits for its devices. They exist at boot here; the rest is this machine's load.
VERIFY_SECONDS = 30


@dataclass(frozen=True)
class GpuImage:
    """Environment whose pool boots the image, and the image's id as an AMI."""

    environment: Environment
    ami: str
    built: bool


def with_gpu_software(environment: Environment) -> Environment:
    """Return the environment with an image of its own for the pool, and with the checks of GPU software."""
    # NVIDIA publishes the default branch for Ubuntu; the lab's sources have it under its names for Debian too.
    source = ImageSource(build=ImageBuild(parent="ubuntu-24-04-x86-64"))
    (pool,) = (pool.model_copy(update={"image": "gpu"}) for pool in environment.aws.pools)
    checks = environment.aws.node_checks.model_copy(update={"skip": SKIP})
    aws = {"pools": (pool,), "node_checks": checks, "images": {**environment.aws.images, "gpu": source}}
    return environment.model_copy(update={"aws": environment.aws.model_copy(update=aws)})


def bake(bursting: Bursting, ami: str) -> GpuImage:
    """Build the image by the playbook of cloud nodes, unless it exists; its id is `ami`."""
    deployment = bursting.deployment
    environment = with_gpu_software(deployment.environment)
    build = environment.aws.images["gpu"].build
    assert build is not None
    packages, operator = publish(deployment.lab), operator_address(site_range(environment))
    debian, toolkit = (packages.address(operator, suite) for suite in ("debian13", "container-toolkit"))
    variables = {
        **gpu_image_variables(environment, "gpu", build),
        # NVIDIA has no package for Debian.
        "landbridge_gdrcopy": False,
        "node_verify_seconds": VERIFY_SECONDS,
        "nvidia_driver_mirror": debian,
        "dcgm_mirror": debian,
        "nvidia_container_toolkit_mirror": toolkit,
        "nvidia_container_toolkit_key_url": f"{toolkit}gpgkey",
        "efa_address": f"{debian.removesuffix('debian13/')}efa",
        "efa_sha256": efa_sha256(),
        # The parent has no CUDA: the builder's script makes a compiler.
        "landbridge_nccl_tests": True,
        "nccl_tests_tools": ["git", "make"],
        "nccl_tests_mpi": "/opt/amazon/openmpi",
        "nccl_tests_sources": _sources(deployment.lab.state / "nccl-sources"),
    }
    options = BuildOptions(
        variables,
        _script(packages.address(operator, "kernels")),
        platform="dgx-h100",
        tmpfiles=TMPFILES + KERNEL_LOG + LOADED_DRIVER,
    )
    built = image_builder.bake(deployment.lab, environment, ami, CLOUD_PLAYBOOK, options=options)
    bursting.cloud.control(images={ami: {"Name": "gpu"}})
    return GpuImage(environment, ami, built)


@contextmanager
def changed(bursting: Bursting, source: str, ami: str, command: str) -> Iterator[None]:
    """Make the image `ami` of another one in which a command has run, and remove it at the end."""
    lab, name = bursting.deployment.lab, "image-changer"
    image.remove(lab, ami)
    nodes.destroy(lab, name)
    try:
        nodes.create(lab, image_builder.machine(bursting.deployment.environment, name, source))
        nodes.boot(lab, name)
        nodes.wait_ssh(lab, [name])
        completed = nodes.exec(lab, name, [command])
        assert completed.returncode == 0, completed.stderr
        nodes.commit(lab, name, f"changed-{ami}", tags=[ami])
        bursting.cloud.control(images={ami: {"Name": "changed"}})
        nodes.destroy(lab, name)
        yield
    finally:
        nodes.destroy(lab, name)
        image.remove(lab, ami)


@contextmanager
def launch_templates(bursting: Bursting, environment: Environment, ami: str) -> Iterator[None]:
    """Run with copies of the pool's launch templates: with the image, and user data as the plan has it."""
    ec2 = clients(bursting.deployment, "ec2")
    original = {offering["key"]: offering for offering in bursting.offerings()}
    copies = {offering["launch_template_id"]: "" for offering in original.values()}
    for template in copies:
        (shown,) = ec2.describe_launch_templates(LaunchTemplateIds=[template])["LaunchTemplates"]
        (version,) = {
            row["launch_template_version"] for row in original.values() if row["launch_template_id"] == template
        }
        versions = ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=[str(version)])
        data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        created = ec2.create_launch_template(
            LaunchTemplateName=f"{shown['LaunchTemplateName']}-{ami}",
            LaunchTemplateData={**data, "ImageId": ami, "UserData": _user_data(environment, data["UserData"])},
            # The controller may launch from templates with its cluster's tags.
            TagSpecifications=[{"ResourceType": "launch-template", "Tags": shown["Tags"]}],
        )
        copies[template] = created["LaunchTemplate"]["LaunchTemplateId"]

    def use(content: dict[str, Any]) -> None:
        for offering in content["pools"][POOL]["offerings"]:
            offering["launch_template_id"] = copies[original[offering["key"]]["launch_template_id"]]
            offering["launch_template_version"] = "1"

    def restore(content: dict[str, Any]) -> None:
        for offering in content["pools"][POOL]["offerings"]:
            before = original[offering["key"]]
            offering |= {name: before[name] for name in ("launch_template_id", "launch_template_version")}

    bursting.configure(use)
    try:
        yield
    finally:
        bursting.configure(restore)
        for copy in copies.values():
            ec2.delete_launch_template(LaunchTemplateId=copy)


def _user_data(environment: Environment, original: str) -> str:
    """Return user data with the settings of the original, and expectations of the environment."""
    (pool,) = environment.aws.pools
    planned, present = pool_args(environment, pool), _pool_file(base64.b64decode(original).decode())
    content = {**json.loads(present["content"]), "verify": planned.expectations, "health": planned.health}
    file = {**present, "content": json.dumps(content, sort_keys=True)}
    return base64.b64encode(("#cloud-config\n" + json.dumps({"write_files": [file]})).encode()).decode()


def _pool_file(user_data: str) -> dict[str, Any]:
    (file,) = json.loads(user_data.partition("\n")[2])["write_files"]
    return dict(file)


def _sources(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the sources of the role nccl_tests on the builder: the commits are the same here and there."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    environ = {**os.environ, "FOLDER": str(folder), "PROGRAM": _encoded("all_reduce_perf")}
    script = FILES / "nccl_sources.sh"
    done = subprocess.run(["sh", script], env=environ, capture_output=True, text=True, check=True)
    nccl, nvbandwidth = done.stdout.split()
    return {
        "nccl_tests": {"address": "/srv/nccl", "version": "lab", "commit": nccl},
        "nvbandwidth": {"address": "/srv/nvbandwidth", "version": "lab", "commit": nvbandwidth},
    }


def _script(kernels: str) -> str:
    """Return the builder's script: with the files that it needs."""
    lines = [
        f"printf %s {_encoded('modinfo')} | base64 -d > /usr/local/sbin/modinfo",
        f"export KERNELS={kernels} FOLDER=/srv PROGRAM={_encoded('all_reduce_perf')}",
        (FILES / "gpu_builder.sh").read_text(),
        (FILES / "nccl_sources.sh").read_text(),
    ]
    return "\n".join(lines)


def _encoded(name: str) -> str:
    return base64.b64encode((FILES / name).read_bytes()).decode()
