"""Rules about containers of jobs."""

from collections.abc import Iterator

from landbridge.catalog.hardware.containers import container_facts
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.site.containers import subid
from landbridge.rules.registry import rule

_CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


@rule
def overlapping_subuids(environment: Environment) -> Iterator[Finding]:
    """Subordinate uid ranges of users do not overlap: otherwise users can write to each other's container files.

    Source: subuid(5); user_namespaces(7).
    """
    if "podman" not in environment.containers.engines:
        return
    seen: dict[int, str] = {}
    for index, user in enumerate(environment.users):
        other = seen.setdefault(subid(user.uid), user.name)
        if other != user.name:
            message = (
                f"{user.name} and {other} have the same subordinate uids: their uids differ by a multiple of 65,000"
            )
            yield error(("users", index, "uid"), message, fix="change one of the two uids")


@rule
def container_packages(environment: Environment) -> Iterator[Finding]:
    """A container engine that no distribution packages has a package repository.

    Source: NVIDIA/enroot doc/installation.md and NVIDIA/pyxis README.md: packages are files of a release, in no
    repository.
    """
    containers = environment.containers
    for index, engine in enumerate(containers.engines):
        if containers.packages is None and not container_facts().engines[engine].carried_by:
            message = f"no distribution packages {engine}, and containers.packages is missing"
            fix = "write a repository in containers.packages, or suppress this if the hosts' package sources have it"
            at = ("containers", "engines", index)
            yield warning(at, message, fix=fix, related=(("containers", "packages"),))


@rule
def mpi_kind(environment: Environment) -> Iterator[Finding]:
    """MpiDefault is a plugin of the Slurm packages: with any other, `srun` fails at once.

    Source: Slurm's MPI guide; DeepOps 942 and 1303; what Debian's packages have is in
    landbridge/catalog/containers.yaml.
    """
    slurm = environment.scheduler.slurm
    mpi_facts = container_facts().mpi.get(slurm.version)
    if mpi_facts is None or slurm.packages_release or slurm.packaging != "debian":
        return
    for key, value in environment.scheduler.overrides.slurm_conf.items():
        if key.casefold() == "mpidefault" and value is not None and str(value).partition("_v")[0] not in mpi_facts:
            message = f"Debian's Slurm {slurm.version} has no MPI plugin {value}, only {', '.join(mpi_facts)}"
            fix = f"write {mpi_facts[-1]}, or start ranks with torchrun or mpirun, which need no plugin"
            yield error((*_CONF, key), message, fix=fix, related=(("scheduler", "slurm"),))
