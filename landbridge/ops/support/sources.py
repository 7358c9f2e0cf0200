"""Programs that a host runs for a bundle, by the services that it has. Pure; nothing is changed on a host."""

from landbridge.environment import Environment
from landbridge.ops.logs.query import DAEMONS, LogQuery, slurm_program
from landbridge.ops.logs.window import LogWindow
from landbridge.ops.netcheck.collect import LinkHost
from landbridge.ops.status.sources import programs_of
from landbridge.plan.network.hosts import service_hosts

#: Services by the host that runs them; a unit that a host lacks gives an empty log.
_COMMON = ("chrony", "ssh")
_OF_NODES = ("slurmd", "landbridge-node-health", "nvidia-fabricmanager", "nvidia-persistenced", "nvidia-dcgm")
_OF_CONTROLLERS = ("slurmctld", "landbridge-burst")
_OF_DATABASE = ("slurmdbd", "mariadb")
_OF_STORAGE = ("nfs-ganesha", "nfs-server")
_OF_MLFLOW = ("mlflow", "postgresql", "landbridge-mlflow-dump")
_OF_GATEWAYS = ("strongswan", "frr", "site-gateway-watch")
#: Lines of the kernel that a GPU's driver writes, and those of a killed or stuck process.
KERNEL_LINES = r"NVRM|Xid|nvidia|mlx5|hung_task|I/O error|EDAC|MCE|Hardware Error"
_LINES = 4000


def support_programs(environment: Environment, host: LinkHost, window: LogWindow) -> dict[str, list[str]]:
    """Return the programs by the name of the part."""
    journal = [
        "journalctl",
        "--no-pager",
        "--quiet",
        "--output=short-iso-precise",
        "--utc",
        f"--since={window.journal}",
    ]
    programs = {
        "versions.txt": ["sh", "-c", "uname -a; cat /etc/os-release; slurmd -V; nvidia-smi -L | sed 's/ (UUID.*//'"],
        "failed-units.txt": programs_of(environment, host)["failed units"],
        "kernel.log": [*journal, "--dmesg", "--case-sensitive=no", f"--grep={KERNEL_LINES}", f"--lines={_LINES}"],
        "errors.log": [*journal, "--priority=err", f"--lines={_LINES}"],
    }
    query = LogQuery(window, most=_LINES)
    for unit in units_of(environment, host):
        programs[f"{unit}.log"] = [*journal, f"--unit={unit}", f"--lines={_LINES}"]
        if unit in DAEMONS:
            programs[f"{unit}-file.log"] = slurm_program(query, (unit,), plain=True)
    if host.name in service_hosts(environment).controllers:
        programs["slurm.txt"] = ["sh", "-c", "scontrol ping; scontrol show config; sinfo --Node --long; sdiag"]
        programs["nodes.json"] = ["scontrol", "show", "nodes", "--json"]
        metrics = programs_of(environment, host).get("burst")
        if metrics is not None:
            programs["burst-metrics.txt"] = metrics
    return programs


def units_of(environment: Environment, host: LinkHost) -> tuple[str, ...]:
    """Return the units whose logs are taken."""
    served = service_hosts(environment)
    units = list(_COMMON)
    for names, of_service in (
        (served.controllers, _OF_CONTROLLERS),
        ((served.database,), _OF_DATABASE),
        ((served.storage,), _OF_STORAGE),
        ((served.mlops,), _OF_MLFLOW),
        ((host.name if host.gateway is not None else None,), _OF_GATEWAYS),
    ):
        units += of_service if host.name in names else ()
    return tuple(units if host.name in served.names or host.gateway is not None else [*units, *_OF_NODES])
