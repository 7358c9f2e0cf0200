"""Container runtimes of jobs: variables of the roles podman, apptainer and enroot_pyxis, and slurmd's SPANK plugins."""

from typing import Any

from landbridge import hostlist
from landbridge.catalog import instances, platforms
from landbridge.environment import Environment
from landbridge.environment.onprem.containers import PackageSource
from landbridge.plan.site.site_tls import TRUST_FOLDER, has_site_tls

#: Folder of unpacked images on a node without a local scratch disk.
FOLDER = "/var/lib/landbridge/containers"
#: Path of pyxis's plugin in its Debian package for x86_64. Source: NVIDIA/pyxis debian/rules (DEB_HOST_MULTIARCH).
PLUGIN = "/usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so"
#: Link to the plugin that the role enroot_pyxis creates: one path on processors of every architecture.
PLUGIN_LINK = "/opt/landbridge/lib/spank_pyxis.so"
#: Folder in memory (tmpfs) of enroot's running containers.
RUNTIME = "/run/enroot"
#: Folder in memory (tmpfs) of podman's state, outside the job's folders because podman stores the path.
MEMORY = "/run/landbridge/users"
#: Number of subordinate ids of a user, for users in its containers. Source: login.defs(5), SUB_UID_COUNT; images use
#: ids up to 65534.
SUBIDS_PER_USER = 65_536
# First subordinate id, above useradd's default ranges, and number of users: all ids are below 2^32.
_FIRST, _USERS = 2**19, 65_000


def subid(uid: int) -> int:
    """Return the first subordinate id of a user: derived from the uid, so that every node of both sites has the same.

    Two uids whose difference is a multiple of 65,000 have the same; a rule reports them.
    """
    return _FIRST + uid % _USERS * SUBIDS_PER_USER


def container_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of every node, in AWS too."""
    settings = environment.containers
    variables: dict[str, Any] = {"landbridge_container_engines": list(settings.engines)}
    if "podman" in settings.engines:
        variables |= {
            "podman_users": [
                {"name": user.name, "uid": user.uid, "subid": subid(user.uid)} for user in environment.users
            ],
            "podman_subids": SUBIDS_PER_USER,
            "podman_mirrors": [
                {
                    "registry": registry,
                    "location": mirror.location,
                    "insecure": mirror.insecure,
                    "fallback": mirror.fallback,
                }
                for registry, mirror in settings.mirrors.items()
            ],
            "podman_images": dict(settings.images),
        }
    if "enroot" in settings.engines:
        variables |= {"enroot_pyxis_link": PLUGIN_LINK, "enroot_pyxis_images": dict(settings.images)}
    if has_site_tls(environment):
        roles = {"podman": "podman", "apptainer": "apptainer", "enroot": "enroot_pyxis"}
        variables |= {f"{roles[engine]}_read_only": [TRUST_FOLDER] for engine in settings.engines}
    for engine, role in (("apptainer", "apptainer"), ("enroot", "enroot_pyxis")):
        if engine in settings.engines and settings.packages is not None:
            variables |= {f"{role}_{key}": value for key, value in _repository(settings.packages).items()}
    return variables | _folder_variables(environment, settings.folder or FOLDER)


def plugstack(environment: Environment) -> str | None:
    """Return plugstack.conf without its header; None without a plugin. Controllers send it to every host.

    The plugin has its full path, because a wildcard would load every plugin in the folder, and it is required: without
    it a job that requests a container would run outside of it. The package's path contains the architecture: with nodes on
    Arm it is the link's. Source: spank(8); aws/aws-parallelcluster#6459.
    """
    if "enroot" not in environment.containers.engines:
        return None
    path = PLUGIN if _architectures(environment) <= {"x86_64"} else PLUGIN_LINK
    return f"required {path} container_scope=job\n"


def _architectures(environment: Environment) -> set[str]:
    """Return the processor architectures of all nodes, on-prem and in AWS, as far as the catalogue knows them."""
    known = {
        platforms()[group.platform].cpus.architecture
        for group in environment.node_groups
        if group.platform in platforms()
    }
    return known | {
        instances()[pool.instance].cpus.architecture for pool in environment.aws.pools if pool.instance in instances()
    }


def _repository(source: PackageSource) -> dict[str, Any]:
    repository = {"uris": source.uris, "suites": source.suites}
    if source.components:
        repository["components"] = source.components
    return {"repository": repository, "repository_key": source.key}


def container_folder(environment: Environment, host: str) -> dict[str, Any]:
    """Return the variables that differ on one node: images are on its local scratch disk if it has one."""
    if environment.containers.folder is None:
        for group in environment.node_groups:
            if group.local_scratch and host in hostlist.expand(group.hosts):
                return _folder_variables(environment, f"{group.local_scratch.rstrip('/')}/containers")
    return {}


def _folder_variables(environment: Environment, folder: str) -> dict[str, Any]:
    """Return the folders of the runtimes; a job's prolog creates a folder for its user in each."""
    engines, variables = environment.containers.engines, dict[str, Any]()
    if not engines:
        return {}
    folders = []
    if "podman" in engines:
        variables["podman_folder"] = f"{folder}/podman"
        folders.append(f"{folder}/podman")
    if "apptainer" in engines:
        variables["apptainer_folder"] = f"{folder}/apptainer"
        folders.append(f"{folder}/apptainer")
    if "enroot" in engines:
        variables |= {"enroot_pyxis_folder": f"{folder}/enroot", "enroot_pyxis_runtime": RUNTIME}
        folders += [f"{folder}/enroot", RUNTIME]
    if "podman" in engines:
        variables["slurm_job_environment_runtime"] = MEMORY
    return {**variables, "slurm_job_environment_user_folders": folders}
