"""Container runtimes of jobs: variables of the roles podman, apptainer and enroot_pyxis, and slurmd's SPANK plugins."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.onprem.containers import PackageSource

#: Where images are unpacked on a node without a disk for that.
FOLDER = "/var/lib/landbridge/containers"
#: Where the Debian package of pyxis puts its plugin. Source: NVIDIA/pyxis debian/rules.
PLUGIN = "/usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so"
#: What enroot keeps in memory while a container runs.
RUNTIME = "/run/enroot"
#: What podman keeps in memory: it remembers the place, so that it is none of a job's folders.
MEMORY = "/run/landbridge/users"
#: Numbers of users inside one user's containers. Source: login.defs(5), SUB_UID_COUNT; images use numbers up to 65534.
SUBIDS_PER_USER = 65_536
# Above what useradd gives by itself for the first users, and low enough that every user's numbers are below 2^32.
_FIRST, _USERS = 2**19, 65_000


def subid(uid: int) -> int:
    """Return the first subordinate id of a user: derived from the uid, so that every node of both sites has the same.

    Two uids that are a multiple of 65,000 apart have the same; a rule says so.
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
        variables |= {"enroot_pyxis_plugin": PLUGIN, "enroot_pyxis_images": dict(settings.images)}
    for engine, role in (("apptainer", "apptainer"), ("enroot", "enroot_pyxis")):
        if engine in settings.engines and settings.packages is not None:
            variables |= {f"{role}_{key}": value for key, value in _repository(settings.packages).items()}
    return variables | _where(environment, settings.folder or FOLDER)


def plugstack(environment: Environment) -> str | None:
    """Return plugstack.conf without its header; None without a plugin. Controllers send it to every host.

    The plugin is named outright, because a wildcard takes in whatever lies there, and required: without it a job that asks for a
    container would run beside one. Source: spank(8); aws/aws-parallelcluster#6459.
    """
    return f"required {PLUGIN} container_scope=job\n" if "enroot" in environment.containers.engines else None


def _repository(source: PackageSource) -> dict[str, Any]:
    where = {"uris": source.uris, "suites": source.suites}
    if source.components:
        where["components"] = source.components
    return {"repository": where, "repository_key": source.key}


def container_folder(environment: Environment, host: str) -> dict[str, Any]:
    """Return the variables that differ on one node: images are on its local scratch disk if it has one."""
    if environment.containers.folder is None:
        for group in environment.node_groups:
            if group.local_scratch and host in hostlist.expand(group.hosts):
                return _where(environment, f"{group.local_scratch.rstrip('/')}/containers")
    return {}


def _where(environment: Environment, folder: str) -> dict[str, Any]:
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
