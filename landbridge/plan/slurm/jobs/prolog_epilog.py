"""Prolog and epilog of jobs: their slurm.conf settings and files."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.base import Scalar

#: Prolog, Epilog and TaskProlog in one file next to slurm.conf; the role slurm_controller installs it.
PROGRAM = "landbridge-job"
#: Folder of slurmd's configless files. slurmctld sends a script with slurm.conf only if its setting has no path, and
#: releases before 26.05 do not send TaskProlog: its path is therefore that of the file sent as Prolog.
SENT = "/run/slurm/conf"


def prolog_epilog_settings() -> dict[str, Scalar]:
    """Return the settings, equal on both sites; differences between nodes are in a file on each node (role
    slurm_job_environment).

    Source: slurm.conf(5), Prolog and Epilog Guide; configless sends files whose setting has no path.
    """
    return {
        "Prolog": PROGRAM,
        "Epilog": PROGRAM,
        "TaskProlog": f"{SENT}/{PROGRAM}",
        # Contain creates the step for pam_slurm_adopt's ssh sessions, and runs the Prolog at allocation on every node.
        # The batch script waits until all Prologs have ended; after a failure the job is requeued.
        "PrologFlags": "Contain,DeferBatch,ForceRequeueOnFail",
    }


def prolog_epilog_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables of the roles scratch and slurm_job_environment; empty without local scratch."""
    for group in environment.node_groups:
        if group.local_scratch and host in hostlist.expand(group.hosts):
            return {
                "scratch_mount": group.local_scratch,
                "slurm_job_environment_root": f"{group.local_scratch.rstrip('/')}/jobs",
                # A node whose scratch disk is missing accepts no job: jobs would fill the root file system.
                "slurm_job_environment_mount": group.local_scratch,
            }
    return {}
