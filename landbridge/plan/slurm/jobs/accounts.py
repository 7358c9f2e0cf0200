"""Slurm accounts and QOS, for the role slurm_controller."""

import math
from typing import Any

from landbridge.environment import AccountSettings, Environment, Qos
from landbridge.plan.slurm.jobs.gpu_minutes import gpu_minute_limits
from landbridge.plan.slurm.partitions import seconds

#: QOS that Slurm creates by default.
NORMAL = "normal"


def accounts(environment: Environment) -> dict[str, dict[str, Any]]:
    """Return accounts by name: users, description, parent, fair share, limits, and the QOS of their jobs."""
    return {name: _account(account) for name, account in environment.scheduler.accounts.items()}


def qualities(environment: Environment) -> dict[str, dict[str, str]]:
    """Return QOS by name, every setting as sacctmgr(1) prints it; an empty one is not a limit."""
    configured = {name: _quality(name, qos) for name, qos in environment.scheduler.qos.items()}
    return configured | {name: _cap(minutes) for name, minutes in gpu_minute_limits(environment).items()}


def capped(environment: Environment) -> list[str]:
    """Return the QOS whose usage is reset at the start of each calendar month."""
    return list(gpu_minute_limits(environment))


def limited(environment: Environment) -> list[str]:
    """Return the TRES with a limit: slurmdbd knows them only after slurmctld has registered them."""
    scheduler = environment.scheduler
    has_account_limits = any(account.max_gpus for account in scheduler.accounts.values()) or bool(
        gpu_minute_limits(environment)
    )
    return (
        ["gres/gpu"]
        if has_account_limits or any(qos.max_gpus or qos.max_gpus_per_user for qos in scheduler.qos.values())
        else []
    )


def _account(account: AccountSettings) -> dict[str, Any]:
    return {
        "users": list(account.users),
        "description": account.description or f"{account.data_class} data",
        "parent": account.parent or "root",
        "fairshare": account.fairshare,
        "grp_tres": {"gres/gpu": account.max_gpus} if account.max_gpus else {},
        "qos": list(account.qos) or [NORMAL],
        "default_qos": account.qos[0] if account.qos else "",
    }


def _quality(name: str, qos: Qos) -> dict[str, str]:
    return {
        "description": qos.description or name,
        "priority": str(qos.priority),
        "preempt": ",".join(sorted(qos.preempts)),
        "grptres": _gpus(qos.max_gpus),
        "maxtrespu": _gpus(qos.max_gpus_per_user),
        "maxjobspu": "" if qos.max_jobs_per_user is None else str(qos.max_jobs_per_user),
        "maxwall": "" if qos.max_time is None else duration(qos.max_time),
        "usagefactor": f"{qos.usage_factor:f}",
    }


def _cap(minutes: int) -> dict[str, str]:
    """Return the QOS of a month's GPU minutes, with NoDecay: the default decay would free half of a spent budget after
    a week.
    """
    unlimited = dict.fromkeys(("preempt", "grptres", "maxtrespu", "maxjobspu", "maxwall"), "")
    return {
        **unlimited,
        "description": "GPU minutes in AWS in a month",
        "priority": "0",
        "usagefactor": f"{1:f}",
        "grptresmins": f"gres/gpu={minutes}",
        "flags": "NoDecay",
    }


def _gpus(count: int | None) -> str:
    return "" if count is None else f"gres/gpu={count}"


def duration(limit: str) -> str:
    """Return a time limit as sacctmgr prints it, in whole minutes: `[days-]hours:minutes:00`; empty if unlimited."""
    total = seconds(limit)
    if math.isinf(total):
        return ""
    # Slurm stores minutes, rounded up.
    minutes = math.ceil(total / 60)
    days, remaining_minutes = divmod(minutes, 24 * 60)
    clock = f"{remaining_minutes // 60:02}:{remaining_minutes % 60:02}:00"
    return f"{days}-{clock}" if days else clock
