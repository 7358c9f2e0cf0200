"""Settings of slurm.conf before its nodes and partitions: defaults, then the site's overrides."""

from collections.abc import Sequence

from landbridge import hostlist
from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.environment.base import Scalar
from landbridge.plan.instances.capacity import kept_nodes
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import syslog_settings
from landbridge.plan.network.services.monitoring import has_slurm_metrics
from landbridge.plan.site.health import health_settings
from landbridge.plan.slurm.controller_pair import pair_settings, state_folder
from landbridge.plan.slurm.jobs.job_submit import has_job_submit
from landbridge.plan.slurm.jobs.prolog_epilog import prolog_epilog_settings
from landbridge.plan.slurm.nodes import Nodes, pool_node_names
from landbridge.plan.slurm.setting_overrides import setting_text, with_overrides
from landbridge.plan.slurm.slurmrestd import rest_settings
from landbridge.plan.slurm.topology import topology_plugin
from landbridge.plan.slurm_ports import SRUN_PORTS

BIN = "/opt/landbridge/bin"


def slurm_settings(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, tuple[str, ...]]:
    """Return the values by key, in the file's order. Only SlurmctldHost can have several."""
    served = service_hosts(environment)
    settings: dict[str, Scalar] = {
        "ClusterName": environment.name,
        "SlurmUser": "slurm",
        **_authentication(environment),
        **rest_settings(environment),
        **_files(environment),
        **_selection(environment, nodes),
        **_accounting(environment, served.database, nodes),
        **_scheduling(environment),
        **({"JobSubmitPlugins": "lua"} if has_job_submit(environment) else {}),
        **_robustness(),
        **pair_settings(environment),
        **prolog_epilog_settings(),
        **health_settings(environment),
        **_power_saving(environment, nodes),
        **_metrics(environment),
    }
    controllers = tuple(map(served.where, served.controllers))
    merged = with_overrides(settings, environment.scheduler.overrides.slurm_conf)
    return {"SlurmctldHost": controllers, **{key: (setting_text(value),) for key, value in merged.items()}}


def _authentication(environment: Environment) -> dict[str, Scalar]:
    if environment.scheduler.auth == "munge":
        return {"AuthType": "auth/munge"}
    return {"AuthType": "auth/slurm", "CredType": "cred/slurm", "AuthInfo": "use_client_ids"}


def _files(environment: Environment) -> dict[str, Scalar]:
    return {
        "StateSaveLocation": state_folder(environment),
        "SlurmdSpoolDir": "/var/lib/slurm/slurmd",
        "SlurmctldPidFile": "/run/slurmctld.pid",
        "SlurmdPidFile": "/run/slurmd.pid",
        "SlurmctldLogFile": "/var/log/slurm/slurmctld.log",
        "SlurmdLogFile": "/var/log/slurm/slurmd.log",
        **syslog_settings(environment),
    }


def _selection(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, Scalar]:
    topology = topology_plugin(environment, nodes)
    return {
        "ProctrackType": "proctrack/cgroup",
        "TaskPlugin": "task/cgroup,task/affinity",
        "SelectType": "select/cons_tres",
        # Memory is a consumable resource: without CR_*_Memory, cgroup.conf's ConstrainRAMSpace has no effect.
        "SelectTypeParameters": "CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK,CR_ONE_TASK_PER_CORE",
        "GresTypes": ",".join(_gres_names(nodes)),
        "MpiDefault": "none",
        "LaunchParameters": "use_interactive_step",
        # With the submitting host's limit of locked memory, RDMA could not register memory.
        "PropagateResourceLimitsExcept": "MEMLOCK",
        **({"TopologyPlugin": topology} if topology else {}),
    }


def _accounting(environment: Environment, database: str, nodes: Sequence[Nodes]) -> dict[str, Scalar]:
    typed = dict.fromkeys(f"gres/{gres_type}" for group in nodes for gres_type in group.gres_types)
    accounting: dict[str, Scalar] = {
        "JobAcctGatherType": f"jobacct_gather/{'cgroup' if environment.scheduler.cgroup == 'v2' else 'linux'}",
        "JobAcctGatherFrequency": 30,
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": database,
        "AccountingStorageTRES": ",".join([*(f"gres/{kind}" for kind in _gres_names(nodes)), *typed]),
    }
    if environment.scheduler.accounts:
        # Only with accounts: without them no user has an association, and enforcement would reject all jobs.
        accounting["AccountingStorageEnforce"] = "associations,limits,qos,safe"
    return accounting


def _gres_names(nodes: Sequence[Nodes]) -> list[str]:
    """Return the GRES names of the accelerators; always with `gpu`, so that Slurm accepts `--gpus` also without GPU
    nodes.
    """
    return list(dict.fromkeys(["gpu", *(group.accelerators.kind for group in nodes if group.accelerators)]))


def _scheduling(environment: Environment) -> dict[str, Scalar]:
    # Batch jobs are scheduled within 1 s instead of 3 s: GPU queues are short, and the launch of a cloud node waits for
    # it.
    parameters = [
        "batch_sched_delay=1",
        "bf_continue",
        "bf_window=10080",
        "bf_resolution=300",
        "nohold_on_prolog_fail",
        "pack_serial_at_end",
    ]
    if environment.aws.pools and _has_feature(environment, "requeue_on_resume_failure"):
        parameters.append("requeue_on_resume_failure")
    if _has_feature(environment, "expedited_requeue"):
        parameters.append("requeue_delay=2")
    return {
        "SchedulerParameters": ",".join(parameters),
        "PriorityType": "priority/multifactor",
        "PriorityDecayHalfLife": "7-0",
        "PriorityWeightQOS": 100_000,
        "PriorityWeightFairshare": 50_000,
        "PriorityWeightAge": 10_000,
        "PriorityWeightJobSize": 1_000,
        # Requeue, no suspension or gang scheduling: a suspended job keeps its GPU memory.
        "PreemptType": "preempt/qos",
        "PreemptMode": "REQUEUE",
        "PreemptExemptTime": "00:30:00",
        "JobRequeue": 1,
    }


def _robustness() -> dict[str, Scalar]:
    return {
        # 1: a node that rebooted unexpectedly stays down until landbridge-node-return has checked and resumed it, or an
        # operator. The burst controller resumes cloud nodes.
        "ReturnToService": 1,
        # A BGP failover or a tunnel's replacement must not kill jobs at the other end of the link.
        "SlurmdTimeout": 900,
        "MessageTimeout": 30,
        "UnkillableStepTimeout": 300,
        "KillWait": 60,
        "BatchStartTimeout": 60,
        # The site's firewall and the pools' security groups permit these ports.
        "SrunPortRange": f"{SRUN_PORTS[0]}-{SRUN_PORTS[1]}",
    }


def _power_saving(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, Scalar]:
    parameters = ["enable_configless"]
    if _has_feature(environment, "expedited_requeue"):
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
        # Ends when all nodes of the job are up: without it Slurm starts the job up to 30 s after its nodes are resumed.
        "PrologSlurmctld": f"{BIN}/landbridge-prolog-wait",
        "ResumeTimeout": max(pool.resume_timeout for pool in pools),
        "ResumeRate": 0,
        "SuspendTime": max(pool.suspend_after for pool in pools),
        "SuspendTimeout": 30,
        "SuspendRate": 0,
        **_never_suspended(environment, onprem),
        # A node that an operator has drained or set down stays until the operator resumes it or powers it down. The burst
        # controller powers down the nodes that a program has drained; an explicit power-down ignores these states.
        # Source: slurm.conf(5) of 23.11, 24.11 and 26.05; _do_power_work in power_save.c.
        "SuspendExcStates": "DOWN,DRAIN,FAIL",
        "ReconfigFlags": "KeepPowerSaveSettings",
        # Show powered-down nodes: users see the capacity that can be launched.
        "PrivateData": "cloud",
    }


def _metrics(environment: Environment) -> dict[str, Scalar]:
    """Return the settings of slurmctld's metrics. PrivateData hides no user's jobs here, so metrics need no account."""
    if not has_slurm_metrics(environment):
        return {}
    private = {"MetricsParameters": "ignore_private_data"} if environment.aws.pools else {}
    return {"MetricsType": "metrics/openmetrics", **private}


def _never_suspended(environment: Environment, onprem: Sequence[str]) -> dict[str, Scalar]:
    """Return SuspendExcNodes: the on-prem nodes, and the minimum of each pool; `p5-[1-8]:2` are any two of the eight.

    Slurm does not suspend them; the burst controller launches them. Slurm divides a value with a count at every comma, also
    at those in brackets (power_save.c, _parse_exc_nodes).
    """
    min_nodes_of_pools = [
        (pool_node_names(pool), kept_nodes(pool, environment.region)) for pool in environment.aws.pools
    ]
    counted = [f"{hostlist.compress(names)}:{count}" for names, count in min_nodes_of_pools if count]
    excluded = [hostlist.compress(list(onprem))] if onprem else []
    if counted:
        excluded = [part for word in excluded for part in hostlist.without_inner_commas(word)] + counted
    return {"SuspendExcNodes": ",".join(excluded)} if excluded else {}


def _has_feature(environment: Environment, feature: str) -> bool:
    return bool(getattr(slurm_releases()[environment.scheduler.slurm.version], feature))
