"""Runs in the peer's own Python: aws-parallelcluster-node's resume program, as Slurm starts it.

    python burst_parallelcluster.py resume.conf NODES

Its log, which goes into a file of its installation, is left out.
"""

import sys

from slurm_plugin.resume import SlurmResumeConfig, _get_slurm_resume, _resume

if __name__ == "__main__":
    _resume(sys.argv[2], SlurmResumeConfig(sys.argv[1]), _get_slurm_resume())
