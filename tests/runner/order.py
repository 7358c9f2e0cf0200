"""Test files that take longest: two processes share a tier's files, and end together when the long ones start first.

Seconds, as measured on two cores, with other load; only their order counts. Files that are not here follow.
"""

from pathlib import Path

SECONDS = {
    "graph/test_engine_stacks.py": 311,
    "graph/test_engine_killed.py": 227,
    "graph/test_engine_environments.py": 219,
    "graph/test_engine_change.py": 212,
    "graph/test_engine_faults.py": 185,
    "graph/test_engine_impact.py": 124,
    "graph/test_engine_up.py": 116,
    "graph/test_engine_policy.py": 103,
    "graph/test_engine_startup.py": 88,
    "graph/test_lock.py": 83,
    "graph/test_engine_package.py": 55,
    "graph/test_engine_new.py": 44,
    "roles/test_control.py": 445,
    "roles/test_site.py": 430,
    "roles/test_node_health_drills.py": 410,
    "roles/test_day2.py": 261,
    "roles/test_driver.py": 210,
    "roles/test_gpu_tools.py": 200,
    "roles/test_storage.py": 190,
    "roles/test_slurm_files.py": 177,
    "roles/test_containers.py": 165,
    "roles/test_jobs.py": 154,
    "roles/test_bursting_limits.py": 106,
    "roles/test_hardening.py": 98,
    "roles/test_slurm_changes.py": 86,
    "roles/test_users.py": 69,
    "roles/test_site_dns.py": 53,
    "roles/test_burst.py": 45,
}


def longest_first(path: Path) -> int:
    """A key to sort by."""
    return -SECONDS.get(f"{path.parent.name}/{path.name}", 0)
