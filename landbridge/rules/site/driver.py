"""Rules about the NVIDIA driver of on-prem nodes."""

from collections.abc import Iterator
from datetime import date

from landbridge.catalog import generation, gpu_stack, platforms
from landbridge.environment import Environment
from landbridge.environment.onprem.driver import Driver
from landbridge.environment.onprem.onprem import NodeGroup
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.roles.nodes.node_restart import out_of_service, restarts_of
from landbridge.plan.roles.nodes.nvidia_driver import branch_of, driver_of, installs_driver, own_branch
from landbridge.rules.registry import dated_rule, rule

_DRIVER: DataPath = ("onprem", "driver")
_MODULES: DataPath = (*_DRIVER, "modules")


@rule
def driver_branch(environment: Environment) -> Iterator[Finding]:
    """The driver branch supports every GPU of the site, and a release belongs to the branch.

    A branch without support for a GPU loads, but does not detect the GPU.
    Source: NVIDIA driver installation guide and release notes, as in landbridge/catalog/gpu_stack.yaml.
    """
    driver = driver_of(environment)
    branch, path = branch_of(driver), (*_DRIVER, "branch" if driver.branch else "version")
    if driver.branch and driver.branch_of_version not in (None, driver.branch):
        message = f"{driver.version} is a release of branch {driver.branch_of_version}, not of {driver.branch}"
        yield error((*_DRIVER, "version"), message, fix="remove one of the two", related=(path,))
        return
    branch_facts = gpu_stack().branches.get(branch)
    if branch_facts is None:
        return
    for index, group in enumerate(environment.node_groups):
        platform = platforms().get(group.platform)
        if not _has_branch(driver, group):
            continue
        if platform is not None and platform.gpu.generation in branch_facts.without:
            at: DataPath = ("onprem", "nodes", index, "platform")
            message = f"branch {branch} does not support the {platform.gpu.name} of {group.platform}"
            yield error(path, message, fix=f"use branch {gpu_stack().branch}", related=(at,))


@rule
def driver_modules(environment: Environment) -> Iterator[Finding]:
    """The kernel modules support every GPU of the site.

    Source: NVIDIA driver installation guide, kernel modules, as in landbridge/catalog/gpus.yaml.
    """
    driver = driver_of(environment)
    modules = driver.modules
    for index, group in enumerate(environment.node_groups):
        platform = platforms().get(group.platform)
        if modules == "auto" or platform is None or not installs_driver(driver, group):
            continue
        facts = generation(platform.gpu)
        if modules not in facts.modules:
            at: DataPath = ("onprem", "nodes", index, "platform")
            message = f"{group.platform} does not work with {modules} kernel modules: {facts.why}"
            yield error(_MODULES, message, fix="remove modules: each platform gets matching ones", related=(at,))


@rule
def driver_repository(environment: Environment) -> Iterator[Finding]:
    """The repository supports the configured Secure Boot mode, release and mirror.

    A distribution's modules are signed, and it has only the newest release of a branch; NVIDIA's are built on the host,
    need a Machine Owner Key for signing, and every release stays available.
    Source: Ubuntu, NVIDIA server drivers; NVIDIA driver installation guide, Secure Boot.
    """
    driver = driver_of(environment)
    path: DataPath = (*_DRIVER, "repository")
    rows = [
        ("secure_boot", driver.secure_boot == "signed" and driver.repository == "nvidia", "secure_boot is signed, and modules of NVIDIA's repository are not signed", "write secure_boot: mok, or repository: distribution"),
        ("secure_boot", driver.secure_boot == "mok" and driver.repository == "distribution", "secure_boot is mok, and the distribution's modules are already signed", "write secure_boot: signed"),
        ("version", driver.version is not None and driver.repository == "distribution", "a distribution has only the newest release of a branch", "write branch, or repository: nvidia"),
        ("mirror", driver.mirror is not None and driver.repository == "distribution", "mirror has no effect: a distribution's packages come from the host's sources", "remove mirror"),
    ]  # fmt: skip
    for key, is_violated, message, fix in rows:
        if is_violated:
            yield error((*_DRIVER, key), message, fix=fix, related=(path,))


@rule
def restart_budget(environment: Environment) -> Iterator[Finding]:
    """The nodes that are restarted at the same time are within the failure budget of the site.

    Source: the role node_restart drains no node beyond the failure budget, as in landbridge/catalog/node_restarts.yaml.
    """
    at_once, budget = restarts_of(environment).at_once, out_of_service(environment)
    if at_once is not None and at_once > budget:
        at: DataPath = ("onprem", "restarts", "at_once")
        message = f"{at_once} nodes would be restarted at the same time, and at most {budget} may be out of service"
        yield error(at, message, fix=f"write at most {budget}, or raise out_of_service")


@dated_rule
def driver_supported(environment: Environment, today: date) -> Iterator[Finding]:
    """NVIDIA supports the driver branch with security fixes.

    Source: NVIDIA data center drivers, supported drivers, as in landbridge/catalog/gpu_stack.yaml.
    """
    driver, stack = driver_of(environment), gpu_stack()
    branch = branch_of(driver)
    branch_facts = stack.branches.get(branch)
    if not any(_has_branch(driver, group) for group in environment.node_groups):
        return
    path = (*_DRIVER, "version" if driver.version and not driver.branch else "branch")
    fix = f"use branch {stack.branch}, which is supported until {stack.branches[stack.branch].until}"
    if branch_facts is None:
        message = (
            f"branch {branch} is not in the catalogue: only long-term and production branches are supported for long"
        )
        yield warning(path, message, fix=fix)
    elif branch_facts.until < today:
        message = f"NVIDIA's support of branch {branch} ended on {branch_facts.until}"
        yield warning(path, message, fix=fix)


def _has_branch(driver: Driver, group: NodeGroup) -> bool:
    """Return true if the file or the catalogue decides on the driver branch of a group's nodes."""
    return installs_driver(driver, group) or bool(own_branch(driver))
