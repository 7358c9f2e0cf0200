"""Log store of the site: its host, and the settings by which Slurm writes to the journal. Pure."""

from landbridge.environment import Environment

#: Levels of Slurm's messages in the journal, by key of slurm.conf. Source: slurm.conf(5), SlurmctldSyslogDebug and SlurmdSyslogDebug.
SYSLOG_LEVELS = {"SlurmctldSyslogDebug": "info", "SlurmdSyslogDebug": "info"}


def log_store_host(environment: Environment) -> str | None:
    """Return the host of the log store; None without one, and for a Slurm that runs already and that others configure."""
    if environment.onprem is None or environment.existing_slurm is not None:
        return None
    return environment.onprem.services.logs


def syslog_settings(environment: Environment) -> dict[str, str]:
    """Return the keys of slurm.conf by which slurmctld and slurmd write to the journal too; empty without a log store."""
    return dict(SYSLOG_LEVELS) if log_store_host(environment) is not None else {}
