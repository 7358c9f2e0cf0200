"""Rules about QOS."""

from collections.abc import Iterator, Mapping

from landbridge.environment import Environment, Qos
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.slurm.jobs.accounts import NORMAL
from landbridge.rules.registry import rule

_QOS: DataPath = ("scheduler", "qos")
_ACCOUNTS: DataPath = ("scheduler", "accounts")


@rule
def unknown_qos(environment: Environment) -> Iterator[Finding]:
    """Every QOS of accounts and of other QOS exists; `normal` exists by default.

    Source: sacctmgr(1), QOS and Preempt: a name that is not in the database is refused.
    """
    known_qos = environment.scheduler.qos
    for path, name in _named(environment):
        if name not in known_qos and name != NORMAL:
            near = did_you_mean(name, [*known_qos, NORMAL])
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join([*known_qos, NORMAL])}"
            message = f'there is no QOS "{name}"'
            yield error(path, message, fix=fix, related=((*_QOS, "*", ""),))


@rule
def qos_preempts_back(environment: Environment) -> Iterator[Finding]:
    """Preemption between QOS has no cycle: otherwise jobs requeue each other without end.

    Source: slurm.conf(5), PreemptType=preempt/qos; sacctmgr(1), Preempt.
    """
    qos = environment.scheduler.qos
    for name, qos_settings in qos.items():
        for index, other in enumerate(qos_settings.preempts):
            if name in _preempted_by(qos, other):
                message = f"jobs of {name} preempt those of {other}, which preempt those of {name}"
                fix = "remove one direction"
                yield error((*_QOS, name, "preempts", index), message, fix=fix)


@rule
def qos_without_accounts(environment: Environment) -> Iterator[Finding]:
    """Every QOS is allowed for an account.

    Source: sacctmgr(1), QOS of an association: a job may use the QOS of its association.
    """
    used = {name for account in environment.scheduler.accounts.values() for name in account.qos}
    for name in environment.scheduler.qos:
        if name not in used and name != NORMAL:
            message = f"no account may use the QOS {name}"
            fix = f"write qos: [{NORMAL}, {name}] in an account"
            yield warning((*_QOS, name), message, fix=fix, related=(_ACCOUNTS,))


def _preempted_by(qos: Mapping[str, Qos], name: str) -> set[str]:
    """Return the QOS that a QOS preempts, directly and through others."""
    preempted: set[str] = set()
    pending = [name]
    while pending:
        qos_settings = qos.get(pending.pop())
        unseen = set(qos_settings.preempts) - preempted if qos_settings else set()
        preempted |= unseen
        pending += unseen
    return preempted


def _named(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    for name, account in environment.scheduler.accounts.items():
        for index, qos_name in enumerate(account.qos):
            yield (*_ACCOUNTS, name, "qos", index), qos_name
    for name, qos_settings in environment.scheduler.qos.items():
        for index, qos_name in enumerate(qos_settings.preempts):
            yield (*_QOS, name, "preempts", index), qos_name
