"""The settings of slurm.conf above its nodes and partitions: what an expert would set, then what the site overrides."""

from collections.abc import Sequence

from landbridge import hostlist
from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.environment.base import Scalar
from landbridge.plan.nodes import Nodes
from landbridge.plan.pool import SRUN_PORTS
from landbridge.plan.settings import merged, written

BIN = "/opt/landbridge/bin"


def slurm_settings(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, tuple[str, ...]]:
    """Key to lines, in the file's order. Only SlurmctldHost can have more than one line."""
    hosts = environment.onprem.services.controller
    addresses = environment.onprem.addresses
    settings: dict[str, Scalar] = {
        "ClusterName": environment.name,
        "SlurmUser": "slurm",
        **_authentication(environment),
        **_files(),
        **_selection(environment, nodes),
        **_accounting(environment, nodes),
        **_scheduling(environment),
        **_robustness(),
        **_power_saving(environment, nodes),
    }
    # An address, because nodes in AWS know no names of this site when they boot.
    controllers = tuple(f"{host}({addresses[host]})" if host in addresses else host for host in hosts)
    found = merged(settings, environment.scheduler.overrides.slurm_conf)
    return {"SlurmctldHost": controllers, **{key: (written(value),) for key, value in found.items()}}


def _authentication(environment: Environment) -> dict[str, Scalar]:
    if environment.scheduler.auth == "munge":
        return {"AuthType": "auth/munge"}
    return {"AuthType": "auth/slurm", "CredType": "cred/slurm", "AuthInfo": "use_client_ids"}


def _files() -> dict[str, Scalar]:
    return {
        "StateSaveLocation": "/var/lib/slurm/slurmctld",
        "SlurmdSpoolDir": "/var/lib/slurm/slurmd",
        "SlurmctldPidFile": "/run/slurmctld.pid",
        "SlurmdPidFile": "/run/slurmd.pid",
        "SlurmctldLogFile": "/var/log/slurm/slurmctld.log",
        "SlurmdLogFile": "/var/log/slurm/slurmd.log",
    }


def _selection(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, Scalar]:
    return {
        "ProctrackType": "proctrack/cgroup",
        "TaskPlugin": "task/cgroup,task/affinity",
        "SelectType": "select/cons_tres",
        # Memory is a resource here: without CR_*_Memory, cgroup.conf's ConstrainRAMSpace has no effect.
        "SelectTypeParameters": "CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK,CR_ONE_TASK_PER_CORE",
        "GresTypes": ",".join(_kinds(nodes)),
        "MpiDefault": "none",
        "LaunchParameters": "use_interactive_step",
        # The submitting host's memory lock limit would otherwise keep RDMA from registering memory.
        "PropagateResourceLimitsExcept": "MEMLOCK",
        **({"TopologyPlugin": "topology/tree"} if not _release(environment, "topology_yaml") else {}),
    }


def _accounting(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, Scalar]:
    found_types = (group.accelerators for group in nodes if group.accelerators)
    typed = dict.fromkeys(f"gres/{one.kind}:{one.type}" for one in found_types)
    found: dict[str, Scalar] = {
        "JobAcctGatherType": f"jobacct_gather/{'cgroup' if environment.scheduler.cgroup == 'v2' else 'linux'}",
        "JobAcctGatherFrequency": 30,
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": environment.onprem.services.database,
        "AccountingStorageTRES": ",".join([*(f"gres/{kind}" for kind in _kinds(nodes)), *typed]),
    }
    if environment.scheduler.accounts:
        # Without accounts nobody has an association, and nobody could submit.
        found["AccountingStorageEnforce"] = "associations,limits,qos,safe"
    return found


def _kinds(nodes: Sequence[Nodes]) -> list[str]:
    """Slurm's names of the accelerators there are; `gpu` always, so that `--gpus` is understood before the first GPU."""
    return list(dict.fromkeys(["gpu", *(group.accelerators.kind for group in nodes if group.accelerators)]))


def _scheduling(environment: Environment) -> dict[str, Scalar]:
    parameters = ["bf_continue", "bf_window=10080", "bf_resolution=300", "nohold_on_prolog_fail", "pack_serial_at_end"]
    if environment.aws.pools and _release(environment, "requeue_on_resume_failure"):
        parameters.append("requeue_on_resume_failure")
    if _release(environment, "expedited_requeue"):
        parameters.append("requeue_delay=2")
    return {
        "SchedulerParameters": ",".join(parameters),
        "PriorityType": "priority/multifactor",
        "PriorityDecayHalfLife": "7-0",
        "PriorityWeightQOS": 100_000,
        "PriorityWeightFairshare": 50_000,
        "PriorityWeightAge": 10_000,
        "PriorityWeightJobSize": 1_000,
        # Never suspend or gang-schedule: a suspended job keeps its GPUs' memory.
        "PreemptType": "preempt/qos",
        "PreemptMode": "REQUEUE",
        "PreemptExemptTime": "00:30:00",
        "JobRequeue": 1,
    }


def _robustness() -> dict[str, Scalar]:
    return {
        # 1 on metal: a node that crashed under a job waits for a person. Burst revives cloud nodes itself.
        "ReturnToService": 1,
        # A BGP failover or a tunnel's replacement must not kill jobs on the far side.
        "SlurmdTimeout": 900,
        "MessageTimeout": 30,
        "UnkillableStepTimeout": 300,
        "KillWait": 60,
        "BatchStartTimeout": 60,
        # The link's firewall and the pools' security groups let these through.
        "SrunPortRange": f"{SRUN_PORTS[0]}-{SRUN_PORTS[1]}",
    }


def _power_saving(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, Scalar]:
    parameters = ["enable_configless"]
    if _release(environment, "expedited_requeue"):
        parameters.append("enable_expedited_requeue")
    pools = environment.aws.pools
    if not pools:
        return {"SlurmctldParameters": ",".join(parameters)}
    onprem = [name for group in nodes if group.site == "onprem" for name in group.names]
    return {
        "SlurmctldParameters": ",".join([*parameters, "idle_on_node_suspend", "power_save_interval=1"]),
        "ResumeProgram": f"{BIN}/landbridge-resume",
        "SuspendProgram": f"{BIN}/landbridge-suspend",
        "ResumeFailProgram": f"{BIN}/landbridge-resume-fail",
        # Ends when a job's nodes are up: without it Slurm starts a job on resumed nodes only at its next 30 s tick.
        "PrologSlurmctld": f"{BIN}/landbridge-prolog-wait",
        "ResumeTimeout": max(pool.resume_timeout for pool in pools),
        "ResumeRate": 0,
        "SuspendTime": max(pool.suspend_after for pool in pools),
        "SuspendTimeout": 30,
        "SuspendRate": 0,
        **({"SuspendExcNodes": hostlist.compress(onprem)} if onprem else {}),
        "ReconfigFlags": "KeepPowerSaveSettings",
        # Powered-down nodes are shown: a user sees what there could be.
        "PrivateData": "cloud",
    }


def _release(environment: Environment, feature: str) -> bool:
    return bool(getattr(slurm_releases()[environment.scheduler.slurm.version], feature))
