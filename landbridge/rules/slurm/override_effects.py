"""Rules about overrides that end a guarantee of Landbridge, or switch off another key of the environment."""

from collections.abc import Iterator
from typing import Any

from landbridge.catalog.slurm.keys import RequiredValue, slurm_keys
from landbridge.environment import Environment
from landbridge.environment.base import Model, Scalar
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.slurm.jobs.accounts import NORMAL
from landbridge.plan.slurm.jobs.gpu_minutes import gpu_minute_limits
from landbridge.rules.environment_cache import with_known_types
from landbridge.rules.registry import rule

_CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


@rule(suppressible=False)
def slurm_program(environment: Environment) -> Iterator[Finding]:
    """Overrides keep Landbridge's programs of jobs and nodes, and the flags that start them.

    With another Prolog, nodes in AWS accept jobs of accounts whose data must stay on-prem, unless another check refuses them.
    Source: slurm.conf(5), Prolog, Epilog, TaskProlog, PrologFlags, PrEpPlugins, HealthCheckProgram and Include; design,
    decision 6: restricted classes are denied in layers.
    """
    required = {key.casefold(): value for key, value in slurm_keys().required.items()}
    overrides = environment.scheduler.overrides.slurm_conf
    removed = {key.casefold() for key, value in overrides.items() if value is None}
    for key, value in overrides.items():
        rule_of_key = required.get(key.casefold())
        if rule_of_key is not None and not _keeps(rule_of_key, value, removed):
            fix = f"keep {', '.join(rule_of_key.words)} in it" if rule_of_key.words else "remove it"
            yield error((*_CONF, key), f"{key}: this value ends {rule_of_key.loses}", fix=fix)


@rule
def idle_setting(environment: Environment) -> Iterator[Finding]:
    """No override of slurm.conf makes another key of the environment ineffective.

    Source: slurm.conf(5): PreemptType, PriorityType, AccountingStorageEnforce, SuspendExcNodes and MetricsType.
    """
    overrides = {key.casefold(): (key, value) for key, value in environment.scheduler.overrides.slurm_conf.items()}
    for idled in slurm_keys().idled:
        written = overrides.get(idled.key.casefold())
        if written is None or (idled.needs is not None and idled.needs in _list(written[1])):
            continue
        for setting in idled.settings:
            for path in _written(environment, tuple(setting.split("."))):
                message = f"{written[0]} is overridden, so this key has no effect"
                fix = f"remove scheduler.overrides.slurm_conf.{written[0]}, or this key"
                yield warning(path, message, fix=fix, related=((*_CONF, written[0]),))


@rule
def partition_qos_setting(environment: Environment) -> Iterator[Finding]:
    """The QOS of a partition exists, and does not replace the QOS that limits GPU-minutes in AWS to the budget.

    Source: slurm.conf(5), QOS of a partition: slurmctld ignores a name that is not in the database.
    """
    if environment.existing_slurm is not None:
        return
    known, pools = [*environment.scheduler.qos, NORMAL], {pool.name for pool in environment.aws.pools}
    for name, partition in environment.scheduler.partitions.items():
        for key, value in partition.settings.items():
            if key.casefold() != "qos" or value is None:
                continue
            path: DataPath = ("scheduler", "partitions", name, "settings", key)
            if str(value) not in known:
                near = did_you_mean(str(value), known)
                fix = f'did you mean "{near}"?' if near else f"known: {', '.join(known)}"
                yield error(path, f'there is no QOS "{value}"', fix=fix, related=(("scheduler", "qos", "*", ""),))
            elif pools.issuperset(partition.nodes or (name,)) and gpu_minute_limits(with_known_types(environment)):
                message = "it replaces the QOS that limits GPU-minutes in AWS to the budget"
                yield warning(path, message, fix="remove it", related=(("budget",), ("scheduler", "qos")))


def _keeps(required: RequiredValue, value: Scalar | None, removed: set[str]) -> bool:
    if value is None:
        return required.removable or (required.removable_with or "").casefold() in removed
    if required.words:
        return {word.casefold() for word in required.words} <= {word.casefold() for word in _list(value)}
    return value == required.program


def _list(value: Scalar | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in str("" if value is None else value).split(","))


def _written(node: Any, keys: tuple[str, ...], path: DataPath = ()) -> Iterator[DataPath]:
    """Yield the paths below `node` that match `keys` and differ from their default. `*` is every entry."""
    if not keys or node is None:
        return
    first, rest = keys[0], keys[1:]
    if first == "*":
        entries = node.items() if hasattr(node, "items") else enumerate(node)
        for key, entry in entries:
            yield from _written(entry, rest, (*path, key))
    elif isinstance(node, Model):
        value = getattr(node, first, None)
        if rest:
            yield from _written(value, rest, (*path, first))
        elif value not in (type(node).model_fields[first].default, None, (), 0):
            yield (*path, first)
