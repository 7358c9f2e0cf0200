"""Resume program of aws-parallelcluster-node, as Slurm starts it; runs in the peer's own Python.

    python parallelcluster_resume.py resume.conf NODES

Its log file, which belongs to its installation, is not written.
"""

import sys

from slurm_plugin.resume import SlurmResumeConfig, _get_slurm_resume, _resume

if __name__ == "__main__":
    _resume(sys.argv[2], SlurmResumeConfig(sys.argv[1]), _get_slurm_resume())
