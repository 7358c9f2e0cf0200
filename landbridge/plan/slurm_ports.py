"""TCP ports of Slurm's daemons, and of srun."""

#: Source: slurm.conf(5), SlurmctldPort and SlurmdPort; slurmdbd.conf(5), DbdPort.
SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT = 6817, 6818, 6819
#: SrunPortRange of slurm.conf: `srun` on a login host listens here for its tasks.
SRUN_PORTS = (60001, 63000)
