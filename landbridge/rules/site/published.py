"""Rules about packages that are not published for the operating system of nodes."""

from collections.abc import Iterator

from landbridge.catalog import platforms
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment
from landbridge.environment.onprem.onprem import NodeGroup
from landbridge.findings import DataPath, Finding, error
from landbridge.plan.roles.nodes.nvidia_driver import branch_of, driver_of, installs_driver
from landbridge.rules.registry import rule

_DRIVER: DataPath = ("onprem", "driver")
_DCGM: DataPath = ("onprem", "gpu_tools", "dcgm")


@rule
def driver_not_published(environment: Environment) -> Iterator[Finding]:
    """The driver branch is published for the operating system and the processors of every node group.

    Otherwise the first `configure` ends at apt, after the operating system was installed on every node.
    Source: landbridge/catalog/published.yaml, which has the sources by product.
    """
    driver, branch = driver_of(environment), branch_of(driver_of(environment))
    if driver.mirror is not None:
        return
    is_distribution = driver.repository == "distribution"
    facts = published().driver_of_distribution if is_distribution else published().driver
    for path, group, architecture in _groups(environment):
        existing = facts.branches(group.os, architecture)
        if branch in existing:
            continue
        message = (
            f"{facts.name} of branch {branch} is not published for {group.os} on {architecture} (read {facts.as_of})"
        )
        fixes = [_system_fix(facts.systems_with(branch, architecture))]
        fixes += [f'driver: {{branch: "{existing[-1]}"}}, of {", ".join(existing)}'] if existing else []
        fixes += [f"os: {system} if the hosts have {facts.name}" for system, facts in published().with_software.items()]
        fixes += ["driver: {install: false} if the operating system contains it"]
        fixes += [] if is_distribution else ["a mirror that has it"]
        fix = f"write {' or '.join(filter(None, fixes))}"
        related: tuple[DataPath, ...] = (_DRIVER, (*path[:-1], "platform"))
        yield error(path, message, fix=fix, related=related)


@rule
def dcgm_not_published(environment: Environment) -> Iterator[Finding]:
    """DCGM is published for the operating system and the processors of every node group.

    Source: landbridge/catalog/published.yaml: NVIDIA/cuda-repo-management#41 and the DCGM user guide.
    """
    site, facts = environment.onprem, published().products["dcgm"]
    if site is None or not site.gpu_tools.dcgm or site.driver.mirror is not None:
        return
    for path, group, architecture in _groups(environment):
        if not facts.is_published(group.os, architecture):
            message = f"{facts.name} is not published for {group.os} on {architecture} (read {facts.as_of})"
            fix = f"write {_system_fix(facts.systems_with(architecture))} or gpu_tools: {{dcgm: false}}"
            related: tuple[DataPath, ...] = (_DRIVER, _DCGM, (*path[:-1], "platform"))
            yield error(path, message, fix=fix, related=related)


def _groups(environment: Environment) -> Iterator[tuple[DataPath, NodeGroup, str]]:
    """Yield the path of its operating system, the group and the processor architecture of each known platform.

    Groups whose operating system includes the driver are left out: nothing is installed there.
    """
    driver = driver_of(environment)
    for index, group in enumerate(environment.node_groups):
        if group.platform in platforms() and installs_driver(driver, group):
            yield ("onprem", "nodes", index, "os"), group, platforms()[group.platform].cpus.architecture


def _system_fix(systems: tuple[str, ...]) -> str:
    return f"os: {' or '.join(reversed(systems))}" if systems else ""
