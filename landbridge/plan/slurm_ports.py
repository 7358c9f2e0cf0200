"""TCP ports of Slurm's daemons, and of srun."""

from landbridge.environment import Environment

#: Source: slurm.conf(5), SlurmctldPort and SlurmdPort; slurmdbd.conf(5), DbdPort.
SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT = 6817, 6818, 6819
#: SrunPortRange of slurm.conf: ports on which `srun` listens for its tasks.
SRUN_PORTS = (60001, 63000)


def slurm_ports(environment: Environment) -> tuple[str, str, str]:
    """Return the ports of slurmctld, slurmd and srun, with the site's overrides; srun uses any port without SrunPortRange."""
    existing = environment.existing_slurm
    overrides = {key.casefold(): value for key, value in environment.scheduler.overrides.slurm_conf.items()}

    def port_of(key: str, default: str, default_if_removed: str) -> str:
        value = overrides.get(key.casefold(), default)
        return default_if_removed if value is None else str(value)

    if existing is not None:
        return str(SLURMCTLD_PORT), str(SLURMD_PORT), existing.srun_ports or "1024-65535"
    srun = f"{SRUN_PORTS[0]}-{SRUN_PORTS[1]}"
    return (
        port_of("SlurmctldPort", str(SLURMCTLD_PORT), str(SLURMCTLD_PORT)),
        port_of("SlurmdPort", str(SLURMD_PORT), str(SLURMD_PORT)),
        port_of("SrunPortRange", srun, "1024-65535"),
    )
