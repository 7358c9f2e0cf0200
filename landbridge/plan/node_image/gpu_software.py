"""Roles' variables for the software of GPU nodes in AWS, by the needs of the pools that boot an image. Pure.

The keys `landbridge_*` include roles in ansible/playbooks/tasks/gpu_image.yml; the others are variables of these roles.
"""

from collections.abc import Iterator
from typing import Any

from landbridge.catalog import InstanceType, Platform, generation, gpu_stack, gpus, instances, platforms
from landbridge.catalog.aws.images import PublicImage
from landbridge.catalog.hardware.node_software import node_software
from landbridge.catalog.hardware.published import published
from landbridge.catalog.slurm.sources import slurm_sources
from landbridge.environment import Environment, ImageBuild
from landbridge.plan.network.services.monitoring import cloud_exporters
from landbridge.plan.node_image.parent import driver_is_published, parent_image
from landbridge.plan.roles.nodes.dcgm_exporter import gpu_exporter_of_image
from landbridge.plan.roles.nodes.nvidia_container_toolkit import toolkit_packages
from landbridge.plan.slurm.packages import SERVICE_SYSTEM, slurm_packages

#: Folder of Open MPI that the EFA installer creates.
_OPEN_MPI = "/opt/amazon/openmpi"
#: Folder of CUDA in AWS's Deep Learning AMIs, with NCCL in it. Source: DLAMI release notes, base OSS driver GPU AMI.
_CUDA = "/usr/local/cuda"


def gpu_image_variables(environment: Environment, name: str, build: ImageBuild) -> dict[str, Any]:
    """Return the variables of an image: driver, fabric, DCGM, containers, EFA, GDRCopy, tests, Lustre, time.

    Only software that is published for the parent image's operating system is requested; rules report the rest.
    """
    parent = parent_image(environment, build)
    system = parent.os if parent is not None else SERVICE_SYSTEM
    kinds = list(_kinds(environment, name))
    variables = _time() | _slurm(environment, system) | _lustre(environment, system)
    architecture = kinds[0].cpus.architecture if kinds else "x86_64"
    products = {key for key, product in published().products.items() if product.is_published(system, architecture)}
    has_efa = "efa" in products and any(_has_efa(environment, name, kind) for kind in kinds)
    if has_efa:
        variables["landbridge_efa"] = True
    if not any(kind.accelerators is not None and kind.accelerators.kind == "gpu" for kind in kinds):
        return variables
    if not driver_is_published(parent, system, architecture):
        return variables
    variables |= _driver(kinds, parent)
    if "dcgm" in products:
        variables |= {"landbridge_dcgm": True, "dcgm_repository": bool(variables["landbridge_driver_provided"])}
        if "dcgm" in cloud_exporters(environment):
            variables |= gpu_exporter_of_image()
    variables["landbridge_container_toolkit"] = True
    variables["nvidia_container_toolkit_packages"] = toolkit_packages(environment.containers.engines)
    if has_efa and "gdrcopy" in products:
        variables["landbridge_gdrcopy"] = True
    if parent is not None and "cuda" in parent.software:
        variables |= {"landbridge_nccl_tests": True, "nccl_tests_cuda": _CUDA, "nccl_tests_nccl": _CUDA}
        variables["nccl_tests_mpi"] = _OPEN_MPI if has_efa else ""
    return variables


def _kinds(environment: Environment, name: str) -> Iterator[InstanceType]:
    """Yield the known instance types of the pools that boot the image, with the types of single capacities."""
    for pool in environment.aws.pools:
        if pool.image == name:
            named = [pool.instance, *(getattr(capacity, "instance", None) for capacity in pool.capacity)]
            yield from (kind for instance in dict.fromkeys(named) if (kind := instances().get(instance or "")))


def _has_efa(environment: Environment, name: str, kind: InstanceType) -> bool:
    wanted = any(pool.image == name and pool.efa is not False for pool in environment.aws.pools)
    return wanted and any("efa" in interface for card in kind.cards for interface in card.types)


def _driver(kinds: list[InstanceType], parent: PublicImage | None) -> dict[str, Any]:
    """Return the variables of nvidia_driver and nvidia_fabric: the parent's driver is kept, another parent gets one."""
    provided = parent is not None and parent.driver in ("open", "proprietary")
    branch = gpu_stack().branch
    boards = [board for kind in kinds if (board := _board(kind)) is not None]
    fabric, nvlink5 = any(board.fabric_manager for board in boards), any(board.subnet_manager for board in boards)
    imex = any(board.imex for board in boards)
    parts = {"fabric_manager": fabric, "switch_query": fabric, "switch_counters": nvlink5, "imex": imex}
    return {
        "landbridge_nvidia_driver": True,
        "landbridge_driver_provided": provided,
        "landbridge_nvidia_fabric": fabric or imex,
        # The parent's driver was tested with the image: any branch is right.
        "nvidia_driver_branch": "" if provided else branch,
        "nvidia_driver_version": "" if provided else gpu_stack().branches[branch].release or "",
        "nvidia_driver_modules": _modules(kinds),
        "nvidia_driver_locked": [part for part, is_needed in parts.items() if is_needed],
        "nvidia_driver_beside": ["subnet_manager"] if nvlink5 else [],
        "nvidia_fabric_manager": fabric,
        "nvidia_fabric_subnet_manager": nvlink5,
        "nvidia_fabric_imex": imex,
    }


def _modules(kinds: list[InstanceType]) -> str:
    names = {kind.accelerators.type for kind in kinds if kind.accelerators is not None}
    flavours = [generation(gpu).modules for gpu in gpus().values() if gpu.type in names]
    return "open" if all("open" in flavour for flavour in flavours) else "proprietary"


def _board(kind: InstanceType) -> Platform | None:
    """Return an on-prem platform with the same GPUs: it has the same NVSwitches."""
    if kind.accelerators is None:
        return None
    same = (
        platform
        for platform in platforms().values()
        if (platform.gpus.type, platform.gpus.count) == (kind.accelerators.type, kind.accelerators.count)
        and (platform.fabric_manager or platform.imex)
    )
    return next(same, None)


def _time() -> dict[str, Any]:
    facts = node_software().time
    return {"base_time_servers": [facts.server], "base_time_options": facts.options}


def _slurm(environment: Environment, system: str) -> dict[str, Any]:
    """Return Slurm's packages from the suite of the parent's operating system, which the site's own repository has."""
    if environment.scheduler.slurm.packaging != "schedmd" or system not in slurm_sources().systems:
        return {}
    return slurm_packages(environment, system)


def _lustre(environment: Environment, system: str) -> dict[str, Any]:
    """Return AWS's Lustre client, unless the file names another source or nothing in AWS is Lustre."""
    has_lustre = environment.storage.lustre_in_aws is not None
    is_published = system in published().products["fsx_lustre"].systems
    if not has_lustre or not is_published or environment.storage.lustre_client.known:
        return {}
    facts = node_software().fsx_lustre
    repository = {
        "uris": facts.address,
        "suites": slurm_sources().systems[system].codename,
        "components": "main",
        "key_url": facts.key,
    }
    return {
        "landbridge_cloud_lustre": {
            "lustre_client_packages": list(facts.packages),
            "lustre_client_repository": repository,
        }
    }
