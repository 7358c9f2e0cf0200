"""Rules about Slurm: settings, partitions, quality of service, controllers and maintenance."""
