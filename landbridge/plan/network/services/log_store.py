"""Log store of the site: its host, nodes in AWS that ship to it, and the settings by which Slurm writes to the journal. Pure."""

from landbridge.environment import Environment
from landbridge.plan.network.services.monitoring import monitors_cloud_nodes

#: Levels of Slurm's messages in the journal, by key of slurm.conf. Source: slurm.conf(5), SlurmctldSyslogDebug and SlurmdSyslogDebug.
SYSLOG_LEVELS = {"SlurmctldSyslogDebug": "info", "SlurmdSyslogDebug": "info"}


def log_store_host(environment: Environment) -> str | None:
    """Return the host of the log store; None without one, and for a Slurm that runs already and that others configure."""
    if environment.onprem is None or environment.existing_slurm is not None:
        return None
    return environment.onprem.services.logs


def classes_kept_in_aws(environment: Environment) -> tuple[str, ...]:
    """Return the data classes that may be in AWS and not at the site. The log of a node that runs their jobs has to stay in AWS."""
    return tuple(
        name
        for name, data_class in environment.data_classes.items()
        if "aws" in data_class.sites and "onprem" not in data_class.sites
    )


def ships_cloud_logs(environment: Environment) -> bool:
    """Return whether nodes in AWS ship their logs to the site: they have a certificate, and every data class in AWS may be on-prem.

    Each pool's partition admits the accounts of every class in AWS.
    """
    if log_store_host(environment) is None or not monitors_cloud_nodes(environment):
        return False
    return not classes_kept_in_aws(environment)


def syslog_settings(environment: Environment) -> dict[str, str]:
    """Return the keys of slurm.conf by which slurmctld and slurmd write to the journal too; empty without a log store."""
    return dict(SYSLOG_LEVELS) if log_store_host(environment) is not None else {}
