"""Prolog and epilog of jobs: their slurm.conf settings and files."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.base import Scalar

#: Prolog, Epilog and TaskProlog in one file next to slurm.conf; the role slurm_controller has it.
PROGRAM = "landbridge-job"
#: Where slurmd shows what configless has brought. Only a plain name makes slurmctld send a file along with slurm.conf, and
#: releases before 26.05 send no TaskProlog: this one is the file that was sent as the Prolog.
SENT = "/run/slurm/conf"


def prolog_epilog_settings() -> dict[str, Scalar]:
    """Return the settings, equal on both sites; differences between nodes are in a file on the node (role
    slurm_job_environment).

    Source: slurm.conf(5), Prolog and Epilog Guide; configless pushes files that are named without a path.
    """
    return {
        "Prolog": PROGRAM,
        "Epilog": PROGRAM,
        "TaskProlog": f"{SENT}/{PROGRAM}",
        # Contain makes the step that pam_slurm_adopt puts ssh sessions into, and runs the Prolog with the allocation, on
        # every node. A batch script waits until each has ended; what fails there is tried again on other nodes.
        "PrologFlags": "Contain,DeferBatch,ForceRequeueOnFail",
    }


def prolog_epilog_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables of the roles scratch and slurm_job_environment; empty without local scratch."""
    for group in environment.node_groups:
        if group.local_scratch and host in hostlist.expand(group.hosts):
            return {
                "scratch_mount": group.local_scratch,
                "slurm_job_environment_root": f"{group.local_scratch.rstrip('/')}/jobs",
                # A node that has lost its disk takes no job, rather than fill the system's.
                "slurm_job_environment_mount": group.local_scratch,
            }
    return {}
