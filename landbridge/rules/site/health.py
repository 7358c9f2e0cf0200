"""Rules about changes of the health checks, and the failure budget."""

from collections.abc import Iterator

from landbridge.catalog.hardware.health_checks import FaultCheck, health_checks
from landbridge.environment import Environment
from landbridge.environment.onprem.health import HealthChange
from landbridge.findings import DataPath, Finding, error
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule

#: Check that reports that the others do not run; without it a node without checks gets jobs.
_ALWAYS = "stale"


@rule
def health_change(environment: Environment) -> Iterator[Finding]:
    """A change of a health check names a check, has one effect on it, and a limit within the valid range.

    Source: landbridge/catalog/health_checks.yaml (role node_health).
    """
    checks = health_checks().checks
    for index, group in enumerate(environment.node_groups):
        for number, change in enumerate(group.health):
            path: DataPath = ("onprem", "nodes", index, "health", number)
            if change.check not in checks:
                fix = suggestion(change.check, checks)
                yield error((*path, "check"), f'there is no health check "{change.check}"', fix=fix)
            else:
                yield from _effects(path, change)
                yield from _limit(path, change, checks[change.check])
                yield from _parts(path, change, checks[change.check])


@rule
def failure_budget_of_all_nodes(environment: Environment) -> Iterator[Finding]:
    """The failure budget is less than all nodes: an error in a check or a shared service would drain the whole site.

    Source: NVIDIA NVSentinel, circuit breaker.
    """
    site = environment.onprem
    if site is not None and site.max_drained_percent == 100 and site.nodes:
        message = "health checks may drain every node: an error in a check or in a shared file system stops the site"
        yield error(("onprem", "max_drained_percent"), message, fix="write 90 or less")


def _effects(path: DataPath, change: HealthChange) -> Iterator[Finding]:
    effects = [name for name in ("skip", "add", "limit") if getattr(change, name) not in ((), None)]
    if not effects:
        yield error(path, f"the change of {change.check} has no effect", fix="write skip, add or limit")
    elif len(effects) > 1:
        message = f"the change of {change.check} has {len(effects)} effects: {', '.join(effects)}"
        yield error((*path, effects[1]), message, fix="write a change for each")
    if change.check == _ALWAYS and effects:
        message = "it drains a node whose checks do not run: it cannot be changed"
        yield error((*path, effects[0]), message, fix="remove the change")


def _limit(path: DataPath, change: HealthChange, check: FaultCheck) -> Iterator[Finding]:
    if change.limit is None:
        return
    if check.limit is None:
        limited = [name for name, facts in health_checks().checks.items() if facts.limit is not None]
        fix = f"remove it; checks with a limit: {', '.join(limited)}"
        yield error((*path, "limit"), f"the check {change.check} has no limit", fix=fix)
    elif not check.limit.least <= change.limit <= check.limit.most:
        fix = f"write {check.limit.least:g} to {check.limit.most:g} ({check.limit.unit})"
        yield error((*path, "limit"), f"{change.limit:g} is not a limit of {change.check}", fix=fix)


def _parts(path: DataPath, change: HealthChange, check: FaultCheck) -> Iterator[Finding]:
    for key in ("skip", "add"):
        parts = getattr(change, key)
        if parts in ((), "all"):
            continue
        if not check.parts:
            fix = "write skip: all" if key == "skip" else "remove it"
            yield error((*path, key), f"the check {change.check} has no parts", fix=fix)
            continue
        for place, part in enumerate(parts):
            is_valid = {"xid": part.isdigit(), "mount": part.startswith("/")}.get(change.check, True)
            if not is_valid:
                kind = check.parts
                fix = "write Xid numbers, such as 94" if change.check == "xid" else "write absolute paths"
                yield error((*path, key, place), f'"{part}" is not one of the {kind}', fix=fix)
