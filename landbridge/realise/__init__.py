"""Runs of Pulumi and Ansible for `landbridge up`, `preview`, `destroy` and `configure`, and builds of Slurm's packages."""
