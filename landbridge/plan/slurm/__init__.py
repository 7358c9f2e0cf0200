"""Plan of Slurm's files, nodes, partitions, accounts, reservations and packages."""
